/* glTF 2.0, binary.
 *
 *   | header 12 | JSON: nodes, meshes, accessors ... | BIN: points and normals | triangles | keys of
 * animation |
 *
 * Lengths and offsets stand in front of the data, so everything is counted first, the JSON is made in memory
 * (it grows with bodies and marks, not with frames), and the data follow in the same order.
 *
 * glTF has y up: the root node turns the scene, which has z up, by -90 degrees about x.  Bodies are nodes
 * whose place and turn are sampled at the frames (LINEAR); marks of contacts are nodes that jump at frames
 * (STEP) and are hidden by the scale zero.  Times begin at 0. */
#include "record/export_scene.h"

typedef enum part { NODES, MESHES, MATERIALS, ACCESSORS, SAMPLERS, CHANNELS, LIGHTS, PARTS } part;

static const char *const part_names[] = {"nodes", "meshes", "materials", "accessors"};

typedef enum view { VERTICES, INDICES, KEYS, VIEWS } view;

typedef struct glb {
    export_scene *scene;
    export_out parts[PARTS]; /* items of each list of the JSON, with commas between them */
    int counts[PARTS];
    int64_t bytes[VIEWS]; /* so far */
    map64 mesh_of;        /* (shape, material) */
    map64 material_of;    /* colour */
    int *accessors;       /* of the points of each shape, then of each kind of mark; -1: nothing to draw */
    tessellation marks[MARK_KINDS];
    bool out_of_memory;
} glb;

/* Begins an item of a list; returns its number. */
static int begin(glb *g, part p) {
    if (g->counts[p]) out_text(&g->parts[p], ",");
    return g->counts[p]++;
}

/* ---- accessors */

static void put_limits(export_out *out, const char *name, const double *v, int count) {
    out_format(out, ",\"%s\":[", name);
    for (int i = 0; i < count; i++) {
        if (i) out_text(out, ",");
        out_number(out, (float)v[i]);
    }
    out_text(out, "]");
}

/* low and high may be NULL. */
static int add_accessor(glb *g, view v, const char *type, int64_t count, const double *low,
                        const double *high) {
    static const int sizes[] = {1, 0, 3, 4};
    int size = type[0] == 'S' ? 1 : sizes[type[3] - '1'];
    export_out *out = &g->parts[ACCESSORS];
    int number = begin(g, ACCESSORS);
    out_format(out,
               "{\"bufferView\":%d,\"byteOffset\":%lld,\"componentType\":%d,\"count\":%lld,\"type\":\"%s\"",
               v, (long long)g->bytes[v], v == INDICES ? 5125 : 5126, (long long)count, type);
    if (low) put_limits(out, "min", low, size);
    if (high) put_limits(out, "max", high, size);
    out_text(out, "}");
    g->bytes[v] += count * size * 4;
    return number;
}

/* Points, normals and triangles: three accessors.  -1: there is nothing to draw. */
static int add_triangles(glb *g, const tessellation *t) {
    if (t->triangles.count == 0) return -1;
    box b = box_empty();
    for (int64_t i = 0; i < t->points.count; i++) b = box_add_point(b, t->points.data[i]);
    int number =
        add_accessor(g, VERTICES, "VEC3", t->points.count, (double[]){b.lower.x, b.lower.y, b.lower.z},
                     (double[]){b.upper.x, b.upper.y, b.upper.z});
    add_accessor(g, VERTICES, "VEC3", t->normals.count, NULL, NULL);
    add_accessor(g, INDICES, "SCALAR", t->triangles.count, NULL, NULL);
    return number;
}

/* ---- materials and meshes */

/* Colours are given as they look on a screen; glTF wants them linear (IEC 61966-2-1). */
static double linear(double c) { return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4); }

static int material(glb *g, const double color[4], bool both_sides, const char *name) {
    uint64_t key = 0;
    for (int i = 0; i < 4; i++) key = key << 8 | (uint64_t)(255 * color[i] + 0.5);
    int32_t *slot = map64_put(g->scene->context, &g->material_of, key << 1 | both_sides, -1);
    if (!slot) {
        g->out_of_memory = true;
        return 0;
    }
    if (*slot >= 0) return *slot;
    export_out *out = &g->parts[MATERIALS];
    *slot = begin(g, MATERIALS);
    out_text(out, "{\"name\":");
    if (name)
        out_json_string(out, name);
    else
        out_format(out, "\"colour %d\"", *slot);
    out_text(out, ",\"pbrMetallicRoughness\":{\"baseColorFactor\":[");
    out_numbers(out, (double[]){linear(color[0]), linear(color[1]), linear(color[2]), color[3]}, 4, ",");
    out_text(out, "],\"metallicFactor\":0,\"roughnessFactor\":0.65}");
    if (color[3] < 1) out_text(out, ",\"alphaMode\":\"BLEND\"");
    if (both_sides) out_text(out, ",\"doubleSided\":true");
    out_text(out, "}");
    return *slot;
}

