/* Hulls: counts, volume and inertia in closed form; support mapping, hierarchy and Gauss map against all
 * vertices and faces; bad input; memory. */
#include "brute.h"
#include "support.h"

#include <stdlib.h>

static abut_hull *make(const vec3 *points, int64_t count) {
    abut_hull *hull = NULL;
    abut_error error = {0};
    if (abut_hull_create(NULL, points, count, &hull, &error) != ABUT_OK) print_error("%s\n", error.message);
    assert_non_null(hull);
    assert_int_equal(hull_validate(hull, &error), ABUT_OK);
    return hull;
}

/* A box l x m x n off its origin: mass lmn, xx = mass (m^2 + n^2) / 12. */
static void test_box(void **state) {
    (void)state;
    abut_hull *h = NULL;
    assert_int_equal(abut_hull_box(NULL, 2, 3, 5, &h, NULL), ABUT_OK);
    abut_hull_facts facts = abut_hull_facts_of(h);
    assert_int_equal(facts.vertices, 8);
    assert_int_equal(facts.edges, 12);
    assert_int_equal(facts.faces, 6);
    assert_int_equal(facts.most_corners, 4);
    assert_near(facts.volume, 30, 1e-13);
    assert_near(facts.area, 62, 1e-13);
    assert_near(facts.radius, sqrt(38) / 2, 1e-14);
    abut_mass mass = abut_hull_mass(h, 2);
    assert_near(mass.mass, 60, 1e-12);
    const double inertia[6] = {60 * 34.0 / 12, 60 * 29.0 / 12, 60 * 13.0 / 12, 0, 0, 0};
    for (int i = 0; i < 6; i++) assert_near(mass.inertia[i], inertia[i], 1e-11);
    abut_hull_free(NULL, h);
}

/* The corner of a cube: the simplex 0, x, y, z has volume 1/6, centre (1/4, 1/4, 1/4), and about it
 * xx = (1/60) 2 - (1/6) 2/16 = 1/80, xy = -(1/120 - (1/6)/16) = 1/480. */
static void test_simplex(void **state) {
    (void)state;
    const vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    abut_hull *h = make(points, 4);
    abut_mass mass = abut_hull_mass(h, 1);
    assert_near(mass.mass, 1.0 / 6, 1e-15);
    assert_near(vec3_distance(mass.center, vec3_make(0.25, 0.25, 0.25)), 0, 1e-15);
    for (int i = 0; i < 3; i++) assert_near(mass.inertia[i], 1.0 / 80, 1e-15);
    for (int i = 3; i < 6; i++) assert_near(mass.inertia[i], 1.0 / 480, 1e-15);
    abut_hull_free(NULL, h);
}

/* Points on the faces, edges and inside of a cube, in any rotation: still eight vertices and six faces. */
static void test_coplanar_points(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 100; round++) {
        vec3 points[125];
        pose at = support_pose(&seed, 10);
        for (int i = 0; i < 125; i++)
            points[i] =
                pose_point(at, vec3_make(i % 5 / 4.0 - 0.5, i / 5 % 5 / 4.0 - 0.5, i / 25 / 4.0 - 0.5));
        abut_hull *h = make(points, 125);
        assert_int_equal(h->vertex_count, 8);
        assert_int_equal(h->face_count, 6);
        assert_near(h->volume, 1, 1e-12);
        abut_hull_free(NULL, h);
    }
}

static vec3 *sphere_points(uint64_t *seed, int count) {
    vec3 *points = malloc((size_t)count * sizeof *points);
    for (int i = 0; i < count; i++) points[i] = support_direction(seed);
    return points;
}

/* hull_support and hull_climb reach as far as the farthest of all vertices, in random directions and in those
 * of faces and edges, where several are equally far. */
