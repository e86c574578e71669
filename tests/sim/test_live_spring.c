/* Springs in the live clock: what swings keeps its energy and its time, what is held is held by k x, however
 * stiff, and damping is the damping given. */
#include "trial.h"

static double mechanical(const trial *t) {
    abut_energy e = abut_sim_energy(t->sim);
    return e.kinetic + e.potential;
}

/* The largest |E - E0| / E0 until a time. */
static double energy_swing(trial *t, double until) {
    double first = mechanical(t), most = 0;
    for (int k = 1; k <= (int)(60 * until + 0.5); k++) {
        advance(t, k / 60.0);
        most = fmax(most, fabs(mechanical(t) - first));
    }
    return most / first;
}

/* A ball of 1 kg drawn out by 0.2 m:  x = 1 + 0.2 cos w t.  Springs swing by at most 0.2 radians in a piece
 * of a sub-step, so the energy swings by 0.2^2 / 8 = 0.5 % of it, and the frequency is w (1 + 0.2^2 / 24). */
static void a_ball_swings_on(void **state) {
    (void)state;
    const double stiffness[] = {1, 10, 100, 1e3, 5e3, 2e4, 1e5, 1e6};
    for (int i = 0; i < COUNT_OF(stiffness); i++) {
        trial t;
        char text[512];
        snprintf(text, sizeof text,
                 "world { mode = 'live', gravity = {0, 0, 0}, frame = 1/60 }\n"
                 "body { name = 'ball', shape = sphere {0.1}, mass = 1, position = {1.2, 0, 0} }\n"
                 "spring { 'ball', at_b = {0, 0, 0}, length = 1, stiffness = %g, damping = 0 }\n",
                 stiffness[i]);
        start(&t, text);
        assert_true(energy_swing(&t, 4) <= 0.01);
        double w = sqrt(stiffness[i]), late = 4 * w * fmin(pow(w / 240, 2), 0.04) / 24;
        if (late < 0.2) close_to(abut_sim_motion(t.sim, 0).center.x, 1 + 0.2 * cos(4 * w), 0.2 * late + 1e-4);
        finish(&t);
    }
}

/* A wheel on a pin with a spring,  angle = w0 / w sin w t,  w^2 = k / I; two wheels with one between them. */
static void a_wheel_swings_on(void **state) {
    (void)state;
    for (int two = 0; two < 2; two++) {
        trial t;
        char text[1024];
        snprintf(text, sizeof text,
                 "world { mode = 'live', gravity = {0, 0, 0}, frame = 1/60 }\n"
                 "body { name = 'wheel', shape = solid.box {0.4, 0.4, 0.1}, mass = 1, inertia = {0.02, 0.02, "
                 "0.02}, spin = {0, 0, 5} }\n"
                 "body { name = 'other', shape = solid.box {0.4, 0.4, 0.1}, mass = 1, inertia = {0.02, 0.02, "
                 "0.02}, position = {0, 0, 1}, spin = {0, 0, -5} }\n"
                 "hinge.pin { 'wheel', at = {0, 0, 0}, axis = {0, 0, 1} %s}\n"
                 "hinge.pin { 'other', at = {0, 0, 1}, axis = {0, 0, 1}}\n%s",
                 two ? "" : ", stiffness = 20",
                 two ? "hinge.pin { 'wheel', 'other', at = {0, 0, 0}, axis = {0, 0, 1}, stiffness = 10 }\n"
                     : "");
        start(&t, text);
        assert_true(energy_swing(&t, 4) <= 0.01);
        double w = sqrt(20 / 0.02); /* of two against each other: 2 k / I */
        double late = 4 * w * pow(w / 240, 2) / 24;
        close_to(abut_sim_motion(t.sim, 0).spin.z, 5 * cos(4 * w), 5 * (late + 0.01));
        finish(&t);
    }
}

/* A platform on four springs, let go where they are loose:  z = 1 - g / w^2 (1 - cos w t),  w^2 = 4 k / m.
 * With c in each, it ends at 1 - m g / 4 k. */
static void a_platform_swings(void **state) {
    (void)state;
    for (int damped = 0; damped < 2; damped++) {
        trial t;
        char text[512];
        snprintf(text, sizeof text,
                 "world { mode = 'live', frame = 1/60 }\n"
                 "body { name = 'platform', shape = solid.box {1, 1, 0.1}, mass = 1, position = {0, 0, 1} }\n"
                 "for x = -1, 1, 2 do for y = -1, 1, 2 do\n"
                 "  spring { 'platform', at_a = {x / 2, y / 2, 1}, at_b = {x / 2, y / 2, 0}, length = 1, "
                 "stiffness = 50, damping = %d }\nend end\n",
                 3 * damped);
        start(&t, text);
        double w = sqrt(200), end = damped ? 4 : 2;
        advance(&t, end);
        double wanted = 1 - 9.81 / (w * w) * (damped ? 1 : 1 - cos(w * end));
        close_to(abut_sim_motion(t.sim, 0).center.z, wanted, damped ? 1e-6 : 2e-4);
        finish(&t);
    }
}

