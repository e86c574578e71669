/* A patch against a point, a line or a circle: what a ball, a capsule, a cylinder, a vertex or an edge needs.
 *
 * In the axes of the patch's body, with X(u, v) on the patch, n its unit normal and the point p:
 *
 *     point   F = (D . X_u, D . X_v),          D = X - p
 *     line    F = (n . d, D . X_u, D . X_v),   D = X - (p + l d): the normal crosses the line at a right
 *             angle.  (D . d = 0 would do, but is singular where they touch: D = 0.)
 *     circle  the same with its point and tangent at the arc length l, from where it is taken anew after
 *             every step: dF_1/dl = n . c'' = -(n . e) / r with the unit radius e, and no angle is needed
 *     cavity  a point with the negative radius: gap = r - |D|, where |D| is largest
 *
 * F stays zero while the bodies move, so the rates of u, v, l solve J x' = -dF/dt at fixed parameters. */
#include "contact/patch.h"

/* The partials about the centre of mass, the unit normal and its derivatives. */
typedef struct place_on {
    abut_partials p;
    vec3 n, n_by[2];
} place_on;

static bool evaluate(const abut_surface *surface, const element *e, double u, double v, place_on *at) {
    abut_partials *p = &at->p;
    if (!abut_surface_evaluate(surface, e->patch, u, v, 2, p)) return false;
    p->c = vec3_add(p->c, e->p);
    vec3 n = vec3_cross(p->u, p->v);
    double length = vec3_length(n);
    if (!(length > 0)) return false;
    at->n = vec3_scale(n, 1 / length);
    vec3 by[2] = {vec3_add(vec3_cross(p->uu, p->v), vec3_cross(p->u, p->uv)),
                  vec3_add(vec3_cross(p->uv, p->v), vec3_cross(p->u, p->vv))};
    for (int i = 0; i < 2; i++)
        at->n_by[i] = vec3_scale(vec3_axpy(by[i], -vec3_dot(at->n, by[i]), at->n), 1 / length);
    return true;
}

/* A point, a line or a circle in the axes of the patch's body: where it is and how it moves there. */
typedef struct other {
    vec3 p, p_rate, d, d_rate;
    bool line; /* or a circle: l counts */
    /* of a circle, which p and d touch at the unit radius e */
    bool round;
    vec3 center, center_rate, axis, spin, e;
    double radius;
} other;

/* The point and the tangent of a circle at the radius towards e. */
static void turn_to(other *o, vec3 e) {
    e = vec3_axpy(e, -vec3_dot(e, o->axis), o->axis);
    double length = vec3_length(e);
    o->e = length > 0 ? vec3_scale(e, 1 / length) : vec3_orthogonal(o->axis);
    o->p = vec3_axpy(o->center, o->radius, o->e);
    o->p_rate = vec3_add(o->center_rate, vec3_cross(o->spin, vec3_scale(o->e, o->radius)));
    o->d = vec3_cross(o->axis, o->e), o->d_rate = vec3_cross(o->spin, o->d);
}

static other seen_from(const motion *ma, const element *e, const motion *mb) {
    vec3 p = vec3_add(mb->center, quat_rotate(mb->rotation, e->p));
    vec3 moves = vec3_sub(motion_velocity_at(mb, p), motion_velocity_at(ma, p));
    other o = {.p = quat_unrotate(ma->rotation, vec3_sub(p, ma->center)),
               .p_rate = quat_unrotate(ma->rotation, moves),
               .line = e->kind == ELEMENT_LINE || e->kind == ELEMENT_CIRCLE,
               .round = e->kind == ELEMENT_CIRCLE};
    if (!o.line) return o;
    vec3 d = quat_rotate(mb->rotation, e->d);
    vec3 spin = vec3_sub(mb->velocity.angular, ma->velocity.angular);
    o.d = quat_unrotate(ma->rotation, d), o.d_rate = quat_unrotate(ma->rotation, vec3_cross(spin, d));
    if (!o.round) return o;
    o.center = o.p, o.center_rate = o.p_rate, o.axis = o.d, o.spin = quat_unrotate(ma->rotation, spin);
    o.radius = e->r;
    return o;
}

