/* Where rigid bodies cannot move on: the run ends at the instant, with the names of what contradicts; and
 * where they can, however tight, it goes on. */
#include "trial.h"

#include <math.h>

/* Runs until something stops it; the message is in error. */
static abut_status run(trial *t, const char *text, double until, abut_error *error) {
    *t = (trial){0};
    if (abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &t->scene, error) != ABUT_OK ||
        abut_model_create(NULL, abut_scene_world(t->scene), &t->model, error) != ABUT_OK)
        fail_msg("%d: %s", error->line, error->message);
    abut_status status = abut_sim_create(NULL, t->model, NULL, &t->sim, error);
    for (int k = 1; status == ABUT_OK && abut_sim_time(t->sim) < until; k++)
        status = abut_sim_advance(t->sim, fmin(k / 60.0, until), error);
    return status;
}

static void end(trial *t) {
    if (t->sim && !abut_sim_audit(t->sim).promises_kept) fail_msg("%s", abut_sim_audit(t->sim).broken);
    abut_sim_free(t->sim);
    abut_model_free(t->model);
    abut_scene_free(t->scene);
}

/* The run ends at `time`, and says so with all the words; what it did until then kept its promises. */
static void ends_at(const char *text, double time, double tolerance, const char *const *words, int count) {
    trial t;
    abut_error error = {0};
    assert_int_equal(run(&t, text, time + 1, &error), ABUT_INFEASIBLE);
    const char *at = strstr(error.message, "at t = ");
    if (!at) fail_msg("no time: %s", error.message);
    close_to(strtod(at + 7, NULL), time, tolerance);
    for (int i = 0; i < count; i++)
        if (!strstr(error.message, words[i])) fail_msg("`%s` is not in: %s", words[i], error.message);
    end(&t);
}
#define ENDS_AT(text, time, tolerance, ...)                                         \
    do {                                                                            \
        static const char *const words[] = {__VA_ARGS__};                           \
        ends_at(text, time, tolerance, words, (int)(sizeof words / sizeof *words)); \
    } while (0)

/* The press is 0.45 - 0.4 t high, the box 0.2. */
static void a_press_meets_what_it_presses(void **state) {
    (void)state;
    ENDS_AT(FLOOR "body { name = 'box', shape = solid.box {0.2, 0.2, 0.2}, position = {0, 0, 0.1} }\n"
                  "body { name = 'press', shape = solid.box {0.4, 0.4, 0.1}, kinematic = true,\n"
                  "       motion = function(t) return {0, 0, 0.5 - 0.4 * t} end }",
            0.625, 1e-9, "`floor` and `box`", "`box` and `press`", "stop in time");
    ENDS_AT(FLOOR "material { friction = 0.5 }\n"
                  "body { name = 'ball', shape = sphere {0.1}, position = {0, 0, 0.1} }\n"
                  "body { name = 'press', shape = halfspace {{0, 0, -1}, -0.5}, kinematic = true,\n"
                  "       velocity = {0, 0, -0.4} }",
            0.75, 1e-9, "`floor` and `ball`", "`ball` and `press`");
    /* between two that both move; and with something in between that a hinge holds together */
    ENDS_AT("world { gravity = {0, 0, 0} }\n"
            "body { name = 'box', shape = solid.box {0.2, 0.2, 0.2} }\n"
            "body { name = 'left', shape = solid.box {0.2, 0.4, 0.4}, position = {-0.3, 0, 0},\n"
            "       kinematic = true, velocity = {0.2, 0, 0} }\n"
            "body { name = 'right', shape = solid.box {0.2, 0.4, 0.4}, position = {0.3, 0, 0},\n"
            "       kinematic = true, velocity = {-0.2, 0, 0} }",
            0.5, 1e-9, "`box` and `left`", "`box` and `right`");
    ENDS_AT(FLOOR "body { name = 'low', shape = solid.box {0.2, 0.2, 0.2}, position = {0, 0, 0.1} }\n"
                  "body { name = 'high', shape = solid.box {0.2, 0.2, 0.2}, position = {0, 0, 0.31} }\n"
                  "hinge.slider { 'high', 'low', axis = {1, 0, 0} }\n"
                  "body { name = 'press', shape = solid.box {0.4, 0.4, 0.1}, position = {0, 0, 0.5},\n"
                  "       kinematic = true, velocity = {0, 0, -0.4} }",
            0.1, 1e-9, "hinge 1", "`floor` and `low`", "`high` and `press`");
}

