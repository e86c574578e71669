/* Bodies whose masses differ by up to 1e12 rest on each other: what holds is exact, whatever the
 * ratio, since the forces of a stack follow from the weights above them.  Gravity is 10. */
#include "trial.h"

/* The force that the contacts of a pair carry on b, from a, summed. */
static abut_vec3 force_between(trial *t, int a, int b) {
    const abut_contact *contacts;
    int count = abut_sim_contacts(t->sim, &contacts);
    abut_vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; i++) {
        const abut_contact *c = &contacts[i];
        double sign = c->body[0] == b && c->body[1] == a ? 1 : c->body[0] == a && c->body[1] == b ? -1 : 0;
        for (int k = 0; k < c->point_count; k++)
            sum.x += sign * c->forces[k].x, sum.y += sign * c->forces[k].y, sum.z += sign * c->forces[k].z;
    }
    return sum;
}

static void stands(const trial *t, int body, double x, double z, double tolerance) {
    abut_motion m = abut_sim_motion(t->sim, body);
    close_to(m.center.x, x, tolerance), close_to(m.center.y, 0, tolerance);
    close_to(m.center.z, z, tolerance);
    close_to(m.spin.x, 0, 1e-12), close_to(m.spin.y, 0, 1e-12), close_to(m.spin.z, 0, 1e-12);
}

static void no_storm(const trial *t) { assert_int_equal(abut_sim_audit(t->sim).storms, 0); }

/* Boxes of 1 m x 1 m x 0.5 m upon each other, from the floor up, a little askew, for 10 s: none moves, and
 * each carries the weight above it. */
static void check_stack(const double *masses, int count) {
    char text[2048], *at = text;
    at += sprintf(at, "world { gravity = {0, 0, -10}, frame = 1/4 }\nmaterial { friction = 0.5 }\n" FLOOR);
    for (int i = 0; i < count; i++)
        at += sprintf(at, "body { shape = solid.box {1, 1, 0.5}, position = {%g, 0, %g}, mass = %.17g }\n",
                      i % 2 ? 0.1 : 0.0, 0.25 + 0.5 * i, masses[i]);
    trial t;
    start(&t, text);
    advance(&t, 10);
    double above = 0;
    for (int i = count - 1; i >= 0; i--) {
        stands(&t, i + 1, i % 2 ? 0.1 : 0, 0.25 + 0.5 * i, 1e-12);
        above += masses[i];
        abut_vec3 f = force_between(&t, i, i + 1);
        close_to(f.z / (10 * above), 1, 1e-9);
        close_to(f.x / (10 * above), 0, 1e-9), close_to(f.y / (10 * above), 0, 1e-9);
    }
    no_storm(&t);
    finish(&t);
}

static void stacks_stand(void **state) {
    (void)state;
    static const double heavy[] = {1e6, 1e8, 1e9, 1e10, 1e12};
    for (int i = 0; i < 5; i++) {
        check_stack((double[]){1, heavy[i]}, 2);
        check_stack((double[]){heavy[i], 1}, 2);
        check_stack((double[]){1, heavy[i], 1}, 3);
        check_stack((double[]){heavy[i], 1, heavy[i]}, 3);
        check_stack((double[]){1 / heavy[i], 1, 1e3}, 3);
    }
    check_stack((double[]){1, 1e3, 1e6, 1e9}, 4);
    check_stack((double[]){1, 1e6, 1, 1e6, 1, 1e6}, 6);
    check_stack((double[]){1e-6, 1, 1e6}, 3);
}

/* On a slope, told by gravity: nothing slips, and friction carries its part of every weight. */
static void a_heavy_box_holds_on_a_slope(void **state) {
    (void)state;
    static const double heavy[] = {1e7, 1e9, 1e12};
    for (int i = 0; i < 3; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "world { gravity = {2, 0, -10}, frame = 1/4 }\nmaterial { friction = 0.5 }\n" FLOOR
                 "body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.25}, mass = 1 }\n"
                 "body { shape = solid.box {0.9, 0.7, 0.3}, position = {0, 0, 0.65}, mass = %.17g }",
                 heavy[i]);
        trial t;
        start(&t, text);
        advance(&t, 10);
        stands(&t, 1, 0, 0.25, 1e-12), stands(&t, 2, 0, 0.65, 1e-12);
        abut_vec3 f = force_between(&t, 1, 2), g = force_between(&t, 0, 1);
        close_to(f.z / (10 * heavy[i]), 1, 1e-9), close_to(f.x / (-2 * heavy[i]), 1, 1e-9);
        close_to(g.z / (10 * (heavy[i] + 1)), 1, 1e-9), close_to(g.x / (-2 * (heavy[i] + 1)), 1, 1e-9);
        no_storm(&t);
        finish(&t);
    }
}

