/* The predicates' filters and exact stages.
 *
 * Each filter computes a determinant and a bound on its error: roundings counted term by term, each a factor
 * (1 + d) with |d| <= u = 2^-53, k of them together at most k u (1 + k u); the terms bounded by the largest
 * entry of each column (m_x, m_y, ...), which costs a few max instead of a second determinant.  A constant a
 * little above the count pays for the rounding of the bound itself.  A product that underflows is off by
 * 2^-1075 more, times what it is multiplied with later: that is the PREDICATE_TINY term.  Where something
 * overflows, the bound is infinite or the determinant not a number; both comparisons fail and the exact stage
 * decides.  Comments below give the counts. */
#include "math/predicates.h"

#include "math/exact.h"

#define OUT_OF_LINE __attribute__((noinline))

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double larger3(double a, double b, double c) {
    return larger(fabs(a), larger(fabs(b), fabs(c)));
}

/* ---- exact stages: in one-word integers where the exponents are close together, else in large ones */

typedef struct integer3 {
    integer x, y, z;
} integer3;

static void cover3(exact_span *span, vec3 v) {
    exact_cover(span, v.x), exact_cover(span, v.y), exact_cover(span, v.z);
}

static integer3 make3(exact_pool *pool, vec3 v, exact_span span) {
    return (integer3){exact_make(pool, v.x, span.low), exact_make(pool, v.y, span.low),
                      exact_make(pool, v.z, span.low)};
}

static integer3 sub3(exact_pool *pool, integer3 a, integer3 b) {
    return (integer3){exact_sub(pool, a.x, b.x), exact_sub(pool, a.y, b.y), exact_sub(pool, a.z, b.z)};
}

static integer dot3(exact_pool *pool, integer3 a, integer3 b) {
    return exact_add(pool, exact_add(pool, exact_mul(pool, a.x, b.x), exact_mul(pool, a.y, b.y)),
                     exact_mul(pool, a.z, b.z));
}

/* a . (b x c) */
static int sign_triple(exact_pool *pool, integer3 a, integer3 b, integer3 c) {
    integer3 cross = {exact_det2(pool, b.y, b.z, c.y, c.z), exact_det2(pool, b.z, b.x, c.z, c.x),
                      exact_det2(pool, b.x, b.y, c.x, c.y)};
    return dot3(pool, a, cross).sign;
}

typedef struct small3 {
    int64_t x, y, z;
} small3;

static small3 small_make3(vec3 v, exact_span span) {
    return (small3){exact_small(v.x, span), exact_small(v.y, span), exact_small(v.z, span)};
}

/* Entries up to 2^62: minors up to 2^125, three products up to 2^187. */
static int small_sign_triple(small3 a, small3 b, small3 c) {
    int256 x = exact_wide_mul(a.x, exact_small_det2(b.y, b.z, c.y, c.z));
    int256 y = exact_wide_mul(a.y, exact_small_det2(b.z, b.x, c.z, c.x));
    int256 z = exact_wide_mul(a.z, exact_small_det2(b.x, b.y, c.x, c.y));
    return exact_wide_sign(exact_wide_add(exact_wide_add(x, y), z));
}

static small3 small_sub3(small3 a, small3 b) { return (small3){a.x - b.x, a.y - b.y, a.z - b.z}; }

OUT_OF_LINE static int orient3d_exact(vec3 a, vec3 b, vec3 c, vec3 d) {
    exact_span span = EXACT_NO_BITS;
    cover3(&span, a), cover3(&span, b), cover3(&span, c), cover3(&span, d);
    if (exact_is_small(span)) {
        small3 o = small_make3(a, span);
        return small_sign_triple(small_sub3(small_make3(d, span), o), small_sub3(small_make3(b, span), o),
                                 small_sub3(small_make3(c, span), o));
    }
    exact_pool pool;
    exact_begin(&pool);
    integer3 o = make3(&pool, a, span);
    integer3 ab = sub3(&pool, make3(&pool, b, span), o), ac = sub3(&pool, make3(&pool, c, span), o),
             ad = sub3(&pool, make3(&pool, d, span), o);
    return sign_triple(&pool, ad, ab, ac);
}

