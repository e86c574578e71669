/* Phase 1 (Vanecek 1990, section 2.1): the 3D tree over the faces.
 *
 * A region is a list of convex pieces of faces, of edges and of vertices that lie in it.  A cut plane sorts
 * them to the two sides; what lies in the plane, or crosses it, is left in the node's section for phases 2
 * and 3:
 *
 *        piece above           edge in the plane   ──> segment, labelled with the edge
 *     ────────┼────────── P    piece across        ──> segment (pseudo edge), labelled with the face
 *        piece below           edge across, vertex ──> point
 */
#include "index/build.h"

/* Whether the table's plane `id` is one of those that the point was made from. */
static bool is_incident(const builder *b, int32_t point, int32_t id) {
    if (id < 0) return false;
    const build_point *p = point_at(b, point);
    if (p->plane[0] == id || p->plane[1] == id || p->plane[2] == id) return true;
    if (point >= b->in->solid->vertex_count) return false;
    const int32_t *start = b->in->vertex_plane_start, *planes = b->in->vertex_planes;
    for (int32_t i = start[point]; i < start[point + 1]; i++)
        if (planes[i] == id) return true;
    return false;
}

/* The side of a point.  Symbolic incidence first in meaning, last in time: points lie within `band` of the
 * planes they were made from, so farther out the sign of the distance is certain. */
int build_side(const builder *b, const build_cut *cut, int32_t point) {
    vec3 x = point_at(b, point)->x;
    double distance = plane_distance(cut->p, x);
    if (distance > b->in->band) return 1;
    if (distance < -b->in->band) return -1;
    if (is_incident(b, point, cut->id) || fabs(distance) <= b->in->weld) return 0;
    return side_of_plane(cut->p, x);
}

/* ---- crossings: one point for each side that a cut splits, shared by the pieces that meet there */
static build_crossing *crossing_slot(builder *b, uint64_t key) {
    if (2 * b->crossing_count >= b->crossing_capacity) {
        int64_t capacity = b->crossing_capacity ? 2 * b->crossing_capacity : 256;
        build_crossing *slots = mem_calloc(b->in->context, (size_t)capacity, sizeof *slots);
        if (!slots) return NULL;
        for (int64_t i = 0; i < b->crossing_capacity; i++) {
            if (b->crossings[i].stamp != b->stamp) continue;
            int64_t at = (int64_t)(hash64_mix(b->crossings[i].key) & (uint64_t)(capacity - 1));
            while (slots[at].stamp == b->stamp) at = (at + 1) & (capacity - 1);
            slots[at] = b->crossings[i];
        }
        mem_free(b->in->context, b->crossings, (size_t)b->crossing_capacity, sizeof *b->crossings);
        b->crossings = slots, b->crossing_capacity = capacity;
    }
    int64_t at = (int64_t)(hash64_mix(key) & (uint64_t)(b->crossing_capacity - 1));
    while (b->crossings[at].stamp == b->stamp && b->crossings[at].key != key)
        at = (at + 1) & (b->crossing_capacity - 1);
    return &b->crossings[at];
}

/* A plane that both points were made from, other than `not`. */
static int32_t common_plane(const build_point *p, const build_point *q, int32_t not ) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (p->plane[i] >= 0 && p->plane[i] == q->plane[j] && p->plane[i] != not ) return p->plane[i];
    return -1;
}

/* The point where the side from p to q, on opposite sides of the cut, meets it: p + t (q - p) with
 * t = d_p / (d_p - d_q), always from the smaller number to the greater so that both neighbours get the same
 * bits. */
