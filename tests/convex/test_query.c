/* The query of two convex shapes: analytic shapes in closed form and by a certificate from both sides, warm
 * starts, symmetry, scale, far places, degenerate clouds of points, and bad input. */
#include "brute.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 128 };
typedef struct answer {
    abut_convex_point points[ROOM];
    abut_convex_result r;
} answer;

static void ask_cached(const abut_convex *a, pose pa, const abut_convex *b, pose pb, abut_convex_cache *cache,
                       answer *out) {
    abut_error error = {0};
    out->r = (abut_convex_result){.points = out->points, .capacity = ROOM};
    if (abut_convex_distance(a, pa, b, pb, NULL, cache, &out->r, &error) != ABUT_OK)
        print_error("%s\n", error.message);
    assert_int_equal(error.status, ABUT_OK);
}
static void ask(const abut_convex *a, pose pa, const abut_convex *b, pose pb, answer *out) {
    ask_cached(a, pa, b, pb, NULL, out);
}

static pose at(double x, double y, double z) { return (pose){{x, y, z}, {1, 0, 0, 0}}; }

static void assert_vec(vec3 got, double x, double y, double z, double tolerance) {
    if (!(vec3_distance(got, vec3_make(x, y, z)) <= tolerance))
        print_error("%.17g %.17g %.17g\n", got.x, got.y, got.z);
    assert_true(vec3_distance(got, vec3_make(x, y, z)) <= tolerance);
}

/* Two balls: growth |c| / (r + s). */
static void test_spheres(void **state) {
    (void)state;
    abut_convex a = abut_convex_sphere(0.5), b = abut_convex_sphere(1.5);
    uint64_t seed = 1;
    answer x;
    for (int i = 0; i < 500; i++) {
        vec3 d = support_direction(&seed);
        double far = random_range(&seed, 0.1, 5);
        ask(&a, support_pose(&seed, 0), &b, (pose){vec3_scale(d, far), support_rotation(&seed)}, &x);
        assert_near(x.r.growth, far / 2, 1e-11);
        assert_near(x.r.distance, far - 2, 1e-11);
        assert_int_equal(x.r.point_count, 1);
        assert_near(x.points[0].distance, far - 2, 1e-11);
    }
}

/* Flat ends, side lines and round ends on the top of a box 4 x 4 x 2 (its top is z = 1). */
static void test_shapes_on_box(void **state) {
    (void)state;
    abut_hull *h = NULL;
    assert_int_equal(abut_hull_box(NULL, 4, 4, 2, &h, NULL), ABUT_OK);
    abut_convex cuboid = abut_convex_hull(h), cylinder = abut_convex_cylinder(0.5, 2),
                capsule = abut_convex_capsule(0.25, 1);
    abut_convex ball = abut_convex_sphere(0.5), egg = abut_convex_ellipsoid(0.5, 0.75, 1.25);
    pose lying = {{0.5, 0.25, 0}, abut_quat_from_axis_angle(vec3_make(0, 1, 0), 1.5707963267948966)};
    answer x;

    ask(&cylinder, at(0.5, 0, 2.25), &cuboid, at(0, 0, 0), &x); /* standing, 0.25 above */
    assert_near(x.r.growth, 2.25 / 2, 1e-11);
    assert_near(x.r.distance, 0.25, 1e-11);
    assert_vec(x.r.normal, 0, 0, 1, 1e-6);
    assert_int_equal(x.r.feature[0].kind, ABUT_FEATURE_FACE);
    assert_int_equal(x.r.point_count, 16);
    for (int i = 0; i < 16; i++) {
        assert_near(x.points[i].distance, 0.25, 1e-6);
        assert_near(hypot(x.points[i].a.x - 0.5, x.points[i].a.y), 0.5, 1e-9);
    }
    lying.position.z = 1.4; /* 0.1 deep */
    ask(&cylinder, lying, &cuboid, at(0, 0, 0), &x);
    assert_near(x.r.growth, 1.4 / 1.5, 1e-11);
    assert_int_equal(x.r.feature[0].kind, ABUT_FEATURE_EDGE);
    assert_int_equal(x.r.point_count, 2);
    for (int i = 0; i < 2; i++) assert_near(x.points[i].distance, -0.1, 1e-6);
    assert_near(vec3_distance(x.points[0].a, x.points[1].a), 2, 1e-9);

    lying.position.z = 1.25; /* just touching */
    ask(&capsule, lying, &cuboid, at(0, 0, 0), &x);
    assert_near(x.r.growth, 1, 1e-11);
    assert_int_equal(x.r.point_count, 2);
    for (int i = 0; i < 2; i++) assert_near(x.points[i].distance, 0, 1e-6);

    ask(&ball, at(0.3, -0.4, 2), &cuboid, at(0, 0, 0), &x);
    assert_vec(x.r.normal, 0, 0, 1, 1e-5);
    ask(&cuboid, at(0, 0, 0), &egg, at(0.2, 0.1, 3), &x); /* the pole, 0.75 above */
    assert_near(x.r.distance, 0.75, 1e-9);
    assert_int_equal(x.r.point_count, 1);
    abut_hull_free(NULL, h);
}

