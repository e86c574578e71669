/* Which points of a mesh are one vertex. */
#ifndef SOLID_WELD_H
#define SOLID_WELD_H

#include "solid/topology.h"

/* In: same[i] >= 0 for the points that count.  Out: same[i] is the representative of point i, which is the
 * earliest of its cluster and never farther than the tolerance.  Counts the points joined to an equal and to
 * a merely close one.  `cell` is the size of the grid's cells: 8 tolerances, or anything positive for
 * tolerance 0; coordinates are at most 1e15 cells from `origin`.  False when memory is out. */
bool weld_points(scratch *memory, const vec3 *points, int64_t count, vec3 origin, double tolerance,
                 double cell, int32_t *same, int64_t *equal, int64_t *close);

#endif
