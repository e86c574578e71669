/* One time step of a group (Stewart and Trinkle 1996, Anitescu and Potra 1997; see exact_storm.c):
 *
 *     v1 = v0 + h a_free + M^-1 J^T z,     n.u1 + gap/h >= 0,     Coulomb's law between z and u1,
 *
 * the path along v1, with all gaps that close on it among the contacts, and overlaps projected out. */
#include "dynamics/cones.h"
#include "sim/exact.h"
#include "sim/exact_search.h"

enum { MOST_CUTS = 64, GIVE_UP = 2000, ROUNDS = 40, MOST_STRIKES = 8 };

/* ---- the problem of a step */

/* Room for the contacts that the step has by now. */
static bool allocate(exact *x, exact_impulses *out) {
    size_t n = (size_t)x->contacts.count + 1;
    out->normals = arena_alloc(x->arena, n, sizeof *out->normals);
    out->offsets = arena_alloc(x->arena, n, sizeof *out->offsets);
    out->frictions = arena_alloc(x->arena, n, sizeof *out->frictions);
    out->rows = arena_alloc(x->arena, (size_t)x->row_count + 1, sizeof *out->rows);
    return out->normals && out->offsets && out->frictions && out->rows;
}

/* Impulses of a step of h, to begin with: those of the forces of the step before. */
static void recall_forces(const exact *x, double h, exact_impulses *out) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        double normal = vec3_dot(c->push, c->point.normal), gap = c->point.gap;
        out->normals[i] = h * normal;
        out->frictions[i] = vec3_scale(vec3_axpy(c->push, -normal, c->point.normal), h);
        out->offsets[i] = fmax(gap, 0) / h; /* what overlaps is projected out, not shot out */
    }
}

/* Bodies that a contact or a hinge of the step holds; the others fly. */
static void find_held(const exact *x, bool *held) {
    memset(held, 0, (size_t)x->count * sizeof *held);
    for (int64_t i = 0; i < x->contacts.count; i++)
        held[x->contacts.data[i].a] = held[x->contacts.data[i].b] = true;
    for (int i = 0; i < x->row_count; i++) {
        if (x->rows[i].a >= 0) held[x->rows[i].a] = true;
        if (x->rows[i].b >= 0) held[x->rows[i].b] = true;
    }
}

/* The spin after h without contacts: the angular momentum I w + h T stays while the body turns, by the
 * midpoint rule.  (An explicit step of Euler's equations gains w^2 h / 2 of the energy in a second.) */
static vec3 free_spin(const body_inertia *body, const motion *m, vec3 torque, double h) {
    spatial momentum = body_momentum(body, m->rotation, m->velocity);
    momentum.angular = vec3_axpy(momentum.angular, h, torque);
    motion turned = *m;
    vec3 w = m->velocity.angular;
    for (int k = 0; k < 2; k++) { /* half a step, then a whole one with the spin of its middle */
        turned.rotation = m->rotation;
        project_displace(&turned, (spatial){{0, 0, 0}, vec3_scale(w, k == 0 ? h / 2 : h)});
        w = body_apply(body, turned.rotation, momentum).angular;
    }
    return w;
}

/* v0 + h a_free */
static void free_velocities(const exact *x, const group *g, double h, spatial *out) {
    group_free_accelerations(g, out);
    for (int i = 0; i < x->count; i++) {
        out[i] = spatial_axpy(x->motions[i].velocity, h, out[i]);
        if (i < x->movable)
            out[i].angular = free_spin(&x->inertias[i], &x->motions[i], x->wrenches[i].angular, h);
    }
}

/* The drag on a body, times h, as masses. */
static body_inertia slowed(const exact *x, int i, double h) {
    const model_body *b = &x->model->bodies[x->bodies[i]];
    return body_slowed(&x->inertias[i], h * b->drag_linear, h * b->drag_angular);
}

static bool has_drag(const exact *x, int i) {
    const model_body *b = &x->model->bodies[x->bodies[i]];
    return b->drag_linear > 0 || b->drag_angular > 0;
}

