/* Resting forces without friction: exact answers of ../shared/reference, family 07 (all active sets
 * enumerated in rational arithmetic), hinges, over-constrained sets, random problems.  Plane scenes: x right,
 * y up, g = 10. */
#include "little.h"

static const vec3 up = {0, 1, 0};

static vec3 even(double i) { return vec3_make(i, i, i); }

static double center_of_pressure(const little *w, int a, int b) {
    double sum = 0, moment = 0;
    for (int i = 0; i < w->g.contact_count; i++) {
        if (w->contacts[i].a != a || w->contacts[i].b != b) continue;
        sum += w->loads[i].normal, moment += w->loads[i].normal * w->contacts[i].point.at.x;
    }
    return moment / sum;
}

static void check_motion(const little *w, int body, double ax, double ay, double alpha) {
    assert_close(w->x[body].linear.x, ax, 1e-12);
    assert_close(w->x[body].linear.y, ay, 1e-12);
    assert_close(w->x[body].linear.z, 0, 1e-12);
    assert_close(w->x[body].angular.z, alpha, 1e-12);
}

static void check_pair(const little *w, int a, int b, double fy, double cop) {
    assert_close(little_force_between(w, a, b).y, fy, 1e-11);
    assert_close(center_of_pressure(w, a, b), cop, 1e-12);
}

/* 07-box-load: four points, forces not unique but force and centre of pressure are; least norm is bilinear in
 * the corners: N = F/4 (1 + x cop/4), so 50/4 (1 -+ 2 * 0.3/4). */
static void box_with_a_load(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), body = little_body(&w, 2, even(10.0 / 3), vec3_make(0, 1, 0));
    little_gravity(&w, vec3_make(0, -10, 0));
    little_force(&w, body, vec3_make(0.5, 2, 0), vec3_make(0, -30, 0));
    little_pair(&w, body, floor, -2, 0, 0.5, up);
    little_pair(&w, body, floor, 2, 0, 0.5, up);
    little_solve(&w);
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    check_motion(&w, body, 0, 0, 0);
    check_pair(&w, body, floor, 50, 0.3);
    assert_false(w.forces.unique);
    for (int i = 0; i < 4; i++) {
        assert_false(w.loads[i].determined);
        assert_close(w.loads[i].normal, 12.5 * (1 + w.contacts[i].point.at.x * 0.3 / 4), 1e-11);
    }
    little_close(&w);
}

/* Bricks of 4 x 1 x 1, each `shift` further out. */
static void make_stack(little *w, int bricks, double shift) {
    little_open(w);
    little_fixed(w);
    for (int i = 0; i < bricks; i++) little_body(w, 1, even(17.0 / 12), vec3_make(shift * i, 0.5 + i, 0));
    little_gravity(w, vec3_make(0, -10, 0));
    little_pair(w, 1, 0, -2, 0, 0.5, up);
    little_pair(w, 1, 0, 2, 0, 0.5, up);
    for (int i = 1; i < bricks; i++) {
        little_pair(w, i + 1, i, shift * i - 2, i, 0.5, up);
        little_pair(w, i + 1, i, shift * (i - 1) + 2, i, 0.5, up);
    }
}

static void stack_of_three_stays(void **state) {
    (void)state;
    little w;
    make_stack(&w, 3, 0.5);
    little_solve(&w);
    for (int i = 1; i <= 3; i++) check_motion(&w, i, 0, 0, 0);
    check_pair(&w, 1, 0, 30, 1.0 / 2);
    check_pair(&w, 2, 1, 20, 3.0 / 4);
    check_pair(&w, 3, 2, 10, 1);
    little_close(&w);
}

