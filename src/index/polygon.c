/* Polygon classification: the function Intersect of Bouma and Vanecek 1992, section 4.3, for a convex
 * polygon.
 *
 * The polygon goes down the tree and is split by the cut planes it crosses.  Where it lies within epsilon of
 * a plane it goes to On(n), where lines split it; parts that find no face there go on to the sides, since a
 * face that leaves the plane at a small angle may still be near (ROBUSTNESS point 11).  A plane that the
 * polygon crosses at less than one in fifty cuts out the strip that is within epsilon of it; at a greater
 * angle that strip is narrower than the smallest feature, and the cut is a line.
 */
#include "index/index.h"

enum { DEEPEST = 4000 };

typedef struct slicer {
    const abut_context *context;
    const abut_index *index;
    const abut_solid *solid;
    const index_node *nodes;
    double epsilon;
    vec3 normal;      /* of the polygon */
    ARRAY(vec3) pool; /* corners of all polygons under way */
    abut_parts *parts;
    abut_status status;
} slicer;

typedef struct piece {
    int64_t first;
    int count;
} piece;

/* ---- parts */
static bool add_part(slicer *s, piece x, int32_t leaf) {
    abut_parts *p = s->parts;
    int64_t at = p->count ? p->start[p->count] : 0;
    bool good =
        array_reserve_(s->context, (void **)&p->places, &p->capacity[0], p->count + 1, sizeof *p->places) &&
        array_reserve_(s->context, (void **)&p->start, &p->capacity[1], p->count + 2, sizeof *p->start) &&
        array_reserve_(s->context, (void **)&p->points, &p->capacity[2], at + x.count, sizeof *p->points);
    if (!good) return s->status = ABUT_NO_MEMORY, false;
    if (p->count == 0) p->start[0] = 0;
    p->places[p->count] = index_place(leaf);
    for (int i = 0; i < x.count; i++) p->points[at + i] = s->pool.data[x.first + i];
    p->start[++p->count] = (int32_t)(at + x.count);
    return true;
}

/* ---- splitting */

/* The part of x where keep (n . x - d - shift) >= 0.  Corners within `tolerance` count as on the plane. */
static bool clip(slicer *s, piece x, plane p, double shift, double tolerance, int keep, piece *out) {
    out->first = s->pool.count;
    if (!array_reserve(s->context, &s->pool, s->pool.count + 2 * x.count))
        return s->status = ABUT_NO_MEMORY, false;
    for (int i = 0; i < x.count; i++) {
        vec3 a = s->pool.data[x.first + i], b = s->pool.data[x.first + (i + 1 < x.count ? i + 1 : 0)];
        double da = keep * (plane_distance(p, a) - shift), db = keep * (plane_distance(p, b) - shift);
        int sa = da > tolerance    ? 1
                 : da < -tolerance ? -1
                                   : 0,
            sb = db > tolerance    ? 1
                 : db < -tolerance ? -1
                                   : 0;
        if (sa >= 0) s->pool.data[s->pool.count++] = a;
        if (sa * sb < 0) {
            bool forward = keep > 0 ? sa > 0 : sa < 0; /* both sides compute the same point */
            s->pool.data[s->pool.count++] =
                forward ? vec3_lerp(a, b, da / (da - db)) : vec3_lerp(b, a, db / (db - da));
        }
    }
    out->count = (int)(s->pool.count - out->first);
    return true;
}

/* Lowest and highest distance of the corners. */
static void reach(const slicer *s, piece x, plane p, double *low, double *high) {
    *low = INFINITY, *high = -INFINITY;
    for (int i = 0; i < x.count; i++) {
        double d = plane_distance(p, s->pool.data[x.first + i]);
        *low = d < *low ? d : *low, *high = d > *high ? d : *high;
    }
}

static bool descend(slicer *s, int32_t code, piece x, int depth);

/* Descends with the part of x on one side of a plane. */
static bool descend_clipped(slicer *s, int32_t code, piece x, plane p, double shift, int keep, int depth) {
    piece part;
    if (!clip(s, x, p, shift, shift == 0 ? s->epsilon : s->epsilon / 256, keep, &part)) return false;
    bool good = part.count < 3 || descend(s, code, part, depth);
    s->pool.count = part.first;
    return good;
}

/* Descends again with the parts from `from` on that lie on no face.  A part keeps its label unless a face is
 * found: off the boundary inside and outside are the same on the plane and beside it. */
