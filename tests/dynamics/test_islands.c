/* Islands of a group: what they are, and that bodies which do nothing to each other move as each would by
 * itself, to the last bit. */
#include "dynamics/cones.h"
#include "dynamics/islands.h"
#include "little.h"

/* A tower of boxes over x = `place` on the floor (body 0), the boxes a little aside. */
static void add_tower(little *w, int boxes, double place, uint64_t seed) {
    const double half = 0.1, high = 0.1;
    int first = w->g.body_count;
    for (int i = 0; i < boxes; i++)
        little_body(w, 1, vec3_make(0.004, 0.004, 0.007), vec3_make(place, 0, high * (i + 0.5)));
    for (int i = 0; i < boxes; i++) {
        vec3 aside = support_vec(&seed, 0.02);
        for (int k = 0; k < 4; k++)
            little_contact(w, first + i, i == 0 ? 0 : first + i - 1,
                           vec3_make(place + aside.x + (k & 1 ? half : -half),
                                     aside.y + (k & 2 ? half : -half), high * i),
                           vec3_make(0, 0, 1));
    }
}

enum { TOWERS = 3 };
static const int boxes_of[TOWERS] = {2, 3, 4};

/* Towers first .. first + count - 1, each where it stands and moving as it does among all of them. */
static void make(little *w, int first, int count, double speed) {
    little_open(w);
    little_fixed(w);
    w->friction = (abut_friction){.stick = 0.3, .slide = 0.25}, w->restitution = 0.3;
    for (int t = first; t < first + count; t++) {
        int body = w->g.body_count;
        add_tower(w, boxes_of[t], t, 3 + (uint64_t)t);
        uint64_t seed = 11 + (uint64_t)t;
        for (int i = body; i < w->g.body_count; i++)
            w->motions[i].velocity =
                (twist){vec3_scale(support_vec(&seed, 1), speed), vec3_scale(support_vec(&seed, 1), speed)};
    }
    little_gravity(w, vec3_make(0, 0, -10));
}

static void same_bits(const void *a, const void *b, size_t bytes) { assert_memory_equal(a, b, bytes); }

static void islands_are_what_hangs_together(void **state) {
    (void)state;
    little w;
    islands all;
    make(&w, 0, TOWERS, 0);
    int flying = little_body(&w, 1, vec3_make(1, 1, 1), vec3_make(0, 5, 5));
    assert_true(islands_make(&w.g, &w.memory, &all));
    assert_int_equal(all.count, TOWERS);
    assert_int_equal(all.of[0], -1);
    assert_int_equal(all.of[flying], -1);
    assert_int_equal(all.of[1], 0);
    assert_int_equal(all.of[2], 0);
    assert_int_equal(all.of[3], 1);
    assert_int_equal(all.of[flying - 1], 2);
    /* a point between two towers makes them one */
    little_contact(&w, 1, 3, vec3_make(0.5, 0, 0.05), vec3_make(-1, 0, 0));
    assert_true(islands_make(&w.g, &w.memory, &all));
    assert_int_equal(all.count, TOWERS - 1);
    assert_int_equal(all.of[3], 0);
    little_close(&w);
}

/* Modes, forces and accelerations of towers at rest and of such that slide. */
static void forces_are_those_of_each_alone(void **state) {
    (void)state;
    for (int sliding = 0; sliding < 2; sliding++) {
        little all, one;
        make(&all, 0, TOWERS, 0);
        for (int i = 1; sliding && i < all.g.body_count; i++)
            all.motions[i].velocity.linear = vec3_make(0.1 * i, 0.02, 0);
        little_choose(&all);
        int body = 1, contact = 0;
        for (int t = 0; t < TOWERS; t++) {
            make(&one, t, 1, 0);
            for (int i = 1; i < one.g.body_count; i++) one.motions[i] = all.motions[body + i - 1];
            little_choose(&one);
            same_bits(&all.x[body], &one.x[1], (size_t)boxes_of[t] * sizeof(spatial));
            for (int i = 0; i < one.g.contact_count; i++) {
                assert_int_equal(all.contacts[contact + i].mode, one.contacts[i].mode);
                assert_true(all.loads[contact + i].normal == one.loads[i].normal);
                same_bits(&all.loads[contact + i].friction, &one.loads[i].friction, sizeof(vec3));
            }
            body += boxes_of[t], contact += one.g.contact_count;
            little_close(&one);
        }
        assert_int_equal(all.forces.outcome, FORCES_SOLVED);
        little_close(&all);
    }
}

