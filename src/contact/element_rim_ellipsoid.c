/* Where a rim comes nearest to an ellipsoid, and that it is nowhere nearer.
 *
 * The curvatures of an ellipsoid are nowhere less than 1/R, R = (longest half axis)^2 / (shortest half axis);
 * so it lies in the ball of radius R that touches it from within at any point of it (Blaschke's rolling
 * theorem).  One place x0 of the rim, at the signed distance g0 from the ellipsoid and with the normal n0
 * there, therefore bounds the distance of all the others from below:
 *
 *     g(x) >= |x - z| - R,    z = x0 - (g0 + R) n0,        equal at x0, with the same slope.
 *
 * Over the rim, x = p + r u with u of unit length, |x - z|^2 is a number plus 2 r u.e, e = the part of p - z
 * across the axis.  A place where the slope is zero has u0 parallel to e; where they point in opposite
 * directions no other place is nearer.  That is so for every place at which the rim can touch: there its
 * radius leads towards the ellipsoid, u0.n0 <= 0, and u0.e = -r + (g0 + R) u0.n0 < 0.
 *
 * Elsewhere (the ellipsoid lies under the flat end) the arc between known places whose bound is the lowest is
 * searched, until that is no lower than the lowest minimum, to 1e-9 of the rim:
 *
 *        lo ─────── middle ─────── hi          ball of lo on the first half, ball of hi on the second
 */
#include "contact/element_placed.h"

/* ARCS: fewer than 50 were needed for all of 3000 rims (tests/contact/test_element.c); where the distance is
 * the same all around, as from a spheroid on the axis, no place is told from the others. */
enum { ARCS = 64, REFINE = 60 };

typedef struct rim_place {
    circle_place at;
    double value, slope; /* g, and n.along */
    bool turns;          /* a minimum */
    vec3 e;              /* p - z */
    double radius;       /* |x0 - z| */
} rim_place;

typedef struct rim_arc {
    rim_place lo, hi; /* less than half a turn, about the axis */
    double bound;     /* no place between them is nearer */
} rim_arc;

typedef struct search {
    const placed *rim, *ellipsoid;
    double ball; /* R */
} search;

static rim_place look(const search *s, vec3 u) {
    rim_place q = {.at = {vec3_axpy(s->rim->p, s->rim->e->r, u), vec3_cross(s->rim->d, u), u}};
    vec3 n = ellipsoid_normal(s->ellipsoid, q.at.x, &q.value);
    q.slope = vec3_dot(n, q.at.along);
    q.radius = q.value + s->ball;
    q.e = vec3_axpy(vec3_scale(u, -s->rim->e->r), q.radius, n);
    return q;
}

/* The bound that place q gives in direction u:
 *     g0 + |x - z| - |x0 - z| = g0 + 2 r (u - u0).e / (|x - z| + |x0 - z|) */
static double bound_at(const search *s, const rim_place *q, vec3 u) {
    double rise = 2 * s->rim->e->r * vec3_dot(vec3_sub(u, q->at.radial), q->e);
    return q->value + rise / (sqrt(fmax(q->radius * q->radius + rise, 0)) + q->radius);
}

/* Least bound of q over the arc from v to w: at -e if that is between them, else at an end. */
static double bound_over(const search *s, const rim_place *q, vec3 v, vec3 w) {
    vec3 d = s->rim->d, low = vec3_neg(vec3_axpy(q->e, -vec3_dot(q->e, d), d));
    double length = vec3_length(low);
    if (length > 0 && vec3_triple(d, v, low) >= 0 && vec3_triple(d, low, w) >= 0)
        return bound_at(s, q, vec3_scale(low, 1 / length));
    return fmin(bound_at(s, q, v), bound_at(s, q, w));
}

static vec3 middle(const rim_arc *a) { return vec3_unit(vec3_add(a->lo.at.radial, a->hi.at.radial)); }

static rim_arc make_arc(const search *s, const rim_place *lo, const rim_place *hi) {
    rim_arc a = {*lo, *hi, 0};
    vec3 m = middle(&a);
    a.bound = fmin(bound_over(s, lo, lo->at.radial, m), bound_over(s, hi, m, hi->at.radial));
    return a;
}

/* No place of the rim is nearer than this minimum.  Deep inside the ellipsoid, half way through, the distance
 * has a kink, at which the slope is not zero. */
static bool is_least(const rim_place *q) {
    return q->turns && fabs(q->slope) < 1e-12 && vec3_dot(q->at.radial, q->e) <= 0;
}

/* The zero of the slope between lo (negative) and hi (not negative): regula falsi, Illinois variant, with a
 * bisection every fourth time; to rounding of the slope, which is a cosine. */
static rim_place refine(const search *s, const rim_arc *a) {
    double lo = 0, hi = 1, g_lo = a->lo.slope, g_hi = a->hi.slope;
    rim_place q = a->hi;
    for (int i = 0, side = 0; i < REFINE && fabs(q.slope) > 2e-16; i++) {
        double k = i % 4 == 3 ? lo + (hi - lo) / 2 : lo + (hi - lo) * (g_lo / (g_lo - g_hi));
        if (!(k > lo && k < hi)) k = lo + (hi - lo) / 2;
        if (!(k > lo && k < hi)) break;
        q = look(s, vec3_unit(vec3_lerp(a->lo.at.radial, a->hi.at.radial, k)));
        if (q.slope >= 0) {
            hi = k, g_hi = q.slope, g_lo = side > 0 ? g_lo / 2 : g_lo, side = 1;
        } else {
            lo = k, g_lo = q.slope, g_hi = side < 0 ? g_hi / 2 : g_hi, side = -1;
        }
    }
    q.turns = true;
    return q;
}

static void quarters(const search *s, rim_arc arcs[4]) {
    const placed *c = s->rim;
    vec3 x = quat_rotate(c->m->rotation, vec3_orthogonal(c->e->d)), y = vec3_cross(c->d, x);
    const rim_place q[4] = {look(s, x), look(s, y), look(s, vec3_neg(x)), look(s, vec3_neg(y))};
    for (int i = 0; i < 4; i++) arcs[i] = make_arc(s, &q[i], &q[(i + 1) % 4]);
}

static int lowest_of(const rim_arc *arcs, int count) {
    int lowest = 0;
    for (int i = 1; i < count; i++)
        if (arcs[i].bound < arcs[lowest].bound) lowest = i;
    return lowest;
}

bool rim_place_to_ellipsoid(const placed *rim, const placed *ellipsoid, circle_place *out) {
    vec3 a = ellipsoid->e->axes;
    double longest = fmax(a.x, fmax(a.y, a.z)), least = fmin(a.x, fmin(a.y, a.z));
    search s = {rim, ellipsoid, longest * longest / least};
    rim_place best = {.value = INFINITY};
    rim_arc arcs[ARCS];
    quarters(&s, arcs);
    for (int count = 4; count < ARCS && !is_least(&best); count++) {
        int k = lowest_of(arcs, count);
        rim_arc arc = arcs[k];
        if (arc.bound >= best.value - 1e-9 * rim->e->r) break;
        bool turns = arc.lo.slope < 0 && arc.hi.slope >= 0 && !arc.lo.turns && !arc.hi.turns;
        rim_place q = turns ? refine(&s, &arc) : look(&s, middle(&arc));
        if (turns && q.value < best.value) best = q;
        arcs[k] = make_arc(&s, &arc.lo, &q), arcs[count] = make_arc(&s, &q, &arc.hi);
    }
    *out = best.at;
    return best.turns;
}
