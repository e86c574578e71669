/* Lemke's method with the lexicographic rule, for any square A (Cottle, Pang and Stone 1992, sections 4.4
 * and 4.9).
 *
 * The problem with bounds becomes one of pairs (w', x), w' = M x + r, by kind of row:
 *
 *     lo finite          z = lo + x,  w' = w                x >= 0, w' >= 0, x w' = 0
 *     only hi finite     z = hi - x,  w' = -w               the same
 *     both finite        z = lo + x,  w' = w + t, and a second pair s = hi - lo - x >= 0, t >= 0, s t = 0
 *     neither            z = x,       w' = w = 0            x without sign
 *
 * Rows of the last kind are pivoted into the basis first and stay there; those that cannot be (dependent
 * ones) must turn out to be 0. Then x0 enters, which lifts every other row by 1, and complementary pivots
 * follow until x0 leaves. The tableau holds B^-1 [I, -M, x0, r]; its first m columns are B^-1, whose rows
 * break ties: among the rows with the least ratio the lexicographically least one leaves, so no basis comes
 * twice, however degenerate the problem.  The last basis is solved again by LU with refinement in doubled
 * precision, so that rounding in the tableau does not remain in the answer.
 *
 *     tableau, row i:   | B^-1 (m) | -B^-1 M (m) | x0 | B^-1 r |
 */
#include "numerics/dense.h"
#include "numerics/lcp.h"

#include <math.h>

#define TIE  1e-13 /* ratios closer than this are equal */
#define ZERO 1e-11 /* entries of the scaled tableau up to this are rounding */

enum { ATTEMPTS = 4 };

typedef enum kind { LOWER, UPPER, BOX, FREE, SECOND } kind;

typedef struct lemke {
    int rows;       /* m */
    int size;       /* n: pairs 0 .. n-1 are the rows of the problem, the others are second pairs of boxes */
    int *of;        /* pair p belongs to row of[p] */
    kind *kind;     /* of pair p */
    double *base;   /* lo, hi or 0 of row i */
    double *matrix; /* M, m * m */
    double *r;
    double *tableau; /* m * width */
    size_t width;
    int *basis; /* variable of each row: 0 .. m-1 w', m .. 2m-1 x, 2m x0 */
    double *x;  /* w' and x and x0 */
} lemke;

static double *row_of(const lemke *l, int i) { return l->tableau + (size_t)i * l->width; }

static bool allocate(arena *scratch, lemke *l, size_t n, size_t m) {
    l->width = 2 * m + 2;
    l->of = arena_alloc(scratch, m, sizeof *l->of);
    l->kind = arena_alloc(scratch, m, sizeof *l->kind);
    l->base = arena_alloc(scratch, n, sizeof(double));
    l->matrix = arena_alloc(scratch, m * m, sizeof(double));
    l->r = arena_alloc(scratch, m, sizeof(double));
    l->tableau = arena_alloc(scratch, m * l->width, sizeof(double));
    l->basis = arena_alloc(scratch, m, sizeof *l->basis);
    l->x = arena_alloc(scratch, 2 * m + 1, sizeof(double));
    return l->of && l->kind && l->base && l->matrix && l->r && l->tableau && l->basis && l->x;
}

/* The pairs and their kinds, as in the table above. */
static bool make_pairs(arena *scratch, const lcp_system *s, lemke *l) {
    int n = s->size, m = n;
    for (int i = 0; i < n; i++) m += isfinite(s->lo[i]) && isfinite(s->hi[i]);
    l->size = n, l->rows = m;
    if (!allocate(scratch, l, (size_t)n, (size_t)m)) return false;
    for (int i = 0, next = n; i < n; i++) {
        bool low = isfinite(s->lo[i]), high = isfinite(s->hi[i]);
        l->of[i] = i;
        l->kind[i] = low && high ? BOX : low ? LOWER : high ? UPPER : FREE;
        l->base[i] = low ? s->lo[i] : high ? s->hi[i] : 0;
        if (l->kind[i] == BOX) l->of[next] = i, l->kind[next] = SECOND, next++;
    }
    return true;
}

