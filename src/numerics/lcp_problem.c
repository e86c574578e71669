/* The complementarity problem as data: checks, compressed rows, scaling, residual.  No solver here. */
#include "numerics/lcp.h"

#include <float.h>
#include <math.h>

/* The bounds of row i; boxed friction is -+ mu max(z_j, 0). */
double lcp_lower(const abut_lcp *problem, const double *z, int i) {
    if (problem->friction_row && problem->friction_row[i] >= 0)
        return -problem->friction[i] * fmax(z[problem->friction_row[i]], 0.0);
    return problem->lo ? problem->lo[i] : 0.0;
}

double lcp_upper(const abut_lcp *problem, const double *z, int i) {
    if (problem->friction_row && problem->friction_row[i] >= 0)
        return problem->friction[i] * fmax(z[problem->friction_row[i]], 0.0);
    return problem->hi ? problem->hi[i] : (double)INFINITY;
}

static abut_status check_friction(const abut_lcp *p, int i, abut_error *error) {
    int j = p->friction_row[i];
    if (j < 0) return ABUT_OK;
    if (j >= p->size || j == i || p->friction_row[j] >= 0)
        return fail(error, ABUT_INVALID,
                    "row %d is bounded by row %d, which must be another row without friction bounds", i, j);
    if (!p->friction || !(p->friction[i] >= 0) || !isfinite(p->friction[i]))
        return fail(error, ABUT_INVALID, "row %d: the friction coefficient must be a finite number >= 0", i);
    return ABUT_OK;
}

static abut_status check_row(const abut_lcp *p, int i, abut_error *error) {
    if (!isfinite(p->b[i])) return fail(error, ABUT_INVALID, "b[%d] is not finite", i);
    double lo = p->lo ? p->lo[i] : 0.0, hi = p->hi ? p->hi[i] : (double)INFINITY;
    if (!(lo <= hi) || lo == (double)INFINITY || hi == -(double)INFINITY)
        return fail(error, ABUT_INVALID, "row %d: lo = %g and hi = %g leave no number between; need lo <= hi",
                    i, lo, hi);
    if (p->dense) {
        for (int j = 0; j < p->size; j++)
            if (!isfinite(p->dense[(size_t)i * (size_t)p->size + (size_t)j]))
                return fail(error, ABUT_INVALID, "A[%d][%d] is not finite", i, j);
    } else {
        if (p->row_start[i] > p->row_start[i + 1])
            return fail(error, ABUT_INVALID, "row_start decreases at row %d", i);
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            if (p->column[k] < 0 || p->column[k] >= p->size || !isfinite(p->value[k]))
                return fail(error, ABUT_INVALID,
                            "row %d: entry %d has column %d and value %g; columns are 0 to %d, values finite",
                            i, k - p->row_start[i], p->column[k], p->value[k], p->size - 1);
    }
    return p->friction_row ? check_friction(p, i, error) : ABUT_OK;
}

abut_status lcp_check(const abut_lcp *problem, abut_error *error) {
    if (problem->size < 0)
        return fail(error, ABUT_INVALID, "the size is %d; it cannot be negative", problem->size);
    if (problem->size > 0 &&
        (!problem->b || (!problem->dense && (!problem->row_start || !problem->column || !problem->value))))
        return fail(error, ABUT_INVALID, "A or b is missing; give dense or row_start, column, value, and b");
    for (int i = 0; i < problem->size; i++) {
        abut_status status = check_row(problem, i, error);
        if (status != ABUT_OK) return status;
    }
    return ABUT_OK;
}

/* Compressed rows of a dense matrix: the entries that are not 0, and the diagonal. */
static bool compress(arena *scratch, const abut_lcp *p, lcp_rows *rows) {
    size_t n = (size_t)p->size, entries = 0;
    for (size_t k = 0; k < n * n; k++) entries += p->dense[k] != 0 || k % (n + 1) == 0;
    int *start = arena_alloc(scratch, n + 1, sizeof *start);
    int *column = arena_alloc(scratch, entries, sizeof *column);
    double *value = arena_alloc(scratch, entries, sizeof *value);
    if (!start || !column || !value) return false;
    int k = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double a = p->dense[i * n + j];
            if (a != 0 || i == j) column[k] = (int)j, value[k] = a, k++;
        }
        start[i + 1] = k;
    }
    rows->start = start, rows->column = column, rows->value = value;
    return true;
}

abut_status lcp_rows_of(arena *scratch, const abut_lcp *problem, lcp_rows *rows, abut_error *error) {
    rows->size = problem->size;
    if (problem->dense) return compress(scratch, problem, rows) ? ABUT_OK : fail_memory(error);
    rows->start = problem->row_start, rows->column = problem->column, rows->value = problem->value;
    return ABUT_OK;
}

