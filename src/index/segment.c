/* Segment classification (Vanecek 1990, section 2.4).
 *
 * The segment, thickened by epsilon, is sent down the tree with the range of its parameter t that each part
 * meets (always computed from the original end points, ROBUSTNESS point 12); that gives the entities that may
 * be near.  For each, the stretch of t within epsilon of it is computed from the B-rep.  The stretches are
 * laid over each other, lower dimension first; what is left is inside or outside by its middle.  Equal
 * neighbours are compressed.
 *
 *     t:  0 ---- out ----[ e ]--------- face ---------[ v ]--- out ---- 1
 */
#include "index/segment.h"

enum { FEW = 480 }; /* entities that are dealt with on the stack, in 40 kB */

typedef segment_stretch stretch;
typedef segment_sweep sweep;

static inline double least(double a, double b) { return a < b ? a : b; }
static inline double most(double a, double b) { return a > b ? a : b; }
static vec3 at(const sweep *s, double t) { return vec3_axpy(s->from, t, s->along); }

/* ---- stretches within epsilon of an entity */
static void add(sweep *s, double t0, double t1, double nearest, int32_t leaf) {
    t0 = most(0, t0 - 1e-14), t1 = least(1, t1 + 1e-14);
    if (!(t0 <= t1)) return;
    if (s->stretch_count == s->limit) {
        s->full = true;
        return;
    }
    s->stretches[s->stretch_count++] = (stretch){t0, t1, least(t1, most(t0, nearest)), leaf};
}

/* |m + t v| <= epsilon: t = nearest -+ sqrt(epsilon^2 - least^2) / |v| with least = |m + nearest v|.  False
 * where it never comes so near. */
static bool within(vec3 m, vec3 v, double epsilon, double *t0, double *t1, double *nearest) {
    double v2 = vec3_length2(v);
    *nearest = v2 > 0 ? -vec3_dot(m, v) / v2 : 0;
    if (!isfinite(*nearest)) *nearest = 0;
    double room = epsilon * epsilon - vec3_length2(vec3_axpy(m, *nearest, v));
    if (!(room >= 0)) return false;
    double half = v2 > 0 ? sqrt(room / v2) : INFINITY;
    *t0 = *nearest - half, *t1 = *nearest + half;
    return true;
}

static void add_vertex(sweep *s, int32_t vertex) {
    double t0, t1, t;
    vec3 m = vec3_sub(s->from, solid_position(s->solid, vertex));
    if (within(m, s->along, s->epsilon, &t0, &t1, &t)) add(s, t0, t1, t, index_leaf(INDEX_VERTEX, vertex));
}

/* An edge is a cylinder between two balls: the stretch is the hull of the three. */
static void add_edge(sweep *s, int32_t edge) {
    const solid_edge *e = &solid_edges(s->solid)[edge];
    vec3 a = solid_position(s->solid, e->vertex[0]), w = vec3_sub(solid_position(s->solid, e->vertex[1]), a);
    double w2 = vec3_length2(w), best0 = INFINITY, best1 = -INFINITY, t0, t1, t, nearest = 0;
    vec3 m = vec3_sub(s->from, a);
    double sm = vec3_dot(m, w) / w2, sv = vec3_dot(s->along, w) / w2;
    vec3 m_off = vec3_axpy(m, -sm, w), v_off = vec3_axpy(s->along, -sv, w);
    if (within(m_off, v_off, s->epsilon, &t0, &t1, &t)) {
        /* clip to 0 <= sm + t sv <= 1 */
        if (sv != 0) {
            double p = -sm / sv, q = (1 - sm) / sv;
            t0 = most(t0, least(p, q)), t1 = least(t1, most(p, q));
        } else if (sm < 0 || sm > 1) {
            t1 = -INFINITY;
        }
        if (t0 <= t1) best0 = t0, best1 = t1, nearest = least(t1, most(t0, t));
    }
    for (int i = 0; i < 2; i++) {
        vec3 from = vec3_sub(s->from, solid_position(s->solid, e->vertex[i]));
        if (!within(from, s->along, s->epsilon, &t0, &t1, &t)) continue;
        if (best0 > best1) nearest = t;
        best0 = least(best0, t0), best1 = most(best1, t1);
    }
    if (best0 > best1) return;
    add(s, best0, best1, nearest, index_leaf(INDEX_EDGE, edge));
    add_vertex(s, e->vertex[0]), add_vertex(s, e->vertex[1]);
}

