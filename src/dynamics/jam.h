/* Constraints that leave no way out: hinges that contradict each other, a body between walls that close.
 *
 *     rates    J v = rate    on hinges and motors without bound,    J v >= rate   on limits,    n . u >= 0
 *     places   C = 0         on hinges (a motor keeps its angle),   C >= 0        on limits,    gap >= 0
 *
 * What a state misses of them is c (of one-sided ones only where it is too little).  The least of |c|^2 over
 * all motions is zero, or a state with J^T c = 0: forces in proportion to c, which push at contacts, balance
 * each other on every body that can move.  No motion changes their power c . J v = 0, while the constraints
 * ask for |c|^2 > 0: the proof that, to first order, nothing satisfies all of them (Farkas), and its support
 * names those that contradict each other. */
#ifndef DYNAMICS_JAM_H
#define DYNAMICS_JAM_H

#include "dynamics/group.h"

typedef enum jam_level { JAM_RATES, JAM_PLACES } jam_level;

/* c on every row and contact, and |c|^2.  Contacts that stand open by more than `near` do not count, nor do
 * motors with a bound. */
double jam_missed(const group *g, jam_level level, double near, double *rows, double *contacts);

/* The step of Levenberg and Marquardt from there, of all bodies, in the metric of the masses:
 *     (J^T J + damping max |J_i|^2) step = J^T c. */
abut_status jam_step(const group *g, const double *rows, const double *contacts, double damping,
                     const group_scratch *scratch, spatial *step, abut_error *error);

#endif