/* F, J and -dF/dt for x = (u, v, l); returns the number of equations. */
static int equations(const place_on *at, const other *o, double l, double f[4], double m[4][4],
                     double rate[4]) {
    const abut_partials *p = &at->p;
    vec3 q = vec3_axpy(o->p, l, o->d), q_rate = vec3_axpy(o->p_rate, l, o->d_rate), d = vec3_sub(p->c, q);
    const vec3 by[2] = {p->u, p->v}, by2[3] = {p->uu, p->uv, p->vv};
    for (int i = 0; i < 2; i++) {
        f[i] = vec3_dot(d, by[i]), rate[i] = vec3_dot(q_rate, by[i]);
        for (int j = 0; j < 2; j++) m[i][j] = vec3_dot(by[i], by[j]) + vec3_dot(d, by2[i + j]);
        m[i][2] = -vec3_dot(o->d, by[i]);
    }
    if (!o->line) return 2;
    f[2] = vec3_dot(at->n, o->d), rate[2] = -vec3_dot(at->n, o->d_rate);
    m[2][0] = vec3_dot(at->n_by[0], o->d), m[2][1] = vec3_dot(at->n_by[1], o->d);
    m[2][2] = o->round ? -vec3_dot(at->n, o->e) / o->radius : 0;
    return 3;
}

static bool find(const abut_surface *surface, const element *e, other *o, double x[3], place_on *at,
                 int *rounds) {
    double f[4], m[4][4], rate[4], moves = 1;
    int beyond = 0;
    for (*rounds = 0; *rounds < patch_rounds(e) && moves > PATCH_CONVERGED; ++*rounds) {
        if (!evaluate(surface, e, x[0], x[1], at)) return false;
        int n = equations(at, o, x[2], f, m, rate);
        if (!patch_solve(n, m, f)) return false;
        double along = f[2];
        moves = patch_limit_step(f, 2); /* l is a length, no parameter: it takes the same part of its step */
        if (n == 3) x[2] -= moves > 0.5 ? along * 0.5 / moves : along;
        x[0] -= f[0], x[1] -= f[1];
        if (!(fabs(x[0]) < 16 && fabs(x[1]) < 16 && isfinite(x[2]))) return false;
        if (o->round) turn_to(o, vec3_axpy(o->e, x[2] / o->radius, o->d)), x[2] = 0;
        if (patch_walks_off(surface, e, x[0], x[1], &beyond)) moves = 0;
    }
    return moves <= PATCH_CONVERGES && evaluate(surface, e, x[0], x[1], at);
}

/* Whether |X - q| is largest there: what touches the wall of a cavity. */
static bool is_farthest(const place_on *at, vec3 q) {
    const abut_partials *p = &at->p;
    vec3 d = vec3_sub(p->c, q);
    double uu = vec3_dot(p->u, p->u) + vec3_dot(d, p->uu), uv = vec3_dot(p->u, p->v) + vec3_dot(d, p->uv),
           vv = vec3_dot(p->v, p->v) + vec3_dot(d, p->vv);
    return uu + vv < 0 && uu * vv > uv * uv && vec3_dot(d, at->n) > 0;
}

bool patch_point(const abut_surface *surface, const element *e, const motion *ma, const element *point,
                 const motion *mb, double slack, contact_point *out, bool *inside, patch_place *places,
                 double *t) {
    other o = seen_from(ma, point, mb);
    double x[3] = {e->u, e->v, 0}, f[4], m[4][4], rate[4];
    place_on at;
    if (o.line) {
        abut_partials start;
        abut_surface_evaluate(surface, e->patch, e->u, e->v, 0, &start);
        vec3 from = vec3_sub(vec3_add(start.c, e->p), o.p);
        if (o.round)
            turn_to(&o, from);
        else
            x[2] = vec3_dot(o.d, from);
    }
    int rounds;
    if (!find(surface, e, &o, x, &at, &rounds)) return false;
    if (!patch_solve(equations(&at, &o, x[2], f, m, rate), m, rate)) return false;
    vec3 q = vec3_axpy(o.p, x[2], o.d), arm = quat_rotate(ma->rotation, at.p.c);
    vec3 slide = quat_rotate(ma->rotation, vec3_axpy(vec3_scale(at.p.u, rate[0]), rate[1], at.p.v));
    vec3 turn = quat_rotate(ma->rotation, vec3_axpy(vec3_scale(at.n_by[0], rate[0]), rate[1], at.n_by[1]));
    vec3 n = quat_rotate(ma->rotation, at.n);
    out->at = vec3_add(ma->center, arm);
    out->at_rate = vec3_add(motion_velocity_at(ma, out->at), slide);
    /* from b to a: against the outside of the patch */
    out->normal = vec3_neg(n);
    out->normal_rate = vec3_neg(vec3_add(vec3_cross(ma->velocity.angular, n), turn));
    double offset = o.round ? 0 : point->kind == ELEMENT_CAVITY ? -point->r : point->r;
    out->gap = vec3_dot(at.n, vec3_sub(q, at.p.c)) - offset;
    *inside = patch_is_inside(surface, e->patch, x[0], x[1], &at.p, slack) &&
              (point->kind != ELEMENT_CAVITY || is_farthest(&at, q));
    *t = x[2];
    if (places) *places = (patch_place){x[0], x[1], rate[0], rate[1], rounds};
    return true;
}
