/* Small complementarity problems in exact integer arithmetic: every active set is tried with fraction-free
 * elimination (Bareiss 1968) in 128-bit integers.  The reference for the solvers, sharing nothing with them.
 */
#ifndef TESTS_EXACT_LCP_H
#define TESTS_EXACT_LCP_H

#include <stdbool.h>

enum { EXACT_MOST = 6 };
__extension__ typedef __int128 exact_integer;

/* The determinant of the n x n matrix m (destroyed). */
static exact_integer exact_determinant(int n, exact_integer m[EXACT_MOST][EXACT_MOST]) {
    exact_integer last = 1, sign = 1;
    for (int k = 0; k < n; k++) {
        int p = k;
        while (p < n && m[p][k] == 0) p++;
        if (p == n) return 0;
        for (int j = 0; j < n && p != k; j++) {
            exact_integer t = m[p][j];
            m[p][j] = m[k][j], m[k][j] = t;
        }
        if (p != k) sign = -sign;
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) m[i][j] = (m[i][j] * m[k][k] - m[i][k] * m[k][j]) / last;
        last = m[k][k];
    }
    return n == 0 ? 1 : sign * m[n - 1][n - 1];
}

/* z_F = -A_FF^-1 b_F by Cramer's rule: numerators in top[], the common denominator is returned (0: singular).
 */
static exact_integer exact_cramer(int n, long a[EXACT_MOST][EXACT_MOST], const long *b, unsigned set,
                                  exact_integer *top) {
    int row[EXACT_MOST], f = 0;
    exact_integer m[EXACT_MOST][EXACT_MOST];
    for (int i = 0; i < n; i++) {
        top[i] = 0;
        if (set >> i & 1) row[f++] = i;
    }
    for (int column = -1; column < f; column++) {
        for (int i = 0; i < f; i++)
            for (int j = 0; j < f; j++) m[i][j] = j == column ? -(exact_integer)b[row[i]] : a[row[i]][row[j]];
        exact_integer d = exact_determinant(f, m);
        if (column >= 0)
            top[row[column]] = d;
        else if (d == 0)
            return 0;
    }
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++) m[i][j] = a[row[i]][row[j]];
    return exact_determinant(f, m);
}

/* Solves w = A z + b, z, w >= 0, z.w = 0 over all active sets.  False: no solution. The first solution's w
 * and z are rounded to doubles; *solutions counts the basic solutions with different z. */
static bool exact_lcp(int n, long a[EXACT_MOST][EXACT_MOST], const long *b, double *z, double *w,
                      int *solutions) {
    *solutions = 0;
    for (unsigned set = 0; set < 1u << n; set++) {
        exact_integer top[EXACT_MOST], d = exact_cramer(n, a, b, set, top), v[EXACT_MOST];
        bool good = d != 0;
        for (int i = 0; i < n && good; i++) {
            v[i] = (exact_integer)b[i] * d;
            for (int j = 0; j < n; j++) v[i] += a[i][j] * top[j];
            good = d > 0 ? v[i] >= 0 && top[i] >= 0 : v[i] <= 0 && top[i] <= 0;
        }
        if (!good) continue;
        bool fresh = *solutions == 0;
        for (int i = 0; i < n; i++) {
            double value = (double)((long double)top[i] / (long double)d);
            if (*solutions && __builtin_fabs(value - z[i]) > 1e-12 * (1 + __builtin_fabs(value)))
                fresh = true;
        }
        for (int i = 0; i < n && *solutions == 0; i++) {
            z[i] = (double)((long double)top[i] / (long double)d);
            w[i] = (double)((long double)v[i] / (long double)d);
        }
        *solutions += fresh;
    }
    return *solutions > 0;
}

#endif
