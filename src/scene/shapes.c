#define _XOPEN_SOURCE 700
/* Shapes: solid.* (faceted), and sphere, ellipsoid, capsule, cylinder, halfspace (analytic). */
#include "scene/scene.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- helpers */

static void need(const table *t, bool given, const char *key) {
    if (!given) scene_raise(t->L, NULL, "%s: `%s` is missing; give it", t->what, key);
}

static double positive_length(const table *t, const char *key, int position) {
    double value;
    need(t, table_length(t, key, position, &value), key);
    if (!(value > 0)) scene_raise(t->L, key, "%s: `%s` must be positive, not %g", t->what, key, value);
    return value;
}

/* Keeps a solid that was made, or raises its error at the line of the call. */
static int return_solid(lua_State *L, const char *what, abut_status status, abut_solid *solid,
                        const abut_error *error) {
    abut_scene *scene = scene_of(L);
    if (status != ABUT_OK) {
        if (error->file[0] && error->line)
            return scene_raise(L, NULL, "%s: %s:%d: %s", what, error->file, error->line, error->message);
        return scene_raise(L, NULL, "%s: %s", what, error->message);
    }
    if (!array_push(&scene->context, &scene->solids, solid)) {
        abut_solid_free(&scene->context, solid);
        return scene_raise_memory(L);
    }
    return scene_return_shape(L, abut_shape_solid(solid));
}

/* ---- solids */

static int solid_box(lua_State *L) {
    table t = table_open(L, "solid.box", "lx ly lz", 3);
    double x = positive_length(&t, "lx", 1), y = positive_length(&t, "ly", 2),
           z = positive_length(&t, "lz", 3);
    abut_solid *solid = NULL;
    abut_error error = {0};
    abut_status status = abut_solid_box(&scene_of(L)->context, x, y, z, &solid, &error);
    return return_solid(L, t.what, status, solid, &error);
}

static int solid_tetrahedron(lua_State *L) {
    table t = table_open(L, "solid.tetrahedron", "a", 1);
    double a = positive_length(&t, "a", 1);
    abut_solid *solid = NULL;
    abut_error error = {0};
    abut_status status = abut_solid_tetrahedron(&scene_of(L)->context, a, &solid, &error);
    return return_solid(L, t.what, status, solid, &error);
}

/* A solid of more facets than a scene can handle is a slip of the hand. */
static void bound_facets(const table *t, double facets) {
    const double most = 1e6;
    if (facets > most)
        scene_raise(t->L, NULL, "%s: that is %.0f facets; no more than %.0f, please", t->what, facets, most);
}

static int solid_sphere(lua_State *L) {
    table t = table_open(L, "solid.sphere", "radius slices stacks", 3);
    double r = positive_length(&t, "radius", 1);
    int slices = 24, stacks = 12;
    table_integer(&t, "slices", 2, 3, 4096, &slices);
    table_integer(&t, "stacks", 3, 2, 4096, &stacks);
    bound_facets(&t, (double)slices * stacks);
    abut_solid *solid = NULL;
    abut_error error = {0};
    abut_status status = abut_solid_sphere(&scene_of(L)->context, r, slices, stacks, &solid, &error);
    return return_solid(L, t.what, status, solid, &error);
}

static int solid_cylinder(lua_State *L) {
    table t = table_open(L, "solid.cylinder", "radius height sides", 3);
    double r = positive_length(&t, "radius", 1), h = positive_length(&t, "height", 2);
    int sides = 24;
    table_integer(&t, "sides", 3, 3, 65536, &sides);
    abut_solid *solid = NULL;
    abut_error error = {0};
    abut_status status = abut_solid_cylinder(&scene_of(L)->context, r, h, sides, &solid, &error);
    return return_solid(L, t.what, status, solid, &error);
}

