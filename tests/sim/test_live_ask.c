/* The live clock asked: spans of any length, casts, sensors, fast bodies, its audit, and the way to the exact
 * clock and back. */
#include "live_trial.h"

/* ---- steps of any length */

/* A caller's clock: a pyramid of 10 boxes and a pendulum are advanced by any spans, from a millionth of a
 * step to two and a half, and by spans that are only rounding.  Nothing moves that would not, and the books
 * are as right as with equal steps. */
static void test_any_span(void **state) {
    (void)state;
    trial t;
    begin(&t);
    add_floor(&t);
    for (int level = 0; level < 4; level++)
        for (int k = 0; k < 4 - level; k++)
            add(&t, abut_shape_solid(t.box), 1.05 * (k + 0.5 * level), 0, 0.5 + level);
    int bob = t.count;
    add(&t, abut_shape_sphere(0.2), -5, 0, 2);
    t.hinges[0] = abut_default_hinge(), t.hinge_count = 1;
    t.hinges[0].kind = ABUT_HINGE_BALL, t.hinges[0].a = bob, t.hinges[0].b = -1;
    t.hinges[0].at = vec3_make(-6, 0, 2);
    start(&t);
    uint32_t seed = 7;
    for (double time = 0; time < 6;) {
        seed = seed * 1664525 + 1013904223;
        double part = (seed >> 8) / 16777216.0, span = seed & 1 ? 2.5 * part : part * part * part * part;
        abut_error error = {0};
        time += t.world.step * fmax(span, 1e-6);
        if (abut_sim_advance(t.run, time, &error) != ABUT_OK) fail_msg("%s", error.message);
        assert_int_equal(abut_sim_advance(t.run, time * (1 + 2e-16), &error), ABUT_OK);
        time = abut_sim_time(t.run);
    }
    abut_audit audit = abut_sim_audit(t.run);
    if (!audit.promises_kept) fail_msg("%s", audit.broken);
    for (int i = 1; i < bob; i++) {
        vec3 from = t.bodies[i].position;
        assert_true(vec3_distance(abut_sim_motion(t.run, i).center, from) < 2e-3);
    }
    close_to(vec3_distance(abut_sim_motion(t.run, bob).center, t.hinges[0].at), 1, 1e-3);
    finish(&t);
}

/* ---- fast bodies, casts, sensors */

/* A ball of 10 cm at 200 m/s (3.3 m a step) does not pass a wall of 10 cm. */
static void test_bullet(void **state) {
    (void)state;
    trial t;
    begin(&t);
    abut_solid *wall;
    assert_int_equal(abut_solid_box(NULL, 0.1, 4, 4, &wall, NULL), ABUT_OK);
    t.world.gravity = vec3_zero();
    add(&t, abut_shape_solid(wall), 10.3, 0, 0)->fixed = true;
    add(&t, abut_shape_sphere(0.05), 0, 0, 0)->velocity.x = 200;
    start(&t);
    for (int i = 0; i < 60; i++) {
        steps(&t, 1);
        assert_true(abut_sim_motion(t.run, 1).center.x < 10.2 + 1e-3);
    }
    assert_true(abut_sim_motion(t.run, 1).velocity.x < 1e-6);
    finish(&t);
    abut_solid_free(NULL, wall);
}

/* A ball that falls on a plate at 30 m/s, half a metre a step, is stopped on its way and gains nothing by
 * that: it has no more speed than its height leaves it.  Without friction or restitution the energy never
 * rises, but for the way between two places, which is a chord instead of the parabola: m g times g dt^2 / 8,
 * of m v^2 / 2.  With the speed of the whole step it had gained m g times the way that it lost, up to a
 * hundredth. */
static void test_stopped_in_fall(void **state) {
    (void)state;
    abut_solid *plate;
    assert_int_equal(abut_solid_box(NULL, 4, 4, 0.1, &plate, NULL), ABUT_OK);
    for (int i = 0; i < 8; i++) {
        trial t;
        begin(&t);
        add(&t, abut_shape_solid(plate), 0, 0, 0)->fixed = true;
        add(&t, abut_shape_sphere(0.05), 0, 0, 1.5 + 0.06 * i)->velocity.z = -30;
        start(&t);
        steps(&t, 20);
        double fall = 9.81 / 60, chord = fall * fall / 8 / (30 * 30 / 2.0);
        assert_true(abut_sim_audit(t.run).energy_error <= chord);
        assert_true(abut_sim_motion(t.run, 1).center.z > 0.09);
        finish(&t);
    }
    abut_solid_free(NULL, plate);
}

