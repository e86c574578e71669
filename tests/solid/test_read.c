/* The readers: text in memory, the files of shared/meshes against the counts of their MANIFEST, hostile
 * input, and memory that runs out at every single allocation. */
#include "solid/read.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- helpers */
/* Reads a copy of exactly `size` bytes, so that a sanitizer sees every byte too many. */
static abut_status read_bytes(const abut_context *context, const void *bytes, size_t size,
                              abut_mesh_format format, abut_mesh **mesh, abut_error *error) {
    char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    abut_status status = abut_mesh_read(context, copy, size, format, "given", mesh, error);
    free(copy);
    return status;
}

static abut_mesh *read_text(const char *text, abut_mesh_format format) {
    abut_mesh *mesh = NULL;
    abut_error error = {0};
    if (read_bytes(NULL, text, strlen(text), format, &mesh, &error) != ABUT_OK)
        fail_msg("line %d: %s\n%s", error.line, error.message, text);
    return mesh;
}

/* Reading must fail at `line` with all of the parts of the message. */
static void expect_error(const void *bytes, size_t size, abut_mesh_format format, int line,
                         const char *part) {
    abut_mesh *mesh = (abut_mesh *)1;
    abut_error error = {0};
    abut_status status = read_bytes(NULL, bytes, size, format, &mesh, &error);
    if (status != ABUT_INVALID && status != ABUT_UNSUPPORTED)
        fail_msg("status %s, expected `%s`", abut_status_name(status), part);
    assert_null(mesh);
    assert_string_equal(error.file, "given");
    if (error.line != line || !strstr(error.message, part))
        fail_msg("expected line %d `%s`, got line %d `%s`", line, part, error.line, error.message);
}

static void expect_text_error(const char *text, abut_mesh_format format, int line, const char *part) {
    expect_error(text, strlen(text), format, line, part);
}

static void expect_face(const abut_mesh *mesh, int64_t face, int count, const int *corners) {
    assert_true(face < mesh->face_count);
    assert_int_equal(mesh->face_start[face + 1] - mesh->face_start[face], count);
    for (int i = 0; i < count; i++) assert_int_equal(mesh->corners[mesh->face_start[face] + i], corners[i]);
}

static void expect_point(const abut_mesh *mesh, int64_t point, double x, double y, double z) {
    assert_true(point < mesh->point_count);
    vec3 p = mesh->points[point];
    if (p.x != x || p.y != y || p.z != z) fail_msg("point %d is %g %g %g", (int)point, p.x, p.y, p.z);
}

/* ---- OBJ */
static void test_obj_forms(void **state) {
    (void)state;
    abut_mesh *m = read_text("# a comment\r\n"
                             "mtllib a.mtl\r\n"
                             "v 0 0 0 1.0\r\n"
                             "v 1 0 0 0.5 0.5 0.5\r\n"
                             "\tv\t1 1 0 1 0.1 0.2 0.3 # with weight and colour\r\n"
                             "v -1.5e0 1 \\\r\n +.25\r\n"
                             "vt 0 0\nvn 0 0 1\ng a b\no name\ns off\nusemtl m\n"
                             "f 1/1/1 2//1 3/1 4\n"
                             "f -4 -3 \\\n-2\n"
                             "l 1 2\n"
                             "f 3 2 1",
                             ABUT_FORMAT_OBJ);
    assert_int_equal(m->point_count, 4);
    assert_int_equal(m->face_count, 3);
    expect_point(m, 3, -1.5, 1, 0.25);
    expect_face(m, 0, 4, (int[]){0, 1, 2, 3});
    expect_face(m, 1, 3, (int[]){0, 1, 2});
    expect_face(m, 2, 3, (int[]){2, 1, 0});
    assert_int_equal(m->point_lines[2], 5);
    assert_int_equal(m->point_lines[3], 6);
    assert_int_equal(m->face_lines[0], 14);
    assert_int_equal(m->face_lines[2], 18);
    assert_false(m->separate_corners);
    abut_mesh_free(NULL, m);
    /* a face may stand before its vertices; an empty file is an empty mesh */
    m = read_text("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n", ABUT_FORMAT_OBJ);
    expect_face(m, 0, 3, (int[]){0, 1, 2});
    abut_mesh_free(NULL, m);
    m = read_text("", ABUT_FORMAT_OBJ);
    assert_int_equal(m->face_count, 0);
    assert_int_equal(m->face_start[0], 0);
    abut_mesh_free(NULL, m);
    /* unknown words are passed over */
    m = read_text("v 0 0 0\nnewword 1 2 3\nv 1 1 1\n", ABUT_FORMAT_OBJ);
    assert_int_equal(m->point_count, 2);
    abut_mesh_free(NULL, m);
}

