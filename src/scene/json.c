/* A scene as JSON: the list of its calls, each {"function": argument}.  Writing records what the Lua file
 * called with values already computed; reading calls the same functions, so that both forms mean the same by
 * construction and get the same messages.
 *
 *   {"abut": 1, "calls": [ {"world": {"duration": 2}},
 *                          {"body": {"name": "ball", "shape": {"sphere": [0.1]}, "position": [0, 0, 1]}},
 *                          {"hinge.ball": {"1": "ball", "at": [0, 0, 2]}} ]}
 *
 * Tables with names and positions have their positions as keys "1", "2". */
#include "scene/scene.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 16, HOLES = 16 };

/* ---- Lua to JSON
 *
 * Every value is put where it belongs before it is filled, under the scene's list of calls: an error raised
 * on the way leaks nothing.  Each value costs instructions: tables that hold each other again and again can
 * stand for more values than memory has room for. */

enum { VALUE_COST = 50 }; /* about 70 bytes of memory */

/* Into a list (at its end) or an object (under the key); the owner keeps it.  NULL: it has no room. */
static json_t *put(json_t *owner, const char *key, json_t *value) {
    int failed =
        key ? json_object_set_new(owner, key, value) : json_array_append_new(owner, value); /* frees it */
    return failed ? NULL : value;
}

static void add_value(lua_State *L, int index, int depth, json_t *owner, const char *key);

/* A list keeps its places, also where Lua's length stops at a nil before its end: such places are null. */
static void add_table(lua_State *L, int index, int depth, json_t *owner, const char *key) {
    lua_Integer length = (lua_Integer)lua_rawlen(L, index), last = length;
    bool named = false;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        lua_Integer place = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
        named |= place < 1 || place > length + HOLES;
        last = place > last ? place : last;
    }
    length = last;
    json_t *out = put(owner, key, named ? json_object() : json_array());
    if (!out) scene_raise_memory(L);
    for (lua_Integer i = 1; i <= length && !named; i++) {
        lua_rawgeti(L, index, i);
        add_value(L, lua_gettop(L), depth + 1, out, NULL);
        lua_pop(L, 1);
    }
    if (!named) return;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pushvalue(L, -2);
        const char *name = lua_tostring(L, -1); /* of a copy, which may become a string */
        if (name) add_value(L, lua_gettop(L) - 1, depth + 1, out, name);
        lua_pop(L, 2);
    }
}

static json_t *plain_value(lua_State *L, int index) {
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN: return json_boolean(lua_toboolean(L, index));
    case LUA_TNUMBER:
        return lua_isinteger(L, index) ? json_integer(lua_tointeger(L, index))
                                       : json_real(lua_tonumber(L, index));
    case LUA_TSTRING: return json_string(lua_tostring(L, index));
    default: return json_null(); /* functions: the scene is marked as not dumpable where they are kept */
    }
}

static void add_value(lua_State *L, int index, int depth, json_t *owner, const char *key) {
    abut_scene *scene = scene_of(L);
    if (depth > DEPTH) scene_raise(L, NULL, "tables are nested too deeply");
    luaL_checkstack(L, 8, "tables are nested too deeply");
    scene_charge(L, VALUE_COST);
    int shape = scene_handle(L, index, SCENE_SHAPE), body = scene_handle(L, index, SCENE_BODY);
    if (shape >= 0)
        put(owner, key, json_incref(scene->shapes.data[shape].call));
    else if (body >= 0)
        put(owner, key, json_string(scene->bodies.data[body].name));
    else if (lua_istable(L, index))
        add_table(L, index, depth, owner, key);
    else
        put(owner, key, plain_value(L, index));
}

/* {name: argument}, with several arguments {name: [arguments]} (pair("a", "b", {...})), or null without any,
 * at the end of the scene's calls. */
static void add_call(lua_State *L, json_t *calls, const char *name) {
    int count = lua_gettop(L);
    json_t *call = put(calls, NULL, count > 0 ? json_object() : json_null()), *list = call;
    if (call && count > 1) list = put(call, name, json_array());
    if (!list) scene_raise_memory(L);
    for (int i = 1; i <= count; i++) add_value(L, i, 0, list, count > 1 ? NULL : name);
}

/* ---- recording calls */

/* The language's function with its name, as a closure: calls it, and keeps the call. */
static int recorded(lua_State *L) {
    abut_scene *scene = scene_of(L);
    const char *name = lua_tostring(L, lua_upvalueindex(1));
    scene_check_building(L, name);
    scene_charge(L, SCENE_CALL_COST);
    if (!scene->calls) scene->calls = json_array();
    if (!scene->calls) scene_raise_memory(L);
    size_t place = json_array_size(scene->calls);
    add_call(L, scene->calls, name);
    lua_CFunction function = lua_tocfunction(L, lua_upvalueindex(2));
    int results = function(L);
    if (results == 1 && scene_handle(L, -1, SCENE_SHAPE) >= 0) { /* shapes are written where they are used */
        scene->shapes.data[scene_handle(L, -1, SCENE_SHAPE)].call =
            json_incref(json_array_get(scene->calls, place));
        json_array_remove(scene->calls, place);
    }
    return results;
}

void scene_set_call(lua_State *L, const char *name, lua_CFunction function) {
    const char *dot = strchr(name, '.');
    lua_pushstring(L, name);
    lua_pushcfunction(L, function);
    lua_pushcclosure(L, recorded, 2);
    if (!dot) {
        lua_setglobal(L, name);
        return;
    }
    lua_pushlstring(L, name, (size_t)(dot - name));
    if (lua_getglobal(L, lua_tostring(L, -1)) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setglobal(L, lua_tostring(L, -3));
    }
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, dot + 1);
    lua_pop(L, 3);
}

