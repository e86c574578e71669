#include "oracle.h"

#include <stdlib.h>

static vec3 corner(const abut_solid *s, int32_t coedge) {
    return solid_position(s, solid_coedges(s)[coedge].vertex);
}

/* ---- the grid over y, z */
static int cell_of(const oracle *o, double value, double lower, double upper) {
    int c = (int)((value - lower) / (upper - lower) * o->cells);
    return c < 0 ? 0 : c >= o->cells ? o->cells - 1 : c;
}

static void cell_range(const oracle *o, const oracle_triangle *t, int range[4]) {
    box r = box_add_point(box_add_point(box_add_point(box_empty(), t->a), t->b), t->c);
    range[0] = cell_of(o, r.lower.y, o->bounds.lower.y, o->bounds.upper.y);
    range[1] = cell_of(o, r.upper.y, o->bounds.lower.y, o->bounds.upper.y);
    range[2] = cell_of(o, r.lower.z, o->bounds.lower.z, o->bounds.upper.z);
    range[3] = cell_of(o, r.upper.z, o->bounds.lower.z, o->bounds.upper.z);
}

oracle oracle_make(const abut_solid *s) {
    oracle o = {.solid = s, .bounds = box_empty()};
    const solid_coedge *coedges = solid_coedges(s);
    o.triangles = malloc((size_t)s->coedge_count * sizeof *o.triangles);
    for (int64_t l = 0; l < s->loop_count; l++) {
        const solid_loop *loop = &solid_loops(s)[l];
        int32_t c = coedges[loop->coedge].next;
        for (int32_t k = 0; k + 2 < loop->count; k++, c = coedges[c].next)
            o.triangles[o.count++] = (oracle_triangle){corner(s, loop->coedge), corner(s, c),
                                                       corner(s, coedges[c].next), loop->face};
    }
    for (int32_t v = 0; v < s->vertex_count; v++) o.bounds = box_add_point(o.bounds, solid_position(s, v));
    o.cells = 1;
    while (o.cells < 512 && o.cells * o.cells < o.count) o.cells *= 2;
    size_t n = (size_t)o.cells * (size_t)o.cells;
    o.start = calloc(n + 1, sizeof *o.start);
    int range[4];
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t t = 0; t < o.count; t++) {
            cell_range(&o, &o.triangles[t], range);
            for (int i = range[0]; i <= range[1]; i++)
                for (int j = range[2]; j <= range[3]; j++) {
                    int64_t *at = &o.start[i * o.cells + j];
                    if (pass == 0)
                        ++*at;
                    else
                        o.list[--*at] = (int32_t)t;
                }
        }
        if (pass == 0) {
            for (size_t i = 1; i <= n; i++) o.start[i] += o.start[i - 1];
            o.list = malloc((size_t)(o.start[n] + 1) * sizeof *o.list);
        }
    }
    return o;
}

void oracle_free(oracle *o) { free(o->triangles), free(o->start), free(o->list); }

bool oracle_winding(const oracle *o, vec3 x, int *winding) {
    *winding = 0;
    if (x.y < o->bounds.lower.y || x.y > o->bounds.upper.y || x.z < o->bounds.lower.z ||
        x.z > o->bounds.upper.z)
        return true;
    int64_t cell = (int64_t)cell_of(o, x.y, o->bounds.lower.y, o->bounds.upper.y) * o->cells +
                   cell_of(o, x.z, o->bounds.lower.z, o->bounds.upper.z);
    for (int64_t i = o->start[cell]; i < o->start[cell + 1]; i++) {
        const oracle_triangle *t = &o->triangles[o->list[i]];
        int s0 = orient2d(t->a.y, t->a.z, t->b.y, t->b.z, x.y, x.z),
            s1 = orient2d(t->b.y, t->b.z, t->c.y, t->c.z, x.y, x.z),
            s2 = orient2d(t->c.y, t->c.z, t->a.y, t->a.z, x.y, x.z);
        if (s0 * s1 < 0 || s1 * s2 < 0 || s0 * s2 < 0) continue;
        if (s0 == 0 || s1 == 0 || s2 == 0) return false;
        int side = orient3d(t->a, t->b, t->c, x);
        if (side == 0) return false;
        /* counter-clockwise in (y, z) means that the normal points to +x: the ray leaves through it from
         * below */
        if (s0 > 0 && side < 0) ++*winding;
        if (s0 < 0 && side > 0) --*winding;
    }
    return true;
}

