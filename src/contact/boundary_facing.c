/* Features of two boundaries that face each other (boundary.h). */
#include "contact/boundary_search.h"

/* As deep, but for what faces may lean. */
static const double MUCH = 0.99;

/* Whether a place of one solid is inside another one.  Solids that were put side by side share planes: what
 * lies on a border of the other is in it where the material behind it is, which lies along `inward`. */
static bool is_inside(const boundary_search *q, const boundary *b, vec3 x, vec3 inward) {
    return boundary_holds(b, x) || boundary_holds(b, vec3_axpy(x, 4 * q->slack, inward));
}

/* Of directions, from the frame of the vertex, or of an edge of A, to that of the other. */
static vec3 direction_across(const boundary_search *q, vec3 d, bool from_b) {
    return from_b ? mat3_tmul_vec(q->turn, d) : mat3_mul_vec(q->turn, d);
}

/* ---- a vertex and a face */

/* At the end of a reflex edge the material may lie beyond edges that all lead away: in the corner of a dent,
 * over its walls.  (The L on an L, sunk in by a little, was pushed off it by the walls of the dent.)  What
 * lies below the vertex, a little way into the material for the sake of faces along n, tells. */
static bool is_below(const boundary *b, int32_t vertex, vec3 n) {
    double step = 1e-6 * b->solid->diagonal;
    vec3 x = vec3_axpy(solid_position(b->solid, vertex), -step, n);
    return boundary_holds(b, vec3_axpy(x, 0.05 * step, b->inward[vertex]));
}

bool boundary_leads_away(const boundary *b, int32_t vertex, vec3 n, double angle) {
    const abut_solid *s = b->solid;
    const solid_vertex *v = &solid_vertices(s)[vertex];
    int32_t c = v->coedge;
    do {
        vec3 e = vec3_sub(solid_position(s, solid_coedges(s)[solid_coedges(s)[c].next].vertex), v->position);
        if (vec3_dot(n, e) < -angle * vec3_length(e)) return false;
        c = solid_twin(s, solid_coedges(s)[c].prev);
    } while (c != v->coedge);
    return !b->saddle[vertex] || !is_below(b, vertex, n);
}

double boundary_from_rim(const abut_solid *s, int32_t face, vec3 x, int32_t *edge) {
    const solid_face *f = &solid_faces(s)[face];
    vec3 foot = vec3_axpy(x, -plane_distance(f->plane, x), f->plane.n);
    double nearest = INFINITY, t;
    for (int32_t l = 0; l < f->loops; l++) {
        const solid_loop *loop = &solid_loops(s)[f->first_loop + l];
        for (int32_t k = 0, c = loop->coedge; k < loop->count; k++, c = solid_coedges(s)[c].next) {
            double d2 = index_edge_distance2(s, solid_coedges(s)[c].edge, foot, &t);
            if (d2 < nearest) nearest = d2, *edge = solid_coedges(s)[c].edge;
        }
    }
    return sqrt(nearest);
}

double boundary_stands_beyond(const abut_solid *s, int32_t face, vec3 x, double reach, double slack,
                              int32_t *across) {
    *across = -1;
    if (index_face_contains(s, face, x)) return 0;
    int32_t edge = -1;
    double nearest = boundary_from_rim(s, face, x, &edge);
    if (nearest <= slack) return 0;
    if (!(nearest <= reach) || solid_edges(s)[edge].convexity >= 0) return -1;
    const int32_t *c = solid_edges(s)[edge].coedge;
    int32_t left = solid_coedges(s)[c[0]].face, right = solid_coedges(s)[c[1]].face;
    *across = left == face ? right : left;
    return nearest;
}

/* Over a dent, in front of one wall and inside the other: whether the way back over the reflex edge is the
 * shortest way out. */
static bool is_way_out(const boundary *b, vec3 x, double beyond) {
    double nearest = 0.99 * beyond;
    vec3 on, normal;
    return !boundary_nearest(b, vec3_add(x, b->solid->origin), &nearest, &on, &normal);
}

/* Whether all that is at a vertex of `u` leads away from a face of `w`. */
static bool faces(const boundary_search *q, const boundary_side *u, int32_t vertex, const boundary_side *w,
                  int32_t face) {
    vec3 n = solid_faces(w->b->solid)[face].plane.n;
    return boundary_leads_away(u->b, vertex, direction_across(q, n, !q->turned), q->config->angle);
}

