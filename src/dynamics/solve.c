/* Solving a system for given modes of friction (see system.h).
 *
 * Symmetric systems (no slip) go to the exact complementarity kernel, sparse, warm-started from the last
 * states. Systems with slip are not symmetric and small: the last states are tried first, so that where rigid
 * friction has two solutions the one that continues is taken; then pivots on the worst violation; then
 * Lemke's method, after which the states it found are solved again for the last digits and the least norm. */
#include "dynamics/solve.h"
#include "abut/complementarity.h"
#include "dynamics/states.h"

/* |j_linear| |x_linear| + |j_angular| |x_angular| */
static double product_size(spatial j, spatial x) {
    return vec3_length(j.linear) * vec3_length(x.linear) + vec3_length(j.angular) * vec3_length(x.angular);
}

/* The size of what the rows compare, before it cancels: two bodies that fall together have b = 0 to rounding,
 * and a residual relative to that would be noise. */
static double scale_of(const group_system *s) {
    double most = 0;
    for (int i = 0; i < s->count; i++) {
        const row *r = &s->rows[i];
        double size = fabs(s->offset[i]);
        if (r->a >= 0) size += product_size(r->ja, s->base[r->a]);
        if (r->b >= 0) size += product_size(r->jb, s->base[r->b]);
        most = fmax(most, size);
    }
    return most > 0 ? most : 1;
}

/* ---- dense: columns in the space of unit masses */

bool dense_begin(const group_system *s, arena *scratch, dense *out) {
    *out = (dense){.s = s};
    return system_space_make(s->g, scratch, &out->space);
}

bool dense_fill(dense *d, arena *scratch) {
    const group_system *s = d->s;
    size_t n = (size_t)d->space.dimension;
    if (d->w) return true;
    d->w = arena_alloc(scratch, n * s->count + 1, sizeof(double));
    d->v = s->symmetric ? d->w : arena_alloc(scratch, n * s->count + 1, sizeof(double));
    if (!d->w || !d->v) return false;
    for (int i = 0; i < s->count; i++) {
        system_space_column(&d->space, s->g, &s->rows[i], d->w + n * i);
        if (!s->symmetric) system_space_column(&d->space, s->g, &s->columns[i], d->v + n * i);
    }
    return true;
}

bool dense_make(const group_system *s, arena *scratch, dense *out) {
    return dense_begin(s, scratch, out) && dense_fill(out, scratch);
}

void dense_push(const dense *d, int i, double z, double *y) {
    int first[2];
    double value[2][6];
    system_space_parts(&d->space, d->s->g, &d->s->columns[i], first, value);
    for (int k = 0; k < 2; k++)
        for (int j = 0; first[k] >= 0 && j < 6; j++) y[first[k] + j] += z * value[k][j];
}

/* The z of least norm with w = 0 on the free unknowns, the others at their bounds:
 *     W_F^T y = c   has the solutions y = y* + (orthogonal to all W_F);  y = V_F z_F
 *     => Q^T V_F z_F = Q^T y*  with Q the range of W_F
 * so that no condition number is squared. */
bool dense_solve_states(const dense *d, const uint8_t *state, double *z, arena *scratch) {
    const group_system *s = d->s;
    int n = d->space.dimension, count = 0;
    int *list = arena_alloc(scratch, (size_t)s->count + 1, sizeof(int));
    double *fixed = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    double *wf = arena_alloc(scratch, (size_t)n * s->count + 1, sizeof(double));
    if (!list || !fixed || !wf) return false;
    for (int i = 0; i < s->count; i++) {
        const double *v = d->v + (size_t)n * i;
        if (state[i] == ABUT_LCP_FREE) {
            memcpy(wf + (size_t)n * count, d->w + (size_t)n * i, (size_t)n * sizeof(double));
            list[count++] = i;
            continue;
        }
        z[i] = state[i] == ABUT_LCP_AT_LOWER ? s->lo[i] : s->hi[i];
        if (z[i] != 0)
            for (int k = 0; k < n; k++) fixed[k] += z[i] * v[k];
    }
    double *c = arena_alloc(scratch, (size_t)count + 1, sizeof(double));
    double *y = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    least_norm range, forces;
    if (!c || !y || !least_norm_factor(wf, n, count, DENSE_RANK, scratch, &range)) return false;
    for (int i = 0; i < count; i++) c[i] = -(s->b[list[i]] + dense_dot(wf + (size_t)n * i, fixed, n));
    least_norm_solve_transposed(&range, c, y);
    double *zf = arena_alloc(scratch, (size_t)count + 1, sizeof(double));
    if (!zf) return false;
    if (s->symmetric) {
        least_norm_solve(&range, y, zf);
        for (int i = 0; i < count; i++) z[list[i]] = zf[i];
        return true;
    }

    double *m = arena_alloc(scratch, (size_t)range.rank * count + 1, sizeof(double));
    double *g = arena_alloc(scratch, (size_t)range.rank + 1, sizeof(double));
    if (!m || !g) return false;
    for (int k = 0; k < range.rank; k++) {
        g[k] = dense_dot(range.q + (size_t)n * k, y, n);
        for (int i = 0; i < count; i++)
            m[(size_t)range.rank * i + k] = dense_dot(range.q + (size_t)n * k, d->v + (size_t)n * list[i], n);
    }
    if (!least_norm_factor(m, range.rank, count, DENSE_RANK, scratch, &forces)) return false;
    least_norm_solve(&forces, g, zf);
    for (int i = 0; i < count; i++) z[list[i]] = zf[i];
    return true;
}

