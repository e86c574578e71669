/* Bodies that follow a function of the scene: nothing is known of it but its values, and a frame can be much
 * longer than what it does.  Expected times are zeros of the closed form of the gap. */
#include "trial.h"

#define TURN "2 * math.pi"
#define PI   3.14159265358979323846

static double root(double f(double), double a, double b) {
    bool low = f(a) < 0;
    for (int i = 0; i < 200; i++) {
        double m = (a + b) / 2;
        *((f(m) < 0) == low ? &a : &b) = m;
    }
    return (a + b) / 2;
}

/* A cube goes to and fro by 0.6 m five times a second; a ball waits at 0.5 m.  It is struck by the face of
 * the cube, 0.05 m ahead of its centre, when 0.3 (1 - cos wt) = 0.4, at cos wt = -1/3, with 0.3 w sin wt. */
static void a_pusher_strikes_however_long_the_frame(void **state) {
    (void)state;
    const double w = 10 * PI, time = acos(-1.0 / 3) / w, speed = 0.3 * w * sqrt(8.0) / 3;
    static const char *frames[] = {"1/1000", "1/60", "0.1", "0.2", "0.4"};
    for (int i = 0; i < COUNT_OF(frames); i++) {
        char text[700];
        trial t;
        snprintf(text, sizeof text,
                 "world { gravity = {0, 0, 0}, frame = %s }\n"
                 "body { shape = solid.box {0.1, 0.1, 0.1}, kinematic = true, motion = function(t)\n"
                 "  return {0.3 * (1 - math.cos(" TURN " * 5 * t)), 0, 0}, {1, 0, 0, 0} end }\n"
                 "body { shape = sphere {0.05}, position = {0.5, 0, 0} }",
                 frames[i]);
        start(&t, text);
        advance(&t, 0.4);
        const abut_event *e = nth(&t, ABUT_EVENT_IMPACT, 0);
        assert_non_null(e);
        close_to(e->time, time, 1e-9);
        close_to(abut_sim_motion(t.sim, 1).velocity.x, speed, 1e-9 * speed);
        finish(&t);
    }
}

/* Still for 0.3 s, then out by 0.6 m and back within 0.1 s: at both ends of the frame it stands still. */
static double bump(double time) {
    double s = (time - 0.3) / 0.1, b = 4 * s * (1 - s);
    return 0.6 * b * b * b * b - 0.4;
}
static void a_pulse_within_a_frame_is_seen(void **state) {
    (void)state;
    trial t;
    start(&t, "world { gravity = {0, 0, 0}, frame = 1 }\n"
              "body { shape = solid.box {0.1, 0.1, 0.1}, kinematic = true, motion = function(t)\n"
              "  local s = (t - 0.3) / 0.1\n"
              "  local b = s > 0 and s < 1 and 4 * s * (1 - s) or 0\n"
              "  return {0.6 * b ^ 4, 0, 0}, {1, 0, 0, 0} end }\n"
              "body { shape = sphere {0.05}, position = {0.5, 0, 0} }");
    advance(&t, 1);
    const abut_event *e = nth(&t, ABUT_EVENT_IMPACT, 0);
    assert_non_null(e);
    close_to(e->time, root(bump, 0.3, 0.35), 1e-9);
    finish(&t);
}

/* An arm of 1 m, 2 cm thick, turns three times a second about its middle, from upright; its face meets a ball
 * of 5 cm at 0.4 m when 0.4 sin(angle to go) = 0.06. */
static void an_arm_that_turns_strikes(void **state) {
    (void)state;
    static const char *frames[] = {"1/60", "0.5"};
    for (int i = 0; i < COUNT_OF(frames); i++) {
        char text[700];
        trial t;
        snprintf(text, sizeof text,
                 "world { gravity = {0, 0, 0}, frame = %s }\n"
                 "body { shape = solid.box {0.02, 1, 0.02}, kinematic = true, motion = function(t)\n"
                 "  local a = -" TURN " * 3 * t\n"
                 "  return {0, 0, 0}, {math.cos(a / 2), 0, 0, math.sin(a / 2)} end }\n"
                 "body { shape = sphere {0.05}, position = {0.4, 0, 0} }",
                 frames[i]);
        start(&t, text);
        advance(&t, 0.5);
        const abut_event *e = nth(&t, ABUT_EVENT_IMPACT, 0);
        assert_non_null(e);
        close_to(e->time, (PI / 2 - asin(0.15)) / (6 * PI), 1e-9);
        finish(&t);
    }
}

/* A table that trembles by 1 mm a hundred times a second under a ball that comes down at 0.1 m/s: thirty
 * tremors go by within the frame before the gap 0.03 - 0.1 t - 0.001 sin wt closes. */
static double trembling(double time) { return 0.03 - 0.1 * time - 0.001 * sin(200 * PI * time); }
static void a_table_that_trembles_is_met(void **state) {
    (void)state;
    double time = 0;
    while (trembling(time) > 0) time += 1e-6;
    trial t;
    start(&t, "world { gravity = {0, 0, 0}, frame = 0.4 }\n"
              "body { shape = solid.box {1, 1, 0.2}, kinematic = true, motion = function(t)\n"
              "  return {0, 0, 0.001 * math.sin(" TURN " * 100 * t)}, {1, 0, 0, 0} end }\n"
              "body { shape = sphere {0.05}, position = {0, 0, 0.18}, velocity = {0, 0, -0.1} }");
    advance(&t, 0.4);
    const abut_event *e = nth(&t, ABUT_EVENT_IMPACT, 0);
    assert_non_null(e);
    close_to(e->time, root(trembling, time - 1e-6, time), 1e-9);
    finish(&t);
}

/* Speeds and accelerations come from differences of the positions, to h^6 w^6 / 140 = 4e-10 of the largest.
 */
static void speeds_of_functions_are_exact(void **state) {
    (void)state;
    trial t;
    start(&t, "world { frame = 1/60 }\n"
              "body { shape = solid.box {1, 1, 0.2}, kinematic = true, motion = function(t)\n"
              "  local a = 0.1 * math.sin(" TURN " * 10 * t)\n"
              "  return {a, 0, 0}, {math.cos(a / 2), 0, 0, math.sin(a / 2)} end }\n"
              "body { shape = sphere {0.05}, position = {0, 0, 5} }");
    for (int k = 1; k < 30; k++) {
        advance(&t, k / 60.0);
        double w = 20 * PI, c = cos(w * k / 60), s = sin(w * k / 60);
        abut_motion m = abut_sim_motion(t.sim, 0);
        close_to(m.velocity.x, 0.1 * w * c, 1e-9 * 0.1 * w);
        close_to(m.spin.z, 0.1 * w * c, 1e-9 * 0.1 * w);
        close_to(m.acceleration.x, -0.1 * w * w * s, 1e-8 * 0.1 * w * w);
    }
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pusher_strikes_however_long_the_frame),
        cmocka_unit_test(a_pulse_within_a_frame_is_seen),
        cmocka_unit_test(an_arm_that_turns_strikes),
        cmocka_unit_test(a_table_that_trembles_is_met),
        cmocka_unit_test(speeds_of_functions_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
