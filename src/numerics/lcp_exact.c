/* The exact solver: proximal steps around block principal pivoting, for symmetric positive semidefinite A.
 *
 * Contact matrices are singular as a rule (a box on four corners), so the free rows alone have no
 * factorisation. The proximal point method (Rockafellar 1976) solves a sequence of strictly convex problems
 * with the same solutions:
 *
 *     v = (a + delta I) y + q - delta c,   lo <= y <= hi, complementary;      c := y;      repeat.
 *
 * The first step takes the exchanges of rows (lcp_pivot.c); the others are refinements with the same factor,
 * and their error falls by delta / (delta + lambda) each, lambda the smallest eigenvalue of the free rows
 * that is not 0. delta is lowered when that is slow.
 *
 * When there is no solution the steps do not stop: y - c converges to the ray d with a d = 0, q.d < 0 that
 * proves it, and delta d to the smallest change of q that would give a solution.
 */
#include "numerics/lcp_active.h"
#include "numerics/lcp_pivot.h"

#include <math.h>

enum { MOST_STEPS = 60, MOST_FRICTION_ROUNDS = 200 };
enum { LCP_TINY = 16 }; /* rows up to which a dense factor from nothing is as quick as one that is kept */
#define DELTA_FIRST 1e-9
#define DELTA_LEAST 1e-13
#define RAY_FLAT    1e-12 /* |a d| of a ray, relative to |d| */

typedef struct exact {
    lcp_pivoting p;
    double *best;        /* y of the least residual so far */
    uint8_t *best_state; /* and its state */
    double tolerance;
    int steps;
    bool stale; /* v is not that of y */
} exact;

/* abut_lcp_validate's residual of y cut to its bounds, which are met already but for the last refinement.
 * What is not finite is no answer: comparisons with it are all false, and it would pass as a perfect one. */
static double residual_of(exact *e, double *attainable) {
    const lcp_system *s = &e->p.system;
    double worst = 0, size = 0;
    for (int k = 0; k < s->size; k++) {
        double a = s->diagonal[k] > 0 ? s->diagonal[k] : 1, v = e->p.v[k];
        if (!isfinite(v) || !isfinite(e->p.y[k])) return *attainable = 0, (double)INFINITY;
        double violation = v > 0 ? fmin(v, a * (e->p.y[k] - s->lo[k])) : fmin(-v, a * (s->hi[k] - e->p.y[k]));
        worst = fmax(worst, violation * s->weight[k]);
        size = fmax(size, e->p.size_of_row[k] * s->weight[k]);
    }
    *attainable = LCP_ROUNDING * size;
    return worst;
}

/* Is y - c a ray that proves infeasibility?  It must point where the bounds allow, a d = 0, q.d < 0. On
 * success it is left in `step`, scaled to max |d| = 1, and the smallest relative change of q that helps is
 * returned; 0 otherwise. */
static double ray_of(exact *e) {
    const lcp_system *s = &e->p.system;
    double largest = 0, qd = 0, qq = 0, dd = 0;
    for (int k = 0; k < s->size; k++) largest = fmax(largest, fabs(e->p.y[k] - e->p.center[k]));
    if (!(largest > 0)) return 0;
    for (int k = 0; k < s->size; k++) {
        double d = (e->p.y[k] - e->p.center[k]) / largest;
        if (fabs(d) < RAY_FLAT || (d < 0 && d > -1e-9 && isfinite(s->lo[k])) ||
            (d > 0 && d < 1e-9 && isfinite(s->hi[k])))
            d = 0;
        if ((d < 0 && isfinite(s->lo[k])) || (d > 0 && isfinite(s->hi[k]))) return 0;
        e->p.step[k] = d, qd += s->q[k] * d, qq += s->q[k] * s->q[k], dd += d * d;
    }
    if (!(qd < -e->tolerance * sqrt(qq * dd))) return 0;
    for (int k = 0; k < s->size; k++) {
        double ad = 0;
        for (int t = s->start[k]; t < s->start[k + 1]; t++) ad += s->value[t] * e->p.step[s->column[t]];
        if (fabs(ad) > RAY_FLAT) return 0;
    }
    return -qd / sqrt(qq * dd);
}

