/* Live bodies that follow a function of time: a table that is shaken, x = A sin(w t) or A (1 - cos w t), and
 * a box on it.  By the law of friction the box has the acceleration  mu g  against its slip, and sticks
 * where the table's is smaller. */
#include "live_trial.h"
#include "sim/live.h"

#define G         9.81
#define AMPLITUDE 0.1
#define RATE      8.0

static bool shake(void *user, double time, double *out, int count) {
    (void)user, (void)count;
    const double m[7] = {AMPLITUDE * sin(RATE * time), 0, -0.5, 1, 0, 0, 0};
    memcpy(out, m, sizeof m);
    return true;
}

static bool shake_gently(void *user, double time, double *out, int count) {
    (void)user, (void)count;
    const double m[7] = {AMPLITUDE * (1 - cos(RATE * time)), 0, -0.5, 1, 0, 0, 0};
    memcpy(out, m, sizeof m);
    return true;
}

static void put_on_table(trial *t, abut_time_function *function, double mu, int boxes) {
    begin(t);
    t->world.material.friction = (abut_friction){mu, mu, 0, 0};
    abut_body_def *table = add(t, abut_shape_halfspace(vec3_make(0, 0, 1), 0.5), 0, 0, -0.5);
    table->kinematic = true, table->motion = function;
    for (int i = 0; i < boxes; i++) add(t, abut_shape_solid(t->box), 0, 2 * i, 0.5);
}

/* The law itself, in pieces of 1e-5 s: off by less than 1e-4 m after three seconds. */
static double slide(double mu, double until) {
    const double h = 1e-5;
    double x = 0, v = 0;
    for (int64_t k = 0; k < (int64_t)(until / h + 0.5); k++) {
        double time = (double)k * h, table = AMPLITUDE * RATE * cos(RATE * (time + h));
        double dv = table - v, most = mu * G * h;
        v += fmin(fmax(dv, -most), most);
        x += v * h;
    }
    return x;
}

/* One box is a direct island; thirty are batches.  Turning round at the end of a sub-step instead of within
 * it costs some A w h of way each time. */
static void test_slips_on_shaken_table(void **state) {
    (void)state;
    for (double mu = 0.2; mu < 0.65; mu += 0.1)
        for (int boxes = 1; boxes <= 30; boxes += 29) {
            trial t;
            put_on_table(&t, shake, mu, boxes);
            start(&t);
            for (int k = 1; k <= 6; k++) {
                steps(&t, 30);
                close_to(abut_sim_motion(t.run, 1).center.x, slide(mu, 0.5 * k), 4e-3);
            }
            finish(&t);
        }
}

/* The law is the same where columns that sway, on blocks of their own, make the table go at their pace. */
static void test_slips_beside_columns(void **state) {
    (void)state;
    trial t;
    put_on_table(&t, shake, 0.3, 30);
    for (int i = 0; i < 62; i++) add(&t, abut_shape_solid(t.box), 40 + i % 2, 0, 0.5 + i / 2)->fixed = i < 2;
    start(&t);
    for (int k = 1; k <= 4; k++) {
        steps(&t, 30);
        close_to(abut_sim_motion(t.run, 1).center.x, slide(0.3, 0.5 * k), 4e-3);
    }
    assert_true(t.run->live->finest > 0);
    finish(&t);
}

/* What the table carries along is where the table takes it, and does not slip. */
static void test_sticks_to_shaken_table(void **state) {
    (void)state;
    trial t;
    put_on_table(&t, shake_gently, 0.9, 1);
    start(&t);
    for (int k = 0; k < 120; k++) {
        steps(&t, 1);
        double x = AMPLITUDE * (1 - cos(RATE * abut_sim_time(t.run)));
        assert_true(abut_sim_motion(t.run, 0).center.x == x); /* just where the function says */
        close_to(abut_sim_motion(t.run, 1).center.x, x, 1e-6);
    }
    assert_int_equal(t.events[ABUT_EVENT_SLIP], 0);
    finish(&t);
}

/* The wave of a period: where the table has come round, its mean motion over the step is none, and still it
 * carries the box: nobody sleeps on it. */
static bool come_round(void *user, double time, double *out, int count) {
    (void)user, (void)count;
    double turns = 60 * time, part = turns - floor(turns + 1e-6), height = fmax(part, 0);
    const double m[7] = {1e-3 * (height < 0.5 ? height : 1 - height), 0, -0.5, 1, 0, 0, 0};
    memcpy(out, m, sizeof m);
    if (height < 1e-5 || height > 1 - 1e-5) out[0] = 0;
    return true;
}

static void test_nobody_sleeps_on_what_moves(void **state) {
    (void)state;
    trial t;
    put_on_table(&t, come_round, 0.9, 1);
    t.options.sleep = true;
    start(&t);
    steps(&t, 120);
    assert_int_equal(t.events[ABUT_EVENT_SLEEP], 0);
    finish(&t);
}

/* The same bits when the run goes on from a snapshot, and with two workers. */
static uint64_t shake_thirty(int threads, int restored_after) {
    trial t;
    put_on_table(&t, shake, 0.3, 30);
    t.options.share_from = 0;
    if (threads > 1) {
        t.workers = abut_workers_create(NULL, threads);
        t.context.parallel = abut_workers_parallel(t.workers);
    }
    start(&t);
    steps(&t, restored_after);
    size_t size = abut_sim_snapshot_size(t.run);
    void *block = malloc(size);
    abut_sim_snapshot(t.run, block);
    if (restored_after) {
        abut_error error = {0};
        abut_sim_free(t.run);
        assert_int_equal(abut_sim_create_at(&t.context, t.model, NULL, block, size, &t.run, &error), ABUT_OK);
        abut_live_set_options(t.run, &t.options);
    }
    free(block);
    steps(&t, 60 - restored_after);
    uint64_t hash = abut_sim_hash(t.run);
    finish(&t);
    return hash;
}

static void test_same_bits(void **state) {
    (void)state;
    uint64_t hash = shake_thirty(1, 0);
    assert_int_equal(shake_thirty(2, 0), hash);
    assert_int_equal(shake_thirty(1, 25), hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slips_on_shaken_table), cmocka_unit_test(test_slips_beside_columns),
        cmocka_unit_test(test_sticks_to_shaken_table), cmocka_unit_test(test_nobody_sleeps_on_what_moves),
        cmocka_unit_test(test_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