/* Where a point of the shape's own axes lies: below 1 inside, above 1 outside. */
static double gauge(const abut_convex *s, vec3 x) {
    double radial = hypot(x.x, x.y), half = s->length / 2;
    switch (s->kind) {
    case ABUT_CONVEX_SPHERE: return vec3_length(x) / s->radius;
    case ABUT_CONVEX_CAPSULE: {
        vec3 axis = {0, 0, fmax(-half, fmin(half, x.z))};
        return vec3_distance(x, axis) / s->radius;
    }
    case ABUT_CONVEX_CYLINDER: return fmax(radial / s->radius, fabs(x.z) / half);
    case ABUT_CONVEX_ELLIPSOID:
        return vec3_length(vec3_make(x.x / s->axes.x, x.y / s->axes.y, x.z / s->axes.z));
    default: {
        double most = 0;
        for (int f = 0; f < s->hull->face_count; f++)
            most = fmax(most, vec3_dot(hull_faces(s->hull)[f].n, x) / hull_faces(s->hull)[f].d);
        return most;
    }
    }
}

/* A certificate: the direction n says growth >= n.c / h(n), the two witness points say growth <= 1, they lie
 * in the shapes and differ by c / growth.  Both hold together only for the true growth. */
static void test_certificate(void **state) {
    (void)state;
    uint64_t seed = 2;
    abut_hull *h = brute_random_hull(&seed, 20, 0.7);
    const abut_convex shapes[] = {abut_convex_hull(h), abut_convex_sphere(0.4), abut_convex_capsule(0.2, 1),
                                  abut_convex_cylinder(0.6, 0.5), abut_convex_ellipsoid(0.3, 0.6, 0.9)};
    double worst = 0, across = 0;
    int most = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 200; k++) {
                convex_pair p = {.a = &shapes[i], .b = &shapes[j]};
                p.ra = quat_matrix(support_rotation(&seed)), p.rb = quat_matrix(support_rotation(&seed));
                p.c = vec3_scale(support_direction(&seed), random_range(&seed, 0.01, 3));
                p.size = shape_radius(p.a) + shape_radius(p.b);
                convex_touch t;
                assert_int_equal(convex_grow(&p, INFINITY, NULL, &t), ABUT_OK);
                int32_t support[2];
                vec3 reach[2];
                double lower = vec3_dot(t.n, p.c) / convex_extent(&p, t.n, support, reach);
                assert_near(t.growth, lower, 1e-12 * t.growth);
                vec3 between = vec3_sub(t.witness[0], t.witness[1]);
                vec3 miss = vec3_sub(between, vec3_scale(p.c, 1 / t.growth));
                double off = fabs(vec3_dot(miss, t.n)); /* what separates the two bounds */
                across = fmax(across, vec3_length(miss));
                double out = fmax(gauge(p.a, mat3_tmul_vec(p.ra, t.witness[0])),
                                  gauge(p.b, mat3_tmul_vec(p.rb, t.witness[1])));
                worst = fmax(worst, fmax(off, out - 1));
                most = t.iterations > most ? t.iterations : most;
            }
    print_message("curved shapes: certificate closes to %.1e (across %.1e), at most %d support points\n",
                  worst, across, most);
    assert_true(worst < 1e-11);
    /* across the normal the point is only as well known as the last simplex is wide against its height */
    assert_true(across < 1e-7);
    abut_hull_free(NULL, h);
}