OUT_OF_LINE int orient2d_exact(double ax, double ay, double bx, double by, double cx, double cy) {
    exact_span x = EXACT_NO_BITS, y = EXACT_NO_BITS;
    exact_cover(&x, ax), exact_cover(&x, bx), exact_cover(&x, cx);
    exact_cover(&y, ay), exact_cover(&y, by), exact_cover(&y, cy);
    if (exact_is_small(x) && exact_is_small(y)) {
        int64_t ox = exact_small(cx, x), oy = exact_small(cy, y);
        int128 det = exact_small_det2(exact_small(ax, x) - ox, exact_small(ay, y) - oy,
                                      exact_small(bx, x) - ox, exact_small(by, y) - oy);
        return (det > 0) - (det < 0);
    }
    exact_pool pool;
    exact_begin(&pool);
    integer ox = exact_make(&pool, cx, x.low), oy = exact_make(&pool, cy, y.low);
    return exact_det2(&pool, exact_sub(&pool, exact_make(&pool, ax, x.low), ox),
                      exact_sub(&pool, exact_make(&pool, ay, y.low), oy),
                      exact_sub(&pool, exact_make(&pool, bx, x.low), ox),
                      exact_sub(&pool, exact_make(&pool, by, y.low), oy))
        .sign;
}

/* The coefficients (n, d) of a plane at one power of two. */
typedef struct plane_integers {
    integer3 n;
    integer d;
} plane_integers;

typedef struct small_plane {
    small3 n;
    int64_t d;
} small_plane;

static exact_span span_of_plane(plane p) {
    exact_span span = EXACT_NO_BITS;
    cover3(&span, p.n), exact_cover(&span, p.d);
    return span;
}

static plane_integers make_plane(exact_pool *pool, plane p) {
    exact_span span = span_of_plane(p);
    return (plane_integers){make3(pool, p.n, span), exact_make(pool, p.d, span.low)};
}

static bool small_make_plane(plane p, small_plane *small) {
    exact_span span = span_of_plane(p);
    if (!exact_is_small(span)) return false;
    *small = (small_plane){small_make3(p.n, span), exact_small(p.d, span)};
    return true;
}

/* n . x - d w for the homogeneous point (x, w). */
static integer plane_value(exact_pool *pool, plane_integers p, integer3 x, integer w) {
    return exact_sub(pool, dot3(pool, p.n, x), exact_mul(pool, p.d, w));
}

/* The same; entries below 2^61, so that the value is below 2^124. */
static int128 small_plane_value(small_plane p, small3 x, int64_t w) {
    return (int128)p.n.x * x.x + (int128)p.n.y * x.y + (int128)p.n.z * x.z - (int128)p.d * w;
}

OUT_OF_LINE int side_of_plane_exact(plane p, vec3 x) {
    exact_span span = EXACT_NO_BITS;
    cover3(&span, x), exact_cover(&span, 1);
    small_plane small;
    if (exact_is_small(span) && small_make_plane(p, &small)) {
        int128 value = small_plane_value(small, small_make3(x, span), exact_small(1, span));
        return (value > 0) - (value < 0);
    }
    exact_pool pool;
    exact_begin(&pool);
    return plane_value(&pool, make_plane(&pool, p), make3(&pool, x, span), exact_make(&pool, 1, span.low))
        .sign;
}

OUT_OF_LINE static int planes_orientation_exact(plane p, plane q, plane r) {
    small_plane a, b, c;
    p.d = q.d = r.d = 0;
    if (small_make_plane(p, &a) && small_make_plane(q, &b) && small_make_plane(r, &c))
        return small_sign_triple(a.n, b.n, c.n);
    exact_pool pool;
    exact_begin(&pool);
    return sign_triple(&pool, make_plane(&pool, p).n, make_plane(&pool, q).n, make_plane(&pool, r).n);
}

/* The expansion of a 4x4 determinant by the minors of the columns x, y (rows i, j) and z, d (rows k, l). */
static const int laplace[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                                  {1, 2, 0, 3}, {3, 1, 0, 2}, {2, 3, 0, 1}};

/* Entries below 2^61: minors below 2^123, six products below 2^246. */
static int small_det4(const small_plane *row) {
    int256 sum = {{0}};
    for (int t = 0; t < 6; t++) {
        const small_plane *i = &row[laplace[t][0]], *j = &row[laplace[t][1]], *k = &row[laplace[t][2]],
                          *l = &row[laplace[t][3]];
        int128 xy = exact_small_det2(i->n.x, i->n.y, j->n.x, j->n.y);
        int128 zd = exact_small_det2(k->n.z, k->d, l->n.z, l->d);
        sum = exact_wide_add(sum, exact_wide_mul(xy, zd));
    }
    return exact_wide_sign(sum);
}

