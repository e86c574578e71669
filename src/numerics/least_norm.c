/* Complete orthogonal decomposition by Gram-Schmidt with pivoting, each vector orthogonalised twice ("twice
 * is enough": the result is orthonormal to rounding). */
#include "numerics/least_norm.h"

#include <math.h>

/* In four sums, always the same way: the processor need not wait for each addition. */
static double dot(const double *a, const double *b, int n) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4)
        s0 += a[i] * b[i], s1 += a[i + 1] * b[i + 1], s2 += a[i + 2] * b[i + 2], s3 += a[i + 3] * b[i + 3];
    for (; i < n; i++) s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

/* a += s b */
static void axpy(double *a, double s, const double *b, int n) {
    for (int i = 0; i < n; i++) a[i] += s * b[i];
}

/* v -= sum over the first k columns of q of (q.v) q; adds the coefficients to r where that is not NULL. */
static void orthogonalize(const double *q, int k, double *v, int n, double *r) {
    for (int i = 0; i < k; i++) {
        double c = dot(q + (size_t)i * n, v, n);
        axpy(v, -c, q + (size_t)i * n, n);
        if (r) r[i] += c;
    }
}

/* The remaining column that kept the largest part of its length, if that is more than the tolerance; -1. */
static int choose_pivot(const double *left, const double *length, int cols, double tolerance) {
    int best = -1;
    double most = tolerance;
    for (int j = 0; j < cols; j++)
        if (length[j] > 0 && left[j] > most * length[j]) most = left[j] / length[j], best = j;
    return best;
}

/* A = Q R with R rank x cols (r by rows of length cols): columns are orthogonalised against each new q at
 * once. */
static int range_basis(double *work, int rows, int cols, double tolerance, double *q, double *r, double *left,
                       double *length) {
    int limit = rows < cols ? rows : cols, rank = 0;
    for (int j = 0; j < cols; j++)
        left[j] = length[j] = sqrt(dot(work + (size_t)j * rows, work + (size_t)j * rows, rows));
    while (rank < limit) {
        int p = choose_pivot(left, length, cols, tolerance);
        if (p < 0) break;
        double *v = q + (size_t)rank * rows;
        memcpy(v, work + (size_t)p * rows, (size_t)rows * sizeof *v);
        orthogonalize(q, rank, v, rows, NULL);
        double size = sqrt(dot(v, v, rows));
        if (!(size > tolerance * length[p])) {
            left[p] = 0; /* what was left was rounding */
            continue;
        }
        for (int i = 0; i < rows; i++) v[i] /= size;
        for (int j = 0; j < cols; j++) {
            double *column = work + (size_t)j * rows, c = dot(v, column, rows);
            r[(size_t)rank * cols + j] = c;
            axpy(column, -c, v, rows);
            left[j] = j == p ? 0 : left[j] == 0 ? 0 : sqrt(dot(column, column, rows));
        }
        rank++;
    }
    return rank;
}

bool least_norm_factor(const double *a, int rows, int cols, double tolerance, arena *scratch,
                       least_norm *out) {
    int limit = rows < cols ? rows : cols;
    double *work = arena_alloc(scratch, (size_t)rows * cols + 1, sizeof(double));
    double *r = arena_alloc(scratch, (size_t)limit * cols + 1, sizeof(double));
    double *lengths = arena_alloc(scratch, 2 * (size_t)cols + 1, sizeof(double));
    out->rows = rows, out->cols = cols;
    out->q = arena_alloc(scratch, (size_t)limit * rows + 1, sizeof(double));
    if (!work || !r || !lengths || !out->q) return false;
    if (rows > 0 && cols > 0) memcpy(work, a, (size_t)rows * cols * sizeof(double));
    int rank = out->rank = range_basis(work, rows, cols, tolerance, out->q, r, lengths, lengths + cols);

    /* R^T = Z S: the rows of R, orthonormalised */
    out->z = r;
    out->s = arena_alloc(scratch, (size_t)rank * rank + 1, sizeof(double));
    out->t = arena_alloc(scratch, (size_t)rank + 1, sizeof(double));
    if (!out->s || !out->t) return false;
    for (int k = 0; k < rank; k++) {
        double *z = out->z + (size_t)k * cols, *s = out->s + (size_t)k * rank;
        orthogonalize(out->z, k, z, cols, s);
        orthogonalize(out->z, k, z, cols, s);
        s[k] = sqrt(dot(z, z, cols));
        for (int j = 0; j < cols; j++) z[j] /= s[k];
    }
    return true;
}

/* x = sum over k of t_k z_k with S^T t = Q^T b: forward substitution. */
void least_norm_solve(const least_norm *f, const double *b, double *x) {
    for (int j = 0; j < f->cols; j++) x[j] = 0;
    for (int k = 0; k < f->rank; k++) {
        const double *s = f->s + (size_t)k * f->rank;
        f->t[k] = (dot(f->q + (size_t)k * f->rows, b, f->rows) - dot(s, f->t, k)) / s[k];
        axpy(x, f->t[k], f->z + (size_t)k * f->cols, f->cols);
    }
}

/* y = sum over k of t_k q_k with S t = Z^T c: back substitution. */
void least_norm_solve_transposed(const least_norm *f, const double *c, double *y) {
    for (int i = 0; i < f->rows; i++) y[i] = 0;
    for (int k = 0; k < f->rank; k++) f->t[k] = dot(f->z + (size_t)k * f->cols, c, f->cols);
    for (int k = f->rank - 1; k >= 0; k--) {
        const double *s = f->s + (size_t)k * f->rank;
        f->t[k] /= s[k];
        axpy(f->t, -f->t[k], s, k);
        axpy(y, f->t[k], f->q + (size_t)k * f->rows, f->rows);
    }
}

void least_norm_take_out(const least_norm *f, double *v) {
    orthogonalize(f->q, f->rank, v, f->rows, NULL);
    orthogonalize(f->q, f->rank, v, f->rows, NULL);
}

double least_norm_openness(const least_norm *f, int i) {
    double held = 0;
    for (int k = 0; k < f->rank; k++) held += f->z[(size_t)k * f->cols + i] * f->z[(size_t)k * f->cols + i];
    return held < 1 ? 1 - held : 0;
}
