/* Events of the live clock against closed forms: when and with what energy a ball bounces, and how a box that
 * falls over touches. */
#include "live_trial.h"
#include "solid/solid.h"

#include <math.h>

/* A ball falls by d = 1 m: it meets the floor at sqrt(2 d / g) with m g d, and leaves with e^2 of that; the
 * impulse is (1 + e) m sqrt(2 g d). */
static void test_bounce(void **state) {
    (void)state;
    const double e = 0.5, d = 1, m = 2, speed = sqrt(2 * 9.81 * d);
    trial t;
    begin(&t);
    t.world.material.restitution = e;
    add_floor(&t);
    add(&t, abut_shape_sphere(0.5), 0, 0, 0.5 + d)->mass = m;
    start(&t);
    steps(&t, 40);
    assert_true(t.events[ABUT_EVENT_IMPACT] > 0);
    const abut_event *impact = &t.first[ABUT_EVENT_IMPACT];
    /* the step in which it meets the floor is not a parabola: its speed is off by g h / 2 = 0.02 m/s at most
     */
    close_to(impact->time, speed / 9.81, 9.81 / 480 / speed);
    close_to(impact->energy_before, m * 9.81 * d, 9.81 / 240 / speed);
    close_to(impact->energy_after / impact->energy_before, e * e, 1e-9);
    close_to(fabs(impact->impulse.z), (1 + e) * m * speed, 9.81 / 240 / speed);
    finish(&t);
}

/* A box that stands on an edge, tilted by 0.3, falls on its face: a line becomes an area.  At rest nothing
 * changes. */
static void test_box_falls_flat(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.world.material.friction.stick = t.world.material.friction.slide = 1;
    add_floor(&t);
    double low = sqrt(0.5) * sin(0.78539816339744831 + 0.3);
    add(&t, abut_shape_solid(t.box), 0, 0, low)->rotation = (quat){cos(0.15), 0, sin(0.15), 0};
    start(&t);
    steps(&t, 90);
    assert_int_equal(t.events[ABUT_EVENT_CONTACT_MADE], 1);
    assert_true(t.events[ABUT_EVENT_CONTACT_CHANGED] >= 1);
    int64_t before = t.events[ABUT_EVENT_CONTACT_CHANGED];
    steps(&t, 60);
    assert_int_equal(t.events[ABUT_EVENT_CONTACT_CHANGED], before);
    finish(&t);
}

/* Bodies that meet without restitution and go on together push in one sub-step only: they have met, with the
 * impulse v / (1/ma + 1/mb).  One is solved directly (masses 10 : 1), of the balls on a floor most in
 * batches, in floats; each stops with m v.  A blow begins where the sub-step before ends and takes the next
 * one too: they meet the floor in the middle of the second or the third of a step. */
static void test_blows_without_restitution_are_told(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.world.gravity = vec3_zero();
    add(&t, abut_shape_solid(t.box), 0, 0, 0)->mass = 10;
    t.bodies[0].velocity = vec3_make(6, 0, 0);
    add(&t, abut_shape_sphere(0.5), 2, 0, 0)->mass = 1;
    start(&t);
    steps(&t, 30);
    assert_int_equal(t.events[ABUT_EVENT_CONTACT_MADE], 1);
    close_to(t.impulses[ABUT_EVENT_CONTACT_MADE], 60.0 / 11, 1e-5);
    assert_int_equal(t.events[ABUT_EVENT_CONTACT_LOST], 1);
    close_to(t.impulses[ABUT_EVENT_CONTACT_LOST], 0, 0);
    finish(&t);

    enum { BALLS = 120 };
    begin(&t);
    t.world.gravity = vec3_zero();
    add_floor(&t);
    for (int i = 0; i < BALLS; i++) {
        double time = (1 + i / 2) / 60.0 + (i % 2 + 1.5) / 240;
        abut_body_def *b = add(&t, abut_shape_sphere(0.4), i % 12, i / 12, 0.4 + 3 * time);
        b->mass = 2, b->velocity = vec3_make(0, 0, -3);
    }
    start(&t);
    steps(&t, 70);
    assert_int_equal(t.events[ABUT_EVENT_CONTACT_MADE], BALLS);
    close_to(t.impulses[ABUT_EVENT_CONTACT_MADE], BALLS * 6.0, BALLS * 6e-5);
    finish(&t);
}

/* Features are those of the solid, as the exact clock counts them: the vertex of an event lies where the
 * event says, the face of an area faces the other body; round shapes have no vertices. */
static void test_features_are_those_of_the_shapes(void **state) {
    (void)state;
    trial t;
    begin(&t);
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5);
    add(&t, abut_shape_sphere(0.5), 0, 0, 1.5);
    start(&t);
    steps(&t, 10);
    const abut_event *made = &t.first[ABUT_EVENT_CONTACT_MADE];
    assert_int_equal(made->body[1], 1);
    assert_int_equal(made->entity[0].kind, ABUT_ENTITY_FACE);
    assert_int_equal(made->entity[1].kind, ABUT_ENTITY_VERTEX);
    vec3 corner = vec3_add(solid_position(t.box, made->entity[1].id), t.box->origin);
    close_to(vec3_distance(vec3_add(corner, vec3_make(0, 0, 0.5)), made->point), 0, 1e-3);
    const abut_contact *c;
    assert_int_equal(abut_sim_contacts(t.run, &c), 2);
    const double sides[] = {-1, 1};
    for (int k = 0; k < 2; k++) {
        abut_entity of_box = c[k].entity[c[k].body[1] == 1], other = c[k].entity[c[k].body[1] != 1];
        assert_int_equal(of_box.kind, ABUT_ENTITY_FACE);
        close_to(solid_faces(t.box)[of_box.id].plane.n.z, sides[k], 0);
        assert_int_equal(other.kind, k ? ABUT_ENTITY_SMOOTH : ABUT_ENTITY_FACE);
    }
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounce), cmocka_unit_test(test_box_falls_flat),
                                       cmocka_unit_test(test_blows_without_restitution_are_told),
                                       cmocka_unit_test(test_features_are_those_of_the_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
