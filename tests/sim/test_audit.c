/* The audit of a run: a body that is put into another behind the clock's back is found at the next look, with
 * its depth; what only touches is not; impacts balance momentum. */
#include "abut/surface.h"
#include "sim/run.h"
#include "trial.h"

static void overlap_is_found(void **state) {
    (void)state;
    trial t;
    start(&t,
          "world { gravity = {0, 0, 0} }" FLOOR "body { shape = solid.box {1, 1, 1}, position = {0, 0, 0.5} }"
          "body { shape = solid.box {1, 1, 1}, position = {0, 0, 1.5} }"
          "body { shape = sphere {0.5}, position = {5, 0, 0.5} }"
          "body { shape = cylinder {0.5, 1}, position = {9, 0, 0.5} }");
    abut_error error = {0};
    motion *at = run_motions(t.sim->state);
    assert_int_equal(run_audit_overlap(t.sim, &error), ABUT_OK);
    assert_true(abut_sim_audit(t.sim).promises_kept); /* all of them touch */
    /* boxes: 0.01 is the shortest way out; then the sphere 0.02 into the floor, then the cylinder 0.03 */
    const double depths[] = {0.01, 0.02, 0.03};
    for (int i = 0; i < 3; i++) {
        at[2 + i].center.z -= depths[i];
        assert_int_equal(run_audit_overlap(t.sim, &error), ABUT_OK);
        abut_audit a = abut_sim_audit(t.sim);
        assert_false(a.promises_kept);
        close_to(a.deepest_overlap, depths[i], 1e-3 * depths[i]);
        assert_non_null(strstr(a.broken, "overlap"));
    }
    t.sim->state->deepest_overlap = 0; /* which finish() would rightly refuse */
    finish(&t);
}

/* Balls and an ellipsoid of patches moved into each other: the depth is known.  Thin ones on each other,
 * whose backs look at each other through both, do not overlap. */
static void overlap_of_surfaces_is_found(void **state) {
    (void)state;
    enum { COUNT = 5 };
    const vec3 axes[COUNT] = {{0.5, 0.5, 0.5}, {0.3, 0.3, 0.3}, {1, 1, 0.2}, {1, 1, 0.03}, {0.8, 0.8, 0.02}};
    const vec3 places[COUNT] = {{0, 0, 0}, {0, 0.8, 0}, {0, 0, 0.7}, {5, 0, 0}, {5, 0, 0.05}};
    abut_body_def bodies[COUNT];
    abut_surface *surfaces[COUNT] = {NULL};
    abut_error error = {0};
    for (int i = 0; i < COUNT; i++) {
        abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
        q.axes = (mat3){{axes[i].x, 0, 0}, {0, axes[i].y, 0}, {0, 0, axes[i].z}};
        assert_int_equal(abut_surface_quadric(NULL, &q, &surfaces[i], &error), ABUT_OK);
        bodies[i] = abut_default_body();
        bodies[i].shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surfaces[i]};
        bodies[i].position = places[i];
    }
    abut_world_def world = abut_default_world();
    world.bodies = bodies, world.body_count = COUNT, world.gravity = vec3_zero();
    trial t = {0};
    if (abut_model_create(NULL, &world, &t.model, &error) != ABUT_OK ||
        abut_sim_create(NULL, t.model, NULL, &t.sim, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(run_audit_overlap(t.sim, &error), ABUT_OK);
    assert_true(abut_sim_audit(t.sim).promises_kept); /* all of them touch */
    motion *at = run_motions(t.sim->state);
    const double depths[] = {0.004, 0.01};
    for (int i = 0; i < 2; i++) {
        if (i == 0) at[1].center.y -= depths[i];
        if (i == 1) at[2].center.z -= depths[i];
        assert_int_equal(run_audit_overlap(t.sim, &error), ABUT_OK);
        close_to(abut_sim_audit(t.sim).deepest_overlap, depths[i], 1e-9);
        assert_false(abut_sim_audit(t.sim).promises_kept);
    }
    t.sim->state->deepest_overlap = 0;
    finish(&t);
    for (int i = 0; i < COUNT; i++) abut_surface_free(NULL, surfaces[i]);
}

/* Four bodies, hinged and free, with friction and without: the change of each is what its impulses say. */
static void impacts_balance_momentum(void **state) {
    (void)state;
    trial t;
    start(
        &t,
        "world { frame = 1/100 }\nmaterial { friction = 0.4, restitution = 0.5 }" FLOOR
        "local a = body { shape = solid.box {1, 0.2, 0.2}, position = {0, 0, 1}, rotation = {0.3, 0, 1, 0} }"
        "local b = body { shape = solid.box {0.2, 0.2, 1}, position = {0.6, 0, 1.4}, group = 1 }"
        "hinge.pin { a, b, at = {0.55, 0, 0.9}, axis = {0, 1, 0} }"
        "body { shape = sphere {0.2}, position = {-0.3, 0, 2} }");
    advance(&t, 0.6);
    assert_true(abut_sim_event_count(t.sim, ABUT_EVENT_IMPACT) > 0);
    abut_audit audit = abut_sim_audit(t.sim);
    assert_true(audit.momentum_error <= 1e-12);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(overlap_is_found),
                                       cmocka_unit_test(overlap_of_surfaces_is_found),
                                       cmocka_unit_test(impacts_balance_momentum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
