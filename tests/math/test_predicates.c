/* The predicates against three oracles that share no code with them: __int128 on grids of integers, floating
 * point expansions (Shewchuk 1997) for any doubles of moderate size, and constructions whose sign is known
 * from exponents alone for the extremes.  Then the symmetries that signs of determinants have. */
#include "math/predicates.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>

__extension__ typedef __int128 int128;

static int sign128(int128 x) { return (x > 0) - (x < 0); }
static int sign_of(double x) { return (x > 0) - (x < 0); }

/* ---- expansions: sums of doubles of which none overlaps another, smallest first, without zeros */

typedef struct expansion {
    int count;
    double terms[256];
} expansion;

/* e += x, exactly: two-sum with each term, keeping the error. */
static void grow(expansion *e, double x) {
    int kept = 0;
    for (int i = 0; i < e->count; i++) {
        double sum = x + e->terms[i], virtual_part = sum - x;
        double error = (x - (sum - virtual_part)) + (e->terms[i] - virtual_part);
        if (error != 0) e->terms[kept++] = error;
        x = sum;
    }
    if (x != 0) e->terms[kept++] = x;
    assert_true(kept < COUNT_OF(e->terms));
    e->count = kept;
}

static expansion expansion_of(double x) {
    expansion e = {0};
    grow(&e, x);
    return e;
}

/* a + s b */
static expansion combine(expansion a, double s, expansion b) {
    for (int i = 0; i < b.count; i++) grow(&a, s * b.terms[i]);
    return a;
}

static expansion times(expansion a, expansion b) {
    expansion product = {0};
    for (int i = 0; i < a.count; i++)
        for (int j = 0; j < b.count; j++) {
            double high = a.terms[i] * b.terms[j];
            grow(&product, fma(a.terms[i], b.terms[j], -high));
            grow(&product, high);
        }
    return product;
}

static int sign_expansion(const expansion *e) { return e->count ? sign_of(e->terms[e->count - 1]) : 0; }

/* The determinant of an n x n matrix by cofactors of the first row. */
static expansion determinant(int n, expansion m[4][4]) {
    if (n == 1) return m[0][0];
    expansion sum = {0};
    for (int skip = 0; skip < n; skip++) {
        expansion minor[4][4];
        for (int i = 1; i < n; i++)
            for (int j = 0, k = 0; j < n; j++)
                if (j != skip) minor[i - 1][k++] = m[i][j];
        sum = combine(sum, skip % 2 ? -1 : 1, times(m[0][skip], determinant(n - 1, minor)));
    }
    return sum;
}

static int oracle_orient3d(vec3 a, vec3 b, vec3 c, vec3 d) {
    vec3 rows[3] = {b, c, d};
    expansion m[4][4];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = combine(expansion_of(vec3_at(rows[i], j)), -1, expansion_of(vec3_at(a, j)));
    expansion det = determinant(3, m);
    return sign_expansion(&det);
}

static int oracle_planes(int n, const plane *p) {
    expansion m[4][4];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) m[i][j] = expansion_of(j < 3 ? vec3_at(p[i].n, j) : -p[i].d);
    expansion det = determinant(n, m);
    return sign_expansion(&det);
}

static expansion plane_expansion(plane p, vec3 x) {
    expansion value = expansion_of(-p.d);
    for (int i = 0; i < 3; i++)
        value = combine(value, 1, times(expansion_of(vec3_at(p.n, i)), expansion_of(vec3_at(x, i))));
    return value;
}

/* P(a) - P(b) from the values themselves, not from n . (b - a) */
static int oracle_line_meet(vec3 a, vec3 b, plane p, plane s) {
    expansion pa = plane_expansion(p, a), pb = plane_expansion(p, b), sa = plane_expansion(s, a),
              sb = plane_expansion(s, b);
    expansion numerator = combine(times(sa, pb), -1, times(pa, sb)), denominator = combine(pb, -1, pa);
    return sign_expansion(&numerator) * sign_expansion(&denominator);
}

/* ---- random things */

static uint64_t state = 20261;

static double uniform(void) { return random_range(&state, -1, 1); }
static vec3 random_vec(void) { return vec3_make(uniform(), uniform(), uniform()); }
static int64_t random_int(int64_t size) {
    return (int64_t)(random_bits(&state) % (uint64_t)(2 * size + 1)) - size;
}

