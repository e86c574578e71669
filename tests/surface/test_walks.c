/* Walks over atlases of every kind: geodesics from every patch in random directions, each of them either
 * whole or ended where the surface ends; and every edge and every corner crossed, which is counted and
 * asserted.
 *
 *   edges     a walk that goes over one edge marks both of its sides.  Those that no random walk has met are
 *             aimed at, from the middle of their patch.
 *   corners   a random walk meets no corner.  So each corner of each patch is walked through from inside the
 *             patch: the start lies 1e-5 away, so that the geodesic, which turns by the square of that,
 * passes within 1e-9, the width of the extended boundary, and goes on straight on the other side.
 *
 * Few walks in the program that runs every time, 10,000 on every atlas in `surface_walks_soak`. */
#include "cages.h"

#include <stdio.h>

static int walks = 500;
static bool soak = false;

typedef struct tally {
    const abut_surface *s;
    char *crossed;         /* by place in the edge table */
    int aimed;             /* the edge that a walk is aimed at, or -1 */
    int64_t changes, ends; /* changes of patch; walks that came to an end of the surface */
} tally;

static void mark(tally *t, int edge) {
    const edge_link *link = surface_edge(t->s, edge);
    t->crossed[edge] = 1;
    t->crossed[surface_patch(t->s, link->patch)->first + link->edge] = 1;
}

/* The edge is told from the two patches, unless they share several. */
static void note(void *user, int from, int to, int crossings) {
    tally *t = user;
    const patch *p = surface_patch(t->s, from);
    int edge = -1, shared = 0;
    t->changes++;
    if (crossings > 1) return;
    for (int e = p->first; e < p->first + p->sides; e++)
        if (surface_edge(t->s, e)->patch == to) edge = e, shared++;
    if (shared == 1) mark(t, edge);
    if (t->aimed >= p->first && t->aimed < p->first + p->sides && surface_edge(t->s, t->aimed)->patch == to)
        mark(t, t->aimed);
    t->aimed = -1;
}

/* A walk, that must not be lost: it may only fail where the surface ends, going out there. */
static bool walk(tally *t, abut_surface_point *place, double rate[2], double length, double step) {
    abut_walk_hook hook = {note, t};
    abut_error error = {0};
    int edge = 0, q, f;
    abut_surface_point from = *place;
    abut_status status = abut_surface_walk(t->s, place, rate, length, step, &hook, &error);
    double outside = abut_surface_outside(t->s, *place, &edge);
    if (!(outside < 1e-8)) fail_msg("a walk ends outside patch %d by %g", place->patch, outside);
    if (status == ABUT_OK) return true;
    bool end = status == ABUT_FAILED && strstr(error.message, "the surface ends");
    if (!end || abut_surface_neighbour(t->s, place->patch, edge, &q, &f))
        fail_msg("a walk from %.17g, %.17g of patch %d is lost at %.17g, %.17g of patch %d: %s", from.u,
                 from.v, from.patch, place->u, place->v, place->patch, error.message);
    t->ends++;
    return false;
}

/* Random walks, a start in each patch in turn.  They keep their speed, but for one in a thousand: where the
 * limit of a sharp cage folds, a geodesic through the fold has no speed to keep. */
static void random_walks(tally *t, int count, double step, uint64_t *seed) {
    const abut_surface *s = t->s;
    int turned = 0;
    for (int k = 0; k < count; k++) {
        abut_surface_point place = random_place_in(s, k % s->patch_count, seed);
        double angle = random_range(seed, 0, 6.28), rate[2] = {cos(angle), sin(angle)};
        double speed = vec3_length(velocity_at(s, place, rate, NULL));
        t->aimed = -1;
        if (!walk(t, &place, rate, random_range(seed, 0.1, 0.3) * s->diagonal, step)) continue;
        double now = vec3_length(velocity_at(s, place, rate, NULL));
        if (!(fabs(now / speed - 1) < 1e-3)) turned++;
    }
    if (turned > count / 1000) fail_msg("%d of %d walks did not keep their speed", turned, count);
}

/* From a random place inside straight to a place of the edge, in parameters, from nearby: over the edge. */
static void aim_at_edge(tally *t, int p, int e, uint64_t *seed) {
    double corners[ABUT_SIDES_MOST][2], f = random_range(seed, 0.3, 0.7);
    int n = abut_surface_domain(t->s, p, corners);
    abut_surface_point inside = random_place_in(t->s, p, seed), place = {p, 0, 0};
    double u = (1 - f) * corners[e][0] + f * corners[(e + 1) % n][0],
           v = (1 - f) * corners[e][1] + f * corners[(e + 1) % n][1], rate[2] = {u - inside.u, v - inside.v};
    place.u = u - 0.01 * rate[0], place.v = v - 0.01 * rate[1];
    double length = 0.02 * vec3_length(velocity_at(t->s, place, rate, NULL));
    t->aimed = surface_patch(t->s, p)->first + e;
    walk(t, &place, rate, length, length);
}

