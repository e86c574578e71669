/* Random polyhedra with many coplanar faces, holes and spikes: the index of each is sound, by every method.
 */
#include "polyhedra.h"
#include "support.h"

static void test_random_polyhedra(void **state) {
    (void)state;
    uint64_t seed = 99;
    int solids[3] = {0};
    for (int i = 0; i < 900; i++) {
        uint8_t data[160];
        for (int k = 0; k < COUNT_OF(data); k++) data[k] = (uint8_t)random_bits(&seed);
        data[0] = (uint8_t)(i % 3);
        if (i % 3 == 0) /* few empty cells make solids whose parts do not touch in edges and points */
            for (int k = 4; k < COUNT_OF(data); k++)
                if (support_int(&seed, 0, 9) < 8) data[k] = 255;
        abut_solid *solid = polyhedron_from(data, sizeof data);
        if (!solid) continue;
        solids[i % 3]++;
        for (int method = ABUT_INDEX_HYBRID; method <= ABUT_INDEX_FIRST; method++) {
            const char *wrong = wrong_with_index(solid, (abut_index_method)method, (uint64_t)i);
            if (wrong)
                fail_msg("polyhedron %d of kind %d, method %s: %s", i, i % 3,
                         abut_index_method_name((abut_index_method)method), wrong);
        }
        abut_solid_free(NULL, solid);
    }
    print_message("%d boxes, %d spikes, %d hulls\n", solids[0], solids[1], solids[2]);
    for (int k = 0; k < 3; k++) assert_true(solids[k] > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_polyhedra)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