/* -1: nothing to draw. */
static int mesh(glb *g, int accessor, int mat, const char *name) {
    if (accessor < 0) return -1;
    uint64_t key = (uint64_t)accessor << 32 | (uint32_t)mat;
    int32_t *slot = map64_put(g->scene->context, &g->mesh_of, key, -1);
    if (!slot) {
        g->out_of_memory = true;
        return 0;
    }
    if (*slot >= 0) return *slot;
    export_out *out = &g->parts[MESHES];
    *slot = begin(g, MESHES);
    out_text(out, "{\"name\":");
    out_json_string(out, name);
    out_format(
        out,
        ",\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d},\"indices\":%d,\"material\":%d}]}",
        accessor, accessor + 1, accessor + 2, mat);
    return *slot;
}

/* ---- nodes */

static void put_pose(export_out *out, pose p) {
    out_text(out, ",\"translation\":[");
    out_vec3(out, p.position, ",");
    quat q = p.rotation;
    out_text(out, "],\"rotation\":[");
    out_numbers(out, (double[]){q.x, q.y, q.z, q.w}, 4, ",");
    out_text(out, "]");
}

static void add_channel(glb *g, int node, const char *path, int input, int output, bool step) {
    int sampler = begin(g, SAMPLERS);
    out_format(&g->parts[SAMPLERS], "{\"input\":%d,\"interpolation\":\"%s\",\"output\":%d}", input,
               step ? "STEP" : "LINEAR", output);
    begin(g, CHANNELS);
    out_format(&g->parts[CHANNELS], "{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}", sampler,
               node, path);
}

static void add_bodies(glb *g) {
    export_scene *s = g->scene;
    export_out *out = &g->parts[NODES];
    double first = 0, last = s->times[s->frame_count - 1] - s->times[0];
    int input = -1;
    for (int i = 0; i < s->body_count; i++) {
        const export_body *b = &s->bodies[i];
        const export_shape *shape = &s->shapes[b->shape];
        bool open = shape->kind == ABUT_SHAPE_SURFACE;
        int drawn = g->accessors[b->shape];
        int shown = drawn < 0 ? -1 : mesh(g, drawn, material(g, b->color, open, NULL), b->name);
        int node = begin(g, NODES);
        out_text(out, "{\"name\":");
        out_json_string(out, b->name);
        if (shown >= 0) out_format(out, ",\"mesh\":%d", shown);
        put_pose(out, b->start);
        out_text(out, "}");
        if (!b->moves) continue;
        if (input < 0) input = add_accessor(g, KEYS, "SCALAR", s->frame_count, &first, &last);
        add_channel(g, node, "translation", input, add_accessor(g, KEYS, "VEC3", s->frame_count, NULL, NULL),
                    false);
        add_channel(g, node, "rotation", input, add_accessor(g, KEYS, "VEC4", s->frame_count, NULL, NULL),
                    false);
    }
}

/* NAME of the mark: `area 0 of block on floor`. */
static void put_slot_name(glb *g, const export_slot *slot) {
    export_scene *s = g->scene;
    export_out *out = &g->parts[NODES];
    out_format(out, "\"%s %d of ", mark_name(slot->kind), slot->number);
    out_json_text(out, s->bodies[slot->body[0]].name);
    out_text(out, " on ");
    out_json_text(out, s->bodies[slot->body[1]].name);
    out_text(out, "\"");
}

/* A node a slot, in their order, in which their keys are written too. */
static void add_slots(glb *g) {
    export_scene *s = g->scene;
    export_out *out = &g->parts[NODES];
    for (int i = 0; i < s->slots.count; i++) {
        const export_slot *slot = &s->slots.data[i];
        mark_kind kind = slot->kind;
        vec3 c = mark_color(kind);
        int mat = material(g, (double[]){c.x, c.y, c.z, 1}, kind == MARK_AREA, mark_name(kind));
        int shown = mesh(g, g->accessors[s->shape_count + (int)kind], mat, mark_name(kind));
        int node = begin(g, NODES);
        out_text(out, "{\"name\":");
        put_slot_name(g, slot);
        out_format(out, ",\"mesh\":%d", shown);
        put_pose(out, slot->first.at);
        out_text(out, ",\"scale\":[");
        out_vec3(out, slot->first.scale, ",");
        out_text(out, "]}");
        double first = 0, last = s->times[slot->last] - s->times[0];
        int input = add_accessor(g, KEYS, "SCALAR", slot->keys, &first, &last);
        add_channel(g, node, "translation", input, add_accessor(g, KEYS, "VEC3", slot->keys, NULL, NULL),
                    true);
        add_channel(g, node, "rotation", input, add_accessor(g, KEYS, "VEC4", slot->keys, NULL, NULL), true);
        add_channel(g, node, "scale", input, add_accessor(g, KEYS, "VEC3", slot->keys, NULL, NULL), true);
    }
}

