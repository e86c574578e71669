/* What people build: walls and pyramids one box thick, taller than the springs of their contacts hold by
 * themselves, stand.  No other answer is right: rigid boxes on a level floor, laid down or let fall by a
 * little, do not lean.  Sleeping is off, so that nothing but the contacts holds them. */
#include "live_trial.h"
#include "sim/live.h"

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
static void check_standing(trial *t, const vec3 *laid, double aside) {
    for (int i = 1; i < t->count; i++) {
        abut_motion m = abut_sim_motion(t->run, i);
        vec3 off = vec3_sub(m.center, laid[i]);
        if (!(vec3_length(off) < aside) || !(vec3_length(m.velocity) < 0.02))
            fail_msg("body %d of %d is %g, %g, %g m off, at %g m/s", i, t->count - 1, off.x, off.y, off.z,
                     vec3_length(m.velocity));
    }
    finish(t);
}

static void stands(trial *t, double seconds, const vec3 *laid, double aside) {
    start(t);
    steps(t, (int)(60 * seconds));
    check_standing(t, laid, aside);
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

/* Courses as high as they are thick, too few to buckle: with usual loads that follow their sway they fell. */
static void low_walls_stand(void **state) {
    (void)state;
    for (int high = 8; high <= 13; high++)
        for (int bonded = 0; bonded < 2; bonded++) {
            trial t;
            vec3 size = vec3_make(0.4, 0.2, 0.2), laid[MOST];
            abut_solid *brick = NULL;
            begin(&t);
            assert_int_equal(abut_solid_box(NULL, size.x, size.y, size.z, &brick, NULL), ABUT_OK);
            lay(&t, brick, size, 3, high, bonded ? 0.13 : 0, 0);
            for (int i = 1; i < t.count; i++) laid[i] = t.bodies[i].position;
            stands(&t, 10, laid, 0.02);
            abut_solid_free(NULL, brick);
        }
}

/* Taller than twice the sub-steps hold: K of half a brick is too small for 25 courses, and for 20 that are
 * not bonded. */
static void slender_brick_walls_stand(void **state) {
    (void)state;
    for (int bonded = 0; bonded < 2; bonded++) {
        trial t;
        vec3 size = vec3_make(0.4, 0.2, 0.1), laid[MOST];
        abut_solid *brick = NULL;
        begin(&t);
        assert_int_equal(abut_solid_box(NULL, size.x, size.y, size.z, &brick, NULL), ABUT_OK);
        lay(&t, brick, size, 3, bonded ? 25 : 20, bonded ? 0.13 : 0, 0);
        for (int i = 1; i < t.count; i++) laid[i] = t.bodies[i].position;
        stands(&t, 8, laid, 0.02);
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
 * aside by some centimetres; then they stay.  It is asked for in all of the last twelve seconds: with one
 * sweep for each sub-step it swayed for more than twenty by up to 7 cm/s, and now and then by less. */
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
    start(&t);
    steps(&t, 8 * 60);
    for (int i = 0; i < 12 * 60; i++) {
        steps(&t, 1);
        for (int k = 1; k < t.count; k++) assert_true(vec3_length(abut_sim_motion(t.run, k).velocity) < 0.02);
    }
    check_standing(&t, laid, 0.05);
}

/* What a structure at rest needs no shorter sub-steps for, it does not take: the pyramid of bench_live, laid
 * down.  Bricks that the springs of the world's own sub-steps do not hold keep theirs. */
static void what_rests_goes_slowly(void **state) {
    (void)state;
    trial t;
    vec3 laid[MOST];
    begin(&t);
    add_floor(&t);
    for (int course = 0; course < 20; course++)
        for (int k = 0; k < 20 - course; k++) {
            laid[t.count] = vec3_make((k - 0.5 * (19 - course)) * 1.05, 0, course + 0.5);
            add(&t, abut_shape_solid(t.box), laid[t.count].x, 0, course + 0.5);
        }
    start(&t);
    steps(&t, 2);
    assert_int_equal(t.run->live->finest, 1);
    steps(&t, 298);
    assert_int_equal(t.run->live->finest, 0);
    steps(&t, 300);
    for (int i = 1; i < t.count; i++)
        close_to(vec3_distance(abut_sim_motion(t.run, i).center, laid[i]), 0, 0.005);
    finish(&t);
}

/* The first `hurried` of 100 boxes side by side on the floor and five in a column on one of them have just
 * been an island that hurries: the pace of all of them in the next step. */
static int pace_of_most(int hurried) {
    trial t;
    begin(&t);
    add_floor(&t);
    for (int i = 0; i < 5; i++) add(&t, abut_shape_solid(t.box), 0, 0, 1.5 + i);
    for (int i = 0; i < 100; i++) add(&t, abut_shape_solid(t.box), i % 10, i / 10, 0.5);
    start(&t);
    steps(&t, 2);
    live *w = t.run->live;
    assert_int_equal(w->islands.count, 1);
    assert_int_equal(w->finest, 0);
    for (int i = 1; i <= hurried; i++) w->rests[i].pace = 2, w->rests[i].hold = 1;
    steps(&t, 1);
    int pace = w->islands.data[0].pace;
    finish(&t);
    return pace;
}

/* A heap of 4,000 hulls that landed took four times as long: one column of seven that fell on it hurried, and
 * all that touched it, and all that touched that. */
static void a_few_do_not_make_all_hurry(void **state) {
    (void)state;
    assert_int_equal(pace_of_most(5), 0);
    assert_int_equal(pace_of_most(52), 0);
    assert_int_equal(pace_of_most(53), 2);
}

/* The overload of cubes on each other in closed form: each contact has four points, at the arms a / 2 from an
 * axis through its middle, of the effective mass 1 / (2 (1/m + (a^2 / 2) / (m a^2 / 6))) = m / 8 between two
 * cubes, m / 4 on the floor.  With K = m w^2 a^2 / 8 for all, n layers buckle at n^3 m g a / 7.84 K
 * (Greenhill 1881, a column of one piece: for n layers to 1 / n); the floor's twice as stiff contact holds up
 * half a layer. */
static void columns_are_overloaded_as_greenhill_says(void **state) {
    (void)state;
    for (int n = 15; n <= 25; n += 5) {
        trial t;
        begin(&t);
        lay(&t, t.box, vec3_make(1, 1, 1), 2, n, 0, 0);
        start(&t);
        steps(&t, 2);
        live *w = t.run->live;
        double omega = 2 * 3.14159265358979323846 * 0.14 * 240;
        double wanted = pow(n, 3) * 9.80665 / (7.84 * omega * omega / 8);
        assert_int_equal(w->islands.count, 1);
        close_to(live_overload(w, 0, n) / wanted, 1, 2.0 / n);
        finish(&t);
    }
}

/* A heap that falls, beside columns that sway at their own pace or without them, on some workers, going on
 * from a snapshot or not: bits of its motions, and of all. */
static uint64_t fall(bool columns, int workers, bool restored, uint64_t *all) {
    trial t;
    begin(&t);
    add_floor(&t);
    uint64_t seed = 5, hash = 1;
    for (int i = 0; i < 20; i++)
        add(&t, abut_shape_solid(t.box), 1.1 * (i % 2), 1.1 * (i / 2 % 2), 0.9 + 1.3 * (i / 4))->rotation =
            support_rotation(&seed);
    for (int i = 0; i < 60 && columns; i++) add(&t, abut_shape_solid(t.box), 40 + i % 2, 0, 0.5 + i / 2);
    if (workers > 1) t.workers = abut_workers_create(NULL, workers);
    if (workers > 1) t.context.parallel = abut_workers_parallel(t.workers);
    t.options.share_from = 0, t.options.direct_rows = 0, t.overlaps = true;
    start(&t);
    steps(&t, 40);
    if (columns) assert_int_equal(t.run->live->finest, 2);
    if (restored) {
        abut_error error = {0};
        size_t size = abut_sim_snapshot_size(t.run);
        void *snapshot = malloc(size);
        assert_non_null(snapshot);
        abut_sim_snapshot(t.run, snapshot);
        steps(&t, 7);
        assert_int_equal(abut_sim_restore(t.run, snapshot, size, &error), ABUT_OK);
        free(snapshot);
    }
    steps(&t, 60);
    for (int i = 1; i <= 20; i++) {
        abut_motion m = abut_sim_motion(t.run, i);
        hash = hash64(&m, sizeof m, hash);
    }
    *all = abut_sim_hash(t.run);
    finish(&t);
    return hash;
}

static void each_island_has_its_own_pace(void **state) {
    (void)state;
    uint64_t alone, all, same, bits = fall(false, 1, false, &alone);
    assert_true(fall(true, 1, false, &all) == bits);
    for (int workers = 1; workers <= 4; workers *= 2) {
        assert_true(fall(true, workers, true, &same) == bits);
        assert_true(same == all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_brick_wall_stands),
                                       cmocka_unit_test(low_walls_stand),
                                       cmocka_unit_test(slender_brick_walls_stand),
                                       cmocka_unit_test(two_columns_of_thirty_stand),
                                       cmocka_unit_test(a_dropped_pyramid_stands),
                                       cmocka_unit_test(what_rests_goes_slowly),
                                       cmocka_unit_test(a_few_do_not_make_all_hurry),
                                       cmocka_unit_test(columns_are_overloaded_as_greenhill_says),
                                       cmocka_unit_test(each_island_has_its_own_pace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
