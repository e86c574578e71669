/* Sort, map, heap, hash and random numbers against the plain way to do the same. */
#include "base/base.h"
#include "support.h"

#include <stdlib.h>

typedef struct record {
    int key, place;
    char ballast[5]; /* a size that is no power of two */
} record;

static int by_key(const void *user, const void *a, const void *b) {
    (*(int64_t *)(uintptr_t)user)++;
    int x = ((const record *)a)->key, y = ((const record *)b)->key;
    return (x > y) - (x < y);
}

/* Sorted, equal keys in the order they came, nothing lost, and n log2 n comparisons at most. */
static void test_sort_is_stable(void **unused) {
    (void)unused;
    uint64_t state = 3;
    for (int n = 0; n < 300; n++) {
        int count = n < 40 ? n : support_int(&state, 0, 3000),
            keys = support_int(&state, 1, n % 2 ? 10 : 100000);
        record *items = calloc((size_t)count + 1, sizeof *items);
        for (int i = 0; i < count; i++)
            items[i].key = n % 7 == 0 ? count - i : support_int(&state, 0, keys), items[i].place = i;
        int64_t comparisons = 0;
        assert_true(sort_stable(NULL, items, (size_t)count, sizeof *items, by_key, &comparisons));
        int64_t place_sum = 0;
        for (int i = 0; i < count; i++) place_sum += items[i].place;
        assert_int_equal(place_sum, (int64_t)count * (count - 1) / 2);
        for (int i = 1; i < count; i++)
            assert_true(items[i - 1].key < items[i].key ||
                        (items[i - 1].key == items[i].key && items[i - 1].place < items[i].place));
        int levels = 0;
        while (1 << levels < count) levels++;
        assert_true(comparisons <= (int64_t)count * levels);
        free(items);
    }
}

static void test_sort_ints(void **unused) {
    (void)unused;
    uint64_t seed = 1;
    for (int count = 0; count < 200; count++) {
        int items[200], range = count % 2 ? 10 : 1000000;
        int64_t sum = 0, after = 0;
        for (int i = 0; i < count; i++) sum += items[i] = support_int(&seed, -range, range);
        sort_ints(items, count);
        for (int i = 0; i < count; i++) after += items[i];
        for (int i = 1; i < count; i++) assert_true(items[i - 1] <= items[i]);
        assert_int_equal(after, sum);
    }
}

static abut_status sort_some(const abut_context *context, void *unused) {
    (void)unused;
    record items[20] = {{.key = 3}, {.key = 1}};
    int64_t comparisons = 0;
    return sort_stable(context, items, 20, sizeof *items, by_key, &comparisons) ? ABUT_OK : ABUT_NO_MEMORY;
}

/* map64 against an array, for keys that are dense, spread, and equal in their low bits. */
static void test_map(void **unused) {
    (void)unused;
    enum { KEYS = 5000 };
    for (int kind = 0; kind < 3; kind++) {
        support_memory memory = {0};
        abut_context context = support_context(&memory);
        map64 map = {0};
        int32_t expected[KEYS];
        bool known[KEYS] = {false};
        uint64_t state = 5;
        assert_null(map64_get(&map, 0)); /* an empty map has no table */
        for (int n = 0; n < 4 * KEYS; n++) {
            int i = support_int(&state, 0, KEYS - 1);
            uint64_t key = kind == 0 ? (uint64_t)i : kind == 1 ? hash64_mix((uint64_t)i) : (uint64_t)i << 40;
            int32_t *found = map64_get(&map, key);
            assert_int_equal(found != NULL, known[i]);
            if (found) assert_int_equal(*found, expected[i]);
            int32_t *value = map64_put(&context, &map, key, -n);
            assert_non_null(value);
            assert_int_equal(*value, known[i] ? expected[i] : -n); /* put keeps what is there */
            *value = expected[i] = n, known[i] = true;
        }
        int count = 0;
        for (int i = 0; i < KEYS; i++) count += known[i];
        assert_int_equal(map.count, count);
        assert_null(map64_get(&map, UINT64_MAX));
        map64_free(&context, &map);
        support_assert_freed(&memory);
    }
}

static void test_map_reserve(void **unused) {
    (void)unused;
    support_memory memory = {0};
    abut_context context = support_context(&memory);
    map64 map = {0};
    assert_true(map64_reserve(&context, &map, 1000));
    int64_t before = memory.requests;
    for (int i = 0; i < 1000; i++) assert_non_null(map64_put(&context, &map, (uint64_t)i * 977, i));
    assert_int_equal(memory.requests, before);
    map64_free(&context, &map);
    support_assert_freed(&memory);
}