static double power(int e) { return ldexp(1, e); }

/* x moved by up to three units in the last place */
static double jiggle(double x) {
    for (int64_t n = random_int(3); n != 0; n += n < 0 ? 1 : -1)
        x = nextafter(x, n < 0 ? -INFINITY : INFINITY);
    return x;
}
static vec3 jiggle_vec(vec3 v) { return vec3_make(jiggle(v.x), jiggle(v.y), jiggle(v.z)); }

/* ---- tests */

typedef struct grid_point {
    int64_t at[3];
} grid_point;

static vec3 on_grid(grid_point p, int scale) {
    return vec3_make(ldexp((double)p.at[0], scale), ldexp((double)p.at[1], scale),
                     ldexp((double)p.at[2], scale));
}

static int grid_orient3d(const grid_point *p) {
    int128 m[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) m[i][j] = p[i + 1].at[j] - p[0].at[j];
    return sign128(m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                   m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                   m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]));
}

/* A million tetrahedra with corners on a grid of 2^39 steps (3 x 40 bits and the sums fit in 127), the fourth
 * corner in the plane of the others but for at most one step: the determinant of doubles has 120 bits. */
static void test_orient3d_near_coplanar(void **unused) {
    (void)unused;
    int zeros = 0, scales[] = {0, -30, -500, -1000, 300, 900};
    for (int n = 0; n < 1000000; n++) {
        grid_point p[4];
        int64_t size = n % 2 ? (int64_t)1 << 37 : 1000, u = random_int(1), v = random_int(1);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) p[i].at[j] = random_int(size);
        for (int j = 0; j < 3; j++)
            p[3].at[j] = p[0].at[j] + u * (p[1].at[j] - p[0].at[j]) + v * (p[2].at[j] - p[0].at[j]) +
                         (n % 3 == 0 ? 0 : random_int(1));
        int scale = scales[n % COUNT_OF(scales)], expected = grid_orient3d(p);
        int got =
            orient3d(on_grid(p[0], scale), on_grid(p[1], scale), on_grid(p[2], scale), on_grid(p[3], scale));
        if (got != expected) fail_msg("case %d: %d instead of %d", n, got, expected);
        zeros += expected == 0;
    }
    assert_in_range(zeros, 300000, 900000); /* both kinds are there */
}

static void test_orient3d_ulps(void **unused) {
    (void)unused;
    int zeros = 0, undecided = 0;
    for (int n = 0; n < 30000; n++) {
        vec3 a = random_vec(), b = random_vec(), c = random_vec();
        if (n % 3 == 0) b = jiggle_vec(a); /* nearly coincident corners */
        if (n % 4 == 0) c = jiggle_vec(vec3_lerp(a, b, uniform()));
        vec3 d = jiggle_vec(vec3_axpy(vec3_axpy(a, uniform(), vec3_sub(b, a)), uniform(), vec3_sub(c, a)));
        int expected = oracle_orient3d(a, b, c, d);
        assert_int_equal(orient3d(a, b, c, d), expected);
        double plain = vec3_triple(vec3_sub(d, a), vec3_sub(b, a), vec3_sub(c, a));
        zeros += expected == 0, undecided += sign_of(plain) != expected;
    }
    /* the test bites: plain doubles get many of these wrong */
    assert_true(undecided > 1000 && zeros < 29000);
}

/* All 24 orders of the corners: the sign is that of the permutation. */
static void test_orient3d_permutations(void **unused) {
    (void)unused;
    for (int n = 0; n < 2000; n++) {
        vec3 p[4] = {random_vec(), random_vec(), random_vec()};
        p[3] = jiggle_vec(vec3_lerp(p[0], vec3_lerp(p[1], p[2], uniform()), uniform()));
        int expected = orient3d(p[0], p[1], p[2], p[3]);
        for (int code = 0; code < 256; code++) {
            int i[4] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6}, inversions = 0;
            bool repeated = false;
            for (int j = 0; j < 4; j++)
                for (int k = j + 1; k < 4; k++) inversions += i[j] > i[k], repeated |= i[j] == i[k];
            int sign = repeated ? 0 : inversions % 2 ? -1 : 1;
            assert_int_equal(orient3d(p[i[0]], p[i[1]], p[i[2]], p[i[3]]), sign * expected);
        }
    }
}

