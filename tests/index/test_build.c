/* Building: sizes that the papers give or prove, equal bits for any number of threads, files, memory,
 * budgets. */
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>

static abut_solid *sphere(int n) {
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_sphere(NULL, 1, n, n, &solid, NULL), ABUT_OK);
    return solid;
}

/* Vanecek 1990, table 1: nodes and height of the five spheres, with the paper's choice of planes. */
static void test_table1_spheres(void **state) {
    (void)state;
    const int rows[5][3] = {{4, 58, 16}, {6, 135, 19}, {8, 245, 18}, {10, 463, 18}, {20, 2309, 24}};
    const double average[5] = {7.8, 9.4, 9.9, 10.4, 13.0};
    for (int i = 0; i < 5; i++) {
        abut_solid *solid = sphere(rows[i][0]);
        abut_index *index = oracle_build(solid, ABUT_INDEX_FIRST);
        assert_int_equal(index->node_count, rows[i][1]);
        assert_int_equal(index->height, rows[i][2]);
        abut_index_free(NULL, index);
        index = oracle_build(solid, ABUT_INDEX_HYBRID);
        assert_true(index->node_count < rows[i][1]);
        assert_true(index->average_height < average[i]);
        abut_index_free(NULL, index);
        abut_solid_free(NULL, solid);
    }
}

/* The tori of table 1, whose proportions the paper does not give: fewer nodes and a lower tree with the
 * default. */
static void test_table1_tori(void **state) {
    (void)state;
    const int rows[5][2] = {{4, 110}, {6, 299}, {8, 435}, {10, 1019}, {20, 4721}};
    const double average[5] = {6.1, 7.3, 8.6, 10.2, 12.6};
    for (int i = 0; i < 5; i++) {
        abut_solid *solid = NULL;
        assert_int_equal(abut_solid_torus(NULL, 2, 0.5, rows[i][0], rows[i][0], &solid, NULL), ABUT_OK);
        abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
        assert_true(index->node_count < rows[i][1]);
        assert_true(index->average_height < average[i]);
        abut_index_free(NULL, index);
        abut_solid_free(NULL, solid);
    }
}

/* Bouma and Vanecek 1992, section 4.2: a convex solid has v + e + f nodes and one cell; the tetrahedron 14.
 */
static void test_convex_autopartition(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 20; i++) {
        abut_solid *solid = NULL;
        vec3 points[60];
        for (int k = 0; k < 60; k++)
            points[k] = vec3_scale(support_direction(&seed), random_range(&seed, 0.8, 1));
        abut_status status = i == 0 ? abut_solid_tetrahedron(NULL, 1, &solid, NULL)
                                    : abut_solid_hull(NULL, points, 4 + 3 * i - 3, &solid, NULL);
        assert_int_equal(status, ABUT_OK);
        abut_index *index = oracle_build(solid, ABUT_INDEX_AUTOPARTITION);
        assert_int_equal(index->node_count, solid->vertex_count + solid->edge_count + solid->face_count);
        assert_int_equal(index->cell_count, 1);
        if (i == 0) assert_int_equal(index->node_count, 14);
        abut_index_free(NULL, index);
        abut_solid_free(NULL, solid);
    }
}

/* The same section: a sphere of 128 faces has height 128 by autopartition, 19 with initial cuts. */
static void test_sphere_128(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_sphere(NULL, 1, 16, 8, &solid, NULL), ABUT_OK);
    assert_int_equal(solid->face_count, 128);
    abut_index *index = oracle_build(solid, ABUT_INDEX_AUTOPARTITION);
    assert_int_equal(index->height, 128);
    abut_index_free(NULL, index);
    index = oracle_build(solid, ABUT_INDEX_HYBRID);
    assert_true(index->height <= 19);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

