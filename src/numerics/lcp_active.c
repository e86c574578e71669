/* The exact solver for groups in which most contacts vanish: an active-set method on a dense factor of the
 * free rows only, for 15 to a thousand coupled rows.
 *
 * In a random pile one contact in three carries a force.  A factor of all rows, Baraff's first guess, is then
 * wasted, and block exchanges go in circles; here a few sweeps of over-relaxed Gauss-Seidel choose the free
 * rows, and from there on
 *
 *     f(z) = z.(A z) / 2 + b.z + delta/2 (z - c).D (z - c),   D = diag(A),   lo <= z <= hi
 *
 * falls in every round: to the minimum over the free rows, or along the way to it, bent at the bounds, as far
 * as f falls.  Rows that reach a bound leave the factor, rows whose sign is wrong join it, one row of L D L^T
 * at a time (Gill, Golub, Murray and Saunders 1974, method C1).  While f falls no set of free rows comes
 * back, so the method ends.  As in lcp_small.c proximal steps (c := z) then take delta away again.
 *
 * On the way only the gradient g of the free rows is known: with H = A_FF + delta D the step s = -H^-1 g, cut
 * by e at the bounds, goes to alpha s + e, and H (alpha s + e) = -alpha g + H e wants the few columns of H
 * whose row was cut.  The rows at bounds are looked at when a step went all the way.
 *
 *     free:   [ row of the problem | ... ]     l:  packed lower triangle in the order of `free`, unit
 * diagonal where:  place in `free`, or -1           inverse: 1 / d
 */
#include "numerics/lcp.h"

#include <math.h>

enum { MOST_FREE = 160, FIRST_SWEEPS = 3, SWEEPS = 14, MOST_REFINEMENTS = 3 };
#define RELAXATION                                                                           \
    1.6 /* of the sweeps: between the 1 of Gauss-Seidel and the 2 where they cease to settle \
         */
#define DELTA         1e-9
#define LIMIT_CAREFUL 1e-12 /* rounding errors, relative to max |b|, above which sums are doubled */
#define FREE_FIRST    0.9   /* fractions of the rows above which the sparse factor of the general solver is */
#define FREE_FRACTION 0.7   /* the better choice: after the first sweeps, after all */

typedef struct active {
    int size, count, capacity; /* rows, free rows, room of the factor */
    bool single;               /* rows join one at a time */
    bool careful;              /* sums in doubled precision */
    double unit;
    int blocking; /* the place that meets its bound first */
    int *start, *column, *free, *where;
    double *value, *diagonal, *b, *lo, *hi, *z, *w, *center, *size_of_row, *gradient;
    double *step, *cut, *change; /* of z, by place; what the bounds cut off it; H cut, by row */
    double *l, *inverse, *column_of_l;
    uint8_t *state;
} active;

static double *row_of(const active *s, int i) { return s->l + (size_t)i * (size_t)(i - 1) / 2; }

static double clamp(double z, double lo, double hi) { return z < lo ? lo : z > hi ? hi : z; }

typedef double four __attribute__((vector_size(32)));

/* Sum of products in four strands, elementwise: the same bits with and without wide registers. */
static inline double dot(const double *a, const double *b, int n) {
    four sum = {0}, x, y;
    double rest = 0;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        memcpy(&x, a + k, sizeof x), memcpy(&y, b + k, sizeof y);
        sum += x * y;
    }
    for (; k < n; k++) rest += a[k] * b[k];
    return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + rest;
}

/* x -= f a */
static inline void subtract(double *x, double f, const double *a, int n) {
    int k = 0;
    for (four y, z; k + 4 <= n; k += 4) {
        memcpy(&y, x + k, sizeof y), memcpy(&z, a + k, sizeof z);
        y -= f * z;
        memcpy(x + k, &y, sizeof y);
    }
    for (; k < n; k++) x[k] -= f * a[k];
}

