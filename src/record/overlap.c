/* A solid overlaps another deeper than epsilon if a vertex or a stretch of an edge of one is inside the
 * other, farther than epsilon from its boundary.  Round shapes are points and segments with a radius: they
 * overlap a solid if these are closer to it than the radius. */
#include "record/overlap.h"

#include "contact/curved.h"
#include "solid/solid.h"

static vec3 to_frame(pose from, pose to, vec3 p) { return pose_unpoint(to, pose_point(from, p)); }

/* The box of a around the points of b's box, in a's frame. */
static box box_in(box b, pose from, pose to) {
    box out = box_empty();
    for (int i = 0; i < 8; i++) {
        vec3 corner = {i & 1 ? b.upper.x : b.lower.x, i & 2 ? b.upper.y : b.lower.y,
                       i & 4 ? b.upper.z : b.lower.z};
        out = box_add_point(out, to_frame(from, to, corner));
    }
    return out;
}

static bool is_inside(const overlap_shape *b, vec3 p, double epsilon) {
    return abut_index_point(b->index, b->shape->solid, p, epsilon).kind == ABUT_INSIDE;
}

/* The distance from the boundary to one per cent, if the point is inside and it is more than epsilon: the
 * largest tolerance at which it still counts as inside, doubled and then bisected. */
static double depth_of_point(const overlap_shape *b, vec3 p, double epsilon) {
    double depth = epsilon, more = 2 * epsilon;
    if (!is_inside(b, p, epsilon)) return 0;
    while (depth < 1e9 * epsilon && is_inside(b, p, more)) depth = more, more *= 2;
    while (more - depth > 0.01 * depth) {
        double middle = (depth + more) / 2;
        if (is_inside(b, p, middle))
            depth = middle;
        else
            more = middle;
    }
    return depth;
}

static double segment_depth(const overlap_shape *b, vec3 p, vec3 q, double epsilon) {
    enum { RUNS = 64 };
    abut_run runs[RUNS];
    int count = abut_index_segment(b->index, b->shape->solid, p, q, epsilon, runs, RUNS);
    double deepest = 0;
    for (int i = 0; i < count && i < RUNS; i++) {
        if (runs[i].place.kind != ABUT_INSIDE) continue;
        vec3 first = runs[i].points[0], last = runs[i].points[runs[i].point_count - 1];
        for (int k = 0; k <= 4; k++)
            deepest = fmax(deepest, depth_of_point(b, vec3_lerp(first, last, k / 4.0), epsilon));
    }
    return deepest;
}

/* Edges (with their vertices) of a that are inside b. */
static double edges_inside(const overlap_shape *a, pose pa, const overlap_shape *b, pose pb, double epsilon) {
    const abut_solid *s = a->shape->solid;
    box other = box_in(b->bounds, pb, pa);
    double deepest = 0;
    for (int64_t i = 0; i < s->edge_count; i++) {
        const solid_edge *e = &solid_edges(s)[i];
        vec3 p = vec3_add(solid_position(s, e->vertex[0]), s->origin),
             q = vec3_add(solid_position(s, e->vertex[1]), s->origin);
        box edge = box_add_point(box_add_point(box_empty(), p), q);
        if (!box_overlap(edge, other)) continue;
        deepest = fmax(deepest, segment_depth(b, to_frame(pa, pb, p), to_frame(pa, pb, q), epsilon));
    }
    return deepest;
}

/* Below the plane of a half-space: how deep the deepest point of a shape lies. */
static double below_plane(const overlap_shape *a, pose pa, const abut_shape *space, pose pb) {
    double length = vec3_length(space->normal);
    vec3 n = pose_vector(pb, vec3_scale(space->normal, 1 / length));
    double d = vec3_dot(n, pb.position) + space->offset / length;
    vec3 u = pose_unvector(pa, n); /* in the shape's axes */
    const abut_shape *s = a->shape;
    double lowest = INFINITY, center = vec3_dot(n, pa.position) - d, side = sqrt(u.x * u.x + u.y * u.y);
    switch (s->kind) {
    case ABUT_SHAPE_SPHERE: return s->radius - center;
    case ABUT_SHAPE_CAPSULE: return s->radius + fabs(u.z) * s->length / 2 - center;
    case ABUT_SHAPE_CYLINDER: return s->radius * side + fabs(u.z) * s->length / 2 - center;
    case ABUT_SHAPE_ELLIPSOID: {
        vec3 h = {u.x * s->axes.x, u.y * s->axes.y, u.z * s->axes.z};
        return vec3_length(h) - center;
    }
    case ABUT_SHAPE_SOLID:
        for (int32_t i = 0; i < s->solid->vertex_count; i++) {
            vec3 p = vec3_add(solid_position(s->solid, i), s->solid->origin);
            lowest = fmin(lowest, vec3_dot(n, pose_point(pa, p)) - d);
        }
        return -lowest;
    default: return 0;
    }
}

/* The core of a round shape: a segment (or a point) with a radius. */
static bool core(const abut_shape *s, pose p, vec3 ends[2]) {
    double half = s->kind == ABUT_SHAPE_CAPSULE ? s->length / 2 : 0;
    ends[0] = pose_point(p, vec3_make(0, 0, -half)), ends[1] = pose_point(p, vec3_make(0, 0, half));
    return s->kind == ABUT_SHAPE_SPHERE || s->kind == ABUT_SHAPE_CAPSULE;
}

