/* The exact solver from the last solution, for loads that change slowly (bodies at rest, small steps): two
 * proximal steps with the factor of the remembered free rows, a look at the signs, and a few exchanges of
 * rows where they are wrong.  The matrix of the last time is recognised, and its factor brought up to date.
 * Where the exchanges do not settle at once the memory is of no use, and a cold solution is the quicker way.
 *
 * The second proximal step needs no residual of its own.  With H = a_FF + delta and s = -H^-1 v,
 *
 *     (a + delta) (y + s) = ... + delta y    and    (a + delta) t = delta s    lead to    y + s + t
 *
 * so that t = H^-1 (delta s), and only then is v = a y + q computed again.
 */
#include "numerics/lcp.h"

#include <math.h>

enum { PATIENCE = 2 };
#define DELTA         1e-9
#define SLACK         1e-13 /* of a sign, relative to max |b| */
#define LIMIT_CAREFUL 1e-11 /* rounding errors, relative to max |b|, above which sums are doubled */

/* Row k at the bound of its state; one without a finite bound becomes free. */
static void put_at_bound(lcp_kept *t, int k) {
    double lo = t->system.lo[k], hi = t->system.hi[k];
    uint8_t *state = t->state + k;
    if (lo == hi) *state = ABUT_LCP_AT_LOWER;
    if (*state == ABUT_LCP_AT_LOWER && isinf(lo)) *state = ABUT_LCP_FREE;
    if (*state == ABUT_LCP_AT_UPPER && isinf(hi)) *state = ABUT_LCP_FREE;
    if (*state != ABUT_LCP_FREE) t->y[k] = *state == ABUT_LCP_AT_LOWER ? lo : hi;
}

static void load(lcp_kept *t, const uint8_t *state, const double *z) {
    const lcp_system *s = &t->system;
    for (int k = 0; k < s->size; k++) {
        int i = s->order[k];
        t->y[k] = isfinite(z[i]) ? z[i] * s->beta / s->scale[k] : 0;
        t->state[k] = state[i];
        put_at_bound(t, k);
    }
}

/* step: from y to the minimum over the free rows, delta taken away once; 0 elsewhere. */
static void newton_step(lcp_kept *t, abut_lcp_result *result) {
    int n = t->system.size;
    double *x = t->step, *again = t->size_of_row;
    result->factorizations += lcp_factor_update(&t->factor, &t->system, t->state, DELTA, t->metric);
    for (int k = 0; k < n; k++) x[k] = -t->v[k];
    lcp_factor_solve(&t->factor, x);
    for (int k = 0; k < n; k++) again[k] = DELTA * t->metric[k] * x[k];
    lcp_factor_solve(&t->factor, again);
    for (int k = 0; k < n; k++) x[k] = t->state[k] == ABUT_LCP_FREE ? x[k] + again[k] : 0;
}

/* The state that row k should have, as in lcp_pivot.c. */
static uint8_t wanted_state(const lcp_kept *t, int k) {
    const lcp_system *s = &t->system;
    double y = t->y[k], rounding = 4 * LCP_ROUNDING * t->size_of_row[k];
    if (t->state[k] == ABUT_LCP_FREE) {
        if (s->lo[k] <= y && y <= s->hi[k]) return ABUT_LCP_FREE;
        double room = s->diagonal[k] > 0 ? rounding / s->diagonal[k] : 0;
        return y < s->lo[k] - room   ? ABUT_LCP_AT_LOWER
               : y > s->hi[k] + room ? ABUT_LCP_AT_UPPER
                                     : ABUT_LCP_FREE;
    }
    if (s->lo[k] == s->hi[k]) return ABUT_LCP_AT_LOWER;
    double pull = t->state[k] == ABUT_LCP_AT_LOWER ? -t->v[k] : t->v[k];
    return (pull - rounding) * s->weight[k] > SLACK ? ABUT_LCP_FREE : t->state[k];
}