/* M and r. */
static void make_standard(const lcp_system *s, lemke *l) {
    size_t m = (size_t)l->rows;
    for (int p = 0; p < l->rows; p++) {
        int i = l->of[p];
        double *row = l->matrix + (size_t)p * m, sum = s->q[i], side = l->kind[p] == UPPER ? -1 : 1;
        if (l->kind[p] == SECOND) { /* s = hi - lo - x, and t in the first pair: w' = w + t */
            l->r[p] = s->hi[i] - s->lo[i], row[i] = -1;
            l->matrix[(size_t)i * m + (size_t)p] = 1;
            continue;
        }
        for (int t = s->start[i]; t < s->start[i + 1]; t++) {
            int j = s->column[t];
            row[j] += side * (l->kind[j] == UPPER ? -1 : 1) * s->value[t];
            sum += s->value[t] * l->base[j];
        }
        l->r[p] = side * sum;
    }
}

static void make_tableau(lemke *l) {
    size_t m = (size_t)l->rows;
    for (int i = 0; i < l->rows; i++) {
        double *row = row_of(l, i);
        for (size_t j = 0; j < m; j++) row[j] = 0, row[m + j] = -l->matrix[(size_t)i * m + j];
        row[i] = 1, row[2 * m + 1] = l->r[i];
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

/* Free pairs into the basis, largest pivot first.  Those left have no entry in the columns of other free
 * pairs. */
static void bring_free(lemke *l, int *pivots) {
    for (;;) {
        int leave = -1, enter = -1;
        double best = ZERO;
        for (int i = 0; i < l->rows; i++) {
            if (l->basis[i] >= l->rows || l->kind[l->basis[i]] != FREE) continue;
            for (int j = 0; j < l->rows; j++) {
                double a = fabs(row_of(l, i)[l->rows + j]);
                bool waits = l->kind[j] == FREE && l->x[j] == 0;
                if (waits && a > best * (j == l->basis[i] ? 0.1 : 1)) best = a, leave = i, enter = j;
            }
        }
        if (leave < 0) return;
        pivot(l, leave, l->rows + enter);
        l->x[enter] = 1; /* a mark: this x is in */
        ++*pivots;
    }
}

/* A row that does not count for ratios: a free x, or the w' of a free pair that could not be pivoted. */
static bool is_idle(const lemke *l, int i) {
    int variable = l->basis[i];
    return variable < 2 * l->rows && l->kind[variable % l->rows] == FREE;
}

/* The column of x0: it lifts every row that counts, by 1; on another attempt by other amounts, which make
 * another path (any positive ones will do: Cottle, Pang and Stone 1992, 4.4.1). */
static void add_cover(lemke *l, int attempt) {
    for (int i = 0; i < l->rows; i++) {
        double *row = row_of(l, i), spread = 0.6180339887498949 * attempt * (i + 1);
        row[2 * l->rows] = is_idle(l, i) ? 0 : -(1 + spread - floor(spread));
        if (fabs(row[l->width - 1]) <= ZERO) row[l->width - 1] = 0; /* rounding of the pivots so far */
    }
}

/* Is (right side, B^-1) of row i over `a` lexicographically less than that of row k over `c`? */
static bool less(const lemke *l, int i, double a, int k, double c) {
    const double *x = row_of(l, i), *y = row_of(l, k);
    for (int j = -1; j < l->rows; j++) {
        size_t column = j < 0 ? l->width - 1 : (size_t)j;
        double p = x[column] / a, q = y[column] / c;
        if (fabs(p - q) > TIE * fmax(1.0, fmax(fabs(p), fabs(q)))) return p < q;
    }
    return i < k;
}

/* The row that leaves when `enter` grows; -1: none, a ray. x0 leaves as soon as it can. */
static int ratio_test(const lemke *l, int enter) {
    int best = -1, last = -1;
    for (int i = 0; i < l->rows; i++) {
        double a = row_of(l, i)[enter];
        if (is_idle(l, i) || !(a > ZERO)) continue;
        if (l->basis[i] == 2 * l->rows) last = i;
        if (best < 0 || less(l, i, a, best, row_of(l, best)[enter])) best = i;
    }
    if (best < 0 || last < 0) return best;
    double least = row_of(l, best)[l->width - 1] / row_of(l, best)[enter];
    double own = row_of(l, last)[l->width - 1] / row_of(l, last)[enter];
    return own <= least + TIE * fmax(1.0, fabs(least)) ? last : best;
}

/* The path.  OK: x0 has left. INFEASIBLE: a ray, in x. BUDGET. */
static abut_status follow(lemke *l, int budget, int *pivots) {
    int m = l->rows, leave = -1, enter = 2 * m;
    for (int i = 0; i < m;
         i++) { /* the row that x0 must lift most; among equals the lexicographically least */
        double r = row_of(l, i)[l->width - 1], lift = -row_of(l, i)[enter];
        if (is_idle(l, i) || !(r < 0) || !(lift > ZERO)) continue;
        if (leave < 0 || less(l, i, lift, leave, -row_of(l, leave)[enter])) leave = i;
    }
    if (leave < 0) return ABUT_OK;
    for (;; ++*pivots) {
        int left = l->basis[leave];
        pivot(l, leave, enter);
        if (left == 2 * m) return ABUT_OK;
        if (*pivots >= budget) return ABUT_BUDGET;
        enter = left < m ? left + m : left - m;
        leave = ratio_test(l, enter);
        if (leave >= 0) continue;
        for (int i = 0; i < m; i++) /* x0 is 0 but for rounding: the path has ended */
            if (l->basis[i] == 2 * m && row_of(l, i)[l->width - 1] <= 1e-9) return ABUT_OK;
        memset(l->x, 0, ((size_t)m * 2 + 1) * sizeof *l->x);
        for (int i = 0; i < m; i++)
            l->x[l->basis[i]] = is_idle(l, i) ? -row_of(l, i)[enter] : fmax(-row_of(l, i)[enter], 0.0);
        l->x[enter] = 1;
        return ABUT_INFEASIBLE;
    }
}

/* A free pair that could not be pivoted and has w' != 0: row i of B^-1 is the ray. */
static bool is_inconsistent(lemke *l) {
    for (int i = 0; i < l->rows; i++) {
        double value = row_of(l, i)[l->width - 1];
        if (!is_idle(l, i) || l->basis[i] >= l->rows || fabs(value) <= 1e-9) continue;
        for (int j = 0; j < l->rows; j++) l->x[l->rows + j] = value < 0 ? row_of(l, i)[j] : -row_of(l, i)[j];
        return true;
    }
    return false;
}

/* Solves for the basic variables from M itself: rows of basic x, by LU, refined. False: singular, or no
 * memory. */
static bool solve_basis(arena *scratch, lemke *l) {
    size_t m = (size_t)l->rows, f = 0;
    int *member = arena_alloc(scratch, m, sizeof *member);
    int *row = arena_alloc(scratch, m, sizeof *row);
    if (!member || !row) return false;
    for (size_t i = 0; i < m; i++)
        if (l->basis[i] >= l->rows && l->basis[i] < 2 * l->rows) row[l->basis[i] - l->rows] = 1;
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

/* Farkas: u >= 0, M^T u <= 0 (= 0 and no sign for free pairs), r.u < 0 shows that there is no solution. */
static bool ray_proves(const lemke *l) {
    size_t m = (size_t)l->rows;
    const double *u = l->x + m;
    double largest = 0, ru = 0;
    for (size_t j = 0; j < m; j++) largest = fmax(largest, fabs(u[j])), ru += l->r[j] * u[j];
    if (!(ru < -1e-9 * largest)) return false;
    for (size_t j = 0; j < m; j++) {
        double sum = 0;
        for (size_t i = 0; i < m; i++) sum += l->matrix[i * m + j] * u[i];
        if (sum > 1e-7 * largest || (l->kind[j] == FREE && sum < -1e-7 * largest)) return false;
        if (l->kind[j] != FREE && u[j] < -1e-9 * largest) return false;
    }
    return true;
}

/* Where each row stands, from the basis: x out of it is a bound, t in it is the upper bound of a box. */
static void read_states(const lemke *l, uint8_t *state) {
    for (int i = 0; i < l->size; i++)
        state[i] = l->kind[i] == FREE    ? ABUT_LCP_FREE
                   : l->kind[i] == UPPER ? ABUT_LCP_AT_UPPER
                                         : ABUT_LCP_AT_LOWER;
    for (int second = 0; second < 2; second++)
        for (int k = 0; k < l->rows; k++) {
            int p = l->basis[k] - l->rows;
            if (p < 0 || p >= l->rows || (l->kind[p] == SECOND) != second) continue;
            state[l->of[p]] = second ? ABUT_LCP_AT_UPPER : ABUT_LCP_FREE;
        }
}

static abut_status verdict(lemke *l, abut_status status, int pivots, abut_error *error) {
    if (status == ABUT_BUDGET)
        return fail(error, status, "Lemke's path did not end within %d pivots", pivots);
    if (status != ABUT_INFEASIBLE) return status;
    if (ray_proves(l)) return status; /* abut_lcp_solve names the rows of the ray */
    return fail(error, ABUT_FAILED,
                "Lemke's path ended on a ray after %d pivots, which proves nothing for this A", pivots);
}

/* z, w and state in the caller's units; w is the ray where one was found. */
static void write_back(const lemke *l, const lcp_system *s, const abut_lcp *problem, bool ray, double *v,
                       uint8_t *state, double *z, double *w) {
    double *y = l->x; /* the room of w' is free by now */
    for (int i = 0; i < l->size; i++) {
        double x = l->x[l->rows + i];
        y[i] = (ray ? 0 : l->base[i]) + (l->kind[i] == UPPER ? -x : x);
    }
    lcp_apply_doubled(s, y, v);
    read_states(l, state);
    for (int i = 0; i < l->size; i++) {
        double lo = lcp_lower(problem, z, i), hi = lcp_upper(problem, z, i), unit = s->scale[i];
        if (state[i] == ABUT_LCP_AT_LOWER)
            z[i] = lo;
        else if (state[i] == ABUT_LCP_AT_UPPER)
            z[i] = hi;
        else
            z[i] = fmin(fmax(y[i] * unit / s->beta, lo), hi);
        w[i] = ray ? y[i] * unit : state[i] == ABUT_LCP_FREE ? 0 : v[i] / (unit * s->beta);
    }
}

/* One path from the start to its end, and the answer of its last basis. */
static abut_status attempt_path(arena *scratch, lemke *l, int attempt, int budget, int *pivots,
                                abut_error *error) {
    memset(l->x, 0, (2 * (size_t)l->rows + 1) * sizeof *l->x);
    make_tableau(l);
    bring_free(l, pivots);
    add_cover(l, attempt);
    abut_status status = is_inconsistent(l) ? ABUT_INFEASIBLE : follow(l, budget, pivots);
    if (status == ABUT_OK && is_inconsistent(l)) status = ABUT_INFEASIBLE;
    status = verdict(l, status, *pivots, error);
    if (status == ABUT_OK && !solve_basis(scratch, l))
        status = fail(error, ABUT_FAILED, "Lemke's last basis is singular to rounding");
    return status;
}

/* Rounding can lead a path astray among redundant rows: what fails is tried again with other covers. */
abut_status lcp_lemke(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                      const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                      abut_lcp_result *result, abut_error *error) {
    arena *scratch = &solver->scratch;
    lcp_system s;
    lemke l = {0};
    double *v = arena_alloc(scratch, (size_t)rows->size, sizeof *v);
    if (!v || !lcp_system_plain(scratch, rows, problem->b, &s)) return fail_memory(error);
    lcp_system_bounds(&s, problem, z);
    if (!make_pairs(scratch, &s, &l)) return fail_memory(error);
    make_standard(&s, &l);
    int budget = config->budget > 0 ? config->budget : 1000 + 50 * l.rows;
    abut_status status = ABUT_FAILED;
    for (int attempt = 0; attempt < ATTEMPTS && status == ABUT_FAILED; attempt++) {
        arena_mark mark = arena_save(scratch);
        status = attempt_path(scratch, &l, attempt, budget, &result->pivots, error);
        arena_restore(scratch, mark);
        write_back(&l, &s, problem, status == ABUT_INFEASIBLE, v, state, z, w);
        double residual = abut_lcp_validate(problem, z, NULL);
        if (status == ABUT_OK && !(residual <= config->tolerance))
            status = fail(error, ABUT_FAILED,
                          "Lemke's answer has a residual of %.3g; A is too ill-conditioned for its tableau",
                          residual);
    }
    return status;
}