/* The proximal steps.  They end when the residual is that of rounding, or good enough and no longer cheap to
 * improve. */
static abut_status iterate(exact *e, abut_lcp_result *result) {
    size_t n = (size_t)e->p.system.size;
    double best = (double)INFINITY, last = (double)INFINITY, attainable = 0, last_residual = 0;
    bool fine = true;
    int stalls = 0;
    for (e->steps = 1; e->steps <= MOST_STEPS && fine; e->steps++) {
        fine = lcp_pivoting_run(&e->p, true);
        e->p.cold = false;
        double residual = last_residual = residual_of(e, &attainable);
        if (residual < best) {
            best = residual;
            memcpy(e->best, e->p.y, n * sizeof(double));
            memcpy(e->best_state, e->p.state, n);
            result->attainable = attainable;
        }
        bool good = best <= e->tolerance + 8 * result->attainable;
        if (residual <= 1e-14 + attainable || (e->p.calls > 0 && best <= 0.01 * e->tolerance)) break;
        result->infeasible_by = residual > e->tolerance ? ray_of(e) : 0;
        if (result->infeasible_by > 0) return ABUT_INFEASIBLE;
        if (residual > 0.1 * last && e->p.delta > DELTA_LEAST)
            e->p.delta *= 1e-2;
        else if (residual > 0.5 * last && ++stalls > 2 && good)
            break;
        last = residual;
        memcpy(e->p.center, e->p.y, n * sizeof(double));
    }
    e->stale = last_residual != best; /* v belongs to another y */
    memcpy(e->p.y, e->best, n * sizeof(double));
    memcpy(e->p.state, e->best_state, n);
    result->residual = best;
    if (best <= e->tolerance + 8 * result->attainable) return ABUT_OK;
    return e->p.pivots > e->p.budget ? ABUT_BUDGET : ABUT_FAILED;
}

/* The answer in the caller's order and units; rows at a bound get that bound's bits; w is 0 for free rows,
 * and where it cannot be told from 0 by rounding. */
static void write_back(const exact *e, const abut_lcp *problem, bool is_ray, uint8_t *state, double *z,
                       double *w) {
    const lcp_system *s = &e->p.system;
    for (int k = 0; k < s->size; k++) {
        int i = s->order[k];
        double unit = s->scale[k] / s->beta;
        z[i] = e->p.y[k] * unit;
        state[i] = e->p.state[k];
    }
    for (int k = 0; k < s->size; k++) {
        int i = s->order[k];
        double lo = lcp_lower(problem, z, i), hi = lcp_upper(problem, z, i),
               v = e->p.v[k] / (s->scale[k] * s->beta);
        if (fabs(e->p.v[k]) <= 4 * LCP_ROUNDING * e->p.size_of_row[k]) v = 0;
        if (state[i] == ABUT_LCP_AT_LOWER) z[i] = lo, v = lo == hi ? v : fmax(v, 0.0);
        if (state[i] == ABUT_LCP_AT_UPPER) z[i] = hi, v = fmin(v, 0.0);
        if (state[i] == ABUT_LCP_FREE) z[i] = fmin(fmax(z[i], lo), hi), v = 0.0;
        w[i] = is_ray ? e->p.step[k] * s->scale[k] : v;
    }
}

/* The nearest feasible problem: q loses its part along the ray, and is solved again from the same active set.
 * The ray in `step` is kept. */
