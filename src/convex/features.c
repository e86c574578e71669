/* Feature intersection in the contact plane (Silcowitz, Niebe and Erleben, section 3).
 *
 * Both features are seen along the contact normal, in plane coordinates (x, y); their intersection is a
 * polygon, a segment or a point, and each of its corners is a contact point:
 *
 *        A's face, turned to run         A corner is a vertex of A on B's feature, a vertex of B on A's, or
 *        counter-clockwise too           the crossing of two edges: that is its identity over time.
 *          .-----------.                 Its witness points are where the line along the normal meets the
 *          |   A    .--+---.             two features; their displacement along the normal is the distance.
 *          |        |##|   |
 *          '--------+--'   |             Points within `band` of a line count as on it: they are kept as
 *                   |   B  |             they are, so that touching borders give no slivers and no doubles.
 *                   '------'
 */
#include "convex/pair.h"

/* One feature, seen along the normal. */
typedef struct view {
    const abut_convex *shape;
    abut_feature feature;
    mat3 rotation;
    vec3 offset, facing; /* of the centre; the direction in shape axes that the feature faces */
    bool is_a;
    int count;
} view;

typedef struct plane_frame {
    vec3 u, v, n; /* n: the contact normal, from B to A */
    double band;
} plane_frame;

typedef struct mark {
    vec3 p; /* x, y in the plane, z along the normal */
    int32_t vertex, edge;
} mark;

static view look(const convex_pair *p, const convex_touch *t, bool is_a, abut_feature f) {
    view v = {.is_a = is_a,
              .feature = f,
              .shape = is_a ? p->a : p->b,
              .rotation = is_a ? p->ra : p->rb,
              .offset = is_a ? vec3_zero() : p->c};
    v.facing = mat3_tmul_vec(v.rotation, is_a ? t->n : vec3_neg(t->n));
    v.count = shape_corner_count(v.shape, f);
    return v;
}

/* Corner i, counter-clockwise about the contact normal: B's order is that already, A's is turned. */
static mark corner_mark(const view *v, const plane_frame *f, int i) {
    mark m;
    int32_t unused;
    bool turned = v->is_a && v->feature.kind == ABUT_FEATURE_FACE;
    int k = turned ? v->count - 1 - i : i;
    vec3 x = shape_corner(v->shape, v->feature, v->facing, k, &m.vertex, &m.edge);
    if (turned) shape_corner(v->shape, v->feature, v->facing, k ? k - 1 : v->count - 1, &unused, &m.edge);
    x = vec3_add(mat3_mul_vec(v->rotation, x), v->offset);
    m.p = vec3_make(vec3_dot(f->u, x), vec3_dot(f->v, x), vec3_dot(f->n, x));
    return m;
}

static double cross2(vec3 a, vec3 b) { return a.x * b.y - a.y * b.x; }
static double dot2(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y; }
static double length2(vec3 a) { return sqrt(dot2(a, a)); }

/* Distance of p from the line q -> q + e, positive on the left. */
static double left_of(vec3 q, vec3 e, vec3 p) {
    double length = length2(e);
    return length > 0 ? cross2(e, vec3_sub(p, q)) / length : 0;
}

/* ---- heights: where the line along the normal meets a feature */

/* z = origin.z + slope . ((x, y) - origin) */
typedef struct height {
    vec3 origin;
    double slope_x, slope_y;
} height;

/* Over a face with normal n the height falls by n.x / n.z along x; over an edge it rises along the edge. */
static height find_height(const view *v, const plane_frame *f) {
    height h = {.origin = corner_mark(v, f, 0).p};
    if (v->feature.kind == ABUT_FEATURE_EDGE) {
        vec3 e = vec3_sub(corner_mark(v, f, 1).p, h.origin);
        double rise = e.z / fmax(dot2(e, e), 1e-300);
        h.slope_x = e.x * rise, h.slope_y = e.y * rise;
    } else if (v->feature.kind == ABUT_FEATURE_FACE) {
        vec3 n = {0, 0, v->feature.id ? 1 : -1};
        if (v->shape->kind == ABUT_CONVEX_HULL) n = hull_faces(v->shape->hull)[v->feature.id].n;
        n = mat3_mul_vec(v->rotation, n);
        double across = vec3_dot(f->n, n);
        h.slope_x = -vec3_dot(f->u, n) / across, h.slope_y = -vec3_dot(f->v, n) / across;
    }
    return h;
}

