/* Proofs that a near pair does not close in a piece of a step, whatever it does between two looks at it.
 *
 * A slab across a direction n that is fixed to body b (points z with n.z = k bound b's element) separates the
 * two while every point p of a's element has
 *
 *     f = n . (y - z) > 0,    y = R_b^T (c_a + R_a p - c_b).
 *
 * With q x q* for R x, and m = |q|^2, f times m_a m_b^2 > 0 is a polynomial in s:
 *
 *     F = N . E,   N = q_b n q_b*,   E = m_a D + m_b q_a p q_a*,   D = m_b (c_a - c_b) - q_b z q_b*,
 *
 * and the bounds of exact_path.c for its factors bound its fourth derivative; its values and rates at both
 * ends of the piece then bound it everywhere (path_bounds).  What is round about a point (mantles, rims,
 * ellipsoids) reaches |L| farther, L = r n x d or A R_a^T R_b n: then F^2 - |m_a m_b^2 L|^2 is the polynomial
 * whose sign is asked.
 *
 *     plane and point      n is the plane's; f may fall through zero beside the face, so its sign is watched
 *     edge and edge        the slab between the bounded edges; or the lines do not cross: the sign of
 *                          (d_a x d_b) . E, a polynomial as well
 *     in a cavity          the farthest point: |y| is convex, so at most at both ends and l^2/8 |y''|
 *     other round ones     the slab that element_direction finds, or that of the pair's own normal
 *
 * Pairs beside a contact touch all the time without facing each other.  The plane of the contact is a slab
 * for them, to a part of epsilon. */
#include "sim/exact_path.h"

/* Part of epsilon to which features may come before their gap is looked at: the slabs of what lasts in
 * contact are as wrong as that contact, which is corrected to a thousandth. */
#define CLOSE 0.25
/* A gap that is open by this part of epsilon is open: what is less counts as touching (exact_touch.c). */
#define OPEN 1e-3
/* How often in a step what lies beside a lasting contact is looked at where nothing can be proven. */
enum { LOOKS = 16 };

typedef struct piece {
    exact *x;
    const exact_near *n;
    double t0, t1, l; /* l: as part of the step */
    double epsilon;
    int who[2];          /* bodies of a and b */
    path_point at[2][2]; /* [end][a, b] */
    pose a_in_b;         /* in the middle */
} piece;

static const element *element_of(const piece *p, int which) { return which ? &p->n->pair.b : &p->n->pair.a; }

/* Where the body of `which` stands at the end k, with |q| = 1. */
static pose pose_at(const path_point *p) { return (pose){p->c, quat_unit(p->q)}; }

static bool begin(exact *x, const exact_near *n, double t0, double t1, piece *p) {
    const ode *o = &x->integrator;
    *p = (piece){.x = x, .n = n, .t0 = t0, .t1 = t1, .l = (t1 - t0) / (o->t - o->t_old)};
    p->epsilon = x->model->tolerance.touching;
    p->who[0] = n->a, p->who[1] = n->b;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2; i++)
            if (!x->paths[p->who[i]].bounded || !exact_path_at(x, p->who[i], k ? t1 : t0, &p->at[k][i]))
                return false;
    path_point middle[2];
    for (int i = 0; i < 2; i++)
        if (!exact_path_at(x, p->who[i], t0 + (t1 - t0) / 2, &middle[i])) return false;
    p->a_in_b = pose_relative(pose_at(&middle[0]), pose_at(&middle[1]));
    return true;
}

/* Both bodies in the middle, in the axes of b. */
static void middle_motions(const piece *w, motion out[2]) {
    out[0] = (motion){.center = w->a_in_b.position, .rotation = w->a_in_b.rotation};
    out[1] = (motion){.rotation = quat_identity()};
}

/* ---- the polynomials */

/* E and its rate at an end, for the point p of body `a` and z of the other. */
typedef struct arrow {
    vec3 e, de;
} arrow;

static arrow arrow_at(const path_point *a, const path_point *b, vec3 p, vec3 z) {
    vec3 c = vec3_sub(a->c, b->c), dc = vec3_sub(a->dc, b->dc);
    vec3 d = vec3_sub(vec3_scale(c, b->m), path_turned(b, z));
    vec3 dd = vec3_sub(vec3_axpy(vec3_scale(dc, b->m), b->dm, c), path_turned_rate(b, z));
    vec3 q = path_turned(a, p), dq = path_turned_rate(a, p);
    vec3 de = vec3_axpy(vec3_scale(dd, a->m), a->dm, d);
    return (arrow){vec3_axpy(vec3_scale(d, a->m), b->m, q), vec3_axpy(vec3_axpy(de, b->m, dq), b->dm, q)};
}

