/* Linear equations whose rows couple two blocks of six coordinates (two bodies), of any rank:
 *
 *     y = y0 + sum v_i z_i,        w_i . y + b_i + c_i z_i = 0   for the rows i that hold       c_i >= 0:
 * compliance
 *
 * Each row is a force z_i along v_i that keeps a rate along w_i.  Eliminating z leaves as many unknowns as
 * there are coordinates, however many rows there are and however redundant: with e_i = EASE ease_i
 *
 *     (1 + sum v_i w_i^T / (c_i + e_i)) dy = - sum v_i r_i / (c_i + e_i),     r_i = w_i . y + b_i + c_i z_i
 *     dz_i = - (r_i + w_i . dy) / (c_i + e_i)
 *
 * repeated until the residuals r_i vanish (the proximal point method, which is also iterative refinement): a
 * step leaves EASE / s^2 of the error in a direction with the singular value s of the rows, and rounding over
 * EASE of what it adds, times what the elimination loses.  EASE is 1e-5, so that three steps reach rounding;
 * where s is so small that they do not, 3e-7.  Where the solution is not unique z stays near where it began:
 * from z = 0 it is that of least sum of ease_i z_i^2 for symmetric equations, and any other has z_i = -(w_i .
 * q) / ease_i for some motion q: the loads of an elastic foundation, linear over a face whose points have one
 * ease.  Rows that contradict each other slightly (an edge whose two ends stick, between two corrections of
 * the drift) get the y of least squares. Nearly dependent rows that contradict each other more do not come to
 * rest: that is for a dense method to decide. */
#ifndef NUMERICS_COUPLED_H
#define NUMERICS_COUPLED_H

#include "numerics/block_lu.h"

typedef struct coupled_row {
    int block[2]; /* -1: none */
    double w[2][BLOCK_SIDE], v[2][BLOCK_SIDE];
    double b, compliance;
    double size; /* w . w; set by coupled_make */
    double ease; /* how soft the row is beside the others; 0: as its size */
    bool holds;
    double z;    /* the answer; of rows that do not hold: given */
    double r;    /* w . y + b at the answer, of all rows */
    double more; /* the last step of z */
} coupled_row;

typedef struct coupled {
    int blocks, count;
    coupled_row *rows;
    double *y;     /* y0 before, y after coupled_solve: all rows with their z added */
    double slight; /* contradictions that are accepted, relative to the scale: 1e-6 */
    double left;   /* the largest residual of the answer, relative to the scale */
    block_lu matrix;
    double *step, *left_over, *work;
} coupled;

/* Rows with blocks, w, v filled in.  False when memory is out. */
bool coupled_make(int blocks, coupled_row *rows, int count, arena *scratch, coupled *out);

/* Solves from the z and y0 given (y begins as y0, the effect of the z is added here).  `scale`: size of the
 * rates that meet in a row.  True when the largest |r_i| is at rounding, or slight as above. */
bool coupled_solve(coupled *c, double scale);

/* Sets the size of a row whose w has changed. */
void coupled_measure(coupled_row *r);
/* y += z v */
void coupled_push(const coupled_row *r, double z, double *y);
/* w . y of a row */
double coupled_rate(const coupled_row *r, const double *y);

#endif
