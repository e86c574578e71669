/* `abut bench live`, the heaps: a pyramid, a thousand hulls in a bin, 64 tori. */
#include "bench_live.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static void tell_time(const char *scene, const stage *s, int steps) {
    printf("%-26s %d bodies, %d steps: %.3f ms a step\n", scene, s->count, steps, 1e3 * s->seconds / steps);
}

/* 210 unit boxes, 1.05 m apart in each layer, ten seconds. */
static void run_pyramid(void) {
    stage s;
    stage_open(&s);
    abut_shape box = stage_box(&s, 1);
    stage_add_floor(&s);
    for (int row = 0; row < 20; row++)
        for (int i = 0; i < 20 - row; i++) stage_add(&s, box, 1.05 * (i + 0.5 * row - 9.5), 0, row + 0.5);
    stage_start(&s);
    abut_vec3 a = stage_motion(&s, s.count - 1).center;
    stage_steps(&s, 600);
    abut_vec3 b = stage_motion(&s, s.count - 1).center;
    stage_overlap o = stage_measure(&s);
    tell_time("pyramid of base 20", &s, 600);
    figure_print((figure){"pyramid of base 20", "deepest overlap", "mm", 1e3 * o.most, 0.7, "MuJoCo", "0"});
    double drift = sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
    figure_print((figure){"", "drift of the top", "mm", 1e3 * drift, 9.7, "MuJoCo", "0"});
    stage_close(&s);
}

/* Sixteen points on a noisy sphere of radius 0.5, from the generator of the other engines' runs. */
static double draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state / 4294967296.0;
}
static abut_shape make_rock(stage *s, uint32_t *state) {
    abut_vec3 points[16];
    for (int k = 0; k < 16; k++) {
        double z = 2 * draw(state) - 1, phi = 2 * PI * draw(state), r = 0.5 * (0.9 + 0.2 * draw(state));
        double flat = sqrt(1 - z * z);
        points[k] = (abut_vec3){r * flat * cos(phi), r * flat * sin(phi), r * z};
    }
    abut_solid *solid = NULL;
    abut_error error;
    abut_status status = abut_solid_hull(NULL, points, 16, &solid, &error);
    return stage_keep(s, status, solid, &error);
}

