/* Analytic shapes in closed form (sphere, capsule, cylinder, ellipsoid: centred, axis z), and the one place
 * that tells them from hulls. */
#include "convex/shape.h"

abut_convex abut_convex_hull(const abut_hull *hull) {
    return (abut_convex){.kind = ABUT_CONVEX_HULL, .hull = hull};
}
abut_convex abut_convex_sphere(double radius) {
    return (abut_convex){.kind = ABUT_CONVEX_SPHERE, .radius = radius};
}
abut_convex abut_convex_capsule(double radius, double length) {
    return (abut_convex){.kind = ABUT_CONVEX_CAPSULE, .radius = radius, .length = length};
}
abut_convex abut_convex_cylinder(double radius, double height) {
    return (abut_convex){.kind = ABUT_CONVEX_CYLINDER, .radius = radius, .length = height};
}
abut_convex abut_convex_ellipsoid(double a, double b, double c) {
    return (abut_convex){.kind = ABUT_CONVEX_ELLIPSOID, .axes = {a, b, c}};
}

const char *abut_feature_name(abut_feature_kind kind) {
    return kind == ABUT_FEATURE_FACE ? "face" : kind == ABUT_FEATURE_EDGE ? "edge" : "vertex";
}

static bool is_length(double x) { return x > 0 && isfinite(x); }

abut_status shape_check(const abut_convex *s, const char *which, abut_error *error) {
    switch (s->kind) {
    case ABUT_CONVEX_HULL:
        if (s->hull && s->hull->magic == HULL_MAGIC && s->hull->version == HULL_VERSION) return ABUT_OK;
        return fail(error, ABUT_INVALID, "shape %s: no hull; make one with abut_hull_create", which);
    case ABUT_CONVEX_SPHERE:
        if (is_length(s->radius)) return ABUT_OK;
        break;
    case ABUT_CONVEX_CAPSULE:
    case ABUT_CONVEX_CYLINDER:
        if (is_length(s->radius) && is_length(s->length)) return ABUT_OK;
        break;
    case ABUT_CONVEX_ELLIPSOID:
        if (is_length(s->axes.x) && is_length(s->axes.y) && is_length(s->axes.z)) return ABUT_OK;
        break;
    case ABUT_CONVEX_NONE: break;
    }
    return fail(error, ABUT_INVALID, "shape %s: its lengths must be positive and finite", which);
}

double shape_radius(const abut_convex *s) {
    switch (s->kind) {
    case ABUT_CONVEX_HULL: return s->hull->radius;
    case ABUT_CONVEX_CAPSULE: return s->radius + s->length / 2;
    case ABUT_CONVEX_CYLINDER: return sqrt(s->radius * s->radius + s->length * s->length / 4);
    case ABUT_CONVEX_ELLIPSOID: return vec3_max_abs(s->axes);
    default: return s->radius;
    }
}

/* Sphere r d/|d|; capsule: an end of the axis and a sphere; cylinder: an end of the axis and a disc;
 * ellipsoid with M = diag(axes^2): M d / sqrt(d . M d). */
vec3 shape_support_curved(const abut_convex *s, vec3 d) {
    double half = d.z >= 0 ? s->length / 2 : -s->length / 2;
    switch (s->kind) {
    case ABUT_CONVEX_CAPSULE: return vec3_axpy(vec3_make(0, 0, half), s->radius, vec3_unit(d));
    case ABUT_CONVEX_CYLINDER:
        return vec3_axpy(vec3_make(0, 0, half), s->radius, vec3_unit(vec3_make(d.x, d.y, 0)));
    case ABUT_CONVEX_ELLIPSOID: {
        vec3 m = {s->axes.x * d.x, s->axes.y * d.y, s->axes.z * d.z};
        m = vec3_unit(m);
        return vec3_make(s->axes.x * m.x, s->axes.y * m.y, s->axes.z * m.z);
    }
    default: return vec3_scale(vec3_unit(d), s->radius);
    }
}

abut_vec3 abut_convex_support(const abut_convex *s, abut_vec3 direction) {
    int32_t vertex;
    return vec3_add(shape_center(s), shape_support(s, direction, &vertex));
}