static bool allocate(active *s, arena *scratch, int count, int entries) {
    size_t n = (size_t)count;
    s->size = count, s->capacity = count < MOST_FREE ? count : MOST_FREE;
    double **vectors[] = {&s->diagonal, &s->b,      &s->lo,          &s->hi,         &s->z,
                          &s->w,        &s->center, &s->size_of_row, &s->gradient,   &s->step,
                          &s->cut,      &s->change, &s->inverse,     &s->column_of_l};
    double *room = arena_alloc(scratch, (size_t)COUNT_OF(vectors) * n, sizeof(double));
    int *numbers = arena_alloc(scratch, 3 * n + 1 + (size_t)entries, sizeof(int));
    s->value = arena_alloc(scratch, (size_t)entries, sizeof(double));
    s->l = arena_alloc(scratch, (size_t)s->capacity * (size_t)(s->capacity + 1) / 2, sizeof(double));
    s->state = arena_alloc(scratch, n, 1);
    if (!room || !numbers || !s->value || !s->l || !s->state) return false;
    for (int i = 0; i < COUNT_OF(vectors); i++) *vectors[i] = room + (size_t)i * n;
    s->free = numbers, s->where = numbers + n, s->start = numbers + 2 * n, s->column = numbers + 3 * n + 1;
    return true;
}

/* The group's own rows.  False when a diagonal is not positive. */
static bool gather(active *s, const abut_lcp *problem, const lcp_rows *rows, const int *member,
                   const int *local) {
    int end = 0;
    s->start[0] = 0;
    for (int i = 0; i < s->size; i++) {
        int row = member[i];
        double diagonal = 0;
        for (int k = rows->start[row]; k < rows->start[row + 1]; k++, end++) {
            s->column[end] = local[rows->column[k]], s->value[end] = rows->value[k];
            if (s->column[end] == i) diagonal = s->value[end];
        }
        s->start[i + 1] = end;
        s->b[i] = problem->b[row], s->lo[i] = problem->lo ? problem->lo[row] : 0;
        s->hi[i] = problem->hi ? problem->hi[row] : (double)INFINITY;
        s->where[i] = -1, s->diagonal[i] = diagonal;
        if (!(diagonal > 0)) return false;
    }
    return true;
}

/* x += A_i factor */
static inline void add_row(const active *s, int i, double factor, double *restrict x) {
    int k = s->start[i], end = s->start[i + 1];
    const int *restrict column = s->column;
    const double *restrict value = s->value;
    for (; k + 4 <= end; k += 4) {
        x[column[k]] += value[k] * factor, x[column[k + 1]] += value[k + 1] * factor;
        x[column[k + 2]] += value[k + 2] * factor, x[column[k + 3]] += value[k + 3] * factor;
    }
    for (; k < end; k++) x[column[k]] += value[k] * factor;
}

static double doubled_sum(const active *s, int i) {
    lcp_sum sum = {s->b[i], 0};
    for (int k = s->start[i]; k < s->start[i + 1]; k++)
        if (s->z[s->column[k]] != 0) lcp_sum_product(&sum, s->value[k], s->z[s->column[k]]);
    return sum.s + sum.e;
}

/* w = A z + b, |A||z| + |b|, and the gradient of f. */
static void evaluate(active *s) {
    for (int i = 0; i < s->size; i++) {
        double sum = s->b[i], size = fabs(sum);
        for (int k = s->start[i], end = s->start[i + 1]; k < end; k++) {
            double term = s->value[k] * s->z[s->column[k]];
            sum += term, size += fabs(term);
        }
        s->w[i] = s->careful ? doubled_sum(s, i) : sum, s->size_of_row[i] = size;
        s->gradient[i] = s->w[i] + DELTA * s->diagonal[i] * (s->z[i] - s->center[i]);
    }
}

/* c := z */
static void recenter(active *s) {
    memcpy(s->center, s->z, (size_t)s->size * sizeof *s->center);
    memcpy(s->gradient, s->w, (size_t)s->size * sizeof *s->gradient);
}

/* ---- the factor */

