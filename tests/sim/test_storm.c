/* Time stepping, the fallback of the exact clock, against closed forms; forced by asking the groups for it.
 */
#include "sim/exact.h"
#include "trial.h"

static void step_in_time(trial *t) {
    for (int i = 0; i < t->sim->state->body_count; i++) run_paces(t->sim->state)[i].steps_left = 1e9;
}

/* A block on a slope (a tilted gravity): x = a t^2 / 2 with a = 5 - mu 8.66, at rest where mu is larger.  The
 * implicit step of h adds a h t / 2; h is 1e-3 sqrt(diagonal / g). */
static void a_block_slides_or_stays(void **state) {
    (void)state;
    const double frictions[] = {0, 0.3, 0.7};
    for (int i = 0; i < 3; i++) {
        trial t;
        char text[512];
        snprintf(text, sizeof text,
                 "world { gravity = {5, 0, -8.66}, frame = 1/50 }\nmaterial { friction = %g }" FLOOR
                 "body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.25}, mass = 2 }",
                 frictions[i]);
        start(&t, text);
        step_in_time(&t);
        advance(&t, 0.4);
        abut_motion m = abut_sim_motion(t.sim, 1);
        double a = fmax(0, 5 - frictions[i] * 8.66), h = 1e-3 * sqrt(1.5 / 10);
        close_to(m.center.x, 0.08 * a, a > 0 ? 0.4 * a * h : 1e-7);
        close_to(m.velocity.x, 0.4 * a, 1e-6);
        close_to(m.center.y, 0, 1e-7);
        close_to(m.center.z, 0.25, 1e-7);
        finish(&t);
    }
}

/* Dropped, it lands on four corners and stays; two on each other, the upper one a hundred times
 * heavier.  Forces are known to a ten millionth of the largest. */
static void blocks_land_and_rest(void **state) {
    (void)state;
    trial t;
    start(&t, "world { frame = 1/50 }\nmaterial { friction = 0.5, restitution = 0 }" FLOOR
              "body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.35}, mass = 1 }\n"
              "body { shape = solid.box {1, 1, 0.5}, position = {0.1, 0, 1}, mass = 100 }");
    step_in_time(&t);
    advance(&t, 0.4);
    for (int i = 1; i <= 2; i++) {
        abut_motion m = abut_sim_motion(t.sim, i);
        close_to(m.center.z, i == 1 ? 0.25 : 0.75, 1e-6);
        close_to(m.center.x, i == 1 ? 0 : 0.1, 1e-4);
        close_to(m.velocity.z, 0, 1e-6);
    }
    finish(&t);
}

/* A slider thrown against its upper limit stops there, x = v t - g t^2 / 2 = 0.3, falls back, and stays at
 * the lower one.  Its velocity is right, its place ahead by g h / 2 a second, so the limits come that much
 * early or late. */
static void limits_hold_and_let_go(void **state) {
    (void)state;
    const double v = 4, g = 10, up = (v - sqrt(v * v - 2 * g * 0.3)) / g, down = up + sqrt(2 * 0.5 / g);
    const double h = 1e-3 * sqrt(0.1 * sqrt(3) / g), late = 4 * h;
    trial t;
    start(&t, "world { gravity = {-10, 0, 0}, frame = 1/50 }\n"
              "body { name = 'a', shape = solid.box {0.1, 0.1, 0.1}, velocity = {4, 0, 0} }\n"
              "hinge.slider { 'a', at = {0, 0, 0}, axis = {1, 0, 0}, limits = {-0.2, 0.3} }");
    step_in_time(&t);
    advance(&t, 0.2);
    double fallen = g / 2 * (0.2 - up) * (0.2 - up);
    close_to(abut_sim_motion(t.sim, 0).center.x, 0.3 - fallen, g * 0.2 * late);
    advance(&t, 0.6);
    close_to(abut_sim_motion(t.sim, 0).center.x, -0.2, 1e-7);
    const abut_event *first = nth(&t, ABUT_EVENT_LIMIT, 0), *second = nth(&t, ABUT_EVENT_LIMIT, 1);
    assert_true(first && second && !nth(&t, ABUT_EVENT_LIMIT, 2));
    close_to(first->time, up, late);
    close_to(second->time, down, late);
    finish(&t);
}

