/* Phases 2 and 3 (Vanecek 1990, section 2.1): in each cut plane a 2D tree over the segments there, and on
 * each of its lines a 1D tree over the points there.
 *
 * The plane shows the cross-section of the solid: inside, outside, faces that lie in it.  A segment says what
 * lies on its two sides, so a part of the plane without segments knows its label from the line that closed it
 * off.  A stretch of a line without a segment has the label of the part of the plane beside it, which is
 * looked up in the finished 2D tree at one end of the stretch, infinitesimally far into it.
 */
#include "index/build.h"

/* A part of the plane still to be divided; its segments and points stand in `lists`. */
typedef struct flat_region {
    int32_t parent, slot, label;
    int64_t first, segments, points;
} flat_region;

/* A line whose 1D tree is made when the 2D tree is complete. */
typedef struct line_job {
    int32_t node, parent, slot;
    int64_t first, segments, points;
    vec3 witness; /* of a line without segments and points: one of its points in the region */
} line_job;

typedef struct line_point {
    double t;
    int32_t leaf, before, after; /* what lies on the line to both sides */
} line_point;

typedef ARRAY(line_point) line_point_array;
typedef struct flat_work {
    builder *b;
    const index_node *space;
    plane p;
    ARRAY(int32_t) lists;
    ARRAY(flat_region) pending;
    ARRAY(line_job) jobs;
    ARRAY(int32_t) items; /* of the jobs: segments, then points */
    int_array above[2], below[2], on[2];
    line_point_array line;
} flat_work;

static const build_segment *segment_at(const flat_work *w, int32_t s) { return &w->b->segments.data[s]; }
static vec3 at(const flat_work *w, int32_t point) { return point_at(w->b, point)->x; }

static int flat_side(const flat_work *w, plane m, int32_t point) {
    double d = plane_distance(m, at(w, point));
    return d > w->b->in->weld ? 1 : d < -w->b->in->weld ? -1 : 0;
}

/* The plane perpendicular to the cut plane through x along `dir`; above it is left of dir. */
static plane line_plane(const flat_work *w, vec3 x, vec3 dir) {
    vec3 m = vec3_unit(vec3_cross(w->p.n, dir));
    return (plane){m, vec3_dot(m, x)};
}

/* The line of a segment, oriented so that outside, if it is on one side, lies above (Vanecek 1990,
 * section 2.1, 2c).  It goes through the two vertices of an edge; through the end points of a trace or, when
 * they are too close for a direction, along both planes. */
static plane segment_line(const flat_work *w, const build_segment *s) {
    const abut_solid *solid = w->b->in->solid;
    vec3 a = at(w, s->a), along = vec3_sub(at(w, s->b), a);
    if (index_leaf_kind(s->leaf) == INDEX_EDGE) {
        const solid_edge *e = &solid_edges(solid)[index_leaf_id(s->leaf)];
        a = solid_position(solid, e->vertex[0]);
        along = vec3_sub(solid_position(solid, e->vertex[1]), a);
    } else if (vec3_length(along) < 1e-4 * solid->diagonal) {
        vec3 both = vec3_cross(solid_faces(solid)[index_leaf_id(s->leaf)].plane.n, w->p.n);
        if (vec3_length(both) > 1e-3) along = vec3_dot(both, along) < 0 ? vec3_neg(both) : both;
        a = vec3_lerp(a, at(w, s->b), 0.5);
    }
    bool flip = s->right == INDEX_OUT && s->left != INDEX_OUT;
    return line_plane(w, a, flip ? vec3_neg(along) : along);
}

/* ---- choice of a line */
typedef struct flat_tally {
    int above, below, across, on;
} flat_tally;

static flat_tally tally_line(const flat_work *w, plane m, const int32_t *segments, int64_t count) {
    flat_tally t = {0};
    for (int64_t k = 0; k < count; k++) {
        const build_segment *s = segment_at(w, segments[k]);
        int sa = flat_side(w, m, s->a), sb = flat_side(w, m, s->b);
        if (sa * sb < 0)
            t.across++;
        else if (sa + sb > 0)
            t.above++;
        else if (sa + sb < 0)
            t.below++;
        else
            t.on++;
    }
    return t;
}

