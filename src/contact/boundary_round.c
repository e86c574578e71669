/* Spheres and capsules on a boundary, rays, and the nearest point of a boundary.
 *
 * A sphere is a point with a radius, a capsule a segment with one.  Each feature of the boundary holds the
 * points that are nearest to it: those over a face, between the two half-planes of an edge, in the cone of a
 * vertex (the Voronoi regions outside the solid).  Where an end or the axis is nearest in such a region,
 * there is a contact, gap = distance - radius.  Regions overlap by LEAN: a capsule that lies along an edge is
 * nearest to points on their borders, and rounding would say of both that it is the other's.
 *
 * Where an end is inside, it belongs to the nearest face.  An axis that goes through the solid, or whose end
 * is so deep inside that no face is near, is told by nothing here: the caller is told so. */
#include "contact/boundary.h"

#define LEAN 1e-9 /* radians, and part of a length */

typedef struct stadium {
    const boundary *b;
    vec3 p, e;     /* stored frame: p + s e, 0 <= s <= 1 */
    vec3 end;      /* the end that is looked at */
    int32_t which; /* 0, 1 */
    bool told[2];  /* of an end inside: by a face */
    double radius, reach;
    pose frame;
    gather *found;
} stadium;

/* x: of the axis; n: from the boundary to it. */
static void add(stadium *q, vec3 x, double distance, vec3 n, abut_feature mine, abut_feature other,
                int32_t inside) {
    double gap = distance - q->radius;
    if (gap > q->reach) return;
    vec3 at = vec3_axpy(x, -q->radius - gap / 2, n);
    gather_add(q->found, (gather_point){.at = pose_point(q->frame, at),
                                        .normal = pose_vector(q->frame, n),
                                        .gap = gap,
                                        .id = manifold_id(mine, other),
                                        .vertex = inside,
                                        .way = -distance});
}

static bool visit_face(void *user, int32_t face) {
    stadium *q = user;
    const solid_face *f = &solid_faces(q->b->solid)[face];
    double height = plane_distance(f->plane, q->end);
    if (height - q->radius > q->reach || height < -q->b->depth) return true;
    if (!index_face_contains(q->b->solid, face, q->end)) return true;
    bool inside = height < 0;
    if (inside && !boundary_contains(q->b, vec3_add(q->end, q->b->solid->origin))) return true;
    if (inside) q->told[q->which] = true;
    add(q, q->end, height, f->plane.n, (abut_feature){ABUT_FEATURE_VERTEX, q->which},
        (abut_feature){ABUT_FEATURE_FACE, face}, inside ? q->which : -1);
    return true;
}

static vec3 normal_of(const abut_solid *s, const solid_edge *e, int k) {
    return solid_faces(s)[solid_coedges(s)[e->coedge[k]].face].plane.n;
}

/* The direction of v, orthogonal to the convex edge, if it leads out between its two faces; for an axis that
 * meets the edge, half way between them. */
static bool between_faces(const abut_solid *s, const solid_edge *e, vec3 along, vec3 v, vec3 *out) {
    double length = vec3_length(v), lean = LEAN * length * vec3_length(along);
    for (int k = 0; k < 2; k++)
        if (vec3_dot(vec3_cross(normal_of(s, e, k), k ? vec3_neg(along) : along), v) > lean) return false;
    *out = vec3_unit(length > 0 ? v : vec3_add(normal_of(s, e, 0), normal_of(s, e, 1)));
    return true;
}

static bool is_part(double t) { return t >= -LEAN && t <= 1 + LEAN; }

static bool visit_edge(void *user, int32_t edge) {
    stadium *q = user;
    const abut_solid *s = q->b->solid;
    const solid_edge *e = &solid_edges(s)[edge];
    vec3 p = solid_position(s, e->vertex[0]), along = vec3_sub(solid_position(s, e->vertex[1]), p), out;
    double ff = vec3_length2(along), t = vec3_dot(vec3_sub(q->end, p), along) / ff;
    vec3 v = vec3_sub(q->end, vec3_axpy(p, t, along));
    abut_feature other = {ABUT_FEATURE_EDGE, edge};
    if (is_part(t) && between_faces(s, e, along, v, &out))
        add(q, q->end, vec3_length(v), out, (abut_feature){ABUT_FEATURE_VERTEX, q->which}, other, -1);
    /* the axis across the edge; once for both ends */
    vec3 n = vec3_cross(q->e, along), d = vec3_sub(p, q->p);
    double nn = vec3_length2(n);
    if (q->which || nn <= 1e-12 * vec3_length2(q->e) * ff) return true;
    double a = vec3_triple(n, d, along) / nn;
    t = vec3_triple(n, d, q->e) / nn;
    vec3 x = vec3_axpy(q->p, a, q->e);
    v = vec3_sub(x, vec3_axpy(p, t, along));
    if (a > 0 && a < 1 && is_part(t) && between_faces(s, e, along, v, &out))
        add(q, x, vec3_length(v), out, (abut_feature){ABUT_FEATURE_EDGE, 0}, other, -1);
    return true;
}

