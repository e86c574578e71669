/* Runs: the state block, hooks, energy, audit, snapshots. */
#include "sim/run.h"

#include "sim/exact.h"
#include "sim/live.h"

#include <float.h>
#include <stdio.h>

static const char *const event_names[] = {
#define NAME(name, word) word,
    ABUT_EVENT_LIST(NAME)
#undef NAME
};

const char *abut_event_name(abut_event_kind kind) {
    return (unsigned)kind < (unsigned)ABUT_EVENT_KINDS ? event_names[kind] : "unknown";
}

const char *abut_entity_name(abut_entity_kind kind) {
    static const char *const names[] = {"none", "vertex", "edge", "face", "smooth", "hinge"};
    return (unsigned)kind < (unsigned)COUNT_OF(names) ? names[kind] : "unknown";
}

/* ---- the state block */

static uint64_t block_bytes(const abut_model *m, int touch_capacity) {
    return sizeof(run_state) + (uint64_t)m->body_count * (sizeof(motion) + sizeof(step_pace)) +
           (uint64_t)m->hinge_count * sizeof(hinge_memory) + (uint64_t)m->watch_count * sizeof(watch_memory) +
           (uint64_t)touch_capacity * sizeof(touch);
}

bool run_reserve_touches(abut_sim *run, int count) {
    int capacity = run->state ? run->state->touch_capacity : 0;
    if (run->state && count <= capacity) return true;
    capacity = capacity + capacity / 2 + 16 > count ? capacity + capacity / 2 + 16 : count;
    uint64_t bytes = block_bytes(run->model, capacity);
    run_state *state = mem_calloc(&run->context, 1, bytes), *saved = mem_calloc(&run->context, 1, bytes);
    if (!state || !saved) {
        mem_free(&run->context, state, 1, bytes);
        mem_free(&run->context, saved, 1, bytes);
        return false;
    }
    if (run->state) {
        memcpy(state, run->state, run->state_bytes);
        memcpy(saved, run->saved, run->state_bytes);
    }
    mem_free(&run->context, run->state, run->state_bytes, 1);
    mem_free(&run->context, run->saved, run->state_bytes, 1);
    run->state = state, run->saved = saved, run->state_bytes = bytes;
    state->touch_capacity = saved->touch_capacity = capacity;
    state->bytes = saved->bytes = bytes;
    return true;
}

/* What the state depends on, so that a snapshot of another scene is refused. */
static uint64_t model_hash(const abut_model *m) {
    uint64_t h = hash64(&m->world.gravity, sizeof m->world.gravity, 11);
    for (int i = 0; i < m->body_count; i++) {
        const model_body *b = &m->bodies[i];
        h = hash64(b->name, strlen(b->name), h);
        h = hash64(&b->inertia.mass, sizeof b->inertia.mass, h);
        h = hash64(&b->start.center, sizeof b->start.center, h);
    }
    h = hash64(&m->hinge_count, sizeof m->hinge_count, h);
    return hash64(&m->watch_count, sizeof m->watch_count, h);
}

/* ---- telling what happened */

static int by_time(const void *user, const void *a, const void *b) {
    (void)user;
    const abut_event *e = a, *f = b;
    return e->time < f->time ? -1 : e->time > f->time;
}

/* Groups are moved one after the other: their events are merged by time, those of one group keep their order.
 */
static abut_status deliver_events(abut_sim *run, abut_error *error) {
    event_array *events = &run->events;
    bool sorted = true;
    for (int64_t i = 1; i < events->count && sorted; i++)
        sorted = events->data[i - 1].time <= events->data[i].time;
    if (!sorted &&
        !sort_stable(&run->context, events->data, (size_t)events->count, sizeof *events->data, by_time, NULL))
        return fail_memory(error);
    for (int64_t i = 0; i < events->count; i++) {
        abut_event *e = &events->data[i];
        e->sequence = run->state->sequence++;
        run->state->events[e->kind]++;
        if (run->options.event && !run->options.event(run->options.user, e))
            return fail(error, ABUT_CANCELLED, "stopped at t = %.9g", e->time);
    }
    return ABUT_OK;
}