/* Bounds of E and its derivatives over the whole step. */
static void bound_arrow(const piece *w, int a, vec3 p, vec3 z, double first, double out[]) {
    const exact_path *pa = &w->x->paths[w->who[a]], *pb = &w->x->paths[w->who[1 - a]];
    double c[PATH_ORDER + 1], d[PATH_ORDER + 1], q[PATH_ORDER + 1];
    for (int k = 1; k <= PATH_ORDER; k++) c[k] = pa->go[k] + pb->go[k];
    c[0] = vec3_distance(w->at[0][0].c, w->at[0][1].c) + c[1];
    path_product(pb->turn, c, d);
    for (int k = 1; k <= PATH_ORDER; k++) d[k] += pb->turn[k] * vec3_length(z);
    vec3 start =
        vec3_sub(w->at[0][a].c, vec3_add(w->at[0][1 - a].c, quat_rotate(quat_unit(w->at[0][1 - a].q), z)));
    d[0] = w->at[0][1 - a].m * vec3_length(start) + d[1];
    path_product(pa->turn, d, out);
    path_product(pb->turn, pa->turn, q);
    for (int k = 0; k <= PATH_ORDER; k++) out[k] += vec3_length(p) * q[k];
    out[0] = fmin(out[0], first + out[1]);
}

/* A function at both ends of the piece, and bounds of it and its derivatives. */
typedef struct sketch {
    double f[2], df[2], all[PATH_ORDER + 1];
} sketch;

/* The point p of the element `a` over the plane through z across n, both of the other body. */
static sketch over_plane(const piece *w, int a, vec3 p, vec3 n, vec3 z) {
    sketch s;
    double e[PATH_ORDER + 1], first = 0;
    for (int k = 0; k < 2; k++) {
        const path_point *b = &w->at[k][1 - a];
        arrow r = arrow_at(&w->at[k][a], b, p, z);
        vec3 m = path_turned(b, n);
        if (k == 0) first = vec3_length(r.e);
        s.f[k] = vec3_dot(m, r.e), s.df[k] = vec3_dot(path_turned_rate(b, n), r.e) + vec3_dot(m, r.de);
    }
    bound_arrow(w, a, p, z, first, e);
    path_product(w->x->paths[w->who[1 - a]].turn, e, s.all);
    s.all[0] = fmin(s.all[0], fmax(fabs(s.f[0]), fabs(s.f[1])) + w->l * s.all[1]);
    return s;
}

static path_range range_of(const piece *w, const sketch *s) {
    return path_bounds(w->l, s->f[0], s->df[0], s->f[1], s->df[1], s->all[PATH_ORDER]);
}

/* Two lines: sign (d_a x d_b) . E, their distance times the sine of their angle, and the square of the radius
 * times that sine. */
static sketch between_lines(const piece *w, double radius, sketch *apart, double *sine) {
    const element *ea = element_of(w, 0), *eb = element_of(w, 1);
    const double *ta = w->x->paths[w->who[0]].turn, *tb = w->x->paths[w->who[1]].turn;
    vec3 near_a = vec3_sub(w->a_in_b.position, eb->p);
    double s = fmin(fmax(vec3_dot(near_a, eb->d), eb->lo), eb->hi);
    vec3 z = vec3_axpy(eb->p, s, eb->d), back = vec3_sub(pose_unpoint(w->a_in_b, z), ea->p);
    vec3 p = vec3_axpy(ea->p, fmin(fmax(vec3_dot(back, ea->d), ea->lo), ea->hi), ea->d);
    double e[PATH_ORDER + 1], first = 0, square = radius * radius;
    sketch g;
    *sine = INFINITY;
    for (int k = 0; k < 2; k++) {
        const path_point *a = &w->at[k][0], *b = &w->at[k][1];
        arrow r = arrow_at(a, b, p, z);
        vec3 da = path_turned(a, ea->d), db = path_turned(b, eb->d), m = vec3_cross(da, db);
        vec3 dm =
            vec3_add(vec3_cross(path_turned_rate(a, ea->d), db), vec3_cross(da, path_turned_rate(b, eb->d)));
        double both = a->m * b->m, change = a->dm * b->m + a->m * b->dm;
        if (k == 0) first = vec3_length(r.e);
        g.f[k] = w->n->pair.sign * vec3_dot(m, r.e);
        g.df[k] = w->n->pair.sign * (vec3_dot(dm, r.e) + vec3_dot(m, r.de));
        apart->f[k] = square * both * both * vec3_dot(m, m);
        apart->df[k] = 2 * square * both * (change * vec3_dot(m, m) + both * vec3_dot(m, dm));
        *sine = fmin(*sine, vec3_length(m));
    }
    bound_arrow(w, 0, p, z, first, e);
    path_product(ta, tb, apart->all);
    *sine -= w->l * apart->all[1];
    path_product(apart->all, e, g.all);
    g.all[0] = fmin(g.all[0], fmax(fabs(g.f[0]), fabs(g.f[1])) + w->l * g.all[1]);
    path_product(apart->all, apart->all, e);
    path_product(e, e, apart->all);
    for (int k = 0; k <= PATH_ORDER; k++) apart->all[k] *= square;
    return g;
}

