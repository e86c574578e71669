/* Bicubic Bezier patches, polynomial and rational: all ten partials to third order, and blossoms.
 *
 *   c(u, v) = sum_ij B_i(u) B_j(v) P_ij,   B_i the cubic Bernstein polynomials
 *
 * The derivatives come from differences of the net: d/du sum B^n_i P_i = n sum B^(n-1)_i (P_(i+1) - P_i).
 * First every row is reduced in u to (c, c_u, c_uu, c_uuu), then the four results are reduced in v.  A point
 * is four numbers (x, y, z, w) that the compiler keeps in vector registers; no operation mixes them, so the
 * bits do not depend on the width of the registers. */
#include "surface/lanes.h"
#include "surface/surface.h"

/* Bernstein polynomials of degree 3 and 2, the latter times 3, of degree 1 times 6. */
typedef struct weights {
    double b[4], q[3], l[2];
} weights;

static inline weights weigh(double t) {
    double s = 1 - t;
    return (weights){{s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t},
                     {3 * s * s, 6 * s * t, 3 * t * t},
                     {6 * s, 6 * t}};
}

/* The cubic with control points p[0..3]: out[k * stride] is its kth derivative, k <= order. */
static inline void reduce(const p4 *p, const weights *w, const int order, p4 *out, const int stride) {
    p4 p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3];
    out[0] = p4_axpy(p4_axpy(p4_axpy(p4_scale(w->b[0], p0), w->b[1], p1), w->b[2], p2), w->b[3], p3);
    if (order < 1) return;
    p4 d0 = p4_sub(p1, p0), d1 = p4_sub(p2, p1), d2 = p4_sub(p3, p2);
    out[stride] = p4_axpy(p4_axpy(p4_scale(w->q[0], d0), w->q[1], d1), w->q[2], d2);
    if (order < 2) return;
    p4 e0 = p4_sub(d1, d0), e1 = p4_sub(d2, d1);
    out[2 * stride] = p4_axpy(p4_scale(w->l[0], e0), w->l[1], e1);
    if (order < 3) return;
    out[3 * stride] = p4_scale(6, p4_sub(e1, e0));
}

/* by[i][j]: the derivative of order i in u and j in v, i + j <= order. */
static inline void tensor(const double *data, double u, double v, const int order, p4 by[4][4]) {
    p4 rows[16];
    weights wu = weigh(u), wv = weigh(v);
    for (int j = 0; j < 4; j++) {
        p4 row[4] = {p4_load(data + 16 * j), p4_load(data + 16 * j + 4), p4_load(data + 16 * j + 8),
                     p4_load(data + 16 * j + 12)};
        reduce(row, &wu, order, rows + j, 4);
    }
    reduce(rows, &wv, order, by[0], 1);
    if (order >= 1) reduce(rows + 4, &wv, order - 1, by[1], 1);
    if (order >= 2) reduce(rows + 8, &wv, order - 2, by[2], 1);
    if (order >= 3) reduce(rows + 12, &wv, order - 3, by[3], 1);
}

/* The order is passed on as a constant, so that each case is straight code. */
static inline void bezier_to(const double *data, double u, double v, const int order, partials *out) {
    p4 by[4][4];
    tensor(data, u, v, order, by);
    p4_store3(&out->c, by[0][0]);
    if (order >= 1) p4_store3(&out->u, by[1][0]), p4_store3(&out->v, by[0][1]);
    if (order >= 2)
        p4_store3(&out->uu, by[2][0]), p4_store3(&out->uv, by[1][1]), p4_store3(&out->vv, by[0][2]);
    if (order < 3) return;
    p4_store3(&out->uuu, by[3][0]), p4_store3(&out->uuv, by[2][1]);
    p4_store3(&out->uvv, by[1][2]), p4_store3(&out->vvv, by[0][3]);
}

void bezier_evaluate(const double *data, double u, double v, int order, partials *out) {
    partials_clear(out, order);
    switch (order) {
    case 0: bezier_to(data, u, v, 0, out); break;
    case 1: bezier_to(data, u, v, 1, out); break;
    case 2: bezier_to(data, u, v, 2, out); break;
    default: bezier_to(data, u, v, 3, out); break;
    }
}

/* c = A / w.  From A = w c and Leibniz: c_a = (A_a - sum of the terms of (w c)_a that hold a derivative of w)
 * / w, lowest order first.  The net holds (x w, y w, z w, w). */
