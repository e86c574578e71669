/* Impacts: exact answers of ../shared/reference, families 06 and 09 (all active sets of Baraff 28, 29
 * enumerated in rational arithmetic), Poisson's law, friction, hinges, Painleve's impulse, energy. */
#include "little.h"

static vec3 even(double i) { return vec3_make(i, i, i); }

/* Balls of radius 0.5 in a row along x, the first `moving` with speed 1. */
static void make_cradle(little *w, int balls, int moving, double e) {
    little_open(w);
    w->restitution = e;
    for (int i = 0; i < balls; i++) {
        little_body(w, 1, even(0.1), vec3_make(i, 0, 0));
        if (i < moving) w->motions[i].velocity.linear.x = 1;
    }
    for (int i = 0; i + 1 < balls; i++)
        little_contact(w, i + 1, i, vec3_make(i + 0.5, 0, 0), vec3_make(1, 0, 0));
}

static void check_cradle(little *w, const double *speeds, const double *impulses) {
    int balls = w->g.body_count;
    for (int i = 0; i < balls; i++) assert_close(w->x[i].linear.x, speeds[i], 1e-13);
    for (int i = 0; impulses && i + 1 < balls; i++) assert_close(w->impulses[i].normal, impulses[i], 1e-13);
    little_close(w);
}

static void cradles(void **state) {
    (void)state;
    little w;
    make_cradle(&w, 3, 1, 1);
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    assert_close(w.impact.energy_after, 0.5, 1e-14);
    assert_int_equal(w.impact.rounds, 1);
    check_cradle(&w, (double[]){-1.0 / 3, 2.0 / 3, 2.0 / 3}, (double[]){4.0 / 3, 2.0 / 3});

    make_cradle(&w, 5, 2, 1);
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    check_cradle(&w, (double[]){-0.2, -0.2, 0.8, 0.8, 0.8}, (double[]){1.2, 2.4, 1.6, 0.8});

    make_cradle(&w, 4, 1, 0.5);
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    check_cradle(&w, (double[]){-0.125, 0.375, 0.375, 0.375}, (double[]){1.125, 0.75, 0.375});

    make_cradle(&w, 3, 1, 1);
    little_hit(&w, ABUT_PROPAGATION, ABUT_NEWTON, 0);
    assert_int_equal(w.impact.rounds, 2);
    check_cradle(&w, (double[]){0, 0, 1}, (double[]){1, 1});

    make_cradle(&w, 5, 2, 1); /* pair after pair: two leave on the other side */
    little_hit(&w, ABUT_PROPAGATION, ABUT_NEWTON, 0);
    check_cradle(&w, (double[]){0, 0, 0, 1, 1}, NULL);
}

/* Poisson on the same cradle, e = 1: compression leaves all at 1/3 with impulses 2/3, 1/3; expansion gives
 * these again: speeds 1 - 4/3, 4/3 - 2/3, 2/3.  With e = 1/2: 1 - 1, 1 - 1/2, 1/2. */
static void poisson(void **state) {
    (void)state;
    little w;
    make_cradle(&w, 3, 1, 1);
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_POISSON, 0);
    check_cradle(&w, (double[]){-1.0 / 3, 2.0 / 3, 2.0 / 3}, (double[]){4.0 / 3, 2.0 / 3});
    make_cradle(&w, 3, 1, 0.5);
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_POISSON, 0);
    check_cradle(&w, (double[]){0, 0.5, 0.5}, (double[]){1, 0.5});
}

/* 06-nine-to-one: 9 kg falls with 1 m/s on 1 kg on the floor, e = 0: both stop.  Propagation needs 0.9^n <=
 * rest_speed pair impacts: n = 66 rounds of the upper pair for 1e-3, and says how many it took. */
