/* Memory: the allocator hook, growing arrays, and the arena.
 *
 *   arena    first -> [ header | bytes ........ ] -> [ header | bytes ..... ] -> NULL
 *                                                      ^ current, used
 *
 * Blocks behind `current` are empty and wait for reuse.  Where none is in use, several of them become one of
 * their sizes together: a sequence of allocations that fitted once fits again, in whatever order they
 * come, and the number of blocks ever asked for grows with the logarithm of the most bytes in use.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "base/base.h"

#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

static bool multiply(size_t count, size_t size, size_t *bytes) {
    return !__builtin_mul_overflow(count, size, bytes);
}

/* Asks for large pages under a large block: what is spread over many small ones costs a walk through the page
 * table at nearly every touch.  Outward to whole pages, so that a block that has a mapping of its own stays
 * one; where the system refuses, nothing changes. */
static void *in_large_pages(void *block, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = 4096;
    if (block && bytes >= MEM_LARGE) {
        uintptr_t start = (uintptr_t)block, first = start & ~(page - 1);
        uintptr_t end = (start + bytes + page - 1) & ~(page - 1);
        (void)madvise((char *)block - (start - first), end - first, MADV_HUGEPAGE);
    }
#else
    (void)bytes;
#endif
    return block;
}

/* At the beginning of a cache line: records of whole lines touch no more of them than they are long. */
static void *allocate_large(size_t bytes) {
    size_t padded = (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
    return padded < bytes ? NULL : in_large_pages(aligned_alloc(CACHE_LINE, padded), bytes);
}

/* realloc keeps no alignment. */
static void *resize_large(void *block, size_t old_bytes, size_t bytes) {
    void *moved = allocate_large(bytes);
    if (!moved) return NULL;
    memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
    free(block);
    return moved;
}

void *mem_alloc(const abut_context *context, size_t count, size_t size) {
    size_t bytes;
    if (!multiply(count, size, &bytes)) return NULL;
    if (bytes == 0) bytes = 1;
    if (context && context->allocator.allocate)
        return context->allocator.allocate(context->allocator.user, bytes);
    return bytes >= MEM_LARGE ? allocate_large(bytes) : malloc(bytes);
}

void *mem_calloc(const abut_context *context, size_t count, size_t size) {
    if (!(context && context->allocator.allocate)) return calloc(count ? count : 1, size ? size : 1);
    void *block = mem_alloc(context, count, size);
    if (block) memset(block, 0, count * size);
    return block;
}

void *mem_resize(const abut_context *context, void *block, size_t old_count, size_t new_count, size_t size) {
    size_t bytes;
    if (!multiply(new_count, size, &bytes)) return NULL;
    if (!block) return mem_alloc(context, new_count, size);
    if (bytes == 0) bytes = 1;
    size_t old_bytes = old_count * size > 0 ? old_count * size : 1;
    if (context && context->allocator.resize)
        return context->allocator.resize(context->allocator.user, block, old_bytes, bytes);
    if (!(context && context->allocator.allocate))
        return bytes >= MEM_LARGE ? resize_large(block, old_bytes, bytes) : realloc(block, bytes);
    void *moved = context->allocator.allocate(context->allocator.user, bytes);
    if (!moved) return NULL;
    memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
    mem_free(context, block, old_count, size);
    return moved;
}

void mem_free(const abut_context *context, void *block, size_t count, size_t size) {
    if (!block) return;
    size_t bytes = count * size;
    if (context && context->allocator.release)
        context->allocator.release(context->allocator.user, block, bytes > 0 ? bytes : 1);
    else if (!(context && context->allocator.allocate))
        free(block);
}

void mem_expect(const abut_context *context, void *block, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    const uintptr_t page = 4096;
    if (!block || bytes < MEM_LARGE || (context && context->allocator.allocate)) return;
    /* whole pages inside of the block; other page sizes, old systems and refusals change nothing */
    uintptr_t start = (uintptr_t)block, first = (start + page - 1) & ~(page - 1);
    uintptr_t end = (start + bytes) & ~(page - 1);
    (void)madvise((char *)block + (first - start), end - first, MADV_POPULATE_WRITE);
#else
    (void)context, (void)block, (void)bytes;
#endif
}

/* Grows geometrically (by half), so that n pushes cost O(n). */
bool array_reserve_(const abut_context *context, void **data, int64_t *capacity, int64_t need, size_t size) {
    if (need <= *capacity) return true;
    int64_t wanted = *capacity + *capacity / 2;
    if (wanted < 8) wanted = 8;
    if (wanted < need) wanted = need;
    void *grown = mem_resize(context, *data, (size_t)*capacity, (size_t)wanted, size);
    if (!grown) return false;
    *data = grown;
    *capacity = wanted;
    return true;
}

struct arena_block {
    arena_block *next;
    size_t capacity;
};

/* Four doubles that a processor takes at once, the widest type that is kept in arenas. */
enum { ARENA_ALIGNMENT = 32, ARENA_FIRST_BLOCK = 1 << 16 };

static char *block_bytes(arena_block *block) {
    uintptr_t first = (uintptr_t)(block + 1);
    return (char *)block +
           ((first + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT - (uintptr_t)block);
}

static size_t block_size(size_t capacity) { return sizeof(arena_block) + ARENA_ALIGNMENT + capacity; }

void arena_init(arena *a, const abut_context *context) { *a = (arena){.context = context}; }

static arena_block *new_block(arena *a, size_t capacity) {
    arena_block *block = mem_alloc(a->context, 1, block_size(capacity));
    if (block) *block = (arena_block){.capacity = capacity};
    return block;
}

/* One block instead of several, none of which is in use. */
static bool join_blocks(arena *a) {
    size_t bytes = 0;
    for (const arena_block *block = a->first; block; block = block->next) bytes += block->capacity;
    arena_block *joined = new_block(a, bytes);
    if (!joined) return false;
    arena_free(a);
    a->first = joined;
    return true;
}

/* The next block that holds `bytes`: a waiting one if it is large enough, otherwise a new one put in front of
 * it. */
static bool arena_next_block(arena *a, size_t bytes) {
    if (!a->current && a->first && a->first->next && !join_blocks(a)) return false;
    arena_block *waiting = a->current ? a->current->next : a->first;
    if (!waiting || waiting->capacity < bytes) {
        size_t capacity = a->current ? 2 * a->current->capacity : ARENA_FIRST_BLOCK;
        if (capacity < bytes) capacity = bytes;
        arena_block *block = new_block(a, capacity);
        if (!block) return false;
        block->next = waiting;
        if (a->current)
            a->current->next = block;
        else
            a->first = block;
        waiting = block;
    }
    a->current = waiting;
    a->used = 0;
    return true;
}

void *arena_alloc(arena *a, size_t count, size_t size) {
    size_t bytes;
    if (!multiply(count, size, &bytes) || bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (!a->current || a->current->capacity - a->used < bytes)
        if (!arena_next_block(a, bytes)) return NULL;
    void *result = block_bytes(a->current) + a->used;
    a->used += bytes;
    return memset(result, 0, bytes);
}

arena_mark arena_save(const arena *a) { return (arena_mark){a->current, a->used}; }

void arena_restore(arena *a, arena_mark mark) {
    a->current = mark.block;
    a->used = mark.used;
}

void arena_free(arena *a) {
    for (arena_block *block = a->first; block;) {
        arena_block *next = block->next;
        mem_free(a->context, block, 1, block_size(block->capacity));
        block = next;
    }
    arena_init(a, a->context);
}
