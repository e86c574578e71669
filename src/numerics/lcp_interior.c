/* The interior path of a strictly convex problem with bounds, by Mehrotra's predictor and corrector (1992).
 *
 *     least  y.(K y) / 2 + k.y,   K = a + delta m,  k = q - delta m c,   lo <= y <= hi
 *     s = y - lo > 0, t = hi - y > 0 (finite bounds only), multipliers x, u > 0
 *
 *     Newton on   K y + k - x + u = 0,   s x = sigma mu,   t u = sigma mu:
 *     (K + x/s + u/t) dy = -(K y + k) + (sigma mu - e)/s - (sigma mu - g)/t,   e = ds dx, g = dt du of the
 * predictor
 *
 * 10 to 30 rounds however degenerate the problem is; each is one factorisation with all rows free.  It is
 * used to find the free rows (s > x and t > u), not for the answer: that comes from pivoting to the last
 * digits.
 */
#include "numerics/lcp_pivot.h"

#include <math.h>

enum { MOST_ROUNDS = 60 };

typedef struct path {
    lcp_pivoting *p;
    const lcp_system *s;
    int size;
    double *x, *u;   /* multipliers of lo and hi; 0 where the bound is infinite or the row is fixed */
    double *dx, *du; /* their steps; that of y is p->step */
    double *e, *g;   /* products of the predictor's steps */
    double *barrier; /* delta m + x / s + u / t */
} path;

/* A point inside the bounds near y, and multipliers of the size of the problem. */
static void start(path *a, double size) {
    lcp_pivoting *p = a->p;
    for (int k = 0; k < a->size; k++) {
        double lo = a->s->lo[k], hi = a->s->hi[k], margin = fmin(size, 0.25 * (hi - lo));
        bool fixed = lo == hi;
        p->state[k] = fixed ? ABUT_LCP_AT_LOWER : ABUT_LCP_FREE;
        p->y[k] = fixed ? lo : fmin(fmax(p->y[k], lo + margin), hi - margin);
        a->x[k] = isfinite(lo) && !fixed ? size : 0, a->u[k] = isfinite(hi) && !fixed ? size : 0;
    }
}

/* The mean of s x and t u after a step of length alpha. */
static double mean_gap(const path *a, double alpha) {
    double sum = 0;
    int count = 0;
    for (int k = 0; k < a->size; k++) {
        double y = a->p->y[k] + alpha * a->p->step[k];
        if (a->x[k] > 0) sum += (y - a->s->lo[k]) * (a->x[k] + alpha * a->dx[k]), count++;
        if (a->u[k] > 0) sum += (a->s->hi[k] - y) * (a->u[k] + alpha * a->du[k]), count++;
    }
    return count ? sum / count : 0;
}

static void factor(path *a) {
    lcp_pivoting *p = a->p;
    for (int k = 0; k < a->size; k++) {
        a->barrier[k] = p->delta * p->metric[k];
        if (a->x[k] > 0) a->barrier[k] += a->x[k] / (p->y[k] - a->s->lo[k]);
        if (a->u[k] > 0) a->barrier[k] += a->u[k] / (a->s->hi[k] - p->y[k]);
    }
    p->factor.filled = false; /* the diagonal is new */
    p->factorizations += lcp_factor_update(&p->factor, a->s, p->state, 1, a->barrier);
}

/* dy, dx, du for the target sigma mu. */
static void newton(path *a, double target) {
    lcp_pivoting *p = a->p;
    for (int k = 0; k < a->size; k++) {
        double r = -(p->v[k] + p->delta * p->metric[k] * (p->y[k] - p->center[k]));
        if (a->x[k] > 0) r += (target - a->e[k]) / (p->y[k] - a->s->lo[k]);
        if (a->u[k] > 0) r -= (target - a->g[k]) / (a->s->hi[k] - p->y[k]);
        p->step[k] = r;
    }
    lcp_factor_solve(&p->factor, p->step);
    for (int k = 0; k < a->size; k++) {
        if (p->state[k] != ABUT_LCP_FREE) p->step[k] = 0;
        if (a->x[k] > 0)
            a->dx[k] = (target - a->e[k] - a->x[k] * p->step[k]) / (p->y[k] - a->s->lo[k]) - a->x[k];
        if (a->u[k] > 0)
            a->du[k] = (target - a->g[k] + a->u[k] * p->step[k]) / (a->s->hi[k] - p->y[k]) - a->u[k];
    }
}

