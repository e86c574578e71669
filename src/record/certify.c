/* The certificate of a recording: every recorded frame is looked at again, with other means than those that
 * made it. */
#include "record/certify.h"

#include <stdio.h>

static void broken(abut_certificate *c, const char *words) {
    if (c->kept) snprintf(c->broken, sizeof c->broken, "%s", words);
    c->kept = false;
}

/* ---- setting up */

static box shape_bounds(const abut_shape *s) {
    if (s->kind == ABUT_SHAPE_SOLID) return abut_solid_facts_of(s->solid).bounds;
    double r = s->radius, half = s->length / 2;
    vec3 h = {INFINITY, INFINITY, INFINITY};
    if (s->kind == ABUT_SHAPE_SPHERE) h = vec3_make(r, r, r);
    if (s->kind == ABUT_SHAPE_ELLIPSOID) h = s->axes;
    if (s->kind == ABUT_SHAPE_CAPSULE) h = vec3_make(r, r, half + r);
    if (s->kind == ABUT_SHAPE_CYLINDER) h = vec3_make(r, r, half);
    return (box){vec3_neg(h), h};
}

/* One index for each distinct solid. */
static abut_status build_indexes(certifier *c, abut_error *error) {
    int n = c->world->body_count;
    c->shapes = mem_calloc(c->context, (size_t)n + 1, sizeof *c->shapes);
    c->indexes = mem_calloc(c->context, (size_t)n + 1, sizeof *c->indexes);
    c->motions = mem_calloc(c->context, (size_t)n + 1, sizeof *c->motions);
    c->first = mem_calloc(c->context, (size_t)n + 1, sizeof *c->first);
    c->balls = mem_calloc(c->context, (size_t)n + 1, sizeof *c->balls);
    c->breaks = mem_calloc(c->context, (size_t)c->world->hinge_count + 1, sizeof *c->breaks);
    if (!c->shapes || !c->indexes || !c->motions || !c->first || !c->balls || !c->breaks)
        return fail_memory(error);
    for (int i = 0; i < c->world->hinge_count; i++) c->breaks[i] = INFINITY;
    for (int i = 0; i < n; i++) {
        const abut_shape *s = &c->world->bodies[i].shape;
        c->shapes[i] = (overlap_shape){.shape = s, .bounds = shape_bounds(s)};
        if (s->kind != ABUT_SHAPE_SOLID) continue;
        for (int k = 0; k < i && !c->shapes[i].index; k++)
            if (c->world->bodies[k].shape.solid == s->solid) c->shapes[i].index = c->shapes[k].index;
        if (c->shapes[i].index) continue;
        abut_status status = abut_index_build(c->context, s->solid, NULL, &c->indexes[i], error);
        if (status != ABUT_OK) return status;
        c->shapes[i].index = c->indexes[i];
    }
    return ABUT_OK;
}

static void end(certifier *c) {
    size_t n = c->world ? (size_t)c->world->body_count + 1 : 0;
    for (size_t i = 0; c->indexes && i < n; i++) abut_index_free(c->context, c->indexes[i]);
    mem_free(c->context, c->shapes, n, sizeof *c->shapes);
    mem_free(c->context, c->indexes, n, sizeof *c->indexes);
    mem_free(c->context, c->motions, n, sizeof *c->motions);
    mem_free(c->context, c->first, n, sizeof *c->first);
    mem_free(c->context, c->balls, n, sizeof *c->balls);
    mem_free(c->context, c->breaks, c->world ? (size_t)c->world->hinge_count + 1 : 0, sizeof *c->breaks);
    abut_model_free(c->model);
    abut_scene_free(c->scene);
}

/* ---- overlap */

static pose pose_of(const certifier *c, int body) {
    const abut_motion *m = &c->motions[body];
    vec3 center = abut_model_body_mass(c->model, body).center;
    return (pose){vec3_sub(m->center, quat_rotate(m->rotation, center)), m->rotation};
}

/* The ball around the box of a body. */
static ball ball_of(const certifier *c, int body) {
    box b = c->shapes[body].bounds;
    if (!isfinite(b.upper.x)) return (ball){.radius = INFINITY};
    return (ball){pose_point(pose_of(c, body), box_center(b)), box_diagonal(b) / 2};
}

static void check_pair(certifier *c, int i, int j, double time) {
    c->out->pairs++;
    double depth = overlap_depth(&c->shapes[i], pose_of(c, i), &c->shapes[j], pose_of(c, j), c->epsilon);
    if (depth <= c->out->deepest_overlap) return;
    c->out->deepest_overlap = depth, c->out->overlap_time = time;
    snprintf(c->out->overlap_bodies[0], sizeof c->out->overlap_bodies[0], "%s",
             abut_model_body_name(c->model, i));
    snprintf(c->out->overlap_bodies[1], sizeof c->out->overlap_bodies[1], "%s",
             abut_model_body_name(c->model, j));
}

