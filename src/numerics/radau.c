/* Implicit steps (see radau.h).  With the increments Z_i = Y_i - y of the stages
 *     A^-1 Z / h = F(y + Z),    F_i = f(t + c_i h, y + Z_i),
 * solved by Newton's method with one Jacobian, in the coordinates W = T^-1 Z in which A^-1 has blocks: each
 * pair of eigenvalues is one complex system ((a + i b) / h - J) (dW_1 - i dW_2) = (T^-1 R)_1 - i (T^-1 R)_2.
 */
#include "numerics/radau.h"
#include "numerics/radau_tables.h"

#include <float.h>
#include <math.h>

enum { NEWTON_ROUNDS = 12 };
/* Of what an error of 1 is: what Newton's method leaves. */
#define NEWTON_LEFT 1e-2
/* The leading coefficient of Legendre's polynomial of degree 7 on [0, 1]: 14! / 7!^2. */
#define LEGENDRE_LEAD 3432.0

static size_t doubles_of(size_t n) { return n * n + 16 * n + RADAU_SYSTEMS * 2 * n * n + 2 * n + 1; }

abut_status radau_init(radau *r, const abut_context *context, int size) {
    size_t n = (size_t)size;
    *r = (radau){.context = context, .size = size};
    double *next = r->memory = mem_calloc(context, doubles_of(n), sizeof(double));
    int *order = r->pivots[0] = mem_calloc(context, RADAU_SYSTEMS * n + 1, sizeof(int));
    if (!next || !order) {
        radau_free(r);
        return ABUT_NO_MEMORY;
    }
    r->jacobian = next, next += n * n;
    for (int i = 0; i < RADAU_STAGES; i++) r->z[i] = next, r->w[i] = next + n, next += 2 * n;
    r->changed = next, next += 2 * n;
    for (int i = 0; i < RADAU_SYSTEMS; i++) {
        r->lu[i] = (radau_number *)next, next += 2 * n * n;
        r->pivots[i] = order + (size_t)i * n;
    }
    r->right = (radau_number *)next;
    return ABUT_OK;
}

void radau_free(radau *r) {
    size_t n = (size_t)r->size;
    mem_free(r->context, r->memory, doubles_of(n), sizeof(double));
    mem_free(r->context, r->pivots[0], RADAU_SYSTEMS * n + 1, sizeof(int));
    *r = (radau){0};
}

static abut_status evaluate(ode *o, double t, const double *y, double *dydt) {
    o->evaluations++;
    abut_status status = o->f(o->user, t, y, dydt);
    for (int i = 0; i < o->size && status == ABUT_OK; i++)
        if (!isfinite(dydt[i])) status = ABUT_FAILED;
    return status;
}

/* By differences, with the square root of what rounding leaves of y. */
static abut_status differentiate(radau *r, ode *o) {
    size_t n = (size_t)r->size;
    double *y = r->changed, *f = y + n;
    memcpy(y, o->y, n * sizeof *y);
    for (size_t j = 0; j < n; j++) {
        double step = sqrt(DBL_EPSILON * fmax(1e-5, fabs(y[j])));
        y[j] = o->y[j] + step;
        abut_status status = evaluate(o, o->t, y, f);
        if (status == ABUT_FAILED) {
            y[j] = o->y[j] - step;
            status = evaluate(o, o->t, y, f);
        }
        if (status != ABUT_OK) return status;
        for (size_t i = 0; i < n; i++) r->jacobian[n * j + i] = (f[i] - o->k[0][i]) / (y[j] - o->y[j]);
        y[j] = o->y[j];
    }
    return ABUT_OK;
}

/* ---- complex systems */

