/* world, material, pair, body. */
#include "scene/scene.h"

#include <stdio.h>

static int set_world(lua_State *L) {
    abut_scene *scene = scene_of(L);
    abut_world_def *w = &scene->world;
    table t = table_open(
        L, "world",
        "gravity mode duration frame step substeps impact restitution_law unit solver tolerance title notes",
        0);
    int unit = table_word(&t, "unit", "m mm cm");
    if (unit >= 0) {
        static const double metres[] = {1, 1e-3, 1e-2};
        if (scene->lengths_used && scene->unit != metres[unit])
            scene_raise(L, "unit",
                        "world: `unit` must come before the first shape and body; move world { } up");
        scene->unit = metres[unit];
    }
    table_position(&t, "gravity", 0, &w->gravity);
    int mode = table_word(&t, "mode", "exact live");
    if (mode >= 0) w->mode = mode ? ABUT_LIVE : ABUT_EXACT;
    table_number(&t, "duration", 0, &w->duration);
    table_number(&t, "frame", 0, &w->frame);
    table_number(&t, "step", 0, &w->step);
    table_integer(&t, "substeps", 0, 1, 1000, &w->substeps);
    if (!(w->duration >= 0)) scene_raise(L, "duration", "world: `duration` cannot be negative");
    if (!(w->frame > 0)) scene_raise(L, "frame", "world: `frame` must be positive");
    if (!(w->step > 0)) scene_raise(L, "step", "world: `step` must be positive");
    int impact = table_word(&t, "impact", "simultaneous propagation");
    if (impact >= 0) w->impact = impact ? ABUT_PROPAGATION : ABUT_SIMULTANEOUS;
    int law = table_word(&t, "restitution_law", "newton poisson");
    if (law >= 0) w->restitution_law = law ? ABUT_POISSON : ABUT_NEWTON;
    int solver = table_word(&t, "solver", "exact lemke lp pgs nncg");
    if (solver >= 0) w->solver = (abut_solver_kind)solver;
    table_string(&t, "title", 0, &w->title);
    table_string(&t, "notes", 0, &w->notes);
    table u = table_nested(&t, "tolerance", "world tolerance", "integration touching event rest_speed", 0);
    if (u.index) {
        table_number(&u, "integration", 0, &w->tolerance.integration);
        table_length(&u, "touching", 0, &w->tolerance.touching);
        table_number(&u, "event", 0, &w->tolerance.event);
        table_length(&u, "rest_speed", 0, &w->tolerance.rest_speed);
        double least = fmin(fmin(w->tolerance.integration, w->tolerance.touching),
                            fmin(w->tolerance.event, w->tolerance.rest_speed));
        if (least < 0) scene_raise(L, "tolerance", "world: a tolerance cannot be negative");
    }
    return 0;
}

/* ---- materials */

static void read_friction(const table *t, abut_friction *f) {
    double mu;
    if (!table_get(t, "friction", 0)) return;
    bool plain = lua_isnumber(t->L, -1);
    lua_pop(t->L, 1);
    if (plain) {
        table_number(t, "friction", 0, &mu);
        f->stick = f->slide = mu;
    } else {
        table u = table_nested(t, "friction", "friction", "static dynamic rolling spinning", 0);
        bool has_static = table_number(&u, "static", 0, &f->stick),
             has_dynamic = table_number(&u, "dynamic", 0, &f->slide);
        if (has_static && !has_dynamic) f->slide = f->stick;
        if (has_dynamic && !has_static) f->stick = f->slide;
        table_length(&u, "rolling", 0, &f->rolling);
        table_length(&u, "spinning", 0, &f->spinning);
        lua_pop(t->L, 1);
    }
    if (f->stick < 0 || f->slide < 0 || f->rolling < 0 || f->spinning < 0)
        scene_raise(t->L, "friction", "%s: friction cannot be negative", t->what);
    if (f->slide > f->stick)
        scene_raise(t->L, "friction",
                    "%s: dynamic friction %g is larger than static friction %g; it cannot be", t->what,
                    f->slide, f->stick);
}

static void read_restitution(const table *t, double *restitution) {
    table_number(t, "restitution", 0, restitution);
    if (*restitution < 0 || *restitution > 1)
        scene_raise(t->L, "restitution", "%s: `restitution` lies between 0 and 1, not at %g", t->what,
                    *restitution);
}

static int set_material(lua_State *L) {
    abut_scene *scene = scene_of(L);
    table t = table_open(L, "material", "name restitution friction pressure", 0);
    abut_material_def m = {0};
    table_string(&t, "name", 0, &m.name);
    if (!m.name) m = scene->world.material;
    read_restitution(&t, &m.restitution);
    read_friction(&t, &m.friction);
    int pressure = table_word(&t, "pressure", "vertices uniform");
    if (pressure >= 0) m.uniform_pressure = pressure == 1;
    if (!m.name) {
        scene->world.material = m;
        return 0;
    }
    for (int i = 0; i < scene->materials.count; i++)
        if (strcmp(scene->materials.data[i].name, m.name) == 0)
            scene_raise(L, "name", "material: there is already a material `%s`; use another name", m.name);
    if (!array_push(&scene->context, &scene->materials, m)) scene_raise_memory(L);
    return 0;
}

