/* Integrators, roots, Newton and the dense factorisations: order conditions, orders of convergence, closed
 * forms. */
#include "support.h"

#include "numerics/dense.h"
#include "numerics/newton.h"
#include "numerics/ode_tables.h"
#include "numerics/root.h"

#include <math.h>

/* ---- the coefficients */

/* Quadrature: sum b_i c_i^(q-1) = 1/q up to the order; and c_i = sum_j a_ij, and sum_j a_ij c_j = c_i^2 / 2
 * (for all but the first stages, which DP853 needs). */
static void test_tables(void **unused) {
    (void)unused;
    for (int q = 1; q <= 8; q++) {
        double five = 0, eight = 0;
        for (int i = 0; i < 6; i++) five += dp5_a[6][i] * pow(dp5_c[i], q - 1);
        for (int i = 0; i < 12; i++) eight += dp853_a[12][i] * pow(dp853_c[i], q - 1);
        if (q <= 5) assert_true(fabs(five - 1.0 / q) <= 1e-14);
        assert_true(fabs(eight - 1.0 / q) <= 1e-13);
    }
    for (int i = 1; i < 16; i++) {
        double sum = 0, moment = 0, size = 0;
        for (int j = 0; j < i; j++)
            sum += dp853_a[i][j], moment += dp853_a[i][j] * dp853_c[j], size += fabs(dp853_a[i][j]);
        assert_true(fabs(sum - dp853_c[i]) <= 4e-16 * size + 1e-15);
        if (i >= 2) assert_true(fabs(moment - dp853_c[i] * dp853_c[i] / 2) <= 4e-16 * size + 1e-15);
    }
    for (int i = 1; i < 7; i++) {
        double sum = 0;
        for (int j = 0; j < i && j < 6; j++) sum += dp5_a[i][j];
        assert_true(fabs(sum - dp5_c[i]) <= 1e-14);
    }
    double error5 = 0, error3 = 0; /* both error formulas vanish for constants */
    for (int i = 0; i < 12; i++) error5 += dp853_e5[i], error3 += dp853_a[12][i] - dp853_e3[i];
    assert_true(fabs(error5) <= 1e-14 && fabs(error3) <= 1e-14);
}

/* ---- orders */

/* y' = A(t) y type with a closed form that is not a polynomial: y0' = y0 cos t, y1' = -y1^2 (1 + ...),
 * solution e^(sin t) and 1 / (1 + t). */
static abut_status smooth(void *user, double t, const double *y, double *dydt) {
    (void)user;
    dydt[0] = y[0] * cos(t), dydt[1] = -y[1] * y[1];
    return ABUT_OK;
}

/* Errors at the end and inside a step, for n equal steps over [0, 2] (tolerances so wide that no step is
 * refused). */
static void measure(ode_method method, int n, double *end, double *inside) {
    ode o;
    ode_config config = ode_default_config();
    config.method = method, config.relative = config.absolute = 1e9;
    double y[2] = {1, 1}, h = 2.0 / n;
    assert_int_equal(ode_init(&o, NULL, 2, &config, smooth, NULL, NULL), ABUT_OK);
    assert_int_equal(ode_start(&o, 0, y, NULL), ABUT_OK);
    *end = *inside = 0;
    for (int i = 1; i <= n; i++) {
        o.h = h; /* exactly this step */
        assert_int_equal(ode_step(&o, i * h, NULL), ABUT_OK);
        for (int k = 1; k < 8; k++) {
            double t = o.t_old + k / 8.0 * h;
            ode_dense(&o, t, y);
            *inside = fmax(*inside, fmax(fabs(y[0] - exp(sin(t))), fabs(y[1] - 1 / (1 + t))));
        }
    }
    *end = fmax(fabs(o.y[0] - exp(sin(2))), fabs(o.y[1] - 1.0 / 3));
    assert_true(o.steps == n);
    ode_free(&o);
}

