/* The multipliers of a system for given states (free, at a bound), over the bodies: the common evaluation
 * between two events, where the states of the last one still hold and all that is wanted is one linear
 * solution and its check. Cost: that of the bodies and their contact graph (numerics/coupled.h), not of a
 * dense matrix of all rows. */
#ifndef DYNAMICS_STATES_H
#define DYNAMICS_STATES_H

#include "dynamics/system.h"
#include "numerics/coupled.h"

typedef struct states {
    const group_system *s;
    system_space space;
    coupled_row *rows; /* one for each unknown */
    coupled equations;
    double *loads; /* room for a number a block */
} states;

/* Unknowns up to which forces are found from nothing: that is quick enough, and open loads then hang on the
 * state alone. */
enum { STATES_SMALL = 100 };

/* False when memory is out. */
bool states_make(const group_system *s, arena *scratch, states *out);

/* z with w = 0 on the free unknowns, the others at their bounds; where z is open it stays near `start` (NULL:
 * zero).  False: rows that depend on each other contradict, or nearly, and z is not written. */
bool states_solve(states *t, const uint8_t *state, double scale, const double *start, double *z);

/* x of that solution.  Where masses differ much the sum of its forces would not have the digits (coupled.h).
 */
void states_motion(const states *t, spatial *x);

/* The unknowns of the forces that the contacts remember (group_contact.push); false where they remember none,
 * or are few.
 */
bool states_recall_forces(const group_system *s, double *z);

#endif
