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

/* A sled that cannot turn (its inertia is 1e12 kg m^2) stands with one foot on a floor and with the other on
 * a slope that falls from there by the angle d; a force F pushes it back against the slope, and it is moved
 * away from it with the speed u:
 *
 *        ____________
 *       |_|        \|        it comes back after 2 u m / F, without having lost anything;
 *     ----------\.__          the slope takes u sin d along its normal n, and the other foot leaves the floor
 *                   ``--.__   with it:  v = -u cos d  along the slope, up to the kink;
 *
 *     on the slope it is accelerated by g sin d - F cos d / m, and is back after 2 u cos d / that.
 *
 * u sin d alone would be a flight of a hundredth of epsilon, if the load of the foot were to push it back
 * alone; held, both feet together stop the sled.  The wheel beside it is one group with it, and has so much
 * energy that what the sled loses is a slight part of it. */
static void test_what_flies_high_is_not_held(void **state) {
    (void)state;
    const double u = 0.02, fall = 0.01, force = 0.01, g = 10, d = atan(fall), back = 2 * u / force,
                 along = g * sin(d) - force * cos(d), again = 2 * u * cos(d) / along;
    trial t;
    char text[2048];
    snprintf(
        text, sizeof text,
        "world { gravity = {0, 0, -10}, frame = 1/20 }\nmaterial { restitution = 0 }\n"
        "body { fixed = true, rotation = {math.pi / 2, 1, 0, 0}, shape = solid.prism "
        "{{{-1, -0.5}, {1, -0.5}, {1, -%.17g}, {0, 0}, {-1, 0}}, 1} }\n"
        "body { name = 'sled', mass = 1, inertia = {1e12, 1e12, 1e12}, rotation = {math.pi / 2, 1, 0, 0}, "
        "velocity = {%.17g, 0, 0}, shape = solid.prism {{{-0.2, 0}, {-0.15, 0}, {-0.15, 0.05}, "
        "{0.15, 0.05}, {0.15, -0.15 * %.17g}, {0.2, 0.05}, {0.2, 0.1}, {-0.2, 0.1}}, 0.3} }\n"
        "force { 'sled', value = {-%.17g, 0, 0} }\n"
        "body { name = 'wheel', shape = cylinder {0.2, 0.1}, mass = 10, position = {0, 0.4, 0.06}, "
        "spin = {0, 0, 50} }\nhinge.pin { 'wheel', at = {0, 0.4, 0.06}, axis = {0, 0, 1} }",
        fall, u, fall, force);
    start(&t, text);
    advance(&t, back + 0.2);
    abut_motion m = abut_sim_motion(t.sim, 1);
    /* the weight turns it by 1.4e-11 rad, which lowers the foot by what it falls in 2.4e-8 s */
    close_to(nth(&t, ABUT_EVENT_IMPACT, 0)->time, back, 1e-6);
    close_to(m.velocity.x, (-u * cos(d) + 0.2 * along) * cos(d), 1e-6 * u);
    advance(&t, 5);
    close_to(nth(&t, ABUT_EVENT_IMPACT, 1)->time, back + again, 1e-5);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rocking_ends),
        cmocka_unit_test(test_landing_on_a_corner),
        cmocka_unit_test(test_what_flies_high_is_not_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
