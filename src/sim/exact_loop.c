/* The loop of a group (DESIGN section 6): touch, impact, choose, integrate, find the event, correct, record.
 */
#include "sim/exact.h"

enum { HOLD_ROUNDS = 6, IMPACT_ROUNDS = 64, CUT_ROUNDS = 16 };

/* ---- events */

abut_status exact_emit_at(exact *x, abut_event e, double time, abut_error *error) {
    e.time = time;
    if (e.count == 0) e.count = 1;
    if (!array_push(&x->run->context, &x->account->events, e)) return fail_memory(error);
    return ABUT_OK;
}

abut_status exact_emit(exact *x, abut_event e, abut_error *error) {
    return exact_emit_at(x, e, x->time - x->late, error);
}

abut_entity exact_entity(const exact *x, int local, contact_feature f) {
    static const abut_entity_kind kinds[] = {ABUT_ENTITY_VERTEX, ABUT_ENTITY_EDGE, ABUT_ENTITY_FACE,
                                             ABUT_ENTITY_SMOOTH};
    contact_feature named = contact_shape_named(&x->model->bodies[x->bodies[local]].shape, f);
    return (abut_entity){kinds[named.kind], named.id};
}

abut_event exact_contact_event(const exact *x, abut_event_kind kind, int place) {
    const group_contact *c = &x->contacts.data[place];
    const near_pair *p = &x->touches.data[place].pair;
    return (abut_event){.kind = kind,
                        .body = {x->bodies[c->a], x->bodies[c->b]},
                        .entity = {exact_entity(x, c->a, p->fa), exact_entity(x, c->b, p->fb)},
                        .point = c->point.at,
                        .normal = c->point.normal};
}

/* ---- scales */

double exact_acceleration_limit(const exact *x) {
    return 1e-7 * (vec3_length(x->model->world.gravity) + 1e-3 + x->speed * x->speed / x->model->size);
}

void exact_measure_speed(exact *x) {
    x->speed = 0;
    for (int i = 0; i < x->count; i++) {
        double r = x->model->bodies[x->bodies[i]].shape.radius;
        twist v = x->motions[i].velocity;
        double spin = isfinite(r) ? vec3_length(v.angular) * r : 0;
        x->speed = fmax(x->speed, vec3_length(v.linear) + spin);
    }
}

/* ---- comparing the touching set before and after */

bool exact_mark_pairs(exact *x, pair_marks *out) {
    *out = (pair_marks){arena_alloc(x->arena, (size_t)x->contacts.count + 1, sizeof *out->items), 0};
    if (!out->items) return false;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        const near_pair *p = &x->touches.data[i].pair;
        int k = 0;
        while (k < out->count && (out->items[k].a != c->a || out->items[k].b != c->b)) k++;
        if (k == out->count) out->items[out->count++] = (pair_mark){.a = c->a, .b = c->b, .first = (int)i};
        /* a smooth surface is one feature, whichever of its patches the place is on */
        int32_t ia = p->a.kind == ELEMENT_PATCH ? 0 : p->fa.id,
                ib = p->b.kind == ELEMENT_PATCH ? 0 : p->fb.id;
        uint64_t word =
            ((uint64_t)p->fa.kind << 62) ^ ((uint64_t)ia << 32) ^ ((uint64_t)p->fb.kind << 30) ^ (uint64_t)ib;
        out->items[k].features += hash64_mix(word);
        out->items[k].slips |= c->mode == FRICTION_SLIP;
        out->items[k].sticks |= c->mode == FRICTION_STICK;
        out->items[k].told |= x->touches.data[i].made_at == 0;
    }
    return true;
}

static const pair_mark *find_mark(const pair_marks *marks, const pair_mark *m) {
    for (int i = 0; i < marks->count; i++)
        if (marks->items[i].a == m->a && marks->items[i].b == m->b) return &marks->items[i];
    return NULL;
}

/* contact-lost needs the pair only: its touches are gone. */
static abut_status emit_lost(exact *x, const pair_mark *m, abut_error *error) {
    abut_event e = {.kind = ABUT_EVENT_CONTACT_LOST, .body = {x->bodies[m->a], x->bodies[m->b]}};
    return exact_emit(x, e, error);
}

