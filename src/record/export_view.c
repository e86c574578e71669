/* The camera and the lights of a recording: those of its scene, or such that everything is seen. */
#include "record/export_scene.h"

#include <jansson.h>

static bool read_vec3(const json_t *object, const char *key, vec3 *out) {
    const json_t *list = json_object_get(object, key);
    double v[3];
    if (!json_is_array(list) || json_array_size(list) != 3) return false;
    for (size_t i = 0; i < 3; i++) v[i] = json_number_value(json_array_get(list, i));
    *out = vec3_make(v[0], v[1], v[2]);
    return vec3_length(*out) < 1e15; /* squares of lengths are finite in single precision too */
}

/* A view from the front, right and above onto the box of the first frame, whose ball fits into the angle. */
static abut_camera default_camera(const export_scene *s) {
    abut_camera c = {.given = true, .up = {0, 0, 1}, .field_of_view = 40};
    double radius = fmax(box_diagonal(s->bounds) / 2, 1e-9);
    c.target = box_center(s->bounds);
    const double sine = 0.3420201433256687; /* of 20 degrees, half the angle of view */
    vec3 from = vec3_unit(vec3_make(0.6, -1, 0.45));
    c.position = vec3_axpy(c.target, radius / sine, from);
    return c;
}

static bool is_camera(const abut_camera *c) {
    vec3 look = vec3_sub(c->target, c->position);
    return vec3_length(look) > 0 && vec3_length(c->up) > 0 &&
           vec3_length(vec3_cross(vec3_unit(look), vec3_unit(c->up))) > 1e-6 && c->field_of_view > 0.1 &&
           c->field_of_view < 179;
}

static void read_camera(export_scene *s) {
    const char *text = abut_recording_meta(s->recording, "camera");
    json_t *given = text ? json_loads(text, 0, NULL) : NULL;
    abut_camera c = {.given = true};
    c.field_of_view = json_number_value(json_object_get(given, "field_of_view"));
    bool fine = read_vec3(given, "position", &c.position) && read_vec3(given, "target", &c.target) &&
                read_vec3(given, "up", &c.up) && is_camera(&c);
    s->camera = fine ? c : default_camera(s);
    json_decref(given);
}

/* Without lights of its own a scene has a key light beside the camera and a weaker one opposite. */
static void default_lights(export_scene *s) {
    double far = 2 * vec3_distance(s->camera.position, s->camera.target);
    vec3 key = vec3_unit(vec3_make(0.3, -0.8, 1.2)), fill = vec3_unit(vec3_make(-1, -0.3, 0.8));
    s->lights[0] = (abut_light){vec3_axpy(s->camera.target, far, key), {1, 1, 1}, 1};
    s->lights[1] = (abut_light){vec3_axpy(s->camera.target, far, fill), {0.8, 0.88, 1}, 0.35};
}

static bool read_light(const json_t *given, abut_light *l) {
    l->intensity = json_number_value(json_object_get(given, "intensity"));
    return read_vec3(given, "position", &l->position) && read_vec3(given, "color", &l->color) &&
           isfinite(l->intensity) && l->intensity >= 0;
}

abut_status export_read_view(export_scene *s, abut_error *error) {
    read_camera(s);
    const char *text = abut_recording_meta(s->recording, "lights");
    json_t *given = text ? json_loads(text, 0, NULL) : NULL;
    int count = (int)json_array_size(given), used = 0;
    s->light_count = count > 2 ? count : 2;
    s->lights = mem_calloc(s->context, (size_t)s->light_count, sizeof *s->lights);
    if (!s->lights) s->light_count = 0;
    abut_status status = s->lights ? ABUT_OK : fail_memory(error);
    for (int i = 0; i < count && status == ABUT_OK; i++)
        if (read_light(json_array_get(given, (size_t)i), &s->lights[used])) used++;
    json_decref(given);
    if (status != ABUT_OK) return status;
    if (used == 0) default_lights(s), used = 2;
    s->light_used = used;
    return ABUT_OK;
}

pose export_camera_pose(const abut_camera *c) {
    vec3 back = vec3_unit(vec3_sub(c->position, c->target)), right = vec3_unit(vec3_cross(c->up, back));
    mat3 m = {right, vec3_cross(back, right), back};
    return (pose){c->position, quat_from_matrix(m)};
}
