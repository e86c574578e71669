/* Quartic triangular Bezier patches, and regular Loop patches as such.
 *
 *   c = sum_(i+j+k=4) 4!/(i! j! k!) b0^i b1^j b2^k P_jk,   b1 = u, b2 = v, b0 = 1 - u - v
 *
 * A regular Loop patch is a triangle of the quartic box spline (Loop 1987): 12 control points on the lattice
 * with neighbours +-(1,0), +-(0,1), +-(1,-1) around the triangle (0,0), (1,0), (0,1).
 *
 *     11 -- 10
 *    /  \  /  \            The derivative in u is 4 times the cubic with the net P(j+1,k) - P(j,k), that in
 *   4 --- 2 --- 9          v with P(j,k+1) - P(j,k); each is again such a net, one degree lower.
 *  / \  /   \  / \
 * 3 -- 0 --- 1 -- 8        (numbers: rows of stencil_lattice)
 *  \  / \   / \  /
 *   5 --- 6 --- 7
 */
#include "surface/lanes.h"
#include "surface/surface.h"

/* The net of degree `degree` - 1 of differences towards corner 1 (u) or corner 2 (v).  Net entries go by
 * TRIANGLE(j, k): row n = j + k starts at n(n+1)/2; j is n - k. */
static inline void differ_u(const p4 *p, int degree, p4 *d) {
    for (int n = 0, at = 0; n < degree; n++)
        for (int k = 0; k <= n; k++, at++) d[at] = p4_sub(p[at + n + 1], p[at]);
}
static inline void differ_v(const p4 *p, int degree, p4 *d) {
    for (int n = 0, at = 0; n < degree; n++)
        for (int k = 0; k <= n; k++, at++) d[at] = p4_sub(p[at + n + 2], p[at]);
}

/* *to = sum of w[i] p[i] */
static inline void combine(vec3 *to, const double *w, const p4 *p, int count) {
    p4 sum = p4_scale(w[0], p[0]);
    for (int i = 1; i < count; i++) sum = p4_axpy(sum, w[i], p[i]);
    p4_store3(to, sum);
}

/* Bernstein polynomials of degree 1 to 4 on the triangle, with the factors 24, 12, 4, 1 of the derivatives.
 */
typedef struct triangle_weights {
    double one[3], two[6], three[10], four[15];
} triangle_weights;

static inline triangle_weights weigh(double a, double u, double v) {
    double aa = a * a, uu = u * u, vv = v * v, au = a * u, av = a * v, uv = u * v;
    return (triangle_weights){{24 * a, 24 * u, 24 * v},
                              {12 * aa, 24 * au, 24 * av, 12 * uu, 24 * uv, 12 * vv},
                              {4 * aa * a, 12 * aa * u, 12 * aa * v, 12 * a * uu, 24 * au * v, 12 * a * vv,
                               4 * uu * u, 12 * uu * v, 12 * u * vv, 4 * vv * v},
                              {aa * aa, 4 * aa * au, 4 * aa * av, 6 * aa * uu, 12 * aa * uv, 6 * aa * vv,
                               4 * au * uu, 12 * au * uv, 12 * av * uv, 4 * av * vv, uu * uu, 4 * uu * uv,
                               6 * uu * vv, 4 * uv * vv, vv * vv}};
}

/* From nets of second differences uu, uv, vv to the second and third partials. */
static inline void finish(const p4 *duu, const p4 *duv, const p4 *dvv, const triangle_weights *w,
                          const int order, partials *out) {
    combine(&out->uu, w->two, duu, 6);
    combine(&out->uv, w->two, duv, 6);
    combine(&out->vv, w->two, dvv, 6);
    if (order < 3) return;
    p4 d[3];
    differ_u(duu, 2, d), combine(&out->uuu, w->one, d, 3);
    differ_v(duu, 2, d), combine(&out->uuv, w->one, d, 3);
    differ_u(dvv, 2, d), combine(&out->uvv, w->one, d, 3);
    differ_v(dvv, 2, d), combine(&out->vvv, w->one, d, 3);
}

