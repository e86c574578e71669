/* The exact solver: proximal steps around block principal pivoting, for symmetric positive semidefinite A.
 *
 * Contact matrices are singular as a rule (a box on four corners), so the free rows alone have no
 * factorisation. The proximal point method (Rockafellar 1976) solves a sequence of strictly convex problems
 * with the same solutions:
 *
 *     v = (a + delta I) y + q - delta c,   lo <= y <= hi, complementary;      c := y;      repeat.
 *
 * Each has a positive definite matrix, hence one solution and a factorisation for every active set.  It is
 * found by block principal pivoting (Kostreva 1978; Judice and Pires 1994): solve for the free rows, exchange
 * all rows that violate their sign.  While the number of violations falls, all are exchanged; if it has not
 * fallen for a while, only the last violating row is (Murty 1974), which ends after finitely many exchanges
 * for a positive definite matrix; so the whole does.  The first step takes the exchanges; the others are
 * refinements with the same factor, and their error falls by delta / (delta + lambda) each, lambda the
 * smallest eigenvalue of the free rows that is not 0. delta is lowered when that is slow.
 *
 * When there is no solution the steps do not stop: y - c converges to the ray d with a d = 0, q.d < 0 that
 * proves it, and delta d to the smallest change of q that would give a solution.
 */
#include "numerics/lcp.h"

#include <math.h>

enum { PATIENCE = 10, MOST_STEPS = 60 };
#define DELTA_FIRST 1e-9
#define DELTA_LEAST 1e-13
#define RAY_FLAT    1e-12 /* |a d| of a ray, relative to |d| */

typedef struct exact {
    lcp_system system;
    lcp_factor factor;
    uint8_t *state;
    double *y, *v, *center, *size_of_row, *step, *best;
    double delta, tolerance;
    int pivots, factorizations, steps, budget;
    bool careful; /* sums in doubled precision */
} exact;

static bool allocate(arena *scratch, exact *e, size_t n) {
    double **vectors[] = {&e->y, &e->v, &e->center, &e->size_of_row, &e->step, &e->best};
    for (int i = 0; i < COUNT_OF(vectors); i++)
        if (!(*vectors[i] = arena_alloc(scratch, n, sizeof(double)))) return false;
    return (e->state = arena_alloc(scratch, n, 1)) != NULL;
}

/* Puts the rows at their bounds; a state without a finite bound becomes free. */
static void put_at_bounds(exact *e) {
    const lcp_system *s = &e->system;
    for (int k = 0; k < s->size; k++) {
        if (s->lo[k] == s->hi[k]) e->state[k] = ABUT_LCP_AT_LOWER;
        if (e->state[k] == ABUT_LCP_AT_LOWER && isinf(s->lo[k])) e->state[k] = ABUT_LCP_FREE;
        if (e->state[k] == ABUT_LCP_AT_UPPER && isinf(s->hi[k])) e->state[k] = ABUT_LCP_FREE;
        if (e->state[k] == ABUT_LCP_AT_LOWER) e->y[k] = s->lo[k];
        if (e->state[k] == ABUT_LCP_AT_UPPER) e->y[k] = s->hi[k];
    }
}

/* The state row k should have: its own when the signs are right. `slack` is what rounding can do to v. */
static uint8_t wanted_state(const exact *e, int k) {
    const lcp_system *s = &e->system;
    if (e->state[k] == ABUT_LCP_FREE)
        return e->y[k] < s->lo[k]   ? ABUT_LCP_AT_LOWER
               : e->y[k] > s->hi[k] ? ABUT_LCP_AT_UPPER
                                    : ABUT_LCP_FREE;
    if (s->lo[k] == s->hi[k]) return ABUT_LCP_AT_LOWER;
    double slack = 1e-13 / s->weight[k] + 4 * LCP_ROUNDING * e->size_of_row[k];
    double v = e->v[k] + e->delta * (e->y[k] - e->center[k]);
    if (e->state[k] == ABUT_LCP_AT_LOWER) return v < -slack ? ABUT_LCP_FREE : ABUT_LCP_AT_LOWER;
    return v > slack ? ABUT_LCP_FREE : ABUT_LCP_AT_UPPER;
}

