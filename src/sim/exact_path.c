/* Paths of bodies on the dense output, and bounds of their derivatives (exact_path.h).
 *
 * A number of the dense output is the polynomial (numerics/ode.h), r = 1 - s,
 *
 *     c0 + c1 s + c2 s r + c3 s^2 r + c4 s^2 r^2 + c5 s^3 r^2 + c6 s^3 r^3 + c7 s^4 r^3,
 *
 * so that the k-th derivative of a vector of them is at most the sum of |c_j| times the largest k-th
 * derivative of the j-th power on [0, 1], which is a table. */
#include "sim/exact_path.h"

/* largest[j - 1][k - 1], rounded up. */
static const double largest[ODE_DENSE - 1][PATH_ORDER] = {
    {1, 0, 0, 0},        {1, 2, 0, 0},           {1, 4, 6, 0},           {0.1925, 2, 12, 24},
    {0.1356, 2, 18, 72}, {0.0537, 0.375, 6, 72}, {0.0336, 0.2427, 6, 96}};

/* |c_j| of the numbers first .. first + count - 1. */
static double coefficient(const ode *o, int j, int first, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += o->dense[j][first + i] * o->dense[j][first + i];
    return sqrt(sum);
}

/* Derivatives of order 1 to PATH_ORDER; *bend: how far the polynomial is from the chord between its ends, by
 * s r <= 1/4. */
static void derivatives(const ode *o, int first, int count, double out[], double *bend) {
    *bend = 0;
    for (int k = 1; k <= PATH_ORDER; k++) out[k] = 0;
    for (int j = ODE_DENSE - 1; j > 0; j--) {
        double c = coefficient(o, j, first, count);
        for (int k = 1; k <= PATH_ORDER; k++) out[k] += c * largest[j - 1][k - 1];
        if (j > 1) *bend = (j % 2 ? 1 : 0.25) * (*bend + c);
    }
}