/* How many corners lie around corner i of patch p; 0 where the surface ends in between. */
static int corners_around(const abut_surface *s, int p, int i) {
    int patch_of = p, corner = i, count = 0;
    do {
        int q, f;
        if (!abut_surface_neighbour(s, patch_of, corner, &q, &f)) return 0;
        patch_of = q, corner = (f + 1) % surface_patch(s, q)->sides;
        if (++count > 3 * s->patch_count)
            fail_msg("the patches around corner %d of patch %d do not close", i, p);
    } while (patch_of != p || corner != i);
    return count;
}

/* Through corner i of patch p and as far beyond: on a straight line, to first order. */
static void walk_through_corner(tally *t, int p, int i, uint64_t *seed) {
    const double *corner = surface_corner(t->s, surface_patch(t->s, p)->first + i);
    abut_surface_point inside = random_place_in(t->s, p, seed), place = {p, 0, 0};
    double rate[2] = {corner[0] - inside.u, corner[1] - inside.v}, h = 1e-5;
    place.u = corner[0] - h * rate[0], place.v = corner[1] - h * rate[1];
    partials at;
    abut_surface_evaluate(t->s, p, corner[0], corner[1], 0, &at);
    vec3 start, end, v = velocity_at(t->s, place, rate, &start);
    double length = h * vec3_length(v);
    t->aimed = -1;
    if (!walk(t, &place, rate, 2 * length, length)) fail_msg("corner %d of patch %d is an end", i, p);
    vec3 w = velocity_at(t->s, place, rate, &end), want = vec3_sub(vec3_scale(at.c, 2), start);
    if (!(vec3_distance(end, want) < 1e-3 * length + 1e-13 * t->s->diagonal) ||
        !(vec3_distance(v, w) < 1e-3 * vec3_length(v)))
        fail_msg("corner %d of patch %d: the walk ends %g of its length beside the line, its velocity turned "
                 "by %g",
                 i, p, vec3_distance(end, want) / length, vec3_distance(v, w) / vec3_length(v));
}

/* All of it; a step of half a patch, about. */
static void check_walks(const char *name, const abut_surface *s) {
    uint64_t seed = 24;
    size_t count = (size_t)s->corner_count;
    double step = fmin(0.02, 0.5 / sqrt(s->patch_count)) * s->diagonal;
    tally t = {.s = s, .crossed = mem_calloc(NULL, count, 1)};
    random_walks(&t, walks, step, &seed);
    int edges = 0, aimed = 0, corners = 0, missed = 0;
    for (int p = 0; p < s->patch_count; p++) {
        const patch *q = surface_patch(s, p);
        for (int i = 0; i < q->sides; i++) {
            if (corners_around(s, p, i) > 0) corners++, walk_through_corner(&t, p, i, &seed);
            if (surface_edge(s, q->first + i)->patch < 0) continue;
            edges++;
            if (!t.crossed[q->first + i]) aimed++, aim_at_edge(&t, p, i, &seed);
            missed += !t.crossed[q->first + i];
        }
    }
    print_message("%-30s %6d patches: %d walks, %lld changes of patch, %lld ends; of %d edges %d not crossed "
                  "(%d aimed at), %d corners crossed\n",
                  name, s->patch_count, walks, (long long)t.changes, (long long)t.ends, edges, missed, aimed,
                  corners);
    if (missed) fail_msg("%s: %d of %d edges were never crossed", name, missed, edges);
    mem_free(NULL, t.crossed, count, 1);
}

/* ---- the atlases */

static void test_quadrics(void **state) {
    (void)state;
    for (int kind = ABUT_PATCH_PLANE; kind <= ABUT_PATCH_TORUS; kind++) {
        abut_quadric q = abut_default_quadric((abut_patch_kind)kind);
        for (int skew = 0; skew < 2; skew++) {
            abut_surface *s = NULL;
            if (skew) q.axes = mat3_diagonal(0.5, 1.25, 1);
            assert_int_equal(abut_surface_quadric(NULL, &q, &s, NULL), ABUT_OK);
            check_walks(abut_patch_kind_name(q.kind), s);
            abut_surface_free(NULL, s);
        }
    }
}

/* A torus of rational quadratic arcs, four by four, closed in both directions. */
static void test_rational_torus(void **state) {
    (void)state;
    static const double knots[] = {0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
    static const double corner[9][2] = {{1, 0},   {1, 1},  {0, 1},  {-1, 1}, {-1, 0},
                                        {-1, -1}, {0, -1}, {1, -1}, {1, 0}};
    vec3 points[81];
    double weights[81];
    for (int k = 0; k < 81; k++) {
        const double *a = corner[k % 9], *b = corner[k / 9];
        double r = 1 + 0.375 * b[0];
        points[k] = vec3_make(r * a[0], r * a[1], 0.375 * b[1]);
        weights[k] = (k % 9 % 2 ? sqrt(0.5) : 1) * (k / 9 % 2 ? sqrt(0.5) : 1);
    }
    abut_nurbs n = {2, 2, 9, 9, knots, knots, points, weights};
    abut_surface *s = NULL;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, NULL), ABUT_OK);
    assert_true(s->closed);
    check_walks("rational torus", s);
    abut_surface_free(NULL, s);
}

