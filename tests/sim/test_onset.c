/* The beginning of slip in a direction that turns, against the equation of motion of the slip alone.
 *
 * A force m (p t, q t^2, 0) at the centre of a body on the floor, which sticks until f mu g is reached:
 *
 *     u' = (p t, q t^2) - f mu g u / |u|,     f = 1 for a block, 7/2 for a ball that rolled (1 + m r^2 / I)
 *
 * from u = 0 where |(p t, q t^2)| = f mu g.  Here it is integrated by steps of a hundredth of |u| / (f mu g),
 * from where the slip has grown for START along its slow motion; what is wrong there is forgotten at once. */
#include "trial.h"

#define P     3.0
#define Q     40.0
#define MU    0.3
#define G     10.0
#define END   0.7
#define START 2e-5

static void slip_rate(double f, double t, const double u[2], double rate[2]) {
    double speed = hypot(u[0], u[1]);
    rate[0] = P * t - f * MU * G * u[0] / speed, rate[1] = Q * t * t - f * MU * G * u[1] / speed;
}

static double onset(double f) {
    double lo = 0, hi = 10;
    for (int i = 0; i < 200; i++) {
        double t = (lo + hi) / 2;
        if (hypot(P * t, Q * t * t) < f * MU * G)
            lo = t;
        else
            hi = t;
    }
    return hi;
}

/* The slip at END, and how far it went, by Runge's and Kutta's steps. */
static void integrate(double f, double u[2], double way[2]) {
    double t = onset(f) + START, size = hypot(P * t, Q * t * t), grown = 0.5 * START * (size - f * MU * G);
    u[0] = grown * P * t / size, u[1] = grown * Q * t * t / size, way[0] = way[1] = 0;
    while (t < END) {
        double h = fmin(0.01 * hypot(u[0], u[1]) / (f * MU * G), END - t), k[4][2], v[4][2];
        h = fmin(h, 1e-4);
        for (int s = 0; s < 4; s++) {
            double part = s == 0 ? 0 : s == 3 ? h : h / 2;
            for (int i = 0; i < 2; i++) v[s][i] = u[i] + (s > 0 ? part * k[s - 1][i] : 0);
            slip_rate(f, t + part, v[s], k[s]);
        }
        for (int i = 0; i < 2; i++) {
            way[i] += h / 6 * (v[0][i] + 2 * v[1][i] + 2 * v[2][i] + v[3][i]);
            u[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
        }
        t += h;
    }
}

static void run(trial *t, const char *shape) {
    char text[600];
    snprintf(text, sizeof text,
             "world { gravity = {0, 0, %.17g}, frame = 1/60 }\nmaterial { friction = %.17g }" FLOOR
             "body { name = 'b', %s, mass = 2 }\n"
             "force { body = 'b', value = function(t) return {2 * %.17g * t, 2 * %.17g * t * t, 0} end }",
             -G, MU, shape, P, Q);
    start(t, text);
    advance(t, END);
}

/* One slip, at its time, to the integrator's digits, and no time stepping on the way. */
static void check_onset(trial *t, double f) {
    const abut_event *slip = nth(t, ABUT_EVENT_SLIP, 0);
    assert_non_null(slip);
    assert_null(nth(t, ABUT_EVENT_SLIP, 1));
    assert_null(nth(t, ABUT_EVENT_STICK, 1));
    close_to(slip->time, onset(f), 1e-8);
    assert_int_equal(abut_sim_audit(t->sim).storms, 0);
}

static void a_block_begins_to_slip(void **state) {
    (void)state;
    trial t;
    double u[2], way[2];
    run(&t, "shape = solid.box {1, 1, 0.1}, position = {0, 0, 0.05}");
    integrate(1, u, way);
    check_onset(&t, 1);
    abut_motion m = abut_sim_motion(t.sim, 1);
    close_to(m.velocity.x, u[0], 1e-8), close_to(m.velocity.y, u[1], 1e-8);
    close_to(m.center.x, way[0], 1e-8), close_to(m.center.y, way[1], 1e-8);
    finish(&t);
}

/* u = v - r w x z; the friction's impulse J changes v by J/m and u by 7/2 J/m. */
static void a_rolling_ball_begins_to_slip(void **state) {
    (void)state;
    trial t;
    double u[2], way[2];
    run(&t, "shape = sphere {0.1}, position = {0, 0, 0.1}");
    integrate(3.5, u, way);
    check_onset(&t, 3.5);
    abut_motion m = abut_sim_motion(t.sim, 1);
    double slip[2] = {m.velocity.x - 0.1 * m.spin.y, m.velocity.y + 0.1 * m.spin.x};
    close_to(slip[0], u[0], 1e-8), close_to(slip[1], u[1], 1e-8);
    /* v = 2/7 u + 5/7 (impulse of the force) / m */
    close_to(m.velocity.x, 2 * u[0] / 7 + 5 * P * END * END / 14, 1e-8);
    close_to(m.velocity.y, 2 * u[1] / 7 + 5 * Q * END * END * END / 21, 1e-8);
    finish(&t);
}

/* A box dropped on a corner sticks, begins to slip, and is never let go of before another corner lands: a
 * tenth of the weight presses on it all the while. */
static void a_dropped_box_keeps_its_corner(void **state) {
    (void)state;
    trial t;
    start(&t,
          "world { frame = 1/60 }\nmaterial { friction = 0.4, restitution = 0 }" FLOOR
          "body { shape = solid.box {0.44, 0.4, 0.9}, position = {0, 0, 0.6}, rotation = {0.5, 1, 2, 0.3},"
          " density = 600 }");
    advance(&t, 1.5);
    assert_int_equal(abut_sim_audit(t.sim).storms, 0);
    assert_non_null(nth(&t, ABUT_EVENT_SLIP, 0));
    assert_null(nth(&t, ABUT_EVENT_CONTACT_LOST, 0));
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_block_begins_to_slip),
                                       cmocka_unit_test(a_rolling_ball_begins_to_slip),
                                       cmocka_unit_test(a_dropped_box_keeps_its_corner)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
