/* The entities that may be near a segment: it is sent down the tree, thickened by epsilon, with the range of
 * its parameter that each part meets.
 *
 *   3D   by steps of two levels, in floats (index.h).  Their rounding is added to the thickness, so that what
 *        they decide is right; where they do not decide, the segment goes to both sides, and to the faces in
 *        the plane.
 *   2D   afterwards, by the nodes, in doubles: a segment hardly ever enters a plane, and stays in it for one
 * or two nodes.
 *
 * What is noted here is measured in the B-rep afterwards (segment.c), so that it need not be tight. */
#include "index/segment.h"
#include "index/step.h"

enum { DEPTH = 128, RING = 128, WAITING = 16 };

void segment_note(segment_sweep *s, int32_t leaf) {
    for (int i = s->found_count - 1; i >= 0 && i >= s->found_count - 32; i--)
        if (s->found[i] == leaf) return;
    if (s->found_count == s->limit)
        s->full = true;
    else
        s->found[s->found_count++] = leaf;
    if (index_leaf_kind(leaf) == INDEX_FACE) INDEX_PREFETCH(&solid_faces(s->solid)[index_leaf_id(leaf)]);
}

/* ---- in a plane */

typedef struct stop {
    int32_t code;
    double t0, t1;
} stop;

/* Notes every leaf of a face below a 2D node that the thick segment meets between t0 and t1.  A full stack is
 * continued in another one. */
static void find_in_plane(segment_sweep *s, stop here) {
    const index_node *nodes = index_nodes(s->index);
    stop stack[DEPTH];
    int top = 0;
    for (;;) {
        while (here.code >= 0 && nodes[here.code].holds_face) {
            const index_node *n = &nodes[here.code];
            double d = plane_distance(n->cut, s->from), slope = vec3_dot(n->cut.n, s->along);
            double d0 = d + here.t0 * slope, d1 = d + here.t1 * slope;
            bool above = d0 > s->band && d1 > s->band, below = d0 < -s->band && d1 < -s->band;
            if (!above && !below) {
                stop other = {n->child[INDEX_BELOW], here.t0, here.t1};
                if (top < DEPTH)
                    stack[top++] = other;
                else
                    find_in_plane(s, other);
            }
            here.code = n->child[below ? INDEX_BELOW : INDEX_ABOVE];
        }
        if (here.code < INDEX_IN) segment_note(s, here.code);
        if (top == 0 || s->full) return;
        here = stack[--top];
    }
}

/* ---- in space */

typedef struct float_stop {
    int32_t step;
    float t0, t1;
} float_stop;

typedef struct glide {
    segment_sweep *s;
    const index_step *steps;
    float from[3], along[3]; /* of the part within the box: from + t along, 0 <= t <= 1 */
    float wide;              /* farther from a plane than this, the floats are right about the side */
    double first, span;      /* the parameter of the segment is first + t span */
    bool certain;            /* no plane is as near as that to t = 0 */
    float_stop *ring; /* parts that wait, first in, first out: while one is looked at, the next are fetched */
    uint32_t head, tail;    /* counted on and on */
    const index_step *step; /* the one that does not decide, its number, distances and slopes */
    int32_t number;
    float d[4], slope[4];
    stop wait[WAITING]; /* code: 4 step + lane */
    int waiting;
} glide;

static void glide_down(glide *g, float_stop here);

/* Looks at all that wait: their nodes are fetched first. */
static void flush(glide *g) {
    for (int i = 0; i < g->waiting; i++) {
        int32_t *code = &g->wait[i].code;
        *code = index_links_of(g->s->index)[*code / 4].on[*code % 4];
        if (*code >= 0) INDEX_PREFETCH(&index_nodes(g->s->index)[*code]);
    }
    for (int i = 0; i < g->waiting && !g->s->full; i++) find_in_plane(g->s, g->wait[i]);
    g->waiting = 0;
}

static void push(glide *g, int32_t code, float t0, float t1) {
    if (code < 0) {
        if (code < INDEX_IN) segment_note(g->s, code);
        if (t0 == 0 && g->s->start == SEGMENT_UNKNOWN && g->certain) g->s->start = code;
    } else if (g->tail - g->head < RING) {
        INDEX_PREFETCH(&g->steps[code]);
        g->ring[g->tail++ % RING] = (float_stop){code, t0, t1};
    } else { /* a full ring is continued in another one */
        glide saved = *g;
        glide_down(g, (float_stop){code, t0, t1});
        g->ring = saved.ring, g->head = saved.head, g->tail = saved.tail;
        g->step = saved.step, g->number = saved.number;
        memcpy(g->d, saved.d, sizeof g->d), memcpy(g->slope, saved.slope, sizeof g->slope);
    }
}

/* What is in a plane waits, while its link is fetched. */
static void wait_in_plane(glide *g, int lane, double t0, double t1) {
    if (g->waiting == WAITING) flush(g);
    INDEX_PREFETCH(&index_links_of(g->s->index)[g->number]);
    g->wait[g->waiting++] = (stop){4 * g->number + lane, t0, t1};
}

/* Where the thick segment enters and leaves the plane of a lane; what lies in the plane is looked at. */
static void cross(glide *g, int lane, float t0, float t1, float *enter, float *leave) {
    *enter = t0, *leave = t1;
    if (g->slope[lane] != 0) {
        float inverse = 1 / g->slope[lane], middle = -g->d[lane] * inverse,
              half = fabsf(g->wide * inverse) + 0x1p-21f; /* and the rounding of t */
        if (middle - half > t0) *enter = middle - half;
        if (middle + half < t1) *leave = middle + half;
    }
    if (*enter == 0) g->certain = false;
    if (!step_holds_face(g->step, lane)) return;
    wait_in_plane(g, lane, g->first + (double)*enter * g->span, g->first + (double)*leave * g->span);
}