static inline void triangle_to(const double *data, double u, double v, const int order, partials *out) {
    p4 p[TRIANGLE_POINTS], du[10], dv[10], duu[6], duv[6], dvv[6];
    memcpy(p, data, sizeof p);
    triangle_weights w = weigh(1 - u - v, u, v);
    combine(&out->c, w.four, p, 15);
    if (order < 1) return;
    differ_u(p, 4, du), differ_v(p, 4, dv);
    combine(&out->u, w.three, du, 10);
    combine(&out->v, w.three, dv, 10);
    if (order < 2) return;
    differ_u(du, 3, duu), differ_v(du, 3, duv), differ_v(dv, 3, dvv);
    finish(duu, duv, dvv, &w, order, out);
}

void triangle_evaluate(const double *data, double u, double v, int order, partials *out) {
    partials_clear(out, order);
    switch (order) {
    case 0: triangle_to(data, u, v, 0, out); break;
    case 1: triangle_to(data, u, v, 1, out); break;
    case 2: triangle_to(data, u, v, 2, out); break;
    default: triangle_to(data, u, v, 3, out); break;
    }
}

/* f*(x1 x2 x3 x4): de Casteljau with another point in each step (Ramshaw). */
vec3 triangle_blossom(const double *data, const double at[4][2]) {
    p4 p[TRIANGLE_POINTS];
    vec3 out;
    memcpy(p, data, sizeof p);
    for (int step = 0; step < 4; step++) {
        double u = at[step][0], v = at[step][1], a = 1 - u - v;
        for (int n = 0, i = 0; n < 4 - step; n++)
            for (int k = 0; k <= n; k++, i++)
                p[i] = p4_axpy(p4_axpy(p4_scale(a, p[i]), u, p[i + n + 1]), v, p[i + n + 2]);
    }
    p4_store3(&out, p[0]);
    return out;
}

const int8_t stencil_lattice[STENCIL_POINTS][2] = {{0, 0},  {1, 0},  {0, 1}, {-1, 0}, {-1, 1}, {0, -1},
                                                   {1, -1}, {2, -1}, {2, 0}, {1, 1},  {0, 2},  {-1, 2}};

/* The Bezier net of each of the 12 basis functions of the box spline, times 24, in the order of TRIANGLE.
 * They are those of Stam 1998, appendix, as nets; three kinds: the corner (0,0), the point (1,1) across the
 * edge, the point (2,0) that sees one corner only; the others follow by symmetry. */
static const int8_t box_spline_net[STENCIL_POINTS][TRIANGLE_POINTS] = {
    {12, 12, 12, 8, 10, 8, 4, 6, 6, 4, 2, 3, 4, 3, 2}, {2, 4, 3, 8, 6, 4, 12, 10, 6, 3, 12, 12, 8, 4, 2},
    {2, 3, 4, 4, 6, 8, 3, 6, 10, 12, 2, 4, 8, 12, 12}, {2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {2, 1, 3, 0, 1, 4, 0, 0, 1, 3, 0, 0, 0, 1, 2},     {2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {2, 3, 1, 4, 1, 0, 3, 1, 0, 0, 2, 1, 0, 0, 0},     {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0},     {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4, 3, 2},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2},     {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2},
};

void triangle_from_stencil(const vec3 stencil[STENCIL_POINTS], double *data) {
    for (int i = 0; i < TRIANGLE_POINTS; i++) {
        vec3 sum = vec3_zero();
        for (int s = 0; s < STENCIL_POINTS; s++)
            if (box_spline_net[s][i]) sum = vec3_axpy(sum, box_spline_net[s][i], stencil[s]);
        data[4 * i] = sum.x / 24, data[4 * i + 1] = sum.y / 24, data[4 * i + 2] = sum.z / 24;
        data[4 * i + 3] = 0;
    }
}

void triangle_turn(const double *data, int to, double *turned) {
    for (int j = 0; j <= 4; j++)
        for (int k = 0; j + k <= 4; k++) {
            int old[3] = {4 - j - k, j, k}, now[3];
            for (int c = 0; c < 3; c++) now[(c + to) % 3] = old[c];
            memcpy(turned + 4 * TRIANGLE(now[1], now[2]), data + 4 * TRIANGLE(j, k), 4 * sizeof *data);
        }
}
