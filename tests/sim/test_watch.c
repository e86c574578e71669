/* Watches: user events where a function of the motion comes to zero, against closed forms; what is told when
 * it stays there; that nothing else changes by them. */
#include "abut/surface.h"
#include "sim/exact.h"
#include "trial.h"

#include <math.h>

static const double g = 9.81;

static int users(const trial *t) {
    int count = 0;
    for (int i = 0; i < t->event_count; i++) count += t->events[i].kind == ABUT_EVENT_USER;
    return count;
}

/* The only user events are those, at these times. */
static void told(const trial *t, int count, const double *times, double tolerance) {
    if (users(t) != count) fail_msg("%d user events, not %d", users(t), count);
    for (int i = 0; i < count; i++) close_to(nth(t, ABUT_EVENT_USER, i)->time, times[i], tolerance);
}

static void play(trial *t, const char *text, double until) {
    start(t, text);
    advance(t, until);
}

/* ---- zeros of smooth motions */

/* Thrown up with v the ball is highest at v / g; it passes a height h above its start going up and coming
 * down at (v -+ sqrt(v^2 - 2 g h)) / g.  The point is the centre. */
static void a_thrown_ball(void **state) {
    (void)state;
    trial t;
    const double v = 3, h = 0.4, root = sqrt(v * v - 2 * g * h);
    play(&t,
         "body { name = 'ball', shape = sphere {0.1}, velocity = {1, 0, 3} }\n"
         "watch { name = 'apex', 'ball', value = function(t, b) return b.velocity[3] end }\n"
         "watch { name = 'up', 'ball', direction = 'rising', value = function(t, b) return b.position[3] - "
         "0.4 "
         "end }\n"
         "watch { name = 'down', bodies = {'ball'}, direction = 'falling', value = function(t, b) return "
         "b.position[3] - 0.4 end }\n",
         0.7);
    const double times[] = {(v - root) / g, v / g, (v + root) / g};
    told(&t, 3, times, 1e-12);
    const char *const names[] = {"up", "apex", "down"};
    for (int i = 0; i < 3; i++) {
        const abut_event *e = nth(&t, ABUT_EVENT_USER, i);
        assert_string_equal(e->name, names[i]);
        assert_int_equal(e->body[0], 0);
        assert_int_equal(e->body[1], -1);
        close_to(e->point.x, times[i], 1e-12);
        close_to(e->point.z, i == 1 ? v * v / (2 * g) : h, 1e-12);
    }
    finish(&t);
}

/* Going through a height that is missed by a hair: v^2 / 2 g - h = 1e-9 m above it, so that both passages lie
 * within 2 sqrt(2e-9 / g) = 29 microseconds, a thousandth of a frame; and one that is not reached. */
static void two_zeros_close_together(void **state) {
    (void)state;
    trial t;
    char text[600];
    const double v = 3, h = v * v / (2 * g) - 1e-9, half = sqrt(2e-9 / g);
    snprintf(text, sizeof text,
             "body { name = 'ball', shape = sphere {0.1}, velocity = {0, 0, 3} }\n"
             "watch { 'ball', value = function(t, b) return b.position[3] - %.17g end }\n"
             "watch { 'ball', value = function(t, b) return b.position[3] - %.17g end }\n",
             h, h + 2e-9);
    play(&t, text, 0.7);
    /* positions are known to 1e-16 m, and pass h at g half = 1.4e-4 m/s */
    const double times[] = {v / g - half, v / g + half};
    told(&t, 2, times, 1e-11);
    finish(&t);
}

/* The complete elliptic integral of the first kind, by the arithmetic-geometric mean. */
static double elliptic_k(double k) {
    double a = 1, b = sqrt(1 - k * k);
    for (int i = 0; i < 30; i++) {
        double m = (a + b) / 2;
        b = sqrt(a * b), a = m;
    }
    return acos(-1) / (2 * a);
}