/* What forces are known to, as a part of the largest at the body that carries less: where masses differ much
 * the contradictions of redundant points, which are rounding, over the ease (numerics/coupled.h) are forces.
 */
#define WIDE_ROUNDING 1e-9

/* The largest |z| at each body, of a wide solution. */
static void measure_loads(const states *t, const system_solution *sol, double *most) {
    for (int i = 0; i < t->equations.blocks; i++) most[i] = 0;
    for (int i = 0; i < t->s->count; i++)
        for (int k = 0; k < 2; k++) {
            int block = t->rows[i].block[k];
            if (block >= 0) most[block] = fmax(most[block], fabs(sol->z[i]));
        }
}

/* How large a force along row i is at its lesser body, beside rounding. */
static double rounding_of(const states *t, const system_solution *sol, int i) {
    double least = INFINITY;
    for (int k = 0; sol->wide && k < 2; k++) {
        int block = t->rows[i].block[k];
        if (block >= 0) least = fmin(least, t->loads[block]);
    }
    return sol->wide && isfinite(least) ? WIDE_ROUNDING * least : 0;
}

/* The unknown that violates its bound or sign most (or the first that does), and the state it should have;
 * -1. Forces are compared as the accelerations they cause alone. */
static int worst_violation(const states *t, const system_solution *sol, double tolerance, bool first,
                           uint8_t *next) {
    const group_system *s = t->s;
    int worst = -1;
    double most = tolerance * sol->scale;
    for (int i = 0; i < s->count; i++) {
        double mobility = t->rows[i].size, below = 0, above = 0;
        if (sol->state[i] == ABUT_LCP_FREE) {
            double slack = rounding_of(t, sol, i);
            below = (s->lo[i] - sol->z[i] - slack) * mobility;
            above = (sol->z[i] - s->hi[i] - slack) * mobility;
            if (below > most) most = below, worst = i, *next = ABUT_LCP_AT_LOWER;
            if (above > most) most = above, worst = i, *next = ABUT_LCP_AT_UPPER;
        } else {
            double wrong = sol->state[i] == ABUT_LCP_AT_LOWER ? -sol->w[i] : sol->w[i];
            if (wrong > most) most = wrong, worst = i, *next = ABUT_LCP_FREE;
        }
        if (first && worst >= 0) return worst;
    }
    return worst;
}

static void evaluate(const group_system *s, system_solution *sol) {
    if (!sol->wide) system_apply(s, sol->z, sol->x);
    system_rates(s, sol->x, sol->w);
}

static bool is_bilateral(const group_system *s, int i) { return isinf(s->lo[i]) && isinf(s->hi[i]); }

/* Redundant hinges of a loop agree only as well as the positions do, which between two corrections of the
 * drift is the accuracy of the integration: what least squares leaves below this part of the scale is not a
 * contradiction. */
#define SLIGHT_MISS 1e-6

/* Whether the free rows are met. */
static bool free_rows_hold(const group_system *s, const system_solution *sol, double tolerance) {
    double most = 0;
    bool bilateral = false;
    for (int i = 0; i < s->count; i++) {
        bilateral |= is_bilateral(s, i);
        if (sol->state[i] == ABUT_LCP_FREE) most = fmax(most, fabs(sol->w[i]));
    }
    return most <= (bilateral ? SLIGHT_MISS : tolerance) * sol->scale;
}