/* Vertex of `u`, face of `w`. */
static void try_vertex(boundary_search *q, const boundary_side *u, int32_t vertex, const boundary_side *w,
                       int32_t face) {
    const abut_solid *su = u->b->solid, *sw = w->b->solid;
    const solid_face *f = &solid_faces(sw)[face];
    vec3 v = solid_position(su, vertex), x = q->turned ? search_to_a(q, v) : search_to_b(q, v);
    double gap = plane_distance(f->plane, x), most = w->b->balls[face].radius + q->radius;
    if (gap > q->config->reach || gap < -q->radius) return;
    if (vec3_length2(vec3_sub(x, w->b->balls[face].center)) > most * most) return;
    if (gap < -q->depth || !faces(q, u, vertex, w, face)) return;
    int32_t across;
    double beyond = boundary_stands_beyond(sw, face, x, q->radius, q->slack, &across);
    if (beyond < 0 || gap * gap + beyond * beyond > q->radius * q->radius) return;
    if (across >= 0 && !faces(q, u, vertex, w, across)) return; /* over the edge it does not get out either */
    bool inside = gap < -q->slack;
    vec3 inward = direction_across(q, u->b->inward[vertex], q->turned);
    if ((inside || beyond > 0) && !is_inside(q, w->b, x, inward)) return;
    if (beyond > 0 && !inside && !is_way_out(w->b, x, beyond)) return;
    abut_feature mine = {ABUT_FEATURE_VERTEX, vertex}, other = {ABUT_FEATURE_FACE, face};
    vec3 n = mat3_mul_vec(w->r, f->plane.n);
    gather_point p = {
        .at = vec3_axpy(side_to_world(w, x), -gap / 2, n), .normal = n, .gap = gap, .vertex = -1};
    /* one that stands on a face is not inside, whatever rounding says of it behind the others */
    bool on = !inside && gap <= q->slack && beyond == 0;
    if (inside || on) p.vertex = 2 * vertex + q->turned, p.way = on ? 0 : sqrt(gap * gap + beyond * beyond);
    p.id = q->turned ? manifold_id(other, mine) : manifold_id(mine, other);
    if (q->turned) p.normal = vec3_neg(n);
    gather_add(q->found, p);
}

static bool visit_vertex_face(void *user, int32_t vertex, int32_t face) {
    boundary_search *q = user;
    try_vertex(q, &q->a, vertex, &q->b, face);
    return true;
}
static bool visit_face_vertex(void *user, int32_t face, int32_t vertex) {
    boundary_search *q = user;
    try_vertex(q, &q->b, vertex, &q->a, face);
    return true;
}

/* ---- two edges */

/* In B's frame. */
static boundary_wedge wedge_in_b(const boundary_search *q, const boundary_wedge *w) {
    return (boundary_wedge){.p = search_to_b(q, w->p), .e = mat3_mul_vec(q->turn, w->e)};
}

/* n leads up from the wedges of B to those of A, whose faces may lean by the angle. */
static bool separates(const boundary_search *q, const boundary_wedge *a, const boundary_wedge *b, vec3 *n) {
    vec3 m = mat3_tmul_vec(q->turn, *n);
    double up[4] = {vec3_dot(m, a->in[0]), vec3_dot(m, a->in[1]), -vec3_dot(*n, b->in[0]),
                    -vec3_dot(*n, b->in[1])};
    double flip = up[0] + up[1] + up[2] + up[3] < 0 ? -1 : 1;
    for (int k = 0; k < 4; k++)
        if (flip * up[k] < -q->config->angle) return false;
    *n = vec3_scale(*n, flip);
    return true;
}

/* What of an edge, p + t e, lies behind both faces at another one, g.  Where it ends there, it comes before
 * the face through which it came in by rising as far as its end is below that; otherwise by no less than the
 * two edges are apart. */
typedef struct passage {
    double from, to; /* from >= to: nothing */
    double least;
} passage;

static passage pass_below(const boundary_wedge *g, vec3 p, vec3 e, double slack) {
    double off[2], rate[2];
    passage x = {0, 1, INFINITY};
    for (int k = 0; k < 2; k++) {
        vec3 n = vec3_scale(vec3_cross(k ? vec3_neg(g->e) : g->e, g->in[k]), 0.5 / g->half); /* outward */
        off[k] = vec3_dot(n, vec3_sub(p, g->p)), rate[k] = vec3_dot(n, e);
        if (rate[k] > 0) x.to = fmin(x.to, -off[k] / rate[k]);
        if (rate[k] < 0) x.from = fmax(x.from, -off[k] / rate[k]);
    }
    for (int k = 0; k < 2; k++) {
        double first = -(off[k] + x.from * rate[k]), last = -(off[k] + x.to * rate[k]);
        bool ends = (x.from == 0 && first >= last - slack) || (x.to == 1 && last >= first - slack);
        if (ends) x.least = fmin(x.least, fmax(first, last));
    }
    return x;
}

