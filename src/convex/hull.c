/* Asking a hull: the support mapping, the feature that faces a direction (the Gauss map), its facts, and the
 * validator. */
#include "convex/hull_build.h"

/* ---- the support mapping */

typedef double lanes __attribute__((vector_size(32)));
typedef int64_t lane_numbers __attribute__((vector_size(32)));

/* The farthest of the first `count` vertices, four at a time; among equals any, but always the same.  Written
 * once for every instruction set: lane by lane the same operations, so the same bits. */
static inline __attribute__((always_inline)) int32_t farthest_body(const abut_hull *h, const vec3 *d,
                                                                   int32_t count) {
    const double *x = hull_x(h), *y = hull_y(h), *z = hull_z(h);
    lanes best, px, py, pz;
    lane_numbers at = {0, 1, 2, 3}, here = {0, 1, 2, 3};
    memcpy(&px, x, sizeof px), memcpy(&py, y, sizeof py), memcpy(&pz, z, sizeof pz);
    best = px * d->x + py * d->y + pz * d->z;
    for (int32_t i = 4; i < count; i += 4) {
        memcpy(&px, x + i, sizeof px), memcpy(&py, y + i, sizeof py), memcpy(&pz, z + i, sizeof pz);
        lanes value = px * d->x + py * d->y + pz * d->z;
        lane_numbers better = value > best;
        here += 4;
        best = (lanes)((better & (lane_numbers)value) | (~better & (lane_numbers)best));
        at = (better & here) | (~better & at);
    }
    /* the best lane, without branches that nobody can predict */
    double values[4];
    int64_t numbers[4];
    memcpy(values, &best, sizeof values), memcpy(numbers, &at, sizeof numbers);
    int low = values[1] > values[0], high = 2 + (values[3] > values[2]);
    int lane = values[high] > values[low] ? high : low;
    int32_t vertex = (int32_t)numbers[lane];
    return vertex < h->vertex_count ? vertex : h->vertex_count - 1;
}