/* Where the projection of the segment crosses a side of the face. */
static bool side_crossing(const sweep *s, vec3 normal, vec3 a, vec3 b, double *t) {
    vec3 inward = vec3_cross(normal, vec3_sub(b, a));
    double slope = vec3_dot(inward, s->along);
    if (slope == 0) return false;
    *t = vec3_dot(inward, vec3_sub(a, s->from)) / slope;
    return true;
}

/* The parts of [t0, t1] over the face: between neighbouring crossings with its sides all or nothing. */
static void add_face_parts(sweep *s, int32_t face, double t0, double t1, double nearest) {
    const solid_face *f = &solid_faces(s->solid)[face];
    const solid_coedge *coedges = solid_coedges(s->solid);
    double from = t0;
    while (from < t1) {
        double to = t1, t;
        for (int32_t l = 0; l < f->loops; l++) {
            const solid_loop *loop = &solid_loops(s->solid)[f->first_loop + l];
            int32_t c = loop->coedge;
            for (int32_t k = 0; k < loop->count; k++, c = coedges[c].next)
                if (side_crossing(s, f->plane.n, solid_position(s->solid, coedges[c].vertex),
                                  solid_position(s->solid, coedges[coedges[c].next].vertex), &t) &&
                    t > from && t < to)
                    to = t;
        }
        if (index_face_contains(s->solid, face, at(s, (from + to) / 2)))
            add(s, from, to, nearest, index_leaf(INDEX_FACE, face));
        if (s->full) return;
        from = to;
    }
}

/* Whether x is no farther than reach from the segment a b. */
static bool is_within(vec3 x, vec3 a, vec3 b, double reach) {
    vec3 way = vec3_sub(b, a), from = vec3_sub(x, a);
    double t = vec3_dot(from, way) / vec3_length2(way);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return vec3_length2(vec3_axpy(from, -t, way)) <= reach * reach;
}

static void add_face(sweep *s, int32_t face) {
    const solid_face *f = &solid_faces(s->solid)[face];
    double d = plane_distance(f->plane, s->from), slope = vec3_dot(f->plane.n, s->along);
    double t0 = 0, t1 = 1, nearest = 0.5, wide0 = 0, wide1 = 1, slack = s->epsilon + 4 * s->solid->weld;
    if (slope != 0) {
        double half = fabs(s->epsilon / slope), wide = fabs(slack / slope);
        nearest = -d / slope;
        t0 = most(0, nearest - half), t1 = least(1, nearest + half);
        wide0 = most(0, nearest - wide), wide1 = least(1, nearest + wide);
    } else if (fabs(d) > slack) {
        return;
    } else if (fabs(d) > s->epsilon) {
        t1 = -1; /* along the face, too far from it for any t; its edges may be nearer */
    }
    if (!(wide0 <= wide1)) return;
    /* its edges, where they can be near the part of the segment that is near the plane */
    vec3 middle = at(s, (wide0 + wide1) / 2);
    double reach = slack + (wide1 - wide0) / 2 * s->length;
    const solid_coedge *coedges = solid_coedges(s->solid);
    for (int32_t l = 0; l < f->loops; l++) {
        const solid_loop *loop = &solid_loops(s->solid)[f->first_loop + l];
        int32_t c = loop->coedge;
        vec3 a = solid_position(s->solid, coedges[c].vertex);
        for (int32_t k = 0; k < loop->count; k++) {
            int32_t edge = coedges[c].edge;
            c = coedges[c].next;
            vec3 b = solid_position(s->solid, coedges[c].vertex);
            if (is_within(middle, a, b, reach)) segment_note(s, index_leaf(INDEX_EDGE, edge));
            a = b;
        }
    }
    if (t1 - t0 < 1e-6) { /* it crosses: one look is enough */
        if (t0 <= t1 && index_face_contains(s->solid, face, at(s, (t0 + t1) / 2)))
            add(s, t0, t1, nearest, index_leaf(INDEX_FACE, face));
    } else {
        add_face_parts(s, face, t0, t1, nearest);
    }
}

static void measure(sweep *s) {
    for (int i = 0; i < s->found_count && !s->full; i++) { /* faces add their edges behind */
        int32_t leaf = s->found[i], id = index_leaf_id(leaf);
        switch (index_leaf_kind(leaf)) {
        case INDEX_VERTEX: add_vertex(s, id); break;
        case INDEX_EDGE: add_edge(s, id); break;
        default: add_face(s, id);
        }
    }
}

/* ---- the sequence */
static void sort_numbers(double *x, int count) {
    for (int gap = 1; gap < count; gap = 3 * gap + 1) {
        if (3 * gap + 1 < count) continue;
        for (; gap > 0; gap /= 3)
            for (int i = gap; i < count; i++) {
                double v = x[i];
                int j = i;
                for (; j >= gap && x[j - gap] > v; j -= gap) x[j] = x[j - gap];
                x[j] = v;
            }
        return;
    }
}