static void add_bin(stage *s, double half) {
    const double normals[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    stage_add_floor(s);
    for (int k = 0; k < 4; k++)
        stage_add(s, abut_shape_halfspace((abut_vec3){normals[k][0], normals[k][1], 0}, -half), 0, 0, 0)
            ->fixed = true;
}

static void run_bin(void) {
    stage s;
    uint32_t state = 12345;
    stage_open(&s);
    add_bin(&s, 5);
    for (int i = 0; i < 1000; i++) {
        abut_shape rock = make_rock(&s, &state);
        int layer = i / 64, in = i % 64;
        stage_add(&s, rock, 1.2 * (in % 8 - 3.5) + 0.05 * (layer % 3 - 1),
                  1.2 * (in / 8 - 3.5) + 0.05 * (layer % 2), 1 + 1.2 * layer);
    }
    stage_start(&s);
    stage_steps(&s, 600);
    stage_overlap o = stage_measure(&s);
    tell_time("1,000 hulls in a bin", &s, 600);
    figure_print((figure){"1,000 hulls in a bin", "deepest overlap", "mm", 1e3 * o.most, 49, "ODE", "0"});
    figure_print((figure){"", "mean overlap", "mm", 1e3 * o.mean, 0.55, "MuJoCo", "0"});
    figure_print((figure){"", "kinetic energy left", "J", abut_sim_energy(s.run).kinetic, 0, "Box3D", "0"});
    stage_close(&s);
}

/* ---- tori: solids with dents, as they are */

enum { TORI = 64 };
static const double MAJOR = 0.5, MINOR = 0.2;

static abut_vec3 rotate(abut_quat q, abut_vec3 v) {
    abut_vec3 u = {q.x, q.y, q.z};
    abut_vec3 t = {2 * (u.y * v.z - u.z * v.y), 2 * (u.z * v.x - u.x * v.z), 2 * (u.x * v.y - u.y * v.x)};
    return (abut_vec3){v.x + q.w * t.x + u.y * t.z - u.z * t.y, v.y + q.w * t.y + u.z * t.x - u.x * t.z,
                       v.z + q.w * t.z + u.x * t.y - u.y * t.x};
}

/* A point of B's core circle in A's frame, where A lies in the plane z = 0. */
static abut_vec3 core_point(abut_motion a, abut_motion b, double angle) {
    abut_vec3 x = rotate(b.rotation, (abut_vec3){MAJOR * cos(angle), MAJOR * sin(angle), 0});
    abut_quat back = {a.rotation.w, -a.rotation.x, -a.rotation.y, -a.rotation.z};
    return rotate(back, (abut_vec3){x.x + b.center.x - a.center.x, x.y + b.center.y - a.center.y,
                                    x.z + b.center.z - a.center.z});
}

/* How near B's core comes to A's, and whether it passes through A's ring (an odd number of times). */
static double core_distance(abut_motion a, abut_motion b, bool *linked) {
    enum { SAMPLES = 720 };
    double least = INFINITY;
    int crossings = 0;
    abut_vec3 last = core_point(a, b, 0);
    for (int i = 1; i <= SAMPLES; i++) {
        abut_vec3 x = core_point(a, b, 2 * PI * i / SAMPLES);
        double off = sqrt(x.x * x.x + x.y * x.y) - MAJOR;
        least = fmin(least, sqrt(off * off + x.z * x.z));
        crossings += (x.z > 0) != (last.z > 0) && off < 0;
        last = x;
    }
    *linked = crossings % 2;
    return least;
}

/* 20 x 20 planar quadrangles each: 800 triangles.  Dropped in a bin of 4 x 4 m, four to a layer and turned in
 * different ways.  The overlap is that of the smooth tori around the solids, so at least the solids' own. */
static void run_tori(void) {
    stage s;
    stage_open(&s);
    add_bin(&s, 2.2);
    abut_solid *solid = NULL;
    abut_error error;
    abut_status status = abut_solid_torus(NULL, MAJOR, MINOR, 20, 20, &solid, &error);
    abut_shape torus = stage_keep(&s, status, solid, &error);
    int first = s.count;
    for (int i = 0; i < TORI; i++) {
        int in = i % 4, layer = i / 4;
        abut_body_def *b = stage_add(&s, torus, in % 2 * 1.8 - 0.9 + 0.03 * (layer % 3), in / 2 * 1.8 - 0.9,
                                     1 + 1.5 * layer);
        double angle = 0.4 * (i % 7);
        b->rotation = (abut_quat){cos(angle / 2), sin(angle / 2) * (i % 2), sin(angle / 2) * !(i % 2), 0};
    }
    stage_start(&s);
    stage_steps(&s, 600);
    double deepest = 0;
    int links = 0;
    for (int i = first; i < s.count; i++)
        for (int k = i + 1; k < s.count; k++) {
            bool linked;
            double apart = core_distance(stage_motion(&s, i), stage_motion(&s, k), &linked);
            deepest = fmax(deepest, 2 * MINOR - apart), links += linked;
        }
    tell_time("64 tori of 800 triangles", &s, 600);
    figure_print(
        (figure){"64 tori of 800 triangles", "deepest overlap", "mm", 1e3 * deepest, 342, "ODE", "0"});
    figure_print((figure){"", "pairs linked", "", links, 5, "ODE", "0"});
    figure_print(
        (figure){"", "kinetic energy left", "J", abut_sim_energy(s.run).kinetic, 1400, "Bullet", "0"});
    stage_close(&s);
}

void bench_heaps(void) {
    run_pyramid();
    run_bin();
    run_tori();
}