bool oracle_crossings(const oracle *o, vec3 from, vec3 to, int *count) {
    box r = box_add_point(box_add_point(box_empty(), from), to);
    *count = 0;
    for (int64_t i = 0; i < o->count; i++) {
        const oracle_triangle *t = &o->triangles[i];
        if (fmin(t->a.x, fmin(t->b.x, t->c.x)) > r.upper.x ||
            fmax(t->a.x, fmax(t->b.x, t->c.x)) < r.lower.x ||
            fmin(t->a.y, fmin(t->b.y, t->c.y)) > r.upper.y ||
            fmax(t->a.y, fmax(t->b.y, t->c.y)) < r.lower.y ||
            fmin(t->a.z, fmin(t->b.z, t->c.z)) > r.upper.z || fmax(t->a.z, fmax(t->b.z, t->c.z)) < r.lower.z)
            continue;
        int d0 = orient3d(t->a, t->b, t->c, from), d1 = orient3d(t->a, t->b, t->c, to);
        if (d0 == 0 || d1 == 0) return false;
        if (d0 == d1) continue;
        int s0 = orient3d(from, to, t->a, t->b), s1 = orient3d(from, to, t->b, t->c),
            s2 = orient3d(from, to, t->c, t->a);
        if (s0 == 0 || s1 == 0 || s2 == 0) return false;
        if (s0 == s1 && s1 == s2) ++*count;
    }
    return true;
}

/* ---- distances */
static double edge_distance(const abut_solid *s, int32_t edge, vec3 x) {
    vec3 a = solid_position(s, solid_edges(s)[edge].vertex[0]),
         b = solid_position(s, solid_edges(s)[edge].vertex[1]);
    vec3 w = vec3_sub(b, a);
    double t = vec3_dot(vec3_sub(x, a), w) / vec3_dot(w, w);
    return vec3_distance(x, vec3_axpy(a, fmin(1, fmax(0, t)), w));
}

/* INFINITY when the foot of x is not on the face: then its border is nearer.  By the turning of the loops
 * about the foot, seen along the normal. */
static double face_distance(const abut_solid *s, int32_t face, vec3 x) {
    const solid_face *f = &solid_faces(s)[face];
    vec3 u = vec3_orthogonal(f->plane.n), v = vec3_cross(f->plane.n, u);
    double turns = 0;
    for (int32_t l = 0; l < f->loops; l++) {
        const solid_loop *loop = &solid_loops(s)[f->first_loop + l];
        int32_t c = loop->coedge;
        for (int32_t k = 0; k < loop->count; k++, c = solid_coedges(s)[c].next) {
            vec3 p = vec3_sub(corner(s, c), x), q = vec3_sub(corner(s, solid_coedges(s)[c].next), x);
            double px = vec3_dot(p, u), py = vec3_dot(p, v), qx = vec3_dot(q, u), qy = vec3_dot(q, v);
            turns += atan2(px * qy - py * qx, px * qx + py * qy);
        }
    }
    return turns > 3 ? fabs(plane_distance(f->plane, x)) : INFINITY;
}

double oracle_distance(const abut_solid *s, abut_place place, vec3 x) {
    if (place.kind == ABUT_ON_VERTEX) return vec3_distance(x, solid_position(s, place.id));
    if (place.kind == ABUT_ON_EDGE) return edge_distance(s, place.id, x);
    return place.kind == ABUT_ON_FACE ? face_distance(s, place.id, x) : INFINITY;
}