/* A bouncing ball keeps its restitution: after falling H it rises to e^2 H.  A step too much of gravity on
 * the way is a relative error of h / t. */
static void a_ball_bounces(void **state) {
    (void)state;
    trial t;
    start(&t, "world { gravity = {0, 0, -10}, frame = 1/100 }\nmaterial { restitution = 0.5 }" FLOOR
              "body { shape = sphere {0.1}, position = {0, 0, 0.9}, mass = 1 }");
    step_in_time(&t);
    advance(&t, 0.6); /* falls 0.8 m in 0.4 s, is back at the top 0.2 s later, 0.2 m up */
    abut_motion m = abut_sim_motion(t.sim, 1);
    close_to(m.center.z, 0.3, 2e-3);
    close_to(m.velocity.z, 0, 1e-2);
    const abut_event *e = nth(&t, ABUT_EVENT_IMPACT, 0);
    assert_non_null(e);
    close_to(e->time, 0.4, 1e-3);
    finish(&t);
}

static void count_notice(void *user, abut_log_level level, const char *message) {
    (void)level;
    *(int *)user += strstr(message, "stepped in time") != NULL;
}

/* A budget of one step a frame ends in time stepping, not in an error: one notice says so, and the audit how
 * long; no event does (INTERFACE.md lists all kinds). */
static void a_small_budget_is_no_error(void **state) {
    (void)state;
    static const char text[] =
        "world { frame = 1/5 }\nmaterial { friction = 0.4, restitution = 0.3 }" FLOOR
        "body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.5}, rotation = {0.3, 1, 0, 0}, mass = 1 }";
    trial t = {0};
    abut_error error = {0};
    abut_sim_options options = {.user = &t, .event = keep_event, .event_budget = 1};
    assert_int_equal(abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &t.scene, &error),
                     ABUT_OK);
    assert_int_equal(abut_model_create(NULL, abut_scene_world(t.scene), &t.model, &error), ABUT_OK);
    int notices = 0;
    abut_context context = {.log = {count_notice, &notices}};
    assert_int_equal(abut_sim_create(&context, t.model, &options, &t.sim, &error), ABUT_OK);
    advance(&t, 2);
    abut_audit audit = abut_sim_audit(t.sim);
    assert_int_equal(notices, 1);
    assert_true(audit.storms > 0 && audit.time_steps >= audit.storms);
    assert_true(audit.time_stepped > 0 && audit.time_stepped <= 2);
    close_to(abut_sim_motion(t.sim, 1).center.z, 0.25, 1e-6);
    finish(&t);
}

/* Between contacts nothing is lost: a body that flies keeps its parabola to rounding, and its angular
 * momentum and energy to the second order of the angle w h of a step (a midpoint rule; errors w t (w h)^2 at
 * most). */
static void flight_keeps_what_it_has(void **state) {
    (void)state;
    trial t;
    start(&t, "world { gravity = {0, 0, -10}, frame = 1/50 }\n"
              "body { shape = solid.box {1, 0.6, 0.3}, mass = 2, position = {0, 0, 0}, velocity = {1, 2, 3}, "
              "spin = {3, 4, 1} }");
    step_in_time(&t);
    const body_inertia *body = &t.model->bodies[0].inertia;
    motion before = run_motions(t.sim->state)[0];
    advance(&t, 0.5);
    motion after = run_motions(t.sim->state)[0];
    close_to(after.center.x, 0.5, 1e-12);
    close_to(after.center.y, 1, 1e-12);
    close_to(after.center.z, 1.5 - 1.25, 1e-12);
    double w = sqrt(26), h = 1e-3 * sqrt(1.21 / 10), small = w * 0.5 * w * h * w * h;
    vec3 l0 = body_angular_momentum(body, &before, before.center),
         l1 = body_angular_momentum(body, &after, after.center);
    close_to(vec3_distance(l0, l1) / vec3_length(l0), 0, small);
    before.velocity.linear = after.velocity.linear = vec3_zero();
    close_to(body_kinetic_energy(body, &after) / body_kinetic_energy(body, &before), 1, small);
    assert_true(abut_sim_audit(t.sim).time_steps > 1000);
    finish(&t);
}

