/* The intersection set I (Bouma and Vanecek 1992, section 4: Intersect, SplitRegions, MergeRegions).
 *
 * Vertices, edges and faces of each solid that touch_pairs marks as close to the other are classified in the
 * other's index:
 *
 *   a vertex on a vertex, edge or face     0D
 *   an edge along an edge or face          1D;   across an edge   0D
 *   a face on a face                       2D, its parts joined
 *   anything inside, deeper than epsilon   penetration
 *
 * Pairs that both solids find (vertex-vertex, edge-edge) are kept once, by the numbers of the entities.  2D
 * regions are those of A's faces in B's index. */
#include "contact/touch.h"

typedef ARRAY(abut_run) run_array;

/* ---- building the answer */

static bool put_point(touch_work *w, vec3 p) {
    abut_touch *t = w->out;
    if (!array_reserve_(w->context, (void **)&t->points, &t->capacity[2], t->point_count + 1,
                        sizeof *t->points))
        return false;
    t->points[t->point_count++] = p;
    return true;
}

static bool end_loop(touch_work *w) {
    abut_touch *t = w->out;
    if (!array_reserve_(w->context, (void **)&t->loop_start, &t->capacity[1], t->loop_count + 2,
                        sizeof *t->loop_start))
        return false;
    if (t->loop_count == 0) t->loop_start[0] = 0;
    t->loop_start[++t->loop_count] = (int32_t)t->point_count;
    return true;
}

static bool put_region(touch_work *w, abut_touch_region r) {
    abut_touch *t = w->out;
    if (!array_reserve_(w->context, (void **)&t->regions, &t->capacity[0], t->region_count + 1,
                        sizeof *t->regions))
        return false;
    t->regions[t->region_count++] = r;
    return true;
}

/* A point or a segment between `own` of solid i and `other` of the other one. */
static bool put_simple(touch_work *w, int i, abut_place own, abut_place other, const vec3 *points,
                       int count) {
    if (own.kind == other.kind) {
        int32_t a = i ? other.id : own.id, b = i ? own.id : other.id;
        uint64_t key = ((uint64_t)(own.kind == ABUT_ON_EDGE) << 63) | ((uint64_t)a << 31) | (uint64_t)b;
        int32_t *slot = map64_put(w->context, &w->pairs, key, 0);
        if (!slot) return false;
        if ((*slot)++) return true;
    }
    int32_t loop = (int32_t)w->out->loop_count;
    for (int k = 0; k < count; k++)
        if (!put_point(w, points[k])) return false;
    vec3 center = count == 1 ? points[0] : vec3_lerp(points[0], points[1], 0.5);
    return end_loop(w) && put_region(w, (abut_touch_region){.dimension = count - 1,
                                                            .a = i ? other : own,
                                                            .b = i ? own : other,
                                                            .first_loop = loop,
                                                            .loops = 1,
                                                            .center = center});
}

/* ---- marks */

static uint64_t mark_key(int i, int kind, int32_t id) {
    return (uint64_t)(4 * i + kind) << 32 | (uint64_t)id;
}

bool touch_mark(touch_work *w, int i, int kind, int32_t id, int flags) {
    int32_t *slot = map64_put(w->context, &w->marks, mark_key(i, kind, id), -1);
    if (!slot) return false;
    if (*slot >= 0) return *slot |= flags, true;
    *slot = flags;
    return array_push(w->context, &w->marked[i][kind], id);
}

void touch_unmark(touch_work *w, int i, int kind, int32_t id) {
    int32_t *slot = map64_get(&w->marks, mark_key(i, kind, id));
    if (slot) *slot = 0;
}

int touch_marks(const touch_work *w, int i, int kind, int32_t id) {
    const int32_t *slot = map64_get(&w->marks, mark_key(i, kind, id));
    return slot ? *slot : 0;
}

static int by_number(const void *user, const void *a, const void *b) {
    (void)user;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    return (i > j) - (i < j);
}

static void sort_few(int32_t *x, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        int32_t v = x[i];
        int64_t k = i;
        for (; k > 0 && x[k - 1] > v; k--) x[k] = x[k - 1];
        x[k] = v;
    }
}

