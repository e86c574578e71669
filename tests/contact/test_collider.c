/* Colliders: bounds that hold every support point and no more, one manifold for convex pairs, the farthest
 * points inside a cavity against sampling. */
#include "contact/cast.h"
#include "convex/shape.h"
#include "make_collider.h"

static const manifold_config wide = {.reach = INFINITY, .angle = 0.2};

/* A tight box: on each side the support mapping reaches it (curved shapes), or no farther (solids). */
static void test_bounds(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_box(NULL, 1, 2, 3, &solid, NULL), ABUT_OK);
    abut_shape shapes[] = {abut_shape_sphere(0.7), abut_shape_capsule(0.3, 1.1),
                           abut_shape_cylinder(0.5, 0.8), abut_shape_ellipsoid(1, 0.5, 0.2)};
    abut_convex convex[] = {abut_convex_sphere(0.7), abut_convex_capsule(0.3, 1.1),
                            abut_convex_cylinder(0.5, 0.8), abut_convex_ellipsoid(1, 0.5, 0.2)};
    uint64_t seed = 3;
    for (int k = 0; k < 4; k++) {
        collider *c = make(shapes[k]);
        for (int i = 0; i < 100; i++) {
            pose p = support_pose(&seed, 5);
            box b = collider_bounds(c, p);
            for (int axis = 0; axis < 3; axis++) {
                vec3 d = {axis == 0, axis == 1, axis == 2};
                vec3 up = pose_point(p, abut_convex_support(&convex[k], pose_unvector(p, d)));
                vec3 down = pose_point(p, abut_convex_support(&convex[k], pose_unvector(p, vec3_neg(d))));
                assert_near(vec3_at(b.upper, axis), vec3_at(up, axis), 1e-12);
                assert_near(vec3_at(b.lower, axis), vec3_at(down, axis), 1e-12);
            }
        }
        assert_near(collider_radius(c, vec3_zero()), shape_radius(&convex[k]), 1e-12);
        collider_free(NULL, c);
    }
    collider *c = make(abut_shape_solid(solid));
    assert_near(collider_radius(c, vec3_zero()), sqrt(14) / 2, 1e-12);
    box b = collider_bounds(c, (pose){{1, 1, 1}, {sqrt(0.5), 0, 0, sqrt(0.5)}}); /* x to y, y to -x */
    assert_near(b.lower.x, 0, 1e-12);
    assert_near(b.upper.y, 1.5, 1e-12);
    assert_near(b.upper.z, 2.5, 1e-12);
    collider_free(NULL, c), abut_solid_free(NULL, solid);
    /* hulls off their origin, of few and of many vertices: no vertex outside, and of few every side is met */
    for (int n = 10; n <= 200; n += 95) {
        vec3 points[200];
        for (int i = 0; i < n; i++) points[i] = vec3_add(vec3_make(3, -1, 2), support_direction(&seed));
        assert_int_equal(abut_solid_hull(NULL, points, n, &solid, NULL), ABUT_OK);
        c = make(abut_shape_solid(solid));
        for (int k = 0; k < 50; k++) {
            pose p = support_pose(&seed, 4);
            box want = box_empty(), got = collider_bounds(c, p);
            for (int i = 0; i < n; i++) want = box_add_point(want, pose_point(p, points[i]));
            double slack = n <= 64 ? 1e-12 : 0.5;
            for (int axis = 0; axis < 3; axis++) {
                double low = vec3_at(want.lower, axis) - vec3_at(got.lower, axis),
                       high = vec3_at(got.upper, axis) - vec3_at(want.upper, axis);
                assert_true(low > -1e-12 && low < slack && high > -1e-12 && high < slack);
            }
        }
        collider_free(NULL, c), abut_solid_free(NULL, solid);
    }
    c = make(abut_shape_halfspace(vec3_make(0, 0, 1), 0));
    assert_false(collider_is_bounded(c));
    collider_free(NULL, c);
}

