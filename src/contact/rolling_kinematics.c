/* Contact kinematics of two smooth patches; the formulas stand in the header. */
#include "contact/rolling_kinematics.h"

#include <string.h>

/* A vector that depends on (s, t), with first and second derivatives: by[i], by2[i + j]. */
typedef struct field {
    vec3 at, by[2], by2[3];
} field;

/* w / |w|: from w = L u, L_i = u . w_i, L_ij = u_j . w_i + u . w_ij:
 * u_i = (w_i - L_i u) / L,  u_ij = (w_ij - L_ij u - L_i u_j - L_j u_i) / L */
static bool unit_field(const field *w, field *u) {
    double length = vec3_length(w->at), by[2];
    if (!(length > 0)) return false;
    u->at = vec3_scale(w->at, 1 / length);
    for (int i = 0; i < 2; i++) {
        by[i] = vec3_dot(u->at, w->by[i]);
        u->by[i] = vec3_scale(vec3_axpy(w->by[i], -by[i], u->at), 1 / length);
    }
    for (int k = 0; k < 3; k++) {
        int i = k == 2, j = k > 0; /* ss, st, tt */
        double second = vec3_dot(u->by[j], w->by[i]) + vec3_dot(u->at, w->by2[k]);
        vec3 sum = vec3_axpy(w->by2[k], -second, u->at);
        sum = vec3_axpy(vec3_axpy(sum, -by[i], u->by[j]), -by[j], u->by[i]);
        u->by2[k] = vec3_scale(sum, 1 / length);
    }
    return true;
}

/* a x b, by the product rule */
static void cross_field(const field *a, const field *b, field *n) {
    n->at = vec3_cross(a->at, b->at);
    for (int i = 0; i < 2; i++) n->by[i] = vec3_add(vec3_cross(a->by[i], b->at), vec3_cross(a->at, b->by[i]));
    for (int k = 0; k < 3; k++) {
        int i = k == 2, j = k > 0;
        vec3 sum = vec3_add(vec3_cross(a->by2[k], b->at), vec3_cross(a->at, b->by2[k]));
        n->by2[k] = vec3_add(sum, vec3_add(vec3_cross(a->by[i], b->by[j]), vec3_cross(a->by[j], b->by[i])));
    }
}

/* Columns of H_1: omega_i = (-y.z_i, -z.x_i, y.x_i), v_i = (x.c_i, y.c_i, 0) (A.4, A.5), and their
 * derivatives. */
bool rolling_half_at(const abut_partials *p, rolling_half *half) {
    field a = {p->u, {p->uu, p->uv}, {p->uuu, p->uuv, p->uvv}},
          b = {p->v, {p->uv, p->vv}, {p->uuv, p->uvv, p->vvv}}, n, x, z, y;
    cross_field(&a, &b, &n);
    if (!unit_field(&a, &x) || !unit_field(&n, &z)) return false;
    cross_field(&z, &x, &y);
    half->point = p->c, half->frame = (mat3){x.at, y.at, z.at};
    const field *c_by[2] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        half->omega[i] =
            vec3_make(-vec3_dot(y.at, z.by[i]), -vec3_dot(z.at, x.by[i]), vec3_dot(y.at, x.by[i]));
        half->v[i] = vec3_make(vec3_dot(x.at, c_by[i]->at), i == 0 ? 0 : vec3_dot(y.at, c_by[i]->at), 0);
        for (int j = 0; j < 2; j++) {
            vec3 zij = z.by2[i + j], xij = x.by2[i + j], cij = c_by[i]->by[j];
            half->omega_by[i][j] = vec3_make(-vec3_dot(y.by[j], z.by[i]) - vec3_dot(y.at, zij),
                                             -vec3_dot(z.by[j], x.by[i]) - vec3_dot(z.at, xij),
                                             vec3_dot(y.by[j], x.by[i]) + vec3_dot(y.at, xij));
            double along = vec3_dot(x.by[j], c_by[i]->at) + vec3_dot(x.at, cij);
            double across = vec3_dot(y.by[j], c_by[i]->at) + vec3_dot(y.at, cij);
            half->v_by[i][j] = vec3_make(along, i == 0 ? 0 : across, 0);
        }
    }
    return true;
}

/* The same without second derivatives of the frame: with L = |c_s|, x_i = (c_si - x (x.c_si)) / L, and for
 * N = c_s x c_t, z_i = (N_i - z (z.N_i)) / |N|. */
