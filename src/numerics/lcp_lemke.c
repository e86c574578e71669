/* Lemke's method with the lexicographic rule, for any square A (Cottle, Pang and Stone 1992, sections 4.4
 * and 4.9).
 *
 * The problem with bounds becomes a standard one, w' = M x + r, x >= 0, w' >= 0, x.w' = 0, by kind of row:
 *
 *     lo finite          z = lo + x
 *     only hi finite     z = hi - x, w' = -w
 *     both finite        z = lo + x, w' = w + t, and a second pair s = hi - lo - x >= 0, t >= 0, s.t = 0
 *     neither            z = x - x2, w' = w, and a second pair w2' = -w: both signs of w are >= 0, so w = 0
 *
 * Then x0 enters: w' = M x + r + 1 x0, and complementary pivots follow until x0 leaves. The tableau holds
 * B^-1 [I, -M, -1, r]; its first m columns are B^-1, whose rows break ties: among the rows with the least
 * ratio the lexicographically least one leaves, so no basis comes twice, however degenerate the problem.  The
 * last basis is solved again by LU with refinement in doubled precision, so that rounding in the tableau does
 * not remain in the answer.
 *
 *     tableau, row i:   | B^-1 (m) | -B^-1 M (m) | -B^-1 1 | B^-1 r |
 */
#include "numerics/dense.h"
#include "numerics/lcp.h"

#include <math.h>

typedef struct lemke {
    int rows;       /* m */
    int size;       /* n: pairs 0 .. n-1 are the rows of the problem, the others are second pairs */
    int *of;        /* second pair p belongs to row of[p] */
    int8_t *sign;   /* pair p: z_row = base + sign x_p; 0 for the pair (s, t) of a box */
    int8_t *side;   /* pair p: w'_p = side * w_row; 0 for the pair (s, t) */
    double *base;   /* lo, hi or 0 of row i */
    double *matrix; /* M, m * m */
    double *r;
    double *tableau; /* m * width */
    size_t width;
    int *basis; /* variable of each row: 0 .. m-1 w', m .. 2m-1 x, 2m x0 */
    double *x;
} lemke;

static double *row_of(const lemke *l, int i) { return l->tableau + (size_t)i * l->width; }

static bool allocate(arena *scratch, lemke *l, size_t n, size_t m) {
    l->width = 2 * m + 2;
    l->of = arena_alloc(scratch, m, sizeof *l->of);
    l->sign = arena_alloc(scratch, m, 1), l->side = arena_alloc(scratch, m, 1);
    l->base = arena_alloc(scratch, n, sizeof(double));
    l->matrix = arena_alloc(scratch, m * m, sizeof(double));
    l->r = arena_alloc(scratch, m, sizeof(double));
    l->tableau = arena_alloc(scratch, m * l->width, sizeof(double));
    l->basis = arena_alloc(scratch, m, sizeof *l->basis);
    l->x = arena_alloc(scratch, 2 * m + 1, sizeof(double));
    return l->of && l->sign && l->side && l->base && l->matrix && l->r && l->tableau && l->basis && l->x;
}

/* The pairs and their signs, as in the table above. */
static bool make_pairs(arena *scratch, const lcp_system *s, lemke *l) {
    int n = s->size, m = n;
    for (int i = 0; i < n; i++) m += isfinite(s->lo[i]) == isfinite(s->hi[i]);
    l->size = n, l->rows = m;
    if (!allocate(scratch, l, (size_t)n, (size_t)m)) return false;
    for (int i = 0, next = n; i < n; i++) {
        bool low = isfinite(s->lo[i]), high = isfinite(s->hi[i]);
        l->of[i] = i;
        l->sign[i] = l->side[i] = (int8_t)(!low && high ? -1 : 1);
        l->base[i] = low ? s->lo[i] : high ? s->hi[i] : 0;
        if (low != high) continue;
        l->of[next] = i;
        l->sign[next] = l->side[next] = (int8_t)(low ? 0 : -1);
        next++;
    }
    return true;
}

/* M and r. */
static void make_standard(const lcp_system *s, lemke *l) {
    size_t m = (size_t)l->rows;
    for (int p = 0; p < l->rows; p++) {
        int i = l->of[p];
        double *row = l->matrix + (size_t)p * m, sum = s->q[i];
        if (l->side[p] == 0) { /* s = hi - lo - x */
            l->r[p] = s->hi[i] - s->lo[i], row[i] = -1;
            l->matrix[(size_t)i * m + (size_t)p] += 1; /* w' = w + t */
            continue;
        }
        for (int t = s->start[i]; t < s->start[i + 1]; t++) {
            row[s->column[t]] += l->side[p] * l->sign[s->column[t]] * s->value[t];
            sum += s->value[t] * l->base[s->column[t]];
        }
        l->r[p] = l->side[p] * sum;
        for (int c = l->size; c < l->rows;
             c++) /* second halves of free rows: the column with the other sign */
            if (l->sign[c] != 0) row[c] += -row[l->of[c]];
    }
}

