/* Closed forms of the contact point (place, normal, their rates, gap) for pairs of elements; pairs of curved
 * elements, whose places are roots, are in element_circle.c and
 * element_ellipsoid.c.
 *
 * Every function has the same plan: put both elements in the world with their rates (material velocities),
 * write the closest points as explicit functions of these, and differentiate the formula.  The normal points
 * from the second to the first. */
#include "contact/element_placed.h"

/* Two points with offsets: n = (a - b)/|a - b|, gap = |a - b| - r_a - r_b, place b + r_b n.  Round things
 * whose points coincide are deep in each other, whatever the direction: `else_normal` is taken. */
static bool between_points(vec3 a, vec3 a_rate, double ra, vec3 b, vec3 b_rate, double rb, vec3 else_normal,
                           contact_point *out) {
    vec3 e = vec3_sub(a, b);
    double length = vec3_length(e);
    if (!(length > 0) && !(ra + rb > 0)) return false;
    out->normal = length > 0 ? vec3_scale(e, 1 / length) : else_normal;
    out->normal_rate =
        length > 0 ? unit_rate(out->normal, vec3_sub(a_rate, b_rate), length) : (vec3){0, 0, 0};
    out->gap = length - ra - rb;
    out->at = vec3_axpy(b, rb, out->normal);
    out->at_rate = vec3_axpy(b_rate, rb, out->normal_rate);
    return true;
}

static bool point_point(const placed *a, const placed *b, contact_point *out) {
    return between_points(a->p, a->p_rate, a->e->r, b->p, b->p_rate, b->e->r, (vec3){0, 0, 1}, out);
}

/* The foot of p on the line: q = l + s d, s = (p - l).d, and its rate. */
static double foot_on_line(const placed *line, vec3 p, vec3 p_rate, vec3 *q, vec3 *q_rate) {
    vec3 e = vec3_sub(p, line->p), e_rate = vec3_sub(p_rate, line->p_rate);
    double s = vec3_dot(e, line->d), s_rate = vec3_dot(e_rate, line->d) + vec3_dot(e, line->d_rate);
    *q = vec3_axpy(line->p, s, line->d);
    *q_rate = vec3_axpy(vec3_axpy(line->p_rate, s_rate, line->d), s, line->d_rate);
    return s;
}

static bool point_line(const placed *a, const placed *b, contact_point *out, double *sb) {
    vec3 q, q_rate;
    *sb = foot_on_line(b, a->p, a->p_rate, &q, &q_rate);
    return between_points(a->p, a->p_rate, a->e->r, q, q_rate, b->e->r, vec3_orthogonal(b->d), out);
}

/* A point that lies at p with offset r against a plane through b->p with outward normal b->d:
 * gap = n.(p - q) - r, place p - r n (on the first body), so that place and rate stay with the tip that
 * touches. */
static void tip_plane(vec3 p, vec3 p_rate, double r, const placed *b, contact_point *out) {
    out->normal = b->d;
    out->normal_rate = b->d_rate;
    out->gap = vec3_dot(b->d, vec3_sub(p, b->p)) - r;
    out->at = vec3_axpy(p, -r, b->d);
    out->at_rate = vec3_axpy(p_rate, -r, b->d_rate);
}

static bool point_plane(const placed *a, const placed *b, contact_point *out) {
    tip_plane(a->p, a->p_rate, a->e->r, b, out);
    return true;
}

/* Two lines: N = d_a x d_b; the closest points l_a + s d_a, l_b + t d_b satisfy
 *     s - t c = e.d_a,  s c - t = e.d_b   with e = l_b - l_a, c = d_a.d_b,
 * and their rates the differentiated system. */
