/* Extremal places of patches.
 *
 * Everything is computed in the axes of body b, where b's patch stands still and a's moves with the relative
 * twist.  With X(u, v) on a, Y(s, t) on b, D = X - Y and n the normal of b, the places solve
 *
 *     F = (n . X_u, n . X_v, D . Y_s, D . Y_t) = 0,
 *
 * and, as F stays zero while the bodies move, their rates solve J (u', v', s', t') = -dF/dt at fixed
 * parameters, where
 *
 *     dF/dt = (n . (w x X_u), n . (w x X_v), X_t . Y_s, X_t . Y_t).
 *
 * From the rates follow those of the place and of the normal: the curvature terms of gap'' are exact. */
#include "contact/patch.h"

#include "numerics/dense.h"

bool patch_solve(int n, double m[4][4], double *x) { return dense_eliminate(n, 4, &m[0][0], x, 1e-14); }

abut_partials patch_moved(const abut_partials *p, mat3 r, vec3 shift) {
    return (abut_partials){.c = vec3_add(mat3_mul_vec(r, p->c), shift),
                           .u = mat3_mul_vec(r, p->u),
                           .v = mat3_mul_vec(r, p->v),
                           .uu = mat3_mul_vec(r, p->uu),
                           .uv = mat3_mul_vec(r, p->uv),
                           .vv = mat3_mul_vec(r, p->vv)};
}

double patch_limit_step(double *step, int n) {
    double size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(step[i]));
    if (size > 0.5)
        for (int i = 0; i < n; i++) step[i] *= 0.5 / size;
    return size;
}

bool patch_is_inside(const abut_surface *surface, int patch, double u, double v, const abut_partials *p,
                     double slack) {
    double speed = fmin(vec3_length(p->u), vec3_length(p->v));
    int edge;
    double outside = abut_surface_outside(surface, (abut_surface_point){patch, u, v}, &edge);
    return outside * speed <= slack;
}

/* ---- a patch and a plane */

/* n is the plane's normal in the patch's axes: n . c_u = n . c_v = 0. */
static bool find_tip(const abut_surface *surface, const element *e, vec3 n, patch_place *at,
                     abut_partials *p) {
    double *u = &at->u, *v = &at->v, moves = 1;
    int beyond = 0;
    *at = (patch_place){.u = e->u, .v = e->v};
    for (; at->rounds < patch_rounds(e) && moves > PATCH_CONVERGED; at->rounds++) {
        if (!abut_surface_evaluate(surface, e->patch, *u, *v, 2, p)) return false;
        double f[2] = {-vec3_dot(n, p->u), -vec3_dot(n, p->v)};
        double m[4][4] = {{vec3_dot(n, p->uu), vec3_dot(n, p->uv)}, {vec3_dot(n, p->uv), vec3_dot(n, p->vv)}};
        if (!patch_solve(2, m, f)) return false;
        moves = patch_limit_step(f, 2);
        *u += f[0], *v += f[1];
        if (!(fabs(*u) < 16 && fabs(*v) < 16)) return false;
        if (patch_walks_off(surface, e, *u, *v, &beyond)) moves = 0;
    }
    return moves <= PATCH_CONVERGES && abut_surface_evaluate(surface, e->patch, *u, *v, 2, p);
}

bool patch_plane(const abut_surface *surface, const element *e, const motion *ma,
                 const element *plane_element, const motion *mb, double slack, contact_point *out,
                 bool *inside, patch_place *places) {
    vec3 n = quat_rotate(mb->rotation, plane_element->d), n_rate = vec3_cross(mb->velocity.angular, n);
    vec3 q = vec3_add(mb->center, quat_rotate(mb->rotation, plane_element->p));
    vec3 w = ma->velocity.angular, local = quat_unrotate(ma->rotation, n);
    vec3 local_rate = quat_unrotate(ma->rotation, vec3_sub(n_rate, vec3_cross(w, n)));
    patch_place at;
    abut_partials p;
    if (!find_tip(surface, e, local, &at, &p)) return false;
    double rate[2] = {-vec3_dot(local_rate, p.u), -vec3_dot(local_rate, p.v)};
    double m[4][4] = {{vec3_dot(local, p.uu), vec3_dot(local, p.uv)},
                      {vec3_dot(local, p.uv), vec3_dot(local, p.vv)}};
    if (!patch_solve(2, m, rate)) return false;
    vec3 arm = quat_rotate(ma->rotation, vec3_add(e->p, p.c));
    vec3 slide = quat_rotate(ma->rotation, vec3_axpy(vec3_scale(p.u, rate[0]), rate[1], p.v));
    out->at = vec3_add(ma->center, arm);
    out->at_rate = vec3_add(vec3_add(ma->velocity.linear, vec3_cross(w, arm)), slide);
    out->normal = n, out->normal_rate = n_rate;
    out->gap = vec3_dot(n, vec3_sub(out->at, q));
    /* the outside of the patch must look at the plane, and the place be deepest, no saddle or summit */
    double uu = vec3_dot(local, p.uu), uv = vec3_dot(local, p.uv), vv = vec3_dot(local, p.vv);
    *inside = patch_is_inside(surface, e->patch, at.u, at.v, &p, slack) &&
              vec3_dot(local, vec3_cross(p.u, p.v)) < 0 && uu + vv > 0 && uu * vv > uv * uv;
    at.u_rate = rate[0], at.v_rate = rate[1];
    if (places) *places = at;
    return true;
}