/* A mass point on a pin at distance 1, let go at 60 degrees, is lowest at odd quarters of its period
 * 4 K(sin 30) sqrt(l / g); the inertia about its centre adds to l: (m d^2 + I) / (m d). */
static void a_pendulum_passes_its_lowest_point(void **state) {
    (void)state;
    trial t;
    play(&t,
         "local a = math.pi / 3\n"
         "body { name = 'bob', mass = 2, inertia = {0.1, 0.1, 0.1}, position = {math.sin(a), 0, "
         "-math.cos(a)} }\n"
         "hinge.pin { 'bob', at = {0, 0, 0}, axis = {0, 1, 0} }\n"
         "watch { 'bob', value = function(t, b) return b.position[1] end }\n",
         3.2);
    double quarter = elliptic_k(0.5) * sqrt((2 + 0.1) / 2 / g);
    const double times[] = {quarter, 3 * quarter, 5 * quarter};
    told(&t, 3, times, 1e-9);
    finish(&t);
}

/* Two bodies that nothing brings into one group: one falls, the other one flies along x with 2 m/s; they are
 * sqrt((2 t)^2 + (g t^2 / 2)^2) apart. */
static void the_distance_of_two_bodies(void **state) {
    (void)state;
    trial t;
    play(&t,
         "body { name = 'a', shape = sphere {0.1}, position = {0, 0, 5} }\n"
         "body { name = 'b', shape = sphere {0.1}, position = {0, 1, 5}, kinematic = true, velocity = {2, 0, "
         "0} }\n"
         "body { name = 'c', shape = sphere {0.1}, position = {9, 1, 5}, fixed = true }\n"
         "watch { name = 'apart', 'a', 'b', 'c', direction = 'rising', value = function(t, a, b, c)\n"
         "  local d = 0\n"
         "  for i = 1, 3 do d = d + (a.position[i] - b.position[i]) ^ 2 end\n"
         "  return math.sqrt(d) - 2 + c.position[1] - 9\n"
         "end }\n",
         1.5);
    /* 1 + 4 t^2 + (g/2)^2 t^4 = 4 */
    double q = g * g / 4, square = (-4 + sqrt(16 + 12 * q)) / (2 * q);
    const double times[] = {sqrt(square)};
    told(&t, 1, times, 1e-11);
    assert_int_equal(nth(&t, ABUT_EVENT_USER, 0)->body[0], 0);
    assert_int_equal(nth(&t, ABUT_EVENT_USER, 0)->body[1], 1);
    finish(&t);
}

/* ---- impacts and rest */

/* A ball that falls from z = 1.1 and bounces with 1/2: the height 0.6 is passed once downwards, then it rises
 * to 0.1 + 0.25; the velocity comes to zero by the impact itself and at the tops; the gap at every impact, at
 * the time of that. */
static void an_impact_passes_zero(void **state) {
    (void)state;
    trial t;
    play(&t,
         "material { restitution = 0.5 }" FLOOR
         "body { name = 'ball', shape = sphere {0.1}, position = {0, 0, 1.1} }\n"
         "watch { name = 'v', 'ball', direction = 'rising', value = function(t, b) return b.velocity[3] end "
         "}\n"
         "watch { name = 'gap', 'ball', value = function(t, b) return b.position[3] - 0.1 end }\n"
         "watch { name = 'top', 'ball', direction = 'falling', value = function(t, b) return b.velocity[3] "
         "end }\n",
         0.95);
    double fall = sqrt(2 / g), second = fall * 2;
    const double times[] = {fall, fall, 1.5 * fall, second, second};
    told(&t, 5, times, 1e-9);
    assert_string_equal(nth(&t, ABUT_EVENT_USER, 2)->name, "top");
    for (int i = 0; i < 2; i++) { /* the impact comes first, and they have its very time */
        const abut_event *impact = nth(&t, ABUT_EVENT_IMPACT, i);
        const abut_event *e = nth(&t, ABUT_EVENT_USER, 3 * i);
        assert_true(e->time == impact->time && e->sequence > impact->sequence);
    }
    finish(&t);
}

