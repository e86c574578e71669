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
    STALL_STEPS = 100, /* from here on, no progress means that only rounding is left */
    LEAN_ROUNDS = 4    /* of surrounding the ray with directions that lean; horizontal ones cannot fail */
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
    int steps;
    bool is_hulls, is_far;
    double z_out; /* least bound from outside, */
    vec3 n_out;   /* the direction that gave it, */
    corner w_out; /* and its support point */
    corner s[3];  /* the simplex, counter-clockwise seen from +z */
} ray;

/* Ray axes: z along c, x and y any. */
static void aim(ray *r, const convex_pair *p, double far_distance) {
    r->pair = p, r->length = vec3_length(p->c), r->far_distance = far_distance;
    r->steps = 0, r->is_far = false, r->z_out = INFINITY;
    r->is_hulls = p->a->kind == ABUT_CONVEX_HULL && p->b->kind == ABUT_CONVEX_HULL;
    vec3 z = vec3_scale(p->c, 1 / r->length), x = vec3_orthogonal(z);
    r->frame = (mat3){x, vec3_cross(z, x), z};
    mat3 turn = mat3_transpose(r->frame);
    r->ra = mat3_mul(turn, p->ra), r->rb = mat3_mul(turn, p->rb);
}

/* What n with support point w tells about the ray. */
static inline void bound(ray *r, vec3 n, const corner *w) {
    if (!(n.z > 0)) return;
    double h = vec3_dot(n, w->k), z = h / n.z, gap = n.z * r->length - h;
    if (z < r->z_out) r->z_out = z, r->n_out = n, r->w_out = *w;
    if (gap > 0 && gap * gap > r->far_distance * r->far_distance * vec3_length2(n)) r->is_far = true;
}

static inline void make_corner(const ray *r, vec3 a, vec3 b, int32_t va, int32_t vb, corner *w) {
    w->a = mat3_mul_vec(r->ra, a), w->va = va, w->vb = vb;
    w->k = vec3_sub(w->a, mat3_mul_vec(r->rb, b));
}

/* w = S(n) */
static void reach(ray *r, vec3 n, corner *w) {
    int32_t va, vb;
    vec3 a = shape_support(r->pair->a, mat3_tmul_vec(r->ra, n), &va);
    vec3 b = shape_support(r->pair->b, vec3_neg(mat3_tmul_vec(r->rb, n)), &vb);
    make_corner(r, a, b, va, vb, w);
    r->steps++;
    bound(r, n, w);
}

/* x, y plane */
static inline double cross2(vec3 a, vec3 b) { return a.x * b.y - a.y * b.x; }
static inline double square2(vec3 a) { return a.x * a.x + a.y * a.y; }

/* ---- surrounding the ray */

/* Takes the support point of a leaning direction; if its shadow does not pass the origin, of the horizontal
 * one, whose shadow does, because the origin is inside K. */
static void pass(ray *r, vec3 leaning, vec3 side, corner *w) {
    reach(r, leaning, w);
    double past = vec3_dot(side, w->k), tiny = 1e-12 * r->pair->size;
    if (!(past > 0 && past * past > tiny * tiny * square2(side))) reach(r, side, w);
}

/* A direction orthogonal to the edge that leans from up to sideways (the left of the edge's shadow) by
 * `slope`. */
static vec3 lean(vec3 edge, vec3 side, double slope) {
    double flat = square2(edge), level = sqrt(edge.z * edge.z + flat);
    vec3 up = {-edge.x * edge.z, -edge.y * edge.z, flat};
    return vec3_axpy(up, level * slope, side);
}

typedef enum surround_result { SURROUNDED, THROUGH_CORNER, TOO_FLAT } surround_result;

/* Puts three corners, counter-clockwise, around the ray: GJK in the plane of shadows. */
static surround_result surround(ray *r) {
    corner *s = r->s;
    reach(r, vec3_make(0, 0, 1), &s[0]);
    double off = sqrt(square2(s[0].k));
    if (off <= AGREE * r->pair->size || r->is_far) return THROUGH_CORNER;
    vec3 back = vec3_make(-s[0].k.x, -s[0].k.y, 0);
    double slope = fmin(shape_lean(r->pair->a), shape_lean(r->pair->b));
    pass(r, vec3_make(back.x * slope, back.y * slope, off), back, &s[1]);
    for (int round = 0; r->steps < MOST_STEPS && !r->is_far; round++) {
        if (cross2(s[0].k, s[1].k) < 0) {
            corner swap = s[0];
            s[0] = s[1], s[1] = swap;
        }
        vec3 edge = vec3_sub(s[1].k, s[0].k), side = vec3_make(-edge.y, edge.x, 0);
        if (round < LEAN_ROUNDS)
            pass(r, lean(edge, side, slope), side, &s[2]);
        else
            reach(r, side, &s[2]);
        if (!(cross2(edge, vec3_sub(s[2].k, s[0].k)) > 0)) return TOO_FLAT;
        if (cross2(s[1].k, s[2].k) < 0)
            s[0] = s[2];
        else if (cross2(s[2].k, s[0].k) < 0)
            s[1] = s[2];
        else
            return SURROUNDED;
    }
    return TOO_FLAT;
}

