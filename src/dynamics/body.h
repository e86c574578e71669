/* Bodies as dynamics sees them: mass and inertia, Newton-Euler, energy and momentum.
 *
 * A spatial vector is (linear, angular) in world axes about the centre of mass; a wrench is (force, torque).
 * M = diag(m, R I R^T).  Bodies that nothing can push (fixed, kinematic) have M^-1 = 0. */
#ifndef DYNAMICS_BODY_H
#define DYNAMICS_BODY_H

#include "abut/world.h"
#include "math/motion.h"

typedef struct body_inertia {
    double mass, inverse_mass;     /* inverse_mass = 0: fixed or kinematic */
    mat3 inertia, inverse_inertia; /* about the centre of mass, body axes; inverse = 0: fixed or kinematic */
} body_inertia;

/* Nothing moves it: M^-1 = 0. */
body_inertia body_immovable(void);

/* Mass and tensor as given.  INVALID when the mass is not positive, the tensor not symmetric positive
 * definite, or a principal moment exceeds the sum of the two others (no mass distribution has that). */
abut_status body_inertia_make(double mass, mat3 inertia, body_inertia *out, abut_error *error);

/* M + diag(linear, angular): the mass that a drag c stands for over a time h where it is taken at the end of
 * it, M (v1 - v0) = h (F - c v1), with linear or angular = h c. */
body_inertia body_slowed(const body_inertia *body, double linear, double angular);

/* The tensor with the entries xx yy zz xy xz yz (xy = minus the integral of x y). */
mat3 body_tensor(const double entries[6]);
/* The tensor in axes turned by q: R I R^T. */
mat3 body_tensor_rotate(mat3 inertia, quat q);
/* The tensor about a point at distance d from the centre of mass: I + m (d.d 1 - d d^T). */
mat3 body_tensor_shift(mat3 inertia, double mass, vec3 d);

/* Mass, centre of mass and tensor about it (shape axes) of an analytic shape of uniform density: sphere,
 * ellipsoid, capsule, cylinder.  UNSUPPORTED for the others: solids and surfaces integrate their own,
 * cavities and half-spaces have none. */
typedef struct body_mass {
    double mass;
    vec3 center;
    mat3 inertia;
} body_mass;
abut_status body_mass_of_shape(const abut_shape *shape, double density, body_mass *out, abut_error *error);

/* M^-1 wrench: an acceleration from a force without the gyroscopic term, or a velocity jump from an impulse.
 */
spatial body_apply(const body_inertia *body, quat rotation, spatial wrench);
/* M twist */
spatial body_momentum(const body_inertia *body, quat rotation, spatial velocity);
/* Newton-Euler: a = F / m, alpha = I^-1 (T - w x I w). */
spatial body_accelerate(const body_inertia *body, const motion *m, spatial wrench);
/* R I^-1 R^T */
mat3 body_inverse_inertia(const body_inertia *body, quat rotation);
/* (m v.v + w . I w) / 2 */
double body_kinetic_energy(const body_inertia *body, const motion *m);
/* Angular momentum about a point of the world: I w + (c - about) x m v. */
vec3 body_angular_momentum(const body_inertia *body, const motion *m, vec3 about);

#endif
