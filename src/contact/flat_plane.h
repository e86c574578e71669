/* Faces seen in the plane of contact: what flat.c and flat_border.c share. */
#ifndef CONTACT_FLAT_PLANE_H
#define CONTACT_FLAT_PLANE_H

#include "contact/flat.h"

typedef struct point2 {
    double x, y;
} point2;

static inline double point2_turn(point2 a, point2 b) { return a.x * b.y - a.y * b.x; }

typedef struct flat_view {
    vec3 o, s, t; /* a point and two directions of the plane */
} flat_view;

/* The plane through o with normal n; s, t, n turn right. */
static inline flat_view flat_view_make(vec3 o, vec3 n) {
    flat_view v = {o, vec3_orthogonal(n), vec3_zero()};
    v.t = vec3_cross(n, v.s);
    return v;
}

/* Goes through the edges of a face of a solid, loop by loop. */
typedef struct face_walk {
    const contact_shape *shape;
    const motion *m;
    int32_t loop, coedge, left;
    int32_t last_loop;
} face_walk;
face_walk flat_walk(const contact_shape *s, const motion *m, int32_t face);
/* The next edge, in the plane; false at the end. */
bool flat_walk_next(face_walk *w, const flat_view *v, point2 *a, point2 *b);

#endif
