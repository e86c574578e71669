/* Loop subdivision and its limit surface: refinement against the files of OpenSubdiv, Stam's method against
 * deep subdivision, memory that runs out. */
#include "cages.h"

#include <stdio.h>
#include <stdlib.h>

static abut_mesh *load(const char *relative) {
    abut_mesh *mesh = NULL;
    abut_error error = {0};
    char path[512];
    snprintf(path, sizeof path, "%s", support_shared(relative));
    if (abut_mesh_load(NULL, path, &mesh, &error) != ABUT_OK) fail_msg("%s", error.message);
    return mesh;
}

/* Every refined point must be a point of the next file, to the digits of the files (9): 1e-6 relative. */
static void check_refinement(const char *coarse, const char *fine) {
    abut_mesh *a = load(coarse), *b = load(fine);
    loop_mesh m, r;
    assert_int_equal(loop_mesh_from_cage(NULL, a, 1, &m, NULL), ABUT_OK);
    assert_int_equal(loop_mesh_refine(&m, &r, NULL), ABUT_OK);
    assert_int_equal(r.point_count, b->point_count);
    assert_int_equal(r.triangle_count, b->face_count);
    double worst = 0;
    for (int64_t i = 0; i < r.point_count; i++) {
        double best = INFINITY;
        for (int64_t j = 0; j < b->point_count; j++)
            best = fmin(best, vec3_distance(r.points[i], b->points[j]));
        worst = fmax(worst, best);
    }
    assert_true(worst < 2e-7); /* the files have 9 digits, and carry the rounding of the coarser one */
    loop_mesh_free(&m), loop_mesh_free(&r);
    abut_mesh_free(NULL, a), abut_mesh_free(NULL, b);
}

static void test_opensubdiv_files(void **state) {
    (void)state;
    check_refinement("meshes/real/osd_loop_cube_level0.obj", "meshes/real/osd_loop_cube_level1.obj");
    check_refinement("meshes/real/osd_loop_cube_level1.obj", "meshes/real/osd_loop_cube_level2.obj");
    check_refinement("meshes/real/osd_loop_icosahedron_level0.obj",
                     "meshes/real/osd_loop_icosahedron_level1.obj");
    check_refinement("meshes/real/osd_loop_icosahedron_level1.obj",
                     "meshes/real/osd_loop_icosahedron_level2.obj");
}

static double worst_of(const partials *a, const partials *b, double scale, int order) {
    const vec3 *x = (const vec3 *)a, *y = (const vec3 *)b;
    double worst = vec3_distance(x[0], y[0]), f = 1;
    for (int k = 1; k < (order == 3 ? 10 : 6); k++) {
        int n = k < 3 ? 1 : k < 6 ? 2 : 3;
        f = n == 1 ? scale : n == 2 ? scale * scale : scale * scale * scale;
        worst = fmax(worst, vec3_max_abs(vec3_sub(x[k], vec3_scale(y[k], f))) / (1 + vec3_max_abs(x[k])));
    }
    return worst;
}

/* The limit surface of a cage and that of its refinement are the same surface: triangle 4f + k of the fine
 * one is the part k of triangle f, with half the parameters (turned by half a turn for k = 3).  Following a
 * point down by explicit subdivision until its triangle is regular compares Stam's method, all partials, and
 * the signs that his code has wrong, with the plain box spline. */