/* The least gap R - |x - c| of each shape, against 20000 support points. */
static void test_cavity(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_box(NULL, 0.6, 0.4, 0.8, &solid, NULL), ABUT_OK);
    abut_shape shapes[] = {abut_shape_solid(solid), abut_shape_sphere(0.4), abut_shape_capsule(0.2, 0.6),
                           abut_shape_cylinder(0.3, 0.5), abut_shape_ellipsoid(0.5, 0.3, 0.4)};
    abut_convex curved[] = {{0},
                            abut_convex_sphere(0.4),
                            abut_convex_capsule(0.2, 0.6),
                            abut_convex_cylinder(0.3, 0.5),
                            abut_convex_ellipsoid(0.5, 0.3, 0.4)};
    collider *ball = make(abut_shape_cavity(2));
    uint64_t seed = 5;
    for (int k = 0; k < 5; k++) {
        collider *c = make(shapes[k]);
        for (int i = 0; i < 20; i++) {
            pose p = support_pose(&seed, 0.9), q = support_pose(&seed, 0.1);
            manifold out[COLLIDER_ROOM];
            int count = collider_collide(c, p, ball, q, &wide, NULL, 0, out, COLLIDER_ROOM);
            assert_true(count > 0);
            double got = INFINITY, want = INFINITY;
            for (int m = 0; m < count; m++) {
                double gap = out[m].points[0].gap;
                got = fmin(got, gap);
                /* the surfaces lie half a gap to both sides of the point, and the normal leads to the middle
                 */
                vec3 on_ball = vec3_axpy(out[m].points[0].at, -gap / 2, out[m].normal);
                assert_near(vec3_distance(on_ball, q.position), 2, 1e-9);
                assert_near(vec3_dot(out[m].normal, vec3_sub(q.position, on_ball)), 2, 1e-9);
            }
            for (int s = 0; s < 20000; s++) {
                vec3 d = support_direction(&seed), x;
                if (k == 0)
                    x = vec3_make(d.x > 0 ? 0.3 : -0.3, d.y > 0 ? 0.2 : -0.2, d.z > 0 ? 0.4 : -0.4);
                else
                    x = abut_convex_support(&curved[k], d);
                want = fmin(want, 2 - vec3_distance(pose_point(p, x), q.position));
            }
            assert_true(got <= want + 1e-12);
            assert_near(got, want, 2e-3);
        }
        collider_free(NULL, c);
    }
    collider_free(NULL, ball), abut_solid_free(NULL, solid);
}

/* Two boxes face to face, and on the half-space: one manifold of four points with the gap. */
static void test_convex(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_box(NULL, 1, 1, 1, &solid, NULL), ABUT_OK);
    collider *c = make(abut_shape_solid(solid)), *floor = make(abut_shape_halfspace(vec3_make(0, 0, 1), 0));
    manifold m[COLLIDER_ROOM];
    abut_convex_cache cache[1] = {{0}};
    pose up = {{0.25, 0, 1.01}, {1, 0, 0, 0}}, down = {{0, 0, 0}, {1, 0, 0, 0}};
    assert_int_equal(collider_room(c, c), 1);
    assert_int_equal(collider_collide(c, up, c, down, &(manifold_config){.reach = 0.02, .angle = 0.2}, cache,
                                      1, m, COLLIDER_ROOM),
                     1);
    assert_int_equal(m[0].count, 4);
    for (int i = 0; i < 4; i++) assert_near(m[0].points[i].gap, 0.01, 1e-12);
    assert_near(m[0].normal.z, 1, 1e-12);
    assert_int_equal(collider_collide(floor, down, c, up, &(manifold_config){.reach = 1, .angle = 0.2}, cache,
                                      1, m, COLLIDER_ROOM),
                     1);
    assert_near(m[0].normal.z, -1, 1e-12);
    assert_near(m[0].points[0].gap, 0.51, 1e-12);
    assert_int_equal(collider_collide(floor, down, floor, up, &wide, cache, 1, m, COLLIDER_ROOM), 0);
    collider_free(NULL, c), collider_free(NULL, floor), abut_solid_free(NULL, solid);
}

