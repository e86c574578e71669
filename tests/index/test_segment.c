/* Segments and polygons: the example of figure 3, sequences worked out by hand, random ones against exact
 * predicates, areas that must add up. */
#include "oracle.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* The kinds of a sequence as letters: o, i, v, e, f. */
static const char *letters(const abut_index *index, const abut_solid *solid, vec3 a, vec3 b, double epsilon) {
    static char word[65];
    abut_run runs[64];
    int count = abut_index_segment(index, solid, a, b, epsilon, runs, 64);
    assert_in_range(count, 1, 64);
    for (int i = 0; i < count; i++) word[i] = "oivef"[runs[i].place.kind];
    word[count] = 0;
    return word;
}

/* Figure 3: outside, across edge e1 into face f, then to a vertex v4, along edge e4 to vertex v5 and out.  An
 * L-shaped plate: the segment runs on its top from the outer border to the reflex corner and along the edge
 * behind it. */
static void test_figure_3(void **state) {
    (void)state;
    const double outline[6][2] = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 1, &solid, NULL), ABUT_OK);
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
    abut_vec3 origin = {0, 0, 0.5};
    vec3 a = vec3_add(origin, (vec3){-1, 1, 0}), b = vec3_add(origin, (vec3){4, 1, 0});
    abut_run runs[16];
    int count = abut_index_segment(index, solid, a, b, 1e-6, runs, 16);
    const abut_place_kind kinds[] = {ABUT_OUTSIDE, ABUT_ON_EDGE,   ABUT_ON_FACE, ABUT_ON_VERTEX,
                                     ABUT_ON_EDGE, ABUT_ON_VERTEX, ABUT_OUTSIDE};
    const double at[] = {-1, 0, 0, 1, 1, 3, 3}; /* x where each begins */
    assert_int_equal(count, 7);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(runs[i].place.kind, kinds[i]);
        assert_true(fabs(runs[i].points[0].x - at[i]) < 1e-9);
        assert_int_equal(runs[i].point_count, i == 1 || i == 3 || i == 5 ? 1 : 2);
    }
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

static void test_cube(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_box(NULL, 2, 2, 2, &solid, NULL), ABUT_OK);
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
    const struct {
        vec3 a, b;
        const char *want;
    } cases[] = {
        {{-2, 0, 0}, {2, 0, 0}, "ofifo"},     /* through two faces */
        {{-2, -2, 1}, {2, 2, 1}, "ovfvo"},    /* diagonal of a face */
        {{-2, 1, 1}, {2, 1, 1}, "ovevo"},     /* along an edge */
        {{-2, -2, -2}, {2, 2, 2}, "ovivo"},   /* diagonal of the cube */
        {{2, 0, 0.5}, {0, 2, 0.5}, "oeo"},    /* touches an edge */
        {{2, 0, 1}, {0, 2, 1}, "ovo"},        /* touches a vertex */
        {{0, 0, 0}, {1, 0, 0}, "if"},         /* ends on a face */
        {{1, 0, 0}, {1, 0, 0.5}, "f"},        /* inside a face */
        {{1, 1, -0.5}, {1, 1, 0.5}, "e"},     /* inside an edge */
        {{1, 1, 1}, {3, 3, 3}, "vo"},         /* leaves from a vertex */
        {{1, 1, 0}, {-1, -1, 0}, "eie"},      /* from edge to edge */
        {{1, 0.2, 0}, {-1, 0.2, 0}, "fif"},   /* from face to face */
        {{5, 0, 0}, {9, 0, 0}, "o"},          /* beside */
        {{0.5, 0, 0}, {-0.5, 0.1, 0.3}, "i"}, /* within */
        {{1, -2, 0.3}, {1, 2, 0.3}, "oefeo"}, /* across a face in its plane */
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const char *want = cases[i].want;
        for (int k = 0; k < 3; k++) {
            double epsilon = k == 0 ? 1e-6 : k == 1 ? 1e-9 : 1e-4;
            assert_string_equal(letters(index, solid, cases[i].a, cases[i].b, epsilon), want);
        }
        /* backwards it reads backwards */
        char word[65], back[65];
        strcpy(word, letters(index, solid, cases[i].a, cases[i].b, 1e-6));
        strcpy(back, letters(index, solid, cases[i].b, cases[i].a, 1e-6));
        size_t n = strlen(word);
        assert_int_equal(strlen(back), n);
        for (size_t k = 0; k < n; k++) assert_int_equal(word[k], back[n - 1 - k]);
    }
    /* a segment without length is a point; one that is not finite is refused */
    assert_string_equal(letters(index, solid, (vec3){1, 1, 1}, (vec3){1, 1, 1}, 1e-6), "v");
    abut_run run;
    assert_true(abut_index_segment(index, solid, (vec3){NAN, 0, 0}, (vec3){0, 0, 0}, 1e-6, &run, 1) < 0);
    assert_true(abut_index_segment(index, solid, (vec3){0, 0, 0}, (vec3){0, INFINITY, 0}, 1e-6, &run, 1) < 0);
    /* capacity limits what is written, not what is counted */
    run.place.id = 77;
    assert_int_equal(abut_index_segment(index, solid, (vec3){-2, 0, 0}, (vec3){2, 0, 0}, 1e-6, &run, 0), 5);
    assert_int_equal(run.place.id, 77);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

