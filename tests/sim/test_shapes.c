/* Cylinders and ellipsoids in the exact clock: closed forms, and shapes that are the same under two names. */
#include "trial.h"

#define TABLE "body { name = 'table', shape = solid.box {4, 4, 1}, position = {0, 0, -0.5}, fixed = true }\n"

/* x = (2/3) g sin t^2 / 2 for a cylinder that rolls without slipping, on a half-space and on the top of a
 * box. */
static void a_cylinder_rolls_down_a_slope(void **state) {
    (void)state;
    const char *grounds[] = {FLOOR, TABLE};
    for (int i = 0; i < 2; i++) {
        char text[512];
        trial t;
        snprintf(text, sizeof text,
                 "world { gravity = {9.81 * 0.28, 0, -9.81 * 0.96} }\nmaterial { friction = 0.5 }\n%s"
                 "body { shape = cylinder {0.1, 0.5}, position = {0, 0, 0.1}, rotation = {math.pi / 2, 1, 0, "
                 "0} }",
                 grounds[i]);
        start(&t, text);
        advance(&t, 1);
        close_to(abut_sim_motion(t.sim, 1).center.x, 9.81 * 0.28 / 3, 1e-8);
        close_to(abut_sim_motion(t.sim, 1).spin.y, 9.81 * 0.28 * 2 / 3 / 0.1, 1e-7);
        finish(&t);
    }
}

static double distance(abut_vec3 a, abut_vec3 b) {
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static void drop(const char *shape, const char *other, const char *rest, double until, abut_motion *out) {
    char text[1024];
    trial t;
    snprintf(text, sizeof text,
             "material { restitution = 0.3, friction = 0.3 }\n%s\nbody { name = 'other', %s, fixed = true }\n"
             "body { name = 'it', shape = %s, %s }",
             rest, other, shape,
             "position = {0.07, 0.05, 1.3}, spin = {1, 2, 0.5}, mass = 2, inertia = {0.03, 0.03, 0.03}");
    start(&t, text);
    advance(&t, until);
    *out = abut_sim_motion(t.sim, abut_model_find_body(t.model, "it"));
    finish(&t);
}

/* An ellipsoid with equal axes is a sphere, whatever it falls on. */
static void an_ellipsoid_of_equal_axes_is_a_sphere(void **state) {
    (void)state;
    const char *others[] = {"shape = sphere {0.4}",
                            "shape = capsule {0.2, 0.8}, rotation = {1.2, 0, 1, 0}",
                            "shape = cylinder {0.4, 0.5}",
                            "shape = cylinder {0.3, 0.8}, rotation = {1.3, 0, 1, 0.2}",
                            "shape = ellipsoid {0.6, 0.5, 0.4}",
                            "shape = solid.box {1, 1, 0.5}, rotation = {0.6, 1, 1, 0}",
                            "shape = sphere {2, inside = true}"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        abut_motion a, b;
        drop("sphere {0.2}", others[i], "", 0.9, &a);
        drop("ellipsoid {0.2, 0.2, 0.2}", others[i], "", 0.9, &b);
        if (distance(a.center, b.center) > 1e-7)
            fail_msg("%s: (%.9g %.9g %.9g) and (%.9g %.9g %.9g)", others[i], a.center.x, a.center.y,
                     a.center.z, b.center.x, b.center.y, b.center.z);
    }
}

/* The top of a wide box is a half-space. */
static void the_top_of_a_box_is_a_half_space(void **state) {
    (void)state;
    const char *shapes[] = {"ellipsoid {0.2, 0.15, 0.3}", "cylinder {0.2, 0.3}", "capsule {0.1, 0.3}"};
    for (int i = 0; i < 3; i++) {
        abut_motion a, b;
        drop(shapes[i], "shape = halfspace { normal = {0, 0, 1}, offset = 0 }", "", 0.8, &a);
        drop(shapes[i], "shape = solid.box {9, 9, 1}, position = {0, 0, -0.5}", "", 0.8, &b);
        close_to(a.center.x, b.center.x, 1e-7);
        close_to(a.center.z, b.center.z, 1e-7);
        close_to(a.spin.z, b.spin.z, 1e-6);
    }
}

/* A cylinder that slides off a table without friction stays level until its centre passes the edge: the rim
 * and the edge cross in two places that carry it. */
static void a_cylinder_tips_over_the_edge(void **state) {
    (void)state;
    trial t;
    start(&t,
          "world { frame = 1/100 }\nbody { shape = solid.box {2, 2, 1}, fixed = true, position = {0, 0, "
          "-0.5} }\nbody { shape = cylinder {0.3, 0.4}, position = {0.5, 0.1, 0.2}, velocity = {1, 0, 0} }");
    advance(&t, 0.5);
    close_to(abut_sim_motion(t.sim, 1).center.x, 1, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).center.z, 0.2, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).spin.y, 0, 1e-9);
    advance(&t, 0.56);
    assert_true(abut_sim_motion(t.sim, 1).spin.y > 1e-3);
    finish(&t);
}

