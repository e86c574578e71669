/* Which plane cuts a region (Vanecek 1990, section 5; ROBUSTNESS points 16 to 19).
 *
 * first          the paper's: while the region holds more than `crowd` faces the middle of its box, axes z,
 * y, x in turn; then the first face autopartition  the first face, always hybrid         while crowded, an
 * axis plane through a vertex near the median; then the cheapest of all face planes, axis planes through
 * vertices and bisectors of edges: cost = SPLIT splits + |above - below| - COPLANAR coplanar + FREE if the
 * plane holds no face
 */
#include "index/build.h"

enum { TRIES = 24 };
static const double SPLIT = 8, COPLANAR = 3, FREE = 2;

static build_cut face_cut(const builder *b, int32_t piece) {
    const solid_face *face = &solid_faces(b->in->solid)[b->pieces.data[piece].face];
    plane p = solid_planes(b->in->solid)[face->plane_id];
    return (build_cut){face->plane_sign < 0 ? plane_flip(p) : p, face->plane_id, -1};
}

static build_cut axis_cut(int axis, double at) {
    vec3 n = {axis == 0, axis == 1, axis == 2};
    return (build_cut){{n, at}, -1, axis};
}

/* How a plane would divide the region. */
typedef struct tally {
    int64_t above, below, across, on;
} tally;

static double price(tally t, bool holds_face) {
    return SPLIT * (double)t.across + fabs((double)(t.above - t.below)) - COPLANAR * (double)t.on +
           (holds_face ? 0 : FREE);
}
/* A plane without a face in it must leave less on both sides. */
static bool is_useful(tally t, int64_t pieces) {
    int64_t most = t.across + (t.above > t.below ? t.above : t.below);
    int64_t least = t.across + (t.above < t.below ? t.above : t.below);
    return least > 0 && (pieces > 64 ? 20 * most < 17 * pieces : most < pieces);
}

static tally tally_plane(const builder *b, const build_cut *cut, const int32_t *pieces, int64_t count) {
    tally t = {0};
    for (int64_t k = 0; k < count; k++) {
        build_piece piece = b->pieces.data[pieces[k]];
        int plus = 0, minus = 0;
        if (cut->id < 0 || solid_faces(b->in->solid)[piece.face].plane_id != cut->id)
            for (int i = 0; i < piece.count && !(plus && minus); i++) {
                int s = build_side(b, cut, b->corners.data[piece.first + i].point);
                plus |= s > 0, minus |= s < 0;
            }
        t.across += plus && minus, t.above += plus && !minus, t.below += minus && !plus,
            t.on += !plus && !minus;
    }
    return t;
}

/* The same for an axis plane, from the extents of the pieces along the axis. */
static tally tally_axis(const double *extents, int64_t count, double at, double weld) {
    tally t = {0};
    for (int64_t k = 0; k < count; k++) {
        bool plus = extents[2 * k + 1] > at + weld, minus = extents[2 * k] < at - weld;
        t.across += plus && minus, t.above += plus && !minus, t.below += minus && !plus,
            t.on += !plus && !minus;
    }
    return t;
}

typedef struct choice {
    double cost;
    build_cut cut;
    bool found, regular;
} choice;

static void offer(choice *best, double cost, build_cut cut, bool regular) {
    if (best->found && cost >= best->cost) return;
    *best = (choice){cost, cut, true, regular};
}

/* extents[axis]: lowest and highest coordinate of each piece. */
static bool measure(builder *b, const int32_t *pieces, int64_t count, double *extents[3]) {
    if (!array_reserve(b->in->context, &b->numbers, 6 * count + 256)) return out_of_memory(b);
    for (int axis = 0; axis < 3; axis++) extents[axis] = b->numbers.data + 2 * count * axis;
    for (int64_t k = 0; k < count; k++) {
        build_piece piece = b->pieces.data[pieces[k]];
        box r = box_empty();
        for (int i = 0; i < piece.count; i++)
            r = box_add_point(r, point_at(b, b->corners.data[piece.first + i].point)->x);
        for (int axis = 0; axis < 3; axis++)
            extents[axis][2 * k] = vec3_at(r.lower, axis), extents[axis][2 * k + 1] = vec3_at(r.upper, axis);
    }
    return true;
}

static void sort_numbers(double *x, int count) {
    for (int i = 1; i < count; i++) {
        double v = x[i];
        int j = i;
        for (; j > 0 && x[j - 1] > v; j--) x[j] = x[j - 1];
        x[j] = v;
    }
}

/* Half the surface of a box: how likely a random line that meets the whole also meets it. */
static double half_surface(box r) {
    vec3 d = vec3_sub(r.upper, r.lower);
    return d.x * d.y + d.y * d.z + d.z * d.x;
}