/* Under a press that leans by 0.1 a ball is squeezed out: x' = 0.4 / 0.1 at first. */
static void what_can_give_way_does(void **state) {
    (void)state;
    trial t;
    abut_error error = {0};
    assert_int_equal(run(&t,
                         FLOOR
                         "body { name = 'ball', shape = sphere {0.1}, position = {0, 0, 0.1} }\n"
                         "body { name = 'press', shape = halfspace {{0.1, 0, -1}, -0.5}, kinematic = true,\n"
                         "       velocity = {0, 0, -0.4} }",
                         1, &error),
                     ABUT_OK);
    close_to(abut_sim_motion(t.sim, 1).velocity.x, 4, 1e-6);
    end(&t);
}

/* A crank of 0.5 that its motor turns down from upright, a coupler of 1, and a rocker of r = sqrt(0.26) about
 * (1.1, 0): they come to an end where coupler and rocker lie in line, at the angle a below the line of the
 * pivots with 1.1^2 + 0.25 - 1.1 cos a = (1 + r)^2. */
static void a_motor_comes_to_a_dead_point(void **state) {
    (void)state;
    double far = 1 + sqrt(0.26), a = acos((1.46 - far * far) / 1.1);
    ENDS_AT(
        "body { name = 'crank', shape = solid.box {0.05, 0.05, 0.5}, position = {0, 0, 0.25}, group = 1 }\n"
        "body { name = 'rocker', shape = solid.box {0.05, 0.05, 0.5}, position = {1, 0, 0.25}, group = 1 }\n"
        "body { name = 'coupler', shape = solid.box {1, 0.05, 0.05}, position = {0.5, 0, 0.5}, group = 1 }\n"
        "hinge.pin { 'crank', at = {0, 0, 0}, axis = {0, 1, 0}, motor = { speed = 1.1 } }\n"
        "hinge.pin { 'rocker', at = {1.1, 0, 0}, axis = {0, 1, 0} }\n"
        "hinge.pin { 'coupler', 'crank', at = {0, 0, 0.5}, axis = {0, 1, 0} }\n"
        "hinge.pin { 'coupler', 'rocker', at = {1, 0, 0.5}, axis = {0, 1, 0} }",
        (acos(0) + a) / 1.1, 1e-3, "the motor of hinge 1 (`crank` and the ground)", "max_force");
}

/* Rods of 1 to the ground and to a body that goes away: straight after a second, or at once. */
static void rods_come_to_be_straight(void **state) {
    (void)state;
    ENDS_AT("body { name = 'ball', shape = sphere {0.1}, position = {0, 0, -0.6} }\n"
            "body { name = 'far', shape = sphere {0.05}, position = {0.8, 0, 0}, kinematic = true,\n"
            "       velocity = {0.4, 0, 0} }\n"
            "hinge.rod { 'ball', at = {0, 0, -0.6}, at_b = {-0.8, 0, 0} }\n"
            "hinge.rod { 'ball', 'far', at = {0, 0, -0.6}, at_b = {0.8, 0, 0} }",
            1, 1e-4, "hinge 1 (`ball` and the ground)", "hinge 2 (`ball` and `far`)");
    ENDS_AT("body { name = 'ball', shape = sphere {0.1} }\n"
            "body { name = 'far', shape = sphere {0.1}, position = {1, 0, 0}, kinematic = true,\n"
            "       velocity = {0.5, 0, 0} }\n"
            "hinge.rod { 'ball', at = {0, 0, 0}, at_b = {-1, 0, 0} }\n"
            "hinge.rod { 'ball', 'far', at = {0, 0, 0}, at_b = {1, 0, 0} }",
            0, 0, "hinge 1", "hinge 2");
}

static void a_motor_works_against_a_pin(void **state) {
    (void)state;
    ENDS_AT("body { name = 'bar', shape = solid.box {1, 0.1, 0.1} }\n"
            "hinge.pin { 'bar', at = {-0.4, 0, 0}, axis = {0, 1, 0}, motor = { speed = 1 } }\n"
            "hinge.pin { 'bar', at = {0.4, 0, 0}, axis = {0, 1, 0} }",
            0, 0, "the motor of hinge 1 (`bar` and the ground)", "hinge 2");
}

