/* Exports read back and held against the recording: the poses of every frame, the areas and forces of its
 * contacts, the camera; what cannot be written; memory that runs out. */
#define _POSIX_C_SOURCE 200809L
#include "abut/export.h"
#include "support.h"

#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char scene[] =
    "world { duration = 1.2, frame = 1/50, title = 'a \"test\" \\\\ scene' }\n"
    "material { restitution = 0.2, friction = 0.4 }\n"
    "camera { position = {3, -4, 2}, target = {0.5, 0, 0.25}, up = {0, 0, 1}, field_of_view = 35 }\n"
    "light { position = {2, -2, 5}, color = {1, 0.9, 0.8}, intensity = 0.75 }\n"
    "body { name = 'floor', shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }\n"
    "body { name = 'a \"box\", odd', shape = solid.box {0.3, 0.2, 0.4}, position = {0, 0, 0.5},\n"
    "       rotation = {0.4, 1, 2, 3}, spin = {9, 1, 0}, center = {0.01, 0.02, 0}, group = 1 }\n"
    "body { name = 'resting', shape = solid.box {0.5, 0.4, 0.2}, position = {1, 0, 0.1}, group = 1 }\n"
    "body { name = 'ball', shape = sphere {0.1}, position = {1.6, 0, 0.6}, color = {0.2, 0.4, 0.6}, group = "
    "1 }\n"
    "body { name = 'egg', shape = ellipsoid {0.1, 0.1, 0.2}, position = {2, 0, 0.6}, group = 1 }\n"
    "body { name = 'pill', shape = capsule {0.1, 0.3}, position = {2.5, 0, 0.6}, group = 1 }\n"
    "body { name = 'can', shape = cylinder {0.1, 0.3}, position = {3, 0, 0.6}, group = 1 }\n"
    "local net = {}\n"
    "for j = 0, 3 do for i = 0, 3 do net[#net + 1] = {i / 3, j / 3, (i == 1 and j == 2) and 0.25 or 0} end "
    "end\n"
    "body { name = 'sheet', shape = surface.bezier { control = net }, fixed = true, group = 1, position = "
    "{0, 2, 0.5} "
    "}\n";

static const char *recorded(void) {
    static char path[512];
    if (path[0]) return path;
    const char *file = support_temporary("scene.lua");
    support_write(file, scene, sizeof scene - 1);
    char *kept = strdup(file);
    snprintf(path, sizeof path, "%s", support_temporary("scene.abut"));
    support_output out = support_run(NULL, "run", kept, "-o", path, "-q", NULL);
    if (out.status != 0) fail_msg("run: %s%s", out.out, out.err);
    support_output_free(&out);
    free(kept);
    return path;
}

static abut_recording *open_recorded(void) {
    abut_recording *r = NULL;
    abut_error error = {0};
    if (abut_recording_open(NULL, recorded(), &r, &error) != ABUT_OK) fail_msg("%s", error.message);
    return r;
}

static abut_export_report export_to(abut_export_format format, const char *path) {
    abut_recording *r = open_recorded();
    abut_export_options options = abut_default_export();
    options.format = format;
    abut_export_report report;
    abut_error error = {0};
    if (abut_recording_export(NULL, r, path, &options, &report, &error) != ABUT_OK)
        fail_msg("%s: %s", error.file, error.message);
    abut_recording_close(r);
    return report;
}

static char *read_all(const char *path, size_t *size) {
    char *bytes = NULL;
    abut_error error = {0};
    if (file_read(NULL, path, &bytes, size, &error) != ABUT_OK) fail_msg("%s: %s", path, error.message);
    return bytes;
}

/* The shape's origin: centre of mass minus the turned centre. */
static pose true_pose(abut_recording *r, int64_t frame, int body) {
    abut_motion m;
    abut_recorded_body b;
    abut_error error = {0};
    assert_int_equal(abut_recording_frame_motion(r, frame, body, &m, &error), ABUT_OK);
    assert_int_equal(abut_recording_body(r, body, &b, &error), ABUT_OK);
    return (pose){vec3_sub(m.center, quat_rotate(m.rotation, b.center)), m.rotation};
}

