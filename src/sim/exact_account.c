/* What the groups of a frame did, and the threads' own memory.
 *
 *   group 0 ── account 0 ┐
 *   group 1 ── account 1 ┼── in this order ──> the state of the run
 *   group 2 ── account 2 ┘
 *
 * Accounts stay for reuse, so that a frame of the usual size allocates nothing. */
#include "sim/run.h"

#include <math.h>

void run_account_clear(run_account *a) {
    run_account empty = {.events = a->events, .segments = a->segments, .status = ABUT_OK};
    empty.touches.data = a->touches.data, empty.touches.capacity = a->touches.capacity;
    empty.aheads = a->aheads;
    *a = empty;
    a->events.count = a->segments.items.count = a->segments.bodies.count = a->segments.numbers.count = 0;
}

bool run_reserve_accounts(abut_sim *run, int64_t count) {
    if (!array_reserve(&run->context, &run->accounts, count)) return false;
    for (; run->accounts.count < count; run->accounts.count++)
        run->accounts.data[run->accounts.count] = (run_account){.status = ABUT_OK};
    return true;
}

static void lane_free(abut_sim *run, run_lane *lane) {
    arena_free(&lane->scratch);
    abut_lcp_solver_destroy(lane->lcp);
    mem_free(&run->context, lane->local_of, (size_t)run->model->body_count + 1, sizeof *lane->local_of);
    mem_free(&run->context, lane, 1, sizeof *lane);
}

static run_lane *make_lane(abut_sim *run) {
    run_lane *lane = mem_calloc(&run->context, 1, sizeof *lane);
    if (!lane) return NULL;
    arena_init(&lane->scratch, &run->context);
    lane->lcp = abut_lcp_solver_create(&run->context);
    lane->local_of = mem_alloc(&run->context, (size_t)run->model->body_count + 1, sizeof *lane->local_of);
    if (!lane->lcp || !lane->local_of) {
        lane_free(run, lane);
        return NULL;
    }
    for (int i = 0; i <= run->model->body_count; i++) lane->local_of[i] = -1;
    return lane;
}

bool run_reserve_lanes(abut_sim *run, int64_t count) {
    if (!array_reserve(&run->context, &run->lanes, count)) return false;
    while (run->lanes.count < count) {
        run_lane *lane = make_lane(run);
        if (!lane) return false;
        run->lanes.data[run->lanes.count++] = lane;
    }
    return true;
}

static bool add_account(abut_sim *run, const run_account *a) {
    for (int64_t i = 0; i < a->events.count; i++)
        if (!array_push(&run->context, &run->events, a->events.data[i])) return false;
    if (!run_reserve_touches(run, run->state->touch_count + (int)a->touches.count)) return false;
    run_state *s = run->state;
    for (int64_t i = 0; i < a->touches.count; i++) run_touches(s)[s->touch_count++] = a->touches.data[i];
    s->dissipated += a->dissipated, s->work += a->work, s->numerical += a->numerical;
    s->steps += a->steps, run->evaluations += a->evaluations;
    s->deepest_overlap = fmax(s->deepest_overlap, a->deepest_overlap);
    s->residual = fmax(s->residual, a->residual);
    s->constraint_error = fmax(s->constraint_error, a->constraint_error);
    s->momentum_error = fmax(s->momentum_error, a->momentum_error);
    return true;
}

/* The notice of the first storm of a run: the earliest of the frame. */
static void tell_storm(abut_sim *run) {
    const run_account *first = NULL;
    for (int64_t i = 0; i < run->account_count; i++) {
        const run_account *a = &run->accounts.data[i];
        if (a->storms > 0 && (!first || a->first_storm < first->first_storm)) first = a;
    }
    if (!first || run->state->storms > 0 || run->told_storm) return;
    run->told_storm = true;
    int who = first->storm_body;
    log_write(
        &run->context, ABUT_LOG_INFO,
        "notice: at t = %.9g s events come too thick around `%s`: it and what it touches are stepped in "
        "time for a while, to first order; the summary says for how long in all",
        first->first_storm, run->model->bodies[who].name);
}

/* The first contradiction of hinges in a run (Baraff 1989, appendix B). */
static void tell_contradiction(abut_sim *run) {
    const run_account *first = NULL;
    for (int64_t i = 0; i < run->account_count; i++) {
        const run_account *a = &run->accounts.data[i];
        if (a->contradicts > 0 && (!first || a->contradicts_at < first->contradicts_at)) first = a;
    }
    if (!first || run->told_contradiction) return;
    run->told_contradiction = true;
    const hinge *h = &run->model->hinges[first->contradicts - 1].h;
    log_write(
        &run->context, ABUT_LOG_WARNING,
        "notice: at t = %.9g s hinges contradict each other: hinge %d, of `%s` and %s, misses most; the "
        "motion is that of least squares. Take one away, or give its motor a max_force",
        first->contradicts_at, first->contradicts, run->model->bodies[h->a].name,
        h->b >= 0 ? run->model->bodies[h->b].name : "the ground");
}

