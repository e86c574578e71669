/* Impacts: velocities that change at an instant (Baraff 1989, section 8).
 *
 * SIMULTANEOUS (28, 29), over the whole group, hinges as bilateral rows:
 *     v+ + e v- >= 0,   j >= 0,   j (v+ + e v-) = 0        at every touching point with e = 0,
 *                                                         and at those with e > 0 that do not separate
 * PROPAGATION: one pair of bodies after the other, the fastest approach first, hinges included, until no
 * point approaches faster than rest_speed or the budget is spent.
 *
 * Newton's law is the one above.  Poisson's: the impulse of expansion is at least e times that of
 * compression. Friction: Coulomb between impulses, |j_t| <= mu j_n and opposite to the slip that remains.
 * Newton's law with friction can create energy; where it would, all coefficients of restitution are scaled
 * down just enough that it does not (e = 0 never does), and the result says by how much.  So they are where
 * rows and points leave no velocities with v+ >= -e v-, but some with v+ >= 0. */
#ifndef DYNAMICS_IMPACT_H
#define DYNAMICS_IMPACT_H

#include "dynamics/group.h"

typedef struct contact_impulse {
    double normal;         /* N s, on A along the normal */
    vec3 friction, torque; /* on A */
} contact_impulse;

typedef enum impact_outcome {
    IMPACT_SOLVED,
    IMPACT_BUDGET,       /* propagation, or rounds of the simultaneous law: a point still approaches */
    IMPACT_INCONSISTENT, /* hinges contradict each other: least-squares answer */
    IMPACT_NO_SOLUTION   /* a kinematic body squeezes: no impulse keeps the bodies apart */
} impact_outcome;

typedef struct impact_config {
    abut_impact_model model;
    abut_restitution_law law;
    double rest_speed;   /* m/s: slower approach is inelastic */
    double tolerance;    /* m/s: an approach slower than this is none: 1e-12 of the largest speed when 0 */
    int budget;          /* rounds (simultaneous: 0 is 20) or pair impacts (propagation: 0 is 100,000) */
    bool without_impact; /* Painleve: nothing approaches, but no finite force exists; the applied wrenches of
                            the group say where the bodies are pushed */
} impact_config;
impact_config impact_default_config(void);

typedef struct impact_result {
    impact_outcome outcome;
    double energy_before, energy_after; /* kinetic */
    double restitution_scale;           /* 1, or the factor that kept the energy from rising (friction) */
    bool restitution_denied;            /* or without which there were no impulses */
    double approach;                    /* fastest approach left, m/s */
    double residual;
    int rounds; /* complementarity problems solved, or pair impacts */
} impact_result;

/* The velocities after the impact (group.motions hold those before), the impulse at every contact (summed
 * over rounds) and on every row (N s; rows with finite bounds, motors, carry none). The modes and `pressed`
 * of the contacts are left as the impact chose them: call forces_choose afterwards.  FAILED with a message
 * when the energy rose. OK for every outcome above. */
abut_status impact_solve(group *g, const impact_config *config, const group_scratch *scratch,
                         spatial *velocities, contact_impulse *impulses, double *row_impulses,
                         impact_result *result, abut_error *error);

#endif
