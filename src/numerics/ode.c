/* The integrators: stages, error, step size, interpolant.  Notation of Hairer, Norsett and Wanner 1993,
 * sections II.4 to II.6: k_i = f(t + c_i h, y + h sum a_ij k_j); a step is accepted when the error, measured
 * against absolute + relative max(|y|, |y'|) in the mean square, is at most 1. */
#include "numerics/ode.h"
#include "numerics/ode_tables.h"

#include <float.h>
#include <math.h>

ode_config ode_default_config(void) {
    return (ode_config){.method = ODE_DP853, .relative = 1e-9, .absolute = 1e-9, .budget = 10000000};
}

double ode_root64(double x, int n) {
    double product = 1, root = x;
    for (int bit = 32; bit > 0; bit /= 2) {
        root = sqrt(root); /* x^(bit / 64) */
        if (n & bit) product *= root;
    }
    return product;
}

abut_status ode_init(ode *o, const abut_context *context, int size, const ode_config *config, ode_function *f,
                     ode_projection *project, void *user) {
    *o = (ode){.context = context, .config = *config, .f = f, .project = project, .user = user, .size = size};
    size_t n = (size_t)size, vectors = ODE_STAGES + ODE_DENSE + 3;
    double *next = o->memory = mem_calloc(context, n * vectors + 1, sizeof(double));
    if (!next) return ABUT_NO_MEMORY;
    for (int i = 0; i < ODE_STAGES; i++) o->k[i] = next, next += n;
    for (int i = 0; i < ODE_DENSE; i++) o->dense[i] = next, next += n;
    o->y = next, o->y_old = next + n, o->trial = next + 2 * n;
    return ABUT_OK;
}

void ode_free(ode *o) {
    mem_free(o->context, o->memory, (size_t)o->size * (ODE_STAGES + ODE_DENSE + 3) + 1, sizeof(double));
    *o = (ode){0};
}

/* f, and no number that is not finite. */
static abut_status evaluate(ode *o, double t, const double *y, double *dydt) {
    o->evaluations++;
    abut_status status = o->f(o->user, t, y, dydt);
    for (int i = 0; i < o->size && status == ABUT_OK; i++)
        if (!isfinite(dydt[i])) status = ABUT_FAILED;
    return status;
}

/* What a difference in component i is measured against. */
static double scale_of(const ode *o, int i, double a, double b) {
    double absolute = o->config.scale ? o->config.scale[i] : o->config.absolute;
    return absolute + o->config.relative * fmax(fabs(a), fabs(b));
}

/* Mean square of x, measured as errors are. */
static double norm_of(const ode *o, const double *x) {
    double sum = 0;
    for (int i = 0; i < o->size; i++) {
        double r = x[i] / scale_of(o, i, o->y[i], 0);
        sum += r * r;
    }
    return o->size ? sqrt(sum / o->size) : 0;
}

/* A first step (Hairer, Norsett and Wanner, section II.4): such that an Euler step changes y by 1 % of its
 * size, and such that h^order times the second derivative stays below 1 %. */
static double guess_step(ode *o) {
    double d0 = norm_of(o, o->y), d1 = norm_of(o, o->k[0]),
           h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    int root = o->config.method == ODE_DP5 ? 13 : 8; /* 64 / order */
    for (int i = 0; i < o->size; i++) o->trial[i] = o->y[i] + h * o->k[0][i];
    if (evaluate(o, o->t + h, o->trial, o->k[1]) != ABUT_OK) return h;
    for (int i = 0; i < o->size; i++) o->k[1][i] = (o->k[1][i] - o->k[0][i]) / h;
    double d2 = fmax(d1, norm_of(o, o->k[1]));
    double other = d2 <= 1e-15 ? fmax(1e-6, h * 1e-3) : ode_root64(0.01 / d2, root);
    return fmin(100 * h, other);
}

abut_status ode_start(ode *o, double t, const double *y, abut_error *error) {
    if (!isfinite(t)) return fail(error, ABUT_INVALID, "the starting time is not a finite number");
    o->t = o->t_old = t;
    if (y != o->y) memcpy(o->y, y, (size_t)o->size * sizeof *y);
    for (int i = 0; i < o->size; i++)
        if (!isfinite(o->y[i]))
            return fail(error, ABUT_INVALID, "component %d of the state is not a finite number", i);
    abut_status status = evaluate(o, t, o->y, o->k[0]);
    if (status != ABUT_OK)
        return fail(error, status, "the motion cannot start at t = %.17g: %s", t, abut_status_text(status));
    o->h = o->config.first_step > 0 ? o->config.first_step : guess_step(o);
    o->last_error = 1e-4, o->was_rejected = false, o->used = 0, o->waits = false;
    return ABUT_OK;
}

/* y + h sum_j a_j k_j, over the stages before `count`. */
static void combine(const ode *o, const double *a, int count, double h, double *out) {
    for (int i = 0; i < o->size; i++) out[i] = 0;
    for (int j = 0; j < count; j++)
        if (a[j] != 0)
            for (int i = 0; i < o->size; i++) out[i] += a[j] * o->k[j][i];
    for (int i = 0; i < o->size; i++) out[i] = o->y[i] + h * out[i];
}