/* y_F -= (a_FF + delta I)^-1 (v + delta (y - c))_F, then v = a y + q. */
static void solve_free(exact *e) {
    int n = e->system.size;
    e->factorizations += lcp_factor_update(&e->factor, &e->system, e->state, e->delta);
    for (int k = 0; k < n; k++) e->step[k] = -(e->v[k] + e->delta * (e->y[k] - e->center[k]));
    lcp_factor_solve(&e->factor, e->step);
    for (int k = 0; k < n; k++)
        if (e->state[k] == ABUT_LCP_FREE) e->y[k] += e->step[k];
    lcp_apply(&e->system, e->y, e->v, e->size_of_row, e->careful);
}

/* One proximal subproblem by block pivoting.  False when the budget is used up. */
static bool pivot_blocks(exact *e) {
    int n = e->system.size, best = n + 1, patience = PATIENCE;
    for (;;) {
        solve_free(e);
        int violations = 0, last = -1;
        for (int k = 0; k < n; k++)
            if (wanted_state(e, k) != e->state[k]) violations++, last = k;
        if (violations == 0) return true;
        if (violations < best)
            best = violations, patience = PATIENCE;
        else
            patience--;
        for (int k = patience >= 0 ? 0 : last; k <= last; k++) {
            uint8_t wanted = wanted_state(e, k);
            e->pivots += wanted != e->state[k];
            e->state[k] = wanted;
        }
        if (e->pivots > e->budget) return false;
        put_at_bounds(e);
        lcp_apply(&e->system, e->y, e->v, e->size_of_row, e->careful);
    }
}

/* abut_lcp_validate's residual of y cut to its bounds, which are met already but for the last refinement. */
static double residual_of(exact *e, double *attainable) {
    const lcp_system *s = &e->system;
    double worst = 0, size = 0;
    for (int k = 0; k < s->size; k++) {
        double a = s->diagonal[k] > 0 ? s->diagonal[k] : 1, v = e->v[k];
        double violation = v > 0 ? fmin(v, a * (e->y[k] - s->lo[k])) : fmin(-v, a * (s->hi[k] - e->y[k]));
        worst = fmax(worst, violation * s->weight[k]);
        size = fmax(size, e->size_of_row[k] * s->weight[k]);
    }
    *attainable = LCP_ROUNDING * size;
    return worst;
}

/* Is y - c a ray that proves infeasibility?  It must point where the bounds allow, a d = 0, q.d < 0. On
 * success it is left in `step`, scaled to max |d| = 1, and the smallest relative change of q that helps is
 * returned; 0 otherwise. */
static double ray_of(exact *e) {
    const lcp_system *s = &e->system;
    double largest = 0, qd = 0, qq = 0, dd = 0;
    for (int k = 0; k < s->size; k++) largest = fmax(largest, fabs(e->y[k] - e->center[k]));
    if (!(largest > 0)) return 0;
    for (int k = 0; k < s->size; k++) {
        double d = (e->y[k] - e->center[k]) / largest;
        if (fabs(d) < RAY_FLAT || (d < 0 && d > -1e-9 && isfinite(s->lo[k])) ||
            (d > 0 && d < 1e-9 && isfinite(s->hi[k])))
            d = 0;
        if ((d < 0 && isfinite(s->lo[k])) || (d > 0 && isfinite(s->hi[k]))) return 0;
        e->step[k] = d, qd += s->q[k] * d, qq += s->q[k] * s->q[k], dd += d * d;
    }
    if (!(qd < -e->tolerance * sqrt(qq * dd))) return 0;
    for (int k = 0; k < s->size; k++) {
        double ad = 0;
        for (int t = s->start[k]; t < s->start[k + 1]; t++) ad += s->value[t] * e->step[s->column[t]];
        if (fabs(ad) > RAY_FLAT) return 0;
    }
    return -qd / sqrt(qq * dd);
}

