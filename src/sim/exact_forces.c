/* Accelerations of a group at a state.  Applied wrenches, hinge rows and contact points are functions of the
 * state; the complementarity problem over them is solved anew at every evaluation from the last active set,
 * because accelerations are unique and continuous until a contact really vanishes, while single forces need
 * not be (DESIGN, traps). */
#include "sim/exact.h"

/* ---- state vector */

static void put_vec3(double *y, vec3 v) { y[0] = v.x, y[1] = v.y, y[2] = v.z; }
static vec3 get_vec3(const double *y) { return (vec3){y[0], y[1], y[2]}; }

void exact_pack(const exact *x, double *y) {
    for (int i = 0; i < x->movable; i++) {
        double *p = y + BODY_NUMBERS * i;
        const motion *m = &x->motions[i];
        put_vec3(p, m->center);
        p[3] = m->rotation.w, p[4] = m->rotation.x, p[5] = m->rotation.y, p[6] = m->rotation.z;
        put_vec3(p + 7, m->velocity.linear);
        put_vec3(p + 10, m->velocity.angular);
    }
    y[BODY_NUMBERS * x->movable] = y[BODY_NUMBERS * x->movable + 1] = 0;
}

/* Fixed bodies stay; kinematic ones are asked. */
static abut_status place_others(exact *x, double time, abut_error *error) {
    for (int i = x->movable; i < x->count; i++) {
        const model_body *b = &x->model->bodies[x->bodies[i]];
        if (!b->kinematic) continue;
        abut_status status =
            model_kinematic_motion(x->model, x->bodies[i], time, &x->motions[i], &x->prescribed[i], error);
        if (status != ABUT_OK) return status;
    }
    return ABUT_OK;
}

void exact_forget_places(exact *x) {
    for (int i = 0; i < x->count; i++) x->placed_at[i] = NAN;
}

abut_status exact_place(exact *x, double time, const double *y, abut_error *error) {
    exact_forget_places(x);
    for (int i = 0; i < x->movable; i++) {
        const double *p = y + BODY_NUMBERS * i;
        x->motions[i] = (motion){
            get_vec3(p), quat_unit((quat){p[3], p[4], p[5], p[6]}), {get_vec3(p + 7), get_vec3(p + 10)}};
    }
    return place_others(x, time, error);
}

/* ---- applied wrenches; the last two numbers are the powers of drag and damping, and of forces that do work
 */

typedef struct power {
    double dissipated, work;
} power;

/* A force at a point of a local body (-1, and immovable ones: no effect). */
static void push(exact *x, int body, vec3 force, vec3 at) {
    if (body < 0 || body >= x->movable) return;
    x->wrenches[body] =
        spatial_add(x->wrenches[body], spatial_force_at(force, vec3_sub(at, x->motions[body].center)));
}

/* Drag is left to the masses where a time step takes it at its end. */
static void apply_gravity_and_drag(exact *x, power *p) {
    for (int i = 0; i < x->movable; i++) {
        const model_body *b = &x->model->bodies[x->bodies[i]];
        twist v = x->motions[i].velocity;
        vec3 force = vec3_scale(x->model->world.gravity, b->inertia.mass);
        x->wrenches[i] = (spatial){force, {0, 0, 0}};
        if (x->slowing) continue;
        x->wrenches[i] =
            (spatial){vec3_axpy(force, -b->drag_linear, v.linear), vec3_scale(v.angular, -b->drag_angular)};
        p->dissipated += b->drag_linear * vec3_length2(v.linear) + b->drag_angular * vec3_length2(v.angular);
    }
}

typedef struct end {
    int local;
    vec3 at, velocity;
} end;

/* Where an end of a spring is, and how fast it moves. */
static end spring_end(const exact *x, int body, vec3 at) {
    if (body < 0) return (end){-1, at, vec3_zero()};
    int i = x->local_of[body];
    const motion *m = &x->motions[i];
    vec3 p = vec3_add(m->center, quat_rotate(m->rotation, at));
    return (end){i, p, motion_velocity_at(m, p)};
}

