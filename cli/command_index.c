#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool method_of(const char *word, abut_index_method *method) {
    for (int m = ABUT_INDEX_HYBRID; m <= ABUT_INDEX_FIRST; m++)
        if (strcmp(word, abut_index_method_name((abut_index_method)m)) == 0)
            return *method = (abut_index_method)m, true;
    cli_complain("--method is `%s`; it must be hybrid, autopartition or first", word);
    return false;
}

static int print(const abut_index *index, double seconds, bool json) {
    abut_index_facts f = abut_index_facts_of(index);
    if (json)
        return cli_print_json(
            json_pack("{s:I, s:I, s:f, s:I, s:f, s:I, s:s, s:I, s:I, s:I}", "nodes", (json_int_t)f.nodes,
                      "height", (json_int_t)f.height, "average_height", f.average_height, "cells",
                      (json_int_t)f.cells, "build_s", seconds, "bytes", (json_int_t)f.bytes, "method",
                      abut_index_method_name(f.method), "space_nodes", (json_int_t)f.space_nodes,
                      "plane_nodes", (json_int_t)f.plane_nodes, "line_nodes", (json_int_t)f.line_nodes));
    printf("method          %s\n", abut_index_method_name(f.method));
    printf("nodes           %lld (3D %lld, 2D %lld, 1D %lld)\n", (long long)f.nodes, (long long)f.space_nodes,
           (long long)f.plane_nodes, (long long)f.line_nodes);
    printf("height          %lld\n", (long long)f.height);
    printf("average height  %.2f\n", f.average_height);
    printf("cells           %lld\n", (long long)f.cells);
    printf("build           %.3g s\n", seconds);
    printf("bytes           %lld\n", (long long)f.bytes);
    return EXIT_DONE;
}

int command_index(int argc, char **argv) {
    const char *method = "hybrid", *picture = NULL, *threads = NULL, *output = NULL;
    bool json = false;
    const cli_option options[] = {{"--method", &method, NULL, NULL},
                                  {"--picture", &picture, NULL, NULL},
                                  {"--threads", &threads, NULL, NULL},
                                  {"-o", &output, NULL, NULL},
                                  {"--json", NULL, &json, NULL}};
    cli_call call = {.command = "index",
                     .arguments = "MESH [--method hybrid|autopartition|first] [--threads N] [-o INDEX] "
                                  "[--picture OUT.svg] [--json]",
                     .options = options,
                     .option_count = 5,
                     .least = 1,
                     .most = 1};
    bool stop = false;
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    abut_index_options build = abut_default_index_options();
    long count = 1;
    if (!method_of(method, &build.method)) return EXIT_WRONG;
    if (threads && !cli_integer("--threads", threads, 1, 256, &count)) return EXIT_WRONG;

    abut_context context = {0};
    abut_workers *workers = count > 1 ? abut_workers_create(NULL, (int)count) : NULL;
    if (workers) context.parallel = abut_workers_parallel(workers);
    abut_error error = {0};
    abut_solid *solid = NULL;
    abut_index *index = NULL;
    double start = 0;
    abut_status done = abut_solid_load(&context, call.positional[0], NULL, &solid, &error);
    if (done == ABUT_OK) start = now(), done = abut_index_build(&context, solid, &build, &index, &error);
    double seconds = now() - start;
    if (done == ABUT_OK && output) done = abut_index_save(&context, index, output, &error);
    if (done == ABUT_OK && picture) status = cli_index_picture(solid, index, picture);
    if (status == EXIT_DONE) status = done == ABUT_OK ? print(index, seconds, json) : cli_error(&error);
    abut_index_free(&context, index);
    abut_solid_free(&context, solid);
    abut_workers_destroy(workers);
    return status;
}
