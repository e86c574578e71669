/* Building the index: what its files share.
 *
 *   build.c         options, tasks, assembly into one block
 *   build_pieces.c  the solid's faces as convex pieces
 *   build_space.c   phase 1: the 3D tree over faces; sorts edges and vertices into the cut planes they lie in
 *   build_plane.c   phases 2 and 3: the 2D tree in each cut plane over edges, the 1D trees over vertices
 *   build_choose.c  which plane cuts a region
 *
 * Incidence is symbolic: a point carries the planes it was made from and is on those without arithmetic.  A
 * cut that passes a point nearer than the solid's weld distance, below which the solid has no features, is
 * moved to the point (ROBUSTNESS point 9): no pieces thinner than that are made, and a sign is never decided
 * by rounding.
 */
#ifndef INDEX_BUILD_H
#define INDEX_BUILD_H

#include "index/index.h"

/* A vertex of the solid, or a pseudo vertex where an edge of a piece crosses a cut plane. */
typedef struct build_point {
    vec3 x;
    int32_t
        plane[3];  /* plane ids of the table that meet here, or -1; vertices have theirs in vertex_planes */
    int32_t leaf;  /* the entity it lies on: vertex, edge or face */
    int32_t inner; /* 1: pseudo vertex on the seam of two pieces of one face, and on no earlier cut */
} build_point;

/* One corner of a piece and the side that starts there. */
enum { SIDE_SEAM = -1 /* between two pieces of one face */, SIDE_BORDER = -2 /* on an earlier cut */ };
typedef struct build_corner {
    int32_t point;
    int32_t side; /* an edge, SIDE_SEAM, or SIDE_BORDER - k: on the k-th trace, k > 0 (paper's method only) */
} build_corner;

/* A convex piece of a face. */
typedef struct build_piece {
    int32_t face, first, count;
} build_piece;

typedef struct build_edge {
    int32_t a, b, edge;
} build_edge;

/* A segment in a cut plane: a piece of an edge, or the trace of a face that crosses the plane.  Left and
 * right are what lies beside it in the plane, seen from above, going from a to b. */
typedef struct build_segment {
    int32_t a, b, leaf, left, right;
} build_segment;

/* What phase 1 leaves for phases 2 and 3 in one 3D node. */
typedef struct build_section {
    int32_t node;
    int32_t first_segment, segments, first_point, points;
    int32_t label; /* what covers the plane where no segment says: a face, or INDEX_UNKNOWN */
    vec3 witness;  /* a point of the region's cross-section; for regular cuts of the paper's method */
} build_section;

enum { INDEX_UNKNOWN = INT32_MIN };

/* A cut plane: by its coefficients and, where it is the plane of a face, its entry in the table. */
typedef struct build_cut {
    plane p;
    int32_t id;   /* -1: not a plane of the table */
    int32_t axis; /* -1: none */
} build_cut;

/* A region still to be divided: the numbers of its pieces, edges and vertices stand in `lists`. */
typedef struct build_region {
    int32_t parent, slot;
    int32_t depth, cuts; /* regular cuts above it */
    int64_t first, pieces, edges, vertices;
    box bounds;
} build_region;

/* A leaf whose label is not known from a face: a box without faces. */
typedef struct build_hole {
    int32_t node, slot;
    vec3 witness;
} build_hole;

typedef struct build_extra {
    int32_t owner, point; /* edge, or -1 - trace */
} build_extra;

typedef struct build_crossing {
    uint64_t key;
    uint32_t stamp;
    int32_t point;
} build_crossing;

/* What all tasks read. */
typedef struct build_input {
    const abut_context *context;
    const abut_solid *solid;
    abut_index_method method;
    int crowd, regular_cap;
    int64_t node_budget;
    double weld, band;
    const int32_t *vertex_plane_start, *vertex_planes; /* planes of the faces around each vertex, sorted */
} build_input;

/* One task: a region and the tree that grows in it. */
typedef struct builder {
    const build_input *in;
    const build_point *base; /* points of the task before, read only; own points are numbered behind them */
    int32_t base_count;
    ARRAY(build_point) points;
    ARRAY(build_piece) pieces;
    ARRAY(build_corner) corners;
    ARRAY(build_edge) edges;
    ARRAY(int32_t) lists;
    ARRAY(build_region) pending;
    ARRAY(index_node) nodes;       /* 3D; then 2D and 1D behind them */
    ARRAY(build_section) sections; /* by node */
    ARRAY(build_segment) segments;
    ARRAY(int32_t) section_points;
    ARRAY(build_hole) holes;
    ARRAY(build_extra) extras; /* paper's method: pseudo vertices on sides that lie in earlier cuts */
    build_crossing *crossings;
    int64_t crossing_capacity, crossing_count;
    uint32_t stamp;
    int_array above[3], below[3]; /* scratch of one split: pieces, edges, vertices of the two sides */
    int_array signs, flats;       /* scratch: of a piece's corners; faces found in the cut plane */
    double_array numbers;         /* scratch of the choice of a cut */
    int64_t budget;
    abut_status status;
} builder;

static inline const build_point *point_at(const builder *b, int32_t point) {
    return point < b->base_count ? &b->base[point] : &b->points.data[point - b->base_count];
}
static inline bool out_of_memory(builder *b) {
    b->status = ABUT_NO_MEMORY;
    return false;
}

/* Where a point lies with respect to a cut: +1 above, 0 on, -1 below. */
int build_side(const builder *b, const build_cut *cut, int32_t point);

/* build_pieces.c: the faces as convex pieces, and the edges; fills points, pieces, corners, edges of `b`. */
bool build_pieces(builder *b);

/* build_space.c: divides the regions of b->pending until none is left.  With `take`, regions of at most
 * `task_size` pieces are handed to it instead. */
typedef bool build_take(void *user, builder *b, const build_region *region);
bool build_space(builder *b, int64_t task_size, build_take *take, void *user);

/* build_choose.c */
bool choose_cut(builder *b, const build_region *region, const int32_t *pieces, const int32_t *edges,
                build_cut *cut, bool *regular);

/* build_plane.c: the trees of all sections of b.  `space` are the 3D nodes of the whole index, among which
 * those of b begin at first_node.  2D and 1D nodes go to b->nodes (which is emptied before), the root of each
 * tree to on[node]. */
bool build_planes(builder *b, const index_node *space, int32_t first_node, int32_t *on);

/* Inside or outside at x by the solid angle of all faces (Van Oosterom and Strackee 1983). */
int32_t solid_angle_side(const abut_solid *solid, vec3 x);

#endif