/* A line across many segments, through the point in the middle of them along each of two directions. */
static bool median_line(const flat_work *w, const int32_t *segments, int64_t count, int turn, plane *m) {
    enum { SAMPLES = 33 };
    vec3 u = vec3_orthogonal(w->p.n), dir = turn ? vec3_cross(w->p.n, u) : u;
    double value[SAMPLES];
    int32_t point[SAMPLES];
    int n = 0;
    int64_t step = count > SAMPLES ? count / SAMPLES : 1;
    for (int64_t k = 0; k < count && n < SAMPLES; k += step, n++) {
        int32_t p = segment_at(w, segments[k])->a;
        double v = vec3_dot(dir, at(w, p));
        int j = n;
        for (; j > 0 && value[j - 1] > v; j--) value[j] = value[j - 1], point[j] = point[j - 1];
        value[j] = v, point[j] = p;
    }
    *m = (plane){dir, vec3_dot(dir, at(w, point[n / 2]))};
    return n > 2;
}

/* The line that cuts a part of the plane; *chosen is the segment it is taken from, or -1. */
static plane choose_line(const flat_work *w, const flat_region *r, int32_t *chosen) {
    const int32_t *segments = w->lists.data + r->first, *points = segments + r->segments;
    *chosen = -1;
    if (r->segments == 0) {
        vec3 dir = vec3_orthogonal(w->p.n);
        if (r->points > 1) {
            vec3 along = vec3_sub(at(w, points[1]), at(w, points[0]));
            if (vec3_length(along) > 2 * w->b->in->band) dir = along;
        }
        return line_plane(w, at(w, points[0]), dir);
    }
    *chosen = segments[0];
    plane best = segment_line(w, segment_at(w, segments[0]));
    if (w->b->in->method != ABUT_INDEX_HYBRID || r->segments == 1) return best;
    double cost = INFINITY;
    int64_t step = r->segments > 24 ? r->segments / 24 : 1;
    for (int64_t k = 0; k < r->segments; k += step) {
        plane m = segment_line(w, segment_at(w, segments[k]));
        flat_tally t = tally_line(w, m, segments, r->segments);
        double c = 8.0 * t.across + fabs((double)(t.above - t.below)) - 3.0 * t.on;
        if (c < cost) cost = c, best = m, *chosen = segments[k];
    }
    for (int turn = 0; turn < 2 && r->segments > 8; turn++) {
        plane m;
        if (!median_line(w, segments, r->segments, turn, &m)) continue;
        flat_tally t = tally_line(w, m, segments, r->segments);
        if (t.above + t.across == 0 || t.below + t.across == 0) continue;
        double c = 8.0 * t.across + fabs((double)(t.above - t.below)) - 3.0 * t.on + 4;
        if (c < cost) cost = c, best = m, *chosen = -1;
    }
    return best;
}

/* ---- division of a part of the plane */
static bool push(flat_work *w, int_array *list, int32_t number) {
    return array_push(w->b->in->context, list, number) || out_of_memory(w->b);
}

/* A segment across the line: two parts, and a point on the line with its label. */
static bool split_segment(flat_work *w, plane m, int32_t number, int sa) {
    builder *b = w->b;
    build_segment s = b->segments.data[number];
    double da = plane_distance(m, at(w, s.a)), db = plane_distance(m, at(w, s.b));
    build_point x = {
        .x = vec3_lerp(at(w, s.a), at(w, s.b), da / (da - db)), .plane = {-1, -1, -1}, .leaf = s.leaf};
    if (!array_push(b->in->context, &b->points, x)) return out_of_memory(b);
    int32_t point = (int32_t)(b->base_count + b->points.count - 1);
    build_segment part[2] = {s, s};
    part[0].b = part[1].a = point;
    for (int i = 0; i < 2; i++) {
        if (!array_push(b->in->context, &b->segments, part[i])) return out_of_memory(b);
        if (!push(w, (sa > 0) == (i == 0) ? &w->above[0] : &w->below[0], (int32_t)b->segments.count - 1))
            return false;
    }
    return push(w, &w->on[1], point);
}