/* Drag is taken at the end of the step: an explicit one would throw a body about that it stops within less.
 *     M (v1 - v0) = h (F - C v1) + J^T z    is    (M + h C) v1 = M (v0 + h M^-1 F) + J^T z. */
static void slow_down(exact *x, double h, spatial *base) {
    for (int i = 0; i < x->movable; i++) {
        if (!has_drag(x, i)) continue;
        body_inertia with = slowed(x, i, h);
        spatial momentum = body_momentum(&x->inertias[i], x->motions[i].rotation, base[i]);
        base[i] = body_apply(&with, x->motions[i].rotation, momentum);
        x->inertias[i] = with;
    }
}

static void forget_drag(exact *x) {
    for (int i = 0; i < x->movable; i++) x->inertias[i] = x->model->bodies[x->bodies[i]].inertia;
}

/* What its impulse -h C v1 takes: times the mean of the velocities before and after. */
static double drag_loss(const exact *x, const exact_impulses *j, double h) {
    double loss = 0;
    for (int i = 0; i < x->movable; i++) {
        const model_body *b = &x->model->bodies[x->bodies[i]];
        twist v = j->velocities[i], both = spatial_add(v, j->before[i]);
        loss += 0.5 * h *
                (b->drag_linear * vec3_dot(v.linear, both.linear) +
                 b->drag_angular * vec3_dot(v.angular, both.angular));
    }
    return loss;
}

/* Where no impulses with friction are found, though nothing is jammed, friction is left out. */
static abut_status without_friction(exact *x, const impact_config *config, exact_impulses *j,
                                    contact_impulse *impulse, abut_error *error) {
    group g = exact_group(x);
    size_t n = (size_t)g.contact_count;
    group_contact *smooth = arena_alloc(x->arena, n + 1, sizeof *smooth);
    impact_result result;
    if (!smooth) return fail_memory(error);
    if (n > 0) memcpy(smooth, g.contacts, n * sizeof *smooth);
    for (size_t i = 0; i < n; i++) smooth[i].friction = (abut_friction){0};
    g.contacts = smooth;
    return impact_solve(&g, config, &x->scratch, j->velocities, impulse, j->rows, &result, error);
}

/* The velocities at the end of a step of h.  Where the problem has no strictly feasible point (a body is
 * squeezed) friction is left out, and at last the points are taken as an inelastic impact. */
static abut_status end_velocities(exact *x, double h, exact_impulses *j, abut_error *error) {
    group g = exact_group(x);
    spatial *base = arena_alloc(x->arena, (size_t)x->count + 1, sizeof *base);
    bool found = false;
    double residual;
    if (!base) return fail_memory(error);
    free_velocities(x, &g, h, base);
    slow_down(x, h, base);
    recall_forces(x, h, j);
    system_config build = {.level = SYSTEM_IMPULSES, .base = base, .normal_offset = j->offsets};
    abut_status status = cones_step(&g, &build, &x->scratch, j->velocities, j->normals, j->frictions, j->rows,
                                    &found, &residual, error);
    found = found && exact_check_finite(x, j->velocities, "a time step", NULL) == ABUT_OK;
    if (status != ABUT_OK || found) return status;
    for (int i = 0; i < x->movable; i++) x->motions[i].velocity = base[i];
    impact_config config = impact_default_config();
    config.rest_speed = INFINITY;
    contact_impulse *impulse = arena_alloc(x->arena, (size_t)x->contacts.count + 1, sizeof *impulse);
    impact_result result;
    if (!impulse) return fail_memory(error);
    status = impact_solve(&g, &config, &x->scratch, j->velocities, impulse, j->rows, &result, error);
    if (status == ABUT_OK && result.outcome == IMPACT_NO_SOLUTION) {
        abut_status jam = exact_look_for_jam(x, x->time, true, error);
        if (jam != ABUT_OK) return jam;
    }
    if (status == ABUT_FAILED || (status == ABUT_OK && result.outcome == IMPACT_NO_SOLUTION))
        status = without_friction(x, &config, j, impulse, error);
    for (int64_t i = 0; i < x->contacts.count; i++)
        j->normals[i] = impulse[i].normal, j->frictions[i] = impulse[i].friction;
    if (status == ABUT_NO_MEMORY) return status;
    /* otherwise they are the best there is: velocities of the last round */
    return exact_check_finite(x, j->velocities, "a time step", error);
}