static build_point meet_side(const builder *b, const build_cut *cut, int32_t p, int32_t q, int32_t side,
                             int32_t face) {
    const abut_solid *solid = b->in->solid;
    const build_point *from = point_at(b, p < q ? p : q), *to = point_at(b, p < q ? q : p);
    double d0 = plane_distance(cut->p, from->x), d1 = plane_distance(cut->p, to->x);
    build_point x = {.x = vec3_lerp(from->x, to->x, d0 / (d0 - d1)), .plane = {cut->id, -1, -1}};
    if (cut->axis == 0) x.x.x = cut->p.d;
    if (cut->axis == 1) x.x.y = cut->p.d;
    if (cut->axis == 2) x.x.z = cut->p.d;
    if (side >= 0) {
        const solid_edge *e = &solid_edges(solid)[side];
        x.plane[1] = solid_faces(solid)[solid_coedges(solid)[e->coedge[0]].face].plane_id;
        x.plane[2] = solid_faces(solid)[solid_coedges(solid)[e->coedge[1]].face].plane_id;
        x.leaf = index_leaf(INDEX_EDGE, side);
    } else {
        x.plane[1] = solid_faces(solid)[face].plane_id;
        if (side != SIDE_SEAM) x.plane[2] = common_plane(from, to, x.plane[1]);
        x.leaf = index_leaf(INDEX_FACE, face);
        x.inner = side == SIDE_SEAM;
    }
    return x;
}

/* The number of that point, made when it is new (*fresh); -1 when memory is out. */
static int32_t crossing(builder *b, const build_cut *cut, int32_t p, int32_t q, int32_t side, int32_t face,
                        bool *fresh) {
    uint64_t key =
        p < q ? (uint64_t)(uint32_t)p << 32 | (uint32_t)q : (uint64_t)(uint32_t)q << 32 | (uint32_t)p;
    build_crossing *slot = crossing_slot(b, key);
    if (!slot) return out_of_memory(b), -1;
    *fresh = slot->stamp != b->stamp;
    if (!*fresh) return slot->point;
    build_point x = meet_side(b, cut, p, q, side, face);
    if (!array_push(b->in->context, &b->points, x)) return out_of_memory(b), -1;
    int32_t point = (int32_t)(b->base_count + b->points.count - 1);
    *slot = (build_crossing){key, b->stamp, point};
    b->crossing_count++;
    return point;
}

/* ---- what lies beside an edge in a cut plane */
static bool is_flat(const builder *b, const build_cut *cut, int32_t face) {
    if (cut->id >= 0 && solid_faces(b->in->solid)[face].plane_id == cut->id) return true;
    for (int64_t i = 0; i < b->flats.count; i++)
        if (b->flats.data[i] == face) return true;
    return false;
}

/* What the plane shows beside edge e in direction w, which is perpendicular to the edge.  A face in the
 * plane, if it lies there; else inside or outside, by the wedge of the two faces: inside a convex edge is
 * below both planes, inside a reflex one below either. */
static int32_t beside_edge(const builder *b, const build_cut *cut, int32_t edge, vec3 w) {
    const abut_solid *solid = b->in->solid;
    const solid_edge *e = &solid_edges(solid)[edge];
    vec3 along = vec3_sub(solid_position(solid, e->vertex[1]), solid_position(solid, e->vertex[0]));
    bool below[2];
    for (int i = 0; i < 2; i++) {
        int32_t face = solid_coedges(solid)[e->coedge[i]].face;
        vec3 n = solid_faces(solid)[face].plane.n;
        vec3 into = vec3_cross(n, i == 0 ? along : vec3_neg(along)); /* from the edge into the face */
        bool flat = is_flat(b, cut, face);
        if (flat && vec3_dot(into, w) > 0) return index_leaf(INDEX_FACE, face);
        below[i] = !flat && vec3_dot(n, w) < 0;
    }
    bool inside = e->convexity < 0 ? below[0] || below[1] : below[0] && below[1];
    return inside ? INDEX_IN : INDEX_OUT;
}

static bool add_edge_segment(builder *b, const build_cut *cut, const build_edge *e) {
    const abut_solid *solid = b->in->solid;
    const solid_edge *edge = &solid_edges(solid)[e->edge];
    vec3 along = vec3_sub(solid_position(solid, edge->vertex[1]), solid_position(solid, edge->vertex[0]));
    vec3 left = vec3_cross(cut->p.n, along);
    build_segment s = {e->a, e->b, index_leaf(INDEX_EDGE, e->edge), beside_edge(b, cut, e->edge, left),
                       beside_edge(b, cut, e->edge, vec3_neg(left))};
    return array_push(b->in->context, &b->segments, s) || out_of_memory(b);
}

/* The trace of a face from p to q: outside lies where its normal points.  One shorter than the weld distance
 * is a point. */
