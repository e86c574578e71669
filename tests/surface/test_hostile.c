/* Hostile and degenerate input to everything that makes a surface: a message with the place and what to do,
 * never a crash, never a loop without end. */
#include "cages.h"

#include <stdlib.h>

/* ---- cages */

static abut_status try_cage(const char *obj, abut_loop_form form, abut_error *error) {
    abut_mesh *cage = NULL;
    abut_surface *s = NULL;
    abut_loop_options o = {.form = form, .scale = 1};
    memset(error, 0, sizeof *error);
    abut_status status = abut_mesh_read(NULL, obj, strlen(obj), ABUT_FORMAT_OBJ, "cage.obj", &cage, error);
    if (status == ABUT_OK) status = abut_surface_loop(NULL, cage, &o, &s, error);
    if (s) abut_surface_check(s, error);
    abut_mesh_free(NULL, cage);
    abut_surface_free(NULL, s);
    return status;
}

#define POINTS      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
#define TETRAHEDRON POINTS "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"

/* Each in both forms: the status, the line (0: of the whole) and words of the message. */
static void test_cages(void **state) {
    (void)state;
    static const struct {
        const char *text;
        abut_status status;
        int line;
        const char *words;
    } cases[] = {
        {TETRAHEDRON, ABUT_OK, 0, ""},
        {"", ABUT_INVALID, 0, "0 triangles"},
        {POINTS "f 1 3 2\nf 1 2 4\nf 2 3 4\n", ABUT_INVALID, 0, "3 triangles"},
        /* boundaries: the line of the face that has it */
        {POINTS "v 2 2 2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 5\n", ABUT_UNSUPPORTED, 7, "boundary"},
        /* creases and corners, as OpenSubdiv tags them */
        {TETRAHEDRON "t crease 2/1/0 0 1 10.0\n", ABUT_UNSUPPORTED, 9, "crease"},
        {TETRAHEDRON "t corner 1/1/0 0 10.0\n", ABUT_UNSUPPORTED, 9, "corner"},
        /* edges of three faces, faces the wrong way round */
        {POINTS "v 2 2 2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 2 3 5\n", ABUT_INVALID, 9, "both run"},
        {POINTS "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 3 4\n", ABUT_INVALID, 8, "both run"},
        /* two tetrahedra that share a vertex */
        {POINTS "v -1 0 0\nv 0 -1 0\nv 0 0 -1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 1 5 6\nf 1 6 7\n"
                "f 1 7 5\nf 5 7 6\n",
         ABUT_INVALID, 1, "fan"},
        /* a pillow; a vertex of valence 2, which gives an edge of four faces */
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1\n", ABUT_INVALID, 0, "2 triangles"},
        {POINTS "v 1 1 1\nf 1 3 2\nf 1 2 4\nf 2 5 4\nf 5 2 4\nf 2 3 4\nf 3 1 4\n", ABUT_INVALID, 9,
         "both run"},
        {POINTS "f 1 1 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", ABUT_INVALID, 5, "twice"},
        {POINTS "f 1 3 9\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", ABUT_INVALID, 5, ""},
        {"v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", ABUT_INVALID, 1,
         "not a number"},
        {"v 0 0 inf\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", ABUT_INVALID, 1,
         "infinite"},
        /* the same corner twice: not closed, as nothing is welded in a cage */
        {POINTS "v 0 0 0\nf 1 3 2\nf 5 2 4\nf 2 3 4\nf 3 1 4\n", ABUT_UNSUPPORTED, 6, "boundary"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        for (int form = ABUT_LOOP_LIMIT; form <= ABUT_LOOP_SMOOTH; form++) {
            abut_error error;
            abut_status status = try_cage(cases[i].text, (abut_loop_form)form, &error);
            if (status != cases[i].status || !strstr(error.message, cases[i].words) ||
                (cases[i].line && error.line != cases[i].line))
                fail_msg("cage %d: status %d, line %d: %s", i, (int)status, error.line, error.message);
        }
}

/* Sizes: the limit surface takes any; S-patches, whose fit has fourth powers of lengths, say what they take.
 */
static void test_sizes(void **state) {
    (void)state;
    static const char *const sizes[] = {"1e200", "1e-200"};
    for (int i = 0; i < COUNT_OF(sizes); i++) {
        char text[512];
        abut_error error;
        snprintf(text, sizeof text,
                 "v 0 0 0\nv %s 0 0\nv 0 %s 0\nv 0 0 %s\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", sizes[i],
                 sizes[i], sizes[i]);
        assert_int_equal(try_cage(text, ABUT_LOOP_LIMIT, &error), ABUT_OK);
        assert_int_equal(try_cage(text, ABUT_LOOP_SMOOTH, &error), ABUT_INVALID);
        assert_non_null(strstr(error.message, "between 1e-50 and 1e50"));
    }
}

/* A double cone of valence n at line 1 and 2: 25 sides are too many for an S-patch, 513 for the limit. */
static abut_status try_valence(int n, abut_loop_form form, abut_error *error) {
    size_t room = 200 * (size_t)n + 100, at = 0;
    char *text = malloc(room);
    assert_non_null(text);
    at += (size_t)snprintf(text, room, "v 0 0 1\nv 0 0 -1\n");
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, "v %.9f %.9f 0\n", cos(6.283185307 * i / n),
                               sin(6.283185307 * i / n));
    for (int i = 0; i < n; i++) {
        int a = 3 + i, b = 3 + (i + 1) % n;
        at += (size_t)snprintf(text + at, room - at, "f 1 %d %d\nf 2 %d %d\n", a, b, b, a);
    }
    abut_status status = try_cage(text, form, error);
    free(text);
    return status;
}

static void test_valences(void **state) {
    (void)state;
    abut_error error;
    assert_int_equal(try_valence(24, ABUT_LOOP_SMOOTH, &error), ABUT_OK);
    assert_int_equal(try_valence(25, ABUT_LOOP_SMOOTH, &error), ABUT_UNSUPPORTED);
    assert_int_equal(error.line, 1);
    assert_non_null(strstr(error.message, "valence 25"));
    assert_int_equal(try_valence(512, ABUT_LOOP_LIMIT, &error), ABUT_OK);
    assert_int_equal(try_valence(513, ABUT_LOOP_LIMIT, &error), ABUT_UNSUPPORTED);
    assert_int_equal(error.line, 1);
}

/* Flat, folded, and shrunk cages are surfaces; those without tangent planes are told when bodies shall touch
 * them, and measures of them end. */
static void test_degenerate_cages(void **state) {
    (void)state;
    static const vec3 shapes[][4] = {
        {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0.25, 0}},   /* flat */
        {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}},         /* a line */
        {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1e-12}},     /* nearly flat */
        {{0, 0, 0}, {1e6, 0, 0}, {0, 1e-3, 0}, {0, 0, 1e-3}}, /* a needle */
    };
    for (int i = 0; i < COUNT_OF(shapes); i++) {
        char text[512];
        const vec3 *p = shapes[i];
        int at = 0;
        for (int k = 0; k < 4; k++)
            at += snprintf(text + at, sizeof text - (size_t)at, "v %.17g %.17g %.17g\n", p[k].x, p[k].y,
                           p[k].z);
        snprintf(text + at, sizeof text - (size_t)at, "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
        abut_mesh *cage = NULL;
        abut_surface *s = NULL;
        abut_surface_measures m;
        abut_error error = {0};
        abut_loop_options o = {.form = ABUT_LOOP_SMOOTH, .scale = 1};
        assert_int_equal(abut_mesh_read(NULL, text, strlen(text), ABUT_FORMAT_OBJ, "cage.obj", &cage, &error),
                         ABUT_OK);
        assert_int_equal(abut_surface_loop(NULL, cage, &o, &s, &error), ABUT_OK);
        abut_status measured = abut_surface_measure(s, 1e-9, &m, &error);
        assert_true(measured == ABUT_OK || error.message[0]);
        abut_status regular = abut_surface_check(s, &error);
        if (i == 1) assert_int_equal(regular, ABUT_UNSUPPORTED);
        if (regular != ABUT_OK) assert_non_null(strstr(error.message, "no tangent plane"));
        abut_surface_free(NULL, s);
        abut_mesh_free(NULL, cage);
    }
}

