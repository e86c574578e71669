/* Loop patches with one extraordinary vertex, after Stam 1998 (Kry 2000, section 5.1.1).
 *
 *            b0 --- b1                    c        the extraordinary vertex, valence N
 *           /  \   /  \                   r[0..N-1]  its ring, counter-clockwise
 *        r2 --- r1 --- m                  the patch is the triangle (c, r0, r1)
 *          \   /  \   / \
 *            c --- r0 --- a1              One subdivision gives the same picture at half the size, and three
 *             \   /  \   /                children that are regular: at r0, at r1, and the middle one (which
 *              r[-1] - a0                 is turned by half a turn: odd derivatives change sign there, at
 *                                         every depth; Stam's code, as Kry reports, has this wrong).
 *
 * Stam raises the subdivision matrix to a power by its eigenvectors.  The matrix is block triangular, and we
 * keep the blocks: the ring is diagonalised by the Fourier transform,
 *     c_n = A + mu^n B (-8a/3),    r_i,n = A + mu^n B + sum_k lambda_k^n (C_k cos(2 pi k i/N) + D_k
 * sin(...)), mu = 5/8 - a,  lambda_k = 3/8 + cos(2 pi k / N) / 4,  a = 5/8 - lambda_1^2; the five points
 * beyond have the eigenvalues 1/8 and 1/16 in the coordinates a0, m, b0  (1/8)      alpha = a1 - a0 - m, beta
 * = b1 - b0 - m  (1/16) and are driven by the ring: x_(n+1) = sigma x_n + h lambda^n has the solution x_n =
 * sigma^n x_0 + h sum_(j<n) lambda^(n-1-j) sigma^j, a sum of positive terms.  So lambda = sigma (valence 3
 * and every even valence, where the full matrix has equal eigenvalues or a Jordan block) is no special case.
 * Points are kept relative to A, the limit position, so that derivatives keep their digits at any depth.
 *
 * Data:  A(3) B(3) mu  -8a/3  a0 alpha m beta b0 (15, at level 0)
 *        for k = 1..N/2: lambda  C(3) D(3)  cos sin of k/N turns, cos sin of 2k/N turns
 *        for the first STAM_LEVELS levels: the Bezier nets of the three children */
#include "surface/surface.h"

enum { AT_B = 3, AT_MU = 6, AT_FACTOR = 7, AT_OUTER = 8, AT_HARMONICS = 23, HARMONIC = 11 };

static vec3 get3(const double *d) { return vec3_make(d[0], d[1], d[2]); }
static void put3(double *d, vec3 v) { d[0] = v.x, d[1] = v.y, d[2] = v.z; }
static const double *nets_of(const double *data, int valence) {
    return data + AT_HARMONICS + HARMONIC * (valence / 2);
}

/* Taylor series on an eighth of a turn; the quarter is told apart in integers. */
void turn(int k, int n, double *cosine, double *sine) {
    int64_t k4 = ((int64_t)(k % n) + n) % n * 4;
    int quarter = (int)(k4 / n);
    double f = (double)(k4 % n) / n; /* of a quarter */
    bool swap = f > 0.5;
    double x = (swap ? 1 - f : f) * 1.5707963267948966, x2 = x * x, c = 1, s = 1;
    for (int i = 20; i > 0; i -= 2) {
        c = 1 - c * x2 / (i * (i - 1));
        s = 1 - s * x2 / (i * (i + 1));
    }
    s *= x;
    double cs[2] = {swap ? s : c, swap ? c : s};
    *cosine = quarter == 0 ? cs[0] : quarter == 1 ? -cs[1] : quarter == 2 ? -cs[0] : cs[1];
    *sine = quarter == 0 ? cs[1] : quarter == 1 ? cs[0] : quarter == 2 ? -cs[1] : -cs[0];
}

double loop_weight(int valence) {
    double c, s;
    turn(1, valence, &c, &s);
    double lambda = 0.375 + 0.25 * c;
    return 0.625 - lambda * lambda;
}

/* The points of a level that matter, relative to the limit position. */
typedef struct level_points {
    vec3 c, rm, r0, r1, r2, a0, a1, m, b1, b0;
} level_points;