/* Swapped shapes: the same growth, the opposite normal. */
static void test_symmetry(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int k = 0; k < 300; k++) {
        abut_hull *g = brute_random_hull(&seed, support_int(&seed, 4, 60), 1),
                  *h = brute_random_hull(&seed, support_int(&seed, 4, 60), 0.5);
        abut_convex a = abut_convex_hull(g), b = abut_convex_hull(h);
        pose pa = support_pose(&seed, 1), pb = support_pose(&seed, 1);
        answer x, y;
        ask(&a, pa, &b, pb, &x);
        ask(&b, pb, &a, pa, &y);
        assert_near(x.r.growth, y.r.growth, 1e-12);
        assert_near(x.r.distance, y.r.distance, 1e-12);
        assert_vec(x.r.normal, -y.r.normal.x, -y.r.normal.y, -y.r.normal.z, 1e-9);
        assert_int_equal(x.r.feature[0].kind, y.r.feature[1].kind);
        assert_int_equal(x.r.point_count, y.r.point_count);
        abut_hull_free(NULL, g), abut_hull_free(NULL, h);
    }
}

/* A micron, a thousand kilometres, and a metre a thousand kilometres away. */
static void test_scale_and_place(void **state) {
    (void)state;
    uint64_t seed = 4;
    for (int k = 0; k < 200; k++) {
        vec3 p[30], q[30];
        abut_hull *h[3][2];
        const double scale[3] = {1, 1e-6, 1e6};
        for (int i = 0; i < 30; i++) p[i] = support_direction(&seed);
        for (int s = 0; s < 3; s++)
            for (int side = 0; side < 2; side++) {
                for (int i = 0; i < 30; i++) q[i] = vec3_scale(p[i], scale[s] * (side ? 0.5 : 1));
                assert_int_equal(abut_hull_create(NULL, q, 30, &h[s][side], NULL), ABUT_OK);
            }
        pose pa = support_pose(&seed, 1), pb = support_pose(&seed, 1);
        answer x, y;
        for (int s = 0; s < 3; s++) {
            abut_convex a = abut_convex_hull(h[s][0]), b = abut_convex_hull(h[s][1]);
            pose sa = {vec3_scale(pa.position, scale[s]), pa.rotation},
                 sb = {vec3_scale(pb.position, scale[s]), pb.rotation};
            ask(&a, sa, &b, sb, s == 0 ? &x : &y);
            if (s > 0) assert_near(x.r.growth, y.r.growth, 1e-11);
            if (s > 0) assert_near(x.r.distance * scale[s], y.r.distance, 1e-11 * scale[s]);
        }
        /* 2^20 m away: positions have 2^-32 m left, c is rounded to that */
        abut_convex a = abut_convex_hull(h[0][0]), b = abut_convex_hull(h[0][1]);
        vec3 far = {1048576, -1048576, 1048576};
        ask(&a, (pose){vec3_add(pa.position, far), pa.rotation}, &b,
            (pose){vec3_add(pb.position, far), pb.rotation}, &y);
        assert_near(x.r.growth, y.r.growth, 1e-8);
        for (int s = 0; s < 3; s++) abut_hull_free(NULL, h[s][0]), abut_hull_free(NULL, h[s][1]);
    }
}

/* Along a motion, warm starts give what cold ones give, in fewer steps; and whatever stands in a cache, the
 * answer is right. */
