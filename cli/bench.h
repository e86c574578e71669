/* The built-in benchmarks of `abut bench`, one function each. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"

int bench_table1(void);

#endif
