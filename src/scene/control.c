/* param, on, every, camera, light. */
#include "scene/scene.h"

#include <stdlib.h>

/* The value that --set gave to a parameter, or NULL. */
static const char *find_set(const abut_scene *scene, const char *name) {
    const char *found = NULL;
    size_t length = strlen(name);
    for (int i = 0; scene->set && scene->set[i]; i++)
        if (strncmp(scene->set[i], name, length) == 0 && scene->set[i][length] == '=')
            found = scene->set[i] + length + 1;
    return found;
}

/* param(name, default): a number, or text or a flag if the default is one. */
static int param(lua_State *L) {
    abut_scene *scene = scene_of(L);
    scene_check_building(L, "param");
    const char *name = luaL_checkstring(L, 1);
    if (lua_gettop(L) < 2)
        return scene_raise(L, NULL, "param: `%s` needs a default; write param(\"%s\", 1)", name, name);
    const char *given = find_set(scene, name), *kept = scene_copy(scene, name);
    if (!kept) scene_raise_memory(L);
    abut_param p = {.name = kept};
    if (lua_type(L, 2) == LUA_TNUMBER) {
        p.value = p.initial = lua_tonumber(L, 2);
        char *end = NULL;
        if (given) p.value = strtod(given, &end);
        if (given && (end == given || *end || !isfinite(p.value)))
            return scene_raise(L, NULL, "--set %s=%s: the parameter is a number", name, given);
        if (!array_push(&scene->context, &scene->params, p)) scene_raise_memory(L);
        if (p.value == floor(p.value) && fabs(p.value) < 9e15 && lua_isinteger(L, 2))
            lua_pushinteger(L, (lua_Integer)p.value);
        else
            lua_pushnumber(L, p.value);
        return 1;
    }
    if (!array_push(&scene->context, &scene->params, p)) scene_raise_memory(L);
    bool is_true = given && (strcmp(given, "true") == 0 || strcmp(given, "1") == 0);
    if (given && lua_isboolean(L, 2) && !is_true && strcmp(given, "false") != 0 && strcmp(given, "0") != 0)
        return scene_raise(L, NULL, "--set %s=%s: the parameter is true or false", name, given);
    if (!given)
        lua_pushvalue(L, 2);
    else if (lua_isboolean(L, 2))
        lua_pushboolean(L, is_true);
    else
        lua_pushstring(L, given);
    return 1;
}

static void add_handler(lua_State *L, scene_handler h, const char *what) {
    abut_scene *scene = scene_of(L);
    h.reference = luaL_ref(L, LUA_REGISTRYINDEX);
    if (!array_push(&scene->context, &scene->handlers, h)) scene_raise_memory(L);
    if (!scene->undumpable) scene->undumpable = what;
}

static int on(lua_State *L) {
    scene_check_building(L, "on");
    const char *kind = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    for (int i = 0; i < ABUT_EVENT_KINDS; i++)
        if (strcmp(abut_event_name((abut_event_kind)i), kind) == 0) {
            add_handler(L, (scene_handler){.kind = i}, "a function given to on()");
            return 0;
        }
    char words[512] = "", buffer[32];
    for (int i = 0; i < ABUT_EVENT_KINDS; i++) {
        strncat(words, abut_event_name((abut_event_kind)i), sizeof words - strlen(words) - 2);
        strncat(words, " ", sizeof words - strlen(words) - 1);
    }
    const char *nearest = table_nearest(kind, words, buffer, sizeof buffer);
    if (nearest) return scene_raise(L, NULL, "on: there is no event `%s`; did you mean `%s`?", kind, nearest);
    return scene_raise(L, NULL, "on: there is no event `%s`; they are: %s", kind, words);
}

static int every(lua_State *L) {
    scene_check_building(L, "every");
    double period = luaL_checknumber(L, 1);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    if (!(period > 0) || !isfinite(period))
        return scene_raise(L, NULL, "every: the period must be positive, not %g", period);
    if (period < 1e-6) /* a call takes about as long */
        return scene_raise(L, NULL, "every: a period of %g s is too short; give a microsecond or more",
                           period);
    lua_settop(L, 2);
    add_handler(L, (scene_handler){.kind = -1, .period = period}, "a function given to every()");
    return 0;
}

static int camera(lua_State *L) {
    abut_scene *scene = scene_of(L);
    table t = table_open(L, "camera", "position target up field_of_view", 0);
    abut_camera c = {.given = true, .position = {5, -5, 3}, .up = {0, 0, 1}, .field_of_view = 40};
    table_position(&t, "position", 0, &c.position);
    table_position(&t, "target", 0, &c.target);
    table_vector(&t, "up", 0, &c.up);
    table_number(&t, "field_of_view", 0, &c.field_of_view);
    if (!(c.field_of_view > 0 && c.field_of_view < 180))
        return scene_raise(L, "field_of_view",
                           "camera: `field_of_view` lies between 0 and 180 degrees, not at %g",
                           c.field_of_view);
    if (!(vec3_distance(c.position, c.target) > 0))
        return scene_raise(L, "position", "camera: `position` and `target` are the same point; move one");
    if (!(vec3_length(c.up) > 0)) return scene_raise(L, "up", "camera: `up` must not be zero");
    scene->camera = c;
    return 0;
}

