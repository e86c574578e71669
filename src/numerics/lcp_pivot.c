/* Block principal pivoting (Kostreva 1978; Judice and Pires 1994) for a positive definite matrix with bounds:
 * solve for the free rows, exchange all rows that violate their sign, repeat.  A first guess that most rows
 * contradict is replaced by one of sweeps, and approached from a larger delta. Blocks take few rounds as a
 * rule, but may cycle; after PATIENCE rounds without fewer violations descent goes on, then the interior path
 * (lcp_interior.c) finds the free rows, and blocks go on from there, each time with a little more slack. Each
 * round solves for a correction of y, so that rounds are also iterative refinement.
 */
#include "numerics/lcp_pivot.h"

#include <math.h>

enum { PATIENCE = 2, SWEEPS = 5, DESCENTS = 20 };
#define DELTA_FAR     0.1
#define SLACK_FIRST   1e-13 /* of a sign, relative to max |b| */
#define LIMIT_CAREFUL 1e-11 /* rounding errors, relative to max |b|, above which sums are doubled */
#define LIMIT_ROUGH   1e-10

static bool allocate(lcp_pivoting *p, arena *scratch, size_t n) {
    double **vectors[] = {&p->y, &p->v, &p->center, &p->metric, &p->size_of_row, &p->step};
    for (int i = 0; i < COUNT_OF(vectors); i++)
        if (!(*vectors[i] = arena_alloc(scratch, n, sizeof(double)))) return false;
    p->interior = arena_alloc(scratch, 7 * n, sizeof(double));
    for (size_t k = 0; k < n; k++) p->metric[k] = 1;
    p->state = arena_alloc(scratch, n, 1), p->wanted = arena_alloc(scratch, n, 1);
    return p->interior && p->state && p->wanted;
}

bool lcp_pivoting_init(lcp_pivoting *p, abut_lcp_solver *solver, const lcp_rows *rows, const double *b) {
    arena *scratch = &solver->scratch;
    *p = (lcp_pivoting){0};
    return lcp_order_update(solver->context, scratch, &solver->order, rows) &&
           lcp_system_build(scratch, &solver->order, rows, b, &p->system) &&
           lcp_factor_init(scratch, &solver->order, &p->factor) && allocate(p, scratch, (size_t)rows->size);
}

bool lcp_kept_update(abut_lcp_solver *solver, const lcp_rows *rows, const double *b) {
    lcp_kept *kept = &solver->kept;
    size_t n = (size_t)rows->size, entries = (size_t)rows->start[rows->size];
    if (!lcp_order_update(solver->context, &solver->scratch, &solver->order, rows))
        return kept->valid = false;
    if (kept->valid && kept->version == solver->order.version &&
        memcmp(kept->value, rows->value, entries * sizeof(double)) == 0) {
        lcp_system_load(&kept->system, b);
        return true;
    }
    kept->valid = false;
    arena_restore(&kept->room, (arena_mark){0});
    kept->version = solver->order.version;
    kept->value = arena_alloc(&kept->room, entries, sizeof(double));
    double **vectors[] = {&kept->y, &kept->v, &kept->size_of_row, &kept->step, &kept->again, &kept->metric};
    for (int i = 0; i < COUNT_OF(vectors); i++)
        if (!(*vectors[i] = arena_alloc(&kept->room, n, sizeof(double)))) return false;
    kept->state = arena_alloc(&kept->room, n, 1), kept->wanted = arena_alloc(&kept->room, n, 1);
    if (!kept->value || !kept->state || !kept->wanted ||
        !lcp_system_build(&kept->room, &solver->order, rows, b, &kept->system) ||
        !lcp_factor_init(&kept->room, &solver->order, &kept->factor))
        return false;
    for (size_t k = 0; k < n; k++) kept->metric[k] = 1;
    memcpy(kept->value, rows->value, entries * sizeof(double));
    return kept->valid = true;
}

bool lcp_pivoting_take(lcp_pivoting *p, abut_lcp_solver *solver, const lcp_rows *rows, const double *b) {
    *p = (lcp_pivoting){0};
    if (!lcp_kept_update(solver, rows, b)) return false;
    solver->kept.valid = false; /* until it is handed back */
    p->system = solver->kept.system, p->factor = solver->kept.factor;
    return allocate(p, &solver->scratch, (size_t)rows->size);
}