static abut_status deliver_segments(abut_sim *run, abut_error *error) {
    for (int64_t a = 0; a < run->account_count && run->options.segment; a++) {
        const segment_list *list = &run->accounts.data[a].segments;
        for (int64_t i = 0; i < list->items.count; i++) {
            const kept_segment *k = &list->items.data[i];
            if (k->again) continue;
            abut_segment s = {.start = k->start,
                              .end = k->end,
                              .step = k->step,
                              .body_count = (int)k->body_count,
                              .bodies = list->bodies.data + k->first_body,
                              .coefficients = list->numbers.data + k->first_number};
            if (!run->options.segment(run->options.user, &s))
                return fail(error, ABUT_CANCELLED, "stopped at t = %.9g", k->end);
        }
    }
    return ABUT_OK;
}

abut_status run_deliver(abut_sim *run, abut_error *error) {
    abut_status status = deliver_segments(run, error);
    return status == ABUT_OK ? deliver_events(run, error) : status;
}

/* ---- creation */

/* A run with the state of time 0, whose contacts have not been looked for. */
static abut_status allocate_run(const abut_context *context, const abut_model *model,
                                const abut_sim_options *options, abut_sim **out, abut_error *error) {
    abut_sim *run = mem_calloc(context, 1, sizeof *run);
    if (!run) return fail_memory(error);
    if (context) run->context = *context;
    run->model = model;
    if (options) run->options = *options;
    arena_init(&run->scratch, &run->context);
    size_t n = (size_t)model->body_count + 1;
    run->accelerations = mem_calloc(&run->context, n, sizeof *run->accelerations);
    if (!run->accelerations || !run_reserve_lanes(run, 1) || !run_reserve_touches(run, 16)) {
        abut_sim_free(run);
        return fail_memory(error);
    }
    run_state *s = run->state;
    s->magic = RUN_MAGIC, s->version = RUN_VERSION, s->model_hash = model_hash(model);
    s->body_count = model->body_count, s->hinge_count = model->hinge_count;
    s->watch_count = model->watch_count;
    for (int i = 0; i < model->body_count; i++) run_motions(s)[i] = model->bodies[i].start;
    abut_energy e = run_energy(run);
    s->start_energy = e.kinetic + e.potential;
    s->largest_energy = fabs(e.kinetic) + fabs(e.potential);
    s->start_momentum = e.momentum;
    abut_status status = model->world.mode == ABUT_LIVE ? live_create(run, error) : ABUT_OK;
    if (status != ABUT_OK) {
        abut_sim_free(run);
        return status;
    }
    *out = run;
    return ABUT_OK;
}

abut_status abut_sim_create(const abut_context *context, const abut_model *model,
                            const abut_sim_options *options, abut_sim **out, abut_error *error) {
    *out = NULL;
    abut_sim *run;
    bool overlaps = model->world.mode == ABUT_LIVE && options && options->allow_overlap;
    abut_status status = overlaps ? ABUT_OK : run_check_start(model, error);
    if (status == ABUT_OK) status = allocate_run(context, model, options, &run, error);
    if (status != ABUT_OK) return status;
    /* what touches at the start, and impacts of bodies that start towards each other */
    if (!run->live) status = exact_frame(run, run->state->time, error);
    run->started = true;
    if (status == ABUT_OK) status = deliver_events(run, error);
    if (status != ABUT_OK) {
        abut_sim_free(run);
        return status;
    }
    *out = run;
    return ABUT_OK;
}

abut_status abut_sim_create_at(const abut_context *context, const abut_model *model,
                               const abut_sim_options *options, const void *snapshot, size_t size,
                               abut_sim **out, abut_error *error) {
    *out = NULL;
    abut_sim *run;
    abut_status status = allocate_run(context, model, options, &run, error);
    if (status != ABUT_OK) return status;
    status = abut_sim_restore(run, snapshot, size, error);
    if (status != ABUT_OK) {
        abut_sim_free(run);
        return status;
    }
    *out = run;
    return ABUT_OK;
}

void abut_sim_free(abut_sim *run) {
    if (!run) return;
    run_auditor_free(run);
    abut_context context = run->context;
    live_free(run->live);
    mem_free(&context, run->state, run->state_bytes, 1);
    mem_free(&context, run->saved, run->state_bytes, 1);
    mem_free(&context, run->accelerations, (size_t)run->model->body_count + 1, sizeof *run->accelerations);
    arena_free(&run->scratch);
    run_accounts_free(run);
    array_free(&context, &run->contacts);
    array_free(&context, &run->contact_vectors);
    array_free(&context, &run->contact_loops);
    mem_free(&context, run, 1, sizeof *run);
}

