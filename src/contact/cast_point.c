/* The nearest point of a collider's boundary and the signed distance from it, shape by shape in shape axes.
 */
#include "contact/cast.h"
#include "contact/collider_parts.h"
#include "convex/pair.h"

typedef struct nearest {
    double distance;
    vec3 normal; /* outward */
} nearest;

static vec3 unit_or(vec3 v, vec3 otherwise) { return vec3_length2(v) > 0 ? vec3_unit(v) : otherwise; }

static nearest near_ball(vec3 x, double r) {
    return (nearest){vec3_length(x) - r, unit_or(x, vec3_make(0, 0, 1))};
}

static nearest near_capsule(vec3 x, double r, double half) {
    double z = fmin(half, fmax(-half, x.z));
    vec3 v = {x.x, x.y, x.z - z};
    return (nearest){vec3_length(v) - r, unit_or(v, vec3_make(1, 0, 0))};
}

/* (radial, axial) is a point and the cylinder a rectangle in that half-plane. */
static nearest near_cylinder(vec3 x, double r, double half) {
    double radial = sqrt(x.x * x.x + x.y * x.y), side = radial - r, end = fabs(x.z) - half;
    vec3 out = unit_or(vec3_make(x.x, x.y, 0), vec3_make(1, 0, 0)), up = {0, 0, x.z < 0 ? -1 : 1};
    if (side > 0 && end > 0) {
        vec3 v = vec3_axpy(vec3_scale(out, side), end, up);
        return (nearest){vec3_length(v), vec3_unit(v)};
    }
    return side > end ? (nearest){side, out} : (nearest){end, up};
}

/* The nearest point of the ellipsoid with half axes e is y_i = e_i^2 x_i / (t + e_i^2), t the largest root of
 * sum (e_i x_i / (t + e_i^2))^2 = 1 (Eberly); the sum falls with t, so bisection finds it. */
static nearest near_ellipsoid(vec3 x, vec3 e) {
    double size = vec3_max_abs(e), tiny = 1e-12 * size; /* off the planes of symmetry, where roots coincide */
    double p[3] = {fmax(fabs(x.x), tiny), fmax(fabs(x.y), tiny), fmax(fabs(x.z), tiny)};
    double a[3] = {e.x, e.y, e.z}, y[3], least = fmin(e.x, fmin(e.y, e.z)), low = -least * least, high = low;
    for (int i = 0; i < 3; i++) high = fmax(high, a[i] * p[i] * 1.7320508075688773 - a[i] * a[i]);
    for (int step = 0; step < 120 && low < high; step++) {
        double t = (low + high) / 2, sum = 0;
        if (t <= low || t >= high) break;
        for (int i = 0; i < 3; i++) {
            double q = a[i] * p[i] / (t + a[i] * a[i]);
            sum += q * q;
        }
        *(sum > 1 ? &low : &high) = t;
    }
    for (int i = 0; i < 3; i++) y[i] = a[i] * a[i] * p[i] / (high + a[i] * a[i]);
    vec3 on = {x.x < 0 ? -y[0] : y[0], x.y < 0 ? -y[1] : y[1], x.z < 0 ? -y[2] : y[2]};
    vec3 n = vec3_unit(vec3_make(on.x / (e.x * e.x), on.y / (e.y * e.y), on.z / (e.z * e.z)));
    return (nearest){vec3_dot(n, vec3_sub(x, on)), n};
}

/* Inside: the nearest face.  Outside: GJK with a point. */
static nearest near_hull(vec3 x, const abut_convex *s) {
    const abut_hull *h = s->hull;
    nearest best = {-INFINITY, {0, 0, 1}};
    vec3 c = vec3_sub(x, h->center), on, v;
    for (int32_t f = 0; f < h->face_count; f++) {
        const hull_face *hf = &hull_faces(h)[f];
        double d = vec3_dot(hf->n, c) - hf->d;
        if (d > best.distance) best = (nearest){d, hf->n};
    }
    if (best.distance <= 0) return best;
    abut_convex point = abut_convex_sphere(h->radius); /* its core is a point */
    convex_pair p = {.a = s, .b = &point, .ra = mat3_identity(), .rb = mat3_identity(), .c = c};
    p.size = h->radius + vec3_length(c);
    int steps;
    if (!convex_closest_cores(&p, &on, &v, &steps)) return best;
    v = vec3_sub(c, on);
    return (nearest){vec3_length(v), vec3_unit(v)};
}

static nearest near_convex(vec3 x, const abut_convex *s) {
    switch (s->kind) {
    case ABUT_CONVEX_HULL: return near_hull(x, s);
    case ABUT_CONVEX_CAPSULE: return near_capsule(x, s->radius, s->length / 2);
    case ABUT_CONVEX_CYLINDER: return near_cylinder(x, s->radius, s->length / 2);
    case ABUT_CONVEX_ELLIPSOID: return near_ellipsoid(x, s->axes);
    default: return near_ball(x, s->radius);
    }
}

bool cast_point(const collider *c, pose p, vec3 world, double limit, cast_hit *out) {
    vec3 x = pose_unpoint(p, world);
    nearest near = {INFINITY, {0, 0, 1}};
    if (c->kind == COLLIDER_CONVEX) near = near_convex(x, &c->convex.convex);
    if (c->kind == COLLIDER_BOUNDARY) {
        vec3 on;
        near.distance = limit < INFINITY ? limit : 1e300;
        if (boundary_contains(&c->boundary, x)) near.distance = 1e300; /* limits do not count inside */
        if (!boundary_nearest(&c->boundary, x, &near.distance, &on, &near.normal)) return false;
    }
    if (c->kind == COLLIDER_SURFACE) {
        vec3 on;
        if (!collider_surface_nearest(c, x, &on, &near.normal, &near.distance)) return false;
    }
    if (c->kind == COLLIDER_HALFSPACE) {
        near.normal = vec3_unit(c->convex.normal);
        near.distance = vec3_dot(near.normal, x) - c->convex.offset / vec3_length(c->convex.normal);
    }
    if (c->kind == COLLIDER_CAVITY) {
        near = near_ball(x, c->shape.radius);
        near.distance = -near.distance, near.normal = vec3_neg(near.normal);
    }
    if (!(near.distance <= limit) || c->kind == COLLIDER_NONE) return false;
    vec3 n = pose_vector(p, near.normal);
    *out = (cast_hit){near.distance, vec3_axpy(world, -near.distance, n), n};
    return true;
}
