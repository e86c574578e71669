/* Hinges in scenes, run by the exact clock, against closed forms: every kind, springs with damping, motors
 * with and without a bound, limits, break force, mechanisms. */
#include "trial.h"

#include <math.h>

#define BOX(name, place)                                                                                  \
    "body { name = '" name "', shape = solid.box {0.2, 0.2, 0.2}, mass = 2, group = 1, position = " place \
    " }\n"
#define NO_GRAVITY "world { gravity = {0, 0, 0}, frame = 1/20 }\n"

/* x'' = -(k/m) (x - rest) - (c/m) x' from rest at 0: x = rest (1 - exp(-g t) (cos w t + g/w sin w t)), with
 * g = c / 2m and w^2 = k/m - g^2. */
static void damped(double k, double c, double m, double rest, double t, double *x, double *rate) {
    double g = c / (2 * m), w = sqrt(k / m - g * g), fall = exp(-g * t);
    *x = rest * (1 - fall * (cos(w * t) + g / w * sin(w * t)));
    *rate = rest * fall * (w + g * g / w) * sin(w * t);
}

static void a_spring_on_a_slider(void **state) {
    (void)state;
    trial t;
    double x, rate;
    start(&t,
          BOX("car", "{0, 0, 0}") "hinge.slider { 'car', at = {0, 0, 0}, axis = {1, 0, 0}, stiffness = 50, "
                                  "damping = 4, rest = 0.3 }");
    advance(&t, 1.7);
    damped(50, 4, 2, 0.3, 1.7, &x, &rate);
    close_to(abut_sim_motion(t.sim, 0).center.x, x, 1e-8);
    close_to(abut_sim_motion(t.sim, 0).velocity.x, rate, 1e-7);
    close_to(abut_sim_motion(t.sim, 0).center.z, 0, 1e-9); /* the weight is the slider's to carry */
    finish(&t);
}

/* A torsion spring: I = m (0.2^2 + 0.2^2) / 12 about the axis through the centre. */
static void a_spring_on_a_pin(void **state) {
    (void)state;
    trial t;
    double angle, rate;
    start(&t,
          BOX("wheel", "{0, 0, 0}") "hinge.pin { 'wheel', at = {0, 0, 0}, axis = {0, 1, 0}, stiffness = 0.5, "
                                    "damping = 0.01, rest = 2 }");
    advance(&t, 1.3);
    damped(0.5, 0.01, 2 * 0.08 / 12, 2, 1.3, &angle, &rate);
    close_to(abut_sim_motion(t.sim, 0).spin.y, rate, 1e-6);
    close_to(atan2(abut_sim_motion(t.sim, 0).rotation.y, abut_sim_motion(t.sim, 0).rotation.w) * 2, angle,
             1e-7);
    finish(&t);
}

/* Two masses on a damped spring: the distance swings with the reduced mass, the centre stays. */
static void two_masses_on_a_spring(void **state) {
    (void)state;
    trial t;
    double x, rate;
    start(&t, NO_GRAVITY BOX("a", "{0, 0, 0}")
                  BOX("b", "{1, 0, 0}") "spring { 'a', 'b', length = 1.25, stiffness = "
                                        "30, damping = 2 }");
    advance(&t, 2);
    damped(30, 2, 1, 0.25, 2, &x, &rate);
    close_to(abut_sim_motion(t.sim, 1).center.x - abut_sim_motion(t.sim, 0).center.x, 1 + x, 1e-8);
    close_to(abut_sim_motion(t.sim, 1).center.x + abut_sim_motion(t.sim, 0).center.x, 1, 1e-9);
    finish(&t);
}

/* A bob on a rod, let go at a right angle: a quarter period is pi / (2 agm(1, cos 45)) sqrt(l / g) (Gauss),
 * and the speed at the bottom sqrt(2 g l). */
