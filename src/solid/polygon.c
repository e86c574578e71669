/* Ear clipping (Meisters 1975).  An ear is a convex corner whose triangle holds no other corner of what is
 * left; every simple polygon has two.  The polygon is seen along its area vector: all tests are signs of
 * n . (a x b), so no projection is needed. */
#include "solid/polygon.h"

vec3 polygon_area2(const vec3 *points, const int *corners, int count) {
    vec3 sum = vec3_zero(), origin = points[corners[0]];
    vec3 a = vec3_sub(points[corners[1]], origin);
    for (int i = 2; i < count; i++) {
        vec3 b = vec3_sub(points[corners[i]], origin);
        sum = vec3_add(sum, vec3_cross(a, b));
        a = b;
    }
    return sum;
}

/* Twice the area of a, b, c seen against n. */
static double turn(vec3 n, vec3 a, vec3 b, vec3 c) {
    return vec3_dot(n, vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
}

static bool same(vec3 a, vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

typedef struct ring {
    const vec3 *points;
    const int *corners;
    int *next, *prev;
    vec3 n;
} ring;

static vec3 at(const ring *r, int i) { return r->points[r->corners[i]]; }

/* Whether corner i, convex, has no other corner in its closed triangle; corners at the same place as one of
 * the three (the two sides of a bridge) do not count. */
static bool is_ear(const ring *r, int i) {
    int before = r->prev[i], after = r->next[i];
    vec3 a = at(r, before), b = at(r, i), c = at(r, after);
    if (!(turn(r->n, a, b, c) > 0)) return false;
    for (int k = r->next[after]; k != before; k = r->next[k]) {
        vec3 p = at(r, k);
        if (same(p, a) || same(p, b) || same(p, c)) continue;
        if (turn(r->n, a, b, p) >= 0 && turn(r->n, b, c, p) >= 0 && turn(r->n, c, a, p) >= 0) return false;
    }
    return true;
}

/* The corner whose triangle has the least area, for polygons that have no ear. */
static int flattest(const ring *r, int first) {
    int best = first, i = first;
    double least = INFINITY;
    do {
        double area = fabs(turn(r->n, at(r, r->prev[i]), at(r, i), at(r, r->next[i])));
        if (area < least) least = area, best = i;
        i = r->next[i];
    } while (i != first);
    return best;
}

void polygon_triangulate(const vec3 *points, const int *corners, int count, int *next, int *prev,
                         int (*triangles)[3]) {
    ring r = {points, corners, next, prev, vec3_unit(polygon_area2(points, corners, count))};
    for (int i = 0; i < count; i++) next[i] = (i + 1) % count, prev[i] = (i + count - 1) % count;
    int at_corner = 0, made = 0, tried = 0;
    for (int left = count; left > 3;) {
        bool ear = is_ear(&r, at_corner);
        if (!ear && ++tried <= left) {
            at_corner = next[at_corner];
            continue;
        }
        int i = ear ? at_corner : flattest(&r, at_corner);
        triangles[made][0] = prev[i], triangles[made][1] = i, triangles[made][2] = next[i];
        made++, left--, tried = 0;
        next[prev[i]] = next[i], prev[next[i]] = prev[i];
        at_corner = next[next[i]]; /* not the neighbour: fans of needles come from cutting at one corner */
    }
    triangles[made][0] = prev[at_corner], triangles[made][1] = at_corner;
    triangles[made][2] = next[at_corner];
}
