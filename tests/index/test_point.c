/* Points: every entity is found as itself, random points agree with exact ray parity, distances around
 * epsilon decide whatever the angle between faces, and rigid motions change no answer. */
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>

static void visit_mesh(const char *path, void *user) {
    int *solids = user;
    if (strstr(path, "koala") || strstr(path, "self_intersect") || strstr(path, "wingnut")) return;
    abut_solid *solid = oracle_load(path);
    if (!solid) return;
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
    oracle_check_entities(solid, index, path);
    oracle_check_points(solid, index, 100000, path);
    oracle_check_motions(solid, index, path);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
    ++*solids;
}

static void test_all_meshes(void **state) {
    (void)state;
    const char *folders[] = {"meshes/solid", "meshes/table1", "meshes/cage", "meshes/broken", "meshes/real"};
    int solids = 0;
    for (int i = 0; i < COUNT_OF(folders); i++)
        support_each_file(support_shared(folders[i]), "", visit_mesh, &solids);
    assert_true(solids > 45);
}

/* ---- distances around epsilon */

/* A bar with the cross-section of a wedge: a triangle with the given angle at the origin (convex), or a
 * square plate with a notch of that angle (reflex). */
static abut_solid *wedge(double degrees, bool notch) {
    double a = degrees * 3.14159265358979323846 / 180 / 2, c = cos(a), s = sin(a);
    double outline[7][2] = {{0, 0}, {c, -s}, {c, s}},
           cut[7][2] = {{0, 0}, {c, s}, {c, 1.5}, {-1, 1.5}, {-1, -1.5}, {c, -1.5}, {c, -s}};
    abut_solid *solid = NULL;
    abut_status status = notch ? abut_solid_prism(NULL, (const double(*)[2])cut, 7, 1, &solid, NULL)
                               : abut_solid_prism(NULL, (const double(*)[2])outline, 3, 1, &solid, NULL);
    assert_int_equal(status, ABUT_OK);
    return solid;
}

/* Points at 0.5, 0.9, 1.1 and 2 epsilon from a random place of a random entity, in any direction.  Where the
 * oracle's nearest decision is not within rounding, the answer must be its answer. */
static void check_near(const abut_solid *s, const abut_index *index, int64_t count, double epsilon,
                       const char *name) {
    const double factors[] = {0, 0.5, 0.9, 1.1, 2};
    oracle o = oracle_make(s);
    uint64_t seed = 23;
    int64_t tested = 0, hits[5] = {0};
    for (int64_t i = 0; i < count; i++) {
        const solid_edge *e = &solid_edges(s)[random_bits(&seed) % (uint64_t)s->edge_count];
        const oracle_triangle *t = &o.triangles[random_bits(&seed) % (uint64_t)o.count];
        vec3 a = solid_position(s, e->vertex[0]), b = solid_position(s, e->vertex[1]);
        vec3 on = i % 3 == 0 ? a
                  : i % 3 == 1
                      ? vec3_lerp(a, b, random_unit(&seed))
                      : vec3_lerp(vec3_lerp(t->a, t->b, random_unit(&seed)), t->c, random_unit(&seed));
        vec3 dir = i % 6 < 3 ? support_direction(&seed)
                             : solid_faces(s)[random_bits(&seed) % (uint64_t)s->face_count].plane.n;
        vec3 x = vec3_axpy(on, factors[i / 6 % 5] * epsilon * (i / 30 % 2 ? 1 : -1), dir);
        double margin;
        abut_place want = oracle_place(s, x, epsilon, &margin),
                   got = index_classify_point(index, s, x, epsilon);
        if (margin < 1e-6 * epsilon + 1e-14 * s->diagonal) continue;
        if (want.kind == ABUT_OUTSIDE) {
            int winding;
            if (!oracle_winding(&o, x, &winding)) continue;
            if (winding > 0) want.kind = ABUT_INSIDE;
        }
        tested++, hits[want.kind]++;
        if (got.kind == want.kind && got.id == want.id) continue;
        /* entities at the same distance are equally good */
        if (got.kind == want.kind &&
            fabs(oracle_distance(s, got, x) - oracle_distance(s, want, x)) < 1e-14 * s->diagonal)
            continue;
        fail_msg("%s: (%.17g %.17g %.17g) is %s %d, not %s %d", name, x.x, x.y, x.z,
                 abut_place_kind_name(got.kind), (int)got.id, abut_place_kind_name(want.kind), (int)want.id);
    }
    assert_true(tested * 2 > count);
    for (int k = 0; k < 5; k++) assert_true(hits[k] > 0);
    oracle_free(&o);
}

static void test_near_sharp_edges(void **state) {
    (void)state;
    const double degrees[] = {5, 7, 12, 30, 45, 60, 90, 120};
    for (int i = 0; i < 2 * COUNT_OF(degrees); i++) {
        abut_solid *solid = wedge(degrees[i / 2], i % 2);
        abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
        char name[64];
        snprintf(name, sizeof name, "%s of %g degrees", i % 2 ? "notch" : "wedge", degrees[i / 2]);
        for (int k = 0; k < 3; k++)
            check_near(solid, index, 20000, solid->diagonal * (k == 0 ? 5e-7 : k == 1 ? 1e-5 : 1e-3), name);
        abut_index_free(NULL, index);
        abut_solid_free(NULL, solid);
    }
}

