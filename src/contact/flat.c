/* The area of the intersection of two polygons P and Q with dents and holes: with any point o of the plane,
 *
 *     area(P and Q) = sum over the edges e of P and f of Q of  +- area(triangle o e  and  triangle o f)
 *
 * where the sign is that of the turns of both edges about o: what lies outside cancels. */
#include "contact/flat_plane.h"
#include "solid/solid.h"

/* Cosine above which a face looks along a direction: within 1e-5 radians, as contacts are told apart. */
static const double along = 1 - 5e-11;

static bool looks(const abut_solid *s, int32_t face, vec3 n) {
    return vec3_dot(solid_faces(s)[face].plane.n, n) > along;
}

static int32_t face_at_vertex(const abut_solid *s, int32_t vertex, vec3 n) {
    const solid_coedge *coedges = solid_coedges(s);
    int32_t start = solid_vertices(s)[vertex].coedge, c = start;
    for (int32_t budget = 2 * solid_vertices(s)[vertex].valence + 8; budget > 0; budget--) {
        if (looks(s, coedges[c].face, n)) return coedges[c].face;
        c = solid_twin(s, coedges[c].prev);
        if (c == start) break;
    }
    return -1;
}

int32_t flat_face(const contact_shape *s, contact_feature feature, vec3 n) {
    if (s->shape.kind == ABUT_SHAPE_HALFSPACE) return 0;
    if (s->shape.kind == ABUT_SHAPE_CYLINDER) return fabs(n.z) > along ? n.z > 0 : -1;
    if (s->shape.kind != ABUT_SHAPE_SOLID) return -1;
    const abut_solid *solid = s->shape.solid;
    if (feature.kind == FEATURE_FACE) return looks(solid, feature.id, n) ? feature.id : -1;
    if (feature.kind == FEATURE_VERTEX) return face_at_vertex(solid, feature.id, n);
    if (feature.kind != FEATURE_EDGE) return -1;
    for (int k = 0; k < 2; k++) {
        int32_t face = solid_coedges(solid)[solid_edges(solid)[feature.id].coedge[k]].face;
        if (looks(solid, face, n)) return face;
    }
    return -1;
}

/* ---- hulls */

typedef struct chart {
    vec3 s, t;
    const vec3 *points;
} chart;

static int along_chart(const void *user, const void *a, const void *b) {
    const chart *c = user;
    int i = *(const int *)a, j = *(const int *)b;
    double x = vec3_dot(c->s, c->points[i]), y = vec3_dot(c->s, c->points[j]);
    if (x == y) x = vec3_dot(c->t, c->points[i]), y = vec3_dot(c->t, c->points[j]);
    return x < y ? -1 : x > y ? 1 : i - j;
}

/* Whether b lies more than `slack` to the right of the line from a to c. */
static bool stands_out(vec3 n, vec3 a, vec3 b, vec3 c, double slack) {
    vec3 way = vec3_sub(c, a);
    return vec3_triple(n, vec3_sub(b, a), way) > slack * vec3_length(way);
}

/* Andrew's monotone chain: the lower side of the hull from left to right, then the upper one back. */
static int chain(vec3 n, const vec3 *points, int count, double slack, const int *order, int *stack) {
    int top = 0;
    for (int pass = 0; pass < 2; pass++) {
        int base = top + (pass ? 1 : 2);
        for (int k = pass; k < count; k++) {
            int i = pass ? order[count - 1 - k] : order[k];
            while (top >= base &&
                   !stands_out(n, points[stack[top - 2]], points[stack[top - 1]], points[i], slack))
                top--;
            stack[top++] = i;
        }
    }
    return top > 1 ? top - 1 : top; /* the first came again */
}

int flat_hull(const abut_context *context, vec3 n, const vec3 *points, int count, double slack, int *order,
              int *stack) {
    chart c = {vec3_orthogonal(n), vec3_zero(), points};
    c.t = vec3_cross(n, c.s);
    for (int i = 0; i < count; i++) order[i] = i;
    if (count < 3) return count;
    if (!sort_stable(context, order, (size_t)count, sizeof *order, along_chart, &c)) return -1;
    int top = chain(n, points, count, slack, order, stack), inside = top;
    for (int k = 0; k < count; k++) {
        bool corner = false;
        for (int i = 0; i < top; i++) corner |= stack[i] == order[k];
        if (!corner) stack[inside++] = order[k];
    }
    memcpy(order, stack, (size_t)count * sizeof *order);
    return top;
}

/* ---- areas, in the plane of contact */

static point2 seen(const flat_view *v, vec3 p) {
    vec3 e = vec3_sub(p, v->o);
    return (point2){vec3_dot(v->s, e), vec3_dot(v->t, e)};
}

