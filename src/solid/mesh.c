/* Meshes: polygon soup from bytes or a file.  Finds the format, calls its reader, checks the indices, and
 * gives the arrays their final size. */
#include "solid/read.h"

#include <limits.h>
#include <stdio.h>

abut_mesh *mesh_create(const abut_context *context, int64_t point_count, int64_t face_count,
                       int64_t corner_count, bool lines) {
    abut_mesh *mesh = mem_calloc(context, 1, sizeof *mesh);
    if (!mesh) return NULL;
    mesh->point_count = point_count, mesh->face_count = face_count, mesh->corner_count = corner_count;
    mesh->points = mem_alloc(context, (size_t)point_count, sizeof *mesh->points);
    mesh->corners = mem_alloc(context, (size_t)corner_count, sizeof *mesh->corners);
    mesh->face_start = mem_calloc(context, (size_t)face_count + 1, sizeof *mesh->face_start);
    bool fine = mesh->points && mesh->corners && mesh->face_start;
    if (fine && lines) {
        mesh->point_lines = mem_calloc(context, (size_t)point_count, sizeof *mesh->point_lines);
        mesh->face_lines = mem_calloc(context, (size_t)face_count, sizeof *mesh->face_lines);
        fine = mesh->point_lines && mesh->face_lines;
    }
    if (fine) return mesh;
    abut_mesh_free(context, mesh);
    return NULL;
}

void abut_mesh_free(const abut_context *context, abut_mesh *mesh) {
    if (!mesh) return;
    mem_free(context, mesh->points, (size_t)mesh->point_count, sizeof *mesh->points);
    mem_free(context, mesh->point_lines, (size_t)mesh->point_count, sizeof *mesh->point_lines);
    mem_free(context, mesh->corners, (size_t)mesh->corner_count, sizeof *mesh->corners);
    mem_free(context, mesh->face_start, (size_t)mesh->face_count + 1, sizeof *mesh->face_start);
    mem_free(context, mesh->face_lines, (size_t)mesh->face_count, sizeof *mesh->face_lines);
    mem_free(context, mesh, 1, sizeof *mesh);
}

/* ---- appending */
abut_status reader_add_point(mesh_reader *reader, vec3 point, int line, abut_error *error) {
    if (reader->points.count == INT_MAX)
        return fail_at(error, ABUT_UNSUPPORTED, reader->file, line,
                       "more than %d vertices; split the mesh into parts", INT_MAX);
    if (!array_push(reader->context, &reader->points, point)) return fail_memory(error);
    if (line && !array_push(reader->context, &reader->point_lines, line)) return fail_memory(error);
    return ABUT_OK;
}

abut_status reader_open_face(mesh_reader *reader, int line, abut_error *error) {
    if (!array_push(reader->context, &reader->face_start, reader->corners.count)) return fail_memory(error);
    if (line && !array_push(reader->context, &reader->face_lines, line)) return fail_memory(error);
    return ABUT_OK;
}

/* `index` counts from 0.  Whether the vertex exists is checked at the end, when all are known; what does not
 * fit an int never does. */
abut_status reader_add_corner(mesh_reader *reader, int64_t index, abut_error *error) {
    if (index >= INT_MAX) {
        int64_t lines = reader->face_lines.count;
        return fail_at(error, ABUT_INVALID, reader->file, lines ? reader->face_lines.data[lines - 1] : 0,
                       "face %lld refers to vertex %lld, beyond any vertex; correct the index",
                       (long long)reader->face_start.count - 1 + reader->index_base,
                       (long long)index + reader->index_base);
    }
    return array_push(reader->context, &reader->corners, (int)index) ? ABUT_OK : fail_memory(error);
}

/* ---- the end of reading */
static abut_status refuse_corner(const mesh_reader *reader, int64_t corner, abut_error *error) {
    int64_t face = 0;
    while (face + 1 < reader->face_start.count && reader->face_start.data[face + 1] <= corner) face++;
    int line = face < reader->face_lines.count ? reader->face_lines.data[face] : 0;
    long long first = reader->index_base, count = (long long)reader->points.count;
    if (count == 0)
        return fail_at(error, ABUT_INVALID, reader->file, line,
                       "face %lld refers to a vertex, but the file has none; add the vertices",
                       (long long)face + first);
    return fail_at(error, ABUT_INVALID, reader->file, line,
                   "face %lld refers to vertex %lld, but the file has only the %lld vertices %lld to %lld; "
                   "correct the index or add the vertex",
                   (long long)face + first, (long long)reader->corners.data[corner] + first, count, first,
                   count - 1 + first);
}

static abut_status check_corners(const mesh_reader *reader, abut_error *error) {
    for (int64_t i = 0; i < reader->corners.count; i++)
        if (reader->corners.data[i] < 0 || reader->corners.data[i] >= reader->points.count)
            return refuse_corner(reader, i, error);
    return ABUT_OK;
}

/* Gives a grown array its final size, so that abut_mesh_free knows it. */
static bool trim(const abut_context *context, void **data, int64_t *capacity, int64_t count, size_t size) {
    if (*capacity == count && *data) return true;
    void *trimmed = mem_resize(context, *data, (size_t)*capacity, (size_t)count, size);
    if (!trimmed) return false;
    *data = trimmed, *capacity = count;
    return true;
}
#define TRIM(context, a) trim((context), (void **)&(a)->data, &(a)->capacity, (a)->count, sizeof *(a)->data)

static void reader_free(mesh_reader *reader) {
    array_free(reader->context, &reader->points);
    array_free(reader->context, &reader->point_lines);
    array_free(reader->context, &reader->corners);
    array_free(reader->context, &reader->face_start);
    array_free(reader->context, &reader->face_lines);
}