static void test_near_meshes(void **state) {
    (void)state;
    const char *files[] = {"meshes/solid/gear_z12.obj",          "meshes/solid/comb.obj",
                           "meshes/table1/torus_08.obj",         "meshes/cage/lumpy_marble.obj",
                           "meshes/solid/jigsaw_socket.obj",     "meshes/real/ripc_chain_link.obj",
                           "meshes/broken/ngon_hole_bridge.obj", "meshes/broken/huge_coordinates.obj"};
    for (int f = 0; f < COUNT_OF(files); f++) {
        abut_solid *solid = oracle_load(support_shared(files[f]));
        abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
        check_near(solid, index, solid->face_count > 150 ? 3000 : 20000, solid->epsilon, files[f]);
        abut_index_free(NULL, index);
        abut_solid_free(NULL, solid);
    }
}

/* ---- rigid motions: the mesh is moved, the index built anew, moved points must get the same answers */
static void test_rigid_motions(void **state) {
    (void)state;
    const char *files[] = {"meshes/solid/l_bracket.obj", "meshes/solid/gear_z12.obj",
                           "meshes/table1/torus_10.obj", "meshes/table1/sphere_08.obj"};
    uint64_t seed = 31;
    for (int f = 0; f < COUNT_OF(files); f++) {
        abut_mesh *mesh = NULL;
        assert_int_equal(abut_mesh_load(NULL, support_shared(files[f]), &mesh, NULL), ABUT_OK);
        abut_solid *fixed = NULL;
        assert_int_equal(abut_solid_build(NULL, mesh, NULL, &fixed, NULL), ABUT_OK);
        abut_index *index = oracle_build(fixed, ABUT_INDEX_HYBRID);
        size_t bytes = (size_t)mesh->point_count * sizeof(vec3);
        vec3 *original = malloc(bytes);
        memcpy(original, mesh->points, bytes);
        for (int k = 0; k < 100; k++) {
            pose p = support_pose(&seed, 10 * fixed->diagonal);
            for (int64_t i = 0; i < mesh->point_count; i++) mesh->points[i] = pose_point(p, original[i]);
            abut_solid *moved = NULL;
            assert_int_equal(abut_solid_build(NULL, mesh, NULL, &moved, NULL), ABUT_OK);
            assert_int_equal(moved->face_count, fixed->face_count);
            abut_index *other = oracle_build(moved, ABUT_INDEX_HYBRID);
            oracle_check_entities(moved, other, files[f]);
            for (int i = 0; i < 1000; i++) {
                vec3 x = vec3_add(fixed->origin, support_vec(&seed, fixed->diagonal / 2));
                abut_place a = abut_index_point(index, fixed, x, fixed->epsilon);
                abut_place b = abut_index_point(other, moved, pose_point(p, x), fixed->epsilon);
                double margin;
                if (a.kind == b.kind && a.id == b.id) continue;
                oracle_place(fixed, vec3_sub(x, fixed->origin), fixed->epsilon, &margin);
                assert_true(margin < 1e-9 * fixed->diagonal);
            }
            abut_index_free(NULL, other);
            abut_solid_free(NULL, moved);
        }
        free(original);
        abut_index_free(NULL, index);
        abut_solid_free(NULL, fixed);
        abut_mesh_free(NULL, mesh);
    }
}

static void test_hostile_points(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_box(NULL, 2, 2, 2, &solid, NULL), ABUT_OK);
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
    const double values[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e-320, 0};
    for (int i = 0; i < COUNT_OF(values) * COUNT_OF(values); i++) {
        vec3 x = {values[i % COUNT_OF(values)], values[i / COUNT_OF(values)], 0.25};
        bool small = fabs(x.x) < 1 && fabs(x.y) < 1;
        abut_place place = abut_index_point(index, solid, x, 1e-6), batch;
        abut_index_points(index, solid, &x, 1, 1e-6, &batch);
        assert_int_equal(place.kind, small ? ABUT_INSIDE : ABUT_OUTSIDE);
        assert_int_equal(batch.kind, place.kind);
    }
    /* without a tolerance only exact hits count */
    assert_int_equal(abut_index_point(index, solid, (vec3){1, 0.5, 0.5}, 0).kind, ABUT_ON_FACE);
    assert_int_equal(abut_index_point(index, solid, (vec3){1, 1, 1}, 0).kind, ABUT_ON_VERTEX);
    assert_int_equal(abut_index_point(index, solid, (vec3){1, 0.5, -1}, 0).kind, ABUT_ON_EDGE);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_points), cmocka_unit_test(test_near_sharp_edges),
        cmocka_unit_test(test_near_meshes),    cmocka_unit_test(test_rigid_motions),
        cmocka_unit_test(test_all_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
