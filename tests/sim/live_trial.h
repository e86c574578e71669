/* A live run of a few bodies, for the tests of the live clock. */
#ifndef TESTS_LIVE_TRIAL_H
#define TESTS_LIVE_TRIAL_H

#include "abut/live.h"
#include "sim/run.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256 };

typedef struct trial {
    abut_world_def world;
    abut_body_def bodies[MOST];
    abut_hinge_def hinges[8];
    int count, hinge_count;
    abut_solid *box;
    abut_context context;
    abut_workers *workers;
    bool overlaps; /* at the start */
    abut_model *model;
    abut_sim *run;
    abut_live_options options;
    int64_t events[ABUT_EVENT_KINDS];
    abut_event first[ABUT_EVENT_KINDS]; /* of each kind */
    double impulses[ABUT_EVENT_KINDS];  /* the sum of their sizes */
} trial;

static inline void begin(trial *t) {
    memset(t, 0, sizeof *t);
    t->world = abut_default_world();
    t->world.mode = ABUT_LIVE;
    t->world.material.friction = (abut_friction){0.6, 0.6, 0, 0};
    t->options = abut_default_live_options();
    t->options.sleep = false;
    assert_int_equal(abut_solid_box(NULL, 1, 1, 1, &t->box, NULL), ABUT_OK);
}

static inline abut_body_def *add(trial *t, abut_shape shape, double x, double y, double z) {
    abut_body_def *b = &t->bodies[t->count++];
    *b = abut_default_body();
    b->shape = shape, b->position = vec3_make(x, y, z);
    return b;
}

static inline void add_floor(trial *t) {
    add(t, abut_shape_halfspace(vec3_make(0, 0, 1), 0), 0, 0, 0)->fixed = true;
}

static inline bool count_event(void *user, const abut_event *e) {
    trial *t = user;
    if (t->events[e->kind]++ == 0) t->first[e->kind] = *e;
    t->impulses[e->kind] += vec3_length(e->impulse);
    return true;
}

static inline void start_with(trial *t, const abut_hinge_def *hinges, int hinge_count) {
    abut_error error = {0};
    t->world.bodies = t->bodies, t->world.body_count = t->count;
    t->world.hinges = hinges, t->world.hinge_count = hinge_count;
    abut_sim_options options = {.user = t, .event = count_event, .allow_overlap = t->overlaps};
    if (abut_model_create(&t->context, &t->world, &t->model, &error) != ABUT_OK ||
        abut_sim_create(&t->context, t->model, &options, &t->run, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    abut_live_set_options(t->run, &t->options);
}

static inline void start(trial *t) { start_with(t, t->hinges, t->hinge_count); }

static inline void steps(trial *t, int count) {
    abut_error error = {0};
    for (int i = 0; i < count; i++)
        if (abut_sim_advance(t->run, abut_sim_time(t->run) + t->world.step, &error) != ABUT_OK)
            fail_msg("%s", error.message);
}

static inline void finish(trial *t) {
    abut_sim_free(t->run);
    abut_model_free(t->model);
    abut_workers_destroy(t->workers);
    abut_solid_free(NULL, t->box);
}

static inline void close_to(double value, double wanted, double tolerance) {
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.15g is not %.15g (tolerance %g)", value, wanted, tolerance);
}

#endif
