/* Atlases: S-patches in the holes of Loop surfaces meet their surroundings, transitions keep places and
 * velocities; geodesics of the sphere are circles.  (test_walks.c goes everywhere.) */
#include "cages.h"

/* Along every edge: same place, same velocity, after crossing; and back again. */
static void check_transitions(const abut_surface *s, double tolerance, uint64_t *seed) {
    for (int p = 0; p < abut_surface_patch_count(s); p++) {
        double corners[ABUT_SIDES_MOST][2];
        int n = abut_surface_domain(s, p, corners);
        for (int e = 0; e < n; e++) {
            double t = random_unit(seed), j[4], k[4],
                   rate[2] = {random_range(seed, -1, 1), random_range(seed, -1, 1)};
            const double *a = corners[e], *b = corners[(e + 1) % n];
            abut_surface_point here = {p, a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])}, there, back;
            int q, f;
            assert_true(abut_surface_neighbour(s, p, e, &q, &f));
            assert_true(abut_surface_cross(s, here, e, &there, j));
            assert_int_equal(there.patch, q);
            double other[2] = {j[0] * rate[0] + j[1] * rate[1], j[2] * rate[0] + j[3] * rate[1]};
            vec3 x, y, vx = velocity_at(s, here, rate, &x), vy = velocity_at(s, there, other, &y);
            double size = s->diagonal;
            if (!(vec3_distance(x, y) < 1e-13 * size) ||
                !(vec3_distance(vx, vy) < tolerance * (size + vec3_length(vx))))
                fail_msg("edge %d of patch %d: places differ by %g, velocities by %g", e, p,
                         vec3_distance(x, y), vec3_distance(vx, vy));
            assert_true(abut_surface_cross(s, there, f, &back, k));
            assert_true(fabs(back.u - here.u) + fabs(back.v - here.v) < 1e-12);
            /* the two jacobians are inverse to each other */
            assert_true(fabs(k[0] * j[0] + k[1] * j[2] - 1) + fabs(k[0] * j[1] + k[1] * j[3]) < 1e-6);
        }
    }
}

/* At every corner, in any direction: the place settles, does not move, and keeps its velocity. */
static void check_corners(const abut_surface *s, double tolerance, uint64_t *seed) {
    for (int p = 0; p < abut_surface_patch_count(s); p++) {
        double corners[ABUT_SIDES_MOST][2];
        int n = abut_surface_domain(s, p, corners);
        for (int i = 0; i < n; i++)
            for (int trial = 0; trial < 3; trial++) {
                double rate[2] = {random_range(seed, -1, 1), random_range(seed, -1, 1)};
                double off = trial * 4e-10; /* within the extended boundary */
                abut_surface_point at = {p, corners[i][0] + off, corners[i][1] - off};
                vec3 x, y, v = velocity_at(s, at, rate, &x);
                int crossings = 0;
                abut_error error;
                if (abut_surface_settle(s, &at, rate, NULL, &crossings, &error) != ABUT_OK)
                    fail_msg("corner %d of patch %d: %s", i, p, error.message);
                vec3 w = velocity_at(s, at, rate, &y);
                assert_true(vec3_distance(x, y) < 1e-8 * s->diagonal);
                if (!(vec3_distance(v, w) < tolerance * (s->diagonal + vec3_length(v))))
                    fail_msg("corner %d of patch %d: velocity changes by %g of %g after %d crossings", i, p,
                             vec3_distance(v, w), vec3_length(v), crossings);
                assert_true(abut_surface_outside(s, at, NULL) < 1e-8);
            }
    }
}

/* A great circle of the unit sphere is closed after 2 pi, over six charts. */
static void test_great_circles(void **state) {
    (void)state;
    uint64_t seed = 20;
    abut_surface *s = NULL;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, NULL), ABUT_OK);
    for (int k = 0; k < 40; k++) {
        abut_surface_point place = random_place_in(s, k % 6, &seed);
        if (k == 0) place = (abut_surface_point){0, 0, 0};
        double rate[2] = {random_range(&seed, -1, 1), random_range(&seed, -1, 1)};
        if (k == 0) rate[0] = rate[1] = 1; /* through the corners of the cube, exactly */
        vec3 x, y, v = velocity_at(s, place, rate, &x);
        assert_int_equal(abut_surface_walk(s, &place, rate, 6.283185307179586, 0.02, NULL, NULL), ABUT_OK);
        vec3 w = velocity_at(s, place, rate, &y);
        /* RK4: error (h^4 / 100) times the length and the fifth derivatives of the chart, about 1e-7 */
        assert_true(vec3_distance(x, y) < 1e-6);
        assert_true(vec3_distance(v, w) < 1e-6 * vec3_length(v));
    }
    check_transitions(s, 1e-13, &seed);
    check_corners(s, 1e-8, &seed);
    abut_surface_free(NULL, s);
}

static void test_torus(void **state) {
    (void)state;
    uint64_t seed = 21;
    abut_surface *s = NULL;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_TORUS);
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, NULL), ABUT_OK);
    check_transitions(s, 1e-13, &seed);
    check_corners(s, 1e-8, &seed);
    abut_surface_free(NULL, s);
}

