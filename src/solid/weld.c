/* Welding: equal points first, by a hash of their bits, then points closer than the tolerance, by a grid.
 *
 *   grid of cells of 8 tolerances; a point looks into the cells that its tolerance box touches (two on
 *   average) and joins the nearest representative there, otherwise it becomes a representative itself.
 *   Representatives are farther apart than the tolerance, so a cell holds a bounded number of them: O(n).
 */
#include "solid/weld.h"

#include <math.h>

/* ---- equal points */

typedef struct point_table {
    uint32_t *tags;  /* upper bits of the hash: most misses are seen here */
    int32_t *points; /* -1: free */
    uint64_t mask;
    int64_t count;
} point_table;

/* -0 and 0 are the same coordinate. */
static uint64_t point_hash(vec3 p) {
    double coordinates[3] = {p.x + 0.0, p.y + 0.0, p.z + 0.0};
    uint64_t bits[3];
    memcpy(bits, coordinates, sizeof bits);
    return hash64_mix(bits[0] + (bits[1] << 23 | bits[1] >> 41) * 0x9e3779b97f4a7c15u +
                      (bits[2] << 47 | bits[2] >> 17) * 0xc2b2ae3d27d4eb4fu);
}

static bool point_equal(vec3 a, vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static bool table_make(scratch *memory, point_table *table, int64_t capacity) {
    table->tags = scratch_take(memory, capacity, sizeof *table->tags);
    table->points = scratch_take(memory, capacity, sizeof *table->points);
    if (!table->tags || !table->points) return false;
    memset(table->points, -1, (size_t)capacity * sizeof *table->points);
    table->mask = (uint64_t)capacity - 1;
    return true;
}

static void table_drop(scratch *memory, point_table *table) {
    scratch_drop(memory, table->tags);
    scratch_drop(memory, table->points);
}

/* Doubles the table; the hashes come again from the points. */
static bool table_grow(scratch *memory, point_table *table, const vec3 *points) {
    point_table grown = {.count = table->count};
    if (!table_make(memory, &grown, 2 * (int64_t)(table->mask + 1))) return false;
    for (uint64_t i = 0; i <= table->mask; i++) {
        if (table->points[i] < 0) continue;
        uint64_t slot = point_hash(points[table->points[i]]) & grown.mask;
        while (grown.points[slot] >= 0) slot = (slot + 1) & grown.mask;
        grown.tags[slot] = table->tags[i], grown.points[slot] = table->points[i];
    }
    table_drop(memory, table);
    *table = grown;
    return true;
}

/* same[i] = the first point that equals point i, for the points with same[i] >= 0. */
static bool weld_equal(scratch *memory, const vec3 *points, int64_t count, int32_t *same) {
    point_table table = {0};
    if (!table_make(memory, &table, 1024)) return false;
    for (int64_t i = 0; i < count; i++) {
        if (same[i] < 0) continue;
        if (2 * table.count > (int64_t)table.mask && !table_grow(memory, &table, points)) return false;
        uint64_t hash = point_hash(points[i]), slot = hash & table.mask;
        uint32_t tag = (uint32_t)(hash >> 32);
        while (table.points[slot] >= 0 &&
               !(table.tags[slot] == tag && point_equal(points[table.points[slot]], points[i])))
            slot = (slot + 1) & table.mask;
        if (table.points[slot] < 0) {
            table.tags[slot] = tag, table.points[slot] = (int32_t)i;
            table.count++;
        }
        same[i] = table.points[slot];
    }
    table_drop(memory, &table);
    return true;
}

/* ---- close points */

typedef struct grid {
    map64 cells;   /* hash of the cell -> its last representative */
    int32_t *next; /* the representative before it in the same cell, or -1 */
    double tolerance, cell;
    vec3 origin;
} grid;

static uint64_t cell_key(double x, double y, double z) {
    return hash64_mix((uint64_t)(int64_t)x * 0x9e3779b97f4a7c15u + (uint64_t)(int64_t)y) +
           (uint64_t)(int64_t)z * 0xc2b2ae3d27d4eb4fu;
}

/* The nearest representative within the tolerance (ties: the earlier), or -1. */
static int32_t grid_find(const grid *g, const vec3 *points, vec3 p) {
    double range[3][2];
    vec3 local = vec3_sub(p, g->origin);
    for (int a = 0; a < 3; a++)
        range[a][0] = floor((vec3_at(local, a) - g->tolerance) * (1 / g->cell)),
        range[a][1] = floor((vec3_at(local, a) + g->tolerance) * (1 / g->cell));
    int32_t best = -1;
    double best2 = g->tolerance * g->tolerance;
    for (double x = range[0][0]; x <= range[0][1]; x++)
        for (double y = range[1][0]; y <= range[1][1]; y++)
            for (double z = range[2][0]; z <= range[2][1]; z++) {
                const int32_t *head = map64_get(&g->cells, cell_key(x, y, z));
                for (int32_t i = head ? *head : -1; i >= 0; i = g->next[i]) {
                    double d2 = vec3_length2(vec3_sub(points[i], p));
                    if (d2 > best2 || (d2 == best2 && best >= 0 && best < i)) continue;
                    best = i, best2 = d2;
                }
            }
    return best;
}

static bool grid_put(const abut_context *context, grid *g, vec3 p, int32_t i) {
    vec3 local = vec3_scale(vec3_sub(p, g->origin), 1 / g->cell);
    uint64_t key = cell_key(floor(local.x), floor(local.y), floor(local.z));
    int32_t *head = map64_put(context, &g->cells, key, -1);
    if (!head) return false;
    g->next[i] = *head;
    *head = i;
    return true;
}

/* Among the points with same[i] == i: same[i] becomes the representative. */
static bool weld_close(scratch *memory, const vec3 *points, int64_t count, vec3 origin, double tolerance,
                       int32_t *same) {
    grid g = {.tolerance = tolerance, .cell = 8 * tolerance, .origin = origin};
    g.next = scratch_take(memory, count, sizeof *g.next);
    bool fine = g.next != NULL;
    for (int64_t i = 0; fine && i < count; i++) {
        if (same[i] != i) continue;
        int32_t found = grid_find(&g, points, points[i]);
        if (found >= 0)
            same[i] = found;
        else
            fine = grid_put(memory->context, &g, points[i], (int32_t)i);
    }
    map64_free(memory->context, &g.cells);
    scratch_drop(memory, g.next);
    return fine;
}

bool weld_points(scratch *memory, const vec3 *points, int64_t count, vec3 origin, double tolerance,
                 int32_t *same, int64_t *equal, int64_t *close) {
    *equal = *close = 0;
    if (!weld_equal(memory, points, count, same)) return false;
    for (int64_t i = 0; i < count; i++) *equal += same[i] >= 0 && same[i] != i;
    if (tolerance > 0) {
        if (!weld_close(memory, points, count, origin, tolerance, same)) return false;
        /* equal points follow their first one; its representative stands before it */
        for (int64_t i = 0; i < count; i++) {
            if (same[i] < 0 || same[same[i]] == same[i]) continue;
            same[i] = same[same[i]];
        }
        for (int64_t i = 0; i < count; i++) *close += same[i] >= 0 && same[i] != i;
        *close -= *equal;
    }
    return true;
}
