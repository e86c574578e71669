/* Stick and slip in batches.  A contact that sticks resists up to mu_s N, one that slips feels mu_d N against
 * its slip, and where slip comes to an end it sticks again if mu_s N suffices.  Where mu_s > mu_d
 *
 *     each contact sticks or is loose; which, is told after each sub-step by how it slides
 *     a visit takes mu_d for one that is loose while friction wants to act against the slip u, w with which
 *     the sub-step began, f . u + t w < 0; mu_s otherwise: it stuck, or the slip has turned round within
 *     the sub-step (a block that slid up a slope), and there mu_s decides whether it stays
 *
 * Gauss-Seidel has not converged when a sub-step ends.  Where a block is stopped or a table jerks, friction
 * and pressures swing for some sub-steps about what they come to, longer in stacks; contacts slide a little
 * though their friction is not at the edge of the cone, or are at the edge until what they lag behind is
 * made up for.  So a contact gets loose only while friction is at the edge of the static cone and still it
 * slides faster and faster:
 *
 *     for LIVE_PATIENCE sub-steps, to more than LIVE_CREEP of the rest speed (a table that is tilted slowly),
 *     or to more than LIVE_FAST of it (a blow)
 *
 * and stays loose while it is at the edge, and faster than the former.  How fast is the motion of the middle
 * of the manifold, and of its farthest point about that.
 *
 * A visit takes friction before pressures, and in a relaxing one those are still without what the springs
 * took, up to a twentieth: these contacts have friction once more afterwards, so that the last word on both
 * is Coulomb's law.  All others are visited as if there were no grips. */
#include "sim/live.h"

bool live_has_grips(const abut_model *m) {
    int pairs = (m->material_count + 1) * (m->material_count + 1);
    for (int i = 0; i < pairs; i++)
        if (m->pairs[i].friction.stick > m->pairs[i].friction.slide) return true;
    return false;
}

static void measure(const live *w, live_batch *batch) {
    w->kernels.grip(batch, w->velocities, w->model->tolerance.rest_speed);
}

static bool was_loose(const live_contact *c) { return c->flags & LIVE_LOOSE; }

static void open_lane(const live *w, live_batch *batch, int lane) {
    const live_contact *c = &w->contacts.data[batch->contact[lane]];
    const abut_friction *f = &live_material(w, c->a, c->b)->friction;
    live_lane_grip *g = &batch->grip;
    batch->grips |= f->stick > f->slide;
    g->hold[lane] = (float)f->stick;
    g->loose[lane] = was_loose(c) ? -1 : 0, g->bound[lane] = -1, g->speed2[lane] = -1;
}

/* What bears since the last step sticks or slides as it did then; of what is only going to meet, the speed
 * decides. */
static void close_lane(const live *w, live_batch *batch, int lane) {
    const live_contact *c = &w->contacts.data[batch->contact[lane]];
    live_lane_grip *g = &batch->grip;
    g->edge[lane] = (float)(c->flags / LIVE_EDGE), g->speed2[lane] = 0;
    if (was_loose(c) || !(c->flags & LIVE_TOUCHING)) return;
    g->loose[lane] = 0, g->slip1[lane] = g->slip2[lane] = g->spin[lane] = 0;
}

void live_begin_grip(const live *w, live_batch *batch) {
    memset(&batch->grip, 0, sizeof batch->grip);
    for (int k = 0; k < LANES; k++)
        if (batch->contact[k] >= 0) open_lane(w, batch, k);
    if (!batch->grips) return;
    measure(w, batch);
    for (int k = 0; k < LANES; k++)
        if (batch->contact[k] >= 0) close_lane(w, batch, k);
}

void live_measure_grips(live *w, int first, int end) {
    for (int i = first; i < end; i++)
        if (w->batches[i].grips) measure(w, &w->batches[i]);
}

void live_keep_grip(const live_batch *batch, int lane, live_contact *c) {
    if (!(batch->grip.hold[lane] > batch->coefficient[lane])) return;
    c->flags = (c->flags & (LIVE_LOOSE - 1)) | LIVE_EDGE * (int)batch->grip.edge[lane];
    if (batch->grip.loose[lane]) c->flags |= LIVE_LOOSE;
}

double live_coefficient(const live_batch *batch, int lane) {
    bool sticks = batch->grips && !batch->grip.loose[lane];
    return sticks ? batch->grip.hold[lane] : batch->coefficient[lane];
}
