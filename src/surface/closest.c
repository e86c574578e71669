/* The point of a surface closest to a given point: the tree of boxes bounds which patches can hold it, parts
 * of polynomial patches are bounded by their control points, and Newton's method finds it inside.
 *
 *   f(u, v) = |c - x|^2 / 2,   f_u = (c - x) . c_u,   f_uv = c_u . c_v + (c - x) . c_uv, ...
 *
 * Extremal points with other conditions (support points for collision detection) start here too: the support
 * point in direction d is where c . d is largest. */
#include "surface/surface.h"

enum { NEWTON_STEPS = 40, DEEPEST_PART = 3, MOST_CROSSINGS = 16 };
#define ON_BORDER 1e-9 /* in parameters: descents end there */

typedef struct search {
    const abut_surface *s;
    vec3 x;       /* the point; or the direction when `support` */
    bool support; /* maximise c . x instead */
    double best;  /* distance, or minus c . x */
    abut_surface_point place;
    vec3 point;
    int64_t evaluations;
} search;

static double value_of(const search *q, vec3 c) {
    return q->support ? -vec3_dot(c, q->x) : vec3_distance(c, q->x);
}

/* A lower bound of the value over a box. */
static double bound_of(const search *q, box b) {
    if (q->support)
        return -((q->x.x > 0 ? b.upper.x : b.lower.x) * q->x.x +
                 (q->x.y > 0 ? b.upper.y : b.lower.y) * q->x.y +
                 (q->x.z > 0 ? b.upper.z : b.lower.z) * q->x.z);
    vec3 low = vec3_sub(b.lower, q->x), high = vec3_sub(q->x, b.upper);
    return vec3_length(vec3_max(vec3_max(low, high), vec3_zero()));
}

/* Gradient and Hessian of f, or of -c . x. */
static void model(const search *q, const partials *c, double g[2], double h[3]) {
    vec3 d = q->support ? vec3_neg(q->x) : vec3_sub(c->c, q->x);
    g[0] = vec3_dot(d, c->u), g[1] = vec3_dot(d, c->v);
    h[0] = vec3_dot(d, c->uu), h[1] = vec3_dot(d, c->uv), h[2] = vec3_dot(d, c->vv);
    if (q->support) return;
    h[0] += vec3_dot(c->u, c->u), h[1] += vec3_dot(c->u, c->v), h[2] += vec3_dot(c->v, c->v);
}

/* Newton's step where the Hessian is positive; otherwise a step down the metric's gradient. */
static void direction(const partials *c, const double g[2], const double h[3], double step[2]) {
    double uu = h[0], uv = h[1], vv = h[2], det = uu * vv - uv * uv;
    double m0 = vec3_dot(c->u, c->u), m1 = vec3_dot(c->u, c->v), m2 = vec3_dot(c->v, c->v);
    if (!(uu > 0 && det > 1e-12 * m0 * m2)) uu = m0, uv = m1, vv = m2, det = uu * vv - uv * uv;
    step[0] = -(vv * g[0] - uv * g[1]) / det, step[1] = -(uu * g[1] - uv * g[0]) / det;
}

/* Cuts the step at the first edge it meets; on an edge that it would leave, it goes along. */
static void stay_inside(const search *q, const patch *p, const double at[2], const double g[2],
                        const double h[3], double step[2]) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < p->sides; i++) {
            const double *a = surface_corner(q->s, p->first + i),
                         *b = surface_corner(q->s, p->first + (i + 1) % p->sides);
            double ex = b[0] - a[0], ey = b[1] - a[1], length = sqrt(ex * ex + ey * ey);
            double out = (ey * (at[0] - a[0]) - ex * (at[1] - a[1])) / length,
                   rate = (ey * step[0] - ex * step[1]) / length;
            if (!(rate > 0) || out + rate <= 0) continue;
            if (pass == 0 && out > -1e-12) { /* on the edge: Newton along it */
                double e0 = ex / length, e1 = ey / length, ge = g[0] * e0 + g[1] * e1;
                double he = h[0] * e0 * e0 + 2 * h[1] * e0 * e1 + h[2] * e1 * e1;
                double along = he > 0 ? -ge / he : step[0] * e0 + step[1] * e1;
                step[0] = along * e0, step[1] = along * e1;
            } else if (pass == 1) {
                double f = out < 0 ? -out / rate : 0;
                step[0] *= f, step[1] *= f;
            }
        }
}

