/* STL, text and binary.  The format has no shared vertices: corners with equal coordinates become one point
 * here (in the order of their first appearance), nearly equal ones when the solid is built.
 *
 *   binary   80 bytes header | uint32 count | count x { float normal[3], corner[3][3]; uint16 attribute }
 *   text     solid NAME { facet normal nx ny nz, outer loop, 3 x vertex x y z, endloop, endfacet } endsolid
 *
 * Which of the two is told by the size that the binary count asks for, because many binary files begin with
 * the word "solid".  Normals are not used: they are often zero or wrong, and the order of corners decides. */
#include "solid/read.h"

#include <limits.h>
#include <stdio.h>

enum { HEADER = 84, TRIANGLE = 50 };

/* Open addressing: slot -> point, by the hash of the coordinates; -1 where free. */
typedef struct point_set {
    int32_t *slots;
    int64_t capacity; /* a power of two, at least 4/3 of the points */
} point_set;

static uint64_t hash_point(vec3 p) {
    uint64_t word[3];
    memcpy(word, &p, sizeof word);
    uint64_t h = word[0] * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ word[1]) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 32 ^ word[2]) * 0x94d049bb133111ebu;
    return h ^ h >> 29;
}

static void point_set_free(const abut_context *context, point_set *set) {
    mem_free(context, set->slots, (size_t)set->capacity, sizeof *set->slots);
    *set = (point_set){0};
}

static bool point_set_grow(const mesh_reader *reader, point_set *set, int64_t capacity) {
    point_set grown = {.capacity = capacity};
    grown.slots = mem_alloc(reader->context, (size_t)capacity, sizeof *grown.slots);
    if (!grown.slots) return false;
    memset(grown.slots, 0xff, (size_t)capacity * sizeof *grown.slots);
    uint64_t mask = (uint64_t)capacity - 1;
    for (int64_t i = 0; i < reader->points.count; i++) {
        uint64_t slot = hash_point(reader->points.data[i]) & mask;
        while (grown.slots[slot] >= 0) slot = (slot + 1) & mask;
        grown.slots[slot] = (int32_t)i;
    }
    point_set_free(reader->context, set);
    *set = grown;
    return true;
}

/* Both zeros are the same place. */
static vec3 one_zero(vec3 p) { return (vec3){p.x + 0.0, p.y + 0.0, p.z + 0.0}; }

/* Adds a corner at p, whose hash is given: an old point if one is there, otherwise a new one. */
static abut_status add_corner(mesh_reader *reader, point_set *set, vec3 p, uint64_t hash, int line,
                              abut_error *error) {
    if (4 * reader->points.count >= 3 * set->capacity &&
        !point_set_grow(reader, set, set->capacity ? 2 * set->capacity : 64))
        return fail_memory(error);
    uint64_t mask = (uint64_t)set->capacity - 1, slot = hash & mask;
    for (; set->slots[slot] >= 0; slot = (slot + 1) & mask) {
        const vec3 *q = &reader->points.data[set->slots[slot]];
        if (q->x == p.x && q->y == p.y && q->z == p.z)
            return reader_add_corner(reader, set->slots[slot], error);
    }
    set->slots[slot] = (int32_t)reader->points.count;
    abut_status status = reader_add_corner(reader, reader->points.count, error);
    return status == ABUT_OK ? reader_add_point(reader, p, line, error) : status;
}

