/* Elimination over blocks (see block_lu.h). */
#include "numerics/block_lu.h"

#include <math.h>

/* ---- the plan: rows of bits, one for each block, with the neighbours that are not eliminated yet */

enum { WORD = 64 };

static int bits_of(uint64_t w) {
    int n = 0;
    for (; w; w &= w - 1) n++;
    return n;
}

static void set_bit(uint64_t *row, int i) { row[i / WORD] |= (uint64_t)1 << (i % WORD); }
static void clear_bit(uint64_t *row, int i) { row[i / WORD] &= ~((uint64_t)1 << (i % WORD)); }
static bool has_bit(const uint64_t *row, int i) { return row[i / WORD] >> (i % WORD) & 1; }

static int count_bits(const uint64_t *row, int words) {
    int n = 0;
    for (int i = 0; i < words; i++) n += bits_of(row[i]);
    return n;
}

/* Takes block k out: its neighbours become neighbours of each other.  Its own row keeps those it had. */
static void eliminate(uint64_t *bits, int *degree, int count, int words, int k) {
    const uint64_t *gone = bits + (size_t)k * words;
    for (int i = 0; i < count; i++) {
        uint64_t *row = bits + (size_t)i * words;
        if (!has_bit(gone, i)) continue;
        for (int w = 0; w < words; w++) row[w] |= gone[w];
        clear_bit(row, i), clear_bit(row, k);
        degree[i] = count_bits(row, words);
    }
}

/* The order of least degree, ties by number.  Returns the number of couplings with fill. */
static int find_order(uint64_t *bits, int *degree, int count, int words, block_lu *out) {
    int total = 0;
    for (int i = 0; i < count; i++)
        degree[i] = count_bits(bits + (size_t)i * words, words), out->place[i] = -1;
    for (int k = 0; k < count; k++) {
        int best = -1;
        for (int i = 0; i < count; i++)
            if (out->place[i] < 0 && (best < 0 || degree[i] < degree[best])) best = i;
        out->order[k] = best, out->place[best] = k, total += degree[best];
        eliminate(bits, degree, count, words, best);
    }
    return total;
}

/* The later neighbours of each position, in ascending order. */
static void list_columns(const uint64_t *bits, int words, block_lu *out) {
    int at = 0;
    for (int k = 0; k < out->count; k++) {
        const uint64_t *row = bits + (size_t)out->order[k] * words;
        out->start[k] = at;
        for (int i = 0; i < out->count; i++) {
            if (!has_bit(row, i)) continue;
            int e = at++, j = out->place[i];
            for (; e > out->start[k] && out->column[e - 1] > j; e--) out->column[e] = out->column[e - 1];
            out->column[e] = j;
        }
    }
    out->start[out->count] = at;
}

bool block_lu_plan(int count, const block_pair *pairs, int pair_count, arena *scratch, block_lu *out) {
    size_t n = (size_t)count + 1;
    int words = (count + WORD - 1) / WORD;
    uint64_t *bits = arena_alloc(scratch, (size_t)count * words + 1, sizeof *bits);
    int *degree = arena_alloc(scratch, n, sizeof(int));
    out->count = count;
    out->order = arena_alloc(scratch, n, sizeof(int));
    out->place = arena_alloc(scratch, n, sizeof(int));
    out->start = arena_alloc(scratch, n, sizeof(int));
    out->pivot = arena_alloc(scratch, n * BLOCK_AREA, sizeof(double));
    if (!bits || !degree || !out->order || !out->place || !out->start || !out->pivot) return false;
    for (int i = 0; i < pair_count; i++) {
        block_pair p = pairs[i];
        if (p.a < 0 || p.b < 0 || p.a == p.b) continue;
        set_bit(bits + (size_t)p.a * words, p.b), set_bit(bits + (size_t)p.b * words, p.a);
    }
    size_t total = (size_t)find_order(bits, degree, count, words, out) + 1;
    out->column = arena_alloc(scratch, total, sizeof(int));
    out->upper = arena_alloc(scratch, total * BLOCK_AREA, sizeof(double));
    out->lower = arena_alloc(scratch, total * BLOCK_AREA, sizeof(double));
    if (!out->column || !out->upper || !out->lower) return false;
    list_columns(bits, words, out);
    return true;
}

void block_lu_clear(block_lu *f) {
    size_t total = (size_t)f->start[f->count] * BLOCK_AREA * sizeof(double);
    memset(f->pivot, 0, (size_t)f->count * BLOCK_AREA * sizeof(double));
    memset(f->upper, 0, total);
    memset(f->lower, 0, total);
}

