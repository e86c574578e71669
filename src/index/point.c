/* Point classification (Vanecek 1990, section 2.4; ROBUSTNESS point 11).
 *
 * The paper sends a point within epsilon of a cut plane to On(n) alone; a face that leaves the plane at a
 * small angle is then missed.  Here the ball of radius epsilon is sent: to the side it is on, and where it
 * touches the plane to On(n) and the other side as well.  So every entity within epsilon is met, and its
 * distance in the B-rep decides. A point that touches no cut plane on its way, which is nearly every one,
 * costs one comparison a node.
 */
#include "index/step.h"

/* n . x - d with two additions behind each other instead of three: the walk down waits for each of them. */
static inline double cut_distance(plane p, vec3 x) {
    return (p.n.x * x.x + p.n.y * x.y) + (p.n.z * x.z - p.d);
}

/* ---- distances in the B-rep */
double index_edge_distance2(const abut_solid *solid, int32_t edge, vec3 x, double *t) {
    const solid_edge *e = &solid_edges(solid)[edge];
    vec3 a = solid_position(solid, e->vertex[0]), along = vec3_sub(solid_position(solid, e->vertex[1]), a);
    vec3 from = vec3_sub(x, a);
    double s = vec3_dot(from, along) / vec3_length2(along);
    *t = s < 0 ? 0 : s > 1 ? 1 : s;
    return vec3_length2(vec3_axpy(from, -*t, along));
}

/* Counts the sides that a ray along the first of the two kept axes crosses. */
bool index_face_contains(const abut_solid *solid, int32_t face, vec3 x) {
    const solid_face *f = &solid_faces(solid)[face];
    const solid_coedge *coedges = solid_coedges(solid);
    vec3 n = vec3_abs(f->plane.n);
    int drop = n.x >= n.y && n.x >= n.z ? 0 : n.y >= n.z ? 1 : 2, i = (drop + 1) % 3, j = (drop + 2) % 3;
    /* the foot of x on the plane */
    vec3 p = vec3_axpy(x, -plane_distance(f->plane, x), f->plane.n);
    double px = vec3_at(p, i), py = vec3_at(p, j);
    bool inside = false;
    for (int32_t l = 0; l < f->loops; l++) {
        const solid_loop *loop = &solid_loops(solid)[f->first_loop + l];
        int32_t c = loop->coedge;
        vec3 a = solid_position(solid, coedges[c].vertex);
        for (int32_t k = 0; k < loop->count; k++) {
            c = coedges[c].next;
            vec3 b = solid_position(solid, coedges[c].vertex);
            double ay = vec3_at(a, j), by = vec3_at(b, j);
            if ((ay > py) != (by > py)) {
                double ax = vec3_at(a, i), bx = vec3_at(b, i);
                inside ^= px < ax + (bx - ax) * (py - ay) / (by - ay);
            }
            a = b;
        }
    }
    return inside;
}

/* ---- the ball */
enum { SEEN = 8 };
typedef struct ball {
    const abut_solid *solid;
    vec3 x;
    double epsilon, band;
    int kind; /* of the best entity so far; 3: none */
    int32_t id;
    double distance2;
    int32_t seen[SEEN]; /* faces looked at last; a face is met in several cells */
    int seen_count;
} ball;

static void offer(ball *b, int kind, int32_t id, double distance2) {
    if (!(distance2 <= b->epsilon * b->epsilon) || kind > b->kind) return;
    if (kind == b->kind && (distance2 > b->distance2 || (distance2 == b->distance2 && id >= b->id))) return;
    b->kind = kind, b->id = id, b->distance2 = distance2;
}

static void offer_edge(ball *b, int32_t edge) {
    double t, distance2 = index_edge_distance2(b->solid, edge, b->x, &t);
    if (!(distance2 <= b->epsilon * b->epsilon)) return;
    offer(b, INDEX_EDGE, edge, distance2);
    for (int i = 0; i < 2; i++) {
        int32_t v = solid_edges(b->solid)[edge].vertex[i];
        offer(b, INDEX_VERTEX, v, vec3_length2(vec3_sub(b->x, solid_position(b->solid, v))));
    }
}

