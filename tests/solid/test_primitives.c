/* Primitives against closed forms, the outline check against drawn cases, hulls against a second algorithm
 * (all triples of points, exact signs), scaling against building at the other size. */
#include "solid/solid.h"
#include "support.h"

static const double turn = 6.283185307179586476925;

static void expect_near(double value, double wanted, double relative) {
    if (!(fabs(value - wanted) <= relative * fabs(wanted)))
        fail_msg("%.17g, wanted %.17g (off by %.2g)", value, wanted, (value - wanted) / wanted);
}

static void expect_facts(const abut_solid *s, int64_t vertices, int64_t edges, int64_t faces, int genus,
                         bool convex) {
    abut_error error = {0};
    abut_solid_facts facts = abut_solid_facts_of(s);
    if (solid_validate(s, &error) != ABUT_OK) fail_msg("%s", error.message);
    assert_int_equal(facts.vertices, vertices);
    assert_int_equal(facts.edges, edges);
    assert_int_equal(facts.faces, faces);
    assert_int_equal(facts.genus, genus);
    assert_int_equal(facts.convex, convex);
    assert_int_equal(facts.shells, 1);
}

#define MAKE(call)                                                        \
    do {                                                                  \
        abut_error made_error = {0};                                      \
        abut_error *error = &made_error;                                  \
        if ((call) != ABUT_OK) fail_msg("%s: %s", #call, error->message); \
    } while (0)
#define REFUSED(call, part)                                                                     \
    do {                                                                                        \
        abut_error made_error = {0};                                                            \
        abut_error *error = &made_error;                                                        \
        s = (abut_solid *)1;                                                                    \
        assert_int_equal((call), ABUT_INVALID);                                                 \
        assert_null(s);                                                                         \
        if (!strstr(error->message, part)) fail_msg("`%s`, wanted `%s`", error->message, part); \
    } while (0)

static void test_box(void **state) {
    (void)state;
    abut_solid *s = NULL;
    MAKE(abut_solid_box(NULL, 2, 1, 0.5, &s, error));
    expect_facts(s, 8, 12, 6, 0, true);
    abut_mass m = abut_solid_mass(s, 3);
    expect_near(m.mass, 3, 1e-15);
    assert_true(vec3_max_abs(m.center) < 1e-16);
    expect_near(m.inertia[0], 3 * (1 + 0.25) / 12, 1e-15);
    expect_near(m.inertia[1], 3 * (4 + 0.25) / 12, 1e-15);
    expect_near(m.inertia[2], 3 * (4 + 1) / 12.0, 1e-15);
    for (int i = 3; i < 6; i++) assert_true(fabs(m.inertia[i]) < 1e-16);
    abut_box b = abut_solid_facts_of(s).bounds;
    assert_true(b.lower.x == -1 && b.upper.y == 0.5 && b.upper.z == 0.25);
    abut_solid_free(NULL, s);
    REFUSED(abut_solid_box(NULL, 0, 1, 1, &s, error), "length along x of a box is 0; give a finite length");
    REFUSED(abut_solid_box(NULL, 1, -2, 1, &s, error), "length along y of a box is -2");
    REFUSED(abut_solid_box(NULL, 1, 1, NAN, &s, error), "length along z of a box is nan");
    REFUSED(abut_solid_box(NULL, 1, INFINITY, 1, &s, error), "is inf");
}

static void test_tetrahedron(void **state) {
    (void)state;
    abut_solid *s = NULL;
    MAKE(abut_solid_tetrahedron(NULL, 3, &s, error));
    expect_facts(s, 4, 6, 4, 0, true);
    expect_near(abut_solid_facts_of(s).volume, 27 / (6 * sqrt(2)), 1e-15);
    assert_true(vec3_max_abs(abut_solid_facts_of(s).center) < 1e-15);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            expect_near(vec3_distance(abut_solid_vertex(s, i), abut_solid_vertex(s, j)), 3, 1e-15);
    abut_solid_free(NULL, s);
    REFUSED(abut_solid_tetrahedron(NULL, -1, &s, error), "edge of a tetrahedron is -1");
}

/* Regular n-gon of radius r: area n/2 r^2 sin(2 pi/n). */
static double polygon_area(int n, double r) { return n / 2.0 * r * r * sin(turn / n); }

static void test_cylinder(void **state) {
    (void)state;
    for (int n = 3; n < 70; n += 1 + n / 8) {
        abut_solid *s = NULL;
        MAKE(abut_solid_cylinder(NULL, 1.5, 4, n, &s, error));
        expect_facts(s, 2 * n, 3 * n, n + 2, 0, true);
        expect_near(abut_solid_facts_of(s).volume, 4 * polygon_area(n, 1.5), 1e-14);
        abut_solid_free(NULL, s);
    }
    abut_solid *s = NULL;
    REFUSED(abut_solid_cylinder(NULL, 1, 1, 2, &s, error), "a cylinder of 2 sides is asked for; give 3");
    REFUSED(abut_solid_cylinder(NULL, 0, 1, 8, &s, error), "radius of a cylinder is 0");
    REFUSED(abut_solid_cylinder(NULL, 1, 1, INT32_MAX, &s, error), "is asked for");
}

/* n slices, m stacks: V = n (m - 1) + 2, F = n m, V + E + F = n (4 m - 2) + 2 (Vanecek 1990, table 1).  The
 * volume is a sum of frusta between similar n-gons: h/3 (A + B + sqrt(A B)). */
static void test_sphere(void **state) {
    (void)state;
    for (int n = 3; n <= 24; n++)
        for (int m = 2; m <= 24; m += 3) {
            abut_solid *s = NULL;
            MAKE(abut_solid_sphere(NULL, 2, n, m, &s, error));
            int64_t v = n * (m - 1) + 2, f = (int64_t)n * m, e = v + f - 2;
            assert_int_equal(v + e + f, n * (4 * m - 2) + 2);
            expect_facts(s, v, e, f, 0, true);
            double volume = 0;
            for (int i = 0; i < m; i++) {
                double a0 = turn / 2 * i / m, a1 = turn / 2 * (i + 1) / m;
                double A = polygon_area(n, 2 * sin(a0)), B = polygon_area(n, 2 * sin(a1));
                volume += 2 * (cos(a0) - cos(a1)) / 3 * (A + B + sqrt(A * B));
            }
            expect_near(abut_solid_facts_of(s).volume, volume, 1e-13);
            abut_solid_free(NULL, s);
        }
    abut_solid *s = NULL;
    REFUSED(abut_solid_sphere(NULL, 1, 2, 4, &s, error), "a sphere of 2 slices is asked for; give 3");
    REFUSED(abut_solid_sphere(NULL, 1, 4, 1, &s, error), "a sphere of 1 stacks is asked for; give 2");
    REFUSED(abut_solid_sphere(NULL, 1, -4, 4, &s, error), "a sphere of -4 slices");
    REFUSED(abut_solid_sphere(NULL, 1, 60000, 60000, &s, error), "too large");
    REFUSED(abut_solid_sphere(NULL, -INFINITY, 8, 8, &s, error), "radius of a sphere is -inf");
}

/* Between two sections at the angle a the point (rho, z) of the section moves along a chord; the volume of
 * the wedge is sin(a) times the integral of rho over the section: sin(a) major area. */
static void test_torus(void **state) {
    (void)state;
    for (int n = 3; n <= 20; n++)
        for (int m = 3; m <= 20; m += 2) {
            abut_solid *s = NULL;
            MAKE(abut_solid_torus(NULL, 2, 0.75, n, m, &s, error));
            expect_facts(s, (int64_t)n * m, (int64_t)2 * n * m, (int64_t)n * m, 1, false);
            expect_near(abut_solid_facts_of(s).volume, n * sin(turn / n) * 2 * polygon_area(m, 0.75), 1e-13);
            abut_solid_free(NULL, s);
        }
    abut_solid *s = NULL;
    REFUSED(abut_solid_torus(NULL, 1, 1, 8, 8, &s, error), "would cross itself; make the tube thinner");
    REFUSED(abut_solid_torus(NULL, 2, 1, 2, 8, &s, error), "2 sections");
    REFUSED(abut_solid_torus(NULL, 2, 1, 8, 2, &s, error), "2 vertices around the tube");
    REFUSED(abut_solid_torus(NULL, 2, 0, 8, 8, &s, error), "minor radius of a torus is 0");
}

/* The vertices lie where sine and cosine say, to the last bits, and mirror images are exact. */
static void test_circle(void **state) {
    (void)state;
    static const int counts[] = {3, 4, 5, 7, 8, 12, 16, 30, 64, 97, 1000};
    for (int k = 0; k < COUNT_OF(counts); k++) {
        int n = counts[k];
        abut_solid *s = NULL;
        MAKE(abut_solid_cylinder(NULL, 1, 1, n, &s, error));
        for (int i = 0; i < n; i++) {
            vec3 p = abut_solid_vertex(s, i);
            assert_true(fabs(p.x - cos(turn * i / n)) < 1e-15 * (1 + i / 3.0));
            assert_true(fabs(p.y - sin(turn * i / n)) < 1e-15 * (1 + i / 3.0));
            assert_true(fabs(p.x * p.x + p.y * p.y - 1) < 5e-16);
            vec3 q = abut_solid_vertex(s, (n - i) % n);
            assert_true(q.x == p.x && q.y == -p.y);
            if (n % 4 == 0) {
                vec3 r = abut_solid_vertex(s, (i + n / 4) % n);
                assert_true(r.x == -p.y && r.y == p.x);
            }
        }
        abut_solid_free(NULL, s);
    }
}

static void test_prism(void **state) {
    (void)state;
    abut_solid *s = NULL;
    /* an L of area 3, with a straight corner on a side, twice as high */
    const double shape[7][2] = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    MAKE(abut_solid_prism(NULL, shape, 7, 2, &s, error));
    expect_facts(s, 14, 21, 9, 0, false);
    assert_int_equal(abut_solid_facts_of(s).maximal_faces, 8);
    expect_near(abut_solid_facts_of(s).volume, 6, 1e-15);
    expect_near(abut_solid_facts_of(s).area, 2 * 3 + 2 * 8, 1e-15);
    abut_box b = abut_solid_facts_of(s).bounds;
    assert_true(b.lower.z == -1 && b.upper.z == 1 && b.lower.x == 0 && b.upper.y == 2);
    abut_solid_free(NULL, s);

    const double clockwise[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    REFUSED(abut_solid_prism(NULL, clockwise, 4, 1, &s, error),
            "runs clockwise; list its 4 points the other way");
    const double bow[4][2] = {{0, 0}, {2, 2}, {2, 0}, {0, 2}};
    REFUSED(abut_solid_prism(NULL, bow, 4, 1, &s, error), "edge 0-1 meets edge 2-3");
    const double touching[5][2] = {{0, 0}, {4, 0}, {4, 4}, {2, 0}, {0, 4}};
    REFUSED(abut_solid_prism(NULL, touching, 5, 1, &s, error), "crosses or touches itself");
    const double spike[5][2] = {{0, 0}, {2, 0}, {3, 0}, {2, 0}, {0, 2}};
    REFUSED(abut_solid_prism(NULL, spike, 5, 1, &s, error), "outline");
    const double folded[4][2] = {{0, 0}, {3, 0}, {1, 0}, {0, 2}};
    REFUSED(abut_solid_prism(NULL, folded, 4, 1, &s, error), "folds back on itself at point 1");
    const double twice[4][2] = {{0, 0}, {1, 0}, {1, 0}, {0, 1}};
    REFUSED(abut_solid_prism(NULL, twice, 4, 1, &s, error), "points 1 and 2 of the outline are the same");
    const double line[3][2] = {{0, 0}, {1, 1}, {2, 2}};
    REFUSED(abut_solid_prism(NULL, line, 3, 1, &s, error), "folds back");
    const double nan[3][2] = {{0, 0}, {1, 0}, {0, NAN}};
    REFUSED(abut_solid_prism(NULL, nan, 3, 1, &s, error), "point 2 of the outline is not finite");
    REFUSED(abut_solid_prism(NULL, shape, 2, 1, &s, error), "a prism of 2 outline points is asked for");
    REFUSED(abut_solid_prism(NULL, shape, 7, 0, &s, error), "height of a prism is 0");
    /* one bit decides: the fourth point on the diagonal touches, a bit off it is a simple polygon */
    const double near[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0.5, nextafter(0.5, 1)}};
    MAKE(abut_solid_prism(NULL, near, 4, 1, &s, error));
    abut_solid_free(NULL, s);
}

/* Random simple outlines (radius over angle) against a random swap of two corners, which crosses unless the
 * four edges happen not to meet: the check must agree with comparing all pairs of edges in integers. */
static int cross_sign(const int a[2], const int b[2], const int c[2]) {
    int64_t x = (int64_t)(b[0] - a[0]) * (c[1] - a[1]) - (int64_t)(b[1] - a[1]) * (c[0] - a[0]);
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}
static bool inside_box(const int a[2], const int b[2], const int p[2]) {
    for (int k = 0; k < 2; k++)
        if (p[k] < (a[k] < b[k] ? a[k] : b[k]) || p[k] > (a[k] < b[k] ? b[k] : a[k])) return false;
    return true;
}
static bool is_simple(const int (*p)[2], int n) {
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const int *a = p[i], *b = p[(i + 1) % n], *c = p[j], *d = p[(j + 1) % n];
            bool next = j == i + 1, wrap = i == 0 && j == n - 1;
            if (next || wrap) {
                const int *corner = next ? b : a, *before = next ? a : c, *after = next ? d : b;
                if (cross_sign(before, corner, after) == 0 && !inside_box(before, after, corner))
                    return false;
                continue;
            }
            int s1 = cross_sign(a, b, c), s2 = cross_sign(a, b, d), s3 = cross_sign(c, d, a),
                s4 = cross_sign(c, d, b);
            if (s1 * s2 < 0 && s3 * s4 < 0) return false;
            if ((!s1 && inside_box(a, b, c)) || (!s2 && inside_box(a, b, d)) ||
                (!s3 && inside_box(c, d, a)) || (!s4 && inside_box(c, d, b)))
                return false;
        }
    return true;
}

