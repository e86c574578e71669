/* Between contacts and batches: lanes of a batch from its contacts, and impulses back into them. */
#include "sim/live.h"

#define LAG  0.25 /* seconds, and a part of the mean load of a manifold: see renew_usual */
#define BAND 0.05

/* The contacts of a colour lie far apart, and their bodies anywhere: those of batches ahead are asked for in
 * time, lane by lane, because a processor waits for some twenty lines at once and no more. */
enum { BODIES_AHEAD = 1, CONTACTS_AHEAD = 2, LINKS_AHEAD = 3, BATCHES_AHEAD = 5, LINK_BLOCK = 1024 };

/* The contact in a lane of a batch; -1: none. */
static inline int32_t contact_in(const live *w, int64_t batch, int lane) {
    return batch < w->batch_count ? w->batches[batch].contact[lane] : -1;
}

/* Who is in a batch farther ahead. */
PREFETCHES prefetch_batch(const live *w, int64_t number, int lane) {
    if (lane == 0 && number + BATCHES_AHEAD < w->batch_count)
        __builtin_prefetch(w->batches[number + BATCHES_AHEAD].contact);
}

/* A lane's share of the next batch, whose first lines are on another page than the last ones of this. */
PREFETCHES prefetch_share(const live_batch *batch, int lane) {
    enum {
        TAIL = offsetof(live_batch, coupling),
        SHARE = offsetof(live_batch, point[2]) / LANES,
        REST = (offsetof(live_batch, grip) - TAIL) / LANES
    };
    const char *next = (const char *)(batch + 1);
    prefetch_lines(next + lane * SHARE, SHARE), prefetch_lines(next + TAIL + lane * REST, REST);
}

/* What the impulses of the next one are read from. */
PREFETCHES prefetch_impulses(const live_batch *batch, int lane) {
    const live_batch *next = batch + 1;
    if (lane == 0) prefetch_lines(next, offsetof(live_batch, ra));
    if (lane == 1)
        prefetch_lines(&next->pushed, offsetof(live_batch, rolling_mass) - offsetof(live_batch, pushed));
    if (lane == 2) __builtin_prefetch(&next->coefficient);
    if (lane >= HALF && lane - HALF < batch->points) __builtin_prefetch(&next->point[lane - HALF].impulse);
}

/* As far as most contacts reach: two points. */
PREFETCHES prefetch_contact(const live *w, int64_t batch, int lane) {
    int32_t c = contact_in(w, batch, lane);
    if (c >= 0) prefetch_lines(&w->contacts.data[c], live_contact_bytes(2));
}

PREFETCHES prefetch_link(const live *w, int64_t batch, int lane) {
    int32_t c = contact_in(w, batch, lane);
    if (c >= 0) __builtin_prefetch(&w->links.data[c]);
}

PREFETCHES prefetch_pushed(const live *w, int64_t batch, int lane) {
    int32_t c = contact_in(w, batch, lane);
    if (c < 0) return;
    const vec3 *p = &w->pushed.data[c]; /* of three, one reaches into the next line */
    __builtin_prefetch(&p->x), __builtin_prefetch(&p->z);
}

PREFETCHES prefetch_bodies(const live *w, int64_t batch, int lane) {
    int32_t c = contact_in(w, batch, lane);
    if (c < 0) return;
    int bodies[2] = {w->links.data[c].a, w->links.data[c].b};
    for (int k = 0; k < 2; k++) {
        __builtin_prefetch(&w->masses[bodies[k] + 1]);
        prefetch_lines(&w->motions[bodies[k]], sizeof *w->motions);
    }
}

static void set(lanes *v, int lane, double x) { (*v)[lane] = (float)x; }
static void set3(lanes3 *v, int lane, vec3 x) {
    set(&v->x, lane, x.x), set(&v->y, lane, x.y), set(&v->z, lane, x.z);
}
static vec3 get3(const lanes3 *v, int lane) { return (vec3){v->x[lane], v->y[lane], v->z[lane]}; }

static void set_inertia(lanes_sym *inertia, int lane, const live_mass *m) {
    lanes *out = &inertia->xx; /* the six one after the other */
    for (int i = 0; i < 6; i++) set(&out[i], lane, m->inertia[i]);
}

/* The contact point half way between the witnesses, from the world's origin; `again`: with the gap as it is
 * now. */
static vec3 place_point(const live *w, const live_contact *c, live_point *p, bool again) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    vec3 x = vec3_add(a->center, quat_rotate(a->rotation, p->on_a));
    vec3 y = vec3_add(b->center, quat_rotate(b->rotation, p->on_b));
    if (again) p->gap = vec3_dot(c->normal, vec3_sub(x, y));
    return vec3_lerp(x, y, 0.5);
}