static void stack_of_four_tips(void **state) {
    (void)state;
    little w;
    make_stack(&w, 4, 1.5);
    for (int pass = 0; pass < 2; pass++) { /* cold, then from the remembered active set */
        little_solve(&w);
        assert_true(w.forces.residual < 1e-12);
        check_motion(&w, 1, 0, 0, 0);
        check_motion(&w, 2, 0, 60.0 / 47, -120.0 / 47);
        check_motion(&w, 3, 0, -120.0 / 47, -120.0 / 47);
        check_motion(&w, 4, 0, -300.0 / 47, -120.0 / 47);
        check_pair(&w, 1, 0, 1520.0 / 47, 105.0 / 76);
        check_pair(&w, 2, 1, 1050.0 / 47, 2);
        check_pair(&w, 3, 2, 520.0 / 47, 295.0 / 104);
        check_pair(&w, 4, 3, 170.0 / 47, 7.0 / 2);
    }
    assert_true(w.contacts[6].pressed &&
                !w.contacts[4].pressed); /* brick 2 turns about the edge of brick 1 */
    assert_true(w.loads[4].gap_acceleration > 1 && w.loads[6].gap_acceleration == 0);
    little_close(&w);
}

static void seesaw_turns(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), post = little_body(&w, 4, even(5.0 / 3), vec3_make(0, 1, 0));
    int plank = little_body(&w, 2, even(65.0 / 6), vec3_make(0, 2.5, 0));
    int left = little_body(&w, 1, even(1.0 / 6), vec3_make(-3, 3.5, 0));
    int right = little_body(&w, 3, even(0.5), vec3_make(3, 3.5, 0));
    little_gravity(&w, vec3_make(0, -10, 0));
    little_pair(&w, post, floor, -0.5, 0, 0.5, up), little_pair(&w, post, floor, 0.5, 0, 0.5, up);
    little_pair(&w, plank, post, -0.5, 2, 0.5, up), little_pair(&w, plank, post, 0.5, 2, 0.5, up);
    little_pair(&w, left, plank, -3.5, 3, 0.5, up), little_pair(&w, left, plank, -2.5, 3, 0.5, up);
    little_pair(&w, right, plank, 2.5, 3, 0.5, up), little_pair(&w, right, plank, 3.5, 3, 0.5, up);
    little_solve(&w);
    check_motion(&w, post, 0, 0, 0);
    check_motion(&w, plank, 0, 15.0 / 43, -30.0 / 43);
    check_motion(&w, left, 0, 105.0 / 43, -30.0 / 43);
    check_motion(&w, right, 0, -75.0 / 43, -30.0 / 43);
    check_pair(&w, post, floor, 4210.0 / 43, 249.0 / 842);
    check_pair(&w, plank, post, 2490.0 / 43, 0.5);
    check_pair(&w, left, plank, 535.0 / 43, -322.0 / 107);
    check_pair(&w, right, plank, 1065.0 / 43, 212.0 / 71);
    little_close(&w);
}

/* 07-wedge: both bodies move; the contact stays on the slope of tangent 3/4. */
static void block_on_a_wedge(void **state) {
    (void)state;
    little w;
    little_open(&w);
    vec3 n = vec3_make(-0.6, 0.8, 0);
    int floor = little_fixed(&w), wedge = little_body(&w, 24, even(400.0 / 3), vec3_make(4.0 / 3, 2, 0));
    int block = little_body(&w, 4, even(8.0 / 3), vec3_make(-0.6, 3.8, 0));
    little_gravity(&w, vec3_make(0, -10, 0));
    little_pair(&w, wedge, floor, -4, 0, 0.5, up), little_pair(&w, wedge, floor, 4, 0, 0.5, up);
    little_pair(&w, block, wedge, -0.8, 2.4, 0.5, n), little_pair(&w, block, wedge, 0.8, 3.6, 0.5, n);
    little_solve(&w);
    check_motion(&w, wedge, 40.0 / 53, 0, 0);
    check_motion(&w, block, -240.0 / 53, -210.0 / 53, 0);
    assert_close(little_force_between(&w, wedge, floor).y, 14000.0 / 53, 1e-10);
    assert_close(little_force_between(&w, block, wedge).x, -960.0 / 53, 1e-11);
    assert_close(little_force_between(&w, block, wedge).y, 1280.0 / 53, 1e-11);
    assert_close(center_of_pressure(&w, block, wedge), 0, 1e-12);
    little_close(&w);
}

