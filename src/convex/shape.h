/* A convex shape as the queries see it: a support mapping and features, in axes of the shape about its centre
 * of mass.  Hulls answer from their Gauss map, analytic shapes in closed form. */
#ifndef CONVEX_SHAPE_H
#define CONVEX_SHAPE_H

#include "convex/hull.h"

enum { RIM_CORNERS = 16 /* corners of the polygon that stands for the flat end of a cylinder */ };

/* ABUT_INVALID names what is wrong with a shape. */
abut_status shape_check(const abut_convex *s, const char *which, abut_error *error);

static inline vec3 shape_center(const abut_convex *s) {
    return s->kind == ABUT_CONVEX_HULL ? s->hull->center : vec3_zero();
}
/* Radius of the ball about the centre that holds the shape. */
double shape_radius(const abut_convex *s);

/* How far the directions that surround a ray lean from it: about the angle between neighbouring facets. */
static inline double shape_lean(const abut_convex *s) {
    return s->kind == ABUT_CONVEX_HULL ? s->hull->lean : 0.2;
}

/* The point farthest along d (not zero); the vertex of a hull, otherwise 0. */
vec3 shape_support_curved(const abut_convex *s, vec3 d);
static inline vec3 shape_support(const abut_convex *s, vec3 d, int32_t *vertex) {
    if (s->kind == ABUT_CONVEX_HULL) {
        *vertex = hull_support(s->hull, d);
        return hull_vertex(s->hull, *vertex);
    }
    *vertex = 0;
    return shape_support_curved(s, d);
}

/* The feature that faces the unit direction n (see hull_feature). */
abut_feature shape_feature(const abut_convex *s, vec3 n, int32_t support, double angle);

/* The most corners of any feature. */
int shape_most_corners(const abut_convex *s);
int shape_corner_count(const abut_convex *s, abut_feature f);
/* Corner i of feature f, which faces the unit direction n; *vertex and *edge (the one to corner i + 1) are
 * numbers for contact ids. */
vec3 shape_corner(const abut_convex *s, abut_feature f, vec3 n, int i, int32_t *vertex, int32_t *edge);

#endif