static void test_orient2d(void **unused) {
    (void)unused;
    for (int n = 0; n < 200000; n++) {
        int64_t size = (int64_t)1 << 50, x[3], y[3];
        for (int i = 0; i < 2; i++) x[i] = random_int(size), y[i] = random_int(size);
        x[2] = 2 * x[1] - x[0] + random_int(1), y[2] = 2 * y[1] - y[0] + random_int(1);
        int expected = sign128((int128)(x[0] - x[2]) * (y[1] - y[2]) - (int128)(y[0] - y[2]) * (x[1] - x[2]));
        int s = (int)random_int(900), t = (int)random_int(900);
        double px[3], py[3];
        for (int i = 0; i < 3; i++) px[i] = ldexp((double)x[i], s), py[i] = ldexp((double)y[i], t);
        assert_int_equal(orient2d(px[0], py[0], px[1], py[1], px[2], py[2]), expected);
        assert_int_equal(orient2d(px[1], py[1], px[0], py[0], px[2], py[2]), -expected);
        assert_int_equal(orient2d(px[1], py[1], px[2], py[2], px[0], py[0]), expected);
    }
}

static plane random_plane(int64_t size) {
    return (plane){{(double)random_int(size), (double)random_int(size), (double)random_int(size)},
                   (double)random_int(size)};
}

static int128 int_value(plane p, vec3 x) {
    return (int128)p.n.x * (int128)x.x + (int128)p.n.y * (int128)x.y + (int128)p.n.z * (int128)x.z -
           (int128)p.d;
}

static void test_side_of_plane(void **unused) {
    (void)unused;
    for (int n = 0; n < 200000; n++) {
        plane p = random_plane((int64_t)1 << 50);
        vec3 x = random_plane(n % 2 ? 3 : (int64_t)1 << 50).n;
        if (n % 2) p.d = (double)(int64_t)int_value((plane){p.n, 0}, x) + (double)random_int(1);
        assert_int_equal(side_of_plane(p, x), sign128(int_value(p, x)));
        int s = (int)random_int(400), t = (int)random_int(400);
        plane scaled = {{ldexp(p.n.x, s), ldexp(p.n.y, s), ldexp(p.n.z, s)}, ldexp(p.d, s + t)};
        vec3 y = {ldexp(x.x, t), ldexp(x.y, t), ldexp(x.z, t)};
        assert_int_equal(side_of_plane(scaled, y), sign128(int_value(p, x)));
        assert_int_equal(side_of_plane(plane_flip(scaled), y), -sign128(int_value(p, x)));
    }
}

/* Four planes through a grid point, or one step from it: the answer is the side of that point. */
static void test_side_of_meet_grid(void **unused) {
    (void)unused;
    for (int n = 0; n < 100000; n++) {
        vec3 x = random_plane((int64_t)1 << 20).n;
        plane p[4];
        for (int i = 0; i < 4; i++) {
            p[i] = random_plane(n % 2 ? 5 : (int64_t)1 << 28);
            p[i].d = (double)(int64_t)int_value((plane){p[i].n, 0}, x);
        }
        p[3].d += (double)random_int(1);
        int128 value = int_value(p[3], x);
        int orientation = oracle_planes(3, p);
        assert_int_equal(planes_orientation(p[0], p[1], p[2]), orientation);
        int expected = orientation ? sign128(value) : 0;
        assert_int_equal(side_of_meet(p[0], p[1], p[2], p[3]), expected);
        assert_int_equal(side_of_meet(p[1], p[2], p[0], p[3]), expected);
        assert_int_equal(side_of_meet(p[1], plane_flip(p[0]), p[2], p[3]), expected);
        assert_int_equal(side_of_meet(p[0], p[1], p[2], plane_flip(p[3])), -expected);
        if (orientation && n % 2) {
            /* the answer is x, off by rounding: |det| >= 1, entries below 2^26, so nothing cancels badly */
            vec3 got = planes_meet(p[0], p[1], p[2]);
            assert_true(vec3_max_abs(vec3_sub(got, x)) < 1e-4);
        }
    }
}

