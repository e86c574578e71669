/* lcp_pivot: one strictly convex problem with bounds, by principal pivoting.
 *
 *     v = a y + q + delta m (y - c),   lo <= y <= hi,   v >= 0 at lo, v <= 0 at hi, v = 0 between
 *
 * m is a diagonal metric, 1 unless set.  The exact solver and the least-norm solution are sequences of these.
 */
#ifndef NUMERICS_LCP_PIVOT_H
#define NUMERICS_LCP_PIVOT_H

#include "numerics/lcp.h"

typedef struct lcp_pivoting {
    lcp_system system;
    lcp_factor factor;
    uint8_t *state, *wanted;
    double *y, *v;       /* v = a y + q, without the proximal term */
    double *center;      /* c */
    double *metric;      /* m */
    double *size_of_row; /* |a||y| + |q| */
    double *step;
    double *interior; /* room of the interior path, 7 vectors */
    double delta;
    int pivots, factorizations, budget;
    int calls;    /* of the interior path in the last run */
    double slack; /* of a sign, relative to max |b| */
    bool cold;    /* the state is a first guess */
    bool far;     /* on the way from a larger delta: rounding does not matter yet */
    bool careful; /* always sums in doubled precision */
} lcp_pivoting;

/* All zero but the metric (1); bounds, state, delta and budget are the caller's to set. False when memory is
 * out. */
bool lcp_pivoting_init(lcp_pivoting *p, abut_lcp_solver *solver, const lcp_rows *rows, const double *b);
/* The same with the system and the factor that the solver keeps, where the matrix is that of the last time;
 * lcp_pivoting_keep hands them back. */
bool lcp_pivoting_take(lcp_pivoting *p, abut_lcp_solver *solver, const lcp_rows *rows, const double *b);
void lcp_pivoting_keep(const lcp_pivoting *p, abut_lcp_solver *solver);
/* After a change of bounds, state or q: puts rows at their bounds (a state without a finite bound becomes
 * free) and computes v. */
void lcp_pivoting_bound(lcp_pivoting *p);
/* Solves from the current state and y.  With `recenter` the centre may move to a nearby point inside the
 * bounds, where the blocks fail without (right for proximal steps, wrong for a projection). False when the
 * budget of pivots is used up. */
bool lcp_pivoting_run(lcp_pivoting *p, bool recenter);

/* Follows the interior path of the same problem far enough to see which rows are free; y, state and the
 * pivots are set. Each further `call` goes closer to the end of the path. */
void lcp_interior_run(lcp_pivoting *p, int call);

#endif
