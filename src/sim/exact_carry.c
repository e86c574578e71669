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
#include "contact/flat.h"
#include "sim/exact.h"

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

typedef struct plane_contacts { /* of one plane: room for all */
    int64_t *items;
    vec3 *points;
    int *order, *stack;
} plane_contacts;

static bool carry_plane(exact *x, int64_t first, plane_contacts *in, bool *said, bool *kept) {
    int count = 0;
    for (int64_t k = first; k < x->contacts.count; k++) {
        if (said[k] || !may_be_carried(x, k) || !in_plane(x, first, k)) continue;
        in->points[count] = x->contacts.data[k].point.at, in->items[count++] = k;
        said[k] = true;
    }
    if (count < 3) return true;
    int corners = flat_hull(&x->run->context, x->contacts.data[first].point.normal, in->points, count,
                            1e-2 * x->model->tolerance.touching, in->order, in->stack);
    if (corners < 0) return false;
    for (int k = corners; k < count; k++) {
        kept[in->items[in->order[k]]] = false;
        if (!carry(x, in->items[in->order[k]])) return false;
    }
    return true;
}

abut_status exact_carry(exact *x, abut_error *error) {
    x->carried.count = 0;
    size_t n = (size_t)x->contacts.count;
    if (n < 4 || !x->account) return ABUT_OK;
    arena_mark mark = arena_save(x->arena);
    bool *said = arena_alloc(x->arena, n, sizeof *said), *kept = arena_alloc(x->arena, n, sizeof *kept);
    plane_contacts in = {
        arena_alloc(x->arena, n, sizeof *in.items), arena_alloc(x->arena, n, sizeof *in.points),
        arena_alloc(x->arena, n, sizeof *in.order), arena_alloc(x->arena, 2 * n + 2, sizeof *in.stack)};
    bool fine = said && kept && in.items && in.points && in.order && in.stack;
    for (size_t i = 0; i < n && fine; i++) kept[i] = true;
    for (size_t i = 0; i < n && fine; i++)
        if (!said[i] && may_be_carried(x, (int64_t)i)) fine = carry_plane(x, (int64_t)i, &in, said, kept);
    if (fine && x->carried.count > 0) exact_keep_touches(x, kept);
    arena_restore(x->arena, mark);
    return fine ? ABUT_OK : fail_memory(error);
}

bool exact_is_carried(const exact *x, const exact_near *n) {
    for (int64_t i = 0; i < x->carried.count; i++) {
        const exact_carried *c = &x->carried.data[i];
        if (c->a == n->a && c->b == n->b && contact_feature_same(c->fa, n->pair.fa) &&
            contact_feature_same(c->fb, n->pair.fb))
            return true;
    }
    return false;
}
