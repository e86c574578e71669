/* The index built by several threads: the same bits for any number of them.  Run it under the thread
 * sanitizer too (label threads). */
#include "oracle.h"

static void test_threads_give_equal_bits(void **state) {
    (void)state;
    abut_solid *solid = oracle_load(support_shared("meshes/solid/bolt_m10.obj"));
    abut_index *one = oracle_build(solid, ABUT_INDEX_HYBRID);
    for (int threads = 2; threads <= 5; threads++) {
        abut_workers *workers = abut_workers_create(NULL, threads);
        abut_context context = {.parallel = abut_workers_parallel(workers)};
        abut_index *other = NULL;
        assert_int_equal(abut_index_build(&context, solid, NULL, &other, NULL), ABUT_OK);
        assert_int_equal(one->bytes, other->bytes);
        assert_memory_equal(one, other, one->bytes);
        abut_index_free(&context, other);
        abut_workers_destroy(workers);
    }
    abut_index_free(NULL, one);
    abut_solid_free(NULL, solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_give_equal_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