/* A face with all its edges: where its border is near, it is found here even if a cut passed closer than the
 * weld distance and gave the edge another place in the tree. */
static void offer_face(ball *b, int32_t face) {
    for (int i = 0; i < SEEN && i < b->seen_count; i++)
        if (b->seen[i] == face) return;
    b->seen[b->seen_count++ % SEEN] = face;
    const abut_solid *solid = b->solid;
    const solid_face *f = &solid_faces(solid)[face];
    double d = plane_distance(f->plane, b->x);
    if (!(fabs(d) <= b->epsilon + 4 * solid->weld)) return;
    const solid_coedge *coedges = solid_coedges(solid);
    for (int32_t l = 0; l < f->loops; l++) {
        const solid_loop *loop = &solid_loops(solid)[f->first_loop + l];
        int32_t c = loop->coedge;
        for (int32_t k = 0; k < loop->count; k++, c = coedges[c].next) offer_edge(b, coedges[c].edge);
    }
    if (b->kind >= INDEX_FACE && index_face_contains(solid, face, b->x)) offer(b, INDEX_FACE, face, d * d);
}

/* Visits every leaf of a face that the ball touches.  The stack holds at most two entries a level; deeper
 * trees take another one. */
static void visit(const index_node *nodes, int32_t root, ball *b) {
    enum { DEPTH = 192 };
    int32_t stack[DEPTH];
    int top = 0;
    stack[top++] = root;
    while (top) {
        int32_t code = stack[--top];
        while (code >= 0) {
            const index_node *n = &nodes[code];
            if (n->dimension < 3 && !n->holds_face) break;
            double d = cut_distance(n->cut, b->x);
            code = n->child[d >= 0 ? INDEX_ABOVE : INDEX_BELOW];
            if (!(fabs(d) <= b->band)) continue;
            int32_t also[2] = {n->child[d >= 0 ? INDEX_BELOW : INDEX_ABOVE],
                               n->dimension == 3 && n->holds_face ? n->child[INDEX_ON] : INDEX_OUT};
            for (int i = 0; i < 2; i++) {
                if (also[i] == INDEX_OUT || also[i] == INDEX_IN) continue;
                if (top < DEPTH)
                    stack[top++] = also[i];
                else
                    visit(nodes, also[i], b);
            }
        }
        if (code < INDEX_IN) offer_face(b, index_leaf_id(code));
    }
}

/* ---- one point, many points */
static bool is_outside_box(const abut_index *index, vec3 x, double epsilon) {
    const box *r = &index->bounds;
    return !(x.x >= r->lower.x - epsilon && x.x <= r->upper.x + epsilon && x.y >= r->lower.y - epsilon &&
             x.y <= r->upper.y + epsilon && x.z >= r->lower.z - epsilon && x.z <= r->upper.z + epsilon);
}

/* ---- the walk: down to one side of each plane, two levels a step, by floats where they decide */
typedef struct walker {
    float x, y, z;
    float wide; /* farther from a plane than this, the float is right about the side and the band */
} walker;

/* n . x - d in floats: the rounding of each of n and x and of five operations is at most 2^-24, that of d,
 * whose last bit is a note, 2^-23 of numbers no larger than the extent, or |x|. */
static inline walker walker_at(const abut_index *index, vec3 x, double band) {
    double large = index->extent + fabs(x.x) + fabs(x.y) + fabs(x.z);
    return (walker){(float)x.x, (float)x.y, (float)x.z, (float)(1.01 * (band + 0x1p-20 * large))};
}

/* Too near for floats: the way through a step by its nodes, and whether the band touches a plane on it. */
static int ask_nodes(const abut_index *index, int32_t step, vec3 x, double band, bool *near) {
    const index_node *nodes = index_nodes(index), *n = &nodes[index_links_of(index)[step].node];
    double d = cut_distance(n->cut, x);
    *near |= fabs(d) <= band;
    int32_t child = n->child[d >= 0 ? INDEX_ABOVE : INDEX_BELOW];
    int way = d >= 0 ? 0 : 2;
    if (child < 0) return way;
    d = cut_distance(nodes[child].cut, x);
    *near |= fabs(d) <= band;
    return way + (d < 0);
}

