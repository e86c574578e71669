/* A single lasting contact of two smooth surfaces in the exact clock: handed to reduced coordinates and back
 * (DESIGN section 6; Kry 2000, chapter 4).
 *
 *   hand-over   the group has one contact, of patches with patches or a half-space, pressed, and nothing else
 *               comes near: rolling-begins.  Positions, velocities and energy are those of the bodies; the
 *               contact coordinates follow from them.
 *   evolution   dynamics/reduced.h, integrated by the clock's own method; modes are those that the general
 *               solver chose, and it chooses again at every event
 *   events      on the dense output: a patch is left, the normal force vanishes, a held direction leaves its
 *               cone, slip or rolling or spin ends
 *   hand-back   something else comes near, the contact ends, or another contact is made: rolling-ends
 *
 * The state vector: s, t, u, v, cos psi, sin psi, the twist of body 1; the 13 numbers of body 2 if it is free
 * too; then the dissipated energy and the work. */
#include "sim/rolling.h"

enum { Q_NUMBERS = ROLLING_Q, SAMPLES = 2, REFINE = 80 };

/* ---- the state vector */

static void put(double *y, vec3 v) { y[0] = v.x, y[1] = v.y, y[2] = v.z; }
static vec3 get(const double *y) { return (vec3){y[0], y[1], y[2]}; }

static int power_at(const rolling *r) { return Q_NUMBERS + (rolling_base_is_free(r) ? BODY_NUMBERS : 0); }

void rolling_pack(const rolling *r, const reduced_state *s, double *y) {
    for (int i = 0; i < 4; i++) y[i] = s->place[i / 2][i % 2];
    y[4] = s->psi.c, y[5] = s->psi.s;
    put(y + 6, s->velocity.linear), put(y + 9, s->velocity.angular);
    if (rolling_base_is_free(r)) {
        const motion *m = &r->x->motions[r->two];
        double *p = y + Q_NUMBERS;
        put(p, m->center);
        p[3] = m->rotation.w, p[4] = m->rotation.x, p[5] = m->rotation.y, p[6] = m->rotation.z;
        put(p + 7, m->velocity.linear), put(p + 10, m->velocity.angular);
    }
    y[power_at(r)] = y[power_at(r) + 1] = 0;
}

/* Body 2 at a time: integrated, asked, or where it stands. */
static abut_status base_at(rolling *r, double time, const double *y, abut_error *error) {
    exact *x = r->x;
    int model_body_number = x->bodies[r->two];
    if (rolling_base_is_free(r)) {
        const double *p = y + Q_NUMBERS;
        r->base = (motion){get(p), quat_unit((quat){p[3], p[4], p[5], p[6]}), {get(p + 7), get(p + 10)}};
    } else if (x->model->bodies[model_body_number].kinematic) {
        abut_status status = model_kinematic_motion(x->model, model_body_number, time, &r->base,
                                                    &r->pair.body[1].acceleration, error);
        if (status != ABUT_OK) return status;
        x->prescribed[r->two] = r->pair.body[1].acceleration;
    } else if (r->base_known) {
        return ABUT_OK;
    }
    r->base_known = true;
    r->base_rotation = quat_matrix(r->base.rotation);
    return ABUT_OK;
}

static abut_status place_at(rolling *r, double time, const double *y, abut_error *error) {
    abut_status status = base_at(r, time, y, error);
    if (status != ABUT_OK) return status;
    r->state = (reduced_state){
        .place = {{y[0], y[1]}, {y[2], y[3]}}, .psi = {y[4], y[5]}, .velocity = {get(y + 6), get(y + 9)}};
    if (reduced_place(&r->pair, &r->state, &r->base, r->base_rotation, &r->placed)) return ABUT_OK;
    return fail(error, ABUT_FAILED, "the surfaces of `%s` and `%s` conform at t = %.9g",
                r->x->model->bodies[r->x->bodies[r->one]].name,
                r->x->model->bodies[r->x->bodies[r->two]].name, time);
}

/* Gravity and drag; returns the power of drag. */
static double apply(rolling *r, int local, const motion *m, reduced_body *out) {
    const model_body *b = &r->x->model->bodies[r->x->bodies[local]];
    if (local >= r->x->movable) return 0;
    vec3 v = m->velocity.linear, w = m->velocity.angular;
    vec3 force = vec3_scale(r->x->model->world.gravity, b->inertia.mass);
    out->wrench = (spatial){vec3_axpy(force, -b->drag_linear, v), vec3_scale(w, -b->drag_angular)};
    return b->drag_linear * vec3_length2(v) + b->drag_angular * vec3_length2(w);
}

