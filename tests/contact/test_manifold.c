/* Manifolds of convex pairs: gaps and normals in closed form and against the closest points and the growth
 * distance; ids that are unique and stay; four points that keep the deepest and span the polygon. */
#include "contact/manifold.h"
#include "support.h"

#include <stdlib.h>

static manifold_shape of(abut_convex convex) { return (manifold_shape){.convex = convex}; }
static pose at(double x, double y, double z) { return (pose){{x, y, z}, {1, 0, 0, 0}}; }
static const manifold_config wide = {.reach = INFINITY, .angle = 0.2};

static manifold collide(const manifold_shape *a, pose pa, const manifold_shape *b, pose pb,
                        const manifold_config *config) {
    manifold m, turned;
    abut_convex_cache cache = {0}, other = {0};
    manifold_collide(a, pa, b, pb, config, &cache, &m);
    /* the other way round: the same gaps, the opposite normal, no id twice */
    manifold_collide(b, pb, a, pa, config, &other, &turned);
    assert_int_equal(m.count, turned.count);
    for (int i = 0; i < m.count; i++) {
        bool found = false;
        for (int k = 0; k < m.count; k++) {
            found |= fabs(turned.points[k].gap - m.points[i].gap) < 1e-7;
            assert_true(i == k || m.points[i].id != m.points[k].id);
        }
        assert_true(found);
    }
    if (m.count) assert_near(vec3_length(vec3_add(m.normal, turned.normal)), 0, 1e-6);
    if (m.count) assert_near(vec3_length(m.normal), 1, 1e-9);
    return m;
}

static double least_gap(const manifold *m) {
    double least = INFINITY;
    for (int i = 0; i < m->count; i++) least = fmin(least, m->points[i].gap);
    return least;
}

static abut_hull *box_hull(double x, double y, double z) {
    abut_hull *h = NULL;
    assert_int_equal(abut_hull_box(NULL, x, y, z, &h, NULL), ABUT_OK);
    return h;
}

static abut_hull *random_hull(uint64_t *seed, int n) {
    vec3 points[64];
    for (int i = 0; i < n; i++) points[i] = support_direction(seed);
    abut_hull *h = NULL;
    assert_int_equal(abut_hull_create(NULL, points, n, &h, NULL), ABUT_OK);
    return h;
}

/* Spheres and capsules with each other: the gap of abut_convex_closest (another algorithm). */
static void test_round(void **state) {
    (void)state;
    uint64_t seed = 1;
    const abut_convex shapes[] = {abut_convex_sphere(0.5), abut_convex_capsule(0.25, 1.5)};
    for (int k = 0; k < 4000; k++) {
        manifold_shape a = of(shapes[k % 2]), b = of(shapes[k / 2 % 2]);
        pose pa = support_pose(&seed, 1.5), pb = support_pose(&seed, 1.5);
        const manifold_config exact = {.reach = INFINITY, .angle = 1e-9};
        manifold m = collide(&a, pa, &b, pb, &exact);
        abut_convex_gap gap;
        assert_int_equal(abut_convex_closest(&a.convex, pa, &b.convex, pb, &gap, NULL), ABUT_OK);
        assert_int_equal(m.count, 1);
        assert_near(m.points[0].gap, gap.distance, 1e-9);
        assert_near(vec3_distance(m.normal, gap.normal), 0, 1e-5);
        assert_near(vec3_distance(m.points[0].at, vec3_lerp(gap.a, gap.b, 0.5)), 0, 1e-5);
    }
}

/* Capsules side by side, 2.5 and 1.5 long, one shifted by 0.5 along: two points on the common piece. */
static void test_parallel_capsules(void **state) {
    (void)state;
    manifold_shape a = of(abut_convex_capsule(0.25, 2.5)), b = of(abut_convex_capsule(0.5, 1.5));
    manifold m = collide(&a, at(0.7, 0, 0.5), &b, at(0, 0, 0), &wide);
    assert_int_equal(m.count, 2);
    assert_near(vec3_distance(m.normal, vec3_make(1, 0, 0)), 0, 1e-12);
    for (int i = 0; i < 2; i++) assert_near(m.points[i].gap, -0.05, 1e-12);
    assert_near(fabs(m.points[0].at.z - m.points[1].at.z), 1.5, 1e-12);
    /* the same place: still a normal across the axes */
    abut_convex_cache cache = {0};
    manifold_collide(&a, at(0, 0, 0), &a, at(0, 0, 0), &wide, &cache, &m);
    assert_true(m.count >= 1);
    assert_near(m.normal.z, 0, 1e-12);
    assert_near(least_gap(&m), -0.5, 1e-12);
}

