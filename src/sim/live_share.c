/* Stages on several workers.  A stage is cut into blocks; within a stage no two blocks touch the same body or
 * contact, so the result does not depend on the cut, nor on who runs what.
 *
 * Each worker has a share of every stage, the same part of the bodies, of the pairs (sorted by bodies), and
 * of each colour (in the order of the contacts): what it works on stays in its cache from stage to stage.  It
 * claims the blocks of its own share first, then helps the others, and waits at the end of the stage (of the
 * last of several that do not depend on each other) for the blocks that others have claimed; a worker that
 * comes late finds the stages done and goes on, so one worker alone gets through too. */
#define _POSIX_C_SOURCE 200809L
#include "sim/live.h"

#include <sched.h>

enum { LOOKS = 2000, MOST_BATCHES = 32 };

typedef struct crew {
    live *w;
    live_stage *stages;
    int64_t count;
    int shares;
} crew;

live_stage live_make_stage(live_blocks *run, int kind, int first, int total, int block) {
    return (live_stage){.run = run,
                        .kind = kind,
                        .first = first,
                        .total = total,
                        .block = block,
                        .waits = true,
                        .count = (total + block - 1) / block};
}

/* Blocks of a colour: two for each worker, so that one that is slow or late holds up little; claiming one
 * takes as long as solving a batch. */
static int block_of(const live *w, int total) {
    int block = (total + 2 * parallel_threads(w->context) - 1) / (2 * parallel_threads(w->context));
    return block < 2 ? 2 : block > MOST_BATCHES ? MOST_BATCHES : block;
}

/* One stage for each colour of a pace that has batches; those without a colour are one block, in order. */
int live_color_stages(const live *w, int pace, live_blocks *run, int kind, live_stage out[LIVE_COLORS + 1]) {
    const int *of = &w->color_first[pace * (LIVE_COLORS + 1)];
    int n = 0;
    for (int k = 0; k <= LIVE_COLORS; k++) {
        int first = of[k], total = of[k + 1] - first;
        if (total <= 0) continue;
        out[n] = live_make_stage(run, kind, first, total, k < LIVE_COLORS ? block_of(w, total) : total);
        out[n++].pace = pace;
    }
    return n;
}

static void run_block(live *w, const live_stage *s, int block) {
    int first = s->first + block * s->block, end = first + s->block, last = s->first + s->total;
    s->run(w, s, first, end < last ? end : last);
}

static void run_alone(live *w, const live_stage *stages, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < stages[k].count; i++) run_block(w, &stages[k], i);
}

/* The blocks of one share, as far as nobody else has claimed them. */
static void run_share(live *w, live_stage *s, int share, int shares) {
    int first = s->count * share / shares, count = s->count * (share + 1) / shares - first, done = 0;
    if (atomic_load_explicit(&s->next[share], memory_order_relaxed) >= count) return;
    for (int i; (i = atomic_fetch_add_explicit(&s->next[share], 1, memory_order_relaxed)) < count; done++)
        run_block(w, s, first + i);
    if (done) atomic_fetch_add_explicit(&s->done, done, memory_order_release);
}

static void wait_for(const live_stage *s) {
    for (int looks = 0; atomic_load_explicit(&s->done, memory_order_acquire) < s->count; looks++)
        if (looks > LOOKS)
            sched_yield();
        else
            cpu_relax();
}

static void work(void *argument, int worker) {
    const crew *c = argument;
    for (int64_t first = 0, end; first < c->count; first = end) {
        for (end = first + 1; end < c->count && !c->stages[end - 1].waits;) end++;
        for (int i = 0; i < c->shares; i++)
            for (int64_t k = first; k < end; k++)
                run_share(c->w, &c->stages[k], (worker + i) % c->shares, c->shares);
        for (int64_t k = first; k < end; k++) wait_for(&c->stages[k]);
    }
}

/* Whether waking the workers pays: by the time of the last step, which was shorter where it was shared. */
static bool pays(const live *w, live_part part, int threads) {
    const abut_live_times *t = &w->times;
    const double last[LIVE_PARTS] = {t->broad, t->narrow, t->prepare, t->solve, t->store, t->report};
    return last[part] * (w->shared[part] ? threads : 1) >= w->options.share_from;
}

void live_run_stages(live *w, live_part part, live_stage *stages, int64_t count) {
    int threads = parallel_threads(w->context);
    w->shared[part] = threads > 1 && pays(w, part, threads);
    crew c = {w, stages, count, threads < LIVE_SHARES ? threads : LIVE_SHARES};
    if (w->shared[part])
        parallel_for(w->context, threads, work, &c);
    else
        run_alone(w, stages, count);
}

void live_share(live *w, live_part part, int64_t items, int block, live_blocks *run) {
    live_stage s = live_make_stage(run, 0, 0, (int)items, block);
    live_run_stages(w, part, &s, 1);
}

/* All batches, in any order: each worker its share of each colour. */
void live_share_batches(live *w, live_part part, const live_stage *before, live_blocks *run) {
    live_stage stages[LIVE_PACES * (LIVE_COLORS + 1) + 1];
    int n = 0, last;
    if (before) stages[n++] = *before;
    last = n;
    for (int pace = 0; pace <= w->finest; pace++) last += live_color_stages(w, pace, run, 0, stages + last);
    for (; n + 1 < last; n++) stages[n].waits = false;
    if (before) stages[0].waits = true;
    live_run_stages(w, part, stages, last);
}
