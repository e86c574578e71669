/* From a start on a surface down to the nearest place that is deepest (a plane, another surface), or closest
 * (a point, a line), over the borders of patches.  Newton's method alone goes to saddles as well, and samples
 * of a narrow valley do not tell where its floor is lowest; so
 *
 *     f = n . X, |X - p|^2 / 2, or |(X - p) - ((X - p) . d) d|^2 / 2
 *
 * (half the squared distance from a circle; minus that from the centre of a cavity; the signed distance from
 * another surface, from the point of it that is closest near the last one) is minimised: steps of
 * -(H + l G)^-1 grad f, where G is the metric c_i . c_j, and l >= 0 makes the smallest eigenvalue of G^-1 H
 * at least a twentieth of the largest; halved while f does not fall.  Where they end at a saddle, as on a
 * border where the curvature jumps (a minimum of the one patch is a saddle of the other), it is left along
 * the direction in which f bends down, to the side that is lower.  The last steps, which f is too coarse to
 * judge, are Newton's: a minimum that lies just beyond a border is looked at from there. */
#include "contact/patch.h"
#include "contact/smooth.h"

enum { STEPS = 40, HALVINGS = 6 };
/* Of a domain, whose size is about one: how far from a saddle its sides are looked at first. */
#define ASIDE 0.02
/* Steps below FINE change f by no more than its rounding; below DONE they are none. */
#define FINE 1e-5
#define DONE 1e-10

/* Another surface, whose signed distance is f. */
typedef struct field {
    const abut_surface *surface;
    pose to;                 /* its axes, from those of the surface that is walked on */
    vec3 origin;             /* what its points are counted from */
    abut_surface_point foot; /* the closest point on it */
    abut_partials p;         /* there, */
    vec3 n;                  /* with the normal */
    double f;
} field;

/* The other element in the axes of the surface. */
typedef struct aim {
    element_kind kind;
    vec3 p, d;
    double r;
    field field;
} aim;

/* A place on the way down. */
typedef struct descent {
    const abut_surface *surface;
    aim aim;
    vec3 origin;
    abut_surface_point at;
    abut_partials p;
} descent;

static bool run_down(descent *d);
static bool evaluate(const abut_surface *s, const abut_surface_point *at, vec3 origin, abut_partials *p);

static aim seen_from(const motion *ms, const element *e, const motion *me) {
    vec3 p = vec3_add(me->center, quat_rotate(me->rotation, e->p));
    return (aim){.kind = e->kind,
                 .p = quat_unrotate(ms->rotation, vec3_sub(p, ms->center)),
                 .d = quat_unrotate(ms->rotation, quat_rotate(me->rotation, e->d)),
                 .r = e->r};
}

/* Signed distance of x from the other surface, where x is near its foot; infinite where that ends. */
static double rise(field *a, vec3 x, vec3 *gradient) {
    vec3 y = pose_point(a->to, x);
    descent down = {
        .surface = a->surface, .aim = {.kind = ELEMENT_POINT, .p = y}, .origin = a->origin, .at = a->foot};
    *gradient = vec3_zero();
    if (!run_down(&down)) return INFINITY;
    a->foot = down.at, a->p = down.p;
    a->n = abut_partials_normal(&down.p);
    a->f = vec3_dot(a->n, vec3_sub(y, down.p.c));
    *gradient = pose_unvector(a->to, a->n);
    return a->f;
}

/* How the normal at the foot turns as x moves by v: with Y(s, t) on the surface, x = Y + f n gives
 * (Y_i . Y_j - f n . Y_ij) x_j = Y_i . v for the motion of the foot, and then n turns by
 * n_j x_j, of which the parts along Y_i are -n . Y_ij x_j. */
