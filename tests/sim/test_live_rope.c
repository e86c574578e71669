/* Hinges of islands that are too large to be solved directly: ropes against closed forms. */
#include "live_trial.h"

enum { LINKS = 60 };
#define LENGTH 0.1  /* of a link */
#define RADIUS 0.03 /* of its ball */

static abut_hinge_def hinges[LINKS];

/* Balls in a row along x or downwards from the origin, each hung on the one before. */
static void add_rope(trial *t, vec3 from, vec3 along, double last_mass) {
    for (int k = 0; k < LINKS; k++) {
        vec3 at = vec3_axpy(from, LENGTH * (k + 0.5), along);
        abut_body_def *b = add(t, abut_shape_sphere(RADIUS), at.x, at.y, at.z);
        b->mass = k + 1 < LINKS ? 0.1 : last_mass;
        hinges[k] = abut_default_hinge();
        hinges[k].kind = ABUT_HINGE_BALL;
        hinges[k].a = t->count - 1, hinges[k].b = k > 0 ? t->count - 2 : -1;
        hinges[k].at = vec3_axpy(from, LENGTH * k, along);
    }
}

/* By how much any hinge is open, as a part of the smallest body. */
static double open_by(const trial *t) {
    double most = 0;
    motion *m = run_motions(t->run->state);
    for (int k = 0; k < LINKS; k++) {
        const hinge *h = &t->model->hinges[k].h;
        row rows[HINGE_MAX_ROWS];
        int n = hinge_rows(h, &m[h->a], h->b >= 0 ? &m[h->b] : NULL, 0, rows);
        for (int i = 0; i < n; i++) most = fmax(most, fabs(rows[i].error) / (2 * RADIUS));
    }
    return most;
}

/* A rope at rest with 500 times a link's mass at its end: each hinge carries the weight below it, so none
 * that bears 0.1 % more breaks, and one that bears 0.1 % less does.  Row by row, such a rope falls. */
static void test_tension(void **state) {
    (void)state;
    for (int weak = 0; weak < 2; weak++) {
        trial t;
        begin(&t);
        t.options.direct_rows = 0;
        add_rope(&t, vec3_zero(), vec3_make(0, 0, -1), 50);
        for (int k = 0; k < LINKS; k++)
            hinges[k].break_force = 1.001 * (50 + 0.1 * (LINKS - 1 - k)) * t.world.gravity.z * -1;
        if (weak) hinges[LINKS / 2].break_force *= 0.999 / 1.001;
        start_with(&t, hinges, LINKS);
        steps(&t, weak ? 2 : 120);
        assert_int_equal(t.events[ABUT_EVENT_HINGE_BROKEN] > 0, weak);
        if (!weak) assert_true(open_by(&t) < 1e-6);
        finish(&t);
    }
}

/* Let go where it lies level, it swings: hinges stay closed, and energy stays.  Forces act where a sub-step
 * of length h begins, which keeps  E + h/2 sum m g . v  instead of E (symplectic Euler), and |sum m g . v| <=
 * g sqrt(2 M K)  by Cauchy and Schwarz.  Until its end whips round, which wants shorter steps than large
 * islands have. */
static void test_swing(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.direct_rows = 0;
    add_rope(&t, vec3_zero(), vec3_make(1, 0, 0), 0.1);
    start_with(&t, hinges, LINKS);
    abut_energy e = abut_sim_energy(t.run);
    double first = e.kinetic + e.potential, largest = 0;
    for (int i = 0; i < 50; i++) {
        steps(&t, 1);
        e = abut_sim_energy(t.run);
        largest = fmax(largest, e.kinetic);
        double lead = t.world.step / t.world.substeps / 2 * 9.81 * sqrt(2 * 0.1 * LINKS * e.kinetic);
        assert_true(fabs(e.kinetic + e.potential - first) <= lead + 0.01 * largest);
        assert_true(open_by(&t) < 0.01);
    }
    finish(&t);
}

/* One end held 0.3 m above a floor, the rest falls on it: what the live clock promises, in each step. */
static void test_lands(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.direct_rows = 0;
    add_rope(&t, vec3_make(0, 0, 0.3), vec3_make(1, 0, 0), 0.1);
    add_floor(&t);
    start_with(&t, hinges, LINKS);
    abut_energy e = abut_sim_energy(t.run);
    double last = e.kinetic + e.potential, largest = last;
    for (int i = 0; i < 120; i++) {
        steps(&t, 1);
        e = abut_sim_energy(t.run);
        assert_true(e.kinetic + e.potential <= last + 0.01 * largest);
        last = e.kinetic + e.potential;
        assert_true(open_by(&t) < 0.01);
    }
    assert_true(e.kinetic < 0.01 * largest);
    finish(&t);
}

/* Nothing of the hinges is kept from step to step: a restored run goes on with the same bits, here while the
 * rope lands. */
static void test_restored(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.direct_rows = 0;
    add_rope(&t, vec3_make(0, 0, 0.3), vec3_make(1, 0, 0), 0.1);
    add_floor(&t);
    start_with(&t, hinges, LINKS);
    steps(&t, 18);
    size_t size = abut_sim_snapshot_size(t.run);
    void *block = malloc(size);
    assert_non_null(block);
    abut_sim_snapshot(t.run, block);
    abut_motion ends[2][LINKS];
    for (int k = 0; k < 2; k++) {
        if (k) assert_int_equal(abut_sim_restore(t.run, block, size, NULL), ABUT_OK);
        steps(&t, 18);
        for (int i = 0; i < LINKS; i++) ends[k][i] = abut_sim_motion(t.run, i);
    }
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
    free(block);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tension),
        cmocka_unit_test(test_swing),
        cmocka_unit_test(test_lands),
        cmocka_unit_test(test_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
