/* dense: factorisations of small dense matrices, by rows, the same bits everywhere. For sizes up to a few
 * hundred inside a step; set-up work on larger ones goes to LAPACK. */
#ifndef NUMERICS_DENSE_H
#define NUMERICS_DENSE_H

#include "base/base.h"

/* P A = L U with partial pivoting, in place; row[k] is the row of A that became row k. False when a pivot is
 * 0 (or not a number). */
bool dense_lu_factor(int n, double *a, int *row);
/* x = A^-1 b; x and b are different arrays. */
void dense_lu_solve(int n, const double *lu, const int *row, const double *b, double *x);

/* A x = b for a few unknowns, by elimination with row pivoting; rows are `stride` apart.  A is used up, b
 * becomes the solution.  False when no pivot is larger than `least`. */
bool dense_eliminate(int n, int stride, double *a, double *b, double least);

/* Householder QR with column pivoting, A P = Q R, m rows and n columns, in place (Businger and Golub 1965).
 * The rank is the number of diagonal entries of R above `tolerance` times the first. column[k] is the column
 * of A that became k; `tau` has min(m, n) entries, `work` n. Returns the rank. */
int dense_qr_factor(int m, int n, double *a, double tolerance, int *column, double *tau, double *work);
/* The least-squares solution of least norm of A x = b: Q and R of dense_qr_factor, then, where columns are
 * dependent, R is reduced from the right to a triangle (complete orthogonal decomposition).  b (m entries)
 * becomes Q^T b. `work` has n * n + 2 n entries. */
void dense_qr_solve(int m, int n, const double *qr, int rank, const int *column, const double *tau, double *b,
                    double *x, double *work);

#endif
