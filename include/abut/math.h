/* abut/math.h: the plain types of space.  SI units, right-handed, z up, quaternions (w, x, y, z).
 *
 *     abut_pose pose = {.position = {0, 0, 1}, .rotation = {1, 0, 0, 0}};
 *     abut_vec3 world = abut_pose_point(pose, (abut_vec3){0.5, 0, 0});
 */
#ifndef ABUT_MATH_H
#define ABUT_MATH_H

#include "abut/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_vec3 {
    double x, y, z;
} abut_vec3;

/* Columns: m = [cx cy cz], m v = cx v.x + cy v.y + cz v.z. */
typedef struct abut_mat3 {
    abut_vec3 cx, cy, cz;
} abut_mat3;

typedef struct abut_quat {
    double w, x, y, z;
} abut_quat;

/* x_world = rotation(x_local) + position */
typedef struct abut_pose {
    abut_vec3 position;
    abut_quat rotation;
} abut_pose;

typedef struct abut_box {
    abut_vec3 lower, upper;
} abut_box;

/* Linear and angular velocity; of a body: velocity of its centre of mass and spin, world axes. */
typedef struct abut_twist {
    abut_vec3 linear, angular;
} abut_twist;

ABUT_API abut_pose abut_pose_identity(void);
ABUT_API abut_vec3 abut_pose_point(abut_pose pose, abut_vec3 local);
ABUT_API abut_quat abut_quat_from_axis_angle(abut_vec3 axis, double angle);

#ifdef __cplusplus
}
#endif
#endif
