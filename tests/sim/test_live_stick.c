/* Stick and slip of the live clock in batches, where the static coefficient is larger than the other: closed
 * forms, and the exact clock.  Coulomb's law: a contact that sticks resists up to mu_s N, one that slips
 * feels mu_d N against its slip, and where slip ends it sticks again if mu_s N suffices. */
#include "live_trial.h"
#include "sim/live.h"

#define G       9.81
#define SUBSTEP (1.0 / 240)
#define SLOPE   0.5 /* radians */

enum { ROW = 14 };

static void begin_with(trial *t, double stick, double slide) {
    begin(t);
    t->options.direct_rows = 0; /* all by batches */
    t->world.material.friction = (abut_friction){stick, slide, 0, 0};
}

static void lean(trial *t, double angle) { t->world.gravity = vec3_make(G * sin(angle), 0, -G * cos(angle)); }

/* Blocks side by side, which touch: one island, whose rows are too many to be solved directly. */
static void add_row(trial *t, double speed) {
    for (int i = 0; i < ROW; i++) add(t, abut_shape_solid(t->box), 0, i, 0.5)->velocity.x = speed;
}

static void start_batches(trial *t) {
    start(t);
    steps(t, 1);
    assert_int_equal(abut_live_step_times(t->run).direct_islands, 0);
    assert_true(t->run->live->batch_count > 0);
}

static void run_until(trial *t, double time) { steps(t, (int)((time - abut_sim_time(t->run)) * 60 + 0.5)); }

static abut_motion motion_of(const trial *t, int body) { return abut_sim_motion(t->run, body); }

/* ---- slopes */

/* It goes v^2 / 2 g (sin + mu_d cos) up, ahead by h v / 2, and stays there: tan < mu_s, though tan > mu_d. */
static void test_stays_where_it_stops(void **state) {
    (void)state;
    for (double v = 0.5; v < 3; v += 0.17) {
        trial t;
        begin_with(&t, 0.6, 0.3);
        t.options.direct_rows = abut_default_live_options().direct_rows;
        lean(&t, SLOPE);
        add_floor(&t);
        add_row(&t, -v);
        start_batches(&t);
        double a = G * (sin(SLOPE) + 0.3 * cos(SLOPE));
        run_until(&t, 1);
        double stopped[ROW];
        for (int i = 0; i < ROW; i++) {
            stopped[i] = motion_of(&t, 1 + i).center.x;
            close_to(stopped[i], -v * v / (2 * a), SUBSTEP * v / 2 + a * SUBSTEP * SUBSTEP);
        }
        run_until(&t, 3);
        for (int i = 0; i < ROW; i++) close_to(motion_of(&t, 1 + i).center.x, stopped[i], 1e-4);
        finish(&t);
    }
}

/* Below mu_s it holds, whatever mu_d is. */
static void test_holds_below_static(void **state) {
    (void)state;
    for (double slide = 0.1; slide < 0.55; slide += 0.1) {
        trial t;
        begin_with(&t, 1.05 * tan(SLOPE), slide);
        lean(&t, SLOPE);
        add_floor(&t);
        add_row(&t, 0);
        start_batches(&t);
        run_until(&t, 2);
        for (int i = 0; i < ROW; i++) close_to(motion_of(&t, 1 + i).center.x, 0, 1e-3);
        assert_int_equal(t.events[ABUT_EVENT_SLIP], 0);
        finish(&t);
    }
}

/* Above it, it slides with mu_d as soon as it has crept for some sub-steps. */
static void test_slides_above_static(void **state) {
    (void)state;
    for (double slide = 0.1; slide < 0.5; slide += 0.1) {
        trial t;
        begin_with(&t, 0.95 * tan(SLOPE), slide);
        lean(&t, SLOPE);
        add_floor(&t);
        add_row(&t, 0);
        start_batches(&t);
        run_until(&t, 2);
        double a = G * (sin(SLOPE) - slide * cos(SLOPE)), late = 1.5 * LIVE_PATIENCE * SUBSTEP;
        for (int i = 0; i < ROW; i++) {
            close_to(motion_of(&t, 1 + i).velocity.x, a * (2 - late / 2), a * late / 2);
            close_to(motion_of(&t, 1 + i).center.x, a * 2 - a * 2 * late / 2, a * 2 * late / 2);
        }
        finish(&t);
    }
}