/* The stretch that decides at t: the lowest dimension, then the nearest in its middle, then the smallest
 * number. */
static int decide(const sweep *s, double t) {
    int best = -1;
    for (int i = 0; i < s->stretch_count; i++) {
        const stretch *x = &s->stretches[i];
        if (t < x->t0 || t > x->t1) continue;
        if (best < 0) {
            best = i;
            continue;
        }
        const stretch *y = &s->stretches[best];
        int kx = index_leaf_kind(x->leaf), ky = index_leaf_kind(y->leaf);
        double dx = fabs(t - x->at), dy = fabs(t - y->at);
        if (kx < ky || (kx == ky && (dx < dy || (dx == dy && x->leaf > y->leaf)))) best = i;
    }
    return best;
}

/* Inside or outside at t, behind `count` runs.  After a clear crossing of a face it follows from the
 * direction. */
static int32_t side_after(const sweep *s, const stretch *line, int count, double t) {
    if (count == 0 && s->start != SEGMENT_UNKNOWN) return s->start;
    if (count > 1 && line[count - 1].leaf < INDEX_IN && line[count - 2].leaf >= INDEX_IN &&
        index_leaf_kind(line[count - 1].leaf) == INDEX_FACE) {
        const stretch *x = &line[count - 1];
        double slope = vec3_dot(solid_faces(s->solid)[index_leaf_id(x->leaf)].plane.n, s->along);
        /* it came from one side of the plane and leaves to the other, at no small angle */
        if (fabs(slope) > 0.1 * s->length) return slope < 0 ? INDEX_IN : INDEX_OUT;
    }
    return index_side(s->index, at(s, t));
}

/* The elementary intervals between all ends, each with its leaf; equal neighbours joined. */
static int lay_out(const sweep *s) {
    stretch *line = s->line;
    double *ends = s->ends;
    int n = 0, count = 0;
    ends[n++] = 0, ends[n++] = 1;
    for (int i = 0; i < s->stretch_count; i++) ends[n++] = s->stretches[i].t0, ends[n++] = s->stretches[i].t1;
    sort_numbers(ends, n);
    for (int i = 0; i + 1 < n; i++) {
        if (!(ends[i + 1] > ends[i]) && !(s->length == 0 && i == 0)) continue;
        double t = (ends[i] + ends[i + 1]) / 2;
        int best = decide(s, t);
        stretch run = {ends[i], ends[i + 1], best < 0 ? t : s->stretches[best].at,
                       best < 0 ? INDEX_OUT : s->stretches[best].leaf};
        if (best < 0) run.leaf = side_after(s, line, count, t);
        if (count && line[count - 1].leaf == run.leaf)
            line[count - 1].t1 = run.t1;
        else
            line[count++] = run;
        if (count == s->limit) return -1;
    }
    return count;
}

static bool vertex_of_edge(const abut_solid *solid, int32_t vertex, int32_t edge) {
    const solid_edge *e = &solid_edges(solid)[edge];
    return e->vertex[0] == vertex || e->vertex[1] == vertex;
}
/* Whether the lower entity lies on the border of the higher. */
static bool borders(const abut_solid *solid, int32_t low, int32_t high) {
    if (low >= INDEX_IN || high >= INDEX_IN) return false;
    int kl = index_leaf_kind(low), kh = index_leaf_kind(high);
    int32_t l = index_leaf_id(low), h = index_leaf_id(high);
    if (kl >= kh) return false;
    if (kh == INDEX_EDGE) return vertex_of_edge(solid, l, h);
    const solid_coedge *coedges = solid_coedges(solid);
    if (kl == INDEX_EDGE) {
        const solid_edge *e = &solid_edges(solid)[l];
        return coedges[e->coedge[0]].face == h || coedges[e->coedge[1]].face == h;
    }
    int32_t first = solid_vertices(solid)[l].coedge, c = first;
    do {
        if (coedges[c].face == h) return true;
        c = solid_twin(solid, coedges[c].prev);
    } while (c != first);
    return false;
}

/* Short stretches of a face or an edge beside one of its own borders are an artefact of the tolerance: the
 * points that are within epsilon of the face but not of its edge.  They go to the neighbour. */
