/* The kernels once more, compiled for processors with AVX2: the same arithmetic, and so the same bits. */
#include "sim/live_kernels.h"

live_kernels live_kernels_avx2(void) { return (live_kernels){prepare, place, warm, solve, grip}; }
