/* Bezier patches, rational ones, B-spline and NURBS surfaces: partials against the definitions, blossoms,
 * joining, and what is refused. */
#include "definitions.h"

/* ---- Bezier: sum of Bernstein polynomials */
typedef struct net16 {
    vec3 points[16];
    double weights[16];
} net16;
static quad3 bezier_definition(const void *user, quad u, quad v) {
    const net16 *n = user;
    quad bu[4] = {(1 - u) * (1 - u) * (1 - u), 3 * (1 - u) * (1 - u) * u, 3 * (1 - u) * u * u, u * u * u};
    quad bv[4] = {(1 - v) * (1 - v) * (1 - v), 3 * (1 - v) * (1 - v) * v, 3 * (1 - v) * v * v, v * v * v};
    quad3 sum = {0, 0, 0};
    quad w = 0;
    for (int k = 0; k < 16; k++) {
        quad b = bu[k % 4] * bv[k / 4] * n->weights[k];
        sum = quad3_axpy(sum, b, quad3_of(n->points[k])), w += b;
    }
    return (quad3){sum.x / w, sum.y / w, sum.z / w};
}

static void random_net(uint64_t *seed, net16 *n, bool weighted) {
    for (int k = 0; k < 16; k++) {
        n->points[k] = vec3_add(vec3_make(k % 4, k / 4.0, 0), support_vec(seed, 0.6));
        n->weights[k] = weighted ? random_range(seed, 0.3, 3) : 1;
    }
}

static void test_bezier(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 20; trial++) {
        net16 n;
        abut_surface *s = NULL;
        random_net(&seed, &n, trial % 2);
        abut_status status = trial % 2 ? abut_surface_rational(NULL, n.points, n.weights, 1, &s, NULL)
                                       : abut_surface_bezier(NULL, n.points, 1, &s, NULL);
        assert_int_equal(status, ABUT_OK);
        for (int i = 0; i < 10; i++)
            check_patch(s, 0, random_range(&seed, -0.1, 1.1), random_range(&seed, -0.1, 1.1),
                        bezier_definition, &n);
        check_patch(s, 0, 0, 1, bezier_definition, &n);
        abut_surface_free(NULL, s);
    }
    report_error("bicubic and rational Bezier");
}

/* A blossom is symmetric, affine in each argument, and equal to the patch on the diagonal. */
static void test_blossoms(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int trial = 0; trial < 50; trial++) {
        double data[BEZIER_NUMBERS] = {0}, tri[TRIANGLE_NUMBERS] = {0}, a[4], b[4], c[4];
        for (int i = 0; i < 16; i++)
            for (int k = 0; k < 3; k++) data[4 * i + k] = random_range(&seed, -1, 1);
        for (int i = 0; i < 15; i++)
            for (int k = 0; k < 3; k++) tri[4 * i + k] = random_range(&seed, -1, 1);
        double u[5], v[5];
        for (int i = 0; i < 5; i++) u[i] = random_range(&seed, -1, 2), v[i] = random_range(&seed, -1, 2);
        partials p;
        bezier_evaluate(data, u[0], v[0], 0, &p);
        bezier_blossom(data, (double[3]){u[0], u[0], u[0]}, (double[3]){v[0], v[0], v[0]}, a);
        assert_true(fabs(a[0] - p.c.x) + fabs(a[1] - p.c.y) + fabs(a[2] - p.c.z) < 1e-11);
        bezier_blossom(data, (double[3]){u[0], u[1], u[2]}, v, a);
        bezier_blossom(data, (double[3]){u[2], u[0], u[1]}, v, b);
        bezier_blossom(data, (double[3]){u[3], u[1], u[2]}, v, c);
        assert_true(fabs(a[1] - b[1]) < 1e-11);
        bezier_blossom(data, (double[3]){0.25 * u[0] + 0.75 * u[3], u[1], u[2]}, v, b);
        assert_true(fabs(b[2] - 0.25 * a[2] - 0.75 * c[2]) < 1e-11);
        double at[4][2], turned[4][2];
        for (int i = 0; i < 4; i++)
            at[i][0] = turned[(i + 1) % 4][0] = u[i], at[i][1] = turned[(i + 1) % 4][1] = v[i];
        vec3 x = triangle_blossom(tri, (const double(*)[2])at),
             y = triangle_blossom(tri, (const double(*)[2])turned);
        assert_true(vec3_distance(x, y) < 1e-10);
        for (int i = 0; i < 4; i++) at[i][0] = u[4], at[i][1] = v[4];
        triangle_evaluate(tri, u[4], v[4], 0, &p);
        assert_true(vec3_distance(triangle_blossom(tri, (const double(*)[2])at), p.c) < 1e-10);
    }
}

