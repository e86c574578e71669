/* The point nearest to the origin under equations and quadratic cones, by a primal-dual interior-point
 * method:
 *
 *     min |x|^2 / 2     E x + e = 0,     s_i = J_i x + c_i in K_i          K: s_0 >= |(s_1, s_2)|, or s_0 >=
 * 0
 *
 * or, with a compliance, s_i = J_i x + c_i + compliance |row_0|^2 z_i, which has a solution whatever the rows
 * want.
 *
 * with multipliers y and z_i in K_i:    x = E^T y + sum J_i^T z_i,     s_i . z_i = 0
 *
 * Rows touch at most two blocks of six coordinates (two bodies), so that a Newton step costs one Cholesky
 * factorization of a matrix with as many rows as coordinates, however many cones there are.  Where the
 * multipliers are not unique the answer lies well inside the set of solutions, not in a corner of it.
 *
 * Nesterov-Todd scaling and Mehrotra's predictor and corrector (Vandenberghe, "The CVXOPT linear and
 * quadratic cone program solvers", 2010, sections 4 to 7). */
#ifndef NUMERICS_CONE_PROGRAM_H
#define NUMERICS_CONE_PROGRAM_H

#include "base/base.h"

enum { CONE_SPAN = 6 };

/* A row over two blocks of six coordinates: first[k] is where block k begins, -1: none. */
typedef struct cone_row {
    double value[2][CONE_SPAN];
} cone_row;

typedef struct cone_block {
    int first[2];
    int dimension; /* 1 or 3 */
    cone_row row[3];
    double offset[3];
    double s[3], z[3]; /* the answer */
} cone_block;

typedef struct cone_equation {
    int first[2];
    cone_row row;
    double offset;
    double y; /* the answer */
} cone_equation;

typedef struct cone_program {
    int size; /* coordinates */
    cone_block *blocks;
    int block_count;
    cone_equation *equations;
    int equation_count;
    double *x;        /* the answer */
    double tolerance; /* of s.z, relative to the square of the largest offset: 1e-18 */
    double compliance;
    int budget; /* Newton steps: 60 */
} cone_program;

typedef struct cone_result {
    bool solved;     /* within 1e-7 of all conditions; false: no strictly feasible point, or out of budget */
    double residual; /* largest error of the equations, relative to the largest offset */
    double gap;      /* mean s.z, relative to its square */
    int steps;
} cone_result;

/* NO_MEMORY, or OK. */
abut_status cone_program_solve(cone_program *p, arena *scratch, cone_result *result);

#endif
