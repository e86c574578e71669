/* A frame of the exact clock.  The plan says what may meet; its groups are moved apart from each other, each
 * with its own steps and events, on as many threads as there are.  Where a body leaves the box it was planned
 * with (an impact made it faster), its group stops at once, the frame is undone and planned with larger
 * boxes. */
#include "sim/exact_path.h"

#include <stdatomic.h>

enum { PLANS = 12 };

/* ---- setting up a group */

static int local_body(exact *x, int body) {
    if (body < 0) return -1;
    if (x->local_of[body] < 0) {
        x->local_of[body] = x->count;
        x->bodies[x->count++] = body;
    }
    return x->local_of[body];
}

static int count_of(const exact_members *m, int number) { return m->first[number + 1] - m->first[number]; }
static const int *items_of(const exact_members *m, int number) { return m->list + m->first[number]; }

/* Arrays for the bodies of the group, and at most two others for each thing that holds on to them. */
static bool allocate(exact *x, const exact_plan *p, int number) {
    int hinges = count_of(&p->hinges, number), pairs = count_of(&p->meetings, number),
        springs = count_of(&p->springs, number);
    int others = hinges + springs + pairs, most = x->model->body_count;
    if (others < most) most = count_of(&p->bodies, number) + others;
    size_t n = (size_t)most + 1, h = (size_t)hinges + 1, y = n * BODY_NUMBERS + EXACT_EXTRA;
    x->row_capacity = hinges * (HINGE_MAX_ROWS + 2) + 1;
    size_t r = (size_t)x->row_capacity, q = (size_t)pairs + 1;
    x->bodies = arena_alloc(x->arena, n, sizeof *x->bodies);
    x->inertias = arena_alloc(x->arena, n, sizeof *x->inertias);
    x->motions = arena_alloc(x->arena, n, sizeof *x->motions);
    x->wrenches = arena_alloc(x->arena, n, sizeof *x->wrenches);
    x->prescribed = arena_alloc(x->arena, n, sizeof *x->prescribed);
    x->accelerations = arena_alloc(x->arena, n, sizeof *x->accelerations);
    x->hinges = arena_alloc(x->arena, h, sizeof *x->hinges);
    x->hinge_values = arena_alloc(x->arena, h, sizeof *x->hinge_values);
    x->hinge_known = arena_alloc(x->arena, h, sizeof *x->hinge_known);
    x->motor_pulls = arena_alloc(x->arena, h, sizeof *x->motor_pulls);
    x->springs = arena_alloc(x->arena, (size_t)springs + 1, sizeof *x->springs);
    x->forces = arena_alloc(x->arena, (size_t)count_of(&p->forces, number) + 1, sizeof *x->forces);
    x->rows = arena_alloc(x->arena, r, sizeof *x->rows);
    x->row_hinge = arena_alloc(x->arena, r, sizeof *x->row_hinge);
    x->row_kinds = arena_alloc(x->arena, r, sizeof *x->row_kinds);
    x->row_states = arena_alloc(x->arena, r, sizeof *x->row_states);
    x->bound_states = arena_alloc(x->arena, 2 * h, sizeof *x->bound_states);
    x->multipliers = arena_alloc(x->arena, r, sizeof *x->multipliers);
    x->pairs = arena_alloc(x->arena, q, sizeof *x->pairs);
    x->pair_speeds = arena_alloc(x->arena, q, sizeof *x->pair_speeds);
    x->pair_spins = arena_alloc(x->arena, q, sizeof *x->pair_spins);
    x->placed_at = arena_alloc(x->arena, n, sizeof *x->placed_at);
    x->paths = arena_alloc(x->arena, n, sizeof *x->paths);
    x->path_points = arena_alloc(x->arena, n * PATH_PLACES, sizeof *x->path_points);
    x->y = arena_alloc(x->arena, y, sizeof *x->y);
    x->y_dense = arena_alloc(x->arena, y, sizeof *x->y_dense);
    return x->bodies && x->inertias && x->motions && x->wrenches && x->prescribed && x->accelerations &&
           x->hinges && x->hinge_values && x->hinge_known && x->motor_pulls && x->springs && x->forces &&
           x->rows && x->row_hinge && x->row_kinds && x->row_states && x->bound_states && x->multipliers &&
           x->pairs && x->pair_speeds && x->pair_spins && x->placed_at && x->paths && x->path_points &&
           x->y && x->y_dense;
}

