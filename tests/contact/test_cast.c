/* Casts against definitions: a ray's hit lies on the boundary and nothing of the ray before it is inside; the
 * nearest point is on the boundary, no sampled boundary point is nearer; moving shapes touch at the time that
 * closed forms give, and never overlap before. */
#include "contact/cast.h"
#include "make_collider.h"

enum { SHAPES = 7 };
static abut_solid *solid;
static abut_hull *hull;
static collider *colliders[SHAPES];
static abut_convex convex[SHAPES];

static int set_up(void **state) {
    (void)state;
    uint64_t seed = 11;
    vec3 points[24];
    for (int i = 0; i < 24; i++) points[i] = support_vec(&seed, 0.6);
    if (abut_solid_hull(NULL, points, 24, &solid, NULL) != ABUT_OK) return 1;
    if (abut_hull_of_solid(NULL, solid, &hull, NULL) != ABUT_OK) return 1;
    const abut_shape shapes[SHAPES] = {abut_shape_solid(solid),
                                       abut_shape_sphere(0.5),
                                       abut_shape_capsule(0.3, 0.7),
                                       abut_shape_cylinder(0.4, 0.6),
                                       abut_shape_ellipsoid(0.7, 0.4, 0.25),
                                       abut_shape_halfspace(vec3_make(0.2, 0.1, 2), 0.1),
                                       abut_shape_cavity(1)};
    convex[0] = abut_convex_hull(hull), convex[1] = abut_convex_sphere(0.5);
    convex[2] = abut_convex_capsule(0.3, 0.7), convex[3] = abut_convex_cylinder(0.4, 0.6);
    convex[4] = abut_convex_ellipsoid(0.7, 0.4, 0.25);
    for (int i = 0; i < SHAPES; i++) colliders[i] = make(shapes[i]);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) collider_free(NULL, colliders[i]);
    abut_hull_free(NULL, hull), abut_solid_free(NULL, solid);
    return 0;
}

/* A function that is negative inside, zero on the boundary and positive outside, about a distance. */
static double outside(int k, vec3 x) {
    double radial = sqrt(x.x * x.x + x.y * x.y), most = -INFINITY;
    switch (k) {
    case 0:
        for (int64_t f = 0; f < abut_hull_facts_of(hull).faces; f++) {
            int64_t corner;
            vec3 n;
            abut_hull_face(hull, f, &n, &corner, 1);
            most = fmax(most, vec3_dot(n, vec3_sub(x, abut_hull_vertex(hull, corner))));
        }
        return most;
    case 1: return vec3_length(x) - 0.5;
    case 2: return hypot(radial, fmax(fabs(x.z) - 0.35, 0)) - 0.3;
    case 3: return fmax(radial - 0.4, fabs(x.z) - 0.3);
    case 4: return 0.25 * (vec3_length(vec3_make(x.x / 0.7, x.y / 0.4, x.z / 0.25)) - 1);
    case 5: return vec3_dot(vec3_unit(vec3_make(0.2, 0.1, 2)), x) - 0.1 / sqrt(4.05);
    default: return 1 - vec3_length(x);
    }
}

static void test_ray(void **state) {
    (void)state;
    uint64_t seed = 17;
    for (int k = 0; k < SHAPES; k++) {
        int hits = 0;
        for (int i = 0; i < 300; i++) {
            pose p = support_pose(&seed, 0.5);
            vec3 o = support_vec(&seed, 2), to = vec3_add(p.position, support_vec(&seed, 0.6));
            vec3 d = vec3_scale(vec3_sub(to, o), random_range(&seed, 0.1, 3));
            if (k == 6) o = vec3_scale(o, 0.4);
            cast_hit hit;
            bool found = cast_ray(colliders[k], p, o, d, 30, &hit);
            bool starts_inside = outside(k, pose_unpoint(p, o)) < -1e-12;
            if (starts_inside) assert_true(found && hit.t == 0);
            hits += found;
            for (int s = 0; s < 20; s++) {
                double t = (found ? hit.t : 30) * s / 20;
                assert_true(outside(k, pose_unpoint(p, vec3_axpy(o, t, d))) > -1e-12 || t == 0);
            }
            if (!found || hit.t == 0) continue;
            assert_near(outside(k, pose_unpoint(p, hit.point)), 0, 1e-11);
            assert_near(vec3_length(hit.normal), 1, 1e-12);
            assert_true(vec3_dot(hit.normal, d) < 0);
            /* a shorter ray does not reach it */
            cast_hit other;
            assert_false(cast_ray(colliders[k], p, o, d, hit.t * (1 - 1e-9), &other));
        }
        assert_true(hits > 20);
    }
}