/* ---- binary */
static uint32_t little_endian(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double read_float(const char *bytes) {
    uint32_t word = little_endian(bytes);
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

bool mesh_is_binary_stl(const char *bytes, size_t size) {
    return size >= HEADER && size == HEADER + (uint64_t)TRIANGLE * little_endian(bytes + 80);
}

static abut_status refuse_corner(const mesh_reader *reader, int64_t triangle, int corner, vec3 p,
                                 abut_error *error) {
    return fail_at(
        error, ABUT_INVALID, reader->file, 0,
        "corner %d of triangle %lld, at byte %lld, has a coordinate that is not finite (%g %g %g); "
        "replace it or export the file again",
        corner, (long long)triangle, (long long)(HEADER + TRIANGLE * triangle + 12 + 12 * corner), p.x, p.y,
        p.z);
}

/* Up to BATCH triangles from number `first`.  A look into the set misses the cache twice (slot, point);
 * asking for all slots of the batch, then for all points, then comparing hides most of that time. */
enum { BATCH = 16 };
static abut_status read_batch(mesh_reader *reader, int64_t first, int count, point_set *set,
                              abut_error *error) {
    vec3 points[3 * BATCH];
    uint64_t hashes[3 * BATCH], mask = (uint64_t)set->capacity - 1;
    for (int i = 0; i < 3 * count; i++) {
        const char *corner =
            reader->bytes + HEADER + TRIANGLE * (first + i / 3) + 12 + (size_t)(12 * (i % 3));
        vec3 p = {read_float(corner), read_float(corner + 4), read_float(corner + 8)};
        if (!vec3_is_finite(p)) return refuse_corner(reader, first + i / 3, i % 3, p, error);
        points[i] = one_zero(p), hashes[i] = hash_point(points[i]);
        __builtin_prefetch(&set->slots[hashes[i] & mask]);
    }
    for (int i = 0; i < 3 * count; i++) {
        int32_t point = set->slots[hashes[i] & mask];
        if (point >= 0) __builtin_prefetch(&reader->points.data[point]);
    }
    for (int i = 0; i < 3 * count; i++) {
        abut_status status = i % 3 == 0 ? reader_open_face(reader, 0, error) : ABUT_OK;
        if (status == ABUT_OK) status = add_corner(reader, set, points[i], hashes[i], 0, error);
        if (status != ABUT_OK) return status;
    }
    return ABUT_OK;
}

static abut_status read_triangles(mesh_reader *reader, int64_t count, point_set *set, abut_error *error) {
    /* the sizes of a closed mesh: half as many vertices as triangles (they grow where it is not one) */
    int64_t slots = 64;
    while (slots < count) slots *= 2;
    if (!array_reserve(reader->context, &reader->points, count / 2 + 8) ||
        !array_reserve(reader->context, &reader->corners, 3 * count) ||
        !array_reserve(reader->context, &reader->face_start, count + 1) ||
        !point_set_grow(reader, set, slots))
        return fail_memory(error);
    for (int64_t i = 0; i < count; i += BATCH) {
        abut_status status = read_batch(reader, i, (int)(count - i < BATCH ? count - i : BATCH), set, error);
        if (status != ABUT_OK) return status;
    }
    return ABUT_OK;
}

static abut_status read_binary(mesh_reader *reader, point_set *set, abut_error *error) {
    if (reader->size < HEADER)
        return fail_at(
            error, ABUT_INVALID, reader->file, 0,
            "has %zu bytes and does not begin with `solid`; a binary STL has at least %d: it is cut "
            "off or no STL",
            reader->size, HEADER);
    int64_t count = little_endian(reader->bytes + 80);
    uint64_t wanted = HEADER + (uint64_t)TRIANGLE * (uint64_t)count;
    if (wanted > reader->size)
        return fail_at(
            error, ABUT_INVALID, reader->file, 0,
            "promises %lld triangles at byte 80, which need %llu bytes, but ends at byte %zu, after "
            "%lld triangles; it is truncated, export it again",
            (long long)count, (unsigned long long)wanted, reader->size,
            (long long)((reader->size - HEADER) / TRIANGLE));
    if (wanted < reader->size && count == 0)
        return fail_at(error, ABUT_INVALID, reader->file, 0,
                       "promises no triangles at byte 80, but has %zu bytes behind the header; correct the "
                       "count, or is this no STL?",
                       reader->size - HEADER);
    if (wanted < reader->size)
        log_write(reader->context, ABUT_LOG_WARNING,
                  "%s: %zu bytes behind the last triangle were passed over", reader->file,
                  reader->size - (size_t)wanted);
    return read_triangles(reader, count, set, error);
}

/* ---- text */
static abut_status expect(scan *s, const char *word, const char *where, abut_error *error) {
    scan_text_ends(s);
    scan_word found = scan_take(s);
    if (scan_is_folded(found, word)) return ABUT_OK;
    char shown[48];
    scan_show(found, shown, sizeof shown);
    if (found.length == 0)
        return fail_at(error, ABUT_INVALID, s->file, s->line,
                       "the file ends where `%s` should stand (%s); it is truncated, export it again", word,
                       where);
    return fail_at(error, ABUT_INVALID, s->file, s->line,
                   "`%s` stands where `%s` is expected (%s); correct the line", shown, word, where);
}

static abut_status read_facet(mesh_reader *reader, scan *s, point_set *set, abut_error *error) {
    int64_t facet = reader->face_start.count;
    abut_status status = reader_open_face(reader, s->line, error);
    scan_next_line(s); /* the normal */
    if (status == ABUT_OK) status = expect(s, "outer", "behind the line `facet normal`", error);
    if (status == ABUT_OK) status = expect(s, "loop", "behind `outer`", error);
    for (int k = 0; k < 3 && status == ABUT_OK; k++) {
        vec3 p = {0};
        status = expect(s, "vertex", "a facet has three vertices", error);
        int line = s->line;
        if (status == ABUT_OK) status = scan_number(s, "x of a vertex of facet", facet, &p.x, error);
        if (status == ABUT_OK) status = scan_number(s, "y of a vertex of facet", facet, &p.y, error);
        if (status == ABUT_OK) status = scan_number(s, "z of a vertex of facet", facet, &p.z, error);
        if (status == ABUT_OK) {
            p = one_zero(p);
            status = add_corner(reader, set, p, hash_point(p), line, error);
        }
    }
    if (status == ABUT_OK) status = expect(s, "endloop", "behind three vertices", error);
    if (status == ABUT_OK) status = expect(s, "endfacet", "behind `endloop`", error);
    return status;
}

/* One solid or several, one behind the other. */
static abut_status read_text(mesh_reader *reader, point_set *set, abut_error *error) {
    scan s = scan_start(reader->bytes, reader->size, reader->file);
    bool inside = false;
    while (!scan_text_ends(&s)) {
        abut_status status = ABUT_OK;
        scan_word word = scan_take(&s);
        if (!inside && scan_is_folded(word, "solid")) {
            inside = true;
            scan_next_line(&s); /* the name */
        } else if (inside && scan_is_folded(word, "facet")) {
            status = read_facet(reader, &s, set, error);
        } else if (inside && scan_is_folded(word, "endsolid")) {
            inside = false;
            scan_next_line(&s);
        } else {
            char shown[48];
            scan_show(word, shown, sizeof shown);
            status = fail_at(error, ABUT_INVALID, s.file, s.line,
                             "`%s` stands where `%s` is expected; correct the line, or is this no STL?",
                             shown, inside ? "facet` or `endsolid" : "solid");
        }
        if (status != ABUT_OK) return status;
    }
    if (inside)
        return fail_at(error, ABUT_INVALID, s.file, s.line,
                       "the file ends without `endsolid`; it is truncated, export it again");
    return ABUT_OK;
}

/* Text begins with the word solid, and its second line is a facet or the end. */
static bool is_text(const mesh_reader *reader) {
    scan s = scan_start(reader->bytes, reader->size, reader->file);
    if (scan_text_ends(&s) || !scan_is_folded(scan_take(&s), "solid")) return false;
    scan_next_line(&s);
    if (scan_text_ends(&s)) return reader->size < HEADER || memchr(reader->bytes, 0, reader->size) == NULL;
    scan_word word = scan_take(&s);
    return scan_is_folded(word, "facet") || scan_is_folded(word, "endsolid") ||
           memchr(reader->bytes, 0, reader->size) == NULL;
}

abut_status mesh_read_stl(mesh_reader *reader, abut_error *error) {
    point_set set = {0};
    reader->separate_corners = true;
    bool text = !mesh_is_binary_stl(reader->bytes, reader->size) && is_text(reader);
    abut_status status = text ? read_text(reader, &set, error) : read_binary(reader, &set, error);
    point_set_free(reader->context, &set);
    return status;
}
