/* Numbers and the text cursor.  The oracle of the parser is the C library's strtod in the C locale, which
 * glibc rounds correctly; halfway cases and the ends of the range are built from the definition. */
#include "base/scan.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static number_kind parse(const char *text, double *value, int *used) {
    const char *behind;
    /* an exact copy, so that a sanitizer sees every byte too many */
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    number_kind kind = number_parse(copy, copy + size, &behind, value);
    *used = (int)(behind - copy);
    free(copy);
    return kind;
}

static uint64_t bits(double x) {
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static void expect_as_strtod(const char *text) {
    double value = -7, oracle = strtod(text, NULL);
    int used;
    number_kind kind = parse(text, &value, &used);
    if (isinf(oracle)) {
        if (kind != NUMBER_TOO_LARGE) fail_msg("`%s` overflows, got kind %d", text, kind);
    } else if (kind != NUMBER_FINE || bits(value) != bits(oracle)) {
        fail_msg("`%s`: %a (kind %d), but strtod says %a", text, value, kind, oracle);
    }
    assert_int_equal(used, (int)strlen(text));
}

static void test_known_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.5e1",
                                        "00012.50",
                                        "1e22",
                                        "1e23",
                                        "123456789012345678",
                                        "0.1",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "9007199254740993.0000000000000000000000000001",
                                        "18446744073709551616.5",
                                        "184467440737095516160000000000000000000000.25",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "1.8e308",
                                        "1e309",
                                        "1e400",
                                        "1e999999999999",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "2.47e-324",
                                        "2.2250738585072014e-308",
                                        "2.2250738585072011e-308",
                                        "1e-400",
                                        "1e-99999999999999999999",
                                        "0e99999999999",
                                        "0.000000000000000e-5",
                                        "6929495644600919.5",
                                        "3.518437208883201171875e13",
                                        "8.5e-27",
                                        "1.2345678901234567e27",
                                        "1234567890123456789e-27",
                                        "1234567890123456789e27",
                                        "12345678901234567890e10"};
    for (int i = 0; i < COUNT_OF(texts); i++) expect_as_strtod(texts[i]);
}

static void test_what_is_no_number(void **state) {
    (void)state;
    static const struct {
        const char *text;
        number_kind kind;
        int used;
    } cases[] = {{"", NUMBER_NONE, 0},
                 {"-", NUMBER_NONE, 0},
                 {".", NUMBER_NONE, 0},
                 {"e5", NUMBER_NONE, 0},
                 {"x", NUMBER_NONE, 0},
                 {"-.e5", NUMBER_NONE, 0},
                 {"nan", NUMBER_NAN, 3},
                 {"-NaN", NUMBER_NAN, 4},
                 {"inf", NUMBER_INFINITE, 3},
                 {"-inf", NUMBER_INFINITE, 4},
                 {"Infinity", NUMBER_INFINITE, 8},
                 {"1e", NUMBER_FINE, 1},
                 {"1e+", NUMBER_FINE, 1},
                 {"0x10", NUMBER_FINE, 1},
                 {"1,5", NUMBER_FINE, 1},
                 {"in", NUMBER_NONE, 0},
                 {"1.5.5", NUMBER_FINE, 3}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        double value;
        int used;
        number_kind kind = parse(cases[i].text, &value, &used);
        if (kind != cases[i].kind || used != cases[i].used)
            fail_msg("`%s`: kind %d, used %d", cases[i].text, kind, used);
    }
}

/* Digits and exponents of every length, dense around the limits of the three ways. */
static void test_random_digits(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 200000; trial++) {
        char text[128];
        int n = 0, digits = 1 + (int)(random_bits(&seed) % 30);
        int point = (int)(random_bits(&seed) % (uint64_t)(digits + 1));
        if (random_bits(&seed) & 1) text[n++] = '-';
        for (int i = 0; i < digits; i++) {
            if (i == point) text[n++] = '.';
            text[n++] = (char)('0' + random_bits(&seed) % 10);
        }
        text[n] = 0;
        int range = trial % 3 == 0 ? 350 : trial % 3 == 1 ? 30 : 5;
        int exponent = (int)(random_bits(&seed) % (uint64_t)(2 * range + 1)) - range;
        if (trial % 5) snprintf(text + n, sizeof text - (size_t)n, "e%d", exponent);
        expect_as_strtod(text);
    }
}

