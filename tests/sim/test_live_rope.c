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

/* By how much any ball is in a round beam along y, or in the floor below it, as a part of the balls. */
static double overlap_with(const trial *t, vec3 beam, double radius) {
    double most = 0;
    for (int k = 0; k < LINKS; k++) {
        vec3 c = abut_sim_motion(t->run, k).center;
        double away = sqrt((c.x - beam.x) * (c.x - beam.x) + (c.z - beam.z) * (c.z - beam.z));
        most = fmax(most, fmax(radius + RADIUS - away, RADIUS - c.z) / (2 * RADIUS));
    }
    return most;
}

static double energy_of(const trial *t) {
    abut_energy e = abut_sim_energy(t->run);
    return e.kinetic + e.potential;
}

/* Falls over a beam: two links stop all of it, their neighbours turn by a radian in a step, then both halves
 * hang on those two.  No link goes into the beam or through it, hinges stay closed, and no energy comes from
 * nothing; with contacts that feel the mass of one link the rope cuts into the beam. */
static void test_over_beam(void **state) {
    (void)state;
    for (int off = 0; off < 2; off++) {
        trial t;
        begin(&t);
        t.options.direct_rows = 0;
        t.world.material.friction = (abut_friction){0.3, 0.3, 0, 0};
        vec3 beam = {0.01 * off, 0, 3};
        double radius = 0.05, largest = 0, last;
        add_rope(&t, vec3_make(-LENGTH * LINKS / 2, 0, 4), vec3_make(1, 0, 0), 0.1);
        abut_body_def *b = add(&t, abut_shape_cylinder(radius, 1), beam.x, beam.y, beam.z);
        b->rotation = (quat){sqrt(0.5), sqrt(0.5), 0, 0}, b->fixed = true;
        add_floor(&t);
        start_with(&t, hinges + 1, LINKS - 1);
        last = energy_of(&t);
        for (int i = 0; i < 90; i++) {
            steps(&t, 1);
            largest = fmax(largest, abut_sim_energy(t.run).kinetic);
            assert_true(overlap_with(&t, beam, radius) < 0.05);
            assert_true(energy_of(&t) <= last + 0.01 * largest);
            last = energy_of(&t);
        }
        abut_audit a = abut_sim_audit(t.run);
        if (!a.promises_kept) fail_msg("%s", a.broken);
        finish(&t);
    }
}

/* A rope comes to rest over a beam with 20 times a link's mass at both ends: the few links that lie on it
 * bear all of the weight, and sink in no deeper than others. */
static void test_hangs_over_beam(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.direct_rows = 0;
    t.world.material.friction = (abut_friction){0.8, 0.8, 0, 0};
    add_rope(&t, vec3_make(-LENGTH * LINKS / 2, 0, 4), vec3_make(1, 0, 0), 2);
    t.bodies[0].mass = 2;
    for (int k = 0; k < LINKS; k++) t.bodies[k].drag_linear = 2 * t.bodies[k].mass;
    vec3 beam = {0, 0, 3.9};
    abut_body_def *b = add(&t, abut_shape_cylinder(0.05, 1), beam.x, beam.y, beam.z);
    b->rotation = (quat){sqrt(0.5), sqrt(0.5), 0, 0}, b->fixed = true;
    start_with(&t, hinges + 1, LINKS - 1);
    double weight = (0.1 * (LINKS - 2) + 4) * 9.81, force = 0;
    for (int i = 0; i < 240; i++) {
        steps(&t, 1);
        assert_true(overlap_with(&t, beam, 0.05) < 0.05);
    }
    const abut_contact *contacts;
    int count = abut_sim_contacts(t.run, &contacts);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < contacts[i].point_count && contacts[i].body[1] == LINKS; k++)
            force += contacts[i].forces[k].z;
    close_to(force, weight, 0.05 * weight);
    finish(&t);
}

/* Of the hinges nothing but the pace is kept from step to step: a restored run goes on with the same bits,
 * here while the rope lands on a floor and on a beam. */
static void test_restored(void **state) {
    (void)state;
    for (int over_beam = 0; over_beam < 2; over_beam++) {
        trial t;
        begin(&t);
        t.options.direct_rows = 0;
        add_rope(&t, vec3_make(-1, 0, 0.3 + 0.7 * over_beam), vec3_make(1, 0, 0), 0.1);
        add_floor(&t);
        if (over_beam) add(&t, abut_shape_sphere(0.1), 1, 0, 0.7)->fixed = true;
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
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tension),         cmocka_unit_test(test_swing),
        cmocka_unit_test(test_lands),           cmocka_unit_test(test_over_beam),
        cmocka_unit_test(test_hangs_over_beam), cmocka_unit_test(test_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
