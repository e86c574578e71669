/* CSV, RIB and USD read back and held against the recording; a range of frames; what cannot be written;
 * memory that runs out.  glTF: test_export_glb.c. */
#define _POSIX_C_SOURCE 200809L
#include "exported.h"

#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- csv */

static void csv_reads_back_bit_for_bit(void **state) {
    (void)state;
    const char *path = support_temporary("tracks.csv");
    export_to(ABUT_EXPORT_CSV, path);
    size_t size;
    char *text = read_all(path, &size), *line = text, *end;
    assert_memory_equal(text, "t,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,ax,ay,az,alphax,alphay,alphaz\n",
                        73);
    abut_recording *r = open_recorded();
    abut_error error = {0};
    for (int64_t f = 0; f < abut_recording_frames(r); f++)
        for (int b = 0; b < abut_recording_bodies(r); b++) {
            line = strchr(line, '\n') + 1;
            abut_frame frame;
            abut_motion m;
            assert_int_equal(abut_recording_frame(r, f, &frame, &error), ABUT_OK);
            assert_int_equal(abut_recording_frame_motion(r, f, b, &m, &error), ABUT_OK);
            assert_true(strtod(line, &end) == frame.time);
            const char *name = b == 1 ? "\"a \"\"box\"\", odd\"" : abut_recording_body_name(r, b);
            assert_memory_equal(end + 1, name, strlen(name));
            end += 1 + strlen(name);
            double numbers[19], wanted[19];
            for (int i = 0; i < 19; i++) {
                assert_int_equal(*end, ',');
                numbers[i] = strtod(end + 1, &end);
            }
            assert_int_equal(*end, '\n');
            memcpy(wanted, &m, sizeof wanted);
            assert_memory_equal(numbers, wanted, sizeof wanted);
        }
    assert_null(strchr(strchr(line, '\n') + 1, '\n'));
    abut_recording_close(r);
    free(text);
}

/* ---- rib */

/* Reads `count` numbers behind the first [ after p. */
static const char *numbers_behind(const char *p, double *out, int count) {
    p = strchr(p, '[') + 1;
    for (int i = 0; i < count; i++) out[i] = strtod(p, (char **)(uintptr_t)&p);
    while (*p == ' ' || *p == '\n') p++;
    assert_int_equal(*p, ']');
    return p;
}

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *p = strstr(text, word); p; p = strstr(p + 1, word)) count++;
    return count;
}

/* A file a frame; what begins ends; the camera's matrix puts its target straight ahead; bodies have their
 * poses; the sheet is its control points; the ball is a ball. */