static void a_rod_swings(void **state) {
    (void)state;
    trial t;
    double a = 1, b = sqrt(0.5), l = 1.5;
    for (int i = 0; i < 6; i++) {
        double mean = (a + b) / 2;
        b = sqrt(a * b), a = mean;
    }
    start(&t, BOX("bob", "{1.5, 0, 0}") "hinge.rod { 'bob', at = {1.5, 0, 0}, at_b = {0, 0, 0} }");
    advance(&t, 2 * atan(1) / a * sqrt(l / 9.81));
    close_to(abut_sim_motion(t.sim, 0).center.x, 0, 1e-7);
    close_to(abut_sim_motion(t.sim, 0).center.z, -l, 1e-8);
    close_to(abut_sim_motion(t.sim, 0).velocity.x, -sqrt(2 * 9.81 * l), 1e-7);
    finish(&t);
}

/* x = r cos(w t) + sqrt(l^2 - r^2 sin(w t)^2), over several turns. */
static void a_motor_drives_a_slider_crank(void **state) {
    (void)state;
    trial t;
    double r = 0.3, l = 1, w = 6, end = 2.9, s = r * sin(w * end), root = sqrt(l * l - s * s);
    start(&t,
          "body { name = 'crank', shape = solid.box {0.3, 0.05, 0.05}, position = {0.15, 0, 0}, group = 1 }\n"
          "body { name = 'rod', shape = solid.box {1, 0.04, 0.04}, position = {0.8, 0, 0}, group = 1 }\n"
          "body { name = 'piston', shape = solid.box {0.2, 0.2, 0.2}, position = {1.3, 0, 0}, group = 1 }\n"
          "hinge.pin { 'crank', at = {0, 0, 0}, axis = {0, 1, 0}, motor = { speed = 6 } }\n"
          "hinge.pin { 'rod', 'crank', at = {0.3, 0, 0}, axis = {0, 1, 0} }\n"
          "hinge.pin { 'piston', 'rod', at = {1.3, 0, 0}, axis = {0, 1, 0} }\n"
          "hinge.slider { 'piston', at = {1.3, 0, 0}, axis = {1, 0, 0} }");
    advance(&t, end);
    close_to(abut_sim_motion(t.sim, 2).center.x, r * cos(w * end) + root, 1e-7);
    close_to(abut_sim_motion(t.sim, 2).velocity.x, -w * s - w * s * r * cos(w * end) / root, 1e-6);
    finish(&t);
}

/* A parallelogram: the coupler goes round without turning.  Its loop has three redundant rows. */
static void a_motor_drives_a_parallelogram(void **state) {
    (void)state;
    trial t;
    double r = 0.5, angle = 1.1 * 1.2;
    start(
        &t,
        "body { name = 'left', shape = solid.box {0.05, 0.05, 0.5}, position = {0, 0, 0.25}, group = 1 }\n"
        "body { name = 'right', shape = solid.box {0.05, 0.05, 0.5}, position = {1, 0, 0.25}, group = 1 }\n"
        "body { name = 'coupler', shape = solid.box {1, 0.05, 0.05}, position = {0.5, 0, 0.5}, group = 1 }\n"
        "hinge.pin { 'left', at = {0, 0, 0}, axis = {0, 1, 0}, motor = { speed = 1.1 } }\n"
        "hinge.pin { 'right', at = {1, 0, 0}, axis = {0, 1, 0} }\n"
        "hinge.pin { 'coupler', 'left', at = {0, 0, 0.5}, axis = {0, 1, 0} }\n"
        "hinge.pin { 'coupler', 'right', at = {1, 0, 0.5}, axis = {0, 1, 0} }");
    advance(&t, 1.2);
    abut_motion m = abut_sim_motion(t.sim, 2);
    close_to(m.center.x, 0.5 + r * sin(angle), 1e-8);
    close_to(m.center.z, r * cos(angle), 1e-8);
    close_to(m.spin.y, 0, 1e-9);
    finish(&t);
}

/* Hooke's joint, shafts at an angle of 0.5: tan(turned) = tan(angle) cos(0.5), and the ratio of the speeds is
 * cos(0.5) / (1 - sin(0.5)^2 sin(angle)^2). */
