/* The public query: checks what comes in, then growth, features and contact points. */
#include "convex/pair.h"

abut_convex_options abut_default_convex_options(void) {
    return (abut_convex_options){.angle = 5e-7, .far_distance = INFINITY};
}

int abut_convex_capacity(const abut_convex *a, const abut_convex *b) {
    return shape_most_corners(a) + shape_most_corners(b) + 2;
}

static abut_status check_pose(const abut_pose *p, const char *which, abut_error *error) {
    const quat q = p->rotation;
    double length2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!vec3_is_finite(p->position) || !isfinite(length2))
        return fail(error, ABUT_INVALID, "pose %s is not finite; give numbers", which);
    if (fabs(length2 - 1) > 2e-6)
        return fail(error, ABUT_INVALID, "pose %s: the quaternion has length %.9g; give one of length 1",
                    which, sqrt(length2));
    return ABUT_OK;
}

static abut_status check_shapes(const abut_convex *a, const abut_pose *pa, const abut_convex *b,
                                const abut_pose *pb, abut_error *error) {
    abut_status status = shape_check(a, "A", error);
    if (status == ABUT_OK) status = shape_check(b, "B", error);
    if (status == ABUT_OK) status = check_pose(pa, "A", error);
    if (status == ABUT_OK) status = check_pose(pb, "B", error);
    return status;
}

static abut_status check(const abut_convex *a, const abut_pose *pa, const abut_convex *b, const abut_pose *pb,
                         const abut_convex_options *o, const abut_convex_result *r, abut_error *error) {
    abut_status status = check_shapes(a, pa, b, pb, error);
    if (status != ABUT_OK) return status;
    if (!(o->angle >= 0 && o->angle < 1))
        return fail(error, ABUT_INVALID, "angle is %g; give radians from 0 to 1", o->angle);
    if (!(o->deep >= 0)) return fail(error, ABUT_INVALID, "deep is %g; give metres, or 0 for never", o->deep);
    if (!(o->far_distance >= 0))
        return fail(error, ABUT_INVALID, "far_distance is %g; give metres, or infinity for never",
                    o->far_distance);
    if (!o->no_points && (!r->points || r->capacity < abut_convex_capacity(a, b)))
        return fail(error, ABUT_INVALID,
                    "room for %d contact points; this pair needs %d (abut_convex_capacity)",
                    r->points ? r->capacity : 0, abut_convex_capacity(a, b));
    return ABUT_OK;
}

/* c = (p_B + R_B c_B) - (p_A + R_A c_A), differences of large numbers first. */
static convex_pair make_pair(const abut_convex *a, abut_pose pa, const abut_convex *b, abut_pose pb) {
    convex_pair p = {.a = a, .b = b};
    p.ra = quat_matrix(quat_unit(pa.rotation)), p.rb = quat_matrix(quat_unit(pb.rotation));
    vec3 ca = mat3_mul_vec(p.ra, shape_center(a)), cb = mat3_mul_vec(p.rb, shape_center(b));
    p.c = vec3_add(vec3_sub(pb.position, pa.position), vec3_sub(cb, ca));
    p.size = shape_radius(a) + shape_radius(b);
    return p;
}

/* The feature that faces n: the face whose normal n is, when that is known. */
static abut_feature find_feature(const abut_convex *s, vec3 n, int32_t support, int32_t face, double angle) {
    if (face >= 0) return (abut_feature){ABUT_FEATURE_FACE, face};
    return shape_feature(s, n, support, angle);
}

/* The balls around both shapes are apart: that is bound enough. */
static void balls_are_far(const convex_pair *p, double apart, convex_touch *t) {
    *t = (convex_touch){
        .n = vec3_scale(p->c, 1 / apart), .extent = p->size, .growth = apart / p->size, .is_far = true};
}

/* Where the ray between the centres leaves a deep overlap by another side than the nearest one. */
static void shorten(const convex_pair *p, convex_touch *t) {
    convex_touch way;
    convex_shortest_way(p, &way);
    double depth = t->extent - vec3_dot(t->n, p->c);
    if (way.extent - vec3_dot(way.n, p->c) < 0.8 * depth) {
        way.growth = t->growth, way.is_coincident = false;
        *t = way;
    }
}

/* Below this, relative to the size, the direction between the centres is rounding. */
static const double COINCIDENT = 1e-13;

