/* Newton's method on the modes of friction: the law at every point, whatever modes were found; and against
 * the cone programs, another way to the same motion. */
#include "dynamics/cones.h"
#include "dynamics/modes.h"
#include "little.h"

/* A tower of boxes on the ground, four points a face, each box a little aside and turned about the vertical.
 */
static void make_tower(little *w, int boxes, double mu, uint64_t *seed) {
    const double half = 0.1, high = 0.1;
    little_fixed(w);
    for (int i = 0; i < boxes; i++)
        little_body(w, 1, vec3_make(0.004, 0.004, 0.007), vec3_make(0, 0, high * (i + 0.5)));
    little_gravity(w, vec3_make(0, 0, -10));
    w->friction = (abut_friction){.stick = mu, .slide = mu};
    for (int i = 1; i <= boxes; i++) {
        vec3 aside = support_vec(seed, 0.02);
        double x = aside.x, y = aside.y;
        for (int k = 0; k < 4; k++)
            little_contact(w, i, i - 1,
                           vec3_make(x + (k & 1 ? half : -half), y + (k & 2 ? half : -half), high * (i - 1)),
                           vec3_make(0, 0, 1));
    }
}

static bool all_candidates[CONE_KINDS * LITTLE_CONTACTS];

static system_config config_of(little *w, spatial *base, double h) {
    group_free_accelerations(&w->g, base);
    for (int i = 0; i < w->g.body_count; i++) base[i] = spatial_axpy(w->motions[i].velocity, h, base[i]);
    return (system_config){.level = SYSTEM_IMPULSES, .base = base};
}

/* N >= 0, r_n >= 0, one of them 0; |T| <= mu N; where it slips T is against the slip and at its bound. */
static void check_law(const group_system *s, const double *z, const spatial *x, double allowed) {
    for (int k = 0; k < s->cone_count; k++) {
        const cone *law = &s->cones[k];
        int n = s->normal_of[law->contact];
        double normal = z[n], rate = row_dot(&s->rows[n], x) + s->offset[n];
        vec3 force = vec3_zero(), slip = vec3_zero();
        for (int i = 0; i < 2; i++) {
            row r = system_cone_row(s, law, law->axis[i]);
            force = vec3_axpy(force, z[law->first + i], law->axis[i]);
            slip = vec3_axpy(slip, row_dot(&r, x), law->axis[i]);
        }
        assert_true(normal >= 0 && rate >= -allowed);
        assert_true(normal * rate <= allowed);
        assert_true(vec3_length(force) <= law->stick * normal + allowed);
        double speed = vec3_length(slip);
        vec3 wrong = vec3_axpy(vec3_scale(force, speed), law->slide * normal, slip);
        assert_true(vec3_length(wrong) <= allowed);
    }
}

/* Towers that were hit: random velocities, one step of time.  Newton's method ends for nearly all, and the
 * law holds to rounding for all it ends for; the kinetic energy has not grown beyond the push of gravity. */
static void towers_obey_the_law(void **state) {
    (void)state;
    uint64_t seed = 7;
    int trials = 300, ended = 0, steps = 0;
    for (int trial = 0; trial < trials; trial++) {
        little w;
        little_open(&w);
        make_tower(&w, support_int(&seed, 1, 12), 0.1 + 0.1 * support_int(&seed, 0, 7), &seed);
        for (int i = 1; i < w.g.body_count; i++)
            w.motions[i].velocity = (twist){vec3_scale(support_vec(&seed, 1), 0.1 * (trial % 3)),
                                            vec3_scale(support_vec(&seed, 1), trial % 4)};
        spatial base[LITTLE_BODIES], x[LITTLE_BODIES];
        system_config build = config_of(&w, base, 1e-3);
        for (int i = 0; i < w.g.contact_count; i++) w.contacts[i].mode = FRICTION_STICK;
        group_system s;
        abut_error error;
        modes m;
        bool found;
        assert_int_equal(system_build(&w.g, &build, &w.memory, &s, &error), ABUT_OK);
        assert_true(modes_solve(&s, NULL, NULL, MODES_ALL_STARTS, 1e-11, &w.memory, &m, &found));
        if (found) {
            system_apply(&s, m.z, x);
            check_law(&s, m.z, x, 1e-10 * (1 + m.scale));
            assert_true(group_kinetic_energy(&w.g, x) <= group_kinetic_energy(&w.g, base) * (1 + 1e-12));
            ended++, steps += m.steps;
        }
        little_close(&w);
    }
    print_message("%d of %d ended, %.1f steps each\n", ended, trials, (double)steps / ended);
    assert_true(ended >= 0.95 * trials);
}

/* A tower at rest, and one pushed as a whole: the same motion as by cone programs, where it is unique: all
 * points of a face slip the same way, or stick. */
