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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_slides_or_stays), cmocka_unit_test(blocks_land_and_rest),
        cmocka_unit_test(a_ball_bounces), cmocka_unit_test(a_small_budget_is_no_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
