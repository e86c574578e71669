/* The allocator hook, growing arrays and the arena: what is given back has the size that was asked for, every
 * failure is survived, a released arena does not allocate again. */
#include "base/base.h"
#include "support.h"

#include <stdlib.h>

static void test_default_allocator(void **unused) {
    (void)unused;
    int *a = mem_alloc(NULL, 10, sizeof *a), *b = mem_calloc(NULL, 10, sizeof *b);
    for (int i = 0; i < 10; i++) a[i] = i, assert_int_equal(b[i], 0);
    a = mem_resize(NULL, a, 10, 1000, sizeof *a);
    for (int i = 0; i < 10; i++) assert_int_equal(a[i], i);
    mem_free(NULL, a, 1000, sizeof *a);
    mem_free(NULL, b, 10, sizeof *b);
    mem_free(NULL, NULL, 5, 5);
}

/* Sizes whose product does not fit give NULL, not a small block. */
static void test_overflow(void **unused) {
    (void)unused;
    support_memory memory = {0};
    abut_context context = support_context(&memory);
    const abut_context *contexts[] = {NULL, &context};
    for (int i = 0; i < 2; i++) {
        void *block = mem_alloc(contexts[i], 1, 1);
        assert_null(mem_alloc(contexts[i], SIZE_MAX / 2, 3));
        assert_null(mem_calloc(contexts[i], SIZE_MAX / 2, 3));
        assert_null(mem_resize(contexts[i], block, 1, SIZE_MAX / 8, 16));
        mem_free(contexts[i], block, 1, 1); /* still ours after the failure */
    }
    arena a;
    arena_init(&a, &context);
    assert_null(arena_alloc(&a, SIZE_MAX / 2, 4));
    assert_null(arena_alloc(&a, SIZE_MAX - 3, 1));
    arena_free(&a);
    support_assert_freed(&memory);
}

/* Nothing, and then something: empty blocks are blocks too. */
static void test_zero_size(void **unused) {
    (void)unused;
    support_memory memory = {0};
    abut_context context = support_context(&memory);
    char *block = mem_alloc(&context, 0, 8);
    assert_non_null(block);
    block = mem_resize(&context, block, 0, 100, 8);
    assert_non_null(block);
    block = mem_resize(&context, block, 100, 0, 8);
    assert_non_null(block);
    mem_free(&context, block, 0, 8);
    support_assert_freed(&memory);
}

typedef struct bump {
    char bytes[4096];
    size_t used;
} bump;

static void *bump_allocate(void *user, size_t size) {
    bump *b = user;
    if (sizeof b->bytes - b->used < size) return NULL;
    void *block = b->bytes + b->used;
    b->used += (size + 15) / 16 * 16;
    return block;
}

/* An allocator with nothing but `allocate`: resizing copies, releasing does nothing. */
static void test_allocate_only(void **unused) {
    (void)unused;
    _Alignas(16) bump b = {.used = 0};
    abut_context context = {.allocator = {.allocate = bump_allocate, .user = &b}};
    int_array a = {0};
    for (int i = 0; i < 100; i++) assert_true(array_push(&context, &a, i));
    for (int i = 0; i < 100; i++) assert_int_equal(a.data[i], i);
    array_free(&context, &a);
}

static abut_status fill_array(const abut_context *context, void *user) {
    int count = *(int *)user;
    int_array a = {0};
    abut_status status = ABUT_OK;
    for (int i = 0; i < count && status == ABUT_OK; i++)
        if (!array_push(context, &a, i)) {
            status = ABUT_NO_MEMORY;
            assert_int_equal(a.count, i); /* what was pushed is still there */
        }
    for (int i = 0; i < a.count; i++) assert_int_equal(a.data[i], i);
    array_free(context, &a);
    assert_null(a.data);
    return status;
}

