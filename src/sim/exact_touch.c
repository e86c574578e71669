/* Near pairs of a group and its touching set. */
#include "sim/exact.h"

static const contact_shape *shape_of(const exact *x, int local) {
    return &x->model->bodies[x->bodies[local]].shape;
}

bool exact_near_at(const exact *x, const exact_near *n, contact_point *p, bool *faces) {
    return near_evaluate(&n->pair, shape_of(x, n->a), &x->motions[n->a], shape_of(x, n->b), &x->motions[n->b],
                         x->model->tolerance.touching, p, faces);
}

/* gap' = n . u */
double exact_gap_rate(const exact *x, int a, int b, const contact_point *p) {
    return vec3_dot(p->normal, contact_slip(p, &x->motions[a], &x->motions[b]));
}

/* ---- near pairs */

/* The balls around the two shapes are farther apart than reach. */
static bool far_apart(const exact *x, const exact_pair *p, double reach) {
    double distance = vec3_distance(x->motions[p->a].center, x->motions[p->b].center);
    return distance > shape_of(x, p->a)->radius + shape_of(x, p->b)->radius + reach;
}

/* Near pairs that are degenerate, farther than reach, or behind each other cannot touch within the reach. */
static bool keep(exact *x, exact_near *n, double reach) {
    contact_point p;
    bool faces;
    if (!exact_near_at(x, n, &p, &faces)) return false;
    n->gap = p.gap, n->rate = exact_gap_rate(x, n->a, n->b, &p);
    return p.gap <= reach && p.gap >= -fmax(reach, 4 * x->model->tolerance.touching);
}

abut_status exact_collect(exact *x, double reach, abut_error *error) {
    const abut_context *context = &x->run->context;
    near_array found = {0};
    bool fine = true;
    x->nears.count = 0;
    for (int i = 0; i < x->pair_count && fine; i++) {
        const exact_pair *p = &x->pairs[i];
        if (far_apart(x, p, reach)) continue;
        found.count = 0;
        fine = near_collect(context, shape_of(x, p->a), &x->motions[p->a], shape_of(x, p->b),
                            &x->motions[p->b], reach, &found);
        for (int64_t k = 0; k < found.count && fine; k++) {
            exact_near n = {.pair = found.data[k], .a = p->a, .b = p->b};
            if (keep(x, &n, reach)) fine = array_push(context, &x->nears, n);
        }
    }
    array_free(context, &found);
    return fine ? ABUT_OK : fail_memory(error);
}

/* ---- the touching set */

static bool same_feature(contact_feature f, contact_feature g) { return f.kind == g.kind && f.id == g.id; }

/* The old touch with the same features, or -1. */
static int64_t find_touch(const exact *x, int64_t old_count, const exact_near *n) {
    for (int64_t i = 0; i < old_count; i++) {
        const group_contact *c = &x->contacts.data[i];
        if (c->a == n->a && c->b == n->b && same_feature(x->touches.data[i].pair.fa, n->pair.fa) &&
            same_feature(x->touches.data[i].pair.fb, n->pair.fb))
            return i;
    }
    return -1;
}

/* Two features that touch at the same place with the same normal say the same thing twice. */
static bool said_already(const exact *x, int64_t first, const exact_near *n, const contact_point *p) {
    double near = 1e-2 * x->model->tolerance.touching;
    for (int64_t i = first; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        if (c->a == n->a && c->b == n->b && vec3_distance(c->point.at, p->at) <= near &&
            vec3_distance(c->point.normal, p->normal) <= 1e-6)
            return true;
    }
    return false;
}

static bool add_touch(exact *x, const exact_near *n, const contact_point *p, int64_t old) {
    const abut_context *context = &x->run->context;
    const model_material *m = model_pair(x->model, x->bodies[n->a], x->bodies[n->b]);
    group_contact c = {.a = n->a, .b = n->b};
    if (old >= 0) c = x->contacts.data[old];
    c.point = *p, c.restitution = m->restitution, c.friction = m->friction;
    exact_touch t = {.pair = n->pair};
    return array_push(context, &x->contacts, c) && array_push(context, &x->touches, t) &&
           array_reserve(context, &x->loads, x->contacts.count);
}

/* Moves the entries from `first` on to the front: they replace the old ones. */
static void drop_front(exact *x, int64_t first) {
    int64_t count = x->contacts.count - first;
    if (first == 0) return;
    memmove(x->contacts.data, x->contacts.data + first, (size_t)count * sizeof *x->contacts.data);
    memmove(x->touches.data, x->touches.data + first, (size_t)count * sizeof *x->touches.data);
    x->contacts.count = x->touches.count = count;
}

/* Gap at which a pair counts as touching.  Events are located to rounding, so what lands together differs by
 * rounding times speed; what is already held is within the correction's accuracy.  At the start of a run
 * everything within epsilon touches. */
static double touching_gap(const exact *x, bool generous, double rate) {
    const abut_tolerances *t = &x->model->tolerance;
    return generous ? t->touching : 1e-3 * t->touching + fmin(fabs(rate) * t->event, 0.5 * t->touching);
}

abut_status exact_update_touches(exact *x, bool generous, abut_error *error) {
    int64_t old_count = x->contacts.count;
    for (int64_t i = 0; i < x->nears.count; i++) {
        exact_near *n = &x->nears.data[i];
        contact_point p;
        bool faces;
        n->touching = false;
        if (!exact_near_at(x, n, &p, &faces)) continue;
        n->gap = p.gap, n->rate = exact_gap_rate(x, n->a, n->b, &p);
        int64_t old = find_touch(x, old_count, n);
        double limit = old >= 0 ? x->model->tolerance.touching : touching_gap(x, generous, n->rate);
        /* far behind each other: two features of the sides that look away */
        if (!faces || p.gap > limit || p.gap < -4 * x->model->tolerance.touching) continue;
        n->touching = true;
        if (said_already(x, old_count, n, &p)) continue;
        if (!add_touch(x, n, &p, old)) return fail_memory(error);
    }
    drop_front(x, old_count);
    return ABUT_OK;
}

/* Keeps the touches for which keep[i] is set. */
void exact_keep_touches(exact *x, const bool *kept) {
    int64_t count = 0;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        if (!kept[i]) continue;
        x->contacts.data[count] = x->contacts.data[i];
        x->touches.data[count] = x->touches.data[i];
        x->loads.data[count] = x->loads.data[i];
        count++;
    }
    x->contacts.count = x->touches.count = count;
}
