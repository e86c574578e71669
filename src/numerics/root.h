/* root: zeros of functions of one variable by bracketing, and first zeros of monitored functions along an
 * integration.
 *
 *     root_monitor m;
 *     root_init(&m, context, count, g, user);
 *     root_start(&m, o.t, o.y);                        // after ode_start, and again after every event
 *     ode_step(&o, end, &error);
 *     root_hit hit;
 *     root_search(&m, &o, &hit, &error);               // hit.index >= 0: g[hit.index] crosses 0 at hit.t
 *
 * The contract of the search over a step:
 *   - g is a vector of functions g_i(t, y).  A crossing of g_i is a change of sign between two looks at it
 * (both ends of the step and `looks` points between them, on the dense output), or a look at which g_i is
 * exactly 0 after it was not. Two crossings between neighbouring looks cancel and are not seen; more looks
 * see more.
 *   - directions[i] = +1 takes only changes from negative to positive, -1 only the others, 0 both.
 *   - A g_i that is exactly 0 at root_start is not armed: nothing is reported until it has been seen
 * different from 0; from then on it counts, with that sign. So a contact that is left just now does not hit
 * again.
 *   - Every crossing in the first interval between looks that has one is located, each to `tolerance` in t
 * (and not closer than rounding), by the ITP method (Oliveira and Takahashi 2020), which takes no more
 * evaluations than bisection in the worst case. The earliest wins; those within `tolerance` of it tie, and
 * the smallest index wins.
 *   - hit.before < hit.t is the bracket: g has its old sign at `before`, and the new one, or 0, at t. The
 * caller restarts at hit.t (ode_dense gives y there), so that the sign has changed for good. */
#ifndef NUMERICS_ROOT_H
#define NUMERICS_ROOT_H

#include "numerics/ode.h"

typedef double root_function(void *user, double x);
/* Narrows [*a, *b], where f(*a) and f(*b) have different signs (fb may be 0), to |b - a| <= tolerance or
 * rounding; the sign of f(*a) is kept at *a, and *b has the other sign, or 0. Returns the number of
 * evaluations. */
int root_bracket(root_function *f, void *user, double *a, double fa, double *b, double fb, double tolerance);

typedef abut_status root_functions(void *user, double t, const double *y, double *g);
typedef struct root_monitor {
    const abut_context *context;
    int count;
    root_functions *g;
    void *user;
    const int8_t *directions; /* NULL: both for all */
    double tolerance;         /* in t: 1e-12 */
    int looks;                /* inside a step: 7 */
    int size;                 /* of y; room for `point` */
    double *last;             /* g at the last look; 0 for functions that are not armed */
    double *now, *point;
    int64_t evaluations;
} root_monitor;
typedef struct root_hit {
    int index; /* -1: none */
    double t, before;
    bool rises; /* from negative to positive */
} root_hit;

abut_status root_init(root_monitor *m, const abut_context *context, int count, int size, root_functions *g,
                      void *user);
void root_free(root_monitor *m);
abut_status root_start(root_monitor *m, double t, const double *y);
/* Looks over the last step of o.  A status of g that is not OK is returned. */
abut_status root_search(root_monitor *m, const ode *o, root_hit *hit, abut_error *error);

#endif
