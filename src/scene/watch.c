/* watch: a user event where a function of the scene comes to zero.
 *
 *   watch { name = "apex", "ball", value = function(t, ball) return ball.velocity[3] end } */
#include "scene/scene.h"

#include <stdio.h>

/* ---- the definition */

/* Bodies by position, or all of them in `bodies`. */
static void read_bodies(const table *t, abut_watch_def *w) {
    table list = table_nested(t, "bodies", "watch", "", ABUT_MOST_WATCHED);
    const table *from = list.index ? &list : t;
    for (int i = 1; i <= ABUT_MOST_WATCHED; i++) {
        int body = table_body(from, "body", i);
        if (body < 0) break;
        w->bodies[w->body_count++] = body;
    }
    if (list.index) lua_pop(t->L, 1);
    if (w->body_count == 0)
        scene_raise(t->L, NULL,
                    "watch: no body is named; write watch { \"ball\", value = function(t, ball) return "
                    "ball.velocity[3] end }");
}

static void read_name(const table *t, abut_watch_def *w) {
    abut_scene *scene = scene_of(t->L);
    char generated[32];
    snprintf(generated, sizeof generated, "watch%d", (int)scene->watches.count + 1);
    if (!table_string(t, "name", 0, &w->name)) w->name = scene_copy(scene, generated);
    if (!w->name) scene_raise_memory(t->L);
    json_t *text = json_string(w->name);
    if (!text) scene_raise(t->L, "name", "watch: `name` is not UTF-8; save the file as UTF-8");
    json_decref(text);
}

static bool ask(void *user, double time, const abut_watched *bodies, double *value);

static int add_watch(lua_State *L) {
    abut_scene *scene = scene_of(L);
    table t = table_open(L, "watch", "name bodies value direction", ABUT_MOST_WATCHED);
    abut_watch_def w = abut_default_watch();
    scene_watch *kept = arena_alloc(&scene->memory, 1, sizeof *kept);
    if (!kept) scene_raise_memory(L);
    read_name(&t, &w);
    read_bodies(&t, &w);
    int direction = table_word(&t, "direction", "both rising falling");
    if (direction > 0) w.direction = (abut_crossing)direction;
    if (!table_function(&t, "value"))
        scene_raise(L, "value",
                    "watch: `value` must be a function that returns a number; write value = function(t, %s) "
                    "return ... end",
                    scene->bodies.data[w.bodies[0]].name);
    char words[160];
    snprintf(words, sizeof words, "the value of watch `%s`", w.name);
    *kept = (scene_watch){.function = scene_keep_function(L, words, scene->unit),
                          .body_count = w.body_count,
                          .line = scene_line_of(L, "value")};
    w.line = kept->line, w.function = ask, w.user = kept;
    if (!array_push(&scene->context, &scene->watches, w)) scene_raise_memory(L);
    return 0;
}

void scene_register_watch(lua_State *L) { scene_set_call(L, "watch", add_watch); }

/* ---- asking it */

/* What a body is at: keys and units as of body { }. */
static void push_state(lua_State *L, const abut_watched *b, double unit) {
    lua_createtable(L, 0, 5);
    scene_push_vec3(L, "position", vec3_scale(b->position, 1 / unit));
    scene_push_vec3(L, "center", vec3_scale(b->center, 1 / unit));
    scene_push_vec3(L, "velocity", vec3_scale(b->velocity, 1 / unit));
    scene_push_vec3(L, "spin", b->spin);
    const double q[4] = {b->rotation.w, b->rotation.x, b->rotation.y, b->rotation.z};
    lua_createtable(L, 4, 0);
    for (int i = 0; i < 4; i++) {
        lua_pushnumber(L, q[i]);
        lua_seti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "quaternion");
}

typedef struct question {
    const scene_watch *watch;
    double time;
    const abut_watched *bodies;
    double *value;
} question;

static int call_watch(lua_State *L) {
    const question *q = lua_touserdata(L, 1);
    const scene_watch *w = q->watch;
    luaL_checkstack(L, ABUT_MOST_WATCHED + 8, "too many bodies");
    lua_rawgeti(L, LUA_REGISTRYINDEX, w->function->reference);
    lua_pushnumber(L, q->time);
    for (int i = 0; i < w->body_count; i++) push_state(L, &q->bodies[i], w->function->scale);
    lua_call(L, 1 + w->body_count, 1);
    bool is_number = lua_type(L, -1) == LUA_TNUMBER;
    *q->value = is_number ? lua_tonumber(L, -1) : NAN;
    if (isfinite(*q->value)) return 0;
    const char *given = is_number ? lua_tostring(L, -1) : luaL_typename(L, -1);
    lua_pushfstring(L, "%s:%d: %s is %s at t = %f; return a finite number", scene_of(L)->name, w->line,
                    w->function->what, given, q->time);
    return lua_error(L);
}

static bool ask(void *user, double time, const abut_watched *bodies, double *value) {
    question q = {user, time, bodies, value};
    abut_scene *scene = q.watch->function->scene;
    if (scene->has_failed) return false;
    scene_allow(scene, SCENE_CALL_INSTRUCTIONS);
    lua_pushcfunction(scene->lua, call_watch);
    lua_pushlightuserdata(scene->lua, &q);
    scene->has_failed = scene_call(scene, 1, 0, &scene->failure) != ABUT_OK;
    return !scene->has_failed;
}