bool rolling_half_without_rates(const abut_partials *p, rolling_half *half) {
    vec3 n = vec3_cross(p->u, p->v);
    double length = vec3_length(p->u), area = vec3_length(n);
    if (!(length > 0) || !(area > 0)) return false;
    vec3 x = vec3_scale(p->u, 1 / length), z = vec3_scale(n, 1 / area), y = vec3_cross(z, x);
    const vec3 by[2] = {p->u, p->v}, x_by[2] = {p->uu, p->uv};
    const vec3 n_by[2] = {vec3_add(vec3_cross(p->uu, p->v), vec3_cross(p->u, p->uv)),
                          vec3_add(vec3_cross(p->uv, p->v), vec3_cross(p->u, p->vv))};
    half->point = p->c, half->frame = (mat3){x, y, z};
    for (int i = 0; i < 2; i++) {
        half->omega[i] = vec3_make(-vec3_dot(y, n_by[i]) / area, -vec3_dot(z, x_by[i]) / length,
                                   vec3_dot(y, x_by[i]) / length);
        half->v[i] = vec3_make(vec3_dot(x, by[i]), i == 0 ? 0 : vec3_dot(y, by[i]), 0);
    }
    return true;
}

void rolling_pose(const rolling_half *one, const rolling_half *two, rolling_turn psi, mat3 *rotation,
                  vec3 *position) {
    mat3 r_psi = {{psi.c, -psi.s, 0}, {-psi.s, -psi.c, 0}, {0, 0, -1}};
    *rotation = mat3_mul(mat3_mul(two->frame, r_psi), mat3_transpose(one->frame));
    *position = vec3_sub(two->point, mat3_mul_vec(*rotation, one->point));
}

static void put_column(rolling_matrix *m, int column, vec3 angular, vec3 linear) {
    double all[6] = {angular.x, angular.y, angular.z, linear.x, linear.y, linear.z};
    for (int i = 0; i < 6; i++) m->at[i][column] = all[i];
}

void rolling_h(const rolling_half *one, const rolling_half *two, rolling_turn psi, rolling_matrix *h) {
    for (int k = 0; k < 2; k++) {
        put_column(h, k, vec3_neg(one->omega[k]), vec3_neg(one->v[k]));
        put_column(h, 2 + k, rolling_align(psi, two->omega[k]), rolling_align(psi, two->v[k]));
    }
    put_column(h, 4, vec3_make(0, 0, 1), vec3_zero());
}

/* dR_psi/dpsi a */
static vec3 align_rate(rolling_turn psi, vec3 a) {
    return vec3_make(-psi.s * a.x - psi.c * a.y, -psi.c * a.x + psi.s * a.y, 0);
}

void rolling_h_rate(const rolling_half *one, const rolling_half *two, rolling_turn psi, const double rates[5],
                    rolling_matrix *h_rate) {
    for (int k = 0; k < 2; k++) {
        vec3 w1 = vec3_axpy(vec3_scale(one->omega_by[k][0], rates[0]), rates[1], one->omega_by[k][1]);
        vec3 v1 = vec3_axpy(vec3_scale(one->v_by[k][0], rates[0]), rates[1], one->v_by[k][1]);
        vec3 w2 = vec3_axpy(vec3_scale(two->omega_by[k][0], rates[2]), rates[3], two->omega_by[k][1]);
        vec3 v2 = vec3_axpy(vec3_scale(two->v_by[k][0], rates[2]), rates[3], two->v_by[k][1]);
        put_column(h_rate, k, vec3_neg(w1), vec3_neg(v1));
        put_column(h_rate, 2 + k, vec3_axpy(rolling_align(psi, w2), rates[4], align_rate(psi, two->omega[k])),
                   vec3_axpy(rolling_align(psi, v2), rates[4], align_rate(psi, two->v[k])));
    }
    put_column(h_rate, 4, vec3_zero(), vec3_zero());
}

static vec3 angular_of(const rolling_matrix *m, int k) {
    return vec3_make(m->at[0][k], m->at[1][k], m->at[2][k]);
}
static vec3 linear_of(const rolling_matrix *m, int k) {
    return vec3_make(m->at[3][k], m->at[4][k], m->at[5][k]);
}

/* Ad of (frame, point): angular' = F angular, linear' = F linear + point x F angular */
static void put_in_body(const rolling_half *one, vec3 angular, vec3 linear, rolling_matrix *to, int k) {
    vec3 w = mat3_mul_vec(one->frame, angular);
    put_column(to, k, w, vec3_add(mat3_mul_vec(one->frame, linear), vec3_cross(one->point, w)));
}

void rolling_in_body(const rolling_half *one, const double rates[5], const rolling_matrix *h,
                     const rolling_matrix *h_rate, rolling_matrix *body_h, rolling_matrix *body_h_rate) {
    vec3 w = vec3_axpy(vec3_scale(one->omega[0], rates[0]), rates[1], one->omega[1]);
    vec3 v = vec3_axpy(vec3_scale(one->v[0], rates[0]), rates[1], one->v[1]);
    for (int k = 0; k < 5; k++) {
        vec3 hw = angular_of(h, k), hv = linear_of(h, k);
        put_in_body(one, hw, hv, body_h, k);
        vec3 turned = vec3_add(angular_of(h_rate, k), vec3_cross(w, hw));
        vec3 moved = vec3_add(linear_of(h_rate, k), vec3_add(vec3_cross(v, hw), vec3_cross(w, hv)));
        put_in_body(one, turned, moved, body_h_rate, k);
    }
}

