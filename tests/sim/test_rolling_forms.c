/* Closed forms of rolling, for smooth surfaces in contact coordinates and for the same bodies as analytic
 * shapes in the general clock: when slip ends, where a ball stops, how it goes round on a turntable. */
#include "abut/sim.h"
#include "abut/surface.h"
#include "support.h"

static const double g = 9.81;

typedef struct roller {
    const char *name;
    abut_shape_kind kind; /* SURFACE: a quadric of these axes */
    vec3 axes;            /* x and z: the radius that rolls; y: half its width */
    double inertia;       /* about y, of m r^2 */
    double speed, spin;   /* along x, about y */
} roller;

typedef struct seen {
    double stick;
    int count;
} seen;

static bool keep_stick(void *user, const abut_event *e) {
    seen *s = user;
    if (e->kind == ABUT_EVENT_STICK && s->count++ == 0) s->stick = e->time;
    return true;
}

static void close_to(const char *what, double value, double wanted, double tolerance) {
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%s: %.15g is not %.15g (tolerance %g)", what, value, wanted, tolerance);
}

static abut_surface *make_quadric(vec3 axes) {
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    abut_surface *surface = NULL;
    q.axes = (mat3){{axes.x, 0, 0}, {0, axes.y, 0}, {0, 0, axes.z}};
    if (abut_surface_quadric(NULL, &q, &surface, NULL) != ABUT_OK) fail_msg("no surface");
    return surface;
}

static abut_shape make_shape(const roller *c, const abut_surface *surface) {
    abut_shape s = {.kind = c->kind, .surface = surface};
    s.radius = c->axes.x, s.axes = c->axes, s.length = 2 * c->axes.y;
    return s;
}

static abut_body_def floor_body(void) {
    abut_body_def floor = abut_default_body();
    floor.name = "floor", floor.fixed = true;
    floor.shape = (abut_shape){.kind = ABUT_SHAPE_HALFSPACE, .normal = {0, 0, 1}};
    return floor;
}

static abut_model *make_model(const abut_body_def *bodies, int count, abut_friction friction) {
    abut_world_def world = abut_default_world();
    abut_model *model = NULL;
    abut_error error = {0};
    world.bodies = bodies, world.body_count = count;
    world.material.friction = friction;
    if (abut_model_create(NULL, &world, &model, &error) != ABUT_OK) fail_msg("%s", error.message);
    return model;
}

static abut_sim *make_sim(const abut_model *model, const abut_sim_options *options) {
    abut_sim *sim = NULL;
    abut_error error = {0};
    if (abut_sim_create(NULL, model, options, &sim, &error) != ABUT_OK) fail_msg("%s", error.message);
    return sim;
}

static void advance(abut_sim *sim, double until) {
    abut_error error = {0};
    for (int k = 1; abut_sim_time(sim) < until; k++)
        if (abut_sim_advance(sim, fmin(k / 60.0, until), &error) != ABUT_OK) fail_msg("%s", error.message);
}

/* Friction mu m g takes mu g a second from the speed, and gives mu g / (k r) to the spin; the slip s = v - w
 * r ends at |s| / (mu g (1 + 1/k)), whichever way it goes. */
