/* Hinges of the live clock against closed forms: pendulums, beads on wires, motors, what breaks; and what all
 * kinds keep, their rows and the energy. */
#include "live_trial.h"

static abut_hinge_def *add_hinge(trial *t, abut_hinge_kind kind, int a, int b) {
    abut_hinge_def *h = &t->hinges[t->hinge_count++];
    *h = abut_default_hinge();
    h->kind = kind, h->a = a, h->b = b;
    return h;
}

/* The largest error of the rows of a hinge. */
static double open_by(const trial *t, int number) {
    const hinge *h = &t->model->hinges[number].h;
    row rows[HINGE_MAX_ROWS];
    motion *m = run_motions(t->run->state);
    int n = hinge_rows(h, &m[h->a], h->b >= 0 ? &m[h->b] : NULL, run_hinges(t->run->state)[number].coordinate,
                       rows);
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(rows[k].error));
    return most;
}

/* ---- hinges: a pendulum of length 1 m, let go at 90 degrees, passes the bottom with v^2 = 2 g l (rod of no
 * mass, point-like bob), and its length stays */
static void test_pendulum(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.world.substeps = 16;
    abut_body_def *b = add(&t, abut_shape_sphere(0.01), 1, 0, 0);
    b->mass = 1;
    t.hinges[t.hinge_count++] = abut_default_hinge();
    t.hinges[0].kind = ABUT_HINGE_BALL, t.hinges[0].a = 0, t.hinges[0].b = -1;
    start(&t);
    double fastest = 0, longest = 0;
    for (int i = 0; i < 120; i++) {
        steps(&t, 1);
        abut_motion m = abut_sim_motion(t.run, 0);
        fastest = fmax(fastest, vec3_length(m.velocity)),
        longest = fmax(longest, fabs(vec3_length(m.center) - 1));
    }
    close_to(fastest * fastest, 2 * 9.81, 0.01 * 2 * 9.81);
    assert_true(longest < 1e-3);
    finish(&t);
}

/* A ball that strikes a box on a pin, a distance r below it, without gravity.  Angular momentum about the pin
 * and restitution:   I w = m r (v - v'),  w r - v' = e v,   so   w = (1 + e) m r v / (I + m r^2),  for a cube
 * of a metre on a pin through its upper side  I = M (1/6 + 1/4).  Without friction: the side
 * of the box leaves downwards too.  Steps are short: a heavy ball meets the side of a box that it set
 * spinning again after 12 ms, by the exact clock as well. */
static void test_struck_pendulum(void **state) {
    (void)state;
    for (int k = 0; k < 24; k++) {
        const double ratios[4] = {0.01, 0.5, 3, 100}, below[3] = {0.2, 0.6, 0.95};
        double m = ratios[k % 4], r = below[k / 4 % 3], e = k < 12 ? 0.5 : 1, v = 3, mass = 1;
        trial t;
        begin(&t);
        t.world.step = 1.0 / 240;
        t.world.gravity = vec3_zero();
        t.world.material.restitution = e;
        t.world.material.friction = (abut_friction){0, 0, 0, 0};
        add(&t, abut_shape_solid(t.box), 0, 0, 0)->mass = mass;
        abut_body_def *ball = add(&t, abut_shape_sphere(0.1), -1, 0, 0.5 - r);
        ball->mass = m, ball->velocity = vec3_make(v, 0, 0);
        abut_hinge_def *h = add_hinge(&t, ABUT_HINGE_PIN, 0, -1);
        h->at = vec3_make(0, 0, 0.5), h->axis = vec3_make(0, 1, 0);
        start(&t);
        double inertia = mass * (1.0 / 6 + 0.25), w = (1 + e) * m * r * v / (inertia + m * r * r);
        while (t.events[ABUT_EVENT_IMPACT] == 0 && abut_sim_time(t.run) < 1) steps(&t, 1);
        assert_int_equal(t.events[ABUT_EVENT_IMPACT], 1);
        close_to(abut_sim_motion(t.run, 0).spin.y, -w, 1e-6 * w);
        close_to(abut_sim_motion(t.run, 1).velocity.x, v - inertia * w / (m * r), 1e-6 * v);
        if (!(open_by(&t, 0) < 1e-6)) fail_msg("%d: open by %g", k, open_by(&t, 0));
        finish(&t);
    }
}