static void check_support(const abut_hull *h, vec3 d, int32_t start) {
    double farthest = -INFINITY;
    for (int i = 0; i < h->vertex_count; i++) farthest = fmax(farthest, vec3_dot(d, hull_vertex(h, i)));
    double slack = 4e-16 * h->radius * vec3_length(d);
    assert_true(vec3_dot(d, hull_vertex(h, hull_support(h, d))) >= farthest - slack);
    assert_true(vec3_dot(d, hull_vertex(h, hull_climb(h, d, start))) >= farthest - slack);
}

static void test_support(void **state) {
    (void)state;
    static const int counts[] = {4, 5, 7, 8, 13, 16, 32, 48, 49, 50, 64, 100, 256, 1000, 4000};
    uint64_t seed = 11;
    for (int k = 0; k < COUNT_OF(counts); k++) {
        vec3 *points = sphere_points(&seed, counts[k]);
        abut_hull *h = make(points, counts[k]);
        assert_int_equal(h->vertex_count, counts[k]);
        for (int i = 0; i < 2000; i++)
            check_support(h, vec3_scale(support_direction(&seed), 3),
                          support_int(&seed, 0, h->vertex_count - 1));
        for (int i = 0; i < h->face_count && i < 1000; i++) check_support(h, hull_faces(h)[i].n, 0);
        for (int i = 0; i < h->vertex_count && i < 1000; i++)
            check_support(h, hull_vertex(h, i), h->vertex_count - 1);
        abut_hull_free(NULL, h);
        free(points);
    }
}

/* How many vertices the search looks at: those of the coarsest level and the entries of the lists it walks.
 */
static int search_length(const abut_hull *h, vec3 d) {
    int32_t v = 0, looked = h->top_count;
    for (int32_t i = 0; i < h->top_count; i++)
        if (vec3_dot(d, hull_vertex(h, i)) > vec3_dot(d, hull_vertex(h, v))) v = i;
    for (int32_t k = hull_descent_start(h)[v]; k < hull_descent_start(h)[v + 1]; k++, looked++) {
        int32_t w = hull_descents(h)[k];
        if (vec3_dot(d, hull_vertex(h, w)) > vec3_dot(d, hull_vertex(h, v)))
            v = w, k = hull_descent_start(h)[w] - 1;
    }
    return looked;
}

/* Logarithmic: each doubling of the vertices adds no more than a constant to the search, on spheres and on
 * long thin rings, whose regions on the sphere all crowd along one circle. */
static void test_search_is_logarithmic(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int shape = 0; shape < 2; shape++)
        for (int n = 128; n <= 8192; n *= 2) {
            vec3 *points = sphere_points(&seed, n);
            for (int i = 0; shape == 1 && i < n; i++) {
                double angle = 6.283185307179586 * (i / 2) / (n / 2.0);
                points[i] = vec3_make(cos(angle), sin(angle), i % 2 ? 50 : -50);
            }
            abut_hull *h = make(points, n);
            double total = 0, directions = 500;
            for (int i = 0; i < directions; i++) total += search_length(h, support_direction(&seed));
            assert_true(h->top_count <= 16 || shape == 1);
            assert_true(total / directions <= 16 + 10 * log2(n));
            abut_hull_free(NULL, h);
            free(points);
        }
}

/* The Gauss map: the normal of a face gives the face, the middle of an arc gives the edge, the middle of a
 * region gives the vertex. */
