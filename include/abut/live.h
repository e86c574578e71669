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
} abut_live_options;
ABUT_API abut_live_options abut_default_live_options(void);
/* Nothing when the run is not on the live clock. */
ABUT_API void abut_live_set_options(abut_sim *run, const abut_live_options *options);

/* Seconds of the last step, stage by stage, and what it worked on. */
typedef struct abut_live_times {
    double forces, broad, narrow, islands, color, prepare, solve, store, report, total;
    int pairs, manifolds, points, islands_awake, direct_islands, colors, batches, recycled;
} abut_live_times;
ABUT_API abut_live_times abut_live_step_times(const abut_sim *run);

#ifdef __cplusplus
}
#endif
#endif
