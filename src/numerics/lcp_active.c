/* An active-set method on a dense factor of the free rows only.
 *
 * In a random pile one contact in three carries a force.  A factor of all rows, Baraff's first guess, is then
 * wasted, and block exchanges go in circles.  Here
 *
 *     f(z) = z.(A z) / 2 + b.z + delta/2 (z - c).D (z - c),   D = diag(A),   lo <= z <= hi
 *
 * falls in every round: towards the minimum over the free rows, until the first of them meets a bound and
 * leaves the factor; from the minimum the row whose sign is wrong by most joins it (Lawson and Hanson 1974,
 * chapter 23, for bounds on both sides; lcp_triangle.c).  While f falls no set of free rows comes back, so
 * the method ends.  Proximal steps (c := z) then take delta away again.
 *
 * Small groups start from nothing, with one join for each row that ends free and few that leave again; for
 * large ones sweeps of over-relaxed Gauss-Seidel choose the first free rows.
 *
 * On the way the gradient g of the free rows is known without the matrix: a step alpha s with s = -H^-1 g, H
 * = A_FF + delta D, leaves (1 - alpha) g.  w is brought up to date by the rows that moved when a step went
 * all the way, and computed anew from z before anything is accepted.
 */
#include "numerics/lcp_active.h"

#include <math.h>

enum { MOST_FREE = 160, FIRST_SWEEPS = 3, SWEEPS = 20, MOST_REFINEMENTS = 5 };
#define RELAXATION    1.6 /* of the sweeps: between the 1 of Gauss-Seidel and the 2 where they diverge */
#define DELTA         1e-9
#define SLACK         1e-13 /* of a sign, relative to max |b| */
#define SLACK_ROUGH   1e-7  /* before the proximal term is gone: it leaves delta in rows that are redundant */
#define LIMIT_CAREFUL 1e-11 /* rounding errors, relative to max |b|, above which sums are doubled */
#define FREE_FRACTION 0.75  /* of the rows, above which the sparse factor of the general solver is better */

static double clamp(double z, double lo, double hi) { return z < lo ? lo : z > hi ? hi : z; }

enum { VECTORS = 11 };

static int capacity_of(int size) { return size < MOST_FREE ? size : MOST_FREE; }

size_t lcp_active_room(int size) {
    size_t n = (size_t)size, bytes = 2 * n * sizeof(int) + n;
    return VECTORS * n + (bytes + sizeof(double) - 1) / sizeof(double) + lcp_triangle_room(capacity_of(size));
}

void lcp_active_init(lcp_active *s, double *room, const abut_lcp *problem, const lcp_rows *rows,
                     const double *diagonal) {
    size_t n = (size_t)rows->size;
    *s = (lcp_active){.rows = *rows, .b = problem->b, .diagonal = diagonal};
    double **vectors[VECTORS] = {&s->lo,          &s->hi,       &s->z,    &s->w,    &s->moved,     &s->center,
                                 &s->size_of_row, &s->gradient, &s->line, &s->step, &s->reciprocal};
    for (int i = 0; i < VECTORS; i++, room += n) *vectors[i] = room;
    s->capacity = capacity_of(rows->size);
    lcp_triangle_init(&s->factor, room, s->capacity), room += lcp_triangle_room(s->capacity);
    s->free = (int *)room, s->where = s->free + n, s->state = (uint8_t *)(s->where + n);
    for (size_t i = 0; i < n; i++) {
        double size = fabs(problem->b[i]);
        s->unit = size > s->unit ? size : s->unit;
        s->lo[i] = problem->lo ? problem->lo[i] : 0;
        s->hi[i] = problem->hi ? problem->hi[i] : (double)INFINITY;
    }
    if (!(s->unit > 0)) s->unit = 1;
}

/* x += A_i factor */
static inline void add_row(const lcp_active *s, int i, double factor, double *restrict x) {
    int k = s->rows.start[i], end = s->rows.start[i + 1];
    const int *restrict column = s->rows.column;
    const double *restrict value = s->rows.value;
    for (; k + 4 <= end; k += 4) {
        x[column[k]] += value[k] * factor, x[column[k + 1]] += value[k + 1] * factor;
        x[column[k + 2]] += value[k + 2] * factor, x[column[k + 3]] += value[k + 3] * factor;
    }
    for (; k < end; k++) x[column[k]] += value[k] * factor;
}

static double doubled_sum(const lcp_active *s, int i) {
    lcp_sum sum = {s->b[i], 0};
    for (int k = s->rows.start[i]; k < s->rows.start[i + 1]; k++)
        if (s->z[s->rows.column[k]] != 0) lcp_sum_product(&sum, s->rows.value[k], s->z[s->rows.column[k]]);
    return sum.s + sum.e;
}

