/* The inside leaves as convex polyhedra, with their adjacency.
 *
 * The solid's box goes down the 3D tree and is cut in two at every node.  Each facet remembers the node whose
 * plane made it; two cells touch along an area exactly when one has a facet on the upper side and the other
 * one on the lower side of the same node, and the facets overlap.
 */
#include "index/index.h"

typedef struct facet {
    int32_t node; /* 2 n: on the plane of node n, cell below it; 2 n + 1: cell above; -1: on the box */
    int32_t cell; /* once it is known */
    int64_t first, count;
} facet;

typedef struct item {
    int32_t code;
    int64_t facets, points; /* where its polyhedron begins; it ends where the next item begins */
} item;

typedef struct shape {
    ARRAY(facet) facets;
    ARRAY(vec3) points;
} shape;

typedef struct carver {
    const abut_context *context;
    const index_node *nodes;
    shape stack, half[2], done;
    ARRAY(item) pending;
    ARRAY(vec3) cap;
    ARRAY(int64_t) cell_start;
    double thin; /* what sticks out less far is not cut off */
} carver;

static void shape_free(const abut_context *context, shape *s) {
    array_free(context, &s->facets);
    array_free(context, &s->points);
}

static bool add_facet(const abut_context *context, shape *s, const vec3 *points, int64_t count,
                      int32_t node) {
    facet f = {node, -1, s->points.count, count};
    for (int64_t i = 0; i < count; i++)
        if (!array_push(context, &s->points, points[i])) return false;
    return array_push(context, &s->facets, f);
}

static bool add_box(const abut_context *context, shape *s, box b) {
    static const int sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int i = 0; i < 6; i++) {
        vec3 corner[4];
        for (int k = 0; k < 4; k++) {
            int c = sides[i][k];
            corner[k] = (vec3){c & 1 ? b.upper.x : b.lower.x, c & 2 ? b.upper.y : b.lower.y,
                               c & 4 ? b.upper.z : b.lower.z};
        }
        if (!add_facet(context, s, corner, 4, -1)) return false;
    }
    return true;
}

/* One side of a facet; crossings go to the cap as well. */
static bool clip_facet(carver *c, const facet *f, const vec3 *points, plane p, int keep, shape *out) {
    int64_t first = out->points.count;
    for (int64_t i = 0; i < f->count; i++) {
        vec3 a = points[i], b = points[i + 1 < f->count ? i + 1 : 0];
        double da = keep * plane_distance(p, a), db = keep * plane_distance(p, b);
        if (da >= 0 && !array_push(c->context, &out->points, a)) return false;
        if (da == 0 && keep > 0 && !array_push(c->context, &c->cap, a)) return false;
        if ((da > 0 && db < 0) || (da < 0 && db > 0)) {
            /* from the upper to the lower end, so that both sides and both facets of an edge get the same
             * point */
            bool down = (da > 0) == (keep > 0);
            vec3 hi = down ? a : b, lo = down ? b : a;
            double dh = plane_distance(p, hi), dl = plane_distance(p, lo);
            vec3 x = vec3_lerp(hi, lo, dh / (dh - dl));
            if (!array_push(c->context, &out->points, x)) return false;
            if (keep > 0 && !array_push(c->context, &c->cap, x)) return false;
        }
    }
    facet part = {f->node, -1, first, out->points.count - first};
    if (part.count < 3) return out->points.count = first, true;
    return array_push(c->context, &out->facets, part);
}

/* Increases with the angle of (x, y) from 0 to 2 pi. */
static double angle_of(double x, double y) {
    double size = fabs(x) + fabs(y);
    if (size == 0) return 0;
    return y >= 0 ? 1 - x / size : 3 + x / size;
}

