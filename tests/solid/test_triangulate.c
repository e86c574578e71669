/* Triangles of faces: for each, the triangles cover the face exactly.  That is decided without geometry but
 * for signs: every side of the border is a side of one triangle, every other side is shared by two that run
 * along it in opposite directions, all triangles turn the right way, and the areas add up. */
#include "solid/mesh_kit.h"
#include "solid/triangulate.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the judge */

static int by_key(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Directed sides as one number; after sorting, a side and its opposite must balance. */
static void judge_face(const abut_solid *s, int32_t f, bool strict) {
    const solid_face *face = &solid_faces(s)[f];
    int64_t count = triangulate_count(s, f), sides = 0;
    int32_t *triangles = malloc((size_t)count * 3 * sizeof *triangles);
    int64_t corners = count + 2 - 2 * (face->loops - 1);
    int64_t *side = malloc((size_t)(3 * count + corners) * sizeof *side);
    assert_true(triangulate_face(NULL, s, f, triangles));
    double area = 0;
    for (int64_t i = 0; i < count; i++) {
        vec3 p[3];
        for (int k = 0; k < 3; k++) {
            int64_t a = triangles[3 * i + k], b = triangles[3 * i + (k + 1) % 3];
            p[k] = solid_position(s, triangles[3 * i + k]);
            side[sides++] = a << 32 | b;
        }
        double twice = vec3_dot(face->plane.n, vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
        if (strict) assert_true(twice > 0);
        area += twice / 2;
    }
    /* the border, the other way round */
    for (int32_t l = face->first_loop; l < face->first_loop + face->loops; l++)
        for (int32_t i = 0; i < solid_loops(s)[l].count; i++) {
            const solid_coedge *c = &solid_coedges(s)[solid_loops(s)[l].coedge + i];
            side[sides++] = (int64_t)solid_coedges(s)[c->next].vertex << 32 | c->vertex;
        }
    qsort(side, (size_t)sides, sizeof *side, by_key);
    for (int64_t i = 0; i < sides; i++) {
        if (i > 0) assert_true(side[i] != side[i - 1]);
        int64_t opposite = (int64_t)((uint64_t)side[i] << 32 | (uint64_t)side[i] >> 32);
        assert_non_null(bsearch(&opposite, side, (size_t)sides, sizeof *side, by_key));
    }
    assert_true(fabs(area - face->area) <= 1e-12 * face->area);
    free(side);
    free(triangles);
}

static abut_solid *build(mesh_kit *kit) {
    abut_mesh mesh = kit_mesh(kit);
    abut_solid *solid = NULL;
    abut_error error = {0};
    if (abut_solid_build(NULL, &mesh, NULL, &solid, &error)) fail_msg("%s", error.message);
    return solid;
}

static void judge(mesh_kit *kit) {
    abut_solid *s = build(kit);
    for (int32_t f = 0; f < s->face_count; f++) judge_face(s, f, true);
    abut_solid_free(NULL, s);
}

/* ---- shapes */

/* A prism over an outline, counter-clockwise. */
static void kit_prism(mesh_kit *kit, const double (*outline)[2], int count) {
    int *cap = malloc((size_t)count * sizeof *cap);
    for (int z = 0; z < 2; z++)
        for (int i = 0; i < count; i++) kit_point(kit, vec3_make(outline[i][0], outline[i][1], z));
    for (int i = 0; i < count; i++) cap[i] = count - 1 - i;
    kit_face(kit, count, cap);
    for (int i = 0; i < count; i++) cap[i] = count + i;
    kit_face(kit, count, cap);
    for (int i = 0; i < count; i++)
        kit_face(kit, 4, (int[]){i, (i + 1) % count, count + (i + 1) % count, count + i});
    free(cap);
}

static void test_random_stars(void **unused) {
    (void)unused;
    uint64_t state = 3;
    static mesh_kit kit;
    for (int round = 0; round < 60; round++) {
        memset(&kit, 0, sizeof kit);
        double outline[200][2];
        int count = support_int(&state, 5, 200);
        for (int i = 0; i < count; i++) {
            double radius = random_range(&state, 0.2, 2), angle = 6.283185307179586 * i / count;
            outline[i][0] = radius * cos(angle), outline[i][1] = radius * sin(angle);
        }
        kit_prism(&kit, (const double(*)[2])outline, count);
        judge(&kit);
    }
}

/* A comb: many teeth, and corners in the middle of straight sides (its back is cut into pieces by a ladder of
 * notches on the other side). */
static void test_comb(void **unused) {
    (void)unused;
    static mesh_kit kit;
    static double outline[1601][2];
    int count = 0;
    for (int i = 0; i < 400; i++) {
        double tooth[4][2] = {{2.0 * i, 0}, {2.0 * i + 1, 0}, {2.0 * i + 1, 5}, {2.0 * i + 2, 5}};
        for (int k = 0; k < 4; k++) outline[count][0] = tooth[k][0], outline[count][1] = tooth[k][1], count++;
    }
    outline[count - 1][1] = 9;                             /* the back: up, */
    outline[count][0] = 0, outline[count][1] = 9, count++; /* and along it */
    kit_prism(&kit, (const double(*)[2])outline, count);
    judge(&kit);
}

/* A plate with k x k square holes, as quads of a grid: the cap merges into one face with k^2 holes. */
static void test_many_holes(void **unused) {
    (void)unused;
    enum { K = 9, N = 2 * K + 1, P = N + 1 };
    static mesh_kit kit;
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < P; y++)
            for (int x = 0; x < P; x++) kit_point(&kit, vec3_make(x, y, 3 * z));
#define AT(x, y, z) ((z)*P * P + (y)*P + (x))
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            bool hole = x % 2 && y % 2;
            if (!hole) {
                kit_face(&kit, 4,
                         (int[]){AT(x, y, 1), AT(x + 1, y, 1), AT(x + 1, y + 1, 1), AT(x, y + 1, 1)});
                kit_face(&kit, 4,
                         (int[]){AT(x, y, 0), AT(x, y + 1, 0), AT(x + 1, y + 1, 0), AT(x + 1, y, 0)});
                continue;
            }
            int ring[5][2] = {{x, y}, {x, y + 1}, {x + 1, y + 1}, {x + 1, y}, {x, y}};
            for (int i = 0; i < 4; i++)
                kit_face(&kit, 4,
                         (int[]){AT(ring[i][0], ring[i][1], 0), AT(ring[i + 1][0], ring[i + 1][1], 0),
                                 AT(ring[i + 1][0], ring[i + 1][1], 1), AT(ring[i][0], ring[i][1], 1)});
        }
    for (int i = 0; i < N; i++) {
        kit_face(&kit, 4, (int[]){AT(i, 0, 0), AT(i + 1, 0, 0), AT(i + 1, 0, 1), AT(i, 0, 1)});
        kit_face(&kit, 4, (int[]){AT(i + 1, N, 0), AT(i, N, 0), AT(i, N, 1), AT(i + 1, N, 1)});
        kit_face(&kit, 4, (int[]){AT(0, i + 1, 0), AT(0, i, 0), AT(0, i, 1), AT(0, i + 1, 1)});
        kit_face(&kit, 4, (int[]){AT(N, i, 0), AT(N, i + 1, 0), AT(N, i + 1, 1), AT(N, i, 1)});
    }
#undef AT
    abut_solid *s = build(&kit);
    abut_solid_facts facts = abut_solid_facts_of(s);
    assert_int_equal(facts.genus, K * K);
    assert_int_equal(facts.maximal_faces, 2 + 4 + 4 * K * K);
    assert_int_equal(facts.maximal_vertices, 8 + 8 * K * K);
    assert_int_equal(abut_solid_face_loops(s, abut_solid_face_of_file(s, 0), NULL, NULL), 1 + K * K);
    assert_true(facts.volume == 3.0 * (N * N - K * K) && facts.smallest_feature == 1);
    for (int32_t f = 0; f < s->face_count; f++) judge_face(s, f, true);
    abut_solid_free(NULL, s);
}