static void remember_forces(exact *x, const exact_impulses *j, double h) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        c->push = vec3_scale(vec3_axpy(j->frictions[i], j->normals[i], c->point.normal), 1 / h);
    }
}

static void set_velocities(exact *x, const twist *velocities) {
    for (int i = 0; i < x->movable; i++) x->motions[i].velocity = velocities[i];
}

/* The powers of the motors with a bound at the velocities of now. */
static double motor_power(const exact *x, const double *forces) {
    double power = 0;
    for (int i = 0; i < x->row_count; i++) {
        const row *r = &x->rows[i];
        if (forces[i] == 0) continue;
        if (r->a >= 0 && r->a < x->movable)
            power += forces[i] * spatial_dot(r->ja, x->motions[r->a].velocity);
        if (r->b >= 0 && r->b < x->movable)
            power += forces[i] * spatial_dot(r->jb, x->motions[r->b].velocity);
    }
    return power;
}

static abut_status solve_slowing(exact *x, double h, exact_impulses *j, exact_flow *flow, abut_error *error) {
    double powers[2];
    set_velocities(x, j->before);
    abut_status status = exact_prepare(x, x->time, powers, error);
    if (status == ABUT_FAILED) { /* a contact that joined has no single place just then */
        status = exact_drop_degenerate(x, error);
        if (status == ABUT_OK) status = exact_prepare(x, x->time, powers, error);
    }
    double *motors = arena_alloc(x->arena, (size_t)x->row_count + 1, sizeof *motors);
    if (status == ABUT_OK && (!motors || !allocate(x, j))) status = fail_memory(error);
    if (status == ABUT_OK) status = exact_push_motors(x, h, motors, error);
    double driven = status == ABUT_OK ? motor_power(x, motors) : 0;
    if (status == ABUT_OK) status = end_velocities(x, h, j, error);
    forget_drag(x);
    if (status != ABUT_OK) return status;
    find_held(x, j->held);
    remember_forces(x, j, h);
    set_velocities(x, j->velocities);
    flow->work = exact_impulse_work(x, j);
    flow->dissipated = exact_impulse_loss(x, j, j->before, &flow->stopping);
    /* an impulse h F does the work h F.(v0 + v1) / 2 */
    double after[2];
    flow->work += 0.5 * h * (driven + motor_power(x, motors));
    status = exact_apply(x, x->time, after, error);
    flow->dissipated += 0.5 * h * (powers[0] + after[0]) + drag_loss(x, j, h);
    flow->work += 0.5 * h * (powers[1] + after[1]);
    return status;
}

/* Solves a step of h with the contacts that it has by now; the bodies have the velocities of its end. */
static abut_status solve_step(exact *x, double h, exact_impulses *j, exact_flow *flow, abut_error *error) {
    x->slowing = true;
    abut_status status = solve_slowing(x, h, j, flow, error);
    x->slowing = false;
    return status;
}

/* ---- its path */

static void pack_position(double *p, const motion *m, quat near) {
    quat q = m->rotation;
    double sign = q.w * near.w + q.x * near.x + q.y * near.y + q.z * near.z < 0 ? -1 : 1;
    p[0] = m->center.x, p[1] = m->center.y, p[2] = m->center.z;
    p[3] = sign * q.w, p[4] = sign * q.x, p[5] = sign * q.y, p[6] = sign * q.z;
}

/* The path of the step as dense output: of bodies that are held straight, turning evenly, with the velocity
 * of its end; of those that fly, from one velocity to the other, x0 + t v0 + t^2 (v1 - v0) / 2h. */
