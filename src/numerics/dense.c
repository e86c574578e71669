/* Dense LU and QR for small systems. */
#include "numerics/dense.h"

#include <math.h>

bool dense_lu_factor(int n, double *a, int *row) {
    size_t N = (size_t)n;
    for (int i = 0; i < n; i++) row[i] = i;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[(size_t)i * N + (size_t)k]) > fabs(a[(size_t)p * N + (size_t)k])) p = i;
        double pivot = a[(size_t)p * N + (size_t)k];
        if (!(fabs(pivot) > 0)) return false;
        if (p != k) {
            int r = row[k];
            row[k] = row[p], row[p] = r;
            for (size_t j = 0; j < N; j++) {
                double t = a[(size_t)k * N + j];
                a[(size_t)k * N + j] = a[(size_t)p * N + j], a[(size_t)p * N + j] = t;
            }
        }
        for (int i = k + 1; i < n; i++) {
            double *ai = a + (size_t)i * N, *ak = a + (size_t)k * N, l = ai[k] /= pivot;
            if (l == 0) continue;
            for (int j = k + 1; j < n; j++) ai[j] -= l * ak[j];
        }
    }
    return true;
}

void dense_lu_solve(int n, const double *lu, const int *row, const double *b, double *x) {
    for (int i = 0; i < n; i++) {
        double sum = b[row[i]];
        for (int j = 0; j < i; j++) sum -= lu[(size_t)i * (size_t)n + (size_t)j] * x[j];
        x[i] = sum;
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = x[i];
        for (int j = i + 1; j < n; j++) sum -= lu[(size_t)i * (size_t)n + (size_t)j] * x[j];
        x[i] = sum / lu[(size_t)i * (size_t)n + (size_t)i];
    }
}

/* A reflection I - tau v v^T, v_0 = 1, that takes x (count entries, `stride` apart) to (beta, 0, ...). v_1 ..
 * are left in x_1 .., beta in x_0. Returns tau. */
static double reflect(double *x, int count, size_t stride) {
    double norm = 0, scale = 0;
    for (int i = 0; i < count; i++) scale = fmax(scale, fabs(x[(size_t)i * stride]));
    if (!(scale > 0)) return 0;
    for (int i = 0; i < count; i++) {
        double t = x[(size_t)i * stride] / scale;
        norm += t * t;
    }
    norm = scale * sqrt(norm);
    double beta = x[0] > 0 ? -norm : norm, tau = (beta - x[0]) / beta;
    for (int i = 1; i < count; i++) x[(size_t)i * stride] /= x[0] - beta;
    x[0] = beta;
    return tau;
}

/* The column of largest remaining norm goes to place k. */
static void bring_column(int m, int n, double *a, int k, int *column, double *work) {
    int best = k;
    for (int j = k; j < n; j++) {
        work[j] = 0;
        for (int i = k; i < m; i++)
            work[j] += a[(size_t)i * (size_t)n + (size_t)j] * a[(size_t)i * (size_t)n + (size_t)j];
        if (work[j] > work[best]) best = j;
    }
    if (best == k) return;
    int c = column[k];
    column[k] = column[best], column[best] = c;
    for (int i = 0; i < m; i++) {
        double *row = a + (size_t)i * (size_t)n, t = row[k];
        row[k] = row[best], row[best] = t;
    }
}

int dense_qr_factor(int m, int n, double *a, double tolerance, int *column, double *tau, double *work) {
    int steps = m < n ? m : n, rank = 0;
    double first = 0;
    for (int j = 0; j < n; j++) column[j] = j;
    for (int k = 0; k < steps; k++) {
        bring_column(m, n, a, k, column, work);
        double *top = a + (size_t)k * (size_t)n;
        tau[k] = reflect(top + k, m - k, (size_t)n);
        for (int j = k + 1; j < n; j++) {
            double sum = top[j];
            for (int i = k + 1; i < m; i++)
                sum += a[(size_t)i * (size_t)n + (size_t)k] * a[(size_t)i * (size_t)n + (size_t)j];
            sum *= tau[k], top[j] -= sum;
            for (int i = k + 1; i < m; i++)
                a[(size_t)i * (size_t)n + (size_t)j] -= sum * a[(size_t)i * (size_t)n + (size_t)k];
        }
        if (k == 0) first = fabs(top[0]);
        if (rank == k && fabs(top[k]) > tolerance * first) rank++;
    }
    return rank;
}

