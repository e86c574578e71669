/* The exact solver for a few rows: the same proximal steps and block exchanges as lcp_exact.c and
 * lcp_pivot.c, on a small dense matrix in the caller's units, with delta A_ii for delta (which is the same as
 * scaling first). A group of contacts that touches no other is solved here when it is small; where that does
 * not settle quickly, the general solver takes it. */
#include "numerics/lcp.h"

#include <math.h>

enum { MOST_ROUNDS = 20, MOST_REFINEMENTS = 3, PATIENCE = 2 };
#define DELTA 1e-9

typedef struct small {
    int size;
    int free_count,
        free[LCP_SMALL]; /* the free rows when factored; l and pivot are by their numbers in this list */
    double a[LCP_SMALL][LCP_SMALL], l[LCP_SMALL][LCP_SMALL], inverse[LCP_SMALL]; /* inverse pivots */
    double b[LCP_SMALL], lo[LCP_SMALL], hi[LCP_SMALL], z[LCP_SMALL], w[LCP_SMALL], center[LCP_SMALL],
        size_of_row[LCP_SMALL];
    uint8_t state[LCP_SMALL];
} small;

/* L D L^T of the free rows of A + delta diag(A). */
static void factor(small *s) {
    s->free_count = 0;
    for (int i = 0; i < s->size; i++)
        if (s->state[i] == ABUT_LCP_FREE) s->free[s->free_count++] = i;
    for (int i = 0; i < s->free_count; i++) {
        const double *row = s->a[s->free[i]];
        double added = DELTA * row[s->free[i]], d = row[s->free[i]] + added, *x = s->l[i];
        for (int j = 0; j < i; j++) { /* x_j = l_ij d_j */
            double sum = row[s->free[j]];
            for (int k = 0; k < j; k++) sum -= x[k] * s->l[j][k];
            x[j] = sum;
        }
        for (int j = 0; j < i; j++) {
            double l = x[j] * s->inverse[j];
            d -= l * x[j], x[j] = l;
        }
        s->inverse[i] = 1 / (d > added / 4 ? d : added);
    }
}

/* z_F -= (A_FF + delta D)^-1 (w + delta D (z - c))_F */
static void solve(small *s) {
    double x[LCP_SMALL];
    for (int i = 0; i < s->free_count; i++) {
        int row = s->free[i];
        double sum = -(s->w[row] + DELTA * s->a[row][row] * (s->z[row] - s->center[row]));
        for (int j = 0; j < i; j++) sum -= s->l[i][j] * x[j];
        x[i] = sum;
    }
    for (int i = s->free_count - 1; i >= 0; i--) {
        double sum = x[i] * s->inverse[i];
        for (int j = i + 1; j < s->free_count; j++) sum -= s->l[j][i] * x[j];
        x[i] = sum, s->z[s->free[i]] += sum;
    }
}

static void evaluate(small *s) {
    for (int i = 0; i < s->size; i++) {
        double sum = s->b[i], size = fabs(sum);
        for (int j = 0; j < s->size; j++) {
            double term = s->a[i][j] * s->z[j];
            sum += term, size += fabs(term);
        }
        s->w[i] = sum, s->size_of_row[i] = size;
    }
}

/* Returns the change of z. */
static double put_at_bound(small *s, int i) {
    double z = s->z[i];
    if (s->lo[i] == s->hi[i]) s->state[i] = ABUT_LCP_AT_LOWER;
    if (s->state[i] == ABUT_LCP_AT_LOWER && isinf(s->lo[i])) s->state[i] = ABUT_LCP_FREE;
    if (s->state[i] == ABUT_LCP_AT_UPPER && isinf(s->hi[i])) s->state[i] = ABUT_LCP_FREE;
    if (s->state[i] == ABUT_LCP_AT_LOWER) s->z[i] = s->lo[i];
    if (s->state[i] == ABUT_LCP_AT_UPPER) s->z[i] = s->hi[i];
    return s->z[i] - z;
}

/* The state row i should have; a free row may pass its bound by rounding. */
static uint8_t wanted_state(const small *s, int i, double unit) {
    double rounding = 4 * LCP_ROUNDING * s->size_of_row[i], slack = 1e-13 * unit + rounding;
    if (s->state[i] == ABUT_LCP_FREE) {
        double room = rounding / s->a[i][i];
        return s->z[i] < s->lo[i] - room   ? ABUT_LCP_AT_LOWER
               : s->z[i] > s->hi[i] + room ? ABUT_LCP_AT_UPPER
                                           : ABUT_LCP_FREE;
    }
    double w = s->w[i] + DELTA * s->a[i][i] * (s->z[i] - s->center[i]);
    if (s->state[i] == ABUT_LCP_AT_LOWER)
        return w < -slack && s->lo[i] < s->hi[i] ? ABUT_LCP_FREE : ABUT_LCP_AT_LOWER;
    return w > slack ? ABUT_LCP_FREE : ABUT_LCP_AT_UPPER;
}