static abut_status emit_differences(exact *x, const pair_marks *before, bool at_start, abut_error *error) {
    pair_marks after;
    if (!exact_mark_pairs(x, &after)) return fail_memory(error);
    abut_status status = ABUT_OK;
    for (int i = 0; i < before->count && status == ABUT_OK; i++)
        if (before->items[i].told && !find_mark(&after, &before->items[i]))
            status = emit_lost(x, &before->items[i], error);
    for (int i = 0; i < after.count && status == ABUT_OK; i++) {
        const pair_mark *m = &after.items[i], *old = find_mark(before, m);
        if (!m->told) continue;
        if (!old || !old->told)
            status = exact_emit(x, exact_contact_event(x, ABUT_EVENT_CONTACT_MADE, m->first), error);
        else if (old->features != m->features)
            status = exact_emit(x, exact_contact_event(x, ABUT_EVENT_CONTACT_CHANGED, m->first), error);
        if (status != ABUT_OK || at_start) continue;
        if (old && old->slips && !m->slips && m->sticks)
            status = exact_emit(x, exact_contact_event(x, ABUT_EVENT_STICK, m->first), error);
        else if (old && old->sticks && !old->slips && m->slips)
            status = exact_emit(x, exact_contact_event(x, ABUT_EVENT_SLIP, m->first), error);
    }
    return status;
}

/* ---- settling the touching set at an instant */

/* A flight that starts slower than this is none: the pair would be back within a fraction of the event
 * tolerance's reach of rounding, and an approach a thousand times faster is inelastic anyway. */
static double separation_limit(const exact *x) {
    return fmax(exact_approach_limit(x), 1e-3 * x->model->tolerance.rest_speed);
}

typedef enum separation {
    FLIES_FAST,     /* it flies apart, and cannot turn out to be held once the forces are known */
    FLIES,          /* it flies apart */
    FLIES_OR_LEAVES /* or accelerates apart */
} separation;

/* Lets go of the contacts that separate so. */
static abut_status drop(exact *x, separation how, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    bool *kept = arena_alloc(x->arena, (size_t)x->contacts.count + 1, sizeof *kept);
    if (!kept) return fail_memory(error);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        double rate = exact_gap_rate(x, c->a, c->b, &c->point);
        bool flies = rate > separation_limit(x) && !(how == FLIES_FAST && exact_is_slow_flight(x, c, rate));
        bool leaves =
            how == FLIES_OR_LEAVES && x->loads.data[i].gap_acceleration > exact_acceleration_limit(x);
        kept[i] = !flies && !leaves;
    }
    exact_keep_touches(x, kept);
    arena_restore(x->arena, mark);
    return ABUT_OK;
}

void exact_mark_touching(exact *x, bool evaluated) {
    for (int64_t i = 0; i < x->nears.count; i++) {
        exact_near *n = &x->nears.data[i];
        contact_point p = {.at = n->at, .normal = n->normal};
        n->touching = n->joined;
        if (n->joined) continue;
        if (!evaluated) n->asleep = exact_sleeps(x, n, x->time), n->known = false;
        if (n->asleep) continue;
        bool ready = evaluated && !smooth_is_pair(&n->pair); /* places on patches move on */
        if (!ready) exact_near_move(x, n);
        if (ready ? !n->known : !exact_know_near(x, n, &p)) continue;
        if (ready) n->rate = exact_gap_rate(x, n->a, n->b, &p);
        for (int64_t k = 0; k < x->contacts.count && !n->touching; k++) {
            const group_contact *c = &x->contacts.data[k];
            n->touching = c->a == n->a && c->b == n->b && exact_same_place(x, &n->pair, &p, &c->point);
        }
        if (!n->touching) n->touching = exact_is_carried(x, n);
    }
}