static int light(lua_State *L) {
    abut_scene *scene = scene_of(L);
    table t = table_open(L, "light", "position color intensity", 0);
    abut_light l = {.position = {5, -5, 10}, .color = {1, 1, 1}, .intensity = 1};
    table_position(&t, "position", 0, &l.position);
    table_vector(&t, "color", 0, &l.color);
    table_number(&t, "intensity", 0, &l.intensity);
    if (l.intensity < 0) return scene_raise(L, "intensity", "light: `intensity` cannot be negative");
    if (!array_push(&scene->context, &scene->lights, l)) scene_raise_memory(L);
    return 0;
}

void scene_register_control(lua_State *L) {
    scene_set_function(L, "param", param);
    scene_set_function(L, "on", on);
    scene_set_function(L, "every", every);
    scene_set_call(L, "camera", camera);
    scene_set_call(L, "light", light);
}

/* ---- calling handlers */

void scene_push_vec3(lua_State *L, const char *key, vec3 v) {
    lua_createtable(L, 3, 0);
    for (int i = 0; i < 3; i++) {
        lua_pushnumber(L, vec3_at(v, i));
        lua_seti(L, -2, i + 1);
    }
    lua_setfield(L, -2, key);
}

/* The event as a table: time, kind, name, bodies, point, normal, impulse, energy_before, energy_after. */
static void push_event(lua_State *L, const abut_model *model, const abut_event *e) {
    lua_newtable(L);
    lua_pushnumber(L, e->time), lua_setfield(L, -2, "time");
    lua_pushstring(L, abut_event_name(e->kind)), lua_setfield(L, -2, "kind");
    if (e->name) lua_pushstring(L, e->name), lua_setfield(L, -2, "name");
    lua_newtable(L);
    for (int i = 0; i < 2; i++) {
        if (e->body[i] < 0) continue;
        lua_pushstring(L, abut_model_body_name(model, e->body[i]));
        lua_seti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "bodies");
    scene_push_vec3(L, "point", e->point);
    scene_push_vec3(L, "normal", e->normal);
    scene_push_vec3(L, "impulse", e->impulse);
    lua_pushnumber(L, e->energy_before), lua_setfield(L, -2, "energy_before");
    lua_pushnumber(L, e->energy_after), lua_setfield(L, -2, "energy_after");
}

typedef struct event_call {
    const scene_handler *handler;
    const abut_model *model;
    const abut_event *event;
} event_call;

static int call_handler(lua_State *L) {
    const event_call *c = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->handler->reference);
    push_event(L, c->model, c->event);
    lua_call(L, 1, 0);
    return 0;
}

bool abut_scene_event(abut_scene *scene, const abut_model *model, const abut_event *event) {
    for (int i = 0; i < scene->handlers.count; i++) {
        if (scene->handlers.data[i].kind != (int)event->kind) continue;
        event_call c = {&scene->handlers.data[i], model, event};
        scene_allow(scene, SCENE_CALL_INSTRUCTIONS);
        lua_pushcfunction(scene->lua, call_handler);
        lua_pushlightuserdata(scene->lua, &c);
        scene->has_failed = scene_call(scene, 1, 0, &scene->failure) != ABUT_OK;
        if (scene->has_failed) return false;
    }
    return true;
}

/* How many multiples of the period have come by a time; those that miss it by rounding have.  What has come
 * by the end of one span has come by the beginning of the next. */
static double multiples(double time, double period) {
    double k = floor(time / period);
    return (k + 1) * period <= time * (1 + 1e-12) ? k + 1 : k;
}

static bool call_every(abut_scene *scene, const scene_handler *h, double time) {
    scene_allow(scene, SCENE_CALL_INSTRUCTIONS);
    lua_rawgeti(scene->lua, LUA_REGISTRYINDEX, h->reference);
    lua_pushnumber(scene->lua, time);
    scene->has_failed = scene_call(scene, 1, 0, &scene->failure) != ABUT_OK;
    return !scene->has_failed;
}

bool abut_scene_every(abut_scene *scene, double from, double to) {
    for (int i = 0; i < scene->handlers.count; i++) {
        scene_handler *h = &scene->handlers.data[i];
        if (h->kind < 0) h->next = multiples(from, h->period) + 1, h->last = multiples(to, h->period);
    }
    for (;;) { /* in the order of their times, and of the scene where these are the same */
        scene_handler *first = NULL;
        for (int i = 0; i < scene->handlers.count; i++) {
            scene_handler *h = &scene->handlers.data[i];
            if (h->kind >= 0 || h->next > h->last) continue;
            if (!first || h->next * h->period < first->next * first->period * (1 - 1e-12)) first = h;
        }
        if (!first) return true;
        double time = first->next++ * first->period;
        if (!call_every(scene, first, time)) return false;
    }
}

bool abut_scene_listens(const abut_scene *scene) { return scene->handlers.count > 0; }
void abut_scene_retell(abut_scene *scene, bool again) { scene->is_retold = again; }

const abut_error *abut_scene_error(const abut_scene *scene) {
    return scene->has_failed ? &scene->failure : NULL;
}
