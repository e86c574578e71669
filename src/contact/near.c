/* Collecting near pairs with the box trees, and the test whether the features of a pair face each other. */
#include "contact/near.h"
#include "contact/smooth.h"
#include "solid/solid.h"

/* Slope below which two directions count as parallel to a plane: rotations are known to rounding, and a face
 * that is settling on another leans less than this when its far edge is within the touching distance. */
static const double flat = 1e-6;

/* ---- collecting */

typedef struct collector {
    const abut_context *context;
    const contact_shape *a, *b;
    const motion *ma, *mb;
    double reach, turn;
    const near_window *window;
    near_array *out;
    int32_t item; /* the analytic element at work */
    pose b_in_a;
} collector;

static bool push(collector *c, element a, contact_feature fa, element b, contact_feature fb, double sign) {
    return array_push(c->context, c->out, ((near_pair){a, b, fa, fb, sign}));
}

/* The points on the rim of a cylinder carry it where it stands flat, and only there. */
static bool is_rim_point(const element *e) { return e->kind == ELEMENT_POINT && e->r == 0; }

static bool is_wall(const element *e) { return e->kind == ELEMENT_PLANE || e->kind == ELEMENT_CAVITY; }

/* Whether a pair of elements can be a place of contact.  Two sharp ones meet only as edge and edge, or as a
 * point and a wall: a vertex on a rim, or on another vertex, slips off at once. */
static bool can_meet(const element *a, const element *b) {
    if (!element_pair_is_known(a->kind, b->kind)) return false;
    bool point_a = a->kind == ELEMENT_POINT, point_b = b->kind == ELEMENT_POINT;
    if (point_a && point_b) return a->r + b->r > 0;
    if (point_a && b->kind == ELEMENT_LINE) return a->r + b->r > 0;
    if (point_b && a->kind == ELEMENT_LINE) return a->r + b->r > 0;
    if (point_a && b->kind == ELEMENT_CIRCLE) return a->r > 0;
    if (point_b && a->kind == ELEMENT_CIRCLE) return b->r > 0;
    return true;
}

/* A rim has two places against a line or another rim, an ellipsoid two in a cavity. */
static bool has_two_places(const element *a, const element *b) {
    if (a->kind == ELEMENT_CIRCLE) return b->kind == ELEMENT_LINE || b->kind == ELEMENT_CIRCLE;
    if (b->kind == ELEMENT_CIRCLE) return a->kind == ELEMENT_LINE;
    return (a->kind == ELEMENT_ELLIPSOID && b->kind == ELEMENT_CAVITY) ||
           (a->kind == ELEMENT_CAVITY && b->kind == ELEMENT_ELLIPSOID);
}

/* An analytic element `e` and any other. */
static bool push_round(collector *c, element e, contact_feature fe, element other, contact_feature fo) {
    if (!can_meet(&e, &other)) return true;
    if (!push(c, e, fe, other, fo, 1)) return false;
    if (!has_two_places(&e, &other)) return true;
    e.branch = other.branch = 1;
    fe.id += SHAPE_ELEMENTS; /* the second place is another feature */
    return push(c, e, fe, other, fo, 1);
}

static contact_feature feature(feature_kind kind, int32_t id) { return (contact_feature){kind, id}; }

/* How far the solid near the vertex reaches beyond the plane with normal n: the largest -n.d over the edges,
 * a sine. */
static double cone_excess(const abut_solid *s, int32_t vertex, vec3 n) {
    const solid_coedge *coedges = solid_coedges(s);
    int32_t start = solid_vertices(s)[vertex].coedge, c = start;
    double most = -1;
    for (int32_t budget = 2 * solid_vertices(s)[vertex].valence + 8; budget > 0; budget--) {
        vec3 d = vec3_sub(solid_position(s, coedges[coedges[c].next].vertex), solid_position(s, vertex));
        most = fmax(most, -vec3_dot(n, d) / vec3_length(d));
        c = solid_twin(s, coedges[c].prev);
        if (c == start) break;
    }
    return most;
}