abut_status exact_impacts(exact *x, abut_error *error) {
    exact_sum_bounces(x);
    abut_status status = exact_sum_collapse(x, error);
    for (int round = 0; round < IMPACT_ROUNDS && status == ABUT_OK; round++) {
        bool happened = false, added;
        status = exact_disc_cut(x, DISC_RATE, exact_approach_limit(x), &added, error);
        if (status == ABUT_OK) status = exact_impact(x, false, &happened, error);
        if (status != ABUT_OK || !happened) return status;
        exact_measure_speed(x);
    }
    return status;
}

/* Modes and forces; where no finite force exists, an impulse. */
static abut_status choose(exact *x, abut_error *error) {
    double powers[2];
    for (int round = 0; round < IMPACT_ROUNDS; round++) {
        abut_status status = exact_accelerate(x, x->time, true, false, powers, error);
        forces_outcome outcome = x->result.outcome;
        /* an approximate solver never gets to the end: its residual is audited */
        bool rough = x->model->world.solver >= ABUT_SOLVER_PGS;
        if ((outcome == FORCES_BUDGET && !rough) || outcome == FORCES_CANNOT_STICK) x->confused = true;
        bool happened, added = false;
        if (status == ABUT_OK && outcome == FORCES_SOLVED && round < CUT_ROUNDS)
            status = exact_disc_cut(x, DISC_ACCELERATION, 1e-5 * exact_acceleration_limit(x), &added, error);
        if (added) continue;
        if (status != ABUT_OK || outcome != FORCES_NO_FINITE_FORCE) return status;
        status = exact_impact(x, true, &happened, error);
        if (status == ABUT_OK) status = drop(x, FLIES, error);
        if (status != ABUT_OK || !happened) return status;
    }
    x->confused = true;
    return ABUT_OK;
}

/* What touches, and impacts until nothing approaches. */
static abut_status meet(exact *x, bool start, abut_error *error) {
    abut_status status = exact_update_touches(x, start, 0, error);
    if (status == ABUT_OK) status = exact_carry(x, error);
    if (status == ABUT_OK) status = exact_impacts(x, error);
    return status == ABUT_OK ? drop(x, FLIES_FAST, error) : status;
}

/* Modes and forces; flights that are too low to be told from contact are none (exact_chatter.c). */
static abut_status choose_and_hold(exact *x, abut_error *error) {
    bool closed = true;
    for (int round = 0; round < HOLD_ROUNDS && closed; round++) {
        bool dropped = false;
        double energy = 0; /* of the flights that are held */
        abut_status status = choose(x, error);
        if (status == ABUT_OK) status = exact_hold_low(x, separation_limit(x), &dropped, &energy, error);
        if (status != ABUT_OK || !(dropped || energy > 0)) return status;
        if (dropped) continue;
        status = exact_close_velocities(x, 4 * energy, &closed, error);
        if (status == ABUT_OK && closed) status = meet(x, false, error);
        if (status != ABUT_OK) return status;
    }
    abut_status status = drop(x, FLIES, error);
    return status == ABUT_OK ? choose(x, error) : status;
}

/* Slip ended at a place, and where it is as good as over: directions are no longer known, and they may stick.
 * What is left of it is closed. */
static abut_status end_slips(exact *x, int64_t item, abut_error *error) {
    bool closed;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        if (i != item && !isfinite(exact_slip_left(x, i))) continue;
        x->contacts.data[i].mode = FRICTION_STICK;
        x->contacts.data[i].anchored = false;
        exact_face_sticks(x, i);
    }
    x->pace.hint = 0; /* the last steps were cut short by a direction of slip that turned ever faster */
    return exact_close_velocities(x, INFINITY, &closed, error);
}

