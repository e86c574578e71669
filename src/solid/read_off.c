/* Object File Format: a header, three counts, the vertices, the faces; # comments and empty lines anywhere.
 *
 *   [ST][C][N]OFF [vertices faces edges]      x y z [normal] [colour] [s t]      n v1 ... vn [colour]
 *
 * The header may be missing, the counts may follow it on its line.  What stands behind the coordinates or the
 * indices on their line is colour and the like, and is passed over. */
#include "solid/read.h"

#include <stdio.h>

static abut_status refuse_header(const scan *s, scan_word word, abut_error *error) {
    char shown[48];
    scan_show(word, shown, sizeof shown);
    return fail_at(error, ABUT_INVALID, s->file, s->line,
                   "`%s` is no OFF header; the file must begin with OFF, COFF, NOFF, STOFF or their mixtures",
                   shown);
}

/* The prefixes ST, C, N in this order; 4OFF and nOFF are not three-dimensional. */
static abut_status read_header(scan *s, abut_error *error) {
    if (scan_text_ends(s))
        return fail_at(error, ABUT_INVALID, s->file, s->line, "is empty; an OFF file begins with OFF");
    if (*s->at >= '0' && *s->at <= '9' && *s->at != '4') return ABUT_OK; /* no header: the counts */
    scan ahead = *s;
    scan_word word = scan_take(&ahead);
    if (word.length == 1) return ABUT_OK; /* the count 4, without header */
    const char *p = word.at, *end = word.at + word.length;
    if (end - p >= 2 && memcmp(p, "ST", 2) == 0) p += 2;
    if (p < end && *p == 'C') p++;
    if (p < end && *p == 'N') p++;
    if (end - p == 4 && (*p == '4' || *p == 'n') && memcmp(p + 1, "OFF", 3) == 0)
        return fail_at(error, ABUT_UNSUPPORTED, s->file, s->line,
                       "vertices of four or n dimensions are no solid; project them to three and write OFF");
    bool all_digits = true;
    for (const char *q = word.at; q < end; q++) all_digits &= *q >= '0' && *q <= '9';
    if (all_digits) return ABUT_OK;
    if (end - p != 3 || memcmp(p, "OFF", 3) != 0) return refuse_header(s, word, error);
    *s = ahead;
    if (!scan_line_ends(s)) {
        word = scan_take(&ahead);
        if (scan_is(word, "BINARY"))
            return fail_at(error, ABUT_UNSUPPORTED, s->file, s->line,
                           "binary OFF is not read; convert it to text OFF, or to PLY or STL");
    }
    return ABUT_OK;
}

/* A count that is promised: at least 0, and the rest of the file must have room for it (two bytes each). */
static abut_status read_count(scan *s, const char *what, int64_t *count, abut_error *error) {
    scan_text_ends(s);
    abut_status status = scan_integer(s, what, -1, count, error);
    if (status != ABUT_OK) return status;
    if (*count < 0)
        return fail_at(error, ABUT_INVALID, s->file, s->line, "%s is %lld; a count cannot be negative", what,
                       (long long)*count);
    if (*count > (s->end - s->at) / 2 + 1)
        return fail_at(
            error, ABUT_INVALID, s->file, s->line,
            "%s is %lld, but the %lld bytes that follow have no room for them; the file is cut off "
            "or the count is wrong",
            what, (long long)*count, (long long)(s->end - s->at));
    return ABUT_OK;
}

static abut_status refuse_end(const scan *s, const char *what, int64_t promised, int64_t got,
                              abut_error *error) {
    return fail_at(
        error, ABUT_INVALID, s->file, s->line,
        "the file ends after %lld of the %lld %s that it promises; it is truncated, export it again",
        (long long)got, (long long)promised, what);
}

static abut_status read_points(mesh_reader *reader, scan *s, int64_t count, abut_error *error) {
    for (int64_t i = 0; i < count; i++) {
        if (scan_text_ends(s)) return refuse_end(s, "vertices", count, i, error);
        vec3 p = {0};
        int line = s->line;
        abut_status status = scan_number(s, "x of vertex", i, &p.x, error);
        if (status == ABUT_OK) status = scan_number(s, "y of vertex", i, &p.y, error);
        if (status == ABUT_OK) status = scan_number(s, "z of vertex", i, &p.z, error);
        if (status == ABUT_OK) status = reader_add_point(reader, p, line, error);
        if (status != ABUT_OK) return status;
        scan_next_line(s);
    }
    return ABUT_OK;
}

static abut_status read_face(mesh_reader *reader, scan *s, int64_t face, abut_error *error) {
    int64_t corners = 0, index = 0;
    int line = s->line;
    abut_status status = scan_integer(s, "the number of corners of face", face, &corners, error);
    if (status != ABUT_OK) return status;
    if (corners < 3)
        return fail_at(error, ABUT_INVALID, s->file, line,
                       "face %lld has %lld corners; a face needs at least 3: remove it or complete it",
                       (long long)face, (long long)corners);
    status = reader_open_face(reader, line, error);
    for (int64_t i = 0; i < corners && status == ABUT_OK; i++) {
        status = scan_integer(s, "a vertex of face", face, &index, error);
        if (status == ABUT_OK && index < 0)
            return fail_at(error, ABUT_INVALID, s->file, s->line,
                           "face %lld refers to vertex %lld; OFF counts vertices from 0: correct the index",
                           (long long)face, (long long)index);
        if (status == ABUT_OK) status = reader_add_corner(reader, index, error);
    }
    return status;
}

abut_status mesh_read_off(mesh_reader *reader, abut_error *error) {
    scan s = scan_start(reader->bytes, reader->size, reader->file);
    s.comments = true;
    int64_t vertices = 0, faces = 0, edges = 0;
    abut_status status = read_header(&s, error);
    if (status == ABUT_OK) status = read_count(&s, "the number of vertices", &vertices, error);
    if (status == ABUT_OK) status = read_count(&s, "the number of faces", &faces, error);
    /* the number of edges is never used, and some writers leave it out */
    if (status == ABUT_OK && !scan_line_ends(&s))
        status = scan_integer(&s, "the number of edges", -1, &edges, error);
    if (status != ABUT_OK) return status;
    scan_next_line(&s);
    status = read_points(reader, &s, vertices, error);
    for (int64_t i = 0; i < faces && status == ABUT_OK; i++) {
        if (scan_text_ends(&s)) return refuse_end(&s, "faces", faces, i, error);
        status = read_face(reader, &s, i, error);
        scan_next_line(&s);
    }
    return status;
}
