/* Any bytes as a scene, Lua or JSON by the first byte: loaded, dumped, compiled, and run for a millisecond.
 * What must hold: no crash, no leak, no hang, no number that is not finite; what is refused has a message. */
#include "abut/scene.h"

#include <math.h>
#include <stdlib.h>

static void require(bool holds) {
    if (!holds) abort();
}

/* A dump reads back and can be dumped again (empty tables may change between list and object, so texts
 * differ; tests/scene compares those that must not). */
static void dump(const abut_scene *scene, const abut_scene_options *options) {
    char *text = NULL, *again = NULL;
    size_t size = 0, second = 0;
    abut_error error = {0};
    abut_scene *copy = NULL;
    if (abut_scene_dump(scene, &text, &size, &error) != ABUT_OK) {
        require(error.message[0] != 0);
        return;
    }
    if (abut_scene_read(NULL, text, size, "a.json", "/nonexistent", options, &copy, &error) == ABUT_OK &&
        abut_scene_dump(copy, &again, &second, &error) == ABUT_OK)
        abut_scene_text_free(copy, again, second);
    abut_scene_free(copy);
    abut_scene_text_free(scene, text, size);
}

/* Bodies that move or spin fast need many steps, rightly: the minutes are for the others. */
static bool is_slow(const abut_world_def *world) {
    abut_vec3 g = world->gravity;
    if (fabs(g.x) + fabs(g.y) + fabs(g.z) > 1e3) return false;
    for (int i = 0; i < world->body_count; i++) {
        abut_vec3 v = world->bodies[i].velocity, w = world->bodies[i].spin;
        if (fabs(v.x) + fabs(v.y) + fabs(v.z) + fabs(w.x) + fabs(w.y) + fabs(w.z) > 1e4) return false;
    }
    return true;
}

static void run(const abut_model *model) {
    abut_error error = {0};
    abut_sim *sim = NULL;
    abut_sim_options options = {.event_budget = 50, .step_budget = 1000};
    if (abut_model_bodies(model) > 4) return;
    if (abut_sim_create(NULL, model, &options, &sim, &error) == ABUT_OK &&
        abut_sim_advance(sim, 1e-3, &error) == ABUT_OK)
        for (int i = 0; i < abut_sim_bodies(sim); i++) {
            abut_motion m = abut_sim_motion(sim, i);
            require(isfinite(m.center.x + m.center.y + m.center.z) && isfinite(m.rotation.w + m.rotation.x));
        }
    else
        require(error.message[0] != 0);
    abut_sim_free(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 1 || size > 4096) return 0;
    abut_scene_options options = {.instructions = 20000, .memory = 16 << 20};
    abut_scene *scene = NULL;
    abut_model *model = NULL;
    abut_error error = {0};
    const char *name = bytes[0] == '{' ? "a.json" : "a.lua";
    if (abut_scene_read(NULL, (const char *)bytes, size, name, "/nonexistent", &options, &scene, &error) ==
        ABUT_OK) {
        dump(scene, &options);
        if (abut_model_create(NULL, abut_scene_world(scene), &model, &error) == ABUT_OK &&
            is_slow(abut_scene_world(scene)))
            run(model);
    }
    if (!model) require(error.message[0] != 0);
    abut_model_free(model);
    abut_scene_free(scene);
    return 0;
}