/* The vertex of one solid against a face of the other, in the frame of the vertex: near, and the cone of the
 * vertex not turned away for the whole window. */
static bool vertex_may_face(const collector *c, const contact_shape *s, int32_t v, vec3 vertex, vec3 normal,
                            vec3 on_plane) {
    if (vec3_dot(normal, vec3_sub(vertex, on_plane)) > c->reach) return false;
    return c->turn >= 1 || cone_excess(s->shape.solid, v, normal) <= flat + c->turn;
}

static bool vertex_face(void *user, int32_t v, int32_t f) {
    collector *c = user;
    element a = contact_shape_vertex(c->a, v), b = contact_shape_face(c->b, f);
    vec3 n = quat_rotate(c->b_in_a.rotation, b.d), p = pose_point(c->b_in_a, b.p);
    if (!vertex_may_face(c, c->a, v, a.p, n, p)) return true;
    return push(c, a, feature(FEATURE_VERTEX, v), b, feature(FEATURE_FACE, f), 1);
}

static bool face_vertex(void *user, int32_t f, int32_t v) {
    collector *c = user;
    element a = contact_shape_face(c->a, f), b = contact_shape_vertex(c->b, v);
    vec3 n = quat_unrotate(c->b_in_a.rotation, a.d);
    vec3 p = quat_unrotate(c->b_in_a.rotation, vec3_sub(a.p, c->b_in_a.position));
    if (!vertex_may_face(c, c->b, v, b.p, n, p)) return true;
    return push(c, a, feature(FEATURE_FACE, f), b, feature(FEATURE_VERTEX, v), 1);
}

/* In-face direction: from the edge of a coedge into its face, n x (direction of the coedge), body axes, unit.
 */
static vec3 into_face(const abut_solid *s, int32_t coedge) {
    const solid_coedge *c = &solid_coedges(s)[coedge];
    vec3 along = vec3_sub(solid_position(s, solid_coedges(s)[c->next].vertex), solid_position(s, c->vertex));
    return vec3_unit(vec3_cross(solid_faces(s)[c->face].plane.n, along));
}

/* The largest of -n.t over the two faces at an edge: at most `flat` where the wedge stays on the side of n.
 */
static double wedge_excess(const abut_solid *s, int32_t edge, vec3 n) {
    const solid_edge *e = &solid_edges(s)[edge];
    return -fmin(vec3_dot(n, into_face(s, e->coedge[0])), vec3_dot(n, into_face(s, e->coedge[1])));
}

/* Two convex edges meet with the normal that has the wedge of a on its positive side; if neither direction of
 * d_a x d_b has, or the edges are parallel, the pair cannot be a contact in this pose or near it. */
static bool edge_edge(void *user, int32_t i, int32_t j) {
    collector *c = user;
    const abut_solid *sa = c->a->shape.solid, *sb = c->b->shape.solid;
    if (solid_edges(sa)[i].convexity <= 0 || solid_edges(sb)[j].convexity <= 0) return true;
    element ea = contact_shape_edge(c->a, i), eb = contact_shape_edge(c->b, j);
    vec3 n = vec3_cross(ea.d, quat_rotate(c->b_in_a.rotation, eb.d)); /* axes of a */
    double sine = vec3_length(n);
    if (sine < flat) return true;
    n = vec3_scale(n, 1 / sine);
    if (fabs(vec3_dot(n, vec3_sub(pose_point(c->b_in_a, eb.p), ea.p))) > c->reach) return true;
    /* the normal turns faster than the edges where they are nearly parallel */
    double most = c->turn < 0.5 * sine ? flat + c->turn + 2 * c->turn / sine : INFINITY;
    double plus = wedge_excess(sa, i, n), minus = wedge_excess(sa, i, vec3_neg(n));
    /* sharp edges can come to face each other either way, and so can those that may become parallel: beyond,
     * their cross product points the other way */
    for (int k = 0; k < 2; k++) {
        double sign = (plus <= minus) == (k == 0) ? 1 : -1, excess = sign > 0 ? plus : minus;
        vec3 nb = quat_unrotate(c->b_in_a.rotation, vec3_scale(n, -sign));
        if (excess > most || wedge_excess(sb, j, nb) > most) continue;
        if (!push(c, ea, feature(FEATURE_EDGE, i), eb, feature(FEATURE_EDGE, j), sign)) return false;
    }
    return true;
}

