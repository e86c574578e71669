/* The border of the intersection of two polygons P and Q with dents and holes.
 *
 *      P +-------+            edges are cut where they meet the other polygon; a piece stays when it lies
 *        |   +---|---+ Q      inside of the other, pieces that lie on each other stay once, where both
 *        |   |###|   |        have the same direction; what stays is linked to loops, at each corner by
 *        +---|---+   |        the sharpest turn to the left, so that loops that meet in a corner part
 *            +-------+
 *
 * The area of the loops is then held against the sum of flat_area(), which knows no pieces: where they differ
 * the border counts as not known. */
#include "contact/flat_plane.h"

enum { EDGES_MOST = 2048, SIDES = 48 };

typedef struct side {
    point2 a, b;
    int32_t from, to; /* corners, when pieces are linked */
    bool used;
} side;

typedef ARRAY(side) sides;
typedef ARRAY(point2) corners2;

typedef struct overlay {
    const abut_context *context;
    double near; /* points nearer than this are one */
    sides polygon[2], pieces;
    corners2 corners;
    ARRAY(double) cuts;
} overlay;

static point2 minus(point2 a, point2 b) { return (point2){a.x - b.x, a.y - b.y}; }
static point2 between(point2 a, point2 b, double k) {
    return (point2){a.x + k * (b.x - a.x), a.y + k * (b.y - a.y)};
}
static double length(point2 a) { return sqrt(a.x * a.x + a.y * a.y); }
static double dot(point2 a, point2 b) { return a.x * b.x + a.y * b.y; }

/* ---- the two faces */

static bool add_side(overlay *o, int which, point2 a, point2 b) {
    return array_push(o->context, &o->polygon[which], ((side){.a = a, .b = b}));
}

/* Faces have their inside on the left seen from outside; that of a is seen from behind. */
static bool add_face(overlay *o, int which, const contact_shape *s, int32_t face, const motion *m,
                     const flat_view *v) {
    point2 a, b;
    for (face_walk w = flat_walk(s, m, face); flat_walk_next(&w, v, &a, &b);)
        if (!add_side(o, which, which == 0 ? b : a, which == 0 ? a : b)) return false;
    return true;
}

/* The end of a cylinder lies around its axis. */
static bool add_disc(overlay *o, const contact_shape *s, const motion *m, const flat_view *v) {
    vec3 e = vec3_sub(m->center, v->o);
    point2 c = {vec3_dot(v->s, e), vec3_dot(v->t, e)}, last = {c.x + s->shape.radius, c.y};
    const double cosine = 0.99144486137381041, sine = 0.13052619222005159; /* of a SIDES-th turn */
    point2 arm = {s->shape.radius, 0};
    for (int i = 1; i <= SIDES; i++) {
        arm = (point2){cosine * arm.x - sine * arm.y, sine * arm.x + cosine * arm.y};
        point2 next = i < SIDES ? (point2){c.x + arm.x, c.y + arm.y} : o->polygon[0].data[0].a;
        if (!add_side(o, 0, last, next)) return false;
        last = next;
    }
    return true;
}

/* ---- pieces */

/* Where the side is met by another: crossings, and ends of the other that lie on it. */
static bool add_cuts(overlay *o, const side *s, const side *other) {
    point2 d = minus(s->b, s->a), e = minus(other->b, other->a), g = minus(other->a, s->a);
    double l = length(d), m = length(e), turn = point2_turn(d, e);
    const point2 ends[2] = {other->a, other->b};
    for (int i = 0; i < 2; i++) {
        point2 p = minus(ends[i], s->a);
        double k = dot(p, d) / (l * l);
        if (k > 0 && k < 1 && fabs(point2_turn(d, p)) <= o->near * l && !array_push(o->context, &o->cuts, k))
            return false;
    }
    if (fabs(turn) <= 1e-12 * l * m) return true;
    double k = point2_turn(g, e) / turn, j = point2_turn(g, d) / turn;
    if (k <= 0 || k >= 1 || j < 0 || j > 1) return true;
    return array_push(o->context, &o->cuts, k);
}

typedef enum where { OUTSIDE, INSIDE, ON_FORTH, ON_BACK } where;

