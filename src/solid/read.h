/* solid: what the four readers share.  A reader appends points and faces to the growing mesh; mesh.c checks
 * the indices and trims the arrays when it is done. */
#ifndef SOLID_READ_H
#define SOLID_READ_H

#include "base/scan.h"
#include "solid/solid.h"

typedef struct mesh_reader {
    const abut_context *context;
    const char *file; /* for messages */
    const char *bytes;
    size_t size;
    ARRAY(vec3) points;
    int_array point_lines, corners, face_lines;
    ARRAY(int64_t) face_start; /* the first entry of every face; the closing one is added at the end */
    int index_base;            /* what the format calls the first vertex, for messages */
    bool separate_corners;
    int crease_line; /* see abut_mesh */
} mesh_reader;

/* Each reads reader->bytes whole. */
abut_status mesh_read_obj(mesh_reader *reader, abut_error *error);
abut_status mesh_read_stl(mesh_reader *reader, abut_error *error);
abut_status mesh_read_ply(mesh_reader *reader, abut_error *error);
abut_status mesh_read_off(mesh_reader *reader, abut_error *error);
/* Whether the bytes are a binary STL: told by the size that its triangle count asks for. */
bool mesh_is_binary_stl(const char *bytes, size_t size);
/* By the extension of the name; ABUT_FORMAT_AUTO when it is none of the four. */
abut_mesh_format mesh_format_of_name(const char *name);

/* Appending; `line` 0 where the format has none (then nothing is stored).  A face is opened, its corners
 * pushed to reader->corners. */
abut_status reader_add_point(mesh_reader *reader, vec3 point, int line, abut_error *error);
abut_status reader_open_face(mesh_reader *reader, int line, abut_error *error);
abut_status reader_add_corner(mesh_reader *reader, int64_t index, abut_error *error);

/* A mesh of the given size with all arrays allocated and face_start[0] = 0; lines only on request.  NULL when
 * memory is out.  Every mesh that abut_mesh_free frees has arrays of exactly these sizes: points and
 * point_lines point_count, corners corner_count, face_lines face_count, face_start face_count + 1. */
abut_mesh *mesh_create(const abut_context *context, int64_t point_count, int64_t face_count,
                       int64_t corner_count, bool lines);

/* A prism's outline: finite, no point twice in a row, simple, counter-clockwise. */
abut_status outline_check(const abut_context *context, const double (*outline)[2], int count,
                          abut_error *error);

#endif