static bool sort_segment(flat_work *w, plane m, int32_t number, bool chosen) {
    const build_segment *s = segment_at(w, number);
    int sa = chosen ? 0 : flat_side(w, m, s->a), sb = chosen ? 0 : flat_side(w, m, s->b);
    if (sa == 0 && sb == 0) return push(w, &w->on[0], number);
    if (sa * sb < 0) return split_segment(w, m, number, sa);
    /* a face whose two pieces meet on the line crosses it there */
    int32_t touch = sa == 0 ? s->a : sb == 0 ? s->b : -1;
    if (touch >= 0 && point_at(w->b, touch)->inner && !push(w, &w->on[1], touch)) return false;
    return push(w, sa + sb > 0 ? &w->above[0] : &w->below[0], number);
}

/* The labels beside the line, from the longest segment on it. */
static void line_labels(const flat_work *w, plane m, int32_t label, int32_t beside[3]) {
    double longest = -1;
    beside[INDEX_ABOVE] = beside[INDEX_BELOW] = label;
    for (int64_t i = 0; i < w->on[0].count; i++) {
        const build_segment *s = segment_at(w, w->on[0].data[i]);
        vec3 along = vec3_sub(at(w, s->b), at(w, s->a));
        double length = vec3_length(along);
        if (length <= longest) continue;
        longest = length;
        bool same = vec3_dot(vec3_cross(w->p.n, along), m.n) > 0;
        beside[INDEX_ABOVE] = same ? s->left : s->right, beside[INDEX_BELOW] = same ? s->right : s->left;
    }
}

/* Where the way from a segment above the line to one below it, which does not leave the convex region,
 * crosses it. */
static vec3 line_witness(const flat_work *w, plane m) {
    vec3 end[2];
    double d[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        const build_segment *s = segment_at(w, side ? w->below[0].data[0] : w->above[0].data[0]);
        bool first = fabs(plane_distance(m, at(w, s->a))) >= fabs(plane_distance(m, at(w, s->b)));
        end[side] = at(w, first ? s->a : s->b);
        d[side] = plane_distance(m, end[side]);
    }
    return vec3_lerp(end[0], end[1], d[0] / (d[0] - d[1]));
}

static bool push_job(flat_work *w, int32_t node, const flat_region *r, plane m) {
    const abut_context *context = w->b->in->context;
    line_job job = {node, r->parent, r->slot, w->items.count, w->on[0].count, w->on[1].count, {0, 0, 0}};
    if (job.segments + job.points == 0 && w->above[0].count && w->below[0].count)
        job.witness = line_witness(w, m);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < w->on[k].count; i++)
            if (!array_push(context, &w->items, w->on[k].data[i])) return out_of_memory(w->b);
    return array_push(context, &w->jobs, job) || out_of_memory(w->b);
}

static bool push_flat(flat_work *w, int32_t node, int slot, int32_t label, const int_array list[2]) {
    const abut_context *context = w->b->in->context;
    flat_region r = {node, slot, label, w->lists.count, list[0].count, list[1].count};
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < list[k].count; i++)
            if (!array_push(context, &w->lists, list[k].data[i])) return out_of_memory(w->b);
    return array_push(context, &w->pending, r) || out_of_memory(w->b);
}

static bool divide_flat(flat_work *w, flat_region r, int32_t *root) {
    builder *b = w->b;
    int32_t chosen;
    plane m = choose_line(w, &r, &chosen);
    int32_t node = (int32_t)b->nodes.count;
    index_node fresh = {.cut = m, .child = {r.label, r.label, r.label}, .dimension = 2};
    if (!array_push(b->in->context, &b->nodes, fresh)) return out_of_memory(b);
    if (r.parent >= 0)
        b->nodes.data[r.parent].child[r.slot] = node;
    else
        *root = node;

    for (int k = 0; k < 2; k++) w->above[k].count = w->below[k].count = w->on[k].count = 0;
    for (int64_t k = 0; k < r.segments; k++) {
        int32_t s = w->lists.data[r.first + k];
        if (!sort_segment(w, m, s, s == chosen)) return false;
    }
    for (int64_t k = 0; k < r.points; k++) {
        int32_t p = w->lists.data[r.first + r.segments + k];
        int side = flat_side(w, m, p);
        if (r.segments == 0 && k == 0) side = 0;
        if (!push(w, side == 0 ? &w->on[1] : side > 0 ? &w->above[1] : &w->below[1], p)) return false;
    }
    w->lists.count = r.first;
    int32_t beside[3];
    line_labels(w, m, r.label, beside);
    if (!push_job(w, node, &r, m)) return false;
    const int_array *side[3] = {w->above, NULL, w->below};
    for (int slot = 0; slot < 3; slot += 2) {
        if (side[slot][0].count + side[slot][1].count == 0)
            b->nodes.data[node].child[slot] = beside[slot];
        else if (!push_flat(w, node, slot, beside[slot], side[slot]))
            return false;
    }
    return true;
}

