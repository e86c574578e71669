/* The koala with its 100,000 triangles: all that the smaller solids show, and the time of its build. */
#include "oracle.h"

static void test_koala(void **state) {
    (void)state;
    abut_solid *solid = oracle_load(support_shared("meshes/real/koala.obj"));
    assert_non_null(solid);
    abut_index *index = NULL;
    abut_error error = {0};
    double start = clock_now();
    assert_int_equal(abut_index_build(NULL, solid, NULL, &index, &error), ABUT_OK);
    print_message("build %.2f s\n", clock_now() - start);
    assert_int_equal(index_validate(index, &error), ABUT_OK);
    /* entities on real meshes take 1.5 to 5 nodes each (ROBUSTNESS point 20) */
    assert_true(index->node_count < 5 * (solid->vertex_count + solid->edge_count + solid->face_count));
    oracle_check_entities(solid, index, "koala");
    oracle_check_points(solid, index, 100000, "koala");
    oracle_check_motions(solid, index, "koala");
    oracle_check_segments(solid, index, 10000, 300, "koala");
    abut_cells cells;
    assert_int_equal(abut_index_cells(NULL, index, solid, &cells, &error), ABUT_OK);
    double volume = 0;
    for (int64_t c = 0; c < cells.count; c++) volume += cells.volumes[c];
    assert_true(fabs(volume - solid->facts.volume) < 1e-10 * solid->facts.volume);
    abut_cells_free(NULL, &cells);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_koala)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