static void a_universal_joint_turns_unevenly(void **state) {
    (void)state;
    trial t;
    double w = 2, end = 1.9, c = cos(0.5), s = sin(0.5), angle = w * end,
           ratio = c / (1 - s * s * sin(angle) * sin(angle));
    start(&t, NO_GRAVITY BOX("one", "{-0.5, 0, 0}")
                  BOX("two", "{0.5 * math.cos(0.5), 0, 0.5 * math.sin(0.5)}, rotation = {-0.5, "
                             "0, 1, 0}") "local c, s = math.cos(0.5), math.sin(0.5)\n"
                                         "hinge.pin { 'one', at = {-0.5, 0, 0}, axis = {1, 0, "
                                         "0}, motor = { speed = 2 } }\n"
                                         "hinge.pin { 'two', at = {0.5 * c, 0, 0.5 * s}, axis = "
                                         "{c, 0, s} }\n"
                                         "hinge.universal { 'one', 'two', at = {0, 0, 0}, axis = "
                                         "{0, 1, 0}, axis_b = {-s, 0, c} }");
    advance(&t, end);
    abut_motion m = abut_sim_motion(t.sim, 1);
    close_to(m.spin.x * c + m.spin.z * s, ratio * w, 1e-7);
    close_to(m.spin.x * s - m.spin.z * c, 0, 1e-9);
    finish(&t);
}

/* A nut on a screw of p = 0.05 m a radian: z'' = -g m / (m + I / p^2), and z = p angle. */
static void a_nut_runs_down_a_screw(void **state) {
    (void)state;
    trial t;
    double p = 0.05, inertia = 2 * 0.08 / 12, a = -9.81 * 2 / (2 + inertia / (p * p)), end = 1.1;
    start(&t,
          BOX("nut", "{0, 0, 0}") "hinge.screw { 'nut', at = {0, 0, 0}, axis = {0, 0, 1}, pitch = 0.05 }");
    advance(&t, end);
    abut_motion m = abut_sim_motion(t.sim, 0);
    close_to(m.center.z, a * end * end / 2, 1e-8);
    close_to(m.velocity.z, a * end, 1e-8);
    close_to(m.spin.z, a * end / p, 1e-7);
    finish(&t);
}

/* A motor of bounded torque: torque / I until its speed is reached, then that speed. */
static void a_motor_has_a_bound(void **state) {
    (void)state;
    trial t;
    double inertia = 2 * 0.08 / 12, torque = 0.02, reached = inertia * 3 / torque;
    start(&t, NO_GRAVITY BOX("wheel",
                             "{0, 0, 0}") "hinge.pin { 'wheel', at = {0, 0, 0}, axis = {0, 0, 1}, motor = { "
                                          "speed = 3, max_force = 0.02 } }");
    advance(&t, reached / 2);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 1.5, 1e-8);
    advance(&t, reached + 1);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 3, 1e-8);
    finish(&t);
}

/* A wheel of inertia I that a motor of 0.02 N m turns at 3 rad/s, against a load of 0.04 t to t = 1, and none
 * from then on: it holds until 0.5, falls behind by 0.02 (t - 0.5)^2 / I, and catches up with 0.02 / I
 * after 1.25. The motor changes what it does three times; forces are smooth in between, so that steps are
 * those of frames. */
static void a_motor_may_be_too_weak(void **state) {
    (void)state;
    trial t;
    double inertia = 2 * 0.08 / 12;
    start(&t, NO_GRAVITY
          "body { name = 'wheel', shape = solid.box {0.2, 0.2, 0.2}, mass = 2, spin = {0, 0, 3} }\n"
          "hinge.pin { 'wheel', axis = {0, 0, 1}, motor = { speed = 3, max_force = 0.02 } }\n"
          "torque { 'wheel', value = function(t) return {0, 0, t < 1 and -0.04 * t or 0} end }");
    advance(&t, 0.45);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 3, 1e-12);
    advance(&t, 1);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 3 - 0.02 * 0.25 / inertia, 1e-8);
    advance(&t, 1.2);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 3 - 0.02 * 0.05 / inertia, 1e-8);
    advance(&t, 2);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 3, 1e-12);
    assert_true(abut_sim_steps(t.sim) < 2 * 40 + 40);
    finish(&t);
}

