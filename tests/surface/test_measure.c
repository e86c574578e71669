/* Volume, centre and inertia against closed forms and against fine polyhedra; boxes hold what they claim;
 * closest and support points against closed forms and sampling. */
#include "cages.h"

#include <stdio.h>

static const double pi = 3.14159265358979323846;

static bool near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance; }

/* Ellipsoid: V = 4/3 pi abc, I_xx = V (b^2 + c^2) / 5. */
static void test_ellipsoid(void **state) {
    (void)state;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = mat3_diagonal(0.5, 1.5, 2), q.origin = vec3_make(100, -20, 3);
    abut_surface *s = NULL;
    abut_surface_measures m;
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, NULL), ABUT_OK);
    assert_int_equal(abut_surface_measure(s, 1e-12, &m, NULL), ABUT_OK);
    double v = 4.0 / 3 * pi * 1.5;
    assert_true(near(m.volume, v, 1e-11 * v));
    assert_true(vec3_distance(m.center, q.origin) < 1e-11);
    double want[6] = {v * (2.25 + 4) / 5, v * (0.25 + 4) / 5, v * (0.25 + 2.25) / 5, 0, 0, 0};
    for (int i = 0; i < 6; i++) assert_true(near(m.inertia[i], want[i], 1e-10 * v));
    abut_surface_free(NULL, s);
}

/* Torus: V = 2 pi^2 R r^2, area 4 pi^2 R r, I_zz = V (R^2 + 3/4 r^2), I_xx = V (R^2/2 + 5/8 r^2). */
static void test_torus(void **state) {
    (void)state;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_TORUS);
    q.ratio = 0.3;
    abut_surface *s = NULL;
    abut_surface_measures m;
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, NULL), ABUT_OK);
    assert_int_equal(abut_surface_measure(s, 1e-12, &m, NULL), ABUT_OK);
    double r = 0.3, v = 2 * pi * pi * r * r;
    assert_true(near(m.volume, v, 1e-11) && near(m.area, 4 * pi * pi * r, 1e-10));
    assert_true(near(m.inertia[2], v * (1 + 0.75 * r * r), 1e-10));
    assert_true(near(m.inertia[0], v * (0.5 + 0.625 * r * r), 1e-10));
    abut_surface_free(NULL, s);
}

/* The rational Bezier octants of a sphere need degree 4; a box of six flat Bezier patches is exact. */
static void test_bezier_box(void **state) {
    (void)state;
    vec3 points[96];
    static const int8_t axes[6][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}};
    double size[3] = {1, 2, 3};
    for (int f = 0; f < 6; f++)
        for (int k = 0; k < 16; k++) {
            double x[3];
            x[axes[f][0]] = size[axes[f][0]] * (k % 4) / 3, x[axes[f][1]] = size[axes[f][1]] * (k / 4) / 3;
            x[axes[f][2]] = f % 2 ? 0 : size[axes[f][2]];
            points[16 * f + k] = vec3_make(x[0], x[1], x[2]);
        }
    abut_surface *s = NULL;
    abut_surface_measures m;
    abut_error error = {0};
    if (abut_surface_bezier(NULL, points, 6, &s, &error) != ABUT_OK) fail_msg("%s", error.message);
    if (abut_surface_measure(s, 1e-12, &m, &error) != ABUT_OK) fail_msg("%s", error.message);
    assert_true(near(m.volume, 6, 1e-12) && near(m.area, 22, 1e-11));
    assert_true(vec3_distance(m.center, vec3_make(0.5, 1, 1.5)) < 1e-12);
    assert_true(near(m.inertia[0], 6 * (4 + 9) / 12.0, 1e-11) && near(m.inertia[3], 0, 1e-11));
    abut_surface_free(NULL, s);
    assert_int_equal(abut_surface_bezier(NULL, points, 5, &s, NULL), ABUT_OK);
    assert_int_equal(abut_surface_measure(s, 1e-9, &m, &error), ABUT_INVALID); /* open */
    abut_surface_free(NULL, s);
}

/* The volume of the polyhedron of limit positions converges like 4^-k to that of the surface; Richardson's
 * extrapolation of two levels gives six digits.  The smooth form differs by its deviation only. */