/* In the order of their numbers, so that the answer does not depend on that of the descent. */
static bool sort_marked(touch_work *w) {
    for (int k = 0; k < 8; k++) {
        touch_ids *ids = &w->marked[k / 4][k % 4];
        if (ids->count <= 32)
            sort_few(ids->data, ids->count);
        else if (!sort_stable(w->context, ids->data, (size_t)ids->count, sizeof *ids->data, by_number, NULL))
            return false;
    }
    return true;
}

static vec3 shape_vertex(const abut_solid *s, int32_t v) { return vec3_add(solid_position(s, v), s->origin); }

/* A face has a part inside, with no edge inside, only where it borders a line of contact: where its own edge
 * lies on the other's boundary, or an edge of the other on it. */
static void mark_beside_lines(touch_work *w) {
    for (int64_t k = 0; k < w->out->region_count; k++) {
        const abut_touch_region *r = &w->out->regions[k];
        for (int i = 0; i < 2 && r->dimension == 1; i++) {
            const abut_solid *s = w->s[i]->solid;
            abut_place place = i ? r->b : r->a;
            for (int side = 0; side < 2; side++) {
                int32_t f = place.kind == ABUT_ON_FACE
                                ? place.id
                                : solid_coedges(s)[solid_edges(s)[place.id].coedge[side]].face;
                int32_t *marks = map64_get(&w->marks, mark_key(i, INDEX_FACE, f));
                if (marks && *marks) *marks |= TOUCH_FLAT;
            }
        }
    }
}

/* ---- vertices */

static bool collect_vertices(touch_work *w, int i) {
    const abut_solid *own = w->s[i]->solid, *other = w->s[!i]->solid;
    pose to_other = pose_relative(w->p[i], w->p[!i]);
    for (int64_t k = 0; k < w->marked[i][INDEX_VERTEX].count; k++) {
        int32_t v = w->marked[i][INDEX_VERTEX].data[k];
        if (!touch_marks(w, i, INDEX_VERTEX, v)) continue;
        vec3 x = pose_point(to_other, shape_vertex(own, v)), at = pose_point(w->p[!i], x);
        abut_place place = abut_index_point(w->s[!i]->index, other, x, w->epsilon);
        if (place.kind == ABUT_INSIDE) touch_witness(w, !i, at);
        if (place.kind < ABUT_ON_VERTEX) continue;
        if (!touch_mark(w, i, INDEX_VERTEX, v, TOUCH_ON)) return false;
        if (!put_simple(w, i, (abut_place){ABUT_ON_VERTEX, v}, place, &at, 1)) return false;
    }
    return true;
}

/* ---- edges */

/* Whether a crossing is so close to an end of the edge (of solid i) that the vertex there, being in contact
 * itself, stands for it: contact points closer than 4 epsilon are one (Vanecek 1990, section 4). */
static bool vertex_stands(const touch_work *w, int i, int32_t edge, vec3 at) {
    const abut_solid *s = w->s[i]->solid;
    for (int k = 0; k < 2; k++) {
        int32_t v = solid_edges(s)[edge].vertex[k];
        if (vec3_distance(pose_point(w->p[i], shape_vertex(s, v)), at) > 4 * w->epsilon) continue;
        if (touch_marks(w, i, INDEX_VERTEX, v) & TOUCH_ON) return true;
    }
    return false;
}

/* The edge of a face of solid !i that is nearest to edge e of solid i. */
static int32_t nearest_edge(const touch_work *w, int i, int32_t e, int32_t face) {
    const abut_solid *own = w->s[i]->solid, *s = w->s[!i]->solid;
    const solid_coedge *coedges = solid_coedges(s);
    const solid_face *f = &solid_faces(s)[face];
    pose to_other = pose_relative(solid_frame(own, w->p[i]), solid_frame(s, w->p[!i]));
    vec3 p = pose_point(to_other, solid_position(own, solid_edges(own)[e].vertex[0])),
         q = pose_point(to_other, solid_position(own, solid_edges(own)[e].vertex[1]));
    double best = INFINITY;
    int32_t nearest = -1;
    for (int32_t l = 0; l < f->loops; l++) {
        const solid_loop *loop = &solid_loops(s)[f->first_loop + l];
        int32_t c = loop->coedge;
        for (int32_t k = 0; k < loop->count; k++, c = coedges[c].next) {
            double d = touch_segments_distance(p, q, solid_position(s, coedges[c].vertex),
                                               solid_position(s, coedges[coedges[c].next].vertex));
            if (d < best) best = d, nearest = coedges[c].edge;
        }
    }
    return nearest;
}

