/* The dynamic box tree: places by least growth of surface, rotations for balance. */
#include "contact/bvh.h"

enum { STACK = 64 /* 1.44 log2 of 2^31 leaves is 45 */ };

/* Half the surface of a box: the chance that a random ray or box meets it. */
static double surface(box b) {
    vec3 e = vec3_sub(b.upper, b.lower);
    return e.x * e.y + e.y * e.z + e.z * e.x;
}

static bool is_leaf(const bvh_node *n) { return n->child[0] == BVH_NONE; }

static bool box_holds(box outer, box inner) {
    return outer.lower.x <= inner.lower.x && outer.lower.y <= inner.lower.y &&
           outer.lower.z <= inner.lower.z && outer.upper.x >= inner.upper.x &&
           outer.upper.y >= inner.upper.y && outer.upper.z >= inner.upper.z;
}

/* ---- nodes */

void bvh_init(bvh *tree) { *tree = (bvh){.root = BVH_NONE, .free = BVH_NONE}; }

void bvh_free(const abut_context *context, bvh *tree) {
    mem_free(context, tree->nodes, (size_t)tree->capacity, sizeof *tree->nodes);
    bvh_init(tree);
}

bool bvh_reserve(const abut_context *context, bvh *tree, int32_t items) {
    if (items > INT32_MAX / 2) return false;
    int32_t wanted = 2 * items;
    if (wanted <= tree->capacity) return true;
    bvh_node *grown = mem_resize(context, tree->nodes, (size_t)tree->capacity, (size_t)wanted, sizeof *grown);
    if (!grown) return false;
    tree->nodes = grown, tree->capacity = wanted;
    return true;
}

static int32_t take_node(bvh *tree) {
    int32_t n = tree->free;
    if (n != BVH_NONE)
        tree->free = tree->nodes[n].parent;
    else
        n = tree->used++;
    return n;
}

static void give_node(bvh *tree, int32_t n) {
    tree->nodes[n] = (bvh_node){.parent = tree->free, .child = {BVH_NONE, BVH_NONE}, .height = -1};
    tree->free = n;
}

/* Box and height of an inner node from its children. */
static void update(bvh *tree, int32_t n) {
    bvh_node *node = &tree->nodes[n];
    const bvh_node *a = &tree->nodes[node->child[0]], *b = &tree->nodes[node->child[1]];
    node->bounds = box_union(a->bounds, b->bounds);
    node->height = 1 + (a->height > b->height ? a->height : b->height);
}

/* `fresh` takes the place of `old` below old's parent. */
static void replace_child(bvh *tree, int32_t old, int32_t fresh) {
    int32_t parent = tree->nodes[old].parent;
    tree->nodes[fresh].parent = parent;
    if (parent == BVH_NONE)
        tree->root = fresh;
    else
        tree->nodes[parent].child[tree->nodes[parent].child[1] == old] = fresh;
}

/* ---- balance
 *
 *        n                tall             The tall child comes up; of its children the taller stays with it,
 * the / \              /    \            other goes down to n.  (Equal heights: the one that leaves n the
 * smaller short  tall   ->    n      far         box goes down.)
 *         /   \        / \
 *       near   far  short near
 */
static int32_t rotate(bvh *tree, int32_t n, int up) {
    bvh_node *nodes = tree->nodes;
    int32_t tall = nodes[n].child[up], brother = nodes[n].child[1 - up];
    int32_t *c = nodes[tall].child;
    int lower = nodes[c[1]].height < nodes[c[0]].height; /* which of tall's children goes down */
    if (nodes[c[0]].height == nodes[c[1]].height)
        lower = surface(box_union(nodes[brother].bounds, nodes[c[1]].bounds)) <
                surface(box_union(nodes[brother].bounds, nodes[c[0]].bounds));
    int32_t down = c[lower];
    replace_child(tree, n, tall);
    nodes[n].child[up] = down, nodes[down].parent = n;
    c[lower] = n, nodes[n].parent = tall;
    update(tree, n), update(tree, tall);
    return tall;
}