/* lambda^n, and sum_(j<n) lambda^(n-1-j) sigma^j for sigma = 1/8 and 1/16 */
typedef struct mode_powers {
    double power, by8, by16;
} mode_powers;
static mode_powers raise_mode(double lambda, int n) {
    mode_powers p = {1, 0, 0};
    double s8 = 1, s16 = 1;
    for (int j = 0; j < n; j++) {
        p.by8 = p.by8 * lambda + s8, p.by16 = p.by16 * lambda + s16, p.power *= lambda;
        s8 *= 0.125, s16 *= 0.0625;
    }
    return p;
}

/* Adds one mode with values c (centre), rm, r0, r1, r2 (ring) at level 0 to the points of level n; a1 and b1
 * hold alpha and beta here. */
static void add_mode(level_points *p, mode_powers w, vec3 c, vec3 rm, vec3 r0, vec3 r1, vec3 r2) {
    p->c = vec3_axpy(p->c, w.power, c);
    p->rm = vec3_axpy(p->rm, w.power, rm), p->r0 = vec3_axpy(p->r0, w.power, r0);
    p->r1 = vec3_axpy(p->r1, w.power, r1), p->r2 = vec3_axpy(p->r2, w.power, r2);
    /* edge points: 3/8 of the ends, 1/8 of c, driving a0, m, b0 */
    vec3 c8 = vec3_scale(c, 0.125);
    p->a0 = vec3_axpy(p->a0, w.by8, vec3_axpy(c8, 0.375, vec3_add(rm, r0)));
    p->m = vec3_axpy(p->m, w.by8, vec3_axpy(c8, 0.375, vec3_add(r0, r1)));
    p->b0 = vec3_axpy(p->b0, w.by8, vec3_axpy(c8, 0.375, vec3_add(r1, r2)));
    /* alpha' = alpha/16 - r0/8 - 3c/16 - 5(r1 + r[-1])/16, from the vertex rule at r0; beta the same at r1 */
    vec3 c316 = vec3_scale(c, -0.1875);
    p->a1 = vec3_axpy(p->a1, w.by16, vec3_axpy(vec3_axpy(c316, -0.125, r0), -0.3125, vec3_add(r1, rm)));
    p->b1 = vec3_axpy(p->b1, w.by16, vec3_axpy(vec3_axpy(c316, -0.125, r1), -0.3125, vec3_add(r0, r2)));
}

static void level_at(const double *data, int valence, int n, level_points *p) {
    const double *outer = data + AT_OUTER;
    double s8 = 1, s16 = 1;
    for (int j = 0; j < n; j++) s8 *= 0.125, s16 *= 0.0625;
    *p = (level_points){.a0 = vec3_scale(get3(outer), s8),
                        .a1 = vec3_scale(get3(outer + 3), s16),
                        .m = vec3_scale(get3(outer + 6), s8),
                        .b1 = vec3_scale(get3(outer + 9), s16),
                        .b0 = vec3_scale(get3(outer + 12), s8)};
    vec3 b = get3(data + AT_B);
    add_mode(p, raise_mode(data[AT_MU], n), vec3_scale(b, data[AT_FACTOR]), b, b, b, b);
    for (int k = 0; k < valence / 2; k++) {
        const double *h = data + AT_HARMONICS + HARMONIC * k;
        vec3 cosine = get3(h + 1), sine = get3(h + 4);
        vec3 c1 = vec3_scale(cosine, h[7]);
        add_mode(p, raise_mode(h[0], n), vec3_zero(), vec3_axpy(c1, -h[8], sine), cosine,
                 vec3_axpy(c1, h[8], sine), vec3_axpy(vec3_scale(cosine, h[9]), h[10], sine));
    }
    p->a1 = vec3_add(p->a1, vec3_add(p->a0, p->m));
    p->b1 = vec3_add(p->b1, vec3_add(p->b0, p->m));
}

/* 3/8 (a + b) + 1/8 (c + d): Loop's rule for the new point on the edge a b between the triangles of c, d */
static vec3 edge_point(vec3 a, vec3 b, vec3 c, vec3 d) {
    return vec3_axpy(vec3_scale(vec3_add(a, b), 0.375), 0.125, vec3_add(c, d));
}