/* ---- NURBS: the quarter circle with weights 1, sqrt(1/2), 1 swept along a line lies on the cylinder; a
 * cubic with uneven knots agrees with de Boor's recursion (Cox) in 113 bits. */
static void test_nurbs_cylinder(void **state) {
    (void)state;
    double knots_u[] = {0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4}, knots_v[] = {0, 0, 1, 1}, weights[18];
    vec3 points[18];
    static const double corner[9][2] = {{1, 0},   {1, 1},  {0, 1},  {-1, 1}, {-1, 0},
                                        {-1, -1}, {0, -1}, {1, -1}, {1, 0}};
    for (int k = 0; k < 18; k++) {
        points[k] = vec3_make(corner[k % 9][0], corner[k % 9][1], k / 9);
        weights[k] = k % 9 % 2 ? sqrt(0.5) : 1;
    }
    abut_nurbs n = {2, 1, 9, 2, knots_u, knots_v, points, weights};
    abut_surface *s = NULL;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, NULL), ABUT_OK);
    assert_int_equal(abut_surface_patch_count(s), 4);
    for (int p = 0; p < 4; p++)
        for (int i = 0; i <= 8; i++) {
            partials at;
            int other, edge;
            abut_surface_evaluate(s, p, i / 8.0, 0.3, 1, &at);
            assert_true(fabs(at.c.x * at.c.x + at.c.y * at.c.y - 1) < 1e-14);
            assert_true(fabs(at.c.z - 0.3) < 1e-15);
            assert_true(vec3_dot(abut_partials_normal(&at), vec3_make(at.c.x, at.c.y, 0)) > 1 - 1e-14);
            assert_true(abut_surface_neighbour(s, p, 1, &other, &edge));
            assert_int_equal(other, (p + 1) % 4);
        }
    abut_surface_free(NULL, s);
}

static quad cox(const double *t, int i, int degree, quad x) {
    if (degree == 0) return x >= t[i] && x < t[i + 1];
    quad a = t[i + degree] > t[i] ? (x - t[i]) / ((quad)t[i + degree] - t[i]) * cox(t, i, degree - 1, x) : 0;
    quad b = t[i + degree + 1] > t[i + 1] ? (t[i + degree + 1] - x) / ((quad)t[i + degree + 1] - t[i + 1]) *
                                                cox(t, i + 1, degree - 1, x)
                                          : 0;
    return a + b;
}

/* One span of a NURBS surface with the parameters of its Bezier patch. */
typedef struct nurbs_span {
    const abut_nurbs *n;
    double u[2], v[2];
} nurbs_span;
static quad3 nurbs_definition(const void *user, quad a, quad b) {
    const nurbs_span *s = user;
    const abut_nurbs *n = s->n;
    quad x = s->u[0] + a * ((quad)s->u[1] - s->u[0]), y = s->v[0] + b * ((quad)s->v[1] - s->v[0]), w = 0;
    quad3 sum = {0, 0, 0};
    for (int k = 0; k < n->count_u * n->count_v; k++) {
        quad by_u = cox(n->knots_u, k % n->count_u, n->degree_u, x);
        if (by_u == 0) continue;
        quad f = by_u * cox(n->knots_v, k / n->count_u, n->degree_v, y) * (n->weights ? n->weights[k] : 1);
        sum = quad3_axpy(sum, f, quad3_of(n->points[k])), w += f;
    }
    return (quad3){sum.x / w, sum.y / w, sum.z / w};
}

static int spans_of(const double *knots, int degree, int count, double spans[][2]) {
    int n = 0;
    for (int k = degree; k < count; k++)
        if (knots[k] < knots[k + 1]) spans[n][0] = knots[k], spans[n++][1] = knots[k + 1];
    return n;
}

static void check_nurbs(const abut_nurbs *n, uint64_t *seed) {
    double u[8][2], v[8][2];
    int count_u = spans_of(n->knots_u, n->degree_u, n->count_u, u),
        count_v = spans_of(n->knots_v, n->degree_v, n->count_v, v);
    abut_surface *s = NULL;
    assert_int_equal(abut_surface_nurbs(NULL, n, &s, NULL), ABUT_OK);
    assert_int_equal(abut_surface_patch_count(s), count_u * count_v);
    for (int p = 0; p < count_u * count_v; p++) {
        nurbs_span span = {n, {u[p % count_u][0], u[p % count_u][1]}, {v[p / count_u][0], v[p / count_u][1]}};
        for (int i = 0; i < 2; i++) /* inside, as the differences must not leave the span */
            check_patch(s, p, random_range(seed, 0.01, 0.99), random_range(seed, 0.01, 0.99),
                        nurbs_definition, &span);
    }
    abut_surface_free(NULL, s);
}

