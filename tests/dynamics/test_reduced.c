/* Reduced coordinates against the general solver: the same bodies, contact and modes give the same
 * accelerations and forces; and coordinates taken from bodies give the bodies back. */
#include "abut/complementarity.h"
#include "dynamics/forces.h"
#include "dynamics/reduced.h"
#include "support.h"

static uint64_t seed = 3;

static abut_surface *ellipsoid(double a, double b, double c) {
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{a, 0, 0}, {0, b, 0}, {0, 0, c}};
    abut_surface *surface = NULL;
    if (abut_surface_quadric(NULL, &q, &surface, NULL) != ABUT_OK) fail_msg("no surface");
    return surface;
}

static body_inertia some_inertia(double mass) {
    double entries[6] = {0.4 * mass, 0.5 * mass, 0.6 * mass, 0.02 * mass, -0.03 * mass, 0.01 * mass};
    body_inertia out;
    if (body_inertia_make(mass, body_tensor(entries), &out, NULL) != ABUT_OK) fail_msg("no inertia");
    return out;
}

typedef struct trial {
    reduced_pair pair;
    reduced_state state;
    reduced_placed placed;
    motion base, one;
    mat3 base_rotation;
    body_inertia inertia[2];
} trial;

/* Two ellipsoids, or one and a plane, in contact somewhere, moving as the modes allow. */
static void make(trial *t, const abut_surface *s, const abut_surface *u, bool plane, bool both_free,
                 const int modes[3]) {
    *t = (trial){.inertia = {some_inertia(2), both_free ? some_inertia(3) : body_immovable()}};
    vec3 n = support_direction(&seed), x = vec3_orthogonal(n);
    t->pair = (reduced_pair){.side = {{.surface = s, .patch = support_int(&seed, 0, 5)},
                                      {.surface = u, .patch = support_int(&seed, 0, 5)}},
                             .body = {{.inertia = &t->inertia[0]}, {.inertia = &t->inertia[1]}},
                             .friction = {0.7, 0.6, 0.05, 0.03},
                             .mode = (friction_mode)modes[0],
                             .rolling = (friction_mode)modes[1],
                             .spinning = (friction_mode)modes[2]};
    if (plane)
        t->pair.side[1] = (reduced_side){.origin = support_vec(&seed, 1), .frame = {x, vec3_cross(n, x), n}};
    for (int k = 0; k < 2; k++) {
        t->pair.body[k].wrench = (spatial){support_vec(&seed, 5), support_vec(&seed, 1)};
        for (int i = 0; i < 2; i++) t->state.place[k][i] = random_range(&seed, -0.9, 0.9);
    }
    if (!both_free) t->pair.body[1].acceleration = (spatial){support_vec(&seed, 1), support_vec(&seed, 1)};
    double angle = random_range(&seed, 0, 6.28);
    t->state.psi = (rolling_turn){cos(angle), sin(angle)};
    t->state.velocity = (twist){support_vec(&seed, 1), support_vec(&seed, 1)};
    t->base = (motion){
        support_vec(&seed, 2), support_rotation(&seed), {support_vec(&seed, 1), support_vec(&seed, 1)}};
    t->base_rotation = quat_matrix(t->base.rotation);
    assert_true(reduced_place(&t->pair, &t->state, &t->base, t->base_rotation, &t->placed));
    t->one = reduced_motion(&t->placed, quat_identity());
    vec3 w = t->placed.spin, normal = t->placed.normal;
    t->pair.slip.start = vec3_unit(t->placed.slip);
    t->pair.roll.start = vec3_unit(vec3_axpy(w, -vec3_dot(w, normal), normal));
    t->pair.spin_start = vec3_dot(w, normal) < 0 ? -1 : 1;
}

static void close_vec(vec3 a, vec3 b, double tolerance) {
    if (!(vec3_distance(a, b) <= tolerance * (1 + vec3_length(b))))
        fail_msg("(%.15g %.15g %.15g) is not (%.15g %.15g %.15g)", a.x, a.y, a.z, b.x, b.y, b.z);
}

/* The general solver's answer for the same contact, all modes given; false where it sees no pressed contact.
 */