static inline void rational_to(const double *data, double u, double v, const int order, partials *out) {
    p4 by[4][4], c[4][4];
    tensor(data, u, v, order, by);
#define W(i, j) (by[i][j].zw[1])
    double r = 1 / W(0, 0);
    c[0][0] = p4_scale(r, by[0][0]);
    p4_store3(&out->c, c[0][0]);
    if (order < 1) return;
    c[1][0] = p4_scale(r, p4_axpy(by[1][0], -W(1, 0), c[0][0]));
    c[0][1] = p4_scale(r, p4_axpy(by[0][1], -W(0, 1), c[0][0]));
    p4_store3(&out->u, c[1][0]), p4_store3(&out->v, c[0][1]);
    if (order < 2) return;
    c[2][0] = p4_scale(r, p4_axpy(p4_axpy(by[2][0], -2 * W(1, 0), c[1][0]), -W(2, 0), c[0][0]));
    c[1][1] = p4_scale(
        r, p4_axpy(p4_axpy(p4_axpy(by[1][1], -W(1, 0), c[0][1]), -W(0, 1), c[1][0]), -W(1, 1), c[0][0]));
    c[0][2] = p4_scale(r, p4_axpy(p4_axpy(by[0][2], -2 * W(0, 1), c[0][1]), -W(0, 2), c[0][0]));
    p4_store3(&out->uu, c[2][0]), p4_store3(&out->uv, c[1][1]), p4_store3(&out->vv, c[0][2]);
    if (order < 3) return;
    c[3][0] = p4_axpy(p4_axpy(by[3][0], -3 * W(1, 0), c[2][0]), -3 * W(2, 0), c[1][0]);
    c[3][0] = p4_scale(r, p4_axpy(c[3][0], -W(3, 0), c[0][0]));
    c[2][1] = p4_axpy(p4_axpy(by[2][1], -2 * W(1, 0), c[1][1]), -2 * W(1, 1), c[1][0]);
    c[2][1] = p4_axpy(p4_axpy(c[2][1], -W(0, 1), c[2][0]), -W(2, 0), c[0][1]);
    c[2][1] = p4_scale(r, p4_axpy(c[2][1], -W(2, 1), c[0][0]));
    c[1][2] = p4_axpy(p4_axpy(by[1][2], -2 * W(0, 1), c[1][1]), -2 * W(1, 1), c[0][1]);
    c[1][2] = p4_axpy(p4_axpy(c[1][2], -W(1, 0), c[0][2]), -W(0, 2), c[1][0]);
    c[1][2] = p4_scale(r, p4_axpy(c[1][2], -W(1, 2), c[0][0]));
    c[0][3] = p4_axpy(p4_axpy(by[0][3], -3 * W(0, 1), c[0][2]), -3 * W(0, 2), c[0][1]);
    c[0][3] = p4_scale(r, p4_axpy(c[0][3], -W(0, 3), c[0][0]));
#undef W
    p4_store3(&out->uuu, c[3][0]), p4_store3(&out->uuv, c[2][1]);
    p4_store3(&out->uvv, c[1][2]), p4_store3(&out->vvv, c[0][3]);
}

void rational_evaluate(const double *data, double u, double v, int order, partials *out) {
    partials_clear(out, order);
    switch (order) {
    case 0: rational_to(data, u, v, 0, out); break;
    case 1: rational_to(data, u, v, 1, out); break;
    case 2: rational_to(data, u, v, 2, out); break;
    default: rational_to(data, u, v, 3, out); break;
    }
}

/* De Casteljau's algorithm with another parameter in each of its steps. */
static void casteljau(p4 p[4], const double t[3]) {
    for (int step = 0; step < 3; step++)
        for (int i = 0; i < 3 - step; i++) p[i] = p4_axpy(p4_scale(1 - t[step], p[i]), t[step], p[i + 1]);
}

void bezier_blossom(const double *data, const double u[3], const double v[3], double out[4]) {
    p4 column[4];
    for (int j = 0; j < 4; j++) {
        p4 row[4];
        memcpy(row, data + 16 * j, sizeof row);
        casteljau(row, u);
        column[j] = row[0];
    }
    casteljau(column, v);
    memcpy(out, &column[0], sizeof column[0]);
}