static double energy_of(const trial *t) {
    abut_energy e = abut_sim_energy(t->sim);
    return e.kinetic + e.potential;
}

/* Nothing does work in these scenes: the energy never rises above that of the start, whatever paths the steps
 * take along walls that turn, and whatever they push out.  (Potentials are of the order of 100 J: rounding is
 * 1e-12.) finish() asks for overlaps and hinges within epsilon. */
static void energy_never_rises(void **state) {
    (void)state;
    static const char *const scenes[] = {
        /* along a curved wall, without friction: a straight path leaves it at every step */
        "material { friction = 0 }\nbody { shape = sphere {1, inside = true}, position = {0, 0, 1}, fixed = "
        "true }\n"
        "body { shape = sphere {0.1}, position = {0.8, 0, 0.9}, velocity = {0, 2, 0} }",
        /* balls and a tetrahedron in a cavity, bouncing and sliding */
        "material { friction = 0.2, restitution = 0.3 }\n"
        "body { shape = sphere {0.5, inside = true}, position = {0, 0, 0.5}, fixed = true }\n"
        "body { shape = sphere {0.06}, position = {0.1, 0, 0.3}, velocity = {0, 1, 0} }\n"
        "body { shape = sphere {0.07}, position = {-0.1, 0.05, 0.4} }\n"
        "body { shape = solid.tetrahedron {0.15}, position = {0.03, 0.2, 0.6}, spin = {1, 2, 3} }",
        /* a double pendulum */
        "local a = body { shape = solid.box {0.1, 0.1, 1}, position = {0.5, 0, 0}, rotation = {1.5707963, 0, "
        "1, 0} }\n"
        "local b = body { shape = solid.box {0.1, 0.1, 1}, position = {1.5, 0, 0}, rotation = {1.5707963, 0, "
        "1, 0} }\n"
        "hinge.pin { a, nil, at = {0, 0, 0}, axis = {0, 1, 0} }\n"
        "hinge.pin { a, b, at = {1, 0, 0}, axis = {0, 1, 0} }",
        /* a stack that is hit */
        "material { friction = 0.4, restitution = 0.2 }\n" FLOOR
        "for k = 0, 2 do body { shape = solid.box {0.4, 0.4, 0.2}, position = {0.01 * k, 0, 0.1 + 0.2 * k} } "
        "end\n"
        "body { shape = sphere {0.1}, position = {-0.5, 0.05, 0.5}, velocity = {4, 0, 0} }"};
    for (int i = 0; i < COUNT_OF(scenes); i++) {
        trial t;
        char text[1024];
        snprintf(text, sizeof text, "world { frame = 1/50 }\n%s", scenes[i]);
        start(&t, text);
        step_in_time(&t);
        double most = energy_of(&t);
        for (int frame = 1; frame <= 25; frame++) {
            advance(&t, frame / 50.0);
            if (!(energy_of(&t) <= most + 1e-9)) fail_msg("scene %d rises to %.15g", i, energy_of(&t));
        }
        assert_true(abut_sim_audit(t.sim).time_steps > 100);
        finish(&t);
    }
}

/* A double pendulum that whirls is stepped in time for ten steps and then left to the exact clock: what the
 * steps took is the numerical loss, and the exact clock keeps the rest to 1e-9 of the largest energy.  (At
 * the end of a time step hinges miss by h w^2 l = 0.02 m/s; 0.01 s later that is 0.2 mm, and 1e-5 of the
 * energy in height.) */
