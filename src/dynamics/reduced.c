/* Evolution in reduced coordinates; the equations stand in the header and in contact/rolling_kinematics.h. */
#include "dynamics/reduced.h"

#include "numerics/dense.h"

enum { UNKNOWNS = 6 };

/* ---- places */

static bool half_at(const reduced_side *side, const double place[2], rolling_half *half) {
    if (!side->surface) {
        vec3 x = side->frame.cx, y = side->frame.cy;
        *half = (rolling_half){.point = vec3_axpy(vec3_axpy(side->origin, place[0], x), place[1], y),
                               .frame = side->frame,
                               .v = {{1, 0, 0}, {0, 1, 0}}};
        return true;
    }
    abut_partials p;
    if (!abut_surface_evaluate(side->surface, side->patch, place[0], place[1], 2, &p) ||
        !rolling_half_without_rates(&p, half))
        return false;
    half->point = vec3_add(half->point, side->origin);
    return true;
}

static vec3 tangential(vec3 v, vec3 n) { return vec3_axpy(v, -vec3_dot(v, n), n); }

/* The velocity on the freedoms of the mode: what the constraints say is overwritten. */
static void keep_freedoms(const reduced_pair *pair, reduced_placed *p, const motion *base) {
    twist *v = &p->motion.velocity;
    vec3 n = p->normal, w = vec3_sub(v->angular, base->velocity.angular);
    if (pair->spinning == FRICTION_STICK) w = tangential(w, n);
    if (pair->rolling == FRICTION_STICK) w = vec3_scale(n, vec3_dot(n, w));
    v->angular = vec3_add(base->velocity.angular, w);
    vec3 arm = vec3_sub(p->point.at, p->motion.center);
    vec3 there = motion_velocity_at(base, p->point.at);
    vec3 u = vec3_sub(spatial_velocity_at(*v, arm), there);
    vec3 kept = pair->mode == FRICTION_STICK ? vec3_zero() : tangential(u, n);
    v->linear = vec3_add(v->linear, vec3_sub(kept, u));
    p->slip = kept, p->spin = w;
}

/* Rates of the place and of the normal, from those of (u, v) on body 2. */
static void move_point(reduced_placed *p, const motion *base, mat3 base_rotation) {
    const rolling_half *two = &p->half[1];
    vec3 w = vec3_axpy(vec3_scale(two->omega[0], p->rates[2]), p->rates[3], two->omega[1]);
    vec3 v = vec3_axpy(vec3_scale(two->v[0], p->rates[2]), p->rates[3], two->v[1]);
    vec3 turn = vec3_make(w.y, -w.x, 0); /* w x e_z */
    vec3 slide = mat3_mul_vec(base_rotation, mat3_mul_vec(two->frame, v));
    p->point.at_rate = vec3_add(motion_velocity_at(base, p->point.at), slide);
    p->point.normal_rate = vec3_add(vec3_cross(base->velocity.angular, p->normal),
                                    mat3_mul_vec(base_rotation, mat3_mul_vec(two->frame, turn)));
}

bool reduced_place(const reduced_pair *pair, reduced_state *state, const motion *base, mat3 base_rotation,
                   reduced_placed *p) {
    double length = sqrt(state->psi.c * state->psi.c + state->psi.s * state->psi.s);
    if (!(length > 0) || !half_at(&pair->side[0], state->place[0], &p->half[0]) ||
        !half_at(&pair->side[1], state->place[1], &p->half[1]))
        return false;
    state->psi = (rolling_turn){state->psi.c / length, state->psi.s / length};
    mat3 one_in_two;
    vec3 center;
    rolling_pose(&p->half[0], &p->half[1], state->psi, &one_in_two, &center);
    p->rotation = mat3_mul(base_rotation, one_in_two);
    p->motion.center = vec3_add(base->center, mat3_mul_vec(base_rotation, center));
    p->point.at = vec3_add(base->center, mat3_mul_vec(base_rotation, p->half[1].point));
    p->normal = p->point.normal = mat3_mul_vec(base_rotation, p->half[1].frame.cz);
    p->point.gap = 0;
    p->motion.velocity = state->velocity;
    keep_freedoms(pair, p, base);
    state->velocity = p->motion.velocity;
    mat3 frame = mat3_mul(p->rotation, p->half[0].frame); /* 1c in the world */
    if (!rolling_rates(&p->half[0], &p->half[1], state->psi, mat3_tmul_vec(frame, p->spin),
                       mat3_tmul_vec(frame, p->slip), p->rates, p->curvature))
        return false;
    move_point(p, base, base_rotation);
    return true;
}