/* The part t0 .. t1 goes to one side of the node: through the plane of the child there to one or both ends.
 */
static void take_side(glide *g, int side, float t0, float t1) {
    int lane = 1 + side;
    float at = g->d[lane] + 0.5f * (t0 + t1) * g->slope[lane],
          reach = fabsf(0.5f * (t1 - t0) * g->slope[lane]) + g->wide;
    if (at > reach || at < -reach) {
        push(g, index_end(g->step, 2 * side + (at < 0)), t0, t1);
        return;
    }
    float enter, leave;
    cross(g, lane, t0, t1, &enter, &leave);
    int near = g->slope[lane] > 0; /* where it comes from: below */
    push(g, index_end(g->step, 2 * side + !near), enter, t1);
    push(g, index_end(g->step, 2 * side + near), t0, leave);
}

/* The step at hand does not lead one way. */
static void take_both(glide *g, int above, int below, float t0, float t1) {
    if ((above | below) & 1) {
        take_side(g, below & 1, t0, t1);
        return;
    }
    float enter, leave;
    cross(g, 0, t0, t1, &enter, &leave);
    int near = g->slope[0] > 0;
    take_side(g, !near, enter, t1);
    take_side(g, near, t0, leave);
}

/* The way through a step by the planes (bits: the node, its child above, its child below) that the segment is
 * above, and below; -1 where a plane on the way is in neither. */
static const int8_t ways[8][8] = {{-1, -1, -1, 0, -1, -1, -1, 0}, {-1, -1, -1, 0, 2, -1, 2, 0},
                                  {-1, 1, -1, 0, -1, 1, -1, 0},   {-1, 1, -1, 0, 2, 1, 2, 0},
                                  {-1, -1, -1, 0, -1, -1, -1, 0}, {3, -1, 3, 0, 2, -1, 2, 0},
                                  {-1, 1, -1, 0, -1, 1, -1, 0},   {3, 1, 3, 0, 2, 1, 2, 0}};

static void glide_down(glide *g, float_stop here) {
    float_stop ring[RING];
    g->ring = ring, g->head = g->tail = 0;
    push(g, here.step, here.t0, here.t1);
    while (g->head != g->tail && !g->s->full) {
        here = ring[g->head++ % RING];
        const index_step *s = &g->steps[here.step];
        four x = step_row(s, 0), y = step_row(s, 1), z = step_row(s, 2);
        four d = (x * g->from[0] + y * g->from[1]) + (z * g->from[2] - step_row(s, 3));
        four slope = (x * g->along[0] + y * g->along[1]) + z * g->along[2];
        four at = d + 0.5f * (here.t0 + here.t1) * slope,
             reach = four_absolute(0.5f * (here.t1 - here.t0) * slope) + g->wide;
        int above = four_signs(reach - at) & 7, below = four_signs(reach + at) & 7;
        int way = ways[below][above];
        if (way >= 0) {
            push(g, index_end(s, way), here.t0, here.t1);
        } else {
            g->step = s, g->number = here.step;
            memcpy(g->d, &d, sizeof d), memcpy(g->slope, &slope, sizeof slope);
            take_both(g, above, below, here.t0, here.t1);
        }
    }
}

/* Clips the parameter range to the solid's box; false when they do not meet. */
static bool clip_to_box(const segment_sweep *s, double *t0, double *t1) {
    const box *bounds = &s->index->bounds;
    for (int axis = 0; axis < 3; axis++) {
        double p = vec3_at(s->from, axis), v = vec3_at(s->along, axis);
        double low = vec3_at(bounds->lower, axis) - s->band, high = vec3_at(bounds->upper, axis) + s->band;
        if (v == 0) {
            if (!(p >= low && p <= high)) return false;
            continue;
        }
        double a = (low - p) / v, b = (high - p) / v;
        if (a > b) {
            double swap = a;
            a = b, b = swap;
        }
        *t0 = a > *t0 ? a : *t0, *t1 = b < *t1 ? b : *t1;
    }
    return *t0 <= *t1;
}

/* The distance of a point of the segment from a plane, in floats: u = 2^-24 is the rounding of a number. With
 * L the sum of the extent and of the coordinates of `from` and `along`, d and the slope are good to 6 u L and
 * 5 u L (each of n and x and of five operations, 2 u for d), their sum with t to 3 u L more for each half of
 * the range, where the plane is crossed to 6 u L: 2^-19 L = 32 u L holds all. */
void segment_find(segment_sweep *s) {
    double t0 = 0, t1 = 1;
    s->start = INDEX_OUT;
    if (!clip_to_box(s, &t0, &t1)) return;
    if (t0 == 0) s->start = SEGMENT_UNKNOWN;
    vec3 from = vec3_axpy(s->from, t0, s->along), along = vec3_scale(s->along, t1 - t0);
    double large = s->index->extent + fabs(from.x) + fabs(from.y) + fabs(from.z) + fabs(along.x) +
                   fabs(along.y) + fabs(along.z);
    glide g;
    g.s = s, g.steps = index_steps(s->index), g.waiting = 0;
    g.from[0] = (float)from.x, g.from[1] = (float)from.y, g.from[2] = (float)from.z;
    g.along[0] = (float)along.x, g.along[1] = (float)along.y, g.along[2] = (float)along.z;
    g.wide = (float)(1.01 * (s->band + 0x1p-19 * large));
    g.first = t0, g.span = t1 - t0, g.certain = true;
    glide_down(&g, (float_stop){0, 0, 1});
    flush(&g);
}
