/* Elimination over blocks as in block_lu.h, by its plan, in double-double numbers. */
#ifndef NUMERICS_BLOCK_WIDE_H
#define NUMERICS_BLOCK_WIDE_H

#include "math/dd.h"
#include "numerics/block_lu.h"

typedef struct block_wide {
    const block_lu *plan;
    dd *pivot, *upper, *lower;
} block_wide;

/* False when memory is out. */
bool block_wide_make(const block_lu *plan, arena *scratch, block_wide *out);
void block_wide_clear(block_wide *f);
dd *block_wide_entry(block_wide *f, int i, int j);
bool block_wide_factor(block_wide *f);
/* x = A^-1 b; x may be b. */
void block_wide_solve(const block_wide *f, const dd *b, dd *x, dd *work);

#endif