/* Friction holds with the static coefficient while the manifold did not slip, otherwise with the sliding one.
 */
double live_coefficient_of(const live_contact *c, const model_material *m) {
    return c->flags & (LIVE_SLIPS | LIVE_TOLD_SLIP) ? m->friction.slide : m->friction.stick;
}

/* What is stretched about q at a pace sags as much as about s at the world's own, where springs are softer by
 * the square of the sub-steps:   p - q = n^2 (p - s)  for p > s.  Contacts keep s, so that a change of pace
 * moves nothing. */
static double stretch_of(double load, double s, int pace) {
    if (pace == 0 || s >= load) return s;
    double q = load - (1 << 2 * pace) * (load - s);
    return q > 0 ? q : 0;
}

static double keep_stretch(double load, double q, int pace) {
    return pace == 0 || q >= load ? q : load - (load - q) / (1 << 2 * pace);
}

/* What is squeezed bears loads that nothing but the squeeze asks for, and as soon as one side is gone the
 * other throws it away with them: it does not go on with them from step to step. */
static void forget_squeezed(const live *w, live_contact *c) {
    bool deep = false;
    for (int i = 0; i < c->count; i++) {
        if (!(c->points[i].gap < -LIVE_SQUEEZED * w->size)) continue;
        c->loads[i] = (live_load){0, 0}, deep = true;
    }
    if (deep) c->friction = c->rolling = vec3_zero(), c->twist = 0;
}

static void fill_points(const live *w, live_batch *batch, int lane, live_contact *c, bool again) {
    int pace = live_pace_of(w, c->a, c->b);
    double unit = w->unit * (1 << pace);
    vec3 at[MANIFOLD_POINTS], middle = vec3_zero();
    for (int i = 0; i < c->count; i++) {
        at[i] = place_point(w, c, &c->points[i], again);
        middle = vec3_add(middle, at[i]);
    }
    middle = vec3_scale(middle, 1.0 / c->count);
    forget_squeezed(w, c);
    for (int i = 0; i < c->count; i++) {
        const live_point *p = &c->points[i];
        live_lane_point *k = &batch->point[i];
        set3(&k->e, lane, vec3_sub(at[i], middle));
        set(&batch->gap[i], lane, p->gap);
        set(&k->impulse, lane, c->loads[i].normal / unit);
        set(&k->steady, lane, stretch_of(c->loads[i].normal, c->loads[i].steady, pace) / unit);
    }
    set3(&batch->ra, lane, vec3_sub(middle, w->motions[c->a].center));
    set3(&batch->rb, lane, vec3_sub(middle, w->motions[c->b].center));
}

/* Contacts that were kept are placed on the way: they have not been looked at in this step. */
static void fill_lane(live *w, live_batch *batch, int lane, live_contact *c) {
    const model_material *m = live_material(w, c->a, c->b);
    live_link *link = &w->links.data[batch->contact[lane]];
    bool again = link->mark & LIVE_STALE;
    if (again) c->normal = quat_rotate(w->motions[c->b].rotation, c->normal_b);
    batch->a[lane] = c->a + 1, batch->b[lane] = c->b + 1;
    const live_mass *a = &w->masses[c->a + 1], *b = &w->masses[c->b + 1];
    batch->moves_a |= (uint32_t)w->movable[c->a + 1] << lane;
    batch->moves_b |= (uint32_t)w->movable[c->b + 1] << lane;
    set(&batch->inverse, lane, a->inverse + b->inverse);
    set_inertia(&batch->inertia_a, lane, a), set_inertia(&batch->inertia_b, lane, b);
    vec3 t1 = vec3_orthogonal(c->normal), t2 = vec3_cross(c->normal, t1);
    set3(&batch->n, lane, c->normal), set3(&batch->t1, lane, t1);
    fill_points(w, batch, lane, c, again);
    if (again) *link = live_link_of(c);
    double part = 1 / (w->unit * (1 << live_pace_of(w, c->a, c->b)));
    set(&batch->friction1, lane, vec3_dot(c->friction, t1) * part);
    set(&batch->friction2, lane, vec3_dot(c->friction, t2) * part);
    set(&batch->twist, lane, c->twist * part);
    vec3 rolling = vec3_axpy(c->rolling, -vec3_dot(c->rolling, c->normal), c->normal);
    set3(&batch->rolling, lane, vec3_scale(rolling, part));
    batch->bounces |= (uint8_t)((m->restitution > 0) << lane);
    set(&batch->coefficient, lane, m->friction.slide);
    set(&batch->spinning, lane, m->friction.spinning), set(&batch->rolling_limit, lane, m->friction.rolling);
}

