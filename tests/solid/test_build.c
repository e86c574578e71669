/* Building solids: meshes written by hand with answers from Euler's formula and closed forms. */
#include "solid/mesh_kit.h"
#include "solid/read.h"

#include <stdio.h>
#include <stdlib.h>

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

/* ---- invariance */

static void assert_same_facts(abut_solid_facts a, abut_solid_facts b, double tolerance) {
    assert_true(a.vertices == b.vertices && a.edges == b.edges && a.faces == b.faces);
    assert_true(a.maximal_vertices == b.maximal_vertices && a.maximal_edges == b.maximal_edges);
    assert_true(a.maximal_faces == b.maximal_faces && a.planes == b.planes && a.shells == b.shells);
    assert_true(a.genus == b.genus && a.convex == b.convex && a.cavities == b.cavities);
    assert_true(fabs(a.volume - b.volume) <= tolerance * a.volume &&
                fabs(a.area - b.area) <= tolerance * a.area);
    assert_true(fabs(a.smallest_feature - b.smallest_feature) <= tolerance * a.smallest_feature);
}

/* A mesh with its faces in another order, each begun at another corner. */
static abut_mesh *shuffle(const abut_mesh *m, uint64_t *state) {
    abut_mesh *out = mesh_create(NULL, m->point_count, m->face_count, m->corner_count, false);
    int64_t *order = malloc((size_t)m->face_count * sizeof *order);
    memcpy(out->points, m->points, (size_t)m->point_count * sizeof *m->points);
    for (int64_t f = 0; f < m->face_count; f++) order[f] = f;
    for (int64_t f = m->face_count - 1; f > 0; f--) {
        int64_t g = support_int(state, 0, (int)f), swap = order[f];
        order[f] = order[g], order[g] = swap;
    }
    for (int64_t f = 0, c = 0; f < m->face_count; f++) {
        int64_t first = m->face_start[order[f]], size = m->face_start[order[f] + 1] - first;
        int start = support_int(state, 0, (int)size - 1);
        for (int64_t i = 0; i < size; i++) out->corners[c++] = m->corners[first + (start + i) % size];
        out->face_start[f + 1] = c;
    }
    free(order);
    return out;
}

static void test_face_order(void **state_unused) {
    (void)state_unused;
    const char *const names[] = {"solid/gear_z12.obj",
                                 "solid/comb.obj",
                                 "solid/nut_m10.obj",
                                 "solid/chain3.obj",
                                 "real/trimesh_plate_holes.stl",
                                 "broken/ngon_hole_bridge.obj",
                                 "real/ripc_press_p3.off"};
    uint64_t state = 11;
    for (int i = 0; i < COUNT_OF(names); i++) {
        char path[64];
        abut_mesh *m = NULL;
        abut_solid *a = NULL, *b = NULL;
        snprintf(path, sizeof path, "meshes/%s", names[i]);
        assert_int_equal(abut_mesh_load(NULL, support_shared(path), &m, NULL), ABUT_OK);
        assert_builds(m, NULL, &a);
        for (int round = 0; round < 5; round++) {
            abut_mesh *other = shuffle(m, &state);
            assert_builds(other, NULL, &b);
            assert_same_facts(abut_solid_facts_of(a), abut_solid_facts_of(b), 1e-12);
            abut_solid_free(NULL, b);
            abut_mesh_free(NULL, other);
        }
        /* and the same mesh gives the same bits */
        assert_builds(m, NULL, &b);
        assert_true(a->bytes == b->bytes && memcmp(a, b, a->bytes) == 0);
        abut_solid_free(NULL, a);
        abut_solid_free(NULL, b);
        abut_mesh_free(NULL, m);
    }
}

/* Moved solids keep their topology: faces found coplanar stay so when their vertices are rounded anew. */
static void test_rigid_motions(void **state_unused) {
    (void)state_unused;
    const char *const names[] = {"comb",      "gear_z12",    "dovetail_male",
                                 "l_bracket", "jigsaw_knob", "chain_link"};
    uint64_t state = 13;
    for (int i = 0; i < COUNT_OF(names); i++) {
        char path[64];
        abut_mesh *m = NULL;
        abut_solid *a = NULL, *b = NULL;
        snprintf(path, sizeof path, "meshes/solid/%s.obj", names[i]);
        assert_int_equal(abut_mesh_load(NULL, support_shared(path), &m, NULL), ABUT_OK);
        assert_builds(m, NULL, &a);
        vec3 *start = malloc((size_t)m->point_count * sizeof *start);
        memcpy(start, m->points, (size_t)m->point_count * sizeof *start);
        for (int round = 0; round < 20; round++) {
            /* up to a thousand sizes away, where the stored frame is centred */
            pose p = support_pose(&state, a->diagonal * (round % 2 ? 1 : 1000));
            for (int64_t v = 0; v < m->point_count; v++) m->points[v] = pose_point(p, start[v]);
            assert_builds(m, NULL, &b);
            assert_same_facts(abut_solid_facts_of(a), abut_solid_facts_of(b), 1e-9);
            abut_solid_free(NULL, b);
        }
        free(start);
        abut_solid_free(NULL, a);
        abut_mesh_free(NULL, m);
    }
}