/* A slab on three balls a thousand million times lighter. */
static void light_balls_carry_a_slab(void **state) {
    (void)state;
    trial t;
    start(&t, "world { gravity = {0, 0, -10}, frame = 1/4 }\nmaterial { friction = 0.5 }\n" FLOOR
              "for i = 0, 2 do\n"
              "  local a = 2 * math.pi * i / 3\n"
              "  body { shape = sphere {0.1}, position = {0.4 * math.cos(a), 0.4 * math.sin(a), 0.1}, mass = "
              "1e-3 } end\n"
              "body { shape = solid.box {1, 1, 0.2}, position = {0, 0, 0.3}, mass = 1e6 }");
    advance(&t, 10);
    stands(&t, 4, 0, 0.3, 1e-12);
    for (int i = 1; i <= 3; i++) {
        close_to(force_between(&t, i, 4).z / 1e7, 1.0 / 3, 1e-9);
        close_to(force_between(&t, 0, i).z / (1e7 / 3 + 1e-2), 1, 1e-9);
    }
    no_storm(&t);
    finish(&t);
}

/* A heavy box that falls flat on a light one stops there. */
static void a_heavy_box_falls_on_a_light_one(void **state) {
    (void)state;
    static const double heavy[] = {1e7, 1e9, 1e12};
    for (int i = 0; i < 3; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "world { gravity = {0, 0, -10}, frame = 1/60 }\nmaterial { friction = 0.5 }\n" FLOOR
                 "body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.25}, mass = 1 }\n"
                 "body { shape = solid.box {0.8, 0.7, 0.3}, position = {0.05, 0, 0.70}, mass = %.17g }",
                 heavy[i]);
        trial t;
        start(&t, text);
        advance(&t, 2);
        const abut_event *impact = nth(&t, ABUT_EVENT_IMPACT, 0);
        assert_non_null(impact);
        close_to(impact->time, 0.1, 1e-9);
        stands(&t, 1, 0, 0.25, 1e-9), stands(&t, 2, 0.05, 0.65, 1e-9);
        no_storm(&t);
        finish(&t);
    }
}

/* A ball of mass a strikes one of mass b at 1 m/s, with a slip of 1/2 by its spin: with m = a b / (a + b) the
 * impulses are (1 + e) m along the normal and min(m / 7, mu (1 + e) m) across, whichever is the lighter one.
 */
static void strike_one(double a, double b, double e, double mu, const char *model) {
    char text[700];
    snprintf(text, sizeof text,
             "world { gravity = {0, 0, 0}, impact = '%s' }\nmaterial { restitution = %g, friction = %g }\n"
             "body { shape = sphere {0.1}, mass = %.17g, position = {-0.15, 0, 0}, velocity = {1, 0, 0},\n"
             "       spin = {0, 0, 5} }\n"
             "body { shape = sphere {0.1}, mass = %.17g, position = {0.15, 0, 0} }",
             model, e, mu, a, b);
    trial t;
    start(&t, text);
    advance(&t, 0.3);
    double m = a * b / (a + b), push = (1 + e) * m, rub = fmin(m / 7, mu * push);
    const abut_event *impact = nth(&t, ABUT_EVENT_IMPACT, 0);
    assert_non_null(impact);
    close_to(fabs(impact->impulse.x) / push, 1, 1e-12);
    close_to(fabs(impact->impulse.y), rub, 1e-12 * push);
    abut_motion first = abut_sim_motion(t.sim, 0), second = abut_sim_motion(t.sim, 1);
    close_to(first.velocity.x, 1 - push / a, 1e-12), close_to(first.velocity.y, -rub / a, 1e-12);
    close_to(second.velocity.x * b / push, 1, 1e-12);
    close_to(second.velocity.y * b, rub, 1e-12 * push);
    finish(&t);
}

static void light_and_heavy_balls_strike(void **state) {
    (void)state;
    static const double ratios[] = {1e3, 1e9, 1e12, 1e15};
    for (int i = 0; i < 48; i++) {
        double ratio = ratios[i % 4], e = i / 4 % 3 * 0.5, mu = i / 12 % 2 ? 0.1 : 0;
        const char *model = i / 24 ? "propagation" : "simultaneous";
        strike_one(1, ratio, e, mu, model), strike_one(ratio, 1, e, mu, model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_stand), cmocka_unit_test(a_heavy_box_holds_on_a_slope),
        cmocka_unit_test(light_balls_carry_a_slab), cmocka_unit_test(a_heavy_box_falls_on_a_light_one),
        cmocka_unit_test(light_and_heavy_balls_strike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