static void the_exact_clock_takes_over(void **state) {
    (void)state;
    trial t;
    start(&t,
          "world { frame = 1/50 }\n"
          "local a = body { shape = solid.box {0.1, 0.1, 1}, position = {0.5, 0, 0}, rotation = {1.5707963, "
          "0, 1, 0}, spin = {0, 10, 0}, velocity = {0, 0, -5} }\n"
          "local b = body { shape = solid.box {0.1, 0.1, 1}, position = {1.5, 0, 0}, rotation = {1.5707963, "
          "0, 1, 0}, spin = {0, 10, 0}, velocity = {0, 0, -15} }\n"
          "hinge.pin { a, nil, at = {0, 0, 0}, axis = {0, 1, 0} }\n"
          "hinge.pin { a, b, at = {1, 0, 0}, axis = {0, 1, 0} }");
    for (int i = 0; i < t.sim->state->body_count; i++) run_paces(t.sim->state)[i].steps_left = 10;
    advance(&t, 0.1);
    abut_audit audit = abut_sim_audit(t.sim);
    assert_int_equal(audit.time_steps, 10);
    assert_true(audit.energy_error < 1e-9);
    finish(&t);
}

/* Rings of 0.2 m, 0.05 m thick, with 8 corners, hung in each other: their corners run over each other's, and
 * where they overlap a little after a step their edges face each other nowhere.  Linked rings are 2 (0.2 /
 * cos 22.5) - 0.1 = 0.333 m apart at most; rings that slipped through fall 1.2 m in the time. */
static void rings_stay_linked(void **state) {
    (void)state;
    trial t;
    start(&t, "world { frame = 1/50 }\nmaterial { friction = 0, restitution = 0 }\n"
              "local ring = solid.torus {0.2, 0.05, 8, 6}\n"
              "body { shape = ring, position = {0, 0, 0}, fixed = true }\n"
              "body { shape = ring, position = {0.26, 0, 0}, rotation = {1.5707963, 1, 0, 0} }\n"
              "body { shape = ring, position = {0.52, 0, 0}, velocity = {0, 0.3, 0} }");
    step_in_time(&t);
    advance(&t, 0.5);
    for (int i = 1; i < 3; i++) {
        abut_motion a = abut_sim_motion(t.sim, i - 1), b = abut_sim_motion(t.sim, i);
        double x = a.center.x - b.center.x, y = a.center.y - b.center.y, z = a.center.z - b.center.z;
        assert_true(sqrt(x * x + y * y + z * z) < 0.334);
    }
    finish(&t);
}

/* Rings of many facets run over corners of each other within a step: they must be caught there. */
static void fine_rings_stay_linked(void **state) {
    (void)state;
    trial t = {0};
    abut_error error = {0};
    const char *path = support_shared("scenes-ripc/chain-3-links/chain-3-links.lua");
    assert_int_equal(abut_scene_load(NULL, path, NULL, &t.scene, &error), ABUT_OK);
    assert_int_equal(abut_model_create(NULL, abut_scene_world(t.scene), &t.model, &error), ABUT_OK);
    abut_sim_options options = {.user = &t, .event = keep_event};
    assert_int_equal(abut_sim_create(NULL, t.model, &options, &t.sim, &error), ABUT_OK);
    step_in_time(&t);
    advance(&t, 1);
    finish(&t); /* the promises: no overlap */
}

/* A ball that is struck leaves all that was planned for it when it was at rest: it still meets the wall.
 * Elastic, equal masses: the first ball stops after 0.3 m (0.03 s), the second one is at the wall after 1 m
 * (0.13 s) and is back at 0.3 after 0.2 s. */
static void a_struck_ball_meets_the_wall(void **state) {
    (void)state;
    trial t;
    start(&t, "world { gravity = {0, 0, 0}, frame = 0.2 }\nmaterial { friction = 0, restitution = 1 }\n"
              "body { shape = sphere {0.1}, mass = 1, position = {-0.5, 0, 0}, velocity = {10, 0, 0} }\n"
              "body { shape = sphere {0.1}, mass = 1, position = {0, 0, 0} }\n"
              "body { shape = solid.box {0.2, 1, 1}, position = {1.2, 0, 0}, fixed = true }");
    advance(&t, 0.2);
    close_to(abut_sim_motion(t.sim, 0).center.x, -0.2, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).center.x, 0.3, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).velocity.x, -10, 1e-9);
    assert_int_equal(t.event_count > 1, 1);
    finish(&t);
}

/* Nine bricks, hit: the events of their 60 places come too thick for the exact clock, which goes over to time
 * steps and comes to the end, with all promises kept, and no energy from nowhere. */
