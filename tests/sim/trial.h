/* A scene from text, run and watched: what the tests of the exact clock share. */
#ifndef TESTS_SIM_TRIAL_H
#define TESTS_SIM_TRIAL_H

#include "abut/scene.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    abut_scene *scene;
    abut_model *model;
    abut_sim *sim;
    abut_event events[256];
    int event_count;
} trial;

static inline bool keep_event(void *user, const abut_event *e) {
    trial *t = user;
    if (t->event_count < 256) t->events[t->event_count++] = *e;
    return true;
}

static inline void start(trial *t, const char *text) {
    abut_error error = {0};
    *t = (trial){0};
    if (abut_scene_read(NULL, text, strlen(text), "test.lua", ".", NULL, &t->scene, &error) != ABUT_OK ||
        abut_model_create(NULL, abut_scene_world(t->scene), &t->model, &error) != ABUT_OK)
        fail_msg("%d: %s", error.line, error.message);
    abut_sim_options options = {.user = t, .event = keep_event};
    if (abut_sim_create(NULL, t->model, &options, &t->sim, &error) != ABUT_OK) fail_msg("%s", error.message);
}

/* Frames end at multiples of the frame, so that two runs have the same ones wherever they pause. */
static inline void advance(trial *t, double until) {
    double frame = abut_scene_world(t->scene)->frame;
    abut_error error = {0};
    while (abut_sim_time(t->sim) < until) {
        double k = floor(abut_sim_time(t->sim) / frame + 1e-9) + 1;
        if (abut_sim_advance(t->sim, fmin(k * frame, until), &error) != ABUT_OK)
            fail_msg("%s", error.message);
    }
}

static inline void finish(trial *t) {
    abut_audit a = abut_sim_audit(t->sim);
    if (!a.promises_kept) fail_msg("a promise was broken: %s", a.broken);
    abut_sim_free(t->sim);
    abut_model_free(t->model);
    abut_scene_free(t->scene);
}

static inline const abut_event *nth(const trial *t, abut_event_kind kind, int n) {
    for (int i = 0; i < t->event_count; i++)
        if (t->events[i].kind == kind && n-- == 0) return &t->events[i];
    return NULL;
}

static inline void close_to(double value, double wanted, double tolerance) {
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.15g is not %.15g (tolerance %g)", value, wanted, tolerance);
}

#define FLOOR "body { name = 'floor', shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }\n"

#endif
