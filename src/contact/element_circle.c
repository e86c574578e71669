/* The contact point at the place where a rim comes nearest to a line (element_rim.c) or to another rim
 * (element_circles.c): closed forms, with the rates from differentiating the conditions D . X' = 0,
 * D . Y' = 0 with D = X - Y. */
#include "contact/element_placed.h"

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

/* Of the places found, the one of the branch: they are numbered along `order`.  The only one is that of both:
 * where another appears or vanishes beside it the numbers may change, but one of the branches goes on with
 * it, and its gap is a continuous function of time. */
static const circle_place *choose(const circle_place found[2], int count, int branch, vec3 order) {
    if (count < 2) return count == 1 ? &found[0] : NULL;
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
