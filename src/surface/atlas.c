/* Moving over the atlas: domains, transitions across edges and corners, geodesic walks (Kry 2000,
 * section 4.5).
 *
 * A patch's domain is a convex polygon; its edge i runs from corner i to the next.  Across it lies edge j of
 * another patch, and the same curve runs there the other way: g(u) = 1 - u in (4.48).
 *
 *       A      \     B
 *   P_i+1 ------ P_j            The tangent planes agree along the edge, so a parameter velocity r_A has the
 *     |     e      |            image r_B with  c_A,u r_u + c_A,v r_v = c_B,u r'_u + c_B,v r'_v:
 *    P_i ------ P_j+1           r_B = J r_A,  J = (B^T B)^-1 B^T A,  A = [c_A,u c_A,v].
 *                               (The thesis solves a 5 x 5 system in all contact coordinates, (4.54); this is
 *                               its part for one body.)
 *
 * Corners: the edge that ends at the corner is crossed first, so that one goes around it in one direction
 * (4.5.4).  Extended boundary: a place outside by less than epsilon may stay, if it does not move out. */
#include "surface/surface.h"

double abut_surface_outside(const abut_surface *s, abut_surface_point place, int *edge) {
    const patch *p = surface_patch(s, place.patch);
    double worst = -INFINITY;
    for (int i = 0; i < p->sides; i++) {
        const double *a = surface_corner(s, p->first + i),
                     *b = surface_corner(s, p->first + (i + 1) % p->sides);
        double ex = b[0] - a[0], ey = b[1] - a[1];
        double out = (ey * (place.u - a[0]) - ex * (place.v - a[1])) / sqrt(ex * ex + ey * ey);
        if (out > worst) {
            worst = out;
            if (edge) *edge = i;
        }
    }
    return worst;
}

/* J = (B^T B)^-1 B^T A for the first derivatives of both patches, by rows */
static bool transition(const partials *a, const partials *b, double jacobian[4]) {
    double uu = vec3_dot(b->u, b->u), uv = vec3_dot(b->u, b->v), vv = vec3_dot(b->v, b->v);
    double det = uu * vv - uv * uv;
    if (!(det > 0)) return false;
    const vec3 columns[2] = {a->u, a->v};
    for (int k = 0; k < 2; k++) {
        double x = vec3_dot(b->u, columns[k]), y = vec3_dot(b->v, columns[k]);
        jacobian[k] = (vv * x - uv * y) / det;
        jacobian[2 + k] = (uu * y - uv * x) / det;
    }
    return true;
}

bool abut_surface_cross(const abut_surface *s, abut_surface_point place, int edge, abut_surface_point *other,
                        double jacobian[4]) {
    const patch *p = surface_patch(s, place.patch);
    const edge_link *link = surface_edge(s, p->first + edge);
    if (link->patch < 0) return false;
    const patch *q = surface_patch(s, link->patch);
    const double *a = surface_corner(s, p->first + edge),
                 *b = surface_corner(s, p->first + (edge + 1) % p->sides);
    const double *c = surface_corner(s, q->first + link->edge),
                 *d = surface_corner(s, q->first + (link->edge + 1) % q->sides);
    /* the foot on the edge, and the way from it to the place */
    double ex = b[0] - a[0], ey = b[1] - a[1], t = ((place.u - a[0]) * ex + (place.v - a[1]) * ey);
    t /= ex * ex + ey * ey;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double u = a[0] + t * ex, v = a[1] + t * ey, du = place.u - u, dv = place.v - v;
    *other = (abut_surface_point){link->patch, d[0] + t * (c[0] - d[0]), d[1] + t * (c[1] - d[1])};
    partials here, there;
    patch_evaluate(s, p, u, v, 1, &here);
    patch_evaluate(s, q, other->u, other->v, 1, &there);
    if (!transition(&here, &there, jacobian)) return false;
    other->u += jacobian[0] * du + jacobian[1] * dv;
    other->v += jacobian[2] * du + jacobian[3] * dv;
    return true;
}

/* Which edge the place leaves by: -1 when it stays.  An edge is left when it is behind by more than epsilon,
 * or reached (to rounding) with a velocity that points out: after crossing, the place is inside or its
 * velocity points in, so that it does not come back at once.  Of two at a corner, the one that ends there. */
