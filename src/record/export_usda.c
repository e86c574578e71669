/* USD, ASCII: z up, metres; a prim a body with its place and turn sampled at the frames; marks of contacts as
 * prims that appear and vanish.
 *
 *   /World/Bodies/NAME     Xform, time samples    shape -> /Geometry/gN by reference
 *   /World/Contacts/...    Xform, time samples    shape -> /Geometry/area, line, point, force
 *   /World/Camera, /World/Lights
 *
 * A time code is a frame: timeCodesPerSecond is the frame rate, and time begins at 0.  Between samples USD
 * interpolates; a mark jumps, so it has its old value again just before each new one. */
#include "record/export_scene.h"

#include <stdio.h>

/* How long before a jump the old value holds, in frames. */
static const double just_before = 1e-3;

typedef struct usda {
    export_scene *scene;
    export_out out;
} usda;

/* ---- words */

/* Quotes and backslashes are escaped; other bytes below a blank become one, for USD knows no \u. */
static void put_string(export_out *out, const char *text) {
    out_text(out, "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\') out_text(out, "\\");
        out_bytes(out, (unsigned char)*p < 0x20 || *p == 0x7F ? " " : p, 1);
    }
    out_text(out, "\"");
}

/* Names of prims are identifiers.  A body's name that is one, and does not look like ours, is kept; another
 * becomes _NUMBER_ and its letters: no two are the same. */
static void put_identifier(export_out *out, const char *name, int number) {
    bool fine = name[0] != 0 && !(name[0] >= '0' && name[0] <= '9') &&
                !(name[0] == '_' && name[1] >= '0' && name[1] <= '9') && strlen(name) < 200;
    for (const char *p = name; *p && fine; p++)
        fine = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_';
    if (fine) {
        out_text(out, name);
        return;
    }
    out_format(out, "_%d_", number);
    int length = 0;
    for (const char *p = name; *p && length < 60; p++, length++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        out_bytes(out, letter ? p : "_", 1);
    }
}

static void put_vector(export_out *out, vec3 v) {
    out_text(out, "(");
    out_vec3(out, v, ", ");
    out_text(out, ")");
}

static void put_quaternion(export_out *out, quat q) {
    out_text(out, "(");
    out_numbers(out, (double[]){q.w, q.x, q.y, q.z}, 4, ", ");
    out_text(out, ")");
}

static void put_vectors(export_out *out, const char *before, const vec3 *v, int64_t count,
                        const char *after) {
    out_text(out, before);
    for (int64_t i = 0; i < count; i++) {
        if (i) out_text(out, ", ");
        put_vector(out, v[i]);
    }
    out_text(out, after);
}

/* Time codes lie on frames, also where the times are a rounding error off. */
static double time_code(const export_scene *s, int64_t frame) {
    double code = (s->times[frame] - s->times[0]) * s->rate, whole = floor(code + 0.5);
    return fabs(code - whole) < 1e-6 ? whole : code;
}

/* ---- geometry, drawn once and referred to */

static void put_mesh(export_out *out, const char *name, int number, const tessellation *t, bool both_sides) {
    out_text(out, "    def Mesh \"");
    out_text(out, name);
    if (number >= 0) out_format(out, "%d", number);
    out_text(out, "\"\n    {\n        uniform token subdivisionScheme = \"none\"\n");
    if (both_sides) out_text(out, "        uniform bool doubleSided = 1\n");
    box b = box_empty();
    for (int64_t i = 0; i < t->points.count; i++) b = box_add_point(b, t->points.data[i]);
    put_vectors(out, "        float3[] extent = [", (vec3[]){b.lower, b.upper}, 2, "]\n");
    out_text(out, "        int[] faceVertexCounts = [");
    for (int64_t i = 0; i < t->triangles.count / 3; i++) out_text(out, i ? ", 3" : "3");
    out_text(out, "]\n        int[] faceVertexIndices = [");
    for (int64_t i = 0; i < t->triangles.count; i++) out_format(out, i ? ", %d" : "%d", t->triangles.data[i]);
    out_text(out, "]\n");
    put_vectors(out, "        point3f[] points = [", t->points.data, t->points.count, "]\n");
    put_vectors(out, "        normal3f[] normals = [", t->normals.data, t->normals.count,
                "] (\n            interpolation = \"vertex\"\n        )\n");
    out_text(out, "    }\n");
}

