/* Jets: a number that depends on (u, v), with its partial derivatives to third order, in the order of
 * abut_partials: c, u, v, uu, uv, vv, uuu, uuv, uvv, vvv.  The product and the chain rule are the usual ones
 * (what Kry 2000, section 5.3.1, writes out by hand with automatic differentiation).  Functions that take an
 * order give the partials up to it and zeros beyond: where it is a constant the compiler leaves out the rest.
 */
#ifndef SURFACE_JET_H
#define SURFACE_JET_H

#include "math/vec.h"

enum { JET_C, JET_U, JET_V, JET_UU, JET_UV, JET_VV, JET_UUU, JET_UUV, JET_UVV, JET_VVV, JET_COUNT };

typedef struct jet {
    double d[JET_COUNT];
} jet;

static inline jet jet_constant(double x) { return (jet){{x}}; }
/* a + b u + c v at (u, v): the value is given, as callers know it more exactly. */
static inline jet jet_linear(double value, double by_u, double by_v) { return (jet){{value, by_u, by_v}}; }

static inline jet jet_add(jet a, jet b) {
    for (int i = 0; i < JET_COUNT; i++) a.d[i] += b.d[i];
    return a;
}
static inline jet jet_scale(jet a, double s) {
    for (int i = 0; i < JET_COUNT; i++) a.d[i] *= s;
    return a;
}

/* f g, by the rule of Leibniz */
static inline jet jet_mul(jet f, jet g, int order) {
    const double *a = f.d, *b = g.d;
    jet r = {{a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + a[0] * b[2]}};
    if (order < 2) return r;
    r.d[3] = a[3] * b[0] + 2 * a[1] * b[1] + a[0] * b[3];
    r.d[4] = a[4] * b[0] + a[1] * b[2] + a[2] * b[1] + a[0] * b[4];
    r.d[5] = a[5] * b[0] + 2 * a[2] * b[2] + a[0] * b[5];
    if (order < 3) return r;
    r.d[6] = a[6] * b[0] + 3 * (a[3] * b[1] + a[1] * b[3]) + a[0] * b[6];
    r.d[7] = a[7] * b[0] + a[3] * b[2] + a[2] * b[3] + 2 * (a[4] * b[1] + a[1] * b[4]) + a[0] * b[7];
    r.d[8] = a[8] * b[0] + a[5] * b[1] + a[1] * b[5] + 2 * (a[4] * b[2] + a[2] * b[4]) + a[0] * b[8];
    r.d[9] = a[9] * b[0] + 3 * (a[5] * b[2] + a[2] * b[5]) + a[0] * b[9];
    return r;
}

/* f g where g is linear: only its value and first partials are there. */
static inline jet jet_mul_linear(jet f, double g, double gu, double gv, int order) {
    const double *a = f.d;
    jet r = {{a[0] * g, a[1] * g + a[0] * gu, a[2] * g + a[0] * gv}};
    if (order < 2) return r;
    r.d[3] = a[3] * g + 2 * a[1] * gu;
    r.d[4] = a[4] * g + a[1] * gv + a[2] * gu;
    r.d[5] = a[5] * g + 2 * a[2] * gv;
    if (order < 3) return r;
    r.d[6] = a[6] * g + 3 * a[3] * gu;
    r.d[7] = a[7] * g + a[3] * gv + 2 * a[4] * gu;
    r.d[8] = a[8] * g + a[5] * gu + 2 * a[4] * gv;
    r.d[9] = a[9] * g + 3 * a[5] * gv;
    return r;
}

/* F(x(u, v)) from F and its derivatives f[0..3] at x (Faa di Bruno) */
static inline jet jet_compose(const double f[4], jet x, int order) {
    const double *a = x.d;
    jet r = {{f[0], f[1] * a[1], f[1] * a[2]}};
    if (order < 2) return r;
    r.d[3] = f[2] * a[1] * a[1] + f[1] * a[3];
    r.d[4] = f[2] * a[1] * a[2] + f[1] * a[4];
    r.d[5] = f[2] * a[2] * a[2] + f[1] * a[5];
    if (order < 3) return r;
    r.d[6] = f[3] * a[1] * a[1] * a[1] + 3 * f[2] * a[1] * a[3] + f[1] * a[6];
    r.d[7] = f[3] * a[1] * a[1] * a[2] + f[2] * (2 * a[1] * a[4] + a[2] * a[3]) + f[1] * a[7];
    r.d[8] = f[3] * a[1] * a[2] * a[2] + f[2] * (2 * a[2] * a[4] + a[1] * a[5]) + f[1] * a[8];
    r.d[9] = f[3] * a[2] * a[2] * a[2] + 3 * f[2] * a[2] * a[5] + f[1] * a[9];
    return r;
}

/* 1 / x */
static inline jet jet_inverse(jet x, int order) {
    double r = 1 / x.d[0], r2 = r * r;
    return jet_compose((double[4]){r, -r2, 2 * r2 * r, -6 * r2 * r2}, x, order);
}

/* x^(-1/2) */
static inline jet jet_inverse_sqrt(jet x) {
    double r = 1 / x.d[0], s = sqrt(r);
    return jet_compose((double[4]){s, -0.5 * s * r, 0.75 * s * r * r, -1.875 * s * r * r * r}, x, 3);
}

#endif
