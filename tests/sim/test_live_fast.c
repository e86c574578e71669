/* Small and fast things, thin walls, and bodies that move by themselves: nothing passes through anything. */
#include "live_trial.h"

static double uniform(uint64_t *seed, double low, double high) {
    return low + (high - low) * support_int(seed, 0, 1000000) / 1e6;
}

/* ---- rooms of thin walls */

typedef struct room {
    trial t;
    abut_solid *made[16];
    int solids;
    double half;
} room;

static abut_shape keep(room *r, abut_solid *s) {
    r->made[r->solids++] = s;
    return abut_shape_solid(s);
}

static abut_shape box_of(room *r, double x, double y, double z) {
    abut_solid *s = NULL;
    assert_int_equal(abut_solid_box(NULL, x, y, z, &s, NULL), ABUT_OK);
    return keep(r, s);
}

/* A part of the size a, of any kind. */
static abut_shape part_of(room *r, uint64_t *seed, double a) {
    double b = a * uniform(seed, 0.4, 1), c = a * uniform(seed, 0.1, 0.4);
    const double l[6][2] = {{-a / 2, -b / 2}, {a / 2, -b / 2}, {a / 2, 0},
                            {0, 0},           {0, b / 2},      {-a / 2, b / 2}};
    abut_solid *s = NULL;
    switch (support_int(seed, 0, 6)) {
    case 0: return box_of(r, a, b, c);
    case 1: return abut_shape_sphere(a / 2);
    case 2: return abut_shape_capsule(c, a);
    case 3: return abut_shape_cylinder(a / 2, c);
    case 4: return abut_shape_ellipsoid(a / 2, b / 2, c);
    case 5: assert_int_equal(abut_solid_tetrahedron(NULL, a, &s, NULL), ABUT_OK); return keep(r, s);
    default: assert_int_equal(abut_solid_prism(NULL, l, 6, c, &s, NULL), ABUT_OK); return keep(r, s);
    }
}

static void build(room *r, uint64_t *seed) {
    const double halves[] = {0.2, 0.5, 1}, walls[] = {0.001, 0.002, 0.004, 0.01}, speeds[] = {1, 3, 10, 30};
    double thick = walls[support_int(seed, 0, 3)], speed = speeds[support_int(seed, 0, 3)];
    r->half = halves[support_int(seed, 0, 2)];
    begin(&r->t);
    r->t.world.material.restitution = support_int(seed, 0, 2) * 0.4;
    for (int axis = 0; axis < 3; axis++) {
        double w = 2 * (r->half + thick);
        abut_shape wall = box_of(r, axis == 0 ? thick : w, axis == 1 ? thick : w, axis == 2 ? thick : w);
        for (int side = -1; side < 2; side += 2) {
            double p = side * (r->half + thick / 2);
            add(&r->t, wall, axis == 0 ? p : 0, axis == 1 ? p : 0, axis == 2 ? p : 0)->fixed = true;
        }
    }
    for (int i = 0; i < 3; i++) {
        abut_body_def *b = add(&r->t, part_of(r, seed, uniform(seed, 0.01, 0.05)), 0.08 * (i - 1), 0, 0);
        b->rotation = support_rotation(seed);
        b->velocity = vec3_scale(support_direction(seed), speed), b->spin = support_vec(seed, 20);
    }
    start(&r->t);
}

static void nothing_leaves_a_room(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 200; round++) {
        room r = {.solids = 0};
        build(&r, &seed);
        steps(&r.t, 60);
        for (int i = 6; i < r.t.count; i++) {
            vec3 c = abut_sim_motion(r.t.run, i).center;
            double far = fmax(fabs(c.x), fmax(fabs(c.y), fabs(c.z)));
            if (far > r.half) fail_msg("round %d: body %d is %g m out of the room", round, i, far - r.half);
        }
        finish(&r.t);
        for (int i = 0; i < r.solids; i++) abut_solid_free(NULL, r.made[i]);
    }
}