/* ---- tables that move */

#define TILT 0.2 /* rad/s */

static bool tilt(void *user, double time, double *out, int count) {
    (void)user, (void)count;
    double a = TILT * time;
    const double m[7] = {0, 0, 0, cos(a / 2), 0, sin(a / 2), 0};
    memcpy(out, m, sizeof m);
    return true;
}

static void add_table(trial *t, abut_time_function *function) {
    abut_body_def *table = add(t, abut_shape_halfspace(vec3_make(0, 0, 1), 0), 0, 0, 0);
    table->kinematic = true, table->motion = function;
}

/* On a table that tilts slowly it holds until tan = mu_s, and then slides as on the exact clock. */
static double slide_on_tilting(bool exact, double *slips) {
    trial t;
    begin_with(&t, 0.5, 0.3);
    if (exact) t.world.mode = ABUT_EXACT;
    add_table(&t, tilt);
    if (exact)
        add(&t, abut_shape_solid(t.box), 0, 0, 0.5);
    else
        add_row(&t, 0);
    start(&t);
    steps(&t, 174); /* 2.9 s */
    double a = TILT * abut_sim_time(t.run);
    abut_motion m = motion_of(&t, 1);
    *slips = t.events[ABUT_EVENT_SLIP] ? t.first[ABUT_EVENT_SLIP].time : INFINITY;
    finish(&t);
    return m.center.x * cos(a) - m.center.z * sin(a);
}

static void test_tilting_table(void **state) {
    (void)state;
    double exact_slips, slips;
    double exact = slide_on_tilting(true, &exact_slips), x = slide_on_tilting(false, &slips);
    close_to(exact_slips, atan(0.5) / TILT, 0.02); /* the centre of mass turns with the table */
    /* it creeps for up to two steps; the event comes at the end of the step in which it is fast enough */
    double creeps = 2.0 / 60;
    close_to(slips, exact_slips, creeps + 2.0 / 60);
    close_to(x, exact, creeps * 2 * exact / (2.9 - exact_slips));
}

/* x = A sin(w t), and Coulomb's law in pieces of 1e-5 s for a box on it. */
#define AMPLITUDE 0.1
#define RATE      8.0

static bool shake(void *user, double time, double *out, int count) {
    (void)user, (void)count;
    const double m[7] = {AMPLITUDE * sin(RATE * time), 0, 0, 1, 0, 0, 0};
    memcpy(out, m, sizeof m);
    return true;
}

static double shaken(double stick, double slide, double until) {
    const double h = 1e-5;
    double x = 0, v = 0, last = 0; /* the slip of the piece before */
    for (int64_t k = 0; k < (int64_t)(until / h + 0.5); k++) {
        double table = AMPLITUDE * RATE * cos(RATE * (double)(k + 1) * h), slip = v - table;
        double mu = last * slip > 0 ? slide : stick; /* it goes on; or it stuck, or turns round */
        bool sticks = fabs(slip) <= mu * G * h;
        v = sticks ? table : v - copysign(mu * G * h, slip);
        last = sticks ? 0 : v - table;
        x += v * h;
    }
    return x;
}

/* Up to mu_d = A w^2 / g = 0.65 it slips in each turn. */
static void test_shaken_table(void **state) {
    (void)state;
    const double pairs[][2] = {{0.7, 0.5}, {0.7, 0.4}, {0.4, 0.35}, {0.5, 0.45}};
    for (int k = 0; k < 4; k++) {
        trial t;
        begin_with(&t, pairs[k][0], pairs[k][1]);
        add_table(&t, shake);
        add_row(&t, 0);
        start_batches(&t);
        for (int n = 1; n <= 4; n++) {
            run_until(&t, 0.5 * n);
            close_to(motion_of(&t, 7).center.x, shaken(pairs[k][0], pairs[k][1], 0.5 * n), 5e-3);
        }
        finish(&t);
    }
}

