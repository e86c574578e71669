/* Contacts in colours and batches (graph colouring): in one colour every movable body occurs once at most,
 * so the contacts of a colour can be solved at once, eight to a lane group, on any number of workers, with
 * one result.
 *
 *     colour      0 .. 47        contacts of two movable bodies, the lowest colour that both have free
 *                 48 .. 63       contacts with immovable bodies: last, because they are the ones to be kept
 * best 64             what found no colour: one contact a batch, one after the other */
#include "sim/live.h"

static int lowest_free(uint64_t used, int from, int to) {
    for (int k = from; k < to; k++)
        if (!(used >> k & 1)) return k;
    return LIVE_COLORS;
}

/* Which contacts the iterative solver takes: awake, with points, not of a direct island. */
static bool takes(const live *w, const live_contact *c) {
    if (c->count == 0) return false;
    bool a = w->movable[c->a + 1], b = w->movable[c->b + 1];
    if (!a && !b) return false;
    return !(a ? w->in_direct[c->a] : w->in_direct[c->b]);
}

static int choose(live *w, const live_contact *c) {
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
    void *block = mem_alloc(w->context, (size_t)capacity * sizeof(live_batch) + 64, 1);
    if (!block) return false;
    if (w->batch_block)
        mem_free(w->context, w->batch_block, (size_t)w->batch_capacity * sizeof(live_batch) + 64, 1);
    w->batch_block = block, w->batch_capacity = capacity;
    w->batches = (live_batch *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
    return true;
}

bool live_color(live *w) {
    int64_t n = w->contacts.count;
    int counts[LIVE_COLORS + 1] = {0}, filled[LIVE_COLORS + 1] = {0};
    if (!array_reserve(w->context, &w->color_of, n)) return false;
    memset(w->used, 0, (size_t)w->slots * sizeof *w->used);
    for (int64_t i = 0; i < n; i++) {
        const live_contact *c = &w->contacts.data[i];
        w->color_of.data[i] = takes(w, c) ? choose(w, c) : -1;
        if (w->color_of.data[i] >= 0) counts[w->color_of.data[i]]++;
    }
    w->color_first[0] = 0;
    w->times.colors = 0;
    for (int k = 0; k <= LIVE_COLORS; k++) {
        int batches = k < LIVE_COLORS ? (counts[k] + LANES - 1) / LANES : counts[k];
        w->color_first[k + 1] = w->color_first[k] + batches;
        w->times.colors += counts[k] > 0;
    }
    w->batch_count = w->color_first[LIVE_COLORS + 1];
    if (!reserve_batches(w, w->batch_count)) return false;
    for (int64_t i = 0; i < w->batch_count; i++)
        for (int k = 0; k < LANES; k++) w->batches[i].contact[k] = -1;
    for (int64_t i = 0; i < n; i++) {
        int color = w->color_of.data[i];
        if (color < 0) continue;
        int place = filled[color]++, lane = color < LIVE_COLORS ? place % LANES : 0;
        int batch = w->color_first[color] + (color < LIVE_COLORS ? place / LANES : place);
        w->batches[batch].contact[lane] = (int32_t)i;
    }
    w->times.batches = (int)w->batch_count;
    return true;
}
