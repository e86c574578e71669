/* The command's frame: help, version, unknown words, and what every command does with a wrong call. */
#include "support.h"

#include <stdio.h>

static void expect(int status, const char *out, const char *err, support_output got) {
    if (got.status != status || !strstr(got.out, out) || !strstr(got.err, err))
        fail_msg("status %d, out `%s`, err `%s`; wanted %d, `%s`, `%s`", got.status, got.out, got.err, status,
                 out, err);
    support_output_free(&got);
}

static void test_version(void **unused) {
    (void)unused;
    support_output got = support_run(NULL, "--version", NULL);
    assert_int_equal(got.status, 0);
    assert_int_equal(strncmp(got.out, "abut ", 5), 0);
    assert_int_equal(strncmp(got.out + 5, abut_version(), strlen(abut_version())), 0);
    assert_string_equal(got.out + 5 + strlen(abut_version()), "\n");
    support_output_free(&got);
}

static void test_help(void **unused) {
    (void)unused;
    expect(0, "abut inspect MESH", "", support_run(NULL, "help", NULL));
    expect(0, "abut inspect MESH", "", support_run(NULL, "--help", NULL));
    expect(0, "abut inspect MESH", "", support_run(NULL, "-h", NULL));
    expect(0, "usage: abut inspect MESH", "", support_run(NULL, "help", "inspect", NULL));
    expect(2, "", "usage: abut COMMAND",
           support_run(NULL, NULL)); /* no command: help goes to standard error */
}

/* -q silences what abut says; what the scene prints comes whole. */
static void test_quiet_scenes_print(void **unused) {
    (void)unused;
    static const char scene[] =
        "world {duration = 0.1}\nbody {name = 'b', shape = sphere {1}, fixed = true}\n"
        "force {'b', value = {1, 0, 0}}\nprint(('x'):rep(3000) .. 'end')\n";
    const char *path = support_temporary("prints.lua");
    support_write(path, scene, sizeof scene - 1);
    support_output got = support_run(NULL, "run", path, "-q", NULL);
    assert_int_equal(got.status, 0);
    assert_string_equal(got.out, "");
    assert_int_equal(strlen(got.err), 3004);
    assert_null(strstr(got.err, "notice"));
    support_output_free(&got);
    expect(0, "", "notice", support_run(NULL, "run", path, NULL));
}

/* A motion that ends while nothing touches its body ends the run in both clocks, with the time it was asked
 * for. */
static void test_motions_that_end(void **unused) {
    (void)unused;
    static const char scene[] =
        "world {duration = 1}\nbody {name = 'b', shape = sphere {1}, kinematic = true,\n"
        "  motion = function(t) if t < 0.5 then return {t, 0, 0} end end}\n"
        "body {name = 'c', shape = sphere {1}, position = {5, 0, 0}}\n";
    const char *path = support_temporary("ends.lua");
    support_write(path, scene, sizeof scene - 1);
    expect(2, "", "the motion of body `b` must be a list", support_run(NULL, "run", path, NULL));
    expect(2, "", "asked for t = 0.5", support_run(NULL, "run", path, "--mode", "live", NULL));
}