/* Coins of 2 cm, 2 mm thick, dropped on a tray of 4 mm: 11 of 25 went through. */
static void coins_land_on_a_tray(void **state) {
    (void)state;
    trial t;
    uint64_t seed = 9;
    abut_solid *tray = NULL;
    begin(&t);
    t.world.material.restitution = 0.2;
    assert_int_equal(abut_solid_box(NULL, 3, 3, 0.004, &tray, NULL), ABUT_OK);
    add(&t, abut_shape_solid(tray), 0, 0, 0)->fixed = true;
    for (int i = 0; i < 25; i++) {
        abut_body_def *b =
            add(&t, abut_shape_cylinder(0.01, 0.002), 0.1 * (i % 5 - 2), 0.1 * (i / 5 - 2), 1 + 0.001 * i);
        b->rotation = support_rotation(&seed), b->spin = support_vec(&seed, 20);
    }
    start(&t);
    steps(&t, 90);
    for (int i = 1; i < t.count; i++)
        if (!(abut_sim_motion(t.run, i).center.z > 0)) fail_msg("coin %d is through", i);
    finish(&t);
    abut_solid_free(NULL, tray);
}

/* ---- bodies that move by themselves */

/* A plate of 2 cm at the speed v, which nothing holds up, sends a ball at rest away at (1 + e) v. */
static void bats_hit_balls(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        trial t;
        abut_solid *plate = NULL;
        const double speeds[] = {5, 20, 50, 100};
        double v = speeds[k / 2], e = k % 2 * 0.5;
        begin(&t);
        t.world.gravity = vec3_zero(), t.world.material.restitution = e;
        assert_int_equal(abut_solid_box(NULL, 0.02, 0.5, 0.5, &plate, NULL), ABUT_OK);
        abut_body_def *bat = add(&t, abut_shape_solid(plate), -0.5, 0, 0);
        bat->kinematic = true, bat->velocity.x = v;
        add(&t, abut_shape_sphere(0.05), 0.3, 0, 0);
        start(&t);
        steps(&t, (int)(60 / v) + 4);
        close_to(abut_sim_motion(t.run, 1).velocity.x, (1 + e) * v, 1e-6 * v);
        finish(&t);
        abut_solid_free(NULL, plate);
    }
}

static vec3 struck_by_rotor(double spin, abut_mode mode) {
    trial t;
    abut_solid *arm = NULL;
    begin(&t);
    t.world.mode = mode, t.world.gravity = vec3_zero();
    t.world.material.friction = (abut_friction){0, 0, 0, 0};
    assert_int_equal(abut_solid_box(NULL, 1, 0.03, 0.1, &arm, NULL), ABUT_OK);
    abut_body_def *rotor = add(&t, abut_shape_solid(arm), 0, 0, 0);
    rotor->kinematic = true, rotor->spin.z = spin;
    add(&t, abut_shape_sphere(0.03), 0, 0.45, 0);
    start(&t);
    steps(&t, (int)(60 * 1.5 / spin) + 8);
    vec3 v = abut_sim_motion(t.run, 1).velocity;
    finish(&t);
    abut_solid_free(NULL, arm);
    return v;
}

/* An arm of a metre that turns sends a ball off its end as by the exact clock: to 1 % (a ball that slides
 * along the arm is a sub-step off). */
static void rotors_hit_balls(void **state) {
    (void)state;
    const double spins[] = {2, 5, 20, 60};
    for (int k = 0; k < 4; k++) {
        vec3 live = struck_by_rotor(spins[k], ABUT_LIVE), exact = struck_by_rotor(spins[k], ABUT_EXACT);
        close_to(vec3_distance(live, exact), 0, 0.01 * vec3_length(exact));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_leaves_a_room),
                                       cmocka_unit_test(coins_land_on_a_tray),
                                       cmocka_unit_test(bats_hit_balls), cmocka_unit_test(rotors_hit_balls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