/* ---- the 1D trees */

/* The leaf of the 2D tree under `code` at x, infinitesimally far in direction dir. */
static int32_t limit_leaf(const flat_work *w, int32_t code, vec3 x, vec3 dir) {
    while (code >= 0) {
        const index_node *n = &w->b->nodes.data[code];
        double d = plane_distance(n->cut, x);
        if (fabs(d) <= w->b->in->weld) d = vec3_dot(n->cut.n, dir);
        code = n->child[d >= 0 ? INDEX_ABOVE : INDEX_BELOW];
    }
    return code;
}

/* What covers the line between t0 and t1: the label of a segment, or INDEX_UNKNOWN. */
static int32_t covering(const flat_work *w, const line_job *job, vec3 dir, double t) {
    for (int64_t i = 0; i < job->segments; i++) {
        const build_segment *s = segment_at(w, w->items.data[job->first + i]);
        double a = vec3_dot(dir, at(w, s->a)), b = vec3_dot(dir, at(w, s->b));
        if ((a < t && t < b) || (b < t && t < a)) return s->leaf;
    }
    return INDEX_UNKNOWN;
}

/* Points in order along the line; those within the weld distance are one, with the label of lowest dimension.
 */
static bool gather_line(flat_work *w, const line_job *job, vec3 dir) {
    w->line.count = 0;
    for (int64_t i = 0; i < job->points; i++) {
        int32_t p = w->items.data[job->first + job->segments + i];
        line_point x = {vec3_dot(dir, at(w, p)), point_at(w->b, p)->leaf, INDEX_UNKNOWN, INDEX_UNKNOWN};
        if (!array_push(w->b->in->context, &w->line, x)) return out_of_memory(w->b);
    }
    line_point *x = w->line.data;
    for (int64_t i = 1; i < w->line.count; i++) { /* few, and often in order already */
        line_point v = x[i];
        int64_t j = i;
        for (; j > 0 && x[j - 1].t > v.t; j--) x[j] = x[j - 1];
        x[j] = v;
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < w->line.count; i++) {
        if (kept && x[i].t - x[kept - 1].t <= w->b->in->weld) {
            if (index_leaf_kind(x[i].leaf) < index_leaf_kind(x[kept - 1].leaf)) x[kept - 1].leaf = x[i].leaf;
        } else {
            x[kept++] = x[i];
        }
    }
    w->line.count = kept;
    return true;
}

/* Labels of the stretches between the points. */
static void label_line(flat_work *w, const line_job *job, vec3 dir, vec3 foot) {
    line_point *x = w->line.data;
    int64_t n = w->line.count;
    double far = w->b->in->solid->diagonal * 1e-7;
    int32_t beside = w->b->nodes.data[job->node].child[INDEX_ABOVE];
    for (int64_t i = 0; i <= n; i++) {
        double t = i == 0 ? x[0].t - far : i == n ? x[n - 1].t + far : (x[i - 1].t + x[i].t) / 2;
        int32_t label = covering(w, job, dir, t);
        if (label == INDEX_UNKNOWN) {
            vec3 from = vec3_axpy(foot, x[i == 0 ? 0 : i - 1].t, dir);
            label = limit_leaf(w, beside, from, i == 0 ? vec3_neg(dir) : dir);
        }
        if (i > 0) x[i - 1].after = label;
        if (i < n) x[i].before = label;
    }
}