/* Uneven knots, knots of every multiplicity up to the degree, clamped and not, degrees 1 to 3, with and
 * without weights. */
static void test_nurbs_knots(void **state) {
    (void)state;
    uint64_t seed = 6;
    static const double uneven[] = {-1, 0, 0.5, 0.5, 1, 2, 4, 4.5, 4.75, 6}; /* cubic, 6 points */
    static const double triple[] = {0, 0, 0, 0, 1, 1, 1, 3, 3, 3, 3};        /* cubic, 7: C0 at 1 */
    static const double twice[] = {0, 0, 0, 1, 3, 3, 3.5, 3.5, 3.5};         /* quadratic, 6: C0 at 3 */
    static const double linear[] = {0, 0, 0.25, 1, 1};                       /* linear, 3 */
    static const struct {
        int degree, count;
        const double *knots;
    } ways[] = {{3, 6, uneven}, {3, 7, triple}, {2, 6, twice}, {1, 3, linear}};
    vec3 points[49];
    double weights[49];
    for (int i = 0; i < COUNT_OF(points); i++)
        points[i] = support_vec(&seed, 1), weights[i] = random_range(&seed, 0.5, 2);
    for (int i = 0; i < COUNT_OF(ways); i++)
        for (int j = 0; j < COUNT_OF(ways); j++)
            for (int weighted = 0; weighted < 2; weighted++) {
                abut_nurbs n = {ways[i].degree, ways[j].degree, ways[i].count, ways[j].count,
                                ways[i].knots,  ways[j].knots,  points,        weighted ? weights : NULL};
                check_nurbs(&n, &seed);
            }
    report_error("B-spline and NURBS");
}

static void test_bad_nurbs(void **state) {
    (void)state;
    double ku[] = {0, 0, 0, 1, 1, 1}, kv[] = {0, 0, 0, 1, 1, 1}, weights[9];
    vec3 points[9];
    for (int i = 0; i < 9; i++) points[i] = vec3_make(i % 3, i / 3, 0), weights[i] = 1;
    abut_nurbs n = {2, 2, 3, 3, ku, kv, points, weights};
    abut_surface *s = NULL;
    abut_error error = {0};
    kv[3] = -1;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "knot 3 in v"));
    kv[3] = NAN;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, &error), ABUT_INVALID);
    kv[3] = 0, kv[4] = 0, kv[5] = 0;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "span nothing"));
    kv[3] = kv[4] = kv[5] = 1, n.degree_u = 5;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, &error), ABUT_UNSUPPORTED);
    n.degree_u = 2;
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < COUNT_OF(bad); i++) {
        weights[5] = bad[i];
        assert_int_equal(abut_surface_nurbs(NULL, &n, &s, &error), ABUT_INVALID);
        assert_non_null(strstr(error.message, "weight 2 of row 1"));
    }
    weights[5] = 1, points[7].y = NAN;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "point 1 of row 2"));
    assert_null(s);
}

/* Two patches back to back are joined; the second one mirrored is refused. */
static void test_join(void **state) {
    (void)state;
    vec3 points[32];
    int other, edge;
    abut_surface *s = NULL;
    for (int k = 0; k < 32; k++)
        points[k] = vec3_make(k % 4 + (k >= 16 ? 3 : 0), k % 16 / 4, (k % 4) * (k % 3));
    for (int j = 0; j < 4; j++) points[16 + 4 * j] = points[4 * j + 3];
    assert_int_equal(abut_surface_bezier(NULL, points, 2, &s, NULL), ABUT_OK);
    assert_true(abut_surface_neighbour(s, 0, 1, &other, &edge));
    assert_int_equal(other, 1);
    assert_int_equal(edge, 3);
    assert_false(abut_surface_neighbour(s, 0, 0, &other, &edge));
    abut_surface_free(NULL, s);
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 2; i++) {
            vec3 swap = points[16 + 4 * j + i];
            points[16 + 4 * j + i] = points[16 + 4 * j + 3 - i], points[16 + 4 * j + 3 - i] = swap;
        }
    abut_error error = {0};
    assert_int_equal(abut_surface_bezier(NULL, points, 2, &s, &error), ABUT_INVALID);
    points[3].x = NAN;
    assert_int_equal(abut_surface_bezier(NULL, points, 2, &s, &error), ABUT_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bezier),         cmocka_unit_test(test_blossoms),
        cmocka_unit_test(test_nurbs_cylinder), cmocka_unit_test(test_nurbs_knots),
        cmocka_unit_test(test_bad_nurbs),      cmocka_unit_test(test_join)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
