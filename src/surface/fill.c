/* Filling the hole around an extraordinary vertex with an S-patch (Kry 2000, section 5.2.2, improved).
 *
 * The hole has n sides; beyond side i lies a regular quartic f_i with the corners P_(i+1), P_i and the tip
 * q_i. Around the corner P_i the Loop surface is C2 in the lattice's parameters, in which q_i - P_i =
 * -(P_(i-1) - P_i)   and   q_(i-1) - P_i = -(P_(i+1) - P_i).                      (*) The thesis places the
 * domain of f_i as an equilateral triangle on side i of the regular n-gon, extends f_i by its blossom, and
 * gives a control point that two sides claim to the first that comes.  But for n != 6 the triangles at a
 * corner do not fit (*) on both sides, so that the claims differ already to first order, and the tangent
 * planes differ along the side that came second.  Here instead:
 *
 *  1. The boundary curves are those of f_i.  At each corner the control points P_i P_i P_i X follow from one
 *     linear map, the one that takes both sides to the derivatives of their curves: nobody comes first.
 *  2. The domain triangle of f_i leans: its tip at parameter t of the side is
 *       Q_i(t) = (1 - t)(2 P_i - P_(i-1)) + t (2 P_(i+1) - P_(i+2)),
 *     which agrees with (*) at both ends and has constant height.  The blossom with the tip for t = 1/3 or
 * 2/3 gives P_i P_i P_(i+1) X and P_i P_(i+1) P_(i+1) X, with the mean tip all others; where several sides
 *     claim a point with equal right (as many of its arguments on the side), it is their mean.
 *  3. The twist P_(i-1) P_i P_i P_(i+1), claimed by two sides, gets the normal component that gives S the
 * second fundamental form of the surroundings at the corner.  This one number satisfies both sides, as the
 *     surroundings are C2: after it, the defect g_i(t) = N(t) . S_w(t) of the tangent planes along side i (N
 *     the normal of f_i, w the inward direction) vanishes like t^2 (1 - t)^2.
 *  4. The rest of the defect is taken away by the correction alpha_i (l_i l_(i+1))^2 q_i(t) of s_patch.c,
 * whose inward derivative on side i is |side| t^2 (1 - t)^2 q_i(t) and zero on all others: q_i = -g_i N /
 * (|N|^2 |side| t^2 (1 - t)^2), interpolated at Chebyshev points.  So the normals agree all along the
 * boundary, to rounding. */
#include "surface/surface.h"

enum { MOST = ABUT_SIDES_MOST };

typedef struct hole {
    int n;
    const double (*nets)[TRIANGLE_NUMBERS];
    double p[MOST][2]; /* corners of the n-gon */
    double *data;
} hole;

static vec3 net_point(const hole *h, int i, int j, int k) {
    const double *d = h->nets[i] + 4 * TRIANGLE(j, k);
    return vec3_make(d[0], d[1], d[2]);
}
static vec3 control(const hole *h, int a, int b, int c, int d) {
    const double *x = s_patch_points(h->data, h->n) + 4 * abut_s_patch_index(a, b, c, d);
    return vec3_make(x[0], x[1], x[2]);
}
static void set(hole *h, int a, int b, int c, int d, vec3 point) {
    s_patch_set(h->data, h->n, abut_s_patch_index(a, b, c, d), point);
}
static int next(const hole *h, int i) { return i + 1 < h->n ? i + 1 : 0; }
static int before(const hole *h, int i) { return i > 0 ? i - 1 : h->n - 1; }

/* Coordinates of x on side i: s along it (0 at P_i, 1 at P_(i+1)), and the signed height inward. */
static void along(const hole *h, int i, const double x[2], double *s, double *height) {
    const double *a = h->p[i], *b = h->p[next(h, i)];
    double ex = b[0] - a[0], ey = b[1] - a[1], dx = x[0] - a[0], dy = x[1] - a[1], e2 = ex * ex + ey * ey;
    *s = (dx * ex + dy * ey) / e2;
    *height = (ex * dy - ey * dx) / sqrt(e2);
}

/* The parameters (u, v) of f_i for the point x of the n-gon's plane, with the tip Q_i(t).  On a net with
 * corners (P_(i+1), P_i, tip): v is the tip's weight, u that of P_i. */