/* A door turns freely into its limit, stops there (the limit is inelastic), and a torque brings it back. */
static void a_door_meets_its_limit(void **state) {
    (void)state;
    trial t;
    double inertia = 2 * (0.08 / 12 + 0.25), back = -0.3 / inertia;
    start(&t, NO_GRAVITY
          "body { name = 'door', shape = solid.box {0.2, 0.2, 0.2}, mass = 2, position = {0.5, 0, 0}, "
          "velocity = {0, 1, 0}, spin = {0, 0, 2} }\n"
          "hinge.pin { 'door', at = {0, 0, 0}, axis = {0, 0, 1}, limits = {-1, 1.5} }\n"
          "torque { 'door', value = function(t) return {0, 0, t > 1 and -0.3 or 0} end }");
    advance(&t, 0.9);
    assert_non_null(nth(&t, ABUT_EVENT_LIMIT, 0));
    close_to(nth(&t, ABUT_EVENT_LIMIT, 0)->time, 0.75, 1e-9);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 0, 1e-10);
    close_to(abut_sim_motion(t.sim, 0).center.x, 0.5 * cos(1.5), 1e-9);
    advance(&t, 2);
    close_to(abut_sim_motion(t.sim, 0).spin.z, back, 1e-6);
    finish(&t);
}

/* A ball joint of 45 N carries m (g + 10 t) / ... : 2 (9.81 + 5 t) = 45 at t = 2.538; then the body falls. */
static void a_hinge_breaks(void **state) {
    (void)state;
    trial t;
    double breaks = (45 - 2 * 9.81) / 10, after = 0.3;
    start(&t, BOX("load", "{0, 0, 0}") "hinge.ball { 'load', at = {0, 0, 0}, break_force = 45 }\n"
                                       "force { 'load', value = function(t) return {0, 0, -10 * t} end }");
    advance(&t, breaks + after);
    assert_non_null(nth(&t, ABUT_EVENT_HINGE_BROKEN, 0));
    close_to(nth(&t, ABUT_EVENT_HINGE_BROKEN, 0)->time, breaks, 1e-8);
    double force = 45 / 2.0; /* at the break, and 5 (m/s2) a second more from then on */
    close_to(abut_sim_motion(t.sim, 0).velocity.z, -(force * after + 5 * after * after / 2), 1e-7);
    finish(&t);
}

/* What each of the other kinds leaves free falls, slides or turns as if alone. */
static void what_is_left_free_moves(void **state) {
    (void)state;
    trial t;
    double end = 0.8, fall = -9.81 * end * end / 2;
    start(
        &t,
        BOX("tube", "{0, 0, 0}, spin = {0, 0, 3}") BOX("puck", "{5, 0, 0}, velocity = {0, 1, 0}") BOX(
            "bead", "{10, 0, 0}") BOX("point", "{15, 0, 0}, velocity = {1, 0, 0}") BOX("one", "{20, 0, 0}")
            BOX("two", "{21, 0, 0}, velocity = {0, 1, 0}") "hinge.cylinder { 'tube', at = {0, 0, 0}, axis = "
                                                           "{0, 0, 1} }\n"
                                                           "hinge.planar { 'puck', at = {5, 0, 0}, axis = "
                                                           "{0.6, 0, 0.8} }\n"
                                                           "hinge.point_on_line { 'bead', at = {10, 0, 0}, "
                                                           "axis = {0.6, 0, 0.8} }\n"
                                                           "hinge.point_on_plane { 'point', at = {15, 0, 0}, "
                                                           "axis = {0, 0, 1} }\n"
                                                           "hinge.weld { 'one', 'two', at = {20.5, 0, 0} }");
    advance(&t, end);
    close_to(abut_sim_motion(t.sim, 0).center.z, fall, 1e-8);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 3, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).center.z, fall * 0.36, 1e-8); /* down the plane: g sin^2 */
    close_to(abut_sim_motion(t.sim, 1).center.y, end, 1e-8);
    close_to(abut_sim_motion(t.sim, 2).center.z, fall * 0.64, 1e-8); /* down the line: g cos^2 */
    close_to(abut_sim_motion(t.sim, 2).center.x, 10 + fall * 0.48, 1e-8);
    close_to(abut_sim_motion(t.sim, 3).center.z, 0, 1e-9);
    close_to(abut_sim_motion(t.sim, 3).center.x, 15 + end, 1e-8);
    abut_motion a = abut_sim_motion(t.sim, 4), b = abut_sim_motion(t.sim, 5);
    double dx = b.center.x - a.center.x, dy = b.center.y - a.center.y; /* momentum: 1/2 m/s, L = 1 kg m2/s */
    close_to((a.center.z + b.center.z) / 2, fall, 1e-8);
    close_to((a.center.y + b.center.y) / 2, end / 2, 1e-8);
    close_to(sqrt(dx * dx + dy * dy), 1, 1e-9);
    close_to(a.spin.z, 1 / (1 + 4 * 0.08 / 12), 1e-8);
    finish(&t);
}