/* Towers of cylinders stand, also on a table, beside each other and shifted. */
static void cylinders_stand(void **state) {
    (void)state;
    trial t;
    start(&t, "world { frame = 1/4 }\nmaterial { friction = 0.5 }" TABLE
              "for i = 1, 4 do body { shape = cylinder {0.3, 0.4}, position = {0.05 * i, 0.02 * i, 0.4 * i - "
              "0.2} } end\nbody { shape = solid.box {0.5, 0.5, 0.2}, position = {0.15, 0.05, 1.7} }");
    advance(&t, 10);
    for (int i = 1; i <= 4; i++) {
        close_to(abut_sim_motion(t.sim, i).center.x, 0.05 * i, 1e-8);
        close_to(abut_sim_motion(t.sim, i).center.z, 0.4 * i - 0.2, 1e-8);
    }
    close_to(abut_sim_motion(t.sim, 5).center.z, 1.7, 1e-8);
    finish(&t);
}

/* A log in the notch between two: each carries m g / (2 cos a), sin a = half the distance / (2 r). */
static void a_log_lies_on_two(void **state) {
    (void)state;
    trial t;
    start(&t,
          "for i = -1, 1, 2 do body { shape = cylinder {0.2, 2}, rotation = {math.pi / 2, 1, 0, 0}, "
          "position = {0.24 * i, 0, 0}, fixed = true } end\n"
          "body { shape = cylinder {0.2, 1.5}, rotation = {math.pi / 2, 1, 0, 0}, position = {0, 0, 0.32}, "
          "mass = 5 }");
    advance(&t, 1);
    close_to(abut_sim_motion(t.sim, 2).center.z, 0.32, 1e-9);
    const abut_contact *contacts;
    int count = abut_sim_contacts(t.sim, &contacts);
    assert_int_equal(count, 2);
    for (int i = 0; i < count; i++) {
        double force = 0;
        for (int k = 0; k < contacts[i].point_count; k++)
            force += distance(contacts[i].forces[k], (abut_vec3){0, 0, 0});
        close_to(force, 5 * 9.81 / (2 * 0.8), 1e-7);
        assert_int_equal(contacts[i].dimension, 1);
    }
    finish(&t);
}

/* Things that stand in a hollow sphere of radius 1: a cylinder on its rim, a box on its corners, a capsule
 * and an ellipsoid on their ends. */
static void a_cavity_holds_every_shape(void **state) {
    (void)state;
    const char *bodies[] = {
        "shape = cylinder {0.6, 0.4}, position = {0, 0, -0.6}",
        "shape = solid.box {0.6, 0.6928203230275509, 0.4}, position = {0, 0, "
        "0.2 - math.sqrt(0.79)}",
        "shape = ellipsoid {0.3, 0.3, 0.2}, position = {0, 0, -0.8}",
        "shape = capsule {0.1, 0.8}, rotation = {math.pi / 2, 0, 1, 0}, position = {0, 0, "
        "-math.sqrt(0.65)}"};
    for (int i = 0; i < 4; i++) {
        char text[512];
        trial t;
        snprintf(
            text, sizeof text,
            "material { friction = 0.4 }\nbody { shape = sphere {1, inside = true}, fixed = true }\nbody { "
            "%s }",
            bodies[i]);
        start(&t, text);
        double z = abut_sim_motion(t.sim, 1).center.z;
        advance(&t, 2);
        close_to(abut_sim_motion(t.sim, 1).center.z, z, 1e-8);
        assert_true(abut_sim_event_count(t.sim, ABUT_EVENT_CONTACT_MADE) == 1);
        finish(&t);
    }
}

/* Regions are those of the faces: an L on a table has the area of the L, on a U below it what both share, a
 * box over the rim of the table the part that lies on it; a chair has four feet. */
