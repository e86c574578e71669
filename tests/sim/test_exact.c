/* The exact clock against closed forms. */
#include "trial.h"

/* Impacts at t1 (1 + 2 (e + ... + e^(n-1))), t1 = sqrt(2 h / g). */
static void a_ball_bounces_to_rest(void **state) {
    (void)state;
    trial t;
    start(&t, "material { restitution = 0.5 }" FLOOR "body { shape = sphere {0.1}, position = {0, 0, 1.1} }");
    advance(&t, 2);
    double t1 = sqrt(2 / 9.81);
    close_to(nth(&t, ABUT_EVENT_IMPACT, 0)->time, t1, 1e-12);
    close_to(nth(&t, ABUT_EVENT_IMPACT, 1)->time, 2 * t1, 1e-12);
    close_to(nth(&t, ABUT_EVENT_IMPACT, 2)->time, 2.5 * t1, 1e-12);
    close_to(abut_sim_motion(t.sim, 1).center.z, 0.1, 1e-12);
    assert_non_null(nth(&t, ABUT_EVENT_CONTACT_MADE, 0));
    finish(&t);
}

/* A ball that slides stops slipping at 2 v / (7 mu g) and rolls on with 5/7 of its speed. */
static void a_ball_slides_then_rolls(void **state) {
    (void)state;
    trial t;
    start(&t, "material { friction = 0.2 }" FLOOR
              "body { shape = sphere {0.1}, position = {0, 0, 0.1}, velocity = {2, 0, 0} }");
    advance(&t, 1);
    close_to(nth(&t, ABUT_EVENT_STICK, 0)->time, 2 * 2 / (7 * 0.2 * 9.81), 1e-9);
    close_to(abut_sim_motion(t.sim, 1).velocity.x, 10.0 / 7, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).spin.y, 10.0 / 7 / 0.1, 1e-8);
    finish(&t);
}

/* A block on a slope: it stands for a minute where friction suffices, and slides as a = g (sin - mu cos)
 * where it does not. */
static void a_block_sticks_or_slides(void **state) {
    (void)state;
    trial t;
    static const char text[] =
        "world { gravity = {9.81 * 0.6, 0, -9.81 * 0.8}, frame = 1/20 }\n" FLOOR
        "body { shape = solid.box {0.4, 0.4, 0.2}, position = {0, 0, 0.1} }\nmaterial { friction = %s }";
    char line[512];
    snprintf(line, sizeof line, text, "0.76");
    start(&t, line);
    advance(&t, 60);
    close_to(abut_sim_motion(t.sim, 1).center.x, 0, 1e-9);
    finish(&t);
    snprintf(line, sizeof line, text, "0.5");
    start(&t, line);
    advance(&t, 1);
    close_to(abut_sim_motion(t.sim, 1).center.x, 0.5 * 9.81 * (0.6 - 0.5 * 0.8), 1e-9);
    finish(&t);
}

/* A box slides off a table: frictionless, its centre passes the edge at t = d / v, and from then on it tips.
 */
static void a_box_tips_over_the_edge(void **state) {
    (void)state;
    trial t;
    start(&t, "world { frame = 1/100 }\nbody { name = 'table', shape = solid.box {2, 2, 1}, fixed = true, "
              "position = {0, 0, -0.5} }\n"
              "body { name = 'box', shape = solid.box {1, 1, 0.5}, position = {0.25, 0, 0.25}, velocity = "
              "{1, 0, 0} }");
    advance(&t, 0.75);
    close_to(abut_sim_motion(t.sim, 1).center.x, 1, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).center.z, 0.25, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).spin.y, 0, 1e-9);
    advance(&t, 0.8);
    assert_true(abut_sim_motion(t.sim, 1).spin.y > 1e-3); /* it turns clockwise seen against y */
    finish(&t);
}

