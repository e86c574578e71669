/* The exact solver for groups in which most contacts vanish: an active-set method on a dense factor of the
 * free rows only, for 33 to a few hundred coupled rows.
 *
 * In a random pile one contact in three carries a force.  A factor of all rows, Baraff's first guess, is then
 * wasted, and block exchanges go in circles; here a few sweeps of projected Gauss-Seidel choose the free
 * rows, and from there on
 *
 *     f(z) = z.(A z) / 2 + b.z + delta/2 (z - c).D (z - c),   D = diag(A),   lo <= z <= hi
 *
 * falls in every round: to the minimum over the free rows, or along the way to it, bent at the bounds, as far
 * as f falls.  Rows that reach a bound leave the factor, rows whose sign is wrong join it, one row of L D L^T
 * at a time (Gill, Golub, Murray and Saunders 1974, method C1).  While f falls no set of free rows comes
 * back, so the method ends.  As in lcp_small.c proximal steps (c := z) then take delta away again.
 *
 *     free:   [ row of the problem | ... ]     l:  packed lower triangle in the order of `free`, unit
 * diagonal where:  place in `free`, or -1           inverse: 1 / d
 */
#include "numerics/lcp.h"

#include <math.h>

enum { MOST_FREE = 160, SWEEPS = 5, MOST_REFINEMENTS = 3 };
#define DELTA         1e-9
#define DELTA_FAR     1e-3 /* at first: redundant rows make no huge steps */
#define FREE_FRACTION 0.7  /* above it the sparse factor of the general solver is the better choice */

typedef struct active {
    int size, count, capacity; /* rows, free rows, room of the factor */
    bool single;               /* rows join one at a time */
    double unit, delta;
    int blocking; /* the row that meets its bound first */
    int *start, *column, *free, *where;
    double *value, *diagonal, *b, *lo, *hi, *z, *w, *center, *size_of_row;
    double *step, *bent, *change; /* of z; cut to the bounds; A bent */
    double *l, *inverse, *column_of_l;
    uint8_t *state;
} active;

static double *row_of(const active *s, int i) { return s->l + (size_t)i * (size_t)(i - 1) / 2; }

static double clamp(double z, double lo, double hi) { return z < lo ? lo : z > hi ? hi : z; }

/* Sum of products in four strands, which the processor works on at once; always the same order. */
static double dot(const double *a, const double *b, int n) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        s0 += a[k] * b[k], s1 += a[k + 1] * b[k + 1];
        s2 += a[k + 2] * b[k + 2], s3 += a[k + 3] * b[k + 3];
    }
    for (; k < n; k++) s0 += a[k] * b[k];
    return (s0 + s1) + (s2 + s3);
}

static double gradient(const active *s, int i) {
    return s->w[i] + s->delta * s->diagonal[i] * (s->z[i] - s->center[i]);
}

static bool allocate(active *s, arena *scratch, int count, int entries) {
    size_t n = (size_t)count;
    s->size = count, s->capacity = count < MOST_FREE ? count : MOST_FREE;
    double **vectors[] = {&s->diagonal, &s->b,       &s->lo,          &s->hi,   &s->z,
                          &s->w,        &s->center,  &s->size_of_row, &s->step, &s->bent,
                          &s->change,   &s->inverse, &s->column_of_l, NULL};
    for (int i = 0; vectors[i]; i++)
        if (!(*vectors[i] = arena_alloc(scratch, n, sizeof(double)))) return false;
    s->start = arena_alloc(scratch, n + 1, sizeof(int));
    s->column = arena_alloc(scratch, (size_t)entries, sizeof(int));
    s->value = arena_alloc(scratch, (size_t)entries, sizeof(double));
    s->free = arena_alloc(scratch, n, sizeof(int)), s->where = arena_alloc(scratch, n, sizeof(int));
    s->l = arena_alloc(scratch, (size_t)s->capacity * (size_t)(s->capacity + 1) / 2, sizeof(double));
    s->state = arena_alloc(scratch, n, 1);
    return s->start && s->column && s->value && s->free && s->where && s->l && s->state;
}