/* Ellipsoids that spin and land without friction: a blow that only pushes takes energy, wherever the place of
 * contact goes while they turn (they are solved by batches, whose contacts are found anew within the step).
 * What removes an overlap d may lift a body by it: m g d, of at least m v^2 / 2.  (Relaxed with the arms and
 * the inertia of before the sub-step one of sixty gained 1.3 %, one of 600 2 %.) */
static void test_spinning_landings(void **state) {
    (void)state;
    uint64_t seed = 21;
    double all = 0;
    for (int i = 0; i < 120; i++) {
        trial t;
        begin(&t);
        t.options.direct_rows = 0;
        t.world.material.friction = (abut_friction){0, 0, 0, 0};
        add_floor(&t);
        abut_body_def *b = add(&t, abut_shape_ellipsoid(0.2, 0.15, 0.1), 0, 0, 0.5);
        pose p = support_pose(&seed, 1);
        b->rotation = p.rotation, b->velocity = vec3_make(0, 0, -5);
        b->spin = vec3_scale(support_direction(&seed), 25);
        start(&t);
        steps(&t, 40);
        abut_audit audit = abut_sim_audit(t.run);
        assert_true(audit.energy_error <= 9.81 * audit.deepest_overlap / (5 * 5 / 2.0));
        all += audit.energy_error;
        finish(&t);
    }
    assert_true(all / 120 <= 1e-4);
}

/* A rattleback (an ellipsoid of half axes 1, 0.4, 0.3 m with its axes of inertia turned by 5 degrees) spun
 * against its will: when its spin passes -0.2 rad/s, and its spin after 20 s. */
static void run_rattleback(abut_mode mode, int substeps, double *reversal, double *end) {
    trial t;
    begin(&t);
    t.world.mode = mode, t.world.substeps = substeps;
    t.world.material.friction = (abut_friction){5, 5, 0, 0};
    add_floor(&t);
    double a = 1, b = 0.4, c = 0.3, turn = -5 * 3.14159265358979323846 / 180, x = cos(turn), y = sin(turn);
    double ix = (b * b + c * c) / 5, iy = (a * a + c * c) / 5, iz = (a * a + b * b) / 5;
    const double inertia[6] = {x * x * ix + y * y * iy, y * y * ix + x * x * iy, iz, x * y * (ix - iy), 0, 0};
    abut_body_def *stone = add(&t, abut_shape_ellipsoid(a, b, c), 0, 0, c);
    stone->mass = 1, stone->has_inertia = true, stone->spin = vec3_make(0, 0.3, 2);
    memcpy(stone->inertia, inertia, sizeof inertia);
    start(&t);
    *reversal = NAN;
    for (int i = 0; i < 1200; i++) {
        double last = abut_sim_motion(t.run, 1).spin.z;
        steps(&t, 1);
        *end = abut_sim_motion(t.run, 1).spin.z;
        if (isnan(*reversal) && *end < -0.2) *reversal = (i + (-0.2 - last) / (*end - last)) / 60;
    }
    finish(&t);
}

/* Rolling is held half way through the sub-step, so the error of the last spin falls as h^2 (at least by
 * three where h is halved), and that of the reversal is a hundredth of a second (held where the sub-step
 * begins it was 0.55 s, and fell as h). */
static void test_rattleback(void **state) {
    (void)state;
    double time[3], end[3];
    run_rattleback(ABUT_EXACT, 4, &time[0], &end[0]);
    run_rattleback(ABUT_LIVE, 4, &time[1], &end[1]);
    run_rattleback(ABUT_LIVE, 8, &time[2], &end[2]);
    assert_true(fabs(time[1] - time[0]) <= 0.01 && fabs(time[2] - time[0]) <= 0.01);
    assert_true(fabs(end[1] - end[0]) <= 0.01);
    assert_true(fabs(end[2] - end[0]) <= fabs(end[1] - end[0]) / 3);
}

