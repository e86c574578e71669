/* The loop of a group (DESIGN section 6): integrate, find the event, correct, settle, record. */
#include "sim/exact.h"

#include <float.h>

/* Steps that do not grow before slip is taken to creep, and after that did not pay. */
enum { CALM_STEPS = 8, CALM_AGAIN = 64 };
enum { STEP_BUDGET = 10000000, VELOCITY_NUMBER = 7 /* of a body's numbers: the first of its velocities */ };

/* ---- rest */

/* One without a shape is as large as a ring of its inertia. */
double exact_surface_speed(const exact *x, int body, spatial v) {
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
        if (exact_surface_speed(x, i, x->motions[i].velocity) > slow) return true;
    for (int i = x->movable; i < x->count; i++)
        if (x->model->bodies[x->bodies[i]].kinematic) return true;
    return false;
}

/* Whether a body of the model is one that no force moves; b = -1: the ground. */
static bool is_held(const exact *x, int body) {
    return body < 0 || !(x->model->bodies[body].inertia.inverse_mass > 0);
}

/* Nothing outside of the group takes momentum from it: no contact, hinge or spring holds it, and no drag. */
static bool floats(const exact *x) {
    for (int i = 0; i < x->movable; i++) {
        const model_body *b = &x->model->bodies[x->bodies[i]];
        if (b->drag_linear > 0 || b->drag_angular > 0) return false;
    }
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (is_held(x, x->bodies[x->contacts.data[i].a]) || is_held(x, x->bodies[x->contacts.data[i].b]))
            return false;
    for (int i = 0; i < x->hinge_count; i++) {
        const hinge *h = &x->model->hinges[x->hinges[i]].h;
        if (is_held(x, h->a) || is_held(x, h->b)) return false;
    }
    for (int i = 0; i < x->spring_count; i++) {
        const model_spring *s = &x->model->springs[x->springs[i]];
        if (is_held(x, s->a) || is_held(x, s->b)) return false;
    }
    return true;
}

/* Nothing moves, nothing accelerates, no load changes with time: the next event comes from outside.  What
 * nothing holds may have been struck by something 1e12 times lighter, and keeps that momentum: there only
 * rounding is rest. */
static bool at_rest(const exact *x) {
    double gravity = 1e-3 + vec3_length(x->model->world.gravity), part = floats(x) ? 1e-15 : 1e-9;
    if (exact_moves(x, part * sqrt(x->model->size * gravity))) return false;
    for (int i = 0; i < x->movable; i++)
        if (exact_surface_speed(x, i, x->accelerations[i]) > 1e-9 * gravity) return false;
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

/* Longest step: to the end, no more than half a radian, and no longer than it takes a function to lead a body
 * away from a straight path by an eighth of its size. */
static double step_limit(const exact *x) {
    double h = x->end - x->time, spin = 0;
    for (int i = 0; i < x->count; i++) {
        const kinematic_most *most = exact_most(x, i);
        double r = x->model->bodies[x->bodies[i]].shape.radius;
        spin = fmax(spin, most ? 2 * most->rotation[1] : vec3_length(x->motions[i].velocity.angular));
        if (!(r > 0 && isfinite(r))) r = x->model->size;
        if (most && most->center[2] * h * h > 0.25 * r) h = sqrt(0.25 * r / most->center[2]);
    }
    if (spin * h > 0.5) h = 0.5 / spin;
    return h;
}

/* How fast pairs of bodies move between the ends of the step: in its middle, and more often where a function
 * moves one. */
static abut_status look_between(exact *x, double start, double reached, abut_error *error) {
    int parts = x->follows ? 8 : 2;
    abut_status status = ABUT_OK;
    for (int k = 1; k < parts && status == ABUT_OK; k++) {
        status = exact_place_dense(x, start + (reached - start) * k / parts, error);
        exact_measure_speeds(x);
    }
    return status;
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
    if (!run_keeps_segments(x->run) || !(end_time > start)) return ABUT_OK;
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
        if (x->row_kinds[i] == ROW_LIMIT && memory->at_limit &&
            x->rows[i].error > x->model->tolerance.touching)
            memory->at_limit = 0;
    }
}

/* Whether explicit steps would be held short by what damping has long stopped: h decay < 6 for stability,
 * where the motion alone would let them be as long as `time`.  An implicit step costs some ten of them, and
 * its equations grow with the bodies. */
static bool is_stiff(const exact *x, double time) {
    return exact_find_paces(x, time).decay * time > 100 * (1 + x->movable);
}