/* (A z + b)_i, and |A||z| + |b|. */
static double row_sum(const lcp_active *s, int i, double *size) {
    const int *column = s->rows.column;
    const double *value = s->rows.value;
    double sum = s->b[i], all = fabs(sum);
    for (int k = s->rows.start[i], end = s->rows.start[i + 1]; k < end; k++) {
        double term = value[k] * s->z[column[k]];
        sum += term, all += fabs(term);
    }
    *size = all;
    return sum;
}

/* The gradient of f in row i, from w. */
static double gradient_of(const lcp_active *s, int i) {
    return s->w[i] + DELTA * s->diagonal[i] * (s->z[i] - s->center[i]);
}

/* w = A z + b from nothing, |A||z| + |b|, and the gradient of the free rows. */
static void evaluate(lcp_active *s) {
    for (int m = 0; m < s->size; m++) {
        int i = s->member[m];
        double w = row_sum(s, i, &s->size_of_row[i]);
        s->w[i] = s->careful ? doubled_sum(s, i) : w;
    }
    for (int p = 0; p < s->factor.count; p++) s->gradient[p] = gradient_of(s, s->free[p]), s->moved[p] = 0;
}

/* The same w by the rows that moved, at the minimum over the free rows. */
static void follow(lcp_active *s) {
    for (int p = 0; p < s->factor.count; p++) {
        if (s->moved[p] != 0) add_row(s, s->free[p], s->moved[p], s->w);
        s->gradient[p] = s->moved[p] = 0;
    }
}

/* c := z */
static void recenter(lcp_active *s) {
    for (int m = 0; m < s->size; m++) s->center[s->member[m]] = s->z[s->member[m]];
    for (int p = 0; p < s->factor.count; p++) s->gradient[p] = s->w[s->free[p]];
}

/* ---- the factor */

/* Row i, at a bound so far, becomes free.  False when there is no room. */
static bool join(lcp_active *s, int i) {
    double *x = s->line;
    int place = s->factor.count;
    memset(x, 0, (size_t)place * sizeof *x);
    for (int k = s->rows.start[i]; k < s->rows.start[i + 1]; k++) {
        int p = s->where[s->rows.column[k]];
        if (p >= 0) x[p] = s->rows.value[k];
    }
    if (!lcp_triangle_join(&s->factor, x, s->diagonal[i] * (1 + DELTA), DELTA * s->diagonal[i])) return false;
    s->where[i] = place, s->free[place] = i, s->state[i] = ABUT_LCP_FREE;
    s->gradient[place] = gradient_of(s, i), s->moved[place] = 0;
    return true;
}

/* The row at place p is at its bound. */
static void leave(lcp_active *s, int p, uint8_t state) {
    int i = s->free[p], last = s->factor.count - 1;
    double bound = state == ABUT_LCP_AT_LOWER ? s->lo[i] : s->hi[i];
    s->moved[p] += bound - s->z[i], s->z[i] = bound, s->where[i] = -1, s->state[i] = state;
    if (s->moved[p] != 0) add_row(s, i, s->moved[p], s->w);
    lcp_triangle_leave(&s->factor, p);
    for (; p < last; p++) {
        s->free[p] = s->free[p + 1], s->where[s->free[p]] = p;
        s->gradient[p] = s->gradient[p + 1], s->moved[p] = s->moved[p + 1];
    }
}

/* How far row i is from its nearer bound, in units of w. */
static double strength(const lcp_active *s, int i) {
    double low = s->z[i] - s->lo[i], high = s->hi[i] - s->z[i];
    return s->diagonal[i] * (low < high ? low : high);
}

/* All free rows; those nearest to a bound last, where they leave at least cost. */
static bool factor(lcp_active *s, abut_lcp_result *result) {
    int *sorted = s->free, count = 0;
    for (int m = 0; m < s->size; m++) {
        int i = s->member[m];
        s->where[i] = -1;
        if (s->state[i] != ABUT_LCP_FREE) continue;
        double own = s->line[i] = strength(s, i);
        int p = count++;
        for (; p > 0 && s->line[sorted[p - 1]] < own; p--) sorted[p] = sorted[p - 1];
        sorted[p] = i;
    }
    s->factor.count = 0;
    result->factorizations++;
    for (int p = 0; p < count; p++)
        if (!join(s, sorted[p])) return false;
    return true;
}

/* step_F = -H^-1 gradient_F; on the way most often one row alone has a gradient, the last that joined. */
static void newton_step(lcp_active *s) {
    int count = s->factor.count, first = count;
    for (int p = count - 1; p >= 0; p--) {
        s->step[p] = -s->gradient[p];
        if (s->step[p] != 0) first = p;
    }
    lcp_triangle_solve(&s->factor, s->step, first);
}

/* ---- the first guess */

