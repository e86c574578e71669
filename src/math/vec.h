/* vec3, mat3, quat, pose, box: short names for the public types, and their algebra, inline.
 *
 * Conventions: column vectors, mat3 by columns, unit quaternions (w, x, y, z) that rotate local to world,
 * pose x_world = R x_local + p.  Nothing here calls a libm function other than sqrt and fabs, so the bits
 * are the same everywhere (with -ffp-contract=off). */
#ifndef MATH_VEC_H
#define MATH_VEC_H

#include "abut/math.h"

#include <math.h>

typedef abut_vec3 vec3;
typedef abut_mat3 mat3;
typedef abut_quat quat;
typedef abut_pose pose;
typedef abut_box box;
typedef abut_twist twist;

/* ---- vec3 */
static inline vec3 vec3_make(double x, double y, double z) { return (vec3){x, y, z}; }
static inline vec3 vec3_zero(void) { return (vec3){0, 0, 0}; }
static inline vec3 vec3_add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec3 vec3_sub(vec3 a, vec3 b) { return (vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec3 vec3_neg(vec3 a) { return (vec3){-a.x, -a.y, -a.z}; }
static inline vec3 vec3_scale(vec3 a, double s) { return (vec3){a.x * s, a.y * s, a.z * s}; }
/* a + s b */
static inline vec3 vec3_axpy(vec3 a, double s, vec3 b) {
    return (vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
/* (1 - t) a + t b */
static inline vec3 vec3_lerp(vec3 a, vec3 b, double t) { return vec3_axpy(vec3_scale(a, 1 - t), t, b); }
static inline double vec3_dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec3 vec3_cross(vec3 a, vec3 b) {
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* a . (b x c) */
static inline double vec3_triple(vec3 a, vec3 b, vec3 c) { return vec3_dot(a, vec3_cross(b, c)); }
static inline double vec3_length2(vec3 a) { return vec3_dot(a, a); }
static inline double vec3_length(vec3 a) { return sqrt(vec3_dot(a, a)); }
static inline double vec3_distance(vec3 a, vec3 b) { return vec3_length(vec3_sub(a, b)); }
/* a / |a|; the zero vector stays zero */
static inline vec3 vec3_unit(vec3 a) {
    double length = vec3_length(a);
    return length > 0 ? vec3_scale(a, 1 / length) : a;
}
static inline double vec3_max_abs(vec3 a) { return fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z))); }
/* by comparison, one instruction each where fmin would be a call */
static inline vec3 vec3_min(vec3 a, vec3 b) {
    return (vec3){a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
static inline vec3 vec3_max(vec3 a, vec3 b) {
    return (vec3){a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}
static inline vec3 vec3_abs(vec3 a) { return (vec3){fabs(a.x), fabs(a.y), fabs(a.z)}; }
/* component i of a, i = 0, 1, 2 */
static inline double vec3_at(vec3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }
static inline bool vec3_is_finite(vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
/* Any unit vector orthogonal to the unit vector n: n cross the axis it leans on least. */
static inline vec3 vec3_orthogonal(vec3 n) {
    vec3 a = vec3_abs(n);
    vec3 axis = a.x <= a.y && a.x <= a.z ? vec3_make(1, 0, 0)
                : a.y <= a.z             ? vec3_make(0, 1, 0)
                                         : vec3_make(0, 0, 1);
    return vec3_unit(vec3_cross(n, axis));
}

/* ---- mat3 */
static inline mat3 mat3_identity(void) { return (mat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; }
static inline mat3 mat3_diagonal(double x, double y, double z) {
    return (mat3){{x, 0, 0}, {0, y, 0}, {0, 0, z}};
}
static inline vec3 mat3_mul_vec(mat3 m, vec3 v) {
    return vec3_axpy(vec3_axpy(vec3_scale(m.cx, v.x), v.y, m.cy), v.z, m.cz);
}
/* m^T v */
static inline vec3 mat3_tmul_vec(mat3 m, vec3 v) {
    return (vec3){vec3_dot(m.cx, v), vec3_dot(m.cy, v), vec3_dot(m.cz, v)};
}
static inline mat3 mat3_mul(mat3 a, mat3 b) {
    return (mat3){mat3_mul_vec(a, b.cx), mat3_mul_vec(a, b.cy), mat3_mul_vec(a, b.cz)};
}
static inline mat3 mat3_transpose(mat3 m) {
    return (mat3){{m.cx.x, m.cy.x, m.cz.x}, {m.cx.y, m.cy.y, m.cz.y}, {m.cx.z, m.cy.z, m.cz.z}};
}
static inline mat3 mat3_add(mat3 a, mat3 b) {
    return (mat3){vec3_add(a.cx, b.cx), vec3_add(a.cy, b.cy), vec3_add(a.cz, b.cz)};
}
static inline mat3 mat3_sub(mat3 a, mat3 b) {
    return (mat3){vec3_sub(a.cx, b.cx), vec3_sub(a.cy, b.cy), vec3_sub(a.cz, b.cz)};
}
static inline mat3 mat3_scale(mat3 a, double s) {
    return (mat3){vec3_scale(a.cx, s), vec3_scale(a.cy, s), vec3_scale(a.cz, s)};
}
/* the matrix of v x */
static inline mat3 mat3_skew(vec3 v) { return (mat3){{0, v.z, -v.y}, {-v.z, 0, v.x}, {v.y, -v.x, 0}}; }
/* a b^T */
static inline mat3 mat3_outer(vec3 a, vec3 b) {
    return (mat3){vec3_scale(a, b.x), vec3_scale(a, b.y), vec3_scale(a, b.z)};
}
static inline double mat3_det(mat3 m) { return vec3_triple(m.cx, m.cy, m.cz); }
/* Inverse by cofactors; the caller knows that det is not zero. */
static inline mat3 mat3_inverse(mat3 m) {
    vec3 x = vec3_cross(m.cy, m.cz), y = vec3_cross(m.cz, m.cx), z = vec3_cross(m.cx, m.cy);
    return mat3_transpose(mat3_scale((mat3){x, y, z}, 1 / vec3_dot(m.cx, x)));
}

/* ---- quat */
static inline quat quat_identity(void) { return (quat){1, 0, 0, 0}; }
static inline quat quat_mul(quat a, quat b) {
    return (quat){
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline quat quat_conj(quat q) { return (quat){q.w, -q.x, -q.y, -q.z}; }
static inline quat quat_unit(quat q) {
    double s = 1 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (quat){q.w * s, q.x * s, q.y * s, q.z * s};
}
/* q v q*, as v + 2 w (u x v) + 2 u x (u x v) with u the vector part */
static inline vec3 quat_rotate(quat q, vec3 v) {
    vec3 u = {q.x, q.y, q.z}, t = vec3_scale(vec3_cross(u, v), 2);
    return vec3_add(vec3_axpy(v, q.w, t), vec3_cross(u, t));
}
static inline vec3 quat_unrotate(quat q, vec3 v) { return quat_rotate(quat_conj(q), v); }
static inline mat3 quat_matrix(quat q) {
    double x2 = 2 * q.x, y2 = 2 * q.y, z2 = 2 * q.z;
    double xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
    double wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    return (mat3){
        {1 - yy - zz, xy + wz, xz - wy}, {xy - wz, 1 - xx - zz, yz + wx}, {xz + wy, yz - wx, 1 - xx - yy}};
}
/* dq/dt = (0, w) q / 2 for the angular velocity w in world axes */
static inline quat quat_rate(quat q, vec3 w) {
    quat p = quat_mul((quat){0, w.x, w.y, w.z}, q);
    return (quat){p.w / 2, p.x / 2, p.y / 2, p.z / 2};
}
/* The unit quaternion of a rotation matrix (Shepperd 1978: the largest component first). */
quat quat_from_matrix(mat3 m);

/* ---- pose */
static inline pose pose_identity(void) { return (pose){{0, 0, 0}, {1, 0, 0, 0}}; }
static inline vec3 pose_point(pose p, vec3 local) {
    return vec3_add(quat_rotate(p.rotation, local), p.position);
}
static inline vec3 pose_unpoint(pose p, vec3 world) {
    return quat_unrotate(p.rotation, vec3_sub(world, p.position));
}
static inline vec3 pose_vector(pose p, vec3 local) { return quat_rotate(p.rotation, local); }
static inline vec3 pose_unvector(pose p, vec3 world) { return quat_unrotate(p.rotation, world); }
/* x -> a(b(x)) */
static inline pose pose_mul(pose a, pose b) {
    return (pose){pose_point(a, b.position), quat_mul(a.rotation, b.rotation)};
}
static inline pose pose_inverse(pose p) {
    quat q = quat_conj(p.rotation);
    return (pose){vec3_neg(quat_rotate(q, p.position)), q};
}
/* The pose of a seen from b: b^-1 a. */
static inline pose pose_relative(pose a, pose b) { return pose_mul(pose_inverse(b), a); }

/* ---- box: lower > upper means empty */
static inline box box_empty(void) {
    return (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}
static inline box box_add_point(box b, vec3 p) { return (box){vec3_min(b.lower, p), vec3_max(b.upper, p)}; }
static inline box box_union(box a, box b) {
    return (box){vec3_min(a.lower, b.lower), vec3_max(a.upper, b.upper)};
}
static inline box box_grow(box b, double r) {
    vec3 e = {r, r, r};
    return (box){vec3_sub(b.lower, e), vec3_add(b.upper, e)};
}
static inline bool box_overlap(box a, box b) {
    return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
           b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}
static inline double box_diagonal(box b) { return vec3_distance(b.lower, b.upper); }
static inline vec3 box_center(box b) { return vec3_scale(vec3_add(b.lower, b.upper), 0.5); }

#endif
