/* Boundaries: creation, and the features of two of them that face each other (boundary.h). */
#include "contact/boundary.h"

/* ---- creation */

typedef ARRAY(box) box_array;

/* Vertices that can touch something convex: all of them but those of reflex edges only. */
static bool stands_out(const abut_solid *s, int32_t vertex) {
    int32_t first = solid_vertices(s)[vertex].coedge, c = first;
    do {
        if (solid_edges(s)[solid_coedges(s)[c].edge].convexity > 0) return true;
        c = solid_twin(s, solid_coedges(s)[c].prev);
    } while (c != first);
    return false;
}

static box edge_box(const abut_solid *s, int32_t edge) {
    const solid_edge *e = &solid_edges(s)[edge];
    return box_add_point(box_add_point(box_empty(), solid_position(s, e->vertex[0])),
                         solid_position(s, e->vertex[1]));
}

static box face_box(const abut_solid *s, int32_t face) {
    const solid_loop *loop = &solid_loops(s)[solid_faces(s)[face].first_loop];
    box b = box_empty();
    for (int32_t k = 0, c = loop->coedge; k < loop->count; k++, c = solid_coedges(s)[c].next)
        b = box_add_point(b, solid_position(s, solid_coedges(s)[c].vertex));
    return b;
}

/* The tree numbers the boxes it is given; `numbers` are the features behind them. */
static bool build(const abut_context *context, const box_array *boxes, const int_array *numbers,
                  box_tree *tree) {
    if (!box_tree_build(context, boxes->data, (int32_t)boxes->count, tree)) return false;
    for (int32_t i = 0; i < tree->item_count; i++) tree->items[i] = numbers->data[tree->items[i]];
    return true;
}

static bool build_trees(const abut_context *context, boundary *b, box_array *boxes, int_array *numbers) {
    const abut_solid *s = b->solid;
    bool fits = array_reserve(context, boxes, 1) && array_reserve(context, numbers, 1);
    for (int32_t v = 0; fits && v < s->vertex_count; v++)
        if (stands_out(s, v))
            fits = array_push(context, boxes, box_add_point(box_empty(), solid_position(s, v))) &&
                   array_push(context, numbers, v);
    fits = fits && build(context, boxes, numbers, &b->vertices);
    boxes->count = numbers->count = 0;
    for (int32_t e = 0; fits && e < s->edge_count; e++)
        if (solid_edges(s)[e].convexity > 0)
            fits = array_push(context, boxes, edge_box(s, e)) && array_push(context, numbers, e);
    fits = fits && build(context, boxes, numbers, &b->edges);
    boxes->count = numbers->count = 0;
    for (int32_t f = 0; fits && f < s->face_count; f++)
        fits = array_push(context, boxes, face_box(s, f)) && array_push(context, numbers, f);
    return fits && build(context, boxes, numbers, &b->faces);
}

/* The face of a coedge lies left of it, seen from outside: n x e leads into the face. */
static boundary_wedge make_wedge(const abut_solid *s, const solid_edge *e) {
    boundary_wedge w = {.p = solid_position(s, e->vertex[0])};
    w.e = vec3_sub(solid_position(s, e->vertex[1]), w.p);
    for (int k = 0; k < 2; k++) {
        vec3 n = solid_faces(s)[solid_coedges(s)[e->coedge[k]].face].plane.n;
        w.in[k] = vec3_unit(vec3_cross(n, k ? vec3_neg(w.e) : w.e));
    }
    w.middle = vec3_axpy(w.p, 0.5, w.e), w.half = vec3_length(w.e) / 2;
    return w;
}

/* About the middle of the face's box. */
static boundary_ball make_ball(const abut_solid *s, int32_t face) {
    const solid_loop *loop = &solid_loops(s)[solid_faces(s)[face].first_loop];
    boundary_ball ball = {box_center(face_box(s, face)), 0};
    for (int32_t k = 0, c = loop->coedge; k < loop->count; k++, c = solid_coedges(s)[c].next)
        ball.radius =
            fmax(ball.radius, vec3_distance(ball.center, solid_position(s, solid_coedges(s)[c].vertex)));
    return ball;
}