static void make_path(exact *x, double start, double h, const exact_impulses *j) {
    ode *o = &x->integrator;
    double *end = x->y_dense;
    exact_pack(x, end);
    for (int i = 0; i < x->movable; i++) {
        motion m = x->motions[i];
        twist mean = j->held[i] ? m.velocity : spatial_scale(spatial_add(j->before[i], m.velocity), 0.5);
        project_displace(&m, spatial_scale(mean, h));
        pack_position(end + BODY_NUMBERS * i, &m, x->motions[i].rotation);
        if (!j->held[i]) x->motions[i].velocity = j->before[i];
    }
    exact_pack(x, x->y);
    o->t_old = start, o->t = start + h;
    for (int i = 0; i < exact_numbers(x); i++) {
        for (int k = 0; k < ODE_DENSE; k++) o->dense[k][i] = 0;
        o->dense[0][i] = x->y[i], o->dense[1][i] = end[i] - x->y[i];
    }
    for (int i = 0; i < x->movable; i++)
        for (int k = 0; k < 3 && !j->held[i]; k++)
            o->dense[2][BODY_NUMBERS * i + k] = -0.5 * h * o->dense[1][BODY_NUMBERS * i + 7 + k];
}

/* By the velocities at the end of the step. */
static void set_mode(const exact *x, group_contact *c) {
    vec3 u = contact_slip(&c->point, &x->motions[c->a], &x->motions[c->b]);
    u = vec3_axpy(u, -vec3_dot(u, c->point.normal), c->point.normal);
    double speed = vec3_length(u);
    c->mode = speed > 1e-9 * (1 + x->speed) ? FRICTION_SLIP : FRICTION_STICK;
    if (c->mode == FRICTION_SLIP) c->slip_along = vec3_scale(u, 1 / speed);
}

/* Modes for the projection and for the exact clock to start from: what neither stands open nor separates is
 * pressed (the multipliers of an interior-point method are never quite zero). */
static void remember_modes(exact *x, const exact_impulses *j) {
    set_velocities(x, j->velocities);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        double rate = exact_gap_rate(x, c->a, c->b, &c->point) + j->offsets[i];
        c->pressed = rate <= 1e-3 * x->model->tolerance.rest_speed;
        c->anchored = false;
        if (c->mode != FRICTION_FREE) set_mode(x, c);
        x->loads.data[i] = (contact_load){.normal = 0, .margin = 1};
    }
}

/* The path that the velocities give in h, and the first gap that closes on it. */
static abut_status try_path(exact *x, double start, double h, const exact_impulses *j, double *reached,
                            exact_event *e, abut_error *error) {
    /* what is near on this path: its velocities can be others than those of the step before */
    double limit = h;
    abut_status status = exact_look_around(x, &limit, error);
    if (status != ABUT_OK) return status;
    make_path(x, start, limit, j);
    exact_mark_touching(x, false);
    *reached = rolling_within_known(x, start, exact_within_reach(x, start, start + limit));
    *e = (exact_event){.kind = EXACT_NOTHING, .item = -1, .time = INFINITY};
    if (x->cuts < GIVE_UP) {
        *e = exact_find_gap(x, start, *reached);
        *reached = x->proven;
    }
    /* a limit that is reached ends the step: from there on it holds (exact_settle_step) */
    double limited = exact_find_limit(x, start, fmin(*reached, e->time));
    if (limited > start && limited < fmin(*reached, e->time)) {
        *reached = limited;
        *e = (exact_event){.kind = EXACT_NOTHING, .item = -1, .time = INFINITY};
    }
    return exact_place(x, start, x->y, error);
}

/* ---- gaps that close on it */

static void forget_joined(exact *x) {
    for (int64_t i = 0; i < x->nears.count; i++) x->nears.data[i].joined = false;
}

/* Of the other near pairs of the two bodies those that are closed by then to epsilon are looked for: both
 * corners of an edge that lands flat.  Any other may be behind the one that closes first. */
static void leave_pair(exact *x, int a, int b, double time) {
    for (int64_t i = 0; i < x->nears.count; i++) {
        exact_near *n = &x->nears.data[i];
        exact_sample then;
        if (n->a != a || n->b != b || n->touching) continue;
        n->touching = smooth_is_pair(&n->pair) || !exact_probe_gap(x, i, time, &then) ||
                      fabs(then.g) > x->model->tolerance.touching;
    }
}