static void in_triangle(const hole *h, int i, double t, const double x[2], double uv[2]) {
    const double *a = h->p[i], *b = h->p[next(h, i)], *a0 = h->p[before(h, i)],
                 *b0 = h->p[next(h, next(h, i))];
    double tip[2], s, height, tip_s, tip_height;
    for (int k = 0; k < 2; k++) tip[k] = (1 - t) * (2 * a[k] - a0[k]) + t * (2 * b[k] - b0[k]);
    along(h, i, x, &s, &height);
    along(h, i, tip, &tip_s, &tip_height);
    uv[1] = height / tip_height;
    uv[0] = 1 - uv[1] - (s - uv[1] * tip_s);
}

/* f_i* at a multiset of corners of the n-gon */
static vec3 claim(const hole *h, int i, double t, const int bag[4]) {
    double at[4][2];
    for (int k = 0; k < 4; k++) in_triangle(h, i, t, h->p[bag[k]], at[k]);
    return triangle_blossom(h->nets[i], (const double(*)[2])at);
}

static void set_boundary(hole *h) {
    for (int i = 0; i < h->n; i++) {
        int j = next(h, i);
        /* net index (j, 0) holds P_i j times and P_(i+1) 4 - j times */
        set(h, i, i, i, i, net_point(h, i, 4, 0));
        set(h, i, i, i, j, net_point(h, i, 3, 0));
        set(h, i, i, j, j, net_point(h, i, 2, 0));
        set(h, i, j, j, j, net_point(h, i, 1, 0));
    }
}

/* P_i P_i P_i X by the linear map of the corner */
static void set_corners(hole *h) {
    for (int i = 0; i < h->n; i++) {
        int a = before(h, i), b = next(h, i);
        vec3 c = control(h, i, i, i, i), da = vec3_sub(control(h, i, i, i, a), c),
             db = vec3_sub(control(h, i, i, i, b), c);
        double ax = h->p[a][0] - h->p[i][0], ay = h->p[a][1] - h->p[i][1];
        double bx = h->p[b][0] - h->p[i][0], by = h->p[b][1] - h->p[i][1], det = ax * by - ay * bx;
        for (int x = 0; x < h->n; x++) {
            if (x == i || x == a || x == b) continue;
            double dx = h->p[x][0] - h->p[i][0], dy = h->p[x][1] - h->p[i][1];
            set(h, i, i, i, x,
                vec3_axpy(vec3_axpy(c, (dx * by - dy * bx) / det, da), (ax * dy - ay * dx) / det, db));
        }
    }
}

/* How many of the bag's arguments are ends of side i. */
static int on_side(const hole *h, int i, const int bag[4]) {
    int j = next(h, i), count = 0;
    for (int k = 0; k < 4; k++) count += bag[k] == i || bag[k] == j;
    return count;
}

/* The tip's place for a claim: nearer the corner that the bag holds more often. */
static double lean(int i, const int bag[4], int count) {
    int start = 0;
    for (int k = 0; k < 4; k++) start += bag[k] == i;
    return count == 3 ? (start == 2 ? 1.0 / 3 : 2.0 / 3) : 0.5;
}

static void set_inner(hole *h, const int bag[4]) {
    int most = 0, repeated = 0;
    for (int i = 0; i < h->n; i++) {
        int count = on_side(h, i, bag);
        if (count > most) most = count;
    }
    for (int k = 0; k < 4; k++) {
        int same = 0;
        for (int l = 0; l < 4; l++) same += bag[l] == bag[k];
        if (same > repeated) repeated = same;
    }
    if (most == 4 || repeated >= 3) return; /* boundary and corners are set */
    vec3 sum = vec3_zero();
    int claims = 0;
    for (int i = 0; i < h->n; i++)
        if (on_side(h, i, bag) == most) sum = vec3_add(sum, claim(h, i, lean(i, bag, most), bag)), claims++;
    set(h, bag[0], bag[1], bag[2], bag[3], vec3_scale(sum, 1.0 / claims));
}

/* The twists: N . (S_twist - C) = -N . (f_i*(P_i P_i tip P_(i+1)) - C), from the mixed second derivative of
 * f_i at the corner towards tip and P_(i+1), and (*). */
static void set_twists(hole *h) {
    for (int i = 0; i < h->n; i++) {
        int a = before(h, i), b = next(h, i);
        vec3 c = control(h, i, i, i, i), da = vec3_sub(control(h, i, i, i, a), c),
             db = vec3_sub(control(h, i, i, i, b), c), normal = vec3_unit(vec3_cross(db, da));
        double want = -vec3_dot(normal, vec3_sub(net_point(h, i, 2, 1), c));
        vec3 now = control(h, a, i, i, b);
        double have = vec3_dot(normal, vec3_sub(now, c));
        set(h, a, i, i, b, vec3_axpy(now, want - have, normal));
    }
}