static bool make_wedges(const abut_context *context, boundary *b) {
    const abut_solid *s = b->solid;
    b->wedges = mem_calloc(context, (size_t)s->edge_count, sizeof *b->wedges);
    for (int32_t e = 0; b->wedges && e < s->edge_count; e++)
        if (solid_edges(s)[e].convexity > 0) b->wedges[e] = make_wedge(s, &solid_edges(s)[e]);
    b->balls = mem_calloc(context, (size_t)s->face_count, sizeof *b->balls);
    for (int32_t f = 0; b->balls && f < s->face_count; f++) b->balls[f] = make_ball(s, f);
    return b->wedges && b->balls;
}

abut_status boundary_create(const abut_context *context, const abut_solid *solid, boundary *out,
                            abut_error *error) {
    *out = (boundary){.solid = solid, .depth = solid->facts.volume / solid->facts.area / 2};
    abut_status status =
        solid->facts.convex ? ABUT_OK : abut_index_build(context, solid, NULL, &out->index, error);
    if (status != ABUT_OK) return status;
    box_array boxes = {0};
    int_array numbers = {0};
    bool fits = make_wedges(context, out) && build_trees(context, out, &boxes, &numbers);
    array_free(context, &boxes);
    array_free(context, &numbers);
    if (fits) return ABUT_OK;
    boundary_free(context, out);
    return fail_memory(error);
}

void boundary_free(const abut_context *context, boundary *b) {
    box_tree_free(context, &b->vertices);
    box_tree_free(context, &b->edges);
    box_tree_free(context, &b->faces);
    if (b->solid) {
        mem_free(context, b->wedges, (size_t)b->solid->edge_count, sizeof *b->wedges);
        mem_free(context, b->balls, (size_t)b->solid->face_count, sizeof *b->balls);
    }
    abut_index_free(context, b->index);
    *b = (boundary){0};
}

/* A convex solid is the part below all its faces. */
bool boundary_holds(const boundary *b, vec3 x) {
    if (b->index) return index_side(b->index, x) == INDEX_IN;
    for (int32_t f = 0; f < b->solid->face_count; f++)
        if (plane_distance(solid_faces(b->solid)[f].plane, x) > 0) return false;
    return true;
}

bool boundary_contains(const boundary *b, vec3 x) { return boundary_holds(b, vec3_sub(x, b->solid->origin)); }

/* ---- one side of a pair */

typedef struct side {
    const boundary *b;
    pose frame; /* of the stored frame */
    mat3 r;
} side;

static side make_side(const boundary *b, pose p) {
    pose frame = solid_frame(b->solid, p);
    return (side){b, frame, quat_matrix(frame.rotation)};
}
static vec3 to_world(const side *s, vec3 x) { return vec3_add(mat3_mul_vec(s->r, x), s->frame.position); }
static vec3 to_side(const side *s, vec3 x) { return mat3_tmul_vec(s->r, vec3_sub(x, s->frame.position)); }
static bool holds(const side *s, vec3 world) { return boundary_holds(s->b, to_side(s, world)); }

typedef struct search {
    side a, b;
    mat3 turn; /* A's frame to B's: turn x + shift */
    vec3 shift;
    const manifold_config *config;
    double radius;       /* what is looked at */
    double depth, slack; /* slack: rounding of places, a billionth of the size */
    bool turned;         /* the vertex is B's */
    gather *found;
} search;

/* ---- a vertex and a face */

bool boundary_leads_away(const abut_solid *s, int32_t vertex, vec3 n, double angle) {
    const solid_vertex *v = &solid_vertices(s)[vertex];
    int32_t c = v->coedge;
    do {
        vec3 e = vec3_sub(solid_position(s, solid_coedges(s)[solid_coedges(s)[c].next].vertex), v->position);
        if (vec3_dot(n, e) < -angle * vec3_length(e)) return false;
        c = solid_twin(s, solid_coedges(s)[c].prev);
    } while (c != v->coedge);
    return true;
}

double boundary_stands_beyond(const abut_solid *s, int32_t face, vec3 x, double reach, double slack) {
    if (index_face_contains(s, face, x)) return 0;
    const solid_face *f = &solid_faces(s)[face];
    vec3 foot = vec3_axpy(x, -plane_distance(f->plane, x), f->plane.n);
    double nearest = INFINITY, t;
    int32_t edge = -1;
    for (int32_t l = 0; l < f->loops; l++) {
        const solid_loop *loop = &solid_loops(s)[f->first_loop + l];
        for (int32_t k = 0, c = loop->coedge; k < loop->count; k++, c = solid_coedges(s)[c].next) {
            double d2 = index_edge_distance2(s, solid_coedges(s)[c].edge, foot, &t);
            if (d2 < nearest) nearest = d2, edge = solid_coedges(s)[c].edge;
        }
    }
    if (nearest <= slack * slack) return 0;
    return nearest <= reach * reach && solid_edges(s)[edge].convexity < 0 ? sqrt(nearest) : -1;
}

