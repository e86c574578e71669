/* abut resume REC: goes on from the last snapshot of a recording, also after a crash or a kill. */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>

/* Scene, model and state from the recording; it is closed again before the recorder opens it. */
static int load(simulation *s, double *planned) {
    abut_recording *recording = NULL;
    abut_error error = {0};
    if (abut_recording_open(&s->context, s->recording, &recording, &error) != ABUT_OK)
        return cli_error(&error);
    const char *duration = abut_recording_meta(recording, "duration");
    *planned = fmax(duration ? atof(duration) : 0, abut_recording_end(recording));
    const void *block;
    size_t size;
    double at = abut_recording_resume_time(recording);
    abut_status status = abut_recording_scene(&s->context, recording, &s->scene, &error);
    if (status == ABUT_OK)
        status = abut_model_create(&s->context, abut_scene_world(s->scene), &s->model, &error);
    if (status == ABUT_OK) status = abut_recording_snapshot(recording, at, &block, &size, &at, &error);
    if (status == ABUT_OK) status = abut_recording_retell(recording, at, s->scene, s->model, &error);
    if (status == ABUT_OK) status = abut_recorder_resume(&s->context, s->recording, &s->recorder, &error);
    abut_sim_options options = {0};
    if (status == ABUT_OK) options = abut_recorder_options(s->recorder);
    if (status == ABUT_OK) simulation_watch(s);
    if (status == ABUT_OK)
        status = abut_sim_create_at(&s->context, s->model, &options, block, size, &s->run, &error);
    s->frames = abut_recording_find_frame(recording, at) + 1;
    abut_recording_close(recording);
    return status == ABUT_OK ? EXIT_DONE : cli_error(&error);
}

int command_resume(int argc, char **argv) {
    const char *duration_text = NULL;
    bool json = false, strict = false, quiet = false, stop;
    const cli_option options[] = {{.name = "--duration", .value = &duration_text},
                                  {.name = "--strict", .flag = &strict},
                                  {.name = "-q", .flag = &quiet},
                                  {.name = "--json", .flag = &json}};
    cli_call call = {.command = "resume",
                     .arguments = "REC [--duration S] [--strict] [-q] [--json]",
                     .options = options,
                     .option_count = sizeof options / sizeof options[0],
                     .least = 1,
                     .most = 1};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    double duration = 0;
    if (duration_text && !cli_number("resume: --duration", duration_text, &duration)) return EXIT_WRONG;
    simulation s = {.recording = call.positional[0], .quiet = quiet};
    simulation_log(&s);
    status = load(&s, &s.duration);
    if (duration > s.duration) s.duration = duration;
    abut_error error = {0};
    if (status == EXIT_DONE && abut_recorder_plan(s.recorder, s.duration, &error) != ABUT_OK)
        status = cli_error(&error);
    if (status == EXIT_DONE) status = simulation_run(&s, strict, json);
    simulation_end(&s);
    return status;
}