/* Halving h divides the error by 2^p: p = 5 and 8 for the steps, and at least 5 (global: 4 + 1) and 8 (7 + 1)
 * inside, since the interpolants have local errors h^5 and h^8. */
static void test_order(void **unused) {
    (void)unused;
    double e1, d1, e2, d2;
    measure(ODE_DP5, 20, &e1, &d1), measure(ODE_DP5, 40, &e2, &d2);
    assert_true(log2(e1 / e2) > 4.7 && log2(e1 / e2) < 6.2);
    assert_true(log2(d1 / d2) > 4.5 && log2(d1 / d2) < 6.2);
    measure(ODE_DP853, 6, &e1, &d1), measure(ODE_DP853, 12, &e2, &d2);
    assert_true(log2(e1 / e2) > 7.5 && log2(e1 / e2) < 10.5);
    assert_true(log2(d1 / d2) > 7.0 && log2(d1 / d2) < 10.0);
}

/* The interpolant meets both ends, with their slopes. */
static void test_dense_ends(void **unused) {
    (void)unused;
    for (int method = 0; method < 2; method++) {
        ode o;
        ode_config config = ode_default_config();
        config.method = (ode_method)method;
        double y[2] = {1, 1}, slope[2], want[2];
        assert_int_equal(ode_init(&o, NULL, 2, &config, smooth, NULL, NULL), ABUT_OK);
        assert_int_equal(ode_start(&o, 0, y, NULL), ABUT_OK);
        for (int i = 0; i < 5; i++) assert_int_equal(ode_step(&o, 100, NULL), ABUT_OK);
        for (int end = 0; end < 2; end++) {
            double t = end ? o.t : o.t_old;
            ode_dense(&o, t, y), ode_dense_rate(&o, t, slope);
            smooth(NULL, t, end ? o.y : o.y_old, want);
            for (int i = 0; i < 2; i++) {
                assert_true(fabs(y[i] - (end ? o.y : o.y_old)[i]) <= 1e-15);
                assert_true(fabs(slope[i] - want[i]) <= 1e-12);
            }
        }
        ode_free(&o);
    }
}

/* An interpolant that was made later, or was left out in between, is the one made at once, to the last bit;
 * the cubic in the middle has the error h^4 y'''' / 384 of Hermite's. */
static void test_lazy_dense(void **unused) {
    (void)unused;
    ode now, late;
    ode_config config = ode_default_config();
    double y[2] = {1, 1}, a[2], b[2];
    assert_int_equal(ode_init(&now, NULL, 2, &config, smooth, NULL, NULL), ABUT_OK);
    config.lazy_dense = true;
    assert_int_equal(ode_init(&late, NULL, 2, &config, smooth, NULL, NULL), ABUT_OK);
    assert_int_equal(ode_start(&now, 0, y, NULL), ABUT_OK);
    assert_int_equal(ode_start(&late, 0, y, NULL), ABUT_OK);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(ode_step(&now, 100, NULL), ABUT_OK);
        assert_int_equal(ode_step(&late, 100, NULL), ABUT_OK);
        assert_true(now.t == late.t && late.waits);
        double h = now.t - now.t_old, middle = now.t_old + h / 2;
        ode_dense(&now, middle, a), ode_middle(&late, b);
        double fourth = 24 / pow(1 + now.t_old, 5); /* of 1 / (1 + t), the largest of the step */
        assert_true(fabs(a[1] - b[1]) <= h * h * h * h * fourth / 384 + 1e-9);
        if (i % 3 == 0) continue;
        assert_int_equal(ode_make_dense(&late, NULL), ABUT_OK);
        for (int k = 0; k <= 8; k++) {
            double t = now.t_old + k / 8.0 * h;
            ode_dense(&now, t, a), ode_dense(&late, t, b);
            assert_memory_equal(a, b, sizeof a);
        }
    }
    assert_true(late.evaluations == now.evaluations - 3 * 3);
    ode_free(&now), ode_free(&late);
}