/* ---- slabs */

/* The points of an element, all of it within its reach of them. */
static int points_of(const element *e, vec3 p[2]) {
    p[0] = p[1] = e->p;
    if (e->kind != ELEMENT_LINE) return 1;
    p[0] = vec3_axpy(e->p, e->lo, e->d), p[1] = vec3_axpy(e->p, e->hi, e->d);
    return 2;
}

/* q* v q and its rate */
static vec3 turned_back(const path_point *p, vec3 v) {
    path_point back = *p;
    back.q = quat_conj(p->q);
    return path_turned(&back, v);
}
static vec3 turned_back_rate(const path_point *p, vec3 v) {
    path_point back = *p;
    back.q = quat_conj(p->q), back.dq = quat_conj(p->dq);
    return path_turned_rate(&back, v);
}

static vec3 times(vec3 a, vec3 b) { return vec3_make(a.x * b.x, a.y * b.y, a.z * b.z); }

/* m_b |L| squared: how far the element `a` reaches from its points against the direction n of the other. */
static sketch reach_against(const piece *w, int a, vec3 n) {
    const element *e = element_of(w, a);
    const double *ta = w->x->paths[w->who[a]].turn, *tb = w->x->paths[w->who[1 - a]].turn;
    bool ball = e->kind == ELEMENT_ELLIPSOID;
    double size = ball ? vec3_max_abs(e->axes) : e->r, l[PATH_ORDER + 1];
    sketch s;
    for (int k = 0; k < 2; k++) {
        const path_point *pa = &w->at[k][a], *pb = &w->at[k][1 - a];
        vec3 m = path_turned(pb, n), dm = path_turned_rate(pb, n), v, dv;
        if (ball) {
            v = times(e->axes, turned_back(pa, m));
            dv = times(e->axes, vec3_add(turned_back(pa, dm), turned_back_rate(pa, m)));
        } else {
            vec3 d = path_turned(pa, e->d);
            v = vec3_scale(vec3_cross(m, d), e->r);
            dv = vec3_scale(vec3_add(vec3_cross(dm, d), vec3_cross(m, path_turned_rate(pa, e->d))), e->r);
        }
        s.f[k] = pb->m * pb->m * vec3_dot(v, v);
        s.df[k] = 2 * pb->m * (pb->dm * vec3_dot(v, v) + pb->m * vec3_dot(v, dv));
    }
    path_product(ta, tb, l);
    path_product(tb, l, l);
    for (int k = 0; k <= PATH_ORDER; k++) l[k] *= size;
    l[0] = fmin(l[0], sqrt(fmax(s.f[0], s.f[1])) + w->l * l[1]);
    path_product(l, l, s.all);
    return s;
}

/* f - |L| by the sign of f^2 - |L|^2 = (f - |L|) (f + |L|). */
static path_range beyond_reach(const piece *w, const sketch *f, const sketch *reach) {
    sketch s;
    path_product(f->all, f->all, s.all);
    for (int k = 0; k < 2; k++) {
        s.f[k] = f->f[k] * f->f[k] - reach->f[k];
        s.df[k] = 2 * f->f[k] * f->df[k] - reach->df[k];
    }
    for (int k = 0; k <= PATH_ORDER; k++) s.all[k] += reach->all[k];
    path_range r = range_of(w, &s), line = range_of(w, f);
    double most = f->all[0] + sqrt(reach->all[0]);
    r.first = f->f[0] - sqrt(reach->f[0]);
    if (!(line.least > 0)) { /* its points pass through the plane: the squares say nothing */
        r.least = line.least - sqrt(reach->all[0]);
        r.most = line.most - sqrt(fmax(range_of(w, reach).least, 0));
        r.falls = r.rises = false;
        return r;
    }
    r.least /= r.least > 0 ? most : line.least, r.most /= r.most < 0 ? most : line.least;
    return r;
}

