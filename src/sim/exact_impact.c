/* Impacts: one problem over the whole group, hinges included; and impulses without impact where no finite
 * force exists. */
#include "sim/exact.h"

/* Rounds of an impact in time steps, where blows that follow each other within a step are one: half of them
 * keep the restitution. */
enum { STEPPED_ROUNDS = 6 };

/* One event for each pair of bodies that received an impulse: impulses added, at the point that received
 * most. */
static abut_status report(exact *x, const contact_impulse *impulses, const impact_result *result,
                          bool without, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    size_t n = (size_t)x->contacts.count;
    bool *said = arena_alloc(x->arena, n ? n : 1, sizeof *said);
    if (!said) return fail_memory(error);
    abut_status status = ABUT_OK;
    for (size_t i = 0; i < n && status == ABUT_OK; i++) {
        const group_contact *c = &x->contacts.data[i];
        if (said[i]) continue;
        vec3 total = vec3_zero();
        size_t strongest = i;
        int count = 1;
        for (size_t k = i; k < n; k++) {
            const group_contact *d = &x->contacts.data[k];
            if (d->a != c->a || d->b != c->b) continue;
            said[k] = true;
            total = vec3_add(total, vec3_axpy(impulses[k].friction, impulses[k].normal, d->point.normal));
            if (impulses[k].normal > impulses[strongest].normal) strongest = k;
            if (x->touches.data[k].bounces > count) count = x->touches.data[k].bounces;
            x->touches.data[k].bounces = 0;
        }
        if (!(impulses[strongest].normal > 0)) continue;
        abut_event e = exact_contact_event(x, without ? ABUT_EVENT_IMPULSE_WITHOUT_IMPACT : ABUT_EVENT_IMPACT,
                                           (int)strongest);
        e.impulse = total, e.count = count, e.energy_before = result->energy_before,
        e.energy_after = result->energy_after;
        status = exact_emit(x, e, error);
    }
    arena_restore(x->arena, mark);
    return status;
}

/* Limits that were reached at this instant have been told before the blow there was known. */
static void complete_limits(exact *x, const double *row_impulses, const impact_result *result) {
    for (int64_t k = x->account->events.count - 1; k >= 0; k--) {
        abut_event *e = &x->account->events.data[k];
        if (e->time != x->time - x->late) return;
        if (e->kind != ABUT_EVENT_LIMIT || e->energy_before > 0) continue;
        e->energy_before = result->energy_before, e->energy_after = result->energy_after;
        for (int i = 0; i < x->row_count; i++) {
            const row *r = &x->rows[i];
            if (x->row_kinds[i] != ROW_LIMIT || x->hinges[x->row_hinge[i]] != e->entity[0].id) continue;
            vec3 push = r->a >= 0 ? r->ja.linear : vec3_neg(r->jb.linear);
            e->impulse = vec3_axpy(e->impulse, row_impulses[i], push);
        }
    }
}

double exact_approach(const exact *x) {
    double fastest = 0;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        fastest = fmax(fastest, -exact_gap_rate(x, c->a, c->b, &c->point));
    }
    for (int i = 0; i < x->row_count; i++) {
        const row *r = &x->rows[i];
        if (x->row_kinds[i] != ROW_LIMIT) continue;
        double rate = 0;
        if (r->a >= 0) rate += spatial_dot(r->ja, x->motions[r->a].velocity);
        if (r->b >= 0) rate += spatial_dot(r->jb, x->motions[r->b].velocity);
        fastest = fmax(fastest, r->rate - rate);
    }
    return fastest;
}

double exact_approach_limit(const exact *x) { return 1e-9 * (1 + x->speed); }

/* The audit of momentum: for every body m (v+ - v-) is the sum of the impulses that are reported for it,
 * those of contacts and of hinge rows; the largest difference, relative to the momentum that is exchanged or
 * there. */