/* The edge goes through a face.  Unless it gets deeper than epsilon, and then there are no regions, it cuts
 * off the rim of the other solid at one of the face's edges, less than epsilon deep, though the two edges may
 * be farther apart than epsilon.  That is a contact of the two edges. */
static bool take_crossing(touch_work *w, int i, int32_t edge, int32_t face, vec3 at) {
    int32_t other = nearest_edge(w, i, edge, face);
    if (vertex_stands(w, i, edge, at) || vertex_stands(w, !i, other, at)) return true;
    return put_simple(w, i, (abut_place){ABUT_ON_EDGE, edge}, (abut_place){ABUT_ON_EDGE, other}, &at, 1);
}

/* `within`: the run is neither the first nor the last of the edge; at its ends the vertices were asked. */
static bool take_run(touch_work *w, int i, int32_t edge, const abut_run *run, bool within) {
    vec3 at[2] = {pose_point(w->p[!i], run->points[0]), pose_point(w->p[!i], run->points[1])};
    abut_place place = run->place, own = {ABUT_ON_EDGE, edge};
    if (place.kind == ABUT_INSIDE) {
        touch_witness(w, !i, run->point_count == 2 ? vec3_lerp(at[0], at[1], 0.5) : at[0]);
        for (int k = 0; k < 2; k++) /* a vertex that lies deep was not near, but may be the deepest */
            if (run->at[k] == k) touch_witness(w, !i, at[k]);
        return true;
    }
    if (run->point_count == 2 && place.kind >= ABUT_ON_EDGE) return put_simple(w, i, own, place, at, 2);
    if (place.kind == ABUT_ON_FACE) return !within || take_crossing(w, i, edge, place.id, at[0]);
    if (place.kind != ABUT_ON_EDGE) return true; /* vertices were asked themselves */
    if (vertex_stands(w, i, edge, at[0]) || vertex_stands(w, !i, place.id, at[0])) return true;
    return put_simple(w, i, own, place, at, 1);
}

/* The sequence of edge e of solid i in the other; runs grows to hold it.  -1: too many entities, -2: memory.
 */
static int classify_edge(touch_work *w, int i, int32_t e, run_array *runs) {
    const abut_solid *own = w->s[i]->solid, *other = w->s[!i]->solid;
    pose to_other = pose_relative(w->p[i], w->p[!i]);
    const int32_t *v = solid_edges(own)[e].vertex;
    vec3 from = pose_point(to_other, shape_vertex(own, v[0])),
         to = pose_point(to_other, shape_vertex(own, v[1]));
    for (;;) {
        int count =
            abut_index_segment(w->s[!i]->index, other, from, to, w->epsilon, runs->data, (int)runs->capacity);
        if (count <= runs->capacity) return count;
        if (!array_reserve(w->context, runs, count)) return -2;
    }
}

static abut_status collect_edges(touch_work *w, int i, run_array *runs) {
    for (int64_t n = 0; n < w->marked[i][INDEX_EDGE].count; n++) {
        int32_t e = w->marked[i][INDEX_EDGE].data[n];
        if (!touch_marks(w, i, INDEX_EDGE, e)) continue;
        int count = classify_edge(w, i, e, runs);
        if (count == -1)
            return fail(w->error, ABUT_BUDGET,
                        "edge %d of solid %c meets more than %d entities of the other; split the edge", e,
                        "AB"[i], ABUT_SEGMENT_LIMIT);
        if (count < 0) return fail_memory(w->error);
        for (int k = 0; k < count; k++)
            if (!take_run(w, i, e, &runs->data[k], k > 0 && k + 1 < count)) return fail_memory(w->error);
    }
    return ABUT_OK;
}

/* ---- faces */

/* The mean corner of part k. */
static vec3 middle(const abut_parts *parts, int64_t k) {
    vec3 sum = {0, 0, 0};
    int32_t first = parts->start[k], last = parts->start[k + 1];
    for (int32_t c = first; c < last; c++) sum = vec3_add(sum, parts->points[c]);
    return vec3_scale(sum, 1.0 / (last - first));
}

