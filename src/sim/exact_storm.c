/* Time stepping, where events come too thick: the documented fallback of the exact clock.
 *
 * A group is in a storm when many steps in a row were cut to next to nothing, when no modes of friction were
 * found that satisfy their own conditions, or when a step failed.  It is then stepped with a small fixed time
 * step (Stewart and Trinkle 1996, Anitescu and Potra 1997): velocities at the end of the step from one
 * problem of contact and friction, over all forces of the step,
 *
 *     v1 = v0 + h a_free + M^-1 J^T z,     n.u1 + gap/h >= 0,     Coulomb's law between z and u1,
 *
 * places along v1, cut where a new gap closes, and the gaps of pressed points projected back to zero. Impacts
 * faster than rest_speed keep their restitution.  What energy the step takes counts as dissipated.  After
 * some steps the exact clock tries again; each storm that follows soon is given twice as many.
 *
 * The run says so: an event `time-stepping` where it begins, with the number of steps. */
#include "dynamics/cones.h"
#include "sim/exact.h"

enum { FIRST_STEPS = 8, MOST_STEPS = 512, MOST_CUTS = 500, ROUNDS = 40 };

/* 1 ms for bodies of 10 m under gravity, 0.1 ms for 10 cm. */
static double step_of(const exact *x) {
    double g = fmax(vec3_length(x->model->world.gravity), 1e-3 * x->model->size);
    return 1e-3 * sqrt(x->model->smallest / g);
}

/* A step of the exact clock shorter than this counts towards a storm.  It costs some twenty solutions of the
 * contact problem, a time step one harder one: in large groups it must be worth that. */
static double tiny_step(const exact *x) { return (x->contacts.count > 16 ? 0.2 : 0.02) * step_of(x); }

/* How many tiny steps in a row are a storm: large groups have more events at a time. */
static double storm_limit(const exact *x) { return 10 + 0.25 * (double)x->contacts.count; }

bool exact_storm_counts(exact *x, double advanced) {
    double tiny = tiny_step(x);
    x->storm = advanced < tiny ? x->storm + 1 : fmax(0, x->storm - advanced / tiny);
    int64_t budget = x->run->options.event_budget > 0 ? x->run->options.event_budget : 5000;
    if (x->storm > storm_limit(x) || ++x->frame_steps > budget) x->confused = true;
    return x->confused;
}

abut_status exact_storm_begin(exact *x, abut_error *error) {
    x->storm = 0, x->frame_steps = 0, x->confused = false;
    x->result.residual = 0; /* of forces that were given up and move nothing */
    step_pace *p = &x->pace;
    bool again = p->stepped > 0 && x->time - p->calm_since < 20 * p->stepped * step_of(x);
    p->stepped = again ? fmin(2 * p->stepped, MOST_STEPS) : FIRST_STEPS + (double)x->contacts.count;
    p->steps_left = p->stepped;
    abut_event e = {.kind = ABUT_EVENT_TIME_STEPPING, .body = {-1, -1}, .count = (int)p->stepped};
    if (x->contacts.count > 0)
        e.body[0] = x->bodies[x->contacts.data[0].a], e.body[1] = x->bodies[x->contacts.data[0].b];
    return exact_emit(x, e, error);
}

/* ---- energy */

/* Kinetic energy of the group, and the potential of gravity, springs and hinge springs. */
static double energy_of(const exact *x) {
    double sum = 0;
    for (int i = 0; i < x->movable; i++) {
        sum += body_kinetic_energy(&x->inertias[i], &x->motions[i]);
        sum -= x->inertias[i].mass * vec3_dot(x->model->world.gravity, x->motions[i].center);
    }
    for (int i = 0; i < x->spring_count; i++) {
        const model_spring *s = &x->model->springs[x->springs[i]];
        vec3 at[2];
        int bodies[2] = {s->a, s->b};
        vec3 local[2] = {s->at_a, s->at_b};
        for (int k = 0; k < 2; k++) {
            at[k] = local[k];
            if (bodies[k] < 0) continue;
            const motion *m = &x->motions[x->local_of[bodies[k]]];
            at[k] = vec3_add(m->center, quat_rotate(m->rotation, local[k]));
        }
        double stretch = vec3_distance(at[0], at[1]) - s->length;
        sum += 0.5 * s->stiffness * stretch * stretch;
    }
    for (int i = 0; i < x->hinge_count; i++) {
        const hinge *h = &x->model->hinges[x->hinges[i]].h;
        if (h->stiffness > 0 && !run_hinges(x->run->state)[x->hinges[i]].broken)
            sum += hinge_spring_energy(h, x->hinge_values[i]);
    }
    return sum;
}

