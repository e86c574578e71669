/* Decimal numbers to doubles and back, exactly rounded, without the C library's locale.
 *
 * A number is w 10^e.  Three ways, the first that applies:
 *   w < 2^53, |e| <= 22           one multiplication or division of exact doubles (Clinger 1990)
 *   w < 2^64, |e| <= 27           w 5^e in 128 bits, or the 128-bit quotient w 2^64 / 5^-e with its remainder
 *   otherwise                     long division of big integers, 64 bits of quotient and a sticky bit
 */
#include "base/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 uint128;

static const double exact_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The nearest double to (q + s) 2^exponent, where 0 <= s < 1 is not 0 when `sticky`; infinite beyond the
 * range. */
static double compose(uint64_t q, bool sticky, int exponent) {
    if (q == 0) return 0;
    int zeros = __builtin_clzll(q);
    q <<= zeros, exponent -= zeros;
    int top = exponent + 63; /* 2^top <= value < 2^(top + 1) */
    if (top > 1023) return INFINITY;
    int bits = top >= -1022 ? 53 : 53 - (-1022 - top); /* subnormals have fewer */
    if (bits < 0) return 0;
    int shift = 64 - bits;
    uint64_t kept = shift < 64 ? q >> shift : 0;
    uint64_t rest = shift < 64 ? q << bits : q; /* what falls off, moved to the top: a half is 2^63 */
    uint64_t half = (uint64_t)1 << 63;
    if (rest > half || (rest == half && (sticky || (kept & 1)))) kept++;
    return ldexp((double)kept, exponent + shift);
}

static uint64_t power_of_five(int n) {
    uint64_t power = 1;
    while (n-- > 0) power *= 5;
    return power;
}

/* w 10^e = w 5^e 2^e for |e| <= 27, where 5^|e| < 2^63. */
static double scale_128(uint64_t w, int e) {
    uint64_t five = power_of_five(e < 0 ? -e : e);
    uint128 product;
    bool sticky = false;
    if (e >= 0) {
        product = (uint128)w * five;
    } else {
        int zeros = __builtin_clzll(w);
        uint128 numerator = (uint128)(w << zeros) << 64;
        product = numerator / five; /* at least 2^127 / 2^63 = 2^64 */
        sticky = product * five != numerator;
        e -= zeros + 64;
    }
    uint64_t high = (uint64_t)(product >> 64);
    if (high == 0) return compose((uint64_t)product, sticky, e);
    int zeros = __builtin_clzll(high);
    product <<= zeros;
    return compose((uint64_t)(product >> 64), sticky || (uint64_t)product != 0, e + 64 - zeros);
}

/* ---- big integers: 32-bit words, the least first */
enum {
    BIG_DIGITS = 800, /* beyond 768 significant digits no two doubles differ; the rest is sticky */
    BIG_WORDS = 144,  /* 10^(800 + 400) < 2^3987, one shift of a word more, and room */
};
typedef struct big {
    uint32_t word[BIG_WORDS];
    int count;
} big;

/* b = b factor + add */
static void big_multiply(big *b, uint32_t factor, uint32_t add) {
    uint64_t carry = add;
    for (int i = 0; i < b->count; i++) {
        carry += (uint64_t)b->word[i] * factor;
        b->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) b->word[b->count++] = (uint32_t)carry;
}

static void big_times_ten(big *b, int power) {
    for (; power >= 9; power -= 9) big_multiply(b, 1000000000, 0);
    for (; power > 0; power--) big_multiply(b, 10, 0);
}

static int big_bits(const big *b) { return 32 * b->count - __builtin_clz(b->word[b->count - 1]); }

static void big_shift(big *b, int bits) {
    int words = bits / 32, rest = bits % 32;
    if (words) {
        memmove(b->word + words, b->word, (size_t)b->count * sizeof b->word[0]);
        memset(b->word, 0, (size_t)words * sizeof b->word[0]);
        b->count += words;
    }
    if (rest) big_multiply(b, (uint32_t)1 << rest, 0);
}

