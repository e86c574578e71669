/* Reading control points and Kry's scene files; messages with lines; the command. */
#include "support.h"
#include "surface/surface.h"

#include <stdio.h>

static abut_status read_text(const char *text, const char *name, abut_surface **s, abut_error *error) {
    memset(error, 0, sizeof *error);
    *s = NULL;
    return abut_surface_read(NULL, text, strlen(text), name, s, error);
}

static void test_points(void **state) {
    (void)state;
    char text[4096] = "# a flat patch\n\n";
    for (int k = 0; k < 16; k++) {
        char line[64];
        snprintf(line, sizeof line, " %d\t%d 0.5 # point\r\n", k % 4, k / 4);
        strcat(text, line);
    }
    abut_surface *s;
    abut_error error;
    partials p;
    assert_int_equal(read_text(text, "flat.txt", &s, &error), ABUT_OK);
    abut_surface_evaluate(s, 0, 0.25, 0.5, 1, &p);
    /* the net is linear: c = (3u, 3v, 1/2) */
    assert_true(vec3_distance(p.c, vec3_make(0.75, 1.5, 0.5)) < 1e-15);
    assert_true(vec3_distance(p.u, vec3_make(3, 0, 0)) < 1e-15);
    abut_surface_free(NULL, s);
    strcat(text, "1 2 3\n");
    assert_int_equal(read_text(text, "flat.txt", &s, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "17 control points"));
}

static void test_bad_points(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line;
    } bad[] = {{"", 1},          {"1 2\n", 1},        {"1 2 3 4\n", 1},       {"1 2 3\n1 x 3\n", 2},
               {"1 2 nan\n", 1}, {"1 2 inf\n", 1},    {"1 2 1e999\n", 1},     {"# only\n\n", 3},
               {"1,2,3\n", 1},   {"\x01\xff\xfe", 1}, {"1 2 3\n\n4 5 6 7", 3}};
    for (int i = 0; i < COUNT_OF(bad); i++) {
        abut_surface *s;
        abut_error error;
        assert_int_equal(read_text(bad[i].text, "bad.txt", &s, &error), ABUT_INVALID);
        assert_int_equal(error.line, bad[i].line);
        assert_string_equal(error.file, "bad.txt");
    }
}

/* The rattleback of appendix B.1: scaled by (0.6, 0.2, 0.2), turned by -0.174, lifted by 0.2.  Its patch is
 * exactly z = 0.1 - 5x^2/27 - 5y^2/3 before the turn (ERRATA). */
static const char *const kry = "// This file simulates a rattleback\n"
                               "view V1 { Translate [0 -0.355 1.2]; ribFileName = \"rb.rib\"; };\n"
                               "World RBSim {\n"
                               "/* Object bowl Loop { scale = [ 1 1 1 ]; }; */\n"
                               "Object rattleback Bezier {\n"
                               "  scale = [ 0.6 0.2 0.2 ];\n"
                               "  rotate = -0.174 [ 0 0 1 ];\n"
                               "  offset = [0 0.0 0.2]; // up\n"
                               "  mass = 5;\n"
                               "  inertia = [ 1 0 0 ] [ 0 10 0 ] [ 0 0 10 ];\n"
                               "  fixed = false;\n"
                               "  controlp =\n"
                               " [-1.5 -1.5 -2.0] [-0.5 -1.5 -1.0] [0.5 -1.5 -1.0] [1.5 -1.5 -2.0]\n"
                               " [-1.5 -0.5 -1.0] [-0.5 -0.5 0.0] [0.5 -0.5 0.0] [1.5 -0.5 -1.0]\n"
                               " [-1.5 0.5 -1.0] [-0.5 0.5 0.0] [0.5 0.5 0.0] [1.5 0.5 -1.0]\n"
                               " [-1.5 1.5 -2.0] [-0.5 1.5 -1.0] [0.5 1.5 -1.0] [1.5 1.5 -2.0];\n"
                               "};\n"
                               "Contact C2 { objectA = floor; coords = 0.45 0.45 0.5 0.5 0; };\n"
                               "};\n";

