/* Faces that press uniformly, through the exact clock. */
#include <stdarg.h>

#include "trial.h"

#include "dynamics/pressure.h"

#define UNIFORM "material { friction = %g, pressure = 'uniform' }\n"

/* A plate whose centre of mass lies in the plane of contact. */
#define PLATE                                                                                              \
    "body { name = 'plate', shape = solid.box {%.17g, %.17g, 0.1}, position = {0, 0, 0.05}, mass = 2, "    \
    "center = {0, 0, -0.05}, inertia = {1, 1, %.17g}, velocity = {%.17g, %.17g, 0}, spin = {0, 0, %.17g} " \
    "}\n"

static void start_scene(trial *t, const char *format, ...) {
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    start(t, text);
}

/* Turn about z. */
static double angle_of(const abut_motion *m) { return 2 * atan2(m->rotation.z, m->rotation.w); }

/* A square that spins about its centre stops after w I/(0.3826 mu N a), having turned half of w times that.
 */
static void spinning_square_stops(void **state) {
    (void)state;
    trial t;
    const double mu = 0.4, side = 0.8, inertia = 0.3, spin = 3;
    start_scene(&t, "world { gravity = {0, 0, -9.81} }\n" UNIFORM FLOOR PLATE, mu, side, side, inertia, 0.0,
                0.0, spin);
    advance(&t, 1);
    double stop = spin * inertia / (mu * 2 * 9.81 * side * 0.38259785823210635);
    const abut_event *e = nth(&t, ABUT_EVENT_STICK, 0);
    assert_non_null(e);
    close_to(e->time, stop, 1e-9);
    abut_motion m = abut_sim_motion(t.sim, 1);
    close_to(angle_of(&m), spin * stop / 2, 1e-8);
    finish(&t);
}

/* The same as an ordinary differential equation of the plane, by the rule of Runge and Kutta with many steps:
 * until the energy is gone.  y: place, angle, velocities. */
static void fall_rates(const border_piece *border, int count, double size, double mu_g, double gyration,
                       const double y[6], double rate[6]) {
    double c = cos(y[2]), s = sin(y[2]), g[3][3], m[3][3];
    const double q[3] = {c * y[3] + s * y[4], -s * y[3] + c * y[4], y[5] * size};
    border_slip(border, count, q, g);
    border_moments(border, count, m);
    double fx = -mu_g * g[0][0] / m[0][0], fy = -mu_g * g[1][0] / m[0][0];
    rate[0] = y[3], rate[1] = y[4], rate[2] = y[5];
    rate[3] = c * fx - s * fy, rate[4] = s * fx + c * fy;
    rate[5] = -mu_g * g[2][0] / m[0][0] * size / gyration; /* torque per mass over k^2 */
}