/* The simplex of the last query, if it still surrounds the ray. */
static bool recall(ray *r, const abut_convex_cache *cache) {
    if (!cache || cache->count != 3 || !r->is_hulls) return false;
    const abut_hull *a = r->pair->a->hull, *b = r->pair->b->hull;
    for (int i = 0; i < 3; i++) {
        int32_t va = cache->a[i], vb = cache->b[i];
        if (va < 0 || va >= a->vertex_count || vb < 0 || vb >= b->vertex_count) return false;
        make_corner(r, hull_vertex(a, va), hull_vertex(b, vb), va, vb, &r->s[i]);
    }
    const corner *s = r->s;
    return cross2(s[0].k, s[1].k) > 0 && cross2(s[1].k, s[2].k) > 0 && cross2(s[2].k, s[0].k) > 0;
}

static void remember(const ray *r, abut_convex_cache *cache) {
    if (!cache) return;
    cache->count = 3;
    for (int i = 0; i < 3; i++) cache->a[i] = r->s[i].va, cache->b[i] = r->s[i].vb;
}

/* ---- raising the simplex */

/* w replaces a corner so that the ray stays inside: the wedge of shadows opposite to w's holds (s_i, s_i+1).
 */
static void replace(ray *r, const corner *w) {
    double side[3];
    for (int i = 0; i < 3; i++) side[i] = cross2(w->k, r->s[i].k);
    int leaves = 0;
    for (int i = 0; i < 3; i++) {
        int j = i < 2 ? i + 1 : 0;
        if (side[i] >= 0 && side[j] <= 0 && (side[i] > 0 || side[j] < 0)) leaves = 3 - i - j;
    }
    r->s[leaves] = *w;
}

static bool is_corner(const ray *r, const corner *w) {
    bool found = false;
    for (int i = 0; i < 3; i++) found |= w->va == r->s[i].va && w->vb == r->s[i].vb;
    return found;
}

/* Raises the simplex until the bounds agree, or until nothing moves any more: then rounding is all that
 * separates them, and polishing decides.  False when the budget is used up. */
static bool raise(ray *r) {
    double tolerance = AGREE * r->pair->size, z_in = -INFINITY;
    while (r->steps < MOST_STEPS) {
        vec3 k0 = r->s[0].k, n = vec3_cross(vec3_sub(r->s[1].k, k0), vec3_sub(r->s[2].k, k0));
        if (!(n.z > 0)) return true;
        double here = vec3_dot(n, k0), out = r->z_out;
        corner w;
        reach(r, n, &w);
        double above = vec3_dot(n, w.k) - here;
        if (r->is_far || above <= 0 || above * above <= tolerance * tolerance * vec3_length2(n)) return true;
        if (r->is_hulls && is_corner(r, &w)) return true;
        if (r->steps > STALL_STEPS) {
            if (here / n.z <= z_in && r->z_out >= out) return true;
            z_in = fmax(z_in, here / n.z);
        }
        replace(r, &w);
    }
    return false;
}

/* ---- polishing: the exact normal of the features that the ray found */

/* Measures a direction near n_out with honest supports, and takes it when it bounds the ray as low within
 * rounding: the normal of a feature is better than the same computed from a simplex. */
static bool prefer(ray *r, vec3 n) {
    if (!(n.z > 0)) return false;
    const abut_hull *a = r->pair->a->hull, *b = r->pair->b->hull;
    int32_t va = hull_climb(a, mat3_tmul_vec(r->ra, n), r->w_out.va);
    int32_t vb = hull_climb(b, vec3_neg(mat3_tmul_vec(r->rb, n)), r->w_out.vb);
    corner w;
    make_corner(r, hull_vertex(a, va), hull_vertex(b, vb), va, vb, &w);
    double z = vec3_dot(n, w.k) / n.z;
    if (!(z <= r->z_out + 4 * AGREE * r->pair->size)) return false;
    r->z_out = z, r->n_out = n, r->w_out = w;
    return true;
}

/* Where the ray leaves through an edge or a corner of K, many normals are equally good: an arc or a region of
 * them.  The one nearest to the ray is taken, so that a ridge that lies on a ridge is pressed square. */
static void straighten(ray *r) {
    double tiny = 1e-12 * r->pair->size;
    const vec3 z = {0, 0, 1};
    for (int i = 0; i < 3; i++) {
        vec3 p = r->s[i].k, e = vec3_sub(r->s[i < 2 ? i + 1 : 0].k, p);
        double area = cross2(e, p);
        if (area * area > tiny * tiny * square2(e)) continue;
        vec3 along = vec3_unit(e);
        prefer(r, vec3_unit(vec3_axpy(z, -along.z, along)));
        if (square2(p) <= tiny * tiny) prefer(r, z);
    }
}

/* How many different vertices of A (or of B) the simplex has: a face shows three of one and one of the other,
 * two edges two of each. */
static int count_different(int32_t a, int32_t b, int32_t c) { return 1 + (b != a) + (c != a && c != b); }

