/* A group: bodies that push each other through hinges and contacts, as plain arrays.  All solvers of this
 * module (resting forces, impacts, projection) take one; nothing here knows a world. */
#ifndef DYNAMICS_GROUP_H
#define DYNAMICS_GROUP_H

#include "contact/contact.h"
#include "dynamics/pressure.h"
#include "dynamics/row.h"

typedef struct abut_lcp_solver abut_lcp_solver; /* abut/complementarity.h */

/* What friction does at a point.  FREE: no friction (coefficient 0, or no normal force). */
typedef enum friction_mode { FRICTION_FREE, FRICTION_STICK, FRICTION_SLIP } friction_mode;

/* A touching point with its material, and what is remembered of it from one call to the next. */
typedef struct group_contact {
    int a, b; /* bodies; normal from b to a; -1: the ground */
    contact_point point;
    double restitution;
    abut_friction friction;
    int face; /* of the group, from 1, whose friction is that of a pressure over its area; 0: none */

    /* memory: chosen by forces_choose, kept by the caller while the mode lasts */
    friction_mode mode;     /* of the tangential motion */
    friction_mode rolling;  /* of the rolling part of the relative spin (coefficient friction.rolling) */
    friction_mode spinning; /* of the part along the normal (friction.spinning) */
    vec3 slip_along; /* unit: direction of the slip, of the rolling axis, and (sign in .x) of the spin, */
    vec3 roll_along; /* while their speeds are too small to tell: just after the start of slip */
    double spin_along;
    bool begins;  /* the caller knows the direction of a slow slip (dynamics/onset.h): slip_along stays */
    bool pressed; /* does not accelerate away: belongs to what is held */
    bool idle; /* pressed, but the last solution left its load to redundant others: not in the active set */

    vec3 push; /* force on A of the last solution inside all cones, newton: where the next one begins */

    /* anchor of a sticking point, for the projection: where the material points stood when it began to stick
     */
    bool anchored;
    vec3 anchor_a, anchor_b; /* body axes, from the centre of mass; of the ground: world */
} group_contact;

/* A face contact that presses over its area (dynamics/face.h).  Its places are contacts of the group that
 * name it, with its mode; they carry the normal forces.  x = (p - point.at) . axis / size on its border. */
typedef struct group_face {
    int a, b;
    contact_point point; /* at the centroid; the place moves with a */
    vec3 axis[2];        /* axis[0] x axis[1] = normal */
    double size;         /* metres */
    const border_piece *pieces;
    int piece_count;
    abut_friction friction;
    double slow; /* m/s: a face that stuck and is slower may stick again */

    /* memory */
    friction_mode mode;
    double along[3]; /* unit: the twist (v_x, v_y, w size) of the slip, while it is too slow to tell */
    double line[3];  /* pressed where line . (1, x, y) >= 0 */
} group_face;

typedef struct group {
    int body_count;
    const motion *motions;
    const body_inertia *inertias;
    const spatial *wrenches; /* applied forces (gravity, springs, drag, ...), without the gyroscopic torque */
    const spatial *prescribed; /* accelerations of bodies with inverse mass 0; NULL: none accelerates */
    int row_count;
    const row *rows;     /* hinges, limits that are reached, motors */
    uint8_t *row_states; /* memory, abut_lcp_state of each row, or NULL */
    int contact_count;
    group_contact *contacts;
    int face_count;
    group_face *faces;
    int method; /* abut_lcp_method of problems without slip: 0 exact; another solves each from scratch, for
                   comparison, and an approximate one ends with a budget outcome and says its residual */
} group;

/* Scratch memory and the complementarity solver, given by the caller; one for each thread. */
typedef struct group_scratch {
    arena *arena;
    abut_lcp_solver *lcp;
} group_scratch;

/* The remembered state of a row; at a bound that is infinite nothing stands. */
uint8_t group_row_state(const group *g, int i);

/* The motion of body i; of the ground (-1): at rest. */
static inline motion group_motion(const group *g, int i) {
    return i >= 0 ? g->motions[i] : (motion){.rotation = {1, 0, 0, 0}};
}

/* Relative velocity of the material points, its normal part gap' = n . u, and the tangential rest. */
vec3 group_contact_velocity(const group *g, const group_contact *c, const spatial *velocities);
double group_contact_gap_rate(const group *g, const group_contact *c);
vec3 group_contact_slip(const group *g, const group_contact *c);
/* Relative spin of A against B. */
vec3 group_contact_spin(const group *g, const group_contact *c);

/* The normal row of a contact (C = gap, multiplier >= 0), the two tangential ones along t1, t2 (C' = t . u),
 * and those of the relative spin about an axis (C' = axis . (w_A - w_B)).  Drift from contact/contact.h. */
row group_normal_row(const group *g, const group_contact *c);
row group_tangent_row(const group *g, const group_contact *c, vec3 t);
row group_spin_row(const group *g, const group_contact *c, vec3 axis);
/* Two unit vectors that span the tangent plane: t1 x t2 = n. */
void group_tangents(vec3 normal, vec3 *t1, vec3 *t2);

/* Accelerations without hinge and contact forces: Newton-Euler, or what is prescribed. */
void group_free_accelerations(const group *g, spatial *out);
/* Sum of (m v.v + w.I w) / 2 for the given velocities. */
double group_kinetic_energy(const group *g, const spatial *velocities);

#endif
