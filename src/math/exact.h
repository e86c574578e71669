/* Exact arithmetic on doubles: every finite double is an integer times a power of two, so a polynomial in
 * doubles is a polynomial in integers once each of its factors is scaled to a common power of two, and its
 * sign is that of an integer.  Nothing here rounds, overflows or underflows.
 *
 *     exact_pool pool;
 *     exact_begin(&pool);
 *     int e = exact_lowest(x, exact_lowest(y, EXACT_NO_BIT));
 *     integer a = exact_make(&pool, x, e), b = exact_make(&pool, y, e);
 *     int sign = exact_sub(&pool, exact_mul(&pool, a, a), exact_mul(&pool, b, b)).sign;   x x - y y
 *
 * Numbers are immutable handles (sign, magnitude by 64-bit words, lowest first) into a pool on the stack that
 * is only ever filled; the largest determinant of math/predicates.c fits whatever the exponents are. */
#ifndef MATH_EXACT_H
#define MATH_EXACT_H

#include <stdint.h>

typedef struct integer {
    int sign;  /* -1, 0, +1 */
    int count; /* words; the highest is not 0, and zero has none */
    const uint64_t *words;
} integer;

/* A double spans at most 1074 + 1024 = 2098 bits, 33 words, at a common power of two.  A polynomial of degree
 * 4 has then at most 4 x 2098 bits and a few for the sums: 132 words.  The largest use, a 4x4 determinant by
 * 12 minors, makes 16 coefficients (33 words), 24 products and 12 minors (67), 6 products and 5 sums (134):
 * under 4500 words. */
enum { EXACT_POOL_WORDS = 5120, EXACT_NO_BIT = 4096 };
typedef struct exact_pool {
    int used;
    uint64_t words[EXACT_POOL_WORDS];
} exact_pool;

static inline void exact_begin(exact_pool *pool) { pool->used = 0; }

/* The smaller of e and the exponent of the lowest bit that is set in x (zero has none). */
int exact_lowest(double x, int e);

/* x / 2^e, for e <= exact_lowest(x, EXACT_NO_BIT). */
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