/* What immovable bodies that move, motors and rows give: impulse times velocity. */
static double work_of(const exact *x, const double *normals, const vec3 *frictions, const double *rows) {
    double work = 0;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        vec3 j = vec3_axpy(frictions[i], normals[i], c->point.normal);
        if (c->b >= x->movable) work += vec3_dot(j, motion_velocity_at(&x->motions[c->b], c->point.at));
        if (c->a >= x->movable) work -= vec3_dot(j, motion_velocity_at(&x->motions[c->a], c->point.at));
    }
    for (int i = 0; i < x->row_count; i++) {
        const row *r = &x->rows[i];
        double given = 0;
        if (r->a >= 0 && r->a < x->movable) given += spatial_dot(r->ja, x->motions[r->a].velocity);
        if (r->b >= 0 && r->b < x->movable) given += spatial_dot(r->jb, x->motions[r->b].velocity);
        work += rows[i] * given;
    }
    return work;
}

/* ---- one step */

typedef struct impulses {
    spatial *velocities;
    double *normals, *rows, *offsets;
    vec3 *frictions;
} impulses;

static bool allocate(exact *x, impulses *out) {
    size_t n = (size_t)x->contacts.count + ROUNDS + 1; /* contacts are added on the way */
    out->velocities = arena_alloc(x->arena, (size_t)x->count + 1, sizeof *out->velocities);
    out->normals = arena_alloc(x->arena, n, sizeof *out->normals);
    out->offsets = arena_alloc(x->arena, n, sizeof *out->offsets);
    out->frictions = arena_alloc(x->arena, n, sizeof *out->frictions);
    out->rows = arena_alloc(x->arena, (size_t)x->row_count + 1, sizeof *out->rows);
    return out->velocities && out->normals && out->offsets && out->frictions && out->rows;
}

/* The velocities at the end of a step of h.  Where the problem has no strictly feasible point (a body is
 * squeezed) friction is left out, and at last the points are taken as an inelastic impact. */
static abut_status end_velocities(exact *x, double h, impulses *j, abut_error *error) {
    group g = exact_group(x);
    spatial *base = arena_alloc(x->arena, (size_t)x->count + 1, sizeof *base);
    bool found = false;
    double residual;
    if (!base) return fail_memory(error);
    group_free_accelerations(&g, base);
    for (int i = 0; i < x->count; i++) base[i] = spatial_axpy(x->motions[i].velocity, h, base[i]);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        double gap = x->contacts.data[i].point.gap;
        j->offsets[i] = fmax(gap, 0) / h; /* what overlaps is projected out, not shot out */
    }
    system_config build = {.level = SYSTEM_IMPULSES, .base = base, .normal_offset = j->offsets};
    abut_status status = cones_step(&g, &build, &x->scratch, j->velocities, j->normals, j->frictions, j->rows,
                                    &found, &residual, error);
    if (status != ABUT_OK || found) return status;
    for (int i = 0; i < x->movable; i++) x->motions[i].velocity = base[i];
    impact_config config = impact_default_config();
    config.rest_speed = INFINITY;
    contact_impulse *impulse = arena_alloc(x->arena, (size_t)x->contacts.count + 1, sizeof *impulse);
    impact_result result;
    if (!impulse) return fail_memory(error);
    status = impact_solve(&g, &config, &x->scratch, j->velocities, impulse, j->rows, &result, error);
    for (int64_t i = 0; i < x->contacts.count; i++)
        j->normals[i] = impulse[i].normal, j->frictions[i] = impulse[i].friction;
    return status == ABUT_NO_MEMORY ? status : ABUT_OK; /* the best there is: velocities of the last round */
}

