/* Convexity of edges, and the smallest feature of a solid.
 *
 * Large faces are not compared all against all: their edges are entered in a plane grid of about as many
 * cells as edges, with cells not smaller than the least distance known, so a vertex finds all nearer edges in
 * the nine cells around it.
 */
#include "solid/features.h"

/* ---- convexity */

/* The vertex of the coedge's face that lies farthest to the left of the coedge's line, within the face. */
static vec3 leftmost(const abut_solid *s, int32_t coedge) {
    const solid_coedge *coedges = solid_coedges(s);
    const solid_face *face = &solid_faces(s)[coedges[coedge].face];
    vec3 from = solid_position(s, coedges[coedge].vertex);
    vec3 to = solid_position(s, coedges[coedges[coedge].next].vertex);
    vec3 left = vec3_cross(face->plane.n, vec3_sub(to, from)), best = to;
    double farthest = -INFINITY;
    for (int32_t l = face->first_loop; l < face->first_loop + face->loops; l++) {
        const solid_loop *loop = &solid_loops(s)[l];
        for (int32_t i = 0; i < loop->count; i++) {
            vec3 p = solid_position(s, coedges[loop->coedge + i].vertex);
            double distance = vec3_dot(left, vec3_sub(p, from));
            if (distance > farthest) farthest = distance, best = p;
        }
    }
    return best;
}

static bool is_triangle(const abut_solid *s, const solid_face *f) {
    return f->loops == 1 && solid_loops(s)[f->first_loop].count == 3;
}

/* Face A lies on the left of v0 v1.  The edge is reflex where B rises above the plane of A, that is
 * (nA x nB) . (v1 - v0) < 0.  Where that is small, or the faces are triangles, the sign comes exactly from
 * the ends of the edge and the leftmost vertices of both faces. */
int feature_convexity(const abut_solid *s, int32_t edge) {
    const solid_edge *e = &solid_edges(s)[edge];
    const solid_coedge *coedges = solid_coedges(s);
    const solid_face *a = &solid_faces(s)[coedges[e->coedge[0]].face];
    const solid_face *b = &solid_faces(s)[coedges[e->coedge[1]].face];
    if (a->plane_id == b->plane_id && a->plane_sign == b->plane_sign) return 0;
    vec3 v0 = solid_position(s, e->vertex[0]), v1 = solid_position(s, e->vertex[1]);
    if (!is_triangle(s, a) || !is_triangle(s, b)) {
        vec3 direction = vec3_sub(v1, v0);
        double turn = vec3_triple(direction, a->plane.n, b->plane.n);
        if (fabs(turn) > 1e-6 * vec3_length(direction)) return turn > 0 ? 1 : -1;
        return -orient3d(v0, v1, leftmost(s, e->coedge[0]), leftmost(s, e->coedge[1]));
    }
    vec3 p = solid_position(s, coedges[coedges[e->coedge[0]].prev].vertex);
    vec3 q = solid_position(s, coedges[coedges[e->coedge[1]].prev].vertex);
    return -orient3d(v0, v1, p, q);
}

/* ---- smallest feature */

static double segment_distance2(vec3 a, vec3 b, vec3 p) {
    vec3 ab = vec3_sub(b, a), ap = vec3_sub(p, a);
    double length2 = vec3_length2(ab);
    double t = length2 > 0 ? fmin(fmax(vec3_dot(ap, ab) / length2, 0), 1) : 0;
    return vec3_length2(vec3_axpy(ap, -t, ab));
}

static vec3 coedge_start(const abut_solid *s, int32_t c) {
    return solid_position(s, solid_coedges(s)[c].vertex);
}
static vec3 coedge_end(const abut_solid *s, int32_t c) {
    const solid_coedge *coedges = solid_coedges(s);
    return solid_position(s, coedges[coedges[c].next].vertex);
}

