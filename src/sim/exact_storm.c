/* Time stepping, where events come too thick: the documented fallback of the exact clock.
 *
 * A group is in a storm when many steps in a row were cut to next to nothing, when no modes of friction were
 * found that satisfy their own conditions, or when a step failed.  It is then stepped with a small fixed time
 * step (Stewart and Trinkle 1996, Anitescu and Potra 1997): velocities at the end of the step from one
 * problem of contact and friction, over all forces of the step,
 *
 *     v1 = v0 + h a_free + M^-1 J^T z,     n.u1 + gap/h >= 0,     Coulomb's law between z and u1,
 *
 * places along v1, and overlaps projected out (exact_time_step.c); a step that leaves one is made anew,
 * shorter.  Impacts faster than rest_speed keep their restitution, and come early by less than the step.
 * What energy the method takes is counted apart (exact_balance.c); it never gives any.  After some steps the
 * exact clock tries again; each storm that follows soon is given twice as many.
 *
 * The run says so: a notice at the first storm, and the audit counts storms, steps and simulated time. */
#include "sim/exact.h"

enum { FIRST_STEPS = 8, MOST_STEPS = 512, HALVINGS = 12, MOST_HALVINGS = 240 };
/* Of the largest energy of the run: what sums of energies are known to. */
#define ROUNDING 1e-14

/* The largest acceleration that applied forces give a body of the group. */
static double applied_acceleration(const exact *x) {
    double most = fmax(1e-3 * x->model->size, vec3_length(x->model->world.gravity));
    for (int i = 0; i < x->movable; i++)
        most = fmax(most, vec3_length(x->wrenches[i].linear) * x->inertias[i].inverse_mass);
    return most;
}

/* A thousandth of the time in which the smallest body falls by its extent d (1 ms for 10 m under gravity, 0.1
 * ms for 10 cm), no more than a twentieth of a radian of the fastest spring, whose force is that of the
 * start, and no more than moves a surface by four thousandths of d. */
static double step_of(const exact *x) {
    double d = x->model->smallest, h = 1e-3 * sqrt(d / applied_acceleration(x)),
           pace = exact_find_paces(x, 0).spring;
    if (pace * h > 0.05) h = 0.05 / pace;
    return x->speed * h > 4e-3 * d ? 4e-3 * d / x->speed : h;
}

/* A step of the exact clock shorter than this counts towards a storm.  It costs some twenty solutions of the
 * contact problem and the choice of modes, a time step one solution: in large groups with friction (with 80
 * such points that is as much as twenty time steps) it must be worth that. */
static double tiny_step(const exact *x) {
    int rough = 0;
    for (int64_t i = 0; i < x->contacts.count; i++) rough += x->contacts.data[i].friction.stick > 0;
    return (rough > 16 ? fmin(rough / 80.0, 1) : x->contacts.count > 16 ? 0.2 : 0.02) * step_of(x);
}

/* How many tiny steps in a row are a storm: large groups have more events at a time. */
static double storm_limit(const exact *x) { return 10 + 0.1 * (double)x->contacts.count; }

bool exact_storm_counts(exact *x, double advanced) {
    /* steps that the integrator made short, as where slip is about to end in a turn, are no events; they
     * count a little, so that they come to an end: some fifty in large groups, and some hundreds in small
     * ones, which is what the beginning of slip takes (exact_onset.c).  Nor are blows of a series that
     * shrinks (exact_collapse.c): it comes to be summed */
    double tiny = tiny_step(x), weight = x->contacts.count > 16 ? 0.2 : 0.04;
    if (x->cut_short) weight = exact_collapses(x) ? 0.1 : 1;
    x->storm = advanced < tiny ? x->storm + weight : fmax(0, x->storm - advanced / tiny);
    /* in a long frame many steps are no storm: unless a budget is given, those that get on as time steps
     * would do not count */
    int64_t given = x->run->options.event_budget, budget = given > 0 ? given : 5000;
    x->frame_steps += given > 0 || advanced < step_of(x);
    if (x->storm > storm_limit(x) || x->frame_steps > budget) x->confused = true;
    return x->confused;
}

void exact_storm_begin(exact *x) {
    x->storm = 0, x->frame_steps = 0, x->confused = false, x->pace.lost = 0;
    x->result.residual = 0; /* of forces that were given up and move nothing */
    step_pace *p = &x->pace;
    bool again = p->stepped > 0 && x->time - p->calm_since < 20 * p->stepped * step_of(x);
    p->stepped = again ? fmin(2 * p->stepped, MOST_STEPS) : FIRST_STEPS + (double)x->contacts.count;
    p->steps_left = p->stepped;
    run_account *account = x->account;
    if (account->storms++ > 0) return;
    account->first_storm = x->time;
    account->storm_body = x->bodies[0];
}

/* ---- a step, and whether it may stay */

/* What a try of a step changes beside the motions. */
typedef struct before_step {
    group_contact *contacts;
    exact_touch *touches;
    twist *velocities;
    int64_t count, events;
    int cuts;
    double constraint_error, momentum_error, dissipated, work, numerical;
    double energy, depth, lost;
} before_step;