/* Unknowns from which all points that pull are let go at once. */
enum { LARGE_SYSTEM = 60 };

/* Unknowns up to which a dense decomposition is tried where the complementarity kernel could decide too. */
enum { SMALL_SYSTEM = 100 };

/* z for the states of the solution: over the bodies, or densely where nearly dependent rows need all digits.
 * Over the bodies open loads are those of an elastic foundation, with slip as without: linear over a face,
 * whatever the directions of slip.  (The z of least norm hangs on those directions, and for a corner of a
 * face about which the face turns there may be none that agrees with it.)  *solved is false where that is
 * left to the kernel.  False when memory is out. */
static bool solve_states(states *t, arena *scratch, system_solution *sol, bool *solved) {
    const double *start = t->s->symmetric ? sol->start : NULL;
    *solved = states_solve(t, sol->state, sol->scale, start, sol->z);
    sol->wide = *solved && t->equations.is_wide;
    if (sol->wide) states_motion(t, sol->x);
    bool refused = !*solved && sol->trial && t->equations.left > t->equations.slight;
    if (refused) sol->outcome = SYSTEM_BUDGET;
    if (*solved || refused || t->s->count > SMALL_SYSTEM) return true;
    *solved = true;
    arena_mark mark = arena_save(scratch);
    dense d;
    bool memory = dense_make(t->s, scratch, &d) && dense_solve_states(&d, sol->state, sol->z, scratch);
    arena_restore(scratch, mark);
    return memory;
}

/* Lets go all points that pull.  Of many redundant ones that is most of the way; those that are missed then
 * come back by the steps that follow. */
static void let_go(const states *t, double tolerance, system_solution *sol) {
    const group_system *s = t->s;
    for (int i = 0; i < s->count; i++) {
        if (sol->state[i] != ABUT_LCP_FREE || !isfinite(s->lo[i])) continue;
        if ((s->lo[i] - sol->z[i]) * t->rows[i].size <= tolerance * sol->scale) continue;
        sol->state[i] = ABUT_LCP_AT_LOWER, sol->pivots++;
    }
}

/* How many different states the unknowns with bounds can have; `most` where there are more. */
static int count_states(const group_system *s, int most) {
    int count = 1;
    for (int i = 0; i < s->count && count < most; i++)
        if (!is_bilateral(s, i)) count *= isfinite(s->lo[i]) && isfinite(s->hi[i]) ? 3 : 2;
    return count < most ? count : most;
}

/* Pivots from the given states: in large systems first all that pull at once, then the worst violation first;
 * after `count` steps the first one (Murty's rule, which cannot cycle where the matrix is a P-matrix). Either
 * rule knows nothing but the states: what has not ended after as many steps as there are states goes round in
 * a circle.  True when they end in a solution; false at the budget or where the free rows have none.  *memory
 * is false when memory is out. */
static bool pivot(states *t, double tolerance, int budget, arena *scratch, system_solution *sol,
                  bool *memory) {
    int worst_first = count_states(t->s, t->s->count);
    if (budget > worst_first) budget = worst_first + count_states(t->s, budget - worst_first);
    for (int step = 0; step <= budget; step++) {
        bool solved;
        *memory = solve_states(t, scratch, sol, &solved);
        if (!*memory || !solved) return false;
        evaluate(t->s, sol);
        if (sol->wide) measure_loads(t, sol, t->loads);
        uint8_t next = 0;
        int worst = worst_violation(t, sol, tolerance, step > worst_first, &next);
        if (worst < 0) return free_rows_hold(t->s, sol, tolerance);
        sol->state[worst] = next, sol->pivots++;
        if (step == 0 && t->s->count > LARGE_SYSTEM) let_go(t, tolerance, sol);
    }
    return false;
}

/* ---- Lemke on the unknowns with bounds, the bilateral ones taken out */

/* Takes the bilateral rows B out of the problem:
 *     W_B^T (y_B + P V_U z_U) = -b_B   with  P = 1 - Q_B Q_B^T,   A' = W_U^T P V_U,   b' = b_U + W_U^T y_B */