abut_place oracle_place(const abut_solid *s, vec3 x, double epsilon, double *margin) {
    abut_place best = {ABUT_OUTSIDE, -1};
    int64_t counts[3] = {s->vertex_count, s->edge_count, s->face_count};
    double nearest = INFINITY;
    *margin = INFINITY;
    for (int kind = 2; kind >= 0; kind--) { /* the lowest dimension has the last word */
        nearest = INFINITY;
        for (int32_t id = 0; id < counts[kind]; id++) {
            abut_place place = {(abut_place_kind)(ABUT_ON_VERTEX + kind), id};
            double d = oracle_distance(s, place, x);
            *margin = fmin(*margin, fabs(d - epsilon));
            if (d <= epsilon && d < nearest) nearest = d, best = place;
        }
    }
    return best;
}

/* ---- solids */
abut_solid *oracle_load(const char *path) {
    abut_solid *solid = NULL;
    abut_solid_options options = abut_default_solid_options();
    options.skip_self_intersection = true;
    return abut_solid_load(NULL, path, &options, &solid, NULL) == ABUT_OK ? solid : NULL;
}

abut_index *oracle_build(const abut_solid *solid, abut_index_method method) {
    abut_index_options options = abut_default_index_options();
    options.method = method;
    abut_index *index = NULL;
    abut_error error = {0};
    if (abut_index_build(NULL, solid, &options, &index, &error) != ABUT_OK) fail_msg("%s", error.message);
    if (index_validate(index, &error) != ABUT_OK) fail_msg("%s", error.message);
    return index;
}

/* ---- checks */
static void expect(const abut_index *index, const abut_solid *solid, vec3 x, double epsilon,
                   abut_place_kind kind, int32_t id, const char *file) {
    abut_place place = index_classify_point(index, solid, x, epsilon);
    if (place.kind != kind || place.id != id)
        fail_msg("%s: (%.17g %.17g %.17g) is %s %d, not %s %d", file, x.x, x.y, x.z,
                 abut_place_kind_name(place.kind), (int)place.id, abut_place_kind_name(kind), (int)id);
}

/* A point of the face, as far from its border as any of some tries: centroids of fan triangles and of their
 * corners' neighbourhoods. */
static vec3 face_point(const abut_solid *s, int32_t face, double *room) {
    const solid_face *f = &solid_faces(s)[face];
    const solid_coedge *coedges = solid_coedges(s);
    vec3 best = {0, 0, 0};
    *room = -1;
    int32_t c = solid_loops(s)[f->first_loop].coedge, count = solid_loops(s)[f->first_loop].count;
    for (int32_t k = 0; k < count && k < 40; k++, c = coedges[c].next) {
        vec3 a = solid_position(s, coedges[coedges[c].prev].vertex), b = solid_position(s, coedges[c].vertex),
             d = solid_position(s, coedges[coedges[c].next].vertex);
        for (int step = 1; step <= 3; step++) {
            vec3 x = vec3_lerp(b, vec3_scale(vec3_add(a, d), 0.5),
                               step == 3   ? 2.0 / 3
                               : step == 2 ? 0.2
                                           : 0.02);
            x = vec3_axpy(x, -plane_distance(f->plane, x), f->plane.n);
            if (oracle_distance(s, (abut_place){ABUT_ON_FACE, face}, x) > 1) continue;
            double least = INFINITY;
            for (int32_t l = 0; l < f->loops; l++) {
                const solid_loop *loop = &solid_loops(s)[f->first_loop + l];
                int32_t e = loop->coedge;
                for (int32_t i = 0; i < loop->count; i++, e = coedges[e].next)
                    least = fmin(least, oracle_distance(s, (abut_place){ABUT_ON_EDGE, coedges[e].edge}, x));
            }
            if (least > *room) *room = least, best = x;
        }
        if (count == 3) break;
    }
    return best;
}

void oracle_check_entities(const abut_solid *s, const abut_index *index, const char *file) {
    double epsilon = s->epsilon;
    for (int32_t v = 0; v < s->vertex_count; v++)
        expect(index, s, solid_position(s, v), epsilon, ABUT_ON_VERTEX, v, file);
    for (int32_t e = 0; e < s->edge_count; e++) {
        vec3 a = solid_position(s, solid_edges(s)[e].vertex[0]),
             b = solid_position(s, solid_edges(s)[e].vertex[1]);
        expect(index, s, vec3_lerp(a, b, 0.5), epsilon, ABUT_ON_EDGE, e, file);
    }
    for (int32_t f = 0; f < s->face_count; f++) {
        double room;
        vec3 x = face_point(s, f, &room);
        if (room > 2 * epsilon)
            expect(index, s, x, epsilon, ABUT_ON_FACE, f, file);
        else
            print_message("%s: face %d has no room for a point\n", file, (int)f);
    }
}