static void nine_to_one(void **state) {
    (void)state;
    for (int model = 0; model < 2; model++) {
        little w;
        little_open(&w);
        int floor = little_fixed(&w), light = little_body(&w, 1, even(0.1), vec3_make(0, 0, 0.5));
        int heavy = little_body(&w, 9, even(0.9), vec3_make(0, 0, 1.5));
        w.motions[heavy].velocity.linear.z = -1;
        little_contact(&w, light, floor, vec3_make(0, 0, 0), vec3_make(0, 0, 1));
        little_contact(&w, heavy, light, vec3_make(0, 0, 1), vec3_make(0, 0, 1));
        little_hit(&w, (abut_impact_model)model, ABUT_NEWTON, 1e-3);
        assert_close(w.x[light].linear.z, 0, 1e-12);
        assert_close(w.x[heavy].linear.z, 0, 1e-12);
        assert_close(w.impulses[0].normal, 9, 1e-11);
        assert_close(w.impulses[1].normal, 9, 1e-11);
        assert_close(w.impact.energy_after, 0, 1e-20);
        if (model == ABUT_PROPAGATION) {
            int n = 0;
            for (double v = 1; v > 1e-3; v *= 0.9) n++;
            assert_true(w.impact.rounds >= 2 * n - 2 && w.impact.rounds <= 2 * n + 2);
        }
        little_close(&w);
    }
}

/* 06-block-edge: square of 2 x 2 (cos, sin = 3/5, 4/5) on its edge, m = 3, I = 2, e = 1/2; and the rod of
 * 06-rod. */
static void single_points(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), block = little_body(&w, 3, even(2), vec3_make(0, 1.4, 0));
    w.restitution = 0.5;
    w.motions[block].velocity = (spatial){{1, -5, 0}, {0, 0, 2}};
    /* the lowest vertex, (-1, -1) turned: (-0.6 + 0.8, -0.8 - 0.6) = (0.2, -1.4) */
    little_pair(&w, block, floor, 0.2, 0, 1, vec3_make(0, 1, 0));
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    assert_close(little_impulse_between(&w, block, floor), 1035.0 / 53, 1e-12);
    assert_close(w.x[block].linear.x, 1, 1e-13);
    assert_close(w.x[block].linear.y, 80.0 / 53, 1e-13);
    assert_close(w.x[block].angular.z, 419.0 / 106, 1e-13);
    little_close(&w);

    little_open(&w);
    floor = little_fixed(&w);
    int rod = little_body(&w, 1, vec3_make(0.002, 1.0 / 3, 1.0 / 3), vec3_make(0, 0.8, 0));
    w.restitution = 1;
    w.motions[rod].velocity.linear.y = -1;
    little_contact(&w, rod, floor, vec3_make(-0.6, 0, 0), vec3_make(0, 1, 0));
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    assert_close(w.impulses[0].normal, 25.0 / 26, 1e-13);
    assert_close(w.x[rod].linear.y, -1.0 / 26, 1e-13);
    assert_close(w.x[rod].angular.z, -45.0 / 26, 1e-12);
    little_close(&w);
}

/* A plank on two posts is struck in the middle by a ball that does not bounce: all stop, and each post gives
 * half of the ball's momentum, whether the plank rests on both or leaves one at a speed that is only
 * rounding. */
static void rests_or_nearly(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        little w;
        little_open(&w);
        int floor = little_fixed(&w), plank = little_body(&w, 2, even(0.7), vec3_make(0, 0, 0));
        int ball = little_body(&w, 3, even(0.1), vec3_make(0, 1, 0));
        w.motions[ball].velocity.linear.y = -1;
        w.motions[plank].velocity = (spatial){{0, i * 1e-9, 0}, {0, 0, i * 1e-9}};
        little_contact(&w, plank, floor, vec3_make(-1, 0, 0), vec3_make(0, 1, 0));
        little_contact(&w, plank, floor, vec3_make(1, 0, 0), vec3_make(0, 1, 0));
        little_contact(&w, ball, plank, vec3_make(0, 0.5, 0), vec3_make(0, 1, 0));
        little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
        for (int k = 0; k < 2; k++) assert_close(w.impulses[k].normal, 1.5, 1e-7);
        assert_close(w.x[ball].linear.y, 0, 1e-8);
        assert_close(w.x[plank].angular.z, 0, 1e-8);
        little_close(&w);
    }
}