/* A cap of 10,000 corners, round and as a star: takes milliseconds, not seconds. */
static void test_large_cap(void **unused) {
    (void)unused;
    enum { N = 10000 };
    for (int star = 0; star < 2; star++) {
        abut_mesh mesh = {.point_count = 2 * N, .face_count = N + 2, .corner_count = 6 * N};
        mesh.points = malloc(2 * N * sizeof *mesh.points);
        mesh.corners = malloc(6 * N * sizeof *mesh.corners);
        mesh.face_start = malloc((N + 3) * sizeof *mesh.face_start);
        int64_t c = 0;
        for (int i = 0; i < N; i++) {
            double radius = star && i % 2 ? 0.5 : 1, angle = 6.283185307179586 * i / N;
            for (int z = 0; z < 2; z++)
                mesh.points[z * N + i] = vec3_make(radius * cos(angle), radius * sin(angle), 0.1 * z);
        }
        mesh.face_start[0] = 0, mesh.face_start[1] = N;
        for (int i = 0; i < N; i++) mesh.corners[c++] = N - 1 - i;
        for (int i = 0; i < N; i++) mesh.corners[c++] = N + i;
        for (int i = 0; i < N; i++) {
            int quad[4] = {i, (i + 1) % N, N + (i + 1) % N, N + i};
            for (int k = 0; k < 4; k++) mesh.corners[c++] = quad[k];
        }
        for (int f = 1; f <= N; f++) mesh.face_start[f + 1] = 2 * (int64_t)N + 4 * (f - 1);
        mesh.face_start[N + 2] = 6 * (int64_t)N;
        abut_solid_options o = abut_default_solid_options();
        o.weld = 1e-12;
        abut_solid *s = NULL;
        abut_error error = {0};
        if (abut_solid_build(NULL, &mesh, &o, &s, &error)) fail_msg("%s", error.message);
        assert_int_equal(s->face_count, N + 2);
        double start = clock_now();
        judge_face(s, 0, false);
        judge_face(s, 1, false);
        assert_true(clock_now() - start < 10);
        abut_solid_free(NULL, s);
        free(mesh.points), free(mesh.corners), free(mesh.face_start);
    }
}