/* Bodies, hinges, springs, forces and pairs of the group; immovable bodies come behind those that move. */
static void add_members(exact *x, const exact_plan *p, int number) {
    const abut_model *m = x->model;
    for (int k = 0; k < count_of(&p->bodies, number); k++) local_body(x, items_of(&p->bodies, number)[k]);
    x->movable = x->count;
    for (int k = 0; k < count_of(&p->hinges, number); k++) {
        int i = items_of(&p->hinges, number)[k];
        const hinge *h = &m->hinges[i].h;
        local_body(x, h->a), local_body(x, h->b);
        x->timed |= h->has_motor;
        x->has_motor |= h->has_motor;
        x->hinge_values[x->hinge_count] = x->hinge_known[x->hinge_count] =
            run_hinges(x->run->state)[i].coordinate;
        x->hinges[x->hinge_count++] = i;
    }
    for (int k = 0; k < count_of(&p->springs, number); k++) {
        int i = items_of(&p->springs, number)[k];
        local_body(x, m->springs[i].a), local_body(x, m->springs[i].b);
        x->springs[x->spring_count++] = i;
    }
    for (int k = 0; k < count_of(&p->forces, number); k++) {
        int i = items_of(&p->forces, number)[k];
        x->timed |= m->forces[i].function != NULL;
        x->forces[x->force_count++] = i;
    }
    for (int k = 0; k < count_of(&p->meetings, number); k++) {
        const exact_pair *q = &p->pairs.data[items_of(&p->meetings, number)[k]];
        int a = local_body(x, q->a), b = local_body(x, q->b);
        x->pairs[x->pair_count++] = (exact_pair){.a = a, .b = b};
    }
}

static group_contact remembered_contact(const abut_model *model, const touch *t, int a, int b) {
    const model_material *m = model_pair(model, t->a, t->b);
    return (group_contact){.a = a,
                           .b = b,
                           .restitution = m->restitution,
                           .friction = m->friction,
                           .mode = (friction_mode)t->mode,
                           .rolling = (friction_mode)t->rolling,
                           .spinning = (friction_mode)t->spinning,
                           .slip_along = t->slip_along,
                           .roll_along = t->roll_along,
                           .spin_along = t->spin_along,
                           .pressed = t->pressed,
                           .anchored = t->anchored,
                           .anchor_a = t->anchor_a,
                           .anchor_b = t->anchor_b,
                           .push = t->push};
}

/* The touches that a state remembers of this group's bodies. */
static bool load_touches(exact *x, const exact_plan *p, int number, run_state *s) {
    const abut_context *context = &x->run->context;
    for (int i = 0; i < count_of(&p->touches, number); i++) {
        const touch *t = &run_touches(s)[items_of(&p->touches, number)[i]];
        int a = x->local_of[t->a], b = x->local_of[t->b];
        if (a < 0 || b < 0) continue;
        group_contact c = remembered_contact(x->model, t, a, b);
        exact_touch e = {.pair = t->pair,
                         .slip_start = t->slip_along,
                         .roll_start = t->roll_along,
                         .spin_start = t->spin_along,
                         .rolls = t->rolls,
                         .clear = t->clear,
                         .made_at = t->made_at};
        if (!array_push(context, &x->contacts, c) || !array_push(context, &x->touches, e)) return false;
        x->rolls |= e.rolls, x->clear = e.clear;
        if (e.rolls) x->rolling_body[0] = t->a, x->rolling_body[1] = t->b;
    }
    return array_reserve(context, &x->loads, x->contacts.count + 1);
}

/* Bodies that were stepped apart go on together with the smaller step and window, and the longer storm. */
static void slower_pace(step_pace *pace, const step_pace *other) {
    if (other->hint > 0 && !(pace->hint > 0 && pace->hint < other->hint)) pace->hint = other->hint;
    if (other->window != 0 && !(pace->window != 0 && fabs(pace->window) < fabs(other->window)))
        pace->window = other->window, pace->cost = other->cost;
    pace->steps_left = fmax(pace->steps_left, other->steps_left);
    pace->stepped = fmax(pace->stepped, other->stepped);
    pace->calm_since = fmax(pace->calm_since, other->calm_since);
    pace->lost += other->lost;
}

