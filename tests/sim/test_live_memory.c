/* No allocation after warm-up: what the live step keeps from step to step is enough for the next one, also
 * where islands are solved directly and their rows come and go all the time. */
#include "abut/surface.h"
#include "live_trial.h"

/* A stretch of motion is run, put back to its beginning, and run again: the second time no step asks for
 * memory.  (That the first time is not already without requests is its right: a pile that meets in more
 * places than ever before needs more room.) */
static void run_again(trial *t, const char *scene, int warm, int count) {
    support_memory memory = {0};
    abut_context counted = support_context(&memory);
    t->context.allocator = counted.allocator;
    start(t);
    abut_pose gate = {.rotation = {1, 0, 0, 0}, .position = {0, 0, 1}};
    abut_shape shape = abut_shape_sphere(1.5);
    abut_error error = {0};
    int sensor, direct = 0, touched = 0;
    assert_int_equal(abut_live_add_sensor(t->run, &shape, -1, gate, &sensor, &error), ABUT_OK);
    steps(t, warm);
    size_t size = abut_sim_snapshot_size(t->run);
    void *snapshot = malloc(size);
    assert_non_null(snapshot);
    abut_sim_snapshot(t->run, snapshot);
    steps(t, count);
    assert_int_equal(abut_sim_restore(t->run, snapshot, size, &error), ABUT_OK);
    for (int i = 0; i < count; i++) {
        const int *bodies;
        abut_live_hit hit;
        int64_t before = memory.requests;
        steps(t, 1);
        direct += abut_live_step_times(t->run).direct_islands;
        touched += abut_live_sensor_bodies(t->run, sensor, &bodies);
        abut_live_cast_ray(t->run, vec3_make(0, 0, 9), vec3_make(0, 0, -1), 20, &hit);
        /* in the first of them the sensor tells all at once what the way back changed */
        if (memory.requests != before && i > 0)
            fail_msg("%s: step %d asks for memory %d times", scene, warm + i,
                     (int)(memory.requests - before));
    }
    assert_true(t->options.direct_rows == 0 || direct > 0);
    assert_true(touched > 0);
    free(snapshot);
    finish(t);
    support_assert_freed(&memory);
}

static void pile(trial *t, double ratio) {
    begin(t);
    t->overlaps = true;
    add_floor(t);
    uint64_t seed = 7;
    for (int i = 0; i < 60; i++) {
        abut_body_def *b = add(t, i % 3 ? abut_shape_solid(t->box) : abut_shape_sphere(0.5),
                               (i % 3) * 1.1 - 1.1, (i / 3 % 3) * 1.1 - 1.1, 0.8 + 1.2 * (i / 9));
        b->rotation = support_rotation(&seed);
        if (i % 2) b->mass = 1000 * ratio;
    }
}

static void test_pile_in_batches(void **state) {
    (void)state;
    trial t;
    pile(&t, 1);
    t.options.direct_rows = 0;
    run_again(&t, "pile in batches", 60, 180);
}

/* Columns that land, sway and go on at another pace (live_sway.c), beside bodies that do not. */
static void test_sway(void **state) {
    (void)state;
    trial t;
    begin(&t);
    add_floor(&t);
    for (int i = 0; i < 36; i++) add(&t, abut_shape_solid(t.box), i % 2, 0, 0.51 + 1.02 * (i / 2));
    for (int i = 0; i < 9; i++) add(&t, abut_shape_solid(t.box), 5 + 0.4 * (i % 2), 0, 0.6 + 1.1 * i);
    t.options.direct_rows = 0;
    run_again(&t, "sway", 10, 90);
}

static void test_pile_with_unequal_masses(void **state) {
    (void)state;
    trial t;
    pile(&t, 100);
    run_again(&t, "pile of unequal masses", 60, 180);
}

/* A motion that turns a wheel of four paddles about y, in which bodies of unequal masses and a figure of
 * boxes on ball hinges are thrown about for ever. */
static bool turn(void *user, double time, double *out, int count) {
    (void)count;
    double angle = 0.8 * time + 0.25 * *(const int *)user * 3.14159265358979323846;
    const double m[7] = {4 * sin(angle), 0, 4 + 4 * cos(angle), cos(angle / 2), 0, sin(angle / 2), 0};
    memcpy(out, m, sizeof m);
    return true;
}

static void link_boxes(trial *t, int a, int b, vec3 at, abut_hinge_kind kind) {
    abut_hinge_def *h = &t->hinges[t->hinge_count++];
    *h = abut_default_hinge();
    h->kind = kind, h->a = a, h->b = b, h->at = at, h->axis = vec3_make(0, 1, 0);
    if (kind == ABUT_HINGE_PIN) h->has_limits = true, h->limits[0] = -1, h->limits[1] = 1;
}

