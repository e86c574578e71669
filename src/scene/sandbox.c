/* The sandbox: a Lua state that can compute, and nothing else.  Memory goes through a counting allocator,
 * instructions through a count hook; the libraries are those without files, processes or other ways out, and
 * `load` takes text only. */
#include "scene/scene.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOOK_INTERVAL = 10000 };

abut_scene *scene_of(lua_State *L) { return *(abut_scene **)lua_getextraspace(L); }

int scene_line(lua_State *L) {
    lua_Debug debug;
    for (int level = 0; lua_getstack(L, level, &debug); level++) {
        lua_getinfo(L, "Sl", &debug);
        if (debug.currentline > 0) return debug.currentline;
    }
    return 0;
}

static void count_instructions(lua_State *L, lua_Debug *debug) {
    (void)debug;
    scene_charge(L, HOOK_INTERVAL);
}

/* Filling memory takes time as well, and one instruction can ask for much of it; an error cannot be raised
 * from here, but by the next instruction. */
static void charge_bytes(abut_scene *scene, size_t bytes) {
    scene->instructions_left -= (int64_t)(bytes / SCENE_BYTES);
    if (scene->instructions_left < 0 && scene->lua)
        lua_sethook(scene->lua, count_instructions, LUA_MASKCOUNT, 1);
}

/* lua_Alloc over the scene's context, with a limit. */
static void *allocate(void *user, void *block, size_t old_size, size_t new_size) {
    abut_scene *scene = user;
    if (!block) old_size = 0; /* Lua passes a type tag there */
    if (new_size == 0) {
        mem_free(&scene->context, block, old_size, 1);
        scene->lua_bytes -= old_size;
        return NULL;
    }
    if (scene->lua_bytes - old_size + new_size > scene->lua_limit) {
        if (scene->lua) scene->memory_line = scene_line(scene->lua);
        return NULL;
    }
    void *grown = mem_resize(&scene->context, block, old_size, new_size, 1);
    if (grown) scene->lua_bytes += new_size - old_size;
    if (grown && new_size > old_size) charge_bytes(scene, new_size);
    return grown;
}

void scene_charge(lua_State *L, int64_t instructions) {
    abut_scene *scene = scene_of(L);
    scene->instructions_left -= instructions;
    if (scene->instructions_left >= 0) return;
    lua_sethook(L, count_instructions, LUA_MASKCOUNT, 1); /* pcall catches it, but cannot go on */
    scene_raise(L, NULL, "the scene has run for too many instructions; is there a loop without an end?");
}

void scene_allow(abut_scene *scene, int64_t instructions) {
    scene->instructions_left = instructions;
    lua_sethook(scene->lua, count_instructions, LUA_MASKCOUNT, HOOK_INTERVAL);
}

/* ---- errors */

/* The line at or after `line` where `key` is given a value, or `line` itself. */
static int line_of_key(const abut_scene *scene, int line, const char *key) {
    const char *p = scene->source, *end = scene->source + scene->source_size;
    size_t length = strlen(key);
    int number = 1;
    for (; p < end && number < line; p++) number += *p == '\n';
    for (; p < end && number < line + 100; p++) {
        number += *p == '\n';
        if ((size_t)(end - p) <= length || strncmp(p, key, length) != 0) continue;
        bool begins = p == scene->source || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
        const char *q = p + length;
        while (q < end && (*q == ' ' || *q == '\t')) q++;
        if (begins && q < end && *q == '=' && (q + 1 == end || q[1] != '=')) return number;
    }
    return line;
}

int scene_line_of(lua_State *L, const char *key) {
    int line = scene_line(L);
    return line ? line_of_key(scene_of(L), line, key) : 0;
}