/* A screw and a pin make one piece of two bodies that tumble and strike the floor: eleven rows for six
 * freedoms, which differ in states that the integrator tries, and whose angle such a state must not count a
 * turn further. */
static void a_screw_and_a_pin_lock_a_pair(void **state) {
    (void)state;
    trial t;
    abut_error error = {0};
    assert_int_equal(
        run(&t,
            "body { name = 'floor', shape = halfspace {{0, 0, 1}, -2.5}, fixed = true }\n"
            "body { name = 'b0', shape = solid.box {0.42, 0.30, 0.31}, position = {-0.056, 0.092, -0.297},\n"
            "       rotation = {2.26, 0.622544, -0.685785, -0.377012} }\n"
            "body { name = 'b1', shape = cylinder {0.14, 0.29}, position = {0.792, -0.097, -0.108},\n"
            "       rotation = {1.16, 0.941527, -0.199846, 0.271271} }\n"
            "body { name = 'b2', shape = solid.box {0.40, 0.17, 0.31}, position = {1.586, -0.131, 0.26},\n"
            "       rotation = {2.93, -0.03809, -0.985124, -0.167569}, spin = {0.916, -0.327, 1.547},\n"
            "       velocity = {0.076, 0.149, 0.196} }\n"
            "hinge.rod { 'b0', at = {0.017, 0.1, -0.146}, at_b = {0.349, 0.66, 0.427} }\n"
            "hinge.point_on_plane { 'b1', 'b0', at = {0.613, 0.112, -0.177},\n"
            "                       axis = {0.955709, -0.065385, 0.286957}, collide = true }\n"
            "hinge.screw { 'b2', 'b1', at = {1.563, -0.203, 0.343}, axis = {0.974039, 0.159728, 0.16042},\n"
            "              pitch = 0.015, motor = { speed = 1, max_force = 10.88 } }\n"
            "hinge.pin { 'b1', 'b2', at = {1.189, -0.114, 0.076}, axis = {0.195597, 0.92422, -0.327961} }",
            1.5, &error),
        ABUT_OK);
    end(&t);
}

/* A wedge of the angle 0.3 on the floor under a press that comes down at 0.1, 0.02 above it: its sides are in
 * each other's cones of friction up to the angle 2 atan(mu).  Beyond it slides out at 0.1 / tan 0.3. */
#define WEDGE                                                                        \
    "body { name = 'floor', shape = halfspace {{0, 0, 1}, 0}, fixed = true }\n"      \
    "local a, t = 0.3, math.tan(0.3)\n"                                              \
    "body { name = 'wedge', rotation = {math.pi / 2, 1, 0, 0},\n"                    \
    "       shape = solid.prism {{{0, 0}, {1, 0}, {1, 0.1}, {0, 0.1 + t}}, 0.4} }\n" \
    "body { name = 'press', kinematic = true, velocity = {0, 0, -0.1},\n"            \
    "       shape = halfspace {{-math.sin(a), 0, -math.cos(a)}, -math.cos(a) * (0.12 + t)} }"
static void friction_jams_a_wedge(void **state) {
    (void)state;
    trial t;
    abut_error error = {0};
    assert_true(2 * atan(0.15) < 0.3 && 2 * atan(0.152) > 0.3);
    ENDS_AT("material { friction = 0.152 }\n" WEDGE, 0.2, 1e-9, "friction jams", "`floor` and `wedge`",
            "`wedge` and `press`", "stop in time", "friction less");
    ENDS_AT("material { friction = 0.152, restitution = 0.5 }\n" WEDGE, 0.2, 1e-9, "friction jams");
    assert_int_equal(run(&t, "material { friction = 0.15 }\n" WEDGE, 0.5, &error), ABUT_OK);
    close_to(abut_sim_motion(t.sim, 1).velocity.x, -0.1 / tan(0.3), 1e-9);
    end(&t);
}

/* Jaws close on a box of 0.3 that stands turned by 0.3: on two corners, whose line leans by pi/4 - 0.3 to the
 * normals of the jaws, once they are 0.3 sqrt(2) cos(pi/4 - 0.3) apart.  Friction less than the tangent of
 * that lets it turn until its sides lie on the jaws. */