/* The normal of f_i, not scaled to unit, at parameter t of side i. */
static vec3 normal_beyond(const double *net, double t) {
    partials outside;
    triangle_evaluate(net, 1 - t, 0, 1, &outside);
    return vec3_cross(outside.u, outside.v);
}

/* Chebyshev interpolation of q_i with `count` coefficients in x = 2t - 1; cosine[k] is that of k/(4 count)
 * turns. */
static void fit_correction(hole *h, int i, int count, const double *cosine) {
    double *out = s_patch_correction(h->data, h->n, i);
    double ex = h->p[next(h, i)][0] - h->p[i][0], ey = h->p[next(h, i)][1] - h->p[i][1];
    double side = sqrt(ex * ex + ey * ey);
    memset(out, 0, 4 * S_PATCH_FIT * sizeof *out);
    for (int k = 0; k < count; k++) {
        double t = 0.5 * (1 + cosine[2 * k + 1]), bubble = t * (1 - t) * t * (1 - t);
        vec3 inward, tangent, normal = normal_beyond(h->nets[i], t);
        s_patch_side(h->data, h->n, (const double(*)[2])h->p, i, t, &tangent, &inward);
        double n2 = vec3_length2(normal);
        vec3 q = n2 > 0 ? vec3_scale(normal, -vec3_dot(normal, inward) / (n2 * side * bubble)) : normal;
        for (int m = 0; m < count; m++) {
            double w = cosine[(2 * k + 1) * m % (4 * count)] * (m == 0 ? 1.0 : 2.0) / count;
            out[4 * m] += w * q.x, out[4 * m + 1] += w * q.y, out[4 * m + 2] += w * q.z;
        }
    }
}

/* Fits all sides with `count` coefficients; returns the largest angle between normals that is left. */
static double fit_all(hole *h, int count) {
    double worst = 0, cosine[4 * S_PATCH_FIT], ignored;
    for (int k = 0; k < 4 * count; k++) turn(k, 4 * count, &cosine[k], &ignored);
    h->data[3 * h->n] = 0; /* the defect is measured without corrections */
    for (int i = 0; i < h->n; i++) fit_correction(h, i, count, cosine);
    h->data[3 * h->n] = count;
    for (int i = 0; i < h->n; i++) {
        double jump = s_patch_jump(h->data, h->n, i, h->nets[i], 23);
        if (!(jump <= worst)) worst = jump;
    }
    return worst;
}

double s_patch_fill(double *data, int sides, const double (*nets)[TRIANGLE_NUMBERS]) {
    hole h = {.n = sides, .nets = nets, .data = data};
    s_patch_corners(sides, h.p);
    s_patch_begin(data, sides);
    set_boundary(&h);
    set_corners(&h);
    for (int d = 0; d < sides; d++)
        for (int c = 0; c <= d; c++)
            for (int b = 0; b <= c; b++)
                for (int a = 0; a <= b; a++) set_inner(&h, (const int[4]){a, b, c, d});
    set_twists(&h);
    /* few coefficients do not follow a rough boundary, many let in the rounding near the corners, where the
     * defect is divided by t^2 (1 - t)^2: the best of four */
    double best = INFINITY;
    int best_count = 8;
    for (int count = 8; count <= S_PATCH_FIT && !(best < 1e-12); count += 8) {
        double jump = fit_all(&h, count);
        if (jump < best) best = jump, best_count = count;
    }
    return data[3 * sides] == best_count ? best : fit_all(&h, best_count);
}

double s_patch_jump(const double *data, int sides, int side, const double *net, int samples) {
    double p[MOST][2], worst = 0;
    s_patch_corners(sides, p);
    for (int k = 0; k <= samples; k++) {
        double t = (double)k / samples;
        vec3 inward, tangent, normal = normal_beyond(net, t);
        s_patch_side(data, sides, (const double(*)[2])p, side, t, &tangent, &inward);
        vec3 own = vec3_cross(tangent, inward), sine = vec3_cross(vec3_unit(own), vec3_unit(normal));
        double angle = vec3_length(sine);
        if (vec3_dot(own, normal) < 0) angle = 2; /* the wrong way round */
        if (!(angle <= worst)) worst = angle;
    }
    return worst;
}