/* Where the answer is `far`, or the shapes are hulls, the status is always ABUT_OK. */
abut_status convex_query(const abut_convex *a, pose pose_a, const abut_convex *b, pose pose_b,
                         const abut_convex_options *o, abut_convex_cache *cache, abut_convex_result *r) {
    convex_pair p = make_pair(a, pose_a, b, pose_b);
    convex_touch t;
    abut_status status = ABUT_OK;
    double apart = vec3_length(p.c);
    if (apart <= COINCIDENT * p.size)
        convex_shortest_way(&p, &t);
    else if (apart - p.size > o->far_distance)
        balls_are_far(&p, apart, &t);
    else
        status = convex_grow(&p, o->far_distance, cache, &t);
    if (o->deep > 0 && !t.is_far && t.extent - vec3_dot(t.n, p.c) > o->deep) shorten(&p, &t);

    r->growth = t.growth, r->normal = vec3_sub(vec3_zero(), t.n), r->distance = vec3_dot(t.n, p.c) - t.extent;
    r->is_far = t.is_far, r->is_coincident = t.is_coincident, r->iterations = t.iterations;
    r->point_count = 0, r->is_aligned = false;
    r->feature[0] = r->feature[1] = (abut_feature){ABUT_FEATURE_VERTEX, 0};
    if (t.is_far || status != ABUT_OK) return status;
    r->feature[0] = find_feature(a, mat3_tmul_vec(p.ra, t.n), t.support[0], t.face[0], o->angle);
    r->feature[1] = find_feature(b, vec3_neg(mat3_tmul_vec(p.rb, t.n)), t.support[1], t.face[1], o->angle);
    if (o->no_points) return ABUT_OK;
    convex_intersect_features(&p, &t, r);
    vec3 center = vec3_add(pose_a.position, mat3_mul_vec(p.ra, shape_center(a)));
    for (int i = 0; i < r->point_count; i++) {
        r->points[i].a = vec3_add(r->points[i].a, center);
        r->points[i].b = vec3_add(r->points[i].b, center);
    }
    return ABUT_OK;
}

abut_status abut_convex_distance(const abut_convex *a, abut_pose pose_a, const abut_convex *b,
                                 abut_pose pose_b, const abut_convex_options *options,
                                 abut_convex_cache *cache, abut_convex_result *r, abut_error *error) {
    abut_convex_options o = options ? *options : abut_default_convex_options();
    abut_status status = check(a, &pose_a, b, &pose_b, &o, r, error);
    if (status != ABUT_OK) return status;
    if (!isfinite(vec3_distance(pose_a.position, pose_b.position)))
        return fail(error, ABUT_INVALID, "the shapes are farther apart than numbers reach; move them");
    status = convex_query(a, pose_a, b, pose_b, &o, cache, r);
    if (status != ABUT_OK)
        return fail(error, status,
                    "growth distance: %d support points were not enough; are the shapes extremely flat?",
                    r->iterations);
    return ABUT_OK;
}

/* Cores apart by v: the surfaces are nearer by the radii.  Otherwise the shortest way apart. */
abut_status abut_convex_closest(const abut_convex *a, abut_pose pose_a, const abut_convex *b,
                                abut_pose pose_b, abut_convex_gap *gap, abut_error *error) {
    abut_status status = check_shapes(a, &pose_a, b, &pose_b, error);
    if (status != ABUT_OK) return status;
    convex_pair p = make_pair(a, pose_a, b, pose_b);
    vec3 center = vec3_add(pose_a.position, mat3_mul_vec(p.ra, shape_center(a))), on_a, v;
    double radius_a, radii = convex_core_radii(&p, &radius_a);
    int steps;
    if (convex_closest_cores(&p, &on_a, &v, &steps)) {
        double far = vec3_length(v);
        gap->normal = vec3_scale(v, 1 / far), gap->distance = far - radii;
        gap->a = vec3_axpy(vec3_add(center, on_a), -radius_a, gap->normal);
    } else {
        convex_touch t;
        convex_shortest_way(&p, &t);
        gap->normal = vec3_sub(vec3_zero(), t.n), gap->distance = vec3_dot(t.n, p.c) - t.extent;
        gap->a = vec3_add(center, t.witness[0]);
    }
    gap->b = vec3_axpy(gap->a, -gap->distance, gap->normal), gap->is_overlapping = gap->distance < 0;
    return ABUT_OK;
}