/* Where the point leaves a step.  Bits of `below`: the node, its child above, its child below. */
static inline int32_t take_step(const abut_index *index, int32_t step, const walker *w, vec3 x, double band,
                                bool *near) {
    static const int8_t ways[8] = {0, 2, 1, 2, 0, 3, 1, 3};
    const index_step *s = &index_steps(index)[step];
    four d = (step_row(s, 0) * w->x + step_row(s, 1) * w->y) + (step_row(s, 2) * w->z - step_row(s, 3));
    int close = four_signs(four_absolute(d) - w->wide) & 7;
    int way =
        __builtin_expect(close != 0, 0) ? ask_nodes(index, step, x, band, near) : ways[four_signs(d) & 7];
    return index_end(s, way);
}

/* The leaf where the signs lead; *near is set when a plane on the way is within the band. */
static inline int32_t walk_down(const abut_index *index, vec3 x, double band, bool *near) {
    walker w = walker_at(index, x, band);
    int32_t code = 0;
    while (code >= 0) code = take_step(index, code, &w, x, band, near);
    return code;
}

int32_t index_side(const abut_index *index, vec3 x) {
    bool near = false;
    return walk_down(index, x, 0, &near);
}

/* The point touches a cut plane; `side` is where its signs lead. */
static abut_place classify_near(const abut_index *index, const abut_solid *solid, vec3 x, double epsilon,
                                int32_t side) {
    ball b = {.solid = solid, .x = x, .epsilon = epsilon, .band = epsilon + index->slack, .kind = 3};
    visit(index_nodes(index), index->root, &b);
    if (b.kind == 3) return index_place(side);
    return (abut_place){(abut_place_kind)(ABUT_ON_VERTEX + b.kind), b.id};
}

abut_place index_classify_point(const abut_index *index, const abut_solid *solid, vec3 x, double epsilon) {
    if (is_outside_box(index, x, epsilon)) return (abut_place){ABUT_OUTSIDE, -1};
    bool near = false;
    int32_t code = walk_down(index, x, epsilon + index->slack, &near);
    return near ? classify_near(index, solid, x, epsilon, code) : index_place(code);
}

abut_place abut_index_point(const abut_index *index, const abut_solid *solid, abut_vec3 point,
                            double epsilon) {
    if (!abut_index_fits(index, solid)) return (abut_place){ABUT_OUTSIDE, -1};
    return index_classify_point(index, solid, vec3_sub(point, solid->origin), epsilon);
}

/* Eight points walk down together, each waiting for its own node while the others move; one that arrives is
 * replaced by the next of the batch. */
void abut_index_points(const abut_index *index, const abut_solid *solid, const abut_vec3 *points,
                       int64_t count, double epsilon, abut_place *places) {
    enum { LANES = 8 };
    bool fits = abut_index_fits(index, solid);
    double band = epsilon + index->slack;
    vec3 x[LANES];
    walker w[LANES];
    int32_t code[LANES];
    bool near[LANES];
    int64_t number[LANES], next = 0;
    int lanes = 0;
    for (;;) {
        /* fill the free lanes */
        while (lanes < LANES && next < count) {
            int64_t i = next++;
            x[lanes] = vec3_sub(points[i], solid->origin);
            places[i] = (abut_place){ABUT_OUTSIDE, -1};
            if (!fits || is_outside_box(index, x[lanes], epsilon)) continue;
            w[lanes] = walker_at(index, x[lanes], band);
            code[lanes] = 0, near[lanes] = false, number[lanes++] = i;
        }
        if (lanes == 0) return;
        for (int l = 0; l < lanes; l++) code[l] = take_step(index, code[l], &w[l], x[l], band, &near[l]);
        for (int l = lanes - 1; l >= 0; l--) {
            if (code[l] >= 0) continue;
            places[number[l]] =
                near[l] ? classify_near(index, solid, x[l], epsilon, code[l]) : index_place(code[l]);
            lanes--;
            x[l] = x[lanes], w[l] = w[lanes];
            code[l] = code[lanes], near[l] = near[lanes], number[l] = number[lanes];
        }
    }
}
