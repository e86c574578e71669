/* Qhull behind our memory, messages and checks.  Qhull leaves errors by longjmp, so every call that can fail
 * stands inside one setjmp (run_qhull), and nothing of ours is allocated there. */
#define _POSIX_C_SOURCE 200809L
#include "solid/convex_hull.h"

#include <libqhull_r/qhull_ra.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_POINTS = 10 * 1000 * 1000 };

/* Qhull's answer, in malloc's memory: face after face, `count, corner, corner, ...`, and the normals. */
typedef struct facet_list {
    int *words;
    vec3 *normals;
    size_t count, capacity, faces, face_capacity;
} facet_list;

static bool push(facet_list *list, int word) {
    if (list->count == list->capacity) {
        size_t wanted = list->capacity ? list->capacity * 2 : 256;
        int *grown = realloc(list->words, wanted * sizeof *grown);
        if (!grown) return false;
        list->words = grown, list->capacity = wanted;
    }
    list->words[list->count++] = word;
    return true;
}

static bool push_normal(facet_list *list, const double *n) {
    if (list->faces == list->face_capacity) {
        size_t wanted = list->face_capacity ? list->face_capacity * 2 : 64;
        vec3 *grown = realloc(list->normals, wanted * sizeof *grown);
        if (!grown) return false;
        list->normals = grown, list->face_capacity = wanted;
    }
    list->normals[list->faces++] = vec3_make(n[0], n[1], n[2]);
    return true;
}

/* The corners of one facet in order; turned where they run clockwise seen from outside. */
static bool push_facet(qhT *qh, facetT *facet, facet_list *list) {
    setT *vertices = qh_facet3vertex(qh, facet);
    vertexT *vertex, **vertexp;
    size_t first = list->count;
    bool fine = push(list, qh_setsize(qh, vertices));
    double newell[3] = {0, 0, 0};
    pointT *before = ((vertexT *)qh_setlast(vertices))->point;
    FOREACHvertex_(vertices) {
        pointT *here = vertex->point;
        fine = fine && push(list, qh_pointid(qh, here));
        newell[0] += (before[1] - here[1]) * (before[2] + here[2]);
        newell[1] += (before[2] - here[2]) * (before[0] + here[0]);
        newell[2] += (before[0] - here[0]) * (before[1] + here[1]);
        before = here;
    }
    qh_settempfree(qh, &vertices);
    const double none[3] = {0, 0, 0}, *n = facet->normal ? facet->normal : none;
    fine = fine && push_normal(list, n);
    if (fine && newell[0] * n[0] + newell[1] * n[1] + newell[2] * n[2] < 0)
        for (size_t i = first + 1, j = list->count - 1; i < j; i++, j--) {
            int swap = list->words[i];
            list->words[i] = list->words[j], list->words[j] = swap;
        }
    return fine;
}

static bool push_facets(qhT *qh, facet_list *list) {
    facetT *facet;
    FORALLfacets if (!push_facet(qh, facet, list)) return false;
    return true;
}

/* Runs Qhull; its exit code, or qh_ERRmem when our list could not grow. */
static int run_qhull(double *coordinates, int count, FILE *messages, facet_list *list) {
    static const char command[] = "qhull Pp";
    char flags[sizeof command];
    memcpy(flags, command, sizeof command);
    qhT state, *qh = &state;
    qh_zero(qh, messages);
    int code = qh_new_qhull(qh, 3, count, coordinates, False, flags, NULL, messages);
    if (!code) {
        code = setjmp(qh->errexit);
        if (!code) {
            qh->NOerrexit = False;
            if (!push_facets(qh, list)) code = qh_ERRmem;
        }
        qh->NOerrexit = True;
    }
    int long_memory, total;
    qh_freeqhull(qh, qh_ALL);
    qh_memfreeshort(qh, &long_memory, &total);
    return code;
}

/* Qhull's tolerances are relative to the largest coordinate: the points are moved to their middle and scaled
 * by a power of two (exact) to about 1. */
static double *normalised(const abut_context *context, const vec3 *points, int64_t count, box bounds) {
    double *scaled = mem_alloc(context, (size_t)count, 3 * sizeof *scaled);
    vec3 middle = vec3_add(vec3_scale(bounds.lower, 0.5), vec3_scale(bounds.upper, 0.5));
    int exponent;
    frexp(vec3_max_abs(vec3_sub(vec3_scale(bounds.upper, 0.5), vec3_scale(bounds.lower, 0.5))), &exponent);
    for (int64_t i = 0; scaled && i < count; i++)
        for (int k = 0; k < 3; k++)
            scaled[3 * i + k] = ldexp(vec3_at(points[i], k) - vec3_at(middle, k), -exponent);
    return scaled;
}

/* Every edge has two faces that run along it in opposite directions, every used corner has three edges or
 * more, and V - E + F = 2. */
