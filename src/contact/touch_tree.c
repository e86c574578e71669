/* Building the tree of pieces: binned surface-area splits (the cost of a node is its area), with explicit
 * bounds on depth; then a box for each node, along the principal axes of its corners where that is smaller
 * than the one along the coordinate axes.  The piece nearest to a point. */
#include "contact/touch_tree.h"

#include "math/eigen.h"

enum { BINS = 12, SAH_DEPTH = 40, DEPTH = 80 /* below SAH_DEPTH halves: 2^31 pieces need 31 more levels */ };

typedef struct builder {
    touch_tree *tree;
    const box *boxes;
    int32_t *order, *scratch;
    int32_t node_count;
} builder;

/* ---- splitting */

static double area_of(box b) {
    vec3 e = vec3_sub(b.upper, b.lower);
    return e.x * e.y + e.y * e.z + e.z * e.x;
}

static int bin_of(double x, double low, double high) {
    int k = (int)(BINS * (x - low) / (high - low));
    return k < 0 ? 0 : k >= BINS ? BINS - 1 : k;
}

/* The cheapest of the cuts between bins of one axis: sum of area x count on both sides. */
static double best_cut(const builder *b, int32_t first, int32_t count, int axis, double low, double high,
                       int *cut) {
    box bounds[BINS], left = box_empty();
    int32_t many[BINS] = {0}, before = 0;
    double below[BINS], best = INFINITY;
    for (int k = 0; k < BINS; k++) bounds[k] = box_empty();
    for (int32_t i = first; i < first + count; i++) {
        const box *one = &b->boxes[b->order[i]];
        int k = bin_of(vec3_at(box_center(*one), axis), low, high);
        bounds[k] = box_union(bounds[k], *one), many[k]++;
    }
    for (int k = 0; k < BINS - 1; k++) {
        left = box_union(left, bounds[k]), before += many[k];
        below[k] = before ? area_of(left) * before : INFINITY;
    }
    box right = box_empty();
    int32_t behind = 0;
    for (int k = BINS - 1; k > 0; k--) {
        right = box_union(right, bounds[k]), behind += many[k];
        double cost = behind ? area_of(right) * behind + below[k - 1] : INFINITY;
        if (cost < best) best = cost, *cut = k;
    }
    return best;
}

/* Reorders order[first ...], stably; returns how many go left, 0 where no cut separates the centres. */
static int32_t split(builder *b, int32_t first, int32_t count) {
    box centers = box_empty();
    for (int32_t i = first; i < first + count; i++)
        centers = box_add_point(centers, box_center(b->boxes[b->order[i]]));
    double best = INFINITY;
    int axis = -1, cut = 0;
    for (int k = 0; k < 3; k++) {
        double low = vec3_at(centers.lower, k), high = vec3_at(centers.upper, k);
        int at = 0;
        double cost = high > low ? best_cut(b, first, count, k, low, high, &at) : INFINITY;
        if (cost < best) best = cost, axis = k, cut = at;
    }
    if (axis < 0) return 0;
    double low = vec3_at(centers.lower, axis), high = vec3_at(centers.upper, axis);
    int32_t left = 0, right = 0;
    for (int32_t i = first; i < first + count; i++) {
        int32_t item = b->order[i];
        if (bin_of(vec3_at(box_center(b->boxes[item]), axis), low, high) < cut)
            b->order[first + left++] = item;
        else
            b->scratch[right++] = item;
    }
    memcpy(b->order + first + left, b->scratch, (size_t)right * sizeof *b->scratch);
    return left;
}

static void build_node(builder *b, int32_t first, int32_t count, int depth) {
    int32_t self = b->node_count++;
    b->tree->nodes[self] = (touch_node){.right = ~first};
    if (count == 1) return;
    int32_t left = depth < SAH_DEPTH ? split(b, first, count) : 0;
    if (left == 0) left = count / 2;
    build_node(b, first, left, depth + 1);
    b->tree->nodes[self].right = b->node_count;
    build_node(b, first + left, count - left, depth + 1);
}

/* ---- pieces */

/* The edge of face f from vertex u to v, -1 where the side is inside the face. */
static int32_t edge_between(const abut_solid *s, int32_t f, int32_t u, int32_t v) {
    const solid_coedge *coedges = solid_coedges(s);
    int32_t first = solid_vertices(s)[u].coedge, c = first;
    for (int32_t budget = 2 * solid_vertices(s)[u].valence + 8; budget > 0; budget--) {
        if (coedges[c].face == f && coedges[coedges[c].next].vertex == v) return coedges[c].edge;
        c = solid_twin(s, coedges[c].prev);
        if (c == first) break;
    }
    return -1;
}