static abut_status put_geometry(usda *u, abut_error *error) {
    export_scene *s = u->scene;
    export_out *out = &u->out;
    out_text(out, "class \"Geometry\"\n{\n");
    for (int i = 0; i < s->shape_count; i++)
        if (s->shapes[i].drawn.triangles.count)
            put_mesh(out, "g", i, &s->shapes[i].drawn, s->shapes[i].kind == ABUT_SHAPE_SURFACE);
    for (int k = 0; k < MARK_KINDS; k++) {
        tessellation t = {0};
        abut_status status = mark_mesh(s->context, (mark_kind)k, &t, error);
        if (status == ABUT_OK) put_mesh(out, mark_name((mark_kind)k), -1, &t, k == MARK_AREA);
        tessellation_free(s->context, &t);
        if (status != ABUT_OK) return status;
    }
    out_text(out, "}\n\n");
    return ABUT_OK;
}

/* ---- materials: one a body, one a kind of mark */

static double linear(double c) { return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4); }

static vec3 linear_color(const double c[3]) { return vec3_make(linear(c[0]), linear(c[1]), linear(c[2])); }

static void put_material(export_out *out, const char *path, const char *name, int number, vec3 color,
                         double opacity) {
    char text[64];
    if (number >= 0)
        snprintf(text, sizeof text, "%s%d", name, number);
    else
        snprintf(text, sizeof text, "%s", name);
    out_format(out,
               "        def Material \"%s\"\n        {\n            token outputs:surface.connect = "
               "<%s/%s/shader.outputs:surface>\n            def Shader \"shader\"\n            {\n"
               "                uniform token info:id = \"UsdPreviewSurface\"\n"
               "                color3f inputs:diffuseColor = ",
               text, path, text);
    put_vector(out, color);
    out_text(out, "\n                float inputs:opacity = ");
    out_number(out, opacity);
    out_text(out,
             "\n                float inputs:roughness = 0.65\n                float inputs:metallic = 0\n"
             "                token outputs:surface\n            }\n        }\n");
}

static void put_materials(usda *u) {
    export_out *out = &u->out;
    out_text(out, "    def Scope \"Materials\"\n    {\n");
    for (int i = 0; i < u->scene->body_count; i++) {
        const double *c = u->scene->bodies[i].color;
        put_material(out, "/World/Materials", "body", i, linear_color(c), c[3]);
    }
    for (int k = 0; k < MARK_KINDS; k++) {
        vec3 c = mark_color((mark_kind)k);
        put_material(out, "/World/Materials", mark_name((mark_kind)k), -1,
                     linear_color((double[]){c.x, c.y, c.z}), 1);
    }
    out_text(out, "    }\n\n");
}

/* The child that is drawn: a reference to the geometry, with the colour on it. */
static void put_drawn(export_out *out, const char *geometry, int number, const char *material, int which,
                      vec3 color) {
    char of_geometry[32] = "", of_material[32] = "";
    if (number >= 0) snprintf(of_geometry, sizeof of_geometry, "%d", number);
    if (which >= 0) snprintf(of_material, sizeof of_material, "%d", which);
    out_format(out,
               "            def Mesh \"shape\" (\n                prepend references = </Geometry/%s%s>\n"
               "                prepend apiSchemas = [\"MaterialBindingAPI\"]\n            )\n            {\n"
               "                rel material:binding = </World/Materials/%s%s>\n"
               "                color3f[] primvars:displayColor = [",
               geometry, of_geometry, material, of_material);
    put_vector(out, color);
    out_text(out, "]\n            }\n");
}

/* ---- bodies */

