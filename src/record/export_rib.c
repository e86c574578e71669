/* RenderMan interface bytestream (Kry 2000, section 5.4): one file a frame, with the view and the lights of
 * the scene.  Balls, capsules and cylinders are quadrics, bicubic surfaces are patches, solids are polygons;
 * the renderer makes of them what it likes.
 *
 * A camera of RenderMan looks along +z with x to the right and y up, which is left-handed; the matrix that
 * takes our right-handed world there turns the handedness over, and with it what `outside` means.  Points are
 * rows: p' = p M. */
#include "record/export_scene.h"

#include <stdio.h>

/* ---- names of files */

typedef struct pattern {
    int before, after; /* characters of the path before the number, and where the rest begins */
    int digits;
    bool dot; /* a dot goes before the number */
} pattern;

/* The last run of #, or %d or %0Nd, in the name (not in its folders); otherwise before the last dot. */
static pattern find_pattern(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    int length = (int)strlen(path);
    for (const char *p = path + length; p-- > name;) {
        if (*p == '#') {
            const char *first = p;
            while (first > name && first[-1] == '#') first--;
            return (pattern){(int)(first - path), (int)(p + 1 - path), (int)(p + 1 - first), false};
        }
        if (*p != '%') continue;
        int digits = 0;
        const char *q = p + 1;
        while (*q >= '0' && *q <= '9' && digits < 20) digits = 10 * digits + (*q++ - '0');
        if (*q == 'd' && digits < 20) return (pattern){(int)(p - path), (int)(q + 1 - path), digits, false};
    }
    int at = dot && dot > name ? (int)(dot - path) : length;
    return (pattern){at, at, 4, true};
}

static void file_name(const char *path, const pattern *p, int64_t number, char *out, size_t size) {
    snprintf(out, size, "%.*s%s%0*lld%s", p->before, path, p->dot ? "." : "", p->digits, (long long)number,
             path + p->after);
}

/* ---- numbers */

static void put_string(export_out *out, const char *text) {
    out_text(out, "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\') out_text(out, "\\");
        out_bytes(out, *p == '\n' || *p == '\r' ? " " : p, 1);
    }
    out_text(out, "\"");
}

static void put_transform(export_out *out, mat3 m, vec3 at) {
    const double rows[] = {m.cx.x, m.cx.y, m.cx.z, 0, m.cy.x, m.cy.y, m.cy.z, 0,
                           m.cz.x, m.cz.y, m.cz.z, 0, at.x,   at.y,   at.z,   1};
    out_text(out, "ConcatTransform [");
    out_numbers(out, rows, 16, " ");
    out_text(out, "]\n");
}

static void put_color(export_out *out, const double color[4]) {
    out_text(out, "Color [");
    out_numbers(out, color, 3, " ");
    out_text(out, "]\n");
    if (color[3] >= 1) return;
    out_text(out, "Opacity [");
    out_numbers(out, (double[]){color[3], color[3], color[3]}, 3, " ");
    out_text(out, "]\n");
}

/* A command with numbers. */
static void put_command(export_out *out, const char *command, const double *numbers, int count) {
    out_text(out, command);
    for (int i = 0; i < count; i++) {
        out_text(out, " ");
        out_number(out, numbers[i]);
    }
    out_text(out, "\n");
}

/* ---- shapes */

static void put_sphere(export_out *out, double r, double low, double high) {
    put_command(out, "Sphere", (double[]){r, low, high, 360}, 4);
}

static void put_shifted(export_out *out, double z) {
    put_command(out, "TransformBegin\nTranslate 0 0", &z, 1);
}

static void put_cylinder(export_out *out, double r, double half) {
    put_command(out, "Cylinder", (double[]){r, -half, half, 360}, 4);
}

/* The normal of a disk is +z. */
static void put_disk(export_out *out, double z, double r) {
    put_command(out, "Disk", (double[]){z, r, 360}, 3);
}

static void put_points(export_out *out, const char *name, const vec3 *v, int64_t count) {
    out_format(out, " \"%s\" [", name);
    for (int64_t i = 0; i < count; i++) {
        if (i) out_text(out, i % 4 ? " " : "\n");
        out_vec3(out, v[i], " ");
    }
    out_text(out, "]\n");
}

static void put_ones(export_out *out, int64_t count, const char *one) {
    out_text(out, " [");
    for (int64_t i = 0; i < count; i++) out_text(out, i ? " " : ""), out_text(out, one);
    out_text(out, "]");
}