/* A tower stands, and nothing is integrated while it does. */
static void a_stack_of_twenty_stands(void **state) {
    (void)state;
    trial t;
    start(&t,
          "world { frame = 1 }\nmaterial { friction = 0.5 }" FLOOR
          "for i = 1, 20 do body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.5 * i - 0.25} } end");
    advance(&t, 60);
    assert_int_equal(abut_sim_steps(t.sim), 0);
    for (int i = 1; i <= 20; i++) close_to(abut_sim_motion(t.sim, i).center.z, 0.5 * i - 0.25, 1e-12);
    finish(&t);
}

/* A cube of 1 m at 1000 m/s against a wall of 1 mm, and a bullet of 1 mm that spins at 10,000 rad/s: the
 * impact comes where it must. */
static void nothing_tunnels(void **state) {
    (void)state;
    trial t;
    start(
        &t,
        "world { gravity = {0, 0, 0}, frame = 1/60 }\n"
        "body { name = 'wall', shape = solid.box {0.001, 4, 4}, fixed = true, position = {3.0005, 0, 0} }\n"
        "body { name = 'cube', shape = solid.box {1, 1, 1}, position = {0, 0, 0}, velocity = {1000, 0, 0} }");
    advance(&t, 0.1);
    close_to(nth(&t, ABUT_EVENT_IMPACT, 0)->time, 0.0025, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).center.x, 2.5, 1e-6);
    finish(&t);
    start(&t,
          "world { gravity = {0, 0, 0}, frame = 1/60 }\n"
          "body { name = 'wall', shape = solid.box {0.001, 4, 4}, fixed = true, position = {3.0005, 0, 0} }\n"
          "body { name = 'bullet', shape = solid.box {0.001, 0.001, 0.001}, velocity = {1000, 0, 0}, spin = "
          "{0, 0, 10000} }");
    advance(&t, 0.02);
    const abut_event *impact = nth(&t, ABUT_EVENT_IMPACT, 0);
    assert_non_null(impact);
    assert_true(impact->time > 0.0029992 &&
                impact->time < 0.0030000); /* half a diagonal to half an edge before 3 m */
    assert_true(abut_sim_motion(t.sim, 1).center.x < 3);
    finish(&t);
}

/* Energy of a double pendulum stays, pins hold. */
static void a_double_pendulum_keeps_its_energy(void **state) {
    (void)state;
    trial t;
    start(&t,
          "local bar = solid.box {1, 0.05, 0.05}\nbody { name = 'a', shape = bar, position = {0.5, 0, 0} }\n"
          "body { name = 'b', shape = bar, position = {1.5, 0, 0} }\nhinge.pin { 'a', at = {0, 0, 0}, axis = "
          "{0, 1, 0} }\n"
          "hinge.pin { 'b', 'a', at = {1, 0, 0}, axis = {0, 1, 0} }");
    abut_energy e0 = abut_sim_energy(t.sim);
    advance(&t, 5);
    abut_energy e = abut_sim_energy(t.sim);
    close_to(e.kinetic + e.potential, e0.kinetic + e0.potential, 1e-7);
    assert_true(abut_sim_audit(t.sim).constraint_error < 1e-9);
    finish(&t);
}

static const char busy[] =
    "world { frame = 1/60 }\nmaterial { restitution = 0.3, friction = 0.4 }" FLOOR
    "for i = 1, 4 do body { shape = solid.box {0.3, 0.2, 0.4}, position = {0.05 * i, 0.02 * i, 0.6 * i},\n"
    "  rotation = {0.3 * i, 1, 2, 3}, spin = {i, 1, 0} } end";

/* A rod of half length h slides down wall and floor without friction: f'^2 = k (sin f0 - sin f) with
 * k = 2 g h/(h^2 + I/m), and leaves the wall where sin f = (2/3) sin f0.  The time is the integral of 1/f',
 * with f = f0 - u^2 regular at both ends (midpoints: error 1e-11). */