/* ---- energy */

typedef struct sums {
    double kinetic, gravity, weight, mass;
    vec3 momentum, angular_momentum; /* about the origin */
    double speeds, turns;            /* sums of the sizes of their parts */
} sums;

static sums sum_states(const certifier *c) {
    sums s = {0};
    for (int i = 0; i < c->world->body_count; i++) {
        if (!certify_moves(c, i)) continue;
        abut_mass m = abut_model_body_mass(c->model, i);
        const abut_motion *q = &c->motions[i];
        vec3 w = quat_unrotate(q->rotation, q->spin);
        const double *t = m.inertia;
        double turn = t[0] * w.x * w.x + t[1] * w.y * w.y + t[2] * w.z * w.z +
                      2 * (t[3] * w.x * w.y + t[4] * w.x * w.z + t[5] * w.y * w.z);
        s.kinetic += 0.5 * (m.mass * vec3_dot(q->velocity, q->velocity) + turn);
        s.gravity -= m.mass * vec3_dot(c->world->gravity, q->center);
        s.weight += m.mass * vec3_length(c->world->gravity), s.mass += m.mass;
        s.momentum = vec3_axpy(s.momentum, m.mass, q->velocity);
        vec3 own = {t[0] * w.x + t[3] * w.y + t[4] * w.z, t[3] * w.x + t[1] * w.y + t[5] * w.z,
                    t[4] * w.x + t[5] * w.y + t[2] * w.z};
        vec3 about = vec3_scale(vec3_cross(q->center, q->velocity), m.mass);
        s.angular_momentum = vec3_add(s.angular_momentum, vec3_add(about, quat_rotate(q->rotation, own)));
        s.speeds += m.mass * vec3_length(q->velocity);
        s.turns += m.mass * vec3_length(q->center) * vec3_length(q->velocity) + vec3_length(own);
    }
    return s;
}

typedef struct balance {
    double start, largest, least_gravity, most_gravity;
    bool begun;
} balance;

/* Recorded energies against the states, and their balance against the start.  What starts within epsilon of
 * contact is put into contact: the weights times epsilon are not held against the run; what is slower than
 * the speed of rest has no energy to be off by. */
static void check_energy(certifier *c, const abut_frame *f, balance *b) {
    sums s = sum_states(c);
    const abut_energy *e = &f->energy;
    double total = e->kinetic + e->potential + e->dissipated - e->work;
    if (!b->begun) *b = (balance){total, 0, s.gravity, s.gravity, true};
    b->least_gravity = fmin(b->least_gravity, s.gravity), b->most_gravity = fmax(b->most_gravity, s.gravity);
    b->largest =
        fmax(b->largest,
             fmax(e->kinetic, fmax(b->most_gravity - b->least_gravity, e->dissipated + fabs(e->work))));
    double rest = abut_model_tolerances(c->model).rest_speed,
           scale = fmax(b->largest, s.mass * rest * rest / 2);
    double off = fmax(fabs(total - b->start) - s.weight * c->epsilon, 0);
    double error = fmax(off, fabs(s.kinetic - e->kinetic)) / scale;
    if (scale > 0 && error > c->out->energy_error)
        c->out->energy_error = error, c->out->energy_time = f->time;
    double moved = vec3_distance(s.momentum, e->momentum) / (s.speeds > 0 ? s.speeds : 1),
           turned = vec3_distance(s.angular_momentum, e->angular_momentum) / (s.turns > 0 ? s.turns : 1);
    c->out->momentum_error = fmax(c->out->momentum_error, fmax(moved, turned));
}

/* ---- impacts */

static bool take_break(void *user, const abut_event *e) {
    certifier *c = user;
    int64_t hinge = e->entity[0].id;
    if (e->kind == ABUT_EVENT_HINGE_BROKEN && hinge >= 0 && hinge < c->world->hinge_count)
        c->breaks[hinge] = fmin(c->breaks[hinge], e->time);
    return true;
}

static bool check_impact(void *user, const abut_event *e) {
    certifier *c = user;
    if (e->kind != ABUT_EVENT_IMPACT) return true;
    c->out->impacts++;
    for (int i = 0; i < c->world->body_count; i++)
        if (c->world->bodies[i].kinematic) return true; /* what moves by itself can give energy */
    for (int i = 0; i < c->world->hinge_count; i++)
        if (c->world->hinges[i].has_motor) return true;
    if (e->energy_after > e->energy_before * (1 + 1e-9) + c->slack + 1e-300) c->out->impacts_that_gain++;
    return true;
}

/* ---- all frames */