static void fill_piece(touch_tree *t, const abut_solid *s, const abut_index *index, int32_t f, int32_t p,
                       touch_piece *out, int32_t *used) {
    const int32_t *v = index_corners(index) + index_piece_corners(index)[p];
    plane on = solid_faces(s)[f].plane;
    *out = (touch_piece){
        .plane = {on.n, on.d - vec3_dot(on.n, t->center)}, .first = *used, .face = f, .piece = p};
    out->count = index_piece_corners(index)[p + 1] - index_piece_corners(index)[p];
    for (int32_t k = 0; k < out->count; k++) {
        int32_t next = k + 1 < out->count ? k + 1 : 0;
        vec3 x = solid_position(s, v[k]), along = vec3_sub(solid_position(s, v[next]), x);
        t->corners[(*used)++] = (touch_corner){.at = vec3_sub(x, t->center),
                                               .side = vec3_unit(vec3_cross(along, on.n)),
                                               .vertex = v[k],
                                               .edge = edge_between(s, f, v[k], v[next])};
    }
    if (out->count > t->most) t->most = out->count;
}

static void fill(builder *b, const abut_solid *s, const abut_index *index, const int32_t *face_of) {
    touch_tree *t = b->tree;
    int32_t used = 0;
    for (int32_t i = 0; i < t->piece_count; i++)
        fill_piece(t, s, index, face_of[b->order[i]], b->order[i], &t->pieces[i], &used);
    for (int32_t c = 0; c < used; c++) t->radius = fmax(t->radius, vec3_length(t->corners[c].at));
}

/* ---- boxes */

/* The box along the axes around the corners; rounding of floats is added to the half sizes. */
static double fit_axes(const touch_tree *t, int32_t first, int32_t end, mat3 axes, touch_node *n) {
    box b = box_empty();
    for (int32_t c = first; c < end; c++) b = box_add_point(b, mat3_tmul_vec(axes, t->corners[c].at));
    vec3 half = vec3_scale(vec3_sub(b.upper, b.lower), 0.5), center = mat3_mul_vec(axes, box_center(b));
    const vec3 rows[3] = {{axes.cx.x, axes.cy.x, axes.cz.x},
                          {axes.cx.y, axes.cy.y, axes.cz.y},
                          {axes.cx.z, axes.cy.z, axes.cz.z}};
    float slack = (float)(8 * 0x1p-24 * t->radius);
    for (int k = 0; k < 3; k++) {
        n->half[k] = (float)vec3_at(half, k) + slack, n->center[k] = (float)vec3_at(center, k);
        for (int i = 0; i < 3; i++) n->axes[k][i] = (float)vec3_at(rows[k], i);
    }
    return half.x * half.y + half.y * half.z + half.z * half.x;
}

static mat3 principal_axes(const touch_tree *t, int32_t first, int32_t end) {
    vec3 sum = {0, 0, 0}, values;
    for (int32_t c = first; c < end; c++) sum = vec3_add(sum, t->corners[c].at);
    vec3 mean = vec3_scale(sum, 1.0 / (end - first));
    mat3 m = mat3_diagonal(0, 0, 0), axes;
    for (int32_t c = first; c < end; c++) {
        vec3 d = vec3_sub(t->corners[c].at, mean);
        m = mat3_add(m, mat3_outer(d, d));
    }
    sym3_eigen(m, &values, &axes);
    return axes;
}

/* The number of the first piece below a node. */
static int32_t first_piece(const touch_tree *t, int32_t node) {
    while (t->nodes[node].right >= 0) node++;
    return ~t->nodes[node].right;
}

/* Node `self` has the pieces up to `end`. */
static void fit_node(touch_tree *t, int32_t self, int32_t end) {
    touch_node *n = &t->nodes[self], straight = *n;
    int32_t first = t->pieces[first_piece(t, self)].first;
    int32_t last = end < t->piece_count ? t->pieces[end].first : t->corner_count;
    double turned = fit_axes(t, first, last, principal_axes(t, first, last), n);
    if (fit_axes(t, first, last, mat3_identity(), &straight) <= turned) *n = straight;
    if (n->right < 0) return;
    fit_node(t, self + 1, first_piece(t, n->right));
    fit_node(t, n->right, end);
}