static bool save(exact *x, before_step *b) {
    const run_account *a = x->account;
    size_t n = (size_t)x->contacts.count + 1;
    b->contacts = arena_alloc(x->arena, n, sizeof *b->contacts);
    b->touches = arena_alloc(x->arena, n, sizeof *b->touches);
    b->velocities = arena_alloc(x->arena, (size_t)x->movable + 1, sizeof *b->velocities);
    if (!b->contacts || !b->touches || !b->velocities) return false;
    b->count = x->contacts.count, b->cuts = x->cuts, b->events = a->events.count;
    b->constraint_error = a->constraint_error, b->momentum_error = a->momentum_error;
    b->dissipated = a->dissipated, b->work = a->work, b->numerical = a->numerical;
    b->energy = exact_energy(x), b->depth = exact_deepest(x), b->lost = x->pace.lost;
    if (b->count > 0) {
        memcpy(b->contacts, x->contacts.data, (size_t)b->count * sizeof *b->contacts);
        memcpy(b->touches, x->touches.data, (size_t)b->count * sizeof *b->touches);
    }
    for (int i = 0; i < x->movable; i++) b->velocities[i] = x->motions[i].velocity;
    return true;
}

/* Back to the start of the step, which x->y holds but for the velocities. */
static abut_status restore(exact *x, const before_step *b, double start, abut_error *error) {
    const abut_context *context = &x->run->context;
    run_account *a = x->account;
    abut_status status = exact_place(x, start, x->y, error);
    for (int i = 0; i < x->movable; i++) x->motions[i].velocity = b->velocities[i];
    if (!array_reserve(context, &x->contacts, b->count) || !array_reserve(context, &x->touches, b->count) ||
        !array_reserve(context, &x->loads, b->count))
        return fail_memory(error);
    if (b->count > 0) {
        memcpy(x->contacts.data, b->contacts, (size_t)b->count * sizeof *b->contacts);
        memcpy(x->touches.data, b->touches, (size_t)b->count * sizeof *b->touches);
    }
    x->contacts.count = x->touches.count = b->count;
    x->cuts = b->cuts, x->time = start, x->near_until = start, x->unseen = 0;
    a->constraint_error = b->constraint_error, a->momentum_error = b->momentum_error;
    a->dissipated = b->dissipated, a->work = b->work, a->numerical = b->numerical;
    a->events.count = b->events;
    return status;
}

/* What the method takes beyond the laws of friction and impact is its loss.  In all steps of a storm together
 * it never gives: pushing bodies out of each other lifts them, and a straight path along a curved wall ends
 * outside of it.  Such energy, beyond what was lost before, is taken back from the motion of the bodies that
 * are held, by one factor for all, which keeps what the velocities do to gaps and hinges (but for those that
 * something moves).  What an approach took that was stopped is known to first order only, and gives way
 * first. Rounding is let pass. */
static void balance(exact *x, const before_step *b, const exact_flow *flow, const bool *held) {
    run_account *a = x->account;
    double loss = b->energy + (a->work - b->work) - (a->dissipated - b->dissipated) - exact_energy(x);
    double gain = -(b->lost + loss), moving = 0, less = fmin(fmax(gain, 0), flow->stopping);
    a->dissipated -= less, loss += less, gain -= less;
    for (int i = 0; i < x->movable; i++)
        if (held[i]) moving += body_kinetic_energy(&x->inertias[i], &x->motions[i]);
    if (gain > ROUNDING * x->run->state->largest_energy) {
        double part = moving > gain ? sqrt(1 - gain / moving) : 0;
        for (int i = 0; i < x->movable; i++)
            if (held[i]) x->motions[i].velocity = spatial_scale(x->motions[i].velocity, part);
        loss += (1 - part * part) * moving;
    }
    a->numerical += loss, x->pace.lost = fmax(b->lost + loss, 0);
}

/* A step of *h from x->time: the bodies are at its end, and what overlapped there is pushed out. */
static abut_status try_step(exact *x, double *h, const before_step *b, abut_error *error) {
    double start = x->time, limit = *h;
    exact_impulses j;
    exact_flow flow;
    abut_status status = exact_look_around(x, &limit, error);
    if (status == ABUT_OK) status = exact_update_touches(x, false, *h, error);
    if (status == ABUT_OK) status = exact_make_step(x, h, b->velocities, &j, &flow, error);
    double reached = *h < x->end - start ? start + *h : x->end;
    if (status == ABUT_OK) status = exact_place_dense(x, fmin(reached, x->integrator.t), error);
    if (status != ABUT_OK) return status;
    x->time = reached;
    x->account->work += flow.work, x->account->dissipated += flow.dissipated;
    /* A place that slid off its face or edge within the step has gone over to other features, which may be as
     * deep by now as the two bodies moved against each other; where an event is located they would meet at
     * gap 0. */
    exact_measure_speed(x);
    x->unseen = reached - start;
    pair_marks touched;
    if (!exact_mark_pairs(x, &touched)) return fail_memory(error);
    status = exact_update_touches(x, false, 0, error);
    if (status == ABUT_OK && !exact_catch_lost(x, &touched)) status = fail_memory(error);
    if (status == ABUT_OK) status = exact_push_out(x, error);
    if (status != ABUT_OK) return status;
    balance(x, b, &flow, j.held);
    for (int i = 0; i < x->movable; i++) j.velocities[i] = x->motions[i].velocity;
    return exact_check_finite(x, j.velocities, "a time step", error);
}