static void test_outlines(void **state) {
    (void)state;
    uint64_t seed = 4;
    int simple = 0, crossed = 0;
    for (int trial = 0; trial < 20000; trial++) {
        enum { N = 6 };
        int p[N][2];
        double outline[N][2];
        bool repeated = false;
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 2; k++)
                p[i][k] = (int)(random_bits(&seed) % 6), outline[i][k] = 0.1 * p[i][k];
        for (int i = 0; i < N; i++) repeated |= p[i][0] == p[(i + 1) % N][0] && p[i][1] == p[(i + 1) % N][1];
        if (repeated) continue;
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 2; k++) outline[i][k] = p[i][k] * 0.125; /* exact */
        int64_t area2 = 0;
        for (int i = 0; i < N; i++)
            area2 += (int64_t)p[i][0] * p[(i + 1) % N][1] - (int64_t)p[i][1] * p[(i + 1) % N][0];
        bool good = is_simple((const int(*)[2])p, N) && area2 > 0;
        abut_solid *s = NULL;
        abut_error error = {0};
        abut_status status = abut_solid_prism(NULL, (const double(*)[2])outline, N, 1, &s, &error);
        if ((status == ABUT_OK) != good) {
            for (int i = 0; i < N; i++) print_message("(%d,%d) ", p[i][0], p[i][1]);
            fail_msg("good %d, but %s", good, error.message);
        }
        if (good) expect_near(abut_solid_facts_of(s).volume, (double)area2 / 128, 1e-14), simple++;
        crossed += !good;
        abut_solid_free(NULL, s);
    }
    assert_true(simple > 100 && crossed > 1000);
}

