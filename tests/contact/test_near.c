/* Near pairs: what is collected for a window must hold every pair that can come to face within it.  Bodies
 * are moved and turned at random within the reach and the turn of a collection; every pair that faces then is
 * looked for among those that were collected before.  Also where edges pass through being parallel. */
#include "contact/near.h"
#include "contact/touch.h"
#include "support.h"

static contact_shape make_shape(abut_solid *solid) {
    abut_shape shape = abut_shape_solid(solid);
    contact_shape s = {0};
    abut_context context = {0};
    assert_int_equal(contact_shape_create(&context, &shape, vec3_zero(), &s, NULL), ABUT_OK);
    return s;
}

static bool same(const near_pair *p, const near_pair *q) {
    return p->fa.kind == q->fa.kind && p->fa.id == q->fa.id && p->fb.kind == q->fb.kind &&
           p->fb.id == q->fb.id && p->sign == q->sign;
}

/* About a random axis by the angle; half-angle functions by the rational parametrisation. */
static quat turned(uint64_t *seed, double angle) {
    vec3 axis = support_direction(seed);
    return quat_unit((quat){1, angle / 2 * axis.x, angle / 2 * axis.y, angle / 2 * axis.z});
}

static int try_shapes(abut_solid *first, abut_solid *second, uint64_t seed) {
    contact_shape a = make_shape(first), b = make_shape(second);
    abut_context context = {0};
    int facing = 0;
    for (int k = 0; k < 8000; k++) {
        near_array before = {0}, after = {0};
        double turn = k % 3 ? 0.02 : 0.4, reach = 0.15;
        motion ma = {.rotation = {1, 0, 0, 0}}, mb = ma;
        pose p = support_pose(&seed, 0.7);
        mb.center = p.position, mb.rotation = p.rotation;
        if (k % 2) mb.rotation = turned(&seed, 0.5 * turn); /* edges nearly parallel */
        assert_true(near_collect(&context, &a, &ma, &b, &mb, reach, turn, &before));
        mb.rotation = quat_unit(quat_mul(turned(&seed, 0.9 * turn), mb.rotation));
        mb.center = vec3_axpy(mb.center, 0.2 * reach, support_direction(&seed));
        assert_true(near_collect(&context, &a, &ma, &b, &mb, 0.01, INFINITY, &after));
        for (int64_t i = 0; i < after.count; i++) {
            contact_point point;
            bool faces, found = false;
            if (!near_evaluate(&after.data[i], &a, &ma, &b, &mb, 1e-9, &point, &faces) || !faces) continue;
            if (fabs(point.gap) > 0.01) continue;
            for (int64_t j = 0; j < before.count && !found; j++)
                found = same(&after.data[i], &before.data[j]);
            facing++;
            if (!found)
                fail_msg("pose %d: %d %d and %d %d face each other, and were not collected", k,
                         after.data[i].fa.kind, after.data[i].fa.id, after.data[i].fb.kind,
                         after.data[i].fb.id);
        }
        array_free(&context, &before), array_free(&context, &after);
    }
    contact_shape_free(&context, &a), contact_shape_free(&context, &b);
    return facing;
}

static void test_what_comes_to_face_was_collected(void **state) {
    (void)state;
    abut_solid *block = NULL, *tetrahedron = NULL, *ring = NULL;
    assert_int_equal(abut_solid_box(NULL, 0.6, 0.5, 0.4, &block, NULL), ABUT_OK);
    assert_int_equal(abut_solid_tetrahedron(NULL, 0.7, &tetrahedron, NULL), ABUT_OK);
    assert_int_equal(abut_solid_torus(NULL, 0.4, 0.15, 7, 5, &ring, NULL), ABUT_OK);
    int facing = try_shapes(block, block, 3) + try_shapes(block, tetrahedron, 4) + try_shapes(ring, block, 5);
    if (facing < 500) fail_msg("%d places only", facing);
    abut_solid_free(NULL, block), abut_solid_free(NULL, tetrahedron), abut_solid_free(NULL, ring);
}

/* A motion of b on a screw whose axis stands still: its velocity stays the same seen from a, and so do those
 * that near_collect_window() takes its reach from. */
