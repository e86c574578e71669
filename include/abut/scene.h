/* abut/scene.h: scenes written in Lua (or dumped as JSON), loaded to the plain definitions of abut/world.h.
 *
 *     abut_scene *scene = NULL;
 *     abut_model *model = NULL;
 *     abut_error error = {0};
 *     if (abut_scene_load(NULL, "stack.lua", NULL, &scene, &error) == ABUT_OK)
 *         abut_model_create(NULL, abut_scene_world(scene), &model, &error);
 *     abut_model_free(model);
 *     abut_scene_free(scene); // after everything that was made from it
 *
 * The file runs once, in a sandbox: no io, os, package, debug; files are read only through shape functions
 * and only below the scene's folder (or options.root); instructions and memory are bounded.  Functions in the
 * scene (motion, motor speed, force, on, every) are called later, from the thread that advances the run.
 */
#ifndef ABUT_SCENE_H
#define ABUT_SCENE_H

#include "abut/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_scene abut_scene;

typedef struct abut_scene_options {
    const char *root;       /* folder below which files may be read; NULL: the scene's own */
    const char *const *set; /* "NAME=VALUE", for param(); NULL-terminated, or NULL */
    uint64_t seed;          /* of math.random; the same seed gives the same scene */
    const char *mode;       /* "exact" or "live", whatever the scene says; NULL: what it says */
    bool separate;          /* push bodies apart that overlap (abut_model_separate), and move them */
    int64_t instructions;   /* 0: 2e8 */
    size_t memory;          /* bytes; 0: 1 GiB */
} abut_scene_options;

ABUT_API abut_status abut_scene_load(const abut_context *context, const char *path,
                                     const abut_scene_options *options, abut_scene **scene,
                                     abut_error *error);
/* The same from text; `name` stands for the file in messages, `folder` is where its files are. */
ABUT_API abut_status abut_scene_read(const abut_context *context, const char *text, size_t size,
                                     const char *name, const char *folder, const abut_scene_options *options,
                                     abut_scene **scene, abut_error *error);
ABUT_API void abut_scene_free(abut_scene *scene);

ABUT_API const abut_world_def *abut_scene_world(const abut_scene *scene);
/* How far options.separate has moved each body; NULL when the option was not given. */
ABUT_API const abut_vec3 *abut_scene_shifts(const abut_scene *scene);
/* The whole scene as JSON text, of the same content: what abut_scene_load reads from a .json file.  Functions
 * cannot be dumped: UNSUPPORTED with a message that names the first.  Free with abut_scene_text_free. */
ABUT_API abut_status abut_scene_dump(const abut_scene *scene, char **text, size_t *size, abut_error *error);
ABUT_API void abut_scene_text_free(const abut_scene *scene, char *text, size_t size);

/* The file's name as given, the folder its files are in, the folder it may read below, and its text (a 0 byte
 * behind it). */
ABUT_API const char *abut_scene_name(const abut_scene *scene);
ABUT_API const char *abut_scene_folder(const abut_scene *scene);
ABUT_API const char *abut_scene_root(const abut_scene *scene);
ABUT_API const char *abut_scene_source(const abut_scene *scene, size_t *size);

/* Parameters in the order of their param() calls. */
typedef struct abut_param {
    const char *name;
    double value, initial;
} abut_param;
ABUT_API int abut_scene_params(const abut_scene *scene, const abut_param **params);

typedef struct abut_camera {
    bool given;
    abut_vec3 position, target, up;
    double field_of_view; /* degrees, vertical */
} abut_camera;
ABUT_API abut_camera abut_scene_camera(const abut_scene *scene);
typedef struct abut_light {
    abut_vec3 position, color;
    double intensity;
} abut_light;
ABUT_API int abut_scene_lights(const abut_scene *scene, const abut_light **lights);

/* Calls the scene's on() functions for an event, and its every() functions that fall in (from, to].  False: a
 * function failed, and abut_scene_error says where. */
ABUT_API bool abut_scene_event(abut_scene *scene, const abut_model *model, const abut_event *event);
ABUT_API bool abut_scene_every(abut_scene *scene, double from, double to);
/* Whether the scene has such functions; and that what they are told from now on was told before, in another
 * process or run: what they keep becomes as it was, and print() is silent meanwhile. */
ABUT_API bool abut_scene_listens(const abut_scene *scene);
ABUT_API void abut_scene_retell(abut_scene *scene, bool again);
/* The error of the last function of the scene that failed (also of motions and forces); NULL: none did. */
ABUT_API const abut_error *abut_scene_error(const abut_scene *scene);

#ifdef __cplusplus
}
#endif
#endif