static void test_drum(void **state) {
    (void)state;
    static const int side[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    trial t;
    abut_solid *wall = NULL, *limb = NULL;
    begin(&t);
    assert_int_equal(abut_solid_box(NULL, 4, 4, 0.5, &wall, NULL), ABUT_OK);
    assert_int_equal(abut_solid_box(NULL, 0.5, 0.3, 0.3, &limb, NULL), ABUT_OK);
    for (int i = 0; i < 8; i++) {
        abut_body_def *b = add(&t, abut_shape_solid(wall), 0, 0, 0);
        b->kinematic = true, b->motion = turn, b->motion_user = (void *)&side[i];
        b->group = 1;
    }
    for (int i = -1; i <= 1; i += 2)
        add(&t, abut_shape_halfspace(vec3_make(0, -i, 0), -2), 0, 0, 0)->fixed = true;
    int first = t.count;
    for (int i = 0; i < 5; i++) add(&t, abut_shape_solid(limb), 0.55 * i - 1.1, 0, 4);
    for (int i = 1; i < 5; i++)
        link_boxes(&t, first + i, first + i - 1, vec3_make(0.55 * i - 1.375, 0, 4),
                   i % 2 ? ABUT_HINGE_BALL : ABUT_HINGE_PIN);
    uint64_t seed = 3;
    for (int i = 0; i < 6; i++) {
        abut_body_def *b = add(&t, i % 2 ? abut_shape_solid(t.box) : abut_shape_capsule(0.2, 0.5),
                               1.5 * (i % 3) - 1.5, 1.5 * (i / 3) - 0.75, 2.5);
        b->rotation = support_rotation(&seed), b->mass = i % 2 ? 2000 : 5;
    }
    run_again(&t, "drum", 60, 180);
    abut_solid_free(NULL, wall), abut_solid_free(NULL, limb);
}

/* A body of any shape: its mass is given, surfaces and rings alike. */
static void add_turned(trial *t, abut_shape shape, vec3 at, uint64_t *seed) {
    abut_body_def *b = add(t, shape, at.x, at.y, at.z);
    b->rotation = support_rotation(seed), b->mass = 20;
    b->has_inertia = b->has_center = true;
    for (int k = 0; k < 3; k++) b->inertia[k] = 0.5;
}

static void use_two_workers(trial *t) {
    t->options.share_from = 0;
    t->workers = abut_workers_create(NULL, 2);
    t->context.parallel = abut_workers_parallel(t->workers);
}

/* Rings that are not convex and round shapes, asleep and awake, on two workers. */
static void test_shapes(void **state) {
    (void)state;
    trial t;
    abut_solid *ring = NULL;
    begin(&t);
    assert_int_equal(abut_solid_torus(NULL, 0.4, 0.12, 16, 8, &ring, NULL), ABUT_OK);
    add_floor(&t);
    uint64_t seed = 9;
    for (int i = 0; i < 16; i++) {
        const abut_shape shapes[4] = {abut_shape_solid(ring), abut_shape_capsule(0.15, 0.3),
                                      abut_shape_cylinder(0.2, 0.4), abut_shape_ellipsoid(0.3, 0.2, 0.2)};
        vec3 at = {0.3 * (i % 3) - 0.3, 0.3 * (i / 3 % 2), 1 + 1.1 * (i / 4) + 0.05 * i};
        add_turned(&t, shapes[i % 4], at, &seed);
    }
    t.options.sleep = t.overlaps = true;
    use_two_workers(&t);
    run_again(&t, "shapes", 60, 180);
    abut_solid_free(NULL, ring);
}

/* A smooth ellipsoid falls on one body of each kind, and all on the floor: closest points of smooth surfaces
 * take a thousand times as long as others, so the motion is short. */
static void test_smooth(void **state) {
    (void)state;
    trial t;
    abut_solid *ring = NULL;
    abut_surface *egg = NULL;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{0.3, 0, 0}, {0, 0.2, 0}, {0, 0, 0.15}};
    begin(&t);
    assert_int_equal(abut_solid_torus(NULL, 0.4, 0.12, 16, 8, &ring, NULL), ABUT_OK);
    assert_int_equal(abut_surface_quadric(NULL, &q, &egg, NULL), ABUT_OK);
    abut_shape smooth = {.kind = ABUT_SHAPE_SURFACE, .surface = egg};
    const abut_shape below[4] = {abut_shape_solid(ring), smooth, abut_shape_cylinder(0.2, 0.4),
                                 abut_shape_ellipsoid(0.3, 0.2, 0.2)};
    add_floor(&t);
    uint64_t seed = 9;
    for (int i = 0; i < 4; i++) {
        add_turned(&t, below[i], vec3_make(1.2 * (i % 2) - 0.6, 1.2 * (i / 2) - 0.6, 0.55), &seed);
        add_turned(&t, smooth, vec3_make(1.2 * (i % 2) - 0.45, 1.2 * (i / 2) - 0.6, 1.2), &seed);
    }
    t.overlaps = true;
    use_two_workers(&t);
    run_again(&t, "smooth", 12, 30);
    assert_true(t.events[ABUT_EVENT_CONTACT_MADE] >= 16); /* each of them, both times */
    abut_solid_free(NULL, ring), abut_surface_free(NULL, egg);
}

/* A crank, its rod and a slider that a motor drives: no contact, the same rows in every step. */
static void test_mechanism(void **state) {
    (void)state;
    trial t;
    begin(&t);
    int crank = t.count;
    for (int i = 0; i < 3; i++) {
        abut_body_def *b = add(&t, abut_shape_sphere(0.1), 0.5 + i, 0, 1);
        b->group = 1;
    }
    link_boxes(&t, crank, -1, vec3_make(0, 0, 1), ABUT_HINGE_PIN);
    t.hinges[0].has_limits = false, t.hinges[0].has_motor = true, t.hinges[0].motor_speed = 3;
    link_boxes(&t, crank + 1, crank, vec3_make(1, 0, 1), ABUT_HINGE_PIN);
    link_boxes(&t, crank + 2, crank + 1, vec3_make(2.5, 0, 1), ABUT_HINGE_PIN);
    t.hinges[1].has_limits = t.hinges[2].has_limits = false;
    link_boxes(&t, crank + 2, -1, vec3_make(2.5, 0, 1), ABUT_HINGE_SLIDER);
    t.hinges[3].axis = vec3_make(1, 0, 0);
    run_again(&t, "crank", 60, 180);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pile_in_batches),
        cmocka_unit_test(test_sway),
        cmocka_unit_test(test_pile_with_unequal_masses),
        cmocka_unit_test(test_drum),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_smooth),
        cmocka_unit_test(test_mechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
