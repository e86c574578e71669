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
 * the drift) get the y of least squares.  So do rows that nearly depend on each other, s < 7e-4, where they
 * miss by no more than that: places of a rim that lie side by side stand for one between them.  Not if
 * `thorough`: a hinge right above a contact holds what it holds (a mechanism missed both by 5e-7 of the
 * scale, and its energy by 1e-6 a second), and only what stands with the second ease as well, s < 1e-4,
 * contradicts. Nearly dependent rows that contradict each other more do not come to rest: that is for a dense
 * method to decide.
 *
 * Masses that differ by more than 1e4 (WIDE).  A heavy body on a light one moves along the forces that pass
 * through the light one by 1/ratio of what they would do to that alone: s^2 = 1/ratio, far below EASE, and
 * the light one's y is the difference of forces as many times larger than what it moves by, which doubles do
 * not hold.  Where the steps above do not come to rest, the same are made in double-double numbers, with EASE
 * times the mobility of the heaviest body for all rows.  y is then known to the last digit of a double, and z
 * too, but y is no longer the sum of v z in doubles: accelerations must be read from y. */
#ifndef NUMERICS_COUPLED_H
#define NUMERICS_COUPLED_H

#include "numerics/block_wide.h"

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
    double hard; /* 1 / (c + e) of the factor at hand */
} coupled_row;

/* What the solution in double-double numbers needs. */
typedef struct coupled_wide {
    double least;    /* mobility of the block that rows move least */
    double *y0, *z0; /* as given */
    dd *y, *z, *step, *work;
    block_wide matrix;
} coupled_wide;

typedef struct coupled {
    int blocks, count;
    coupled_row *rows;
    double *y;     /* y0 before, y after coupled_solve: all rows with their z added */
    double slight; /* contradictions that are accepted, relative to the scale: 1e-6 */
    bool thorough; /* rows that nearly depend on each other are all held: false */
    double left;   /* the largest residual of the answer, relative to the scale */
    block_lu matrix;
    double *step, *left_over, *work;
    coupled_wide *wide; /* NULL: masses differ little */
    bool is_wide;       /* the answer is that in double-double numbers: y is right, the sum of v z is not */
} coupled;

/* Rows with blocks, w, v filled in.  False when memory is out. */
bool coupled_make(int blocks, coupled_row *rows, int count, arena *scratch, coupled *out);

/* Solves from the z and y0 given (y begins as y0, the effect of the z is added here).  `scale`: size of the
 * rates that meet in a row.  True when the largest |r_i| is at rounding, or slight as above. */
bool coupled_solve(coupled *c, double scale);

/* coupled_wide.c: makes room where it is needed; false when memory is out. */
bool coupled_wide_make(coupled *c, arena *scratch);
/* Keeps y and z as given, for an attempt of coupled_wide_solve, which returns the residual that is left.
 * *contradicts as in coupled_solve. */
void coupled_wide_begin(coupled *c);
double coupled_wide_solve(coupled *c, double ease, double scale, bool *contradicts);

/* Residuals at rounding; a step that takes away less than this part of the residuals moves nothing: s^2 <
 * STANDS * ease; and steps of an attempt. */
#define COUPLED_DONE   1e-14
#define COUPLED_STANDS 0.05
enum { COUPLED_ROUNDS = 12, COUPLED_STALLS = 3 };

/* Sets the size of a row whose w has changed. */
void coupled_measure(coupled_row *r);
/* y += z v */
void coupled_push(const coupled_row *r, double z, double *y);
/* w . y of a row */
double coupled_rate(const coupled_row *r, const double *y);

#endif
