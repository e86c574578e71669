/* abut inspect over all of shared/meshes, against the tables of the MANIFEST, which another program made. */
#define _POSIX_C_SOURCE 200809L
#include "manifest.h"

#include <jansson.h>
#include <math.h>

static json_t *inspect(const char *file, int *status, char **err) {
    char path[1000];
    snprintf(path, sizeof path, "%s/meshes/%s", ABUT_SHARED, file);
    double start = clock_now();
    support_output out = support_run(NULL, "inspect", path, "--json", NULL);
    if (strncmp(file, "broken/", 7) == 0) assert_true(clock_now() - start < 5); /* 1 s without sanitizers */
    json_t *document = json_loads(out.out, 0, NULL);
    *status = out.status;
    if (err) *err = strdup(out.err);
    support_output_free(&out);
    return document;
}

static long number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!value) fail_msg("the document has no key %s", key);
    return json_is_null(value) ? -1 : (long)json_integer_value(value);
}

static bool truth(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value)) fail_msg("the document has no truth value %s", key);
    return json_is_true(value);
}

static void expect(const manifest_row *row, const char *what, long got, long wanted) {
    if (got != wanted) fail_msg("%s: %s is %ld, but the manifest says %ld", row->file, what, got, wanted);
}

/* What the table says of the file as it is stored. */
static void expect_row(const manifest_row *row, const json_t *stored) {
    expect(row, "vertices", number(stored, "vertices"), row->vertices);
    expect(row, "edges", number(stored, "edges"), row->edges);
    expect(row, "faces", number(stored, "faces"), row->faces);
    expect(row, "components", number(stored, "components"), row->components);
    if (row->closed) expect(row, "genus", number(stored, "genus"), row->genus);
    expect(row, "closed", truth(stored, "closed"), row->closed);
    /* the manifest calls the flag of ripc_L unreliable: the file is an L */
    if (row->closed && row->has_convex && !strstr(row->file, "ripc_L.obj"))
        expect(row, "convex", truth(stored, "convex"), row->convex);
}

/* Every file of the folders is a mesh; a closed one whose faces are planar and do not cross is a solid, with
 * the same counts; the others say why and exit 1. */
static void test_manifest(void **state) {
    (void)state;
    FILE *manifest = fopen(support_shared("meshes/MANIFEST.md"), "r");
    manifest_row row;
    int rows = 0, solids = 0;
    while (manifest_next(manifest, &row)) {
        if (strncmp(row.file, "broken/", 7) == 0) continue;
        int status;
        char *err;
        json_t *d = inspect(row.file, &status, &err);
        if (!d) fail_msg("%s: no document; %s", row.file, err);
        rows++;
        expect_row(&row, json_object_get(d, "as_stored"));
        bool solid = truth(d, "solid");
        solids += solid;
        expect(&row, "exit status", status, solid ? 0 : 1);
        if (solid) {
            assert_true(truth(d, "closed"));
            assert_true(json_real_value(json_object_get(d, "volume")) > 0);
            assert_true(json_array_size(json_object_get(d, "face_map")) > 0);
            assert_true(number(d, "maximal_faces") <= number(d, "faces"));
            if (row.closed && !strstr(row.text, "duplicate vertices")) {
                expect(&row, "vertices after welding", number(d, "vertices"), row.vertices);
                expect(&row, "edges after welding", number(d, "edges"), row.edges);
                expect(&row, "faces after welding", number(d, "faces"), row.faces);
                expect(&row, "genus of the solid", number(d, "genus"), row.genus);
                expect(&row, "convexity of the solid", truth(d, "convex"), row.convex);
            }
        } else {
            assert_true(strlen(json_string_value(json_object_get(d, "defect"))) > 10);
            assert_non_null(strstr(err, row.file));
        }
        /* generated solids are all solids */
        if (strncmp(row.file, "solid/", 6) == 0 || strncmp(row.file, "table1/", 7) == 0) assert_true(solid);
        json_decref(d);
        free(err);
    }
    fclose(manifest);
    assert_int_equal(rows, 30 + 14 + 10 + 10);
    assert_true(solids >= 45);
}