static void rib_has_view_and_bodies(void **state) {
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "%s", support_temporary("shot.####.rib"));
    abut_export_report report = export_to(ABUT_EXPORT_RIB, path);
    assert_int_equal(report.files, 61);
    abut_recording *r = open_recorded();
    for (int64_t f = 0; f < 61; f += 20) {
        char name[32];
        snprintf(name, sizeof name, "shot.%04d.rib", (int)f);
        size_t size;
        char *text = read_all(support_temporary(name), &size);
        static const char *const pairs[][2] = {{"FrameBegin", "FrameEnd"},
                                               {"WorldBegin", "WorldEnd"},
                                               {"AttributeBegin", "AttributeEnd"},
                                               {"TransformBegin", "TransformEnd"}};
        for (int i = 0; i < 4; i++)
            assert_int_equal(count_of(text, pairs[i][0]), count_of(text, pairs[i][1]));
        double m[16], v[48];
        numbers_behind(strstr(text, "ConcatTransform"), m, 16);
        const double target[] = {0.5, 0, 0.25, 1};
        for (int k = 0; k < 3; k++) {
            double x = 0;
            for (int i = 0; i < 4; i++) x += target[i] * m[4 * i + k];
            assert_true(fabs(x - (k == 2 ? sqrt(6.25 + 16 + 1.75 * 1.75) : 0)) < 1e-12);
        }
        numbers_behind(strstr(text, "\"fov\""), v, 1);
        assert_true(v[0] == 35);
        numbers_behind(strstr(text, "\"from\""), v, 3);
        assert_true(v[0] == 2 && v[1] == -2 && v[2] == 5);
        for (int b = 0; b < abut_recording_bodies(r); b++) {
            char word[80];
            snprintf(word, sizeof word, "[\"%s\"]",
                     b == 1 ? "a \\\"box\\\", odd" : abut_recording_body_name(r, b));
            const char *at = strstr(text, word);
            assert_non_null(at);
            numbers_behind(strstr(at, "ConcatTransform"), m, 16);
            pose p = true_pose(r, f, b);
            mat3 turn = quat_matrix(p.rotation);
            assert_true(vec3_distance(p.position, vec3_make(m[12], m[13], m[14])) < 1e-14);
            assert_true(vec3_distance(turn.cy, vec3_make(m[4], m[5], m[6])) < 1e-14);
        }
        assert_non_null(strstr(text, "Sphere 0.1 -0.1 0.1 360"));
        const char *patch = strstr(text, "Patch \"bicubic\" \"P\"");
        assert_non_null(patch);
        numbers_behind(patch, v, 48);
        assert_true(fabs(v[3 * 9] - 1.0 / 3) < 1e-15 && v[3 * 9 + 2] == 0.25 && v[3 * 10 + 2] == 0);
        free(text);
    }
    abut_recording_close(r);
}

/* ---- usda */

/* Braces, brackets and parentheses close in order, outside strings. */
static void assert_nests(const char *text) {
    char open[64];
    int depth = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            for (p++; *p && *p != '"'; p++) p += *p == '\\';
        if (strchr("{[(", *p)) open[depth++] = *p;
        if (strchr("}])", *p)) {
            assert_true(depth > 0);
            char o = open[--depth];
            assert_true((o == '{' && *p == '}') || (o == '[' && *p == ']') || (o == '(' && *p == ')'));
        }
        assert_true(*p && depth < 60);
    }
    assert_int_equal(depth, 0);
}

static void usda_has_the_recorded_poses(void **state) {
    (void)state;
    const char *path = support_temporary("scene.usda");
    export_to(ABUT_EXPORT_USDA, path);
    size_t size;
    char *text = read_all(path, &size);
    assert_memory_equal(text, "#usda 1.0\n", 10);
    assert_nests(text + 9);
    assert_non_null(strstr(text, "upAxis = \"Z\""));
    assert_non_null(strstr(text, "metersPerUnit = 1\n"));
    assert_non_null(strstr(text, "timeCodesPerSecond = 50\n"));
    assert_non_null(strstr(text, "endTimeCode = 60\n"));
    assert_non_null(strstr(text, "doc = \"a \\\"test\\\" \\\\ scene\""));
    abut_recording *r = open_recorded();
    static const struct {
        const char *prim;
        int body;
    } cases[] = {{"def Xform \"_1_a__box___odd\"", 1}, {"def Xform \"ball\"", 3}, {"def Xform \"can\"", 6}};
    for (int c = 0; c < COUNT_OF(cases); c++) {
        const char *p = strstr(text, cases[c].prim);
        assert_non_null(p);
        p = strstr(p, "double3 xformOp:translate.timeSamples = {\n");
        assert_non_null(p);
        p = strchr(p, '\n');
        for (int f = 0; f < 61; f++) {
            double v[4];
            int used = 0;
            assert_int_equal(sscanf(p, " %lf: (%lf, %lf, %lf),%n", &v[0], &v[1], &v[2], &v[3], &used), 4);
            p += used;
            assert_true(v[0] == f);
            assert_true(vec3_distance(true_pose(r, f, cases[c].body).position, vec3_make(v[1], v[2], v[3])) <
                        1e-14);
        }
        p = strstr(p, "quatd xformOp:orient.timeSamples = {\n");
        p = strchr(p, '\n');
        for (int f = 0; f < 61; f++) {
            double t, w, x, y, z;
            int used = 0;
            assert_int_equal(sscanf(p, " %lf: (%lf, %lf, %lf, %lf),%n", &t, &w, &x, &y, &z, &used), 5);
            p += used;
            assert_true(turn_between(true_pose(r, f, cases[c].body).rotation, (quat){w, x, y, z}) < 1e-14);
        }
    }
    /* every reference is to something that is there */
    for (const char *p = strstr(text, "</Geometry/"); p; p = strstr(p + 1, "</Geometry/")) {
        char name[64], def[96];
        sscanf(p, "</Geometry/%60[a-z0-9]", name);
        snprintf(def, sizeof def, "def Mesh \"%s\"", name);
        assert_non_null(strstr(text, def));
    }
    abut_recording_close(r);
    free(text);
}

