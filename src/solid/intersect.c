/* All pairs of triangles whose boxes overlap, by a tree of boxes that is compared with itself.
 *
 *   triangles in the order of a space-filling curve (Morton), four to a leaf; a complete binary tree over the
 *   leaves, node k above 2k and 2k + 1, boxes in float, rounded outward.  O(n log n) for n triangles.
 */
#include "solid/intersect.h"

#include "solid/planes.h"
#include "solid/triangulate.h"

#include <float.h>

typedef struct triangle {
    int32_t vertex[3], face;
} triangle;

typedef struct float_box {
    float lower[3], upper[3];
} float_box;

enum { LEAF = 4 };

typedef struct tree {
    triangle *triangles;
    float_box *boxes; /* of the triangles */
    float_box *nodes; /* 1 is the root; leaves at [leaves, 2 leaves) */
    int64_t count, leaves;
} tree;

/* ---- triangles */

/* Polygons whose triangles cover more than their area cross themselves. */
static bool crosses_itself(const topology *t, const int32_t *corners, int32_t count, vec3 n, double area) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        vec3 a = t->position[corners[3 * i]];
        vec3 b = vec3_sub(t->position[corners[3 * i + 1]], a),
             c = vec3_sub(t->position[corners[3 * i + 2]], a);
        sum += fabs(vec3_triple(n, b, c)) / 2;
    }
    return sum > area * (1 + 1e-6);
}

static abut_status add_polygon(topology *t, tree *out, int32_t face, plane p, double area,
                               int_array *scratch_corners, face_pairs *found, abut_error *error) {
    int32_t first = topology_first(t, face), count = topology_size(t, face) - 2;
    if (!array_reserve(t->context, scratch_corners, 3 * (int64_t)count)) return fail_memory(error);
    int32_t *corners = scratch_corners->data;
    if (!triangulate_polygon(t->context, t->position, t->vertex + first, count + 2, p.n, corners))
        return fail_memory(error);
    for (int32_t i = 0; i < count; i++) {
        triangle *here = &out->triangles[out->count++];
        for (int k = 0; k < 3; k++) here->vertex[k] = corners[3 * i + k];
        here->face = face;
    }
    face_pair self = {{face, face}, topology_at(t, first)};
    if (count > 1 && crosses_itself(t, corners, count, p.n, area) && !array_push(t->context, found, self))
        return fail_memory(error);
    return ABUT_OK;
}

static abut_status make_triangles(topology *t, tree *out, face_pairs *found, abut_error *error) {
    int64_t most = (int64_t)t->corner_count - 2 * (int64_t)t->face_count;
    int_array corners = {0};
    abut_status status = ABUT_OK;
    out->triangles = scratch_take(&t->memory, most, sizeof *out->triangles);
    if (!out->triangles) return fail_memory(error);
    for (int32_t f = 0; f < t->face_count && !status; f++) {
        double area;
        plane p = topology_plane(t, f, &area);
        if (face_width(t, f, area) <= t->weld) continue;
        status = add_polygon(t, out, f, p, area, &corners, found, error);
    }
    array_free(t->context, &corners);
    return status;
}

/* ---- tree */

/* Float interval around x; x is at most a few units in size. */
static float below(double x) { return (float)x - fabsf((float)x) * FLT_EPSILON - FLT_MIN; }
static float above(double x) { return (float)x + fabsf((float)x) * FLT_EPSILON + FLT_MIN; }

static float_box triangle_box(const topology *t, const triangle *tri, double scale) {
    vec3 a = t->position[tri->vertex[0]], b = t->position[tri->vertex[1]], c = t->position[tri->vertex[2]];
    vec3 lower = vec3_scale(vec3_min(a, vec3_min(b, c)), scale);
    vec3 upper = vec3_scale(vec3_max(a, vec3_max(b, c)), scale);
    return (float_box){{below(lower.x), below(lower.y), below(lower.z)},
                       {above(upper.x), above(upper.y), above(upper.z)}};
}