/* Takes the normal of the face of A (or B) that faces n_out within a millionth, if there is one. */
static bool prefer_face(ray *r, bool of_a, convex_touch *out) {
    const abut_hull *h = of_a ? r->pair->a->hull : r->pair->b->hull;
    const mat3 *turn = of_a ? &r->ra : &r->rb, *world = of_a ? &r->pair->ra : &r->pair->rb;
    vec3 n = mat3_tmul_vec(*turn, vec3_unit(r->n_out));
    abut_feature f = hull_feature(h, of_a ? n : vec3_neg(n), of_a ? r->w_out.va : r->w_out.vb, 1e-6);
    if (f.kind != ABUT_FEATURE_FACE) return false;
    vec3 face = hull_faces(h)[f.id].n;
    if (!of_a) face = vec3_neg(face);
    if (!prefer(r, mat3_mul_vec(*turn, face))) return false;
    out->n = mat3_mul_vec(*world, face), out->face[!of_a] = f.id;
    return true;
}

/* The normal of the simplex is the cross product of two edges already, where it stands on two edges. */
static bool polish(ray *r, convex_touch *out) {
    const corner *s = r->s;
    int a = count_different(s[0].va, s[1].va, s[2].va), b = count_different(s[0].vb, s[1].vb, s[2].vb);
    return (a == 3 && prefer_face(r, true, out)) || (b == 3 && prefer_face(r, false, out));
}

/* ---- */

/* Weights of the shadows' corners at the origin give the point where the ray leaves, as a point of A and one
 * of B. */
static void find_witness(const ray *r, bool is_simplex, convex_touch *out) {
    double w[3] = {1, 0, 0}, sum = 0;
    for (int i = 0; i < 3 && is_simplex; i++)
        sum += w[i] = fmax(0, cross2(r->s[(i + 1) % 3].k, r->s[(i + 2) % 3].k));
    vec3 a = r->s[0].a, k = r->s[0].k;
    if (sum > 0) {
        a = vec3_scale(a, w[0] / sum), k = vec3_scale(k, w[0] / sum);
        for (int i = 1; i < 3; i++)
            a = vec3_axpy(a, w[i] / sum, r->s[i].a), k = vec3_axpy(k, w[i] / sum, r->s[i].k);
    }
    out->witness[0] = mat3_mul_vec(r->frame, a);
    out->witness[1] = mat3_mul_vec(r->frame, vec3_sub(a, k));
}

/* Whether the direction that showed the shapes far apart the last time still does: most pairs whose boxes
 * overlap are apart, and stay so. */
static bool is_still_far(const convex_pair *p, double far_distance, const abut_convex_cache *cache,
                         convex_touch *out) {
    if (!cache || cache->count != -1 || !(fabs(vec3_length2(cache->axis) - 1) < 1e-9)) return false;
    *out = (convex_touch){.n = mat3_mul_vec(p->ra, cache->axis), .face = {-1, -1}, .iterations = 1};
    out->extent = convex_extent(p, out->n, out->support, out->witness);
    double along = vec3_dot(out->n, p->c);
    out->growth = along / out->extent, out->is_far = along - out->extent > far_distance;
    return out->is_far;
}

static void remember_axis(const convex_pair *p, vec3 n, abut_convex_cache *cache) {
    if (cache) *cache = (abut_convex_cache){.count = -1, .axis = mat3_tmul_vec(p->ra, n)};
}

abut_status convex_grow(const convex_pair *p, double far_distance, abut_convex_cache *cache,
                        convex_touch *out) {
    if (is_still_far(p, far_distance, cache, out)) return ABUT_OK;
    ray r;
    aim(&r, p, far_distance);
    surround_result start = recall(&r, cache) ? SURROUNDED : surround(&r);
    bool simplex = start == SURROUNDED, done = r.is_far || start == THROUGH_CORNER || (simplex && raise(&r));
    out->face[0] = out->face[1] = -1;
    bool polished = false;
    if (r.is_hulls && simplex && !r.is_far) {
        if (done) remember(&r, cache);
        straighten(&r);
        polished = polish(&r, out);
    }
    double length = polished ? 1 : vec3_length(r.n_out);
    if (!polished) out->n = mat3_mul_vec(r.frame, vec3_scale(r.n_out, 1 / length));
    out->extent = vec3_dot(r.n_out, r.w_out.k) / length;
    out->growth = r.length / r.z_out;
    out->support[0] = r.w_out.va, out->support[1] = r.w_out.vb;
    out->iterations = r.steps, out->is_far = r.is_far, out->is_coincident = false;
    find_witness(&r, simplex, out);
    if (r.is_far) remember_axis(p, out->n, cache);
    return done ? ABUT_OK : ABUT_BUDGET;
}

double convex_extent(const convex_pair *p, vec3 n, int32_t support[2], vec3 witness[2]) {
    witness[0] = mat3_mul_vec(p->ra, shape_support(p->a, mat3_tmul_vec(p->ra, n), &support[0]));
    witness[1] = mat3_mul_vec(p->rb, shape_support(p->b, vec3_neg(mat3_tmul_vec(p->rb, n)), &support[1]));
    return vec3_dot(n, vec3_sub(witness[0], witness[1]));
}