/* A point that a lane does not have is never reached, and nothing reaches it. */
void live_add_point(live_batch *batch) {
    int i = batch->points++;
    batch->gap[i] = lanes_all(1e30F);
    batch->point[i] = (live_lane_point){.now = batch->gap[i]};
    memset(&batch->coupling[i * (i + 1) / 2], 0, (size_t)(i + 1) * sizeof *batch->coupling);
}

/* A batch without contacts yet: zero as far as it is used. */
static void clear_batch(const live *w, live_batch *batch) {
    int32_t contact[LANES];
    int points = 0;
    memcpy(contact, batch->contact, sizeof contact);
    for (int k = 0; k < LANES; k++) {
        int count = contact[k] < 0 ? 0 : w->contacts.data[contact[k]].count;
        if (count > points) points = count;
    }
    memset(batch, 0, offsetof(live_batch, point));
    memset(&batch->pushed, 0, offsetof(live_batch, grip) - offsetof(live_batch, pushed));
    memcpy(batch->contact, contact, sizeof contact);
    while (batch->points < points) live_add_point(batch);
}

void live_prepare_batch(live *w, live_batch *batch, int64_t number) {
    clear_batch(w, batch);
    for (int k = 0; k < LANES; k++) {
        prefetch_batch(w, number, k), prefetch_link(w, number + LINKS_AHEAD, k);
        prefetch_contact(w, number + CONTACTS_AHEAD, k);
        prefetch_bodies(w, number + BODIES_AHEAD, k), prefetch_share(batch, k);
        if (batch->contact[k] < 0) continue;
        fill_lane(w, batch, k, &w->contacts.data[batch->contact[k]]);
        batch->rolls |= batch->rolling_limit[k] > 0;
    }
    w->kernels.prepare(batch);
    if (w->grips) live_begin_grip(w, batch);
}

/* Whether a contact bears something, and whether its load is not the usual one: bodies meet, a support was
 * taken away, or a run begins and no load is known.  It wavers where that of a point is off by a tenth of the
 * mean; where only the mean follows (renew_usual), where the mean is. */
static void note_load(const live *w, live_batch *batch, int lane) {
    const live_contact *c = &w->contacts.data[batch->contact[lane]];
    int tall = w->tall[live_moved_slot(w, c->a, c->b)];
    double load = 0, usual = 0, least = INFINITY, off = 0;
    for (int k = 0; k < c->count; k++) {
        double q = stretch_of(c->loads[k].normal, c->loads[k].steady, tall);
        double less = fabs(LIVE_USUAL * c->loads[k].normal - q);
        load += c->loads[k].normal, usual += q;
        off = less > off ? less : off;
        least = c->points[k].gap < least ? c->points[k].gap : least;
    }
    if (load == 0 && least > 0) return;
    uint32_t bit = (uint32_t)1 << lane;
    double all_off = tall > 0 ? fabs(LIVE_USUAL * load - usual) : off * c->count;
    batch->bearing |= bit;
    if (all_off > 2 * BAND * load) batch->wavering |= bit;
    usual /= LIVE_USUAL;
    if (load == 0 || fabs(load - usual) > 0.25 * (load > usual ? load : usual)) batch->changing |= bit;
}

static void prepare_batches(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int i = first; i < end; i++) {
        live_batch *batch = &w->batches[i];
        live_prepare_batch(w, batch, i);
        for (int k = 0; k < LANES; k++)
            if (batch->contact[k] >= 0) note_load(w, batch, k);
    }
}

/* Those that no batch takes. */
static void place_others(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int i = first; i < end; i++)
        if (w->color_of.data[i] < 0) live_place_now(w, i);
}

void live_prepare(live *w) {
    live_share(w, LIVE_PREPARE, w->links.count, LINK_BLOCK, place_others);
    live_stage load = live_make_stage(live_load_bodies, 0, 0, w->slots, LIVE_BODY_BLOCK);
    live_share_batches(w, LIVE_PREPARE, &load, prepare_batches);
}

/* ---- and back */

/* The same change for all points, but to no load below 0. */
static void renew_mean(live_contact *c, int tall, double pressure, double band, double share) {
    double q[MANIFOLD_POINTS], sum = 0;
    for (int i = 0; i < c->count; i++) {
        q[i] = stretch_of(c->loads[i].normal, c->loads[i].steady, tall);
        sum += q[i];
    }
    double mean = (LIVE_USUAL * pressure - sum) / c->count;
    if (fabs(mean) <= band) return;
    for (int i = 0; i < c->count; i++) {
        live_load *p = &c->loads[i];
        double off = mean > -q[i] ? mean : -q[i];
        if (fabs(off) > band) p->steady = keep_stretch(p->normal, q[i] + share * off, tall);
    }
}

