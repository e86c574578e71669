/* abut check SCENE: does it load, do its bodies make sense, does anything overlap at the start? */
#include "check_scene.h"

#include <stdlib.h>
#include <string.h>

bool check_is_scene(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".lua") == 0 || strcmp(dot, ".json") == 0);
}

static json_t *overlap_json(const abut_model *model, const abut_overlap *o) {
    return json_pack("{s:[s,s],s:f,s:o,s:o}", "bodies", abut_model_body_name(model, o->body[0]),
                     abut_model_body_name(model, o->body[1]), "depth", o->depth, "at", cli_json_vec3(o->at),
                     "shift", cli_json_vec3(o->shift));
}

static int print_overlaps(const char *path, const abut_model *model, const abut_overlap *overlaps, int count,
                          bool json) {
    if (json) {
        json_t *list = json_array();
        for (int i = 0; i < count; i++) json_array_append_new(list, overlap_json(model, &overlaps[i]));
        return cli_print_json(json_pack("{s:s,s:b,s:i,s:o}", "file", path, "valid", count == 0, "bodies",
                                        abut_model_bodies(model), "overlaps", list));
    }
    for (int i = 0; i < count; i++) {
        const abut_overlap *o = &overlaps[i];
        const char *name = abut_model_body_name(model, o->body[0]);
        printf(
            "%s: `%s` and `%s` overlap by at least %.3g m at the start; shift `%s` by {%.9g, %.9g, %.9g}\n",
            path, name, abut_model_body_name(model, o->body[1]), o->depth, name, o->shift.x, o->shift.y,
            o->shift.z);
    }
    printf("%s: a scene of %d bodies, %d overlapping pair%s at the start\n", path, abut_model_bodies(model),
           count, count == 1 ? "" : "s");
    return fflush(stdout) ? EXIT_WRONG : EXIT_DONE;
}

static int list_overlaps(const char *path, const abut_model *model, bool json) {
    int count = abut_model_overlaps(model, NULL, 0);
    abut_overlap *overlaps = count > 0 ? malloc((size_t)count * sizeof *overlaps) : NULL;
    if (count < 0 || (count > 0 && !overlaps)) {
        free(overlaps);
        return cli_complain("%s: out of memory while looking for overlaps", path);
    }
    if (count > 0) abut_model_overlaps(model, overlaps, count);
    int status = print_overlaps(path, model, overlaps, count, json);
    free(overlaps);
    return status == EXIT_DONE && count > 0 ? EXIT_NOT_MET : status;
}

int check_scene(const char *path, bool json) {
    abut_scene *scene = NULL;
    abut_model *model = NULL;
    abut_error error = {0};
    abut_status s = abut_scene_load(NULL, path, NULL, &scene, &error);
    if (s == ABUT_OK) s = abut_model_create(NULL, abut_scene_world(scene), &model, &error);
    if (s != ABUT_OK && !error.file[0]) strncpy(error.file, path, sizeof error.file - 1);
    int status = s == ABUT_OK ? list_overlaps(path, model, json) : cli_error(&error);
    abut_model_free(model);
    abut_scene_free(scene);
    return status;
}
