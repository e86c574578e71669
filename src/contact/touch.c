/* Contact regions: preparation, status, and the order of the stages (contact/touch.h). */
#include "contact/touch.h"

/* The tree over the convex pieces of all faces, in shape axes. */
static bool make_pieces(const abut_context *context, abut_touch_solid *s) {
    const abut_index *index = s->index;
    const int32_t *start = index_piece_corners(index), *first = index_face_pieces(index);
    size_t count = (size_t)index->piece_count;
    box *boxes = mem_alloc(context, count, sizeof *boxes);
    s->piece_face = mem_alloc(context, count, sizeof *s->piece_face);
    bool good = boxes && s->piece_face;
    for (int32_t f = 0; good && f < s->solid->face_count; f++)
        for (int32_t p = first[f]; p < first[f + 1]; p++) {
            s->piece_face[p] = f;
            boxes[p] = box_empty();
            for (int32_t c = start[p]; c < start[p + 1]; c++)
                boxes[p] = box_add_point(
                    boxes[p], vec3_add(solid_position(s->solid, index_corners(index)[c]), s->solid->origin));
        }
    good = good && box_tree_build(context, boxes, (int32_t)count, &s->pieces);
    mem_free(context, boxes, count, sizeof *boxes);
    return good;
}

abut_status abut_touch_solid_create(const abut_context *context, const abut_solid *solid,
                                    abut_touch_solid **ready, abut_error *error) {
    *ready = NULL;
    abut_touch_solid *s = mem_calloc(context, 1, sizeof *s);
    if (!s) return fail_memory(error);
    s->solid = solid;
    abut_status status = abut_index_build(context, solid, NULL, &s->index, error);
    abut_shape shape = {.kind = ABUT_SHAPE_SOLID, .solid = solid};
    if (status == ABUT_OK) status = contact_shape_create(context, &shape, vec3_zero(), &s->shape, error);
    if (status == ABUT_OK && !make_pieces(context, s)) status = fail_memory(error);
    if (status != ABUT_OK) {
        abut_touch_solid_free(context, s);
        return status;
    }
    s->center = solid->facts.center;
    for (int32_t v = 0; v < solid->vertex_count; v++)
        s->radius =
            fmax(s->radius, vec3_distance(s->center, vec3_add(solid_position(solid, v), solid->origin)));
    *ready = s;
    return ABUT_OK;
}

void abut_touch_solid_free(const abut_context *context, abut_touch_solid *ready) {
    if (!ready) return;
    contact_shape_free(context, &ready->shape);
    box_tree_free(context, &ready->pieces);
    if (ready->piece_face)
        mem_free(context, ready->piece_face, (size_t)ready->index->piece_count, sizeof *ready->piece_face);
    abut_index_free(context, ready->index);
    mem_free(context, ready, 1, sizeof *ready);
}

const char *abut_touch_status_name(abut_touch_status status) {
    static const char *const names[] = {"apart", "touching", "penetrating"};
    return names[status];
}

/* ---- witnesses of penetration */

enum { WITNESSES = 64 }; /* measured for the depth; more would not change the status */

/* The distance of x (stored frame) from the boundary. */
static double boundary_distance(const abut_solid *s, vec3 x) {
    double best = INFINITY, t;
    for (int32_t e = 0; e < s->edge_count; e++) best = fmin(best, index_edge_distance2(s, e, x, &t));
    best = sqrt(best);
    for (int32_t f = 0; f < s->face_count; f++) {
        double d = fabs(plane_distance(solid_faces(s)[f].plane, x));
        if (d < best && index_face_contains(s, f, x)) best = d;
    }
    return best;
}

/* How deep x lies in a solid; 0 outside. */
static double depth_in(const touch_work *w, int i, vec3 at) {
    vec3 x = pose_unpoint(solid_frame(w->s[i]->solid, w->p[i]), at);
    return index_side(w->s[i]->index, x) == INDEX_IN ? boundary_distance(w->s[i]->solid, x) : 0;
}

static void take_witness(touch_work *w, vec3 at, double depth) {
    if (!(depth > w->epsilon && depth > w->out->depth)) return;
    w->out->status = ABUT_PENETRATING;
    w->out->witness = at, w->out->depth = depth;
}

static bool enough(touch_work *w) { return w->out->status == ABUT_PENETRATING && ++w->witnesses > WITNESSES; }

