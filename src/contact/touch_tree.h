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
typedef float touch_stored __attribute__((vector_size(16), aligned(4)));

typedef struct touch_node {
    touch_stored center, half; /* the last lane is not used */
    int32_t right;
} touch_node;

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
    touch_lanes columns[3], sizes[3];  /* of turn, and their absolute values */
    touch_lanes rows[3], row_sizes[3]; /* of its transpose */
    touch_lanes shift_lanes;
    double rounding; /* a gap between boxes is known to this much */
} touch_placing;
touch_placing touch_place(const touch_tree *a, const touch_tree *b, pose b_in_a);

static inline touch_lanes touch_absolute(touch_lanes x) {
    typedef int32_t bits __attribute__((vector_size(16)));
    return (touch_lanes)((bits)x & 0x7fffffff);
}
static inline touch_lanes touch_mix(const touch_lanes m[3], touch_lanes x) {
    return m[0] * x[0] + m[1] * x[1] + m[2] * x[2];
}
/* The widest gap between two boxes along the six axes of both: a lower bound of their distance once
 * placing->rounding is taken off; below 0 when they overlap on each of the axes. */
static inline double touch_gap(const touch_placing *p, const touch_node *a, const touch_node *b) {
    touch_lanes way = touch_mix(p->columns, b->center) + (p->shift_lanes - a->center);
    touch_lanes in_a = touch_absolute(way) - a->half - touch_mix(p->sizes, b->half);
    touch_lanes in_b = touch_absolute(touch_mix(p->rows, way)) - b->half - touch_mix(p->row_sizes, a->half);
    float ga = in_a[0] > in_a[1] ? in_a[0] : in_a[1], gb = in_b[0] > in_b[1] ? in_b[0] : in_b[1];
    ga = ga > in_a[2] ? ga : in_a[2], gb = gb > in_b[2] ? gb : in_b[2];
    return (double)(ga > gb ? ga : gb);
}

static inline double touch_node_size(const touch_node *n) {
    return (double)(n->half[0] + n->half[1] + n->half[2]);
}

/* The distance of x (tree frame) from the nearest piece. */
double touch_tree_distance(const touch_tree *tree, vec3 x);

#endif
