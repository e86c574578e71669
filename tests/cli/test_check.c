/* abut check over shared/meshes/broken: every defect is named with its place; what can safely be repaired
 * becomes a solid, the rest is refused. */
#define _POSIX_C_SOURCE 200809L
#include "manifest.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

/* What is wrong with each file, from its description in the MANIFEST.  `word` is the defect that must be
 * among the findings, or a part of the message of files that cannot be read. */
typedef struct defect_case {
    const char *file;
    int status;
    const char *word;
    const char *place; /* part of a finding's text: the line, the face, the vertex */
    double volume;     /* after --fix; 0: refused */
} defect_case;

static const defect_case cases[] = {
    {"duplicate_vertices.obj", 1, "duplicate-vertex", ":5: ", 8},
    {"near_duplicate_1e-9.obj", 1, "duplicate-vertex", ":5: ", 8},
    {"nearly_coplanar_1e-7.obj", 1, "small-feature", "nearly coplanar", 1},
    {"flipped_face.obj", 1, "flipped-face", ":10: ", 8},
    {"inside_out.obj", 1, "inside-out", ":10: ", 8},
    {"zero_area_face.obj", 1, "degenerate-face", ":11: ", 8},
    {"nonplanar_ngon.obj", 1, "nonplanar-face", "face 1", -1},
    {"empty.obj", 1, "empty", "no faces", 0},
    {"needle_sliver.obj", 1, "too-thin", "1e+06 across", 0},
    {"nonmanifold_edge.obj", 1, "nonmanifold-edge", "3 faces", 0},
    {"nonmanifold_vertex.obj", 1, "nonmanifold-vertex", "vertex ", 0},
    {"open_boundary.obj", 1, "open-edge", ":10: ", 0},
    {"self_intersect.obj", 1, "self-intersection", "faces 0 and ", 0},
    {"spindle_torus_self_intersect.obj", 1, "self-intersection", "intersect near", 0},
    {"t_junction.obj", 1, "t-junction", "vertex 8", 0},
    {"two_cubes_share_edge.obj", 1, "nonmanifold-edge", "4 faces", 0},
    {"index_out_of_range.obj", 2, "refers to vertex", ":21: ", 0},
    {"inf_vertex.obj", 2, "infinite", ":8: ", 0},
    {"nan_vertex.obj", 2, "not a number", ":8: ", 0},
    {"truncated.off", 2, "cut off", ":2: ", 0},
};

static const char *const unusual[] = {"concave_star.obj",
                                      "fmt_ascii.ply",
                                      "fmt_ascii.stl",
                                      "fmt_binary_be.ply",
                                      "fmt_binary_solid_header.stl",
                                      "fmt_comments.off",
                                      "huge_coordinates.obj",
                                      "negative_indices.obj",
                                      "ngon_hole_bridge.obj",
                                      "slashes_crlf_continuation.obj",
                                      "tiny_scale.obj"};

static const char *broken(const char *file) {
    static char path[1000];
    snprintf(path, sizeof path, "%s/meshes/broken/%s", ABUT_SHARED, file);
    return path;
}

/* Sanitizers make everything some ten times slower. */
static double second(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 20;
#else
    return 1;
#endif
}

static bool contains(const support_output *out, const char *part) {
    return strstr(out->out, part) || strstr(out->err, part);
}

static void test_defects_are_named(void **state) {
    (void)state;
    support_shared("meshes/broken");
    for (int i = 0; i < COUNT_OF(cases); i++) {
        double start = clock_now();
        support_output out = support_run(NULL, "check", broken(cases[i].file), NULL);
        double seconds = clock_now() - start;
        if (out.status != cases[i].status || !contains(&out, cases[i].word) ||
            !contains(&out, cases[i].place))
            fail_msg("%s: status %d\n%s%s", cases[i].file, out.status, out.out, out.err);
        assert_true(contains(&out, cases[i].file));
        if (seconds > second()) fail_msg("%s took %g s", cases[i].file, seconds);
        support_output_free(&out);
    }
    for (int i = 0; i < COUNT_OF(unusual); i++) {
        support_output out = support_run(NULL, "check", broken(unusual[i]), NULL);
        if (out.status != 0) fail_msg("%s: status %d\n%s%s", unusual[i], out.status, out.out, out.err);
        assert_non_null(strstr(out.out, "a solid, 0 errors, 0 warnings\n"));
        support_output_free(&out);
    }
}