/* "weld 1e-9 -> closed, 16 V / 28 F" and the like, from the descriptions in the manifest. */
static void test_welded_files(void **state) {
    (void)state;
    support_shared("meshes/MANIFEST.md");
    static const struct {
        const char *file;
        long vertices, faces;
    } cases[] = {{"real/mujoco_cube_cup.obj", 16, 28},
                 {"real/trimesh_featuretype.stl", 1722, 3476},
                 {"real/trimesh_wallhole.obj", 35, 13}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        int status;
        json_t *d = inspect(cases[i].file, &status, NULL);
        assert_int_equal(status, 0);
        assert_int_equal(number(d, "vertices"), cases[i].vertices);
        assert_int_equal(number(d, "faces"), cases[i].faces);
        assert_true(truth(d, "closed"));
        json_decref(d);
    }
}

/* Files that are only unusual load as the solids they are: the cube of side 2, and what their names say. */
static void test_unusual_files(void **state) {
    (void)state;
    support_shared("meshes/MANIFEST.md");
    static const struct {
        const char *file;
        long maximal_faces, genus;
        double volume;
    } cases[] = {{"broken/fmt_ascii.ply", 6, 0, 8},
                 {"broken/fmt_ascii.stl", 6, 0, 8},
                 {"broken/fmt_binary_be.ply", 6, 0, 8},
                 {"broken/fmt_binary_solid_header.stl", 6, 0, 8},
                 {"broken/fmt_comments.off", 6, 0, 8},
                 {"broken/negative_indices.obj", 6, 0, 8},
                 {"broken/slashes_crlf_continuation.obj", 6, 0, 8},
                 {"broken/tiny_scale.obj", 6, 0, 8e-36},
                 {"broken/concave_star.obj", 12, 0, -1},
                 {"broken/ngon_hole_bridge.obj", 10, 1, -1},
                 {"broken/huge_coordinates.obj", 6, 0, -1}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        int status;
        char *err;
        json_t *d = inspect(cases[i].file, &status, &err);
        if (status != 0) fail_msg("%s: %s", cases[i].file, err);
        assert_int_equal(number(d, "maximal_faces"), cases[i].maximal_faces);
        assert_int_equal(number(d, "genus"), cases[i].genus);
        double volume = json_real_value(json_object_get(d, "volume"));
        assert_true(volume > 0);
        if (cases[i].volume > 0) assert_true(fabs(volume / cases[i].volume - 1) < 1e-14);
        json_decref(d);
        free(err);
    }
}

/* The table for people has the same numbers, and --density scales mass and inertia. */
static void test_table(void **state) {
    (void)state;
    const char *cube = support_shared("meshes/cage/cube_tri.obj");
    support_output out = support_run(NULL, "inspect", cube, "--density", "7.5", NULL);
    assert_int_equal(out.status, 0);
    assert_non_null(strstr(out.out, "genus             0\n"));
    assert_non_null(strstr(out.out, "convex            yes\n"));
    assert_non_null(strstr(out.out, "volume            8 m^3\n"));
    assert_non_null(strstr(out.out, "mass              60 kg at 7.5 kg/m^3\n"));
    assert_string_equal(out.err, "");
    support_output_free(&out);
    out = support_run(NULL, "inspect", cube, "--density=7.5", "--json", NULL);
    json_t *d = json_loads(out.out, 0, NULL);
    for (int k = 0; k < 3; k++) /* m (4 + 4) / 12 */
        assert_true(fabs(json_real_value(json_array_get(json_object_get(d, "inertia"), (size_t)k)) - 40) <
                    1e-13);
    assert_int_equal(json_array_size(json_object_get(d, "face_map")), 12);
    json_decref(d);
    support_output_free(&out);
}

static void test_wrong_calls(void **state) {
    (void)state;
    static const struct {
        const char *argument[3], *part;
    } cases[] = {{{NULL}, "an argument is missing"},
                 {{"/nonexistent.obj"}, "abut: /nonexistent.obj: cannot be opened"},
                 {{"x.obj", "--density", "zero"}, "--density: `zero` is not a finite number"},
                 {{"x.obj", "--density", "-1"}, "--density: -1 is not above 0"},
                 {{"x.obj", "--densty", "1"}, "did you mean --density?"}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const char *const *a = cases[i].argument;
        support_output out = support_run(NULL, "inspect", a[0], a[1], a[2], NULL);
        assert_int_equal(out.status, 2);
        if (!strstr(out.err, cases[i].part)) fail_msg("%s", out.err);
        assert_string_equal(out.out, "");
        support_output_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manifest),      cmocka_unit_test(test_welded_files),
        cmocka_unit_test(test_unusual_files), cmocka_unit_test(test_table),
        cmocka_unit_test(test_wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