/* Any shape above a half-space that leans: the least gap is the height of its lowest point. */
static void test_halfspace(void **state) {
    (void)state;
    uint64_t seed = 2;
    abut_hull *h = random_hull(&seed, 30);
    const abut_convex shapes[] = {abut_convex_hull(h), abut_convex_sphere(0.4), abut_convex_capsule(0.2, 1),
                                  abut_convex_cylinder(0.6, 0.5), abut_convex_ellipsoid(0.3, 0.6, 0.9)};
    for (int k = 0; k < 2000; k++) {
        manifold_shape a = of(shapes[k % 5]), floor = {.is_halfspace = true,
                                                       .normal = vec3_scale(support_direction(&seed), 2),
                                                       .offset = 0.8};
        pose pa = support_pose(&seed, 2), pb = support_pose(&seed, 1);
        manifold m = collide(&a, pa, &floor, pb, &wide);
        vec3 n = quat_rotate(pb.rotation, vec3_scale(floor.normal, 0.5));
        double d = 0.4 + vec3_dot(n, pb.position);
        vec3 lowest = pose_point(pa, abut_convex_support(&a.convex, quat_unrotate(pa.rotation, vec3_neg(n))));
        assert_true(m.count >= 1);
        assert_near(vec3_distance(m.normal, n), 0, 1e-12);
        assert_near(least_gap(&m), vec3_dot(n, lowest) - d, 1e-12);
        for (int i = 0; i < m.count; i++)
            assert_near(vec3_dot(n, m.points[i].at) - d, m.points[i].gap / 2, 1e-12);
    }
    manifold_shape floor = {.is_halfspace = true, .normal = {0, 0, 1}};
    manifold none = collide(&floor, at(0, 0, 0), &floor, at(0, 0, 0), &wide);
    assert_int_equal(none.count, 0);
    abut_hull_free(NULL, h);
}

/* A box, a cylinder and a capsule at rest on a floor and on a slab: all their corners. */
static void test_resting(void **state) {
    (void)state;
    abut_hull *g = box_hull(1, 2, 1), *h = box_hull(10, 10, 2);
    manifold_shape block = of(abut_convex_hull(g)), slab = of(abut_convex_hull(h)),
                   can = of(abut_convex_cylinder(0.5, 1)), rod = of(abut_convex_capsule(0.5, 2));
    manifold_shape floor = {.is_halfspace = true, .normal = {0, 0, 1}, .offset = 1};
    manifold_config config = manifold_default_config();
    pose lying = {{0.3, 0.2, 1.499}, abut_quat_from_axis_angle(vec3_make(0, 1, 0), 1.5707963267948966)};
    for (int k = 0; k < 2; k++) {
        const manifold_shape *below = k ? &slab : &floor;
        manifold m = collide(&block, at(0.3, 0.2, 1.499), below, at(0, 0, 0), &config);
        assert_int_equal(m.count, 4);
        for (int i = 0; i < 4; i++) {
            assert_near(m.points[i].gap, -1e-3, 1e-12);
            assert_near(fabs(m.points[i].at.x - 0.3), 0.5, 1e-12);
            assert_near(fabs(m.points[i].at.y - 0.2), 1, 1e-12);
            assert_near(m.points[i].at.z, 0.9995, 1e-12);
        }
        m = collide(&can, at(0.3, 0.2, 1.499), below, at(0, 0, 0), &config);
        assert_int_equal(m.count, 4);
        for (int i = 0; i < 4; i++)
            assert_near(hypot(m.points[i].at.x - 0.3, m.points[i].at.y - 0.2), 0.5, 1e-9);
        m = collide(&rod, lying, below, at(0, 0, 0), &config);
        assert_int_equal(m.count, 2);
        for (int i = 0; i < 2; i++) assert_near(m.points[i].gap, -1e-3, 1e-9);
        assert_near(fabs(m.points[0].at.x - m.points[1].at.x), 2, 1e-9);
        m = collide(&block, at(0.3, 0.2, 1.53), below, at(0, 0, 0), &config); /* 3 cm above: out of reach */
        assert_int_equal(m.count, 0);
    }
    abut_hull_free(NULL, g), abut_hull_free(NULL, h);
}