/* A box that comes to rest: it has slid v^2 / (2 mu g) at v / (mu g), where its velocity becomes zero for
 * good: told once.  Its height, which is zero but for rounding all the time, is never told. */
static void what_stays_zero_is_told_once(void **state) {
    (void)state;
    trial t;
    play(&t,
         "material { friction = 0.3 }" FLOOR "body { name = 'box', shape = solid.box {0.3, 0.2, 0.1}, "
         "position = {0, 0, 0.05}, velocity = {2, 0, 0} }\n"
         "watch { 'box', value = function(t, b) return b.velocity[1] end }\n"
         "watch { 'box', value = function(t, b) return 1e6 * b.velocity[2] end }\n"
         "watch { 'box', value = function(t, b) return 0 end }\n",
         2);
    const double times[] = {2 / (0.3 * g)};
    told(&t, 1, times, 1e-9);
    finish(&t);
}

/* A value that starts at zero, exactly or but for rounding, is told when it comes back. */
static void a_start_at_zero(void **state) {
    (void)state;
    trial t;
    play(&t,
         "body { name = 'ball', shape = sphere {0.1}, position = {0, 0, 0.3}, velocity = {0, 0, 2} }\n"
         "watch { 'ball', value = function(t, b) return b.position[3] - 0.3 end }\n"
         "watch { 'ball', value = function(t, b) return b.position[3] - (0.1 + 0.2) end }\n"
         "watch { 'ball', value = function(t, b) return t end }\n",
         0.6);
    const double times[] = {4 / g, 4 / g};
    told(&t, 2, times, 1e-12);
    finish(&t);
}

/* Bodies that sleep do not move, but time goes on. */
static void a_resting_body_is_asked(void **state) {
    (void)state;
    trial t;
    play(&t,
         FLOOR "body { name = 'box', shape = solid.box {1, 1, 1}, position = {0, 0, 0.5} }\n"
               "watch { 'box', 'floor', value = function(t, b) return b.position[3] - t end }\n",
         1);
    const double times[] = {0.5};
    told(&t, 1, times, 1e-12);
    finish(&t);
}

/* Time steps: along straight paths, and late by no more than the error of the steps, g h t / 2 a second in
 * velocity g: h / 2, where h = 1e-3 sqrt(diagonal / g). */
static void time_steps_are_watched(void **state) {
    (void)state;
    trial t;
    start(&t, "body { name = 'ball', shape = sphere {0.1}, position = {0, 0, 1} }\n"
              "watch { 'ball', value = function(t, b) return b.position[3] - 0.5 end }\n");
    run_paces(t.sim->state)[0].steps_left = 1e9;
    advance(&t, 0.5);
    const double times[] = {sqrt(1 / g)};
    told(&t, 1, times, 1e-3 * sqrt(0.2 * sqrt(3) / g));
    finish(&t);
}

/* The live clock: velocities of free flight are right at the ends of steps and linear between them; heights
 * are those of the clock, with a chord instead of an arc: within one step. */
static void the_live_clock_is_watched(void **state) {
    (void)state;
    trial t;
    play(&t,
         "world { mode = 'live' }\nbody { name = 'ball', shape = sphere {0.1}, velocity = {0, 0, 3} }\n"
         "watch { name = 'apex', 'ball', value = function(t, b) return b.velocity[3] end }\n"
         "watch { name = 'down', 'ball', direction = 'falling', value = function(t, b) return b.position[3] "
         "- 0.2 "
         "end }\n",
         0.7);
    assert_int_equal(users(&t), 2);
    close_to(nth(&t, ABUT_EVENT_USER, 0)->time, 3 / g, 1e-12);
    close_to(nth(&t, ABUT_EVENT_USER, 1)->time, (3 + sqrt(9 - 0.4 * g)) / g, 1.0 / 240);
    finish(&t);
}

