/* Eigenvalues and eigenvectors of a symmetric 3x3 matrix, by cyclic Jacobi rotations: backward stable to
 * a few ulp of the norm, orthogonal to rounding also for equal eigenvalues. */
#ifndef MATH_EIGEN_H
#define MATH_EIGEN_H

#include "math/vec.h"

/* m = Q diag(values) Q^T with values ascending and Q a rotation (det +1).  Only the upper triangle of m
 * counts. */
void sym3_eigen(mat3 m, vec3 *values, mat3 *vectors);

#endif