/* Distance of two segments: the least over ends against segments, and of the lines where their feet lie on
 * both. */
static double point_segment(vec3 x, vec3 p, vec3 q) {
    vec3 d = vec3_sub(q, p), e = vec3_sub(x, p);
    double dd = vec3_dot(d, d), t = dd > 0 ? vec3_dot(e, d) / dd : 0;
    return vec3_length(vec3_axpy(e, -fmin(fmax(t, 0), 1), d));
}

static double segment_segment(const vec3 a[2], const vec3 b[2]) {
    double least = fmin(fmin(point_segment(a[0], b[0], b[1]), point_segment(a[1], b[0], b[1])),
                        fmin(point_segment(b[0], a[0], a[1]), point_segment(b[1], a[0], a[1])));
    vec3 u = vec3_sub(a[1], a[0]), v = vec3_sub(b[1], b[0]), w = vec3_sub(b[0], a[0]), n = vec3_cross(u, v);
    double nn = vec3_dot(n, n);
    if (!(nn > 0)) return least;
    double s = vec3_triple(w, v, n) / nn, t = vec3_triple(w, u, n) / nn;
    if (s < 0 || s > 1 || t < 0 || t > 1) return least;
    return fmin(least, fabs(vec3_dot(w, n)) / sqrt(nn));
}

/* Whether all of the segment is outside and farther than `distance` from the boundary. */
static bool core_is_farther(const overlap_shape *b, vec3 p, vec3 q, double distance) {
    abut_run runs[2];
    if (p.x == q.x && p.y == q.y && p.z == q.z)
        return abut_index_point(b->index, b->shape->solid, p, distance).kind == ABUT_OUTSIDE;
    int count = abut_index_segment(b->index, b->shape->solid, p, q, distance, runs, 2);
    return count == 1 && runs[0].place.kind == ABUT_OUTSIDE;
}

/* A sphere or capsule: the radius less the distance of its core, bisected; where the core itself is inside,
 * by how much more. */
static double round_in_solid(const abut_shape *s, const vec3 ends[2], const overlap_shape *b, pose pb,
                             double epsilon) {
    vec3 p = pose_unpoint(pb, ends[0]), q = pose_unpoint(pb, ends[1]);
    double near = 0, far = s->radius;
    if (core_is_farther(b, p, q, s->radius - epsilon)) return 0;
    for (int i = 0; i < 48; i++) {
        double middle = (near + far) / 2;
        if (core_is_farther(b, p, q, middle))
            near = middle;
        else
            far = middle;
    }
    double more = near > epsilon ? 0 : fmax(depth_of_point(b, p, epsilon), segment_depth(b, p, q, epsilon));
    return s->radius - near + more;
}

static double round_round(const abut_shape *a, pose pa, const abut_shape *b, pose pb) {
    vec3 x[2], y[2];
    bool round_a = core(a, pa, x), round_b = core(b, pb, y);
    if (round_a && round_b) return a->radius + b->radius - segment_segment(x, y);
    if (b->kind == ABUT_SHAPE_CAVITY) return curved_reach(a, pose_unpoint(pa, pb.position)) - b->radius;
    abut_convex k, l;
    abut_convex_options options = abut_default_convex_options();
    abut_convex_result result = {.points = NULL};
    options.no_points = true;
    if (!curved_as_convex(a, &k) || !curved_as_convex(b, &l)) return 0;
    return abut_convex_distance(&k, pa, &l, pb, &options, NULL, &result, NULL) == ABUT_OK ? -result.distance
                                                                                          : 0;
}

static double ordered(const overlap_shape *a, pose pa, const overlap_shape *b, pose pb, double epsilon) {
    vec3 ends[2];
    if (b->shape->kind == ABUT_SHAPE_HALFSPACE) return below_plane(a, pa, b->shape, pb);
    if (b->shape->kind == ABUT_SHAPE_SOLID && core(a->shape, pa, ends))
        return round_in_solid(a->shape, ends, b, pb, epsilon);
    if (b->shape->kind == ABUT_SHAPE_SOLID &&
        (a->shape->kind == ABUT_SHAPE_CYLINDER || a->shape->kind == ABUT_SHAPE_ELLIPSOID))
        return curved_in_solid(a->shape, pa, b->shape->solid, b->index, pb, epsilon);
    return 0;
}

double overlap_depth(const overlap_shape *a, pose pa, const overlap_shape *b, pose pb, double epsilon) {
    double depth;
    if (a->shape->kind == ABUT_SHAPE_SOLID && b->shape->kind == ABUT_SHAPE_SOLID)
        depth = fmax(edges_inside(a, pa, b, pb, epsilon), edges_inside(b, pb, a, pa, epsilon));
    else
        depth = fmax(round_round(a->shape, pa, b->shape, pb),
                     fmax(round_round(b->shape, pb, a->shape, pa),
                          fmax(ordered(a, pa, b, pb, epsilon), ordered(b, pb, a, pa, epsilon))));
    return depth > epsilon ? depth : 0;
}
