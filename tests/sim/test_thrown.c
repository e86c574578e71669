/* Loop surfaces with dents and S-patches thrown onto the floor: after every frame the lowest point of the
 * body, found by abut_surface_support through the atlas and not by the clock, lies on or above the floor;
 * energy that impacts and friction did not take is still there. */
#include "abut/sim.h"
#include "abut/surface.h"
#include "support.h"

#include <string.h>

typedef struct thrown {
    const char *cage;
    double scale, seconds;
    abut_friction friction;
    double restitution;
    vec3 velocity, spin;
    double energy; /* of the largest: what the balance may be off; errors of many steps add up */
    quat rotation; /* at the start */
} thrown;

static abut_surface *load(const thrown *c) {
    abut_mesh *mesh = NULL;
    abut_surface *surface = NULL;
    abut_error error = {0};
    abut_loop_options options = abut_default_loop_options();
    options.form = ABUT_LOOP_SMOOTH, options.scale = c->scale;
    if (abut_mesh_load(NULL, support_shared(c->cage), &mesh, &error) != ABUT_OK ||
        abut_surface_loop(NULL, mesh, &options, &surface, &error) != ABUT_OK)
        fail_msg("%s: %s", c->cage, error.message);
    abut_mesh_free(NULL, mesh);
    return surface;
}

static abut_model *make(const thrown *c, const abut_surface *surface) {
    abut_body_def bodies[2] = {abut_default_body(), abut_default_body()};
    bodies[0].name = "floor", bodies[0].fixed = true;
    bodies[0].shape = (abut_shape){.kind = ABUT_SHAPE_HALFSPACE, .normal = {0, 0, 1}};
    bodies[1].name = "body";
    bodies[1].shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface};
    bodies[1].position = (vec3){0, 0, 4 * c->scale};
    bodies[1].rotation = quat_unit(c->rotation);
    bodies[1].velocity = c->velocity, bodies[1].spin = c->spin;
    abut_world_def world = abut_default_world();
    world.bodies = bodies, world.body_count = 2;
    world.material.friction = c->friction, world.material.restitution = c->restitution;
    abut_model *model = NULL;
    abut_error error = {0};
    if (abut_model_create(NULL, &world, &model, &error) != ABUT_OK) fail_msg("%s", error.message);
    return model;
}

/* Height of the lowest point of the body above the floor. */
static double lowest(const abut_sim *sim, const abut_model *model, const abut_surface *surface,
                     const abut_surface_tree *tree) {
    abut_motion m = abut_sim_motion(sim, 1);
    vec3 down = quat_unrotate(m.rotation, (vec3){0, 0, -1});
    abut_mass mass = abut_model_body_mass(model, 1);
    double reach = abut_surface_support(surface, tree, down).distance - vec3_dot(down, mass.center);
    return m.center.z - reach;
}

static void throw(const thrown *c) {
    abut_surface *surface = load(c);
    abut_model *model = make(c, surface);
    abut_surface_tree *tree = NULL;
    abut_sim *sim = NULL;
    abut_error error = {0};
    assert_int_equal(abut_surface_tree_build(NULL, surface, &tree, NULL), ABUT_OK);
    assert_int_equal(abut_sim_create(NULL, model, NULL, &sim, NULL), ABUT_OK);
    double epsilon = abut_model_tolerances(model).touching, deepest = 0;
    for (int k = 1; k <= 60 * c->seconds; k++) {
        if (abut_sim_advance(sim, k / 60.0, &error) != ABUT_OK) fail_msg("%s: %s", c->cage, error.message);
        deepest = fmin(deepest, lowest(sim, model, surface, tree));
    }
    abut_audit audit = abut_sim_audit(sim);
    print_message("%s: deepest %.2g epsilon, energy %.2g, %d impacts, %d borders, %d time stepping\n",
                  c->cage, -deepest / epsilon, audit.energy_error,
                  (int)abut_sim_event_count(sim, ABUT_EVENT_IMPACT),
                  (int)abut_sim_event_count(sim, ABUT_EVENT_PATCH_CROSSED), (int)audit.storms);
    if (!audit.promises_kept) fail_msg("%s: %s", c->cage, audit.broken);
    assert_true(abut_sim_event_count(sim, ABUT_EVENT_IMPACT) > 0);
    assert_true(-deepest <= epsilon);
    assert_true(audit.energy_error <= c->energy);
    abut_sim_free(sim);
    abut_surface_tree_free(NULL, tree);
    abut_model_free(model);
    abut_surface_free(NULL, surface);
}

static void with_friction(void **state) {
    (void)state;
    static const thrown cases[] = {
        {"meshes/cage/bowl3.obj",
         0.05,
         1,
         {0.3, 0.3, 0, 0},
         0.5,
         {0.5, 0.2, 0},
         {2, 3, 0.3},
         1e-8,
         {0.9, 0.3, 0.2, 0.1}},
        {"meshes/cage/bowl6_flat.obj",
         0.05,
         1,
         {0.3, 0.3, 0, 0},
         0.5,
         {0.5, 0.2, 0},
         {2, 3, 0.3},
         1e-8,
         {0.9, 0.3, 0.2, 0.1}},
        {"meshes/cage/lumpy_marble.obj",
         0.03,
         1,
         {0.5, 0.4, 0, 0},
         0.3,
         {0.4, 0.1, 0},
         {5, 1, 0},
         1e-8,
         {0.9, 0.3, 0.2, 0.1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) throw(&cases[i]);
}

/* Without friction they spin on for ever: within 10 s the place of contact runs over the borders of patches
 * hundreds of times, flies up and comes down again. */
static void without_friction(void **state) {
    (void)state;
    static const thrown cases[] = {
        {"meshes/cage/bowl3.obj",
         0.05,
         10,
         {0, 0, 0, 0},
         0,
         {0.5, 0.2, 0},
         {2, 3, 0.3},
         5e-9,
         {0.9, 0.3, 0.2, 0.1}},
        {"meshes/cage/bowl3.obj",
         0.05,
         10,
         {0, 0, 0, 0},
         0,
         {0.5, 0.2, 0},
         {2, 3, 0.3},
         5e-9,
         {0.7, 0.3, 0.2, 0.1}},
        /* a contact that comes over a border to a patch which is deeper farther on, by less than epsilon */
        {"meshes/cage/bowl3.obj",
         0.05,
         4,
         {0, 0, 0, 0},
         0,
         {0.5, 0.2, 0},
         {2, 3, 0.3},
         5e-9,
         {0.9, 0.3, -0.35, 0.5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) throw(&cases[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(with_friction), cmocka_unit_test(without_friction)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
