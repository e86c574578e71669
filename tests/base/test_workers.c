/* The worker pool: every index once, the same result for any number of threads, jobs inside jobs, two
 * callers, the user's own hook.  Run under the thread sanitizer too (label threads). */
#include "base/base.h"
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MOST = 10000 };

typedef struct job {
    atomic_int visits[MOST];
    double results[MOST];
} job;

/* Something that depends on its index alone, and whose bits would show a changed order of operations. */
static void compute(void *argument, int index) {
    job *j = argument;
    uint64_t state = (uint64_t)index;
    double sum = 0;
    for (int i = 0; i < index % 40; i++) sum += 1 / (random_unit(&state) + 0.1);
    j->results[index] = sum;
    atomic_fetch_add(&j->visits[index], 1);
}

static void test_same_for_any_threads(void **unused) {
    (void)unused;
    static job serial, parallel;
    parallel_for(NULL, MOST, compute, &serial);
    for (int threads = 0; threads <= 8; threads++) {
        abut_workers *pool = abut_workers_create(NULL, threads);
        abut_context context = {.parallel = abut_workers_parallel(pool)};
        assert_int_equal(parallel_threads(&context), threads < 1 ? 1 : threads);
        const int counts[] = {0, 1, 2, 3, threads, MOST};
        for (int k = 0; k < COUNT_OF(counts); k++) {
            memset(&parallel, 0, sizeof parallel);
            parallel_for(&context, counts[k], compute, &parallel);
            for (int i = 0; i < MOST; i++) assert_int_equal(parallel.visits[i], i < counts[k]);
            assert_memory_equal(parallel.results, serial.results, (size_t)counts[k] * sizeof(double));
        }
        abut_workers_destroy(pool);
    }
}

/* Many short jobs, so that workers wake while the next job is being written. */
static void test_many_jobs(void **unused) {
    (void)unused;
    static job j;
    abut_workers *pool = abut_workers_create(NULL, 4);
    abut_context context = {.parallel = abut_workers_parallel(pool)};
    for (int n = 0; n < 2000; n++) parallel_for(&context, 7, compute, &j);
    for (int i = 0; i < 7; i++) assert_int_equal(j.visits[i], 2000);
    abut_workers_destroy(pool);
}

static void rest(double seconds) {
    for (double start = clock_now(); clock_now() - start < seconds;) sched_yield();
}

static void work_unevenly(void *argument, int index) {
    job *j = argument;
    rest(index == 1 ? 2e-3 : 0);
    atomic_fetch_add(&j->visits[index], 1);
}

/* Pauses so long that the workers sleep, and tasks so long that the caller does. */
static void test_sleep(void **unused) {
    (void)unused;
    static job j;
    abut_workers *pool = abut_workers_create(NULL, 3);
    abut_context context = {.parallel = abut_workers_parallel(pool)};
    for (int n = 0; n < 50; n++) {
        parallel_for(&context, 5, work_unevenly, &j);
        rest(1e-3);
    }
    for (int i = 0; i < 5; i++) assert_int_equal(j.visits[i], 50);
    abut_workers_destroy(pool);
}

typedef struct nest {
    const abut_context *context;
    job *inner;
} nest;

static void start_inner(void *argument, int index) {
    nest *n = argument;
    (void)index;
    parallel_for(n->context, 50, compute, n->inner);
}

static void *second_caller(void *argument) {
    for (int i = 0; i < 100; i++) start_inner(argument, 0);
    return NULL;
}

static void count_only(void *argument, int index) {
    job *j = argument;
    atomic_fetch_add(&j->visits[index], 1);
}

static void start_counting(void *argument, int index) {
    nest *n = argument;
    (void)index;
    parallel_for(n->context, 50, count_only, n->inner);
}

/* A task that starts a job of its own, and two threads that share a pool: no deadlock, nothing lost. */
static void test_nested_and_shared(void **unused) {
    (void)unused;
    static job inner, outer, other;
    abut_workers *pool = abut_workers_create(NULL, 3);
    abut_context context = {.parallel = abut_workers_parallel(pool)};
    parallel_for(&context, 20, start_counting, &(nest){&context, &inner});
    for (int i = 0; i < 50; i++) assert_int_equal(inner.visits[i], 20);
    nest theirs = {&context, &other}, ours = {&context, &outer};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, second_caller, &theirs), 0);
    second_caller(&ours);
    pthread_join(thread, NULL);
    for (int i = 0; i < 50; i++) assert_true(other.visits[i] == 100 && outer.visits[i] == 100);
    abut_workers_destroy(pool);
}

/* The user's own job system: it may run the indices in any order. */
static void backwards(void *user, int count, abut_task *task, void *argument) {
    *(int *)user += 1;
    for (int i = count - 1; i >= 0; i--) task(argument, i);
}

static void test_own_hook(void **unused) {
    (void)unused;
    static job serial, hooked;
    int calls = 0;
    abut_context context = {.parallel = {backwards, &calls, 16}};
    assert_int_equal(parallel_threads(&context), 16);
    parallel_for(NULL, 100, compute, &serial);
    parallel_for(&context, 100, compute, &hooked);
    assert_int_equal(calls, 1);
    assert_memory_equal(serial.results, hooked.results, sizeof serial.results);
}

static abut_status make_pool(const abut_context *context, void *unused) {
    (void)unused;
    abut_workers *pool = abut_workers_create(context, 3);
    abut_parallel parallel = abut_workers_parallel(pool); /* of NULL: everything in the calling thread */
    assert_int_equal(parallel.run != NULL, pool != NULL);
    abut_workers_destroy(pool);
    return pool ? ABUT_OK : ABUT_NO_MEMORY;
}

static void test_failing(void **unused) {
    (void)unused;
    assert_int_equal(support_fail_each(make_pool, NULL), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_for_any_threads),
        cmocka_unit_test(test_many_jobs),
        cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_nested_and_shared),
        cmocka_unit_test(test_own_hook),
        cmocka_unit_test(test_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
