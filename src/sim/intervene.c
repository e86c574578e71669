/* Interventions: what a caller does to bodies between two advances: it puts them elsewhere, gives them other
 * velocities, or strikes them.
 *
 *   energy    what the change gives or takes is work of the caller, and in the books as such
 *   contacts  a body that was put elsewhere has lost those it had; what touches now, and who runs into whom,
 *             is found as at the start of a run
 *   sleep     who rested on the body, or beside it in its island, is awake
 *
 * It may also tell events of its own.  Where a call fails, motions, contacts and books are as before. */
#include "sim/exact.h"
#include "sim/live.h"
#include "sim/start.h"

static const char *name_of(const abut_sim *run, int body) { return run->model->bodies[body].name; }

static bool all_finite(const abut_motion *m) {
    return vec3_is_finite(m->center) && vec3_is_finite(m->velocity) && vec3_is_finite(m->spin) &&
           isfinite(m->rotation.w + m->rotation.x + m->rotation.y + m->rotation.z);
}

static abut_status check_body(const abut_sim *run, int body, abut_error *error) {
    if (body < 0 || body >= run->model->body_count)
        return fail(error, ABUT_INVALID, "there is no body %d; the run has bodies 0 to %d", body,
                    run->model->body_count - 1);
    if (!run->model->bodies[body].movable)
        return fail(error, ABUT_INVALID,
                    "`%s` is fixed or kinematic and cannot be moved from outside; give it a `motion`",
                    name_of(run, body));
    return ABUT_OK;
}

/* ---- what the new poses must not do in the exact clock */

static abut_status check_overlaps(abut_sim *run, const bool *moved, abut_error *error) {
    start_pair p;
    double depth;
    abut_status status = run_find_overlap(run, moved, &p, &depth, error);
    if (status != ABUT_OK || !(depth > 0)) return status;
    return fail(error, ABUT_INVALID,
                "`%s` would overlap `%s` by %.3g m; put it where it is free, or use the live clock",
                name_of(run, p.a), name_of(run, p.b), depth);
}

static bool holds_moved(const hinge *h, const bool *moved) {
    return (h->a >= 0 && moved[h->a]) || (h->b >= 0 && moved[h->b]);
}

/* Hinges of moved bodies: their coordinates now, and whether they are closed. */
static abut_status renew_hinges(abut_sim *run, const bool *moved, abut_error *error) {
    motion *motions = run_motions(run->state);
    for (int i = 0; i < run->model->hinge_count; i++) {
        const hinge *h = &run->model->hinges[i].h;
        hinge_memory *memory = &run_hinges(run->state)[i];
        if (memory->broken || !holds_moved(h, moved)) continue;
        const motion *a = &motions[h->a], *b = h->b < 0 ? NULL : &motions[h->b];
        row rows[HINGE_MAX_ROWS], free;
        double value, rate, missed = 0;
        if (hinge_coordinate(h, a, b, memory->coordinate, &value, &rate, &free)) memory->coordinate = value;
        memory->at_limit = 0;
        int count = hinge_rows(h, a, b, memory->coordinate, rows);
        for (int k = 0; k < count; k++) missed = fmax(missed, fabs(rows[k].error));
        if (!run->live && missed > run->model->tolerance.touching)
            return fail(
                error, ABUT_INVALID,
                "the hinge between `%s` and %s%s%s would be off by %.3g; move all that hangs together "
                "in one call, or use the live clock",
                name_of(run, h->a), h->b < 0 ? "the ground" : "`", h->b < 0 ? "" : name_of(run, h->b),
                h->b < 0 ? "" : "`", missed);
    }
    return ABUT_OK;
}

/* ---- memory of contacts and rest */

/* An event at the present time. */
static abut_status tell(abut_sim *run, abut_event e, abut_error *error) {
    e.time = run->state->time, e.sequence = run->state->sequence++, e.count = 1;
    run->state->events[e.kind]++;
    if (run->options.event && !run->options.event(run->options.user, &e))
        return fail(error, ABUT_CANCELLED, "stopped at t = %.9g", e.time);
    return ABUT_OK;
}

/* Tells the pairs that are lost, each once. */
static abut_status tell_lost_pairs(abut_sim *run, const bool *placed, abut_error *error) {
    const touch *touches = run_touches(run->state);
    abut_status status = ABUT_OK;
    for (int i = 0; i < run->state->touch_count && status == ABUT_OK; i++) {
        const touch *t = &touches[i];
        bool due = t->made_at == 0 && (placed[t->a] || placed[t->b]);
        for (int k = 0; k < i && due; k++)
            due = touches[k].a != t->a || touches[k].b != t->b || touches[k].made_at != 0;
        if (due)
            status = tell(run, (abut_event){.kind = ABUT_EVENT_CONTACT_LOST, .body = {t->a, t->b}}, error);
    }
    return status;
}

/* Contacts of bodies that were put elsewhere are gone; those of bodies that only got another velocity stay,
 * without an anchor that would hold them.  Who rested on a moved body does so no longer. */
static void renew_touches(abut_sim *run, const bool *moved, const bool *placed) {
    run_state *s = run->state;
    touch *touches = run_touches(s);
    int count = 0;
    for (int i = 0; i < s->touch_count; i++) {
        touch t = touches[i];
        if (moved[t.a] || moved[t.b]) {
            run_paces(s)[t.a] = run_paces(s)[t.b] = (step_pace){0};
            t.anchored = t.rolls = 0;
        }
        if (!placed[t.a] && !placed[t.b]) touches[count++] = t;
    }
    s->touch_count = count;
}