void lcp_pivoting_keep(const lcp_pivoting *p, abut_lcp_solver *solver) {
    solver->kept.system = p->system, solver->kept.factor = p->factor;
    solver->kept.valid = true;
}

/* v = a y + q again in doubled precision, where rounding would show in the residual: |a||y| u, relative to
 * max |b|, is not far below the limit.  False when it would not. */
static bool sharpen(lcp_pivoting *p, double limit) {
    const lcp_system *s = &p->system;
    double size = 0;
    for (int k = 0; k < s->size; k++) {
        double relative = p->size_of_row[k] * s->weight[k];
        size = relative > size ? relative : size;
    }
    if (!p->careful && 64 * LCP_ROUNDING * size <= limit) return false;
    lcp_apply_doubled(s, p->y, p->v);
    return true;
}

/* v = a y + q. */
static void evaluate(lcp_pivoting *p, double limit) {
    lcp_apply(&p->system, p->y, p->v, p->size_of_row);
    sharpen(p, limit);
}

/* Puts row k at the bound of its state; one without a finite bound becomes free. Returns the change of y. */
static double put_at_bound(lcp_pivoting *p, int k) {
    const lcp_system *s = &p->system;
    double y = p->y[k];
    if (s->lo[k] == s->hi[k]) p->state[k] = ABUT_LCP_AT_LOWER;
    if (p->state[k] == ABUT_LCP_AT_LOWER && isinf(s->lo[k])) p->state[k] = ABUT_LCP_FREE;
    if (p->state[k] == ABUT_LCP_AT_UPPER && isinf(s->hi[k])) p->state[k] = ABUT_LCP_FREE;
    if (p->state[k] == ABUT_LCP_AT_LOWER) p->y[k] = s->lo[k];
    if (p->state[k] == ABUT_LCP_AT_UPPER) p->y[k] = s->hi[k];
    return p->y[k] - y;
}

void lcp_pivoting_bound(lcp_pivoting *p) {
    const lcp_system *s = &p->system;
    bool zero = true;
    for (int k = 0; k < s->size; k++) put_at_bound(p, k), zero &= p->y[k] == 0;
    if (!zero) {
        evaluate(p, LIMIT_ROUGH);
        return;
    }
    for (int k = 0; k < s->size; k++) p->v[k] = s->q[k], p->size_of_row[k] = fabs(s->q[k]);
}

/* The state row k should have: its own when the signs are right, up to the slack, and y within its bounds up
 * to rounding (or to the slack too, once that has been widened). */
static uint8_t wanted_state(const lcp_pivoting *p, int k) {
    const lcp_system *s = &p->system;
    double rounding = 4 * LCP_ROUNDING * p->size_of_row[k], slack = p->slack / s->weight[k] + rounding;
    if (p->state[k] == ABUT_LCP_FREE) {
        double room = s->diagonal[k] > 0 ? (p->slack > SLACK_FIRST ? slack : rounding) / s->diagonal[k] : 0;
        return p->y[k] < s->lo[k] - room   ? ABUT_LCP_AT_LOWER
               : p->y[k] > s->hi[k] + room ? ABUT_LCP_AT_UPPER
                                           : ABUT_LCP_FREE;
    }
    if (s->lo[k] == s->hi[k]) return ABUT_LCP_AT_LOWER;
    double v = p->v[k] + p->delta * p->metric[k] * (p->y[k] - p->center[k]);
    if (p->state[k] == ABUT_LCP_AT_LOWER) return v < -slack ? ABUT_LCP_FREE : ABUT_LCP_AT_LOWER;
    return v > slack ? ABUT_LCP_FREE : ABUT_LCP_AT_UPPER;
}

/* The gradient of f in row k, from v. */
static double gradient(const lcp_pivoting *p, int k) {
    return p->v[k] + p->delta * p->metric[k] * (p->y[k] - p->center[k]);
}