/* A plate under a stack of three that is pulled away at a, after half a second: above mu_s g they slip, and
 * all three have mu_d g from then on; below, they go with it. */
static double pull;

static bool pull_away(void *user, double time, double *out, int count) {
    (void)user, (void)count;
    double since = fmax(time - 0.5, 0);
    const double m[7] = {pull * since * since / 2, 0, 0, 1, 0, 0, 0};
    memcpy(out, m, sizeof m);
    return true;
}

static void test_stacks_on_pulled_plate(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        trial t;
        abut_solid *slab;
        begin_with(&t, 0.3, 0.15);
        assert_int_equal(abut_solid_box(NULL, 2, 2, 0.5, &slab, NULL), ABUT_OK);
        pull = (k ? 1.2 : 0.75) * 0.3 * G;
        add_table(&t, pull_away);
        for (int i = 0; i < 12; i++) add(&t, abut_shape_solid(slab), 0, i / 3 * 2.5, 0.25 + 0.5 * (i % 3));
        start_batches(&t);
        run_until(&t, 1.5);
        double a = k ? 0.15 * G : pull; /* what sticks has the plate's mean velocity of the sub-step */
        for (int i = 0; i < 12; i++) {
            close_to(motion_of(&t, 1 + i).velocity.x, a, k ? 0.15 * G * 0.04 : a * SUBSTEP);
            if (!k) close_to(motion_of(&t, 1 + i).center.x, a / 2, 1e-3);
        }
        finish(&t);
        abut_solid_free(NULL, slab);
    }
}

/* ---- spin, landing, rolling */

/* A box that spins about the vertical rests on its four corners, r = 1 / sqrt 2 from the middle: the couple
 * is mu_d m g r, and it stops after w I / (mu_d m g r). */
static void test_spins_down(void **state) {
    (void)state;
    trial t;
    begin_with(&t, 0.6, 0.3);
    add_floor(&t);
    for (int i = 0; i < ROW; i++) add(&t, abut_shape_solid(t.box), 0, 2 * i, 0.5)->spin.z = 3;
    start_batches(&t);
    double rate = 6 * 0.3 * G * sqrt(0.5);
    for (int k = 2; k < 14; k++) {
        close_to(motion_of(&t, 1).spin.z, 3 - rate * abut_sim_time(t.run), 0.01);
        steps(&t, 1);
    }
    run_until(&t, 0.3);
    close_to(motion_of(&t, 1).spin.z, 0, 1e-3);
    finish(&t);
}

/* A box that lands while it slides has mu_d of the blow from the first sub-step on. */
static void test_lands_sliding(void **state) {
    (void)state;
    trial t;
    begin_with(&t, 0.6, 0.3);
    add_floor(&t);
    for (int i = 0; i < ROW; i++)
        add(&t, abut_shape_solid(t.box), 0, 2 * i, 0.5 + 1e-4)->velocity = vec3_make(3, 0, -2);
    start_batches(&t);
    close_to(motion_of(&t, 1).velocity.x, 3 - 0.3 * (2 + G / 60), 0.01);
    finish(&t);
}

/* A ball thrown at v without spin slips until it rolls, at 2 v / 7 mu_d g, with 5/7 v. */
static void test_ball_begins_to_roll(void **state) {
    (void)state;
    trial t;
    begin_with(&t, 0.8, 0.2);
    add_floor(&t);
    for (int i = 0; i < ROW; i++) add(&t, abut_shape_sphere(0.5), 0, 2 * i, 0.5)->velocity.x = 3;
    start_batches(&t);
    double rolls = 2 * 3 / (7 * 0.2 * G);
    run_until(&t, 0.35);
    close_to(motion_of(&t, 1).velocity.x, 3 - 0.2 * G * 0.35, 0.01);
    run_until(&t, 2);
    close_to(motion_of(&t, 1).velocity.x, 5.0 / 7 * 3, 0.01);
    close_to(t.first[ABUT_EVENT_STICK].time, rolls, 1.5 / 60);
    finish(&t);
}

