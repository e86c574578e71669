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

/* ---- points that others stand for
 *
 * Where solids with dents lie on each other there are more places than a manifold has: a corner of one on an
 * edge of the other is told as a vertex on a face and as edges that cross, and the ends of reflex edges lie
 * amidst the corners.  A point is told by others if it lies where one that is as deep does, or between three
 * of them and no deeper than the plane through their gaps: whatever way the bodies tilt, one of those bears
 * before it. */

enum { MOST_MEMBERS = 12 }; /* of more the four are chosen from all that lie apart */
#define SAME 2e-3           /* of the distance of the farthest from the deepest */

static double across2(vec3 n, vec3 a, vec3 b) { return vec3_dot(n, vec3_cross(a, b)); }

/* Where a, b and c are seen along n from p: its parts of them, if it lies between. */
static bool is_between(const manifold_point *p, const manifold_point *t[3], vec3 n, double slack) {
    vec3 d[3];
    double part[3], whole = 0, gap = 0;
    for (int k = 0; k < 3; k++) d[k] = vec3_sub(t[k]->at, p->at);
    for (int k = 0; k < 3; k++) whole += part[k] = across2(n, d[(k + 1) % 3], d[(k + 2) % 3]);
    for (int k = 0; k < 3; k++) {
        if (!(part[k] / whole >= 0)) return false;
        gap += part[k] / whole * t[k]->gap;
    }
    return p->gap >= gap - slack;
}

static bool is_doubled(const manifold_point *m, int i, double same) {
    for (int j = 0; j < i; j++)
        if (vec3_distance(m[i].at, m[j].at) <= same) return true;
    return false;
}

static bool is_amidst(const manifold_point *m, int count, int i, vec3 n, double slack) {
    for (int j = 0; j < count; j++)
        for (int k = j + 1; k < count; k++)
            for (int l = k + 1; l < count; l++) {
                const manifold_point *t[3] = {&m[j], &m[k], &m[l]};
                if (i != j && i != k && i != l && is_between(&m[i], t, n, slack)) return true;
            }
    return false;
}

/* Deepest first, and so they stay. */
static int drop_told(manifold_point *m, int count, vec3 n) {
    double far2 = 0, same;
    int kept = 0;
    for (int i = 0; i < count; i++) far2 = fmax(far2, vec3_length2(vec3_sub(m[i].at, m[0].at)));
    same = SAME * sqrt(far2);
    for (int i = 0; i < count; i++) {
        m[kept] = m[i];
        kept += !is_doubled(m, kept, same);
    }
    count = kept;
    for (int i = count - 1; i > 0 && count <= MOST_MEMBERS; i--)
        if (is_amidst(m, count, i, n, 1e-2 * same)) {
            for (int k = i + 1; k < count; k++) m[k - 1] = m[k];
            count--;
        }
    return count;
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
        manifold_thin_out(members, drop_told(members, found, m->normal), m->normal, config, m);
    }
    return count;
}
