/* Deep overlaps of two boundaries.
 *
 * Bodies that another one threw, or that were fast, may be in each other so far that no feature faces another
 * within the depth that has a nearest face; and then something else that faces elsewhere, and is shallow, is
 * not all there is.  How deep they are at least is known without it: each point of one that is inside the
 * other has to leave it, so
 *
 *     no translation that parts them is shorter than the distance of such a point from the other's boundary.
 *
 * Points that are asked: from where an edge passes through a face, all vertices that are inside with their
 * neighbours, and the middles of edges that are inside between two faces.  In the corner of a dent, where the
 * nearest of the boundary is a reflex edge, two walls push, and each as deep as the point is below it.  What
 * faces explains an overlap if something of it is as deep as the deepest of these points.  If nothing is, all
 * that faces at that depth is asked for, a quarter deeper, and so on. */
#include "contact/boundary_search.h"

enum { CROSSINGS = 128, FLOOD = 256 };

/* What faces at more than so many times the depth of a point does not explain it: a plate whose corner is 2
 * mm in was told to be so by 20 cm, by what faced it at the other side.  The point takes its own way out. */
static const double FARTHEST = 4;

/* As deep, but for what faces may lean. */
static const double MUCH = 0.99;

/* ---- edges that pass through faces */

typedef struct crossing {
    int32_t edge, face;
    double t;
    bool in; /* towards t = 1 the edge is inside */
} crossing;

typedef struct crossings {
    boundary_search *q;
    bool turned; /* edges of B, faces of A */
    int count;
    crossing all[CROSSINGS];
} crossings;

static const boundary_side *edge_side(const crossings *c) { return c->turned ? &c->q->b : &c->q->a; }
static const boundary_side *face_side(const crossings *c) { return c->turned ? &c->q->a : &c->q->b; }
static vec3 across(const crossings *c, vec3 x) {
    return c->turned ? search_to_a(c->q, x) : search_to_b(c->q, x);
}

/* In the frame of the faces. */
static void edge_there(const crossings *c, int32_t edge, vec3 *p, vec3 *end) {
    const boundary_wedge *w = &edge_side(c)->b->wedges[edge];
    *p = across(c, w->p), *end = across(c, vec3_add(w->p, w->e));
}

/* Whether the edge passes through the face, by more than rounding on both sides and from its rim: two that
 * lie on each other have edges that run along the rims of faces. */
static bool add_crossing(crossings *c, int32_t edge, int32_t face) {
    const abut_solid *s = face_side(c)->b->solid;
    plane p = solid_faces(s)[face].plane;
    double slack = c->q->slack;
    vec3 x, y;
    edge_there(c, edge, &x, &y);
    double from = plane_distance(p, x), to = plane_distance(p, y), t = from / (from - to);
    if (!((from > slack && to < -slack) || (from < -slack && to > slack))) return true;
    vec3 at = vec3_lerp(x, y, t);
    int32_t rim;
    if (!index_face_contains(s, face, at) || boundary_from_rim(s, face, at, &rim) <= slack) return true;
    c->all[c->count++] = (crossing){edge, face, t, from > 0};
    return c->count < CROSSINGS; /* so many will do */
}
static bool visit_edge_face(void *user, int32_t edge, int32_t face) { return add_crossing(user, edge, face); }
static bool visit_face_edge(void *user, int32_t face, int32_t edge) { return add_crossing(user, edge, face); }

static void find_crossings(boundary_search *q, crossings c[2]) {
    const boundary *a = q->a.b, *b = q->b.b;
    for (int k = 0; k < 2; k++) c[k].q = q, c[k].turned = k, c[k].count = 0;
    box_tree_pairs(&a->edges, &b->faces, q->b_in_a, 0, visit_edge_face, &c[0]);
    box_tree_pairs(&a->faces, &b->edges, q->b_in_a, 0, visit_face_edge, &c[1]);
}