/* A balanced tree over points lo .. hi-1. */
static int32_t grow_line(flat_work *w, vec3 dir, int64_t lo, int64_t hi) {
    if (lo == hi) return lo < w->line.count ? w->line.data[lo].before : w->line.data[lo - 1].after;
    builder *b = w->b;
    int64_t middle = lo + (hi - lo) / 2;
    int32_t node = (int32_t)b->nodes.count;
    index_node fresh = {.cut = {dir, w->line.data[middle].t}, .dimension = 1};
    if (!array_push(b->in->context, &b->nodes, fresh)) return out_of_memory(b), INDEX_OUT;
    int32_t below = grow_line(w, dir, lo, middle), above = grow_line(w, dir, middle + 1, hi);
    index_node *n = &b->nodes.data[node];
    n->child[INDEX_BELOW] = below, n->child[INDEX_ON] = w->line.data[middle].leaf,
    n->child[INDEX_ABOVE] = above;
    return node;
}

/* The hybrid's index is reduced (the paper's open problem in section 5): points that change nothing are
 * dropped, and a line that holds one edge and no points but its ends needs no tree: the edge's vertices are
 * in the B-rep. */
static int32_t reduced_line(flat_work *w, const line_job *job) {
    const solid_edge *edges = solid_edges(w->b->in->solid);
    int32_t leaf = job->segments ? segment_at(w, w->items.data[job->first])->leaf : INDEX_OUT;
    bool single = job->segments > 0 && index_leaf_kind(leaf) == INDEX_EDGE;
    for (int64_t i = 1; single && i < job->segments; i++)
        single = segment_at(w, w->items.data[job->first + i])->leaf == leaf;
    for (int64_t i = 0; single && i < w->line.count; i++) {
        int32_t p = w->line.data[i].leaf;
        const solid_edge *e = &edges[index_leaf_id(leaf)];
        single = p == index_leaf(INDEX_VERTEX, e->vertex[0]) || p == index_leaf(INDEX_VERTEX, e->vertex[1]) ||
                 p == leaf;
    }
    if (single) return leaf;
    int64_t kept = 0;
    for (int64_t i = 0; i < w->line.count; i++) {
        line_point x = w->line.data[i];
        if (x.leaf == x.before && x.leaf == x.after) continue;
        w->line.data[kept++] = x;
    }
    if (kept == 0) return w->line.data[0].leaf;
    w->line.count = kept;
    return INDEX_UNKNOWN;
}

static bool run_job(flat_work *w, const line_job *job, int32_t *root) {
    builder *b = w->b;
    plane m = b->nodes.data[job->node].cut;
    vec3 dir = vec3_unit(vec3_cross(m.n, w->p.n));
    if (!gather_line(w, job, dir)) return false;
    int32_t on = INDEX_UNKNOWN;
    if (w->line.count == 0) {
        on = job->segments ? segment_at(w, w->items.data[job->first])->leaf
                           : limit_leaf(w, b->nodes.data[job->node].child[INDEX_ABOVE], job->witness, dir);
    } else {
        /* the point of the line nearest to the origin */
        vec3 foot = vec3_add(vec3_scale(w->p.n, w->p.d), vec3_scale(m.n, m.d));
        label_line(w, job, dir, foot);
        if (b->in->method == ABUT_INDEX_HYBRID) on = reduced_line(w, job);
        if (on == INDEX_UNKNOWN) on = grow_line(w, dir, 0, w->line.count);
    }
    if (b->status != ABUT_OK) return false;
    index_node *n = &b->nodes.data[job->node];
    n->child[INDEX_ON] = on;
    /* a line that separates nothing */
    if (on < 0 && n->child[INDEX_ABOVE] == on && n->child[INDEX_BELOW] == on) {
        if (job->parent >= 0)
            b->nodes.data[job->parent].child[job->slot] = on;
        else
            *root = on;
    }
    return true;
}

/* ---- one section */

/* Inside or outside for a cut plane that meets no face in the region: what the 3D tree says beside it, at a
 * point of the section or at the middle of the box. */
