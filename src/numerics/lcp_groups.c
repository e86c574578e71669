/* Which forces are determined only together.
 *
 * Let M be the rows that some direction d between solutions moves (lcp_determine.c).  All such d are the null
 * space of A_MM: A is semidefinite, and with one direction that moves every row of M away from its bound a
 * small part of any other can be added.  The groups are the finest parts of M into which that space falls
 * apart: elimination with diagonal pivots gives it the basis
 *
 *     d_j = 1,  d_P = -A_PP^-1 A_Pj,  0 elsewhere         (P the pivots, one vector for each other row j)
 *
 * and rows are in one group when a chain of these vectors connects them.  The sum of the forces of a group is
 * determined when every d of it has the sum 0.
 */
#include "numerics/lcp.h"

#include <math.h>

enum { MOST_ROWS = 1000 }; /* coupled rows up to which the basis is computed; more are one group */
#define RANK  1e-10        /* pivot of a row with diagonal 1 that counts as 0 */
#define MOVES 1e-7         /* component of a direction that does not */

typedef struct groups {
    const lcp_rows *rows;
    int *root, *member, *local; /* group of a row, by its first row; rows at hand; their numbers */
    bool *fixed;                /* by root: the sum is determined */
    double *a, *scale;          /* scaled to diagonal 1; d = scale y */
    bool *pivot;
} groups;

static int find_root(int *root, int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

static void join(groups *g, int a, int b) {
    a = find_root(g->root, a), b = find_root(g->root, b);
    int first = a < b ? a : b, other = a < b ? b : a;
    g->root[other] = first, g->fixed[first] = g->fixed[first] && g->fixed[other];
}

/* The moving rows that the matrix leads to from row i; local[] is -1 for rows not seen yet, -2 for others. */
static int gather(groups *g, int i) {
    const lcp_rows *rows = g->rows;
    int count = 0;
    g->member[count] = i, g->local[i] = count++;
    for (int m = 0; m < count; m++)
        for (int k = rows->start[g->member[m]]; k < rows->start[g->member[m] + 1]; k++) {
            int j = rows->column[k];
            if (g->local[j] == -1 && rows->value[k] != 0) g->member[count] = j, g->local[j] = count++;
        }
    return count;
}

static void fill(groups *g, int count) {
    size_t n = (size_t)count;
    memset(g->a, 0, n * n * sizeof *g->a);
    for (int m = 0; m < count; m++)
        for (int k = g->rows->start[g->member[m]]; k < g->rows->start[g->member[m] + 1]; k++) {
            int c = g->local[g->rows->column[k]];
            if (c >= 0 && c < count && g->member[c] == g->rows->column[k])
                g->a[(size_t)m * n + (size_t)c] = g->rows->value[k];
        }
    for (int m = 0; m < count; m++) {
        double own = g->a[(size_t)m * n + (size_t)m];
        g->scale[m] = own > 0 ? 1 / sqrt(own) : 1, g->pivot[m] = false;
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++) g->a[r * n + c] *= g->scale[r] * g->scale[c];
}

/* Gauss and Jordan with the largest diagonal as pivot: row p becomes A_PP^-1 A_P. */
static void eliminate(groups *g, int count) {
    size_t n = (size_t)count;
    for (int step = 0; step < count; step++) {
        int p = -1;
        for (int m = 0; m < count; m++)
            if (!g->pivot[m] && (p < 0 || g->a[(size_t)m * (n + 1)] > g->a[(size_t)p * (n + 1)])) p = m;
        double *row = g->a + (size_t)p * n, d = row[p];
        if (!(d > RANK)) return;
        g->pivot[p] = true;
        for (size_t c = 0; c < n; c++) row[c] /= d;
        for (int m = 0; m < count; m++) {
            double *other = g->a + (size_t)m * n, f = other[p];
            for (size_t c = 0; c < n && m != p && f != 0; c++) other[c] -= f * row[c];
        }
    }
}

/* Joins the rows of every vector of the basis. */
static void connect(groups *g, int count) {
    for (int j = 0; j < count; j++) {
        if (g->pivot[j]) continue;
        double sum = g->scale[j], size = sum;
        for (int p = 0; p < count; p++) {
            double c = g->pivot[p] ? g->a[(size_t)p * (size_t)count + (size_t)j] : 0;
            if (!(fabs(c) > MOVES)) continue;
            sum -= c * g->scale[p], size += fabs(c) * g->scale[p];
            join(g, g->member[j], g->member[p]);
        }
        if (fabs(sum) > MOVES * size) g->fixed[find_root(g->root, g->member[j])] = false;
    }
}

static bool allocate(groups *g, arena *scratch, int size) {
    size_t n = (size_t)size, most = size < MOST_ROWS ? n : MOST_ROWS;
    g->root = arena_alloc(scratch, n, sizeof(int)), g->member = arena_alloc(scratch, n, sizeof(int));
    g->local = arena_alloc(scratch, n, sizeof(int)), g->fixed = arena_alloc(scratch, n, sizeof(bool));
    g->a = arena_alloc(scratch, most * most, sizeof(double));
    g->scale = arena_alloc(scratch, most, sizeof(double)),
    g->pivot = arena_alloc(scratch, most, sizeof(bool));
    return g->root && g->member && g->local && g->fixed && g->a && g->scale && g->pivot;
}

static void find_groups(groups *g, const bool *determined) {
    int n = g->rows->size;
    for (int i = 0; i < n; i++) g->root[i] = i, g->fixed[i] = true, g->local[i] = determined[i] ? -2 : -1;
    for (int i = 0; i < n; i++) {
        if (g->local[i] != -1) continue;
        int count = gather(g, i);
        if (count <= MOST_ROWS) {
            fill(g, count), eliminate(g, count), connect(g, count);
            continue;
        }
        for (int m = 1; m < count; m++) join(g, i, g->member[m]);
        g->fixed[find_root(g->root, i)] = false;
    }
}

abut_status abut_lcp_groups(abut_lcp_solver *solver, const abut_lcp *problem, const bool *determined,
                            int *group, bool *sums, int *count, abut_error *error) {
    arena_mark mark = arena_save(&solver->scratch);
    lcp_rows rows = {0};
    groups g = {.rows = &rows};
    int found = 0, n = problem->size;
    abut_status status = lcp_rows_of(&solver->scratch, problem, &rows, error);
    if (status == ABUT_OK) status = lcp_check_symmetric(&solver->scratch, &rows, error);
    if (status == ABUT_OK && !allocate(&g, &solver->scratch, n)) status = fail_memory(error);
    if (status == ABUT_OK) find_groups(&g, determined);
    for (int i = 0; i < n && status == ABUT_OK; i++) {
        int root = find_root(g.root, i);
        if (!determined[i] && root == i && sums) sums[found] = g.fixed[i];
        group[i] = determined[i] ? -1 : root == i ? found++ : group[root];
    }
    if (count) *count = status == ABUT_OK ? found : 0;
    arena_restore(&solver->scratch, mark);
    return status;
}
