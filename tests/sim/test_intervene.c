/* Interventions between two advances, in both clocks, against closed forms: velocities that are set, bodies
 * that are put elsewhere, supports that are taken away, impulses, what is refused, and the books. */
#include "abut/live.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
    abut_world_def def;
    abut_body_def bodies[4];
    abut_hinge_def hinge;
    abut_solid *box; /* 1 m, 1000 kg */
    abut_model *model;
    abut_sim *run;
    int events[ABUT_EVENT_KINDS];
    abut_event last;
} world;

static const double G = 10;

static abut_body_def *add(world *w, const char *name, abut_shape shape, double x, double y, double z) {
    abut_body_def *b = &w->bodies[w->def.body_count++];
    *b = abut_default_body();
    b->name = name, b->shape = shape, b->position = vec3_make(x, y, z);
    w->def.bodies = w->bodies;
    return b;
}

static void begin(world *w, abut_mode mode, double restitution) {
    *w = (world){.def = abut_default_world()};
    assert_int_equal(abut_solid_box(NULL, 1, 1, 1, &w->box, NULL), ABUT_OK);
    w->def.gravity = vec3_make(0, 0, -G), w->def.mode = mode;
    w->def.material.restitution = restitution;
    add(w, "floor", abut_shape_halfspace(vec3_make(0, 0, 1), 0), 0, 0, 0)->fixed = true;
}

static bool count_event(void *user, const abut_event *e) {
    ((world *)user)->events[e->kind]++;
    ((world *)user)->last = *e;
    return true;
}

static void start(world *w) {
    abut_error error = {0};
    abut_sim_options options = {.user = w, .event = count_event};
    if (abut_model_create(NULL, &w->def, &w->model, &error) != ABUT_OK) fail_msg("%s", error.message);
    if (abut_sim_create(NULL, w->model, &options, &w->run, &error) != ABUT_OK) fail_msg("%s", error.message);
}

static void finish(world *w, bool kept) {
    abut_audit audit = abut_sim_audit(w->run);
    if (kept && !audit.promises_kept) fail_msg("%s", audit.broken);
    abut_sim_free(w->run);
    abut_model_free(w->model);
    abut_solid_free(NULL, w->box);
}

/* In frames, as a caller does. */
static void advance(world *w, double until) {
    abut_error error = {0};
    while (abut_sim_time(w->run) < until) {
        double next = fmin(until, abut_sim_time(w->run) + 1.0 / 60);
        if (abut_sim_advance(w->run, next, &error) != ABUT_OK) fail_msg("%s", error.message);
    }
}

static void set(world *w, int body, abut_motion m) {
    abut_error error = {0};
    if (abut_sim_set_motions(w->run, 1, &body, &m, &error) != ABUT_OK) fail_msg("%s", error.message);
}

/* ---- the exact clock */

/* z = z0 + v t - g t^2 / 2 from the moment on; the change is work. */
static void a_flight_goes_on_from_the_new_velocity(void **state) {
    (void)state;
    world w;
    begin(&w, ABUT_EXACT, 0);
    add(&w, "ball", abut_shape_sphere(0.1), 0, 0, 5);
    start(&w);
    advance(&w, 0.5);
    abut_motion m = abut_sim_motion(w.run, 1);
    assert_near(m.center.z, 5 - 5 * 0.25, 1e-9);
    double mass = abut_model_body_mass(w.model, 1).mass, before = abut_sim_energy(w.run).work;
    m.velocity = vec3_make(1, 2, 3), m.spin = vec3_make(0, 7, 0);
    double kinetic = abut_sim_energy(w.run).kinetic;
    set(&w, 1, m);
    assert_near(abut_sim_energy(w.run).work - before, abut_sim_energy(w.run).kinetic - kinetic, 1e-9 * mass);
    advance(&w, 1);
    m = abut_sim_motion(w.run, 1);
    assert_near(m.center.x, 0.5, 1e-9);
    assert_near(m.center.y, 1, 1e-9);
    assert_near(m.center.z, 3.75 + 1.5 - 1.25, 1e-9);
    assert_near(m.spin.y, 7, 1e-9);
    assert_int_equal(w.events[ABUT_EVENT_IMPACT], 0);
    finish(&w, true);
}

