/* A little world for tests of dynamics: bodies, touching points, hinges, all in plain arrays. */
#ifndef TESTS_DYNAMICS_LITTLE_H
#define TESTS_DYNAMICS_LITTLE_H

#include "dynamics/forces.h"
#include "dynamics/hinge.h"
#include "dynamics/impact.h"
#include "dynamics/project.h"
#include "support.h"

#include "abut/complementarity.h"

enum { LITTLE_BODIES = 40, LITTLE_CONTACTS = 160, LITTLE_ROWS = 60 };

typedef struct little {
    motion motions[LITTLE_BODIES];
    body_inertia inertias[LITTLE_BODIES];
    spatial wrenches[LITTLE_BODIES];
    group_contact contacts[LITTLE_CONTACTS];
    row rows[LITTLE_ROWS];
    uint8_t row_states[LITTLE_ROWS];
    group g;
    abut_friction friction; /* of the contacts added next */
    double restitution;

    arena memory;
    group_scratch scratch;

    /* answers */
    spatial x[LITTLE_BODIES];
    contact_load loads[LITTLE_CONTACTS];
    contact_impulse impulses[LITTLE_CONTACTS];
    double multipliers[LITTLE_ROWS];
    forces_result forces;
    impact_result impact;
} little;

void little_open(little *w);
void little_close(little *w);

/* A body with the given diagonal of inertia, at rest; its number. */
int little_body(little *w, double mass, vec3 inertia, vec3 center);
int little_fixed(little *w);
/* Gravity as wrenches on all bodies; call before other forces. */
void little_gravity(little *w, vec3 g);
/* A force at a place of the world. */
void little_force(little *w, int body, vec3 at, vec3 force);
/* A vertex of a on a plane of b with the given normal (from b to a). */
int little_contact(little *w, int a, int b, vec3 at, vec3 normal);
/* The vertices of a region of a plane scene: (x, y) at z = -depth and +depth. */
void little_pair(little *w, int a, int b, double x, double y, double depth, vec3 normal);
/* Adds the rows of a hinge. */
int little_hinge(little *w, const abut_hinge_def *def, hinge *out);

void little_solve(little *w);  /* forces_solve with distribution; the status must be OK */
void little_choose(little *w); /* forces_choose */
void little_hit(little *w, abut_impact_model model, abut_restitution_law law, double rest_speed);

/* Sum of normal and friction forces of the contacts between a and b, on a. */
vec3 little_force_between(const little *w, int a, int b);
double little_impulse_between(const little *w, int a, int b);

#define assert_close(got, want, tolerance)                                                            \
    do {                                                                                              \
        double got_ = (got), want_ = (want);                                                          \
        if (!(fabs(got_ - want_) <= (tolerance)))                                                     \
            fail_msg("%s = %.17g, want %.17g, differs by %g", #got, got_, want_, fabs(got_ - want_)); \
    } while (0)

#endif