/* How fast friction turns slow slip at the placed state: across a slip of the speed u what turns it decays
 * with mu N k / u,  k = e . M^-1 e of the place; hinges and other places make that less. */
static double slip_decay(const exact *x) {
    double decay = 0;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        vec3 u = contact_slip(&c->point, &x->motions[c->a], &x->motions[c->b]);
        double speed = vec3_length(u);
        if (c->mode != FRICTION_SLIP || c->face > 0 || !(speed > 0)) continue;
        vec3 across = vec3_cross(c->point.normal, vec3_scale(u, 1 / speed));
        double k = exact_mobility(x, c, across);
        decay = fmax(decay, c->friction.slide * x->loads.data[i].normal * k / speed);
    }
    return decay;
}

/* Whether stability holds explicit steps short while slip creeps: some in a row were not ended by an event
 * and did not grow, and were as long as the decay of the slip may allow.  (Steps are short for other reasons,
 * too: slip that begins or ends.)  An implicit step costs as much as 1 + bodies explicit ones, so it must be
 * longer. */
static bool creeps(const exact *x, double time) {
    return x->calm >= CALM_STEPS && time > (1 + x->movable) * x->short_step &&
           slip_decay(x) * x->short_step > 2;
}

/* After a step: how many were calm in a row; an implicit one that did not pay is not tried again soon. */
static void count_calm(exact *x, bool crept) {
    double length = x->integrator.t - x->integrator.t_old;
    if (crept) {
        if (length < (1 + x->movable) * x->short_step) x->calm = -CALM_AGAIN;
        return;
    }
    bool breaks = x->cut_short || x->pace.hint > 1.5 * length;
    x->calm = breaks && x->calm >= 0 ? 0 : x->calm + 1;
    x->short_step = length;
}

/* One step towards `until`.  *crept: implicitly, for slow slip. */
static abut_status integrate(exact *x, double until, bool *crept, abut_error *error) {
    double time = until - x->time;
    *crept = creeps(x, time);
    if (!*crept && !is_stiff(x, time)) return ode_step(&x->integrator, until, error);
    if (!x->implicit.memory) {
        abut_status status = radau_init(&x->implicit, &x->run->context, exact_numbers(x));
        if (status != ABUT_OK) return fail_memory(error);
    }
    if (*crept) x->integrator.h = fmax(x->integrator.h, fmin(4 * (1 + x->movable) * x->short_step, time));
    abut_status status = radau_step(&x->implicit, &x->integrator, until, error);
    return status == ABUT_FAILED ? ode_step(&x->integrator, until, error) : status;
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
    bool crept = false;
    if (status == ABUT_OK) status = integrate(x, until, &crept, error);
    if (status != ABUT_OK) return status;
    double reached = x->integrator.t;
    bool crumb =
        until == x->end && until - start < 1e-3 * hint; /* of a frame: it tells nothing of the next */
    x->pace.hint = crumb ? hint : x->integrator.h;
    status = look_between(x, start, reached, error);
    if (status == ABUT_OK) status = exact_place_dense(x, reached, error);
    if (status != ABUT_OK) return status;
    reached = rolling_within_known(x, start, exact_within_reach(x, start, reached));
    exact_event e = exact_find_event(x, start, reached);
    reached = e.kind != EXACT_NOTHING ? e.time : x->proven;
    x->cut_short = e.kind != EXACT_NOTHING;
    count_calm(x, crept);
    status = exact_keep_segment(x, start, reached, error);
    if (status == ABUT_OK) status = exact_place_dense(x, reached, error);
    if (status != ABUT_OK) return status;
    x->account->dissipated += x->y_dense[BODY_NUMBERS * x->movable];
    x->account->work += x->y_dense[BODY_NUMBERS * x->movable + 1];
    x->time = reached;
    x->account->steps++;
    exact_count_moved(x, reached - start);
    if (e.kind == EXACT_MOTOR) status = exact_set_motors(x, error);
    if (status == ABUT_OK) status = exact_correct(x, reached, error);
    if (status == ABUT_OK) exact_know_hinges(x), release_limits(x);
    if (status == ABUT_OK) status = exact_tell_made(x, reached, error);
    if (status == ABUT_OK) status = exact_settle(x, false, e, error);
    x->late = 0;
    exact_audit_overlap(x);
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
    return exact_settle(x, false, (exact_event){.kind = EXACT_NOTHING, .item = -1}, error);
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
    return status == ABUT_OK ? exact_settle(x, false, e, error) : status;
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
    if ((status == ABUT_FAILED || status == ABUT_BUDGET || status == ABUT_INFEASIBLE) && !x->jammed) {
        status = x->time == start ? exact_place(x, start, x->y, error) : ABUT_OK;
        x->confused = true;
    }
    if (status == ABUT_OK && exact_storm_counts(x, x->time - start)) exact_storm_begin(x);
    return status;
}

