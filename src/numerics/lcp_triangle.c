/* Rows join at the end (bordering) and leave by a rank-one update of what follows (Gill, Golub, Murray and
 * Saunders 1974, method C1). */
#include "numerics/lcp_triangle.h"

typedef double four __attribute__((vector_size(32)));

static double *column_of(const lcp_triangle *t, int j) { return t->column + (size_t)j * (size_t)t->stride; }

/* x -= f a + g b */
static inline void subtract(double *restrict x, double f, const double *restrict a, double g,
                            const double *restrict b, int n) {
    int k = 0;
    for (four y, c, d; k + 4 <= n; k += 4) {
        memcpy(&y, x + k, sizeof y), memcpy(&c, a + k, sizeof c), memcpy(&d, b + k, sizeof d);
        y -= f * c + g * d;
        memcpy(x + k, &y, sizeof y);
    }
    for (; k < n; k++) x[k] -= f * a[k] + g * b[k];
}

/* x.a and x.b */
static inline void dots(const double *x, const double *a, const double *b, int n, double out[2]) {
    four first = {0}, second = {0}, y, c, d;
    double rest = 0, other = 0;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        memcpy(&y, x + k, sizeof y), memcpy(&c, a + k, sizeof c), memcpy(&d, b + k, sizeof d);
        first += y * c, second += y * d;
    }
    for (; k < n; k++) rest += x[k] * a[k], other += x[k] * b[k];
    out[0] = ((first[0] + first[2]) + (first[1] + first[3])) + rest;
    out[1] = ((second[0] + second[2]) + (second[1] + second[3])) + other;
}

/* L x = x from place `first` on, two columns at a time. */
static inline void forward(const lcp_triangle *t, double *x, int first) {
    int j = first, n = t->count;
    for (; j + 2 <= n; j += 2) {
        const double *a = column_of(t, j), *b = column_of(t, j + 1);
        x[j + 1] -= x[j] * a[j + 1];
        subtract(x + j + 2, x[j], a + j + 2, x[j + 1], b + j + 2, n - j - 2);
    }
}

/* L^T x = x */
static inline void backward(const lcp_triangle *t, double *x) {
    int n = t->count, j = n - 2;
    for (; j > 0; j -= 2) { /* rows j and j - 1, from those after j */
        const double *a = column_of(t, j), *b = column_of(t, j - 1);
        double sums[2];
        dots(x + j + 1, a + j + 1, b + j + 1, n - j - 1, sums);
        x[j] -= sums[0];
        x[j - 1] -= sums[1] + b[j] * x[j];
    }
    if (j == 0) {
        double sums[2];
        dots(x + 1, column_of(t, 0) + 1, column_of(t, 0) + 1, n - 1, sums);
        x[0] -= sums[0];
    }
}

void lcp_triangle_init(lcp_triangle *t, double *room, int capacity) {
    size_t n = (size_t)capacity;
    *t = (lcp_triangle){.capacity = capacity, .stride = capacity, .column = room};
    t->pivot = room + n * n, t->inverse = t->pivot + n, t->work = t->inverse + n;
}

/* L x = a, l = x / d, d_new = a_ii - l.x */
bool lcp_triangle_join(lcp_triangle *t, double *x, double diagonal, double least) {
    int n = t->count;
    double d = diagonal;
    if (n == t->capacity) return false;
    forward(t, x, 0);
    for (int j = 0; j < n; j++) {
        double l = x[j] * t->inverse[j];
        d -= l * x[j], column_of(t, j)[n] = l;
    }
    t->pivot[n] = d > least / 4 ? d : least, t->inverse[n] = 1 / t->pivot[n];
    t->count++;
    return true;
}

/* With l the column of row p, the rows after it become L' D' L'^T = L D L^T + d_p l l^T; `from` is the column
 * before, one row and column further. */
void lcp_triangle_leave(lcp_triangle *t, int p) {
    int n = --t->count;
    double weight = t->pivot[p], *y = t->work;
    for (int j = 0; j < p; j++) {
        double *column = column_of(t, j) + p;
        memmove(column, column + 1, (size_t)(n - p) * sizeof *column);
    }
    memcpy(y + p, column_of(t, p) + p + 1, (size_t)(n - p) * sizeof *y);
    for (int j = p; j < n; j++) {
        const double *from = column_of(t, j + 1) + 1;
        double *to = column_of(t, j);
        double own = y[j], d = t->pivot[j + 1], push = weight * own, new_d = d + push * own;
        double inverse = 1 / new_d, beta = push * inverse;
        t->pivot[j] = new_d, t->inverse[j] = inverse, weight *= d * inverse;
        int i = j + 1;
        for (four l, left; i + 4 <= n; i += 4) {
            memcpy(&l, from + i, sizeof l), memcpy(&left, y + i, sizeof left);
            left -= own * l;
            l += beta * left;
            memcpy(y + i, &left, sizeof left), memcpy(to + i, &l, sizeof l);
        }
        for (; i < n; i++) {
            double l = from[i], left = y[i] - own * l;
            y[i] = left, to[i] = l + beta * left;
        }
    }
}

void lcp_triangle_solve(const lcp_triangle *t, double *x, int first) {
    forward(t, x, first);
    for (int j = first; j < t->count; j++) x[j] *= t->inverse[j];
    backward(t, x);
}
