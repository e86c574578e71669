/* Implicit steps: the tables by their equations, stiff problems with closed forms, and refusals. */
#include "numerics/radau.h"
#include "numerics/radau_tables.h"
#include "support.h"

#include <math.h>

static void close_to(double value, double wanted, double tolerance) {
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.17g is not %.17g (tolerance %g)", value, wanted, tolerance);
}

/* Collocation: A^-1 takes c^k / k to c^(k-1), k = 1 .. 7; its blocks; and the interpolant goes through all
 * stages: at c it has their increments. */
static void the_tables_hold(void **state) {
    (void)state;
    for (int k = 1; k <= RADAU_STAGES; k++)
        for (int i = 0; i < RADAU_STAGES; i++) {
            double sum = 0;
            for (int j = 0; j < RADAU_STAGES; j++) sum += radau_inverse[i][j] * pow(radau_c[j], k) / k;
            close_to(sum, pow(radau_c[i], k - 1), 1e-13);
        }
    for (int i = 0; i < RADAU_STAGES; i++)
        for (int j = 0; j < RADAU_STAGES; j++) {
            double one = 0, inverse = 0, through = 0, product = 1;
            for (int k = 0; k < RADAU_STAGES; k++) {
                int pair = (k + 1) / 2;
                double a = radau_eigenvalue[pair][0], b = radau_eigenvalue[pair][1];
                int other = k == 0 ? 0 : k % 2 ? k + 1 : k - 1; /* L_k = a e_k + (b, -b) e_other */
                double along = radau_t_inverse[k][j], beside = radau_t_inverse[other][j];
                one += radau_t[i][k] * along;
                inverse += radau_t[i][k] * (a * along + (k == 0 ? 0 : k % 2 ? b : -b) * beside);
                product *= k % 2 ? 1 - radau_c[i] : radau_c[i];
                through += product * radau_dense[k][j];
            }
            close_to(one, i == j, 1e-12);
            close_to(inverse, radau_inverse[i][j], 1e-11);
            close_to(through, i == j, 1e-12);
        }
}

typedef struct oscillator {
    double k, c;
} oscillator;

static abut_status swing(void *user, double t, const double *y, double *dydt) {
    const oscillator *o = user;
    (void)t;
    dydt[0] = y[1], dydt[1] = -o->k * y[0] - o->c * y[1];
    return ABUT_OK;
}

/* x'' = -k x - c x' from x = 0.5 at rest with s1, s2 the roots of s^2 + c s + k:
 *     x = 0.5 (s2 exp(s1 t) - s1 exp(s2 t)) / (s2 - s1). */
static void an_overdamped_oscillator(void **state) {
    (void)state;
    static const double damping[] = {1e2, 1e4, 1e6, 1e8, 1e10};
    for (int n = 0; n < 5; n++) {
        oscillator what = {100, damping[n]};
        double root = sqrt(what.c * what.c / 4 - what.k), s2 = -(what.c / 2 + root), s1 = what.k / s2;
        double y[2] = {0.5, 0}, next = 0;
        ode o;
        radau r;
        abut_context context = {0};
        ode_config config = ode_default_config();
        config.relative = config.absolute = 1e-10;
        assert_int_equal(ode_init(&o, &context, 2, &config, swing, NULL, &what), ABUT_OK);
        assert_int_equal(radau_init(&r, &context, 2), ABUT_OK);
        o.t = 0;
        for (double t = 0; t < 1; t = o.t, y[0] = o.y[0], y[1] = o.y[1], next = o.h) {
            o.config.first_step = next;
            assert_int_equal(ode_start(&o, t, y, NULL), ABUT_OK);
            assert_int_equal(radau_step(&r, &o, 1, NULL), ABUT_OK);
            for (int i = 0; i <= 10; i++) {
                double at = o.t_old + (o.t - o.t_old) * i / 10, dense[2];
                ode_dense(&o, at, dense);
                double a = exp(s1 * at), b = exp(s2 * at);
                close_to(dense[0], 0.5 * (s2 * a - s1 * b) / (s2 - s1), 1e-10);
                close_to(dense[1], 0.5 * s1 * s2 * (a - b) / (s2 - s1), 1e-10);
            }
        }
        assert_true(o.steps < 30); /* an explicit method needs c / 6 */
        radau_free(&r), ode_free(&o);
    }
}

static abut_status refuse(void *user, double t, const double *y, double *dydt) {
    (void)user, (void)y;
    dydt[0] = 1;
    return t > 0.5 ? ABUT_FAILED : ABUT_OK;
}

/* A right-hand side that ends at 0.5: steps come up to it, and say where they cannot go on. */
static void it_comes_to_an_end(void **state) {
    (void)state;
    ode o;
    radau r;
    abut_error error = {0};
    abut_context context = {0};
    double y = 0;
    ode_config config = ode_default_config();
    assert_int_equal(ode_init(&o, &context, 1, &config, refuse, NULL, NULL), ABUT_OK);
    assert_int_equal(radau_init(&r, &context, 1), ABUT_OK);
    assert_int_equal(ode_start(&o, 0, &y, NULL), ABUT_OK);
    abut_status status = ABUT_OK;
    for (int i = 0; i < 1000 && status == ABUT_OK; i++) status = radau_step(&r, &o, 1, &error);
    assert_int_equal(status, ABUT_FAILED);
    close_to(o.t, 0.5, 1e-9);
    close_to(o.y[0], o.t, 1e-9); /* Newton leaves a hundredth of 1e-9 in each of less than a hundred steps */
    assert_non_null(strstr(error.message, "no implicit step"));
    assert_int_equal(radau_step(&r, &o, 0, &error), ABUT_INVALID);
    radau_free(&r), ode_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_tables_hold),
                                       cmocka_unit_test(an_overdamped_oscillator),
                                       cmocka_unit_test(it_comes_to_an_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