static bool line_line(const placed *a, const placed *b, double sign, contact_point *out, double *sa,
                      double *sb) {
    vec3 cross = vec3_cross(a->d, b->d);
    vec3 cross_rate = vec3_add(vec3_cross(a->d_rate, b->d), vec3_cross(a->d, b->d_rate));
    double sine = vec3_length(cross);
    if (!(sine > 1e-9)) return false;
    vec3 e = vec3_sub(b->p, a->p), e_rate = vec3_sub(b->p_rate, a->p_rate);
    double c = vec3_dot(a->d, b->d), c_rate = vec3_dot(a->d_rate, b->d) + vec3_dot(a->d, b->d_rate);
    double det = sine * sine; /* 1 - c^2 without cancellation */
    double f = vec3_dot(e, a->d), g = vec3_dot(e, b->d);
    double s = (f - c * g) / det, t = (c * f - g) / det;
    double f_rate = vec3_dot(e_rate, a->d) + vec3_dot(e, a->d_rate) + t * c_rate;
    double g_rate = vec3_dot(e_rate, b->d) + vec3_dot(e, b->d_rate) - s * c_rate;
    double t_rate = (c * f_rate - g_rate) / det;
    vec3 qa = vec3_axpy(a->p, s, a->d), qb = vec3_axpy(b->p, t, b->d);
    vec3 qb_rate = vec3_axpy(vec3_axpy(b->p_rate, t_rate, b->d), t, b->d_rate);
    *sa = s, *sb = t;
    /* round lines know their side by where they are; sharp edges are told by `sign` */
    if (a->e->r + b->e->r > 0) sign = vec3_dot(cross, vec3_sub(qa, qb)) < 0 ? -1 : 1;
    out->normal = vec3_scale(cross, sign / sine);
    out->normal_rate = unit_rate(out->normal, vec3_scale(cross_rate, sign), sine);
    out->gap = vec3_dot(out->normal, vec3_sub(qa, qb)) - a->e->r - b->e->r;
    out->at = vec3_axpy(qb, b->e->r, out->normal);
    out->at_rate = vec3_axpy(qb_rate, b->e->r, out->normal_rate);
    return true;
}

/* The point p + side r m of a circle (centre p, axis d, radius r), m the unit direction of v seen along the
 * axis:
 *
 *     w = v - (v.d) d,  m = w/|w|
 *
 * Where v lies along the axis all points are alike.  A circle that remembers the direction it had (`axes`)
 * keeps that one, as a material point, and goes on with it where v passes through the axis: so the place is a
 * smooth function of the motion up to the event there. */
static bool circle_along(const placed *c, vec3 v, vec3 v_rate, double least, double side, vec3 *at,
                         vec3 *at_rate) {
    double h = vec3_dot(v, c->d), h_rate = vec3_dot(v_rate, c->d) + vec3_dot(v, c->d_rate);
    vec3 w = vec3_axpy(v, -h, c->d), kept = quat_rotate(c->m->rotation, c->e->axes);
    vec3 w_rate = vec3_axpy(vec3_axpy(v_rate, -h_rate, c->d), -h, c->d_rate);
    double length = vec3_length(w);
    vec3 m = kept, m_rate = vec3_cross(c->m->velocity.angular, kept);
    if (length > least) {
        double turned = vec3_dot(w, kept) < 0 ? -1 : 1;
        m = vec3_scale(w, turned / length), m_rate = unit_rate(m, vec3_scale(w_rate, turned), length);
    } else if (vec3_length2(kept) == 0) {
        return false;
    }
    *at = vec3_axpy(c->p, side * c->e->r, m);
    *at_rate = vec3_axpy(c->p_rate, side * c->e->r, m_rate);
    return true;
}

/* The point of a circle deepest against the normal n. */
static bool circle_tip(const placed *a, vec3 n, vec3 n_rate, vec3 *tip, vec3 *tip_rate) {
    return circle_along(a, n, n_rate, ELEMENT_FLAT, -1, tip, tip_rate);
}

/* The point of a circle nearest to q (side 1) or farthest from it (side -1). */
static bool circle_foot(const placed *c, vec3 q, vec3 q_rate, double side, vec3 *foot, vec3 *foot_rate) {
    return circle_along(c, vec3_sub(q, c->p), vec3_sub(q_rate, c->p_rate), ELEMENT_FLAT * c->e->r, side, foot,
                        foot_rate);
}

static bool point_circle(const placed *a, const placed *b, contact_point *out) {
    vec3 foot, foot_rate;
    return circle_foot(b, a->p, a->p_rate, 1, &foot, &foot_rate) &&
           between_points(a->p, a->p_rate, a->e->r, foot, foot_rate, 0, b->d, out);
}

static bool circle_plane(const placed *a, const placed *b, contact_point *out) {
    vec3 tip, tip_rate;
    if (!circle_tip(a, b->d, b->d_rate, &tip, &tip_rate)) return false;
    tip_plane(tip, tip_rate, 0, b, out);
    return true;
}

static bool ellipsoid_plane(const placed *a, const placed *b, contact_point *out) {
    vec3 tip, tip_rate;
    ellipsoid_tip(a, b->d, b->d_rate, &tip, &tip_rate);
    tip_plane(tip, tip_rate, 0, b, out);
    return true;
}

/* A point with its offset inside a spherical cavity: n from the wall to the centre, gap = R - |a - c| - r. In
 * the centre all directions are alike, and the gap is what it is: a ball there may be too large. */