/* Keeps the parts that lie on faces; those inside are witnesses. */
static void sift(touch_work *w, int i, vec3 outward, abut_parts *parts) {
    int64_t kept = 0;
    int32_t end = 0;
    for (int64_t k = 0; k < parts->count; k++) {
        abut_place place = parts->places[k];
        int32_t first = parts->start[k], count = parts->start[k + 1] - first;
        vec3 at = pose_point(w->p[!i], vec3_add(middle(parts, k), w->s[!i]->solid->origin));
        if (place.kind == ABUT_INSIDE) touch_witness(w, !i, at);
        if (place.kind != ABUT_ON_FACE) continue;
        if (vec3_dot(outward, solid_faces(w->s[!i]->solid)[place.id].plane.n) > 0) {
            touch_witness_overlap(w, at, pose_vector(w->p[!i], outward));
            continue;
        }
        memmove(&parts->points[end], &parts->points[first], (size_t)count * sizeof *parts->points);
        parts->places[kept] = place, parts->start[kept++] = end;
        end += count;
    }
    if (parts->count) parts->start[kept] = end;
    parts->count = kept;
}

/* Centre of area of a polygon with holes, all loops together (triangles from the first corner). */
static vec3 area_center(const abut_touch *t, const abut_touch_region *r, vec3 n) {
    vec3 base = t->points[t->loop_start[r->first_loop]], sum = {0, 0, 0};
    double total = 0;
    for (int32_t l = r->first_loop; l < r->first_loop + r->loops; l++)
        for (int32_t c = t->loop_start[l]; c < t->loop_start[l + 1]; c++) {
            int32_t next = c + 1 < t->loop_start[l + 1] ? c + 1 : t->loop_start[l];
            vec3 p = vec3_sub(t->points[c], base), q = vec3_sub(t->points[next], base);
            double area = vec3_dot(n, vec3_cross(p, q)) / 2;
            total += area;
            sum = vec3_axpy(sum, area / 3, vec3_add(p, q));
        }
    return total > 0 ? vec3_axpy(base, 1 / total, sum) : base;
}

static void drop_loops(touch_work *w, int32_t first) {
    w->out->loop_count = first;
    w->out->point_count = first ? w->out->loop_start[first] : 0;
}

/* Whether the faces of an area come within epsilon.  The corners of its parts are good to epsilon / 256
 * across the faces and to epsilon along them, where they part by one in fifty at most; so where a corner is
 * nearer than 15/16 epsilon they do, and otherwise they are measured. */
static bool is_near(const touch_work *w, const abut_touch_region *r, double nearest) {
    return nearest < 15.0 / 16 * w->epsilon || touch_faces_distance(w, r->a.id, r->b.id) <= w->epsilon;
}

/* Region k of face f of A; loops are turned around, to be counter-clockwise about the normal of B's face. */
static bool put_area(touch_work *w, int32_t f, const abut_regions *regions, int64_t k) {
    const abut_solid *b = w->s[1]->solid;
    abut_touch_region r = {.dimension = 2,
                           .a = {ABUT_ON_FACE, f},
                           .b = regions->places[k],
                           .first_loop = (int32_t)w->out->loop_count,
                           .loops = regions->loop_start[k + 1] - regions->loop_start[k],
                           .area = regions->areas[k]};
    double around = 0, nearest = INFINITY;
    plane on = solid_faces(b)[r.b.id].plane;
    for (int32_t l = regions->loop_start[k]; l < regions->loop_start[k + 1]; l++) {
        int32_t first = regions->corner_start[l], last = regions->corner_start[l + 1];
        for (int32_t c = last - 1; c >= first; c--) {
            nearest = fmin(nearest, fabs(plane_distance(on, regions->points[c])));
            around += vec3_distance(regions->points[c], regions->points[c > first ? c - 1 : last - 1]);
            if (!put_point(w, pose_point(w->p[1], vec3_add(regions->points[c], b->origin)))) return false;
        }
        if (!end_loop(w)) return false;
    }
    bool narrow = 2 * r.area < 8 * w->epsilon * around; /* than a cluster of points: its edges stand for it */
    if (narrow || !is_near(w, &r, nearest)) return drop_loops(w, r.first_loop), true;
    r.center = area_center(w->out, &r, pose_vector(w->p[1], on.n));
    return put_region(w, r);
}