/* ---- random segments */
static void visit_mesh(const char *path, void *user) {
    int *solids = user;
    if (strstr(path, "koala") || strstr(path, "self_intersect") || strstr(path, "wingnut")) return;
    abut_solid *solid = oracle_load(path);
    if (!solid) return;
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
    oracle_check_segments(solid, index, 10000, solid->face_count > 5000 ? 500 : 2000, path);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
    ++*solids;
}

static void test_random_segments(void **state) {
    (void)state;
    const char *folders[] = {"meshes/solid", "meshes/table1", "meshes/cage", "meshes/broken", "meshes/real"};
    int solids = 0;
    for (int i = 0; i < COUNT_OF(folders); i++)
        support_each_file(support_shared(folders[i]), "", visit_mesh, &solids);
    assert_true(solids > 45);
}

/* An edge of the solid, prolonged a little, is found as vertex, edge, vertex. */
static void test_edges_as_segments(void **state) {
    (void)state;
    const char *files[] = {"meshes/solid/gear_z12.obj", "meshes/solid/comb.obj", "meshes/table1/torus_10.obj",
                           "meshes/solid/bolt_m10.obj", "meshes/real/spot_low_resolution.obj"};
    for (int f = 0; f < COUNT_OF(files); f++) {
        abut_solid *s = oracle_load(support_shared(files[f]));
        abut_index *index = oracle_build(s, ABUT_INDEX_HYBRID);
        for (int32_t e = 0; e < s->edge_count; e++) {
            const int32_t *v = solid_edges(s)[e].vertex;
            abut_run runs[8];
            int count = index_classify_segment(index, s, solid_position(s, v[0]), solid_position(s, v[1]),
                                               s->epsilon, runs, 8);
            assert_int_equal(count, 3);
            assert_true(runs[0].place.kind == ABUT_ON_VERTEX && runs[0].place.id == v[0]);
            assert_true(runs[1].place.kind == ABUT_ON_EDGE && runs[1].place.id == e);
            assert_true(runs[2].place.kind == ABUT_ON_VERTEX && runs[2].place.id == v[1]);
        }
        abut_index_free(NULL, index);
        abut_solid_free(NULL, s);
    }
}

/* ---- polygons */
static double area_of(const vec3 *p, int count) {
    vec3 sum = {0, 0, 0};
    for (int i = 1; i + 1 < count; i++)
        sum = vec3_add(sum, vec3_cross(vec3_sub(p[i], p[0]), vec3_sub(p[i + 1], p[0])));
    return vec3_length(sum) / 2;
}