/* The first restitution of a run that no impulses give. */
static void tell_denied(abut_sim *run) {
    const run_account *first = NULL;
    for (int64_t i = 0; i < run->account_count; i++) {
        const run_account *a = &run->accounts.data[i];
        if (a->denied_scale > 0 && (!first || a->denied_at < first->denied_at)) first = a;
    }
    if (!first || run->told_denied) return;
    run->told_denied = true;
    log_write(&run->context, ABUT_LOG_INFO,
              "notice: at t = %.9g s no impulses give `%s` and `%s` their restitution, because hinges or "
              "other contacts leave no room for it: it is %.3g of what it should be",
              first->denied_at, run->model->bodies[first->denied[0]].name,
              run->model->bodies[first->denied[1]].name, first->denied_scale - 1);
}

/* Velocities at the start that the hinges do not allow: the one that is changed most. */
static void tell_misfit(abut_sim *run) {
    const run_account *most = NULL;
    for (int64_t i = 0; i < run->account_count; i++) {
        const run_account *a = &run->accounts.data[i];
        if (a->misfit > 0 && (!most || a->misfit > most->misfit)) most = a;
    }
    if (!most || run->told_misfit) return;
    run->told_misfit = true;
    log_write(&run->context, ABUT_LOG_INFO,
              "notice: hinges do not allow the velocities of the start: that of body `%s` is changed by %.3g "
              "m/s, as by a blow; give bodies on hinges velocities that go together",
              run->model->bodies[most->misfit_body].name, most->misfit);
}

/* Groups that are stepped at the same time count once. */
static void add_storms(abut_sim *run) {
    run_state *s = run->state;
    double longest = 0;
    tell_storm(run);
    for (int64_t i = 0; i < run->account_count; i++) {
        const run_account *a = &run->accounts.data[i];
        s->storms += a->storms, s->time_steps += a->time_steps;
        longest = fmax(longest, a->time_stepped);
    }
    s->time_stepped += longest;
}

abut_status run_add_accounts(abut_sim *run, abut_error *error) {
    for (int64_t i = 0; i < run->account_count; i++) {
        const run_account *a = &run->accounts.data[i];
        if (a->status == ABUT_OK) continue;
        if (error) *error = a->error;
        return a->status;
    }
    for (int64_t i = 0; i < run->account_count; i++)
        if (!add_account(run, &run->accounts.data[i])) return fail_memory(error);
    add_storms(run);
    tell_contradiction(run);
    tell_denied(run);
    tell_misfit(run);
    return ABUT_OK;
}

/* ---- steps beyond the frame */

static void drop_aheads(ahead_array *list) {
    for (int64_t i = 0; i < list->count; i++) rolling_free(list->data[i].made);
    list->count = 0;
}

void run_drop_aheads(abut_sim *run) {
    drop_aheads(&run->aheads);
    run->state->ahead_count = 0;
}

abut_status run_take_aheads(abut_sim *run, abut_error *error) {
    run_drop_aheads(run);
    for (int64_t i = 0; i < run->account_count; i++) {
        ahead_array *list = &run->accounts.data[i].aheads;
        if (!array_reserve(&run->context, &run->aheads, run->aheads.count + list->count))
            return fail_memory(error);
        for (int64_t k = 0; k < list->count; k++) run->aheads.data[run->aheads.count++] = list->data[k];
        list->count = 0;
    }
    run->state->ahead_count = run->aheads.count;
    return ABUT_OK;
}

void run_clear_accounts(abut_sim *run) {
    for (int64_t i = 0; i < run->accounts.count; i++) drop_aheads(&run->accounts.data[i].aheads);
    run->events.count = run->account_count = 0;
}

void run_accounts_free(abut_sim *run) {
    const abut_context *context = &run->context;
    run_clear_accounts(run);
    drop_aheads(&run->aheads);
    array_free(context, &run->aheads);
    for (int64_t i = 0; i < run->accounts.count; i++) {
        run_account *a = &run->accounts.data[i];
        array_free(context, &a->events), array_free(context, &a->touches), array_free(context, &a->aheads);
        array_free(context, &a->segments.items);
        array_free(context, &a->segments.bodies), array_free(context, &a->segments.numbers);
    }
    array_free(context, &run->accounts);
    for (int64_t i = 0; i < run->lanes.count; i++) lane_free(run, run->lanes.data[i]);
    array_free(context, &run->lanes);
    array_free(context, &run->events);
}