/* Every kind of hinge between two boxes, one held by the ground, under gravity: in each of two seconds' steps
 * they are closed, to what the solution is taken no further for. */
static void test_hinges(void **state) {
    (void)state;
    for (int kind = ABUT_HINGE_BALL; kind <= ABUT_HINGE_POINT_ON_LINE; kind++) {
        trial t;
        begin(&t);
        add(&t, abut_shape_solid(t.box), 0, 0, 0);
        add(&t, abut_shape_solid(t.box), 1.5, 0, 0);
        for (int i = 0; i < 2; i++) {
            abut_hinge_def *h = add_hinge(&t, i ? (abut_hinge_kind)kind : ABUT_HINGE_PIN, i, i - 1);
            h->at = vec3_make(i ? 0.75 : -0.5, 0, 0), h->axis = vec3_make(0, 1, 0), h->pitch = 0.1;
            h->at_b = vec3_make(0.25, 0, 0);
        }
        start(&t);
        for (int k = 0; k < 120; k++) {
            steps(&t, 1);
            for (int i = 0; i < 2; i++)
                if (!(open_by(&t, i) < 1e-4)) fail_msg("hinge kind %d: %g", kind, open_by(&t, i));
        }
        finish(&t);
    }
}

/* A chain of 60 links on ball hinges, let go level (more rows than a contact problem may have, but a sparse
 * problem): no hinge opens by more than a thousandth of a link. */
static void test_chain(void **state) {
    (void)state;
    trial t;
    begin(&t);
    static abut_hinge_def hinges[60];
    for (int i = 0; i < 60; i++) {
        add(&t, abut_shape_sphere(0.05), 0.2 * (i + 0.5), 0, 0)->group = 1;
        hinges[i] = abut_default_hinge();
        hinges[i].kind = ABUT_HINGE_BALL, hinges[i].a = i, hinges[i].b = i - 1;
        hinges[i].at = vec3_make(0.2 * i, 0, 0);
    }
    start_with(&t, hinges, 60);
    steps(&t, 60);
    for (int i = 0; i < 60; i++)
        if (!(open_by(&t, i) < 2e-4)) fail_msg("hinge %d: %g", i, open_by(&t, i));
    finish(&t);
}

/* A motor of bounded torque turns a wheel up to its speed: torque / inertia for so long, then no more.  A
 * limit holds the wheel. */
static void test_motor_and_limit(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.world.gravity = vec3_zero();
    abut_body_def *b = add(&t, abut_shape_sphere(0.5), 0, 0, 0);
    b->mass = 1, b->has_inertia = true;
    for (int i = 0; i < 3; i++) b->inertia[i] = 2;
    abut_hinge_def *h = &t.hinges[t.hinge_count++];
    *h = abut_default_hinge();
    h->kind = ABUT_HINGE_PIN, h->a = 0, h->b = -1;
    h->has_motor = true, h->motor_speed = 3, h->motor_max_force = 4;
    h->has_limits = true, h->limits[0] = -1, h->limits[1] = 5;
    start(&t);
    steps(&t, 60);
    close_to(abut_sim_motion(t.run, 0).spin.z, 2, 1e-9); /* 4 / 2 for one second */
    steps(&t, 60);
    close_to(abut_sim_motion(t.run, 0).spin.z, 3, 1e-9);
    steps(&t, 120);
    close_to(abut_sim_motion(t.run, 0).spin.z, 0, 1e-9);
    close_to(run_hinges(t.run->state)[0].coordinate, 5, 1e-3);
    assert_int_equal(t.events[ABUT_EVENT_LIMIT], 1); /* reached once, and held there by the motor */
    finish(&t);
}

/* A rod that carries 10 N and breaks at 9.9 falls; one that breaks at 10.1 holds. */
static void test_break(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        trial t;
        begin(&t);
        t.world.gravity = vec3_make(0, 0, -10);
        add(&t, abut_shape_sphere(0.1), 0, 0, 0)->mass = 1;
        abut_hinge_def *h = &t.hinges[t.hinge_count++];
        *h = abut_default_hinge();
        h->kind = ABUT_HINGE_BALL, h->a = 0, h->b = -1, h->break_force = k ? 10.1 : 9.9;
        start(&t);
        steps(&t, 60);
        assert_int_equal(t.events[ABUT_EVENT_HINGE_BROKEN], k ? 0 : 1);
        assert_true(k ? abut_sim_motion(t.run, 0).center.z > -1e-3 : abut_sim_motion(t.run, 0).center.z < -4);
        finish(&t);
    }
}

