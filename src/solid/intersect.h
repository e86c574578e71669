/* Faces of a mesh that meet where they should not. */
#ifndef SOLID_INTERSECT_H
#define SOLID_INTERSECT_H

#include "solid/topology.h"

typedef struct face_pair {
    int32_t face[2]; /* face[0] <= face[1]; equal for a polygon that crosses itself */
    vec3 at;         /* near the place, in the stored frame */
} face_pair;
typedef ARRAY(face_pair) face_pairs;

/* All pairs of faces that share a point which is not a common vertex or on a common edge, in the order of
 * their numbers; the search ends after `most` pairs.  Signs are exact.  plane_of[f] (or NULL) numbers the
 * planes: faces on the same plane are compared within it.  Degenerate faces are left out. */
abut_status intersect_faces(topology *t, const int32_t *plane_of, int64_t most, face_pairs *found,
                            abut_error *error);

/* The test of two triangles of three different vertices each, which are numbers into `position`; same_plane:
 * take them as coplanar.
 */
bool intersect_triangles(const vec3 *position, const int32_t a[3], const int32_t b[3], bool same_plane);

/* round[v]: the faces around vertex v do not meet each other outside of what they share, because, seen along
 * one of the axes, they lie side by side once around it.  (Otherwise they may still not meet.)  Triangle fans
 * only. */
bool intersect_round_vertices(topology *t, bool *round); /* false when memory is out */

#endif