/* A = A^T to rounding: |A_ij - A_ji| <= 1e-12 sqrt(A_ii A_jj), and no negative diagonal; by the transpose. */
abut_status lcp_check_mirror(arena *scratch, const lcp_rows *rows, abut_error *error) {
    int n = rows->size;
    arena_mark mark = arena_save(scratch);
    double *diagonal = arena_alloc(scratch, (size_t)n, sizeof *diagonal);
    double *line = arena_alloc(scratch, (size_t)n, sizeof *line);
    int *start = arena_alloc(scratch, (size_t)n + 2, sizeof *start);
    size_t entries = n ? (size_t)rows->start[n] : 0;
    int *from = arena_alloc(scratch, entries, sizeof *from);
    double *value = arena_alloc(scratch, entries, sizeof *value);
    if (!diagonal || !line || !start || !from || !value) return fail_memory(error);
    for (int i = 0; i < n; i++)
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            start[rows->column[k] + 2]++;
            if (rows->column[k] == i) diagonal[i] = rows->value[k];
        }
    for (int i = 0; i < n; i++) start[i + 2] += start[i + 1];
    for (int i = 0; i < n; i++)
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            int t = start[rows->column[k] + 1]++;
            from[t] = i, value[t] = rows->value[k];
        }
    abut_status status = ABUT_OK;
    for (int i = 0; i < n && status == ABUT_OK; i++) {
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) line[rows->column[k]] = rows->value[k];
        for (int t = start[i]; t < start[i + 1] && status == ABUT_OK; t++) {
            double slack = 1e-12 * sqrt(fabs(diagonal[i]) * fabs(diagonal[from[t]]));
            if (fabs(line[from[t]] - value[t]) > slack)
                status = fail(
                    error, ABUT_INVALID,
                    "A[%d][%d] = %.17g but A[%d][%d] = %.17g; this solver needs a symmetric A, use lemke", i,
                    from[t], line[from[t]], from[t], i, value[t]);
        }
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) line[rows->column[k]] = 0;
    }
    arena_restore(scratch, mark);
    return status;
}

abut_status lcp_check_symmetric(arena *scratch, const lcp_rows *rows, abut_error *error) {
    abut_status status = lcp_check_mirror(scratch, rows, error);
    for (int i = 0; i < rows->size && status == ABUT_OK; i++)
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++)
            if (rows->column[k] == i && rows->value[k] < 0)
                return fail(
                    error, ABUT_INVALID,
                    "A[%d][%d] = %g is negative; this solver needs a positive semidefinite A, use lemke", i,
                    i, rows->value[k]);
    return status;
}

enum { LEAST_EXPONENT = -1000 }; /* of loads: 1 / 2^-1000 is finite */

/* s with s^2 a in [1/2, 2), a power of two; 1 for a = 0. */
static double power_scale(double a) {
    if (!(a > 0)) return 1.0;
    int e;
    frexp(a, &e);
    return ldexp(1.0, -((e - (e & 1)) / 2));
}

/* The bounds, scaled: those of the caller times beta / s. */
void lcp_system_bounds(lcp_system *s, const abut_lcp *problem, const double *z) {
    bool plain = !problem->lo && !problem->hi && !problem->friction_row; /* contacts: 0 and infinity */
    for (int k = 0; k < s->size; k++) {
        int i = s->order[k];
        s->lo[k] = plain ? 0 : lcp_lower(problem, z, i) * s->beta / s->scale[k];
        s->hi[k] = plain ? (double)INFINITY : lcp_upper(problem, z, i) * s->beta / s->scale[k];
    }
}

static bool allocate(arena *scratch, lcp_system *s, size_t n, size_t entries) {
    s->start = arena_alloc(scratch, n + 1, sizeof *s->start);
    s->lower_end = arena_alloc(scratch, n, sizeof *s->lower_end);
    s->column = arena_alloc(scratch, entries, sizeof *s->column);
    s->value = arena_alloc(scratch, entries, sizeof *s->value);
    double **vectors[] = {&s->diagonal, &s->q, &s->lo, &s->hi, &s->scale, &s->weight};
    for (int i = 0; i < COUNT_OF(vectors); i++)
        if (!(*vectors[i] = arena_alloc(scratch, n, sizeof(double)))) return false;
    return s->start && s->lower_end && s->column && s->value;
}

/* Row k of the system: entries left of the diagonal first. */
static int place_row(lcp_system *s, const lcp_rows *rows, int k, int end) {
    int i = s->order[k];
    for (int right = 0; right < 2; right++) {
        for (int t = rows->start[i]; t < rows->start[i + 1]; t++) {
            int l = s->place[rows->column[t]];
            if ((l >= k) != right) continue;
            double a = rows->value[t] * s->scale[k] * s->scale[l];
            s->column[end] = l, s->value[end] = a, end++;
            if (l == k) s->diagonal[k] = a;
        }
        if (!right) s->lower_end[k] = end;
    }
    return end;
}