/* Exchanges rows until all signs are right: all that violate theirs while their number falls, otherwise the
 * last one only (Murty 1974), which cannot cycle. False when that takes too long. */
static bool exchange(small *s, double unit, abut_lcp_result *result) {
    int best = s->size + 1, patience = PATIENCE;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        uint8_t wanted[LCP_SMALL];
        int violations = 0, last = 0;
        factor(s), result->factorizations++;
        solve(s);
        evaluate(s);
        for (int i = 0; i < s->size; i++) {
            wanted[i] = wanted_state(s, i, unit);
            if (wanted[i] != s->state[i]) violations++, last = i;
        }
        if (violations == 0) return true;
        patience = violations < best ? PATIENCE : patience - 1;
        best = violations < best ? violations : best;
        for (int i = patience >= 0 ? 0 : last; i <= last; i++) {
            result->pivots += wanted[i] != s->state[i];
            s->state[i] = wanted[i];
            double change = put_at_bound(s, i);
            for (int j = 0; j < s->size && change != 0; j++) s->w[j] += s->a[i][j] * change;
        }
    }
    return false;
}

/* A proximal step with the same factor; false when a sign turns out wrong after all. */
static bool refine(small *s, double unit) {
    memcpy(s->center, s->z, (size_t)s->size * sizeof(double));
    solve(s);
    evaluate(s);
    for (int i = 0; i < s->size; i++)
        if (wanted_state(s, i, unit) != s->state[i]) return false;
    return true;
}

/* The largest violation in units of max |b|, and what rounding allows. */
static double residual_of(const small *s, double unit, double *attainable) {
    double worst = 0, size = 0;
    for (int i = 0; i < s->size; i++) {
        double w = s->w[i], room = s->a[i][i] * (w > 0 ? s->z[i] - s->lo[i] : s->hi[i] - s->z[i]);
        double violation = fabs(w) < room ? fabs(w) : room;
        worst = violation > worst ? violation : worst,
        size = s->size_of_row[i] > size ? s->size_of_row[i] : size;
    }
    *attainable = LCP_ROUNDING * size / unit;
    return worst / unit;
}

static bool gather(small *s, const abut_lcp *problem, const lcp_rows *rows, const int *member, int count,
                   const int *local, bool warm, const uint8_t *state, const double *z) {
    s->size = count;
    for (int i = 0; i < count; i++) {
        int row = member[i];
        for (int j = 0; j < count; j++) s->a[i][j] = 0;
        for (int k = rows->start[row]; k < rows->start[row + 1]; k++)
            s->a[i][local[rows->column[k]]] = rows->value[k];
        if (!(s->a[i][i] > 0)) return false;
        s->b[i] = problem->b[row], s->lo[i] = problem->lo ? problem->lo[row] : 0;
        s->hi[i] = problem->hi ? problem->hi[row] : (double)INFINITY;
        s->state[i] = warm ? state[row] : ABUT_LCP_FREE;
        s->z[i] = s->center[i] = warm && isfinite(z[row]) ? z[row] : 0;
    }
    for (int i = 0; i < count; i++) put_at_bound(s, i), s->center[i] = s->z[i];
    evaluate(s);
    return true;
}

bool lcp_small(const abut_lcp *problem, const lcp_rows *rows, const int *member, int count, const int *local,
               double unit, const abut_lcp_config *config, uint8_t *state, double *z, double *w,
               abut_lcp_result *result) {
    small s;
    double residual, attainable;
    if (!gather(&s, problem, rows, member, count, local, config->warm, state, z) ||
        !exchange(&s, unit, result))
        return false;
    for (int round = 0;; round++) {
        residual = residual_of(&s, unit, &attainable);
        if (64 * attainable > 1e-12) return false; /* wants sums in doubled precision */
        if (residual <= 1e-14 + attainable) break;
        if (round == MOST_REFINEMENTS) return false;
        if (!refine(&s, unit)) return false;
    }
    for (int i = 0; i < count; i++) {
        bool zero = s.state[i] == ABUT_LCP_FREE || fabs(s.w[i]) <= 4 * LCP_ROUNDING * s.size_of_row[i];
        double x = s.z[i] < s.lo[i] ? s.lo[i] : s.z[i] > s.hi[i] ? s.hi[i] : s.z[i];
        z[member[i]] = x, w[member[i]] = zero ? 0 : s.w[i], state[member[i]] = s.state[i];
    }
    if (residual > result->residual) result->residual = residual;
    if (attainable > result->attainable) result->attainable = attainable;
    return true;
}
