/* Wavefront OBJ: `v x y z` and `f a/b/c ...` make the mesh; everything else (texture, normals, groups,
 * materials, lines, points) says nothing about the solid and is passed over.
 *
 *   v x y z [w] [r g b]      f v v/vt v//vn v/vt/vn ...      # comment      a line \ continued
 *
 * Indices count from 1; negative ones count back from the last vertex so far. */
#include "solid/read.h"

#include <stdio.h>

/* What an OBJ may contain besides; a word that is not here is worth a notice. */
static const char *const other_words[] = {
    "vt",     "vn",     "vp",     "l",      "p",    "g",          "s",         "o",     "mg",
    "usemtl", "mtllib", "usemap", "maplib", "lod",  "bevel",      "c_interp",  "deg",   "bmat",
    "step",   "cstype", "curv",   "curv2",  "surf", "parm",       "trim",      "hole",  "scrv",
    "sp",     "end",    "con",    "call",   "csh",  "shadow_obj", "trace_obj", "ctech", "stech",
    "bzp",    "bsp",    "cdc",    "cdp",    "res",  "d_interp"};

static abut_status read_point(mesh_reader *reader, scan *s, abut_error *error) {
    int line = s->line;
    int64_t number = reader->points.count + 1;
    vec3 p = {0};
    abut_status status = scan_number(s, "x of vertex", number, &p.x, error);
    if (status == ABUT_OK) status = scan_number(s, "y of vertex", number, &p.y, error);
    if (status == ABUT_OK) status = scan_number(s, "z of vertex", number, &p.z, error);
    return status == ABUT_OK ? reader_add_point(reader, p, line, error) : status;
}

/* What follows the vertex of a corner: nothing, /vt, //vn, /vt/vn.  The numbers are not needed, but must be
 * some. */
static bool is_tail(const char *at, const char *end) {
    int slashes = 0;
    for (; at < end; at++) {
        if (*at == '/')
            slashes++;
        else if ((*at < '0' || *at > '9') && *at != '-')
            return false;
    }
    return slashes <= 2;
}

/* The vertex of the corner word, counted from 0. */
static abut_status read_index(const mesh_reader *reader, const scan *s, scan_word word, int line,
                              int64_t *index, abut_error *error) {
    const char *behind, *end = word.at + word.length;
    int64_t face = reader->face_start.count, count = reader->points.count, number = 0;
    number_kind kind = integer_parse(word.at, end, &behind, &number);
    char shown[48];
    scan_show(word, shown, sizeof shown);
    if (kind == NUMBER_NONE || !is_tail(behind, end))
        return fail_at(error, ABUT_INVALID, s->file, line,
                       "corner `%s` of face %lld is not of the form v, v/vt, v//vn or v/vt/vn; correct it",
                       shown, (long long)face);
    if (kind == NUMBER_TOO_LARGE)
        return fail_at(error, ABUT_INVALID, s->file, line,
                       "corner `%s` of face %lld is beyond any vertex; correct the index", shown,
                       (long long)face);
    if (number == 0)
        return fail_at(error, ABUT_INVALID, s->file, line,
                       "face %lld refers to vertex 0, but OBJ counts vertices from 1; correct the index",
                       (long long)face);
    if (number < -count)
        return fail_at(error, ABUT_INVALID, s->file, line,
                       "face %lld refers to vertex %lld, but only %lld vertices stand before it; correct the "
                       "index or move the vertices up",
                       (long long)face, (long long)number, (long long)count);
    *index = number > 0 ? number - 1 : count + number;
    return ABUT_OK;
}

static abut_status read_face(mesh_reader *reader, scan *s, abut_error *error) {
    int line = s->line;
    abut_status status = reader_open_face(reader, line, error);
    int64_t first = reader->corners.count, index = 0;
    while (status == ABUT_OK && !scan_line_ends(s)) {
        status = read_index(reader, s, scan_take(s), line, &index, error);
        if (status == ABUT_OK) status = reader_add_corner(reader, index, error);
    }
    if (status == ABUT_OK && reader->corners.count - first < 3)
        return fail_at(error, ABUT_INVALID, s->file, line,
                       "face %lld has %d corners; a face needs at least 3: remove it or complete it",
                       (long long)reader->face_start.count, (int)(reader->corners.count - first));
    return status;
}

/* Any other line: known words silently, unknown words with a notice, what is no word at all not. */
static abut_status pass_over(const mesh_reader *reader, const scan *s, scan_word word, bool *noticed,
                             abut_error *error) {
    for (int i = 0; i < COUNT_OF(other_words); i++)
        if (scan_is(word, other_words[i])) return ABUT_OK;
    char shown[48];
    scan_show(word, shown, sizeof shown);
    for (int64_t i = 0; i < word.length; i++) {
        char c = word.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (i > 0 && c >= '0' && c <= '9');
        if (!letter && c != '_')
            return fail_at(
                error, ABUT_INVALID, s->file, s->line,
                "`%s` is no OBJ statement; a line begins with v, f, g, o, ... or #: is this an OBJ?", shown);
    }
    if (!*noticed)
        log_write(reader->context, ABUT_LOG_WARNING, "%s:%d: `%s` is no OBJ statement and was passed over",
                  s->file, s->line, shown);
    *noticed = true;
    return ABUT_OK;
}

/* A tag of a subdivision cage: `t crease 2/1/0 3 4 10.0`, of which the line is kept. */
static bool read_tag(mesh_reader *reader, scan *s) {
    scan_word kind = scan_take(s);
    if (!scan_is(kind, "crease") && !scan_is(kind, "corner")) return false;
    if (!reader->crease_line) reader->crease_line = s->line;
    return true;
}

abut_status mesh_read_obj(mesh_reader *reader, abut_error *error) {
    scan s = scan_start(reader->bytes, reader->size, reader->file);
    s.comments = s.continuation = true;
    reader->index_base = 1;
    bool noticed = false;
    for (; !scan_text_ends(&s); scan_next_line(&s)) {
        scan_word word = scan_take(&s);
        abut_status status = ABUT_OK;
        if (word.length == 1 && *word.at == 'v')
            status = read_point(reader, &s, error);
        else if ((word.length == 1 && *word.at == 'f') || scan_is(word, "fo"))
            status = read_face(reader, &s, error);
        else if (!scan_is(word, "t") || !read_tag(reader, &s))
            status = pass_over(reader, &s, word, &noticed, error);
        if (status != ABUT_OK) return status;
    }
    return ABUT_OK;
}