/* Every entity of the solid is a leaf of the unreduced tree, in a region of its own dimension. */
static void test_every_entity_is_a_leaf(void **state) {
    (void)state;
    const char *files[] = {"meshes/solid/l_bracket.obj", "meshes/solid/comb.obj", "meshes/solid/gear_z12.obj",
                           "meshes/table1/torus_10.obj", "meshes/broken/ngon_hole_bridge.obj"};
    for (int f = 0; f < COUNT_OF(files); f++) {
        abut_solid *solid = oracle_load(support_shared(files[f]));
        for (int method = ABUT_INDEX_AUTOPARTITION; method <= ABUT_INDEX_FIRST; method++) {
            abut_index *index = oracle_build(solid, (abut_index_method)method);
            int64_t counts[3] = {solid->vertex_count, solid->edge_count, solid->face_count};
            char *seen[3];
            for (int k = 0; k < 3; k++) seen[k] = calloc((size_t)counts[k], 1);
            for (int64_t i = 0; i < index->node_count; i++)
                for (int slot = 0; slot < 3; slot++) {
                    const index_node *n = &index_nodes(index)[i];
                    int32_t leaf = n->child[slot];
                    if (leaf >= INDEX_IN) continue;
                    if (index_leaf_kind(leaf) == n->dimension - (slot == INDEX_ON))
                        seen[index_leaf_kind(leaf)][index_leaf_id(leaf)] = 1;
                }
            for (int k = 0; k < 3; k++) {
                for (int64_t i = 0; i < counts[k]; i++)
                    if (!seen[k][i]) fail_msg("%s: entity %d of kind %d has no leaf", files[f], (int)i, k);
                free(seen[k]);
            }
            abut_index_free(NULL, index);
        }
        abut_solid_free(NULL, solid);
    }
}

/* The descent of section 2.4 as the paper has it, without epsilon's extras: above, on or below each plane. */
static int32_t plain_descent(const abut_index *index, vec3 x, double tolerance) {
    int32_t code = index->root;
    while (code >= 0) {
        const index_node *n = &index_nodes(index)[code];
        double d = plane_distance(n->cut, x);
        code = n->child[d > tolerance ? INDEX_ABOVE : d < -tolerance ? INDEX_BELOW : INDEX_ON];
    }
    return code;
}

/* The trees in the cut planes show the cross-section of the solid: points on cut planes, and on lines in
 * them, get the right leaf by the plain descent.  Points within 1e-6 of the boundary that are not within 1e-8
 * of it are skipped: which side of an edge they are on is not for a plain descent to say. */
static void test_cross_sections(void **state) {
    (void)state;
    const char *files[] = {"meshes/solid/l_bracket.obj",     "meshes/solid/comb.obj",
                           "meshes/solid/gear_z12.obj",      "meshes/table1/torus_10.obj",
                           "meshes/table1/sphere_08.obj",    "meshes/broken/ngon_hole_bridge.obj",
                           "meshes/solid/jigsaw_socket.obj", "meshes/real/ripc_chain_link.obj"};
    uint64_t seed = 71;
    for (int f = 0; f < COUNT_OF(files); f++) {
        abut_solid *solid = oracle_load(support_shared(files[f]));
        oracle o = oracle_make(solid);
        for (int method = ABUT_INDEX_HYBRID; method <= ABUT_INDEX_FIRST; method++) {
            abut_index *index = oracle_build(solid, (abut_index_method)method);
            int on = 0, off = 0;
            for (int i = 0; i < 4000; i++) {
                const index_node *n = &index_nodes(index)[random_bits(&seed) % (uint64_t)index->space_count];
                vec3 x = {random_range(&seed, o.bounds.lower.x, o.bounds.upper.x),
                          random_range(&seed, o.bounds.lower.y, o.bounds.upper.y),
                          random_range(&seed, o.bounds.lower.z, o.bounds.upper.z)};
                x = vec3_axpy(x, -plane_distance(n->cut, x), n->cut.n);
                if (i % 2 && n->child[INDEX_ON] >= 0) { /* and on a line of it */
                    plane m = index_nodes(index)[n->child[INDEX_ON]].cut;
                    x = vec3_axpy(x, -plane_distance(m, x), m.n);
                }
                double margin;
                abut_place wide = oracle_place(solid, x, 1e-6 * solid->diagonal, &margin);
                abut_place got = index_place(plain_descent(index, x, 1e-12 * solid->diagonal));
                /* the reduced index leaves it to the B-rep where on the line of an edge the edge is */
                if (method == ABUT_INDEX_HYBRID && got.kind == ABUT_ON_EDGE) continue;
                int winding;
                if (wide.kind == ABUT_OUTSIDE && oracle_winding(&o, x, &winding)) {
                    off++;
                    if (got.kind != (winding > 0 ? ABUT_INSIDE : ABUT_OUTSIDE))
                        fail_msg("%s, %s: (%.17g %.17g %.17g) on a cut plane is %s %d, winding %d", files[f],
                                 abut_index_method_name((abut_index_method)method), x.x, x.y, x.z,
                                 abut_place_kind_name(got.kind), (int)got.id, winding);
                } else if (wide.kind == ABUT_ON_FACE &&
                           oracle_distance(solid, wide, x) < 1e-12 * solid->diagonal) {
                    on++;
                    if (got.kind != wide.kind || got.id != wide.id)
                        fail_msg("%s, %s: (%.17g %.17g %.17g) on face %d is %s %d", files[f],
                                 abut_index_method_name((abut_index_method)method), x.x, x.y, x.z,
                                 (int)wide.id, abut_place_kind_name(got.kind), (int)got.id);
                }
            }
            if (off < 100 || on < 10) fail_msg("%s: %d off, %d on", files[f], off, on);
            abut_index_free(NULL, index);
        }
        oracle_free(&o);
        abut_solid_free(NULL, solid);
    }
}