/* Every file of the folder is in one of the two lists above. */
static void count_file(const char *path, void *user) {
    const char *name = strrchr(path, '/') + 1;
    for (int i = 0; i < COUNT_OF(cases); i++)
        if (strcmp(name, cases[i].file) == 0) ++*(int *)user;
    for (int i = 0; i < COUNT_OF(unusual); i++)
        if (strcmp(name, unusual[i]) == 0) ++*(int *)user;
}
static void test_lists_are_complete(void **state) {
    (void)state;
    int listed = 0, files = support_each_file(support_shared("meshes/broken"), "", count_file, &listed);
    assert_int_equal(listed, files);
}

static double volume_of(const char *path) {
    support_output out = support_run(NULL, "inspect", path, "--json", NULL);
    if (out.status != 0) fail_msg("%s: %s", path, out.err);
    json_t *d = json_loads(out.out, 0, NULL);
    double volume = json_real_value(json_object_get(d, "volume"));
    json_decref(d);
    support_output_free(&out);
    return volume;
}

/* What --fix writes is a solid without errors, in every format; what it refuses is not written. */
static void test_repairs(void **state) {
    (void)state;
    static const char *const extensions[] = {"obj", "ply", "off", "stl"};
    support_shared("meshes/broken");
    for (int i = 0; i < COUNT_OF(cases); i++)
        for (int k = 0; k < COUNT_OF(extensions); k++) {
            char name[64], fixed[1000];
            snprintf(name, sizeof name, "fixed_%d.%s", i, extensions[k]);
            snprintf(fixed, sizeof fixed, "%s", support_temporary(name));
            support_output out = support_run(NULL, "check", broken(cases[i].file), "--fix", fixed, NULL);
            bool repaired = cases[i].volume != 0;
            if (out.status != (repaired ? 0 : cases[i].status))
                fail_msg("%s: status %d\n%s%s", cases[i].file, out.status, out.out, out.err);
            assert_int_equal(access(fixed, R_OK) == 0, repaired);
            if (repaired) {
                double volume = volume_of(fixed);
                /* STL rounds coordinates to 24 bits */
                if (cases[i].volume > 0 && !(fabs(volume / cases[i].volume - 1) < (k == 3 ? 1e-5 : 1e-6)))
                    fail_msg("%s: volume %.17g", cases[i].file, volume);
                assert_non_null(strstr(out.out, "written, a solid"));
                support_output again = support_run(NULL, "check", fixed, NULL);
                assert_null(strstr(again.out, "error:"));
                assert_null(strstr(again.out, "duplicate-vertex"));
                support_output_free(&again);
            } else if (cases[i].status == 1) {
                assert_non_null(strstr(out.err, "not repaired"));
            }
            support_output_free(&out);
        }
}

