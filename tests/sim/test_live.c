/* The live clock against closed forms: what stands, what slides, what bounces, and the same bits whatever the
 * number of workers, the kernels, or where the run was interrupted. */
#include "live_trial.h"

#define ANGLE_30 0.52359877559829887

/* ---- what stands */

/* 1000 kg on 1 kg: the forces at the floor are the weight of both, and nothing sinks in. */
static void test_heavy_on_light(void **state) {
    (void)state;
    trial t;
    begin(&t);
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5)->mass = 1;
    add(&t, abut_shape_solid(t.box), 0, 0, 1.5)->mass = 1000;
    start(&t);
    steps(&t, 120);
    close_to(abut_sim_motion(t.run, 2).center.z, 1.5, 1e-6);
    const abut_contact *c;
    int n = abut_sim_contacts(t.run, &c);
    assert_int_equal(n, 2);
    for (int i = 0; i < n; i++) {
        double up = 0;
        assert_int_equal(c[i].representation, ABUT_MANIFOLD);
        assert_int_equal(c[i].point_count, 4);
        for (int k = 0; k < c[i].point_count; k++) up += fabs(c[i].forces[k].z);
        close_to(up, (c[i].body[0] == 0 ? 1001 : 1000) * 9.81, 1e-5);
        close_to(c[i].area, 1, 1e-6);
    }
    finish(&t);
}

/* Ten boxes, each twice as heavy as the one below. */
static void test_doubling_tower(void **state) {
    (void)state;
    trial t;
    begin(&t);
    add_floor(&t);
    for (int i = 0; i < 10; i++) add(&t, abut_shape_solid(t.box), 0, 0, i + 0.5)->mass = 1 << i;
    start(&t);
    steps(&t, 120);
    for (int i = 0; i < 10; i++) {
        close_to(abut_sim_motion(t.run, i + 1).center.z, i + 0.5, 1e-6);
        close_to(abut_sim_motion(t.run, i + 1).center.x, 0, 1e-6);
    }
    finish(&t);
}

/* A stack of equal boxes, by batches: it stands, and sags less than a hundredth of a box in all. */
static void test_stack(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.direct_rows = 0;
    add_floor(&t);
    for (int i = 0; i < 10; i++) add(&t, abut_shape_solid(t.box), 0, 0, i + 0.5);
    start(&t);
    steps(&t, 300);
    close_to(abut_sim_motion(t.run, 10).center.z, 9.5, 1e-2);
    close_to(abut_sim_motion(t.run, 10).center.x, 0, 1e-2);
    assert_true(abut_sim_energy(t.run).kinetic < 1);
    finish(&t);
}

/* Towers of forty and of 250 boxes, each a little beside the one below, stand where they were put. */
static void test_tower(void **state) {
    (void)state;
    const int heights[2] = {40, 250}, counts[2] = {300, 40};
    for (int k = 0; k < 2; k++) {
        trial t;
        begin(&t);
        add_floor(&t);
        for (int i = 0; i < heights[k]; i++)
            add(&t, abut_shape_solid(t.box), 0.02 * (i * 7 % 5 - 2), 0.02 * (i * 3 % 5 - 2), i + 0.5);
        start(&t);
        steps(&t, counts[k]);
        for (int i = 1; i <= heights[k]; i++)
            close_to(vec3_distance(abut_sim_motion(t.run, i).center, t.bodies[i].position), 0, 1e-6);
        finish(&t);
    }
}

/* Boxes that slide and spin come to rest where the exact clock, whose corners each rub against their own
 * motion, has them: the way, the turn, and aside (where the friction tips the box its corners bear
 * unequally). */
static void test_slide_and_spin(void **state) {
    (void)state;
    const double cases[4][5] = {
        {2, 10, 0.3, 1, 0.5}, {2, 2, 0.3, 0.4, 0.2}, {1, 20, 0.2, 0.4, 0.2}, {2, 10, 0.3, 1, 0.1}};
    for (int k = 0; k < 4; k++) {
        abut_motion end[2];
        for (int live = 0; live < 2; live++) {
            trial t;
            begin(&t);
            abut_solid *solid = NULL;
            double v = cases[k][0], w = cases[k][1], mu = cases[k][2], side = cases[k][3], high = cases[k][4];
            assert_int_equal(abut_solid_box(NULL, side, side, high, &solid, NULL), ABUT_OK);
            t.world.mode = live ? ABUT_LIVE : ABUT_EXACT;
            t.world.material.friction = (abut_friction){mu, mu, 0, 0};
            add_floor(&t);
            abut_body_def *b = add(&t, abut_shape_solid(solid), 0, 0, high / 2);
            b->velocity.x = v, b->spin.z = w;
            start(&t);
            steps(&t, 100);
            end[live] = abut_sim_motion(t.run, 1);
            finish(&t);
            abut_solid_free(NULL, solid);
        }
        vec3 off = vec3_sub(end[1].center, end[0].center);
        close_to(off.x, 0, 0.01 * end[0].center.x), close_to(off.y, 0, 2e-3);
        double turn =
            2 * (atan2(end[1].rotation.z, end[1].rotation.w) - atan2(end[0].rotation.z, end[0].rotation.w));
        close_to(sin(turn / 2), 0, 0.03); /* of 0.5 to 10 radians */
    }
}