static abut_status put_body(usda *u, int i, abut_error *error) {
    export_scene *s = u->scene;
    export_out *out = &u->out;
    const export_body *b = &s->bodies[i];
    out_text(out, "        def Xform \"");
    put_identifier(out, b->name, i);
    out_text(out, "\"\n        {\n            custom string abut:name = ");
    put_string(out, b->name);
    const pose *p = b->moves ? export_track(s, i, error) : &b->start;
    if (!p) return error->status;
    if (b->moves) {
        out_text(out, "\n            double3 xformOp:translate.timeSamples = {\n");
        for (int64_t f = 0; f < s->frame_count; f++) {
            out_text(out, "                ");
            out_number(out, time_code(s, f));
            out_text(out, ": ");
            put_vector(out, p[f].position);
            out_text(out, ",\n");
        }
        out_text(out, "            }\n            quatd xformOp:orient.timeSamples = {\n");
        for (int64_t f = 0; f < s->frame_count; f++) {
            out_text(out, "                ");
            out_number(out, time_code(s, f));
            out_text(out, ": ");
            put_quaternion(out, p[f].rotation);
            out_text(out, ",\n");
        }
        out_text(out, "            }\n");
    } else {
        out_text(out, "\n            double3 xformOp:translate = ");
        put_vector(out, p->position);
        out_text(out, "\n            quatd xformOp:orient = ");
        put_quaternion(out, p->rotation);
        out_text(out, "\n");
    }
    out_text(out, "            uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n");
    if (s->shapes[b->shape].drawn.triangles.count)
        put_drawn(out, "g", b->shape, "body", i, linear_color(b->color));
    out_text(out, "        }\n");
    return out_status(out, error);
}

/* ---- marks */

typedef enum sampled { PLACE, TURN, SCALE, VISIBLE } sampled;

static bool is_hidden(const export_mark *m) { return m->scale.x == 0 && m->scale.y == 0 && m->scale.z == 0; }

/* USD would draw a hidden mark's scale of zero as a singular matrix; it is invisible and of unit size. */
static void put_value(export_out *out, const export_mark *m, sampled what) {
    switch (what) {
    case PLACE: put_vector(out, m->at.position); break;
    case TURN: put_quaternion(out, m->at.rotation); break;
    case SCALE: put_vector(out, is_hidden(m) ? vec3_make(1, 1, 1) : m->scale); break;
    case VISIBLE: out_text(out, is_hidden(m) ? "\"invisible\"" : "\"inherited\""); break;
    }
}

static void put_samples(usda *u, const export_key *keys, int64_t count, sampled what) {
    static const char *const names[] = {"double3 xformOp:translate", "quatd xformOp:orient",
                                        "double3 xformOp:scale", "token visibility"};
    export_out *out = &u->out;
    out_format(out, "            %s.timeSamples = {\n", names[what]);
    for (int64_t k = 0; k < count; k++) {
        double code = time_code(u->scene, keys[k].frame);
        if (k > 0 && what != VISIBLE) {
            out_text(out, "                ");
            out_number(out, code - just_before);
            out_text(out, ": ");
            put_value(out, &keys[k - 1].mark, what);
            out_text(out, ",\n");
        }
        out_text(out, "                ");
        out_number(out, code);
        out_text(out, ": ");
        put_value(out, &keys[k].mark, what);
        out_text(out, ",\n");
    }
    out_text(out, "            }\n");
}

static abut_status put_slot(usda *u, int i, abut_error *error) {
    export_scene *s = u->scene;
    export_out *out = &u->out;
    export_slot slot = s->slots.data[i];
    const export_key *keys = export_slot_keys(s, i, error);
    if (!keys) return error->status;
    out_format(out, "        def Xform \"%s_%d_%d_%d\"\n        {\n", mark_name(slot.kind), slot.body[0],
               slot.body[1], slot.number);
    out_text(out, "            custom string[] abut:bodies = [");
    put_string(out, s->bodies[slot.body[0]].name);
    out_text(out, ", ");
    put_string(out, s->bodies[slot.body[1]].name);
    out_text(out, "]\n");
    for (int what = PLACE; what <= VISIBLE; what++) put_samples(u, keys, slot.keys, (sampled)what);
    out_text(out, "            uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\", "
                  "\"xformOp:scale\"]\n");
    vec3 c = mark_color(slot.kind);
    put_drawn(out, mark_name(slot.kind), -1, mark_name(slot.kind), -1,
              linear_color((double[]){c.x, c.y, c.z}));
    out_text(out, "        }\n");
    return out_status(out, error);
}

/* ---- camera and lights */

