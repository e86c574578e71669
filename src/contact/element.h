/* Elements: the pieces of boundary that can touch, each in closed form, and the contact point of two of them
 * as a function of the motions of their bodies.
 *
 *   POINT      a vertex (r = 0), the centre of a sphere or of a capsule's end (r > 0)
 *   LINE       an edge (r = 0), the axis of a capsule or of a cylinder's mantle (r > 0), between lo and hi
 *   PLANE      a face or a half-space
 *   CIRCLE     the rim of a cylinder
 *   ELLIPSOID  half axes along the body's axes
 *   CAVITY     the inside of a sphere: the material lies outside it
 *
 * Coordinates are in body axes, from the centre of mass.  Faces and edges are taken as unbounded here:
 * whether the place lies on them is asked elsewhere (contact/near.h). */
#ifndef CONTACT_ELEMENT_H
#define CONTACT_ELEMENT_H

#include "contact/contact.h"

typedef enum element_kind {
    ELEMENT_POINT,
    ELEMENT_LINE,
    ELEMENT_CIRCLE,
    ELEMENT_ELLIPSOID,
    ELEMENT_PLANE,
    ELEMENT_CAVITY,
    ELEMENT_PATCH /* of a smooth surface; contact/patch.h evaluates it */
} element_kind;

typedef struct element {
    element_kind kind;
    vec3 p;   /* the point; a point of the line or plane; the centre of circle, ellipsoid, cavity */
    vec3 d;   /* unit: direction of the line, outward normal of the plane, axis of the circle; of the end of a
                 capsule along its axis, of a point of a rim along the cylinder's, outwards; of
                 other points 0 */
    double r; /* offset of point and line; radius of circle and cavity */
    double lo, hi; /* of a line: p + s d, lo <= s <= hi */
    vec3 axes; /* of an ellipsoid: half axes; of a circle: 0, or away from its place (element_remember_tip) */
    double u, v; /* of a patch: where the search for its extremal place starts */
    int patch;
    int branch; /* of a circle: its first or second place (0, 1) against a line or another circle;
                   of a patch: rounds left to a search that stops where it leaves the domain, to go on in the
                   next patch; 0: it does not stop there */
} element;

/* A circle that leans less than this, rad, lies flat: over its width that is less than contacts are apart
 * that land together (a thousandth of epsilon, of a body of a tenth of the scene's size). */
#define ELEMENT_FLAT 1e-7

/* The contact point of element a (of the body that moves as ma) and b.  `sign` orients the normal of two
 * crossing edges, whose gap can be negative: n = sign * d_a x d_b / |...|; it is ignored for all other pairs
 * (a circle is the rim of a cylinder: its normal leaves the rim between axis and radius).
 * *sa and *sb receive the line parameters of a and b where they are lines (may be NULL), of a circle -1 where
 * the place is that of its other branch.  False where the pair has no single closest point (parallel lines, a
 * circle parallel to a plane, sharp points in one place) or is not supported. */
bool element_contact(const element *a, const motion *ma, const element *b, const motion *mb, double sign,
                     contact_point *out, double *sa, double *sb);

/* A circle remembers where it touches a plane or a cavity, so that element_contact goes on with that place
 * where the circle comes to lie flat and all its points are alike.  False: it lies flat now. */
bool element_remember_tip(element *circle, const motion *mc, const element *wall, const motion *mw);
/* Whether the deepest place has gone to the other side of the circle since it was remembered. */
bool element_tip_turned(const element *circle, const motion *mc, const element *wall, const motion *mw);

/* ---- slabs between elements (element_support.c) */

/* Points, lines, circles and ellipsoids; a circle stands for its disc, a line with an offset for its mantle.
 */
bool element_is_convex(const element *e);
/* The point of a convex element that is farthest in the direction n (unit, body axes). */
vec3 element_farthest(const element *e, vec3 n);
/* A vector from the closest point of the segment q to that of the segment p. */
vec3 element_between(const vec3 p[2], const vec3 q[2]);
/* A direction (axes of b, unit) across which a slab separates two convex elements, as wide as twenty
 * rounds find; false where they find none. */
bool element_direction(const element *a, const element *b, pose a_in_b, vec3 *n);

/* Whether element_contact knows the two kinds. */
bool element_pair_is_known(element_kind a, element_kind b);

#endif