static abut_status check_frame(certifier *c, int64_t k, balance *b, abut_error *error) {
    abut_frame f;
    abut_status status = abut_recording_frame(c->recording, k, &f, error);
    if (status == ABUT_OK) status = abut_recording_motions(c->recording, k, c->motions, error);
    if (status == ABUT_OK && k == 0) status = abut_recording_motions(c->recording, k, c->first, error);
    if (status != ABUT_OK) return status;
    for (int i = 0; i < c->world->body_count; i++) {
        c->balls[i] = ball_of(c, i);
        for (int j = 0; j < i; j++) {
            double reach = c->balls[i].radius + c->balls[j].radius;
            if (!(vec3_distance(c->balls[i].center, c->balls[j].center) > reach) &&
                abut_model_may_touch(c->model, i, j))
                check_pair(c, i, j, f.time);
        }
    }
    check_energy(c, &f, b);
    certify_hinges(c, f.time);
    c->out->frames++;
    return ABUT_OK;
}

static void judge(certifier *c) {
    char words[512];
    abut_certificate *o = c->out;
    if (o->deepest_overlap > o->overlap_limit) {
        snprintf(
            words, sizeof words,
            "`%s` and `%s` overlap by about %.3g m at t = %.9g s, more than the %.3g m that are promised",
            o->overlap_bodies[0], o->overlap_bodies[1], o->deepest_overlap, o->overlap_time,
            o->overlap_limit);
        broken(o, words);
    }
    if (o->energy_error > 1e-6) {
        snprintf(words, sizeof words, "the energy balance is off by %.3g at t = %.9g s", o->energy_error,
                 o->energy_time);
        broken(o, words);
    }
    if (o->momentum_error > 1e-9) broken(o, "the recorded momentum is not that of the recorded states");
    if (o->impulse_error > o->impulse_limit) {
        snprintf(
            words, sizeof words,
            "the velocity of `%s` at t = %.9g s jumps otherwise than by the recorded impulses, by %.3g m/s",
            o->impulse_body, o->impulse_time, o->impulse_error);
        broken(o, words);
    }
    if (o->path_error > c->epsilon) {
        snprintf(words, sizeof words, "`%s` jumps by %.3g m at t = %.9g s", o->path_body, o->path_error,
                 o->path_time);
        broken(o, words);
    }
    if (o->hinge_error > o->hinge_limit) {
        const char *name = c->world->hinges[o->hinge].name;
        snprintf(words, sizeof words,
                 "hinge %d%s%s%s stands open by %.3g m at t = %.9g s, more than the %.3g m that are promised",
                 o->hinge + 1, name ? " (`" : "", name ? name : "", name ? "`)" : "", o->hinge_error,
                 o->hinge_time, o->hinge_limit);
        broken(o, words);
    }
    if (o->impacts_that_gain > 0) broken(o, "an impact gained energy");
}

/* What the clock of the run promises: epsilon, or what the live one allows itself. */
static abut_status ask_limit(certifier *c, abut_error *error) {
    c->epsilon = c->out->overlap_limit = c->out->hinge_limit = abut_model_tolerances(c->model).touching;
    if (c->world->mode != ABUT_LIVE) return ABUT_OK;
    abut_sim *run = NULL;
    abut_status status = abut_sim_create(c->context, c->model, NULL, &run, error);
    if (status == ABUT_OK) {
        abut_audit promised = abut_sim_audit(run);
        c->out->overlap_limit = promised.overlap_limit, c->out->hinge_limit = promised.constraint_limit;
    }
    abut_sim_free(run);
    return status;
}

abut_status abut_recording_certify(const abut_context *context, abut_recording *recording,
                                   abut_certificate *certificate, abut_error *error) {
    *certificate = (abut_certificate){.kept = true};
    certifier c = {.context = context, .recording = recording, .out = certificate};
    abut_status status = abut_recording_scene(context, recording, &c.scene, error);
    if (status == ABUT_OK) {
        c.world = abut_scene_world(c.scene);
        status = abut_model_create(context, c.world, &c.model, error);
    }
    if (status == ABUT_OK) status = build_indexes(&c, error);
    if (status == ABUT_OK) status = ask_limit(&c, error);
    if (status == ABUT_OK) status = abut_recording_events(recording, take_break, &c, error);
    balance b = {0};
    for (int64_t k = 0; k < abut_recording_frames(recording) && status == ABUT_OK; k++)
        status = check_frame(&c, k, &b, error);
    /* the live clock holds the hinges of what is struck against forces that an impact does not know: it may
     * be off by what a frame may gain */
    if (c.world && c.world->mode == ABUT_LIVE && c.world->hinge_count > 0) c.slack = 0.01 * b.largest;
    if (status == ABUT_OK) status = abut_recording_events(recording, check_impact, &c, error);
    if (status == ABUT_OK) status = certify_paths(&c, error);
    if (status == ABUT_OK) judge(&c);
    end(&c);
    return status;
}