static void test_warm_start(void **state) {
    (void)state;
    uint64_t seed = 5;
    long warm_steps = 0, cold_steps = 0;
    for (int k = 0; k < 50; k++) {
        abut_hull *g = brute_random_hull(&seed, 64, 1), *h = brute_random_hull(&seed, 128, 1);
        abut_convex a = abut_convex_hull(g), b = abut_convex_hull(h);
        abut_convex_cache cache = {0};
        pose pa = support_pose(&seed, 1), pb = support_pose(&seed, 1);
        vec3 spin = support_direction(&seed);
        for (int i = 0; i < 100; i++) {
            answer x, y;
            pb.rotation = quat_unit(quat_mul(abut_quat_from_axis_angle(spin, 0.01), pb.rotation));
            pb.position = vec3_axpy(pb.position, 0.01, spin);
            if (i % 10 == 9)
                cache = (abut_convex_cache){.count = 3,
                                            .a = {support_int(&seed, -5, 99), 7, 7},
                                            .b = {1, 1, support_int(&seed, -9, 1 << 30)}};
            if (i % 10 == 4)
                cache = (abut_convex_cache){.count = 3,
                                            .a = {support_int(&seed, 0, 63), 7, 60},
                                            .b = {1, support_int(&seed, 0, 99), 3}};
            if (i % 10 == 7) cache = (abut_convex_cache){.count = -1, .axis = {NAN, 3, 1e300}};
            ask_cached(&a, pa, &b, pb, &cache, &x);
            ask(&a, pa, &b, pb, &y);
            assert_near(x.r.growth, y.r.growth, 1e-12);
            assert_vec(x.r.normal, y.r.normal.x, y.r.normal.y, y.r.normal.z, 1e-9);
            warm_steps += x.r.iterations, cold_steps += y.r.iterations;
        }
        abut_hull_free(NULL, g), abut_hull_free(NULL, h);
    }
    print_message("support points: warm %.2f, cold %.2f\n", warm_steps / 5000.0, cold_steps / 5000.0);
    assert_true(warm_steps < cold_steps / 2);
}

/* A box that slides and turns a little on a slab keeps the ids of its contact points, until it passes the
 * rim.
 */
static void test_stable_ids(void **state) {
    (void)state;
    abut_hull *g = NULL, *h = NULL;
    assert_int_equal(abut_hull_box(NULL, 1, 1, 1, &g, NULL), ABUT_OK);
    assert_int_equal(abut_hull_box(NULL, 10, 10, 1, &h, NULL), ABUT_OK);
    abut_convex cuboid = abut_convex_hull(g), slab = abut_convex_hull(h);
    abut_convex_cache cache = {0};
    answer first, x;
    for (int i = 0; i < 200; i++) {
        pose p = {{-3 + 0.03 * i, 0.2, 0.999}, abut_quat_from_axis_angle(vec3_make(0, 0, 1), 0.3 + 1e-3 * i)};
        ask_cached(&cuboid, p, &slab, at(0, 0, 0), &cache, i ? &x : &first);
        if (i == 0) continue;
        assert_int_equal(x.r.point_count, 4);
        for (int k = 0; k < 4; k++) {
            assert_near(x.points[k].distance, -1e-3, 1e-12);
            assert_int_equal(x.points[k].feature[0].id, first.points[k].feature[0].id);
            assert_int_equal(x.points[k].feature[1].id, first.points[k].feature[1].id);
            assert_int_equal(x.points[k].feature[0].kind, ABUT_FEATURE_VERTEX);
            assert_int_equal(x.points[k].feature[1].kind, ABUT_FEATURE_FACE);
        }
    }
    abut_hull_free(NULL, g), abut_hull_free(NULL, h);
}

/* A box tilted by a hundredth: one vertex touches; with a wider angle its whole face takes part, each corner
 * at its own height. */
static void test_angle(void **state) {
    (void)state;
    abut_hull *g = NULL, *h = NULL;
    assert_int_equal(abut_hull_box(NULL, 1, 1, 1, &g, NULL), ABUT_OK);
    assert_int_equal(abut_hull_box(NULL, 10, 10, 1, &h, NULL), ABUT_OK);
    abut_convex cuboid = abut_convex_hull(g), slab = abut_convex_hull(h);
    pose p = {{0.1, 0.2, 1.01}, abut_quat_from_axis_angle(vec3_make(0.6, 0.8, 0), 0.01)};
    answer x;
    ask(&cuboid, p, &slab, at(0, 0, 0), &x);
    assert_int_equal(x.r.point_count, 1);
    assert_int_equal(x.r.feature[0].kind, ABUT_FEATURE_VERTEX);
    abut_convex_options wide = abut_default_convex_options();
    wide.angle = 0.1;
    x.r = (abut_convex_result){.points = x.points, .capacity = ROOM};
    assert_int_equal(abut_convex_distance(&cuboid, p, &slab, at(0, 0, 0), &wide, NULL, &x.r, NULL), ABUT_OK);
    assert_int_equal(x.r.point_count, 4);
    for (int i = 0; i < 4; i++) {
        vec3 corner = pose_point(p, abut_hull_vertex(g, x.points[i].feature[0].id));
        assert_near(x.points[i].distance, corner.z - 0.5, 1e-12);
        assert_vec(x.points[i].a, corner.x, corner.y, corner.z, 1e-12);
    }
    abut_hull_free(NULL, g), abut_hull_free(NULL, h);
}

