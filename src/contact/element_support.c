/* Slabs between elements: how far an element reaches in a direction, and a direction across which two of them
 * are apart.  Edges, axes and planes are bounded here: a line by its ends, an end of a cylinder by its rim.
 */
#include "contact/element.h"

bool element_is_convex(const element *e) { return e->kind <= ELEMENT_ELLIPSOID; }

/* The part of r n that lies across the axis, as a vector of the length r |n x d|. */
static vec3 across(vec3 n, vec3 d, double r) {
    vec3 u = vec3_axpy(n, -vec3_dot(n, d), d);
    double length = vec3_length(u);
    return length > 0 ? vec3_scale(u, r / length) : vec3_zero();
}

vec3 element_farthest(const element *e, vec3 n) {
    switch (e->kind) {
    case ELEMENT_POINT: return vec3_axpy(e->p, e->r, n);
    case ELEMENT_LINE:
        return vec3_add(vec3_axpy(e->p, vec3_dot(n, e->d) > 0 ? e->hi : e->lo, e->d), across(n, e->d, e->r));
    case ELEMENT_CIRCLE: return vec3_add(e->p, across(n, e->d, e->r));
    case ELEMENT_ELLIPSOID: {
        vec3 a = e->axes, u = {a.x * n.x, a.y * n.y, a.z * n.z};
        double length = vec3_length(u);
        return vec3_add(e->p, vec3_scale(vec3_make(a.x * u.x, a.y * u.y, a.z * u.z), 1 / length));
    }
    default: return e->p;
    }
}

static double clamp(double t) { return !(t > 0) ? 0 : t > 1 ? 1 : t; }

/* A vector from the closest point of the segment q to that of the segment p: of the lines where they are
 * within, else of an end to the other. */
vec3 element_between(const vec3 p[2], const vec3 q[2]) {
    vec3 u = vec3_sub(p[1], p[0]), v = vec3_sub(q[1], q[0]), w = vec3_sub(p[0], q[0]);
    double a = vec3_dot(u, u), b = vec3_dot(u, v), c = vec3_dot(v, v), d = vec3_dot(u, w), e = vec3_dot(v, w);
    double det = a * c - b * b, s = det > 1e-14 * a * c ? clamp((b * e - c * d) / det) : 0;
    double t = c > 0 ? clamp((b * s + e) / c) : 0;
    s = a > 0 ? clamp((b * t - d) / a) : 0;
    return vec3_sub(vec3_axpy(w, s, u), vec3_scale(v, t));
}

/* A point of the element from which the search for the direction starts. */
static vec3 middle(const element *e) {
    return e->kind == ELEMENT_LINE ? vec3_axpy(e->p, (e->lo + e->hi) / 2, e->d) : e->p;
}

static bool is_straight(const element *e) {
    return e->kind == ELEMENT_POINT || (e->kind == ELEMENT_LINE && e->r == 0);
}

/* Between balls and edges: the closest points of the edges. */
static bool straight_direction(const element *a, const element *b, pose a_in_b, vec3 *n) {
    vec3 p[2], q[2];
    for (int k = 0; k < 2; k++) {
        p[k] = pose_point(a_in_b, a->kind == ELEMENT_LINE ? vec3_axpy(a->p, k ? a->hi : a->lo, a->d) : a->p);
        q[k] = b->kind == ELEMENT_LINE ? vec3_axpy(b->p, k ? b->hi : b->lo, b->d) : b->p;
    }
    vec3 v = element_between(p, q);
    double length = vec3_length(v);
    if (length > 0) *n = vec3_scale(v, 1 / length);
    return length > 0;
}

/* The point of a triangle that is nearest to zero: a corner, on an edge, or within, by the regions of its
 * plane. */
static vec3 nearest(vec3 a, vec3 b, vec3 c) {
    vec3 ab = vec3_sub(b, a), ac = vec3_sub(c, a);
    double d1 = -vec3_dot(ab, a), d2 = -vec3_dot(ac, a), d3 = -vec3_dot(ab, b), d4 = -vec3_dot(ac, b),
           d5 = -vec3_dot(ab, c), d6 = -vec3_dot(ac, c);
    if (d1 <= 0 && d2 <= 0) return a;
    if (d3 >= 0 && d4 <= d3) return b;
    if (d6 >= 0 && d5 <= d6) return c;
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return vec3_axpy(a, d1 / (d1 - d3), ab);
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return vec3_axpy(a, d2 / (d2 - d6), ac);
    if (va <= 0 && d4 >= d3 && d5 >= d6) return vec3_axpy(b, (d4 - d3) / (d4 - d3 + d5 - d6), vec3_sub(c, b));
    return vec3_axpy(vec3_axpy(a, vb / (va + vb + vc), ab), vc / (va + vb + vc), ac);
}

/* Of the differences of points of both elements (Gilbert, Johnson and Keerthi 1988): v is the nearest to zero
 * of a triangle of them, w the farthest along -v, and the slab across v has the width v.w / |v|.  Then w
 * takes the place of a corner, of which what is left is nearest. */
bool element_direction(const element *a, const element *b, pose a_in_b, vec3 *n) {
    enum { ROUNDS = 20 };
    if (is_straight(a) && is_straight(b)) return straight_direction(a, b, a_in_b, n);
    double widest = 0;
    vec3 v = vec3_sub(pose_point(a_in_b, middle(a)), middle(b)), s[3] = {v, v, v};
    for (int i = 0; i < ROUNDS; i++) {
        double length = vec3_length(v);
        if (!(length > 0)) break;
        vec3 u = vec3_scale(v, 1 / length);
        vec3 x = pose_point(a_in_b, element_farthest(a, vec3_neg(pose_unvector(a_in_b, u))));
        vec3 w = vec3_sub(x, element_farthest(b, u));
        double width = vec3_dot(u, w);
        if (width > widest) widest = width, *n = u;
        if (width >= 0.99 * length) break;
        int out = 0;
        double best = INFINITY;
        for (int k = 0; k < 3; k++) {
            vec3 y = nearest(w, s[(k + 1) % 3], s[(k + 2) % 3]);
            if (vec3_length(y) < best) best = vec3_length(y), out = k, v = y;
        }
        s[out] = w;
    }
    return widest > 0;
}