void rolling_twist(const rolling_matrix *h, const double rates[5], vec3 *angular, vec3 *linear) {
    *angular = *linear = vec3_zero();
    for (int k = 0; k < 5; k++) {
        *angular = vec3_axpy(*angular, rates[k], angular_of(h, k));
        *linear = vec3_axpy(*linear, rates[k], linear_of(h, k));
    }
}

/* 2 x 2 matrices by rows */
typedef struct m2 {
    double a, b, c, d;
} m2;
static m2 m2_mul(m2 x, m2 y) {
    return (m2){x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
}
static m2 m2_inverse(m2 x) {
    double det = x.a * x.d - x.b * x.c;
    return (m2){x.d / det, -x.b / det, -x.c / det, x.a / det};
}
/* The upper two rows of the columns (p, q). */
static m2 m2_columns(vec3 p, vec3 q) { return (m2){p.x, q.x, p.y, q.y}; }

/* With the rows x, y: linear = -V1 a + R V2 b, angular = -W1 a + R W2 b, a = (s', t'), b = (u', v'), R the
 * upper part of R_psi.  The normal's turning per way, S_i = W_i V_i^-1, gives with p = V1 a, r = R V2 b =
 * linear + p: (R S2 R - S1) p = angular - R S2 R linear. J (R S2 R - S1), J a quarter turn, is the relative
 * curvature (Montana 1988), symmetric. */
bool rolling_rates(const rolling_half *one, const rolling_half *two, rolling_turn psi, vec3 angular,
                   vec3 linear, double rates[5], double curvature[2]) {
    m2 r = {psi.c, -psi.s, -psi.s, -psi.c}, v1 = m2_columns(one->v[0], one->v[1]),
       v2 = m2_columns(two->v[0], two->v[1]);
    m2 s1 = m2_mul(m2_columns(one->omega[0], one->omega[1]), m2_inverse(v1)),
       s2 = m2_mul(m2_columns(two->omega[0], two->omega[1]), m2_inverse(v2)), t2 = m2_mul(m2_mul(r, s2), r);
    m2 k = {t2.a - s1.a, t2.b - s1.b, t2.c - s1.c, t2.d - s1.d};
    /* J k with J = [[0, 1], [-1, 0]] is [[k.c, k.d], [-k.a, -k.b]] */
    double xx = k.c, yy = -k.b, xy = 0.5 * (k.d - k.a);
    double mean = 0.5 * (xx + yy), radius = sqrt(0.25 * (xx - yy) * (xx - yy) + xy * xy);
    curvature[1] = mean >= 0 ? mean + radius : mean - radius;
    curvature[0] = mean >= 0 ? mean - radius : mean + radius;
    /* conforming: the difference of the curvatures is rounding of the curvatures themselves */
    double scale =
        fabs(s1.a) + fabs(s1.b) + fabs(s1.c) + fabs(s1.d) + fabs(t2.a) + fabs(t2.b) + fabs(t2.c) + fabs(t2.d);
    double det = k.a * k.d - k.b * k.c;
    if (!(fabs(curvature[0]) > 1e-12 * scale) || det == 0) return false;
    double wx = angular.x - (t2.a * linear.x + t2.b * linear.y),
           wy = angular.y - (t2.c * linear.x + t2.d * linear.y);
    double px = (k.d * wx - k.b * wy) / det, py = (k.a * wy - k.c * wx) / det;
    m2 i1 = m2_inverse(v1), i2 = m2_mul(m2_inverse(v2), r);
    rates[0] = i1.a * px + i1.b * py, rates[1] = i1.c * px + i1.d * py;
    rates[2] = i2.a * (linear.x + px) + i2.b * (linear.y + py);
    rates[3] = i2.c * (linear.x + px) + i2.d * (linear.y + py);
    vec3 w1 = vec3_axpy(vec3_scale(one->omega[0], rates[0]), rates[1], one->omega[1]);
    vec3 w2 = vec3_axpy(vec3_scale(two->omega[0], rates[2]), rates[3], two->omega[1]);
    rates[4] = angular.z + w1.z + w2.z; /* R_psi turns z into -z */
    return true;
}

rolling_turn rolling_turn_of_patch(const rolling_half *old_half, const rolling_half *new_half) {
    return (rolling_turn){vec3_dot(old_half->frame.cx, new_half->frame.cx),
                          vec3_dot(old_half->frame.cy, new_half->frame.cx)};
}