/* Row s of the tables, and its place in the step. */
static const double *row_of(const ode *o, int s) {
    return o->config.method == ODE_DP5 ? dp5_a[s < 7 ? s : 6] : dp853_a[s];
}
static double place_of(const ode *o, int s) {
    return o->config.method == ODE_DP5 ? dp5_c[s < 7 ? s : 6] : dp853_c[s];
}

/* Stages `from` to `to` - 1. */
static abut_status stages(ode *o, double h, int from, int to) {
    for (int s = from; s < to; s++) {
        combine(o, row_of(o, s), s, h, o->trial);
        abut_status status = evaluate(o, o->t + place_of(o, s) * h, o->trial, o->k[s]);
        if (status != ABUT_OK) return status;
    }
    return ABUT_OK;
}

/* The new point in `trial` with f there in the stage behind the weights (6 or 12), projected where asked. */
static abut_status finish_point(ode *o, double t_new, double h) {
    int last = o->config.method == ODE_DP5 ? 6 : 12;
    combine(o, row_of(o, last), last, h, o->trial);
    abut_status status = o->project ? o->project(o->user, t_new, o->trial) : ABUT_OK;
    return status == ABUT_OK ? evaluate(o, t_new, o->trial, o->k[last]) : status;
}

/* The error of the step over what is allowed. */
static double error_of(const ode *o, double h) {
    double sum5 = 0, sum3 = 0;
    for (int i = 0; i < o->size; i++) {
        double e5 = 0, e3 = 0, scale = scale_of(o, i, o->y[i], o->trial[i]);
        if (o->config.method == ODE_DP5) {
            for (int s = 0; s < 7; s++) e5 += dp5_e[s] * o->k[s][i];
        } else {
            for (int s = 0; s < 12; s++)
                e5 += dp853_e5[s] * o->k[s][i], e3 += (dp853_a[12][s] - dp853_e3[s]) * o->k[s][i];
        }
        sum5 += e5 / scale * (e5 / scale), sum3 += e3 / scale * (e3 / scale);
    }
    if (o->size == 0) return 0;
    if (o->config.method == ODE_DP5) return h * sqrt(sum5 / o->size);
    double both = sum5 + 0.01 * sum3; /* (10.17): err = err5^2 / sqrt(err5^2 + err3^2 / 100) */
    return both > 0 ? h * sum5 / sqrt(both * o->size) : 0;
}

/* The coefficients of the interpolant: value and slope at both ends, and the method's own. */
static void make_dense(ode *o, double h) {
    bool five = o->config.method == ODE_DP5;
    const double *slope = o->k[five ? 6 : 12];
    for (int i = 0; i < o->size; i++) {
        double rise = o->trial[i] - o->y[i], bend = h * o->k[0][i] - rise;
        o->dense[0][i] = o->y[i], o->dense[1][i] = rise, o->dense[2][i] = bend;
        o->dense[3][i] = rise - h * slope[i] - bend;
        for (int c = 0; c < (five ? 1 : 4); c++) {
            double sum = 0;
            for (int s = 0; s < (five ? 7 : 16); s++) sum += (five ? dp5_d[s] : dp853_d[c][s]) * o->k[s][i];
            o->dense[4 + c][i] = h * sum;
        }
    }
}

/* h times this is the next step: PI control (section IV.2), exponents in 64ths. The safety factor is 0.9. */
static double growth(const ode *o, double error) {
    bool five = o->config.method == ODE_DP5;
    if (!(error > 0)) return five ? 10 : 6;
    double factor = 0.9 * ode_root64(o->last_error, five ? 3 : 1) / ode_root64(error, five ? 11 : 8);
    return fmin(fmax(factor, five ? 0.2 : 1.0 / 3), five ? 10 : 6);
}

/* Tries a step of h to t_new.  OK with *error > 1: to be cut. */
static abut_status try_step(ode *o, double t_new, double h, double *error) {
    bool five = o->config.method == ODE_DP5;
    abut_status status = stages(o, h, 1, five ? 6 : 12);
    if (status != ABUT_OK) return status;
    if (five) { /* its error needs f at the new point */
        status = finish_point(o, t_new, h);
        if (status == ABUT_OK) *error = error_of(o, h);
        return status;
    }
    combine(o, dp853_a[12], 12, h, o->trial);
    *error = error_of(o, h);
    if (!(*error <= 1)) return ABUT_OK;
    status = finish_point(o, t_new, h);
    if (status != ABUT_OK || o->config.no_dense || o->config.lazy_dense) return status;
    memcpy(o->y_old, o->trial, (size_t)o->size * sizeof(double)); /* stages overwrite `trial` */
    status = stages(o, h, 13, 16);
    memcpy(o->trial, o->y_old, (size_t)o->size * sizeof(double));
    return status;
}

