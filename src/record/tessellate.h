/* Shapes as triangles with normals, for whoever draws a recording. */
#ifndef RECORD_TESSELLATE_H
#define RECORD_TESSELLATE_H

#include "abut/surface.h"
#include "abut/world.h"
#include "base/base.h"
#include "math/vec.h"

/* Points and unit normals, three to a triangle by its numbers, counter-clockwise seen from outside; edges are
 * lines to draw (edges of a solid, borders of patches, rims). */
typedef struct tessellation {
    ARRAY(vec3) points;
    ARRAY(vec3) normals; /* one a point; empty: flat triangles */
    ARRAY(int32_t) triangles, edges;
} tessellation;
void tessellation_free(const abut_context *context, tessellation *t);
/* Room for so many more. */
bool tessellation_reserve(const abut_context *context, tessellation *t, int64_t points, int64_t triangles);
bool tessellation_point(const abut_context *context, tessellation *t, vec3 point, vec3 normal);
bool tessellation_triangle(const abut_context *context, tessellation *t, int64_t a, int64_t b, int64_t c);

/* A smooth surface: each patch as a grid of its domain, fine enough that a whole surface has some 20,000
 * triangles; neighbours share the places of their border.  Edges are the borders of the patches. */
abut_status tessellate_surface(const abut_context *context, const abut_surface *surface, tessellation *t,
                               abut_error *error);

/* The analytic shapes.  `extent` is where and how large a half-space is drawn: a square of that half width
 * around `middle`, both in the shape's axes. */
abut_status tessellate_analytic(const abut_context *context, const abut_shape *shape, vec3 middle,
                                double extent, tessellation *t, abut_error *error);

#endif
