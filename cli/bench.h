/* The built-in benchmarks of `abut bench`, one function each; with `strict` a figure that is not met ends in
 * EXIT_NOT_MET. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"

int bench_table1(bool strict);
int bench_live(bool strict);

#endif