static void compare_levels(const abut_mesh *cage, int levels, uint64_t *seed) {
    loop_mesh mesh[8];
    abut_surface *limit = NULL;
    assert_int_equal(abut_surface_loop(NULL, cage, NULL, &limit, NULL), ABUT_OK);
    assert_int_equal(loop_mesh_from_cage(NULL, cage, 1, &mesh[0], NULL), ABUT_OK);
    for (int l = 0; l < levels; l++)
        assert_int_equal(loop_mesh_refine(&mesh[l], &mesh[l + 1], NULL), ABUT_OK);
    int checked = 0;
    for (int trial = 0; trial < 400; trial++) {
        int64_t t = support_int(seed, 0, (int)mesh[0].triangle_count - 1), top = t;
        double u0 = random_unit(seed), v0 = random_unit(seed) * (1 - u0), b[3] = {1 - u0 - v0, u0, v0};
        /* draw the point towards a corner, so that all depths are met */
        double pull = pow(0.5, random_range(seed, 0, levels));
        int corner = support_int(seed, 0, 2);
        for (int i = 0; i < 3; i++) b[i] = i == corner ? 1 - pull * (1 - b[i]) : pull * b[i];
        double u = b[1], v = b[2], scale = 1;
        for (int l = 0; l <= levels; l++) {
            bool regular = true;
            for (int i = 0; i < 3; i++) regular &= mesh[l].valence[mesh[l].corners[3 * t + i]] == 6;
            if (regular) {
                vec3 stencil[STENCIL_POINTS];
                double net[TRIANGLE_NUMBERS];
                partials want, got;
                loop_mesh_stencil(&mesh[l], t, stencil);
                triangle_from_stencil(stencil, net);
                triangle_evaluate(net, b[1], b[2], 3, &want);
                assert_true(abut_surface_evaluate(limit, (int)top, u, v, 3, &got));
                /* rounding of the fine points, 1e-15, is multiplied by scale^3 in the third differences */
                double error = worst_of(&got, &want, scale, 3),
                       bound = 2e-14 * fmax(1, fabs(scale * scale * scale));
                if (!(error < bound))
                    fail_msg("triangle %d at %g,%g level %d: error %g", (int)top, u, v, l, error);
                checked++;
                break;
            }
            int k = b[0] >= 0.5 ? 0 : b[1] > 0.5 ? 1 : b[2] > 0.5 ? 2 : 3;
            for (int i = 0; i < 3; i++) b[i] = k == 3 ? 1 - 2 * b[i] : 2 * b[i] - (i == k);
            t = 4 * t + k, scale *= k == 3 ? -2 : 2;
        }
    }
    assert_true(checked > 100);
    for (int l = 0; l <= levels; l++) loop_mesh_free(&mesh[l]);
    abut_surface_free(NULL, limit);
}

static void test_stam_against_subdivision(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int n = 3; n <= 12; n++) {
        double_cone d;
        make_double_cone(&d, n, 0.1, &seed);
        compare_levels(&d.mesh, 5, &seed);
    }
}

/* Beyond the tabulated levels: the surface at (u, v) scaled down by 2^-k must obey the two-scale relation of
 * its own definition; we check continuity across every level's border (where the level and the child change)
 * to second order, at depths where explicit subdivision cannot follow. */
static void test_stam_deep(void **state) {
    (void)state;
    uint64_t seed = 8;
    for (int n = 3; n <= 20; n++) {
        double_cone d;
        make_double_cone(&d, n, 0.1, &seed);
        abut_surface *s = NULL;
        assert_int_equal(abut_surface_loop(NULL, &d.mesh, NULL, &s, NULL), ABUT_OK);
        for (int depth = 1; depth < 40; depth++) {
            /* corner 2 of face 0 is the apex of valence n: b2 close to 1 */
            double size = ldexp(1, -depth), f = random_range(&seed, 0.1, 0.9), h = size * 1e-13;
            partials a, b;
            double away = size + h, u = f * away;
            if (1 - away == 1) break;
            assert_true(abut_surface_evaluate(s, 0, u, 1 - away, 2, &a));
            away = size - h, u = f * away;
            assert_true(abut_surface_evaluate(s, 0, u, 1 - away, 2, &b));
            /* 1 - away rounds away to 1e-16 / size of itself */
            double slack = 1e-9 + 1e-14 / size;
            if (slack > 1e-3) break;
            assert_true(vec3_distance(a.c, b.c) <
                        1e-14 + slack * size * (vec3_length(a.u) + vec3_length(a.v)));
            assert_true(vec3_distance(a.u, b.u) <= slack * (vec3_length(a.u) + vec3_length(a.v)));
            assert_true(vec3_distance(a.uv, b.uv) <=
                        slack * 10 * (vec3_length(a.uu) + vec3_length(a.uv) + vec3_length(a.vv)));
        }
        /* at the vertex: no derivatives; the position is the limit of near ones, the normal too */
        partials v, near;
        assert_int_equal(abut_surface_evaluate(s, 0, 0, 1, 3, &v), n == 6);
        assert_true(abut_surface_evaluate(s, 0, 1e-9, 1 - 2e-9, 1, &near));
        assert_true(vec3_distance(v.c, near.c) < 1e-4);
        assert_true(vec3_dot(abut_partials_normal(&v), abut_partials_normal(&near)) > 1 - 1e-4);
        abut_surface_free(NULL, s);
    }
}