/* Makes boxes, heights and balance right from n to the root. */
static void climb(bvh *tree, int32_t n) {
    while (n != BVH_NONE) {
        update(tree, n);
        const bvh_node *node = &tree->nodes[n];
        int lean = tree->nodes[node->child[1]].height - tree->nodes[node->child[0]].height;
        if (lean > 1 || lean < -1) n = rotate(tree, n, lean > 1);
        n = tree->nodes[n].parent;
    }
}

/* ---- insertion */

/* The node beside which a box enlarges the tree least: goes down while a child promises less than staying. It
 * stays only just above the leaves: there a new brother unbalances nothing by more than one rotation mends.
 */
static int32_t best_brother(const bvh *tree, box b) {
    int32_t n = tree->root;
    while (!is_leaf(&tree->nodes[n])) {
        const bvh_node *node = &tree->nodes[n];
        double whole = surface(box_union(node->bounds, b));
        double stay = 2 * whole, inherited = 2 * (whole - surface(node->bounds)), cost[2];
        for (int k = 0; k < 2; k++) {
            const bvh_node *child = &tree->nodes[node->child[k]];
            cost[k] = inherited + surface(box_union(child->bounds, b));
            if (!is_leaf(child)) cost[k] -= surface(child->bounds);
        }
        if (node->height == 1 && stay < cost[0] && stay < cost[1]) break;
        n = node->child[cost[1] < cost[0]];
    }
    return n;
}

static void link_leaf(bvh *tree, int32_t leaf) {
    tree->nodes[leaf].parent = BVH_NONE;
    if (tree->root == BVH_NONE) {
        tree->root = leaf;
        return;
    }
    int32_t brother = best_brother(tree, tree->nodes[leaf].bounds), parent = take_node(tree);
    replace_child(tree, brother, parent);
    tree->nodes[parent].child[0] = brother, tree->nodes[parent].child[1] = leaf;
    tree->nodes[brother].parent = tree->nodes[leaf].parent = parent;
    climb(tree, parent);
}

static void unlink_leaf(bvh *tree, int32_t leaf) {
    int32_t parent = tree->nodes[leaf].parent;
    if (parent == BVH_NONE) {
        tree->root = BVH_NONE;
        return;
    }
    int32_t brother = tree->nodes[parent].child[tree->nodes[parent].child[0] == leaf];
    replace_child(tree, parent, brother);
    give_node(tree, parent);
    climb(tree, tree->nodes[brother].parent);
}

int32_t bvh_insert(const abut_context *context, bvh *tree, box fat, int32_t item) {
    int32_t need = tree->leaf_count + 1;
    if (2 * need > tree->capacity && !bvh_reserve(context, tree, need < 8 ? 8 : need + need / 2))
        return BVH_NONE;
    int32_t leaf = take_node(tree);
    tree->nodes[leaf] = (bvh_node){.bounds = fat, .child = {BVH_NONE, item}};
    link_leaf(tree, leaf);
    tree->leaf_count++;
    return leaf;
}

void bvh_remove(bvh *tree, int32_t leaf) {
    unlink_leaf(tree, leaf);
    give_node(tree, leaf);
    tree->leaf_count--;
}

/* ---- moving */

box bvh_fatten(box tight, double margin, vec3 displacement) {
    box b = box_grow(tight, margin);
    b.lower = vec3_add(b.lower, vec3_min(displacement, vec3_zero()));
    b.upper = vec3_add(b.upper, vec3_max(displacement, vec3_zero()));
    return b;
}

bool bvh_move(bvh *tree, int32_t leaf, box tight, double margin, vec3 displacement) {
    box old = tree->nodes[leaf].bounds, fat = bvh_fatten(tight, margin, displacement);
    if (box_holds(old, tight) && box_holds(box_grow(fat, 4 * margin), old)) return false;
    unlink_leaf(tree, leaf);
    tree->nodes[leaf].bounds = fat;
    link_leaf(tree, leaf);
    return true;
}

void bvh_set(bvh *tree, int32_t leaf, box fat) { tree->nodes[leaf].bounds = fat; }

/* Children before parents: a walk that enters the left child, then the right one, then leaves the node. */
void bvh_refit(bvh *tree) {
    int32_t n = tree->root, from = BVH_NONE;
    while (n != BVH_NONE) {
        const bvh_node *node = &tree->nodes[n];
        int32_t next = node->parent;
        if (is_leaf(node))
            next = node->parent;
        else if (from == node->parent)
            next = node->child[0];
        else if (from == node->child[0])
            next = node->child[1];
        else
            update(tree, n);
        from = n, n = next;
    }
}

