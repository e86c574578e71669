/* The writers: every format read back, faces cut into triangles, and what cannot be written. */
#define _POSIX_C_SOURCE 200809L
#include "solid/polygon.h"
#include "solid/read.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static abut_mesh *read_obj(const char *text) {
    abut_mesh *mesh = NULL;
    abut_error error = {0};
    if (abut_mesh_read(NULL, text, strlen(text), ABUT_FORMAT_OBJ, "given", &mesh, &error) != ABUT_OK)
        fail_msg("line %d: %s", error.line, error.message);
    return mesh;
}

/* A cube with a window through it in quads and two keyhole caps, with awkward coordinates. */
static const char *const window =
    "v -3 -2 0\nv 3 -2 0\nv 3 2 0\nv -3 2 0\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\n"
    "v -3 -2 0.1\nv 3 -2 0.1\nv 3 2 0.1\nv -3 2 0.1\nv -1 -1 0.1\nv 1 -1 0.1\nv 1 1 0.1\nv -1 1 0.1\n"
    "f 1 2 6 5\nf 9 10 11 12 9 13 16 15 14 13\n";

static void expect_same(const abut_mesh *a, const abut_mesh *b) {
    assert_int_equal(a->point_count, b->point_count);
    assert_int_equal(a->face_count, b->face_count);
    assert_int_equal(a->corner_count, b->corner_count);
    assert_memory_equal(a->points, b->points, (size_t)a->point_count * sizeof *a->points);
    assert_memory_equal(a->corners, b->corners, (size_t)a->corner_count * sizeof *a->corners);
    assert_memory_equal(a->face_start, b->face_start, (size_t)(a->face_count + 1) * sizeof *a->face_start);
}

static abut_mesh *save_and_load(const abut_mesh *mesh, const char *extension) {
    char name[40];
    snprintf(name, sizeof name, "mesh.%s", extension);
    const char *path = support_temporary(name);
    abut_error error = {0};
    abut_mesh *back = NULL;
    if (abut_mesh_save(NULL, mesh, path, &error) != ABUT_OK ||
        abut_mesh_load(NULL, path, &back, &error) != ABUT_OK)
        fail_msg("%s: %s", path, error.message);
    remove(path);
    return back;
}

/* Bits survive OBJ, OFF and PLY, for numbers of all sizes. */
static void test_round_trip(void **state) {
    (void)state;
    abut_mesh *m = read_obj(window);
    uint64_t seed = 5;
    for (int trial = 0; trial < 20; trial++) {
        static const char *const extensions[] = {"obj", "OFF", "ply"};
        for (int i = 0; i < COUNT_OF(extensions); i++) {
            abut_mesh *back = save_and_load(m, extensions[i]);
            expect_same(m, back);
            abut_mesh_free(NULL, back);
        }
        for (int64_t i = 0; i < m->point_count; i++) {
            double size = pow(10, random_range(&seed, -300, 300));
            m->points[i] = vec3_make(size * random_range(&seed, -1, 1), random_range(&seed, -1, 1), -0.0);
        }
    }
    abut_mesh_free(NULL, m);
}

/* A face of 300 corners needs a wider list count in PLY. */
static void test_large_face(void **state) {
    (void)state;
    enum { N = 300 };
    char text[N * 64];
    size_t n = 0;
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, "v %.17g %.17g 0\n", cos(i * 6.283185307179586 / N),
                             sin(i * 6.283185307179586 / N));
    n += (size_t)sprintf(text + n, "f");
    for (int i = 1; i <= N; i++) n += (size_t)sprintf(text + n, " %d", i);
    abut_mesh *m = read_obj(text), *back = save_and_load(m, "ply");
    expect_same(m, back);
    abut_mesh_free(NULL, back);
    back = save_and_load(m, "stl");
    assert_int_equal(back->face_count, N - 2);
    abut_mesh_free(NULL, back);
    abut_mesh_free(NULL, m);
}

/* STL: keyhole faces are cut into triangles that keep the area vector, face by face, all of them turned the
 * same way (so none lies outside the polygon: their areas add up to its area). */
static void test_stl_triangles(void **state) {
    (void)state;
    abut_mesh *m = read_obj(window), *back = save_and_load(m, "stl");
    assert_int_equal(back->face_count, 2 + 8);
    double area = 0, absolute = 0;
    for (int64_t f = 2; f < back->face_count; f++) {
        vec3 a = polygon_area2(back->points, back->corners + 3 * f, 3);
        area += a.z, absolute += vec3_length(a);
        assert_true(a.z > 0);
    }
    /* 6 x 4 less the window 2 x 2, twice; every number here is exact in float32 */
    assert_true(area == 2 * (24 - 4));
    assert_true(absolute == area);
    abut_mesh_free(NULL, back);
    abut_mesh_free(NULL, m);
}