/* ---- energy */

static double spring_energy(const abut_sim *run) {
    const abut_model *m = run->model;
    const motion *motions = run_motions(run->state);
    double total = 0;
    for (int i = 0; i < m->spring_count; i++) {
        const model_spring *s = &m->springs[i];
        vec3 a = vec3_add(motions[s->a].center, quat_rotate(motions[s->a].rotation, s->at_a)), b = s->at_b;
        if (s->b >= 0) b = vec3_add(motions[s->b].center, quat_rotate(motions[s->b].rotation, s->at_b));
        double stretch = vec3_distance(a, b) - s->length;
        total += 0.5 * s->stiffness * stretch * stretch;
    }
    for (int i = 0; i < m->hinge_count; i++)
        if (m->hinges[i].h.stiffness > 0 && !run_hinges(run->state)[i].broken)
            total += hinge_spring_energy(&m->hinges[i].h, run_hinges(run->state)[i].coordinate);
    return total;
}

abut_energy run_energy(const abut_sim *run) {
    enum { AHEAD = 4 }; /* bodies of a model are large */
    const abut_model *m = run->model;
    abut_energy e = {.dissipated = run->state->dissipated + run->state->numerical,
                     .work = run->state->work,
                     .numerical = run->state->numerical};
    for (int i = 0; i < m->body_count; i++) {
        const model_body *b = &m->bodies[i];
        if (i + AHEAD < m->body_count) prefetch_lines(&b[AHEAD].inertia, sizeof b->inertia);
        if (!b->movable) continue;
        const motion *s = &run_motions(run->state)[i];
        e.kinetic += body_kinetic_energy(&b->inertia, s);
        e.potential -= b->inertia.mass * vec3_dot(m->world.gravity, s->center);
        e.momentum = vec3_axpy(e.momentum, b->inertia.mass, s->velocity.linear);
        e.angular_momentum = vec3_add(e.angular_momentum, body_angular_momentum(&b->inertia, s, vec3_zero()));
    }
    e.potential += spring_energy(run);
    return e;
}

abut_energy abut_sim_energy(const abut_sim *run) { return run_energy(run); }

/* What lifts all bodies by the touching distance and gives them the speed that counts as rest: energies that
 * are smaller in all of a run, as of a body that rests at height 0 or that a motor has just begun to move,
 * are rounding and no measure of errors. */
static double least_energy(const abut_model *m) {
    double mass = 0;
    for (int i = 0; i < m->body_count; i++)
        if (m->bodies[i].movable) mass += m->bodies[i].inertia.mass;
    double rest = m->tolerance.rest_speed;
    return mass * (vec3_length(m->world.gravity) * m->tolerance.touching + rest * rest / 2);
}

/* The energy balance at the end of a frame: what is there, plus what was lost, minus what was given, is what
 * there was. */
static void audit_energy(abut_sim *run) {
    run_state *s = run->state;
    abut_energy e = run_energy(run);
    s->largest_energy =
        fmax(s->largest_energy, fmax(e.kinetic, fabs(e.potential - (s->start_energy - e.kinetic))));
    s->largest_energy = fmax(s->largest_energy, s->dissipated + fabs(s->work));
    double error = fabs(e.kinetic + e.potential + s->dissipated + s->numerical - s->work - s->start_energy);
    double scale = fmax(s->largest_energy, least_energy(run->model));
    if (scale > 0) s->energy_error = fmax(s->energy_error, error / scale);
}