void oracle_check_points(const abut_solid *s, const abut_index *index, int64_t count, const char *file) {
    oracle o = oracle_make(s);
    uint64_t seed = 17;
    vec3 size = vec3_scale(vec3_sub(o.bounds.upper, o.bounds.lower), 0.6), middle = box_center(o.bounds);
    vec3 *points = malloc((size_t)count * sizeof *points);
    abut_place *places = malloc((size_t)count * sizeof *places);
    for (int64_t i = 0; i < count; i++) {
        vec3 u = support_vec(&seed, 1);
        points[i] = vec3_add(middle, (vec3){u.x * size.x, u.y * size.y, u.z * size.z});
        if (i % 4 == 0) { /* near the boundary, on both sides */
            const oracle_triangle *t = &o.triangles[random_bits(&seed) % (uint64_t)o.count];
            vec3 on = vec3_lerp(vec3_lerp(t->a, t->b, random_unit(&seed)), t->c, random_unit(&seed));
            points[i] =
                vec3_axpy(on, s->diagonal * 1e-4 * random_range(&seed, -1, 1), support_direction(&seed));
        }
        places[i] = index_classify_point(index, s, points[i], s->epsilon);
    }
    /* the batch gives the same, in shape coordinates */
    for (int64_t i = 0; i < count; i++) points[i] = vec3_add(points[i], s->origin);
    abut_place *batch = malloc((size_t)count * sizeof *batch);
    abut_index_points(index, s, points, count, s->epsilon, batch);
    int64_t on = 0, unsure = 0;
    for (int64_t i = 0; i < count; i++) {
        vec3 x = vec3_sub(points[i], s->origin);
        if (vec3_length2(s->origin) == 0)
            assert_true(batch[i].kind == places[i].kind && batch[i].id == places[i].id);
        int winding;
        if (batch[i].kind >= ABUT_ON_VERTEX) {
            if (oracle_distance(s, batch[i], x) > s->epsilon * (1 + 1e-9))
                fail_msg("%s: not that near", file);
            on++;
        } else if (!oracle_winding(&o, x, &winding)) {
            unsure++;
        } else if ((winding > 0) != (batch[i].kind == ABUT_INSIDE)) {
            double margin;
            abut_place place = oracle_place(s, x, s->epsilon, &margin);
            fail_msg("%s: (%.17g %.17g %.17g) has winding number %d but is %s; by distances %s %d", file, x.x,
                     x.y, x.z, winding, abut_place_kind_name(batch[i].kind), abut_place_kind_name(place.kind),
                     (int)place.id);
        }
    }
    if (unsure * 10 > count || on * 4 > count) fail_msg("%s: %d unsure, %d on", file, (int)unsure, (int)on);
    free(points), free(places), free(batch);
    oracle_free(&o);
}

/* A vertex, a point of an edge, or one anywhere in the box, in shape coordinates. */
static vec3 some_point(const abut_solid *s, int kind, uint64_t *seed) {
    const solid_edge *e = &solid_edges(s)[random_bits(seed) % (uint64_t)s->edge_count];
    vec3 a = solid_position(s, e->vertex[0]), b = solid_position(s, e->vertex[1]);
    vec3 x = kind == 0   ? a
             : kind == 1 ? vec3_lerp(a, b, random_range(seed, 0.1, 0.9))
                         : support_vec(seed, s->diagonal / 2);
    return vec3_add(x, s->origin);
}