/* The proximal steps. */
static abut_status iterate(exact *e, abut_lcp_result *result) {
    size_t bytes = (size_t)e->system.size * sizeof(double);
    double best = (double)INFINITY, last = (double)INFINITY, attainable = 0;
    int stalls = 0;
    for (e->steps = 1; e->steps <= MOST_STEPS; e->steps++) {
        if (!pivot_blocks(e)) return ABUT_BUDGET;
        double residual = residual_of(e, &attainable);
        e->careful = 64 * attainable > 1e-13;
        if (residual < best) {
            best = residual;
            memcpy(e->best, e->y, bytes);
            result->attainable = attainable;
        }
        if (residual <= 1e-14 + attainable) break;
        result->infeasible_by = residual > e->tolerance ? ray_of(e) : 0;
        if (result->infeasible_by > 0) return ABUT_INFEASIBLE;
        if (residual > 0.1 * last && e->delta > DELTA_LEAST)
            e->delta *= 1e-2;
        else if (residual > 0.5 * last && ++stalls > 2 && best <= e->tolerance + 8 * attainable)
            break;
        last = residual;
        memcpy(e->center, e->y, bytes);
    }
    memcpy(e->y, e->best, bytes);
    result->residual = best;
    return best <= e->tolerance + 8 * result->attainable ? ABUT_OK : ABUT_FAILED;
}

/* The answer in the caller's order and units; rows at a bound get that bound's bits, free rows w = 0. */
static void write_back(const exact *e, const abut_lcp *problem, bool is_ray, uint8_t *state, double *z,
                       double *w) {
    const lcp_system *s = &e->system;
    for (int k = 0; k < s->size; k++) {
        int i = s->order[k];
        double unit = s->scale[k] / s->beta;
        z[i] = e->y[k] * unit;
        state[i] = e->state[k];
    }
    for (int k = 0; k < s->size; k++) {
        int i = s->order[k];
        double lo = lcp_lower(problem, z, i), hi = lcp_upper(problem, z, i),
               v = e->v[k] / (s->scale[k] * s->beta);
        if (state[i] == ABUT_LCP_AT_LOWER) z[i] = lo, v = lo == hi ? v : fmax(v, 0.0);
        if (state[i] == ABUT_LCP_AT_UPPER) z[i] = hi, v = fmin(v, 0.0);
        if (state[i] == ABUT_LCP_FREE) z[i] = fmin(fmax(z[i], lo), hi), v = 0.0;
        w[i] = is_ray ? e->step[k] * s->scale[k] : v;
    }
}

/* The nearest feasible problem: q loses its part along the ray, and is solved again from the same active set.
 * The ray in `step` is kept. */
static abut_status solve_nearest(exact *e, arena *scratch, abut_lcp_result *result) {
    lcp_system *s = &e->system;
    double *ray = arena_alloc(scratch, (size_t)s->size, sizeof *ray);
    if (!ray) return ABUT_NO_MEMORY;
    double by = result->infeasible_by;
    memcpy(ray, e->step, (size_t)s->size * sizeof *ray);
    for (int tries = 0; tries < 8 && result->infeasible_by > 0; tries++) {
        double qd = 0, dd = 0;
        for (int k = 0; k < s->size; k++) qd += s->q[k] * e->step[k], dd += e->step[k] * e->step[k];
        for (int k = 0; k < s->size; k++) s->q[k] -= qd / dd * e->step[k], e->y[k] = e->center[k] = 0;
        put_at_bounds(e);
        lcp_apply(s, e->y, e->v, e->size_of_row, true);
        iterate(e, result);
    }
    memcpy(e->step, ray, (size_t)s->size * sizeof *ray);
    result->infeasible_by = by;
    return ABUT_INFEASIBLE;
}