/* A box tilted a little keeps its corners, with the ids it had flat, and each its own gap. */
static void test_tilted_keeps_ids(void **state) {
    (void)state;
    abut_hull *g = box_hull(1, 1, 1), *h = box_hull(10, 10, 2);
    manifold_shape block = of(abut_convex_hull(g)), slab = of(abut_convex_hull(h));
    manifold_config config = {.reach = 0.2, .angle = 0.2};
    manifold flat = collide(&block, at(0.3, 0.2, 1.499), &slab, at(0, 0, 0), &config);
    uint64_t seed = 4;
    for (int k = 0; k < 300; k++) {
        vec3 axis = support_direction(&seed);
        axis.z = 0;
        pose p = {{0.3, 0.2, 1.5},
                  abut_quat_from_axis_angle(vec3_unit(axis), random_range(&seed, -0.1, 0.1))};
        manifold m = collide(&block, p, &slab, at(0, 0, 0), &config);
        assert_int_equal(m.count, 4);
        for (int i = 0; i < 4; i++) {
            bool found = false;
            for (int j = 0; j < 4; j++) found |= m.points[i].id == flat.points[j].id;
            assert_true(found);
            vec3 corner = pose_point(p, abut_hull_vertex(g, (int64_t)(m.points[i].id >> 32 & 0x3fffffff)));
            assert_near(m.points[i].gap, corner.z - 1, 1e-12);
        }
    }
    abut_hull_free(NULL, g), abut_hull_free(NULL, h);
}

/* Random points: what is at most `near` apart is kept before what is farther out, the deepest always, and no
 * more than four; the order stays. */
static void test_near_points_first(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int k = 0; k < 5000; k++) {
        manifold_point p[9];
        int count = support_int(&seed, 1, 9), close = 0, kept = 0, deepest = 0, last = -1;
        for (int i = 0; i < count; i++) {
            vec3 at = {random_range(&seed, -1, 1), random_range(&seed, -1, 1), 0};
            p[i] = (manifold_point){at, random_range(&seed, -0.01, 0.02), (uint64_t)i};
            if (k % 3 == 0) p[i].at.y = p[i].at.x; /* all on a line */
            close += p[i].gap <= 0.002;
            if (p[i].gap < p[deepest].gap) deepest = i;
        }
        manifold m;
        manifold_thin_out(p, count, vec3_make(0, 0, 1), &(manifold_config){.near = 0.002}, &m);
        assert_true(m.count <= 4 && m.count <= count && m.count >= (close < 4 ? close : k % 3 == 0 ? 2 : 3));
        bool has_deepest = false;
        for (int i = 0; i < m.count; i++) {
            assert_true((int)m.points[i].id > last);
            last = (int)m.points[i].id, kept += m.points[i].gap <= 0.002;
            has_deepest |= last == deepest;
        }
        assert_true(has_deepest);
        if (close <= 4)
            assert_int_equal(kept, close);
        else
            assert_int_equal(kept, m.count);
    }
}

/* Points that bore something and lie farthest out stay when others overlap too, in either order of the
 * shapes; the deepest always. */
static void test_bearing_points_stay(void **state) {
    (void)state;
    uint64_t seed = 12;
    for (int k = 0; k < 2000; k++) {
        manifold_point p[8];
        uint64_t bearing[3];
        for (int i = 0; i < 8; i++) {
            double angle = 0.785398 * i, r = random_range(&seed, 0.9, 1.1);
            p[i] = (manifold_point){{r * cos(angle), r * sin(angle), 0},
                                    random_range(&seed, -0.002, -0.001),
                                    (uint64_t)(i + 1) << 32 | 7};
        }
        int first = support_int(&seed, 0, 7); /* three that make a wide triangle */
        for (int i = 0; i < 3; i++) bearing[i] = p[(first + 3 * i) % 8].id;
        if (k % 2) bearing[0] = bearing[0] << 32 | bearing[0] >> 32;
        manifold m;
        const manifold_config config = {.near = 0.001, .bearing = bearing, .bearing_count = 3};
        manifold_thin_out(p, 8, vec3_make(0, 0, 1), &config, &m);
        assert_int_equal(m.count, 4);
        for (int i = 0; i < 3; i++) {
            bool found = false;
            for (int j = 0; j < 4; j++) found |= m.points[j].id == p[(first + 3 * i) % 8].id;
            assert_true(found);
        }
    }
}

/* A rim that comes down all but level: one half of it overlaps by a hair, the other half will within the
 * sub-step.  Held at the four points that are kept it may turn about any line, and no other point of it goes
 * in by more than half its radius times the turn; by those that overlap alone, by up to twice the radius. */