/* The exact middle between two neighbours goes to the even one; a digit more, however far, tips it. */
static void test_halfway(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int trial = 0; trial < 300; trial++) {
        uint64_t word = random_bits(&seed) >> 1;
        if (trial % 4 == 0) word &= ((uint64_t)1 << 53) - 1; /* subnormals and the smallest normals */
        double a, b;
        memcpy(&a, &word, sizeof a);
        if (!isfinite(a) || a > 1e300) continue;
        b = nextafter(a, INFINITY);
        /* long double holds the middle exactly on this machine; its decimal expansion is printed whole */
        long double middle = ((long double)a + (long double)b) / 2;
        char text[1400];
        snprintf(text, sizeof text, "%.1100Le", middle);
        expect_as_strtod(text);
        char *e = strchr(text, 'e'), tipped[1400];
        snprintf(tipped, sizeof tipped, "%.*s1%s", (int)(e - text), text, e);
        double value;
        int used;
        assert_int_equal(parse(tipped, &value, &used), NUMBER_FINE);
        assert_true(bits(value) == bits(b));
    }
}

static void test_many_digits(void **state) {
    (void)state;
    enum { LENGTH = 5000 };
    char *text = malloc(LENGTH + 32);
    memset(text, '1', LENGTH);
    text[1] = '.';
    strcpy(text + LENGTH, "e-3");
    expect_as_strtod(text);
    memset(text, '0', LENGTH);
    text[0] = '.';
    strcpy(text + LENGTH, "25e4999");
    expect_as_strtod(text);
    memset(text, '9', LENGTH);
    strcpy(text + LENGTH, "e-4900");
    expect_as_strtod(text);
    free(text);
}

static void test_printing_reads_back(void **state) {
    (void)state;
    uint64_t seed = 3;
    char text[NUMBER_TEXT];
    for (int trial = 0; trial < 100000; trial++) {
        uint64_t word = random_bits(&seed);
        double x, back = 0;
        memcpy(&x, &word, sizeof x);
        if (trial % 2) x = random_range(&seed, -10, 10);
        if (!isfinite(x)) continue;
        int length = number_print(x, text), used;
        assert_int_equal(length, (int)strlen(text));
        assert_int_equal(parse(text, &back, &used), NUMBER_FINE);
        assert_true(bits(back) == bits(x));
        assert_true(bits(strtod(text, NULL)) == bits(x));
        /* no longer than what the C library prints with the fewest of 15, 16, 17 digits that read back */
        char other[64];
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(other, sizeof other, "%.*g", digits, x);
            if (bits(strtod(other, NULL)) == bits(x)) break;
        }
        assert_string_equal(text, other);
    }
    static const double whole[] = {
        0, -0.0, 7, -12, 1e14, 999999999999999, 1e15, -1e15, 123456789012345678.0, 1e22};
    for (int i = 0; i < COUNT_OF(whole); i++) {
        char other[64];
        snprintf(other, sizeof other, "%.17g", whole[i]);
        number_print(whole[i], text);
        assert_true(bits(strtod(text, NULL)) == bits(whole[i]));
        assert_true(strlen(text) <= strlen(other));
    }
    number_print(-0.0, text);
    assert_string_equal(text, "-0");
    assert_int_equal(number_print(0.1, text), 3);
    assert_string_equal(text, "0.1");
    number_print(-1.5e300, text);
    assert_string_equal(text, "-1.5e+300");
}

