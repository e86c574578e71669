/* The audit of overlap at the end of a frame, over all pairs of bodies that are near, not only over the
 * contacts that the clock knows of: a collision that it missed must not be called a kept promise.
 *
 * It looks with the contact regions and the index, as the start checks do (start.h), at the pairs of which
 * one has moved since the last look.  The contacts themselves are audited to the last digit where they are
 * followed; here only what is deeper than MISSED epsilon counts, so that rounding in another method is no
 * finding. */
#include "sim/start.h"

enum { MISSED = 10 };

struct run_auditor {
    checker checker;
    motion *seen; /* of every body, at the last look */
    bool looked;
    start_pairs pairs;
};

static bool has_moved(const struct run_auditor *u, const motion *now, int body) {
    return !u->looked || memcmp(&u->seen[body].center, &now[body].center, sizeof(vec3)) != 0 ||
           memcmp(&u->seen[body].rotation, &now[body].rotation, sizeof(quat)) != 0;
}

static bool is_smooth(const abut_model *m, int body) {
    return m->bodies[body].shape.shape.kind == ABUT_SHAPE_SURFACE;
}

static struct run_auditor *make_auditor(abut_sim *run) {
    struct run_auditor *u = mem_calloc(&run->context, 1, sizeof *u);
    motion *seen = u ? mem_calloc(&run->context, (size_t)run->model->body_count + 1, sizeof *seen) : NULL;
    if (!seen) {
        mem_free(&run->context, u, 1, sizeof *u);
        return NULL;
    }
    u->checker = start_checker(run->model), u->seen = seen;
    return u;
}

void run_auditor_free(abut_sim *run) {
    struct run_auditor *u = run->auditor;
    if (!u) return;
    start_checker_free(&u->checker);
    array_free(&run->context, &u->pairs);
    mem_free(&run->context, u->seen, (size_t)run->model->body_count + 1, sizeof *u->seen);
    mem_free(&run->context, u, 1, sizeof *u);
    run->auditor = NULL;
}

static abut_status depth_of(struct run_auditor *u, int a, int b, double *depth) {
    const abut_model *m = u->checker.model;
    double least = MISSED * m->tolerance.touching;
    vec3 at, away = vec3_zero();
    if (is_smooth(m, a)) return audit_smooth_depth(&u->checker, a, b, least, depth, NULL);
    if (is_smooth(m, b)) return audit_smooth_depth(&u->checker, b, a, least, depth, NULL);
    return start_depth(&u->checker, a, b, depth, &at, &away, NULL);
}

/* The auditor, with the pairs that are near now; NULL: out of memory. */
static struct run_auditor *look(abut_sim *run) {
    if (!run->auditor && !(run->auditor = make_auditor(run))) return NULL;
    run->auditor->checker.now = run_motions(run->state);
    return start_near_pairs(&run->auditor->checker, &run->auditor->pairs) ? run->auditor : NULL;
}

abut_status run_find_overlap(abut_sim *run, const bool *moved, start_pair *pair, double *depth,
                             abut_error *error) {
    struct run_auditor *u = look(run);
    *depth = 0;
    if (!u) return fail_memory(error);
    for (int64_t i = 0; i < u->pairs.count && !(*depth > 0); i++) {
        *pair = u->pairs.data[i];
        if (!moved[pair->a] && !moved[pair->b]) continue;
        if (depth_of(u, pair->a, pair->b, depth) == ABUT_NO_MEMORY) return fail_memory(error);
    }
    return ABUT_OK;
}

abut_status run_audit_overlap(abut_sim *run, abut_error *error) {
    const abut_model *m = run->model;
    const motion *now = run_motions(run->state);
    struct run_auditor *u = look(run);
    if (!u) return fail_memory(error);
    for (int64_t i = 0; i < u->pairs.count; i++) {
        int a = u->pairs.data[i].a, b = u->pairs.data[i].b;
        if (!m->bodies[a].movable && !m->bodies[b].movable) continue;
        if (!has_moved(u, now, a) && !has_moved(u, now, b)) continue;
        double depth = 0;
        abut_status status = depth_of(u, a, b, &depth);
        if (status == ABUT_NO_MEMORY) return fail_memory(error);
        if (status != ABUT_OK) continue; /* no regions for this pose: no reason to end the run */
        if (depth > MISSED * m->tolerance.touching && depth > run->state->deepest_overlap)
            run->state->deepest_overlap = depth;
    }
    memcpy(u->seen, now, (size_t)m->body_count * sizeof *u->seen);
    u->looked = true;
    return ABUT_OK;
}
