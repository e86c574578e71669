/* solid: one polygon of a mesh, cut into triangles. */
#ifndef SOLID_POLYGON_H
#define SOLID_POLYGON_H

#include "solid/solid.h"

/* Cuts the simple polygon points[corners[0 .. count-1]], which may be concave and a keyhole (a hole with a
 * bridge to it), into count - 2 triangles of three corner numbers each (places in `corners`, not vertices).
 * `next` and `prev` are scratch of `count` entries.  Always ends: where no ear is left (a polygon that
 * crosses itself) the flattest corner is cut. O(n^2). */
void polygon_triangulate(const vec3 *points, const int *corners, int count, int *next, int *prev,
                         int (*triangles)[3]);

/* Twice the area vector of the polygon (Newell): sum of p_i x p_(i+1), about its first corner. */
vec3 polygon_area2(const vec3 *points, const int *corners, int count);

#endif
