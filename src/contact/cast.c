/* Rays and points against one collider, shape by shape, in shape axes; and conservative advancement. */
#include "contact/cast.h"
#include "contact/collider_parts.h"
#include "convex/pair.h"

enum { STEPS = 256 };

/* ---- moving */

pose cast_sweep_pose(const cast_sweep *s, double t) {
    quat a = s->from.rotation, b = s->to.rotation;
    double side = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0 ? -t : t, rest = 1 - t;
    quat q = quat_unit((quat){rest * a.w + side * b.w, rest * a.x + side * b.x, rest * a.y + side * b.y,
                              rest * a.z + side * b.z});
    vec3 center = vec3_lerp(pose_point(s->from, s->center), pose_point(s->to, s->center), t);
    return (pose){vec3_sub(center, quat_rotate(q, s->center)), q};
}

/* The fastest turn in rad per unit of t: for quaternions at the angle phi, cos phi = |a . b|, the unit of
 * their mean runs through phi fastest in the middle, at 2 tan(phi / 2); a rotation turns by twice that. */
static double turn_rate(const cast_sweep *s) {
    quat a = s->from.rotation, b = s->to.rotation;
    double c = fabs(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z);
    return c < 1 ? 4 * sqrt((1 - c) / (1 + c)) : 0;
}

static double swing(const collider *c, const cast_sweep *s) {
    double rate = turn_rate(s);
    return rate > 0 ? rate * collider_radius(c, s->center) : 0;
}

/* How fast the manifold's gap can close. */
static double closing_speed(const manifold *m, vec3 relative, double turning) {
    return turning - vec3_dot(m->normal, relative);
}

/* Whether the normal of the nearest place keeps the two apart everywhere. */
static bool is_convex(const collider *c) {
    return c->kind == COLLIDER_CONVEX || c->kind == COLLIDER_HALFSPACE;
}

/* What of a sweep is left free by the places that are near now: no gap closes faster than its own speed.  Of
 * shapes with dents a place may come about that is none yet, where the distance is as yet least nowhere; it
 * is no nearer than the nearest one, and closes no faster than anything moves. */
typedef struct advance {
    double target, most, turning;
    vec3 relative;
    bool convex;
} advance;

static double free_time(const advance *s, const manifold *m, int count) {
    double least = INFINITY, time = INFINITY, pace = s->target / 8;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < m[i].count; k++) {
            double speed = closing_speed(&m[i], s->relative, s->turning), gap = m[i].points[k].gap;
            if (speed > 0) time = fmin(time, fmax(gap - s->target, pace) / speed);
            least = fmin(least, gap);
        }
    if (!s->convex && s->most > 0) time = fmin(time, fmax(least - s->target, pace) / s->most);
    return time;
}

/* Where they touch: nearer than the target by rounding, and coming closer, or there from the start. */
static bool touches(const advance *s, const manifold *m, int count, bool first, cast_hit *out) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k < m[i].count; k++) {
            const manifold_point *p = &m[i].points[k];
            if (p->gap > s->target * 1.1) continue;
            out->point = p->at, out->normal = m[i].normal;
            if (first || closing_speed(&m[i], s->relative, s->turning) > 0) return true;
        }
    return false;
}

bool cast_toi(const collider *a, const cast_sweep *sa, const collider *b, const cast_sweep *sb, double target,
              abut_convex_cache *cache, cast_hit *out) {
    vec3 va = vec3_sub(pose_point(sa->to, sa->center), pose_point(sa->from, sa->center));
    vec3 vb = vec3_sub(pose_point(sb->to, sb->center), pose_point(sb->from, sb->center));
    advance s = {.target = target,
                 .turning = swing(a, sa) + swing(b, sb),
                 .relative = vec3_sub(va, vb),
                 .convex = is_convex(a) && is_convex(b)};
    s.most = vec3_length(s.relative) + s.turning;
    manifold m[COLLIDER_ROOM];
    int count = 0;
    out->t = 0;
    for (int step = 0; step < STEPS; step++) {
        /* places farther away than everything can move in the time left do not matter */
        manifold_config config = {.reach = target + s.most * (1 - out->t), .angle = 1e-3, .all_places = true};
        count = collider_collide(a, cast_sweep_pose(sa, out->t), b, cast_sweep_pose(sb, out->t), &config,
                                 cache, cache ? 1 : 0, m, COLLIDER_ROOM);
        if (touches(&s, m, count, step == 0, out)) return true;
        double next = out->t + free_time(&s, m, count);
        if (next >= 1) {
            out->t = 1;
            return false;
        }
        if (step + 1 < STEPS) out->t = next;
    }
    s.target = INFINITY; /* what slides along so near for so long touches there */
    return touches(&s, m, count, true, out);
}