/* Over a dent, in front of one wall and inside the other: whether the way back over the reflex edge is the
 * shortest way out. */
static bool is_way_out(const boundary *b, vec3 x, double beyond) {
    double nearest = 0.99 * beyond;
    vec3 on, normal;
    return !boundary_nearest(b, vec3_add(x, b->solid->origin), &nearest, &on, &normal);
}

/* Vertex of `u`, face of `w`. */
static void try_vertex(search *q, const side *u, int32_t vertex, const side *w, int32_t face) {
    const abut_solid *su = u->b->solid, *sw = w->b->solid;
    const solid_face *f = &solid_faces(sw)[face];
    vec3 v = solid_position(su, vertex), x = q->turned ? mat3_tmul_vec(q->turn, vec3_sub(v, q->shift))
                                                       : vec3_add(mat3_mul_vec(q->turn, v), q->shift);
    double gap = plane_distance(f->plane, x), most = w->b->balls[face].radius + q->radius;
    if (gap > q->config->reach || gap < -q->radius) return;
    if (vec3_length2(vec3_sub(x, w->b->balls[face].center)) > most * most) return;
    vec3 away = q->turned ? mat3_mul_vec(q->turn, f->plane.n) : mat3_tmul_vec(q->turn, f->plane.n);
    if (gap < -q->depth || !boundary_leads_away(su, vertex, away, q->config->angle)) return;
    double beyond = boundary_stands_beyond(sw, face, x, q->radius, q->slack);
    if (beyond < 0) return;
    bool inside = gap < -q->slack;
    if ((inside || beyond > 0) && !boundary_holds(w->b, x)) return;
    if (beyond > 0 && !inside && !is_way_out(w->b, x, beyond)) return;
    abut_feature mine = {ABUT_FEATURE_VERTEX, vertex}, other = {ABUT_FEATURE_FACE, face};
    vec3 n = mat3_mul_vec(w->r, f->plane.n);
    gather_point p = {.at = vec3_axpy(to_world(w, x), -gap / 2, n), .normal = n, .gap = gap, .vertex = -1};
    /* one that stands on a face is not inside, whatever rounding says of it behind the others */
    bool on = !inside && gap <= q->slack && beyond == 0;
    if (inside || on) p.vertex = 2 * vertex + q->turned, p.way = on ? 0 : sqrt(gap * gap + beyond * beyond);
    p.id = q->turned ? manifold_id(other, mine) : manifold_id(mine, other);
    if (q->turned) p.normal = vec3_neg(n);
    gather_add(q->found, p);
}

static bool visit_vertex_face(void *user, int32_t vertex, int32_t face) {
    search *q = user;
    try_vertex(q, &q->a, vertex, &q->b, face);
    return true;
}
static bool visit_face_vertex(void *user, int32_t face, int32_t vertex) {
    search *q = user;
    try_vertex(q, &q->b, vertex, &q->a, face);
    return true;
}

/* ---- two edges */

/* In B's frame. */
static boundary_wedge wedge_in_b(const search *q, const boundary_wedge *w) {
    return (boundary_wedge){.p = vec3_add(mat3_mul_vec(q->turn, w->p), q->shift),
                            .e = mat3_mul_vec(q->turn, w->e)};
}

/* n leads up from the wedges of B to those of A, whose faces may lean by the angle. */
static bool separates(const search *q, const boundary_wedge *a, const boundary_wedge *b, vec3 *n) {
    vec3 m = mat3_tmul_vec(q->turn, *n);
    double up[4] = {vec3_dot(m, a->in[0]), vec3_dot(m, a->in[1]), -vec3_dot(*n, b->in[0]),
                    -vec3_dot(*n, b->in[1])};
    double flip = up[0] + up[1] + up[2] + up[3] < 0 ? -1 : 1;
    for (int k = 0; k < 4; k++)
        if (flip * up[k] < -q->config->angle) return false;
    *n = vec3_scale(*n, flip);
    return true;
}

/* Whether an edge that passes below another one, g, is in the solid there: the middle of what lies behind
 * both faces at g.  (The nearest point itself need not be: the faces may lean by the angle.) */