/* The largest alpha <= 1 that keeps s, t, x, u >= 0. */
static double longest(const path *a) {
    double alpha = 1;
    for (int k = 0; k < a->size; k++) {
        double dy = a->p->step[k], y = a->p->y[k];
        if (a->x[k] > 0 && y + alpha * dy < a->s->lo[k]) alpha = (a->s->lo[k] - y) / dy;
        if (a->u[k] > 0 && y + alpha * dy > a->s->hi[k]) alpha = (a->s->hi[k] - y) / dy;
        if (a->x[k] + alpha * a->dx[k] < 0) alpha = -a->x[k] / a->dx[k];
        if (a->u[k] + alpha * a->du[k] < 0) alpha = -a->u[k] / a->du[k];
    }
    return alpha;
}

static bool is_finite(const path *a) {
    double sum = 0; /* of zeros, or NAN */
    for (int k = 0; k < a->size; k++) sum += 0 * a->p->step[k] + 0 * a->dx[k] + 0 * a->du[k];
    return sum == 0;
}

/* One predictor and corrector.  False, and nothing has moved, where the step is not finite: next to a bound
 * x / s overflows. */
static bool advance(path *a) {
    lcp_pivoting *p = a->p;
    size_t bytes = (size_t)a->size * sizeof(double);
    memset(a->e, 0, bytes), memset(a->g, 0, bytes), memset(a->dx, 0, bytes), memset(a->du, 0, bytes);
    double mu = (memset(p->step, 0, bytes), mean_gap(a, 0));
    factor(a);
    newton(a, 0);
    double left = mu > 0 ? mean_gap(a, longest(a)) / mu : 0, sigma = left * left * left;
    for (int k = 0; k < a->size; k++) a->e[k] = p->step[k] * a->dx[k], a->g[k] = -p->step[k] * a->du[k];
    newton(a, sigma * mu);
    if (!is_finite(a)) return false;
    double alpha = longest(a);
    if (alpha < 1) alpha *= 0.995;
    for (int k = 0; k < a->size; k++) {
        p->y[k] += alpha * p->step[k], a->x[k] += alpha * a->dx[k], a->u[k] += alpha * a->du[k];
        /* rounding must not put y on the bound itself */
        if (a->x[k] > 0 && !(p->y[k] > a->s->lo[k])) p->y[k] = nextafter(a->s->lo[k], (double)INFINITY);
        if (a->u[k] > 0 && !(p->y[k] < a->s->hi[k])) p->y[k] = nextafter(a->s->hi[k], -(double)INFINITY);
    }
    lcp_apply(a->s, p->y, p->v, p->size_of_row);
    return true;
}

/* Is the gradient balanced by the multipliers, and is mu small? */
static bool is_close(const path *a, double tolerance) {
    const lcp_pivoting *p = a->p;
    double miss = 0;
    for (int k = 0; k < a->size; k++)
        if (p->state[k] == ABUT_LCP_FREE)
            miss = fmax(
                miss, fabs(p->v[k] + p->delta * p->metric[k] * (p->y[k] - p->center[k]) - a->x[k] + a->u[k]));
    memset(p->step, 0, (size_t)a->size * sizeof(double));
    return miss <= sqrt(tolerance) && mean_gap(a, 0) <= tolerance;
}

void lcp_interior_run(lcp_pivoting *p, int call) {
    size_t n = (size_t)p->system.size;
    double *room = p->interior, size = 0, tolerance = call == 1 ? 1e-9 : call == 2 ? 1e-14 : 1e-19;
    path a = {p,
              &p->system,
              p->system.size,
              room,
              room + n,
              room + 2 * n,
              room + 3 * n,
              room + 4 * n,
              room + 5 * n,
              room + 6 * n};
    for (size_t k = 0; k < n; k++) size = fmax(size, fabs(p->system.q[k]));
    if (!(size > 0)) size = 1;
    double unit = size;
    for (size_t k = 0; k < n; k++) unit = fmin(unit, 1 / p->system.weight[k]);
    start(&a, size);
    lcp_apply(&p->system, p->y, p->v, p->size_of_row);
    for (int round = 0; round < MOST_ROUNDS && !is_close(&a, tolerance * unit * unit) && advance(&a);)
        round++;
    for (size_t k = 0; k < n; k++) {
        if (a.x[k] > 0 && p->y[k] - p->system.lo[k] < a.x[k]) p->state[k] = ABUT_LCP_AT_LOWER;
        if (a.u[k] > 0 && p->system.hi[k] - p->y[k] < a.u[k]) p->state[k] = ABUT_LCP_AT_UPPER;
        p->pivots += p->state[k] != ABUT_LCP_FREE;
    }
    p->factor.filled = false;
}