static uint8_t state_of(const lcp_active *s, int i) {
    return s->z[i] <= s->lo[i] ? ABUT_LCP_AT_LOWER : s->z[i] >= s->hi[i] ? ABUT_LCP_AT_UPPER : ABUT_LCP_FREE;
}

/* A sweep of projected successive over-relaxation; w follows z, so that a row that stays where it is costs
 * nothing.  Returns how many rows changed their state. */
static int sweep(lcp_active *s, double relaxation) {
    int changes = 0;
    for (int m = 0; m < s->size; m++) {
        int i = s->member[m];
        double z = s->z[i], to = clamp(z - relaxation * s->w[i] * s->reciprocal[i], s->lo[i], s->hi[i]);
        if (to == z) continue;
        s->z[i] = to;
        add_row(s, i, to - z, s->w);
        uint8_t state = state_of(s, i);
        changes += state != s->state[i], s->state[i] = state;
    }
    return changes;
}

static int count_free(const lcp_active *s) {
    int count = 0;
    for (int m = 0; m < s->size; m++) count += s->state[s->member[m]] == ABUT_LCP_FREE;
    return count;
}

/* Sweeps until no row changes its state: a sweep is cheaper than a single exchange here.  False when most
 * rows of a large group hold: after three sweeps 0.8 of the rows are free in stacks and walls, whose rows all
 * hold in the end, and 0.3 to 0.65 in random piles. */
static bool sweeps(lcp_active *s) {
    for (int round = 0; round < SWEEPS; round++) {
        int changes = sweep(s, round < FIRST_SWEEPS ? 1 : RELAXATION);
        if (round + 1 < FIRST_SWEEPS) continue;
        if (round + 1 == FIRST_SWEEPS && count_free(s) > FREE_FRACTION * s->size) return false;
        if (changes == 0) break;
    }
    return count_free(s) <= s->capacity;
}

/* z = 0, or the bound nearest to it. */
static bool guess(lcp_active *s) {
    for (int m = 0; m < s->size; m++) {
        int i = s->member[m];
        s->z[i] = clamp(0, s->lo[i], s->hi[i]), s->w[i] = s->b[i];
        s->state[i] = state_of(s, i);
    }
    for (int m = 0; m < s->size; m++)
        if (s->z[s->member[m]] != 0) add_row(s, s->member[m], s->z[s->member[m]], s->w);
    return s->size <= LCP_SMALL || sweeps(s);
}

/* The caller's memory: rows at the bounds of their states, free rows within theirs. */
static bool remember(lcp_active *s, const uint8_t *state, const double *z) {
    for (int m = 0; m < s->size; m++) {
        int i = s->member[m];
        double own = isfinite(z[i]) ? z[i] : 0;
        s->state[i] = state[i];
        if (state[i] == ABUT_LCP_AT_LOWER && isfinite(s->lo[i])) own = s->lo[i];
        if (state[i] == ABUT_LCP_AT_UPPER && isfinite(s->hi[i])) own = s->hi[i];
        s->z[i] = s->center[i] = clamp(own, s->lo[i], s->hi[i]);
        if (s->lo[i] == s->hi[i] || state[i] != ABUT_LCP_FREE) s->state[i] = state_of(s, i);
    }
    evaluate(s);
    return count_free(s) <= s->capacity;
}

/* ---- rounds */

/* By how much the sign of row i, at a bound, is wrong: f falls when it becomes free.  0 also where w and the
 * gradient, which differ by the proximal term alone, disagree. */
static inline double urge(const lcp_active *s, int i, double slack) {
    double sign = s->state[i] == ABUT_LCP_AT_LOWER ? -1 : 1;
    if (s->state[i] == ABUT_LCP_FREE || !(sign * s->w[i] > slack) || s->lo[i] == s->hi[i]) return 0;
    double by = sign * gradient_of(s, i);
    return by > slack ? by : 0;
}

/* Whether rounding may have made it so; not asked for what is far above the rounding of forces of 1e9. */
static bool is_rounding(const lcp_active *s, int i, double by) {
    double size;
    if (by > 1e-6 * s->unit) return false;
    row_sum(s, i, &size);
    return by <= SLACK * s->unit + 4 * LCP_ROUNDING * size;
}

/* The row whose sign is wrong by most becomes free, by what it alone would gain, g^2 / a_ii.  -1: no room; 0:
 * there is none. */
static int join_worst(lcp_active *s) {
    double slack = (s->rough ? SLACK_ROUGH : SLACK) * s->unit;
    bool exact = false;
    for (;; exact = true) {
        int worst = -1;
        double most = 0, own = 0;
        for (int m = 0; m < s->size; m++) {
            int i = s->member[m];
            double by = urge(s, i, slack), gain = by * by * s->reciprocal[i];
            if (gain > most && !(exact && is_rounding(s, i, by))) most = gain, own = by, worst = i;
        }
        if (worst < 0) return 0;
        if (exact || !is_rounding(s, worst, own)) return join(s, worst) ? 1 : -1;
    }
}

