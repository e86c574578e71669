/* Start checks (Bouma and Vanecek 1992, assumptions 4 and 5): pairs that overlap at the start, with depth and
 * a shift that frees them, and contacts whose normal geometry leaves open.  Looked at with the contact
 * regions and the index, not with the near pairs of the clock, which know only boundaries. */
#include "sim/start.h"

#include "contact/curved.h"

#include <stdio.h>

ready_solid *start_ready(checker *c, const abut_solid *solid) {
    for (int64_t i = 0; i < c->ready.count; i++)
        if (c->ready.data[i].solid == solid) return &c->ready.data[i];
    ready_solid r = {.solid = solid};
    return array_push(c->context, &c->ready, r) ? &c->ready.data[c->ready.count - 1] : NULL;
}

/* Where a body starts (or is now), with what it has been pushed by so far. */
motion start_of(const checker *c, int body) {
    motion m = c->now ? c->now[body] : c->model->bodies[body].start;
    if (c->shifts) m.center = vec3_add(m.center, c->shifts[body]);
    if (c->moved == body) m.center = vec3_add(m.center, c->moved_by);
    return m;
}

vec3 start_center(const checker *c, int body) { return start_of(c, body).center; }

pose start_pose(const checker *c, int body) {
    motion m = start_of(c, body);
    return motion_pose(&m, c->model->bodies[body].center);
}

/* ---- boxes */

box start_box(const checker *c, int body) {
    box b = c->model->bodies[body].shape.bounds;
    motion start = start_of(c, body);
    mat3 r = quat_matrix(start.rotation);
    vec3 half = vec3_scale(vec3_sub(b.upper, b.lower), 0.5);
    vec3 center = vec3_add(start.center, mat3_mul_vec(r, box_center(b)));
    vec3 h = mat3_mul_vec((mat3){vec3_abs(r.cx), vec3_abs(r.cy), vec3_abs(r.cz)}, half);
    return (box){vec3_sub(center, h), vec3_add(center, h)};
}

/* ---- depth of a pair; 0: no deeper than epsilon */

/* The contact of two solids at the start. */
static abut_status find_touch(checker *c, int a, int b, bool depth_only, abut_touch **found,
                              abut_error *error) {
    int who[2] = {a, b};
    const abut_touch_solid *solids[2];
    *found = NULL;
    for (int k = 0; k < 2; k++) {
        ready_solid *r = start_ready(c, c->model->bodies[who[k]].shape.shape.solid);
        if (!r) return fail_memory(error);
        if (!r->touch) {
            abut_status status = abut_touch_solid_create(c->context, r->solid, &r->touch, error);
            if (status != ABUT_OK) return status;
        }
        solids[k] = r->touch;
    }
    abut_touch_options options = {.epsilon = c->epsilon, .status_only = depth_only};
    return abut_touch_find(c->context, solids[0], start_pose(c, a), solids[1], start_pose(c, b), &options,
                           found, error);
}

static abut_status solids_depth(checker *c, int a, int b, double *depth, vec3 *at, abut_error *error) {
    abut_touch *found = NULL;
    abut_status status = find_touch(c, a, b, true, &found, error);
    if (status == ABUT_OK && found->status == ABUT_PENETRATING) *depth = found->depth, *at = found->witness;
    abut_touch_free(c->context, found);
    return status;
}

/* A sphere or capsule against a solid: its core is closer to the solid than its radius.  The distance is
 * found by bisecting the tolerance at which the index calls the core outside. */
static bool core_is_outside(const ready_solid *r, vec3 p, vec3 q, double distance) {
    abut_run run[2];
    if (p.x == q.x && p.y == q.y && p.z == q.z)
        return abut_index_point(r->index, r->solid, p, distance).kind == ABUT_OUTSIDE;
    int count = abut_index_segment(r->index, r->solid, p, q, distance, run, 2);
    return count == 1 && run[0].place.kind == ABUT_OUTSIDE;
}

static abut_status need_index(checker *c, int body, ready_solid **r, abut_error *error) {
    *r = start_ready(c, c->model->bodies[body].shape.shape.solid);
    if (!*r) return fail_memory(error);
    return (*r)->index ? ABUT_OK : abut_index_build(c->context, (*r)->solid, NULL, &(*r)->index, error);
}

static abut_status curved_depth(checker *c, int curved, int body, double *depth, vec3 *at,
                                abut_error *error) {
    ready_solid *r;
    abut_status status = need_index(c, body, &r, error);
    if (status != ABUT_OK) return status;
    pose from = start_pose(c, curved);
    *at = from.position;
    *depth = curved_in_solid(&c->model->bodies[curved].shape.shape, from, r->solid, r->index,
                             start_pose(c, body), c->epsilon);
    return ABUT_OK;
}

