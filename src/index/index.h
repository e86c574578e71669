/* index: the B-rep index, a ternary multi-dimensional space partition (Vanecek 1990, section 2).
 *
 *     3D  P(n) ──above──> 3D ...        A node's region has dimension 3, 2 or 1; the part on its cut plane
 * has one ├───on─────> 2D ...          less.  Planes of 2D nodes are perpendicular to the plane of the 3D
 * node └──below───> 3D ...          they hang from, planes of 1D nodes to both.
 *
 * A child is a node number, or negative: OUT, IN, or an entity of the solid.  One block: this header, then
 * the nodes, 3D nodes first (a random point hardly ever needs the others), each with its bigger child next to
 * it; then the 3D nodes once more as steps of two levels, for the walk of a point.
 */
#ifndef INDEX_INDEX_H
#define INDEX_INDEX_H

#include "abut/index.h"
#include "base/base.h"
#include "math/predicates.h"
#include "solid/solid.h"

enum { INDEX_MAGIC = 0x49425541 /* "AUBI" */, INDEX_VERSION = 3 };

typedef struct index_node {
    plane cut;
    int32_t child[3]; /* INDEX_ABOVE, INDEX_ON, INDEX_BELOW */
    int16_t dimension;
    int16_t holds_face; /* of a 3D node: a face lies in its plane; of a 2D node: below it there is one */
} index_node;
enum { INDEX_ABOVE, INDEX_ON, INDEX_BELOW };

/* Two levels of 3D nodes for a point or a segment on its way down, one cache line: the planes of a node and
 * of its children above and below, in floats, side by side, so that their distances come out of the same few
 * operations.
 *
 *     x: [node | above | below | end 0]     the ends, where the four ways through the two levels lead, are
 *     y: [node | above | below | end 1]     numbers of steps, or leaves; index_end() reads them.  They are
 *     z: [node | above | below | end 2]     biased so that, taken for floats, they are ordinary numbers and
 *     d: [node | above | below | end 3]     cost nothing.
 *
 * The last bit of a d says whether a face lies in the plane.  A child that is a leaf has a plane that
 * everything is above.  A point that is nearer to one of the planes than the rounding of floats asks the
 * nodes themselves. */
typedef struct index_step {
    union {
        float plane[4][4];
        int32_t end[4][4]; /* [k][3] */
    };
} index_step;
/* What a step is made of: its first node, and what lies in the three planes (INDEX_OUT: no face). */
typedef struct index_links {
    int32_t node, on[3];
} index_links;
enum { INDEX_BIAS = 0x60000000 }; /* for up to five hundred million steps and numbers of leaves */
static inline int32_t index_end(const index_step *s, int way) {
    return (int32_t)((uint32_t)s->end[way][3] - INDEX_BIAS);
}

struct abut_index {
    uint32_t magic, version;
    uint64_t bytes, hash; /* the hash covers everything behind it */
    uint64_t solid_hash;
    int64_t vertex_count, edge_count, face_count; /* of the solid: the range of the entities */
    int64_t node_count, space_count, plane_count, line_count, cell_count, height;
    double average_height;
    int64_t piece_count, corner_count, step_count;
    uint64_t nodes;         /* byte offsets */
    uint64_t steps;         /* step_count */
    uint64_t links;         /* step_count */
    uint64_t face_pieces;   /* face_count + 1: where the convex pieces of each face begin */
    uint64_t piece_corners; /* piece_count + 1: where the corners of each piece begin */
    uint64_t corners;       /* vertices */
    box bounds;             /* of the solid, in its stored frame */
    double extent;          /* no point of the box is farther from zero */
    double slack;           /* entities lie within this of the cut planes they are said to be on */
    int32_t root, method;
};

static inline const index_node *index_nodes(const abut_index *index) {
    return (const index_node *)(const void *)((const char *)index + index->nodes);
}

static inline const index_step *index_steps(const abut_index *index) {
    return (const index_step *)(const void *)((const char *)index + index->steps);
}

static inline const index_links *index_links_of(const abut_index *index) {
    return (const index_links *)(const void *)((const char *)index + index->links);
}

/* The convex pieces of a face are numbers first[face] .. first[face
 * + 1] - 1; piece p has the vertices index_corners[start[p]] .. [start[p + 1] - 1], counter-clockwise seen
 * from outside the solid. */
