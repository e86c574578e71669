/* Running a scene from the command line: shared by `run` and `resume`. */
#ifndef CLI_SIMULATE_H
#define CLI_SIMULATE_H

#include "cli.h"

typedef struct simulation {
    abut_context context;
    abut_workers *workers;
    abut_scene *scene;
    abut_model *model;
    abut_sim *run;
    abut_recorder *recorder; /* NULL: nothing is recorded */
    const char *recording;   /* its path */
    double duration;
    int64_t max_steps; /* in a frame; 0: the library's own budget */
    int64_t frames;    /* recorded or passed, the one at time 0 counted */
    bool quiet;        /* nothing but errors */
} simulation;

/* What the library and the scene say goes to standard error, unless it is to be quiet. */
void simulation_log(simulation *s);
/* From the scene's start. EXIT_DONE, or a message has been printed. */
int simulation_load(simulation *s, const char *path, const abut_scene_options *options, int threads);
/* What --allow-overlap has moved, one line a body, to standard error. */
void simulation_print_shifts(const simulation *s);
int simulation_begin(simulation *s, const abut_recorder_def *def);
/* The scene's functions are told the events, once they are recorded. */
void simulation_watch(simulation *s);
/* Frame after frame to the end, with a progress bar on a terminal; Ctrl-C ends it cleanly. */
int simulation_run(simulation *s, bool strict, bool json);
void simulation_end(simulation *s);

#endif