/* The points of the cut in order around their middle: the new facet of both halves. */
static bool close_halves(carver *c, plane p, int32_t node) {
    vec3 u = vec3_orthogonal(p.n), v = vec3_cross(p.n, u), middle = {0, 0, 0};
    int64_t n = c->cap.count;
    vec3 *x = c->cap.data;
    for (int64_t i = 0; i < n; i++) middle = vec3_axpy(middle, 1.0 / (double)n, x[i]);
    for (int64_t i = 1; i < n; i++) {
        vec3 point = x[i], d = vec3_sub(point, middle);
        double angle = angle_of(vec3_dot(d, u), vec3_dot(d, v));
        int64_t j = i;
        for (; j > 0; j--) {
            vec3 e = vec3_sub(x[j - 1], middle);
            if (angle_of(vec3_dot(e, u), vec3_dot(e, v)) <= angle) break;
            x[j] = x[j - 1];
        }
        x[j] = point;
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (kept == 0 || vec3_length2(vec3_sub(x[i], x[kept - 1])) > 0) x[kept++] = x[i];
    if (kept > 1 && vec3_length2(vec3_sub(x[kept - 1], x[0])) == 0) kept--;
    if (kept < 3) return true;
    /* seen from above the points run counter-clockwise: right for the lower half, reversed for the upper */
    if (!add_facet(c->context, &c->half[1], x, kept, 2 * node)) return false;
    for (int64_t i = 0; i < kept / 2; i++) {
        vec3 swap = x[i];
        x[i] = x[kept - 1 - i], x[kept - 1 - i] = swap;
    }
    return add_facet(c->context, &c->half[0], x, kept, 2 * node + 1);
}

static bool push_item(carver *c, int32_t code, const shape *s) {
    item fresh = {code, c->stack.facets.count, c->stack.points.count};
    for (int64_t i = 0; i < s->facets.count; i++)
        if (!add_facet(c->context, &c->stack, s->points.data + s->facets.data[i].first,
                       s->facets.data[i].count, s->facets.data[i].node))
            return false;
    return array_push(c->context, &c->pending, fresh);
}

static bool keep_cell(carver *c, const item *it) {
    if (!array_push(c->context, &c->cell_start, c->done.facets.count)) return false;
    for (int64_t i = it->facets; i < c->stack.facets.count; i++) {
        const facet *f = &c->stack.facets.data[i];
        if (!add_facet(c->context, &c->done, c->stack.points.data + f->first, f->count, f->node))
            return false;
        c->done.facets.data[c->done.facets.count - 1].cell = (int32_t)c->cell_start.count - 1;
    }
    return true;
}

/* +1 or -1 when the polyhedron of the item lies on one side of the plane, up to rounding; 0 when it is cut.
 */
static int side_of_item(const carver *c, const item *it, plane p) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = it->points; i < c->stack.points.count; i++) {
        double d = plane_distance(p, c->stack.points.data[i]);
        low = d < low ? d : low, high = d > high ? d : high;
    }
    return low >= -c->thin ? 1 : high <= c->thin ? -1 : 0;
}

static bool cut_item(carver *c, const item *it) {
    const index_node *n = &c->nodes[it->code];
    c->cap.count = 0;
    for (int side = 0; side < 2; side++) {
        c->half[side].facets.count = c->half[side].points.count = 0;
        for (int64_t i = it->facets; i < c->stack.facets.count; i++) {
            const facet *f = &c->stack.facets.data[i];
            if (!clip_facet(c, f, c->stack.points.data + f->first, n->cut, side ? -1 : 1, &c->half[side]))
                return false;
        }
    }
    if (!close_halves(c, n->cut, it->code)) return false;
    c->stack.facets.count = it->facets, c->stack.points.count = it->points;
    for (int side = 0; side < 2; side++) {
        int32_t child = n->child[side ? INDEX_BELOW : INDEX_ABOVE];
        if (child != INDEX_OUT && c->half[side].facets.count >= 4 && !push_item(c, child, &c->half[side]))
            return false;
    }
    return true;
}

static bool carve(carver *c, int32_t root, box bounds) {
    if (!add_box(c->context, &c->stack, bounds) || !array_push(c->context, &c->pending, ((item){root, 0, 0})))
        return false;
    while (c->pending.count) {
        item it = c->pending.data[--c->pending.count];
        int side = 1;
        while (it.code >= 0 && (side = side_of_item(c, &it, c->nodes[it.code].cut)) != 0)
            it.code = c->nodes[it.code].child[side > 0 ? INDEX_ABOVE : INDEX_BELOW];
        if (it.code >= 0) {
            if (!cut_item(c, &it)) return false;
            continue;
        }
        if (it.code == INDEX_IN && c->stack.facets.count - it.facets >= 4 && !keep_cell(c, &it)) return false;
        c->stack.facets.count = it.facets, c->stack.points.count = it.points;
    }
    return array_push(c->context, &c->cell_start, c->done.facets.count);
}

/* ---- adjacency */
static int compare_facets(const void *user, const void *a, const void *b) {
    const facet *facets = user;
    int32_t x = facets[*(const int32_t *)a].node, y = facets[*(const int32_t *)b].node;
    return x < y ? -1 : x > y;
}

static vec3 area_vector(const vec3 *p, int64_t count) {
    vec3 sum = {0, 0, 0};
    for (int64_t i = 1; i + 1 < count; i++)
        sum = vec3_add(sum, vec3_cross(vec3_sub(p[i], p[0]), vec3_sub(p[i + 1], p[0])));
    return vec3_scale(sum, 0.5);
}