/* Beyond its domain a patch is no part of the surface. */
static void test_places_outside_patches(void **unused) {
    (void)unused;
    static const char cage[] =
        "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\nf 1 3 5\nf 3 2 5\nf 2 4 5\n"
        "f 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";
    const char *loop = support_temporary("cage.obj"), *bezier = support_temporary("patch.txt");
    char points[1024];
    int size = 0;
    for (int i = 0; i < 16; i++)
        size += snprintf(points + size, sizeof points - (size_t)size, "%d %d 0\n", i % 4, i / 4);
    support_write(loop, cage, sizeof cage - 1), support_write(bezier, points, (size_t)size);
    static const char *const in[] = {"0,0", "1,0", "0,1", "0.5,0.5", "0.2,0.3"};
    static const char *const out[] = {"1.5,0.2", "-0.1,0.5", "0.5,1.001", "0.2,-1e-6"};
    for (int i = 0; i < 5; i++) {
        expect(0, "point", "", support_run(NULL, "evaluate", loop, "--at", in[i], NULL));
        expect(0, "point", "", support_run(NULL, "evaluate", bezier, "--at", in[i], NULL));
    }
    for (int i = 0; i < 4; i++) {
        expect(2, "", "outside patch 0", support_run(NULL, "evaluate", loop, "--at", out[i], "--json", NULL));
        expect(2, "", "give u from 0 to 1", support_run(NULL, "evaluate", bezier, "--at", out[i], NULL));
    }
    expect(0, "point", "", support_run(NULL, "evaluate", bezier, "--at", "0.7,0.7", NULL));
    expect(2, "", "u + v at most 1", support_run(NULL, "evaluate", loop, "--at", "0.7,0.7", NULL));
}

/* A word near a command gets a suggestion, any other the way to the list. */
static void test_unknown_command(void **unused) {
    (void)unused;
    expect(2, "", "there is no command `inspct`; did you mean `abut inspect`?",
           support_run(NULL, "inspct", NULL));
    expect(2, "", "there is no command `zzzzzzzz`; `abut help` lists them",
           support_run(NULL, "zzzzzzzz", NULL));
    expect(2, "", "there is no command", support_run(NULL, "help", "zzzzzzzz", NULL));
    expect(2, "", "there is no command", support_run(NULL, "", NULL));
}

/* Calls visit for every command that `abut help` lists. */
static int each_command(void (*visit)(const char *name)) {
    support_output help = support_run(NULL, "help", NULL);
    int count = 0;
    for (char *at = help.out; (at = strstr(at, "\n  abut ")); count++) {
        char name[64] = "";
        at += strlen("\n  abut ");
        memcpy(name, at, strcspn(at, " \n") < sizeof name ? strcspn(at, " \n") : 0);
        visit(name);
    }
    support_output_free(&help);
    return count;
}

/* --help works everywhere; what is unknown, or too much, is named, with status 2 and nothing on standard
 * output. */
static void wrong_calls(const char *name) {
    char usage[100];
    snprintf(usage, sizeof usage, "usage: abut %s ", name);
    expect(0, usage, "", support_run(NULL, name, "--help", NULL));
    expect(0, usage, "", support_run(NULL, name, "-h", NULL));
    expect(0, usage, "", support_run(NULL, "help", name, NULL));
    expect(2, "", "there is no option --frobnicate", support_run(NULL, name, "--frobnicate", NULL));
    support_output got = support_run(NULL, name, "a", "b", "c", "d", "e", "f", "g", "h", NULL);
    assert_int_equal(got.status, 2);
    assert_int_equal(got.out_size, 0);
    assert_non_null(strstr(got.err, "abut: "));
    assert_non_null(strchr(got.err, ';')); /* what is wrong; what to do */
    support_output_free(&got);
}

static void test_wrong_calls(void **unused) {
    (void)unused;
    assert_true(each_command(wrong_calls) >= 2);
}

/* A file that is not there, for commands whose first argument is a mesh. */
static void test_missing_file(void **unused) {
    (void)unused;
    const char *const commands[] = {"inspect", "check"};
    for (int i = 0; i < COUNT_OF(commands); i++) {
        const char *path = support_temporary("nowhere.obj");
        expect(2, "", "nowhere.obj", support_run(NULL, commands[i], path, NULL));
        expect(2, "", "", support_run(NULL, commands[i], path, "--json", NULL));
        expect(2, "", "an argument is missing", support_run(NULL, commands[i], NULL));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_unknown_command),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_quiet_scenes_print),
        cmocka_unit_test(test_places_outside_patches),
        cmocka_unit_test(test_motions_that_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
