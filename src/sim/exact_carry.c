/* Contacts that others carry.  Where two solids lie on each other without friction, all their contacts in one
 * plane with one normal say no more than the corners of their convex hull: gap, rate and acceleration of a
 * point within are means of those at the corners, and so is what a force there does.  The others are left out
 * of the contact problem, whose cost grows with the cube of its size:
 *
 *     o---o            corners of the flange: they stay
 *    / x x \     x     corners of the hole within: carried
 *   o x   x o
 *    \ x x /
 *     o---o
 *
 * While they are carried the search for new contacts leaves them alone; at every event they are found anew.
 */
#include "sim/exact.h"

typedef struct flat_point {
    double u, v;
    int64_t item;
} flat_point;

static int from_left(const void *user, const void *a, const void *b) {
    (void)user;
    const flat_point *p = a, *q = b;
    if (p->u != q->u) return p->u < q->u ? -1 : 1;
    if (p->v != q->v) return p->v < q->v ? -1 : 1;
    return (p->item > q->item) - (p->item < q->item);
}

/* Whether b lies to the left of the line from a to c or within `slack` of it: no corner of the lower hull. */
static bool is_within(const flat_point *a, const flat_point *b, const flat_point *c, double slack) {
    double cu = c->u - a->u, cv = c->v - a->v;
    double left = cu * (b->v - a->v) - cv * (b->u - a->u);
    return left >= -slack * sqrt(cu * cu + cv * cv);
}

/* One half of the hull of points sorted from left to right (or from right to left): Andrew's chain. */
static int64_t half_hull(const flat_point *points, int64_t count, bool back, double slack, flat_point *hull) {
    int64_t n = 0;
    for (int64_t k = 0; k < count; k++) {
        flat_point p = points[back ? count - 1 - k : k];
        while (n >= 2 && is_within(&hull[n - 2], &hull[n - 1], &p, slack)) n--;
        hull[n++] = p;
    }
    return n;
}

static bool is_sharp(const element *e) {
    return e->kind == ELEMENT_PLANE || ((e->kind == ELEMENT_POINT || e->kind == ELEMENT_LINE) && e->r == 0);
}

static bool may_be_carried(const exact *x, int64_t i) {
    const group_contact *c = &x->contacts.data[i];
    const near_pair *p = &x->touches.data[i].pair;
    bool solids = x->model->bodies[x->bodies[c->a]].shape.shape.kind == ABUT_SHAPE_SOLID &&
                  x->model->bodies[x->bodies[c->b]].shape.shape.kind == ABUT_SHAPE_SOLID;
    const abut_friction *f = &c->friction;
    bool smooth = f->stick == 0 && f->slide == 0 && f->rolling == 0 && f->spinning == 0;
    return solids && smooth && is_sharp(&p->a) && is_sharp(&p->b) &&
           fabs(c->point.gap) <= 1e-2 * x->model->tolerance.touching;
}

/* In the plane of contact i, with its normal, between the same bodies. */
static bool in_plane(const exact *x, int64_t i, int64_t k) {
    const group_contact *c = &x->contacts.data[i], *d = &x->contacts.data[k];
    return c->a == d->a && c->b == d->b && vec3_distance(c->point.normal, d->point.normal) <= 1e-7 &&
           fabs(vec3_dot(c->point.normal, vec3_sub(d->point.at, c->point.at))) <=
               1e-2 * x->model->tolerance.touching;
}

static bool carry(exact *x, int64_t i) {
    const near_pair *p = &x->touches.data[i].pair;
    exact_carried carried = {x->contacts.data[i].a, x->contacts.data[i].b, p->fa, p->fb};
    return array_push(&x->run->context, &x->carried, carried);
}

/* The contacts of one plane, of which `points` has room for all and for two halves of their hull. */
static bool carry_plane(exact *x, int64_t first, flat_point *points, bool *said, bool *kept) {
    vec3 n = x->contacts.data[first].point.normal, e = vec3_orthogonal(n), f = vec3_cross(n, e);
    int64_t count = 0;
    for (int64_t k = first; k < x->contacts.count; k++) {
        if (said[k] || !may_be_carried(x, k) || !in_plane(x, first, k)) continue;
        vec3 at = x->contacts.data[k].point.at;
        points[count++] = (flat_point){vec3_dot(e, at), vec3_dot(f, at), k};
        said[k] = true;
    }
    if (count < 3) return true;
    if (!sort_stable(&x->run->context, points, (size_t)count, sizeof *points, from_left, NULL)) return false;
    for (int64_t k = 0; k < count; k++) kept[points[k].item] = false;
    flat_point *hull = points + count;
    for (int back = 0; back < 2; back++) {
        int64_t corners = half_hull(points, count, back, 1e-2 * x->model->tolerance.touching, hull);
        for (int64_t k = 0; k < corners; k++) kept[hull[k].item] = true;
    }
    for (int64_t k = 0; k < count; k++)
        if (!kept[points[k].item] && !carry(x, points[k].item)) return false;
    return true;
}

abut_status exact_carry(exact *x, abut_error *error) {
    x->carried.count = 0;
    size_t n = (size_t)x->contacts.count;
    if (n < 4 || !x->account) return ABUT_OK;
    arena_mark mark = arena_save(x->arena);
    bool *said = arena_alloc(x->arena, n, sizeof *said), *kept = arena_alloc(x->arena, n, sizeof *kept);
    flat_point *points = arena_alloc(x->arena, 2 * n + 2, sizeof *points);
    bool fine = said && kept && points;
    for (size_t i = 0; i < n && fine; i++) kept[i] = true;
    for (size_t i = 0; i < n && fine; i++)
        if (!said[i] && may_be_carried(x, (int64_t)i)) fine = carry_plane(x, (int64_t)i, points, said, kept);
    if (fine && x->carried.count > 0) exact_keep_touches(x, kept);
    arena_restore(x->arena, mark);
    return fine ? ABUT_OK : fail_memory(error);
}

static bool same(contact_feature f, contact_feature g) { return f.kind == g.kind && f.id == g.id; }

bool exact_is_carried(const exact *x, const exact_near *n) {
    for (int64_t i = 0; i < x->carried.count; i++) {
        const exact_carried *c = &x->carried.data[i];
        if (c->a == n->a && c->b == n->b && same(c->fa, n->pair.fa) && same(c->fb, n->pair.fb)) return true;
    }
    return false;
}
