/* When two solids came into contact, from the poses before and after a step (Vanecek 1990, section 3).
 *
 *        o  b  outside, before         A vertex of one solid, seen from the other, went from b to a.  The
 *        :                             segment is classified in the other's index; where it first goes
 * inside,
 *   -----x------- boundary             a length d from a, the vertex was at t' - d (t' - t) / |a - b|
 *        :                             (corrected: the report has t + ..., which is right for the length
 *        o  a  inside, after           outside).
 *
 * An edge that is inside is laid between its places before and after, and the part of the way is halved until
 * it clears the other solid.  The least over all vertices and edges of both solids is the estimate: exact
 * where the relative motion is a translation too short for an edge to pass through, good to the square of the
 * turn otherwise.
 */
#include "contact/touch.h"

enum { HALVINGS = 40, RUNS = 64 };

typedef struct estimate {
    const abut_touch_solid *own, *other;
    pose before, after; /* of own in the frame of the other */
    double epsilon, first;
} estimate;

static vec3 vertex_at(const estimate *e, int32_t v, double part) {
    vec3 x = vec3_add(solid_position(e->own->solid, v), e->own->solid->origin);
    vec3 from = pose_point(e->before, x), to = pose_point(e->after, x);
    return part >= 1 ? to : vec3_lerp(from, to, part);
}

/* Where the segment first goes inside; 1 where it does not. */
static double inside_from(const estimate *e, vec3 from, vec3 to) {
    abut_run runs[RUNS];
    int count = abut_index_segment(e->other->index, e->other->solid, from, to, e->epsilon, runs, RUNS);
    for (int i = 0; i < count && i < RUNS; i++)
        if (runs[i].place.kind == ABUT_INSIDE) return runs[i].at[0];
    return 1;
}

static void ask_vertex(estimate *e, int32_t v) {
    double part = inside_from(e, vertex_at(e, v, 0), vertex_at(e, v, 1));
    if (part < e->first) e->first = part;
}

static bool edge_is_inside(const estimate *e, const int32_t *v, double part) {
    return inside_from(e, vertex_at(e, v[0], part), vertex_at(e, v[1], part)) < 1;
}

/* An edge that is clear at the estimate so far does not change it. */
static void ask_edge(estimate *e, int32_t edge) {
    const int32_t *v = solid_edges(e->own->solid)[edge].vertex;
    if (!edge_is_inside(e, v, e->first)) return;
    double clear = 0, inside = e->first;
    if (edge_is_inside(e, v, clear)) inside = clear;
    for (int k = 0; k < HALVINGS && inside > clear; k++) {
        double middle = (clear + inside) / 2;
        if (edge_is_inside(e, v, middle))
            inside = middle;
        else
            clear = middle;
    }
    e->first = inside;
}

double abut_touch_estimate(const abut_touch_solid *a, const abut_pose pose_a[2], const abut_touch_solid *b,
                           const abut_pose pose_b[2], double epsilon) {
    double first = 1;
    for (int i = 0; i < 2; i++) {
        const pose *own = i ? pose_b : pose_a, *other = i ? pose_a : pose_b;
        estimate e = {i ? b : a, i ? a : b, pose_relative(own[0], other[0]), pose_relative(own[1], other[1]),
                      epsilon,   first};
        if (epsilon == 0) e.epsilon = fmax(a->solid->epsilon, b->solid->epsilon);
        for (int32_t v = 0; v < e.own->solid->vertex_count; v++) ask_vertex(&e, v);
        for (int32_t k = 0; k < e.own->solid->edge_count; k++) ask_edge(&e, k);
        first = e.first;
    }
    return first;
}
