/* The kernels for every processor, and the choice between them and those for AVX2. */
#include "sim/live_kernels.h"

live_kernels live_choose_kernels(bool scalar) {
#if defined(__x86_64__)
    if (!scalar && __builtin_cpu_supports("avx2")) return live_kernels_avx2();
#endif
    (void)scalar;
    return (live_kernels){prepare, place, warm, solve, grip};
}