/* Five boxes in one piece on a pin, pressed against its limit by a torque that turns round at 0.5 s.  Rows
 * that come after that of the limit are others when it is left (in the middle of a frame), and go on with
 * their own states: I angle'' = 12 (t - 0.5), I = sum of m (0.08/12 + x^2). */
static void what_follows_a_limit_that_is_left_holds_on(void **state) {
    (void)state;
    trial t;
    double inertia = 0;
    for (int i = 1; i <= 5; i++) inertia += 2 * (0.08 / 12 + 0.25 * i * i);
    start(&t, "world { gravity = {0, 0, 0}, frame = 1.5 }\n"
              "for i = 1, 5 do\n"
              "  body { shape = solid.box {0.2, 0.2, 0.2}, mass = 2, group = 1, position = {i / 2, 0, 0} }\n"
              "end\n"
              "hinge.pin { 'body1', at = {0, 0, 0}, axis = {0, 0, 1}, limits = {0, 3} }\n"
              "for i = 2, 5 do hinge.weld { 'body' .. i, 'body' .. i - 1 } end\n"
              "torque { 'body1', value = function(t) return {0, 0, 12 * t - 6} end }");
    advance(&t, 1.5);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 6 / inertia, 1e-8);
    close_to(abut_sim_motion(t.sim, 4).center.y, 2.5 * sin(2 / inertia), 1e-8);
    assert_int_equal(abut_sim_audit(t.sim).storms, 0);
    finish(&t);
}

/* A car is pressed against its limit by 1 N; a ball of a milligram bounces off it at 0.3 s, just before the
 * end of a frame, and sends it off with v = 2 m w / (m + M): it is back after 2 v M / F, four microseconds.
 */
static void a_flight_from_a_limit_may_be_short(void **state) {
    (void)state;
    trial t;
    double v = 2e-6 / (2 + 1e-6);
    start(&t, "world { gravity = {0, 0, 0}, frame = 1/60 }\nmaterial { restitution = 1 }\n" BOX(
                  "car", "{0, 0, 0}") "body { name = 'ball', shape = sphere {0.1}, mass = 1e-6, position = "
                                      "{-0.5, 0, 0}, velocity = {1, 0, 0} }\n"
                                      "hinge.slider { 'car', axis = {1, 0, 0}, limits = {0, 1} }\n"
                                      "force { 'car', value = {-1, 0, 0} }");
    advance(&t, 0.5);
    const abut_event *back = nth(&t, ABUT_EVENT_LIMIT, 1);
    assert_non_null(back);
    close_to(back->time, 0.3 + 4 * v, 1e-9);
    assert_null(nth(&t, ABUT_EVENT_LIMIT, 2));
    assert_int_equal(abut_sim_audit(t.sim).storms, 0);
    finish(&t);
}