/* The path of the step as dense output: straight, turning evenly, with the velocity of its end. */
static void make_path(exact *x, double start, double h) {
    ode *o = &x->integrator;
    double *end = x->y_dense;
    exact_pack(x, end);
    for (int i = 0; i < x->movable; i++) {
        const double *v = end + BODY_NUMBERS * i + 7;
        double *p = end + BODY_NUMBERS * i;
        motion m = x->motions[i];
        spatial d = {vec3_scale(vec3_make(v[0], v[1], v[2]), h), vec3_scale(vec3_make(v[3], v[4], v[5]), h)};
        project_displace(&m, d);
        p[0] = m.center.x, p[1] = m.center.y, p[2] = m.center.z;
        quat q = m.rotation, q0 = x->motions[i].rotation;
        double sign = q.w * q0.w + q.x * q0.x + q.y * q0.y + q.z * q0.z < 0 ? -1 : 1;
        p[3] = sign * q.w, p[4] = sign * q.x, p[5] = sign * q.y, p[6] = sign * q.z;
    }
    exact_pack(x, x->y);
    o->t_old = start, o->t = start + h;
    for (int i = 0; i < exact_numbers(x); i++) {
        for (int k = 0; k < ODE_DENSE; k++) o->dense[k][i] = 0;
        o->dense[0][i] = x->y[i], o->dense[1][i] = end[i] - x->y[i];
    }
}

/* Modes for the projection and for the exact clock to start from: what neither stands open nor separates is
 * pressed (the multipliers of an interior-point method are never quite zero). */
static void remember_modes(exact *x, const impulses *j) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        double rate = exact_gap_rate(x, c->a, c->b, &c->point) + j->offsets[i];
        c->pressed = rate <= 1e-3 * x->model->tolerance.rest_speed;
        c->anchored = false;
        if (c->mode != FRICTION_FREE) c->mode = FRICTION_SLIP;
        x->loads.data[i] = (contact_load){.normal = 0, .margin = 1};
    }
}

/* The velocities and the path of a step of *h from `start`.  A gap that closes on the path becomes a contact
 * of the step, which is then made anew; where it would bounce, and after some rounds, the step ends there.  A
 * step that ends earlier is made anew as well, so that no force acts longer than the step lasts. */
static abut_status make_step(exact *x, double start, double *h, const twist *before, impulses *j,
                             double *work, abut_error *error) {
    double powers[2];
    bool ends = false;
    for (int round = 0;; round++) {
        for (int i = 0; i < x->movable; i++) x->motions[i].velocity = before[i];
        abut_status status = exact_prepare(x, start, powers, error);
        if (status == ABUT_OK) status = end_velocities(x, *h, j, error);
        if (status != ABUT_OK) return status;
        for (int i = 0; i < x->movable; i++) x->motions[i].velocity = j->velocities[i];
        *work = work_of(x, j->normals, j->frictions, j->rows) + powers[1] * *h;
        /* what is near on this path: its velocities can be others than those of the step before */
        double limit = *h;
        status = exact_look_around(x, &limit, error);
        if (status != ABUT_OK) return status;
        exact_mark_touching(x);
        make_path(x, start, limit);
        double reached = rolling_within_known(x, start, exact_within_reach(x, start, start + limit));
        exact_event e = {.kind = EXACT_NOTHING, .item = -1, .time = INFINITY};
        /* many cuts in a row: time must go on; what overlaps then is audited and projected out */
        if (x->cuts < MOST_CUTS) e = exact_find_gap(x, start, reached);
        status = exact_place(x, start, x->y, error);
        if (status != ABUT_OK) return status;
        bool last = ends || round + 2 >= ROUNDS;
        if (e.kind != EXACT_NOTHING && !last && !exact_bounces(x, &x->nears.data[e.item])) {
            if (!exact_add_touch(x, &x->nears.data[e.item])) return fail_memory(error);
            continue;
        }
        if (e.kind != EXACT_NOTHING) reached = e.time;
        if (reached >= start + 0.999 * *h || ends || round + 1 >= ROUNDS) {
            x->cuts = e.kind == EXACT_NOTHING ? 0 : x->cuts + 1;
            if (reached < start + *h) *h = reached - start;
            return ABUT_OK;
        }
        *h = fmax(reached - start, 1e-3 * x->model->tolerance.event);
        ends = e.kind != EXACT_NOTHING;
    }
}

