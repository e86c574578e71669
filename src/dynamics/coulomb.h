/* Choosing the modes of friction: which cones stick, which slip and where to, for forces and for impulses.
 *
 * The problem at a cone with rate r (tangential acceleration, or velocity after the impact), force T, normal
 * force N: |T| <= mu N,   and   T = -mu N r/|r|  where r is not 0
 *
 * 1. All stick.  If the constraints hold with every T inside its cone, that is a solution.
 * 2. Stewart and Trinkle (1996): the cone becomes a pyramid of 8 directions e_k with T = sum beta_k e_k,
 *        0 <= beta_k  _|_  r . e_k + lambda >= 0,      0 <= lambda  _|_  mu N - sum beta_k >= 0
 *    a linear complementarity problem for which Lemke's method finds a solution (no fixed slip: always).
 *    It is solved again with directions close around the slip that was found, until the direction is known
 * well.
 * 3. Refinement to the true cone: with the modes of 2 the smooth equations are solved, modes that they
 * contradict are changed, and the directions of slip are found by Newton's method from r x d = 0.
 *
 * Only candidates are chosen; the others keep mode and direction: a point that already slips slips on. */
#ifndef DYNAMICS_COULOMB_H
#define DYNAMICS_COULOMB_H

#include "dynamics/solve.h"

typedef struct coulomb_config {
    system_config build;
    const bool *candidate; /* CONE_KINDS per contact */
    const bool *struck;    /* impacts: per contact, whether it approaches; NULL: all are alike */
    double tolerance;
    int budget;
} coulomb_config;

/* Modes and directions are written to the contacts of the group (also `pressed`).  *system and *solution
 * (zeroed by the caller, but for state) are those of the chosen modes, in the arena; outcome
 * SYSTEM_NO_SOLUTION where none exists. */
abut_status coulomb_choose(group *g, const coulomb_config *config, const group_scratch *scratch,
                           group_system *system, system_solution *solution, abut_error *error);

/* Step 2 alone: modes and directions of the candidates from pyramids.  `estimates` (CONE_KINDS per contact)
 * are known directions of slip, zero at first, written; around them the pyramid has directions as close as a
 * quarter of `spacing`.  *found is false where Lemke's path ends in a ray. */
abut_status stewart_choose(group *g, const coulomb_config *config, const group_scratch *scratch,
                           vec3 *estimates, double spacing, bool *found, int *pivots, abut_error *error);

/* Another way to the same modes, where Lemke's path or the refinement loses its way: projected Gauss-Seidel
 * on the true cones, `sweeps` of them. Always ends, but its answer is only a start for the refinement. */
abut_status coulomb_sweep(group *g, const coulomb_config *config, const group_scratch *scratch, int sweeps,
                          abut_error *error);

/* The mode of a cone in the memory of its contact, and its direction. */
void coulomb_set_mode(group_contact *c, cone_kind kind, friction_mode mode, vec3 along);

#endif
