/* glTF read back and held against the recording: the poses of every frame, whole meshes, the areas and forces
 * of its contacts. */
#define _POSIX_C_SOURCE 200809L
#include "exported.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glb_has_the_recorded_poses),
        cmocka_unit_test(glb_has_whole_meshes),
        cmocka_unit_test(glb_shows_areas_and_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