/* A spring pulls both ends with k (|d| - l) + c |d|' along d. */
static void apply_springs(exact *x, power *p) {
    for (int i = 0; i < x->spring_count; i++) {
        const model_spring *s = &x->model->springs[x->springs[i]];
        end a = spring_end(x, s->a, s->at_a), b = spring_end(x, s->b, s->at_b);
        vec3 d = vec3_sub(b.at, a.at);
        double length = vec3_length(d);
        if (!(length > 0)) continue;
        vec3 n = vec3_scale(d, 1 / length);
        double rate = vec3_dot(n, vec3_sub(b.velocity, a.velocity));
        vec3 pull = vec3_scale(n, s->stiffness * (length - s->length) + s->damping * rate);
        push(x, a.local, pull, a.at);
        push(x, b.local, vec3_neg(pull), b.at);
        p->dissipated += s->damping * rate * rate;
        /* an end that something else moves does work on the rest */
        if (b.local >= x->movable) p->work += vec3_dot(pull, b.velocity);
        if (a.local >= x->movable) p->work -= vec3_dot(pull, a.velocity);
    }
}

static abut_status apply_forces(exact *x, double time, power *p, abut_error *error) {
    for (int i = 0; i < x->force_count; i++) {
        const model_force *f = &x->model->forces[x->forces[i]];
        int body = x->local_of[f->body];
        if (body >= x->movable) continue;
        double v[3] = {f->value.x, f->value.y, f->value.z};
        if (f->function && !f->function(f->user, time, v, 3))
            return fail(error, ABUT_CANCELLED, "the force on body `%s` gave no answer at t = %.9g",
                        x->model->bodies[f->body].name, time);
        vec3 value = get_vec3(v);
        if (!vec3_is_finite(value))
            return fail(error, ABUT_INVALID,
                        "the force on body `%s` at t = %.9g is not finite; correct the function",
                        x->model->bodies[f->body].name, time);
        const motion *m = &x->motions[body];
        if (f->is_torque) {
            x->wrenches[body].angular = vec3_add(x->wrenches[body].angular, value);
            p->work += vec3_dot(value, m->velocity.angular);
        } else {
            vec3 at = vec3_add(m->center, quat_rotate(m->rotation, f->at));
            push(x, body, value, at);
            p->work += vec3_dot(value, motion_velocity_at(m, at));
        }
    }
    return ABUT_OK;
}

/* ---- hinge rows */

/* The states of the rows are the active set of the last solution.  They belong to the motor or the limit, not
 * to its number, which changes when a limit is reached or left, or a hinge breaks; rows that are held have
 * none. */
static void keep_row_states(exact *x) {
    memset(x->bound_states, 0, 2 * (size_t)x->hinge_count);
    for (int i = 0; i < x->row_count; i++)
        if (x->row_kinds[i] != ROW_HELD)
            x->bound_states[2 * x->row_hinge[i] + (x->row_kinds[i] == ROW_LIMIT)] = x->row_states[i];
}

static void add_row(exact *x, row r, int a, int b, int hinge_entry, exact_row_kind kind) {
    int n = x->row_count++;
    r.a = a, r.b = b;
    x->row_hinge[n] = hinge_entry, x->row_kinds[n] = (uint8_t)kind;
    x->row_states[n] = kind == ROW_HELD ? 0 : x->bound_states[2 * hinge_entry + (kind == ROW_LIMIT)];
    x->rows[n] = r;
}

/* Motor, limit and spring of a hinge's free coordinate. */
static abut_status coordinate_rows(exact *x, int entry, const motion *a, const motion *b, int la, int lb,
                                   double time, power *p, abut_error *error) {
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    const hinge_memory *memory = &run_hinges(x->run->state)[x->hinges[entry]];
    double value, rate;
    row coordinate;
    if (!hinge_coordinate(h, a, b, x->hinge_known[entry], &value, &rate, &coordinate)) return ABUT_OK;
    x->hinge_values[entry] = value;
    coordinate.a = la, coordinate.b = lb;
    if (h->stiffness > 0 || h->damping > 0) {
        row_add_wrench(&coordinate, hinge_spring_force(h, value, rate), x->wrenches);
        p->dissipated += h->damping * rate * rate;
    }
    if (h->has_motor) {
        double speed, speed_rate;
        abut_status status = hinge_motor_speed(h, time, &speed, &speed_rate, error);
        if (status != ABUT_OK) return status;
        hinge_motor_stalls(h, memory->at_limit, &speed, &speed_rate);
        add_row(x, hinge_motor_row(&coordinate, h, x->motor_pulls[entry], speed, speed_rate), la, lb, entry,
                ROW_MOTOR);
    }
    if (memory->at_limit)
        add_row(x, hinge_limit_row(&coordinate, h, memory->at_limit), la, lb, entry, ROW_LIMIT);
    return ABUT_OK;
}