/* ---- closed forms */

static abut_status oscillate(void *user, double t, const double *y, double *dydt) {
    (void)t;
    double w = *(double *)user;
    dydt[0] = y[1], dydt[1] = -w * w * y[0];
    return ABUT_OK;
}

/* x'' = -w^2 x for 100 periods: error of the order of the tolerance times the periods; tighter is better. */
static void test_oscillator(void **unused) {
    (void)unused;
    double w = 3, before = 1;
    for (int method = 0; method < 2; method++)
        for (int digits = 6; digits <= 12; digits += 3) {
            ode o;
            ode_config config = ode_default_config();
            config.method = (ode_method)method, config.relative = config.absolute = pow(10, -digits);
            double y[2] = {1, 0}, end = 100 * 2 * 3.14159265358979323846 / w;
            assert_int_equal(ode_init(&o, NULL, 2, &config, oscillate, NULL, &w), ABUT_OK);
            assert_int_equal(ode_start(&o, 0, y, NULL), ABUT_OK);
            while (o.t < end) assert_int_equal(ode_step(&o, end, NULL), ABUT_OK);
            assert_true(o.t == end);
            double error = fmax(fabs(o.y[0] - 1), fabs(o.y[1]) / w);
            assert_true(error <= 1000 * config.relative);
            if (digits > 6) assert_true(error < 0.1 * before);
            before = error;
            ode_free(&o);
        }
}

/* Kepler's ellipse of eccentricity 0.6, ten periods: back at the start, with energy and angular momentum. */
static abut_status kepler(void *user, double t, const double *y, double *dydt) {
    (void)user, (void)t;
    double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2);
    if (!(r2 > 0)) return ABUT_FAILED;
    dydt[0] = y[2], dydt[1] = y[3], dydt[2] = -y[0] / r3, dydt[3] = -y[1] / r3;
    return ABUT_OK;
}

static void test_kepler(void **unused) {
    (void)unused;
    ode o;
    ode_config config = ode_default_config();
    config.relative = config.absolute = 1e-13;
    double e = 0.6, y[4] = {1 - e, 0, 0, sqrt((1 + e) / (1 - e))}, end = 20 * 3.14159265358979323846;
    assert_int_equal(ode_init(&o, NULL, 4, &config, kepler, NULL, NULL), ABUT_OK);
    assert_int_equal(ode_start(&o, 0, y, NULL), ABUT_OK);
    while (o.t < end) assert_int_equal(ode_step(&o, end, NULL), ABUT_OK);
    /* 900 steps of error 1e-13, times at most dE/dx = 1 / r^2 = 6 at the nearest point: energy to 6e-10; the
     * phase drifts by 3/2 t dE / E */
    for (int i = 0; i < 4; i++) assert_true(fabs(o.y[i] - y[i]) <= 1e-8);
    double energy = 0.5 * (o.y[2] * o.y[2] + o.y[3] * o.y[3]) - 1 / sqrt(o.y[0] * o.y[0] + o.y[1] * o.y[1]);
    assert_true(fabs(energy + 0.5) <= 6e-10);
    ode_free(&o);
}

/* A free symmetric body, I = (1, 1, 2), spin (0.3, 0, 1): in body axes the spin turns about z with rate (Iz -
 * Ix) / Ix wz; |L| and the energy stay.  State: quaternion and body spin; projection keeps the quaternion
 * unit. */
static abut_status spin(void *user, double t, const double *y, double *dydt) {
    (void)user, (void)t;
    const double *q = y, *w = y + 4;
    dydt[0] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]),
    dydt[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    dydt[2] = 0.5 * (q[0] * w[1] - q[1] * w[2] + q[3] * w[0]),
    dydt[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
    dydt[4] = -w[1] * w[2], dydt[5] = w[0] * w[2], dydt[6] = 0; /* I = (1, 1, 2) */
    return ABUT_OK;
}

static abut_status unit(void *user, double t, double *y) {
    (void)user, (void)t;
    double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]);
    for (int i = 0; i < 4; i++) y[i] /= length;
    return ABUT_OK;
}

