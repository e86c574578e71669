/* Solids with dents that are put on each other exactly, as parts are in a drawing: planes, edges and corners
 * of one coincide with those of others.  Each centre of mass is well within what it stands on, so that all
 * stand, whether they are solved directly or in batches. */
#include "live_trial.h"

enum { LAYERS = 8 };

typedef struct outline {
    int count;
    double at[12][2];
} outline;

/* Letters of squares of 0.1 m. */
static const outline L_SHAPE = {6, {{0, 0}, {0.4, 0}, {0.4, 0.1}, {0.2, 0.1}, {0.2, 0.3}, {0, 0.3}}};
static const outline U_SHAPE = {
    8, {{0, 0}, {0.6, 0}, {0.6, 0.3}, {0.4, 0.3}, {0.4, 0.1}, {0.2, 0.1}, {0.2, 0.3}, {0, 0.3}}};
static const outline T_SHAPE = {
    8, {{0, 0}, {0.6, 0}, {0.6, 0.2}, {0.4, 0.2}, {0.4, 0.4}, {0.2, 0.4}, {0.2, 0.2}, {0, 0.2}}};

static abut_solid *make_prism(const outline *o, double height) {
    abut_solid *s = NULL;
    assert_int_equal(abut_solid_prism(NULL, o->at, o->count, height, &s, NULL), ABUT_OK);
    return s;
}

static void begin_with(trial *t, int direct_rows) {
    begin(t);
    t->options.direct_rows = direct_rows;
    add_floor(t);
}

/* For three seconds: nothing moves by more than `most`, and then all is at rest. */
static void check_stands(trial *t, double most) {
    vec3 from[MOST];
    start(t);
    for (int i = 0; i < t->count; i++) from[i] = abut_sim_motion(t->run, i).center;
    steps(t, 180);
    for (int i = 0; i < t->count; i++) {
        double way = vec3_distance(abut_sim_motion(t->run, i).center, from[i]);
        if (!(way <= most)) fail_msg("body %d of %d went %g m", i, t->count, way);
    }
    double mass = 0, slow = abut_model_tolerances(t->model).rest_speed;
    for (int i = 1; i < t->count; i++) mass += abut_model_body_mass(t->model, i).mass;
    assert_true(abut_sim_energy(t->run).kinetic < mass * slow * slow / 2);
    assert_true(abut_sim_audit(t->run).promises_kept);
    finish(t);
}

/* The ends of the reflex edges lie at the walls of the dents below. */
static void test_stacks(void **state) {
    (void)state;
    const outline *of[] = {&L_SHAPE, &U_SHAPE, &T_SHAPE};
    for (int k = 0; k < COUNT_OF(of); k++)
        for (int direct = 0; direct < 2; direct++) {
            trial t;
            abut_solid *s = make_prism(of[k], 0.2);
            begin_with(&t, direct ? abut_default_live_options().direct_rows : 0);
            for (int i = 0; i < LAYERS; i++) add(&t, abut_shape_solid(s), 0, 0, 0.1 + 0.2 * i);
            check_stands(&t, 4e-3);
            abut_solid_free(NULL, s);
        }
}

/* A box in the corner of each L, layer on layer: the two touch on two sides of it. */
static void test_filled_corners(void **state) {
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        trial t;
        abut_solid *l = make_prism(&L_SHAPE, 0.2), *brick = NULL;
        assert_int_equal(abut_solid_box(NULL, 0.2, 0.2, 0.2, &brick, NULL), ABUT_OK);
        begin_with(&t, direct ? abut_default_live_options().direct_rows : 0);
        for (int i = 0; i < 5; i++) {
            add(&t, abut_shape_solid(l), 0, 0, 0.1 + 0.2 * i);
            add(&t, abut_shape_solid(brick), 0.3, 0.2, 0.1 + 0.2 * i);
        }
        check_stands(&t, 4e-3);
        abut_solid_free(NULL, l), abut_solid_free(NULL, brick);
    }
}

/* A peg in an upright U without play, and a U that stands on its arms on a U: each bears what is above it. */
static void test_fits(void **state) {
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        trial t;
        abut_solid *u = make_prism(&U_SHAPE, 0.2), *peg = NULL;
        assert_int_equal(abut_solid_box(NULL, 0.2, 0.2, 0.5, &peg, NULL), ABUT_OK);
        begin_with(&t, direct ? abut_default_live_options().direct_rows : 0);
        const quat upright = {sqrt(0.5), sqrt(0.5), 0, 0};
        for (int k = 0; k < 2; k++) add(&t, abut_shape_solid(u), 2.0 * k, 0, 0)->rotation = upright;
        add(&t, abut_shape_solid(peg), 0.3, 0, 0.35);
        abut_body_def *over =
            add(&t, abut_shape_solid(u), 2.6, 0, 0.6); /* turned by pi about y before that */
        over->rotation = quat_mul((quat){0, 0, 1, 0}, upright);
        check_stands(&t, 4e-3);
        abut_solid_free(NULL, u), abut_solid_free(NULL, peg);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stacks), cmocka_unit_test(test_filled_corners),
                                       cmocka_unit_test(test_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
