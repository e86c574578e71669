/* Exact arithmetic on doubles: every finite double is an integer times a power of two, so a polynomial in
 * doubles is a polynomial in integers once each of its factors is scaled to a common power of two, and its
 * sign is that of an integer.  Nothing here rounds, overflows or underflows.
 *
 *     exact_pool pool;
 *     exact_begin(&pool);
 *     exact_span span = EXACT_NO_BITS;
 *     exact_cover(&span, x), exact_cover(&span, y);
 *     integer a = exact_make(&pool, x, span.low), b = exact_make(&pool, y, span.low);
 *     int sign = exact_sub(&pool, exact_mul(&pool, a, a), exact_mul(&pool, b, b)).sign;   x x - y y
 *
 * Numbers are immutable handles (sign, magnitude by 64-bit words, lowest first) into a pool on the stack that
 * is only ever filled; the largest determinant of math/predicates.c fits whatever the exponents are. */
#ifndef MATH_EXACT_H
#define MATH_EXACT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The exponents that the bits of some doubles span: all are multiples of 2^low, and below 2^high. */
typedef struct exact_span {
    int low, high;
} exact_span;
#define EXACT_NO_BITS ((exact_span){4096, -4096})

/* |x| = mantissa 2^exponent, with a mantissa below 2^53. */
static inline uint64_t exact_take_apart(double x, int *exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int biased = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & 0xfffffffffffffu;
    *exponent = biased ? biased - 1075 : -1074;
    return biased ? fraction | 0x10000000000000u : fraction;
}

static inline void exact_cover(exact_span *span, double x) {
    int exponent;
    uint64_t mantissa = exact_take_apart(x, &exponent);
    if (!mantissa) return;
    int low = exponent + __builtin_ctzll(mantissa), high = exponent + 53;
    if (low < span->low) span->low = low;
    if (high > span->high) span->high = high;
}

/* ---- integers of a span of at most 61 bits, which most numbers of one solid have: one word each */

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
typedef struct int256 {
    uint64_t words[4]; /* two's complement, lowest first */
} int256;

/* All numbers of the span, divided by 2^low, are below 2^61, and the division is a product with a double. */
static inline bool exact_is_small(exact_span span) {
    return span.high - span.low <= 61 && span.low > -1000 && span.low < 1000;
}
/* x / 2^low for a small span */
static inline int64_t exact_small(double x, exact_span span) {
    uint64_t bits = (uint64_t)(1023 - span.low) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return (int64_t)(x * scale);
}
/* a d - b c; at most 2^125 for factors up to 2^62 */
static inline int128 exact_small_det2(int64_t a, int64_t b, int64_t c, int64_t d) {
    return (int128)a * d - (int128)b * c;
}
/* a b; |a|, |b| < 2^127: the product of the sizes by its four parts, then the sign. */
static inline int256 exact_wide_mul(int128 a, int128 b) {
    uint128 x = a < 0 ? -(uint128)a : (uint128)a, y = b < 0 ? -(uint128)b : (uint128)b;
    uint64_t x0 = (uint64_t)x, x1 = (uint64_t)(x >> 64), y0 = (uint64_t)y, y1 = (uint64_t)(y >> 64);
    uint128 low = (uint128)x0 * y0, cross = (uint128)x0 * y1 + (low >> 64),
            other = (uint128)x1 * y0 + (uint64_t)cross;
    uint128 high = (uint128)x1 * y1 + (cross >> 64) + (other >> 64);
    low = (other << 64) | (uint64_t)low;
    if ((a < 0) != (b < 0)) low = -low, high = ~high + (low == 0);
    return (int256){{(uint64_t)low, (uint64_t)(low >> 64), (uint64_t)high, (uint64_t)(high >> 64)}};
}

static inline int256 exact_wide_add(int256 a, int256 b) {
    int256 sum;
    uint128 carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (uint128)a.words[i] + b.words[i];
        sum.words[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return sum;
}
static inline int exact_wide_sign(int256 a) {
    if (a.words[3] >> 63) return -1;
    return (a.words[0] | a.words[1] | a.words[2] | a.words[3]) != 0;
}

/* ---- integers of any size */

typedef struct integer {
    int sign;  /* -1, 0, +1 */
    int count; /* words; the highest is not 0, and zero has none */
    const uint64_t *words;
} integer;

/* A double spans at most 1074 + 1024 = 2098 bits, 33 words, at a common power of two.  A polynomial of degree
 * 4 has then at most 4 x 2098 bits and a few for the sums: 132 words.  The largest use, a 4x4 determinant by
 * 12 minors, makes 16 coefficients (33 words), 24 products and 12 minors (67), 6 products and 5 sums (134):
 * under 4500 words. */
enum { EXACT_POOL_WORDS = 5120 };
typedef struct exact_pool {
    int used;
    uint64_t words[EXACT_POOL_WORDS];
} exact_pool;

static inline void exact_begin(exact_pool *pool) { pool->used = 0; }

/* x / 2^e, for e not above the lowest bit that is set in x. */
integer exact_make(exact_pool *pool, double x, int e);

integer exact_add(exact_pool *pool, integer a, integer b);
integer exact_mul(exact_pool *pool, integer a, integer b);
static inline integer exact_neg(integer a) { return (integer){-a.sign, a.count, a.words}; }
static inline integer exact_sub(exact_pool *pool, integer a, integer b) {
    return exact_add(pool, a, exact_neg(b));
}
/* a d - b c */
static inline integer exact_det2(exact_pool *pool, integer a, integer b, integer c, integer d) {
    return exact_sub(pool, exact_mul(pool, a, d), exact_mul(pool, b, c));
}

#endif