/* ---- Bezier nets */

static abut_status try_net(const vec3 points[16], const double *weights, abut_error *error,
                           abut_status *regular) {
    abut_surface *s = NULL;
    memset(error, 0, sizeof *error);
    abut_status status = abut_surface_rational(NULL, points, weights, 1, &s, error);
    *regular = s ? abut_surface_check(s, error) : status;
    abut_surface_free(NULL, s);
    return status;
}

static void test_nets(void **state) {
    (void)state;
    vec3 flat[16], p[16];
    double weights[16];
    abut_error error;
    abut_status regular;
    for (int k = 0; k < 16; k++) flat[k] = vec3_make(k % 4, k / 4, 0), weights[k] = 1;
    assert_int_equal(try_net(flat, weights, &error, &regular), ABUT_OK);
    assert_int_equal(regular, ABUT_OK);
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < COUNT_OF(bad); i++) {
        weights[6] = bad[i];
        assert_int_equal(try_net(flat, weights, &error, &regular), ABUT_INVALID);
        assert_non_null(strstr(error.message, "weight 6 of patch 0"));
        weights[6] = 1;
        if (isfinite(bad[i])) continue;
        memcpy(p, flat, sizeof p), p[9].y = bad[i];
        assert_int_equal(try_net(p, NULL, &error, &regular), ABUT_INVALID);
        assert_non_null(strstr(error.message, "control point 9 of patch 0"));
    }
    /* one point, huge, tiny */
    static const double scales[] = {0, 1e200, 1e-200};
    for (int i = 0; i < COUNT_OF(scales); i++) {
        for (int k = 0; k < 16; k++) p[k] = vec3_scale(flat[k], scales[i]);
        assert_int_equal(try_net(p, NULL, &error, &regular), ABUT_INVALID);
        assert_non_null(strstr(error.message, "between 1e-50 and 1e50"));
    }
    /* an edge shrunk to a point, all on a line, a tangent that vanishes in a corner: no tangent plane */
    memcpy(p, flat, sizeof p);
    for (int k = 0; k < 4; k++) p[k] = flat[0];
    assert_int_equal(try_net(p, NULL, &error, &regular), ABUT_OK);
    assert_int_equal(regular, ABUT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "patch 0 has no tangent plane"));
    for (int k = 0; k < 16; k++) p[k] = vec3_make(k, 0, 0);
    assert_int_equal(try_net(p, NULL, &error, &regular), ABUT_OK);
    assert_int_equal(regular, ABUT_UNSUPPORTED);
    memcpy(p, flat, sizeof p), p[1] = p[0];
    assert_int_equal(try_net(p, NULL, &error, &regular), ABUT_OK);
    assert_int_equal(regular, ABUT_UNSUPPORTED);
    /* a needle has one everywhere */
    for (int k = 0; k < 16; k++) p[k] = vec3_make(flat[k].x, 1e-6 * flat[k].y, 0);
    assert_int_equal(try_net(p, NULL, &error, &regular), ABUT_OK);
    assert_int_equal(regular, ABUT_OK);
}