/* Where the part inside that begins at a crossing ends: at an end of the edge, or where it leaves again. */
static double other_end(const crossings *c, const crossing *from) {
    double end = from->in ? 1 : 0;
    for (int i = 0; i < c->count; i++) {
        const crossing *x = &c->all[i];
        if (x->edge != from->edge || x->in == from->in) continue;
        if (from->in ? x->t > from->t && x->t < end : x->t < from->t && x->t > end) end = x->t;
    }
    return end;
}

/* ---- points inside */

typedef struct inner {
    double depth;
    vec3 at, normal; /* frame of the faces; the nearest way out */
    abut_feature feature;
    bool turned; /* it is B's */
} inner;

/* How deep the point x is below the walls that meet at y, the nearest point of the boundary: the most. */
typedef struct walls {
    const abut_solid *solid;
    vec3 x, y;
    double slack, depth;
} walls;

static bool visit_wall(void *user, int32_t face) {
    walls *w = user;
    if (!(fabs(plane_distance(solid_faces(w->solid)[face].plane, w->y)) <= w->slack)) return true;
    int32_t across;
    if (boundary_stands_beyond(w->solid, face, w->y, w->slack, w->slack, &across) >= 0)
        w->depth = fmax(w->depth, -plane_distance(solid_faces(w->solid)[face].plane, w->x));
    return true;
}

static double depth_below(const boundary *b, vec3 x, vec3 y, double slack) {
    walls w = {b->solid, x, y, slack, 0};
    box_tree_query(&b->faces, box_grow(box_add_point(box_empty(), y), slack), visit_wall, &w);
    return w.depth;
}

static void try_point(const crossings *c, vec3 x, abut_feature feature, inner *deepest) {
    const boundary *b = face_side(c)->b;
    vec3 point = vec3_add(x, b->solid->origin), on, normal;
    double depth = deepest->depth;
    if (depth > 0 && boundary_nearest(b, point, &depth, &on, &normal)) return;
    depth = INFINITY;
    if (!boundary_nearest(b, point, &depth, &on, &normal) || depth > 0) return;
    depth = depth_below(b, x, vec3_sub(on, b->solid->origin), c->q->slack);
    if (depth > deepest->depth) *deepest = (inner){depth, x, normal, feature, c->turned};
}

typedef struct flood {
    int32_t vertices[FLOOD];
    int count;
} flood;

/* A vertex that is inside, once. */
static void reach_vertex(const crossings *c, flood *f, int32_t vertex) {
    for (int i = 0; i < f->count; i++)
        if (f->vertices[i] == vertex) return;
    vec3 x = across(c, solid_position(edge_side(c)->b->solid, vertex));
    if (f->count < FLOOD && boundary_holds(face_side(c)->b, x)) f->vertices[f->count++] = vertex;
}

static void reach_neighbours(const crossings *c, flood *f, int32_t vertex) {
    const abut_solid *s = edge_side(c)->b->solid;
    int32_t first = solid_vertices(s)[vertex].coedge, k = first;
    do {
        reach_vertex(c, f, solid_coedges(s)[solid_coedges(s)[k].next].vertex);
        k = solid_twin(s, solid_coedges(s)[k].prev);
    } while (k != first);
}

/* The deepest point inside, if it is deeper than the one known. */
static void find_inner(const crossings *c, inner *deepest) {
    const abut_solid *s = edge_side(c)->b->solid;
    flood f = {.count = 0};
    for (int i = 0; i < c->count; i++) {
        const crossing *x = &c->all[i];
        double end = other_end(c, x);
        if (end == 0 || end == 1) {
            reach_vertex(c, &f, solid_edges(s)[x->edge].vertex[end == 1]);
        } else if (x->in) {
            vec3 p, q;
            edge_there(c, x->edge, &p, &q);
            try_point(c, vec3_lerp(p, q, (x->t + end) / 2), (abut_feature){ABUT_FEATURE_EDGE, x->edge},
                      deepest);
        }
    }
    if (c->count == 0) reach_vertex(c, &f, 0); /* all of one within the other */
    for (int i = 0; i < f.count; i++) {
        vec3 x = across(c, solid_position(s, f.vertices[i]));
        try_point(c, x, (abut_feature){ABUT_FEATURE_VERTEX, f.vertices[i]}, deepest);
        reach_neighbours(c, &f, f.vertices[i]);
    }
}

