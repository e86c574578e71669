/* Welding: points closer than the tolerance are one vertex.
 *
 *   Grid of cells of 8 tolerances; a point looks into the cells that its tolerance box touches (two on
 *   average) and joins the nearest representative there, otherwise it becomes a representative itself.
 *   Representatives are farther apart than the tolerance, so a cell holds a bounded number of them: O(n).
 */
#include "solid/weld.h"

#include <math.h>

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

static bool weld_by_grid(scratch *memory, const vec3 *points, int64_t count, grid *g, int32_t *same,
                         int64_t *equal, int64_t *close) {
    g->next = scratch_take(memory, count, sizeof *g->next);
    bool fine = g->next != NULL;
    for (int64_t i = 0; fine && i < count; i++) {
        if (same[i] < 0) continue;
        int32_t found = grid_find(g, points, points[i]);
        if (found >= 0) {
            bool is_equal = vec3_length2(vec3_sub(points[i], points[found])) == 0;
            *equal += is_equal, *close += !is_equal;
            same[i] = found;
        } else {
            fine = grid_put(memory->context, g, points[i], (int32_t)i);
            same[i] = (int32_t)i;
        }
    }
    map64_free(memory->context, &g->cells);
    scratch_drop(memory, g->next);
    return fine;
}

/* Most files have no close points.  That is seen by sorting them along one generic direction and looking at
 * neighbours.  1: none are closer than the tolerance; 0: some are, or too many share their place along the
 * direction to tell; -1: memory is out. */
static int all_apart(scratch *memory, const vec3 *points, int64_t count, vec3 origin, double diagonal,
                     double tolerance, const int32_t *same) {
    sort_item *items = scratch_take(memory, count, sizeof *items);
    sort_item *other = scratch_take(memory, count, sizeof *other);
    if (!items || !other) return -1;
    int64_t used = 0, budget = 8 * count;
    double scale = diagonal > 0 ? 0x1p29 / diagonal : 0;
    for (int64_t i = 0; i < count; i++) {
        if (same[i] < 0) continue;
        double x = vec3_dot((vec3){0.3713, 0.8041, 0.4643}, vec3_sub(points[i], origin)) * scale + 0x1p31;
        uint32_t key = x <= 0 ? 0 : x >= 0x1.fffffep31 ? UINT32_MAX : (uint32_t)x;
        items[used++] = (sort_item){.key = key, .value = (int32_t)i};
    }
    sort_items(items, other, used);
    uint32_t window = (uint32_t)(tolerance * scale) + 2;
    bool apart = true;
    for (int64_t i = 0; i < used && apart; i++)
        for (int64_t j = i + 1; j < used && items[j].key - items[i].key <= window && apart; j++)
            apart = --budget > 0 && vec3_length2(vec3_sub(points[items[i].value], points[items[j].value])) >
                                        tolerance * tolerance;
    scratch_drop(memory, items);
    scratch_drop(memory, other);
    return apart;
}

bool weld_points(scratch *memory, const vec3 *points, int64_t count, vec3 origin, double diagonal,
                 double tolerance, int32_t *same, int64_t *equal, int64_t *close) {
    *equal = *close = 0;
    int apart = all_apart(memory, points, count, origin, diagonal, tolerance, same);
    if (apart != 0) return apart > 0; /* same[i] is i already */
    double cell = fmax(8 * tolerance, 1e-12 * diagonal);
    grid g = {.tolerance = tolerance, .cell = cell > 0 ? cell : 1, .origin = origin};
    return weld_by_grid(memory, points, count, &g, same, equal, close);
}