/* A ball of eight octants with poles: it can be evaluated, but no body can have this shape: at a pole nothing
 * would find its contact, and it would fall through the floor. */
static void test_poles(void **state) {
    (void)state;
    const double k = 0.5522847498307936, arc[4][2] = {{1, 0}, {1, k}, {k, 1}, {0, 1}};
    static const int8_t quarter[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    char text[16384];
    size_t at = (size_t)snprintf(text, sizeof text, "body { shape = surface.bezier { control = {");
    for (int patch_of = 0; patch_of < 8; patch_of++)
        for (int i = 0; i < 16; i++) {
            int up = patch_of % 2 ? -1 : 1, column = up > 0 ? i % 4 : 3 - i % 4;
            const double *a = arc[column], *b = arc[i / 4];
            const int8_t *q = quarter[patch_of / 2];
            at += (size_t)snprintf(text + at, sizeof text - at, "{%.17g, %.17g, %.17g},",
                                   b[0] * (q[0] * a[0] - q[1] * a[1]), b[0] * (q[1] * a[0] + q[0] * a[1]),
                                   up * b[1]);
        }
    at += (size_t)snprintf(text + at, sizeof text - at, "} }, mass = 1, inertia = {1, 1, 1} }\n");
    const char *path = support_temporary("poles.lua");
    support_write(path, text, at);
    support_output out = support_run(NULL, "run", path, "-q", NULL);
    assert_int_not_equal(out.status, 0);
    assert_non_null(strstr(out.err, "has no tangent plane"));
    assert_non_null(strstr(out.err, "patches without poles"));
    support_output_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cages),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_valences), cmocka_unit_test(test_degenerate_cages),
        cmocka_unit_test(test_nets),     cmocka_unit_test(test_poles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
