/* Nanoseconds for one evaluation of the accelerations of two Bezier patches in contact, for bench_surface:
 * from contact coordinates and velocities to rates, forces and accelerations, with both patches evaluated
 * (Kry 2000, chapter 4; the thesis: 0.9 ms).  It sees the library's own headers, so it lives with the tests.
 */
#include "dynamics/reduced.h"

#include <time.h>

/* bench_surface.cpp declares the same */
double bench_accelerations(int mode, double milliseconds);

enum { STATES = 64 };

static double cpu_now(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Kry's rattleback, upside down on a patch that is hollow. */
static abut_surface *make_patch(double width, double depth, double height) {
    abut_vec3 points[16];
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            double edge = (i % 3 == 0) + (j % 3 == 0);
            points[4 * j + i] = (abut_vec3){width * (i - 1.5), depth * (j - 1.5), height * (1 - edge)};
        }
    abut_surface *surface = NULL;
    abut_surface_bezier(NULL, points, 1, &surface, NULL);
    return surface;
}

/* mode 0: frictionless, 1: sliding, 2: no slip, 3: no slip and no spin.  -1 where something is wrong. */
double bench_accelerations(int mode, double milliseconds) {
    abut_surface *top = make_patch(0.6, 0.2, 0.2), *floor = make_patch(2, 2, -0.1);
    body_inertia moving, fixed = {0};
    if (!top || !floor || body_inertia_make(5, mat3_diagonal(1, 10, 10), &moving, NULL) != ABUT_OK) return -1;
    reduced_pair pair = {.side = {{.surface = top}, {.surface = floor}},
                         .body = {{.inertia = &moving}, {.inertia = &fixed}},
                         .friction = {0.3, 0.3, 0, 0.01},
                         .mode = mode == 0   ? FRICTION_FREE
                                 : mode == 1 ? FRICTION_SLIP
                                             : FRICTION_STICK,
                         .spinning = mode == 3 ? FRICTION_STICK : FRICTION_FREE,
                         .slip.start = {1, 0, 0},
                         .roll.start = {1, 0, 0},
                         .spin_start = 1};
    pair.body[0].wrench.linear = (vec3){0, 0, -9.81 * 5};
    motion base = {.rotation = {1, 0, 0, 0}};
    mat3 base_rotation = quat_matrix(base.rotation);
    double best = INFINITY, sum = 0;
    for (int round = 0; round < 8; round++) {
        double start = cpu_now(), spent;
        int64_t count = 0;
        do {
            for (int i = 0; i < STATES; i++, count++) {
                double s = 0.3 + 0.4 * i / STATES, t = 0.6 - 0.2 * i / STATES;
                reduced_state state = {.place = {{s, t}, {t, s}},
                                       .psi = {0.8, 0.6},
                                       .velocity = {{0.1, 0.2, 0}, {0.3, -0.2, s}}};
                reduced_placed placed;
                reduced_load load;
                if (!reduced_place(&pair, &state, &base, base_rotation, &placed) ||
                    !reduced_accelerate(&pair, &placed, &base, base_rotation, &load))
                    return -1;
                sum += load.normal + placed.rates[0];
            }
        } while ((spent = cpu_now() - start) < 1e-3 * milliseconds / 8);
        best = fmin(best, 1e9 * spent / (double)count);
    }
    abut_surface_free(NULL, top);
    abut_surface_free(NULL, floor);
    return isfinite(sum) ? best : -1;
}
