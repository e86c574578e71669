/* Sort, hash, map, heap, random numbers: written here so that the same input gives the same order and
 * the same bits on every platform (the C library's qsort, rand and hashes promise neither). */
#include "base/base.h"

/* Bottom-up merge sort: runs of 1, 2, 4, ... are merged between the items and the scratch. */
bool sort_stable(const abut_context *context, void *items, size_t count, size_t size, sort_compare *compare,
                 const void *user) {
    if (count < 2) return true;
    char *scratch = mem_alloc(context, count, size);
    if (!scratch) return false;
    char *from = items, *to = scratch;
    for (size_t width = 1; width<count; width = width> count / 2 ? count : 2 * width) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = start + width < count ? start + width : count;
            size_t end = middle + width < count ? middle + width : count;
            size_t i = start, j = middle;
            for (size_t k = start; k < end; k++) {
                bool left = i < middle && (j >= end || compare(user, from + i * size, from + j * size) <= 0);
                memcpy(to + k * size, from + (left ? i++ : j++) * size, size);
            }
        }
        char *swap = from;
        from = to, to = swap;
    }
    if (from != (char *)items) memcpy(items, from, count * size);
    mem_free(context, scratch, count, size);
    return true;
}

/* The largest of a node and its two branches goes up, from `node` down (a binary heap in items[0 ..
 * count-1]).
 */
static void sift_down(int *items, int64_t node, int64_t count) {
    int item = items[node];
    for (int64_t child; (child = 2 * node + 1) < count; node = child) {
        if (child + 1 < count && items[child + 1] > items[child]) child++;
        if (items[child] <= item) break;
        items[node] = items[child];
    }
    items[node] = item;
}

/* Heap sort (Williams 1964). */
void sort_ints(int *items, int64_t count) {
    for (int64_t i = count / 2 - 1; i >= 0; i--) sift_down(items, i, count);
    for (int64_t end = count - 1; end > 0; end--) {
        int largest = items[0];
        items[0] = items[end], items[end] = largest;
        sift_down(items, 0, end);
    }
}

/* Finaliser of splitmix64 (Steele, Lea and Flood 2014). */
uint64_t hash64_mix(uint64_t x) {
    x ^= x >> 30, x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27, x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t hash_word(uint64_t state, const unsigned char *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    state = (state ^ hash64_mix(word)) * 0x9fb21c651e98df25u;
    return state ^ state >> 32;
}

/* Words of eight bytes, each mixed into a running state: four states in turn for long input, so that the
 * processor need not wait for one product to begin the next; the length closes it. */
uint64_t hash64(const void *bytes, size_t size, uint64_t seed) {
    const unsigned char *p = bytes;
    uint64_t state = hash64_mix(seed + 0x9e3779b97f4a7c15u);
    size_t left = size;
    if (left >= 256) {
        uint64_t lanes[4] = {state, state + 1, state + 2, state + 3};
        for (; left >= 32; p += 32, left -= 32)
            for (int k = 0; k < 4; k++) lanes[k] = hash_word(lanes[k], p + 8 * k);
        for (int k = 0; k < 4; k++) state = hash64_mix(state ^ lanes[k]) + lanes[k];
    }
    for (; left >= 8; p += 8, left -= 8) state = hash_word(state, p);
    uint64_t tail = 0;
    if (left) memcpy(&tail, p, left);
    return hash64_mix(state ^ hash64_mix(tail ^ (uint64_t)size << 56) ^ (uint64_t)size);
}

/* The slot of key: where it is, or the free one where it would go.  The table is never full. */
static int64_t map64_slot(const map64 *map, uint64_t key) {
    uint64_t mask = (uint64_t)map->capacity - 1, slot = hash64_mix(key) & mask;
    while (map->values[slot] != MAP64_EMPTY && map->keys[slot] != key) slot = (slot + 1) & mask;
    return (int64_t)slot;
}

static bool map64_rehash(const abut_context *context, map64 *map, int64_t capacity) {
    map64 grown = {.capacity = capacity};
    grown.keys = mem_alloc(context, (size_t)capacity, sizeof *grown.keys);
    grown.values = mem_alloc(context, (size_t)capacity, sizeof *grown.values);
    if (!grown.keys || !grown.values) {
        map64_free(context, &grown);
        return false;
    }
    for (int64_t i = 0; i < capacity; i++) grown.values[i] = MAP64_EMPTY;
    for (int64_t i = 0; i < map->capacity; i++) {
        if (map->values[i] == MAP64_EMPTY) continue;
        int64_t slot = map64_slot(&grown, map->keys[i]);
        grown.keys[slot] = map->keys[i], grown.values[slot] = map->values[i];
    }
    grown.count = map->count;
    map64_free(context, map);
    *map = grown;
    return true;
}

bool map64_reserve(const abut_context *context, map64 *map, int64_t entries) {
    int64_t capacity = map->capacity ? map->capacity : 16;
    while (capacity / 2 < entries) capacity *= 2; /* at most half full */
    return capacity == map->capacity || map64_rehash(context, map, capacity);
}

int32_t *map64_put(const abut_context *context, map64 *map, uint64_t key, int32_t initial) {
    assert(initial != MAP64_EMPTY);
    if (!map64_reserve(context, map, map->count + 1)) return NULL;
    int64_t slot = map64_slot(map, key);
    if (map->values[slot] == MAP64_EMPTY) {
        map->keys[slot] = key, map->values[slot] = initial;
        map->count++;
    }
    return &map->values[slot];
}

int32_t *map64_get(const map64 *map, uint64_t key) {
    if (!map->capacity) return NULL;
    int64_t slot = map64_slot(map, key);
    return map->values[slot] == MAP64_EMPTY ? NULL : &map->values[slot];
}

void map64_free(const abut_context *context, map64 *map) {
    mem_free(context, map->keys, (size_t)map->capacity, sizeof *map->keys);
    mem_free(context, map->values, (size_t)map->capacity, sizeof *map->values);
    *map = (map64){0};
}

static bool before(const heap_item *a, const heap_item *b) {
    return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

bool heap_push(const abut_context *context, heap *h, double time, int64_t payload) {
    heap_item item = {time, h->next_sequence, payload};
    if (!array_push(context, &h->items, item)) return false;
    h->next_sequence++;
    heap_item *items = h->items.data;
    int64_t i = h->items.count - 1;
    for (; i > 0 && before(&item, &items[(i - 1) / 2]); i = (i - 1) / 2) items[i] = items[(i - 1) / 2];
    items[i] = item;
    return true;
}

bool heap_pop(heap *h, heap_item *out) {
    if (h->items.count == 0) return false;
    heap_item *items = h->items.data, last = items[--h->items.count];
    *out = h->items.count ? items[0] : last;
    int64_t i = 0, n = h->items.count;
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&items[child + 1], &items[child])) child++;
        if (!before(&items[child], &last)) break;
        items[i] = items[child];
    }
    if (n) items[i] = last;
    return true;
}

void heap_free(const abut_context *context, heap *h) {
    array_free(context, &h->items);
    h->next_sequence = 0;
}

uint64_t random_bits(uint64_t *state) { return hash64_mix(*state += 0x9e3779b97f4a7c15u); }

double random_unit(uint64_t *state) { return (double)(random_bits(state) >> 11) * 0x1p-53; }

double random_range(uint64_t *state, double lo, double hi) { return lo + (hi - lo) * random_unit(state); }