#define INDEX_ARRAY(field)                                                          \
    static inline const int32_t *index_##field(const abut_index *index) {           \
        return (const int32_t *)(const void *)((const char *)index + index->field); \
    }
INDEX_ARRAY(face_pieces)
INDEX_ARRAY(piece_corners)
INDEX_ARRAY(corners)
#undef INDEX_ARRAY

/* A query that asks which entities are near needs only the faces that lie in the cut planes: every other
 * face, edge and vertex in a plane belongs to a face that leaves it, and is met on a side within any
 * distance. */

/* Asks for a node that will be needed soon. */
#if defined(__GNUC__)
#define INDEX_PREFETCH(node) __builtin_prefetch(node)
#else
#define INDEX_PREFETCH(node) ((void)(node))
#endif

/* Leaves: -1 outside, -2 inside, -3 - (3 id + kind) an entity. */
enum { INDEX_OUT = -1, INDEX_IN = -2 };
enum { INDEX_VERTEX, INDEX_EDGE, INDEX_FACE };
static inline int32_t index_leaf(int kind, int32_t id) { return -3 - (3 * id + kind); }
static inline int index_leaf_kind(int32_t leaf) { return (-3 - leaf) % 3; }
static inline int32_t index_leaf_id(int32_t leaf) { return (-3 - leaf) / 3; }

/* Whether a face lies in the part of a plane that a child stands for. */
static inline bool index_holds_face(const abut_index *index, int32_t child) {
    return child >= 0 ? index_nodes(index)[child].holds_face
                      : child < INDEX_IN && index_leaf_kind(child) == INDEX_FACE;
}

/* The place that a leaf stands for. */
static inline abut_place index_place(int32_t leaf) {
    if (leaf == INDEX_OUT) return (abut_place){ABUT_OUTSIDE, -1};
    if (leaf == INDEX_IN) return (abut_place){ABUT_INSIDE, -1};
    return (abut_place){(abut_place_kind)(ABUT_ON_VERTEX + index_leaf_kind(leaf)), index_leaf_id(leaf)};
}

/* The same queries as the public ones, in the solid's stored frame (shape - origin). */
abut_place index_classify_point(const abut_index *index, const abut_solid *solid, vec3 x, double epsilon);
int index_classify_segment(const abut_index *index, const abut_solid *solid, vec3 from, vec3 to,
                           double epsilon, abut_run *runs, int capacity);
/* Adds the parts of one convex polygon to `parts`, which may hold others already (all-zero: empty). */
abut_status index_classify_polygon(const abut_context *context, const abut_index *index,
                                   const abut_solid *solid, const vec3 *polygon, int count, double epsilon,
                                   abut_parts *parts, abut_error *error);
/* Inside or outside by the signs alone: for points that are known to be off the boundary. */
int32_t index_side(const abut_index *index, vec3 x);

/* ---- steps (walk.c) */

/* Numbers the nodes that begin a step, each behind that which leads to it: number[node], -1 for others.
 * Returns how many, -1 when memory is out; the first `count` nodes are those of dimension 3. */
int64_t index_number_steps(const abut_context *context, const index_node *nodes, int64_t count,
                           int32_t *number);
/* Writes the plane of a node, or that of a child which may be a leaf, into a lane of a step. */
void index_put_plane(index_step *s, int lane, plane p, bool holds_face);
void index_put_child(index_step *s, int lane, const index_node *nodes, int32_t child);
index_links index_links_at(const index_node *nodes, int32_t node);
/* The step that begins with a node. */
index_step index_step_of(const index_node *nodes, int64_t node, const int32_t *number);

/* ---- entities near something: how far from the solid's vertex, edge, face; used to confirm what a tree
 * finds */

/* Squared distance of x from an edge; *t is where along it the nearest point lies, in [0, 1]. */
double index_edge_distance2(const abut_solid *solid, int32_t edge, vec3 x, double *t);
/* Whether the projection of x on the plane of the face lies within its loops. */
bool index_face_contains(const abut_solid *solid, int32_t face, vec3 x);

/* The validator: ranges, each node reached exactly once, dimensions, planes unit and perpendicular to the
 * planes they hang from, counts, height, hash.  ABUT_FAILED names the first violation. */
abut_status index_validate(const abut_index *index, abut_error *error);

#endif