/* Lowers *best2 to the distance between the start of coedge v and coedge e, unless they share the vertex. */
static void measure(const abut_solid *s, int32_t v, int32_t e, double *best2) {
    const solid_coedge *coedges = solid_coedges(s);
    int32_t vertex = coedges[v].vertex;
    if (coedges[e].vertex == vertex || coedges[coedges[e].next].vertex == vertex) return;
    double d2 = segment_distance2(coedge_start(s, e), coedge_end(s, e), coedge_start(s, v));
    if (d2 < *best2) *best2 = d2;
}

/* The coedges of a face lie side by side: [first, first + count). */
static void measure_small_face(const abut_solid *s, int32_t first, int32_t count, double *best2) {
    for (int32_t v = first; v < first + count; v++)
        for (int32_t e = first; e < first + count; e++) measure(s, v, e, best2);
}

typedef struct face_grid {
    int axis[2]; /* the coordinates that are kept: the normal leans most along the third */
    double lower[2], cell;
    int size[2];
    int32_t *start, *edges; /* edges of cell k: edges[start[k]] .. edges[start[k+1]-1] */
    int64_t cells, entries;
} face_grid;

static int cell_of(const face_grid *g, int k, double x) {
    double i = floor((x - g->lower[k]) / g->cell);
    return i < 0 ? 0 : i >= g->size[k] ? g->size[k] - 1 : (int)i;
}

/* Calls for each cell that the edge passes: row by row, the columns of the part of the edge in that row. */
static void enter_edge(face_grid *g, const abut_solid *s, int32_t e, bool count_only) {
    vec3 a = coedge_start(s, e), b = coedge_end(s, e);
    double ax = vec3_at(a, g->axis[0]), ay = vec3_at(a, g->axis[1]);
    double bx = vec3_at(b, g->axis[0]), by = vec3_at(b, g->axis[1]);
    int row0 = cell_of(g, 1, fmin(ay, by)), row1 = cell_of(g, 1, fmax(ay, by));
    for (int row = row0; row <= row1; row++) {
        double t0 = 0, t1 = 1;
        if (row1 > row0) {
            double y0 = g->lower[1] + row * g->cell, y1 = y0 + g->cell;
            double u = (y0 - ay) / (by - ay), v = (y1 - ay) / (by - ay);
            t0 = fmax(0, fmin(u, v) - 1e-9), t1 = fmin(1, fmax(u, v) + 1e-9);
        }
        double x0 = ax + t0 * (bx - ax), x1 = ax + t1 * (bx - ax);
        int column0 = cell_of(g, 0, fmin(x0, x1)), column1 = cell_of(g, 0, fmax(x0, x1));
        for (int column = column0; column <= column1; column++) {
            int64_t cell = (int64_t)row * g->size[0] + column;
            if (count_only)
                g->start[cell + 2]++, g->entries++;
            else
                g->edges[g->start[cell + 1]++] = e;
        }
    }
}

static void shape_grid(face_grid *g, const abut_solid *s, vec3 n, int32_t first, int32_t count,
                       double least) {
    vec3 lean = vec3_abs(n);
    int drop = lean.x >= lean.y && lean.x >= lean.z ? 0 : lean.y >= lean.z ? 1 : 2;
    g->axis[0] = (drop + 1) % 3, g->axis[1] = (drop + 2) % 3;
    box b = box_empty();
    for (int32_t i = first; i < first + count; i++) b = box_add_point(b, coedge_start(s, i));
    double extent[2];
    for (int k = 0; k < 2; k++) {
        g->lower[k] = vec3_at(b.lower, g->axis[k]);
        extent[k] = vec3_at(b.upper, g->axis[k]) - g->lower[k];
    }
    g->cell = fmax(fmax(least, sqrt(extent[0] * extent[1] / count)), fmax(extent[0], extent[1]) / count);
    for (int k = 0; k < 2; k++) g->size[k] = 1 + (int)(extent[k] / g->cell);
    g->cells = (int64_t)g->size[0] * g->size[1];
}

