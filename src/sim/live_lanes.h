/* Four contacts at once: a lane group is a vector of four doubles.  Elementwise arithmetic only, so that the
 * bits are the same whether the processor has AVX2 (one instruction each) or only SSE2 (two).
 *
 * What is kept between two visits is packed into floats, because a sweep over a large heap is as fast as its
 * memory: half the bytes, and half a rounding of 2^-24 on arms, masses and impulses.  An impulse is packed
 * before its change is applied, so that both bodies get the same one and momentum stays exact. */
#ifndef SIM_LIVE_LANES_H
#define SIM_LIVE_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(32)));
typedef int64_t lanes_mask __attribute__((vector_size(32)));

#define LANES_INLINE static inline __attribute__((always_inline))

typedef struct lanes3 {
    lanes x, y, z;
} lanes3;

typedef float packed __attribute__((vector_size(16)));
typedef struct packed3 {
    packed x, y, z;
} packed3;
typedef struct packed_sym {
    packed xx, yy, zz, xy, xz, yz;
} packed_sym;

LANES_INLINE lanes lanes_all(double x) { return (lanes){x, x, x, x}; }
/* mask ? a : b */
LANES_INLINE lanes lanes_pick(lanes_mask mask, lanes a, lanes b) {
    return (lanes)(((lanes_mask)a & mask) | ((lanes_mask)b & ~mask));
}
LANES_INLINE lanes lanes_max(lanes a, lanes b) { return lanes_pick(a > b, a, b); }
LANES_INLINE lanes lanes_min(lanes a, lanes b) { return lanes_pick(a < b, a, b); }
LANES_INLINE lanes lanes_sqrt(lanes a) { return (lanes){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])}; }
LANES_INLINE lanes lanes_dot(lanes3 a, lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
LANES_INLINE lanes3 lanes_cross(lanes3 a, lanes3 b) {
    return (lanes3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
LANES_INLINE lanes3 lanes_sub3(lanes3 a, lanes3 b) { return (lanes3){a.x - b.x, a.y - b.y, a.z - b.z}; }
LANES_INLINE lanes3 lanes_add3(lanes3 a, lanes3 b) { return (lanes3){a.x + b.x, a.y + b.y, a.z + b.z}; }
LANES_INLINE lanes3 lanes_scale3(lanes3 a, lanes s) { return (lanes3){a.x * s, a.y * s, a.z * s}; }
/* a + s b */
LANES_INLINE lanes3 lanes_axpy3(lanes3 a, lanes s, lanes3 b) {
    return (lanes3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

/* Symmetric matrices: xx yy zz xy xz yz. */
typedef struct lanes_sym {
    lanes xx, yy, zz, xy, xz, yz;
} lanes_sym;
LANES_INLINE lanes3 lanes_mul_sym(const lanes_sym *m, lanes3 v) {
    return (lanes3){m->xx * v.x + m->xy * v.y + m->xz * v.z, m->xy * v.x + m->yy * v.y + m->yz * v.z,
                    m->xz * v.x + m->yz * v.y + m->zz * v.z};
}

LANES_INLINE lanes lanes_open(packed a) { return __builtin_convertvector(a, lanes); }
LANES_INLINE packed lanes_pack(lanes a) { return __builtin_convertvector(a, packed); }
LANES_INLINE lanes3 lanes_open3(packed3 a) {
    return (lanes3){lanes_open(a.x), lanes_open(a.y), lanes_open(a.z)};
}
LANES_INLINE packed3 lanes_pack3(lanes3 a) {
    return (packed3){lanes_pack(a.x), lanes_pack(a.y), lanes_pack(a.z)};
}
LANES_INLINE lanes_sym lanes_open_sym(const packed_sym *m) {
    return (lanes_sym){lanes_open(m->xx), lanes_open(m->yy), lanes_open(m->zz),
                       lanes_open(m->xy), lanes_open(m->xz), lanes_open(m->yz)};
}

/* Four rows of four numbers turned into their columns. */
LANES_INLINE void lanes_turn(lanes r[4]) {
    lanes a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6),
          b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
    lanes c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6),
          d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5), r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

#endif