/* No tolerance decides topology: the weld distance may be a million times greater or smaller, the tree is the
 * same. */
static void test_weld_distance_changes_nothing(void **state) {
    (void)state;
    const char *files[] = {"meshes/solid/comb.obj", "meshes/solid/gear_z12.obj", "meshes/table1/torus_10.obj",
                           "meshes/table1/sphere_20.obj", "meshes/solid/nut_m10.obj"};
    for (int f = 0; f < COUNT_OF(files); f++) {
        abut_index *first = NULL;
        for (int k = 0; k < 4; k++) {
            abut_solid *solid = NULL;
            abut_solid_options options = abut_default_solid_options();
            options.weld = k == 0 ? 1e-9 : k == 1 ? 1e-13 : k == 2 ? 1e-11 : 1e-7;
            options.skip_self_intersection = true;
            assert_int_equal(abut_solid_load(NULL, support_shared(files[f]), &options, &solid, NULL),
                             ABUT_OK);
            abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
            if (k > 0) {
                assert_int_equal(index->node_count, first->node_count);
                for (int64_t i = 0; i < index->node_count; i++)
                    assert_memory_equal(index_nodes(index)[i].child, index_nodes(first)[i].child,
                                        sizeof index_nodes(index)[i].child);
                abut_index_free(NULL, index);
            } else {
                first = index;
            }
            abut_solid_free(NULL, solid);
        }
        abut_index_free(NULL, first);
    }
}

static void test_save_and_load(void **state) {
    (void)state;
    abut_solid *solid = sphere(6);
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID), *again = NULL;
    const char *path = support_temporary("sphere.index");
    abut_error error = {0};
    assert_int_equal(abut_index_save(NULL, index, path, &error), ABUT_OK);
    assert_int_equal(abut_index_load(NULL, path, &again, &error), ABUT_OK);
    assert_memory_equal(index, again, index->bytes);
    abut_index_free(NULL, again);
    /* any flipped bit, and any cut, is refused */
    char *bytes = malloc(index->bytes);
    for (size_t at = 0; at < index->bytes; at += 7) {
        memcpy(bytes, index, index->bytes);
        bytes[at] ^= (char)(1 << at % 8);
        support_write(path, bytes, index->bytes);
        assert_int_equal(abut_index_load(NULL, path, &again, &error), ABUT_INVALID);
        assert_null(again);
    }
    for (size_t size = 0; size < index->bytes; size += 97) {
        support_write(path, index, size);
        assert_int_equal(abut_index_load(NULL, path, &again, &error), ABUT_INVALID);
    }
    assert_int_equal(abut_index_load(NULL, support_temporary("nothing"), &again, &error), ABUT_IO);
    free(bytes);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

static abut_status attempt_build(const abut_context *context, void *user) {
    abut_index *index = NULL;
    abut_status status = abut_index_build(context, user, NULL, &index, NULL);
    abut_index_free(context, index);
    return status;
}

static void test_memory_runs_out(void **state) {
    (void)state;
    abut_solid *solid = oracle_load(support_shared("meshes/broken/ngon_hole_bridge.obj"));
    assert_true(support_fail_each(attempt_build, solid) > 20);
    abut_solid_free(NULL, solid);
}

static void test_budget_and_options(void **state) {
    (void)state;
    abut_solid *solid = sphere(20);
    abut_index_options options = abut_default_index_options();
    abut_index *index = NULL;
    abut_error error = {0};
    options.node_budget = 500;
    assert_int_equal(abut_index_build(NULL, solid, &options, &index, &error), ABUT_BUDGET);
    assert_null(index);
    assert_non_null(strstr(error.message, "500"));
    options = abut_default_index_options();
    options.crowd = 0;
    assert_int_equal(abut_index_build(NULL, solid, &options, &index, &error), ABUT_INVALID);
    abut_solid_free(NULL, solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table1_spheres),
        cmocka_unit_test(test_table1_tori),
        cmocka_unit_test(test_convex_autopartition),
        cmocka_unit_test(test_sphere_128),
        cmocka_unit_test(test_every_entity_is_a_leaf),
        cmocka_unit_test(test_cross_sections),
        cmocka_unit_test(test_weld_distance_changes_nothing),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_budget_and_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
