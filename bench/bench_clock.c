/* The exact clock: processor seconds per simulated second of the scenes in scenes/, and how the time grows
 * with the number of bodies: in separate heaps (the exponent should stay below 1.2) and in one stack
 * (printed); what a second thread gains on separate heaps.
 *
 *     bench_clock [SCENE...]       these scenes instead of all; a scene stops after 20 s
 *     bench_clock --many [NAME]    what people build first: rows of dominoes, walls, piles, towers */
#define _POSIX_C_SOURCE 200809L

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
    double simulated, seconds, wall, stepped; /* time-stepped, simulated s */
    uint64_t hash;
    bool kept;
} result;

static double wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs a scene for `duration` (0: its own), at most `limit` seconds. */
static bool run(const abut_context *context, abut_scene *scene, double duration, double limit, result *out) {
    const abut_world_def *w = abut_scene_world(scene);
    abut_error error = {0};
    abut_model *model = NULL;
    abut_sim *sim = NULL;
    if (duration == 0) duration = w->duration;
    double started = now(), clock_then = wall();
    abut_status status = abut_model_create(context, w, &model, &error);
    if (status == ABUT_OK) status = abut_sim_create(context, model, NULL, &sim, &error);
    for (int k = 1; status == ABUT_OK && abut_sim_time(sim) < duration && now() - started < limit; k++)
        status = abut_sim_advance(sim, fmin(k * w->frame, duration), &error);
    if (sim) {
        *out = (result){.bodies = abut_model_bodies(model),
                        .steps = abut_sim_steps(sim),
                        .simulated = abut_sim_time(sim)};
        for (int i = 0; i < ABUT_EVENT_KINDS; i++)
            out->events += abut_sim_event_count(sim, (abut_event_kind)i);
        out->wall = wall() - clock_then, out->hash = abut_sim_hash(sim);
        out->seconds = now() - started, out->kept = abut_sim_audit(sim).promises_kept;
        out->stepped = abut_sim_audit(sim).time_stepped;
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
    if (abut_scene_world(scene)->mode == ABUT_EXACT && run(NULL, scene, 0, 20, &r))
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

static result result_of(const abut_context *context, const char *text, double duration) {
    abut_scene *scene = NULL;
    abut_error error = {0};
    result r = {.seconds = NAN, .wall = NAN};
    if (abut_scene_read(NULL, text, strlen(text), "bench.lua", ".", NULL, &scene, &error) != ABUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return r;
    }
    run(context, scene, duration, 60, &r);
    abut_scene_free(scene);
    return r;
}

/* Heaps of three boxes that fall on each other, far apart. */
static void write_heaps(char *text, size_t size, int n) {
    snprintf(text, size,
             "world { frame = 1/60 }\nmaterial { restitution = 0.1, friction = 0.3 }\n"
             "body { shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }\n"
             "for i = 1, %d do for k = 1, 3 do body { shape = solid.box {0.5, 0.4, 0.3}, position = {3 * i + "
             "0.05 * k, 0.03 * k, 0.4 * k}, rotation = {0.1 * k, 1, 0, 0} } end end",
             n);
}

static void bench_heaps(void) {
    char text[1024];
    double first = 0, last = 0;
    printf("\n| heaps of 3 | bodies | s | exponent |\n| --- | --- | --- | --- |\n");
    for (int n = 8; n <= 64; n *= 2) {
        write_heaps(text, sizeof text, n);
        double seconds = result_of(NULL, text, 0.4).seconds;
        if (n == 8)
            printf("| %d | %d | %.3g | |\n", n, 3 * n, seconds);
        else
            printf("| %d | %d | %.3g | %.2f |\n", n, 3 * n, seconds, log2(seconds / last));
        if (n == 8) first = seconds;
        last = seconds;
    }
    printf("| all | | | %.2f |\n", log2(last / first) / 3);
}

/* One stack, hit by a sphere. */
static void bench_stack(void) {
    char text[1024];
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
        printf("| %d | %.3g |\n", n, result_of(NULL, text, 0.2).seconds);
    }
}

/* Many bodies with friction, as people build them first. */
static const struct {
    const char *name;
    int counts[3]; /* 0: none */
    double seconds;
    const char *text;
} many[] = {
    {"dominoes",
     {10, 20, 40},
     1, /* of 20 cm, 8 cm apart, the first hit by a ball */
     "for i = 1, n do body { shape = solid.box {0.02, 0.1, 0.2}, position = {0.08 * i, 0, 0.1} } end\n"
     "body { shape = sphere {0.03}, position = {-0.05, 0, 0.18}, velocity = {1.5, 0, 0} }"},
    {"wall",
     {10, 20, 0},
     1.5, /* of bricks, five in a course, hit by a ball of 8.4 kg */
     "for k = 0, n / 5 - 1 do for i = 1, 5 do body { shape = solid.box {0.25, 0.12, 0.1},\n"
     "    position = {0.252 * i + 0.125 * (k % 2), 0, 0.05 + 0.1 * k} } end end\n"
     "body { shape = sphere {0.1}, density = 2000, position = {0.82, -0.5, 0.25}, velocity = {0, 4, 0} }"},
    {"pile",
     {5, 10, 20},
     1.5, /* of boxes that fall on each other */
     "for i = 1, n do body { shape = solid.box {0.2, 0.16, 0.12},\n"
     "    position = {0.05 * math.sin(3 * i), 0.05 * math.cos(5 * i), 0.1 + 0.26 * i},\n"
     "    rotation = {1, 0.3 * math.sin(i), 0.3 * math.cos(2 * i), 0.2} } end"},
    {"tower",
     {10, 20, 0},
     1.5, /* of boxes, the middle one nudged */
     "for k = 1, n do body { shape = solid.box {0.2, 0.2, 0.1}, position = {0, 0, 0.1 * k - 0.05},\n"
     "    velocity = {k == n // 2 and 0.4 or 0, 0, 0} } end"},
};

static void bench_many(const char *only) {
    char text[1024];
    printf("\n| scene | simulated s | s a simulated second | steps | events | stepped in time, s | promises "
           "kept "
           "|\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        for (int k = 0; k < 3; k++) {
            if (many[i].counts[k] == 0 || (only && strcmp(only, many[i].name) != 0)) continue;
            snprintf(text, sizeof text,
                     "world { frame = 1/60 }\nmaterial { restitution = 0.1, friction = 0.4 }\n"
                     "body { shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }\n"
                     "local n = %d\n%s",
                     many[i].counts[k], many[i].text);
            result r = result_of(NULL, text, many[i].seconds);
            printf("| %s, %d | %.3g | %.3g | %lld | %lld | %.2g | %s |\n", many[i].name, many[i].counts[k],
                   r.simulated, r.seconds / fmax(r.simulated, 1e-9), r.steps, r.events, r.stepped,
                   r.kept ? "yes" : "no");
            fflush(stdout);
        }
}

/* By the wall clock: the best of three, taken in turns. */
static void bench_threads(void) {
    char text[1024];
    write_heaps(text, sizeof text, 32);
    abut_workers *pool = abut_workers_create(NULL, 2);
    abut_context two = {.parallel = abut_workers_parallel(pool)};
    double best[2] = {INFINITY, INFINITY};
    uint64_t hash[2] = {0, 0};
    for (int k = 0; k < 6; k++) {
        result r = result_of(k % 2 ? &two : NULL, text, 0.4);
        best[k % 2] = fmin(best[k % 2], r.wall), hash[k % 2] = r.hash;
    }
    abut_workers_destroy(pool);
    printf("\n| 32 heaps of 3 | s by the clock | gain | same bits |\n| --- | --- | --- | --- |\n");
    printf("| 1 thread | %.3g | | |\n| 2 threads | %.3g | %.2f | %s |\n", best[0], best[1], best[0] / best[1],
           hash[0] == hash[1] ? "yes" : "NO");
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--many") == 0) {
        bench_many(argc > 2 ? argv[2] : NULL);
        return 0;
    }
    printf("| scene | bodies | steps | events | simulated s | s a simulated second | promises kept |\n");
    printf("| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 1; i < argc; i++) bench_scene(argv[i]);
    if (argc > 1) return 0;
    bench_folder(ABUT_SCENES);
    bench_heaps();
    bench_stack();
    bench_many(NULL);
    bench_threads();
    return 0;
}