bool touch_tree_build(const abut_context *context, const abut_solid *s, const abut_index *index,
                      touch_tree *t) {
    const int32_t *start = index_piece_corners(index), *first = index_face_pieces(index);
    size_t count = (size_t)index->piece_count;
    *t = (touch_tree){.piece_count = (int32_t)count, .corner_count = start[count]};
    t->nodes = mem_alloc(context, 2 * count, sizeof *t->nodes);
    t->pieces = mem_alloc(context, count, sizeof *t->pieces);
    t->corners = mem_alloc(context, (size_t)t->corner_count, sizeof *t->corners);
    box *boxes = mem_alloc(context, count, sizeof *boxes);
    int32_t *order = mem_alloc(context, 3 * count, sizeof *order);
    bool good = t->nodes && t->pieces && t->corners && boxes && order;
    if (good) {
        t->center = box_center(index->bounds);
        for (int32_t f = 0; f < s->face_count; f++)
            for (int32_t p = first[f]; p < first[f + 1]; p++) {
                order[p] = p, order[2 * count + (size_t)p] = f;
                boxes[p] = box_empty();
                for (int32_t c = start[p]; c < start[p + 1]; c++)
                    boxes[p] = box_add_point(boxes[p],
                                             vec3_sub(solid_position(s, index_corners(index)[c]), t->center));
            }
        builder b = {.tree = t, .boxes = boxes, .order = order, .scratch = order + count};
        build_node(&b, 0, (int32_t)count, 0);
        fill(&b, s, index, order + 2 * count);
        fit_node(t, 0, t->piece_count);
    }
    mem_free(context, boxes, count, sizeof *boxes);
    mem_free(context, order, 3 * count, sizeof *order);
    if (!good) touch_tree_free(context, t);
    return good;
}

void touch_tree_free(const abut_context *context, touch_tree *t) {
    mem_free(context, t->nodes, 2 * (size_t)t->piece_count, sizeof *t->nodes);
    mem_free(context, t->pieces, (size_t)t->piece_count, sizeof *t->pieces);
    mem_free(context, t->corners, (size_t)t->corner_count, sizeof *t->corners);
    *t = (touch_tree){0};
}

/* ---- two trees */

static touch_lanes lanes(vec3 v) { return (touch_lanes){(float)v.x, (float)v.y, (float)v.z, 0}; }

touch_placing touch_place(const touch_tree *a, const touch_tree *b, pose b_in_a) {
    touch_placing p = {.turn = quat_matrix(b_in_a.rotation), .shift = b_in_a.position};
    const vec3 columns[3] = {p.turn.cx, p.turn.cy, p.turn.cz};
    for (int k = 0; k < 3; k++) {
        p.columns[k] = lanes(columns[k]);
        for (int j = 0; j < 3; j++) p.rows[j][k] = (float)vec3_at(columns[k], j);
    }
    p.shift_lanes = lanes(p.shift);
    /* some forty float operations on numbers no larger than this */
    p.rounding = 40 * 0x1p-24 * (vec3_length(p.shift) + 2 * a->radius + 2 * b->radius);
    return p;
}

/* ---- the nearest piece */

static double piece_distance(const touch_tree *t, const touch_piece *p, vec3 x) {
    const touch_corner *c = t->corners + p->first;
    double best = INFINITY;
    bool inside = true;
    for (int32_t k = 0; k < p->count; k++) {
        vec3 from = vec3_sub(x, c[k].at);
        if (vec3_dot(c[k].side, from) <= 0) continue;
        inside = false;
        vec3 along = vec3_sub(c[k + 1 < p->count ? k + 1 : 0].at, c[k].at);
        double s = vec3_dot(from, along) / vec3_length2(along);
        s = !(s > 0) ? 0 : s > 1 ? 1 : s;
        best = fmin(best, vec3_length(vec3_axpy(from, -s, along)));
    }
    return inside ? fabs(plane_distance(p->plane, x)) : best;
}

static double box_distance(const touch_node *n, vec3 x) {
    vec3 d = {x.x - (double)n->center[0], x.y - (double)n->center[1], x.z - (double)n->center[2]};
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        vec3 axis = {(double)n->axes[0][k], (double)n->axes[1][k], (double)n->axes[2][k]};
        double out = fabs(vec3_dot(axis, d)) * (1 - 1e-6) - (double)n->half[k];
        sum += out > 0 ? out * out : 0;
    }
    return sqrt(sum) * (1 - 1e-6);
}

double touch_tree_distance(const touch_tree *t, vec3 x) {
    int32_t stack[DEPTH], depth = 0;
    double best = INFINITY;
    stack[depth++] = 0;
    while (depth) {
        int32_t i = stack[--depth];
        if (box_distance(&t->nodes[i], x) >= best) continue;
        int32_t right = t->nodes[i].right;
        if (right < 0) {
            best = fmin(best, piece_distance(t, &t->pieces[~right], x));
            continue;
        }
        bool near = box_distance(&t->nodes[i + 1], x) <= box_distance(&t->nodes[right], x);
        stack[depth++] = near ? right : i + 1;
        stack[depth++] = near ? i + 1 : right;
    }
    return best;
}