/* Area of the overlap of two convex polygons in one plane: a, clipped by the sides of b; a side shorter than
 * `least` has no direction.  work holds two lists. */
static double overlap(const shape *s, const facet *a, const facet *b, double least, vec3 *work,
                      int64_t room) {
    const vec3 *pb = s->points.data + b->first;
    vec3 normal = vec3_unit(area_vector(pb, b->count)), *from = work, *to = work + room;
    int64_t n = a->count;
    memcpy(from, s->points.data + a->first, (size_t)n * sizeof *from);
    for (int64_t k = 0; k < b->count && n >= 3; k++) {
        vec3 q = pb[k], side = vec3_sub(pb[k + 1 < b->count ? k + 1 : 0], q),
             inward = vec3_cross(normal, side);
        if (vec3_length(side) <= least) continue;
        int64_t kept = 0;
        for (int64_t i = 0; i < n; i++) {
            vec3 x = from[i], y = from[i + 1 < n ? i + 1 : 0];
            double dx = vec3_dot(inward, vec3_sub(x, q)), dy = vec3_dot(inward, vec3_sub(y, q));
            if (dx >= 0) to[kept++] = x;
            if ((dx > 0 && dy < 0) || (dx < 0 && dy > 0)) to[kept++] = vec3_lerp(x, y, dx / (dx - dy));
        }
        vec3 *swap = from;
        from = to, to = swap, n = kept;
    }
    return n >= 3 ? vec3_length(area_vector(from, n)) : 0;
}

static box facet_box(const shape *s, const facet *f) {
    box r = box_empty();
    for (int64_t i = 0; i < f->count; i++) r = box_add_point(r, s->points.data[f->first + i]);
    return r;
}

typedef struct pair {
    int32_t a, b;
    double area;
} pair;
typedef ARRAY(pair) pair_array;