/* far_distance: never says far when it is not, always when it is by the growth direction. */
static void test_far(void **state) {
    (void)state;
    uint64_t seed = 6;
    abut_hull *g = brute_random_hull(&seed, 32, 1);
    abut_convex a = abut_convex_hull(g);
    int far = 0;
    for (int i = 0; i < 2000; i++) {
        pose pa = support_pose(&seed, 2), pb = support_pose(&seed, 2);
        answer x, y;
        abut_convex_options o = abut_default_convex_options();
        o.far_distance = 0.1;
        ask(&a, pa, &a, pb, &x);
        y.r = (abut_convex_result){.points = y.points, .capacity = ROOM};
        assert_int_equal(abut_convex_distance(&a, pa, &a, pb, &o, NULL, &y.r, NULL), ABUT_OK);
        if (y.r.is_far)
            assert_true(y.r.distance > 0.1 && y.r.growth > 1 && y.r.growth <= x.r.growth + 1e-12);
        else
            assert_near(x.r.growth, y.r.growth, 1e-12);
        if (x.r.distance > 0.1) assert_true(y.r.is_far);
        far += y.r.is_far;
    }
    assert_true(far > 100);
    abut_hull_free(NULL, g);
}

/* Clouds on small grids: parallel faces, edges and coincident vertices everywhere, in exact and in rounded
 * places.  Growth against all directions; every contact point on both shapes. */
static abut_hull *grid_hull(uint64_t *seed) {
    for (;;) {
        vec3 points[24];
        int n = support_int(seed, 4, 24), grid = support_int(seed, 1, 3);
        for (int i = 0; i < n; i++)
            points[i] =
                vec3_make(support_int(seed, 0, grid), support_int(seed, 0, grid), support_int(seed, 0, grid));
        abut_hull *h = NULL;
        if (abut_hull_create(NULL, points, n, &h, NULL) == ABUT_OK) return h;
    }
}

static void test_degenerate_pairs(void **state) {
    (void)state;
    uint64_t seed = 8;
    double worst = 0;
    brute_hull ba = {0}, bb = {0};
    for (int k = 0; k < 4000; k++) {
        abut_hull *g = grid_hull(&seed), *h = k % 5 ? grid_hull(&seed) : g;
        abut_convex a = abut_convex_hull(g), b = abut_convex_hull(h);
        pose world = k % 2 ? support_pose(&seed, 3) : pose_identity(), pa = world;
        quat quarter =
            abut_quat_from_axis_angle(vec3_make(0, 0, 1), 1.5707963267948966 * support_int(&seed, 0, 3));
        pose pb = pose_mul(
            world, (pose){{support_int(&seed, -3, 3), support_int(&seed, -3, 3), support_int(&seed, -3, 3)},
                          quarter});
        answer x;
        ask(&a, pa, &b, pb, &x);
        brute_place(&ba, g, pa), brute_place(&bb, h, pb);
        brute_answer exact = brute_growth(&ba, &bb, false);
        vec3 n = vec3_neg(x.r.normal), c = vec3_sub(bb.center, ba.center);
        worst = fmax(worst, fabs(x.r.growth - fmax(0, exact.growth)));
        worst = fmax(worst, fabs(x.r.distance - (vec3_dot(n, c) - brute_extent(&ba, &bb, n))));
        assert_true(x.r.point_count >= 1);
        worst = fmax(worst, brute_misfit(&ba, &bb, &x.r));
        for (int i = 0; i < x.r.point_count; i++) {
            const abut_convex_point *p = &x.points[i];
            double in_a = gauge(&a, vec3_sub(pose_unpoint(pa, p->a), g->center));
            double in_b = gauge(&b, vec3_sub(pose_unpoint(pb, p->b), h->center));
            worst = fmax(worst, fmax(fabs(in_a - 1), fabs(in_b - 1)));
            worst = fmax(worst, fabs(p->distance - x.r.distance));
            if (x.r.is_aligned)
                worst = fmax(worst, vec3_distance(p->a, vec3_axpy(p->b, p->distance, x.r.normal)));
        }
        abut_hull_free(NULL, g);
        if (h != g) abut_hull_free(NULL, h);
    }
    brute_free(&ba), brute_free(&bb);
    print_message("grid clouds: worst %.1e\n", worst);
    assert_true(worst < 1e-9);
}