abut_status rolling_load(rolling *r, double powers[2], abut_error *error) {
    r->x->account->evaluations++;
    abut_status status = run_goes_on(r->x->run, r->x->time, error);
    if (status != ABUT_OK) return status;
    powers[0] =
        apply(r, r->one, &r->placed.motion, &r->pair.body[0]) + apply(r, r->two, &r->base, &r->pair.body[1]);
    reduced_load *l = &r->load;
    if (!reduced_accelerate(&r->pair, &r->placed, &r->base, r->base_rotation, l))
        return fail(error, ABUT_FAILED, "no finite force keeps the contact");
    vec3 force = vec3_axpy(l->friction, l->normal, r->placed.normal);
    powers[0] -= vec3_dot(l->friction, r->placed.slip) + vec3_dot(l->torque, r->placed.spin);
    powers[1] = rolling_base_is_free(r) ? 0
                                        : vec3_dot(force, motion_velocity_at(&r->base, r->placed.point.at)) +
                                              vec3_dot(l->torque, r->base.velocity.angular);
    return ABUT_OK;
}

/* A patch goes on beyond its border, but not for ever, and where the relative curvature has changed its sign
 * the place is no contact: rates grow without bound on the way there.  A trial step that gets there is
 * refused, and cut; the events that end the evolution come before. */
static bool is_on_its_way(const rolling *r) {
    const double far = 0.5; /* of a domain, which has a size of about one */
    for (int k = 0; k < 2; k++) {
        const reduced_side *side = &r->pair.side[k];
        abut_surface_point at = {side->patch, r->state.place[k][0], r->state.place[k][1]};
        if (side->surface && !(abut_surface_outside(side->surface, at, NULL) < far)) return false;
    }
    return r->placed.curvature[0] * r->placed.curvature[1] > 0;
}

/* Place and load of y; where the integrator starts they are known. */
static abut_status load_state(rolling *r, double time, const double *y) {
    bool loaded = r->loaded;
    r->loaded = false;
    if (loaded) return ABUT_OK;
    abut_status status = place_at(r, time, y, r->error);
    if (status == ABUT_OK && !is_on_its_way(r))
        status = fail(r->error, ABUT_FAILED, "the place of the contact ends at t = %.9g", time);
    return status == ABUT_OK ? rolling_load(r, r->powers, r->error) : status;
}

static abut_status derivative(void *user, double time, const double *y, double *dydt) {
    rolling *r = user;
    abut_status status = load_state(r, time, y);
    if (status != ABUT_OK) return status;
    memcpy(dydt + power_at(r), r->powers, sizeof r->powers);
    const double *q = r->placed.rates;
    for (int i = 0; i < 4; i++) dydt[i] = q[i];
    dydt[4] = -r->state.psi.s * q[4], dydt[5] = r->state.psi.c * q[4];
    put(dydt + 6, r->load.acceleration[0].linear), put(dydt + 9, r->load.acceleration[0].angular);
    if (rolling_base_is_free(r)) {
        double *p = dydt + Q_NUMBERS;
        quat turn = quat_rate(r->base.rotation, r->base.velocity.angular);
        put(p, r->base.velocity.linear);
        p[3] = turn.w, p[4] = turn.x, p[5] = turn.y, p[6] = turn.z;
        put(p + 7, r->load.acceleration[1].linear), put(p + 10, r->load.acceleration[1].angular);
    }
    return ABUT_OK;
}

/* ---- monitored functions: all positive while the evolution goes on */

enum { LEAVES_ONE, LEAVES_TWO, NORMAL, CONFORMS, MARGIN, SLIP, ROLL, SPIN, MONITORS = ROLLING_MONITORS };

/* Twice the extended boundary: the crossing is certain there (contact/smooth.c). */
static const double extended = 2e-9;

static double room(const reduced_side *side, const double place[2]) {
    if (!side->surface) return INFINITY;
    abut_surface_point p = {side->patch, place[0], place[1]};
    return extended - abut_surface_outside(side->surface, p, NULL);
}

void rolling_monitor(const rolling *r, double g[MONITORS]) {
    const reduced_pair *p = &r->pair;
    vec3 n = r->placed.normal, w = r->placed.spin;
    g[LEAVES_ONE] = room(&p->side[0], r->state.place[0]);
    g[LEAVES_TWO] = room(&p->side[1], r->state.place[1]);
    g[NORMAL] = r->load.normal;
    g[CONFORMS] = r->placed.curvature[0] / r->placed.curvature[1] - ROLLING_CONFORMS;
    g[MARGIN] = r->load.margin + ROLLING_ALLOWANCE;
    g[SLIP] = p->mode == FRICTION_SLIP ? vec3_dot(r->placed.slip, p->slip.start) : INFINITY;
    g[ROLL] = p->rolling == FRICTION_SLIP ? vec3_dot(w, p->roll.start) : INFINITY;
    g[SPIN] = p->spinning == FRICTION_SLIP ? vec3_dot(w, n) * p->spin_start : INFINITY;
}

