/* Contacts in colours and batches (graph colouring): in one colour every movable body occurs once at most,
 * so the contacts of a colour can be solved at once, eight to a lane group, on any number of workers, with
 * one result.
 *
 *     colour      0 .. 47        contacts of two movable bodies, the lowest colour that both have free
 *                 48 .. 63       contacts with immovable bodies: last, because they are the ones to be kept
 * best 64             what found no colour: one contact a batch, one after the other
 *
 * Islands at different paces (live_sway.c) are visited at different times: each pace has its own colours. */
#include "sim/live.h"

enum { STRETCH = 16 * LANES /* contacts */, EACH = LIVE_COLORS + 1, ALL = LIVE_PACES * EACH };

static int lowest_free(uint64_t used, int from, int to) {
    for (int k = from; k < to; k++)
        if (!(used >> k & 1)) return k;
    return LIVE_COLORS;
}

/* Which contacts batches take: awake, with points, not of a direct island, nor of what hangs on loose
 * hinges. */
static bool takes(const live *w, const live_link *c) {
    if (c->count == 0) return false;
    bool a = w->movable[c->a + 1], b = w->movable[c->b + 1];
    if (!a && !b) return false;
    if (w->hung[c->a + 1] || w->hung[c->b + 1]) return false;
    return !(a ? w->in_direct[c->a] : w->in_direct[c->b]);
}

static int choose(live *w, const live_link *c) {
    bool a = w->movable[c->a + 1], b = w->movable[c->b + 1];
    uint64_t used = (a ? w->used[c->a + 1] : 0) | (b ? w->used[c->b + 1] : 0);
    int color =
        a && b ? lowest_free(used, 0, LIVE_STATIC_COLOR) : lowest_free(used, LIVE_STATIC_COLOR, LIVE_COLORS);
    if (color < LIVE_COLORS) {
        if (a) w->used[c->a + 1] |= (uint64_t)1 << color;
        if (b) w->used[c->b + 1] |= (uint64_t)1 << color;
    }
    return color;
}

static bool reserve_batches(live *w, int64_t count) {
    if (count <= w->batch_capacity) return true;
    int64_t capacity = count + count / 2 + 16;
    void *block = mem_alloc(w->context, live_batch_bytes(capacity), 1);
    if (!block) return false;
    if (w->batch_block) mem_free(w->context, w->batch_block, live_batch_bytes(w->batch_capacity), 1);
    w->batch_block = block, w->batch_capacity = capacity;
    w->batches = (live_batch *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
    w->shifts = (live_velocity *)(w->batches + capacity);
    return true;
}

/* Lists the contacts of each colour, in their order: `listed` from first[k] to first[k + 1] - 1. */
static bool list_colors(live *w, int first[ALL + 1]) {
    int64_t n = w->links.count;
    int filled[ALL] = {0};
    if (!array_reserve(w->context, &w->color_of, n) || !array_reserve(w->context, &w->listed, n))
        return false;
    memset(w->used, 0, (size_t)w->slots * sizeof *w->used);
    memset(first, 0, (ALL + 1) * sizeof *first);
    for (int64_t i = 0; i < n; i++) {
        const live_link *c = &w->links.data[i];
        int color = takes(w, c) ? EACH * live_pace_of(w, c->a, c->b) + choose(w, c) : -1;
        w->color_of.data[i] = color;
        if (color >= 0) first[color + 1]++;
    }
    for (int k = 0; k < ALL; k++) first[k + 1] += first[k];
    for (int64_t i = 0; i < n; i++) {
        int color = w->color_of.data[i];
        if (color >= 0) w->listed.data[first[color] + filled[color]++] = (int)i;
    }
    return true;
}

/* A batch costs as much as its contact with the most points, and what a lane computes does not depend on its
 * neighbours: so the contacts of a stretch are put side by side with those of as many points.  A stretch is
 * short, because contacts near each other in the list share bodies, and workers share out colours by halves.
 */
static void fill_stretch(live *w, const int *listed, int count, live_batch *batches) {
    int filled[MANIFOLD_POINTS + 2] = {0};
    for (int i = 0; i < count; i++) filled[MANIFOLD_POINTS - w->links.data[listed[i]].count + 1]++;
    for (int k = 0; k <= MANIFOLD_POINTS; k++) filled[k + 1] += filled[k];
    for (int i = 0; i < count; i++) {
        int place = filled[MANIFOLD_POINTS - w->links.data[listed[i]].count]++;
        batches[place / LANES].contact[place % LANES] = listed[i];
    }
    for (int i = count; i % LANES; i++) batches[i / LANES].contact[i % LANES] = -1;
}

static void fill_alone(live_batch *batch, int contact) {
    for (int k = 0; k < LANES; k++) batch->contact[k] = k ? -1 : contact;
}

/* The batches of a colour; `alone`: of those without one. */
static void fill_color(live *w, const int *listed, int count, live_batch *batches, bool alone) {
    for (int i = 0; i < count && alone; i++) fill_alone(&batches[i], listed[i]);
    for (int i = 0; i < count && !alone; i += STRETCH)
        fill_stretch(w, &listed[i], count - i < STRETCH ? count - i : STRETCH, &batches[i / LANES]);
}

bool live_color(live *w) {
    int first[ALL + 1];
    if (!list_colors(w, first)) return false;
    w->color_first[0] = 0;
    w->times.colors = 0;
    for (int k = 0; k < ALL; k++) {
        int count = first[k + 1] - first[k];
        bool alone = k % EACH == LIVE_COLORS;
        w->color_first[k + 1] = w->color_first[k] + (alone ? count : (count + LANES - 1) / LANES);
        w->times.colors += count > 0;
    }
    w->batch_count = w->color_first[ALL];
    if (!reserve_batches(w, w->batch_count)) return false;
    for (int k = 0; k < ALL; k++) {
        int count = first[k + 1] - first[k];
        if (count) /* without any contact so far there are no lists and no batches to point into */
            fill_color(w, &w->listed.data[first[k]], count, &w->batches[w->color_first[k]],
                       k % EACH == LIVE_COLORS);
    }
    w->times.batches = (int)w->batch_count;
    return true;
}
