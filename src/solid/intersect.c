/* All pairs of triangles whose boxes overlap, by a tree of boxes that is compared with itself.
 *
 *   triangles in the order of a space-filling curve (Morton), four to a leaf; a complete binary tree over the
 *   leaves, node k above 2k and 2k + 1, boxes in float, rounded outward.  O(n log n) for n triangles.
 */
#include "solid/intersect.h"

#include "solid/planes.h"
#include "solid/triangulate.h"

#include <float.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* A vertex v is written as ~v unless the faces around it are known not to meet (intersect_round_vertices):
 * then equal non-negative numbers in two triangles say at once that they are fine. */
typedef struct triangle {
    int32_t vertex[3], face;
} triangle;
static int32_t vertex_of(int32_t written) { return written < 0 ? ~written : written; }

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

/* Polygons that run to and fro leave triangles of two vertices, which cover nothing. */
static void add_triangle(tree *out, const bool *round, const int32_t *corners, int32_t face) {
    if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0]) return;
    triangle *here = &out->triangles[out->count++];
    for (int k = 0; k < 3; k++) here->vertex[k] = round[corners[k]] ? corners[k] : ~corners[k];
    here->face = face;
}

static abut_status add_polygon(topology *t, tree *out, const bool *round, int32_t face, plane p, double area,
                               int_array *scratch_corners, face_pairs *found, abut_error *error) {
    int32_t first = topology_first(t, face), count = topology_size(t, face) - 2;
    if (!array_reserve(t->context, scratch_corners, 3 * (int64_t)count)) return fail_memory(error);
    int32_t *corners = scratch_corners->data;
    if (!triangulate_polygon(t->context, t->position, t->vertex + first, count + 2, p.n, corners))
        return fail_memory(error);
    for (int32_t i = 0; i < count; i++) add_triangle(out, round, corners + 3 * i, face);
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
    bool *round = scratch_take(&t->memory, t->vertex_count, sizeof *round);
    if (!out->triangles || !round || !intersect_round_vertices(t, round)) return fail_memory(error);
    for (int32_t f = 0; f < t->face_count && !status; f++) {
        double area;
        plane p = topology_plane(t, f, &area);
        if (face_is_thin(t, f, area)) continue;
        if (topology_size(t, f) == 3)
            add_triangle(out, round, t->vertex + topology_first(t, f), f);
        else
            status = add_polygon(t, out, round, f, p, area, &corners, found, error);
    }
    array_free(t->context, &corners);
    scratch_drop(&t->memory, round);
    return status;
}

/* ---- tree */

/* Float interval around x; x is at most a few units in size. */
static float below(double x) { return (float)x - fabsf((float)x) * FLT_EPSILON - FLT_MIN; }
static float above(double x) { return (float)x + fabsf((float)x) * FLT_EPSILON + FLT_MIN; }

static float_box triangle_box(const topology *t, const triangle *tri, double scale) {
    vec3 a = t->position[vertex_of(tri->vertex[0])], b = t->position[vertex_of(tri->vertex[1])];
    vec3 c = t->position[vertex_of(tri->vertex[2])];
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
        a->lower[k] = a->lower[k] < b->lower[k] ? a->lower[k] : b->lower[k];
        a->upper[k] = a->upper[k] > b->upper[k] ? a->upper[k] : b->upper[k];
    }
}
/* Without branches: about half of all answers are yes. */
#ifdef __SSE2__
static __m128 box_lower(const float_box *b) { return _mm_loadu_ps((const float *)(const void *)b); }
static __m128 box_upper(const float_box *b) { /* lower[2], upper[0], upper[1], upper[2], turned */
    __m128 x = _mm_loadu_ps((const float *)(const void *)b + 2);
    return _mm_shuffle_ps(x, x, _MM_SHUFFLE(3, 3, 2, 1));
}
static bool boxes_meet(const float_box *a, const float_box *b) {
    __m128 x = _mm_cmple_ps(box_lower(a), box_upper(b)), y = _mm_cmple_ps(box_lower(b), box_upper(a));
    return (_mm_movemask_ps(_mm_and_ps(x, y)) & 7) == 7;
}
#else
static bool boxes_meet(const float_box *a, const float_box *b) {
    return (a->lower[0] <= b->upper[0]) & (b->lower[0] <= a->upper[0]) & (a->lower[1] <= b->upper[1]) &
           (b->lower[1] <= a->upper[1]) & (a->lower[2] <= b->upper[2]) & (b->lower[2] <= a->upper[2]);
}
#endif
static const float_box empty_box = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};

