/* Smooth surfaces in the exact clock: they roll over their patches in reduced coordinates, against closed
 * forms and conservation laws. */
#include "abut/sim.h"
#include "abut/surface.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

typedef struct trial {
    abut_surface *surface;
    abut_model *model;
    abut_sim *sim;
    abut_event events[512];
    int event_count;
} trial;

static bool keep_event(void *user, const abut_event *e) {
    trial *t = user;
    if (t->event_count < 512) t->events[t->event_count++] = *e;
    return true;
}

static const abut_event *nth(const trial *t, abut_event_kind kind, int n) {
    for (int i = 0; i < t->event_count; i++)
        if (t->events[i].kind == kind && n-- == 0) return &t->events[i];
    return NULL;
}

static void close_to(double value, double wanted, double tolerance) {
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.15g is not %.15g (tolerance %g)", value, wanted, tolerance);
}

static void begin(trial *t, const abut_body_def *bodies, int count, abut_friction friction,
                  double restitution) {
    abut_world_def world = abut_default_world();
    abut_error error = {0};
    world.bodies = bodies, world.body_count = count;
    world.material.friction = friction, world.material.restitution = restitution;
    if (abut_model_create(NULL, &world, &t->model, &error) != ABUT_OK) fail_msg("%s", error.message);
    abut_sim_options options = {.user = t, .event = keep_event};
    if (abut_sim_create(NULL, t->model, &options, &t->sim, &error) != ABUT_OK) fail_msg("%s", error.message);
}

static void advance(trial *t, double until) {
    abut_error error = {0};
    for (int k = 1; abut_sim_time(t->sim) < until; k++)
        if (abut_sim_advance(t->sim, fmin(k / 60.0, until), &error) != ABUT_OK) fail_msg("%s", error.message);
}

static void end(trial *t) {
    abut_audit a = abut_sim_audit(t->sim);
    if (!a.promises_kept) fail_msg("a promise was broken: %s", a.broken);
    abut_sim_free(t->sim);
    abut_model_free(t->model);
    abut_surface_free(NULL, t->surface);
}

static abut_body_def floor_body(void) {
    abut_body_def floor = abut_default_body();
    floor.name = "floor", floor.fixed = true;
    floor.shape = (abut_shape){.kind = ABUT_SHAPE_HALFSPACE, .normal = {0, 0, 1}};
    return floor;
}

/* A ball of mass 2 and radius 0.1 made of six patches, on the floor. */
enum { BALL = 1 };
static const double radius = 0.1, mass = 2, g = 9.81;
static abut_body_def ball_body(trial *t) {
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{radius, 0, 0}, {0, radius, 0}, {0, 0, radius}};
    if (abut_surface_quadric(NULL, &q, &t->surface, NULL) != ABUT_OK) fail_msg("no surface");
    abut_body_def ball = abut_default_body();
    ball.name = "ball", ball.mass = mass, ball.has_inertia = ball.has_center = true;
    for (int i = 0; i < 3; i++) ball.inertia[i] = 0.4 * mass * radius * radius;
    ball.shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = t->surface};
    ball.position = (vec3){0, 0, radius};
    return ball;
}

/* Slip ends at 2 v / (7 mu g); then it rolls with 5/7 of the speed, over all six patches. */
static void a_ball_of_patches_slides_and_rolls(void **state) {
    (void)state;
    trial t = {0};
    double mu = 0.2, v = 2, until = 3;
    abut_body_def bodies[2] = {floor_body(), ball_body(&t)};
    bodies[1].velocity = (vec3){v, 0, 0};
    bodies[1].rotation = quat_unit((quat){0.8, 0.3, 0.2, -0.4});
    begin(&t, bodies, 2, (abut_friction){mu, mu, 0, 0}, 0);
    advance(&t, until);
    double stick = 2 * v / (7 * mu * g);
    close_to(nth(&t, ABUT_EVENT_STICK, 0)->time, stick, 1e-10);
    abut_motion m = abut_sim_motion(t.sim, BALL);
    close_to(m.center.x, v * stick - mu * g * stick * stick / 2 + 5.0 / 7 * v * (until - stick), 1e-8);
    close_to(m.velocity.x, 5.0 / 7 * v, 1e-9);
    close_to(m.spin.y, 5.0 / 7 * v / radius, 1e-8);
    close_to(m.center.z, radius, 1e-12);
    close_to(m.center.y, 0, 1e-9);
    assert_non_null(nth(&t, ABUT_EVENT_ROLLING_BEGINS, 0));
    assert_null(nth(&t, ABUT_EVENT_ROLLING_ENDS, 0));
    /* 5/7 * 2 m/s * 3 s is seven turns; each crosses at least three borders */
    assert_non_null(nth(&t, ABUT_EVENT_PATCH_CROSSED, 20));
    const abut_contact *contacts;
    assert_int_equal(abut_sim_contacts(t.sim, &contacts), 1);
    assert_int_equal(contacts[0].representation, ABUT_ROLLING);
    close_to(contacts[0].forces[0].z * (contacts[0].body[0] == BALL ? 1 : -1), mass * g, 1e-9);
    end(&t);
}