/* What an event does to memory before the touching set is settled. */
static abut_status handle(exact *x, exact_event e, abut_error *error) {
    if (e.kind == EXACT_LIMIT) {
        int entry = (int)(e.item / 2);
        const model_hinge *h = &x->model->hinges[x->hinges[entry]];
        run_hinges(x->run->state)[x->hinges[entry]].at_limit = e.item & 1 ? 1 : -1;
        abut_event out = {
            .kind = ABUT_EVENT_LIMIT,
            .body = {h->h.a, h->h.b},
            .entity = {{ABUT_ENTITY_HINGE, x->hinges[entry]}, {ABUT_ENTITY_HINGE, x->hinges[entry]}}};
        return exact_emit(x, out, error);
    }
    if (e.kind == EXACT_BREAKS) {
        const model_hinge *h = &x->model->hinges[x->hinges[e.item]];
        run_hinges(x->run->state)[x->hinges[e.item]].broken = 1;
        abut_event out = {
            .kind = ABUT_EVENT_HINGE_BROKEN,
            .body = {h->h.a, h->h.b},
            .entity = {{ABUT_ENTITY_HINGE, x->hinges[e.item]}, {ABUT_ENTITY_HINGE, x->hinges[e.item]}}};
        return exact_emit(x, out, error);
    }
    if (e.kind == EXACT_STICKS) {
        abut_status status = end_slips(x, e.item, error);
        if (status != ABUT_OK) return status;
    }
    bool crossed = false;
    if (e.kind == EXACT_LEAVES) {
        abut_status status = rolling_cross(x, e.item, &crossed, error);
        if (status != ABUT_OK) return status;
    }
    if (e.kind == EXACT_LEAVES && !crossed) {
        arena_mark mark = arena_save(x->arena);
        bool *kept = arena_alloc(x->arena, (size_t)x->contacts.count, sizeof *kept);
        if (!kept) return fail_memory(error);
        for (int64_t i = 0; i < x->contacts.count; i++) kept[i] = i != e.item;
        exact_keep_touches(x, kept);
        arena_restore(x->arena, mark);
    }
    return ABUT_OK;
}

/* At an instant: the event, what touches, impacts, modes.  Emits how the contacts of each pair changed. */
static abut_status settle(exact *x, bool start, exact_event e, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    pair_marks before;
    if (!exact_mark_pairs(x, &before)) return fail_memory(error);
    exact_measure_speed(x);
    abut_status status = handle(x, e, error);
    if (status == ABUT_OK) status = meet(x, start, error);
    if (status == ABUT_OK) status = choose_and_hold(x, error);
    if (status == ABUT_OK) status = drop(x, FLIES_OR_LEAVES, error);
    if (status == ABUT_OK) exact_anchor(x);
    if (status == ABUT_OK) exact_mark_touching(x, true);
    x->marked = status == ABUT_OK;
    if (status == ABUT_OK) status = emit_differences(x, &before, start, error);
    arena_restore(x->arena, mark);
    return status;
}

/* Overlap at the end of a step, over all points that touch, and how well its contact problem was solved. */
static void audit_overlap(exact *x) {
    x->account->deepest_overlap = fmax(x->account->deepest_overlap, exact_deepest(x));
    /* forces that were given up move nothing: time steps go on from here, and are audited themselves */
    if (!x->confused) x->account->residual = fmax(x->account->residual, x->result.residual);
}

abut_status exact_settle_step(exact *x, const pair_marks *before, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    exact_measure_speed(x);
    abut_status status = exact_tell_made(x, x->time, error);
    if (status == ABUT_OK) status = exact_update_touches(x, false, 0, error);
    if (status == ABUT_OK && exact_approach(x) > x->model->tolerance.rest_speed)
        status = exact_impacts(x, error);
    if (status == ABUT_FAILED) status = ABUT_OK; /* the next step has it, without restitution */
    if (status == ABUT_OK) status = drop(x, FLIES, error);
    if (status == ABUT_OK) status = emit_differences(x, before, true, error);
    arena_restore(x->arena, mark);
    audit_overlap(x);
    return status;
}

/* ---- rest */

/* A body's speed where it is largest, of a twist about its centre; one without a shape is as large as a ring
 * of its inertia. */
static double surface_speed(const exact *x, int body, spatial v) {
    double r = x->model->bodies[x->bodies[body]].shape.radius;
    const body_inertia *b = &x->inertias[body];
    if (r == 0) r = sqrt((b->inertia.cx.x + b->inertia.cy.y + b->inertia.cz.z) / (2 * b->mass));
    return vec3_length(v.linear) + (isfinite(r) ? r : x->model->size) * vec3_length(v.angular);
}