/* ---- contact coordinates, in C */

static bool line(void *user, double time, const abut_watched *bodies, double *value) {
    (void)time;
    *value = bodies[0].position.x - *(const double *)user;
    return true;
}

typedef struct roll {
    abut_surface *surface;
    abut_body_def bodies[2];
    abut_watch_def watches[8];
    double lines[8];
    abut_world_def world;
} roll;

/* A ball of patches on a slope: x = 5/14 g' t^2. */
static void make_roll(roll *r, int watches) {
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}};
    assert_int_equal(abut_surface_quadric(NULL, &q, &r->surface, NULL), ABUT_OK);
    r->bodies[0] = r->bodies[1] = abut_default_body();
    r->bodies[0].shape = abut_shape_halfspace((vec3){0, 0, 1}, 0), r->bodies[0].fixed = true;
    r->bodies[1].shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = r->surface};
    r->bodies[1].position.z = 0.1;
    r->world = abut_default_world();
    r->world.gravity = (vec3){2, 0, -9};
    r->world.bodies = r->bodies, r->world.body_count = 2;
    r->world.material.friction = (abut_friction){.stick = 0.5, .slide = 0.5};
    for (int i = 0; i < watches; i++) {
        r->lines[i] = 0.1 + 0.17 * i;
        r->watches[i] = abut_default_watch();
        r->watches[i].bodies[0] = 1, r->watches[i].body_count = 1;
        r->watches[i].function = line, r->watches[i].user = &r->lines[i];
    }
    r->world.watches = r->watches, r->world.watch_count = watches;
}

static void roll_to(trial *t, double until) {
    for (int k = (int)(60 * abut_sim_time(t->sim) + 1.5); abut_sim_time(t->sim) < until; k++)
        assert_int_equal(abut_sim_advance(t->sim, fmin(k / 60.0, until), NULL), ABUT_OK);
}

static void start_roll(trial *t, const roll *r) {
    abut_error error = {0};
    *t = (trial){0};
    abut_sim_options options = {.user = t, .event = keep_event};
    if (abut_model_create(NULL, &r->world, &t->model, &error) != ABUT_OK ||
        abut_sim_create(NULL, t->model, &options, &t->sim, &error) != ABUT_OK)
        fail_msg("%s", error.message);
}

/* The lines are crossed at sqrt(14 x / (5 g')); the contact is in reduced coordinates, whose steps go beyond
 * frames.  A run that was restored in the middle of one tells the same events, and the watches change nothing
 * of the motion. */
static void a_ball_rolls_over_lines(void **state) {
    (void)state;
    roll r, plain;
    trial t, again, alone;
    make_roll(&r, 8);
    make_roll(&plain, 0);
    start_roll(&t, &r);
    start_roll(&again, &r);
    start_roll(&alone, &plain);
    roll_to(&t, 0.5);
    size_t size = abut_sim_snapshot_size(t.sim);
    void *block = malloc(size);
    abut_sim_snapshot(t.sim, block);
    int before = t.event_count;
    roll_to(&t, 1.5);
    roll_to(&alone, 1.5);
    assert_int_equal(abut_sim_restore(again.sim, block, size, NULL), ABUT_OK);
    again.event_count = before;
    memcpy(again.events, t.events, sizeof t.events);
    memset(again.events + before, 0, sizeof t.events - (size_t)before * sizeof *t.events);
    roll_to(&again, 1.5);
    double times[8];
    for (int i = 0; i < 8; i++) times[i] = sqrt(14 * r.lines[i] / (5 * 2));
    told(&t, 8, times, 1e-9);
    assert_int_equal(users(&again), 8);
    for (int i = 0; i < 8; i++)
        assert_true(nth(&t, ABUT_EVENT_USER, i)->time == nth(&again, ABUT_EVENT_USER, i)->time);
    assert_true(abut_sim_hash(t.sim) == abut_sim_hash(again.sim));
    assert_true(abut_sim_hash(t.sim) == abut_sim_hash(alone.sim));
    assert_int_equal(nth(&t, ABUT_EVENT_ROLLING_BEGINS, 0)->body[1], 1);
    free(block);
    finish(&t), finish(&again), finish(&alone);
    abut_surface_free(NULL, r.surface), abut_surface_free(NULL, plain.surface);
}