static void test_point(void **state) {
    (void)state;
    uint64_t seed = 19;
    for (int k = 0; k < SHAPES; k++)
        for (int i = 0; i < 200; i++) {
            pose p = support_pose(&seed, 0.5);
            vec3 x = support_vec(&seed, 1.2);
            cast_hit hit;
            assert_true(cast_point(colliders[k], p, x, INFINITY, &hit));
            assert_near(vec3_distance(hit.point, x), fabs(hit.t), 1e-9);
            assert_true((outside(k, pose_unpoint(p, x)) > 0) == (hit.t > 0));
            for (int s = 0; s < 500 && k < 5; s++) {
                vec3 on = pose_point(p, abut_convex_support(&convex[k], support_direction(&seed)));
                assert_true(vec3_distance(on, x) >= fabs(hit.t) - 1e-11);
            }
            assert_near(outside(k, pose_unpoint(p, hit.point)), 0, 1e-11);
            assert_near(vec3_distance(vec3_axpy(hit.point, hit.t, hit.normal), x), 0, 1e-9);
            if (hit.t > 0.1) assert_false(cast_point(colliders[k], p, x, hit.t / 2, &hit));
        }
}

/* A ball falls 10 m along z on the half-space z <= 0: touches at (10 - 0.5 - target) / 10. */
static void test_toi_falling(void **state) {
    (void)state;
    collider *floor = make(abut_shape_halfspace(vec3_make(0, 0, 1), 0));
    cast_sweep still = {pose_identity(), pose_identity(), {0, 0, 0}};
    cast_sweep falls = {{{0, 0, 10}, {1, 0, 0, 0}}, {{0, 0, 0}, {1, 0, 0, 0}}, {0, 0, 0}};
    cast_hit hit;
    assert_true(cast_toi(colliders[1], &falls, floor, &still, 0.01, NULL, &hit));
    assert_near(hit.t, 0.949, 1.1e-4);
    assert_near(hit.normal.z, 1, 1e-12);
    /* upwards, and past */
    cast_sweep rises = {falls.from, {{0, 0, 20}, {1, 0, 0, 0}}, {0, 0, 0}};
    assert_false(cast_toi(colliders[1], &rises, floor, &still, 0.01, NULL, &hit));
    assert_near(hit.t, 1, 0);
    cast_sweep flies = {{{-50, 0, 0.9}, {1, 0, 0, 0}}, {{50, 0, 0.9}, {1, 0, 0, 0}}, {0, 0, 0}};
    assert_false(cast_toi(colliders[1], &flies, colliders[2], &still, 0.01, NULL, &hit) && hit.t > 0.6);
    collider_free(NULL, floor);
}

/* A thin rod that turns by 90 degrees about its middle sweeps its end into a wall: at the angle where
 * L sin(angle) reaches the wall; and random moving hulls: never overlapping before, near at the time. */