static int solid_torus(lua_State *L) {
    table t = table_open(L, "solid.torus", "major minor n m", 4);
    double major = positive_length(&t, "major", 1), minor = positive_length(&t, "minor", 2);
    int n = 24, m = 12;
    table_integer(&t, "n", 3, 3, 4096, &n);
    table_integer(&t, "m", 4, 3, 4096, &m);
    bound_facets(&t, (double)n * m);
    abut_solid *solid = NULL;
    abut_error error = {0};
    abut_status status = abut_solid_torus(&scene_of(L)->context, major, minor, n, m, &solid, &error);
    return return_solid(L, t.what, status, solid, &error);
}

/* Reads the list of points (of `size` numbers) on top of the stack into userdata that Lua collects; returns
 * the count. */
double *scene_read_points(lua_State *L, const char *what, int size, int *count) {
    if (!lua_istable(L, -1)) scene_raise(L, NULL, "%s: the points must be a list of points", what);
    int list = lua_gettop(L), n = (int)lua_rawlen(L, list);
    double *points = lua_newuserdatauv(L, (size_t)(n + 1) * (size_t)size * sizeof *points, 0);
    abut_scene *scene = scene_of(L);
    scene->lengths_used = true;
    for (int i = 0; i < n; i++) {
        char words[96];
        snprintf(words, sizeof words, "%s: point %d", what, i + 1);
        lua_geti(L, list, i + 1);
        table_list(L, words, size, size, points + i * size);
        lua_pop(L, 1);
        for (int k = 0; k < size; k++) points[i * size + k] *= scene->unit;
    }
    *count = n;
    return points;
}

static int solid_hull(lua_State *L) {
    table t = table_open(L, "solid.hull", "points", 1);
    need(&t, table_get(&t, "points", 1), "points");
    int count;
    double *points = scene_read_points(L, t.what, 3, &count);
    abut_solid *solid = NULL;
    abut_error error = {0};
    abut_status status = abut_solid_hull(&scene_of(L)->context, (const abut_vec3 *)(const void *)points,
                                         count, &solid, &error);
    return return_solid(L, t.what, status, solid, &error);
}

static int solid_prism(lua_State *L) {
    table t = table_open(L, "solid.prism", "polygon outline height", 2);
    bool given = table_get(&t, "outline", 0) || table_get(&t, "polygon", 1);
    need(&t, given, "polygon");
    int count;
    double *points = scene_read_points(L, t.what, 2, &count);
    double height = positive_length(&t, "height", 2);
    abut_solid *solid = NULL;
    abut_error error = {0};
    abut_status status = abut_solid_prism(&scene_of(L)->context, (const double(*)[2])(const void *)points,
                                          count, height, &solid, &error);
    return return_solid(L, t.what, status, solid, &error);
}

/* ---- files */

/* The path of a scene's file: below the root after all links and dots are resolved, or an error. */
void scene_resolve(lua_State *L, const char *what, const char *file, char *path, size_t size) {
    abut_scene *scene = scene_of(L);
    char joined[2048];
    int length = file[0] == '/' ? snprintf(joined, sizeof joined, "%s", file)
                                : snprintf(joined, sizeof joined, "%s/%s", scene->folder, file);
    if (length < 0 || (size_t)length >= sizeof joined)
        scene_raise(L, "file", "%s: the file name is too long", what);
    char *real = realpath(joined, NULL), *root = realpath(scene->root, NULL);
    if (!real && file[0] != '/' && scene->root != scene->folder) { /* a scene that was moved: below --root */
        length = snprintf(joined, sizeof joined, "%s/%s", scene->root, file);
        if (length >= 0 && (size_t)length < sizeof joined) real = realpath(joined, NULL);
    }
    bool below = false;
    if (real && root) {
        size_t n = strlen(root);
        below = strncmp(real, root, n) == 0 && (real[n] == '/' || real[n] == 0 || (n == 1 && root[0] == '/'));
        snprintf(path, size, "%s", real);
    }
    bool exists = real != NULL;
    free(real), free(root);
    if (!exists)
        scene_raise(L, "file", "%s: there is no file `%s` in the folder of the scene%s; check the name", what,
                    file, scene->root != scene->folder ? " or of --root" : "");
    if (!below)
        scene_raise(L, "file", "%s: `%s` lies outside the folder of the scene; move it there, or use --root",
                    what, file);
}

