/* Contacts of batches found anew within a step.  The points of a manifold are moved along with the bodies to
 * first order, and features that face each other within 0.2 radians take part whole; so a pair that has
 * turned by less since the step began has all its points, and one that has turned by more (a spinning top, a
 * box that tumbles) is looked at again before the next sub-step.  Of a rim that lies flat four points are
 * known, and between them it goes in by  0.3 r  times the turn: where there are rims a fifth of that turn
 * does, as in direct islands.
 *
 * Warm starting repeats what the impulses of the last sub-step did to each body (live_substep.c), which holds
 * while arms and normals stay.  Of a contact that is found anew the impulses act elsewhere; what they do
 * there instead is added to what is repeated.  Without that the sweep takes back at the new arm what came at
 * the old one, and an ellipsoid that lands and spins went off with a twentieth more energy. */
#include "sim/live.h"

#define MOST_TURN 0.1  /* radians: half of the angle above */
#define RIM_TURN  0.02 /* where there are rims */

static double most_turn(const live *w, int slot) { return w->body[slot - 1].rims ? RIM_TURN : MOST_TURN; }

/* By slot, after its position: whether it may have turned too far against another, and its inertia there. */
void live_note_turn(live *w, int slot) {
    double most = most_turn(w, slot);
    w->turns[slot] = vec3_length2(live_vec3(w->moved[slot].w)) > most * most / 4;
    if (!w->turns[slot]) return;
    atomic_store_explicit(&w->any_turned, 1, memory_order_relaxed);
    if (w->movable[slot] && !w->body[slot - 1].spherical) live_load_mass(w, slot);
}

/* Against each other, or together, for their normal turns with them.  A pair of large meshes is not looked at
 * again: it costs more than the rest of the step. */
static bool has_turned(const live *w, int32_t a, int32_t b) {
    if (!w->turns[a] && !w->turns[b]) return false;
    if (!w->body[a - 1].light || !w->body[b - 1].light) return false;
    double most = fmin(most_turn(w, a), most_turn(w, b)), square = most * most;
    four x = w->moved[a].w, y = w->moved[b].w;
    if (vec3_length2(live_vec3(x - y)) > square) return true;
    return vec3_length2(live_vec3(x)) > square && vec3_length2(live_vec3(y)) > square;
}

static bool is_outdated(const live *w, const live_batch *batch) {
    bool outdated = false;
    for (int k = 0; k < LANES; k++)
        outdated |= batch->contact[k] >= 0 && has_turned(w, batch->a[k], batch->b[k]);
    return outdated;
}

/* Gaps are told where the step began: what has moved since is added where they are asked for. */
double live_moved_gap(const live *w, const live_contact *c, const live_point *p) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    const live_velocity *ma = &w->moved[c->a + 1], *mb = &w->moved[c->b + 1];
    vec3 ra = quat_rotate(a->rotation, p->on_a), rb = quat_rotate(b->rotation, p->on_b);
    vec3 da = vec3_add(live_vec3(ma->v), vec3_cross(live_vec3(ma->w), ra));
    vec3 db = vec3_add(live_vec3(mb->v), vec3_cross(live_vec3(mb->w), rb));
    return vec3_dot(c->normal, vec3_sub(da, db));
}

void live_take_back(const live *w, live_contact *c) {
    for (int i = 0; i < c->count; i++) c->points[i].gap -= live_moved_gap(w, c, &c->points[i]);
}

/* A lane of lane groups that lie one after the other. */
static void copy_lanes(void *to, const void *from, size_t bytes, int lane) {
    for (size_t i = 0; i < bytes / sizeof(lanes); i++)
        ((lanes *)to)[i][lane] = ((const lanes *)from)[i][lane];
}

/* One lane of a batch becomes that of another, prepared one; points that only one of them has are added to
 * the other first, where they are never reached. */
