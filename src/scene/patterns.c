/* string.find, match, gmatch, gsub with Lua's patterns (Lua 5.4 reference manual, section 6.4.1), by a
 * matcher of our own: it tries one way after the other, which may take longer than the world lasts, and so
 * every try is counted like an instruction of the scene.
 *
 *     subject   "key = value"          s: where the rest of the pattern is tried
 *     pattern   "(%w+)%s*=%s*(%w+)"    p: what is left of it;   one item [p, q), and * + - ? behind it
 */
#include "scene/scene.h"

#include <ctype.h>

enum { DEEPEST = 200, MOST_CAPTURES = 32, OPEN = -1, PLACE = -2, COUNTED = 1000 };

typedef struct capture {
    const char *start;
    ptrdiff_t length; /* OPEN: not closed yet; PLACE: (), which gives its position */
} capture;

typedef struct matcher {
    lua_State *L;
    const char *begin, *end;     /* the subject */
    const char *pattern, *limit; /* the pattern, without the anchor */
    bool anchored;
    int depth, steps, captures;
    capture capture[MOST_CAPTURES];
} matcher;

static const char *match(matcher *m, const char *s, const char *p);

static void count(matcher *m, ptrdiff_t steps) {
    m->steps += (int)(steps < COUNTED ? steps : COUNTED);
    if (m->steps < COUNTED) return;
    scene_charge(m->L, steps < COUNTED ? m->steps : steps);
    m->steps = 0;
}

/* ---- one item: a letter, a class, a set */

static const char *item_end(matcher *m, const char *p) {
    if (*p == '%') {
        if (p + 1 == m->limit) luaL_error(m->L, "malformed pattern (ends with '%%')");
        return p + 2;
    }
    if (*p != '[') return p + 1;
    p += p + 1 < m->limit && p[1] == '^' ? 2 : 1;
    for (bool first = true; first || p == m->limit || *p != ']'; first = false) {
        if (p == m->limit) luaL_error(m->L, "malformed pattern (missing ']')");
        p += *p == '%' && p + 1 < m->limit ? 2 : 1;
    }
    return p + 1;
}

static bool in_class(int c, int letter) {
    bool in;
    switch (tolower(letter)) {
    case 'a': in = isalpha(c); break;
    case 'c': in = iscntrl(c); break;
    case 'd': in = isdigit(c); break;
    case 'g': in = isgraph(c); break;
    case 'l': in = islower(c); break;
    case 'p': in = ispunct(c); break;
    case 's': in = isspace(c); break;
    case 'u': in = isupper(c); break;
    case 'w': in = isalnum(c); break;
    case 'x': in = isxdigit(c); break;
    default: return c == letter;
    }
    return in != (isupper(letter) != 0);
}

/* The set [p, q), brackets included. */
static bool in_set(int c, const char *p, const char *q) {
    bool wanted = p[1] != '^', in = false;
    for (p += wanted ? 1 : 2, q--; p < q && !in; p++) {
        if (*p == '%') {
            in = in_class(c, (unsigned char)*++p);
        } else if (p + 2 < q && p[1] == '-') {
            in = (unsigned char)p[0] <= c && c <= (unsigned char)p[2];
            p += 2;
        } else {
            in = (unsigned char)*p == c;
        }
    }
    return in == wanted;
}

static bool is_item(const matcher *m, const char *s, const char *p, const char *q) {
    if (s >= m->end) return false;
    int c = (unsigned char)*s;
    switch (*p) {
    case '.': return true;
    case '%': return in_class(c, (unsigned char)p[1]);
    case '[': return in_set(c, p, q);
    default: return (unsigned char)*p == c;
    }
}

/* ---- items that repeat */

static const char *most(matcher *m, const char *s, const char *p, const char *q) {
    ptrdiff_t n = 0;
    while (is_item(m, s + n, p, q)) n++;
    count(m, n);
    for (; n >= 0; n--) {
        const char *found = match(m, s + n, q + 1);
        if (found) return found;
    }
    return NULL;
}