/* A cylinder's flat end faces n when n is its axis, its side line when n is orthogonal to the axis. */
abut_feature shape_feature(const abut_convex *s, vec3 n, int32_t support, double angle) {
    if (s->kind == ABUT_CONVEX_HULL) return hull_feature(s->hull, n, support, angle);
    double radial = sqrt(n.x * n.x + n.y * n.y);
    if (s->kind == ABUT_CONVEX_CYLINDER && radial <= angle) return (abut_feature){ABUT_FEATURE_FACE, n.z > 0};
    if ((s->kind == ABUT_CONVEX_CYLINDER || s->kind == ABUT_CONVEX_CAPSULE) && fabs(n.z) <= angle)
        return (abut_feature){ABUT_FEATURE_EDGE, 0};
    return (abut_feature){ABUT_FEATURE_VERTEX, 0};
}

int shape_most_corners(const abut_convex *s) {
    return s->kind == ABUT_CONVEX_HULL       ? s->hull->most_corners
           : s->kind == ABUT_CONVEX_CYLINDER ? RIM_CORNERS
                                             : 2;
}

int shape_corner_count(const abut_convex *s, abut_feature f) {
    if (f.kind != ABUT_FEATURE_FACE) return f.kind == ABUT_FEATURE_EDGE ? 2 : 1;
    return s->kind == ABUT_CONVEX_HULL ? hull_faces(s->hull)[f.id].corner_count : RIM_CORNERS;
}

/* cos and sin of i/16 of a turn: written out, so that no libm bits enter. */
static vec3 rim_direction(int i) {
    static const double quarter[5] = {0, 0.38268343236508977, 0.70710678118654757, 0.92387953251128674, 1};
    int k = i % 4;
    double c = quarter[4 - k], s = quarter[k];
    switch (i / 4 % 4) {
    case 0: return vec3_make(c, s, 0);
    case 1: return vec3_make(-s, c, 0);
    case 2: return vec3_make(-c, -s, 0);
    default: return vec3_make(s, -c, 0);
    }
}

static vec3 hull_feature_corner(const abut_hull *h, abut_feature f, int i, int32_t *vertex, int32_t *edge) {
    *vertex = *edge = f.id;
    if (f.kind == ABUT_FEATURE_EDGE) *vertex = hull_edges(h)[f.id].vertex[i];
    if (f.kind == ABUT_FEATURE_FACE) {
        const hull_corner *corner = &hull_corners(h)[hull_faces(h)[f.id].first_corner + i];
        *vertex = corner->vertex, *edge = corner->edge;
    }
    return hull_vertex(h, *vertex);
}

/* Below this slope a rim is level, and its corners stand in fixed directions. */
static const double LEVEL = 1e-3;

vec3 shape_corner(const abut_convex *s, abut_feature f, vec3 n, int i, int32_t *vertex, int32_t *edge) {
    if (s->kind == ABUT_CONVEX_HULL) return hull_feature_corner(s->hull, f, i, vertex, edge);
    *vertex = i, *edge = f.kind == ABUT_FEATURE_FACE ? i : 0;
    if (f.kind == ABUT_FEATURE_VERTEX) return shape_support_curved(s, n);
    vec3 end = {0, 0, (f.kind == ABUT_FEATURE_FACE ? f.id : i) ? s->length / 2 : -s->length / 2};
    if (s->kind == ABUT_CONVEX_CAPSULE)
        return vec3_axpy(end, s->radius, n); /* the lowest of each round end */
    if (f.kind == ABUT_FEATURE_EDGE) return vec3_axpy(end, s->radius, vec3_unit(vec3_make(n.x, n.y, 0)));
    /* counter-clockwise seen from outside: the bottom runs the other way round; a rim that leans begins with
     * its point farthest along n, so that this one is always there */
    vec3 rim = rim_direction(f.id ? i : RIM_CORNERS - i), u = {n.x, n.y, 0};
    if (vec3_length2(u) <= LEVEL * LEVEL) return vec3_axpy(end, s->radius, rim);
    u = vec3_scale(u, s->radius / vec3_length(u));
    return vec3_add(end, vec3_make(rim.x * u.x - rim.y * u.y, rim.x * u.y + rim.y * u.x, 0));
}