/* The width of the slab across n, fixed to the body of the element 1 - a, all through the piece. */
static path_range slab(const piece *w, int a, vec3 n) {
    const element *e = element_of(w, a), *o = element_of(w, 1 - a);
    bool is_round = e->kind != ELEMENT_POINT && !(e->kind == ELEMENT_LINE && e->r == 0);
    vec3 points[2], far = o->kind == ELEMENT_PLANE ? o->p : element_farthest(o, n);
    pose seen = a ? pose_inverse(w->a_in_b) : w->a_in_b;
    /* the point of the plane below the centre of a: the nearest, so that its arm is short */
    double k = vec3_dot(n, far) + (is_round ? 0 : e->r);
    vec3 z = vec3_axpy(seen.position, k - vec3_dot(n, seen.position), n);
    path_range all = {INFINITY, INFINITY, INFINITY, true, true};
    sketch reach = is_round ? reach_against(w, a, n) : (sketch){0};
    for (int i = points_of(e, points) - 1; i >= 0; i--) {
        sketch f = over_plane(w, a, points[i], n, z);
        path_range r = is_round ? beyond_reach(w, &f, &reach) : range_of(w, &f);
        all.first = fmin(all.first, r.first), all.least = fmin(all.least, r.least);
        all.most = fmin(all.most, r.most);
        all.falls &= r.falls, all.rises &= r.rises;
    }
    return all;
}

/* The other body, to which the direction of the slab is fixed, is the one with a line, which lies in the
 * plane as long as they touch; otherwise the one that turns less. */
static int moving_of(const piece *w) {
    bool line[2] = {element_of(w, 0)->kind == ELEMENT_LINE, element_of(w, 1)->kind == ELEMENT_LINE};
    if (line[0] != line[1]) return line[0] ? 1 : 0;
    const double *a = w->x->paths[w->who[0]].turn, *b = w->x->paths[w->who[1]].turn;
    return a[1] >= b[1] ? 0 : 1;
}

/* Of the two elements, in the middle of the piece, across n of b. */
static double width_now(const piece *w, vec3 n) {
    vec3 low = element_farthest(element_of(w, 0), vec3_neg(pose_unvector(w->a_in_b, n)));
    return vec3_dot(n, vec3_sub(pose_point(w->a_in_b, low), element_farthest(element_of(w, 1), n)));
}

/* n points from b to a, in the axes of b, and is fixed to one of the bodies; the better one counts. */
static double slab_along(const piece *w, vec3 n) {
    if (width_now(w, n) < -CLOSE * w->epsilon) return -INFINITY;
    int a = moving_of(w);
    double least = -INFINITY;
    for (int k = 0; k < 2 && least <= OPEN * w->epsilon; k++, a = 1 - a)
        least = fmax(least, slab(w, a, a == 0 ? n : vec3_neg(pose_unvector(w->a_in_b, n))).least);
    return least;
}

/* The planes of what touches between the two bodies, as they are in the middle of the piece.  Where such a
 * plane turns with the contact (on a rim, on an ellipsoid, between edges) it is looked at LOOKS times a step.
 */
static bool held_apart(const piece *w, double least) {
    const exact *x = w->x;
    motion at[2];
    middle_motions(w, at);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        if (c->a != w->n->a || c->b != w->n->b) continue;
        const near_pair *p = &x->touches.data[i].pair;
        contact_point now;
        if (smooth_is_pair(p) || !element_contact(&p->a, &at[0], &p->b, &at[1], p->sign, &now, NULL, NULL))
            continue;
        if (width_now(w, now.normal) < least) continue;
        int a = p->a.kind == ELEMENT_PLANE ? 1 : 0;
        vec3 n = a == 0 ? now.normal : vec3_neg(pose_unvector(w->a_in_b, now.normal));
        if (w->l * LOOKS <= 1 || slab(w, a, n).least >= least) return true;
    }
    return false;
}