/* Where the middle of a piece with direction d lies in a polygon: on a side, or by the crossings of a ray. */
static where locate(const sides *polygon, point2 p, point2 d, double near) {
    bool inside = false;
    for (int64_t i = 0; i < polygon->count; i++) {
        const side *s = &polygon->data[i];
        point2 e = minus(s->b, s->a), g = minus(p, s->a);
        double l = length(e), k = dot(g, e) / (l * l);
        if (k >= 0 && k <= 1 && fabs(point2_turn(e, g)) <= near * l)
            return dot(e, d) > 0 ? ON_FORTH : ON_BACK;
        if ((s->a.y > p.y) != (s->b.y > p.y) &&
            p.x < s->a.x + (p.y - s->a.y) / (s->b.y - s->a.y) * (s->b.x - s->a.x))
            inside = !inside;
    }
    return inside ? INSIDE : OUTSIDE;
}

static int by_number(const void *user, const void *a, const void *b) {
    (void)user;
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool cut_side(overlay *o, int which, const side *s) {
    double l = length(minus(s->b, s->a));
    if (l <= o->near) return true;
    const sides *other = &o->polygon[1 - which];
    o->cuts.count = 0;
    for (int64_t i = 0; i < other->count; i++)
        if (!add_cuts(o, s, &other->data[i])) return false;
    if (!array_push(o->context, &o->cuts, 1.0) ||
        !sort_stable(o->context, o->cuts.data, (size_t)o->cuts.count, sizeof(double), by_number, NULL))
        return false;
    double from = 0;
    for (int64_t i = 0; i < o->cuts.count; i++) {
        double to = o->cuts.data[i];
        if ((to - from) * l <= o->near && i + 1 < o->cuts.count) continue;
        side piece = {.a = between(s->a, s->b, from), .b = between(s->a, s->b, to)};
        where w = locate(other, between(piece.a, piece.b, 0.5), minus(s->b, s->a), o->near);
        if ((w == INSIDE || (w == ON_FORTH && which == 0)) && !array_push(o->context, &o->pieces, piece))
            return false;
        from = to;
    }
    return true;
}

/* ---- loops */

static int32_t corner_at(overlay *o, point2 p) {
    for (int64_t i = 0; i < o->corners.count; i++)
        if (length(minus(o->corners.data[i], p)) <= 2 * o->near) return (int32_t)i;
    return array_push(o->context, &o->corners, p) ? (int32_t)o->corners.count - 1 : -1;
}

static bool name_corners(overlay *o) {
    for (int64_t i = 0; i < o->pieces.count; i++) {
        side *s = &o->pieces.data[i];
        s->from = corner_at(o, s->a), s->to = corner_at(o, s->b);
        if (s->from < 0 || s->to < 0) return false;
        s->used = s->from == s->to;
    }
    return true;
}

/* Grows with the turn to the left from direction d to e, from -2 (back by the right) to 2. */
static double sharpness(point2 d, point2 e) {
    double l = length(d) * length(e), sine = point2_turn(d, e) / l, cosine = dot(d, e) / l;
    return sine >= 0 ? 1 - cosine : cosine - 1;
}

/* The piece that goes on from one; -1: the loop is open. */
static int64_t next_piece(const overlay *o, const side *s) {
    int64_t best = -1;
    double most = 0;
    for (int64_t i = 0; i < o->pieces.count; i++) {
        const side *t = &o->pieces.data[i];
        if (t->used || t->from != s->to) continue;
        double turn = sharpness(minus(s->b, s->a), minus(t->b, t->a));
        if (best < 0 || turn > most) best = i, most = turn;
    }
    return best;
}

static bool put_corner(const overlay *o, const flat_view *v, point2 p, flat_border *out) {
    return array_push(o->context, &out->corners, vec3_axpy(vec3_axpy(v->o, p.x, v->s), p.y, v->t));
}

/* Links the pieces; *area gets what the loops enclose, and stays NaN where a loop is open. */
static bool link_pieces(overlay *o, const flat_view *v, flat_border *out, double *area) {
    double twice = 0;
    *area = NAN;
    for (int64_t i = 0; i < o->pieces.count; i++) {
        side *s = &o->pieces.data[i];
        if (s->used) continue;
        int32_t first = s->from;
        for (int64_t budget = o->pieces.count;; budget--) {
            s->used = true;
            if (!put_corner(o, v, o->corners.data[s->from], out)) return false;
            twice += point2_turn(o->corners.data[s->from], o->corners.data[s->to]);
            if (s->to == first) break;
            int64_t next = budget > 0 ? next_piece(o, s) : -1;
            if (next < 0) return true;
            s = &o->pieces.data[next];
        }
        if (!array_push(o->context, &out->start, (int32_t)out->corners.count)) return false;
    }
    *area = twice / 2;
    return true;
}

/* ---- all of it */

static bool gather(overlay *o, const contact_shape *a, int32_t fa, const motion *ma, const contact_shape *b,
                   int32_t fb, const motion *mb, const flat_view *v) {
    bool solid_a = a->shape.kind == ABUT_SHAPE_SOLID, solid_b = b->shape.kind == ABUT_SHAPE_SOLID;
    bool round_a = a->shape.kind == ABUT_SHAPE_CYLINDER, round_b = b->shape.kind == ABUT_SHAPE_CYLINDER;
    bool endless_a = a->shape.kind == ABUT_SHAPE_HALFSPACE, endless_b = b->shape.kind == ABUT_SHAPE_HALFSPACE;
    bool fine = true;
    if ((round_a && endless_b) || (round_b && endless_a))
        fine = add_disc(o, round_a ? a : b, round_a ? ma : mb, v);
    if (solid_a && (solid_b || endless_b)) fine = add_face(o, 0, a, fa, ma, v);
    if (solid_b && (solid_a || endless_a)) fine = fine && add_face(o, 1, b, fb, mb, v);
    return fine;
}

/* Pieces of one polygon alone are its sides. */
static bool cut_all(overlay *o) {
    for (int which = 0; which < 2; which++) {
        const sides *own = &o->polygon[which];
        for (int64_t i = 0; i < own->count; i++)
            if (o->polygon[1 - which].count ? !cut_side(o, which, &own->data[i])
                                            : !array_push(o->context, &o->pieces, own->data[i]))
                return false;
    }
    return true;
}

static double extent_of(const overlay *o) {
    double most = 0;
    for (int which = 0; which < 2; which++)
        for (int64_t i = 0; i < o->polygon[which].count; i++)
            most = fmax(most, length(o->polygon[which].data[i].a));
    return most;
}

bool flat_border_of(const abut_context *context, const contact_shape *a, int32_t fa, const motion *ma,
                    const contact_shape *b, int32_t fb, const motion *mb, vec3 n, vec3 at,
                    flat_border *border) {
    overlay o = {.context = context};
    flat_view v = flat_view_make(at, n);
    int64_t corners = border->corners.count, starts = border->start.count;
    double area = NAN, wanted;
    bool fine = gather(&o, a, fa, ma, b, fb, mb, &v);
    int64_t count = o.polygon[0].count + o.polygon[1].count;
    o.near = 1e-9 * extent_of(&o);
    if (fine && count > 0 && count <= EDGES_MOST) {
        if (starts == 0) fine = array_push(context, &border->start, (int32_t)corners);
        fine = fine && cut_all(&o) && name_corners(&o) && link_pieces(&o, &v, border, &area);
    }
    bool round = a->shape.kind == ABUT_SHAPE_CYLINDER || b->shape.kind == ABUT_SHAPE_CYLINDER;
    double part = round ? 3e-3 : 1e-6; /* a polygon of 48 sides has 0.99715 of the disc around it */
    bool known = fine && flat_area(a, fa, ma, b, fb, mb, n, &wanted) && fabs(area - wanted) <= part * wanted;
    if (!known) border->corners.count = corners, border->start.count = starts;
    for (int i = 0; i < 2; i++) array_free(context, &o.polygon[i]);
    array_free(context, &o.pieces);
    array_free(context, &o.corners);
    array_free(context, &o.cuts);
    return fine;
}

void flat_border_free(const abut_context *context, flat_border *border) {
    array_free(context, &border->corners);
    array_free(context, &border->start);
}
