/* Events of the live clock, one for each pair and step.
 *
 * contact-made, contact-lost: the pair pushes in the step, and did not in the last one; or the other way
 * round.  What pushes in one sub-step only (bodies that meet without restitution and go on together) does so
 * in the step; the impulse is that of all sub-steps.
 *
 * contact-changed: it goes on pushing, but touches in a point, along a line or over an area, and did so in
 * another of these ways before.
 *
 * slip, stick: friction gives way at a contact of the pair, or holds at all of them again.
 *
 * limit: a hinge begins to push against one.  hinge-broken: it carried more than it can.
 *
 * A visit of the solver finds the load after the friction, so that friction is within its cone at times while
 * a contact slides, and at its edge in a heap at rest; what counts is the motion: a contact slips from when
 * it slides faster than the rest speed until it slides at less than half of that. */
#include "sim/live.h"

enum { MARK_BLOCK = 64, AHEAD = 8 };

abut_status live_emit(live *w, abut_event e, abut_error *error) {
    /* a contact that opened before its turn came was not struck */
    if (e.kind == ABUT_EVENT_IMPACT && vec3_length2(e.impulse) == 0) return ABUT_OK;
    return array_push(w->context, &w->run->events, e) ? ABUT_OK : fail_memory(error);
}

/* ---- contacts */

typedef struct touched {
    vec3 point, normal, impulse;
    const live_contact *contact; /* the one that has most of it; NULL: there is none with points, */
    const live_point *at;        /* and its point */
} touched;

/* All contacts of one pair in a list. */
typedef struct pair_mark {
    int64_t count;
    int dimension; /* of what touches: 0 points, 1 lines, 2 areas */
    bool pressed, slips;
} pair_mark;

/* Points within a quarter of the reach touch: what trembles at rest stays within that. */
static int dimension_of(const live *w, const live_contact *c) {
    int touching = 0;
    for (int i = 0; i < c->count; i++) touching += c->points[i].gap <= 0.25 * w->reach;
    return touching > 2 ? 2 : touching > 0 ? touching - 1 : 0;
}

/* The point that bears most. */
static int foremost_of(const live_contact *c) {
    int best = 0;
    for (int i = 1; i < c->count; i++)
        if (c->loads[i].normal > c->loads[best].normal) best = i;
    return best;
}

int live_mark_of(const live *w, const live_contact *c) {
    int mark = (c->flags & LIVE_TOLD_SLIP ? LIVE_SLIDES : 0) | LIVE_FOREMOST * foremost_of(c);
    return c->flags & LIVE_PUSHED ? mark | LIVE_PRESSES | LIVE_DIMENSION * dimension_of(w, c) : mark;
}

static pair_mark mark_pair(const live_link_array *list, int64_t first) {
    const live_link *c = &list->data[first];
    pair_mark m = {0};
    for (; first + m.count < list->count && c[m.count].a == c->a && c[m.count].b == c->b; m.count++) {
        int mark = c[m.count].mark, dimension = mark / LIVE_DIMENSION % 4;
        m.pressed |= (mark & LIVE_PRESSES) != 0, m.slips |= (mark & LIVE_SLIDES) != 0;
        if (dimension > m.dimension) m.dimension = dimension;
    }
    return m;
}

/* The impulse of a pair's contacts in the step, and where it is largest: of the contact that has most of it
 * the point that has had most in the end. */
static touched sum_pair(const live *w, const live_contact *c, const vec3 *pushed, int64_t n) {
    touched t = {0};
    const motion *a = &w->motions[c->a];
    double most = -1;
    for (int64_t k = 0; k < n; k++) {
        t.impulse = vec3_add(t.impulse, pushed[k]);
        double push = vec3_dot(pushed[k], c[k].normal), load = -1;
        if (push <= most || c[k].count == 0) continue;
        most = push, t.normal = c[k].normal;
        t.contact = &c[k];
        for (int i = 0; i < c[k].count; i++) {
            if (c[k].loads[i].normal <= load) continue;
            load = c[k].loads[i].normal, t.at = &c[k].points[i];
            t.point = vec3_add(a->center, quat_rotate(a->rotation, t.at->on_a));
        }
    }
    return t;
}

static abut_status emit_touched(live *w, const live_contact *c, const touched *t, abut_event_kind kind,
                                abut_error *error) {
    abut_event e = {.time = w->run->state->time,
                    .kind = kind,
                    .body = {c->a, c->b},
                    .point = t->point,
                    .normal = t->normal,
                    .impulse = t->impulse,
                    .count = 1};
    if (t->at) live_name_features(w, t->contact, t->at, &e);
    return live_emit(w, e, error);
}

/* Of n contacts of the step. */
static abut_status tell(live *w, const live_contact *c, int64_t n, abut_event_kind kind, abut_error *error) {
    touched t = sum_pair(w, c, &w->pushed.data[c - w->contacts.data], n);
    return emit_touched(w, c, &t, kind, error);
}

/* Of one that is lost, without an impulse, where most of it was: it is with those that are gone, or, where it
 * touches no more but is there, among those of the step, `now`. */
static abut_status tell_lost(live *w, int64_t link, const live_contact *now, abut_error *error) {
    const live_contact *c = now;
    int64_t low = 0, high = w->gone_links.count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (w->gone_links.data[middle] < link)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < w->gone_links.count && w->gone_links.data[low] == link) c = &w->gone.data[low];
    if (!c) return ABUT_OK;
    touched t = {.normal = c->normal};
    int foremost = w->next_links.data[link].mark / LIVE_FOREMOST % MANIFOLD_POINTS;
    if (c->count > 0) {
        const motion *a = &w->motions[c->a];
        t.contact = c, t.at = &c->points[foremost < c->count ? foremost : 0];
        t.point = vec3_add(a->center, quat_rotate(a->rotation, t.at->on_a));
    }
    return emit_touched(w, c, &t, ABUT_EVENT_CONTACT_LOST, error);
}