static void copy_lane(live_batch *to, live_batch *from, int lane) {
    while (to->points < from->points) live_add_point(to);
    while (from->points < to->points) live_add_point(from);
    size_t points = (size_t)to->points;
    copy_lanes(&to->inverse, &from->inverse, offsetof(live_batch, point) - offsetof(live_batch, inverse),
               lane);
    copy_lanes(to->point, from->point, points * sizeof *to->point, lane);
    copy_lanes(to->coupling, from->coupling, points * (points + 1) / 2 * sizeof *to->coupling, lane);
    copy_lanes(to->gap, from->gap, points * sizeof *to->gap, lane);
    copy_lanes(&to->rolling, &from->rolling, offsetof(live_batch, grip) - offsetof(live_batch, rolling),
               lane);
    to->rolls |= from->rolls;
    if (from->grips) copy_lanes(&to->grip, &from->grip, sizeof from->grip, lane);
}

/* What the impulses of a batch do to the bodies of each lane: A of lane k at 2 k, B at 2 k + 1. */
static void warmth_of(const live *w, const live_batch *batch, live_velocity out[2 * LANES]) {
    live_batch alone = *batch;
    for (int k = 0; k < LANES; k++) alone.a[k] = 2 * k, alone.b[k] = 2 * k + 1;
    memset(out, 0, 2 * LANES * sizeof *out);
    for (int k = 0; k < LANES; k++) {
        out[2 * k].v[3] = w->velocities[batch->a[k]].v[3];
        out[2 * k + 1].v[3] = w->velocities[batch->b[k]].v[3];
    }
    w->kernels.warm(&alone, 1, out);
}

/* The contacts that have turned, in a batch of their own, then in their lanes: the others go on as they are,
 * so that what becomes of a contact does not depend on which ones share its batch. */
static void refresh(live *w, live_batch *batch) {
    live_batch turned = {.points = 0};
    live_velocity was[2 * LANES], is[2 * LANES];
    warmth_of(w, batch, was);
    for (int k = 0; k < LANES; k++) {
        bool stays = batch->contact[k] < 0 || !has_turned(w, batch->a[k], batch->b[k]);
        turned.contact[k] = stays ? -1 : batch->contact[k];
        if (stays) continue;
        live_contact *c = &w->contacts.data[batch->contact[k]];
        live_keep_impulses(w, batch, k, c);
        if (!live_collide_again(w, c)) live_place_again(w, c);
        live_take_back(w, c);
    }
    live_prepare_batch(w, &turned, w->batch_count);
    w->kernels.place(&turned, w->moved);
    warmth_of(w, &turned, is);
    live_velocity *shift = &w->shifts[(batch - w->batches) * 2 * LANES];
    for (int k = 0; k < LANES; k++) {
        if (turned.contact[k] < 0) continue;
        copy_lane(batch, &turned, k);
        batch->renewed |= (uint32_t)1 << k;
        for (int side = 2 * k; side < 2 * k + 2; side++)
            shift[side] = (live_velocity){is[side].v - was[side].v, is[side].w - was[side].w};
    }
    atomic_store_explicit(&w->any_renewed, 1, memory_order_relaxed);
}

void live_refresh(live *w, int first, int end) {
    if (!atomic_load_explicit(&w->any_turned, memory_order_relaxed)) return;
    for (int i = first; i < end; i++)
        if (is_outdated(w, &w->batches[i])) refresh(w, &w->batches[i]);
}

/* Shifts what is repeated of the bodies of contacts that were found anew: one after the other, because a body
 * may have several. */
void live_shift_warmth(live *w) {
    if (!atomic_exchange_explicit(&w->any_renewed, 0, memory_order_relaxed)) return;
    for (int64_t i = 0; i < w->batch_count; i++) {
        live_batch *batch = &w->batches[i];
        const live_velocity *shift = &w->shifts[i * 2 * LANES];
        for (int k = 0; k < LANES && batch->renewed; k++) {
            if (!(batch->renewed >> k & 1)) continue;
            live_velocity *a = &w->before[batch->a[k]], *b = &w->before[batch->b[k]];
            a->v -= shift[2 * k].v, a->w -= shift[2 * k].w;
            b->v -= shift[2 * k + 1].v, b->w -= shift[2 * k + 1].w;
        }
        batch->renewed = 0;
    }
}
