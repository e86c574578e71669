/* Where a rim comes nearest to a line, exactly.  Seen along the line, the line is a point and the rim an
 * ellipse about its centre:
 *
 *     e1 = l x d / |l x d|  across line and axis       half axis p = r
 *     e2 = d x e1           in the plane of the rim    half axis q = r |d . l|
 *
 *     f(c, s) = |(p c, q s) - (u, v)|^2 / 2,    f' = -K c s + p u s - q v c,    K = p^2 - q^2
 *
 * With u, v >= 0 (the signs of c and s go with them) there is one minimum in the quadrant c, s > 0.  A second
 * one may lie across the long axis, at (c, -s):  there F' = -K c s + p u s + q v c, which is negative
 * somewhere just when the point is inside the evolute of the ellipse; most negative, relative to c s, where
 * p u s^3 = q v c^3, and the minimum lies between there and the end of the short axis.
 *
 * The two are told apart by the side of the long axis on which they lie, so each of them moves continuously
 * while it lasts. */
#include "contact/element_placed.h"

typedef struct oval {
    double p, q, u, v; /* u, v: not negative */
} oval;

/* (c, s) = (1 - t, t) / |...|: a quadrant for 0 <= t <= 1, without transcendental functions. */
static void quadrant(double t, double *c, double *s) {
    double length = sqrt((1 - t) * (1 - t) + t * t);
    *c = (1 - t) / length, *s = t / length;
}

/* f' on the near side (across = -1), F' beyond the long axis (across = 1). */
static double slope(const oval *o, double across, double t) {
    double c, s;
    quadrant(t, &c, &s);
    return -(o->p - o->q) * (o->p + o->q) * c * s + o->p * o->u * s + across * o->q * o->v * c;
}

/* The zero between lo, where the slope counts as negative, and hi, where it counts as positive: secants kept
 * in the bracket, with a bisection every third time. */
static double zero(const oval *o, double across, double lo, double hi) {
    double g_lo = fmin(slope(o, across, lo), -1e-300), g_hi = fmax(slope(o, across, hi), 1e-300);
    for (int i = 0; i < 90 && hi - lo > 1e-17; i++) {
        double t = i % 3 == 2 ? lo + (hi - lo) / 2 : lo + (hi - lo) * (g_lo / (g_lo - g_hi));
        if (!(t > lo && t < hi)) t = lo + (hi - lo) / 2;
        if (!(t > lo && t < hi)) break;
        double g = slope(o, across, t);
        if (g == 0) return t;
        if (g > 0)
            hi = t, g_hi = g, g_lo *= 0.75;
        else
            lo = t, g_lo = g, g_hi *= 0.75;
    }
    return lo + (hi - lo) / 2;
}

/* p u t^3 = q v (1 - t)^3, the left side rising, the right one falling. */
static double steepest(const oval *o) {
    double lo = 0, hi = 1, a = o->p * o->u, b = o->q * o->v;
    for (int i = 0; i < 60; i++) {
        double t = lo + (hi - lo) / 2, w = 1 - t;
        if (a * t * t * t < b * w * w * w)
            lo = t;
        else
            hi = t;
    }
    return hi;
}

static circle_place place_at(const placed *rim, vec3 e1, vec3 e2, double c, double s) {
    vec3 radial = vec3_unit(vec3_axpy(vec3_scale(e1, c), s, e2));
    return (circle_place){vec3_axpy(rim->p, rim->e->r, radial), vec3_cross(rim->d, radial), radial};
}

void rim_places_to_line(const placed *rim, const placed *line, circle_place out[2], bool has[2]) {
    vec3 e1 = vec3_cross(line->d, rim->d), from = vec3_sub(line->p, rim->p);
    double sine = vec3_length(e1);
    /* along the axis the rim is seen as a circle, and any axis of it is as good */
    e1 = sine > 1e-12 ? vec3_scale(e1, 1 / sine) : vec3_orthogonal(rim->d);
    vec3 e2 = vec3_cross(rim->d, e1), across = vec3_cross(line->d, e1); /* e2 seen along the line, unit */
    if (vec3_dot(rim->d, line->d) < 0) across = vec3_neg(across);
    double u = vec3_dot(from, e1), v = vec3_dot(from, across), c, s;
    oval o = {rim->e->r, rim->e->r * fabs(vec3_dot(rim->d, line->d)), fabs(u), fabs(v)};
    double right = u < 0 ? -1 : 1, side = v < 0 ? -1 : 1;
    int near = v < 0, far = 1 - near;
    quadrant(zero(&o, -1, 0, 1), &c, &s);
    out[near] = place_at(rim, e1, e2, right * c, side * s), has[near] = true;
    double start = steepest(&o);
    has[far] = slope(&o, 1, start) < 0;
    if (!has[far]) return;
    quadrant(zero(&o, 1, start, 1), &c, &s);
    out[far] = place_at(rim, e1, e2, right * c, -side * s);
}
