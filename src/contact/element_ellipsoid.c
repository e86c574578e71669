/* Ellipsoids against points, lines, circles, ellipsoids and the inside of a sphere.
 *
 * An ellipsoid is described by its normal: with E = R diag(axes^2) R^T and h = sqrt(n . E n),
 *
 *     y(n) = c + E n / h            the point with outward normal n
 *     J(n) = E/h - E n n^T E/h^3    its derivative, symmetric, J n = 0
 *
 * The other body touches at X with X - y(n) = g n.  Differentiating, and keeping what is across n,
 *
 *     (J + g) n' = P (X' - y_t)     P = I - n n^T,  y_t: the velocity of y at fixed n
 *
 * gives the rate of the normal and everything else.  Where X = X(s) runs along a curve, n . X_s = 0 fixes s;
 * where X belongs to an ellipsoid too, its own J is added. */
#include "contact/element_placed.h"

static vec3 scaled(vec3 s, vec3 v) { return (vec3){s.x * v.x, s.y * v.y, s.z * v.z}; }

/* In body axes u = R^T n, E = diag(axes^2), h = sqrt(u.E u):
 *     tip = -E u / h,   u' = R^T (n' - w x n),  h' = u.E u'/h,  tip' = -E u'/h + E u h'/h^2. */
void ellipsoid_tip(const placed *a, vec3 n, vec3 n_rate, vec3 *tip, vec3 *tip_rate) {
    quat q = a->m->rotation;
    vec3 w = a->m->velocity.angular, s = a->e->axes, e = scaled(s, s);
    vec3 u = quat_unrotate(q, n), u_rate = quat_unrotate(q, vec3_sub(n_rate, vec3_cross(w, n)));
    vec3 eu = scaled(e, u), eu_rate = scaled(e, u_rate);
    double h = sqrt(vec3_dot(u, eu)), h_rate = vec3_dot(u, eu_rate) / h;
    vec3 local = vec3_scale(eu, -1 / h);
    vec3 local_rate = vec3_axpy(vec3_scale(eu_rate, -1 / h), h_rate / (h * h), eu);
    vec3 arm = quat_rotate(q, local);
    *tip = vec3_add(a->p, arm);
    *tip_rate = vec3_add(vec3_add(a->p_rate, vec3_cross(w, arm)), quat_rotate(q, local_rate));
}

/* ---- two by two, across the normal */

typedef struct across {
    vec3 s, t;         /* with n a right-handed basis */
    double ss, st, tt; /* of a symmetric matrix */
} across;

static across across_of(vec3 n) {
    vec3 s = vec3_orthogonal(n);
    return (across){.s = s, .t = vec3_cross(n, s)};
}

static void add_shape(across *m, const placed *e, vec3 n) {
    vec3 squares = scaled(e->e->axes, e->e->axes);
    vec3 u = quat_unrotate(e->m->rotation, n), s = quat_unrotate(e->m->rotation, m->s),
         t = quat_unrotate(e->m->rotation, m->t);
    vec3 eu = scaled(squares, u);
    double h = sqrt(vec3_dot(u, eu)), us = vec3_dot(s, eu), ut = vec3_dot(t, eu);
    m->ss += vec3_dot(s, scaled(squares, s)) / h - us * us / (h * h * h);
    m->st += vec3_dot(s, scaled(squares, t)) / h - us * ut / (h * h * h);
    m->tt += vec3_dot(t, scaled(squares, t)) / h - ut * ut / (h * h * h);
}

static void add_multiple(across *m, double g) { m->ss += g, m->tt += g; }

static bool solve_across(const across *m, vec3 b, vec3 *x) {
    double det = m->ss * m->tt - m->st * m->st, size = fabs(m->ss) + fabs(m->tt);
    if (!(fabs(det) > 1e-14 * size * size)) return false;
    double p = vec3_dot(m->s, b), q = vec3_dot(m->t, b);
    *x = vec3_axpy(vec3_scale(m->s, (m->tt * p - m->st * q) / det), (m->ss * q - m->st * p) / det, m->t);
    return true;
}

/* ---- the nearest place of an ellipsoid to a point */