static double height_at(const height *h, vec3 p) {
    return h->origin.z + h->slope_x * (p.x - h->origin.x) + h->slope_y * (p.y - h->origin.y);
}

/* ---- points; while the intersection is built, `a` holds (x, y) */

static void emit(abut_convex_result *r, vec3 p, abut_feature a, abut_feature b) {
    r->points[r->point_count++] = (abut_convex_point){.a = {p.x, p.y, 0}, .feature = {a, b}};
}

static abut_feature feature(abut_feature_kind kind, int32_t id) { return (abut_feature){kind, id}; }

/* Feature pair in the order (A, B) for what belongs to `v` and to the other shape. */
static void emit_of(abut_convex_result *r, const view *v, vec3 p, abut_feature mine, abut_feature other) {
    emit(r, p, v->is_a ? mine : other, v->is_a ? other : mine);
}

/* A vertex of `v` on the other feature. */
static void intersect_vertex(const view *v, const view *other, const plane_frame *f, abut_convex_result *r) {
    mark m = corner_mark(v, f, 0);
    if (other->feature.kind == ABUT_FEATURE_VERTEX) {
        if (length2(vec3_sub(corner_mark(other, f, 0).p, m.p)) > f->band) return;
    } else if (other->feature.kind == ABUT_FEATURE_EDGE) {
        mark a = corner_mark(other, f, 0), b = corner_mark(other, f, 1);
        vec3 e = vec3_sub(b.p, a.p);
        double along = dot2(vec3_sub(m.p, a.p), e) / fmax(length2(e), 1e-300);
        if (fabs(left_of(a.p, e, m.p)) > f->band || along < -f->band || along > length2(e) + f->band) return;
    } else {
        mark a = corner_mark(other, f, other->count - 1);
        for (int i = 0; i < other->count; i++) {
            mark b = corner_mark(other, f, i);
            if (left_of(a.p, vec3_sub(b.p, a.p), m.p) < -f->band) return;
            a = b;
        }
    }
    emit_of(r, v, m.p, v->feature, other->feature);
}

/* An end of the piece of a segment that is left: where, and what of the other feature cut it (or nothing). */
typedef struct segment_end {
    double t;
    abut_feature mine, other;
} segment_end;

/* Cuts the segment p0 p1 by the half-plane left of q -> q + e (Cyrus and Beck).  False when nothing is left.
 */
static bool cut_segment(segment_end end[2], vec3 p0, vec3 p1, vec3 q, vec3 e, double band, abut_feature mine,
                        abut_feature other) {
    double d0 = left_of(q, e, p0), d1 = left_of(q, e, p1);
    if (d0 < -band && d1 < -band) return false;
    if (d0 >= -band && d1 >= -band) return true;
    double t = fmin(1, fmax(0, d0 / (d0 - d1)));
    bool leaves = d1 < -band;
    if (leaves && (d0 <= band)) t = 0;
    if (!leaves && (d1 <= band)) t = 1;
    segment_end *cut = &end[leaves];
    if (leaves ? t < cut->t : t > cut->t) *cut = (segment_end){t, mine, other};
    return (end[0].t - end[1].t) * length2(vec3_sub(p1, p0)) <= band; /* a corner touched: one point */
}

static void emit_segment(const view *v, const plane_frame *f, vec3 p0, vec3 p1, const segment_end end[2],
                         abut_convex_result *r) {
    double length = length2(vec3_sub(p1, p0));
    emit_of(r, v, vec3_lerp(p0, p1, end[0].t), end[0].mine, end[0].other);
    if ((end[1].t - end[0].t) * length > f->band)
        emit_of(r, v, vec3_lerp(p0, p1, end[1].t), end[1].mine, end[1].other);
}

