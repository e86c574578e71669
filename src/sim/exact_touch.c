/* The touching set of a group: which of its near pairs touch. */
#include "sim/exact.h"

/* ---- the touching set */

/* The old touch with the same features, or -1. */
static int64_t find_touch(const exact *x, int64_t old_count, const exact_near *n) {
    for (int64_t i = 0; i < old_count; i++) {
        const group_contact *c = &x->contacts.data[i];
        if (c->a == n->a && c->b == n->b && !smooth_is_pair(&n->pair) &&
            contact_feature_same(x->touches.data[i].pair.fa, n->pair.fa) &&
            contact_feature_same(x->touches.data[i].pair.fb, n->pair.fb) &&
            x->touches.data[i].pair.sign == n->pair.sign)
            return i;
    }
    return -1;
}

/* Two features that touch at the same place with the same normal say the same thing twice. */
static bool said_already(const exact *x, int64_t first, const exact_near *n, const contact_point *p) {
    for (int64_t i = first; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        if (c->a == n->a && c->b == n->b && exact_same_place(x, &n->pair, &c->point, p)) return true;
    }
    return false;
}

static bool add_touch(exact *x, const exact_near *n, const contact_point *p, int64_t old) {
    const abut_context *context = &x->run->context;
    const model_material *m = model_pair(x->model, x->bodies[n->a], x->bodies[n->b]);
    group_contact c = {.a = n->a, .b = n->b};
    if (old >= 0) c = x->contacts.data[old];
    c.point = *p, c.restitution = m->restitution, c.friction = m->friction;
    exact_touch t = {.pair = n->pair, .fresh = old < 0};
    if (old >= 0) {
        const exact_touch *before = &x->touches.data[old];
        t.made_at = before->made_at, t.slips_on = before->slips_on, t.ended = before->ended;
    }
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
double exact_touching_gap(const exact *x, bool generous, double rate) {
    const abut_tolerances *t = &x->model->tolerance;
    return generous ? t->touching : 1e-3 * t->touching + fmin(fabs(rate) * t->event, 0.5 * t->touching);
}

/* What can close within a time step of `ahead`, with twice the present rate and twice the free fall. */
static double closing(const exact *x, double ahead, double rate) {
    return 2 * ahead * (fmax(-rate, 0) + vec3_length(x->model->world.gravity) * ahead);
}

bool exact_bounces(const exact *x, const exact_near *n) {
    return model_pair(x->model, x->bodies[n->a], x->bodies[n->b])->restitution > 0 &&
           -n->rate > x->model->tolerance.rest_speed;
}

bool exact_add_touch(exact *x, exact_near *n) {
    contact_point p;
    n->touching = x->faces_stale = true;
    exact_near_move(x, n);
    if (exact_near_at(x, n, &p, NULL)) return add_touch(x, n, &p, -1);
    /* it had a place when the step was searched: where that was, on a surface that is flat there */
    exact_near fixed = *n;
    const contact_shape *a = &x->model->bodies[x->bodies[n->a]].shape,
                        *b = &x->model->bodies[x->bodies[n->b]].shape;
    return !smooth_fix_place(&fixed.pair, a, b) || !exact_near_at(x, &fixed, &p, NULL) ||
           add_touch(x, &fixed, &p, -1);
}

abut_status exact_update_touches(exact *x, bool generous, double ahead, abut_error *error) {
    int64_t old_count = x->contacts.count;
    x->faces_stale = true;
    for (int64_t i = 0; i < old_count; i++) {
        exact_near n = {.a = x->contacts.data[i].a, .b = x->contacts.data[i].b};
        contact_point p;
        if (!rolling_follow(x, i, &n.pair, &p) && !exact_disc_keeps(x, i, &n.pair, &p)) continue;
        if (said_already(x, old_count, &n, &p)) continue;
        if (!add_touch(x, &n, &p, i)) return fail_memory(error);
    }
    for (int64_t i = 0; i < x->nears.count; i++) {
        exact_near *n = &x->nears.data[i];
        contact_point p;
        bool faces;
        n->touching = n->known = false;
        n->asleep = ahead == 0 && exact_sleeps(x, n, x->time);
        if (n->asleep || !exact_know_near(x, n, &p)) continue;
        /* far behind each other: two features of the sides that look away */
        double most = x->model->tolerance.touching,
               close = ahead > 0 && !exact_bounces(x, n) ? closing(x, ahead, n->rate) : 0;
        if (p.gap > most + close) continue;
        int64_t old = find_touch(x, old_count, n);
        if (old < 0) old = exact_disc_before(x, old_count, n, &p);
        /* what touched and was left deeper (by a time step) still touches: it is pushed out, not forgotten */
        double depth = old < 0 ? 4 * most + exact_unseen_depth(x, n->meeting) : EXACT_MOST_DEPTH * most;
        if (p.gap < -depth && !exact_is_sunk(x, n)) continue;
        if (old < 0 && p.gap > exact_touching_gap(x, generous, n->rate) + close) continue;
        /* the points of a rim carry it in time steps, which see where it leans at their start only */
        if (!exact_near_at(x, n, &p, &faces)) continue;
        if (!faces && !(ahead > 0 && exact_disc_is_point(x, n))) continue;
        if (exact_disc_yields(x, n, &p)) continue;
        n->touching = true;
        exact_near_move(x, n);
        if (said_already(x, old_count, n, &p)) continue;
        if (!add_touch(x, n, &p, old)) return fail_memory(error);
    }
    drop_front(x, old_count);
    return ABUT_OK;
}

double exact_deepest(const exact *x) {
    double depth = 0;
    for (int64_t i = 0; i < x->contacts.count; i++) depth = fmax(depth, -x->contacts.data[i].point.gap);
    return depth;
}

/* Keeps the touches for which keep[i] is set. */
void exact_keep_touches(exact *x, const bool *kept) {
    int64_t count = 0;
    x->faces_stale = true;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        if (!kept[i]) continue;
        x->contacts.data[count] = x->contacts.data[i];
        x->touches.data[count] = x->touches.data[i];
        x->loads.data[count] = x->loads.data[i];
        count++;
    }
    x->contacts.count = x->touches.count = count;
}

abut_status exact_drop_degenerate(exact *x, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    bool *kept = arena_alloc(x->arena, (size_t)x->contacts.count + 1, sizeof *kept), all = true;
    if (!kept) return fail_memory(error);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        exact_near n = {.pair = x->touches.data[i].pair, .a = c->a, .b = c->b};
        contact_point p;
        kept[i] = exact_near_at(x, &n, &p, NULL);
        if (kept[i] && smooth_is_pair(&n.pair)) { /* on the patch where it is now, and alone */
            exact_near_move(x, &n);
            x->touches.data[i].pair = n.pair;
            kept[i] = near_evaluate(&n.pair, &x->model->bodies[x->bodies[c->a]].shape, &x->motions[c->a],
                                    &x->model->bodies[x->bodies[c->b]].shape, &x->motions[c->b], 0, &p, NULL);
        }
        all = all && kept[i];
    }
    if (!all) exact_keep_touches(x, kept);
    arena_restore(x->arena, mark);
    return ABUT_OK;
}