/* Spinning resistance stops a spin at 0.4 m r^2 w / (mu_s m g). */
static void spin_ends(void **state) {
    (void)state;
    trial t = {0};
    double w = 5, mu = 0.01, stop = 0.4 * radius * radius * w / (mu * g);
    abut_body_def bodies[2] = {floor_body(), ball_body(&t)};
    bodies[1].spin = (vec3){0, 0, w};
    begin(&t, bodies, 2, (abut_friction){0.5, 0.5, 0, mu}, 0);
    advance(&t, 0.5 * stop);
    close_to(abut_sim_motion(t.sim, BALL).spin.z, 0.5 * w, 1e-9);
    advance(&t, 2 * stop);
    close_to(vec3_length(abut_sim_motion(t.sim, BALL).spin), 0, 1e-9);
    close_to(abut_sim_energy(t.sim).dissipated, 0.2 * mass * radius * radius * w * w, 1e-9);
    end(&t);
}

/* Rolling resistance: the torque mu_r m g on (2/5 + 1) m r^2; the ball stops after 1.4 r^2 w / (mu_r g). */
static void rolling_ends_by_resistance(void **state) {
    (void)state;
    trial t = {0};
    double w = 5, mu = 0.01, stop = 1.4 * radius * radius * w / (mu * g);
    abut_body_def bodies[2] = {floor_body(), ball_body(&t)};
    bodies[1].spin = (vec3){0, w, 0};
    bodies[1].velocity = (vec3){w * radius, 0, 0};
    begin(&t, bodies, 2, (abut_friction){0.5, 0.5, mu, 0}, 0);
    advance(&t, 2 * stop);
    abut_motion m = abut_sim_motion(t.sim, BALL);
    close_to(m.center.x, 0.5 * w * radius * stop, 1e-8);
    close_to(vec3_length(m.velocity), 0, 1e-9);
    end(&t);
}

/* The floor sinks faster than the ball can fall: the normal force vanishes at a located instant. */
static bool sinks(void *user, double time, double *out, int count) {
    (void)user;
    (void)count;
    double fall = time > 0.25 ? time - 0.25 : 0;
    out[0] = out[1] = 0, out[2] = -g * fall * fall * fall; /* acceleration 6 g (t - 1/4) passes g */
    out[3] = 1, out[4] = out[5] = out[6] = 0;
    return true;
}
static void the_contact_ends_when_the_normal_force_does(void **state) {
    (void)state;
    trial t = {0};
    abut_body_def bodies[2] = {floor_body(), ball_body(&t)};
    bodies[0].fixed = false, bodies[0].kinematic = true, bodies[0].motion = sinks;
    bodies[1].spin = (vec3){0.3, 0.1, 0.2};
    begin(&t, bodies, 2, (abut_friction){0, 0, 0, 0}, 0);
    advance(&t, 0.6);
    const abut_event *lost = nth(&t, ABUT_EVENT_CONTACT_LOST, 0);
    assert_non_null(lost);
    /* accelerations of kinematic bodies are differences with a step of 1e-3 s */
    close_to(lost->time, 0.25 + 1.0 / 6, 1e-6);
    assert_non_null(nth(&t, ABUT_EVENT_ROLLING_ENDS, 0));
    end(&t);
}

/* Two balls of patches, both free, no gravity: pushed together they roll over each other; momentum and
 * angular momentum stay. */
static void two_free_bodies_keep_their_momentum(void **state) {
    (void)state;
    trial t = {0};
    abut_body_def bodies[2] = {ball_body(&t), abut_default_body()};
    bodies[1] = bodies[0];
    bodies[1].name = "other", bodies[1].mass = 3;
    bodies[0].position = (vec3){0, 0, 0}, bodies[1].position = (vec3){0, 0, 2 * radius};
    bodies[0].spin = (vec3){0.3, 0.2, 0.1}, bodies[1].spin = (vec3){-0.2, 0.4, 0.2};
    begin(&t, bodies, 2, (abut_friction){0, 0, 0, 0}, 0);
    abut_energy before = abut_sim_energy(t.sim);
    advance(&t, 1);
    abut_energy after = abut_sim_energy(t.sim);
    close_to(vec3_distance(before.angular_momentum, after.angular_momentum), 0, 1e-12);
    close_to(after.momentum.x, before.momentum.x, 1e-12);
    end(&t);
}

