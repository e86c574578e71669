/* The distribution of least norm over the bodies (see share.h), for groups of many points.
 *
 *     min |z|^2 / 2,   V z = y,   lo <= z <= hi          z_i = v_i . p between the bounds
 *
 * With the unknowns at their bounds given, K p = y - (what those do), K = sum of v_i v_i^T over the others:
 * six equations a body, sparse as the contact graph.  K is singular where nothing holds; with the diagonal
 * raised by EASE of itself it is not, and a few steps of the proximal point method take that back,
 *
 *     p <- p + (K + EASE diag K)^-1 (y - V V^T p)
 *
 * since y has no part in the directions that K does not have.  Bounds that are broken, and unknowns that the
 * least norm would take off theirs, change sides all at once while their number falls, one by one otherwise.
 */
#include "dynamics/share.h"

#include "numerics/block_lu.h"

#define EASE 1e-9
/* Of |y|: steps end here; more than the second is another load. */
#define DONE 1e-14
#define SAME 1e-9
/* A force is determined where the equations leave less of it open than this. */
#define OPEN 1e-6
enum { REFINEMENTS = 12, PATIENCE = 3 };

typedef struct part {
    int block[2]; /* -1: none */
    double v[2][BLOCK_SIDE];
} part;

typedef struct norm {
    const group_system *s;
    part *parts;
    int size; /* coordinates */
    block_lu matrix;
    double *y, *load, *rest, *p, *step, *work;
} norm;

static double times(const part *v, const double *p) {
    double sum = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; v->block[k] >= 0 && i < BLOCK_SIDE; i++)
            sum += v->v[k][i] * p[BLOCK_SIDE * v->block[k] + i];
    return sum;
}

static void push(const part *v, double z, double *y) {
    for (int k = 0; k < 2; k++)
        for (int i = 0; v->block[k] >= 0 && i < BLOCK_SIDE; i++)
            y[BLOCK_SIDE * v->block[k] + i] += z * v->v[k][i];
}

static bool make(const dense *d, arena *scratch, norm *t) {
    const group_system *s = d->s;
    int blocks = d->space.dimension / BLOCK_SIDE;
    size_t n = (size_t)d->space.dimension + 1, m = (size_t)s->count + 1;
    *t = (norm){.s = s, .size = d->space.dimension};
    t->parts = arena_alloc(scratch, m, sizeof *t->parts);
    block_pair *pairs = arena_alloc(scratch, m, sizeof *pairs);
    double *memory = arena_alloc(scratch, 6 * n, sizeof(double));
    if (!t->parts || !pairs || !memory) return false;
    t->y = memory, t->load = t->y + n, t->rest = t->load + n, t->p = t->rest + n, t->step = t->p + n,
    t->work = t->step + n;
    for (int i = 0; i < s->count; i++) {
        int first[2];
        system_space_parts(&d->space, s->g, &s->columns[i], first, t->parts[i].v);
        for (int k = 0; k < 2; k++) t->parts[i].block[k] = first[k] >= 0 ? first[k] / BLOCK_SIDE : -1;
        pairs[i] = (block_pair){t->parts[i].block[0], t->parts[i].block[1]};
    }
    return block_lu_plan(blocks, pairs, s->count, scratch, &t->matrix);
}

/* K + EASE diag K of the marked unknowns, factored. */
static bool factor(norm *t, const bool *in) {
    block_lu_clear(&t->matrix);
    for (int i = 0; i < t->s->count; i++) {
        const part *v = &t->parts[i];
        for (int k = 0; k < 4 && in[i]; k++) {
            int a = v->block[k / 2], b = v->block[k % 2];
            if (a < 0 || b < 0) continue;
            double *at = block_lu_entry(&t->matrix, a, b);
            for (int p = 0; p < BLOCK_SIDE; p++)
                for (int q = 0; q < BLOCK_SIDE; q++)
                    at[BLOCK_SIDE * p + q] += v->v[k / 2][p] * v->v[k % 2][q];
        }
    }
    for (int i = 0; i < t->size; i++) {
        double *d =
            block_lu_entry(&t->matrix, i / BLOCK_SIDE, i / BLOCK_SIDE) + (BLOCK_SIDE + 1) * (i % BLOCK_SIDE);
        *d = *d > 0 ? *d * (1 + EASE) : 1;
    }
    return block_lu_factor(&t->matrix);
}

static double length(const double *v, int n) { return sqrt(dense_dot(v, v, n)); }