bool exact_moves(const exact *x, double slow) {
    if (x->timed) return true;
    for (int64_t i = 0; i < x->touches.count; i++)
        if (x->touches.data[i].made_at > x->end) return true;
    for (int i = 0; i < x->movable; i++)
        if (surface_speed(x, i, x->motions[i].velocity) > slow) return true;
    for (int i = x->movable; i < x->count; i++)
        if (x->model->bodies[x->bodies[i]].kinematic) return true;
    return false;
}

/* Nothing moves, nothing accelerates, no load changes with time: the next event comes from outside. */
static bool at_rest(const exact *x) {
    double gravity = 1e-3 + vec3_length(x->model->world.gravity);
    if (exact_moves(x, 1e-9 * sqrt(x->model->size * gravity))) return false;
    for (int i = 0; i < x->movable; i++)
        if (surface_speed(x, i, x->accelerations[i]) > 1e-9 * gravity) return false;
    return true;
}

/* Bodies that rest are marked by their step hint, so that the next frame need not look at a group that
 * nothing has joined. */
static abut_status hold(exact *x, abut_error *error) {
    for (int i = 0; i < x->movable; i++)
        x->motions[i].velocity = x->accelerations[i] = (twist){vec3_zero(), vec3_zero()};
    x->time = x->end;
    x->pace.hint = PACE_RESTS;
    return exact_tell_made(x, x->end, error);
}

/* ---- one step */

/* Longest step: to the end, no more than a fifth of a turn, and not longer than the near pairs hold. */
static double step_limit(const exact *x) {
    double h = x->end - x->time, spin = 0;
    for (int i = 0; i < x->count; i++) spin = fmax(spin, vec3_length(x->motions[i].velocity.angular));
    if (spin * h > 0.5) h = 0.5 / spin;
    return h;
}

static void remember_slip(exact *x) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        vec3 u = contact_slip(&c->point, &x->motions[c->a], &x->motions[c->b]);
        u = vec3_axpy(u, -vec3_dot(u, c->point.normal), c->point.normal);
        double speed = vec3_length(u);
        x->touches.data[i].slip_start =
            speed > 1e-9 * (1 + x->speed) ? vec3_scale(u, 1 / speed) : c->slip_along;
    }
    exact_remember_turns(x);
    exact_face_remember(x);
    exact_onset_remember(x);
}

abut_status exact_keep_segment(exact *x, double start, double end_time, abut_error *error) {
    const abut_context *context = &x->run->context;
    segment_list *list = &x->account->segments;
    if (!x->run->options.segment || !(end_time > start)) return ABUT_OK;
    kept_segment s = {.start = start,
                      .end = end_time,
                      .step = x->integrator.t - x->integrator.t_old,
                      .first_body = list->bodies.count,
                      .body_count = x->movable,
                      .first_number = list->numbers.count};
    int64_t numbers = (int64_t)x->movable * BODY_NUMBERS * ABUT_SEGMENT_COEFFICIENTS;
    if (!array_push(context, &list->items, s)) return fail_memory(error);
    for (int i = 0; i < x->movable; i++)
        if (!array_push(context, &list->bodies, x->bodies[i])) return fail_memory(error);
    if (!array_reserve(context, &list->numbers, list->numbers.count + numbers)) return fail_memory(error);
    for (int i = 0; i < x->movable * BODY_NUMBERS; i++)
        for (int k = 0; k < ABUT_SEGMENT_COEFFICIENTS; k++)
            list->numbers.data[list->numbers.count++] = x->integrator.dense[k][i];
    return ABUT_OK;
}

/* A limit that is left no longer pushes. */
static void release_limits(exact *x) {
    for (int i = 0; i < x->row_count; i++) {
        hinge_memory *memory = &run_hinges(x->run->state)[x->hinges[x->row_hinge[i]]];
        if (x->rows[i].lo == 0 && memory->at_limit && x->rows[i].error > x->model->tolerance.touching)
            memory->at_limit = 0;
    }
}

