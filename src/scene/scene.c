/* Loading and freeing a scene. */
#include "scene/scene.h"

static const char *copy_text(abut_scene *scene, const char *text, size_t size) {
    char *copy = arena_alloc(&scene->memory, size + 1, 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

/* The folder part of a path: "." when there is none. */
static const char *folder_of(abut_scene *scene, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    return slash == path ? "/" : copy_text(scene, path, (size_t)(slash - path));
}

static abut_status begin(abut_scene *scene, const char *text, size_t size, const char *name,
                         const char *folder, const abut_scene_options *options, abut_error *error) {
    arena_init(&scene->memory, &scene->context);
    scene->world = abut_default_world();
    scene->unit = 1;
    scene->lua_limit = options && options->memory ? options->memory : (size_t)1 << 30;
    scene->instructions_left = options && options->instructions ? options->instructions : SCENE_INSTRUCTIONS;
    scene->set = options ? options->set : NULL;
    scene->name = scene_copy(scene, name);
    scene->folder = folder ? scene_copy(scene, folder) : folder_of(scene, name);
    scene->root = options && options->root ? scene_copy(scene, options->root) : scene->folder;
    scene->source = copy_text(scene, text, size), scene->source_size = size;
    if (!scene->name || !scene->folder || !scene->root || !scene->source) return fail_memory(error);
    return scene_open(scene, options ? options->seed : 0, error);
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* As Lua reads files: behind the mark of UTF-8, and the first line without its text where it names the
 * program that runs the file (`#!/usr/bin/env abut`). */
static size_t skip_head(const char *text, size_t size) {
    size_t n = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (n < size && text[n] == '#')
        while (n < size && text[n] != '\n') n++;
    return n;
}

static abut_status run_lua(abut_scene *scene, abut_error *error) {
    char chunk[320];
    /* "=name" is shown by Lua as name, whole */
    strcpy(chunk, "=");
    strncat(chunk, scene->name, sizeof chunk - 2);
    size_t skipped = skip_head(scene->source, scene->source_size);
    int code =
        luaL_loadbufferx(scene->lua, scene->source + skipped, scene->source_size - skipped, chunk, "t");
    if (code != LUA_OK) {
        lua_pushcfunction(scene->lua, lua_error);
        lua_insert(scene->lua, -2);
        return scene_call(scene, 1, 0,
                          error); /* raised again, so that it is reported like every other error */
    }
    return scene_call(scene, 0, 0, error);
}

/* A parameter that the scene does not have is a typing error. */
static abut_status check_set(const abut_scene *scene, abut_error *error) {
    for (int i = 0; scene->set && scene->set[i]; i++) {
        const char *equals = strchr(scene->set[i], '=');
        if (!equals) return fail(error, ABUT_INVALID, "--set %s: write NAME=VALUE", scene->set[i]);
        size_t length = (size_t)(equals - scene->set[i]);
        bool known = false;
        char words[1024] = "";
        for (int k = 0; k < scene->params.count; k++) {
            const char *name = scene->params.data[k].name;
            known |= strlen(name) == length && strncmp(name, scene->set[i], length) == 0;
            strncat(words, k ? ", " : "", sizeof words - strlen(words) - 1);
            strncat(words, name, sizeof words - strlen(words) - 1);
        }
        if (!known)
            return fail_at(error, ABUT_INVALID, scene->name, 0,
                           "--set %s: the scene has no such parameter; it has: %s", scene->set[i],
                           words[0] ? words : "none");
    }
    return ABUT_OK;
}

/* The arrays no longer grow: the world may point to them. */
static void finish(abut_scene *scene) {
    scene->is_built = true;
    abut_world_def *w = &scene->world;
    w->materials = scene->materials.data, w->material_count = (int)scene->materials.count;
    w->pairs = scene->pairs.data, w->pair_count = (int)scene->pairs.count;
    w->bodies = scene->bodies.data, w->body_count = (int)scene->bodies.count;
    w->hinges = scene->hinges.data, w->hinge_count = (int)scene->hinges.count;
    w->springs = scene->springs.data, w->spring_count = (int)scene->springs.count;
    w->forces = scene->forces.data, w->force_count = (int)scene->forces.count;
    w->watches = scene->watches.data, w->watch_count = (int)scene->watches.count;
    w->rollings = scene->rollings.data, w->rolling_count = (int)scene->rollings.count;
}

/* Bodies that overlap are pushed apart; the definitions get the new places. */
static abut_status separate(abut_scene *scene, abut_error *error) {
    abut_model *model = NULL;
    scene->shifts = arena_alloc(&scene->memory, (size_t)scene->bodies.count, sizeof *scene->shifts);
    if (!scene->shifts) return fail_memory(error);
    abut_status status = abut_model_create(&scene->context, &scene->world, &model, error);
    if (status == ABUT_OK) status = abut_model_separate(model, scene->shifts, error);
    for (int i = 0; status == ABUT_OK && i < scene->bodies.count; i++)
        scene->bodies.data[i].position = vec3_add(scene->bodies.data[i].position, scene->shifts[i]);
    abut_model_free(model);
    if (status != ABUT_OK && error && !error->file[0])
        strncpy(error->file, scene->name, sizeof error->file - 1);
    return status;
}

abut_status abut_scene_read(const abut_context *context, const char *text, size_t size, const char *name,
                            const char *folder, const abut_scene_options *options, abut_scene **out,
                            abut_error *error) {
    *out = NULL;
    abut_scene *scene = mem_calloc(context, 1, sizeof *scene);
    if (!scene) return fail_memory(error);
    if (context) scene->context = *context;
    abut_status status = begin(scene, text, size, name, folder, options, error);
    if (status == ABUT_OK)
        status = ends_with(name, ".json")    ? scene_run_json(scene, text, size, error)
                 : ends_with(name, ".scene") ? scene_run_kry(scene, error)
                                             : run_lua(scene, error);
    if (status == ABUT_OK) status = check_set(scene, error);
    if (options && options->mode) scene->world.mode = strcmp(options->mode, "live") ? ABUT_EXACT : ABUT_LIVE;
    if (status == ABUT_OK && scene->bodies.count == 0)
        status = fail_at(error, ABUT_INVALID, name, 0,
                         "the scene has no body; add one with body { shape = sphere {1} }");
    finish(scene);
    if (status == ABUT_OK && options && options->separate) status = separate(scene, error);
    if (status != ABUT_OK) {
        abut_scene_free(scene);
        return status;
    }
    *out = scene;
    return ABUT_OK;
}

/* What the file is, if it is no scene; NULL otherwise. */
static const char *other_kind(const char *path, const char *text, size_t size) {
    static const char recording[] = "SQLite format 3";
    static const char *const meshes[] = {".obj", ".stl", ".ply", ".off"};
    if (size >= sizeof recording && memcmp(text, recording, sizeof recording) == 0)
        return "is a recording, not a scene; `abut view` plays it, `abut resume` goes on with it";
    for (int i = 0; i < COUNT_OF(meshes); i++)
        if (ends_with(path, meshes[i]))
            return "is a mesh, not a scene; `abut inspect` measures it, and a scene has it as shape = "
                   "solid.mesh { file = ... }";
    if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return "is UTF-16; save it as UTF-8";
    return NULL;
}

abut_status abut_scene_load(const abut_context *context, const char *path, const abut_scene_options *options,
                            abut_scene **scene, abut_error *error) {
    char *text;
    size_t size;
    *scene = NULL;
    abut_status status = file_read(context, path, &text, &size, error);
    if (status != ABUT_OK) return status;
    const char *other = other_kind(path, text, size);
    status = other ? fail_at(error, ABUT_INVALID, path, 0, "%s", other)
                   : abut_scene_read(context, text, size, path, NULL, options, scene, error);
    file_free(context, text, size);
    return status;
}

void abut_scene_free(abut_scene *scene) {
    if (!scene) return;
    const abut_context context = scene->context;
    if (scene->lua) lua_close(scene->lua);
    for (int64_t i = 0; i < scene->solids.count; i++) abut_solid_free(&context, scene->solids.data[i]);
    for (int64_t i = 0; i < scene->surfaces.count; i++) abut_surface_free(&context, scene->surfaces.data[i]);
    for (int64_t i = 0; i < scene->shapes.count; i++) json_decref(scene->shapes.data[i].call);
    json_decref(scene->calls);
    array_free(&context, &scene->materials);
    array_free(&context, &scene->pairs);
    array_free(&context, &scene->bodies);
    array_free(&context, &scene->hinges);
    array_free(&context, &scene->springs);
    array_free(&context, &scene->forces);
    array_free(&context, &scene->watches);
    array_free(&context, &scene->rollings);
    array_free(&context, &scene->shapes);
    array_free(&context, &scene->solids);
    array_free(&context, &scene->surfaces);
    array_free(&context, &scene->handlers);
    array_free(&context, &scene->params);
    array_free(&context, &scene->lights);
    arena_free(&scene->memory);
    mem_free(&context, scene, 1, sizeof *scene);
}

const abut_world_def *abut_scene_world(const abut_scene *scene) { return &scene->world; }

const char *abut_scene_name(const abut_scene *scene) { return scene->name; }
const char *abut_scene_folder(const abut_scene *scene) { return scene->folder; }
const char *abut_scene_root(const abut_scene *scene) { return scene->root; }
const abut_vec3 *abut_scene_shifts(const abut_scene *scene) { return scene->shifts; }

const char *abut_scene_source(const abut_scene *scene, size_t *size) {
    *size = scene->source_size;
    return scene->source;
}

int abut_scene_params(const abut_scene *scene, const abut_param **params) {
    *params = scene->params.data;
    return (int)scene->params.count;
}

abut_camera abut_scene_camera(const abut_scene *scene) { return scene->camera; }

int abut_scene_lights(const abut_scene *scene, const abut_light **lights) {
    *lights = scene->lights.data;
    return (int)scene->lights.count;
}