static void test_side_of_meet_ulps(void **unused) {
    (void)unused;
    int wrong_in_double = 0;
    for (int n = 0; n < 20000; n++) {
        vec3 x = random_vec();
        plane p[4];
        for (int i = 0; i < 4; i++) {
            p[i].n = vec3_unit(random_vec());
            if (i == 2 && n % 3 == 0) p[i].n = jiggle_vec(p[0].n); /* nearly parallel */
            p[i].d = jiggle(vec3_dot(p[i].n, x));
        }
        int expected = oracle_planes(4, p) * oracle_planes(3, p);
        assert_int_equal(side_of_meet(p[0], p[1], p[2], p[3]), expected);
        assert_int_equal(planes_orientation(p[0], p[1], p[2]), oracle_planes(3, p));
        wrong_in_double += sign_of(plane_distance(p[3], planes_meet(p[0], p[1], p[2]))) != expected;
    }
    assert_true(wrong_in_double > 1000);
}

/* Points nearly on a line, and a point nearly in a plane, of doubles with all their digits. */
static void test_short_predicates_ulps(void **unused) {
    (void)unused;
    for (int n = 0; n < 50000; n++) {
        vec3 a = random_vec(), b = random_vec(), c = jiggle_vec(vec3_lerp(a, b, 2 * uniform()));
        expansion m[4][4] = {{combine(expansion_of(a.x), -1, expansion_of(c.x)),
                              combine(expansion_of(a.y), -1, expansion_of(c.y))},
                             {combine(expansion_of(b.x), -1, expansion_of(c.x)),
                              combine(expansion_of(b.y), -1, expansion_of(c.y))}};
        expansion det = determinant(2, m);
        assert_int_equal(orient2d(a.x, a.y, b.x, b.y, c.x, c.y), sign_expansion(&det));
        plane p = {a, jiggle(vec3_dot(a, b))};
        expansion value = plane_expansion(p, b);
        assert_int_equal(side_of_plane(p, b), sign_expansion(&value));
    }
}

/* Numbers at the limit of what the exact stage takes as one-word integers (61 bits), just below and above it.
 */
static double limit_number(void) {
    double top = nextafter(power(58 + (int)(random_bits(&state) % 6)), 0);
    switch (random_bits(&state) % 5) {
    case 0: return 0;
    case 1: return (double)random_int(3);
    case 2: return power((int)(random_bits(&state) % 61));
    default: return random_bits(&state) % 2 ? top : -top;
    }
}
static vec3 limit_vec(void) {
    double x = limit_number(), y = limit_number();
    return vec3_make(x, y, limit_number());
}

static void test_limit_of_one_word(void **unused) {
    (void)unused;
    for (int n = 0; n < 30000; n++) {
        vec3 a = limit_vec(), b = limit_vec(), c = limit_vec(), d = limit_vec();
        assert_int_equal(orient3d(a, b, c, d), oracle_orient3d(a, b, c, d));
        plane p[4] = {{a, limit_number()}, {b, limit_number()}, {c, limit_number()}, {d, limit_number()}};
        if (n % 2) p[3].n = vec3_add(a, b), p[3].d = p[0].d + p[1].d; /* nearly through the same point */
        int orientation = oracle_planes(3, p);
        assert_int_equal(planes_orientation(p[0], p[1], p[2]), orientation);
        assert_int_equal(side_of_meet(p[0], p[1], p[2], p[3]), orientation * oracle_planes(4, p));
        expansion value = plane_expansion(p[0], b);
        assert_int_equal(side_of_plane(p[0], b), sign_expansion(&value));
        assert_int_equal(side_of_line_meet(c, d, p[0], p[1]), oracle_line_meet(c, d, p[0], p[1]));
        expansion m[4][4] = {{combine(expansion_of(a.x), -1, expansion_of(c.x)),
                              combine(expansion_of(a.y), -1, expansion_of(c.y))},
                             {combine(expansion_of(b.x), -1, expansion_of(c.x)),
                              combine(expansion_of(b.y), -1, expansion_of(c.y))}};
        expansion det = determinant(2, m);
        assert_int_equal(orient2d(a.x, a.y, b.x, b.y, c.x, c.y), sign_expansion(&det));
    }
}

static vec3 stretch(grid_point p, const int *scale) {
    return vec3_make(ldexp((double)p.at[0], scale[0]), ldexp((double)p.at[1], scale[1]),
                     ldexp((double)p.at[2], scale[2]));
}