/* With a wide angle features may meet along the normal elsewhere than where they are nearest: the nearest
 * point is there all the same. */
static void test_wide_angle_finds_nearest(void **state) {
    (void)state;
    uint64_t seed = 31;
    int near = 0;
    for (int k = 0; k < 20000; k++) {
        vec3 cloud[2][16];
        abut_hull *h[2];
        for (int i = 0; i < 32; i++)
            cloud[i / 16][i % 16] = vec3_scale(support_direction(&seed), 0.5 * random_range(&seed, 0.9, 1.1));
        for (int i = 0; i < 2; i++)
            assert_int_equal(abut_hull_create(NULL, cloud[i], 16, &h[i], NULL), ABUT_OK);
        abut_convex a = abut_convex_hull(h[0]), b = abut_convex_hull(h[1]);
        pose pa = support_pose(&seed, 0), pb = support_pose(&seed, 0);
        pb.position = vec3_scale(support_direction(&seed), random_range(&seed, 0.75, 1));
        abut_convex_point points[ROOM];
        abut_convex_result r = {.points = points, .capacity = ROOM};
        abut_convex_options wide = {.angle = 0.2, .far_distance = 0.03};
        assert_int_equal(abut_convex_distance(&a, pa, &b, pb, &wide, NULL, &r, NULL), ABUT_OK);
        double least = INFINITY;
        for (int i = 0; i < r.point_count; i++) least = fmin(least, points[i].distance);
        near += !r.is_far;
        if (!r.is_far) assert_true(fabs(least - r.distance) <= 1e-6 || least < r.distance);
        abut_hull_free(NULL, h[0]), abut_hull_free(NULL, h[1]);
    }
    assert_true(near > 1000);
}

static void refuse(const abut_convex *a, pose pa, const abut_convex *b, pose pb, int capacity,
                   const char *word) {
    abut_convex_point points[ROOM];
    abut_convex_result r = {.points = points, .capacity = capacity};
    abut_error error = {0};
    assert_int_equal(abut_convex_distance(a, pa, b, pb, NULL, NULL, &r, &error), ABUT_INVALID);
    if (!strstr(error.message, word)) print_error("%s\n", error.message);
    assert_non_null(strstr(error.message, word));
}