/* The 12 control points of the children of the triangle at a level: child 0 at r0, 1 at r1, 2 in the middle.
 * `next` are the points of the next level (those that both pictures share). */
static void children(const level_points *p, const level_points *next, int child,
                     vec3 stencil[STENCIL_POINTS]) {
    vec3 e0m = edge_point(p->r0, p->m, p->a1, p->r1), e1m = edge_point(p->r1, p->m, p->r0, p->b1);
    if (child == 0) {
        vec3 at[] = {next->r0,
                     next->a1,
                     next->m,
                     next->c,
                     next->r1,
                     next->rm,
                     next->a0,
                     edge_point(p->r0, p->a0, p->a1, p->rm),
                     edge_point(p->r0, p->a1, p->a0, p->m),
                     e0m,
                     e1m,
                     next->b1};
        memcpy(stencil, at, sizeof at);
    } else if (child == 1) {
        vec3 at[] = {next->r1,
                     next->m,
                     next->b1,
                     next->r2,
                     next->b0,
                     next->c,
                     next->r0,
                     next->a1,
                     e0m,
                     e1m,
                     edge_point(p->r1, p->b1, p->m, p->b0),
                     edge_point(p->r1, p->b0, p->b1, p->r2)};
        memcpy(stencil, at, sizeof at);
    } else {
        vec3 at[] = {next->m,  next->r1, next->r0, e0m,     next->a1, e1m,
                     next->b1, next->b0, next->r2, next->c, next->rm, next->a0};
        memcpy(stencil, at, sizeof at);
    }
}

static void child_net(const double *data, int valence, int corner, int level, int child, double *net) {
    level_points p, next;
    vec3 stencil[STENCIL_POINTS];
    double plain[TRIANGLE_NUMBERS];
    level_at(data, valence, level, &p);
    level_at(data, valence, level + 1, &next);
    children(&p, &next, child, stencil);
    triangle_from_stencil(stencil, plain);
    triangle_turn(plain, corner, net);
}

/* A and B from c and the mean of the ring; C_k, D_k by the discrete Fourier transform. */
void stam_build(const stam_points *points, int valence, int corner, double *data) {
    double a = loop_weight(valence);
    vec3 mean = vec3_zero(), c = points->center;
    for (int i = 0; i < valence; i++) mean = vec3_axpy(mean, 1.0 / valence, vec3_sub(points->ring[i], c));
    vec3 limit = vec3_axpy(c, 8 * a / (3 + 8 * a), mean);
    put3(data, limit);
    put3(data + AT_B, vec3_scale(mean, 3 / (3 + 8 * a)));
    data[AT_MU] = 0.625 - a, data[AT_FACTOR] = -8 * a / 3;
    vec3 a0 = vec3_sub(points->a0, limit), m = vec3_sub(points->middle, limit),
         b0 = vec3_sub(points->b0, limit);
    vec3 a1 = vec3_sub(points->a1, limit), b1 = vec3_sub(points->b1, limit);
    double *outer = data + AT_OUTER;
    put3(outer, a0), put3(outer + 3, vec3_sub(a1, vec3_add(a0, m))), put3(outer + 6, m);
    put3(outer + 9, vec3_sub(b1, vec3_add(b0, m))), put3(outer + 12, b0);
    for (int k = 1; k <= valence / 2; k++) {
        double *h = data + AT_HARMONICS + HARMONIC * (k - 1);
        vec3 cosine = vec3_zero(), sine = vec3_zero();
        for (int i = 0; i < valence; i++) {
            double ci, si;
            turn((int)((int64_t)k * i % valence), valence, &ci, &si);
            vec3 r = vec3_sub(points->ring[i], limit);
            cosine = vec3_axpy(cosine, ci, r), sine = vec3_axpy(sine, si, r);
        }
        double weight = (2 * k == valence ? 1.0 : 2.0) / valence, zero;
        put3(h + 1, vec3_scale(cosine, weight)), put3(h + 4, vec3_scale(sine, weight));
        turn(k, valence, &h[7], &h[8]);
        turn(2 * k, valence, &h[9], &h[10]);
        turn(k, valence, &h[0], &zero);
        h[0] = 0.375 + 0.25 * h[0];
    }
    double *nets = data + AT_HARMONICS + HARMONIC * (valence / 2);
    for (int level = 0; level < STAM_LEVELS; level++)
        for (int child = 0; child < 3; child++, nets += TRIANGLE_NUMBERS)
            child_net(data, valence, corner, level, child, nets);
}

