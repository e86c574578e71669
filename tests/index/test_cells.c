/* Convex cells: they fill the solid, are convex, close, and touch as their areas say. */
#include "oracle.h"

#include <stdlib.h>

static void check_cells(const char *name, const abut_solid *s, abut_index_method method) {
    abut_index_options options = abut_default_index_options();
    options.method = method;
    abut_index *index = NULL;
    abut_cells cells;
    abut_error error = {0};
    assert_int_equal(abut_index_build(NULL, s, &options, &index, &error), ABUT_OK);
    assert_int_equal(abut_index_cells(NULL, index, s, &cells, &error), ABUT_OK);
    /* cells that rounding leaves without a volume are left out */
    assert_true(cells.count <= index->cell_count && cells.count > 0);
    double volume = 0, area = 0, shared = 0;
    for (int64_t c = 0; c < cells.count; c++) {
        volume += cells.volumes[c];
        vec3 closed = {0, 0, 0}, middle = {0, 0, 0};
        int32_t first = cells.corner_start[cells.facet_start[c]],
                last = cells.corner_start[cells.facet_start[c + 1]];
        for (int32_t i = first; i < last; i++)
            middle = vec3_axpy(middle, 1.0 / (last - first), cells.points[i]);
        for (int32_t f = cells.facet_start[c]; f < cells.facet_start[c + 1]; f++) {
            const vec3 *p = cells.points + cells.corner_start[f];
            int n = cells.corner_start[f + 1] - cells.corner_start[f];
            vec3 sum = {0, 0, 0};
            for (int i = 1; i + 1 < n; i++)
                sum = vec3_add(sum, vec3_cross(vec3_sub(p[i], p[0]), vec3_sub(p[i + 1], p[0])));
            closed = vec3_add(closed, sum), area += vec3_length(sum) / 2;
            /* convex: all corners of the cell below the facet; thin facets have no reliable normal */
            if (vec3_length(sum) < 1e-6 * s->diagonal * s->diagonal) continue;
            vec3 normal = vec3_unit(sum);
            for (int32_t i = first; i < last; i++)
                if (vec3_dot(normal, vec3_sub(cells.points[i], p[0])) > 1e-8 * s->diagonal)
                    fail_msg("%s: cell %d is not convex", name, (int)c);
        }
        if (vec3_length(closed) > 1e-11 * s->diagonal * s->diagonal)
            fail_msg("%s: cell %d does not close", name, (int)c);
        if (cells.volumes[c] > 1e-9 * s->facts.volume &&
            index_side(index, vec3_sub(middle, s->origin)) != INDEX_IN)
            fail_msg("%s: the middle of cell %d is not inside", name, (int)c);
    }
    if (fabs(volume - s->facts.volume) > 1e-11 * s->facts.volume)
        fail_msg("%s: the cells have volume %.17g, the solid %.17g", name, volume, s->facts.volume);
    for (int64_t i = 0; i < cells.pair_count; i++) {
        assert_true(cells.pairs[i][0] < cells.pairs[i][1] && cells.pairs[i][1] < cells.count);
        shared += cells.pair_areas[i];
    }
    /* what is not shared is the solid's surface */
    if (fabs(area - 2 * shared - s->facts.area) > 1e-6 * s->facts.area)
        fail_msg("%s: surface of the cells %.17g, shared %.17g, of the solid %.17g", name, area, shared,
                 s->facts.area);
    abut_cells_free(NULL, &cells);
    abut_index_free(NULL, index);
}

static void test_cells_fill_the_solid(void **state) {
    (void)state;
    const char *files[] = {"meshes/solid/l_bracket.obj",          "meshes/solid/comb.obj",
                           "meshes/solid/gear_z12.obj",           "meshes/table1/torus_10.obj",
                           "meshes/table1/sphere_20.obj",         "meshes/solid/nut_m10.obj",
                           "meshes/solid/bolt_m10.obj",           "meshes/solid/linked_rings.obj",
                           "meshes/real/spot_low_resolution.obj", "meshes/broken/ngon_hole_bridge.obj",
                           "meshes/broken/huge_coordinates.obj"};
    for (int i = 0; i < COUNT_OF(files); i++) {
        abut_solid *solid = oracle_load(support_shared(files[i]));
        check_cells(files[i], solid, ABUT_INDEX_HYBRID);
        if (solid->face_count < 500) check_cells(files[i], solid, ABUT_INDEX_FIRST);
        if (solid->face_count < 500) check_cells(files[i], solid, ABUT_INDEX_AUTOPARTITION);
        abut_solid_free(NULL, solid);
    }
}

static abut_status attempt(const abut_context *context, void *user) {
    void **both = user;
    abut_cells cells;
    abut_status status = abut_index_cells(context, both[1], both[0], &cells, NULL);
    abut_cells_free(context, &cells);
    return status;
}

static void test_memory_runs_out(void **state) {
    (void)state;
    abut_solid *solid = oracle_load(support_shared("meshes/solid/l_bracket.obj"));
    abut_index *index = NULL;
    assert_int_equal(abut_index_build(NULL, solid, NULL, &index, NULL), ABUT_OK);
    void *both[2] = {solid, index};
    assert_true(support_fail_each(attempt, both) > 5);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cells_fill_the_solid),
                                       cmocka_unit_test(test_memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