#define GRIPPER                                                                                         \
    "world { gravity = {0, 0, 0} }\n"                                                                   \
    "body { name = 'box', shape = solid.box {0.3, 0.3, 0.3}, rotation = {0.3, 0, 0, 1} }\n"             \
    "body { name = 'left', shape = solid.box {0.2, 1, 1}, position = {-0.5, 0, 0}, kinematic = true,\n" \
    "       velocity = {0.1, 0, 0} }\n"                                                                 \
    "body { name = 'right', shape = solid.box {0.2, 1, 1}, position = {0.5, 0, 0}, kinematic = true,\n" \
    "       velocity = {-0.1, 0, 0} }"
static void friction_jams_a_gripper(void **state) {
    (void)state;
    double lean = atan(1) - 0.3, apart = 0.3 * sqrt(2) * cos(lean);
    assert_true(0.52 < tan(lean) && tan(lean) < 0.54);
    ENDS_AT("material { friction = 0.54 }\n" GRIPPER, (0.8 - apart) / 0.2, 5e-9, "friction jams",
            "`box` and `left`", "`box` and `right`");
    ENDS_AT("material { friction = 0.52 }\n" GRIPPER, 2.5, 1e-6, "contradict each other", "`box` and `left`",
            "`box` and `right`");
}

/* A crank of 0.3 and a rod of 1.3 push a block along the floor, against a ramp at x = 2: 0.1 - 0.3 cos t +
 * sqrt(1.3^2 - 0.09 sin^2 t) = 1.6.  The ramp leans by 0.9 > pi/2 - 2 atan(0.6). */
static void friction_jams_a_crank(void **state) {
    (void)state;
    ENDS_AT(
        "material { friction = 0.6 }\n"
        "body { name = 'floor', shape = halfspace {{0, 0, 1}, 0}, fixed = true }\n"
        "local s, c = math.sin(0.9), math.cos(0.9)\n"
        "body { name = 'ramp', shape = halfspace {{-s, 0, c}, -2 * s}, fixed = true }\n"
        "body { name = 'block', shape = solid.box {0.3, 0.3, 0.3}, position = {1.65, 0, 0.15} }\n"
        "local function bar(name, length, x)\n"
        "  body { name = name, shape = solid.box {length, 0.05, 0.05}, position = {x, 0, 0.2}, group = 1 }\n"
        "end\n"
        "bar('slider', 0.2, 1.1) bar('crank', 0.3, -0.05) bar('rod', 1.3, 0.45)\n"
        "hinge.slider { 'slider', at = {1.1, 0, 0.2}, axis = {1, 0, 0} }\n"
        "hinge.pin { 'crank', at = {0.1, 0, 0.2}, axis = {0, 0, 1}, motor = { speed = 1 } }\n"
        "hinge.pin { 'crank', 'rod', at = {-0.2, 0, 0.2}, axis = {0, 0, 1} }\n"
        "hinge.pin { 'rod', 'slider', at = {1.1, 0, 0.2}, axis = {0, 0, 1} }",
        acos(-0.65 / 0.9), 5e-9, "friction jams", "`ramp` and `block`", "`block` and `slider`",
        "the motor of hinge 2", "max_force");
}

/* A ball between the floor and a plate that closes by 0.2 rad/s from 0.6 is squeezed out until the angle is
 * that of friction, twice: there the forces have grown without bound. */
static void friction_comes_to_jam(void **state) {
    (void)state;
    ENDS_AT(
        "material { friction = 0.2 }\n"
        "body { name = 'floor', shape = halfspace {{0, 0, 1}, 0}, fixed = true }\n"
        "body { name = 'ball', shape = sphere {0.1}, position = {0, 0, 0.1} }\n"
        "local x = -0.1 / math.tan(0.3) - 0.05\n"
        "body { name = 'plate', shape = halfspace {{0, 0, -1}, 0}, kinematic = true, motion = function(t)\n"
        "  local a = 0.6 - 0.2 * t\n"
        "  return {x, 0, 0}, {math.cos(a / 2), 0, -math.sin(a / 2), 0}\n"
        "end }",
        (0.6 - 2 * atan(0.2)) / 0.2, 1e-3, "friction jams", "`floor` and `ball`", "`ball` and `plate`");
}

