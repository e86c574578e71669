/* From a start on a surface down to the nearest place that is deepest (a plane), or closest (a point, a
 * line), over the borders of patches.  Newton's method alone goes to saddles as well, and samples of a narrow
 * valley do not tell where its floor is lowest; so
 *
 *     f = n . X, |X - p|^2 / 2, or |(X - p) - ((X - p) . d) d|^2 / 2
 *
 * (half the squared distance from a circle; minus that from the centre of a cavity) is minimised: steps of
 * -(H + l G)^-1 grad f, where G is the metric c_i . c_j, and l >= 0 makes the smallest eigenvalue of G^-1 H
 * at least a twentieth of the largest; halved while f does not fall. */
#include "contact/patch.h"
#include "contact/smooth.h"

enum { STEPS = 40, HALVINGS = 6 };

/* The other element in the axes of the surface. */
typedef struct aim {
    element_kind kind;
    vec3 p, d;
    double r;
} aim;

static aim seen_from(const motion *ms, const element *e, const motion *me) {
    vec3 p = vec3_add(me->center, quat_rotate(me->rotation, e->p));
    return (aim){e->kind, quat_unrotate(ms->rotation, vec3_sub(p, ms->center)),
                 quat_unrotate(ms->rotation, quat_rotate(me->rotation, e->d)), e->r};
}

/* f, its gradient, and its Hessian times v. */
static double height(const aim *a, vec3 x, vec3 *gradient) {
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
    if (a->kind == ELEMENT_PLANE) return vec3_zero();
    if (a->kind == ELEMENT_CAVITY) return vec3_neg(v);
    return a->kind == ELEMENT_LINE ? vec3_axpy(v, -vec3_dot(v, a->d), a->d) : v;
}

/* The step at the partials p (of points from the centre of mass). */
static bool find_step(const aim *a, const abut_partials *p, double step[2]) {
    vec3 g;
    height(a, p->c, &g);
    vec3 bu = bend(a, p->u), bv = bend(a, p->v);
    double h[3] = {vec3_dot(p->u, bu) + vec3_dot(g, p->uu), vec3_dot(p->u, bv) + vec3_dot(g, p->uv),
                   vec3_dot(p->v, bv) + vec3_dot(g, p->vv)};
    double m[3] = {vec3_dot(p->u, p->u), vec3_dot(p->u, p->v), vec3_dot(p->v, p->v)};
    double det = m[0] * m[2] - m[1] * m[1];
    if (!(det > 0)) return false;
    double mean = (h[0] * m[2] - 2 * h[1] * m[1] + h[2] * m[0]) / (2 * det);
    double product = (h[0] * h[2] - h[1] * h[1]) / det;
    double radius = sqrt(fmax(mean * mean - product, 0)), least = mean - radius, most = fabs(mean) + radius;
    double lift = fmax(0.05 * most - least, 0);
    for (int i = 0; i < 3; i++) h[i] += lift * m[i];
    double gu = vec3_dot(g, p->u), gv = vec3_dot(g, p->v);
    det = h[0] * h[2] - h[1] * h[1];
    if (!(det > 0)) return false;
    step[0] = (h[1] * gv - h[2] * gu) / det, step[1] = (h[1] * gu - h[0] * gv) / det;
    return true;
}

static bool evaluate(const abut_surface *s, const abut_surface_point *at, vec3 origin, abut_partials *p) {
    bool fine = abut_surface_evaluate(s, at->patch, at->u, at->v, 2, p);
    p->c = vec3_add(p->c, origin);
    return fine;
}

bool smooth_descend(const abut_surface *surface, element *e, const motion *ms, const element *other,
                    const motion *mo) {
    aim a = seen_from(ms, other, mo);
    abut_surface_point at = {e->patch, e->u, e->v};
    abut_partials p;
    vec3 g;
    if (!evaluate(surface, &at, e->p, &p)) return false;
    for (int i = 0; i < STEPS; i++) {
        double step[2], f = height(&a, p.c, &g);
        if (!find_step(&a, &p, step)) return false;
        double moves = patch_limit_step(step, 2);
        if (moves < 1e-5) break; /* Newton's method is better from here on */
        bool lower = false;
        for (int k = 0; k < HALVINGS && !lower; k++) {
            abut_surface_point to = {at.patch, at.u + step[0], at.v + step[1]};
            double rate[2] = {step[0], step[1]};
            if (abut_surface_settle(surface, &to, rate, NULL, NULL, NULL) != ABUT_OK) return false;
            abut_partials q;
            lower = evaluate(surface, &to, e->p, &q) && height(&a, q.c, &g) < f;
            if (lower) at = to, p = q;
            step[0] /= 2, step[1] /= 2;
        }
        if (!lower) break;
    }
    e->patch = at.patch, e->u = at.u, e->v = at.v;
    return true;
}
