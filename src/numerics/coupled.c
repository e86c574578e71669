/* Equations of rows that couple two blocks (see coupled.h). */
#include "numerics/coupled.h"

#include <math.h>

/* The ease of the first attempt and of one for nearly dependent rows. */
static const double eases[] = {1e-5, 3e-7};
/* Residuals that another method could not make much smaller, and those that redundant rows of a mechanism
 * have while its positions are as good as the integration: relative to the scale. */
#define GOOD   1e-12
#define SLIGHT 1e-6

double coupled_rate(const coupled_row *r, const double *y) {
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        if (r->block[k] < 0) continue;
        const double *at = y + BLOCK_SIDE * r->block[k];
        for (int i = 0; i < BLOCK_SIDE; i++) sum += r->w[k][i] * at[i];
    }
    return sum;
}

static void push_part(const double *restrict v, double z, double *restrict y) {
    for (int i = 0; i < BLOCK_SIDE; i++) y[i] += z * v[i];
}

void coupled_push(const coupled_row *r, double z, double *y) {
    for (int k = 0; k < 2; k++)
        if (r->block[k] >= 0) push_part(r->v[k], z, y + BLOCK_SIDE * r->block[k]);
}

void coupled_measure(coupled_row *r) {
    r->size = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; r->block[k] >= 0 && i < BLOCK_SIDE; i++) r->size += r->w[k][i] * r->w[k][i];
}

bool coupled_make(int blocks, coupled_row *rows, int count, arena *scratch, coupled *out) {
    *out = (coupled){.blocks = blocks, .count = count, .rows = rows, .slight = SLIGHT};
    size_t n = BLOCK_SIDE * (size_t)blocks + 1;
    block_pair *pairs = arena_alloc(scratch, (size_t)count + 1, sizeof *pairs);
    out->y = arena_alloc(scratch, n, sizeof(double));
    out->step = arena_alloc(scratch, n, sizeof(double));
    out->work = arena_alloc(scratch, n, sizeof(double));
    out->left_over = arena_alloc(scratch, n, sizeof(double));
    if (!pairs || !out->y || !out->step || !out->work || !out->left_over) return false;
    for (int i = 0; i < count; i++) {
        pairs[i] = (block_pair){rows[i].block[0], rows[i].block[1]};
        coupled_measure(&rows[i]);
        if (!(rows[i].ease > 0)) rows[i].ease = rows[i].size;
    }
    return block_lu_plan(blocks, pairs, count, scratch, &out->matrix) && coupled_wide_make(out, scratch);
}

/* 1 / (c + e); 0 for a row that moves nothing. */
static double stiffness(const coupled_row *r, double ease) {
    double soft = r->compliance + ease * r->ease;
    return r->holds && soft > 0 ? 1 / soft : 0;
}

/* at += hard v w^T */
static void add_product(double *restrict at, double hard, const double *restrict v,
                        const double *restrict w) {
    for (int p = 0; p < BLOCK_SIDE; p++) {
        double f = hard * v[p];
        for (int q = 0; q < BLOCK_SIDE; q++) at[BLOCK_SIDE * p + q] += f * w[q];
    }
}

/* 1 + sum v w^T / (c + e) */
static bool factor(coupled *c, double ease) {
    block_lu_clear(&c->matrix);
    for (int i = 0; i < c->blocks; i++) {
        double *d = block_lu_entry(&c->matrix, i, i);
        for (int k = 0; k < BLOCK_SIDE; k++) d[(BLOCK_SIDE + 1) * k] = 1;
    }
    for (int i = 0; i < c->count; i++) {
        coupled_row *r = &c->rows[i];
        r->hard = stiffness(r, ease);
        for (int k = 0; k < 4 && r->hard > 0; k++) {
            int a = r->block[k / 2], b = r->block[k % 2];
            if (a >= 0 && b >= 0)
                add_product(block_lu_entry(&c->matrix, a, b), r->hard, r->v[k / 2], r->w[k % 2]);
        }
    }
    return block_lu_factor(&c->matrix);
}

/* All residuals; the largest of the rows that hold, relative to the rates that meet in it.  Where masses
 * differ much those of a light body are no measure: they may be a million times what it does. */
