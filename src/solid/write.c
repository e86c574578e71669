/* Writing meshes: OBJ and OFF as text with numbers that read back as the same doubles, PLY as binary little
 * endian doubles, STL as binary (float32: that is the format's precision). */
#include "solid/polygon.h"
#include "solid/read.h"

#include <float.h>
#include <stdio.h>

typedef struct writer {
    const abut_context *context;
    const abut_mesh *mesh;
    ARRAY(char) bytes;
} writer;

static bool put(writer *w, const void *bytes, size_t size) {
    if (!array_reserve(w->context, &w->bytes, w->bytes.count + (int64_t)size)) return false;
    memcpy(w->bytes.data + w->bytes.count, bytes, size);
    w->bytes.count += (int64_t)size;
    return true;
}

static bool put_text(writer *w, const char *text) { return put(w, text, strlen(text)); }

static bool put_little(writer *w, uint64_t word, int size) {
    unsigned char b[8];
    for (int i = 0; i < size; i++) b[i] = (unsigned char)(word >> 8 * i);
    return put(w, b, (size_t)size);
}

static bool put_double(writer *w, double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return put_little(w, word, 8);
}

static bool put_float(writer *w, float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return put_little(w, word, 4);
}

static int64_t corners_of(const abut_mesh *mesh, int64_t face) {
    return mesh->face_start[face + 1] - mesh->face_start[face];
}

/* `before x y z` for each point */
static bool put_points(writer *w, const char *before) {
    bool fine = true;
    for (int64_t i = 0; i < w->mesh->point_count && fine; i++) {
        char x[NUMBER_TEXT], y[NUMBER_TEXT], z[NUMBER_TEXT], line[4 * NUMBER_TEXT];
        vec3 p = w->mesh->points[i];
        number_print(p.x, x), number_print(p.y, y), number_print(p.z, z);
        snprintf(line, sizeof line, "%s%s %s %s\n", before, x, y, z);
        fine = put_text(w, line);
    }
    return fine;
}

/* The corners of face f, each with a blank before it, and the end of the line. */
static bool put_corners(writer *w, int64_t face, int base) {
    bool fine = true;
    for (int64_t i = w->mesh->face_start[face]; i < w->mesh->face_start[face + 1] && fine; i++) {
        char number[16];
        snprintf(number, sizeof number, " %lld", (long long)w->mesh->corners[i] + base);
        fine = put_text(w, number);
    }
    return fine && put_text(w, "\n");
}

static bool write_obj(writer *w) {
    bool fine = put_points(w, "v ");
    for (int64_t f = 0; f < w->mesh->face_count && fine; f++) fine = put_text(w, "f") && put_corners(w, f, 1);
    return fine;
}

static bool write_off(writer *w) {
    char text[96];
    snprintf(text, sizeof text, "OFF\n%lld %lld 0\n", (long long)w->mesh->point_count,
             (long long)w->mesh->face_count);
    bool fine = put_text(w, text) && put_points(w, "");
    for (int64_t f = 0; f < w->mesh->face_count && fine; f++) {
        snprintf(text, sizeof text, "%lld", (long long)corners_of(w->mesh, f));
        fine = put_text(w, text) && put_corners(w, f, 0);
    }
    return fine;
}

static bool write_ply(writer *w) {
    const abut_mesh *mesh = w->mesh;
    int64_t largest = 0;
    for (int64_t f = 0; f < mesh->face_count; f++)
        if (corners_of(mesh, f) > largest) largest = corners_of(mesh, f);
    char text[320];
    snprintf(text, sizeof text,
             "ply\nformat binary_little_endian 1.0\nelement vertex %lld\nproperty double x\n"
             "property double y\nproperty double z\nelement face %lld\n"
             "property list %s int vertex_indices\nend_header\n",
             (long long)mesh->point_count, (long long)mesh->face_count, largest < 256 ? "uchar" : "int");
    bool fine = put_text(w, text);
    for (int64_t i = 0; i < mesh->point_count && fine; i++) {
        vec3 p = mesh->points[i];
        fine = put_double(w, p.x) && put_double(w, p.y) && put_double(w, p.z);
    }
    for (int64_t f = 0; f < mesh->face_count && fine; f++) {
        fine = put_little(w, (uint64_t)corners_of(mesh, f), largest < 256 ? 1 : 4);
        for (int64_t i = mesh->face_start[f]; i < mesh->face_start[f + 1] && fine; i++)
            fine = put_little(w, (uint64_t)mesh->corners[i], 4);
    }
    return fine;
}