static int absorb(const sweep *s, stretch *line, int count, double shortest) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < count; i++) {
            if (line[i].leaf >= INDEX_IN || line[i].t1 - line[i].t0 > shortest) continue;
            int into = i > 0 && borders(s->solid, line[i - 1].leaf, line[i].leaf)           ? i - 1
                       : i + 1 < count && borders(s->solid, line[i + 1].leaf, line[i].leaf) ? i + 1
                                                                                            : -1;
            if (into < 0) continue;
            line[into].t0 = least(line[into].t0, line[i].t0), line[into].t1 = most(line[into].t1, line[i].t1);
            memmove(line + i, line + i + 1, (size_t)(count - i - 1) * sizeof *line);
            count--;
            int k = into > i ? i : into; /* neighbours that became equal */
            for (int j = k > 0 ? k - 1 : 0; j + 1 < count && j <= k;) {
                if (line[j].leaf != line[j + 1].leaf) {
                    j++;
                    continue;
                }
                line[j].t1 = line[j + 1].t1;
                memmove(line + j + 1, line + j + 2, (size_t)(count - j - 2) * sizeof *line);
                count--;
            }
            changed = true;
            break;
        }
    }
    return count;
}

static int write_runs(const sweep *s, const stretch *line, int count, double shortest, abut_run *runs,
                      int capacity) {
    for (int i = 0; i < count && i < capacity; i++) {
        const stretch *x = &line[i];
        bool point =
            x->leaf < INDEX_IN && (x->t1 - x->t0 <= shortest || index_leaf_kind(x->leaf) == INDEX_VERTEX);
        abut_run run = {.place = index_place(x->leaf), .point_count = point || s->length == 0 ? 1 : 2};
        run.at[0] = point ? x->at : x->t0, run.at[1] = point ? x->at : x->t1;
        if (!point) { /* a stretch ends at the crossing beside it */
            for (int k = 0; k < 2; k++) {
                int j = k == 0 ? i - 1 : i + 1;
                if (j >= 0 && j < count && line[j].leaf < INDEX_IN &&
                    (line[j].t1 - line[j].t0 <= shortest || index_leaf_kind(line[j].leaf) == INDEX_VERTEX))
                    run.at[k] = line[j].at;
            }
        }
        for (int k = 0; k < 2; k++) run.points[k] = vec3_add(at(s, run.at[k]), s->solid->origin);
        runs[i] = run;
    }
    return count;
}

/* The sequence, with room for s->limit entities; -1 when there are more. */
static int classify(sweep *s, abut_run *runs, int capacity) {
    s->found_count = s->stretch_count = 0, s->full = false;
    segment_find(s);
    measure(s);
    int count = s->full ? -1 : lay_out(s);
    if (count < 0) return -1;
    double shortest = s->length > 0 ? 100 * s->epsilon / s->length : INFINITY;
    count = absorb(s, s->line, count, shortest);
    return write_runs(s, s->line, count, shortest, runs, capacity);
}

static int classify_few(sweep *s, abut_run *runs, int capacity) {
    int32_t found[FEW];
    stretch stretches[FEW], line[FEW];
    double ends[2 * FEW + 2];
    s->limit = FEW, s->found = found, s->stretches = stretches, s->line = line, s->ends = ends;
    return classify(s, runs, capacity);
}

static int classify_many(sweep *s, abut_run *runs, int capacity) {
    enum { MANY = ABUT_SEGMENT_LIMIT };
    struct room {
        stretch stretches[MANY], line[MANY];
        double ends[2 * MANY + 2];
        int32_t found[MANY];
    } *room = mem_alloc(NULL, 1, sizeof *room);
    if (!room) return -1;
    s->limit = MANY, s->found = room->found, s->stretches = room->stretches, s->line = room->line;
    s->ends = room->ends;
    int count = classify(s, runs, capacity);
    mem_free(NULL, room, 1, sizeof *room);
    return count;
}

int index_classify_segment(const abut_index *index, const abut_solid *solid, vec3 from, vec3 to,
                           double epsilon, abut_run *runs, int capacity) {
    sweep s;
    s.solid = solid, s.index = index, s.from = from, s.along = vec3_sub(to, from);
    s.length = vec3_length(s.along), s.epsilon = epsilon, s.band = epsilon + index->slack;
    if (!vec3_is_finite(from) || !vec3_is_finite(to) || !isfinite(s.length)) return -1;
    int count = classify_few(&s, runs, capacity);
    return count >= 0 ? count : classify_many(&s, runs, capacity);
}

int abut_index_segment(const abut_index *index, const abut_solid *solid, abut_vec3 from, abut_vec3 to,
                       double epsilon, abut_run *runs, int capacity) {
    if (!abut_index_fits(index, solid)) return -1;
    return index_classify_segment(index, solid, vec3_sub(from, solid->origin), vec3_sub(to, solid->origin),
                                  epsilon, runs, capacity);
}
