/* L D L^T of the free rows of a + delta m (m a diagonal metric), row by row from the top (up-looking, as
 * Davis 2005, "Algorithm 849: a concise sparse Cholesky factorization package"), for an active set that
 * changes by a few rows at a time:
 *
 *     row k of L solves  L D x = a_k,  over the columns that the elimination tree reaches from the entries of
 * a_k.
 *
 * After a change in row k only its ancestors in the elimination tree change (the tree of all rows, which
 * holds that of any free rows).  The rows of a column are ancestors of it, from the nearest on, and all above
 * an ancestor that changes change too: so they are the end of the column, which is cut off and written anew,
 * with the same bits as a factor from nothing.  delta > 0 keeps the pivots of a semidefinite matrix away from
 * 0; a pivot that rounding takes below delta / 4 is set to delta.
 */
#include "numerics/lcp.h"

#include <math.h>

bool lcp_factor_init(arena *scratch, const lcp_order *order, lcp_factor *f) {
    size_t n = (size_t)order->size, entries = (size_t)order->factor_start[n];
    *f = (lcp_factor){.size = order->size, .start = order->factor_start, .tree = order->tree};
    f->member = arena_alloc(scratch, n, 1), f->changed = arena_alloc(scratch, n, 1);
    f->count = arena_alloc(scratch, n, sizeof(int));
    f->parent = arena_alloc(scratch, n, sizeof(int));
    f->flag = arena_alloc(scratch, n, sizeof(int));
    f->pattern = arena_alloc(scratch, n, sizeof(int));
    f->row = arena_alloc(scratch, entries, sizeof(int));
    f->value = arena_alloc(scratch, entries, sizeof(double));
    f->pivot = arena_alloc(scratch, n, sizeof(double));
    f->work = arena_alloc(scratch, n, sizeof(double));
    return f->member && f->changed && f->count && f->parent && f->flag && f->pattern && f->row && f->value &&
           f->pivot && f->work;
}

/* Marks the rows that are free or no longer free, and their ancestors. False when there are none. */
static bool mark_changed(lcp_factor *f, const uint8_t *state) {
    bool any = false;
    for (int k = 0; k < f->size; k++) {
        if (f->member[k] == (state[k] == ABUT_LCP_FREE)) continue;
        any = true;
        for (int i = k; i >= 0 && !f->changed[i]; i = f->tree[i]) f->changed[i] = 1;
    }
    return any;
}

/* Forgets the entries of rows that change: the end of each column. */
static void forget_changed(lcp_factor *f) {
    for (int j = 0; j < f->size; j++) {
        int count = f->count[j];
        while (count > 0 && f->changed[f->row[f->start[j] + count - 1]]) count--;
        f->count[j] = count;
        if (count == 0) f->parent[j] = -1;
    }
}

/* Row k: scatter a_k, reach over the tree in topological order, eliminate. */
static void factor_row(lcp_factor *f, const lcp_system *s, int k) {
    int n = f->size, top = n;
    double *x = f->work, added = f->delta * f->metric[k], pivot = s->diagonal[k] + added;
    f->count[k] = 0, f->parent[k] = -1, f->flag[k] = k + 1;
    for (int t = s->start[k]; t < s->lower_end[k]; t++) {
        int i = s->column[t], length = 0;
        if (!f->member[i]) continue;
        x[i] = s->value[t];
        for (; i >= 0 && f->flag[i] != k + 1; i = f->parent[i]) {
            f->pattern[length++] = i, f->flag[i] = k + 1;
            if (f->parent[i] < 0) f->parent[i] = k;
        }
        while (length > 0) f->pattern[--top] = f->pattern[--length];
    }
    for (; top < n; top++) {
        int i = f->pattern[top], end = f->start[i] + f->count[i];
        double xi = x[i], l = xi / f->pivot[i];
        x[i] = 0;
        for (int p = f->start[i]; p < end; p++) x[f->row[p]] -= f->value[p] * xi;
        pivot -= l * xi;
        f->row[end] = k, f->value[end] = l, f->count[i]++;
    }
    f->least = pivot < f->least ? pivot : f->least;
    f->pivot[k] = pivot > added / 4 ? pivot : added;
}

bool lcp_factor_update(lcp_factor *f, const lcp_system *s, const uint8_t *state, double delta,
                       const double *metric) {
    size_t n = (size_t)f->size;
    bool kept = f->filled && f->delta == delta;
    memset(f->changed, !kept, n);
    f->delta = delta, f->metric = metric, f->least = (double)INFINITY;
    if (kept && !mark_changed(f, state)) return false;
    forget_changed(f);
    memset(f->flag, 0, n * sizeof *f->flag);
    for (int k = 0; k < f->size; k++) {
        if (!f->changed[k]) continue;
        f->member[k] = state[k] == ABUT_LCP_FREE;
        if (f->member[k])
            factor_row(f, s, k);
        else
            f->count[k] = 0, f->parent[k] = -1;
    }
    return f->filled = true;
}

void lcp_factor_solve(const lcp_factor *f, double *x) {
    for (int j = 0; j < f->size; j++) {
        if (!f->member[j]) continue;
        double xj = x[j];
        for (int p = f->start[j], end = p + f->count[j]; p < end; p++) x[f->row[p]] -= f->value[p] * xj;
    }
    for (int j = f->size - 1; j >= 0; j--) {
        if (!f->member[j]) continue;
        double xj = x[j] / f->pivot[j];
        for (int p = f->start[j], end = p + f->count[j]; p < end; p++) xj -= f->value[p] * x[f->row[p]];
        x[j] = xj;
    }
}
