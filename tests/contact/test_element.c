/* Contact points of element pairs, against finite differences of the motion and against direct closest-point
 * searches. */
#include "base/base.h"
#include "contact/element.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t seed = 7;

static vec3 random_vector(double size) {
    return vec3_make(random_range(&seed, -size, size), random_range(&seed, -size, size),
                     random_range(&seed, -size, size));
}

static motion random_motion(vec3 center) {
    quat q = {random_range(&seed, -1, 1), random_range(&seed, -1, 1), random_range(&seed, -1, 1), 0.1};
    return (motion){center, quat_unit(q), {random_vector(1), random_vector(1)}};
}

/* The motion after a time h with constant velocities, exact to second order: enough for central differences.
 */
static motion advance(motion m, double h) {
    quat r = quat_rate(m.rotation, m.velocity.angular);
    vec3 w = m.velocity.angular;
    double half = -vec3_dot(w, w) / 8; /* q'' = -|w|^2/4 q */
    quat q = m.rotation;
    motion n = m;
    n.center = vec3_axpy(m.center, h, m.velocity.linear);
    n.rotation = quat_unit((quat){q.w * (1 + half * h * h) + h * r.w, q.x * (1 + half * h * h) + h * r.x,
                                  q.y * (1 + half * h * h) + h * r.y, q.z * (1 + half * h * h) + h * r.z});
    return n;
}

static element random_element(element_kind kind) {
    element e = {.kind = kind, .p = random_vector(0.2), .d = vec3_unit(random_vector(1)), .lo = -1, .hi = 1};
    if (kind == ELEMENT_POINT || kind == ELEMENT_LINE) e.r = random_range(&seed, 0.01, 0.2);
    if (kind == ELEMENT_CIRCLE) e.r = 0.4;
    if (kind == ELEMENT_CAVITY) e.r = 5;
    if (kind == ELEMENT_ELLIPSOID) e.axes = vec3_make(0.3, 0.5, 0.2);
    return e;
}

static void assert_near(vec3 a, vec3 b, double tolerance) {
    if (!(vec3_distance(a, b) <= tolerance))
        fail_msg("(%.12g %.12g %.12g) is not (%.12g %.12g %.12g)", a.x, a.y, a.z, b.x, b.y, b.z);
}

/* (f(h) - f(-h)) / 2h has an error of h^2 f'''/6 + u/h.  Where a vector turns at the rate k, f''' is about
 * k^3: it is large near the degenerate poses. */
static void check_rates(const element *a, motion ma, const element *b, motion mb) {
    const double h = 1e-5;
    contact_point now, before, after;
    motion a0 = advance(ma, -h), a1 = advance(ma, h), b0 = advance(mb, -h), b1 = advance(mb, h);
    if (!element_contact(a, &ma, b, &mb, 1, &now, NULL, NULL)) fail();
    if (!element_contact(a, &a0, b, &b0, 1, &before, NULL, NULL)) fail();
    if (!element_contact(a, &a1, b, &b1, 1, &after, NULL, NULL)) fail();
    double k = 3 + vec3_length(now.at_rate) + vec3_length(now.normal_rate),
           tolerance = 1e-9 + h * h * k * k * k;
    assert_near(now.at_rate, vec3_scale(vec3_sub(after.at, before.at), 0.5 / h), tolerance);
    assert_near(now.normal_rate, vec3_scale(vec3_sub(after.normal, before.normal), 0.5 / h), tolerance);
    double rate = (after.gap - before.gap) / (2 * h);
    double first = vec3_dot(now.normal, contact_slip(&now, &ma, &mb));
    /* gap' = n . u holds with u taken at the two closest material points; at one common place it differs by
     * gap * |w| */
    double slack = tolerance + fabs(now.gap) * 4;
    if (!(fabs(rate - first) <= slack)) fail_msg("gap' %g is not n.u %g (gap %g)", rate, first, now.gap);
    assert_near(vec3_scale(now.normal, vec3_length(now.normal)), now.normal, 1e-12);
}