static bool passes_inside(const boundary *b, const boundary_wedge *g, vec3 p, vec3 e) {
    double from = 0, to = 1;
    for (int k = 0; k < 2; k++) {
        vec3 n = vec3_cross(k ? vec3_neg(g->e) : g->e, g->in[k]); /* outward, of the length of g */
        double off = vec3_dot(n, vec3_sub(p, g->p)), rate = vec3_dot(n, e);
        if (rate > 0) to = fmin(to, -off / rate);
        if (rate < 0) from = fmax(from, -off / rate);
    }
    return from < to && boundary_holds(b, vec3_axpy(p, (from + to) / 2, e));
}

static bool visit_edges(void *user, int32_t edge_a, int32_t edge_b) {
    search *q = user;
    const boundary_wedge *wa = &q->a.b->wedges[edge_a], *b = &q->b.b->wedges[edge_b];
    vec3 apart = vec3_sub(vec3_add(mat3_mul_vec(q->turn, wa->middle), q->shift), b->middle);
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
    vec3 world = to_world(&q->b, y);
    if (gap < -q->slack) {
        bool in_b = boundary_holds(q->b.b, x) || passes_inside(q->b.b, b, a.p, a.e);
        vec3 p = mat3_tmul_vec(q->turn, vec3_sub(b->p, q->shift)), e = mat3_tmul_vec(q->turn, b->e);
        if (!in_b || !(holds(&q->a, world) || passes_inside(q->a.b, wa, p, e))) return true;
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
static bool points_away(const side *s, int32_t vertex, vec3 u) {
    return boundary_leads_away(s->b->solid, vertex, mat3_tmul_vec(s->r, u), BOUNDARY_PARALLEL);
}

static void try_corner(search *q, const side *u, int32_t vertex, const side *w, vec3 on, abut_feature other,
                       vec3 x) {
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

static void try_vertex_edge(search *q, const side *u, int32_t vertex, const side *w, int32_t edge) {
    const boundary_wedge *g = &w->b->wedges[edge];
    vec3 world = to_world(u, solid_position(u->b->solid, vertex)), x = to_side(w, world);
    vec3 d = vec3_sub(x, g->p);
    double t = vec3_dot(d, g->e), whole = vec3_length2(g->e);
    if (!(t >= -q->slack * sqrt(whole) && t <= whole + q->slack * sqrt(whole))) return;
    vec3 on = vec3_axpy(g->p, t / whole, g->e), v = vec3_sub(x, on);
    double far2 = vec3_length2(v);
    if (far2 > q->config->reach * q->config->reach) return;
    if (vec3_dot(v, g->in[0]) <= q->slack && vec3_dot(v, g->in[1]) <= q->slack)
        try_corner(q, u, vertex, w, to_world(w, on), (abut_feature){ABUT_FEATURE_EDGE, edge}, world);
}

static bool visit_vertex_edge(void *user, int32_t vertex, int32_t edge) {
    search *q = user;
    try_vertex_edge(q, &q->a, vertex, &q->b, edge);
    return true;
}
static bool visit_edge_vertex(void *user, int32_t edge, int32_t vertex) {
    search *q = user;
    try_vertex_edge(q, &q->b, vertex, &q->a, edge);
    return true;
}
static bool visit_vertices(void *user, int32_t va, int32_t vb) {
    search *q = user;
    vec3 x = to_world(&q->a, solid_position(q->a.b->solid, va)),
         y = to_world(&q->b, solid_position(q->b.b->solid, vb));
    try_corner(q, &q->a, va, &q->b, y, (abut_feature){ABUT_FEATURE_VERTEX, vb}, x);
    return true;
}

/* ---- */

/* Vertices over faces and edges across edges, nearer than `radius`; overlaps up to it, but no deeper than
 * they have a nearest face, or than `deep` where that is more. */
static void find_facing(search *q, pose b_in_a, double radius, double deep) {
    const boundary *a = q->a.b, *b = q->b.b;
    double in_a = fmin(radius, fmax(a->depth, deep)), in_b = fmin(radius, fmax(b->depth, deep));
    q->found->count = 0;
    q->radius = radius;
    q->depth = in_b, q->turned = false;
    box_tree_pairs(&a->vertices, &b->faces, b_in_a, radius, visit_vertex_face, q);
    q->depth = in_a, q->turned = true;
    box_tree_pairs(&a->faces, &b->vertices, b_in_a, radius, visit_face_vertex, q);
    q->depth = fmin(in_a, in_b), q->turned = false;
    box_tree_pairs(&a->edges, &b->edges, b_in_a, radius, visit_edges, q);
}

static void find_corners(search *q, pose b_in_a) {
    const boundary *a = q->a.b, *b = q->b.b;
    double reach = q->config->reach;
    q->turned = false;
    box_tree_pairs(&a->vertices, &b->edges, b_in_a, reach, visit_vertex_edge, q);
    box_tree_pairs(&a->vertices, &b->vertices, b_in_a, reach, visit_vertices, q);
    q->turned = true;
    box_tree_pairs(&a->edges, &b->vertices, b_in_a, reach, visit_edge_vertex, q);
}

/* ---- overlaps deeper than half of a body is thick
 *
 * Bodies that another one threw, or that were fast, may be in each other so far that no feature faces another
 * within the depth that has a nearest face.  They are known by an edge that passes through a face (or a
 * vertex inside, when none does), and get what faces at that depth, a quarter more, and so on: the
 * shallowest. */

/* The edge from x to y (frame of s) passes through the face, by more than rounding on both sides. */
static bool pierces(const search *q, const abut_solid *s, int32_t face, vec3 x, vec3 y) {
    plane p = solid_faces(s)[face].plane;
    double from = plane_distance(p, x), to = plane_distance(p, y), slack = q->slack;
    if (!((from > slack && to < -slack) || (from < -slack && to > slack))) return false;
    return index_face_contains(s, face, vec3_lerp(x, y, from / (from - to)));
}

/* false: found, no need to go on */
static bool visit_edge_face(void *user, int32_t edge, int32_t face) {
    const search *q = user;
    boundary_wedge e = wedge_in_b(q, &q->a.b->wedges[edge]);
    return !pierces(q, q->b.b->solid, face, e.p, vec3_add(e.p, e.e));
}
static bool visit_face_edge(void *user, int32_t face, int32_t edge) {
    const search *q = user;
    const boundary_wedge *e = &q->b.b->wedges[edge];
    vec3 x = mat3_tmul_vec(q->turn, vec3_sub(e->p, q->shift));
    return !pierces(q, q->a.b->solid, face, x, vec3_add(x, mat3_tmul_vec(q->turn, e->e)));
}

static bool overlaps(search *q, pose b_in_a) {
    const boundary *a = q->a.b, *b = q->b.b;
    if (!box_tree_pairs(&a->edges, &b->faces, b_in_a, 0, visit_edge_face, q) ||
        !box_tree_pairs(&a->faces, &b->edges, b_in_a, 0, visit_face_edge, q))
        return true;
    vec3 x = solid_position(a->solid, 0), y = solid_position(b->solid, 0);
    return boundary_holds(b, vec3_add(mat3_mul_vec(q->turn, x), q->shift)) ||
           boundary_holds(a, mat3_tmul_vec(q->turn, vec3_sub(y, q->shift)));
}

/* Where nothing faces at any depth (a corner that brushed over an edge: the edges at it lead below both
 * faces), a part of an edge that is inside is pushed out through the face by which it came in:
 *
 *        x----\   the edge from x to y crosses the face at t; the part inside ends at u, at y or where the
 * edge
 *      ---t----+  leaves again; n . (u - face) is the gap
 *         |  u |
 *
 * Of all such parts and faces the shallowest. */
enum { CROSSINGS = 32 };
typedef struct crossing {
    int32_t edge, face;
    double t;
    bool in; /* towards t = 1 the edge is inside */
} crossing;

typedef struct crossings {
    search *q;
    int count;
    crossing all[CROSSINGS];
} crossings;

/* Frame of the face's side: the edge of the other one. */
static boundary_wedge edge_there(const search *q, int32_t edge) {
    if (!q->turned) return wedge_in_b(q, &q->a.b->wedges[edge]);
    const boundary_wedge *w = &q->b.b->wedges[edge];
    return (boundary_wedge){.p = mat3_tmul_vec(q->turn, vec3_sub(w->p, q->shift)),
                            .e = mat3_tmul_vec(q->turn, w->e)};
}

static bool add_crossing(crossings *c, int32_t edge, int32_t face) {
    const abut_solid *s = c->q->turned ? c->q->a.b->solid : c->q->b.b->solid;
    boundary_wedge e = edge_there(c->q, edge);
    vec3 end = vec3_add(e.p, e.e);
    if (!pierces(c->q, s, face, e.p, end)) return true;
    plane p = solid_faces(s)[face].plane;
    double from = plane_distance(p, e.p), to = plane_distance(p, end);
    c->all[c->count++] = (crossing){edge, face, from / (from - to), from > 0};
    return c->count < CROSSINGS; /* the shallowest of so many will do */
}
static bool visit_crossing(void *user, int32_t edge, int32_t face) { return add_crossing(user, edge, face); }
static bool visit_crossed(void *user, int32_t face, int32_t edge) { return add_crossing(user, edge, face); }

/* Where the part inside that begins at a crossing ends. */
static double other_end(const crossings *c, const crossing *from) {
    double end = from->in ? 1 : 0;
    for (int i = 0; i < c->count; i++) {
        const crossing *x = &c->all[i];
        if (x->edge != from->edge || x->in == from->in) continue;
        if (from->in ? x->t > from->t && x->t < end : x->t < from->t && x->t > end) end = x->t;
    }
    return end;
}

static void push_crossings(crossings *c, gather_point *best) {
    search *q = c->q;
    const side *w = q->turned ? &q->a : &q->b;
    for (int i = 0; i < c->count; i++) {
        const crossing *x = &c->all[i];
        plane p = solid_faces(w->b->solid)[x->face].plane;
        boundary_wedge e = edge_there(q, x->edge);
        vec3 u = vec3_axpy(e.p, other_end(c, x), e.e), n = mat3_mul_vec(w->r, p.n);
        double gap = plane_distance(p, u);
        if (!(gap < 0 && gap > best->gap)) continue;
        abut_feature mine = {ABUT_FEATURE_EDGE, x->edge}, other = {ABUT_FEATURE_FACE, x->face};
        *best = (gather_point){.at = vec3_axpy(to_world(w, u), -gap / 2, n),
                               .normal = q->turned ? vec3_neg(n) : n,
                               .gap = gap,
                               .id = q->turned ? manifold_id(other, mine) : manifold_id(mine, other),
                               .vertex = -1};
    }
}

static void find_crossings(search *q, pose b_in_a) {
    const boundary *a = q->a.b, *b = q->b.b;
    gather_point best = {.gap = -INFINITY};
    crossings c = {.q = q};
    q->turned = false;
    box_tree_pairs(&a->edges, &b->faces, b_in_a, 0, visit_crossing, &c);
    push_crossings(&c, &best);
    c.count = 0, q->turned = true;
    box_tree_pairs(&a->faces, &b->edges, b_in_a, 0, visit_crossed, &c);
    push_crossings(&c, &best);
    if (isfinite(best.gap)) gather_add(q->found, best);
}

static double deepest(const gather *found) {
    double least = 0;
    for (int i = 0; i < found->count; i++) least = fmin(least, found->points[i].gap);
    return least;
}

/* After a look at what is near: the same farther, where an overlap is deep already, or is not seen. */
static void find_deeper(search *q, pose b_in_a) {
    double deep = fmax(q->a.b->depth, q->b.b->depth), seen = deepest(q->found);
    double most = q->a.b->solid->diagonal + q->b.b->solid->diagonal;
    if (seen < 0) {
        if (seen < -0.5 * q->radius && deep > q->radius) find_facing(q, b_in_a, deep, 0);
        return;
    }
    if (!overlaps(q, b_in_a)) return;
    for (deep = fmax(deep, q->radius); deepest(q->found) == 0 && deep < most; deep *= 1.25)
        find_facing(q, b_in_a, deep, deep);
    if (deepest(q->found) == 0) find_crossings(q, b_in_a);
}

int boundary_collide(const boundary *a, pose pa, const boundary *b, pose pb, const manifold_config *config,
                     manifold *out, int room) {
    gather found;
    found.count = 0;
    search q = {.a = make_side(a, pa), .b = make_side(b, pb), .config = config, .found = &found};
    q.slack = 1e-9 * (a->solid->diagonal + b->solid->diagonal);
    pose b_in_a = pose_relative(q.b.frame, q.a.frame);
    q.turn = mat3_mul(mat3_transpose(q.b.r), q.a.r), q.shift = to_side(&q.b, q.a.frame.position);
    find_facing(&q, b_in_a, config->reach, 0);
    find_deeper(&q, b_in_a);
    if (found.count == 0 || config->all_places) find_corners(&q, b_in_a);
    return gather_group(&found, config, out, room);
}