/* Speeds that a step of h cannot tell from rest: its problem is solved to 1e-9 of the largest rates, which at
 * rest are h g; ten times that. */
static double still_speed(const exact *x, double h) { return 1e-8 * h * applied_acceleration(x); }

/* Tries a step of h, again with half its length while it fails, or leaves an overlap that was not there
 * before: what a straight path does to gaps that turn falls with the square of its length.  Where the forces
 * do not hold the bodies (the problem of a step cannot be solved in floating point where one weighs 10^8
 * times what bears it) they sink however short the steps are: after MOST_HALVINGS in a frame its steps stay,
 * whatever overlaps then, which the audit says. */
static abut_status shorten_until_clear(exact *x, double h, const before_step *b, abut_error *error) {
    double start = x->time, limit = fmax(0.5 * x->model->tolerance.touching, b->depth);
    abut_status status = ABUT_OK;
    for (int halvings = 0; status == ABUT_OK; halvings++) {
        arena_mark mark = arena_save(x->arena);
        status = try_step(x, &h, b, error);
        arena_restore(x->arena, mark);
        if ((status != ABUT_OK && status != ABUT_FAILED) || halvings == HALVINGS) break;
        if ((status == ABUT_OK && exact_deepest(x) <= limit) || x->halvings == MOST_HALVINGS) break;
        x->halvings++;
        status = restore(x, b, start, error);
        h *= halvings < HALVINGS / 2 ? 0.5 : 0.125;
    }
    return status == ABUT_OK && exact_misses(x, x->time, error) ? exact_find_places(x, x->time, error)
                                                                : status;
}

/* Hinges hold the velocities of a time step where it began; at its end they miss by what their directions
 * turned within it, h J' v.  The exact clock would move on with that until its next correction, which brings
 * back the places and their height (2 tons on a mechanism lost 9 mJ in 0.1 ms): it begins with velocities on
 * the hinges. */
static abut_status close_hinges(exact *x, abut_error *error) {
    if (x->hinge_count == 0) return ABUT_OK;
    double powers[2], before = exact_energy(x);
    abut_status status = exact_apply(x, x->time, powers, error);
    if (status != ABUT_OK) return status;
    group g = exact_group(x);
    g.contact_count = g.face_count = 0;
    arena_mark mark = arena_save(x->arena);
    spatial *velocities = arena_alloc(x->arena, (size_t)x->count + 1, sizeof *velocities);
    project_result result;
    status =
        velocities ? project_velocities(&g, &x->scratch, velocities, &result, error) : fail_memory(error);
    for (int i = 0; i < x->movable && status == ABUT_OK; i++) x->motions[i].velocity = velocities[i];
    if (status == ABUT_OK) x->account->numerical += before - exact_energy(x);
    arena_restore(x->arena, mark);
    return status;
}

/* One step from the placed state. */
abut_status exact_time_step(exact *x, bool *rests, abut_error *error) {
    double start = x->time;
    abut_status status = exact_drop_degenerate(x, error);
    if (status == ABUT_OK)
        status = exact_reach_limits(x, error); /* and forces, on which its length depends */
    if (status != ABUT_OK) return status;
    double h = fmin(step_of(x), x->end - start);
    if (x->end - start < 1.5 * h) h = x->end - start;
    if (x->pace.window != 0 && fabs(x->pace.window) < h) x->pace.window = h;
    arena_mark outer = arena_save(x->arena);
    pair_marks known; /* before points that may close within the step join */
    before_step b;
    if (!exact_mark_pairs(x, &known) || !save(x, &b)) return fail_memory(error);
    double still = still_speed(x, h);
    *rests = !exact_moves(x, still);
    exact_pack(x, x->y);
    status = shorten_until_clear(x, h, &b, error);
    if (status == ABUT_OK) status = exact_keep_segment(x, start, x->time, error);
    if (status != ABUT_OK) return status;
    exact_know_hinges(x);
    exact_count_moved(x, x->time - start);
    x->pace.steps_left--, x->account->steps++;
    x->account->time_steps++, x->account->time_stepped += x->time - start;
    status = exact_settle_step(x, &known, error);
    arena_restore(x->arena, outer);
    x->unseen = 0;
    *rests = *rests && status == ABUT_OK && !exact_moves(x, still);
    if (*rests) x->pace.steps_left = 0; /* its impulses are loads that hold the group */
    if (x->pace.steps_left > 0) return status;
    x->pace.steps_left = 0, x->pace.calm_since = x->time;
    return status == ABUT_OK && !*rests ? close_hinges(x, error) : status;
}