static abut_status solve_nearest(exact *e, arena *scratch, abut_lcp_result *result) {
    lcp_system *s = &e->p.system;
    double *ray = arena_alloc(scratch, (size_t)s->size, sizeof *ray);
    if (!ray) return ABUT_NO_MEMORY;
    double by = result->infeasible_by;
    memcpy(ray, e->p.step, (size_t)s->size * sizeof *ray);
    for (int tries = 0; tries < 8 && result->infeasible_by > 0; tries++) {
        double qd = 0, dd = 0;
        for (int k = 0; k < s->size; k++) qd += s->q[k] * e->p.step[k], dd += e->p.step[k] * e->p.step[k];
        for (int k = 0; k < s->size; k++) s->q[k] -= qd / dd * e->p.step[k], e->p.y[k] = e->p.center[k] = 0;
        lcp_pivoting_bound(&e->p);
        iterate(e, result);
    }
    memcpy(e->p.step, ray, (size_t)s->size * sizeof *ray);
    result->infeasible_by = by;
    return ABUT_INFEASIBLE;
}

static abut_status prepare(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                           const abut_lcp_config *config, const uint8_t *state, const double *z, exact *e) {
    if (!lcp_pivoting_take(&e->p, solver, rows, problem->b)) return ABUT_NO_MEMORY;
    e->best = arena_alloc(&solver->scratch, (size_t)rows->size, sizeof *e->best);
    e->best_state = arena_alloc(&solver->scratch, (size_t)rows->size, 1);
    if (!e->best || !e->best_state) return ABUT_NO_MEMORY;
    e->p.cold = !config->warm;
    e->p.delta = DELTA_FIRST, e->tolerance = config->tolerance;
    e->p.budget = config->budget > 0 ? config->budget : 1000 + 100 * rows->size;
    lcp_system_bounds(&e->p.system, problem, z);
    /* without memory every contact is taken to hold: Baraff's first guess, V = {} (section 6.2) */
    for (int k = 0; k < rows->size; k++) {
        int i = e->p.system.order[k];
        e->p.state[k] = config->warm ? state[i] : ABUT_LCP_FREE;
        if (config->warm && isfinite(z[i])) e->p.y[k] = z[i] * e->p.system.beta / e->p.system.scale[k];
        e->p.center[k] = e->p.y[k];
    }
    lcp_pivoting_bound(&e->p);
    return ABUT_OK;
}

/* Boxed friction: the bounds follow the normal forces of the last solution until both agree. */
static abut_status iterate_friction(exact *e, const abut_lcp *problem, double *z, abut_lcp_result *result) {
    lcp_system *s = &e->p.system;
    for (int round = 0; round < MOST_FRICTION_ROUNDS; round++) {
        abut_status status = iterate(e, result);
        if (status != ABUT_OK) return status;
        double change = 0, size = 0;
        for (int k = 0; k < s->size; k++) z[s->order[k]] = e->p.y[k] * s->scale[k] / s->beta;
        for (int k = 0; k < s->size; k++) {
            double hi = lcp_upper(problem, z, s->order[k]) * s->beta / s->scale[k];
            if (problem->friction_row[s->order[k]] < 0) continue;
            change = fmax(change, fabs(hi - s->hi[k])), size = fmax(size, hi);
        }
        if (change <= 1e-14 * size) return ABUT_OK;
        lcp_system_bounds(s, problem, z);
        lcp_pivoting_bound(&e->p);
        memcpy(e->p.center, e->p.y, (size_t)s->size * sizeof(double));
    }
    return ABUT_BUDGET;
}