/* Exchanges the rows that violate their sign, and returns how many do. */
static int exchange(lcp_kept *t) {
    int violations = 0;
    for (int k = 0; k < t->system.size; k++) {
        uint8_t wanted = wanted_state(t, k);
        if (wanted == t->state[k]) continue;
        t->state[k] = wanted, violations++;
        put_at_bound(t, k);
    }
    return violations;
}

/* v = a y + q; the residual of y as abut_lcp_validate defines it, and what rounding allows. */
static double evaluate(lcp_kept *t, double *attainable) {
    const lcp_system *s = &t->system;
    double worst = 0, size = 0;
    lcp_apply(s, t->y, t->v, t->size_of_row);
    for (int k = 0; k < s->size; k++) {
        double own = t->size_of_row[k] * s->weight[k];
        size = own > size ? own : size;
    }
    if (64 * LCP_ROUNDING * size > LIMIT_CAREFUL) lcp_apply_doubled(s, t->y, t->v);
    for (int k = 0; k < s->size; k++) {
        double a = s->diagonal[k] > 0 ? s->diagonal[k] : 1, v = t->v[k];
        double room = a * (v > 0 ? t->y[k] - s->lo[k] : s->hi[k] - t->y[k]),
               by = fabs(v) < room ? fabs(v) : room;
        worst = by * s->weight[k] > worst ? by * s->weight[k] : worst;
    }
    *attainable = LCP_ROUNDING * size;
    return worst;
}

/* As write_back of lcp_exact.c: bounds to the bit, w = 0 for free rows and where rounding hides it. */
static void write_back(const lcp_kept *t, const abut_lcp *problem, uint8_t *state, double *z, double *w) {
    const lcp_system *s = &t->system;
    for (int k = 0; k < s->size; k++) {
        int i = s->order[k];
        double lo = problem->lo ? problem->lo[i] : 0, hi = problem->hi ? problem->hi[i] : (double)INFINITY;
        double x = t->y[k] * s->scale[k] / s->beta, v = t->v[k] / (s->scale[k] * s->beta);
        bool zero = t->state[k] == ABUT_LCP_FREE || fabs(t->v[k]) <= 4 * LCP_ROUNDING * t->size_of_row[k];
        state[i] = t->state[k];
        if (state[i] == ABUT_LCP_AT_LOWER) x = lo, v = lo == hi || v > 0 ? v : 0;
        if (state[i] == ABUT_LCP_AT_UPPER) x = hi, v = v < 0 ? v : 0;
        z[i] = x < lo ? lo : x > hi ? hi : x, w[i] = zero ? 0 : v;
    }
}

/* Rounds of exchanges; false when the wrong rows do not become fewer. */
static bool settle(lcp_kept *t, double *residual, double *attainable, abut_lcp_result *result) {
    int best = t->system.size, patience = PATIENCE;
    double last = (double)INFINITY;
    for (int round = 1; patience >= 0; round++) {
        newton_step(t, result);
        for (int k = 0; k < t->system.size; k++) t->y[k] += t->step[k];
        *residual = evaluate(t, attainable);
        int wrong = exchange(t);
        if (wrong == 0 && *residual <= 1e-14 + *attainable) {
            result->proximal_steps += round;
            return true;
        }
        bool better = wrong < best || (wrong == 0 && *residual < 0.5 * last);
        patience = better ? PATIENCE : patience - 1;
        if (wrong > 0) evaluate(t, attainable); /* y has moved to the bounds */
        best = wrong < best ? wrong : best, last = *residual, result->pivots += wrong;
    }
    return false;
}

bool lcp_warm(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows, uint8_t *state,
              double *z, double *w, abut_lcp_result *result) {
    lcp_kept *t = &solver->kept;
    if (!lcp_kept_update(solver, rows, problem->b)) return false;
    lcp_system_bounds(&t->system, problem, z);
    load(t, state, z);
    double attainable, residual = evaluate(t, &attainable);
    if (!settle(t, &residual, &attainable, result)) return false;
    write_back(t, problem, state, z, w);
    result->residual = residual, result->attainable = attainable;
    return true;
}
