/* What is unique in a solution, and the solution of least norm.
 *
 * Let (y, v) be a solution and E the rows with v = 0. All solutions are y + d with a_EE d_E = 0, d = 0
 * outside E, inside the bounds.  Both questions are projections onto such a set,
 *
 *     least |y - r|_m   with   a (y - y*) = 0,  lo <= y <= hi          (rows outside E: lo = hi = y*)
 *
 * solved by the method of multipliers: with q_0 = -a y* the problem of lcp_pivot.c with q and centre r, then
 * q := q + (a y + q_0), until a y + q_0 = 0. The error falls by delta / (delta + lambda) a round.
 *
 * Least norm: r = 0.  Determined: row k is not when some direction d of the set moves it.  Rows at a bound
 * can move one way only; which of them can move at all is found by projecting their allowed signs onto the
 * cone of directions, until no more are found; the others stay. Two random vectors projected onto what is
 * left then show, with probability one, every row that some direction moves.
 */
#include "numerics/lcp_pivot.h"

#include <math.h>

enum { MOST_ROUNDS = 80, MOST_CONES = 16, PROBES = 2 };
#define DELTA       1e-3
#define DELTA_LEAST 1e-11
#define MOVES       1e-7 /* a component of a projected direction larger than this is not 0 */
#define LEAST_UNIT \
    1e-4 /* least weight of a row in the norm, relative to the largest, squared: rounding allows no less */

typedef struct family {
    lcp_pivoting p;
    double *aim;   /* q_0 = -a y* */
    double *start; /* y*, then the least-norm solution */
    uint8_t *in;   /* row is in E */
} family;

/* (a (y - y*))_k; added to q and v it moves the multiplier. Returns the largest over E. */
static double move_multiplier(family *f) {
    lcp_pivoting *p = &f->p;
    double miss = 0;
    for (int k = 0; k < p->system.size; k++) {
        if (!f->in[k]) continue;
        lcp_sum r = {f->aim[k], 0};
        for (int t = p->system.start[k]; t < p->system.start[k + 1]; t++)
            lcp_sum_product(&r, p->system.value[t], p->y[p->system.column[t]]);
        miss = fmax(miss, fabs(r.s + r.e));
        p->system.q[k] += r.s + r.e;
    }
    return miss;
}

/* The projection; y is left in p.y. delta is lowered where rounds gain little. False when the budget ends. */
static bool project(family *f) {
    lcp_pivoting *p = &f->p;
    int n = p->system.size;
    double size = 0, last = (double)INFINITY;
    int calm = 0;
    memcpy(p->system.q, f->aim, (size_t)n * sizeof(double));
    for (int k = 0; k < n; k++) size = fmax(size, fmax(fabs(f->start[k]), fabs(p->center[k])));
    p->pivots = 0, p->delta = DELTA, p->careful = true;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        lcp_pivoting_bound(p);
        if (!lcp_pivoting_run(p, false)) return false;
        double miss = move_multiplier(f);
        if (miss <= 1e-15 * size && ++calm == 2) break; /* the second round refines what a does not see */
        if (miss > 0.1 * last && p->delta > DELTA_LEAST) {
            for (int k = 0; k < n; k++) p->system.q[k] = f->aim[k] + 0.1 * (p->system.q[k] - f->aim[k]);
            p->delta *= 0.1;
        }
        last = miss;
    }
    return true;
}

static bool prepare(family *f, abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                    const double *z, const double *w) {
    size_t n = (size_t)rows->size;
    lcp_pivoting *p = &f->p;
    if (!lcp_pivoting_init(p, solver, rows, problem->b)) return false;
    f->aim = arena_alloc(&solver->scratch, n, sizeof(double));
    f->start = arena_alloc(&solver->scratch, n, sizeof(double));
    f->in = arena_alloc(&solver->scratch, n, 1);
    if (!f->aim || !f->start || !f->in) return false;
    p->delta = DELTA, p->budget = 1000 + 100 * rows->size;
    lcp_system_bounds(&p->system, problem, z);
    double largest = 0;
    for (size_t k = 0; k < n; k++) largest = fmax(largest, p->system.scale[k]);
    for (size_t k = 0; k < n; k++) {
        int i = p->system.order[k];
        double unit = p->system.scale[k] / largest;
        p->metric[k] = fmax(unit * unit, LEAST_UNIT);
        f->start[k] = z[i] * p->system.beta / p->system.scale[k];
        f->in[k] = fabs(w[i]) * p->system.scale[k] * p->system.beta * p->system.weight[k] <= 1e-9 &&
                   p->system.lo[k] < p->system.hi[k];
        if (!f->in[k]) p->system.lo[k] = p->system.hi[k] = f->start[k];
    }
    /* rows outside E shift the right side of those inside: aim = -a y* takes them in */
    for (size_t k = 0; k < n; k++) {
        lcp_sum sum = {0, 0};
        for (int t = p->system.start[k]; t < p->system.start[k + 1]; t++)
            lcp_sum_product(&sum, -p->system.value[t], f->start[p->system.column[t]]);
        f->aim[k] = sum.s + sum.e;
    }
    return true;
}

static bool least_norm(family *f) {
    int n = f->p.system.size;
    memcpy(f->p.y, f->start, (size_t)n * sizeof(double));
    for (int k = 0; k < n; k++) {
        const lcp_system *s = &f->p.system;
        f->p.center[k] = 0;
        f->p.state[k] = f->start[k] <= s->lo[k]   ? ABUT_LCP_AT_LOWER
                        : f->start[k] >= s->hi[k] ? ABUT_LCP_AT_UPPER
                                                  : ABUT_LCP_FREE;
    }
    if (!project(f)) return false;
    memcpy(f->start, f->p.y, (size_t)n * sizeof(double));
    return true;
}