/* The eigenvector of the smaller eigenvalue of [[uu, uv], [uv, vv]], and that eigenvalue. */
static double least_curved(double uu, double uv, double vv, double d[2]) {
    double mean = (uu + vv) / 2, half = (uu - vv) / 2, radius = sqrt(half * half + uv * uv);
    double a[2] = {uv, mean - radius - uu}, b[2] = {mean - radius - vv, uv};
    bool first = fabs(a[0]) + fabs(a[1]) > fabs(b[0]) + fabs(b[1]);
    d[0] = first ? a[0] : b[0], d[1] = first ? a[1] : b[1];
    double length = sqrt(d[0] * d[0] + d[1] * d[1]);
    if (length > 0)
        d[0] /= length, d[1] /= length;
    else
        d[0] = 1, d[1] = 0;
    return mean - radius;
}

/* Where the curvature jumps at the border of a patch, the place that came over it can be a saddle: the patch
 * is deeper a little farther on.  A first step along the least curved direction into the domain, then
 * Newton's method with the curvature made positive. */
bool patch_descend(const abut_surface *surface, element *e, vec3 n, double flat) {
    abut_partials p;
    double d[2];
    bool moved = false;
    for (int i = 0; i < PATCH_ROUNDS; i++) {
        if (!abut_surface_evaluate(surface, e->patch, e->u, e->v, 2, &p)) return false;
        double uu = vec3_dot(n, p.uu), uv = vec3_dot(n, p.uv), vv = vec3_dot(n, p.vv);
        double least = least_curved(uu, uv, vv, d), scale = fabs(uu) + fabs(uv) + fabs(vv);
        if (i == 0 && least > flat * scale) return false;
        if (i == 0) {
            abut_surface_point ahead = {e->patch, e->u + 0.02 * d[0], e->v + 0.02 * d[1]},
                               behind = {e->patch, e->u - 0.02 * d[0], e->v - 0.02 * d[1]};
            bool forward =
                abut_surface_outside(surface, ahead, NULL) < abut_surface_outside(surface, behind, NULL);
            e->u = forward ? ahead.u : behind.u, e->v = forward ? ahead.v : behind.v;
            moved = true;
            continue;
        }
        double lift = least < 0.05 * scale ? 0.05 * scale - least : 0;
        double f[2] = {-vec3_dot(n, p.u), -vec3_dot(n, p.v)};
        double m[4][4] = {{uu + lift, uv}, {uv, vv + lift}};
        if (!patch_solve(2, m, f)) return false;
        for (int k = 0; k < 2; k++) f[k] = f[k] > 0.05 ? 0.05 : f[k] < -0.05 ? -0.05 : f[k];
        e->u += f[0], e->v += f[1];
        if (abut_surface_outside(surface, (abut_surface_point){e->patch, e->u, e->v}, NULL) > 0.1) break;
        if (fabs(f[0]) + fabs(f[1]) < 1e-6) break;
    }
    return moved;
}

/* ---- two patches */

typedef struct two_places {
    double x[4];        /* u, v, s, t */
    abut_partials a, b; /* in the axes of body b */
    vec3 n, n_by[2];    /* normal of b and its derivatives by s, t */
} two_places;

static bool find_normal(two_places *t) {
    vec3 n = vec3_cross(t->b.u, t->b.v);
    double length = vec3_length(n);
    if (!(length > 0)) return false;
    t->n = vec3_scale(n, 1 / length);
    vec3 by[2] = {vec3_add(vec3_cross(t->b.uu, t->b.v), vec3_cross(t->b.u, t->b.uv)),
                  vec3_add(vec3_cross(t->b.uv, t->b.v), vec3_cross(t->b.u, t->b.vv))};
    for (int i = 0; i < 2; i++)
        t->n_by[i] = vec3_scale(vec3_axpy(by[i], -vec3_dot(t->n, by[i]), t->n), 1 / length);
    return true;
}

static bool evaluate(const abut_surface *sa, const element *a, mat3 r, vec3 shift, const abut_surface *sb,
                     const element *b, two_places *t) {
    abut_partials p;
    if (!abut_surface_evaluate(sa, a->patch, t->x[0], t->x[1], 2, &p)) return false;
    p.c = vec3_add(p.c, a->p);
    t->a = patch_moved(&p, r, shift);
    if (!abut_surface_evaluate(sb, b->patch, t->x[2], t->x[3], 2, &t->b)) return false;
    t->b.c = vec3_add(t->b.c, b->p);
    return find_normal(t);
}

