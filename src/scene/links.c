/* hinge.*, spring, force, torque. */
#include "scene/scene.h"

#include <stdio.h>

/* A coordinate is a travel (a length) or an angle. */
static bool travels(abut_hinge_kind kind) {
    return kind == ABUT_HINGE_SLIDER || kind == ABUT_HINGE_CYLINDER || kind == ABUT_HINGE_POINT_ON_LINE;
}

static void read_motor(const table *t, abut_hinge_def *h) {
    table m = table_nested(t, "motor", "motor", "speed max_force", 0);
    if (!m.index) return;
    double scale = travels(h->kind) ? scene_of(t->L)->unit : 1;
    h->has_motor = true;
    if (table_function(&m, "speed")) {
        h->motor_function = scene_time_function;
        h->motor_user = scene_keep_function(t->L, "the speed of a motor", scale);
    } else if (table_number(&m, "speed", 0, &h->motor_speed)) {
        h->motor_speed *= scale;
    } else {
        scene_raise(t->L, "motor", "motor: `speed` is missing; give a number or a function(t)");
    }
    if (table_number(&m, "max_force", 0, &h->motor_max_force) && !(h->motor_max_force >= 0))
        scene_raise(t->L, "max_force", "motor: `max_force` cannot be negative");
    lua_pop(t->L, 1);
}

static void read_limits(const table *t, abut_hinge_def *h) {
    h->has_limits = table_numbers(t, "limits", 0, 2, 2, h->limits) > 0;
    if (!h->has_limits) return;
    double scale = travels(h->kind) ? scene_of(t->L)->unit : 1;
    h->limits[0] *= scale, h->limits[1] *= scale;
    if (h->limits[0] > h->limits[1])
        scene_raise(t->L, "limits", "%s: the limits are {%g, %g}; the lower one comes first", t->what,
                    h->limits[0], h->limits[1]);
}