static abut_status hinge_all_rows(exact *x, double time, power *p, abut_error *error) {
    keep_row_states(x);
    x->row_count = 0;
    for (int i = 0; i < x->hinge_count; i++) {
        const hinge *h = &x->model->hinges[x->hinges[i]].h;
        if (run_hinges(x->run->state)[x->hinges[i]].broken) continue;
        int la = x->local_of[h->a], lb = h->b >= 0 ? x->local_of[h->b] : -1;
        const motion *a = &x->motions[la], *b = lb >= 0 ? &x->motions[lb] : NULL;
        row rows[HINGE_MAX_ROWS];
        int count = hinge_rows(h, a, b, x->hinge_known[i], rows);
        for (int k = 0; k < count; k++) add_row(x, rows[k], la, lb, i, ROW_HELD);
        abut_status status = coordinate_rows(x, i, a, b, la, lb, time, p, error);
        if (status != ABUT_OK) return status;
    }
    return ABUT_OK;
}

void exact_know_hinges(exact *x) {
    memcpy(x->hinge_known, x->hinge_values, (size_t)x->hinge_count * sizeof(double));
}

/* ---- contacts */

abut_status exact_evaluate_contacts(exact *x, abut_error *error) {
    for (int64_t i = 0; i < x->touches.count; i++) {
        group_contact *c = &x->contacts.data[i];
        exact_touch *t = &x->touches.data[i];
        const motion *a = &x->motions[c->a], *b = &x->motions[c->b];
        if (!near_evaluate(&t->pair, &x->model->bodies[x->bodies[c->a]].shape, a,
                           &x->model->bodies[x->bodies[c->b]].shape, b, 0, &c->point, NULL))
            return fail(error, ABUT_FAILED, "the contact of `%s` and `%s` became degenerate",
                        x->model->bodies[x->bodies[c->a]].name, x->model->bodies[x->bodies[c->b]].name);
        /* Friction goes on opposing the slip of the step's start when the slip passes through zero, so that
         * the motion is smooth up to the event that ends it. */
        if (c->mode == FRICTION_SLIP) {
            vec3 u = contact_slip(&c->point, a, b);
            u = vec3_axpy(u, -vec3_dot(u, c->point.normal), c->point.normal);
            double speed = vec3_length(u);
            if (speed > fmax(1e-9 * (1 + x->speed), t->onset.slow))
                c->slip_along = vec3_scale(u, (vec3_dot(u, t->slip_start) < 0 ? -1 : 1) / speed);
        }
        exact_follow_turns(x, t, c);
    }
    return exact_update_faces(x, error);
}

/* e . M^-1 e of a body at a place. */
static double mobility(const exact *x, int i, vec3 at, vec3 e) {
    if (i >= x->movable) return 0;
    const motion *m = &x->motions[i];
    vec3 arm = vec3_cross(vec3_sub(at, m->center), e);
    mat3 inverse = body_inverse_inertia(&x->inertias[i], m->rotation);
    return x->inertias[i].inverse_mass + vec3_dot(arm, mat3_mul_vec(inverse, arm));
}

double exact_mobility(const exact *x, const group_contact *c, vec3 e) {
    return mobility(x, c->a, c->point.at, e) + mobility(x, c->b, c->point.at, e);
}

double exact_row_mobility(const exact *x, const row *r) {
    const int bodies[2] = {r->a, r->b};
    const spatial parts[2] = {r->ja, r->jb};
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        int i = bodies[k];
        if (i >= 0 && i < x->movable)
            sum += spatial_dot(parts[k], body_apply(&x->inertias[i], x->motions[i].rotation, parts[k]));
    }
    return sum;
}

/* A spring of k and c on a motion of the mobility m = J M^-1 J^T: s^2 + c m s + k m = 0. */
static void add_paces(exact_paces *p, double k, double c, double m, double time) {
    double half = 0.5 * c * m, square = half * half - k * m;
    p->swing = fmax(p->swing, sqrt(k * m));
    p->spring = fmax(p->spring, fmax(sqrt(k * m), c * m));
    if (half * time > EXACT_DECAYED)
        p->decay = fmax(p->decay, square > 0 ? half + sqrt(square) : sqrt(k * m));
}