/* A box that rests flies up at v and is back after 2 v / g; downwards it meets the floor at that instant, and
 * leaves it with e v. */
static void a_resting_box_is_thrown_up_and_down(void **state) {
    (void)state;
    for (int down = 0; down < 2; down++) {
        world w;
        begin(&w, ABUT_EXACT, 0.5);
        add(&w, "box", abut_shape_solid(w.box), 0, 0, 0.5);
        start(&w);
        advance(&w, 0.25);
        abut_motion m = abut_sim_motion(w.run, 1);
        m.velocity.z = down ? -4 : 2; /* both fly at 2 m/s */
        set(&w, 1, m);
        assert_near(abut_sim_motion(w.run, 1).velocity.z, 2, 1e-9);
        assert_int_equal(w.events[ABUT_EVENT_IMPACT] > 0, down);
        assert_int_equal(w.events[ABUT_EVENT_CONTACT_LOST], 1);
        advance(&w, 0.25 + 0.2);
        assert_near(abut_sim_motion(w.run, 1).center.z, 0.5 + 0.2, 1e-7);
        advance(&w, 0.25 + 0.4 + 0.2); /* 0.4 s of flight, then 1 m/s: 0.2 s more */
        assert_near(abut_sim_motion(w.run, 1).center.z, 0.5, 1e-6);
        finish(&w, true);
    }
}

/* Who stood on a body that is taken away falls h, also when it has rested for long. */
static void the_support_is_taken_away(void **state) {
    (void)state;
    for (int mode = ABUT_EXACT; mode <= ABUT_LIVE; mode++) {
        world w;
        begin(&w, (abut_mode)mode, 0);
        add(&w, "lower", abut_shape_solid(w.box), 0, 0, 0.5);
        add(&w, "upper", abut_shape_solid(w.box), 0, 0, 1.5);
        start(&w);
        advance(&w, 2); /* asleep in the live clock */
        abut_motion m = abut_sim_motion(w.run, 1);
        double height = abut_sim_motion(w.run, 2).center.z;
        m.center.x = 5;
        set(&w, 1, m);
        advance(&w, 2.2);
        double fallen = mode == ABUT_LIVE ? 0.02 : 1e-9; /* live: the first steps are of its own length */
        assert_near(abut_sim_motion(w.run, 2).center.z, height - 0.5 * G * 0.04, fallen);
        advance(&w, 3);
        assert_near(abut_sim_motion(w.run, 2).center.z, 0.5, mode == ABUT_LIVE ? 5e-3 : 1e-6);
        assert_near(abut_sim_motion(w.run, 1).center.x, 5, 1e-3);
        finish(&w, true);
    }
}

/* v = J / m, w = I^-1 r x J, in both clocks; the live one wakes who sleeps. */
static void a_strike_moves_and_turns(void **state) {
    (void)state;
    for (int mode = ABUT_EXACT; mode <= ABUT_LIVE; mode++) {
        world w;
        begin(&w, (abut_mode)mode, 0);
        add(&w, "box", abut_shape_solid(w.box), 0, 0, 0.5);
        start(&w);
        advance(&w, 2);
        abut_error error = {0};
        vec3 impulse = {0, 0, 3000}, at = {0.2, 0, 1};
        assert_int_equal(abut_sim_strike(w.run, 1, impulse, at, &error), ABUT_OK);
        abut_motion m = abut_sim_motion(w.run, 1);
        assert_near(m.velocity.z, 3, 1e-6);
        assert_near(m.spin.y, -0.2 * 3000 / (1000.0 / 6), 1e-6); /* I = m a^2 / 6 */
        advance(&w, 2.1);
        assert_true(abut_sim_motion(w.run, 1).center.z > 0.7);
        finish(&w, true);
    }
}