/* |R''| of the rotation of one body as seen from the other. */
static double turning(const piece *w) {
    const double *a = w->x->paths[w->who[0]].spin, *b = w->x->paths[w->who[1]].spin;
    return a[1] + 2 * a[0] * b[0] + b[1];
}

/* ---- kinds of pairs */

/* A function whose sign says on which side the pair is.  It closes where that falls through zero; where it
 * does so at most once, or goes no deeper than it was by more than a part of epsilon, or is behind all the
 * time, the gap at both ends tells. */
static exact_proof by_sign(const piece *w, path_range r, double sine) {
    if (r.least > OPEN * w->epsilon || r.most < -w->epsilon || r.rises) return PROOF_APART;
    bool stays = sine > 0 && r.least >= fmin(r.first, 0) - CLOSE * w->epsilon * sine;
    return r.falls || r.most < 0 || stays ? PROOF_NEAR : PROOF_NONE;
}

static exact_proof prove_plane(const piece *w, int plane) {
    return by_sign(w, slab(w, 1 - plane, element_of(w, plane)->d), 1);
}

static exact_proof prove_edges(const piece *w) {
    motion at[2];
    near_apart apart;
    double sine;
    middle_motions(w, at);
    if (near_is_apart(&w->n->pair, &at[0], &at[1], true, &apart) && apart.distance > 0 &&
        slab_along(w, apart.normal) > OPEN * w->epsilon)
        return PROOF_APART;
    sketch none, g = between_lines(w, 0, &none, &sine);
    return by_sign(w, range_of(w, &g), sine);
}

/* The gap is the radius less the distance of the farthest point, which is one of two places. */
static exact_proof prove_cavity(const piece *w, int cavity) {
    const exact_path *pa = &w->x->paths[w->who[1 - cavity]], *pb = &w->x->paths[w->who[cavity]];
    double arm = w->x->model->bodies[w->x->bodies[w->who[1 - cavity]]].shape.radius, gap = INFINITY;
    for (int k = 0; k < 2; k++)
        for (int branch = 0; branch < 2; branch++) {
            near_pair pair = w->n->pair;
            contact_point point;
            motion m[2];
            for (int i = 0; i < 2; i++)
                m[i] = (motion){.center = w->at[k][i].c, .rotation = quat_unit(w->at[k][i].q)};
            pair.a.branch = pair.b.branch = branch;
            if (!element_contact(&pair.a, &m[0], &pair.b, &m[1], pair.sign, &point, NULL, NULL))
                return PROOF_NONE;
            gap = fmin(gap, point.gap);
        }
    double go = pa->go[1] + pb->go[1], far = vec3_distance(w->at[0][0].c, w->at[0][1].c) + go;
    double bend = pb->spin[1] * far + 2 * pb->spin[0] * go + pa->go[2] + pb->go[2] + turning(w) * arm;
    path_range r = {.first = gap, .least = gap - bend * w->l * w->l / 8, .most = INFINITY};
    return by_sign(w, r, 1);
}

/* The ends of a line: points, or the rims of a mantle. */
static element end_of(const element *e, int k) {
    element end = *e;
    end.kind = e->r > 0 ? ELEMENT_CIRCLE : ELEMENT_POINT;
    end.p = vec3_axpy(e->p, k ? e->hi : e->lo, e->d);
    end.axes = vec3_zero();
    return end;
}

/* Across the normal of two elements in the middle of the piece, at either place of a rim. */
static double across_normal(const piece *w, element a, element b) {
    bool rim = a.kind == ELEMENT_CIRCLE || b.kind == ELEMENT_CIRCLE;
    motion m[2];
    contact_point point;
    double least = -INFINITY;
    if (!element_pair_is_known(a.kind, b.kind)) return least;
    middle_motions(w, m);
    for (int branch = 0; branch < (rim ? 2 : 1); branch++) {
        a.branch = b.branch = branch;
        if (element_contact(&a, &m[0], &b, &m[1], w->n->pair.sign, &point, NULL, NULL))
            least = fmax(least, slab_along(w, point.normal));
    }
    return least;
}

/* Lines with something round about them, taken as unbounded: on either side of each other. */
static double across_lines(const piece *w) {
    double sine;
    sketch apart, g = between_lines(w, element_of(w, 0)->r + element_of(w, 1)->r, &apart, &sine);
    bool other_side = g.f[0] < 0;
    for (int k = 0; k < 2 && other_side; k++) g.f[k] = -g.f[k], g.df[k] = -g.df[k];
    path_range r = beyond_reach(w, &g, &apart);
    return sine > 0 ? r.least / (r.least > 0 ? 1 : sine) : -INFINITY;
}

