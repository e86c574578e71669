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

/* Gaps are told where the step began: what has moved since is added in each visit. */
static void take_back(const live *w, live_batch *batch) {
    for (int k = 0; k < LANES; k++) {
        const live_velocity *a = &w->moved[batch->a[k]], *b = &w->moved[batch->b[k]];
        if (batch->contact[k] < 0) continue;
        vec3 n = {batch->n.x[k], batch->n.y[k], batch->n.z[k]};
        vec3 ra = {batch->ra.x[k], batch->ra.y[k], batch->ra.z[k]},
             rb = {batch->rb.x[k], batch->rb.y[k], batch->rb.z[k]};
        vec3 wa = live_vec3(a->w), wb = live_vec3(b->w), turn = vec3_sub(wa, wb);
        vec3 shift = vec3_sub(vec3_add(live_vec3(a->v), vec3_cross(wa, ra)),
                              vec3_add(live_vec3(b->v), vec3_cross(wb, rb)));
        for (int i = 0; i < w->contacts.data[batch->contact[k]].count; i++) {
            live_lane_point *p = &batch->point[i];
            vec3 e = {p->e.x[k], p->e.y[k], p->e.z[k]};
            p->gap[k] = (float)(p->gap[k] - vec3_dot(n, shift) - vec3_dot(e, turn));
        }
    }
}

static void refresh(live *w, live_batch *batch) {
    for (int k = 0; k < LANES; k++) {
        if (batch->contact[k] < 0) continue;
        live_contact *c = &w->contacts.data[batch->contact[k]];
        live_keep_impulses(batch, k, c);
        if (!has_turned(w, batch->a[k], batch->b[k]) || !live_collide_again(w, c)) live_place_again(w, c);
    }
    live_prepare_batch(w, batch);
    take_back(w, batch);
}

void live_refresh(live *w, int first, int end) {
    for (int i = first; i < end; i++)
        if (is_outdated(w, &w->batches[i])) refresh(w, &w->batches[i]);
}
