/* The path of a body in the step at work, s = 0 .. 1 over the step of the integrator, and bounds of it that
 * hold everywhere on it, not only where it was looked at.  For the proofs of exact_apart.c, and for how far
 * bodies may have come (exact_near.c).
 *
 *     c(s)                   the centre,
 *     x -> q x q* / |q|^2    the rotation: q is a polynomial, of unit length at rounding of the ends only */
#ifndef SIM_EXACT_PATH_H
#define SIM_EXACT_PATH_H

#include "sim/exact.h"

/* A body at one time; rates are d/ds. */
struct path_point {
    double time;
    vec3 c, dc;
    quat q, dq;
    double m, dm; /* |q|^2 */
};

/* False where a motion of the scene gives no answer. */
bool exact_path_at(exact *x, int body, double time, path_point *out);

/* q x q* and its rate. */
vec3 path_turned(const path_point *p, vec3 v);
vec3 path_turned_rate(const path_point *p, vec3 v);

/* Bounds of the derivatives of a product, 0 to PATH_ORDER, from those of its factors (Leibniz). */
void path_product(const double f[], const double g[], double out[]);

/* A function on a piece of the path by its values and rates at both ends, and a bound of its fourth
 * derivative: the cubic through them, in Bernstein's form, is off by at most l^4/384 of that, its rate by
 * l^3 sqrt(3)/216. */
typedef struct path_range {
    double first, least, most; /* first: at the start */
    bool falls, rises;         /* all the way */
} path_range;
path_range path_bounds(double l, double f0, double df0, double f1, double df1, double fourth);

#endif
