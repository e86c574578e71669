/* The tree over the convex pieces of a solid's faces, for pairs of solids close to each other.
 *
 *   nodes   [0 | 1 | 2 ...]   boxes parallel to the axes of the solid; an inner node has its left child next
 * to it and the right one at `right`; a leaf has right < 0 and is the piece ~right pieces  [plane | corners
 * first .. first + count - 1]   in the order of the leaves
 *
 * Boxes are floats, rounded outward, about `center` (stored frame), so that a test of two boxes is a few
 * four-lane operations; decisions are made with pieces, in double. */
#ifndef CONTACT_TOUCH_TREE_H
#define CONTACT_TOUCH_TREE_H

#include "index/index.h"
#include "math/vec.h"

typedef float touch_lanes __attribute__((vector_size(16)));

typedef union touch_node { /* one cache line */
    struct {
        float half[3];
        float axes[3][3]; /* by rows: axes[j][k] is component j of axis k, tree frame */
        float center[3];
        int32_t right;
    };
    float all[16];
} touch_node;
enum { TOUCH_HALF = 0, TOUCH_AXES = 3, TOUCH_CENTER = 12 }; /* where they are in `all` */

typedef struct touch_corner {
    vec3 at;              /* from the tree's centre */
    vec3 side;            /* of the side to the next corner: outward, unit, in the plane */
    int32_t vertex, edge; /* the edge of that side; -1 inside a face that was split */
} touch_corner;

typedef struct touch_piece {
    plane plane;
    int32_t first, count; /* corners */
    int32_t face, piece;  /* of the solid, of the index */
} touch_piece;

typedef struct touch_tree {
    touch_node *nodes;
    touch_piece *pieces;
    touch_corner *corners;
    int32_t piece_count, corner_count;
    int32_t most; /* corners of a piece */
    vec3 center;  /* stored frame */
    double radius;
} touch_tree;

bool touch_tree_build(const abut_context *context, const abut_solid *solid, const abut_index *index,
                      touch_tree *tree);
void touch_tree_free(const abut_context *context, touch_tree *tree);

/* The pose of the tree's frame, for a shape at pose p. */
static inline pose touch_tree_frame(const touch_tree *tree, const abut_solid *solid, pose p) {
    return (pose){pose_point(solid_frame(solid, p), tree->center), p.rotation};
}

/* ---- two trees in relative pose: a point x of B is turn x + shift in the frame of A */
typedef struct touch_placing {
    mat3 turn;
    vec3 shift;
    touch_lanes columns[3]; /* of turn */
    float rows[3][3];       /* of turn */
    touch_lanes shift_lanes;
    double rounding; /* a gap between boxes is known to this much */
} touch_placing;
touch_placing touch_place(const touch_tree *a, const touch_tree *b, pose b_in_a);

static inline touch_lanes touch_absolute(touch_lanes x) {
    typedef int32_t bits __attribute__((vector_size(16)));
    return (touch_lanes)((bits)x & 0x7fffffff);
}
/* Three numbers of a node, and a fourth that is not used. */
static inline touch_lanes touch_load(const touch_node *n, int at) {
    touch_lanes x;
    memcpy(&x, &n->all[at], sizeof x);
    return x;
}
static inline touch_lanes touch_mix(const touch_lanes m[3], float x, float y, float z) {
    return m[0] * x + m[1] * y + m[2] * z;
}
/* A box of B in the frame of A. */
typedef struct touch_turned {
    touch_lanes axes[3], half, center;
} touch_turned;
static inline touch_turned touch_turn(const touch_placing *p, const touch_node *b) {
    touch_turned t = {.half = touch_load(b, TOUCH_HALF)};
    touch_lanes u[3];
    for (int j = 0; j < 3; j++) u[j] = touch_load(b, TOUCH_AXES + 3 * j);
    for (int j = 0; j < 3; j++) t.axes[j] = touch_mix(u, p->rows[j][0], p->rows[j][1], p->rows[j][2]);
    t.center = touch_mix(p->columns, b->center[0], b->center[1], b->center[2]) + p->shift_lanes;
    return t;
}
/* The widest gap between two boxes along the six axes of both: a lower bound of their distance once
 * placing->rounding is taken off; below 0 when they overlap on each of the axes.  m[i], by lanes k, is the
 * size of axis i of A times axis k of B. */
static inline double touch_gap(const touch_node *a, const touch_turned *b) {
    touch_lanes u[3], m[3], way = b->center - touch_load(a, TOUCH_CENTER);
    for (int j = 0; j < 3; j++) u[j] = touch_load(a, TOUCH_AXES + 3 * j);
    touch_lanes in_a = touch_absolute(touch_mix(u, way[0], way[1], way[2]));
    touch_lanes in_b = touch_absolute(touch_mix(b->axes, way[0], way[1], way[2])) - b->half;
    float gap = -1e30f;
    for (int i = 0; i < 3; i++) {
        m[i] = touch_absolute(touch_mix(b->axes, a->axes[0][i], a->axes[1][i], a->axes[2][i]));
        touch_lanes size = m[i] * b->half;
        float over = in_a[i] - a->half[i] - (size[0] + size[1] + size[2]);
        gap = over > gap ? over : gap;
    }
    in_b -= touch_mix(m, a->half[0], a->half[1], a->half[2]);
    for (int k = 0; k < 3; k++) gap = in_b[k] > gap ? in_b[k] : gap;
    return (double)gap;
}

static inline double touch_node_size(const touch_node *n) {
    return (double)(n->half[0] + n->half[1] + n->half[2]);
}

/* The distance of x (tree frame) from the nearest piece. */
double touch_tree_distance(const touch_tree *tree, vec3 x);

#endif
