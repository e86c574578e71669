/* Contacts of batches found anew within a step.  The points of a manifold are moved along with the bodies to
 * first order, and features that face each other within 0.2 radians take part whole; so a pair that has
 * turned by less since the step began has all its points, and one that has turned by more (a spinning top, a
 * box that tumbles) is looked at again before the next sub-step. */
#include "sim/live.h"

#define MOST_TURN 0.1 /* radians: half of the angle above */

/* By slot, after its position: whether it may have turned too far against another. */
void live_note_turn(live *w, int slot) {
    w->turns[slot] = vec3_length2(live_vec3(w->moved[slot].w)) > MOST_TURN * MOST_TURN / 4;
}

/* A pair of large meshes is not looked at again: it costs more than the rest of the step. */
static bool has_turned(const live *w, int32_t a, int32_t b) {
    if (!w->turns[a] && !w->turns[b]) return false;
    if (!w->body[a - 1].light || !w->body[b - 1].light) return false;
    return vec3_length2(live_vec3(w->moved[a].w - w->moved[b].w)) > MOST_TURN * MOST_TURN;
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

/* One lane of a batch becomes that of another, prepared one; points that the others do not have are never
 * reached by them. */
static void copy_lane(live_batch *to, const live_batch *from, int lane) {
    enum { VECTORS = (offsetof(live_batch, point) - offsetof(live_batch, inverse)) / sizeof(lanes) };
    lanes *x = &to->inverse;
    const lanes *y = &from->inverse;
    for (int i = 0; i < VECTORS; i++) x[i][lane] = y[i][lane];
    for (; to->points < from->points; to->points++) to->point[to->points] = live_no_point();
    for (int i = 0; i < to->points; i++) {
        live_lane_point none = live_no_point();
        const live_lane_point *source = i < from->points ? &from->point[i] : &none;
        for (size_t k = 0; k < sizeof none / sizeof(lanes); k++)
            ((lanes *)&to->point[i])[k][lane] = ((const lanes *)source)[k][lane];
    }
    to->rolls |= from->rolls;
}

/* The contacts that have turned, in a batch of their own, then in their lanes: the others go on as they are,
 * so that what becomes of a contact does not depend on which ones share its batch. */
static void refresh(live *w, live_batch *batch) {
    live_batch turned = {.points = 0};
    for (int k = 0; k < LANES; k++) {
        bool stays = batch->contact[k] < 0 || !has_turned(w, batch->a[k], batch->b[k]);
        turned.contact[k] = stays ? -1 : batch->contact[k];
        if (stays) continue;
        live_contact *c = &w->contacts.data[batch->contact[k]];
        live_keep_impulses(w, batch, k, c);
        if (!live_collide_again(w, c)) live_place_again(w, c);
        live_take_back(w, c);
    }
    live_prepare_batch(w, &turned);
    w->kernels.place(&turned, w->moved);
    for (int k = 0; k < LANES; k++)
        if (turned.contact[k] >= 0) copy_lane(batch, &turned, k);
}

void live_refresh(live *w, int first, int end) {
    for (int i = first; i < end; i++)
        if (is_outdated(w, &w->batches[i])) refresh(w, &w->batches[i]);
}
