/* A static tree of boxes over the entities of a shape, so that far parts are never touched.
 *
 *   nodes   [0 | 1 | 2 ...]   an inner node has its left child next to it and the right one at `right`;
 *                             a leaf has right < 0 and the items items[first .. first + count - 1]
 *
 * Built once by median splits along the longest axis; ties go by item number, so the tree is the same
 * everywhere. */
#ifndef CONTACT_BOX_TREE_H
#define CONTACT_BOX_TREE_H

#include "base/base.h"
#include "math/vec.h"

typedef struct box_node {
    box bounds;
    int32_t right, first, count;
} box_node;

typedef struct box_tree {
    box_node *nodes;
    int32_t *items;
    box *bounds; /* of items[i] */
    int32_t node_count, item_count;
} box_tree;

bool box_tree_build(const abut_context *context, const box *boxes, int32_t count, box_tree *tree);
void box_tree_free(const abut_context *context, box_tree *tree);

/* Called for items whose boxes meet; returning false ends the search. */
typedef bool box_tree_one(void *user, int32_t item);
typedef bool box_tree_two(void *user, int32_t a, int32_t b);

/* Items whose box meets the region. */
bool box_tree_query(const box_tree *tree, box region, box_tree_one *visit, void *user);
/* Items with a part of their box below the plane n.x = d. */
bool box_tree_below(const box_tree *tree, vec3 n, double d, box_tree_one *visit, void *user);
/* Pairs of items whose boxes come closer than reach when b stands at b_in_a in the frame of a (boxes of b are
 * replaced by the axis-parallel boxes around them, so a few pairs more are reported, never fewer). */
bool box_tree_pairs(const box_tree *a, const box_tree *b, pose b_in_a, double reach, box_tree_two *visit,
                    void *user);

/* A reach that depends on the place y (frame of a): base + time |u + w x y|, for shapes that move against
 * each other. */
typedef struct box_reach {
    double base, time;
    vec3 u, w;
} box_reach;
bool box_tree_pairs_moving(const box_tree *a, const box_tree *b, pose b_in_a, const box_reach *reach,
                           box_tree_two *visit, void *user);

#endif