static void test_rim_is_held_all_round(void **state) {
    (void)state;
    uint64_t seed = 14;
    for (int k = 0; k < 500; k++) {
        manifold_point p[16];
        double lean = random_range(&seed, 0, 6.3);
        for (int i = 0; i < 16; i++) {
            double angle = 0.39269908169872414 * i;
            p[i] = (manifold_point){{cos(angle), sin(angle), 0}, 1e-4 * cos(angle - lean), (uint64_t)i};
        }
        manifold m;
        manifold_thin_out(p, 16, vec3_make(0, 0, 1), &(manifold_config){.soon = 0.01, .near = 0.05}, &m);
        assert_int_equal(m.count, 4);
        for (int i = 0; i < 16; i++) {
            double held = -INFINITY;
            for (int j = 0; j < m.count; j++) held = fmax(held, vec3_dot(m.points[j].at, p[i].at));
            assert_true(held >= 0.5);
        }
    }
}

/* A thin plate that leans: the upper corners may be a hair farther out than those below them, and meet the
 * plane later; the lower ones are kept. */
static void test_lower_corners_of_plate(void **state) {
    (void)state;
    uint64_t seed = 15;
    abut_hull *h = box_hull(0.4, 0.3, 0.02);
    manifold_shape a = of(abut_convex_hull(h)),
                   floor = {.is_halfspace = true, .normal = {0, 0, 1}, .offset = 0};
    const manifold_config config = {.reach = 0.2, .near = 0.15, .soon = 0.1, .angle = 0.2};
    for (int k = 0; k < 500; k++) {
        vec3 axis = vec3_unit(vec3_make(random_range(&seed, -1, 1), random_range(&seed, -1, 1), 0));
        pose up = {{0, 0, 0.06}, abut_quat_from_axis_angle(axis, random_range(&seed, 0.01, 0.08))};
        manifold m = collide(&a, up, &floor, at(0, 0, 0), &config);
        assert_int_equal(m.count, 4);
        for (int i = 0; i < 4; i++) {
            vec3 corner =
                pose_unpoint(up, vec3_axpy(m.points[i].at, m.points[i].gap / 2, vec3_make(0, 0, 1)));
            assert_near(corner.z, -0.01, 1e-12);
        }
    }
    abut_hull_free(NULL, h);
}

/* A flat dome of many facets on a plane: of all vertices that rise from the lowest one by less than the
 * angle, found by asking all, the four chosen ones hold the deepest; with no more than four of them, all. */
static void test_all_flat_vertices(void **state) {
    (void)state;
    uint64_t seed = 13;
    int small = 0;
    for (int k = 0; k < 500; k++) {
        vec3 points[24];
        int n = support_int(&seed, 5, 24), flat = 0, lowest = 0;
        for (int i = 0; i < n; i++) {
            double x = random_range(&seed, -1, 1), y = random_range(&seed, -1, 1);
            points[i] = (vec3){x, y, random_range(&seed, 0.02, 0.1) * (x * x + y * y)};
        }
        points[0] = (vec3){0, 0, 2};
        abut_hull *h = NULL;
        assert_int_equal(abut_hull_create(NULL, points, n, &h, NULL), ABUT_OK);
        manifold_shape a = of(abut_convex_hull(h)),
                       floor = {.is_halfspace = true, .normal = {0, 0, 1}, .offset = 0};
        pose up = at(0, 0, 0.5);
        manifold m = collide(&a, up, &floor, at(0, 0, 0), &wide);
        int count = (int)abut_hull_facts_of(h).vertices;
        for (int i = 0; i < count; i++)
            if (abut_hull_vertex(h, i).z < abut_hull_vertex(h, lowest).z) lowest = i;
        vec3 low = abut_hull_vertex(h, lowest);
        for (int i = 0; i < count; i++) {
            vec3 d = vec3_sub(abut_hull_vertex(h, i), low);
            flat += d.z <= wide.angle * sqrt(d.x * d.x + d.y * d.y);
        }
        assert_true(flat <= 4 ? m.count == flat : m.count >= 3); /* of more, three may hold all others */
        assert_near(least_gap(&m), low.z + 0.5, 1e-12);
        small += flat <= 4;
        abut_hull_free(NULL, h);
    }
    assert_true(small > 10);
}

/* Hulls with spheres and capsules: gap and normal of the closest points, when the cores are apart; and never
 * a miss when they are not. */
static void test_hull_round(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 2000; k++) {
        abut_hull *h = random_hull(&seed, support_int(&seed, 4, 40));
        manifold_shape a = of(abut_convex_hull(h)),
                       b = of(k % 2 ? abut_convex_sphere(0.3) : abut_convex_capsule(0.3, 1));
        pose pa = support_pose(&seed, 1), pb = support_pose(&seed, 1);
        const manifold_config narrow = {.reach = INFINITY, .angle = 1e-9};
        manifold m = collide(&a, pa, &b, pb, &narrow);
        abut_convex_gap gap;
        assert_int_equal(abut_convex_closest(&a.convex, pa, &b.convex, pb, &gap, NULL), ABUT_OK);
        assert_true(m.count >= 1);
        if (gap.distance > -0.299) {
            assert_near(least_gap(&m), gap.distance, 1e-9);
            assert_near(vec3_distance(m.normal, gap.normal), 0, 1e-6);
        } else {
            assert_true(least_gap(&m) <= gap.distance + 1e-9);
        }
        abut_hull_free(NULL, h);
    }
}