void touch_witness(touch_work *w, int solid, vec3 at) {
    if (!enough(w)) take_witness(w, at, depth_in(w, solid, at));
}

void touch_witness_overlap(touch_work *w, vec3 at, vec3 outward) {
    if (enough(w)) return;
    double t = fmax(w->s[0]->solid->diagonal, w->s[1]->solid->diagonal);
    for (; t > w->epsilon; t /= 2) {
        vec3 x = vec3_axpy(at, -t, outward);
        take_witness(w, x, fmin(depth_in(w, 0, x), depth_in(w, 1, x)));
    }
}

/* ---- the answer */

static int by_dimension(const void *user, const void *a, const void *b) {
    (void)user;
    return ((const abut_touch_region *)b)->dimension - ((const abut_touch_region *)a)->dimension;
}

static bool make_room(touch_work *w, bool make) {
    bool good = true;
    for (int i = 0; i < 2; i++) {
        const abut_solid *s = w->s[i]->solid;
        size_t count[3] = {(size_t)s->vertex_count, (size_t)s->edge_count, (size_t)s->face_count};
        for (int kind = 0; kind < 3; kind++) {
            if (!make) mem_free(w->context, w->near[i][kind], count[kind], 1);
            if (make && !(w->near[i][kind] = mem_calloc(w->context, count[kind], 1))) good = false;
        }
        if (!make) mem_free(w->context, w->places[i], count[0], sizeof *w->places[i]);
        if (make && !(w->places[i] = mem_calloc(w->context, count[0], sizeof *w->places[i]))) good = false;
    }
    return good;
}

static abut_status analyse(touch_work *w, bool all) {
    abut_touch *t = w->out;
    if (!make_room(w, true)) return fail_memory(w->error);
    abut_status status = touch_collect(w);
    if (status != ABUT_OK) return status;
    if (t->status == ABUT_PENETRATING) {
        t->region_count = t->loop_count = t->point_count = 0;
        return ABUT_OK;
    }
    t->status = t->region_count ? ABUT_TOUCHING : ABUT_APART;
    if (!sort_stable(w->context, t->regions, (size_t)t->region_count, sizeof *t->regions, by_dimension, NULL))
        return fail_memory(w->error);
    if ((status = touch_choose(w)) != ABUT_OK) return status;
    int64_t kept = 0;
    for (int64_t i = 0; i < t->region_count; i++)
        if (all || t->regions[i].needed) t->regions[kept++] = t->regions[i];
    t->region_count = kept;
    return touch_normals(w);
}

abut_status abut_touch_find(const abut_context *context, const abut_touch_solid *a, abut_pose pose_a,
                            const abut_touch_solid *b, abut_pose pose_b, const abut_touch_options *options,
                            abut_touch **touch, abut_error *error) {
    *touch = NULL;
    const abut_touch_options plain = {0};
    double epsilon = options ? options->epsilon : 0;
    if (!(epsilon >= 0 && isfinite(epsilon)))
        return fail(error, ABUT_INVALID, "the touching distance is %g; give a finite length >= 0", epsilon);
    if (!vec3_is_finite(pose_a.position) || !vec3_is_finite(pose_b.position))
        return fail(error, ABUT_INVALID, "a pose is not finite; give numbers");
    if (epsilon == 0) epsilon = fmax(a->solid->epsilon, b->solid->epsilon);
    abut_touch *out = mem_calloc(context, 1, sizeof *out);
    if (!out) return fail_memory(error);
    touch_work w = {.context = context,
                    .s = {a, b},
                    .p = {pose_a, pose_b},
                    .epsilon = epsilon,
                    .out = out,
                    .options = options ? options : &plain,
                    .error = error};
    out->pose[0] = pose_a, out->pose[1] = pose_b;
    abut_status status = analyse(&w, options && options->all);
    make_room(&w, false);
    map64_free(context, &w.pairs);
    if (status == ABUT_OK)
        *touch = out;
    else
        abut_touch_free(context, out);
    return status;
}

void abut_touch_free(const abut_context *context, abut_touch *touch) {
    if (!touch) return;
    mem_free(context, touch->regions, (size_t)touch->capacity[0], sizeof *touch->regions);
    mem_free(context, touch->loop_start, (size_t)touch->capacity[1], sizeof *touch->loop_start);
    mem_free(context, touch->points, (size_t)touch->capacity[2], sizeof *touch->points);
    mem_free(context, touch, 1, sizeof *touch);
}
