/* All pairs of triangles whose boxes overlap, by a tree of boxes that is compared with itself.
 *
 *   triangles in the order of a space-filling curve (Morton); a tree of quads, each the boxes of four things
 * in float, rounded outward.  O(n log n) for n triangles.
 *
 *     level 2    [ 0 . . . ]                                  box i of quad g on a level is the box of
 *     level 1    [ 0 1 2 3 ]  ...                             quad 4g + i on the level below,
 *     level 0    [ 0 1 2 3 ] [ 4 5 6 7 ] [ 8 9 ...            on level 0 of triangle 4g + i
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

enum { WIDE = 4, LEVELS = 16 };

typedef struct quad {
    float lower[3][WIDE], upper[3][WIDE];
} quad;

typedef struct tree {
    triangle *triangles;
    quad *quads;         /* all levels, one behind the other */
    quad *level[LEVELS]; /* into quads; the last of `levels` has one quad, the root */
    int levels;
    int64_t count;
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

/* As topology_plane has it. */
static double triangle_area(const topology *t, int32_t first) {
    vec3 a = topology_at(t, first);
    vec3 b = vec3_sub(topology_at(t, first + 1), a), c = vec3_sub(topology_at(t, first + 2), a);
    return vec3_length(vec3_cross(b, c)) / 2;
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
        int32_t first = topology_first(t, f);
        if (topology_size(t, f) == 3) {
            if (!face_is_thin(t, f, triangle_area(t, first))) add_triangle(out, round, t->vertex + first, f);
            continue;
        }
        double area;
        plane p = topology_plane(t, f, &area);
        if (!face_is_thin(t, f, area))
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

static void set_box(quad *q, int i, const float lower[3], const float upper[3]) {
    for (int k = 0; k < 3; k++) q->lower[k][i] = lower[k], q->upper[k][i] = upper[k];
}

static void set_triangle(quad *q, int i, const topology *t, const triangle *tri, double scale) {
    vec3 a = t->position[vertex_of(tri->vertex[0])], b = t->position[vertex_of(tri->vertex[1])];
    vec3 c = t->position[vertex_of(tri->vertex[2])];
    vec3 lower = vec3_scale(vec3_min(a, vec3_min(b, c)), scale);
    vec3 upper = vec3_scale(vec3_max(a, vec3_max(b, c)), scale);
    set_box(q, i, (float[3]){below(lower.x), below(lower.y), below(lower.z)},
            (float[3]){above(upper.x), above(upper.y), above(upper.z)});
}

/* The box around the four of `of`. */
static void set_quad(quad *q, int i, const quad *of) {
    float lower[3], upper[3];
    for (int k = 0; k < 3; k++) {
        lower[k] = of->lower[k][0], upper[k] = of->upper[k][0];
        for (int j = 1; j < WIDE; j++) {
            lower[k] = lower[k] < of->lower[k][j] ? lower[k] : of->lower[k][j];
            upper[k] = upper[k] > of->upper[k][j] ? upper[k] : of->upper[k][j];
        }
    }
    set_box(q, i, lower, upper);
}

/* Meets no box, not even itself. */
static void set_empty(quad *q, int i) {
    set_box(q, i, (float[3]){FLT_MAX, FLT_MAX, FLT_MAX}, (float[3]){-FLT_MAX, -FLT_MAX, -FLT_MAX});
}

/* Spreads 10 bits to every third place. */
static uint32_t spread(uint32_t x) {
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

/* The place of the center in the box of all vertices: (a + b + c - 3 lower) / (3 extent), in 1024 steps. */
static uint32_t morton(const topology *t, const triangle *tri, vec3 lower, vec3 scale) {
    vec3 a = t->position[vertex_of(tri->vertex[0])], b = t->position[vertex_of(tri->vertex[1])];
    vec3 c = t->position[vertex_of(tri->vertex[2])];
    vec3 sum = vec3_add(vec3_add(vec3_sub(a, lower), vec3_sub(b, lower)), vec3_sub(c, lower));
    uint32_t code = 0;
    for (int k = 0; k < 3; k++) {
        double x = vec3_at(sum, k) * vec3_at(scale, k);
        code |= spread(!(x > 0) ? 0 : x < 1023 ? (uint32_t)x : 1023) << k;
    }
    return code;
}

static bool sort_along_curve(topology *t, tree *out) {
    scratch *s = &t->memory;
    int64_t n = out->count;
    sort_item *items = scratch_take(s, n, sizeof *items);
    /* first the other side of the sort, then the triangles in order */
    void *spare = scratch_take(s, n, sizeof(triangle));
    if (!items || !spare) return false;
    static_assert(sizeof(triangle) >= sizeof(sort_item), "the spare block must hold both");
    box all = box_empty();
    for (int32_t v = 0; v < t->vertex_count; v++) all = box_add_point(all, t->position[v]);
    vec3 extent = vec3_sub(all.upper, all.lower);
    vec3 scale = {extent.x > 0 ? 1024 / (3 * extent.x) : 0, extent.y > 0 ? 1024 / (3 * extent.y) : 0,
                  extent.z > 0 ? 1024 / (3 * extent.z) : 0};
    for (int64_t i = 0; i < n; i++)
        items[i] = (sort_item){.key = morton(t, &out->triangles[i], all.lower, scale), .value = (int32_t)i};
    sort_items(items, spare, n);
    triangle *sorted = spare;
    for (int64_t i = 0; i < n; i++) sorted[i] = out->triangles[items[i].value];
    scratch_drop(s, items);
    scratch_drop(s, out->triangles);
    out->triangles = sorted;
    return true;
}

static int64_t quads_above(int64_t count) { return (count + WIDE - 1) / WIDE; }

static bool make_tree(topology *t, tree *out) {
    int exponent;
    frexp(t->diagonal, &exponent);
    double scale = ldexp(1, -exponent);
    if (!sort_along_curve(t, out)) return false;
    int64_t total = 0, count = out->count;
    do total += count = quads_above(count);
    while (count > 1);
    out->quads = scratch_take(&t->memory, total, sizeof *out->quads);
    if (!out->quads) return false;
    quad *here = out->level[0] = out->quads;
    for (int64_t i = 0; i < out->count; i++)
        set_triangle(&here[i / WIDE], (int)(i % WIDE), t, &out->triangles[i], scale);
    for (int64_t i = out->count; i % WIDE; i++) set_empty(&here[i / WIDE], (int)(i % WIDE));
    for (out->levels = 1, count = quads_above(out->count); count > 1; count = quads_above(count)) {
        quad *above_here = out->level[out->levels++] = here + count;
        for (int64_t i = 0; i < count; i++) set_quad(&above_here[i / WIDE], (int)(i % WIDE), &here[i]);
        for (int64_t i = count; i % WIDE; i++) set_empty(&above_here[i / WIDE], (int)(i % WIDE));
        here = above_here;
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

/* Bit 4i + j: box i of a meets box j of b. */
#ifdef __SSE2__
/* All four of one row are box i. */
#define ROW(x, i) _mm_shuffle_ps(x, x, _MM_SHUFFLE(i, i, i, i))
#define MET_ON_AXIS(k, i) \
    _mm_and_ps(_mm_cmple_ps(ROW(a_lower[k], i), b_upper[k]), _mm_cmple_ps(b_lower[k], ROW(a_upper[k], i)))
#define MET(i)                                                                            \
    ((unsigned)_mm_movemask_ps(                                                           \
         _mm_and_ps(MET_ON_AXIS(0, i), _mm_and_ps(MET_ON_AXIS(1, i), MET_ON_AXIS(2, i)))) \
     << WIDE * (i))
static unsigned boxes_met(const quad *a, const quad *b) {
    __m128 a_lower[3], a_upper[3], b_lower[3], b_upper[3];
    for (int k = 0; k < 3; k++) {
        a_lower[k] = _mm_loadu_ps(a->lower[k]), a_upper[k] = _mm_loadu_ps(a->upper[k]);
        b_lower[k] = _mm_loadu_ps(b->lower[k]), b_upper[k] = _mm_loadu_ps(b->upper[k]);
    }
    return MET(0) | MET(1) | MET(2) | MET(3);
}
#else
static unsigned boxes_met(const quad *a, const quad *b) {
    unsigned met = 0;
    for (int n = 0; n < WIDE * WIDE; n++) {
        int i = n / WIDE, j = n % WIDE;
        bool all = true;
        for (int k = 0; k < 3; k++)
            all &= (a->lower[k][i] <= b->upper[k][j]) & (b->lower[k][j] <= a->upper[k][i]);
        met |= (unsigned)all << n;
    }
    return met;
}
#endif
/* Of a quad with itself: j > i, and j >= i. */
enum { ABOVE_DIAGONAL = 0x08ce, FROM_DIAGONAL = 0x8cef };

/* They are parts of one face, or share a vertex whose faces are known not to meet. */
#ifdef __SSE2__
static bool known_fine(const triangle *a, const triangle *b) {
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
    __m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);
    /* the vertices of b against those of a in all three turns; the face stays in its place */
    __m128i same = _mm_cmpeq_epi32(x, y);
    same = _mm_or_si128(same, _mm_cmpeq_epi32(x, _mm_shuffle_epi32(y, _MM_SHUFFLE(3, 0, 2, 1))));
    same = _mm_or_si128(same, _mm_cmpeq_epi32(x, _mm_shuffle_epi32(y, _MM_SHUFFLE(3, 1, 0, 2))));
    same = _mm_andnot_si128(x, same); /* sign bits: equal and not negative */
    return _mm_movemask_ps(_mm_castsi128_ps(same)) != 0;
}
#else
static bool known_fine(const triangle *a, const triangle *b) {
    bool shared = a->face == b->face;
    for (int k = 0; k < 3; k++)
        shared |= (a->vertex[k] >= 0) & ((a->vertex[k] == b->vertex[0]) | (a->vertex[k] == b->vertex[1]) |
                                         (a->vertex[k] == b->vertex[2]));
    return shared;
}
#endif

static void test_pair(search *s, const triangle *a, const triangle *b) {
    if (known_fine(a, b)) return;
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

static void test_triangles(search *s, int32_t a, int32_t b) {
    const quad *p = &s->tree->level[0][a], *q = &s->tree->level[0][b];
    const triangle *first = &s->tree->triangles[WIDE * (int64_t)a];
    const triangle *second = &s->tree->triangles[WIDE * (int64_t)b];
    unsigned met = boxes_met(p, q) & (a == b ? ABOVE_DIAGONAL : ~0u);
    for (; met; met &= met - 1) {
        int n = __builtin_ctz(met);
        test_pair(s, first + n / WIDE, second + n % WIDE);
    }
}

/* Pairs of quads of one level, from the root down; at most 15 stay open on each level. */
static void descend(search *s) {
    struct {
        int32_t level, a, b;
    } stack[WIDE * WIDE * LEVELS];
    int depth = 0;
    stack[depth].level = s->tree->levels - 1, stack[depth].a = stack[depth].b = 0, depth++;
    while (depth > 0 && s->found->count < s->most && !s->out_of_memory) {
        depth--;
        int32_t level = stack[depth].level, a = stack[depth].a, b = stack[depth].b;
        if (level == 0) {
            test_triangles(s, a, b);
            continue;
        }
        const quad *p = &s->tree->level[level][a], *q = &s->tree->level[level][b];
        unsigned met = boxes_met(p, q) & (a == b ? FROM_DIAGONAL : ~0u);
        for (; met; met &= met - 1, depth++) {
            int n = __builtin_ctz(met);
            stack[depth].level = level - 1;
            stack[depth].a = WIDE * a + n / WIDE, stack[depth].b = WIDE * b + n % WIDE;
        }
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
    scratch_drop(&t->memory, boxes.quads);
    if (s.out_of_memory ||
        !sort_stable(t->context, found->data, (size_t)found->count, sizeof *found->data, by_numbers, NULL))
        return fail_memory(error);
    return ABUT_OK;
}