static int32_t farthest_baseline(const abut_hull *h, const vec3 *d, int32_t count) {
    return farthest_body(h, d, count);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static int32_t farthest_avx2(const abut_hull *h, const vec3 *d,
                                                             int32_t count) {
    return farthest_body(h, d, count);
}
static int32_t farthest_of(const abut_hull *h, const vec3 *d, int32_t count) {
    return __builtin_cpu_supports("avx2") ? farthest_avx2(h, d, count) : farthest_baseline(h, d, count);
}
#else
static int32_t farthest_of(const abut_hull *h, const vec3 *d, int32_t count) {
    return farthest_baseline(h, d, count);
}
#endif

int32_t hull_support(const abut_hull *h, vec3 d) {
    int32_t v = farthest_of(h, &d, h->top_count);
    if (h->top_count == h->vertex_count) return v;
    const int32_t *start = hull_descent_start(h), *descents = hull_descents(h);
    double best = vec3_dot(d, hull_vertex(h, v));
    for (int32_t k = start[v]; k < start[v + 1];) {
        int32_t w = descents[k];
        double value = vec3_dot(d, hull_vertex(h, w));
        if (value > best)
            best = value, v = w, k = start[w];
        else
            k++;
    }
    return v;
}

/* Least and largest of d . v over all vertices, four at a time; the padding repeats the last vertex. */
static inline __attribute__((always_inline)) void span_body(const abut_hull *h, const vec3 *d, double *least,
                                                            double *most) {
    const double *x = hull_x(h), *y = hull_y(h), *z = hull_z(h);
    lanes low = {INFINITY, INFINITY, INFINITY, INFINITY}, high = -low, px, py, pz;
    for (int32_t i = 0; i < h->padded; i += 4) {
        memcpy(&px, x + i, sizeof px), memcpy(&py, y + i, sizeof py), memcpy(&pz, z + i, sizeof pz);
        lanes value = px * d->x + py * d->y + pz * d->z;
        lane_numbers less = value<low, more = value> high;
        low = (lanes)((less & (lane_numbers)value) | (~less & (lane_numbers)low));
        high = (lanes)((more & (lane_numbers)value) | (~more & (lane_numbers)high));
    }
    double a[4], b[4];
    memcpy(a, &low, sizeof a), memcpy(b, &high, sizeof b);
    for (int k = 1; k < 4; k++) a[0] = a[k] < a[0] ? a[k] : a[0], b[0] = b[k] > b[0] ? b[k] : b[0];
    *least = a[0], *most = b[0];
}

static inline __attribute__((always_inline)) box box_body(const abut_hull *h, const mat3 *r) {
    mat3 rows = mat3_transpose(*r);
    box b;
    span_body(h, &rows.cx, &b.lower.x, &b.upper.x);
    span_body(h, &rows.cy, &b.lower.y, &b.upper.y);
    span_body(h, &rows.cz, &b.lower.z, &b.upper.z);
    return b;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static box box_avx2(const abut_hull *h, const mat3 *r) {
    return box_body(h, r);
}
box hull_box(const abut_hull *h, mat3 r) {
    return __builtin_cpu_supports("avx2") ? box_avx2(h, &r) : box_body(h, &r);
}
#else
box hull_box(const abut_hull *h, mat3 r) { return box_body(h, &r); }
#endif

int32_t hull_climb(const abut_hull *h, vec3 d, int32_t v) {
    const int32_t *start = hull_star_start(h);
    const hull_star *stars = hull_stars(h);
    double best = vec3_dot(d, hull_vertex(h, v));
    for (int32_t from = -1; from != v;) {
        from = v;
        for (int32_t k = start[from]; k < start[from + 1]; k++) {
            double value = vec3_dot(d, hull_vertex(h, stars[k].vertex));
            if (value > best) best = value, v = stars[k].vertex;
        }
    }
    return v;
}

/* ---- the Gauss map */

abut_feature hull_feature(const abut_hull *h, vec3 n, int32_t support, double angle) {
    const hull_star *stars = hull_stars(h);
    const hull_edge *edges = hull_edges(h);
    const hull_face *faces = hull_faces(h);
    int32_t from = hull_star_start(h)[support], to = hull_star_start(h)[support + 1];

    /* the nearest of the points and of the arcs at the support vertex; each face is met once, as the left
     * face of an edge that leaves it */
    int32_t face = 0, edge = 0;
    vec3 at = hull_vertex(h, support);
    double nearest = -INFINITY, least = INFINITY;
    for (int32_t k = from; k < to; k++) {
        const hull_edge *e = &edges[stars[k].edge];
        int32_t f = e->face[e->vertex[0] != support];
        vec3 along = vec3_unit(vec3_sub(hull_vertex(h, stars[k].vertex), at));
        double near = vec3_dot(faces[f].n, n), off = fabs(vec3_dot(along, n));
        if (near > nearest) nearest = near, face = f;
        if (off < least) least = off, edge = stars[k].edge;
    }
    /* |n - m| is the angle between unit vectors, when it is small */
    if (vec3_length2(vec3_sub(faces[face].n, n)) <= angle * angle)
        return (abut_feature){ABUT_FEATURE_FACE, face};
    if (least <= angle) return (abut_feature){ABUT_FEATURE_EDGE, edge};
    return (abut_feature){ABUT_FEATURE_VERTEX, support};
}

/* ---- facts */

abut_hull_facts abut_hull_facts_of(const abut_hull *h) {
    return (abut_hull_facts){.vertices = h->vertex_count,
                             .edges = h->edge_count,
                             .faces = h->face_count,
                             .most_corners = h->most_corners,
                             .volume = h->volume,
                             .area = h->area,
                             .radius = h->radius,
                             .center = h->center,
                             .bounds = h->bounds,
                             .hash = h->hash,
                             .bytes = (size_t)h->bytes};
}

abut_mass abut_hull_mass(const abut_hull *h, double density) {
    abut_mass m = {.mass = density * h->volume, .center = h->center};
    for (int i = 0; i < 6; i++) m.inertia[i] = density * h->unit_inertia[i];
    return m;
}

abut_vec3 abut_hull_vertex(const abut_hull *h, int64_t vertex) {
    return vec3_add(h->center, hull_vertex(h, vertex));
}

int64_t abut_hull_vertex_source(const abut_hull *h, int64_t vertex) { return hull_sources(h)[vertex]; }

void abut_hull_edge(const abut_hull *h, int64_t edge, int64_t vertices[2], int64_t faces[2]) {
    const hull_edge *e = &hull_edges(h)[edge];
    for (int k = 0; k < 2; k++) {
        if (vertices) vertices[k] = e->vertex[k];
        if (faces) faces[k] = e->face[k];
    }
}

int64_t abut_hull_face(const abut_hull *h, int64_t face, abut_vec3 *normal, int64_t *vertices,
                       int64_t capacity) {
    const hull_face *f = &hull_faces(h)[face];
    if (normal) *normal = f->n;
    for (int64_t i = 0; i < f->corner_count && i < capacity; i++)
        vertices[i] = hull_corners(h)[f->first_corner + i].vertex;
    return f->corner_count;
}

/* ---- the validator */

uint64_t hull_hash(const abut_hull *h) {
    size_t from = offsetof(abut_hull, hash) + sizeof h->hash;
    return hash64((const char *)h + from, (size_t)h->bytes - from, HULL_VERSION);
}

/* Corners, edges and stars agree with each other. */
static abut_status validate_topology(const abut_hull *h, abut_error *error) {
    if (h->vertex_count - h->edge_count + h->face_count != 2)
        return fail(error, ABUT_FAILED, "hull: Euler's formula is violated");
    for (int32_t f = 0; f < h->face_count; f++) {
        const hull_face *face = &hull_faces(h)[f];
        for (int32_t i = 0; i < face->corner_count; i++) {
            const hull_corner *c = &hull_corners(h)[face->first_corner + i];
            const hull_corner *next = &hull_corners(h)[face->first_corner + (i + 1) % face->corner_count];
            const hull_edge *e = &hull_edges(h)[c->edge];
            int side = e->vertex[0] != c->vertex;
            if (e->vertex[side] != c->vertex || e->vertex[1 - side] != next->vertex || e->face[side] != f)
                return fail(error, ABUT_FAILED, "hull: corner %d of face %d does not agree with its edge", i,
                            f);
        }
    }
    for (int32_t v = 0; v < h->vertex_count; v++)
        for (int32_t k = hull_star_start(h)[v]; k < hull_star_start(h)[v + 1]; k++) {
            const hull_edge *e = &hull_edges(h)[hull_stars(h)[k].edge];
            if (e->vertex[0] + e->vertex[1] != v + hull_stars(h)[k].vertex ||
                (e->vertex[0] != v && e->vertex[1] != v))
                return fail(error, ABUT_FAILED, "hull: the star of vertex %d does not agree with its edges",
                            v);
        }
    return ABUT_OK;
}

abut_status hull_validate(const abut_hull *h, abut_error *error) {
    if (h->magic != HULL_MAGIC || h->version != HULL_VERSION)
        return fail(error, ABUT_FAILED, "hull: not a hull block of version %d", HULL_VERSION);
    if (h->hash != hull_hash(h)) return fail(error, ABUT_FAILED, "hull: the content does not match its hash");
    abut_status status = validate_topology(h, error);
    if (status != ABUT_OK) return status;
    /* convex: no vertex above a face by more than rounding (Qhull merges facets within a few of its own) */
    double slack = 1e-13 * h->radius;
    for (int32_t f = 0; f < h->face_count; f++) {
        const hull_face *face = &hull_faces(h)[f];
        for (int32_t v = 0; v < h->vertex_count; v++)
            if (vec3_dot(face->n, hull_vertex(h, v)) > face->d + slack)
                return fail(error, ABUT_FAILED, "hull: vertex %d lies above face %d", v, f);
    }
    for (int32_t v = 0; v < h->vertex_count; v++)
        for (int32_t k = hull_descent_start(h)[v]; k < hull_descent_start(h)[v + 1]; k++)
            if (hull_descents(h)[k] <= v || hull_descents(h)[k] >= h->vertex_count)
                return fail(error, ABUT_FAILED, "hull: the descents of vertex %d do not lead to finer ones",
                            v);
    return ABUT_OK;
}