/* Far from zero the frame moves to the solid, without rounding: shape = origin + stored gives the file back.
 */
static void test_origin(void **state) {
    (void)state;
    static mesh_kit kit;
    memset(&kit, 0, sizeof kit);
    kit_add_box(&kit, vec3_make(1e9, -3, 0.1), vec3_make(1e9 + 2, -1, 0.3), true, 1);
    abut_mesh mesh = kit_mesh(&kit);
    abut_solid *solid = NULL;
    assert_builds(&mesh, NULL, &solid);
    assert_true(solid->origin.x >= 1e9 && solid->origin.x <= 1e9 + 2);
    assert_true(solid->origin.y == 0 && solid->origin.z == 0); /* nearer to zero than the diagonal */
    for (int v = 0; v < 8; v++) {
        vec3 p = abut_solid_vertex(solid, v), q = kit.points[v];
        assert_true(p.x == q.x && p.y == q.y && p.z == q.z);
    }
    abut_solid_facts f = abut_solid_facts_of(solid);
    assert_true(fabs(f.volume - 0.8) < 1e-15 && fabs(f.center.x - (1e9 + 1)) < 1e-6);
    double offset;
    vec3 n;
    for (int i = 0; i < 6; i++) {
        abut_solid_face_loops(solid, i, &n, &offset);
        int64_t corner;
        abut_solid_loop(solid, i, 0, &corner, 1);
        assert_true(fabs(vec3_dot(n, abut_solid_vertex(solid, corner)) - offset) <= 1e-7);
    }
    abut_solid_free(NULL, solid);
}

/* A vertex in the middle of an edge between the same two faces vanishes; where a third face ends there it
 * stays. */
static void test_straight_edges(void **state) {
    (void)state;
    static mesh_kit kit;
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(1, 1, 1), false, 1);
    kit.face_count = 0;
    memset(kit.face_start, 0, sizeof kit.face_start);
    int m1 = kit_point(&kit, vec3_make(0.25, 0, 0)), m2 = kit_point(&kit, vec3_make(0.5, 0, 0));
    kit_face(&kit, 6, (int[]){0, 2, 3, 1, m2, m1});
    kit_face(&kit, 4, (int[]){4, 5, 7, 6});
    kit_face(&kit, 6, (int[]){0, m1, m2, 1, 5, 4});
    kit_face(&kit, 4, (int[]){2, 6, 7, 3});
    kit_face(&kit, 4, (int[]){0, 4, 6, 2});
    kit_face(&kit, 4, (int[]){1, 3, 7, 5});
    abut_mesh mesh = kit_mesh(&kit);
    abut_solid *solid = NULL;
    assert_builds(&mesh, NULL, &solid);
    abut_solid_facts f = abut_solid_facts_of(solid);
    assert_true(f.vertices == 10 && f.edges == 14 && f.maximal_vertices == 8 && f.maximal_edges == 12);
    assert_true(f.smallest_feature == 1);
    abut_solid_free(NULL, solid);
    /* lifted a little, the file has two more corners for good (and is still a box but for a wedge) */
    kit.points[m1].y = -0.01, kit.points[m2].y = -0.01;
    kit.points[m1].z = kit.points[m2].z = 0;
    abut_error error = {0};
    assert_int_equal(abut_solid_build(NULL, &mesh, NULL, &solid, &error),
                     ABUT_INVALID); /* the side is bent now */
    assert_non_null(strstr(error.message, "not planar"));
}