bool dense_reduce(const dense *d, arena *scratch, dense_reduced *out) {
    const group_system *s = d->s;
    int n = d->space.dimension, held = 0;
    out->list = arena_alloc(scratch, (size_t)s->count + 1, sizeof(int));
    double *wb = arena_alloc(scratch, (size_t)n * s->count + 1, sizeof(double));
    double *c = arena_alloc(scratch, (size_t)s->count + 1, sizeof(double));
    out->y = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    if (!out->list || !wb || !c || !out->y) return false;
    out->count = 0;
    for (int i = 0; i < s->count; i++) {
        if (!is_bilateral(s, i)) {
            out->list[out->count++] = i;
            continue;
        }
        memcpy(wb + (size_t)n * held, d->w + (size_t)n * i, (size_t)n * sizeof(double));
        c[held++] = -s->b[i];
    }
    if (!least_norm_factor(wb, n, held, DENSE_RANK, scratch, &out->bilateral)) return false;
    least_norm_solve_transposed(&out->bilateral, c, out->y);
    return true;
}

/* The columns P V of the listed unknowns. */
static double *projected_columns(const dense *d, const dense_reduced *r, arena *scratch) {
    size_t n = (size_t)d->space.dimension;
    double *m = arena_alloc(scratch, n * r->count + 1, sizeof(double));
    for (int j = 0; m && j < r->count; j++) {
        memcpy(m + n * j, d->v + n * r->list[j], n * sizeof(double));
        least_norm_take_out(&r->bilateral, m + n * j);
    }
    return m;
}

static void set_states(const group_system *s, const dense_reduced *r, const uint8_t *state,
                       system_solution *sol) {
    for (int i = 0; i < s->count; i++) sol->state[i] = ABUT_LCP_FREE;
    for (int j = 0; j < r->count; j++) sol->state[r->list[j]] = state[j];
}

void dense_shift_bounds(int count, const double *matrix, double *b, double *lo, double *hi) {
    for (int j = 0; j < count; j++) {
        if (lo[j] == 0 || isinf(lo[j])) continue;
        for (int i = 0; i < count; i++) b[i] += matrix[(size_t)i * count + j] * lo[j];
        hi[j] -= lo[j], lo[j] = 0;
    }
}

/* States from Lemke's method.  INFEASIBLE: its path ended in a ray. */
static abut_status lemke_states(const dense *d, const dense_reduced *r, const double *columns,
                                const group_scratch *scratch, int budget, system_solution *sol) {
    const group_system *s = d->s;
    arena *a = scratch->arena;
    int n = d->space.dimension, m = r->count;
    double *matrix = arena_alloc(a, (size_t)m * m + 1, sizeof(double));
    double *array = arena_alloc(a, 5 * (size_t)m + 1, sizeof(double));
    uint8_t *state = arena_alloc(a, (size_t)m + 1, 1);
    if (!matrix || !array || !state) return ABUT_NO_MEMORY;
    double *b = array, *lo = b + m, *hi = lo + m, *z = hi + m, *w = z + m;
    for (int j = 0; j < m; j++) {
        const double *row_j = d->w + (size_t)n * r->list[j];
        for (int i = 0; i < m; i++)
            matrix[(size_t)i * m + j] = dense_dot(d->w + (size_t)n * r->list[i], columns + (size_t)n * j, n);
        b[j] = s->b[r->list[j]] + dense_dot(row_j, r->y, n);
        lo[j] = s->lo[r->list[j]], hi[j] = s->hi[r->list[j]];
    }
    dense_shift_bounds(m, matrix, b, lo, hi);
    abut_lcp problem = {.size = m, .dense = matrix, .b = b, .lo = lo, .hi = hi};
    abut_lcp_config config = abut_default_lcp_config();
    config.method = ABUT_LCP_LEMKE, config.budget = budget;
    abut_lcp_result result;
    abut_status status = abut_lcp_solve(scratch->lcp, &problem, &config, state, z, w, &result, NULL);
    sol->pivots += result.pivots;
    if (status == ABUT_OK) set_states(s, r, state, sol);
    return status;
}

