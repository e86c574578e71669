/* lcp: what the complementarity solvers share.
 *
 *   abut_lcp  --lcp_system_build-->  lcp_system: the same problem with rows reordered (fill-reducing) and
 * scaled by powers (caller's arrays)                of two, so that the scaling itself makes no rounding
 * error:
 *
 *       y_k = beta z_i / s_i,   a_kl = s_i s_j A_ij,   q_k = beta s_i b_i,   v_k = beta s_i w_i      (i =
 * order[k], j = order[l])
 *
 *   with a_kk in [1/2, 2) and max |q| in [1/2, 1).  For contacts this is the scaling by mass: a light body
 * among heavy ones weighs the same.  lcp_factor is an LDL^T of the free rows of a + delta m.
 */
#ifndef NUMERICS_LCP_H
#define NUMERICS_LCP_H

#include "abut/complementarity.h"
#include "base/base.h"

/* u: half the distance from 1 to the next double. */
#define LCP_ROUNDING 0x1p-53

/* Compressed rows of the caller's matrix, in his order and units. */
typedef struct lcp_rows {
    int size;
    const int *start, *column;
    const double *value;
} lcp_rows;

typedef struct lcp_system {
    int size;
    const int *order;                /* order[k]: the caller's row */
    const int *place;                /* its inverse */
    int *start, *column, *lower_end; /* row k: columns < k in start[k] .. lower_end[k]-1, then all others */
    double *value;
    double *diagonal;
    double *q, *lo, *hi;
    double *scale; /* s_k */
    double beta;
    double
        *weight; /* violation in the caller's units, relative to max |b|: |violation of row k| * weight[k] */
} lcp_system;

/* The pattern of the last problem and its fill-reducing order; depends on the pattern alone. */
typedef struct lcp_order {
    int size, entries, capacity_rows, capacity_entries;
    int *start, *column; /* copy of the pattern */
    int *order, *place;
    int *factor_start; /* columns of L for all rows free: size + 1 entries */
    int *tree;         /* their elimination tree: the parent of a row, or -1 */
    int_array members; /* room of the elimination */
    uint64_t version;  /* counts the patterns seen */
} lcp_order;

/* L D L^T of the free rows of a + delta m, by rows from the top; L by columns. Rows that are not free are
 * skipped. */
typedef struct lcp_factor {
    int size;
    bool filled; /* for `member` and delta */
    double delta;
    double least; /* pivot of the rows that the last update factored, before it was kept away from 0 */
    const double *metric;
    uint8_t *member, *changed; /* row was free when factored; is to be factored anew */
    const int *start, *tree;   /* lcp_order.factor_start: room of the columns; lcp_order.tree */
    int *count, *row, *parent, *flag, *pattern;
    double *value, *pivot, *work;
} lcp_factor;

/* The last system and factor of the exact solver: when the matrix comes again with other loads, as at rest,
 * nothing is built or factored anew.  A factor depends on matrix, free rows and delta alone, so that what is
 * kept never shows in an answer. */
typedef struct lcp_kept {
    arena room;
    bool valid;
    uint64_t version; /* of the order */
    double *value;    /* the matrix, as the caller gave it */
    lcp_system system;
    lcp_factor factor;
    double *y, *v, *size_of_row, *step, *again, *metric; /* of lcp_warm; the metric is 1 */
    uint8_t *state, *wanted;
} lcp_kept;

struct abut_lcp_solver {
    const abut_context *context;
    arena scratch;
    void *room; /* of lcp_exact, kept and not cleared: small problems are many */
    size_t room_bytes;
    lcp_order order;
    lcp_kept kept;
};

/* Reading a problem. lcp_rows_of makes compressed rows (dense zeros are dropped). */
abut_status lcp_check(const abut_lcp *problem, abut_error *error);
abut_status lcp_rows_of(arena *scratch, const abut_lcp *problem, lcp_rows *rows, abut_error *error);
/* A = A' to rounding; and with a diagonal that is not negative. */
abut_status lcp_check_mirror(arena *scratch, const lcp_rows *rows, abut_error *error);
abut_status lcp_check_symmetric(arena *scratch, const lcp_rows *rows, abut_error *error);
double lcp_lower(const abut_lcp *problem, const double *z, int i);
double lcp_upper(const abut_lcp *problem, const double *z, int i);

