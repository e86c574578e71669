/* The flat parts of a cylinder on a face or an edge of a solid, seen along the normal n of the place.
 *
 *        .--.            The end of a cylinder stands for itself as a polygon of its rim, a line of the
 *       / B +-----.      mantle as a segment.  The corners of what it has in common with the face are corners
 *      |    |##|  |      of B over the face, vertices of the face under B, and crossings of their borders;
 *       \   +--'A |      on an edge, the two ends of the common piece.
 *        '--'-----'      Each has its own gap along n, so that what stands a little tilted stays on all. */
#include "contact/collider_curved.h"

typedef struct flat {
    vec3 corner[RIM_CORNERS];
    int count;
    vec3 m; /* of the end of a cylinder: its outward normal */
} flat;

/* False where B is round. */
static bool find_flat(const curved_search *q, vec3 n, flat *out) {
    vec3 facing = vec3_neg(mat3_tmul_vec(q->turn, n));
    abut_feature f = shape_feature(q->shape, facing, 0, q->config->angle);
    out->count = shape_corner_count(q->shape, f);
    for (int i = 0; i < out->count; i++) {
        int32_t vertex, edge;
        out->corner[i] = pose_point(q->pb, shape_corner(q->shape, f, facing, i, &vertex, &edge));
    }
    out->m = pose_vector(q->pb, vec3_make(0, 0, f.id ? 1 : -1));
    return out->count > 1;
}

static abut_feature feature(abut_feature_kind kind, int32_t id) { return (abut_feature){kind, id}; }

/* Signed area of the parallelogram of u and v, seen against n. */
static double area(vec3 n, vec3 u, vec3 v) { return vec3_triple(n, u, v); }

/* Whether y lies under the end of a cylinder: to one side of all sides of the polygon. */
static bool is_under(const flat *b, vec3 n, vec3 y) {
    int left = 0;
    for (int i = 0; i < b->count; i++) {
        vec3 from = b->corner[i], to = b->corner[(i + 1) % b->count];
        left += area(n, vec3_sub(to, from), vec3_sub(y, from)) > 0;
    }
    return left == 0 || left == b->count;
}

/* How far the plane of the end is over y. */
static double over(const flat *b, vec3 n, vec3 y) {
    return vec3_dot(b->m, vec3_sub(b->corner[0], y)) / vec3_dot(b->m, n);
}

/* Crossings of the sides of B with the edge y0 y1. */
static void add_crossings(const flat *b, vec3 n, vec3 y0, vec3 y1, int32_t edge, curved_place *out) {
    vec3 e = vec3_sub(y1, y0);
    int sides = b->count > 2 ? b->count : 1;
    for (int i = 0; i < sides; i++) {
        vec3 from = b->corner[i], d = vec3_sub(b->corner[(i + 1) % b->count], from), r = vec3_sub(y0, from);
        double whole = area(n, d, e), s = area(n, r, e), t = area(n, r, d);
        if (whole < 0) whole = -whole, s = -s, t = -t;
        if (!(whole > 0 && s >= 0 && s <= whole && t >= 0 && t <= whole)) continue;
        vec3 x = vec3_axpy(from, s / whole, d), y = vec3_axpy(y0, t / whole, e);
        curved_add(out, x, vec3_dot(n, vec3_sub(x, y)), feature(ABUT_FEATURE_EDGE, edge),
                   feature(ABUT_FEATURE_EDGE, i));
    }
}

static void add_under(const flat *b, vec3 y, int32_t vertex, curved_place *out) {
    if (b->count <= 2 || !is_under(b, out->n, y)) return;
    double gap = over(b, out->n, y);
    curved_add(out, vec3_axpy(y, gap, out->n), gap, feature(ABUT_FEATURE_VERTEX, vertex),
               feature(ABUT_FEATURE_FACE, 0));
}

void curved_points_on_face(const curved_search *q, int32_t face, curved_place *out) {
    const abut_solid *s = q->boundary->solid;
    const solid_face *f = &solid_faces(s)[face];
    flat b;
    if (!find_flat(q, out->n, &b)) return;
    for (int i = 0; i < b.count; i++)
        if (index_face_contains(s, face, b.corner[i]))
            curved_add(out, b.corner[i], plane_distance(f->plane, b.corner[i]),
                       feature(ABUT_FEATURE_FACE, face), feature(ABUT_FEATURE_VERTEX, i + 1));
    for (int32_t l = 0; l < f->loops; l++) {
        const solid_loop *loop = &solid_loops(s)[f->first_loop + l];
        for (int32_t k = 0, c = loop->coedge; k < loop->count; k++, c = solid_coedges(s)[c].next) {
            const solid_coedge *at = &solid_coedges(s)[c];
            vec3 y = solid_position(s, at->vertex),
                 next = solid_position(s, solid_coedges(s)[at->next].vertex);
            add_crossings(&b, out->n, y, next, at->edge, out);
            add_under(&b, y, at->vertex, out);
        }
    }
}

/* A line of the mantle that runs along the edge: the ends of the piece that both have. */
static void add_along(const flat *b, const boundary_wedge *w, int32_t edge, curved_place *out) {
    vec3 d = vec3_sub(b->corner[1], b->corner[0]);
    double ee = vec3_length2(w->e), de = vec3_dot(d, w->e),
           from = vec3_dot(vec3_sub(b->corner[0], w->p), w->e);
    for (int k = 0; k < 2; k++) {
        double t = fmin(1, fmax(0, (from + (k ? de : 0)) / ee)), s = (t * ee - from) / de;
        if (!(s >= 0 && s <= 1)) continue;
        vec3 x = vec3_axpy(b->corner[0], s, d), y = vec3_axpy(w->p, t, w->e);
        curved_add(out, x, vec3_dot(out->n, vec3_sub(x, y)), feature(ABUT_FEATURE_EDGE, edge),
                   feature(ABUT_FEATURE_VERTEX, k + 1));
    }
}

void curved_points_on_edge(const curved_search *q, int32_t edge, curved_place *out) {
    const boundary_wedge *w = &q->boundary->wedges[edge];
    const solid_edge *e = &solid_edges(q->boundary->solid)[edge];
    flat b;
    if (!find_flat(q, out->n, &b)) return;
    if (b.count == 2) {
        vec3 d = vec3_sub(b.corner[1], b.corner[0]), across = vec3_cross(d, w->e);
        double most = BOUNDARY_PARALLEL * BOUNDARY_PARALLEL * vec3_length2(d) * vec3_length2(w->e);
        if (vec3_length2(across) <= most) add_along(&b, w, edge, out);
        return;
    }
    vec3 end = vec3_add(w->p, w->e);
    add_crossings(&b, out->n, w->p, end, edge, out);
    add_under(&b, w->p, e->vertex[0], out), add_under(&b, end, e->vertex[1], out);
}
