/* Block principal pivoting (Kostreva 1978; Judice and Pires 1994) for a positive definite matrix with bounds.
 *
 * Solve for the free rows, exchange all rows that violate their sign, repeat.  While the number of violations
 * falls, all are exchanged; when it has not fallen for PATIENCE rounds, only the last violating row is (Murty
 * 1974), which ends after finitely many exchanges for a positive definite matrix; so the whole does.  Each
 * round solves for a correction of y, so that rounds are also iterative refinement. */
#include "numerics/lcp_pivot.h"

#include <math.h>

enum { PATIENCE = 10 };

bool lcp_pivoting_init(lcp_pivoting *p, abut_lcp_solver *solver, const lcp_rows *rows, const double *b) {
    arena *scratch = &solver->scratch;
    size_t n = (size_t)rows->size;
    *p = (lcp_pivoting){0};
    if (!lcp_order_update(solver->context, scratch, &solver->order, rows) ||
        !lcp_system_build(scratch, &solver->order, rows, b, &p->system) ||
        !lcp_factor_init(scratch, &solver->order, &p->factor))
        return false;
    double **vectors[] = {&p->y, &p->v, &p->center, &p->metric, &p->size_of_row, &p->step};
    for (int i = 0; i < COUNT_OF(vectors); i++)
        if (!(*vectors[i] = arena_alloc(scratch, n, sizeof(double)))) return false;
    for (size_t k = 0; k < n; k++) p->metric[k] = 1;
    return (p->state = arena_alloc(scratch, n, 1)) != NULL;
}

void lcp_pivoting_bound(lcp_pivoting *p) {
    const lcp_system *s = &p->system;
    for (int k = 0; k < s->size; k++) {
        if (s->lo[k] == s->hi[k]) p->state[k] = ABUT_LCP_AT_LOWER;
        if (p->state[k] == ABUT_LCP_AT_LOWER && isinf(s->lo[k])) p->state[k] = ABUT_LCP_FREE;
        if (p->state[k] == ABUT_LCP_AT_UPPER && isinf(s->hi[k])) p->state[k] = ABUT_LCP_FREE;
        if (p->state[k] == ABUT_LCP_AT_LOWER) p->y[k] = s->lo[k];
        if (p->state[k] == ABUT_LCP_AT_UPPER) p->y[k] = s->hi[k];
    }
    lcp_apply(s, p->y, p->v, p->size_of_row, p->careful);
}

/* The state row k should have: its own when the signs are right, up to what rounding can do to v. */
static uint8_t wanted_state(const lcp_pivoting *p, int k) {
    const lcp_system *s = &p->system;
    if (p->state[k] == ABUT_LCP_FREE)
        return p->y[k] < s->lo[k]   ? ABUT_LCP_AT_LOWER
               : p->y[k] > s->hi[k] ? ABUT_LCP_AT_UPPER
                                    : ABUT_LCP_FREE;
    if (s->lo[k] == s->hi[k]) return ABUT_LCP_AT_LOWER;
    double slack = 1e-13 / s->weight[k] + 4 * LCP_ROUNDING * p->size_of_row[k];
    double v = p->v[k] + p->delta * p->metric[k] * (p->y[k] - p->center[k]);
    if (p->state[k] == ABUT_LCP_AT_LOWER) return v < -slack ? ABUT_LCP_FREE : ABUT_LCP_AT_LOWER;
    return v > slack ? ABUT_LCP_FREE : ABUT_LCP_AT_UPPER;
}

/* y_F -= (a_FF + delta m)^-1 (v + delta m (y - c))_F, then v = a y + q. */
static void solve_free(lcp_pivoting *p) {
    int n = p->system.size;
    p->factorizations += lcp_factor_update(&p->factor, &p->system, p->state, p->delta, p->metric);
    for (int k = 0; k < n; k++) p->step[k] = -(p->v[k] + p->delta * p->metric[k] * (p->y[k] - p->center[k]));
    lcp_factor_solve(&p->factor, p->step);
    for (int k = 0; k < n; k++)
        if (p->state[k] == ABUT_LCP_FREE) p->y[k] += p->step[k];
    lcp_apply(&p->system, p->y, p->v, p->size_of_row, p->careful);
}

bool lcp_pivoting_run(lcp_pivoting *p) {
    int n = p->system.size, best = n + 1, patience = PATIENCE;
    for (;;) {
        solve_free(p);
        int violations = 0, last = -1;
        for (int k = 0; k < n; k++)
            if (wanted_state(p, k) != p->state[k]) violations++, last = k;
        if (violations == 0) return true;
        patience = violations < best ? PATIENCE : patience - 1;
        best = violations < best ? violations : best;
        for (int k = patience >= 0 ? 0 : last; k <= last; k++) {
            uint8_t wanted = wanted_state(p, k);
            p->pivots += wanted != p->state[k];
            p->state[k] = wanted;
        }
        if (p->pivots > p->budget) return false;
        lcp_pivoting_bound(p);
    }
}
