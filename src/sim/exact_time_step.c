/* One time step of a group (Stewart and Trinkle 1996, Anitescu and Potra 1997; see exact_storm.c):
 *
 *     v1 = v0 + h a_free + M^-1 J^T z,     n.u1 + gap/h >= 0,     Coulomb's law between z and u1,
 *
 * the path along v1, cut where a gap closes that was not among the contacts, and overlaps projected out. */
#include "dynamics/cones.h"
#include "sim/exact.h"

enum { MOST_CUTS = 64, GIVE_UP = 2000, ROUNDS = 40, PUSH_ROUNDS = 12 };

/* Impulses of a step of h, to begin with: those of the forces of the step before. */
static bool allocate(exact *x, double h, exact_impulses *out) {
    size_t n = (size_t)x->contacts.count + 1;
    out->velocities = arena_alloc(x->arena, (size_t)x->count + 1, sizeof *out->velocities);
    out->normals = arena_alloc(x->arena, n, sizeof *out->normals);
    out->offsets = arena_alloc(x->arena, n, sizeof *out->offsets);
    out->frictions = arena_alloc(x->arena, n, sizeof *out->frictions);
    out->rows = arena_alloc(x->arena, (size_t)x->row_count + 1, sizeof *out->rows);
    if (!out->velocities || !out->normals || !out->offsets || !out->frictions || !out->rows) return false;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        double normal = vec3_dot(c->push, c->point.normal);
        out->normals[i] = h * normal;
        out->frictions[i] = vec3_scale(vec3_axpy(c->push, -normal, c->point.normal), h);
    }
    return true;
}

/* The velocities at the end of a step of h.  Where the problem has no strictly feasible point (a body is
 * squeezed) friction is left out, and at last the points are taken as an inelastic impact. */
static abut_status end_velocities(exact *x, double h, exact_impulses *j, abut_error *error) {
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

static void remember_forces(exact *x, const exact_impulses *j, double h) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        c->push = vec3_scale(vec3_axpy(j->frictions[i], j->normals[i], c->point.normal), 1 / h);
    }
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
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        double rate = exact_gap_rate(x, c->a, c->b, &c->point) + j->offsets[i];
        c->pressed = rate <= 1e-3 * x->model->tolerance.rest_speed;
        c->anchored = false;
        if (c->mode != FRICTION_FREE) set_mode(x, c);
        x->loads.data[i] = (contact_load){.normal = 0, .margin = 1};
    }
}

/* A gap that closes on the path becomes a contact of the step; in the end all that close do, because each may
 * be behind another one.  The path begins at the placed state.  False when memory is out. */
static bool add_closing(exact *x, double start, double reached, exact_event e, bool all, abut_error *error) {
    while (e.kind != EXACT_NOTHING) {
        if (!exact_add_touch(x, &x->nears.data[e.item])) return false;
        if (!all) return true;
        e = exact_find_gap(x, start, reached);
        if (exact_place(x, start, x->y, error) != ABUT_OK) return false;
    }
    return true;
}

/* The path that the velocities of the placed state give in *h, and the first gap that closes on it. */
static abut_status try_path(exact *x, double start, double h, double *reached, exact_event *e,
                            abut_error *error) {
    /* what is near on this path: its velocities can be others than those of the step before */
    double limit = h;
    abut_status status = exact_look_around(x, &limit, error);
    if (status != ABUT_OK) return status;
    exact_mark_touching(x, false);
    make_path(x, start, limit);
    *reached = rolling_within_known(x, start, exact_within_reach(x, start, start + limit));
    *e = (exact_event){.kind = EXACT_NOTHING, .item = -1, .time = INFINITY};
    if (x->cuts < GIVE_UP) *e = exact_find_gap(x, start, *reached);
    return exact_place(x, start, x->y, error);
}

/* The velocities and the path of a step of *h from the placed state.  A gap that closes on the path becomes a
 * contact of the step, which is then made anew; where it would bounce, and after some rounds, the step ends
 * there.  A step that ends earlier is made anew as well, so that no force acts longer than the step lasts.
 * After MOST_CUTS such ends in a row nothing bounces any more, and all gaps that close become contacts at
 * once; after GIVE_UP time goes on whatever overlaps then, which the audit says. */
abut_status exact_make_step(exact *x, double *h, const twist *before, exact_impulses *j, exact_flow *flow,
                            abut_error *error) {
    double powers[2], start = x->time;
    bool ends = false, hurry = x->cuts >= MOST_CUTS;
    for (int round = 0;; round++) {
        if (!allocate(x, *h, j)) return fail_memory(error);
        for (int i = 0; i < x->movable; i++) x->motions[i].velocity = before[i];
        abut_status status = exact_prepare(x, start, powers, error);
        if (status == ABUT_FAILED) { /* a contact that joined has no single place just then */
            status = exact_drop_degenerate(x, error);
            if (status == ABUT_OK) status = exact_prepare(x, start, powers, error);
        }
        if (status == ABUT_OK) status = end_velocities(x, *h, j, error);
        if (status != ABUT_OK) return status;
        remember_forces(x, j, *h);
        for (int i = 0; i < x->movable; i++) x->motions[i].velocity = j->velocities[i];
        flow->work = exact_impulse_work(x, j) + powers[1] * *h;
        flow->dissipated = exact_impulse_loss(x, j, before) + powers[0] * *h;
        double reached;
        exact_event e;
        status = try_path(x, start, *h, &reached, &e, error);
        if (status != ABUT_OK) return status;
        bool last = ends || round + 2 >= ROUNDS, closes = e.kind != EXACT_NOTHING;
        if (closes && !last && (hurry || !exact_bounces(x, &x->nears.data[e.item]))) {
            bool all = hurry || round >= ROUNDS / 4;
            if (!add_closing(x, start, reached, e, all, error)) return fail_memory(error);
            continue;
        }
        if (closes) reached = e.time;
        if (reached >= start + 0.999 * *h || ends || round + 1 >= ROUNDS) {
            x->cuts = closes ? x->cuts + 1 : 0;
            if (reached < start + *h) *h = reached - start;
            remember_modes(x, j);
            return ABUT_OK;
        }
        *h = fmax(reached - start, 1e-3 * x->model->tolerance.event);
        ends = closes;
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

abut_status exact_push_out(exact *x, abut_error *error) {
    press_overlaps(x);
    for (int round = 0; round < PUSH_ROUNDS; round++) {
        abut_status status = exact_correct_positions(x, x->time, error);
        if (status == ABUT_FAILED) status = exact_drop_degenerate(x, error); /* it lost its single place */
        /* what is pushed out of one body may be pushed into another that it did not touch before */
        if (status == ABUT_OK) status = exact_update_touches(x, false, 0, error);
        if (status != ABUT_OK || !press_overlaps(x)) return status;
    }
    return ABUT_OK;
}