static void keep_notice(void *user, abut_log_level level, const char *message) {
    (void)level;
    if (strstr(message, "contradict") || strstr(message, "velocities of the start"))
        snprintf(user, 256, "%s", message);
}

static void start_with_notices(trial *t, const char *text, char notice[256]) {
    abut_error error = {0};
    abut_context context = {.log = {keep_notice, notice}};
    assert_int_equal(abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &t->scene, &error),
                     ABUT_OK);
    assert_int_equal(abut_model_create(NULL, abut_scene_world(t->scene), &t->model, &error), ABUT_OK);
    assert_int_equal(abut_sim_create(&context, t->model, NULL, &t->sim, &error), ABUT_OK);
}

/* Two motors that want different speeds get the mean of both, which is least squares, and a notice with
 * names; two that want the same, and a hinge twice, get none. */
static void contradicting_hinges_are_told(void **state) {
    (void)state;
    for (int speed = 1; speed <= 2; speed++) {
        char text[1024], notice[256] = "";
        snprintf(text, sizeof text,
                 "body { name = 'wheel', shape = solid.box {1, 1, 1} }\n"
                 "hinge.pin { 'wheel', at = {0, 0, 0}, axis = {0, 0, 1}, motor = {speed = 1} }\n"
                 "hinge.pin { 'wheel', at = {0, 0, 0}, axis = {0, 0, 1}, motor = {speed = %d} }\n",
                 speed);
        trial t = {0};
        start_with_notices(&t, text, notice);
        advance(&t, 0.2);
        close_to(abut_sim_motion(t.sim, 0).spin.z, (1 + speed) / 2.0, 1e-9);
        assert_true(speed == 1 ? notice[0] == 0 : strstr(notice, "`wheel` and the ground") != NULL);
        finish(&t);
    }
}

/* A bob on a ball hinge at 1 m keeps what it has across the arm, w = v / l, and loses what it has along it,
 * which a notice tells with its size; one that is given nothing along it has no notice. */
static void velocities_that_do_not_fit_are_told(void **state) {
    (void)state;
    for (int along = 0; along <= 3; along += 3) {
        char text[1024], notice[256] = "";
        snprintf(
            text, sizeof text,
            "world { gravity = {0, 0, 0} }\n"
            "body { name = 'bob', shape = sphere {0.1}, mass = 1, inertia = {1, 1, 1}, position = {1, 0, 0}, "
            "velocity = {%d, 2, 0}, spin = {0, 0, 2} }\nhinge.ball { 'bob', at = {0, 0, 0} }\n",
            along);
        trial t = {0};
        start_with_notices(&t, text, notice);
        advance(&t, 0.5);
        close_to(abut_sim_motion(t.sim, 0).spin.z, 2, 1e-9);
        close_to(abut_sim_energy(t.sim).dissipated, 0.5 * along * along, 1e-9);
        assert_true(along == 0 ? notice[0] == 0 : strstr(notice, "`bob` is changed by 3 m/s") != NULL);
        finish(&t);
    }
}

/* So does the live clock, which names the hinge that would open. */
static void velocities_that_do_not_fit_are_told_live(void **state) {
    (void)state;
    for (int along = 0; along <= 3; along += 3) {
        char text[1024], notice[256] = "";
        snprintf(
            text, sizeof text,
            "world { mode = 'live', gravity = {0, 0, 0} }\n"
            "body { name = 'bob', shape = sphere {0.1}, mass = 1, inertia = {1, 1, 1}, position = {1, 0, 0}, "
            "velocity = {%d, 2, 0}, spin = {0, 0, 2} }\nhinge.ball { 'bob', at = {0, 0, 0} }\n",
            along);
        trial t = {0};
        start_with_notices(&t, text, notice);
        advance(&t, 0.5);
        close_to(abut_sim_motion(t.sim, 0).spin.z, 2, 1e-3);
        assert_true(along == 0 ? notice[0] == 0
                               : strstr(notice, "`bob` and the ground, would open at 3 m/s") != NULL);
        finish(&t);
    }
}