static bool tip_cavity(vec3 p, vec3 p_rate, double r, const placed *b, contact_point *out) {
    vec3 e = vec3_sub(b->p, p);
    double length = vec3_length(e);
    out->normal = length > 0 ? vec3_scale(e, 1 / length) : (vec3){0, 0, 1};
    out->normal_rate =
        length > 0 ? unit_rate(out->normal, vec3_sub(b->p_rate, p_rate), length) : (vec3){0, 0, 0};
    out->gap = b->e->r - length - r;
    out->at = vec3_axpy(p, -r, out->normal);
    out->at_rate = vec3_axpy(p_rate, -r, out->normal_rate);
    return true;
}

static bool any_cavity(const placed *a, const placed *b, contact_point *out) {
    vec3 foot, foot_rate;
    switch (a->e->kind) {
    case ELEMENT_POINT: return tip_cavity(a->p, a->p_rate, a->e->r, b, out);
    case ELEMENT_CIRCLE:
        return circle_foot(a, b->p, b->p_rate, -1, &foot, &foot_rate) &&
               tip_cavity(foot, foot_rate, 0, b, out);
    case ELEMENT_ELLIPSOID: return ellipsoid_in_cavity(a, b, out);
    default: return false;
    }
}

static bool any_plane(const placed *a, const placed *b, contact_point *out) {
    switch (a->e->kind) {
    case ELEMENT_POINT: return point_plane(a, b, out);
    case ELEMENT_CIRCLE: return circle_plane(a, b, out);
    case ELEMENT_ELLIPSOID: return ellipsoid_plane(a, b, out);
    default: return false;
    }
}

/* The pair in one order: kind of a <= kind of b. */
static bool ordered(const placed *a, const placed *b, double sign, contact_point *out, double *sa,
                    double *sb) {
    switch (b->e->kind) {
    case ELEMENT_POINT: return point_point(a, b, out);
    case ELEMENT_LINE:
        return a->e->kind == ELEMENT_POINT ? point_line(a, b, out, sb) : line_line(a, b, sign, out, sa, sb);
    case ELEMENT_CIRCLE:
        switch (a->e->kind) {
        case ELEMENT_POINT: return point_circle(a, b, out);
        case ELEMENT_LINE: return line_circle(a, b, out, sa, sb);
        default: return circle_circle(a, b, out);
        }
    case ELEMENT_ELLIPSOID: return any_ellipsoid(a, b, out, sa);
    case ELEMENT_PLANE: return any_plane(a, b, out);
    case ELEMENT_CAVITY: return any_cavity(a, b, out);
    default: return false;
    }
}

bool element_pair_is_known(element_kind a, element_kind b) {
    if (a > b) return element_pair_is_known(b, a);
    if (b <= ELEMENT_ELLIPSOID) return true;
    bool wall = b == ELEMENT_PLANE || b == ELEMENT_CAVITY;
    return wall && (a == ELEMENT_POINT || a == ELEMENT_CIRCLE || a == ELEMENT_ELLIPSOID);
}

bool element_contact(const element *a, const motion *ma, const element *b, const motion *mb, double sign,
                     contact_point *out, double *sa, double *sb) {
    placed pa = place(a, ma), pb = place(b, mb);
    double s = 0, t = 0;
    bool swap = a->kind > b->kind, known;
    /* d_b x d_a = -(d_a x d_b): the sign of two lines turns with the order, but equal kinds are never swapped
     */
    known = swap ? ordered(&pb, &pa, sign, out, &t, &s) : ordered(&pa, &pb, sign, out, &s, &t);
    if (!known) return false;
    if (swap) {
        out->normal = vec3_neg(out->normal);
        out->normal_rate = vec3_neg(out->normal_rate);
    }
    if (sa) *sa = s;
    if (sb) *sb = t;
    return true;
}

bool element_remember_tip(element *circle, const motion *mc, const element *wall, const motion *mw) {
    contact_point p;
    element plain = *circle;
    plain.axes = vec3_zero();
    if (!element_contact(&plain, mc, wall, mw, 1, &p, NULL, NULL)) return false;
    vec3 arm = vec3_sub(quat_unrotate(mc->rotation, vec3_sub(p.at, mc->center)), circle->p);
    circle->axes = vec3_scale(vec3_unit(arm), -1);
    return true;
}

bool element_tip_turned(const element *circle, const motion *mc, const element *wall, const motion *mw) {
    element now = *circle;
    return element_remember_tip(&now, mc, wall, mw) && vec3_dot(now.axes, circle->axes) < 0;
}
