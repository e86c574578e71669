/* Smooth surfaces by their closest points (surface/closest.c).
 *
 *     half-space         the point of the surface farthest against its normal
 *     sphere, capsule    the points nearest to the centre; to the ends, and to where the axis is nearest
 *     everything else    the point of the surface that is nearest to the other shape or deepest in it; where
 *                        the other is a solid, its vertices near the surface and the faces on which the
 *                        surface stands
 *
 * Outward is c_u x c_v.  Where the nearest point lies on the border of an open surface, the direction to it
 * takes the place of the normal. */
#include "contact/collider_parts.h"

enum { TO_AND_FRO = 24 };

int32_t collider_surface_patch(const collider *c, vec3 x) {
    return (int32_t)abut_surface_closest(c->shape.surface, c->tree, x).place.patch;
}

/* The answer for x with the closest point of the surface. */
static bool answer(const collider *c, vec3 x, const abut_closest *near, vec3 *on, vec3 *normal,
                   double *distance) {
    abut_partials p;
    vec3 v = vec3_sub(x, near->point);
    double d = vec3_length(v);
    *on = near->point, *normal = vec3_zero();
    if (abut_surface_evaluate(c->shape.surface, near->place.patch, near->place.u, near->place.v, 1, &p))
        *normal = abut_partials_normal(&p);
    double along = vec3_dot(*normal, v);
    if (vec3_length2(*normal) > 0 && (fabs(along) > 0.98 * d || d == 0))
        *distance = along < 0 ? -d : d;
    else
        *normal = vec3_unit(v), *distance = d;
    return vec3_length2(*normal) > 0;
}

bool collider_surface_nearest(const collider *c, vec3 x, vec3 *on, vec3 *normal, double *distance) {
    abut_closest near = abut_surface_closest(c->shape.surface, c->tree, x);
    return answer(c, x, &near, on, normal, distance);
}

/* The same for one point after the other: all but the first by descent from the place of the last one, which
 * takes some evaluations where a search takes hundreds. */
typedef struct trail {
    const collider *c;
    abut_surface_point place;
    bool known;
} trail;

static bool follow(trail *t, vec3 x, vec3 *on, vec3 *normal, double *distance) {
    abut_closest near = t->known ? abut_surface_closest_from(t->c->shape.surface, t->place, x)
                                 : abut_surface_closest(t->c->shape.surface, t->c->tree, x);
    t->place = near.place, t->known = true;
    return answer(t->c, x, &near, on, normal, distance);
}

/* As cast_point, along a trail where the collider is a surface. */
static bool cast_along(trail *t, pose p, vec3 world, cast_hit *out) {
    if (t->c->kind != COLLIDER_SURFACE) return cast_point(t->c, p, world, INFINITY, out);
    vec3 on, normal;
    if (!follow(t, pose_unpoint(p, world), &on, &normal, &out->t)) return false;
    out->point = pose_point(p, on), out->normal = pose_vector(p, normal);
    return true;
}

typedef struct search {
    const collider *a, *b; /* a is the surface */
    pose pa, pb;
    const manifold_config *config;
    gather *found;
} search;

/* n leads out of the surface at `on` (surface axes). */
static void add(const search *q, vec3 on, vec3 n, double gap, abut_feature other) {
    if (gap > q->config->reach) return;
    gather_add(q->found, (gather_point){.at = pose_point(q->pa, vec3_axpy(on, gap / 2, n)),
                                        .normal = vec3_neg(pose_vector(q->pa, n)),
                                        .gap = gap,
                                        .id = manifold_id((abut_feature){ABUT_FEATURE_FACE, 0}, other),
                                        .vertex = -1});
}

/* A point of the other shape (world), with a radius. */
static void add_point(const search *q, vec3 world, double radius, abut_feature other) {
    vec3 on, n;
    double distance;
    if (collider_surface_nearest(q->a, pose_unpoint(q->pa, world), &on, &n, &distance))
        add(q, on, n, distance - radius, other);
}

static void collide_round(const search *q) {
    const abut_shape *s = &q->b->shape;
    double half = s->kind == ABUT_SHAPE_CAPSULE ? s->length / 2 : 0, t = 0;
    vec3 axis = quat_rotate(q->pb.rotation, vec3_make(0, 0, 1)), on, n;
    for (int k = 0; k < (half > 0 ? 2 : 1); k++)
        add_point(q, vec3_axpy(q->pb.position, k ? half : -half, axis), s->radius,
                  (abut_feature){ABUT_FEATURE_VERTEX, k});
    if (half == 0) return;
    /* along the axis to the foot of the nearest point, and again; the steps shrink by a factor, so that every
     * third one can go to the end of their series (Aitken) */
    double steps[2] = {0, 0};
    trail along = {.c = q->a};
    for (int k = 0; k < TO_AND_FRO; k++) {
        double distance, last = t;
        vec3 x = pose_unpoint(q->pa, vec3_axpy(q->pb.position, t, axis));
        if (!follow(&along, x, &on, &n, &distance)) return;
        vec3 foot = vec3_sub(pose_point(q->pa, on), q->pb.position);
        t = fmin(half, fmax(-half, vec3_dot(foot, axis)));
        if (fabs(t - last) < 1e-10 * half) break;
        steps[k % 3 == 2] = t - last;
        double ratio = k % 3 == 2 && steps[0] != 0 ? steps[1] / steps[0] : 0;
        if (ratio > 0 && ratio < 1) t = fmin(half, fmax(-half, t + steps[1] * ratio / (1 - ratio)));
    }
    if (fabs(t) < 0.999 * half)
        add_point(q, vec3_axpy(q->pb.position, t, axis), s->radius, (abut_feature){ABUT_FEATURE_EDGE, 0});
}

