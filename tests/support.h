/* What test programs share: an allocator that fails on purpose and keeps books, seeded random things, the
 * paths of ../shared, and the command with its output captured.
 *
 *     static abut_status attempt(const abut_context *context, void *user) { ... frees what it made ... }
 *     support_fail_each(attempt, NULL);       fails the 1st allocation, then the 2nd, ... until none is left
 *
 *     support_output out = support_run("0 0 0\n", "classify", "cube.obj", "--json", NULL);
 *     assert_int_equal(out.status, 0);
 *     support_output_free(&out);
 */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include "base/base.h"
#include "math/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* cmocka compares floats; this compares doubles. */
#define assert_near(got, want, tolerance)                                                                 \
    do {                                                                                                  \
        double near_got = (got), near_want = (want), near_tolerance = (tolerance);                        \
        if (!(fabs(near_got - near_want) <= near_tolerance))                                              \
            print_error("%s:%d: %.17g is not %.17g within %g\n", __FILE__, __LINE__, near_got, near_want, \
                        near_tolerance);                                                                  \
        assert_true(fabs(near_got - near_want) <= near_tolerance);                                        \
    } while (0)

/* `fail` is base.h's; fail_msg, which was made of it, is made anew. */
#undef fail
#undef fail_msg
#define fail_msg(...) (print_error("ERROR: " __VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

/* A program of which a test was skipped for want of ../shared ends with 77, which CTest shows as skipped; but
 * not when another of its tests failed. */
int support_finish(int failed);
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown) \
    support_finish(_cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown))

/* ---- memory */

/* Counts every allocation and resize; number `fail_at` (counted from 1; 0: none) and, with `fail_after`, all
 * that follow give NULL.  Sizes given back that are not the sizes asked for fail the test. */
typedef struct support_memory {
    int64_t requests, fail_at, failures;
    int64_t live_blocks, live_bytes, peak_bytes;
    bool fail_after;
} support_memory;

/* A context whose allocator is `memory` (which must outlive it). */
abut_context support_context(support_memory *memory);
/* Fails the test when something is still allocated. */
void support_assert_freed(const support_memory *memory);

/* Runs `attempt` with the k-th allocation failing, for k = 1, 2, ... until it succeeds without a failure,
 * once with only that allocation failing and once with all that follow.  Each failed run must return
 * ABUT_NO_MEMORY (or ABUT_OK where the failure did no harm) and leave nothing allocated.  Returns the number
 * of allocations of the run that succeeds. */
typedef abut_status support_attempt(const abut_context *context, void *user);
int64_t support_fail_each(support_attempt *attempt, void *user);

/* ---- seeded random things; the state is the caller's, so that a test is the same in any order */
int support_int(uint64_t *state, int low, int high); /* low <= i <= high */
vec3 support_vec(uint64_t *state, double size);      /* each coordinate in [-size, size) */
vec3 support_direction(uint64_t *state);             /* unit, uniform on the sphere */
quat support_rotation(uint64_t *state);              /* unit, uniform on all rotations */
pose support_pose(uint64_t *state, double size);

/* ---- files */

/* ABUT_SHARED/relative, where it exists; otherwise the test that asks is skipped. */
const char *support_shared(const char *relative);
/* A path below a folder of this process, which is removed at exit. */
const char *support_temporary(const char *name);
void support_write(const char *path, const void *bytes, size_t size);
/* Lists the regular files of a folder whose names end in `suffix` ("" for all), sorted; calls visit for each.
 * Returns how many. */
int support_each_file(const char *folder, const char *suffix, void (*visit)(const char *path, void *user),
                      void *user);

/* ---- the command */
typedef struct support_output {
    int status;      /* exit status; 128 + number when a signal ended it */
    char *out, *err; /* never NULL, 0-terminated */
    size_t out_size, err_size;
} support_output;

/* Runs the abut of this build with `input` (may be NULL) on standard input and the arguments up to NULL. */
support_output support_run(const char *input, ...);
/* The same for any program: argv[0] is searched in PATH. */
support_output support_run_program(const char *input, const char *const *argv);
void support_output_free(support_output *output);

#endif
