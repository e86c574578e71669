/* Start checks (Bouma and Vanecek 1992, assumption 4): pairs that overlap at the start, with depth and a
 * shift that frees them.  Looked at with the contact regions and the index, not with the near pairs of the
 * clock, which know only boundaries. */
#include "abut/touch.h"
#include "contact/curved.h"
#include "sim/run.h"

#include <stdio.h>

/* What is made of a solid once, however many bodies share it. */
typedef struct ready_solid {
    const abut_solid *solid;
    abut_touch_solid *touch;
    abut_index *index;
} ready_solid;

typedef struct checker {
    const abut_model *model;
    const abut_context *context;
    ARRAY(ready_solid) ready;
    double epsilon;
} checker;

static ready_solid *find_ready(checker *c, const abut_solid *solid) {
    for (int64_t i = 0; i < c->ready.count; i++)
        if (c->ready.data[i].solid == solid) return &c->ready.data[i];
    ready_solid r = {.solid = solid};
    return array_push(c->context, &c->ready, r) ? &c->ready.data[c->ready.count - 1] : NULL;
}

static pose pose_of(const abut_model *m, int body) {
    return motion_pose(&m->bodies[body].start, m->bodies[body].center);
}

/* ---- boxes: the shift */

static box world_box(const abut_model *m, int body) {
    const model_body *b = &m->bodies[body];
    mat3 r = quat_matrix(b->start.rotation);
    vec3 half = vec3_scale(vec3_sub(b->shape.bounds.upper, b->shape.bounds.lower), 0.5);
    vec3 c = vec3_add(b->start.center, mat3_mul_vec(r, box_center(b->shape.bounds)));
    vec3 h = mat3_mul_vec((mat3){vec3_abs(r.cx), vec3_abs(r.cy), vec3_abs(r.cz)}, half);
    return (box){vec3_sub(c, h), vec3_add(c, h)};
}

/* The shortest move along an axis that brings the box of a out of that of b: more than enough, and simple to
 * read. */
static vec3 shift_out(box a, box b) {
    double moves[6] = {b.upper.x - a.lower.x, a.upper.x - b.lower.x, b.upper.y - a.lower.y,
                       a.upper.y - b.lower.y, b.upper.z - a.lower.z, a.upper.z - b.lower.z};
    int best = 0;
    for (int i = 1; i < 6; i++)
        if (moves[i] < moves[best]) best = i;
    double d = best % 2 ? -moves[best] : moves[best];
    return vec3_make(best / 2 == 0 ? d : 0, best / 2 == 1 ? d : 0, best / 2 == 2 ? d : 0);
}

/* ---- depth of a pair; 0: no deeper than epsilon */

static abut_status solids_depth(checker *c, int a, int b, double *depth, vec3 *at, abut_error *error) {
    const abut_model *m = c->model;
    int who[2] = {a, b};
    const abut_touch_solid *solids[2];
    for (int k = 0; k < 2; k++) {
        ready_solid *r = find_ready(c, m->bodies[who[k]].shape.shape.solid);
        if (!r) return fail_memory(error);
        if (!r->touch) {
            abut_status status = abut_touch_solid_create(c->context, r->solid, &r->touch, error);
            if (status != ABUT_OK) return status;
        }
        solids[k] = r->touch;
    }
    abut_touch_options options = {.epsilon = c->epsilon};
    abut_touch *found = NULL;
    abut_status status = abut_touch_find(c->context, solids[0], pose_of(m, a), solids[1], pose_of(m, b),
                                         &options, &found, error);
    if (status == ABUT_OK && found->status == ABUT_PENETRATING) *depth = found->depth, *at = found->witness;
    abut_touch_free(c->context, found);
    return status;
}

/* A sphere or capsule against a solid: its core is closer to the solid than its radius.  The distance is
 * found by bisecting the tolerance at which the index calls the core outside. */
static bool core_is_outside(const ready_solid *r, vec3 p, vec3 q, double distance) {
    abut_run run[2];
    int count = abut_index_segment(r->index, r->solid, p, q, distance, run, 2);
    return count == 1 && run[0].place.kind == ABUT_OUTSIDE;
}