static void a_ladder_leaves_the_wall(void **state) {
    (void)state;
    trial t;
    start(&t,
          FLOOR "body { name = 'wall', shape = halfspace { normal = {1, 0, 0}, offset = 0 }, fixed = true }\n"
                "body { shape = capsule {0.01, 3.98}, mass = 10, inertia = {10 * 16/12, 10 * 16/12, 0.01}, "
                "rotation = {-math.pi/6, 0, 1, 0}, position = {0.01 + 1.99 * math.cos(math.pi/3), 0, 0.01 + "
                "1.99 * math.sin(math.pi/3)} }");
    advance(&t, 0.8);
    double h = 1.99, k = 2 * 9.81 * h / (h * h + 16.0 / 12), f0 = acos(0.5), time = 0;
    double last = sqrt(f0 - asin(2.0 / 3 * sin(f0)));
    enum { PARTS = 100000 };
    for (int i = 0; i < PARTS; i++) {
        double u = last * (i + 0.5) / PARTS;
        time += 2 * u / sqrt(k * (sin(f0) - sin(f0 - u * u))) * last / PARTS;
    }
    close_to(nth(&t, ABUT_EVENT_CONTACT_LOST, 0)->time, time, 1e-9);
    finish(&t);
}

/* Housner 1963: a block that rocks from edge to edge keeps its angular momentum about the new edge, so its
 * energy falls by (1 - (3/2) sin(a)^2)^2 each time, tan(a) = width/height. */
static void a_rocking_block_loses_what_housner_says(void **state) {
    (void)state;
    trial t;
    start(&t, "material { friction = 2 }" FLOOR "local c, s = math.cos(0.08), math.sin(0.08)\n"
              "body { shape = solid.box {0.2, 0.4, 1}, rotation = {0.08, 0, 1, 0}, position = {0.5 * s - 0.1 "
              "* c, 0, "
              "0.1 * s + 0.5 * c} }");
    advance(&t, 1.5);
    double ratio = 1 - 1.5 / 26;
    for (int i = 0; i < 3; i++) {
        const abut_event *e = nth(&t, ABUT_EVENT_IMPACT, i);
        assert_non_null(e);
        close_to(e->energy_after / e->energy_before, ratio * ratio, 1e-9);
    }
    finish(&t);
}

/* A rod that spins about its centre while one end is pinned: the pin takes hold as by a blow, angular
 * momentum about the pin is kept, so w falls to a quarter ((l^2/12)/(l^2/3)), and the energy to a quarter. */
static void velocities_that_hinges_forbid_are_a_blow(void **state) {
    (void)state;
    trial t;
    start(
        &t,
        "world { gravity = {0, 0, 0} }\nbody { shape = solid.box {1, 0.001, 0.001}, position = {0.5, 0, 0}, "
        "spin = {0, 0, 4} }\nhinge.pin {'body1', at = {0, 0, 0}, axis = {0, 0, 1}}");
    advance(&t, 0.5);
    close_to(abut_sim_motion(t.sim, 0).spin.z, 1, 2e-6); /* the rod is a thousandth thick */
    abut_energy e = abut_sim_energy(t.sim);
    close_to(e.dissipated / e.kinetic, 3, 1e-5);
    finish(&t);
}

/* The same bits on every run, and from a snapshot. */
static void runs_repeat_and_resume_bit_for_bit(void **state) {
    (void)state;
    trial a, b, c;
    abut_error error = {0};
    start(&a, busy);
    start(&b, busy);
    start(&c, busy);
    advance(&a, 30 * (1.0 / 60));
    size_t size = abut_sim_snapshot_size(a.sim);
    void *block = malloc(size);
    abut_sim_snapshot(a.sim, block);
    advance(&a, 1);
    advance(&b, 1);
    assert_true(abut_sim_hash(a.sim) == abut_sim_hash(b.sim));
    assert_int_equal(abut_sim_restore(c.sim, block, size, &error), ABUT_OK);
    advance(&c, 1);
    assert_true(abut_sim_hash(a.sim) == abut_sim_hash(c.sim));
    /* damaged ones are refused */
    assert_int_equal(abut_sim_restore(c.sim, block, size - 8, &error), ABUT_INVALID);
    ((char *)block)[0] ^= 1;
    assert_int_equal(abut_sim_restore(c.sim, block, size, &error), ABUT_INVALID);
    free(block);
    finish(&a), finish(&b), finish(&c);
}