static const char *least(matcher *m, const char *s, const char *p, const char *q) {
    for (;; s++) {
        const char *found = match(m, s, q + 1);
        if (found || !is_item(m, s, p, q)) return found;
    }
}

/* ---- captures, %b(), %f[], %1 */

static const char *begin_capture(matcher *m, const char *s, const char *p, ptrdiff_t length) {
    if (m->captures >= MOST_CAPTURES) luaL_error(m->L, "too many captures");
    m->capture[m->captures++] = (capture){s, length};
    const char *found = match(m, s, p);
    if (!found) m->captures--;
    return found;
}

static const char *end_capture(matcher *m, const char *s, const char *p) {
    int i = m->captures - 1;
    while (i >= 0 && m->capture[i].length != OPEN) i--;
    if (i < 0) luaL_error(m->L, "invalid pattern capture");
    m->capture[i].length = s - m->capture[i].start;
    const char *found = match(m, s, p);
    if (!found) m->capture[i].length = OPEN;
    return found;
}

/* %bxy at p: behind the y that closes the x at s. */
static const char *balanced(matcher *m, const char *s, const char *p) {
    if (m->limit - p < 4) luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    if (s >= m->end || *s != p[2]) return NULL;
    const char *from = s;
    for (int open = 1; ++s < m->end;) {
        if (*s == p[3] ? --open == 0 : (open += *s == p[2], false)) {
            count(m, s - from);
            return s + 1;
        }
    }
    count(m, s - from);
    return NULL;
}

/* %f[set], the set being [p, q): between a letter outside and one inside; \0 stands before and behind all. */
static bool at_frontier(const matcher *m, const char *s, const char *p, const char *q) {
    int before = s == m->begin ? 0 : (unsigned char)s[-1], behind = s == m->end ? 0 : (unsigned char)*s;
    return !in_set(before, p, q) && in_set(behind, p, q);
}

/* %1 at p: the same letters once more. */
static const char *same_again(matcher *m, const char *s, const char *p) {
    int i = p[1] - '1';
    if (i < 0 || i >= m->captures || m->capture[i].length == OPEN)
        luaL_error(m->L, "invalid capture index %%%d", i + 1);
    ptrdiff_t length = m->capture[i].length;
    if (length < 0 || m->end - s < length) return NULL;
    count(m, length / 16);
    return memcmp(m->capture[i].start, s, (size_t)length) == 0 ? s + length : NULL;
}

/* ---- the pattern */

typedef enum special { NOT_SPECIAL, FAILED, DONE, GO_ON } special;

