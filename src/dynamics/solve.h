/* Dense pieces of the solution of a system, shared by solve.c, coulomb.c and share.c.
 *
 * W and V hold the rows and the columns of a system in the space where all masses are 1 (system.h), by
 * columns of length space.dimension:   w = W^T V z + b. */
#ifndef DYNAMICS_SOLVE_H
#define DYNAMICS_SOLVE_H

#include "dynamics/system.h"
#include "numerics/least_norm.h"

/* A row that keeps less of its length than this beside the others is redundant. */
#define DENSE_RANK 1e-10

static inline double dense_dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

typedef struct dense {
    const group_system *s;
    system_space space;
    double *w, *v; /* v == w where symmetric */
} dense;

typedef struct dense_reduced {
    int count;
    int *list;            /* the unknowns with bounds */
    least_norm bilateral; /* of the others */
    double *y;            /* what the bilateral rows alone do */
} dense_reduced;

/* All return false when memory is out.  dense_make is dense_begin, the space alone, and dense_fill, W and V.
 */
bool dense_make(const group_system *s, arena *scratch, dense *out);
bool dense_begin(const group_system *s, arena *scratch, dense *out);
bool dense_fill(dense *d, arena *scratch);
/* y += z times column i; needs the space alone. */
void dense_push(const dense *d, int i, double z, double *y);
bool dense_solve_states(const dense *d, const uint8_t *state, double *z, arena *scratch);
bool dense_reduce(const dense *d, arena *scratch, dense_reduced *out);
/* z = lo + z' in w = A z + b (A by rows), so that z' >= 0.  In the expansion of Poisson's law lo is what the
 * impact must give: where the bodies rest against each other b is nothing but rounding, and no measure for an
 * answer. */
void dense_shift_bounds(int count, const double *matrix, double *b, double *lo, double *hi);

#endif