/* What overlaps at the end of the step, where its features still face each other, is pressed too. */
static bool press_overlaps(exact *x) {
    bool any = false;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        exact_near n = {.pair = x->touches.data[i].pair, .a = c->a, .b = c->b};
        contact_point p;
        bool faces;
        if (c->pressed || !exact_near_at(x, &n, &p, &faces) || !faces) continue;
        if (p.gap < -0.05 * x->model->tolerance.touching) c->pressed = any = true;
    }
    return any;
}

/* Gaps of pressed points back to zero, and of what that pushes into each other. */
static abut_status push_out(exact *x, abut_error *error) {
    press_overlaps(x);
    for (int round = 0; round < 4; round++) {
        abut_status status = exact_correct_positions(x, x->time, error);
        if (status != ABUT_OK || !press_overlaps(x)) return status;
    }
    return ABUT_OK;
}

abut_status exact_time_step(exact *x, abut_error *error) {
    double start = x->time, h = fmin(step_of(x), x->end - start), work;
    if (x->end - start < 1.5 * h) h = x->end - start;
    if (x->pace.window != 0 && fabs(x->pace.window) < h) x->pace.window = h;
    double limit = h;
    arena_mark outer = arena_save(x->arena);
    pair_marks known; /* before points that may close within the step join */
    if (!exact_mark_pairs(x, &known)) return fail_memory(error);
    abut_status status = exact_look_around(x, &limit, error);
    if (status == ABUT_OK) status = exact_update_touches(x, false, h, error);
    if (status != ABUT_OK) return status;
    arena_mark mark = arena_save(x->arena);
    impulses j;
    twist *before = arena_alloc(x->arena, (size_t)x->movable + 1, sizeof *before);
    if (!before || !allocate(x, &j)) return fail_memory(error);
    for (int i = 0; i < x->movable; i++) before[i] = x->motions[i].velocity;
    double energy = energy_of(x);
    status = make_step(x, start, &h, before, &j, &work, error);
    double reached = h < x->end - start ? start + h : x->end;
    if (status == ABUT_OK) remember_modes(x, &j);
    if (status == ABUT_OK) status = exact_keep_segment(x, start, reached, error);
    if (status == ABUT_OK) status = exact_place_dense(x, fmin(reached, x->integrator.t), error);
    if (status != ABUT_OK) return status;
    x->time = reached, x->pace.steps_left--, x->account->steps++;
    exact_count_moved(x, reached - start);
    /* A place that slid off its face or edge within the step has gone over to other features, which may be as
     * deep by now as the bodies moved; where an event is located they would meet at gap 0. */
    exact_measure_speed(x);
    x->deep = fmin(2 * (reached - start) * x->speed, 0.02 * x->model->smallest);
    status = exact_update_touches(x, false, 0, error);
    if (status == ABUT_OK) status = push_out(x, error);
    arena_restore(x->arena, mark);
    x->account->work += work;
    x->account->dissipated += energy - energy_of(x) + work;
    if (status == ABUT_OK) status = exact_settle_step(x, &known, error);
    arena_restore(x->arena, outer);
    x->deep = 0;
    if (x->pace.steps_left <= 0) x->pace.steps_left = 0, x->pace.calm_since = x->time;
    return status;
}