static void keep(void *user, abut_log_level level, const char *message) {
    (void)level;
    strncat(user, message, 2000 - strlen(user));
}

/* A ball in a slot as wide as itself goes from its soft wall, e = 0, against the hard one, e = 0.8: no
 * velocities give it that, so it stops, with the impulse m v; and the run says so. */
static void a_slot_leaves_no_room_to_bounce(void **state) {
    (void)state;
    const char *text =
        "world { gravity = {0, 0, 0} }\nmaterial { name = 'hard', restitution = 0.8 }\n"
        "body { name = 'soft', shape = solid.box {0.2, 1, 1}, position = {-0.2, 0, 0}, fixed = true }\n"
        "body { name = 'wall', shape = solid.box {0.2, 1, 1}, position = {0.2, 0, 0}, fixed = true,\n"
        "       material = 'hard' }\n"
        "body { name = 'ball', shape = sphere {0.1}, mass = 2, velocity = {1, 0, 0.3} }";
    char told[2048] = "";
    abut_context context = {.log = {keep, told}};
    trial t = {0};
    abut_error error = {0};
    assert_int_equal(abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &t.scene, &error),
                     ABUT_OK);
    assert_int_equal(abut_model_create(&context, abut_scene_world(t.scene), &t.model, &error), ABUT_OK);
    assert_int_equal(abut_sim_create(&context, t.model, NULL, &t.sim, &error), ABUT_OK);
    assert_int_equal(abut_sim_advance(t.sim, 0.5, &error), ABUT_OK);
    close_to(abut_sim_motion(t.sim, 2).velocity.x, 0, 1e-12);
    close_to(abut_sim_motion(t.sim, 2).center.z, 0.15, 1e-12);
    assert_non_null(strstr(told, "no impulses give `wall` and `ball` their restitution"));
    end(&t);
}

/* What is said in vain is told, with names; what numbers cannot hold is refused, with the name. */
static void what_does_nothing_is_told(void **state) {
    (void)state;
    static const char *const words[] = {"hinge 1 holds nothing: `f` is fixed, and so is `g`",
                                        "the force on body `f` does nothing: it is fixed",
                                        "body `f` is fixed, and its velocity does nothing",
                                        "spring 1 pulls at nothing that moves"};
    const char *text =
        "body { name = 'f', shape = solid.box {1, 1, 1}, fixed = true, velocity = {0, 0, 1} }\n"
        "body { name = 'g', shape = solid.box {1, 1, 1}, position = {2, 0, 0}, fixed = true }\n"
        "hinge.pin { 'f', 'g' }\nspring { 'f', 'g', stiffness = 1 }\n"
        "force { 'f', value = {0, 0, 1} }";
    char told[2048] = "";
    abut_context context = {.log = {keep, told}};
    abut_scene *scene = NULL;
    abut_model *model = NULL;
    abut_error error = {0};
    assert_int_equal(abut_scene_read(&context, text, strlen(text), "test.lua", ".", NULL, &scene, &error),
                     ABUT_OK);
    assert_int_equal(abut_model_create(&context, abut_scene_world(scene), &model, &error), ABUT_OK);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(told, words[i])) fail_msg("`%s` is not in: %s", words[i], told);
    abut_model_free(model), abut_scene_free(scene);
    text = "body { name = 'heavy', shape = solid.box {1, 1, 1}, mass = 1e308 }";
    assert_int_equal(abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &scene, &error),
                     ABUT_OK);
    assert_int_equal(abut_model_create(NULL, abut_scene_world(scene), &model, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "`heavy`"));
    abut_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_press_meets_what_it_presses), cmocka_unit_test(what_can_give_way_does),
        cmocka_unit_test(a_motor_comes_to_a_dead_point), cmocka_unit_test(rods_come_to_be_straight),
        cmocka_unit_test(a_motor_works_against_a_pin),   cmocka_unit_test(a_screw_and_a_pin_lock_a_pair),
        cmocka_unit_test(what_does_nothing_is_told),     cmocka_unit_test(friction_jams_a_wedge),
        cmocka_unit_test(friction_jams_a_gripper),       cmocka_unit_test(friction_jams_a_crank),
        cmocka_unit_test(friction_comes_to_jam),         cmocka_unit_test(a_slot_leaves_no_room_to_bounce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
