/* Rims: the contact point at the place where a circle comes nearest to a line (element_rim.c) or to another
 * circle (element_circles.c), and the search for the place where it comes nearest to an ellipsoid.
 *
 * The distance from a point of the circle to an ellipsoid is a function of one parameter with one or two
 * minima.  It is sampled all around; around each sample that is lowest among its neighbours the zero of its
 * slope is bracketed and refined.  Around the sample in direction c the circle is
 *
 *     x(k) = p + r (c + k c')/sqrt(1 + k^2),    c' = d x c,  -tan(1/16 turn) <= k <= tan(1/16 turn)
 *
 * without transcendental functions.  From the place on, everything is closed form: rates by differentiating
 * the conditions D . X' = 0, D . Y' = 0 with D = X - Y. */
#include "contact/element_placed.h"

/* cos(k turn/16) for k = 0 .. 4, and tan(turn/16) */
static const double cosines[5] = {1, 0.92387953251128674, 0.70710678118654757, 0.38268343236508977, 0};
static const double half_width = 0.41421356237309503;

static double circle_cosine(int i) {
    i &= CIRCLE_SAMPLES - 1;
    if (i > CIRCLE_SAMPLES / 2) i = CIRCLE_SAMPLES - i;
    return i <= 4 ? cosines[i] : -cosines[8 - i];
}

/* ---- the minimum over a circle */

static double slope_at(const placed *c, circle_measure *f, const void *user, vec3 along, vec3 across,
                       double k, circle_place *out) {
    double length = sqrt(1 + k * k), value, slope;
    vec3 radial = vec3_scale(vec3_axpy(along, k, across), 1 / length);
    *out = (circle_place){vec3_axpy(c->p, c->e->r, radial), vec3_cross(c->d, radial), radial};
    f(user, out, &value, &slope);
    return slope;
}

/* The zero of the slope between lo (slope taken as negative) and hi (positive): secants kept in the bracket,
 * with a bisection whenever they do not halve it. */
static void refine(const placed *c, circle_measure *f, const void *user, vec3 along, vec3 across, double lo,
                   double hi, circle_place *out) {
    circle_place at;
    double g_lo = fmin(slope_at(c, f, user, along, across, lo, &at), -1e-300);
    double g_hi = fmax(slope_at(c, f, user, along, across, hi, out), 1e-300);
    for (int i = 0; i < 80 && hi - lo > 1e-17; i++) {
        double k = i % 3 == 2 ? lo + (hi - lo) / 2 : lo + (hi - lo) * (g_lo / (g_lo - g_hi));
        if (!(k > lo && k < hi)) k = lo + (hi - lo) / 2;
        if (!(k > lo && k < hi)) break;
        double g = slope_at(c, f, user, along, across, k, out);
        if (g == 0) return;
        if (g > 0)
            hi = k, g_hi = g, g_lo *= 0.75;
        else
            lo = k, g_lo = g, g_hi *= 0.75;
    }
    slope_at(c, f, user, along, across, lo + (hi - lo) / 2, out);
}

bool circle_minimum(const placed *c, circle_measure *f, const void *user, circle_place *out) {
    vec3 x = quat_rotate(c->m->rotation, vec3_orthogonal(c->e->d)), y = vec3_cross(c->d, x);
    vec3 along[CIRCLE_SAMPLES];
    double value[CIRCLE_SAMPLES], slope[CIRCLE_SAMPLES], lowest = INFINITY;
    for (int i = 0; i < CIRCLE_SAMPLES; i++) {
        along[i] = vec3_axpy(vec3_scale(x, circle_cosine(i)), circle_cosine(i + 12), y);
        circle_place at = {vec3_axpy(c->p, c->e->r, along[i]), vec3_cross(c->d, along[i]), along[i]};
        f(user, &at, &value[i], &slope[i]);
    }
    for (int i = 0; i < CIRCLE_SAMPLES; i++) {
        int before = (i + CIRCLE_SAMPLES - 1) % CIRCLE_SAMPLES, after = (i + 1) % CIRCLE_SAMPLES;
        if (value[i] > value[before] || value[i] >= value[after]) continue;
        double lo = slope[i] > 0 ? -half_width : 0, hi = slope[i] > 0 ? 0 : half_width, refined, rest;
        circle_place at;
        refine(c, f, user, along[i], vec3_cross(c->d, along[i]), lo, hi, &at);
        f(user, &at, &refined, &rest);
        if (refined < lowest) lowest = refined, *out = at;
    }
    return lowest < INFINITY;
}

/* ---- two curves */

/* A curve at a place, by arc length: x, x', x''. */
typedef struct curve {
    vec3 x, along, bend;
    const motion *m;
} curve;