/* Items that are no letters.  DONE: *s is the answer; GO_ON: at *s and *p. */
static special match_special(matcher *m, const char **s, const char **p) {
    const char *at = *p, *q;
    switch (*at) {
    case '(':
        *s = at + 1 < m->limit && at[1] == ')' ? begin_capture(m, *s, at + 2, PLACE)
                                               : begin_capture(m, *s, at + 1, OPEN);
        return DONE;
    case ')': *s = end_capture(m, *s, at + 1); return DONE;
    case '$':
        if (at + 1 != m->limit) return NOT_SPECIAL;
        return *s == m->end ? DONE : FAILED;
    case '%': break;
    default: return NOT_SPECIAL;
    }
    if (at + 1 == m->limit) return NOT_SPECIAL;
    if (at[1] == 'b') {
        *s = balanced(m, *s, at), *p = at + 4;
    } else if (at[1] == 'f') {
        if (at + 2 == m->limit || at[2] != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
        q = item_end(m, at + 2);
        if (!at_frontier(m, *s, at + 2, q)) return FAILED;
        *p = q;
    } else if (isdigit((unsigned char)at[1])) {
        *s = same_again(m, *s, at), *p = at + 2;
    } else {
        return NOT_SPECIAL;
    }
    return *s ? GO_ON : FAILED;
}

static const char *follow(matcher *m, const char *s, const char *p) {
    for (;;) {
        count(m, 1);
        if (p == m->limit) return s;
        special what = match_special(m, &s, &p);
        if (what == FAILED) return NULL;
        if (what == DONE) return s;
        if (what == GO_ON) continue;
        const char *q = item_end(m, p);
        bool is = is_item(m, s, p, q);
        switch (q < m->limit ? *q : 0) {
        case '*': return most(m, s, p, q);
        case '+': return is ? most(m, s + 1, p, q) : NULL;
        case '-': return least(m, s, p, q);
        case '?':
            if (is) {
                const char *found = match(m, s + 1, q + 1);
                if (found) return found;
            }
            p = q + 1;
            break;
        default:
            if (!is) return NULL;
            s++, p = q;
        }
    }
}

/* Where the match of the pattern from p on at s ends; NULL: there is none. */
static const char *match(matcher *m, const char *s, const char *p) {
    if (++m->depth > DEEPEST) luaL_error(m->L, "pattern too complex");
    const char *found = follow(m, s, p);
    m->depth--;
    return found;
}

static const char *match_at(matcher *m, const char *s) {
    m->captures = m->depth = 0;
    return match(m, s, m->pattern);
}

static matcher open_matcher(lua_State *L, int subject, int pattern, bool anchors) {
    size_t n, k;
    const char *s = luaL_checklstring(L, subject, &n), *p = luaL_checklstring(L, pattern, &k);
    matcher m = {.L = L, .begin = s, .end = s + n, .pattern = p, .limit = p + k};
    if (anchors && k > 0 && *p == '^') m.anchored = true, m.pattern++;
    return m;
}

/* ---- what the scene gets */

/* Capture i; without any the first is the whole match [s, e). */
static void push_capture(const matcher *m, int i, const char *s, const char *e) {
    if (i >= m->captures) {
        if (i > 0) luaL_error(m->L, "invalid capture index %%%d", i + 1);
        lua_pushlstring(m->L, s, (size_t)(e - s));
        return;
    }
    const capture *c = &m->capture[i];
    if (c->length == OPEN) luaL_error(m->L, "unfinished capture");
    if (c->length == PLACE)
        lua_pushinteger(m->L, c->start - m->begin + 1);
    else
        lua_pushlstring(m->L, c->start, (size_t)c->length);
}

static int push_captures(const matcher *m, const char *s, const char *e, bool whole) {
    int n = m->captures == 0 && whole ? 1 : m->captures;
    luaL_checkstack(m->L, n, "too many captures");
    for (int i = 0; i < n; i++) push_capture(m, i, s, e);
    return n;
}

/* Position `init` of a subject, counted from 0; negative ones from its end. */
static size_t start_at(lua_State *L, int argument, size_t length) {
    lua_Integer init = luaL_optinteger(L, argument, 1);
    if (init > 0) return (size_t)init - 1;
    return init == 0 || init < -(lua_Integer)length ? 0 : length - (size_t)-init;
}

/* The first place of plain text. */
static const char *find_text(matcher *m, const char *s) {
    size_t k = (size_t)(m->limit - m->pattern);
    for (; (size_t)(m->end - s) >= k; s++) {
        const char *first = k > 0 ? memchr(s, *m->pattern, (size_t)(m->end - s) - k + 1) : s;
        if (!first) return NULL;
        count(m, 1 + (first - s + (ptrdiff_t)k) / 16);
        if (memcmp(first, m->pattern, k) == 0) return first;
        s = first;
    }
    return NULL;
}

static int find_first(lua_State *L, bool places) {
    matcher m = open_matcher(L, 1, 2, true);
    size_t from = start_at(L, 3, (size_t)(m.end - m.begin));
    if (from > (size_t)(m.end - m.begin)) {
        luaL_pushfail(L);
        return 1;
    }
    const char *s = m.begin + from, *e = NULL;
    if (places && lua_toboolean(L, 4)) {
        m = open_matcher(L, 1, 2, false);
        s = find_text(&m, s);
        if (s) e = s + (m.limit - m.pattern);
    } else {
        while (!(e = match_at(&m, s)) && s < m.end && !m.anchored) s++;
    }
    if (!e) {
        luaL_pushfail(L);
        return 1;
    }
    if (!places) return push_captures(&m, s, e, true);
    lua_pushinteger(L, s - m.begin + 1);
    lua_pushinteger(L, e - m.begin);
    return 2 + push_captures(&m, s, e, false);
}

static int find(lua_State *L) { return find_first(L, true); }
static int match_first(lua_State *L) { return find_first(L, false); }

/* Upvalues: subject, pattern, where to go on, where the last match ended (0: there was none). */
static int next_match(lua_State *L) {
    matcher m = open_matcher(L, lua_upvalueindex(1), lua_upvalueindex(2), false);
    lua_Integer from = lua_tointeger(L, lua_upvalueindex(3)), last = lua_tointeger(L, lua_upvalueindex(4));
    for (const char *s = m.begin + from; from <= m.end - m.begin && s <= m.end; s++) {
        const char *e = match_at(&m, s);
        if (!e || e - m.begin + 1 == last) continue;
        lua_pushinteger(L, e - m.begin), lua_replace(L, lua_upvalueindex(3));
        lua_pushinteger(L, e - m.begin + 1), lua_replace(L, lua_upvalueindex(4));
        return push_captures(&m, s, e, true);
    }
    return 0;
}

static int match_all(lua_State *L) {
    size_t n;
    luaL_checklstring(L, 1, &n);
    luaL_checkstring(L, 2);
    size_t from = start_at(L, 3, n);
    lua_settop(L, 2);
    lua_pushinteger(L, (lua_Integer)(from > n ? n + 1 : from));
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_match, 4);
    return 1;
}