static void add_drags(const exact *x, exact_paces *p, double time) {
    for (int i = 0; i < x->movable; i++) {
        const model_body *b = &x->model->bodies[x->bodies[i]];
        const mat3 *inverse = &x->inertias[i].inverse_inertia;
        double turn = b->drag_angular * (inverse->cx.x + inverse->cy.y + inverse->cz.z),
               rate = fmax(b->drag_linear * x->inertias[i].inverse_mass, turn);
        if (rate * time > EXACT_DECAYED) p->decay = fmax(p->decay, rate);
    }
}

exact_paces exact_find_paces(const exact *x, double time) {
    exact_paces paces = {0, 0, 0};
    for (int i = 0; i < x->spring_count; i++) {
        const model_spring *s = &x->model->springs[x->springs[i]];
        end a = spring_end(x, s->a, s->at_a), b = spring_end(x, s->b, s->at_b);
        vec3 d = vec3_sub(b.at, a.at);
        double length = vec3_length(d);
        if (!(length > 0)) continue;
        vec3 n = vec3_scale(d, 1 / length);
        double m = (a.local >= 0 ? mobility(x, a.local, a.at, n) : 0) +
                   (b.local >= 0 ? mobility(x, b.local, b.at, n) : 0);
        add_paces(&paces, s->stiffness, s->damping, m, time);
    }
    for (int i = 0; i < x->hinge_count; i++) {
        const hinge *h = &x->model->hinges[x->hinges[i]].h;
        int la = x->local_of[h->a], lb = h->b >= 0 ? x->local_of[h->b] : -1;
        double value, rate;
        row r;
        if (!(h->stiffness > 0 || h->damping > 0) || run_hinges(x->run->state)[x->hinges[i]].broken ||
            !hinge_coordinate(h, &x->motions[la], lb >= 0 ? &x->motions[lb] : NULL, x->hinge_known[i], &value,
                              &rate, &r))
            continue;
        r.a = la, r.b = lb;
        add_paces(&paces, h->stiffness, h->damping, exact_row_mobility(x, &r), time);
    }
    add_drags(x, &paces, time);
    return paces;
}

/* ---- powers of constraint forces */

/* What friction takes, and what immovable bodies that move give. */
static void constraint_power(const exact *x, power *p) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        const contact_load *l = &x->loads.data[i];
        const motion *a = &x->motions[c->a], *b = &x->motions[c->b];
        vec3 u = contact_slip(&c->point, a, b);
        vec3 spin = vec3_sub(a->velocity.angular, b->velocity.angular);
        vec3 force = vec3_axpy(l->friction, l->normal, c->point.normal);
        p->dissipated -= vec3_dot(force, u) + vec3_dot(l->torque, spin);
        if (c->b >= x->movable)
            p->work += vec3_dot(force, motion_velocity_at(b, c->point.at)) +
                       vec3_dot(l->torque, b->velocity.angular);
        if (c->a >= x->movable)
            p->work -= vec3_dot(force, motion_velocity_at(a, c->point.at)) +
                       vec3_dot(l->torque, a->velocity.angular);
    }
    for (int i = 0; i < x->row_count; i++) {
        const row *r = &x->rows[i];
        double given = 0;
        if (r->a >= 0 && r->a < x->movable) given += spatial_dot(r->ja, x->motions[r->a].velocity);
        if (r->b >= 0 && r->b < x->movable) given += spatial_dot(r->jb, x->motions[r->b].velocity);
        p->work += x->multipliers[i] * given;
    }
}

/* ---- the evaluation */

static group make_group(exact *x) {
    return (group){.body_count = x->count,
                   .motions = x->motions,
                   .inertias = x->inertias,
                   .wrenches = x->wrenches,
                   .prescribed = x->prescribed,
                   .row_count = x->row_count,
                   .rows = x->rows,
                   .row_states = x->row_states,
                   .contact_count = (int)x->contacts.count,
                   .contacts = x->contacts.data,
                   .face_count = (int)x->faces.count,
                   .faces = x->faces.data,
                   .method = (int)x->model->world.solver};
}

group exact_group(exact *x) { return make_group(x); }