/* 06-box-face-rotating: all four corners approach, all bounce. */
static void rotating_face(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), body = little_body(&w, 6, vec3_make(2.5, 8.5, 10), vec3_make(0, 1, 0));
    w.restitution = 1;
    w.motions[body].velocity = (spatial){{0, -3, 0}, {0, 0, 1}};
    little_pair(&w, body, floor, -2, 0, 0.5, vec3_make(0, 1, 0));
    little_pair(&w, body, floor, 2, 0, 0.5, vec3_make(0, 1, 0));
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    assert_close(little_impulse_between(&w, body, floor), 36, 1e-11);
    assert_close(w.x[body].linear.y, 3, 1e-12);
    assert_close(w.x[body].angular.z, -1, 1e-12);
    assert_close(w.impact.energy_after, w.impact.energy_before, 1e-11);
    little_close(&w);
}

/* 09-stacked-drop: 3 kg below 1 kg, both at -v, e = 1 at floor and between: both at +v (simultaneous). */
static void stacked_drop(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), lower = little_body(&w, 3, even(0.1), vec3_make(0, 0, 0.5));
    int upper = little_body(&w, 1, even(0.1), vec3_make(0, 0, 1.5));
    w.restitution = 1;
    w.motions[lower].velocity.linear.z = w.motions[upper].velocity.linear.z = -1;
    little_contact(&w, lower, floor, vec3_make(0, 0, 0), vec3_make(0, 0, 1));
    little_contact(&w, upper, lower, vec3_make(0, 0, 1), vec3_make(0, 0, 1));
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    assert_close(w.x[lower].linear.z, 1, 1e-13);
    assert_close(w.x[upper].linear.z, 1, 1e-13);
    little_close(&w);
}

/* Slower than rest_speed is inelastic; faster bounces. */
static void rest_speed(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        little w;
        little_open(&w);
        int floor = little_fixed(&w), ball = little_body(&w, 1, even(0.1), vec3_make(0, 0, 1));
        w.restitution = 0.7;
        w.motions[ball].velocity.linear.z = i ? -0.02 : -0.009;
        little_contact(&w, ball, floor, vec3_make(0, 0, 0), vec3_make(0, 0, 1));
        little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0.01);
        assert_close(w.x[ball].linear.z, i ? 0.014 : 0, 1e-16);
        little_close(&w);
    }
}

/* A pendulum (uniform rod on a pin, m = 1, length 2) hit at distance d: the rod turns with J d / I_pin; the
 * pin takes J (1 - m c d / I_pin) with c = 1, I_pin = 4/3; at the centre of percussion d = 4/3 nothing. */
static void pendulum_is_hit(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        double d = i ? 4.0 / 3 : 2;
        little w;
        little_open(&w);
        int rod = little_body(&w, 1, vec3_make(0.001, 1.0 / 3, 1.0 / 3), vec3_make(1, 0, 0));
        int ball = little_body(&w, 2, even(0.1), vec3_make(d, -0.5, 0));
        w.motions[ball].velocity.linear.y = 3;
        abut_hinge_def def = abut_default_hinge();
        def.kind = ABUT_HINGE_PIN, def.a = rod;
        hinge h;
        int count = little_hinge(&w, &def, &h);
        little_contact(&w, rod, ball, vec3_make(d, 0, 0), vec3_make(0, 1, 0));
        little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
        double j = 3 / (0.5 + d * d * 0.75), spin = j * d * 0.75;
        assert_close(w.impulses[0].normal, j, 1e-13);
        assert_close(w.x[rod].angular.z, spin, 1e-13);
        assert_close(w.x[rod].linear.y, spin, 1e-13);
        assert_close(w.x[ball].linear.y, spin * d, 1e-13);
        vec3 force, torque;
        hinge_reaction(&h, &w.motions[rod], w.rows, w.multipliers, count, &force, &torque);
        assert_close(force.y, spin - j, 1e-13);
        if (i) assert_close(force.y, 0, 1e-13);
        little_close(&w);
    }
}

/* A limit is an inelastic stop: a door that turns at 2 rad/s into its limit stands still; its pin takes the
 * impulse. */