/* A pendulum gets another spin: it rises to w^2 l / (2 g)... here: energy says how fast it is at the bottom
 * and at the height where it turns.  A velocity that the hinge does not allow is closed by an impulse. */
static void hinged_bodies(void **state) {
    (void)state;
    world w;
    begin(&w, ABUT_EXACT, 0);
    abut_body_def *bob = add(&w, "bob", abut_shape_sphere(0.1), 0, 0, 2);
    bob->mass = 1;
    w.hinge = abut_default_hinge();
    w.hinge.kind = ABUT_HINGE_BALL, w.hinge.a = 1, w.hinge.b = -1, w.hinge.at = vec3_make(0, 0, 3);
    w.def.hinges = &w.hinge, w.def.hinge_count = 1;
    start(&w);
    advance(&w, 0.1);
    /* consistent: v = w x r with w about y, r = (0, 0, -1); v + the rest are closed away */
    abut_motion m = abut_sim_motion(w.run, 1);
    m.spin = vec3_make(0, 2, 0), m.velocity = vec3_make(-2, 0, 0.0);
    set(&w, 1, m);
    double inertia = 1 + 0.4 * 0.01, energy = 0.5 * inertia * 4; /* about the hinge */
    assert_near(abut_sim_energy(w.run).kinetic, energy, 1e-9);
    double highest = 0;
    for (double t = 0.1; t < 1; t += 0.01) {
        advance(&w, t);
        highest = fmax(highest, abut_sim_motion(w.run, 1).center.z);
    }
    assert_near(highest, 2 + energy / (1 * G), 1e-4); /* sampled: w t^2 of half a hundredth second */
    m = abut_sim_motion(w.run, 1);
    m.velocity = vec3_scale(vec3_sub(vec3_make(0, 0, 3), m.center), 5); /* along the string */
    m.spin = vec3_zero();
    set(&w, 1, m);
    assert_near(vec3_length(abut_sim_motion(w.run, 1).velocity), 0, 1e-9);
    /* torn apart: refused */
    abut_error error = {0};
    uint64_t hash = abut_sim_hash(w.run);
    m = abut_sim_motion(w.run, 1), m.center.x += 0.1;
    assert_int_equal(abut_sim_set_motions(w.run, 1, &(int){1}, &m, &error), ABUT_INVALID);
    assert_non_null(strstr(error.message, "hinge"));
    assert_true(hash == abut_sim_hash(w.run));
    finish(&w, true);
}

/* ---- what is refused, and bits */

static void refused(world *w, int body, abut_motion m, const char *word) {
    abut_error error = {0};
    uint64_t hash = abut_sim_hash(w->run);
    abut_status status = abut_sim_set_motions(w->run, 1, &body, &m, &error);
    assert_int_equal(status, ABUT_INVALID);
    if (!strstr(error.message, word)) fail_msg("`%s` does not say %s", error.message, word);
    assert_true(hash == abut_sim_hash(w->run));
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    world w;
    begin(&w, ABUT_EXACT, 0);
    add(&w, "box", abut_shape_solid(w.box), 0, 0, 0.5);
    add(&w, "ball", abut_shape_sphere(0.25), 3, 0, 0.25);
    start(&w);
    advance(&w, 0.1);
    abut_motion m = abut_sim_motion(w.run, 2), to = m;
    refused(&w, 0, m, "fixed"), refused(&w, -1, m, "no body"), refused(&w, 3, m, "no body");
    to.center.x = NAN, refused(&w, 2, to, "finite");
    to = m, to.spin.y = INFINITY, refused(&w, 2, to, "finite");
    to = m, to.rotation = (abut_quat){0, 0, 0, 0}, refused(&w, 2, to, "zero");
    to = m, to.center.x = 0.7, refused(&w, 2, to, "overlap");
    to = m, to.center.z = 0.2, refused(&w, 2, to, "overlap");
    /* exactly touching is no overlap, and is a contact */
    to = m, to.center.x = 0.75, to.velocity = to.spin = vec3_zero();
    int made = w.events[ABUT_EVENT_CONTACT_MADE];
    set(&w, 2, to);
    assert_int_equal(w.events[ABUT_EVENT_CONTACT_MADE], made + 2); /* box and floor */
    advance(&w, 1);
    finish(&w, true);
}