static void add_lights(glb *g) {
    export_scene *s = g->scene;
    for (int i = 0; i < s->light_used; i++) {
        const abut_light *l = &s->lights[i];
        export_out *out = &g->parts[LIGHTS];
        double far2 = vec3_length2(vec3_sub(l->position, s->camera.target));
        double color[] = {l->color.x, l->color.y, l->color.z};
        for (int k = 0; k < 3; k++) color[k] = fmax(0, fmin(1, color[k]));
        begin(g, LIGHTS);
        out_text(out, "{\"type\":\"point\",\"color\":[");
        out_numbers(out, color, 3, ",");
        out_text(out, "],\"intensity\":"); /* candela: pi lux at what the camera looks at */
        out_number(out, 3.141592653589793 * l->intensity * far2);
        out_text(out, "}");
        out = &g->parts[NODES];
        begin(g, NODES);
        out_format(out, "{\"name\":\"light %d\",\"extensions\":{\"KHR_lights_punctual\":{\"light\":%d}}", i,
                   i);
        out_text(out, ",\"translation\":[");
        out_vec3(out, l->position, ",");
        out_text(out, "]}");
    }
}

/* A parent of all marks of a kind, whose nodes begin at `first`; none where there are none. */
static void add_parent(glb *g, mark_kind kind, int first) {
    const export_scene *s = g->scene;
    export_out *out = &g->parts[NODES];
    int count = 0;
    for (int i = 0; i < s->slots.count; i++) {
        if (s->slots.data[i].kind != kind) continue;
        if (count == 0) {
            begin(g, NODES);
            out_format(out, "{\"name\":\"contact %ss\",\"children\":[", mark_name(kind));
        }
        out_format(out, count++ ? ",%d" : "%d", first + i);
    }
    if (count == 0) return;
    out_text(out, "]");
    if (kind == MARK_FORCE) {
        out_text(out, ",\"extras\":{\"metres_per_newton\":");
        out_number(out, s->metres_per_newton);
        out_text(out, "}");
    }
    out_text(out, "}");
}

/* Bodies, the camera and the lights, marks, for each kind of mark a parent, and the root, which is the last.
 */
static void add_nodes(glb *g) {
    export_scene *s = g->scene;
    export_out *out = &g->parts[NODES];
    add_bodies(g);
    begin(g, NODES);
    out_text(out, "{\"name\":\"camera\",\"camera\":0");
    put_pose(out, export_camera_pose(&s->camera));
    out_text(out, "}");
    add_lights(g);
    int marks = g->counts[NODES];
    add_slots(g);
    int parents = g->counts[NODES];
    for (int k = 0; k < MARK_KINDS; k++) add_parent(g, (mark_kind)k, marks);
    int root = begin(g, NODES);
    out_text(out,
             "{\"name\":\"abut\",\"rotation\":[-0.7071067811865476,0,0,0.7071067811865476],\"children\":[");
    for (int i = 0; i < marks; i++) out_format(out, i ? ",%d" : "%d", i);
    for (int i = parents; i < root; i++) out_format(out, ",%d", i);
    out_text(out, "]}");
}

/* ---- the JSON */

static void put_views(const glb *g, export_out *out) {
    static const char *const rest[] = {",\"byteStride\":12,\"target\":34962", ",\"target\":34963", ""};
    int64_t at = 0;
    bool first = true;
    out_text(out, ",\"bufferViews\":[");
    for (int v = 0; v < VIEWS; v++) {
        out_format(out, "%s{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld%s}", first ? "" : ",",
                   (long long)at, (long long)g->bytes[v], rest[v]);
        at += g->bytes[v];
        first = false;
    }
    out_format(out, "],\"buffers\":[{\"byteLength\":%lld}]", (long long)at);
}