/* Along the axis of a rim or mantle: its flat end. */
static double across_end(const piece *w, int i) {
    const element *e = element_of(w, i);
    vec3 n = i == 0 ? pose_vector(w->a_in_b, e->d) : e->d;
    if (e->kind != ELEMENT_CIRCLE && !(e->kind == ELEMENT_LINE && e->r > 0)) return -INFINITY;
    return slab_along(w, width_now(w, n) > width_now(w, vec3_neg(n)) ? n : vec3_neg(n));
}

/* The slab across the normal of the pair, or of an end of a line, or one that is searched for. */
static exact_proof prove_round(const piece *w) {
    const element *e[2] = {element_of(w, 0), element_of(w, 1)};
    bool lines = e[0]->kind == ELEMENT_LINE && e[1]->kind == ELEMENT_LINE;
    double open = OPEN * w->epsilon, least = across_normal(w, *e[0], *e[1]);
    vec3 n;
    if (least <= open && lines) least = fmax(least, across_lines(w));
    if (least <= open && element_direction(e[0], e[1], w->a_in_b, &n)) least = fmax(least, slab_along(w, n));
    for (int i = 0; i < 2 && least <= open; i++) least = fmax(least, across_end(w, i));
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 && e[i]->kind == ELEMENT_LINE && least <= open; k++) {
            element end = end_of(e[i], k);
            least = fmax(least, across_normal(w, i ? *e[0] : end, i ? end : *e[1]));
        }
    if (least > open) return PROOF_APART;
    return least >= -CLOSE * w->epsilon ? PROOF_NEAR : PROOF_NONE;
}

/* A rim that lies flat on the plane that carries it: its axis stays where it is, however fast it spins, but
 * the bounds here do not know that. */
static bool lies_flat(const piece *w) {
    const exact *x = w->x;
    for (int64_t i = 0; i < x->contacts.count && exact_disc_is_rim(&w->n->pair); i++)
        if (x->contacts.data[i].a == w->n->a && x->contacts.data[i].b == w->n->b) return true;
    return false;
}

/* How far the points of the smaller body can move in the piece, as seen from the other. */
static double moves(const piece *w) {
    double radius[2];
    for (int i = 0; i < 2; i++) radius[i] = w->x->model->bodies[w->x->bodies[w->who[i]]].shape.radius;
    int a = radius[0] <= radius[1] ? 0 : 1;
    const exact_path *pa = &w->x->paths[w->who[a]], *pb = &w->x->paths[w->who[1 - a]];
    double go = pa->go[1] + pb->go[1], far = vec3_distance(w->at[0][0].c, w->at[0][1].c) + go + radius[a];
    return w->l * (go + pa->spin[0] * radius[a] + pb->spin[0] * far);
}

exact_proof exact_prove(exact *x, const exact_near *n, double t0, double t1) {
    const element *a = &n->pair.a, *b = &n->pair.b;
    piece w;
    if (smooth_is_pair(&n->pair) || !begin(x, n, t0, t1, &w)) return PROOF_NEAR;
    exact_proof proof;
    if (a->kind == ELEMENT_CAVITY || b->kind == ELEMENT_CAVITY)
        proof = prove_cavity(&w, b->kind == ELEMENT_CAVITY);
    else if (a->kind == ELEMENT_PLANE || b->kind == ELEMENT_PLANE)
        proof = prove_plane(&w, b->kind == ELEMENT_PLANE);
    else if (n->pair.fa.kind == FEATURE_EDGE && n->pair.fb.kind == FEATURE_EDGE && a->kind == ELEMENT_LINE &&
             b->kind == ELEMENT_LINE && a->r + b->r == 0)
        proof = prove_edges(&w);
    else
        proof = prove_round(&w);
    if (proof != PROOF_NONE) return proof;
    if (a->kind <= ELEMENT_ELLIPSOID && b->kind <= ELEMENT_ELLIPSOID && held_apart(&w, -CLOSE * w.epsilon))
        return PROOF_NEAR;
    if (w.l * LOOKS <= 1 && lies_flat(&w)) return PROOF_NEAR;
    bool short_enough = moves(&w) <= CLOSE * w.epsilon || t1 - t0 <= 1e-3 * x->model->tolerance.event;
    return short_enough ? PROOF_NEAR : PROOF_NONE;
}
