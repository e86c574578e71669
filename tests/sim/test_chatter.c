/* Rocking without end, without friction and without restitution.  A box of the width 2b and the height 2h
 * stands on one edge, the other one leaves with the speed r.  With k^2 = (b^2 + h^2) / 3 and B = b^2 / k^2 <
 * 1, for small angles:
 *
 *     the other edge falls by      a = 2 B g / (1 + B)       and is back, with the speed r, after 2 r / a,
 *     its blow lifts the first by  q r,  q = (1 - B) / (1 + B),
 *
 * and so on: the flights form a geometric series that ends after (2 r / a) / (1 - q).  Flights that are too
 * low to be told from contact are none. */
#include "trial.h"

static int impacts_of(const trial *t) {
    int count = 0;
    for (int i = 0; i < t->event_count; i++) count += t->events[i].kind == ABUT_EVENT_IMPACT;
    return count;
}

/* How many flights are higher than a height. */
static int flights_above(double height, double r, double a, double q) {
    int count = 0;
    for (; r * r / (2 * a) > height; count++) r *= q;
    return count;
}

static void rocks_and_stands(double r, const char *tolerance) {
    const double b = 0.1, h = 0.5, g = 10, B = 3 * b * b / (b * b + h * h), a = 2 * B * g / (1 + B),
                 q = (1 - B) / (1 + B), end = 2 * r / a / (1 - q);
    trial t;
    char text[512];
    snprintf(text, sizeof text,
             "world { gravity = {0, 0, -10}, frame = 1/100%s }\nmaterial { restitution = 0 }\n" FLOOR
             "body { shape = solid.box {0.2, 0.2, 1}, position = {0, 0, 0.5}, velocity = {0, 0, %.17g}, "
             "spin = {0, %.17g, 0} }",
             tolerance, r / 2, r / (2 * b));
    start(&t, text);
    advance(&t, 0.01 * ceil(100 * end) + 0.01);
    double epsilon = abut_model_tolerances(t.model).touching, time = 0, flight = 2 * r / a;
    int count = impacts_of(&t), told = flights_above(epsilon, r, a, q);
    /* all flights that can be seen, and few of those that cannot */
    assert_true(count >= told && count <= flights_above(1e-2 * epsilon, r, a, q) + 1);
    /* the lever of the weight is shorter by h times the angle, at most r^2 / 2a / 2b */
    double bent = 4 * h * (r * r / (2 * a) / (2 * b)) / b;
    for (int i = 0; i < told; i++) {
        time += flight, flight *= q;
        close_to(nth(&t, ABUT_EVENT_IMPACT, i)->time, time, 1e-9 + bent * time);
    }
    abut_motion m = abut_sim_motion(t.sim, 1);
    close_to(m.velocity.z, 0, 1e-12);
    close_to(m.spin.y, 0, 1e-12);
    close_to(m.center.z, 0.5, epsilon);
    abut_audit audit = abut_sim_audit(t.sim);
    assert_int_equal(audit.storms, 0);
    finish(&t);
}

static void test_rocking_ends(void **state) {
    (void)state;
    rocks_and_stands(2e-3, "");
    rocks_and_stands(5e-4, "");
    rocks_and_stands(2e-3, ", tolerance = { touching = 1e-9 }");
}

/* A box that lies on a face whose corners land one after the other: whatever its shape, it lies still
 * afterwards, and has lost the energy of its fall and no more. */
static void test_landing_on_a_corner(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        trial t;
        char text[512];
        double tilt = 1e-6 * (1 + i);
        snprintf(text, sizeof text,
                 "world { gravity = {0, 0, -10}, frame = 1/100 }\nmaterial { restitution = 0 }\n" FLOOR
                 "body { shape = solid.box {0.2, 0.3, %.17g}, position = {0, 0, %.17g}, "
                 "quaternion = {1, %.17g, %.17g, 0} }",
                 0.1 + 0.1 * i, 0.0501 + 0.05 * i, tilt, 0.37 * tilt);
        start(&t, text);
        advance(&t, 0.3);
        abut_motion m = abut_sim_motion(t.sim, 1);
        double height = 0.05 + 0.05 * i;
        close_to(m.center.z, height, abut_model_tolerances(t.model).touching);
        close_to(m.spin.x, 0, 1e-9);
        close_to(m.spin.y, 0, 1e-9);
        assert_true(t.event_count < 100);
        finish(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rocking_ends),
        cmocka_unit_test(test_landing_on_a_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
