/* Baraff's heuristic (1989, section 6) with Clp: guess which contact points vanish, test the guess by a
 * linear program.
 *
 *     1. V = {}:                                   A f + b  = 0, f >= 0                              (19)
 *     2. approximate force:  least sum of f with   A f + b >= 0, f >= 0                              (22),
 * (23) V = { i : (A f + b)_i > 0 }
 *     3. test V:             f_V = 0, (A f + b)_V >= 0,  f_C >= 0, (A f + b)_C = 0                   (18)
 *     4. neither right: the exact solver answers (Baraff took the approximate force, which adds energy).
 *
 * (b here is -b of the paper.)  Hinge rows are equalities with a free force and do not count in the sum
 * (section 7); a row with an upper bound is taken to hold within its bounds. Clp's tolerance is 1e-9 on the
 * scaled problem; a right guess is then solved to the last digits by the exact solver from its active set,
 * and called right only if that confirms it.
 */
#include "numerics/lcp.h"

#include <coin/Clp_C_Interface.h>
#include <math.h>

typedef struct program {
    lcp_system s;
    double *cost, *lo, *hi, *row_lo, *row_hi, *force, *residual;
    uint8_t *vanishing;
} program;

static bool allocate(arena *scratch, program *p, size_t n) {
    double **vectors[] = {&p->cost, &p->lo, &p->hi, &p->row_lo, &p->row_hi, &p->force, &p->residual};
    for (int i = 0; i < COUNT_OF(vectors); i++)
        if (!(*vectors[i] = arena_alloc(scratch, n, sizeof(double)))) return false;
    return (p->vanishing = arena_alloc(scratch, n, 1)) != NULL;
}

static bool is_contact(const lcp_system *s, int k) { return isfinite(s->lo[k]) && isinf(s->hi[k]); }

/* Solves the program; force and residual are filled. -1: memory; 0: infeasible or stopped; 1: optimal. */
static int solve(program *p) {
    const lcp_system *s = &p->s;
    Clp_Simplex *model = Clp_newModel();
    if (!model) return -1;
    Clp_setLogLevel(model, 0);
    Clp_setPrimalTolerance(model, 1e-9);
    Clp_setDualTolerance(model, 1e-9);
    Clp_setMaximumIterations(model, 1000 + 50 * s->size);
    /* A is symmetric: its compressed rows are its compressed columns */
    Clp_loadProblem(model, s->size, s->size, s->start, s->column, s->value, p->lo, p->hi, p->cost, p->row_lo,
                    p->row_hi);
    Clp_dual(model, 0); /* without presolve, which would change the scaling and leaks */
    int optimal = Clp_status(model) == 0;
    if (optimal) {
        const double *force = Clp_getColSolution(model);
        memcpy(p->force, force, (size_t)s->size * sizeof *force);
        lcp_apply_doubled(s, p->force, p->residual);
    }
    Clp_deleteModel(model);
    return optimal;
}

/* (19), or with a set V (18). */
static int test_guess(program *p) {
    const lcp_system *s = &p->s;
    for (int k = 0; k < s->size; k++) {
        p->cost[k] = 0, p->lo[k] = s->lo[k], p->hi[k] = p->vanishing[k] ? s->lo[k] : s->hi[k];
        p->row_lo[k] = -s->q[k], p->row_hi[k] = p->vanishing[k] ? (double)INFINITY : -s->q[k];
    }
    return solve(p);
}

/* (22), (23): the sum is over forces in their own units, f = s y. */
static int least_sum(program *p) {
    const lcp_system *s = &p->s;
    for (int k = 0; k < s->size; k++) {
        bool contact = is_contact(s, k);
        p->cost[k] = contact ? s->scale[k] : 0, p->lo[k] = s->lo[k], p->hi[k] = s->hi[k];
        p->row_lo[k] = -s->q[k], p->row_hi[k] = contact ? (double)INFINITY : -s->q[k];
    }
    int answer = solve(p);
    for (int k = 0; k < s->size && answer == 1; k++)
        p->vanishing[k] = is_contact(s, k) && p->residual[k] > 1e-7;
    return answer;
}

/* The exact solver from the active set of the guess. A guess is confirmed when no contact outside V vanishes
 * and none inside V carries force. */
static abut_status finish(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                          const abut_lcp_config *config, const program *p, abut_lcp_guess guess,
                          uint8_t *state, double *z, double *w, abut_lcp_result *result, abut_error *error) {
    abut_lcp_config warm = *config;
    warm.method = ABUT_LCP_EXACT, warm.warm = guess != ABUT_LCP_GUESSED_WRONG;
    for (int k = 0; k < rows->size; k++) state[k] = p->vanishing[k] ? ABUT_LCP_AT_LOWER : ABUT_LCP_FREE;
    abut_status status = lcp_exact(solver, problem, rows, &warm, state, z, w, result, error);
    double size = 0;
    for (int i = 0; i < rows->size; i++) size = fmax(size, fabs(problem->b[i]));
    for (int i = 0; i < rows->size && guess != ABUT_LCP_GUESSED_WRONG; i++) {
        bool denied = p->vanishing[i] ? state[i] == ABUT_LCP_FREE && z[i] > lcp_lower(problem, z, i)
                                      : w[i] > 1e-7 * size;
        if (status != ABUT_OK || denied) guess = ABUT_LCP_GUESSED_WRONG;
    }
    result->guess = guess;
    return status;
}

abut_status lcp_heuristic(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                          const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                          abut_lcp_result *result, abut_error *error) {
    program p = {0};
    if (!lcp_system_plain(&solver->scratch, rows, problem->b, &p.s) ||
        !allocate(&solver->scratch, &p, (size_t)rows->size))
        return fail_memory(error);
    lcp_system_bounds(&p.s, problem, z);
    abut_lcp_guess guess = ABUT_LCP_NONE_VANISHES;
    int answer = rows->size ? test_guess(&p) : 1;
    if (answer == 0) {
        guess = ABUT_LCP_GUESSED_VANISHING;
        answer = least_sum(&p);
        if (answer == 1) answer = test_guess(&p);
        if (answer == 0) guess = ABUT_LCP_GUESSED_WRONG;
    }
    if (answer < 0) return fail_memory(error);
    return finish(solver, problem, rows, config, &p, guess, state, z, w, result, error);
}