/* Files of real life: the repairs of those whose defects are safe to mend. */
static void test_real_files(void **state) {
    (void)state;
    support_shared("meshes/real");
    static const struct {
        const char *file;
        bool repaired;
    } real[] = {{"ripc_L.obj", true},
                {"mujoco_cube_cup.obj", true},
                {"trimesh_wallhole.obj", true},
                {"trimesh_quadknot.obj", true},
                {"ripc_suzanne.obj", false},
                {"wingnut.obj", false},
                {"trimesh_joined_tetrahedra.obj", false}};
    for (int i = 0; i < COUNT_OF(real); i++) {
        char path[1000], fixed[1000];
        snprintf(path, sizeof path, "%s/meshes/real/%s", ABUT_SHARED, real[i].file);
        snprintf(fixed, sizeof fixed, "%s", support_temporary("real.obj"));
        remove(fixed);
        support_output out = support_run(NULL, "check", path, "--fix", fixed, NULL);
        if (out.status != (real[i].repaired ? 0 : 1)) fail_msg("%s: %d\n%s", path, out.status, out.err);
        if (real[i].repaired) assert_true(volume_of(fixed) > 0);
        support_output_free(&out);
    }
}

/* The document has what the list has, and the findings are limited for each kind, but counted. */
static void test_document(void **state) {
    (void)state;
    support_shared("meshes/broken");
    support_output out = support_run(NULL, "check", broken("duplicate_vertices.obj"), "--json", NULL);
    json_t *d = json_loads(out.out, 0, NULL);
    assert_non_null(d);
    assert_true(json_is_true(json_object_get(d, "valid")));
    assert_true(json_is_false(json_object_get(d, "clean")));
    assert_int_equal(json_integer_value(json_object_get(d, "warnings")), 28);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(d, "counts"), "duplicate-vertex")),
                     28);
    json_t *findings = json_object_get(d, "findings"), *first = json_array_get(findings, 0);
    assert_int_equal(json_array_size(findings), 20);
    assert_string_equal(json_string_value(json_object_get(first, "defect")), "duplicate-vertex");
    assert_int_equal(json_integer_value(json_object_get(first, "line")), 5);
    assert_int_equal(json_integer_value(json_object_get(first, "vertex")), 3);
    assert_true(json_is_true(json_object_get(first, "repairable")));
    assert_int_equal(json_array_size(json_object_get(first, "at")), 3);
    assert_true(strlen(json_string_value(json_object_get(first, "message"))) > 20);
    json_decref(d);
    support_output_free(&out);

    const char *fixed = support_temporary("document.obj");
    out = support_run(NULL, "check", broken("flipped_face.obj"), "--fix", fixed, "--json", NULL);
    assert_int_equal(out.status, 0);
    d = json_loads(out.out, 0, NULL);
    json_t *fix = json_object_get(d, "fix");
    assert_string_equal(json_string_value(json_object_get(fix, "file")), fixed);
    assert_true(json_is_null(json_object_get(fix, "refused")));
    json_decref(d);
    support_output_free(&out);

    out = support_run(NULL, "check", broken("t_junction.obj"), "--fix", fixed, "--json", NULL);
    assert_int_equal(out.status, 1);
    d = json_loads(out.out, 0, NULL);
    fix = json_object_get(d, "fix");
    assert_true(json_is_null(json_object_get(fix, "file")));
    assert_non_null(strstr(json_string_value(json_object_get(fix, "refused")), "T-junction"));
    json_decref(d);
    support_output_free(&out);
}

static void test_wrong_calls(void **state) {
    (void)state;
    support_output out = support_run(NULL, "check", NULL);
    assert_int_equal(out.status, 2);
    support_output_free(&out);
    out = support_run(NULL, "check", "/nonexistent.stl", NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "abut: /nonexistent.stl: cannot be opened"));
    support_output_free(&out);
    out = support_run(NULL, "check", support_shared("meshes/cage/cube_tri.obj"), "--fix",
                      "/nonexistent/x.obj", NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "cannot be written"));
    support_output_free(&out);
    out = support_run(NULL, "check", support_shared("meshes/cage/cube_tri.obj"), "--fix", "x.gltf", NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "end it in .obj, .stl, .ply or .off"));
    support_output_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defects_are_named), cmocka_unit_test(test_lists_are_complete),
        cmocka_unit_test(test_repairs),           cmocka_unit_test(test_real_files),
        cmocka_unit_test(test_document),          cmocka_unit_test(test_wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