/* ---- state and errors */

static const char two_groups[] =
    "material { restitution = 0.3, friction = 0.4 }" FLOOR
    "body { name = 'a', shape = solid.box {0.2, 0.2, 0.2}, position = {0, 0, 0.3}, spin = {1, 3, 0} }\n"
    "body { name = 'b', shape = sphere {0.1}, position = {3, 0, 0.5}, velocity = {1, 0, 0} }\n";
static const char looks[] =
    "watch { 'a', 'b', value = function(t, a, b) return a.position[3] - b.position[3] + 0.05 end }\n"
    "watch { 'a', value = function(t, a) return a.quaternion[1] - 0.95 end }\n"
    "watch { 'b', value = function(t, b) return b.velocity[3] + 0.5 end }\n";

static void restored_runs_tell_the_same(void **state) {
    (void)state;
    trial whole, part, plain;
    char text[1600];
    snprintf(text, sizeof text, "%s%s", two_groups, looks);
    start(&whole, text), start(&part, text), start(&plain, two_groups);
    advance(&part, 0.25);
    size_t size = abut_sim_snapshot_size(part.sim);
    void *block = malloc(size);
    abut_sim_snapshot(part.sim, block);
    advance(&part, 0.4); /* and back */
    part.event_count = 0;
    assert_int_equal(abut_sim_restore(part.sim, block, size, NULL), ABUT_OK);
    advance(&part, 1);
    advance(&whole, 1), advance(&plain, 1);
    assert_true(abut_sim_hash(whole.sim) == abut_sim_hash(part.sim));
    assert_true(abut_sim_hash(whole.sim) == abut_sim_hash(plain.sim));
    int skipped = whole.event_count - part.event_count;
    assert_true(whole.event_count < 256 && users(&whole) > users(&part) && users(&part) > 2);
    for (int i = 0; i < part.event_count; i++) {
        const abut_event *a = &whole.events[skipped + i], *b = &part.events[i];
        assert_true(a->time == b->time && a->kind == b->kind && a->sequence == b->sequence);
    }
    abut_error error = {0}; /* of a scene without watches */
    assert_int_equal(abut_sim_restore(plain.sim, block, size, &error), ABUT_INVALID);
    free(block);
    finish(&whole), finish(&part), finish(&plain);
}

/* Groups go to threads, watches do not. */
static void threads_tell_the_same(void **state) {
    (void)state;
    trial one;
    char text[1600];
    snprintf(text, sizeof text, "%s%s", two_groups, looks);
    start(&one, text);
    advance(&one, 1);
    abut_workers *pool = abut_workers_create(NULL, 2);
    abut_context context = {0};
    context.parallel = abut_workers_parallel(pool);
    trial two = {0};
    abut_sim_options options = {.user = &two, .event = keep_event};
    assert_int_equal(abut_sim_create(&context, one.model, &options, &two.sim, NULL), ABUT_OK);
    two.scene = one.scene;
    advance(&two, 1);
    assert_int_equal(one.event_count, two.event_count);
    for (int i = 0; i < one.event_count; i++)
        assert_true(one.events[i].time == two.events[i].time && one.events[i].kind == two.events[i].kind);
    assert_true(abut_sim_hash(one.sim) == abut_sim_hash(two.sim));
    abut_sim_free(two.sim);
    abut_workers_destroy(pool);
    finish(&one);
}

