/* Gauss-Newton with a line search by halving. */
#include "numerics/newton.h"
#include "numerics/dense.h"

#include <math.h>

newton_config newton_default_config(void) {
    return (newton_config){.residual = 1e-12, .step = 1e-15, .rank = 1e-10, .budget = 50};
}

static double largest(const double *x, int n) {
    double size = 0;
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return (double)INFINITY;
        size = fmax(size, fabs(x[i]));
    }
    return size;
}

static double square(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

typedef struct space {
    double *r, *jacobian, *tau, *work, *dx, *trial, *b;
    int *column;
} space;

static bool allocate(arena *scratch, space *s, size_t m, size_t n) {
    s->r = arena_alloc(scratch, m, sizeof(double)), s->b = arena_alloc(scratch, m, sizeof(double));
    s->jacobian = arena_alloc(scratch, m * n, sizeof(double)),
    s->tau = arena_alloc(scratch, m + n, sizeof(double));
    s->work = arena_alloc(scratch, n * n + 2 * n, sizeof(double)),
    s->dx = arena_alloc(scratch, n, sizeof(double));
    s->trial = arena_alloc(scratch, n, sizeof(double)), s->column = arena_alloc(scratch, n, sizeof(int));
    return s->r && s->b && s->jacobian && s->tau && s->work && s->dx && s->trial && s->column;
}

/* x + 2^-k dx with the first k at which |r| falls; false when none of 30 does. */
static bool take_step(const space *s, int m, int n, newton_function *f, void *user, double *x) {
    double before = square(s->r, m), alpha = 1;
    for (int k = 0; k < 30; k++, alpha *= 0.5) {
        for (int i = 0; i < n; i++) s->trial[i] = x[i] - alpha * s->dx[i];
        if (f(user, s->trial, s->b, NULL) != ABUT_OK || !(square(s->b, m) < before)) continue;
        memcpy(x, s->trial, (size_t)n * sizeof *x);
        return true;
    }
    return false;
}

abut_status newton_solve(arena *scratch, int m, int n, const newton_config *config, newton_function *f,
                         void *user, double *x, newton_result *result, abut_error *error) {
    space s;
    newton_result ignored;
    if (!result) result = &ignored;
    *result = (newton_result){0};
    arena_mark mark = arena_save(scratch);
    abut_status status = allocate(scratch, &s, (size_t)m, (size_t)n) ? ABUT_BUDGET : ABUT_NO_MEMORY;
    while (status == ABUT_BUDGET && result->steps <= config->budget) {
        abut_status answer = f(user, x, s.r, s.jacobian);
        result->residual = largest(s.r, m);
        if (answer != ABUT_OK || !isfinite(result->residual)) {
            status = answer == ABUT_OK ? ABUT_FAILED : answer;
            break;
        }
        if (result->residual <= config->residual) {
            status = ABUT_OK;
            break;
        }
        result->rank = dense_qr_factor(m, n, s.jacobian, config->rank, s.column, s.tau, s.work);
        memcpy(s.b, s.r, (size_t)m * sizeof(double));
        dense_qr_solve(m, n, s.jacobian, result->rank, s.column, s.tau, s.b, s.dx, s.work);
        bool still = largest(s.dx, n) <= config->step * (1 + largest(x, n));
        if (still || !take_step(&s, m, n, f, user, x)) {
            status = ABUT_FAILED;
            break;
        }
        result->steps++;
    }
    arena_restore(scratch, mark);
    result->status = status;
    if (status == ABUT_NO_MEMORY) return fail_memory(error);
    if (status == ABUT_FAILED)
        return fail(error, status, "Newton's method stops at a residual of %.3g after %d steps",
                    result->residual, result->steps);
    if (status == ABUT_BUDGET)
        return fail(error, status, "Newton's method has a residual of %.3g after %d steps", result->residual,
                    result->steps);
    return status;
}
