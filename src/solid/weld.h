/* Which points of a mesh are one vertex. */
#ifndef SOLID_WELD_H
#define SOLID_WELD_H

#include "solid/topology.h"

/* In: same[i] = i for the points that count, -1 for the others.  Out: same[i] is the representative of point
 * i, which is the earliest of its cluster and never farther than the tolerance.  Counts the points joined to
 * an equal and to a merely close one.  The tolerance is 0 or at least 1e-15 diagonals.  False when memory is
 * out. */
bool weld_points(scratch *memory, const vec3 *points, int64_t count, vec3 origin, double diagonal,
                 double tolerance, int32_t *same, int64_t *equal, int64_t *close);

#endif
