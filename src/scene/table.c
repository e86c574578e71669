/* Reading the tables of a scene.  Every table says which keys it may have; any other is an error that names
 * the nearest known one. */
#include "scene/scene.h"

#include <stdio.h>

/* ---- words */

/* Letters to change, add or drop (Levenshtein), for words of at most 31 letters. */
static int word_distance(const char *a, size_t n, const char *b, size_t m) {
    int row[32];
    if (m > 31 || n > 31) return 99;
    for (size_t j = 0; j <= m; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            best = up + 1 < best ? up + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = up, row[j] = best;
        }
    }
    return row[m];
}

/* Calls back for each word of a list that is separated by spaces. */
static const char *next_word(const char *list, const char **word, size_t *length) {
    while (*list == ' ') list++;
    *word = list;
    while (*list && *list != ' ') list++;
    *length = (size_t)(list - *word);
    return *length ? list : NULL;
}

static int find_word(const char *words, const char *wanted) {
    const char *word;
    size_t length;
    for (int i = 0; (words = next_word(words, &word, &length)); i++)
        if (strlen(wanted) == length && strncmp(word, wanted, length) == 0) return i;
    return -1;
}

const char *table_nearest(const char *wanted, const char *words, char *buffer, size_t size) {
    const char *word;
    size_t length;
    int best = 1 + (int)strlen(wanted) / 3;
    const char *found = NULL;
    while ((words = next_word(words, &word, &length))) {
        int distance = word_distance(wanted, strlen(wanted), word, length);
        if (distance > best || length >= size || (found && distance == best)) continue;
        best = distance, found = buffer;
        snprintf(buffer, size, "%.*s", (int)length, word);
    }
    return found;
}

/* ---- opening */

static void check_keys(const table *t, const char *keys, int positional) {
    lua_State *L = t->L;
    lua_pushnil(L);
    while (lua_next(L, t->index)) {
        lua_pop(L, 1);
        if (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1 && lua_tointeger(L, -1) <= positional) continue;
        if (lua_type(L, -1) != LUA_TSTRING) {
            if (positional == 0)
                scene_raise(L, NULL, "%s: values need names here; it knows: %s", t->what, keys);
            scene_raise(L, NULL, "%s takes %d values without a name, not more", t->what, positional);
        }
        const char *key = lua_tostring(L, -1);
        if (find_word(keys, key) >= 0) continue;
        char buffer[32];
        const char *nearest = table_nearest(key, keys, buffer, sizeof buffer);
        if (nearest)
            scene_raise(L, key, "%s: there is no key `%s`; did you mean `%s`?", t->what, key, nearest);
        scene_raise(L, key, "%s: there is no key `%s`; it knows: %s", t->what, key, keys);
    }
}

table table_open(lua_State *L, const char *what, const char *keys, int positional) {
    table t = {L, 1, what};
    if (!lua_istable(L, 1)) scene_raise(L, NULL, "%s takes a table: write %s { ... }", what, what);
    lua_settop(L, 1);
    check_keys(&t, keys, positional);
    return t;
}

table table_nested(const table *t, const char *key, const char *what, const char *keys, int positional) {
    table inner = {t->L, 0, what};
    if (!table_get(t, key, 0)) return inner;
    if (!lua_istable(t->L, -1)) scene_raise(t->L, key, "%s: `%s` must be a table", t->what, key);
    inner.index = lua_gettop(t->L);
    check_keys(&inner, keys, positional);
    return inner;
}

/* ---- values */

bool table_get(const table *t, const char *key, int position) {
    lua_State *L = t->L;
    luaL_checkstack(L, 8, "too many values");
    lua_getfield(L, t->index, key);
    bool named = !lua_isnil(L, -1);
    if (position > 0) {
        lua_geti(L, t->index, position);
        if (named && !lua_isnil(L, -1))
            scene_raise(L, key, "%s: `%s` is given twice, by name and by position; drop one", t->what, key);
        lua_remove(L, named ? -1 : -2);
    }
    if (!lua_isnil(L, -1)) return true;
    lua_pop(L, 1);
    return false;
}

bool table_number(const table *t, const char *key, int position, double *out) {
    if (!table_get(t, key, position)) return false;
    if (lua_type(t->L, -1) != LUA_TNUMBER)
        scene_raise(t->L, key, "%s: `%s` must be a number, not a %s", t->what, key, luaL_typename(t->L, -1));
    double value = lua_tonumber(t->L, -1);
    if (!isfinite(value)) scene_raise(t->L, key, "%s: `%s` is not a finite number", t->what, key);
    *out = value;
    lua_pop(t->L, 1);
    return true;
}

bool table_length(const table *t, const char *key, int position, double *out) {
    if (!table_number(t, key, position, out)) return false;
    abut_scene *scene = scene_of(t->L);
    scene->lengths_used = true;
    *out *= scene->unit;
    return true;
}