/* F and its Jacobian. */
static void equations(const two_places *t, double f[4], double m[4][4]) {
    const abut_partials *a = &t->a, *b = &t->b;
    vec3 n = t->n, d = vec3_sub(a->c, b->c);
    double values[4] = {vec3_dot(n, a->u), vec3_dot(n, a->v), vec3_dot(d, b->u), vec3_dot(d, b->v)};
    double jacobian[4][4] = {
        {vec3_dot(n, a->uu), vec3_dot(n, a->uv), vec3_dot(t->n_by[0], a->u), vec3_dot(t->n_by[1], a->u)},
        {vec3_dot(n, a->uv), vec3_dot(n, a->vv), vec3_dot(t->n_by[0], a->v), vec3_dot(t->n_by[1], a->v)},
        {vec3_dot(a->u, b->u), vec3_dot(a->v, b->u), vec3_dot(d, b->uu) - vec3_dot(b->u, b->u),
         vec3_dot(d, b->uv) - vec3_dot(b->v, b->u)},
        {vec3_dot(a->u, b->v), vec3_dot(a->v, b->v), vec3_dot(d, b->uv) - vec3_dot(b->u, b->v),
         vec3_dot(d, b->vv) - vec3_dot(b->v, b->v)}};
    for (int i = 0; i < 4; i++) {
        f[i] = values[i];
        for (int j = 0; j < 4; j++) m[i][j] = jacobian[i][j];
    }
}

bool patch_patch_step(const abut_partials *a, const abut_partials *b, double step[4]) {
    two_places t = {.a = *a, .b = *b};
    double f[4], m[4][4];
    if (!find_normal(&t)) return false;
    equations(&t, f, m);
    if (!patch_solve(4, m, f)) return false;
    for (int i = 0; i < 4; i++) step[i] = -f[i];
    return true;
}

bool patch_patch(const abut_surface *sa, const element *a, const motion *ma, const abut_surface *sb,
                 const element *b, const motion *mb, double slack, contact_point *out, bool *inside,
                 patch_place *places) {
    quat q = quat_mul(quat_conj(mb->rotation), ma->rotation);
    mat3 r = quat_matrix(q);
    vec3 shift = quat_unrotate(mb->rotation, vec3_sub(ma->center, mb->center));
    two_places t = {.x = {a->u, a->v, b->u, b->v}};
    double f[4], m[4][4], moves = 1;
    int rounds = 0, beyond[2] = {0, 0};
    for (; rounds < patch_rounds(a) && moves > PATCH_CONVERGED; rounds++) {
        if (!evaluate(sa, a, r, shift, sb, b, &t)) return false;
        equations(&t, f, m);
        if (!patch_solve(4, m, f)) return false;
        moves = patch_limit_step(f, 4);
        for (int k = 0; k < 4; k++) {
            t.x[k] -= f[k];
            if (!(fabs(t.x[k]) < 16)) return false;
        }
        bool off_a = patch_walks_off(sa, a, t.x[0], t.x[1], &beyond[0]),
             off_b = patch_walks_off(sb, b, t.x[2], t.x[3], &beyond[1]);
        if (off_a || off_b) moves = 0;
    }
    if (moves > PATCH_CONVERGES || !evaluate(sa, a, r, shift, sb, b, &t)) return false;
    /* relative twist of a in the axes of b, at a's centre of mass */
    vec3 w = quat_unrotate(mb->rotation, vec3_sub(ma->velocity.angular, mb->velocity.angular));
    vec3 v_center = vec3_sub(ma->velocity.linear, motion_velocity_at(mb, ma->center));
    vec3 x_rate = vec3_add(quat_unrotate(mb->rotation, v_center), vec3_cross(w, vec3_sub(t.a.c, shift)));
    double rate[4] = {-vec3_dot(t.n, vec3_cross(w, t.a.u)), -vec3_dot(t.n, vec3_cross(w, t.a.v)),
                      -vec3_dot(x_rate, t.b.u), -vec3_dot(x_rate, t.b.v)};
    equations(&t, f, m);
    if (!patch_solve(4, m, rate)) return false;
    vec3 slide = vec3_axpy(vec3_scale(t.b.u, rate[2]), rate[3], t.b.v);
    vec3 turn = vec3_axpy(vec3_scale(t.n_by[0], rate[2]), rate[3], t.n_by[1]);
    vec3 arm = quat_rotate(mb->rotation, t.b.c);
    out->at = vec3_add(mb->center, arm);
    out->at_rate = vec3_add(motion_velocity_at(mb, out->at), quat_rotate(mb->rotation, slide));
    out->normal = quat_rotate(mb->rotation, t.n);
    out->normal_rate =
        vec3_add(vec3_cross(mb->velocity.angular, out->normal), quat_rotate(mb->rotation, turn));
    out->gap = vec3_dot(t.n, vec3_sub(t.a.c, t.b.c));
    *inside = patch_is_inside(sa, a->patch, t.x[0], t.x[1], &t.a, slack) &&
              patch_is_inside(sb, b->patch, t.x[2], t.x[3], &t.b, slack) &&
              vec3_dot(t.n, vec3_cross(t.a.u, t.a.v)) < 0;
    if (places) {
        places[0] = (patch_place){t.x[0], t.x[1], rate[0], rate[1], rounds};
        places[1] = (patch_place){t.x[2], t.x[3], rate[2], rate[3], rounds};
    }
    return true;
}