static abut_status solve_all(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                             const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                             abut_lcp_result *result, abut_error *error) {
    exact e = {0};
    if (prepare(solver, problem, rows, config, state, z, &e) != ABUT_OK) return fail_memory(error);
    abut_status status =
        problem->friction_row ? iterate_friction(&e, problem, z, result) : iterate(&e, result);
    if (status == ABUT_INFEASIBLE && config->nearest) status = solve_nearest(&e, &solver->scratch, result);
    if (status == ABUT_NO_MEMORY) return fail_memory(error);
    lcp_pivoting_keep(&e.p, solver);
    result->pivots = e.p.pivots, result->factorizations = e.p.factorizations,
    result->proximal_steps = e.steps;
    if (status != ABUT_INFEASIBLE && e.stale) {
        lcp_apply(&e.p.system, e.p.y, e.p.v, e.p.size_of_row);
        lcp_apply_doubled(&e.p.system, e.p.y, e.p.v);
    }
    write_back(&e, problem, status == ABUT_INFEASIBLE, state, z, w);
    if (status == ABUT_INFEASIBLE) return status; /* abut_lcp_solve names the rows of the ray */
    if (status == ABUT_BUDGET)
        return fail(error, status, "no solution after %d pivots; is A positive semidefinite?", e.p.pivots);
    if (status == ABUT_FAILED)
        return fail(
            error, status,
            "the residual stays at %.3g; A is not positive semidefinite, or too ill-conditioned for doubles",
            result->residual);
    return status;
}

/* Groups of coupled rows: those of group g are member[first[g]] .. member[first[g+1]-1], by rising number. */
typedef struct split {
    int groups;
    int *group, *first, *member, *local; /* of a row; of a group; rows; place among the rows that are left */
    double *diagonal;
    bool *left; /* row is not solved yet */
} split;

/* Gives every row that the matrix leads to from row i the number of its group; `stack` has room for all.
 * False when it leads to a row of another group: an entry without its mirror. */
static bool mark_group(const lcp_rows *rows, split *p, int i, int *stack) {
    int depth = 0, own = p->groups++;
    stack[depth++] = i, p->group[i] = own;
    while (depth > 0) {
        int row = stack[--depth];
        for (int k = rows->start[row]; k < rows->start[row + 1]; k++) {
            int column = rows->column[k];
            if (column == row) p->diagonal[row] = rows->value[k];
            if (p->group[column] == own) continue;
            if (p->group[column] >= 0) return false;
            p->group[column] = own, stack[depth++] = column;
        }
    }
    return true;
}

/* Room for the groups and for lcp_active, as the last problem left it.  NULL when memory is out. */
static double *reserve(abut_lcp_solver *solver, int size) {
    size_t n = (size_t)size, parts = n * sizeof(double) + (4 * n + 2) * sizeof(int) + n * sizeof(bool),
           need = lcp_active_room(size) * sizeof(double) + parts;
    if (solver->room_bytes < need) {
        if (need < solver->room_bytes + solver->room_bytes / 2) /* sizes that grow by a row a time */
            need = solver->room_bytes + solver->room_bytes / 2;
        mem_free(solver->context, solver->room, solver->room_bytes, 1);
        solver->room = mem_alloc(solver->context, need, 1);
        solver->room_bytes = solver->room ? need : 0;
    }
    return solver->room;
}

static void make_split(double *room, const lcp_rows *rows, split *p) {
    int n = rows->size;
    bool apart = true;
    *p = (split){.diagonal = room, .group = (int *)(room + n)};
    p->member = p->group + n, p->local = p->member + n, p->first = p->local + n;
    p->left = (bool *)(p->first + n + 2);
    memset(p->diagonal, 0, (size_t)n * sizeof *p->diagonal);
    memset(p->left, 0, (size_t)n * sizeof *p->left);
    memset(p->group, -1, (size_t)n * sizeof *p->group);
    for (int i = 0; i < n; i++)
        if (p->group[i] < 0) apart &= mark_group(rows, p, i, p->member);
    for (int i = 0; i < n && !apart; i++) p->group[i] = 0;
    if (!apart) p->groups = 1;
    memset(p->first, 0, ((size_t)p->groups + 2) * sizeof *p->first);
    for (int i = 0; i < n; i++) p->first[p->group[i] + 2]++;
    for (int g = 0; g < p->groups; g++) p->first[g + 2] += p->first[g + 1];
    for (int i = 0; i < n; i++) p->member[p->first[p->group[i] + 1]++] = i;
}