/* Descends from a place inside the patch; keeps the best point met. */
static void descend(search *q, int index, double u, double v) {
    const patch *p = surface_patch(q->s, index);
    double at[2] = {u, v};
    partials c;
    patch_evaluate(q->s, p, u, v, 2, &c);
    double now = value_of(q, c.c);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double g[2], h[3], step[2];
        q->evaluations++;
        model(q, &c, g, h);
        direction(&c, g, h, step);
        stay_inside(q, p, at, g, h, step);
        double size = fabs(step[0]) + fabs(step[1]);
        if (!(size > 1e-15)) break;
        partials next;
        double then = INFINITY;
        for (int halving = 0; halving < 30; halving++, step[0] *= 0.5, step[1] *= 0.5) {
            patch_evaluate(q->s, p, at[0] + step[0], at[1] + step[1], 2, &next);
            q->evaluations++;
            then = value_of(q, next.c);
            if (then <= now) break;
        }
        if (!(then <= now)) break;
        at[0] += step[0], at[1] += step[1], c = next;
        bool settled = size < 1e-13 && then == now;
        now = then;
        if (settled) break;
    }
    if (now < q->best) q->best = now, q->place = (abut_surface_point){index, at[0], at[1]}, q->point = c.c;
}

/* The box of a part of a triangular or square patch, by the blossom at its corners. */
static box part_box(const abut_surface *s, const patch *p, const double corner[4][2]) {
    const double *data = surface_numbers(s, p->data);
    box b = box_empty();
    if (p->kind == ABUT_PATCH_LOOP) {
        for (int j = 0; j <= 4; j++)
            for (int k = 0; j + k <= 4; k++) {
                double at[4][2];
                for (int m = 0; m < 4; m++)
                    memcpy(at[m], corner[m < j ? 1 : m < j + k ? 2 : 0], sizeof at[m]);
                b = box_add_point(b, triangle_blossom(data, (const double(*)[2])at));
            }
        return b;
    }
    for (int k = 0; k < 16; k++) { /* corner 0 is (low, low), corner 2 (high, high) */
        double u[3], v[3], x[4];
        for (int m = 0; m < 3; m++) u[m] = corner[m < k % 4 ? 2 : 0][0], v[m] = corner[m < k / 4 ? 2 : 0][1];
        bezier_blossom(data, u, v, x);
        double w = p->kind == ABUT_PATCH_RATIONAL ? x[3] : 1;
        b = box_add_point(b, vec3_make(x[0] / w, x[1] / w, x[2] / w));
    }
    return b;
}

/* Splits a part in four as long as its box can hold something better than the best, to a depth of three (64
 * parts), and starts a descent in the middle of every part of even depth that is not excluded: each finds the
 * one minimum that a part of a patch with less than a turn of its normal has. */
static void search_part(search *q, int index, const double corner[4][2], int depth) {
    const patch *p = surface_patch(q->s, index);
    int n = p->kind == ABUT_PATCH_LOOP ? 3 : 4;
    box b = part_box(q->s, p, corner);
    double slack = 1e-9 * (q->support ? vec3_length(q->x) : 1) * (1e-30 + box_diagonal(b));
    if (bound_of(q, b) > q->best - slack || depth >= DEEPEST_PART) return;
    double middle[2] = {0, 0}, half[4][2];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            middle[k] += corner[i][k] / n;
            half[i][k] = 0.5 * (corner[i][k] + corner[(i + 1) % n][k]);
        }
    if (depth % 2 == 0) descend(q, index, middle[0], middle[1]);
    for (int i = 0; i < n; i++) {
        double part[4][2];
        if (n == 3) {
            memcpy(part[0], corner[i], sizeof part[0]);
            memcpy(part[1], half[i], sizeof part[0]);
            memcpy(part[2], half[(i + 2) % 3], sizeof part[0]);
        } else {
            double low[2], high[2]; /* the quarter at corner i */
            for (int k = 0; k < 2; k++)
                low[k] = fmin(corner[i][k], middle[k]), high[k] = fmax(corner[i][k], middle[k]);
            domain_square(low[0], high[0], low[1], high[1], part);
        }
        search_part(q, index, (const double(*)[2])part, depth + 1);
    }
    if (n == 3) search_part(q, index, (const double(*)[2])half, depth + 1);
}

