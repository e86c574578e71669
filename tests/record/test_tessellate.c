/* Triangles for drawing against the shapes they stand for: points on the surface, normals of the surface,
 * volumes that fall short by the order of the facets, no cracks. */
#include "abut/surface.h"
#include "record/tessellate.h"
#include "support.h"

#include <stdlib.h>

/* Sum of a . (b x c) / 6 over the triangles (divergence theorem). */
static double volume(const tessellation *t) {
    double sum = 0;
    for (int64_t i = 0; i < t->triangles.count; i += 3) {
        const int32_t *v = t->triangles.data + i;
        sum += vec3_triple(t->points.data[v[0]], t->points.data[v[1]], t->points.data[v[2]]) / 6;
    }
    return sum;
}

/* Every triangle has an area and turns the way its normals point. */
static void assert_turns_with_normals(const tessellation *t) {
    assert_int_equal(t->points.count, t->normals.count);
    for (int64_t i = 0; i < t->triangles.count; i += 3) {
        const int32_t *v = t->triangles.data + i;
        vec3 a = t->points.data[v[0]], b = t->points.data[v[1]], c = t->points.data[v[2]];
        vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
        assert_true(vec3_length(n) > 0);
        for (int k = 0; k < 3; k++) assert_true(vec3_dot(n, t->normals.data[v[k]]) > 0);
    }
    for (int64_t i = 0; i < t->normals.count; i++)
        assert_true(fabs(vec3_length(t->normals.data[i]) - 1) < 1e-14);
}

static tessellation analytic(abut_shape shape) {
    tessellation t = {0};
    abut_error error = {0};
    assert_int_equal(tessellate_analytic(NULL, &shape, vec3_make(1, 2, 3), 5, &t, &error), ABUT_OK);
    assert_turns_with_normals(&t);
    return t;
}

/* Inscribed in a ball by 64 x 32: a polygon of n sides has the area of its circle times sin(x)/x, x = 2 pi/n,
 * so the volume lacks x^2/6 of slices and about the same of stacks: 0.4 %. */
static void analytic_shapes_have_their_volumes(void **state) {
    (void)state;
    const double pi = 3.141592653589793;
    const struct {
        abut_shape shape;
        double volume;
    } cases[] = {
        {abut_shape_sphere(0.5), 4 * pi / 3 * 0.125},
        {abut_shape_cavity(2), -4 * pi / 3 * 8},
        {abut_shape_ellipsoid(1, 2, 0.1), 4 * pi / 3 * 0.2},
        {abut_shape_capsule(0.5, 3), pi * 0.25 * 3 + 4 * pi / 3 * 0.125},
        {abut_shape_cylinder(2, 0.25), pi * 4 * 0.25},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        tessellation t = analytic(cases[i].shape);
        double ratio = volume(&t) / cases[i].volume;
        assert_true(ratio < 1 && ratio > 0.99);
        tessellation_free(NULL, &t);
    }
}

static void points_lie_on_the_surface(void **state) {
    (void)state;
    tessellation t = analytic(abut_shape_ellipsoid(1, 2, 3));
    for (int64_t i = 0; i < t.points.count; i++) {
        vec3 p = t.points.data[i], g = vec3_make(p.x, p.y / 4, p.z / 9);
        assert_true(fabs(vec3_dot(g, p) - 1) < 1e-14);
        assert_true(vec3_distance(vec3_unit(g), t.normals.data[i]) < 1e-14);
    }
    tessellation_free(NULL, &t);
    t = analytic(abut_shape_halfspace(vec3_make(0, 0.6, 0.8), 2));
    for (int64_t i = 0; i < t.points.count; i++) {
        assert_true(fabs(0.6 * t.points.data[i].y + 0.8 * t.points.data[i].z - 2) < 1e-14);
        assert_true(vec3_distance(t.points.data[i], vec3_make(1, 2 - 1.6 * 0.6, 3 - 1.6 * 0.8)) > 7);
    }
    tessellation_free(NULL, &t);
}

/* Points that differ by less than 1e-9 are one; each side of a triangle is then met once each way. */
static void assert_has_no_cracks(const tessellation *t) {
    int64_t n = t->triangles.count;
    int *same = calloc((size_t)t->points.count, sizeof *same);
    for (int i = 0; i < t->points.count; i++) {
        same[i] = i;
        for (int j = 0; j < i; j++)
            if (vec3_distance(t->points.data[i], t->points.data[j]) < 1e-9) {
                same[i] = j;
                break;
            }
    }
    map64 sides = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < n; i++) {
            int a = same[t->triangles.data[i]], b = same[t->triangles.data[i - i % 3 + (i % 3 + 1) % 3]];
            uint64_t forth = (uint64_t)a << 32 | (uint32_t)b, back = (uint64_t)b << 32 | (uint32_t)a;
            if (pass == 0) {
                int32_t *count = map64_put(NULL, &sides, forth, 0);
                assert_int_equal(++*count, 1);
            } else {
                assert_non_null(map64_get(&sides, back));
            }
        }
    map64_free(NULL, &sides);
    free(same);
}

static const char cage[] = "v 1 1 1\nv -1 -1 1\nv -1 1 -1\nv 1 -1 -1\n"
                           "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/* The Loop surface of a tetrahedron, all of whose vertices are extraordinary, in both forms. */
static void smooth_surfaces_are_closed(void **state) {
    (void)state;
    abut_error error = {0};
    abut_mesh *mesh = NULL;
    assert_int_equal(abut_mesh_read(NULL, cage, sizeof cage - 1, ABUT_FORMAT_OBJ, "cage.obj", &mesh, &error),
                     ABUT_OK);
    for (int form = 0; form < 2; form++) {
        abut_loop_options options = abut_default_loop_options();
        options.form = form ? ABUT_LOOP_SMOOTH : ABUT_LOOP_LIMIT;
        abut_surface *surface = NULL;
        assert_int_equal(abut_surface_loop(NULL, mesh, &options, &surface, &error), ABUT_OK);
        tessellation t = {0};
        assert_int_equal(tessellate_surface(NULL, surface, &t, &error), ABUT_OK);
        assert_true(t.triangles.count / 3 > 500 && t.triangles.count / 3 < 60000);
        abut_surface_measures m;
        assert_int_equal(abut_surface_measure(surface, 1e-6, &m, &error), ABUT_OK);
        assert_true(fabs(volume(&t) / m.volume - 1) < 0.02);
        if (form == 0) assert_has_no_cracks(&t);
        tessellation_free(NULL, &t);
        abut_surface_free(NULL, surface);
    }
    abut_mesh_free(NULL, mesh);
}

static abut_status attempt(const abut_context *context, void *user) {
    (void)user;
    abut_shape shape = abut_shape_cylinder(1, 2);
    tessellation t = {0};
    abut_error error = {0};
    abut_status status = tessellate_analytic(context, &shape, vec3_zero(), 1, &t, &error);
    tessellation_free(context, &t);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    assert_true(support_fail_each(attempt, NULL) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(analytic_shapes_have_their_volumes),
        cmocka_unit_test(points_lie_on_the_surface),
        cmocka_unit_test(smooth_surfaces_are_closed),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
