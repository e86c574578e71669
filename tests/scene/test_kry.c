/* Kry's scene files: what the listing of the thesis says, and errors with their lines. */
#include "abut/scene.h"
#include "abut/surface.h"
#include "support.h"

#include <string.h>

static abut_scene *load(const char *text, abut_error *error) {
    abut_scene *scene = NULL;
    *error = (abut_error){0};
    abut_scene_read(NULL, text, strlen(text), "test.scene", ".", NULL, &scene, error);
    return scene;
}

#define ROW(y, a, b) "[-1.5 " y " " a "] [-0.5 " y " " b "] [0.5 " y " " b "] [1.5 " y " " a "]\n"
#define NET(a, b, c) ROW("-1.5", a, b) ROW("-0.5", b, c) ROW("0.5", b, c) ROW("1.5", a, b)

/* As printed: a comment ended twice, a Loop object inside it, signs and backslashes of the typesetting. */
static const char listing[] =
    "// This file simulates a rattleback\n"
    "view V1 {\n    Translate [0 -0.355 1.2];\n    Rotate -90 [1 0 0];\n    ribFileName = \"rb.rib\";\n"
    "    Format = \"300 225 -1\"; // size of the image\n};\n"
    "World RBSim {\n"
    "    LightSource L1 ambientlight { intensity = 0.3; colour = [ 0.1 0.1 0.1 ]; };\n"
    "    LightSource L2 arealight { point = [ 0 40 30 ]; pointintensity = 2.0; colour = [ 1 0.5 1 ];\n"
    "        polygonp = \"[-10.0 10.0 40 10.0 10.0 40\n 10.0 -10.0 40 -10.0 -10.0 40]\"; };\n"
    "    /* Note that obj files have a .obj ending */\n"
    "    Object bowl Loop { scale = [ 0.05 0.05 0.05 ]; objfileroot = \"data/flatbowl\"; fixed = true; };\n"
    "*/\n"
    "    Object rattleback Bezier {\n"
    "        scale = [ 0.6 0.2 0.2 ]; rotate = -0.174 [ 0 0 1 ]; offset = [0 \\ 0.0 \\quad 0.2];\n"
    "        mass = 5; inertia = [ 1 0.25 0 ] [ 0.25 10 0 ] [ 0 0 10 ]; fixed = false;\n"
    "        controlp = " NET(
        "- 2.0", "-1.0",
        "0.0") ";\n    };\n"
               "    Object floor Bezier { offset = [0 0 0]; fixed = true; controlp = " NET(
                   "0", "0",
                   "0") "; };\n"
                        "    Contact C2 { objectA = floor; objectB = rattleback; codeA = \"oponopono\";\n"
                        "        coords = 0.15 0.5 0.5 0.5 0;\n"
                        "        coords = 0.45 0.45 0.5 0.5 0; dcoords = 0 0 0 0 -1; wmuz = -0.0001;\n    "
                        "};\n};\n";

static void the_listing_is_read_as_it_is(void **state) {
    (void)state;
    abut_error error;
    abut_scene *scene = load(listing, &error);
    if (!scene) fail_msg("%d: %s", error.line, error.message);
    const abut_world_def *w = abut_scene_world(scene);
    assert_int_equal(w->body_count, 2);
    const abut_body_def *top = &w->bodies[0], *floor = &w->bodies[1];
    assert_string_equal(top->name, "rattleback");
    assert_string_equal(floor->name, "floor");
    assert_true(floor->fixed && !top->fixed && top->mass == 5 && top->has_inertia && top->has_center);
    assert_true(top->inertia[0] == 1 && top->inertia[1] == 10 && top->inertia[3] == 0.25);
    /* the middle of the patch: z = 0.2 (-2 * 1/4 ...) by the blossom: -2 corners weigh 1/16, sides 3/8 */
    abut_partials p;
    assert_true(abut_surface_evaluate(top->shape.surface, 0, 0.5, 0.5, 0, &p));
    double z = 0.2 * (-2.0 * 4 / 64 - 1.0 * 24 / 64) + 0.2;
    assert_true(fabs(p.c.x) < 1e-15 && fabs(p.c.y) < 1e-15 && fabs(p.c.z - z) < 1e-15);
    assert_int_equal(w->rolling_count, 1);
    const abut_rolling_def *c = &w->rollings[0];
    assert_true(c->a == 0 && c->b == 1 && c->coordinates[0] == 0.45 && c->rates[4] == -1);
    assert_true(w->material.friction.stick == 0.3 && w->material.friction.spinning == 0.0001);
    abut_camera camera = abut_scene_camera(scene);
    /* world to camera: x, y' = z, z' = -y, then the shift: the eye is at y' = 0.355, z' = -1.2 */
    assert_true(camera.given && fabs(camera.position.y - 1.2) < 1e-15 &&
                fabs(camera.position.z - 0.355) < 1e-15);
    const abut_light *lights;
    assert_int_equal(abut_scene_lights(scene, &lights), 1);
    assert_true(lights[0].position.z == 30 && lights[0].intensity == 2 && lights[0].color.y == 0.5);
    abut_model *model = NULL;
    if (abut_model_create(NULL, w, &model, &error) != ABUT_OK) fail_msg("%s", error.message);
    abut_model_free(model);
    abut_scene_free(scene);
}

static void refused(const char *text, int line, const char *word) {
    abut_error error;
    abut_scene *scene = load(text, &error);
    if (scene) fail_msg("accepted: %s", text);
    if (error.status != ABUT_INVALID || error.line != line || !strstr(error.message, word))
        fail_msg("%d: %s; wanted line %d, `%s`", error.line, error.message, line, word);
}

static void errors_say_where(void **state) {
    (void)state;
    refused("World W {\n Object a Sphere { };\n};\n", 2, "unknown kind");
    refused("World W {\n Object a Bezier {\n  controlp = [0 0 0];\n };\n};\n", 3, "48");
    refused("World W {\n Object a Bezier {\n  fixed = true;\n", 4, "ends");
    refused("World W {\n Object a Bezier { fixed = true; };\n};\n", 2, "controlp");
    refused("World W {\n thing\n};\n", 2, "`thing`");
    refused("World W {\n Contact c {\n  coords = 1 2 3;\n };\n};\n", 3, "5 coordinates");
    refused("World W {\n Object a Loop { objfileroot = \"x\"; scale = [1 2 3]; };\n};\n", 2, "same factor");
    refused("World W {\n Object a Bezier { mass = 1", 2, "does not end");
    refused("", 0, "no body");
    refused("/* never ended", 0, "no body");
    refused("*/ */", 0, "no body");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_listing_is_read_as_it_is),
        cmocka_unit_test(errors_say_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