/* The place y of the ellipsoid nearest to q (body axes) has q - y = t w, w_i = q_i/(t + a_i^2), y_i = a_i^2
 * w_i and sum (a_i w_i)^2 = 1, t >= -c^2 with c the shortest half axis.  In s = t + c^2 >= 0 the denominators
 * are sums without cancellation, however deep q lies.  The root by Newton's method on 1/sqrt(sum): it is
 * concave and nearly straight, and the start lies left of the root, so the steps go to it from one side. */
static double project_parameter(vec3 a, vec3 q, vec3 apart) {
    double s = 0;
    for (int k = 0; k < 3; k++) s = fmax(s, vec3_at(a, k) * fabs(vec3_at(q, k)) - vec3_at(apart, k));
    for (int i = 0; i < 60; i++) {
        double sum = 0, rate = 0;
        for (int k = 0; k < 3; k++) {
            if (vec3_at(q, k) == 0) continue; /* its denominator may be zero */
            double w = 1 / (s + vec3_at(apart, k)), f = vec3_at(a, k) * vec3_at(q, k) * w;
            sum += f * f, rate += f * f * w;
        }
        if (!(sum > 0)) return s;
        double step = (sqrt(sum) - 1) * sum / rate;
        if (!(step > 1e-16 * s)) return s + fmax(step, -1e-15 * s);
        s += step;
    }
    return s;
}

static int shortest(vec3 a) { return a.x <= a.y && a.x <= a.z ? 0 : a.y <= a.z ? 1 : 2; }

/* Deep inside, where q has nothing along the shortest axis, s = 0 and sum = 1 has to give that part of w. */
vec3 ellipsoid_normal(const placed *e, vec3 x, double *distance) {
    vec3 a = e->e->axes, q = quat_unrotate(e->m->rotation, vec3_sub(x, e->p)), apart;
    int least = shortest(a);
    double c = vec3_at(a, least), w[3], sum = 0;
    apart = vec3_make((a.x - c) * (a.x + c), (a.y - c) * (a.y + c), (a.z - c) * (a.z + c));
    double s = project_parameter(a, q, apart);
    for (int k = 0; k < 3; k++) {
        double under = s + vec3_at(apart, k), part;
        w[k] = under > 0 ? vec3_at(q, k) / under : 0;
        part = vec3_at(a, k) * w[k], sum += k == least ? 0 : part * part;
    }
    if (s == 0) w[least] = sqrt(fmax(1 - sum, 0)) / c;
    double length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    *distance = (s - c * c) * length;
    return quat_rotate(e->m->rotation, vec3_scale(vec3_make(w[0], w[1], w[2]), 1 / length));
}

/* ---- a point or a curve against an ellipsoid */

/* X with its material velocity and, on a curve, X_s and X_ss (both zero for a point). */
typedef struct tip {
    vec3 x, x_rate, along, bend;
    const motion *m;
    double r;
} tip;

static bool touch(const tip *a, const placed *b, vec3 n, double distance, contact_point *out) {
    vec3 y, y_rate, n_rate, by_slide = vec3_zero();
    ellipsoid_tip(b, vec3_neg(n), vec3_zero(), &y, &y_rate); /* y_t: at fixed n */
    across m = across_of(n);
    add_shape(&m, b, n), add_multiple(&m, distance);
    if (!solve_across(&m, vec3_sub(a->x_rate, y_rate), &n_rate)) return false;
    double straight = vec3_dot(a->along, a->along);
    if (straight > 0) {
        /* n'.X_s + n.(w x X_s + X_ss s') = 0 with n' = n'_0 + s' (J + g)^-1 X_s */
        if (!solve_across(&m, a->along, &by_slide)) return false;
        double rate = vec3_dot(by_slide, a->along) + vec3_dot(n, a->bend);
        double rest = vec3_dot(n_rate, a->along) + vec3_dot(n, vec3_cross(a->m->velocity.angular, a->along));
        if (!(fabs(rate) > 1e-14 * straight)) return false;
        n_rate = vec3_axpy(n_rate, -rest / rate, by_slide);
    }
    out->normal = n, out->normal_rate = n_rate;
    out->gap = distance - a->r;
    ellipsoid_tip(b, vec3_neg(n), vec3_neg(n_rate), &out->at, &out->at_rate);
    return true;
}