/* An edge of `v` over the face of `other`. */
static void intersect_edge_face(const view *v, const view *other, const plane_frame *f,
                                abut_convex_result *r) {
    mark a = corner_mark(v, f, 0), b = corner_mark(v, f, 1);
    segment_end end[2] = {{0, feature(ABUT_FEATURE_VERTEX, a.vertex), other->feature},
                          {1, feature(ABUT_FEATURE_VERTEX, b.vertex), other->feature}};
    mark q = corner_mark(other, f, 0);
    for (int i = 1; i <= other->count; i++) {
        mark next = corner_mark(other, f, i % other->count);
        if (!cut_segment(end, a.p, b.p, q.p, vec3_sub(next.p, q.p), f->band, v->feature,
                         feature(ABUT_FEATURE_EDGE, q.edge)))
            return;
        q = next;
    }
    emit_segment(v, f, a.p, b.p, end, r);
}

/* Two edges that run alike: the piece of A's that lies beside B's. */
static void intersect_parallel(const view *a, const view *b, const plane_frame *f, const mark pa[2],
                               const mark pb[2], abut_convex_result *r) {
    vec3 along = vec3_sub(pb[1].p, pb[0].p);
    double wide = fmax(f->band, 1e-6 * length2(along));
    if (fabs(left_of(pb[0].p, along, pa[0].p)) > wide || fabs(left_of(pb[0].p, along, pa[1].p)) > wide)
        return;
    segment_end end[2] = {{0, feature(ABUT_FEATURE_VERTEX, pa[0].vertex), b->feature},
                          {1, feature(ABUT_FEATURE_VERTEX, pa[1].vertex), b->feature}};
    for (int k = 0; k < 2; k++) {
        /* the half-plane that begins at this end of B and holds the other one */
        vec3 in = k ? vec3_neg(along) : along, e = vec3_make(in.y, -in.x, 0);
        if (!cut_segment(end, pa[0].p, pa[1].p, pb[k].p, e, f->band, a->feature,
                         feature(ABUT_FEATURE_VERTEX, pb[k].vertex)))
            return;
    }
    emit_segment(a, f, pa[0].p, pa[1].p, end, r);
}

/* Two edges: their crossing, or the common piece when they are parallel. */
static void intersect_edges(const view *a, const view *b, const plane_frame *f, abut_convex_result *r) {
    mark pa[2] = {corner_mark(a, f, 0), corner_mark(a, f, 1)},
         pb[2] = {corner_mark(b, f, 0), corner_mark(b, f, 1)};
    vec3 ea = vec3_sub(pa[1].p, pa[0].p), eb = vec3_sub(pb[1].p, pb[0].p), from = vec3_sub(pb[0].p, pa[0].p);
    double la = length2(ea), lb = length2(eb), area = cross2(ea, eb);
    if (fabs(area) <= 1e-7 * la * lb) {
        intersect_parallel(a, b, f, pa, pb, r);
        return;
    }
    double ta = cross2(from, eb) / area, tb = cross2(from, ea) / area;
    if (ta * la < -f->band || (ta - 1) * la > f->band || tb * lb < -f->band || (tb - 1) * lb > f->band)
        return;
    emit(r, vec3_axpy(pa[0].p, fmin(1, fmax(0, ta)), ea), a->feature, b->feature);
}

/* ---- two faces: Sutherland and Hodgman in a ring
 *
 * The ring starts as A's corners and is clipped by one side of B after the other, read at its head and
 * written at its tail.  While it turns, `distance` names the edge that starts at a point: e + 1 for A's
 * edge e, -(e + 1) for B's. */
typedef struct ring {
    abut_convex_point *at;
    int capacity, head, count;
} ring;

static void ring_push(ring *g, abut_convex_point p) {
    int at = g->head + g->count++;
    g->at[at < g->capacity ? at : at - g->capacity] = p;
}
static abut_convex_point ring_pop(ring *g) {
    abut_convex_point p = g->at[g->head];
    g->head = g->head + 1 < g->capacity ? g->head + 1 : 0;
    g->count--;
    return p;
}