/* ---- hulls */
static void test_hull_of_box(void **state) {
    (void)state;
    /* corners twice, points inside, on faces and on edges: the box remains, also far from the origin */
    static const double offsets[] = {0, 1e6, -1e9};
    for (int k = 0; k < COUNT_OF(offsets); k++) {
        vec3 p[64];
        int n = 0;
        for (int i = 0; i < 27; i++) {
            p[n++] = vec3_make(offsets[k] + i % 3, i / 3 % 3, i / 9 * 2);
            if (i % 2 == 0) p[n] = p[n - 1], n++;
        }
        abut_solid *s = NULL;
        MAKE(abut_solid_hull(NULL, p, n, &s, error));
        expect_facts(s, 8, 12, 6, 0, true);
        expect_near(abut_solid_facts_of(s).volume, 2 * 2 * 4, 1e-9);
        abut_solid_free(NULL, s);
    }
}

/* General position: a triple is a face when all other points lie on one side of it. */
static void test_hull_of_random_points(void **state) {
    (void)state;
    uint64_t seed = 9;
    for (int trial = 0; trial < 40; trial++) {
        enum { N = 24 };
        vec3 p[N];
        double size = trial % 4 == 0 ? 1e-8 : trial % 4 == 1 ? 1e7 : 1;
        for (int i = 0; i < N; i++)
            for (;;) {
                p[i] = vec3_make(random_range(&seed, -1, 1), random_range(&seed, -1, 1),
                                 random_range(&seed, -1, 1));
                if (trial % 2 || vec3_length(p[i]) > 0.1) break;
            }
        for (int i = 0; i < N; i++) p[i] = vec3_scale(trial % 2 ? p[i] : vec3_unit(p[i]), size);
        int faces = 0;
        double volume = 0;
        for (int a = 0; a < N; a++)
            for (int b = a + 1; b < N; b++)
                for (int c = b + 1; c < N; c++) {
                    int above = 0, below = 0;
                    for (int d = 0; d < N; d++)
                        if (d != a && d != b && d != c) {
                            int side = orient3d(p[a], p[b], p[c], p[d]);
                            above += side > 0, below += side < 0;
                        }
                    if (above && below) continue;
                    faces++;
                    volume += (above ? -1 : 1) * vec3_triple(p[a], p[b], p[c]) / 6;
                }
        abut_solid *s = NULL;
        MAKE(abut_solid_hull(NULL, p, N, &s, error));
        expect_facts(s, faces / 2 + 2, faces / 2 * 3, faces, 0, true);
        expect_near(abut_solid_facts_of(s).volume, volume, 1e-12);
        abut_solid_free(NULL, s);
    }
}

