/* Eight contacts at once: a lane group is a vector of eight floats, and a body's velocity four doubles.
 * Elementwise arithmetic only, so that the bits are the same whether the processor has AVX2 (one instruction
 * each) or only SSE2 (two).
 *
 * Floats, because a visit of the solver is as fast as its arithmetic and its memory: twice the contacts an
 * instruction and half the bytes, for a rounding of 2^-24 on arms, masses and impulses.  What must not be
 * rounded stays in doubles: positions and velocities themselves, the difference of two velocities (bodies
 * that fly along together), and what is prepared once a step. */
#ifndef SIM_LIVE_LANES_H
#define SIM_LIVE_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { LANES = 8, HALF = 4 };
typedef float lanes __attribute__((vector_size(32)));
typedef int32_t lanes_mask __attribute__((vector_size(32)));
typedef float half_lanes __attribute__((vector_size(16), may_alias)); /* four of them, or a row of three */
typedef double four __attribute__((vector_size(32)));
typedef int64_t four_mask __attribute__((vector_size(32)));

#define LANES_INLINE static inline __attribute__((always_inline))

/* Vectors of three and symmetric matrices (xx yy zz xy xz yz) of one kind of lanes. */
#define LANES_ALGEBRA(kind)                                                                                \
    typedef struct kind##3 {                                                                               \
        kind x, y, z;                                                                                      \
    }                                                                                                      \
    kind##3;                                                                                               \
    typedef struct kind##_sym {                                                                            \
        kind xx, yy, zz, xy, xz, yz;                                                                       \
    } kind##_sym;                                                                                          \
    LANES_INLINE kind kind##_dot(kind##3 a, kind##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }       \
    LANES_INLINE kind##3 kind##_cross(kind##3 a, kind##3 b) {                                              \
        return (kind##3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};             \
    }                                                                                                      \
    LANES_INLINE kind##3 kind##_sub3(kind##3 a, kind##3 b) {                                               \
        return (kind##3){a.x - b.x, a.y - b.y, a.z - b.z};                                                 \
    }                                                                                                      \
    LANES_INLINE kind##3 kind##_add3(kind##3 a, kind##3 b) {                                               \
        return (kind##3){a.x + b.x, a.y + b.y, a.z + b.z};                                                 \
    }                                                                                                      \
    LANES_INLINE kind##3 kind##_scale3(kind##3 a, kind s) { return (kind##3){a.x * s, a.y * s, a.z * s}; } \
    /* a + s b */                                                                                          \
    LANES_INLINE kind##3 kind##_axpy3(kind##3 a, kind s, kind##3 b) {                                      \
        return (kind##3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};                                     \
    }                                                                                                      \
    LANES_INLINE kind##3 kind##_mul_sym(const kind##_sym *m, kind##3 v) {                                  \
        return (kind##3){m->xx * v.x + m->xy * v.y + m->xz * v.z, m->xy * v.x + m->yy * v.y + m->yz * v.z, \
                         m->xz * v.x + m->yz * v.y + m->zz * v.z};                                         \
    }
LANES_ALGEBRA(lanes)
LANES_ALGEBRA(four)
#undef LANES_ALGEBRA

LANES_INLINE lanes lanes_all(float x) { return (lanes){x, x, x, x, x, x, x, x}; }
LANES_INLINE four four_all(double x) { return (four){x, x, x, x}; }

/* Bit by lane. */
LANES_INLINE lanes_mask lanes_bits(uint32_t bits) {
    lanes_mask m;
    for (int i = 0; i < LANES; i++) m[i] = -(int32_t)(bits >> i & 1);
    return m;
}

/* mask ? a : b */
LANES_INLINE lanes lanes_pick(lanes_mask mask, lanes a, lanes b) {
#if defined(__AVX2__)
    return (lanes)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (lanes)(((lanes_mask)a & mask) | ((lanes_mask)b & ~mask));
#endif
}
LANES_INLINE four four_pick(four_mask mask, four a, four b) {
    return (four)(((four_mask)a & mask) | ((four_mask)b & ~mask));
}
/* a > b ? a : b, and a < b ? a : b: what is no number gives b */
LANES_INLINE lanes lanes_max(lanes a, lanes b) {
#if defined(__AVX2__)
    return (lanes)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return lanes_pick(a > b, a, b);
#endif
}
LANES_INLINE lanes lanes_min(lanes a, lanes b) {
#if defined(__AVX2__)
    return (lanes)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return lanes_pick(a < b, a, b);
#endif
}
LANES_INLINE lanes lanes_sqrt(lanes a) {
#if defined(__AVX2__)
    return (lanes)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < LANES; i++) a[i] = sqrtf(a[i]);
    return a;