/* A lightly damped ball:  x = e^-at (cos vt + a/v sin vt),  a = c / 2 m,  v^2 = k / m - a^2. */
static void damping_is_that_given(void **state) {
    (void)state;
    trial t;
    start(&t, "world { mode = 'live', gravity = {0, 0, 0}, frame = 1/60 }\n"
              "body { name = 'ball', shape = sphere {0.1}, mass = 1, position = {1.2, 0, 0} }\n"
              "spring { 'ball', at_b = {0, 0, 0}, length = 1, stiffness = 100, damping = 1 }\n");
    advance(&t, 2);
    double a = 0.5, v = sqrt(100 - a * a);
    double x = exp(-2 * a) * (cos(2 * v) + a / v * sin(2 * v));
    close_to(abut_sim_motion(t.sim, 0).center.x, 1 + 0.2 * x, 2e-3);
    finish(&t);
}

/* A block of 1 kg under a spring that presses with 100 N: friction of 0.5 holds up to 54.9 N, whether the
 * spring is soft or so stiff that it swings many times in a sub-step. */
static void a_clamp_holds(void **state) {
    (void)state;
    const double stiffness[] = {1e2, 1e3, 1e5, 1e7};
    for (int i = 0; i < COUNT_OF(stiffness); i++)
        for (int slips = 0; slips < 2; slips++) {
            trial t;
            char text[1024];
            snprintf(
                text, sizeof text,
                "world { mode = 'live', frame = 1/60 }\nmaterial { friction = 0.5, restitution = 0 }\n" FLOOR
                "body { name = 'block', shape = solid.box {0.2, 0.2, 0.2}, mass = 1, position = {0, 0, 0.1} "
                "}\n"
                "spring { 'block', at_a = {0, 0, 0.2}, at_b = {0, 0, 1.2}, length = 1 + 100 / %g, stiffness "
                "= "
                "%g, damping = 0 }\nforce { 'block', value = {%g, 0, 0} }\n",
                stiffness[i], stiffness[i], slips ? 56.0 : 54.0);
            start(&t, text);
            advance(&t, 0.1);
            double x = abut_sim_motion(t.sim, 1).center.x;
            assert_true(slips ? x > 1e-3 : fabs(x) < 1e-5);
            finish(&t);
        }
}

/* A block that slides on a smooth floor between the ends of its swing. */
static void a_block_swings_on_a_floor(void **state) {
    (void)state;
    const double stiffness[] = {100, 1e3, 5e3};
    for (int i = 0; i < COUNT_OF(stiffness); i++) {
        trial t;
        char text[512];
        snprintf(
            text, sizeof text,
            "world { mode = 'live', frame = 1/60 }\nmaterial { friction = 0, restitution = 0 }\n" FLOOR
            "body { name = 'block', shape = solid.box {0.2, 0.2, 0.2}, mass = 1, position = {1.2, 0, 0.1} }\n"
            "spring { 'block', at_b = {0, 0, 0.1}, length = 1, stiffness = %g, damping = 0 }\n",
            stiffness[i]);
        start(&t, text);
        assert_true(energy_swing(&t, 4) <= 0.03);
        finish(&t);
    }
}

/* A ball that only a spring joins to what hangs on a hinge: it ends m g / k below. */
static void a_ball_hangs_from_an_arm(void **state) {
    (void)state;
    trial t;
    start(&t, "world { mode = 'live', frame = 1/60 }\n"
              "body { name = 'arm', shape = solid.box {1, 0.1, 0.1}, mass = 1, position = {0, 0, 2} }\n"
              "hinge.weld { 'arm', at = {0, 0, 2} }\n"
              "body { name = 'ball', shape = sphere {0.1}, mass = 1, position = {0, 0, 1} }\n"
              "spring { 'ball', 'arm', length = 1, stiffness = 100, damping = 10 }\n");
    advance(&t, 4);
    close_to(abut_sim_motion(t.sim, 1).center.z, 1 - 9.81 / 100, 1e-6);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_swings_on),
        cmocka_unit_test(a_wheel_swings_on),
        cmocka_unit_test(a_platform_swings),
        cmocka_unit_test(damping_is_that_given),
        cmocka_unit_test(a_clamp_holds),
        cmocka_unit_test(a_block_swings_on_a_floor),
        cmocka_unit_test(a_ball_hangs_from_an_arm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
