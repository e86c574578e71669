/* The limit surface of Loop subdivision as an atlas: one patch for each triangle of the cage.
 *
 *   no extraordinary corner     LOOP    the quartic of its 12 control points
 *   one                         STAM
 *   two or three                SPLIT   four hidden patches of the cage subdivided once, each with at most
 * one
 */
#include "surface/surface.h"

abut_loop_options abut_default_loop_options(void) {
    return (abut_loop_options){.form = ABUT_LOOP_LIMIT, .refine = 0, .scale = 1};
}

static int extraordinary_corners(const loop_mesh *m, int64_t t, int *last) {
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (m->valence[m->corners[3 * t + i]] != 6) count++, *last = i;
    return count;
}

/* The control points of a STAM patch: rings of c, r0 and r1 (see the drawing in stam.c). */
abut_status loop_gather_stam(const loop_mesh *m, int64_t t, int corner, int turned, double *data,
                             abut_error *error) {
    int32_t h = (int32_t)(3 * t + corner), r0[6], r1[6];
    int valence = m->valence[m->corners[h]];
    int32_t *ring = mem_alloc(m->context, (size_t)valence, sizeof *ring);
    vec3 *points = mem_alloc(m->context, (size_t)valence, sizeof *points);
    if (ring && points) {
        loop_mesh_ring(m, h, ring, valence);
        loop_mesh_ring(m, half_edge_next(h), r0, 6);
        loop_mesh_ring(m, half_edge_previous(h), r1, 6);
        for (int i = 0; i < valence; i++) points[i] = m->points[ring[i]];
        stam_points all = {m->points[m->corners[h]], points,           m->points[r0[3]], m->points[r0[4]],
                           m->points[r0[5]],         m->points[r1[3]], m->points[r1[4]]};
        stam_build(&all, valence, turned, data);
    }
    bool fine = ring && points;
    mem_free(m->context, ring, (size_t)valence, sizeof *ring);
    mem_free(m->context, points, (size_t)valence, sizeof *points);
    return fine ? ABUT_OK : fail_memory(error);
}

/* A patch with at most one extraordinary corner, shown or hidden. */
static abut_status add_triangle(surface_builder *b, const loop_mesh *m, int64_t t, bool hidden,
                                abut_error *error) {
    int corner = 0, extraordinary = extraordinary_corners(m, t, &corner);
    patch p = {.kind = extraordinary ? ABUT_PATCH_STAM : ABUT_PATCH_LOOP, .sides = 3, .face = m->faces[t]};
    if (extraordinary) p.valence = m->valence[m->corners[3 * t + corner]], p.part = corner;
    int64_t count = extraordinary ? STAM_NUMBERS(p.valence) : TRIANGLE_NUMBERS;
    double *data;
    if (hidden)
        builder_hidden(b, p, count, &data);
    else
        builder_patch(b, p, 3, domain_triangle, count, &data);
    if (!data) return fail_memory(error);
    if (extraordinary) return loop_gather_stam(m, t, corner, corner, data, error);
    vec3 stencil[STENCIL_POINTS];
    loop_mesh_stencil(m, t, stencil);
    triangle_from_stencil(stencil, data);
    return ABUT_OK;
}

static abut_status add_split(surface_builder *b, const loop_mesh *fine, int64_t t, abut_error *error) {
    double *data;
    patch p = {.kind = ABUT_PATCH_SPLIT, .face = fine->faces[4 * t], .part = (int32_t)b->hidden.count};
    builder_patch(b, p, 3, domain_triangle, 0, &data);
    abut_status status = ABUT_OK;
    for (int k = 0; k < 4 && status == ABUT_OK; k++) status = add_triangle(b, fine, 4 * t + k, true, error);
    return status;
}

/* The numbers of a STAM patch grow with the valence: a cage whose vertices all hang on one is refused before
 * the sum of squares of valences fills the memory. */
static abut_status check_valences(const loop_mesh *m, const abut_mesh *cage, int most, abut_error *error) {
    for (int64_t v = 0; v < m->point_count; v++)
        if (m->valence[v] > most)
            return fail_at(error, ABUT_UNSUPPORTED, cage->file, cage->point_lines ? cage->point_lines[v] : 0,
                           "vertex %lld has valence %d; at most %d is supported%s: split the vertex",
                           (long long)v, m->valence[v], most,
                           most == ABUT_SIDES_MOST ? ", as many as an S-patch may have sides" : "");
    return ABUT_OK;
}