/* All towers struck at random; then one alone: the others keep their velocities to the last bit and get no
 * impulse. */
static void impacts_stay_on_their_island(void **state) {
    (void)state;
    little all, one;
    make(&all, 0, TOWERS, 0.5);
    little_hit(&all, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0.01);
    int body = 1;
    for (int t = 0; t < TOWERS; t++) {
        make(&one, t, 1, 0.5);
        little_hit(&one, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0.01);
        for (int i = 0; i < boxes_of[t]; i++) {
            /* what is no approach hangs on the largest speed of all: 1e-12 of it */
            assert_true(vec3_distance(all.x[body + i].linear, one.x[1 + i].linear) < 1e-10);
            assert_true(vec3_distance(all.x[body + i].angular, one.x[1 + i].angular) < 1e-9);
        }
        body += boxes_of[t];
        little_close(&one);
    }
    assert_true(all.impact.energy_after <= all.impact.energy_before);
    little_close(&all);

    make(&all, 0, TOWERS, 0);
    all.motions[1 + boxes_of[0]].velocity.linear = vec3_make(0.3, 0, -1);
    little_hit(&all, ABUT_SIMULTANEOUS, ABUT_NEWTON, 0.01);
    for (int i = 1; i < all.g.body_count; i++) {
        bool struck = i > boxes_of[0] && i <= boxes_of[0] + boxes_of[1];
        if (!struck) same_bits(&all.x[i], &all.motions[i].velocity, sizeof(spatial));
    }
    for (int i = 0; i < all.g.contact_count; i++) {
        bool struck = i >= 4 * boxes_of[0] && i < 4 * (boxes_of[0] + boxes_of[1]);
        if (!struck) assert_true(all.impulses[i].normal == 0);
    }
    assert_true(all.impulses[4 * boxes_of[0]].normal + all.impulses[4 * boxes_of[0] + 1].normal +
                    all.impulses[4 * boxes_of[0] + 2].normal + all.impulses[4 * boxes_of[0] + 3].normal >
                0.1);
    little_close(&all);
}

/* A step in time of all of them: velocities of each alone. */
static void steps_are_those_of_each_alone(void **state) {
    (void)state;
    little all, one;
    make(&all, 0, TOWERS, 0.2);
    for (int t = -1, body = 1; t < TOWERS; t++) {
        little *w = t < 0 ? &all : &one;
        if (t >= 0) make(&one, t, 1, 0.2);
        spatial base[LITTLE_BODIES];
        double normals[LITTLE_CONTACTS] = {0}, rows[LITTLE_ROWS] = {0}, residual;
        vec3 frictions[LITTLE_CONTACTS] = {{0, 0, 0}};
        bool found;
        abut_error error;
        group_free_accelerations(&w->g, base);
        for (int i = 0; i < w->g.body_count; i++)
            base[i] = spatial_axpy(w->motions[i].velocity, 1e-3, base[i]);
        system_config build = {.level = SYSTEM_IMPULSES, .base = base};
        assert_int_equal(
            cones_step(&w->g, &build, &w->scratch, w->x, normals, frictions, rows, &found, &residual, &error),
            ABUT_OK);
        assert_true(found);
        if (t < 0) continue;
        same_bits(&all.x[body], &one.x[1], (size_t)boxes_of[t] * sizeof(spatial));
        body += boxes_of[t];
        little_close(&one);
    }
    little_close(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(islands_are_what_hangs_together), cmocka_unit_test(forces_are_those_of_each_alone),
        cmocka_unit_test(impacts_stay_on_their_island), cmocka_unit_test(steps_are_those_of_each_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