/* States from projected Gauss-Seidel: z <- clamp(z - w / A_ii). */
static bool sweep_states(const dense *d, const dense_reduced *r, const double *columns, int sweeps,
                         arena *scratch, system_solution *sol) {
    const group_system *s = d->s;
    int n = d->space.dimension;
    double *y = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    double *z = arena_alloc(scratch, (size_t)r->count + 1, sizeof(double));
    uint8_t *state = arena_alloc(scratch, (size_t)r->count + 1, 1);
    if (!y || !z || !state) return false;
    memcpy(y, r->y, (size_t)n * sizeof(double));
    for (int j = 0; j < r->count; j++) {
        z[j] = fmax(s->lo[r->list[j]], fmin(s->hi[r->list[j]], 0));
        for (int k = 0; k < n; k++) y[k] += z[j] * columns[(size_t)n * j + k];
    }
    for (int sweep = 0; sweep < sweeps; sweep++)
        for (int j = 0; j < r->count; j++) {
            int i = r->list[j];
            const double *v = columns + (size_t)n * j, *w = d->w + (size_t)n * i;
            double mobility = dense_dot(w, v, n);
            if (!(mobility > 0)) continue;
            double next = fmin(fmax(z[j] - (s->b[i] + dense_dot(w, y, n)) / mobility, s->lo[i]), s->hi[i]);
            for (int k = 0; k < n; k++) y[k] += (next - z[j]) * v[k];
            z[j] = next;
            state[j] = next <= s->lo[i]   ? ABUT_LCP_AT_LOWER
                       : next >= s->hi[i] ? ABUT_LCP_AT_UPPER
                                          : ABUT_LCP_FREE;
        }
    set_states(s, r, state, sol);
    return true;
}

/* Unknowns with bounds up to which all their states are tried. */
enum { ALL_STATES = 8 };

/* All states, those first that differ least from the ones given: with slip the matrix need not be one for
 * which the path of Lemke's method ends in every solution.  True when they hold one. */
static bool try_all_states(states *t, const dense_reduced *r, double tolerance, arena *scratch,
                           system_solution *sol, bool *memory) {
    uint8_t first[ALL_STATES];
    if (r->count > ALL_STATES) return false;
    for (int j = 0; j < r->count; j++) {
        if (isfinite(t->s->hi[r->list[j]])) return false; /* a motor has three */
        first[j] = sol->state[r->list[j]];
    }
    for (unsigned changed = 0; changed < 1u << r->count; changed++) {
        for (int j = 0; j < r->count; j++) {
            bool free = (first[j] == ABUT_LCP_FREE) != (changed >> j & 1);
            sol->state[r->list[j]] = free ? ABUT_LCP_FREE : ABUT_LCP_AT_LOWER;
        }
        if (pivot(t, tolerance, 0, scratch, sol, memory) || !*memory) return *memory;
    }
    return false;
}

/* The chain: remembered states, Lemke, sweeps; each followed by pivots; all states of few.  There is no
 * solution where nothing of this finds one: forces that grow without bound look like that; of more unknowns,
 * where Lemke's path ends in a ray. */
static abut_status solve_with_slip(const group_system *s, double tolerance, int budget,
                                   const group_scratch *scratch, system_solution *sol, abut_error *error) {
    states t;
    dense d;
    dense_reduced r;
    arena *a = scratch->arena;
    bool memory = states_make(s, a, &t);
    int pivots = s->count < 60 ? 2 * s->count + 10 : 40;
    if (memory && pivot(&t, tolerance, pivots, a, sol, &memory)) return ABUT_OK;
    if (memory && s->count > SMALL_SYSTEM) sol->outcome = SYSTEM_BUDGET; /* what follows is dense */
    if (memory && sol->outcome == SYSTEM_BUDGET) return ABUT_OK;
    if (!memory || !dense_make(s, a, &d) || !dense_reduce(&d, a, &r)) return fail_memory(error);
    double *columns = projected_columns(&d, &r, a);
    if (!columns) return fail_memory(error);
    abut_status status = lemke_states(&d, &r, columns, scratch, budget, sol);
    if (status == ABUT_NO_MEMORY) return fail_memory(error);
    bool ray = status == ABUT_INFEASIBLE;
    if (status == ABUT_OK && pivot(&t, tolerance, pivots, a, sol, &memory)) return ABUT_OK;
    if (memory && !ray) memory = sweep_states(&d, &r, columns, 300, a, sol);
    if (memory && !ray && pivot(&t, tolerance, pivots, a, sol, &memory)) return ABUT_OK;
    if (memory && try_all_states(&t, &r, tolerance, a, sol, &memory)) return ABUT_OK;
    sol->outcome = SYSTEM_NO_SOLUTION, sol->wide = false;
    return memory ? ABUT_OK : fail_memory(error);
}

/* ---- symmetric */