/* det of the rows (n, d) */
OUT_OF_LINE static int planes_det4_exact(plane p, plane q, plane r, plane s) {
    small_plane small[4];
    if (small_make_plane(p, &small[0]) && small_make_plane(q, &small[1]) && small_make_plane(r, &small[2]) &&
        small_make_plane(s, &small[3]))
        return small_det4(small);
    exact_pool pool;
    exact_begin(&pool);
    plane_integers row[4] = {make_plane(&pool, p), make_plane(&pool, q), make_plane(&pool, r),
                             make_plane(&pool, s)};
    integer sum = {0, 0, pool.words};
    for (int t = 0; t < 6; t++) {
        const plane_integers *i = &row[laplace[t][0]], *j = &row[laplace[t][1]], *k = &row[laplace[t][2]],
                             *l = &row[laplace[t][3]];
        integer xy = exact_det2(&pool, i->n.x, i->n.y, j->n.x, j->n.y);
        integer zd = exact_det2(&pool, k->n.z, k->d, l->n.z, l->d);
        sum = exact_add(&pool, sum, exact_mul(&pool, xy, zd));
    }
    return sum.sign;
}

/* S(a) P(b) - P(a) S(b), with P(x) = n_p . x - d_p */
OUT_OF_LINE static int line_meet_exact(vec3 a, vec3 b, plane p, plane s) {
    exact_span span = EXACT_NO_BITS;
    cover3(&span, a), cover3(&span, b), exact_cover(&span, 1);
    small_plane sp, ss;
    if (exact_is_small(span) && small_make_plane(p, &sp) && small_make_plane(s, &ss)) {
        small3 x = small_make3(a, span), y = small_make3(b, span);
        int64_t w = exact_small(1, span);
        int256 first = exact_wide_mul(small_plane_value(ss, x, w), small_plane_value(sp, y, w));
        int256 second = exact_wide_mul(small_plane_value(sp, x, w), -small_plane_value(ss, y, w));
        return exact_wide_sign(exact_wide_add(first, second));
    }
    exact_pool pool;
    exact_begin(&pool);
    integer w = exact_make(&pool, 1, span.low);
    integer3 ia = make3(&pool, a, span), ib = make3(&pool, b, span);
    plane_integers ip = make_plane(&pool, p), is = make_plane(&pool, s);
    return exact_det2(&pool, plane_value(&pool, is, ia, w), plane_value(&pool, ip, ia, w),
                      plane_value(&pool, is, ib, w), plane_value(&pool, ip, ib, w))
        .sign;
}

/* n . (b - a) */
OUT_OF_LINE static int side_of_direction_exact(vec3 n, vec3 a, vec3 b) {
    exact_span span = EXACT_NO_BITS, normal = EXACT_NO_BITS;
    cover3(&span, a), cover3(&span, b), cover3(&normal, n);
    exact_pool pool;
    exact_begin(&pool);
    return dot3(&pool, make3(&pool, n, normal), sub3(&pool, make3(&pool, b, span), make3(&pool, a, span)))
        .sign;
}

/* ---- filters */

/* Roundings of a term: 3 differences, product, subtraction, product, 2 sums = 8; 6 terms of at most
 * m_x m_y m_z: |error| <= 48u m_x m_y m_z.  Products of x and y entries are multiplied by a z entry. */
int orient3d(vec3 a, vec3 b, vec3 c, vec3 d) {
    vec3 ab = vec3_sub(b, a), ac = vec3_sub(c, a), ad = vec3_sub(d, a);
    double det = ad.z * (ab.x * ac.y - ab.y * ac.x) + ab.z * (ac.x * ad.y - ac.y * ad.x) +
                 ac.z * (ad.x * ab.y - ad.y * ab.x);
    double mx = larger3(ab.x, ac.x, ad.x), my = larger3(ab.y, ac.y, ad.y), mz = larger3(ab.z, ac.z, ad.z);
    double bound = 49 * PREDICATE_U * (mx * my * mz) + PREDICATE_TINY * (mz + 1);
    if (det > bound) return 1;
    if (det < -bound) return -1;
    if (mx == 0 || my == 0 || mz == 0) return 0; /* a difference is computed 0 only when it is 0 */
    return orient3d_exact(a, b, c, d);
}

/* As orient3d without the differences: 5 roundings, |error| <= 30u m_x m_y m_z. */
int planes_orientation(plane p, plane q, plane r) {
    double det = p.n.z * (q.n.x * r.n.y - q.n.y * r.n.x) + q.n.z * (r.n.x * p.n.y - r.n.y * p.n.x) +
                 r.n.z * (p.n.x * q.n.y - p.n.y * q.n.x);
    double mx = larger3(p.n.x, q.n.x, r.n.x), my = larger3(p.n.y, q.n.y, r.n.y),
           mz = larger3(p.n.z, q.n.z, r.n.z);
    double bound = 31 * PREDICATE_U * (mx * my * mz) + PREDICATE_TINY * (mz + 1);
    if (det > bound) return 1;
    if (det < -bound) return -1;
    return planes_orientation_exact(p, q, r);
}

