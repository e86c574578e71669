/* abut_lcp_solve: checks, chooses the method, measures the residual of what it returned. */
#include "numerics/lcp.h"

#include <math.h>
#include <stdio.h>

const char *abut_lcp_method_name(abut_lcp_method method) {
    static const char *const names[] = {
#define NAME(constant, word, sentence) word,
        ABUT_LCP_SOLVER_LIST(NAME)
#undef NAME
    };
    return (unsigned)method < ABUT_LCP_METHOD_COUNT ? names[method] : "?";
}

abut_lcp_config abut_default_lcp_config(void) {
    return (abut_lcp_config){.method = ABUT_LCP_EXACT, .tolerance = 1e-9};
}

abut_lcp_solver *abut_lcp_solver_create(const abut_context *context) {
    abut_lcp_solver *solver = mem_calloc(context, 1, sizeof *solver);
    if (!solver) return NULL;
    solver->context = context;
    arena_init(&solver->scratch, context), arena_init(&solver->kept.room, context);
    return solver;
}

void abut_lcp_solver_destroy(abut_lcp_solver *solver) {
    if (!solver) return;
    lcp_order_free(solver->context, &solver->order);
    arena_free(&solver->scratch), arena_free(&solver->kept.room);
    mem_free(solver->context, solver->room, solver->room_bytes, 1);
    mem_free(solver->context, solver, 1, sizeof *solver);
}

static abut_status check(abut_lcp_solver *solver, const abut_lcp *problem, const abut_lcp_config *config,
                         lcp_rows *rows, abut_error *error) {
    if ((unsigned)config->method >= ABUT_LCP_METHOD_COUNT)
        return fail(error, ABUT_INVALID, "there is no method %d; use one of ABUT_LCP_SOLVER_LIST",
                    (int)config->method);
    if (!(config->tolerance > 0))
        return fail(error, ABUT_INVALID, "the tolerance is %g; start from abut_default_lcp_config()",
                    config->tolerance);
    abut_status status = config->skip_checks ? ABUT_OK : lcp_check(problem, error);
    if (status == ABUT_OK) status = lcp_rows_of(&solver->scratch, problem, rows, error);
    bool lemke = config->method == ABUT_LCP_LEMKE;
    if (status == ABUT_OK && (lemke || config->method == ABUT_LCP_LP) && problem->friction_row)
        return fail(error, ABUT_UNSUPPORTED,
                    "%s takes no bounds that follow another row; use exact, pgs or nncg",
                    abut_lcp_method_name(config->method));
    if (status == ABUT_OK && !lemke && !config->skip_checks)
        status = lcp_check_symmetric(&solver->scratch, rows, error);
    return status;
}

/* result->unique, where it is wanted and can be told: for definite A it is, for symmetric and semidefinite A
 * the rows with w = 0 decide. */
static abut_status tell_unique(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                               const abut_lcp_config *config, const double *z, const double *w,
                               abut_lcp_result *result, abut_error *error) {
    abut_lcp_kind kind;
    if (config->skip_unique || problem->friction_row) return ABUT_OK;
    abut_status status = lcp_kind_of(solver, rows, &kind, error);
    result->unique = status == ABUT_OK && kind.definite;
    if (status != ABUT_OK || result->unique || !kind.symmetric || !kind.semidefinite) return status;
    return lcp_unique(solver, problem, rows, z, w, &result->unique, error);
}

static abut_status run(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                       const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                       abut_lcp_result *result, abut_error *error) {
    switch (config->method) {
    case ABUT_LCP_EXACT: return lcp_exact(solver, problem, rows, config, state, z, w, result, error);
    case ABUT_LCP_LEMKE: return lcp_lemke(solver, problem, rows, config, state, z, w, result, error);
    case ABUT_LCP_LP: return lcp_heuristic(solver, problem, rows, config, state, z, w, result, error);
    default: return lcp_sweep(solver, problem, rows, config, state, z, w, result, error);
    }
}

/* Which rows the ray d in w shows to be infeasible: those where it is not 0, which no z can give what they
 * want together. */
static abut_status name_infeasible(const double *ray, int size, const abut_lcp_result *result,
                                   abut_error *error) {
    enum { SHOWN = 8 };
    char rows[160] = "", change[80] = "";
    double largest = 0;
    int count = 0, length = 0;
    for (int i = 0; i < size; i++) largest = fmax(largest, fabs(ray[i]));
    for (int i = 0; i < size; i++) {
        if (!(fabs(ray[i]) > 1e-9 * largest)) continue;
        if (count < SHOWN)
            length += snprintf(rows + length, sizeof rows - (size_t)length, "%s%d", count ? ", " : "", i);
        count++;
    }
    if (result->infeasible_by > 0)
        snprintf(change, sizeof change, "; b must change by %.3g of its size", result->infeasible_by);
    return fail(
        error, ABUT_INFEASIBLE,
        "the problem has no solution: row%s %s%s contradict%s %s (a ray d there has A d = 0, b.d < 0)%s",
        count == 1 ? "" : "s", rows, count > SHOWN ? ", ..." : "", count == 1 ? "s" : "",
        count == 1 ? "itself" : "each other", change);
}

abut_status abut_lcp_solve(abut_lcp_solver *solver, const abut_lcp *problem, const abut_lcp_config *config,
                           uint8_t *state, double *z, double *w, abut_lcp_result *result, abut_error *error) {
    abut_lcp_result ignored;
    if (!result) result = &ignored;
    *result = (abut_lcp_result){0};
    arena_mark mark = arena_save(&solver->scratch);
    lcp_rows rows = {0};
    if (problem->size == 0) {
        result->unique = true;
        return ABUT_OK;
    }
    abut_status status = check(solver, problem, config, &rows, error);
    uint8_t *states = state;
    if (status == ABUT_OK && !state) {
        states = arena_alloc(&solver->scratch, (size_t)problem->size, 1);
        if (!states) status = fail_memory(error);
    }
    if (status == ABUT_OK) {
        if (!config->warm || !state) memset(states, 0, (size_t)problem->size);
        if (!config->warm) memset(z, 0, (size_t)problem->size * sizeof *z);
        status = run(solver, problem, &rows, config, states, z, w, result, error);
        if (status == ABUT_INFEASIBLE) name_infeasible(w, problem->size, result, error);
        if (config->method != ABUT_LCP_EXACT || status != ABUT_OK)
            result->residual = abut_lcp_validate(problem, z, NULL);
        for (int i = 0; i < problem->size && status == ABUT_OK; i++)
            if (!isfinite(z[i]))
                status =
                    fail(error, ABUT_FAILED, "z[%d] is not finite: A and b are too large for doubles", i);
        if (status == ABUT_OK) status = tell_unique(solver, problem, &rows, config, z, w, result, error);
    }
    arena_restore(&solver->scratch, mark);
    return result->status = status;
}