/* 07-ladder: the top touches the wall (normal +x), the foot the floor. */
static void ladder_slides(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), wall = little_fixed(&w);
    int ladder = little_body(&w, 1, even(25.0 / 12), vec3_make(1.5, 2, 0));
    little_gravity(&w, vec3_make(0, -10, 0));
    little_contact(&w, ladder, floor, vec3_make(3, 0, 0), up);
    little_contact(&w, ladder, wall, vec3_make(0, 4, 0), vec3_make(1, 0, 0));
    little_solve(&w);
    check_motion(&w, ladder, 3.6, -2.7, 1.8);
    assert_close(w.loads[0].normal, 7.3, 1e-12);
    assert_close(w.loads[1].normal, 3.6, 1e-12);
    assert_true(w.forces.unique && w.loads[0].determined && w.loads[1].determined);
    little_close(&w);
}

/* Beam on three supports at -3, 0, 3 with 20 N at 1 (g = 10, 6 kg): only two conditions for three forces,
 * N1 + N2 + N3 = 80, 3 N3 - 3 N1 = 20.  Least norm: N = 80/3 + s x with s = 20/18: 70/3, 80/3, 30. */
static void beam_on_three_supports(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int s[3] = {little_fixed(&w), little_fixed(&w), little_fixed(&w)};
    int beam = little_body(&w, 6, even(32.5), vec3_make(0, 0.5, 0));
    little_gravity(&w, vec3_make(0, -10, 0));
    little_force(&w, beam, vec3_make(1, 1, 0), vec3_make(0, -20, 0));
    for (int i = 0; i < 3; i++) little_contact(&w, beam, s[i], vec3_make(3.0 * i - 3, 0, 0), up);
    little_solve(&w);
    check_motion(&w, beam, 0, 0, 0);
    assert_close(w.loads[0].normal, 70.0 / 3, 1e-11);
    assert_close(w.loads[1].normal, 80.0 / 3, 1e-11);
    assert_close(w.loads[2].normal, 30, 1e-11);
    for (int i = 0; i < 3; i++) assert_false(w.loads[i].determined);
    little_close(&w);
}

/* 07-arch-abutted: a keystone between two blocks between two walls.  At rest, forces not unique. */
static void arch_stands(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), wall1 = little_fixed(&w), wall2 = little_fixed(&w);
    int left = little_body(&w, 10, even(307.0 / 15), vec3_make(-3.6, 1.6, 0));
    int right = little_body(&w, 10, even(307.0 / 15), vec3_make(3.6, 1.6, 0));
    int key = little_body(&w, 13, even(52.46474358974359), vec3_make(0, 2 + 14.0 / 13, 0));
    little_gravity(&w, vec3_make(0, -10, 0));
    for (int i = 0; i < 2; i++) {
        double s = i ? 1 : -1;
        int block = i ? right : left;
        little_pair(&w, block, floor, s * 5, 0, 0.5, up), little_pair(&w, block, floor, s * 1, 0, 0.5, up);
        little_pair(&w, block, i ? wall2 : wall1, s * 5, 0, 0.5, vec3_make(-s, 0, 0));
        little_pair(&w, block, i ? wall2 : wall1, s * 5, 4, 0.5, vec3_make(-s, 0, 0));
        vec3 n = vec3_make(-s * 0.8, 0.6, 0);
        little_pair(&w, key, block, s * 2.5, 2, 0.5, n), little_pair(&w, key, block, s * 4, 4, 0.5, n);
    }
    little_solve(&w);
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    check_motion(&w, left, 0, 0, 0);
    check_motion(&w, right, 0, 0, 0);
    check_motion(&w, key, 0, 0, 0);
    assert_false(w.forces.unique);
    assert_close(little_force_between(&w, left, floor).y + little_force_between(&w, right, floor).y, 330,
                 1e-10);
    assert_close(little_force_between(&w, left, wall1).x, 65 * 0.8 / 0.6, 1e-10); /* the keystone's thrust */
    little_close(&w);
}