/* Kinds without blossoms: descents from a fan of starts. */
static void search_starts(search *q, int index) {
    double corners[ABUT_SIDES_MOST][2], center[2] = {0, 0};
    int n = abut_surface_domain(q->s, index, corners);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) center[k] += corners[i][k] / n;
    descend(q, index, center[0], center[1]);
    for (int i = 0; i < n; i++)
        for (int r = 1; r <= 2; r++) {
            double f = r == 1 ? 0.45 : 0.9;
            double u = center[0] + f * (corners[i][0] - center[0]),
                   v = center[1] + f * (corners[i][1] - center[1]);
            descend(q, index, u, v);
        }
}

static void search_patch(search *q, int index) {
    const patch *p = surface_patch(q->s, index);
    if (p->kind == ABUT_PATCH_LOOP || p->kind == ABUT_PATCH_BEZIER || p->kind == ABUT_PATCH_RATIONAL) {
        double corners[ABUT_SIDES_MOST][2];
        abut_surface_domain(q->s, index, corners);
        search_part(q, index, (const double(*)[2])corners, 0);
    } else {
        search_starts(q, index);
    }
}

/* Depth first, the nearer child first. */
static void search_node(search *q, const abut_surface_tree *t, int32_t node) {
    const tree_node *n = &t->nodes[node];
    if (bound_of(q, n->bounds) >= q->best) return;
    if (n->count) {
        for (int32_t i = 0; i < n->count; i++) {
            int p = tree_order_const(t)[n->first + i];
            if (bound_of(q, patch_box(q->s, p)) < q->best) search_patch(q, p);
        }
        return;
    }
    int32_t a = node + 1, b = n->first;
    if (bound_of(q, t->nodes[b].bounds) < bound_of(q, t->nodes[a].bounds)) a = n->first, b = node + 1;
    search_node(q, t, a);
    search_node(q, t, b);
}

static abut_closest run(const abut_surface *s, const abut_surface_tree *t, vec3 x, bool support) {
    search q = {.s = s, .x = x, .support = support, .best = INFINITY};
    search_node(&q, t, 0);
    return (abut_closest){q.place, q.point, support ? -q.best : q.best, q.evaluations};
}

abut_closest abut_surface_closest(const abut_surface *s, const abut_surface_tree *tree, abut_vec3 x) {
    return run(s, tree, x, false);
}

/* On a border the patch across it may lead on. */
abut_closest abut_surface_closest_from(const abut_surface *s, abut_surface_point from, abut_vec3 x) {
    search q = {.s = s, .x = x, .best = INFINITY, .place = from};
    for (int crossings = 0; crossings < MOST_CROSSINGS; crossings++) {
        double before = q.best, jacobian[4];
        int edge;
        descend(&q, from.patch, from.u, from.v);
        if (!(q.best < before) || abut_surface_outside(s, q.place, &edge) < -ON_BORDER) break;
        if (!abut_surface_cross(s, q.place, edge, &from, jacobian)) break;
    }
    return (abut_closest){q.place, q.point, q.best, q.evaluations};
}

abut_closest abut_surface_support(const abut_surface *s, const abut_surface_tree *tree,
                                  abut_vec3 direction_of) {
    return run(s, tree, direction_of, true);
}