/* One loop of three corners a polygon; with normals where the shape is smooth. */
static void put_polygons(export_out *out, const vec3 *points, int64_t point_count, const vec3 *normals,
                         const int32_t *triangles, int64_t triangle_count) {
    if (triangle_count == 0) return;
    out_text(out, "PointsGeneralPolygons");
    put_ones(out, triangle_count, "1");
    put_ones(out, triangle_count, "3");
    out_text(out, "\n [");
    for (int64_t i = 0; i < 3 * triangle_count; i++)
        out_format(out, i == 0 ? "%d" : i % 24 ? " %d" : "\n%d", triangles[i]);
    out_text(out, "]\n");
    put_points(out, "P", points, point_count);
    if (normals) put_points(out, "N", normals, point_count);
}

/* Bicubic patches: 16 points, the first parameter fastest; with weights where they are not all 1. */
static void put_patches(export_out *out, const double *patches, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const double *p = patches + 64 * i;
        bool rational = false;
        for (int k = 0; k < 16; k++) rational |= p[4 * k + 3] != 1;
        out_format(out, "Patch \"bicubic\" \"%s\" [", rational ? "Pw" : "P");
        for (int k = 0; k < 16; k++) {
            if (k) out_text(out, k % 4 ? "  " : "\n");
            out_numbers(out, p + 4 * k, rational ? 4 : 3, " ");
        }
        out_text(out, "]\n");
    }
}

static void put_shape(export_out *out, const export_shape *s) {
    double r = s->analytic.radius, half = s->analytic.length / 2;
    const abut_recorded_geometry *g = &s->recorded;
    switch (s->kind) {
    case ABUT_SHAPE_CAVITY:
        out_text(out, "ReverseOrientation\n");
        put_sphere(out, r, -r, r);
        break;
    case ABUT_SHAPE_SPHERE: put_sphere(out, r, -r, r); break;
    case ABUT_SHAPE_ELLIPSOID:
        put_command(out, "Scale", (double[]){s->analytic.axes.x, s->analytic.axes.y, s->analytic.axes.z}, 3);
        put_sphere(out, 1, -1, 1);
        break;
    case ABUT_SHAPE_CAPSULE:
        put_cylinder(out, r, half);
        put_shifted(out, half), put_sphere(out, r, 0, r), out_text(out, "TransformEnd\n");
        put_shifted(out, -half), put_sphere(out, r, -r, 0), out_text(out, "TransformEnd\n");
        break;
    case ABUT_SHAPE_CYLINDER:
        put_cylinder(out, r, half);
        put_disk(out, half, r);
        out_text(out, "ReverseOrientation\n");
        put_disk(out, -half, r);
        break;
    case ABUT_SHAPE_SOLID:
        put_polygons(out, g->points, g->point_count, NULL, g->triangles, g->triangle_count);
        break;
    case ABUT_SHAPE_SURFACE:
        if (g->patch_count)
            put_patches(out, g->patches, g->patch_count);
        else
            put_polygons(out, s->drawn.points.data, s->drawn.points.count, s->drawn.normals.data,
                         s->drawn.triangles.data, s->drawn.triangles.count / 3);
        break;
    case ABUT_SHAPE_HALFSPACE:
        put_polygons(out, s->drawn.points.data, s->drawn.points.count, NULL, s->drawn.triangles.data,
                     s->drawn.triangles.count / 3);
        break;
    case ABUT_SHAPE_NONE: break;
    }
}

/* ---- marks of contacts */

static bool put_mark(void *user, mark_kind kind, export_mark mark) {
    export_out *out = user;
    vec3 c = mark_color(kind);
    out_text(out, "AttributeBegin\n");
    put_color(out, (double[]){c.x, c.y, c.z, 1});
    put_transform(out, quat_matrix(mark.at.rotation), mark.at.position);
    put_command(out, "Scale", (double[]){mark.scale.x, mark.scale.y, mark.scale.z}, 3);
    switch (kind) {
    case MARK_AREA: out_text(out, "Sides 2\nPolygon \"P\" [0 0 0 1 0 0 0 1 0]\n"); break;
    case MARK_LINE: out_text(out, "Cylinder 1 0 1 360\n"); break;
    case MARK_FORCE:
        out_text(out,
                 "Sides 2\nCylinder 0.4 0 0.75 360\nTranslate 0 0 0.75\nCone 0.25 1 360\nDisk 0 1 360\n");
        break;
    case MARK_POINT:
    case MARK_KINDS: out_text(out, "Sphere 1 -1 1 360\n"); break;
    }
    out_text(out, "AttributeEnd\n");
    return true;
}

