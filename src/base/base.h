/* base: what every module stands on.  Status and errors, memory, arrays, sort, hash, heap, random, clock.
 *
 *   memory    mem_alloc/mem_resize/mem_free through the context's allocator; sizes are given back on free
 *   ARRAY(T)  a growing array {data, count, capacity}; array_push returns false when memory is out
 *   arena     chained blocks with mark and release, for scratch inside a step
 *   map64     open-addressing hash map uint64 -> int32, deterministic iteration is not offered on purpose
 *   heap      binary heap keyed (time, sequence): ties are broken by who came first
 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include "abut/base.h"

#include <assert.h>
#include <string.h>

/* Errors.  Both fill *error (which may be NULL) and return status, so that a failing function ends with
 *     return fail(error, ABUT_INVALID, "face %d has %d vertices; a face needs at least 3", f, n); */
abut_status fail(abut_error *error, abut_status status, const char *format, ...) ABUT_PRINTF(3, 4);
abut_status fail_at(abut_error *error, abut_status status, const char *file, int line, const char *format,
                    ...) ABUT_PRINTF(5, 6);
abut_status fail_memory(abut_error *error);

/* A notice to the context's log hook; nothing when there is none. */
void log_write(const abut_context *context, abut_log_level level, const char *format, ...) ABUT_PRINTF(3, 4);

/* Memory.  mem_alloc does not clear, mem_calloc does; count * size is checked for overflow. */
void *mem_alloc(const abut_context *context, size_t count, size_t size);
void *mem_calloc(const abut_context *context, size_t count, size_t size);
void *mem_resize(const abut_context *context, void *block, size_t old_count, size_t new_count, size_t size);
void mem_free(const abut_context *context, void *block, size_t count, size_t size);
/* Says that all of a fresh block will be written soon: systems that can then map its pages in one call, not
 * by one fault each.  Only for blocks of at least MEM_LARGE bytes from the default allocator; otherwise
 * nothing. */
enum { MEM_LARGE = 1 << 20 };
void mem_expect(const abut_context *context, void *block, size_t bytes);

/* Growing arrays.
 *     typedef ARRAY(int) int_array;
 *     int_array a = {0};
 *     if (!array_push(context, &a, 7)) return fail_memory(error);
 *     array_free(context, &a); */
#define ARRAY(T)                 \
    struct {                     \
        T *data;                 \
        int64_t count, capacity; \
    }
typedef ARRAY(int) int_array;
typedef ARRAY(double) double_array;
#define array_reserve(context, a, need) \
    array_reserve_((context), (void **)&(a)->data, &(a)->capacity, (need), sizeof *(a)->data)
#define array_push(context, a, value) \
    (array_reserve((context), (a), (a)->count + 1) && ((a)->data[(a)->count++] = (value), true))
#define array_free(context, a)                                                                   \
    (mem_free((context), (a)->data, (size_t)(a)->capacity, sizeof *(a)->data), (a)->data = NULL, \
     (a)->count = (a)->capacity = 0)
bool array_reserve_(const abut_context *context, void **data, int64_t *capacity, int64_t need, size_t size);

/* Arena.  arena_alloc is aligned to 32 and cleared; NULL when memory is out.  A mark releases all that was
 * allocated after it; the room stays for reuse, so a warmed-up step allocates nothing. */
typedef struct arena_block arena_block;
typedef struct arena {
    const abut_context *context;
    arena_block *first, *current;
    size_t used; /* bytes used of the current block */
} arena;
typedef struct arena_mark {
    arena_block *block;
    size_t used;
} arena_mark;
void arena_init(arena *a, const abut_context *context);
void *arena_alloc(arena *a, size_t count, size_t size);
arena_mark arena_save(const arena *a);
void arena_restore(arena *a, arena_mark mark);
void arena_free(arena *a);

/* Stable merge sort, the same on every platform; scratch of count * size bytes comes from the context.
 * compare(user, a, b) < 0 when a goes first.  False when memory is out. */
typedef int sort_compare(const void *user, const void *a, const void *b);
bool sort_stable(const abut_context *context, void *items, size_t count, size_t size, sort_compare *compare,
                 const void *user);
/* Numbers in ascending order, in place. */
void sort_ints(int *items, int64_t count);

/* 64-bit hash of bytes, the same on every machine of one endianness; hash64_mix scrambles one word. */
uint64_t hash64(const void *bytes, size_t size, uint64_t seed);
uint64_t hash64_mix(uint64_t word);

typedef struct map64 {
    uint64_t *keys;
    int32_t *values; /* MAP64_EMPTY: the slot is free */
    int64_t count, capacity;
} map64;
#define MAP64_EMPTY INT32_MIN
bool map64_reserve(const abut_context *context, map64 *map, int64_t entries);
/* The value slot of key, made with `initial` if missing; NULL when memory is out. */
int32_t *map64_put(const abut_context *context, map64 *map, uint64_t key, int32_t initial);
int32_t *map64_get(const map64 *map, uint64_t key); /* NULL when missing */
void map64_free(const abut_context *context, map64 *map);

/* (time, sequence) heap: smallest time first, and among equal times the smallest sequence. */
typedef struct heap_item {
    double time;
    uint64_t sequence;
    int64_t payload;
} heap_item;
typedef struct heap {
    ARRAY(heap_item) items;
    uint64_t next_sequence;
} heap;
bool heap_push(const abut_context *context, heap *h, double time, int64_t payload);
bool heap_pop(heap *h, heap_item *out); /* false when empty */
void heap_free(const abut_context *context, heap *h);

/* Random numbers with an explicit state (splitmix64): uniform 64 bits, uniform in [0, 1), [lo, hi). */
uint64_t random_bits(uint64_t *state);
double random_unit(uint64_t *state);
double random_range(uint64_t *state, double lo, double hi);

/* Seconds of a monotonic clock, for budgets and stage times; never for decisions about motion. */
double clock_now(void);

/* Memory is asked for before it is needed.  gcc takes a function that does nothing else for one without any
 * effect, and drops its calls: whatever does that must be part of its caller, so it is a PREFETCHES. */
#define PREFETCHES static inline __attribute__((always_inline)) void
enum { CACHE_LINE = 64 };
PREFETCHES prefetch_lines(const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += CACHE_LINE) __builtin_prefetch((const char *)from + i);
}

/* What a thread does that looks for something again and again. */
static inline void cpu_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* task(argument, i) for i in [0, count): through the context's hook, or in this thread. */
void parallel_for(const abut_context *context, int count, abut_task *task, void *argument);
int parallel_threads(const abut_context *context);

/* A whole file in memory, with a 0 byte behind it; *size does not count that byte. */
abut_status file_read(const abut_context *context, const char *path, char **bytes, size_t *size,
                      abut_error *error);
void file_free(const abut_context *context, char *bytes, size_t size);
/* Writes a whole file: beside it first, then renamed, so that a full disk never costs the file that was
 * there. */
abut_status file_write(const abut_context *context, const char *path, const void *bytes, size_t size,
                       abut_error *error);

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))

#endif