static void a_wall_falls(void **state) {
    (void)state;
    trial t;
    start(&t, "world { frame = 1/60 }\nmaterial { restitution = 0.1, friction = 0.5 }\n" FLOOR
              "for r = 0, 2 do for k = 0, 2 do\n"
              "  body { shape = solid.box {0.2, 0.1, 0.1}, position = {0.2 * k + 0.1 * (r % 2), 0, 0.05 + "
              "0.1 * r} }\n"
              "end end\n"
              "body { shape = sphere {0.08}, density = 4000, position = {0.25, -0.14, 0.17}, velocity = {0, "
              "4, 0} }");
    double most = energy_of(&t);
    for (int frame = 1; frame <= 6; frame++) {
        advance(&t, frame / 60.0);
        assert_true(energy_of(&t) <= most + 1e-9);
    }
    assert_true(abut_sim_motion(t.sim, 10).velocity.y < 4 && abut_sim_motion(t.sim, 10).velocity.y > 0);
    finish(&t);
}

/* A body that weighs 10^9 times the one below, in time steps, whose problem is solved in doubles: they do not
 * hold both the force between them and what it leaves for the light one.  Whatever becomes of them, time goes
 * on, and an overlap is told. */
static void a_load_beyond_doubles_comes_to_an_end(void **state) {
    (void)state;
    trial t;
    start(&t, "world { frame = 1/60 }\nmaterial { friction = 0 }\n" FLOOR
              "body { shape = solid.box {1, 1, 1}, position = {0, 0, 0.5}, mass = 1 }\n"
              "body { shape = solid.box {1, 1, 1}, position = {0, 0, 1.5}, mass = 1e9 }");
    step_in_time(&t);
    advance(&t, 0.1);
    double sunk = 1.5 - abut_sim_motion(t.sim, 2).center.z;
    abut_audit audit = abut_sim_audit(t.sim);
    assert_true(sunk < 0.5 * 9.81 * 0.1 * 0.1 + 1e-6); /* no faster than it falls */
    assert_true(sunk < 1e-4 || (!audit.promises_kept && audit.deepest_overlap > 0.1 * sunk));
    abut_sim_free(t.sim); /* finish() asks that the promises be kept */
    abut_model_free(t.model);
    abut_scene_free(t.scene);
}

static bool is_finite(abut_vec3 v) { return isfinite(v.x + v.y + v.z); }

/* Numbers beyond doubles: a kinetic energy that is infinite, so that its differences are none, before and in
 * a collision.  Either the run goes on with finite velocities, or it ends with a message that says what is
 * not finite. */
static void what_is_not_finite_is_told(void **state) {
    (void)state;
    int told = 0;
    for (int k = 0; k < 8; k++) {
        const char *shape = k & 1 ? "sphere {0.5}" : "solid.box {1, 1, 1}";
        double mass = k & 2 ? 1e306 : 1e300;
        char text[600];
        snprintf(text, sizeof text,
                 "world { frame = 1/60 }\nmaterial { friction = 0.5, restitution = 0.5 }\n" FLOOR
                 "body { shape = %s, position = {0, 0, 1.5}, mass = %g, velocity = {0, 10, -1000},"
                 " inertia = {1e300, 1e300, 1e300}, spin = {1, 2, 3} }",
                 shape, mass);
        trial t;
        abut_error error = {0};
        start(&t, text);
        if (k & 4) step_in_time(&t);
        abut_status status = ABUT_OK;
        for (int frame = 1; frame <= 6 && status == ABUT_OK; frame++)
            status = abut_sim_advance(t.sim, frame / 60.0, &error);
        if (status != ABUT_OK) {
            assert_non_null(strstr(error.message, "not finite"));
            told++;
        }
        abut_motion m = abut_sim_motion(t.sim, 1);
        assert_true(status != ABUT_OK || (is_finite(m.center) && is_finite(m.velocity) && is_finite(m.spin)));
        abut_sim_free(t.sim);
        abut_model_free(t.model);
        abut_scene_free(t.scene);
    }
    assert_true(told > 0);
}

/* Drag that stops a body within a small part of a step, in both clocks: with c / m = 1e5 and c / I = 2.5e7 a
 * second the way is v m / c = 10 micrometres, the speed then g m / c, and drag takes all there was.  Steps
 * that take drag at their end go up to one of them too far: h v, where the first is stepped. */
