/* Building and searching the static box tree, with explicit stacks. */
#include "contact/box_tree.h"

enum { LEAF_ITEMS = 4, DEPTH = 64 /* median splits halve: 2^31 items need 32 levels */ };

typedef struct builder {
    const box *boxes;
    box_tree *tree;
    int axis;
} builder;

static int by_center(const void *user, const void *a, const void *b) {
    const builder *build = user;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    double x = vec3_at(box_center(build->boxes[i]), build->axis);
    double y = vec3_at(box_center(build->boxes[j]), build->axis);
    return x < y ? -1 : x > y ? 1 : i < j ? -1 : i > j;
}

static int longest_axis(box b) {
    vec3 e = vec3_sub(b.upper, b.lower);
    return e.x >= e.y && e.x >= e.z ? 0 : e.y >= e.z ? 1 : 2;
}

/* Fills the node for items[first .. first + count - 1]; the depth is at most log2(count). */
static bool build_node(const abut_context *context, builder *build, int32_t first, int32_t count) {
    box_tree *tree = build->tree;
    int32_t self = tree->node_count++;
    box bounds = box_empty();
    for (int32_t i = 0; i < count; i++) bounds = box_union(bounds, build->boxes[tree->items[first + i]]);
    tree->nodes[self] = (box_node){.bounds = bounds, .right = -1, .first = first, .count = count};
    if (count <= LEAF_ITEMS) return true;
    build->axis = longest_axis(bounds);
    if (!sort_stable(context, tree->items + first, (size_t)count, sizeof *tree->items, by_center, build))
        return false;
    int32_t half = count / 2;
    if (!build_node(context, build, first, half)) return false;
    tree->nodes[self].right = tree->node_count;
    return build_node(context, build, first + half, count - half);
}

bool box_tree_build(const abut_context *context, const box *boxes, int32_t count, box_tree *tree) {
    *tree = (box_tree){.item_count = count};
    size_t most = count > 0 ? 2 * (size_t)count : 1;
    tree->nodes = mem_alloc(context, most, sizeof *tree->nodes);
    tree->items = mem_alloc(context, most, sizeof *tree->items);
    tree->bounds = mem_alloc(context, most, sizeof *tree->bounds);
    builder build = {.boxes = boxes, .tree = tree};
    for (int32_t i = 0; tree->items && i < count; i++) tree->items[i] = i;
    bool fine = tree->nodes && tree->items && tree->bounds;
    if (fine && count > 0) fine = build_node(context, &build, 0, count);
    for (int32_t i = 0; i < count && fine; i++) tree->bounds[i] = boxes[tree->items[i]];
    if (!fine) box_tree_free(context, tree);
    return fine;
}

void box_tree_free(const abut_context *context, box_tree *tree) {
    size_t most = tree->item_count > 0 ? 2 * (size_t)tree->item_count : 1;
    mem_free(context, tree->nodes, most, sizeof *tree->nodes);
    mem_free(context, tree->items, most, sizeof *tree->items);
    mem_free(context, tree->bounds, most, sizeof *tree->bounds);
    *tree = (box_tree){0};
}

static bool visit_leaf(const box_tree *tree, const box_node *node, box_tree_one *visit, void *user) {
    for (int32_t i = 0; i < node->count; i++)
        if (!visit(user, tree->items[node->first + i])) return false;
    return true;
}

bool box_tree_query(const box_tree *tree, box region, box_tree_one *visit, void *user) {
    int32_t stack[DEPTH], depth = 0;
    if (tree->node_count) stack[depth++] = 0;
    while (depth) {
        int32_t n = stack[--depth];
        const box_node *node = &tree->nodes[n];
        if (!box_overlap(node->bounds, region)) continue;
        if (node->right >= 0)
            stack[depth++] = node->right, stack[depth++] = n + 1;
        else if (!visit_leaf(tree, node, visit, user))
            return false;
    }
    return true;
}

/* The least of n.x over a box. */
static double lowest(box b, vec3 n) {
    vec3 half = vec3_scale(vec3_sub(b.upper, b.lower), 0.5);
    return vec3_dot(n, box_center(b)) - vec3_dot(vec3_abs(n), half);
}

bool box_tree_below(const box_tree *tree, vec3 n, double d, box_tree_one *visit, void *user) {
    int32_t stack[DEPTH], depth = 0;
    if (tree->node_count) stack[depth++] = 0;
    while (depth) {
        int32_t i = stack[--depth];
        const box_node *node = &tree->nodes[i];
        if (lowest(node->bounds, n) > d) continue;
        if (node->right >= 0)
            stack[depth++] = node->right, stack[depth++] = i + 1;
        else if (!visit_leaf(tree, node, visit, user))
            return false;
    }
    return true;
}

/* ---- pairs: b stands in the frame of a, turned by m and shifted by t */