void path_product(const double f[], const double g[], double out[]) {
    static const double binomial[PATH_ORDER + 1][PATH_ORDER + 1] = {
        {1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
    for (int k = PATH_ORDER; k >= 0; k--) {
        double sum = 0;
        for (int j = 0; j <= k; j++) sum += binomial[k][j] * f[j] * g[k - j];
        out[k] = sum;
    }
}

/* Of a rotation q x q* / |q|^2 with |q| >= shortest: the unit quaternion has the derivatives
 * |q'|/|q| and at most |q''|/|q| + 3 |q'|^2/|q|^2. */
static void bound_rotation(const double q[], double shortest, exact_path *p) {
    double first = q[1] / shortest, second = q[2] / shortest + 3 * first * first;
    path_product(q, q, p->turn);
    p->spin[0] = 2 * first, p->spin[1] = 2 * second + 2 * first * first;
}

static void bound_dense(const ode *o, int first, exact_path *p) {
    double q[PATH_ORDER + 1], bend;
    derivatives(o, first, 3, p->go, &bend);
    derivatives(o, first + 3, 4, q, &bend);
    double chord = coefficient(o, 1, first + 3, 4);
    double shortest = sqrt(fmax(1 - chord * chord / 4, 0)) - bend - 1e-9;
    q[0] = 1 + 1e-9 + bend;
    p->bounded = shortest > 0.5;
    bound_rotation(q, fmax(shortest, 0.5), p);
}

/* A body that moves by itself: constant velocity and spin exactly, a function by its samples. */
static void bound_kinematic(exact *x, int i, exact_path *p) {
    const twist v = x->model->bodies[x->bodies[i]].start.velocity;
    const kinematic_most *most = exact_most(x, i);
    double h = x->integrator.t - x->integrator.t_old, power = 1, q[PATH_ORDER + 1] = {1};
    double half_turn = h * vec3_length(v.angular) / 2;
    for (int k = 1; k <= PATH_ORDER; k++) {
        power *= h;
        p->go[k] = most ? power * most->center[k] : k == 1 ? h * vec3_length(v.linear) : 0;
        q[k] = most ? power * most->rotation[k] : q[k - 1] * half_turn;
    }
    bound_rotation(q, 1, p);
}

void exact_bound_paths(exact *x) {
    for (int i = 0; i < x->count; i++) {
        exact_path *p = &x->paths[i];
        *p = (exact_path){.turn = {1}, .bounded = true};
        for (int k = 0; k < PATH_PLACES; k++) x->path_points[i * PATH_PLACES + k].time = NAN;
        if (i < x->movable)
            bound_dense(&x->integrator, BODY_NUMBERS * i, p);
        else if (x->model->bodies[x->bodies[i]].kinematic)
            bound_kinematic(x, i, p);
    }
}

/* ---- a body at one time */

static void place_dense(const ode *o, int first, path_point *p) {
    double s = (p->time - o->t_old) / (o->t - o->t_old), y[7], dy[7];
    for (int i = 0; i < 7; i++) {
        double value = o->dense[ODE_DENSE - 1][first + i], rate = 0;
        for (int k = ODE_DENSE - 2; k >= 0; k--) {
            rate = k % 2 ? (1 - s) * rate - value : s * rate + value;
            value = o->dense[k][first + i] + (k % 2 ? 1 - s : s) * value;
        }
        y[i] = value, dy[i] = rate;
    }
    p->c = vec3_make(y[0], y[1], y[2]), p->dc = vec3_make(dy[0], dy[1], dy[2]);
    p->q = (quat){y[3], y[4], y[5], y[6]}, p->dq = (quat){dy[3], dy[4], dy[5], dy[6]};
}

static bool place_other(exact *x, int body, path_point *p) {
    motion m = x->motions[body];
    double h = x->integrator.t - x->integrator.t_old;
    p->dc = vec3_zero(), p->dq = (quat){0, 0, 0, 0};
    if (x->model->bodies[x->bodies[body]].kinematic) {
        if (model_kinematic_motion(x->model, x->bodies[body], p->time, &m, NULL, NULL) != ABUT_OK)
            return false;
        p->dc = vec3_scale(m.velocity.linear, h);
        p->dq = quat_rate(m.rotation, vec3_scale(m.velocity.angular, h));
    }
    p->c = m.center, p->q = m.rotation;
    return true;
}

static double dot(quat p, quat q) { return p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z; }

/* The last places are kept: all pairs of features are looked at at the same times at first. */
bool exact_path_at(exact *x, int body, double time, path_point *out) {
    path_point *known = &x->path_points[body * PATH_PLACES];
    for (int k = 0; k < PATH_PLACES; k++)
        if (known[k].time == time) {
            *out = known[k];
            return true;
        }
    out->time = time;
    if (body < x->movable)
        place_dense(&x->integrator, BODY_NUMBERS * body, out);
    else if (!place_other(x, body, out))
        return false;
    out->m = dot(out->q, out->q), out->dm = 2 * dot(out->q, out->dq);
    known[x->path_next++ % PATH_PLACES] = *out;
    return true;
}

/* (w^2 - u.u) v + 2 (u.v) u + 2 w u x v */
vec3 path_turned(const path_point *p, vec3 v) {
    vec3 u = {p->q.x, p->q.y, p->q.z};
    vec3 sum = vec3_scale(v, p->q.w * p->q.w - vec3_dot(u, u));
    return vec3_axpy(vec3_axpy(sum, 2 * vec3_dot(u, v), u), 2 * p->q.w, vec3_cross(u, v));
}

vec3 path_turned_rate(const path_point *p, vec3 v) {
    vec3 u = {p->q.x, p->q.y, p->q.z}, du = {p->dq.x, p->dq.y, p->dq.z};
    vec3 sum = vec3_scale(v, 2 * (p->q.w * p->dq.w - vec3_dot(u, du)));
    sum = vec3_axpy(vec3_axpy(sum, 2 * vec3_dot(du, v), u), 2 * vec3_dot(u, v), du);
    return vec3_axpy(vec3_axpy(sum, 2 * p->dq.w, vec3_cross(u, v)), 2 * p->q.w, vec3_cross(du, v));
}

path_range path_bounds(double l, double f0, double df0, double f1, double df1, double fourth) {
    double b1 = f0 + l * df0 / 3, b2 = f1 - l * df1 / 3, all = fourth * l * l * l * l;
    double steps[3] = {b1 - f0, b2 - b1, f1 - b2}, off = all / 384, slope = all * 0.00802 / 3;
    return (path_range){.first = f0,
                        .least = fmin(fmin(f0, b1), fmin(b2, f1)) - off,
                        .most = fmax(fmax(f0, b1), fmax(b2, f1)) + off,
                        .falls = fmax(steps[0], fmax(steps[1], steps[2])) < -slope,
                        .rises = fmin(steps[0], fmin(steps[1], steps[2])) > slope};
}
