/* Equations of rows that couple two blocks, in double-double numbers (see coupled.h). */
#include "numerics/coupled.h"

#include <math.h>

/* Mobilities that differ by more than this: one over the ease of coupled.c, with a digit to spare. */
#define WIDE 1e4

/* w . w of one of the two bodies of a row. */
static double side_size(const coupled_row *r, int side) {
    double sum = 0;
    for (int i = 0; i < BLOCK_SIDE; i++) sum += r->w[side][i] * r->w[side][i];
    return sum;
}

/* The most that a row moves each block, into `most`. */
static void measure_blocks(const coupled *c, double *most) {
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < 2; k++)
            if (c->rows[i].block[k] >= 0)
                most[c->rows[i].block[k]] = fmax(most[c->rows[i].block[k]], side_size(&c->rows[i], k));
}

bool coupled_wide_make(coupled *c, arena *scratch) {
    size_t blocks = (size_t)c->blocks + 1, n = BLOCK_SIDE * blocks, rows = (size_t)c->count + 1;
    double *most = arena_alloc(scratch, blocks, sizeof *most), least = INFINITY, largest = 0;
    if (!most) return false;
    measure_blocks(c, most);
    for (int i = 0; i < c->blocks; i++)
        if (most[i] > 0) least = fmin(least, most[i]), largest = fmax(largest, most[i]);
    if (!(largest > WIDE * least)) return true;
    coupled_wide *w = arena_alloc(scratch, 1, sizeof *w);
    if (!w) return false;
    *w = (coupled_wide){.least = least,
                        .y0 = arena_alloc(scratch, n, sizeof(double)),
                        .z0 = arena_alloc(scratch, rows, sizeof(double)),
                        .y = arena_alloc(scratch, n, sizeof(dd)),
                        .z = arena_alloc(scratch, rows, sizeof(dd)),
                        .step = arena_alloc(scratch, n, sizeof(dd)),
                        .work = arena_alloc(scratch, n, sizeof(dd))};
    c->wide = w;
    return w->y0 && w->z0 && w->y && w->z && w->step && w->work &&
           block_wide_make(&c->matrix, scratch, &w->matrix);
}

void coupled_wide_begin(coupled *c) {
    memcpy(c->wide->y0, c->y, BLOCK_SIDE * (size_t)c->blocks * sizeof(double));
    for (int i = 0; i < c->count; i++) c->wide->z0[i] = c->rows[i].z;
}

/* w . y */
static dd rate(const coupled_row *r, const dd *y) {
    dd sum = {0, 0};
    for (int k = 0; k < 2; k++)
        for (int i = 0; r->block[k] >= 0 && i < BLOCK_SIDE; i++)
            if (r->w[k][i] != 0) sum = dd_add(sum, dd_scale(y[BLOCK_SIDE * r->block[k] + i], r->w[k][i]));
    return sum;
}

/* y += z v */
static void push(const coupled_row *r, dd z, dd *y) {
    for (int k = 0; k < 2; k++)
        for (int i = 0; r->block[k] >= 0 && i < BLOCK_SIDE; i++) {
            dd *at = &y[BLOCK_SIDE * r->block[k] + i];
            if (r->v[k][i] != 0) *at = dd_add(*at, dd_scale(z, r->v[k][i]));
        }
}

/* 1 / (c + e), for all rows that hold. */
static dd stiffness(const coupled_row *r, double soft) {
    return dd_div((dd){1, 0}, two_sum(r->compliance, soft));
}

/* 1 + sum v w^T / (c + e) */
static bool factor(coupled *c, double soft) {
    block_wide *m = &c->wide->matrix;
    block_wide_clear(m);
    for (int i = 0; i < c->blocks; i++)
        for (int k = 0; k < BLOCK_SIDE; k++) block_wide_entry(m, i, i)[(BLOCK_SIDE + 1) * k].hi = 1;
    for (int i = 0; i < c->count; i++) {
        const coupled_row *r = &c->rows[i];
        dd hard = stiffness(r, soft);
        for (int k = 0; r->holds && k < 4; k++) {
            int a = r->block[k / 2], b = r->block[k % 2];
            if (a < 0 || b < 0) continue;
            dd *at = block_wide_entry(m, a, b);
            for (int p = 0; p < BLOCK_SIDE; p++) {
                dd f = dd_scale(hard, r->v[k / 2][p]);
                for (int q = 0; q < BLOCK_SIDE; q++, at++)
                    if (r->w[k % 2][q] != 0) *at = dd_add(*at, dd_scale(f, r->w[k % 2][q]));
            }
        }
    }
    return block_wide_factor(m);
}

