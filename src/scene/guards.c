/* Library functions that could run for ever where the count of instructions does not see it: it counts those
 * of Lua, not the loops of the library, and is off in finalizers and in the handler of an error. */
#include "scene/scene.h"

enum { LONGEST = 10000000 }; /* steps of a loop of the library */

/* setmetatable without __gc: finalizers run uncounted. */
static int set_metatable(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, lua_istable(L, 2) || lua_isnil(L, 2), 2, "nil or table");
    lua_settop(L, 2);
    if (lua_istable(L, 2)) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL)
            return scene_raise(L, NULL, "setmetatable: a scene has no finalizers; leave `__gc` out");
        lua_pop(L, 1);
    }
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return luaL_error(L, "cannot change a protected metatable");
    lua_setmetatable(L, 1);
    return 1;
}

/* xpcall(f, handler, ...): the handler is called when the stack is unwound, and so is counted. */
static int call_protected(lua_State *L) {
    int count = lua_gettop(L);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    scene_charge(L, SCENE_CATCH_COST);
    lua_pushboolean(L, 1);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2); /* f, handler, true, f, ... */
    if (lua_pcall(L, count - 2, LUA_MULTRET, 0) == LUA_OK) return lua_gettop(L) - 2;
    lua_pushboolean(L, 0);
    lua_pushvalue(L, 2);
    lua_rotate(L, -3, 2); /* ..., false, handler, error */
    lua_call(L, 1, LUA_MULTRET);
    lua_remove(L, 3); /* the true */
    return lua_gettop(L) - 2;
}

/* The library's function, the first upvalue, in the place of the guard: its errors name the line of the call.
 */
static int pass_on(lua_State *L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

static int try(lua_State *L) {
    scene_charge(L, SCENE_CATCH_COST);
    return pass_on(L);
}

/* string.rep of nothing, which the library would copy n times. */
static int repeat(lua_State *L) {
    size_t length, separator = 0;
    luaL_checklstring(L, 1, &length);
    luaL_optlstring(L, 3, "", &separator);
    if (length + separator > 0) return pass_on(L);
    lua_pushliteral(L, "");
    return 1;
}

/* table.insert and table.remove of a list that says by __len how long it is. */
static int of_list(lua_State *L) {
    if (lua_istable(L, 1) && luaL_len(L, 1) > LONGEST)
        return scene_raise(L, NULL, "a list cannot be longer than %d", (int)LONGEST);
    return pass_on(L);
}

static int move(lua_State *L) {
    lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3);
    if (last >= first && (double)last - (double)first > LONGEST)
        return scene_raise(L, NULL, "table.move: not more than %d at once", (int)LONGEST);
    return pass_on(L);
}

static int concatenate(lua_State *L) {
    lua_Integer first = luaL_optinteger(L, 3, 1), last = luaL_optinteger(L, 4, 0);
    if (last >= first && (double)last - (double)first > LONGEST)
        return scene_raise(L, NULL, "table.concat: not more than %d at once", (int)LONGEST);
    return lua_isnoneornil(L, 4) ? of_list(L) : pass_on(L);
}

static void guard(lua_State *L, const char *library, const char *name, lua_CFunction function) {
    lua_getglobal(L, library);
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

void scene_guard_libraries(lua_State *L) {
    scene_set_function(L, "setmetatable", set_metatable);
    scene_set_function(L, "xpcall", call_protected);
    guard(L, "_G", "pcall", try);
    guard(L, "string", "rep", repeat);
    guard(L, "table", "concat", concatenate);
    guard(L, "table", "insert", of_list);
    guard(L, "table", "remove", of_list);
    guard(L, "table", "move", move);
}