static void test_bad_input(void **state) {
    (void)state;
    abut_hull *h = NULL;
    assert_int_equal(abut_hull_box(NULL, 1, 1, 1, &h, NULL), ABUT_OK);
    abut_convex cuboid = abut_convex_hull(h), ball = abut_convex_sphere(1), none = {0},
                empty = abut_convex_hull(NULL);
    pose fine = at(0, 0, 2);
    refuse(&cuboid, at(NAN, 0, 0), &ball, fine, ROOM, "pose A");
    refuse(&cuboid, fine, &ball, at(0, INFINITY, 0), ROOM, "pose B");
    refuse(&cuboid, fine, &ball, (pose){{0, 0, 0}, {0, 0, 0, 0}}, ROOM, "length 1");
    refuse(&cuboid, fine, &ball, (pose){{0, 0, 0}, {1, NAN, 0, 0}}, ROOM, "pose B");
    refuse(&cuboid, fine, &ball, (pose){{0, 0, 0}, {2, 0, 0, 0}}, ROOM, "length 1");
    refuse(&none, fine, &ball, fine, ROOM, "shape A");
    refuse(&cuboid, fine, &empty, fine, ROOM, "abut_hull_create");
    abut_convex bad[] = {abut_convex_sphere(0), abut_convex_sphere(NAN), abut_convex_capsule(1, -1),
                         abut_convex_cylinder(INFINITY, 1), abut_convex_ellipsoid(1, 0, 1)};
    for (int i = 0; i < COUNT_OF(bad); i++) refuse(&bad[i], fine, &cuboid, fine, ROOM, "positive and finite");
    refuse(&cuboid, fine, &cuboid, fine, abut_convex_capacity(&cuboid, &cuboid) - 1, "abut_convex_capacity");
    abut_convex_result r = {0};
    abut_convex_options o = abut_default_convex_options();
    o.angle = NAN;
    assert_int_equal(abut_convex_distance(&cuboid, fine, &cuboid, fine, &o, NULL, &r, NULL), ABUT_INVALID);
    o.angle = 1e-6, o.no_points = true;
    assert_int_equal(abut_convex_distance(&cuboid, at(0, 0, 0), &cuboid, fine, &o, NULL, &r, NULL), ABUT_OK);
    assert_near(r.growth, 2, 1e-14);
    /* the ends of what doubles can say */
    assert_int_equal(
        abut_convex_distance(&cuboid, at(1e150, 0, 0), &cuboid, at(-1e150, 1, 2), &o, NULL, &r, NULL),
        ABUT_OK);
    assert_near(r.growth, 2e150, 1e138);
    assert_near(r.normal.x, 1, 1e-12);
    assert_int_equal(abut_convex_distance(&cuboid, at(1e300, 0, 0), &cuboid, fine, &o, NULL, &r, NULL),
                     ABUT_INVALID);
    o.far_distance = -1;
    assert_int_equal(abut_convex_distance(&cuboid, at(0, 0, 0), &cuboid, fine, &o, NULL, &r, NULL),
                     ABUT_INVALID);
    o.far_distance = 0.25; /* the balls around the cubes are 0.268 apart */
    assert_int_equal(abut_convex_distance(&cuboid, at(0, 0, 0), &cuboid, fine, &o, NULL, &r, NULL), ABUT_OK);
    assert_true(r.is_far && r.iterations == 0);
    abut_hull_free(NULL, h);
}

/* The command: an answer that reads back, and messages for what is wrong. */
static void test_command(void **state) {
    (void)state;
    static const char cube[] =
        "v -1 -1 -1\nv 1 -1 -1\nv -1 1 -1\nv 1 1 -1\nv -1 -1 1\nv 1 -1 1\nv -1 1 1\nv 1 1 1\n"
        "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    static const char flat[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 4 3\n";
    char path[2][512];
    snprintf(path[0], 512, "%s", support_temporary("cube.obj"));
    snprintf(path[1], 512, "%s", support_temporary("flat.obj"));
    support_write(path[0], cube, sizeof cube - 1), support_write(path[1], flat, sizeof flat - 1);
    support_output out = support_run(NULL, "distance", path[0], path[0], "--pose-b", "0,0,3", "--json", NULL);
    assert_int_equal(out.status, 0);
    assert_non_null(strstr(out.out, "\"growth\": 1.5"));
    support_output_free(&out);
    const struct {
        const char *file, *option, *value, *word;
    } wrong[] = {{path[1], "--pose-b", "0,0,3", "flat.obj"},
                 {path[0], "--pose-b", "0,0", "--pose-b"},
                 {path[0], "--pose-a", "0,0,0,1,1,1,1", "length"},
                 {path[0], "--pose-a", "0,0,0,1", "qw"},
                 {path[0], "--pose-a", "nan,0,0", "--pose-a"},
                 {path[0], "--angle", "-1", "angle"},
                 {"no-such-file.obj", "--pose-a", "0,0,0", "no-such-file.obj"}};
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        out = support_run(NULL, "distance", wrong[i].file, path[0], wrong[i].option, wrong[i].value, NULL);
        assert_int_equal(out.status, 2);
        if (!strstr(out.err, wrong[i].word)) print_error("%s", out.err);
        assert_non_null(strstr(out.err, wrong[i].word));
        support_output_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spheres),
        cmocka_unit_test(test_shapes_on_box),
        cmocka_unit_test(test_certificate),
        cmocka_unit_test(test_symmetry),
        cmocka_unit_test(test_scale_and_place),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_stable_ids),
        cmocka_unit_test(test_angle),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_degenerate_pairs),
        cmocka_unit_test(test_wide_angle_finds_nearest),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
