/* How far apart the bounded features of a pair are.  Its gap is that of the unbounded elements: two edges
 * whose lines cross may be metres from each other. */
#include "contact/near.h"

static vec3 world(const motion *m, vec3 p) { return vec3_add(m->center, quat_rotate(m->rotation, p)); }

static void ends_of(const element *e, const motion *m, vec3 ends[2]) {
    ends[0] = world(m, vec3_axpy(e->p, e->lo, e->d));
    ends[1] = world(m, vec3_axpy(e->p, e->hi, e->d));
}

/* The slab between two planes across n separates the segments: min n.p - max n.q. */
static bool edges_apart(const near_pair *pair, const motion *ma, const motion *mb, bool of_a,
                        near_apart *out) {
    vec3 p[2], q[2];
    ends_of(&pair->a, ma, p);
    ends_of(&pair->b, mb, q);
    vec3 n = element_between(p, q);
    double length = vec3_length(n);
    if (!(length > 0)) return false;
    n = vec3_scale(n, 1 / length);
    out->distance = fmin(vec3_dot(n, p[0]), vec3_dot(n, p[1])) - fmax(vec3_dot(n, q[0]), vec3_dot(n, q[1]));
    out->normal = n;
    for (int k = 0; k < 2; k++) out->ends[k] = of_a ? p[k] : q[k];
    return true;
}

/* The signed distance of a vertex from the plane of a face; `of_a`: the vertex is the one of a. */
static bool plane_apart(const element *point, const motion *mp, const element *plane, const motion *mq,
                        bool of_a, near_apart *out) {
    vec3 n = quat_rotate(mq->rotation, plane->d), p = world(mp, point->p);
    double gap = vec3_dot(n, vec3_sub(p, world(mq, plane->p)));
    out->distance = fabs(gap);
    out->normal = (gap > 0) == of_a ? n : vec3_neg(n);
    out->ends[0] = out->ends[1] = p;
    return true;
}

static bool is(const element *e, element_kind kind) { return e->kind == kind && e->r == 0; }

bool near_is_apart(const near_pair *pair, const motion *ma, const motion *mb, bool of_a, near_apart *out) {
    const element *a = &pair->a, *b = &pair->b;
    if (pair->fa.kind == FEATURE_EDGE && pair->fb.kind == FEATURE_EDGE && is(a, ELEMENT_LINE) &&
        is(b, ELEMENT_LINE))
        return edges_apart(pair, ma, mb, of_a, out);
    if (is(a, ELEMENT_POINT) && b->kind == ELEMENT_PLANE) return plane_apart(a, ma, b, mb, true, out);
    if (a->kind == ELEMENT_PLANE && is(b, ELEMENT_POINT)) return plane_apart(b, mb, a, ma, false, out);
    return false;
}