static void audit_momentum(exact *x, const spatial *after, const contact_impulse *impulses,
                           const double *row_impulses) {
    double size = 0, worst = 0;
    for (int i = 0; i < x->movable; i++) {
        double m = x->inertias[i].mass;
        vec3 change = vec3_scale(vec3_sub(after[i].linear, x->motions[i].velocity.linear), m),
             sum = vec3_zero();
        size += m * vec3_length(x->motions[i].velocity.linear);
        for (int64_t k = 0; k < x->contacts.count; k++) {
            const group_contact *c = &x->contacts.data[k];
            if (c->a != i && c->b != i) continue;
            vec3 j = vec3_axpy(impulses[k].friction, impulses[k].normal, c->point.normal);
            sum = vec3_axpy(sum, c->a == i ? 1 : -1, j), size += vec3_length(j);
        }
        for (int k = 0; k < x->row_count; k++) {
            const row *r = &x->rows[k];
            if (r->a == i) sum = vec3_axpy(sum, row_impulses[k], r->ja.linear);
            if (r->b == i) sum = vec3_axpy(sum, row_impulses[k], r->jb.linear);
        }
        worst = fmax(worst, vec3_length(vec3_sub(change, sum)));
    }
    double *error = &x->account->momentum_error;
    if (size > 0) *error = fmax(*error, worst / size);
}

abut_status exact_check_finite(const exact *x, const twist *velocities, const char *what, abut_error *error) {
    for (int i = 0; i < x->movable; i++)
        if (!vec3_is_finite(velocities[i].linear) || !vec3_is_finite(velocities[i].angular))
            return fail(error, ABUT_FAILED,
                        "%s at t = %.9g gave body `%s` a velocity that is not finite; use smaller masses and "
                        "speeds, or report this scene",
                        what, x->time, x->model->bodies[x->bodies[i]].name);
    return ABUT_OK;
}

/* The first impact of the frame whose restitution no impulses give: it is told. */
static void note_denied(exact *x, const impact_result *result) {
    run_account *a = x->account;
    double most = 0;
    if (!result->restitution_denied || a->denied_scale > 0) return;
    a->denied_scale = 1 + result->restitution_scale, a->denied_at = x->time;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        double v = c->restitution > 0 ? -exact_gap_rate(x, c->a, c->b, &c->point) : 0;
        if (v > most) most = v, a->denied[0] = x->bodies[c->a], a->denied[1] = x->bodies[c->b];
    }
}

abut_status exact_impact(exact *x, bool without_impact, bool *happened, abut_error *error) {
    double powers[2];
    *happened = false;
    abut_status status = exact_prepare(x, x->time, powers, error);
    if (status != ABUT_OK) return status;
    if (!without_impact && exact_approach(x) <= exact_approach_limit(x)) return ABUT_OK;
    group g = exact_group(x);
    impact_config config = impact_default_config();
    config.model = x->model->world.impact, config.law = x->model->world.restitution_law;
    config.rest_speed = x->model->tolerance.rest_speed;
    config.without_impact = without_impact;
    if (x->pace.steps_left > 0 && config.model != ABUT_PROPAGATION) config.budget = STEPPED_ROUNDS;
    arena_mark mark = arena_save(x->arena);
    size_t n = (size_t)x->contacts.count;
    spatial *velocities = arena_alloc(x->arena, (size_t)x->count, sizeof *velocities);
    contact_impulse *impulses = arena_alloc(x->arena, n ? n : 1, sizeof *impulses);
    double *row_impulses = arena_alloc(x->arena, (size_t)x->row_count + 1, sizeof *row_impulses);
    impact_result result = {.rounds = 0};
    if (!velocities || !impulses || !row_impulses) return fail_memory(error);
    status = impact_solve(&g, &config, &x->scratch, velocities, impulses, row_impulses, &result, error);
    if (status == ABUT_OK) status = exact_check_finite(x, velocities, "an impact", error);
    if ((status == ABUT_OK || status == ABUT_FAILED) && result.outcome != IMPACT_SOLVED) {
        abut_status jam = exact_look_for_jam(x, x->time, result.outcome != IMPACT_INCONSISTENT, error);
        if (jam != ABUT_OK) status = jam;
    }
    if (status == ABUT_OK) {
        *happened = true;
        audit_momentum(x, velocities, impulses, row_impulses);
        note_denied(x, &result);
        for (int i = 0; i < x->movable; i++) x->motions[i].velocity = velocities[i];
        double lost = result.energy_before - result.energy_after;
        /* a kinematic body can give energy to those it meets */
        if (lost >= 0)
            x->account->dissipated += lost;
        else
            x->account->work -= lost;
        complete_limits(x, row_impulses, &result);
        status = report(x, impulses, &result, without_impact, error);
    }
    arena_restore(x->arena, mark);
    return status;
}