/* The ball of patches and an analytic ball move alike in a cavity, and over the mantle and the rim of a
 * cylinder that lies there: events to 1e-8 s, places to 1e-7 m, after bounces that magnify differences. */
static void a_ball_of_patches_moves_as_a_ball(void **state) {
    (void)state;
    const abut_shape others[2] = {{.kind = ABUT_SHAPE_CAVITY, .radius = 0.5},
                                  {.kind = ABUT_SHAPE_CYLINDER, .radius = 0.2, .length = 0.3}};
    const vec3 starts[3] = {{0.2, 0.1, -0.1}, {0.03, 0.02, 0.4}, {0.1, 0.19, 0.4}};
    for (int k = 0; k < 3; k++) {
        abut_motion at[2];
        for (int analytic = 0; analytic < 2; analytic++) {
            trial t = {0};
            abut_body_def bodies[2] = {abut_default_body(), ball_body(&t)};
            bodies[0].name = "other", bodies[0].fixed = true, bodies[0].shape = others[k > 0];
            if (k > 0) bodies[0].rotation = quat_unit((quat){1, 1, 0, 0}); /* its axis along y */
            if (analytic) bodies[1].shape = (abut_shape){.kind = ABUT_SHAPE_SPHERE, .radius = radius};
            bodies[1].position = starts[k], bodies[1].spin = (vec3){1, 2, 3};
            begin(&t, bodies, 2, (abut_friction){0.3, 0.3, 0, 0}, k > 0 ? 0.3 : 0);
            advance(&t, 0.6);
            assert_true(abut_sim_event_count(t.sim, ABUT_EVENT_IMPACT) > 0);
            at[analytic] = abut_sim_motion(t.sim, BALL);
            end(&t);
        }
        close_to(vec3_distance(at[0].center, at[1].center), 0, 1e-7);
        close_to(vec3_distance(at[0].velocity, at[1].velocity), 0, 1e-6);
        close_to(vec3_distance(at[0].spin, at[1].spin), 0, 1e-5);
    }
}

/* Steps go beyond frames: a run that is restored at any frame, in the middle of a step, makes the step again
 * and has the same bits ever after; with a frame of any length the motion is the same but for the error of
 * the interpolant. */
static void a_restored_run_has_the_same_bits(void **state) {
    (void)state;
    enum { FRAMES = 120 };
    trial t = {0}, other = {0};
    abut_body_def bodies[2] = {floor_body(), ball_body(&t)};
    bodies[1].velocity = (vec3){1, 0, 0}, bodies[1].spin = (vec3){2, -3, 4};
    abut_friction friction = {0.2, 0.2, 0.001, 0.001};
    begin(&t, bodies, 2, friction, 0);
    void *blocks[FRAMES];
    size_t sizes[FRAMES];
    uint64_t hashes[FRAMES];
    for (int k = 0; k < FRAMES; k++) {
        assert_int_equal(abut_sim_advance(t.sim, (k + 1) / 60.0, NULL), ABUT_OK);
        sizes[k] = abut_sim_snapshot_size(t.sim), blocks[k] = malloc(sizes[k]);
        abut_sim_snapshot(t.sim, blocks[k]);
        hashes[k] = abut_sim_hash(t.sim);
    }
    assert_true(abut_sim_steps(t.sim) < FRAMES);
    for (int k = 0; k < FRAMES; k++) {
        abut_sim *again = NULL;
        assert_int_equal(abut_sim_create_at(NULL, t.model, NULL, blocks[k], sizes[k], &again, NULL), ABUT_OK);
        for (int i = k + 1; i < FRAMES && i < k + 20; i++) {
            assert_int_equal(abut_sim_advance(again, (i + 1) / 60.0, NULL), ABUT_OK);
            assert_true(abut_sim_hash(again) == hashes[i]);
        }
        close_to(abut_sim_audit(again).energy_error, 0, 1e-9);
        abut_sim_free(again);
    }
    assert_int_equal(abut_sim_restore(t.sim, blocks[9], sizes[9], NULL), ABUT_OK);
    assert_int_equal(abut_sim_advance(t.sim, 11 / 60.0, NULL), ABUT_OK);
    assert_true(abut_sim_hash(t.sim) == hashes[10]);
    for (int k = 0; k < FRAMES; k++) free(blocks[k]);
    begin(&other, bodies, 2, friction, 0);
    assert_int_equal(abut_sim_advance(other.sim, 11 / 60.0, NULL), ABUT_OK);
    abut_motion a = abut_sim_motion(t.sim, BALL), b = abut_sim_motion(other.sim, BALL);
    close_to(vec3_distance(a.center, b.center), 0, 1e-9);
    close_to(vec3_distance(a.spin, b.spin), 0, 1e-8);
    end(&other);
    end(&t);
}

/* A second ball comes flying and hits the one that rolls: the step that was made beyond the frame without it
 * is given up.  Momentum along the floor is kept to the last digit by an impact without friction. */
