/* `abut bench live`, the small scenes: mass ratios, impacts, spin, friction; each has an exact answer. */
#include "bench_live.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* Ten boxes, each twice as heavy as the one below; and 1000 kg on 1 kg.  Ten seconds each. */
static void run_tower(int count, double ratio, const char *scene, double best, const char *whose) {
    stage s;
    double mass = 1, off = 0;
    stage_open(&s);
    abut_shape box = stage_box(&s, 1);
    stage_add_floor(&s);
    for (int i = 0; i < count; i++, mass *= ratio) stage_add(&s, box, 0, 0, i + 0.5)->mass = mass;
    stage_start(&s);
    stage_steps(&s, 600);
    for (int i = 0; i < count; i++) {
        abut_vec3 p = stage_motion(&s, i + 1).center;
        off = fmax(off, fmax(fmax(fabs(p.x), fabs(p.y)), fabs(p.z - i - 0.5)));
    }
    stage_overlap o = stage_measure(&s);
    figure_print((figure){scene, "deepest overlap", "mm", 1e3 * o.most, best, whose, "0"});
    figure_print((figure){"", "farthest from its place", "mm", 1e3 * off, INFINITY, "", "0"});
    stage_close(&s);
}

/* Five balls of diameter 1 in a row, e = 1, the first at 2 m/s: 0 0 0 0 2. */
static void run_cradle(double gap, const char *scene, double best, const char *whose) {
    stage s;
    stage_open(&s);
    s.world.gravity = (abut_vec3){0, 0, 0};
    s.world.material.restitution = 1, s.world.material.friction = (abut_friction){0, 0, 0, 0};
    for (int i = 0; i < 5; i++)
        stage_add(&s, abut_shape_sphere(0.5), i * (1 + gap) - (i == 0), 0, 0)->velocity.x = i == 0 ? 2 : 0;
    stage_start(&s);
    double before = abut_sim_energy(s.run).kinetic, off = 0;
    stage_steps(&s, 120);
    for (int i = 0; i < 5; i++) off = fmax(off, fabs(stage_motion(&s, i).velocity.x - (i == 4 ? 2 : 0)));
    double after = abut_sim_energy(s.run).kinetic;
    figure_print((figure){scene, "largest error of speed", "m/s", off, best, whose, "0"});
    figure_print((figure){"", "change of energy", "%", 100 * fabs(after / before - 1), INFINITY, "", "0"});
    stage_close(&s);
}

/* 9 kg falls two metres on 1 kg that lies on the floor, e = 0: both stop. */
static void run_nine_to_one(void) {
    stage s;
    double up = 0;
    stage_open(&s);
    stage_add_floor(&s);
    stage_add(&s, abut_shape_sphere(0.5), 0, 0, 0.5)->mass = 1;
    stage_add(&s, abut_shape_sphere(0.5), 0, 0, 3.5)->mass = 9;
    stage_start(&s);
    for (int i = 0; i < 120; i++) {
        stage_steps(&s, 1);
        up = fmax(up, fmax(stage_motion(&s, 1).velocity.z, stage_motion(&s, 2).velocity.z));
    }
    figure_print((figure){"9 kg falls on 1 kg, e = 0", "largest upward speed", "m/s", up, 0.30, "ODE", "0"});
    stage_close(&s);
}

/* An ellipsoid of half axes 1, 0.4, 0.3 m whose axes of inertia are turned by 5 degrees about the vertical,
 * spun at 2 rad/s against its will, with a push of 0.3 rad/s about its short level axis.  The exact clock
 * plays the same scene. */
typedef struct reversal {
    double time, end; /* when the spin passes -0.2 rad/s; the spin after 20 s */
} reversal;

static reversal run_rattleback(abut_mode mode) {
    stage s;
    stage_open(&s);
    s.world.mode = mode, s.world.material.friction = (abut_friction){5, 5, 0, 0};
    stage_add_floor(&s);
    double a = 1, b = 0.4, c = 0.3, turn = -5 * PI / 180, x = cos(turn), y = sin(turn);
    double ix = (b * b + c * c) / 5, iy = (a * a + c * c) / 5, iz = (a * a + b * b) / 5;
    abut_body_def *stone = stage_add(&s, abut_shape_ellipsoid(a, b, c), 0, 0, c);
    const double inertia[6] = {x * x * ix + y * y * iy, y * y * ix + x * x * iy, iz, x * y * (ix - iy), 0, 0};
    stone->mass = 1, stone->has_inertia = true, stone->spin = (abut_vec3){0, 0.3, 2};
    for (int i = 0; i < 6; i++) stone->inertia[i] = inertia[i];
    stage_start(&s);
    reversal r = {INFINITY, 0};
    for (int i = 1; i <= 1200 && !s.is_broken; i++) {
        stage_steps(&s, 1);
        if (r.time == INFINITY && stage_motion(&s, 1).spin.z < -0.2) r.time = i / 60.0;
    }
    r.end = stage_motion(&s, 1).spin.z;
    stage_close(&s);
    return r;
}