static abut_status fill_map(const abut_context *context, void *unused) {
    (void)unused;
    map64 map = {0};
    abut_status status = ABUT_OK;
    int i = 0;
    for (; i < 100 && status == ABUT_OK; i++)
        if (!map64_put(context, &map, (uint64_t)i, i)) status = ABUT_NO_MEMORY, i--;
    for (int k = 0; k < i; k++) assert_int_equal(*map64_get(&map, (uint64_t)k), k);
    map64_free(context, &map);
    return status;
}

/* Against a linear search for the smallest (time, sequence), with many equal times, pushes and pops mixed. */
static void test_heap(void **unused) {
    (void)unused;
    enum { MOST = 500 };
    heap h = {0};
    heap_item plain[MOST], out;
    int count = 0;
    uint64_t state = 9, pushed = 0;
    assert_false(heap_pop(&h, &out));
    for (int n = 0; n < 30000; n++) {
        bool push = count == 0 || (count < MOST && random_bits(&state) % 100 < (n / 1000 % 2 ? 60 : 40));
        if (push) {
            double time = n % 3 ? support_int(&state, -2, 2) : random_range(&state, -3, 3);
            assert_true(heap_push(NULL, &h, time, n));
            plain[count++] = (heap_item){time, pushed++, n};
        } else {
            int best = 0;
            for (int i = 1; i < count; i++)
                if (plain[i].time < plain[best].time ||
                    (plain[i].time == plain[best].time && plain[i].sequence < plain[best].sequence))
                    best = i;
            assert_true(heap_pop(&h, &out));
            assert_true(out.time == plain[best].time && out.payload == plain[best].payload);
            plain[best] = plain[--count];
        }
    }
    heap_free(NULL, &h);
}

static abut_status fill_heap(const abut_context *context, void *unused) {
    (void)unused;
    heap h = {0};
    heap_item out;
    int pushed = 0;
    while (pushed < 100 && heap_push(context, &h, -pushed, pushed)) pushed++;
    for (int i = pushed - 1; i >= 0; i--) assert_true(heap_pop(&h, &out) && out.payload == i);
    assert_false(heap_pop(&h, &out));
    heap_free(context, &h);
    return pushed == 100 ? ABUT_OK : ABUT_NO_MEMORY;
}

static void test_failing(void **unused) {
    (void)unused;
    assert_int_equal(support_fail_each(sort_some, NULL), 1);
    assert_true(support_fail_each(fill_map, NULL) >= 2);
    assert_true(support_fail_each(fill_heap, NULL) >= 2);
}

/* Every bit counts, and so do length and seed; bytes behind the end do not. */
static void test_hash(void **unused) {
    (void)unused;
    unsigned char bytes[40] = {0};
    for (size_t size = 1; size < 32; size++) {
        uint64_t hash = hash64(bytes, size, 1);
        assert_true(hash != hash64(bytes, size - 1, 1) && hash != hash64(bytes, size, 2));
        int changed = 0;
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            uint64_t other = hash64(bytes, size, 1);
            assert_true(other != hash);
            changed += __builtin_popcountll(other ^ hash);
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        /* half of the 64 bits change on average: 8 size trials of 64 fair coins, 6 standard deviations */
        double mean = (double)changed / (8.0 * (double)size), deviation = 4 / sqrt(8.0 * (double)size);
        assert_true(fabs(mean - 32) < 6 * deviation);
        bytes[size] = 77;
        assert_int_equal(hash64(bytes, size, 1), hash);
        bytes[size] = 0;
    }
}

/* splitmix64's first outputs for the seed 1234567, as published with the generator. */
static void test_random(void **unused) {
    (void)unused;
    uint64_t state = 1234567;
    const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                 4593380528125082431u, 16408922859458223821u};
    for (int i = 0; i < COUNT_OF(expected); i++) assert_true(random_bits(&state) == expected[i]);
    double sum = 0, least = 1, most = 0;
    for (int i = 0; i < 100000; i++) {
        double x = random_unit(&state);
        assert_true(x >= 0 && x < 1);
        sum += x, least = fmin(least, x), most = fmax(most, x);
    }
    /* the mean of n uniform numbers has the standard deviation sqrt(1 / 12 n) = 9.1e-4 */
    assert_true(fabs(sum / 100000 - 0.5) < 6 * 9.2e-4 && least < 1e-3 && most > 1 - 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort_is_stable), cmocka_unit_test(test_sort_ints), cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_reserve),    cmocka_unit_test(test_heap),      cmocka_unit_test(test_hash),
        cmocka_unit_test(test_random),         cmocka_unit_test(test_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