/* 100 kg on nine boxes of 1 kg, by batches, for six steps: where its top is then. */
static double top_after(int sweeps, bool nncg, int threads, uint64_t *hash) {
    trial t;
    begin(&t);
    t.options.direct_rows = 0, t.options.sweeps = sweeps, t.options.nncg = nncg, t.options.share_from = 0;
    add_floor(&t);
    for (int i = 0; i < 10; i++) add(&t, abut_shape_solid(t.box), 0, 0, i + 0.5)->mass = i == 9 ? 100 : 1;
    if (threads > 1) {
        t.workers = abut_workers_create(NULL, threads);
        t.context.parallel = abut_workers_parallel(t.workers);
    }
    start(&t);
    steps(&t, 6);
    assert_int_equal(abut_live_step_times(t.run).sweeps, sweeps);
    double z = abut_sim_motion(t.run, 10).center.z;
    *hash = abut_sim_hash(t.run);
    finish(&t);
    return z;
}

/* Many sweeps converge to the answer of the soft contacts; a few with conjugate gradients come nearer to it
 * than as many without. */
static void test_nncg(void **state) {
    (void)state;
    uint64_t hash, one, two;
    double answer = top_after(4000, false, 1, &hash);
    double sweeps = fabs(top_after(16, false, 1, &hash) - answer);
    double nncg = fabs(top_after(16, true, 1, &one) - answer);
    top_after(16, true, 2, &two);
    assert_int_equal(one, two);
    if (!(nncg < 0.5 * sweeps)) fail_msg("off by %g m, sweeps alone by %g m", nncg, sweeps);
}

/* ---- friction: gravity leans by 30 degrees */

static double slide(double factor, double seconds, int direct_rows) {
    trial t;
    begin(&t);
    double g = 9.81, mu = factor * tan(ANGLE_30), angle = ANGLE_30;
    t.options.direct_rows = direct_rows;
    t.world.gravity = vec3_make(g * sin(angle), 0, -g * cos(angle));
    t.world.material.friction = (abut_friction){mu, mu, 0, 0};
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5);
    start(&t);
    steps(&t, (int)(seconds * 60 + 0.5));
    double x = abut_sim_motion(t.run, 1).center.x;
    finish(&t);
    return x;
}

/* mu = 1.02 tan sticks; mu = 0.98 tan slides a t^2 / 2 with a = g (sin - mu cos); the sub-step of
 * semi-implicit integration adds a t h / 2 = 0.4 mm. */
static void test_slope(void **state) {
    (void)state;
    double a = 9.81 * sin(ANGLE_30) * (1 - 0.98), h = 1.0 / 240;
    close_to(slide(1.02, 2, 192), 0, 1e-7);
    close_to(slide(0.98, 2, 192), a * 2 + a * 2 * h / 2, 1e-5);
    /* by batches: while the load is still being found, a sub-step or two slip at g sin h */
    close_to(slide(1.02, 2, 0), 0, 5e-3);
    /* and what slides has friction to half a percent of its weight along the slope: 0.005 g sin t^2 / 2 */
    close_to(slide(0.98, 2, 0), a * 2 + a * 2 * h / 2, 0.005 * 9.81 * sin(ANGLE_30) * 2);
}

/* A ball that rolls at 1 m/s with rolling resistance b: b m g = torque, so it slows down by
 * b g / (r (1 + 2/5)); directly and by batches. */