/* r + c z of a row. */
static dd wrong_by(const coupled *c, int i) {
    const coupled_row *r = &c->rows[i];
    dd sum = dd_add(rate(r, c->wide->y), (dd){r->b, 0});
    return r->compliance > 0 && r->holds ? dd_add(sum, dd_scale(c->wide->z[i], r->compliance)) : sum;
}

static double residual(const coupled *c, double scale) {
    double most = 0;
    for (int i = 0; i < c->count; i++)
        if (c->rows[i].holds) most = fmax(most, fabs(wrong_by(c, i).hi));
    return most / scale;
}

/* One step.  Returns the part of the residuals that it takes away; `more` of the rows is the step of z. */
static double improve(coupled *c, double soft) {
    coupled_wide *w = c->wide;
    double left = 0, taken = 0;
    memset(w->step, 0, BLOCK_SIDE * (size_t)c->blocks * sizeof(dd));
    for (int i = 0; i < c->count; i++) {
        const coupled_row *r = &c->rows[i];
        dd pull = dd_mul(wrong_by(c, i), stiffness(r, soft));
        if (r->holds) push(r, (dd){-pull.hi, -pull.lo}, w->step);
    }
    block_wide_solve(&w->matrix, w->step, w->step, w->work);
    for (int i = 0; i < c->count; i++) {
        coupled_row *r = &c->rows[i];
        if (!r->holds) continue;
        dd change = rate(r, w->step), wrong = wrong_by(c, i);
        r->more = -dd_mul(dd_add(wrong, change), stiffness(r, soft)).hi;
        left = fmax(left, fabs(wrong.hi)), taken = fmax(taken, fabs(change.hi + r->compliance * r->more));
    }
    for (int i = 0; i < c->count; i++) { /* what was wrong is that of before the step, for all */
        coupled_row *r = &c->rows[i];
        if (!r->holds) continue;
        w->z[i] = dd_add(w->z[i], (dd){r->more, 0});
        push(r, (dd){r->more, 0}, w->y);
    }
    return left > 0 ? taken / left : 0;
}

/* As in coupled.c: forces that hold each other and move nothing are taken back. */
static void release(coupled *c, int rounds) {
    for (int i = 0; i < c->count; i++) {
        dd back = {-rounds * c->rows[i].more, 0};
        if (!c->rows[i].holds) continue;
        push(&c->rows[i], back, c->wide->y);
        c->wide->z[i] = dd_add(c->wide->z[i], back);
    }
}

/* The answer in doubles. */
static void write_back(coupled *c) {
    const coupled_wide *w = c->wide;
    for (int i = 0; i < BLOCK_SIDE * c->blocks; i++) c->y[i] = dd_value(w->y[i]);
    for (int i = 0; i < c->count; i++) {
        coupled_row *r = &c->rows[i];
        r->z = dd_value(w->z[i]);
        r->r = dd_value(dd_add(rate(r, w->y), (dd){r->b, 0}));
    }
    c->is_wide = true;
}

double coupled_wide_solve(coupled *c, double ease, double scale, bool *contradicts) {
    coupled_wide *w = c->wide;
    double soft = ease * w->least, taken = 1, before = INFINITY;
    int round = 0;
    *contradicts = false;
    for (int i = 0; i < BLOCK_SIDE * c->blocks; i++) w->y[i] = (dd){w->y0[i], 0};
    for (int i = 0; i < c->count; i++) {
        w->z[i] = (dd){w->z0[i], 0}, c->rows[i].more = 0;
        push(&c->rows[i], w->z[i], w->y);
    }
    if (!factor(c, soft)) return INFINITY;
    double left = residual(c, scale);
    for (int stalls = 0; left > COUPLED_DONE && round < COUPLED_ROUNDS && stalls < COUPLED_STALLS;) {
        before = left;
        taken = improve(c, soft), round++;
        left = residual(c, scale);
        if (left > 0.5 * before) stalls = taken < COUPLED_STANDS ? COUPLED_STALLS : stalls + 1;
    }
    *contradicts = left > 0.5 * before && taken < COUPLED_STANDS;
    if (left > COUPLED_DONE && left > 0.5 * before) {
        release(c, round);
        left = residual(c, scale);
    }
    write_back(c);
    return left;
}