/* A new last row: L x = a, l = x / d, d_new = a_ii - l.x.  False when there is no room. */
static bool join(active *s, int i) {
    if (s->count == s->capacity) return false;
    double *x = row_of(s, s->count), d = s->diagonal[i] * (1 + DELTA);
    memset(x, 0, (size_t)s->count * sizeof *x);
    for (int k = s->start[i]; k < s->start[i + 1]; k++)
        if (s->where[s->column[k]] >= 0) x[s->where[s->column[k]]] = s->value[k];
    const double *row = s->l;
    for (int j = 0; j < s->count; row += j++) x[j] -= dot(x, row, j);
    for (int j = 0; j < s->count; j++) {
        double l = x[j] * s->inverse[j];
        d -= l * x[j], x[j] = l;
    }
    double least = DELTA * s->diagonal[i];
    s->inverse[s->count] = 1 / (d > least / 4 ? d : least);
    s->where[i] = s->count, s->free[s->count++] = i, s->state[i] = ABUT_LCP_FREE;
    return true;
}

/* How far row i is from its nearer bound, in units of w. */
static double strength(const active *s, int i) {
    return s->diagonal[i] * fmin(s->z[i] - s->lo[i], s->hi[i] - s->z[i]);
}

/* All free rows; those nearest to a bound last, where they leave at least cost. */
static bool factor(active *s, abut_lcp_result *result) {
    int *sorted = s->free, count = 0;
    for (int i = 0; i < s->size; i++) {
        s->where[i] = -1;
        if (s->state[i] != ABUT_LCP_FREE) continue;
        double own = s->change[i] = strength(s, i);
        int p = count++;
        for (; p > 0 && s->change[sorted[p - 1]] < own; p--) sorted[p] = sorted[p - 1];
        sorted[p] = i;
    }
    s->count = 0;
    result->factorizations++;
    for (int p = 0; p < count; p++)
        if (!join(s, sorted[p])) return false;
    return true;
}

/* Row p leaves: L33 D33 L33^T + d_p l l^T is factored anew, row by row, where l is column p below it. */
static void leave(active *s, int i, uint8_t state) {
    int p = s->where[i];
    double weight = 1 / s->inverse[p], *beta = s->column_of_l, *x = s->change;
    s->count--;
    for (int r = p; r < s->count; r++) { /* method C1; rows move up by one and lose entry p */
        const double *from = row_of(s, r + 1);
        double *to = row_of(s, r), y = from[p];
        memcpy(to, from, (size_t)p * sizeof *to);
        for (int j = p; j < r; j++) {
            double l = from[j + 1];
            y -= x[j] * l, to[j] = l + beta[j] * y;
        }
        double d = 1 / s->inverse[r + 1], new_d = d + weight * y * y;
        x[r] = y, beta[r] = weight * y / new_d, weight *= d / new_d, s->inverse[r] = 1 / new_d;
        s->free[r] = s->free[r + 1], s->where[s->free[r]] = r;
    }
    s->where[i] = -1, s->state[i] = state;
    s->z[i] = state == ABUT_LCP_AT_LOWER ? s->lo[i] : s->hi[i];
}

/* step_F = -H^-1 gradient_F, by place in `free`. */
static void newton_step(active *s) {
    double *x = s->step;
    const double *row = s->l;
    for (int p = 0; p < s->count; row += p++) x[p] = -s->gradient[s->free[p]] - dot(row, x, p);
    for (int p = 0; p < s->count; p++) x[p] *= s->inverse[p];
    for (int p = s->count - 1; p > 0; p--) subtract(x, x[p], row -= p, p);
}

/* ---- rounds */

static int count_free(const active *s) {
    int count = 0;
    for (int i = 0; i < s->size; i++) count += s->lo[i] < s->z[i] && s->z[i] < s->hi[i];
    return count;
}

/* Sweeps of projected Gauss-Seidel from the bounds nearest to 0, then of successive over-relaxation, and
 * which rows they leave free.  w follows z, so that a row that stays where it is costs nothing.  False when
 * most rows hold. */
