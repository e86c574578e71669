/* The exact solver from the last solution, for loads that change slowly (bodies at rest, small steps): two
 * proximal steps with the factor of the remembered free rows, a look at the signs, and a few exchanges of
 * rows where they are wrong.  The matrix of the last time is recognised, and its factor brought up to date.
 * Where the exchanges do not settle at once, lcp_active.c goes on from the memory, a row at a time.
 *
 * The second proximal step needs no residual of its own.  With H = a_FF + delta and s = -H^-1 v,
 *
 *     (a + delta) (y + s) = ... + delta y    and    (a + delta) t = delta s    lead to    y + s + t
 *
 * so that t = H^-1 (delta s), and only then is v = a y + q computed again.
 */
#include "numerics/lcp.h"

#include <math.h>

enum { PATIENCE = 3 };
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

/* v += a_k change; a is symmetric. */
static void add_row(lcp_kept *t, int k, double change) {
    const lcp_system *s = &t->system;
    for (int i = s->start[k], end = s->start[k + 1]; i < end; i++) t->v[s->column[i]] += s->value[i] * change;
}

/* y goes to the minimum over the free rows, delta taken away once; `step` is its change. */
static void newton_step(lcp_kept *t, abut_lcp_result *result) {
    int n = t->system.size;
    double *x = t->step, *again = t->again;
    result->factorizations += lcp_factor_update(&t->factor, &t->system, t->state, DELTA, t->metric);
    for (int k = 0; k < n; k++) x[k] = t->state[k] == ABUT_LCP_FREE ? -t->v[k] : 0;
    lcp_factor_solve(&t->factor, x);
    for (int k = 0; k < n; k++) again[k] = DELTA * t->metric[k] * x[k];
    lcp_factor_solve(&t->factor, again);
    for (int k = 0; k < n; k++) x[k] += again[k], t->y[k] += x[k];
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
    if (pull <= 0) return t->state[k];
    return (pull - rounding) * s->weight[k] > SLACK ? ABUT_LCP_FREE : t->state[k];
}

/* How far row k, which wants another state, is from what its own state promises, in units of v. */
static double violation(const lcp_kept *t, int k) {
    const lcp_system *s = &t->system;
    if (t->state[k] != ABUT_LCP_FREE) return fabs(t->v[k]);
    double below = s->lo[k] - t->y[k], above = t->y[k] - s->hi[k];
    return s->diagonal[k] * (below > above ? below : above);
}

/* wanted[]; how many rows violate their sign. */
static int count_wrong(lcp_kept *t) {
    int wrong = 0;
    for (int k = 0; k < t->system.size; k++) {
        t->wanted[k] = wanted_state(t, k);
        wrong += t->wanted[k] != t->state[k];
    }
    return wrong;
}

/* Row k takes the state it wants; v follows. */
static void exchange(lcp_kept *t, int k) {
    double y = t->y[k];
    t->state[k] = t->wanted[k];
    put_at_bound(t, k);
    if (t->y[k] != y) add_row(t, k, t->y[k] - y);
}

static void exchange_all(lcp_kept *t) {
    for (int k = 0; k < t->system.size; k++)
        if (t->wanted[k] != t->state[k]) exchange(t, k);
}

/* The row that is wrong by most, alone, where blocks go in circles. */
static void exchange_worst(lcp_kept *t) {
    int worst = -1;
    double most = -1;
    for (int k = 0; k < t->system.size; k++) {
        if (t->wanted[k] == t->state[k]) continue;
        double by = violation(t, k);
        if (by > most) most = by, worst = k;
    }
    if (worst >= 0) exchange(t, worst);
}

/* v = a y + q and |a||y| + |q| by the rows with y != 0, few in a pile. */
static void look(lcp_kept *t) {
    const lcp_system *s = &t->system;
    for (int k = 0; k < s->size; k++) t->v[k] = s->q[k], t->size_of_row[k] = fabs(s->q[k]);
    for (int k = 0; k < s->size; k++) {
        double y = t->y[k];
        for (int i = s->start[k], end = y != 0 ? s->start[k + 1] : i; i < end; i++) {
            double term = s->value[i] * y;
            t->v[s->column[i]] += term, t->size_of_row[s->column[i]] += fabs(term);
        }
    }
}

/* The same row by row; the residual of y as abut_lcp_validate defines it, and what rounding allows. */
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
        if (!isfinite(v) || !isfinite(t->y[k])) return *attainable = 0, (double)INFINITY;
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

/* How many rows are wrong after a step.  Where few rows are free v follows these first, and only when all
 * look right the sums that count are taken, and the residual. */
static int look_again(lcp_kept *t, double *residual, double *attainable) {
    int n = t->system.size, free = 0;
    for (int k = 0; k < n; k++) free += t->state[k] == ABUT_LCP_FREE;
    if (free < n / 2) {
        for (int k = 0; k < n; k++)
            if (t->step[k] != 0) add_row(t, k, t->step[k]);
        int wrong = count_wrong(t);
        if (wrong > 0) return wrong;
    }
    *residual = evaluate(t, attainable);
    return count_wrong(t);
}

/* Rounds of exchanges; false when the wrong rows do not become fewer. */
static bool settle(lcp_kept *t, double *residual, double *attainable, abut_lcp_result *result) {
    int best = t->system.size, patience = PATIENCE;
    double last = (double)INFINITY;
    for (int round = 1; patience >= 0; round++) {
        newton_step(t, result);
        int wrong = look_again(t, residual, attainable);
        if (wrong == 0 && *residual <= 1e-14 + *attainable) {
            result->proximal_steps += round;
            return true;
        }
        bool better = wrong < best || (wrong == 0 && *residual < 0.5 * last);
        patience = better ? PATIENCE : patience - 1;
        if (better)
            exchange_all(t);
        else
            exchange_worst(t);
        best = wrong < best ? wrong : best, result->pivots += better ? wrong : 1;
        if (wrong == 0) last = *residual;
    }
    return false;
}

bool lcp_warm(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows, uint8_t *state,
              double *z, double *w, abut_lcp_result *result) {
    lcp_kept *t = &solver->kept;
    if (!lcp_kept_update(solver, rows, problem->b)) return false;
    lcp_system_bounds(&t->system, problem, z);
    load(t, state, z);
    double attainable = 0, residual = 0;
    look(t);
    if (!settle(t, &residual, &attainable, result)) return false;
    write_back(t, problem, state, z, w);
    result->residual = residual, result->attainable = attainable;
    return true;
}
