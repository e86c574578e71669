/* Integers of many words for the exact stage of the predicates: conversion, sum, product. */
#include "math/exact.h"

#include <assert.h>

static uint64_t *reserve(exact_pool *pool, int count) {
    assert(pool->used + count <= EXACT_POOL_WORDS);
    uint64_t *words = pool->words + pool->used;
    pool->used += count;
    return words;
}

/* A result of at most `count` words: leading zero words go, and back to the pool. */
static integer finish(exact_pool *pool, int sign, const uint64_t *words, int count) {
    while (count > 0 && words[count - 1] == 0) count--, pool->used--;
    return (integer){count ? sign : 0, count, words};
}

integer exact_make(exact_pool *pool, double x, int e) {
    int exponent;
    uint64_t mantissa = exact_take_apart(x, &exponent);
    if (!mantissa) return (integer){0, 0, pool->words};
    int zeros = __builtin_ctzll(mantissa), shift = exponent + zeros - e;
    mantissa >>= zeros;
    assert(shift >= 0);
    int low = shift / 64, bit = shift % 64;
    uint64_t *words = reserve(pool, low + 2);
    for (int i = 0; i < low; i++) words[i] = 0;
    words[low] = mantissa << bit;
    words[low + 1] = bit ? mantissa >> (64 - bit) : 0;
    return finish(pool, x < 0 ? -1 : 1, words, low + 2);
}

/* Sign of |a| - |b|. */
static int compare_magnitude(integer a, integer b) {
    if (a.count != b.count) return a.count < b.count ? -1 : 1;
    for (int i = a.count - 1; i >= 0; i--)
        if (a.words[i] != b.words[i]) return a.words[i] < b.words[i] ? -1 : 1;
    return 0;
}

/* sign (|a| + |b|), |a| >= |b| */
static integer add_magnitude(exact_pool *pool, int sign, integer a, integer b) {
    uint64_t *words = reserve(pool, a.count + 1);
    uint128 carry = 0;
    for (int i = 0; i < a.count; i++) {
        carry += (uint128)a.words[i] + (i < b.count ? b.words[i] : 0);
        words[i] = (uint64_t)carry;
        carry >>= 64;
    }
    words[a.count] = (uint64_t)carry;
    return finish(pool, sign, words, a.count + 1);
}

/* sign (|a| - |b|), |a| >= |b| */
static integer sub_magnitude(exact_pool *pool, int sign, integer a, integer b) {
    uint64_t *words = reserve(pool, a.count);
    uint64_t borrow = 0;
    for (int i = 0; i < a.count; i++) {
        uint128 difference = (uint128)a.words[i] - (i < b.count ? b.words[i] : 0) - borrow;
        words[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    return finish(pool, sign, words, a.count);
}

integer exact_add(exact_pool *pool, integer a, integer b) {
    if (a.sign == 0) return b;
    if (b.sign == 0) return a;
    int order = compare_magnitude(a, b);
    if (order < 0) {
        integer swap = a;
        a = b, b = swap;
    }
    if (a.sign == b.sign) return add_magnitude(pool, a.sign, a, b);
    if (order == 0) return (integer){0, 0, pool->words};
    return sub_magnitude(pool, a.sign, a, b);
}

/* Schoolbook: words[i + j] += a_i b_j with the carry running along j. */
integer exact_mul(exact_pool *pool, integer a, integer b) {
    if (a.sign == 0 || b.sign == 0) return (integer){0, 0, pool->words};
    uint64_t *words = reserve(pool, a.count + b.count), carry = 0;
    for (int j = 0; j < b.count; j++) {
        uint128 sum = (uint128)a.words[0] * b.words[j] + carry;
        words[j] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    words[b.count] = carry;
    for (int i = 1; i < a.count; i++) {
        carry = 0;
        for (int j = 0; j < b.count; j++) {
            uint128 sum = (uint128)a.words[i] * b.words[j] + words[i + j] + carry;
            words[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        words[i + b.count] = carry;
    }
    return finish(pool, a.sign * b.sign, words, a.count + b.count);
}