static void limit_is_hit(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int door = little_body(&w, 1, even(1.0 / 3), vec3_make(1, 0, 0));
    w.motions[door].velocity = (spatial){{0, 2, 0}, {0, 0, 2}};
    abut_hinge_def def = abut_default_hinge();
    def.kind = ABUT_HINGE_PIN, def.a = door, def.has_limits = true, def.limits[0] = -1, def.limits[1] = 0;
    hinge h;
    int count = little_hinge(&w, &def, &h);
    double value, rate;
    row c;
    assert_true(hinge_coordinate(&h, &w.motions[door], NULL, 0, &value, &rate, &c));
    w.rows[count] = hinge_limit_row(&c, &h, +1), w.g.row_count++;
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    assert_close(w.x[door].angular.z, 0, 1e-13);
    assert_close(w.multipliers[count], 2 * 4.0 / 3, 1e-12);
    /* turning away from it: nothing happens */
    w.motions[door].velocity = (spatial){{0, -2, 0}, {0, 0, -2}};
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    assert_close(w.x[door].angular.z, -2, 1e-13);
    little_close(&w);
}

/* A ball (I = 2/5 m r^2) hits a rough floor with slip u, normal speed v, no bounce: j = m v; friction either
 * stops the slip (needs 2/7 m u <= mu m v) or takes mu m v. */
static void ball_on_a_rough_floor(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        double mu = i ? 0.1 : 0.5, u = 2, v = 3, e = 0.5;
        little w;
        little_open(&w);
        int floor = little_fixed(&w), ball = little_body(&w, 1, even(0.4), vec3_make(0, 0, 1));
        w.friction = (abut_friction){.stick = mu, .slide = mu};
        w.restitution = e;
        w.motions[ball].velocity.linear = vec3_make(u * 0.6, u * 0.8, -v);
        little_contact(&w, ball, floor, vec3_make(0, 0, 0), vec3_make(0, 0, 1));
        little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
        double j = (1 + e) * v, t = i ? mu * j : 2.0 / 7 * u;
        assert_close(w.impulses[0].normal, j, 1e-12);
        assert_close(w.impulses[0].friction.x, -0.6 * t, 1e-12);
        assert_close(w.impulses[0].friction.y, -0.8 * t, 1e-12);
        assert_close(w.x[ball].linear.z, e * v, 1e-12);
        assert_close(w.x[ball].linear.x, 0.6 * (u - t), 1e-12);
        assert_true(w.impact.energy_after < w.impact.energy_before && w.impact.restitution_scale == 1);
        little_close(&w);
    }
}

/* Newton's law with friction can create energy (Kane 1984): a rod that strikes obliquely.  The scale of
 * restitution keeps it from rising, and is reported. */
static void friction_never_raises_the_energy(void **state) {
    (void)state;
    uint64_t seed = 77;
    int scaled = 0;
    for (int trial = 0; trial < 500; trial++) {
        little w;
        little_open(&w);
        int floor = little_fixed(&w), bodies = support_int(&seed, 1, 3);
        for (int i = 0; i < bodies; i++) {
            int b = little_body(&w, random_range(&seed, 0.5, 2), vec3_make(0.02, 0.2, 0.21),
                                support_vec(&seed, 1));
            w.motions[b].rotation = support_rotation(&seed);
            w.motions[b].velocity = (spatial){support_vec(&seed, 2), support_vec(&seed, 2)};
        }
        int contacts = support_int(&seed, 1, 4);
        for (int i = 0; i < contacts; i++) {
            int a = support_int(&seed, 1, bodies), b = support_int(&seed, 0, bodies);
            if (a == b) b = floor;
            w.restitution = random_unit(&seed);
            w.friction.stick = w.friction.slide = trial % 5 ? random_range(&seed, 0, 1.2) : 0;
            little_contact(&w, a, b, support_vec(&seed, 1), support_direction(&seed));
        }
        abut_restitution_law law = trial % 2 ? ABUT_NEWTON : ABUT_POISSON;
        little_hit(&w, trial % 7 == 0 ? ABUT_PROPAGATION : ABUT_SIMULTANEOUS, law, 0);
        assert_true(w.impact.energy_after <= w.impact.energy_before * (1 + 1e-10));
        if (w.impact.outcome == IMPACT_SOLVED) assert_true(w.impact.approach < 1e-9);
        scaled += w.impact.restitution_scale < 1;
        /* momentum: what the bodies gained is what the floor gave */
        vec3 p = vec3_zero(), given = vec3_zero();
        for (int i = 1; i <= bodies; i++)
            p = vec3_axpy(p, w.inertias[i].mass, vec3_sub(w.x[i].linear, w.motions[i].velocity.linear));
        for (int i = 0; i < contacts; i++)
            if (w.contacts[i].b == floor)
                given = vec3_add(given, vec3_axpy(w.impulses[i].friction, w.impulses[i].normal,
                                                  w.contacts[i].point.normal));
        assert_close(vec3_distance(p, given), 0, 1e-9 * (1 + vec3_length(given)));
        little_close(&w);
    }
    print_message("%d of 500 impacts had their restitution scaled\n", scaled);
    assert_true(scaled > 0);
}

