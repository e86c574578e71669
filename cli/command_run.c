/* abut run SCENE: simulates, records, and prints a summary with the audit. */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

static int dump_json(const abut_scene *scene) {
    char *text;
    size_t size;
    abut_error error = {0};
    if (abut_scene_dump(scene, &text, &size, &error) != ABUT_OK) return cli_error(&error);
    bool written = fwrite(text, 1, size, stdout) == size && fputc('\n', stdout) != EOF && fflush(stdout) == 0;
    abut_scene_text_free(scene, text, size);
    return written ? EXIT_DONE
                   : cli_complain("the scene could not be written; is the output full or closed?");
}

int command_run(int argc, char **argv) {
    const char *output = NULL, *mode = NULL, *duration_text = NULL, *threads_text = NULL, *seed_text = NULL,
               *root = NULL, *steps_text = NULL;
    const char **set = NULL;
    bool strict = false, json = false, quiet = false, dump = false, separate = false, stop;
    const cli_option options[] = {{.name = "-o", .value = &output},
                                  {.name = "--output", .value = &output},
                                  {.name = "--set", .list = &set},
                                  {.name = "--mode", .value = &mode},
                                  {.name = "--duration", .value = &duration_text},
                                  {.name = "--threads", .value = &threads_text},
                                  {.name = "--seed", .value = &seed_text},
                                  {.name = "--root", .value = &root},
                                  {.name = "--max-steps", .value = &steps_text},
                                  {.name = "--strict", .flag = &strict},
                                  {.name = "--allow-overlap", .flag = &separate},
                                  {.name = "--dump-json", .flag = &dump},
                                  {.name = "-q", .flag = &quiet},
                                  {.name = "--json", .flag = &json}};
    cli_call call = {
        .command = "run",
        .arguments =
            "SCENE [-o REC] [--set NAME=VALUE]... [--mode exact|live] [--duration S] "
            "[--threads N] [--seed N] "
            "[--root FOLDER] [--max-steps N] [--allow-overlap] [--strict] [--dump-json] [-q] [--json]",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .least = 1,
        .most = 1};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    simulation s = {.recording = output, .quiet = quiet};
    long threads = 1, seed = 0, max_steps = 0;
    double duration = -1;
    if (mode && strcmp(mode, "exact") != 0 && strcmp(mode, "live") != 0)
        return cli_complain("run: --mode `%s` is neither exact nor live", mode);
    if (threads_text && !cli_integer("run: --threads", threads_text, 1, 256, &threads)) return EXIT_WRONG;
    if (seed_text && !cli_integer("run: --seed", seed_text, 0, 2147483647, &seed)) return EXIT_WRONG;
    if (steps_text && !cli_integer("run: --max-steps", steps_text, 1, 1000000000000, &max_steps))
        return EXIT_WRONG;
    s.max_steps = max_steps;
    if (duration_text && !cli_number("run: --duration", duration_text, &duration)) return EXIT_WRONG;
    if (duration_text && duration < 0) return cli_complain("run: --duration cannot be negative");
    abut_scene_options scene_options = {
        .root = root, .set = set, .seed = (uint64_t)seed, .separate = separate, .mode = mode};
    status = simulation_load(&s, call.positional[0], &scene_options, (int)threads);
    if (status == EXIT_DONE && dump) {
        status = dump_json(s.scene);
    } else if (status == EXIT_DONE) {
        if (duration_text) s.duration = duration;
        if (!json) simulation_print_shifts(&s);
        abut_recorder_def def = {.set = set, .seed = (uint64_t)seed, .duration = s.duration};
        status = simulation_begin(&s, &def);
        if (status == EXIT_DONE) status = simulation_run(&s, strict, json);
    }
    simulation_end(&s);
    free(set);
    return status;
}
