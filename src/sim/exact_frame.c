/* A frame of the exact clock.  Bodies whose swept boxes do not meet cannot touch within the frame, so the
 * world falls into groups that are moved one after the other, each with its own steps and events; the cost of
 * separate heaps adds up instead of multiplying.  Where a body leaves the box it was planned with (an impact
 * made it faster), the frame is undone and planned with larger boxes. */
#include "sim/exact.h"

enum { PLANS = 12 };

typedef struct plan {
    abut_sim *run;
    box *boxes;
    int *root; /* union-find over bodies */
    int *order;
    ARRAY(exact_pair) pairs; /* model bodies */
    double margin;
} plan;

/* ---- swept boxes */

/* Where the body can be during the frame: the ball around its centre, moved by its velocity, spin and twice
 * what gravity adds, times the margin of the plan. */
static box swept_box(const plan *p, int body, double h) {
    const model_body *b = &p->run->model->bodies[body];
    const motion *m = &run_motions(p->run->state)[body];
    double r = b->shape.radius;
    if (!isfinite(r)) return (box){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    box here = {vec3_sub(m->center, vec3_make(r, r, r)), vec3_add(m->center, vec3_make(r, r, r))};
    if (!b->movable && !b->kinematic) return here;
    double travel = vec3_length(m->velocity.linear) * h + vec3_length(p->run->model->world.gravity) * h * h;
    return box_grow(here, p->margin * (travel + 0.05 * r) + p->run->model->tolerance.touching);
}

/* ---- groups */

static int find_root(int *root, int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

static void join(plan *p, int a, int b) {
    if (!p->run->model->bodies[a].movable || !p->run->model->bodies[b].movable) return;
    a = find_root(p->root, a), b = find_root(p->root, b);
    if (a < b)
        p->root[b] = a;
    else
        p->root[a] = b;
}

static int by_lower_x(const void *user, const void *a, const void *b) {
    const box *boxes = user;
    int i = *(const int *)a, j = *(const int *)b;
    double x = boxes[i].lower.x, y = boxes[j].lower.x;
    return x < y ? -1 : x > y ? 1 : i - j;
}

/* Pairs of boxes that meet, by a sweep along x; pairs come out in the order of their bodies. */
static int by_bodies(const void *user, const void *a, const void *b) {
    (void)user;
    const exact_pair *p = a, *q = b;
    return p->a != q->a ? p->a - q->a : p->b - q->b;
}

static bool find_pairs(plan *p) {
    const abut_model *m = p->run->model;
    const abut_context *context = &p->run->context;
    for (int i = 0; i < m->body_count; i++) p->order[i] = i;
    if (!sort_stable(context, p->order, (size_t)m->body_count, sizeof *p->order, by_lower_x, p->boxes))
        return false;
    p->pairs.count = 0;
    for (int i = 0; i < m->body_count; i++)
        for (int j = i + 1; j < m->body_count; j++) {
            int a = p->order[i], b = p->order[j];
            if (p->boxes[b].lower.x > p->boxes[a].upper.x) break;
            if (!box_overlap(p->boxes[a], p->boxes[b]) || !model_may_touch(m, a, b)) continue;
            exact_pair pair = {.a = a < b ? a : b, .b = a < b ? b : a};
            if (!array_push(context, &p->pairs, pair)) return false;
        }
    return sort_stable(context, p->pairs.data, (size_t)p->pairs.count, sizeof *p->pairs.data, by_bodies,
                       NULL);
}

static void find_groups(plan *p) {
    const abut_model *m = p->run->model;
    for (int i = 0; i < m->body_count; i++) p->root[i] = i;
    for (int64_t i = 0; i < p->pairs.count; i++) join(p, p->pairs.data[i].a, p->pairs.data[i].b);
    for (int i = 0; i < m->hinge_count; i++)
        if (m->hinges[i].h.b >= 0) join(p, m->hinges[i].h.a, m->hinges[i].h.b);
    for (int i = 0; i < m->spring_count; i++)
        if (m->springs[i].b >= 0) join(p, m->springs[i].a, m->springs[i].b);
}

/* ---- setting up a group */

static int local_body(exact *x, int body) {
    if (body < 0) return -1;
    if (x->local_of[body] < 0) {
        x->local_of[body] = x->count;
        x->bodies[x->count++] = body;
    }
    return x->local_of[body];
}

static bool in_group(const plan *p, int body, int root) {
    return body >= 0 && p->run->model->bodies[body].movable && find_root(p->root, body) == root;
}

/* Arrays for at most all bodies and hinges of the model. */
static bool allocate(exact *x) {
    const abut_model *m = x->model;
    size_t n = (size_t)m->body_count + 1, h = (size_t)m->hinge_count + 1;
    x->row_capacity = m->hinge_count * (HINGE_MAX_ROWS + 2) + 1;
    size_t r = (size_t)x->row_capacity;
    x->bodies = arena_alloc(x->arena, n, sizeof *x->bodies);
    x->local_of = arena_alloc(x->arena, n, sizeof *x->local_of);
    x->inertias = arena_alloc(x->arena, n, sizeof *x->inertias);
    x->motions = arena_alloc(x->arena, n, sizeof *x->motions);
    x->wrenches = arena_alloc(x->arena, n, sizeof *x->wrenches);
    x->prescribed = arena_alloc(x->arena, n, sizeof *x->prescribed);
    x->accelerations = arena_alloc(x->arena, n, sizeof *x->accelerations);
    x->hinges = arena_alloc(x->arena, h, sizeof *x->hinges);
    x->hinge_values = arena_alloc(x->arena, h, sizeof *x->hinge_values);
    x->springs = arena_alloc(x->arena, (size_t)m->spring_count + 1, sizeof *x->springs);
    x->forces = arena_alloc(x->arena, (size_t)m->force_count + 1, sizeof *x->forces);
    x->rows = arena_alloc(x->arena, r, sizeof *x->rows);
    x->row_hinge = arena_alloc(x->arena, r, sizeof *x->row_hinge);
    x->row_states = arena_alloc(x->arena, r, sizeof *x->row_states);
    x->multipliers = arena_alloc(x->arena, r, sizeof *x->multipliers);
    size_t y = n * BODY_NUMBERS + EXACT_EXTRA;
    x->y = arena_alloc(x->arena, y, sizeof *x->y);
    x->y_dense = arena_alloc(x->arena, y, sizeof *x->y_dense);
    return x->bodies && x->local_of && x->inertias && x->motions && x->wrenches && x->prescribed &&
           x->accelerations && x->hinges && x->hinge_values && x->springs && x->forces && x->rows &&
           x->row_hinge && x->row_states && x->multipliers && x->y && x->y_dense;
}

/* Hinges, springs, forces and pairs that belong to the bodies of the group; `all` takes everything. */
static void add_members(exact *x, const plan *p, int root) {
    const abut_model *m = x->model;
    for (int i = 0; i < m->body_count; i++)
        if (m->bodies[i].movable && (root < 0 || in_group(p, i, root))) local_body(x, i);
    x->movable = x->count;
    for (int i = 0; i < m->hinge_count; i++) {
        const hinge *h = &m->hinges[i].h;
        if (root >= 0 && !in_group(p, h->a, root) && !in_group(p, h->b, root)) continue;
        local_body(x, h->a), local_body(x, h->b);
        x->timed |= h->has_motor;
        x->has_motor |= h->has_motor;
        x->hinge_values[x->hinge_count] = run_hinges(x->run->state)[i].coordinate;
        x->hinges[x->hinge_count++] = i;
    }
    for (int i = 0; i < m->spring_count; i++) {
        const model_spring *s = &m->springs[i];
        if (root >= 0 && !in_group(p, s->a, root) && !in_group(p, s->b, root)) continue;
        local_body(x, s->a), local_body(x, s->b);
        x->springs[x->spring_count++] = i;
    }
    for (int i = 0; i < m->force_count; i++) {
        if (root >= 0 && !in_group(p, m->forces[i].body, root)) continue;
        local_body(x, m->forces[i].body);
        x->timed |= m->forces[i].function != NULL;
        x->forces[x->force_count++] = i;
    }
}

static bool add_pairs(exact *x, const plan *p, int root) {
    x->pairs = arena_alloc(x->arena, (size_t)p->pairs.count + 1, sizeof *x->pairs);
    x->pair_speeds = arena_alloc(x->arena, (size_t)p->pairs.count + 1, sizeof *x->pair_speeds);
    x->pair_spins = arena_alloc(x->arena, (size_t)p->pairs.count + 1, sizeof *x->pair_spins);
    if (!x->pairs || !x->pair_speeds || !x->pair_spins) return false;
    for (int64_t i = 0; i < p->pairs.count; i++) {
        exact_pair q = p->pairs.data[i];
        if (root >= 0 && !in_group(p, q.a, root) && !in_group(p, q.b, root)) continue;
        x->pairs[x->pair_count++] = (exact_pair){.a = local_body(x, q.a), .b = local_body(x, q.b)};
    }
    return true;
}

/* The touches that a state remembers of this group's bodies. */
static bool load_touches(exact *x, run_state *s) {
    const abut_context *context = &x->run->context;
    for (int i = 0; i < s->touch_count; i++) {
        const touch *t = &run_touches(s)[i];
        int a = x->local_of[t->a], b = x->local_of[t->b];
        if (a < 0 || b < 0 || (a >= x->movable && b >= x->movable)) continue;
        const model_material *m = model_pair(x->model, t->a, t->b);
        group_contact c = {.a = a,
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
                           .anchor_b = t->anchor_b};
        exact_touch e = {.pair = t->pair, .slip_start = t->slip_along, .rolls = t->rolls, .clear = t->clear};
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
}

static abut_status begin_group(exact *x, abut_sim *run, const plan *p, int root, run_state *memory,
                               abut_error *error) {
    *x = (exact){.run = run, .model = run->model, .arena = &run->scratch, .time = run->state->time};
    x->scratch = (group_scratch){&run->scratch, run->lcp};
    if (!allocate(x)) return fail_memory(error);
    for (int i = 0; i < x->model->body_count; i++) x->local_of[i] = -1;
    add_members(x, p, root);
    if (!add_pairs(x, p, root)) return fail_memory(error);
    for (int i = 0; i < x->count; i++) {
        const model_body *b = &x->model->bodies[x->bodies[i]];
        x->inertias[i] = b->inertia;
        x->motions[i] = run_motions(run->state)[x->bodies[i]];
        if (i < x->movable) slower_pace(&x->pace, &run_paces(run->state)[x->bodies[i]]);
        x->timed |= b->kinematic;
        if (!b->kinematic) continue;
        abut_status status =
            model_kinematic_motion(x->model, x->bodies[i], x->time, &x->motions[i], &x->prescribed[i], error);
        if (status != ABUT_OK) return status;
    }
    return load_touches(x, memory) ? ABUT_OK : fail_memory(error);
}

void exact_free(exact *x) {
    const abut_context *context = &x->run->context;
    array_free(context, &x->nears);
    array_free(context, &x->touches);
    array_free(context, &x->contacts);
    array_free(context, &x->loads);
    if (x->integrator_ready) ode_free(&x->integrator);
    rolling_free(x->rolling);
}

/* ---- storing what a group did */

static abut_status store_group(exact *x, abut_error *error) {
    abut_sim *run = x->run;
    for (int i = 0; i < x->movable; i++) run_motions(run->state)[x->bodies[i]] = x->motions[i];
    for (int i = 0; i < x->movable; i++) run_paces(run->state)[x->bodies[i]] = x->pace;
    for (int i = 0; i < x->movable; i++) run->accelerations[x->bodies[i]] = x->accelerations[i];
    for (int i = 0; i < x->hinge_count; i++)
        run_hinges(run->state)[x->hinges[i]].coordinate = x->hinge_values[i];
    if (!run_reserve_touches(run, run->state->touch_count + (int)x->contacts.count))
        return fail_memory(error);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        run_touches(run->state)[run->state->touch_count++] = (touch){.a = x->bodies[c->a],
                                                                     .b = x->bodies[c->b],
                                                                     .pair = x->touches.data[i].pair,
                                                                     .mode = c->mode,
                                                                     .rolling = c->rolling,
                                                                     .spinning = c->spinning,
                                                                     .pressed = c->pressed,
                                                                     .anchored = c->anchored,
                                                                     .rolls = x->touches.data[i].rolls,
                                                                     .clear = x->touches.data[i].clear,
                                                                     .slip_along = c->slip_along,
                                                                     .roll_along = c->roll_along,
                                                                     .spin_along = c->spin_along,
                                                                     .anchor_a = c->anchor_a,
                                                                     .anchor_b = c->anchor_b};
    }
    return ABUT_OK;
}

/* Groups read the contact memory of the frame's start (run->saved) and write the new one. */
static abut_status run_groups(plan *p, double until, abut_error *error) {
    abut_sim *run = p->run;
    const abut_model *m = run->model;
    abut_status status = ABUT_OK;
    run->state->touch_count = 0;
    for (int root = 0; root < m->body_count && status == ABUT_OK; root++) {
        if (!m->bodies[root].movable || find_root(p->root, root) != root) continue;
        arena_mark mark = arena_save(&run->scratch);
        exact x;
        status = begin_group(&x, run, p, root, run->saved, error);
        x.end = until;
        if (status == ABUT_OK) status = exact_start_integrator(&x, error);
        if (status == ABUT_OK) status = exact_advance(&x, error);
        if (status == ABUT_OK) status = store_group(&x, error);
        exact_free(&x);
        arena_restore(&run->scratch, mark);
    }
    return status;
}

/* ---- the frame */

static bool begin_plan(plan *p, abut_sim *run, double margin) {
    size_t n = (size_t)run->model->body_count + 1;
    *p = (plan){.run = run, .margin = margin};
    p->boxes = arena_alloc(&run->scratch, n, sizeof *p->boxes);
    p->root = arena_alloc(&run->scratch, n, sizeof *p->root);
    p->order = arena_alloc(&run->scratch, n, sizeof *p->order);
    return p->boxes && p->root && p->order;
}

static bool make_plan(plan *p, double h) {
    for (int i = 0; i < p->run->model->body_count; i++) p->boxes[i] = swept_box(p, i, h);
    if (!find_pairs(p)) return false;
    find_groups(p);
    return true;
}

/* Every body is still inside its box; the boxes are balls, so that its centre tells. */
static bool kept_plan(const plan *p) {
    for (int i = 0; i < p->run->model->body_count; i++) {
        const model_body *b = &p->run->model->bodies[i];
        if (!b->movable) continue;
        double r = b->shape.radius;
        vec3 c = run_motions(p->run->state)[i].center, e = {r, r, r};
        box here = {vec3_sub(c, e), vec3_add(c, e)};
        if (!box_overlap(here, p->boxes[i])) return false;
        if (here.lower.x < p->boxes[i].lower.x || here.lower.y < p->boxes[i].lower.y ||
            here.lower.z < p->boxes[i].lower.z || here.upper.x > p->boxes[i].upper.x ||
            here.upper.y > p->boxes[i].upper.y || here.upper.z > p->boxes[i].upper.z)
            return false;
    }
    return true;
}

static void move_kinematic(abut_sim *run, double time) {
    for (int i = 0; i < run->model->body_count; i++)
        if (run->model->bodies[i].kinematic)
            model_kinematic_motion(run->model, i, time, &run_motions(run->state)[i], &run->accelerations[i],
                                   NULL);
}

static void clear_frame(abut_sim *run) {
    run->events.count = run->segments.count = run->segment_bodies.count = run->segment_numbers.count = 0;
}

abut_status exact_frame(abut_sim *run, double until, abut_error *error) {
    double h = until - run->state->time;
    memcpy(run->saved, run->state, run->state_bytes);
    double margin = 1.25;
    for (int i = 0; i < PLANS; i++, margin *= 3) {
        arena_mark mark = arena_save(&run->scratch);
        plan p;
        clear_frame(run);
        bool fine = begin_plan(&p, run, margin) && make_plan(&p, h);
        abut_status status = fine ? run_groups(&p, until, error) : fail_memory(error);
        bool kept = status == ABUT_OK && kept_plan(&p);
        array_free(&run->context, &p.pairs);
        arena_restore(&run->scratch, mark);
        if (status != ABUT_OK) return status;
        if (kept) {
            run->state->time = until;
            move_kinematic(run, until);
            return ABUT_OK;
        }
        memcpy(run->state, run->saved, run->state_bytes);
    }
    return fail(
        error, ABUT_FAILED,
        "a body left every bound planned for the frame that starts at t = %.9g; use a shorter `frame`",
        run->state->time);
}

abut_status exact_look(abut_sim *run, exact *x, abut_error *error) {
    plan p;
    double powers[2];
    *x = (exact){.run = run};
    if (!begin_plan(&p, run, 1) || !make_plan(&p, 0)) return fail_memory(error);
    abut_status status = begin_group(x, run, &p, -1, run->state, error);
    array_free(&run->context, &p.pairs);
    if (status == ABUT_OK) status = exact_accelerate(x, x->time, false, true, powers, error);
    return status;
}