/* The group's own rows.  False when a diagonal is not positive. */
static bool gather(active *s, const abut_lcp *problem, const lcp_rows *rows, const int *member,
                   const int *local) {
    int end = 0;
    for (int i = 0; i < s->size; i++) {
        int row = member[i];
        for (int k = rows->start[row]; k < rows->start[row + 1]; k++, end++) {
            s->column[end] = local[rows->column[k]], s->value[end] = rows->value[k];
            if (s->column[end] == i) s->diagonal[i] = s->value[end];
        }
        s->start[i + 1] = end;
        s->b[i] = problem->b[row], s->lo[i] = problem->lo ? problem->lo[row] : 0;
        s->hi[i] = problem->hi ? problem->hi[row] : (double)INFINITY;
        s->where[i] = -1;
        if (!(s->diagonal[i] > 0)) return false;
    }
    return true;
}

/* w = A z + b, and |A||z| + |b|. */
static void evaluate(active *s) {
    for (int i = 0; i < s->size; i++) {
        double sum = s->b[i], size = fabs(sum);
        for (int k = s->start[i], end = s->start[i + 1]; k < end; k++) {
            double term = s->value[k] * s->z[s->column[k]];
            sum += term, size += fabs(term);
        }
        s->w[i] = sum, s->size_of_row[i] = size;
    }
}

/* ---- the factor */

/* A new last row: L x = a, l = x / d, d_new = a_ii - l.x.  False when there is no room. */
static bool join(active *s, int i) {
    if (s->count == s->capacity) return false;
    double *x = row_of(s, s->count), d = s->diagonal[i] * (1 + s->delta);
    for (int j = 0; j < s->count; j++) x[j] = 0;
    for (int k = s->start[i]; k < s->start[i + 1]; k++)
        if (s->where[s->column[k]] >= 0) x[s->where[s->column[k]]] = s->value[k];
    for (int j = 0; j < s->count; j++) x[j] -= dot(x, row_of(s, j), j);
    for (int j = 0; j < s->count; j++) {
        double l = x[j] * s->inverse[j];
        d -= l * x[j], x[j] = l;
    }
    double least = s->delta * s->diagonal[i];
    s->inverse[s->count] = 1 / (d > least / 4 ? d : least);
    s->where[i] = s->count, s->free[s->count++] = i, s->state[i] = ABUT_LCP_FREE;
    return true;
}

/* All free rows, for another delta. */
static bool factor(active *s, double delta, abut_lcp_result *result) {
    s->delta = delta, s->count = 0;
    result->factorizations++;
    for (int i = 0; i < s->size; i++) s->where[i] = -1;
    for (int i = 0; i < s->size; i++)
        if (s->state[i] == ABUT_LCP_FREE && !join(s, i)) return false;
    return true;
}

/* Row p leaves: L33 D33 L33^T + d_p l l^T is factored anew, column by column, where l is column p below it.
 */
static void leave(active *s, int i, uint8_t state) {
    int p = s->where[i];
    double weight = 1 / s->inverse[p], *column = s->column_of_l;
    for (int r = p + 1; r < s->count; r++) { /* rows move up by one and lose entry p */
        const double *from = row_of(s, r);
        double *to = row_of(s, r - 1);
        column[r - 1] = from[p];
        memmove(to, from, (size_t)p * sizeof *to);
        memmove(to + p, from + p + 1, (size_t)(r - 1 - p) * sizeof *to);
        s->inverse[r - 1] = s->inverse[r], s->free[r - 1] = s->free[r], s->where[s->free[r]] = r - 1;
    }
    s->count--;
    for (int j = p; j < s->count; j++) { /* method C1 */
        double x = column[j], d = 1 / s->inverse[j], new_d = d + weight * x * x, beta = weight * x / new_d;
        weight *= d / new_d, s->inverse[j] = 1 / new_d;
        for (int r = j + 1; r < s->count; r++) {
            double *l = row_of(s, r) + j;
            column[r] -= x * *l, *l += beta * column[r];
        }
    }
    s->where[i] = -1, s->state[i] = state;
    s->z[i] = state == ABUT_LCP_AT_LOWER ? s->lo[i] : s->hi[i];
}

/* step_F = -(A_FF + delta D)^-1 gradient_F, by place in `free`. */
static void newton_step(active *s) {
    double *x = s->step;
    for (int i = 0; i < s->count; i++) x[i] = -gradient(s, s->free[i]) - dot(row_of(s, i), x, i);
    for (int i = 0; i < s->count; i++) x[i] *= s->inverse[i];
    for (int i = s->count - 1; i > 0; i--) {
        const double *l = row_of(s, i);
        for (int j = 0; j < i; j++) x[j] -= l[j] * x[i];
    }
}

/* ---- rounds */

