/* How the points of a group share a load that the rigid equations leave open.
 *
 * The wrenches y = V z are unique, the multipliers z often not (a box on four corners).  Among all admissible
 * z the one of least norm is given; and where points stick, the question whether any admissible z keeps every
 * friction force inside its cone decides if they can. */
#ifndef DYNAMICS_SHARE_H
#define DYNAMICS_SHARE_H

#include "dynamics/solve.h"

/* Of all z' with V z' = V z and the bounds of the system: that of least norm, and which unknowns are the same
 * in all. Unknowns that vanish (w > tolerance) stay at their bound.  False when memory is out. */
bool share_least_norm(const dense *d, const system_solution *sol, double tolerance, arena *scratch, double *z,
                      bool *determined);

/* The z' with V z' = V z that leaves the cones of sticking points the largest margin
 *     min over cones of 1 - |T| / (stick N)
 * as far as a search finds it: the solution itself, least norm, friction in proportion to pressure,
 * reweighted, and reflections between the cones and the set V z' = V z.  It stops at the first one inside
 * all cones, and is exact for translation and for torsion of feet at one radius.  Returns the margin (1
 * without sticking cones); writes z. *memory is false when memory is out. */
double share_margin(const dense *d, const system_solution *sol, double tolerance, arena *scratch, double *z,
                    bool *memory);

/* 1 - |T| / (stick N) of one cone; 1 where it does not stick or carries nothing, which is less than `tiny`.
 */
double share_cone_margin(const group_system *s, const cone *k, const double *z, double tiny);
double share_tiny(const group_system *s, const double *z);

#endif