/* What is wrong is said with its line and what to do, before the run or when it comes. */
static void wrong_values_are_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
        int line;
    } cases[] = {
        {"watch {\n 'ball',\n value = function(t, b) return 0/0 end }", "finite number", 4},
        {"watch { 'ball',\n value = function(t, b) return nil end }", "is nil at t = 0", 3},
        {"watch { 'ball',\n value = function(t, b)\n return b.positon[1] end }", "nil", 4},
        {"watch { 'ball', value = 3 }", "must be a function", 2},
        {"watch { 'ball' }", "must be a function", 2},
        {"watch { value = function() return 1 end }", "no body", 2},
        {"watch { 'bull', value = function() return 1 end }", "no body `bull`", 2},
        {"watch { 'ball', valeu = function() return 1 end }", "did you mean `value`", 2},
        {"watch { 'ball', value = function() return 1 end, direction = 'up' }", "rising falling", 2},
        {"watch { 'ball', value = function() while true do end end }", "too many instructions", 2},
        {"watch { 'ball',\n value = function(t, b) return t > 0.3 and 1/0 or 1 end }", "finite number", 3},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[400];
        abut_scene *scene = NULL;
        abut_model *model = NULL;
        abut_sim *sim = NULL;
        abut_error error = {0};
        snprintf(text, sizeof text, "body { name = 'ball', shape = sphere {0.1} }\n%s", cases[i].text);
        abut_status status = abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &scene, &error);
        if (status == ABUT_OK) status = abut_model_create(NULL, abut_scene_world(scene), &model, &error);
        if (status == ABUT_OK) status = abut_sim_create(NULL, model, NULL, &sim, &error);
        for (int k = 1; k < 60 && status == ABUT_OK; k++) status = abut_sim_advance(sim, k / 60.0, &error);
        assert_int_not_equal(status, ABUT_OK);
        if (scene && abut_scene_error(scene)) error = *abut_scene_error(scene);
        if (!strstr(error.message, cases[i].words) || error.line != cases[i].line)
            fail_msg("case %d: line %d: %s", i, error.line, error.message);
        abut_sim_free(sim);
        abut_model_free(model);
        abut_scene_free(scene);
    }
}

static abut_status attempt(const abut_context *context, void *user) {
    const roll *r = user;
    abut_model *model = NULL;
    abut_sim *sim = NULL;
    abut_status status = abut_model_create(context, &r->world, &model, NULL);
    if (status == ABUT_OK) status = abut_sim_create(context, model, NULL, &sim, NULL);
    for (int k = 1; k < 4 && status == ABUT_OK; k++) status = abut_sim_advance(sim, k / 60.0, NULL);
    abut_sim_free(sim);
    abut_model_free(model);
    return status;
}

static void memory_may_be_out(void **state) {
    (void)state;
    roll r;
    make_roll(&r, 2);
    r.bodies[1].shape = abut_shape_sphere(0.1); /* a short run */
    r.lines[0] = 1e-4;
    support_fail_each(attempt, &r);
    abut_surface_free(NULL, r.surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thrown_ball),
        cmocka_unit_test(two_zeros_close_together),
        cmocka_unit_test(a_pendulum_passes_its_lowest_point),
        cmocka_unit_test(the_distance_of_two_bodies),
        cmocka_unit_test(an_impact_passes_zero),
        cmocka_unit_test(what_stays_zero_is_told_once),
        cmocka_unit_test(a_start_at_zero),
        cmocka_unit_test(a_resting_body_is_asked),
        cmocka_unit_test(time_steps_are_watched),
        cmocka_unit_test(the_live_clock_is_watched),
        cmocka_unit_test(a_ball_rolls_over_lines),
        cmocka_unit_test(restored_runs_tell_the_same),
        cmocka_unit_test(threads_tell_the_same),
        cmocka_unit_test(wrong_values_are_errors),
        cmocka_unit_test(memory_may_be_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