static void wake(live *w, const bool *moved) {
    for (int i = 0; i < w->bodies; i++) {
        int island = moved[i] ? w->rests[i].island : -1;
        for (int k = 0; k < w->bodies && moved[i]; k++)
            if (k == i || (island >= 0 && w->rests[k].island == island))
                w->rests[k].asleep = 0, w->rests[k].still = 0;
    }
}

/* ---- the calls */

/* The motions are in the state: everything else follows. */
static abut_status renew(abut_sim *run, const bool *moved, const bool *placed, double energy_before,
                         abut_error *error) {
    run_state *s = run->state;
    abut_status status = renew_hinges(run, moved, error);
    if (status == ABUT_OK && !run->live) status = check_overlaps(run, placed, error);
    if (status != ABUT_OK) return status;
    abut_energy e = run_energy(run);
    s->work += e.kinetic + e.potential - energy_before;
    if (run->live) {
        wake(run->live, moved);
        return ABUT_OK;
    }
    run_drop_aheads(run);
    s->ahead_count = 0;
    for (int i = 0; i < run->model->body_count; i++)
        if (moved[i]) run_paces(s)[i] = (step_pace){0};
    status = tell_lost_pairs(run, placed, error);
    if (status != ABUT_OK) return status;
    renew_touches(run, moved, placed);
    run->started = false;
    status = exact_frame(run, s->time, error);
    run->started = true;
    return status == ABUT_OK ? run_deliver(run, error) : status;
}

static void put_back(abut_sim *run, const run_state *before, uint64_t bytes) {
    int capacity = run->state->touch_capacity;
    memcpy(run->state, before, bytes);
    run->state->touch_capacity = capacity, run->state->bytes = run->state_bytes;
    run->state->ahead_count = run->aheads.count;
}

static abut_status set_motion(abut_sim *run, int body, const abut_motion *to, bool *moved, bool *placed,
                              abut_error *error) {
    abut_status status = check_body(run, body, error);
    if (status != ABUT_OK) return status;
    quat q = to->rotation;
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!all_finite(to) || !(length > 0) || !isfinite(length))
        return fail(error, ABUT_INVALID, "the new motion of `%s` is not finite, or its rotation is zero",
                    name_of(run, body));
    motion *m = &run_motions(run->state)[body];
    bool same = memcmp(&m->center, &to->center, sizeof m->center) == 0 &&
                memcmp(&m->rotation, &to->rotation, sizeof m->rotation) == 0;
    m->center = to->center;
    if (!same) m->rotation = quat_unit(q);
    m->velocity = (spatial){.linear = to->velocity, .angular = to->spin};
    moved[body] = true, placed[body] |= !same;
    return ABUT_OK;
}

abut_status abut_sim_set_motions(abut_sim *run, int count, const int *bodies, const abut_motion *motions,
                                 abut_error *error) {
    size_t n = (size_t)run->model->body_count + 1;
    uint64_t bytes = run->state_bytes;
    bool *moved = mem_calloc(&run->context, 2 * n, sizeof *moved), *placed = moved + n;
    run_state *before = mem_alloc(&run->context, 1, bytes);
    abut_status status = moved && before ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) {
        abut_energy e = run_energy(run);
        memcpy(before, run->state, bytes);
        for (int i = 0; i < count && status == ABUT_OK; i++)
            status = set_motion(run, bodies[i], &motions[i], moved, placed, error);
        if (status == ABUT_OK) status = renew(run, moved, placed, e.kinetic + e.potential, error);
        if (status != ABUT_OK && status != ABUT_CANCELLED) put_back(run, before, bytes);
    }
    mem_free(&run->context, before, 1, bytes);
    mem_free(&run->context, moved, 2 * n, sizeof *moved);
    return status;
}

/* v += J / m,  w += I^-1 (r x J) */
abut_status abut_sim_strike(abut_sim *run, int body, abut_vec3 impulse, abut_vec3 at, abut_error *error) {
    abut_status status = check_body(run, body, error);
    if (status != ABUT_OK) return status;
    const motion *m = &run_motions(run->state)[body];
    const body_inertia *inertia = &run->model->bodies[body].inertia;
    vec3 turn = vec3_cross(vec3_sub(at, m->center), impulse);
    abut_motion to = abut_sim_motion(run, body);
    to.velocity = vec3_axpy(to.velocity, 1 / inertia->mass, impulse);
    to.spin = vec3_add(to.spin, mat3_mul_vec(body_inverse_inertia(inertia, m->rotation), turn));
    return abut_sim_set_motions(run, 1, &body, &to, error);
}

abut_status abut_sim_tell(abut_sim *run, const abut_event *event, abut_error *error) {
    for (int i = 0; i < 2; i++)
        if (event->body[i] < -1 || event->body[i] >= run->model->body_count)
            return fail(error, ABUT_INVALID,
                        "there is no body %d; the run has bodies 0 to %d, and -1 is none", event->body[i],
                        run->model->body_count - 1);
    if (!vec3_is_finite(event->point) || !vec3_is_finite(event->normal) || !vec3_is_finite(event->impulse) ||
        !isfinite(event->energy_before) || !isfinite(event->energy_after))
        return fail(error, ABUT_INVALID, "a number of the event is not finite");
    abut_event e = *event;
    e.kind = ABUT_EVENT_USER;
    return tell(run, e, error);
}
