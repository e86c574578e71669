/* What is slow does not sleep while it gets faster or swings; what rests does. */
#include "live_trial.h"

/* x = a t^2 / 2, to the half sub-step by which contacts and hinges are ahead: 1 kg on a slider, and on a
 * floor without friction, pushed by 2 mN.  After the half second that it takes to fall asleep they have 1
 * mm/s. */
static void what_a_small_force_pushes_gets_going(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.sleep = true, t.world.material.friction = (abut_friction){0, 0, 0, 0};
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5)->mass = 1;
    add(&t, abut_shape_solid(t.box), 0, 5, 3)->mass = 1;
    abut_hinge_def *h = &t.hinges[t.hinge_count++];
    *h = abut_default_hinge();
    h->kind = ABUT_HINGE_SLIDER, h->a = 2, h->b = -1, h->axis = vec3_make(1, 0, 0),
    h->at = t.bodies[2].position;
    abut_force_def force[2];
    for (int i = 0; i < 2; i++) force[i] = (abut_force_def){.body = 1 + i, .value = {2e-3, 0, 0}};
    t.world.forces = force, t.world.force_count = 2;
    start(&t);
    steps(&t, 600);
    for (int i = 1; i <= 2; i++) close_to(abut_sim_motion(t.run, i).center.x, 0.1, 1e-4);
    assert_int_equal(t.events[ABUT_EVENT_SLEEP], 0);
    finish(&t);
}

static void hang(trial *t, double aside, double drag) {
    begin(t);
    t->options.sleep = true;
    abut_body_def *bob = add(t, abut_shape_sphere(0.05), aside, 0, -1);
    bob->drag_linear = drag, bob->mass = 1;
    abut_hinge_def *h = &t->hinges[t->hinge_count++];
    *h = abut_default_hinge();
    h->kind = ABUT_HINGE_PIN, h->a = 0, h->b = -1, h->axis = vec3_make(0, 1, 0), h->at = vec3_zero();
    start(t);
}

/* A pendulum of a metre swings by 0.2 mm for a minute: fastest it has 0.6 mm/s. */
static void a_pendulum_that_hardly_swings_goes_on(void **state) {
    (void)state;
    trial t;
    double most = 0;
    hang(&t, 2e-4, 0);
    steps(&t, 3480);
    for (int i = 0; i < 120; i++) {
        steps(&t, 1);
        most = fmax(most, abut_sim_motion(t.run, 0).center.x);
    }
    close_to(most, 2e-4, 2e-6);
    assert_int_equal(t.events[ABUT_EVENT_SLEEP], 0);
    finish(&t);
}

/* Drag of 2 N s/m on 1 kg: the swing goes down as exp(-t), to nothing that counts after some ten seconds. */
static void what_drag_stops_sleeps(void **state) {
    (void)state;
    trial t;
    hang(&t, 0.1, 2);
    steps(&t, 300);
    assert_int_equal(t.events[ABUT_EVENT_SLEEP], 0);
    steps(&t, 900);
    assert_int_equal(t.events[ABUT_EVENT_SLEEP], 1);
    close_to(abut_sim_motion(t.run, 0).center.x, 0, 1e-5);
    finish(&t);
}

/* A heap falls asleep, each of its bodies once and to the end. */
static void a_heap_falls_asleep(void **state) {
    (void)state;
    trial t;
    uint64_t seed = 3;
    begin(&t);
    t.options.sleep = true;
    add_floor(&t);
    for (int i = 0; i < 40; i++)
        add(&t, abut_shape_solid(t.box), 1.8 * (i % 3), 1.8 * (i / 3 % 3), 1 + 1.8 * (i / 9))->rotation =
            support_rotation(&seed);
    start(&t);
    steps(&t, 900);
    for (int i = 1; i < t.count; i++) close_to(vec3_length(abut_sim_motion(t.run, i).velocity), 0, 0);
    assert_int_equal(t.events[ABUT_EVENT_SLEEP] - t.events[ABUT_EVENT_WAKE], 40);
    finish(&t);
}

/* What comes to a sleeper wakes it: a pusher (a box, a ball) whose front is a metre away when the box falls
 * asleep takes it along by v t - 1, at any speed. */
static void what_comes_wakes(void **state) {
    (void)state;
    for (int k = 0; k < 24; k++) {
        trial t;
        double v = 0.05 * (k / 2 + 1), seconds = 1.5 / v;
        begin(&t);
        t.options.sleep = true;
        add_floor(&t);
        add(&t, abut_shape_solid(t.box), 0, 0, 0.5);
        abut_body_def *pusher =
            add(&t, k % 2 ? abut_shape_sphere(0.4) : abut_shape_solid(t.box), -(k % 2 ? 1.9 : 2), 0, 0.6);
        pusher->kinematic = true, pusher->velocity.x = v;
        start(&t);
        steps(&t, (int)(60 * seconds + 0.5));
        close_to(abut_sim_motion(t.run, 1).center.x, 0.5, 0.02);
        assert_int_equal(t.events[ABUT_EVENT_WAKE], 1);
        finish(&t);
    }
}

/* So does a spring whose other end moves: k (0.2 t) exceeds friction, 0.6 m g, after 2.942 s, and then the
 * speed is k 0.2 t^2 / 2 m: 1 cm/s after another 0.1 s. */
static void a_spring_that_moves_wakes(void **state) {
    (void)state;
    trial t;
    begin(&t);
    t.options.sleep = true;
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5)->mass = 1;
    abut_body_def *hand = add(&t, (abut_shape){.kind = ABUT_SHAPE_NONE}, 1, 0, 0.5);
    hand->kinematic = true, hand->velocity.x = 0.2, hand->mass = 1, hand->has_inertia = true;
    hand->inertia[0] = hand->inertia[1] = hand->inertia[2] = 1;
    abut_spring_def spring = {.a = 1, .b = 2, .length = 1, .stiffness = 10};
    t.world.springs = &spring, t.world.spring_count = 1;
    start(&t);
    while (abut_sim_motion(t.run, 1).velocity.x < 0.01 && abut_sim_time(t.run) < 5) steps(&t, 1);
    close_to(abut_sim_time(t.run), 0.6 * 9.80665 / (10 * 0.2) + 0.1, 0.03);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_small_force_pushes_gets_going),
                                       cmocka_unit_test(a_pendulum_that_hardly_swings_goes_on),
                                       cmocka_unit_test(what_drag_stops_sleeps),
                                       cmocka_unit_test(a_heap_falls_asleep),
                                       cmocka_unit_test(what_comes_wakes),
                                       cmocka_unit_test(a_spring_that_moves_wakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
