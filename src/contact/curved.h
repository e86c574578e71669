/* Overlap of cylinders and ellipsoids with solids, and their reach from a point, by ways that the exact clock
 * does not use: start checks and certificates ask here. */
#ifndef CONTACT_CURVED_H
#define CONTACT_CURVED_H

#include "abut/convex.h"
#include "abut/index.h"
#include "abut/world.h"
#include "base/base.h"
#include "math/vec.h"

/* A sphere, capsule, cylinder or ellipsoid as a convex shape; false for all others. */
bool curved_as_convex(const abut_shape *shape, abut_convex *out);

/* How deep a cylinder or an ellipsoid at pose `at` reaches into the solid, if deeper than about epsilon,
 * otherwise 0.  The depth is how much must be taken off the shape all around to free it, to one per cent. */
double curved_in_solid(const abut_shape *shape, pose at, const abut_solid *solid, const abut_index *index,
                       pose solid_at, double epsilon);

/* The largest distance of a point of the shape (sphere, capsule, cylinder, ellipsoid, solid) from a point in
 * its axes. */
double curved_reach(const abut_shape *shape, vec3 from);

#endif
