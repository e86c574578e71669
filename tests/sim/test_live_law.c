/* The law of a contact point in the kernels of the live clock: rigid up to its usual load q, a spring beyond.
 *
 * A body of mass m over an immovable one, one point under its centre: the mass of the point is m.  With scale
 * s, rate r, soften g a change of its impulse p at speed u and overlap d is
 *
 *     p <= q:   -m s (u - r d)                what a rigid point is pushed out with, whatever q is
 *     p >  q:   -m s (u - r d) - g (p - q)
 *
 * and a visit makes two of them (forth and back over the points of a manifold).  So at rest without overlap
 * any load up to q stays what it is. */
#include "sim/live.h"
#include "support.h"

#define MASS 2.0

static live_batch make_point(double gap, double impulse, double usual) {
    live_batch b;
    memset(&b, 0, sizeof b);
    for (int k = 0; k < LANES; k++) b.contact[k] = -1, b.n.z[k] = b.t1.x[k] = 1;
    b.a[0] = 1, b.contact[0] = 0; /* the empty lanes: the immovable one */
    b.points = 1, b.moves_a = 1;
    b.inverse[0] = (float)(1 / MASS);
    b.gap[0][0] = (float)gap, b.point[0].impulse[0] = (float)impulse;
    b.point[0].steady[0] = (float)usual;
    for (int k = 1; k < LANES; k++) b.gap[0][k] = 1e30F;
    return b;
}

/* The change of the impulse by a visit of a body at rest; its velocity must be that of the change. */
static double visit(bool scalar, double gap, double impulse, double usual, live_softness soft) {
    live_kernels kernels = live_choose_kernels(scalar);
    _Alignas(64) live_velocity velocities[2], moved[2];
    memset(velocities, 0, sizeof velocities), memset(moved, 0, sizeof moved);
    velocities[1].v[3] = 1 / MASS;
    _Alignas(64) live_batch b = make_point(gap, impulse, usual);
    kernels.prepare(&b);
    kernels.solve(&b, 1, velocities, moved, (live_visit){240, 4, 0, soft, false, false});
    double change = (double)b.point[0].impulse[0] - (double)(float)impulse;
    assert_near(velocities[1].v[2], change / MASS, 1e-9);
    return change;
}

/* Two changes, the second one at the speed that the first one gave. */
static double expect(double overlap, double p, double q, live_softness soft) {
    double u = 0, start = p;
    for (int k = 0; k < 2; k++) {
        double change = -MASS * soft.scale * (u - soft.rate * overlap);
        if (p > q) change -= soft.soften * (p - q);
        change = fmax(change, -p);
        p += change, u += change / MASS;
    }
    return p - start;
}

static void test_law_of_point(void **state) {
    (void)state;
    const live_softness soft = {.rate = 10, .scale = 0.95, .soften = 0.05};
    for (int scalar = 0; scalar < 2; scalar++)
        for (double q = 0; q <= 4; q += 0.5)
            for (double p = 0; p <= 4; p += 0.25) {
                assert_near(visit(scalar, 0, p, q, soft), expect(0, p, q, soft), 1e-6);
                if (p <= q) assert_near(visit(scalar, 0, p, q, soft), 0, 1e-12);
                assert_near(visit(scalar, -1e-3, p, q, soft), expect(1e-3, p, q, soft), 1e-6);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_law_of_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