static void collide_plane(const search *q) {
    const manifold_shape *s = &q->b->convex;
    vec3 n = quat_rotate(q->pb.rotation, vec3_unit(s->normal));
    double d = s->offset / vec3_length(s->normal) + vec3_dot(n, q->pb.position);
    vec3 down = vec3_neg(pose_unvector(q->pa, n));
    vec3 on = abut_surface_support(q->a->shape.surface, q->a->tree, down).point;
    add(q, on, down, vec3_dot(n, pose_point(q->pa, on)) - d, (abut_feature){ABUT_FEATURE_FACE, 0});
}

/* The vertices of a solid that lie near the surface's box, and its faces that look at the surface's middle
 * and on which the surface's lowest point stands. */
static void collide_solid(const search *q) {
    const abut_solid *s = q->b->shape.solid;
    pose frame = solid_frame(s, q->pb), back = pose_relative(frame, q->pa);
    box near = box_grow(q->a->bounds, q->config->reach);
    for (int32_t v = 0; v < s->vertex_count; v++) {
        vec3 x = pose_point(back, solid_position(s, v));
        if (box_overlap(near, (box){x, x}))
            add_point(q, pose_point(q->pa, x), 0, (abut_feature){ABUT_FEATURE_VERTEX, v});
    }
    vec3 middle = pose_unpoint(back, box_center(q->a->bounds));
    double size = box_diagonal(q->a->bounds) / 2;
    for (int32_t f = 0; f < s->face_count; f++) {
        plane p = solid_faces(s)[f].plane;
        double height = plane_distance(p, middle);
        if (height < 0 || height - size > q->config->reach) continue;
        vec3 down = vec3_neg(pose_vector(back, p.n));
        vec3 on = abut_surface_support(q->a->shape.surface, q->a->tree, down).point,
             x = pose_unpoint(back, on);
        double gap = plane_distance(p, x);
        if (gap >= -q->b->core && index_face_contains(s, f, x))
            add(q, on, down, gap, (abut_feature){ABUT_FEATURE_FACE, f});
    }
}

/* The point of the surface nearest to the other shape, or deepest in it: down the distance from the other, a
 * step against its normal and back to the surface, with shorter steps when that does not help. */
static void collide_nearest(const search *q) {
    cast_hit hit, next;
    trail mine = {.c = q->a}, other = {.c = q->b};
    vec3 on, n, x = pose_unpoint(q->pa, pose_point(q->pb, box_center(q->b->bounds)));
    double distance, step = 0.2 * q->a->core;
    if (!follow(&mine, x, &on, &n, &distance)) return;
    if (!cast_along(&other, q->pb, pose_point(q->pa, on), &hit)) return;
    for (int k = 0; k < TO_AND_FRO; k++) {
        vec3 y, down = vec3_neg(pose_unvector(q->pa, hit.normal));
        x = vec3_axpy(on, fmax(hit.t, 0) + step, down);
        if (!follow(&mine, x, &y, &n, &distance)) break;
        if (cast_along(&other, q->pb, pose_point(q->pa, y), &next) && next.t < hit.t)
            hit = next, on = y;
        else
            step /= 2;
    }
    add(q, on, vec3_neg(pose_unvector(q->pa, hit.normal)), hit.t, (abut_feature){ABUT_FEATURE_EDGE, 0});
}

int collider_collide_surface(const collider *a, pose pa, const collider *b, pose pb,
                             const manifold_config *config, manifold *out, int room) {
    gather found;
    found.count = 0;
    search q = {a, b, pa, pb, config, &found};
    if (b->kind == COLLIDER_HALFSPACE)
        collide_plane(&q);
    else if (b->shape.kind == ABUT_SHAPE_SPHERE || b->shape.kind == ABUT_SHAPE_CAPSULE)
        collide_round(&q);
    else {
        if (b->shape.kind == ABUT_SHAPE_SOLID) collide_solid(&q);
        if (found.count == 0) collide_nearest(&q);
    }
    return gather_group(&found, config, out, room);
}

/* ---- creation, rays */

abut_status collider_surface_create(const abut_context *context, collider *c, abut_error *error) {
    if (!c->shape.surface) return fail(error, ABUT_INVALID, "collider: the shape has no surface");
    abut_status status = abut_surface_tree_build(context, c->shape.surface, &c->tree, error);
    if (status != ABUT_OK) return status;
    c->kind = COLLIDER_SURFACE, c->bounds = abut_surface_box(c->shape.surface, -1);
    vec3 e = vec3_sub(c->bounds.upper, c->bounds.lower);
    c->core = fmin(e.x, fmin(e.y, e.z)) / 2;
    return ABUT_OK;
}

/* Steps as long as the surface is far: none of it can be passed. */
bool collider_surface_ray(const collider *c, vec3 o, vec3 d, double limit, double *t, vec3 *normal) {
    double speed = vec3_length(d), size = box_diagonal(c->bounds);
    *t = 0;
    for (int k = 0; k < 400; k++) {
        vec3 on;
        double distance;
        if (!collider_surface_nearest(c, vec3_axpy(o, *t, d), &on, normal, &distance)) return false;
        if (fabs(distance) <= 1e-9 * size || (k == 0 && distance < 0)) return true;
        *t += fabs(distance) / speed;
        if (*t > limit) return false;
    }
    return false;
}