abut_status rolling_place(rolling *r, double time, abut_error *error) {
    abut_status status = time == r->integrator.t ? ABUT_OK : ode_make_dense(&r->integrator, error);
    if (status != ABUT_OK) return status;
    if (time == r->integrator.t)
        memcpy(r->y, r->integrator.y, (size_t)r->integrator.size * sizeof(double));
    else
        ode_dense(&r->integrator, time, r->y);
    return place_at(r, time, r->y, error);
}

static bool monitor_at(rolling *r, double time, double g[MONITORS]) {
    double powers[2];
    if (rolling_place(r, time, NULL) != ABUT_OK || rolling_load(r, powers, NULL) != ABUT_OK) return false;
    rolling_monitor(r, g);
    return true;
}

/* Whether nothing happens in the middle of the step, on a cubic that costs nothing, and at its end, which the
 * integrator evaluated last; the state at the end is then placed.  Most steps are so, and need no
 * interpolant. */
static bool is_uneventful(rolling *r, double t0, double t1) {
    double g[2][MONITORS], powers[2];
    if (!r->integrator.waits) return false;
    rolling_monitor(r, g[1]);
    rolling end = *r;
    ode_middle(&r->integrator, r->y);
    if (place_at(r, t0 + (t1 - t0) / 2, r->y, NULL) != ABUT_OK || rolling_load(r, powers, NULL) != ABUT_OK)
        return false;
    rolling_monitor(r, g[0]);
    for (int k = 0; k < MONITORS; k++)
        if ((r->monitored[k] > 0 && !(g[0][k] > 0)) || (g[0][k] > 0 && !(g[1][k] > 0))) return false;
    *r = end;
    r->x->prescribed[r->two] = r->pair.body[1].acceleration;
    memcpy(r->y, r->integrator.y, (size_t)r->integrator.size * sizeof(double));
    memcpy(r->monitored, g[1], sizeof g[1]);
    return true;
}

/* The zero of one function between t0 (positive) and t1 (not), by the Illinois variant of regula falsi with
 * bisection in between; the answer is on the far side, where the event has happened. */
static double refine(rolling *r, int k, double t0, double g0, double t1, double g1) {
    int side = 0;
    double all[MONITORS];
    for (int i = 0; i < REFINE && t1 - t0 > 4e-16 * fabs(t1); i++) {
        double t = i % 4 == 3 ? t0 + (t1 - t0) / 2 : t0 + (t1 - t0) * g0 / (g0 - g1);
        if (!(t > t0 && t < t1)) t = t0 + (t1 - t0) / 2;
        if (!(t > t0 && t < t1) || !monitor_at(r, t, all)) break;
        if (all[k] > 0) {
            t0 = t, g0 = all[k];
            if (side == 1) g1 /= 2;
            side = 1;
        } else {
            t1 = t, g1 = all[k];
            if (side == -1) g0 /= 2;
            side = -1;
            if (all[k] == 0) break;
        }
    }
    return t1;
}

/* The first event of the step from t0, where all is known, to t1: which function, or MONITORS.  Slip that has
 * just begun starts at zero: it counts from the first sample where it is positive.  Without an event the
 * state at t1 is placed. */
static int find_event(rolling *r, double t0, double t1, double *time) {
    double before[MONITORS], g[MONITORS], start = t0;
    int found = MONITORS;
    *time = t1;
    if (is_uneventful(r, t0, t1)) return MONITORS;
    memcpy(before, r->monitored, sizeof before);
    for (int i = 1; i <= SAMPLES && found == MONITORS; i++) {
        double t = i == SAMPLES ? t1 : t0 + (t1 - t0) * i / SAMPLES;
        if (!monitor_at(r, t, g)) return NORMAL;
        for (int k = 0; k < MONITORS; k++) {
            if (g[k] > 0 || !(before[k] > 0)) continue;
            double root = refine(r, k, start, before[k], t, g[k]);
            if (found == MONITORS || root < *time) found = k, *time = root;
        }
        start = t;
        memcpy(before, g, sizeof before);
    }
    if (found == MONITORS) memcpy(r->monitored, g, sizeof g);
    return found;
}

/* ---- back to the bodies */

