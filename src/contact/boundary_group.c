/* From points, each with its own normal, to manifolds. */
#include "contact/boundary.h"

/* A vertex inside keeps only its shortest way out; the two faces of a reflex edge have the same.  False when
 * an earlier one is shorter. */
static bool is_shortest(gather *g, const gather_point *p) {
    double slack = 1e-9 * p->way;
    int kept = 0;
    for (int i = 0; i < g->count; i++)
        if (g->points[i].vertex == p->vertex && g->points[i].way < p->way - slack) return false;
    for (int i = 0; i < g->count; i++)
        if (g->points[i].vertex != p->vertex || g->points[i].way <= p->way + slack)
            g->points[kept++] = g->points[i];
    g->count = kept;
    return true;
}

/* When the room is used up the widest gap makes place. */
void gather_add(gather *g, gather_point p) {
    if (p.vertex >= 0 && !is_shortest(g, &p)) return;
    if (g->count < GATHER_ROOM) {
        g->points[g->count++] = p;
        return;
    }
    int worst = 0;
    for (int i = 1; i < g->count; i++)
        if (g->points[i].gap > g->points[worst].gap) worst = i;
    if (p.gap < g->points[worst].gap) g->points[worst] = p;
}

/* Deepest first; equal gaps by id, so that the order of finding them does not matter. */
static void sort(gather *g) {
    for (int i = 1; i < g->count; i++) {
        gather_point p = g->points[i];
        int k = i;
        for (; k > 0 && (g->points[k - 1].gap > p.gap ||
                         (g->points[k - 1].gap == p.gap && g->points[k - 1].id > p.id));
             k--)
            g->points[k] = g->points[k - 1];
        g->points[k] = p;
    }
}

/* The deepest point that has no group yet leads one: all whose normals are within a tenth of a radian. */
int gather_group(gather *g, const manifold_config *config, manifold *out, int room) {
    manifold_point members[GATHER_ROOM];
    bool taken[GATHER_ROOM] = {false};
    int count = 0;
    sort(g);
    for (int i = 0; i < g->count && count < room; i++) {
        if (taken[i]) continue;
        int found = 0;
        for (int k = i; k < g->count; k++)
            if (!taken[k] && vec3_dot(g->points[i].normal, g->points[k].normal) > 0.995) {
                members[found++] = (manifold_point){g->points[k].at, g->points[k].gap, g->points[k].id};
                taken[k] = true;
            }
        manifold *m = &out[count++];
        m->normal = g->points[i].normal, m->key = g->points[i].id;
        manifold_thin_out(members, found, m->normal, config, m);
    }
    return count;
}