static void test_rolling_resistance(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        trial t;
        begin(&t);
        if (k) t.options.direct_rows = 0;
        t.world.material.friction.rolling = 0.01;
        add_floor(&t);
        abut_body_def *b = add(&t, abut_shape_sphere(0.5), 0, 0, 0.5);
        b->velocity.x = 1, b->spin.y = 2;
        start(&t);
        steps(&t, 120);
        double d = 0.01 * 9.81 / (0.5 * 1.4);
        close_to(abut_sim_motion(t.run, 1).velocity.x, 1 - 2 * d, k ? 1e-2 : 1e-4);
        steps(&t, 480);
        close_to(abut_sim_motion(t.run, 1).velocity.x, 0, 1e-4);
        finish(&t);
    }
}

/* A box that is thrown along the floor at 2 m/s slides for 2 / (mu g) seconds and holds: one contact made,
 * one stick, no slip, whether solved directly or by batches.  Gravity that leans by more than atan(mu) lets
 * another go at once: it is slow at first, and slips when it is told to. */
static void test_stick_and_slip(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        trial t;
        bool thrown = k < 2;
        begin(&t);
        if (k % 2) t.options.direct_rows = 0;
        add_floor(&t);
        add(&t, abut_shape_solid(t.box), 0, 0, 0.5)->velocity.x = thrown ? 2 : 0;
        if (!thrown)
            t.world.gravity = vec3_make(9.81 * sin(0.6), 0, -9.81 * cos(0.6)); /* mu = 0.6 < tan(0.6) */
        start(&t);
        double end = 2 / (0.6 * 9.81);
        steps(&t, thrown ? (int)(60 * end) - 2 : 0);
        assert_int_equal(t.events[ABUT_EVENT_STICK], 0);
        steps(&t, 60);
        assert_int_equal(t.events[ABUT_EVENT_CONTACT_MADE], 1);
        assert_int_equal(t.events[ABUT_EVENT_STICK], thrown ? 1 : 0);
        assert_true(t.events[ABUT_EVENT_SLIP] <= (thrown ? 0 : 1));
        assert_int_equal(t.events[ABUT_EVENT_CONTACT_LOST], 0);
        finish(&t);
    }
}

/* A box at rest is pushed by a force that grows by 1 kN a second and slips once it passes mu m g = 589 N:
 * within the step in which it does so and the time in which the surplus makes it faster than the rest speed.
 */
static bool grow(void *user, double time, double *out, int count) {
    (void)user;
    for (int i = 0; i < count; i++) out[i] = i == 0 ? 1000 * time : 0;
    return true;
}

static void test_slip_begins(void **state) {
    (void)state;
    trial t;
    begin(&t);
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5)->mass = 100;
    abut_force_def force = {.body = 1, .function = grow};
    t.world.forces = &force, t.world.force_count = 1;
    start(&t);
    steps(&t, 35); /* 583 N */
    assert_int_equal(t.events[ABUT_EVENT_SLIP], 0);
    steps(&t, 5); /* 1 kN/s (0.066 s)^2 / 2 / 100 kg = 2 cm/s; the rest speed is 3 mm/s */
    assert_int_equal(t.events[ABUT_EVENT_SLIP], 1);
    finish(&t);
}

/* ---- impacts */

/* Five balls in a row, e = 1: the last one flies off with the speed of the first, touching or not. */
static void test_cradle(void **state) {
    (void)state;
    for (int gap = 0; gap < 2; gap++) {
        trial t;
        begin(&t);
        t.world.gravity = vec3_zero();
        t.world.material.restitution = 1;
        t.world.material.friction = (abut_friction){0, 0, 0, 0};
        for (int i = 0; i < 5; i++)
            add(&t, abut_shape_sphere(0.5), i * (1 + 0.01 * gap) - (i == 0), 0, 0)->velocity.x =
                i == 0 ? 2 : 0;
        start(&t);
        steps(&t, 120);
        for (int i = 0; i < 5; i++) close_to(abut_sim_motion(t.run, i).velocity.x, i == 4 ? 2 : 0, 1e-9);
        assert_int_equal(t.events[ABUT_EVENT_IMPACT], 4);
        finish(&t);
    }
}

/* 9 kg on 1 kg on the floor, e = 0: both stop, neither goes up. */
static void test_nine_on_one(void **state) {
    (void)state;
    trial t;
    begin(&t);
    add_floor(&t);
    add(&t, abut_shape_sphere(0.5), 0, 0, 0.5)->mass = 1;
    add(&t, abut_shape_sphere(0.5), 0, 0, 3.5)->mass = 9;
    start(&t);
    double up = 0;
    for (int i = 0; i < 120; i++) {
        steps(&t, 1);
        up = fmax(up, fmax(abut_sim_motion(t.run, 1).velocity.z, abut_sim_motion(t.run, 2).velocity.z));
    }
    assert_true(up < 1e-6);
    close_to(abut_sim_motion(t.run, 2).center.z, 1.5, 1e-6);
    finish(&t);
}

