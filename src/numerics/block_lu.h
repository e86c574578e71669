/* Sparse elimination for matrices of 6 x 6 blocks, one row of blocks a body.
 *
 *     A = L U,     L: unit blocks on the diagonal,     U: the pivots and what is right of them
 *
 * The pattern is symmetric (a contact couples two bodies both ways), the values need not be.  Blocks are
 * eliminated in the order of least degree, so that a stack or an arch costs as much as its number of bodies
 * and a heap little more; inside a pivot block rows are exchanged, between blocks they are not: the caller
 * looks at the residual.
 *
 *     position k of the order:   pivot[k]   |  upper[e] = A_kj   for e in start[k] .. start[k+1]-1, j =
 * column[e] > k lower[e] = A_jk                                                                   */
#ifndef NUMERICS_BLOCK_LU_H
#define NUMERICS_BLOCK_LU_H

#include "base/base.h"

enum { BLOCK_SIDE = 6, BLOCK_AREA = BLOCK_SIDE * BLOCK_SIDE };

typedef struct block_lu {
    int count;
    int *order, *place;  /* position -> block, block -> position */
    int *start, *column; /* later neighbours of a position, as positions in ascending order */
    double *pivot, *upper, *lower;
    double *inverse_pivot, *inverse_upper; /* see block_lu_invert */
} block_lu;

/* Two blocks that are coupled. */
typedef struct block_pair {
    int a, b;
} block_pair;

/* Order and pattern with its fill; pairs with a == b or a negative number are skipped.  All values are zero.
 * False when memory is out. */
bool block_lu_plan(int count, const block_pair *pairs, int pair_count, arena *scratch, block_lu *out);
void block_lu_clear(block_lu *f);

/* The entry of position i at the later position j. */
size_t block_lu_find(const block_lu *f, int i, int j);
/* The block A_ij, by rows, to add to before the factorisation; i and j are coupled or the same. */
double *block_lu_entry(block_lu *f, int i, int j);

/* A becomes L U.  False where a pivot block is singular. */
bool block_lu_factor(block_lu *f);
/* x = A^-1 b, both of BLOCK_SIDE * count numbers; work as long.  x may be b. */
void block_lu_solve(const block_lu *f, const double *b, double *x, double *work);

/* The same for BLOCK_SIDE right sides at once: a block, by rows, for each row of blocks, in x; `used` tells
 * which of them are not zero, before and after.  Both as long again for work. */
void block_lu_solve_wide(const block_lu *f, double *x, uint8_t *used, double *work, uint8_t *work_used);

/* The blocks of A^-1 where A has some, with its fill; of a symmetric matrix, after its factorisation
 * (Takahashi, Fagan, Chin 1973):  Z = A^-1 solves  U Z = L^-1,  whose right side is 1 on the diagonal and 0
 * above it, so from the last position back
 *
 *     Z_kj = - U_kk^-1 sum U_km Z_mj,     Z_kk = U_kk^-1 - U_kk^-1 sum U_km Z_mk,     m, j later neighbours
 * of k
 *
 * which asks only for blocks that are there: later neighbours of one position are neighbours.  It costs about
 * as much as the factorisation. */
bool block_lu_allow_inverse(block_lu *f, arena *scratch);
void block_lu_invert(block_lu *f);
/* The block ij of it, by rows; i and j are coupled or the same. */
void block_lu_inverse_entry(const block_lu *f, int i, int j, double out[BLOCK_AREA]);

#endif