/* A ball goes at 1 against a hard wall, e = 0.8, from a soft one that goes back at `room` and cannot be
 * entered: it leaves at min(e, room), with the impulse 1 + min(e, room). */
static void restitution_that_no_impulses_give(void **state) {
    (void)state;
    for (int i = 0; i < 16; i++) {
        double room = (double[]){0, 0.3, 0.75, 0.9}[i % 4], mu = i / 4 % 2 ? 0.4 : 0, v = fmin(room, 0.8);
        little w;
        little_open(&w);
        int hard = little_fixed(&w), soft = little_fixed(&w), ball = little_body(&w, 1, even(0.4), even(0));
        w.motions[ball].velocity.linear.x = 1, w.motions[soft].velocity.linear.x = -room;
        w.friction = (abut_friction){.stick = mu, .slide = mu};
        w.restitution = 0.8;
        little_contact(&w, ball, hard, vec3_make(1, 0, 0), vec3_make(-1, 0, 0));
        w.restitution = 0;
        little_contact(&w, ball, soft, vec3_make(-1, 0, 0), vec3_make(1, 0, 0));
        little_hit(&w, ABUT_SIMULTANEOUS, i < 8 ? ABUT_NEWTON : ABUT_POISSON, 0);
        assert_int_equal(w.impact.outcome, IMPACT_SOLVED);
        /* problems that miss a millionth count as solved */
        assert_close(w.x[ball].linear.x, -v, 2e-6);
        assert_close(w.impulses[0].normal - w.impulses[1].normal, 1 + v, 2e-6);
        /* Poisson's law asks for impulses, which the soft wall may take up */
        bool denied = i < 8 && room < 0.8;
        assert_close(w.impact.restitution_scale, denied ? v / 0.8 : 1, 5e-6);
        assert_true(w.impact.restitution_denied == denied);
        little_close(&w);
    }
}

/* Painleve's rod with mu = 2: the impulse brings the tip to rest (u+ = 0, v+ = 0).  With the arms r = (0.6,
 * -0.8): A = [1 + 3 * 0.64, 3 * 0.48; 3 * 0.48, 1 + 3 * 0.36] for (t, n), A j = (-1, 0): j_n = 1.44 / det,
 * j_t = -2.08/det. */
static void impulse_without_impact(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w),
        rod = little_body(&w, 1, vec3_make(0.002, 1.0 / 3, 1.0 / 3), vec3_make(0, 0.8, 0));
    w.motions[rod].velocity.linear.x = 1;
    little_gravity(&w, vec3_make(0, -9.81, 0));
    w.friction = (abut_friction){.stick = 2, .slide = 2};
    little_contact(&w, rod, floor, vec3_make(0.6, 0, 0), vec3_make(0, 1, 0));
    impact_config config = impact_default_config();
    config.without_impact = true;
    assert_int_equal(impact_solve(&w.g, &config, &w.scratch, w.x, w.impulses, w.multipliers, &w.impact, NULL),
                     ABUT_OK);
    double det = 2.92 * 2.08 - 1.44 * 1.44;
    assert_int_equal(w.impact.outcome, IMPACT_SOLVED);
    assert_close(w.impulses[0].normal, 1.44 / det, 1e-12);
    assert_close(w.impulses[0].friction.x, -2.08 / det, 1e-12);
    assert_close(vec3_length(group_contact_velocity(&w.g, &w.contacts[0], w.x)), 0, 1e-12);
    assert_true(w.impact.energy_after < w.impact.energy_before);
    /* afterwards the resting forces exist */
    w.motions[rod].velocity = w.x[rod];
    w.contacts[0].point.at_rate = motion_velocity_at(&w.motions[rod], w.contacts[0].point.at);
    little_choose(&w);
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    little_close(&w);
}

