/* lcp_active: the exact solver on the free rows alone, for groups of rows coupled to no other.
 *
 *     lcp_active s;
 *     lcp_active_init(&s, room, problem, rows, diagonal);
 *     for each group: lcp_active_solve(&s, member, count, warm, state, z, w, result)
 *
 * All vectors are by the rows of the whole problem, so that nothing is copied or renumbered for a group;
 * those marked (place) are by the places in `free`, the order of the factor.
 */
#ifndef NUMERICS_LCP_ACTIVE_H
#define NUMERICS_LCP_ACTIVE_H

#include "numerics/lcp.h"
#include "numerics/lcp_triangle.h"

/* Up to LCP_SMALL rows a group starts from nothing, and its factor is dense whatever is free: k joins cost
 * about k^3 / 6 products for the factor and k^2 / 2 rows of the matrix for w; ten sweeps, which choose about
 * the right rows, 10 n rows and the same factor.  That is equal for k = n / 2 at n = 80, and counted in
 * instructions over random piles 64 is the best of 32, 44 and 64.  Beyond LCP_ACTIVE rows a dense factor
 * would be too large. */
enum { LCP_SMALL = 64, LCP_ACTIVE = 1000 };

typedef struct lcp_active {
    lcp_rows rows;
    double unit;       /* max |b|, or 1 */
    const int *member; /* of the group */
    int size;
    int capacity;      /* of the factor */
    bool careful;      /* sums in doubled precision */
    bool rough;        /* w is that of the last evaluation plus changes: signs wait for a fresh one */
    int *free, *where; /* (place) -> row; row -> place or -1 */
    const double *b, *diagonal;
    double *lo, *hi, *z, *w;
    double *center, *size_of_row, *reciprocal; /* 1 / diagonal */
    double *gradient, *step, *line;            /* (place): of f; of z; a row of the matrix */
    double *moved;                             /* (place): change of z that w does not show yet */
    uint8_t *state;
    lcp_triangle factor;
} lcp_active;

/* `diagonal` is that of the matrix; `room` has lcp_active_room doubles. */
size_t lcp_active_room(int size);
void lcp_active_init(lcp_active *s, double *room, const abut_lcp *problem, const lcp_rows *rows,
                     const double *diagonal);
/* One group.  False: it is none for this method, or did not settle; nothing is written. */
bool lcp_active_solve(lcp_active *s, const int *member, int count, bool warm, uint8_t *state, double *z,
                      double *w, abut_lcp_result *result);

#endif
