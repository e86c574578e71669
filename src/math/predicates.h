/* Orientation predicates whose sign is never wrong (ROBUSTNESS points 7 and 8).
 *
 * Each is evaluated in double with a forward error bound; where the bound does not decide, exactly, with
 * floating-point expansions (Shewchuk 1997).  Needs -ffp-contract=off and round-to-nearest.  The answers are
 * -1, 0, +1, and hold for the doubles as given, for all finite input whose products neither overflow nor
 * underflow (coordinates between 1e-70 and 1e70 in size, or zero; callers centre and scale their solids). */
#ifndef MATH_PREDICATES_H
#define MATH_PREDICATES_H

#include "math/vec.h"

/* n . x = d: n need not be unit. */
typedef struct plane {
    vec3 n;
    double d;
} plane;

/* +1 when d lies above the plane through a, b, c (counter-clockwise seen from above): sign of
 * (b - a) x (c - a) . (d - a). */
int orient3d(vec3 a, vec3 b, vec3 c, vec3 d);

/* The same for four points of the plane with coordinates (x, y): +1 when a, b, c turn counter-clockwise. */
int orient2d(double ax, double ay, double bx, double by, double cx, double cy);

/* Sign of n . x - d for the doubles as given: the side of a point against a plane by its coefficients. */
int side_of_plane(plane p, vec3 x);

/* Sign of the determinant of the normals p.n . (q.n x r.n): 0 when the three planes have no single point. */
int planes_orientation(plane p, plane q, plane r);

/* Side of the point p ^ q ^ r (where three planes meet; planes_orientation must not be 0) against s:
 * sign of n_s . x - d_s = sign(det4) * sign(det3). */
int side_of_meet(plane p, plane q, plane r, plane s);

/* Side of the point where the line through a, b meets plane p, against plane s.  p.n . (b - a) must not be 0.
 */
int side_of_line_meet(vec3 a, vec3 b, plane p, plane s);

/* Signed distance n . x - d in double, for callers that want the size and not the sign. */
static inline double plane_distance(plane p, vec3 x) { return vec3_dot(p.n, x) - p.d; }
static inline plane plane_flip(plane p) { return (plane){vec3_neg(p.n), -p.d}; }
/* The point of three planes in double (Cramer). */
vec3 planes_meet(plane p, plane q, plane r);

#endif