static int leaving_edge(const abut_surface *s, abut_surface_point place, const double rate[2]) {
    const patch *p = surface_patch(s, place.patch);
    double speed = sqrt(rate[0] * rate[0] + rate[1] * rate[1]);
    int chosen = -1;
    bool leaves[ABUT_SIDES_MOST];
    for (int i = 0; i < p->sides; i++) {
        const double *a = surface_corner(s, p->first + i),
                     *b = surface_corner(s, p->first + (i + 1) % p->sides);
        double ex = b[0] - a[0], ey = b[1] - a[1], length = sqrt(ex * ex + ey * ey);
        double out = (ey * (place.u - a[0]) - ex * (place.v - a[1])) / length;
        double rate_out = (ey * rate[0] - ex * rate[1]) / length;
        leaves[i] = out > s->epsilon || (out > -1e-14 && rate_out > 1e-10 * speed);
        if (leaves[i]) chosen = i;
    }
    for (int i = 0; i < p->sides && chosen >= 0; i++)
        if (leaves[i] && leaves[(i + 1) % p->sides]) chosen = i;
    return chosen;
}

abut_status abut_surface_settle(const abut_surface *s, abut_surface_point *place, double rate[2],
                                double jacobian[4], int *crossings, abut_error *error) {
    enum { BUDGET = 4 * 512 };
    for (int n = 0; n < BUDGET; n++) {
        int edge = leaving_edge(s, *place, rate);
        if (edge < 0) return ABUT_OK;
        abut_surface_point other;
        double j[4];
        if (!abut_surface_cross(s, *place, edge, &other, j))
            return surface_edge(s, surface_patch(s, place->patch)->first + edge)->patch < 0
                       ? fail(error, ABUT_FAILED,
                              "the surface ends at edge %d of patch %d; keep the motion inside or close the "
                              "surface",
                              edge, place->patch)
                       : fail(error, ABUT_FAILED,
                              "beyond edge %d of patch %d the surface has no tangent plane at %g, %g; remove "
                              "repeated points and faces without area from its cage or net",
                              edge, place->patch, place->u, place->v);
        double u = j[0] * rate[0] + j[1] * rate[1], v = j[2] * rate[0] + j[3] * rate[1];
        *place = other, rate[0] = u, rate[1] = v;
        if (jacobian) {
            double old[4];
            memcpy(old, jacobian, sizeof old);
            for (int r = 0; r < 2; r++)
                for (int c = 0; c < 2; c++)
                    jacobian[2 * r + c] = j[2 * r] * old[c] + j[2 * r + 1] * old[2 + c];
        }
        if (crossings) ++*crossings;
    }
    return fail(error, ABUT_BUDGET, "more than %d crossings at one place, at patch %d; the atlas is broken",
                BUDGET, place->patch);
}

/* ---- geodesic walks */

typedef struct walker {
    double x[4]; /* u, v and their rates */
} walker;

/* The acceleration of a geodesic: c'' is normal to the surface,
 * [u'' v''] = -G^-1 [c_u . a, c_v . a],  a = c_uu u'^2 + 2 c_uv u' v' + c_vv v'^2. */
static bool geodesic(const abut_surface *s, int p, const double x[4], double rate[4]) {
    partials c;
    patch_evaluate(s, surface_patch(s, p), x[0], x[1], 2, &c);
    vec3 a = vec3_axpy(vec3_axpy(vec3_scale(c.uu, x[2] * x[2]), 2 * x[2] * x[3], c.uv), x[3] * x[3], c.vv);
    double uu = vec3_dot(c.u, c.u), uv = vec3_dot(c.u, c.v), vv = vec3_dot(c.v, c.v), det = uu * vv - uv * uv;
    double au = vec3_dot(c.u, a), av = vec3_dot(c.v, a);
    rate[0] = x[2], rate[1] = x[3];
    rate[2] = -(vv * au - uv * av) / det, rate[3] = -(uu * av - uv * au) / det;
    return det > 0;
}

/* One classical Runge-Kutta step of length h. */
static bool step(const abut_surface *s, int p, const walker *from, double h, walker *to) {
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    double k[4] = {0}, sum[4] = {0};
    for (int stage = 0; stage < 4; stage++) {
        double x[4];
        for (int i = 0; i < 4; i++) x[i] = from->x[i] + h * at[stage] * k[i];
        if (!geodesic(s, p, x, k)) return false;
        for (int i = 0; i < 4; i++) sum[i] += weight[stage] * k[i];
    }
    for (int i = 0; i < 4; i++) to->x[i] = from->x[i] + h / 6 * sum[i];
    return true;
}

static double outside_of(const abut_surface *s, int p, const walker *w) {
    return abut_surface_outside(s, (abut_surface_point){p, w->x[0], w->x[1]}, NULL);
}

