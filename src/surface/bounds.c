/* Boxes around patches, from their control points, and a tree of boxes over a surface.
 *
 *   Bezier, Loop     the box of the control points of a part of the domain, which blossoms give
 *   S-patch          the box of its control points, grown by what corrections and inner polynomial can add
 *   Stam             the box of the cage's points around it: Loop's rules are convex combinations
 *   quadrics         the box of the unit shape's values, mapped by the axes
 *
 * The tree is a flat array of nodes, split at the median of the longest axis:
 *
 *   node { box; first, count }     leaf: count patches of `order` from first on; inner: count 0, children at
 *                                  the next node and at `first` */
#include "surface/surface.h"

static box box_of_points(const double *data, int count, bool rational) {
    box b = box_empty();
    for (int i = 0; i < count; i++) {
        double w = rational ? data[4 * i + 3] : 1;
        b = box_add_point(b, vec3_make(data[4 * i] / w, data[4 * i + 1] / w, data[4 * i + 2] / w));
    }
    return b;
}

/* |alpha_i (l_i l_(i+1))^2| <= max alpha / 16, |T_k| <= 1; m^2 <= 1/4 as the l_i are positive with sum 1. */
static box s_patch_box(const double *data, int n) {
    box b = box_of_points(data + S_PATCH_HEAD(n), abut_s_patch_points(n), false);
    const double *corrections = data + S_PATCH_HEAD(n) + 4 * abut_s_patch_points(n);
    double corners[ABUT_SIDES_MOST][2], radius = 0, alpha = 0, grow = 0;
    s_patch_corners(n, corners);
    for (int i = 0; i < n; i++) {
        radius = fmax(radius, sqrt(corners[i][0] * corners[i][0] + corners[i][1] * corners[i][1]));
        alpha = fmax(alpha, data[0] + data[1] * corners[i][0] + data[2] * corners[i][1]);
    }
    for (int i = 0; i < n && data[3 * n] != 0; i++) {
        double sum = 0;
        for (int k = 0; k < (int)data[3 * n]; k++) {
            const double *c = corrections + 4 * (i * S_PATCH_FIT + k);
            sum += vec3_max_abs(vec3_make(c[0], c[1], c[2]));
        }
        grow += alpha / 16 * sum;
    }
    for (int j = 0; j <= S_PATCH_DEGREE && data[3 * n + 1] != 0; j++)
        for (int i = 0; i + j <= S_PATCH_DEGREE; i++) {
            const double *c = corrections + 4 * (n * S_PATCH_FIT + TRIANGLE(i, j));
            double power = 0.25;
            for (int k = 0; k < i + j; k++) power *= radius;
            grow += power * vec3_max_abs(vec3_make(c[0], c[1], c[2]));
        }
    return box_grow(b, grow);
}

/* f(domain) lies in a box of unit coordinates; its image lies in the box of the image of that box's corners.
 */
static box quadric_box(const abut_surface *s, const patch *p, const double *data) {
    double low = INFINITY, high = -INFINITY, lo[3] = {-1, -1, -1}, hi[3] = {1, 1, 1}, r = data[12];
    for (int i = 0; i < p->sides; i++) {
        low = fmin(low, surface_corner(s, p->first + i)[1]),
        high = fmax(high, surface_corner(s, p->first + i)[1]);
    }
    static const double root = 0.70710678118654757;
    static const int8_t face_axis[6] = {2, 2, 0, 0, 1, 1}, face_sign[6] = {1, -1, 1, -1, 1, -1};
    double most = fmax(low * low, high * high);
    int quarter = p->part % 4;
    switch ((abut_patch_kind)p->kind) {
    case ABUT_PATCH_SPHERE: {
        int a = face_axis[p->part]; /* along the face's axis at least 1/sqrt(3), across at most 1/sqrt(2) */
        for (int k = 0; k < 3; k++) lo[k] = -root - 1e-15, hi[k] = root + 1e-15;
        lo[a] = face_sign[p->part] > 0 ? 0.57735026918962 : -1, hi[a] = lo[a] < 0 ? -0.57735026918962 : 1;
        break;
    }
    case ABUT_PATCH_CYLINDER:
    case ABUT_PATCH_CONE:
    case ABUT_PATCH_TORUS: {
        double far = p->kind == ABUT_PATCH_CONE    ? high
                     : p->kind == ABUT_PATCH_TORUS ? 1 + r
                                                   : 1,
               near = p->kind == ABUT_PATCH_CONE    ? low
                      : p->kind == ABUT_PATCH_TORUS ? 1 - r
                                                    : 1;
        int a = quarter % 2, across = 1 - a;
        double sign = quarter == 0 || quarter == 1 ? 1 : -1;
        lo[across] = -far * root - 1e-15, hi[across] = far * root + 1e-15;
        lo[a] = sign > 0 ? near * root - 1e-15 : -far, hi[a] = sign > 0 ? far : -near * root + 1e-15;
        lo[2] = p->kind == ABUT_PATCH_TORUS ? -r : low, hi[2] = p->kind == ABUT_PATCH_TORUS ? r : high;
        break;
    }
    default:
        lo[0] = lo[1] = low, hi[0] = hi[1] = high;
        lo[2] = p->kind == ABUT_PATCH_SADDLE ? -most : 0;
        hi[2] = p->kind == ABUT_PATCH_PLANE ? 0 : p->kind == ABUT_PATCH_SADDLE ? most : 2 * most;
        break;
    }
    box b = box_empty();
    for (int k = 0; k < 8; k++) {
        double f[3] = {k & 1 ? hi[0] : lo[0], k & 2 ? hi[1] : lo[1], k & 4 ? hi[2] : lo[2]};
        vec3 x = {data[0], data[1], data[2]};
        for (int c = 0; c < 3; c++)
            x = vec3_axpy(x, f[c], vec3_make(data[3 + 3 * c], data[4 + 3 * c], data[5 + 3 * c]));
        b = box_add_point(b, x);
    }
    return b;
}