static radau_number times(radau_number a, radau_number b) {
    return (radau_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static radau_number over(radau_number a, radau_number b) {
    double size = b.re * b.re + b.im * b.im;
    return (radau_number){(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

static double size_of(radau_number a) { return fabs(a.re) + fabs(a.im); }

/* LU of m, columns of n, with the largest pivot of each column; false where it has none. */
static bool factor(radau_number *m, int *pivots, size_t n) {
    for (size_t k = 0; k < n; k++) {
        radau_number *column = m + n * k;
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (size_of(column[i]) > size_of(column[best])) best = i;
        if (!(size_of(column[best]) > 0) || !isfinite(size_of(column[best]))) return false;
        pivots[k] = (int)best;
        for (size_t j = 0; j < n && best != k; j++) {
            radau_number swap = m[n * j + k];
            m[n * j + k] = m[n * j + best], m[n * j + best] = swap;
        }
        for (size_t i = k + 1; i < n; i++) column[i] = over(column[i], column[k]);
        for (size_t j = k + 1; j < n; j++) {
            radau_number *other = m + n * j, by = other[k];
            if (by.re == 0 && by.im == 0) continue;
            for (size_t i = k + 1; i < n; i++) {
                radau_number p = times(column[i], by);
                other[i].re -= p.re, other[i].im -= p.im;
            }
        }
    }
    return true;
}

static void substitute(const radau_number *m, const int *pivots, size_t n, radau_number *x) {
    for (size_t k = 0; k < n; k++) {
        radau_number swap = x[k];
        x[k] = x[pivots[k]], x[pivots[k]] = swap;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++) {
            radau_number p = times(m[n * k + i], x[k]);
            x[i].re -= p.re, x[i].im -= p.im;
        }
    for (size_t k = n; k-- > 0;) {
        x[k] = over(x[k], m[n * k + k]);
        for (size_t i = 0; i < k; i++) {
            radau_number p = times(m[n * k + i], x[k]);
            x[i].re -= p.re, x[i].im -= p.im;
        }
    }
}

static bool factor_all(radau *r, double h) {
    size_t n = (size_t)r->size;
    for (int s = 0; s < RADAU_SYSTEMS; s++) {
        for (size_t k = 0; k < n * n; k++) r->lu[s][k] = (radau_number){-r->jacobian[k], 0};
        for (size_t i = 0; i < n; i++) {
            r->lu[s][n * i + i].re += radau_eigenvalue[s][0] / h;
            r->lu[s][n * i + i].im += radau_eigenvalue[s][1] / h;
        }
        if (!factor(r->lu[s], r->pivots[s], n)) return false;
    }
    return true;
}

/* ---- Newton's method */

static double scale_of(const ode *o, int i) {
    double absolute = o->config.scale ? o->config.scale[i] : o->config.absolute;
    return absolute + o->config.relative * fabs(o->y[i]);
}

/* Component i of all stages: x = M x. */
static void transform(const double m[RADAU_STAGES][RADAU_STAGES], double *const *x, int i) {
    double sum[RADAU_STAGES];
    for (int a = 0; a < RADAU_STAGES; a++) {
        sum[a] = 0;
        for (int b = 0; b < RADAU_STAGES; b++) sum[a] += m[a][b] * x[b][i];
    }
    for (int a = 0; a < RADAU_STAGES; a++) x[a][i] = sum[a];
}

/* w = F(y + Z) - A^-1 Z / h */
static abut_status find_left(radau *r, ode *o, double h) {
    for (int s = 0; s < RADAU_STAGES; s++) {
        for (int i = 0; i < r->size; i++) r->changed[i] = o->y[i] + r->z[s][i];
        abut_status status = evaluate(o, o->t + radau_c[s] * h, r->changed, r->w[s]);
        if (status != ABUT_OK) return status;
        for (int i = 0; i < r->size; i++)
            for (int b = 0; b < RADAU_STAGES; b++) r->w[s][i] -= radau_inverse[s][b] * r->z[b][i] / h;
    }
    return ABUT_OK;
}

/* The step of Newton's method in w; its largest mean square among the stages, as errors are measured. */
static double find_change(radau *r, const ode *o) {
    int n = r->size;
    for (int i = 0; i < n; i++) transform(radau_t_inverse, r->w, i);
    for (int s = 0; s < RADAU_SYSTEMS; s++) {
        double *first = r->w[s == 0 ? 0 : 2 * s - 1], *second = s == 0 ? NULL : r->w[2 * s];
        for (int i = 0; i < n; i++) r->right[i] = (radau_number){first[i], second ? -second[i] : 0};
        substitute(r->lu[s], r->pivots[s], (size_t)n, r->right);
        for (int i = 0; i < n; i++) {
            first[i] = r->right[i].re;
            if (second) second[i] = -r->right[i].im;
        }
    }
    double most = 0;
    for (int i = 0; i < n; i++) transform(radau_t, r->w, i);
    for (int s = 0; s < RADAU_STAGES; s++) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            double e = r->w[s][i] / scale_of(o, i);
            sum += e * e;
        }
        most = fmax(most, sqrt(sum / n));
    }
    return most;
}

/* Whether the rounds that are left will do; what no longer falls, and is a tenth of what is asked, is
 * rounding. */
static bool converges(double change, double rate, int rounds) {
    if (!(rate < 1)) return change < 0.1;
    for (int i = 0; i < rounds; i++) change *= rate;
    return rate / (1 - rate) * change < NEWTON_LEFT;
}

/* OK: the stages of a step of h are found.  FAILED: it is too long. */
static abut_status find_stages(radau *r, ode *o, double h) {
    double last = INFINITY;
    r->rate = 0;
    if (!factor_all(r, h)) return ABUT_FAILED;
    for (int s = 0; s < RADAU_STAGES; s++) memset(r->z[s], 0, (size_t)r->size * sizeof(double));
    for (int round = 0; round < NEWTON_ROUNDS; round++) {
        abut_status status = find_left(r, o, h);
        if (status != ABUT_OK) return status;
        double change = find_change(r, o), rate = change / last;
        if (round > 0 && last > 1) r->rate = fmax(r->rate, rate); /* smaller ones may be rounding */
        if (!isfinite(change) || (round > 0 && !converges(change, rate, NEWTON_ROUNDS - round)))
            return ABUT_FAILED;
        for (int s = 0; s < RADAU_STAGES; s++)
            for (int i = 0; i < r->size; i++) r->z[s][i] += r->w[s][i];
        if (change < 1e-3 * NEWTON_LEFT ||
            (round > 0 && (rate >= 1 || rate / (1 - rate) * change < NEWTON_LEFT)))
            return ABUT_OK;
        last = change;
    }
    return ABUT_FAILED;
}

/* ---- a step */

/* The last coefficient of the stages' polynomial. */
static double error_of(const radau *r, const ode *o) {
    double sum = 0;
    for (int i = 0; i < r->size; i++) {
        double lead = 0;
        for (int b = 0; b < RADAU_STAGES; b++) lead += radau_dense[RADAU_STAGES - 1][b] * r->z[b][i];
        double e = lead / (LEGENDRE_LEAD * scale_of(o, i));
        sum += e * e;
    }
    return sqrt(sum / r->size);
}

static void accept(const radau *r, ode *o, double t_new, double h) {
    for (int i = 0; i < r->size; i++) {
        double slope = 0, before = o->y[i];
        o->dense[0][i] = before;
        for (int c = 0; c < RADAU_STAGES; c++) {
            double sum = 0;
            for (int b = 0; b < RADAU_STAGES; b++) sum += radau_dense[c][b] * r->z[b][i];
            o->dense[1 + c][i] = sum;
            slope += radau_inverse[RADAU_STAGES - 1][c] * r->z[c][i] / h;
        }
        o->y_old[i] = before, o->y[i] = before + r->z[RADAU_STAGES - 1][i], o->k[0][i] = slope;
    }
    o->t_old = o->t, o->t = t_new, o->waits = false, o->was_rejected = false, o->steps++;
}

/* The error falls with the seventh power of the step. */
static double growth(double error) { return error > 0 ? fmin(fmax(0.8 / ode_root64(error, 9), 0.1), 6) : 6; }

/* Where damping works along directions that turn, the Jacobian of the start misses, and Newton's method
 * converges at a rate that grows with the square of the step: it is to be a third at most. */
static double room_of(const radau *r) {
    return isfinite(r->rate) && r->rate > 0 ? fmin(sqrt(0.3 / r->rate), 6) : r->rate == 0 ? 6 : 0.25;
}

abut_status radau_step(radau *r, ode *o, double end, abut_error *error) {
    if (!(end > o->t))
        return fail(error, ABUT_INVALID, "the step ends at %.17g, which is not after t = %.17g", end, o->t);
    double proposal = o->h;
    abut_status status = differentiate(r, o);
    while (status == ABUT_OK) {
        bool last = o->t + 1.01 * o->h >= end;
        double t_new = last ? end : o->t + o->h, h = t_new - o->t;
        if (!(h > 4 * DBL_EPSILON * fabs(o->t))) break;
        status = find_stages(r, o, h);
        double measure = status == ABUT_OK ? error_of(r, o) : INFINITY;
        if (status == ABUT_NO_MEMORY || status == ABUT_CANCELLED)
            return fail(error, status, "stopped at t = %.17g", o->t);
        if (measure <= 1) {
            accept(r, o, t_new, h);
            o->h = h * fmin(growth(measure), room_of(r));
            if (last) o->h = fmax(o->h, proposal); /* a step cut short by `end` says little */
            return ABUT_OK;
        }
        o->rejected++, proposal = 0;
        o->h = h * (isfinite(measure) ? fmin(growth(measure), 0.9) : fmin(fmax(room_of(r), 0.1), 0.5));
        status = ABUT_OK;
    }
    return fail(error, status == ABUT_OK ? ABUT_FAILED : status,
                "no implicit step leads on from t = %.17g: %s", o->t,
                abut_status_text(status == ABUT_OK ? ABUT_FAILED : status));
}