static void accept(ode *o, double t_new, double h, double error) {
    bool five = o->config.method == ODE_DP5;
    double factor = growth(o, error);
    if (o->was_rejected) factor = fmin(factor, 1.0);
    o->waits = o->config.lazy_dense && !five;
    if (five || !(o->config.no_dense || o->waits)) make_dense(o, h);
    memcpy(o->y_old, o->y, (size_t)o->size * sizeof(double));
    memcpy(o->y, o->trial, (size_t)o->size * sizeof(double));
    if (!o->waits) memcpy(o->k[0], o->k[five ? 6 : 12], (size_t)o->size * sizeof(double));
    o->t_old = o->t, o->t = t_new;
    o->last_error = fmax(error, 1e-4), o->was_rejected = false;
    o->h = h * factor, o->steps++;
}

static void swap_ends(ode *o) {
    double *y = o->y, t = o->t;
    o->y = o->y_old, o->y_old = y;
    o->t = o->t_old, o->t_old = t;
}

abut_status ode_make_dense(ode *o, abut_error *error) {
    if (!o->waits) return ABUT_OK;
    double h = o->t - o->t_old;
    size_t bytes = (size_t)o->size * sizeof(double);
    swap_ends(o); /* the stages start from the old end */
    abut_status status = stages(o, h, 13, 16);
    memcpy(o->trial, o->y_old, bytes);
    if (status == ABUT_OK) make_dense(o, h);
    swap_ends(o);
    memcpy(o->k[0], o->k[12], bytes);
    o->waits = false;
    if (status == ABUT_OK) return ABUT_OK;
    return fail(error, status, "no interpolant for the step that ended at t = %.17g: %s", o->t,
                abut_status_text(status));
}

void ode_middle(const ode *o, double *y) {
    double h = o->t - o->t_old;
    for (int i = 0; i < o->size; i++)
        y[i] = 0.5 * (o->y_old[i] + o->y[i]) + h / 8 * (o->k[0][i] - o->k[12][i]);
}

abut_status ode_step(ode *o, double end, abut_error *error) {
    if (o->waits) memcpy(o->k[0], o->k[12], (size_t)o->size * sizeof(double));
    o->waits = false;
    if (!(end > o->t))
        return fail(error, ABUT_INVALID, "the step ends at %.17g, which is not after t = %.17g", end, o->t);
    double proposal = o->h;
    for (;;) {
        double h = o->h, t_new, measure = 0;
        if (o->config.longest > 0) h = fmin(h, o->config.longest);
        bool last = o->t + 1.01 * h >= end; /* no crumb is left behind */
        t_new = last ? end : o->t + h, h = t_new - o->t;
        if (o->used++ >= o->config.budget)
            return fail(error, ABUT_BUDGET, "%lld steps were not enough; t = %.17g",
                        (long long)o->config.budget, o->t);
        if (!(h > 4 * DBL_EPSILON * fabs(o->t)) && !last)
            return fail(error, ABUT_FAILED,
                        "the step became too small to move at t = %.17g; is the motion smooth there?", o->t);
        abut_status status = try_step(o, t_new, h, &measure);
        if (status == ABUT_NO_MEMORY || status == ABUT_CANCELLED)
            return fail(error, status, "stopped at t = %.17g", o->t);
        if (status == ABUT_OK && measure <= 1) {
            accept(o, t_new, h, measure);
            if (last) o->h = fmax(o->h, proposal); /* a step cut short by `end` says little */
            return ABUT_OK;
        }
        o->rejected++;
        bool refused = status != ABUT_OK || !isfinite(measure);
        o->h = h * (refused ? 0.25 : fmin(growth(o, measure), 0.9)), o->was_rejected = true, proposal = 0;
        if (refused && !(o->h > 4 * DBL_EPSILON * fmax(fabs(o->t), DBL_MIN)))
            return fail(error, status == ABUT_OK ? ABUT_FAILED : status,
                        "the motion cannot go on from t = %.17g: %s", o->t,
                        abut_status_text(status == ABUT_OK ? ABUT_FAILED : status));
    }
}

/* d0 + x (d1 + (1-x) (d2 + x (d3 + (1-x) (...)))), x = (t - t_old) / h (Hairer, Norsett and Wanner, program
 * DOP853). */
static int dense_count(const ode *o) { return o->config.method == ODE_DP5 ? 5 : 8; }

void ode_dense(const ode *o, double t, double *y) {
    double x = (t - o->t_old) / (o->t - o->t_old);
    for (int i = 0; i < o->size; i++) {
        double sum = 0;
        for (int c = dense_count(o) - 1; c > 0; c--) sum = (o->dense[c][i] + sum) * (c & 1 ? x : 1 - x);
        y[i] = o->dense[0][i] + sum;
    }
}

void ode_dense_rate(const ode *o, double t, double *dydt) {
    double h = o->t - o->t_old, x = (t - o->t_old) / h;
    for (int i = 0; i < o->size; i++) {
        double sum = 0, slope = 0;
        for (int c = dense_count(o) - 1; c > 0; c--) {
            double factor = c & 1 ? x : 1 - x, change = c & 1 ? 1 : -1;
            slope = slope * factor + (o->dense[c][i] + sum) * change;
            sum = (o->dense[c][i] + sum) * factor;
        }
        dydt[i] = slope / h;
    }
}