/* Bodies that overlap at the start are refused, all of them named, with a shift that frees them; touching
 * ones, and fixed ones, are not. */
static void overlap_at_the_start_is_refused(void **state) {
    (void)state;
    static const char text[] =
        FLOOR "body { name = 'a', shape = solid.box {1, 1, 1}, position = {0, 0, 0.4} }\n"
              "body { name = 'b', shape = solid.box {1, 1, 1}, position = {0.75, 0, 2} }\n"
              "body { name = 'c', shape = solid.box {1, 1, 1}, position = {0, 0, 2} }\n"
              "body { name = 'd', shape = sphere {0.5}, position = {-0.5, 0, 2.9} }\n"
              "body { name = 'wall', shape = solid.box {1, 1, 1}, position = {9, 0, 0}, fixed = true }";
    abut_error error = {0};
    abut_scene *scene = NULL;
    abut_model *model = NULL;
    abut_sim *sim = NULL;
    assert_int_equal(abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &scene, &error),
                     ABUT_OK);
    assert_int_equal(abut_model_create(NULL, abut_scene_world(scene), &model, &error), ABUT_OK);
    abut_overlap found[8];
    assert_int_equal(abut_model_overlaps(model, found, 8), 3);
    assert_true(found[0].body[0] == 1 && found[0].body[1] == 0);
    close_to(found[0].depth, 0.1, 1e-12);
    close_to(found[0].shift.z, 0.1, 1e-12);
    close_to(fabs(found[1].shift.x), 0.25, 1e-12); /* the two boxes */
    close_to(found[2].depth, 0.1, 1e-6);           /* the ball sinks 0.1 into c */
    assert_int_equal(abut_sim_create(NULL, model, NULL, &sim, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "`a` and `floor`"));
    abut_model_free(model);
    abut_scene_free(scene);
}

/* A definition that makes no sense is refused with a message. */
static void bad_worlds_are_refused(void **state) {
    (void)state;
    abut_error error = {0};
    abut_model *model = NULL;
    abut_world_def w = {0};
    assert_int_equal(abut_model_create(NULL, &w, &model, &error), ABUT_INVALID);
    w = abut_default_world();
    abut_body_def body = abut_default_body();
    body.shape = abut_shape_halfspace((abut_vec3){0, 0, 1}, 0);
    w.bodies = &body, w.body_count = 1;
    assert_int_equal(abut_model_create(NULL, &w, &model, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "fixed"));
    body.shape = abut_shape_sphere(NAN);
    assert_int_equal(abut_model_create(NULL, &w, &model, &error), ABUT_INVALID);
    body.shape = abut_shape_sphere(1), body.position.x = INFINITY;
    assert_int_equal(abut_model_create(NULL, &w, &model, &error), ABUT_INVALID);
    body.position.x = 0;
    assert_int_equal(abut_model_create(NULL, &w, &model, &error), ABUT_OK);
    abut_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_bounces_to_rest),
        cmocka_unit_test(a_ball_slides_then_rolls),
        cmocka_unit_test(a_block_sticks_or_slides),
        cmocka_unit_test(a_box_tips_over_the_edge),
        cmocka_unit_test(a_stack_of_twenty_stands),
        cmocka_unit_test(nothing_tunnels),
        cmocka_unit_test(a_double_pendulum_keeps_its_energy),
        cmocka_unit_test(a_ladder_leaves_the_wall),
        cmocka_unit_test(a_rocking_block_loses_what_housner_says),
        cmocka_unit_test(velocities_that_hinges_forbid_are_a_blow),
        cmocka_unit_test(runs_repeat_and_resume_bit_for_bit),
        cmocka_unit_test(overlap_at_the_start_is_refused),
        cmocka_unit_test(bad_worlds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
