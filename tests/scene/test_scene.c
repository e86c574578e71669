/* The scene language: what it builds, what it refuses and with which words, the sandbox, and JSON there and
 * back. */
#include "abut/scene.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

/* Small bounds, so that what runs for ever ends soon. */
static abut_scene *load(const char *text, abut_error *error) {
    abut_scene *scene = NULL;
    abut_scene_options options = {.instructions = 15000000, .memory = (size_t)1 << 28};
    *error = (abut_error){0};
    abut_scene_read(NULL, text, strlen(text), "test.lua", ".", &options, &scene, error);
    return scene;
}

/* The text is refused at the line, with all the words in the message. */
static void refused(const char *text, int line, const char *word, const char *other) {
    abut_error error;
    abut_scene *scene = load(text, &error);
    if (scene) fail_msg("accepted: %s", text);
    if (error.status != ABUT_INVALID || error.line != line || !strstr(error.message, word) ||
        !strstr(error.message, other))
        fail_msg("%s:%d: %s\n  wanted line %d, `%s`, `%s` for: %s", error.file, error.line, error.message,
                 line, word, other, text);
}

static const char example[] =
    "world { gravity = {0, 0, -9.81}, duration = 2, frame = 1/60 }\n"
    "material { restitution = 0.25, friction = 0.4 }\n"
    "material { name = 'ice', friction = {static = 0.1, dynamic = 0.05} }\n"
    "local n = param('bricks', 3)\n"
    "body { name = 'floor', shape = halfspace { normal = {0, 0, 2}, offset = 1 }, fixed = true }\n"
    "for i = 1, n do\n"
    "  body { name = 'brick' .. i, shape = solid.box {2, 1, 0.5}, density = 2000, position = {0, 0, i} }\n"
    "end\n"
    "local b = body { shape = sphere {radius = 0.2}, mass = 3, material = 'ice', rotation = {math.pi, 0, 0, "
    "1} }\n"
    "hinge.ball { b, 'brick1', at = {1, 2, 3} }\n"
    "hinge.pin { a = 'brick2', at = {0, 0, 2}, axis = {0, 1, 0}, limits = {-1, 1}, motor = {speed = 2, "
    "max_force = 5} }\n"
    "spring { 'brick1', b, stiffness = 10, damping = 1 }\n"
    "force { 'brick2', value = {1, 0, 0} }\n";

static void check_example(const abut_world_def *w) {
    assert_int_equal(w->body_count, 5);
    assert_int_equal(w->hinge_count, 2);
    assert_int_equal(w->spring_count, 1);
    assert_int_equal(w->force_count, 1);
    assert_true(w->duration == 2 && w->gravity.z == -9.81 && w->material.restitution == 0.25);
    assert_true(w->material.friction.stick == 0.4 && w->material.friction.slide == 0.4);
    assert_true(w->materials[0].friction.slide == 0.05);
    assert_true(w->bodies[0].fixed && w->bodies[0].shape.kind == ABUT_SHAPE_HALFSPACE);
    assert_true(w->bodies[3].position.z == 3 && w->bodies[3].density == 2000);
    assert_string_equal(w->bodies[4].name, "body5");
    assert_true(w->bodies[4].mass == 3 && w->bodies[4].material == 0 &&
                fabs(w->bodies[4].rotation.z - 1) < 1e-15);
    assert_true(w->hinges[0].a == 4 && w->hinges[0].b == 1 && w->hinges[0].at.y == 2);
    assert_true(w->hinges[1].b == -1 && w->hinges[1].has_limits && w->hinges[1].has_motor &&
                w->hinges[1].motor_max_force == 5);
    assert_true(w->springs[0].stiffness == 10 && isnan(w->springs[0].length));
}

static void a_scene_becomes_definitions(void **state) {
    (void)state;
    abut_error error;
    abut_scene *scene = load(example, &error);
    if (!scene) fail_msg("%d: %s", error.line, error.message);
    check_example(abut_scene_world(scene));
    abut_scene_free(scene);
}