static abut_status need_index(checker *c, int body, ready_solid **r, abut_error *error) {
    *r = find_ready(c, c->model->bodies[body].shape.shape.solid);
    if (!*r) return fail_memory(error);
    return (*r)->index ? ABUT_OK : abut_index_build(c->context, (*r)->solid, NULL, &(*r)->index, error);
}

static abut_status curved_depth(checker *c, int curved, int body, double *depth, vec3 *at,
                                abut_error *error) {
    ready_solid *r;
    abut_status status = need_index(c, body, &r, error);
    if (status != ABUT_OK) return status;
    pose from = pose_of(c->model, curved);
    *at = from.position;
    *depth = curved_in_solid(&c->model->bodies[curved].shape.shape, from, r->solid, r->index,
                             pose_of(c->model, body), c->epsilon);
    return ABUT_OK;
}

/* Two convex shapes with a curved one among them. */
static abut_status convex_depth(checker *c, const abut_convex *a, int body_a, const abut_convex *b,
                                int body_b, double *depth, vec3 *at, abut_error *error) {
    abut_convex_options options = abut_default_convex_options();
    abut_convex_result result = {.points = NULL};
    options.no_points = true;
    pose pa = pose_of(c->model, body_a), pb = pose_of(c->model, body_b);
    abut_status status = abut_convex_distance(a, pa, b, pb, &options, NULL, &result, error);
    if (status == ABUT_OK && -result.distance > c->epsilon)
        *depth = -result.distance, *at = vec3_lerp(pa.position, pb.position, 0.5);
    return status;
}

static abut_status round_depth(checker *c, int round, int body, double *depth, vec3 *at, abut_error *error) {
    const model_body *s = &c->model->bodies[round];
    ready_solid *r;
    abut_status status = need_index(c, body, &r, error);
    if (status != ABUT_OK) return status;
    double half = s->shape.shape.kind == ABUT_SHAPE_CAPSULE ? s->shape.shape.length / 2 : 0,
           radius = s->shape.shape.radius;
    pose from = pose_of(c->model, round), to = pose_of(c->model, body);
    /* a segment needs two ends: a sphere's core is a very short one */
    if (half == 0) half = 1e-6 * radius;
    vec3 p = pose_unpoint(to, pose_point(from, vec3_make(0, 0, -half))),
         q = pose_unpoint(to, pose_point(from, vec3_make(0, 0, half)));
    if (core_is_outside(r, p, q, radius - 2 * c->epsilon)) return ABUT_OK;
    double near = 0, far = radius;
    for (int i = 0; i < 30; i++) {
        double middle = (near + far) / 2;
        if (core_is_outside(r, p, q, middle))
            near = middle;
        else
            far = middle;
    }
    *depth = radius - near, *at = from.position;
    return ABUT_OK;
}

/* Everything else is a few elements: the deepest pair that faces. */
static abut_status elements_depth(checker *c, int a, int b, double *depth, vec3 *at, vec3 *away,
                                  abut_error *error) {
    const model_body *x = &c->model->bodies[a], *y = &c->model->bodies[b];
    near_array found = {0};
    if (!near_collect(c->context, &x->shape, &x->start, &y->shape, &y->start, INFINITY, INFINITY, &found)) {
        array_free(c->context, &found);
        return fail_memory(error);
    }
    for (int64_t i = 0; i < found.count; i++) {
        contact_point p;
        bool faces;
        if (!near_evaluate(&found.data[i], &x->shape, &x->start, &y->shape, &y->start, c->epsilon, &p,
                           &faces) ||
            !faces)
            continue;
        if (-p.gap > fmax(*depth, c->epsilon)) *depth = -p.gap, *at = p.at, *away = p.normal;
    }
    array_free(c->context, &found);
    return ABUT_OK;
}

