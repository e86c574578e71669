/* Least-squares solutions of least norm, for matrices of any rank.
 *
 *     A = Q S^T Z^T     Q rows x rank and Z cols x rank orthonormal, S rank x rank upper triangular
 *
 * (a complete orthogonal decomposition).  With it
 *     A^+ b       = Z S^-T Q^T b        of all x with least |A x - b| the one with least |x|
 *     (A^T)^+ c   = Q S^-1 Z^T c
 * The rank counts the columns that keep more than `tolerance` of their length when those chosen before are
 * taken out of them, so that it does not depend on how columns are scaled. Matrices are stored by columns. */
#ifndef NUMERICS_LEAST_NORM_H
#define NUMERICS_LEAST_NORM_H

#include "base/base.h"

typedef struct least_norm {
    int rows, cols, rank;
    double *q, *z, *s; /* q: rows x rank, z: cols x rank, s: rank x rank with leading dimension rank */
    double *t;         /* scratch of the substitutions, rank */
} least_norm;

/* False when memory is out.  a is not changed; the factors live in the arena. */
bool least_norm_factor(const double *a, int rows, int cols, double tolerance, arena *scratch,
                       least_norm *out);

/* x (cols) = A^+ b (rows) */
void least_norm_solve(const least_norm *f, const double *b, double *x);
/* y (rows) = (A^T)^+ c (cols) */
void least_norm_solve_transposed(const least_norm *f, const double *c, double *y);
/* v (rows) -= Q Q^T v: what no x can change */
void least_norm_take_out(const least_norm *f, double *v);
/* 1 - |row i of Z|^2: the part of unknown i that the equations leave open, 0 (determined) to 1 (free). */
double least_norm_openness(const least_norm *f, int i);

#endif