static void test_obj_errors(void **state) {
    (void)state;
#define THREE "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    static const struct {
        const char *text;
        int line;
        const char *part;
    } cases[] = {
        {"v 0 0\nv 1 1 1\n", 1, "z of vertex 1 is missing"},
        {"v 0 0", 1, "cut off"},
        {"v 0 0 nan\n", 1, "z of vertex 1 is not a number"},
        {THREE "v 1 -inf 0\n", 4, "y of vertex 4 is infinite"},
        {"v 1e999 0 0\n", 1, "x of vertex 1 overflows: `1e999`"},
        {"v 1 2 3x\n", 1, "`3x`"},
        {"v 0x10 0 0\n", 1, "`0x10`"},
        {"v 1,5 0 0\n", 1, "`1,5`"},
        {THREE "f 1 2 0\n", 4, "face 1 refers to vertex 0, but OBJ counts vertices from 1"},
        {THREE "f 1 2 3\nf 1 2 4\n", 5,
         "face 2 refers to vertex 4, but the file has only the 3 vertices 1 to 3"},
        {THREE "f 1 2 -4\n", 4, "face 1 refers to vertex -4, but only 3 vertices stand before it"},
        {THREE "f 1 2 9999999999999999999999\n", 4, "beyond any vertex"},
        {THREE "f 1 2 5000000000\n", 4, "refers to vertex 5000000000"},
        {THREE "f 1 2 \\\n 4\n", 4, "refers to vertex 4"},
        {THREE "f 1 2\n", 4, "face 1 has 2 corners"},
        {THREE "f\n", 4, "face 1 has 0 corners"},
        {THREE "f 1 2 3/1/1/1\n", 4, "`3/1/1/1`"},
        {THREE "f 1 2 x\n", 4, "`x`"},
        {THREE "f 1 2 3.5\n", 4, "`3.5`"},
        {"f 1 2 3\n", 1, "the file has none"},
        {"v 0 0 0\n\x01\x02\x03 binary\n", 2, "`???` is no OBJ statement"},
        {"{\"json\": 1}", 1, "is this an OBJ?"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        expect_text_error(cases[i].text, ABUT_FORMAT_OBJ, cases[i].line, cases[i].part);
}

/* ---- STL */
#define FACET(a, b, c) \
    "facet normal 0 0 0\n outer loop\n  vertex " a "\n  vertex " b "\n  vertex " c "\n endloop\nendfacet\n"

static void test_stl_text(void **state) {
    (void)state;
    abut_mesh *m = read_text("solid a name of words\n" FACET("0 0 0", "1 0 0", "0 1 0")
                                 FACET("0 1 0", "1 0 0", "1 1 -0.0") "endsolid a name\nSOLID b\n" FACET(
                                     "1 1 0", "5 5 5", "1 0 0") "ENDSOLID\n",
                             ABUT_FORMAT_STL);
    assert_int_equal(m->face_count, 3);
    assert_int_equal(m->point_count, 5); /* equal corners are one point, and so are both zeros */
    assert_true(m->separate_corners);
    expect_face(m, 0, 3, (int[]){0, 1, 2});
    expect_face(m, 1, 3, (int[]){2, 1, 3});
    expect_face(m, 2, 3, (int[]){3, 4, 1});
    assert_int_equal(m->face_lines[1], 9);
    assert_int_equal(m->point_lines[3], 13);
    abut_mesh_free(NULL, m);
    static const struct {
        const char *text;
        int line;
        const char *part;
    } cases[] = {
        {"solid\n" FACET("0 0 0", "1 0 0", "0 1 0"), 9, "ends without `endsolid`"},
        {"solid\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nendloop\n", 5,
         "`endloop` stands where `vertex`"},
        {"solid\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\n", 5, "truncated"},
        {"solid\nfacet normal 0 0 0\nouter loop\nvertex 0 nan 0\n", 4,
         "y of a vertex of facet 0 is not a number"},
        {"solid\nfacet normal 0 0 0\nloop\n", 3, "`loop` stands where `outer`"},
        {"solid\nvertex 1 2 3\n", 2, "`vertex` stands where `facet` or `endsolid`"},
        {"solid\nendsolid\nrubbish\n", 3, "`rubbish` stands where `solid`"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        expect_text_error(cases[i].text, ABUT_FORMAT_STL, cases[i].line, cases[i].part);
    expect_text_error("nothing", ABUT_FORMAT_STL, 0, "has 7 bytes and does not begin with `solid`");
}

/* A binary STL of `count` triangles; corner k of triangle i is at (i, k, 0.5). */
static char *make_stl(uint32_t promised, int count, const char *header, size_t *size) {
    *size = 84 + 50 * (size_t)count;
    char *bytes = calloc(1, *size);
    memcpy(bytes, header, strlen(header));
    memcpy(bytes + 80, &promised, 4);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            float p[3] = {(float)i, (float)k, 0.5F};
            memcpy(bytes + 84 + 50 * i + 12 + 12 * k, p, 12);
        }
    return bytes;
}

static void test_stl_binary(void **state) {
    (void)state;
    size_t size;
    abut_mesh *m = NULL;
    abut_error error = {0};
    char *bytes = make_stl(5, 5, "solid but binary", &size);
    assert_int_equal(read_bytes(NULL, bytes, size, ABUT_FORMAT_AUTO, &m, &error), ABUT_OK);
    assert_int_equal(m->face_count, 5);
    assert_int_equal(m->point_count, 15);
    expect_point(m, 14, 4, 2, 0.5);
    assert_null(m->face_lines);
    abut_mesh_free(NULL, m);
    /* what is behind the last triangle is passed over; a count of nothing is not believed */
    uint32_t promised = 4;
    memcpy(bytes + 80, &promised, 4);
    assert_int_equal(read_bytes(NULL, bytes, size, ABUT_FORMAT_STL, &m, &error), ABUT_OK);
    assert_int_equal(m->face_count, 4);
    abut_mesh_free(NULL, m);
    promised = 0;
    memcpy(bytes + 80, &promised, 4);
    expect_error(bytes, size, ABUT_FORMAT_STL, 0, "promises no triangles at byte 80");
    /* numbers that are none, named by their byte: triangle 3, corner 1 */
    promised = 5;
    memcpy(bytes + 80, &promised, 4);
    float bad = NAN;
    memcpy(bytes + 84 + 150 + 12 + 12 + 4, &bad, 4);
    expect_error(bytes, size, ABUT_FORMAT_STL, 0, "corner 1 of triangle 3, at byte 258, has a coordinate");
    /* normals may be anything */
    memcpy(bytes + 84 + 150, &bad, 4);
    bad = 0;
    memcpy(bytes + 84 + 150 + 12 + 12 + 4, &bad, 4);
    assert_int_equal(read_bytes(NULL, bytes, size, ABUT_FORMAT_STL, &m, &error), ABUT_OK);
    abut_mesh_free(NULL, m);
    /* truncated, and absurd counts that must not be allocated */
    expect_error(bytes, size - 1, ABUT_FORMAT_STL, 0, "ends at byte 333, after 4 triangles; it is truncated");
    promised = UINT32_MAX;
    memcpy(bytes + 80, &promised, 4);
    expect_error(bytes, size, ABUT_FORMAT_STL, 0, "promises 4294967295 triangles");
    for (size_t cut = 0; cut < 84; cut++)
        expect_error("\x80", cut ? 1 : 0, ABUT_FORMAT_STL, 0, "at least 84");
    free(bytes);
}

/* ---- PLY */
static void test_ply_text(void **state) {
    (void)state;
    abut_mesh *m =
        read_text("ply\nformat ascii 1.0\ncomment two elements more, properties in any order\n"
                  "obj_info x\nelement material 1\nproperty list int float weights\n"
                  "element vertex 3\nproperty double z\nproperty uchar red\nproperty float x\n"
                  "property int y\nproperty list uchar uchar more\n"
                  "element face 2\nproperty float quality\nproperty list uint8 uint16 vertex_index\n"
                  "element edge 1\nproperty int a\nend_header\n"
                  "2 0.5 nan\n"
                  "1.5 255 2.5 -3 0\n"
                  "0 0 0 0 2 7 8\n"
                  "1 0 1 0 0\n"
                  "inf 3 0 1 2\n0.5 4 2 1\n0 1\n"
                  "5\n",
                  ABUT_FORMAT_AUTO);
    assert_int_equal(m->point_count, 3);
    expect_point(m, 0, 2.5, -3, 1.5);
    assert_int_equal(m->face_count, 2);
    expect_face(m, 1, 4, (int[]){2, 1, 0, 1});
    assert_int_equal(m->face_lines[0], 23);
    assert_int_equal(m->point_lines[1], 21);
    abut_mesh_free(NULL, m);
}

static void test_ply_errors(void **state) {
    (void)state;
#define VERTEX \
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define FACE "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    static const struct {
        const char *text;
        int line;
        const char *part;
    } cases[] = {
        {"plx\n", 1, "does not begin with the line `ply`"},
        {"ply\nformat ascii 1.0\nelement vertex 3\n", 4, "ends inside its header"},
        {"ply\nformat base64 1.0\n", 2, "`base64` is no PLY format"},
        {"ply\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\nend_header\n", 6,
         "no line `format`"},
        {"ply\nformat ascii 1.0\nend_header\n", 3, "there is no element vertex"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n", 6,
         "element vertex has 0 properties z"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float x\n"
         "property float y\nproperty float z\nend_header\n",
         8, "element vertex has 2 properties x"},
        {"ply\nformat ascii 1.0\nelement vertex -1\n", 3, "cannot be negative"},
        {"ply\nformat ascii 1.0\nelement vertex 99999999999999999999\n", 3, "beyond any possible value"},
        {"ply\nformat ascii 1.0\nproperty float x\n", 3, "before the first element"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty real x\n", 4, "`real` is no PLY number type"},
        {VERTEX "element face 1\nproperty list float int vertex_indices\nend_header\n", 8,
         "the count of a list is of type float"},
        {VERTEX "element face 1\nproperty int vertex_indices\nend_header\n", 9,
         "element face has 0 properties vertex_indices"},
        {VERTEX "element vertex 3\n", 7, "stands twice"},
        {VERTEX "what\n", 7, "`what` is no line of a PLY header"},
        {VERTEX FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", 13,
         "face 0 refers to vertex 3, but the file has only the 3 vertices 0 to 2"},
        {VERTEX FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", 13, "face 0 refers to vertex -1"},
        {VERTEX FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 1.5\n", 13, "face 0 refers to vertex 1.5"},
        {VERTEX FACE "0 0 0\n1 0 0\n0 1 0\n2 0 1\n", 13, "has 2 entries but a face needs at least 3"},
        {VERTEX FACE "0 0 0\n1 0 0\n0 1 0\n-3 0 1\n", 13, "has -3 entries"},
        {VERTEX FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1\n", 14,
         "inside face 0 of the 1 that it promises; it is truncated"},
        {VERTEX FACE "0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", 11, "y of vertex 1 is not finite"},
        {VERTEX FACE "0 0 0\n1 1e400 0\n0 1 0\n3 0 1 2\n", 11, "y of vertex 1 is not finite"},
        {VERTEX FACE "0 0 0\n1 zero 0\n0 1 0\n3 0 1 2\n", 11, "`zero`, which is not a number"},
        {VERTEX FACE "0 0\n", 0, "promises 3 items"},
        {"ply\nformat ascii 1.0\nelement vertex 999999999999\nproperty float x\nproperty float y\n"
         "property float z\nend_header\n0 0 0\n",
         0, "promises 999999999999 items"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        expect_text_error(cases[i].text, ABUT_FORMAT_PLY, cases[i].line, cases[i].part);
    /* an element without properties has nothing to read, however many are promised */
    abut_mesh *m = read_text("ply\nformat ascii 1.0\nelement nothing 9000000000000000000\nelement vertex 1\n"
                             "property float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n",
                             ABUT_FORMAT_PLY);
    assert_int_equal(m->point_count, 1);
    assert_int_equal(m->face_count, 0);
    abut_mesh_free(NULL, m);
}

static void append(char *bytes, size_t *size, uint64_t word, int width, bool big) {
    for (int i = 0; i < width; i++) bytes[(*size)++] = (char)(word >> 8 * (big ? width - 1 - i : i));
}

/* Every number type as coordinate, list count and index, in both endians. */
static void test_ply_binary(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int width;
        bool is_signed, is_real;
    } types[] = {{"char", 1, true, false},    {"uchar", 1, false, false}, {"int16", 2, true, false},
                 {"ushort", 2, false, false}, {"int", 4, true, false},    {"uint32", 4, false, false},
                 {"float", 4, true, true},    {"float64", 8, true, true}};
    for (int t = 0; t < COUNT_OF(types); t++)
        for (int big = 0; big < 2; big++) {
            char bytes[1024];
            bool list_type = !types[t].is_real;
            int header = snprintf(bytes, sizeof bytes,
                                  "ply\nformat binary_%s_endian 1.0\nelement vertex 3\nproperty %s x\n"
                                  "property %s y\nproperty %s z\nproperty short extra\nelement face 1\n"
                                  "property list %s %s vertex_indices\nend_header\n",
                                  big ? "big" : "little", types[t].name, types[t].name, types[t].name,
                                  list_type ? types[t].name : "uchar", types[t].name);
            size_t size = (size_t)header;
            int values[10] = {3, 7, 100, 0, types[t].is_signed ? -5 : 5, 1, 0, 0, 1, 0};
            for (int v = 0; v < 3; v++) {
                for (int c = 0; c < 3; c++) {
                    uint64_t word = (uint64_t)(int64_t)values[3 * v + c];
                    float single = (float)values[3 * v + c];
                    double wide = values[3 * v + c];
                    uint32_t low;
                    memcpy(&low, &single, 4);
                    if (types[t].is_real) word = low;
                    if (types[t].width == 8) memcpy(&word, &wide, 8);
                    append(bytes, &size, word, types[t].width, big);
                }
                append(bytes, &size, 0xbeef, 2, big);
            }
            append(bytes, &size, 3, list_type ? types[t].width : 1, big);
            for (int k = 2; k >= 0; k--) {
                uint64_t word = (uint64_t)k;
                float single = (float)k;
                double wide = k;
                uint32_t low;
                memcpy(&low, &single, 4);
                if (types[t].is_real) word = low;
                if (types[t].width == 8) memcpy(&word, &wide, 8);
                append(bytes, &size, word, types[t].width, big);
            }
            abut_mesh *m = NULL;
            abut_error error = {0};
            if (read_bytes(NULL, bytes, size, ABUT_FORMAT_AUTO, &m, &error) != ABUT_OK)
                fail_msg("%s: %s", types[t].name, error.message);
            expect_point(m, 0, 3, 7, 100);
            expect_point(m, 1, 0, types[t].is_signed ? -5 : 5, 1);
            expect_face(m, 0, 3, (int[]){2, 1, 0});
            assert_null(m->point_lines);
            abut_mesh_free(NULL, m);
            /* cut off at every byte of the body: an error, whatever is missing */
            for (size_t cut = (size_t)header; cut < size; cut++) {
                expect_error(bytes, cut, ABUT_FORMAT_PLY, 0, "truncated");
            }
        }
}

/* ---- OFF */
static void test_off(void **state) {
    (void)state;
    static const char *const good[] = {
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2",
        "# c\n\nOFF # c\n# c\n3 1 # no edges\n\n0 0 0 # p\n1 0 0\n# c\n0 1 0\n3 0 1 2 255 0 0\n",
        "COFF\r\n3 1 3\r\n0 0 0 1 1 1 1\r\n1 0 0 1 1 1 1\r\n0 1 0 1 1 1 1\r\n3 0 1 2 0.5 0.5 0.5 1\r\n",
        "NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n",
        ("STCNOFF\n3 1 0\n0 0 0 0 0 1 1 1 1 1 0 0\n1 0 0 0 0 1 1 1 1 1 0 0\n0 1 0 0 0 1 1 1 1 1 0 0\n"
         "3 0 1 2\n"),
        "3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    };
    for (int i = 0; i < COUNT_OF(good); i++) {
        abut_mesh *m = read_text(good[i], ABUT_FORMAT_OFF);
        assert_int_equal(m->point_count, 3);
        expect_point(m, 1, 1, 0, 0);
        expect_face(m, 0, 3, (int[]){0, 1, 2});
        abut_mesh_free(NULL, m);
    }
    static const struct {
        const char *text;
        int line;
        const char *part;
    } cases[] = {
        {"", 1, "is empty"},
        {"JUNK\n", 1, "`JUNK` is no OFF header"},
        {"OFF BINARY\n", 1, "binary OFF is not read"},
        {"4OFF\n", 1, "four or n dimensions"},
        {"OFF\n3 1 0\n0 0 0\n1 0 0\n", 5, "ends after 2 of the 3 vertices that it promises"},
        {"OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", 7, "ends after 1 of the 2 faces"},
        {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", 6, "face 0 refers to vertex 3"},
        {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", 6, "refers to vertex -1"},
        {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n", 6, "a vertex of face 0 is missing"},
        {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n", 6, "face 0 has 2 corners"},
        {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n99999999999 0 1\n", 6, "is missing"},
        {"OFF\n3 1 0\n0 0 0\n1 0 inf\n", 4, "z of vertex 1 is infinite"},
        {"OFF\n-3 1 0\n", 2, "cannot be negative"},
        {"OFF\n4000000000000 1 0\n0 0 0\n", 2, "have no room"},
        {"OFF\n0\n", 3, "the number of faces"},
        {"OFF\n", 2, "cut off"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        expect_text_error(cases[i].text, ABUT_FORMAT_OFF, cases[i].line, cases[i].part);
}

/* ---- which format */
static void test_detection(void **state) {
    (void)state;
    abut_mesh *m = NULL;
    abut_error error = {0};
    static const struct {
        const char *text, *name;
        int64_t faces;
    } cases[] = {{"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "noname", 1},
                 {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "UPPER.OBJ", 1},
                 {"# comment\nOFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "folder.x/noname", 1},
                 {"solid\nendsolid\n", NULL, 0},
                 {"ply\nformat ascii 1.0\nelement vertex 0\nproperty int x\nproperty int y\nproperty int z\n"
                  "end_header\n",
                  "a.bin", 0}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(abut_mesh_read(NULL, cases[i].text, strlen(cases[i].text), ABUT_FORMAT_AUTO,
                                        cases[i].name, &m, &error),
                         ABUT_OK);
        assert_int_equal(m->face_count, cases[i].faces);
        abut_mesh_free(NULL, m);
    }
    assert_int_equal(abut_mesh_read(NULL, "hello", 5, ABUT_FORMAT_AUTO, "x.txt", &m, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "neither OBJ, STL, PLY nor OFF"));
    assert_int_equal(abut_mesh_read(NULL, NULL, 0, ABUT_FORMAT_AUTO, "x", &m, &error), ABUT_INVALID);
    assert_int_equal(abut_mesh_load(NULL, "/nonexistent/file.obj", &m, &error), ABUT_IO);
    assert_non_null(strstr(error.message, "cannot be opened"));
    assert_int_equal(abut_mesh_load(NULL, "/", &m, &error), ABUT_IO);
    assert_null(m);
    /* a NULL error is allowed */
    assert_int_equal(abut_mesh_read(NULL, "f 0", 3, ABUT_FORMAT_OBJ, NULL, &m, NULL), ABUT_INVALID);
    abut_mesh_free(NULL, NULL);
}

/* ---- the files of shared/meshes: V and F of every row `| folder/file | V | E | F |` of the MANIFEST */
static void test_manifest(void **state) {
    (void)state;
    FILE *manifest = fopen(ABUT_SHARED "/meshes/MANIFEST.md", "r");
    if (!manifest) skip();
    char line[2000], file[200], path[1000], v[64], e[64], f[64];
    int rows = 0, unreadable = 0;
    while (fgets(line, sizeof line, manifest)) {
        if (sscanf(line, "| %199s | %63[^|] | %63[^|] | %63[^|]", file, v, e, f) < 2) continue;
        if (!strchr(file, '/') || !strchr(file, '.')) continue;
        snprintf(path, sizeof path, ABUT_SHARED "/meshes/%s", file);
        abut_mesh *m = NULL;
        abut_error error = {0};
        abut_status status = abut_mesh_load(NULL, path, &m, &error);
        rows++;
        bool bad = strstr(line, "bad indices") || strstr(line, "non-finite") || strstr(line, "unreadable");
        if (bad) {
            unreadable++;
            assert_int_equal(status, ABUT_INVALID);
            assert_string_equal(error.file, path);
            assert_true(error.line > 0);
            continue;
        }
        if (status != ABUT_OK) fail_msg("%s:%d: %s", error.file, error.line, error.message);
        if (m->point_count != atoll(v) || m->face_count != atoll(f))
            fail_msg("%s: V %lld F %lld, but the manifest says %s %s", file, (long long)m->point_count,
                     (long long)m->face_count, v, f);
        abut_mesh_free(NULL, m);
    }
    fclose(manifest);
    assert_int_equal(rows, 30 + 14 + 10 + 10 + 31);
    assert_int_equal(unreadable, 4);
}

/* ---- memory */
typedef struct input {
    const char *bytes;
    size_t size;
    abut_mesh_format format;
} input;

static abut_status read_input(const abut_context *context, void *user) {
    const input *i = user;
    abut_mesh *mesh = NULL;
    abut_error error = {0};
    abut_status status = read_bytes(context, i->bytes, i->size, i->format, &mesh, &error);
    abut_mesh_free(context, mesh);
    return status;
}

static void test_memory_runs_out(void **state) {
    (void)state;
    size_t stl_size;
    char *stl = make_stl(40, 40, "x", &stl_size);
    const char *ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                      "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
                      "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    const char *off = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    const char *text = "solid\n" FACET("0 0 0", "1 0 0", "0 1 0") "endsolid\n";
    const char *obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    input inputs[] = {{obj, strlen(obj), ABUT_FORMAT_OBJ},
                      {stl, stl_size, ABUT_FORMAT_STL},
                      {text, strlen(text), ABUT_FORMAT_STL},
                      {ply, strlen(ply), ABUT_FORMAT_PLY},
                      {off, strlen(off), ABUT_FORMAT_OFF}};
    for (int i = 0; i < COUNT_OF(inputs); i++) assert_true(support_fail_each(read_input, &inputs[i]) > 3);
    free(stl);
}

/* ---- damage: random bytes changed, dropped and repeated in good files; any answer but a crash */
static void test_damage(void **state) {
    (void)state;
    static const char *const files[] = {"broken/fmt_ascii.ply",     "broken/fmt_ascii.stl",
                                        "broken/fmt_binary_be.ply", "broken/fmt_binary_solid_header.stl",
                                        "broken/fmt_comments.off",  "broken/slashes_crlf_continuation.obj"};
    uint64_t seed = 77;
    for (int i = 0; i < COUNT_OF(files); i++) {
        char path[1000], *bytes = NULL;
        size_t size;
        snprintf(path, sizeof path, ABUT_SHARED "/meshes/%s", files[i]);
        if (file_read(NULL, path, &bytes, &size, NULL) != ABUT_OK) skip();
        for (int trial = 0; trial < 3000; trial++) {
            char *copy = malloc(size);
            memcpy(copy, bytes, size);
            size_t kept = trial % 4 == 0 ? random_bits(&seed) % (size + 1) : size;
            for (uint64_t k = random_bits(&seed) % 4; k > 0; k--)
                copy[random_bits(&seed) % size] = (char)random_bits(&seed);
            abut_mesh *mesh = NULL;
            abut_error error = {0};
            abut_status status = abut_mesh_read(NULL, copy, kept, ABUT_FORMAT_AUTO, files[i], &mesh, &error);
            if (status == ABUT_OK) {
                for (int64_t c = 0; c < mesh->corner_count; c++)
                    assert_true(mesh->corners[c] >= 0 && mesh->corners[c] < mesh->point_count);
                assert_int_equal(mesh->face_start[mesh->face_count], mesh->corner_count);
            } else {
                assert_null(mesh);
                assert_true(error.message[0] != 0);
            }
            abut_mesh_free(NULL, mesh);
            free(copy);
        }
        file_free(NULL, bytes, size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_obj_forms),       cmocka_unit_test(test_obj_errors),
        cmocka_unit_test(test_stl_text),        cmocka_unit_test(test_stl_binary),
        cmocka_unit_test(test_ply_text),        cmocka_unit_test(test_ply_errors),
        cmocka_unit_test(test_ply_binary),      cmocka_unit_test(test_off),
        cmocka_unit_test(test_detection),       cmocka_unit_test(test_manifest),
        cmocka_unit_test(test_memory_runs_out), cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