static void check_gauss_map(const abut_hull *h) {
    for (int32_t f = 0; f < h->face_count; f++) {
        vec3 n = hull_faces(h)[f].n;
        abut_feature found = hull_feature(h, n, hull_support(h, n), 1e-9);
        assert_int_equal(found.kind, ABUT_FEATURE_FACE);
        assert_int_equal(found.id, f);
    }
    for (int32_t e = 0; e < h->edge_count; e++) {
        const hull_edge *edge = &hull_edges(h)[e];
        vec3 n = vec3_unit(vec3_add(hull_faces(h)[edge->face[0]].n, hull_faces(h)[edge->face[1]].n));
        abut_feature found = hull_feature(h, n, hull_support(h, n), 1e-9);
        assert_int_equal(found.kind, ABUT_FEATURE_EDGE);
        assert_int_equal(found.id, e);
    }
    for (int32_t v = 0; v < h->vertex_count; v++) {
        vec3 n = vec3_zero();
        for (int32_t k = hull_star_start(h)[v]; k < hull_star_start(h)[v + 1]; k++) {
            const hull_edge *edge = &hull_edges(h)[hull_stars(h)[k].edge];
            n = vec3_add(n, hull_faces(h)[edge->face[edge->vertex[0] != v]].n);
        }
        n = vec3_unit(n);
        abut_feature found = hull_feature(h, n, hull_support(h, n), 1e-9);
        assert_int_equal(found.kind, ABUT_FEATURE_VERTEX);
        assert_int_equal(found.id, v);
    }
}

static void test_gauss_map(void **state) {
    (void)state;
    uint64_t seed = 19;
    for (int n = 4; n <= 400; n += n / 3 + 1) {
        abut_hull *h = brute_random_hull(&seed, n, 2);
        check_gauss_map(h);
        abut_hull_free(NULL, h);
    }
    abut_hull *h = NULL;
    assert_int_equal(abut_hull_box(NULL, 1, 2, 3, &h, NULL), ABUT_OK);
    check_gauss_map(h);
    abut_hull_free(NULL, h);
}

/* One block: a copy elsewhere answers the same; the hash covers the content. */
static void test_block(void **state) {
    (void)state;
    uint64_t seed = 23;
    abut_hull *h = brute_random_hull(&seed, 200, 1);
    size_t bytes = abut_hull_facts_of(h).bytes;
    abut_hull *copy = malloc(bytes);
    memcpy(copy, h, bytes);
    abut_hull_free(NULL, h);
    assert_int_equal(hull_validate(copy, NULL), ABUT_OK);
    check_gauss_map(copy);
    ((char *)copy)[bytes / 2] ^= 1;
    abut_error error = {0};
    assert_int_equal(hull_validate(copy, &error), ABUT_FAILED);
    assert_non_null(strstr(error.message, "hash"));
    free(copy);
}

/* Reading: vertices are the points given, edges join them, corners of a face lie on it and turn left. */
static void test_reading(void **state) {
    (void)state;
    uint64_t seed = 29;
    vec3 points[40];
    for (int i = 0; i < 40; i++) points[i] = vec3_add(support_direction(&seed), vec3_make(1000, 0, 0));
    abut_hull *h = make(points, 40);
    abut_hull_facts facts = abut_hull_facts_of(h);
    for (int64_t v = 0; v < facts.vertices; v++)
        assert_near(vec3_distance(abut_hull_vertex(h, v), points[abut_hull_vertex_source(h, v)]), 0, 3e-13);
    for (int64_t f = 0; f < facts.faces; f++) {
        vec3 n;
        int64_t corner[8];
        int64_t count = abut_hull_face(h, f, &n, corner, 8);
        assert_true(count >= 3 && count <= facts.most_corners);
        vec3 a = abut_hull_vertex(h, corner[0]), b = abut_hull_vertex(h, corner[1]),
             c = abut_hull_vertex(h, corner[2]);
        assert_true(vec3_dot(n, vec3_cross(vec3_sub(b, a), vec3_sub(c, a))) > 0);
        for (int64_t v = 0; v < facts.vertices; v++)
            assert_true(vec3_dot(n, vec3_sub(abut_hull_vertex(h, v), a)) < 1e-12);
    }
    for (int64_t e = 0; e < facts.edges; e++) {
        int64_t vertices[2], faces[2];
        abut_hull_edge(h, e, vertices, faces);
        assert_true(vertices[0] != vertices[1] && faces[0] != faces[1]);
    }
    abut_hull_free(NULL, h);
}

