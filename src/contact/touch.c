/* Contact regions: preparation, status, and the order of the stages (contact/touch.h). */
#include "contact/touch.h"

abut_status abut_touch_solid_create(const abut_context *context, const abut_solid *solid,
                                    abut_touch_solid **ready, abut_error *error) {
    *ready = NULL;
    abut_touch_solid *s = mem_calloc(context, 1, sizeof *s);
    if (!s) return fail_memory(error);
    s->solid = solid;
    abut_status status = abut_index_build(context, solid, NULL, &s->index, error);
    if (status == ABUT_OK && !touch_tree_build(context, solid, s->index, &s->tree))
        status = fail_memory(error);
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
    touch_tree_free(context, &ready->tree);
    abut_index_free(context, ready->index);
    mem_free(context, ready, 1, sizeof *ready);
}

const char *abut_touch_status_name(abut_touch_status status) {
    static const char *const names[] = {"apart", "touching", "penetrating"};
    return names[status];
}

/* ---- witnesses of penetration */

enum { WITNESSES = 64 }; /* measured for the depth; more would not change the status */

/* How deep x lies in a solid; 0 outside. */
static double depth_in(const touch_work *w, int i, vec3 at) {
    const abut_touch_solid *s = w->s[i];
    vec3 x = pose_unpoint(solid_frame(s->solid, w->p[i]), at);
    return index_side(s->index, x) == INDEX_IN ? touch_tree_distance(&s->tree, vec3_sub(x, s->tree.center))
                                               : 0;
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

static abut_status analyse(touch_work *w, bool all) {
    abut_touch *t = w->out;
    abut_status status = touch_collect(w);
    if (status != ABUT_OK) return status;
    if (t->status == ABUT_PENETRATING) {
        t->region_count = t->loop_count = t->point_count = 0;
        return ABUT_OK;
    }
    t->status = t->region_count ? ABUT_TOUCHING : ABUT_APART;
    if (w->options->status_only) {
        t->region_count = t->loop_count = t->point_count = 0;
        return ABUT_OK;
    }
    if (!sort_stable(w->context, t->regions, (size_t)t->region_count, sizeof *t->regions, by_dimension, NULL))
        return fail_memory(w->error);
    if ((status = touch_choose(w)) != ABUT_OK) return status;
    int64_t kept = 0;
    for (int64_t i = 0; i < t->region_count; i++)
        if (all || t->regions[i].needed) t->regions[kept++] = t->regions[i];
    t->region_count = kept;
    status = touch_normals(w);
    if (status == ABUT_OK) touch_cull_regions(w);
    return status == ABUT_OK ? touch_points(w) : status;
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
    for (int k = 0; k < 8; k++) array_free(context, &w.marked[k / 4][k % 4]);
    map64_free(context, &w.marks);
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
    mem_free(context, touch->contacts, (size_t)touch->capacity[3], sizeof *touch->contacts);
    mem_free(context, touch, 1, sizeof *touch);
}
