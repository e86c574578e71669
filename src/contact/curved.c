/* A convex curved body K and a solid S overlap if an edge of S passes through K, or if, for a face that cuts
 * K, the way from the middle of K to its lowest point below the face enters S; otherwise the boundary of S
 * does not cut K at all, and K is inside S if its middle is.  "Deeper than d" is asked of K with d taken off
 * its half axes, or off its radius and both ends. */
#include "contact/curved.h"
#include "solid/solid.h"

bool curved_as_convex(const abut_shape *s, abut_convex *out) {
    switch (s->kind) {
    case ABUT_SHAPE_SPHERE: *out = abut_convex_sphere(s->radius); return true;
    case ABUT_SHAPE_CAPSULE: *out = abut_convex_capsule(s->radius, s->length); return true;
    case ABUT_SHAPE_CYLINDER: *out = abut_convex_cylinder(s->radius, s->length); return true;
    case ABUT_SHAPE_ELLIPSOID: *out = abut_convex_ellipsoid(s->axes.x, s->axes.y, s->axes.z); return true;
    default: return false;
    }
}

/* The shape with d taken off; false when nothing is left. */
static bool shrunk(abut_convex s, double d, abut_convex *out) {
    *out = s;
    out->radius = s.radius - d, out->length = s.length - 2 * d;
    out->axes = vec3_sub(s.axes, vec3_make(d, d, d));
    if (s.kind == ABUT_CONVEX_CYLINDER) return out->radius > 0 && out->length > 0;
    return out->axes.x > 0 && out->axes.y > 0 && out->axes.z > 0;
}

/* Distance of the origin from the segment. */
static double from_origin(vec3 p, vec3 q) {
    vec3 d = vec3_sub(q, p);
    double dd = vec3_dot(d, d), t = dd > 0 ? -vec3_dot(p, d) / dd : 0;
    return vec3_length(vec3_axpy(p, fmin(fmax(t, 0), 1), d));
}

/* Does the segment pass through the shape? */
static bool passes_through(const abut_convex *k, vec3 p, vec3 q) {
    if (k->kind == ABUT_CONVEX_ELLIPSOID) {
        vec3 a = k->axes;
        return from_origin(vec3_make(p.x / a.x, p.y / a.y, p.z / a.z),
                           vec3_make(q.x / a.x, q.y / a.y, q.z / a.z)) < 1;
    }
    double half = k->length / 2, lo = 0, hi = 1, rise = q.z - p.z;
    if (rise == 0 && fabs(p.z) >= half) return false;
    if (rise != 0) {
        double s = (-half - p.z) / rise, t = (half - p.z) / rise;
        lo = fmax(lo, fmin(s, t)), hi = fmin(hi, fmax(s, t));
        if (lo >= hi) return false;
    }
    vec3 u = vec3_lerp(p, q, lo), v = vec3_lerp(p, q, hi);
    u.z = v.z = 0;
    return from_origin(u, v) < k->radius;
}

typedef struct solid_view {
    const abut_solid *solid;
    const abut_index *index;
    pose to_curved; /* of the solid in the axes of the curved shape */
    double epsilon;
} solid_view;

static bool edge_passes(const solid_view *v, const abut_convex *k) {
    const abut_solid *s = v->solid;
    for (int64_t i = 0; i < s->edge_count; i++) {
        const solid_edge *e = &solid_edges(s)[i];
        vec3 p = vec3_add(solid_position(s, e->vertex[0]), s->origin),
             q = vec3_add(solid_position(s, e->vertex[1]), s->origin);
        if (passes_through(k, pose_point(v->to_curved, p), pose_point(v->to_curved, q))) return true;
    }
    return false;
}

static bool enters(const solid_view *v, vec3 from, vec3 to) {
    enum { RUNS = 32 };
    abut_run runs[RUNS];
    int count = abut_index_segment(v->index, v->solid, pose_unpoint(v->to_curved, from),
                                   pose_unpoint(v->to_curved, to), v->epsilon / 4, runs, RUNS);
    for (int i = 0; i < count && i < RUNS; i++)
        if (runs[i].place.kind == ABUT_INSIDE) return true;
    return false;
}

static bool overlaps(const solid_view *v, const abut_convex *k) {
    const abut_solid *s = v->solid;
    vec3 middle = vec3_zero();
    if (abut_index_point(v->index, s, pose_unpoint(v->to_curved, middle), v->epsilon / 4).kind == ABUT_INSIDE)
        return true;
    for (int32_t f = 0; f < s->face_count; f++) {
        vec3 n = pose_vector(v->to_curved, solid_faces(s)[f].plane.n);
        vec3 foot = vec3_add(s->origin, vec3_scale(solid_faces(s)[f].plane.n, solid_faces(s)[f].plane.d));
        double d = vec3_dot(n, pose_point(v->to_curved, foot));
        vec3 lowest = vec3_neg(abut_convex_support(k, n));
        if (d < 0 && vec3_dot(n, lowest) < d && enters(v, middle, lowest)) return true;
    }
    return edge_passes(v, k);
}

double curved_in_solid(const abut_shape *shape, pose at, const abut_solid *solid, const abut_index *index,
                       pose solid_at, double epsilon) {
    solid_view v = {solid, index, pose_relative(solid_at, at), epsilon};
    abut_convex whole, part;
    if (!curved_as_convex(shape, &whole) || !shrunk(whole, epsilon, &part) || !overlaps(&v, &part)) return 0;
    double lo = epsilon, hi = 2 * epsilon;
    while (shrunk(whole, hi, &part) && overlaps(&v, &part)) lo = hi, hi *= 2;
    while (hi - lo > 0.01 * hi) {
        double d = (lo + hi) / 2;
        if (shrunk(whole, d, &part) && overlaps(&v, &part))
            lo = d;
        else
            hi = d;
    }
    return hi;
}

/* Farthest place of an ellipsoid: going to the place whose normal is the direction from z never comes nearer.
 */
static double ellipsoid_reach(const abut_shape *s, vec3 from) {
    double best = 0;
    abut_convex k = abut_convex_ellipsoid(s->axes.x, s->axes.y, s->axes.z);
    for (int i = 0; i < 6; i++) {
        double sign = i % 2 ? -1 : 1;
        vec3 x = {i / 2 == 0 ? sign * s->axes.x : 0, i / 2 == 1 ? sign * s->axes.y : 0,
                  i / 2 == 2 ? sign * s->axes.z : 0};
        for (int round = 0; round < 400; round++) x = abut_convex_support(&k, vec3_sub(x, from));
        best = fmax(best, vec3_distance(x, from));
    }
    return best;
}

double curved_reach(const abut_shape *s, vec3 from) {
    double side = sqrt(from.x * from.x + from.y * from.y), up = fabs(from.z) + s->length / 2, best = 0;
    switch (s->kind) {
    case ABUT_SHAPE_SPHERE: return vec3_length(from) + s->radius;
    case ABUT_SHAPE_CAPSULE: return sqrt(side * side + up * up) + s->radius;
    case ABUT_SHAPE_CYLINDER: return sqrt((side + s->radius) * (side + s->radius) + up * up);
    case ABUT_SHAPE_ELLIPSOID: return ellipsoid_reach(s, from);
    case ABUT_SHAPE_SOLID:
        for (int32_t i = 0; i < s->solid->vertex_count; i++)
            best = fmax(best, vec3_distance(vec3_add(solid_position(s->solid, i), s->solid->origin), from));
        return best;
    default: return 0;
    }
}
