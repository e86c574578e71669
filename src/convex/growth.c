/* Growth distance by ray cast on the Minkowski difference (Silcowitz, Niebe and Erleben, section 1.1).
 *
 * With both shapes taken about their centres, K = A - B contains the origin inside.  The scaled shapes touch
 * when alpha (a - b) = c for some a in A, b in B, c from A's centre to B's: c / alpha lies on the boundary of
 * K (equation 3 with t = 1 - 1/alpha, corrected: both ranges of alpha, apart and overlapping).  So 1/alpha is
 * where the ray from the origin along c leaves K.  Axes are turned so that the ray is z:
 *
 *            z  ray               Every direction n with n.z > 0 bounds the ray from outside:
 *            |                        z <= h(n) / n.z,      h(n) = n . S(n), S the support mapping of K.
 *       w .--+--.                 Three points of K whose shadow in the x, y plane holds the origin bound it
 *        /k1 |   \                from inside: the height of their plane.
 *       / -- * -- k2
 *      k0    |                    The simplex k0 k1 k2 is raised: n is the normal of its plane, w = S(n).
 *            o                    Either w is no higher: both bounds agree, and n is the normal of the facet
 * of K where the ray leaves.  Or w replaces the corner whose opposite side, with w, still holds the ray.
 *
 * This is GJK's ray cast with one deviation: GJK steps along the vector from the simplex to the point of the
 * ray, which vanishes as it converges, and its direction is lost; the normal of the simplex is not. */
#include "convex/pair.h"

enum { MOST_STEPS = 500 };

/* Bounds that agree to this, relative to the size of K, are equal: a few dozen roundings. */
static const double AGREE = 1e-14;

typedef struct corner {
    vec3 k;       /* a - b */
    vec3 a;       /* the point of A; all in ray axes */
    int32_t va, vb;
} corner;

typedef struct ray {
    const convex_pair *pair;
    mat3 ra, rb; /* shape axes to ray axes */
    mat3 frame;  /* ray axes to world axes: its columns are e1, e2, c/|c| */
    double length; /* |c| */
    double far_distance;
    corner s[3];
    int steps;
    double z_out; /* least bound from outside, and its direction */
    vec3 n_out;
    bool is_far;
} ray;

/* S(n), and what n tells about the ray. */
static corner reach(ray *r, vec3 n) {
    corner w;
    vec3 a = shape_support(r->pair->a, mat3_tmul_vec(r->ra, n), &w.va);
    vec3 b = shape_support(r->pair->b, vec3_neg(mat3_tmul_vec(r->rb, n)), &w.vb);
    w.a = mat3_mul_vec(r->ra, a);
    w.k = vec3_sub(w.a, mat3_mul_vec(r->rb, b));
    r->steps++;
    if (n.z > 0) {
        double h = vec3_dot(n, w.k), z = h / n.z;
        if (z < r->z_out) r->z_out = z, r->n_out = n;
        if (isfinite(r->far_distance) && n.z * r->length - h > r->far_distance * vec3_length(n)) r->is_far = true;
    }
    return w;
}

