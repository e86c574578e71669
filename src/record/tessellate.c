/* Smooth surfaces as triangles.
 *
 * The domain of a patch is a convex polygon.  A square is cut into n x n cells, a triangle into n^2
 * triangles; a polygon with more sides is a fan of triangles around its middle.  Every side is cut at k/n, by
 * both patches that share it, so there are no cracks. */
#include "record/tessellate.h"

enum { TRIANGLES_WANTED = 20000, CELLS_LEAST = 2, CELLS_MOST = 24 };

void tessellation_free(const abut_context *context, tessellation *t) {
    array_free(context, &t->points);
    array_free(context, &t->normals);
    array_free(context, &t->triangles);
    array_free(context, &t->edges);
}

bool tessellation_reserve(const abut_context *context, tessellation *t, int64_t points, int64_t triangles) {
    return array_reserve(context, &t->points, t->points.count + points) &&
           array_reserve(context, &t->normals, t->normals.count + points) &&
           array_reserve(context, &t->triangles, t->triangles.count + 3 * triangles);
}

bool tessellation_point(const abut_context *context, tessellation *t, vec3 point, vec3 normal) {
    return array_push(context, &t->points, point) && array_push(context, &t->normals, normal);
}

bool tessellation_triangle(const abut_context *context, tessellation *t, int64_t a, int64_t b, int64_t c) {
    return array_push(context, &t->triangles, (int32_t)a) && array_push(context, &t->triangles, (int32_t)b) &&
           array_push(context, &t->triangles, (int32_t)c);
}

/* The patch at hand. */
typedef struct gridder {
    const abut_context *context;
    const abut_surface *surface;
    tessellation *out;
    int patch, cells;
    double middle[2]; /* of the domain: where a normal is asked for when a corner has none */
} gridder;

/* A point of the patch.  Where c_u x c_v vanishes (a corner drawn together) the normal is that of a place a
 * little towards the middle. */
static bool add_place(const gridder *g, double u, double v) {
    abut_partials p, near;
    abut_surface_evaluate(g->surface, g->patch, u, v, 1, &p);
    vec3 normal = abut_partials_normal(&p);
    for (double inward = 1e-3; vec3_length2(normal) == 0 && inward < 1; inward *= 4) {
        abut_surface_evaluate(g->surface, g->patch, u + inward * (g->middle[0] - u),
                              v + inward * (g->middle[1] - v), 1, &near);
        normal = abut_partials_normal(&near);
    }
    if (vec3_length2(normal) == 0) normal = vec3_make(0, 0, 1);
    return tessellation_point(g->context, g->out, p.c, normal);
}

/* The square (0,0) (1,0) (1,1) (0,1) mapped to the four corners. */
static bool grid_square(const gridder *g, double corner[][2]) {
    int n = g->cells;
    int64_t first = g->out->points.count;
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++) {
            double s = (double)i / n, t = (double)j / n, at[2];
            for (int k = 0; k < 2; k++)
                at[k] = (1 - t) * ((1 - s) * corner[0][k] + s * corner[1][k]) +
                        t * ((1 - s) * corner[3][k] + s * corner[2][k]);
            if (!add_place(g, at[0], at[1])) return false;
        }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int64_t a = first + (int64_t)j * (n + 1) + i, d = a + n + 1;
            if (!tessellation_triangle(g->context, g->out, a, a + 1, d + 1) ||
                !tessellation_triangle(g->context, g->out, a, d + 1, d))
                return false;
        }
    return true;
}

/* The triangle a b c: row j has n - j + 1 places. */
static bool grid_triangle(const gridder *g, const double *a, const double *b, const double *c) {
    int n = g->cells;
    int64_t row = g->out->points.count;
    for (int j = 0; j <= n; j++)
        for (int i = 0; i + j <= n; i++) {
            double s = (double)i / n, t = (double)j / n, r = (double)(n - i - j) / n;
            if (!add_place(g, r * a[0] + s * b[0] + t * c[0], r * a[1] + s * b[1] + t * c[1])) return false;
        }
    for (int j = 0; j < n; j++) {
        int64_t next = row + n - j + 1;
        for (int i = 0; i + j < n; i++) {
            if (!tessellation_triangle(g->context, g->out, row + i, row + i + 1, next + i)) return false;
            if (i + j + 1 < n &&
                !tessellation_triangle(g->context, g->out, row + i + 1, next + i + 1, next + i))
                return false;
        }
        row = next;
    }
    return true;
}

/* The sides that no earlier patch has drawn, as lines of n pieces. */
static bool draw_sides(const gridder *g, double corner[][2], int sides) {
    for (int e = 0; e < sides; e++) {
        int other = -1, other_edge = -1;
        bool shared = abut_surface_neighbour(g->surface, g->patch, e, &other, &other_edge);
        if (shared && (other < g->patch || (other == g->patch && other_edge < e))) continue;
        int64_t first = g->out->points.count;
        const double *a = corner[e], *b = corner[(e + 1) % sides];
        for (int i = 0; i <= g->cells; i++) {
            double t = (double)i / g->cells;
            if (!add_place(g, (1 - t) * a[0] + t * b[0], (1 - t) * a[1] + t * b[1])) return false;
            if (i > 0 && (!array_push(g->context, &g->out->edges, (int32_t)(first + i - 1)) ||
                          !array_push(g->context, &g->out->edges, (int32_t)(first + i))))
                return false;
        }
    }
    return true;
}

static bool grid_patch(gridder *g) {
    double corner[ABUT_SIDES_MOST][2];
    int sides = abut_surface_domain(g->surface, g->patch, corner);
    g->middle[0] = g->middle[1] = 0;
    for (int i = 0; i < sides; i++)
        g->middle[0] += corner[i][0] / sides, g->middle[1] += corner[i][1] / sides;
    bool fine = true;
    if (sides == 4) fine = grid_square(g, corner);
    if (sides == 3) fine = grid_triangle(g, corner[0], corner[1], corner[2]);
    for (int i = 0; i < sides && sides > 4 && fine; i++)
        fine = grid_triangle(g, corner[i], corner[(i + 1) % sides], g->middle);
    return fine && draw_sides(g, corner, sides);
}

abut_status tessellate_surface(const abut_context *context, const abut_surface *surface, tessellation *t,
                               abut_error *error) {
    int patches = abut_surface_patch_count(surface), cells = CELLS_MOST;
    while (cells > CELLS_LEAST && 2.0 * cells * cells * patches > TRIANGLES_WANTED) cells--;
    gridder g = {.context = context, .surface = surface, .out = t, .cells = cells};
    for (g.patch = 0; g.patch < patches; g.patch++)
        if (!grid_patch(&g)) return fail_memory(error);
    return ABUT_OK;
}
