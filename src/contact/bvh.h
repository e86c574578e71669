/* A dynamic tree of boxes: which things may touch, for bodies that come, go and move.
 *
 *                root                 A leaf holds one item and a fat box: its true box grown by a margin and
 * along /    \                its motion, so that small moves need no work.  An inner node holds the box
 *           [0..2]  [3..4]            around its two children.
 *           /    \   /   \
 *          0   [1,2] 3    4           Heights of siblings differ by at most one (AVL), so no path is longer
 * than /   \                  1.44 log2 n + 2 and a fixed stack serves every search. 1     2
 *
 * All links are numbers, so a tree is copied with its array.  The same calls in the same order give the same
 * tree everywhere: among equal choices the first is taken. */
#ifndef CONTACT_BVH_H
#define CONTACT_BVH_H

#include "base/base.h"
#include "math/vec.h"

enum { BVH_NONE = -1 };

typedef struct bvh_node {
    box bounds;
    int32_t parent;   /* of a free node: the next free one */
    int32_t child[2]; /* of a leaf: BVH_NONE, item */
    int32_t height;   /* 0 for a leaf, -1 for a free node */
} bvh_node;

typedef struct bvh {
    bvh_node *nodes;
    int32_t capacity, used; /* nodes from `used` on were never taken */
    int32_t root, free, leaf_count;
} bvh;

void bvh_init(bvh *tree);
void bvh_free(const abut_context *context, bvh *tree);
/* Room for so many items, so that insertions up to there allocate nothing.  False when memory is out. */
bool bvh_reserve(const abut_context *context, bvh *tree, int32_t items);

/* Returns the leaf of the item, or BVH_NONE when memory is out.  Boxes must be finite. */
int32_t bvh_insert(const abut_context *context, bvh *tree, box fat, int32_t item);
void bvh_remove(bvh *tree, int32_t leaf);

/* The box that a leaf gets: grown by margin on all sides, and by the expected displacement. */
box bvh_fatten(box tight, double margin, vec3 displacement);
/* Gives a leaf a new place when `tight` has left its fat box (or the fat box has become four margins too
 * large); true when it has. */
bool bvh_move(bvh *tree, int32_t leaf, box tight, double margin, vec3 displacement);
/* Sets the box of a leaf without moving it in the tree; bvh_refit afterwards makes the inner boxes right. */
void bvh_set(bvh *tree, int32_t leaf, box fat);
void bvh_refit(bvh *tree);
/* Builds the tree anew by median splits; leaves keep their numbers.  False when memory is out: the tree is
 * right, but no better than before. */
bool bvh_rebuild(const abut_context *context, bvh *tree);

static inline int32_t bvh_item(const bvh *tree, int32_t leaf) { return tree->nodes[leaf].child[1]; }

/* Called for items whose fat boxes meet the region; returning false ends the search. */
typedef bool bvh_visit(void *user, int32_t item);
bool bvh_query(const bvh *tree, box region, bvh_visit *visit, void *user);

/* Every pair of items whose fat boxes overlap, each once with first < second; in the order of the leaves. */
typedef bool bvh_visit_pair(void *user, int32_t first, int32_t second);
bool bvh_pairs(const bvh *tree, bvh_visit_pair *visit, void *user);
/* The pairs of one leaf with all others. */
bool bvh_pairs_of(const bvh *tree, int32_t leaf, bvh_visit_pair *visit, void *user);

/* Called for items whose fat box, grown by `radius`, the ray origin + t d, 0 <= t <= limit, meets, near ones
 * first where that is cheap to know; returns the new limit (0 ends the search, the old one goes on). */
typedef double bvh_visit_ray(void *user, int32_t item, double limit);
void bvh_ray(const bvh *tree, vec3 origin, vec3 d, double limit, double radius, bvh_visit_ray *visit,
             void *user);

/* Every invariant; ABUT_FAILED names the first violation. */
abut_status bvh_validate(const bvh *tree, abut_error *error);

#endif