/* x, y plane */
static double cross2(vec3 a, vec3 b) { return a.x * b.y - a.y * b.x; }
static double turn2(vec3 a, vec3 b, vec3 c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

/* A direction that leans from the edge s0 s1 (n . (s1 - s0) = 0) towards `side` (orthogonal to its shadow,
 * unit), half way between up and sideways. */
static vec3 lean(vec3 edge, vec3 side) {
    double flat = edge.x * edge.x + edge.y * edge.y;
    if (flat <= 0) return side;
    vec3 up = vec3_unit(vec3_make(-edge.x * edge.z, -edge.y * edge.z, flat));
    return vec3_add(side, up);
}

/* Takes the support point of a leaning direction; if its shadow does not pass the origin, of the horizontal
 * one, whose shadow does, because the origin is inside K. */
static corner pass(ray *r, vec3 edge, vec3 side) {
    corner w = reach(r, lean(edge, side));
    return vec3_dot(side, w.k) > 0 ? w : reach(r, side);
}

/* Puts three corners, counter-clockwise, around the ray: GJK in the plane of shadows.  False when the ray
 * goes through the first corner or the shadow is too flat to turn. */
static bool surround(ray *r) {
    double tiny = AGREE * r->pair->size;
    r->s[0] = reach(r, vec3_make(0, 0, 1));
    vec3 q = r->s[0].k;
    double off = sqrt(q.x * q.x + q.y * q.y);
    if (off <= tiny || r->is_far) return false;
    vec3 back = vec3_make(-q.x / off, -q.y / off, 0);
    corner w = reach(r, vec3_make(back.x, back.y, 1));
    r->s[1] = vec3_dot(back, w.k) > 0 ? w : reach(r, back);
    while (r->steps < MOST_STEPS && !r->is_far) {
        /* the side of the origin, left of s0 s1; on the line: either */
        vec3 edge = vec3_sub(r->s[1].k, r->s[0].k);
        if (cross2(r->s[0].k, r->s[1].k) < 0) {
            corner swap = r->s[0];
            r->s[0] = r->s[1], r->s[1] = swap, edge = vec3_neg(edge);
        }
        vec3 side = vec3_unit(vec3_make(-edge.y, edge.x, 0));
        if (vec3_length2(side) <= 0) return false;
        r->s[2] = pass(r, edge, side);
        if (turn2(r->s[0].k, r->s[1].k, r->s[2].k) <= 0) return false;
        if (cross2(r->s[1].k, r->s[2].k) < 0)
            r->s[0] = r->s[2];
        else if (cross2(r->s[2].k, r->s[0].k) < 0)
            r->s[1] = r->s[2];
        else
            return true;
    }
    return false;
}

/* w replaces a corner so that the ray stays inside: the wedge of shadows opposite to w's holds (s_i, s_i+1). */
static void replace(ray *r, const corner *w) {
    double side[3];
    for (int i = 0; i < 3; i++) side[i] = cross2(w->k, r->s[i].k);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        if (side[i] >= 0 && side[j] <= 0 && (side[i] > 0 || side[j] < 0)) {
            r->s[3 - i - j] = *w;
            return;
        }
    }
    r->s[0] = *w;
}

/* Raises the simplex until the bounds agree.  True when they do. */
static bool raise(ray *r) {
    double size = r->pair->size;
    while (r->steps < MOST_STEPS) {
        vec3 e1 = vec3_sub(r->s[1].k, r->s[0].k), e2 = vec3_sub(r->s[2].k, r->s[0].k), n = vec3_cross(e1, e2);
        double length = vec3_length(n);
        if (!(n.z > 1e-15 * length)) return false;
        n = vec3_scale(n, 1 / length);
        corner w = reach(r, n);
        if (r->is_far) return true;
        for (int i = 0; i < 3; i++)
            if (w.va == r->s[i].va && w.vb == r->s[i].vb && w.va + w.vb > 0) return true;
        double above = vec3_dot(n, w.k) - vec3_dot(n, r->s[0].k);
        if (above <= AGREE * size) return true;
        replace(r, &w);
    }
    return false;
}

/* The simplex of the last query, if it still surrounds the ray. */
static bool recall(ray *r, const abut_convex_cache *cache) {
    const abut_convex *a = r->pair->a, *b = r->pair->b;
    if (!cache || cache->count != 3 || a->kind != ABUT_CONVEX_HULL || b->kind != ABUT_CONVEX_HULL) return false;
    for (int i = 0; i < 3; i++) {
        int32_t va = cache->a[i], vb = cache->b[i];
        if (va < 0 || va >= a->hull->vertex_count || vb < 0 || vb >= b->hull->vertex_count) return false;
        vec3 pa = mat3_mul_vec(r->ra, hull_vertices(a->hull)[va]);
        vec3 pb = mat3_mul_vec(r->rb, hull_vertices(b->hull)[vb]);
        r->s[i] = (corner){.k = vec3_sub(pa, pb), .a = pa, .va = va, .vb = vb};
    }
    return cross2(r->s[0].k, r->s[1].k) > 0 && cross2(r->s[1].k, r->s[2].k) > 0 && cross2(r->s[2].k, r->s[0].k) > 0;
}

static void remember(const ray *r, abut_convex_cache *cache) {
    if (!cache) return;
    cache->count = 3;
    for (int i = 0; i < 3; i++) cache->a[i] = r->s[i].va, cache->b[i] = r->s[i].vb;
}

/* ---- polishing: the exact normal of the features that the ray found */

/* h(n) / n.z for a direction in ray axes, with honest supports; keeps it when it bounds the ray lower, or
 * equally within rounding (a normal of a feature is better than one computed from a simplex). */
static void try_direction(ray *r, vec3 n) {
    if (!(n.z > 0)) return;
    double before = r->z_out;
    vec3 n_before = r->n_out;
    r->z_out = INFINITY;
    reach(r, n);
    if (!(r->z_out <= before + 4 * AGREE * r->pair->size)) r->z_out = before, r->n_out = n_before;
}

static vec3 edge_vector(const abut_hull *h, int32_t edge) {
    const hull_edge *e = &hull_edges(h)[edge];
    return vec3_sub(hull_vertices(h)[e->vertex[1]], hull_vertices(h)[e->vertex[0]]);
}