static bool sweep(active *s) {
    double most = s->size <= LCP_SMALL ? s->size : FREE_FIRST * s->size;
    for (int i = 0; i < s->size; i++) {
        s->z[i] = 0, s->w[i] = s->b[i];
        s->step[i] = 1 / s->diagonal[i];
    }
    for (int round = 0; round < SWEEPS; round++) {
        double relaxation = round < FIRST_SWEEPS ? 1 : RELAXATION;
        for (int i = 0; i < s->size; i++) {
            double z = clamp(s->z[i] - relaxation * s->w[i] * s->step[i], s->lo[i], s->hi[i]),
                   change = z - s->z[i];
            s->z[i] = z;
            if (change != 0) add_row(s, i, change, s->w);
        }
        if (round + 1 == FIRST_SWEEPS && count_free(s) > most) return false;
    }
    for (int i = 0; i < s->size; i++)
        s->state[i] = s->lo[i] < s->z[i] && s->z[i] < s->hi[i] ? ABUT_LCP_FREE
                      : s->z[i] <= s->lo[i]                    ? ABUT_LCP_AT_LOWER
                                                               : ABUT_LCP_AT_UPPER;
    return count_free(s) <= fmin(s->size <= LCP_SMALL ? s->size : FREE_FRACTION * s->size, s->capacity);
}

/* Whether row i, at a bound, has a sign that lets f fall when it becomes free; by how much. */
static double urge(const active *s, int i) {
    double g = s->gradient[i], slack = 1e-13 * s->unit + 4 * LCP_ROUNDING * s->size_of_row[i];
    if (s->state[i] == ABUT_LCP_FREE || s->lo[i] == s->hi[i]) return 0;
    g = s->state[i] == ABUT_LCP_AT_LOWER ? -g : g;
    return g > slack ? g : 0;
}

/* Rows with a wrong sign become free: all, or the worst.  -1: no room; otherwise how many. */
static int join_wrong(active *s) {
    int count = 0, worst = -1;
    double most = 0;
    for (int i = 0; i < s->size; i++) {
        double by = urge(s, i);
        if (!(by > 0)) continue;
        if (!s->single && !join(s, i)) return -1;
        count++;
        if (by > most) most = by, worst = i;
    }
    if (s->single && worst >= 0 && !join(s, worst)) return -1;
    return count;
}

/* f(z + alpha step + cut) - f(z), where the cut keeps z within its bounds; H cut is left in `change`. */
static double bent_change(active *s, double alpha) {
    double f = 0;
    memset(s->change, 0, (size_t)s->size * sizeof *s->change);
    for (int p = 0; p < s->count; p++) {
        int i = s->free[p];
        double to = s->z[i] + alpha * s->step[p], cut = clamp(to, s->lo[i], s->hi[i]) - to;
        s->cut[p] = cut;
        if (cut == 0) continue;
        add_row(s, i, cut, s->change);
        s->change[i] += DELTA * s->diagonal[i] * cut;
    }
    for (int p = 0; p < s->count; p++) {
        int i = s->free[p];
        f += (alpha * s->step[p] + s->cut[p]) * ((1 - 0.5 * alpha) * s->gradient[i] + 0.5 * s->change[i]);
    }
    return f;
}

/* Goes to clamp(z + alpha step), for which `change` was computed; rows that
 * reach a bound, or would pass the one they are at, leave the factor. */
static int bend(active *s, double alpha) {
    int left = 0;
    for (int p = 0; p < s->count; p++) {
        int i = s->free[p];
        s->gradient[i] = (1 - alpha) * s->gradient[i] + s->change[i];
        s->z[i] = clamp(s->z[i] + alpha * s->step[p], s->lo[i], s->hi[i]);
        if (p == s->blocking) s->z[i] = s->step[p] < 0 ? s->lo[i] : s->hi[i]; /* rounding may stop short */
    }
    for (int p = s->count - 1; p >= 0; p--) {
        int i = s->free[p];
        if (s->z[i] <= s->lo[i] && s->step[p] < 0)
            leave(s, i, ABUT_LCP_AT_LOWER), left++;
        else if (s->z[i] >= s->hi[i] && s->step[p] > 0)
            leave(s, i, ABUT_LCP_AT_UPPER), left++;
    }
    return left;
}