/* A kinematic paddle adds energy, and that is not an error. */
static void paddle(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int bat = little_fixed(&w), ball = little_body(&w, 1, even(0.1), vec3_make(1, 0, 0));
    w.motions[bat].velocity.linear.x = 5;
    w.restitution = 1;
    little_contact(&w, ball, bat, vec3_make(0.5, 0, 0), vec3_make(1, 0, 0));
    little_hit(&w, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0);
    assert_close(w.x[ball].linear.x, 10, 1e-12);
    little_close(&w);
}

/* Memory: every allocation made to fail in turn. */
static abut_status hit_once(const abut_context *context, void *user) {
    (void)user;
    little w;
    make_cradle(&w, 4, 1, 0.5);
    for (int i = 0; i < 3; i++) w.contacts[i].friction = (abut_friction){.stick = 0.3, .slide = 0.2};
    w.motions[0].velocity.linear.y = 0.5;
    arena memory;
    arena_init(&memory, context);
    abut_lcp_solver *lcp = abut_lcp_solver_create(context);
    abut_status status = ABUT_NO_MEMORY;
    if (lcp) {
        group_scratch scratch = {&memory, lcp};
        impact_config config = impact_default_config();
        status = impact_solve(&w.g, &config, &scratch, w.x, w.impulses, w.multipliers, &w.impact, NULL);
        forces_config resting = forces_default_config();
        forces_result result;
        resting.distribute = true;
        if (status == ABUT_OK)
            status = forces_choose(&w.g, &resting, &scratch, w.x, w.loads, w.multipliers, &result, NULL);
        project_result projected;
        if (status == ABUT_OK) status = project_velocities(&w.g, &scratch, w.x, &projected, NULL);
        if (status == ABUT_OK) status = project_positions(&w.g, &scratch, false, w.x, &projected, NULL);
    }
    abut_lcp_solver_destroy(lcp);
    arena_free(&memory);
    little_close(&w);
    return status;
}
static void memory_may_fail(void **state) {
    (void)state;
    assert_true(support_fail_each(hit_once, NULL) > 1);
}

/* Speeds whose energy no double holds: an answer that is not finite is none. */
static void nothing_infinite_leaves(void **state) {
    (void)state;
    const double speeds[] = {1e150, 1e155, 1e200, 1e300};
    for (int k = 0; k < 4; k++) {
        little w;
        make_cradle(&w, 3, 1, 0.5);
        w.motions[0].velocity.linear.x = speeds[k];
        impact_config config = impact_default_config();
        abut_error error = {0};
        abut_status status =
            impact_solve(&w.g, &config, &w.scratch, w.x, w.impulses, w.multipliers, &w.impact, &error);
        assert_int_equal(status, k == 0 ? ABUT_OK : ABUT_FAILED);
        for (int i = 0; i < 3 && k == 0; i++) assert_true(isfinite(w.x[i].linear.x));
        if (k > 0) assert_non_null(strstr(error.message, "not finite"));
        little_close(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cradles),
        cmocka_unit_test(poisson),
        cmocka_unit_test(nine_to_one),
        cmocka_unit_test(single_points),
        cmocka_unit_test(rests_or_nearly),
        cmocka_unit_test(rotating_face),
        cmocka_unit_test(stacked_drop),
        cmocka_unit_test(rest_speed),
        cmocka_unit_test(pendulum_is_hit),
        cmocka_unit_test(limit_is_hit),
        cmocka_unit_test(ball_on_a_rough_floor),
        cmocka_unit_test(restitution_that_no_impulses_give),
        cmocka_unit_test(friction_never_raises_the_energy),
        cmocka_unit_test(impulse_without_impact),
        cmocka_unit_test(paddle),
        cmocka_unit_test(nothing_infinite_leaves),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
