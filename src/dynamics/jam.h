/* Constraints that leave no way out: hinges that contradict each other, a body between walls that close.
 *
 *     rates    J v = rate    on hinges and motors without bound,    J v >= rate   on limits,    n . u >= 0
 *     places   C = 0         on hinges (a motor keeps its angle),   C >= 0        on limits,    gap >= 0
 *
 * What a state misses of them is c (of one-sided ones only where it is too little).  The least of |c|^2 over
 * all motions is zero, or a state with J^T c = 0: forces in proportion to c, which push at contacts, balance
 * each other on every body that can move.  No motion changes their power c . J v = 0, while the constraints
 * ask for |c|^2 > 0: the proof that, to first order, nothing satisfies all of them (Farkas), and its support
 * names those that contradict each other.
 *
 * With friction c may lie anywhere in the cone K of Coulomb's law, not along the normal alone: c is what
 * -u has in K (Moreau's decomposition: the rest of u lies in K*, n . u >= mu |u_t|).  The least of |c|^2 is a
 * convex problem as well.  Where it is zero, the laws of impact with friction have a solution (Klarbring and
 * Pang 1998, Acary and Cadoux 2013).  Where it is not, J^T c = 0 with c in the cones and c . u = -|c|^2 < 0:
 * forces that balance, however large, hold against the drive: a wedge thinner than twice the angle of
 * friction.  Then there may be no solution; a search that finds none, and this, are called a jam. */
#ifndef DYNAMICS_JAM_H
#define DYNAMICS_JAM_H

#include "dynamics/group.h"

typedef enum jam_level { JAM_RATES, JAM_FRICTION, JAM_PLACES } jam_level;

/* c on every row and contact (a force on A, world axes), and |c|^2.  Contacts that stand open by more than
 * `near` do not count, nor do motors with a bound. */
double jam_missed(const group *g, jam_level level, double near, double *rows, vec3 *contacts);

/* The step of Levenberg and Marquardt from there, of all bodies, in the metric of the masses:
 *     (J^T D J + damping max |J_i|^2) step = J^T c,
 * D the derivative of c by -u: 1 along the normal, or that of the projection on the cone.
 * *unbalanced: |J^T c| / (|c| max |J_i|), zero where the least is reached. */
abut_status jam_step(const group *g, jam_level level, const double *rows, const vec3 *contacts,
                     double damping, const group_scratch *scratch, spatial *step, double *unbalanced,
                     abut_error *error);

#endif