/* Every pair of hull, sphere, capsule, cylinder and ellipsoid, in random poses a little apart and a little
 * overlapping by the closest points (another algorithm): never a wrong yes or no; the gap is not more than
 * the distance, because it is measured along one direction; both witness points of each contact lie on the
 * two boundaries, by the closed forms of cast_point. */
static void test_all_pairs(void **state) {
    (void)state;
    uint64_t seed = 55;
    vec3 points[20];
    for (int i = 0; i < 20; i++) points[i] = support_vec(&seed, 0.5);
    abut_solid *rock = NULL;
    abut_hull *hull = NULL;
    assert_int_equal(abut_solid_hull(NULL, points, 20, &rock, NULL), ABUT_OK);
    assert_int_equal(abut_hull_of_solid(NULL, rock, &hull, NULL), ABUT_OK);
    abut_shape shapes[] = {abut_shape_solid(rock), abut_shape_sphere(0.4), abut_shape_capsule(0.2, 0.6),
                           abut_shape_cylinder(0.3, 0.5), abut_shape_ellipsoid(0.5, 0.3, 0.4)};
    abut_convex convex[] = {abut_convex_hull(hull), abut_convex_sphere(0.4), abut_convex_capsule(0.2, 0.6),
                            abut_convex_cylinder(0.3, 0.5), abut_convex_ellipsoid(0.5, 0.3, 0.4)};
    collider *c[5];
    for (int k = 0; k < 5; k++) c[k] = make(shapes[k]);
    for (int i = 0; i < 2500; i++) {
        int k = i % 5, l = i / 5 % 5;
        pose pa = support_pose(&seed, 2), pb = {pa.position, support_rotation(&seed)};
        vec3 way = support_direction(&seed);
        double low = 0, high = 3, want = random_range(&seed, 1e-4, 2e-3);
        abut_convex_gap gap;
        for (int step = 0; step < 40; step++) {
            double t = (low + high) / 2;
            pb.position = vec3_axpy(pa.position, t, way);
            assert_int_equal(abut_convex_closest(&convex[k], pa, &convex[l], pb, &gap, NULL), ABUT_OK);
            *(gap.distance > want ? &high : &low) = t;
        }
        const manifold_config config = {.reach = 0.02, .angle = 0.05};
        double depth = random_range(&seed, 1e-4, 2e-3);
        for (int pass = 0; pass < 2; pass++) {
            manifold m;
            if (pass) pb.position = vec3_axpy(pb.position, gap.distance + depth, gap.normal);
            int count = collider_collide(c[k], pa, c[l], pb, &config, NULL, 0, &m, 1);
            assert_int_equal(count, 1);
            double least = INFINITY;
            for (int p = 0; p < m.count; p++) {
                cast_hit a, b;
                vec3 on_a = vec3_axpy(m.points[p].at, m.points[p].gap / 2, m.normal),
                     on_b = vec3_axpy(m.points[p].at, -m.points[p].gap / 2, m.normal);
                least = fmin(least, m.points[p].gap);
                assert_true(cast_point(c[k], pa, on_a, INFINITY, &a) &&
                            cast_point(c[l], pb, on_b, INFINITY, &b));
                assert_true(fabs(a.t) < 4e-3 && fabs(b.t) < 4e-3);
            }
            /* features that lean by the angle stand for the shape: a corner of a rim of 16, or of a face,
             * within 1 cm of the lowest point is higher than it by at most 0.05 x 1 cm */
            if (pass == 0)
                assert_true(least > 0 && least <= gap.distance + 5e-4);
            else
                assert_true(least < 0 && least > -4 * depth);
        }
    }
    for (int k = 0; k < 5; k++) collider_free(NULL, c[k]);
    abut_hull_free(NULL, hull), abut_solid_free(NULL, rock);
}