static double run_plane(const border_piece *border, int count, double size, double mu_g, double gyration,
                        double y[6], double *ratio) {
    double time = 0;
    for (int step = 0; step < 200000; step++) {
        double speed = sqrt(y[3] * y[3] + y[4] * y[4]) + size * fabs(y[5]);
        if (speed < 1e-8) break;
        double h = fmin(2e-4, 0.02 * speed / mu_g), k[4][6], z[6];
        for (int stage = 0; stage < 4; stage++) {
            double part = stage == 0 ? 0 : stage == 3 ? h : h / 2;
            for (int i = 0; i < 6; i++) z[i] = y[i] + (stage ? part * k[stage - 1][i] : 0);
            fall_rates(border, count, size, mu_g, gyration, z, k[stage]);
        }
        for (int i = 0; i < 6; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
        time += h;
        if (speed > 1e-6) *ratio = sqrt(y[3] * y[3] + y[4] * y[4]) / fabs(y[5]);
    }
    return time;
}

static void same_as_plane(const char *body, const border_piece *border, int count, double size, double mu,
                          double gyration, const double start_at[6], double wanted_ratio) {
    trial t;
    start_scene(&t, "world { gravity = {0, 0, -9.81} }\n" UNIFORM FLOOR "%s", mu, body);
    double y[6], ratio = 0;
    memcpy(y, start_at, sizeof y);
    double stop = run_plane(border, count, size, mu * 9.81, gyration, y, &ratio);
    advance(&t, 2);
    const abut_event *e = nth(&t, ABUT_EVENT_STICK, 0);
    assert_non_null(e);
    assert_null(nth(&t, ABUT_EVENT_STICK, 1)); /* sliding and spinning end together */
    assert_null(nth(&t, ABUT_EVENT_SLIP, 0));
    abut_motion m = abut_sim_motion(t.sim, 1);
    close_to(e->time, stop, 1e-7);
    close_to(m.center.x, y[0], 1e-7);
    close_to(m.center.y, y[1], 1e-7);
    close_to(angle_of(&m), y[2], 1e-7);
    close_to(vec3_length(m.velocity) + vec3_length(m.spin), 0, 0);
    if (wanted_ratio > 0) close_to(ratio, wanted_ratio, 1e-3);
    finish(&t);
}

/* A disc that slides and spins stops in both at once, and at the end always with v/(w R) = 0.653 (Farkas,
 * Bartels, Unger and Wolf 2003). */
static void sliding_and_spinning_end_together(void **state) {
    (void)state;
    const double zero[2] = {0, 0};
    border_piece disc[8];
    border_circle(zero, 1, disc);
    const double fast[6] = {0, 0, 0, 0.5, 0, 9}, slow[6] = {0, 0, 0, 1.5, 0, 2};
    const char *text = "body { name = 'puck', shape = cylinder {radius = 0.3, height = 0.1}, mass = 2, "
                       "center = {0, 0, -0.05}, inertia = {1, 1, 0.09}, position = {0, 0, 0.05}, "
                       "velocity = {%g, 0, 0}, spin = {0, 0, %g} }";
    char body[512];
    for (int i = 0; i < 2; i++) {
        const double *y = i ? slow : fast;
        snprintf(body, sizeof body, text, y[3], y[5]);
        same_as_plane(body, disc, 8, 0.3, 0.25, 0.09 / 2, y, 0.653 * 0.3);
    }
}

/* A long plate that slides and spins turns aside. */
static void plate_turns_aside(void **state) {
    (void)state;
    border_piece p[4];
    const double corners[4][2] = {{-0.5, -0.15}, {0.5, -0.15}, {0.5, 0.15}, {-0.5, 0.15}};
    for (int i = 0; i < 4; i++) p[i] = border_edge(corners[i], corners[(i + 1) % 4]);
    const double y[6] = {0, 0, 0, 1, 0.3, 4};
    char body[512];
    snprintf(body, sizeof body, PLATE, 1.0, 0.3, 0.2, y[3], y[4], y[5]);
    same_as_plane(body, p, 4, 1, 0.3, 0.2 / 2, y, 0);
}

/* A torque that grows slowly turns a plate when it reaches 0.3826 mu_static N a. */
static void torque_lets_slip(void **state) {
    (void)state;
    trial t;
    start_scene(&t,
                "world { gravity = {0, 0, -10} }\n"
                "material { friction = {static = 0.5, dynamic = 0.4}, pressure = 'uniform' }\n" FLOOR PLATE
                "torque { 'plate', value = function(t) return {0, 0, 5 * t} end }\n",
                1.0, 1.0, 1.0 / 3, 0.0, 0.0, 0.0);
    advance(&t, 1);
    const abut_event *e = nth(&t, ABUT_EVENT_SLIP, 0);
    assert_non_null(e);
    close_to(e->time, 0.5 * 20 * 0.38259785823210635 / 5, 1e-8);
    finish(&t);
}

/* Pressure at the vertices is the default: the same plate spins against mu N a/sqrt 2. */
static void vertices_are_the_default(void **state) {
    (void)state;
    trial t;
    start_scene(&t, "world { gravity = {0, 0, -10} }\nmaterial { friction = 0.5 }\n" FLOOR PLATE, 1.0, 1.0,
                1.0, 0.0, 0.0, 2.0);
    advance(&t, 1);
    close_to(nth(&t, ABUT_EVENT_STICK, 0)->time, 2 / (0.5 * 20 * sqrt(0.5)), 1e-9);
    finish(&t);
}

/* A box that slides over the edge of a table while it spins tips there without a storm. */
static void box_tips_over_an_edge(void **state) {
    (void)state;
    trial t;
    start_scene(
        &t,
        "world { gravity = {0, 0, -10} }\n" UNIFORM
        "body { name = 'table', shape = solid.box {2, 2, 1}, position = {0, 0, -0.5}, fixed = true }\n"
        "body { name = 'box', shape = solid.box {0.5, 0.4, 0.3}, position = {0.3, 0, 0.15}, "
        "velocity = {2, 0.1, 0}, spin = {0, 0, 3} }\n",
        0.2);
    advance(&t, 0.8);
    assert_true(abut_sim_motion(t.sim, 1).center.z < 0);
    assert_int_equal(abut_sim_audit(t.sim).storms, 0);
    finish(&t);
}

/* A tall box that slides and spins leans on its front: the pressed part ends before its back, and all
 * promises hold until it rests. */
static void leaning_box_rests(void **state) {
    (void)state;
    trial t;
    start_scene(&t,
                "world { gravity = {0, 0, -10} }\n" UNIFORM FLOOR
                "body { name = 'box', shape = solid.box {0.5, 0.4, 0.6}, position = {0, 0, 0.3}, "
                "velocity = {2, 0, 0}, spin = {0, 0, 3} }\n",
                0.5);
    advance(&t, 2);
    assert_non_null(nth(&t, ABUT_EVENT_STICK, 0));
    close_to(vec3_length(abut_sim_motion(t.sim, 1).velocity), 0, 0);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spinning_square_stops),    cmocka_unit_test(sliding_and_spinning_end_together),
        cmocka_unit_test(plate_turns_aside),        cmocka_unit_test(torque_lets_slip),
        cmocka_unit_test(vertices_are_the_default), cmocka_unit_test(box_tips_over_an_edge),
        cmocka_unit_test(leaning_box_rests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