static void strong_drag_stops(void **state) {
    (void)state;
    const char *modes[] = {"exact", "live"};
    for (int i = 0; i < 2; i++) {
        trial t;
        char text[512];
        snprintf(text, sizeof text,
                 "world { gravity = {0, 0, -10}, frame = 1/60, mode = '%s' }\n"
                 "body { shape = sphere {0.1}, position = {0, 0, 1}, mass = 1, velocity = {1, 0, 0}, spin = "
                 "{0, 0, 3},"
                 " drag = {linear = 1e5, angular = 1e5} }",
                 modes[i]);
        start(&t, text);
        advance(&t, 0.1);
        abut_motion m = abut_sim_motion(t.sim, 0);
        close_to(m.center.x, 1e-5, i == 0 ? 1e-8 : 1e-5);
        close_to(m.velocity.x, 0, 1e-12);
        close_to(m.velocity.z, -1e-4, 1e-12);
        close_to(m.spin.z, 0, 1e-12);
        close_to(m.center.z, 1 - 1e-5 + 1e-9, i == 0 ? 1e-9 : 2e-8);
        abut_energy e = abut_sim_energy(t.sim);
        if (i == 0) close_to(e.dissipated, 0.5 + 0.5 * 0.004 * 9 + 10 * (1 - m.center.z), 1e-6);
        finish(&t);
    }
}

/* A block on a floor in syrup, stepped in time: the floor bears its weight, whatever the drag is; tilted by
 * 1:10 without friction it creeps at m g / 10 c. */
static void syrup_bears_nothing(void **state) {
    (void)state;
    for (double c = 1; c < 1e9; c *= 1000) {
        trial t;
        char text[512];
        snprintf(text, sizeof text,
                 "world { gravity = {1, 0, -10}, frame = 1/50 }" FLOOR
                 "body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.25}, mass = 2,"
                 " velocity = {%.17g, 0, 0}, drag = {linear = %g, angular = %g} }",
                 2 / c, c, c);
        start(&t, text);
        step_in_time(&t);
        advance(&t, 0.2);
        abut_motion m = abut_sim_motion(t.sim, 1);
        close_to(m.velocity.x, 2 / c, 1e-9 * 2 / c);
        close_to(m.center.x, 0.2 * 2 / c, 1e-9 * 2 / c);
        const abut_contact *contacts;
        double sum = 0;
        int count = abut_sim_contacts(t.sim, &contacts);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < contacts[i].point_count; k++) sum += contacts[i].forces[k].z;
        close_to(fabs(sum), 20, 1e-5);
        finish(&t);
    }
}

/* A motion that needs 3e8 radians a second ends with the budget and the name of the body; the run stands
 * where it stood, and goes on from there. */
static void too_many_steps_are_told(void **state) {
    (void)state;
    trial t;
    start(&t, "world { frame = 1 }\n"
              "body { name = 'wheel', shape = solid.box {1, 1, 1}, position = {0, 0, 0.5} }\n"
              "hinge.pin { 'wheel', at = {0, 0, 2}, axis = {0, 1, 0}, stiffness = 1e20, rest = 1 }");
    abut_sim_options options = {.step_budget = 1000};
    abut_error error = {0};
    abut_sim *sim = NULL;
    assert_int_equal(abut_sim_create(NULL, t.model, &options, &sim, &error), ABUT_OK);
    abut_motion before = abut_sim_motion(sim, 0);
    uint64_t hash = abut_sim_hash(sim);
    assert_int_equal(abut_sim_advance(sim, 1, &error), ABUT_BUDGET);
    assert_non_null(strstr(error.message, "`wheel`"));
    assert_true(abut_sim_time(sim) == 0 && abut_sim_hash(sim) == hash);
    abut_motion after = abut_sim_motion(sim, 0);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(abut_sim_advance(sim, 1e-9, &error), ABUT_OK);
    abut_sim_free(sim);
    finish(&t);
}

static bool stop_at_once(void *user, double time, double *values, int count) {
    (void)count;
    if (time > 0.3) abut_sim_stop(*(abut_sim **)user);
    values[0] = values[1] = values[2] = 0;
    return true;
}