/* The first gap of each pair of bodies that closes on the path becomes a contact of the step, with those that
 * close at the same time; in a hurry all do.  A smooth pair does so once: where a surface is nearly flat its
 * place runs on, and what is left of the overlap is pushed out at the end.  *bounces: one of them does.  The
 * path begins at the placed state.  False when memory is out. */
static bool add_closing(exact *x, double start, double reached, exact_event e, bool hurry, bool *bounces,
                        abut_error *error) {
    *bounces = false;
    while (e.kind != EXACT_NOTHING) {
        exact_near *n = &x->nears.data[e.item];
        *bounces |= exact_bounces(x, n);
        if (!exact_add_touch(x, n)) return false;
        n->joined = smooth_is_pair(&n->pair);
        if (!hurry) leave_pair(x, n->a, n->b, e.time);
        e = exact_find_gap(x, start, reached);
        if (exact_place(x, start, x->y, error) != ABUT_OK) return false;
    }
    return true;
}

/* An impact at the start of the step over its contacts, also those that close within it: that is early by
 * less than the step, and keeps the restitution. */
static abut_status strike(exact *x, exact_impulses *j, abut_error *error) {
    set_velocities(x, j->before);
    abut_status status = exact_impacts(x, error);
    if (status == ABUT_FAILED) return ABUT_OK; /* without restitution, then: it is a contact of the step */
    for (int i = 0; i < x->movable; i++) j->before[i] = x->motions[i].velocity;
    return status;
}

/* ---- the step */

static bool begin_impulses(exact *x, const twist *before, exact_impulses *out) {
    size_t n = (size_t)x->count + 1;
    out->velocities = arena_alloc(x->arena, n, sizeof *out->velocities);
    out->before = arena_alloc(x->arena, n, sizeof *out->before);
    out->held = arena_alloc(x->arena, n, sizeof *out->held);
    if (!out->velocities || !out->before || !out->held) return false;
    memcpy(out->before, before, (size_t)x->movable * sizeof *before);
    return true;
}

/* The velocities and the path of a step of *h from the placed state.  Gaps that close on the path become
 * contacts of the step, which is then made anew; where one would bounce an impact comes first.  A step that
 * ends where its near pairs do is made anew as well, so that no force acts longer than the step lasts.  After
 * MOST_STRIKES impacts nothing bounces any more; after ROUNDS the step ends where a gap closes, after
 * MOST_CUTS such ends in a row all gaps that close become contacts at once, and after GIVE_UP time goes on
 * whatever overlaps then, which the audit says. */
abut_status exact_make_step(exact *x, double *h, const twist *before, exact_impulses *j, exact_flow *flow,
                            abut_error *error) {
    double start = x->time;
    bool hurry = x->cuts >= MOST_CUTS;
    int strikes = hurry ? MOST_STRIKES : 0;
    if (!begin_impulses(x, before, j)) return fail_memory(error);
    forget_joined(x);
    for (int round = 0;; round++) {
        double reached;
        exact_event e;
        abut_status status = solve_step(x, *h, j, flow, error);
        if (status == ABUT_OK) status = try_path(x, start, *h, j, &reached, &e, error);
        if (status != ABUT_OK) return status;
        bool last = round + 1 >= ROUNDS, closes = e.kind != EXACT_NOTHING, bounces;
        if (closes && !last) {
            if (!add_closing(x, start, reached, e, hurry || round >= ROUNDS / 4, &bounces, error))
                return fail_memory(error);
            if (bounces && strikes++ < MOST_STRIKES) status = strike(x, j, error);
            if (status != ABUT_OK) return status;
            continue;
        }
        if (closes) reached = e.time;
        if (reached >= start + 0.999 * *h || last) {
            x->cuts = closes ? x->cuts + 1 : 0;
            if (reached < start + *h) *h = reached - start;
            remember_modes(x, j);
            forget_joined(x);
            return ABUT_OK;
        }
        *h = fmax(reached - start, 1e-3 * x->model->tolerance.event);
    }
}