/* Whether an edge that passes below another one by `depth`, at x, is in the solid there: x itself, or a place
 * in what lies behind both faces (those may lean by the angle; of solids side by side the middle of an edge
 * is often a place where borders meet).  And whether there is no shorter way out: an edge that hardly begins
 * behind a face comes out by that face.  (A block that slides over the rim of a plate, its corner in the
 * plate by rounding, was told to be in by all the way from there to the rim.) */
static bool passes_inside(const boundary_search *q, const boundary *b, const boundary_wedge *g, vec3 p,
                          vec3 e, vec3 inward, vec3 x, double depth) {
    const double part = 0.382;
    passage y = pass_below(g, p, e, q->slack);
    return y.from < y.to && y.least >= MUCH * depth &&
           (is_inside(q, b, x, inward) ||
            is_inside(q, b, vec3_axpy(p, y.from + part * (y.to - y.from), e), inward));
}

static vec3 inward_at(const boundary_wedge *w) { return vec3_unit(vec3_add(w->in[0], w->in[1])); }

static bool visit_edges(void *user, int32_t edge_a, int32_t edge_b) {
    boundary_search *q = user;
    const boundary_wedge *wa = &q->a.b->wedges[edge_a], *b = &q->b.b->wedges[edge_b];
    vec3 apart = vec3_sub(search_to_b(q, wa->middle), b->middle);
    double most = wa->half + b->half + q->radius;
    if (vec3_length2(apart) > most * most) return true;
    boundary_wedge a = wedge_in_b(q, wa);
    vec3 n = vec3_cross(a.e, b->e), d = vec3_sub(b->p, a.p);
    double nn = vec3_length2(n), away = vec3_dot(n, d), far = q->radius;
    if (away * away > far * far * nn) return true;
    /* a.p + s e - (b.p + t f) along n: s = (d x f).n / n.n, t = (d x e).n / n.n */
    double s = vec3_triple(n, d, b->e), t = vec3_triple(n, d, a.e);
    if (!(s >= 0 && s <= nn && t >= 0 && t <= nn)) return true;
    /* nearly parallel: their ends stand on faces */
    if (nn <= BOUNDARY_PARALLEL * BOUNDARY_PARALLEL * vec3_length2(a.e) * vec3_length2(b->e)) return true;
    n = vec3_scale(n, 1 / sqrt(nn));
    if (!separates(q, wa, b, &n)) return true;
    vec3 x = vec3_axpy(a.p, s / nn, a.e), y = vec3_axpy(b->p, t / nn, b->e);
    double gap = vec3_dot(n, vec3_sub(x, y));
    if (gap > q->config->reach || gap < -q->depth) return true;
    vec3 world = side_to_world(&q->b, y);
    if (gap < -q->slack) {
        vec3 p = search_to_a(q, b->p), e = mat3_tmul_vec(q->turn, b->e);
        vec3 in_a = direction_across(q, inward_at(wa), false), in_b = direction_across(q, inward_at(b), true);
        if (!passes_inside(q, q->b.b, b, a.p, a.e, in_a, x, -gap) ||
            !passes_inside(q, q->a.b, wa, p, e, in_b, side_from_world(&q->a, world), -gap))
            return true;
    }
    abut_feature fa = {ABUT_FEATURE_EDGE, edge_a}, fb = {ABUT_FEATURE_EDGE, edge_b};
    n = mat3_mul_vec(q->b.r, n);
    gather_add(q->found, (gather_point){.at = vec3_axpy(world, gap / 2, n),
                                        .normal = n,
                                        .gap = gap,
                                        .id = manifold_id(fa, fb),
                                        .vertex = -1});
    return true;
}

/* ---- a vertex and an edge, two vertices: only apart, and only where neither a face nor two edges are nearer
 *
 * Touching, such pairs are always part of the two kinds above; but two corners that fly at each other are
 * nearest like that until they touch. */