/* The same in an island too large to be solved directly: its hinges are soft, and break too. */
static void test_break_softly(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.direct_rows = 0;
    t.world.gravity = vec3_make(0, 0, -10);
    for (int k = 0; k < 2; k++) {
        add(&t, abut_shape_sphere(0.1), k, 0, 0)->mass = 1;
        abut_hinge_def *h = add_hinge(&t, ABUT_HINGE_BALL, k, -1);
        h->at = vec3_make(k, 0, 0), h->break_force = k ? 12 : 9;
    }
    start(&t);
    steps(&t, 60);
    assert_int_equal(t.events[ABUT_EVENT_HINGE_BROKEN], 1);
    assert_true(abut_sim_motion(t.run, 0).center.z < -4 && abut_sim_motion(t.run, 1).center.z > -0.01);
    finish(&t);
}

/* ---- beads */

/* A bead on a straight wire that turns at the rate w about an axis across it, no gravity:  r'' = w^2 r, so
 * from rest on the wire at r0 it is at r0 cosh(w t).  The leapfrog's rate W has cosh(W h) = 1 + (w h)^2 / 2 +
 * .., relative to w off by (w h)^2 / 24 at most as long as w h is small. */
static void test_bead_on_turning_wire(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.world.gravity = vec3_zero();
    double rate = 2, r0 = 0.3, seconds = 1, h = 1.0 / 240;
    abut_body_def *wire = add(&t, abut_shape_sphere(0.01), 0, 0, 0);
    wire->kinematic = true, wire->spin = vec3_make(0, 0, rate), wire->group = 1;
    abut_body_def *bead = add(&t, abut_shape_sphere(0.01), r0, 0, 0);
    bead->group = 1, bead->velocity = vec3_make(0, rate * r0, 0);
    abut_hinge_def *line = add_hinge(&t, ABUT_HINGE_POINT_ON_LINE, 1, 0);
    line->at = vec3_make(r0, 0, 0), line->axis = vec3_make(1, 0, 0);
    start(&t);
    steps(&t, (int)(60 * seconds));
    abut_vec3 x = abut_sim_motion(t.run, 1).center;
    double exact = r0 * cosh(rate * seconds);
    close_to(vec3_length(x), exact, (rate * h) * (rate * h) * rate * seconds * exact);
    close_to(atan2(x.y, x.x), rate * seconds, 1e-6);
    finish(&t);
}

/* A bead on a wire, and one on a plane, that lean by 30 degrees: g sin(30) along the steepest way, and on the
 * plane uniformly across it.  Constant forces are integrated exactly. */
static void test_bead_on_slope(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        trial t;
        begin(&t);
        double s = 0.5, c = sqrt(0.75), g = 9.81, across = k ? 0.7 : 0;
        abut_body_def *bead = add(&t, abut_shape_sphere(0.1), 0, 0, 0);
        bead->velocity = vec3_make(0, across, 0);
        abut_hinge_def *h = add_hinge(&t, k ? ABUT_HINGE_POINT_ON_PLANE : ABUT_HINGE_POINT_ON_LINE, 0, -1);
        h->axis = k ? vec3_make(s, 0, c) : vec3_make(c, 0, -s);
        start(&t);
        steps(&t, 90);
        double way = 0.5 * g * s * 1.5 * 1.5;
        abut_motion m = abut_sim_motion(t.run, 0);
        close_to(m.center.x, way * c, 1e-9), close_to(m.center.z, -way * s, 1e-9);
        close_to(m.center.y, across * 1.5, 1e-9);
        close_to(vec3_dot(m.velocity, vec3_make(c, 0, -s)), g * s * 1.5, 1e-9);
        finish(&t);
    }
}