/* The other methods of the kernel give the same accelerations: Lemke and Baraff's heuristic exactly. */
static void other_solvers_agree(void **state) {
    (void)state;
    for (int method = ABUT_LCP_EXACT; method <= ABUT_LCP_LP; method++) {
        little w;
        make_stack(&w, 4, 1.5);
        w.g.method = method;
        little_solve(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        assert_close(w.x[4].linear.y, -300.0 / 47, 1e-9);
        assert_close(w.x[2].angular.z, -120.0 / 47, 1e-9);
        little_close(&w);
    }
}

/* A load so far out that least norm alone would pull at the first support: 80 N at 3 of a weightless beam
 * (nearly) must be carried by N >= 0 only. */
static void least_norm_does_not_pull(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), beam = little_body(&w, 1, even(10), vec3_make(0, 0.5, 0));
    little_force(&w, beam, vec3_make(2.5, 1, 0), vec3_make(0, -60, 0));
    for (int i = 0; i < 3; i++) little_contact(&w, beam, floor, vec3_make(3.0 * i - 3, 0, 0), up);
    little_solve(&w);
    check_motion(&w, beam, 0, 0, 0);
    /* with N1 = 0: N2 + N3 = 60, 3 N3 = 150 */
    assert_close(w.loads[0].normal, 0, 1e-11);
    assert_close(w.loads[1].normal, 10, 1e-11);
    assert_close(w.loads[2].normal, 50, 1e-11);
    little_close(&w);
}

/* A rod of mass 1, length 2 on a pin, horizontal, falling with spin w: alpha = -(3/4) g = -7.5 (I = 4/3 about
 * the pin, torque m g 1), the reaction along the rod is m w^2 and across m g / 4. */
static void pendulum_and_its_reaction(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int rod = little_body(&w, 1, vec3_make(0.001, 1.0 / 3, 1.0 / 3), vec3_make(1, 0, 0));
    w.motions[rod].velocity = (spatial){{0, 3, 0}, {0, 0, 3}};
    little_gravity(&w, vec3_make(0, -10, 0));
    abut_hinge_def def = abut_default_hinge();
    def.kind = ABUT_HINGE_PIN, def.a = rod;
    hinge h;
    int count = little_hinge(&w, &def, &h);
    little_solve(&w);
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    check_motion(&w, rod, -9, -7.5, -7.5);
    vec3 force, torque;
    hinge_reaction(&h, &w.motions[rod], w.rows, w.multipliers, count, &force, &torque);
    assert_close(force.x, -9, 1e-12);
    assert_close(force.y, 2.5, 1e-12);
    assert_close(vec3_length(torque), 0, 1e-12);
    little_close(&w);
}

/* Every kind of hinge between two free bodies with random velocities on its constraint: the reactions do no
 * work, whatever moves. */