static abut_status prepare(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                           const abut_lcp_config *config, const uint8_t *state, const double *z, exact *e) {
    size_t n = (size_t)rows->size;
    arena *scratch = &solver->scratch;
    if (!lcp_order_update(solver->context, scratch, &solver->order, rows) ||
        !lcp_system_build(scratch, &solver->order, rows, problem->b, &e->system) ||
        !lcp_factor_init(scratch, &solver->order, &e->factor) || !allocate(scratch, e, n))
        return ABUT_NO_MEMORY;
    e->delta = DELTA_FIRST, e->tolerance = config->tolerance;
    e->budget = config->budget > 0 ? config->budget : 1000 + 100 * rows->size;
    lcp_system_bounds(&e->system, problem, z);
    /* without memory every contact is taken to hold: Baraff's first guess, V = {} (section 6.2) */
    for (int k = 0; k < rows->size; k++)
        e->state[k] = config->warm ? state[e->system.order[k]] : ABUT_LCP_FREE;
    put_at_bounds(e);
    lcp_apply(&e->system, e->y, e->v, e->size_of_row, false);
    return ABUT_OK;
}

/* Boxed friction: the bounds follow the normal forces of the last solution until both agree. */
static abut_status iterate_friction(exact *e, const abut_lcp *problem, double *z, abut_lcp_result *result) {
    lcp_system *s = &e->system;
    for (int round = 0; round < 200; round++) {
        abut_status status = iterate(e, result);
        if (status != ABUT_OK) return status;
        double change = 0, size = 0;
        for (int k = 0; k < s->size; k++) z[s->order[k]] = e->y[k] * s->scale[k] / s->beta;
        for (int k = 0; k < s->size; k++) {
            double hi = lcp_upper(problem, z, s->order[k]) * s->beta / s->scale[k];
            if (problem->friction_row[s->order[k]] < 0) continue;
            change = fmax(change, fabs(hi - s->hi[k])), size = fmax(size, hi);
        }
        if (change <= 1e-14 * size) return ABUT_OK;
        lcp_system_bounds(s, problem, z);
        put_at_bounds(e);
        memcpy(e->center, e->y, (size_t)s->size * sizeof(double));
        lcp_apply(s, e->y, e->v, e->size_of_row, e->careful);
    }
    return ABUT_BUDGET;
}

abut_status lcp_exact(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                      const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                      abut_lcp_result *result, abut_error *error) {
    exact e = {0};
    if (prepare(solver, problem, rows, config, state, z, &e) != ABUT_OK) return fail_memory(error);
    abut_status status =
        problem->friction_row ? iterate_friction(&e, problem, z, result) : iterate(&e, result);
    if (status == ABUT_INFEASIBLE && config->nearest) status = solve_nearest(&e, &solver->scratch, result);
    if (status == ABUT_NO_MEMORY) return fail_memory(error);
    result->pivots = e.pivots, result->factorizations = e.factorizations, result->proximal_steps = e.steps;
    if (status != ABUT_INFEASIBLE) lcp_apply(&e.system, e.y, e.v, NULL, true);
    write_back(&e, problem, status == ABUT_INFEASIBLE, state, z, w);
    if (status == ABUT_INFEASIBLE)
        return fail(error, status,
                    "the problem has no solution: a ray with A d = 0, b.d < 0 shows it; b must change by "
                    "%.3g of its size",
                    result->infeasible_by);
    if (status == ABUT_BUDGET)
        return fail(error, status, "no solution after %d pivots; is A positive semidefinite?", e.pivots);
    if (status == ABUT_FAILED)
        return fail(
            error, status,
            "the residual stays at %.3g; A is not positive semidefinite, or too ill-conditioned for doubles",
            result->residual);
    return status;
}