motion reduced_motion(const reduced_placed *p, quat near) {
    motion m = p->motion;
    quat q = quat_unit(quat_from_matrix(p->rotation));
    if (q.w * near.w + q.x * near.x + q.y * near.y + q.z * near.z < 0) q = (quat){-q.w, -q.x, -q.y, -q.z};
    m.rotation = q;
    return m;
}

/* ---- forces */

/* A direction in which the contact holds: a force e at the place, or a torque e, on body 1 and back on 2. */
typedef struct direction {
    spatial j[2]; /* wrench on each body, about its centre of mass */
    double drift; /* the part of the acceleration along it that does not depend on accelerations */
    int held;     /* 0: the normal; 1 slip, 2 spin, 3 roll: whose limit it counts to */
} direction;

typedef struct problem {
    const reduced_pair *pair;
    const reduced_placed *p;
    const motion *base;
    mat3 base_rotation;
    const reduced_directions *along;
    direction rows[UNKNOWNS];
    spatial columns[UNKNOWNS][2]; /* wrenches per unknown: the normal's carries its friction */
    int count;
} problem;

static spatial apply_inverse(const body_inertia *b, mat3 r, spatial wrench) {
    vec3 torque = mat3_mul_vec(b->inverse_inertia, mat3_tmul_vec(r, wrench.angular));
    return (spatial){vec3_scale(wrench.linear, b->inverse_mass), mat3_mul_vec(r, torque)};
}

/* Newton-Euler without contact forces; of a body that nothing can push, what is prescribed. */
static spatial free_acceleration(const reduced_body *b, mat3 r, vec3 w) {
    if (!(b->inertia->inverse_mass > 0)) return b->acceleration;
    vec3 local = mat3_tmul_vec(r, w);
    vec3 gyro = mat3_mul_vec(r, vec3_cross(local, mat3_mul_vec(b->inertia->inertia, local)));
    return apply_inverse(b->inertia, r, (spatial){b->wrench.linear, vec3_sub(b->wrench.angular, gyro)});
}

static void add_direction(problem *q, spatial on_one, spatial on_two, double drift, int held) {
    direction *d = &q->rows[q->count];
    *d = (direction){{on_one, on_two}, drift, held};
    q->columns[q->count][0] = on_one, q->columns[q->count][1] = on_two;
    q->count++;
}

static void add_force(problem *q, vec3 e, double drift, int held) {
    vec3 at = q->p->point.at;
    add_direction(q, spatial_force_at(e, vec3_sub(at, q->p->motion.center)),
                  spatial_force_at(vec3_neg(e), vec3_sub(at, q->base->center)), drift, held);
}

/* (e . w)' = e . w' + e' . w with e' = (n x n') x e, as the axis turns with the normal. */
static void add_torque(problem *q, vec3 e, int held) {
    vec3 turn = vec3_cross(vec3_cross(q->p->normal, q->p->point.normal_rate), e);
    add_direction(q, (spatial){{0, 0, 0}, e}, (spatial){{0, 0, 0}, vec3_neg(e)}, vec3_dot(turn, q->p->spin),
                  held);
}