/* The load p of a point becomes its usual one with the lag T:  q' = (LIVE_USUAL p - q) / T,  where it differs
 * by more than the band.  Nine tenths, and the band, because the loads of a heap are not determined: what
 * follows them to the end lets them wander from support to support, and the heap creeps.
 *
 * While q follows, what sagged under the load rises again, and in a heap contacts slip by that: the lag is
 * short, so that a heap is still when it has come down.  (With a second for the differences between the
 * points of a manifold a bin of 1,000 hulls rose and crept for ten, and now and then a hull tipped over.)
 *
 * But springs that follow the load of a turn d late,  p = K d (1 + iwT) / (1 - LIVE_USUAL + iwT),  push
 * behind it and drive a sway: of a structure that has swayed (live_sway.c) only the mean of a manifold
 * follows. */
static void renew_usual(const live *w, live_contact *c, double pressure) {
    int tall = w->tall[live_moved_slot(w, c->a, c->b)];
    double band = BAND * pressure / c->count, share = w->dt / (w->dt + LAG);
    if (tall > 0) {
        renew_mean(c, tall, pressure, band, share);
        return;
    }
    for (int i = 0; i < c->count; i++) {
        live_load *p = &c->loads[i];
        double off = LIVE_USUAL * p->normal - p->steady;
        if (fabs(off) > band) p->steady += share * off;
    }
}

void live_keep_impulses(const live *w, const live_batch *batch, int lane, live_contact *c) {
    int pace = live_pace_of(w, c->a, c->b);
    double unit = w->unit * (1 << pace);
    for (int i = 0; i < c->count; i++) {
        const live_lane_point *k = &batch->point[i];
        c->loads[i].normal = unit * k->impulse[lane];
        if (pace > 0) c->loads[i].steady = keep_stretch(c->loads[i].normal, unit * k->steady[lane], pace);
    }
    vec3 t1 = get3(&batch->t1, lane), t2 = vec3_cross(get3(&batch->n, lane), t1);
    vec3 friction = vec3_axpy(vec3_scale(t1, batch->friction1[lane]), batch->friction2[lane], t2);
    c->friction = vec3_scale(friction, unit), c->twist = unit * batch->twist[lane];
    c->rolling = vec3_scale(get3(&batch->rolling, lane), unit);
    if (batch->grips) live_keep_grip(batch, lane, c);
}

/* What changes the speed of the two against each other by less than a thousandth of the rest speed is
 * rounding: they have just come together. */
void live_note_pushed(live *w, live_contact *c, vec3 impulse, double inverse_mass, bool first) {
    vec3 *all = &w->pushed.data[c - w->contacts.data];
    *all = first ? impulse : vec3_add(*all, impulse);
    c->flags &= ~LIVE_PUSHED;
    if (vec3_dot(c->normal, *all) * inverse_mass > 1e-3 * w->model->tolerance.rest_speed)
        c->flags |= LIVE_PUSHED;
}

void live_settle_contact(const live *w, live_contact *c, double coefficient) {
    double pressure = 0;
    for (int i = 0; i < c->count; i++) pressure += c->loads[i].normal;
    if (c->count > 0) renew_usual(w, c, pressure);
    double limit = coefficient * pressure, rounding = 1e-6; /* of floats */
    c->flags &= ~(LIVE_TOUCHING | LIVE_SLIPS);
    if (pressure > 0) c->flags |= LIVE_TOUCHING;
    if (pressure > 0 && vec3_length(c->friction) >= limit * (1 - rounding)) c->flags |= LIVE_SLIPS;
}

static void store_lane(live *w, const live_batch *batch, int lane, live_contact *c) {
    live_keep_impulses(w, batch, lane, c);
    live_settle_contact(w, c, live_coefficient(batch, lane));
    live_note_pushed(w, c, vec3_scale(get3(&batch->pushed, lane), w->unit), batch->inverse[lane] / w->unit,
                     true);
}

static void store_batches(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int i = first; i < end; i++) {
        const live_batch *batch = &w->batches[i];
        for (int k = 0; k < LANES; k++) {
            prefetch_batch(w, i, k), prefetch_pushed(w, i + CONTACTS_AHEAD, k);
            prefetch_contact(w, i + CONTACTS_AHEAD, k), prefetch_impulses(batch, k);
            if (batch->contact[k] >= 0) store_lane(w, batch, k, &w->contacts.data[batch->contact[k]]);
        }
    }
}

void live_store(live *w) { live_share_batches(w, LIVE_STORE, NULL, store_batches); }