static bool add_trace(builder *b, const build_cut *cut, int32_t face, int32_t p, int32_t q) {
    vec3 along = vec3_sub(point_at(b, q)->x, point_at(b, p)->x);
    if (vec3_length(along) <= b->in->weld) return true;
    bool outside_left = vec3_dot(solid_faces(b->in->solid)[face].plane.n, vec3_cross(cut->p.n, along)) > 0;
    build_segment s = {p, q, index_leaf(INDEX_FACE, face), outside_left ? INDEX_OUT : INDEX_IN,
                       outside_left ? INDEX_IN : INDEX_OUT};
    return array_push(b->in->context, &b->segments, s) || out_of_memory(b);
}

/* ---- pieces */

/* +1: only above or on, -1: only below or on, 0: on, 2: both sides; 3: signs change more than twice, which
 * rounding can do to a piece that is convex only up to the weld distance. */
static int sort_piece(const int *sign, int count) {
    int plus = 0, minus = 0, changes = 0, last = 0, first = 0;
    for (int i = 0; i < count; i++) {
        if (sign[i] == 0) continue;
        plus |= sign[i] > 0, minus |= sign[i] < 0;
        if (first == 0) first = sign[i];
        if (last != 0 && last != sign[i]) changes++;
        last = sign[i];
    }
    if (last != first) changes++;
    if (plus && minus) return changes > 2 ? 3 : 2;
    return plus - minus;
}

/* Adds the corners of one side of a split piece; the closing side lies on the cut. */
static bool clip_piece(builder *b, const build_cut *cut, build_piece piece, int keep, int32_t border,
                       int_array *list) {
    const abut_context *context = b->in->context;
    int64_t first = b->corners.count;
    int n = piece.count;
    for (int i = 0; i < n; i++) {
        int j = i + 1 < n ? i + 1 : 0;
        int si = b->signs.data[i] * keep, sj = b->signs.data[j] * keep;
        build_corner c = b->corners.data[piece.first + i];
        int32_t next = b->corners.data[piece.first + j].point;
        if (si >= 0) {
            build_corner out = {c.point, si == 0 && sj < 0 ? border : c.side};
            if (!array_push(context, &b->corners, out)) return out_of_memory(b);
        }
        if (si * sj < 0) {
            bool fresh;
            int32_t x = crossing(b, cut, c.point, next, c.side, piece.face, &fresh);
            if (x < 0) return false;
            build_corner out = {x, si > 0 ? border : c.side};
            if (!array_push(context, &b->corners, out)) return out_of_memory(b);
        }
    }
    build_piece part = {piece.face, (int32_t)first, (int32_t)(b->corners.count - first)};
    if (part.count < 3) return true;
    if (!array_push(context, &b->pieces, part)) return out_of_memory(b);
    return array_push(context, list, (int)(b->pieces.count - 1)) || out_of_memory(b);
}

/* In the paper's method pseudo vertices on sides that lie in an earlier cut are vertices of that cut's 1D
 * trees. */
static bool note_extras(builder *b, const build_cut *cut, build_piece piece) {
    for (int i = 0; i < piece.count; i++) {
        int j = i + 1 < piece.count ? i + 1 : 0;
        build_corner c = b->corners.data[piece.first + i];
        if (b->signs.data[i] * b->signs.data[j] >= 0 || c.side == SIDE_SEAM || c.side == SIDE_BORDER)
            continue;
        bool fresh;
        int32_t x =
            crossing(b, cut, c.point, b->corners.data[piece.first + j].point, c.side, piece.face, &fresh);
        if (x < 0) return false;
        build_extra extra = {c.side >= 0 ? c.side : c.side - SIDE_BORDER, x};
        if (fresh && !array_push(b->in->context, &b->extras, extra)) return out_of_memory(b);
    }
    return true;
}

/* Seams that come to lie in the cut are traces of their face, and border from now on. */
static bool settle_seams(builder *b, const build_cut *cut, build_piece piece) {
    for (int i = 0; i < piece.count; i++) {
        int j = i + 1 < piece.count ? i + 1 : 0;
        build_corner *c = &b->corners.data[piece.first + i];
        if (c->side != SIDE_SEAM || b->signs.data[i] != 0 || b->signs.data[j] != 0) continue;
        c->side = SIDE_BORDER;
        if (!add_trace(b, cut, piece.face, c->point, b->corners.data[piece.first + j].point)) return false;
    }
    return true;
}