/* The surroundings are C2, the S-patches meet them with equal normals: see fill.c. */
static void check_holes(const abut_surface *s, double jump) {
    double worst = 0, deviation = 0, area = INFINITY;
    int holes = 0;
    for (int p = 0; p < abut_surface_patch_count(s); p++) {
        abut_patch_facts f = abut_surface_patch_facts(s, p);
        if (f.kind != ABUT_PATCH_S_PATCH) continue;
        holes++, worst = fmax(worst, f.normal_jump), deviation = fmax(deviation, f.deviation);
        area = fmin(area, f.least_area);
        /* independently of what was stored: normals on both sides of each edge */
        double corners[ABUT_SIDES_MOST][2];
        int n = abut_surface_domain(s, p, corners);
        for (int e = 0; e < n; e++)
            for (int k = 0; k <= 40; k++) {
                const double *a = corners[e], *b = corners[(e + 1) % n];
                double t = k / 40.0, j[4];
                abut_surface_point here = {p, a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])}, there;
                partials x, y;
                assert_true(abut_surface_cross(s, here, e, &there, j));
                abut_surface_evaluate(s, p, here.u, here.v, 1, &x);
                abut_surface_evaluate(s, there.patch, there.u, there.v, 1, &y);
                double angle = vec3_distance(abut_partials_normal(&x), abut_partials_normal(&y));
                if (!(angle < jump))
                    fail_msg("S-patch %d, edge %d at %g: normals differ by %g", p, e, t, angle);
            }
    }
    assert_true(holes > 0);
    print_message("%d S-patches: largest normal jump %.2g rad, deviation %.2g, least area %.2f of the mean\n",
                  holes, worst, deviation, area);
    assert_true(area > 0);
}

static void test_holes(void **state) {
    (void)state;
    uint64_t seed = 22;
    double deviation[4] = {0};
    for (int refine = 1; refine <= 3; refine++) {
        abut_surface *s = smooth_of_file("meshes/real/osd_loop_icosahedron_level0.obj", refine);
        check_holes(s, 1e-10);
        for (int p = 0; p < abut_surface_patch_count(s); p++)
            deviation[refine] = fmax(deviation[refine], abut_surface_patch_facts(s, p).deviation);
        abut_surface_free(NULL, s);
    }
    assert_true(deviation[1] < 0.01 && deviation[2] < 0.3 * deviation[1] &&
                deviation[3] < 0.3 * deviation[2]);
    for (int n = 3; n <= 12; n++) {
        double_cone d;
        make_double_cone(&d, n, 0.05, &seed);
        abut_loop_options o = {.form = ABUT_LOOP_SMOOTH, .refine = 2, .scale = 1};
        abut_surface *s = NULL;
        assert_int_equal(abut_surface_loop(NULL, &d.mesh, &o, &s, NULL), ABUT_OK);
        check_holes(s, 1e-9);
        check_transitions(s, 1e-9, &seed);
        check_corners(s, 1e-7, &seed);
        abut_surface_free(NULL, s);
    }
}

/* The thesis's case: valence 6 all around is no hole, and an S-patch there would be the surface itself: the
 * fill of a six-sided hole reproduces the box spline. */
static void test_six_sides(void **state) {
    (void)state;
    uint64_t seed = 23;
    double nets[6][TRIANGLE_NUMBERS], polynomial[TRIANGLE_NUMBERS] = {0}, *data;
    static const int hexagon[7][2] = {{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}, {1, 0}};
    data = mem_calloc(NULL, (size_t)s_patch_numbers(6), sizeof *data);
    for (int i = 0; i < TRIANGLE_POINTS; i++)
        for (int k = 0; k < 3; k++) polynomial[4 * i + k] = random_range(&seed, -0.3, 0.3);
    for (int j = 0; j <= 4; j++)
        for (int k = 0; j + k <= 4; k++)
            polynomial[4 * TRIANGLE(j, k)] += j / 4.0, polynomial[4 * TRIANGLE(j, k) + 1] += k / 4.0;
    /* one quartic over the whole lattice: the net of side i is its blossom at the corners of triangle A_i */
    for (int i = 0; i < 6; i++) {
        const int *a = hexagon[i], *b = hexagon[i + 1];
        double corner[3][2] = {{b[0], b[1]}, {a[0], a[1]}, {a[0] + b[0], a[1] + b[1]}};
        for (int j = 0; j <= 4; j++)
            for (int k = 0; j + k <= 4; k++) {
                double at[4][2];
                for (int m = 0; m < 4; m++) {
                    const double *c = corner[m < j ? 1 : m < j + k ? 2 : 0];
                    at[m][0] = c[0], at[m][1] = c[1];
                }
                vec3 x = triangle_blossom(polynomial, (const double(*)[2])at);
                memcpy(nets[i] + 4 * TRIANGLE(j, k), &x, sizeof x);
                nets[i][4 * TRIANGLE(j, k) + 3] = 0;
            }
    }
    double jump = s_patch_fill(data, 6, (const double(*)[TRIANGLE_NUMBERS])nets), p[6][2];
    assert_true(jump < 1e-9);
    s_patch_corners(6, p);
    for (int i = 0; i < 50; i++) {
        double f = random_unit(&seed), g = random_unit(&seed);
        int e = i % 6;
        partials x, y;
        s_patch_evaluate(data, 6, f * (g * p[e][0] + (1 - g) * p[(e + 1) % 6][0]),
                         f * (g * p[e][1] + (1 - g) * p[(e + 1) % 6][1]), 0, &x);
        triangle_evaluate(polynomial, f * (g * hexagon[e][0] + (1 - g) * hexagon[e + 1][0]),
                          f * (g * hexagon[e][1] + (1 - g) * hexagon[e + 1][1]), 0, &y);
        assert_true(vec3_distance(x.c, y.c) < 1e-9);
    }
    mem_free(NULL, data, (size_t)s_patch_numbers(6), sizeof *data);
}

