/* Damping that stops what it damps within far less than a frame: the motion of the closed forms, in steps
 * that it does not hold short. */
#include "trial.h"

#include <math.h>

static void is_quick(const trial *t, int64_t most) {
    if (abut_sim_steps(t->sim) > most) fail_msg("%lld steps", (long long)abut_sim_steps(t->sim));
    assert_int_equal(abut_sim_audit(t->sim).time_steps, 0);
}

/* A mass of 1 on a spring, 0.5 from where it would come to rest: x'' = -k x - c x', with the roots s1, s2 of
 * s^2 + c s + k (complex ones where k > c^2 / 4: a swing that dies within a frame). */
static void check_oscillator(double k, double c, double weight) {
    char text[500];
    double rest = -weight / k;
    snprintf(text, sizeof text,
             "world { gravity = {0, 0, %.17g} }\nlocal z = %.17g\n"
             "body { name = 'ball', shape = sphere {0.1}, mass = 1, position = {0, 0, z} }\n"
             "spring { 'ball', at_a = {0, 0, z}, at_b = {0, 0, -5}, length = 5, stiffness = %.17g,\n"
             "         damping = %.17g }",
             -weight, rest + 0.5, k, c);
    trial t;
    start(&t, text);
    double square = c * c / 4 - k;
    for (int i = 1; i <= 4; i++) {
        double at = i / 4.0, x, v;
        advance(&t, at);
        if (square > 0) {
            double s2 = -(c / 2 + sqrt(square)), s1 = k / s2;
            x = 0.5 * s2 * exp(s1 * at) / (s2 - s1), v = s1 * x; /* the other has died */
        } else
            x = v = 0;
        close_to(abut_sim_motion(t.sim, 0).center.z, rest + x, 1e-9);
        close_to(abut_sim_motion(t.sim, 0).velocity.z, v, 1e-9);
    }
    is_quick(&t, 240);
    finish(&t);
}

static void overdamped_oscillators(void **state) {
    (void)state;
    check_oscillator(100, 1e6, 0), check_oscillator(100, 1e8, 0), check_oscillator(1e3, 1e10, 9.81);
    check_oscillator(1e8, 1e8, 9.81), check_oscillator(1e10, 1e6, 0), check_oscillator(1e10, 1e5, 9.81);
}

/* A block of 1 kg is drawn over the floor by such a spring, at the height of the floor so that it does not
 * tip: friction moves the place of rest, and x = 1 - 0.03 goes on as above.  k = 100, mu m g = 3. */
static void a_block_creeps_against_friction(void **state) {
    (void)state;
    trial t;
    start(&t,
          "world { gravity = {0, 0, -10} }\nmaterial { friction = 0.3 }\n" FLOOR
          "local b = body { shape = solid.box {0.4, 0.4, 0.2}, mass = 1, position = {1, 0, 0.1} }\n"
          "spring { b, at_a = {1, 0, 0}, at_b = {-4, 0, 0}, length = 4, stiffness = 100, damping = 1e3 }\n");
    advance(&t, 1);
    double s2 = -(500 + sqrt(250000 - 100)), s1 = 100 / s2, x = 0.97 * s2 * exp(s1) / (s2 - s1);
    close_to(abut_sim_motion(t.sim, 1).center.x, 0.03 + x, 1e-9);
    finish(&t);
    start(&t,
          "world { gravity = {0, 0, -10} }\nmaterial { friction = 0.3 }\n" FLOOR
          "local b = body { shape = solid.box {0.4, 0.4, 0.2}, mass = 1, position = {1, 0, 0.1} }\n"
          "spring { b, at_a = {1, 0, 0}, at_b = {-4, 0, 0}, length = 4, stiffness = 100, damping = 1e6 }\n");
    advance(&t, 1);
    s2 = -(5e5 + sqrt(25e10 - 100)), s1 = 100 / s2, x = 0.97 * s2 * exp(s1) / (s2 - s1);
    close_to(abut_sim_motion(t.sim, 1).center.x, 0.03 + x, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).velocity.x, s1 * x, 1e-9);
    is_quick(&t, 240);
    finish(&t);
}