/* Largest difference of the two rotation matrices' columns. */
static double turn_between(quat a, quat b) {
    mat3 m = quat_matrix(a), n = quat_matrix(b);
    return fmax(vec3_distance(m.cx, n.cx), fmax(vec3_distance(m.cy, n.cy), vec3_distance(m.cz, n.cz)));
}

/* ---- glb */

typedef struct glb {
    char *bytes;
    size_t size;
    json_t *json;
    const char *data;
    size_t data_size;
} glb;

static uint32_t word_at(const char *p) {
    const unsigned char *b = (const unsigned char *)p;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static glb glb_open(const char *path) {
    glb g = {0};
    g.bytes = read_all(path, &g.size);
    assert_memory_equal(g.bytes, "glTF", 4);
    assert_int_equal(word_at(g.bytes + 4), 2);
    assert_int_equal(word_at(g.bytes + 8), g.size);
    uint32_t length = word_at(g.bytes + 12);
    assert_int_equal(length % 4, 0);
    assert_memory_equal(g.bytes + 16, "JSON", 4);
    json_error_t error;
    g.json = json_loadb(g.bytes + 20, length, 0, &error);
    if (!g.json) fail_msg("JSON: %s", error.text);
    const char *chunk = g.bytes + 20 + length;
    g.data_size = word_at(chunk);
    assert_memory_equal(chunk + 4, "BIN\0", 4);
    assert_int_equal(20 + length + 8 + g.data_size, g.size);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(json_object_get(g.json, "buffers"), 0),
                                                        "byteLength")),
                     g.data_size);
    g.data = chunk + 8;
    return g;
}

static void glb_close(glb *g) {
    json_decref(g->json);
    free(g->bytes);
}

static json_int_t get(const json_t *object, const char *key) {
    json_t *v = json_object_get(object, key);
    assert_true(json_is_integer(v));
    return json_integer_value(v);
}

/* The numbers of an accessor, as doubles; *count elements of *width. */
static double *accessor(const glb *g, json_int_t number, int64_t *count, int *width) {
    json_t *a = json_array_get(json_object_get(g->json, "accessors"), (size_t)number);
    json_t *view = json_array_get(json_object_get(g->json, "bufferViews"), (size_t)get(a, "bufferView"));
    const char *type = json_string_value(json_object_get(a, "type"));
    *width = strcmp(type, "SCALAR") == 0 ? 1 : strcmp(type, "VEC3") == 0 ? 3 : 4;
    *count = get(a, "count");
    int64_t from = get(a, "byteOffset"), bytes = *count * *width * 4;
    assert_true(from % 4 == 0 && from >= 0 && from + bytes <= get(view, "byteLength"));
    assert_true(get(view, "byteOffset") + get(view, "byteLength") <= (json_int_t)g->data_size);
    const char *p = g->data + get(view, "byteOffset") + from;
    double *out = malloc((size_t)(*count * *width) * sizeof *out);
    for (int64_t i = 0; i < *count * *width; i++) {
        uint32_t word = word_at(p + 4 * i);
        float f;
        memcpy(&f, &word, sizeof f);
        out[i] = get(a, "componentType") == 5125 ? (double)word : (double)f;
    }
    /* min and max are those of the data, exactly */
    for (int side = 0; side < 2; side++) {
        json_t *limit = json_object_get(a, side ? "max" : "min");
        for (int k = 0; limit && k < *width; k++) {
            double found = out[k];
            for (int64_t i = 0; i < *count; i++)
                if (side ? out[i * *width + k] > found : out[i * *width + k] < found)
                    found = out[i * *width + k];
            assert_true(json_number_value(json_array_get(limit, (size_t)k)) == found);
        }
    }
    return out;
}