static abut_status begin_group(exact *x, const exact_plan *p, int number, run_lane *lane, run_state *memory,
                               abut_error *error) {
    abut_sim *run = p->run;
    *x = (exact){.run = run, .model = run->model, .arena = &lane->scratch, .time = run->state->time};
    x->faces_stale = true;
    x->scratch = (group_scratch){&lane->scratch, lane->lcp};
    x->local_of = lane->local_of;
    if (!allocate(x, p, number)) return fail_memory(error);
    add_members(x, p, number);
    for (int i = 0; i < x->count; i++) {
        const model_body *b = &x->model->bodies[x->bodies[i]];
        x->inertias[i] = b->inertia;
        x->motions[i] = run_motions(run->state)[x->bodies[i]];
        if (i < x->movable) slower_pace(&x->pace, &run_paces(run->state)[x->bodies[i]]);
        x->timed |= b->kinematic, x->follows |= b->kinematic && b->function;
        if (!b->kinematic) continue;
        abut_status status =
            model_kinematic_motion(x->model, x->bodies[i], x->time, &x->motions[i], &x->prescribed[i], error);
        if (status != ABUT_OK) return status;
    }
    return load_touches(x, p, number, memory) ? ABUT_OK : fail_memory(error);
}

void exact_free(exact *x) {
    const abut_context *context = &x->run->context;
    for (int i = 0; i < x->count; i++) x->local_of[x->bodies[i]] = -1;
    array_free(context, &x->nears);
    array_free(context, &x->spare_nears);
    array_free(context, &x->carried);
    array_free(context, &x->touches);
    array_free(context, &x->contacts);
    array_free(context, &x->loads);
    exact_free_faces(x);
    if (x->integrator_ready) ode_free(&x->integrator);
    if (x->implicit.memory) radau_free(&x->implicit);
    rolling_free(x->rolling);
}

/* ---- storing what a group did */

static touch remember(const exact *x, int64_t i) {
    const group_contact *c = &x->contacts.data[i];
    const exact_touch *t = &x->touches.data[i];
    return (touch){.a = x->bodies[c->a],
                   .b = x->bodies[c->b],
                   .pair = t->pair,
                   .mode = c->mode,
                   .rolling = c->rolling,
                   .spinning = c->spinning,
                   .pressed = c->pressed,
                   .anchored = c->anchored,
                   .rolls = t->rolls,
                   .clear = t->clear,
                   .made_at = t->made_at,
                   .slip_along = c->slip_along,
                   .roll_along = c->roll_along,
                   .spin_along = c->spin_along,
                   .anchor_a = c->anchor_a,
                   .anchor_b = c->anchor_b,
                   .push = c->push};
}

static abut_status store_group(exact *x, abut_error *error) {
    abut_sim *run = x->run;
    for (int i = 0; i < x->movable; i++) run_motions(run->state)[x->bodies[i]] = x->motions[i];
    x->pace.lost /= x->movable;
    for (int i = 0; i < x->movable; i++) run_paces(run->state)[x->bodies[i]] = x->pace;
    for (int i = 0; i < x->movable; i++) run->accelerations[x->bodies[i]] = x->accelerations[i];
    for (int i = 0; i < x->hinge_count; i++)
        run_hinges(run->state)[x->hinges[i]].coordinate = x->hinge_known[i];
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (!array_push(&run->context, &x->account->touches, remember(x, i))) return fail_memory(error);
    return rolling_keep_ahead(x, error);
}

/* ---- moving groups */

/* Groups read the contact memory of the frame's start (run->saved); each writes the motions of its own bodies
 * and hinges, and its account. */
static void move_group(const exact_plan *p, int number, run_lane *lane, double until) {
    run_account *account = &p->run->accounts.data[number];
    abut_error *error = &account->error;
    arena_mark mark = arena_save(&lane->scratch);
    exact x;
    run_account_clear(account);
    abut_status status = begin_group(&x, p, number, lane, p->run->saved, error);
    x.end = until, x.account = account, x.plan = p;
    if (status == ABUT_OK) status = exact_advance(&x, error);
    if (status == ABUT_OK) exact_plan_left(p, &x); /* also in the last step */
    if (status == ABUT_OK) status = store_group(&x, error);
    account->status = status;
    exact_free(&x);
    arena_restore(&lane->scratch, mark);
}