/* Two bodies may change places in one call; a snapshot after it goes on with the same bits. */
static void places_are_changed_and_bits_kept(void **state) {
    (void)state;
    world w;
    begin(&w, ABUT_EXACT, 0.3);
    add(&w, "box", abut_shape_solid(w.box), 0, 0, 0.5);
    add(&w, "other", abut_shape_solid(w.box), 3, 0, 0.5);
    start(&w);
    advance(&w, 0.1);
    abut_motion m[2] = {abut_sim_motion(w.run, 2), abut_sim_motion(w.run, 1)};
    m[0].center.z += 0.3, m[0].rotation = (abut_quat){2, 0.2, 0.4, 0}; /* of any length */
    abut_error error = {0};
    assert_int_equal(abut_sim_set_motions(w.run, 2, (int[]){1, 2}, m, &error), ABUT_OK);
    abut_quat q = abut_sim_motion(w.run, 1).rotation;
    assert_near(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-15);
    size_t size = abut_sim_snapshot_size(w.run);
    void *block = malloc(size);
    abut_sim_snapshot(w.run, block);
    advance(&w, 1);
    uint64_t hash = abut_sim_hash(w.run);
    assert_int_equal(abut_sim_restore(w.run, block, size, &error), ABUT_OK);
    advance(&w, 1);
    assert_true(hash == abut_sim_hash(w.run));
    assert_near(abut_sim_motion(w.run, 2).center.x, 0, 1e-9);
    free(block);
    finish(&w, true);
}

/* Events of the caller come in order, with the present time, and are counted; wrong ones are refused. */
static void events_of_ones_own(void **state) {
    (void)state;
    world w;
    begin(&w, ABUT_EXACT, 0);
    add(&w, "ball", abut_shape_sphere(0.1), 0, 0, 5);
    start(&w);
    advance(&w, 0.25);
    abut_error error = {0};
    abut_event e = {.kind = ABUT_EVENT_IMPACT, .body = {1, -1}, .point = {1, 2, 3}, .time = 99};
    assert_int_equal(abut_sim_tell(w.run, &e, &error), ABUT_OK);
    assert_int_equal(w.events[ABUT_EVENT_USER], 1);
    assert_int_equal(w.events[ABUT_EVENT_IMPACT], 0);
    assert_int_equal(abut_sim_event_count(w.run, ABUT_EVENT_USER), 1);
    assert_near(w.last.time, 0.25, 0);
    assert_near(w.last.point.y, 2, 0);
    uint64_t sequence = w.last.sequence;
    advance(&w, 1.5); /* it lands */
    assert_true(w.events[ABUT_EVENT_IMPACT] > 0 && w.last.sequence > sequence);
    e.body[1] = 2;
    assert_int_equal(abut_sim_tell(w.run, &e, &error), ABUT_INVALID);
    e.body[1] = -1, e.impulse.x = NAN;
    assert_int_equal(abut_sim_tell(w.run, &e, &error), ABUT_INVALID);
    assert_int_equal(w.events[ABUT_EVENT_USER], 1);
    finish(&w, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flight_goes_on_from_the_new_velocity),
        cmocka_unit_test(a_resting_box_is_thrown_up_and_down),
        cmocka_unit_test(the_support_is_taken_away),
        cmocka_unit_test(a_strike_moves_and_turns),
        cmocka_unit_test(hinged_bodies),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(places_are_changed_and_bits_kept),
        cmocka_unit_test(events_of_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