static vec3 turn_of(const field *a, vec3 v) {
    const abut_partials *p = &a->p;
    double l[3] = {vec3_dot(a->n, p->uu), vec3_dot(a->n, p->uv), vec3_dot(a->n, p->vv)};
    double g[3] = {vec3_length2(p->u), vec3_dot(p->u, p->v), vec3_length2(p->v)}, m[3];
    for (int i = 0; i < 3; i++) m[i] = g[i] - a->f * l[i];
    v = pose_vector(a->to, v);
    double u = vec3_dot(p->u, v), w = vec3_dot(p->v, v), det = m[0] * m[2] - m[1] * m[1],
           area = g[0] * g[2] - g[1] * g[1];
    if (!(det > 0) || !(area > 0)) return vec3_zero();
    double s = (m[2] * u - m[1] * w) / det, t = (m[0] * w - m[1] * u) / det;
    u = -(l[0] * s + l[1] * t), w = -(l[1] * s + l[2] * t);
    vec3 turn = vec3_axpy(vec3_scale(p->u, (g[2] * u - g[1] * w) / area), (g[0] * w - g[1] * u) / area, p->v);
    return pose_unvector(a->to, turn);
}

/* f, its gradient, and its Hessian times v. */
static double height(aim *a, vec3 x, vec3 *gradient) {
    if (a->kind == ELEMENT_PATCH) return rise(&a->field, x, gradient);
    vec3 d = vec3_sub(x, a->p);
    *gradient = a->d;
    if (a->kind == ELEMENT_PLANE) return vec3_dot(a->d, d);
    if (a->kind == ELEMENT_LINE) d = vec3_axpy(d, -vec3_dot(d, a->d), a->d);
    if (a->kind == ELEMENT_CIRCLE) {
        vec3 e = vec3_axpy(d, -vec3_dot(d, a->d), a->d);
        double length = vec3_length(e);
        if (length > 0) d = vec3_axpy(d, -a->r / length, e);
    }
    double sign = a->kind == ELEMENT_CAVITY ? -1 : 1;
    *gradient = vec3_scale(d, sign);
    return sign * vec3_length2(d) / 2;
}

static vec3 bend(const aim *a, vec3 v) {
    if (a->kind == ELEMENT_PATCH) return turn_of(&a->field, v);
    if (a->kind == ELEMENT_PLANE) return vec3_zero();
    if (a->kind == ELEMENT_CAVITY) return vec3_neg(v);
    return a->kind == ELEMENT_LINE ? vec3_axpy(v, -vec3_dot(v, a->d), a->d) : v;
}

/* The eigenvector of the least eigenvalue of G^-1 H, as long as ASIDE. */
static void find_aside(const double h[3], const double m[3], double least, double aside[2]) {
    double k[3] = {h[0] - least * m[0], h[1] - least * m[1], h[2] - least * m[2]};
    bool first = fabs(k[0]) > fabs(k[2]);
    aside[0] = first ? -k[1] : k[2], aside[1] = first ? k[0] : -k[1];
    double length = sqrt(aside[0] * aside[0] + aside[1] * aside[1]);
    for (int i = 0; i < 2; i++) aside[i] = length > 0 ? ASIDE * aside[i] / length : 0;
}

/* The step at the partials p (of points from the centre of mass), and the way off where f bends down; zero
 * where it does not.  `descends`: with l; otherwise Newton's, to a place of any kind. */
