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
abut_solid *oracle_solid(const vec3 *points, int point_count, const int *corners, const int *counts,
                         int face_count) {
    int64_t *start = malloc(((size_t)face_count + 1) * sizeof *start);
    start[0] = 0;
    for (int f = 0; f < face_count; f++) start[f + 1] = start[f] + counts[f];
    abut_mesh mesh = {.points = (vec3 *)points,
                      .point_count = point_count,
                      .corners = (int *)corners,
                      .face_start = start,
                      .face_count = face_count,
                      .corner_count = start[face_count]};
    abut_solid *solid = NULL;
    abut_error error = {0};
    if (abut_solid_build(NULL, &mesh, NULL, &solid, &error) != ABUT_OK) print_message("%s\n", error.message);
    free(start);
    return solid;
}

abut_solid *oracle_load(const char *path) {
    abut_solid *solid = NULL;
    abut_solid_options options = abut_default_solid_options();
    options.skip_self_intersection = true;
    return abut_solid_load(NULL, path, &options, &solid, NULL) == ABUT_OK ? solid : NULL;
}
