/* What kind of matrix A is, by the pivots of L D L^T of H = (A + A') / 2, scaled to a diagonal of about 1:
 *
 *     x . A x = x . H x,     H + delta 1 = L D L^T:     D > 0  where no eigenvalue of H is below -delta
 *
 * delta is the rounding of the elimination: what lies within it of zero counts as zero, so that a matrix of
 * contacts with redundant rows is semidefinite.  The least eigenvalue is then that of inverse iteration from
 * a vector of any direction. */
#include "numerics/lcp_pivot.h"

#include <math.h>

/* Rounding of a pivot of n rows, with two digits to spare. */
static double rounding(int n) { return 1e-14 * (n + 1); }

/* H, as compressed rows; those of A itself where it is symmetric. */
static bool symmetric_part(arena *scratch, const lcp_rows *a, lcp_rows *out) {
    size_t n = (size_t)a->size, entries = (size_t)a->start[n];
    int *start = arena_alloc(scratch, n + 2, sizeof *start), *last = arena_alloc(scratch, n, sizeof *last);
    int *column = arena_alloc(scratch, 2 * entries + 1, sizeof *column), *from = NULL, used = 0;
    double *value = arena_alloc(scratch, 2 * entries + 1, sizeof *value), *turned = NULL;
    int *begin = arena_alloc(scratch, n + 2, sizeof *begin);
    from = arena_alloc(scratch, entries + 1, sizeof *from);
    turned = arena_alloc(scratch, entries + 1, sizeof *turned);
    if (!start || !last || !column || !value || !begin || !from || !turned) return false;
    for (size_t k = 0; k < entries; k++) begin[a->column[k] + 2]++; /* A' by rows */
    for (size_t i = 0; i < n; i++) begin[i + 2] += begin[i + 1];
    for (int i = 0; i < a->size; i++)
        for (int k = a->start[i]; k < a->start[i + 1]; k++) {
            int t = begin[a->column[k] + 1]++;
            from[t] = i, turned[t] = a->value[k];
        }
    for (int i = 0; i < a->size; i++) { /* last[j] - 1: where column j stands in this row */
        start[i] = used;
        for (int k = a->start[i]; k < a->start[i + 1]; k++)
            last[a->column[k]] = used + 1, column[used] = a->column[k], value[used++] = 0.5 * a->value[k];
        for (int k = begin[i]; k < begin[i + 1]; k++) {
            bool known = last[from[k]] > start[i];
            int at = known ? last[from[k]] - 1 : used++;
            if (!known) last[from[k]] = at + 1, column[at] = from[k], value[at] = 0;
            value[at] += 0.5 * turned[k];
        }
    }
    start[n] = used;
    *out = (lcp_rows){a->size, start, column, value};
    return true;
}

/* A negative diagonal, or a zero one beside another entry: no semidefinite matrix has that. */
static bool diagonal_shows(const lcp_rows *h) {
    for (int i = 0; i < h->size; i++) {
        double diagonal = 0, most = 0;
        for (int k = h->start[i]; k < h->start[i + 1]; k++) {
            if (h->column[k] == i) diagonal = h->value[k];
            most = fmax(most, fabs(h->value[k]));
        }
        if (diagonal < 0 || (diagonal == 0 && most > 0)) return true;
    }
    return false;
}

enum { ITERATIONS = 4 };

/* The least eigenvalue of H + delta 1 (an upper bound of it that is close after a few iterations). */
static double least_eigenvalue(const lcp_pivoting *p, double *x) {
    uint64_t seed = 0x9e3779b97f4a7c15u;
    double before = 0, after = 0;
    for (int k = 0; k < p->system.size; k++) x[k] = random_range(&seed, 0.5, 1.0) * (seed & 1 ? -1 : 1);
    for (int round = 0; round < ITERATIONS; round++) {
        before = after = 0;
        for (int k = 0; k < p->system.size; k++) before += x[k] * x[k];
        for (int k = 0; k < p->system.size; k++) x[k] /= sqrt(before);
        lcp_factor_solve(&p->factor, x);
        for (int k = 0; k < p->system.size; k++) after += x[k] * x[k];
    }
    return 1 / sqrt(after);
}

abut_status lcp_kind_of(abut_lcp_solver *solver, const lcp_rows *rows, abut_lcp_kind *kind,
                        abut_error *error) {
    arena_mark mark = arena_save(&solver->scratch);
    lcp_rows h = *rows;
    abut_status status = lcp_check_mirror(&solver->scratch, rows, NULL);
    *kind = (abut_lcp_kind){.symmetric = status == ABUT_OK};
    if (status == ABUT_NO_MEMORY) return fail_memory(error);
    if (!kind->symmetric && !symmetric_part(&solver->scratch, rows, &h)) return fail_memory(error);
    if (!diagonal_shows(&h)) {
        lcp_pivoting p = {0};
        double *none = arena_alloc(&solver->scratch, (size_t)h.size, sizeof *none);
        if (!none || !lcp_pivoting_init(&p, solver, &h, none)) return fail_memory(error);
        double delta = rounding(h.size);
        for (int k = 0; k < h.size; k++) p.state[k] = ABUT_LCP_FREE;
        lcp_factor_update(&p.factor, &p.system, p.state, delta, p.metric);
        kind->semidefinite = p.factor.least > 0;
        kind->definite = kind->semidefinite && least_eigenvalue(&p, none) > 4 * delta;
    }
    arena_restore(&solver->scratch, mark);
    return ABUT_OK;
}

abut_status abut_lcp_kind_of(abut_lcp_solver *solver, const abut_lcp *problem, abut_lcp_kind *kind,
                             abut_error *error) {
    arena_mark mark = arena_save(&solver->scratch);
    lcp_rows rows = {0};
    *kind = (abut_lcp_kind){true, true, true};
    if (problem->size == 0) return ABUT_OK;
    abut_status status = lcp_check(problem, error);
    if (status == ABUT_OK) status = lcp_rows_of(&solver->scratch, problem, &rows, error);
    if (status == ABUT_OK) status = lcp_kind_of(solver, &rows, kind, error);
    arena_restore(&solver->scratch, mark);
    return status;
}
