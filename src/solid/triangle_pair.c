/* Do two triangles of a mesh meet outside of what they share?  By the number of common vertices:
 *
 *   2   neighbours meet only in their edge, unless they are folded onto each other in one plane
 *   1   they meet only in the vertex v, unless the far side of one reaches the other (or, in one plane, their
 *       corners at v overlap)
 *   0   any common point counts, also a touch
 *
 * Everything is signs of orient3d, and of orient2d in the plane; touching is meeting.
 */
#include "solid/intersect.h"

/* ---- in one plane */

typedef struct flat {
    double x, y;
} flat;

static int turn(flat a, flat b, flat c) { return orient2d(a.x, a.y, b.x, b.y, c.x, c.y); }

/* The two coordinates in which triangle a keeps an area, preferably the largest. */
static void choose_axes(const vec3 *position, const int32_t a[3], int *u, int *v) {
    vec3 n = vec3_cross(vec3_sub(position[a[1]], position[a[0]]), vec3_sub(position[a[2]], position[a[0]]));
    vec3 lean = vec3_abs(n);
    int drop = lean.x >= lean.y && lean.x >= lean.z ? 0 : lean.y >= lean.z ? 1 : 2;
    *u = (drop + 1) % 3, *v = (drop + 2) % 3;
}

/* The corners in the plane, counter-clockwise, beginning with corner `first`. */
static void flatten(const vec3 *position, const int32_t t[3], int first, int u, int v, flat out[3]) {
    for (int i = 0; i < 3; i++) {
        vec3 p = position[t[(first + i) % 3]];
        out[i] = (flat){vec3_at(p, u), vec3_at(p, v)};
    }
    if (turn(out[0], out[1], out[2]) < 0) {
        flat swap = out[1];
        out[1] = out[2], out[2] = swap;
    }
}

/* p lies in the closed corner at t[0], which is less than straight. */
static bool in_corner(const flat t[3], flat p) {
    return turn(t[0], t[1], p) >= 0 && turn(t[0], p, t[2]) >= 0;
}

/* Some side of a has all of b strictly outside. */
static bool separates(const flat a[3], const flat b[3]) {
    for (int i = 0; i < 3; i++) {
        flat p = a[i], q = a[(i + 1) % 3];
        if (turn(p, q, b[0]) < 0 && turn(p, q, b[1]) < 0 && turn(p, q, b[2]) < 0) return true;
    }
    return false;
}

/* first_a, first_b: the common vertex (shared 1), or the one that is not common (shared 2). */
static bool meet_in_plane(const vec3 *position, const int32_t a[3], const int32_t b[3], int shared,
                          int first_a, int first_b) {
    int u, v;
    flat p[3], q[3];
    choose_axes(position, a, &u, &v);
    flatten(position, a, first_a, u, v, p);
    flatten(position, b, first_b, u, v, q);
    if (shared == 0) return !separates(p, q) && !separates(q, p);
    if (shared == 1)
        return in_corner(p, q[1]) || in_corner(p, q[2]) || in_corner(q, p[1]) || in_corner(q, p[2]);
    /* p[1] p[2] is the common side, with p[0] on its left */
    return turn(p[1], p[2], q[0]) > 0;
}

/* ---- in space */

/* The closed segment p q meets the closed triangle; its ends are on the sides sp and sq of it, not both 0. */
static bool segment_meets(vec3 p, vec3 q, int sp, int sq, vec3 a, vec3 b, vec3 c) {
    if (sp * sq > 0 || (sp == 0 && sq == 0)) return false;
    int s1 = orient3d(p, q, a, b), s2 = orient3d(p, q, b, c);
    if (s1 * s2 < 0) return false;
    int s3 = orient3d(p, q, c, a);
    return s1 * s3 >= 0 && s2 * s3 >= 0;
}

static bool meet_at_vertex(const vec3 *position, const int32_t a[3], const int32_t b[3], int first_a,
                           int first_b) {
    vec3 v = position[a[first_a]];
    vec3 p = position[a[(first_a + 1) % 3]], q = position[a[(first_a + 2) % 3]];
    vec3 r = position[b[(first_b + 1) % 3]], s = position[b[(first_b + 2) % 3]];
    int side_r = orient3d(v, p, q, r), side_s = orient3d(v, p, q, s);
    if (side_r * side_s > 0) return false;
    if (side_r == 0 && side_s == 0) return meet_in_plane(position, a, b, 1, first_a, first_b);
    int side_p = orient3d(v, r, s, p), side_q = orient3d(v, r, s, q);
    if (side_p * side_q > 0) return false;
    return segment_meets(r, s, side_r, side_s, v, p, q) || segment_meets(p, q, side_p, side_q, v, r, s);
}

static bool all_on_one_side(const int side[3]) {
    return (side[0] > 0 && side[1] > 0 && side[2] > 0) || (side[0] < 0 && side[1] < 0 && side[2] < 0);
}