static bool general(const trial *t, const group_scratch *scratch, spatial a[2], contact_load *load) {
    motion motions[2] = {t->one, t->base};
    spatial wrenches[2] = {t->pair.body[0].wrench, t->pair.body[1].wrench},
            prescribed[2] = {{{0, 0, 0}, {0, 0, 0}}, t->pair.body[1].acceleration};
    vec3 n = t->placed.normal, w = t->placed.spin;
    group_contact c = {.a = 0,
                       .b = 1,
                       .point = t->placed.point,
                       .friction = t->pair.friction,
                       .mode = t->pair.mode,
                       .rolling = t->pair.rolling,
                       .spinning = t->pair.spinning,
                       .slip_along = t->pair.slip.start,
                       .roll_along = t->pair.roll.start,
                       .spin_along = vec3_dot(w, n) < 0 ? -1 : 1,
                       .pressed = true};
    group g = {.body_count = 2,
               .motions = motions,
               .inertias = t->inertia,
               .wrenches = wrenches,
               .prescribed = prescribed,
               .contact_count = 1,
               .contacts = &c};
    forces_config config = forces_default_config();
    config.slip_speed = INFINITY;
    forces_result result;
    abut_error error = {0};
    if (forces_solve(&g, &config, scratch, a, load, NULL, &result, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    return result.outcome != FORCES_NO_FINITE_FORCE && load->normal > 1e-6;
}

/* Every mode the thesis names, and rolling that is held. */
static void accelerations_are_those_of_the_general_solver(void **state) {
    (void)state;
    static const int modes[][3] = {{0, 0, 0},
                                   {FRICTION_SLIP, 0, 0},
                                   {FRICTION_SLIP, FRICTION_SLIP, FRICTION_SLIP},
                                   {FRICTION_STICK, 0, 0},
                                   {FRICTION_STICK, FRICTION_SLIP, FRICTION_SLIP},
                                   {FRICTION_STICK, FRICTION_SLIP, FRICTION_STICK},
                                   {FRICTION_STICK, 0, FRICTION_STICK},
                                   {FRICTION_SLIP, FRICTION_STICK, FRICTION_SLIP}};
    abut_surface *s = ellipsoid(0.5, 0.7, 0.6), *u = ellipsoid(0.9, 0.8, 1);
    arena memory;
    arena_init(&memory, NULL);
    group_scratch scratch = {&memory, abut_lcp_solver_create(NULL)};
    int compared = 0;
    for (int i = 0; i < 4000; i++) {
        trial t;
        make(&t, s, u, i & 1, i & 2, modes[i / 4 % COUNT_OF(modes)]);
        reduced_load mine;
        contact_load other;
        spatial a[2];
        arena_mark mark = arena_save(&memory);
        bool pressed = general(&t, &scratch, a, &other);
        arena_restore(&memory, mark);
        if (!reduced_accelerate(&t.pair, &t.placed, &t.base, t.base_rotation, &mine)) continue;
        if (!pressed || mine.normal < 1e-6) continue;
        compared++;
        close_vec(vec3_make(mine.normal, 0, 0), vec3_make(other.normal, 0, 0), 1e-9);
        close_vec(mine.friction, other.friction, 1e-9);
        close_vec(mine.torque, other.torque, 1e-9);
        for (int k = 0; k < (i & 2 ? 2 : 1); k++) {
            close_vec(mine.acceleration[k].linear, a[k].linear, 1e-9);
            close_vec(mine.acceleration[k].angular, a[k].angular, 1e-9);
        }
    }
    assert_true(compared > 1000);
    abut_lcp_solver_destroy(scratch.lcp);
    arena_free(&memory);
    abut_surface_free(NULL, s);
    abut_surface_free(NULL, u);
}

/* Coordinates from the bodies, and the bodies from those: no jump in position, velocity or energy. */
static void coordinates_give_the_bodies_back(void **state) {
    (void)state;
    static const int modes[3] = {FRICTION_SLIP, 0, 0};
    abut_surface *s = ellipsoid(0.5, 0.7, 0.6), *u = ellipsoid(0.9, 0.8, 1);
    for (int i = 0; i < 1000; i++) {
        trial t;
        make(&t, s, u, i & 1, true, modes);
        reduced_state again = {.place = {{t.state.place[0][0], t.state.place[0][1]},
                                         {t.state.place[1][0], t.state.place[1][1]}}};
        reduced_placed placed;
        assert_true(reduced_coordinates(&t.pair, &t.one, &t.base, &again));
        assert_true(reduced_place(&t.pair, &again, &t.base, t.base_rotation, &placed));
        motion m = reduced_motion(&placed, t.one.rotation);
        close_vec(m.center, t.one.center, 1e-14);
        close_vec(m.velocity.linear, t.one.velocity.linear, 1e-14);
        close_vec(m.velocity.angular, t.one.velocity.angular, 1e-14);
        double energy = body_kinetic_energy(&t.inertia[0], &t.one);
        assert_true(fabs(body_kinetic_energy(&t.inertia[0], &m) - energy) <= 1e-13 * energy);
        quat q = m.rotation, r = t.one.rotation;
        assert_true(fabs(q.w - r.w) + fabs(q.x - r.x) + fabs(q.y - r.y) + fabs(q.z - r.z) < 1e-14);
    }
    abut_surface_free(NULL, s);
    abut_surface_free(NULL, u);
}

/* The rates of q move the bodies as their velocities say: central differences of the pose. */
static void rates_are_those_of_the_motion(void **state) {
    (void)state;
    static const int modes[3] = {FRICTION_SLIP, 0, 0};
    abut_surface *s = ellipsoid(0.5, 0.7, 0.6), *u = ellipsoid(0.9, 0.8, 1);
    const double h = 1e-5;
    for (int i = 0; i < 300; i++) {
        trial t;
        make(&t, s, u, i & 1, false, modes);
        t.base.velocity = (twist){{0, 0, 0}, {0, 0, 0}};
        assert_true(reduced_place(&t.pair, &t.state, &t.base, t.base_rotation, &t.placed));
        vec3 center[2];
        for (int k = 0; k < 2; k++) {
            reduced_state moved = t.state;
            double step = k ? h : -h;
            for (int j = 0; j < 4; j++) moved.place[j / 2][j % 2] += step * t.placed.rates[j];
            double turn = step * t.placed.rates[4];
            moved.psi = (rolling_turn){t.state.psi.c * cos(turn) - t.state.psi.s * sin(turn),
                                       t.state.psi.s * cos(turn) + t.state.psi.c * sin(turn)};
            reduced_placed placed;
            assert_true(reduced_place(&t.pair, &moved, &t.base, t.base_rotation, &placed));
            center[k] = placed.motion.center;
        }
        /* h^2 times third derivatives, which grow with the square of the rates */
        double size = 1;
        for (int j = 0; j < 5; j++) size += fabs(t.placed.rates[j]);
        close_vec(vec3_scale(vec3_sub(center[1], center[0]), 0.5 / h), t.placed.motion.velocity.linear,
                  1e-9 * size * size * size);
    }
    abut_surface_free(NULL, s);
    abut_surface_free(NULL, u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_are_those_of_the_general_solver),
        cmocka_unit_test(coordinates_give_the_bodies_back),
        cmocka_unit_test(rates_are_those_of_the_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
