/* Closest points of two convex shapes by GJK (Gilbert, Johnson and Keerthi 1988), for those who want the
 * Euclidean distance: the growth distance answers a different question (docs/convex.md).
 *
 * Shapes are cores with a radius: a sphere is a point, a capsule a segment, and what is left of the distance
 * of the cores after both radii is exact.  The simplex on K = core A - core B - c approaches the origin:
 *
 *     v = the point of the simplex nearest to the origin;  w = the point of K farthest along -v
 *     v.v - v.w <= tolerance: v is nearest of all K;  otherwise w joins the simplex, and corners that v does
 * not need leave it.  A tetrahedron that holds the origin: the cores overlap. */
#include "convex/pair.h"

enum { MOST_STEPS = 300 };

typedef struct corner {
    vec3 k, a; /* a - b - c, and the point of A */
} corner;

typedef struct simplex {
    corner s[4];
    double weight[4];
    int count;
} simplex;

static double core_radius(const abut_convex *s) {
    return s->kind == ABUT_CONVEX_SPHERE || s->kind == ABUT_CONVEX_CAPSULE ? s->radius : 0;
}

static vec3 core_support(const abut_convex *s, vec3 d) {
    int32_t vertex;
    if (s->kind == ABUT_CONVEX_SPHERE) return vec3_zero();
    if (s->kind == ABUT_CONVEX_CAPSULE) return vec3_make(0, 0, d.z >= 0 ? s->length / 2 : -s->length / 2);
    return shape_support(s, d, &vertex);
}

static corner reach(const convex_pair *p, vec3 d) {
    corner w;
    w.a = mat3_mul_vec(p->ra, core_support(p->a, mat3_tmul_vec(p->ra, d)));
    vec3 b = mat3_mul_vec(p->rb, core_support(p->b, vec3_neg(mat3_tmul_vec(p->rb, d))));
    w.k = vec3_sub(vec3_sub(w.a, b), p->c);
    return w;
}

/* ---- the point of a simplex nearest to the origin, as weights of its corners */

static vec3 point_of(const simplex *x) {
    vec3 v = vec3_zero();
    for (int i = 0; i < x->count; i++) v = vec3_axpy(v, x->weight[i], x->s[i].k);
    return v;
}

static void keep_corner(simplex *x, int i) { x->s[0] = x->s[i], x->weight[0] = 1, x->count = 1; }

/* The segment s_i s_j: the foot of the origin, or an end. */
static void nearest_on_segment(simplex *x, int i, int j) {
    corner p = x->s[i], q = x->s[j];
    vec3 e = vec3_sub(q.k, p.k);
    double t = -vec3_dot(p.k, e), whole = vec3_dot(e, e);
    x->s[0] = p, x->s[1] = q;
    if (t <= 0 || whole <= 0)
        keep_corner(x, 0);
    else if (t >= whole)
        keep_corner(x, 1);
    else
        x->weight[1] = t / whole, x->weight[0] = 1 - x->weight[1], x->count = 2;
}

/* The triangle s_i s_j s_k: its inside when the foot of the origin falls there, otherwise the nearest side.
 */
static void nearest_on_triangle(simplex *x, int i, int j, int k) {
    corner p = x->s[i], q = x->s[j], r = x->s[k];
    vec3 n = vec3_cross(vec3_sub(q.k, p.k), vec3_sub(r.k, p.k));
    double u = vec3_triple(n, q.k, r.k), v = vec3_triple(n, r.k, p.k), w = vec3_triple(n, p.k, q.k),
           sum = u + v + w;
    if (u > 0 && v > 0 && w > 0 && sum > 0) {
        *x = (simplex){.s = {p, q, r}, .weight = {u / sum, v / sum, w / sum}, .count = 3};
        return;
    }
    simplex best = {.count = 0};
    double least = INFINITY;
    const corner side[3][2] = {{p, q}, {q, r}, {r, p}};
    for (int e = 0; e < 3; e++) {
        simplex y = {.s = {side[e][0], side[e][1]}, .count = 2};
        nearest_on_segment(&y, 0, 1);
        double d = vec3_length2(point_of(&y));
        if (d < least) least = d, best = y;
    }
    *x = best;
}

/* The tetrahedron: the nearest of the faces that the origin lies outside of; true when it lies outside of
 * none. */
static bool nearest_on_tetrahedron(simplex *x) {
    static const int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    simplex best = {.count = 0};
    double least = INFINITY;
    for (int f = 0; f < 4; f++) {
        vec3 p = x->s[face[f][0]].k, q = x->s[face[f][1]].k, r = x->s[face[f][2]].k, o = x->s[face[f][3]].k;
        vec3 n = vec3_cross(vec3_sub(q, p), vec3_sub(r, p));
        double inner = vec3_dot(n, vec3_sub(o, p)), origin = -vec3_dot(n, p);
        /* the origin is on the side of the fourth corner, and no farther than it: the weight of that corner
         * is within 0 .. 1 (of a flat tetrahedron rounding gives any sign, but not that) */
        if (inner * origin > 0 && fabs(origin) <= fabs(inner)) continue;
        simplex y = *x;
        nearest_on_triangle(&y, face[f][0], face[f][1], face[f][2]);
        double d = vec3_length2(point_of(&y));
        if (d < least) least = d, best = y;
    }
    if (!isfinite(least)) return true;
    *x = best;
    return false;
}

/* Reduces the simplex to the corners that the nearest point needs; true when it holds the origin. */
static bool reduce(simplex *x) {
    if (x->count == 4) return nearest_on_tetrahedron(x);
    if (x->count == 3) nearest_on_triangle(x, 0, 1, 2);
    if (x->count == 2) nearest_on_segment(x, 0, 1);
    if (x->count == 1) x->weight[0] = 1;
    return false;
}

/* v: from the nearest point of core B to that of core A; false when the cores overlap or touch. */
bool convex_closest_cores(const convex_pair *p, vec3 *on_a, vec3 *v, int *steps) {
    simplex x = {.count = 1};
    double tiny = 1e-14 * p->size;
    x.s[0] = reach(p, p->c), x.weight[0] = 1;
    *v = x.s[0].k;
    for (*steps = 1; *steps < MOST_STEPS; ++*steps) {
        double square = vec3_length2(*v);
        if (square <= tiny * tiny) return false;
        corner w = reach(p, vec3_neg(*v));
        if (square - vec3_dot(*v, w.k) <= 1e-14 * sqrt(square) * p->size) break;
        simplex y = x;
        y.s[y.count++] = w;
        if (reduce(&y)) return false;
        vec3 next = point_of(&y);
        if (vec3_length2(next) >= square) break; /* rounding is all that is left */
        x = y, *v = next;
    }
    *on_a = vec3_zero();
    for (int i = 0; i < x.count; i++) *on_a = vec3_axpy(*on_a, x.weight[i], x.s[i].a);
    return true;
}

double convex_core_radii(const convex_pair *p, double *a) {
    *a = core_radius(p->a);
    return *a + core_radius(p->b);
}