/* A step that ends at the border where it would leave the extended domain, just outside (by at most 1e-12):
 * on the border itself, or on the extended one for a path that started between the two.  The length of the
 * step is found by false position with halving of the stale end (Illinois). */
static bool step_inside(const abut_surface *s, int p, const walker *from, double h, walker *to,
                        double *took) {
    double start = outside_of(s, p, from), border = start > 0 ? s->epsilon : 0;
    if (!step(s, p, from, h, to)) return false;
    double low = 0, high = h, f_low = start - border, f_high = outside_of(s, p, to) - border;
    double beyond = f_high;
    *took = h;
    if (f_high + border <= s->epsilon) return true;
    for (int i = 0, stale = 0; i < 80 && beyond > 1e-12 && high - low > 1e-15 * h; i++) {
        double x = f_low < 0 ? low + (high - low) * f_low / (f_low - f_high) : 0.5 * (low + high);
        if (i > 40 || !(x > low && x < high)) x = 0.5 * (low + high);
        if (!step(s, p, from, x, to)) return false;
        double f = outside_of(s, p, to) - border;
        if (f > 0) {
            high = x, f_high = beyond = f;
            if (stale > 0) f_low *= 0.5;
            stale = 1;
        } else {
            low = x, f_low = f;
            if (stale < 0) f_high *= 0.5;
            stale = -1;
        }
    }
    *took = high;
    return step(s, p, from, high, to);
}

/* |c_u u' + c_v v'|, which a geodesic keeps. */
static double speed_of(const abut_surface *s, int p, const walker *w) {
    partials c;
    patch_evaluate(s, surface_patch(s, p), w->x[0], w->x[1], 1, &c);
    return vec3_length(vec3_axpy(vec3_scale(c.u, w->x[2]), w->x[3], c.v));
}

/* A step of *most, halved until it keeps the speed to 1e-6 and does not reach so far beyond the border that
 * the patch is not regular there.  Below `least` the speed is put back to what it was: near a fold no step
 * keeps it.  *most is what the step was in the end. */
static bool step_well(const abut_surface *s, int p, const walker *from, double least, double *most,
                      walker *to, double *took) {
    double speed = speed_of(s, p, from);
    for (int k = 0; k < 40; k++, *most *= 0.5) {
        if (!step_inside(s, p, from, *most, to, took)) continue;
        double now = speed_of(s, p, to);
        if (fabs(now - speed) <= 1e-6 * speed) return true;
        if (*most > least || !(now > 0) || !isfinite(now)) continue;
        to->x[2] *= speed / now, to->x[3] *= speed / now;
        return true;
    }
    return false;
}

abut_status abut_surface_walk(const abut_surface *s, abut_surface_point *place, double rate[2], double length,
                              double step_length, const abut_walk_hook *hook, abut_error *error) {
    partials c;
    patch_evaluate(s, surface_patch(s, place->patch), place->u, place->v, 1, &c);
    double speed = vec3_length(vec3_axpy(vec3_scale(c.u, rate[0]), rate[1], c.v));
    if (!(speed > 0) || !(length >= 0) || !(step_length > 0) || !isfinite(length / step_length))
        return fail(error, ABUT_INVALID,
                    "a walk with speed %g, length %g, step %g; give positive finite numbers", speed, length,
                    step_length);
    double left = length / speed, h = step_length / speed, pace = h;
    int64_t budget = 1000 + (int64_t)(1024 * (length / step_length));
    while (left > 0) {
        int from = place->patch, crossings = 0;
        abut_status status = abut_surface_settle(s, place, rate, NULL, &crossings, error);
        if (hook && hook->crossed && crossings) hook->crossed(hook->user, from, place->patch, crossings);
        if (status != ABUT_OK) return status;
        if (budget-- <= 0)
            return fail(error, ABUT_BUDGET, "the walk makes no way at patch %d; use a longer step",
                        place->patch);
        walker w = {{place->u, place->v, rate[0], rate[1]}}, to;
        double took, most = pace < left ? pace : left, asked = most;
        if (!step_well(s, place->patch, &w, h / (1 << 20), &most, &to, &took))
            return fail(error, ABUT_FAILED, "patch %d is not regular at %g, %g", place->patch, place->u,
                        place->v);
        /* the next step is as long, or twice that where this one was well at once */
        pace = most < asked ? most : fmin(2 * pace, h);
        place->u = to.x[0], place->v = to.x[1], rate[0] = to.x[2], rate[1] = to.x[3];
        left -= took;
    }
    return ABUT_OK;
}