/* ---- options, failures */

static void a_range_and_every_other_frame(void **state) {
    (void)state;
    const char *path = support_temporary("part.csv");
    support_output out = support_run(NULL, "export", recorded(), "--to", "csv", "-o", path, "--begin", "0.2",
                                     "--end", "0.6", "--every", "4", "--json", NULL);
    if (out.status != 0) fail_msg("%s", out.err);
    json_t *answer = json_loads(out.out, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(answer, "frames")), 6); /* 0.2 0.28 ... 0.6 */
    json_decref(answer);
    support_output_free(&out);
    size_t size;
    char *text = read_all(path, &size);
    assert_true(strncmp(strchr(text, '\n') + 1, "0.2,floor,", 10) == 0);
    free(text);
}

/* Blocks of one body and one mark give the bytes of one block. */
static void little_memory_gives_the_same_bytes(void **state) {
    (void)state;
    abut_recording *r = open_recorded();
    abut_error error = {0};
    static const abut_export_format formats[] = {ABUT_EXPORT_GLB, ABUT_EXPORT_USDA};
    for (int i = 0; i < 2; i++) {
        char *bytes[2];
        size_t sizes[2];
        for (int k = 0; k < 2; k++) {
            abut_export_options o = abut_default_export();
            o.format = formats[i], o.memory = k ? 1 : 0;
            const char *path = support_temporary("same.out");
            assert_int_equal(abut_recording_export(NULL, r, path, &o, NULL, &error), ABUT_OK);
            bytes[k] = read_all(path, &sizes[k]);
        }
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(bytes[0], bytes[1], sizes[0]);
        free(bytes[0]), free(bytes[1]);
    }
    abut_recording_close(r);
}

static void refuse(const char *to, const char *path, const char *word, int status) {
    support_output out = support_run(NULL, "export", recorded(), "--to", to, "-o", path, NULL);
    if (out.status != status || !strstr(out.err, word))
        fail_msg("--to %s -o %s: %d: %s", to, path, out.status, out.err);
    support_output_free(&out);
}

