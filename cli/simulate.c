/* Frame after frame: advance, record, show progress, and the summary with the audit. */
#define _POSIX_C_SOURCE 200809L
#include "simulate.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t interrupted;
static abut_sim *volatile interruptible;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
    abut_sim_stop(interruptible);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* -q is about what abut has to say: what the scene prints is its own. */
static void print_log(void *user, abut_log_level level, const char *message) {
    const simulation *s = user;
    if (!s->quiet || level == ABUT_LOG_PRINT) fprintf(stderr, "%s\n", message);
}

/* The scene's own error is the better message where one of its functions failed. */
static int report(const simulation *s, const abut_error *error) {
    const abut_error *own = abut_scene_error(s->scene);
    abut_error e = own ? *own : *error;
    if (!e.file[0]) snprintf(e.file, sizeof e.file, "%s", abut_scene_name(s->scene));
    return cli_error(&e);
}

void simulation_log(simulation *s) { s->context.log = (abut_log){.write = print_log, .user = s}; }

int simulation_load(simulation *s, const char *path, const abut_scene_options *options, int threads) {
    abut_error error = {0};
    simulation_log(s);
    if (threads > 1) {
        s->workers = abut_workers_create(NULL, threads);
        if (s->workers) s->context.parallel = abut_workers_parallel(s->workers);
    }
    if (abut_scene_load(&s->context, path, options, &s->scene, &error) != ABUT_OK) return cli_error(&error);
    const abut_world_def *world = abut_scene_world(s->scene);
    if (abut_model_create(&s->context, world, &s->model, &error) != ABUT_OK) {
        return report(s, &error);
    }
    s->duration = world->duration;
    return EXIT_DONE;
}

static bool is_moved(abut_vec3 v) { return v.x != 0 || v.y != 0 || v.z != 0; }

void simulation_print_shifts(const simulation *s) {
    const abut_vec3 *shifts = abut_scene_shifts(s->scene);
    for (int i = 0; shifts && !s->quiet && i < abut_model_bodies(s->model); i++)
        if (is_moved(shifts[i]))
            fprintf(stderr, "pushed `%s` by {%.9g, %.9g, %.9g} to free it\n",
                    abut_model_body_name(s->model, i), shifts[i].x, shifts[i].y, shifts[i].z);
}

static json_t *shifts_json(const simulation *s) {
    const abut_vec3 *shifts = abut_scene_shifts(s->scene);
    json_t *list = json_array();
    for (int i = 0; i < abut_model_bodies(s->model); i++)
        if (is_moved(shifts[i]))
            json_array_append_new(list, json_pack("{s:s,s:o}", "body", abut_model_body_name(s->model, i),
                                                  "shift", cli_json_vec3(shifts[i])));
    return list;
}

/* Functions of the scene see events after they were recorded. */
static bool tell_scene(void *user, const abut_event *event) {
    simulation *s = user;
    return abut_scene_event(s->scene, s->model, event);
}

void simulation_watch(simulation *s) { abut_recorder_watch(s->recorder, tell_scene, s); }

/* Bodies that overlap at the start: every pair on a line of its own, where the error has no room for all. */
static void list_overlaps(const simulation *s) {
    int count = abut_model_overlaps(s->model, NULL, 0);
    abut_overlap *overlaps = count > 4 ? malloc((size_t)count * sizeof *overlaps) : NULL;
    if (overlaps) abut_model_overlaps(s->model, overlaps, count);
    for (int i = 0; overlaps && i < count; i++) {
        const abut_overlap *o = &overlaps[i];
        const char *name = abut_model_body_name(s->model, o->body[0]);
        fprintf(stderr,
                "abut: %s: `%s` and `%s` overlap by at least %.3g m; shift `%s` by {%.9g, %.9g, %.9g}\n",
                abut_scene_name(s->scene), name, abut_model_body_name(s->model, o->body[1]), o->depth, name,
                o->shift.x, o->shift.y, o->shift.z);
    }
    free(overlaps);
}