/* ---- rebuilding */

typedef struct median_sort {
    const bvh *tree;
    int axis;
} median_sort;

static int by_middle(const void *user, const void *a, const void *b) {
    const median_sort *s = user;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    double x = vec3_at(box_center(s->tree->nodes[i].bounds), s->axis);
    double y = vec3_at(box_center(s->tree->nodes[j].bounds), s->axis);
    return x < y ? -1 : x > y ? 1 : i < j ? -1 : i > j;
}

/* The subtree over leaves[0 .. count - 1]: halves along the longest axis of their middles.  The inner nodes
 * come from the free list, so nothing can fail but the scratch of the sort. */
static int32_t build(const abut_context *context, bvh *tree, int32_t *leaves, int32_t count, bool *fine) {
    if (count == 1) return leaves[0];
    box middles = box_empty();
    for (int32_t i = 0; i < count; i++)
        middles = box_add_point(middles, box_center(tree->nodes[leaves[i]].bounds));
    vec3 e = vec3_sub(middles.upper, middles.lower);
    median_sort sort = {tree, e.x >= e.y && e.x >= e.z ? 0 : e.y >= e.z ? 1 : 2};
    *fine = sort_stable(context, leaves, (size_t)count, sizeof *leaves, by_middle, &sort) && *fine;
    int32_t n = take_node(tree), half = count / 2;
    int32_t a = build(context, tree, leaves, half, fine),
            b = build(context, tree, leaves + half, count - half, fine);
    tree->nodes[n] = (bvh_node){.parent = BVH_NONE, .child = {a, b}};
    tree->nodes[a].parent = tree->nodes[b].parent = n;
    update(tree, n);
    return n;
}

bool bvh_rebuild(const abut_context *context, bvh *tree) {
    if (tree->leaf_count < 2) return true;
    int32_t *leaves = mem_alloc(context, (size_t)tree->leaf_count, sizeof *leaves), count = 0;
    if (!leaves) return false;
    for (int32_t i = 0; i < tree->used; i++)
        if (tree->nodes[i].height == 0) leaves[count++] = i;
    for (int32_t i = tree->used - 1; i >= 0; i--)
        if (tree->nodes[i].height > 0) give_node(tree, i);
    /* a sort that found no memory leaves its part unsorted: a worse tree, but a right one */
    bool fine = true;
    tree->root = build(context, tree, leaves, count, &fine);
    tree->nodes[tree->root].parent = BVH_NONE;
    mem_free(context, leaves, (size_t)tree->leaf_count, sizeof *leaves);
    return fine;
}

/* ---- searching */

bool bvh_query(const bvh *tree, box region, bvh_visit *visit, void *user) {
    int32_t stack[STACK], depth = 0;
    if (tree->root != BVH_NONE) stack[depth++] = tree->root;
    while (depth) {
        const bvh_node *node = &tree->nodes[stack[--depth]];
        if (!box_overlap(node->bounds, region)) continue;
        if (!is_leaf(node)) {
            __builtin_prefetch(&tree->nodes[node->child[0]]),
                __builtin_prefetch(&tree->nodes[node->child[1]]);
            stack[depth++] = node->child[1], stack[depth++] = node->child[0];
        } else if (!visit(user, node->child[1])) {
            return false;
        }
    }
    return true;
}

typedef struct pair_search {
    bvh_visit_pair *visit;
    void *user;
    int32_t item;
    bool only_later; /* pairs with later items only, so that each comes once */
} pair_search;

static bool visit_other(void *user, int32_t item) {
    const pair_search *s = user;
    if (item == s->item || (s->only_later && item < s->item)) return true;
    return item < s->item ? s->visit(s->user, item, s->item) : s->visit(s->user, s->item, item);
}

bool bvh_pairs_of(const bvh *tree, int32_t leaf, bvh_visit_pair *visit, void *user) {
    pair_search s = {visit, user, bvh_item(tree, leaf), false};
    return bvh_query(tree, tree->nodes[leaf].bounds, visit_other, &s);
}

