/* Building solids: meshes written by hand with answers from Euler's formula and closed forms. */
#include "solid/mesh_kit.h"

static void assert_builds(const abut_mesh *mesh, const abut_solid_options *options, abut_solid **solid) {
    abut_error error = {0};
    if (abut_solid_build(NULL, mesh, options, solid, &error) != ABUT_OK) fail_msg("%s", error.message);
    if (solid_validate(*solid, &error) != ABUT_OK) fail_msg("%s", error.message);
}

/* A box of triangles: 8 vertices, 18 edges, 12 faces become 8, 12, 6. */
static void test_cube(void **state) {
    (void)state;
    static mesh_kit kit;
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(2, 3, 4), true, 1);
    abut_mesh mesh = kit_mesh(&kit);
    abut_solid *solid = NULL;
    assert_builds(&mesh, NULL, &solid);
    abut_solid_facts f = abut_solid_facts_of(solid);
    assert_int_equal(f.vertices, 8);
    assert_int_equal(f.edges, 18);
    assert_int_equal(f.faces, 12);
    assert_int_equal(f.maximal_vertices, 8);
    assert_int_equal(f.maximal_edges, 12);
    assert_int_equal(f.maximal_faces, 6);
    assert_int_equal(f.planes, 6);
    assert_int_equal(f.genus, 0);
    assert_true(f.convex);
    assert_true(f.volume == 24 && f.area == 52 && f.smallest_feature == 2);
    assert_true(f.center.x == 1 && f.center.y == 1.5 && f.center.z == 2);
    abut_mass m = abut_solid_mass(solid, 2);
    assert_true(m.mass == 48 && fabs(m.inertia[0] - 48 * 25.0 / 12) < 1e-12 && m.inertia[3] == 0);
    abut_solid_free(NULL, solid);
    /* keep_facets: the file's faces stay, their diagonals are flat */
    abut_solid_options keep = abut_default_solid_options();
    keep.keep_facets = true;
    assert_builds(&mesh, &keep, &solid);
    f = abut_solid_facts_of(solid);
    assert_true(f.maximal_faces == 12 && f.maximal_edges == 18 && f.planes == 6 && f.convex);
    abut_solid_free(NULL, solid);
}

/* A box with a box-shaped void: two shells, one cavity; the same void turned outward is refused. */
static void test_cavity(void **state) {
    (void)state;
    static mesh_kit kit;
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(3, 3, 3), false, 1);
    kit_add_box(&kit, vec3_make(1, 1, 1), vec3_make(2, 2, 2), true, -1);
    abut_mesh mesh = kit_mesh(&kit);
    abut_solid *solid = NULL;
    assert_builds(&mesh, NULL, &solid);
    abut_solid_facts f = abut_solid_facts_of(solid);
    assert_true(f.shells == 2 && f.cavities == 1 && f.genus == 0 && !f.convex && f.volume == 26);
    assert_int_equal(f.maximal_faces, 12);
    int reflex = 0;
    for (int e = 0; e < solid->edge_count; e++) reflex += solid_edges(solid)[e].convexity < 0;
    assert_int_equal(reflex, 12);
    abut_solid_free(NULL, solid);
    static mesh_kit twice;
    kit_add_box(&twice, vec3_make(0, 0, 0), vec3_make(3, 3, 3), false, 1);
    kit_add_box(&twice, vec3_make(1, 1, 1), vec3_make(2, 2, 2), true, 1);
    mesh = kit_mesh(&twice);
    abut_error error = {0};
    assert_int_equal(abut_solid_build(NULL, &mesh, NULL, &solid, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "inside another"));
}

/* A square frame, caps as keyhole polygons: the bridges dissolve into holes, genus 1. */
static void test_keyhole(void **state) {
    (void)state;
    static mesh_kit kit;
    for (int z = 0; z < 2; z++) {
        double outer[4][2] = {{0, 0}, {10, 0}, {10, 10}, {0, 10}},
               inner[4][2] = {{3, 3}, {3, 7}, {7, 7}, {7, 3}};
        for (int i = 0; i < 4; i++) kit_point(&kit, vec3_make(outer[i][0], outer[i][1], 2 * z));
        for (int i = 0; i < 4; i++) kit_point(&kit, vec3_make(inner[i][0], inner[i][1], 2 * z));
    }
    kit_face(&kit, 10, (int[]){8, 9, 10, 11, 8, 12, 13, 14, 15, 12});
    kit_face(&kit, 10, (int[]){0, 4, 7, 6, 5, 4, 0, 3, 2, 1});
    for (int i = 0; i < 4; i++) {
        int j = (i + 1) % 4;
        kit_face(&kit, 4, (int[]){i, j, 8 + j, 8 + i});
        kit_face(&kit, 4, (int[]){4 + i, 4 + j, 12 + j, 12 + i});
    }
    abut_mesh mesh = kit_mesh(&kit);
    abut_solid *solid = NULL;
    assert_builds(&mesh, NULL, &solid);
    abut_solid_facts f = abut_solid_facts_of(solid);
    assert_true(f.vertices == 16 && f.edges == 26 && f.faces == 10);
    assert_true(f.maximal_vertices == 16 && f.maximal_edges == 24 && f.maximal_faces == 10 && f.genus == 1);
    assert_true(f.volume == 168 && f.area == 280 && f.smallest_feature == 2);
    int64_t cap = abut_solid_face_of_file(solid, 0), corners[8];
    assert_int_equal(abut_solid_face_loops(solid, cap, NULL, NULL), 2);
    assert_int_equal(abut_solid_loop(solid, cap, 0, corners, 8), 4);
    for (int i = 0; i < 4; i++) { /* the outer loop comes first */
        double x = abut_solid_vertex(solid, corners[i]).x;
        assert_true(x == 0 || x == 10);
    }
    abut_solid_free(NULL, solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cube), cmocka_unit_test(test_cavity),
                                       cmocka_unit_test(test_keyhole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