#endif
}
LANES_INLINE four four_max(four a, four b) { return four_pick(a > b, a, b); }
LANES_INLINE four four_sqrt(four a) { return (four){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])}; }

/* Four of eight lanes in doubles, and back. */
LANES_INLINE four four_open(const lanes *from, int side) {
    return __builtin_convertvector(((const half_lanes *)from)[side], four);
}
LANES_INLINE void four_pack(lanes *to, int side, four a) {
    ((half_lanes *)to)[side] = __builtin_convertvector(a, half_lanes);
}
LANES_INLINE four3 four_open3(const lanes3 *from, int side) {
    return (four3){four_open(&from->x, side), four_open(&from->y, side), four_open(&from->z, side)};
}
LANES_INLINE void four_pack3(lanes3 *to, int side, four3 a) {
    four_pack(&to->x, side, a.x), four_pack(&to->y, side, a.y), four_pack(&to->z, side, a.z);
}
LANES_INLINE four_sym four_open_sym(const lanes_sym *m, int side) {
    return (four_sym){four_open(&m->xx, side), four_open(&m->yy, side), four_open(&m->zz, side),
                      four_open(&m->xy, side), four_open(&m->xz, side), four_open(&m->yz, side)};
}

/* Eight rows of three numbers, a lane each, and their columns. */
#if defined(__AVX2__)
/* The rows i and i + 4 stand side by side, and both halves are turned alike. */
LANES_INLINE lanes3 lanes_columns(const half_lanes r[LANES]) {
    lanes s[HALF];
    for (int i = 0; i < HALF; i++) s[i] = __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    lanes a = __builtin_shufflevector(s[0], s[1], 0, 8, 1, 9, 4, 12, 5, 13);
    lanes b = __builtin_shufflevector(s[2], s[3], 0, 8, 1, 9, 4, 12, 5, 13);
    lanes c = __builtin_shufflevector(s[0], s[1], 2, 10, 3, 11, 6, 14, 7, 15);
    lanes d = __builtin_shufflevector(s[2], s[3], 2, 10, 3, 11, 6, 14, 7, 15);
    return (lanes3){__builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13),
                    __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15),
                    __builtin_shufflevector(c, d, 0, 1, 8, 9, 4, 5, 12, 13)};
}
LANES_INLINE void lanes_rows(lanes3 v, half_lanes r[LANES]) {
    lanes o = lanes_all(0), s[HALF];
    lanes a = __builtin_shufflevector(v.x, v.y, 0, 8, 1, 9, 4, 12, 5, 13);
    lanes b = __builtin_shufflevector(v.z, o, 0, 8, 1, 9, 4, 12, 5, 13);
    lanes c = __builtin_shufflevector(v.x, v.y, 2, 10, 3, 11, 6, 14, 7, 15);
    lanes d = __builtin_shufflevector(v.z, o, 2, 10, 3, 11, 6, 14, 7, 15);
    s[0] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    s[1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    s[2] = __builtin_shufflevector(c, d, 0, 1, 8, 9, 4, 5, 12, 13);
    s[3] = __builtin_shufflevector(c, d, 2, 3, 10, 11, 6, 7, 14, 15);
    for (int i = 0; i < HALF; i++) {
        r[i] = __builtin_shufflevector(s[i], s[i], 0, 1, 2, 3);
        r[i + 4] = __builtin_shufflevector(s[i], s[i], 4, 5, 6, 7);
    }
}
#else
LANES_INLINE void half_turn(const half_lanes r[HALF], half_lanes c[HALF]) {
    half_lanes a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5),
               b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    half_lanes d = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7),
               e = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    c[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5), c[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    c[2] = __builtin_shufflevector(d, e, 0, 1, 4, 5), c[3] = __builtin_shufflevector(d, e, 2, 3, 6, 7);
}
LANES_INLINE lanes3 lanes_columns(const half_lanes r[LANES]) {
    lanes3 v;
    for (int side = 0; side < 2; side++) {
        half_lanes c[HALF];
        half_turn(r + side * HALF, c);
        ((half_lanes *)&v.x)[side] = c[0], ((half_lanes *)&v.y)[side] = c[1],
                     ((half_lanes *)&v.z)[side] = c[2];
    }
    return v;
}
LANES_INLINE void lanes_rows(lanes3 v, half_lanes r[LANES]) {
    for (int side = 0; side < 2; side++) {
        half_lanes c[HALF] = {
            ((half_lanes *)&v.x)[side], ((half_lanes *)&v.y)[side], ((half_lanes *)&v.z)[side], {0, 0, 0, 0}};
        half_turn(c, r + side * HALF);
    }
}
#endif

#endif