int simulation_begin(simulation *s, const abut_recorder_def *def) {
    abut_error error = {0};
    double frames = s->duration / abut_scene_world(s->scene)->frame;
    if (!(frames <= 1e9))
        return cli_complain("%s: %g s are %g frames; give a shorter duration or longer frames",
                            abut_scene_name(s->scene), s->duration, frames);
    abut_sim_options options = {.user = s, .event = tell_scene};
    if (s->recording) {
        if (abut_recorder_create(&s->context, s->recording, s->scene, s->model, def, &s->recorder, &error) !=
            ABUT_OK)
            return cli_error(&error);
        options = abut_recorder_options(s->recorder);
        simulation_watch(s);
    }
    options.step_budget = s->max_steps;
    if (abut_sim_create(&s->context, s->model, &options, &s->run, &error) != ABUT_OK) {
        list_overlaps(s);
        return report(s, &error);
    }
    if (s->recorder && abut_recorder_frame(s->recorder, s->run, &error) != ABUT_OK) return cli_error(&error);
    s->frames = 1;
    return EXIT_DONE;
}

/* ---- progress */

static void show_progress(const simulation *s, double started, double first) {
    double done = (abut_sim_time(s->run) - first) / fmax(s->duration - first, 1e-300),
           spent = now() - started;
    int filled = (int)(30 * fmin(done, 1));
    char bar[31];
    for (int i = 0; i < 30; i++) bar[i] = i < filled ? '#' : '.';
    bar[30] = 0;
    fprintf(stderr, "\r[%s] %3.0f %%  t = %.3f s  %.0f s left   ", bar, 100 * fmin(done, 1),
            abut_sim_time(s->run), done > 0 ? spent * (1 - done) / done : 0);
    fflush(stderr);
}

/* ---- the summary */

static json_t *events_json(const abut_sim *run) {
    json_t *events = json_object();
    for (int i = 0; i < ABUT_EVENT_KINDS; i++) {
        int64_t count = abut_sim_event_count(run, (abut_event_kind)i);
        if (count) json_object_set_new(events, abut_event_name((abut_event_kind)i), json_integer(count));
    }
    return events;
}

static int print_json(const simulation *s, const char *status, double wall) {
    abut_audit a = abut_sim_audit(s->run);
    json_t *audit = json_pack(
        "{s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:I,s:I,s:f,s:b}", "deepest_overlap_m", a.deepest_overlap,
        "energy_error_relative", a.energy_error, "momentum_error_relative", a.momentum_error,
        "complementarity_residual", a.complementarity_residual, "constraint_error_m", a.constraint_error,
        "overlap_limit_m", a.overlap_limit, "constraint_limit_m", a.constraint_limit, "energy_limit_relative",
        a.energy_limit, "numerical_loss_relative", a.numerical_loss, "storms", (json_int_t)a.storms,
        "time_steps", (json_int_t)a.time_steps, "time_stepped_s", a.time_stepped, "promises_kept",
        (int)a.promises_kept);
    if (!a.promises_kept) json_object_set_new(audit, "broken", json_string(a.broken));
    json_t *recording = s->recording ? json_string(s->recording) : json_null();
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)abut_sim_hash(s->run));
    json_t *document =
        json_pack("{s:s,s:s,s:s,s:f,s:f,s:I,s:I,s:i,s:o,s:o,s:o}", "scene", abut_scene_name(s->scene), "mode",
                  abut_scene_world(s->scene)->mode == ABUT_LIVE ? "live" : "exact", "status", status,
                  "simulated_s", abut_sim_time(s->run), "wall_s", wall, "frames", (json_int_t)s->frames,
                  "steps", (json_int_t)abut_sim_steps(s->run), "bodies", abut_model_bodies(s->model),
                  "events", events_json(s->run), "audit", audit, "recording", recording);
    json_object_set_new(document, "hash", json_string(hash));
    if (abut_scene_shifts(s->scene)) json_object_set_new(document, "pushed", shifts_json(s));
    return cli_print_json(document);
}