static void make_tableau(lemke *l) {
    size_t m = (size_t)l->rows;
    for (int i = 0; i < l->rows; i++) {
        double *row = row_of(l, i);
        for (size_t j = 0; j < m; j++) row[j] = 0, row[m + j] = -l->matrix[(size_t)i * m + j];
        row[i] = 1, row[2 * m] = -1, row[2 * m + 1] = l->r[i];
        l->basis[i] = i;
    }
}

static void pivot(lemke *l, int leave, int enter) {
    double *top = row_of(l, leave), inverse = 1 / top[enter];
    for (size_t j = 0; j < l->width; j++) top[j] *= inverse;
    top[enter] = 1;
    for (int i = 0; i < l->rows; i++) {
        double *row = row_of(l, i), f = row[enter];
        if (i == leave || f == 0) continue;
        for (size_t j = 0; j < l->width; j++) row[j] -= f * top[j];
        row[enter] = 0;
    }
    l->basis[leave] = enter;
}

/* Is (right side, B^-1) of row i over `a` lexicographically less than that of row k over `c`? */
static bool less(const lemke *l, int i, double a, int k, double c) {
    const double *x = row_of(l, i), *y = row_of(l, k);
    double p = x[l->width - 1] / a, q = y[l->width - 1] / c, slack = 1e-13;
    if (fabs(p - q) > slack * fmax(1.0, fmax(fabs(p), fabs(q)))) return p < q;
    for (int j = 0; j < l->rows; j++) {
        p = x[j] / a, q = y[j] / c;
        if (fabs(p - q) > slack * fmax(1.0, fmax(fabs(p), fabs(q)))) return p < q;
    }
    return i < k;
}

/* The row that leaves when `enter` grows; -1: none, a ray. x0 leaves as soon as it can. */
static int ratio_test(const lemke *l, int enter) {
    int best = -1;
    double largest = 0;
    for (int i = 0; i < l->rows; i++) largest = fmax(largest, fabs(row_of(l, i)[enter]));
    for (int i = 0; i < l->rows; i++) {
        double a = row_of(l, i)[enter];
        if (!(a > 1e-11 * fmax(1.0, largest))) continue;
        if (best < 0 || less(l, i, a, best, row_of(l, best)[enter])) best = i;
    }
    if (best < 0) return -1;
    double least = row_of(l, best)[l->width - 1] / row_of(l, best)[enter];
    for (int i = 0; i < l->rows; i++) {
        double a = row_of(l, i)[enter];
        if (l->basis[i] == 2 * l->rows && a > 1e-11 * fmax(1.0, largest) &&
            row_of(l, i)[l->width - 1] / a <= least + 1e-13 * fmax(1.0, fabs(least)))
            return i;
    }
    return best;
}

/* The path.  OK: x0 has left. INFEASIBLE: a ray, in x. BUDGET. */
static abut_status follow(lemke *l, int budget, int *pivots) {
    int m = l->rows, leave = -1, enter = 2 * m;
    for (int i = 0; i < m;
         i++) /* the row that x0 must lift most; among equals the last is lexicographically least */
        if (l->r[i] < 0 && (leave < 0 || l->r[i] <= l->r[leave])) leave = i;
    if (leave < 0) return ABUT_OK;
    for (*pivots = 1;; ++*pivots) {
        int left = l->basis[leave];
        pivot(l, leave, enter);
        if (left == 2 * m) return ABUT_OK;
        if (*pivots >= budget) return ABUT_BUDGET;
        enter = left < m ? left + m : left - m;
        leave = ratio_test(l, enter);
        if (leave >= 0) continue;
        memset(l->x, 0, ((size_t)m * 2 + 1) * sizeof *l->x);
        for (int i = 0; i < m; i++) l->x[l->basis[i]] = fmax(-row_of(l, i)[enter], 0.0);
        l->x[enter] = 1;
        return ABUT_INFEASIBLE;
    }
}