static void test_hull_errors(void **state) {
    (void)state;
    abut_solid *s = NULL;
    vec3 p[16];
    for (int i = 0; i < 16; i++) p[i] = vec3_make(i % 4, i / 4, 0);
    REFUSED(abut_solid_hull(NULL, p, 3, &s, error), "a hull of 3 points is asked for; give at least 4");
    REFUSED(abut_solid_hull(NULL, p, -1, &s, error), "a hull of -1 points");
    REFUSED(abut_solid_hull(NULL, p, 16, &s, error), "lie in one plane");
    for (int i = 0; i < 16; i++) p[i] = vec3_make(0.1 * i, 0.3 * i, -0.7 * i);
    REFUSED(abut_solid_hull(NULL, p, 16, &s, error), "lie in one plane");
    for (int i = 0; i < 16; i++) p[i] = vec3_make(1, 2, 3);
    REFUSED(abut_solid_hull(NULL, p, 16, &s, error), "lie in one plane");
    p[7].y = NAN;
    REFUSED(abut_solid_hull(NULL, p, 16, &s, error), "point 7 of the hull is not finite");
    /* a plane that is not a coordinate plane, rounded */
    uint64_t seed = 1;
    vec3 n = vec3_unit(vec3_make(1, 2, 3)), u = vec3_orthogonal(n), v = vec3_cross(n, u);
    for (int i = 0; i < 16; i++)
        p[i] = vec3_add(vec3_scale(u, random_range(&seed, -1, 1)), vec3_scale(v, random_range(&seed, -1, 1)));
    REFUSED(abut_solid_hull(NULL, p, 16, &s, error), "");
}