/* How far the surfaces come towards each other, from place to place: axes of a, about its centre. */
static box_reach reach_of(const collector *c) {
    if (!(c->window->time > 0)) return (box_reach){.base = c->reach};
    vec3 u = vec3_sub(motion_velocity_at(c->mb, c->ma->center), c->ma->velocity.linear);
    vec3 w = vec3_sub(c->mb->velocity.angular, c->ma->velocity.angular);
    return (box_reach){c->window->base, c->window->time, quat_unrotate(c->ma->rotation, u),
                       quat_unrotate(c->ma->rotation, w)};
}

static bool collect_solids(collector *c) {
    pose pa = {c->ma->center, c->ma->rotation}, pb = {c->mb->center, c->mb->rotation};
    c->b_in_a = pose_relative(pb, pa);
    box_reach reach = reach_of(c);
    return box_tree_pairs_moving(&c->a->vertices, &c->b->faces, c->b_in_a, &reach, vertex_face, c) &&
           box_tree_pairs_moving(&c->a->faces, &c->b->vertices, c->b_in_a, &reach, face_vertex, c) &&
           box_tree_pairs_moving(&c->a->edges, &c->b->edges, c->b_in_a, &reach, edge_edge, c);
}

/* An element of the analytic shape a against the vertices, edges and faces of the solid b. */
static bool element_vertex(void *user, int32_t v) {
    collector *c = user;
    const element *e = &c->a->elements[c->item];
    if (is_rim_point(e)) return true;
    return push_round(c, *e, c->a->features[c->item], contact_shape_vertex(c->b, v),
                      feature(FEATURE_VERTEX, v));
}

static bool element_edge(void *user, int32_t i) {
    collector *c = user;
    const element *e = &c->a->elements[c->item];
    if (is_rim_point(e) || solid_edges(c->b->shape.solid)[i].convexity <= 0) return true;
    return push_round(c, *e, c->a->features[c->item], contact_shape_edge(c->b, i), feature(FEATURE_EDGE, i));
}

static bool element_face(void *user, int32_t f) {
    collector *c = user;
    const element *e = &c->a->elements[c->item];
    return push_round(c, *e, c->a->features[c->item], contact_shape_face(c->b, f), feature(FEATURE_FACE, f));
}

/* Bounds of the whole shape a, moved into the frame of body b and grown by the reach. */
static box bounds_in(const collector *c) {
    vec3 center = quat_unrotate(c->mb->rotation, vec3_sub(c->ma->center, c->mb->center));
    double r = c->a->radius + c->reach;
    return (box){vec3_sub(center, vec3_make(r, r, r)), vec3_add(center, vec3_make(r, r, r))};
}

static bool collect_round_solid(collector *c) {
    for (c->item = 0; c->item < c->a->element_count; c->item++) {
        const element *e = &c->a->elements[c->item];
        if (e->kind == ELEMENT_PLANE && c->a->shape.kind == ABUT_SHAPE_HALFSPACE) {
            /* vertices below the plane, in the frame of b */
            vec3 n = quat_unrotate(c->mb->rotation, quat_rotate(c->ma->rotation, e->d));
            vec3 p = vec3_add(c->ma->center, quat_rotate(c->ma->rotation, e->p));
            double d = vec3_dot(n, quat_unrotate(c->mb->rotation, vec3_sub(p, c->mb->center)));
            if (!box_tree_below(&c->b->vertices, n, d + c->reach, element_vertex, c)) return false;
            continue;
        }
        box region = bounds_in(c);
        if (!box_tree_query(&c->b->vertices, region, element_vertex, c)) return false;
        if (!box_tree_query(&c->b->edges, region, element_edge, c)) return false;
        if (!box_tree_query(&c->b->faces, region, element_face, c)) return false;
    }
    return true;
}