static void test_polygon_on_l(void **state) {
    (void)state;
    /* the L of figure 3, its top at z = 0.5; a square in the plane of the top that covers the reflex corner
     */
    const double outline[6][2] = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 1, &solid, NULL), ABUT_OK);
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
    const vec3 square[4] = {{0.5, 0.5, 0.5}, {2, 0.5, 0.5}, {2, 2, 0.5}, {0.5, 2, 0.5}};
    for (int lift = -1; lift <= 1; lift++) { /* within epsilon of the plane it is the same */
        vec3 lifted[4];
        for (int i = 0; i < 4; i++) lifted[i] = vec3_add(square[i], (vec3){0, 0, lift * 0.9e-6});
        abut_parts parts;
        abut_regions regions;
        assert_int_equal(abut_index_polygon(NULL, index, solid, lifted, 4, 1e-6, &parts, NULL), ABUT_OK);
        assert_int_equal(abut_parts_join(NULL, &parts, (vec3){0, 0, 1}, 1e-6, &regions, NULL), ABUT_OK);
        assert_int_equal(regions.count, 2);
        for (int r = 0; r < 2; r++) {
            bool on = regions.places[r].kind == ABUT_ON_FACE;
            int32_t corners =
                regions.corner_start[regions.loop_start[r] + 1] - regions.corner_start[regions.loop_start[r]];
            assert_int_equal(regions.loop_start[r + 1] - regions.loop_start[r], 1);
            assert_int_equal(corners, on ? 6 : 4); /* an L of area 1.25, a square of area 1 */
            assert_true(fabs(regions.areas[r] - (on ? 1.25 : 1)) < 1e-12);
            if (!on) assert_int_equal(regions.places[r].kind, ABUT_OUTSIDE);
        }
        abut_regions_free(NULL, &regions);
        abut_parts_free(NULL, &parts);
    }
    /* one that stands on the top: half outside, half inside */
    const vec3 standing[4] = {{0.5, 0.5, 0}, {0.9, 0.5, 0}, {0.9, 0.5, 1}, {0.5, 0.5, 1}};
    abut_parts parts;
    assert_int_equal(abut_index_polygon(NULL, index, solid, standing, 4, 1e-6, &parts, NULL), ABUT_OK);
    double area[5] = {0};
    for (int64_t i = 0; i < parts.count; i++)
        area[parts.places[i].kind] +=
            area_of(parts.points + parts.start[i], parts.start[i + 1] - parts.start[i]);
    assert_true(fabs(area[ABUT_OUTSIDE] - 0.2) < 1e-12 && fabs(area[ABUT_INSIDE] - 0.2) < 1e-12);
    abut_parts_free(NULL, &parts);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