abut_status exact_apply(exact *x, double time, double powers[2], abut_error *error) {
    power p = {0, 0};
    apply_gravity_and_drag(x, &p);
    apply_springs(x, &p);
    abut_status status = apply_forces(x, time, &p, error);
    if (status == ABUT_OK) status = hinge_all_rows(x, time, &p, error);
    powers[0] = p.dissipated, powers[1] = p.work;
    return status;
}

abut_status exact_prepare(exact *x, double time, double powers[2], abut_error *error) {
    abut_status status = exact_apply(x, time, powers, error);
    return status == ABUT_OK ? exact_evaluate_contacts(x, error) : status;
}

void exact_note_contradiction(exact *x, int number, double time) {
    if (!x->account || number < 0 || x->account->contradicts > 0) return;
    x->account->contradicts = 1 + x->hinges[x->row_hinge[number]], x->account->contradicts_at = time;
}

/* With the modes given; whether they may stay is another question. */
static bool is_solved(const exact *x) {
    return x->result.outcome == FORCES_SOLVED || x->result.outcome == FORCES_CANNOT_STICK;
}

abut_status exact_accelerate(exact *x, double time, bool choose, bool distribute, double powers[2],
                             abut_error *error) {
    if (x->account) x->account->evaluations++; /* a look between steps has none */
    abut_status status = run_goes_on(x->run, time, error);
    if (status == ABUT_OK) status = exact_prepare(x, time, powers, error);
    if (status != ABUT_OK) return status;
    group g = make_group(x);
    forces_config config = forces_default_config();
    config.distribute = distribute;
    config.no_margins = x->integrating;
    /* within a step, which can be shortened; hinges may contradict each other however short it is */
    config.trial = x->integrating && time > x->time && x->row_count == 0;
    /* While integrating the direction of slip is ours (see above).  At an event, slip that ends is known to
     * the event's time tolerance times its deceleration: what is slower has no direction yet. */
    config.slip_speed = choose ? 1e-8 * (1 + x->speed) : INFINITY;
    arena_mark mark = arena_save(x->arena);
    exact_turning turning = {0};
    do
        status = (choose ? forces_choose : forces_solve)(&g, &config, &x->scratch, x->accelerations,
                                                         x->loads.data, x->multipliers, &x->result, error);
    while (status == ABUT_OK && !choose && (is_solved(x) ? exact_onset_turn : exact_onset_back)(x, &turning));
    arena_restore(x->arena, mark);
    if (status != ABUT_OK) return status;
    /* states that the integrator tries lie beside the constraints, and redundant rows differ there */
    if (x->result.outcome == FORCES_INCONSISTENT && choose)
        exact_note_contradiction(x, x->result.inconsistent_row, time);
    /* an approximate solver never gets to the end: its residual is audited */
    bool rough = x->model->world.solver >= ABUT_SOLVER_PGS;
    if (x->integrating && x->result.outcome == FORCES_BUDGET && (config.trial || !rough)) return ABUT_FAILED;
    if (config.trial && x->result.outcome == FORCES_NO_FINITE_FORCE) return ABUT_FAILED;
    power p = {powers[0], powers[1]};
    constraint_power(x, &p);
    powers[0] = p.dissipated, powers[1] = p.work;
    return ABUT_OK;
}

/* y' : velocities, quaternion rates, accelerations, and the two powers. */
abut_status exact_derivative(void *user, double time, const double *y, double *dydt) {
    exact *x = user;
    double *powers = dydt + BODY_NUMBERS * x->movable;
    abut_status status = exact_place(x, time, y, x->error);
    x->integrating = true;
    if (status == ABUT_OK) status = exact_accelerate(x, time, false, false, powers, x->error);
    x->integrating = false;
    if (status != ABUT_OK) return status;
    for (int i = 0; i < x->movable; i++) {
        double *p = dydt + BODY_NUMBERS * i;
        const motion *m = &x->motions[i];
        quat q = quat_rate(m->rotation, m->velocity.angular);
        put_vec3(p, m->velocity.linear);
        p[3] = q.w, p[4] = q.x, p[5] = q.y, p[6] = q.z;
        put_vec3(p + 7, x->accelerations[i].linear);
        put_vec3(p + 10, x->accelerations[i].angular);
    }
    return ABUT_OK;
}