/* Unit vector of v, on the side of the start; the start itself where v is too small to tell. */
static vec3 along(vec3 v, const reduced_slide *s) {
    double length = vec3_length(v);
    if (!(length > s->least)) return s->start;
    return vec3_scale(v, (vec3_dot(v, s->start) < 0 ? -1 : 1) / length);
}

/* The normal force takes its friction, rolling and spinning resistance with it where those slide. */
static void add_normal(problem *q) {
    const reduced_pair *pair = q->pair;
    const reduced_placed *p = q->p;
    vec3 n = p->normal;
    motion one = p->motion;
    add_force(q, n, contact_gap_drift(&p->point, &one, q->base), 0);
    vec3 force = n, torque = vec3_zero();
    if (pair->mode == FRICTION_SLIP) force = vec3_axpy(force, -pair->friction.slide, q->along->slip);
    if (pair->rolling == FRICTION_SLIP) torque = vec3_axpy(torque, -pair->friction.rolling, q->along->roll);
    if (pair->spinning == FRICTION_SLIP)
        torque = vec3_axpy(torque, -pair->friction.spinning * (pair->spin_start < 0 ? -1 : 1), n);
    vec3 at = p->point.at;
    spatial w = spatial_force_at(force, vec3_sub(at, one.center));
    spatial back = spatial_force_at(vec3_neg(force), vec3_sub(at, q->base->center));
    q->columns[0][0] = (spatial){w.linear, vec3_add(w.angular, torque)};
    q->columns[0][1] = (spatial){back.linear, vec3_sub(back.angular, torque)};
}

static void add_held(problem *q) {
    const reduced_pair *pair = q->pair;
    vec3 n = q->p->normal, t1 = vec3_orthogonal(n), t2 = vec3_cross(n, t1);
    motion one = q->p->motion;
    if (pair->mode == FRICTION_STICK) {
        vec3 drift = contact_slip_drift(&q->p->point, &one, q->base);
        add_force(q, t1, vec3_dot(t1, drift), 1);
        add_force(q, t2, vec3_dot(t2, drift), 1);
    }
    if (pair->spinning == FRICTION_STICK) add_torque(q, n, 2);
    /* with u = 0 the place and so both rolling axes are held */
    if (pair->rolling == FRICTION_STICK) {
        add_torque(q, t1, 3);
        add_torque(q, t2, 3);
    }
}

/* The least share of its limit that a held direction has left (4.45, 4.46). */
static double margin_of(const problem *q, const double *f) {
    const abut_friction *mu = &q->pair->friction;
    const double limits[4] = {0, mu->stick, mu->spinning, mu->rolling};
    double squares[4] = {0}, margin = 1;
    for (int i = 1; i < q->count; i++) squares[q->rows[i].held] += f[i] * f[i];
    for (int k = 1; k < 4; k++)
        if (squares[k] > 0) margin = fmin(margin, 1 - sqrt(squares[k]) / (limits[k] * f[0]));
    return margin;
}