static abut_status solve_symmetric(const group_system *s, double tolerance, int budget,
                                   const group_scratch *scratch, system_solution *out, abut_error *error) {
    if (s->g->method == ABUT_LCP_EXACT) { /* the remembered states, or next to them */
        states t;
        bool memory = states_make(s, scratch->arena, &t);
        /* where masses differ much the kernel's matrix does not have the digits */
        int steps = t.equations.wide ? 2 * s->count + 10 : 2;
        if (memory && pivot(&t, fmin(tolerance, 1e-10), steps, scratch->arena, out, &memory)) return ABUT_OK;
        if (!memory) return fail_memory(error);
        if (out->outcome == SYSTEM_BUDGET) return ABUT_OK;
    }
    out->wide = false;
    row_matrix a;
    abut_status status = row_assemble(s->rows, s->count, s->g->motions, s->g->inertias, s->g->body_count,
                                      scratch->arena, &a, error);
    if (status != ABUT_OK) return status;
    abut_lcp problem = {.size = s->count,
                        .row_start = a.start,
                        .column = a.column,
                        .value = a.value,
                        .b = s->b,
                        .lo = s->lo,
                        .hi = s->hi};
    abut_lcp_config config = abut_default_lcp_config();
    config.method = (abut_lcp_method)s->g->method, config.budget = budget;
    config.warm = config.nearest = config.method == ABUT_LCP_EXACT;
    config.skip_unique = true;
    if (config.warm) config.tolerance = tolerance;
    abut_lcp_result result;
    status = abut_lcp_solve(scratch->lcp, &problem, &config, out->state, out->z, out->w, &result, error);
    out->pivots += result.pivots;
    if (status == ABUT_NO_MEMORY || status == ABUT_INVALID) return status;
    out->outcome = status == ABUT_OK           ? SYSTEM_SOLVED
                   : status == ABUT_INFEASIBLE ? SYSTEM_NO_SOLUTION
                                               : SYSTEM_BUDGET;
    return ABUT_OK;
}

/* ---- both */

/* Violation of w = A z + b, bounds and signs, in units of w. */
static double residual_of(const group_system *s, const system_solution *sol) {
    double most = 0;
    for (int i = 0; i < s->count; i++) {
        double w = sol->w[i];
        if (sol->z[i] <= s->lo[i]) w = fmin(w, 0);
        if (sol->z[i] >= s->hi[i]) w = fmax(w, 0);
        most = fmax(most, fabs(w));
    }
    return most;
}

/* No problem of bounds: only bilateral rows miss.  *most is the largest miss. */
static bool only_bilateral_miss(const group_system *s, const system_solution *sol, double tolerance,
                                double *most) {
    *most = 0;
    for (int i = 0; i < s->count; i++) {
        if (is_bilateral(s, i))
            *most = fmax(*most, fabs(sol->w[i]));
        else if (sol->z[i] <= s->lo[i] && sol->w[i] < -tolerance)
            return false;
    }
    return true;
}

abut_status system_solve(const group_system *s, double tolerance, int budget, const group_scratch *scratch,
                         system_solution *out, abut_error *error) {
    size_t n = (size_t)s->count + 1;
    if (!out->z) {
        out->z = arena_alloc(scratch->arena, n, sizeof(double));
        out->w = arena_alloc(scratch->arena, n, sizeof(double));
        out->x = arena_alloc(scratch->arena, (size_t)s->g->body_count + 1, sizeof(spatial));
        if (!out->state) out->state = arena_alloc(scratch->arena, n, 1);
        if (!out->z || !out->w || !out->x || !out->state) return fail_memory(error);
    }
    out->outcome = SYSTEM_SOLVED, out->pivots = 0;
    out->scale = scale_of(s);
    abut_status status = s->count == 0  ? ABUT_OK
                         : s->symmetric ? solve_symmetric(s, tolerance, budget, scratch, out, error)
                                        : solve_with_slip(s, tolerance, budget, scratch, out, error);
    if (status != ABUT_OK) return status;
    for (int i = 0; i < s->count; i++) out->z[i] = fmin(fmax(out->z[i], s->lo[i]), s->hi[i]);
    evaluate(s, out);
    out->residual = residual_of(s, out) / out->scale;
    double missed = 0;
    if (out->outcome == SYSTEM_NO_SOLUTION && s->symmetric &&
        only_bilateral_miss(s, out, fmax(tolerance, SLIGHT_MISS) * out->scale, &missed))
        out->outcome = missed > SLIGHT_MISS * out->scale ? SYSTEM_INCONSISTENT : SYSTEM_SOLVED;
    return ABUT_OK;
}
