/* What the exact clock promises: tall and uneven stacks stand, tight fits slide, threads turn. */
#include "trial.h"

#include <unistd.h>

static void stays(const trial *t, int body, abut_vec3 at, double tolerance) {
    abut_vec3 c = abut_sim_motion(t->sim, body).center;
    close_to(c.x, at.x, tolerance), close_to(c.y, at.y, tolerance), close_to(c.z, at.z, tolerance);
}

/* A million kilograms on one. */
static void a_heavy_box_rests_on_a_light_one(void **state) {
    (void)state;
    trial t;
    start(&t, "world { frame = 1 }\nmaterial { friction = 0.5 }" FLOOR
              "body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.25}, mass = 1 }\n"
              "body { shape = solid.box {1, 1, 0.5}, position = {0.1, 0.05, 0.75}, mass = 1e6 }");
    advance(&t, 60);
    stays(&t, 1, (abut_vec3){0, 0, 0.25}, 1e-9);
    stays(&t, 2, (abut_vec3){0.1, 0.05, 0.75}, 1e-9);
    finish(&t);
}

/* Four legs, pushed sideways a little below what friction holds: no creep in a minute. */
static void a_four_legged_chair_stands_for_a_minute(void **state) {
    (void)state;
    trial t;
    abut_error error = {0};
    static const char text[] =
        "world { frame = 1/10 }\nmaterial { friction = 0.5 }" FLOOR
        "body { name = 'chair', shape = solid.mesh { file = 'meshes/chair.obj' }, mass = 4 }\n"
        "force { 'chair', value = {0.1 * 4 * 9.81, 0.2 * 4 * 9.81, 0} }";
    t = (trial){0};
    if (abut_scene_read(NULL, text, strlen(text), "test.lua", ABUT_SOURCE "/scenes", NULL, &t.scene,
                        &error) != ABUT_OK ||
        abut_model_create(NULL, abut_scene_world(t.scene), &t.model, &error) != ABUT_OK ||
        abut_sim_create(NULL, t.model, NULL, &t.sim, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    abut_vec3 at = abut_sim_motion(t.sim, 1).center;
    advance(&t, 60);
    stays(&t, 1, at, 1e-9);
    finish(&t);
}

/* A square peg of 10 mm in a hole of 10.1 mm: it starts askew above the bottom, slides in, and stands on it.
 */
static void a_peg_slides_into_its_hole(void **state) {
    (void)state;
    trial t;
    start(
        &t,
        "world { unit = 'mm', frame = 1/100 }\n" FLOOR "for i = -1, 1, 2 do\n"
        "  body { shape = solid.box {20, 60, 30}, position = {15.05 * i, 0, 15}, fixed = true }\n"
        "  body { shape = solid.box {10.1, 20, 30}, position = {0, 15.05 * i, 15}, fixed = true } end\n"
        "body { name = 'peg', shape = solid.box {10, 10, 40}, position = {0.01, -0.02, 45}, density = 7800, "
        "rotation = {0.001, 1, 2, 0} }");
    int peg = abut_model_find_body(t.model, "peg");
    advance(&t, 0.5);
    abut_vec3 c = abut_sim_motion(t.sim, peg).center;
    close_to(c.z, 0.020, 1e-7);
    assert_true(fabs(c.x) <= 5.01e-5 && fabs(c.y) <= 5.01e-5);
    finish(&t);
}

/* M10 x 1.5: the bolt falls by its clearance, then turns down through the nut, faster and faster: without
 * friction z falls by 1.5 mm a turn, up to the facets of the threads. */
static void a_bolt_turns_down_through_its_nut(void **state) {
    (void)state;
    trial t = {0};
    abut_error error = {0};
    static const char text[] = "world { unit = 'mm', frame = 1/100 }\n"
                               "body { shape = solid.mesh { file = 'nut_m10.obj' }, fixed = true }\n"
                               "body { shape = solid.mesh { file = 'bolt_m10.obj' }, density = 7800 }";
    if (access(ABUT_SHARED "/meshes/solid/nut_m10.obj", R_OK) != 0) skip();
    if (abut_scene_read(NULL, text, strlen(text), "test.lua", ABUT_SHARED "/meshes/solid", NULL, &t.scene,
                        &error) != ABUT_OK ||
        abut_model_create(NULL, abut_scene_world(t.scene), &t.model, &error) != ABUT_OK ||
        abut_sim_create(NULL, t.model, NULL, &t.sim, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    double turned = 0, angle[2] = {0, 0}, height[2] = {0, 0};
    for (int k = 1; k <= 25; k++) {
        double before = abut_sim_motion(t.sim, 1).spin.z;
        advance(&t, k / 100.0);
        turned += 0.005 * (before + abut_sim_motion(t.sim, 1).spin.z);
        if (k == 15) angle[0] = turned, height[0] = abut_sim_motion(t.sim, 1).center.z;
    }
    angle[1] = turned, height[1] = abut_sim_motion(t.sim, 1).center.z;
    abut_motion m = abut_sim_motion(t.sim, 1);
    assert_true(m.spin.z < -5 && height[1] < height[0] - 1e-4);
    /* the pitch: 1.5 mm a turn; the threads have a play of 0.05 mm */
    close_to((height[1] - height[0]) / (angle[1] - angle[0]), 0.0015 / (2 * 3.141592653589793), 1e-4);
    close_to(m.center.x, 0, 1e-4), close_to(m.center.y, 0, 1e-4);
    finish(&t);
}

int main(int argc, char **argv) {
    const struct CMUnitTest fast[] = {
        cmocka_unit_test(a_heavy_box_rests_on_a_light_one),
        cmocka_unit_test(a_four_legged_chair_stands_for_a_minute),
        cmocka_unit_test(a_peg_slides_into_its_hole),
    };
    const struct CMUnitTest slow[] = {cmocka_unit_test(a_bolt_turns_down_through_its_nut)};
    if (argc > 1 && strcmp(argv[1], "slow") == 0) return cmocka_run_group_tests(slow, NULL, NULL);
    return cmocka_run_group_tests(fast, NULL, NULL);
}
