/* What the files of `abut bench live` share: a world that is filled, run step by step on the live clock, and
 * looked at. */
#ifndef CLI_BENCH_LIVE_H
#define CLI_BENCH_LIVE_H

#include "bench.h"

typedef struct stage {
    abut_world_def world;
    abut_body_def *bodies;
    int count, capacity;
    abut_solid **solids; /* freed with the stage */
    int solid_count, solid_capacity;
    abut_model *model;
    abut_sim *run;
    abut_live_options options;
    double seconds; /* of wall time in steps */
    bool is_broken; /* something failed; the message has been printed */
} stage;

/* Gravity 9.81, step 1/60 s, friction 0.6, no bounce, no sleeping, everything else as it comes. */
void stage_open(stage *s);
void stage_close(stage *s);
/* The next body; valid until the next call. */
abut_body_def *stage_add(stage *s, abut_shape shape, double x, double y, double z);
void stage_add_floor(stage *s);
/* The stage owns the solid; returns it as a shape. */
abut_shape stage_keep(stage *s, abut_status status, abut_solid *solid, const abut_error *error);
abut_shape stage_box(stage *s, double side);
void stage_start(stage *s);
void stage_steps(stage *s, int count);
abut_motion stage_motion(const stage *s, int body);

/* Overlap of all pairs of convex solids, and with half-spaces: the least way apart. */
typedef struct stage_overlap {
    double most, mean; /* metres; the mean is over those that overlap */
    int pairs;
} stage_overlap;
stage_overlap stage_measure(stage *s);

/* One line of the table. */
typedef struct figure {
    const char *scene, *what, *unit;
    double value;
    double best;       /* of the best engine; INFINITY: no engine has a figure */
    const char *whose; /* that engine */
    const char *exact; /* the exact answer */
} figure;
/* Smaller is better; at least as good as the best is within 1e-9 of the unit. */
void figure_print(figure f);
int figures_missed(void);

/* bench_live_heaps.c, bench_live_quality.c */
void bench_heaps(void);
void bench_quality(void);

#endif