/* A periodic cubic B-spline surface with a lumpy net: the last three rows are the first three again. */
static void test_periodic_spline(void **state) {
    (void)state;
    enum { U = 9, V = 7 };
    uint64_t seed = 31;
    double knots_u[U + 3 + 4], knots_v[V + 3 + 4];
    for (int i = 0; i < COUNT_OF(knots_u); i++) knots_u[i] = i;
    for (int i = 0; i < COUNT_OF(knots_v); i++) knots_v[i] = i;
    vec3 net[U * V], points[(U + 3) * (V + 3)];
    for (int k = 0; k < U * V; k++) {
        double a = 6.283185307179586 * (k % U) / U, b = 6.283185307179586 * (k / U) / V, r = 2 + cos(b);
        net[k] = vec3_add(vec3_make(r * cos(a), r * sin(a), sin(b)), support_vec(&seed, 0.1));
    }
    for (int k = 0; k < COUNT_OF(points); k++) points[k] = net[k / (U + 3) % V * U + k % (U + 3) % U];
    abut_nurbs n = {3, 3, U + 3, V + 3, knots_u, knots_v, points, NULL};
    abut_surface *s = NULL;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, NULL), ABUT_OK);
    assert_int_equal(s->patch_count, U * V);
    assert_true(s->closed);
    check_walks("periodic B-spline torus", s);
    abut_surface_free(NULL, s);
}

static void test_bezier_file(void **state) {
    (void)state;
    abut_surface *s = NULL;
    abut_error error = {0};
    if (abut_surface_load(NULL, support_shared("meshes/cage/rattleback_bezier.txt"), &s, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    check_walks("Kry's rattleback", s);
    abut_surface_free(NULL, s);
}

static void check_cage(const char *file) {
    char path[256];
    snprintf(path, sizeof path, "meshes/%s", file);
    abut_surface *s = smooth_of_file(path, 0);
    check_walks(file, s);
    abut_surface_free(NULL, s);
}

static void test_cages(void **state) {
    (void)state;
    static const char *const files[] = {"cage/bowl3.obj",
                                        "cage/bowl6_flat.obj",
                                        "cage/lumpy_marble.obj",
                                        "cage/octahedron.obj",
                                        "cage/cube_tri.obj",
                                        "cage/cube_quads.obj",
                                        "table1/sphere_08.obj",
                                        "table1/torus_06.obj",
                                        "real/osd_loop_icosahedron_level0.obj",
                                        "real/osd_loop_cube_level0.obj"};
    for (int i = 0; i < COUNT_OF(files); i++) check_cage(files[i]);
}

/* Every other cage of ABUT_SHARED that is closed and whose surface does not fold (docs/surface.md lists those
 * that do, and two that take too long). */
static void test_more_cages(void **state) {
    (void)state;
    static const char *const files[] = {"real/spot_control_mesh.obj", "real/spot_low_resolution.obj",
                                        "real/fish_control_mesh.obj", "real/penguin_control_mesh.obj",
                                        "real/ripc_chain_link.obj",   "real/ripc_lewis_block.obj",
                                        "real/ripc_lewis_center.obj", "real/ripc_lewis_left.obj",
                                        "real/ripc_oloid.obj",        "real/trimesh_quadknot.obj",
                                        "solid/chain3.obj",           "solid/chain_link.obj",
                                        "solid/dovetail_female.obj",  "solid/dovetail_male.obj",
                                        "solid/l_bracket.obj",        "solid/linked_rings.obj",
                                        "solid/nut_m10.obj",          "solid/trefoil_tube.obj",
                                        "table1/sphere_04.obj",       "table1/sphere_06.obj",
                                        "table1/sphere_10.obj",       "table1/torus_04.obj",
                                        "table1/torus_08.obj",        "table1/torus_10.obj",
                                        "table1/torus_20.obj"};
    for (int i = 0; i < COUNT_OF(files) && soak; i++) check_cage(files[i]);
}

int main(int count, char **arguments) {
    if (count > 0 && strstr(arguments[0], "soak")) walks = 10000, soak = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quadrics),        cmocka_unit_test(test_rational_torus),
        cmocka_unit_test(test_periodic_spline), cmocka_unit_test(test_bezier_file),
        cmocka_unit_test(test_cages),           cmocka_unit_test(test_more_cages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
