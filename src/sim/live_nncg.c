/* NNCG by choice: the nonsmooth nonlinear conjugate gradient method on top of the sweeps of a sub-step
 * (Silcowitz, Niebe and Erleben 2010).  A sweep maps the impulses x to x + g; g stands for the negative
 * gradient.  After sweep k
 *
 *     beta = |g_k|^2 / |g_k-1|^2,     x += beta d,     d = beta d + g_k         (beta > 1: start again, d =
 * 0)
 *
 * and because velocities are linear in impulses, theirs are carried along in the same way instead of being
 * added up anew.  The last sweep of a sub-step is left as it is, so that impulses end within their bounds.
 * |g|^2 is added up block by block and the blocks in order: the same bits for any number of workers. */
#include "sim/live.h"

/* The impulses of a batch, one after the other. */
enum { PER_BATCH = MANIFOLD_POINTS + 6 };

static lanes *impulse_of(live_batch *c, int i) {
    if (i < MANIFOLD_POINTS) return &c->point[i].impulse;
    lanes *rest[] = {&c->friction1, &c->friction2, &c->twist, &c->rolling.x, &c->rolling.y, &c->rolling.z};
    return rest[i - MANIFOLD_POINTS];
}

static lanes *old_of(const live *w, int64_t batch) { return w->nncg_impulses + 2 * PER_BATCH * batch; }

bool live_nncg_reserve(live *w) {
    int64_t lanes_wanted = 2 * PER_BATCH * w->batch_count;
    int64_t blocks = (w->batch_count + LIVE_BLOCK - 1) / LIVE_BLOCK;
    if (!array_reserve(w->context, &w->nncg_sums, blocks + LIVE_PACES)) return false;
    if (lanes_wanted <= w->nncg_capacity) return true;
    int64_t capacity = lanes_wanted + lanes_wanted / 2;
    void *block = mem_alloc(w->context, (size_t)capacity * sizeof(lanes) + 64, 1);
    if (!block) return false;
    live_nncg_free(w);
    w->nncg_block = block, w->nncg_capacity = capacity;
    w->nncg_impulses = (lanes *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
    return true;
}

void live_nncg_free(live *w) {
    if (w->nncg_block) mem_free(w->context, w->nncg_block, (size_t)w->nncg_capacity * sizeof(lanes) + 64, 1);
    w->nncg_block = NULL, w->nncg_capacity = 0;
}

/* ---- before the first sweep */

void live_nncg_begin(live *w, int first, int end) {
    for (int k = first; k < end; k++) {
        lanes *old = old_of(w, k);
        for (int i = w->batches[k].points; i < MANIFOLD_POINTS; i++)
            w->batches[k].point[i].impulse = lanes_all(0);
        for (int i = 0; i < PER_BATCH; i++) {
            old[i] = *impulse_of(&w->batches[k], i);
            old[PER_BATCH + i] = lanes_all(0);
        }
    }
}

void live_nncg_begin_bodies(live *w, int first, int end) {
    for (int i = first; i < end; i++) {
        w->nncg_velocities[i] = w->velocities[i];
        memset(&w->nncg_directions[i], 0, sizeof w->nncg_directions[i]);
    }
}

/* ---- after a sweep */

void live_nncg_measure(live *w, int first, int end) {
    lanes sum = lanes_all(0);
    for (int k = first; k < end; k++) {
        const lanes *old = old_of(w, k);
        for (int i = 0; i < PER_BATCH; i++) {
            lanes g = *impulse_of(&w->batches[k], i) - old[i];
            sum += g * g;
        }
    }
    double all = 0;
    for (int i = 0; i < LANES; i++) all += sum[i];
    w->nncg_sums.data[first / LIVE_BLOCK] = all;
}

/* Of the batches of a pace. */
void live_nncg_choose(live *w, int sweep, int first, int end) {
    double sum = 0, last = sweep > 0 ? w->nncg_last : 0;
    for (int i = first; i < end; i += LIVE_BLOCK) sum += w->nncg_sums.data[i / LIVE_BLOCK];
    w->nncg_beta = last > 0 ? sum / last : 0;
    w->nncg_last = sum;
}

/* A lane group of impulses: value, where it was, and its direction. */
static void advance(lanes *x, lanes *old, lanes *direction, double beta) {
    lanes g = *x - *old, b = lanes_all(beta > 1 ? 0 : (float)beta);
    *x += b * *direction;
    *direction = beta > 1 ? lanes_all(0) : b * *direction + g;
    *old = *x;
}

/* And a velocity. */
static void advance_body(four *x, four *old, four *direction, double beta) {
    four g = *x - *old, b = four_all(beta > 1 ? 0 : beta);
    *x += b * *direction;
    *direction = beta > 1 ? four_all(0) : b * *direction + g;
    *old = *x;
}

void live_nncg_advance(live *w, int first, int end) {
    for (int k = first; k < end; k++) {
        lanes *old = old_of(w, k);
        for (int i = 0; i < PER_BATCH; i++) {
            advance(impulse_of(&w->batches[k], i), &old[i], &old[PER_BATCH + i], w->nncg_beta);
        }
    }
}

void live_nncg_advance_bodies(live *w, int first, int end) {
    for (int i = first; i < end; i++) {
        live_velocity *v = &w->velocities[i], *old = &w->nncg_velocities[i], *d = &w->nncg_directions[i];
        advance_body(&v->v, &old->v, &d->v, w->nncg_beta);
        advance_body(&v->w, &old->w, &d->w, w->nncg_beta);
    }
}