/* ---- scaling */
static void test_scaled(void **state) {
    (void)state;
    abut_solid *small = NULL, *large = NULL, *s = NULL;
    MAKE(abut_solid_torus(NULL, 2, 0.75, 9, 7, &small, error));
    MAKE(abut_solid_torus(NULL, 8, 3, 9, 7, &large, error));
    MAKE(abut_solid_scaled(NULL, small, 4, &s, error));
    expect_facts(s, 63, 126, 63, 1, false);
    assert_true(abut_solid_facts_of(s).hash == abut_solid_facts_of(large).hash);
    assert_true(abut_solid_facts_of(s).hash != abut_solid_facts_of(small).hash);
    abut_solid_free(NULL, s);
    MAKE(abut_solid_scaled(NULL, small, 0.001, &s, error));
    expect_facts(s, 63, 126, 63, 1, false);
    expect_near(abut_solid_facts_of(s).volume, 1e-9 * abut_solid_facts_of(small).volume, 1e-15);
    for (int i = 0; i < 3; i++)
        expect_near(abut_solid_mass(s, 1).inertia[i], 1e-15 * abut_solid_mass(small, 1).inertia[i], 1e-15);
    abut_solid_free(NULL, s);
    REFUSED(abut_solid_scaled(NULL, small, 0, &s, error), "scaled by 0; give a finite factor above 0");
    REFUSED(abut_solid_scaled(NULL, small, -1, &s, error), "scaled by -1");
    REFUSED(abut_solid_scaled(NULL, small, NAN, &s, error), "scaled by nan");
    REFUSED(abut_solid_scaled(NULL, small, 1e150, &s, error), "choose other units");
    REFUSED(abut_solid_scaled(NULL, small, 1e-150, &s, error), "choose other units");
    abut_solid_free(NULL, small);
    abut_solid_free(NULL, large);
}