/* ---- spin */

/* A free body with moments 1, 2, 3 about its middle axis: energy and angular momentum are kept to rounding
 * over 3600 steps (the midpoint rule keeps both exactly), also at 1000 rad/s. */
static void test_free_body(void **state) {
    (void)state;
    double speeds[] = {1, 1000};
    for (int k = 0; k < 2; k++) {
        trial t;
        begin(&t);
        t.world.gravity = vec3_zero();
        abut_body_def *b = add(&t, abut_shape_sphere(0.5), 0, 0, 0);
        b->mass = 1, b->has_inertia = true;
        b->inertia[0] = 1, b->inertia[1] = 2, b->inertia[2] = 3;
        b->spin = vec3_make(1e-3, speeds[k], 1e-3);
        start(&t);
        abut_energy first = abut_sim_energy(t.run);
        steps(&t, k == 0 ? 3600 : 60);
        abut_energy last = abut_sim_energy(t.run);
        close_to(last.kinetic / first.kinetic, 1, 1e-9);
        close_to(vec3_distance(first.angular_momentum, last.angular_momentum) /
                     vec3_length(first.angular_momentum),
                 0, 1e-9);
        finish(&t);
    }
}

/* ---- the same bits */

static void pile(trial *t) {
    begin(t);
    t->overlaps = true;
    add_floor(t);
    uint64_t seed = 7;
    for (int i = 0; i < 250; i++) {
        abut_body_def *b = add(t, i % 3 ? abut_shape_solid(t->box) : abut_shape_sphere(0.5),
                               (i % 5) * 1.1 - 2.2, (i / 5 % 5) * 1.1 - 2.2, 0.8 + 1.2 * (i / 25));
        b->rotation = support_rotation(&seed);
    }
}

static uint64_t run_pile(int threads, bool scalar, int interrupt) {
    trial t;
    pile(&t);
    t.options.scalar = scalar;
    t.options.share_from = 0; /* every stage on all workers, however short */
    if (threads > 1) {
        t.workers = abut_workers_create(NULL, threads);
        t.context.parallel = abut_workers_parallel(t.workers);
    }
    start(&t);
    for (int i = 0; i < 240; i++) {
        steps(&t, 1);
        if (i + 1 != interrupt) continue;
        /* a new run from the snapshot goes on */
        size_t size = abut_sim_snapshot_size(t.run);
        void *block = malloc(size);
        abut_sim_snapshot(t.run, block);
        abut_sim_free(t.run);
        abut_error error = {0};
        if (abut_sim_create_at(&t.context, t.model, NULL, block, size, &t.run, &error) != ABUT_OK)
            fail_msg("%s", error.message);
        abut_live_set_options(t.run, &t.options);
        free(block);
    }
    uint64_t hash = abut_sim_hash(t.run);
    assert_true(abut_live_step_times(t.run).batches >= 32); /* so many that workers share the solver's work */
    finish(&t);
    return hash;
}

static void test_same_bits(void **state) {
    (void)state;
    uint64_t hash = run_pile(1, false, 0);
    assert_int_equal(run_pile(2, false, 0), hash);
    assert_int_equal(run_pile(4, false, 0), hash);
    assert_int_equal(run_pile(1, true, 0), hash);
    assert_int_equal(run_pile(2, false, 100), hash);
}

/* ---- scales of the solver's floats */

/* All masses times a power of two: forces and impulses have the same factor, and motions the same bits. */
static vec3 fall_together(double factor) {
    trial t;
    pile(&t);
    for (int i = 1; i < t.count; i++) t.bodies[i].mass = factor * (1 + i % 7);
    t.options.direct_rows = 0;
    start(&t);
    steps(&t, 100);
    vec3 sum = vec3_zero();
    for (int i = 1; i < t.count; i++) sum = vec3_add(sum, abut_sim_motion(t.run, i).center);
    finish(&t);
    return sum;
}

static void test_any_mass(void **state) {
    (void)state;
    vec3 one = fall_together(1);
    const int powers[] = {-90, 90};
    for (int i = 0; i < 2; i++) {
        vec3 sum = fall_together(ldexp(1, powers[i]));
        assert_true(sum.x == one.x && sum.y == one.y && sum.z == one.z);
    }
}

/* Bodies of unequal masses meet in the air, by batches: their momentum together is kept to the rounding of
 * doubles, though impulses are floats, because both bodies of a contact get the same one. */
