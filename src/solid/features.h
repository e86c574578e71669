/* What is measured on a finished B-rep: convexity of its edges, its smallest feature. */
#ifndef SOLID_FEATURES_H
#define SOLID_FEATURES_H

#include "solid/solid.h"

/* +1 convex, -1 reflex, 0 flat (see solid_edge). */
int feature_convexity(const abut_solid *s, int32_t edge);
/* The shortest edge, or the shortest distance inside a face between a vertex and an edge of that face that
 * does not end there, whichever is less.  false when memory is out. */
bool feature_smallest(const abut_context *context, const abut_solid *s, double *smallest);

#endif