/* The largest alpha <= 1 with z + alpha step within the bounds, and the place of the row that bounds it. */
static double first_bound(active *s) {
    double alpha = 1;
    s->blocking = -1;
    for (int p = 0; p < s->count; p++) {
        int i = s->free[p];
        double room = s->step[p] < 0 ? s->lo[i] - s->z[i] : s->hi[i] - s->z[i];
        if (s->step[p] != 0 && room / s->step[p] < alpha) alpha = room / s->step[p], s->blocking = p;
    }
    return alpha > 0 ? alpha : 0;
}

/* A step that meets bounds: the longest of 1, 1/4, ... along which f falls, bent; or as far as it is
 * straight. Returns how many rows left. */
static int cut_short(active *s, double straight) {
    double alpha = 1;
    while (alpha > straight && !(bent_change(s, alpha) < 0)) alpha /= 4;
    if (alpha <= straight) {
        alpha = straight, s->single |= straight == 0;
        bent_change(s, alpha);
    } else
        s->blocking = -1;
    return bend(s, alpha);
}

/* Until no row has a wrong sign.  False when the room or the budget is used up. */
static bool settle(active *s, abut_lcp_result *result) {
    for (int round = 0; round < 40 + 4 * s->size; round++) {
        newton_step(s);
        double straight = first_bound(s);
        if (straight < 1) {
            result->pivots += cut_short(s, straight);
            continue;
        }
        for (int p = 0; p < s->count; p++) {
            int i = s->free[p];
            s->z[i] = clamp(s->z[i] + s->step[p], s->lo[i], s->hi[i]);
        }
        evaluate(s);
        int joined = join_wrong(s);
        if (joined <= 0) return joined == 0;
        result->pivots += s->single ? 1 : joined;
    }
    return false;
}

static double residual_of(const active *s, double *attainable) {
    double worst = 0, size = 0;
    for (int i = 0; i < s->size; i++) {
        double w = s->w[i], room = s->diagonal[i] * (w > 0 ? s->z[i] - s->lo[i] : s->hi[i] - s->z[i]);
        worst = fmax(worst, fmin(fabs(w), room)), size = fmax(size, s->size_of_row[i]);
    }
    *attainable = LCP_ROUNDING * size / s->unit;
    return worst / s->unit;
}

/* Proximal steps with the factor at hand until the residual is that of rounding.  False when that does not
 * come quickly. */
static bool refine(active *s, abut_lcp_result *result, double *residual, double *attainable) {
    for (int round = 0; round <= MOST_REFINEMENTS; round++) {
        *residual = residual_of(s, attainable);
        if (!s->careful && 64 * *attainable > LIMIT_CAREFUL) {
            s->careful = true, evaluate(s);
            *residual = residual_of(s, attainable);
        }
        if (*residual <= 1e-14 + *attainable) return true;
        recenter(s);
        if (!settle(s, result)) return false;
    }
    return false;
}

static void write_back(const active *s, const int *member, uint8_t *state, double *z, double *w) {
    for (int i = 0; i < s->size; i++) {
        bool zero = s->state[i] == ABUT_LCP_FREE || fabs(s->w[i]) <= 4 * LCP_ROUNDING * s->size_of_row[i];
        z[member[i]] = s->z[i], w[member[i]] = zero ? 0 : s->w[i], state[member[i]] = s->state[i];
    }
}

bool lcp_active(arena *scratch, const abut_lcp *problem, const lcp_rows *rows, const int *member, int count,
                const int *local, double unit, uint8_t *state, double *z, double *w,
                abut_lcp_result *result) {
    active s = {.unit = unit};
    int entries = 0;
    double residual = 0, attainable = 0;
    for (int i = 0; i < count; i++) entries += rows->start[member[i] + 1] - rows->start[member[i]];
    if (!allocate(&s, scratch, count, entries) || !gather(&s, problem, rows, member, local)) return false;
    if (!sweep(&s)) return false;
    recenter(&s);
    if (!factor(&s, result) || !settle(&s, result) || !refine(&s, result, &residual, &attainable))
        return false;
    write_back(&s, member, state, z, w);
    result->residual = fmax(result->residual, residual);
    result->attainable = fmax(result->attainable, attainable);
    return true;
}