static void slide(const roller *c) {
    const double mu = 0.25, mass = 2, r = c->axes.x, until = 1.5;
    abut_surface *surface = c->kind == ABUT_SHAPE_SURFACE ? make_quadric(c->axes) : NULL;
    abut_body_def bodies[2] = {floor_body(), abut_default_body()};
    bodies[1].name = c->name, bodies[1].mass = mass, bodies[1].has_inertia = bodies[1].has_center = true;
    bodies[1].inertia[0] = bodies[1].inertia[2] = 0.6 * mass * (r * r + c->axes.y * c->axes.y);
    bodies[1].inertia[1] = c->inertia * mass * r * r;
    bodies[1].shape = make_shape(c, surface);
    bodies[1].position = (vec3){0, 0, r};
    bodies[1].velocity = (vec3){c->speed, 0, 0}, bodies[1].spin = (vec3){0, c->spin, 0};
    if (c->kind == ABUT_SHAPE_CYLINDER) { /* its axis is z: it lies along y, and its own z is the axis */
        bodies[1].rotation = quat_unit((quat){1, 1, 0, 0});
        bodies[1].inertia[2] = bodies[1].inertia[1], bodies[1].inertia[1] = bodies[1].inertia[0];
    }
    abut_model *model = make_model(bodies, 2, (abut_friction){mu, mu, 0, 0});
    seen s = {0};
    abut_sim_options options = {.user = &s, .event = keep_stick};
    abut_sim *sim = make_sim(model, &options);
    advance(sim, until);
    double slip = c->speed - c->spin * r, time = fabs(slip) / (mu * g * (1 + 1 / c->inertia));
    double sign = slip < 0 ? -1 : 1, end = c->speed - sign * mu * g * time;
    double way = (c->speed + end) / 2 * time + end * (until - time);
    abut_motion m = abut_sim_motion(sim, 1);
    assert_int_equal(s.count, 1);
    close_to(c->name, s.stick, time, 1e-8);
    close_to(c->name, m.center.x, way, 1e-8);
    close_to(c->name, m.velocity.x, end, 1e-8);
    close_to(c->name, m.spin.y * r, end, 1e-8);
    close_to(c->name, m.center.z, r, 1e-9);
    assert_true(abut_sim_audit(sim).promises_kept);
    abut_sim_free(sim);
    abut_model_free(model);
    abut_surface_free(NULL, surface);
}

static void slip_ends_when_it_must(void **state) {
    (void)state;
    static const roller cases[] = {
        {"ball of patches", ABUT_SHAPE_SURFACE, {0.1, 0.1, 0.1}, 0.4, 2, 0},
        {"ball of patches with backspin", ABUT_SHAPE_SURFACE, {0.1, 0.1, 0.1}, 0.4, 1, -15},
        {"ball of patches that spins on the spot", ABUT_SHAPE_SURFACE, {0.1, 0.1, 0.1}, 0.4, 0, 20},
        {"hollow ball of patches", ABUT_SHAPE_SURFACE, {0.1, 0.1, 0.1}, 2.0 / 3, 2, 5},
        {"spheroid of patches on its equator", ABUT_SHAPE_SURFACE, {0.08, 0.15, 0.08}, 0.4, 2, -3},
        {"ball", ABUT_SHAPE_SPHERE, {0.1, 0.1, 0.1}, 0.4, 1, -15},
        {"hollow ball", ABUT_SHAPE_SPHERE, {0.1, 0.1, 0.1}, 2.0 / 3, 2, 5},
        {"ellipsoid on its equator", ABUT_SHAPE_ELLIPSOID, {0.08, 0.15, 0.08}, 0.4, 2, -3},
        {"cylinder", ABUT_SHAPE_CYLINDER, {0.1, 0.2, 0.1}, 0.5, 2, 0},
        {"hoop with backspin", ABUT_SHAPE_CYLINDER, {0.1, 0.2, 0.1}, 1, 1.5, -8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) slide(&cases[i]);
}

/* A ball whose slip points anywhere: u = v + w x (-r z) keeps its direction, and ends at 2 |u| / (7 mu g). */
static void slip_of_a_ball_keeps_its_direction(void **state) {
    (void)state;
    const double mu = 0.3, r = 0.1, mass = 1, until = 1;
    const vec3 v = {1, -0.5, 0}, w = {6, 9, 4};
    abut_surface *surface = make_quadric((vec3){r, r, r});
    abut_body_def bodies[2] = {floor_body(), abut_default_body()};
    bodies[1].name = "ball", bodies[1].mass = mass, bodies[1].has_inertia = bodies[1].has_center = true;
    for (int i = 0; i < 3; i++) bodies[1].inertia[i] = 0.4 * mass * r * r;
    bodies[1].shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface};
    bodies[1].position = (vec3){0, 0, r}, bodies[1].velocity = v, bodies[1].spin = w;
    abut_model *model = make_model(bodies, 2, (abut_friction){mu, mu, 0, 0});
    seen s = {0};
    abut_sim_options options = {.user = &s, .event = keep_stick};
    abut_sim *sim = make_sim(model, &options);
    advance(sim, until);
    vec3 u = vec3_sub(v, vec3_cross(w, (vec3){0, 0, r}));
    double time = 2 * vec3_length(u) / (7 * mu * g);
    vec3 end = vec3_axpy(v, -2.0 / 7, u); /* dv = -mu g t u/|u| */
    vec3 way = vec3_axpy(vec3_scale(vec3_add(v, end), time / 2), until - time, end);
    abut_motion m = abut_sim_motion(sim, 1);
    close_to("oblique slip", s.stick, time, 1e-8);
    close_to("oblique slip", m.center.x, way.x, 1e-8);
    close_to("oblique slip", m.center.y, way.y, 1e-8);
    close_to("spin about the normal", m.spin.z, w.z, 1e-9);
    abut_sim_free(sim);
    abut_model_free(model);
    abut_surface_free(NULL, surface);
}

