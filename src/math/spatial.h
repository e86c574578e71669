/* Spatial (6D) vectors in world axes about a body's centre of mass: a motion (linear, angular) and a force
 * (force, torque) pair to power, dot(force, motion) = f . v + t . w.  A constraint row is a force per unit
 * multiplier; J v is the same dot product. */
#ifndef MATH_SPATIAL_H
#define MATH_SPATIAL_H

#include "math/vec.h"

typedef abut_twist spatial;

static inline spatial spatial_make(vec3 linear, vec3 angular) { return (spatial){linear, angular}; }
static inline double spatial_dot(spatial a, spatial b) {
    return vec3_dot(a.linear, b.linear) + vec3_dot(a.angular, b.angular);
}
static inline spatial spatial_add(spatial a, spatial b) {
    return (spatial){vec3_add(a.linear, b.linear), vec3_add(a.angular, b.angular)};
}
static inline spatial spatial_scale(spatial a, double s) {
    return (spatial){vec3_scale(a.linear, s), vec3_scale(a.angular, s)};
}
/* a + s b */
static inline spatial spatial_axpy(spatial a, double s, spatial b) {
    return (spatial){vec3_axpy(a.linear, s, b.linear), vec3_axpy(a.angular, s, b.angular)};
}
/* Velocity of the material point at r from the centre: v + w x r. */
static inline vec3 spatial_velocity_at(spatial v, vec3 r) {
    return vec3_add(v.linear, vec3_cross(v.angular, r));
}
/* The wrench about the centre of a force f at r from the centre: (f, r x f). */
static inline spatial spatial_force_at(vec3 f, vec3 r) { return (spatial){f, vec3_cross(r, f)}; }

#endif