/* ---- rays */

typedef struct ray {
    vec3 o, d; /* shape axes */
    double limit;
    double t;
    vec3 n;
    bool is_hit;
} ray;

static void meet(ray *r, double t, vec3 n) {
    if (t >= 0 && t <= r->limit) r->t = r->limit = t, r->n = n, r->is_hit = true;
}

static void meet_inside(ray *r) { meet(r, 0, vec3_neg(vec3_unit(r->d))); }

/* o + t d enters a ball of radius s about c. */
static void ray_ball(ray *r, vec3 c, double s) {
    vec3 o = vec3_sub(r->o, c);
    double a = vec3_length2(r->d), b = vec3_dot(o, r->d), q = vec3_length2(o) - s * s, det = b * b - a * q;
    if (q <= 0) {
        meet_inside(r);
    } else if (det >= 0 && b < 0) {
        double t = q / (sqrt(det) - b); /* the smaller root, without cancellation */
        meet(r, t, vec3_unit(vec3_axpy(o, t, r->d)));
    }
}

/* The side of a cylinder of radius s about z, |z| <= half, from outside. */
static void ray_side(ray *r, double s, double half) {
    double a = r->d.x * r->d.x + r->d.y * r->d.y, b = r->o.x * r->d.x + r->o.y * r->d.y;
    double q = r->o.x * r->o.x + r->o.y * r->o.y - s * s, det = b * b - a * q;
    if (q < 0 || det < 0 || !(b < 0)) return;
    double t = q / (sqrt(det) - b), z = r->o.z + t * r->d.z;
    if (fabs(z) <= half) meet(r, t, vec3_unit(vec3_make(r->o.x + t * r->d.x, r->o.y + t * r->d.y, 0)));
}

static void ray_cylinder(ray *r, double s, double half) {
    if (fabs(r->o.z) <= half && r->o.x * r->o.x + r->o.y * r->o.y <= s * s) {
        meet_inside(r);
        return;
    }
    ray_side(r, s, half);
    double end = r->d.z < 0 ? half : -half, t = (end - r->o.z) / r->d.z;
    vec3 x = vec3_axpy(r->o, t, r->d);
    if (r->d.z != 0 && t >= 0 && x.x * x.x + x.y * x.y <= s * s)
        meet(r, t, vec3_make(0, 0, r->d.z < 0 ? 1 : -1));
}

static void ray_capsule(ray *r, double s, double half) {
    ray_side(r, s, half);
    ray_ball(r, vec3_make(0, 0, half), s);
    ray_ball(r, vec3_make(0, 0, -half), s);
    if (fabs(r->o.z) <= half && r->o.x * r->o.x + r->o.y * r->o.y <= s * s) meet_inside(r);
}

/* A ball after division by the half axes; the normal is divided once more. */
static void ray_ellipsoid(ray *r, vec3 e) {
    ray unit = *r;
    unit.o = vec3_make(r->o.x / e.x, r->o.y / e.y, r->o.z / e.z);
    unit.d = vec3_make(r->d.x / e.x, r->d.y / e.y, r->d.z / e.z);
    ray_ball(&unit, vec3_zero(), 1);
    if (!unit.is_hit) return;
    if (unit.t == 0)
        meet_inside(r);
    else
        meet(r, unit.t, vec3_unit(vec3_make(unit.n.x / e.x, unit.n.y / e.y, unit.n.z / e.z)));
}