static int find_material(lua_State *L, const char *key, const char *name) {
    abut_scene *scene = scene_of(L);
    for (int i = 0; i < scene->materials.count; i++)
        if (strcmp(scene->materials.data[i].name, name) == 0) return i;
    return scene_raise(L, key,
                       "there is no material `%s`; define it with material { name = \"%s\", ... } first",
                       name, name);
}

/* What two materials have together before a pair says otherwise. */
static abut_pair_def meet(const abut_scene *scene, int first, int second) {
    const abut_material_def *a = &scene->materials.data[first], *b = &scene->materials.data[second];
    const abut_friction *f = &a->friction, *g = &b->friction;
    return (abut_pair_def){{first, second},
                           fmax(a->restitution, b->restitution),
                           {sqrt(f->stick * g->stick), sqrt(f->slide * g->slide),
                            sqrt(f->rolling * g->rolling), sqrt(f->spinning * g->spinning)}};
}

/* pair("rubber", "ice", {...}), or pair{"rubber", "ice", {...}} as a dump writes it. */
static int set_pair(lua_State *L) {
    abut_scene *scene = scene_of(L);
    if (lua_istable(L, 1) && lua_gettop(L) == 1) {
        for (int i = 1; i <= 3; i++) lua_geti(L, 1, i);
        lua_remove(L, 1);
    }
    if (lua_type(L, 1) != LUA_TSTRING || lua_type(L, 2) != LUA_TSTRING || !lua_istable(L, 3) ||
        lua_gettop(L) > 3)
        return scene_raise(
            L, NULL, "pair takes two names and a table: write pair(\"rubber\", \"ice\", {friction = 0.1})");
    const char *a = lua_tostring(L, 1), *b = lua_tostring(L, 2);
    abut_pair_def p = meet(scene, find_material(L, NULL, a), find_material(L, NULL, b));
    lua_remove(L, 1), lua_remove(L, 1);
    table t = table_open(L, "pair", "restitution friction", 0);
    read_restitution(&t, &p.restitution);
    read_friction(&t, &p.friction);
    if (!array_push(&scene->context, &scene->pairs, p)) scene_raise_memory(L);
    return 0;
}

/* ---- bodies */

/* Numbers of bodies by name: a table of the registry. */
int scene_find_body(lua_State *L, const char *name) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, SCENE_BODY ".names");
    int number = lua_getfield(L, -1, name) == LUA_TNUMBER ? (int)lua_tointeger(L, -1) : -1;
    lua_pop(L, 2);
    return number;
}

static void name_body(lua_State *L, const char *name, int number) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, SCENE_BODY ".names");
    lua_pushinteger(L, number);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

/* The name given, or the first of body<n> that is free. */
static void read_name(const table *t, abut_body_def *body) {
    abut_scene *scene = scene_of(t->L);
    if (table_string(t, "name", 0, &body->name)) {
        json_t *text = json_string(body->name); /* NULL: it could not be written to JSON */
        if (!text) scene_raise(t->L, "name", "body: `name` is not UTF-8; save the file as UTF-8");
        json_decref(text);
        if (!body->name[0]) scene_raise(t->L, "name", "body: `name` is empty; give one or leave it out");
        if (scene_find_body(t->L, body->name) >= 0)
            scene_raise(t->L, "name", "body: there is already a body `%s`; names must differ", body->name);
        return;
    }
    char generated[32];
    int number = (int)scene->bodies.count + 1;
    do snprintf(generated, sizeof generated, "body%d", number++);
    while (scene_find_body(t->L, generated) >= 0);
    body->name = scene_copy(scene, generated);
    if (!body->name) scene_raise_memory(t->L);
}

/* rotation = {angle, x, y, z} or quaternion = {w, x, y, z} */
static void read_rotation(const table *t, quat *q) {
    double r[4];
    bool by_angle = table_numbers(t, "rotation", 0, 4, 4, r) > 0;
    if (by_angle) {
        vec3 axis = {r[1], r[2], r[3]};
        if (!(vec3_length(axis) > 0))
            scene_raise(t->L, "rotation", "body: the axis of `rotation` is zero; write {angle, x, y, z}");
        *q = abut_quat_from_axis_angle(axis, r[0]);
    }
    if (table_numbers(t, "quaternion", 0, 4, 4, r)) {
        if (by_angle)
            scene_raise(t->L, "quaternion", "body: `rotation` and `quaternion` are given; drop one");
        if (!(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3] > 1e-12))
            scene_raise(t->L, "quaternion", "body: `quaternion` is zero; {1, 0, 0, 0} is no rotation");
        *q = quat_unit((quat){r[0], r[1], r[2], r[3]});
    }
}