/* No edge at the vertex leads back along u (world) by more than edges may be off parallel to each other. */
static bool points_away(const boundary_side *s, int32_t vertex, vec3 u) {
    return boundary_leads_away(s->b, vertex, mat3_tmul_vec(s->r, u), BOUNDARY_PARALLEL);
}

static void try_corner(boundary_search *q, const boundary_side *u, int32_t vertex, const boundary_side *w,
                       vec3 on, abut_feature other, vec3 x) {
    vec3 v = vec3_sub(x, on);
    double gap = vec3_length(v);
    if (!(gap > q->slack && gap <= q->config->reach)) return;
    vec3 n = vec3_scale(v, 1 / gap);
    if (!points_away(u, vertex, n)) return;
    if (other.kind == ABUT_FEATURE_VERTEX && !points_away(w, other.id, vec3_neg(n))) return;
    abut_feature mine = {ABUT_FEATURE_VERTEX, vertex};
    gather_add(q->found, (gather_point){.at = vec3_lerp(x, on, 0.5),
                                        .normal = q->turned ? vec3_neg(n) : n,
                                        .gap = gap,
                                        .id = q->turned ? manifold_id(other, mine) : manifold_id(mine, other),
                                        .vertex = -1});
}

static void try_vertex_edge(boundary_search *q, const boundary_side *u, int32_t vertex,
                            const boundary_side *w, int32_t edge) {
    const boundary_wedge *g = &w->b->wedges[edge];
    vec3 world = side_to_world(u, solid_position(u->b->solid, vertex)), x = side_from_world(w, world);
    vec3 d = vec3_sub(x, g->p);
    double t = vec3_dot(d, g->e), whole = vec3_length2(g->e);
    if (!(t >= -q->slack * sqrt(whole) && t <= whole + q->slack * sqrt(whole))) return;
    vec3 on = vec3_axpy(g->p, t / whole, g->e), v = vec3_sub(x, on);
    double far2 = vec3_length2(v);
    if (far2 > q->config->reach * q->config->reach) return;
    if (vec3_dot(v, g->in[0]) <= q->slack && vec3_dot(v, g->in[1]) <= q->slack)
        try_corner(q, u, vertex, w, side_to_world(w, on), (abut_feature){ABUT_FEATURE_EDGE, edge}, world);
}

static bool visit_vertex_edge(void *user, int32_t vertex, int32_t edge) {
    boundary_search *q = user;
    try_vertex_edge(q, &q->a, vertex, &q->b, edge);
    return true;
}
static bool visit_edge_vertex(void *user, int32_t edge, int32_t vertex) {
    boundary_search *q = user;
    try_vertex_edge(q, &q->b, vertex, &q->a, edge);
    return true;
}
static bool visit_vertices(void *user, int32_t va, int32_t vb) {
    boundary_search *q = user;
    vec3 x = side_to_world(&q->a, solid_position(q->a.b->solid, va)),
         y = side_to_world(&q->b, solid_position(q->b.b->solid, vb));
    try_corner(q, &q->a, va, &q->b, y, (abut_feature){ABUT_FEATURE_VERTEX, vb}, x);
    return true;
}

/* ---- */

void boundary_find_facing(boundary_search *q, double radius, double deep) {
    const boundary *a = q->a.b, *b = q->b.b;
    double in_a = fmin(radius, fmax(a->depth, deep)), in_b = fmin(radius, fmax(b->depth, deep));
    q->found->count = 0;
    q->radius = radius;
    q->depth = in_b, q->turned = false;
    box_tree_pairs(&a->vertices, &b->faces, q->b_in_a, radius, visit_vertex_face, q);
    q->depth = in_a, q->turned = true;
    box_tree_pairs(&a->faces, &b->vertices, q->b_in_a, radius, visit_face_vertex, q);
    q->depth = fmin(in_a, in_b), q->turned = false;
    box_tree_pairs(&a->edges, &b->edges, q->b_in_a, radius, visit_edges, q);
}

void boundary_find_corners(boundary_search *q) {
    const boundary *a = q->a.b, *b = q->b.b;
    double reach = q->config->reach;
    q->turned = false;
    box_tree_pairs(&a->vertices, &b->edges, q->b_in_a, reach, visit_vertex_edge, q);
    box_tree_pairs(&a->vertices, &b->vertices, q->b_in_a, reach, visit_vertices, q);
    q->turned = true;
    box_tree_pairs(&a->edges, &b->vertices, q->b_in_a, reach, visit_edge_vertex, q);
}