/* b = Q^T b */
static void apply_q(int m, int n, const double *qr, int steps, const double *tau, double *b) {
    for (int k = 0; k < steps; k++) {
        double sum = b[k];
        for (int i = k + 1; i < m; i++) sum += qr[(size_t)i * (size_t)n + (size_t)k] * b[i];
        sum *= tau[k], b[k] -= sum;
        for (int i = k + 1; i < m; i++) b[i] -= sum * qr[(size_t)i * (size_t)n + (size_t)k];
    }
}

void dense_qr_solve(int m, int n, const double *qr, int rank, const int *column, const double *tau, double *b,
                    double *x, double *work) {
    size_t N = (size_t)n;
    double *t = work, *y = work + N * N,
           *z = y + n; /* t: [R11 R12]; z: tau of the reflections from the right */
    apply_q(m, n, qr, m < n ? m : n, tau, b);
    for (int i = 0; i < rank; i++)
        for (int j = i; j < n; j++) t[(size_t)i * N + (size_t)j] = qr[(size_t)i * N + (size_t)j];
    /* from the last row up: the reflection over column i and the columns rank .. n-1 clears R12's row i */
    int tail = n - rank;
    for (int i = rank - 1; i >= 0 && tail > 0; i--) {
        double *row = t + (size_t)i * N, v[1], norm = row[i] * row[i];
        for (int j = rank; j < n; j++) norm += row[j] * row[j];
        double beta = row[i] > 0 ? -sqrt(norm) : sqrt(norm);
        v[0] = row[i] - beta, z[i] = (beta - row[i]) / beta;
        for (int j = rank; j < n; j++) row[j] /= v[0];
        row[i] = beta;
        for (int k = 0; k < i; k++) {
            double *other = t + (size_t)k * N, sum = other[i];
            for (int j = rank; j < n; j++) sum += other[j] * row[j];
            sum *= z[i], other[i] -= sum;
            for (int j = rank; j < n; j++) other[j] -= sum * row[j];
        }
    }
    for (int i = rank - 1; i >= 0; i--) {
        double sum = b[i];
        for (int j = i + 1; j < rank; j++) sum -= t[(size_t)i * N + (size_t)j] * y[j];
        y[i] = sum / t[(size_t)i * N + (size_t)i];
    }
    for (int j = rank; j < n; j++) y[j] = 0;
    for (int i = 0; i < rank && tail > 0; i++) { /* y = Z (y, 0) */
        double *row = t + (size_t)i * N, sum = y[i];
        for (int j = rank; j < n; j++) sum += row[j] * y[j];
        sum *= z[i], y[i] -= sum;
        for (int j = rank; j < n; j++) y[j] -= sum * row[j];
    }
    for (int j = 0; j < n; j++) x[column[j]] = y[j];
}

bool dense_eliminate(int n, int stride, double *a, double *b, double least) {
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * stride + k]) > fabs(a[pivot * stride + k])) pivot = i;
        double *top = a + k * stride, *from = a + pivot * stride;
        if (!(fabs(from[k]) > least)) return false;
        for (int j = 0; j < n && pivot != k; j++) {
            double swap = top[j];
            top[j] = from[j], from[j] = swap;
        }
        double swap = b[k];
        b[k] = b[pivot], b[pivot] = swap;
        for (int i = k + 1; i < n; i++) {
            double *row = a + i * stride, f = row[k] / top[k];
            for (int j = k; j < n; j++) row[j] -= f * top[j];
            b[i] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= a[k * stride + j] * b[j];
        b[k] /= a[k * stride + k];
    }
    return true;
}