/* In the cone of the vertex: all that is there leads away from v. */
static bool in_cone(const boundary *b, int32_t vertex, vec3 v, vec3 *out) {
    *out = vec3_unit(vec3_length2(v) > 0 ? v : vec3_neg(b->inward[vertex]));
    return vec3_length2(*out) > 0 && boundary_leads_away(b, vertex, vec3_neg(*out), LEAN);
}

static bool visit_vertex(void *user, int32_t vertex) {
    stadium *q = user;
    vec3 at = solid_position(q->b->solid, vertex), v = vec3_sub(q->end, at), out;
    abut_feature other = {ABUT_FEATURE_VERTEX, vertex};
    double ee = vec3_length2(q->e), t = ee > 0 ? vec3_dot(vec3_sub(at, q->p), q->e) / ee : 0;
    if ((q->which ? t >= 1 : t <= 0) && in_cone(q->b, vertex, v, &out))
        add(q, q->end, vec3_length(v), out, (abut_feature){ABUT_FEATURE_VERTEX, q->which}, other, -1);
    if (q->which || !(t > 0 && t < 1)) return true;
    vec3 x = vec3_axpy(q->p, t, q->e);
    v = vec3_sub(x, at);
    if (in_cone(q->b, vertex, v, &out))
        add(q, x, vec3_length(v), out, (abut_feature){ABUT_FEATURE_EDGE, 0}, other, -1);
    return true;
}

/* Whether a part of the axis is inside of which no end told why. */
static bool goes_inside(const stadium *q, box axis) {
    const boundary *b = q->b;
    vec3 end = vec3_add(q->p, q->e);
    double t = 1;
    if (!b->faces.node_count || !box_overlap(axis, b->faces.nodes[0].bounds)) return false;
    bool in[2] = {boundary_holds(b, q->p), boundary_holds(b, end)};
    if (in[0] || in[1]) return (in[0] && !q->told[0]) || (in[1] && !q->told[1] && vec3_length2(q->e) > 0);
    return vec3_length2(q->e) > 0 && boundary_ray(b, vec3_add(q->p, b->solid->origin), q->e, &t) >= 0;
}

int boundary_collide_round(vec3 from, vec3 to, double radius, const boundary *b, pose pb,
                           const manifold_config *config, manifold *out, int room, bool *deep) {
    gather found;
    found.count = 0;
    stadium q = {.b = b, .radius = radius, .reach = config->reach, .found = &found};
    q.frame = solid_frame(b->solid, pb);
    q.p = pose_unpoint(q.frame, from), q.e = vec3_sub(pose_unpoint(q.frame, to), q.p);
    vec3 ends[2] = {q.p, vec3_add(q.p, q.e)};
    box all = box_add_point(box_add_point(box_empty(), ends[0]), ends[1]);
    double wide = radius + config->reach;
    for (int k = 0; k < (vec3_length2(q.e) > 0 ? 2 : 1); k++) {
        q.end = ends[k], q.which = k;
        box here = box_add_point(box_empty(), q.end);
        box_tree_query(&b->faces, box_grow(here, fmax(wide, b->depth)), visit_face, &q);
        box_tree_query(&b->edges, box_grow(k ? here : all, wide), visit_edge, &q);
        box_tree_query(&b->vertices, box_grow(k ? here : all, wide), visit_vertex, &q);
    }
    *deep = goes_inside(&q, all);
    return gather_group(&found, config, out, room);
}

/* ---- rays and nearest points: the tree of faces, nodes out of reach skipped */

enum { WALK_DEPTH = 64 };