abut_audit abut_sim_audit(const abut_sim *run) {
    if (run->live) return live_audit(run);
    const run_state *s = run->state;
    const abut_tolerances *t = &run->model->tolerance;
    abut_audit a = {.deepest_overlap = s->deepest_overlap,
                    .energy_error = s->energy_error,
                    .momentum_error = s->momentum_error,
                    .complementarity_residual = s->residual,
                    .constraint_error = s->constraint_error,
                    .overlap_limit = t->touching,
                    .constraint_limit = t->touching,
                    .energy_limit = 1e-6,
                    .numerical_loss = s->largest_energy > 0 ? s->numerical / s->largest_energy : 0,
                    .storms = s->storms,
                    .time_steps = s->time_steps,
                    .time_stepped = s->time_stepped,
                    .promises_kept = true};
    struct {
        double value, limit;
        const char *words;
    } promises[] = {
        {a.deepest_overlap, t->touching, "bodies overlap by %.3g m, more than epsilon = %.3g m"},
        {a.energy_error, 1e-6, "the energy balance is off by %.3g of the largest energy, more than %.3g"},
        {a.momentum_error, 1e-9,
         "an impact changed a momentum by %.3g more than its impulses, more than %.3g"},
        {a.complementarity_residual, 1e-6, "a contact problem was solved only to %.3g, not to %.3g"},
        {a.constraint_error, t->touching, "hinges or sticking contacts are off by %.3g m, more than %.3g m"},
    };
    for (int i = 0; i < COUNT_OF(promises); i++)
        if (!(promises[i].value <= promises[i].limit) && a.promises_kept) {
            a.promises_kept = false;
            snprintf(a.broken, sizeof a.broken, promises[i].words, promises[i].value, promises[i].limit);
        }
    return a;
}

/* ---- advancing */

/* Sums of frames miss the times that they stand for by rounding: the integrator makes no step for that. */
static bool is_rounding(const abut_sim *run, double until) {
    return !run->live && until - run->state->time <= 16 * DBL_EPSILON * fabs(until);
}

abut_status abut_sim_advance(abut_sim *run, double until, abut_error *error) {
    if (!isfinite(until)) return fail(error, ABUT_INVALID, "the time to advance to is not finite");
    if (!(until > run->state->time)) return ABUT_OK;
    if (is_rounding(run, until)) {
        run->state->time = until;
        return ABUT_OK;
    }
    double start = run->state->time;
    abut_status status = run->live ? live_advance(run, until, error) : exact_frame(run, until, error);
    if (status == ABUT_CANCELLED) atomic_store(&run->stop, false);
    if (status != ABUT_OK) return status;
    if (!run->live) {
        audit_energy(run);
        status = run_audit_overlap(run, error);
        if (status == ABUT_OK) status = run_watch_frame(run, start, error);
    }
    if (status != ABUT_OK) return status;
    return run_deliver(run, error);
}

void abut_sim_stop(abut_sim *run) { atomic_store(&run->stop, true); }

double abut_sim_time(const abut_sim *run) { return run->state->time; }
int abut_sim_bodies(const abut_sim *run) { return run->model->body_count; }
int64_t abut_sim_steps(const abut_sim *run) { return run->state->steps; }
int64_t abut_sim_evaluations(const abut_sim *run) { return run->evaluations; }
int64_t abut_sim_event_count(const abut_sim *run, abut_event_kind kind) { return run->state->events[kind]; }

abut_motion abut_sim_motion(const abut_sim *run, int body) {
    const motion *m = &run_motions(run->state)[body];
    const spatial *a = &run->accelerations[body];
    return (abut_motion){m->center,           m->rotation, m->velocity.linear,
                         m->velocity.angular, a->linear,   a->angular};
}

/* c0 + theta (c1 + (1 - theta) (c2 + ...)), and its derivative by theta, both by Horner's rule. */
static double dense_value(const double *c, double theta, double *slope) {
    double value = c[ABUT_SEGMENT_COEFFICIENTS - 1], rate = 0;
    for (int k = ABUT_SEGMENT_COEFFICIENTS - 2; k >= 0; k--) {
        double factor = k % 2 == 0 ? theta : 1 - theta, factor_rate = k % 2 == 0 ? 1 : -1;
        rate = rate * factor + value * factor_rate;
        value = c[k] + factor * value;
    }
    *slope = rate;
    return value;
}

abut_motion abut_segment_motion(const abut_segment *segment, int entry, double time) {
    const double *c =
        segment->coefficients + (size_t)entry * ABUT_SEGMENT_NUMBERS * ABUT_SEGMENT_COEFFICIENTS;
    double y[ABUT_SEGMENT_NUMBERS], rate[ABUT_SEGMENT_NUMBERS],
        theta = (time - segment->start) / segment->step;
    for (int i = 0; i < ABUT_SEGMENT_NUMBERS; i++)
        y[i] = dense_value(c + i * ABUT_SEGMENT_COEFFICIENTS, theta, &rate[i]);
    quat q = quat_unit((quat){y[3], y[4], y[5], y[6]});
    return (abut_motion){{y[0], y[1], y[2]},
                         q,
                         {y[7], y[8], y[9]},
                         {y[10], y[11], y[12]},
                         {rate[7] / segment->step, rate[8] / segment->step, rate[9] / segment->step},
                         {rate[10] / segment->step, rate[11] / segment->step, rate[12] / segment->step}};
}