/* A plate with a hole in the plane of a face: its shadow on the face is a ring. */
static void test_region_with_hole(void **state) {
    (void)state;
    abut_solid *solid = oracle_load(support_shared("meshes/broken/ngon_hole_bridge.obj"));
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
    int32_t face = -1;
    for (int32_t f = 0; f < solid->face_count; f++)
        if (solid_faces(solid)[f].loops == 2) face = f;
    assert_true(face >= 0);
    plane p = solid_faces(solid)[face].plane;
    vec3 u = vec3_orthogonal(p.n), v = vec3_cross(p.n, u), o = vec3_scale(p.n, p.d);
    double big = 10 * solid->diagonal;
    vec3 square[4] = {vec3_axpy(vec3_axpy(o, -big, u), -big, v), vec3_axpy(vec3_axpy(o, big, u), -big, v),
                      vec3_axpy(vec3_axpy(o, big, u), big, v), vec3_axpy(vec3_axpy(o, -big, u), big, v)};
    for (int i = 0; i < 4; i++) square[i] = vec3_add(square[i], solid->origin);
    abut_parts parts;
    abut_regions regions;
    assert_int_equal(abut_index_polygon(NULL, index, solid, square, 4, solid->epsilon, &parts, NULL),
                     ABUT_OK);
    assert_int_equal(abut_parts_join(NULL, &parts, p.n, solid->epsilon, &regions, NULL), ABUT_OK);
    bool found = false;
    for (int64_t r = 0; r < regions.count; r++) {
        if (regions.places[r].kind != ABUT_ON_FACE || regions.places[r].id != face) continue;
        found = true;
        assert_int_equal(regions.loop_start[r + 1] - regions.loop_start[r], 2);
        assert_true(fabs(regions.areas[r] - solid_faces(solid)[face].area) <
                    1e-9 * solid_faces(solid)[face].area);
    }
    assert_true(found);
    abut_regions_free(NULL, &regions);
    abut_parts_free(NULL, &parts);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

/* Every face laid on its own solid is on itself, all of it; random polygons are covered by their parts, and a
 * point in the middle of a part is where the part is. */
static void test_random_polygons(void **state) {
    (void)state;
    const char *files[] = {"meshes/solid/gear_z12.obj", "meshes/solid/comb.obj", "meshes/table1/torus_10.obj",
                           "meshes/solid/nut_m10.obj", "meshes/solid/jigsaw_socket.obj"};
    uint64_t seed = 53;
    for (int f = 0; f < COUNT_OF(files); f++) {
        abut_solid *s = oracle_load(support_shared(files[f]));
        abut_index *index = oracle_build(s, ABUT_INDEX_HYBRID);
        for (int i = 0; i < 1000; i++) {
            vec3 polygon[4];
            int count = 3;
            const solid_face *face = &solid_faces(s)[random_bits(&seed) % (uint64_t)s->face_count];
            bool laid = i % 2;
            if (laid) { /* a triangle in the plane of a face, with a corner in it */
                vec3 c = solid_position(s, solid_coedges(s)[solid_loops(s)[face->first_loop].coedge].vertex);
                vec3 u = vec3_orthogonal(face->plane.n), v = vec3_cross(face->plane.n, u);
                for (int k = 0; k < 3; k++)
                    polygon[k] = vec3_axpy(vec3_axpy(c, random_range(&seed, -0.3, 0.3) * s->diagonal, u),
                                           random_range(&seed, -0.3, 0.3) * s->diagonal, v);
            } else {
                for (int k = 0; k < 3; k++) polygon[k] = support_vec(&seed, s->diagonal / 2);
            }
            abut_parts parts = {0};
            assert_int_equal(index_classify_polygon(NULL, index, s, polygon, count, s->epsilon, &parts, NULL),
                             ABUT_OK);
            double area = 0;
            for (int64_t k = 0; k < parts.count; k++) {
                const vec3 *p = parts.points + parts.start[k];
                int n = parts.start[k + 1] - parts.start[k];
                double part = area_of(p, n), around = 0;
                vec3 middle = {0, 0, 0};
                for (int c = 0; c < n; c++)
                    middle = vec3_axpy(middle, 1.0 / n, p[c]), around += vec3_distance(p[c], p[(c + 1) % n]);
                area += part;
                if (part < 20 * s->epsilon * around) continue;
                abut_place place = index_classify_point(index, s, middle, s->epsilon);
                if (place.kind != parts.places[k].kind || place.id != parts.places[k].id)
                    fail_msg("%s: part %d of polygon %d is %s %d but its middle %s %d", files[f], (int)k, i,
                             abut_place_kind_name(parts.places[k].kind), (int)parts.places[k].id,
                             abut_place_kind_name(place.kind), (int)place.id);
            }
            double whole = area_of(polygon, 3);
            if (fabs(area - whole) > 1e-9 * whole)
                fail_msg("%s: polygon %d has area %.17g, its parts %.17g", files[f], i, whole, area);
            /* joining keeps the area */
            abut_regions regions;
            vec3 normal = vec3_cross(vec3_sub(polygon[1], polygon[0]), vec3_sub(polygon[2], polygon[0]));
            assert_int_equal(abut_parts_join(NULL, &parts, normal, s->epsilon, &regions, NULL), ABUT_OK);
            double joined = 0;
            for (int64_t k = 0; k < regions.count; k++) joined += regions.areas[k];
            if (fabs(joined - whole) > 1e-4 * whole)
                fail_msg("%s: polygon %d has area %.17g, its regions %.17g", files[f], i, whole, joined);
            abut_regions_free(NULL, &regions);
            abut_parts_free(NULL, &parts);
        }
        abut_index_free(NULL, index);
        abut_solid_free(NULL, s);
    }
}

static abut_status attempt_polygon(const abut_context *context, void *user) {
    void **both = user;
    const vec3 square[4] = {{-2, -2, 1}, {2, -2, 1}, {2, 2, 1}, {-2, 2, 1}};
    abut_parts parts;
    abut_regions regions = {0};
    abut_status status = abut_index_polygon(context, both[1], both[0], square, 4, 1e-6, &parts, NULL);
    if (status == ABUT_OK) status = abut_parts_join(context, &parts, (vec3){0, 0, 1}, 1e-6, &regions, NULL);
    abut_regions_free(context, &regions);
    abut_parts_free(context, &parts);
    return status;
}

static void test_memory_runs_out(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_box(NULL, 2, 2, 2, &solid, NULL), ABUT_OK);
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
    void *both[2] = {solid, index};
    assert_true(support_fail_each(attempt_polygon, both) > 5);
    abut_error error = {0};
    abut_parts parts;
    const vec3 bad[3] = {{0, 0, 0}, {NAN, 0, 0}, {0, 1, 0}};
    assert_int_equal(abut_index_polygon(NULL, index, solid, bad, 3, 1e-6, &parts, &error), ABUT_INVALID);
    assert_int_equal(abut_index_polygon(NULL, index, solid, bad, 2, 1e-6, &parts, &error), ABUT_INVALID);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
}

