/* A heap of hulls in a bin, from the fall to rest: where energy comes from, and what is left of it.
 *
 * With restitution 0 nothing gives energy but the removal of overlap.  A sub-step removes the part rate h of
 * an overlap, with damping 10 and 0.14 cycles a sub-step (live.c)  w / (20 + w) = 0.042, w = 2 pi 0.14;  a
 * step of four 0.16 of it.  Where all layers of a heap of L layers open by d, it is lifted by L d / 2 on the
 * average:  a step gains at most  0.16 W L / 2 d,  W the weight and d the mean overlap of what pushes. */
#include "live_trial.h"
#include "sim/live.h"

enum { HULLS = 60, POINTS = 16, STEPS = 600, LATER = 600, SEEDS = 12, LAYERS = 8 };
#define MASS    500.0
#define REMOVED 0.16
#define STILL   4e-3 /* J: what 1,000 such hulls keep at best in other engines after ten seconds */

static void fill_bin(trial *t, uint64_t seed, abut_solid *solids[HULLS]) {
    const vec3 walls[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    begin(t);
    for (int i = 0; i < 5; i++)
        add(t, abut_shape_halfspace(walls[i], i == 0 ? 0 : -1.5), 0, 0, 0)->fixed = true;
    for (int i = 0; i < HULLS; i++) {
        vec3 points[POINTS];
        for (int k = 0; k < POINTS; k++) {
            vec3 u = support_direction(&seed);
            points[k] = vec3_scale(u, 0.5 * random_range(&seed, 0.9, 1.1));
        }
        assert_int_equal(abut_solid_hull(NULL, points, POINTS, &solids[i], NULL), ABUT_OK);
        add(t, abut_shape_solid(solids[i]), i % 2 * 1.2 - 0.6, i / 2 % 2 * 1.2 - 0.6, 1 + 1.2 * (i / 4))
            ->mass = MASS;
    }
}

static double energy(const trial *t) {
    abut_energy e = abut_sim_energy(t->run);
    return e.kinetic + e.potential;
}

/* The mean of the deepest overlaps of all manifolds that push, where the last step began. */
static double mean_overlap(const trial *t) {
    const live_contact_array *list = &t->run->live->contacts;
    double sum = 0;
    int count = 0;
    for (int64_t i = 0; i < list->count; i++) {
        const live_contact *c = &list->data[i];
        double least = INFINITY;
        for (int k = 0; k < c->count; k++) least = fmin(least, c->points[k].gap);
        if (!(c->flags & LIVE_TOUCHING)) continue;
        sum += fmax(-least, 0), count++;
    }
    return count ? sum / count : 0;
}

/* The largest kinetic energy of a second. */
static double stirs(trial *t) {
    double most = 0;
    for (int i = 0; i < 60; i++) {
        steps(t, 1);
        most = fmax(most, abut_sim_energy(t->run).kinetic);
    }
    return most;
}

static void test_energy_of_heap(void **state) {
    (void)state;
    int late = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        trial t;
        abut_solid *solids[HULLS];
        fill_bin(&t, seed, solids);
        start(&t);
        double first = energy(&t), last = first, weight = HULLS * MASS * 9.81, moving = 0;
        for (int i = 0; i < STEPS; i++) {
            steps(&t, 1);
            double gained = energy(&t) - last, most = REMOVED * weight * LAYERS / 2 * mean_overlap(&t);
            if (gained > most + 1e-12 * first)
                fail_msg("seed %d, step %d: %g J gained, at most %g", (int)seed, i, gained, most);
            double kinetic = abut_sim_energy(t.run).kinetic;
            if (i >= STEPS - 60) moving = fmax(moving, kinetic);
            last += gained;
        }
        late += !(moving < STILL);
        for (int i = 0; i < LATER && !(moving < STILL); i += 60) moving = stirs(&t);
        if (!(moving < STILL)) fail_msg("seed %d: moves with %g J after twenty seconds", (int)seed, moving);
        finish(&t);
        for (int i = 0; i < HULLS; i++) abut_solid_free(NULL, solids[i]);
    }
    /* two of seeds 1 to 300 (4, 133) move on for up to four seconds: a hull rocks on its four points */
    assert_true(late <= 1);
}