static void json_means_the_same(void **state) {
    (void)state;
    abut_error error;
    abut_scene *scene = load(example, &error), *again = NULL;
    char *text, *second;
    size_t size, second_size;
    assert_int_equal(abut_scene_dump(scene, &text, &size, &error), ABUT_OK);
    if (abut_scene_read(NULL, text, size, "test.json", ".", NULL, &again, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    check_example(abut_scene_world(again));
    assert_int_equal(abut_scene_dump(again, &second, &second_size, &error), ABUT_OK);
    assert_string_equal(text, second);
    abut_scene_text_free(scene, text, size);
    abut_scene_text_free(again, second, second_size);
    abut_scene_free(again);
    abut_scene_free(scene);
}

static void parameters_are_set_from_outside(void **state) {
    (void)state;
    abut_error error = {0};
    abut_scene *scene = NULL;
    const char *set[] = {"bricks=7", NULL}, *wrong[] = {"brick=7", NULL};
    abut_scene_options options = {.set = set};
    assert_int_equal(
        abut_scene_read(NULL, example, strlen(example), "test.lua", ".", &options, &scene, &error), ABUT_OK);
    assert_int_equal(abut_scene_world(scene)->body_count, 9);
    abut_scene_free(scene);
    options.set = wrong;
    assert_int_equal(
        abut_scene_read(NULL, example, strlen(example), "test.lua", ".", &options, &scene, &error),
        ABUT_INVALID);
    assert_non_null(strstr(error.message, "bricks"));
}

static void mistakes_get_place_and_remedy(void **state) {
    (void)state;
    refused("world {}\nbdy { shape = sphere {1} }", 2, "bdy", "did you mean `body`?");
    refused("hinge.pn {}", 1, "pn", "did you mean `pin`?");
    refused("body { name = 'a', shape = sphere {1} }\nhinge.pin { 'a', pitch = 2 }", 2, "`pitch`",
            "hinge.screw");
    refused("body { name = 'a', shape = sphere {1} }\nhinge.pin { 'a', at_b = {0, 0, 1} }", 2, "`at_b`",
            "hinge.rod");
    refused("body { name = 'a', shape = sphere {1} }\nhinge.pin { 'a', rest = 2 }", 2, "`rest`",
            "`stiffness`");
    refused("body { shape = sphere {1}, fixed = true, kinematic = true }", 1, "`fixed`", "`kinematic`");
    refused("hinge.revolute {}", 1, "revolute", "did you mean `hinge.pin`?");
    refused("solid.cube {}", 1, "cube", "did you mean `solid.box`?");
    refused("solid.gizmo {}", 1, "gizmo", "tetrahedron");
    refused("box {1, 1, 1}", 1, "box", "did you mean `solid.box`?");
    refused("\nhinge {}", 2, "hinge", "hinge.pin { ... }");
    refused("io.open('x')", 1, "io", "no files");
    refused("require('x')", 1, "require", "without modules");
    refused("world { duration = 1 frame = 1 }", 1, "frame", "comma");
    refused("on('colision', print)", 1, "colision", "impact contact-made");
    refused("body { name = 'block', shape = sphere {1} }\nforce { 'blok', value = {0, 0, 1} }", 2, "blok",
            "did you mean `block`?");
    refused("world { gravity = 9.81 }", 1, "gravity", "3 numbers in braces, not a number");
    refused("world { gravity = {0, 0, '1'} }", 1, "entry 3", "not a string");
    refused("body { shape = sphere {1} }\nspring { 'body1', at_b = {0, 0, 2} }", 2, "stiffness", "N/m");
    refused("every(1e-9, print)", 1, "every", "short");
    refused("solid.mesh { '.' }", 1, "solid.mesh: .: ", "not a regular file");
    refused("pair('a')", 1, "two names and a table", "pair(\"rubber\", \"ice\"");
    refused("body { shape = sphere {1},\n group = {} }", 2, "group", "a word or a number, not a table");
    refused("body { shape = sphere {1} }\nspring { 'body1', 'body1', stiffness = 1 }", 2, "body1", "itself");
    refused("body { shape = sphere {1} }\nspring { 'body1', at_b = {0, 0, 2}, stiffness = 1,\n length = -1 }",
            3, "length", "negative");
    refused("camera { field_of_view = 180 }", 1, "field_of_view", "between 0 and 180");
    refused("camera { position = {1, 2, 3}, target = {1, 2, 3} }", 1, "position", "same point");
    refused("body { shape = sphere {1},\n  postion = {0, 0, 0} }", 2, "postion", "position");
    refused("\nworld { gravty = {0, 0, 1} }", 2, "gravty", "gravity");
    refused("body { shape = sphere {-1} }", 1, "radius", "positive");
    refused("body { shape = sphere {1, 2} }", 1, "sphere", "1 values");
    refused("body { shape = sphere {0/0} }", 1, "radius", "finite");
    refused("body { shape = 7 }", 1, "shape", "sphere {1}");
    refused("body { shape = sphere {1}, mass = 0 }", 1, "mass", "fixed");
    refused("body { name = 'a', shape = sphere {1} }\nbody { name = 'a', shape = sphere {1} }", 2, "already",
            "a");
    refused("body { shape = sphere {1}, material = 'ice' }", 1, "ice", "material {");
    refused("body { shape = sphere {1} }\nhinge.ball { 'x', at = {0, 0, 0} }", 2, "no body `x`", "body {");
    refused("body { shape = sphere {1} }\nhinge.bal { 'body1' }", 2, "bal", "nil");
    refused("world { mode = 'fast' }", 1, "fast", "exact live");
    refused("material { restitution = 2 }", 1, "restitution", "between 0 and 1");
    refused("material { friction = { static = 0.1, dynamic = 0.2 } }", 1, "dynamic", "static");
    refused("on('impct', function() end)", 1, "impct", "impact");
    refused("body { shape = solid.mesh { file = 'missing.obj' } }", 1, "missing.obj", "check the name");
    refused("body { shape = solid.mesh { file = '/etc/passwd' } }", 1, "/etc/passwd", "outside");
    refused("body {", 1, "", "expected");
    refused("error('mine')", 1, "mine", "");
    refused("local x = 1", 0, "no body", "body {");
    refused("body { shape = sphere {1},\n  name = 'a\\xff' }", 2, "name", "UTF-8");
    refused("body { shape = sphere {1},\n  name = '' }", 2, "name", "empty");
    refused("body { shape = sphere {1},\n  inertia = {1, 1, 1, 0} }", 2, "inertia", "xx, yy, zz");
    refused("body { shape = solid.prism { { {0, 0}, {1, 0} }, 1 } }", 1, "solid.prism", "");
    refused("body { shape = solid.box {1, 1, 1} } world { unit = 'mm' }", 1, "unit", "before");
}

static void the_sandbox_holds(void **state) {
    (void)state;
    static const char *const missing[] = {"io",      "os",     "package",  "debug",
                                          "require", "dofile", "loadfile", "collectgarbage"};
    for (int i = 0; i < COUNT_OF(missing); i++) {
        char text[128];
        snprintf(text, sizeof text, "assert(%s == nil, 'there is %s')\nbody { shape = sphere {1} }",
                 missing[i], missing[i]);
        abut_error error;
        abut_scene *scene = load(text, &error);
        if (!scene) fail_msg("%s", error.message);
        abut_scene_free(scene);
    }
    refused("string.dump(print)", 1, "dump", "");
    refused("while true do end", 1, "instructions", "loop");
    refused("local t = {}\nfor i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end", 2, "memory", "");
    refused("local function f() return f() + 1 end f()", 1, "stack overflow", "");
    refused("load('\\27Lua')()", 1, "", "");
}

/* What the count of instructions does not see by itself: loops of the library, handlers, finalizers, errors
 * that are caught, and calls of the language, which take memory outside Lua. */
static void nothing_runs_for_ever(void **state) {
    (void)state;
    refused("while true do pcall(function() while true do end end) end", 1, "instructions", "");
    refused("xpcall(function() while true do end end, function() while true do end end)", 1, "instructions",
            "");
    refused("setmetatable({}, {__gc = function() while true do end end})", 1, "__gc", "");
    refused("table.move({}, 1, math.maxinteger - 1, 2)", 1, "table.move", "");
    refused("local t = setmetatable({}, {__len = function() return 1 << 60 end})\ntable.insert(t, 1, 1)", 2,
            "longer", "");
    refused("local x = 1\nx = ('x'):rep(1e18)", 2, "too large", "");
    refused("while true do sphere {1} end", 1, "instructions", "");
    refused("while true do pcall(error) end", 1, "instructions", "");
    refused("local s = ('x'):rep(1e7)\nwhile true do local t = s .. 'y' end", 2, "instructions", "");
    refused("local t = setmetatable({}, {__index = function() return 'x' end})\ntable.concat(t, '', 1, 1e9)",
            2, "table.concat", "");
    /* patterns with 2^30 and n^k ways to fail, and one of n^2 with a long n */
    refused("local s = ('a'):rep(30)\ns:find(('a?'):rep(30) .. s .. 'b')", 2, "instructions", "");
    refused("local s = ('a'):rep(2000)\ns:match('(a*)(a*)(a*)(a*)b')", 2, "instructions", "");
    refused("local s = ('a'):rep(1e6)\nfor w in s:gmatch('.-b') do end", 2, "instructions", "");
    refused("local s = ('a'):rep(1e6)\ns:gsub('a-b', '')", 2, "instructions", "");
    refused("while true do body { shape = sphere {1} } end", 1, "instructions", "");
    refused("body { shape = solid.sphere {1, 4096, 4096} }", 1, "facets", "");
    /* a table within itself; and 8^14 tables in fifteen */
    refused("body { shape = sphere {1},\n  color = _G }", 1, "nested", "");
    refused("local t = {1}\nfor i = 1, 14 do t = {t, t, t, t, t, t, t, t} end\nbody { shape = sphere {1}, "
            "color = t }",
            3, "instructions", "");
}

/* Patterns as the reference manual of Lua has them: the answers are its examples, and what follows from its
 * words. */
static void patterns_mean_what_the_manual_says(void **state) {
    (void)state;
    abut_error error;
    abut_scene *scene = load(
        "local function is(...) local t, n = {...}, select('#', ...) // 2\n"
        "  for i = 1, n do assert(t[i] == t[n + i], tostring(t[i])) end end\n"
        "is(('hello world'):find('o w'), 5) is(select(2, ('hello world'):find('o w')), 7)\n"
        "is(('key = value'):match('^(%w+)%s*=%s*(%w+)$'), 'key')\n"
        "is(select(2, ('key = value'):match('^(%w+)%s*=%s*(%w+)$')), 'value')\n"
        "is(('a.b'):find('.', 1, true), 2) is(('a.b'):find('%.'), 2) is(('abc'):find('b', -1), nil)\n"
        "is(('flaaap'):match('()aa()'), 3) is(select(2, ('flaaap'):match('()aa()')), 5)\n"
        "is(('THE (quick) fox'):find('%((%a+)%)'), 5) is(('f(a(b)c)d'):match('%b()'), '(a(b)c)')\n"
        "is(('THE quick'):gsub('%f[%a]%a+', 'x'), 'x x') is(('hello'):match('(l)%1'), 'l')\n"
        "is(('x]y-z'):match('[]-]'), ']') is(('a^b'):match('[b^]'), '^') is(('7up'):match('[^%d]+'), 'up')\n"
        "is(('aXb'):match('%u'), 'X') is(('aaa'):match('a-$'), 'aaa') is(('aaa'):match('^a-'), '')\n"
        "is(('hello world'):gsub('(%w+)', '%1 %1'), 'hello hello world world')\n"
        "is(('hello'):gsub('', '-'), '-h-e-l-l-o-') is(select(2, ('hello'):gsub('', '-')), 6)\n"
        "is(('hello world'):gsub('%w+', '%0 %0', 1), 'hello hello world')\n"
        "is(('$name is $x'):gsub('%$(%w+)', {name = 'lua'}), 'lua is $x')\n"
        "is(('4+5'):gsub('%d', function(d) return d * 2 end), '8+10')\n"
        "local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[#t + 1] = k .. v end\n"
        "is(table.concat(t, ' '), 'a1 b2')\n"
        "local n = 0 for w in ('one two'):gmatch('%a*') do n = n + 1 end is(n, 2)\n"
        "for _, bad in ipairs {'[a', '%', '(a', 'a)', '%1', '%b(', '%fa', '[%'} do\n"
        "  assert(not pcall(string.find, 'a(', bad), bad) end\n"
        "assert(not pcall(string.gsub, 'a', 'a', '%2') and not pcall(string.gsub, 'a', 'a', '%'))\n"
        "assert(not pcall(string.gsub, 'a', 'a', function() return {} end))\n"
        "assert(not pcall(string.find, ('a'):rep(300), ('a?'):rep(300)))\n"
        "body { shape = sphere {1} }\n",
        &error);
    if (!scene) fail_msg("%d: %s", error.line, error.message);
    abut_scene_free(scene);
}

/* And what a scene may do all the same: these are as in any Lua. */
static void guarded_functions_do_their_work(void **state) {
    (void)state;
    abut_error error;
    abut_scene *scene = load(
        "assert((''):rep(1e18) == '' and ('ab'):rep(2, '-') == 'ab-ab')\n"
        "local ok, a, b = xpcall(function(x, y) return y, x end, print, 1, 2)\n"
        "assert(ok == true and a == 2 and b == 1)\n"
        "local bad, text, extra = xpcall(error, function(e) return e .. '!', 7 end, 'x')\n"
        "assert(bad == false and text == 'x!' and extra == 7)\n"
        "assert(pcall(xpcall, error, error, 'again') == false)\n"
        "local t = setmetatable({1, 2}, {__index = function(t, k) return k end})\n"
        "assert(t[9] == 9 and getmetatable(setmetatable({}, nil)) == nil)\n"
        "assert(not pcall(setmetatable, setmetatable({}, {__metatable = 1}), {}))\n"
        "table.insert(t, 3) table.insert(t, 1, 0)\n"
        "assert(table.concat(t, ',') == '0,1,2,3' and table.remove(t, 1) == 0 and table.remove(t) == 3)\n"
        "assert(table.concat(table.move({1, 2, 3}, 2, 3, 1)) == '233')\n"
        "body { name = 'body2', shape = sphere {1} }\n"
        "body { shape = sphere {1}, position = {5, 0, 0} }\n",
        &error);
    if (!scene) fail_msg("%d: %s", error.line, error.message);
    assert_string_equal(abut_scene_world(scene)->bodies[1].name, "body3"); /* body2 is taken */
    abut_scene_free(scene);
}

/* What only the model can see (moments of inertia, shapes without mass) is told with the line of the call. */
static void errors_of_the_model_have_lines(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"world {}\nbody { shape = sphere {1}, mass = 1, inertia = {1, 1, 5} }", "inertia"},
        {"world {}\nbody { shape = halfspace { normal = {0, 0, 1} } }", "fixed"},
        {"world {}\nbody { name = 'a' }", "no volume"},
        {"body { name = 'a', shape = sphere {1} }\nhinge.rod { 'a', at = {0, 0, 0} }", "rod"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        abut_error error = {0};
        abut_scene *scene = load(cases[i].text, &error);
        if (!scene) fail_msg("%s: %s", cases[i].text, error.message);
        abut_model *model = NULL;
        assert_int_equal(abut_model_create(NULL, abut_scene_world(scene), &model, &error), ABUT_INVALID);
        if (error.line != 2 || !strstr(error.message, cases[i].word))
            fail_msg("%s: line %d: %s", cases[i].text, error.line, error.message);
        abut_scene_free(scene);
    }
}

/* Lua shortens long file names in its own messages: the line is found all the same. */
static void long_file_names_keep_their_lines(void **state) {
    (void)state;
    static const char name[] =
        "a-folder-of-which-the-name-is-long/another-folder-with-a-long-name/and-a-file.lua";
    static const char *const texts[] = {"\nerror('mine')", "\nnosuch()", "\nx = = 1", "\nsphere {-1}"};
    for (int i = 0; i < COUNT_OF(texts); i++) {
        abut_error error = {0};
        abut_scene *scene = NULL;
        abut_scene_read(NULL, texts[i], strlen(texts[i]), name, ".", NULL, &scene, &error);
        assert_null(scene);
        assert_int_equal(error.line, 2);
        assert_string_equal(error.file, name);
        assert_null(strstr(error.message, "folder"));
    }
}

static void millimetres_are_lengths(void **state) {
    (void)state;
    abut_error error;
    abut_scene *scene =
        load("world { unit = 'mm' }\nbody { shape = sphere {200}, position = {1000, 0, 0} }", &error);
    assert_true(abut_scene_world(scene)->bodies[0].shape.radius == 0.2);
    assert_true(abut_scene_world(scene)->bodies[0].position.x == 1);
    assert_true(abut_scene_world(scene)->gravity.z == -9.81); /* not given: stays */
    abut_scene_free(scene);
}

static void functions_of_time_are_called(void **state) {
    (void)state;
    abut_error error;
    abut_scene *scene = load("body { shape = sphere {1}, kinematic = true,\n"
                             "  motion = function(t) return {t, 2 * t, 0}, {1, 0, 0, 0} end }\n"
                             "body { name = 'b', shape = sphere {1}, kinematic = true,\n"
                             "  motion = function(t) return nosuch.x end }",
                             &error);
    const abut_world_def *w = abut_scene_world(scene);
    double out[7];
    assert_true(w->bodies[0].motion(w->bodies[0].motion_user, 3, out, 7));
    assert_true(out[0] == 3 && out[1] == 6 && out[3] == 1);
    assert_false(w->bodies[1].motion(w->bodies[1].motion_user, 3, out, 7));
    assert_int_equal(abut_scene_error(scene)->line, 4);
    abut_scene_free(scene);
    char *text;
    size_t size;
    scene = load("body { shape = sphere {1}, kinematic = true, motion = function(t) return {0, 0, 0} end }",
                 &error);
    assert_int_equal(abut_scene_dump(scene, &text, &size, &error), ABUT_UNSUPPORTED);
    abut_scene_free(scene);
}

static void hostile_json_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"abut\": 1}",
        "{\"abut\": 1, \"calls\": [1]}",
        "{\"abut\": 1, \"calls\": [{\"os.exit\": []}]}",
        "{\"abut\": 1, \"calls\": [{\"print\": [], \"x\": []}]}",
        "{\"abut\": 1, \"calls\": [{\"body\": {\"shape\": {\"solid.box\": [1]}}}]}",
        "{\"abut\": 1, \"calls\": [{\"body\": {\"shape\": {\"solid.box\": \"x\"}}}]}"};
    for (int i = 0; i < COUNT_OF(texts); i++) {
        abut_scene *scene = NULL;
        abut_error error = {0};
        assert_int_equal(
            abut_scene_read(NULL, texts[i], strlen(texts[i]), "x.json", ".", NULL, &scene, &error),
            ABUT_INVALID);
        assert_true(error.message[0] != 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_becomes_definitions),
        cmocka_unit_test(json_means_the_same),
        cmocka_unit_test(parameters_are_set_from_outside),
        cmocka_unit_test(mistakes_get_place_and_remedy),
        cmocka_unit_test(the_sandbox_holds),
        cmocka_unit_test(nothing_runs_for_ever),
        cmocka_unit_test(patterns_mean_what_the_manual_says),
        cmocka_unit_test(guarded_functions_do_their_work),
        cmocka_unit_test(errors_of_the_model_have_lines),
        cmocka_unit_test(long_file_names_keep_their_lines),
        cmocka_unit_test(millimetres_are_lengths),
        cmocka_unit_test(functions_of_time_are_called),
        cmocka_unit_test(hostile_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
