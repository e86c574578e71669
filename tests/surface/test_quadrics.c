/* Quadrics and the torus: partials against the formulas of surface.h, and what they rest on. */
#include "definitions.h"

/* ---- quadrics: by the formulas of surface.h, turned by quarters */
static quad3 quadric_definition(const void *user, quad u, quad v) {
    const struct {
        abut_quadric q;
        int part;
    } *x = user;
    quad f[3] = {u, v, 0}, r = quad_sqrt(1 + u * u), s = quad_sqrt(1 + v * v);
    static const int8_t quarter[4][4] = {{1, 0, 0, 1}, {0, -1, 1, 0}, {-1, 0, 0, -1}, {0, 1, -1, 0}};
    const int8_t *t = quarter[x->part % 4], *w = quarter[x->part / 4];
    quad cu = (t[0] + t[1] * u) / r, su = (t[2] + t[3] * u) / r, cv = (w[0] + w[1] * v) / s,
         sv = (w[2] + w[3] * v) / s;
    switch (x->q.kind) {
    case ABUT_PATCH_SPHERE: {
        quad n = quad_sqrt(1 + u * u + v * v);
        quad face[6][3] = {{u, v, 1}, {v, u, -1}, {1, u, v}, {-1, v, u}, {v, 1, u}, {u, -1, v}};
        for (int i = 0; i < 3; i++) f[i] = face[x->part][i] / n;
        break;
    }
    case ABUT_PATCH_CYLINDER: f[0] = cu, f[1] = su, f[2] = v; break;
    case ABUT_PATCH_CONE: f[0] = v * cu, f[1] = v * su, f[2] = v; break;
    case ABUT_PATCH_PARABOLOID: f[2] = u * u + v * v; break;
    case ABUT_PATCH_SADDLE: f[2] = u * u - v * v; break;
    case ABUT_PATCH_TORUS:
        f[0] = (1 + x->q.ratio * cv) * cu, f[1] = (1 + x->q.ratio * cv) * su, f[2] = x->q.ratio * sv;
        break;
    default: break;
    }
    quad3 c = quad3_of(x->q.origin);
    c = quad3_axpy(c, f[0], quad3_of(x->q.axes.cx));
    c = quad3_axpy(c, f[1], quad3_of(x->q.axes.cy));
    return quad3_axpy(c, f[2], quad3_of(x->q.axes.cz));
}

static void test_quadrics(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int kind = ABUT_PATCH_PLANE; kind <= ABUT_PATCH_TORUS; kind++) {
        struct {
            abut_quadric q;
            int part;
        } x = {abut_default_quadric((abut_patch_kind)kind), 0};
        mat3 turn = quat_matrix(support_rotation(&seed));
        x.q.axes = mat3_mul(turn, mat3_diagonal(0.5, 1.25, 2));
        x.q.origin = support_vec(&seed, 1);
        x.q.ratio = 0.375;
        abut_surface *s = NULL;
        assert_int_equal(abut_surface_quadric(NULL, &x.q, &s, NULL), ABUT_OK);
        for (x.part = 0; x.part < abut_surface_patch_count(s); x.part++)
            for (int i = 0; i < 5; i++) {
                double v = random_range(&seed, kind == ABUT_PATCH_CONE ? 0.5 : -1, 1);
                check_patch(s, x.part, random_range(&seed, -1, 1), v, quadric_definition, &x);
            }
        /* whole spheres and tori are closed, cylinders and cones closed around */
        for (int p = 0; p < abut_surface_patch_count(s); p++)
            for (int e = 0; e < 4; e++) {
                int q, f;
                bool joined = abut_surface_neighbour(s, p, e, &q, &f);
                bool whole = kind == ABUT_PATCH_SPHERE || kind == ABUT_PATCH_TORUS;
                bool round = kind == ABUT_PATCH_CYLINDER || kind == ABUT_PATCH_CONE;
                assert_int_equal(joined, whole || (round && e % 2 == 1));
            }
        abut_surface_free(NULL, s);
    }
    report_error("quadrics and the torus");
    /* what is no quadric */
    abut_surface *s = NULL;
    abut_error error;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_CONE);
    q.low = 0;
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, &error), ABUT_INVALID);
    q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes.cx = vec3_zero();
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, &error), ABUT_INVALID);
    q = abut_default_quadric(ABUT_PATCH_BEZIER);
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, &error), ABUT_INVALID);
}

/* cos and sin of fractions of a turn against libm */
static void test_turn(void **state) {
    (void)state;
    for (int n = 1; n < 60; n++)
        for (int k = -n; k <= 2 * n; k++) {
            double c, s, x = 6.283185307179586 * k / n;
            turn(k, n, &c, &s);
            assert_true(fabs(c - cos(x)) < 3e-15 && fabs(s - sin(x)) < 3e-15);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quadrics), cmocka_unit_test(test_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