/* ---- direct islands: a single box, by the same law */

static void begin_directly(trial *t, double stick, double slide) {
    begin_with(t, stick, slide);
    t->options.direct_rows = abut_default_live_options().direct_rows;
}

/* Slip begins and ends with a sub-step, which costs (mu_s - mu_d) g h of speed each time, for a third of a
 * second. */
static void test_directly_on_shaken_table(void **state) {
    (void)state;
    const double pairs[][2] = {{0.7, 0.5}, {0.6, 0.2}, {0.5, 0.3}, {0.4, 0.35}};
    for (int k = 0; k < 4; k++) {
        trial t;
        begin_directly(&t, pairs[k][0], pairs[k][1]);
        add_table(&t, shake);
        add(&t, abut_shape_solid(t.box), 0, 0, 0.5);
        start(&t);
        for (int n = 1; n <= 6; n++) {
            run_until(&t, 0.5 * n);
            double wanted = shaken(pairs[k][0], pairs[k][1], 0.5 * n);
            close_to(motion_of(&t, 1).center.x, wanted, 2e-3 + (pairs[k][0] - pairs[k][1]) * G * SUBSTEP / 3);
        }
        assert_int_equal(abut_live_step_times(t.run).direct_islands, 1);
        finish(&t);
    }
}

static void test_directly_spins_and_lands(void **state) {
    (void)state;
    trial t;
    begin_directly(&t, 0.6, 0.3);
    add_floor(&t);
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5)->spin.z = 3;
    add(&t, abut_shape_solid(t.box), 0, 3, 0.5 + 1e-4)->velocity = vec3_make(3, 0, -2);
    start(&t);
    for (int k = 0; k < 12; k++) {
        steps(&t, 1);
        close_to(motion_of(&t, 1).spin.z, 3 - 6 * 0.3 * G * sqrt(0.5) * abut_sim_time(t.run), 1e-3);
        close_to(motion_of(&t, 2).velocity.x, 3 - 0.3 * (2 + G * abut_sim_time(t.run)), 1e-3);
    }
    finish(&t);
}

/* ---- events */

typedef struct told {
    double slip[8], stick[8];
    int slips, sticks;
} told;

static bool keep_times(void *user, const abut_event *e) {
    told *all = user;
    if (e->kind == ABUT_EVENT_SLIP && all->slips < 8) all->slip[all->slips++] = e->time;
    if (e->kind == ABUT_EVENT_STICK && all->sticks < 8) all->stick[all->sticks++] = e->time;
    return true;
}

/* A box on a shaken table: when it slips and sticks. */
static told listen(bool exact, int direct_rows, double stick, double slide) {
    trial t;
    told all = {.slips = 0};
    begin_with(&t, stick, slide);
    t.options.direct_rows = direct_rows;
    t.world.mode = exact ? ABUT_EXACT : ABUT_LIVE;
    add_table(&t, shake);
    add(&t, abut_shape_solid(t.box), 0, 0, 0.5);
    t.world.bodies = t.bodies, t.world.body_count = t.count;
    abut_sim_options options = {.user = &all, .event = keep_times};
    assert_int_equal(abut_model_create(&t.context, &t.world, &t.model, NULL), ABUT_OK);
    assert_int_equal(abut_sim_create(&t.context, t.model, &options, &t.run, NULL), ABUT_OK);
    if (!exact) abut_live_set_options(t.run, &t.options);
    steps(&t, 90);
    finish(&t);
    return all;
}

static void compare_clocks(int direct_rows, double stick, double slide) {
    told exact = listen(true, 0, stick, slide), stepped = listen(false, direct_rows, stick, slide);
    assert_true(exact.slips > 2);
    assert_int_equal(stepped.slips, exact.slips);
    assert_int_equal(stepped.sticks, exact.sticks);
    for (int i = 0; i < exact.sticks; i++) close_to(stepped.stick[i], exact.stick[i], 1.0 / 60 + SUBSTEP);
    for (int i = 0; i < exact.slips; i++) close_to(stepped.slip[i], exact.slip[i], 2.0 / 60);
}