static void put_json(const glb *g, export_out *out) {
    const export_scene *s = g->scene;
    out_text(out, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"abut ");
    out_text(out, abut_version());
    out_text(out, "\"},\"extensionsUsed\":[\"KHR_lights_punctual\"]");
    out_text(out, ",\"extensions\":{\"KHR_lights_punctual\":{\"lights\":[");
    out_bytes(out, g->parts[LIGHTS].text.data, (size_t)g->parts[LIGHTS].text.count);
    out_format(out, "]}},\"scene\":0,\"scenes\":[{\"nodes\":[%d],\"name\":", g->counts[NODES] - 1);
    out_text(out, "\"run\",\"extras\":{\"title\":"); /* not its name: a body may have it */
    out_json_string(out, s->title ? s->title : "");
    out_text(out, "}}],\"cameras\":[{\"type\":\"perspective\",\"perspective\":{\"yfov\":");
    out_number(out, s->camera.field_of_view * 3.141592653589793 / 180);
    out_text(out, ",\"znear\":");
    out_number(out, 0.01 * vec3_distance(s->camera.position, s->camera.target));
    out_text(out, "}}]");
    for (int p = NODES; p <= ACCESSORS; p++) {
        if (g->counts[p] == 0) continue;
        out_format(out, ",\"%s\":[", part_names[p]);
        out_bytes(out, g->parts[p].text.data, (size_t)g->parts[p].text.count);
        out_text(out, "]");
    }
    if (g->counts[CHANNELS]) {
        out_text(out, ",\"animations\":[{\"name\":\"run\",\"samplers\":[");
        out_bytes(out, g->parts[SAMPLERS].text.data, (size_t)g->parts[SAMPLERS].text.count);
        out_text(out, "],\"channels\":[");
        out_bytes(out, g->parts[CHANNELS].text.data, (size_t)g->parts[CHANNELS].text.count);
        out_text(out, "]}]");
    }
    if (g->bytes[VERTICES] || g->bytes[KEYS]) put_views(g, out);
    out_text(out, "}");
    for (int64_t n = out->bytes; n % 4; n++) out_text(out, " "); /* chunks end at a multiple of 4 */
}

/* ---- the data, in the order in which their accessors were made */

static void put_vec3s(export_out *out, const vec3 *v, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        out_float(out, v[i].x), out_float(out, v[i].y), out_float(out, v[i].z);
}

static void put_quat(export_out *out, quat q) {
    out_float(out, q.x), out_float(out, q.y), out_float(out, q.z), out_float(out, q.w);
}

static void put_geometry(const glb *g, export_out *out) {
    const export_scene *s = g->scene;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->shape_count + MARK_KINDS; i++) {
            const tessellation *t = i < s->shape_count ? &s->shapes[i].drawn : &g->marks[i - s->shape_count];
            if (g->accessors[i] < 0) continue;
            if (pass == 0) {
                put_vec3s(out, t->points.data, t->points.count);
                put_vec3s(out, t->normals.data, t->normals.count);
            } else {
                for (int64_t k = 0; k < t->triangles.count; k++)
                    out_word(out, (uint32_t)t->triangles.data[k]);
            }
        }
}

static abut_status put_tracks(const glb *g, export_out *out, abut_error *error) {
    export_scene *s = g->scene;
    bool timed = false;
    for (int i = 0; i < s->body_count; i++) {
        if (!s->bodies[i].moves) continue;
        const pose *p = export_track(s, i, error);
        if (!p) return error->status;
        for (int64_t f = 0; f < s->frame_count && !timed; f++) out_float(out, s->times[f] - s->times[0]);
        timed = true;
        for (int64_t f = 0; f < s->frame_count; f++) put_vec3s(out, &p[f].position, 1);
        for (int64_t f = 0; f < s->frame_count; f++) put_quat(out, p[f].rotation);
        if (out_status(out, error) != ABUT_OK) return error->status;
    }
    return ABUT_OK;
}

static abut_status put_slots(const glb *g, export_out *out, abut_error *error) {
    export_scene *s = g->scene;
    for (int i = 0; i < s->slots.count; i++) {
        int64_t count = s->slots.data[i].keys;
        const export_key *k = export_slot_keys(s, i, error);
        if (!k) return error->status;
        for (int64_t n = 0; n < count; n++) out_float(out, s->times[k[n].frame] - s->times[0]);
        for (int64_t n = 0; n < count; n++) put_vec3s(out, &k[n].mark.at.position, 1);
        for (int64_t n = 0; n < count; n++) put_quat(out, k[n].mark.at.rotation);
        for (int64_t n = 0; n < count; n++) put_vec3s(out, &k[n].mark.scale, 1);
        if (out_status(out, error) != ABUT_OK) return error->status;
    }
    return ABUT_OK;
}