static void a_step_is_given_up_when_somebody_comes(void **state) {
    (void)state;
    trial t = {0};
    abut_body_def bodies[3] = {floor_body(), ball_body(&t), abut_default_body()};
    bodies[1].velocity = (vec3){0.5, 0, 0};
    bodies[2] = bodies[1], bodies[2].name = "other";
    bodies[2].position = (vec3){3, 0, radius}, bodies[2].velocity = (vec3){-2, 0, 0};
    begin(&t, bodies, 3, (abut_friction){0, 0, 0, 0}, 1);
    double meet = (3 - 2 * radius) / 2.5;
    advance(&t, 2);
    close_to(nth(&t, ABUT_EVENT_IMPACT, 0)->time, meet, 1e-9);
    close_to(abut_sim_motion(t.sim, BALL).velocity.x, -2, 1e-12);
    close_to(abut_sim_motion(t.sim, BALL).center.x, 0.5 * meet - 2 * (2 - meet), 1e-8);
    close_to(abut_sim_motion(t.sim, 2).velocity.x, 0.5, 1e-12);
    end(&t);
}

static trial *bowl(const char *cage, double scale) {
    const char *path = support_shared(cage); /* where it is missing, the test ends here */
    trial *t = calloc(1, sizeof *t);
    abut_mesh *mesh = NULL;
    abut_error error = {0};
    abut_loop_options options = abut_default_loop_options();
    options.form = ABUT_LOOP_SMOOTH, options.scale = scale;
    if (abut_mesh_load(NULL, path, &mesh, &error) != ABUT_OK ||
        abut_surface_loop(NULL, mesh, &options, &t->surface, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    abut_mesh_free(NULL, mesh);
    return t;
}

/* Kry 2000, section 6.2: without friction the centre of mass of a bowl moves only up and down; the thesis
 * drifted.  Across S-patches, a minute in the slow program; energy constant to 1e-7. */
static int seconds = 15;
static void a_bowl_without_friction_stays_where_it_is(void **state) {
    (void)state;
    trial *t = bowl("meshes/cage/bowl6_flat.obj", 0.05);
    abut_body_def bodies[2] = {floor_body(), abut_default_body()};
    bodies[1].name = "bowl";
    bodies[1].shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = t->surface};
    bodies[1].position = (vec3){0, 0, 0.08};
    bodies[1].rotation = quat_unit((quat){0.98, 0.15, 0.1, 0});
    bodies[1].spin = (vec3){0, 0, 0.3};
    begin(t, bodies, 2, (abut_friction){0, 0, 0, 0}, 0);
    advance(t, 1);
    assert_non_null(nth(t, ABUT_EVENT_ROLLING_BEGINS, 0));
    abut_energy start = abut_sim_energy(t->sim);
    abut_motion from = abut_sim_motion(t->sim, 1);
    double drift = 0;
    int crossed = (int)abut_sim_event_count(t->sim, ABUT_EVENT_PATCH_CROSSED);
    for (int k = 61; k <= 60 * seconds; k++) {
        abut_error error = {0};
        if (abut_sim_advance(t->sim, k / 60.0, &error) != ABUT_OK) fail_msg("%s", error.message);
        abut_motion m = abut_sim_motion(t->sim, 1);
        drift = fmax(drift, hypot(m.center.x - from.center.x, m.center.y - from.center.y));
    }
    abut_energy now = abut_sim_energy(t->sim);
    print_message("drift %g m, energy %g of what it was, %d borders\n", drift,
                  (now.kinetic + now.potential) / (start.kinetic + start.potential) - 1,
                  (int)abut_sim_event_count(t->sim, ABUT_EVENT_PATCH_CROSSED) - crossed);
    assert_true(abut_sim_event_count(t->sim, ABUT_EVENT_PATCH_CROSSED) - crossed > 10 * (seconds - 1));
    close_to(drift, 0, 1e-9);
    close_to((now.kinetic + now.potential) / (start.kinetic + start.potential), 1, 1e-7);
    end(t);
    free(t);
}

int main(int count, char **arguments) {
    if (count > 0 && strstr(arguments[0], "minute")) seconds = 61;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_of_patches_slides_and_rolls),
        cmocka_unit_test(spin_ends),
        cmocka_unit_test(rolling_ends_by_resistance),
        cmocka_unit_test(the_contact_ends_when_the_normal_force_does),
        cmocka_unit_test(two_free_bodies_keep_their_momentum),
        cmocka_unit_test(a_ball_of_patches_moves_as_a_ball),
        cmocka_unit_test(a_restored_run_has_the_same_bits),
        cmocka_unit_test(a_step_is_given_up_when_somebody_comes),
        cmocka_unit_test(a_bowl_without_friction_stays_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