static bool collect_round(collector *c) {
    for (int i = 0; i < c->a->element_count; i++)
        for (int j = 0; j < c->b->element_count; j++) {
            const element *ea = &c->a->elements[i], *eb = &c->b->elements[j];
            if ((is_rim_point(ea) && !is_wall(eb)) || (is_rim_point(eb) && !is_wall(ea))) continue;
            if (!push_round(c, *ea, c->a->features[i], *eb, c->b->features[j])) return false;
        }
    return true;
}

/* Turns the pairs from index `first` on around: what was found with the shapes swapped. */
static void swap_pairs(near_array *out, int64_t first) {
    for (int64_t i = first; i < out->count; i++) {
        near_pair *p = &out->data[i];
        *p = (near_pair){.a = p->b, .b = p->a, .fa = p->fb, .fb = p->fa, .sign = p->sign};
    }
}

/* Solids are compared in the frame of the larger one: boxes around its large faces would cover everything
 * when seen from a turned frame. */
bool near_collect_window(const abut_context *context, const contact_shape *a, const motion *ma,
                         const contact_shape *b, const motion *mb, const near_window *window,
                         near_array *out) {
    bool solid_a = a->shape.kind == ABUT_SHAPE_SOLID, solid_b = b->shape.kind == ABUT_SHAPE_SOLID;
    double reach = window->reach;
    if (a->shape.kind == ABUT_SHAPE_SURFACE || b->shape.kind == ABUT_SHAPE_SURFACE)
        return smooth_collect(context, a, ma, b, mb, reach, false, out);
    collector c = {.context = context, .a = a, .b = b, .ma = ma, .mb = mb, .window = window};
    collector swapped = {.context = context, .a = b, .b = a, .ma = mb, .mb = ma, .window = window};
    c.reach = swapped.reach = reach, c.turn = swapped.turn = window->turn, c.out = swapped.out = out;
    if (solid_a && solid_b && a->radius >= b->radius) return collect_solids(&c);
    if (!solid_a && !solid_b) return collect_round(&c);
    if (solid_b && !solid_a) return collect_round_solid(&c);
    int64_t first = out->count;
    bool fine = solid_a && solid_b ? collect_solids(&swapped) : collect_round_solid(&swapped);
    swap_pairs(out, first);
    return fine;
}

bool near_collect(const abut_context *context, const contact_shape *a, const motion *ma,
                  const contact_shape *b, const motion *mb, double reach, double turn, near_array *out) {
    return near_collect_window(context, a, ma, b, mb, &(near_window){.reach = reach, .turn = turn}, out);
}

/* Everything bounded meets everything; walls without an end meet nothing without an end. */
bool near_shapes_known(abut_shape_kind a, abut_shape_kind b) {
    if (a > b) return near_shapes_known(b, a);
    if (a == ABUT_SHAPE_NONE) return true;
    if (b == ABUT_SHAPE_SURFACE) return smooth_shapes_known(a);
    if (a == ABUT_SHAPE_SURFACE) return smooth_shapes_known(b);
    bool endless_a = a == ABUT_SHAPE_HALFSPACE || a == ABUT_SHAPE_CAVITY,
         endless_b = b == ABUT_SHAPE_HALFSPACE || b == ABUT_SHAPE_CAVITY;
    return !(endless_a && endless_b);
}

/* ---- facing */

/* Whether the solid stays, near the vertex, on the side of n (body axes): every edge at it does. */
static bool cone_on_side(const abut_solid *s, int32_t vertex, vec3 n) {
    const solid_coedge *coedges = solid_coedges(s);
    int32_t start = solid_vertices(s)[vertex].coedge, c = start;
    for (int32_t budget = 2 * solid_vertices(s)[vertex].valence + 8; budget > 0; budget--) {
        vec3 d = vec3_sub(solid_position(s, coedges[coedges[c].next].vertex), solid_position(s, vertex));
        if (vec3_dot(n, d) < -flat * vec3_length(d)) return false;
        c = solid_twin(s, coedges[c].prev);
        if (c == start) return true;
    }
    return true;
}