/* Two hulls: the normal and the deepest point of the growth distance; four points at most, which span at
 * least half of the polygon. */
static double polygon_area(const vec3 *p, int n, vec3 up) {
    double twice = 0;
    for (int i = 1; i + 1 < n; i++)
        twice += vec3_dot(up, vec3_cross(vec3_sub(p[i], p[0]), vec3_sub(p[i + 1], p[0])));
    return fabs(twice) / 2;
}

static void test_hulls(void **state) {
    (void)state;
    uint64_t seed = 6;
    vec3 ring[48];
    for (int i = 0; i < 48; i++)
        ring[i] = vec3_make(cos(i / 2 * 0.26179938779914943), sin(i / 2 * 0.26179938779914943), i % 2 - 0.5);
    abut_hull *g = NULL, *h = box_hull(1.5, 1.5, 1);
    assert_int_equal(abut_hull_create(NULL, ring, 48, &g, NULL), ABUT_OK);
    manifold_shape drum = of(abut_convex_hull(g)), block = of(abut_convex_hull(h));
    for (int k = 0; k < 500; k++) {
        pose pa = {{random_range(&seed, -1, 1), random_range(&seed, -1, 1), 0.999},
                   abut_quat_from_axis_angle(vec3_make(0, 0, 1), random_range(&seed, -3, 3))};
        manifold m = collide(&drum, pa, &block, at(0, 0, 0), &wide);
        abut_convex_point points[64];
        abut_convex_result r = {.points = points, .capacity = 64};
        assert_int_equal(
            abut_convex_distance(&drum.convex, pa, &block.convex, at(0, 0, 0), NULL, NULL, &r, NULL),
            ABUT_OK);
        assert_near(vec3_distance(m.normal, r.normal), 0, 1e-12);
        assert_near(least_gap(&m), -1e-3, 1e-12);
        vec3 all[64], kept[4];
        for (int i = 0; i < r.point_count; i++) all[i] = vec3_lerp(points[i].a, points[i].b, 0.5);
        for (int i = 0; i < m.count; i++) kept[i] = m.points[i].at;
        assert_int_equal(m.count, r.point_count < 4 ? r.point_count : 4);
        assert_true(polygon_area(kept, m.count, r.normal) >=
                    0.5 * polygon_area(all, r.point_count, r.normal) - 1e-12);
    }
    assert_true(manifold_shape_fits(&drum));
    abut_hull_free(NULL, g), abut_hull_free(NULL, h);
}

/* A cube in a plate, by d, anywhere between its middle and 3 cm from its rim: out by the nearest side, x, and
 * d deep.  (The ray between the centres leaves by the rim where d is more than 3 % of what both are thick.)
 */
static void test_rim_of_plate(void **state) {
    (void)state;
    abut_hull *g = box_hull(0.002, 1, 1), *h = box_hull(0.02, 0.02, 0.02);
    manifold_shape plate = of(abut_convex_hull(g)), cube = of(abut_convex_hull(h));
    plate.core = 0.0015, cube.core = 0.01;
    for (int i = 0; i <= 10; i++)
        for (int k = 1; k <= 5; k++) {
            double d = 1e-4 * k, y = 0.047 * i;
            manifold m = collide(&plate, at(0, 0, 0), &cube, at(0.011 - d, y, 0.3), &wide);
            assert_near(m.normal.x, -1, 1e-12);
            assert_near(least_gap(&m), -d, 1e-12);
            assert_int_equal(m.count, 4);
        }
    abut_hull_free(NULL, g), abut_hull_free(NULL, h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_parallel_capsules),
        cmocka_unit_test(test_halfspace),
        cmocka_unit_test(test_resting),
        cmocka_unit_test(test_tilted_keeps_ids),
        cmocka_unit_test(test_near_points_first),
        cmocka_unit_test(test_bearing_points_stay),
        cmocka_unit_test(test_rim_is_held_all_round),
        cmocka_unit_test(test_lower_corners_of_plate),
        cmocka_unit_test(test_all_flat_vertices),
        cmocka_unit_test(test_hull_round),
        cmocka_unit_test(test_hulls),
        cmocka_unit_test(test_rim_of_plate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