int scene_raise(lua_State *L, const char *key, const char *format, ...) {
    char message[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    abut_scene *scene = scene_of(L);
    int line = key ? scene_line_of(L, key) : scene_line(L);
    lua_pushfstring(L, "%s:%d: %s", scene->name, line, message);
    return lua_error(L);
}

int scene_raise_memory(lua_State *L) {
    return scene_raise(L, NULL, "out of memory; use fewer bodies or smaller meshes");
}

/* Splits Lua's `name:line: message`. */
static abut_status report(abut_scene *scene, int code, abut_error *error) {
    const char *text = lua_tostring(scene->lua, -1);
    if (code == LUA_ERRMEM)
        return fail_at(error, ABUT_INVALID, scene->name, scene->memory_line,
                       "the scene needs more memory than it may have; make it smaller");
    if (!text) text = "the scene raised an error that is not text; use error(\"message\")";
    char hint[256];
    scene_hint(text, hint, sizeof hint);
    /* Lua shortens long names in its own messages, scene_raise does not */
    size_t lengths[2] = {strlen(scene->name), strlen(scene->name)};
    if (lengths[1] > LUA_IDSIZE - 1) lengths[1] = LUA_IDSIZE - 1;
    int line = 0;
    for (int i = 0; i < 2 && line == 0; i++) {
        char *end;
        if (strncmp(text, scene->name, lengths[i]) != 0 || text[lengths[i]] != ':') continue;
        line = (int)strtol(text + lengths[i] + 1, &end, 10);
        if (*end == ':') text = end + 1 + (end[1] == ' ');
    }
    return fail_at(error, ABUT_INVALID, scene->name, line, "%s%s", text, hint);
}

abut_status scene_call(abut_scene *scene, int arguments, int results, abut_error *error) {
    int code = lua_pcall(scene->lua, arguments, results, 0);
    if (code == LUA_OK) return ABUT_OK;
    abut_status status = report(scene, code, error);
    lua_pop(scene->lua, 1);
    return status;
}

void scene_check_building(lua_State *L, const char *name) {
    if (scene_of(L)->is_built)
        scene_raise(L, NULL,
                    "%s builds the world, which the run can no longer change; call it in the scene itself, "
                    "not in a function that the run calls",
                    name);
}

/* ---- libraries */

static int log_print(lua_State *L) {
    abut_scene *scene = scene_of(L);
    int count = lua_gettop(L);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (int i = 1; i <= count; i++) {
        if (i > 1) luaL_addchar(&buffer, '\t');
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&buffer);
    }
    luaL_pushresult(&buffer);
    const abut_log *log = &scene->context.log; /* log_write would cut long lines */
    if (!scene->is_retold && log->write) log->write(log->user, ABUT_LOG_PRINT, lua_tostring(L, -1));
    return 0;
}

/* load(text [, name [, "t" [, env]]]): never binary chunks. */
static int load_text(lua_State *L) {
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    const char *name = luaL_optstring(L, 2, "=(load)");
    if (luaL_loadbufferx(L, text, size, name, "t") == LUA_OK) {
        if (!lua_isnoneornil(L, 4)) {
            lua_pushvalue(L, 4);
            lua_setupvalue(L, -2, 1);
        }
        return 1;
    }
    luaL_pushfail(L);
    lua_insert(L, -2);
    return 2;
}

static void open_libraries(lua_State *L, uint64_t seed) {
    luaL_requiref(L, "_G", luaopen_base, 1);
    luaL_requiref(L, "math", luaopen_math, 1);
    luaL_requiref(L, "string", luaopen_string, 1);
    luaL_requiref(L, "table", luaopen_table, 1);
    luaL_requiref(L, "utf8", luaopen_utf8, 1);
    lua_settop(L, 0);
    static const char *const removed[] = {"dofile", "loadfile", "require", "collectgarbage"};
    for (int i = 0; i < COUNT_OF(removed); i++) {
        lua_pushnil(L);
        lua_setglobal(L, removed[i]);
    }
    scene_set_function(L, "print", log_print);
    scene_set_function(L, "load", load_text);
    lua_getglobal(L, "string"); /* string.dump makes binary chunks */
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    scene_guard_libraries(L);
    scene_register_patterns(L);
    lua_getglobal(L, "math"); /* the same numbers on every run */
    lua_getfield(L, -1, "randomseed");
    lua_pushinteger(L, (lua_Integer)seed);
    lua_call(L, 1, 0);
    lua_settop(L, 0);
}

void scene_set_function(lua_State *L, const char *name, lua_CFunction function) {
    lua_pushcfunction(L, function);
    lua_setglobal(L, name);
}

