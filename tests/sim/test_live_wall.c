/* What people build: walls and pyramids one box thick, taller than the springs of their contacts hold by
 * themselves, stand.  No other answer is right: rigid boxes on a level floor, laid down or let fall by a
 * little, do not lean.  Sleeping is off, so that nothing but the contacts holds them. */
#include "live_trial.h"

/* `high` courses of `wide` bricks, every other one shifted by `shift`, each `drop` above the one below. */
static void lay(trial *t, const abut_solid *brick, vec3 size, int wide, int high, double shift, double drop) {
    add_floor(t);
    for (int course = 0; course < high; course++)
        for (int k = 0; k < wide; k++)
            add(t, abut_shape_solid(brick), k * size.x + course % 2 * shift, 0,
                size.z / 2 + course * (size.z + drop));
}

/* After that time everything is where it was laid, but for `aside` (a quarter of a body's thickness would be
 * next to falling) and for the drop, and at rest. */
static void stands(trial *t, double seconds, const vec3 *laid, double aside) {
    start(t);
    steps(t, (int)(60 * seconds));
    for (int i = 1; i < t->count; i++) {
        abut_motion m = abut_sim_motion(t->run, i);
        vec3 off = vec3_sub(m.center, laid[i]);
        if (!(vec3_length(off) < aside) || !(vec3_length(m.velocity) < 0.02))
            fail_msg("body %d of %d is %g, %g, %g m off, at %g m/s", i, t->count - 1, off.x, off.y, off.z,
                     vec3_length(m.velocity));
    }
    finish(t);
}

static void a_brick_wall_stands(void **state) {
    (void)state;
    for (int dropped = 0; dropped < 2; dropped++) {
        trial t;
        vec3 size = vec3_make(0.4, 0.2, 0.1), laid[MOST];
        abut_solid *brick = NULL;
        begin(&t);
        assert_int_equal(abut_solid_box(NULL, size.x, size.y, size.z, &brick, NULL), ABUT_OK);
        lay(&t, brick, size, 6, 20, 0.13, dropped ? 0.005 : 0);
        for (int i = 1; i < t.count; i++)
            laid[i] = t.bodies[i].position, laid[i].z = size.z * ((i - 1) / 6 + 0.5);
        stands(&t, 10, laid, 0.02);
        abut_solid_free(NULL, brick);
    }
}

/* Columns side by side that hardly help each other. */
static void two_columns_of_thirty_stand(void **state) {
    (void)state;
    trial t;
    vec3 laid[MOST];
    begin(&t);
    lay(&t, t.box, vec3_make(1, 1, 1), 2, 30, 0, 0);
    for (int i = 1; i < t.count; i++) laid[i] = t.bodies[i].position;
    stands(&t, 10, laid, 0.05);
}

/* The pyramid of scenes/live-pyramid.lua: each layer 5 cm above the one below.  While it lands its boxes go
 * aside by some centimetres; then they stay. */
static void a_dropped_pyramid_stands(void **state) {
    (void)state;
    trial t;
    vec3 laid[MOST];
    begin(&t);
    add_floor(&t);
    for (int course = 0; course < 20; course++)
        for (int k = 0; k < 20 - course; k++) {
            laid[t.count] = vec3_make((k - 0.5 * (19 - course)) * 1.05, 0, course + 0.5);
            add(&t, abut_shape_solid(t.box), laid[t.count].x, 0, 0.5 + 1.05 * course);
        }
    stands(&t, 20, laid, 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_brick_wall_stands),
                                       cmocka_unit_test(two_columns_of_thirty_stand),
                                       cmocka_unit_test(a_dropped_pyramid_stands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
