/* Elimination over blocks in double-double numbers (see block_wide.h). */
#include "numerics/block_wide.h"

#include <math.h>

enum { N = BLOCK_SIDE };

bool block_wide_make(const block_lu *plan, arena *scratch, block_wide *out) {
    size_t blocks = (size_t)plan->count + 1, entries = (size_t)plan->start[plan->count] + 1;
    *out = (block_wide){plan, arena_alloc(scratch, blocks * BLOCK_AREA, sizeof(dd)),
                        arena_alloc(scratch, entries * BLOCK_AREA, sizeof(dd)),
                        arena_alloc(scratch, entries * BLOCK_AREA, sizeof(dd))};
    return out->pivot && out->upper && out->lower;
}

void block_wide_clear(block_wide *f) {
    size_t total = (size_t)f->plan->start[f->plan->count] * BLOCK_AREA * sizeof(dd);
    memset(f->pivot, 0, (size_t)f->plan->count * BLOCK_AREA * sizeof(dd));
    memset(f->upper, 0, total);
    memset(f->lower, 0, total);
}

/* A_ij for positions. */
static dd *at(block_wide *f, int i, int j) {
    if (i == j) return f->pivot + (size_t)i * BLOCK_AREA;
    return i < j ? f->upper + block_lu_find(f->plan, i, j) * BLOCK_AREA
                 : f->lower + block_lu_find(f->plan, j, i) * BLOCK_AREA;
}

dd *block_wide_entry(block_wide *f, int i, int j) { return at(f, f->plan->place[i], f->plan->place[j]); }

/* Row i of both sides less c times row k. */
static void take_off(dd *a, dd *b, int i, int k, dd c) {
    for (int j = 0; j < N; j++) {
        a[N * i + j] = dd_sub(a[N * i + j], dd_mul(c, a[N * k + j]));
        b[N * i + j] = dd_sub(b[N * i + j], dd_mul(c, b[N * k + j]));
    }
}

static void exchange(dd *a, int i, int k) {
    for (int j = 0; j < N && i != k; j++) {
        dd t = a[N * i + j];
        a[N * i + j] = a[N * k + j], a[N * k + j] = t;
    }
}

/* The inverse of a block, in place (Gauss and Jordan, rows exchanged). */
static bool invert(dd *a) {
    dd b[BLOCK_AREA] = {{0, 0}};
    for (int k = 0; k < N; k++) b[(N + 1) * k].hi = 1;
    for (int k = 0; k < N; k++) {
        int p = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(a[N * i + k].hi) > fabs(a[N * p + k].hi)) p = i;
        exchange(a, p, k), exchange(b, p, k);
        dd pivot = a[(N + 1) * k];
        if (!(fabs(pivot.hi) > 0)) return false;
        for (int j = 0; j < N; j++)
            a[N * k + j] = dd_div(a[N * k + j], pivot), b[N * k + j] = dd_div(b[N * k + j], pivot);
        for (int i = 0; i < N; i++)
            if (i != k) take_off(a, b, i, k, a[N * i + k]);
    }
    memcpy(a, b, sizeof b);
    return true;
}

/* c = a b */
static void multiply(const dd *a, const dd *b, dd *c) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            dd sum = {0, 0};
            for (int k = 0; k < N; k++) sum = dd_add(sum, dd_mul(a[N * i + k], b[N * k + j]));
            c[N * i + j] = sum;
        }
}

bool block_wide_factor(block_wide *f) {
    const block_lu *plan = f->plan;
    dd product[BLOCK_AREA];
    for (int k = 0; k < plan->count; k++) {
        dd *pivot = f->pivot + (size_t)k * BLOCK_AREA;
        if (!invert(pivot)) return false;
        for (int e = plan->start[k]; e < plan->start[k + 1]; e++) {
            dd *left = f->lower + (size_t)e * BLOCK_AREA;
            multiply(left, pivot, product);
            memcpy(left, product, sizeof product);
            for (int g = plan->start[k]; g < plan->start[k + 1]; g++) {
                dd *to = at(f, plan->column[e], plan->column[g]);
                multiply(left, f->upper + (size_t)g * BLOCK_AREA, product);
                for (int i = 0; i < BLOCK_AREA; i++) to[i] = dd_sub(to[i], product[i]);
            }
        }
    }
    return true;
}

/* y -= a x */
static void take_times(const dd *a, const dd *x, dd *y) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) y[i] = dd_sub(y[i], dd_mul(a[N * i + j], x[j]));
}

void block_wide_solve(const block_wide *f, const dd *b, dd *x, dd *work) {
    const block_lu *plan = f->plan;
    for (int k = 0; k < plan->count; k++) memcpy(work + N * k, b + N * plan->order[k], N * sizeof(dd));
    for (int k = 0; k < plan->count; k++)
        for (int e = plan->start[k]; e < plan->start[k + 1]; e++)
            take_times(f->lower + (size_t)e * BLOCK_AREA, work + N * k, work + N * plan->column[e]);
    for (int k = plan->count - 1; k >= 0; k--) {
        dd rest[N], answer[N] = {{0, 0}};
        memcpy(rest, work + N * k, sizeof rest);
        for (int e = plan->start[k]; e < plan->start[k + 1]; e++)
            take_times(f->upper + (size_t)e * BLOCK_AREA, work + N * plan->column[e], rest);
        take_times(f->pivot + (size_t)k * BLOCK_AREA, rest, answer);
        for (int i = 0; i < N; i++) work[N * k + i] = (dd){-answer[i].hi, -answer[i].lo};
    }
    for (int k = 0; k < plan->count; k++) memcpy(x + N * plan->order[k], work + N * k, N * sizeof(dd));
}