/* ---- snapshots */

static uint64_t used_bytes(const run_state *s) {
    return (uint64_t)((const char *)(run_touches((run_state *)(uintptr_t)s) + s->touch_count) -
                      (const char *)s);
}

/* With the steps that go beyond the present time. */
static uint64_t snapshot_bytes(const run_state *s) {
    return used_bytes(s) + (uint64_t)s->ahead_count * sizeof(run_ahead);
}

size_t abut_sim_snapshot_size(const abut_sim *run) {
    return snapshot_bytes(run->state) + (run->live ? live_snapshot_size(run->live) : 0);
}

void abut_sim_snapshot(const abut_sim *run, void *block) {
    char *next = (char *)block + used_bytes(run->state);
    memcpy(block, run->state, used_bytes(run->state));
    for (int64_t i = 0; i < run->aheads.count; i++, next += sizeof(run_ahead))
        memcpy(next, &run->aheads.data[i].step, sizeof(run_ahead));
    if (run->live) live_snapshot(run->live, next);
}

static void restore_aheads(abut_sim *run, const char *from, int64_t count) {
    run_drop_aheads(run);
    for (int64_t i = 0; i < count; i++) {
        ahead_item item = {.made = NULL};
        memcpy(&item.step, from + (size_t)i * sizeof item.step, sizeof item.step);
        run->aheads.data[run->aheads.count++] = item;
    }
    run->state->ahead_count = count;
}

abut_status abut_sim_restore(abut_sim *run, const void *block, size_t size, abut_error *error) {
    run_state header;
    if (size < sizeof header) return fail(error, ABUT_INVALID, "the snapshot is too short; it is damaged");
    memcpy(&header, block, sizeof header);
    if (header.magic != RUN_MAGIC || header.version != RUN_VERSION)
        return fail(error, ABUT_INVALID, "the snapshot is of another version; make it again with this one");
    if (header.model_hash != run->state->model_hash || header.body_count != run->state->body_count ||
        header.hinge_count != run->state->hinge_count || header.watch_count != run->state->watch_count)
        return fail(error, ABUT_INVALID,
                    "the snapshot belongs to another scene; use the scene it was made with");
    bool sound =
        header.touch_count >= 0 && header.ahead_count >= 0 && header.ahead_count <= header.body_count;
    size_t own = sound ? snapshot_bytes(&header) : 0;
    if (own == 0 || size < own)
        return fail(error, ABUT_INVALID, "the snapshot has the wrong size; it is damaged");
    if (!run_reserve_touches(run, header.touch_count) ||
        !array_reserve(&run->context, &run->aheads, header.ahead_count))
        return fail_memory(error);
    int capacity = run->state->touch_capacity;
    /* the run goes on with the clock of the snapshot */
    if (size == own && run->live) {
        live_free(run->live);
        run->live = NULL;
    }
    abut_status status = size > own && !run->live ? live_create(run, error) : ABUT_OK;
    if (status != ABUT_OK) return status;
    memcpy(run->state, block, used_bytes(&header));
    restore_aheads(run, (const char *)block + used_bytes(&header), header.ahead_count);
    run->started = true;
    run->state->touch_capacity = capacity;
    run->state->bytes = run->state_bytes;
    return run->live ? live_restore(run->live, (const char *)block + own, size - own, error) : ABUT_OK;
}

/* Of what decides how the run goes on; field by field, because structs have holes. */
uint64_t abut_sim_hash(const abut_sim *run) {
    run_state *s = run->state;
    uint64_t h = hash64(run_motions(s), (size_t)s->body_count * sizeof(motion), 3);
    h = hash64(&s->time, sizeof s->time, h);
    for (int i = 0; i < s->touch_count; i++) {
        const touch *t = &run_touches(s)[i];
        int32_t words[] = {t->a,          t->b,    t->pair.fa.kind, t->pair.fa.id, t->pair.fb.kind,
                           t->pair.fb.id, t->mode, t->rolling,      t->spinning,   t->pressed,
                           t->anchored};
        h = hash64(words, sizeof words, h);
        h = hash64(&t->slip_along, sizeof t->slip_along, h);
    }
    if (run->live) h = live_hash(run->live, h);
    return h;
}