static bool find_step(aim *a, const abut_partials *p, bool descends, double step[2], double aside[2]) {
    vec3 g;
    if (!isfinite(height(a, p->c, &g))) return false;
    vec3 bu = bend(a, p->u), bv = bend(a, p->v);
    double h[3] = {vec3_dot(p->u, bu) + vec3_dot(g, p->uu), vec3_dot(p->u, bv) + vec3_dot(g, p->uv),
                   vec3_dot(p->v, bv) + vec3_dot(g, p->vv)};
    double m[3] = {vec3_dot(p->u, p->u), vec3_dot(p->u, p->v), vec3_dot(p->v, p->v)};
    double det = m[0] * m[2] - m[1] * m[1];
    if (!(det > 0)) return false;
    double mean = (h[0] * m[2] - 2 * h[1] * m[1] + h[2] * m[0]) / (2 * det);
    double product = (h[0] * h[2] - h[1] * h[1]) / det;
    double radius = sqrt(fmax(mean * mean - product, 0)), least = mean - radius, most = fabs(mean) + radius;
    double lift = descends ? fmax(0.05 * most - least, 0) : 0;
    aside[0] = aside[1] = 0;
    if (least < 0) find_aside(h, m, least, aside);
    for (int i = 0; i < 3; i++) h[i] += lift * m[i];
    double gu = vec3_dot(g, p->u), gv = vec3_dot(g, p->v);
    det = h[0] * h[2] - h[1] * h[1];
    if (descends ? !(det > 0) : det == 0) return false;
    step[0] = (h[1] * gv - h[2] * gu) / det, step[1] = (h[1] * gu - h[0] * gv) / det;
    return true;
}

static bool evaluate(const abut_surface *s, const abut_surface_point *at, vec3 origin, abut_partials *p) {
    bool fine = abut_surface_evaluate(s, at->patch, at->u, at->v, 2, p);
    p->c = vec3_add(p->c, origin);
    return fine;
}

/* By the step, or a part of it, where that is lower.  False where the surface ends. */
static bool go(descent *d, const double step[2], bool *lower) {
    vec3 g;
    double f = height(&d->aim, d->p.c, &g), part = 1;
    *lower = false;
    for (int k = 0; k < HALVINGS && !*lower; k++, part /= 2) {
        double rate[2] = {part * step[0], part * step[1]};
        abut_surface_point to = {d->at.patch, d->at.u + rate[0], d->at.v + rate[1]};
        if (abut_surface_settle(d->surface, &to, rate, NULL, NULL, NULL) != ABUT_OK) return false;
        abut_partials q;
        *lower = evaluate(d->surface, &to, d->origin, &q) && height(&d->aim, q.c, &g) < f;
        if (*lower) d->at = to, d->p = q;
    }
    return true;
}

static bool step_over(descent *d, const double step[2]) {
    double rate[2] = {step[0], step[1]};
    d->at.u += step[0], d->at.v += step[1];
    return abut_surface_settle(d->surface, &d->at, rate, NULL, NULL, NULL) == ABUT_OK &&
           evaluate(d->surface, &d->at, d->origin, &d->p);
}

static bool run_down(descent *d) {
    bool lower = true;
    if (!evaluate(d->surface, &d->at, d->origin, &d->p)) return false;
    for (int i = 0; i < STEPS && lower; i++) {
        double step[2], aside[2];
        if (!find_step(&d->aim, &d->p, true, step, aside)) return false;
        double moves = patch_limit_step(step, 2);
        lower = false;
        if (moves >= FINE && !go(d, step, &lower)) return false;
        for (int side = -1; side <= 1 && !lower; side += 2) {
            double off[2] = {side * aside[0], side * aside[1]};
            if ((aside[0] != 0 || aside[1] != 0) && !go(d, off, &lower)) return false;
        }
        if (!lower && moves < FINE && moves > DONE) {
            if (!step_over(d, step)) return false;
            lower = true;
        }
    }
    return true;
}

bool smooth_descend(const abut_surface *surface, element *e, const motion *ms, const element *other,
                    const motion *mo) {
    descent d = {
        .surface = surface, .aim = seen_from(ms, other, mo), .origin = e->p, .at = {e->patch, e->u, e->v}};
    if (!run_down(&d)) return false;
    e->patch = d.at.patch, e->u = d.at.u, e->v = d.at.v;
    return true;
}