static int solid_mesh(lua_State *L) {
    table t = table_open(L, "solid.mesh", "file scale", 1);
    const char *file;
    need(&t, table_string(&t, "file", 1, &file), "file");
    abut_scene *scene = scene_of(L);
    double scale = 1;
    if (table_number(&t, "scale", 0, &scale) && !(scale > 0))
        scene_raise(L, "scale", "solid.mesh: `scale` must be positive");
    scene->lengths_used = true;
    scale *= scene->unit;
    char path[4096];
    scene_resolve(L, t.what, file, path, sizeof path);
    abut_solid *solid = NULL, *scaled = NULL;
    abut_error error = {0};
    abut_status status = abut_solid_load(&scene->context, path, NULL, &solid, &error);
    if (error.file[0]) snprintf(error.file, sizeof error.file, "%s", file);
    if (status == ABUT_OK && scale != 1) {
        status = abut_solid_scaled(&scene->context, solid, scale, &scaled, &error);
        abut_solid_free(&scene->context, solid);
        solid = scaled;
    }
    if ((status == ABUT_INVALID || status == ABUT_IO) && !error.line) /* no file to be read, or no solid */
        return scene_raise(L, "file", "solid.mesh: %s: %s", file, error.message);
    return return_solid(L, t.what, status, solid, &error);
}

/* ---- analytic shapes */

static int shape_sphere(lua_State *L) {
    table t = table_open(L, "sphere", "radius inside", 1);
    double r = positive_length(&t, "radius", 1);
    bool inside = false;
    table_flag(&t, "inside", &inside);
    return scene_return_shape(L, inside ? abut_shape_cavity(r) : abut_shape_sphere(r));
}

static int shape_ellipsoid(lua_State *L) {
    table t = table_open(L, "ellipsoid", "a b c", 3);
    double a = positive_length(&t, "a", 1), b = positive_length(&t, "b", 2), c = positive_length(&t, "c", 3);
    return scene_return_shape(L, abut_shape_ellipsoid(a, b, c));
}

static int shape_capsule(lua_State *L) {
    table t = table_open(L, "capsule", "radius length", 2);
    double r = positive_length(&t, "radius", 1), length = positive_length(&t, "length", 2);
    return scene_return_shape(L, abut_shape_capsule(r, length));
}

static int shape_cylinder(lua_State *L) {
    table t = table_open(L, "cylinder", "radius height", 2);
    double r = positive_length(&t, "radius", 1), height = positive_length(&t, "height", 2);
    return scene_return_shape(L, abut_shape_cylinder(r, height));
}

static int shape_halfspace(lua_State *L) {
    table t = table_open(L, "halfspace", "normal offset", 2);
    vec3 normal = {0, 0, 1};
    double offset = 0;
    table_vector(&t, "normal", 1, &normal);
    table_length(&t, "offset", 2, &offset);
    if (!(vec3_length(normal) > 0)) scene_raise(L, "normal", "halfspace: `normal` must not be zero");
    return scene_return_shape(L, abut_shape_halfspace(normal, offset));
}

void scene_register_shapes(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"solid.box", solid_box},
        {"solid.mesh", solid_mesh},
        {"solid.hull", solid_hull},
        {"solid.prism", solid_prism},
        {"solid.tetrahedron", solid_tetrahedron},
        {"solid.sphere", solid_sphere},
        {"solid.cylinder", solid_cylinder},
        {"solid.torus", solid_torus},
        {"sphere", shape_sphere},
        {"ellipsoid", shape_ellipsoid},
        {"capsule", shape_capsule},
        {"cylinder", shape_cylinder},
        {"halfspace", shape_halfspace},
    };
    for (int i = 0; i < COUNT_OF(functions); i++) scene_set_call(L, functions[i].name, functions[i].func);
}
