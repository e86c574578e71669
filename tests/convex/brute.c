#include "brute.h"

#include <stdio.h>
#include <stdlib.h>

void brute_place(brute_hull *b, const abut_hull *hull, pose at) {
    b->hull = hull;
    b->vertex = realloc(b->vertex, (size_t)hull->vertex_count * sizeof *b->vertex);
    b->normal = realloc(b->normal, (size_t)hull->face_count * sizeof *b->normal);
    mat3 r = quat_matrix(at.rotation);
    for (int i = 0; i < hull->vertex_count; i++) b->vertex[i] = mat3_mul_vec(r, hull_vertex(hull, i));
    for (int i = 0; i < hull->face_count; i++) b->normal[i] = mat3_mul_vec(r, hull_faces(hull)[i].n);
    b->center = vec3_add(at.position, mat3_mul_vec(r, hull->center));
}

void brute_free(brute_hull *b) {
    free(b->vertex), free(b->normal);
    *b = (brute_hull){0};
}

double brute_reach(const brute_hull *b, vec3 n) {
    double best = -INFINITY;
    for (int i = 0; i < b->hull->vertex_count; i++) best = fmax(best, vec3_dot(n, b->vertex[i]));
    return best;
}

double brute_extent(const brute_hull *a, const brute_hull *b, vec3 n) {
    return brute_reach(a, n) + brute_reach(b, vec3_neg(n));
}

static vec3 edge_of(const brute_hull *b, int edge) {
    const hull_edge *e = &hull_edges(b->hull)[edge];
    return vec3_sub(b->vertex[e->vertex[1]], b->vertex[e->vertex[0]]);
}

/* n, orthogonal to both edges, lies on both arcs when it lies between the normals of each edge's faces; with
 * a margin, so that arcs that touch at their ends count. */
static bool on_arc(const brute_hull *b, int edge, vec3 along, vec3 n, double sign) {
    const hull_edge *e = &hull_edges(b->hull)[edge];
    vec3 p = vec3_scale(b->normal[e->face[0]], sign), q = vec3_scale(b->normal[e->face[1]], sign);
    double margin = 1e-6 * vec3_length(along);
    double from = vec3_dot(vec3_cross(p, n), along), to = vec3_dot(vec3_cross(n, q), along);
    double turn = vec3_dot(vec3_cross(p, q), along) >= 0 ? 1 : -1;
    return from * turn >= -margin && to * turn >= -margin && vec3_dot(n, vec3_add(p, q)) > 0;
}

void brute_directions(const brute_hull *a, const brute_hull *b, bool crossing, brute_visit *visit,
                      void *user) {
    for (int i = 0; i < a->hull->face_count; i++) visit(user, a->normal[i]);
    for (int i = 0; i < b->hull->face_count; i++) visit(user, vec3_neg(b->normal[i]));
    for (int i = 0; i < a->hull->edge_count; i++)
        for (int j = 0; j < b->hull->edge_count; j++) {
            vec3 ea = edge_of(a, i), eb = edge_of(b, j), n = vec3_cross(ea, eb);
            double length = vec3_length(n);
            if (length <= 1e-9 * vec3_length(ea) * vec3_length(eb)) continue; /* parallel: no facet */
            n = vec3_scale(n, 1 / length);
            for (int side = 0; side < 2; side++, n = vec3_neg(n))
                if (!crossing || (on_arc(a, i, ea, n, 1) && on_arc(b, j, eb, n, -1))) visit(user, n);
        }
}

typedef struct growth_search {
    const brute_hull *a, *b;
    vec3 c;
    brute_answer best;
} growth_search;

static void visit_growth(void *user, vec3 n) {
    growth_search *s = user;
    double h = brute_extent(s->a, s->b, n), along = vec3_dot(n, s->c);
    if (along / h > s->best.growth) s->best.growth = along / h, s->best.n = n;
    s->best.depth = fmin(s->best.depth, h - along);
    s->best.least_extent = fmin(s->best.least_extent, h);
}

brute_answer brute_growth(const brute_hull *a, const brute_hull *b, bool crossing) {
    growth_search s = {a, b, vec3_sub(b->center, a->center), {-INFINITY, {0, 0, 0}, INFINITY, INFINITY}};
    brute_directions(a, b, crossing, visit_growth, &s);
    return s.best;
}

/* ---- polygons */

typedef struct flat {
    double x, y;
} flat;