/* Torus of n x m quads: V = nm, E = 2nm, F = nm, genus 1; its volume and area by Pappus for polygons. */
static void test_torus(void **state) {
    (void)state;
    static mesh_kit kit;
    enum { N = 24, M = 14 };
    double major = 2, minor = 0.7, turn = 6.283185307179586;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            double u = turn * i / N, v = turn * (j + 0.5) / M, r = major + minor * cos(v);
            kit_point(&kit, vec3_make(r * cos(u), r * sin(u), minor * sin(v)));
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            int a = i * M + j, b = (i + 1) % N * M + j, c = (i + 1) % N * M + (j + 1) % M,
                d = i * M + (j + 1) % M;
            kit_face(&kit, 4, (int[]){a, b, c, d});
        }
    abut_mesh mesh = kit_mesh(&kit);
    abut_solid_options keep = abut_default_solid_options();
    keep.keep_facets = true;
    abut_solid *solid = NULL;
    assert_builds(&mesh, &keep, &solid);
    abut_solid_facts f = abut_solid_facts_of(solid);
    assert_true(f.maximal_vertices == N * M && f.maximal_edges == 2 * N * M && f.maximal_faces == N * M &&
                f.genus == 1);
    assert_false(f.convex);
    /* a sector of the section polygon swept between two planes: volume = sum over the N wedges of
       sin(turn / N) / 2 * integral of r^2 dz over the section; for a regular polygon centred at `major` the
       integral of r dA is major * A, and sweeping straight between planes gives N sin(turn/N) * major * A */
    double section = M / 2.0 * minor * minor * sin(turn / M);
    double volume = N * sin(turn / N) * major * section;
    assert_true(fabs(f.volume - volume) <= 1e-14 * volume);
    int reflex = 0, flat = 0;
    for (int e = 0; e < solid->edge_count; e++)
        reflex += solid_edges(solid)[e].convexity < 0, flat += solid_edges(solid)[e].convexity == 0;
    /* edges along the big circle turn outward; those around the tube are reflex on its inner half */
    assert_true(reflex > 0 && reflex < N * M && flat == 0);
    abut_solid_free(NULL, solid);
    assert_builds(&mesh, NULL,
                  &solid); /* the outer and inner bands stay, nothing coplanar but top and bottom rings */
    assert_true(abut_solid_facts_of(solid).genus == 1);
    abut_solid_free(NULL, solid);
}

/* ---- the validator finds what is broken */
static void test_validator(void **state) {
    (void)state;
    static mesh_kit kit;
    memset(&kit, 0, sizeof kit);
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(1, 1, 1), true, 1);
    abut_mesh mesh = kit_mesh(&kit);
    abut_solid *solid = NULL;
    assert_builds(&mesh, NULL, &solid);
    abut_solid *copy = malloc(solid->bytes);
    uint64_t random = 17;
    /* any flipped bit behind the header's hash is noticed */
    size_t from = offsetof(abut_solid, vertex_count);
    for (int i = 0; i < 4000; i++) {
        memcpy(copy, solid, solid->bytes);
        size_t byte = from + (size_t)(random_bits(&random) % (solid->bytes - from));
        ((unsigned char *)copy)[byte] ^= (unsigned char)(1 << random_bits(&random) % 8);
        assert_int_equal(solid_validate(copy, NULL), ABUT_FAILED);
    }
    free(copy);
    abut_solid_free(NULL, solid);
}

/* ---- memory */
static abut_status attempt(const abut_context *context, void *user) {
    abut_solid *solid = NULL;
    abut_mesh_facts facts;
    abut_status status = abut_mesh_facts_of(context, user, 1e-9, &facts, NULL);
    if (!status) status = abut_solid_build(context, user, NULL, &solid, NULL);
    if (!status) abut_solid_free(context, solid);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    abut_mesh *m = NULL;
    assert_int_equal(abut_mesh_load(NULL, support_shared("meshes/broken/near_duplicate_1e-9.obj"), &m, NULL),
                     ABUT_OK);
    assert_true(support_fail_each(attempt, m) > 30);
    abut_mesh_free(NULL, m);
    assert_int_equal(abut_mesh_load(NULL, support_shared("meshes/solid/linked_rings.obj"), &m, NULL),
                     ABUT_OK);
    assert_true(support_fail_each(attempt, m) > 30);
    abut_mesh_free(NULL, m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube),           cmocka_unit_test(test_cavity),
        cmocka_unit_test(test_keyhole),        cmocka_unit_test(test_face_order),
        cmocka_unit_test(test_rigid_motions),  cmocka_unit_test(test_origin),
        cmocka_unit_test(test_straight_edges), cmocka_unit_test(test_torus),
        cmocka_unit_test(test_validator),      cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
