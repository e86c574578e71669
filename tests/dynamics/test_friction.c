/* Friction in resting contact: closed forms of ../shared/reference, family 08, at time 0; modes, directions,
 * margins, static and dynamic coefficients, rolling and spinning resistance, Painleve. */
#include "little.h"

static const vec3 up = {0, 0, 1};
static const double g0 = 9.81;

static abut_friction coulomb(double mu) { return (abut_friction){.stick = mu, .slide = mu}; }

/* A box of 1 x 1 x 0.5 and 2 kg on the plane z = 0, with gravity tilted so that x points down a slope. */
static int make_block(little *w, double gx, double gy, double gz, double mu, double height) {
    little_open(w);
    int floor = little_fixed(w);
    double xx = 2.0 / 12 * (1 + height * height), zz = 2.0 / 6;
    int block = little_body(w, 2, vec3_make(xx, xx, zz), vec3_make(0, 0, height / 2));
    little_gravity(w, vec3_make(gx, gy, gz));
    w->friction = coulomb(mu);
    for (int i = 0; i < 4; i++)
        little_contact(w, block, floor, vec3_make(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, 0), up);
    return block;
}

/* 08-incline: tangent 3/4; mu = 0.4 slides with g (sin - mu cos), mu = 0.8 sticks. */
static void block_on_a_slope(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        double mu = i ? 0.8 : 0.4;
        little w;
        int block = make_block(&w, 0.6 * g0, 0, -0.8 * g0, mu, 0.5);
        little_choose(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        double a = i ? 0 : g0 * (0.6 - 0.4 * 0.8);
        assert_close(w.x[block].linear.x, a, 1e-12);
        assert_close(w.x[block].linear.y, 0, 1e-12);
        assert_close(w.x[block].linear.z, 0, 1e-12);
        assert_close(vec3_length(w.x[block].angular), 0, 1e-12);
        vec3 f = little_force_between(&w, 1, 0);
        assert_close(f.z, 2 * 0.8 * g0, 1e-11);
        assert_close(f.x, i ? -2 * 0.6 * g0 : -0.4 * 2 * 0.8 * g0, 1e-11);
        for (int c = 0; c < 4; c++) {
            assert_int_equal(w.contacts[c].mode, i ? FRICTION_STICK : FRICTION_SLIP);
            if (!i) assert_close(vec3_distance(w.contacts[c].slip_along, vec3_make(1, 0, 0)), 0, 1e-12);
        }
        /* the chosen modes persist: another evaluation gives the same */
        little_solve(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        assert_close(w.x[block].linear.x, a, 1e-12);
        little_close(&w);
    }
}

/* The margin decides at tan = mu to the last digits: friction in proportion to pressure is the only
 * admissible distribution there (the front corners carry more than the rear ones). */
static void onset_of_slip_is_sharp(void **state) {
    (void)state;
    for (int i = -1; i <= 1; i += 2) {
        little w;
        double t = 0.5 * (1 + i * 1e-8);
        make_block(&w, t * 8, 0, -8, 0.5, 0.5);
        for (int c = 0; c < 4; c++) w.contacts[c].mode = FRICTION_STICK;
        little_solve(&w);
        if (i < 0)
            assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        else
            assert_int_equal(w.forces.outcome, FORCES_CANNOT_STICK);
        double least = 1;
        for (int c = 0; c < 4; c++) least = fmin(least, w.loads[c].margin);
        if (i > 0) assert_close(least, -1e-8 + FORCES_ALLOWANCE, 1e-10);
        little_choose(&w);
        assert_int_equal(w.contacts[0].mode, i < 0 ? FRICTION_STICK : FRICTION_SLIP);
        little_close(&w);
    }
}

/* Slip at 1 mm/s along x, and the caller knows that it is about to turn to the direction (0.6, 0.8): friction
 * opposes that, mu g each way, in the choice of modes as in the solution that follows. */
static void a_known_direction_is_kept(void **state) {
    (void)state;
    for (int known = 0; known <= 1; known++) {
        little w;
        int block = make_block(&w, 0, 0, -g0, 0.3, 0.5);
        w.motions[block].velocity.linear = vec3_make(1e-3, 0, 0);
        vec3 d = known ? vec3_make(0.6, 0.8, 0) : vec3_make(1, 0, 0);
        for (int c = 0; c < 4; c++)
            w.contacts[c].begins = known, w.contacts[c].slip_along = vec3_make(0.6, 0.8, 0);
        little_choose(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        for (int c = 0; c < 4; c++) {
            assert_int_equal(w.contacts[c].mode, FRICTION_SLIP);
            assert_close(vec3_distance(w.contacts[c].slip_along, d), 0, 1e-15);
        }
        assert_close(vec3_distance(w.x[block].linear, vec3_scale(d, -0.3 * g0)), 0, 1e-12);
        little_close(&w);
    }
}

/* Friction has no preferred direction: for every direction of the slope the block slides that way. */
static void directions_are_exact(void **state) {
    (void)state;
    for (int k = 0; k < 36; k++) {
        double phi = 0.17 * k;
        little w;
        int block = make_block(&w, 6 * cos(phi), 6 * sin(phi), -8, 0.4, 0.5);
        little_choose(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        double a = 6 - 0.4 * 8;
        assert_close(w.x[block].linear.x, a * cos(phi), 1e-11);
        assert_close(w.x[block].linear.y, a * sin(phi), 1e-11);
        assert_close(w.x[block].angular.z, 0, 1e-11);
        little_close(&w);
    }
}

/* A block that slides already: friction against the velocity, not against the slope (08-cross-slope at time
 * 0). */
static void sliding_across_the_slope(void **state) {
    (void)state;
    little w;
    int block = make_block(&w, 4, 0, -8, 0.3, 0.2);
    w.motions[block].velocity.linear = vec3_make(0, 2, 0);
    little_choose(&w);
    assert_int_equal(w.contacts[0].mode, FRICTION_SLIP);
    assert_close(w.x[block].linear.x, 4, 1e-12);
    assert_close(w.x[block].linear.y, -0.3 * 8, 1e-12);
    assert_close(w.x[block].angular.z, 0, 1e-12);
    little_close(&w);
}

/* 08-box-slope-tips (mu 0.8, slope 0.3 rad) and -tips-and-slides (mu 0.3, slope 1.2 rad): box 1 x 4, plane
 * scene. */
static void box_tips_on_a_slope(void **state) {
    (void)state;
    static const struct {
        double gx, gy, mu, ax, ay, alpha, fx, fy;
    } cases[2] = {
        {2.899053227347741, -9.371850958322195, 0.8, 0.39253446195331215, 0.09813361548832804,
         -0.19626723097665608, -2.506518765394429, 9.469984573810523},
        {9.14330343333849, -3.554729571416168, 0.3, 8.037869237349316, 0.13005108188107917,
         -0.26010216376215856, -1.1054341959891743, 3.6847806532972474},
    };
    for (int i = 0; i < 2; i++) {
        little w;
        little_open(&w);
        int floor = little_fixed(&w);
        int tall = little_body(&w, 1, vec3_make(17.0 / 12, 17.0 / 12, 17.0 / 12), vec3_make(0, 2, 0));
        little_gravity(&w, vec3_make(cases[i].gx, cases[i].gy, 0));
        w.friction = coulomb(cases[i].mu);
        little_pair(&w, tall, floor, -0.5, 0, 0.5, vec3_make(0, 1, 0));
        little_pair(&w, tall, floor, 0.5, 0, 0.5, vec3_make(0, 1, 0));
        little_choose(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        assert_close(w.x[tall].linear.x, cases[i].ax, 1e-11);
        assert_close(w.x[tall].linear.y, cases[i].ay, 1e-11);
        assert_close(w.x[tall].angular.z, cases[i].alpha, 1e-11);
        vec3 f = little_force_between(&w, tall, floor);
        assert_close(f.x, cases[i].fx, 1e-11);
        assert_close(f.y, cases[i].fy, 1e-11);
        assert_true(!w.contacts[0].pressed && w.contacts[2].pressed && w.loads[0].normal == 0);
        assert_int_equal(w.contacts[2].mode, i ? FRICTION_SLIP : FRICTION_STICK);
        little_close(&w);
    }
}

/* 08-sphere-rolls, 08-cylinder-rolls: a = g sin / (1 + I/(m r^2)) when the slope is not too steep; beyond, it
 * slips with g (sin - mu cos) and turns with (5/2) mu g cos / r. */
static void rollers(void **state) {
    (void)state;
    static const struct {
        double inertia, mu, a, alpha;
    } cases[3] = {{0.004, 0.25, 5.0 / 7 * 5.886, 5.0 / 7 * 58.86},
                  {0.005, 0.3, 2.0 / 3 * 5.886, 2.0 / 3 * 58.86},
                  {0.004, 0.1, 5.886 - 0.1 * 7.848, 0.1 * 7.848 * 0.1 / 0.004}};
    for (int i = 0; i < 3; i++) {
        little w;
        little_open(&w);
        int floor = little_fixed(&w);
        int ball = little_body(&w, 1, vec3_make(cases[i].inertia, cases[i].inertia, cases[i].inertia),
                               vec3_make(0, 0, 0.1));
        little_gravity(&w, vec3_make(5.886, 0, -7.848));
        w.friction = coulomb(cases[i].mu);
        little_contact(&w, ball, floor, vec3_make(0, 0, 0), up);
        if (i == 1)
            w.contacts[0].point.at.y = 0.2, little_contact(&w, ball, floor, vec3_make(0, -0.2, 0), up);
        little_choose(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        assert_close(w.x[ball].linear.x, cases[i].a, 1e-12);
        assert_close(w.x[ball].angular.y, cases[i].alpha, 1e-11);
        assert_close(w.x[ball].linear.y, 0, 1e-12);
        assert_close(w.x[ball].angular.x, 0, 1e-11);
        assert_int_equal(w.contacts[0].mode, i == 2 ? FRICTION_SLIP : FRICTION_STICK);
        little_close(&w);
    }
}

/* Painleve's rod: N = m g / (1 + 3 cos (cos - mu sin)) for mu = 0.5; for mu = 2 the denominator is negative
 * while the tip is pressed down: no finite force. */
static void make_rod(little *w, double mu) {
    little_open(w);
    int floor = little_fixed(w),
        rod = little_body(w, 1, vec3_make(0.002, 1.0 / 3, 1.0 / 3), vec3_make(0, 0.8, 0));
    w->motions[rod].velocity.linear = vec3_make(1, 0, 0);
    w->motions[rod].rotation = abut_quat_from_axis_angle(vec3_make(0, 0, 1), -0.9272952180016123);
    little_gravity(w, vec3_make(0, -g0, 0));
    w->friction = coulomb(mu);
    little_contact(w, rod, floor, vec3_make(0.6, 0, 0), vec3_make(0, 1, 0));
}

static void painleve_rod(void **state) {
    (void)state;
    little w;
    make_rod(&w, 0.5);
    little_choose(&w);
    double n = g0 / (1 + 1.8 * (0.6 - 0.5 * 0.8));
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    assert_close(w.loads[0].normal, n, 1e-12);
    assert_close(w.loads[0].friction.x, -0.5 * n, 1e-12);
    assert_close(w.x[1].linear.y, n - g0, 1e-12);
    assert_close(w.x[1].angular.z, 4.327941176470588, 1e-11);
    little_close(&w);

    make_rod(&w, 2);
    little_choose(&w);
    assert_int_equal(w.forces.outcome, FORCES_NO_FINITE_FORCE);
    assert_int_equal(w.forces.worst, 0);
    /* pressed or not are two states: two steps by either rule and the path of Lemke's method see them all */
    assert_true(w.forces.pivots <= 8);
    little_close(&w);
}

/* Painleve's other regime (mu = 2, the rod spun so that the tip lifts by itself: w^2 sin > g): two solutions.
 * The one that continues is taken: pressed stays pressed (N = (g - w^2 sin)/(1 + 3 cos (cos - mu sin)) > 0),
 * free stays free. */
static void painleve_indeterminate(void **state) {
    (void)state;
    double w2 = 20, c = 0.6, s = 0.8, mu = 2;
    double n = (g0 - w2 * s) / (1 + 3 * c * (c - mu * s));
    for (int pressed = 0; pressed < 2; pressed++) {
        little w;
        make_rod(&w, mu);
        double spin = sqrt(w2);
        /* the tip slides along x: v_y of the tip zero */
        w.motions[1].velocity.angular.z = spin;
        w.motions[1].velocity.linear = vec3_make(3, -spin * c, 0);
        w.contacts[0].point.at_rate = motion_velocity_at(&w.motions[1], w.contacts[0].point.at);
        assert_close(w.contacts[0].point.at_rate.y, 0, 1e-12);
        w.contacts[0].pressed = pressed != 0;
        little_choose(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        assert_close(w.loads[0].normal, pressed ? n : 0, 1e-11);
        assert_true(w.contacts[0].pressed == (pressed != 0));
        little_close(&w);
    }
}

/* Static 0.6 and dynamic 0.3 on a slope of tangent 0.5: at rest it stays, sliding it speeds up. */
static void static_and_dynamic(void **state) {
    (void)state;
    little w;
    int block = make_block(&w, 4, 0, -8, 0, 0.5);
    for (int i = 0; i < 4; i++) w.contacts[i].friction = (abut_friction){.stick = 0.6, .slide = 0.3};
    little_choose(&w);
    assert_int_equal(w.contacts[0].mode, FRICTION_STICK);
    assert_close(w.x[block].linear.x, 0, 1e-12);
    w.motions[block].velocity.linear.x = 1e-3;
    little_choose(&w);
    assert_int_equal(w.contacts[0].mode, FRICTION_SLIP);
    assert_close(w.x[block].linear.x, 4 - 0.3 * 8, 1e-12);
    w.motions[block].velocity.linear.x = 0;
    w.wrenches[block].linear.x = 2 * 5; /* more than 0.6 can hold: slides with 0.3 */
    little_choose(&w);
    assert_int_equal(w.contacts[0].mode, FRICTION_SLIP);
    assert_close(w.x[block].linear.x, 5 - 0.3 * 8, 1e-12);
    little_close(&w);
}

/* Rolling resistance: a wheel on the level with spin w and v = w r; torque b N against the rolling:
 * a = -b g / (r (1 + I/(m r^2))) * ... from m a = F, I alpha = -F r - b N, a = alpha r:  a = -b g r / (r^2 +
 * I/m). At rest under a force F it does not move while F r <= b m g. */
static void rolling_resistance(void **state) {
    (void)state;
    double r = 0.2, b = 0.01, inertia = 0.02;
    little w;
    little_open(&w);
    int floor = little_fixed(&w),
        ball = little_body(&w, 1, vec3_make(inertia, inertia, inertia), vec3_make(0, 0, r));
    little_gravity(&w, vec3_make(0, 0, -10));
    w.friction = (abut_friction){.stick = 0.5, .slide = 0.5, .rolling = b};
    little_contact(&w, ball, floor, vec3_make(0, 0, 0), up);
    w.contacts[0].point.at_rate = vec3_make(0.2, 0, 0);
    w.motions[ball].velocity = (spatial){{0.2, 0, 0}, {0, 1, 0}};
    little_choose(&w);
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    assert_int_equal(w.contacts[0].mode, FRICTION_STICK);
    assert_int_equal(w.contacts[0].rolling, FRICTION_SLIP);
    assert_close(w.x[ball].linear.x, -b * 10 * r / (r * r + inertia), 1e-12);
    assert_close(w.loads[0].torque.y, -b * 10, 1e-12);

    w.motions[ball].velocity = (spatial){{0, 0, 0}, {0, 0, 0}}, w.contacts[0].point.at_rate = vec3_zero();
    w.wrenches[ball].linear.x = 0.99 * b * 10 / r;
    little_choose(&w);
    assert_int_equal(w.contacts[0].rolling, FRICTION_STICK);
    assert_close(w.x[ball].linear.x, 0, 1e-12);
    w.wrenches[ball].linear.x = 1.5 * b * 10 / r;
    little_choose(&w);
    assert_int_equal(w.contacts[0].rolling, FRICTION_SLIP);
    assert_close(w.x[ball].linear.x, 0.5 * b * 10 * r / (r * r + inertia), 1e-11);
    little_close(&w);
}

/* Spinning resistance: a ball that spins upright loses spin at c m g / I. */
static void spinning_resistance(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w),
        ball = little_body(&w, 1, vec3_make(0.02, 0.02, 0.02), vec3_make(0, 0, 0.2));
    little_gravity(&w, vec3_make(0, 0, -10));
    w.friction = (abut_friction){.stick = 0.5, .slide = 0.5, .spinning = 0.003};
    little_contact(&w, ball, floor, vec3_make(0, 0, 0), up);
    w.motions[ball].velocity.angular = vec3_make(0, 0, -4);
    little_choose(&w);
    assert_int_equal(w.contacts[0].spinning, FRICTION_SLIP);
    assert_close(w.x[ball].angular.z, 0.03 / 0.02, 1e-12);
    w.motions[ball].velocity.angular = vec3_zero();
    w.wrenches[ball].angular.z = 0.029;
    little_choose(&w);
    assert_int_equal(w.contacts[0].spinning, FRICTION_STICK);
    assert_close(w.x[ball].angular.z, 0, 1e-12);
    w.wrenches[ball].angular.z = 0.05;
    little_choose(&w);
    assert_int_equal(w.contacts[0].spinning, FRICTION_SLIP);
    assert_close(w.x[ball].angular.z, 0.02 / 0.02, 1e-12);
    little_close(&w);
}

/* 08-spin-three-feet: alpha = -mu m g R / I; 08-tripod at time 0: the normal forces of three feet from 3
 * equations. */
static void three_feet(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w),
        stool = little_body(&w, 1, vec3_make(0.02, 0.02, 0.02), vec3_make(0, 0, 0.1));
    little_gravity(&w, vec3_make(0, 0, -g0));
    w.friction = coulomb(0.25);
    w.motions[stool].velocity.angular.z = 8;
    for (int i = 0; i < 3; i++)
        little_contact(&w, stool, floor, vec3_make(0.2 * cos(2.0944 * i), 0.2 * sin(2.0944 * i), 0), up);
    little_choose(&w);
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    assert_close(w.x[stool].angular.z, -24.525, 1e-4); /* 2.0944 is 120 degrees to 5 digits */
    assert_true(w.forces.unique);
    for (int i = 0; i < 3; i++) {
        vec3 slip = group_contact_slip(&w.g, &w.contacts[i]);
        vec3 f = vec3_axpy(w.loads[i].friction, 0.25 * w.loads[i].normal, vec3_unit(slip));
        assert_close(vec3_length(f), 0, 1e-12);
    }
    little_close(&w);
}

/* A conveyor belt: a kinematic floor that moves with 2 m/s.  A block at rest on it is dragged with mu g; one
 * that moves with it sticks, also when the belt speeds up by less than mu g; beyond, it stays behind. */
static void conveyor_belt(void **state) {
    (void)state;
    little w;
    int block = make_block(&w, 0, 0, -10, 0.3, 0.5);
    spatial prescribed[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
    w.g.prescribed = prescribed;
    w.motions[0].velocity.linear.x = 2;
    little_choose(&w);
    assert_int_equal(w.contacts[0].mode, FRICTION_SLIP);
    assert_close(w.x[block].linear.x, 3, 1e-12);
    w.motions[block].velocity.linear.x = 2;
    static const double belt[3] = {0, 2.9, 3.1}, want[3] = {0, 2.9, 3};
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 4; c++) w.contacts[c].point.at_rate = vec3_make(2, 0, 0);
        prescribed[0].linear.x = belt[i];
        little_choose(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        assert_int_equal(w.contacts[0].mode, i < 2 ? FRICTION_STICK : FRICTION_SLIP);
        assert_close(w.x[block].linear.x, want[i], 1e-12);
        if (i == 2) assert_close(w.contacts[0].slip_along.x, -1, 1e-12);
    }
    little_close(&w);
}

/* A ball on a turntable (04-turntable): rolling without slip, its centre turns with 2/7 of the table's rate:
 * a = (2/7) W x v for a solid ball. */
static void ball_on_a_turntable(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int table = little_fixed(&w), ball = little_body(&w, 1, vec3_make(0.4, 0.4, 0.4), vec3_make(2, 0, 1));
    vec3 turn = {0, 0, 0.7}, v = {0.3, 0.5, 0};
    w.motions[table].velocity.angular = turn;
    /* contact at (2, 0, 0): the table moves with turn x r there; v + w x (-z) = turn x r */
    vec3 floor_speed = vec3_cross(turn, vec3_make(2, 0, 0)), slip = vec3_sub(floor_speed, v);
    w.motions[ball].velocity =
        (spatial){v, vec3_make(slip.y, -slip.x, 0)}; /* w x (0, 0, -1) = (-w.y, w.x, 0) */
    little_gravity(&w, vec3_make(0, 0, -10));
    w.friction = coulomb(0.9);
    little_contact(&w, ball, table, vec3_make(2, 0, 0), up);
    w.contacts[0].point.at_rate = v;
    assert_close(vec3_length(group_contact_slip(&w.g, &w.contacts[0])), 0, 1e-14);
    little_choose(&w);
    assert_int_equal(w.contacts[0].mode, FRICTION_STICK);
    vec3 want = vec3_scale(vec3_cross(turn, v), 2.0 / 7);
    assert_close(vec3_distance(w.x[ball].linear, want), 0, 1e-13);
    little_close(&w);
}

/* What is not a number is refused, with the body's. */
static void not_finite_is_refused(void **state) {
    (void)state;
    little w;
    int block = make_block(&w, 0, 0, -10, 0.3, 0.5);
    forces_config config = forces_default_config();
    abut_error error;
    w.wrenches[block].linear.x = NAN;
    assert_int_equal(forces_choose(&w.g, &config, &w.scratch, w.x, w.loads, w.multipliers, &w.forces, &error),
                     ABUT_INVALID);
    assert_non_null(strstr(error.message, "body 1"));
    w.wrenches[block].linear.x = 0;
    w.contacts[2].point.normal.z = INFINITY;
    assert_int_equal(forces_solve(&w.g, &config, &w.scratch, w.x, w.loads, w.multipliers, &w.forces, &error),
                     ABUT_INVALID);
    impact_config hit = impact_default_config();
    w.contacts[2].point.normal.z = NAN;
    w.motions[block].velocity.linear.z = -1;
    assert_int_equal(impact_solve(&w.g, &hit, &w.scratch, w.x, w.impulses, w.multipliers, &w.impact, &error),
                     ABUT_INVALID);
    little_close(&w);
}

/* Random stacks of points with random friction: Coulomb's law holds at every point to 1e-9, whatever was
 * chosen. */
static void random_groups_obey_coulomb(void **state) {
    (void)state;
    uint64_t seed = 2024;
    int solved = 0, trials = 1000, slips = 0, sticks = 0;
    for (int trial = 0; trial < trials; trial++) {
        little w;
        little_open(&w);
        int bodies = support_int(&seed, 1, 3), contacts = support_int(&seed, 1, 6);
        little_fixed(&w);
        for (int i = 0; i < bodies; i++)
            little_body(&w, random_range(&seed, 0.5, 2), vec3_make(0.2, 0.25, 0.3), support_vec(&seed, 1));
        little_gravity(&w, vec3_make(random_range(&seed, -5, 5), random_range(&seed, -5, 5), -10));
        for (int i = 0; i < contacts; i++) {
            int a = support_int(&seed, 1, bodies), b = support_int(&seed, 0, bodies);
            if (a == b) b = 0;
            vec3 n = support_direction(&seed);
            n.z = fabs(n.z) + 0.2;
            w.friction = coulomb(random_range(&seed, 0, 0.8));
            little_contact(&w, a, b, support_vec(&seed, 1), n);
        }
        little_choose(&w);
        if (w.forces.outcome == FORCES_SOLVED)
            solved++;
        else
            print_message("trial %d: outcome %d, contacts %d bodies %d\n", trial, w.forces.outcome, contacts,
                          bodies);
        for (int i = 0; i < contacts && w.forces.outcome == FORCES_SOLVED; i++) {
            const group_contact *c = &w.contacts[i];
            const contact_load *l = &w.loads[i];
            double mu = c->friction.slide, t = vec3_length(l->friction),
                   a = vec3_length(l->slip_acceleration);
            double tiny = 1e-8 * (1 + l->normal);
            row r = group_normal_row(&w.g, c);
            double lift = row_dot(&r, w.x) + r.drift;
            assert_true(l->normal >= -tiny && lift >= -1e-7 && fabs(l->normal * lift) < 1e-6);
            assert_true(t <= mu * l->normal + tiny);
            assert_close(vec3_dot(l->friction, c->point.normal), 0, tiny);
            if (l->normal > 1e-6 &&
                a > 1e-5) { /* moves: friction at its limit and exactly against the motion */
                vec3 wrong = vec3_axpy(l->friction, mu * l->normal / a, l->slip_acceleration);
                assert_true(vec3_length(wrong) < 1e-6 * (1 + l->normal));
                slips++;
            } else if (l->normal > 1e-6)
                sticks++;
        }
        little_close(&w);
    }
    print_message("%d of %d solved, %d points stick, %d slip\n", solved, trials, sticks, slips);
    assert_true(solved == trials && slips > 100 && sticks > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_on_a_slope),
        cmocka_unit_test(onset_of_slip_is_sharp),
        cmocka_unit_test(a_known_direction_is_kept),
        cmocka_unit_test(directions_are_exact),
        cmocka_unit_test(sliding_across_the_slope),
        cmocka_unit_test(box_tips_on_a_slope),
        cmocka_unit_test(rollers),
        cmocka_unit_test(painleve_rod),
        cmocka_unit_test(painleve_indeterminate),
        cmocka_unit_test(static_and_dynamic),
        cmocka_unit_test(rolling_resistance),
        cmocka_unit_test(spinning_resistance),
        cmocka_unit_test(three_feet),
        cmocka_unit_test(conveyor_belt),
        cmocka_unit_test(ball_on_a_turntable),
        cmocka_unit_test(not_finite_is_refused),
        cmocka_unit_test(random_groups_obey_coulomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