static double polyhedron_volume(const loop_mesh *m) {
    double v = 0;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        vec3 c[3];
        for (int i = 0; i < 3; i++) {
            int32_t p = m->corners[3 * t + i], ring[64];
            int n = loop_mesh_ring(m, m->outgoing[p], ring, 64);
            double a = loop_weight(n), w = 8 * a / (3 + 8 * a);
            vec3 mean = vec3_zero();
            for (int k = 0; k < n; k++) mean = vec3_axpy(mean, 1.0 / n, m->points[ring[k]]);
            c[i] = vec3_lerp(m->points[p], mean, w);
        }
        v += vec3_triple(c[0], c[1], c[2]) / 6;
    }
    return v;
}

static void test_loop_volume(void **state) {
    (void)state;
    uint64_t seed = 30;
    double_cone d;
    make_double_cone(&d, 5, 0.1, &seed);
    loop_mesh mesh[7];
    assert_int_equal(loop_mesh_from_cage(NULL, &d.mesh, 1, &mesh[0], NULL), ABUT_OK);
    for (int l = 0; l < 6; l++) assert_int_equal(loop_mesh_refine(&mesh[l], &mesh[l + 1], NULL), ABUT_OK);
    double v5 = polyhedron_volume(&mesh[5]), v6 = polyhedron_volume(&mesh[6]), v = (4 * v6 - v5) / 3;
    for (int l = 0; l < 7; l++) loop_mesh_free(&mesh[l]);
    for (int form = 0; form < 2; form++) {
        abut_surface *s = NULL;
        abut_surface_measures m;
        abut_error error = {0};
        abut_loop_options o = {.form = form ? ABUT_LOOP_SMOOTH : ABUT_LOOP_LIMIT, .refine = 2, .scale = 1};
        assert_int_equal(abut_surface_loop(NULL, &d.mesh, &o, &s, NULL), ABUT_OK);
        if (abut_surface_measure(s, 1e-9, &m, &error) != ABUT_OK) fail_msg("%s", error.message);
        print_message("Loop volume %s: %.10f, polyhedra %.10f, %lld evaluations\n", form ? "smooth" : "limit",
                      m.volume, v, (long long)m.evaluations);
        assert_true(near(m.volume, v, form ? 3e-5 : 2e-7));
        abut_surface_free(NULL, s);
    }
}

/* A random point of the domain. */
static void inside(const abut_surface *s, int p, uint64_t *seed, double *u, double *v) {
    double corners[ABUT_SIDES_MOST][2], sum = 0;
    int n = abut_surface_domain(s, p, corners);
    *u = *v = 0;
    for (int i = 0; i < n; i++) {
        double w = -log(random_range(seed, 1e-9, 1));
        *u += w * corners[i][0], *v += w * corners[i][1], sum += w;
    }
    *u /= sum, *v /= sum;
}

static void check_boxes_and_closest(const abut_surface *s, int queries, uint64_t *seed) {
    abut_surface_tree *tree = NULL;
    assert_int_equal(abut_surface_tree_build(NULL, s, &tree, NULL), ABUT_OK);
    for (int p = 0; p < abut_surface_patch_count(s); p++) {
        box b = abut_surface_box(s, p);
        for (int i = 0; i < 20; i++) {
            double u, v;
            partials at;
            inside(s, p, seed, &u, &v);
            abut_surface_evaluate(s, p, u, v, 0, &at);
            box grown = box_add_point(b, at.c);
            assert_memory_equal(&grown, &b, sizeof b);
        }
    }
    box all = abut_surface_box(s, -1);
    for (int k = 0; k < queries; k++) {
        vec3 x = vec3_add(box_center(all), support_vec(seed, box_diagonal(all)));
        vec3 dir = support_direction(seed);
        abut_closest c = abut_surface_closest(s, tree, x), far = abut_surface_support(s, tree, dir);
        assert_true(near(vec3_distance(c.point, x), c.distance, 1e-12));
        assert_true(near(vec3_dot(far.point, dir), far.distance, 1e-12));
        partials at;
        abut_surface_evaluate(s, c.place.patch, c.place.u, c.place.v, 1, &at);
        assert_true(vec3_distance(at.c, c.point) < 1e-12);
        assert_true(abut_surface_outside(s, c.place, NULL) < 1e-9);
        /* on a closed smooth surface the way to the closest point is normal to it */
        vec3 way = vec3_unit(vec3_sub(x, c.point));
        if (c.distance > 1e-6 && s->closed &&
            !(vec3_length(vec3_cross(way, abut_partials_normal(&at))) < 1e-5))
            fail_msg("query %d: way to the closest point leans by %g", k,
                     vec3_length(vec3_cross(way, abut_partials_normal(&at))));
        for (int i = 0; i < 200; i++) { /* nothing sampled is closer, or further along the direction */
            double u, v;
            int p = support_int(seed, 0, abut_surface_patch_count(s) - 1);
            inside(s, p, seed, &u, &v);
            abut_surface_evaluate(s, p, u, v, 0, &at);
            assert_true(vec3_distance(at.c, x) >= c.distance - 1e-9);
            assert_true(vec3_dot(at.c, dir) <= far.distance + 1e-9);
        }
    }
    abut_surface_tree_free(NULL, tree);
}

