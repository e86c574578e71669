/* abut track REC --body NAME [--at T]: the motion of a body as CSV. */
#include "replay.h"

#include <string.h>

static void print_row(double t, const abut_motion *m) {
    const double numbers[] = {t,
                              m->center.x,
                              m->center.y,
                              m->center.z,
                              m->rotation.w,
                              m->rotation.x,
                              m->rotation.y,
                              m->rotation.z,
                              m->velocity.x,
                              m->velocity.y,
                              m->velocity.z,
                              m->spin.x,
                              m->spin.y,
                              m->spin.z,
                              m->acceleration.x,
                              m->acceleration.y,
                              m->acceleration.z,
                              m->spin_rate.x,
                              m->spin_rate.y,
                              m->spin_rate.z};
    for (int i = 0; i < 20; i++) printf(i ? ",%.17g" : "%.17g", numbers[i]);
    putchar('\n');
}

/* The acceleration of the live clock at time 0 is that of its first step; where the scene is gone, none. */
static void complete_start(abut_recording *recording, int body, abut_motion *motion) {
    replay again = {0};
    abut_motion first = *motion;
    if (replay_motion(&again, recording, body, 0, &first, NULL) == ABUT_OK)
        motion->acceleration = first.acceleration, motion->spin_rate = first.spin_rate;
    replay_free(&again);
}

/* The state at a time.  The live clock has no dense output: between its frames it goes there again from the
 * last snapshot. */
static abut_status motion_at(abut_recording *recording, int body, double at, abut_motion *motion,
                             abut_error *error) {
    abut_status status = abut_recording_motion(recording, body, at, motion, error);
    const char *mode = abut_recording_meta(recording, "mode");
    if (status != ABUT_OK || !mode || strcmp(mode, "live") != 0) return status;
    if (replay_is_before_steps(recording, at)) return complete_start(recording, body, motion), ABUT_OK;
    if (abut_recording_find_frame(recording, at) >= 0) return ABUT_OK;
    replay again = {0};
    status = replay_motion(&again, recording, body, at, motion, error);
    replay_free(&again);
    return status;
}

static abut_status print_frames(abut_recording *recording, int body, abut_error *error) {
    abut_status status = ABUT_OK;
    for (int64_t i = 0; i < abut_recording_frames(recording) && status == ABUT_OK; i++) {
        abut_frame frame;
        abut_motion motion;
        status = abut_recording_frame(recording, i, &frame, error);
        if (status == ABUT_OK)
            status = i == 0 ? motion_at(recording, body, frame.time, &motion, error)
                            : abut_recording_frame_motion(recording, i, body, &motion, error);
        if (status == ABUT_OK) print_row(frame.time, &motion);
    }
    return status;
}

static int unknown_body(abut_recording *recording, const char *name) {
    const char *nearest = NULL;
    int best = 4;
    for (int i = 0; i < abut_recording_bodies(recording); i++) {
        int distance = cli_word_distance(name, abut_recording_body_name(recording, i));
        if (distance < best) best = distance, nearest = abut_recording_body_name(recording, i);
    }
    if (nearest)
        return cli_complain("track: there is no body `%s` in the recording; did you mean `%s`?", name,
                            nearest);
    return cli_complain("track: there is no body `%s` in the recording, which has %d; the first is `%s`",
                        name, abut_recording_bodies(recording),
                        abut_recording_bodies(recording) ? abut_recording_body_name(recording, 0) : "");
}

int command_track(int argc, char **argv) {
    const char *name = NULL, *at_text = NULL;
    const cli_option options[] = {{.name = "--body", .value = &name}, {.name = "--at", .value = &at_text}};
    cli_call call = {.command = "track",
                     .arguments = "REC --body NAME [--at T]",
                     .options = options,
                     .option_count = 2,
                     .least = 1,
                     .most = 1};
    abut_recording *recording = NULL;
    abut_error error = {0};
    int status;
    if (!cli_open_recording(&call, argc, argv, &recording, &status)) return status;
    double at = 0;
    int body = name ? abut_recording_find_body(recording, name) : -1;
    if (at_text && !cli_number("track: --at", at_text, &at)) {
        status = EXIT_WRONG;
    } else if (!name) {
        status = cli_complain("track: --body is missing; usage: abut track %s", call.arguments);
    } else if (body < 0) {
        status = unknown_body(recording, name);
    } else {
        abut_motion motion;
        abut_status s = at_text ? motion_at(recording, body, at, &motion, &error) : ABUT_OK;
        if (s == ABUT_OK) printf("t,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,ax,ay,az,alphax,alphay,alphaz\n");
        if (s == ABUT_OK && at_text) print_row(at, &motion);
        if (s == ABUT_OK && !at_text) s = print_frames(recording, body, &error);
        if (s != ABUT_OK) status = cli_error(&error);
    }
    abut_recording_close(recording);
    return status;
}