/* Hands the arrays over to *mesh. */
static abut_status finish(mesh_reader *reader, abut_mesh **mesh, abut_error *error) {
    const abut_context *context = reader->context;
    abut_status status = check_corners(reader, error);
    if (status != ABUT_OK) return status;
    bool point_lines = reader->point_lines.count == reader->points.count && reader->points.count > 0;
    bool face_lines = reader->face_lines.count == reader->face_start.count && reader->face_lines.count > 0;
    if (!array_push(context, &reader->face_start, reader->corners.count) || !TRIM(context, &reader->points) ||
        !TRIM(context, &reader->corners) || !TRIM(context, &reader->face_start) ||
        (point_lines && !TRIM(context, &reader->point_lines)) ||
        (face_lines && !TRIM(context, &reader->face_lines)))
        return fail_memory(error);
    abut_mesh *made = mem_calloc(context, 1, sizeof *made);
    if (!made) return fail_memory(error);
    snprintf(made->file, sizeof made->file, "%s", reader->file);
    made->points = reader->points.data, made->point_count = reader->points.count;
    made->corners = reader->corners.data, made->corner_count = reader->corners.count;
    made->face_start = reader->face_start.data, made->face_count = reader->face_start.count - 1;
    made->separate_corners = reader->separate_corners;
    made->crease_line = reader->crease_line;
    if (point_lines) made->point_lines = reader->point_lines.data, reader->point_lines.data = NULL;
    if (face_lines) made->face_lines = reader->face_lines.data, reader->face_lines.data = NULL;
    reader->points.data = NULL, reader->corners.data = NULL, reader->face_start.data = NULL;
    *mesh = made;
    return ABUT_OK;
}

/* ---- which format */
abut_mesh_format mesh_format_of_name(const char *name) {
    static const struct {
        const char *extension;
        abut_mesh_format format;
    } known[] = {{"obj", ABUT_FORMAT_OBJ},
                 {"stl", ABUT_FORMAT_STL},
                 {"ply", ABUT_FORMAT_PLY},
                 {"off", ABUT_FORMAT_OFF}};
    const char *dot = strrchr(name, '.');
    scan_word extension = {dot ? dot + 1 : "", dot ? (int64_t)strlen(dot + 1) : 0};
    for (int i = 0; i < COUNT_OF(known); i++)
        if (scan_is_folded(extension, known[i].extension)) return known[i].format;
    return ABUT_FORMAT_AUTO;
}

/* By the first word: `ply`, `OFF` with its prefixes, `solid`, an OBJ keyword; or by the size of a binary STL.
 */
static abut_mesh_format format_of_content(const char *bytes, size_t size) {
    if (mesh_is_binary_stl(bytes, size)) return ABUT_FORMAT_STL;
    scan s = scan_start(bytes, size, "");
    s.comments = true;
    if (scan_text_ends(&s)) return ABUT_FORMAT_AUTO;
    scan_word word = scan_take(&s);
    if (scan_is(word, "ply")) return ABUT_FORMAT_PLY;
    if (word.length >= 3 && word.length <= 8 && memcmp(word.at + word.length - 3, "OFF", 3) == 0)
        return ABUT_FORMAT_OFF;
    if (scan_is_folded(word, "solid")) return ABUT_FORMAT_STL;
    static const char *const obj[] = {"v", "vt", "vn", "f", "g", "o", "s", "usemtl", "mtllib"};
    for (int i = 0; i < COUNT_OF(obj); i++)
        if (scan_is(word, obj[i])) return ABUT_FORMAT_OBJ;
    return ABUT_FORMAT_AUTO;
}

abut_status abut_mesh_read(const abut_context *context, const void *bytes, size_t size,
                           abut_mesh_format format, const char *name, abut_mesh **mesh, abut_error *error) {
    mesh_reader reader = {
        .context = context, .file = name ? name : "", .bytes = size ? bytes : "", .size = size};
    *mesh = NULL;
    if (format == ABUT_FORMAT_AUTO) format = mesh_format_of_name(reader.file);
    if (format == ABUT_FORMAT_AUTO) format = format_of_content(reader.bytes, size);
    abut_status status;
    switch (format) {
    case ABUT_FORMAT_OBJ: status = mesh_read_obj(&reader, error); break;
    case ABUT_FORMAT_STL: status = mesh_read_stl(&reader, error); break;
    case ABUT_FORMAT_PLY: status = mesh_read_ply(&reader, error); break;
    case ABUT_FORMAT_OFF: status = mesh_read_off(&reader, error); break;
    default:
        status =
            fail_at(error, ABUT_INVALID, reader.file, 0,
                    "is neither OBJ, STL, PLY nor OFF, by its name and by its content; convert it to one "
                    "of these, or name it .obj, .stl, .ply or .off");
    }
    if (status == ABUT_OK) status = finish(&reader, mesh, error);
    reader_free(&reader);
    return status;
}

abut_status abut_mesh_load(const abut_context *context, const char *path, abut_mesh **mesh,
                           abut_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    *mesh = NULL;
    abut_status status = file_read(context, path, &bytes, &size, error);
    if (status != ABUT_OK) return status;
    status = abut_mesh_read(context, bytes, size, ABUT_FORMAT_AUTO, path, mesh, error);
    file_free(context, bytes, size);
    return status;
}

abut_status abut_solid_load(const abut_context *context, const char *path, const abut_solid_options *options,
                            abut_solid **solid, abut_error *error) {
    abut_mesh *mesh = NULL;
    *solid = NULL;
    abut_status status = abut_mesh_load(context, path, &mesh, error);
    if (status == ABUT_OK) status = abut_solid_build(context, mesh, options, solid, error);
    abut_mesh_free(context, mesh);
    return status;
}
