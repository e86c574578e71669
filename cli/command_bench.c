/* `abut bench [NAME] [--strict]`: the built-in benchmarks.  A benchmark is a function and a row of the table
 * below. */
#include "bench.h"

#include <string.h>

static const struct benchmark {
    const char *name, *sentence;
    int (*run)(bool strict);
} benchmarks[] = {
    {"live", "the live clock on scenes with exact answers, beside the best engine's figures", bench_live},
    {"table1", "table 1 of Vanecek 1990: nodes and heights of the index of spheres and tori", bench_table1},
};
enum { BENCHMARK_COUNT = sizeof benchmarks / sizeof benchmarks[0] };

int command_bench(int argc, char **argv) {
    bool strict = false;
    const cli_option options[] = {{.name = "--strict", .flag = &strict}};
    cli_call call = {.command = "bench",
                     .arguments = "[NAME] [--strict]",
                     .options = options,
                     .option_count = 1,
                     .least = 0,
                     .most = 1};
    bool stop = false;
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    if (call.positional_count == 0) {
        for (int i = 0; i < BENCHMARK_COUNT; i++)
            printf("abut bench %-10s %s\n", benchmarks[i].name, benchmarks[i].sentence);
        return EXIT_DONE;
    }
    for (int i = 0; i < BENCHMARK_COUNT; i++)
        if (strcmp(call.positional[0], benchmarks[i].name) == 0) return benchmarks[i].run(strict);
    return cli_complain("there is no benchmark `%s`; `abut bench` lists them", call.positional[0]);
}
