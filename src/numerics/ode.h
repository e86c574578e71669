/* ode: dy/dt = f(t, y) by adaptive Runge-Kutta methods of Dormand and Prince, one step at a time, with dense
 * output.
 *
 *     ode o;
 *     ode_config config = ode_default_config();
 *     ode_init(&o, context, size, &config, f, NULL, user);
 *     ode_start(&o, t, y, &error);                     // again after every event that changes y
 *     while (o.t < end && (status = ode_step(&o, end, &error)) == ABUT_OK) {
 *         ode_dense(&o, 0.5 * (o.t_old + o.t), y);     // anywhere in the last step, to the order of the
 * method
 *     }
 *     ode_free(&o);
 *
 * The caller owns the loop; a step never passes `end`, and reaches it exactly.  f may refuse a point (any
 * status but OK, NO_MEMORY and CANCELLED): the step is then cut.  Steps are the same bits everywhere: the
 * step-size control uses square roots only. */
#ifndef NUMERICS_ODE_H
#define NUMERICS_ODE_H

#include "base/base.h"

typedef abut_status ode_function(void *user, double t, const double *y, double *dydt);
/* Brings y back on its manifold (a quaternion to unit length) after a step; small moves only. */
typedef abut_status ode_projection(void *user, double t, double *y);

typedef enum ode_method {
    ODE_DP5,  /* Dormand and Prince 5(4), dense output of order 4 */
    ODE_DP853 /* Dormand and Prince 8(5,3), dense output of order 7 */
} ode_method;

typedef struct ode_config {
    ode_method method;   /* ODE_DP853 */
    double relative;     /* error of a step, relative to |y|: 1e-9 */
    double absolute;     /* and absolute, where `scale` is NULL: 1e-9 */
    const double *scale; /* absolute error of each component (kept by the caller), or NULL */
    double first_step;   /* 0: estimated */
    double longest;      /* 0: none */
    bool no_dense;       /* saves three evaluations a step of DP853 */
    bool lazy_dense;     /* DP853: they wait until ode_make_dense, which ode_dense then needs */
    int64_t budget;      /* steps, accepted or not, until ode_start: 10 million */
} ode_config;
ode_config ode_default_config(void);

enum { ODE_STAGES = 16, ODE_DENSE = 8 };
typedef struct ode {
    const abut_context *context;
    ode_config config;
    ode_function *f;
    ode_projection *project;
    void *user;
    int size;
    double t, t_old; /* the last step went from t_old to t */
    double h;        /* proposal for the next step */
    double *y;       /* at t */
    double *y_old;
    double *k[ODE_STAGES];    /* derivatives; k[0] is that at t, or, while `waits`, at t_old: then k[12] is */
    bool waits;               /* the last step has no interpolant yet */
    double *dense[ODE_DENSE]; /* coefficients of the interpolant */
    double *trial;
    double last_error;
    bool was_rejected;
    int64_t steps, rejected, evaluations, used;
    double *memory;
} ode;

abut_status ode_init(ode *o, const abut_context *context, int size, const ode_config *config, ode_function *f,
                     ode_projection *project, void *user);
void ode_free(ode *o);
/* Begins at (t, y); keeps nothing of what was before but the counts. */
abut_status ode_start(ode *o, double t, const double *y, abut_error *error);
/* One accepted step towards `end` > t.  BUDGET: the steps are used up; FAILED (or f's own status): the step
 * became too small to move t. */
abut_status ode_step(ode *o, double end, abut_error *error);
/* The interpolant of the last step, if it waits. */
abut_status ode_make_dense(ode *o, abut_error *error);
/* y in the middle of the last step, while its interpolant waits, by the cubic through both ends: order 4. */
void ode_middle(const ode *o, double *y);
/* y and dy/dt of the interpolant at t_old <= t <= o->t. */
void ode_dense(const ode *o, double t, double *y);
void ode_dense_rate(const ode *o, double t, double *dydt);

/* x^(n/64) for x >= 0, 0 <= n < 64, by square roots: the same bits everywhere. */
double ode_root64(double x, int n);

#endif
