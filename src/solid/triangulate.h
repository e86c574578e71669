/* Triangles of one maximal face. */
#ifndef SOLID_TRIANGULATE_H
#define SOLID_TRIANGULATE_H

#include "solid/solid.h"

/* How many triangles a face has: corners + 2 holes - 2. */
int64_t triangulate_count(const abut_solid *s, int32_t face);
/* Writes them, three vertex numbers each, counter-clockwise seen from outside.  Every corner is used, no two
 * triangles overlap, and none is degenerate as long as the border, seen along the axis its normal leans on,
 * does not cross itself.  False when memory is out. */
bool triangulate_face(const abut_context *context, const abut_solid *s, int32_t face, int32_t *triangles);

/* The same for a polygon of a mesh: vertices[0 .. count) are indices into `positions`, n its normal; a hole
 * is a bridge.  Writes count - 2 triangles. */
bool triangulate_polygon(const abut_context *context, const vec3 *positions, const int32_t *vertices,
                         int32_t count, vec3 n, int32_t *triangles);

#endif