/* One side of B: the line from q along e; the features that a cut there has. */
typedef struct side {
    const view *a;
    vec3 q, e;
    int32_t edge, vertex; /* B's edge, and the vertex where it starts */
    int32_t edge_before;
    int32_t edge_after, vertex_after;
    vec3 q_after;
    double band;
} side;

/* Where p -> next (along A's edge or an earlier side of B) crosses the side. */
static abut_convex_point crossing(const side *s, const abut_convex_point *p, const abut_convex_point *next,
                                  double dp, double dn) {
    abut_convex_point x = {.a = vec3_lerp(p->a, next->a, dp / (dp - dn))};
    int32_t edge = (int32_t)fabs(p->distance) - 1;
    if (p->distance > 0) {
        x.feature[0] = feature(ABUT_FEATURE_EDGE, edge), x.feature[1] = feature(ABUT_FEATURE_EDGE, s->edge);
        return x;
    }
    /* two sides of B: neighbours meet in a vertex of B; others outside of B, and a later side cuts that off
     */
    bool start = edge == s->edge_before;
    if (start || edge == s->edge_after) x.a = start ? s->q : s->q_after, x.a.z = 0;
    x.feature[0] = s->a->feature;
    x.feature[1] = feature(ABUT_FEATURE_VERTEX, start ? s->vertex : s->vertex_after);
    return x;
}

static void clip(ring *g, const side *s) {
    int count = g->count;
    if (count == 0) return;
    abut_convex_point first = g->at[g->head], p = ring_pop(g);
    double d_first = left_of(s->q, s->e, first.a), dp = d_first;
    for (int i = 0; i < count; i++) {
        abut_convex_point next = i + 1 < count ? ring_pop(g) : first;
        double dn = i + 1 < count ? left_of(s->q, s->e, next.a) : d_first;
        bool p_in = dp >= -s->band, next_in = dn >= -s->band;
        abut_convex_point kept = p;
        if (p_in && !next_in && dp <= s->band) kept.distance = -(double)(s->edge + 1);
        if (p_in) ring_push(g, kept);
        if (p_in != next_in && (p_in ? dp : dn) > s->band) {
            abut_convex_point x = crossing(s, &p, &next, dp, dn);
            x.distance = p_in ? -(double)(s->edge + 1) : p.distance;
            ring_push(g, x);
        }
        p = next, dp = dn;
    }
}

static void reverse(abut_convex_point *p, int count) {
    for (int i = 0, j = count - 1; i < j; i++, j--) {
        abut_convex_point swap = p[i];
        p[i] = p[j], p[j] = swap;
    }
}

/* Ring to list: rotated by three reversals, points that coincide dropped. */
static int unroll(ring *g, double band) {
    reverse(g->at, g->head), reverse(g->at + g->head, g->capacity - g->head), reverse(g->at, g->capacity);
    int kept = 0;
    for (int i = 0; i < g->count; i++) {
        const abut_convex_point *p = &g->at[i];
        bool doubled = kept > 0 && length2(vec3_sub(p->a, g->at[kept - 1].a)) <= band;
        if (i == g->count - 1 && kept > 0) doubled |= length2(vec3_sub(p->a, g->at[0].a)) <= band;
        if (!doubled) g->at[kept++] = *p;
    }
    return kept;
}

static void intersect_faces(const view *a, const view *b, const plane_frame *f, abut_convex_result *r) {
    ring g = {.at = r->points, .capacity = a->count + b->count + 2};
    for (int i = 0; i < a->count; i++) {
        mark m = corner_mark(a, f, i);
        ring_push(&g, (abut_convex_point){.a = {m.p.x, m.p.y, 0},
                                          .distance = m.edge + 1.0,
                                          .feature = {feature(ABUT_FEATURE_VERTEX, m.vertex), b->feature}});
    }
    mark before = corner_mark(b, f, b->count - 1), q = corner_mark(b, f, 0);
    for (int i = 0; i < b->count; i++) {
        mark next = corner_mark(b, f, (i + 1) % b->count);
        side s = {.a = a,
                  .q = q.p,
                  .e = vec3_sub(next.p, q.p),
                  .edge = q.edge,
                  .vertex = q.vertex,
                  .edge_before = before.edge,
                  .edge_after = next.edge,
                  .vertex_after = next.vertex,
                  .q_after = next.p,
                  .band = f->band};
        clip(&g, &s);
        before = q, q = next;
    }
    r->point_count = unroll(&g, f->band);
}