static int compare_pairs(const void *user, const void *a, const void *b) {
    (void)user;
    const pair *x = a, *y = b;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* Slivers, which rounding leaves beside planes that meet in one line, have no plane of their own. */
static bool is_sliver(const shape *s, const facet *f, double least) {
    return vec3_length(area_vector(s->points.data + f->first, f->count)) <=
           least * box_diagonal(facet_box(s, f));
}

/* All pairs of a lower and an upper facet of one node: order[lo .. middle) and order[middle .. hi). */
static bool match(const carver *c, const int32_t *order, int64_t lo, int64_t middle, int64_t hi, double least,
                  vec3 *work, int64_t room, pair_array *pairs) {
    const shape *s = &c->done;
    for (int64_t i = lo; i < middle; i++) {
        const facet *a = &s->facets.data[order[i]];
        if (is_sliver(s, a, least)) continue;
        box ra = box_grow(facet_box(s, a), least);
        for (int64_t k = middle; k < hi; k++) {
            const facet *b = &s->facets.data[order[k]];
            if (!box_overlap(ra, facet_box(s, b)) || is_sliver(s, b, least)) continue;
            double area = overlap(s, a, b, least, work, room);
            pair p = {a->cell < b->cell ? a->cell : b->cell, a->cell < b->cell ? b->cell : a->cell, area};
            if (area > least * least && !array_push(c->context, pairs, p)) return false;
        }
    }
    return true;
}

static bool find_pairs(const carver *c, double least, pair_array *pairs) {
    const abut_context *context = c->context;
    const facet *facets = c->done.facets.data;
    int64_t n = c->done.facets.count, longest = 3;
    for (int64_t i = 0; i < n; i++)
        if (facets[i].count > longest) longest = facets[i].count;
    int64_t room = 4 * longest + 8;
    int32_t *order = mem_alloc(context, (size_t)n + 1, sizeof *order);
    vec3 *work = mem_alloc(context, 2 * (size_t)room, sizeof *work);
    bool good = order && work;
    for (int64_t i = 0; good && i < n; i++) order[i] = (int32_t)i;
    good = good && sort_stable(context, order, (size_t)n, sizeof *order, compare_facets, facets);
    for (int64_t lo = 0; good && lo < n;) {
        int32_t node = facets[order[lo]].node;
        int64_t middle = lo, hi;
        while (middle < n && facets[order[middle]].node == (node < 0 ? node : node & ~1)) middle++;
        for (hi = middle; hi < n && node >= 0 && facets[order[hi]].node == (node | 1); hi++) {
        }
        if (node >= 0) good = match(c, order, lo, middle, hi, least, work, room, pairs);
        lo = hi > lo ? hi : lo + 1;
    }
    good = good &&
           sort_stable(context, pairs->data, (size_t)pairs->count, sizeof *pairs->data, compare_pairs, NULL);
    mem_free(context, order, (size_t)n + 1, sizeof *order);
    mem_free(context, work, 2 * (size_t)room, sizeof *work);
    return good;
}

/* ---- the result */
static bool write_cells(const carver *c, vec3 origin, const pair_array *pairs, abut_cells *out) {
    const abut_context *context = c->context;
    const shape *s = &c->done;
    int64_t cells = c->cell_start.count - 1;
    int64_t need[6] = {cells + 1, s->facets.count + 1, s->points.count + 1,
                       cells + 1, pairs->count + 1,    pairs->count + 1};
    bool good =
        array_reserve_(context, (void **)&out->facet_start, &out->capacity[0], need[0],
                       sizeof *out->facet_start) &&
        array_reserve_(context, (void **)&out->corner_start, &out->capacity[1], need[1],
                       sizeof *out->corner_start) &&
        array_reserve_(context, (void **)&out->points, &out->capacity[2], need[2], sizeof *out->points) &&
        array_reserve_(context, (void **)&out->volumes, &out->capacity[3], need[3], sizeof *out->volumes) &&
        array_reserve_(context, (void **)&out->pairs, &out->capacity[4], need[4], sizeof *out->pairs) &&
        array_reserve_(context, (void **)&out->pair_areas, &out->capacity[5], need[5],
                       sizeof *out->pair_areas);
    if (!good) return false;
    out->count = cells, out->facet_count = s->facets.count, out->pair_count = pairs->count;
    out->corner_count = s->points.count;
    for (int64_t i = 0; i <= cells; i++) out->facet_start[i] = (int32_t)c->cell_start.data[i];
    for (int64_t f = 0; f < s->facets.count; f++) out->corner_start[f] = (int32_t)s->facets.data[f].first;
    out->corner_start[s->facets.count] = (int32_t)s->points.count;
    for (int64_t i = 0; i < cells; i++) {
        vec3 o = s->points.data[s->facets.data[c->cell_start.data[i]].first];
        double volume = 0; /* a third of area times height, for each facet */
        for (int64_t f = c->cell_start.data[i]; f < c->cell_start.data[i + 1]; f++) {
            const vec3 *p = s->points.data + s->facets.data[f].first;
            volume += vec3_dot(area_vector(p, s->facets.data[f].count), vec3_sub(p[0], o)) / 3;
        }
        out->volumes[i] = volume;
    }
    for (int64_t i = 0; i < s->points.count; i++) out->points[i] = vec3_add(s->points.data[i], origin);
    for (int64_t i = 0; i < pairs->count; i++) {
        out->pairs[i][0] = pairs->data[i].a, out->pairs[i][1] = pairs->data[i].b;
        out->pair_areas[i] = pairs->data[i].area;
    }
    return true;
}

abut_status abut_index_cells(const abut_context *context, const abut_index *index, const abut_solid *solid,
                             abut_cells *cells, abut_error *error) {
    memset(cells, 0, sizeof *cells);
    if (!abut_index_fits(index, solid))
        return fail(error, ABUT_INVALID, "the index belongs to another solid; build it for this one");
    carver c = {.context = context, .nodes = index_nodes(index), .thin = 1e-13 * solid->diagonal};
    pair_array pairs = {0};
    bool good = carve(&c, index->root, index->bounds) && find_pairs(&c, solid->weld, &pairs) &&
                write_cells(&c, solid->origin, &pairs, cells);
    shape_free(context, &c.stack), shape_free(context, &c.half[0]), shape_free(context, &c.half[1]);
    shape_free(context, &c.done);
    array_free(context, &c.pending), array_free(context, &c.cap), array_free(context, &c.cell_start);
    array_free(context, &pairs);
    if (good) return ABUT_OK;
    abut_cells_free(context, cells);
    return fail_memory(error);
}

void abut_cells_free(const abut_context *context, abut_cells *cells) {
    mem_free(context, cells->facet_start, (size_t)cells->capacity[0], sizeof *cells->facet_start);
    mem_free(context, cells->corner_start, (size_t)cells->capacity[1], sizeof *cells->corner_start);
    mem_free(context, cells->points, (size_t)cells->capacity[2], sizeof *cells->points);
    mem_free(context, cells->volumes, (size_t)cells->capacity[3], sizeof *cells->volumes);
    mem_free(context, cells->pairs, (size_t)cells->capacity[4], sizeof *cells->pairs);
    mem_free(context, cells->pair_areas, (size_t)cells->capacity[5], sizeof *cells->pair_areas);
    memset(cells, 0, sizeof *cells);
}