/* All the points at level 0, the ring from its harmonics; Loop's rules only take convex combinations of them.
 */
box stam_box(const double *data, int valence) {
    level_points p;
    level_at(data, valence, 0, &p);
    box b = box_empty();
    vec3 limit = get3(data), near[] = {p.c, p.a0, p.a1, p.m, p.b1, p.b0};
    for (int i = 0; i < COUNT_OF(near); i++) b = box_add_point(b, vec3_add(limit, near[i]));
    for (int i = 0; i < valence; i++) {
        vec3 r = vec3_add(limit, get3(data + AT_B));
        for (int k = 1; k <= valence / 2; k++) {
            const double *h = data + AT_HARMONICS + HARMONIC * (k - 1);
            double c, s;
            turn((int)((int64_t)k * i % valence), valence, &c, &s);
            r = vec3_axpy(vec3_axpy(r, c, get3(h + 1)), s, get3(h + 4));
        }
        b = box_add_point(b, r);
    }
    return b;
}

/* The limit position and the tangents along the two edges of the patch: harmonic 1 at r0 and r1. */
static void at_vertex(const double *data, int corner, partials *out) {
    const double *h = data + AT_HARMONICS;
    vec3 t0 = get3(h + 1), t1 = vec3_axpy(vec3_scale(t0, h[7]), h[8], get3(h + 4));
    memset(out, 0, sizeof *out);
    out->c = get3(data);
    out->u = corner == 0 ? t0 : corner == 1 ? vec3_neg(t1) : vec3_sub(t1, t0);
    out->v = corner == 0 ? t1 : corner == 1 ? vec3_sub(t0, t1) : vec3_neg(t0);
}

static void rescale(partials *p, double s, int order) {
    vec3 *by = (vec3 *)p;
    double factor[] = {s, s * s, s * s * s};
    for (int i = 1; i < partials_count(order); i++)
        by[i] = vec3_scale(by[i], factor[i < 3 ? 0 : i < 6 ? 1 : 2]);
}

/* Finds level and child by the distance 1 - b[corner] from the vertex, evaluates the child's net, and scales:
 * each derivative by 2^(level + 1), with the other sign in the middle child. */
bool stam_evaluate(const double *data, int valence, int corner, double u, double v, int order,
                   partials *out) {
    double b[3] = {1 - u - v, u, v};
    int k1 = (corner + 1) % 3, k2 = (corner + 2) % 3, exponent;
    double away = corner == 0 ? u + v : b[k1] + b[k2];
    frexp(away, &exponent);
    int level = exponent >= 0 ? 0 : -exponent;
    if (!(away > 0) || level > STAM_DEEPEST) {
        at_vertex(data, corner, out);
        return false;
    }
    double scale = ldexp(1, level + 1), local[3];
    b[k1] *= scale, b[k2] *= scale, b[corner] = 2 - away * scale; /* twice those of the level's triangle */
    int child = b[k1] > 1 ? 0 : b[k2] > 1 ? 1 : 2;
    for (int i = 0; i < 3; i++) local[i] = child == 2 ? 1 - b[i] : b[i];
    if (child < 2) local[child == 0 ? k1 : k2] -= 1;
    if (level < STAM_LEVELS) {
        const double *net = nets_of(data, valence) + (level * 3 + child) * TRIANGLE_NUMBERS;
        triangle_evaluate(net, local[1], local[2], order, out);
    } else {
        double net[TRIANGLE_NUMBERS];
        child_net(data, valence, corner, level, child, net);
        triangle_evaluate(net, local[1], local[2], order, out);
    }
    out->c = vec3_add(out->c, get3(data));
    rescale(out, child == 2 ? -scale : scale, order);
    return true;
}