/* step_F = -(a_FF + delta m)^-1 gradient_F, step = 0 elsewhere. */
static void newton_step(lcp_pivoting *p) {
    int n = p->system.size;
    p->factorizations += lcp_factor_update(&p->factor, &p->system, p->state, p->delta, p->metric);
    for (int k = 0; k < n; k++) p->step[k] = -gradient(p, k);
    lcp_factor_solve(&p->factor, p->step);
    for (int k = 0; k < n; k++)
        if (p->state[k] != ABUT_LCP_FREE) p->step[k] = 0;
}

static int count_violations(const lcp_pivoting *p) {
    int violations = 0;
    for (int k = 0; k < p->system.size; k++) violations += wanted_state(p, k) != p->state[k];
    return violations;
}

/* Exchanges all rows that violate their sign; v follows y row by row. */
static void exchange_rows(lcp_pivoting *p) {
    const lcp_system *s = &p->system;
    for (int k = 0; k < s->size; k++) p->wanted[k] = wanted_state(p, k);
    for (int k = 0; k < s->size; k++) {
        if (p->wanted[k] == p->state[k]) continue;
        p->state[k] = p->wanted[k], p->pivots++;
        double change = put_at_bound(p, k);
        for (int t = s->start[k]; t < s->start[k + 1] && change != 0; t++)
            p->v[s->column[t]] += s->value[t] * change;
    }
}

static double clamp(double y, double lo, double hi) { return y < lo ? lo : y > hi ? hi : y; }

/* Sweeps of projected Gauss-Seidel, y_k := clamp(y_k - gradient_k / (a_kk + delta m_k)), and the states that
 * y then shows. */
static void sweep(lcp_pivoting *p, int sweeps) {
    const lcp_system *s = &p->system;
    for (; sweeps > 0; sweeps--)
        for (int k = 0; k < s->size; k++) {
            double g = s->q[k], added = p->delta * p->metric[k];
            for (int t = s->start[k], end = s->start[k + 1]; t < end; t++)
                g += s->value[t] * p->y[s->column[t]];
            g += added * (p->y[k] - p->center[k]);
            p->y[k] = clamp(p->y[k] - g / (s->diagonal[k] + added), s->lo[k], s->hi[k]);
        }
    for (int k = 0; k < s->size; k++) {
        uint8_t now = p->y[k] <= s->lo[k]   ? ABUT_LCP_AT_LOWER
                      : p->y[k] >= s->hi[k] ? ABUT_LCP_AT_UPPER
                                            : ABUT_LCP_FREE;
        p->pivots += now != p->state[k], p->state[k] = now;
    }
    lcp_pivoting_bound(p);
}

/* A guess of the free rows, from nothing. */
static void guess_by_sweeps(lcp_pivoting *p) {
    for (int k = 0; k < p->system.size; k++) p->y[k] = clamp(0, p->system.lo[k], p->system.hi[k]);
    sweep(p, SWEEPS);
}

/* Block exchanges; true when no row violates its sign. */
static bool exchange_blocks(lcp_pivoting *p) {
    int n = p->system.size, best = n + 1, patience = PATIENCE;
    for (int round = 0; p->pivots <= p->budget; round++) {
        newton_step(p);
        for (int k = 0; k < n; k++) p->y[k] += p->step[k];
        evaluate(p, LIMIT_ROUGH);
        int violations = count_violations(p);
        if (violations == 0 && !p->far && sharpen(p, LIMIT_CAREFUL)) violations = count_violations(p);
        if (violations == 0) return true;
        patience = violations < best ? PATIENCE : patience - 1;
        best = violations < best ? violations : best;
        if (patience < 0) return false;
        if (round == 0 && p->cold && violations > n / 8) return false;
        exchange_rows(p);
    }
    return false;
}

/* f(clamp(y + alpha step)) - f(y), where f(y) = y.(a y) / 2 + q.y + delta/2 (y - c).m (y - c) is what the
 * problem minimises; `bent` gets the clamped step. */