static json_int_t node_named(const glb *g, const char *name) {
    json_t *nodes = json_object_get(g->json, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const char *s = json_string_value(json_object_get(json_array_get(nodes, i), "name"));
        if (s && strcmp(s, name) == 0) return (json_int_t)i;
    }
    return -1;
}

/* The keys of a node along a path: times and values; 0 when it is not animated. */
static int64_t keys_of(const glb *g, json_int_t node, const char *path, double **times, double **values) {
    json_t *animation = json_array_get(json_object_get(g->json, "animations"), 0);
    json_t *channels = json_object_get(animation, "channels");
    for (size_t i = 0; i < json_array_size(channels); i++) {
        json_t *channel = json_array_get(channels, i), *target = json_object_get(channel, "target");
        if (get(target, "node") != node ||
            strcmp(json_string_value(json_object_get(target, "path")), path) != 0)
            continue;
        json_t *sampler =
            json_array_get(json_object_get(animation, "samplers"), (size_t)get(channel, "sampler"));
        int64_t count, other;
        int width;
        *times = accessor(g, get(sampler, "input"), &count, &width);
        assert_int_equal(width, 1);
        for (int64_t k = 1; k < count; k++) assert_true((*times)[k] > (*times)[k - 1]);
        *values = accessor(g, get(sampler, "output"), &other, &width);
        assert_int_equal(count, other);
        return count;
    }
    return 0;
}

/* Every moving body is where the recording has it, at every frame; its quaternions do not jump to the other
 * half.  Single precision: 6e-8 of coordinates below 4. */
static void glb_has_the_recorded_poses(void **state) {
    (void)state;
    const char *path = support_temporary("poses.glb");
    abut_export_report report = export_to(ABUT_EXPORT_GLB, path);
    assert_int_equal(report.frames, 61);
    assert_int_equal(report.bodies, 8);
    glb g = glb_open(path);
    assert_int_equal(report.bytes, g.size);
    abut_recording *r = open_recorded();
    int animated = 0;
    for (int b = 0; b < abut_recording_bodies(r); b++) {
        json_int_t node = node_named(&g, abut_recording_body_name(r, b));
        assert_true(node >= 0);
        double *times, *places, *turns;
        int64_t count = keys_of(&g, node, "translation", &times, &places);
        if (count == 0) continue;
        free(times);
        assert_int_equal(count, 61);
        assert_int_equal(keys_of(&g, node, "rotation", &times, &turns), 61);
        for (int64_t f = 0; f < count; f++) {
            pose p = true_pose(r, f, b);
            const double *x = places + 3 * f, *q = turns + 4 * f;
            assert_true(fabs(times[f] - (double)f / 50) < 1e-6);
            assert_true(vec3_distance(p.position, vec3_make(x[0], x[1], x[2])) < 1e-6);
            assert_true(turn_between(p.rotation, (quat){q[3], q[0], q[1], q[2]}) < 1e-6);
            if (f > 0) assert_true(q[0] * q[-4] + q[1] * q[-3] + q[2] * q[-2] + q[3] * q[-1] > 0);
        }
        animated++;
        free(times), free(places), free(turns);
    }
    assert_true(animated >= 5);
    assert_int_equal(keys_of(&g, node_named(&g, "floor"), "translation", &(double *){0}, &(double *){0}), 0);
    abut_recording_close(r);
    glb_close(&g);
}