void oracle_check_motions(const abut_solid *s, const abut_index *index, const char *file) {
    uint64_t seed = 61;
    for (int i = 0; i < 100; i++) {
        pose p = support_pose(&seed, 10 * s->diagonal);
        for (int k = 0; k < 60; k++) {
            vec3 x = some_point(s, k % 3, &seed), back = pose_unpoint(p, pose_point(p, x));
            abut_place a = abut_index_point(index, s, x, s->epsilon),
                       b = abut_index_point(index, s, back, s->epsilon);
            if (a.kind == b.kind && a.id == b.id) continue;
            double margin; /* it may be no farther from a decision than it was moved */
            oracle_place(s, vec3_sub(x, s->origin), s->epsilon, &margin);
            if (margin > 2 * vec3_distance(x, back) + 1e-14 * s->diagonal)
                fail_msg("%s: %s %d, moved and back %s %d", file, abut_place_kind_name(a.kind), (int)a.id,
                         abut_place_kind_name(b.kind), (int)b.id);
        }
    }
}

static void check_segment(const abut_solid *s, const abut_index *index, const oracle *o, vec3 a, vec3 b,
                          bool count_all, const char *file) {
    static abut_run runs[4096];
    int count = index_classify_segment(index, s, a, b, s->epsilon, runs, 4096);
    assert_in_range(count, 1, 4096);
    int faces = 0, other = 0;
    for (int i = 0; i < count; i++) {
        const abut_run *r = &runs[i];
        if (i) assert_false(r->place.kind == runs[i - 1].place.kind && r->place.id == runs[i - 1].place.id);
        assert_true(r->at[0] <= r->at[1] && r->at[0] >= 0 && r->at[1] <= 1);
        if (i)
            assert_true(fabs(r->at[0] - runs[i - 1].at[1]) < 200 * s->epsilon / vec3_distance(a, b) + 1e-9);
        vec3 middle = vec3_lerp(a, b, (r->at[0] + r->at[1]) / 2);
        if (r->place.kind >= ABUT_ON_VERTEX) {
            faces += r->place.kind == ABUT_ON_FACE, other += r->place.kind != ABUT_ON_FACE;
            if (!(oracle_distance(s, r->place, middle) <= s->epsilon * 1.0001))
                fail_msg("%s: a crossing that is none", file);
        } else {
            int winding;
            double room = (r->at[1] - r->at[0]) * vec3_distance(a, b);
            if (room < 4 * s->epsilon || !oracle_winding(o, middle, &winding)) continue;
            if ((winding > 0) != (r->place.kind == ABUT_INSIDE))
                fail_msg("%s: wrong between crossings", file);
        }
    }
    int crossings;
    bool ends = runs[0].place.kind >= ABUT_ON_VERTEX || runs[count - 1].place.kind >= ABUT_ON_VERTEX;
    if (count_all && other == 0 && !ends && oracle_crossings(o, a, b, &crossings) && crossings != faces)
        fail_msg("%s: %d crossings, %d found, from %.17g %.17g %.17g to %.17g %.17g %.17g", file, crossings,
                 faces, a.x, a.y, a.z, b.x, b.y, b.z);
}

static bool has_only_convex_faces(const abut_solid *s) {
    for (int32_t f = 0; f < s->face_count; f++)
        if (solid_faces(s)[f].loops > 1 || solid_loops(s)[solid_faces(s)[f].first_loop].count > 4)
            return false;
    return true;
}

void oracle_check_segments(const abut_solid *s, const abut_index *index, int count, int counted,
                           const char *file) {
    oracle o = oracle_make(s);
    uint64_t seed = 41;
    vec3 size = vec3_scale(vec3_sub(o.bounds.upper, o.bounds.lower), 0.6), middle = box_center(o.bounds);
    bool convex = has_only_convex_faces(s);
    for (int i = 0; i < count; i++) {
        vec3 u = support_vec(&seed, 1), v = support_vec(&seed, 1);
        vec3 a = vec3_add(middle, (vec3){u.x * size.x, u.y * size.y, u.z * size.z});
        vec3 b = vec3_add(middle, (vec3){v.x * size.x, v.y * size.y, v.z * size.z});
        check_segment(s, index, &o, a, b, convex && i < counted, file);
    }
    oracle_free(&o);
}