/* ---- gsub */

/* The text of a replacement: %0 the whole match, %1 .. captures, %% itself. */
static void add_text(const matcher *m, luaL_Buffer *out, const char *s, const char *e) {
    size_t n;
    const char *text = lua_tolstring(m->L, 3, &n), *end = text + n;
    for (; text < end; text++) {
        if (*text != '%') {
            luaL_addchar(out, *text);
        } else if (++text < end && *text == '%') {
            luaL_addchar(out, '%');
        } else if (text < end && *text == '0') {
            luaL_addlstring(out, s, (size_t)(e - s));
        } else if (text < end && isdigit((unsigned char)*text)) {
            push_capture(m, *text - '1', s, e);
            luaL_tolstring(m->L, -1, NULL);
            lua_remove(m->L, -2);
            luaL_addvalue(out);
        } else {
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        }
    }
}

/* What a table or a function gives for a match; false or nil leave it as it is. */
static void add_value(const matcher *m, luaL_Buffer *out, const char *s, const char *e, int type) {
    lua_State *L = m->L;
    if (type == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(m, s, e, true), 1);
    } else {
        push_capture(m, 0, s, e);
        lua_gettable(L, 3);
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(out, s, (size_t)(e - s));
    } else if (lua_isstring(L, -1)) {
        luaL_addvalue(out);
    } else {
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    }
}

static int replace_all(lua_State *L) {
    matcher m = open_matcher(L, 1, 2, true);
    int type = lua_type(L, 3);
    luaL_argexpected(
        L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
        "string/function/table");
    lua_Integer most_of = luaL_optinteger(L, 4, m.end - m.begin + 1), n = 0;
    const char *s = m.begin, *last = NULL;
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    while (n < most_of) {
        const char *e = match_at(&m, s);
        if (e && e != last) {
            n++;
            if (type == LUA_TFUNCTION || type == LUA_TTABLE)
                add_value(&m, &out, s, e, type);
            else
                add_text(&m, &out, s, e);
            s = last = e;
        } else if (s < m.end) {
            luaL_addchar(&out, *s++);
        } else {
            break;
        }
        if (m.anchored) break;
    }
    luaL_addlstring(&out, s, (size_t)(m.end - s));
    luaL_pushresult(&out);
    lua_pushinteger(L, n);
    return 2;
}

void scene_register_patterns(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"find", find}, {"match", match_first}, {"gmatch", match_all}, {"gsub", replace_all}, {NULL, NULL}};
    lua_getglobal(L, "string");
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
