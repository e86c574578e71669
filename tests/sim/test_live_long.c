/* 10,000 steps of 1,000 hulls in a bin: the same bits for 1, 2 and 4 workers, and with a snapshot taken and
 * restored in the middle.  The state is hashed every hundred steps, so that a failure tells when it began;
 * the sums are printed, for comparing the program of one compiler with that of another:
 *
 *     test_sim_live_long [STEPS]        60 steps in the fast suite, 10,000 as a soak (tools/soak-live) */
#include "abut/live.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { HULLS = 1000, POINTS = 16, EVERY = 100, MOST_STEPS = 10000 };

typedef struct bin {
    abut_solid *solids[HULLS];
    abut_body_def bodies[HULLS + 5];
    abut_model *model;
    abut_context context;
    abut_workers *workers;
    int steps;
    uint64_t sums[MOST_STEPS / EVERY + 1]; /* of the run with one worker */
} bin;

/* Points on a noisy sphere, as the benchmark's. */
static void make_bodies(bin *b) {
    uint64_t seed = 12345;
    vec3 walls[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    for (int i = 0; i < 5; i++) {
        b->bodies[i] = abut_default_body();
        b->bodies[i].shape = abut_shape_halfspace(walls[i], i == 0 ? 0 : -5), b->bodies[i].fixed = true;
    }
    for (int i = 0; i < HULLS; i++) {
        vec3 points[POINTS];
        for (int k = 0; k < POINTS;
             k++) { /* one after the other: compilers differ in the order of arguments */
            vec3 u = support_direction(&seed);
            points[k] = vec3_scale(u, 0.5 * random_range(&seed, 0.9, 1.1));
        }
        assert_int_equal(abut_solid_hull(NULL, points, POINTS, &b->solids[i], NULL), ABUT_OK);
        abut_body_def *d = &b->bodies[5 + i];
        *d = abut_default_body();
        d->shape = abut_shape_solid(b->solids[i]);
        d->position = vec3_make(i % 8 * 1.2 - 4.2, i / 8 % 8 * 1.2 - 4.2, 1 + 1.2 * (i / 64));
    }
}

/* The state after the step i: noted in the first run, compared in the others. */
static void compare_sum(bin *b, int threads, int i, uint64_t sum) {
    uint64_t *first = &b->sums[(i - 1) / EVERY];
    if (threads == 1) *first = sum;
    if (*first != sum)
        fail_msg("%d workers: other bits after %d steps at the latest (%016llx, %016llx)", threads, i,
                 (unsigned long long)sum, (unsigned long long)*first);
}

static void run(bin *b, int threads, int interrupt) {
    abut_error error = {0};
    abut_world_def world = abut_default_world();
    world.mode = ABUT_LIVE, world.bodies = b->bodies, world.body_count = HULLS + 5;
    world.material.friction = (abut_friction){0.6, 0.6, 0, 0};
    b->context = (abut_context){0}, b->workers = NULL;
    if (threads > 1) {
        b->workers = abut_workers_create(NULL, threads);
        b->context.parallel = abut_workers_parallel(b->workers);
    }
    abut_live_options options = abut_default_live_options();
    options.sleep = false, options.share_from = 0;
    abut_sim *sim = NULL;
    if (abut_model_create(&b->context, &world, &b->model, &error) != ABUT_OK ||
        abut_sim_create(&b->context, b->model, NULL, &sim, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    abut_live_set_options(sim, &options);
    for (int i = 1; i <= b->steps; i++) {
        if (abut_sim_advance(sim, i / 60.0, &error) != ABUT_OK) fail_msg("%s", error.message);
        if (i % EVERY == 0 || i == b->steps) compare_sum(b, threads, i, abut_sim_hash(sim));
        if (i != interrupt) continue;
        size_t size = abut_sim_snapshot_size(sim);
        void *block = malloc(size);
        abut_sim_snapshot(sim, block);
        abut_sim_free(sim);
        if (abut_sim_create_at(&b->context, b->model, NULL, block, size, &sim, &error) != ABUT_OK)
            fail_msg("%s", error.message);
        abut_live_set_options(sim, &options);
        free(block);
    }
    print_message("%d workers, %d steps: %016llx\n", threads, b->steps,
                  (unsigned long long)abut_sim_hash(sim));
    abut_sim_free(sim);
    abut_model_free(b->model);
    abut_workers_destroy(b->workers);
}

static void test_same_bits(void **state) {
    bin *b = *state;
    make_bodies(b);
    run(b, 1, 0);
    run(b, 2, b->steps / 2);
    run(b, 4, 0);
    for (int i = 0; i < HULLS; i++) abut_solid_free(NULL, b->solids[i]);
}

int main(int argc, char **argv) {
    static bin b;
    b.steps = argc > 1 ? atoi(argv[1]) : 60;
    if (b.steps < 1 || b.steps > MOST_STEPS) return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_same_bits, &b)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
