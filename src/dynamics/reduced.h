/* Evolution in reduced coordinates: two smooth surfaces that stay in contact at one place (Kry 2000,
 * sections 4.3 and 4.4).
 *
 * Positions are the contact coordinates q = (s, t, u, v, psi); there is no gap to drift.  Velocities are the
 * quasi-velocities H q', kept as the twist of body 1 in world axes, of which each mode of friction leaves
 * some free:
 *
 *     frictionless, sliding with dynamic friction     5     n . u = 0, u the velocity of body 1 against 2
 *     no slip                                         3     u = 0
 *     no slip, no spin                                2     and n . w = 0, w the relative spin
 *     no roll (rolling friction that holds)                 w - (n . w) n = 0
 *
 * The others are overwritten at every evaluation.  So neither dH/dt nor third derivatives of the patches are
 * needed (the thesis integrates q''), and momentum along a plane without friction stays to the last bit.
 *
 * The forces: N along the normal; friction -mu N u/|u| while sliding, a constraint otherwise; torques of
 * rolling and spinning resistance likewise (4.24 to 4.33, with the signs of ERRATA).  One linear system of at
 * most six unknowns, for bodies that move both. */
#ifndef DYNAMICS_REDUCED_H
#define DYNAMICS_REDUCED_H

#include "abut/surface.h"
#include "contact/rolling_kinematics.h"
#include "dynamics/group.h"

/* One body's surface at the contact. */
typedef struct reduced_side {
    const abut_surface *surface; /* NULL: a plane */
    int patch;
    vec3 origin; /* of the surface from the centre of mass; of a plane: the point (0, 0) */
    mat3 frame;  /* of a plane: its axes, z outward */
} reduced_side;

/* Where and how fast: q, and the twist of body 1. */
typedef struct reduced_state {
    double place[2][2]; /* (s, t) on body 1, (u, v) on body 2 */
    rolling_turn psi;
    twist velocity;
} reduced_state;

typedef struct reduced_body {
    const body_inertia *inertia;
    spatial wrench;       /* applied, about the centre of mass */
    spatial acceleration; /* of a body that nothing can push: prescribed */
} reduced_body;

/* The direction that a slide has, of slip (m/s) or of rolling (rad/s): friction opposes it. */
typedef struct reduced_slide {
    vec3 start;   /* unit, of body 1 against 2, when the step began: resistance goes on opposing it through
                     zero, so that the motion is smooth up to the event that ends it */
    double least; /* slower: the direction is `start` */
    /* a slide that begins (dynamics/onset.h) */
    double slow; /* slower slides take their direction from what they will be; 0: it does not begin here */
    double look; /* after this time, s */
    double k;    /* acceleration that friction can give across it */
} reduced_slide;

typedef struct reduced_pair {
    reduced_side side[2];
    reduced_body body[2];
    abut_friction friction;
    friction_mode mode, rolling, spinning;
    reduced_slide slip, roll;
    double spin_start; /* the sign of the spin about the normal, likewise */
} reduced_pair;

/* The pair placed: all that depends on q and the velocities. */
typedef struct reduced_placed {
    rolling_half half[2];
    mat3 rotation;   /* of body 1, world */
    motion motion;   /* of body 1, but for its quaternion: reduced_motion() fills that too */
    vec3 normal;     /* from body 2 to body 1 */
    vec3 slip, spin; /* of body 1 against body 2: tangential velocity at the place, angular velocity */
    double rates[5]; /* q' */
    double curvature[2];
    contact_point point; /* gap 0, normal from body 2 to body 1 */
} reduced_placed;

/* Places body 1 against body 2, which moves as `base`; the velocity of the state is brought to the freedoms
 * of the mode.  False where a patch is not regular or the surfaces conform. */
bool reduced_place(const reduced_pair *pair, reduced_state *state, const motion *base, mat3 base_rotation,
                   reduced_placed *placed);
/* The motion of body 1 with its quaternion, the nearer of the two to `near`. */
motion reduced_motion(const reduced_placed *placed, quat near);

typedef struct reduced_load {
    double normal;         /* N; < 0: the bodies would have to hold each other */
    vec3 friction, torque; /* on body 1 */
    double margin;         /* 1 - |held| / (mu N), the least of all that hold; < 0: one cannot.  1: none */
    spatial acceleration[2];
} reduced_load;

/* Accelerations and forces at the placed state.  False where no finite force keeps the contact. */
bool reduced_accelerate(const reduced_pair *pair, const reduced_placed *placed, const motion *base,
                        mat3 base_rotation, reduced_load *load);

/* Unit directions that friction and rolling resistance oppose where they slide. */
typedef struct reduced_directions {
    vec3 slip, roll;
} reduced_directions;
/* The same for directions that are given. */
bool reduced_solve(const reduced_pair *pair, const reduced_placed *placed, const motion *base,
                   mat3 base_rotation, const reduced_directions *along, reduced_load *load);
/* Whether a slide is slow enough that its direction is an equation. */
bool reduced_begins(const reduced_pair *pair, const reduced_placed *placed);
/* Turns the directions until they are those of the slides after `look`, and the load with them. */
bool reduced_turn(const reduced_pair *pair, const reduced_placed *placed, const motion *base,
                  mat3 base_rotation, reduced_directions *along, reduced_load *load);
/* Finds whether slides begin here, with `load` that of the placed state; `size` of the bodies, m.  True where
 * that has changed since it was last asked. */
bool reduced_find_onset(reduced_pair *pair, const reduced_placed *placed, const motion *base,
                        mat3 base_rotation, const reduced_load *load, double size);

/* The contact coordinates of two bodies that touch at the places given: psi from the directions of the
 * frames.  False where a patch is not regular. */
bool reduced_coordinates(const reduced_pair *pair, const motion *one, const motion *base,
                         reduced_state *state);
/* The place of `which` was changed to another patch at the same point: psi turns with the frame. */
bool reduced_change_patch(reduced_pair *pair, reduced_state *state, int which, abut_surface_point place);

#endif