/* Keeps the part of the polygon left of the line from a to b. */
static int clip(point2 *polygon, int count, point2 a, point2 b) {
    point2 out[10];
    int n = 0;
    for (int i = 0; i < count; i++) {
        point2 p = polygon[i], q = polygon[(i + 1) % count];
        double dp = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
        double dq = (b.x - a.x) * (q.y - a.y) - (b.y - a.y) * (q.x - a.x);
        if (dp >= 0) out[n++] = p;
        if ((dp > 0 && dq < 0) || (dp < 0 && dq > 0)) {
            double k = dp / (dp - dq);
            out[n++] = (point2){p.x + k * (q.x - p.x), p.y + k * (q.y - p.y)};
        }
    }
    for (int i = 0; i < n; i++) polygon[i] = out[i];
    return n;
}

/* Area shared by the triangles o a b and o c d, with the sign of both turns; o is the origin. */
static double shared(point2 a, point2 b, point2 c, point2 d) {
    double first = point2_turn(a, b), second = point2_turn(c, d);
    if (first == 0 || second == 0) return 0;
    point2 o = {0, 0}, p = first > 0 ? a : b, q = first > 0 ? b : a, r = second > 0 ? c : d,
           s = second > 0 ? d : c;
    point2 polygon[10] = {o, p, q};
    int count = clip(polygon, 3, o, r);
    if (count > 2) count = clip(polygon, count, r, s);
    if (count > 2) count = clip(polygon, count, s, o);
    double twice = 0;
    for (int i = 1; i + 1 < count; i++) {
        point2 u = {polygon[i].x - polygon[0].x, polygon[i].y - polygon[0].y},
               v = {polygon[i + 1].x - polygon[0].x, polygon[i + 1].y - polygon[0].y};
        twice += point2_turn(u, v);
    }
    return (first > 0) == (second > 0) ? twice / 2 : -twice / 2;
}

face_walk flat_walk(const contact_shape *s, const motion *m, int32_t face) {
    const solid_face *f = &solid_faces(s->shape.solid)[face];
    return (face_walk){
        .shape = s, .m = m, .loop = f->first_loop - 1, .last_loop = f->first_loop + f->loops - 1};
}

bool flat_walk_next(face_walk *w, const flat_view *v, point2 *a, point2 *b) {
    const abut_solid *s = w->shape->shape.solid;
    const solid_coedge *coedges = solid_coedges(s);
    if (w->left == 0) {
        if (w->loop == w->last_loop) return false;
        w->loop++;
        w->coedge = solid_loops(s)[w->loop].coedge, w->left = solid_loops(s)[w->loop].count;
    }
    int32_t next = coedges[w->coedge].next;
    vec3 p = vec3_add(solid_position(s, coedges[w->coedge].vertex), w->shape->origin),
         q = vec3_add(solid_position(s, coedges[next].vertex), w->shape->origin);
    *a = seen(v, vec3_add(w->m->center, quat_rotate(w->m->rotation, p)));
    *b = seen(v, vec3_add(w->m->center, quat_rotate(w->m->rotation, q)));
    w->coedge = next, w->left--;
    return true;
}

/* The area of one face alone: the other side has no end. */
static double area_of_face(const contact_shape *s, const motion *m, int32_t face, const flat_view *v) {
    double twice = 0;
    point2 a, b;
    for (face_walk w = flat_walk(s, m, face); flat_walk_next(&w, v, &a, &b);) twice += point2_turn(a, b);
    return fabs(twice) / 2;
}

bool flat_area(const contact_shape *a, int32_t fa, const motion *ma, const contact_shape *b, int32_t fb,
               const motion *mb, vec3 n, double *area) {
    bool solid_a = a->shape.kind == ABUT_SHAPE_SOLID, solid_b = b->shape.kind == ABUT_SHAPE_SOLID;
    const contact_shape *bounded = a->shape.kind == ABUT_SHAPE_HALFSPACE ? b : a;
    bool endless = a->shape.kind == ABUT_SHAPE_HALFSPACE || b->shape.kind == ABUT_SHAPE_HALFSPACE;
    flat_view v = flat_view_make(bounded == a ? ma->center : mb->center, n);
    *area = 0;
    if (endless && bounded->shape.kind == ABUT_SHAPE_CYLINDER) {
        *area = 3.14159265358979323846 * bounded->shape.radius * bounded->shape.radius;
        return true;
    }
    if (endless && bounded->shape.kind == ABUT_SHAPE_SOLID) {
        *area = bounded == a ? area_of_face(a, ma, fa, &v) : area_of_face(b, mb, fb, &v);
        return true;
    }
    if (!solid_a || !solid_b) return false;
    point2 p, q, r, s;
    for (face_walk x = flat_walk(a, ma, fa); flat_walk_next(&x, &v, &p, &q);)
        for (face_walk y = flat_walk(b, mb, fb); flat_walk_next(&y, &v, &r, &s);) *area += shared(p, q, r, s);
    *area = fabs(*area);
    return true;
}