static void cone_programs_agree(void **state) {
    (void)state;
    uint64_t seed = 9;
    int compared = 0;
    for (int trial = 0; trial < 40; trial++) {
        little w;
        little_open(&w);
        make_tower(&w, 1 + trial % 8, 0.3, &seed);
        for (int i = 1; i < w.g.body_count; i++)
            w.motions[i].velocity.linear = vec3_make(0.05 * (trial % 5) * i, 0.01 * i, 0);
        spatial base[LITTLE_BODIES];
        coulomb_config config = {
            .build = config_of(&w, base, 1e-3), .candidate = all_candidates, .tolerance = 1e-11};
        for (int i = 0; i < w.g.contact_count; i++) all_candidates[CONE_KINDS * i] = true;
        group_system s, t;
        system_solution by_newton = {0}, by_cones = {0};
        abut_error error;
        bool found;
        assert_int_equal(modes_choose(&w.g, &config, &w.scratch, &s, &by_newton, &found, &error), ABUT_OK);
        assert_true(found);
        assert_int_equal(cones_choose(&w.g, &config, &w.scratch, &t, &by_cones, &found, &error), ABUT_OK);
        assert_true(found);
        for (int i = 1; i < w.g.body_count; i++) {
            if (by_cones.residual > 1e-8)
                continue; /* the lifts have not come to rest: no answer to compare with */
            compared++;
            assert_true(vec3_distance(by_newton.x[i].linear, by_cones.x[i].linear) < 1e-6);
            assert_true(vec3_distance(by_newton.x[i].angular, by_cones.x[i].angular) < 1e-5);
        }
        little_close(&w);
    }
    assert_true(compared > 80);
}

/* One box that slides on four points: v falls by mu g h, and the load on the front feet is m g/2 (1 + mu
 * (h/2)/a), in closed form (a: half the side; the height of the centre is h/2). */
static void a_box_slides(void **state) {
    (void)state;
    little w;
    little_open(&w);
    little_fixed(&w);
    little_body(&w, 1, vec3_make(0.004, 0.004, 0.007), vec3_make(0, 0, 0.05));
    little_gravity(&w, vec3_make(0, 0, -10));
    w.friction = (abut_friction){.stick = 0.3, .slide = 0.3};
    for (int k = 0; k < 4; k++)
        little_contact(&w, 1, 0, vec3_make(k & 1 ? 0.1 : -0.1, k & 2 ? 0.1 : -0.1, 0), vec3_make(0, 0, 1));
    w.motions[1].velocity.linear = vec3_make(1, 0, 0);
    spatial base[LITTLE_BODIES], x[LITTLE_BODIES];
    system_config build = config_of(&w, base, 1e-3);
    for (int i = 0; i < 4; i++) w.contacts[i].mode = FRICTION_STICK;
    group_system s;
    abut_error error;
    modes m;
    bool found;
    assert_int_equal(system_build(&w.g, &build, &w.memory, &s, &error), ABUT_OK);
    assert_true(modes_solve(&s, NULL, NULL, MODES_ALL_STARTS, 1e-11, &w.memory, &m, &found));
    assert_true(found);
    system_apply(&s, m.z, x);
    assert_close(x[1].linear.x, 1 - 0.3 * 10 * 1e-3, 1e-14);
    assert_close(vec3_length(x[1].angular), 0, 1e-13);
    for (int k = 0; k < 4; k++)
        assert_close(m.z[s.normal_of[k]], 1e-2 / 4 * (1 + (k & 1 ? 1 : -1) * 0.3 * 0.05 / 0.1), 1e-10);
    little_close(&w);
}

/* Five bricks of 2 x 1 x 0.5 m, each 0.6 m beside the one below: the stack turns about the edge of the first.
 * T / N grows from face to face, so with friction 0.4 the top brick slips and with 1 all stick: the law at
 * every point, and corners at the edge of their cones beside others that have room stick too. */
static void an_overbalanced_stack_sticks(void **state) {
    (void)state;
    little w;
    little_open(&w);
    little_fixed(&w);
    for (int i = 0; i < 5; i++)
        little_body(&w, 2000, vec3_make(208, 708, 833), vec3_make(0.6 * i, 0, 0.5 * i + 0.25));
    little_gravity(&w, vec3_make(0, 0, -9.81));
    w.friction = (abut_friction){.stick = 0.4, .slide = 0.4};
    for (int i = 1; i <= 5; i++) {
        double left = 0.6 * (i - 1) - 1, right = i == 1 ? 1 : 0.6 * (i - 2) + 1;
        for (int k = 0; k < 4; k++)
            little_contact(&w, i, i - 1, vec3_make(k & 1 ? right : left, k & 2 ? 0.5 : -0.5, 0.5 * (i - 1)),
                           vec3_make(0, 0, 1));
    }
    little_choose(&w);
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    double top = vec3_length(w.loads[16].slip_acceleration);
    for (int i = 16; i < 20; i++) { /* one face, one mode */
        assert_int_equal(w.contacts[i].mode, FRICTION_SLIP);
        assert_close(vec3_length(w.loads[i].friction), 0.4 * w.loads[i].normal, 1e-8);
        assert_close(vec3_length(w.loads[i].slip_acceleration), top, 1e-9);
    }
    for (int i = 0; i < w.g.contact_count; i++)
        w.contacts[i].friction = (abut_friction){.stick = 1, .slide = 1};
    little_choose(&w);
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    for (int i = 0; i < w.g.contact_count; i++)
        assert_true(w.contacts[i].mode == FRICTION_STICK ||
                    (w.contacts[i].mode == FRICTION_FREE && w.loads[i].normal == 0));
    little_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_slides),
        cmocka_unit_test(towers_obey_the_law),
        cmocka_unit_test(cone_programs_agree),
        cmocka_unit_test(an_overbalanced_stack_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