static void test_loop(void **state) {
    (void)state;
    uint64_t seed = 24;
    abut_surface *s = smooth_of_file("meshes/real/osd_loop_icosahedron_level0.obj", 1);
    check_transitions(s, 1e-9, &seed);
    check_corners(s, 1e-7, &seed);
    abut_surface_free(NULL, s);
}

/* An animal with valences 3 to 10: the levels are chosen until nothing folds. */
static void test_spot(void **state) {
    (void)state;
    abut_surface *s = smooth_of_file("meshes/real/spot_control_mesh.obj", 0);
    assert_true(s->closed);
    check_holes(s, 2e-6);
    abut_surface_free(NULL, s);
}

/* A single patch has an end. */
static void test_open(void **state) {
    (void)state;
    vec3 points[16];
    for (int k = 0; k < 16; k++) points[k] = vec3_make(k % 4, k / 4, 0);
    abut_surface *s = NULL;
    abut_error error = {0};
    assert_int_equal(abut_surface_bezier(NULL, points, 1, &s, NULL), ABUT_OK);
    abut_surface_point place = {0, 0.5, 0.5};
    double rate[2] = {1, 0};
    assert_int_equal(abut_surface_walk(s, &place, rate, 10, 0.1, NULL, &error), ABUT_FAILED);
    assert_non_null(strstr(error.message, "edge 1 of patch 0"));
    assert_true(fabs(place.u - 1) < 1e-9 && fabs(place.v - 0.5) < 1e-12);
    rate[0] = 0;
    assert_int_equal(abut_surface_walk(s, &place, rate, 10, 0.1, NULL, &error), ABUT_INVALID);
    /* along the edge it may go, within the extended boundary */
    place = (abut_surface_point){0, 1 + 5e-10, 0.1}, rate[1] = 1;
    assert_int_equal(abut_surface_settle(s, &place, rate, NULL, NULL, &error), ABUT_OK);
    assert_int_equal(place.patch, 0);
    abut_surface_free(NULL, s);
}

/* Any size that lengths can have works alike; absurd ones are refused. */
static void test_sizes(void **state) {
    (void)state;
    uint64_t seed = 27;
    double_cone d;
    make_double_cone(&d, 5, 0.05, &seed);
    static const double scales[] = {1e-40, 1e-6, 1e6, 1e40};
    for (int i = 0; i < COUNT_OF(scales); i++) {
        abut_loop_options o = {.form = ABUT_LOOP_SMOOTH, .refine = 1, .scale = scales[i]};
        abut_surface *s = NULL;
        assert_int_equal(abut_surface_loop(NULL, &d.mesh, &o, &s, NULL), ABUT_OK);
        check_holes(s, 1e-9);
        abut_surface_free(NULL, s);
    }
    abut_loop_options o = {.form = ABUT_LOOP_SMOOTH, .refine = 1, .scale = 1e100};
    abut_surface *s = NULL;
    abut_error error;
    assert_int_equal(abut_surface_loop(NULL, &d.mesh, &o, &s, &error), ABUT_INVALID);
    o.scale = 1e-100;
    assert_int_equal(abut_surface_loop(NULL, &d.mesh, &o, &s, &error), ABUT_INVALID);
    assert_null(s);
}

static abut_status build_once(const abut_context *context, void *user) {
    abut_surface *s = NULL;
    abut_loop_options o = {.form = ABUT_LOOP_SMOOTH, .refine = 1, .scale = 1};
    abut_status status = abut_surface_loop(context, user, &o, &s, NULL);
    abut_surface_free(context, s);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    uint64_t seed = 26;
    double_cone d;
    make_double_cone(&d, 3, 0.02, &seed);
    assert_true(support_fail_each(build_once, &d.mesh) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_great_circles), cmocka_unit_test(test_torus),  cmocka_unit_test(test_holes),
        cmocka_unit_test(test_six_sides),     cmocka_unit_test(test_loop),   cmocka_unit_test(test_spot),
        cmocka_unit_test(test_open),          cmocka_unit_test(test_memory), cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