/* Axes scaled by powers of two, which no sign notices, so that products of two entries round to a few times
 * 2^-1074 and are then multiplied by something large. */
static void test_underflow_then_large(void **unused) {
    (void)unused;
    for (int n = 0; n < 40000; n++) {
        grid_point p[4];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 3; j++) p[i].at[j] = random_int(9);
        int s = -540 - (int)random_int(4), axis = n % 3;
        int scale[3] = {s, s, s};
        scale[axis] = (int)random_int(1000);
        assert_int_equal(
            orient3d(stretch(p[0], scale), stretch(p[1], scale), stretch(p[2], scale), stretch(p[3], scale)),
            grid_orient3d(p));
        plane q[4], t[4];
        int column = -(int)random_int(540), row = (int)random_int(2);
        for (int i = 0; i < 4; i++) {
            q[i] = (plane){on_grid(p[i], 0), (double)random_int(9)};
            t[i] = (plane){stretch(p[i], scale), ldexp(q[i].d, column)};
            t[i] = (plane){vec3_scale(t[i].n, power(row)), t[i].d * power(row)};
        }
        assert_int_equal(planes_orientation(t[0], t[1], t[2]), oracle_planes(3, q));
        assert_int_equal(side_of_meet(t[0], t[1], t[2], t[3]), oracle_planes(3, q) * oracle_planes(4, q));
        vec3 x = on_grid(p[0], s);
        plane u = {on_grid(p[1], -539), 0};
        assert_int_equal(side_of_plane(u, x),
                         sign128(int_value((plane){on_grid(p[1], 0), 0}, on_grid(p[0], 0))));
    }
}

static void test_side_of_line_meet(void **unused) {
    (void)unused;
    for (int n = 0; n < 50000; n++) {
        vec3 a = random_vec(), b = n % 5 ? random_vec() : jiggle_vec(a);
        vec3 x = vec3_lerp(a, b, random_range(&state, -1, 2));
        plane p = {vec3_unit(random_vec()), 0}, s = {vec3_unit(random_vec()), 0};
        if (n % 7 == 0) s.n = jiggle_vec(p.n);
        if (n % 3 == 0) b = jiggle_vec(vec3_add(a, vec3_cross(p.n, random_vec()))); /* nearly parallel */
        p.d = jiggle(vec3_dot(p.n, x)), s.d = jiggle(vec3_dot(s.n, x));
        if (n % 4 == 0) s = (plane){p.n, nextafter(p.d, uniform())}; /* a plane one step beside p */
        int expected = oracle_line_meet(a, b, p, s);
        assert_int_equal(side_of_line_meet(a, b, p, s), expected);
        assert_int_equal(side_of_line_meet(b, a, plane_flip(p), s), expected);
        assert_int_equal(side_of_line_meet(a, b, p, plane_flip(s)), -expected);
    }
}

/* Parallel to the plane, there is no point; the answer is 0. */
static void test_line_parallel(void **unused) {
    (void)unused;
    plane p = {{0, 0, 1}, 0.5}, s = {{1, 0, 0}, 0};
    assert_int_equal(side_of_line_meet(vec3_make(0, 0, 0.1), vec3_make(1, 3, 0.1), p, s), 0);
    assert_int_equal(planes_orientation(p, s, p), 0);
    assert_int_equal(side_of_meet(p, s, p, s), 0);
}

static int random_exponent(void) { return (int)(random_bits(&state) % 2098) - 1074; }
static int compare_int(int a, int b) { return (a > b) - (a < b); }

/* Entries are powers of two from all of the exponents, subnormal ones too, so that the sign of the
 * determinant is a comparison of sums of exponents; no double arithmetic survives this. */