/* A table turns at W; a ball rolls on it in circles at 2/7 W (inertia 2/5 m r^2), seven turns of the table
 * for two of its own.  Accelerations of kinematic bodies are differences with a step of 1e-3 s, so 1e-6. */
static bool turns(void *user, double time, double *out, int count) {
    double angle = *(const double *)user * time / 2;
    (void)count;
    out[0] = out[1] = out[2] = 0;
    out[3] = cos(angle), out[4] = out[5] = 0, out[6] = sin(angle);
    return true;
}
static void a_ball_goes_round_on_a_turntable(void **state) {
    (void)state;
    double rate = 3;
    const double r = 0.1, mass = 1, period = 7.0 / 2 * 2 * 3.14159265358979323846 / rate;
    abut_surface *surface = make_quadric((vec3){r, r, r});
    abut_body_def bodies[2] = {floor_body(), abut_default_body()};
    bodies[0].fixed = false, bodies[0].kinematic = true, bodies[0].motion = turns;
    bodies[0].motion_user = &rate;
    bodies[1].name = "ball", bodies[1].mass = mass, bodies[1].has_inertia = bodies[1].has_center = true;
    for (int i = 0; i < 3; i++) bodies[1].inertia[i] = 0.4 * mass * r * r;
    bodies[1].shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface};
    vec3 start = {0.4, 0.1, r}, round = {-rate * start.y, rate * start.x, 0}; /* of the table there */
    bodies[1].position = start, bodies[1].velocity = vec3_scale(round, 2.0 / 7);
    /* without slip: v - w x (r z) = round, so w x z = (v - round) / r, w = z x that */
    vec3 a = vec3_scale(round, -5.0 / 7 / r);
    bodies[1].spin = (vec3){-a.y, a.x, 0};
    abut_model *model = make_model(bodies, 2, (abut_friction){1, 1, 0, 0});
    abut_sim *sim = make_sim(model, NULL);
    advance(sim, period / 2);
    abut_motion m = abut_sim_motion(sim, 1);
    close_to("half way round", m.center.x, -start.x, 1e-6);
    close_to("half way round", m.center.y, -start.y, 1e-6);
    advance(sim, period);
    m = abut_sim_motion(sim, 1);
    close_to("once round", m.center.x, start.x, 2e-6);
    close_to("once round", m.center.y, start.y, 2e-6);
    abut_sim_free(sim);
    abut_model_free(model);
    abut_surface_free(NULL, surface);
}

/* A body of patches rocks without slip in a bowl of patches.  It stands on the pole of its axis h; there the
 * radii of curvature are p (body) and R (bowl), and the body turns by k s where the contact goes s far, k =
 * 1/p - 1/R.  So its centre of mass rises by (1/k - h) angle^2 / 2, it turns about the contact, and
 *
 *     w^2 = m g (1/k - h) / (I + m h^2)
 *
 * along each axis of its own (for a ball 5 g / (7 (R - r))).  An angle of 1e-4 changes that by 1e-7 at most.
 */