/* Solves for the basic variables from M itself: rows of basic x, by LU, twice refined. False: singular. */
static bool solve_basis(arena *scratch, lemke *l) {
    size_t m = (size_t)l->rows, f = 0;
    int *member = arena_alloc(scratch, m, sizeof *member);
    int *row = arena_alloc(scratch, m, sizeof *row);
    if (!member || !row) return false;
    for (size_t i = 0; i < m; i++)
        if (l->basis[i] >= l->rows) row[l->basis[i] - l->rows] = 1;
    for (size_t p = 0; p < m; p++)
        if (row[p]) member[f++] = (int)p;
    double *lu = arena_alloc(scratch, f * f, sizeof *lu), *rhs = arena_alloc(scratch, f, sizeof *rhs);
    double *x = arena_alloc(scratch, f, sizeof *x), *y = l->x + m;
    if (!lu || !rhs || !x) return false;
    memset(l->x, 0, (2 * m + 1) * sizeof *l->x);
    for (size_t i = 0; i < f; i++)
        for (size_t j = 0; j < f; j++) lu[i * f + j] = l->matrix[(size_t)member[i] * m + (size_t)member[j]];
    if (!dense_lu_factor((int)f, lu, row)) return false;
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < f; i++) {
            lcp_sum sum = {l->r[member[i]], 0};
            for (size_t j = 0; j < f; j++)
                lcp_sum_product(&sum, l->matrix[(size_t)member[i] * m + (size_t)member[j]], y[member[j]]);
            rhs[i] = -(sum.s + sum.e);
        }
        dense_lu_solve((int)f, lu, row, rhs, x);
        for (size_t j = 0; j < f; j++) y[member[j]] += x[j];
    }
    return true;
}

/* Farkas: u >= 0, M^T u <= 0, r.u < 0 shows that M x + r >= 0 has no x >= 0. */
static bool ray_proves(const lemke *l) {
    size_t m = (size_t)l->rows;
    const double *u = l->x + m;
    double largest = 0, ru = 0;
    for (size_t j = 0; j < m; j++) largest = fmax(largest, fabs(u[j])), ru += l->r[j] * u[j];
    if (!(ru < -1e-9 * largest)) return false;
    for (size_t j = 0; j < m; j++) {
        double sum = 0;
        for (size_t i = 0; i < m; i++) sum += l->matrix[i * m + j] * u[i];
        if (sum > 1e-7 * largest) return false;
    }
    return true;
}

/* x of the pairs back to y of the rows; `ray`: directions, without the bases. */
static void gather(const lemke *l, bool ray, double *y) {
    for (int i = 0; i < l->size; i++) y[i] = ray ? 0 : l->base[i];
    for (int p = 0; p < l->rows; p++) y[l->of[p]] += l->sign[p] * l->x[l->rows + p];
}

static abut_status verdict(lemke *l, abut_status status, int pivots, abut_error *error) {
    if (status == ABUT_BUDGET)
        return fail(error, status, "Lemke's path did not end within %d pivots", pivots);
    if (status != ABUT_INFEASIBLE) return status;
    if (ray_proves(l)) return fail(error, status, "the problem has no solution: Lemke's ray proves it");
    return fail(error, ABUT_FAILED,
                "Lemke's path ended on a ray after %d pivots, which proves nothing for this A", pivots);
}

abut_status lcp_lemke(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                      const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                      abut_lcp_result *result, abut_error *error) {
    arena *scratch = &solver->scratch;
    lcp_system s;
    lemke l = {0};
    int n = rows->size;
    double *y = arena_alloc(scratch, (size_t)n, sizeof *y), *v = arena_alloc(scratch, (size_t)n, sizeof *v);
    if (!y || !v || !lcp_system_plain(scratch, rows, problem->b, &s)) return fail_memory(error);
    lcp_system_bounds(&s, problem, z);
    if (!make_pairs(scratch, &s, &l)) return fail_memory(error);
    make_standard(&s, &l);
    make_tableau(&l);
    abut_status status =
        follow(&l, config->budget > 0 ? config->budget : 1000 + 50 * l.rows, &result->pivots);
    if (status == ABUT_OK && !solve_basis(scratch, &l))
        status = fail(error, ABUT_FAILED, "Lemke's last basis is singular to rounding");
    status = status == ABUT_FAILED ? status : verdict(&l, status, result->pivots, error);
    gather(&l, status == ABUT_INFEASIBLE, y);
    lcp_apply(&s, y, v, NULL, true);
    for (int i = 0; i < n; i++) {
        double lo = lcp_lower(problem, z, i), hi = lcp_upper(problem, z, i);
        bool moved = l.x[l.rows + i] > 0;
        z[i] = fmin(fmax(y[i] * s.scale[i] / s.beta, lo), hi);
        state[i] = (uint8_t)(z[i] == lo && !moved ? ABUT_LCP_AT_LOWER
                             : z[i] == hi         ? ABUT_LCP_AT_UPPER
                                                  : ABUT_LCP_FREE);
        w[i] = status == ABUT_INFEASIBLE   ? y[i] * s.scale[i]
               : state[i] == ABUT_LCP_FREE ? 0
                                           : v[i] / (s.scale[i] * s.beta);
    }
    return status;
}