/* ---- memory: every allocation made to fail in turn */
static abut_status make_one(const abut_context *context, int which, const vec3 *points, abut_solid **s,
                            abut_error *error) {
    static const double outline[5][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 0.5}, {0, 1}};
    switch (which) {
    case 0: return abut_solid_box(context, 1, 2, 3, s, error);
    case 1: return abut_solid_prism(context, outline, 5, 1, s, error);
    case 2: return abut_solid_cylinder(context, 1, 1, 7, s, error);
    case 3: return abut_solid_torus(context, 2, 1, 4, 3, s, error);
    case 4: return abut_solid_sphere(context, 2, 4, 3, s, error);
    case 5: return abut_solid_tetrahedron(context, 2, s, error);
    default: return abut_solid_hull(context, points, 20, s, error);
    }
}

static abut_status make_and_scale(const abut_context *context, void *user) {
    vec3 points[20];
    uint64_t seed = 3;
    for (int i = 0; i < 20; i++) points[i] = support_vec(&seed, 1);
    abut_solid *s = NULL, *scaled = NULL;
    abut_error error = {0};
    abut_status status = make_one(context, *(int *)user, points, &s, &error);
    if (status == ABUT_OK) status = abut_solid_scaled(context, s, 2, &scaled, &error);
    abut_solid_free(context, s);
    abut_solid_free(context, scaled);
    return status;
}

static void test_memory_runs_out(void **state) {
    (void)state;
    for (int which = 0; which < 7; which++) assert_true(support_fail_each(make_and_scale, &which) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_tetrahedron),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_torus),
        cmocka_unit_test(test_circle),
        cmocka_unit_test(test_prism),
        cmocka_unit_test(test_outlines),
        cmocka_unit_test(test_hull_of_box),
        cmocka_unit_test(test_hull_of_random_points),
        cmocka_unit_test(test_hull_errors),
        cmocka_unit_test(test_scaled),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
