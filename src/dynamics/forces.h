/* Resting forces: the forces at hinges and touching points that do not approach (Baraff 1989, section 5).
 *
 *     forces_choose   at an event: which points stick, which begin to slip and in which direction
 *     forces_solve    between events, at every evaluation: accelerations and forces for the chosen modes
 *
 * Without friction the modes are all FREE and forces_solve alone is exact:
 *     a = A f - b >= 0,  f >= 0,  f . a = 0        (15)
 *
 * With friction.  A slipping point has the friction force -mu_slide N u/|u|, on the true cone, exactly
 * opposite to its slip; a sticking point is a constraint: its tangential acceleration is zero, no creep.
 * Modes are chosen by the problem of Stewart and Trinkle (1996) over a vanishing interval, solved by Lemke's
 * method with a cone of 8 directions and refined to the true cone; see docs/dynamics.md.  Static and dynamic
 * coefficients differ by this rule: a point sticks while mu_stick suffices; one that cannot, slips with
 * mu_slide.
 *
 * Unique quantities.  Accelerations are unique without slip; forces may not be.  `determined` says which are,
 * the others are those of least norm among the admissible. */
#ifndef DYNAMICS_FORCES_H
#define DYNAMICS_FORCES_H

#include "dynamics/group.h"

/* A sticking point may exceed its cone by this much, so that an event found at margin = 0 is one for
 * forces_choose, which allows a tenth of it. */
#define FORCES_ALLOWANCE 1e-9

typedef struct contact_load {
    double normal;           /* N >= 0, newton, along the contact normal on A */
    vec3 friction;           /* on A, in the tangent plane */
    vec3 torque;             /* rolling and spinning resistance, on A */
    double gap_acceleration; /* gap'': 0 where pressed; > 0: the point vanishes */
    vec3 slip_acceleration;  /* tangential part of u' */
    double margin;   /* sticking points: 1 - |friction| / (mu_stick N) + FORCES_ALLOWANCE, the largest that a
                        search for an admissible distribution over the points of the group finds; < 0: it cannot
                        stick, and forces_choose agrees.  1 for others */
    bool determined; /* normal and friction are the same in every solution */
} contact_load;

typedef enum forces_outcome {
    FORCES_SOLVED,
    FORCES_CANNOT_STICK,    /* modes must be chosen again: a sticking point needs more than its friction cone
                               has;    the result treats it as if it could (the function to find the event with)
                             */
    FORCES_NO_FINITE_FORCE, /* Painleve: no force keeps the bodies apart; an impulse does (impact_solve with
                               without_impact) */
    FORCES_INCONSISTENT, /* hinges contradict each other; accelerations are the least-squares answer (Baraff,
                            appendix B) */
    FORCES_BUDGET        /* a bound on work was reached; the residual says how good the answer is */
} forces_outcome;

typedef struct forces_config {
    double slip_speed; /* m/s: slower slip takes its direction from memory, and may stick: 1e-9 */
    double tolerance;  /* relative residual that is accepted: 1e-9 */
    int budget;        /* pivots and refinements; 0: from the size */
    bool trial; /* a state of the integrator that need not be: where rows contradict each other, as they do
                   when a step is too long, the outcome is FORCES_BUDGET at once */
    bool no_margins; /* accelerations are all that is wanted: no search for forces inside all cones */
    bool distribute; /* also find least-norm forces and `determined` (for output; accelerations do not need
                        it) */
} forces_config;
forces_config forces_default_config(void);

typedef struct forces_result {
    forces_outcome outcome;
    double residual;  /* largest violation of the conditions relative to the largest free acceleration, */
    double violation; /* and itself, m/s^2 */
    double inconsistent_by; /* FORCES_INCONSISTENT: the largest acceleration that a hinge row misses, */
    int inconsistent_row;   /* and which of the group it is; -1 */
    bool unique;            /* all forces determined */
    int pivots;
    int worst; /* contact of FORCES_CANNOT_STICK or FORCES_NO_FINITE_FORCE; -1 */
} forces_result;

/* Accelerations of all bodies, loads of all contacts, multipliers of all rows (forces; bilateral ones of
 * least norm where over-constrained).  Modes are read; directions of slip are kept up to date; `pressed` and
 * row_states are read as a first guess and written. Where two solutions exist the one with the remembered
 * active set is taken. Returns OK for every outcome above; NO_MEMORY and INVALID otherwise. */
abut_status forces_solve(group *g, const forces_config *config, const group_scratch *scratch,
                         spatial *accelerations, contact_load *loads, double *multipliers,
                         forces_result *result, abut_error *error);

/* Chooses modes: a point that slips faster than config.slip_speed gets SLIP; one that does not gets STICK, or
 * SLIP with the direction slip_along in which it begins to move; coefficient 0 gets FREE.  Rolling and
 * spinning likewise. A point that sticks now is asked first whether it can go on.  The outcome
 * FORCES_NO_FINITE_FORCE as above. Accelerations and loads are those of forces_solve with the new modes. */
abut_status forces_choose(group *g, const forces_config *config, const group_scratch *scratch,
                          spatial *accelerations, contact_load *loads, double *multipliers,
                          forces_result *result, abut_error *error);

#endif