/* Spreads 10 bits to every third place. */
static uint32_t spread(uint32_t x) {
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

static uint32_t morton(const float_box *b, const float_box *all) {
    uint32_t code = 0;
    for (int k = 0; k < 3; k++) {
        float extent = all->upper[k] - all->lower[k];
        float x = ((b->lower[k] + b->upper[k]) / 2 - all->lower[k]) / (extent > 0 ? extent : 1) * 1023;
        code |= spread((uint32_t)fminf(fmaxf(x, 0), 1023)) << k;
    }
    return code;
}

static void box_include(float_box *a, const float_box *b) {
    for (int k = 0; k < 3; k++) {
        a->lower[k] = fminf(a->lower[k], b->lower[k]);
        a->upper[k] = fmaxf(a->upper[k], b->upper[k]);
    }
}
static bool boxes_meet(const float_box *a, const float_box *b) {
    return a->lower[0] <= b->upper[0] && b->lower[0] <= a->upper[0] && a->lower[1] <= b->upper[1] &&
           b->lower[1] <= a->upper[1] && a->lower[2] <= b->upper[2] && b->lower[2] <= a->upper[2];
}
static const float_box empty_box = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};

/* Radix sort of the triangles along the curve, stable. */
static bool sort_along_curve(topology *t, tree *out, double scale) {
    enum { BITS = 10, BUCKETS = 1 << BITS };
    scratch *s = &t->memory;
    uint32_t *code = scratch_take(s, out->count, sizeof *code);
    int32_t *order = scratch_take(s, out->count, sizeof *order),
            *other = scratch_take(s, out->count, sizeof *other);
    triangle *sorted = scratch_take(s, out->count, sizeof *sorted);
    float_box all = empty_box;
    if (!code || !order || !other || !sorted) return false;
    for (int64_t i = 0; i < out->count; i++) {
        float_box b = triangle_box(t, &out->triangles[i], scale);
        box_include(&all, &b);
    }
    for (int64_t i = 0; i < out->count; i++) {
        float_box b = triangle_box(t, &out->triangles[i], scale);
        code[i] = morton(&b, &all), order[i] = (int32_t)i;
    }
    for (int shift = 0; shift < 30; shift += BITS) {
        int32_t start[BUCKETS + 1] = {0};
        for (int64_t i = 0; i < out->count; i++) start[(code[i] >> shift & (BUCKETS - 1)) + 1]++;
        for (int b = 0; b < BUCKETS; b++) start[b + 1] += start[b];
        for (int64_t i = 0; i < out->count; i++)
            other[start[code[order[i]] >> shift & (BUCKETS - 1)]++] = order[i];
        int32_t *swap = order;
        order = other, other = swap;
    }
    for (int64_t i = 0; i < out->count; i++) sorted[i] = out->triangles[order[i]];
    void *done[] = {code, order, other, out->triangles};
    for (int i = 0; i < COUNT_OF(done); i++) scratch_drop(s, done[i]);
    out->triangles = sorted;
    return true;
}

static bool make_tree(topology *t, tree *out) {
    int exponent;
    frexp(t->diagonal, &exponent);
    double scale = ldexp(1, -exponent);
    if (!sort_along_curve(t, out, scale)) return false;
    out->leaves = 1;
    while (out->leaves * LEAF < out->count) out->leaves *= 2;
    out->boxes = scratch_take(&t->memory, out->count, sizeof *out->boxes);
    out->nodes = scratch_take(&t->memory, 2 * out->leaves, sizeof *out->nodes);
    if (!out->boxes || !out->nodes) return false;
    for (int64_t i = 0; i < 2 * out->leaves; i++) out->nodes[i] = empty_box;
    for (int64_t i = 0; i < out->count; i++) {
        out->boxes[i] = triangle_box(t, &out->triangles[i], scale);
        box_include(&out->nodes[out->leaves + i / LEAF], &out->boxes[i]);
    }
    for (int64_t i = out->leaves - 1; i > 0; i--) {
        box_include(&out->nodes[i], &out->nodes[2 * i]);
        box_include(&out->nodes[i], &out->nodes[2 * i + 1]);
    }
    return true;
}