static abut_status put_contacts(const export_scene *s, int64_t frame, export_out *out, abut_error *error) {
    const abut_contact *contacts;
    if (s->without_contacts) return ABUT_OK;
    int count = abut_recording_contacts(s->recording, s->frames[frame], &contacts, error);
    if (count < 0) return error->status;
    for (int i = 0; i < count; i++)
        if (!mark_contact(s, &contacts[i], put_mark, out)) return fail_memory(error);
    return ABUT_OK;
}

/* ---- a frame */

static void put_view(const export_scene *s, export_out *out) {
    pose camera = export_camera_pose(&s->camera);
    mat3 m = quat_matrix(camera.rotation); /* columns: right, up, back */
    vec3 forward = vec3_neg(m.cz), eye = camera.position;
    mat3 to_camera = mat3_transpose((mat3){m.cx, m.cy, forward});
    vec3 shift = vec3_make(-vec3_dot(m.cx, eye), -vec3_dot(m.cy, eye), -vec3_dot(forward, eye));
    out_text(out, "Format 800 600 1\nPixelSamples 4 4\nShadingRate 1\nProjection \"perspective\" \"fov\" [");
    out_number(out, s->camera.field_of_view);
    out_text(out, "]\nSides 1\n");
    put_transform(out, to_camera, shift);
}

/* The light of a point falls off with the square of the distance: its intensity is such that what the camera
 * looks at gets what the scene asks for. */
static void put_lights(const export_scene *s, export_out *out) {
    out_text(out, "LightSource \"ambientlight\" 1 \"intensity\" [0.25]\n");
    for (int i = 0; i < s->light_used; i++) {
        const abut_light *l = &s->lights[i];
        out_format(out, "LightSource \"pointlight\" %d \"intensity\" [", i + 2);
        out_number(out, l->intensity * vec3_length2(vec3_sub(l->position, s->camera.target)));
        out_text(out, "] \"lightcolor\" [");
        out_vec3(out, l->color, " ");
        out_text(out, "] \"from\" [");
        out_vec3(out, l->position, " ");
        out_text(out, "]\n");
    }
}

static void put_body(const export_scene *s, int i, export_out *out) {
    const export_body *b = &s->bodies[i];
    const export_shape *shape = &s->shapes[b->shape];
    pose p = export_pose(b, &s->motions[i]);
    out_text(out, "AttributeBegin\nAttribute \"identifier\" \"name\" [");
    put_string(out, b->name);
    out_text(out, "]\n");
    put_color(out, b->color);
    if (shape->kind == ABUT_SHAPE_SURFACE) out_text(out, "Sides 2\n");
    put_transform(out, quat_matrix(p.rotation), p.position);
    put_shape(out, shape);
    out_text(out, "AttributeEnd\n");
}

static abut_status put_frame(export_scene *s, int64_t f, const char *image, export_out *out,
                             abut_error *error) {
    abut_status status = export_frame_motions(s, f, error);
    if (status != ABUT_OK) return status;
    out_format(out, "##RenderMan RIB-Structure 1.1\n##Creator abut %s\nversion 3.03\n", abut_version());
    out_format(out, "FrameBegin %lld\n# t = ", (long long)s->frames[f]);
    out_number(out, s->times[f]);
    out_text(out, " s\nDisplay ");
    put_string(out, image);
    out_text(out, " \"file\" \"rgba\"\n");
    put_view(s, out);
    out_text(out, "WorldBegin\n");
    put_lights(s, out);
    out_text(out, "Surface \"plastic\" \"Ks\" [0.3]\n");
    for (int i = 0; i < s->body_count; i++) put_body(s, i, out);
    status = put_contacts(s, f, out, error);
    out_text(out, "WorldEnd\nFrameEnd\n");
    return status;
}

/* The picture is called as the file, with .tif. */
static void image_name(const char *file, char *out, size_t size) {
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    snprintf(out, size, "%.*s.tif", (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name)), name);
}

abut_status export_rib(export_scene *s, const char *path, abut_export_report *report, abut_error *error) {
    pattern p = find_pattern(path);
    char file[4096], image[4096 + 8];
    if (strlen(path) + 64 > sizeof file) return fail(error, ABUT_INVALID, "the name of the file is too long");
    abut_status status = ABUT_OK;
    for (int64_t f = 0; f < s->frame_count && status == ABUT_OK; f++) {
        file_name(path, &p, s->frames[f], file, sizeof file);
        image_name(file, image, sizeof image);
        export_out out;
        status = out_open(s->context, file, &out, error);
        if (status != ABUT_OK) break;
        status = put_frame(s, f, image, &out, error);
        report->files++, report->bytes += out.bytes;
        if (status == ABUT_OK)
            status = out_close(&out, error);
        else
            out_discard(&out);
    }
    return status;
}
