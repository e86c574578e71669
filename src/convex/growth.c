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

enum {
    MOST_STEPS = 500,
    LEAN_ROUNDS = 4 /* of surrounding the ray with directions that lean; horizontal ones cannot fail */
};

/* Bounds that agree to this, relative to the size of K, are equal: a few dozen roundings. */
static const double AGREE = 1e-14;

typedef struct corner {
    vec3 k; /* a - b */
    vec3 a; /* the point of A; all in ray axes */
    int32_t va, vb;
} corner;

typedef struct ray {
    const convex_pair *pair;
    mat3 ra, rb;   /* shape axes to ray axes */
    mat3 frame;    /* ray axes to world axes: its columns are e1, e2, c/|c| */
    double length; /* |c| */
    double far_distance;
    corner s[3];
    int steps;
    double z_out; /* least bound from outside, */
    vec3 n_out;   /* the direction that gave it, */
    corner w_out; /* and its support point */
    bool is_hulls, is_far;
} ray;

/* What n with support point w tells about the ray. */
static void bound(ray *r, vec3 n, const corner *w) {
    if (!(n.z > 0)) return;
    double h = vec3_dot(n, w->k), z = h / n.z;
    if (z < r->z_out) r->z_out = z, r->n_out = n, r->w_out = *w;
    if (n.z * r->length - h > r->far_distance * vec3_length(n)) r->is_far = true;
}

static corner make_corner(const ray *r, vec3 a, vec3 b, int32_t va, int32_t vb) {
    corner w = {.a = mat3_mul_vec(r->ra, a), .va = va, .vb = vb};
    w.k = vec3_sub(w.a, mat3_mul_vec(r->rb, b));
    return w;
}