/* Fill-reducing order and the columns of L. False when memory is out. */
bool lcp_order_update(const abut_context *context, arena *scratch, lcp_order *order, const lcp_rows *rows);
void lcp_order_free(const abut_context *context, lcp_order *order);

bool lcp_system_build(arena *scratch, const lcp_order *order, const lcp_rows *rows, const double *b,
                      lcp_system *system);
/* Another b for the same matrix. */
void lcp_system_load(lcp_system *system, const double *b);
/* The same in the caller's order, for methods that need no order. */
bool lcp_system_plain(arena *scratch, const lcp_rows *rows, const double *b, lcp_system *system);
void lcp_system_bounds(lcp_system *system, const abut_lcp *problem, const double *z);
/* v = a y + q, and |a||y| + |q| in size_of_row. */
void lcp_apply(const lcp_system *system, const double *y, double *v, double *size_of_row);
/* v = a y + q in doubled precision. */
void lcp_apply_doubled(const lcp_system *system, const double *y, double *v);

bool lcp_factor_init(arena *scratch, const lcp_order *order, lcp_factor *factor);
/* Brings the factor to the free rows of `state` and to delta; rows that do not depend on a change are kept.
 * False when it was there already. */
bool lcp_factor_update(lcp_factor *factor, const lcp_system *system, const uint8_t *state, double delta,
                       const double *metric);
/* x_F = (a_FF + delta I)^-1 x_F; other entries of x are ignored and left. */
void lcp_factor_solve(const lcp_factor *factor, double *x);

/* The methods; all fill z, state, result->pivots and what belongs to them. */
abut_status lcp_exact(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                      const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                      abut_lcp_result *result, abut_error *error);

abut_status lcp_lemke(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                      const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                      abut_lcp_result *result, abut_error *error);
abut_status lcp_heuristic(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                          const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                          abut_lcp_result *result, abut_error *error);
abut_status lcp_sweep(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                      const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                      abut_lcp_result *result, abut_error *error);

/* Makes solver->kept that of the matrix, with the loads b.  False when memory is out. */
bool lcp_kept_update(abut_lcp_solver *solver, const lcp_rows *rows, const double *b);

/* The exact solver from a state and z that are nearly right.  False: they are not, and nothing is written but
 * the count of factorisations. */
bool lcp_warm(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows, uint8_t *state,
              double *z, double *w, abut_lcp_result *result);

/* abut_lcp_kind_of for rows that were read. */
abut_status lcp_kind_of(abut_lcp_solver *solver, const lcp_rows *rows, abut_lcp_kind *kind,
                        abut_error *error);
/* Whether z is the only solution, for symmetric and semidefinite A. */
abut_status lcp_unique(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                       const double *z, const double *w, bool *unique, abut_error *error);

/* Sum of products in twice the precision: s + e is the sum so far (Ogita, Rump and Oishi 2005, Dot2). */
typedef struct lcp_sum {
    double s, e;
} lcp_sum;
static inline void lcp_split(double a, double *high, double *low) {
    double c = 134217729.0 * a; /* 2^27 + 1 */
    *high = c - (c - a), *low = a - *high;
}
static inline void lcp_sum_add(lcp_sum *sum, double x) {
    double t = sum->s + x, p = t - sum->s;
    sum->e += (sum->s - (t - p)) + (x - p);
    sum->s = t;
}
static inline void lcp_sum_product(lcp_sum *sum, double a, double b) {
    double ah, al, bh, bl, p = a * b;
    lcp_split(a, &ah, &al), lcp_split(b, &bh, &bl);
    sum->e += al * bl - (((p - ah * bh) - al * bh) - ah * bl);
    lcp_sum_add(sum, p);
}

#endif
