/* How the points of a group share a load that the rigid equations leave open.
 *
 * The wrenches y = V z are unique, the multipliers z often not (a box on four corners).  Among all admissible
 * z the one of least norm is given; and where points stick, the question whether any admissible z keeps every
 * friction force inside its cone decides if they can. */
#ifndef DYNAMICS_SHARE_H
#define DYNAMICS_SHARE_H

#include "dynamics/solve.h"

/* Unknowns up to which loads are shared by dense matrices of all points; over the bodies otherwise. */
enum { SHARE_DENSE = 100 };
/* Unknowns up to which the search for loads inside the cones begins with that of least norm.  Found from
 * nothing by exchanging one unknown after the other it takes up to three decompositions of all points for
 * each of them, at every look at a group whose points cannot all stick: 0.2 s for 90 unknowns.  Newton's
 * method on the modes tells that they can in a few solutions over the bodies, the cone program that they
 * cannot. */
enum { SHARE_FEW = 30 };

/* Of all z' with V z' = V z and the bounds of the system: that of least norm, and which unknowns are the same
 * in all (`determined`, which may be NULL). Unknowns that vanish (w > tolerance) stay at their bound.  Of d
 * the space is needed, W and V are filled in where they are used.  False when memory is out. */
bool share_least_norm(dense *d, const system_solution *sol, double tolerance, arena *scratch, double *z,
                      bool *determined);

/* The z' with V z' = V z that leaves the cones of sticking points the largest margin
 *     min over cones of 1 - |T| / (stick N)
 * as far as a search finds it: the solution itself, least norm, friction in proportion to pressure,
 * reweighted, and reflections between the cones and the set V z' = V z.  It stops at the first one inside
 * all cones, and is exact for translation and for torsion of feet at one radius.  In large groups the cone
 * program is asked first, and the others only where its answer is within rounding.  Returns the margin (1
 * without sticking cones); writes z. *memory is false when memory is out. */
double share_margin(dense *d, const system_solution *sol, double tolerance, arena *scratch, double *z,
                    bool *memory);

/* The least norm over the bodies, from the admissible z in `start` (share_norm.c): *found, or z is no answer.
 * `tiny`: forces that are none.  False when memory is out. */
bool share_norm(const dense *d, const bool *may, const double *start, double tiny, arena *scratch, double *z,
                bool *determined, bool *found);

/* 1 - |T| / (stick N) of one cone; 1 where it does not stick or carries nothing, which is less than `tiny`.
 */
double share_cone_margin(const group_system *s, const cone *k, const double *z, double tiny);
double share_tiny(const group_system *s, const double *z);

#endif