static void test_casts(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.world.gravity = vec3_zero();
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 2);
    add(&t, abut_shape_sphere(0.5), 3, 0, 2);
    start(&t);
    steps(&t, 1);
    abut_live_hit hit;
    assert_true(abut_live_cast_ray(t.run, vec3_make(-5, 0, 2), vec3_make(2, 0, 0), 100, &hit));
    assert_int_equal(hit.body, 1);
    close_to(hit.t, 4.5, 1e-9), close_to(hit.normal.x, -1, 1e-9);
    assert_true(abut_live_cast_ray(t.run, vec3_make(3, 0, 9), vec3_make(0, 0, -1), 100, &hit));
    assert_int_equal(hit.body, 2);
    close_to(hit.t, 6.5, 1e-9), close_to(hit.point.z, 2.5, 1e-9);
    assert_true(abut_live_cast_ray(t.run, vec3_make(9, 0, 9), vec3_make(0, 0, -1), 100, &hit));
    assert_int_equal(hit.body, 0);
    close_to(hit.t, 9, 1e-9);
    assert_false(abut_live_cast_ray(t.run, vec3_make(9, 0, 9), vec3_make(0, 0, -1), 8.9, &hit));
    assert_false(abut_live_cast_ray(t.run, vec3_make(9, 0, 9), vec3_make(0, 0, 0), 8.9, &hit));
    assert_true(abut_live_cast_point(t.run, vec3_make(3, 0, 2.75), 1, &hit));
    assert_int_equal(hit.body, 2);
    close_to(hit.t, 0.25, 1e-9);
    abut_pose from = abut_pose_identity(), to = from;
    from.position = vec3_make(-4, 0, 2), to.position = vec3_make(4, 0, 2);
    abut_shape ball = abut_shape_sphere(0.25);
    bool found;
    assert_int_equal(abut_live_cast_shape(t.run, &ball, from, to, &hit, &found, NULL), ABUT_OK);
    assert_true(found && hit.body == 1);
    close_to(hit.t, (4 - 0.75) / 8, 1e-5);
    int bodies[4], count;
    abut_pose at = abut_pose_identity();
    at.position = vec3_make(1.5, 0, 2);
    ball.radius = 1.01;
    assert_int_equal(abut_live_sense(t.run, &ball, at, bodies, 4, &count, NULL), ABUT_OK);
    assert_int_equal(count, 2);
    ball.radius = 0.99;
    assert_int_equal(abut_live_sense(t.run, &ball, at, bodies, 4, &count, NULL), ABUT_OK);
    assert_int_equal(count, 0);
    finish(&t);
}

/* A ball falls through a box of 1 m half-way, past a sensor that hangs on another ball: both touches begin
 * and end once, in the steps in which the closed form of the fall says so. */
static void test_sensors(void **state) {
    (void)state;
    trial t;
    begin(&t);
    add(&t, abut_shape_sphere(0.1), 0, 0, 5);
    add(&t, abut_shape_sphere(0.1), 3, 0, 2)->fixed = true;
    start(&t);
    abut_shape cube = abut_shape_solid(t.box), ball = abut_shape_sphere(0.5);
    abut_pose at = abut_pose_identity(), beside = at;
    at.position = vec3_make(0, 0, 3), beside.position = vec3_make(-3, 0, -1);
    int first = -1, second = -1, began[2] = {0, 0}, ended[2] = {0, 0};
    assert_int_equal(abut_live_add_sensor(t.run, &cube, -1, at, &first, NULL), ABUT_OK);
    assert_int_equal(abut_live_add_sensor(t.run, &ball, 1, beside, &second, NULL), ABUT_OK);
    assert_int_equal(abut_live_add_sensor(t.run, &ball, 7, beside, &second, NULL), ABUT_INVALID);
    second = 1;
    for (int i = 1; i <= 90; i++) {
        steps(&t, 1);
        const abut_live_sensed *e;
        int n = abut_live_sensor_events(t.run, &e);
        for (int k = 0; k < n; k++) {
            assert_int_equal(e[k].body, 0);
            int *when = e[k].begins ? began : ended;
            assert_int_equal(when[e[k].sensor], 0);
            when[e[k].sensor] = i;
        }
        double z = abut_sim_motion(t.run, 0).center.z;
        bool inside[2] = {z < 3.6 && z > 2.4, z < 1.6 && z > 0.4};
        for (int k = 0; k < 2; k++) {
            const int *bodies;
            int count = abut_live_sensor_bodies(t.run, k, &bodies);
            assert_int_equal(count, inside[k]);
            if (count) assert_int_equal(bodies[0], 0);
        }
    }
    assert_true(began[first] > 0 && ended[first] > began[first]);
    assert_true(began[second] > 0 && ended[second] > began[second]);
    finish(&t);
}

/* ---- the start: what overlaps is refused, as by the exact clock, with depth, shift and names */