static void compare_rattlebacks(void) {
    reversal live = run_rattleback(ABUT_LIVE), exact = run_rattleback(ABUT_EXACT);
    printf("%-26s the spin passes -0.2 rad/s at %.2f s (exact clock: %.2f s), ends %.3f (%.3f)\n",
           "rattleback", live.time, exact.time, live.end, exact.end);
    figure_print((figure){"rattleback", "error of the time of reversal", "s", fabs(live.time - exact.time),
                          0.7, "MuJoCo", "0"});
    figure_print(
        (figure){"", "error of the last spin", "rad/s", fabs(live.end - exact.end), 0.6, "ODE", "0"});
}

/* A free body with moments 1, 2, 3 spinning about its middle axis for a minute: it turns over. */
static int count_flips(abut_mode mode, double *drift) {
    stage s;
    stage_open(&s);
    s.world.mode = mode, s.world.gravity = (abut_vec3){0, 0, 0};
    abut_body_def *body = stage_add(&s, stage_box(&s, 0.1), 0, 0, 0);
    body->mass = 1, body->has_inertia = true, body->spin = (abut_vec3){0.01, 3, 0.02};
    for (int i = 0; i < 3; i++) body->inertia[i] = i + 1;
    stage_start(&s);
    double before = abut_sim_energy(s.run).kinetic;
    int flips = 0, side = 1;
    for (int i = 0; i < 3600 && !s.is_broken; i++) {
        stage_steps(&s, 1);
        abut_motion m = stage_motion(&s, 0);
        /* spin along the body's own middle axis */
        abut_quat q = m.rotation;
        abut_vec3 axis = {2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z),
                          2 * (q.y * q.z + q.w * q.x)};
        double along = axis.x * m.spin.x + axis.y * m.spin.y + axis.z * m.spin.z;
        if (along * side < -1.5) flips++, side = -side;
    }
    *drift = 100 * fabs(abut_sim_energy(s.run).kinetic / before - 1);
    stage_close(&s);
    return flips;
}

static void compare_free_bodies(void) {
    double drift, none;
    int live = count_flips(ABUT_LIVE, &drift), exact = count_flips(ABUT_EXACT, &none);
    printf("%-26s turns over %d times in a minute (exact clock: %d)\n", "free body", live, exact);
    figure_print((figure){"free body, 1 2 3, 60 s", "drift of energy", "%", drift, 1e-5, "MuJoCo RK4", "0"});
    figure_print((figure){"", "flips too many or few", "", abs(live - exact), 0, "MuJoCo RK4", "0"});
}

/* A box on 30 degrees for two seconds: sticks at 1.02 tan, slides 196 mm at 0.98 tan. */
static double slide(double factor) {
    stage s;
    double g = 9.81, angle = PI / 6, mu = factor * tan(angle);
    stage_open(&s);
    s.world.gravity = (abut_vec3){g * sin(angle), 0, -g * cos(angle)};
    s.world.material.friction = (abut_friction){mu, mu, 0, 0};
    stage_add_floor(&s);
    stage_add(&s, stage_box(&s, 1), 0, 0, 0.5);
    stage_start(&s);
    stage_steps(&s, 120);
    double x = stage_motion(&s, 1).center.x;
    stage_close(&s);
    return x;
}

static void run_slopes(void) {
    double way = 0.02 * 9.81 * sin(PI / 6) * 2; /* a t^2 / 2 */
    figure_print((figure){"box on 30 degrees", "slip at 1.02 tan", "mm", 1e3 * fabs(slide(1.02)), 0,
                          "Jolt, ODE", "0"});
    figure_print((figure){"", "error of the way at 0.98 tan", "mm", 1e3 * fabs(slide(0.98) - way), 1.6,
                          "Jolt, ODE", "196.2"});
}

void bench_quality(void) {
    run_tower(10, 2, "ten boxes, mass doubling", 49, "MuJoCo");
    run_tower(2, 1000, "1000 kg on 1 kg", 0, "ODE direct");
    run_cradle(0, "cradle, touching", 1.2, "Jolt, Bullet, ODE");
    run_cradle(0.01, "cradle, gaps of 10 mm", 2e-8, "ODE");
    run_nine_to_one();
    compare_rattlebacks();
    compare_free_bodies();
    run_slopes();
}