static void read_shape(const table *t, abut_body_def *body) {
    abut_scene *scene = scene_of(t->L);
    if (!table_get(t, "shape", 0)) return;
    int number = scene_handle(t->L, -1, SCENE_SHAPE);
    if (number < 0)
        scene_raise(t->L, "shape",
                    "body: `shape` must be a shape, as sphere {1} or solid.box {1, 1, 1}, not a %s",
                    luaL_typename(t->L, -1));
    lua_pop(t->L, 1);
    body->shape = scene->shapes.data[number].shape;
}

static void read_mass(const table *t, abut_body_def *body) {
    if (table_number(t, "density", 0, &body->density) && !(body->density > 0))
        scene_raise(t->L, "density", "body: `density` must be positive, not %g", body->density);
    if (table_number(t, "mass", 0, &body->mass) && !(body->mass > 0))
        scene_raise(t->L, "mass",
                    "body: `mass` must be positive, not %g; use fixed = true for a body that never moves",
                    body->mass);
    int entries = table_numbers(t, "inertia", 0, 3, 6, body->inertia);
    if (entries == 4 || entries == 5)
        scene_raise(t->L, "inertia",
                    "body: `inertia` has %d numbers; give {xx, yy, zz} or {xx, yy, zz, xy, xz, yz}", entries);
    body->has_inertia = entries > 0;
    body->has_center = table_position(t, "center", 0, &body->center);
    table d = table_nested(t, "drag", "drag", "linear angular", 0);
    if (d.index) {
        table_number(&d, "linear", 0, &body->drag_linear);
        table_number(&d, "angular", 0, &body->drag_angular);
        lua_pop(t->L, 1);
    }
    if (body->drag_linear < 0 || body->drag_angular < 0)
        scene_raise(t->L, "drag", "body: `drag` cannot be negative");
}

static void read_motion(const table *t, abut_body_def *body) {
    if (!table_get(t, "motion", 0)) return;
    if (!lua_isfunction(t->L, -1))
        scene_raise(t->L, "motion",
                    "body: `motion` must be a function(t) that returns a position and a quaternion");
    if (!body->kinematic) scene_raise(t->L, "motion", "body: `motion` needs kinematic = true");
    char what[160];
    snprintf(what, sizeof what, "the motion of body `%s`", body->name ? body->name : "without name");
    body->motion = scene_time_function;
    body->motion_user = scene_keep_function(t->L, what, scene_of(t->L)->unit);
}

/* Groups are numbers, 1 and 1.0 the same one, or words. */
static void read_group(const table *t, abut_body_def *body) {
    if (!table_get(t, "group", 0)) return;
    size_t size;
    int type = lua_type(t->L, -1);
    if (type != LUA_TNUMBER && type != LUA_TSTRING)
        scene_raise(t->L, "group", "body: `group` must be a word or a number, not a %s",
                    lua_typename(t->L, type));
    lua_Integer whole;
    if (type == LUA_TNUMBER && lua_numbertointeger(lua_tonumber(t->L, -1), &whole) &&
        (lua_Number)whole == lua_tonumber(t->L, -1)) {
        lua_pop(t->L, 1);
        lua_pushinteger(t->L, whole);
    }
    const char *text = luaL_tolstring(t->L, -1, &size);
    body->group = (int)(hash64(text, size, 5) & 0x7ffffffe) + 1;
    lua_pop(t->L, 2);
}

static void read_color(const table *t, abut_body_def *body) {
    double c[4] = {0, 0, 0, 1};
    int count = table_numbers(t, "color", 0, 3, 4, c);
    for (int i = 0; i < 4 && count; i++) body->color[i] = (float)c[i];
}

static int add_body(lua_State *L) {
    abut_scene *scene = scene_of(L);
    table t = table_open(L, "body",
                         "name shape position rotation quaternion velocity spin density mass inertia center "
                         "fixed kinematic motion "
                         "drag group material color",
                         0);
    abut_body_def body = abut_default_body();
    body.line = scene_line(L);
    read_name(&t, &body);
    table_flag(&t, "fixed", &body.fixed);
    table_flag(&t, "kinematic", &body.kinematic);
    if (body.fixed && body.kinematic)
        scene_raise(L, "kinematic", "body: `fixed` never moves and `kinematic` does; give one of them");
    read_shape(&t, &body);
    table_position(&t, "position", 0, &body.position);
    read_rotation(&t, &body.rotation);
    table_position(&t, "velocity", 0, &body.velocity);
    table_vector(&t, "spin", 0, &body.spin);
    read_mass(&t, &body);
    read_motion(&t, &body);
    read_group(&t, &body);
    read_color(&t, &body);
    const char *material;
    if (table_string(&t, "material", 0, &material)) body.material = find_material(L, "material", material);
    if (!array_push(&scene->context, &scene->bodies, body)) scene_raise_memory(L);
    name_body(L, body.name, (int)scene->bodies.count - 1);
    scene_push_handle(L, SCENE_BODY, (int)scene->bodies.count - 1);
    return 1;
}

void scene_register_world(lua_State *L) {
    scene_set_call(L, "world", set_world);
    scene_set_call(L, "material", set_material);
    scene_set_call(L, "pair", set_pair);
    scene_set_call(L, "body", add_body);
}