static motion screwed(motion m, double t) {
    vec3 w = m.velocity.angular;
    motion out = m;
    for (int k = 0; k < 64; k++) { /* the midpoint rule: to 1e-7 for a tenth of a radian */
        quat rate = quat_rate(out.rotation, w);
        double h = t / 64;
        vec3 half = vec3_axpy(out.center, h / 2, out.velocity.linear);
        vec3 v = vec3_add(m.velocity.linear, vec3_cross(w, vec3_sub(half, m.center)));
        out.center = vec3_axpy(out.center, h, v);
        out.velocity.linear = vec3_add(m.velocity.linear, vec3_cross(w, vec3_sub(out.center, m.center)));
        out.rotation = quat_unit((quat){out.rotation.w + h * rate.w, out.rotation.x + h * rate.x,
                                        out.rotation.y + h * rate.y, out.rotation.z + h * rate.z});
    }
    return out;
}

/* Every pair that faces at the end of the window, closer than the base of its reach, was collected for it;
 * and what near_is_apart() says of pairs of edges is the distance of their segments. */
static int try_window(abut_solid *first, abut_solid *second, uint64_t seed) {
    contact_shape a = make_shape(first), b = make_shape(second);
    abut_context context = {0};
    int facing = 0;
    for (int k = 0; k < 3000; k++) {
        near_array before = {0}, after = {0};
        motion ma = {.rotation = {1, 0, 0, 0}}, mb = ma;
        pose p = support_pose(&seed, 0.7);
        mb.center = p.position, mb.rotation = p.rotation;
        mb.velocity = (twist){support_vec(&seed, 0.5), support_vec(&seed, 1)};
        double h = 0.1, w = vec3_length(mb.velocity.angular), more = (1 + w * h) * (1 + w * h);
        near_window window = {.reach = 1, .turn = 1.2 * w * h, .base = 0.01};
        window.time = more * h * (1 + 0.5 * h * w);
        assert_true(near_collect_window(&context, &a, &ma, &b, &mb, &window, &before));
        mb = screwed(mb, h);
        assert_true(near_collect(&context, &a, &ma, &b, &mb, 0.01, INFINITY, &after));
        for (int64_t i = 0; i < after.count; i++) {
            const near_pair *q = &after.data[i];
            contact_point point;
            near_apart apart;
            bool faces, found = false;
            if (near_is_apart(q, &ma, &mb, true, &apart) && q->fa.kind == FEATURE_EDGE) {
                vec3 e = quat_rotate(mb.rotation, vec3_axpy(q->b.p, q->b.lo, q->b.d)),
                     f = quat_rotate(mb.rotation, vec3_axpy(q->b.p, q->b.hi, q->b.d));
                double distance = touch_segments_distance(apart.ends[0], apart.ends[1],
                                                          vec3_add(mb.center, e), vec3_add(mb.center, f));
                /* a slab is never wider than the distance; it is as wide where the closest places, and by
                 * them its normal, are known to more than six digits */
                double sine = vec3_length(vec3_cross(q->a.d, quat_rotate(mb.rotation, q->b.d)));
                if (apart.distance > distance + 1e-12 ||
                    (sine > 1e-2 && distance > 1e-3 && apart.distance < distance - 1e-9))
                    fail_msg("pose %d: %g apart, and the segments %g", k, apart.distance, distance);
            }
            if (!near_evaluate(q, &a, &ma, &b, &mb, 1e-9, &point, &faces) || !faces) continue;
            if (fabs(point.gap) > 0.009) continue;
            for (int64_t j = 0; j < before.count && !found; j++) found = same(q, &before.data[j]);
            facing++;
            if (!found)
                fail_msg("pose %d: %d %d and %d %d were not collected", k, q->fa.kind, q->fa.id, q->fb.kind,
                         q->fb.id);
        }
        array_free(&context, &before), array_free(&context, &after);
    }
    contact_shape_free(&context, &a), contact_shape_free(&context, &b);
    return facing;
}

static void test_windows_hold_what_comes_close(void **state) {
    (void)state;
    abut_solid *block = NULL, *ring = NULL;
    assert_int_equal(abut_solid_box(NULL, 0.6, 0.5, 0.4, &block, NULL), ABUT_OK);
    assert_int_equal(abut_solid_torus(NULL, 0.4, 0.15, 7, 5, &ring, NULL), ABUT_OK);
    int facing = try_window(block, block, 13) + try_window(ring, block, 15);
    if (facing < 100) fail_msg("%d places only", facing);
    abut_solid_free(NULL, block), abut_solid_free(NULL, ring);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_comes_to_face_was_collected),
                                       cmocka_unit_test(test_windows_hold_what_comes_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