/* Cyrus and Beck: the ray is inside between the last face entered and the first one left. */
static void ray_hull(ray *r, const abut_hull *h) {
    double in = 0, out = r->limit;
    int32_t face = -1;
    vec3 o = vec3_sub(r->o, h->center);
    for (int32_t f = 0; f < h->face_count; f++) {
        const hull_face *hf = &hull_faces(h)[f];
        double away = vec3_dot(hf->n, o) - hf->d, speed = vec3_dot(hf->n, r->d);
        if (away > 0 && speed >= 0) return;
        double t = -away / speed;
        if (speed < 0 && t > in) in = t, face = f;
        if (speed > 0 && t < out) out = t;
        if (in > out) return;
    }
    if (face < 0)
        meet_inside(r);
    else
        meet(r, in, hull_faces(h)[face].n);
}

/* The material is below the plane. */
static void ray_plane(ray *r, const manifold_shape *s) {
    vec3 n = vec3_unit(s->normal);
    double away = vec3_dot(n, r->o) - s->offset / vec3_length(s->normal), speed = vec3_dot(n, r->d);
    if (away <= 0)
        meet_inside(r);
    else if (speed < 0)
        meet(r, -away / speed, n);
}

/* The material is outside the ball: the ray hits where it leaves. */
static void ray_cavity(ray *r, double s) {
    double a = vec3_length2(r->d), b = vec3_dot(r->o, r->d), q = vec3_length2(r->o) - s * s;
    if (q >= 0) {
        meet_inside(r);
        return;
    }
    double root = sqrt(b * b - a * q), t = b > 0 ? -q / (b + root) : (root - b) / a;
    meet(r, t, vec3_neg(vec3_unit(vec3_axpy(r->o, t, r->d))));
}

static void ray_convex(ray *r, const abut_convex *s) {
    switch (s->kind) {
    case ABUT_CONVEX_HULL: ray_hull(r, s->hull); break;
    case ABUT_CONVEX_SPHERE: ray_ball(r, vec3_zero(), s->radius); break;
    case ABUT_CONVEX_CAPSULE: ray_capsule(r, s->radius, s->length / 2); break;
    case ABUT_CONVEX_CYLINDER: ray_cylinder(r, s->radius, s->length / 2); break;
    case ABUT_CONVEX_ELLIPSOID: ray_ellipsoid(r, s->axes); break;
    case ABUT_CONVEX_NONE: break;
    }
}

static void ray_boundary(ray *r, const boundary *b) {
    double t = r->limit;
    int32_t face = -1;
    if (boundary_contains(b, r->o))
        meet_inside(r);
    else if ((face = boundary_ray(b, r->o, r->d, &t)) >= 0)
        meet(r, t, solid_faces(b->solid)[face].plane.n);
}

bool cast_ray(const collider *c, pose p, vec3 origin, vec3 d, double limit, cast_hit *out) {
    ray r = {.o = pose_unpoint(p, origin), .d = pose_unvector(p, d), .limit = limit};
    if (!(vec3_length2(d) > 0)) return false;
    if (c->kind == COLLIDER_CONVEX) ray_convex(&r, &c->convex.convex);
    if (c->kind == COLLIDER_BOUNDARY) ray_boundary(&r, &c->boundary);
    if (c->kind == COLLIDER_SURFACE) {
        double t;
        vec3 n;
        if (collider_surface_ray(c, r.o, r.d, limit, &t, &n)) meet(&r, t, n);
    }
    if (c->kind == COLLIDER_HALFSPACE) ray_plane(&r, &c->convex);
    if (c->kind == COLLIDER_CAVITY) ray_cavity(&r, c->shape.radius);
    if (r.is_hit) *out = (cast_hit){r.t, vec3_axpy(origin, r.t, d), pose_vector(p, r.n)};
    return r.is_hit;
}