/* The bodies and the place of the contact are where the state is. */
static void show(rolling *r) {
    exact *x = r->x;
    near_pair *pair = &x->touches.data[0].pair;
    element *e[2] = {r->flipped ? &pair->b : &pair->a, r->flipped ? &pair->a : &pair->b};
    contact_feature *f[2] = {r->flipped ? &pair->fb : &pair->fa, r->flipped ? &pair->fa : &pair->fb};
    for (int k = 0; k < 2; k++) {
        if (!r->pair.side[k].surface) continue;
        e[k]->u = r->state.place[k][0], e[k]->v = r->state.place[k][1];
        e[k]->patch = f[k]->id = r->pair.side[k].patch;
    }
    x->motions[r->one] = reduced_motion(&r->placed, x->motions[r->one].rotation);
    x->motions[r->two] = r->base;
}

/* Where the state is now becomes what the rest of the clock knows. */
static void store(rolling *r, double time) {
    exact *x = r->x;
    group_contact *c = &x->contacts.data[0];
    show(r);
    x->accelerations[r->one] = r->load.acceleration[0];
    if (rolling_base_is_free(r)) x->accelerations[r->two] = r->load.acceleration[1];
    rolling_tell_point(r, &c->point);
    double sign = r->flipped ? -1 : 1;
    rolling_find_starts(r, c); /* slip turns slowly; the next step goes on from where this one ended */
    c->slip_along = vec3_scale(r->pair.slip.start, sign),
    c->roll_along = vec3_scale(r->pair.roll.start, sign);
    c->spin_along = r->pair.spin_start;
    x->touches.data[0].slip_start = c->slip_along;
    x->time = r->time = time;
}

/* Energy that friction took and that moving bodies gave since the last call. */
static void count_energy(rolling *r) {
    run_account *s = r->x->account;
    double dissipated = r->y[power_at(r)], work = r->y[power_at(r) + 1];
    s->dissipated += dissipated - r->counted[0], s->work += work - r->counted[1];
    r->counted[0] = dissipated, r->counted[1] = work;
}

/* ---- a step */

abut_status rolling_start_integrator(rolling *r, double time, double hint, abut_error *error) {
    if (!r->ready) {
        ode_config config = ode_default_config();
        config.relative = config.absolute = 0.1 * r->x->model->tolerance.integration;
        config.lazy_dense = true;
        abut_status status =
            ode_init(&r->integrator, r->context, power_at(r) + EXACT_EXTRA, &config, derivative, NULL, r);
        if (status != ABUT_OK) return fail_memory(error);
        r->ready = true;
    }
    r->integrator.config.first_step = hint > 0 ? hint : 0;
    r->counted[0] = r->counted[1] = 0;
    r->error = error;
    r->running = true;
    return ode_start(&r->integrator, time, r->y, error);
}

/* The place has left a patch: the neighbour takes over.  Where the surface ends, the general clock does. */
static abut_status cross(rolling *r, exact_event *e, abut_error *error) {
    for (int k = 0; k < 2; k++) {
        const reduced_side *side = &r->pair.side[k];
        if (!side->surface || room(side, r->state.place[k]) > 0) continue;
        abut_surface_point place = {side->patch, r->state.place[k][0], r->state.place[k][1]};
        double rate[2] = {r->placed.rates[2 * k], r->placed.rates[2 * k + 1]};
        if (abut_surface_settle(side->surface, &place, rate, NULL, NULL, NULL) != ABUT_OK ||
            !reduced_change_patch(&r->pair, &r->state, k, place)) {
            *e = (exact_event){EXACT_LEAVES, 0, r->x->time};
            return ABUT_OK;
        }
    }
    rolling_pack(r, &r->state, r->y);
    if (place_at(r, r->x->time, r->y, NULL) != ABUT_OK || rolling_load(r, r->powers, NULL) != ABUT_OK) {
        *e = (exact_event){EXACT_LEAVES, 0, r->x->time};
        return ABUT_OK;
    }
    store(r, r->x->time);
    if (rolling_find_onset(r) && rolling_load(r, r->powers, NULL) != ABUT_OK) {
        *e = (exact_event){EXACT_LEAVES, 0, r->x->time};
        return ABUT_OK;
    }
    rolling_monitor(r, r->monitored);
    r->running = false;
    /* where the curvature jumps, forces do, and a place can end */
    if (!(r->placed.curvature[0] / r->placed.curvature[1] > ROLLING_CONFORMS))
        *e = (exact_event){EXACT_SLIPS, 0, r->x->time};
    if (r->load.normal < 0) *e = (exact_event){EXACT_VANISHES, 0, r->x->time};
    if (r->load.margin + ROLLING_ALLOWANCE < 0) *e = (exact_event){EXACT_SLIPS, 0, r->x->time};
    return exact_emit(r->x, exact_contact_event(r->x, ABUT_EVENT_PATCH_CROSSED, 0), error);
}

