/* The shortest way apart: the facet of K = A - B that c must pass with the least way (the minimum
 * translational distance): the direction n of least h(n) - n.c.
 *
 * The facets of K are the overlay of A's Gauss map with B's turned through the origin:
 *
 *     a face of A          with the vertex of B that faces it
 *     a face of B          with the vertex of A that faces it
 *     an edge of each      where their arcs cross
 *
 * Each arc of A is walked through the regions of B: in the region of vertex v, the arc from d0 to d1 leaves
 * across the edge to the neighbour w whose sign change of d(s).(w - v) comes first; each step raises d1.v, so
 * the walk ends.  Every candidate is measured with honest supports, so a candidate too many does no harm. */
#include "convex/pair.h"

typedef struct search {
    const convex_pair *p;
    convex_touch *best;
    double depth;  /* the least h(n) - n.c so far */
    mat3 relative; /* B's axes to A's */
} search;

static void consider(search *s, vec3 world) {
    convex_touch t = {.n = vec3_unit(world), .face = {-1, -1}, .is_coincident = true};
    t.extent = convex_extent(s->p, t.n, t.support, t.witness);
    t.iterations = s->best->iterations + 1;
    double depth = t.extent - vec3_dot(t.n, s->p->c);
    if (depth < s->depth)
        *s->best = t, s->depth = depth;
    else
        s->best->iterations = t.iterations;
}

/* Walks the arc of A's edge, from the normal of one of its faces to the other, over B's regions. */
static int32_t walk_arc(search *s, const abut_hull *a, const abut_hull *b, int32_t edge, int32_t v) {
    const hull_edge *e = &hull_edges(a)[edge];
    vec3 along = vec3_sub(hull_vertex(a, e->vertex[1]), hull_vertex(a, e->vertex[0]));
    vec3 d0 = vec3_neg(mat3_tmul_vec(s->relative, hull_faces(a)[e->face[0]].n));
    vec3 d1 = vec3_neg(mat3_tmul_vec(s->relative, hull_faces(a)[e->face[1]].n));
    v = hull_climb(b, d0, v);
    int32_t from = v;
    for (;;) {
        double first = INFINITY;
        int32_t next = -1;
        for (int32_t k = hull_star_start(b)[v]; k < hull_star_start(b)[v + 1]; k++) {
            int32_t w = hull_stars(b)[k].vertex;
            vec3 step = vec3_sub(hull_vertex(b, w), hull_vertex(b, v));
            double g0 = vec3_dot(d0, step), g1 = vec3_dot(d1, step), at = g0 / (g0 - g1);
            if (g1 > 0 && at < first) first = at, next = w;
        }
        if (next < 0) return from;
        vec3 step = vec3_sub(hull_vertex(b, next), hull_vertex(b, v));
        vec3 n = vec3_cross(along, mat3_mul_vec(s->relative, step));
        vec3 middle = vec3_add(hull_faces(a)[e->face[0]].n, hull_faces(a)[e->face[1]].n);
        if (vec3_dot(n, middle) < 0) n = vec3_neg(n);
        if (vec3_length2(n) > 0) consider(s, mat3_mul_vec(s->p->ra, n));
        v = next;
    }
}

static void search_hulls(search *s) {
    const abut_hull *a = s->p->a->hull, *b = s->p->b->hull;
    s->relative = mat3_mul(mat3_transpose(s->p->ra), s->p->rb);
    for (int32_t f = 0; f < a->face_count; f++) consider(s, mat3_mul_vec(s->p->ra, hull_faces(a)[f].n));
    for (int32_t f = 0; f < b->face_count; f++)
        consider(s, vec3_neg(mat3_mul_vec(s->p->rb, hull_faces(b)[f].n)));
    int32_t start = 0;
    for (int32_t e = 0; e < a->edge_count; e++) start = walk_arc(s, a, b, e, start);
}

/* Faces of hulls, their edges across the axis of the other shape, and axes of analytic shapes: what has a
 * flat or a longest side. */
static void consider_shape(search *s, const abut_convex *shape, mat3 rotation, vec3 other_axis, double sign) {
    const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (shape->kind == ABUT_CONVEX_HULL) {
        for (int32_t f = 0; f < shape->hull->face_count; f++)
            consider(s, vec3_scale(mat3_mul_vec(rotation, hull_faces(shape->hull)[f].n), sign));
        for (int32_t e = 0; e < shape->hull->edge_count; e++) {
            vec3 n = vec3_cross(mat3_mul_vec(rotation, hull_along(shape->hull, &hull_edges(shape->hull)[e])),
                                other_axis);
            if (vec3_length2(n) > 1e-12) consider(s, n), consider(s, vec3_neg(n));
        }
    } else
        for (int k = 0; k < 3; k++) {
            consider(s, mat3_mul_vec(rotation, axes[k]));
            consider(s, vec3_neg(mat3_mul_vec(rotation, axes[k])));
        }
}

void convex_shortest_way(const convex_pair *p, convex_touch *out) {
    *out = (convex_touch){.extent = INFINITY, .face = {-1, -1}, .is_coincident = true};
    search s = {.p = p, .best = out, .depth = INFINITY};
    if (p->a->kind == ABUT_CONVEX_HULL && p->b->kind == ABUT_CONVEX_HULL) {
        search_hulls(&s);
    } else {
        if (vec3_length2(p->c) > 0) consider(&s, p->c);
        consider_shape(&s, p->a, p->ra, p->rb.cz, 1);
        consider_shape(&s, p->b, p->rb, p->ra.cz, -1);
    }
    out->growth = 0;
}
