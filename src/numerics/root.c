/* Bracketing of zeros, and the monitor of an integration; the contract stands in root.h. */
#include "numerics/root.h"

#include <float.h>
#include <math.h>

/* ITP: interpolate, truncate, project.  The false-position point, moved a little towards the middle, and no
 * farther from the middle than what bisection would still allow: r = eps 2^(n - j) - (b - a) / 2, n =
 * bisection's count + 1. */
int root_bracket(root_function *f, void *user, double *a, double fa, double *b, double fb, double tolerance) {
    double lo = *a, hi = *b, floor = 2 * DBL_EPSILON * fmax(fabs(lo), fabs(hi));
    double eps = 0.5 * fmax(tolerance, fmax(floor, DBL_MIN)), first = hi - lo, allowed = eps;
    int evaluations = 0;
    while (allowed < first) allowed *= 2; /* eps 2^n with n one more than bisection needs */
    while (hi - lo > 2 * eps && fb != 0) {
        double middle = lo + 0.5 * (hi - lo), reach = allowed - 0.5 * (hi - lo),
               delta = 0.2 / first * (hi - lo) * (hi - lo);
        double cut = (fb * lo - fa * hi) / (fb - fa), x;
        double side = middle >= cut ? 1 : -1;
        x = delta <= fabs(middle - cut) ? cut + side * delta : middle;
        if (!(fabs(x - middle) <= reach)) x = middle - side * fmax(reach, 0.0);
        if (!(x > lo && x < hi)) x = middle;
        if (!(x > lo && x < hi)) break; /* neighbouring doubles */
        double fx = f(user, x);
        evaluations++;
        if (fx != 0 && (fx > 0) == (fa > 0))
            lo = x, fa = fx;
        else
            hi = x, fb = fx;
        allowed *= 0.5;
    }
    *a = lo, *b = hi;
    return evaluations;
}

abut_status root_init(root_monitor *m, const abut_context *context, int count, int size, root_functions *g,
                      void *user) {
    *m = (root_monitor){.context = context,
                        .count = count,
                        .size = size,
                        .g = g,
                        .user = user,
                        .tolerance = 1e-12,
                        .looks = 7};
    size_t room = 2 * (size_t)count + (size_t)size + 1;
    m->last = mem_calloc(context, room, sizeof(double));
    if (!m->last) return ABUT_NO_MEMORY;
    m->now = m->last + count, m->point = m->now + count;
    return ABUT_OK;
}

void root_free(root_monitor *m) {
    mem_free(m->context, m->last, 2 * (size_t)m->count + (size_t)m->size + 1, sizeof(double));
    *m = (root_monitor){0};
}

abut_status root_start(root_monitor *m, double t, const double *y) {
    m->evaluations++;
    return m->count ? m->g(m->user, t, y, m->last) : ABUT_OK;
}

/* One monitored function along the dense output, for root_bracket. */
typedef struct along {
    root_monitor *m;
    const ode *o;
    int index;
    abut_status status;
} along;

static double value_along(void *user, double t) {
    along *a = user;
    ode_dense(a->o, t, a->m->point);
    a->m->evaluations++;
    if (a->status == ABUT_OK) a->status = a->m->g(a->m->user, t, a->m->point, a->m->now);
    return a->m->now[a->index];
}

/* Does g_i cross between the last look and this one? */
static bool crosses(const root_monitor *m, int i, double before, double after) {
    if (before == 0 || (after != 0 && (before < 0) == (after < 0))) return false;
    return !m->directions || m->directions[i] == 0 || (m->directions[i] > 0) == (before < 0);
}

/* The crossings between looks at `from` and `to`, whose values are in `last` and `after`: the earliest, ties
 * by index. */
static abut_status locate(root_monitor *m, const ode *o, double from, double to, const double *after,
                          root_hit *hit) {
    for (int i = 0; i < m->count; i++) {
        if (!crosses(m, i, m->last[i], after[i])) continue;
        along a = {m, o, i, ABUT_OK};
        double before = from, t = to;
        root_bracket(value_along, &a, &before, m->last[i], &t, after[i], m->tolerance);
        if (a.status != ABUT_OK) return a.status;
        if (hit->index < 0 || t < hit->t - m->tolerance) *hit = (root_hit){i, t, before, m->last[i] < 0};
    }
    return ABUT_OK;
}

abut_status root_search(root_monitor *m, const ode *o, root_hit *hit, abut_error *error) {
    *hit = (root_hit){.index = -1, .t = o->t, .before = o->t_old};
    if (m->count == 0) return ABUT_OK;
    arena scratch;
    arena_init(&scratch, m->context);
    double *after = arena_alloc(&scratch, (size_t)m->count, sizeof *after), from = o->t_old;
    abut_status status = after ? ABUT_OK : ABUT_NO_MEMORY;
    for (int look = 1; look <= m->looks + 1 && status == ABUT_OK && hit->index < 0; look++) {
        bool end = look == m->looks + 1;
        double to = end ? o->t : o->t_old + (o->t - o->t_old) * look / (m->looks + 1);
        if (!end) ode_dense(o, to, m->point);
        m->evaluations++;
        status = m->g(m->user, to, end ? o->y : m->point, after);
        if (status == ABUT_OK) status = locate(m, o, from, to, after, hit);
        for (int i = 0; i < m->count; i++) m->last[i] = after[i];
        from = to;
    }
    arena_free(&scratch);
    if (status != ABUT_OK) return fail(error, status, "a monitored function failed near t = %.17g", from);
    return ABUT_OK;
}