static abut_status put_data(const glb *g, export_out *out, abut_error *error) {
    put_geometry(g, out);
    abut_status status = put_tracks(g, out, error);
    return status == ABUT_OK ? put_slots(g, out, error) : status;
}

/* ---- all of it */

/* Keys are floats, and must ascend. */
static abut_status check_times(const export_scene *s, abut_error *error) {
    for (int64_t f = 1; f < s->frame_count; f++)
        if ((float)(s->times[f] - s->times[0]) <= (float)(s->times[f - 1] - s->times[0]))
            return fail(error, ABUT_INVALID,
                        "frames %lld and %lld are too close in time for the single precision of glTF; take "
                        "fewer with --every, or a shorter range",
                        (long long)s->frames[f - 1], (long long)s->frames[f]);
    return ABUT_OK;
}

static abut_status describe(glb *g, export_out *json, abut_error *error) {
    export_scene *s = g->scene;
    bool used[MARK_KINDS] = {false};
    for (int64_t i = 0; i < s->slots.count; i++) used[s->slots.data[i].kind] = true;
    for (int i = 0; i < s->shape_count; i++) g->accessors[i] = add_triangles(g, &s->shapes[i].drawn);
    for (int k = 0; k < MARK_KINDS; k++) {
        abut_status status = used[k] ? mark_mesh(s->context, (mark_kind)k, &g->marks[k], error) : ABUT_OK;
        if (status != ABUT_OK) return status;
        g->accessors[s->shape_count + k] = add_triangles(g, &g->marks[k]);
    }
    abut_status status = ABUT_OK;
    add_nodes(g);
    put_json(g, json);
    for (int p = 0; p < PARTS; p++) g->out_of_memory |= g->parts[p].reason != 0;
    if (status == ABUT_OK && (g->out_of_memory || json->reason)) status = fail_memory(error);
    return status;
}

static abut_status write_file(const glb *g, const export_out *json, const char *path,
                              abut_export_report *report, abut_error *error) {
    int64_t data = g->bytes[VERTICES] + g->bytes[INDICES] + g->bytes[KEYS];
    int64_t total = 12 + 8 + json->bytes + (data ? 8 + data : 0);
    if (total > UINT32_MAX)
        return fail(
            error, ABUT_INVALID,
            "the file would have %.1f GiB, and glb holds 4; take fewer frames with --every, or a shorter "
            "range with --begin and --end",
            (double)total / (1 << 30));
    export_out out;
    abut_status status = out_open(g->scene->context, path, &out, error);
    if (status != ABUT_OK) return status;
    out_text(&out, "glTF");
    out_word(&out, 2), out_word(&out, (uint32_t)total);
    out_word(&out, (uint32_t)json->bytes), out_text(&out, "JSON");
    out_bytes(&out, json->text.data, (size_t)json->text.count);
    if (data) {
        out_word(&out, (uint32_t)data), out_bytes(&out, "BIN\0", 4);
        status = put_data(g, &out, error);
    }
    report->files = 1, report->bytes = out.bytes;
    if (status == ABUT_OK && out.bytes != total && !out.reason)
        status = fail(error, ABUT_INVALID, "the recording changed while it was exported; is a run going on?");
    if (status == ABUT_OK) return out_close(&out, error);
    out_discard(&out);
    return status;
}

abut_status export_glb(export_scene *s, const char *path, abut_export_report *report, abut_error *error) {
    glb g = {.scene = s};
    export_out json;
    out_open_memory(s->context, &json);
    for (int p = 0; p < PARTS; p++) out_open_memory(s->context, &g.parts[p]);
    size_t meshes = (size_t)s->shape_count + MARK_KINDS;
    g.accessors = mem_calloc(s->context, meshes, sizeof *g.accessors);
    abut_status status = g.accessors ? check_times(s, error) : fail_memory(error);
    if (status == ABUT_OK) status = describe(&g, &json, error);
    if (status == ABUT_OK) status = write_file(&g, &json, path, report, error);
    for (int p = 0; p < PARTS; p++) out_discard(&g.parts[p]);
    for (int k = 0; k < MARK_KINDS; k++) tessellation_free(s->context, &g.marks[k]);
    out_discard(&json);
    map64_free(s->context, &g.mesh_of);
    map64_free(s->context, &g.material_of);
    mem_free(s->context, g.accessors, meshes, sizeof *g.accessors);
    return status;
}