static bool point_ellipsoid(const placed *a, const placed *b, contact_point *out) {
    double distance;
    vec3 n = ellipsoid_normal(b, a->p, &distance);
    return touch(&(tip){.x = a->p, .x_rate = a->p_rate, .m = a->m, .r = a->e->r}, b, n, distance, out);
}

/* The signed distance along a line is convex: the zero of its slope n . d lies within the longest half axis
 * of the foot of the centre. */
static bool line_ellipsoid(const placed *a, const placed *b, contact_point *out, double *sa) {
    double foot = vec3_dot(vec3_sub(b->p, a->p), a->d), size = 1.01 * vec3_max_abs(b->e->axes);
    double lo = foot - size, hi = foot + size, distance, s = foot;
    double g_lo = vec3_dot(ellipsoid_normal(b, vec3_axpy(a->p, lo, a->d), &distance), a->d);
    double g_hi = vec3_dot(ellipsoid_normal(b, vec3_axpy(a->p, hi, a->d), &distance), a->d);
    vec3 n = vec3_zero();
    for (int i = 0; i < 80; i++) {
        s = i % 3 == 2 ? lo + (hi - lo) / 2 : lo + (hi - lo) * (g_lo / (g_lo - g_hi));
        if (!(s > lo && s < hi)) s = lo + (hi - lo) / 2;
        n = ellipsoid_normal(b, vec3_axpy(a->p, s, a->d), &distance);
        double g = vec3_dot(n, a->d);
        if (g == 0 || !(s > lo && s < hi) || hi - lo < 1e-16 * size) break;
        if (g > 0)
            hi = s, g_hi = g, g_lo *= 0.75;
        else
            lo = s, g_lo = g, g_hi *= 0.75;
    }
    *sa = s;
    vec3 x = vec3_axpy(a->p, s, a->d);
    tip t = {x, motion_velocity_at(a->m, x), a->d, vec3_zero(), a->m, a->e->r};
    return touch(&t, b, n, distance, out);
}

/* The rim's deepest place. */
static bool circle_ellipsoid(const placed *a, const placed *b, contact_point *out) {
    circle_place at;
    if (!rim_place_to_ellipsoid(a, b, &at)) return false;
    double distance;
    vec3 n = ellipsoid_normal(b, at.x, &distance);
    tip t = {at.x, motion_velocity_at(a->m, at.x), at.along, vec3_scale(at.radial, -1 / a->e->r), a->m, 0};
    return touch(&t, b, n, distance, out);
}

/* ---- two ellipsoids */

/* x_a(-n) and x_b(n), the places that face each other along n; their distance along n. */
static double separation(const placed *a, const placed *b, vec3 n, vec3 *between) {
    vec3 x, y, rate;
    ellipsoid_tip(a, n, vec3_zero(), &x, &rate);
    ellipsoid_tip(b, vec3_neg(n), vec3_zero(), &y, &rate);
    *between = vec3_sub(x, y);
    return vec3_dot(n, *between);
}

/* The direction of largest separation: Newton's method on the sphere of directions, where the second
 * derivative is -(J_a + J_b + f), with steps that are halved until the separation grows. */
