/* Solids with dents and curved shapes (cylinders, ellipsoids): the places where the solid's own faces, convex
 * edges and vertices are nearest (collider_curved.h). */
#include "contact/collider_curved.h"

static abut_feature feature(abut_feature_kind kind, int32_t id) { return (abut_feature){kind, id}; }

/* The point of B that is nearest of all, unless the flat parts of B have shown one that is as near: where B
 * lies flat, rounding says which of its points that is. */
static void add_nearest(const curved_search *q, curved_place *p, vec3 x, double gap, abut_feature a) {
    for (int i = 0; i < p->count; i++)
        if (p->points[i].gap <= gap + 1e-6 * q->size) return;
    curved_add(p, x, gap, a, feature(ABUT_FEATURE_VERTEX, 0));
}

/* ---- faces: the point of B that is deepest under the plane stands over the face */

/* In the corner of a dent the foot may lie beyond the reflex edge between two walls, with the point inside
 * both: then both push, if the way to that edge is the point's shortest way out. */
static bool is_over_corner(const curved_search *q, int32_t face, vec3 x, double gap) {
    if (!(gap < -q->slack) || !boundary_holds(q->boundary, x)) return false;
    int32_t across;
    double beyond = boundary_stands_beyond(q->boundary->solid, face, x, q->size, q->slack, &across),
           way = 0.99 * sqrt(gap * gap + beyond * beyond);
    vec3 on, normal;
    if (!(beyond > 0)) return beyond == 0;
    return !boundary_nearest(q->boundary, vec3_add(x, q->boundary->solid->origin), &way, &on, &normal);
}

static bool visit_face(void *user, int32_t face) {
    curved_search *q = user;
    const abut_solid *s = q->boundary->solid;
    plane f = solid_faces(s)[face].plane;
    curved_place p = {.n = f.n};
    vec3 x = curved_support(q, vec3_neg(f.n));
    double gap = plane_distance(f, x);
    if (gap > q->config->reach) return true;
    curved_points_on_face(q, face, &p);
    if (index_face_contains(s, face, x) || is_over_corner(q, face, x, gap))
        add_nearest(q, &p, x, gap, feature(ABUT_FEATURE_FACE, face));
    curved_offer(q, &p);
    return true;
}

/* ---- edges: g is largest between the normals of the two faces
 *
 * On the arc n(s) from n0 to n1 g' has the sign of t . (x(n) - p), t = along x n.  If g is largest at n* and
 * g(n*) >= 0, then at an angle u < 90 degrees from n* the slope towards n* is at least
 * (g(n*) - cos u g(n)) / sin u > 0, because g is concave as a homogeneous function: an arc in two halves,
 * each shorter than 90 degrees, has the sign change of g' in one of them.  Ways out that are longer than B
 * is curved may have more. */

typedef struct arc {
    const curved_search *q;
    vec3 p, along, n[2]; /* along: unit, so that it turns n[0] to n[1] */
} arc;

typedef struct arc_end {
    double s, rate;
    vec3 x;
} arc_end;

static vec3 normal_at(const arc *c, double s) { return vec3_unit(vec3_lerp(c->n[0], c->n[1], s)); }

static double rate_of(const arc *c, vec3 n, vec3 x) {
    return vec3_dot(vec3_cross(c->along, n), vec3_sub(x, c->p));
}

static arc_end look(const arc *c, double s) {
    vec3 n = normal_at(c, s), x = curved_support(c->q, vec3_neg(n));
    return (arc_end){s, rate_of(c, n, x), x};
}

/* Between a rising and a falling end: the secant, each third time the middle (of a cylinder the rate jumps,
 * where B is flat: x jumps then, and the place lies between the two). */
static vec3 climb(const arc *c, arc_end low, arc_end high, vec3 *n) {
    enum { ROUNDS = 120 };
    const double enough = 1e-3 * c->q->slack;
    for (int i = 0; i < ROUNDS && high.s - low.s > 1e-15; i++) {
        double part = i % 3 == 2 ? 0.5 : low.rate / (low.rate - high.rate);
        arc_end m = look(c, low.s + part * (high.s - low.s));
        if (m.s <= low.s || m.s >= high.s) break;
        if (fabs(m.rate) <= enough) {
            low = high = m;
            break;
        }
        *(m.rate > 0 ? &low : &high) = m;
    }
    *n = normal_at(c, (low.s + high.s) / 2);
    double from = rate_of(c, *n, low.x), to = rate_of(c, *n, high.x);
    return from > to ? vec3_lerp(low.x, high.x, fmin(1, fmax(0, from / (from - to)))) : low.x;
}

static void offer_edge(curved_search *q, const arc *c, int32_t edge, vec3 x, vec3 n) {
    const boundary_wedge *w = &q->boundary->wedges[edge];
    double t = vec3_dot(vec3_sub(x, c->p), c->along), length = 2 * w->half;
    if (vec3_dot(w->e, c->along) < 0) t = -t;
    curved_place p = {.n = n};
    curved_points_on_edge(q, edge, &p);
    if (t >= -q->slack && t <= length + q->slack)
        add_nearest(q, &p, x, vec3_dot(n, vec3_sub(x, c->p)), feature(ABUT_FEATURE_EDGE, edge));
    curved_offer(q, &p);
}