/* A piece across the cut: its two parts, and its trace, the new side of the upper part. */
static bool split_piece(builder *b, const build_cut *cut, build_piece piece) {
    if (!settle_seams(b, cut, piece)) return false;
    bool paper = b->in->method == ABUT_INDEX_FIRST;
    if (paper && !note_extras(b, cut, piece)) return false;
    int32_t fresh = paper ? SIDE_BORDER - (int32_t)(b->segments.count + 1) : INT32_MIN;
    for (int keep = 1; keep >= -1; keep -= 2) {
        int64_t first = b->corners.count;
        if (!clip_piece(b, cut, piece, keep, fresh, keep > 0 ? &b->above[0] : &b->below[0])) return false;
        int64_t end = b->corners.count;
        for (int64_t i = first; i < end; i++) {
            if (b->corners.data[i].side != fresh) continue;
            if (!paper) b->corners.data[i].side = SIDE_BORDER;
            int32_t p = b->corners.data[i].point, q = b->corners.data[i + 1 < end ? i + 1 : first].point;
            if (keep > 0 && !add_trace(b, cut, piece.face, p, q)) return false;
        }
    }
    return true;
}

/* A piece whose signs change too often, as a fan of triangles, for which they cannot. */
static bool fan_piece(builder *b, int32_t number, int_array *queue) {
    build_piece piece = b->pieces.data[number];
    for (int i = 1; i + 1 < piece.count; i++) {
        build_corner c[3] = {b->corners.data[piece.first], b->corners.data[piece.first + i],
                             b->corners.data[piece.first + i + 1]};
        if (i > 1) c[0].side = SIDE_SEAM;
        if (i + 2 < piece.count) c[2].side = SIDE_SEAM;
        build_piece part = {piece.face, (int32_t)b->corners.count, 3};
        for (int k = 0; k < 3; k++)
            if (!array_push(b->in->context, &b->corners, c[k])) return out_of_memory(b);
        if (!array_push(b->in->context, &b->pieces, part)) return out_of_memory(b);
        if (!array_push(b->in->context, queue, (int)(b->pieces.count - 1))) return out_of_memory(b);
    }
    return true;
}

static double piece_area(const builder *b, build_piece piece) {
    vec3 sum = {0, 0, 0}, o = point_at(b, b->corners.data[piece.first].point)->x;
    for (int i = 1; i + 1 < piece.count; i++)
        sum = vec3_add(sum,
                       vec3_cross(vec3_sub(point_at(b, b->corners.data[piece.first + i].point)->x, o),
                                  vec3_sub(point_at(b, b->corners.data[piece.first + i + 1].point)->x, o)));
    return vec3_length(sum) / 2;
}

/* What the pieces in the cut plane say about it: the face of the greatest, and whether its outside is above.
 */
typedef struct cover {
    double area;
    int32_t face; /* -1: none */
    bool outside_above;
} cover;

static void add_cover(const builder *b, const build_cut *cut, build_piece piece, cover *c) {
    double facing = vec3_dot(solid_faces(b->in->solid)[piece.face].plane.n, cut->p.n);
    if (fabs(facing) < 0.5) return; /* a crumb smaller than the weld distance in all directions */
    double area = piece_area(b, piece);
    if (c->face >= 0 && area <= c->area) return;
    *c = (cover){area, piece.face, facing > 0};
}