/* The limit position by the left eigenvector against sixty explicit steps of the ring's subdivision. */
static void test_limit_position(void **state) {
    (void)state;
    uint64_t seed = 9;
    for (int n = 3; n <= 30; n++) {
        if (n == 6) continue;
        double_cone d;
        make_double_cone(&d, n, 0.1, &seed);
        abut_surface *s = NULL;
        partials at;
        assert_int_equal(abut_surface_loop(NULL, &d.mesh, NULL, &s, NULL), ABUT_OK);
        abut_surface_evaluate(s, 0, 0, 1, 0, &at);
        vec3 c = d.points[n], ring[30], next[30];
        memcpy(ring, d.points, (size_t)n * sizeof *ring);
        for (int step = 0; step < 200; step++) {
            vec3 mean = vec3_zero();
            double a = 0.625 - pow(0.375 + 0.25 * cos(6.283185307179586 / n), 2);
            for (int i = 0; i < n; i++) {
                mean = vec3_axpy(mean, 1.0 / n, ring[i]);
                next[i] = vec3_axpy(vec3_scale(vec3_add(c, ring[i]), 0.375), 0.125,
                                    vec3_add(ring[(i + 1) % n], ring[(i + n - 1) % n]));
            }
            c = vec3_lerp(c, mean, a);
            memcpy(ring, next, sizeof ring);
        }
        assert_true(vec3_distance(c, at.c) < 1e-13);
        abut_surface_free(NULL, s);
    }
}

/* Neighbouring patches give the same points along their common edge, and the same normals. */
static void test_joined_edges(void **state) {
    (void)state;
    abut_mesh *cage = load("meshes/real/spot_control_mesh.obj");
    abut_surface *s = NULL;
    abut_error error = {0};
    if (abut_surface_loop(NULL, cage, NULL, &s, &error) != ABUT_OK) fail_msg("%s", error.message);
    for (int p = 0; p < abut_surface_patch_count(s); p++)
        for (int e = 0; e < 3; e++) {
            int q, f;
            assert_true(abut_surface_neighbour(s, p, e, &q, &f));
            for (int i = 1; i < 8; i += 3) {
                const double *a = domain_triangle[e], *b = domain_triangle[(e + 1) % 3];
                const double *c = domain_triangle[f], *d = domain_triangle[(f + 1) % 3];
                double t = i / 8.0;
                partials x, y;
                abut_surface_evaluate(s, p, a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), 1, &x);
                abut_surface_evaluate(s, q, d[0] + t * (c[0] - d[0]), d[1] + t * (c[1] - d[1]), 1, &y);
                assert_true(vec3_distance(x.c, y.c) < 1e-14);
                assert_true(vec3_distance(abut_partials_normal(&x), abut_partials_normal(&y)) < 1e-9);
            }
        }
    abut_surface_free(NULL, s);
    abut_mesh_free(NULL, cage);
}

static abut_status build_once(const abut_context *context, void *user) {
    abut_surface *s = NULL;
    abut_status status = abut_surface_loop(context, user, NULL, &s, NULL);
    abut_surface_free(context, s);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    uint64_t seed = 10;
    double_cone d;
    make_double_cone(&d, 5, 0.1, &seed);
    assert_true(support_fail_each(build_once, &d.mesh) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opensubdiv_files), cmocka_unit_test(test_stam_against_subdivision),
        cmocka_unit_test(test_stam_deep),        cmocka_unit_test(test_limit_position),
        cmocka_unit_test(test_joined_edges),     cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