static void test_any_exponent(void **unused) {
    (void)unused;
    for (int n = 0; n < 20000; n++) {
        int e[8];
        for (int i = 0; i < 8; i++) e[i] = random_exponent();
        if (n % 2) { /* products nearly equal */
            int rest = e[0] + e[1] - e[2] + (int)random_int(1);
            if (rest < -1074 || rest > 1023) continue;
            e[3] = rest;
        }
        int two = compare_int(e[0] + e[1], e[2] + e[3]);
        vec3 o = vec3_zero();
        assert_int_equal(orient2d(power(e[0]), power(e[2]), power(e[3]), power(e[1]), 0, 0), two);
        /* rows (a, c, 0), (d, b, 0), (0, 0, z): z (a b - c d) */
        vec3 r1 = {power(e[0]), power(e[2]), 0}, r2 = {power(e[3]), power(e[1]), 0}, r3 = {0, 0, power(e[4])};
        assert_int_equal(orient3d(o, r1, r2, r3), two);
        assert_int_equal(orient3d(o, r3, r2, r1), -two);
        assert_int_equal(orient3d(r3, r1, r2, o), -two);
        plane p = {r1, 0}, q = {r2, 0}, r = {r3, 0}, s = {vec3_zero(), -power(e[5])};
        assert_int_equal(planes_orientation(q, r, p), two);
        assert_int_equal(side_of_meet(p, q, r, s), two == 0 ? 0 : 1); /* 0 . x + 2^e > 0 */
        /* x = 2^e0 against the plane 2^e1 x = 2^e2: sign 2^(e0 + e1) - 2^e2 */
        plane t = {{power(e[1]), 0, 0}, power(e[2])};
        assert_int_equal(side_of_plane(t, vec3_make(power(e[0]), 0, 0)), compare_int(e[0] + e[1], e[2]));
        /* the planes 2^e6 x = 2^e7, y = 0, z = 0 meet at 2^(e7 - e6) */
        plane x0 = {{power(e[6]), 0, 0}, power(e[7])}, y0 = {{0, power(e[3]), 0}, 0},
              z0 = {{0, 0, power(e[4])}, 0};
        assert_int_equal(side_of_meet(x0, y0, z0, t), compare_int(e[7] - e[6] + e[1], e[2]));
        /* the line along x meets that plane at the same point */
        vec3 end = {power(e[5]), 0, 0};
        assert_int_equal(side_of_line_meet(o, end, x0, t), compare_int(e[7] - e[6] + e[1], e[2]));
        assert_int_equal(side_of_line_meet(end, vec3_neg(end), x0, t), compare_int(e[7] - e[6] + e[1], e[2]));
    }
}

/* The largest and the smallest double together. */
static void test_extremes(void **unused) {
    (void)unused;
    double big = DBL_MAX, least = 0x1p-1074;
    vec3 a = {-big, -big, 0}, b = {big, -big, 0}, c = {-big, big, 0};
    assert_int_equal(orient3d(a, b, c, vec3_make(1, 1, least)), 1);
    assert_int_equal(orient3d(a, b, c, vec3_make(1, 1, -least)), -1);
    assert_int_equal(orient3d(a, b, c, vec3_make(least, big, 0)), 0);
    assert_int_equal(orient2d(-big, -big, big, big, least, 0), -1);
    assert_int_equal(orient2d(-big, -big, big, big, 0, least), 1);
    assert_int_equal(orient2d(-big, -big, big, big, least, least), 0);
    assert_int_equal(side_of_plane((plane){{big, big, -big}, big}, vec3_make(big, -big, least)), -1);
    assert_int_equal(side_of_plane((plane){{big, big, least}, 0}, vec3_make(big, -big, least)), 1);
    plane all = {{big, -big, big}, big}, p = {{big, least, 0}, 0}, q = {{big, 0, 0}, 0},
          r = {{0, 0, least}, least};
    /* p, q, r meet at (0, 0, 1), which lies in `all` */
    assert_int_equal(planes_orientation(p, q, r), -1);
    assert_int_equal(side_of_meet(p, q, r, all), 0);
    all.d = nextafter(big, 0);
    assert_int_equal(side_of_meet(p, q, r, all), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orient3d_near_coplanar), cmocka_unit_test(test_orient3d_ulps),
        cmocka_unit_test(test_orient3d_permutations),  cmocka_unit_test(test_orient2d),
        cmocka_unit_test(test_side_of_plane),          cmocka_unit_test(test_side_of_meet_grid),
        cmocka_unit_test(test_side_of_meet_ulps),      cmocka_unit_test(test_side_of_line_meet),
        cmocka_unit_test(test_line_parallel),          cmocka_unit_test(test_limit_of_one_word),
        cmocka_unit_test(test_short_predicates_ulps),  cmocka_unit_test(test_underflow_then_large),
        cmocka_unit_test(test_any_exponent),           cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