/* ---- values */

size_t block_lu_find(const block_lu *f, int i, int j) {
    int low = f->start[i], high = f->start[i + 1];
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (f->column[middle] <= j)
            low = middle;
        else
            high = middle;
    }
    return (size_t)low;
}

/* A_ij for positions. */
static double *at(block_lu *f, int i, int j) {
    if (i == j) return f->pivot + (size_t)i * BLOCK_AREA;
    return i < j ? f->upper + block_lu_find(f, i, j) * BLOCK_AREA
                 : f->lower + block_lu_find(f, j, i) * BLOCK_AREA;
}

double *block_lu_entry(block_lu *f, int i, int j) { return at(f, f->place[i], f->place[j]); }

/* The inverse of a block, in place (Gauss and Jordan, rows exchanged). */
static bool invert(double *a) {
    enum { N = BLOCK_SIDE };
    int from[N];
    for (int k = 0; k < N; k++) {
        int p = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(a[N * i + k]) > fabs(a[N * p + k])) p = i;
        from[k] = p;
        double pivot = a[N * p + k];
        if (!(fabs(pivot) > 0)) return false;
        for (int j = 0; j < N && p != k; j++) {
            double t = a[N * k + j];
            a[N * k + j] = a[N * p + j], a[N * p + j] = t;
        }
        a[N * k + k] = 1;
        for (int j = 0; j < N; j++) a[N * k + j] /= pivot;
        for (int i = 0; i < N; i++) {
            if (i == k) continue;
            double c = a[N * i + k];
            a[N * i + k] = 0;
            for (int j = 0; j < N; j++) a[N * i + j] -= c * a[N * k + j];
        }
    }
    for (int k = N - 1; k >= 0; k--)
        for (int i = 0; i < N && from[k] != k; i++) {
            double t = a[N * i + k];
            a[N * i + k] = a[N * i + from[k]], a[N * i + from[k]] = t;
        }
    return true;
}

/* c = a b */
static void multiply(const double *restrict a, const double *restrict b, double *restrict c) {
    enum { N = BLOCK_SIDE };
    for (int i = 0; i < N; i++) {
        double sum[N] = {0};
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) sum[j] += a[N * i + k] * b[N * k + j];
        for (int j = 0; j < N; j++) c[N * i + j] = sum[j];
    }
}

/* c -= a b */
static void multiply_off(const double *restrict a, const double *restrict b, double *restrict c) {
    double product[BLOCK_AREA];
    multiply(a, b, product);
    for (int i = 0; i < BLOCK_AREA; i++) c[i] -= product[i];
}

bool block_lu_factor(block_lu *f) {
    for (int k = 0; k < f->count; k++) {
        double *pivot = f->pivot + (size_t)k * BLOCK_AREA;
        if (!invert(pivot)) return false;
        for (int e = f->start[k]; e < f->start[k + 1]; e++) {
            double *left = f->lower + (size_t)e * BLOCK_AREA, scaled[BLOCK_AREA];
            multiply(left, pivot, scaled);
            memcpy(left, scaled, sizeof scaled);
            for (int g = f->start[k]; g < f->start[k + 1]; g++)
                multiply_off(left, f->upper + (size_t)g * BLOCK_AREA, at(f, f->column[e], f->column[g]));
        }
    }
    return true;
}

/* y += sign a x */
static void add_times(double sign, const double *restrict a, const double *restrict x, double *restrict y) {
    for (int i = 0; i < BLOCK_SIDE; i++) {
        double sum = 0;
        for (int j = 0; j < BLOCK_SIDE; j++) sum += a[BLOCK_SIDE * i + j] * x[j];
        y[i] += sign * sum;
    }
}

void block_lu_solve(const block_lu *f, const double *b, double *x, double *work) {
    enum { N = BLOCK_SIDE };
    for (int k = 0; k < f->count; k++) memcpy(work + N * k, b + N * f->order[k], N * sizeof(double));
    for (int k = 0; k < f->count; k++)
        for (int e = f->start[k]; e < f->start[k + 1]; e++)
            add_times(-1, f->lower + (size_t)e * BLOCK_AREA, work + N * k, work + N * f->column[e]);
    for (int k = f->count - 1; k >= 0; k--) {
        double rest[N], answer[N] = {0};
        memcpy(rest, work + N * k, sizeof rest);
        for (int e = f->start[k]; e < f->start[k + 1]; e++)
            add_times(-1, f->upper + (size_t)e * BLOCK_AREA, work + N * f->column[e], rest);
        add_times(1, f->pivot + (size_t)k * BLOCK_AREA, rest, answer);
        memcpy(work + N * k, answer, sizeof answer);
    }
    for (int k = 0; k < f->count; k++) memcpy(x + N * f->order[k], work + N * k, N * sizeof(double));
}