static bool ellipsoid_ellipsoid(const placed *a, const placed *b, contact_point *out) {
    vec3 n = vec3_sub(a->p, b->p), between, step;
    if (!(vec3_length(n) > 0)) return false;
    n = vec3_unit(n);
    double f = separation(a, b, n, &between);
    for (int i = 0; i < 60; i++) {
        across m = across_of(n);
        add_shape(&m, a, n), add_shape(&m, b, n), add_multiple(&m, fmax(f, 0));
        if (!solve_across(&m, between, &step)) return false;
        double length = vec3_length(step), part = length > 0.7 ? 0.7 / length : 1;
        bool better = false;
        for (int k = 0; k < 30 && !better; k++, part /= 2) {
            vec3 there, next = vec3_unit(vec3_axpy(n, part, step));
            double g = separation(a, b, next, &there);
            if (g > f || (k == 0 && length < 1e-6)) n = next, f = g, between = there, better = true;
        }
        if (!better || length < 1e-15) break;
    }
    vec3 x, x_rate, y, y_rate, n_rate;
    ellipsoid_tip(a, n, vec3_zero(), &x, &x_rate);
    ellipsoid_tip(b, vec3_neg(n), vec3_zero(), &y, &y_rate);
    across m = across_of(n);
    add_shape(&m, a, n), add_shape(&m, b, n), add_multiple(&m, f);
    if (!solve_across(&m, vec3_sub(x_rate, y_rate), &n_rate)) return false;
    out->normal = n, out->normal_rate = n_rate, out->gap = f;
    ellipsoid_tip(b, vec3_neg(n), vec3_neg(n_rate), &out->at, &out->at_rate);
    return true;
}

bool any_ellipsoid(const placed *a, const placed *b, contact_point *out, double *sa) {
    switch (a->e->kind) {
    case ELEMENT_POINT: return point_ellipsoid(a, b, out);
    case ELEMENT_LINE: return line_ellipsoid(a, b, out, sa);
    case ELEMENT_CIRCLE: return circle_ellipsoid(a, b, out);
    default: return ellipsoid_ellipsoid(a, b, out);
    }
}

/* ---- inside a sphere */

/* The place with the outward normal m, from z. */
static vec3 tip_from(const placed *a, vec3 m, vec3 z) {
    vec3 x, x_rate;
    ellipsoid_tip(a, vec3_neg(m), vec3_zero(), &x, &x_rate);
    return vec3_sub(x, z);
}

/* Newton's step for d(m) = f m, where the distance has a maximum near by: J - f is negative across m. */
static bool newton_away(const placed *a, vec3 m, vec3 d, vec3 *step) {
    across j = across_of(m);
    add_shape(&j, a, m), add_multiple(&j, -vec3_dot(d, m));
    bool peak = j.ss + j.tt < 0 && j.ss * j.tt > j.st * j.st;
    return peak && solve_across(&j, vec3_neg(d), step) && vec3_length(*step) < 0.2;
}

/* The place of the ellipsoid farthest from the cavity's centre z, near the end of the longest axis that the
 * branch names: x(m) - z = f m.  Going to the place whose normal is the present direction from z never comes
 * nearer; Newton's method finishes, with steps that do not come nearer either: it went round in circles
 * between places that are almost as far. */
bool ellipsoid_in_cavity(const placed *a, const placed *b, contact_point *out) {
    vec3 s = a->e->axes, z = b->p, x, x_rate, m_rate;
    vec3 longest = {s.x >= s.y && s.x >= s.z, s.y > s.x && s.y >= s.z, s.z > s.x && s.z > s.y};
    vec3 m = quat_rotate(a->m->rotation, vec3_scale(longest, a->e->branch ? -1 : 1)), d = tip_from(a, m, z);
    for (int i = 0; i < 500; i++) {
        vec3 step, next = vec3_length(d) > 0 ? vec3_unit(d) : m, away;
        double length = INFINITY;
        if (newton_away(a, m, d, &step)) {
            vec3 newton = vec3_unit(vec3_add(m, step));
            length = vec3_length(step), away = tip_from(a, newton, z);
            /* what is far less than the square root of the rounding changes the distance by rounding only */
            if (length < 1e-6 || vec3_length2(away) > vec3_length2(d)) next = newton;
        }
        m = next, d = tip_from(a, m, z);
        if (length < 1e-15) break;
    }
    double f;
    ellipsoid_tip(a, vec3_neg(m), vec3_zero(), &x, &x_rate);
    f = vec3_distance(x, z);
    across j = across_of(m);
    add_shape(&j, a, m), add_multiple(&j, -f);
    if (!solve_across(&j, vec3_sub(b->p_rate, x_rate), &m_rate)) return false;
    out->normal = vec3_neg(m), out->normal_rate = vec3_neg(m_rate), out->gap = b->e->r - f;
    ellipsoid_tip(a, out->normal, out->normal_rate, &out->at, &out->at_rate);
    return true;
}