static void test_rigid_body(void **unused) {
    (void)unused;
    for (int method = 0; method < 2; method++) {
        ode o;
        ode_config config = ode_default_config();
        config.method = (ode_method)method, config.relative = config.absolute = 1e-11;
        double y[7] = {1, 0, 0, 0, 0.3, 0, 1}, end = 60;
        assert_int_equal(ode_init(&o, NULL, 7, &config, spin, unit, NULL), ABUT_OK);
        assert_int_equal(ode_start(&o, 0, y, NULL), ABUT_OK);
        while (o.t < end) {
            assert_int_equal(ode_step(&o, end, NULL), ABUT_OK);
            double length = o.y[0] * o.y[0] + o.y[1] * o.y[1] + o.y[2] * o.y[2] + o.y[3] * o.y[3];
            assert_true(fabs(length - 1) <= 1e-15);
        }
        assert_true(fabs(o.y[4] - 0.3 * cos(60)) <= 1e-8 && fabs(o.y[5] - 0.3 * sin(60)) <= 1e-8 &&
                    o.y[6] == 1);
        /* L in world axes is still (0.3, 0, 2) */
        const double *q = o.y;
        vec3 l = quat_rotate((quat){q[0], q[1], q[2], q[3]}, (vec3){o.y[4], o.y[5], 2 * o.y[6]});
        assert_true(fabs(l.x - 0.3) <= 1e-8 && fabs(l.y) <= 1e-8 && fabs(l.z - 2) <= 1e-8);
        ode_free(&o);
    }
}

/* ---- refusals, restarts, budgets */

/* Refuses y > 1 beyond recovery for y' = 1: the steps shrink towards t = 1 and end with f's status. */
static abut_status wall(void *user, double t, const double *y, double *dydt) {
    (void)user, (void)t;
    dydt[0] = 1;
    return y[0] > 1 ? ABUT_UNSUPPORTED : ABUT_OK;
}

static void test_refusal(void **unused) {
    (void)unused;
    ode o;
    ode_config config = ode_default_config();
    double y = 0;
    abut_status status = ABUT_OK;
    assert_int_equal(ode_init(&o, NULL, 1, &config, wall, NULL, NULL), ABUT_OK);
    assert_int_equal(ode_start(&o, 0, &y, NULL), ABUT_OK);
    while (o.t < 5 && status == ABUT_OK) status = ode_step(&o, 5, NULL);
    assert_int_equal(status, ABUT_UNSUPPORTED);
    assert_true(o.t <= 1 && o.t > 1 - 1e-9);
    ode_free(&o);
    config.budget = 3;
    double w = 1e6, z[2] = {1, 0};
    assert_int_equal(ode_init(&o, NULL, 2, &config, oscillate, NULL, &w), ABUT_OK);
    assert_int_equal(ode_start(&o, 0, z, NULL), ABUT_OK);
    status = ABUT_OK;
    while (o.t < 1 && status == ABUT_OK) status = ode_step(&o, 1, NULL);
    assert_int_equal(status, ABUT_BUDGET);
    assert_int_equal(ode_step(&o, o.t, NULL), ABUT_INVALID);
    z[0] = (double)NAN;
    assert_int_equal(ode_start(&o, 0, z, NULL), ABUT_INVALID);
    ode_free(&o);
}

/* ---- roots */

static double cubic(void *user, double x) {
    (void)user;
    return x * x * x - 2;
}
static double steep(void *user, double x) { return x < *(double *)user ? -1e-300 : 1e300; }