/* Sliders and a pin that came to their limits go on without a force on them, in no gravity: accelerations
 * that are rounding, whose residual means nothing. */
static void what_nothing_pushes_keeps_its_promises(void **state) {
    (void)state;
    trial t;
    start(&t, "world{duration=2,frame=1/60,gravity={0,0,0}}\n"
              "material{restitution=0,friction=0}\n"
              "body{name='a0',group='a',shape=ellipsoid{0.048121910862959194,0.06818350763869348,"
              "0.02984181888201251},mass=0.7214961391370006,position={0.006784784260892138,"
              "-0.04784375786941873,-0.022126217397652304},rotation={2.408961600782753,"
              "0.12965603554228028,-0.6571947105950677,0.7424853027591347},"
              "velocity={-0.7403837034629672,0.15909991579217944,1.173101358589632},spin={0,0,0}}\n"
              "body{name='a1',group='a',shape=cylinder{0.009596014041168013,0.06371700071129843},"
              "mass=0.7214961391370006,position={0.03203915546263201,-0.02055558310891728,"
              "-0.016376118923230706},rotation={1.67995806415867,-0.1111607346314341,"
              "0.12271420086373963,0.9861969965390148},velocity={0.49845197436136846,"
              "-0.2840759028564651,2.597211330482259},spin={0,0,0}}\n"
              "body{name='a2',group='a',shape=ellipsoid{0.07457348438953444,0.02641763455043118,"
              "0.029227952385722525},mass=0.7214961391370006,position={0.04521492826165602,"
              "-0.03564965112933538,-0.023206231543578294},rotation={0.688307623883819,"
              "0.8406638473760708,-0.03706821332784515,0.5402871859257294},"
              "velocity={0.7705572265824561,-0.13381682201573733,2.9330503251651523},"
              "spin={5.6337717652939645,-17.721268714863523,3.3641199478409782}}\n"
              "hinge.slider{'a0',at={0,0,0},axis={0.5302476961139655,-0.11394411223011033,"
              "-0.8401512483201603}}\n"
              "hinge.slider{'a1','a0',at={0.030378462453564008,-0.003781747629135246,"
              "-0.019715460090838355},axis={0.6389480286997712,-0.22857455654672476,"
              "0.7345060168032286},limits={-0.020238421490988805,0.1601314012124272}}\n"
              "hinge.pin{'a1','a2',at={0.024053874932705277,-0.02869840793374659,"
              "-0.009171094425212616},axis={-0.29812904717985894,0.9377775985401198,"
              "-0.17802316395333334},limits={-0.31174729218555464,0.496120297133032}}\n");
    advance(&t, 2);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradicting_hinges_are_told),
        cmocka_unit_test(velocities_that_do_not_fit_are_told),
        cmocka_unit_test(velocities_that_do_not_fit_are_told_live),
        cmocka_unit_test(a_spring_on_a_slider),
        cmocka_unit_test(a_spring_on_a_pin),
        cmocka_unit_test(two_masses_on_a_spring),
        cmocka_unit_test(a_rod_swings),
        cmocka_unit_test(a_motor_drives_a_slider_crank),
        cmocka_unit_test(a_motor_drives_a_parallelogram),
        cmocka_unit_test(a_universal_joint_turns_unevenly),
        cmocka_unit_test(a_nut_runs_down_a_screw),
        cmocka_unit_test(a_motor_has_a_bound),
        cmocka_unit_test(a_motor_may_be_too_weak),
        cmocka_unit_test(a_door_meets_its_limit),
        cmocka_unit_test(a_hinge_breaks),
        cmocka_unit_test(what_is_left_free_moves),
        cmocka_unit_test(what_follows_a_limit_that_is_left_holds_on),
        cmocka_unit_test(a_flight_from_a_limit_may_be_short),
        cmocka_unit_test(what_nothing_pushes_keeps_its_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