static void every_pair_has_the_rates_of_finite_differences(void **state) {
    (void)state;
    int pairs = 0;
    for (int ka = ELEMENT_POINT; ka <= ELEMENT_CAVITY; ka++)
        for (int kb = ELEMENT_POINT; kb <= ELEMENT_CAVITY; kb++) {
            if (!element_pair_is_known((element_kind)ka, (element_kind)kb)) continue;
            pairs++;
            for (int i = 0; i < 200; i++) {
                bool cavity = ka == ELEMENT_CAVITY || kb == ELEMENT_CAVITY;
                element a = random_element((element_kind)ka), b = random_element((element_kind)kb);
                motion ma = random_motion(vec3_make(0, 0, cavity ? 1.0 : 3.0)),
                       mb = random_motion(vec3_zero());
                contact_point p;
                /* keep away from the degenerate poses, where third derivatives blow up */
                if (ka == ELEMENT_LINE && kb == ELEMENT_LINE) {
                    vec3 da = quat_rotate(ma.rotation, a.d), db = quat_rotate(mb.rotation, b.d);
                    if (vec3_length(vec3_cross(da, db)) < 0.5) continue;
                }
                if (ka == ELEMENT_CIRCLE || kb == ELEMENT_CIRCLE) {
                    vec3 da = quat_rotate(ma.rotation, a.d), db = quat_rotate(mb.rotation, b.d);
                    if (vec3_length(vec3_cross(da, db)) < 0.5) continue;
                }
                if (!element_contact(&a, &ma, &b, &mb, 1, &p, NULL, NULL)) continue;
                if (cavity && p.gap < 1) continue;
                check_rates(&a, ma, &b, mb);
            }
        }
    assert_int_equal(pairs, 4 + 6 + 2);
}

/* Swapping the bodies turns the normal and nothing else. */
static void the_order_of_the_bodies_turns_the_normal(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++) {
        element a = random_element(i % 2 ? ELEMENT_POINT : ELEMENT_ELLIPSOID),
                b = random_element(ELEMENT_PLANE);
        motion ma = random_motion(random_vector(2)), mb = random_motion(random_vector(2));
        contact_point p, q;
        assert_true(element_contact(&a, &ma, &b, &mb, 1, &p, NULL, NULL));
        assert_true(element_contact(&b, &mb, &a, &ma, 1, &q, NULL, NULL));
        assert_near(p.normal, vec3_neg(q.normal), 0);
        assert_near(p.at, q.at, 0);
        assert_true(p.gap == q.gap);
    }
}

/* A tip found in closed form is the extreme point: no sample of the shape is deeper. */
static void the_tip_of_an_ellipsoid_is_its_deepest_point(void **state) {
    (void)state;
    element e = random_element(ELEMENT_ELLIPSOID), f = {.kind = ELEMENT_PLANE, .d = {0, 0, 1}};
    motion ground = {.rotation = {1, 0, 0, 0}};
    for (int i = 0; i < 50; i++) {
        motion m = random_motion(vec3_make(0, 0, 1));
        contact_point p;
        assert_true(element_contact(&e, &m, &f, &ground, 1, &p, NULL, NULL));
        double deepest = INFINITY;
        for (int k = 0; k < 4000; k++) {
            vec3 s = vec3_unit(random_vector(1));
            vec3 local = vec3_add(e.p, vec3_make(e.axes.x * s.x, e.axes.y * s.y, e.axes.z * s.z));
            deepest = fmin(deepest, vec3_add(m.center, quat_rotate(m.rotation, local)).z);
        }
        assert_true(p.gap <= deepest + 1e-12 && p.gap > deepest - 0.02);
    }
}

static void degenerate_pairs_are_refused(void **state) {
    (void)state;
    motion m = {.rotation = {1, 0, 0, 0}};
    contact_point p;
    element l = {.kind = ELEMENT_LINE, .d = {1, 0, 0}, .r = 0.1},
            c = {.kind = ELEMENT_CIRCLE, .d = {0, 0, 1}, .r = 1};
    element f = {.kind = ELEMENT_PLANE, .d = {0, 0, 1}}, o = {.kind = ELEMENT_POINT, .r = 1};
    assert_false(element_contact(&l, &m, &l, &m, 1, &p, NULL, NULL));
    assert_false(element_contact(&c, &m, &f, &m, 1, &p, NULL, NULL));
    assert_false(element_contact(&o, &m, &o, &m, 1, &p, NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_the_rates_of_finite_differences),
        cmocka_unit_test(the_order_of_the_bodies_turns_the_normal),
        cmocka_unit_test(the_tip_of_an_ellipsoid_is_its_deepest_point),
        cmocka_unit_test(degenerate_pairs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
