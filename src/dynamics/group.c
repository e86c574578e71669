/* Groups: velocities and rows at contacts, free accelerations, energy (see group.h). */
#include "dynamics/group.h"

#include "abut/complementarity.h"

uint8_t group_row_state(const group *g, int i) {
    uint8_t state = g->row_states ? g->row_states[i] : ABUT_LCP_FREE;
    double bound = state == ABUT_LCP_AT_LOWER   ? g->rows[i].lo
                   : state == ABUT_LCP_AT_UPPER ? g->rows[i].hi
                                                : 0;
    return isfinite(bound) ? state : ABUT_LCP_FREE;
}

static vec3 velocity_of(const group *g, const spatial *velocities, int body, vec3 at) {
    if (body < 0) return vec3_zero();
    return spatial_velocity_at(velocities[body], vec3_sub(at, g->motions[body].center));
}

vec3 group_contact_velocity(const group *g, const group_contact *c, const spatial *velocities) {
    return vec3_sub(velocity_of(g, velocities, c->a, c->point.at),
                    velocity_of(g, velocities, c->b, c->point.at));
}

static vec3 relative_velocity(const group *g, const group_contact *c) {
    motion a = group_motion(g, c->a), b = group_motion(g, c->b);
    return contact_slip(&c->point, &a, &b);
}

double group_contact_gap_rate(const group *g, const group_contact *c) {
    return vec3_dot(c->point.normal, relative_velocity(g, c));
}

vec3 group_contact_slip(const group *g, const group_contact *c) {
    vec3 u = relative_velocity(g, c), n = c->point.normal;
    return vec3_axpy(u, -vec3_dot(n, u), n);
}

vec3 group_contact_spin(const group *g, const group_contact *c) {
    return vec3_sub(group_motion(g, c->a).velocity.angular, group_motion(g, c->b).velocity.angular);
}

/* The row of force e at the contact on A, -e on B. */
static row force_row(const group *g, const group_contact *c, vec3 e) {
    vec3 ra = vec3_sub(c->point.at, group_motion(g, c->a).center);
    vec3 rb = vec3_sub(c->point.at, group_motion(g, c->b).center);
    return (row){.a = c->a,
                 .b = c->b,
                 .ja = spatial_force_at(e, ra),
                 .jb = spatial_force_at(vec3_neg(e), rb),
                 .lo = -INFINITY,
                 .hi = INFINITY};
}

row group_normal_row(const group *g, const group_contact *c) {
    motion a = group_motion(g, c->a), b = group_motion(g, c->b);
    row r = force_row(g, c, c->point.normal);
    r.drift = contact_gap_drift(&c->point, &a, &b);
    r.error = c->point.gap, r.lo = 0;
    return r;
}

/* (t . u)' = t . u' + t' . u.  Where u = 0, as for sticking points, the second term is zero for every t'. */
row group_tangent_row(const group *g, const group_contact *c, vec3 t) {
    motion a = group_motion(g, c->a), b = group_motion(g, c->b);
    row r = force_row(g, c, t);
    r.drift = vec3_dot(t, contact_slip_drift(&c->point, &a, &b));
    return r;
}

/* The axis turns with the normal: e' = (n x n') x e, and (e . w)' = e . w' + e' . w. */
row group_spin_row(const group *g, const group_contact *c, vec3 axis) {
    vec3 turn = vec3_cross(c->point.normal, c->point.normal_rate);
    return (row){.a = c->a,
                 .b = c->b,
                 .ja = {{0, 0, 0}, axis},
                 .jb = {{0, 0, 0}, vec3_neg(axis)},
                 .drift = vec3_dot(vec3_cross(turn, axis), group_contact_spin(g, c)),
                 .lo = -INFINITY,
                 .hi = INFINITY};
}

void group_tangents(vec3 normal, vec3 *t1, vec3 *t2) {
    *t1 = vec3_orthogonal(normal);
    *t2 = vec3_cross(normal, *t1);
}

void group_free_accelerations(const group *g, spatial *out) {
    for (int i = 0; i < g->body_count; i++) {
        if (g->inertias[i].inverse_mass > 0)
            out[i] = body_accelerate(&g->inertias[i], &g->motions[i], g->wrenches[i]);
        else
            out[i] = g->prescribed ? g->prescribed[i] : (spatial){{0, 0, 0}, {0, 0, 0}};
    }
}

double group_kinetic_energy(const group *g, const spatial *velocities) {
    double sum = 0;
    for (int i = 0; i < g->body_count; i++)
        sum += spatial_dot(body_momentum(&g->inertias[i], g->motions[i].rotation, velocities[i]),
                           velocities[i]) /
               2;
    return sum;
}