/* ---- what is kept from step to step is as good as what is made anew
 *
 * A restored run lists all pairs of boxes anew, and knows nothing of those that it was going to keep: so a
 * run that is restored in each step has the same bits as one that goes on.  With everything that may change
 * the pairs: falls, rest, sleep, a floor that tilts, a plough, and a body that is put elsewhere. */

static void begin_sleepy(trial *t, abut_solid *solids[HULLS], bool ploughed) {
    fill_bin(t, 7, solids);
    if (ploughed) {
        t->bodies[0].fixed = false, t->bodies[0].kinematic = true;
        t->bodies[0].spin = vec3_make(0, 0.02, 0);
        abut_body_def *plough = add(t, abut_shape_solid(t->box), -6, 0, 0.6);
        plough->kinematic = true, plough->velocity = vec3_make(2, 0, 0);
    }
    t->options.sleep = true;
    start(t);
}

static void intervene(trial *t, int step) {
    if (step != 800) return;
    const int body = 20;
    abut_motion m = abut_sim_motion(t->run, body);
    abut_error error = {0};
    m.center = vec3_make(0.2, 0.1, 9);
    assert_int_equal(abut_sim_set_motions(t->run, 1, &body, &m, &error), ABUT_OK);
}

static void restore_in_each_step(bool ploughed) {
    trial on, restored;
    abut_solid *solids[2][HULLS];
    begin_sleepy(&on, solids[0], ploughed), begin_sleepy(&restored, solids[1], ploughed);
    for (int i = 0; i < 1300; i++) {
        size_t size = abut_sim_snapshot_size(restored.run);
        void *snapshot = malloc(size);
        abut_error error = {0};
        assert_non_null(snapshot);
        abut_sim_snapshot(restored.run, snapshot);
        assert_int_equal(abut_sim_restore(restored.run, snapshot, size, &error), ABUT_OK);
        free(snapshot);
        intervene(&on, i), intervene(&restored, i);
        steps(&on, 1), steps(&restored, 1);
        if (abut_sim_hash(on.run) != abut_sim_hash(restored.run)) fail_msg("step %d has other bits", i);
    }
    if (!ploughed) assert_true(on.events[ABUT_EVENT_SLEEP] > HULLS);
    for (int k = 0; k < 2; k++) {
        finish(k ? &restored : &on);
        for (int i = 0; i < HULLS; i++) abut_solid_free(NULL, solids[k][i]);
    }
}

static void test_restored_in_each_step(void **state) {
    (void)state;
    restore_in_each_step(false), restore_in_each_step(true);
}

/* ---- a plough that goes through the heap and out through the wall
 *
 * Nothing can give what it squeezes a way out.  Such contacts are springs of w = 2 pi 0.14 / h, so that what
 * leaves an overlap d is no faster than w d; none is deeper than a hull.  (Seeds 17 and 22 had hulls at 1e19
 * m/s, and ended with numbers that are none.) */
static void test_squeezed(void **state) {
    (void)state;
    const uint64_t seeds[] = {3, 17, 22, 39};
    for (int k = 0; k < 4; k++) {
        trial t;
        abut_solid *solids[HULLS];
        fill_bin(&t, seeds[k], solids);
        t.bodies[0].fixed = false, t.bodies[0].kinematic = true;
        t.bodies[0].spin = vec3_make(0, 0.02, 0);
        abut_body_def *plough = add(&t, abut_shape_solid(t.box), -6, 0, 0.6);
        plough->kinematic = true, plough->velocity = vec3_make(2, 0, 0);
        start(&t);
        double most = 2 * 3.14159265358979 * 0.14 * 240 * 1.1;
        for (int i = 0; i < 400; i++) {
            steps(&t, 1);
            for (int body = 5; body < 5 + HULLS; body++)
                assert_true(vec3_length(abut_sim_motion(t.run, body).velocity) < most);
        }
        finish(&t);
        for (int i = 0; i < HULLS; i++) abut_solid_free(NULL, solids[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_energy_of_heap),
                                       cmocka_unit_test(test_restored_in_each_step),
                                       cmocka_unit_test(test_squeezed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
