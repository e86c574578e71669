/* The convex hull of points, by Qhull.  Qhull decides which points are corners and which corners make a
 * facet; coordinates of the solid are the given ones.
 *
 * Qhull leaves by longjmp where it fails, and writes its report to a stream that must exist: here a memory
 * stream, which is thrown away. */
#define _POSIX_C_SOURCE 200809L
#include "solid/polygon.h"
#include "solid/read.h"

#include <libqhull_r/qhull_ra.h>
#include <math.h>
#include <stdlib.h>

/* What is read from Qhull: facets as corner lists of point numbers. */
typedef struct facets {
    int_array corners;
    ARRAY(int64_t) starts;
} facets;

/* Qhull's tolerances are relative to the largest coordinate: the points are moved to their middle and scaled
 * by a power of two (exact) to about 1. */
static double *normalise(const abut_context *context, const vec3 *points, int count, vec3 lower, vec3 upper) {
    double *scaled = mem_alloc(context, 3 * (size_t)count, sizeof *scaled);
    if (!scaled) return NULL;
    vec3 middle = vec3_add(vec3_scale(lower, 0.5), vec3_scale(upper, 0.5));
    int exponent;
    frexp(vec3_max_abs(vec3_sub(vec3_scale(upper, 0.5), vec3_scale(lower, 0.5))), &exponent);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            scaled[3 * i + k] = ldexp(vec3_at(points[i], k) - vec3_at(middle, k), -exponent);
    return scaled;
}

/* The facets of the hull, counter-clockwise seen from outside.  0, or the code of Qhull. */
static int collect(const abut_context *context, qhT *qh, const double *points, facets *out) {
    int code = setjmp(qh->errexit);
    if (code) {
        qh->NOerrexit = True;
        return code;
    }
    qh->NOerrexit = False;
    facetT *facet;
    vertexT *vertex, **vertexp;
    bool fine = true;
    FORALLfacets {
        setT *vertices = qh_facet3vertex(qh, facet);
        int64_t start = out->corners.count;
        fine = fine && array_push(context, &out->starts, start);
        FOREACHvertex_(vertices) fine =
            fine && array_push(context, &out->corners, qh_pointid(qh, vertex->point));
        qh_settempfree(qh, &vertices);
        if (!fine) break;
        int count = (int)(out->corners.count - start), *corner = out->corners.data + start;
        vec3 normal = {facet->normal[0], facet->normal[1], facet->normal[2]};
        if (vec3_dot(polygon_area2((const vec3 *)(const void *)points, corner, count), normal) < 0)
            for (int i = 0; i < count / 2; i++) {
                int swap = corner[i];
                corner[i] = corner[count - 1 - i], corner[count - 1 - i] = swap;
            }
    }
    qh->NOerrexit = True;
    return fine ? 0 : qh_ERRmem;
}

/* Runs Qhull on scaled points. */
static int run_qhull(const abut_context *context, double *points, int count, facets *out) {
    char *report = NULL, command[] = "qhull Pp";
    size_t report_size = 0;
    FILE *stream = open_memstream(&report, &report_size);
    if (!stream) return qh_ERRmem;
    qhT *qh = mem_calloc(context, 1, sizeof *qh);
    int code = qh_ERRmem;
    if (qh) {
        qh_zero(qh, stream);
        code = qh_new_qhull(qh, 3, count, points, False, command, stream, stream);
        if (code == 0) code = collect(context, qh, points, out);
        int current, total;
        qh_freeqhull(qh, qh_ALL);
        qh_memfreeshort(qh, &current, &total);
        mem_free(context, qh, 1, sizeof *qh);
    }
    fclose(stream);
    free(report);
    return code;
}

/* The mesh of the facets: points in the order given, those that are no corners left out. */
static abut_mesh *mesh_of(const abut_context *context, const vec3 *points, int count, const facets *found) {
    int *number = mem_calloc(context, (size_t)count, sizeof *number), used = 0;
    if (!number) return NULL;
    for (int64_t i = 0; i < found->corners.count; i++) number[found->corners.data[i]] = 1;
    for (int i = 0; i < count; i++) used += number[i];
    abut_mesh *mesh = mesh_create(context, used, found->starts.count, found->corners.count, false);
    if (mesh) {
        used = 0;
        for (int i = 0; i < count; i++)
            if (number[i]) mesh->points[used] = points[i], number[i] = used++;
        for (int64_t i = 0; i < found->corners.count; i++) mesh->corners[i] = number[found->corners.data[i]];
        for (int64_t f = 0; f < found->starts.count; f++) mesh->face_start[f] = found->starts.data[f];
        mesh->face_start[found->starts.count] = found->corners.count;
    }
    mem_free(context, number, (size_t)count, sizeof *number);
    return mesh;
}

static abut_status refuse(int code, int count, abut_error *error) {
    if (code == qh_ERRmem) return fail_memory(error);
    if (code == qh_ERRsingular || code == qh_ERRinput || code == qh_ERRprec)
        return fail(
            error, ABUT_INVALID,
            "the %d points of the hull lie in one plane, on one line or in one point; a hull needs four "
            "points that do not",
            count);
    return fail(error, ABUT_FAILED,
                "Qhull gave up on the %d points (code %d); remove points that nearly coincide", count, code);
}

abut_status abut_solid_hull(const abut_context *context, const vec3 *points, int count, abut_solid **solid,
                            abut_error *error) {
    *solid = NULL;
    if (count < 4)
        return fail(error, ABUT_INVALID, "a hull of %d points is asked for; give at least 4", count);
    for (int i = 0; i < count; i++)
        if (!vec3_is_finite(points[i]))
            return fail(error, ABUT_INVALID, "point %d of the hull is not finite (%g, %g, %g); correct it", i,
                        points[i].x, points[i].y, points[i].z);
    vec3 lower = points[0], upper = points[0];
    for (int i = 1; i < count; i++) lower = vec3_min(lower, points[i]), upper = vec3_max(upper, points[i]);
    if (lower.x == upper.x || lower.y == upper.y || lower.z == upper.z)
        return refuse(qh_ERRsingular, count, error);
    double *scaled = normalise(context, points, count, lower, upper);
    if (!scaled) return fail_memory(error);
    facets found = {0};
    int code = run_qhull(context, scaled, count, &found);
    mem_free(context, scaled, 3 * (size_t)count, sizeof *scaled);
    abut_status status = code ? refuse(code, count, error) : ABUT_OK;
    if (status == ABUT_OK) {
        abut_mesh *mesh = mesh_of(context, points, count, &found);
        abut_solid_options options = abut_default_solid_options();
        options.skip_self_intersection = true;
        status = mesh ? abut_solid_build(context, mesh, &options, solid, error) : fail_memory(error);
        abut_mesh_free(context, mesh);
    }
    array_free(context, &found.corners);
    array_free(context, &found.starts);
    return status;
}