static void regions_have_their_true_area(void **state) {
    (void)state;
    const char ell[] = "solid.prism {{{0, 0}, {1, 0}, {1, 0.4}, {0.4, 0.4}, {0.4, 1}, {0, 1}}, 0.2}";
    const char u[] =
        "solid.prism {{{0, 0}, {1, 0}, {1, 1}, {0.8, 1}, {0.8, 0.2}, {0.2, 0.2}, {0.2, 1}, {0, 1}}, "
        "0.4}";
    const struct {
        const char *below, *above, *place;
        double area;
        int regions;
    } cases[] = {{"halfspace { normal = {0, 0, 1}, offset = 0.2 }", ell, "{0, 0, 0.3}", 0.64, 1},
                 {u, ell, "{0, 0, 0.3}", 0.2 + 0.2 * 0.8 + 0.2 * 0.2, 1},
                 {u, "solid.box {0.4, 0.4, 0.2}", "{0.1, 0.5, 0.3}", 0.2 * 0.4, 1},
                 {u, "solid.box {1, 0.4, 0.2}", "{0.5, 0.7, 0.3}", 2 * 0.2 * 0.4, 1},
                 {"solid.box {1, 1, 0.4}", "cylinder {0.3, 0.2}", "{0, 0, 0.3}", 0, 1},
                 {"halfspace { normal = {0, 0, 1}, offset = 0.2 }", "cylinder {0.3, 0.2}", "{0, 0, 0.3}",
                  3.141592653589793 * 0.09, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        trial t;
        snprintf(text, sizeof text,
                 "body { shape = %s, fixed = true }\nmaterial { friction = 0.5 }\nbody { shape = %s, "
                 "position = %s }",
                 cases[i].below, cases[i].above, cases[i].place);
        start(&t, text);
        const abut_contact *contacts;
        int count = abut_sim_contacts(t.sim, &contacts);
        assert_int_equal(count, cases[i].regions);
        assert_int_equal(contacts[0].dimension, 2);
        assert_int_equal(contacts[0].entity[0].kind, ABUT_ENTITY_FACE);
        assert_int_equal(contacts[0].entity[1].kind, ABUT_ENTITY_FACE);
        if (cases[i].area > 0) close_to(contacts[0].area, cases[i].area, 1e-12);
        finish(&t);
    }
    trial t = {0};
    abut_error error = {0};
    static const char chair[] = FLOOR "body { shape = solid.mesh { file = 'meshes/chair.obj' }, mass = 4 }";
    if (abut_scene_read(NULL, chair, strlen(chair), "test.lua", ABUT_SOURCE "/scenes", NULL, &t.scene,
                        &error) != ABUT_OK ||
        abut_model_create(NULL, abut_scene_world(t.scene), &t.model, &error) != ABUT_OK ||
        abut_sim_create(NULL, t.model, NULL, &t.sim, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    const abut_contact *contacts;
    double force = 0;
    assert_int_equal(abut_sim_contacts(t.sim, &contacts), 4);
    for (int i = 0; i < 4; i++) {
        close_to(contacts[i].area, 0.04 * 0.04, 1e-12);
        for (int k = 0; k < contacts[i].point_count; k++) force += fabs(contacts[i].forces[k].z);
    }
    close_to(force, 4 * 9.81, 1e-9);
    finish(&t);
}

static void make(const char *text, bool separate, abut_scene **scene, abut_model **model) {
    abut_error error = {0};
    abut_scene_options options = {.separate = separate};
    *model = NULL;
    if (abut_scene_read(NULL, text, strlen(text), "test.lua", ".", &options, scene, &error) != ABUT_OK ||
        abut_model_create(NULL, abut_scene_world(*scene), model, &error) != ABUT_OK)
        fail_msg("%s", error.message);
}

/* Boxes sunk into each other rise to contact: a tower that stands then; fixed bodies stay, and what has no
 * room is refused. */
static void overlapping_bodies_are_pushed_apart(void **state) {
    (void)state;
    static const char tower[] = FLOOR
        "for i = 1, 4 do body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.45 * i - 0.25} } end\n"
        "body { shape = sphere {0.2}, position = {3, 0, 0.1} }";
    abut_scene *scene;
    abut_model *model;
    make(tower, true, &scene, &model);
    assert_int_equal(abut_model_overlaps(model, NULL, 0), 0);
    const abut_vec3 *shifts = abut_scene_shifts(scene);
    assert_true(shifts[0].x == 0 && shifts[0].y == 0 && shifts[0].z == 0);
    for (int i = 1; i <= 4; i++) close_to(shifts[i].z, 0.05 * i, 1e-6);
    close_to(shifts[5].z, 0.1, 1e-9);
    abut_model_free(model);
    abut_scene_free(scene);
    static const char tight[] =
        "for i = -1, 1, 2 do body { shape = solid.box {1, 9, 9}, position = {i, 0, 0}, "
        "fixed = true } end\nfor i = -1, 1, 2 do body { shape = solid.box {9, 1, 9}, "
        "position = {0, i, 0}, fixed = true } end\nfor i = -1, 1, 2 do body { shape = "
        "solid.box {9, 9, 1}, position = {0, 0, i}, fixed = true } end\n"
        "body { name = 'big', shape = sphere {0.6} }";
    abut_scene_options options = {.separate = true};
    abut_error error = {0};
    assert_int_equal(abut_scene_read(NULL, tight, strlen(tight), "test.lua", ".", &options, &scene, &error),
                     ABUT_BUDGET);
    assert_non_null(strstr(error.message, "big"));
}

/* Corner on corner, corner on edge and parallel edges leave the normal open; faces do not, nor do bodies that
 * cannot move, nor corners that coincide on faces that carry. */
static void ambiguous_contacts_are_listed(void **state) {
    (void)state;
    const struct {
        const char *place;
        int count;
        abut_entity_kind kinds[2];
    } cases[] = {{"{1, 1, 1}", 1, {ABUT_ENTITY_VERTEX, ABUT_ENTITY_VERTEX}},
                 {"{1, 1, 0.3}", 1, {ABUT_ENTITY_EDGE, ABUT_ENTITY_EDGE}},
                 {"{0, 0, 1}", 0, {0, 0}},
                 {"{0.2, 0.3, 1}", 0, {0, 0}},
                 {"{2, 0, 0}", 0, {0, 0}}};
    for (int fixed = 0; fixed < 2; fixed++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            char text[512];
            abut_scene *scene;
            abut_model *model;
            abut_ambiguity found[2];
            snprintf(
                text, sizeof text,
                "body { shape = solid.box {1, 1, 1}, fixed = true }\nbody { shape = solid.box {1, 1, 1}, "
                "position = %s, fixed = %s }",
                cases[i].place, fixed ? "true" : "false");
            make(text, false, &scene, &model);
            int count = abut_model_ambiguities(model, found, 2);
            assert_int_equal(count, fixed ? 0 : cases[i].count);
            if (count) {
                assert_int_equal(found[0].entity[0].kind, cases[i].kinds[0]);
                assert_int_equal(found[0].entity[1].kind, cases[i].kinds[1]);
            }
            abut_model_free(model);
            abut_scene_free(scene);
        }
}

/* Two shapes on top of each other: touching is no overlap, a centimetre is one of a centimetre. */
static void overlap_of_every_pair_is_measured(void **state) {
    (void)state;
    const struct {
        const char *shape;
        double half;
    } shapes[] = {{"cylinder {0.4, 0.5}", 0.25},
                  {"ellipsoid {0.5, 0.6, 0.3}", 0.3},
                  {"sphere {0.2}", 0.2},
                  {"capsule {0.2, 0.4}", 0.4},
                  {"solid.box {1, 1, 0.5}", 0.25}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 5; j++)
            for (int deep = 0; deep < 2; deep++) {
                char text[512];
                abut_scene *scene = NULL;
                abut_model *model = NULL;
                abut_error error = {0};
                abut_overlap found[2];
                snprintf(text, sizeof text,
                         "body { shape = %s, fixed = true }\nbody { shape = %s, position = {0, 0, %.17g} }",
                         shapes[i].shape, shapes[j].shape,
                         shapes[i].half + shapes[j].half - (deep ? 0.01 : 0));
                assert_int_equal(
                    abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &scene, &error),
                    ABUT_OK);
                assert_int_equal(abut_model_create(NULL, abut_scene_world(scene), &model, &error), ABUT_OK);
                int count = abut_model_overlaps(model, found, 2);
                if (count != deep) fail_msg("%s on %s: %d overlaps", shapes[j].shape, shapes[i].shape, count);
                if (deep) close_to(found[0].depth, 0.01, 0.002);
                abut_model_free(model);
                abut_scene_free(scene);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cylinder_rolls_down_a_slope),
        cmocka_unit_test(an_ellipsoid_of_equal_axes_is_a_sphere),
        cmocka_unit_test(the_top_of_a_box_is_a_half_space),
        cmocka_unit_test(a_cylinder_tips_over_the_edge),
        cmocka_unit_test(cylinders_stand),
        cmocka_unit_test(a_log_lies_on_two),
        cmocka_unit_test(a_cavity_holds_every_shape),
        cmocka_unit_test(regions_have_their_true_area),
        cmocka_unit_test(overlap_of_every_pair_is_measured),
        cmocka_unit_test(overlapping_bodies_are_pushed_apart),
        cmocka_unit_test(ambiguous_contacts_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