static void test_overlap_at_the_start(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        trial t;
        abut_error error = {0};
        begin(&t);
        add_floor(&t);
        add(&t, abut_shape_solid(t.box), 0, 0, k == 1 ? 0.5 : 0.4)->name =
            "sunken"; /* by 0.1, or it touches */
        t.world.bodies = t.bodies, t.world.body_count = t.count;
        abut_sim_options options = {.allow_overlap = k == 2};
        assert_int_equal(abut_model_create(NULL, &t.world, &t.model, &error), ABUT_OK);
        abut_status status = abut_sim_create(NULL, t.model, &options, &t.run, &error);
        assert_int_equal(status, k == 0 ? ABUT_INVALID : ABUT_OK);
        if (k == 0) assert_non_null(strstr(error.message, "`sunken` by {0, 0, 0.1}"));
        if (k == 2) steps(&t, 120), close_to(abut_sim_motion(t.run, 1).center.z, 0.5, 1e-3);
        finish(&t);
    }
}

/* ---- the audit: what is broken is told */

static void test_audit(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        trial t;
        begin(&t);
        t.world.gravity = vec3_make(0, 0, k == 2 ? 0 : -9.81);
        add(&t, abut_shape_solid(t.box), 0, 0, 0);
        add(&t, abut_shape_solid(t.box), k == 0 ? 0.8 : 1.5, 0, 0); /* the first pair overlaps by 0.2 */
        t.bodies[1].velocity.x = k == 2 ? -3 : 0;
        t.bodies[1].fixed = k == 1;
        for (int side = -1; side <= 1 && k == 1;
             side += 2) { /* the first box hangs between ground and second */
            abut_hinge_def *h = &t.hinges[t.hinge_count++];
            *h = abut_default_hinge();
            h->kind = ABUT_HINGE_BALL, h->a = 0, h->b = side < 0 ? -1 : 1;
            h->at = vec3_make(0.5 * side, 0, 0);
        }
        t.overlaps = k == 0;
        start(&t);
        /* the hinges are farther from each other than the box is long: no motion closes both */
        if (k == 1) run_motions(t.run->state)[1].center.x += 0.1;
        steps(&t, 1);
        abut_audit a = abut_sim_audit(t.run);
        close_to(a.overlap_limit, 0.05, 1e-12);
        if (k == 0) assert_true(a.deepest_overlap >= 0.2 - 1e-9 && !a.promises_kept);
        if (k == 1) assert_true(a.constraint_error > a.constraint_limit && !a.promises_kept);
        steps(&t, 60);
        a = abut_sim_audit(t.run);
        if (k == 2) { /* they met: momentum is kept, and so are all promises */
            assert_true(abut_sim_motion(t.run, 0).velocity.x < -1);
            assert_true(a.momentum_error < 1e-12 && a.promises_kept);
        }
        finish(&t);
    }
}

/* ---- the other clock and back: a falling and landing box, and the exact clock's promises kept after each
 * switch */

static void test_switch(void **state) {
    (void)state;
    trial t;
    begin(&t);
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 1.5);
    start(&t);
    abut_error error = {0};
    steps(&t, 15);
    double z = abut_sim_motion(t.run, 1).center.z, v = abut_sim_motion(t.run, 1).velocity.z;
    assert_int_equal(abut_sim_set_mode(t.run, ABUT_EXACT, &error), ABUT_OK);
    assert_int_equal(abut_sim_mode(t.run), ABUT_EXACT);
    steps(&t, 6);
    close_to(abut_sim_motion(t.run, 1).center.z, z + v * 0.1 - 9.81 * 0.01 / 2, 1e-9);
    assert_int_equal(abut_sim_set_mode(t.run, ABUT_LIVE, &error), ABUT_OK);
    steps(&t, 60);
    close_to(abut_sim_motion(t.run, 1).center.z, 0.5, 1e-4);
    if (abut_sim_set_mode(t.run, ABUT_EXACT, &error) != ABUT_OK) fail_msg("%s", error.message);
    steps(&t, 30);
    close_to(abut_sim_motion(t.run, 1).center.z, 0.5, 1e-5);
    abut_audit a = abut_sim_audit(t.run);
    if (!a.promises_kept) fail_msg("%s", a.broken);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_span),
        cmocka_unit_test(test_bullet),
        cmocka_unit_test(test_stopped_in_fall),
        cmocka_unit_test(test_spinning_landings),
        cmocka_unit_test(test_rattleback),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_sensors),
        cmocka_unit_test(test_audit),
        cmocka_unit_test(test_overlap_at_the_start),
        cmocka_unit_test(test_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
