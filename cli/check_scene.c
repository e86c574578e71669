/* abut check SCENE: does it load, do its bodies make sense, does anything overlap or touch ambiguously at the
 * start? */
#include "check_scene.h"

#include <stdlib.h>
#include <string.h>

bool check_is_scene(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".lua") == 0 || strcmp(dot, ".json") == 0 || strcmp(dot, ".scene") == 0);
}

static json_t *overlap_json(const abut_model *model, const abut_overlap *o) {
    return json_pack("{s:[s,s],s:f,s:o,s:o}", "bodies", abut_model_body_name(model, o->body[0]),
                     abut_model_body_name(model, o->body[1]), "depth", o->depth, "at", cli_json_vec3(o->at),
                     "shift", cli_json_vec3(o->shift));
}

static json_t *ambiguity_json(const abut_model *model, const abut_ambiguity *o) {
    return json_pack("{s:[s,s],s:[{s:s,s:I},{s:s,s:I}],s:o}", "bodies",
                     abut_model_body_name(model, o->body[0]), abut_model_body_name(model, o->body[1]),
                     "entities", "kind", abut_entity_name(o->entity[0].kind), "id",
                     (json_int_t)o->entity[0].id, "kind", abut_entity_name(o->entity[1].kind), "id",
                     (json_int_t)o->entity[1].id, "at", cli_json_vec3(o->at));
}

typedef struct findings {
    const char *path;
    const abut_model *model;
    abut_overlap *overlaps;
    abut_ambiguity *ambiguities;
    int overlap_count, ambiguity_count;
} findings;

static int print_document(const findings *f) {
    json_t *overlaps = json_array(), *ambiguities = json_array();
    for (int i = 0; i < f->overlap_count; i++)
        json_array_append_new(overlaps, overlap_json(f->model, &f->overlaps[i]));
    for (int i = 0; i < f->ambiguity_count; i++)
        json_array_append_new(ambiguities, ambiguity_json(f->model, &f->ambiguities[i]));
    return cli_print_json(json_pack("{s:s,s:b,s:i,s:o,s:o}", "file", f->path, "valid", f->overlap_count == 0,
                                    "bodies", abut_model_bodies(f->model), "overlaps", overlaps, "ambiguous",
                                    ambiguities));
}

static int print_list(const findings *f) {
    for (int i = 0; i < f->overlap_count; i++) {
        const abut_overlap *o = &f->overlaps[i];
        const char *name = abut_model_body_name(f->model, o->body[0]);
        printf(
            "%s: `%s` and `%s` overlap by at least %.3g m at the start; shift `%s` by {%.9g, %.9g, %.9g}, or "
            "run with --allow-overlap\n",
            f->path, name, abut_model_body_name(f->model, o->body[1]), o->depth, name, o->shift.x, o->shift.y,
            o->shift.z);
    }
    for (int i = 0; i < f->ambiguity_count; i++) {
        const abut_ambiguity *o = &f->ambiguities[i];
        printf(
            "%s: `%s` and `%s` touch at the start only %s on %s, at {%.9g, %.9g, %.9g}: the direction of the "
            "contact is open; shift one a little\n",
            f->path, abut_model_body_name(f->model, o->body[0]), abut_model_body_name(f->model, o->body[1]),
            abut_entity_name(o->entity[0].kind), abut_entity_name(o->entity[1].kind), o->at.x, o->at.y,
            o->at.z);
    }
    printf("%s: a scene of %d bodies, %d overlapping pair%s and %d ambiguous contact%s at the start\n",
           f->path, abut_model_bodies(f->model), f->overlap_count, f->overlap_count == 1 ? "" : "s",
           f->ambiguity_count, f->ambiguity_count == 1 ? "" : "s");
    return fflush(stdout) ? EXIT_WRONG : EXIT_DONE;
}

/* Ambiguous contacts are told, not refused. */
static int list_findings(const char *path, const abut_model *model, bool json) {
    findings f = {.path = path, .model = model};
    f.overlap_count = abut_model_overlaps(model, NULL, 0);
    f.ambiguity_count = abut_model_ambiguities(model, NULL, 0);
    if (f.overlap_count >= 0) f.overlaps = malloc(((size_t)f.overlap_count + 1) * sizeof *f.overlaps);
    if (f.ambiguity_count >= 0)
        f.ambiguities = malloc(((size_t)f.ambiguity_count + 1) * sizeof *f.ambiguities);
    int status = EXIT_WRONG;
    if (!f.overlaps || !f.ambiguities) {
        status = cli_complain("%s: out of memory while looking at the start", path);
    } else {
        abut_model_overlaps(model, f.overlaps, f.overlap_count);
        abut_model_ambiguities(model, f.ambiguities, f.ambiguity_count);
        status = json ? print_document(&f) : print_list(&f);
        if (status == EXIT_DONE && f.overlap_count > 0) status = EXIT_NOT_MET;
    }
    free(f.overlaps);
    free(f.ambiguities);
    return status;
}

int check_scene(const char *path, bool json) {
    abut_scene *scene = NULL;
    abut_model *model = NULL;
    abut_error error = {0};
    abut_status s = abut_scene_load(NULL, path, NULL, &scene, &error);
    if (s == ABUT_OK) s = abut_model_create(NULL, abut_scene_world(scene), &model, &error);
    if (s != ABUT_OK && !error.file[0]) strncpy(error.file, path, sizeof error.file - 1);
    const abut_error *own = scene ? abut_scene_error(scene) : NULL; /* of one of its functions */
    int status = s == ABUT_OK ? list_findings(path, model, json) : cli_error(own ? own : &error);
    abut_model_free(model);
    abut_scene_free(scene);
    return status;
}