static int protected_open(lua_State *L) {
    uint64_t seed = (uint64_t)lua_tointeger(L, 1);
    open_libraries(L, seed);
    luaL_newmetatable(L, SCENE_SHAPE);
    luaL_newmetatable(L, SCENE_BODY);
    lua_settop(L, 0);
    scene_register_shapes(L);
    scene_register_surfaces(L);
    scene_register_world(L);
    scene_register_links(L);
    scene_register_watch(L);
    scene_register_control(L);
    return 0;
}

abut_status scene_open(abut_scene *scene, uint64_t seed, abut_error *error) {
    scene->lua = lua_newstate(allocate, scene);
    if (!scene->lua) return fail_memory(error);
    *(abut_scene **)lua_getextraspace(scene->lua) = scene;
    scene_allow(scene, scene->instructions_left);
    lua_pushcfunction(scene->lua, protected_open);
    lua_pushinteger(scene->lua, (lua_Integer)seed);
    return scene_call(scene, 1, 0, error);
}

/* ---- handles */

void scene_push_handle(lua_State *L, const char *type, int number) {
    *(int *)lua_newuserdatauv(L, sizeof(int), 0) = number;
    luaL_setmetatable(L, type);
}

int scene_handle(lua_State *L, int index, const char *type) {
    const int *number = luaL_testudata(L, index, type);
    return number ? *number : -1;
}

const char *scene_copy(abut_scene *scene, const char *text) {
    char *copy = arena_alloc(&scene->memory, strlen(text) + 1, 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* ---- functions that the run calls later */

scene_function *scene_keep_function(lua_State *L, const char *what, double scale) {
    abut_scene *scene = scene_of(L);
    scene_function *f = arena_alloc(&scene->memory, 1, sizeof *f);
    const char *words = f ? scene_copy(scene, what) : NULL;
    if (!words) scene_raise_memory(L);
    int line = scene_line(L);
    *f = (scene_function){scene, luaL_ref(L, LUA_REGISTRYINDEX), words, line, scale};
    if (!scene->undumpable) scene->undumpable = f->what;
    return f;
}

/* Reads what a function returned: one number, a list of three, or a position and a quaternion. */
static int read_results(lua_State *L) {
    double *out = lua_touserdata(L, 1);
    int count = (int)lua_tointeger(L, 2);
    const char *what = lua_tostring(L, 3);
    if (count == 1) {
        if (lua_type(L, 4) != LUA_TNUMBER)
            return scene_raise(L, NULL, "%s must return a number, not a %s", what, luaL_typename(L, 4));
        out[0] = lua_tonumber(L, 4);
    } else if (count == 3) {
        lua_pushvalue(L, 4);
        table_list(L, what, 3, 3, out);
    } else {
        lua_pushvalue(L, 4);
        table_list(L, what, 3, 3, out);
        static const double identity[4] = {1, 0, 0, 0};
        memcpy(out + 3, identity, sizeof identity);
        if (!lua_isnoneornil(L, 5)) {
            lua_pushvalue(L, 5);
            table_list(L, what, 4, 4, out + 3);
        }
    }
    return 0;
}

bool scene_time_function(void *user, double time, double *out, int count) {
    scene_function *f = user;
    abut_scene *scene = f->scene;
    lua_State *L = scene->lua;
    if (scene->has_failed) return false;
    scene_allow(scene, SCENE_CALL_INSTRUCTIONS);
    lua_pushcfunction(L, read_results);
    lua_pushlightuserdata(L, out);
    lua_pushinteger(L, count);
    lua_pushstring(L, f->what);
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->reference);
    lua_pushnumber(L, time);
    abut_status status = scene_call(scene, 1, count == 7 ? 2 : 1, &scene->failure);
    if (status == ABUT_OK)
        status = scene_call(scene, count == 7 ? 5 : 4, 0, &scene->failure);
    else
        lua_pop(L, 4);
    scene->has_failed = status != ABUT_OK;
    /* where the function is fine, but not what it returns */
    if (status != ABUT_OK && scene->failure.line == 0) scene->failure.line = f->line;
    if (status != ABUT_OK) {
        size_t end = strlen(scene->failure.message), room = sizeof scene->failure.message - end;
        snprintf(scene->failure.message + end, room, " (asked for t = %.9g)", time);
    }
    for (int i = 0; i < count && i < 3 && status == ABUT_OK; i++) out[i] *= f->scale;
    return status == ABUT_OK;
}
