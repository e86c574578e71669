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

#endif