static bool look_further(slicer *s, int64_t from, int32_t code, int depth) {
    abut_parts *p = s->parts;
    int64_t to = p->count, pool = s->pool.count;
    bool worth = false;
    for (int64_t i = from; i < to && code != INDEX_OUT && code != INDEX_IN; i++)
        worth |= p->places[i].kind != ABUT_ON_FACE;
    if (!worth) return true;
    ARRAY(int32_t) kept = {0};
    /* copy the parts out, then put them back one by one */
    abut_place *places = mem_alloc(s->context, (size_t)(to - from), sizeof *places);
    bool good = places && array_reserve(s->context, &kept, to - from + 1);
    int64_t first = s->pool.count;
    for (int64_t i = from; good && i < to; i++) {
        places[i - from] = p->places[i];
        kept.data[kept.count++] = p->start[i + 1] - p->start[i];
        for (int32_t c = p->start[i]; good && c < p->start[i + 1]; c++)
            good = array_push(s->context, &s->pool, p->points[c]);
    }
    if (!good) s->status = ABUT_NO_MEMORY;
    p->count = from;
    for (int64_t i = 0; good && i < to - from; i++) {
        piece x = {first, kept.data[i]};
        first += x.count;
        int64_t before = p->count;
        bool is_face = places[i].kind == ABUT_ON_FACE;
        good = is_face ? add_part(s, x, index_leaf(INDEX_FACE, places[i].id)) : descend(s, code, x, depth);
        for (int64_t k = before; !is_face && k < p->count; k++)
            if (p->places[k].kind != ABUT_ON_FACE) p->places[k] = places[i];
    }
    mem_free(s->context, places, (size_t)(to - from), sizeof *places);
    array_free(s->context, &kept);
    s->pool.count = pool;
    return good;
}

/* The polygon lies within epsilon of the plane of node n. */
static bool lay_on(slicer *s, const index_node *n, piece x, int depth) {
    int64_t from = s->parts->count;
    return descend(s, n->child[INDEX_ON], x, depth) && look_further(s, from, n->child[INDEX_ABOVE], depth) &&
           look_further(s, from, n->child[INDEX_BELOW], depth);
}

static vec3 middle_of(const slicer *s, piece x) {
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < x.count; i++) sum = vec3_add(sum, s->pool.data[x.first + i]);
    return vec3_scale(sum, 1.0 / x.count);
}

static bool is_convex_face(const abut_solid *solid, const solid_face *f) {
    enum { MANY = 12 };
    const solid_coedge *coedges = solid_coedges(solid);
    const solid_loop *loop = &solid_loops(solid)[f->first_loop];
    if (f->loops > 1 || loop->count > MANY) return false;
    int32_t c = loop->coedge;
    for (int32_t k = 0; k < loop->count; k++, c = coedges[c].next) {
        vec3 a = solid_position(solid, coedges[coedges[c].prev].vertex),
             b = solid_position(solid, coedges[c].vertex);
        vec3 d = solid_position(solid, coedges[coedges[c].next].vertex);
        if (vec3_dot(f->plane.n, vec3_cross(vec3_sub(b, a), vec3_sub(d, b))) < 0) return false;
    }
    return true;
}

/* The part came to a leaf of a face.  Beyond a plane above it in the tree, which it touched within epsilon,
 * it may reach over the border of the face when the two are nearly parallel; what reaches over is inside or
 * outside. */
static bool add_face_part(slicer *s, piece x, int32_t leaf) {
    const abut_solid *solid = s->solid;
    int32_t face = index_leaf_id(leaf);
    const solid_face *f = &solid_faces(solid)[face];
    if (!is_convex_face(solid, f)) {
        vec3 middle = middle_of(s, x);
        return add_part(s, x, index_face_contains(solid, face, middle) ? leaf : index_side(s->index, middle));
    }
    const solid_coedge *coedges = solid_coedges(solid);
    const solid_loop *loop = &solid_loops(solid)[f->first_loop];
    int64_t pool = s->pool.count;
    int32_t c = loop->coedge;
    bool good = true;
    for (int32_t k = 0; good && k < loop->count && x.count >= 3; k++, c = coedges[c].next) {
        vec3 a = solid_position(solid, coedges[c].vertex);
        vec3 inward = vec3_unit(
            vec3_cross(f->plane.n, vec3_sub(solid_position(solid, coedges[coedges[c].next].vertex), a)));
        plane border = {inward, vec3_dot(inward, a)};
        double low, high;
        reach(s, x, border, &low, &high);
        if (low >= -s->epsilon) continue;
        piece over;
        good = clip(s, x, border, 0, s->epsilon, -1, &over) &&
               (over.count < 3 || add_part(s, over, index_side(s->index, middle_of(s, over)))) &&
               clip(s, x, border, 0, s->epsilon, 1, &x);
    }
    if (good && x.count >= 3) good = add_part(s, x, leaf);
    s->pool.count = pool;
    return good;
}

/* The polygon crosses the plane at a small angle: what is farther than epsilon goes to the sides, the strip
 * between is on the plane. */