static void test_bracket(void **unused) {
    (void)unused;
    double a = 0, b = 2;
    int evaluations = root_bracket(cubic, NULL, &a, -2, &b, 6, 1e-14);
    assert_true((b - a <= 1e-14 || cubic(NULL, b) == 0) && cubic(NULL, a) < 0 && cubic(NULL, b) >= 0 &&
                evaluations <= 14);
    /* the worst case takes bisection's count, and one more */
    double jump = 1.0 / 3;
    a = 0, b = 1;
    evaluations = root_bracket(steep, &jump, &a, -1e-300, &b, 1e300, 1e-12);
    assert_true(a < jump && b >= jump && b - a <= 1e-12 && evaluations <= 42);
    a = 1, b = 1 + 1e-16; /* not a number apart */
    assert_int_equal(root_bracket(cubic, NULL, &a, -1, &b, 6, 1e-30), 0);
}

/* A ball thrown up: y = v t - g t^2 / 2; zeros of height - level, of the speed, and of functions that tie. */
static abut_status fall(void *user, double t, const double *y, double *dydt) {
    (void)user, (void)t;
    dydt[0] = y[1], dydt[1] = -9.81;
    return ABUT_OK;
}
static abut_status levels(void *user, double t, const double *y, double *g) {
    (void)user, (void)t;
    g[0] = y[0], g[1] = y[1], g[2] = 2 * y[1], g[3] = y[0] - 0.5;
    return ABUT_OK;
}

static void test_monitor(void **unused) {
    (void)unused;
    ode o;
    root_monitor m;
    ode_config config = ode_default_config();
    config.relative = config.absolute = 1e-13;
    double v = 6, y[2] = {0, v};
    assert_int_equal(ode_init(&o, NULL, 2, &config, fall, NULL, NULL), ABUT_OK);
    assert_int_equal(root_init(&m, NULL, 4, 2, levels, NULL), ABUT_OK);
    m.tolerance = 1e-15;
    assert_int_equal(ode_start(&o, 0, y, NULL), ABUT_OK);
    assert_int_equal(root_start(&m, 0, y), ABUT_OK);
    /* in order: height 0.5 upward, speed 0 (index 1 before 2: a tie), height 0.5 downward, height 0; the zero
     * at t = 0 was there at the start and is none */
    double root = sqrt(v * v - 9.81),
           times[] = {(v - root) / 9.81, v / 9.81, (v + root) / 9.81, 2 * v / 9.81};
    int order[] = {3, 1, 3, 0}, found = 0;
    while (found < 4) {
        root_hit hit;
        assert_true(o.t < 3);
        assert_int_equal(ode_step(&o, 3, NULL), ABUT_OK);
        assert_int_equal(root_search(&m, &o, &hit, NULL), ABUT_OK);
        if (hit.index < 0) continue;
        assert_int_equal(hit.index, order[found]);
        assert_int_equal(hit.rises, found == 0);
        assert_true(fabs(hit.t - times[found]) <= 1e-14 && hit.before < hit.t);
        ode_dense(&o, hit.t, y);
        if (found == 1) y[1] = 0; /* exactly: it must not hit again */
        assert_int_equal(ode_start(&o, hit.t, y, NULL), ABUT_OK);
        assert_int_equal(root_start(&m, hit.t, y), ABUT_OK);
        found++;
    }
    root_free(&m);
    ode_free(&o);
}

/* Only one direction is asked for: of sin t over ten periods, the ten rises (t = 0 is not armed). */
static abut_status wave(void *user, double t, const double *y, double *g) {
    (void)user, (void)y;
    g[0] = sin(t);
    return ABUT_OK;
}
static abut_status still(void *user, double t, const double *y, double *dydt) {
    (void)user, (void)t, (void)y;
    dydt[0] = 0;
    return ABUT_OK;
}