static bool is_closed(const abut_context *context, const hull_polygons *p, int64_t points, bool *memory) {
    map64 edges = {0}, valence = {0};
    bool fine = true;
    *memory = true;
    for (int32_t f = 0; f < p->face_count && fine && *memory; f++) {
        int32_t start = p->face_start[f], end = p->face_start[f + 1];
        fine = end - start >= 3;
        for (int32_t i = start; i < end && fine && *memory; i++) {
            uint64_t a = (uint64_t)p->corner[i], b = (uint64_t)p->corner[i + 1 < end ? i + 1 : start];
            int32_t *edge =
                map64_put(context, &edges, a < b ? a * (uint64_t)points + b : b * (uint64_t)points + a, 0);
            int32_t *degree = map64_put(context, &valence, a, 0);
            *memory = edge && degree;
            if (!*memory) break;
            ++*degree;
            int32_t bit = a < b ? 1 : 2;
            fine = !(*edge & bit);
            *edge |= bit;
        }
    }
    fine = fine && valence.count - edges.count + p->face_count == 2 && edges.count * 2 == p->corner_count;
    for (int32_t i = 0; i < p->corner_count && fine && *memory; i++)
        fine = *map64_get(&valence, (uint64_t)p->corner[i]) >= 3;
    map64_free(context, &edges);
    map64_free(context, &valence);
    return fine;
}

static abut_status copy_facets(const abut_context *context, const facet_list *list, hull_polygons *out,
                               abut_error *error) {
    int32_t faces = 0, corners = 0;
    for (size_t i = 0; i < list->count; i += 1 + (size_t)list->words[i]) faces++, corners += list->words[i];
    out->face_start = mem_alloc(context, (size_t)faces + 1, sizeof *out->face_start);
    out->corner = mem_alloc(context, (size_t)corners, sizeof *out->corner);
    out->normal = mem_alloc(context, (size_t)faces, sizeof *out->normal);
    out->face_capacity = faces + 1, out->corner_capacity = corners;
    if (!out->face_start || !out->corner || !out->normal) return fail_memory(error);
    for (size_t i = 0; i < list->count; i += 1 + (size_t)list->words[i]) {
        out->normal[out->face_count] = list->normals[out->face_count];
        out->face_start[out->face_count++] = out->corner_count;
        for (int k = 0; k < list->words[i]; k++)
            out->corner[out->corner_count++] = list->words[i + 1 + (size_t)k];
    }
    out->face_start[out->face_count] = out->corner_count;
    return ABUT_OK;
}

static abut_status refuse_flat(int64_t count, abut_error *error) {
    return fail(
        error, ABUT_INVALID,
        "the %lld points of the hull lie in one plane, on one line or in one point; a hull needs four "
        "points that do not",
        (long long)count);
}

static abut_status check_points(const vec3 *points, int64_t count, box *bounds, abut_error *error) {
    if (count < 4)
        return fail(error, ABUT_INVALID, "a hull of %lld points is asked for; give at least 4",
                    (long long)count);
    if (count > MOST_POINTS)
        return fail(error, ABUT_INVALID,
                    "a hull of %lld points is more than the %d that are taken; thin them out",
                    (long long)count, MOST_POINTS);
    for (int64_t i = 0; i < count; i++) {
        if (!vec3_is_finite(points[i]))
            return fail(error, ABUT_INVALID, "point %lld of the hull is not finite (%g, %g, %g); correct it",
                        (long long)i, points[i].x, points[i].y, points[i].z);
        *bounds = box_add_point(*bounds, points[i]);
    }
    vec3 size = vec3_sub(bounds->upper, bounds->lower);
    if (!(size.x > 0 && size.y > 0 && size.z > 0)) return refuse_flat(count, error);
    return ABUT_OK;
}

static abut_status refuse(int code, int64_t count, const char *text, abut_error *error) {
    if (code == qh_ERRmem) return fail_memory(error);
    if (code == qh_ERRsingular || code == qh_ERRinput || code == qh_ERRprec) return refuse_flat(count, error);
    return fail(error, ABUT_FAILED,
                "Qhull gave up on the %lld points (%.120s); remove points that nearly coincide",
                (long long)count, text ? text : "");
}

/* Qhull's polygons of points that have been checked. */
static abut_status make_polygons(const abut_context *context, const vec3 *points, int64_t count, box bounds,
                                 hull_polygons *out, abut_error *error) {
    double *coordinates = normalised(context, points, count, bounds);
    if (!coordinates) return fail_memory(error);
    char *text = NULL;
    size_t length = 0;
    FILE *messages = open_memstream(&text, &length);
    facet_list list = {0};
    int code = messages ? run_qhull(coordinates, (int)count, messages, &list) : qh_ERRmem;
    if (messages) fclose(messages);
    mem_free(context, coordinates, (size_t)count, 3 * sizeof *coordinates);
    abut_status status = code ? refuse(code, count, text, error) : copy_facets(context, &list, out, error);
    free(text), free(list.words), free(list.normals);
    return status;
}

abut_status convex_hull_polygons(const abut_context *context, const vec3 *points, int64_t count,
                                 hull_polygons *out, abut_error *error) {
    *out = (hull_polygons){0};
    box bounds = box_empty();
    abut_status status = check_points(points, count, &bounds, error);
    if (status != ABUT_OK) return status;
    status = make_polygons(context, points, count, bounds, out, error);
    bool memory = true;
    if (status == ABUT_OK && !is_closed(context, out, count, &memory))
        status = fail(error, ABUT_FAILED,
                      "the hull of %lld points has ambiguous facets; remove points that nearly coincide",
                      (long long)count);
    if (!memory) status = fail_memory(error);
    if (status != ABUT_OK) convex_hull_free(context, out);
    return status;
}

void convex_hull_free(const abut_context *context, hull_polygons *p) {
    mem_free(context, p->face_start, (size_t)p->face_capacity, sizeof *p->face_start);
    mem_free(context, p->corner, (size_t)p->corner_capacity, sizeof *p->corner);
    if (p->normal) mem_free(context, p->normal, (size_t)p->face_capacity - 1, sizeof *p->normal);
    *p = (hull_polygons){0};
}