static bool split_pieces(builder *b, const build_cut *cut, const build_region *region, cover *c) {
    const abut_context *context = b->in->context;
    int_array fans = {0};
    bool good = true;
    for (int64_t k = 0; good && k < region->pieces + fans.count; k++) {
        int32_t number =
            k < region->pieces ? b->lists.data[region->first + k] : fans.data[k - region->pieces];
        build_piece piece = b->pieces.data[number];
        if (!array_reserve(context, &b->signs, piece.count))
            return array_free(context, &fans), out_of_memory(b);
        bool in_plane = cut->id >= 0 && solid_faces(b->in->solid)[piece.face].plane_id == cut->id;
        for (int i = 0; i < piece.count; i++)
            b->signs.data[i] = in_plane ? 0 : build_side(b, cut, b->corners.data[piece.first + i].point);
        switch (sort_piece(b->signs.data, piece.count)) {
        case 0:
            add_cover(b, cut, piece, c);
            good = in_plane || array_push(context, &b->flats, piece.face) || out_of_memory(b);
            break;
        case 1:
            good = settle_seams(b, cut, piece) &&
                   (array_push(context, &b->above[0], number) || out_of_memory(b));
            break;
        case -1:
            good = settle_seams(b, cut, piece) &&
                   (array_push(context, &b->below[0], number) || out_of_memory(b));
            break;
        case 2: good = split_piece(b, cut, piece); break;
        default: good = fan_piece(b, number, &fans);
        }
    }
    array_free(context, &fans);
    return good;
}

/* ---- edges and vertices */
static vec3 edge_direction(const builder *b, int32_t edge) {
    const solid_edge *e = &solid_edges(b->in->solid)[edge];
    return vec3_unit(
        vec3_sub(solid_position(b->in->solid, e->vertex[1]), solid_position(b->in->solid, e->vertex[0])));
}

static bool split_edges(builder *b, const build_cut *cut, const build_region *region, int_array *in_plane) {
    const abut_context *context = b->in->context;
    for (int64_t k = 0; k < region->edges; k++) {
        int32_t number = b->lists.data[region->first + region->pieces + k];
        build_edge e = b->edges.data[number];
        int sa = build_side(b, cut, e.a), sb = build_side(b, cut, e.b);
        if (sa == 0 && sb == 0) {
            /* an end of an edge that crosses the plane, cut off within the weld distance, is a point of it */
            bool crumb = fabs(vec3_dot(cut->p.n, edge_direction(b, e.edge))) > 0.5;
            if (crumb ? e.a >= b->in->solid->vertex_count && !array_push(context, &b->section_points, e.a)
                      : !array_push(context, in_plane, number))
                return out_of_memory(b);
        } else if (sa * sb >= 0) {
            if (!array_push(context, sa + sb > 0 ? &b->above[1] : &b->below[1], number))
                return out_of_memory(b);
        } else {
            bool fresh;
            int32_t x = crossing(b, cut, e.a, e.b, e.edge, -1, &fresh);
            build_edge part[2] = {{e.a, x, e.edge}, {x, e.b, e.edge}};
            if (x < 0 || !array_push(context, &b->section_points, x)) return out_of_memory(b);
            for (int i = 0; i < 2; i++) {
                if (!array_push(context, &b->edges, part[i])) return out_of_memory(b);
                bool up = (i == 0 ? sa : sb) > 0;
                if (!array_push(context, up ? &b->above[1] : &b->below[1], (int)(b->edges.count - 1)))
                    return out_of_memory(b);
            }
        }
    }
    return true;
}

static bool split_vertices(builder *b, const build_cut *cut, const build_region *region) {
    for (int64_t k = 0; k < region->vertices; k++) {
        int32_t v = b->lists.data[region->first + region->pieces + region->edges + k];
        int s = build_side(b, cut, v);
        bool good = s == 0 ? array_push(b->in->context, &b->section_points, v)
                           : array_push(b->in->context, s > 0 ? &b->above[2] : &b->below[2], v);
        if (!good) return out_of_memory(b);
    }
    return true;
}

/* ---- one region */
static bool push_region(builder *b, const build_region *parent, int32_t node, int slot, const build_cut *cut,
                        bool regular, const int_array list[3]) {
    build_region r = {.parent = node,
                      .slot = slot,
                      .depth = parent->depth + 1,
                      .cuts = parent->cuts + regular,
                      .first = b->lists.count,
                      .pieces = list[0].count,
                      .edges = list[1].count,
                      .vertices = list[2].count,
                      .bounds = parent->bounds};
    double *corner = slot == INDEX_ABOVE ? &r.bounds.lower.x : &r.bounds.upper.x;
    if (cut->axis >= 0) corner[cut->axis] = cut->p.d;
    if (!array_reserve(b->in->context, &b->lists, b->lists.count + r.pieces + r.edges + r.vertices))
        return out_of_memory(b);
    for (int k = 0; k < 3; k++) {
        if (list[k].count)
            memcpy(b->lists.data + b->lists.count, list[k].data, (size_t)list[k].count * sizeof(int32_t));
        b->lists.count += list[k].count;
    }
    return array_push(b->in->context, &b->pending, r) || out_of_memory(b);
}