static void test_direction(void **unused) {
    (void)unused;
    int8_t directions[] = {1};
    ode o;
    root_monitor m;
    ode_config config = ode_default_config();
    config.longest = 1.5;
    double y = 0;
    int rises = 0;
    assert_int_equal(ode_init(&o, NULL, 1, &config, still, NULL, NULL), ABUT_OK);
    assert_int_equal(root_init(&m, NULL, 1, 1, wave, NULL), ABUT_OK);
    m.directions = directions;
    assert_int_equal(ode_start(&o, 0, &y, NULL), ABUT_OK);
    assert_int_equal(root_start(&m, 0, &y), ABUT_OK);
    while (o.t < 63.5) {
        root_hit hit;
        assert_int_equal(ode_step(&o, 63.5, NULL), ABUT_OK);
        assert_int_equal(root_search(&m, &o, &hit, NULL), ABUT_OK);
        if (hit.index < 0) continue;
        rises++;
        assert_true(hit.rises && fabs(hit.t - rises * 2 * 3.14159265358979323846) <= 1e-11);
        assert_int_equal(ode_start(&o, hit.t, &y, NULL), ABUT_OK);
        assert_int_equal(root_start(&m, hit.t, &y), ABUT_OK);
    }
    assert_int_equal(rises, 10);
    root_free(&m);
    ode_free(&o);
}

/* ---- dense systems */

/* LU on random systems with a known solution; a singular matrix is refused. */
static void test_lu(void **unused) {
    (void)unused;
    uint64_t seed = 1;
    for (int n = 1; n <= 20; n++) {
        double a[400], lu[400], x[20], b[20], y[20];
        int row[20];
        for (int i = 0; i < n * n; i++) lu[i] = a[i] = random_range(&seed, -1, 1);
        for (int i = 0; i < n; i++) x[i] = random_range(&seed, -1, 1);
        for (int i = 0; i < n; i++) {
            b[i] = 0;
            for (int j = 0; j < n; j++) b[i] += a[i * n + j] * x[j];
        }
        assert_true(dense_lu_factor(n, lu, row));
        dense_lu_solve(n, lu, row, b, y);
        for (int i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) <= 1e-10);
    }
    double zero[4] = {1, 2, 0, 0};
    int row[2];
    assert_false(dense_lu_factor(2, zero, row));
}

/* Least squares of least norm: A of known rank; x minimises |A x - b| when A^T (A x - b) = 0, and has least
 * norm when it is orthogonal to the null space, that is when x = A^T u: checked by |A^T A x| and by random
 * null vectors. */
static void test_qr(void **unused) {
    (void)unused;
    uint64_t seed = 2;
    for (int trial = 0; trial < 300; trial++) {
        int m = support_int(&seed, 1, 8), n = support_int(&seed, 1, 8), most = m < n ? m : n,
            rank = support_int(&seed, 1, most);
        double f[64], g[64], a[64], qr[64], tau[8], work[80 + 64], b[8], c[8], x[8];
        int column[8];
        for (int i = 0; i < m * rank; i++) f[i] = random_range(&seed, -1, 1);
        for (int i = 0; i < n * rank; i++) g[i] = random_range(&seed, -1, 1);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                a[i * n + j] = 0;
                for (int k = 0; k < rank; k++) a[i * n + j] += f[i * rank + k] * g[j * rank + k];
                qr[i * n + j] = a[i * n + j];
            }
        for (int i = 0; i < m; i++) b[i] = c[i] = random_range(&seed, -1, 1);
        assert_int_equal(dense_qr_factor(m, n, qr, 1e-10, column, tau, work), rank);
        dense_qr_solve(m, n, qr, rank, column, tau, c, x, work);
        double size = 0;
        for (int j = 0; j < n; j++) size = fmax(size, fabs(x[j]));
        for (int j = 0; j < n; j++) { /* A^T r = 0 */
            double sum = 0;
            for (int i = 0; i < m; i++) {
                double r = -b[i];
                for (int k = 0; k < n; k++) r += a[i * n + k] * x[k];
                sum += a[i * n + j] * r;
            }
            assert_true(fabs(sum) <= 1e-9 * (1 + size));
        }
        /* x lies in the span of g: what is left of x after least squares on g is 0 */
        double left[8], coefficients[8], gt[64];
        for (int i = 0; i < n * rank; i++) gt[i] = g[i];
        for (int j = 0; j < n; j++) left[j] = x[j];
        int r = dense_qr_factor(n, rank, gt, 1e-12, column, tau, work);
        dense_qr_solve(n, rank, gt, r, column, tau, left, coefficients, work);
        for (int j = 0; j < n; j++) {
            double sum = -x[j];
            for (int k = 0; k < rank; k++) sum += g[j * rank + k] * coefficients[k];
            assert_true(fabs(sum) <= 1e-8 * (1 + size));
        }
    }
}