static abut_status create_and_free(const abut_context *context, void *user) {
    abut_shape shape = abut_shape_solid(user);
    collider *c = NULL;
    abut_status status = collider_create(context, &shape, &c, NULL);
    collider_free(context, c);
    return status;
}

static void test_memory_and_refusal(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_torus(NULL, 1, 0.3, 8, 6, &solid, NULL), ABUT_OK);
    assert_true(support_fail_each(create_and_free, solid) > 1);
    abut_solid_free(NULL, solid);
    collider *c = NULL;
    abut_error error;
    abut_shape bad[] = {abut_shape_sphere(-1), abut_shape_halfspace(vec3_zero(), 0), abut_shape_cavity(NAN)};
    for (int i = 0; i < 3; i++) assert_int_equal(collider_create(NULL, &bad[i], &c, &error), ABUT_INVALID);
}

/* Colliders side by side answer as those that stay alone, bit by bit: round ones, hulls, solids with dents.
 */
static void test_gathered(void **state) {
    (void)state;
    vec3 points[30];
    uint64_t seed = 11;
    for (int i = 0; i < 30; i++) points[i] = support_direction(&seed);
    abut_solid *hull = NULL, *dented = NULL;
    assert_int_equal(abut_solid_hull(NULL, points, 30, &hull, NULL), ABUT_OK);
    assert_int_equal(abut_solid_torus(NULL, 0.8, 0.3, 8, 6, &dented, NULL), ABUT_OK);
    abut_shape shapes[] = {abut_shape_solid(hull), abut_shape_sphere(0.7), abut_shape_solid(dented),
                           abut_shape_cylinder(0.5, 0.8)};
    enum { COUNT = sizeof shapes / sizeof *shapes };
    collider *alone[COUNT], *together[COUNT];
    for (int i = 0; i < COUNT; i++) alone[i] = make(shapes[i]), together[i] = make(shapes[i]);
    collider_block block = {0};
    assert_true(collider_gather(NULL, together, COUNT, &block));
    for (int n = 0; n < 200; n++) {
        int i = n % COUNT, k = n / COUNT % COUNT;
        pose a = support_pose(&seed, 0.5), b = support_pose(&seed, 0.5);
        box x = collider_bounds(alone[i], a), y = collider_bounds(together[i], a);
        assert_memory_equal(&x, &y, sizeof x);
        manifold of_alone[COLLIDER_ROOM] = {0}, of_both[COLLIDER_ROOM] = {0};
        int want = collider_collide(alone[i], a, alone[k], b, &wide, NULL, 0, of_alone, COLLIDER_ROOM);
        int got = collider_collide(together[i], a, together[k], b, &wide, NULL, 0, of_both, COLLIDER_ROOM);
        assert_int_equal(want, got);
        for (int m = 0; m < got; m++) {
            assert_int_equal(of_alone[m].count, of_both[m].count);
            for (int j = 0; j < of_both[m].count; j++) {
                assert_true(of_alone[m].points[j].gap == of_both[m].points[j].gap);
                assert_memory_equal(&of_alone[m].points[j].at, &of_both[m].points[j].at, sizeof(vec3));
            }
        }
    }
    for (int i = 0; i < COUNT; i++) collider_free(NULL, alone[i]), collider_free(NULL, together[i]);
    collider_block_free(NULL, &block);
    abut_solid_free(NULL, hull), abut_solid_free(NULL, dented);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds),
                                       cmocka_unit_test(test_cavity),
                                       cmocka_unit_test(test_convex),
                                       cmocka_unit_test(test_all_pairs),
                                       cmocka_unit_test(test_memory_and_refusal),
                                       cmocka_unit_test(test_gathered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