/* Triangles and their boxes in the order of the curve. */
static bool sort_along_curve(topology *t, tree *out, double scale) {
    scratch *s = &t->memory;
    int64_t n = out->count;
    sort_item *items = scratch_take(s, n, sizeof *items), *other = scratch_take(s, n, sizeof *other);
    float_box *boxes = scratch_take(s, n, sizeof *boxes), all = empty_box;
    if (!items || !other || !boxes) return false;
    for (int64_t i = 0; i < n; i++) {
        boxes[i] = triangle_box(t, &out->triangles[i], scale);
        box_include(&all, &boxes[i]);
    }
    for (int64_t i = 0; i < n; i++)
        items[i] = (sort_item){.key = morton(&boxes[i], &all), .value = (int32_t)i};
    sort_items(items, other, n);
    scratch_drop(s, other);
    triangle *sorted = scratch_take(s, n, sizeof *sorted);
    out->boxes = scratch_take(s, n, sizeof *out->boxes);
    if (!sorted || !out->boxes) return false;
    for (int64_t i = 0; i < n; i++) {
        sorted[i] = out->triangles[items[i].value];
        out->boxes[i] = boxes[items[i].value];
    }
    scratch_drop(s, items);
    scratch_drop(s, boxes);
    scratch_drop(s, out->triangles);
    out->triangles = sorted;
    return true;
}

static bool make_tree(topology *t, tree *out) {
    int exponent;
    frexp(t->diagonal, &exponent);
    if (!sort_along_curve(t, out, ldexp(1, -exponent))) return false;
    out->leaves = 1;
    while (out->leaves * LEAF < out->count) out->leaves *= 2;
    out->nodes = scratch_take(&t->memory, 2 * out->leaves, sizeof *out->nodes);
    if (!out->nodes) return false;
    for (int64_t i = 0; i < 2 * out->leaves; i++) out->nodes[i] = empty_box;
    for (int64_t i = 0; i < out->count; i++) box_include(&out->nodes[out->leaves + i / LEAF], &out->boxes[i]);
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

/* They share a vertex whose faces are known not to meet. */
static bool share_round(const triangle *a, const triangle *b) {
    bool shared = false;
    for (int k = 0; k < 3; k++)
        shared |= (a->vertex[k] >= 0) & ((a->vertex[k] == b->vertex[0]) | (a->vertex[k] == b->vertex[1]) |
                                         (a->vertex[k] == b->vertex[2]));
    return shared;
}

static void test_pair(search *s, const triangle *a, const triangle *b) {
    if (a->face == b->face || share_round(a, b)) return;
    bool same_plane = s->plane_of && s->plane_of[a->face] == s->plane_of[b->face];
    int32_t p[3], q[3];
    for (int k = 0; k < 3; k++) p[k] = vertex_of(a->vertex[k]), q[k] = vertex_of(b->vertex[k]);
    if (!intersect_triangles(s->t->position, p, q, same_plane)) return;
    int32_t lower = a->face < b->face ? a->face : b->face, upper = a->face < b->face ? b->face : a->face;
    int32_t *slot = map64_put(s->t->context, &s->seen, (uint64_t)lower << 32 | (uint32_t)upper, 0);
    if (!slot) s->out_of_memory = true;
    if (!slot || (*slot)++ > 0) return;
    vec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; k++) sum = vec3_add(sum, vec3_add(s->t->position[p[k]], s->t->position[q[k]]));
    face_pair pair = {{lower, upper}, vec3_scale(sum, 1.0 / 6)};
    if (!array_push(s->t->context, s->found, pair)) s->out_of_memory = true;
}

static void test_leaves(search *s, int64_t a, int64_t b) {
    int64_t first_a = (a - s->tree->leaves) * LEAF, first_b = (b - s->tree->leaves) * LEAF;
    int64_t end_a = first_a + LEAF < s->tree->count ? first_a + LEAF : s->tree->count;
    int64_t end_b = first_b + LEAF < s->tree->count ? first_b + LEAF : s->tree->count;
    for (int64_t i = first_a; i < end_a; i++) {
        if (!boxes_meet(&s->tree->boxes[i], &s->tree->nodes[b])) continue;
        for (int64_t j = a == b ? i + 1 : first_b; j < end_b; j++)
            if (boxes_meet(&s->tree->boxes[i], &s->tree->boxes[j]))
                test_pair(s, &s->tree->triangles[i], &s->tree->triangles[j]);
    }
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