static abut_status limit_surface(const abut_context *context, const loop_mesh *m, abut_surface **surface,
                                 abut_error *error) {
    surface_builder b = {.context = context};
    loop_mesh fine = {0};
    abut_status status = ABUT_OK;
    int corner;
    for (int64_t t = 0; t < m->triangle_count && status == ABUT_OK; t++) {
        bool split = extraordinary_corners(m, t, &corner) > 1;
        if (split && !fine.points) status = loop_mesh_refine(m, &fine, error);
        if (status == ABUT_OK)
            status = split ? add_split(&b, &fine, t, error) : add_triangle(&b, m, t, false, error);
    }
    for (int32_t h = 0; h < 3 * m->triangle_count && status == ABUT_OK; h++)
        builder_join(&b, h / 3, h % 3, m->twin[h] / 3, m->twin[h] % 3);
    loop_mesh_free(&fine);
    if (status == ABUT_OK) return builder_finish(&b, surface, error);
    builder_free(&b);
    return status;
}

/* With `refine` 0 the cage is subdivided until the S-patches are sound, at most four times. */
static abut_status smooth_levels(const abut_context *context, loop_mesh *m, int refine,
                                 abut_surface **surface, abut_error *error) {
    abut_status status = ABUT_OK;
    box bounds = box_empty();
    *surface = NULL;
    for (int64_t v = 0; v < m->point_count; v++) bounds = box_add_point(bounds, m->points[v]);
    double size = box_diagonal(bounds);
    if (!(size > 1e-50 && size < 1e50)) /* fourth powers of lengths must be numbers */
        return fail(error, ABUT_INVALID,
                    "the cage has the size %g; scale it to something between 1e-50 and 1e50", size);
    const int most = refine ? refine : 4;
    for (int level = 1; level <= most && status == ABUT_OK; level++) {
        loop_mesh fine;
        status = loop_mesh_refine(m, &fine, error);
        if (status != ABUT_OK) break;
        loop_mesh_free(m), *m = fine;
        if (refine && level < refine) continue;
        abut_surface_free(context, *surface), *surface = NULL;
        bool sound = true;
        status = smooth_surface(context, m, refine == 0 && level < most, surface, &sound, error);
        if (status == ABUT_OK && sound) return ABUT_OK;
    }
    if (status == ABUT_OK)
        log_write(context, ABUT_LOG_WARNING,
                  "an S-patch of the Loop surface folds, or meets its neighbours at an angle above 1e-6; see "
                  "abut_surface_patch_facts, refine more, or smooth the cage");
    else
        abut_surface_free(context, *surface), *surface = NULL;
    return status;
}

abut_status abut_surface_loop(const abut_context *context, const abut_mesh *cage,
                              const abut_loop_options *options, abut_surface **surface, abut_error *error) {
    abut_loop_options o = options ? *options : abut_default_loop_options();
    loop_mesh m;
    if (!(o.scale > 0) || !isfinite(o.scale))
        return fail(error, ABUT_INVALID, "the scale of the Loop surface is %g; it must be positive", o.scale);
    if (o.refine < 0 || o.refine > 6)
        return fail(error, ABUT_INVALID, "%d refinements of the Loop cage; use 1 to 6, or 0 to let it choose",
                    o.refine);
    if (cage->crease_line)
        return fail_at(error, ABUT_UNSUPPORTED, cage->file, cage->crease_line,
                       "a crease or corner tag; boundaries and creases of Loop surfaces are not supported: "
                       "remove it for a smooth surface");
    abut_status status = loop_mesh_from_cage(context, cage, o.scale, &m, error);
    if (status != ABUT_OK) return status;
    bool smooth = o.form == ABUT_LOOP_SMOOTH;
    status = check_valences(&m, cage, smooth ? ABUT_SIDES_MOST : 512, error);
    if (status == ABUT_OK)
        status = smooth ? smooth_levels(context, &m, o.refine, surface, error)
                        : limit_surface(context, &m, surface, error);
    loop_mesh_free(&m);
    return status;
}