/* If the direction is, within `near` radians, the normal of a face or orthogonal to an edge of each, then
 * that exactly. */
static void polish(ray *r) {
    const abut_convex *a = r->pair->a, *b = r->pair->b;
    const double near = 1e-6;
    vec3 n = vec3_unit(r->n_out);
    if (a->kind != ABUT_CONVEX_HULL || b->kind != ABUT_CONVEX_HULL) return;
    vec3 na = mat3_tmul_vec(r->ra, n), nb = vec3_neg(mat3_tmul_vec(r->rb, n));
    abut_feature fa = hull_feature(a->hull, na, hull_support(a->hull, na), near);
    abut_feature fb = hull_feature(b->hull, nb, hull_support(b->hull, nb), near);
    if (fa.kind == ABUT_FEATURE_FACE) try_direction(r, mat3_mul_vec(r->ra, hull_faces(a->hull)[fa.id].n));
    if (fb.kind == ABUT_FEATURE_FACE) try_direction(r, vec3_neg(mat3_mul_vec(r->rb, hull_faces(b->hull)[fb.id].n)));
    if (fa.kind == ABUT_FEATURE_EDGE && fb.kind == ABUT_FEATURE_EDGE) {
        vec3 ea = mat3_mul_vec(r->ra, edge_vector(a->hull, fa.id));
        vec3 eb = mat3_mul_vec(r->rb, edge_vector(b->hull, fb.id)), cross = vec3_cross(ea, eb);
        double sine = vec3_length(cross) / (vec3_length(ea) * vec3_length(eb));
        if (sine > near) try_direction(r, cross.z > 0 ? cross : vec3_neg(cross));
    }
}

/* ---- */

/* Ray axes: z along c, x and y any. */
static void aim(ray *r, const convex_pair *p) {
    r->pair = p, r->length = vec3_length(p->c), r->z_out = INFINITY;
    vec3 z = vec3_scale(p->c, 1 / r->length), x = vec3_orthogonal(z), y = vec3_cross(z, x);
    r->frame = (mat3){x, y, z};
    r->ra = mat3_mul(mat3_transpose(r->frame), p->ra);
    r->rb = mat3_mul(mat3_transpose(r->frame), p->rb);
}

/* Weights of the shadows' corners at the origin give the point where the ray leaves, as a point of A and one
 * of B. */
static void find_witness(const ray *r, bool is_simplex, convex_touch *out) {
    double w[3] = {1, 0, 0}, sum = 0;
    for (int i = 0; i < 3 && is_simplex; i++)
        sum += w[i] = fmax(0, cross2(r->s[(i + 1) % 3].k, r->s[(i + 2) % 3].k));
    vec3 a = vec3_zero(), k = vec3_zero();
    for (int i = 0; i < 3; i++) {
        double weight = is_simplex && sum > 0 ? w[i] / sum : i == 0;
        if (weight > 0) a = vec3_axpy(a, weight, r->s[i].a), k = vec3_axpy(k, weight, r->s[i].k);
    }
    out->witness[0] = mat3_mul_vec(r->frame, a);
    out->witness[1] = mat3_mul_vec(r->frame, vec3_sub(a, k));
}

double convex_extent(const convex_pair *p, vec3 n, int32_t support[2], vec3 witness[2]) {
    witness[0] = mat3_mul_vec(p->ra, shape_support(p->a, mat3_tmul_vec(p->ra, n), &support[0]));
    witness[1] = mat3_mul_vec(p->rb, shape_support(p->b, vec3_neg(mat3_tmul_vec(p->rb, n)), &support[1]));
    return vec3_dot(n, vec3_sub(witness[0], witness[1]));
}

abut_status convex_grow(const convex_pair *p, double far_distance, abut_convex_cache *cache, convex_touch *out) {
    ray r = {.far_distance = far_distance};
    aim(&r, p);
    bool simplex = recall(&r, cache) || surround(&r), done = !simplex || r.is_far;
    if (simplex && !r.is_far) done = raise(&r);
    if (simplex && done) remember(&r, cache);
    if (!r.is_far) polish(&r);
    vec3 support[2];
    out->n = mat3_mul_vec(r.frame, vec3_unit(r.n_out));
    out->extent = convex_extent(p, out->n, out->support, support);
    out->growth = vec3_dot(out->n, p->c) / out->extent;
    out->iterations = r.steps, out->is_far = r.is_far;
    find_witness(&r, simplex, out);
    return done ? ABUT_OK : ABUT_BUDGET;
}
