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

bool weld_points(scratch *memory, const vec3 *points, int64_t count, vec3 origin, double tolerance,
                 double cell, int32_t *same, int64_t *equal, int64_t *close) {
    grid g = {.tolerance = tolerance, .cell = cell, .origin = origin};
    g.next = scratch_take(memory, count, sizeof *g.next);
    bool fine = g.next != NULL;
    *equal = *close = 0;
    for (int64_t i = 0; fine && i < count; i++) {
        if (same[i] < 0) continue;
        int32_t found = grid_find(&g, points, points[i]);
        if (found >= 0) {
            bool is_equal = vec3_length2(vec3_sub(points[i], points[found])) == 0;
            *equal += is_equal, *close += !is_equal;
            same[i] = found;
        } else {
            fine = grid_put(memory->context, &g, points[i], (int32_t)i);
            same[i] = (int32_t)i;
        }
    }
    map64_free(memory->context, &g.cells);
    scratch_drop(memory, g.next);
    return fine;
}