static void test_closest(void **state) {
    (void)state;
    uint64_t seed = 31;
    /* sphere: |x| - 1, and 1 in any direction */
    abut_surface *s = NULL;
    abut_surface_tree *tree = NULL;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, NULL), ABUT_OK);
    assert_int_equal(abut_surface_tree_build(NULL, s, &tree, NULL), ABUT_OK);
    for (int k = 0; k < 200; k++) {
        vec3 x = support_vec(&seed, 3), d = support_direction(&seed);
        assert_true(near(abut_surface_closest(s, tree, x).distance, fabs(vec3_length(x) - 1), 1e-12));
        assert_true(near(abut_surface_support(s, tree, d).distance, 1, 1e-12));
    }
    /* once round it, over edges and corners of its charts, each time from the place before */
    const vec3 ways[][2] = {{{1, 0, 0}, {0, 1, 0}}, {{1, 0, 0}, {0, 1, 1}}, {{1, 1, 1}, {1, -1, 0}}};
    for (int k = 0; k < COUNT_OF(ways); k++) {
        vec3 a = vec3_unit(ways[k][0]), b = vec3_unit(ways[k][1]);
        abut_closest at = abut_surface_closest(s, tree, vec3_scale(a, 1.5));
        for (int i = 1; i <= 100; i++) {
            double angle = 6.283185307179586 * i / 100;
            vec3 x = vec3_axpy(vec3_scale(a, 1.5 * cos(angle)), 1.5 * sin(angle), b);
            at = abut_surface_closest_from(s, at.place, x);
            assert_true(near(at.distance, 0.5, 1e-12));
        }
    }
    abut_surface_tree_free(NULL, tree);
    abut_surface_free(NULL, s);
    for (int kind = ABUT_PATCH_PLANE; kind <= ABUT_PATCH_TORUS; kind++) {
        q = abut_default_quadric((abut_patch_kind)kind);
        q.axes = mat3_mul(quat_matrix(support_rotation(&seed)), mat3_diagonal(1, 1.2, 0.8));
        assert_int_equal(abut_surface_quadric(NULL, &q, &s, NULL), ABUT_OK);
        check_boxes_and_closest(s, 20, &seed);
        abut_surface_free(NULL, s);
    }
    for (int n = 3; n <= 9; n += 3) {
        double_cone d;
        make_double_cone(&d, n, 0.05, &seed);
        for (int form = 0; form < 2; form++) {
            abut_loop_options o = {
                .form = form ? ABUT_LOOP_SMOOTH : ABUT_LOOP_LIMIT, .refine = 2, .scale = 1};
            assert_int_equal(abut_surface_loop(NULL, &d.mesh, &o, &s, NULL), ABUT_OK);
            if (form) check_boxes_and_closest(s, 20, &seed);
            abut_surface_free(NULL, s);
        }
    }
    vec3 points[16];
    double weights[16];
    for (int rational = 0; rational < 2; rational++) {
        for (int k = 0; k < 16; k++)
            points[k] = vec3_add(vec3_make(k % 4, k / 4, 0), support_vec(&seed, 0.8)),
            weights[k] = random_range(&seed, 0.4, 2);
        assert_int_equal(abut_surface_rational(NULL, points, rational ? weights : NULL, 1, &s, NULL),
                         ABUT_OK);
        check_boxes_and_closest(s, 40, &seed);
        abut_surface_free(NULL, s);
    }
}

static abut_status build_tree(const abut_context *context, void *user) {
    abut_surface_tree *tree = NULL;
    abut_status status = abut_surface_tree_build(context, user, &tree, NULL);
    abut_surface_tree_free(context, tree);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    abut_surface *s = NULL;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_TORUS);
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, NULL), ABUT_OK);
    assert_true(support_fail_each(build_tree, s) >= 2);
    abut_surface_free(NULL, s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ellipsoid),  cmocka_unit_test(test_torus),
                                       cmocka_unit_test(test_bezier_box), cmocka_unit_test(test_loop_volume),
                                       cmocka_unit_test(test_closest),    cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