static bool measure_large_face(const abut_context *context, const abut_solid *s, vec3 n, int32_t first,
                               int32_t count, double *best2) {
    face_grid g = {0};
    shape_grid(&g, s, n, first, count, sqrt(*best2));
    g.start = mem_calloc(context, (size_t)g.cells + 2, sizeof *g.start);
    if (!g.start) return false;
    for (int32_t e = first; e < first + count; e++) enter_edge(&g, s, e, true);
    for (int64_t k = 0; k < g.cells; k++) g.start[k + 2] += g.start[k + 1];
    g.edges = mem_alloc(context, (size_t)g.entries, sizeof *g.edges);
    for (int32_t e = first; g.edges && e < first + count; e++) enter_edge(&g, s, e, false);
    for (int32_t v = first; g.edges && v < first + count; v++) {
        vec3 p = coedge_start(s, v);
        int column = cell_of(&g, 0, vec3_at(p, g.axis[0])), row = cell_of(&g, 1, vec3_at(p, g.axis[1]));
        for (int y = row > 0 ? row - 1 : 0; y <= row + 1 && y < g.size[1]; y++)
            for (int x = column > 0 ? column - 1 : 0; x <= column + 1 && x < g.size[0]; x++) {
                int64_t cell = (int64_t)y * g.size[0] + x;
                for (int32_t i = g.start[cell]; i < g.start[cell + 1]; i++) measure(s, v, g.edges[i], best2);
            }
    }
    bool fine = g.edges != NULL;
    mem_free(context, g.edges, (size_t)g.entries, sizeof *g.edges);
    mem_free(context, g.start, (size_t)g.cells + 2, sizeof *g.start);
    return fine;
}

bool feature_of_face(const abut_context *context, const abut_solid *s, int32_t f, double *best2) {
    const solid_face *face = &solid_faces(s)[f];
    int32_t first = solid_loops(s)[face->first_loop].coedge, count = 0;
    for (int32_t l = 0; l < face->loops; l++) count += solid_loops(s)[face->first_loop + l].count;
    if (count > 64) return measure_large_face(context, s, face->plane.n, first, count, best2);
    if (count > 3) {
        measure_small_face(s, first, count, best2);
        return true;
    }
    /* the least height of a triangle is twice the area over the longest side */
    vec3 a = coedge_start(s, first), b = coedge_start(s, first + 1), c = coedge_start(s, first + 2);
    double longest2 =
        fmax(vec3_length2(vec3_sub(b, a)), fmax(vec3_length2(vec3_sub(c, b)), vec3_length2(vec3_sub(a, c))));
    double twice2 = vec3_length2(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
    *best2 = fmin(*best2, twice2 / longest2);
    return true;
}

bool feature_smallest(const abut_context *context, const abut_solid *s, double *smallest) {
    double best2 = INFINITY;
    for (int32_t e = 0; e < s->edge_count; e++) {
        const solid_edge *edge = &solid_edges(s)[e];
        vec3 d = vec3_sub(solid_position(s, edge->vertex[0]), solid_position(s, edge->vertex[1]));
        best2 = fmin(best2, vec3_length2(d));
    }
    for (int32_t f = 0; f < s->face_count; f++)
        if (!feature_of_face(context, s, f, &best2)) return false;
    *smallest = sqrt(best2);
    return true;
}

/* The largest distance of the corners of a face's outer loop from a plane. */
static double rise(const abut_solid *s, const solid_face *f, plane p) {
    const solid_loop *l = &solid_loops(s)[f->first_loop];
    double worst = 0;
    for (int32_t i = 0; i < l->count; i++)
        worst = fmax(worst, fabs(plane_distance(p, coedge_start(s, l->coedge + i))));
    return worst;
}

double feature_step(const abut_solid *s, int32_t edge) {
    const solid_edge *e = &solid_edges(s)[edge];
    const solid_face *a = &solid_faces(s)[solid_coedges(s)[e->coedge[0]].face];
    const solid_face *b = &solid_faces(s)[solid_coedges(s)[e->coedge[1]].face];
    if (vec3_dot(a->plane.n, b->plane.n) < 0.999) return INFINITY;
    return fmin(rise(s, a, b->plane), rise(s, b, a->plane));
}