static void test_toi_turning(void **state) {
    (void)state;
    collider *rod = make(abut_shape_capsule(0.01, 2)),
             *wall = make(abut_shape_halfspace(vec3_make(-1, 0, 0), -0.5));
    cast_sweep still = {pose_identity(), pose_identity(), {0, 0, 0}};
    cast_sweep turns = {{{0, 0, 0}, {1, 0, 0, 0}}, {{0, 0, 0}, {sqrt(0.5), 0, sqrt(0.5), 0}}, {0, 0, 0}};
    cast_hit hit;
    assert_true(cast_toi(rod, &turns, wall, &still, 0.001, NULL, &hit));
    vec3 end = pose_point(cast_sweep_pose(&turns, hit.t), vec3_make(0, 0, 1));
    assert_near(end.x, 0.5 - 0.01 - 0.001, 2e-4);
    collider_free(NULL, rod), collider_free(NULL, wall);
    uint64_t seed = 23;
    int hits = 0;
    for (int i = 0; i < 300; i++) {
        int k = i % 5, m = i / 5 % 5;
        cast_sweep a = {support_pose(&seed, 3), support_pose(&seed, 3), {0.1, 0, 0.2}};
        cast_sweep b = {support_pose(&seed, 3), support_pose(&seed, 3), {0, 0, 0}};
        abut_convex_gap gap;
        bool found = cast_toi(colliders[k], &a, colliders[m], &b, 0.005, NULL, &hit);
        hits += found && hit.t > 0;
        for (int s = 0; s < 40; s++) {
            double t = hit.t * s / 40;
            assert_int_equal(abut_convex_closest(&convex[k], cast_sweep_pose(&a, t), &convex[m],
                                                 cast_sweep_pose(&b, t), &gap, NULL),
                             ABUT_OK);
            assert_true(hit.t == 0 || gap.distance > 0);
        }
        if (!found || hit.t == 0) continue;
        abut_convex_closest(&convex[k], cast_sweep_pose(&a, hit.t), &convex[m], cast_sweep_pose(&b, hit.t),
                            &gap, NULL);
        assert_true(gap.distance > 0 && gap.distance < 0.02);
    }
    assert_true(hits > 20);
}

/* Solids with dents that move and turn past each other: where any of 100 looks on their way sees an overlap,
 * they touched before.  (Nearest may be two corners, a corner and an edge, or two edges that are all but
 * parallel; where one of these was overlooked the rest of the way was taken for free.) */
static void test_toi_dents(void **state) {
    (void)state;
    const double outline[6][2] = {{-0.2, -0.1}, {0.2, -0.1}, {0.2, 0}, {0, 0}, {0, 0.2}, {-0.2, 0.2}};
    abut_solid *l, *torus;
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 0.2, &l, NULL), ABUT_OK);
    assert_int_equal(abut_solid_torus(NULL, 0.2, 0.07, 10, 6, &torus, NULL), ABUT_OK);
    collider *all[2] = {make(abut_shape_solid(l)), make(abut_shape_solid(torus))};
    uint64_t seed = 29;
    int hits = 0, missed = 0;
    for (int i = 0; i < 800; i++) {
        const collider *ca = all[i % 2], *cb = all[i / 2 % 2];
        cast_sweep a = {support_pose(&seed, 0.4), support_pose(&seed, 0.4), {0, 0, 0}};
        cast_sweep b = {support_pose(&seed, 0.4), support_pose(&seed, 0.4), {0, 0, 0}};
        if (i % 4 < 3) a.to.rotation = a.from.rotation, b.to.rotation = b.from.rotation;
        if (i % 4 < 2) b.from.rotation = a.from.rotation, b.to.rotation = a.to.rotation;
        cast_hit hit;
        bool found = cast_toi(ca, &a, cb, &b, 0.001, NULL, &hit);
        hits += found && hit.t > 0;
        for (int s = 0; s <= 100; s++) {
            double t = s / 100.0;
            manifold m[COLLIDER_ROOM];
            manifold_config config = manifold_default_config();
            int count = collider_collide(ca, cast_sweep_pose(&a, t), cb, cast_sweep_pose(&b, t), &config,
                                         NULL, 0, m, COLLIDER_ROOM);
            bool overlaps = false;
            for (int k = 0; k < count; k++)
                for (int n = 0; n < m[k].count; n++) overlaps |= m[k].points[n].gap < -1e-6;
            if (!overlaps) continue;
            missed += !found || hit.t > t;
            break;
        }
    }
    assert_true(hits > 200);
    assert_int_equal(missed, 0);
    for (int i = 0; i < 2; i++) collider_free(NULL, all[i]);
    abut_solid_free(NULL, l), abut_solid_free(NULL, torus);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ray), cmocka_unit_test(test_point),
                                       cmocka_unit_test(test_toi_falling), cmocka_unit_test(test_toi_turning),
                                       cmocka_unit_test(test_toi_dents)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