/* A process whose locale writes 1,5 reads and prints 1.5 all the same. */
static void test_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    bool found = false;
    for (int i = 0; i < COUNT_OF(names); i++) {
        if (!setlocale(LC_ALL, names[i])) continue;
        found = true;
        double value = 0;
        int used;
        char text[NUMBER_TEXT];
        parse("1234567890123456.75", &value, &used);
        number_print(value, text);
        setlocale(LC_ALL, "C");
        assert_true(value == 1234567890123456.75);
        assert_string_equal(text, "1234567890123456.8");
    }
    if (!found) skip();
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        number_kind kind;
        int64_t value;
        int used;
    } cases[] = {{"0", NUMBER_FINE, 0, 1},
                 {"-12/3", NUMBER_FINE, -12, 3},
                 {"+7", NUMBER_FINE, 7, 2},
                 {"9223372036854775807", NUMBER_FINE, INT64_MAX, 19},
                 {"9223372036854775808", NUMBER_TOO_LARGE, 0, 19},
                 {"99999999999999999999999", NUMBER_TOO_LARGE, 0, 23},
                 {"", NUMBER_NONE, 0, 0},
                 {"-", NUMBER_NONE, 0, 0},
                 {"/1", NUMBER_NONE, 0, 0}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const char *behind, *text = cases[i].text;
        int64_t value = 0;
        number_kind kind = integer_parse(text, text + strlen(text), &behind, &value);
        assert_int_equal(kind, cases[i].kind);
        assert_int_equal(behind - text, cases[i].used);
        if (kind == NUMBER_FINE) assert_true(value == cases[i].value);
    }
}

static void test_cursor(void **state) {
    (void)state;
    const char *text = "\xef\xbb\xbf# first\r\n  one two\\\r\n three # rest\n\n\\x y\\";
    scan s = scan_start(text, strlen(text), "f");
    s.comments = s.continuation = true;
    assert_false(scan_text_ends(&s));
    assert_int_equal(s.line, 2);
    assert_true(scan_is(scan_take(&s), "one"));
    assert_true(scan_is_folded(scan_take(&s), "two"));
    assert_true(scan_is(scan_take(&s), "three"));
    assert_int_equal(s.line, 3);
    assert_true(scan_line_ends(&s));
    assert_int_equal(scan_take(&s).length, 0);
    scan_next_line(&s);
    assert_false(scan_text_ends(&s));
    assert_int_equal(s.line, 5);
    assert_true(scan_is(scan_take(&s), "\\x"));
    assert_true(scan_is(scan_take(&s), "y\\"));
    assert_true(scan_text_ends(&s));
    /* a continuation at the very end of the text */
    s = scan_start("a \\\n", 4, "f");
    s.continuation = true;
    scan_take(&s);
    assert_true(scan_line_ends(&s));
    assert_true(scan_text_ends(&s));
}

static void test_messages_of_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {{"nan 1", "x of vertex 7 is not a number (`nan`)"},
                 {"-inf", "infinite"},
                 {"1e400", "overflows"},
                 {"1.2.3", "`1.2.3`, which is not a number"},
                 {"1,5", "`1,5`, which is not a number"},
                 {"\x01\x02", "`??`"},
                 {"\nnext", "missing at the end of the line"},
                 {"", "cut off"}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        scan s = scan_start(cases[i].text, strlen(cases[i].text), "f.obj");
        double value;
        abut_error error = {0};
        assert_int_equal(scan_number(&s, "x of vertex", 7, &value, &error), ABUT_INVALID);
        if (!strstr(error.message, cases[i].part)) fail_msg("`%s`: %s", cases[i].text, error.message);
        assert_int_equal(error.line, 1);
        assert_string_equal(error.file, "f.obj");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_numbers), cmocka_unit_test(test_what_is_no_number),
        cmocka_unit_test(test_random_digits), cmocka_unit_test(test_halfway),
        cmocka_unit_test(test_many_digits),   cmocka_unit_test(test_printing_reads_back),
        cmocka_unit_test(test_locale),        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_cursor),        cmocka_unit_test(test_messages_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
