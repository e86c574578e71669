/* The commands index, classify and bench table1: figures, JSON, messages for wrong calls. */
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>

/* Table 1 as the command prints it: spheres exact, tori within 10 % of the nodes and 5 of the height with the
 * paper's method; fewer nodes and a lower average with the default, on all ten. */
static void test_table1(void **state) {
    (void)state;
    support_output out = support_run(NULL, "bench", "table1", NULL);
    assert_int_equal(out.status, 0);
    int rows = 0;
    for (char *line = strtok(out.out, "\n"); line; line = strtok(NULL, "\n")) {
        char solid[16];
        int entities, nodes[3], height[3];
        double average[3];
        if (sscanf(line, "%15s %d %d %d %lf %d %d %lf %d %d %lf", solid, &entities, &nodes[0], &height[0],
                   &average[0], &nodes[1], &height[1], &average[1], &nodes[2], &height[2], &average[2]) != 11)
            continue;
        rows++;
        if (strcmp(solid, "sphere") == 0) {
            assert_int_equal(nodes[1], nodes[0]);
            assert_int_equal(height[1], height[0]);
        } else {
            assert_true(abs(nodes[1] - nodes[0]) * 10 <= nodes[0]);
            assert_true(abs(height[1] - height[0]) <= 5);
        }
        assert_true(nodes[2] < nodes[0] && average[2] < average[0]);
    }
    assert_int_equal(rows, 10);
    support_output_free(&out);
}

static void test_index_json(void **state) {
    (void)state;
    const char *mesh = support_shared("meshes/solid/gear_z12.obj"), *picture = support_temporary("gear.svg"),
               *saved = support_temporary("gear.index");
    support_output out =
        support_run(NULL, "index", mesh, "--json", "--threads", "2", "--picture", picture, "-o", saved, NULL);
    assert_int_equal(out.status, 0);
    const char *keys[] = {"\"nodes\"",   "\"height\"", "\"average_height\"",    "\"cells\"",
                          "\"build_s\"", "\"bytes\"",  "\"method\": \"hybrid\""};
    for (int i = 0; i < COUNT_OF(keys); i++) assert_non_null(strstr(out.out, keys[i]));
    support_output_free(&out);
    abut_index *index = NULL;
    assert_int_equal(abut_index_load(NULL, saved, &index, NULL), ABUT_OK);
    abut_index_free(NULL, index);
    FILE *file = fopen(picture, "r");
    char start[64] = "";
    assert_non_null(file);
    assert_non_null(fgets(start, sizeof start, file));
    assert_int_equal(strncmp(start, "<svg", 4), 0);
    fclose(file);
}

static void test_classify_lines(void **state) {
    (void)state;
    const char *mesh = support_shared("meshes/cage/cube_quads.obj");
    abut_solid *cube = oracle_load(mesh);
    double h = cube->facts.bounds.upper.x;
    char input[256];
    snprintf(input, sizeof input, "# a point and a segment\n0 0 0\n\n%.17g 0 0  %.17g 0 0 # through\n",
             -2 * h, 2 * h);
    support_output out = support_run(input, "classify", mesh, NULL);
    assert_int_equal(out.status, 0);
    assert_int_equal(strncmp(out.out, "inside\noutside, face ", 21), 0);
    support_output_free(&out);
    out = support_run(input, "classify", mesh, "--json", "--tolerance", "1e-6", NULL);
    assert_int_equal(out.status, 0);
    assert_non_null(strstr(out.out, "\"results\""));
    assert_non_null(strstr(out.out, "\"points\""));
    support_output_free(&out);
    abut_solid_free(NULL, cube);
}

static void test_wrong_calls(void **state) {
    (void)state;
    const char *mesh = support_shared("meshes/cage/cube_quads.obj");
    const struct {
        const char *input, *a, *b, *c, *d, *say;
    } calls[] = {
        {NULL, "index", mesh, "--method", "best", "hybrid"},
        {NULL, "index", "missing.obj", NULL, NULL, "missing.obj"},
        {NULL, "index", mesh, "--threads", "0", "--threads"},
        {NULL, "index", mesh, "--picture", "/nowhere/at/all.svg", "cannot be written"},
        {NULL, "bench", "tabel1", NULL, NULL, "tabel1"},
        {"1 2\n", "classify", mesh, NULL, NULL, "input:1"},
        {"0 0 0\n1 2 x\n", "classify", mesh, NULL, NULL, "input:2"},
        {"1 2 nan\n", "classify", mesh, NULL, NULL, "finite"},
        {"0 0 0\n", "classify", mesh, "--tolerance", "-1", "tolerance"},
    };
    for (int i = 0; i < COUNT_OF(calls); i++) {
        support_output out =
            support_run(calls[i].input, calls[i].a, calls[i].b, calls[i].c, calls[i].d, NULL);
        assert_int_equal(out.status, 2);
        assert_non_null(strstr(out.err, calls[i].say));
        support_output_free(&out);
    }
}

/* An index asked with a solid that it was not built for. */
static void test_wrong_solid(void **state) {
    (void)state;
    abut_solid *cube = NULL, *other = NULL;
    abut_index *index = NULL;
    assert_int_equal(abut_solid_box(NULL, 1, 1, 1, &cube, NULL), ABUT_OK);
    assert_int_equal(abut_solid_box(NULL, 1, 1, 2, &other, NULL), ABUT_OK);
    assert_int_equal(abut_index_build(NULL, cube, NULL, &index, NULL), ABUT_OK);
    assert_true(abut_index_fits(index, cube) && !abut_index_fits(index, other));
    vec3 o = {0, 0, 0}, square[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    abut_place place;
    abut_run run;
    abut_parts parts;
    abut_cells cells;
    assert_int_equal(abut_index_point(index, other, o, 1e-6).kind, ABUT_OUTSIDE);
    abut_index_points(index, other, &o, 1, 1e-6, &place);
    assert_int_equal(place.kind, ABUT_OUTSIDE);
    assert_true(abut_index_segment(index, other, o, square[1], 1e-6, &run, 1) < 0);
    assert_int_equal(abut_index_polygon(NULL, index, other, square, 3, 1e-6, &parts, NULL), ABUT_INVALID);
    assert_int_equal(abut_index_cells(NULL, index, other, &cells, NULL), ABUT_INVALID);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, cube);
    abut_solid_free(NULL, other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table1),         cmocka_unit_test(test_index_json),
        cmocka_unit_test(test_classify_lines), cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_wrong_solid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
