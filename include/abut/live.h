/* abut/live.h: the live clock: a fixed step, its options and stage times, casts and sensors.
 *
 *     world.mode = ABUT_LIVE, world.step = 1.0 / 60, world.substeps = 4;
 *     abut_model_create(&context, &world, &model, &error);
 *     abut_sim_create(&context, model, NULL, &run, &error);
 *     abut_live_options options = abut_default_live_options();
 *     options.sleep = false;
 *     abut_live_set_options(run, &options);
 *     abut_sim_advance(run, 1.0 / 60, &error);
 *     abut_live_times t = abut_live_step_times(run);
 *     printf("%g ms in the solver\n", 1e3 * t.solve);
 *
 * Workers are those of the context; the bits of a run do not depend on how many there are.
 */
#ifndef ABUT_LIVE_H
#define ABUT_LIVE_H

#include "abut/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_live_options {
    bool sleep;      /* islands that stay still for half a second are no longer moved: true */
    bool scalar;     /* kernels without AVX2 even where the processor has it (same bits): false */
    int direct_rows; /* islands with hinges or unequal masses and at most so many rows are solved exactly: 192
                        (0: none) */
    int sweeps;      /* through all contacts in each sub-step; 0: one, two or three, as loads change: 0 */
    bool nncg;       /* conjugate gradients over these sweeps, where there are several: false */
    double share_from; /* seconds: a stage that took less in the last step is not worth waking workers for:
                          1e-4 */
} abut_live_options;
ABUT_API abut_live_options abut_default_live_options(void);
/* Nothing when the run is not on the live clock. */
ABUT_API void abut_live_set_options(abut_sim *run, const abut_live_options *options);

/* Seconds of the last step, stage by stage, and what it worked on. */
typedef struct abut_live_times {
    double forces, broad, narrow, islands, color, prepare, solve, store, report, total;
    int pairs, manifolds, points, islands_awake, direct_islands, colors, batches, recycled;
    int sweeps; /* through all contacts in each sub-step: more where loads change */
} abut_live_times;
ABUT_API abut_live_times abut_live_step_times(const abut_sim *run);

/* ---- questions between two steps (after the first one) */

typedef struct abut_live_hit {
    int body;
    double t; /* metres along a ray; distance of a point, negative inside; 0 .. 1 of a shape's way */
    abut_vec3 point, normal; /* on the body, outward */
} abut_live_hit;

/* The first body on the ray origin + t direction/|direction|, 0 <= t <= limit. */
ABUT_API bool abut_live_cast_ray(const abut_sim *run, abut_vec3 origin, abut_vec3 direction, double limit,
                                 abut_live_hit *hit);
/* The body nearest to the point, at most `limit` away. */
ABUT_API bool abut_live_cast_point(const abut_sim *run, abut_vec3 point, double limit, abut_live_hit *hit);
/* The first body that a shape meets on its way between two poses, turning evenly. */
ABUT_API abut_status abut_live_cast_shape(const abut_sim *run, const abut_shape *shape, abut_pose from,
                                          abut_pose to, abut_live_hit *hit, bool *found, abut_error *error);
/* A sensor: which bodies touch a shape that stands at a pose.  At most `capacity` of them, in no particular
 * order; *count says how many there are. */
ABUT_API abut_status abut_live_sense(const abut_sim *run, const abut_shape *shape, abut_pose at, int *bodies,
                                     int capacity, int *count, abut_error *error);

/* A standing sensor: a shape at `at` in the axes of a body's shape (body -1: of the world) that tells after
 * each step which bodies came to touch it and which left it; it pushes nothing and does not feel its own
 * body. Sensors belong to the caller: they are neither part of a snapshot nor of the hash of a run, and begin
 * with nothing touched. */
ABUT_API abut_status abut_live_add_sensor(abut_sim *run, const abut_shape *shape, int body, abut_pose at,
                                          int *sensor, abut_error *error);
typedef struct abut_live_sensed {
    int sensor, body;
    bool begins; /* false: the touch has ended */
} abut_live_sensed;
/* The changes of the last step, by sensors, then by bodies; until the next one. */
ABUT_API int abut_live_sensor_events(const abut_sim *run, const abut_live_sensed **events);
/* The bodies that touch a sensor now, in ascending order. */
ABUT_API int abut_live_sensor_bodies(const abut_sim *run, int sensor, const int **bodies);

#ifdef __cplusplus
}
#endif
#endif
