/* PLY, text and binary of both endians: a header that describes elements and their properties, then the
 * elements in that order.
 *
 *   element vertex 8                          x y z wherever they stand, of any number type
 *   property float x ...
 *   element face 6                            the list vertex_indices (or vertex_index)
 *   property list uchar int vertex_indices
 *
 * All other elements and properties are passed over, value by value.  A count is only believed as far as the
 * bytes of the file reach. */
#include "solid/read.h"

#include <math.h>
#include <stdio.h>

typedef enum ply_type {
    PLY_INT8,
    PLY_UINT8,
    PLY_INT16,
    PLY_UINT16,
    PLY_INT32,
    PLY_UINT32,
    PLY_FLOAT,
    PLY_DOUBLE,
    PLY_TYPES
} ply_type;
static const int type_size[PLY_TYPES] = {1, 1, 2, 2, 4, 4, 4, 8};
static const char *const type_names[PLY_TYPES][2] = {
    {"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},   {"ushort", "uint16"},
    {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};

typedef enum ply_role { ROLE_NONE, ROLE_X, ROLE_Y, ROLE_Z, ROLE_CORNERS } ply_role;

typedef struct ply_property {
    ply_type type, count_type;
    bool is_list;
    ply_role role;
} ply_property;

typedef struct ply_element {
    int64_t count;
    int64_t first, properties; /* of ply.properties */
    bool is_vertex, is_face;
} ply_element;

typedef enum ply_encoding { PLY_NONE, PLY_TEXT, PLY_LITTLE, PLY_BIG } ply_encoding;

typedef struct ply {
    mesh_reader *reader;
    scan s;
    ply_encoding encoding;
    ARRAY(ply_element) elements;
    ARRAY(ply_property) properties;
    bool has_vertex, has_face;
} ply;

/* ---- the header */
static abut_status read_type(ply *p, ply_type *type, abut_error *error) {
    scan_word word = scan_take(&p->s);
    for (int i = 0; i < PLY_TYPES; i++)
        if (scan_is(word, type_names[i][0]) || scan_is(word, type_names[i][1]))
            return *type = (ply_type)i, ABUT_OK;
    char shown[48];
    scan_show(word, shown, sizeof shown);
    return fail_at(error, ABUT_INVALID, p->s.file, p->s.line,
                   "`%s` is no PLY number type; use char, uchar, short, ushort, int, uint, float or double",
                   shown);
}

static abut_status read_format(ply *p, abut_error *error) {
    scan_word word = scan_take(&p->s);
    char shown[48];
    scan_show(word, shown, sizeof shown);
    if (scan_is(word, "ascii"))
        p->encoding = PLY_TEXT;
    else if (scan_is(word, "binary_little_endian"))
        p->encoding = PLY_LITTLE;
    else if (scan_is(word, "binary_big_endian"))
        p->encoding = PLY_BIG;
    else
        return fail_at(error, ABUT_INVALID, p->s.file, p->s.line,
                       "`%s` is no PLY format; use ascii, binary_little_endian or binary_big_endian", shown);
    return ABUT_OK;
}

static abut_status read_element(ply *p, abut_error *error) {
    scan_word name = scan_take(&p->s);
    ply_element element = {.first = p->properties.count};
    element.is_vertex = scan_is(name, "vertex");
    element.is_face = scan_is(name, "face");
    if ((element.is_vertex && p->has_vertex) || (element.is_face && p->has_face))
        return fail_at(error, ABUT_INVALID, p->s.file, p->s.line,
                       "element %s stands twice; a mesh has one, remove the other",
                       element.is_vertex ? "vertex" : "face");
    p->has_vertex |= element.is_vertex, p->has_face |= element.is_face;
    abut_status status = scan_integer(&p->s, "the number of elements", -1, &element.count, error);
    if (status != ABUT_OK) return status;
    if (element.count < 0)
        return fail_at(error, ABUT_INVALID, p->s.file, p->s.line,
                       "the number of elements is %lld; a count cannot be negative",
                       (long long)element.count);
    return array_push(p->reader->context, &p->elements, element) ? ABUT_OK : fail_memory(error);
}

static abut_status read_property(ply *p, abut_error *error) {
    if (p->elements.count == 0)
        return fail_at(error, ABUT_INVALID, p->s.file, p->s.line,
                       "a property stands before the first element; write `element vertex N` first");
    ply_element *element = &p->elements.data[p->elements.count - 1];
    ply_property property = {0};
    scan ahead = p->s;
    property.is_list = scan_is(scan_take(&ahead), "list");
    if (property.is_list) p->s = ahead;
    abut_status status = property.is_list ? read_type(p, &property.count_type, error) : ABUT_OK;
    if (status == ABUT_OK) status = read_type(p, &property.type, error);
    if (status != ABUT_OK) return status;
    if (property.is_list && property.count_type >= PLY_FLOAT)
        return fail_at(error, ABUT_INVALID, p->s.file, p->s.line,
                       "the count of a list is of type %s; use a whole-number type, such as uchar",
                       type_names[property.count_type][0]);
    scan_word name = scan_take(&p->s);
    if (element->is_vertex && !property.is_list && name.length == 1 && *name.at >= 'x' && *name.at <= 'z')
        property.role = (ply_role)(ROLE_X + (*name.at - 'x'));
    if (element->is_face && property.is_list &&
        (scan_is(name, "vertex_indices") || scan_is(name, "vertex_index")))
        property.role = ROLE_CORNERS;
    element->properties++;
    return array_push(p->reader->context, &p->properties, property) ? ABUT_OK : fail_memory(error);
}

/* The roles that an element must have, each once. */
static abut_status check_roles(const ply *p, abut_error *error) {
    static const char *const names[] = {"", "x", "y", "z", "vertex_indices"};
    for (int64_t i = 0; i < p->elements.count; i++) {
        const ply_element *element = &p->elements.data[i];
        int seen[ROLE_CORNERS + 1] = {0};
        for (int64_t k = 0; k < element->properties; k++) seen[p->properties.data[element->first + k].role]++;
        int from = element->is_vertex ? ROLE_X : element->is_face ? ROLE_CORNERS : ROLE_CORNERS + 1;
        int to = element->is_vertex ? ROLE_Z : ROLE_CORNERS;
        for (int role = from; role <= to; role++)
            if (seen[role] != 1)
                return fail_at(error, ABUT_INVALID, p->s.file, p->s.line,
                               "element %s has %d properties %s; it needs one",
                               element->is_vertex ? "vertex" : "face", seen[role], names[role]);
    }
    if (!p->has_vertex)
        return fail_at(error, ABUT_INVALID, p->s.file, p->s.line,
                       "there is no element vertex; a mesh needs one with x, y and z");
    return ABUT_OK;
}

static abut_status read_header(ply *p, abut_error *error) {
    scan *s = &p->s;
    if (!scan_is(scan_take(s), "ply"))
        return fail_at(error, ABUT_INVALID, s->file, s->line,
                       "does not begin with the line `ply`; is this a PLY file?");
    for (;;) {
        scan_next_line(s);
        if (scan_text_ends(s))
            return fail_at(error, ABUT_INVALID, s->file, s->line,
                           "the file ends inside its header; it is truncated, export it again");
        scan_word word = scan_take(s);
        abut_status status = ABUT_OK;
        char shown[48];
        scan_show(word, shown, sizeof shown);
        if (scan_is(word, "end_header"))
            break;
        else if (scan_is(word, "format"))
            status = read_format(p, error);
        else if (scan_is(word, "element"))
            status = read_element(p, error);
        else if (scan_is(word, "property"))
            status = read_property(p, error);
        else if (!scan_is(word, "comment") && !scan_is(word, "obj_info"))
            status = fail_at(error, ABUT_INVALID, s->file, s->line,
                             "`%s` is no line of a PLY header; format, element, property, comment and "
                             "end_header are",
                             shown);
        if (status != ABUT_OK) return status;
    }
    if (p->encoding == PLY_NONE)
        return fail_at(error, ABUT_INVALID, s->file, s->line,
                       "the header has no line `format`; add `format ascii 1.0` or what the file is");
    abut_status status = check_roles(p, error);
    scan_next_line(s);
    return status;
}

/* ---- values */
static double decode(const char *bytes, ply_type type, bool big) {
    unsigned char b[8];
    int size = type_size[type];
    uint64_t word = 0;
    memcpy(b, bytes, (size_t)size);
    for (int i = 0; i < size; i++) word |= (uint64_t)b[big ? size - 1 - i : i] << 8 * i;
    uint32_t low = (uint32_t)word;
    float single;
    double value;
    switch (type) {
    case PLY_INT8: return (double)(int8_t)word;
    case PLY_INT16: return (double)(int16_t)word;
    case PLY_INT32: return (double)(int32_t)low;
    case PLY_FLOAT: return memcpy(&single, &low, sizeof single), (double)single;
    case PLY_DOUBLE: return memcpy(&value, &word, sizeof value), value;
    default: return (double)word;
    }
}

static int line_of(const ply *p) { return p->encoding == PLY_TEXT ? p->s.line : 0; }

/* ", at byte N" where there are no lines */
static const char *place(const ply *p, char text[40]) {
    text[0] = 0;
    if (p->encoding != PLY_TEXT) snprintf(text, 40, ", at byte %lld", (long long)(p->s.at - p->s.start));
    return text;
}

static abut_status refuse_end(const ply *p, const ply_element *element, int64_t index, abut_error *error) {
    return fail_at(error, ABUT_INVALID, p->s.file, line_of(p),
                   "the file ends at byte %lld inside %s %lld of the %lld that it promises; it is truncated, "
                   "export it again",
                   (long long)(p->s.end - p->s.start),
                   element->is_vertex ? "vertex"
                   : element->is_face ? "face"
                                      : "element",
                   (long long)index, (long long)element->count);
}

/* The next value.  Text values may be not finite where nobody uses them, so that is for the caller to say. */
static abut_status next_value(ply *p, const ply_element *element, int64_t index, ply_type type, double *value,
                              abut_error *error) {
    scan *s = &p->s;
    if (p->encoding != PLY_TEXT) {
        if (s->end - s->at < type_size[type]) return refuse_end(p, element, index, error);
        *value = decode(s->at, type, p->encoding == PLY_BIG);
        s->at += type_size[type];
        return ABUT_OK;
    }
    if (scan_text_ends(s)) return refuse_end(p, element, index, error);
    scan ahead = *s;
    scan_word word = scan_take(&ahead);
    const char *behind;
    number_kind kind = number_parse(s->at, ahead.at, &behind, value);
    if (kind == NUMBER_NONE || behind != word.at + word.length)
        return scan_number(s, "a value of element", index, value, error);
    if (kind == NUMBER_NAN) *value = NAN;
    if (kind == NUMBER_INFINITE || kind == NUMBER_TOO_LARGE) *value = INFINITY;
    *s = ahead;
    return ABUT_OK;
}

/* The values of a list: the corners of a face, or passed over. */
static abut_status read_list(ply *p, const ply_element *element, const ply_property *property, int64_t index,
                             abut_error *error) {
    char where[40];
    double count, value;
    int line = line_of(p);
    abut_status status = next_value(p, element, index, property->count_type, &count, error);
    if (status != ABUT_OK) return status;
    bool corners = property->role == ROLE_CORNERS;
    if (!(count >= 0) || count != floor(count) || (corners && count < 3))
        return fail_at(error, ABUT_INVALID, p->s.file, line,
                       "the list of %s %lld%s has %g entries%s; correct the count",
                       element->is_face ? "face" : "element", (long long)index, place(p, where), count,
                       corners ? " but a face needs at least 3" : "");
    if (corners) status = reader_open_face(p->reader, line, error);
    for (double i = 0; i < count && status == ABUT_OK; i++) {
        status = next_value(p, element, index, property->type, &value, error);
        if (status != ABUT_OK || !corners) continue;
        if (!(value >= 0 && value <= 4294967295.0) || value != floor(value))
            return fail_at(error, ABUT_INVALID, p->s.file, line_of(p),
                           "face %lld%s refers to vertex %g; PLY counts vertices from 0: correct the index",
                           (long long)index, place(p, where), value);
        status = reader_add_corner(p->reader, (int64_t)value, error);
    }
    return status;
}

static abut_status read_item(ply *p, const ply_element *element, int64_t index, abut_error *error) {
    double coordinate[ROLE_Z + 1] = {0};
    char where[40];
    if (p->encoding == PLY_TEXT && scan_text_ends(&p->s)) return refuse_end(p, element, index, error);
    int line = line_of(p);
    for (int64_t k = 0; k < element->properties; k++) {
        const ply_property *property = &p->properties.data[element->first + k];
        double value = 0;
        abut_status status = property->is_list ? read_list(p, element, property, index, error)
                                               : next_value(p, element, index, property->type, &value, error);
        if (status != ABUT_OK) return status;
        if (property->role < ROLE_X || property->role > ROLE_Z) continue;
        if (!isfinite(value))
            return fail_at(error, ABUT_INVALID, p->s.file, line_of(p),
                           "%c of vertex %lld%s is not finite (%g); replace it by a coordinate",
                           'x' + (int)property->role - ROLE_X, (long long)index, place(p, where), value);
        coordinate[property->role] = value;
    }
    if (!element->is_vertex) return ABUT_OK;
    vec3 point = {coordinate[ROLE_X], coordinate[ROLE_Y], coordinate[ROLE_Z]};
    return reader_add_point(p->reader, point, line, error);
}

/* The least bytes that one item can take; 0 for an element without properties, of which there is nothing to
 * read. */
static int64_t least_bytes(const ply *p, const ply_element *element) {
    int64_t bytes = 0;
    for (int64_t k = 0; k < element->properties; k++) {
        const ply_property *property = &p->properties.data[element->first + k];
        ply_type type = property->is_list ? property->count_type : property->type;
        bytes += p->encoding == PLY_TEXT ? 2 : type_size[type];
    }
    return bytes;
}

static abut_status read_items(ply *p, const ply_element *element, abut_error *error) {
    int64_t bytes = least_bytes(p, element), left = p->s.end - p->s.at;
    if (bytes == 0) return ABUT_OK;
    if (element->count > (left + 1) / bytes)
        return fail_at(error, ABUT_INVALID, p->s.file, 0,
                       "promises %lld items of at least %lld bytes each behind byte %lld, but has only %lld "
                       "bytes there; it is truncated or a count is wrong",
                       (long long)element->count, (long long)bytes, (long long)(p->s.at - p->s.start),
                       (long long)left);
    for (int64_t i = 0; i < element->count; i++) {
        abut_status status = read_item(p, element, i, error);
        if (status != ABUT_OK) return status;
    }
    return ABUT_OK;
}

abut_status mesh_read_ply(mesh_reader *reader, abut_error *error) {
    ply p = {.reader = reader, .s = scan_start(reader->bytes, reader->size, reader->file)};
    abut_status status = read_header(&p, error);
    for (int64_t i = 0; i < p.elements.count && status == ABUT_OK; i++)
        status = read_items(&p, &p.elements.data[i], error);
    array_free(reader->context, &p.elements);
    array_free(reader->context, &p.properties);
    return status;
}