static int print_table(const simulation *s, const char *status, double wall) {
    abut_audit a = abut_sim_audit(s->run);
    double t = abut_sim_time(s->run);
    printf("%s: %s at t = %.6g s (%lld frames, %lld steps, %d bodies) in %.3g s", abut_scene_name(s->scene),
           status, t, (long long)s->frames, (long long)abut_sim_steps(s->run), abut_model_bodies(s->model),
           wall);
    if (t > 0) printf(", %.3g s a simulated second", wall / t);
    printf("\n\nevents\n");
    for (int i = 0; i < ABUT_EVENT_KINDS; i++) {
        int64_t count = abut_sim_event_count(s->run, (abut_event_kind)i);
        if (count) printf("  %-24s %lld\n", abut_event_name((abut_event_kind)i), (long long)count);
    }
    printf("\naudit\n  %-24s %.3g m (promised: %.3g m)\n", "deepest overlap", a.deepest_overlap,
           a.overlap_limit);
    printf("  %-24s %.3g of the largest energy (promised: %.3g)\n", "energy error", a.energy_error,
           a.energy_limit);
    printf("  %-24s %.3g\n", "momentum error", a.momentum_error);
    printf("  %-24s %.3g\n", "complementarity residual", a.complementarity_residual);
    printf("  %-24s %.3g m (promised: %.3g m)\n", "constraint error", a.constraint_error, a.constraint_limit);
    if (a.storms > 0)
        printf("  %-24s %.3g s, in %lld steps (events came too thick %lld times)\n", "stepped in time",
               a.time_stepped, (long long)a.time_steps, (long long)a.storms);
    if (a.numerical_loss != 0)
        printf("  %-24s %.3g of the largest energy, by time stepping\n", "numerical loss", a.numerical_loss);
    printf("  %-24s %s\n", "promises", a.promises_kept ? "kept" : a.broken);
    if (s->recording) printf("\nrecording %s; look at it with `abut view %s`\n", s->recording, s->recording);
    return fflush(stdout) ? EXIT_WRONG : EXIT_DONE;
}

/* ---- the loop */

/* The time of a frame, from its number: k * frame has no error that grows.  One that ends a rounding error
 * before the duration is the last. */
static double frame_time(const simulation *s, int64_t k) {
    double frame = abut_scene_world(s->scene)->frame, t = (double)k * frame;
    return t < s->duration - 1e-9 * frame ? t : s->duration;
}

static abut_status advance(simulation *s, double until, abut_error *error) {
    double from = abut_sim_time(s->run);
    abut_status status = abut_sim_advance(s->run, until, error);
    if (status == ABUT_OK && !abut_scene_every(s->scene, from, until)) status = ABUT_CANCELLED;
    if (status == ABUT_OK && s->recorder) status = abut_recorder_frame(s->recorder, s->run, error);
    if (status == ABUT_OK) s->frames++;
    return status;
}

int simulation_run(simulation *s, bool strict, bool json) {
    abut_error error = {0};
    /* a second Ctrl-C ends the process: what is committed stays */
    interruptible = s->run;
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND}, old;
    sigaction(SIGINT, &action, &old);
    double started = now(), shown = 0, first = abut_sim_time(s->run);
    bool progress = !s->quiet && !json && cli_is_terminal(stderr);
    abut_status status = ABUT_OK;
    int64_t k = (int64_t)floor(first / abut_scene_world(s->scene)->frame + 1e-9) + 1;
    for (; status == ABUT_OK && !interrupted && abut_sim_time(s->run) < s->duration; k++) {
        status = advance(s, frame_time(s, k), &error);
        if (progress && now() - shown > 0.1) {
            show_progress(s, started, first);
            shown = now();
        }
    }
    sigaction(SIGINT, &old, NULL);
    if (status == ABUT_CANCELLED && interrupted) status = ABUT_OK; /* in the middle of a frame */
    if (progress && shown > 0) fprintf(stderr, "\r%78s\r", "");
    const char *word = status == ABUT_OK && !interrupted ? "completed" : "stopped";
    double wall = now() - started;
    abut_error written = {0}; /* a recording that fails ends the run: then it is what there is to say */
    bool failed = s->recorder && abut_recorder_finish(s->recorder, s->run, word, wall, &written) != ABUT_OK;
    int exit_status = failed ? cli_error(&written) : status == ABUT_OK ? EXIT_DONE : report(s, &error);
    int printed = json ? print_json(s, word, wall) : s->quiet ? EXIT_DONE : print_table(s, word, wall);
    if (printed != EXIT_DONE) return printed;
    if (exit_status == EXIT_DONE && strict && !abut_sim_audit(s->run).promises_kept) {
        fprintf(stderr, "abut: %s: a promise was broken: %s\n", abut_scene_name(s->scene),
                abut_sim_audit(s->run).broken);
        exit_status = EXIT_NOT_MET;
    }
    return exit_status;
}

void simulation_end(simulation *s) {
    abut_sim_free(s->run);
    abut_recorder_free(s->recorder);
    abut_model_free(s->model);
    abut_scene_free(s->scene);
    abut_workers_destroy(s->workers);
}
