/* The exact clock: processor seconds per simulated second of the scenes in scenes/, and how the time grows
 * with the number of bodies: in separate heaps (the exponent should stay below 1.2) and in one stack
 * (printed).
 *
 *     bench_clock [SCENE...]       these scenes instead of all; a scene stops after 20 s */
#include "abut/abut.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

typedef struct result {
    int bodies;
    long long steps, events;
    double simulated, seconds;
    bool kept;
} result;

/* Runs a scene for `duration` (0: its own), at most `limit` seconds. */
static bool run(abut_scene *scene, double duration, double limit, result *out) {
    const abut_world_def *w = abut_scene_world(scene);
    abut_error error = {0};
    abut_model *model = NULL;
    abut_sim *sim = NULL;
    if (duration == 0) duration = w->duration;
    double started = now();
    abut_status status = abut_model_create(NULL, w, &model, &error);
    if (status == ABUT_OK) status = abut_sim_create(NULL, model, NULL, &sim, &error);
    for (int k = 1; status == ABUT_OK && abut_sim_time(sim) < duration && now() - started < limit; k++)
        status = abut_sim_advance(sim, fmin(k * w->frame, duration), &error);
    if (sim) {
        *out = (result){.bodies = abut_model_bodies(model),
                        .steps = abut_sim_steps(sim),
                        .simulated = abut_sim_time(sim)};
        for (int i = 0; i < ABUT_EVENT_KINDS; i++)
            out->events += abut_sim_event_count(sim, (abut_event_kind)i);
        out->seconds = now() - started, out->kept = abut_sim_audit(sim).promises_kept;
    }
    if (status != ABUT_OK) fprintf(stderr, "%s: %s\n", abut_scene_name(scene), error.message);
    abut_sim_free(sim);
    abut_model_free(model);
    return status == ABUT_OK;
}

static void bench_scene(const char *path) {
    abut_scene *scene = NULL;
    abut_error error = {0};
    result r;
    if (abut_scene_load(NULL, path, NULL, &scene, &error) != ABUT_OK) {
        fprintf(stderr, "%s:%d: %s\n", path, error.line, error.message);
        return;
    }
    const char *slash = strrchr(path, '/');
    if (abut_scene_world(scene)->mode == ABUT_EXACT && run(scene, 0, 20, &r))
        printf("| %s | %d | %lld | %lld | %.3g | %.3g | %s |\n", slash ? slash + 1 : path, r.bodies, r.steps,
               r.events, r.simulated, r.seconds / fmax(r.simulated, 1e-9), r.kept ? "yes" : "no");
    abut_scene_free(scene);
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static void bench_folder(const char *folder) {
    enum { MOST = 256, LENGTH = 512 };
    static char paths[MOST][LENGTH];
    int count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e && count < MOST; e = readdir(d)) {
        size_t n = strlen(e->d_name);
        if (n > 4 && strcmp(e->d_name + n - 4, ".lua") == 0)
            snprintf(paths[count++], LENGTH, "%s/%s", folder, e->d_name);
    }
    if (d) closedir(d);
    qsort(paths, (size_t)count, LENGTH, by_name);
    for (int i = 0; i < count; i++) bench_scene(paths[i]);
}

static double time_of(const char *text, double duration) {
    abut_scene *scene = NULL;
    abut_error error = {0};
    result r = {.seconds = NAN};
    if (abut_scene_read(NULL, text, strlen(text), "bench.lua", ".", NULL, &scene, &error) != ABUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return NAN;
    }
    run(scene, duration, 60, &r);
    abut_scene_free(scene);
    return r.seconds;
}

/* Heaps of three boxes that fall on each other, far apart; and one stack that a sphere hits. */
static void bench_growth(void) {
    char text[1024];
    double first = 0, last = 0;
    printf("\n| heaps of 3 | bodies | s | exponent |\n| --- | --- | --- | --- |\n");
    for (int n = 8; n <= 64; n *= 2) {
        snprintf(
            text, sizeof text,
            "world { frame = 1/60 }\nmaterial { restitution = 0.1, friction = 0.3 }\n"
            "body { shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }\n"
            "for i = 1, %d do for k = 1, 3 do body { shape = solid.box {0.5, 0.4, 0.3}, position = {3 * i + "
            "0.05 * k, 0.03 * k, 0.4 * k}, rotation = {0.1 * k, 1, 0, 0} } end end",
            n);
        double seconds = time_of(text, 0.4);
        if (n == 8)
            printf("| %d | %d | %.3g | |\n", n, 3 * n, seconds);
        else
            printf("| %d | %d | %.3g | %.2f |\n", n, 3 * n, seconds, log2(seconds / last));
        if (n == 8) first = seconds;
        last = seconds;
    }
    printf("| all | | | %.2f |\n", log2(last / first) / 3);
    printf("\n| one stack of | s for 0.2 s after a blow |\n| --- | --- |\n");
    for (int n = 1; n <= 8; n *= 2) {
        snprintf(
            text, sizeof text,
            "world { frame = 1/60 }\nmaterial { friction = 0.3 }\n"
            "body { shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }\n"
            "for k = 1, %d do body { shape = solid.box {0.5, 0.4, 0.3}, position = {0, 0, 0.3 * k - 0.15} } "
            "end\n"
            "body { shape = sphere {0.1}, position = {-0.5, 0.05, 0.3 * %d - 0.1}, velocity = {3, 0, 0} }",
            n, n);
        printf("| %d | %.3g |\n", n, time_of(text, 0.2));
    }
}

int main(int argc, char **argv) {
    printf("| scene | bodies | steps | events | simulated s | s a simulated second | promises kept |\n");
    printf("| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 1; i < argc; i++) bench_scene(argv[i]);
    if (argc > 1) return 0;
    bench_folder(ABUT_SCENES);
    bench_growth();
    return 0;
}