static double bent_change(lcp_pivoting *p, double alpha) {
    const lcp_system *s = &p->system;
    double change = 0, *bent = p->interior;
    for (int k = 0; k < s->size; k++)
        bent[k] = clamp(p->y[k] + alpha * p->step[k], s->lo[k], s->hi[k]) - p->y[k];
    for (int k = 0; k < s->size; k++) {
        if (bent[k] == 0) continue;
        double ad = p->delta * p->metric[k] * bent[k];
        for (int t = s->start[k]; t < s->start[k + 1]; t++) ad += s->value[t] * bent[s->column[t]];
        change += bent[k] * (gradient(p, k) + 0.5 * ad);
    }
    return change;
}

/* The largest alpha <= 1 with y + alpha step within the bounds. */
static double first_bound(const lcp_pivoting *p) {
    const lcp_system *s = &p->system;
    double alpha = 1;
    for (int k = 0; k < s->size; k++) {
        double room = p->step[k] < 0 ? s->lo[k] - p->y[k] : s->hi[k] - p->y[k];
        if (p->step[k] != 0 && room / p->step[k] < alpha) alpha = room / p->step[k];
    }
    return alpha > 0 ? alpha : 0;
}

/* Descent (after More and Toraldo 1991), where blocks go in circles: y stays within its bounds, and f falls
 * in every round. Sweeps choose the free rows, the minimum over these is computed, and y goes there, or along
 * the way bent at the bounds to the best of alpha = 1, 1/2, ... and the first bound. True when no row
 * violates its sign. */
static bool descend(lcp_pivoting *p) {
    int n = p->system.size;
    for (int k = 0; k < n; k++) p->y[k] = clamp(p->y[k], p->system.lo[k], p->system.hi[k]);
    for (int round = 0; round < DESCENTS && p->pivots <= p->budget; round++) {
        sweep(p, 3);
        newton_step(p);
        double straight = first_bound(p), best = straight,
               least = straight < 1 ? bent_change(p, straight) : 0;
        for (double alpha = 1; straight < 1 && alpha > 0.01 && alpha > straight; alpha /= 2) {
            double change = bent_change(p, alpha);
            if (change < least) least = change, best = alpha;
        }
        for (int k = 0; k < n; k++)
            p->y[k] = clamp(p->y[k] + best * p->step[k], p->system.lo[k], p->system.hi[k]);
        sweep(p, 0);
        if (straight == 1 && count_violations(p) == 0) return exchange_blocks(p);
    }
    return false;
}

/* From afar: with a large delta blocks settle in a few rounds, and each smaller one starts close to its
 * solution. When a step changes no row, the rest of the way is one leap. */
static void approach(lcp_pivoting *p) {
    double delta = p->delta;
    int changes = 1;
    guess_by_sweeps(p);
    p->far = true;
    for (p->delta = DELTA_FAR; p->delta > delta && changes > 0; p->delta *= 0.1) {
        changes = p->pivots;
        bool settled = exchange_blocks(p);
        changes = settled ? p->pivots - changes : 1;
        for (int k = 0; k < p->system.size; k++) {
            double y = p->y[k], lo = p->system.lo[k], hi = p->system.hi[k];
            p->center[k] = y < lo ? lo : y > hi ? hi : y;
        }
    }
    p->delta = delta, p->far = false;
}

bool lcp_pivoting_run(lcp_pivoting *p, bool recenter) {
    static const double slacks[] = {SLACK_FIRST, SLACK_FIRST, 1e-12, 1e-10};
    p->slack = SLACK_FIRST;
    if (p->cold && recenter) {
        if (exchange_blocks(p)) return true;
        p->cold = false;
        approach(p);
    }
    for (p->calls = 0; p->calls < COUNT_OF(slacks) && p->pivots <= p->budget; p->calls++) {
        if (p->calls > 0) {
            lcp_interior_run(p, p->calls);
            if (recenter) memcpy(p->center, p->y, (size_t)p->system.size * sizeof(double));
            lcp_pivoting_bound(p);
        }
        p->slack = slacks[p->calls];
        if (exchange_blocks(p) || (p->calls == 0 && descend(p))) return true;
    }
    for (int k = 0; k < p->system.size; k++) p->y[k] = fmin(fmax(p->y[k], p->system.lo[k]), p->system.hi[k]);
    evaluate(p, LIMIT_CAREFUL);
    return false;
}