static curve curve_of_circle(const placed *c, const circle_place *at) {
    return (curve){at->x, at->along, vec3_scale(at->radial, -1 / c->e->r), c->m};
}

/* The contact point of curve a, with offset r, and the rim b, whose normal leaves it between the axis and the
 * radius; r = 0: both are sharp, and the normal is across both. */
static bool between_curves(const curve *a, double r, const curve *b, vec3 outward, contact_point *out) {
    vec3 d = vec3_sub(a->x, b->x), wa = a->m->velocity.angular, wb = b->m->velocity.angular;
    vec3 a_rate = motion_velocity_at(a->m, a->x), b_rate = motion_velocity_at(b->m, b->x);
    vec3 d_rate = vec3_sub(a_rate, b_rate);
    double m00 = 1 + vec3_dot(d, a->bend), m01 = -vec3_dot(b->along, a->along),
           m11 = -1 + vec3_dot(d, b->bend);
    double f0 = vec3_dot(d_rate, a->along) + vec3_dot(d, vec3_cross(wa, a->along));
    double f1 = vec3_dot(d_rate, b->along) + vec3_dot(d, vec3_cross(wb, b->along));
    double det = m00 * m11 + m01 * m01;
    if (!(fabs(det) > 1e-14)) return false;
    double s = -(f0 * m11 - f1 * m01) / det, t = -(m00 * f1 + m01 * f0) / det;
    out->at = b->x;
    out->at_rate = vec3_axpy(b_rate, t, b->along);
    if (r > 0) {
        double length = vec3_length(d);
        if (!(length > 0)) return false;
        out->normal = vec3_scale(d, 1 / length);
        vec3 whole = vec3_axpy(vec3_axpy(d_rate, s, a->along), -t, b->along);
        out->normal_rate = unit_rate(out->normal, whole, length);
        out->gap = length - r;
        return true;
    }
    vec3 cross = vec3_cross(a->along, b->along);
    double sine = vec3_length(cross);
    if (!(sine > 1e-9)) return false;
    double sign = vec3_dot(cross, outward) < 0 ? -1 : 1;
    vec3 a_turn = vec3_axpy(vec3_cross(wa, a->along), s, a->bend);
    vec3 b_turn = vec3_axpy(vec3_cross(wb, b->along), t, b->bend);
    vec3 cross_rate = vec3_add(vec3_cross(a_turn, b->along), vec3_cross(a->along, b_turn));
    out->normal = vec3_scale(cross, sign / sine);
    out->normal_rate = unit_rate(out->normal, vec3_scale(cross_rate, sign), sine);
    out->gap = vec3_dot(out->normal, d);
    return true;
}

/* Of the places found, the one of the branch: they are numbered along `order`. */
static const circle_place *choose(const circle_place found[2], int count, int branch, vec3 order) {
    if (count < 2) return branch == 0 && count == 1 ? &found[0] : NULL;
    bool turned = vec3_dot(order, found[0].x) > vec3_dot(order, found[1].x);
    return &found[turned ? 1 - branch : branch];
}

/* A branch that has no place of its own has that of the other one, so that its gap is a continuous function
 * of time for as long as possible; but it does not face there. */
bool line_circle(const placed *a, const placed *b, contact_point *out, double *sa, double *sb) {
    circle_place found[2];
    bool has[2];
    rim_places_to_line(b, a, found, has);
    int branch = b->e->branch;
    const circle_place *at = &found[has[branch] ? branch : 1 - branch];
    *sb = has[branch] ? 0 : -1;
    *sa = vec3_dot(vec3_sub(at->x, a->p), a->d);
    curve line = {vec3_axpy(a->p, *sa, a->d), a->d, vec3_zero(), a->m}, rim = curve_of_circle(b, at);
    return between_curves(&line, a->e->r, &rim, vec3_add(b->d, at->radial), out);
}

/* Two coaxial rims have no single places: refused. */
bool circle_circle(const placed *a, const placed *b, contact_point *out) {
    circle_place found[2], near;
    vec3 between = vec3_sub(b->p, a->p), order = vec3_cross(a->d, between);
    if (!(vec3_length(order) > 1e-9 * a->e->r) && vec3_length(vec3_cross(a->d, b->d)) < 1e-9) return false;
    int count = circles_minima(a, b, found);
    int branch = a->e->branch > b->e->branch ? a->e->branch : b->e->branch;
    const circle_place *at = choose(found, count, branch, order);
    if (!at || !circle_nearest(a, at->x, &near)) return false;
    curve other = curve_of_circle(a, &near), rim = curve_of_circle(b, at);
    return between_curves(&other, 0, &rim, vec3_add(b->d, at->radial), out);
}
