/* Flat contact of two shapes: which faces lie on each other at a place, and the area they share. */
#ifndef CONTACT_FLAT_H
#define CONTACT_FLAT_H

#include "contact/shape.h"

/* The flat face that a feature belongs to and that looks along n (body axes, unit, towards the other body):
 * of a solid its number, 0 for a half-space, 0 and 1 for the lower and upper end of a cylinder; -1: none. */
int32_t flat_face(const contact_shape *s, contact_feature feature, vec3 n);

/* Area that face fa of a and fb of b share, seen along the normal n (world): the faces as they are, with
 * dents and holes.  False where it is not known (the end of a cylinder on a polygon). */
bool flat_area(const contact_shape *a, int32_t fa, const motion *ma, const contact_shape *b, int32_t fb,
               const motion *mb, vec3 n, double *area);

/* Orders the points as their convex hull in the plane with the unit normal n, counter-clockwise seen against
 * it; points inside it, or on its sides or no more than `slack` outside them, come behind.  `order` has room
 * for `count` numbers, `stack` for 2 count + 2.  (The two extreme points of the sweep are corners always.)
 * Returns the number of corners; fewer than three points are all corners; -1: memory is out. */
int flat_hull(const abut_context *context, vec3 n, const vec3 *points, int count, double slack, int *order,
              int *stack);

/* Loops of corners: loop i has those from start[i] to start[i + 1] - 1. */
typedef struct flat_border {
    ARRAY(vec3) corners;
    ARRAY(int32_t) start; /* one more than there are loops; empty: not known */
} flat_border;

/* The border of what face fa of a and fb of b share, in the plane through `at` with the normal n (world, from
 * b to a): the area is on the left of its loops, seen against n.  The end of a cylinder is a polygon of 48
 * sides.  Adds to `border`, or leaves it as it is where the border is not known.  False: memory is out. */
bool flat_border_of(const abut_context *context, const contact_shape *a, int32_t fa, const motion *ma,
                    const contact_shape *b, int32_t fb, const motion *mb, vec3 n, vec3 at,
                    flat_border *border);
void flat_border_free(const abut_context *context, flat_border *border);

#endif