static void test_momentum_of_batches(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.overlaps = true;
    uint64_t seed = 11;
    for (int i = 0; i < 64; i++) {
        abut_body_def *b =
            add(&t, abut_shape_solid(t.box), i % 4 * 1.3, i / 4 % 4 * 1.3, 20 + 1.3 * (i / 16));
        b->mass = random_range(&seed, 1, 3), b->rotation = support_rotation(&seed);
        b->velocity = vec3_scale(vec3_sub(vec3_make(2, 2, 22), b->position), 2);
    }
    t.options.direct_rows = 0;
    start(&t);
    steps(&t, 60);
    assert_true(t.events[ABUT_EVENT_CONTACT_MADE] > 64);
    assert_true(abut_sim_audit(t.run).momentum_error < 1e-13);
    finish(&t);
}

/* ---- sleep */

static void test_sleep_and_wake(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.sleep = true;
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5);
    abut_body_def *ball = add(&t, abut_shape_sphere(0.5), 10, 0, 0.5);
    ball->velocity.x = -3;
    start(&t);
    steps(&t, 60);
    assert_int_equal(t.events[ABUT_EVENT_SLEEP], 1);
    abut_motion still = abut_sim_motion(t.run, 1);
    close_to(vec3_length(still.velocity), 0, 0);
    steps(&t, 240);
    assert_true(t.events[ABUT_EVENT_WAKE] >= 1);
    assert_true(abut_sim_motion(t.run, 1).center.x < -1e-3);
    finish(&t);
}

/* ---- memory */

static abut_status attempt(const abut_context *context, void *user) {
    (void)user;
    trial t;
    abut_error error = {0};
    begin(&t);
    t.context = *context;
    add_floor(&t);
    for (int i = 0; i < 6; i++) add(&t, abut_shape_sphere(0.5), 0, 0.01 * i, 0.5 + i);
    t.world.bodies = t.bodies, t.world.body_count = t.count;
    abut_status status = abut_model_create(&t.context, &t.world, &t.model, &error);
    if (status == ABUT_OK) status = abut_sim_create(&t.context, t.model, NULL, &t.run, &error);
    for (int i = 1; i < 12 && status == ABUT_OK; i++) status = abut_sim_advance(t.run, i / 60.0, &error);
    finish(&t);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    support_fail_each(attempt, NULL);
}

/* Boxes, cylinders and spheres thrown on the floor at 10 m/s, some on a corner: 17 cm in a step, and a corner
 * that meets the floor turns the body by half a radian within the next one.  What a sub-step overlooks is at
 * most the way of a corner in it, here 4 cm; contacts that are found anew see most of it coming. */
static void test_thrown_hard(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int k = 0; k < 60; k++) {
        trial t;
        begin(&t);
        add_floor(&t);
        abut_solid *brick = NULL;
        assert_int_equal(abut_solid_box(NULL, 0.4, 0.3, 0.2, &brick, NULL), ABUT_OK);
        abut_shape shapes[] = {abut_shape_solid(brick), abut_shape_cylinder(0.12, 0.25),
                               abut_shape_sphere(0.15)};
        abut_body_def *b = add(&t, shapes[k % 3], 0, 0, 1 + 0.01 * k);
        b->rotation = support_pose(&seed, 1).rotation;
        b->velocity = vec3_make(1, 0, -9), b->spin = vec3_scale(support_direction(&seed), 5);
        t.world.material.restitution = k % 2 ? 0.4 : 0;
        start(&t);
        steps(&t, 60);
        double deepest = abut_sim_audit(t.run).deepest_overlap;
        if (deepest > 0.04) fail_msg("throw %d: %g m deep in the floor", k, deepest);
        finish(&t), abut_solid_free(NULL, brick);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heavy_on_light), cmocka_unit_test(test_doubling_tower),
        cmocka_unit_test(test_stack),          cmocka_unit_test(test_nncg),
        cmocka_unit_test(test_tower),          cmocka_unit_test(test_slide_and_spin),
        cmocka_unit_test(test_slope),          cmocka_unit_test(test_rolling_resistance),
        cmocka_unit_test(test_cradle),         cmocka_unit_test(test_nine_on_one),
        cmocka_unit_test(test_free_body),      cmocka_unit_test(test_stick_and_slip),
        cmocka_unit_test(test_slip_begins),    cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_any_mass),       cmocka_unit_test(test_momentum_of_batches),
        cmocka_unit_test(test_sleep_and_wake), cmocka_unit_test(test_thrown_hard),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