static void what_cannot_be_written_is_said(void **state) {
    (void)state;
    static const char *const formats[] = {"glb", "rib", "usda", "csv"};
    for (int i = 0; i < 4; i++) {
        refuse(formats[i], "/nowhere/at/all.out", "No such file", 2);
        if (i != 1) refuse(formats[i], "/dev/full", "No space left", 2);
        if (i != 1) refuse(formats[i], support_temporary("."), "folder", 2);
    }
    refuse("gltf", "x", "no format `gltf`", 2);
    support_output out =
        support_run(NULL, "export", recorded(), "--to", "csv", "-o", "x", "--begin", "7", NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "no frame in that range"));
    support_output_free(&out);
    out = support_run(NULL, "export", recorded(), "--to", "csv", NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "-o is missing"));
    support_output_free(&out);
    /* the page, where this build has one */
    static const char *const places[] = {"/nowhere/at/all.html", "/dev/full"};
    for (int i = 0; i < 2; i++) {
        out = support_run(NULL, "export", recorded(), "--to", "html", "-o", places[i], NULL);
        assert_int_not_equal(out.status, 0);
        assert_non_null(strstr(out.err, places[i]));
        assert_true(strstr(out.err, i ? "No space left" : "No such file") || strstr(out.err, "no page"));
        support_output_free(&out);
    }
    out = support_run(NULL, "export", recorded(), "--to", "html", "-o", "x.html", "--every", "2", NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "whole recording"));
    support_output_free(&out);
    /* an old file outlives a failure, and nothing is left beside it */
    const char *path = support_temporary("old.glb");
    support_write(path, "old", 3);
    char *kept = strdup(path), partial[700];
    snprintf(partial, sizeof partial, "%s.partial", kept);
    out = support_run(NULL, "export", recorded(), "--to", "glb", "-o", kept, "--begin", "7", NULL);
    assert_int_equal(out.status, 2);
    support_output_free(&out);
    size_t size;
    char *text = read_all(kept, &size);
    assert_string_equal(text, "old");
    assert_int_not_equal(access(partial, F_OK), 0);
    free(text), free(kept);
}

/* The recording with SQL run over it, and what the export of that says. */
static void assert_edited(const char *sql, const char *word) {
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", support_temporary("edited.abut"));
    size_t size;
    char *bytes = read_all(recorded(), &size);
    support_write(copy, bytes, size);
    free(bytes);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(copy, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    static const char *const formats[] = {"glb", "usda", "csv"};
    for (int i = 0; i < COUNT_OF(formats); i++) {
        support_output out = support_run(NULL, "export", copy, "--to", formats[i], "-o",
                                         support_temporary("edited.out"), NULL);
        if (out.status != 2 || !strstr(out.err, word)) fail_msg("%s: %d: %s", sql, out.status, out.err);
        support_output_free(&out);
    }
}

static void damaged_recordings_are_said(void **state) {
    (void)state;
    assert_edited("DELETE FROM frame", "no frame yet");
    assert_edited("DELETE FROM geometry WHERE id = 1", "no geometry 1");
    assert_edited("UPDATE geometry SET size = zeroblob(72) WHERE kind = 'ellipsoid'", "damaged");
    assert_edited("UPDATE frame SET motions = zeroblob(length(motions)) WHERE id = 7", "damaged");
    assert_edited("UPDATE frame SET motions = x'00' WHERE id = 7", "damaged");
    assert_edited("DELETE FROM frame WHERE id = 5", "has no frame");
    assert_edited(
        "DROP TABLE event; CREATE VIEW event AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
        "FROM n) SELECT * FROM n",
        "is a view");
}

typedef struct trial {
    abut_recording *recording;
    abut_export_options options;
    const char *path;
} trial;

static abut_status attempt(const abut_context *context, void *user) {
    const trial *t = user;
    return abut_recording_export(context, t->recording, t->path, &t->options, NULL, NULL);
}

/* The last two frames, which have contacts of all dimensions. */
static void memory_may_run_out(void **state) {
    (void)state;
    static const abut_export_format formats[] = {ABUT_EXPORT_GLB, ABUT_EXPORT_USDA, ABUT_EXPORT_CSV};
    trial t = {open_recorded(), abut_default_export(), support_temporary("memory.out")};
    t.options.begin = 1.17;
    for (int i = 0; i < COUNT_OF(formats); i++) {
        t.options.format = formats[i];
        int64_t allocations = support_fail_each(attempt, &t);
        assert_true(allocations > 10);
    }
    abut_recording_close(t.recording);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_reads_back_bit_for_bit),
        cmocka_unit_test(rib_has_view_and_bodies),
        cmocka_unit_test(usda_has_the_recorded_poses),
        cmocka_unit_test(a_range_and_every_other_frame),
        cmocka_unit_test(little_memory_gives_the_same_bytes),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(damaged_recordings_are_said),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
