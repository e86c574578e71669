/* What building and checking a hull share. */
#ifndef CONVEX_HULL_BUILD_H
#define CONVEX_HULL_BUILD_H

#include "convex/hull.h"

/* The content hash: everything behind the field `hash`. */
uint64_t hull_hash(const abut_hull *h);

#endif