/* A box on each kind of hinge, held off its centre and thrown: it swings and turns about all axes.  Energy is
 * kept to a thousandth of its largest kinetic part over two seconds; of what turns freely about one point of
 * a plane, a line or a rod, which a swing turns round within a few sub-steps, to a hundredth. */
static void test_energy(void **state) {
    (void)state;
    for (int kind = ABUT_HINGE_BALL; kind <= ABUT_HINGE_POINT_ON_LINE; kind++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            trial t;
            begin(&t);
            abut_solid *brick = NULL;
            assert_int_equal(abut_solid_box(NULL, 0.4, 0.3, 0.2, &brick, NULL), ABUT_OK);
            abut_body_def *b = add(&t, abut_shape_solid(brick), 0, 0, 0);
            uint64_t random = 100 + seed;
            b->velocity = vec3_scale(support_direction(&random), 2);
            b->spin = vec3_scale(support_direction(&random), 2);
            abut_hinge_def *h = add_hinge(&t, (abut_hinge_kind)kind, 0, -1);
            h->at = vec3_make(0.25, 0.1, -0.05), h->axis = support_direction(&random), h->pitch = 0.05;
            h->axis_b = vec3_orthogonal(h->axis), h->at_b = vec3_make(0.6, 0.1, 0.4);
            start(&t);
            steps(&t, 1); /* what the hinge does not allow of the throw is gone */
            abut_energy e = abut_sim_energy(t.run);
            double first = e.kinetic + e.potential, most = 1, off = 0; /* of a weld, against 1 J */
            for (int i = 0; i < 119; i++) {
                steps(&t, 1);
                e = abut_sim_energy(t.run);
                most = fmax(most, e.kinetic), off = fmax(off, fabs(e.kinetic + e.potential - first));
            }
            bool loose = kind == ABUT_HINGE_ROD || kind >= ABUT_HINGE_POINT_ON_PLANE;
            if (off > (loose ? 1e-2 : 1e-3) * most)
                fail_msg("hinge kind %d, throw %d: %g J of %g J", kind, (int)seed, off, most);
            if (open_by(&t, 0) > 1e-4) fail_msg("hinge kind %d: open by %g m", kind, open_by(&t, 0));
            finish(&t), abut_solid_free(NULL, brick);
        }
}

/* What a motor or a body that moves by itself drives stays awake, however slow it is: a weak motor (3 N m on
 * 2 kg m^2, a body without a shape) has 1.5 rad/s after a second, one of 1 mrad/s has turned by 3 mrad after
 * three, and a box on a platform of 4 mm/s is carried by 12 mm.  Nobody sleeps. */
static void test_driven_bodies_stay_awake(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.sleep = true;
    for (int i = 0; i < 2; i++) {
        abut_body_def *b = add(&t, (abut_shape){.kind = ABUT_SHAPE_NONE}, 5 * i, 0, 9);
        b->mass = 1, b->has_inertia = true;
        b->inertia[0] = b->inertia[1] = 1, b->inertia[2] = 2;
        abut_hinge_def *h = add_hinge(&t, ABUT_HINGE_PIN, i, -1);
        h->at = b->position, h->axis = vec3_make(0, 0, 1);
        h->has_motor = true, h->motor_speed = i ? 1e-3 : 20, h->motor_max_force = i ? INFINITY : 3;
    }
    abut_body_def *platform = add(&t, abut_shape_solid(t.box), 0, 0, -0.5);
    platform->kinematic = true, platform->velocity.x = 4e-3;
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5)->velocity.x = 4e-3;
    start(&t);
    steps(&t, 60);
    assert_near(abut_sim_motion(t.run, 0).spin.z, 1.5, 1e-6);
    steps(&t, 120);
    assert_near(2 * abut_sim_motion(t.run, 1).rotation.z, 3e-3, 1e-5);
    assert_near(abut_sim_motion(t.run, 3).center.x, 0.012, 1e-4);
    assert_int_equal(t.events[ABUT_EVENT_SLEEP], 0);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_hinges),
        cmocka_unit_test(test_motor_and_limit),
        cmocka_unit_test(test_break),
        cmocka_unit_test(test_break_softly),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_bead_on_turning_wire),
        cmocka_unit_test(test_bead_on_slope),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_driven_bodies_stay_awake),
        cmocka_unit_test(test_struck_pendulum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