bool table_integer(const table *t, const char *key, int position, int low, int high, int *out) {
    double value;
    if (!table_number(t, key, position, &value)) return false;
    if (value != floor(value) || value < low || value > high)
        scene_raise(t->L, key, "%s: `%s` must be a whole number from %d to %d, not %g", t->what, key, low,
                    high, value);
    *out = (int)value;
    return true;
}

bool table_flag(const table *t, const char *key, bool *out) {
    if (!table_get(t, key, 0)) return false;
    if (!lua_isboolean(t->L, -1)) scene_raise(t->L, key, "%s: `%s` must be true or false", t->what, key);
    *out = lua_toboolean(t->L, -1);
    lua_pop(t->L, 1);
    return true;
}

bool table_string(const table *t, const char *key, int position, const char **out) {
    if (!table_get(t, key, position)) return false;
    if (lua_type(t->L, -1) != LUA_TSTRING)
        scene_raise(t->L, key, "%s: `%s` must be text in quotes, not a %s", t->what, key,
                    luaL_typename(t->L, -1));
    *out = scene_copy(scene_of(t->L), lua_tostring(t->L, -1));
    if (!*out) scene_raise_memory(t->L);
    lua_pop(t->L, 1);
    return true;
}

int table_list(lua_State *L, const char *what, int least, int most, double *out) {
    if (!lua_istable(L, -1))
        scene_raise(L, NULL, "%s must be a list of %d numbers in braces, not a %s", what, least,
                    luaL_typename(L, -1));
    int count = (int)lua_rawlen(L, -1);
    if (count < least || count > most) {
        if (least == most) scene_raise(L, NULL, "%s must have %d numbers, not %d", what, least, count);
        scene_raise(L, NULL, "%s must have %d to %d numbers, not %d", what, least, most, count);
    }
    for (int i = 0; i < count; i++) {
        lua_geti(L, -1, i + 1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            scene_raise(L, NULL, "%s: entry %d must be a number, not a %s", what, i + 1,
                        luaL_typename(L, -1));
        if (!isfinite(lua_tonumber(L, -1)))
            scene_raise(L, NULL, "%s: entry %d is not a finite number", what, i + 1);
        out[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    return count;
}

int table_numbers(const table *t, const char *key, int position, int least, int most, double *out) {
    if (!table_get(t, key, position)) return 0;
    char what[96];
    snprintf(what, sizeof what, "%s: `%s`", t->what, key);
    int count = table_list(t->L, what, least, most, out);
    lua_pop(t->L, 1);
    return count;
}

bool table_vector(const table *t, const char *key, int position, vec3 *out) {
    double v[3];
    if (!table_numbers(t, key, position, 3, 3, v)) return false;
    *out = vec3_make(v[0], v[1], v[2]);
    return true;
}

bool table_position(const table *t, const char *key, int position, vec3 *out) {
    if (!table_vector(t, key, position, out)) return false;
    abut_scene *scene = scene_of(t->L);
    scene->lengths_used = true;
    *out = vec3_scale(*out, scene->unit);
    return true;
}

int table_word(const table *t, const char *key, const char *words) {
    const char *word;
    if (!table_string(t, key, 0, &word)) return -1;
    int number = find_word(words, word);
    if (number < 0)
        scene_raise(t->L, key, "%s: `%s` cannot be \"%s\"; it is one of: %s", t->what, key, word, words);
    return number;
}

bool table_function(const table *t, const char *key) {
    if (!table_get(t, key, 0)) return false;
    if (lua_isfunction(t->L, -1)) return true;
    lua_pop(t->L, 1);
    return false;
}

/* The body with the nearest name, or NULL. */
static const char *nearest_body(const abut_scene *scene, const char *name, char *buffer, size_t size) {
    int best = 1 + (int)strlen(name) / 3;
    const char *found = NULL;
    for (int64_t i = 0; i < scene->bodies.count; i++) {
        const char *other = scene->bodies.data[i].name;
        int distance = word_distance(name, strlen(name), other, strlen(other));
        if (distance > best || (found && distance == best) || strlen(other) >= size) continue;
        best = distance, found = strcpy(buffer, other);
    }
    return found;
}

int table_body(const table *t, const char *key, int position) {
    if (!table_get(t, key, position)) return -1;
    lua_State *L = t->L;
    int number = scene_handle(L, -1, SCENE_BODY);
    if (number < 0 && lua_type(L, -1) == LUA_TSTRING) {
        const char *name = lua_tostring(L, -1);
        number = scene_find_body(L, name);
        char buffer[64];
        const char *nearest = number < 0 ? nearest_body(scene_of(L), name, buffer, sizeof buffer) : NULL;
        if (nearest)
            scene_raise(L, key, "%s: there is no body `%s` yet; did you mean `%s`?", t->what, name, nearest);
        if (number < 0)
            scene_raise(L, key,
                        "%s: there is no body `%s` yet; define it with body { name = \"%s\", ... } first",
                        t->what, name, name);
    }
    if (number < 0)
        scene_raise(L, key, "%s: `%s` must be a body's name or what body { } returned", t->what, key);
    lua_pop(L, 1);
    return number;
}