bool smooth_descend_between(const contact_shape *a, element *ea, const motion *ma, const contact_shape *b,
                            element *eb, const motion *mb) {
    pose pa = {ma->center, ma->rotation}, pb = {mb->center, mb->rotation};
    descent d = {.surface = a->atlas, .aim = {.kind = ELEMENT_PATCH}, .origin = ea->p};
    d.at = (abut_surface_point){ea->patch, ea->u, ea->v};
    d.aim.field = (field){
        .surface = b->atlas, .to = pose_relative(pa, pb), .origin = eb->p, .foot = {eb->patch, eb->u, eb->v}};
    if (!run_down(&d)) return false;
    const abut_surface_point *foot = &d.aim.field.foot;
    ea->patch = d.at.patch, ea->u = d.at.u, ea->v = d.at.v;
    eb->patch = foot->patch, eb->u = foot->u, eb->v = foot->v;
    return true;
}

/* ---- beyond a border */

/* How far from a border, in parameters, a place is looked at from beyond it: the ridge is about as far. */
#define BESIDE 0.1
enum { ROUNDS = 8, SIDES = 5 };

/* Newton's method on the patch, beyond its border if need be. */
static bool find_stationary(descent *d, double aside[2]) {
    double step[2], moves = 1;
    for (int i = 0; i < ROUNDS && moves > DONE; i++) {
        if (!evaluate(d->surface, &d->at, d->origin, &d->p) || !find_step(&d->aim, &d->p, false, step, aside))
            return false;
        moves = patch_limit_step(step, 2);
        d->at.u += step[0], d->at.v += step[1];
    }
    return moves < FINE && evaluate(d->surface, &d->at, d->origin, &d->p);
}

/* From a saddle to the lowest of some points on both sides, ASIDE / 4 to 4 ASIDE away. */
static bool take_lowest(descent *d, const double aside[2]) {
    vec3 g;
    descent saddle = *d;
    double least = height(&d->aim, d->p.c, &g);
    bool found = false;
    for (int i = 0; i < 2 * SIDES; i++) {
        double far = (i % 2 ? -0.25 : 0.25) * (1 << i / 2);
        descent to = saddle;
        to.at.u += far * aside[0], to.at.v += far * aside[1];
        if (abut_surface_outside(d->surface, to.at, NULL) > 0 ||
            !evaluate(d->surface, &to.at, d->origin, &to.p))
            continue;
        double f = height(&d->aim, to.p.c, &g);
        if (f < least) least = f, *d = to, found = true;
    }
    return found;
}

/* With e the curvature of the place across the border, -k that of the neighbour there, and the place at the
 * distance s before the border, f goes on beyond it as e s c - k c^2 / 2 + ...: over a ridge at c = e s / k
 * and down to a place that no descent from here, nor from samples on the border, gets to. */
bool smooth_beyond(const abut_surface *surface, element *e, int edge, const motion *ms, const element *other,
                   const motion *mo) {
    descent d = {.surface = surface, .aim = seen_from(ms, other, mo), .origin = e->p};
    abut_surface_point place = {e->patch, e->u, e->v};
    double corners[ABUT_SIDES_MOST][2], jacobian[4], aside[2];
    int sides = abut_surface_domain(surface, e->patch, corners);
    const double *a = corners[edge], *b = corners[(edge + 1) % sides];
    double x = b[0] - a[0], y = b[1] - a[1];
    double out = (y * (e->u - a[0]) - x * (e->v - a[1])) / sqrt(x * x + y * y);
    if (!(fabs(out) < BESIDE) || !abut_surface_cross(surface, place, edge, &d.at, jacobian) ||
        !find_stationary(&d, aside) || abut_surface_outside(surface, d.at, NULL) > 0)
        return false;
    if ((aside[0] != 0 || aside[1] != 0) && !take_lowest(&d, aside)) return false;
    element to = *e;
    to.patch = d.at.patch, to.u = d.at.u, to.v = d.at.v;
    if (!smooth_descend(surface, &to, ms, other, mo)) return false;
    *e = to;
    return true;
}