static box kind_box(const abut_surface *s, const patch *p) {
    const double *data = surface_numbers(s, p->data);
    switch ((abut_patch_kind)p->kind) {
    case ABUT_PATCH_BEZIER: return box_of_points(data, 16, false);
    case ABUT_PATCH_RATIONAL: return box_of_points(data, 16, true);
    case ABUT_PATCH_LOOP: return box_of_points(data, TRIANGLE_POINTS, false);
    case ABUT_PATCH_STAM: return stam_box(data, p->valence);
    case ABUT_PATCH_S_PATCH: return s_patch_box(data, p->sides);
    case ABUT_PATCH_SPLIT: {
        box b = box_empty();
        for (int k = 0; k < 4; k++) b = box_union(b, kind_box(s, surface_patch(s, p->part + k)));
        return b;
    }
    default: return quadric_box(s, p, data);
    }
}

/* A hair wider than the hull, for the rounding of evaluation. */
box patch_box(const abut_surface *s, int index) {
    box b = kind_box(s, surface_patch(s, index));
    return box_grow(b, 1e-14 * (vec3_max_abs(b.lower) + vec3_max_abs(b.upper)));
}

abut_box abut_surface_box(const abut_surface *s, int index) {
    if (index >= 0) return patch_box(s, index);
    box b = box_empty();
    for (int p = 0; p < s->patch_count; p++) b = box_union(b, patch_box(s, p));
    return b;
}

/* ---- the tree */

typedef struct tree_item {
    box bounds;
    double key;
    int32_t patch;
} tree_item;

static int compare_items(const void *user, const void *a, const void *b) {
    (void)user;
    double x = ((const tree_item *)a)->key, y = ((const tree_item *)b)->key;
    return x < y ? -1 : x > y;
}

typedef struct tree_maker {
    const abut_context *context;
    tree_item *items;
    abut_surface_tree *tree;
    int32_t nodes;
} tree_maker;

/* Fills the node of items [from, to) and those below it; leaves hold at most two patches. */
static bool make_node(tree_maker *m, int32_t from, int32_t to) {
    tree_node *node = &m->tree->nodes[m->nodes++];
    *node = (tree_node){.bounds = box_empty(), .first = from, .count = to - from};
    for (int32_t i = from; i < to; i++) node->bounds = box_union(node->bounds, m->items[i].bounds);
    if (to - from <= 2) return true;
    vec3 size = vec3_sub(node->bounds.upper, node->bounds.lower);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    for (int32_t i = from; i < to; i++) m->items[i].key = vec3_at(box_center(m->items[i].bounds), axis);
    if (!sort_stable(m->context, m->items + from, (size_t)(to - from), sizeof *m->items, compare_items, NULL))
        return false;
    int32_t middle = from + (to - from) / 2;
    node->count = 0;
    if (!make_node(m, from, middle)) return false;
    node->first = m->nodes;
    return make_node(m, middle, to);
}

abut_status abut_surface_tree_build(const abut_context *context, const abut_surface *s,
                                    abut_surface_tree **tree, abut_error *error) {
    size_t count = (size_t)s->patch_count, size = tree_size(s->patch_count);
    abut_surface_tree *t = mem_calloc(context, 1, size);
    tree_item *items = mem_alloc(context, count, sizeof *items);
    abut_status status = t && items ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) {
        t->patch_count = s->patch_count, t->size = size;
        for (int p = 0; p < s->patch_count; p++) items[p] = (tree_item){patch_box(s, p), 0, p};
        tree_maker m = {context, items, t, 0};
        if (make_node(&m, 0, s->patch_count)) {
            t->node_count = m.nodes;
            for (int p = 0; p < s->patch_count; p++) tree_order(t)[p] = items[p].patch;
        } else {
            status = fail_memory(error);
        }
    }
    mem_free(context, items, count, sizeof *items);
    if (status == ABUT_OK)
        *tree = t;
    else
        mem_free(context, t, 1, size);
    return status;
}

void abut_surface_tree_free(const abut_context *context, abut_surface_tree *tree) {
    if (tree) mem_free(context, tree, 1, tree->size);
}
