/* Flat things that land all but level: thin discs, coins with a round rim, plates.  Within a sub-step they
 * come down on one side, turn, and come down on the other.  No point of them goes deeper than promised, and
 * nothing gives them energy.  Rims gain a little more than is promised in one of some hundred throws, as they
 * are pushed out again (docs/live-clock.md, Limits): of them a fiftieth is asked for. */
#include "live_trial.h"

enum { THROWS = 200, TOGETHER = 12 };

#define FACETS 0.01 /* of the largest energy, gained in a frame */
#define RIMS   0.02

static void throw_flat(trial *t, abut_shape shape, uint64_t *seed, double x) {
    abut_body_def *b = add(t, shape, x, 0, random_range(seed, 0.3, 0.5));
    vec3 axis = vec3_unit(vec3_make(random_range(seed, -1, 1), random_range(seed, -1, 1), 0));
    b->density = 1000;
    b->rotation = abut_quat_from_axis_angle(axis, random_range(seed, 0, 0.4));
    b->velocity = vec3_make(0, 0, random_range(seed, -6, -2));
    b->spin = vec3_make(random_range(seed, -20, 20), random_range(seed, -20, 20), 0);
}

/* One is a direct island; of twelve some are batches. */
static void land(abut_shape shape, uint64_t seed, int count, double energy) {
    for (int k = 0; k < THROWS / count; k++) {
        trial t;
        begin(&t);
        t.world.material.friction = (abut_friction){0, 0, 0, 0};
        add_floor(&t);
        for (int i = 0; i < count; i++) throw_flat(&t, shape, &seed, 1.5 * i);
        start(&t);
        steps(&t, 40);
        abut_audit a = abut_sim_audit(t.run);
        if (!(a.deepest_overlap <= a.overlap_limit && a.energy_error <= energy))
            fail_msg("throw %d: overlap %g m of %g, energy %g", k, a.deepest_overlap, a.overlap_limit,
                     a.energy_error);
        finish(&t);
    }
}

static void test_discs(void **state) {
    (void)state;
    land(abut_shape_cylinder(0.2, 0.06), 1, 1, RIMS);
    land(abut_shape_cylinder(0.15, 0.02), 2, 1, RIMS);
    land(abut_shape_cylinder(0.2, 0.06), 3, TOGETHER, RIMS);
}

static void test_coins(void **state) {
    (void)state;
    land(abut_shape_ellipsoid(0.2, 0.2, 0.03), 4, 1, RIMS);
    land(abut_shape_ellipsoid(0.2, 0.2, 0.03), 5, TOGETHER, RIMS);
}

static void test_plates(void **state) {
    (void)state;
    abut_solid *plate = NULL;
    assert_int_equal(abut_solid_box(NULL, 0.4, 0.3, 0.02, &plate, NULL), ABUT_OK);
    land(abut_shape_solid(plate), 6, 1, FACETS);
    land(abut_shape_solid(plate), 7, TOGETHER, FACETS);
    abut_solid_free(NULL, plate);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_discs), cmocka_unit_test(test_coins),
                                       cmocka_unit_test(test_plates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