/* Stopped in the middle of a frame of a minute, the run stands where the frame began; then it goes on as if
 * nothing had been. */
static void a_frame_is_stopped(void **state) {
    (void)state;
    for (int live = 0; live < 2; live++) {
        abut_shape ball = {.kind = ABUT_SHAPE_SPHERE, .radius = 0.1};
        abut_sim *sim = NULL;
        abut_body_def body = abut_default_body();
        body.name = "ball", body.shape = ball;
        abut_force_def force = {.body = 0, .function = stop_at_once, .user = &sim};
        abut_world_def world = abut_default_world();
        world.bodies = &body, world.body_count = 1, world.forces = &force, world.force_count = 1;
        world.mode = live ? ABUT_LIVE : ABUT_EXACT;
        abut_model *model = NULL;
        abut_error error = {0};
        assert_int_equal(abut_model_create(NULL, &world, &model, &error), ABUT_OK);
        assert_int_equal(abut_sim_create(NULL, model, NULL, &sim, &error), ABUT_OK);
        assert_int_equal(abut_sim_advance(sim, 0.25, &error), ABUT_OK);
        assert_int_equal(abut_sim_advance(sim, 60, &error), ABUT_CANCELLED);
        assert_true(live ? abut_sim_time(sim) < 0.35 : abut_sim_time(sim) == 0.25);
        abut_sim_free(sim), abut_model_free(model);
    }
}

/* A disc of 24 sides slides over the edge of a plate that it lies on, and is lifted off (gravity is upwards):
 * nothing pushes it along the plate any more, x = v t, although its edges pass over those of the plate by as
 * much as it moves in a step.  40 places. */
static void plates_that_part_go_on(void **state) {
    (void)state;
    for (int k = 0; k < 40; k++) {
        trial t;
        char text[768];
        double x = 0.5 + 0.005 * k + 0.0013;
        snprintf(
            text, sizeof text,
            "world { gravity = {0, 0, 1}, frame = 1/100 }\n"
            "local round = {} for i = 1, 24 do local a = 2 * math.pi * i / 24 round[i] = "
            "{0.2 * math.cos(a), 0.2 * math.sin(a)} end\n"
            "body { name = 'plate', shape = solid.box {1, 1, 0.1}, position = {0, 0, -0.05}, fixed = true }\n"
            "body { name = 'disc', shape = solid.prism {round, 0.05}, mass = 1, position = {%.17g, 0.05, "
            "0.025}, velocity = {3, 0.4, 0}, spin = {0, 0, 2} }",
            x);
        start(&t, text);
        step_in_time(&t);
        advance(&t, 0.02);
        abut_motion m = abut_sim_motion(t.sim, 1);
        close_to(m.center.x, x + 0.06, 1e-9);
        close_to(m.center.y, 0.05 + 0.008, 1e-9);
        close_to(m.spin.z, 2, 1e-9);
        finish(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(strong_drag_stops),
                                       cmocka_unit_test(syrup_bears_nothing),
                                       cmocka_unit_test(too_many_steps_are_told),
                                       cmocka_unit_test(a_frame_is_stopped),
                                       cmocka_unit_test(a_block_slides_or_stays),
                                       cmocka_unit_test(blocks_land_and_rest),
                                       cmocka_unit_test(a_ball_bounces),
                                       cmocka_unit_test(limits_hold_and_let_go),
                                       cmocka_unit_test(plates_that_part_go_on),
                                       cmocka_unit_test(a_small_budget_is_no_error),
                                       cmocka_unit_test(flight_keeps_what_it_has),
                                       cmocka_unit_test(energy_never_rises),
                                       cmocka_unit_test(the_exact_clock_takes_over),
                                       cmocka_unit_test(rings_stay_linked),
                                       cmocka_unit_test(fine_rings_stay_linked),
                                       cmocka_unit_test(a_struck_ball_meets_the_wall),
                                       cmocka_unit_test(a_wall_falls),
                                       cmocka_unit_test(a_load_beyond_doubles_comes_to_an_end),
                                       cmocka_unit_test(what_is_not_finite_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