static void test_kry_scene(void **state) {
    (void)state;
    abut_surface *s;
    abut_error error;
    if (read_text(kry, "rb.scene", &s, &error) != ABUT_OK) fail_msg("%d: %s", error.line, error.message);
    assert_int_equal(abut_surface_patch_count(s), 1);
    for (int i = 0; i <= 4; i++)
        for (int j = 0; j <= 4; j++) {
            partials p;
            abut_surface_evaluate(s, 0, i / 4.0, j / 4.0, 0, &p);
            double x = p.c.x * cos(0.174) - p.c.y * sin(0.174), y = p.c.x * sin(0.174) + p.c.y * cos(0.174);
            assert_true(fabs(p.c.z - (0.1 - 5 * x * x / 27 - 5 * y * y / 3)) < 1e-15);
        }
    abut_surface_free(NULL, s);
    char broken[4096];
    snprintf(broken, sizeof broken, "%s", kry);
    strstr(broken, "controlp")[20] = 'x';
    assert_int_equal(read_text(broken, "rb.scene", &s, &error), ABUT_INVALID);
    assert_true(error.line >= 12);
    for (size_t cut = 0; cut < strlen(kry); cut += 7) { /* every way to be cut short */
        memcpy(broken, kry, cut), broken[cut] = 0;
        if (read_text(broken, "rb.scene", &s, &error) == ABUT_OK) abut_surface_free(NULL, s);
    }
    assert_int_equal(read_text("World W { };", "empty.scene", &s, &error), ABUT_INVALID);
}

static abut_status read_once(const abut_context *context, void *user) {
    abut_surface *s = NULL;
    abut_status status = abut_surface_read(context, user, strlen(user), "rb.scene", &s, NULL);
    abut_surface_free(context, s);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    assert_true(support_fail_each(read_once, (void *)(uintptr_t)kry) > 4);
}

/* The command: a point, the surface as a whole, and wrong calls. */
static void test_command(void **state) {
    (void)state;
    const char *cage = support_temporary("octahedron.obj");
    const char *text =
        "v 1 0 0\nv 0 1 0\nv -1 0 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n"
        "f 2 1 6\nf 3 2 6\nf 4 3 6\nf 1 4 6\n";
    char path[512];
    snprintf(path, sizeof path, "%s", cage);
    support_write(path, text, strlen(text));
    support_output out = support_run(NULL, "evaluate", path, "--patch", "0", "--at", "0,0", "--json", NULL);
    assert_int_equal(out.status, 0);
    /* the limit of a vertex of valence 4: weight 8a/(3 + 8a), a = 31/64, on the mean of its ring, the origin
     */
    assert_non_null(strstr(out.out, "0.43636363636363"));
    assert_non_null(strstr(out.out, "\"regular\": false"));
    support_output_free(&out);
    out = support_run(NULL, "evaluate", path, "--smooth", "--json", NULL);
    assert_int_equal(out.status, 0);
    assert_non_null(strstr(out.out, "\"s-patch\": 6"));
    assert_non_null(strstr(out.out, "\"closed\": true"));
    support_output_free(&out);
    out = support_run(NULL, "evaluate", path, "--smooth", NULL);
    assert_non_null(strstr(out.out, "6 S-patches of valence 4"));
    support_output_free(&out);
    const char *wrong[][2] = {{"--at", "1"}, {"--patch", "x"}, {"--refine", "9"}, {"--derivatives", "4"}};
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        out = support_run(NULL, "evaluate", path, wrong[i][0], wrong[i][1], NULL);
        assert_int_equal(out.status, 2);
        support_output_free(&out);
    }
    out = support_run(NULL, "evaluate", path, "--patch", "8", "--at", "0,0", NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "patches 0 to 7"));
    support_output_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points), cmocka_unit_test(test_bad_points),
                                       cmocka_unit_test(test_kry_scene), cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_command)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