static bool cut_strip(slicer *s, const index_node *n, piece x, int depth) {
    double e = s->epsilon;
    piece upper, middle;
    if (!descend_clipped(s, n->child[INDEX_ABOVE], x, n->cut, e, 1, depth) ||
        !descend_clipped(s, n->child[INDEX_BELOW], x, n->cut, -e, -1, depth) ||
        !clip(s, x, n->cut, e, e / 256, -1, &upper) || !clip(s, upper, n->cut, -e, e / 256, 1, &middle))
        return false;
    bool good = middle.count < 3 || lay_on(s, n, middle, depth);
    s->pool.count = upper.first;
    return good;
}

static bool descend(slicer *s, int32_t code, piece x, int depth) {
    if (depth > DEEPEST) return s->status = ABUT_BUDGET, false;
    while (code >= 0) {
        const index_node *n = &s->nodes[code];
        double low, high, e = s->epsilon;
        reach(s, x, n->cut, &low, &high);
        if (n->dimension == 3 && low >= -e && high <= e) return lay_on(s, n, x, depth + 1);
        if (n->dimension == 3 && low < e && high > -e && vec3_length(vec3_cross(s->normal, n->cut.n)) < 0.02)
            return cut_strip(s, n, x, depth + 1);
        if (low < -e && high > e)
            return descend_clipped(s, n->child[INDEX_ABOVE], x, n->cut, 0, 1, depth + 1) &&
                   descend_clipped(s, n->child[INDEX_BELOW], x, n->cut, 0, -1, depth + 1);
        code = n->child[low >= -e ? INDEX_ABOVE : INDEX_BELOW];
    }
    return code < INDEX_IN ? add_face_part(s, x, code) : add_part(s, x, code);
}

abut_status index_classify_polygon(const abut_context *context, const abut_index *index,
                                   const abut_solid *solid, const vec3 *polygon, int count, double epsilon,
                                   abut_parts *parts, abut_error *error) {
    slicer s = {
        .context = context, .index = index, .solid = solid, .nodes = index_nodes(index), .parts = parts};
    s.epsilon = epsilon > index->slack ? epsilon : index->slack;
    if (count < 3) return fail(error, ABUT_INVALID, "the polygon has %d corners; it needs at least 3", count);
    for (int i = 0; i < count; i++)
        if (!vec3_is_finite(polygon[i]))
            return fail(error, ABUT_INVALID, "corner %d of the polygon is not finite; give numbers", i);
    if (!array_reserve(context, &s.pool, count)) return fail_memory(error);
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; i++) {
        vec3 a = vec3_sub(polygon[i], polygon[0]),
             b = vec3_sub(polygon[i + 1 < count ? i + 1 : 0], polygon[0]);
        sum = vec3_add(sum, vec3_cross(a, b));
        s.pool.data[s.pool.count++] = polygon[i];
    }
    s.normal = vec3_unit(sum);
    descend(&s, index->root, (piece){0, count}, 0);
    array_free(context, &s.pool);
    if (s.status == ABUT_NO_MEMORY) return fail_memory(error);
    if (s.status == ABUT_BUDGET)
        return fail(error, ABUT_BUDGET, "the index is more than %d nodes high; build it with method hybrid",
                    DEEPEST);
    return ABUT_OK;
}

abut_status abut_index_polygon(const abut_context *context, const abut_index *index, const abut_solid *solid,
                               const abut_vec3 *polygon, int count, double epsilon, abut_parts *parts,
                               abut_error *error) {
    memset(parts, 0, sizeof *parts);
    if (!abut_index_fits(index, solid))
        return fail(error, ABUT_INVALID, "the index belongs to another solid; build it for this one");
    if (count < 3) return fail(error, ABUT_INVALID, "the polygon has %d corners; it needs at least 3", count);
    vec3 *corners = mem_alloc(context, (size_t)count, sizeof *corners);
    if (!corners) return fail_memory(error);
    for (int i = 0; i < count; i++) corners[i] = vec3_sub(polygon[i], solid->origin);
    abut_status status = index_classify_polygon(context, index, solid, corners, count, epsilon, parts, error);
    mem_free(context, corners, (size_t)count, sizeof *corners);
    if (status != ABUT_OK) return abut_parts_free(context, parts), status;
    for (int32_t i = 0; parts->count && i < parts->start[parts->count]; i++)
        parts->points[i] = vec3_add(parts->points[i], solid->origin);
    return ABUT_OK;
}

void abut_parts_free(const abut_context *context, abut_parts *parts) {
    mem_free(context, parts->places, (size_t)parts->capacity[0], sizeof *parts->places);
    mem_free(context, parts->start, (size_t)parts->capacity[1], sizeof *parts->start);
    mem_free(context, parts->points, (size_t)parts->capacity[2], sizeof *parts->points);
    memset(parts, 0, sizeof *parts);
}
