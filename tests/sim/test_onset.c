/* The beginning of slip in a direction that turns, against the equation of motion of the slip alone.
 *
 * A force m (p t, q t^2, 0) at the centre of a body on the floor, which sticks until f mu g is reached:
 *
 *     u' = (p t, q t^2) - f mu g u / |u|,     f = 1 for a block, 7/2 for a ball that rolled (1 + m r^2 / I)
 *
 * from u = 0 where |(p t, q t^2)| = f mu g.  Here it is integrated by steps of a hundredth of |u| / (f mu g),
 * from where the slip has grown for START along its slow motion; what is wrong there is forgotten at once.
 *
 * A ball of patches is handed to contact coordinates, which know no applied forces: there the floor moves by
 * -(p t^3 / 6, q t^4 / 12, 0), and all speeds are those against it.  With friction enough, and a rolling
 * resistance R, the ball stands until |(p t, q t^2)| = R g / r, and then rolls at the speed v of
 *
 *     v' = 5/7 ((p t, q t^2) - R g / r  v / |v|). */
#include "abut/surface.h"
#include "trial.h"

#define P     3.0
#define Q     40.0
#define MU    0.3
#define G     10.0
#define END   0.7
#define START 2e-5

/* share ((p t, q t^2) - f mu g u / |u|) */
static void slip_rate(double f, double share, double t, const double u[2], double rate[2]) {
    double speed = hypot(u[0], u[1]);
    rate[0] = share * (P * t - f * MU * G * u[0] / speed);
    rate[1] = share * (Q * t * t - f * MU * G * u[1] / speed);
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
static void integrate(double f, double share, double u[2], double way[2]) {
    double t = onset(f) + START, size = hypot(P * t, Q * t * t);
    double grown = 0.5 * START * share * (size - f * MU * G);
    u[0] = grown * P * t / size, u[1] = grown * Q * t * t / size, way[0] = way[1] = 0;
    while (t < END) {
        double h = fmin(0.01 * hypot(u[0], u[1]) / (f * MU * G), END - t), k[4][2], v[4][2];
        h = fmin(h, 1e-4);
        for (int s = 0; s < 4; s++) {
            double part = s == 0 ? 0 : s == 3 ? h : h / 2;
            for (int i = 0; i < 2; i++) v[s][i] = u[i] + (s > 0 ? part * k[s - 1][i] : 0);
            slip_rate(f, share, t + part, v[s], k[s]);
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
    integrate(1, 1, u, way);
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
    integrate(3.5, 1, u, way);
    check_onset(&t, 3.5);
    abut_motion m = abut_sim_motion(t.sim, 1);
    double slip[2] = {m.velocity.x - 0.1 * m.spin.y, m.velocity.y + 0.1 * m.spin.x};
    close_to(slip[0], u[0], 1e-8), close_to(slip[1], u[1], 1e-8);
    /* v = 2/7 u + 5/7 (impulse of the force) / m */
    close_to(m.velocity.x, 2 * u[0] / 7 + 5 * P * END * END / 14, 1e-8);
    close_to(m.velocity.y, 2 * u[1] / 7 + 5 * Q * END * END * END / 21, 1e-8);
    finish(&t);
}

/* ---- contact coordinates */

static const double radius = 0.1;

/* A ball of patches on a floor that moves. */
static void run_patches(trial *t, const char *friction) {
    char text[600];
    snprintf(text, sizeof text,
             "world { gravity = {0, 0, %.17g}, frame = 1/60 }\nmaterial { friction = %s }"
             "body { name = 'floor', shape = halfspace { normal = {0, 0, 1}, offset = 0 }, kinematic = true,"
             " motion = function(t) return {-%.17g * t^3 / 6, -%.17g * t^4 / 12, 0} end }\n"
             "body { name = 'b', shape = sphere {%.17g}, position = {0, 0, %.17g}, mass = 2 }",
             -G, friction, P, Q, radius, radius);
    abut_error error = {0};
    abut_surface *surface = NULL;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{radius, 0, 0}, {0, radius, 0}, {0, 0, radius}};
    *t = (trial){0};
    if (abut_surface_quadric(NULL, &q, &surface, &error) != ABUT_OK ||
        abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &t->scene, &error) != ABUT_OK)
        fail_msg("%d: %s", error.line, error.message);
    abut_world_def world = *abut_scene_world(t->scene);
    abut_body_def bodies[2] = {world.bodies[0], world.bodies[1]};
    bodies[1].shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface};
    world.bodies = bodies;
    abut_sim_options options = {.user = t, .event = keep_event};
    if (abut_model_create(NULL, &world, &t->model, &error) != ABUT_OK ||
        abut_sim_create(NULL, t->model, &options, &t->sim, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    advance(t, END);
    assert_non_null(nth(t, ABUT_EVENT_ROLLING_BEGINS, 0));
    assert_null(nth(t, ABUT_EVENT_ROLLING_ENDS, 0));
    assert_int_equal(abut_sim_audit(t->sim).storms, 0);
    abut_surface_free(NULL, surface);
}

/* Speed and place of the ball against the floor. */
static abut_motion against_the_floor(const trial *t) {
    abut_motion m = abut_sim_motion(t->sim, 1);
    double t2 = END * END;
    m.velocity.x += P * t2 / 2, m.velocity.y += Q * t2 * END / 3;
    m.center.x += P * t2 * END / 6, m.center.y += Q * t2 * t2 / 12;
    return m;
}

static void a_ball_of_patches_begins_to_slip(void **state) {
    (void)state;
    trial t;
    double u[2], way[2];
    run_patches(&t, "0.3");
    integrate(3.5, 1, u, way);
    check_onset(&t, 3.5);
    abut_motion m = against_the_floor(&t);
    double slip[2] = {m.velocity.x - radius * m.spin.y, m.velocity.y + radius * m.spin.x};
    close_to(slip[0], u[0], 1e-8), close_to(slip[1], u[1], 1e-8);
    close_to(m.velocity.x, 2 * u[0] / 7 + 5 * P * END * END / 14, 1e-8);
    close_to(m.velocity.y, 2 * u[1] / 7 + 5 * Q * END * END * END / 21, 1e-8);
    finish(&t);
}

static void a_ball_of_patches_begins_to_roll(void **state) {
    (void)state;
    trial t;
    double v[2], way[2];
    run_patches(&t, "{ static = 5, dynamic = 5, rolling = 0.03, spinning = 0 }"); /* R / r = MU */
    integrate(1, 5.0 / 7, v, way);
    abut_motion m = against_the_floor(&t);
    close_to(m.velocity.x, v[0], 1e-8), close_to(m.velocity.y, v[1], 1e-8);
    close_to(m.center.x, way[0], 1e-8), close_to(m.center.y, way[1], 1e-8);
    close_to(m.spin.x, -v[1] / radius, 1e-7), close_to(m.spin.y, v[0] / radius, 1e-7);
    finish(&t);
}

/* Bodies whose slip (an egg that is not round across) and rolling (on one stable place) begin and end many
 * times: never in a storm. */
static void smooth_bodies_need_no_time_steps(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "material { friction = { static = 0.25, dynamic = 0.2 } }\n"
        "body { shape = surface.loop { 'meshes/egg-cage.obj', scale = 0.03 }, position = {0, 0, 0.023},"
        " rotation = {math.pi / 2 - 0.05, 0, 1, 0}, spin = {0, 0, 90} }",
        "material { friction = { static = 0.6, dynamic = 0.6, rolling = 0.0005, spinning = 0.0005 } }\n"
        "body { shape = surface.loop { 'meshes/egg-cage.obj', scale = 0.05 }, mass = 0.5,"
        " center = {0, 0, 0.02}, inertia = {3e-4, 3e-4, 2e-4}, position = {0, 0, 0.047},"
        " rotation = {math.rad(100), 0.3, 1, 0} }"};
    for (int i = 0; i < 2; i++) {
        char text[800];
        abut_error error = {0};
        trial t = {0};
        snprintf(text, sizeof text, "world { frame = 1/60 }\n" FLOOR "%s", bodies[i]);
        if (abut_scene_read(NULL, text, strlen(text), "test.lua", ABUT_SOURCE "/scenes", NULL, &t.scene,
                            &error) != ABUT_OK ||
            abut_model_create(NULL, abut_scene_world(t.scene), &t.model, &error) != ABUT_OK)
            fail_msg("%d: %s", error.line, error.message);
        abut_sim_options options = {.user = &t, .event = keep_event};
        if (abut_sim_create(NULL, t.model, &options, &t.sim, &error) != ABUT_OK)
            fail_msg("%s", error.message);
        advance(&t, i == 0 ? 2 : 8);
        assert_int_equal(abut_sim_audit(t.sim).storms, 0);
        if (i == 0) assert_non_null(nth(&t, ABUT_EVENT_SLIP, 20));
        finish(&t);
    }
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

/* A slab slides across a slope, and its slip turns until it ends: u' = a - k u/|u| with a down the slope and
 * k = mu N / m gives (k |u| + a.u)' = a^2 - k^2, so that it stops after (k |u| + a.u) / (k^2 - a^2). */
static void slip_that_turns_ends_in_time(void **state) {
    (void)state;
    const double down[] = {0.5, 2, 4}, k = 0.5 * 9, u[2] = {-0.7, 1.3};
    for (int i = 0; i < 3; i++) {
        trial t;
        char text[512];
        snprintf(
            text, sizeof text,
            "world { gravity = {%g, 0, -9}, frame = 1/50 }\nmaterial { friction = 0.5 }\n" FLOOR
            "body { shape = solid.box {0.4, 0.3, 0.02}, position = {0, 0, 0.01}, velocity = {%g, %g, 0} }",
            down[i], u[0], u[1]);
        start(&t, text);
        double a = down[i], end = (k * sqrt(u[0] * u[0] + u[1] * u[1]) + a * u[0]) / (k * k - a * a);
        advance(&t, ceil(50 * end) / 50 + 0.1);
        const abut_event *stick = nth(&t, ABUT_EVENT_STICK, 0);
        assert_non_null(stick);
        close_to(stick->time, end, 1e-9);
        assert_null(nth(&t, ABUT_EVENT_STICK, 1));
        abut_motion m = abut_sim_motion(t.sim, 1);
        close_to(sqrt(m.velocity.x * m.velocity.x + m.velocity.y * m.velocity.y), 0, 1e-12);
        assert_int_equal(abut_sim_audit(t.sim).storms, 0);
        finish(&t);
    }
}

/* A slab that slides up a slope too steep to hold it: its slip comes near zero, turns round within
 * microseconds and goes on downhill.  Each of its feet alone would stick there: with so little inertia about
 * the middle (r^2 m / I = 7) a foot by itself is stopped by twice the friction that the slab has in all. Slip
 * that was ended early for that must get its velocity back.  Of u' = a - k u/|u| stays (k |u| + a.u)' = a^2 -
 * k^2, and once u lies along a (the angle goes like the power a / (a - k) of 1 / |u|) this is (k + a) |u|. */
static void slip_that_turns_round_goes_on(void **state) {
    (void)state;
    const double a = 4.6, k = 0.5 * 9, u[2] = {-0.05, 0.001}, end = 0.2, arm = 0.15;
    trial t;
    char text[600];
    snprintf(text, sizeof text,
             "world { gravity = {%g, 0, -9}, frame = 1/50 }\nmaterial { friction = 0.5 }\n" FLOOR
             "body { shape = solid.box {0.4, 0.3, 0.002}, position = {0, 0, 0.001}, velocity = {%g, %g, 0},"
             " mass = 1, inertia = {1, 1, %.17g} }",
             a, u[0], u[1], arm * arm / 7);
    start(&t, text);
    advance(&t, end);
    abut_motion m = abut_sim_motion(t.sim, 1);
    double speed = ((a * a - k * k) * end + k * sqrt(u[0] * u[0] + u[1] * u[1]) + a * u[0]) / (k + a);
    /* Slower than 1e-5 k T the direction that friction takes may be off by 0.1 rad (dynamics/onset.h) for the
     * |u| / k + 1e-4 T = 2e-5 s in which it turns: a k 0.1^2 / 2 times that, over k + a, is 2e-7.  Ended
     * early, the slab would be 5e-6 slower. */
    close_to(m.velocity.x, speed, 3e-7);
    close_to(m.velocity.y, 0, 1e-8);
    assert_null(nth(&t, ABUT_EVENT_STICK, 0));
    assert_int_equal(abut_sim_audit(t.sim).storms, 0);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_block_begins_to_slip),
                                       cmocka_unit_test(a_rolling_ball_begins_to_slip),
                                       cmocka_unit_test(a_ball_of_patches_begins_to_slip),
                                       cmocka_unit_test(a_ball_of_patches_begins_to_roll),
                                       cmocka_unit_test(slip_that_turns_ends_in_time),
                                       cmocka_unit_test(slip_that_turns_round_goes_on),
                                       cmocka_unit_test(smooth_bodies_need_no_time_steps),
                                       cmocka_unit_test(a_dropped_box_keeps_its_corner)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
