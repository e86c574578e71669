/* `abut bench [NAME]`: the built-in benchmarks.  A benchmark is a function and a row of the table below. */
#include "bench.h"

#include <string.h>

static const struct benchmark {
    const char *name, *sentence;
    int (*run)(void);
} benchmarks[] = {
    {"table1", "table 1 of Vanecek 1990: nodes and heights of the index of spheres and tori", bench_table1},
};
enum { BENCHMARK_COUNT = sizeof benchmarks / sizeof benchmarks[0] };

int command_bench(int argc, char **argv) {
    cli_call call = {.command = "bench", .arguments = "[NAME]", .least = 0, .most = 1};
    bool stop = false;
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    if (call.positional_count == 0) {
        for (int i = 0; i < BENCHMARK_COUNT; i++)
            printf("abut bench %-10s %s\n", benchmarks[i].name, benchmarks[i].sentence);
        return EXIT_DONE;
    }
    for (int i = 0; i < BENCHMARK_COUNT; i++)
        if (strcmp(call.positional[0], benchmarks[i].name) == 0) return benchmarks[i].run();
    return cli_complain("there is no benchmark `%s`; `abut bench` lists them", call.positional[0]);
}