/* All shared solids: the sum of the triangles is the solid. */
static void test_shared(void **unused) {
    (void)unused;
    const char *const names[] = {"solid/gear_z12.obj",           "solid/comb.obj",
                                 "solid/bolt_m10.obj",           "solid/nut_m10.obj",
                                 "real/trimesh_plate_holes.stl", "real/trimesh_featuretype.stl",
                                 "real/ripc_press_p3.off",       "broken/ngon_hole_bridge.obj"};
    for (int i = 0; i < COUNT_OF(names); i++) {
        char path[64];
        abut_solid *s = NULL;
        abut_error error = {0};
        snprintf(path, sizeof path, "meshes/%s", names[i]);
        if (abut_solid_load(NULL, support_shared(path), NULL, &s, &error))
            fail_msg("%s: %s", path, error.message);
        for (int32_t f = 0; f < s->face_count; f++) judge_face(s, f, false);
        abut_solid_free(NULL, s);
    }
}

static abut_status attempt(const abut_context *context, void *user) {
    int32_t *triangles = NULL;
    int64_t count = 0;
    abut_status status = abut_solid_triangles(context, user, &triangles, &count, NULL);
    if (!status) abut_solid_triangles_free(context, triangles, count);
    return status;
}

static void test_memory(void **unused) {
    (void)unused;
    abut_solid *s = NULL;
    assert_int_equal(
        abut_solid_load(NULL, support_shared("meshes/broken/ngon_hole_bridge.obj"), NULL, &s, NULL), ABUT_OK);
    support_fail_each(attempt, s);
    abut_solid_free(NULL, s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_stars), cmocka_unit_test(test_comb),
                                       cmocka_unit_test(test_many_holes),   cmocka_unit_test(test_large_cap),
                                       cmocka_unit_test(test_shared),       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