bool reduced_solve(const reduced_pair *pair, const reduced_placed *p, const motion *base, mat3 base_rotation,
                   const reduced_directions *along, reduced_load *load) {
    problem q; /* its rows are written before they are read */
    q.pair = pair, q.p = p, q.base = base, q.base_rotation = base_rotation, q.along = along, q.count = 0;
    add_normal(&q);
    add_held(&q);
    const body_inertia *inertia[2] = {pair->body[0].inertia, pair->body[1].inertia};
    const mat3 rotation[2] = {p->rotation, base_rotation};
    bool pushed[2] = {inertia[0]->inverse_mass > 0, inertia[1]->inverse_mass > 0};
    spatial a[2] = {free_acceleration(&pair->body[0], rotation[0], p->motion.velocity.angular),
                    free_acceleration(&pair->body[1], rotation[1], base->velocity.angular)};
    double m[UNKNOWNS][UNKNOWNS] = {{0}}, f[UNKNOWNS];
    spatial moved[UNKNOWNS][2];
    for (int j = 0; j < q.count; j++)
        for (int b = 0; b < 2; b++)
            if (pushed[b]) moved[j][b] = apply_inverse(inertia[b], rotation[b], q.columns[j][b]);
    for (int i = 0; i < q.count; i++) {
        const direction *d = &q.rows[i];
        f[i] = -d->drift - spatial_dot(d->j[0], a[0]) - spatial_dot(d->j[1], a[1]);
        for (int j = 0; j < q.count; j++) {
            for (int b = 0; b < 2; b++)
                if (pushed[b]) m[i][j] += spatial_dot(d->j[b], moved[j][b]);
        }
    }
    /* sliding friction that pushes into the surface harder than the normal force lifts (Painleve) */
    if (!(m[0][0] > 0) || !dense_eliminate(q.count, UNKNOWNS, &m[0][0], f, 0)) return false;
    spatial on_one = {{0, 0, 0}, {0, 0, 0}};
    for (int j = 0; j < q.count; j++) {
        on_one = spatial_axpy(on_one, f[j], q.columns[j][0]);
        for (int b = 0; b < 2; b++)
            if (pushed[b]) a[b] = spatial_axpy(a[b], f[j], moved[j][b]);
    }
    vec3 arm = vec3_sub(p->point.at, p->motion.center);
    load->normal = f[0];
    load->friction = tangential(on_one.linear, p->normal);
    load->torque = vec3_sub(on_one.angular, vec3_cross(arm, on_one.linear));
    load->margin = margin_of(&q, f);
    load->acceleration[0] = a[0], load->acceleration[1] = a[1];
    return true;
}

bool reduced_accelerate(const reduced_pair *pair, const reduced_placed *p, const motion *base,
                        mat3 base_rotation, reduced_load *load) {
    reduced_directions d = {vec3_zero(), vec3_zero()};
    if (pair->mode == FRICTION_SLIP) d.slip = along(p->slip, &pair->slip);
    if (pair->rolling == FRICTION_SLIP) d.roll = along(tangential(p->spin, p->normal), &pair->roll);
    if (!reduced_solve(pair, p, base, base_rotation, &d, load)) return false;
    return !reduced_begins(pair, p) || reduced_turn(pair, p, base, base_rotation, &d, load);
}

/* ---- into and between coordinates */

/* R_2 F_2 R_psi = R_1 F_1, so cos psi = x_2 . x_1 and sin psi = -y_2 . x_1. */
bool reduced_coordinates(const reduced_pair *pair, const motion *one, const motion *base,
                         reduced_state *state) {
    rolling_half half[2];
    if (!half_at(&pair->side[0], state->place[0], &half[0]) ||
        !half_at(&pair->side[1], state->place[1], &half[1]))
        return false;
    vec3 x1 = quat_rotate(one->rotation, half[0].frame.cx);
    vec3 x2 = quat_rotate(base->rotation, half[1].frame.cx),
         y2 = quat_rotate(base->rotation, half[1].frame.cy);
    state->psi = (rolling_turn){vec3_dot(x2, x1), -vec3_dot(y2, x1)};
    state->velocity = one->velocity;
    return true;
}

bool reduced_change_patch(reduced_pair *pair, reduced_state *state, int which, abut_surface_point place) {
    rolling_half old_half, new_half;
    if (!half_at(&pair->side[which], state->place[which], &old_half)) return false;
    pair->side[which].patch = place.patch;
    state->place[which][0] = place.u, state->place[which][1] = place.v;
    if (!half_at(&pair->side[which], state->place[which], &new_half)) return false;
    rolling_turn by = rolling_turn_of_patch(&old_half, &new_half), psi = state->psi;
    state->psi = (rolling_turn){psi.c * by.c - psi.s * by.s, psi.s * by.c + psi.c * by.s};
    return true;
}