/* ---- what pushes where nothing faces */

/* A corner that brushed over an edge (the edges at it lead below both faces): a part of an edge that is
 * inside is pushed out through the face by which it came in.
 *
 *        x----\   the edge from x to y crosses the face at t; the part inside ends at u, at y or where the
 *      ---t----+  edge leaves again; n . (u - face) is the gap
 *         |  u |
 *
 * Of all such parts and faces the shallowest. */
static void push_crossings(const crossings *c, gather_point *best) {
    const boundary_side *w = face_side(c);
    for (int i = 0; i < c->count; i++) {
        const crossing *x = &c->all[i];
        plane f = solid_faces(w->b->solid)[x->face].plane;
        vec3 p, q;
        edge_there(c, x->edge, &p, &q);
        vec3 u = vec3_lerp(p, q, other_end(c, x)), n = mat3_mul_vec(w->r, f.n);
        double gap = plane_distance(f, u);
        if (!(gap < 0 && gap > best->gap)) continue;
        abut_feature mine = {ABUT_FEATURE_EDGE, x->edge}, other = {ABUT_FEATURE_FACE, x->face};
        *best = (gather_point){.at = vec3_axpy(side_to_world(w, u), -gap / 2, n),
                               .normal = c->turned ? vec3_neg(n) : n,
                               .gap = gap,
                               .id = c->turned ? manifold_id(other, mine) : manifold_id(mine, other),
                               .vertex = -1};
    }
}

/* A point inside takes its own way out.  Two vertices have no contact while bodies overlap, so the name is
 * free. */
static void push_inner(boundary_search *q, const inner *p) {
    const boundary_side *w = p->turned ? &q->a : &q->b;
    abut_feature other = {ABUT_FEATURE_VERTEX, 0};
    vec3 n = mat3_mul_vec(w->r, p->normal);
    gather_add(q->found, (gather_point){.at = vec3_axpy(side_to_world(w, p->at), p->depth / 2, n),
                                        .normal = p->turned ? vec3_neg(n) : n,
                                        .gap = -p->depth,
                                        .id = p->turned ? manifold_id(other, p->feature)
                                                        : manifold_id(p->feature, other),
                                        .vertex = -1});
}

/* ---- */

static double depth_of(const gather *found) {
    double least = 0;
    for (int i = 0; i < found->count; i++) least = fmin(least, found->points[i].gap);
    return -least;
}

static bool explains(const gather *found, const inner *deepest) {
    double depth = depth_of(found);
    return depth > 0 && depth >= MUCH * deepest->depth;
}

void boundary_find_deeper(boundary_search *q) {
    double deep = fmax(q->a.b->depth, q->b.b->depth), seen = depth_of(q->found);
    double most = q->a.b->solid->diagonal + q->b.b->solid->diagonal;
    if (seen > 0.5 * q->radius && deep > q->radius) boundary_find_facing(q, deep, 0);
    crossings c[2];
    find_crossings(q, c);
    inner deepest = {.depth = depth_of(q->found)};
    for (int k = 0; k < 2; k++) find_inner(&c[k], &deepest);
    if (c[0].count + c[1].count == 0 && deepest.depth == 0) return; /* apart */
    if (explains(q->found, &deepest)) return;
    deep = fmax(fmax(deep, q->radius), deepest.depth);
    most = fmin(most, fmax(1.25 * deep, FARTHEST * deepest.depth));
    for (; !explains(q->found, &deepest) && deep < most; deep *= 1.25) boundary_find_facing(q, deep, deep);
    if (explains(q->found, &deepest)) return;
    gather_point best = {.gap = -INFINITY};
    for (int k = 0; k < 2; k++) push_crossings(&c[k], &best);
    if (deepest.depth > 0) push_inner(q, &deepest);
    if (deepest.depth == 0 && isfinite(best.gap)) gather_add(q->found, best);
}