/* Random star-shaped polygons in random planes: n - 2 triangles, areas add up, none turned over. */
static void test_triangulation(void **state) {
    (void)state;
    enum { MOST = 40 };
    uint64_t seed = 11;
    for (int trial = 0; trial < 2000; trial++) {
        int n = 3 + (int)(random_bits(&seed) % (MOST - 2)), corners[MOST], next[MOST], prev[MOST];
        int triangles[MOST - 2][3];
        vec3 points[MOST];
        vec3 w = vec3_unit(
            vec3_make(random_range(&seed, -1, 1), random_range(&seed, -1, 1), random_range(&seed, -1, 1)));
        vec3 u = vec3_orthogonal(w), v = vec3_cross(w, u);
        for (int i = 0; i < n; i++) {
            double angle = 6.283185307179586 * (i + 0.8 * random_unit(&seed)) / n;
            double radius = random_range(&seed, 0.2, 1);
            points[i] = vec3_add(vec3_scale(u, radius * cos(angle)), vec3_scale(v, radius * sin(angle)));
            corners[i] = i;
        }
        polygon_triangulate(points, corners, n, next, prev, triangles);
        double whole = vec3_dot(polygon_area2(points, corners, n), w), sum = 0;
        for (int i = 0; i < n - 2; i++) {
            double part = vec3_dot(polygon_area2(points, triangles[i], 3), w);
            assert_true(part > -1e-15);
            sum += part;
        }
        assert_true(fabs(sum - whole) < 1e-13);
    }
    /* a polygon that crosses itself, and one that is a line: some triangles, no hang */
    vec3 points[4] = {{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}};
    int corners[4] = {0, 1, 2, 3}, next[4], prev[4], triangles[2][3];
    polygon_triangulate(points, corners, 4, next, prev, triangles);
    for (int i = 0; i < 4; i++) points[i] = vec3_make(i, 0, 0);
    polygon_triangulate(points, corners, 4, next, prev, triangles);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) assert_true(triangles[i][k] >= 0 && triangles[i][k] < 4);
}

static void test_save_errors(void **state) {
    (void)state;
    abut_mesh *m = read_obj(window);
    abut_error error = {0};
    assert_int_equal(abut_mesh_save(NULL, m, "/tmp/x.gltf", &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "end it in .obj, .stl, .ply or .off"));
    assert_int_equal(abut_mesh_save(NULL, m, "/nonexistent/x.obj", &error), ABUT_IO);
    assert_non_null(strstr(error.message, "cannot be written"));
    if (access("/dev/full", W_OK) == 0) { /* a full disk, through a name that tells the format */
        const char *link = support_temporary("full.obj");
        assert_int_equal(symlink("/dev/full", link), 0);
        assert_int_equal(abut_mesh_save(NULL, m, link, &error), ABUT_IO);
        remove(link);
    }
    m->points[3].x = 1e39;
    assert_int_equal(abut_mesh_save(NULL, m, "/nonexistent/x.stl", &error), ABUT_INVALID);
    m->points[3].x = NAN;
    assert_int_equal(abut_mesh_save(NULL, m, "/nonexistent/x.obj", &error), ABUT_INVALID);
    m->points[3].x = 0;
    m->corners[2] = 16;
    assert_int_equal(abut_mesh_save(NULL, m, "/nonexistent/x.obj", &error), ABUT_INVALID);
    abut_mesh_free(NULL, m);
}

/* ---- memory */
static abut_status save(const abut_context *context, void *user) {
    abut_mesh *m = read_obj(window);
    abut_error error = {0};
    abut_status status = abut_mesh_save(context, m, user, &error);
    abut_mesh_free(NULL, m);
    return status;
}

static void test_memory_runs_out(void **state) {
    (void)state;
    static const char *const names[] = {"m.obj", "m.stl", "m.ply", "m.off"};
    for (int i = 0; i < COUNT_OF(names); i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s", support_temporary(names[i]));
        assert_true(support_fail_each(save, path) >= 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_large_face),
        cmocka_unit_test(test_stl_triangles), cmocka_unit_test(test_triangulation),
        cmocka_unit_test(test_save_errors),   cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