/* What is zero stays out: a right side that is not zero at one place asks for a part of the matrix only. */
void block_lu_solve_wide(const block_lu *f, double *x, uint8_t *used, double *work, uint8_t *work_used) {
    size_t bytes = BLOCK_AREA * sizeof(double);
    for (int k = 0; k < f->count; k++) {
        work_used[k] = used[f->order[k]];
        if (work_used[k]) memcpy(work + (size_t)BLOCK_AREA * k, x + (size_t)BLOCK_AREA * f->order[k], bytes);
    }
    for (int k = 0; k < f->count; k++)
        for (int e = f->start[k]; e < f->start[k + 1] && work_used[k]; e++) {
            double *later = work + (size_t)BLOCK_AREA * f->column[e];
            if (!work_used[f->column[e]]) memset(later, 0, bytes);
            multiply_off(f->lower + (size_t)e * BLOCK_AREA, work + (size_t)BLOCK_AREA * k, later);
            work_used[f->column[e]] = true;
        }
    for (int k = f->count - 1; k >= 0; k--) {
        double *own = work + (size_t)BLOCK_AREA * k;
        if (!work_used[k]) memset(own, 0, bytes);
        for (int e = f->start[k]; e < f->start[k + 1]; e++) {
            if (!work_used[f->column[e]]) continue;
            multiply_off(f->upper + (size_t)e * BLOCK_AREA, work + (size_t)BLOCK_AREA * f->column[e], own);
            work_used[k] = true;
        }
        double *out = x + (size_t)BLOCK_AREA * f->order[k];
        used[f->order[k]] = work_used[k];
        if (!work_used[k]) continue;
        multiply(f->pivot + (size_t)k * BLOCK_AREA, own, out);
        memcpy(own, out, bytes);
    }
}

/* ---- blocks of the inverse */

bool block_lu_allow_inverse(block_lu *f, arena *scratch) {
    size_t total = (size_t)f->start[f->count] + 1;
    f->inverse_pivot = arena_alloc(scratch, (size_t)(f->count + 1) * BLOCK_AREA, sizeof(double));
    f->inverse_upper = arena_alloc(scratch, total * BLOCK_AREA, sizeof(double));
    return f->inverse_pivot && f->inverse_upper;
}

/* Z_ij for positions. */
static void inverse_at(const block_lu *f, int i, int j, double *out) {
    enum { N = BLOCK_SIDE };
    const double *from = i == j
                             ? f->inverse_pivot + (size_t)i * BLOCK_AREA
                             : f->inverse_upper + block_lu_find(f, i < j ? i : j, i < j ? j : i) * BLOCK_AREA;
    for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++) out[N * r + c] = i <= j ? from[N * r + c] : from[N * c + r];
}

/* - sum U_km Z_mj over the later neighbours m of k. */
static void sum_later(const block_lu *f, int k, int j, double *out) {
    memset(out, 0, BLOCK_AREA * sizeof *out);
    for (int e = f->start[k]; e < f->start[k + 1]; e++) {
        double later[BLOCK_AREA];
        inverse_at(f, f->column[e], j, later);
        multiply_off(f->upper + (size_t)e * BLOCK_AREA, later, out);
    }
}

void block_lu_invert(block_lu *f) {
    for (int k = f->count - 1; k >= 0; k--) {
        const double *pivot = f->pivot + (size_t)k * BLOCK_AREA;
        double sum[BLOCK_AREA], *own = f->inverse_pivot + (size_t)k * BLOCK_AREA;
        for (int e = f->start[k]; e < f->start[k + 1]; e++) {
            sum_later(f, k, f->column[e], sum);
            multiply(pivot, sum, f->inverse_upper + (size_t)e * BLOCK_AREA);
        }
        sum_later(f, k, k, sum);
        multiply(pivot, sum, own);
        for (int i = 0; i < BLOCK_AREA; i++) own[i] += pivot[i];
    }
}

void block_lu_inverse_entry(const block_lu *f, int i, int j, double out[BLOCK_AREA]) {
    inverse_at(f, f->place[i], f->place[j], out);
}