static double turn(flat a, flat b, flat c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

static int by_x_then_y(const void *p, const void *q) {
    const flat *a = p, *b = q;
    return a->x < b->x ? -1 : a->x > b->x ? 1 : a->y < b->y ? -1 : a->y > b->y;
}

/* Andrew's monotone chain: the convex hull of plane points, counter-clockwise. */
static int flat_hull(flat *p, int n, flat *out) {
    qsort(p, (size_t)n, sizeof *p, by_x_then_y);
    int m = 0;
    for (int pass = 0; pass < 2; pass++) {
        int base = m;
        for (int k = 0; k < n; k++) {
            flat q = pass ? p[n - 1 - k] : p[k];
            while (m >= base + 2 && turn(out[m - 2], out[m - 1], q) <= 0) m--;
            out[m++] = q;
        }
        m--;
    }
    return m ? m : 1;
}

static int shown(const brute_hull *b, vec3 n, double slack, vec3 u, vec3 v, vec3 offset, flat *out) {
    double reach = brute_reach(b, n);
    flat *all = malloc((size_t)b->hull->vertex_count * sizeof *all);
    int count = 0;
    for (int i = 0; i < b->hull->vertex_count; i++) {
        if (vec3_dot(n, b->vertex[i]) < reach - slack) continue;
        vec3 p = vec3_add(offset, b->vertex[i]);
        all[count++] = (flat){vec3_dot(u, p), vec3_dot(v, p)};
    }
    int m = flat_hull(all, count, out);
    free(all);
    return m;
}

/* Inside a counter-clockwise polygon, a segment or a point, within 1e-12 of the scale. */
static bool inside(const flat *p, int n, flat q, double scale) {
    double band = 1e-11 * scale;
    if (n == 1) return hypot(p[0].x - q.x, p[0].y - q.y) <= band;
    for (int i = 0; i < n; i++) {
        flat a = p[i], b = p[(i + 1) % n];
        if (turn(a, b, q) < -band * hypot(b.x - a.x, b.y - a.y)) return false;
        if (n == 2 &&
            ((q.x - a.x) * (b.x - a.x) + (q.y - a.y) * (b.y - a.y)) < -band * hypot(b.x - a.x, b.y - a.y))
            return false;
    }
    return true;
}

int brute_polygon(const brute_hull *a, const brute_hull *b, vec3 n, double slack, vec3 *out, int capacity) {
    vec3 u = vec3_orthogonal(n), v = vec3_cross(n, u), c = vec3_sub(b->center, a->center);
    double scale = a->hull->radius + b->hull->radius;
    flat *p = malloc((size_t)(2 * a->hull->vertex_count + 2) * sizeof *p);
    flat *q = malloc((size_t)(2 * b->hull->vertex_count + 2) * sizeof *q);
    int np = shown(a, n, slack, u, v, vec3_zero(), p), nq = shown(b, vec3_neg(n), slack, u, v, c, q),
        count = 0;
    flat *all = malloc((size_t)(np + nq + np * nq) * sizeof *all),
         *hull = malloc((size_t)(2 * (np + nq + np * nq) + 2) * sizeof *hull);
    for (int i = 0; i < np; i++)
        if (inside(q, nq, p[i], scale)) all[count++] = p[i];
    for (int i = 0; i < nq; i++)
        if (inside(p, np, q[i], scale)) all[count++] = q[i];
    for (int i = 0; i < np && np > 1; i++)
        for (int j = 0; j < nq && nq > 1; j++) {
            flat a0 = p[i], a1 = p[(i + 1) % np], b0 = q[j], b1 = q[(j + 1) % nq];
            double d = (a1.x - a0.x) * (b1.y - b0.y) - (a1.y - a0.y) * (b1.x - b0.x);
            double la = hypot(a1.x - a0.x, a1.y - a0.y), lb = hypot(b1.x - b0.x, b1.y - b0.y);
            if (fabs(d) < 1e-7 * la * lb) continue;
            double s = ((b0.x - a0.x) * (b1.y - b0.y) - (b0.y - a0.y) * (b1.x - b0.x)) / d;
            double t = ((b0.x - a0.x) * (a1.y - a0.y) - (b0.y - a0.y) * (a1.x - a0.x)) / d;
            if (s >= 0 && s <= 1 && t >= 0 && t <= 1)
                all[count++] = (flat){a0.x + s * (a1.x - a0.x), a0.y + s * (a1.y - a0.y)};
        }
    int m = count ? flat_hull(all, count, hull) : 0;
    for (int i = 0; i < m && i < capacity; i++) out[i] = vec3_axpy(vec3_scale(u, hull[i].x), hull[i].y, v);
    free(p), free(q), free(all), free(hull);
    return m;
}

/* Every corner of one list is near one of the other. */
static double one_sided(const vec3 *p, int n, const vec3 *q, int m) {
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double nearest = INFINITY;
        for (int j = 0; j < m; j++) nearest = fmin(nearest, vec3_distance(p[i], q[j]));
        worst = fmax(worst, nearest);
    }
    return worst;
}

double brute_misfit(const brute_hull *a, const brute_hull *b, const abut_convex_result *r) {
    vec3 n = vec3_neg(r->normal), ours[128], exact[128];
    for (int i = 0; i < r->point_count; i++) {
        vec3 p = vec3_sub(r->points[i].a, a->center);
        ours[i] = vec3_axpy(p, -vec3_dot(n, p), n);
    }
    int count = brute_polygon(a, b, n, 1e-9 * (a->hull->radius + b->hull->radius), exact, 128);
    if (!r->is_aligned || count == 0) return r->is_aligned || count ? INFINITY : 0;
    return fmax(one_sided(ours, r->point_count, exact, count), one_sided(exact, count, ours, r->point_count));
}

/* ---- random input */

vec3 brute_random_direction(uint64_t *seed) {
    for (;;) {
        double x = random_range(seed, -1, 1), y = random_range(seed, -1, 1), z = random_range(seed, -1, 1);
        vec3 d = {x, y, z};
        double r = vec3_length(d);
        if (r > 0.1 && r <= 1) return vec3_scale(d, 1 / r);
    }
}

quat brute_random_rotation(uint64_t *seed) {
    for (;;) {
        double w = random_range(seed, -1, 1), x = random_range(seed, -1, 1), y = random_range(seed, -1, 1);
        quat q = {w, x, y, random_range(seed, -1, 1)};
        double r = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
        if (r > 0.1 && r <= 1) return quat_unit(q);
    }
}

abut_hull *brute_random_hull(uint64_t *seed, int count, double radius) {
    vec3 *points = malloc((size_t)count * sizeof *points);
    for (int i = 0; i < count; i++) {
        double r = radius * random_range(seed, 0.9, 1.1);
        points[i] = vec3_scale(brute_random_direction(seed), r);
    }
    abut_hull *hull = NULL;
    abut_error error = {0};
    if (abut_hull_create(NULL, points, count, &hull, &error) != ABUT_OK)
        fprintf(stderr, "%s\n", error.message);
    free(points);
    return hull;
}