/* S(n) */
static corner reach(ray *r, vec3 n) {
    int32_t va, vb;
    vec3 a = shape_support(r->pair->a, mat3_tmul_vec(r->ra, n), &va);
    vec3 b = shape_support(r->pair->b, vec3_neg(mat3_tmul_vec(r->rb, n)), &vb);
    corner w = make_corner(r, a, b, va, vb);
    r->steps++;
    bound(r, n, &w);
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
static corner pass(ray *r, vec3 leaning, vec3 side) {
    corner w = reach(r, leaning);
    return vec3_dot(side, w.k) > 0 ? w : reach(r, side);
}

typedef enum surround_result { SURROUNDED, THROUGH_CORNER, TOO_FLAT } surround_result;

/* Puts three corners, counter-clockwise, around the ray: GJK in the plane of shadows. */
static surround_result surround(ray *r) {
    r->s[0] = reach(r, vec3_make(0, 0, 1));
    vec3 q = r->s[0].k;
    double off = sqrt(q.x * q.x + q.y * q.y);
    if (off <= AGREE * r->pair->size || r->is_far) return THROUGH_CORNER;
    vec3 back = vec3_make(-q.x / off, -q.y / off, 0);
    r->s[1] = pass(r, vec3_make(back.x, back.y, 1), back);
    for (int round = 0; r->steps < MOST_STEPS && !r->is_far; round++) {
        if (cross2(r->s[0].k, r->s[1].k) < 0) {
            corner swap = r->s[0];
            r->s[0] = r->s[1], r->s[1] = swap;
        }
        vec3 edge = vec3_sub(r->s[1].k, r->s[0].k), side = vec3_unit(vec3_make(-edge.y, edge.x, 0));
        r->s[2] = round < LEAN_ROUNDS ? pass(r, lean(edge, side), side) : reach(r, side);
        if (!(turn2(r->s[0].k, r->s[1].k, r->s[2].k) > 0)) return TOO_FLAT;
        if (cross2(r->s[1].k, r->s[2].k) < 0)
            r->s[0] = r->s[2];
        else if (cross2(r->s[2].k, r->s[0].k) < 0)
            r->s[1] = r->s[2];
        else
            return SURROUNDED;
    }
    return TOO_FLAT;
}

/* w replaces a corner so that the ray stays inside: the wedge of shadows opposite to w's holds (s_i, s_i+1).
 */
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

static bool same_corner(const corner *a, const corner *b) { return a->va == b->va && a->vb == b->vb; }

/* Raises the simplex until the bounds agree, or until nothing moves any more: then rounding is all that
 * separates them, and polishing decides.  False when the budget is used up. */
static bool raise(ray *r) {
    double z_in = -INFINITY;
    while (r->steps < MOST_STEPS) {
        vec3 e1 = vec3_sub(r->s[1].k, r->s[0].k), e2 = vec3_sub(r->s[2].k, r->s[0].k),
             n = vec3_unit(vec3_cross(e1, e2));
        if (!(n.z > 0)) return true;
        double here = vec3_dot(n, r->s[0].k), out = r->z_out;
        corner w = reach(r, n);
        if (r->is_far || vec3_dot(n, w.k) - here <= AGREE * r->pair->size) return true;
        for (int i = 0; r->is_hulls && i < 3; i++)
            if (same_corner(&w, &r->s[i])) return true;
        if (here / n.z <= z_in && r->z_out >= out && r->steps > MOST_STEPS / 4) return true;
        z_in = fmax(z_in, here / n.z);
        replace(r, &w);
    }
    return false;
}

/* The simplex of the last query, if it still surrounds the ray. */
static bool recall(ray *r, const abut_convex_cache *cache) {
    const abut_convex *a = r->pair->a, *b = r->pair->b;
    if (!cache || cache->count != 3 || !r->is_hulls) return false;
    for (int i = 0; i < 3; i++) {
        int32_t va = cache->a[i], vb = cache->b[i];
        if (va < 0 || va >= a->hull->vertex_count || vb < 0 || vb >= b->hull->vertex_count) return false;
        r->s[i] = make_corner(r, hull_vertices(a->hull)[va], hull_vertices(b->hull)[vb], va, vb);
    }
    return cross2(r->s[0].k, r->s[1].k) > 0 && cross2(r->s[1].k, r->s[2].k) > 0 &&
           cross2(r->s[2].k, r->s[0].k) > 0;
}

static void remember(const ray *r, abut_convex_cache *cache) {
    if (!cache) return;
    cache->count = 3;
    for (int i = 0; i < 3; i++) cache->a[i] = r->s[i].va, cache->b[i] = r->s[i].vb;
}

/* ---- polishing: the exact normal of the features that the ray found */

/* Measures a direction near n_out with honest supports, and takes it when it bounds the ray as low within
 * `loss`: the normal of a feature is better than the same computed from a simplex. */
static void prefer(ray *r, vec3 n, double loss) {
    if (!(n.z > 0)) return;
    const abut_hull *a = r->pair->a->hull, *b = r->pair->b->hull;
    int32_t va = hull_climb(a, mat3_tmul_vec(r->ra, n), r->w_out.va);
    int32_t vb = hull_climb(b, vec3_neg(mat3_tmul_vec(r->rb, n)), r->w_out.vb);
    corner w = make_corner(r, hull_vertices(a)[va], hull_vertices(b)[vb], va, vb);
    double z = vec3_dot(n, w.k) / n.z;
    if (z <= r->z_out + loss) r->z_out = z, r->n_out = n, r->w_out = w;
}

/* Where the ray leaves through an edge or a corner of K, many normals are equally good: an arc or a region of
 * them.  The one nearest to the ray is taken, so that a ridge that lies on a ridge is pressed square. */
static void straighten(ray *r) {
    double tiny = 1e-12 * r->pair->size, least = INFINITY;
    int on = 0;
    for (int i = 0; i < 3; i++) {
        vec3 p = r->s[i].k, e = vec3_sub(r->s[(i + 1) % 3].k, p);
        double off = fabs(cross2(e, p)) / sqrt(e.x * e.x + e.y * e.y);
        if (off < least) least = off, on = i;
    }
    if (!(least <= tiny)) return;
    double loss = 4 * AGREE * r->pair->size;
    vec3 z = {0, 0, 1}, e = vec3_unit(vec3_sub(r->s[(on + 1) % 3].k, r->s[on].k));
    prefer(r, vec3_unit(vec3_axpy(z, -e.z, e)), loss);
    for (int i = 0; i < 3; i++)
        if (vec3_length(vec3_make(r->s[i].k.x, r->s[i].k.y, 0)) <= tiny) prefer(r, z, loss);
}

static vec3 edge_vector(const abut_hull *h, int32_t edge) {
    const hull_edge *e = &hull_edges(h)[edge];
    return vec3_sub(hull_vertices(h)[e->vertex[1]], hull_vertices(h)[e->vertex[0]]);
}

/* If the direction is, within `near` radians, the normal of a face or orthogonal to an edge of each, then
 * that exactly. */
static void polish(ray *r) {
    const abut_hull *a = r->pair->a->hull, *b = r->pair->b->hull;
    const double near = 1e-6, loss = 4 * AGREE * r->pair->size;
    vec3 n = vec3_unit(r->n_out);
    abut_feature fa = hull_feature(a, mat3_tmul_vec(r->ra, n), r->w_out.va, near);
    abut_feature fb = hull_feature(b, vec3_neg(mat3_tmul_vec(r->rb, n)), r->w_out.vb, near);
    if (fa.kind == ABUT_FEATURE_FACE) {
        prefer(r, mat3_mul_vec(r->ra, hull_faces(a)[fa.id].n), loss);
    } else if (fb.kind == ABUT_FEATURE_FACE) {
        prefer(r, vec3_neg(mat3_mul_vec(r->rb, hull_faces(b)[fb.id].n)), loss);
    } else if (fa.kind == ABUT_FEATURE_EDGE && fb.kind == ABUT_FEATURE_EDGE) {
        vec3 ea = mat3_mul_vec(r->ra, edge_vector(a, fa.id)), eb = mat3_mul_vec(r->rb, edge_vector(b, fb.id));
        vec3 cross = vec3_cross(ea, eb);
        bool parallel = vec3_length2(cross) <= near * near * vec3_length2(ea) * vec3_length2(eb);
        if (!parallel) prefer(r, vec3_unit(cross.z > 0 ? cross : vec3_neg(cross)), loss);
    }
}

/* ---- */

/* Ray axes: z along c, x and y any. */
static void aim(ray *r, const convex_pair *p) {
    r->pair = p, r->length = vec3_length(p->c), r->z_out = INFINITY;
    r->is_hulls = p->a->kind == ABUT_CONVEX_HULL && p->b->kind == ABUT_CONVEX_HULL;
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

abut_status convex_grow(const convex_pair *p, double far_distance, abut_convex_cache *cache,
                        convex_touch *out) {
    ray r = {.far_distance = far_distance};
    aim(&r, p);
    surround_result start = recall(&r, cache) ? SURROUNDED : surround(&r);
    bool simplex = start == SURROUNDED, done = r.is_far || start == THROUGH_CORNER || (simplex && raise(&r));
    if (simplex && done) remember(&r, cache);
    if (r.is_hulls && simplex && !r.is_far) straighten(&r), polish(&r);
    double length = vec3_length(r.n_out);
    out->n = mat3_mul_vec(r.frame, vec3_scale(r.n_out, 1 / length));
    out->extent = vec3_dot(r.n_out, r.w_out.k) / length;
    out->growth = r.length / r.z_out;
    out->support[0] = r.w_out.va, out->support[1] = r.w_out.vb;
    out->iterations = r.steps, out->is_far = r.is_far;
    find_witness(&r, simplex, out);
    return done ? ABUT_OK : ABUT_BUDGET;
}
