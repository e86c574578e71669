/* sym3_eigen: m Q = Q diag(values), Q a rotation, values ascending; for random matrices, for equal and nearly
 * equal eigenvalues, for graded, tiny and huge ones.  Tolerances are relative to the largest entry: each of
 * at most a dozen rotations adds a few rounding errors of 1.1e-16 to a matrix of norm at most 3. */
#include "math/eigen.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double tolerance = 1e-14;
static uint64_t state = 7;

static double uniform(void) { return random_range(&state, -1, 1); }

static mat3 symmetric(double xx, double yy, double zz, double xy, double xz, double yz) {
    return (mat3){{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
}

static double max_abs(mat3 m) {
    return fmax(vec3_max_abs(m.cx), fmax(vec3_max_abs(m.cy), vec3_max_abs(m.cz)));
}

static mat3 random_rotation(void) {
    return quat_matrix(quat_unit((quat){uniform(), uniform(), uniform(), uniform()}));
}

/* Q diag Q^T, made symmetric to the last bit */
static mat3 with_values(mat3 q, double x, double y, double z) {
    mat3 m = mat3_mul(mat3_mul(q, mat3_diagonal(x, y, z)), mat3_transpose(q));
    m.cx.y = m.cy.x, m.cx.z = m.cz.x, m.cy.z = m.cz.y;
    return m;
}

/* All that must hold, for m times `scale` (a power of two, so that the residual can be computed near 1). */
static vec3 check(mat3 m, double scale) {
    vec3 values;
    mat3 q;
    sym3_eigen(mat3_scale(m, scale), &values, &q);
    values = vec3_scale(values, 1 / scale);
    double size = max_abs(m) > 0 ? max_abs(m) : 1;
    mat3 residual = mat3_sub(mat3_mul(m, q), mat3_mul(q, mat3_diagonal(values.x, values.y, values.z)));
    assert_true(max_abs(residual) <= tolerance * size);
    assert_true(max_abs(mat3_sub(mat3_mul(mat3_transpose(q), q), mat3_identity())) <= tolerance);
    assert_true(fabs(mat3_det(q) - 1) <= tolerance);
    assert_true(values.x <= values.y && values.y <= values.z);
    return values;
}

static void test_random(void **unused) {
    (void)unused;
    for (int n = 0; n < 100000; n++) {
        mat3 m = symmetric(uniform(), uniform(), uniform(), uniform(), uniform(), uniform());
        vec3 v = check(m, 1);
        assert_true(fabs(v.x + v.y + v.z - (m.cx.x + m.cy.y + m.cz.z)) < tolerance);
        assert_true(fabs(v.x * v.y * v.z - mat3_det(m)) < 10 * tolerance);
    }
}

/* Known values, some equal, some one rounding apart, some of quite different size. */
static void test_known_values(void **unused) {
    (void)unused;
    const double cases[][3] = {{1, 1, 1},
                               {1, 1, 2},
                               {1, 2, 2},
                               {0, 0, 1},
                               {-1, 1, 1},
                               {1, 1 + 0x1p-52, 2},
                               {1, 1 + 1e-12, 1 + 2e-12},
                               {-3, 0, 3},
                               {1e-12, 1e-6, 1},
                               {0, 0, 0},
                               {-1, -1, 1}};
    for (int k = 0; k < COUNT_OF(cases); k++)
        for (int n = 0; n < 2000; n++) {
            const double *w = cases[k];
            mat3 q = n ? random_rotation() : mat3_identity();
            double size = fmax(fabs(w[0]), fabs(w[2])), scales[] = {1, 0x1p-900, 0x1p900};
            vec3 v = check(with_values(q, w[n % 3], w[(n + 1) % 3], w[(n + 2) % 3]), scales[n % 3]);
            assert_true(vec3_max_abs(vec3_sub(v, vec3_make(w[0], w[1], w[2]))) <= 3 * tolerance * size);
        }
}

/* Entries at both ends of the exponents: scaling is by powers of two, so the answer is that of the scaled
 * matrix. */
static void test_extremes(void **unused) {
    (void)unused;
    for (int n = 0; n < 1000; n++) {
        mat3 m = symmetric(uniform(), uniform(), uniform(), uniform(), uniform(), uniform());
        check(m, 0x1p1021);
        check(m, 0x1p-1000);
    }
    vec3 values;
    mat3 q;
    sym3_eigen(symmetric(1.7e308, 1.7e308, 1.7e308, 0, 0, 0), &values, &q);
    assert_true(values.x == 1.7e308 && values.z == 1.7e308);
    sym3_eigen(symmetric(0, 0, 0, 0x1p-1074, 0, 0), &values, &q); /* values -1, 0, 1 units */
    assert_true(values.x == -0x1p-1074 && values.y == 0 && values.z == 0x1p-1074);
}

/* A diagonal matrix keeps its entries to the bit, in order; an off-diagonal one has values known by hand. */
static void test_by_hand(void **unused) {
    (void)unused;
    vec3 v = check(mat3_diagonal(3, -1, 2), 1);
    assert_true(v.x == -1 && v.y == 2 && v.z == 3);
    v = check(symmetric(0, 0, 0, 1, 1, 1), 1); /* ones off the diagonal: -1, -1, 2 */
    assert_true(fabs(v.x + 1) < tolerance && fabs(v.y + 1) < tolerance && fabs(v.z - 2) < tolerance);
    v = check(symmetric(2, 2, 5, 1, 0, 0), 1);
    assert_true(fabs(v.x - 1) < tolerance && fabs(v.y - 3) < tolerance && v.z == 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_known_values),
                                       cmocka_unit_test(test_extremes), cmocka_unit_test(test_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
