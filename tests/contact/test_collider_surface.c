/* Smooth surfaces in the live clock: an ellipsoid given as a surface touches what the ellipsoid given as a
 * shape touches, with the same gaps (another algorithm: closed forms, GJK, growth distance). */
#include "abut/surface.h"
#include "contact/cast.h"
#include "make_collider.h"

static abut_surface *surface;
static abut_solid *solid;
static abut_hull *hull;
static collider *smooth, *shape;
static abut_convex convex;

static int set_up(void **state) {
    (void)state;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = mat3_diagonal(0.7, 0.4, 0.5);
    abut_error error;
    if (abut_surface_quadric(NULL, &q, &surface, &error) != ABUT_OK) fail_msg("%s", error.message);
    if (abut_solid_box(NULL, 0.8, 0.6, 0.5, &solid, NULL) != ABUT_OK) return 1;
    if (abut_hull_of_solid(NULL, solid, &hull, NULL) != ABUT_OK) return 1;
    smooth = make((abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface});
    shape = make(abut_shape_ellipsoid(0.7, 0.4, 0.5));
    convex = abut_convex_ellipsoid(0.7, 0.4, 0.5);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    collider_free(NULL, smooth), collider_free(NULL, shape);
    abut_hull_free(NULL, hull), abut_solid_free(NULL, solid), abut_surface_free(NULL, surface);
    return 0;
}

static double least_gap(const manifold *m, int count) {
    double least = INFINITY;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < m[i].count; k++) least = fmin(least, m[i].points[k].gap);
    return least;
}

static const manifold_config wide = {.reach = 5, .angle = 0.1};

/* On a half-space, and inside a cavity: the same gap and normal as the shape's, also when it overlaps. */
static void test_halfspace_and_cavity(void **state) {
    (void)state;
    uint64_t seed = 3;
    collider *others[2] = {make(abut_shape_halfspace(vec3_make(0.1, 0.2, 1), 0.3)),
                           make(abut_shape_cavity(1))};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < (k ? 10 : 60); i++) {
            pose p = support_pose(&seed, k ? 0.4 : 0.8), q = support_pose(&seed, 0.1);
            manifold m[COLLIDER_ROOM], n[COLLIDER_ROOM];
            int count = collider_collide(smooth, p, others[k], q, &wide, NULL, 0, m, COLLIDER_ROOM);
            int want = collider_collide(shape, p, others[k], q, &wide, NULL, 0, n, COLLIDER_ROOM);
            assert_true(count > 0 && want > 0);
            assert_near(least_gap(m, count), least_gap(n, want), k ? 1e-4 : 1e-9);
            if (k == 0) assert_near(vec3_distance(m[0].normal, n[0].normal), 0, 1e-9);
            if (k == 0) assert_near(vec3_distance(m[0].points[0].at, n[0].points[0].at), 0, 1e-6);
        }
        collider_free(NULL, others[k]);
    }
}

/* Spheres and capsules: the distance of the axis from the ellipsoid, which for an axis outside is the least
 * over its points. */
static void test_round(void **state) {
    (void)state;
    uint64_t seed = 5;
    collider *round[2] = {make(abut_shape_sphere(0.2)), make(abut_shape_capsule(0.1, 0.9))};
    const double radius[2] = {0.2, 0.1};
    for (int i = 0; i < 80; i++) {
        int k = i % 2;
        pose p = support_pose(&seed, 0.2), q = support_pose(&seed, 1.2);
        double want = INFINITY;
        for (int s = 0; s <= (k ? 4000 : 0); s++) {
            vec3 x = pose_point(q, vec3_make(0, 0, k ? 0.45 * (s / 2000.0 - 1) : 0));
            cast_hit hit;
            assert_true(cast_point(shape, p, x, INFINITY, &hit));
            want = fmin(want, hit.t);
        }
        if (want < 0 && k) continue; /* the axis itself inside */
        manifold m[COLLIDER_ROOM];
        int count = collider_collide(smooth, p, round[k], q, &wide, NULL, 0, m, COLLIDER_ROOM);
        assert_true(count > 0);
        assert_near(least_gap(m, count), want - radius[k], k ? 1e-6 : 1e-9);
    }
    collider_free(NULL, round[0]), collider_free(NULL, round[1]);
}

/* A box, an ellipsoid and another surface: apart, the Euclidean distance by GJK; overlapping a little, seen.
 */
static void test_convex(void **state) {
    (void)state;
    uint64_t seed = 7;
    collider *others[3] = {make(abut_shape_solid(solid)), shape, smooth};
    const abut_convex shapes[3] = {abut_convex_hull(hull), convex, convex};
    int apart = 0, overlapping = 0;
    for (int i = 0; i < 300; i++) {
        int k = i % 3;
        pose p = support_pose(&seed, 0.2), q = support_pose(&seed, 1);
        abut_convex_gap gap;
        assert_int_equal(abut_convex_closest(&convex, p, &shapes[k], q, &gap, NULL), ABUT_OK);
        if (gap.distance < -0.05) continue;
        manifold m[COLLIDER_ROOM];
        int count = collider_collide(smooth, p, others[k], q, &wide, NULL, 0, m, COLLIDER_ROOM);
        assert_true(count > 0);
        if (gap.distance > 1e-3) {
            apart++;
            /* a vertex or a face of the box may be farther than its edges */
            double slack = k == 0 ? 0.1 : 0.02;
            assert_true(least_gap(m, count) > gap.distance - 1e-6);
            assert_true(least_gap(m, count) < gap.distance * 1.5 + slack);
        } else if (gap.distance < -2e-3 && k > 0) {
            overlapping++;
            assert_true(least_gap(m, count) < 0);
        }
    }
    assert_true(apart > 30 && overlapping > 1);
    collider_free(NULL, others[0]);
}

static void test_casts(void **state) {
    (void)state;
    uint64_t seed = 9;
    int hits = 0;
    for (int i = 0; i < 100; i++) {
        pose p = support_pose(&seed, 0.3);
        vec3 o = vec3_scale(support_direction(&seed), 2), d = vec3_sub(support_vec(&seed, 0.6), o);
        cast_hit got, want;
        bool found = cast_ray(smooth, p, o, d, 3, &got);
        assert_int_equal(found, cast_ray(shape, p, o, d, 3, &want));
        if (found) assert_near(got.t, want.t, 1e-5);
        hits += found;
        assert_true(cast_point(smooth, p, o, INFINITY, &got) && cast_point(shape, p, o, INFINITY, &want));
        assert_near(got.t, want.t, 1e-9);
    }
    assert_true(hits > 20);
}

static abut_status create_and_free(const abut_context *context, void *user) {
    (void)user;
    abut_shape s = {.kind = ABUT_SHAPE_SURFACE, .surface = surface};
    collider *c = NULL;
    abut_status status = collider_create(context, &s, &c, NULL);
    collider_free(context, c);
    return status;
}
static void test_memory(void **state) {
    (void)state;
    assert_true(support_fail_each(create_and_free, NULL) > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_halfspace_and_cavity),
                                       cmocka_unit_test(test_round), cmocka_unit_test(test_convex),
                                       cmocka_unit_test(test_casts), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