/* p with K p = y as well as it can; the rest, y - K p, is left in t->rest.  Its length. */
static double solve(norm *t, const bool *in, const double *y, double *p) {
    size_t bytes = (size_t)t->size * sizeof(double);
    double size = length(y, t->size), left = size;
    memset(p, 0, bytes);
    memcpy(t->rest, y, bytes);
    for (int round = 0; round < REFINEMENTS && left > DONE * size; round++) {
        block_lu_solve(&t->matrix, t->rest, t->step, t->work);
        for (int i = 0; i < t->size; i++) p[i] += t->step[i];
        for (int i = 0; i < t->s->count; i++)
            if (in[i]) push(&t->parts[i], -times(&t->parts[i], t->step), t->rest);
        double before = left;
        left = length(t->rest, t->size);
        if (left > 0.5 * before) break;
    }
    return left;
}

/* What the equations leave open of an unknown: 1 - v . K^+ v, from 0 (determined) to 1. */
static void find_determined(norm *t, const bool *in, bool *determined) {
    for (int i = 0; i < t->s->count; i++) {
        if (!in[i]) continue;
        memset(t->load, 0, (size_t)t->size * sizeof(double));
        push(&t->parts[i], 1, t->load);
        solve(t, in, t->load, t->p);
        determined[i] = 1 - times(&t->parts[i], t->p) < OPEN;
    }
}

/* The wish of an unknown to change sides: how far it is beyond a bound, or would be inside of it. */
static double wish_of(const norm *t, const bool *may, const bool *in, const double *z, int i) {
    const group_system *s = t->s;
    if (in[i]) return fmax(s->lo[i] - z[i], z[i] - s->hi[i]);
    if (!may[i]) return -INFINITY;
    double wish = times(&t->parts[i], t->p);
    return z[i] <= s->lo[i] ? wish - s->lo[i] : s->hi[i] - wish;
}

static void change_side(const group_system *s, bool *in, double *z, int i) {
    in[i] = !in[i];
    if (!in[i]) z[i] = z[i] < s->lo[i] ? s->lo[i] : s->hi[i];
}

/* One round for the marked unknowns: their z, the wish of each unknown to change sides, how many have one.
 * *left: the part of the load that is not carried. */
static int try_marked(norm *t, const bool *may, const bool *in, double tiny, double *z, double *wish,
                      double *left) {
    const group_system *s = t->s;
    double *load = t->load;
    int wrong = 0;
    memcpy(load, t->y, (size_t)t->size * sizeof(double));
    for (int i = 0; i < s->count; i++)
        if (!in[i] && z[i] != 0) push(&t->parts[i], -z[i], load);
    *left = solve(t, in, load, t->p) / fmax(length(t->y, t->size), 1e-300);
    for (int i = 0; i < s->count; i++)
        if (in[i]) z[i] = times(&t->parts[i], t->p);
    for (int i = 0; i < s->count; i++) wish[i] = wish_of(t, may, in, z, i), wrong += wish[i] > tiny;
    return wrong;
}

static int largest(const double *wish, int count) {
    int best = 0;
    for (int i = 1; i < count; i++)
        if (wish[i] > wish[best]) best = i;
    return best;
}

bool share_norm(const dense *d, const bool *may, const double *start, double tiny, arena *scratch, double *z,
                bool *determined, bool *found) {
    norm t;
    const group_system *s = d->s;
    bool *in = arena_alloc(scratch, (size_t)s->count + 1, 1);
    double *wish = arena_alloc(scratch, (size_t)s->count + 1, sizeof(double)), left;
    *found = false;
    if (!in || !wish || !make(d, scratch, &t)) return false;
    for (int i = 0; i < s->count; i++) {
        in[i] = may[i], z[i] = start[i];
        if (determined) determined[i] = true;
        push(&t.parts[i], start[i], t.y);
    }
    int fewest = s->count + 1, patience = PATIENCE;
    for (int step = 0; step < 3 * s->count + 10; step++) {
        if (!factor(&t, in)) return true;
        if (step == 0 && determined) find_determined(&t, in, determined);
        int wrong = try_marked(&t, may, in, tiny, z, wish, &left);
        if (wrong == 0) {
            *found = left <= SAME;
            return true;
        }
        patience = wrong < fewest ? PATIENCE : patience - 1;
        fewest = wrong < fewest ? wrong : fewest;
        if (patience < 0) change_side(s, in, z, largest(wish, s->count));
        for (int i = 0; i < s->count && patience >= 0; i++)
            if (wish[i] > tiny) change_side(s, in, z, i);
    }
    return true;
}