/* b -= a when b >= a; says whether it did. */
static bool big_subtract(big *b, const big *a) {
    if (b->count != a->count) {
        if (b->count < a->count) return false;
    } else {
        int i = b->count - 1;
        while (i > 0 && b->word[i] == a->word[i]) i--;
        if (b->word[i] < a->word[i]) return false;
    }
    int64_t borrow = 0;
    for (int i = 0; i < b->count; i++) {
        borrow += (int64_t)b->word[i] - (i < a->count ? a->word[i] : 0);
        b->word[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    while (b->count > 0 && b->word[b->count - 1] == 0) b->count--;
    return true;
}

/* The digits of [at, end) (a point among them is passed over), of which the last stands for 10^e. */
static double scale_big(const char *at, const char *end, int64_t e) {
    big n = {.count = 0}, m = {.word = {1}, .count = 1};
    int digits = 0;
    bool sticky = false;
    for (; at < end; at++) {
        if (*at == '.') continue;
        if (digits == 0 && *at == '0') continue;
        if (digits < BIG_DIGITS)
            big_multiply(&n, 10, (uint32_t)(*at - '0')), digits++;
        else
            sticky |= *at != '0', e++;
    }
    if (n.count == 0 || e + digits < -330) return 0;
    if (e + digits > 310) return INFINITY;
    if (e >= 0)
        big_times_ten(&n, (int)e);
    else
        big_times_ten(&m, (int)-e);
    /* n 2^a and m 2^b of the same length, so that the quotient is below 2; then 64 bits of it */
    int difference = big_bits(&m) - big_bits(&n);
    big_shift(difference > 0 ? &n : &m, abs(difference));
    uint64_t q = 0;
    for (int i = 0; i < 64; i++) {
        q = q << 1 | big_subtract(&n, &m);
        big_shift(&n, 1);
    }
    return compose(q, sticky || n.count > 0, -difference - 63);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool starts_with(const char *at, const char *end, const char *word) {
    for (; *word; at++, word++)
        if (at == end || (*at | 0x20) != *word) return false;
    return true;
}

/* nan, inf, infinity behind an optional sign */
static number_kind parse_name(const char *at, const char *end, const char **behind) {
    if (starts_with(at, end, "nan")) return *behind = at + 3, NUMBER_NAN;
    if (starts_with(at, end, "infinity")) return *behind = at + 8, NUMBER_INFINITE;
    if (starts_with(at, end, "inf")) return *behind = at + 3, NUMBER_INFINITE;
    return NUMBER_NONE;
}

/* e [+-] digits, where there is at least one digit; far beyond any double it saturates. */
static int64_t parse_exponent(const char **at, const char *end) {
    const char *p = *at;
    if (p == end || (*p | 0x20) != 'e') return 0;
    p++;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || !is_digit(*p)) return 0;
    int64_t exponent = 0;
    for (; p < end && is_digit(*p); p++)
        if (exponent < 1000000000000) exponent = 10 * exponent + (*p - '0');
    *at = p;
    return negative ? -exponent : exponent;
}

number_kind number_parse(const char *at, const char *end, const char **behind, double *value) {
    const char *p = at;
    *behind = at;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p < end && !is_digit(*p) && *p != '.') return parse_name(p, end, behind);
    const char *first = p, *point = NULL;
    uint64_t w = 0;
    while (p < end && *p == '0') p++;
    const char *significant = p;
    for (; p < end && is_digit(*p); p++) w = 10 * w + (uint64_t)(*p - '0');
    if (p < end && *p == '.') {
        point = p++;
        if (significant == point) {
            while (p < end && *p == '0') p++;
            significant = p;
        }
        for (; p < end && is_digit(*p); p++) w = 10 * w + (uint64_t)(*p - '0');
    }
    if (p - first == (point ? 1 : 0)) return NUMBER_NONE;
    const char *last = p;
    int64_t digits = last - significant - (point && point >= significant ? 1 : 0);
    int64_t e = parse_exponent(&p, end) - (point ? last - point - 1 : 0);
    double x;
    if (digits <= 19 && w >> 53 == 0 && e >= -22 && e <= 22)
        x = e < 0 ? (double)w / exact_tens[-e] : (double)w * exact_tens[e];
    else if (digits <= 19 && w == 0)
        x = 0;
    else if (digits <= 19 && e >= -27 && e <= 27)
        x = scale_128(w, (int)e);
    else
        x = scale_big(first, last, e);
    *behind = p;
    if (isinf(x)) return NUMBER_TOO_LARGE;
    *value = negative ? -x : x;
    return NUMBER_FINE;
}

number_kind integer_parse(const char *at, const char *end, const char **behind, int64_t *value) {
    const char *p = at;
    *behind = at;
    bool negative = p < end && *p == '-', large = false;
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *first = p;
    int64_t n = 0;
    for (; p < end && is_digit(*p); p++)
        large |= __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n);
    if (p == first) return NUMBER_NONE;
    *behind = p;
    if (large) return NUMBER_TOO_LARGE;
    *value = negative ? -n : n;
    return NUMBER_FINE;
}