/* The touching set at the start of a frame, or after time steps.  Where it cannot be settled, because a
 * contact has no single place just then, that contact is let go, and the group is stepped in time. */
static abut_status settle_or_storm(exact *x, bool start, abut_error *error) {
    abut_status status = exact_settle(x, start, (exact_event){.kind = EXACT_NOTHING, .item = -1}, error);
    if (status != ABUT_FAILED) return status;
    status = exact_drop_degenerate(x, error);
    x->marked = false;
    if (status == ABUT_OK) exact_storm_begin(x);
    return status;
}

/* Whether the frame may take one step more.  A motion that needs millions (a spring of 1e20 N m, a drag of
 * 1e20 times the mass) is followed rightly, but a caller that waits for its end is not served by that. */
static abut_status goes_on(const exact *x, abut_error *error) {
    int64_t budget = x->run->options.step_budget > 0 ? x->run->options.step_budget : STEP_BUDGET;
    abut_status status = run_goes_on(x->run, x->time, error);
    if (status != ABUT_OK || x->account->steps < budget) return status;
    int fastest = 0;
    double most = -1;
    for (int i = 0; i < x->movable; i++) {
        double a = exact_surface_speed(x, i, x->accelerations[i]);
        if (a > most) most = a, fastest = i;
    }
    return fail(
        error, ABUT_BUDGET,
        "%lld steps lead from t = %.9g only to t = %.9g: body `%s` accelerates by %.3g m/s^2; make its "
        "springs, drag and forces weaker or its mass larger, or allow more steps",
        (long long)budget, x->run->state->time, x->time, x->model->bodies[x->bodies[fastest]].name, most);
}

/* Velocities that the hinges do not allow at the start: what was given is changed, and that is told. */
static abut_status close_start(exact *x, abut_error *error) {
    exact_closing did;
    abut_status status = exact_close_velocities(x, INFINITY, &did, error);
    if (status != ABUT_OK || !(did.changed_moving > x->model->tolerance.rest_speed)) return status;
    x->account->misfit = did.changed_moving, x->account->misfit_body = x->bodies[did.body];
    return ABUT_OK;
}

abut_status exact_advance(exact *x, abut_error *error) {
    if (still_rests(x)) return hold(x, error);
    exact_measure_speed(x);
    double limit = x->end - x->time;
    abut_status status = exact_set_motors(x, error);
    bool resumes = false; /* reduced coordinates go on from the last frame: nothing has changed */
    if (status == ABUT_OK && x->rolls && x->time < x->end) status = rolling_ready(x, &resumes, error);
    if (status == ABUT_OK && !resumes) status = exact_look_around(x, &limit, error);
    if (status == ABUT_OK && !x->run->started && x->hinge_count > 0) status = close_start(x, error);
    bool stepping = x->pace.steps_left > 0;
    if (status == ABUT_OK && !resumes && !stepping) status = settle_or_storm(x, !x->run->started, error);
    while (status == ABUT_OK && x->time < x->end) {
        status = goes_on(x, error);
        if (status != ABUT_OK || exact_plan_left(x->plan, x)) return status; /* the frame will be undone */
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

/* What rounding leaves of a velocity: places are known to their last digits, springs turn these into forces,
 * which move the bodies at their pace. */
static double velocity_noise(const exact *x) {
    double extent = x->model->size;
    for (int i = 0; i < x->movable; i++) extent = fmax(extent, vec3_length(x->motions[i].center));
    return 64 * DBL_EPSILON * extent * exact_find_paces(x, 0).swing;
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
    double noise = velocity_noise(x);
    for (int i = 0; i < numbers; i++) scale[i] = config.absolute * (i < energies ? 1 : energy);
    for (int i = 0; i < energies; i++)
        if (i % BODY_NUMBERS >= VELOCITY_NUMBER) scale[i] += noise;
    config.scale = scale;
    abut_status status =
        ode_init(&x->integrator, &x->run->context, exact_numbers(x), &config, exact_derivative, NULL, x);
    x->integrator_ready = status == ABUT_OK;
    return status == ABUT_OK ? ABUT_OK : fail_memory(error);
}