/* All meshes: normals are unit, indices are below the number of points, and the box has twelve triangles. */
static void glb_has_whole_meshes(void **state) {
    (void)state;
    const char *path = support_temporary("meshes.glb");
    export_to(ABUT_EXPORT_GLB, path);
    glb g = glb_open(path);
    json_t *meshes = json_object_get(g.json, "meshes");
    assert_true(json_array_size(meshes) >= 8);
    for (size_t i = 0; i < json_array_size(meshes); i++) {
        json_t *p = json_array_get(json_object_get(json_array_get(meshes, i), "primitives"), 0);
        json_t *attributes = json_object_get(p, "attributes");
        int64_t points, normals, indices;
        int width;
        double *v = accessor(&g, get(attributes, "POSITION"), &points, &width);
        double *n = accessor(&g, get(attributes, "NORMAL"), &normals, &width);
        double *t = accessor(&g, get(p, "indices"), &indices, &width);
        assert_int_equal(points, normals);
        assert_int_equal(indices % 3, 0);
        for (int64_t k = 0; k < indices; k++) assert_true(t[k] < (double)points);
        for (int64_t k = 0; k < normals; k++)
            assert_true(fabs(vec3_length(vec3_make(n[3 * k], n[3 * k + 1], n[3 * k + 2])) - 1) < 1e-6);
        const char *name = json_string_value(json_object_get(json_array_get(meshes, i), "name"));
        if (strcmp(name, "resting") == 0) assert_int_equal(indices, 36);
        free(v), free(n), free(t);
    }
    glb_close(&g);
}

/* Sum over the nodes of a kind, of a pair whose names have `word`, of `of` their scale at frame f. */
static double sum_at(const glb *g, const char *kind, const char *word, int64_t frame,
                     double (*of)(const double *scale)) {
    json_t *nodes = json_object_get(g->json, "nodes");
    double sum = 0, t = (double)frame / 50 + 1e-4;
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(nodes, i), "name"));
        if (strncmp(name, kind, strlen(kind)) != 0 || !strstr(name, word)) continue;
        double *times, *scales;
        int64_t count = keys_of(g, (json_int_t)i, "scale", &times, &scales), at = -1;
        assert_true(count > 0 && times[0] == 0);
        while (at + 1 < count && times[at + 1] <= t) at++;
        sum += of(scales + 3 * at);
        free(times), free(scales);
    }
    return sum;
}

static double right_area(const double *s) { return s[0] * s[1] / 2; }
static double length_of(const double *s) { return s[2]; }

/* At every frame the right triangles that are shown have together the area of the recorded region (of the box
 * that rests, whose region is the hull of its points), and the arrows the length of the recorded forces. */
static void glb_shows_areas_and_forces(void **state) {
    (void)state;
    const char *path = support_temporary("marks.glb");
    export_to(ABUT_EXPORT_GLB, path);
    glb g = glb_open(path);
    abut_recording *r = open_recorded();
    json_t *parent =
        json_array_get(json_object_get(g.json, "nodes"), (size_t)node_named(&g, "contact forces"));
    double scale = json_number_value(json_object_get(json_object_get(parent, "extras"), "metres_per_newton"));
    assert_true(scale > 0);
    bool some = false;
    for (int64_t f = 0; f < abut_recording_frames(r); f += 3) {
        const abut_contact *contacts;
        abut_error error = {0};
        int count = abut_recording_contacts(r, f, &contacts, &error);
        double area = 0, force = 0;
        for (int i = 0; i < count; i++) {
            if (contacts[i].body[0] == 2 || contacts[i].body[1] == 2) area += contacts[i].area;
            for (int k = 0; k < contacts[i].point_count; k++) force += vec3_length(contacts[i].forces[k]);
        }
        some |= area > 0.1;
        assert_true(fabs(sum_at(&g, "area ", "resting", f, right_area) - area) < 1e-5);
        /* arrows shorter than a thousandth of the bodies' size are not drawn */
        assert_true(fabs(sum_at(&g, "force ", "", f, length_of) - scale * force) < 1e-3);
    }
    assert_true(some);
    abut_recording_close(r);
    glb_close(&g);
}

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
        cmocka_unit_test(glb_has_the_recorded_poses),
        cmocka_unit_test(glb_has_whole_meshes),
        cmocka_unit_test(glb_shows_areas_and_forces),
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