static void hinges_do_no_work(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int kind = 0; kind <= ABUT_HINGE_POINT_ON_LINE; kind++) {
        little w;
        little_open(&w);
        for (int i = 0; i < 2; i++) {
            int b = little_body(&w, random_range(&seed, 1, 3), vec3_make(1, 1.5, 2), support_vec(&seed, 1));
            w.motions[b].rotation = support_rotation(&seed);
            w.motions[b].velocity = (spatial){support_vec(&seed, 1), support_vec(&seed, 1)};
            w.wrenches[b] = (spatial){support_vec(&seed, 5), support_vec(&seed, 5)};
        }
        abut_hinge_def def = abut_default_hinge();
        def.kind = (abut_hinge_kind)kind, def.a = 0, def.b = 1, def.pitch = 0.2;
        def.at = support_vec(&seed, 1), def.at_b = support_vec(&seed, 1), def.axis = support_vec(&seed, 1);
        hinge h;
        little_hinge(&w, &def, &h);
        project_result projected;
        assert_int_equal(project_velocities(&w.g, &w.scratch, w.x, &projected, NULL), ABUT_OK);
        assert_int_equal(projected.rank, w.g.row_count);
        for (int i = 0; i < 2; i++) w.motions[i].velocity = w.x[i];
        hinge_rows(&h, &w.motions[0], &w.motions[1], 0, w.rows);
        little_solve(&w);
        spatial reaction[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
        double size = 0, power = 0;
        for (int i = 0; i < w.g.row_count; i++) {
            row_add_wrench(&w.rows[i], w.multipliers[i], reaction);
            size += fabs(w.multipliers[i]);
            assert_close(row_dot(&w.rows[i], w.x) + w.rows[i].drift, 0, 1e-11);
        }
        for (int i = 0; i < 2; i++) power += spatial_dot(reaction[i], w.motions[i].velocity);
        assert_true(size > 0.1);
        assert_close(power, 0, 1e-13 * size * 10);
        little_close(&w);
    }
}

/* A plank held by two welds to the ground (6 redundant rows): solved, not unique, sum right.  Two pins that
 * pull in different directions by motors cannot both be obeyed: least squares, named. */
static void overconstrained_hinges(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int plank = little_body(&w, 2, even(1), vec3_make(0, 0, 0));
    little_gravity(&w, vec3_make(0, -10, 0));
    abut_hinge_def def = abut_default_hinge();
    def.kind = ABUT_HINGE_WELD, def.a = plank;
    hinge h;
    def.at = vec3_make(-1, 0, 0), little_hinge(&w, &def, &h);
    def.at = vec3_make(1, 0, 0), little_hinge(&w, &def, &h);
    little_solve(&w);
    assert_int_equal(w.forces.outcome, FORCES_SOLVED);
    assert_false(w.forces.unique);
    check_motion(&w, plank, 0, 0, 0);
    assert_close(w.multipliers[1] + w.multipliers[7], 20, 1e-11);
    assert_close(w.multipliers[1], 10, 1e-11); /* least norm: half each */

    w.rows[1].acceleration = 1,
    w.rows[7].acceleration = -1; /* up on the left, down on the right: a turn... */
    w.rows[5].acceleration = 0.5, w.rows[11].acceleration = 0.5; /* ...which the locks forbid */
    little_solve(&w);
    assert_int_equal(w.forces.outcome, FORCES_INCONSISTENT);
    assert_true(w.forces.inconsistent_by > 0.1);
    assert_true(vec3_is_finite(w.x[plank].linear) && vec3_is_finite(w.x[plank].angular));
    little_close(&w);
}