typedef struct crew {
    const exact_plan *plan;
    double until;
    atomic_int next; /* group that nobody has taken */
} crew;

/* Takes group after group that asks no function of the caller. */
static void move_some(void *argument, int lane) {
    crew *c = argument;
    for (int g; (g = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < c->plan->group_count;)
        if (!c->plan->calls[g]) move_group(c->plan, g, c->plan->run->lanes.data[lane], c->until);
}

static abut_status move_groups(const exact_plan *p, double until, abut_error *error) {
    abut_sim *run = p->run;
    int lanes = parallel_threads(&run->context);
    if (lanes > p->group_count) lanes = p->group_count;
    if (!run_reserve_accounts(run, p->group_count) || !run_reserve_lanes(run, lanes))
        return fail_memory(error);
    run->state->touch_count = 0, run->account_count = p->group_count;
    crew c = {.plan = p, .until = until};
    if (lanes > 1)
        parallel_for(&run->context, lanes, move_some, &c);
    else
        move_some(&c, 0);
    for (int g = 0; g < p->group_count; g++)
        if (p->calls[g]) move_group(p, g, run->lanes.data[0], until);
    return run_add_accounts(run, error);
}

/* ---- the frame */

static abut_status move_kinematic(abut_sim *run, double time, abut_error *error) {
    abut_status status = ABUT_OK;
    for (int i = 0; i < run->model->body_count && status == ABUT_OK; i++)
        if (run->model->bodies[i].kinematic)
            status = model_kinematic_motion(run->model, i, time, &run_motions(run->state)[i],
                                            &run->accelerations[i], error);
    return status;
}

abut_status exact_frame(abut_sim *run, double until, abut_error *error) {
    double h = until - run->state->time;
    memcpy(run->saved, run->state, run->state_bytes);
    arena_mark outer = arena_save(&run->scratch);
    size_t bodies = (size_t)run->model->body_count;
    double *reaches = arena_alloc(&run->scratch, bodies + 1, sizeof *reaches);
    spatial *accelerations = arena_alloc(&run->scratch, bodies + 1, sizeof *accelerations);
    if (!reaches || !accelerations) return fail_memory(error);
    memcpy(accelerations, run->accelerations, bodies * sizeof *accelerations);
    for (int i = 0; i < PLANS; i++) {
        arena_mark mark = arena_save(&run->scratch);
        exact_plan p;
        run_clear_accounts(run);
        bool fine = exact_plan_make(&p, run, h, reaches, false);
        abut_status status = fine ? move_groups(&p, until, error) : fail_memory(error);
        bool kept = status == ABUT_OK && exact_plan_kept(&p);
        exact_plan_free(&p);
        arena_restore(&run->scratch, mark);
        if (kept) {
            run->state->time = until;
            status = move_kinematic(run, until, error);
            kept = status == ABUT_OK;
            if (kept) status = run_take_aheads(run, error);
        }
        if (!kept) {
            memcpy(run->state, run->saved, run->state_bytes);
            memcpy(run->accelerations, accelerations, bodies * sizeof *accelerations);
        }
        if (kept || status != ABUT_OK) {
            arena_restore(&run->scratch, outer);
            return status;
        }
    }
    arena_restore(&run->scratch, outer);
    return fail(
        error, ABUT_FAILED,
        "a body left every bound planned for the frame that starts at t = %.9g; use a shorter `frame`",
        run->state->time);
}

abut_status exact_look(abut_sim *run, exact *x, abut_error *error) {
    exact_plan p;
    double powers[2];
    *x = (exact){.run = run};
    abut_status status = exact_plan_make(&p, run, 0, NULL, true) ? ABUT_OK : fail_memory(error);
    bool moves = status == ABUT_OK && p.group_count > 0;
    if (moves) status = begin_group(x, &p, 0, run->lanes.data[0], run->state, error);
    exact_plan_free(&p);
    if (moves && status == ABUT_OK && !rolling_knows_load(x))
        status = exact_accelerate(x, x->time, false, true, powers, error);
    return status;
}