static double residual(coupled *c, double scale) {
    double most = 0;
    for (int i = 0; i < c->count; i++) {
        coupled_row *r = &c->rows[i];
        r->r = coupled_rate(r, c->y) + r->b;
        if (!r->holds) continue;
        double left = fabs(r->r + r->compliance * r->z);
        most = fmax(most, left / (c->wide ? scale : fmax(scale, fabs(r->z) * r->size)));
    }
    return most;
}

/* step = H^-1 g, with g in step, and once more for what is left of it: dz is the difference of two nearly
 * equal rates over the ease, which takes as many digits of them as the elimination has already lost. */
static void solve_step(coupled *c) {
    size_t n = BLOCK_SIDE * (size_t)c->blocks;
    memcpy(c->left_over, c->step, n * sizeof(double));
    block_lu_solve(&c->matrix, c->step, c->step, c->work);
    for (size_t i = 0; i < n; i++) c->left_over[i] -= c->step[i];
    for (int i = 0; i < c->count; i++) {
        const coupled_row *r = &c->rows[i];
        if (r->hard > 0) coupled_push(r, -r->hard * coupled_rate(r, c->step), c->left_over);
    }
    block_lu_solve(&c->matrix, c->left_over, c->left_over, c->work);
    for (size_t i = 0; i < n; i++) c->step[i] += c->left_over[i];
}

/* One step of the method.  Returns the part of the residuals that it takes away. */
static double improve(coupled *c) {
    size_t n = BLOCK_SIDE * (size_t)c->blocks;
    double left = 0, taken = 0;
    memset(c->step, 0, n * sizeof(double));
    for (int i = 0; i < c->count; i++) {
        const coupled_row *r = &c->rows[i];
        if (r->hard > 0) coupled_push(r, -(r->r + r->compliance * r->z) * r->hard, c->step);
    }
    solve_step(c);
    for (int i = 0; i < c->count; i++) {
        coupled_row *r = &c->rows[i];
        if (!(r->hard > 0)) continue;
        double wrong = r->r + r->compliance * r->z, change = coupled_rate(r, c->step);
        r->more = -(wrong + change) * r->hard;
        r->z += r->more;
        coupled_push(r, r->more, c->y);
        left = fmax(left, fabs(wrong)), taken = fmax(taken, fabs(change + r->compliance * r->more));
    }
    return left > 0 ? taken / left : 0;
}

/* Rows that contradict each other keep their residuals: each of the `rounds` steps added the same forces,
 * which hold each other and move nothing.  They are taken back. */
static void release(coupled *c, int rounds) {
    for (int i = 0; i < c->count; i++) {
        coupled_row *r = &c->rows[i];
        if (!r->holds) continue;
        coupled_push(r, -rounds * r->more, c->y);
        r->z -= rounds * r->more;
    }
}

/* Steps with one ease from the residual `left`.  *contradicts: what is left is no direction in which anything
 * moves. */
static double attempt(coupled *c, double ease, double scale, double left, bool *contradicts) {
    if (!factor(c, ease)) return INFINITY;
    double taken = 1, before = INFINITY;
    int round = 0;
    for (int stalls = 0; left > COUPLED_DONE && round < COUPLED_ROUNDS && stalls < COUPLED_STALLS;) {
        before = left;
        taken = improve(c), round++;
        left = residual(c, scale);
        if (left > 0.5 * before) stalls = taken < COUPLED_STANDS ? COUPLED_STALLS : stalls + 1;
    }
    *contradicts = left > 0.5 * before && taken < COUPLED_STANDS;
    if (left > COUPLED_DONE && left > 0.5 * before) {
        release(c, round);
        left = residual(c, scale);
    }
    return left;
}

bool coupled_solve(coupled *c, double scale) {
    c->is_wide = false;
    if (c->wide) coupled_wide_begin(c);
    for (int i = 0; i < c->count; i++) {
        if (c->rows[i].z != 0) coupled_push(&c->rows[i], c->rows[i].z, c->y);
        c->rows[i].more = 0;
    }
    if (!(scale > 0)) scale = 1;
    bool contradicts = false;
    double left = residual(c, scale);
    for (int k = 0; k < 2 && left > GOOD && (c->thorough || !contradicts); k++)
        left = attempt(c, eases[k], scale, left, &contradicts);
    if (c->wide && left > GOOD) left = coupled_wide_solve(c, eases[0], scale, &contradicts);
    c->left = left;
    return left <= (contradicts ? c->slight : GOOD);
}