/* A kinematic floor that accelerates upwards by 3: a ball on it weighs m (g + 3). */
static void kinematic_floor(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), ball = little_body(&w, 2, even(0.1), vec3_make(0, 1, 0));
    spatial prescribed[2] = {{{0, 3, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
    w.g.prescribed = prescribed;
    little_gravity(&w, vec3_make(0, -10, 0));
    little_contact(&w, ball, floor, vec3_make(0, 0, 0), up);
    little_solve(&w);
    assert_close(w.loads[0].normal, 26, 1e-12);
    check_motion(&w, ball, 0, 3, 0);
    little_close(&w);
}

/* A motor with bounds: 1 kg on a slider with 5 N at most against 10 N of weight: it sinks with 5 m/s^2; with
 * 20 N it follows the wanted acceleration. */
static void bounded_motor(void **state) {
    (void)state;
    little w;
    little_open(&w);
    int load = little_body(&w, 1, even(1), vec3_make(0, 0, 0));
    little_gravity(&w, vec3_make(0, -10, 0));
    abut_hinge_def def = abut_default_hinge();
    def.kind = ABUT_HINGE_SLIDER, def.a = load, def.axis = up, def.has_motor = true, def.motor_max_force = 5;
    hinge h;
    int count = little_hinge(&w, &def, &h);
    double value, rate;
    row c;
    assert_true(hinge_coordinate(&h, &w.motions[load], NULL, 0, &value, &rate, &c));
    w.rows[count] = hinge_motor_row(&c, &h, 0, 0, 0.25), w.g.row_count++;
    little_solve(&w);
    assert_close(w.x[load].linear.y, -5, 1e-12);
    assert_close(w.multipliers[count], 5, 1e-12);
    h.motor_max_force = 20;
    w.rows[count] = hinge_motor_row(&c, &h, 0, 0, 0.25);
    little_solve(&w);
    assert_close(w.x[load].linear.y, 0.25, 1e-12);
    assert_close(w.multipliers[count], 10.25, 1e-12);
    w.rows[count] = hinge_motor_row(&c, &h, hinge_motor_pull(&h, 1, 0, 1e-9), 0,
                                    0.25); /* too fast: full force against the motion */
    little_solve(&w);
    assert_close(w.x[load].linear.y, -30, 1e-12);
    assert_close(w.multipliers[count], -20, 1e-12);
    little_close(&w);
}

/* Random bodies touching in random points with normals: conditions (15) checked from the accelerations. */
static void random_groups_satisfy_the_conditions(void **state) {
    (void)state;
    uint64_t seed = 99;
    for (int trial = 0; trial < 300; trial++) {
        little w;
        little_open(&w);
        int bodies = support_int(&seed, 1, 8), contacts = support_int(&seed, 1, 40);
        int floor = little_fixed(&w);
        for (int i = 0; i < bodies; i++) {
            double mass = trial % 3 == 0 ? 1 : 1e-4 * pow(1e8, random_unit(&seed));
            int b = little_body(&w, mass, vec3_scale(vec3_make(0.4, 0.5, 0.6), mass), support_vec(&seed, 1));
            w.motions[b].rotation = support_rotation(&seed);
            /* at rest a solution always exists; spins that squeeze a body between many points have none */
            if (contacts <= 3) w.motions[b].velocity.angular = support_vec(&seed, 1);
        }
        little_gravity(&w, vec3_make(0, -10, 0));
        for (int i = 0; i < contacts; i++) {
            int a = support_int(&seed, 1, bodies), b = support_int(&seed, 0, bodies);
            if (a == b) b = floor;
            vec3 n = support_direction(&seed);
            n.y = fabs(n.y);
            little_contact(&w, a, b, support_vec(&seed, 1), n);
            if (trial % 4 == 0 && i > 0)
                w.contacts[i].point = w.contacts[i - 1].point, w.contacts[i].a = w.contacts[i - 1].a,
                w.contacts[i].b = w.contacts[i - 1].b;
        }
        little_solve(&w);
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        /* what rounding of the forces to doubles costs: 2^-53 A_ii N_i, up to 1e-8 of g with masses 1e8
         * apart; a solution sums a few of these */
        double rounding = 0, scale = 0;
        for (int i = 0; i < contacts; i++) {
            row r = group_normal_row(&w.g, &w.contacts[i]);
            for (int side = 0; side < 2; side++) {
                int body = side ? r.b : r.a;
                spatial j = side ? r.jb : r.ja,
                        m = body_apply(&w.inertias[body], w.motions[body].rotation, j);
                rounding = fmax(rounding, 1.2e-16 * spatial_dot(j, m) * w.loads[i].normal);
            }
            scale = fmax(scale, 10 + fabs(r.drift));
        }
        assert_true(w.forces.residual * scale < 1e-9 * scale + 16 * rounding);
        for (int i = 0; i < contacts; i++) {
            row r = group_normal_row(&w.g, &w.contacts[i]);
            double acceleration = row_dot(&r, w.x) + r.drift, allowed = 1e-8 * scale + 16 * rounding;
            if (!(w.loads[i].normal >= 0 && acceleration > -allowed))
                fail_msg("trial %d contact %d of %d N %g a %g allowed %g", trial, i, contacts,
                         w.loads[i].normal, acceleration, allowed);
            if (acceleration > allowed) assert_true(w.loads[i].normal == 0);
        }
        little_close(&w);
    }
}

/* Boxes of side 1 on their lower corners, each moved aside from the one below; `from`: without those under
 * it, of which the first is fixed. */
static void add_stack(little *w, int from, int count) {
    uint64_t seed = 11;
    vec3 at = vec3_zero();
    int below = little_fixed(w);
    for (int i = 0; i < count; i++) {
        vec3 aside = support_vec(&seed, 0.1);
        double mass = 1.5 + support_vec(&seed, 1).x;
        at.x += aside.x * (i % 2 ? 1 : -1), at.y += aside.y, at.z = i + 0.5;
        if (i < from) continue;
        int brick = little_body(w, mass, vec3_make(mass / 6, mass / 6, mass / 6), at);
        for (int k = 0; k < 4; k++)
            little_contact(w, brick, below,
                           vec3_add(at, vec3_make(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, -0.5)),
                           vec3_make(0, 0, 1));
        below = brick;
    }
    little_gravity(w, vec3_make(0, 0, -10));
}

/* What a box of a stack carries is what is above it: the upper boxes of a tall stack (least norm over the
 * bodies) have the loads that they have alone (dense), and a box on four corners has loads that are linear
 * over them where none would pull. */
static void tall_stack_carries_its_top(void **state) {
    (void)state;
    enum { TALL = 35, TOP = 20 };
    little tall, top;
    little_open(&tall), little_open(&top);
    add_stack(&tall, 0, TALL);
    add_stack(&top, TALL - TOP, TALL);
    assert_true(tall.g.contact_count > 100 && top.g.contact_count <= 100);
    little_solve(&tall);
    little_solve(&top);
    for (int i = 0; i < 4 * TOP; i++) {
        const contact_load *a = &tall.loads[4 * (TALL - TOP) + i], *b = &top.loads[i];
        assert_close(a->normal, b->normal, 1e-9 * 10 * 2 * TOP);
        assert_int_equal(a->determined, b->determined);
    }
    for (int i = 0; i < TALL; i++) { /* of four corners opposite ones have the same sum */
        const contact_load *l = &tall.loads[4 * i];
        double least = fmin(fmin(l[0].normal, l[1].normal), fmin(l[2].normal, l[3].normal));
        if (least > 0) assert_close(l[0].normal + l[3].normal, l[1].normal + l[2].normal, 1e-8);
        assert_true(least > 0 ? !l[0].determined : true);
    }
    assert_false(tall.forces.unique);
    little_close(&tall), little_close(&top);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tall_stack_carries_its_top),
        cmocka_unit_test(box_with_a_load),
        cmocka_unit_test(stack_of_three_stays),
        cmocka_unit_test(stack_of_four_tips),
        cmocka_unit_test(seesaw_turns),
        cmocka_unit_test(block_on_a_wedge),
        cmocka_unit_test(ladder_slides),
        cmocka_unit_test(beam_on_three_supports),
        cmocka_unit_test(arch_stands),
        cmocka_unit_test(other_solvers_agree),
        cmocka_unit_test(least_norm_does_not_pull),
        cmocka_unit_test(pendulum_and_its_reaction),
        cmocka_unit_test(hinges_do_no_work),
        cmocka_unit_test(overconstrained_hinges),
        cmocka_unit_test(kinematic_floor),
        cmocka_unit_test(bounded_motor),
        cmocka_unit_test(random_groups_satisfy_the_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