/* The normal is that of the rounded corners; zero where they are collinear. */
static bool put_triangle(writer *w, const int corner[3]) {
    vec3 p[3];
    for (int k = 0; k < 3; k++) {
        vec3 q = w->mesh->points[corner[k]];
        p[k] = (vec3){(float)q.x, (float)q.y, (float)q.z};
    }
    vec3 n = vec3_unit(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
    if (!vec3_is_finite(n)) n = vec3_zero();
    bool fine = put_float(w, (float)n.x) && put_float(w, (float)n.y) && put_float(w, (float)n.z);
    for (int k = 0; k < 3 && fine; k++)
        fine = put_float(w, (float)p[k].x) && put_float(w, (float)p[k].y) && put_float(w, (float)p[k].z);
    return fine && put_little(w, 0, 2);
}

/* Cuts face f into triangles and writes them. */
static bool put_face_triangles(writer *w, int64_t face) {
    const int *corners = w->mesh->corners + w->mesh->face_start[face];
    int count = (int)corners_of(w->mesh, face);
    if (count == 3) return put_triangle(w, corners);
    size_t n = (size_t)count;
    int *scratch = mem_alloc(w->context, 5 * n, sizeof *scratch);
    if (!scratch) return false;
    int(*triangles)[3] = (int(*)[3])(scratch + 2 * n);
    polygon_triangulate(w->mesh->points, corners, count, scratch, scratch + n, triangles);
    bool fine = true;
    for (int i = 0; i < count - 2 && fine; i++) {
        int triangle[3] = {corners[triangles[i][0]], corners[triangles[i][1]], corners[triangles[i][2]]};
        fine = put_triangle(w, triangle);
    }
    mem_free(w->context, scratch, 5 * n, sizeof *scratch);
    return fine;
}

static abut_status write_stl(writer *w, const char *path, abut_error *error) {
    const abut_mesh *mesh = w->mesh;
    int64_t triangles = 0;
    for (int64_t i = 0; i < mesh->point_count; i++)
        if (!(vec3_max_abs(mesh->points[i]) <= FLT_MAX))
            return fail_at(error, ABUT_INVALID, path, 0,
                           "vertex %lld is beyond the float32 numbers of STL; write OBJ or PLY",
                           (long long)i);
    for (int64_t f = 0; f < mesh->face_count; f++) triangles += corners_of(mesh, f) - 2;
    if (triangles > UINT32_MAX)
        return fail_at(error, ABUT_INVALID, path, 0,
                       "%lld triangles are more than STL can count; write OBJ or PLY", (long long)triangles);
    static const char header[80] = "abut binary STL"; /* must not begin with "solid" */
    bool fine = array_reserve(w->context, &w->bytes, 84 + 50 * triangles) && put(w, header, sizeof header) &&
                put_little(w, (uint64_t)triangles, 4);
    for (int64_t f = 0; f < mesh->face_count && fine; f++) fine = put_face_triangles(w, f);
    return fine ? ABUT_OK : fail_memory(error);
}

/* A caller may have made the mesh: its numbers are checked before they become addresses. */
static abut_status check_mesh(const abut_mesh *mesh, const char *path, abut_error *error) {
    for (int64_t f = 0; f < mesh->face_count; f++)
        if (mesh->face_start[f] < 0 || corners_of(mesh, f) < 3 ||
            mesh->face_start[f + 1] > mesh->corner_count)
            return fail_at(error, ABUT_INVALID, path, 0,
                           "face %lld of the mesh has fewer than 3 corners; a face needs at least 3",
                           (long long)f);
    for (int64_t i = 0; i < mesh->corner_count; i++)
        if (mesh->corners[i] < 0 || mesh->corners[i] >= mesh->point_count)
            return fail_at(error, ABUT_INVALID, path, 0, "corner %lld of the mesh refers to no vertex (%d)",
                           (long long)i, mesh->corners[i]);
    for (int64_t i = 0; i < mesh->point_count; i++)
        if (!vec3_is_finite(mesh->points[i]))
            return fail_at(error, ABUT_INVALID, path, 0, "vertex %lld of the mesh is not finite",
                           (long long)i);
    return ABUT_OK;
}

abut_status abut_mesh_save(const abut_context *context, const abut_mesh *mesh, const char *path,
                           abut_error *error) {
    writer w = {.context = context, .mesh = mesh};
    abut_status status = check_mesh(mesh, path, error);
    if (status != ABUT_OK) return status;
    switch (mesh_format_of_name(path)) {
    case ABUT_FORMAT_OBJ: status = write_obj(&w) ? ABUT_OK : fail_memory(error); break;
    case ABUT_FORMAT_OFF: status = write_off(&w) ? ABUT_OK : fail_memory(error); break;
    case ABUT_FORMAT_PLY: status = write_ply(&w) ? ABUT_OK : fail_memory(error); break;
    case ABUT_FORMAT_STL: status = write_stl(&w, path, error); break;
    default:
        status = fail_at(error, ABUT_INVALID, path, 0,
                         "the name tells no format to write; end it in .obj, .stl, .ply or .off");
    }
    if (status == ABUT_OK)
        status = file_write(context, path, w.bytes.data ? w.bytes.data : "", (size_t)w.bytes.count, error);
    array_free(context, &w.bytes);
    return status;
}
