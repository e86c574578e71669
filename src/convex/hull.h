/* hull: a convex polyhedron and its Gauss map, one relocatable block without pointers.
 *
 *   x, y, z         vertices relative to the centre of mass, coarse levels of the hierarchy first; padded to
 * a multiple of four with the last one faces ────────> corners: (vertex, edge that starts there),
 * counter-clockwise seen from outside edges           two vertices, two faces: faces[0] lies left of
 * vertex[0] -> vertex[1] stars           for each vertex its edges and neighbours: star_start[v] ..
 * star_start[v + 1] descents        for each vertex the finer vertices to try next: descent_start[v] ..
 * descent_start[v + 1]
 *
 * The Gauss map on the unit sphere of outward normals:
 *
 *        face  = point                 normal of the face
 *        edge  = arc                   between the normals of its two faces
 *        vertex = region               bounded by the arcs of its edges
 *
 * so the region that holds a direction n is the vertex farthest along n: the support mapping.  It is searched
 * in logarithmic time by the hierarchy of Dobkin and Kirkpatrick: P_0 is the hull, P_(k+1) is what is left
 * when an independent set of vertices of small degree is taken off P_k.  If v is farthest among P_(k+1) and
 * some vertex w of P_k is farther, then w was taken off and is a neighbour of v in P_k; and no other vertex
 * of P_k is farther than w (its neighbours all belong to P_(k+1)).  So each vertex keeps one list, coarse to
 * fine, of the neighbours that were taken off; the search walks the list of v, moves to the first w that is
 * farther, and goes on with the list of w, all of which is finer. */
#ifndef CONVEX_HULL_H
#define CONVEX_HULL_H

#include "abut/convex.h"
#include "base/base.h"
#include "math/vec.h"

enum { HULL_MAGIC = 0x48425541 /* "AUBH" */, HULL_VERSION = 2 };

typedef struct hull_face {
    vec3 n;   /* outward, unit */
    double d; /* n . x = d for the face's vertices (largest, within rounding) */
    int32_t first_corner, corner_count;
} hull_face;

typedef struct hull_corner {
    int32_t vertex, edge;
} hull_corner;

typedef struct hull_edge {
    int32_t vertex[2], face[2];
} hull_edge;

typedef struct hull_star {
    int32_t vertex, edge; /* the neighbour, and the edge to it */
} hull_star;

struct abut_hull { /* first what a box asks for, then what a query does */
    uint32_t magic, version;
    uint64_t bytes, hash; /* the hash covers everything behind it */
    int32_t vertex_count;
    int32_t padded;    /* entries of x, y, z */
    uint32_t x, y, z;  /* this and the others like it: byte offsets from the start */
    int32_t top_count; /* vertices of the coarsest level: the first ones */
    vec3 center;       /* centre of mass, shape coordinates */
    uint32_t descent_start, descents, star_start, stars, faces, corners, edges, sources;
    double radius;
    double lean; /* slope of the first directions of a ray cast, see hull_build.c */
    int32_t edge_count, face_count, corner_count, descent_count, most_corners;
    double volume, area;
    box bounds;             /* shape coordinates */
    double unit_inertia[6]; /* about the centre, density 1 */
};

#define HULL_ARRAY(type, name)                                          \
    static inline const type *hull_##name(const abut_hull *h) {         \
        return (const type *)(const void *)((const char *)h + h->name); \
    }
HULL_ARRAY(double, x)
HULL_ARRAY(double, y)
HULL_ARRAY(double, z)
HULL_ARRAY(hull_face, faces)
HULL_ARRAY(hull_corner, corners)
HULL_ARRAY(hull_edge, edges)
HULL_ARRAY(int32_t, star_start)
HULL_ARRAY(hull_star, stars)
HULL_ARRAY(int32_t, descent_start)
HULL_ARRAY(int32_t, descents)
HULL_ARRAY(int32_t, sources)
#undef HULL_ARRAY

static inline vec3 hull_vertex(const abut_hull *h, int32_t v) {
    return (vec3){hull_x(h)[v], hull_y(h)[v], hull_z(h)[v]};
}
/* Unit, from the first vertex of an edge to the second. */
static inline vec3 hull_along(const abut_hull *h, const hull_edge *e) {
    return vec3_unit(vec3_sub(hull_vertex(h, e->vertex[1]), hull_vertex(h, e->vertex[0])));
}

/* The vertex farthest along d (hull axes, any length), by all vertices or by the hierarchy; among equals
 * within rounding, any. */
int32_t hull_support(const abut_hull *h, vec3 d);
/* The same by climbing from a vertex to better neighbours: for a start that is near. */
int32_t hull_climb(const abut_hull *h, vec3 d, int32_t start);

/* The box around the hull turned by r, from its centre. */
box hull_box(const abut_hull *h, mat3 r);

/* The feature that faces the unit direction n, near the support vertex: a face whose normal is within `angle`
 * of n, otherwise an edge orthogonal to n within `angle`, otherwise the vertex. */
abut_feature hull_feature(const abut_hull *h, vec3 n, int32_t support, double angle);

/* Every invariant of the block; ABUT_FAILED names the first violation. */
abut_status hull_validate(const abut_hull *h, abut_error *error);

#endif