/* Two convex shapes with a curved one among them. */
static abut_status convex_depth(checker *c, const abut_convex *a, int body_a, const abut_convex *b,
                                int body_b, double *depth, vec3 *at, abut_error *error) {
    abut_convex_options options = abut_default_convex_options();
    abut_convex_result result = {.points = NULL};
    options.no_points = true;
    pose pa = start_pose(c, body_a), pb = start_pose(c, body_b);
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
    pose from = start_pose(c, round), to = start_pose(c, body);
    vec3 p = pose_unpoint(to, pose_point(from, vec3_make(0, 0, -half))),
         q = pose_unpoint(to, pose_point(from, vec3_make(0, 0, half)));
    if (core_is_outside(r, p, q, radius - 2 * c->epsilon)) return ABUT_OK;
    double near = 0, far = radius;
    for (int i = 0; i < 40; i++) {
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
    motion ma = start_of(c, a), mb = start_of(c, b);
    near_array found = {0};
    if (!near_collect(c->context, &x->shape, &ma, &y->shape, &mb, INFINITY, INFINITY, &found)) {
        array_free(c->context, &found);
        return fail_memory(error);
    }
    for (int64_t i = 0; i < found.count; i++) {
        contact_point p;
        bool faces;
        if (!near_evaluate(&found.data[i], &x->shape, &ma, &y->shape, &mb, c->epsilon, &p, &faces) || !faces)
            continue;
        if (-p.gap > fmax(*depth, c->epsilon)) *depth = -p.gap, *at = p.at, *away = p.normal;
    }
    array_free(c->context, &found);
    return ABUT_OK;
}

/* Depth and place of the overlap of a and b, 0 where there is none; `away` from b to a is known for pairs of
 * elements and of smooth surfaces, and zero otherwise. */
abut_status start_depth(checker *c, int a, int b, double *depth, vec3 *at, vec3 *away, abut_error *error) {
    abut_shape_kind x = c->model->bodies[a].shape.shape.kind, y = c->model->bodies[b].shape.shape.kind;
    bool round_x = x == ABUT_SHAPE_SPHERE || x == ABUT_SHAPE_CAPSULE,
         round_y = y == ABUT_SHAPE_SPHERE || y == ABUT_SHAPE_CAPSULE;
    *depth = 0;
    if (x == ABUT_SHAPE_SURFACE && y == ABUT_SHAPE_SURFACE)
        return audit_surfaces_depth(c, a, b, c->epsilon, depth, at, away, error);
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

checker start_checker(const abut_model *m) {
    return (checker){.model = m, .context = &m->context, .epsilon = m->tolerance.touching, .moved = -1};
}

void start_checker_free(checker *c) {
    for (int64_t i = 0; i < c->ready.count; i++) {
        abut_touch_solid_free(c->context, c->ready.data[i].touch);
        abut_index_free(c->context, c->ready.data[i].index);
        abut_hull_free(c->context, c->ready.data[i].hull);
    }
    for (int64_t i = 0; i < c->surfaces.count; i++)
        abut_surface_tree_free(c->context, c->surfaces.data[i].tree);
    array_free(c->context, &c->ready);
    array_free(c->context, &c->surfaces);
}

/* A pair that may meet, and whose balls and boxes do (within epsilon).  *a is one that can move. */
bool start_pair_is_near(const checker *c, int *a, int *b) {
    const abut_model *m = c->model;
    double r = m->bodies[*a].shape.radius + m->bodies[*b].shape.radius + c->epsilon;
    if (vec3_distance(start_of(c, *a).center, start_of(c, *b).center) > r || !model_may_touch(m, *a, *b))
        return false;
    if (!m->bodies[*a].movable) {
        int swap = *a;
        *a = *b, *b = swap;
    }
    bool bounded = isfinite(m->bodies[*b].shape.radius);
    return !bounded || box_overlap(box_grow(start_box(c, *a), c->epsilon), start_box(c, *b));
}

static abut_status check_all(const abut_model *m, abut_overlap *overlaps, int capacity, int *count,
                             abut_error *error) {
    checker c = start_checker(m);
    start_pairs pairs = {0};
    abut_status status = start_near_pairs(&c, &pairs) ? ABUT_OK : fail_memory(error);
    *count = 0;
    for (int64_t i = 0; i < pairs.count && status == ABUT_OK; i++) {
        int a = pairs.data[i].a, b = pairs.data[i].b;
        abut_overlap o = {.body = {a, b}};
        vec3 away = vec3_zero();
        status = start_depth(&c, a, b, &o.depth, &o.at, &away, error);
        if (status != ABUT_OK || !(o.depth > c.epsilon)) continue;
        status = start_way_out(&c, a, b, o.depth, away, &o.shift, error);
        if (*count < capacity) overlaps[*count] = o;
        (*count)++;
    }
    array_free(c.context, &pairs);
    start_checker_free(&c);
    return status;
}

int abut_model_overlaps(const abut_model *model, abut_overlap *overlaps, int capacity) {
    int count;
    return check_all(model, overlaps, capacity, &count, NULL) == ABUT_OK ? count : -1;
}

/* ---- contacts whose normal is open */

static abut_entity entity_of(abut_place p) {
    abut_entity_kind kind = p.kind == ABUT_ON_VERTEX ? ABUT_ENTITY_VERTEX
                            : p.kind == ABUT_ON_EDGE ? ABUT_ENTITY_EDGE
                                                     : ABUT_ENTITY_FACE;
    return (abut_entity){kind, p.id};
}

/* Two solids that touch only where geometry leaves the normal open: where anything else holds them apart, the
 * open place does not matter. */
static abut_status ambiguity_of(checker *c, int a, int b, abut_ambiguity *out, bool *is, abut_error *error) {
    abut_touch *found = NULL;
    *is = false;
    abut_status status = find_touch(c, a, b, false, &found, error);
    bool open = status == ABUT_OK && found->status == ABUT_TOUCHING && found->region_count > 0;
    for (int64_t i = 0; open && i < found->region_count; i++) open = !found->regions[i].determinate;
    if (open) {
        const abut_touch_region *r = &found->regions[0];
        *out = (abut_ambiguity){{a, b}, {entity_of(r->a), entity_of(r->b)}, r->center};
        *is = true;
    }
    abut_touch_free(c->context, found);
    return status;
}

static abut_status find_ambiguities(const abut_model *m, abut_ambiguity *out, int capacity, int *count,
                                    abut_error *error) {
    checker c = start_checker(m);
    start_pairs pairs = {0};
    abut_status status = start_near_pairs(&c, &pairs) ? ABUT_OK : fail_memory(error);
    *count = 0;
    for (int64_t i = 0; i < pairs.count && status == ABUT_OK; i++) {
        int a = pairs.data[i].a, b = pairs.data[i].b;
        if (m->bodies[a].shape.shape.kind != ABUT_SHAPE_SOLID ||
            m->bodies[b].shape.shape.kind != ABUT_SHAPE_SOLID)
            continue;
        abut_ambiguity found;
        bool is;
        status = ambiguity_of(&c, a, b, &found, &is, error);
        if (status != ABUT_OK || !is) continue;
        if (*count < capacity) out[*count] = found;
        (*count)++;
    }
    array_free(c.context, &pairs);
    start_checker_free(&c);
    return status;
}

int abut_model_ambiguities(const abut_model *model, abut_ambiguity *ambiguities, int capacity) {
    int count;
    return find_ambiguities(model, ambiguities, capacity, &count, NULL) == ABUT_OK ? count : -1;
}

/* ---- at the start of a run */

static void notice_ambiguities(const abut_model *model) {
    abut_ambiguity first;
    int count = abut_model_ambiguities(model, &first, 1);
    if (count > 0)
        log_write(
            &model->context, ABUT_LOG_WARNING,
            "notice: %d pair%s touch%s at the start where geometry leaves the normal open (`%s` and `%s`: "
            "%s on %s%s); abut check lists them",
            count, count > 1 ? "s" : "", count > 1 ? "" : "es", model->bodies[first.body[0]].name,
            model->bodies[first.body[1]].name, abut_entity_name(first.entity[0].kind),
            abut_entity_name(first.entity[1].kind), count > 1 ? ", ..." : "");
}

abut_status run_check_start(const abut_model *model, abut_error *error) {
    enum { SHOWN = 4 };
    abut_overlap found[SHOWN];
    int count;
    abut_status status = check_all(model, found, SHOWN, &count, error);
    if (status != ABUT_OK) return status;
    if (count == 0) {
        if (model->world.mode == ABUT_EXACT) notice_ambiguities(model);
        return ABUT_OK;
    }
    char text[640] = "";
    for (int i = 0; i < count && i < SHOWN; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "%s`%s` and `%s` overlap by at least %.3g m (shift `%s` by {%.6g, %.6g, %.6g})",
                 i ? "; " : "", model->bodies[found[i].body[0]].name, model->bodies[found[i].body[1]].name,
                 found[i].depth, model->bodies[found[i].body[0]].name, found[i].shift.x, found[i].shift.y,
                 found[i].shift.z);
    }
    return fail(error, ABUT_INVALID, "%d pair%s overlap%s at the start: %s%s; or run with --allow-overlap",
                count, count > 1 ? "s" : "", count > 1 ? "" : "s", text, count > SHOWN ? "; ..." : "");
}