/* ---- pairs */

typedef struct search {
    topology *t;
    const tree *tree;
    const int32_t *plane_of;
    map64 seen; /* pairs of polygons that were found already */
    face_pairs *found;
    int64_t most;
    bool out_of_memory;
} search;

static void test_pair(search *s, int64_t i, int64_t j) {
    const triangle *a = &s->tree->triangles[i], *b = &s->tree->triangles[j];
    if (a->face == b->face || !boxes_meet(&s->tree->boxes[i], &s->tree->boxes[j])) return;
    bool same_plane = s->plane_of && s->plane_of[a->face] == s->plane_of[b->face];
    if (!intersect_triangles(s->t->position, a->vertex, b->vertex, same_plane)) return;
    int32_t lower = a->face < b->face ? a->face : b->face, upper = a->face < b->face ? b->face : a->face;
    int32_t *slot = map64_put(s->t->context, &s->seen, (uint64_t)lower << 32 | (uint32_t)upper, 0);
    if (!slot) s->out_of_memory = true;
    if (!slot || (*slot)++ > 0) return;
    vec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        sum = vec3_add(sum, vec3_add(s->t->position[a->vertex[k]], s->t->position[b->vertex[k]]));
    face_pair pair = {{lower, upper}, vec3_scale(sum, 1.0 / 6)};
    if (!array_push(s->t->context, s->found, pair)) s->out_of_memory = true;
}

static void test_leaves(search *s, int64_t a, int64_t b) {
    int64_t first_a = (a - s->tree->leaves) * LEAF, first_b = (b - s->tree->leaves) * LEAF;
    int64_t end_a = first_a + LEAF < s->tree->count ? first_a + LEAF : s->tree->count;
    int64_t end_b = first_b + LEAF < s->tree->count ? first_b + LEAF : s->tree->count;
    for (int64_t i = first_a; i < end_a; i++)
        for (int64_t j = a == b ? i + 1 : first_b; j < end_b; j++) test_pair(s, i, j);
}

/* Pairs of nodes on the same level, from the root down; at most three stay open on each level. */
static void descend(search *s) {
    struct {
        int64_t a, b;
    } stack[256];
    int depth = 0;
    stack[depth].a = stack[depth].b = 1, depth++;
    while (depth > 0 && s->found->count < s->most && !s->out_of_memory) {
        depth--;
        int64_t a = stack[depth].a, b = stack[depth].b;
        if (!boxes_meet(&s->tree->nodes[a], &s->tree->nodes[b])) continue;
        if (a >= s->tree->leaves) {
            test_leaves(s, a, b);
            continue;
        }
        for (int i = 1; i >= 0; i--)
            for (int j = 1; j >= (a == b ? i : 0); j--)
                stack[depth].a = 2 * a + i, stack[depth++].b = 2 * b + j;
    }
}

static int by_numbers(const void *user, const void *x, const void *y) {
    const face_pair *a = x, *b = y;
    (void)user;
    int k = a->face[0] == b->face[0];
    return a->face[k] < b->face[k] ? -1 : a->face[k] > b->face[k];
}

abut_status intersect_faces(topology *t, const int32_t *plane_of, int64_t most, face_pairs *found,
                            abut_error *error) {
    tree boxes = {0};
    abut_status status = make_triangles(t, &boxes, found, error);
    if (status || boxes.count == 0) return status;
    if (!make_tree(t, &boxes)) return fail_memory(error);
    search s = {.t = t, .tree = &boxes, .plane_of = plane_of, .found = found, .most = most};
    descend(&s);
    map64_free(t->context, &s.seen);
    scratch_drop(&t->memory, boxes.triangles);
    scratch_drop(&t->memory, boxes.boxes);
    scratch_drop(&t->memory, boxes.nodes);
    if (s.out_of_memory ||
        !sort_stable(t->context, found->data, (size_t)found->count, sizeof *found->data, by_numbers, NULL))
        return fail_memory(error);
    return ABUT_OK;
}