static void rock(vec3 body_axes, vec3 bowl_axes, bool along_y) {
    const double mass = 0.8, h = body_axes.z, rate = 2e-4;
    abut_quadric bowl_shape = abut_default_quadric(ABUT_PATCH_PARABOLOID);
    bowl_shape.axes = (mat3){{bowl_axes.x, 0, 0}, {0, bowl_axes.y, 0}, {0, 0, bowl_axes.z}};
    abut_surface *surface = make_quadric(body_axes), *bowl = NULL;
    if (abut_surface_quadric(NULL, &bowl_shape, &bowl, NULL) != ABUT_OK) fail_msg("no bowl");
    abut_body_def bodies[2] = {abut_default_body(), abut_default_body()};
    bodies[0].name = "bowl", bodies[0].fixed = true;
    bodies[0].shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = bowl};
    bodies[1].name = "body", bodies[1].mass = mass, bodies[1].has_inertia = bodies[1].has_center = true;
    const double inertia[3] = {0.004, 0.003, 0.005};
    for (int i = 0; i < 3; i++) bodies[1].inertia[i] = inertia[i];
    bodies[1].shape = (abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface};
    bodies[1].position = (vec3){0, 0, h};
    bodies[1].spin = along_y ? (vec3){-rate, 0, 0} : (vec3){0, rate, 0};
    bodies[1].velocity = along_y ? (vec3){0, rate * h, 0} : (vec3){rate * h, 0, 0};
    double a = along_y ? body_axes.y : body_axes.x, b = along_y ? bowl_axes.y : bowl_axes.x;
    double k = h / (a * a) - 2 * bowl_axes.z / (b * b);
    double w = sqrt(mass * g * (1 / k - h) / (inertia[along_y ? 0 : 1] + mass * h * h));
    abut_model *model = make_model(bodies, 2, (abut_friction){1, 1, 0, 0});
    abut_sim *sim = make_sim(model, NULL);
    for (int quarter = 1; quarter <= 8; quarter++) {
        advance(sim, quarter * 3.14159265358979323846 / 2 / w);
        static const double cosines[4] = {1, 0, -1, 0}, sines[4] = {0, 1, 0, -1};
        abut_motion m = abut_sim_motion(sim, 1);
        double angle = rate / w, turned = along_y ? -2 * m.rotation.x : 2 * m.rotation.y;
        close_to("rocking speed", along_y ? -m.spin.x : m.spin.y, rate * cosines[quarter % 4], 1e-6 * rate);
        close_to("rocking angle", turned, angle * sines[quarter % 4], 1e-6 * angle);
    }
    assert_int_equal(abut_sim_event_count(sim, ABUT_EVENT_ROLLING_BEGINS), 1);
    assert_int_equal(abut_sim_event_count(sim, ABUT_EVENT_ROLLING_ENDS), 0);
    assert_true(abut_sim_audit(sim).promises_kept);
    abut_sim_free(sim);
    abut_model_free(model);
    abut_surface_free(NULL, surface);
    abut_surface_free(NULL, bowl);
}

static void a_body_rocks_in_a_bowl(void **state) {
    (void)state;
    for (int axis = 0; axis < 2; axis++) {
        rock((vec3){0.1, 0.1, 0.1}, (vec3){1, 1, 1}, axis);       /* R = 0.5 */
        rock((vec3){0.12, 0.1, 0.07}, (vec3){1, 0.8, 0.6}, axis); /* an ellipsoid in an elliptic bowl */
        rock((vec3){0.1, 0.11, 0.13}, (vec3){0.55, 0.55, 1},
             axis); /* one that stands only because of the bowl */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_body_rocks_in_a_bowl),
                                       cmocka_unit_test(slip_ends_when_it_must),
                                       cmocka_unit_test(slip_of_a_ball_keeps_its_direction),
                                       cmocka_unit_test(a_ball_goes_round_on_a_turntable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
