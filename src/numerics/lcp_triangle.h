/* lcp_triangle: L D L^T of a dense symmetric matrix whose rows come and go.
 *
 *     column j:  column[j * stride + i],  j < i < count:  l_ij        pivot[j] = d_j,  inverse[j] = 1 / d_j
 *
 * By columns, so that a solution with L is a sequence of x -= x_j l_j, whose elements do not wait for each
 * other; sums are taken in four strands.  Both are elementwise the same with and without wide registers.
 */
#ifndef NUMERICS_LCP_TRIANGLE_H
#define NUMERICS_LCP_TRIANGLE_H

#include "base/base.h"

typedef struct lcp_triangle {
    int count, capacity, stride; /* rows, room */
    double *column, *pivot, *inverse, *work;
} lcp_triangle;

/* Doubles that a triangle of `capacity` rows takes. */
static inline size_t lcp_triangle_room(int capacity) {
    return (size_t)capacity * (size_t)capacity + 3 * (size_t)capacity;
}
void lcp_triangle_init(lcp_triangle *t, double *room, int capacity);
/* A new last row: x[0 .. count-1] are its products with the rows there are (overwritten), then its diagonal.
 * A pivot that rounding takes below least / 4 is set to `least`.  False when there is no room. */
bool lcp_triangle_join(lcp_triangle *t, double *x, double diagonal, double least);
/* Row p leaves; the rows after it move up by one. */
void lcp_triangle_leave(lcp_triangle *t, int p);
/* x = (L D L^T)^-1 x; x is 0 before place `first`. */
void lcp_triangle_solve(const lcp_triangle *t, double *x, int first);

#endif
