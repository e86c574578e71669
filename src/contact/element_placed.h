/* What the files that evaluate pairs of elements share: an element in the world with its rates. */
#ifndef CONTACT_ELEMENT_PLACED_H
#define CONTACT_ELEMENT_PLACED_H

#include "contact/element.h"

/* An element in the world: p and d with their time derivatives as material point and material direction. */
typedef struct placed {
    const element *e;
    const motion *m;
    vec3 p, p_rate, d, d_rate;
} placed;

static inline placed place(const element *e, const motion *m) {
    vec3 arm = quat_rotate(m->rotation, e->p), d = quat_rotate(m->rotation, e->d);
    vec3 w = m->velocity.angular;
    return (placed){.e = e,
                    .m = m,
                    .p = vec3_add(m->center, arm),
                    .p_rate = vec3_add(m->velocity.linear, vec3_cross(w, arm)),
                    .d = d,
                    .d_rate = vec3_cross(w, d)};
}

/* d/dt (v / |v|) = (I - n n^T) v' / |v| */
static inline vec3 unit_rate(vec3 n, vec3 v_rate, double length) {
    return vec3_scale(vec3_axpy(v_rate, -vec3_dot(n, v_rate), n), 1 / length);
}

/* ---- element_circle.c */

typedef struct circle_place {
    vec3 x, along, radial; /* the point, the unit tangent d x radial, the unit radius */
} circle_place;
/* element_circles.c: the point of a circle nearest to q; false where q is on its axis. */
bool circle_nearest(const placed *c, vec3 q, circle_place *at);
/* The places of circle b where its distance from circle a has a minimum: all, and of more than two the
 * lowest, the lower first; how many. */
int circles_minima(const placed *a, const placed *b, circle_place out[2]);

/* element_rim.c: the minima of the distance from a rim to a line, one on each side of the rim's long axis as
 * seen along the line; at least one is there. */
void rim_places_to_line(const placed *rim, const placed *line, circle_place out[2], bool has[2]);

/* element_rim_ellipsoid.c: the place of a rim nearest to an ellipsoid; false where all are alike. */
bool rim_place_to_ellipsoid(const placed *rim, const placed *ellipsoid, circle_place *out);

/* A line and a circle, two circles: the place that the circle's branch names.  *sa: the line's parameter;
 * *sb: -1 where the branch has no place of its own. */
bool line_circle(const placed *a, const placed *b, contact_point *out, double *sa, double *sb);
bool circle_circle(const placed *a, const placed *b, contact_point *out);
/* ---- element_ellipsoid.c */

/* The point of an ellipsoid deepest against n. */
void ellipsoid_tip(const placed *a, vec3 n, vec3 n_rate, vec3 *tip, vec3 *tip_rate);
/* The normal at the place nearest to x, and the signed distance (negative inside). */
vec3 ellipsoid_normal(const placed *e, vec3 x, double *distance);
/* A point, line, circle or ellipsoid against an ellipsoid. */
bool any_ellipsoid(const placed *a, const placed *b, contact_point *out, double *sa);
bool ellipsoid_in_cavity(const placed *a, const placed *b, contact_point *out);

#endif