/* ---- printing */

enum { DIGITS_LEAST = 15, DIGITS_MOST = 17 };

/* d[0].d[1]d[2]... 10^exponent */
typedef struct decimal {
    char digits[DIGITS_MOST + 1];
    int exponent;
    bool negative;
} decimal;

/* The first digits of a finite number, rounded, whatever bytes the locale's decimal point has. */
static decimal decimal_of(double value, int digits) {
    char text[64];
    decimal d = {.negative = signbit(value)};
    snprintf(text, sizeof text, "%.*e", digits - 1, fabs(value));
    const char *p = text;
    for (int n = 0; *p && *p != 'e'; p++)
        if (is_digit(*p) && n < DIGITS_MOST) d.digits[n++] = *p;
    d.exponent = *p ? atoi(p + 1) : 0;
    return d;
}

/* The first n digits, the last one up by one. */
static decimal raised(decimal d, int n) {
    int i = n - 1;
    while (i >= 0 && d.digits[i] == '9') d.digits[i--] = '0';
    if (i >= 0)
        d.digits[i]++;
    else
        d.digits[0] = '1', d.exponent++; /* 999 becomes 1000 */
    return d;
}

/* n digits as %.ng writes them. */
static int decimal_write(const decimal *d, int n, char text[NUMBER_TEXT]) {
    int precision = n, length = 0, x = d->exponent;
    while (n > 1 && d->digits[n - 1] == '0') n--;
    if (d->negative) text[length++] = '-';
    if (x < -4 || x >= precision) {
        text[length++] = d->digits[0];
        if (n > 1) text[length++] = '.';
        for (int i = 1; i < n; i++) text[length++] = d->digits[i];
        return length + snprintf(text + length, (size_t)(NUMBER_TEXT - length), "e%+03d", x);
    }
    if (x < 0) {
        text[length++] = '0', text[length++] = '.';
        for (int i = -1; i > x; i--) text[length++] = '0';
    }
    for (int i = 0; i < n || i <= x; i++) {
        if (i == x + 1 && x >= 0) text[length++] = '.';
        text[length++] = i < n ? d->digits[i] : '0';
    }
    text[length] = 0;
    return length;
}

/* Of the 17 digits fewer are kept where they read back as the same number.  Where exactly a half is cut off,
 * the 17 do not tell on which side the number lies. */
int number_print(double value, char text[NUMBER_TEXT]) {
    if (!isfinite(value)) return snprintf(text, NUMBER_TEXT, "%g", value);
    if (fabs(value) < 1e15 && value == (double)(int64_t)value && !(value == 0 && signbit(value)))
        return snprintf(text, NUMBER_TEXT, "%lld", (long long)value);
    decimal d = decimal_of(value, DIGITS_MOST);
    for (int n = DIGITS_LEAST; n < DIGITS_MOST; n++) {
        int cut = memcmp(d.digits + n, "50", (size_t)(DIGITS_MOST - n));
        decimal kept = cut < 0 ? d : cut > 0 ? raised(d, n) : decimal_of(value, n);
        int length = decimal_write(&kept, n, text);
        const char *behind;
        double back = 0;
        if (number_parse(text, text + length, &behind, &back) == NUMBER_FINE && back == value) return length;
    }
    return decimal_write(&d, DIGITS_MOST, text);
}