/* The bounds of directions: a row at a bound may move away from it only. `sign` gets +1, -1 for those rows, 0
 * for others. */
static void direction_bounds(family *f, int8_t *sign) {
    lcp_system *s = &f->p.system;
    double size = 0;
    for (int k = 0; k < s->size; k++) size = fmax(size, fabs(f->start[k]));
    for (int k = 0; k < s->size; k++) {
        bool low = f->start[k] - s->lo[k] <= 1e-9 * size, high = s->hi[k] - f->start[k] <= 1e-9 * size;
        sign[k] = (int8_t)(f->in[k] ? low - high : 0);
        s->lo[k] = !f->in[k] || low ? 0 : -(double)INFINITY,
        s->hi[k] = !f->in[k] || high ? 0 : (double)INFINITY;
        f->aim[k] = 0, f->p.metric[k] = 1, f->p.y[k] = 0, f->p.state[k] = ABUT_LCP_FREE;
    }
}

/* Frees the rows at bounds that some direction moves; fixes the others. */
static bool open_cone(family *f, const int8_t *sign) {
    lcp_system *s = &f->p.system;
    bool found = true;
    for (int round = 0; round < MOST_CONES && found; round++) {
        found = false;
        bool any = false;
        for (int k = 0; k < s->size; k++) {
            bool held = sign[k] != 0 && (isfinite(s->lo[k]) || isfinite(s->hi[k]));
            f->p.center[k] = held ? sign[k] : 0, any |= held, f->p.y[k] = 0;
        }
        if (!any) return true;
        if (!project(f)) return false;
        for (int k = 0; k < s->size; k++)
            if (f->p.center[k] != 0 && fabs(f->p.y[k]) > MOVES)
                s->lo[k] = -(double)INFINITY, s->hi[k] = (double)INFINITY, f->p.state[k] = ABUT_LCP_FREE,
                found = true;
    }
    for (int k = 0; k < s->size; k++)
        if (sign[k] != 0 && (isfinite(s->lo[k]) || isfinite(s->hi[k]))) s->lo[k] = s->hi[k] = 0;
    return true;
}

/* moves[k]: some direction of the family moves row k. */
static bool find_moving(family *f, arena *scratch, uint8_t *moves) {
    lcp_system *s = &f->p.system;
    int8_t *sign = arena_alloc(scratch, (size_t)s->size, sizeof *sign);
    if (!sign) return false;
    direction_bounds(f, sign);
    if (!open_cone(f, sign)) return false;
    uint64_t seed = 0x9e3779b97f4a7c15u;
    for (int probe = 0; probe < PROBES; probe++) {
        for (int k = 0; k < s->size; k++) {
            f->p.center[k] = s->lo[k] < s->hi[k] ? random_range(&seed, 0.5, 1.0) : 0, f->p.y[k] = 0;
            if (random_bits(&seed) & 1) f->p.center[k] = -f->p.center[k];
        }
        if (!project(f)) return false;
        for (int k = 0; k < s->size; k++) moves[k] |= fabs(f->p.y[k]) > MOVES;
    }
    return true;
}

/* Is z the only solution?  The matrix of E is positive definite (its pivots are far from 0), or no direction
 * moves a row. */
abut_status lcp_unique(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                       const double *z, const double *w, bool *unique, abut_error *error) {
    family f = {0};
    int n = rows->size;
    uint8_t *moves = arena_alloc(&solver->scratch, (size_t)n, 1);
    if (!moves || !prepare(&f, solver, problem, rows, z, w)) return fail_memory(error);
    for (int k = 0; k < n; k++) f.p.state[k] = f.in[k] ? ABUT_LCP_FREE : ABUT_LCP_AT_LOWER;
    lcp_factor_update(&f.p.factor, &f.p.system, f.p.state, 1e-7, f.p.metric);
    bool regular = true;
    for (int k = 0; k < n; k++) regular &= !f.in[k] || f.p.factor.pivot[k] > 1e-4;
    *unique = regular;
    if (regular || !find_moving(&f, &solver->scratch, moves)) return ABUT_OK;
    *unique = true;
    for (int k = 0; k < n; k++) *unique &= !moves[k];
    return ABUT_OK;
}

abut_status abut_lcp_determine(abut_lcp_solver *solver, const abut_lcp *problem, const double *z,
                               const double *w, bool *determined, double *least, abut_error *error) {
    arena_mark mark = arena_save(&solver->scratch);
    lcp_rows rows = {0};
    family f = {0};
    abut_status status = lcp_rows_of(&solver->scratch, problem, &rows, error);
    uint8_t *moves = arena_alloc(&solver->scratch, (size_t)problem->size, 1);
    if (status == ABUT_OK && (!moves || !prepare(&f, solver, problem, &rows, z, w)))
        status = fail_memory(error);
    if (status == ABUT_OK && (!least_norm(&f) || (determined && !find_moving(&f, &solver->scratch, moves))))
        status =
            fail(error, ABUT_BUDGET, "the solutions could not be told apart within the budget of pivots");
    const lcp_system *s = &f.p.system;
    for (int k = 0; k < problem->size && status == ABUT_OK; k++) {
        int i = s->order[k];
        double lo = lcp_lower(problem, z, i), hi = lcp_upper(problem, z, i);
        if (least) least[i] = f.in[k] ? fmin(fmax(f.start[k] * s->scale[k] / s->beta, lo), hi) : z[i];
        if (determined) determined[i] = !moves[k];
    }
    arena_restore(&solver->scratch, mark);
    return status;
}