/* For a crowd the expected number of pieces that a line meets, one side after the other (surface area
 * heuristic). */
static double crowd_price(tally t, box region, int axis, double at) {
    box lower = region, upper = region;
    (&lower.upper.x)[axis] = at, (&upper.lower.x)[axis] = at;
    double below = (double)(t.below + t.across), above = (double)(t.above + t.across);
    return (half_surface(lower) * below + half_surface(upper) * above) / half_surface(region) +
           (double)t.across;
}

/* Axis planes through the ends of pieces: some of a crowd, all of a small group. */
static void offer_axes(const builder *b, const build_region *region, double *extents[3], bool crowded,
                       choice *best) {
    enum { SAMPLES = 64 };
    double sample[2 * SAMPLES];
    int64_t count = region->pieces, step = count > SAMPLES ? count / SAMPLES : 1;
    for (int axis = 0; axis < 3; axis++) {
        int n = 0;
        for (int64_t k = 0; k < count && n < 2 * SAMPLES; k += step) {
            sample[n++] = extents[axis][2 * k];
            sample[n++] = extents[axis][2 * k + 1];
        }
        sort_numbers(sample, n);
        int stride = count > SAMPLES ? n / TRIES : 1;
        double last = -INFINITY;
        for (int i = stride / 2; i < n; i += stride) {
            if (sample[i] <= last + b->in->weld) continue;
            last = sample[i];
            tally t = tally_axis(extents[axis], count, last, b->in->weld);
            if (!is_useful(t, count)) continue;
            offer(best, crowded ? crowd_price(t, region->bounds, axis, last) : price(t, t.on > 0),
                  axis_cut(axis, last), true);
        }
    }
}

/* The planes of the faces; of a crowd only some. */
static void offer_faces(const builder *b, const int32_t *pieces, int64_t count, choice *best) {
    int64_t step = count > 32 ? count / 16 : 1;
    for (int64_t k = 0; k < count; k += step) {
        build_cut cut = face_cut(b, pieces[k]);
        bool seen = false;
        for (int64_t i = 0; i < k && !seen && step == 1; i++)
            seen = solid_faces(b->in->solid)[b->pieces.data[pieces[i]].face].plane_id == cut.id;
        if (!seen) offer(best, price(tally_plane(b, &cut, pieces, count), true), cut, false);
    }
}

/* Planes through an edge that halve the angle between its faces: on a convex part they split least. */
static void offer_bisectors(const builder *b, const build_region *region, const int32_t *pieces,
                            const int32_t *edges, choice *best) {
    const abut_solid *solid = b->in->solid;
    for (int64_t k = 0; k < region->edges; k++) {
        const solid_edge *e = &solid_edges(solid)[b->edges.data[edges[k]].edge];
        vec3 a = solid_position(solid, e->vertex[0]),
             along = vec3_sub(solid_position(solid, e->vertex[1]), a);
        vec3 n0 = solid_faces(solid)[solid_coedges(solid)[e->coedge[0]].face].plane.n;
        vec3 n1 = solid_faces(solid)[solid_coedges(solid)[e->coedge[1]].face].plane.n;
        vec3 n = vec3_unit(vec3_cross(along, vec3_add(n0, n1)));
        if (vec3_length2(n) < 0.5) continue;
        build_cut cut = {{n, vec3_dot(n, a)}, -1, -1};
        tally t = tally_plane(b, &cut, pieces, region->pieces);
        if (is_useful(t, region->pieces)) offer(best, price(t, false), cut, true);
    }
}

bool choose_cut(builder *b, const build_region *region, const int32_t *pieces, const int32_t *edges,
                build_cut *cut, bool *regular) {
    bool crowded = region->pieces > b->in->crowd && region->cuts < b->in->regular_cap;
    if (b->in->method == ABUT_INDEX_FIRST && crowded) {
        int axis = 2 - region->cuts % 3;
        *cut =
            axis_cut(axis, (vec3_at(region->bounds.lower, axis) + vec3_at(region->bounds.upper, axis)) / 2);
        return *regular = true;
    }
    choice best = {0};
    if (b->in->method != ABUT_INDEX_HYBRID) {
        best = (choice){0, face_cut(b, pieces[0]), true, false};
    } else {
        double *extents[3];
        if (region->cuts < b->in->regular_cap) {
            if (!measure(b, pieces, region->pieces, extents)) return false;
            offer_axes(b, region, extents, crowded, &best);
        }
        if (!crowded || !best.found) {
            offer_faces(b, pieces, region->pieces, &best);
            if (region->cuts < b->in->regular_cap) offer_bisectors(b, region, pieces, edges, &best);
        }
    }
    *cut = best.cut, *regular = best.regular;
    return true;
}