/* Whether a reflex edge ends at the vertex: the solid is not convex there. */
static bool has_reflex_edge(const abut_solid *s, int32_t vertex) {
    const solid_coedge *coedges = solid_coedges(s);
    int32_t start = solid_vertices(s)[vertex].coedge, c = start;
    for (int32_t budget = 2 * solid_vertices(s)[vertex].valence + 8; budget > 0; budget--) {
        if (solid_edges(s)[coedges[c].edge].convexity < 0) return true;
        c = solid_twin(s, coedges[c].prev);
        if (c == start) break;
    }
    return false;
}

/* An edge that meets something at its end.  At a convex vertex the whole solid must stay on the side of the
 * plane between, or another feature has the contact.  At a saddle (the inner rim of a ring) the next edge
 * bends towards the other body: then both edges are in its way, each with its own plane, and neither plane
 * has all of the solid on one side. */
static bool end_faces(const abut_solid *s, int32_t vertex, vec3 n) {
    return cone_on_side(s, vertex, n) || has_reflex_edge(s, vertex);
}

/* Signed crossing of the edge p -> q with the ray from x in the face's plane: counts the winding. */
static int winding(vec3 n, vec3 axis, vec3 x, vec3 p, vec3 q) {
    vec3 other = vec3_cross(n, axis);
    double px = vec3_dot(axis, vec3_sub(p, x)), py = vec3_dot(other, vec3_sub(p, x));
    double qx = vec3_dot(axis, vec3_sub(q, x)), qy = vec3_dot(other, vec3_sub(q, x));
    if ((py <= 0) == (qy <= 0)) return 0;
    double cross = px * qy - py * qx; /* > 0: the edge passes to the left of x, counter-clockwise */
    return qy > py ? cross > 0 : cross < 0 ? -1 : 0;
}

static double distance_to_segment(vec3 x, vec3 p, vec3 q) {
    vec3 d = vec3_sub(q, p), e = vec3_sub(x, p);
    double t = vec3_dot(e, d) / vec3_dot(d, d);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return vec3_length(vec3_axpy(e, -t, d));
}

/* Whether x (body axes, in the plane of the face up to the gap) lies on the face or within slack of its
 * boundary. */
static bool on_face(const contact_shape *s, int32_t face, vec3 x, double slack) {
    const abut_solid *solid = s->shape.solid;
    const solid_face *f = &solid_faces(solid)[face];
    const solid_coedge *coedges = solid_coedges(solid);
    vec3 n = f->plane.n, axis = vec3_orthogonal(n);
    vec3 local = vec3_sub(x, s->origin);
    local = vec3_axpy(local, -plane_distance(f->plane, local), n);
    int turns = 0;
    for (int32_t l = f->first_loop; l < f->first_loop + f->loops; l++) {
        int32_t c = solid_loops(solid)[l].coedge;
        for (int32_t i = 0; i < solid_loops(solid)[l].count; i++, c = coedges[c].next) {
            vec3 p = solid_position(solid, coedges[c].vertex);
            vec3 q = solid_position(solid, coedges[coedges[c].next].vertex);
            if (distance_to_segment(local, p, q) <= slack) return true;
            turns += winding(n, axis, local, p, q);
        }
    }
    return turns != 0;
}

/* Whether the direction n (body axes, from the solid towards the other body) leaves the solid between the
 * faces of the edge. */
static bool edge_sees(const abut_solid *s, int32_t edge, vec3 n) {
    return wedge_excess(s, edge, vec3_neg(n)) <= flat;
}

/* Does the direction n leave the rim of a cylinder between its axis and its radius at x? */
static bool rim_sees(const element *rim, vec3 n, vec3 x) {
    vec3 e = vec3_sub(x, rim->p), radial = vec3_unit(vec3_axpy(e, -vec3_dot(e, rim->d), rim->d));
    return vec3_dot(n, rim->d) >= -flat && vec3_dot(n, radial) >= -flat;
}