/* Sign of the determinant of the rows (n, d): a term has two minors of 2 roundings, their product, 3 levels
 * of sums = 8; 24 terms: |error| <= 192u m_x m_y m_z m_d. */
static inline int planes_det4(plane p, plane q, plane r, plane s) {
#define XY(a, b) (a.n.x * b.n.y - a.n.y * b.n.x)
#define ZD(a, b) (a.n.z * b.d - a.d * b.n.z)
    double det = (XY(p, q) * ZD(r, s) + XY(p, r) * ZD(s, q)) + (XY(p, s) * ZD(q, r) + XY(q, r) * ZD(p, s)) +
                 (XY(s, q) * ZD(p, r) + XY(r, s) * ZD(p, q));
#undef XY
#undef ZD
    double mx = larger(larger3(p.n.x, q.n.x, r.n.x), fabs(s.n.x));
    double my = larger(larger3(p.n.y, q.n.y, r.n.y), fabs(s.n.y));
    double mz = larger(larger3(p.n.z, q.n.z, r.n.z), fabs(s.n.z));
    double md = larger(larger3(p.d, q.d, r.d), fabs(s.d));
    double xy = mx * my, zd = mz * md;
    double bound = 194 * PREDICATE_U * (xy * zd) + PREDICATE_TINY * (xy + zd + 1);
    if (det > bound) return 1;
    if (det < -bound) return -1;
    return planes_det4_exact(p, q, r, s);
}

/* With N the matrix of the three normals, x = N^-1 d, and by the Schur complement det4 of the rows (n, d) is
 * det3 (d_s - n_s . x). */
int side_of_meet(plane p, plane q, plane r, plane s) {
    return -planes_det4(p, q, r, s) * planes_orientation(p, q, r);
}

/* Roundings of a term of n . (b - a): difference, product, 2 sums = 4. */
static inline int side_of_direction(vec3 n, vec3 a, vec3 b) {
    double tx = n.x * (b.x - a.x), ty = n.y * (b.y - a.y), tz = n.z * (b.z - a.z), value = tx + ty + tz;
    double bound = 5 * PREDICATE_U * (fabs(tx) + fabs(ty) + fabs(tz)) + PREDICATE_TINY;
    if (value > bound) return 1;
    if (value < -bound) return -1;
    return side_of_direction_exact(n, a, b);
}

/* n . x - d, and the sum of the sizes of its terms: |error| <= 4u size. */
static inline double value_and_size(plane p, vec3 x, double *size) {
    double tx = p.n.x * x.x, ty = p.n.y * x.y, tz = p.n.z * x.z;
    *size = fabs(tx) + fabs(ty) + fabs(tz) + fabs(p.d);
    return tx + ty + tz - p.d;
}

/* The point is a + (b - a) t with t = P(a) / (P(a) - P(b)), where P(x) = n_p . x - d_p; its side is
 * S(a) + t (S(b) - S(a)) = (S(a) P(b) - P(a) S(b)) / (P(b) - P(a)), and P(b) - P(a) = n_p . (b - a).
 * A product of two values v, w of size V, W is off by |v| 4u W + |w| 4u V + 16 u^2 V W + u |v w|, where the
 * last part is at most u |v| W. */
int side_of_line_meet(vec3 a, vec3 b, plane p, plane s) {
    double size_pa, size_pb, size_sa, size_sb;
    double pa = value_and_size(p, a, &size_pa), pb = value_and_size(p, b, &size_pb);
    double sa = value_and_size(s, a, &size_sa), sb = value_and_size(s, b, &size_sb);
    double det = sa * pb - pa * sb;
    double first = fabs(sa) * size_pb + fabs(pb) * size_sa + fabs(pa) * size_sb + fabs(sb) * size_pa;
    double second = size_sa * size_pb + size_pa * size_sb;
    double bound = 6 * PREDICATE_U * first + 18 * PREDICATE_U * PREDICATE_U * second +
                   PREDICATE_TINY * (size_pa + size_pb + size_sa + size_sb + 1);
    int sign = det > bound ? 1 : det < -bound ? -1 : line_meet_exact(a, b, p, s);
    return sign * side_of_direction(p.n, a, b);
}

/* Cramer: x = (d_p n_q x n_r + d_q n_r x n_p + d_r n_p x n_q) / det3. */
vec3 planes_meet(plane p, plane q, plane r) {
    vec3 qr = vec3_cross(q.n, r.n), rp = vec3_cross(r.n, p.n), pq = vec3_cross(p.n, q.n);
    vec3 sum = vec3_axpy(vec3_axpy(vec3_scale(qr, p.d), q.d, rp), r.d, pq);
    return vec3_scale(sum, 1 / vec3_dot(p.n, qr));
}