/* Whether o + t d, 0 <= t <= limit, meets a box: the slabs of the three axes have a common stretch. */
static bool ray_meets(box b, vec3 o, vec3 d, double limit) {
    double in = 0, out = limit;
    for (int k = 0; k < 3; k++) {
        double x = vec3_at(o, k), v = vec3_at(d, k), low = vec3_at(b.lower, k), high = vec3_at(b.upper, k);
        if (v == 0) {
            if (x < low || x > high) return false;
            continue;
        }
        double t0 = (low - x) / v, t1 = (high - x) / v;
        in = fmax(in, fmin(t0, t1)), out = fmin(out, fmax(t0, t1));
    }
    return in <= out * (1 + 1e-15) + 1e-300;
}

int32_t boundary_ray(const boundary *b, vec3 origin, vec3 d, double *t) {
    int32_t stack[WALK_DEPTH], depth = 0, hit = -1;
    const box_tree *tree = &b->faces;
    vec3 o = vec3_sub(origin, b->solid->origin);
    if (tree->node_count) stack[depth++] = 0;
    while (depth) {
        int32_t n = stack[--depth];
        const box_node *node = &tree->nodes[n];
        if (!ray_meets(box_grow(node->bounds, 1e-12 * b->solid->diagonal), o, d, *t)) continue;
        if (node->right >= 0) {
            stack[depth++] = node->right, stack[depth++] = n + 1;
            continue;
        }
        for (int32_t i = 0; i < node->count; i++) {
            int32_t face = tree->items[node->first + i];
            const solid_face *f = &solid_faces(b->solid)[face];
            double away = plane_distance(f->plane, o), speed = vec3_dot(f->plane.n, d), at = -away / speed;
            if (!(away >= 0 && speed < 0 && at <= *t)) continue;
            if (index_face_contains(b->solid, face, vec3_axpy(o, at, d))) *t = at, hit = face;
        }
    }
    return hit;
}

static double box_distance2(box b, vec3 x) {
    vec3 zero = {0, 0, 0};
    vec3 d = vec3_max(zero, vec3_max(vec3_sub(b.lower, x), vec3_sub(x, b.upper)));
    return vec3_length2(d);
}

/* The nearest point of a face: the foot, or a point of its border. */
static vec3 nearest_of_face(const abut_solid *s, int32_t face, vec3 x) {
    const solid_face *f = &solid_faces(s)[face];
    vec3 best = vec3_axpy(x, -plane_distance(f->plane, x), f->plane.n);
    if (index_face_contains(s, face, x)) return best;
    double least = INFINITY, t;
    for (int32_t l = 0; l < f->loops; l++) {
        const solid_loop *loop = &solid_loops(s)[f->first_loop + l];
        for (int32_t k = 0, c = loop->coedge; k < loop->count; k++, c = solid_coedges(s)[c].next) {
            const solid_edge *e = &solid_edges(s)[solid_coedges(s)[c].edge];
            double d2 = index_edge_distance2(s, solid_coedges(s)[c].edge, x, &t);
            if (!(d2 < least)) continue;
            least = d2;
            best = vec3_lerp(solid_position(s, e->vertex[0]), solid_position(s, e->vertex[1]), t);
        }
    }
    return best;
}

bool boundary_nearest(const boundary *b, vec3 point, double *distance, vec3 *on, vec3 *normal) {
    int32_t stack[WALK_DEPTH], depth = 0;
    const box_tree *tree = &b->faces;
    vec3 x = vec3_sub(point, b->solid->origin);
    bool found = false;
    if (tree->node_count) stack[depth++] = 0;
    while (depth) {
        int32_t n = stack[--depth];
        const box_node *node = &tree->nodes[n];
        if (!(box_distance2(node->bounds, x) < *distance * *distance)) continue;
        if (node->right >= 0) {
            double left = box_distance2(tree->nodes[n + 1].bounds, x),
                   right = box_distance2(tree->nodes[node->right].bounds, x);
            stack[depth++] = left <= right ? node->right : n + 1;
            stack[depth++] = left <= right ? n + 1 : node->right;
            continue;
        }
        for (int32_t i = 0; i < node->count; i++) {
            int32_t face = tree->items[node->first + i];
            vec3 y = nearest_of_face(b->solid, face, x);
            double d = vec3_distance(x, y);
            if (!(d < *distance)) continue;
            *distance = d, *on = vec3_add(y, b->solid->origin), found = true;
            *normal = solid_faces(b->solid)[face].plane.n;
        }
    }
    if (!found) return false;
    bool inside = boundary_contains(b, point);
    vec3 v = inside ? vec3_sub(*on, point) : vec3_sub(point, *on);
    if (vec3_length(v) > 1e-12 * b->solid->diagonal) *normal = vec3_unit(v);
    if (inside) *distance = -*distance;
    return true;
}