/* Growth by half: 10,000 pushes take log(10000 / 8) / log 1.5 = 18 steps, give or take rounding down. */
static void test_array(void **unused) {
    (void)unused;
    int count = 10000;
    int64_t requests = support_fail_each(fill_array, &count);
    assert_in_range(requests, 10, 22);
    support_memory memory = {0};
    abut_context context = support_context(&memory);
    double_array a = {0};
    assert_true(array_reserve(&context, &a, 5000));
    int64_t before = memory.requests;
    for (int i = 0; i < 5000; i++) assert_true(array_push(&context, &a, i));
    assert_int_equal(memory.requests, before);
    array_free(&context, &a);
    support_assert_freed(&memory);
}

/* Random sizes, random marks: memory is cleared, aligned, does not overlap what is alive. */
static void use_arena(arena *a, uint64_t seed) {
    enum { DEPTH = 20 };
    arena_mark marks[DEPTH];
    struct {
        unsigned char *bytes;
        size_t size;
    } blocks[DEPTH];
    arena_mark start = arena_save(a);
    int depth = 0;
    for (int n = 0; n < 2000; n++) {
        if (depth == DEPTH || (depth > 0 && random_bits(&seed) % 3 == 0)) {
            int to = support_int(&seed, 0, depth - 1);
            for (int i = 0; i < depth; i++)
                for (size_t k = 0; k < blocks[i].size; k++) assert_int_equal(blocks[i].bytes[k], i + 1);
            arena_restore(a, marks[to]);
            depth = to;
        } else {
            size_t size = (size_t)support_int(&seed, 0, n % 50 ? 300 : 100000);
            marks[depth] = arena_save(a);
            unsigned char *bytes = arena_alloc(a, size, 1);
            assert_non_null(bytes);
            assert_int_equal((uintptr_t)bytes % 32, 0);
            for (size_t k = 0; k < size; k++) assert_int_equal(bytes[k], 0);
            memset(bytes, depth + 1, size);
            blocks[depth].bytes = bytes, blocks[depth].size = size;
            depth++;
        }
    }
    arena_restore(a, start);
}

static void test_arena(void **unused) {
    (void)unused;
    support_memory memory = {0};
    abut_context context = support_context(&memory);
    arena a;
    arena_init(&a, &context);
    for (uint64_t seed = 0; seed < 5; seed++) use_arena(&a, seed);
    int64_t warm = memory.requests;
    for (int again = 0; again < 3; again++)
        for (uint64_t seed = 0; seed < 5; seed++) use_arena(&a, seed);
    assert_int_equal(memory.requests, warm); /* warmed up: no allocation */
    arena_free(&a);
    support_assert_freed(&memory);
    /* and it can be used again */
    assert_non_null(arena_alloc(&a, 7, 3));
    arena_free(&a);
    support_assert_freed(&memory);
}

/* What is used grows by a little each time, after a small piece: room is asked for as often as it doubles,
 * not each time.  2^20 is 16 times the first block. */
static void test_arena_grows(void **unused) {
    (void)unused;
    support_memory memory = {0};
    abut_context context = support_context(&memory);
    arena a;
    arena_init(&a, &context);
    for (size_t size = 1000; size < 1 << 20; size += 1000) {
        arena_mark mark = arena_save(&a);
        assert_non_null(arena_alloc(&a, 10, 1));
        assert_non_null(arena_alloc(&a, size, 1));
        arena_restore(&a, mark);
    }
    if (memory.requests > 2 * 4 + 1) fail_msg("%lld blocks", (long long)memory.requests);
    arena_free(&a);
    support_assert_freed(&memory);
}

static abut_status fill_arena(const abut_context *context, void *unused) {
    (void)unused;
    arena a;
    arena_init(&a, context);
    abut_status status = ABUT_OK;
    for (int i = 0; i < 12; i++) {
        arena_mark mark = arena_save(&a);
        if (!arena_alloc(&a, (size_t)1 << 2 * i, 3)) status = ABUT_NO_MEMORY;
        if (i % 3 == 2) arena_restore(&a, mark);
    }
    arena_free(&a);
    return status;
}

static void test_arena_failing(void **unused) {
    (void)unused;
    assert_true(support_fail_each(fill_arena, NULL) >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_allocator),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_zero_size),
        cmocka_unit_test(test_allocate_only),
        cmocka_unit_test(test_array),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_grows),
        cmocka_unit_test(test_arena_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