/* The rows that are left, as a problem of their own, solved and put back. */
static abut_status solve_left(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                              const split *p, int left, const abut_lcp_config *config, uint8_t *state,
                              double *z, double *w, abut_lcp_result *result, abut_error *error) {
    arena *scratch = &solver->scratch;
    size_t n = (size_t)left;
    int *start = arena_alloc(scratch, n + 1, sizeof(int)),
        *column = arena_alloc(scratch, (size_t)rows->start[rows->size], sizeof(int));
    double *value = arena_alloc(scratch, (size_t)rows->start[rows->size], sizeof(double)),
           *part = arena_alloc(scratch, 5 * n, sizeof(double));
    uint8_t *states = arena_alloc(scratch, n, 1);
    if (!start || !column || !value || !part || !states) return fail_memory(error);
    double *b = part, *lo = part + n, *hi = part + 2 * n, *x = part + 3 * n, *v = part + 4 * n;
    for (int i = 0, m = 0; i < rows->size; i++)
        if (p->left[i]) p->local[i] = m, p->member[m++] = i;
    for (int m = 0; m < left; m++) {
        int i = p->member[m], end = start[m];
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++, end++)
            column[end] = p->local[rows->column[k]], value[end] = rows->value[k];
        start[m + 1] = end;
        b[m] = problem->b[i], lo[m] = lcp_lower(problem, z, i), hi[m] = lcp_upper(problem, z, i), x[m] = z[i],
        states[m] = state[i];
    }
    abut_lcp smaller = {
        .size = left, .row_start = start, .column = column, .value = value, .b = b, .lo = lo, .hi = hi};
    lcp_rows kept = {left, start, column, value};
    abut_lcp_result own = {0};
    abut_status status = solve_all(solver, &smaller, &kept, config, states, x, v, &own, error);
    for (int i = 0; i < rows->size && status == ABUT_INFEASIBLE; i++) w[i] = 0; /* the ray */
    for (int m = 0; m < left; m++)
        z[p->member[m]] = x[m], w[p->member[m]] = v[m], state[p->member[m]] = states[m];
    result->pivots += own.pivots, result->factorizations += own.factorizations,
        result->proximal_steps += own.proximal_steps;
    result->residual = fmax(result->residual, own.residual),
    result->attainable = fmax(result->attainable, own.attainable);
    result->infeasible_by = own.infeasible_by;
    return status;
}

/* Groups by themselves, on their free rows; what is left goes to the general solver. */
abut_status lcp_exact(abut_lcp_solver *solver, const abut_lcp *problem, const lcp_rows *rows,
                      const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                      abut_lcp_result *result, abut_error *error) {
    split p;
    lcp_active active;
    if (problem->friction_row) return solve_all(solver, problem, rows, config, state, z, w, result, error);
    abut_lcp_config cold = *config;
    bool large = config->warm && rows->size > LCP_TINY;
    if (large && lcp_warm(solver, problem, rows, state, z, w, result)) return ABUT_OK;
    double *room = reserve(solver, rows->size);
    if (!room) return fail_memory(error);
    make_split(room + lcp_active_room(rows->size), rows, &p);
    lcp_active_init(&active, room, problem, rows, p.diagonal);
    int left = 0;
    for (int g = 0; g < p.groups; g++) {
        const int *member = p.member + p.first[g];
        int count = p.first[g + 1] - p.first[g];
        if (count <= LCP_ACTIVE &&
            lcp_active_solve(&active, member, count, config->warm, state, z, w, result))
            continue;
        for (int m = 0; m < count; m++) p.left[member[m]] = true, left++;
    }
    if (left == 0) return ABUT_OK;
    if (large) cold.warm = false, config = &cold; /* a memory that misleads twice is worse than none */
    if (left == rows->size) return solve_all(solver, problem, rows, config, state, z, w, result, error);
    return solve_left(solver, problem, rows, &p, left, config, state, z, w, result, error);
}