/* The state at a time of the last step. */
static abut_status place_again(rolling *r, double time, abut_error *error) {
    double g[MONITORS];
    return monitor_at(r, time, g)
               ? ABUT_OK
               : fail(error, ABUT_FAILED, "the contact cannot be placed at t = %.9g", time);
}

static abut_status show_at(exact *x, double time, abut_error *error) {
    abut_status status = rolling_place(x->rolling, time, error);
    if (status == ABUT_OK) show(x->rolling);
    return status;
}

/* Places that appear elsewhere end the step where they would overlap: true.  */
static abut_status look_elsewhere(rolling *r, double start, double *reached, bool *cut, abut_error *error) {
    double end = *reached;
    if (!rolling_can_appear(r->x)) return ABUT_OK;
    abut_status status = rolling_appear(r->x, show_at, start, reached, &r->appeared, error);
    *cut = *reached < end;
    return status;
}

abut_status rolling_make_step(rolling *r, double end, abut_error *error) {
    double start = r->integrator.t;
    abut_status status = ode_step(&r->integrator, end, error);
    if (status != ABUT_OK) return status;
    r->which = find_event(r, start, r->integrator.t, &r->reached);
    r->ahead = true;
    return ABUT_OK;
}

/* A new step from the present state, beyond the frame if it can. */
static abut_status begin_step(rolling *r, double longest, abut_error *error) {
    exact *x = r->x;
    bool far = rolling_looks_ahead(x);
    double end = far || x->end - x->time > longest ? x->time + longest : x->end;
    abut_status status = r->running ? ABUT_OK : rolling_start_integrator(r, x->time, x->pace.hint, error);
    if (status == ABUT_OK && far) rolling_remember(r, end);
    return status == ABUT_OK ? rolling_make_step(r, end, error) : status;
}

/* The next step has another derivative: it begins anew, with energies that are in the books. */
static void restart(rolling *r) {
    r->running = false;
    r->y[power_at(r)] = r->y[power_at(r) + 1] = 0;
}

/* What the rest of the clock has to do at the end of a step. */
static abut_status end_step(rolling *r, bool cut, exact_event *e, abut_error *error) {
    r->ahead = false;
    r->x->account->steps++;
    if (r->which == MONITORS && !cut) {
        if (rolling_find_onset(r)) restart(r);
        return ABUT_OK;
    }
    r->running = false;
    if (cut) {
        *e = (exact_event){EXACT_GAP, 0, r->x->time};
        return ABUT_OK;
    }
    if (r->which == LEAVES_ONE || r->which == LEAVES_TWO) return cross(r, e, error);
    static const exact_event_kind kinds[MONITORS] = {
        [NORMAL] = EXACT_VANISHES, [CONFORMS] = EXACT_SLIPS, [MARGIN] = EXACT_SLIPS,
        [SLIP] = EXACT_STICKS,     [ROLL] = EXACT_SLIPS,     [SPIN] = EXACT_SLIPS};
    *e = (exact_event){kinds[r->which], 0, r->x->time};
    return ABUT_OK;
}

abut_status rolling_step(rolling *r, double longest, exact_event *e, abut_error *error) {
    exact *x = r->x;
    double start = x->time;
    bool fresh = !r->ahead, cut = false;
    *e = (exact_event){.kind = EXACT_NOTHING, .item = -1};
    abut_status status = fresh ? begin_step(r, longest, error) : ABUT_OK;
    if (status != ABUT_OK) return status;
    x->pace.hint = r->integrator.h;
    bool ends = r->reached <= x->end;
    double reached = ends ? r->reached : x->end;
    r->appeared = false;
    if (ends) status = look_elsewhere(r, start, &reached, &cut, error);
    bool placed = fresh && ends && r->which == MONITORS && !run_keeps_segments(x->run) && !r->appeared;
    if (status == ABUT_OK && fresh)
        status = rolling_keep_segment(r, ends ? reached : r->reached, false, error);
    else if (status == ABUT_OK && x->model->watch_count > 0)
        status = rolling_keep_segment(r, reached, true, error);
    if (status == ABUT_OK && !placed) status = place_again(r, reached, error);
    if (status != ABUT_OK) return status;
    count_energy(r);
    store(r, reached);
    return ends ? end_step(r, cut, e, error) : ABUT_OK;
}