bool bvh_pairs(const bvh *tree, bvh_visit_pair *visit, void *user) {
    for (int32_t i = 0; i < tree->used; i++) {
        if (tree->nodes[i].height != 0) continue;
        pair_search s = {visit, user, bvh_item(tree, i), true};
        if (!bvh_query(tree, tree->nodes[i].bounds, visit_other, &s)) return false;
    }
    return true;
}

/* Where the ray enters a box grown by radius (slabs: per axis the interval between the two planes), or
 * infinity. A zero component of d has an infinite inverse: 0 * inf = NaN falls out of fmin and fmax. */
static double entry(box b, vec3 origin, vec3 inverse, double limit, double radius) {
    double enter = 0, leave = limit;
    for (int k = 0; k < 3; k++) {
        double o = vec3_at(origin, k), i = vec3_at(inverse, k);
        double s = (vec3_at(b.lower, k) - radius - o) * i, t = (vec3_at(b.upper, k) + radius - o) * i;
        enter = fmax(enter, fmin(s, t)), leave = fmin(leave, fmax(s, t));
        if (!isfinite(i) && (o < vec3_at(b.lower, k) - radius || o > vec3_at(b.upper, k) + radius))
            return INFINITY;
    }
    return enter <= leave ? enter : INFINITY;
}

void bvh_ray(const bvh *tree, vec3 origin, vec3 d, double limit, double radius, bvh_visit_ray *visit,
             void *user) {
    vec3 inverse = {1 / d.x, 1 / d.y, 1 / d.z};
    int32_t stack[STACK], depth = 0;
    if (tree->root != BVH_NONE) stack[depth++] = tree->root;
    while (depth && limit > 0) {
        const bvh_node *node = &tree->nodes[stack[--depth]];
        if (entry(node->bounds, origin, inverse, limit, radius) > limit) continue;
        if (is_leaf(node)) {
            limit = fmin(limit, visit(user, node->child[1], limit));
            continue;
        }
        double first = entry(tree->nodes[node->child[0]].bounds, origin, inverse, limit, radius);
        double second = entry(tree->nodes[node->child[1]].bounds, origin, inverse, limit, radius);
        int near = second < first;
        stack[depth++] = node->child[1 - near], stack[depth++] = node->child[near];
    }
}

/* ---- the validator */

static abut_status validate_node(const bvh *tree, int32_t n, abut_error *error) {
    const bvh_node *node = &tree->nodes[n];
    if (node->height <= 0) return ABUT_OK;
    const bvh_node *a = &tree->nodes[node->child[0]], *b = &tree->nodes[node->child[1]];
    if (a->parent != n || b->parent != n)
        return fail(error, ABUT_FAILED, "bvh: a child of node %d has another parent", n);
    if (node->height != 1 + (a->height > b->height ? a->height : b->height))
        return fail(error, ABUT_FAILED, "bvh: node %d has a wrong height", n);
    if (a->height - b->height > 1 || b->height - a->height > 1)
        return fail(error, ABUT_FAILED, "bvh: node %d is out of balance", n);
    if (!box_holds(node->bounds, a->bounds) || !box_holds(node->bounds, b->bounds))
        return fail(error, ABUT_FAILED, "bvh: the box of node %d does not hold its children", n);
    return ABUT_OK;
}

abut_status bvh_validate(const bvh *tree, abut_error *error) {
    int32_t leaves = 0, inner = 0, free = 0;
    for (int32_t i = 0; i < tree->used; i++) {
        abut_status status = validate_node(tree, i, error);
        if (status != ABUT_OK) return status;
        leaves += tree->nodes[i].height == 0, inner += tree->nodes[i].height > 0;
        if (tree->nodes[i].height >= 0 && tree->nodes[i].parent == BVH_NONE && tree->root != i)
            return fail(error, ABUT_FAILED, "bvh: node %d has no parent and is not the root", i);
    }
    for (int32_t i = tree->free; i != BVH_NONE && free <= tree->used; i = tree->nodes[i].parent) free++;
    if (leaves != tree->leaf_count || inner != (leaves > 0 ? leaves - 1 : 0) ||
        leaves + inner + free != tree->used)
        return fail(error, ABUT_FAILED, "bvh: %d leaves, %d inner and %d free nodes do not add up", leaves,
                    inner, free);
    return ABUT_OK;
}