bool lcp_system_build(arena *scratch, const lcp_order *order, const lcp_rows *rows, const double *b,
                      lcp_system *s) {
    int n = rows->size;
    *s = (lcp_system){.size = n, .order = order->order, .place = order->place, .beta = 1};
    if (!allocate(scratch, s, (size_t)n, n ? (size_t)rows->start[n] : 0)) return false;
    for (int k = 0; k < n; k++) {
        int i = s->order[k];
        double diagonal = 0;
        for (int t = rows->start[i]; t < rows->start[i + 1]; t++)
            if (rows->column[t] == i) diagonal = rows->value[t];
        s->scale[k] = power_scale(diagonal);
    }
    for (int k = 0; k < n; k++) s->start[k + 1] = place_row(s, rows, k, s->start[k]);
    lcp_system_load(s, b);
    return true;
}

void lcp_system_load(lcp_system *s, const double *b) {
    double largest = 0, largest_b = 0;
    for (int k = 0; k < s->size; k++) {
        double size = fabs(b[s->order[k]]), scaled = size * s->scale[k];
        largest = scaled > largest ? scaled : largest, largest_b = size > largest_b ? size : largest_b;
    }
    int e = 0;
    if (largest > 0) frexp(largest, &e);
    s->beta = ldexp(1.0, -(e > LEAST_EXPONENT ? e : LEAST_EXPONENT));
    double unit = s->beta * (largest_b > 0 ? largest_b : 1);
    for (int k = 0; k < s->size; k++) {
        s->q[k] = b[s->order[k]] * s->scale[k] * s->beta;
        s->weight[k] = 1 / (s->scale[k] * unit);
    }
}

bool lcp_system_plain(arena *scratch, const lcp_rows *rows, const double *b, lcp_system *system) {
    int *same = arena_alloc(scratch, (size_t)rows->size, sizeof *same);
    if (!same) return false;
    for (int i = 0; i < rows->size; i++) same[i] = i;
    lcp_order order = {.size = rows->size, .order = same, .place = same};
    return lcp_system_build(scratch, &order, rows, b, system);
}

/* In two strands, so that a sum need not wait for the one before. */
void lcp_apply(const lcp_system *s, const double *y, double *v, double *size_of_row) {
    for (int k = 0; k < s->size; k++) {
        double sum = s->q[k], size = fabs(sum), other = 0, other_size = 0;
        int t = s->start[k], end = s->start[k + 1];
        for (; t + 2 <= end; t += 2) {
            double a = s->value[t] * y[s->column[t]], b = s->value[t + 1] * y[s->column[t + 1]];
            sum += a, size += fabs(a), other += b, other_size += fabs(b);
        }
        for (; t < end; t++) {
            double term = s->value[t] * y[s->column[t]];
            sum += term, size += fabs(term);
        }
        v[k] = sum + other, size_of_row[k] = size + other_size;
    }
}

void lcp_apply_doubled(const lcp_system *s, const double *y, double *v) {
    for (int k = 0; k < s->size; k++) {
        lcp_sum sum = {s->q[k], 0};
        for (int t = s->start[k]; t < s->start[k + 1]; t++)
            if (y[s->column[t]] != 0) lcp_sum_product(&sum, s->value[t], y[s->column[t]]);
        v[k] = sum.s + sum.e;
    }
}

/* (A z + b)_i and A_ii of the caller's problem, in doubled precision. */
static double row_value(const abut_lcp *p, const double *z, int i, double *diagonal) {
    lcp_sum sum = {p->b[i], 0};
    *diagonal = 0;
    if (p->dense) {
        const double *row = p->dense + (size_t)i * (size_t)p->size;
        for (int j = 0; j < p->size; j++) lcp_sum_product(&sum, row[j], z[j]);
        *diagonal = row[i];
    } else {
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++) {
            lcp_sum_product(&sum, p->value[k], z[p->column[k]]);
            if (p->column[k] == i) *diagonal = p->value[k];
        }
    }
    return sum.s + sum.e;
}

double abut_lcp_validate(const abut_lcp *problem, const double *z, int *worst) {
    double size = 0, largest = 0;
    if (worst) *worst = -1;
    for (int i = 0; i < problem->size; i++) size = fmax(size, fabs(problem->b[i]));
    for (int i = 0; i < problem->size; i++) {
        double a, w = row_value(problem, z, i, &a);
        double lo = lcp_lower(problem, z, i), hi = lcp_upper(problem, z, i);
        if (!(a > 0)) a = 1;
        /* A_ii |z - clamp(z - w / A_ii)|, written so that an exact bound gives an exact 0 */
        double violation = w > 0 ? fmin(w, a * (z[i] - lo)) : fmin(-w, a * (hi - z[i]));
        violation = fmax(violation, fmax(a * (lo - z[i]), a * (z[i] - hi)));
        if (!(violation <= largest)) {
            largest = isnan(violation) ? (double)INFINITY : violation;
            if (worst) *worst = i;
        }
    }
    return largest / (size > 0 ? size : 1);
}