typedef struct placing {
    mat3 m, size; /* size: |m| entry by entry */
    vec3 t;
    const box_reach *reach;
} placing;

static placing make_placing(pose b_in_a, const box_reach *reach) {
    mat3 m = quat_matrix(b_in_a.rotation);
    mat3 size = {vec3_abs(m.cx), vec3_abs(m.cy), vec3_abs(m.cz)};
    return (placing){m, size, b_in_a.position, reach};
}

static inline vec3 half_of(box b) { return vec3_scale(vec3_sub(b.upper, b.lower), 0.5); }
static inline double extent(box b) {
    return (b.upper.x - b.lower.x) + (b.upper.y - b.lower.y) + (b.upper.z - b.lower.z);
}

/* The largest reach within a box about c: that of its centre, and what half its diagonal adds. */
static double reach_of(const box_reach *reach, vec3 c, vec3 half) {
    if (!(reach->time > 0)) return reach->base;
    vec3 u = vec3_add(reach->u, vec3_cross(reach->w, c));
    return reach->base + reach->time * (vec3_length(u) + vec3_length(half) * vec3_length(reach->w));
}

static inline bool is_within(vec3 d, vec3 most) {
    return !(fabs(d.x) > most.x) && !(fabs(d.y) > most.y) && !(fabs(d.z) > most.z);
}

/* A box of b as a sees it: its centre, half its sides along its own axes and along those of a. */
typedef struct placed_box {
    vec3 center, half, wide;
} placed_box;

static inline placed_box place(const placing *p, const box *b) {
    placed_box out = {.half = half_of(*b)};
    out.center = vec3_add(mat3_mul_vec(p->m, box_center(*b)), p->t);
    out.wide = mat3_mul_vec(p->size, out.half);
    return out;
}

/* The reach at the smaller of two boxes; either will do. */
static double moving_reach(const placing *p, const box *a, const placed_box *b) {
    return extent(*a) < 2 * (b->wide.x + b->wide.y + b->wide.z)
               ? reach_of(p->reach, box_center(*a), half_of(*a))
               : reach_of(p->reach, b->center, b->wide);
}

/* Whether two boxes come closer than the reach along the axes of a and along those of b. */
static inline bool come_close(const placing *p, const box *a, const placed_box *b) {
    vec3 half = half_of(*a), d = vec3_sub(b->center, box_center(*a));
    double far = p->reach->time > 0 ? moving_reach(p, a, b) : p->reach->base;
    vec3 more = {far, far, far};
    if (!is_within(d, vec3_add(vec3_add(half, b->wide), more))) return false;
    return is_within(mat3_tmul_vec(p->m, d), vec3_add(vec3_add(b->half, mat3_tmul_vec(p->size, half)), more));
}

static bool visit_leaves(const placing *p, const box_tree *a, const box_node *na, const box_tree *b,
                         const box_node *nb, box_tree_two *visit, void *user) {
    for (int32_t j = nb->first; j < nb->first + nb->count; j++) {
        placed_box placed = place(p, &b->bounds[j]);
        for (int32_t i = na->first; i < na->first + na->count; i++)
            if (come_close(p, &a->bounds[i], &placed) && !visit(user, a->items[i], b->items[j])) return false;
    }
    return true;
}

bool box_tree_pairs_moving(const box_tree *a, const box_tree *b, pose b_in_a, const box_reach *reach,
                           box_tree_two *visit, void *user) {
    placing p = make_placing(b_in_a, reach);
    int32_t stack[4 * DEPTH][2], depth = 0;
    if (a->node_count && b->node_count) stack[depth][0] = 0, stack[depth++][1] = 0;
    while (depth) {
        depth--;
        int32_t i = stack[depth][0], j = stack[depth][1];
        const box_node *na = &a->nodes[i], *nb = &b->nodes[j];
        placed_box placed = place(&p, &nb->bounds);
        if (!come_close(&p, &na->bounds, &placed)) continue;
        bool leaf_a = na->right < 0, leaf_b = nb->right < 0;
        if (leaf_a && leaf_b) {
            if (!visit_leaves(&p, a, na, b, nb, visit, user)) return false;
        } else if (!leaf_a && (leaf_b || extent(na->bounds) >= extent(nb->bounds))) {
            stack[depth][0] = na->right, stack[depth++][1] = j;
            stack[depth][0] = i + 1, stack[depth++][1] = j;
        } else {
            stack[depth][0] = i, stack[depth++][1] = nb->right;
            stack[depth][0] = i, stack[depth++][1] = j + 1;
        }
    }
    return true;
}

bool box_tree_pairs(const box_tree *a, const box_tree *b, pose b_in_a, double reach, box_tree_two *visit,
                    void *user) {
    return box_tree_pairs_moving(a, b, b_in_a, &(box_reach){.base = reach}, visit, user);
}