static int32_t section_label(const flat_work *w, const build_section *section, int32_t node) {
    const index_node *n = &w->space[node];
    for (int slot = 0; slot < 3; slot += 2)
        if (n->child[slot] < 0 && n->child[slot] != INDEX_UNKNOWN) return n->child[slot];
    bool has_point = section->points > 0;
    vec3 x = has_point ? at(w, w->b->section_points.data[section->first_point]) : section->witness;
    vec3 u = vec3_orthogonal(w->p.n), v = vec3_cross(w->p.n, u), dir = vec3_axpy(u, 0.6180339887, v);
    int32_t code = n->child[INDEX_ABOVE] >= 0 ? n->child[INDEX_ABOVE] : n->child[INDEX_BELOW];
    while (code >= 0) {
        n = &w->space[code];
        double d = plane_distance(n->cut, x);
        if (fabs(d) <= w->b->in->weld) d = vec3_dot(n->cut.n, dir);
        code = n->child[d >= 0 ? INDEX_ABOVE : INDEX_BELOW];
    }
    return code == INDEX_UNKNOWN
               ? solid_angle_side(w->b->in->solid, vec3_axpy(x, 1e-4 * w->b->in->solid->diagonal, dir))
               : code;
}

/* Pseudo vertices that later cuts made on the segments of this plane (paper's method). */
static bool add_extras(flat_work *w, const build_section *section) {
    builder *b = w->b;
    for (int32_t i = 0; i < section->segments; i++) {
        int32_t number = section->first_segment + i;
        const build_segment *s = segment_at(w, number);
        int32_t owner = index_leaf_kind(s->leaf) == INDEX_EDGE ? index_leaf_id(s->leaf) : -1 - number;
        vec3 a = at(w, s->a), along = vec3_sub(at(w, s->b), a);
        int64_t lo = 0, hi = b->extras.count;
        while (lo < hi) {
            int64_t middle = (lo + hi) / 2;
            if (b->extras.data[middle].owner < owner)
                lo = middle + 1;
            else
                hi = middle;
        }
        for (; lo < b->extras.count && b->extras.data[lo].owner == owner; lo++) {
            double t = vec3_dot(vec3_sub(at(w, b->extras.data[lo].point), a), along) / vec3_length2(along);
            if (t > 0 && t < 1 && !array_push(b->in->context, &w->lists, b->extras.data[lo].point))
                return out_of_memory(b);
        }
    }
    return true;
}

static bool build_section_tree(flat_work *w, const build_section *section, int32_t node, int32_t *root) {
    builder *b = w->b;
    const abut_context *context = b->in->context;
    w->p = w->space[node].cut;
    w->lists.count = w->pending.count = w->jobs.count = w->items.count = 0;
    *root = section->label;
    if (section->segments + section->points == 0) {
        if (*root == INDEX_UNKNOWN) *root = section_label(w, section, node);
        return true;
    }
    flat_region r = {-1, 0, section->label, 0, section->segments, section->points};
    if (section->segments == 0 && r.label == INDEX_UNKNOWN) r.label = section_label(w, section, node);
    for (int32_t i = 0; i < section->segments; i++)
        if (!array_push(context, &w->lists, section->first_segment + i)) return out_of_memory(b);
    for (int32_t i = 0; i < section->points; i++)
        if (!array_push(context, &w->lists, b->section_points.data[section->first_point + i]))
            return out_of_memory(b);
    if (b->in->method == ABUT_INDEX_FIRST && !add_extras(w, section)) return false;
    r.points = w->lists.count - r.segments;
    if (!array_push(context, &w->pending, r)) return out_of_memory(b);
    while (w->pending.count) {
        if (b->nodes.count >= b->budget) return b->status = ABUT_BUDGET, false;
        flat_region next = w->pending.data[--w->pending.count];
        if (!divide_flat(w, next, root)) return false;
    }
    for (int64_t i = w->jobs.count - 1; i >= 0; i--)
        if (!run_job(w, &w->jobs.data[i], root)) return false;
    return true;
}

bool build_planes(builder *b, const index_node *space, int32_t first_node, int32_t *on) {
    const abut_context *context = b->in->context;
    flat_work w = {.b = b, .space = space};
    bool good = true;
    for (int64_t i = 0; i < b->sections.count && good; i++) {
        const build_section section = b->sections.data[i];
        int32_t node = first_node + section.node;
        good = build_section_tree(&w, &section, node, &on[node]);
    }
    array_free(context, &w.lists), array_free(context, &w.pending), array_free(context, &w.jobs);
    array_free(context, &w.items), array_free(context, &w.line);
    for (int k = 0; k < 2; k++)
        array_free(context, &w.above[k]), array_free(context, &w.below[k]), array_free(context, &w.on[k]);
    return good;
}
