/* Solids with dents against cylinders and ellipsoids.  Whether the two share volume is asked of points of the
 * curved shape, one by one, in the solid's index.  Where they do, there is a contact that pushes, and pushing
 * along it again and again frees them; where no point of a slightly larger shape is inside, nothing pushes.
 */
#include "contact/boundary.h"
#include "make_collider.h"

enum { STEPS = 9 };

/* Point number i of a grid through the unit cube [-1, 1]^3 on the shape, scaled by k. */
static bool shape_point(const abut_shape *s, int i, double k, vec3 *out) {
    vec3 u = {i % STEPS, i / STEPS % STEPS, i / STEPS / STEPS};
    u = vec3_scale(vec3_sub(u, vec3_make(4, 4, 4)), 0.25);
    if (s->kind == ABUT_SHAPE_ELLIPSOID) {
        if (vec3_length2(u) > 1) return false;
        *out = vec3_scale(vec3_make(u.x * s->axes.x, u.y * s->axes.y, u.z * s->axes.z), k);
        return true;
    }
    if (u.x * u.x + u.y * u.y > 1) return false;
    *out = vec3_scale(vec3_make(u.x * s->radius, u.y * s->radius, u.z * s->length / 2), k);
    return true;
}

/* How many of the points are inside. */
static int shared(const boundary *b, pose pa, const abut_shape *s, pose pb, double k) {
    int count = 0;
    for (int i = 0; i < STEPS * STEPS * STEPS; i++) {
        vec3 x;
        if (shape_point(s, i, k, &x) && boundary_contains(b, pose_unpoint(pa, pose_point(pb, x)))) count++;
    }
    return count;
}

/* The deepest of all points; *push: what each manifold asks for, added up, for B (normals lead from B to A).
 */
static double deepest(const manifold *m, int count, vec3 *push) {
    double least = INFINITY;
    *push = vec3_zero();
    for (int i = 0; i < count; i++) {
        double own = 0;
        for (int k = 0; k < m[i].count; k++)
            own = fmin(own, m[i].points[k].gap), least = fmin(least, m[i].points[k].gap);
        *push = vec3_axpy(*push, own, m[i].normal);
    }
    return least;
}

static void try_pair(abut_solid *solid, abut_shape curved, uint64_t seed) {
    boundary b = {0};
    assert_int_equal(boundary_create(NULL, solid, &b, NULL), ABUT_OK);
    collider *ca = make(abut_shape_solid(solid)), *cb = make(curved);
    manifold_config config = {.reach = 0.02, .angle = 0.2};
    int met = 0, apart = 0;
    for (int round = 0; round < 400; round++) {
        pose pa = support_pose(&seed, 1), pb = support_pose(&seed, 0.35);
        pb.position = vec3_add(pb.position, pa.position);
        manifold m[COLLIDER_ROOM];
        vec3 push;
        int count = collider_collide(ca, pa, cb, pb, &config, NULL, 0, m, COLLIDER_ROOM);
        double least = deepest(m, count, &push);
        if (!shared(&b, pa, &curved, pb, 1.3)) {
            apart++;
            if (least < -0.01) fail_msg("round %d: pushed by %g out of nothing", round, least);
            continue;
        }
        int inside = shared(&b, pa, &curved, pb, 1);
        if (!inside) continue;
        met++;
        if (!(least < 0)) fail_msg("round %d: an overlap of %d points pushes nothing", round, inside);
        if (inside > 40) continue; /* a tenth of the shape: deeper ones may be caught between two sides */
        for (int k = 0; k < 200 && least < 0; k++) {
            pb.position = vec3_axpy(pb.position, 0.5, push);
            count = collider_collide(ca, pa, cb, pb, &config, NULL, 0, m, COLLIDER_ROOM);
            least = deepest(m, count, &push);
        }
        inside = shared(&b, pa, &curved, pb, 0.98);
        if (inside) fail_msg("round %d: %d points still inside, gap %g", round, inside, least);
    }
    assert_true(met > 50 && apart > 50);
    collider_free(NULL, ca), collider_free(NULL, cb), boundary_free(NULL, &b);
}

static void test_overlaps_are_pushed_out(void **state) {
    (void)state;
    abut_solid *l = NULL, *ring = NULL;
    const double outline[6][2] = {{-0.2, -0.1}, {0.2, -0.1}, {0.2, 0}, {0, 0}, {0, 0.2}, {-0.2, 0.2}};
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 0.2, &l, NULL), ABUT_OK);
    assert_int_equal(abut_solid_torus(NULL, 0.2, 0.07, 10, 6, &ring, NULL), ABUT_OK);
    try_pair(l, abut_shape_ellipsoid(0.2, 0.15, 0.1), 5);
    try_pair(l, abut_shape_cylinder(0.12, 0.25), 6);
    try_pair(ring, abut_shape_ellipsoid(0.2, 0.15, 0.1), 7);
    try_pair(ring, abut_shape_cylinder(0.12, 0.25), 8);
    abut_solid_free(NULL, l), abut_solid_free(NULL, ring);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_overlaps_are_pushed_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