/* Events of a step have the time of its end, and batches creep before they slide. */
static void test_events_of_both_clocks(void **state) {
    (void)state;
    int usual = abut_default_live_options().direct_rows;
    compare_clocks(0, 0.55, 0.45);
    compare_clocks(usual, 0.55, 0.45);
    compare_clocks(usual, 0.5, 0.3);
    compare_clocks(usual, 0.6, 0.2);
    compare_clocks(usual, 0.4, 0.35);
}

/* ---- heaps */

/* A heap of boxes and balls that is thrown together; `more`: of their speed along x, which makes another
 * heap.
 */
static uint64_t pile_up(bool scalar, int threads, int restored_after, int count, double more) {
    trial t;
    begin_with(&t, 0.7, 0.4);
    t.world.material.friction.rolling = t.world.material.friction.spinning = 0.02;
    t.options.scalar = scalar, t.options.share_from = 0;
    if (threads > 1) {
        t.workers = abut_workers_create(NULL, threads);
        t.context.parallel = abut_workers_parallel(t.workers);
    }
    add_floor(&t);
    for (int i = 0; i < 60; i++) {
        abut_shape shape = i % 4 ? abut_shape_solid(t.box) : abut_shape_sphere(0.5);
        abut_body_def *b = add(&t, shape, i % 4 * 1.15, i / 4 % 5 * 1.15, 0.6 + i / 20 * 1.2);
        b->velocity = vec3_make(0.1 * (i % 7) - 0.3 + more, 0.1 * (i % 5) - 0.2, 0);
        b->spin = vec3_make(0.2 * (i % 3), 0.3 * (i % 4), 1 - 0.1 * (i % 20));
    }
    start(&t);
    steps(&t, restored_after);
    if (restored_after) {
        size_t size = abut_sim_snapshot_size(t.run);
        void *block = malloc(size);
        abut_sim_snapshot(t.run, block);
        abut_sim_free(t.run);
        assert_int_equal(abut_sim_create_at(&t.context, t.model, NULL, block, size, &t.run, NULL), ABUT_OK);
        abut_live_set_options(t.run, &t.options);
        free(block);
    }
    steps(&t, count - restored_after);
    if (count > 300) {
        int64_t slips = t.events[ABUT_EVENT_SLIP];
        steps(&t, 120);
        assert_int_equal(t.events[ABUT_EVENT_SLIP], slips);
        assert_true(abut_sim_energy(t.run).kinetic < 1e-3);
        assert_true(abut_sim_audit(t.run).promises_kept);
    }
    uint64_t hash = abut_sim_hash(t.run);
    finish(&t);
    return hash;
}

/* It comes to rest, and nothing chatters there: what still creeps may stick, but nothing slips any more. */
static void test_heap_comes_to_rest(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) pile_up(false, 1, 0, 480, 1e-4 * k);
}

static void test_same_bits(void **state) {
    (void)state;
    uint64_t hash = pile_up(false, 1, 0, 90, 0);
    assert_int_equal(pile_up(true, 1, 0, 90, 0), hash);
    assert_int_equal(pile_up(false, 2, 0, 90, 0), hash);
    assert_int_equal(pile_up(false, 1, 21, 90, 0), hash);
    assert_int_equal(pile_up(true, 2, 50, 90, 0), hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stays_where_it_stops),
                                       cmocka_unit_test(test_holds_below_static),
                                       cmocka_unit_test(test_slides_above_static),
                                       cmocka_unit_test(test_tilting_table),
                                       cmocka_unit_test(test_shaken_table),
                                       cmocka_unit_test(test_stacks_on_pulled_plate),
                                       cmocka_unit_test(test_spins_down),
                                       cmocka_unit_test(test_lands_sliding),
                                       cmocka_unit_test(test_ball_begins_to_roll),
                                       cmocka_unit_test(test_directly_on_shaken_table),
                                       cmocka_unit_test(test_directly_spins_and_lands),
                                       cmocka_unit_test(test_events_of_both_clocks),
                                       cmocka_unit_test(test_heap_comes_to_rest),
                                       cmocka_unit_test(test_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
