/* Projected Gauss-Seidel, and nonsmooth nonlinear conjugate gradients on top of it; approximate, cheap, any
 * size.
 *
 *     PGS   z_i := clamp(z_i - w_i / A_ii, lo_i, hi_i) for i = 0, 1, ...; the bounds of boxed friction follow
 * z_j.
 *
 *     NNCG  (Silcowitz-Hansen, Niebe and Erleben 2010) takes g = z - PGS(z) for a gradient and goes
 *           z' = PGS(z) + beta p,  beta = |g'|^2 / |g|^2 (Fletcher and Reeves),  p' = beta p - g',  and
 * restarts with p = 0 where beta > 1.
 *
 * Lengths are measured in the scaled variables of lcp_system, where a light and a heavy contact count the
 * same.
 */
#include "numerics/lcp.h"

#include <math.h>

typedef struct sweep {
    const abut_lcp *problem;
    lcp_system s;
    double *y, *z, *v, *before, *direction;
} sweep;

/* One pass; z is kept beside y for the bounds of boxed friction. Returns |y - y_before|^2. */
static double gauss_seidel(sweep *g) {
    const lcp_system *s = &g->s;
    double change = 0;
    for (int k = 0; k < s->size; k++) {
        double v = s->q[k], unit = s->scale[k] / s->beta;
        for (int t = s->start[k]; t < s->start[k + 1]; t++) v += s->value[t] * g->y[s->column[t]];
        double lo = lcp_lower(g->problem, g->z, k) / unit, hi = lcp_upper(g->problem, g->z, k) / unit, y;
        if (s->diagonal[k] > 0)
            y = fmin(fmax(g->y[k] - v / s->diagonal[k], lo), hi);
        else /* an empty row: w = b, so z belongs at the bound that b points to, where there is one */
            y = v > 0 && isfinite(lo) ? lo : v < 0 && isfinite(hi) ? hi : fmin(fmax(g->y[k], lo), hi);
        change += (y - g->y[k]) * (y - g->y[k]);
        g->y[k] = y, g->z[k] = y * unit;
    }
    return change;
}

/* From PGS(z) on along the old direction: + beta p, p' = beta p - g'. */
static void extrapolate(sweep *g, double beta) {
    for (int k = 0; k < g->s.size; k++) {
        double gradient = g->before[k] - g->y[k];
        if (beta > 1) {
            g->direction[k] = -gradient;
            continue;
        }
        g->y[k] += beta * g->direction[k], g->z[k] = g->y[k] * g->s.scale[k] / g->s.beta;
        g->direction[k] = beta * g->direction[k] - gradient;
    }
}

static void write_back(const sweep *g, uint8_t *state, double *w) {
    const lcp_system *s = &g->s;
    lcp_apply_doubled(s, g->y, g->v);
    for (int i = 0; i < s->size; i++) {
        double lo = lcp_lower(g->problem, g->z, i), hi = lcp_upper(g->problem, g->z, i);
        state[i] = g->z[i] <= lo ? ABUT_LCP_AT_LOWER : g->z[i] >= hi ? ABUT_LCP_AT_UPPER : ABUT_LCP_FREE;
        w[i] = g->v[i] / (s->scale[i] * s->beta);
    }
}

/* Sweeps until the residual (looked at every eighth one) is met. */
abut_status lcp_sweep(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                      const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                      abut_lcp_result *result, abut_error *error) {
    enum { LOOK = 8 };
    size_t n = (size_t)rows->size;
    sweep g = {.problem = problem, .z = z};
    double **vectors[] = {&g.y, &g.v, &g.before, &g.direction};
    for (int i = 0; i < COUNT_OF(vectors); i++)
        if (!(*vectors[i] = arena_alloc(&solver->scratch, n, sizeof(double)))) return fail_memory(error);
    if (!lcp_system_plain(&solver->scratch, rows, problem->b, &g.s)) return fail_memory(error);
    for (size_t i = 0; i < n; i++) g.y[i] = z[i] * g.s.beta / g.s.scale[i];
    int budget = config->budget > 0 ? config->budget : 20000;
    double last = 0;
    abut_status status = n ? ABUT_BUDGET : ABUT_OK;
    while (status != ABUT_OK && result->pivots < budget) {
        memcpy(g.before, g.y, n * sizeof(double));
        double now = gauss_seidel(&g);
        if (++result->pivots % LOOK == 0 || result->pivots == budget) {
            result->residual = abut_lcp_validate(problem, z, NULL);
            if (result->residual <= config->tolerance) status = ABUT_OK;
        }
        if (config->method == ABUT_LCP_NNCG && status != ABUT_OK && result->pivots < budget)
            extrapolate(&g, last > 0 ? now / last : 2);
        last = now;
    }
    write_back(&g, state, w);
    if (status != ABUT_OK)
        return fail(error, status, "%s has a residual of %.3g after %d sweeps; use exact, or allow more",
                    abut_lcp_method_name(config->method), result->residual, result->pivots);
    return status;
}