/* ---- many entities, little stack */

enum { TEETH = 300 };
typedef struct comb {
    const abut_solid *solid;
    const abut_index *index;
    int count;
    abut_run runs[4 * TEETH + 8];
} comb;

static void *along_the_teeth(void *user) {
    comb *c = user;
    c->count = abut_index_segment(c->index, c->solid, (vec3){-1, 2, 0}, (vec3){2 * TEETH + 1, 2, 0}, 1e-6,
                                  c->runs, COUNT_OF(c->runs));
    return NULL;
}

/* Along the tops of a comb: out, then for each tooth edge, face, edge, out.  In a thread with 128 kB of
 * stack. */
static void test_many_entities_take_little_stack(void **state) {
    (void)state;
    double(*outline)[2] = test_malloc((4 * TEETH + 2) * sizeof *outline);
    int n = 0;
    for (int i = TEETH - 1; i >= 0; i--) {
        const double x = 2 * i, corner[4][2] = {{x + 1, 1}, {x + 1, 2}, {x, 2}, {x, 1}};
        for (int k = 0; k < 4; k++) outline[n][0] = corner[k][0], outline[n++][1] = corner[k][1];
    }
    outline[n - 1][1] = 0; /* the first tooth and the last go down to the back */
    outline[0][1] = 0;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_prism(NULL, (const double(*)[2])outline, n, 2, &solid, NULL), ABUT_OK);
    comb *c = test_calloc(1, sizeof *c);
    abut_index *index = oracle_build(solid, ABUT_INDEX_HYBRID);
    c->solid = solid, c->index = index;
    pthread_attr_t small;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 128 << 10), 0);
    assert_int_equal(pthread_create(&thread, &small, along_the_teeth, c), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&small);
    assert_int_equal(c->count, 4 * TEETH + 1);
    static const abut_place_kind kinds[4] = {ABUT_OUTSIDE, ABUT_ON_EDGE, ABUT_ON_FACE, ABUT_ON_EDGE};
    for (int i = 0; i < c->count; i++) assert_int_equal(c->runs[i].place.kind, kinds[i % 4]);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
    test_free(c), test_free(outline);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_3),
        cmocka_unit_test(test_cube),
        cmocka_unit_test(test_edges_as_segments),
        cmocka_unit_test(test_polygon_on_l),
        cmocka_unit_test(test_region_with_hole),
        cmocka_unit_test(test_random_polygons),
        cmocka_unit_test(test_many_entities_take_little_stack),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_random_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
