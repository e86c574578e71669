/* Patches against their definitions in 113-bit arithmetic: the point, and all nine partials by central
 * differences.  With step h = 2^-23 the differences err by h^2/24 f^(k+2) (about 1e-15 times the fifth
 * derivatives) and by 2^-113 / h^3 (about 6e-14), so 1e-10 relative to the largest entry is a fair demand. */
#ifndef TESTS_SURFACE_DEFINITIONS_H
#define TESTS_SURFACE_DEFINITIONS_H

#include "cages.h"

typedef __float128 quad;
typedef struct quad3 {
    quad x, y, z;
} quad3;
/* A patch by its definition: the value at (u, v). */
typedef quad3 definition(const void *user, quad u, quad v);

static inline quad3 quad3_axpy(quad3 a, quad s, quad3 b) {
    return (quad3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline quad3 quad3_of(vec3 v) { return (quad3){v.x, v.y, v.z}; }
static inline quad quad_sqrt(quad x) {
    quad r = sqrt((double)x);
    for (int i = 0; i < 3; i++) r = (r + x / r) / 2;
    return r;
}

/* delta_u^i delta_v^j f / h^(i+j), with half steps where an order is odd */
static inline vec3 difference(definition *f, const void *user, double u, double v, int i, int j) {
    static const int binomial[4][4] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}};
    quad h = (quad)1 / (1 << 23), scale = 1;
    quad3 sum = {0, 0, 0};
    for (int a = 0; a <= i; a++)
        for (int b = 0; b <= j; b++) {
            quad3 at = f(user, u + h * (a - (quad)i / 2), v + h * (b - (quad)j / 2));
            int sign = (i - a + j - b) % 2 ? -1 : 1;
            sum = quad3_axpy(sum, (quad)(sign * binomial[i][a] * binomial[j][b]), at);
        }
    for (int k = 0; k < i + j; k++) scale *= h;
    return vec3_make((double)(sum.x / scale), (double)(sum.y / scale), (double)(sum.z / scale));
}

static const int orders[10][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1},
                                  {0, 2}, {3, 0}, {2, 1}, {1, 2}, {0, 3}};

/* The largest relative error met so far, which every test prints. */
static double worst_error = 0;
static inline void report_error(const char *what) {
    print_message("%s: largest error of a partial %.1e, relative to 1 + its size\n", what, worst_error);
    worst_error = 0;
}

static inline void check_partial(vec3 got, vec3 want, int k, int p, double u, double v) {
    double error = vec3_max_abs(vec3_sub(got, want)) / (1 + vec3_max_abs(want));
    worst_error = fmax(worst_error, error);
    if (!(error <= 1e-10))
        fail_msg("patch %d at %g,%g partial %d: %g %g %g, by definition %g %g %g (error %g)", p, u, v, k,
                 got.x, got.y, got.z, want.x, want.y, want.z, error);
}

/* All ten against differences of the definition. */
static inline void check_patch(const abut_surface *s, int p, double u, double v, definition *f,
                               const void *user) {
    partials got, low;
    assert_true(abut_surface_evaluate(s, p, u, v, 3, &got));
    const vec3 *g = (const vec3 *)&got;
    for (int k = 0; k < 10; k++)
        check_partial(g[k], difference(f, user, u, v, orders[k][0], orders[k][1]), k, p, u, v);
    /* lower orders give the same bits, and zeros beyond */
    for (int order = 0; order < 3; order++) {
        abut_surface_evaluate(s, p, u, v, order, &low);
        const vec3 *l = (const vec3 *)&low;
        for (int k = 0; k < 10; k++) {
            vec3 want = orders[k][0] + orders[k][1] <= order ? g[k] : vec3_zero();
            assert_memory_equal(&l[k], &want, sizeof want);
        }
    }
}

#endif
