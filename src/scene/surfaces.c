/* surface.bezier, surface.loop: smooth shapes without facets; contact: two of them placed by contact
 * coordinates. */
#include "scene/scene.h"

static int return_surface(lua_State *L, const char *what, abut_status status, abut_surface *surface,
                          const abut_error *error) {
    abut_scene *scene = scene_of(L);
    if (status != ABUT_OK) return scene_raise(L, NULL, "%s: %s", what, error->message);
    if (!array_push(&scene->context, &scene->surfaces, surface)) {
        abut_surface_free(&scene->context, surface);
        return scene_raise_memory(L);
    }
    abut_shape shape = {.kind = ABUT_SHAPE_SURFACE, .surface = surface};
    return scene_return_shape(L, shape);
}

/* scale = number or {x, y, z} */
static vec3 read_scale(const table *t) {
    vec3 scale = {1, 1, 1};
    if (!table_get(t, "scale", 0)) return scale;
    bool plain = lua_isnumber(t->L, -1);
    lua_pop(t->L, 1);
    if (plain) {
        table_number(t, "scale", 0, &scale.x);
        scale.y = scale.z = scale.x;
    } else {
        table_vector(t, "scale", 0, &scale);
    }
    if (!(scale.x > 0 && scale.y > 0 && scale.z > 0))
        scene_raise(t->L, "scale", "%s: `scale` must be positive", t->what);
    return scale;
}

/* rotate = {angle, {x, y, z}} */
static quat read_rotate(const table *t) {
    if (!table_get(t, "rotate", 0)) return quat_identity();
    lua_State *L = t->L;
    if (!lua_istable(L, -1) || lua_geti(L, -1, 1) != LUA_TNUMBER)
        scene_raise(L, "rotate", "%s: `rotate` is {angle, {x, y, z}}", t->what);
    double angle = lua_tonumber(L, -1), axis[3];
    lua_pop(L, 1);
    lua_geti(L, -1, 2);
    table_list(L, "surface.bezier: the axis of `rotate`", 3, 3, axis);
    lua_pop(L, 2);
    vec3 a = {axis[0], axis[1], axis[2]};
    if (!(vec3_length(a) > 0) || !isfinite(angle))
        scene_raise(L, "rotate", "%s: `rotate` is {angle, {x, y, z}}", t->what);
    return abut_quat_from_axis_angle(a, angle);
}

/* Scale first, then rotate, then offset. */
static int surface_bezier(lua_State *L) {
    table t = table_open(L, "surface.bezier", "control scale rotate offset", 0);
    vec3 scale = read_scale(&t), offset = vec3_zero();
    quat q = read_rotate(&t);
    table_position(&t, "offset", 0, &offset);
    if (!table_get(&t, "control", 0))
        scene_raise(L, NULL, "surface.bezier: `control` is missing; give 16 points a patch");
    int count;
    vec3 *points = (vec3 *)(void *)scene_read_points(L, t.what, 3, &count);
    if (count == 0 || count % 16)
        scene_raise(L, "control", "surface.bezier: `control` has %d points; a patch has 16", count);
    for (int i = 0; i < count; i++) {
        vec3 p = {points[i].x * scale.x, points[i].y * scale.y, points[i].z * scale.z};
        points[i] = vec3_add(quat_rotate(q, p), offset);
    }
    abut_surface *surface = NULL;
    abut_error error = {0};
    abut_status status = abut_surface_bezier(&scene_of(L)->context, points, count / 16, &surface, &error);
    return return_surface(L, t.what, status, surface, &error);
}

static int surface_loop(lua_State *L) {
    table t = table_open(L, "surface.loop", "file scale", 1);
    abut_scene *scene = scene_of(L);
    const char *file;
    double scale = 1;
    if (!table_string(&t, "file", 1, &file))
        scene_raise(L, NULL, "surface.loop: `file` is missing; give an OBJ cage");
    if (table_number(&t, "scale", 0, &scale) && !(scale > 0))
        scene_raise(L, "scale", "surface.loop: `scale` must be positive");
    char path[4096];
    scene_resolve(L, t.what, file, path, sizeof path);
    scene->lengths_used = true;
    abut_loop_options options = abut_default_loop_options();
    options.form = ABUT_LOOP_SMOOTH, options.scale = scale * scene->unit;
    abut_mesh *mesh = NULL;
    abut_surface *surface = NULL;
    abut_error error = {0};
    abut_status status = abut_mesh_load(&scene->context, path, &mesh, &error);
    if (status == ABUT_OK) status = abut_surface_loop(&scene->context, mesh, &options, &surface, &error);
    abut_mesh_free(&scene->context, mesh);
    return return_surface(L, t.what, status, surface, &error);
}

static int add_contact(lua_State *L) {
    abut_scene *scene = scene_of(L);
    table t = table_open(L, "contact", "a b coordinates rates patch_a patch_b", 2);
    abut_rolling_def r = {0};
    r.a = table_body(&t, "a", 1), r.b = table_body(&t, "b", 2);
    if (r.a < 0 || r.b < 0)
        scene_raise(L, NULL, "contact: it needs two bodies; write contact { a = ..., b = ... }");
    if (!table_numbers(&t, "coordinates", 0, 5, 5, r.coordinates))
        scene_raise(L, NULL, "contact: `coordinates` is missing; give {s, t, u, v, psi}");
    table_numbers(&t, "rates", 0, 5, 5, r.rates);
    table_integer(&t, "patch_a", 0, 0, 1 << 20, &r.patch_a);
    table_integer(&t, "patch_b", 0, 0, 1 << 20, &r.patch_b);
    if (!array_push(&scene->context, &scene->rollings, r)) scene_raise_memory(L);
    return 0;
}

void scene_register_surfaces(lua_State *L) {
    scene_set_call(L, "surface.bezier", surface_bezier);
    scene_set_call(L, "surface.loop", surface_loop);
    scene_set_call(L, "contact", add_contact);
}