/* Sweeps of projected Gauss-Seidel from the bounds nearest to 0, and which rows they leave free. */
static int sweep(active *s) {
    int free_count = 0;
    for (int i = 0; i < s->size; i++) {
        s->z[i] = clamp(0, s->lo[i], s->hi[i]);
        s->change[i] = 1 / s->diagonal[i];
    }
    for (int round = 0; round < SWEEPS; round++)
        for (int i = 0; i < s->size; i++) {
            double sum = s->b[i];
            for (int k = s->start[i], end = s->start[i + 1]; k < end; k++)
                sum += s->value[k] * s->z[s->column[k]];
            s->z[i] = clamp(s->z[i] - sum * s->change[i], s->lo[i], s->hi[i]);
        }
    for (int i = 0; i < s->size; i++) {
        s->state[i] = s->lo[i] < s->z[i] && s->z[i] < s->hi[i] ? ABUT_LCP_FREE
                      : s->z[i] <= s->lo[i]                    ? ABUT_LCP_AT_LOWER
                                                               : ABUT_LCP_AT_UPPER;
        free_count += s->state[i] == ABUT_LCP_FREE;
    }
    return free_count;
}

/* Whether row i, at a bound, has a sign that lets f fall when it becomes free; by how much relative to D. */
static double urge(const active *s, int i) {
    double g = gradient(s, i), slack = 1e-13 * s->unit + 4 * LCP_ROUNDING * s->size_of_row[i];
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

/* f(z + bent) - f(z) where bent = clamp(z + alpha step) - z; A bent is left in `change`. */
static double bent_change(active *s, double alpha) {
    double f = 0;
    memset(s->change, 0, (size_t)s->size * sizeof *s->change);
    for (int p = 0; p < s->count; p++) {
        int i = s->free[p];
        double bent = clamp(s->z[i] + alpha * s->step[p], s->lo[i], s->hi[i]) - s->z[i];
        s->bent[p] = bent;
        if (bent == 0) continue;
        for (int k = s->start[i], end = s->start[i + 1]; k < end; k++)
            s->change[s->column[k]] += s->value[k] * bent;
    }
    for (int p = 0; p < s->count; p++) {
        int i = s->free[p];
        f += s->bent[p] * (gradient(s, i) + 0.5 * (s->change[i] + s->delta * s->diagonal[i] * s->bent[p]));
    }
    return f;
}

/* Goes to clamp(z + alpha step), for which `change` was computed; rows that
 * reach a bound, or would pass the one they are at, leave the factor. */
static int bend(active *s, double alpha) {
    int left = 0;
    for (int i = 0; i < s->size; i++) s->w[i] += s->change[i];
    for (int p = 0; p < s->count; p++) {
        int i = s->free[p];
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

/* Until no row has a wrong sign.  False when the room or the budget is used up. */
static bool settle(active *s, abut_lcp_result *result) {
    for (int round = 0; round < 40 + 4 * s->size; round++) {
        newton_step(s);
        double straight = first_bound(s), alpha = 1;
        if (straight <
            1) { /* the longest of 1, 1/4, ... along which f falls, bent; or as far as it is straight */
            while (alpha > straight && !(bent_change(s, alpha) < 0)) alpha /= 4;
            if (alpha <= straight) {
                alpha = straight, s->single |= straight == 0;
                bent_change(s, alpha);
            } else
                s->blocking = -1;
            result->pivots += bend(s, alpha);
            continue;
        }
        bent_change(s, 1);
        bend(s, 1);
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
        evaluate(s);
        *residual = residual_of(s, attainable);
        if (64 * *attainable > 1e-12) return false; /* wants sums in doubled precision */
        if (*residual <= 1e-14 + *attainable) return true;
        memcpy(s->center, s->z, (size_t)s->size * sizeof *s->center);
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
    if (sweep(&s) > (count <= LCP_SMALL ? count : fmin(FREE_FRACTION * count, s.capacity))) return false;
    evaluate(&s);
    if (!factor(&s, DELTA_FAR, result) || !settle(&s, result)) return false;
    memcpy(s.center, s.z, (size_t)count * sizeof *s.center);
    s.single = false;
    if (!factor(&s, DELTA, result) || !settle(&s, result) || !refine(&s, result, &residual, &attainable))
        return false;
    write_back(&s, member, state, z, w);
    result->residual = fmax(result->residual, residual);
    result->attainable = fmax(result->attainable, attainable);
    return true;
}
