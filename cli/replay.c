/* See replay.h. */
#include "replay.h"

#include "view_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool may_go_on(void *user, const abut_segment *segment) {
    replay *r = user;
    r->work += segment->body_count;
    return (!r->work_most || r->work <= r->work_most) && (!(r->deadline > 0) || view_clock() < r->deadline);
}

/* What goes along tells the scene's functions its events, as the recorded run did. */
static bool tell_scene(void *user, const abut_event *event) {
    replay *r = user;
    return abut_scene_event(r->scene, r->model, event);
}

static void forget(replay *r) {
    abut_sim_free(r->along), abut_sim_free(r->ahead);
    abut_model_free(r->model);
    abut_scene_free(r->scene);
    r->along = r->ahead = NULL, r->model = NULL, r->scene = NULL;
}

/* The scene, whose functions have been told what came before the snapshot. */
static abut_status load(replay *r, abut_recording *recording, double at, abut_error *error) {
    abut_status s = abut_recording_scene(NULL, recording, &r->scene, error);
    if (s == ABUT_OK) s = abut_model_create(NULL, abut_scene_world(r->scene), &r->model, error);
    if (s == ABUT_OK) s = abut_recording_retell(recording, at, r->scene, r->model, error);
    return s;
}

/* The run of the recording stands at the last snapshot, or at a later frame that it has reached already. */
static abut_status set_out(replay *r, abut_recording *recording, double time, abut_error *error) {
    const void *block;
    size_t size;
    double at;
    abut_status s = abut_recording_snapshot(recording, time, &block, &size, &at, error);
    bool elsewhere = r->along && (abut_sim_time(r->along) < at || abut_sim_time(r->along) > time);
    /* what functions of the scene keep has no way back */
    if (r->scene && (!r->model || ((elsewhere || !r->along) && abut_scene_listens(r->scene)))) forget(r);
    if (s == ABUT_OK && !r->scene) s = load(r, recording, at, error);
    abut_sim_options options = {.user = r, .segment = may_go_on};
    if (s == ABUT_OK && !r->ahead)
        s = abut_sim_create_at(NULL, r->model, &options, block, size, &r->ahead, error);
    if (s == ABUT_OK && abut_scene_listens(r->scene)) options.event = tell_scene;
    if (s == ABUT_OK && !r->along)
        return abut_sim_create_at(NULL, r->model, &options, block, size, &r->along, error);
    return s == ABUT_OK && elsewhere ? abut_sim_restore(r->along, block, size, error) : s;
}

/* One frame on; every() comes behind it. */
static abut_status go_along(replay *r, double until, abut_error *error) {
    double from = abut_sim_time(r->along);
    abut_status s = abut_sim_advance(r->along, until, error);
    if (s == ABUT_OK && !abut_scene_every(r->scene, from, until)) s = ABUT_CANCELLED;
    if (s != ABUT_OK && error && abut_scene_error(r->scene)) *error = *abut_scene_error(r->scene);
    return s;
}

static abut_status copy_ahead(replay *r, abut_error *error) {
    size_t size = abut_sim_snapshot_size(r->along);
    if (size > r->block_size) {
        void *grown = realloc(r->block, size);
        if (!grown) {
            if (error) *error = (abut_error){.status = ABUT_NO_MEMORY, .message = "the memory is used up"};
            return ABUT_NO_MEMORY;
        }
        r->block = grown, r->block_size = size;
    }
    abut_sim_snapshot(r->along, r->block);
    return abut_sim_restore(r->ahead, r->block, size, error);
}

/* Of the world's step: less than half of it would wait for the next one (live_advance). */
#define SHORT_STEP 0.02

bool replay_is_before_steps(abut_recording *recording, double time) {
    const char *mode = abut_recording_meta(recording, "mode");
    return time <= 0 && mode && strcmp(mode, "live") == 0;
}

static abut_status go_there(replay *r, abut_recording *recording, double time, abut_error *error) {
    abut_status s = set_out(r, recording, time, error);
    if (s != ABUT_OK) return s;
    const abut_world_def *world = abut_scene_world(r->scene);
    double frame = world->frame;
    if (replay_is_before_steps(recording, time)) time = fmin(SHORT_STEP * world->step, frame / 2);
    int64_t next = (int64_t)(abut_sim_time(r->along) / frame + 1e-9) + 1;
    for (; s == ABUT_OK && (double)next * frame <= time; next++) s = go_along(r, (double)next * frame, error);
    if (s == ABUT_OK) s = copy_ahead(r, error);
    if (s == ABUT_OK && abut_sim_time(r->ahead) < time) s = abut_sim_advance(r->ahead, time, error);
    return s;
}

/* A run that was stopped within a frame is of no use to the next who asks. */
static void give_up(replay *r) {
    abut_sim_free(r->along), abut_sim_free(r->ahead);
    r->along = r->ahead = NULL;
}

abut_status replay_motion(replay *r, abut_recording *recording, int body, double time, abut_motion *motion,
                          abut_error *error) {
    abut_status s = go_there(r, recording, time, error);
    if (s != ABUT_OK)
        give_up(r);
    else if (abut_sim_steps(r->ahead) > abut_sim_steps(r->along))
        *motion = abut_sim_motion(r->ahead, body);
    return s;
}

int replay_contacts(replay *r, abut_recording *recording, double time, const abut_contact **contacts,
                    abut_error *error) {
    int count = -1;
    if (go_there(r, recording, time, error) == ABUT_OK) {
        count = abut_sim_contacts(r->ahead, contacts);
        if (count < 0 && error)
            *error = (abut_error){.status = ABUT_NO_MEMORY, .message = "the memory is used up"};
    }
    if (count < 0) give_up(r);
    return count;
}

void replay_free(replay *r) {
    forget(r);
    free(r->block);
    *r = (replay){0};
}
