/* solid: the boundary representation, one relocatable block without pointers.
 *
 *   face ──> loops ──> coedges (next, prev around the loop) ──> edge ──> its two coedges, one for each face
 *     └──> plane (outward)                └──> start vertex
 *
 *          face 0                 A coedge runs with its face on the left, seen from outside.  The
 *      ───coedge 0──>             two coedges of an edge run in opposite directions: coedge[0] from
 *   v0 ═══ edge ═══ v1            vertex[0] to vertex[1].  The coedges of a loop lie side by side, loop
 *      <──coedge 1───             after loop, face after face: next is prev + 1 but for the last.
 *          face 1
 *
 * Vertices keep the positions of the file; a face's plane is that of the table (with its sign), fitted
 * through all vertices of all its faces, and a vertex of a face is on its plane by topology: ask the
 * incidence, not the distance (which is at most 4 weld).
 *
 * Coordinates inside are relative to `origin`: shape = origin + stored.  Origin is zero on each axis unless
 * the box lies farther from zero than its diagonal; then it is a double near the box's middle, and the
 * subtraction is exact (Sterbenz), so nothing is lost (ROBUSTNESS point 3).  solid_frame() gives the pose of
 * the stored frame.
 */
#ifndef SOLID_SOLID_H
#define SOLID_SOLID_H

#include "abut/solid.h"
#include "base/base.h"
#include "math/predicates.h"
#include "math/vec.h"

enum { SOLID_MAGIC = 0x53425541 /* "AUBS" */, SOLID_VERSION = 1 };

typedef struct solid_vertex {
    vec3 position;
    int32_t coedge; /* one that starts here; rotate with prev, twin to visit all */
    int32_t valence;
} solid_vertex;

typedef struct solid_edge {
    int32_t vertex[2];
    int32_t coedge[2];
    int32_t convexity; /* +1 convex, -1 reflex, 0 flat within the weld tolerance; decided exactly from the
                          planes and vertices */
    int32_t pad;
} solid_edge;

typedef struct solid_coedge {
    int32_t vertex; /* start */
    int32_t edge, loop, face, next, prev;
} solid_coedge;

typedef struct solid_loop {
    int32_t face, coedge, count;
} solid_loop;

typedef struct solid_face {
    plane plane; /* outward, unit normal: planes[plane_id] times plane_sign */
    double area;
    int32_t plane_id;          /* entry of the plane table */
    int32_t plane_sign;        /* +1: same direction as the table's plane, -1: antiparallel */
    int32_t first_loop, loops; /* the first is the outer one */
    int32_t shell, pad;
} solid_face;

typedef struct solid_shell {
    double volume; /* signed: negative for a cavity */
    int32_t genus;
    int32_t face; /* one of its faces */
} solid_shell;

struct abut_solid {
    uint32_t magic, version;
    uint64_t bytes, hash; /* the hash covers everything behind it */
    int64_t vertex_count, edge_count, coedge_count, loop_count, face_count, plane_count, shell_count,
        file_face_count;
    uint64_t vertices, edges, coedges, loops, faces, planes, shells,
        file_faces; /* byte offsets from the start */
    vec3 origin;
    double diagonal, weld, epsilon; /* metres */
    abut_solid_facts facts;         /* in shape coordinates; facts.hash mirrors hash */
    double unit_inertia[6];         /* about the centre, density 1 */
};

#define SOLID_ARRAY(type, name)                                         \
    static inline const type *solid_##name(const abut_solid *s) {       \
        return (const type *)(const void *)((const char *)s + s->name); \
    }
SOLID_ARRAY(solid_vertex, vertices)
SOLID_ARRAY(solid_edge, edges)
SOLID_ARRAY(solid_coedge, coedges)
SOLID_ARRAY(solid_loop, loops)
SOLID_ARRAY(solid_face, faces)
SOLID_ARRAY(plane, planes)
SOLID_ARRAY(solid_shell, shells)
SOLID_ARRAY(int32_t, file_faces)
#undef SOLID_ARRAY

static inline vec3 solid_position(const abut_solid *s, int32_t vertex) {
    return solid_vertices(s)[vertex].position;
}
/* The pose of the stored frame, for a shape at pose p. */
static inline pose solid_frame(const abut_solid *s, pose p) {
    return (pose){pose_point(p, s->origin), p.rotation};
}
/* The other coedge of the same edge. */
static inline int32_t solid_twin(const abut_solid *s, int32_t coedge) {
    const solid_edge *e = &solid_edges(s)[solid_coedges(s)[coedge].edge];
    return e->coedge[e->coedge[0] == coedge];
}

/* The validator: every invariant of the block (ranges, twins, loops closed, vertices on the planes of their
 * faces within 4 weld, Euler's formula, content hash).  ABUT_FAILED with a message that names the first
 * violation.  For debug builds, tests, and blocks that come from a file. */
abut_status solid_validate(const abut_solid *s, abut_error *error);
/* The hash of everything behind the field `hash`, with facts.hash as 0. */
uint64_t solid_hash(const abut_solid *s);

#endif