/* A side without faces is a leaf: outside or inside as the face in the cut plane says; where there is none (a
 * regular cut beside the solid) it is found later from a point of the empty box. */
static bool close_side(builder *b, const build_region *region, int32_t node, int slot, const build_cut *cut,
                       const cover *c) {
    bool above = slot == INDEX_ABOVE;
    b->nodes.data[node].child[slot] = c->face < 0                 ? INDEX_UNKNOWN
                                      : above == c->outside_above ? INDEX_OUT
                                                                  : INDEX_IN;
    if (c->face >= 0) return true;
    box r = region->bounds;
    double *corner = above ? &r.lower.x : &r.upper.x;
    if (cut->axis >= 0) corner[cut->axis] = cut->p.d;
    build_hole hole = {node, slot, box_center(r)};
    return array_push(b->in->context, &b->holes, hole) || out_of_memory(b);
}

static bool divide(builder *b, build_region region) {
    const abut_context *context = b->in->context;
    if (b->nodes.count >= b->budget) return b->status = ABUT_BUDGET, false;
    const int32_t *pieces = b->lists.data + region.first;
    build_cut cut;
    bool regular = false;
    if (!choose_cut(b, &region, pieces, pieces + region.pieces, &cut, &regular)) return false;

    int32_t node = (int32_t)b->nodes.count;
    index_node fresh = {.cut = cut.p, .child = {0, INDEX_UNKNOWN, 0}, .dimension = 3};
    if (!array_push(context, &b->nodes, fresh)) return out_of_memory(b);
    if (region.parent >= 0) b->nodes.data[region.parent].child[region.slot] = node;

    build_section section = {.node = node,
                             .first_segment = (int32_t)b->segments.count,
                             .first_point = (int32_t)b->section_points.count,
                             .label = INDEX_UNKNOWN};
    section.witness = box_center(region.bounds);
    if (cut.axis >= 0) (&section.witness.x)[cut.axis] = cut.p.d;
    for (int k = 0; k < 3; k++) b->above[k].count = b->below[k].count = 0;
    b->flats.count = 0, b->crossing_count = 0, b->stamp++;

    cover c = {.face = -1};
    int_array in_plane = {0};
    bool good = split_edges(b, &cut, &region, &in_plane) && split_vertices(b, &cut, &region) &&
                split_pieces(b, &cut, &region, &c);
    for (int64_t i = 0; good && i < in_plane.count; i++)
        good = add_edge_segment(b, &cut, &b->edges.data[in_plane.data[i]]);
    array_free(context, &in_plane);
    if (!good) return false;

    section.segments = (int32_t)(b->segments.count - section.first_segment);
    section.points = (int32_t)(b->section_points.count - section.first_point);
    if (c.face >= 0) section.label = index_leaf(INDEX_FACE, c.face);
    if (!array_push(context, &b->sections, section)) return out_of_memory(b);

    b->lists.count = region.first; /* the region's own lists are done with */
    const int_array *side[3] = {b->above, NULL, b->below};
    for (int slot = 0; slot < 3; slot += 2) {
        good = side[slot][0].count ? push_region(b, &region, node, slot, &cut, regular, side[slot])
                                   : close_side(b, &region, node, slot, &cut, &c);
        if (!good) return false;
    }
    return true;
}

bool build_space(builder *b, int64_t task_size, build_take *take, void *user) {
    while (b->pending.count) {
        build_region region = b->pending.data[--b->pending.count];
        if (take && region.pieces <= task_size) {
            if (!take(user, b, &region)) return false;
            b->lists.count = region.first;
        } else if (!divide(b, region)) {
            return false;
        }
    }
    return true;
}