/* Integrates one step from the settled state, cuts it at the first event, corrects, and settles again. */
static abut_status step(exact *x, abut_error *error) {
    double start = x->time, limit = step_limit(x);
    abut_status status = exact_look_around(x, &limit, error);
    if (status != ABUT_OK) return status;
    if (!x->marked) exact_mark_touching(x, false);
    x->marked = false;
    status = exact_update_faces(x, error);
    if (status != ABUT_OK) return status;
    remember_slip(x);
    exact_disc_remember(x);
    exact_pack(x, x->y);
    x->error = error;
    double hint = x->pace.hint;
    x->integrator.config.first_step = hint > 0 ? fmin(hint, limit) : 0;
    status = ode_start(&x->integrator, start, x->y, error);
    double until = limit < x->end - start ? start + limit : x->end;
    if (status == ABUT_OK) status = ode_step(&x->integrator, until, error);
    if (status != ABUT_OK) return status;
    double reached = x->integrator.t;
    bool crumb =
        until == x->end && until - start < 1e-3 * hint; /* of a frame: it tells nothing of the next */
    x->pace.hint = crumb ? hint : x->integrator.h;
    status = exact_place_dense(x, reached, error);
    if (status != ABUT_OK) return status;
    reached = rolling_within_known(x, start, exact_within_reach(x, start, reached));
    exact_event e = exact_find_event(x, start, reached);
    if (e.kind != EXACT_NOTHING) reached = e.time;
    x->cut_short = e.kind != EXACT_NOTHING;
    status = exact_keep_segment(x, start, reached, error);
    if (status == ABUT_OK) status = exact_place_dense(x, reached, error);
    if (status != ABUT_OK) return status;
    x->account->dissipated += x->y_dense[BODY_NUMBERS * x->movable];
    x->account->work += x->y_dense[BODY_NUMBERS * x->movable + 1];
    x->time = reached;
    x->account->steps++;
    exact_count_moved(x, reached - start);
    status = exact_correct(x, reached, error);
    if (status == ABUT_OK) release_limits(x);
    if (status == ABUT_OK) status = exact_tell_made(x, reached, error);
    if (status == ABUT_OK) status = settle(x, false, e, error);
    x->late = 0;
    audit_overlap(x);
    return status;
}

/* A step of the general clock.  Where none can be made because the place of a smooth contact is about to end,
 * the contact goes on at the next place. */
static abut_status general_step(exact *x, abut_error *error) {
    double start = x->time;
    abut_status status = step(x, error);
    if (status != ABUT_FAILED || x->time != start) return status;
    abut_status placed = exact_place(x, start, x->y, error);
    if (placed != ABUT_OK || !rolling_jump(x)) return placed == ABUT_OK ? status : placed;
    return settle(x, false, (exact_event){.kind = EXACT_NOTHING, .item = -1}, error);
}

/* A step of the only contact in reduced coordinates, if it is one for them; of the general clock otherwise.
 */
static abut_status any_step(exact *x, abut_error *error) {
    bool rolls;
    abut_status status = rolling_ready(x, &rolls, error);
    if (status != ABUT_OK) return status;
    if (!rolls) return general_step(x, error);
    exact_event e;
    status = rolling_go(x, &e, error);
    x->cut_short = e.kind != EXACT_NOTHING;
    if (status != ABUT_OK || e.kind == EXACT_NOTHING) return status;
    double limit = x->end - x->time;
    status = exact_look_around(x, &limit, error);
    return status == ABUT_OK ? settle(x, false, e, error) : status;
}

/* All bodies of the group rested at the end of the last frame, together. */
static bool still_rests(const exact *x) {
    for (int i = 0; i < x->movable; i++)
        if (run_paces(x->run->saved)[x->bodies[i]].hint != PACE_RESTS) return false;
    return !x->timed && x->run->started;
}

/* A step of the exact clock, and whether the weather is still fair.  A step that failed leaves the group
 * where it began, to be stepped in time. */
