/* Switching a run between the two clocks, between two steps.
 *
 *   exact to live   the motions go on as they are; contacts are found in the next step
 *   live to exact   the live clock leaves bodies overlapping a little, which the exact one does not allow:
 * they are pushed apart first (abut_model_separate, at the present poses), then contacts and impacts are
 * found as at the start of a run */
#include "sim/exact.h"
#include "sim/live.h"

/* Shifts that free the bodies of each other where they are now. */
static abut_status push_apart(abut_sim *run, abut_error *error) {
    abut_model now = *run->model; /* with the present motions as its start */
    size_t n = (size_t)now.body_count;
    motion *motions = run_motions(run->state);
    now.bodies = mem_alloc(&run->context, n, sizeof *now.bodies);
    vec3 *shifts = mem_calloc(&run->context, n, sizeof *shifts);
    abut_status status = now.bodies && shifts ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) {
        memcpy(now.bodies, run->model->bodies, n * sizeof *now.bodies);
        for (size_t i = 0; i < n; i++) now.bodies[i].start = motions[i];
        status = abut_model_separate(&now, shifts, error);
    }
    for (size_t i = 0; i < n && status == ABUT_OK; i++)
        motions[i].center = vec3_add(motions[i].center, shifts[i]);
    mem_free(&run->context, shifts, n, sizeof *shifts);
    mem_free(&run->context, now.bodies, n, sizeof *now.bodies);
    return status;
}

static abut_status go_live(abut_sim *run, abut_error *error) {
    abut_status status = live_create(run, error);
    if (status != ABUT_OK) {
        live_free(run->live);
        run->live = NULL;
        return status;
    }
    run->live->motions = run_motions(run->state);
    run->state->touch_count = 0;
    run_drop_aheads(run);
    return ABUT_OK;
}

static abut_status go_exact(abut_sim *run, abut_error *error) {
    abut_status status = model_check_pairs(run->model, error);
    if (status == ABUT_OK) status = push_apart(run, error);
    if (status != ABUT_OK) return status;
    live_free(run->live);
    run->live = NULL;
    run_state *s = run->state;
    s->touch_count = 0;
    for (int i = 0; i < run->model->hinge_count; i++) run_hinges(s)[i].at_limit = 0;
    s->deepest_overlap = s->residual = s->constraint_error = s->energy_error = 0;
    run_clear_accounts(run);
    abut_energy e = run_energy(run);
    s->dissipated = s->start_energy + s->work - e.kinetic - e.potential;
    status = exact_frame(run, s->time, error);
    return status == ABUT_OK ? run_deliver(run, error) : status;
}

abut_status abut_sim_set_mode(abut_sim *run, abut_mode mode, abut_error *error) {
    if ((mode == ABUT_LIVE) == (run->live != NULL)) return ABUT_OK;
    return mode == ABUT_LIVE ? go_live(run, error) : go_exact(run, error);
}

abut_mode abut_sim_mode(const abut_sim *run) { return run->live ? ABUT_LIVE : ABUT_EXACT; }