/* ---- */

/* The two witness points.  Where one of them is a vertex of a hull, it is that vertex, to the last bit. */
static void set_witnesses(const view *a, const view *b, const plane_frame *f, const height *ha,
                          const height *hb, abut_convex_point *x) {
    vec3 at = x->a, flat = vec3_axpy(vec3_scale(f->u, at.x), at.y, f->v);
    double za = height_at(ha, at), zb = height_at(hb, at);
    x->a = vec3_axpy(flat, za, f->n), x->b = vec3_axpy(flat, zb, f->n), x->distance = za - zb;
    if (x->feature[0].kind == ABUT_FEATURE_VERTEX && a->shape->kind == ABUT_CONVEX_HULL) {
        x->a = mat3_mul_vec(a->rotation, hull_vertex(a->shape->hull, x->feature[0].id));
        x->b = vec3_axpy(x->a, -x->distance, f->n);
    } else if (x->feature[1].kind == ABUT_FEATURE_VERTEX && b->shape->kind == ABUT_CONVEX_HULL) {
        x->b = vec3_add(b->offset, mat3_mul_vec(b->rotation, hull_vertex(b->shape->hull, x->feature[1].id)));
        x->a = vec3_axpy(x->b, x->distance, f->n);
    }
}

/* The point where the grown shapes touch, scaled back. */
static void emit_growth_point(const convex_pair *p, const convex_touch *t, abut_convex_result *r) {
    abut_convex_point x = {.a = t->witness[0], .b = vec3_add(p->c, t->witness[1])};
    x.distance = vec3_dot(t->n, vec3_sub(x.b, x.a));
    x.feature[0] = r->feature[0], x.feature[1] = r->feature[1];
    r->points[r->point_count++] = x;
}

/* Whether none of the points is as near as the shapes are.  Features that face each other only within a wide
 * angle may meet along the normal elsewhere than where they are nearest, or nowhere. */
static bool misses_nearest(const convex_pair *p, const abut_convex_result *r) {
    double least = INFINITY;
    for (int i = 0; i < r->point_count; i++) least = fmin(least, r->points[i].distance);
    return least > r->distance + 1e-6 * p->size;
}

void convex_intersect_features(const convex_pair *p, const convex_touch *t, abut_convex_result *r) {
    view a = look(p, t, true, r->feature[0]), b = look(p, t, false, r->feature[1]);
    plane_frame f = {.n = vec3_neg(t->n), .band = 1e-12 * p->size};
    f.u = vec3_orthogonal(f.n), f.v = vec3_cross(f.n, f.u);
    r->point_count = 0;
    abut_feature_kind ka = a.feature.kind, kb = b.feature.kind;
    if (ka == ABUT_FEATURE_VERTEX)
        intersect_vertex(&a, &b, &f, r);
    else if (kb == ABUT_FEATURE_VERTEX)
        intersect_vertex(&b, &a, &f, r);
    else if (ka == ABUT_FEATURE_EDGE && kb == ABUT_FEATURE_EDGE)
        intersect_edges(&a, &b, &f, r);
    else if (ka == ABUT_FEATURE_EDGE)
        intersect_edge_face(&a, &b, &f, r);
    else if (kb == ABUT_FEATURE_EDGE)
        intersect_edge_face(&b, &a, &f, r);
    else
        intersect_faces(&a, &b, &f, r);
    height ha = find_height(&a, &f), hb = find_height(&b, &f);
    for (int i = 0; i < r->point_count; i++) set_witnesses(&a, &b, &f, &ha, &hb, &r->points[i]);
    r->is_aligned = r->point_count > 0;
    if (misses_nearest(p, r)) emit_growth_point(p, t, r);
}