static abut_status step_or_storm(exact *x, abut_error *error) {
    double start = x->time;
    x->cut_short = true;
    exact_pack(x, x->y);
    abut_status status = any_step(x, error);
    if (status == ABUT_FAILED || status == ABUT_BUDGET || status == ABUT_INFEASIBLE) {
        status = x->time == start ? exact_place(x, start, x->y, error) : ABUT_OK;
        x->confused = true;
    }
    if (status == ABUT_OK && exact_storm_counts(x, x->time - start)) exact_storm_begin(x);
    return status;
}

/* The touching set at the start of a frame, or after time steps.  Where it cannot be settled, because a
 * contact has no single place just then, that contact is let go, and the group is stepped in time. */
static abut_status settle_or_storm(exact *x, bool start, abut_error *error) {
    abut_status status = settle(x, start, (exact_event){.kind = EXACT_NOTHING, .item = -1}, error);
    if (status != ABUT_FAILED) return status;
    status = exact_drop_degenerate(x, error);
    x->marked = false;
    if (status == ABUT_OK) exact_storm_begin(x);
    return status;
}

abut_status exact_advance(exact *x, abut_error *error) {
    if (still_rests(x)) return hold(x, error);
    exact_measure_speed(x);
    double limit = x->end - x->time;
    abut_status status = ABUT_OK;
    bool resumes = false, closed; /* reduced coordinates go on from the last frame: nothing has changed */
    if (x->rolls && x->time < x->end) status = rolling_ready(x, &resumes, error);
    if (status == ABUT_OK && !resumes) status = exact_look_around(x, &limit, error);
    if (status == ABUT_OK && !x->run->started && x->hinge_count > 0)
        status = exact_close_velocities(x, INFINITY, &closed, error);
    bool stepping = x->pace.steps_left > 0;
    if (status == ABUT_OK && !resumes && !stepping) status = settle_or_storm(x, !x->run->started, error);
    while (status == ABUT_OK && x->time < x->end) {
        if (exact_plan_left(x->plan, x)) return ABUT_OK; /* the frame will be undone */
        bool reduced = resumes && x->pace.steps_left == 0;
        status = reduced ? ABUT_OK : exact_start_integrator(x, error);
        if (status != ABUT_OK) break;
        if (x->pace.steps_left > 0) {
            bool rests;
            status = exact_time_step(x, &rests, error);
            if (status == ABUT_OK && rests) return hold(x, error);
            if (status == ABUT_OK && x->pace.steps_left == 0) status = settle_or_storm(x, false, error);
            continue;
        }
        if (!resumes && at_rest(x)) return hold(x, error);
        resumes = false;
        status = step_or_storm(x, error);
    }
    return status;
}

/* Errors are relative to the size of the scene and the speeds of the group; positions and speeds near zero
 * count as that.  The two energies start at zero in every step: they count as the largest energy of the run,
 * which is what the audit compares them with, and at least as what lifts the bodies by their size: a run that
 * begins at height 0 has seen none. */
abut_status exact_start_integrator(exact *x, abut_error *error) {
    if (x->integrator_ready) return ABUT_OK;
    ode_config config = ode_default_config();
    /* the tolerance is for the motion; errors of the many steps of a motion add up */
    config.relative = config.absolute = 0.1 * x->model->tolerance.integration;
    int numbers = exact_numbers(x), energies = BODY_NUMBERS * x->movable;
    double *scale = arena_alloc(x->arena, (size_t)numbers, sizeof *scale);
    if (!scale) return fail_memory(error);
    double weight = 0;
    for (int i = 0; i < x->movable; i++) weight += x->inertias[i].mass * vec3_length(x->model->world.gravity);
    double energy = fmax(1 + x->run->state->largest_energy, weight * x->model->smallest);
    for (int i = 0; i < numbers; i++) scale[i] = config.absolute * (i < energies ? 1 : energy);
    config.scale = scale;
    abut_status status =
        ode_init(&x->integrator, &x->run->context, exact_numbers(x), &config, exact_derivative, NULL, x);
    x->integrator_ready = status == ABUT_OK;
    return status == ABUT_OK ? ABUT_OK : fail_memory(error);
}
