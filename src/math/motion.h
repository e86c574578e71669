/* The kinematic state of a rigid body: centre of mass, orientation, velocity of the centre and spin, world
 * axes. The shape's frame: shape = center - R c with c the centre of mass in shape axes (kept by the model).
 */
#ifndef MATH_MOTION_H
#define MATH_MOTION_H

#include "math/spatial.h"

typedef struct motion {
    vec3 center;
    quat rotation;
    twist velocity;
} motion;

/* Velocity of the material point that is now at p: v + w x (p - c). */
static inline vec3 motion_velocity_at(const motion *m, vec3 p) {
    return spatial_velocity_at(m->velocity, vec3_sub(p, m->center));
}
/* The pose of the shape whose centre of mass has the shape coordinates c. */
static inline pose motion_pose(const motion *m, vec3 c) {
    return (pose){vec3_sub(m->center, quat_rotate(m->rotation, c)), m->rotation};
}

#endif