static abut_status pair_depth(checker *c, int a, int b, double *depth, vec3 *at, vec3 *away,
                              abut_error *error) {
    abut_shape_kind x = c->model->bodies[a].shape.shape.kind, y = c->model->bodies[b].shape.shape.kind;
    bool round_x = x == ABUT_SHAPE_SPHERE || x == ABUT_SHAPE_CAPSULE,
         round_y = y == ABUT_SHAPE_SPHERE || y == ABUT_SHAPE_CAPSULE;
    *depth = 0;
    if (x == ABUT_SHAPE_SOLID && y == ABUT_SHAPE_SOLID) return solids_depth(c, a, b, depth, at, error);
    if (round_x && y == ABUT_SHAPE_SOLID) return round_depth(c, a, b, depth, at, error);
    if (round_y && x == ABUT_SHAPE_SOLID) return round_depth(c, b, a, depth, at, error);
    abut_convex k, l;
    bool curved_x = curved_as_convex(&c->model->bodies[a].shape.shape, &k),
         curved_y = curved_as_convex(&c->model->bodies[b].shape.shape, &l);
    if (curved_x && y == ABUT_SHAPE_SOLID) return curved_depth(c, a, b, depth, at, error);
    if (curved_y && x == ABUT_SHAPE_SOLID) return curved_depth(c, b, a, depth, at, error);
    if (curved_x && curved_y && !(round_x && round_y)) return convex_depth(c, &k, a, &l, b, depth, at, error);
    return elements_depth(c, a, b, depth, at, away, error);
}

/* ---- all pairs */

static bool balls_meet(const abut_model *m, int a, int b) {
    double r = m->bodies[a].shape.radius + m->bodies[b].shape.radius;
    return !(vec3_distance(m->bodies[a].start.center, m->bodies[b].start.center) > r);
}

static void free_checker(checker *c) {
    for (int64_t i = 0; i < c->ready.count; i++) {
        abut_touch_solid_free(c->context, c->ready.data[i].touch);
        abut_index_free(c->context, c->ready.data[i].index);
    }
    array_free(c->context, &c->ready);
}

static abut_status check_all(const abut_model *m, abut_overlap *overlaps, int capacity, int *count,
                             abut_error *error) {
    checker c = {.model = m, .context = &m->context, .epsilon = m->tolerance.touching};
    abut_status status = ABUT_OK;
    *count = 0;
    for (int i = 0; i < m->body_count && status == ABUT_OK; i++)
        for (int j = 0; j < i && status == ABUT_OK; j++) {
            if (!balls_meet(m, i, j) || !model_may_touch(m, i, j)) continue;
            int a = m->bodies[i].movable ? i : j, b = a == i ? j : i;
            bool bounded = isfinite(m->bodies[b].shape.radius);
            if (bounded && !box_overlap(world_box(m, a), world_box(m, b))) continue;
            double depth;
            vec3 at = vec3_zero(), away = vec3_zero(); /* from b to a */
            status = pair_depth(&c, a, b, &depth, &at, &away, error);
            if (status != ABUT_OK || !(depth > c.epsilon)) continue;
            vec3 shift = bounded ? shift_out(world_box(m, a), world_box(m, b)) : vec3_scale(away, depth);
            if (*count < capacity) overlaps[*count] = (abut_overlap){{a, b}, depth, at, shift};
            (*count)++;
        }
    free_checker(&c);
    return status;
}

int abut_model_overlaps(const abut_model *model, abut_overlap *overlaps, int capacity) {
    int count;
    return check_all(model, overlaps, capacity, &count, NULL) == ABUT_OK ? count : -1;
}

abut_status run_check_start(const abut_model *model, abut_error *error) {
    enum { SHOWN = 4 };
    abut_overlap found[SHOWN];
    int count;
    abut_status status = check_all(model, found, SHOWN, &count, error);
    if (status != ABUT_OK || count == 0) return status;
    char text[640] = "";
    for (int i = 0; i < count && i < SHOWN; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "%s`%s` and `%s` overlap by at least %.3g m (shift `%s` by {%.6g, %.6g, %.6g})",
                 i ? "; " : "", model->bodies[found[i].body[0]].name, model->bodies[found[i].body[1]].name,
                 found[i].depth, model->bodies[found[i].body[0]].name, found[i].shift.x, found[i].shift.y,
                 found[i].shift.z);
    }
    return fail(error, ABUT_INVALID, "%d pair%s overlap%s at the start: %s%s", count, count > 1 ? "s" : "",
                count > 1 ? "" : "s", text, count > SHOWN ? "; ..." : "");
}