static spatial velocity_of(const live *w, int body) {
    return (spatial){live_vec3(w->velocities[body + 1].v), live_vec3(w->velocities[body + 1].w)};
}

/* How fast a contact slides at its middle, in the last sub-step: what a kinematic body carries has the
 * velocity that it had there, not the one that it ends with. */
static double slip_speed(const live *w, const live_contact *c) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    vec3 middle = vec3_zero();
    for (int i = 0; i < c->count; i++) middle = vec3_axpy(middle, 1.0 / c->count, c->points[i].on_a);
    vec3 ra = quat_rotate(a->rotation, middle), rb = vec3_sub(vec3_add(a->center, ra), b->center);
    vec3 u = vec3_sub(spatial_velocity_at(velocity_of(w, c->a), ra),
                      spatial_velocity_at(velocity_of(w, c->b), rb));
    return vec3_length(vec3_axpy(u, -vec3_dot(u, c->normal), c->normal));
}

static bool slips(const live *w, const live_contact *c) {
    double rest = w->model->tolerance.rest_speed;
    if (!(c->flags & LIVE_TOUCHING) || !(live_material(w, c->a, c->b)->friction.stick > 0)) return false;
    return slip_speed(w, c) > (c->flags & LIVE_TOLD_SLIP ? 0.5 : 1) * rest;
}

static void mark_contacts(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int i = first; i < end; i++) {
        live_contact *c = &w->contacts.data[i];
        int ahead = i + AHEAD < end ? i + AHEAD : i;
        prefetch_lines(&w->motions[w->links.data[ahead].b], sizeof *w->motions);
        prefetch_lines(&w->contacts.data[ahead], live_contact_bytes(1));
        int flags = slips(w, c) ? c->flags | LIVE_TOLD_SLIP : c->flags & ~LIVE_TOLD_SLIP;
        if (flags != c->flags) c->flags = flags;
        w->links.data[i].mark = live_mark_of(w, c);
    }
}

/* Both lists, of this step and of the last (left in `next_links`), are sorted by pairs. */
static abut_status tell_contacts(live *w, abut_error *error) {
    const live_link_array *after = &w->links, *before = &w->next_links;
    int64_t i = 0, k = 0;
    abut_status status = ABUT_OK;
    while ((i < after->count || k < before->count) && status == ABUT_OK) {
        const live_link *x = i < after->count ? &after->data[i] : NULL;
        const live_link *y = k < before->count ? &before->data[k] : NULL;
        const live_contact *now = x ? &w->contacts.data[i] : NULL;
        int order = !x ? 1 : !y ? -1 : x->a != y->a ? x->a - y->a : x->b - y->b;
        pair_mark is = order <= 0 ? mark_pair(after, i) : (pair_mark){0};
        pair_mark was = order >= 0 ? mark_pair(before, k) : (pair_mark){0};
        int64_t last = k;
        i += is.count, k += was.count;
        if (is.pressed && !was.pressed) status = tell(w, now, is.count, ABUT_EVENT_CONTACT_MADE, error);
        if (was.pressed && !is.pressed) status = tell_lost(w, last, now, error);
        if (was.pressed && is.pressed && was.dimension != is.dimension)
            status = tell(w, now, is.count, ABUT_EVENT_CONTACT_CHANGED, error);
        if (status == ABUT_OK && was.pressed && is.pressed && was.slips != is.slips)
            status = tell(w, now, is.count, is.slips ? ABUT_EVENT_SLIP : ABUT_EVENT_STICK, error);
    }
    return status;
}

/* ---- hinges */

static abut_event hinge_event(const live *w, int number, abut_event_kind kind) {
    const hinge *h = &w->model->hinges[number].h;
    const motion *a = &w->motions[h->a];
    return (abut_event){.time = w->run->state->time,
                        .kind = kind,
                        .body = {h->a, h->b},
                        .entity = {{ABUT_ENTITY_HINGE, number}, {ABUT_ENTITY_HINGE, number}},
                        .point = vec3_add(a->center, quat_rotate(a->rotation, h->pa)),
                        .count = 1};
}

static abut_status tell_hinges(live *w, abut_error *error) {
    abut_status status = ABUT_OK;
    for (int i = 0; i < w->model->hinge_count && status == ABUT_OK; i++) {
        const hinge *h = &w->model->hinges[i].h;
        hinge_memory *memory = &run_hinges(w->run->state)[i];
        if (memory->broken || !live_is_awake(w, h->a, h->b)) continue;
        int side = w->hinge_side[i];
        if (side != 0 && side != memory->at_limit)
            status = live_emit(w, hinge_event(w, i, ABUT_EVENT_LIMIT), error);
        memory->at_limit = side;
        if (status != ABUT_OK || !(w->hinge_force[i] > h->break_force)) continue;
        memory->broken = 1;
        status = live_emit(w, hinge_event(w, i, ABUT_EVENT_HINGE_BROKEN), error);
    }
    return status;
}

abut_status live_report(live *w, abut_error *error) {
    abut_status status = tell_hinges(w, error);
    live_share(w, LIVE_REPORT, w->contacts.count, MARK_BLOCK, mark_contacts);
    return status == ABUT_OK ? tell_contacts(w, error) : status;
}