/* Circle and line, (x^2 + y^2 - 4, x - y): (sqrt 2, sqrt 2); one equation in two unknowns; and two that
 * contradict. */
static abut_status circle(void *user, const double *x, double *r, double *jacobian) {
    int rows = *(int *)user;
    r[0] = x[0] * x[0] + x[1] * x[1] - 4;
    if (rows > 1) r[1] = x[0] - x[1];
    if (rows > 2) r[2] = x[0] - x[1] - 1;
    if (!jacobian) return ABUT_OK;
    jacobian[0] = 2 * x[0], jacobian[1] = 2 * x[1];
    for (int i = 1; i < rows; i++) jacobian[2 * i] = 1, jacobian[2 * i + 1] = -1;
    return ABUT_OK;
}

static void test_newton(void **unused) {
    (void)unused;
    arena scratch;
    arena_init(&scratch, NULL);
    newton_config config = newton_default_config();
    newton_result result;
    for (int rows = 1; rows <= 3; rows++) {
        double x[2] = {3, 1};
        abut_status status = newton_solve(&scratch, rows, 2, &config, circle, &rows, x, &result, NULL);
        assert_int_equal(status, rows < 3 ? ABUT_OK : ABUT_FAILED);
        if (rows == 2)
            assert_true(fabs(x[0] - sqrt(2)) <= 1e-12 && fabs(x[1] - sqrt(2)) <= 1e-12 && result.steps <= 7);
        if (rows == 1)
            assert_true(fabs(x[0] * x[0] + x[1] * x[1] - 4) <= 1e-12 &&
                        fabs(x[0] - 3 * x[1]) <= 1e-12);             /* on the ray */
        if (rows == 3) assert_true(fabs(x[0] - x[1] - 0.5) <= 1e-6); /* half way between the two */
    }
    arena_free(&scratch);
}

/* ---- memory */

static abut_status attempt(const abut_context *context, void *user) {
    (void)user;
    ode o;
    root_monitor m = {0};
    ode_config config = ode_default_config();
    double y[2] = {0, 1};
    abut_status status = ode_init(&o, context, 2, &config, fall, NULL, NULL);
    if (status == ABUT_OK) status = root_init(&m, context, 4, 2, levels, NULL);
    if (status == ABUT_OK) status = ode_start(&o, 0, y, NULL);
    if (status == ABUT_OK) status = root_start(&m, 0, y);
    if (status == ABUT_OK) status = ode_step(&o, 1, NULL);
    root_hit hit;
    if (status == ABUT_OK) status = root_search(&m, &o, &hit, NULL);
    root_free(&m);
    ode_free(&o);
    return status;
}

static void test_memory(void **unused) {
    (void)unused;
    assert_true(support_fail_each(attempt, NULL) >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),     cmocka_unit_test(test_order),
        cmocka_unit_test(test_dense_ends), cmocka_unit_test(test_lazy_dense),
        cmocka_unit_test(test_oscillator), cmocka_unit_test(test_kepler),
        cmocka_unit_test(test_rigid_body), cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_bracket),    cmocka_unit_test(test_monitor),
        cmocka_unit_test(test_direction),  cmocka_unit_test(test_lu),
        cmocka_unit_test(test_qr),         cmocka_unit_test(test_newton),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