static bool meet_apart(const vec3 *position, const int32_t a[3], const int32_t b[3]) {
    vec3 p[3], q[3];
    int side_p[3], side_q[3];
    for (int i = 0; i < 3; i++) p[i] = position[a[i]], q[i] = position[b[i]];
    for (int i = 0; i < 3; i++) side_q[i] = orient3d(p[0], p[1], p[2], q[i]);
    if (all_on_one_side(side_q)) return false;
    if (side_q[0] == 0 && side_q[1] == 0 && side_q[2] == 0) return meet_in_plane(position, a, b, 0, 0, 0);
    for (int i = 0; i < 3; i++) side_p[i] = orient3d(q[0], q[1], q[2], p[i]);
    if (all_on_one_side(side_p)) return false;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        if (segment_meets(q[i], q[j], side_q[i], side_q[j], p[0], p[1], p[2]) ||
            segment_meets(p[i], p[j], side_p[i], side_p[j], q[0], q[1], q[2]))
            return true;
    }
    return false;
}

/* Polygons that visit a vertex twice may leave triangles that are only an edge, which their neighbours have
 * too. */
static bool is_edge(const int32_t t[3]) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; }

bool intersect_triangles(const vec3 *position, const int32_t a[3], const int32_t b[3], bool same_plane) {
    if (is_edge(a) || is_edge(b)) return false;
    int shared = 0, sum_a = 0, sum_b = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a[i] == b[j]) shared++, sum_a += i, sum_b += j;
    if (shared >= 3) return true;
    /* the common vertex, or the one that is not common */
    int first_a = shared == 2 ? 3 - sum_a : sum_a, first_b = shared == 2 ? 3 - sum_b : sum_b;
    if (same_plane) return meet_in_plane(position, a, b, shared, first_a, first_b);
    if (shared == 0) return meet_apart(position, a, b);
    if (shared == 1) return meet_at_vertex(position, a, b, first_a, first_b);
    vec3 apex = position[b[first_b]];
    if (orient3d(position[a[0]], position[a[1]], position[a[2]], apex) != 0) return false;
    return meet_in_plane(position, a, b, 2, first_a, first_b);
}

/* ---- around a vertex */

/* The triangles around the vertex of corner c all turn the same way in the coordinates u, v, and their far
 * sides cross the ray from the vertex along u exactly once.  */
static bool is_round(const topology *t, int32_t start, int32_t corners, int u, int v) {
    vec3 center = topology_at(t, start);
    double x = vec3_at(center, u), y = vec3_at(center, v);
    int32_t c = start;
    int crossings = 0, way = 0;
    do {
        vec3 p = topology_at(t, topology_next(t, c)), q = topology_at(t, topology_prev(t, c));
        int side = orient2d(x, y, vec3_at(p, u), vec3_at(p, v), vec3_at(q, u), vec3_at(q, v));
        if (side == 0 || (way && side != way)) return false;
        way = side, corners--;
        bool low = vec3_at(side > 0 ? p : q, v) < y, high = vec3_at(side > 0 ? q : p, v) >= y;
        crossings += low && high;
        c = t->twin[topology_prev(t, c)];
    } while (c != start);
    return crossings == 1 && corners == 0; /* corners are left where another sheet ends in the vertex */
}

/* The axis along which the triangle of corner c shows the most of its area. */
static int best_axis(const topology *t, int32_t c) {
    vec3 at = topology_at(t, c);
    vec3 lean = vec3_abs(vec3_cross(vec3_sub(topology_at(t, topology_next(t, c)), at),
                                    vec3_sub(topology_at(t, topology_prev(t, c)), at)));
    return lean.x >= lean.y && lean.x >= lean.z ? 0 : lean.y >= lean.z ? 1 : 2;
}

bool intersect_round_vertices(topology *t, bool *round) {
    int32_t *corner = scratch_take(&t->memory, t->vertex_count, sizeof *corner);
    int32_t *corners = scratch_clear(&t->memory, t->vertex_count, sizeof *corners);
    if (!corner || !corners) return false;
    for (int32_t v = 0; v < t->vertex_count; v++) corner[v] = -1;
    /* only vertices with triangles all around */
    for (int32_t c = 0; c < t->corner_count; c++) {
        int32_t *here = &corner[t->vertex[c]];
        corners[t->vertex[c]]++;
        if (t->twin[c] < 0 || t->twin[topology_prev(t, c)] < 0 || topology_size(t, t->face[c]) != 3)
            *here = -2;
        else if (*here == -1)
            *here = c;
    }
    for (int32_t v = 0; v < t->vertex_count; v++) {
        round[v] = false;
        if (corner[v] < 0) continue;
        int first = best_axis(t, corner[v]); /* mostly the only one that is tried */
        for (int axis = first; axis < first + 3 && !round[v]; axis++)
            round[v] = is_round(t, corner[v], corners[v], (axis + 1) % 3, (axis + 2) % 3);
    }
    scratch_drop(&t->memory, corner);
    scratch_drop(&t->memory, corners);
    return true;
}