static bool visit_edge(void *user, int32_t edge) {
    curved_search *q = user;
    const abut_solid *s = q->boundary->solid;
    const solid_edge *e = &solid_edges(s)[edge];
    const boundary_wedge *w = &q->boundary->wedges[edge];
    arc c = {.q = q, .p = w->p, .along = vec3_scale(w->e, 1 / (2 * w->half))};
    for (int k = 0; k < 2; k++) c.n[k] = solid_faces(s)[solid_coedges(s)[e->coedge[k]].face].plane.n;
    if (vec3_triple(c.n[0], c.n[1], c.along) < 0) c.along = vec3_neg(c.along);
    const int parts = q->is_deep ? 8 : 2;
    arc_end low = look(&c, 0);
    for (int k = 1; k <= parts; k++) {
        arc_end high = look(&c, (double)k / parts);
        vec3 n, x;
        /* at its ends the place belongs to a face, which may miss it by rounding */
        double up = k == 1 ? -q->slack : 0, down = k == parts ? q->slack : 0;
        if (low.rate > up && high.rate < down) {
            x = climb(&c, low, high, &n);
            if (vec3_dot(n, vec3_sub(x, c.p)) <= q->config->reach) offer_edge(q, &c, edge, x, n);
        }
        low = high;
    }
    return true;
}

/* ---- vertices: the nearest point of B, with a normal that all edges at the vertex lead away from */

static void try_vertex(curved_search *q, int32_t vertex, vec3 v, double gap, vec3 outward) {
    if (gap > q->config->reach) return;
    if (!boundary_leads_away(q->boundary, vertex, outward, 1e-9)) return;
    curved_place p = {.n = vec3_neg(outward)};
    curved_add(&p, vec3_axpy(v, -gap, outward), gap, feature(ABUT_FEATURE_VERTEX, vertex),
               feature(ABUT_FEATURE_FACE, 0));
    curved_offer(q, &p);
}

static void keep_deepest(curved_search *q, int32_t vertex, vec3 v, double gap, vec3 outward) {
    if (!(gap < q->corner.at.gap)) return;
    q->corner.n = vec3_neg(outward);
    q->corner.at = (curved_point){vec3_axpy(v, -gap, outward), gap, feature(ABUT_FEATURE_VERTEX, vertex),
                                  feature(ABUT_FEATURE_FACE, 0)};
}

/* Inside a cylinder both its mantle and its end may be the way out, whichever is nearer. */
static void try_inside_cylinder(curved_search *q, int32_t vertex, vec3 v) {
    vec3 local = pose_unpoint(q->pb, v), out = {local.x, local.y, 0};
    double radial = vec3_length(out), side = radial - q->shape->radius,
           end = fabs(local.z) - q->shape->length / 2;
    if (radial > 0) try_vertex(q, vertex, v, side, pose_vector(q->pb, vec3_scale(out, 1 / radial)));
    try_vertex(q, vertex, v, end, pose_vector(q->pb, vec3_make(0, 0, local.z < 0 ? -1 : 1)));
}

/* A bound on how far a point (B's axes) is from an ellipsoid: (|u| - 1) times its smallest half axis, u the
 * point divided by the half axes. */
static double far_from_ellipsoid(const abut_convex *s, vec3 x) {
    double least = fmin(s->axes.x, fmin(s->axes.y, s->axes.z));
    return (vec3_length(vec3_make(x.x / s->axes.x, x.y / s->axes.y, x.z / s->axes.z)) - 1) * least;
}

static bool visit_vertex(void *user, int32_t vertex) {
    curved_search *q = user;
    vec3 v = solid_position(q->boundary->solid, vertex);
    const bool is_cylinder = q->shape->kind == ABUT_CONVEX_CYLINDER,
               is_ellipsoid = q->shape->kind == ABUT_CONVEX_ELLIPSOID;
    cast_hit hit;
    if (is_ellipsoid && far_from_ellipsoid(q->shape, pose_unpoint(q->pb, v)) > q->config->reach) return true;
    if (!cast_point(q->b, q->pb, v, INFINITY, &hit)) return true;
    keep_deepest(q, vertex, v, hit.t, hit.normal);
    if (is_cylinder && hit.t < 0)
        try_inside_cylinder(q, vertex, v);
    else
        try_vertex(q, vertex, v, hit.t, hit.normal);
    return true;
}

/* ---- */

void curved_find(curved_search *q, box near) {
    box_tree_query(&q->boundary->faces, near, visit_face, q);
    box_tree_query(&q->boundary->edges, near, visit_edge, q);
    box_tree_query(&q->boundary->vertices, near, visit_vertex, q);
}

static curved_search make_search(const collider *a, pose pa, const collider *b, pose pb,
                                 const manifold_config *config, gather *found) {
    curved_search q = {
        .a = a, .b = b, .boundary = &a->boundary, .shape = &b->convex.convex, .config = config};
    found->count = 0, q.found = found;
    q.frame = solid_frame(a->boundary.solid, pa), q.pb = pose_relative(pb, q.frame);
    q.turn = quat_matrix(q.pb.rotation);
    q.size = a->boundary.solid->diagonal + 2 * shape_radius(q.shape), q.slack = 1e-9 * q.size;
    return q;
}

int collider_collide_curved(const collider *a, pose pa, const collider *b, pose pb,
                            const manifold_config *config, manifold *out, int room) {
    gather found;
    curved_search q = make_search(a, pa, b, pb, config, &found);
    curved_find(&q, box_grow(collider_bounds(b, q.pb), config->reach));
    curved_settle(&q);
    return gather_group(&found, config, out, room);
}

int collider_leave(const collider *a, pose pa, const collider *b, pose pb, const manifold_config *config,
                   manifold *out, int room) {
    gather found;
    curved_search q = make_search(a, pa, b, pb, config, &found);
    curved_leave(&q);
    return gather_group(&found, config, out, room);
}
