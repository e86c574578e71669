/* Friction as cone programs (numerics/cone_program.h): for groups of any size, with redundant points.
 *
 *   share    Of all multipliers with the same effect V z = y, one inside all friction cones: the point of the
 *            cone that is nearest to y.  It is y itself if and only if all can stick.
 *
 *   choose   Coulomb's law as a sequence of convex problems (De Saxce and Feng 1998; Acary and Cadoux 2013).
 *            With the normal rates lifted by mu |r| the law at a point is that force and rate lie in dual
 * cones: (r_n + mu |r|, r) in K*,   (N, T) in K,   orthogonal For a given lift this is the convex problem;
 * the lift follows from its solution, until it stays. Points that slip already have their friction -mu N
 * u/|u| from the N of the step before.
 *
 * Rolling and spinning resistance and motors with bounds are left to coulomb.h: these return *found = false.
 */
#ifndef DYNAMICS_CONES_H
#define DYNAMICS_CONES_H

#include "dynamics/coulomb.h"
#include "numerics/cone_program.h"

/* Whether the system is of the kinds named above. */
bool cones_know(const group_system *s);

/* z with V z = y, |V z - y| <= 1e-9 |y|, inside all cones: *found.  `may`: the unknowns that can carry
 * something; the others keep their z.  *none: there is none, by more than rounding (1e-6 |y|).  Of d the
 * space is used.  False when memory is out. */
bool cones_share(const dense *d, const bool *may, const double *y, arena *scratch, double *z, bool *found,
                 bool *none);

/* Modes and directions of the candidates, and `pressed`, as coulomb_choose writes them; and the solution of
 * the last convex problem, with the change of its lifts as residual, for the system in which all candidates
 * stick (their forces are in its directions).  With velocities and without restitution it never has more
 * energy than before, whatever the lifts: it is the nearest point of a convex set that contains the state of
 * rest. */
abut_status cones_choose(group *g, const coulomb_config *config, const group_scratch *scratch,
                         group_system *system, system_solution *solution, bool *found, abut_error *error);

/* The motion itself, for steps over a time in which modes may change: x after the impulses, their normal
 * parts and friction (per contact), rows (per group row), all read as a first guess: zeros where there is
 * none.  *residual: how well the law holds, relative. */
abut_status cones_step(group *g, const system_config *build, const group_scratch *scratch, spatial *x,
                       double *normals, vec3 *frictions, double *rows, bool *found, double *residual,
                       abut_error *error);

#endif