/* z + alpha step for the largest alpha <= 1 within the bounds; the row that bounds it leaves the factor.
 * False when the whole step was taken. */
static bool advance(lcp_active *s) {
    int blocking = -1, count = s->factor.count;
    double alpha = 1;
    for (int p = 0; p < count; p++) {
        int i = s->free[p];
        double step = s->step[p], room = step < 0 ? s->z[i] - s->lo[i] : s->hi[i] - s->z[i];
        if (room < alpha * fabs(step)) alpha = room / fabs(step), blocking = p;
    }
    for (int p = 0; p < count; p++) {
        int i = s->free[p];
        double step = alpha * s->step[p];
        s->gradient[p] *= 1 - alpha, s->moved[p] += step;
        s->z[i] = clamp(s->z[i] + step, s->lo[i], s->hi[i]);
    }
    if (blocking >= 0) leave(s, blocking, s->step[blocking] < 0 ? ABUT_LCP_AT_LOWER : ABUT_LCP_AT_UPPER);
    return blocking >= 0;
}

/* Until no row has a wrong sign.  False when the room or the budget is used up. */
static bool settle(lcp_active *s, abut_lcp_result *result) {
    for (int round = 0; round < 40 + 4 * s->size; round++) {
        newton_step(s);
        if (!advance(s)) {
            if (s->rough)
                follow(s);
            else
                evaluate(s);
            int joined = join_worst(s);
            if (joined <= 0) return joined == 0;
        }
        result->pivots++;
    }
    return false;
}

static double residual_of(const lcp_active *s, double *attainable) {
    double worst = 0, size = 0;
    for (int m = 0; m < s->size; m++) {
        int i = s->member[m];
        if (!isfinite(s->w[i]) || !isfinite(s->z[i])) return *attainable = 0, (double)INFINITY;
        double w = s->w[i], room = s->diagonal[i] * (w > 0 ? s->z[i] - s->lo[i] : s->hi[i] - s->z[i]),
               by = fabs(w) < room ? fabs(w) : room;
        worst = by > worst ? by : worst, size = s->size_of_row[i] > size ? s->size_of_row[i] : size;
    }
    *attainable = LCP_ROUNDING * size / s->unit;
    return worst / s->unit;
}

/* Proximal steps with the factor at hand until the residual is that of rounding; where sums are doubled, on
 * until it falls no more, since rows outside multiply it by |A_LF A_FF^-1|.  False when that does not come
 * quickly. */
static bool refine(lcp_active *s, abut_lcp_result *result, double *residual, double *attainable) {
    bool good = false;
    double last = (double)INFINITY;
    s->rough = false;
    for (int round = 0; round < MOST_REFINEMENTS; round++, last = *residual) {
        recenter(s);
        if (!settle(s, result)) return false;
        *residual = residual_of(s, attainable);
        if (!s->careful && 64 * *attainable > LIMIT_CAREFUL) {
            s->careful = true, evaluate(s);
            *residual = residual_of(s, attainable);
        }
        good = *residual <= 1e-14 + *attainable;
        if (good && (!s->careful || *residual > 0.5 * last)) break;
    }
    return good;
}

static void write_back(const lcp_active *s, uint8_t *state, double *z, double *w) {
    for (int m = 0; m < s->size; m++) {
        int i = s->member[m];
        bool zero = s->state[i] == ABUT_LCP_FREE || fabs(s->w[i]) <= 4 * LCP_ROUNDING * s->size_of_row[i];
        z[i] = s->z[i], w[i] = zero ? 0 : s->w[i], state[i] = s->state[i];
    }
}

bool lcp_active_solve(lcp_active *s, const int *member, int count, bool warm, uint8_t *state, double *z,
                      double *w, abut_lcp_result *result) {
    double residual = 0, attainable = 0;
    s->member = member, s->size = count;
    s->careful = false, s->factor.stride = count < s->capacity ? count : s->capacity;
    for (int m = 0; m < count; m++) {
        if (!(s->diagonal[member[m]] > 0)) return false;
        s->reciprocal[member[m]] = 1 / s->diagonal[member[m]];
    }
    if (!(warm ? remember(s, state, z) : guess(s))) return false;
    s->rough = true;
    recenter(s);
    if (!factor(s, result) || !settle(s, result) || !refine(s, result, &residual, &attainable)) return false;
    write_back(s, state, z, w);
    result->residual = residual > result->residual ? residual : result->residual;
    result->attainable = attainable > result->attainable ? attainable : result->attainable;
    return true;
}