int scene_return_shape(lua_State *L, abut_shape shape) {
    abut_scene *scene = scene_of(L);
    scene_shape s = {.shape = shape};
    if (!array_push(&scene->context, &scene->shapes, s)) scene_raise_memory(L);
    scene_push_handle(L, SCENE_SHAPE, (int)scene->shapes.count - 1);
    return 1;
}

/* ---- JSON to Lua */

static void push_function(lua_State *L, const char *name) {
    const char *dot = strchr(name, '.');
    if (!dot) {
        lua_getglobal(L, name);
    } else {
        char module[32];
        snprintf(module, sizeof module, "%.*s", (int)(dot - name), name);
        if (lua_getglobal(L, module) == LUA_TTABLE) lua_getfield(L, -1, dot + 1);
        lua_remove(L, -2);
    }
    if (!lua_iscfunction(L, -1)) luaL_error(L, "there is no function `%s` in the scene language", name);
}

static bool is_shape_call(const json_t *value) {
    if (!json_is_object(value) || json_object_size(value) != 1) return false;
    const char *key = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)value));
    static const char *const shapes[] = {"sphere", "ellipsoid", "capsule", "cylinder", "halfspace"};
    for (int i = 0; i < COUNT_OF(shapes); i++)
        if (strcmp(key, shapes[i]) == 0) return true;
    return strncmp(key, "solid.", 6) == 0 || strncmp(key, "surface.", 8) == 0;
}

static void push_value(lua_State *L, json_t *value, bool in_shape_slot, int depth);

/* Calls the one function of an object; its result (or nothing) is left on the stack. */
static void push_call(lua_State *L, json_t *object, int results, int depth) {
    const char *name = json_object_iter_key(json_object_iter(object));
    push_function(L, name);
    push_value(L, json_object_get(object, name), false, depth + 1);
    lua_call(L, 1, results);
}

static void push_value(lua_State *L, json_t *value, bool in_shape_slot, int depth) {
    if (depth > DEPTH) luaL_error(L, "values are nested too deeply");
    luaL_checkstack(L, 8, "values are nested too deeply");
    const char *key;
    json_t *item;
    size_t i;
    switch (json_typeof(value)) {
    case JSON_TRUE: lua_pushboolean(L, 1); return;
    case JSON_FALSE: lua_pushboolean(L, 0); return;
    case JSON_INTEGER: lua_pushinteger(L, json_integer_value(value)); return;
    case JSON_REAL: lua_pushnumber(L, json_real_value(value)); return;
    case JSON_STRING: lua_pushstring(L, json_string_value(value)); return;
    case JSON_NULL: lua_pushnil(L); return;
    case JSON_ARRAY:
        lua_newtable(L);
        json_array_foreach(value, i, item) {
            push_value(L, item, false, depth + 1);
            lua_seti(L, -2, (lua_Integer)i + 1);
        }
        return;
    case JSON_OBJECT:
        if (in_shape_slot && is_shape_call(value)) {
            push_call(L, value, 1, depth);
            return;
        }
        lua_newtable(L);
        json_object_foreach(value, key, item) {
            push_value(L, item, strcmp(key, "shape") == 0, depth + 1);
            char *end;
            long position = strtol(key, &end, 10);
            if (*key && !*end)
                lua_seti(L, -2, position);
            else
                lua_setfield(L, -2, key);
        }
        return;
    }
}

static int run_calls(lua_State *L) {
    json_t *calls = lua_touserdata(L, 1), *call;
    size_t i;
    json_array_foreach(calls, i, call) {
        if (!json_is_object(call) || json_object_size(call) != 1)
            return luaL_error(L, "call %d is not an object with one function", (int)i + 1);
        push_call(L, call, 0, 0);
        lua_settop(L, 1);
    }
    return 0;
}

abut_status scene_run_json(abut_scene *scene, const char *text, size_t size, abut_error *error) {
    json_error_t where;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return fail_at(error, ABUT_INVALID, scene->name, where.line, "column %d: %s; correct the JSON",
                       where.column, where.text);
    json_t *calls = json_object_get(root, "calls");
    if (json_integer_value(json_object_get(root, "abut")) != 1 || !json_is_array(calls)) {
        json_decref(root);
        return fail_at(error, ABUT_INVALID, scene->name, 1,
                       "this JSON is not a scene: it needs {\"abut\": 1, \"calls\": [...]}, as `abut run "
                       "--dump-json` writes it");
    }
    lua_pushcfunction(scene->lua, run_calls);
    lua_pushlightuserdata(scene->lua, calls);
    abut_status status = scene_call(scene, 1, 0, error);
    json_decref(root);
    return status;
}

abut_status abut_scene_dump(const abut_scene *scene, char **text, size_t *size, abut_error *error) {
    *text = NULL, *size = 0;
    if (scene->undumpable)
        return fail_at(error, ABUT_UNSUPPORTED, scene->name, 0,
                       "%s is a function, and JSON has none; replace it by numbers, or keep the Lua file",
                       scene->undumpable);
    json_t *root = json_object();
    json_object_set_new(root, "abut", json_integer(1));
    json_object_set_new(root, "calls", scene->calls ? json_incref(scene->calls) : json_array());
    char *dumped = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17) | JSON_SORT_KEYS);
    json_decref(root);
    if (!dumped) return fail_memory(error);
    *size = strlen(dumped);
    *text = mem_alloc(&scene->context, *size + 1, 1);
    if (*text) memcpy(*text, dumped, *size + 1);
    free(dumped);
    return *text ? ABUT_OK : fail_memory(error);
}

void abut_scene_text_free(const abut_scene *scene, char *text, size_t size) {
    mem_free(&scene->context, text, size + 1, 1);
}
