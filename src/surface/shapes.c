/* Surfaces from control points: Bezier patches, rational ones, one S-patch, quadrics. */
#include "surface/surface.h"

static abut_status check_points(const vec3 *points, int64_t count, int each, abut_error *error) {
    for (int64_t i = 0; i < count; i++)
        if (!vec3_is_finite(points[i]))
            return fail(error, ABUT_INVALID, "control point %d of patch %lld is not finite; give numbers",
                        (int)(i % each), (long long)(i / each));
    return ABUT_OK;
}

static abut_status check_patch_count(int64_t count, abut_error *error) {
    if (count < 1 || count > 1 << 24)
        return fail(error, ABUT_INVALID, "%lld patches; a surface has 1 to %d", (long long)count, 1 << 24);
    return ABUT_OK;
}

/* Packs the builder and joins edges that are equal to 1e-9 of the size, of which fourth powers must be
 * numbers. */
static abut_status finish_joined(surface_builder *b, abut_surface **surface, abut_error *error) {
    const abut_context *context = b->context;
    abut_surface *s = NULL;
    abut_status status = builder_finish(b, &s, error);
    if (status == ABUT_OK && !(s->diagonal > 1e-50 && s->diagonal < 1e50))
        status =
            fail(error, ABUT_INVALID,
                 "the corners of the patches span %g; give control points apart, and scale the surface to "
                 "something between 1e-50 and 1e50",
                 s->diagonal);
    if (status == ABUT_OK) status = surface_join_equal(context, s, 1e-9 * s->diagonal, error);
    if (status != ABUT_OK)
        abut_surface_free(context, s);
    else
        *surface = s;
    return status;
}

abut_status abut_surface_rational(const abut_context *context, const abut_vec3 *points, const double *weights,
                                  int64_t patch_count, abut_surface **surface, abut_error *error) {
    abut_status status = check_patch_count(patch_count, error);
    if (status == ABUT_OK) status = check_points(points, 16 * patch_count, 16, error);
    if (status != ABUT_OK) return status;
    for (int64_t i = 0; weights && i < 16 * patch_count; i++)
        if (!(weights[i] > 0) || !isfinite(weights[i]))
            return fail(error, ABUT_INVALID,
                        "weight %d of patch %lld is %g; weights must be positive, or the patch has poles",
                        (int)(i % 16), (long long)(i / 16), weights[i]);
    surface_builder b = {.context = context};
    double square[4][2];
    domain_square(0, 1, 0, 1, square);
    for (int64_t p = 0; p < patch_count && !b.failed; p++) {
        double *data;
        int kind = weights ? ABUT_PATCH_RATIONAL : ABUT_PATCH_BEZIER;
        builder_patch(&b, (patch){.kind = kind, .face = -1}, 4, (const double(*)[2])square, BEZIER_NUMBERS,
                      &data);
        for (int i = 0; i < 16 && data; i++) {
            double w = weights ? weights[16 * p + i] : 1;
            vec3 x = vec3_scale(points[16 * p + i], w);
            memcpy(data + 4 * i, &x, sizeof x);
            data[4 * i + 3] = weights ? w : 0;
        }
    }
    return finish_joined(&b, surface, error);
}

abut_status abut_surface_bezier(const abut_context *context, const abut_vec3 *points, int64_t patch_count,
                                abut_surface **surface, abut_error *error) {
    return abut_surface_rational(context, points, NULL, patch_count, surface, error);
}

abut_status abut_surface_s_patch(const abut_context *context, int sides, const abut_vec3 *points,
                                 abut_surface **surface, abut_error *error) {
    if (sides < 3 || sides > ABUT_SIDES_MOST)
        return fail(error, ABUT_INVALID, "an S-patch with %d sides; it has 3 to %d", sides, ABUT_SIDES_MOST);
    abut_status status = check_points(points, abut_s_patch_points(sides), abut_s_patch_points(sides), error);
    if (status != ABUT_OK) return status;
    surface_builder b = {.context = context};
    double corners[ABUT_SIDES_MOST][2], *data;
    s_patch_corners(sides, corners);
    builder_patch(&b, (patch){.kind = ABUT_PATCH_S_PATCH, .face = -1}, sides, (const double(*)[2])corners,
                  s_patch_numbers(sides), &data);
    if (data) s_patch_begin(data, sides);
    for (int i = 0; data && i < abut_s_patch_points(sides); i++) s_patch_set(data, sides, i, points[i]);
    return builder_finish(&b, surface, error);
}

abut_quadric abut_default_quadric(abut_patch_kind kind) {
    return (abut_quadric){.kind = kind,
                          .axes = mat3_identity(),
                          .low = kind == ABUT_PATCH_CONE ? 0.5 : -1,
                          .high = 1,
                          .ratio = 0.5};
}

static abut_status check_quadric(const abut_quadric *q, abut_error *error) {
    if (q->kind < ABUT_PATCH_PLANE || q->kind > ABUT_PATCH_TORUS)
        return fail(error, ABUT_INVALID, "`%s` is not a quadric; use one from plane to torus",
                    abut_patch_kind_name(q->kind));
    double det = mat3_det(q->axes);
    if (!vec3_is_finite(q->origin) || !isfinite(det) || !(det > 0))
        return fail(error, ABUT_INVALID,
                    "the axes of the %s have determinant %g; they must be finite and right-handed",
                    abut_patch_kind_name(q->kind), det);
    if (!(q->low < q->high) || !isfinite(q->low) || !isfinite(q->high) ||
        (q->kind == ABUT_PATCH_CONE && !(q->low > 0)))
        return fail(error, ABUT_INVALID, "the range %g to %g of the %s; low must be below high%s", q->low,
                    q->high, abut_patch_kind_name(q->kind),
                    q->kind == ABUT_PATCH_CONE ? " and above 0, where the apex has no tangent plane" : "");
    if (q->kind == ABUT_PATCH_TORUS && !(q->ratio > 0 && q->ratio < 1))
        return fail(error, ABUT_INVALID, "the torus's ratio of radii is %g; it must lie between 0 and 1",
                    q->ratio);
    return ABUT_OK;
}

abut_status abut_surface_quadric(const abut_context *context, const abut_quadric *q, abut_surface **surface,
                                 abut_error *error) {
    abut_status status = check_quadric(q, error);
    if (status != ABUT_OK) return status;
    surface_builder b = {.context = context};
    bool round_u = q->kind == ABUT_PATCH_SPHERE || q->kind == ABUT_PATCH_CYLINDER ||
                   q->kind == ABUT_PATCH_CONE || q->kind == ABUT_PATCH_TORUS;
    bool round_v = q->kind == ABUT_PATCH_SPHERE || q->kind == ABUT_PATCH_TORUS;
    int parts = q->kind == ABUT_PATCH_SPHERE ? 6 : q->kind == ABUT_PATCH_TORUS ? 16 : round_u ? 4 : 1;
    double domain[4][2], *data;
    domain_square(round_u ? -1 : q->low, round_u ? 1 : q->high, round_v ? -1 : q->low, round_v ? 1 : q->high,
                  domain);
    for (int part = 0; part < parts && !b.failed; part++) {
        builder_patch(&b, (patch){.kind = (int32_t)q->kind, .face = -1, .part = part}, 4,
                      (const double(*)[2])domain, QUADRIC_NUMBERS, &data);
        if (!data) break;
        memcpy(data, &q->origin, sizeof q->origin);
        memcpy(data + 3, &q->axes, sizeof q->axes);
        data[12] = q->ratio;
    }
    return finish_joined(&b, surface, error);
}