/* Face f of solid i: its convex pieces in the other's index. */
static abut_status collect_face(touch_work *w, int i, int32_t f, vec3 *corners, abut_parts *parts) {
    const abut_solid *own = w->s[i]->solid, *other = w->s[!i]->solid;
    const abut_index *index = w->s[i]->index;
    pose to_other = pose_relative(solid_frame(own, w->p[i]), solid_frame(other, w->p[!i]));
    for (int32_t p = index_face_pieces(index)[f]; p < index_face_pieces(index)[f + 1]; p++) {
        if (!touch_marks(w, i, TOUCH_PIECE, p)) continue;
        int32_t first = index_piece_corners(index)[p], count = index_piece_corners(index)[p + 1] - first;
        for (int32_t c = 0; c < count; c++)
            corners[c] = pose_point(to_other, solid_position(own, index_corners(index)[first + c]));
        abut_status status = index_classify_polygon(w->context, w->s[!i]->index, other, corners, count,
                                                    w->epsilon, parts, w->error);
        if (status != ABUT_OK) return status;
    }
    vec3 outward = pose_vector(to_other, solid_faces(own)[f].plane.n);
    sift(w, i, outward, parts);
    if (i || parts->count == 0) return ABUT_OK;
    abut_regions regions;
    abut_status status = abut_parts_join(w->context, parts, outward, w->epsilon, &regions, w->error);
    if (status != ABUT_OK) return status;
    bool good = true;
    for (int64_t k = 0; k < regions.count && good; k++) good = put_area(w, f, &regions, k);
    abut_regions_free(w->context, &regions);
    return good ? ABUT_OK : fail_memory(w->error);
}

static abut_status collect_faces(touch_work *w, int i) {
    size_t most = (size_t)w->s[i]->tree.most;
    vec3 *corners = mem_alloc(w->context, most, sizeof *corners);
    if (!corners) return fail_memory(w->error);
    abut_status status = ABUT_OK;
    for (int64_t k = 0; k < w->marked[i][INDEX_FACE].count && status == ABUT_OK; k++) {
        int32_t f = w->marked[i][INDEX_FACE].data[k];
        if (!(touch_marks(w, i, INDEX_FACE, f) & TOUCH_FLAT)) continue;
        abut_parts parts = {0};
        status = collect_face(w, i, f, corners, &parts);
        abut_parts_free(w->context, &parts);
    }
    mem_free(w->context, corners, most, sizeof *corners);
    return status;
}

/* ---- nothing near: one may hold a shell of the other */
static void collect_shells(touch_work *w, int i) {
    const abut_solid *own = w->s[i]->solid;
    for (int64_t k = 0; k < own->shell_count; k++) {
        int32_t loop = solid_faces(own)[solid_shells(own)[k].face].first_loop;
        vec3 at =
            pose_point(w->p[i], shape_vertex(own, solid_coedges(own)[solid_loops(own)[loop].coedge].vertex));
        vec3 x = pose_unpoint(w->p[!i], at);
        if (abut_index_point(w->s[!i]->index, w->s[!i]->solid, x, w->epsilon).kind == ABUT_INSIDE)
            touch_witness(w, !i, at);
    }
}

abut_status touch_collect(touch_work *w) {
    if (!touch_pairs(w) || !sort_marked(w)) return fail_memory(w->error);
    touch_cull(w);
    for (int i = 0; i < 2; i++) collect_shells(w, i);
    for (int i = 0; i < 2; i++)
        if (!collect_vertices(w, i)) return fail_memory(w->error);
    run_array runs = {0};
    abut_status status = array_reserve(w->context, &runs, 32) ? ABUT_OK : fail_memory(w->error);
    for (int i = 0; i < 2 && status == ABUT_OK; i++) status = collect_edges(w, i, &runs);
    array_free(w->context, &runs);
    mark_beside_lines(w);
    for (int i = 0; i < 2 && status == ABUT_OK; i++) status = collect_faces(w, i);
    return status;
}