static void refuse(const vec3 *points, int64_t count, const char *word) {
    abut_hull *h = NULL;
    abut_error error = {0};
    assert_int_equal(abut_hull_create(NULL, points, count, &h, &error), ABUT_INVALID);
    assert_null(h);
    if (!strstr(error.message, word)) print_error("%s\n", error.message);
    assert_non_null(strstr(error.message, word));
}

static void test_bad_input(void **state) {
    (void)state;
    vec3 flat[20],
        same[8] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
    uint64_t seed = 31;
    quat turn = support_rotation(&seed);
    for (int i = 0; i < 20; i++) flat[i] = quat_rotate(turn, vec3_make(cos(i), sin(i * 1.7), 0.25));
    refuse(flat, 3, "at least 4");
    refuse(flat, 0, "at least 4");
    refuse(flat, 20, "one plane");
    refuse(same, 8, "one point");
    for (int i = 0; i < 20; i++) flat[i] = vec3_make(i, 2 * i, 3 * i);
    refuse(flat, 20, "one plane");
    flat[7].y = NAN;
    refuse(flat, 20, "point 7");
    flat[7].y = INFINITY;
    refuse(flat, 20, "point 7");
    vec3 far[5] = {{0, 0, 0}, {1e200, 0, 0}, {0, 1e200, 0}, {0, 0, 1e200}, {1, 1, 1}};
    refuse(far, 5, "volume");
    vec3 tiny[4] = {{0, 0, 0}, {1e-200, 0, 0}, {0, 1e-200, 0}, {0, 0, 1e-200}};
    refuse(tiny, 4, "volume");
    abut_hull *h = NULL;
    assert_int_equal(abut_hull_box(NULL, 1, -1, 1, &h, NULL), ABUT_INVALID);
    assert_int_equal(abut_hull_box(NULL, 1, NAN, 1, &h, NULL), ABUT_INVALID);
}

/* Random points from few possible coordinates: doubles, collinear and coplanar ones everywhere.  Either a
 * valid hull of all points comes out, or a message. */
static void test_degenerate_clouds(void **state) {
    (void)state;
    uint64_t seed = 37;
    int made = 0;
    for (int round = 0; round < 3000; round++) {
        vec3 points[60];
        int n = support_int(&seed, 4, 60), grid = support_int(&seed, 1, 4);
        double noise = round % 3 == 0 ? 0 : round % 3 == 1 ? 1e-16 : 1e-9;
        quat turn = round % 2 ? support_rotation(&seed) : quat_identity();
        for (int i = 0; i < n; i++) {
            vec3 p = {support_int(&seed, 0, grid), support_int(&seed, 0, grid), support_int(&seed, 0, grid)};
            points[i] = vec3_add(quat_rotate(turn, p), support_vec(&seed, noise));
        }
        abut_hull *h = NULL;
        abut_error error = {0};
        abut_status status = abut_hull_create(NULL, points, n, &h, &error);
        if (status != ABUT_OK) {
            assert_true(error.message[0] != 0 && h == NULL);
            continue;
        }
        made++;
        assert_int_equal(hull_validate(h, &error), ABUT_OK);
        for (int i = 0; i < n; i++)
            for (int f = 0; f < h->face_count; f++)
                assert_true(vec3_dot(hull_faces(h)[f].n, vec3_sub(points[i], h->center)) <=
                            hull_faces(h)[f].d + 1e-12);
        abut_hull_free(NULL, h);
    }
    assert_true(made > 2000);
}

static abut_status attempt(const abut_context *context, void *user) {
    abut_hull *h = NULL;
    abut_status status = abut_hull_create(context, user, 120, &h, NULL);
    abut_hull_free(context, h);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    uint64_t seed = 41;
    vec3 *points = sphere_points(&seed, 120);
    assert_true(support_fail_each(attempt, points) > 10);
    free(points);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_simplex),
        cmocka_unit_test(test_coplanar_points),
        cmocka_unit_test(test_support),
        cmocka_unit_test(test_search_is_logarithmic),
        cmocka_unit_test(test_gauss_map),
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_degenerate_clouds),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