/* A ball sinks in syrup, v = g m / d, and comes to the floor: at (h + (m / d) v) / v. */
static void a_ball_sinks_to_the_floor(void **state) {
    (void)state;
    trial t;
    start(&t, "world { gravity = {0, 0, -10} }\n" FLOOR
              "body { shape = sphere {0.1}, mass = 1, position = {0, 0, 0.10005}, drag = {linear = 1e5} }\n");
    advance(&t, 0.6);
    const abut_event *made = nth(&t, ABUT_EVENT_CONTACT_MADE, 0);
    assert_non_null(made);
    close_to(made->time, 0.5 + 1e-5, 1e-8);
    is_quick(&t, 240);
    finish(&t);
}

/* A pin with a damper of 1e6 N m s/rad: a bar sinks by its weight, w = m g (l / 2) cos(a) / c. */
static void a_damped_pin_sinks(void **state) {
    (void)state;
    trial t;
    start(&t, "world { gravity = {0, 0, -10} }\n"
              "body { name = 'bar', shape = solid.box {1, 0.1, 0.1}, mass = 2, position = {0.5, 0, 0} }\n"
              "hinge.pin { 'bar', at = {0, 0, 0}, axis = {0, 1, 0}, damping = 1e6 }\n");
    advance(&t, 1);
    /* a = 1e-5 t to first order: cos(a) and the inertia c / I = 1e6 change less than 1e-10 */
    close_to(abut_sim_motion(t.sim, 0).spin.y, 1e-5, 1e-9);
    close_to(abut_sim_motion(t.sim, 0).center.z, -0.5e-5, 1e-9);
    is_quick(&t, 240);
    finish(&t);
}

/* A castor: a motor draws a pin along x with V, and a ball on an arm of the length l behind it slides over
 * the floor.  Friction mu m g turns slip of the speed V within V / mu g = 2e-6 s: what is left is the arm
 * that the contact follows without slip across it, a' = -(V / l) sin a for its angle to x, tan(a/2) =
 * tan(1/2) exp(-V t / l) (a tractrix; the inertia changes it by V^2 / (mu g l) = 2e-9).  Explicit steps are
 * held to 1e-5 s. */
static void a_castor_trails(void **state) {
    (void)state;
    trial t;
    start(&t,
          "world { frame = 1/60 }\nmaterial { friction = 0.5, restitution = 0 }\n" FLOOR
          "local V, l, r, c, s = 1e-5, 0.01, 0.005, math.cos(1), math.sin(1)\n"
          "body { name = 'a', group = 'x', shape = solid.box {r, r, r}, mass = 1, position = {0, 0, r},\n"
          "       velocity = {V, 0, 0} }\n"
          "body { name = 'b', group = 'x', shape = sphere {r}, mass = 1, position = {-l * c, -l * s, r},\n"
          "       velocity = {V * c * c, V * c * s, 0}, spin = {0, 0, -V / l * s} }\n"
          "hinge.slider { 'a', at = {0, 0, r}, axis = {1, 0, 0}, motor = {speed = V} }\n"
          "hinge.universal { 'a', 'b', at = {0, 0, r}, axis = {0, 0, 1}, axis_b = {-s, c, 0} }");
    const double V = 1e-5, l = 0.01, at = 0.5, a = 2 * atan(tan(0.5) * exp(-V * at / l));
    advance(&t, at);
    abut_motion m = abut_sim_motion(t.sim, 2);
    close_to(m.center.x, V * at - l * cos(a), 1e-10);
    close_to(m.center.y, -l * sin(a), 1e-10);
    is_quick(&t, 2000); /* of 50,000 */
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overdamped_oscillators), cmocka_unit_test(a_block_creeps_against_friction),
        cmocka_unit_test(a_ball_sinks_to_the_floor), cmocka_unit_test(a_damped_pin_sinks),
        cmocka_unit_test(a_castor_trails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
