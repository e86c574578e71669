/* The convex hull of a set of points as polygons, by Qhull: what hull solids and convex shapes are built
 * from.
 *
 * Facets that are coplanar within rounding are one polygon.  Qhull allocates with malloc; the result lives in
 * the context's memory. */
#ifndef SOLID_CONVEX_HULL_H
#define SOLID_CONVEX_HULL_H

#include "base/base.h"
#include "math/vec.h"

typedef struct hull_polygons {
    int32_t *face_start; /* face f has the corners corner[face_start[f]] .. corner[face_start[f + 1] - 1] */
    int32_t *corner;     /* point numbers, counter-clockwise seen from outside */
    vec3 *normal;        /* Qhull's, unit: no point lies above its plane by more than rounding, also where the
                            face is a sliver whose corners do not tell its normal */
    int32_t face_count, corner_count, face_capacity, corner_capacity;
} hull_polygons;

/* ABUT_INVALID for fewer than four points, points that are not finite, or points of one plane (within about
 * 1e-12 of the size); ABUT_FAILED when Qhull gives up.  Every edge of the result has exactly two faces, every
 * corner at least three, and Euler's formula holds. */
abut_status convex_hull_polygons(const abut_context *context, const vec3 *points, int64_t count,
                                 hull_polygons *out, abut_error *error);
void convex_hull_free(const abut_context *context, hull_polygons *polygons);

#endif
