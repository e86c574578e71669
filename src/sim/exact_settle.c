/* A group at an instant: the event, what touches, impacts, modes and forces, and the events that are told of
 * it. */
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
        if (k == out->count)
            out->items[out->count++] =
                (pair_mark){.a = c->a,
                            .b = c->b,
                            .first = (int)i,
                            .lost = exact_contact_event(x, ABUT_EVENT_CONTACT_LOST, (int)i)};
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

static abut_status emit_differences(exact *x, const pair_marks *before, bool at_start, abut_error *error) {
    pair_marks after;
    if (!exact_mark_pairs(x, &after)) return fail_memory(error);
    abut_status status = ABUT_OK;
    for (int i = 0; i < before->count && status == ABUT_OK; i++)
        if (before->items[i].told && !find_mark(&after, &before->items[i]))
            status = exact_emit(x, before->items[i].lost, error);
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

/* Limits that a blow has taken their hinges away from no longer push, and do not hold them back. */
static void leave_limits(exact *x) {
    for (int i = 0; i < x->row_count; i++) {
        hinge_memory *memory = &run_hinges(x->run->state)[x->hinges[x->row_hinge[i]]];
        const row *r = &x->rows[i];
        if (x->row_kinds[i] != ROW_LIMIT || !memory->at_limit) continue;
        double speed = spatial_dot(r->ja, x->motions[r->a].velocity) - r->rate;
        if (r->b >= 0) speed += spatial_dot(r->jb, x->motions[r->b].velocity);
        if (speed > separation_limit(x)) memory->at_limit = 0;
    }
}

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

/* Whether a contact of a time step may be that of the near pair although it sleeps: gaps that close within a
 * step join it before they touch. */
static bool may_have_joined(const exact *x, const exact_near *n) {
    if (x->pace.steps_left <= 0) return false;
    for (int64_t k = 0; k < x->contacts.count; k++)
        if (x->contacts.data[k].a == n->a && x->contacts.data[k].b == n->b) return true;
    return false;
}

void exact_mark_touching(exact *x, bool evaluated) {
    for (int64_t i = 0; i < x->nears.count; i++) {
        exact_near *n = &x->nears.data[i];
        contact_point p = {.at = n->at, .normal = n->normal};
        n->touching = n->joined;
        if (n->joined) continue;
        if (!evaluated) n->asleep = exact_sleeps(x, n, x->time), n->known = false;
        if (n->asleep && !may_have_joined(x, n)) continue;
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

/* The impulse where no finite force exists; *idle: it changed nothing, and another one would not either. */
static abut_status push_at_once(exact *x, bool *idle, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    int64_t count = x->contacts.count;
    twist *before = arena_alloc(x->arena, (size_t)x->movable + 1, sizeof *before);
    bool happened = false;
    if (!before) return fail_memory(error);
    for (int i = 0; i < x->movable; i++) before[i] = x->motions[i].velocity;
    abut_status status = exact_impact(x, true, &happened, error);
    if (status == ABUT_OK) status = drop(x, FLIES, error);
    *idle = x->contacts.count == count;
    for (int i = 0; i < x->movable; i++) {
        twist now = x->motions[i].velocity;
        *idle &= vec3_distance(before[i].linear, now.linear) == 0 &&
                 vec3_distance(before[i].angular, now.angular) == 0;
    }
    arena_restore(x->arena, mark);
    return status;
}

/* Modes and forces; where no finite force exists, an impulse. */
static abut_status choose(exact *x, abut_error *error) {
    double powers[2];
    for (int round = 0; round < IMPACT_ROUNDS; round++) {
        abut_status status = exact_set_motors(x, error);
        if (status == ABUT_OK) status = exact_onset_choose(x, powers, error);
        forces_outcome outcome = x->result.outcome;
        /* an approximate solver never gets to the end: its residual is audited */
        bool rough = x->model->world.solver >= ABUT_SOLVER_PGS;
        if ((outcome == FORCES_BUDGET && !rough) || outcome == FORCES_CANNOT_STICK) x->confused = true;
        bool idle = false, added = false;
        if (status == ABUT_OK && outcome == FORCES_SOLVED && round < CUT_ROUNDS)
            status = exact_disc_cut(x, DISC_ACCELERATION, 1e-5 * exact_acceleration_limit(x), &added, error);
        if (added) continue;
        if (status != ABUT_OK || outcome != FORCES_NO_FINITE_FORCE) return status;
        status = push_at_once(x, &idle, error);
        if (status != ABUT_OK) return status;
        if (idle) break;
    }
    x->confused = true;
    return ABUT_OK;
}

/* What touches, and impacts until nothing approaches. */
static abut_status meet(exact *x, bool start, abut_error *error) {
    abut_status status = exact_update_touches(x, start, 0, error);
    if (status == ABUT_OK) status = exact_carry(x, error);
    if (status == ABUT_OK) status = exact_impacts(x, error);
    if (status == ABUT_OK) leave_limits(x);
    return status == ABUT_OK ? drop(x, FLIES_FAST, error) : status;
}

/* Modes and forces; flights that are too low to be told from contact are none (exact_chatter.c). */
static abut_status choose_and_hold(exact *x, abut_error *error) {
    exact_closing did = {.closed = true};
    for (int round = 0; round < HOLD_ROUNDS && did.closed; round++) {
        bool dropped = false;
        double energy = 0; /* of the flights that are held */
        abut_status status = choose(x, error);
        if (status == ABUT_OK) status = exact_hold_low(x, separation_limit(x), &dropped, &energy, error);
        if (status != ABUT_OK || !(dropped || energy > 0)) return status;
        if (dropped) continue;
        status = exact_close_velocities(x, 4 * energy, &did, error);
        if (status == ABUT_OK && did.closed) status = meet(x, false, error);
        if (status != ABUT_OK) return status;
    }
    abut_status status = drop(x, FLIES, error);
    return status == ABUT_OK ? choose(x, error) : status;
}

/* ---- the end of slip */

/* Slip ended at a place (-1: none), and where it is as good as over: directions are no longer known, and they
 * may stick.  What is left of it is closed. */
static abut_status end_slips(exact *x, int64_t item, abut_error *error) {
    exact_closing did;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        bool early = i == item ? x->late < 0 : isfinite(exact_slip_left(x, i));
        if (i != item && !early) continue;
        x->contacts.data[i].mode = FRICTION_STICK;
        x->contacts.data[i].anchored = false;
        x->touches.data[i].ended = early ? (int)i + 1 : 0;
        exact_face_sticks(x, i);
    }
    x->pace.hint = 0; /* the last steps were cut short by a direction of slip that turned ever faster */
    return exact_close_velocities(x, INFINITY, &did, error);
}

/* What happens to a hinge, told at its point of a. */
static abut_status emit_hinge(exact *x, abut_event_kind kind, int64_t entry, abut_error *error) {
    int number = x->hinges[entry];
    const hinge *h = &x->model->hinges[number].h;
    abut_event e = {.kind = kind,
                    .body = {h->a, h->b},
                    .entity = {{ABUT_ENTITY_HINGE, number}, {ABUT_ENTITY_HINGE, number}}};
    for (int i = 0; i < x->count; i++)
        if (x->bodies[i] == h->a)
            e.point = vec3_add(x->motions[i].center, quat_rotate(x->motions[i].rotation, h->pa));
    return exact_emit(x, e, error);
}

/* What an event does to memory before the touching set is settled. */
static abut_status handle(exact *x, exact_event e, abut_error *error) {
    if (e.kind == EXACT_LIMIT) {
        int64_t entry = e.item / 2;
        run_hinges(x->run->state)[x->hinges[entry]].at_limit = e.item & 1 ? 1 : -1;
        return emit_hinge(x, ABUT_EVENT_LIMIT, entry, error);
    }
    if (e.kind == EXACT_BREAKS) {
        const model_hinge *h = &x->model->hinges[x->hinges[e.item]];
        run_hinges(x->run->state)[x->hinges[e.item]].broken = 1;
        if (h->h.stiffness > 0) /* what its spring held goes with it */
            x->account->dissipated += hinge_spring_energy(&h->h, x->hinge_values[e.item]);
        return emit_hinge(x, ABUT_EVENT_HINGE_BROKEN, e.item, error);
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

/* What settling at the end of a slip changes, to go back to. */
typedef struct before_end {
    twist *velocities;
    group_contact *contacts;
    exact_touch *touches;
    contact_load *loads;
    int64_t count, events, strikes;
    double work, dissipated, hint;
    bool confused;
} before_end;

static bool save_before(exact *x, before_end *out) {
    size_t n = (size_t)x->contacts.count, movable = (size_t)x->movable;
    *out = (before_end){arena_alloc(x->arena, movable + 1, sizeof *out->velocities),
                        arena_alloc(x->arena, n + 1, sizeof *out->contacts),
                        arena_alloc(x->arena, n + 1, sizeof *out->touches),
                        arena_alloc(x->arena, n + 1, sizeof *out->loads),
                        x->contacts.count,
                        x->account->events.count,
                        x->strike_count,
                        x->account->work,
                        x->account->dissipated,
                        x->pace.hint,
                        x->confused};
    if (!out->velocities || !out->contacts || !out->touches || !out->loads) return false;
    for (size_t i = 0; i < movable; i++) out->velocities[i] = x->motions[i].velocity;
    if (n == 0) return true;
    memcpy(out->contacts, x->contacts.data, n * sizeof *out->contacts);
    memcpy(out->touches, x->touches.data, n * sizeof *out->touches);
    memcpy(out->loads, x->loads.data, n * sizeof *out->loads);
    return true;
}

/* The arrays had room for as many. */
static void go_back(exact *x, const before_end *b) {
    size_t n = (size_t)b->count;
    for (int i = 0; i < x->movable; i++) x->motions[i].velocity = b->velocities[i];
    memcpy(x->contacts.data, b->contacts, n * sizeof *b->contacts);
    memcpy(x->touches.data, b->touches, n * sizeof *b->touches);
    memcpy(x->loads.data, b->loads, n * sizeof *b->loads);
    x->contacts.count = x->touches.count = b->count;
    x->account->events.count = b->events, x->strike_count = b->strikes;
    x->account->work = b->work, x->account->dissipated = b->dissipated;
    x->pace.hint = b->hint, x->confused = b->confused, x->faces_stale = true;
    exact_measure_speed(x);
}

/* Slip that was ended early, and that the choice of modes lets go on: how soon it ends was judged by the
 * place alone.  Marked where it was before. */
static bool mark_going_on(const exact *x, before_end *before) {
    bool any = false;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        int ended = x->touches.data[i].ended;
        if (ended == 0 || x->contacts.data[i].mode != FRICTION_SLIP) continue;
        before->touches[ended - 1].slips_on = any = true;
    }
    return any;
}

/* The event without the ends of slip that were none. */
static exact_event without_ends(exact *x, exact_event e) {
    if (!x->touches.data[e.item].slips_on) return e;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        double left = exact_slip_left(x, i);
        if (!isfinite(left)) continue;
        x->late = -left;
        return (exact_event){.kind = EXACT_STICKS, .item = i, .time = e.time};
    }
    x->late = 0;
    return (exact_event){.kind = EXACT_NOTHING, .item = -1, .time = e.time};
}

/* ---- an instant */

static abut_status settle_once(exact *x, bool start, exact_event e, abut_error *error) {
    abut_status status = handle(x, e, error);
    if (status == ABUT_OK) status = meet(x, start, error);
    return status == ABUT_OK ? choose_and_hold(x, error) : status;
}

/* Where slip was ended early and goes on, velocities are as before, and it is not ended early again.  Each
 * round marks a place. */
static abut_status settle_event(exact *x, bool start, exact_event e, abut_error *error) {
    if (e.kind != EXACT_STICKS) return settle_once(x, start, e, error);
    arena_mark mark = arena_save(x->arena);
    before_end before;
    abut_status status = save_before(x, &before) ? ABUT_OK : fail_memory(error);
    while (status == ABUT_OK) {
        status = settle_once(x, start, e, error);
        if (status != ABUT_OK || e.kind != EXACT_STICKS || !mark_going_on(x, &before)) break;
        go_back(x, &before);
        e = without_ends(x, e);
    }
    arena_restore(x->arena, mark);
    return status;
}

abut_status exact_settle(exact *x, bool start, exact_event e, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    pair_marks before;
    if (!exact_mark_pairs(x, &before)) return fail_memory(error);
    exact_measure_speed(x);
    abut_status status = settle_event(x, start, e, error);
    if (status == ABUT_OK) status = drop(x, FLIES_OR_LEAVES, error);
    if (status == ABUT_OK) exact_free_motors(x), exact_anchor(x);
    if (status == ABUT_OK) exact_mark_touching(x, true);
    x->marked = status == ABUT_OK;
    if (status == ABUT_OK) status = emit_differences(x, &before, start, error);
    arena_restore(x->arena, mark);
    return status;
}

void exact_audit_overlap(exact *x) {
    x->account->deepest_overlap = fmax(x->account->deepest_overlap, exact_deepest(x));
    /* forces that were given up move nothing: time steps go on from here, and are audited themselves */
    /* motors that contradict each other share the difference, which a notice says */
    if (x->confused || x->result.outcome == FORCES_INCONSISTENT) return;
    /* where nothing pushes, accelerations are rounding, and so is what is left of them: it counts against
     * those of gravity and of the motion */
    double least = 1e7 * exact_acceleration_limit(x);
    x->account->residual = fmax(x->account->residual, fmin(x->result.residual, x->result.violation / least));
}

/* Limits at which a time step ended, or begins: they hold from now on. */
abut_status exact_reach_limits(exact *x, abut_error *error) {
    double powers[2];
    abut_status status = exact_prepare(x, x->time, powers, error); /* its velocities are others by now */
    bool any = false;
    for (int i = 0; i < x->hinge_count && status == ABUT_OK; i++) {
        hinge_memory *memory = &run_hinges(x->run->state)[x->hinges[i]];
        int side = memory->broken ? 0 : exact_limit_reached(x, i);
        if (side == 0 || side == memory->at_limit) continue;
        memory->at_limit = side, any = true;
        status = emit_hinge(x, ABUT_EVENT_LIMIT, i, error);
    }
    return status == ABUT_OK && any ? exact_prepare(x, x->time, powers, error) : status;
}

abut_status exact_settle_step(exact *x, const pair_marks *before, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    exact_measure_speed(x);
    abut_status status = exact_tell_made(x, x->time, error);
    if (status == ABUT_OK) status = exact_reach_limits(x, error);
    if (status == ABUT_OK) status = exact_update_touches(x, false, 0, error);
    if (status == ABUT_OK && exact_approach(x) > x->model->tolerance.rest_speed)
        status = exact_impacts(x, error);
    if (status == ABUT_FAILED) status = ABUT_OK; /* the next step has it, without restitution */
    if (status == ABUT_OK) leave_limits(x);
    if (status == ABUT_OK) status = drop(x, FLIES, error);
    if (status == ABUT_OK) status = emit_differences(x, before, true, error);
    arena_restore(x->arena, mark);
    exact_audit_overlap(x);
    return status;
}