static void put_pose(export_out *out, pose p) {
    out_text(out, "        double3 xformOp:translate = ");
    put_vector(out, p.position);
    out_text(out, "\n        quatd xformOp:orient = ");
    put_quaternion(out, p.rotation);
    out_text(out, "\n        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n");
}

/* Apertures and focal length in tenths of the scene's unit: a film 24 mm high. */
static void put_camera(usda *u) {
    const abut_camera *c = &u->scene->camera;
    export_out *out = &u->out;
    double half = c->field_of_view * 3.141592653589793 / 360, far = vec3_distance(c->position, c->target);
    out_text(out, "    def Camera \"Camera\"\n    {\n        float verticalAperture = 24\n"
                  "        float horizontalAperture = 32\n        float focalLength = ");
    out_number(out, 12 * cos(half) / sin(half));
    out_text(out, "\n        float2 clippingRange = (");
    out_numbers(out, (double[]){0.01 * far, 1000 * far}, 2, ", ");
    out_text(out, ")\n");
    put_pose(out, export_camera_pose(c));
    out_text(out, "    }\n");
}

/* A ball of light of radius r and intensity L (nits) gives pi L r^2 / d^2 lux: L is such that what the camera
 * looks at gets pi times what the scene asks for. */
static void put_lights(usda *u) {
    const export_scene *s = u->scene;
    export_out *out = &u->out;
    for (int i = 0; i < s->light_used; i++) {
        const abut_light *l = &s->lights[i];
        double far = vec3_distance(l->position, s->camera.target), radius = 0.05 * far;
        out_format(out, "    def SphereLight \"Light%d\"\n    {\n        color3f inputs:color = ", i);
        put_vector(out, l->color);
        out_text(out, "\n        float inputs:intensity = ");
        out_number(out, radius > 0 ? l->intensity * far * far / (radius * radius) : l->intensity);
        out_text(out, "\n        float inputs:radius = ");
        out_number(out, radius);
        out_text(out, "\n");
        put_pose(out, (pose){l->position, quat_identity()});
        out_text(out, "    }\n");
    }
}

/* ---- all of it */

static void put_head(usda *u) {
    export_scene *s = u->scene;
    export_out *out = &u->out;
    out_text(out, "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = ");
    put_string(out, s->title && s->title[0] ? s->title : "abut");
    out_text(out, "\n    upAxis = \"Z\"\n    metersPerUnit = 1\n    startTimeCode = 0\n    endTimeCode = ");
    out_number(out, time_code(s, s->frame_count - 1));
    out_text(out, "\n    timeCodesPerSecond = ");
    out_number(out, s->rate);
    out_text(out, "\n    framesPerSecond = ");
    out_number(out, s->rate);
    out_text(out, "\n)\n\n");
}

static abut_status put_world(usda *u, abut_error *error) {
    export_scene *s = u->scene;
    export_out *out = &u->out;
    abut_status status = ABUT_OK;
    out_text(out, "def Xform \"World\"\n{\n");
    put_camera(u);
    put_lights(u);
    put_materials(u);
    out_text(out, "    def Xform \"Bodies\"\n    {\n");
    for (int i = 0; i < s->body_count && status == ABUT_OK; i++) status = put_body(u, i, error);
    out_text(out,
             "    }\n\n    def Xform \"Contacts\"\n    {\n        custom double abut:metresPerNewton = ");
    out_number(out, s->metres_per_newton);
    out_text(out, "\n");
    for (int i = 0; i < s->slots.count && status == ABUT_OK; i++) status = put_slot(u, i, error);
    out_text(out, "    }\n}\n");
    return status;
}

abut_status export_usda(export_scene *s, const char *path, abut_export_report *report, abut_error *error) {
    usda u = {.scene = s};
    abut_status status = out_open(s->context, path, &u.out, error);
    if (status != ABUT_OK) return status;
    /* frames a second, exact where they are whole: 59.99999999999999 is 60 */
    if (fabs(s->rate - floor(s->rate + 0.5)) < 1e-6 * s->rate) s->rate = floor(s->rate + 0.5);
    put_head(&u);
    status = put_geometry(&u, error);
    if (status == ABUT_OK) status = put_world(&u, error);
    report->files = 1, report->bytes = u.out.bytes;
    if (status == ABUT_OK) return out_close(&u.out, error);
    out_discard(&u.out);
    return status;
}