/* Does x, seen along the axis, lie on the flat end of the cylinder? */
static bool on_cap(const contact_shape *s, const element *cap, vec3 x, double slack) {
    vec3 e = vec3_sub(x, cap->p);
    return vec3_length(vec3_axpy(e, -vec3_dot(cap->d, e), cap->d)) <= s->shape.radius + slack;
}

/* The points of a rim stand for it where it lies flat on a wall and has no deepest point; where it leans that
 * has the contact (element_contact).  Against a cavity it leans to rounding of the place when seen along the
 * rim. */
static bool rim_lies_flat(const contact_shape *s, const element *e, const element *other, vec3 n,
                          double slack) {
    vec3 radial = {e->p.x + s->center.x, e->p.y + s->center.y, 0}, lean = vec3_cross(e->d, n);
    if (other->kind == ELEMENT_CAVITY) return fabs(vec3_dot(lean, radial)) <= 0.1 * slack;
    return vec3_dot(e->d, n) > 0 && vec3_length(lean) <= 1.001 * ELEMENT_FLAT;
}

static bool round_faces(const contact_shape *s, const element *e, const element *other, vec3 n, vec3 x,
                        double t, double slack) {
    if (e->kind == ELEMENT_LINE) return t >= e->lo - slack && t <= e->hi + slack;
    /* the end of a capsule is half a ball: what looks at the other half looks at the mantle */
    if (e->kind == ELEMENT_POINT && e->r > 0) return vec3_dot(n, e->d) >= -flat;
    if (s->shape.kind != ABUT_SHAPE_CYLINDER) return true;
    if (e->kind == ELEMENT_PLANE) return on_cap(s, e, x, slack);
    if (is_rim_point(e)) return rim_lies_flat(s, e, other, n, slack);
    if (e->kind == ELEMENT_CIRCLE) return is_wall(other) || (t >= 0 && rim_sees(e, n, x));
    return true;
}

bool near_feature_faces(const contact_shape *s, const element *e, contact_feature f, const element *other,
                        vec3 n, vec3 x, double t, double slack) {
    if (s->shape.kind != ABUT_SHAPE_SOLID) return round_faces(s, e, other, n, x, t, slack);
    const abut_solid *solid = s->shape.solid;
    if (f.kind == FEATURE_VERTEX) return cone_on_side(solid, f.id, vec3_neg(n));
    if (f.kind == FEATURE_FACE) return on_face(s, f.id, x, slack);
    if (t < e->lo - slack || t > e->hi + slack || !edge_sees(solid, f.id, n)) return false;
    const solid_edge *edge = &solid_edges(solid)[f.id];
    if (t < e->lo + slack && !end_faces(solid, edge->vertex[0], vec3_neg(n))) return false;
    return t <= e->hi - slack || end_faces(solid, edge->vertex[1], vec3_neg(n));
}

bool near_evaluate(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack, contact_point *point, bool *faces) {
    double sa, sb;
    if (smooth_is_pair(pair)) {
        /* whether it faces is a question to the whole surface; without it, to the patch */
        near_pair place = *pair;
        return faces ? smooth_follow(&place, a, ma, b, mb, slack, point, faces, NULL)
                     : smooth_evaluate(pair, a, ma, b, mb, slack, point, NULL);
    }
    if (!element_contact(&pair->a, ma, &pair->b, mb, pair->sign, point, &sa, &sb)) return false;
    if (!faces) return true;
    vec3 xa = quat_unrotate(ma->rotation, vec3_sub(point->at, ma->center));
    vec3 xb = quat_unrotate(mb->rotation, vec3_sub(point->at, mb->center));
    vec3 na = quat_unrotate(ma->rotation, vec3_neg(point->normal)),
         nb = quat_unrotate(mb->rotation, point->normal);
    *faces = near_feature_faces(a, &pair->a, pair->fa, &pair->b, na, xa, sa, slack) &&
             near_feature_faces(b, &pair->b, pair->fb, &pair->a, nb, xb, sb, slack);
    return true;
}
