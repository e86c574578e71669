/* Orientation predicates whose sign is never wrong (ROBUSTNESS points 7 and 8).
 *
 * Each is evaluated in double with a forward error bound (derived in predicates.c, and here for the two
 * short ones); where the bound does not decide, exactly, in integers (math/exact.h).  Needs -ffp-contract=off
 * and round-to-nearest.  The answers are -1, 0, +1, and hold for the doubles as given, for all finite input:
 * subnormal and huge numbers may be mixed, overflow and underflow only cost the exact stage. */
#ifndef MATH_PREDICATES_H
#define MATH_PREDICATES_H

#include "math/vec.h"

/* n . x = d: n need not be unit. */
typedef struct plane {
    vec3 n;
    double d;
} plane;

/* u, the rounding unit of double; and what is added to a bound for all products that underflow (each loses
 * at most 2^-1075; 2^-1000 is a normal number, so that the bounds themselves are computed at full speed). */
#define PREDICATE_U    0x1p-53
#define PREDICATE_TINY 0x1p-1000

/* +1 when d lies above the plane through a, b, c (counter-clockwise seen from above): sign of
 * (b - a) x (c - a) . (d - a). */
int orient3d(vec3 a, vec3 b, vec3 c, vec3 d);

/* The exact stages of the two predicates below. */
int orient2d_exact(double ax, double ay, double bx, double by, double cx, double cy);
int side_of_plane_exact(plane p, vec3 x);

/* The same for three points of the plane with coordinates (x, y): +1 when a, b, c turn counter-clockwise.
 * Sign of l - r with l = (ax - cx)(by - cy), r = (ay - cy)(bx - cx).  A computed product has three roundings,
 * so |error| <= 3u (1 + 3u)(|l| + |r|); the sign of the last subtraction is exact.  Overflow makes the bound
 * infinite or the difference not a number, and both go to the exact stage. */
static inline int orient2d(double ax, double ay, double bx, double by, double cx, double cy) {
    double l = (ax - cx) * (by - cy), r = (ay - cy) * (bx - cx), difference = l - r;
    double bound = 4 * PREDICATE_U * (fabs(l) + fabs(r)) + PREDICATE_TINY;
    if (difference > bound) return 1;
    if (difference < -bound) return -1;
    return orient2d_exact(ax, ay, bx, by, cx, cy);
}

/* Sign of n . x - d for the doubles as given: the side of a point against a plane by its coefficients.
 * n . x computed left to right has at most three roundings in each term, |error| <= 3u (1 + 3u) sum |n_i
 * x_i|; the sign of the subtraction of d is exact. */
static inline int side_of_plane(plane p, vec3 x) {
    double tx = p.n.x * x.x, ty = p.n.y * x.y, tz = p.n.z * x.z, value = tx + ty + tz - p.d;
    double bound = 4 * PREDICATE_U * (fabs(tx) + fabs(ty) + fabs(tz)) + PREDICATE_TINY;
    if (value > bound) return 1;
    if (value < -bound) return -1;
    return side_of_plane_exact(p, x);
}

/* Sign of the determinant of the normals p.n . (q.n x r.n): 0 when the three planes have no single point. */
int planes_orientation(plane p, plane q, plane r);

/* Side of the point p ^ q ^ r (where three planes meet; planes_orientation must not be 0) against s:
 * sign of n_s . x - d_s = sign(det4) sign(det3), det4 that of the rows (n, -d) of p, q, r, s.  0 where the
 * three planes have no single point. */
int side_of_meet(plane p, plane q, plane r, plane s);

/* Side of the point where the line through a, b meets plane p, against plane s.  p.n . (b - a) must not be 0
 * (the answer is then 0, and means nothing). */
int side_of_line_meet(vec3 a, vec3 b, plane p, plane s);

/* Signed distance n . x - d in double, for callers that want the size and not the sign. */
static inline double plane_distance(plane p, vec3 x) { return vec3_dot(p.n, x) - p.d; }
static inline plane plane_flip(plane p) { return (plane){vec3_neg(p.n), -p.d}; }
/* The point of three planes in double (Cramer). */
vec3 planes_meet(plane p, plane q, plane r);

#endif