/* Keys that only one kind understands would be passed over in silence by the others. */
static void refuse_strange_keys(const table *t, abut_hinge_kind kind) {
    static const struct {
        const char *key, *word;
        abut_hinge_kind kind;
    } own[] = {{"pitch", "screw", ABUT_HINGE_SCREW},
               {"at_b", "rod", ABUT_HINGE_ROD},
               {"axis_b", "universal", ABUT_HINGE_UNIVERSAL}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (kind != own[i].kind && table_get(t, own[i].key, 0))
            scene_raise(t->L, own[i].key, "%s: `%s` belongs to hinge.%s; leave it out, or use that", t->what,
                        own[i].key, own[i].word);
    if (table_get(t, "rest", 0)) {
        lua_pop(t->L, 1);
        if (!table_get(t, "stiffness", 0))
            scene_raise(t->L, "rest", "%s: `rest` is where a spring pulls to; give `stiffness` too", t->what);
        lua_pop(t->L, 1);
    }
}

static int add_hinge(lua_State *L, abut_hinge_kind kind) {
    abut_scene *scene = scene_of(L);
    char what[32];
    snprintf(what, sizeof what, "hinge.%s", abut_hinge_name(kind));
    table t = table_open(
        L, what, "a b at at_b axis axis_b pitch limits motor break_force collide name stiffness damping rest",
        2);
    abut_hinge_def h = abut_default_hinge();
    h.kind = kind, h.line = scene_line(L);
    refuse_strange_keys(&t, kind);
    h.a = table_body(&t, "a", 1);
    if (h.a < 0) scene_raise(L, NULL, "%s: the first body is missing; name it", what);
    h.b = table_body(&t, "b", 2);
    if (h.a == h.b) scene_raise(L, NULL, "%s: a body cannot be hinged to itself", what);
    table_string(&t, "name", 0, &h.name);
    h.at = scene->bodies.data[h.a].position;
    table_position(&t, "at", 0, &h.at);
    h.at_b = h.b >= 0 ? scene->bodies.data[h.b].position : h.at;
    bool has_end = table_position(&t, "at_b", 0, &h.at_b);
    /* a rod from a point of the ground alone ends at the body */
    if (kind == ABUT_HINGE_ROD && h.b < 0 && !has_end) h.at = scene->bodies.data[h.a].position;
    table_vector(&t, "axis", 0, &h.axis);
    if (!(vec3_length(h.axis) > 0)) scene_raise(L, "axis", "%s: `axis` must not be zero", what);
    table_vector(&t, "axis_b", 0, &h.axis_b);
    table_length(&t, "pitch", 0, &h.pitch);
    read_limits(&t, &h);
    read_motor(&t, &h);
    table_number(&t, "stiffness", 0, &h.stiffness);
    table_number(&t, "damping", 0, &h.damping);
    if (table_number(&t, "rest", 0, &h.rest) && travels(kind)) h.rest *= scene->unit;
    if (table_number(&t, "break_force", 0, &h.break_force) && !(h.break_force > 0))
        scene_raise(L, "break_force", "%s: `break_force` must be positive", what);
    table_flag(&t, "collide", &h.collide);
    if (!array_push(&scene->context, &scene->hinges, h)) scene_raise_memory(L);
    return 0;
}

#define HINGE(name, word, rows) \
    static int hinge_##name(lua_State *L) { return add_hinge(L, ABUT_HINGE_##name); }
ABUT_HINGE_LIST(HINGE)
#undef HINGE

static int add_spring(lua_State *L) {
    abut_scene *scene = scene_of(L);
    table t = table_open(L, "spring", "a b at_a at_b length stiffness damping", 2);
    abut_spring_def s = {.length = NAN};
    s.a = table_body(&t, "a", 1);
    if (s.a < 0) scene_raise(L, NULL, "spring: the first body is missing; name it");
    s.b = table_body(&t, "b", 2);
    s.has_at_a = table_position(&t, "at_a", 0, &s.at_a);
    s.has_at_b = table_position(&t, "at_b", 0, &s.at_b);
    if (s.a == s.b)
        scene_raise(L, NULL, "spring: it connects body `%s` with itself; name two bodies",
                    scene->bodies.data[s.a].name);
    if (s.b < 0 && !s.has_at_b)
        scene_raise(L, NULL, "spring: without a second body it needs `at_b`, a point of the ground");
    if (table_length(&t, "length", 0, &s.length) && s.length < 0)
        scene_raise(L, "length", "spring: `length` cannot be negative");
    bool stiff = table_number(&t, "stiffness", 0, &s.stiffness);
    if (!table_number(&t, "damping", 0, &s.damping) && !stiff)
        scene_raise(L, NULL, "spring: `stiffness` is missing; give it in N/m, or `damping` in N s/m");
    if (s.stiffness < 0) scene_raise(L, "stiffness", "spring: `stiffness` cannot be negative");
    if (s.damping < 0) scene_raise(L, "damping", "spring: `damping` cannot be negative");
    if (!array_push(&scene->context, &scene->springs, s)) scene_raise_memory(L);
    return 0;
}

static int add_load(lua_State *L, const char *what, const char *keys, bool is_torque) {
    abut_scene *scene = scene_of(L);
    table t = table_open(L, what, keys, 1);
    abut_force_def f = {.is_torque = is_torque};
    f.body = table_body(&t, "body", 1);
    if (f.body < 0) scene_raise(L, NULL, "%s: the body is missing; name it", what);
    if (!is_torque) f.has_at = table_position(&t, "at", 0, &f.at);
    if (table_function(&t, "value")) {
        char words[160];
        snprintf(words, sizeof words, "the %s on body `%s`", what, scene->bodies.data[f.body].name);
        f.function = scene_time_function;
        f.user = scene_keep_function(L, words, 1);
    } else if (!table_vector(&t, "value", 0, &f.value)) {
        scene_raise(L, NULL, "%s: `value` is missing; give {x, y, z} or a function(t)", what);
    }
    if (!array_push(&scene->context, &scene->forces, f)) scene_raise_memory(L);
    return 0;
}

static int add_force(lua_State *L) { return add_load(L, "force", "body at value", false); }
static int add_torque(lua_State *L) { return add_load(L, "torque", "body value", true); }

void scene_register_links(lua_State *L) {
#define REGISTER(name, word, rows) scene_set_call(L, "hinge." word, hinge_##name);
    ABUT_HINGE_LIST(REGISTER)
#undef REGISTER
    scene_set_call(L, "spring", add_spring);
    scene_set_call(L, "force", add_force);
    scene_set_call(L, "torque", add_torque);
}
