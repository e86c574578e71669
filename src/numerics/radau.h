/* radau: steps of an ode (numerics/ode.h) whose explicit steps are held short by stability alone, by damping
 * that has long stopped what it damps: Radau IIA with seven stages, order 13, L-stable, with its collocation
 * polynomial of degree 7 as dense output (Hairer and Wanner 1996, section IV.8).
 *
 *     radau r;
 *     radau_init(&r, context, size);
 *     ode_start(&o, t, y, &error);
 *     radau_step(&r, &o, end, &error);   // as ode_step: the ode has the step and its interpolant
 *     radau_free(&r);
 *
 * The error of a step is measured by the last coefficient of the polynomial, which bounds what a polynomial
 * of degree 6 would miss everywhere in the step. */
#ifndef NUMERICS_RADAU_H
#define NUMERICS_RADAU_H

#include "numerics/ode.h"

typedef struct radau_number {
    double re, im;
} radau_number;

typedef struct radau {
    const abut_context *context;
    int size;
    double *memory;
    double *jacobian;    /* df_i/dy_j at [size j + i] */
    double *z[7], *w[7]; /* increments of the stages, and what is left of their equations */
    double *changed;     /* a state, f there */
    radau_number *lu[4]; /* of (eigenvalue / h) - jacobian */
    radau_number *right;
    int *pivots[4];
    double rate; /* at which Newton's method converged */
} radau;

abut_status radau_init(radau *r, const abut_context *context, int size);
void radau_free(radau *r);
/* One accepted step of o towards `end` > o->t, which it does not pass.  FAILED where f has no derivatives at
 * the start, or the step became too small: o stands where it was. */
abut_status radau_step(radau *r, ode *o, double end, abut_error *error);

#endif
