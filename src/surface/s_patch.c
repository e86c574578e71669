/* S-patches of degree 4 (Loop and DeRose 1989; Kry 2000, section 5.2.1).
 *
 *   S = B o L:  L maps the regular polygon into the simplex, L(p) = (l_1(p), ..., l_n(p)),
 *   l_i = pi_i / sum pi,  pi_i = product of alpha_j over j != i - 1, i   (5.13 to 5.15),
 *   alpha_j = twice the signed area of (P_j, P_(j+1), p)                 (corrected: not the area),
 *   B the Bezier map of degree 4 over the simplex                        (5.12).
 *
 * B is evaluated through its blossom b(., ., ., .): fixing arguments one by one gives tensors of falling size
 *   third[a b c] = sum_j l_j P[a b c j],  second[a b] = sum_j l_j third[a b j],  first[a], and c;
 * a derivative puts the derivative of l in place of l: with the factors 4, 12, 24 of degree 4,
 *   S_u   =  4 b(l,l,l,l_u),      S_uv = 12 b(l,l,l_u,l_v) + 4 b(l,l,l,l_uv),
 *   S_uuv = 24 b(l,l_u,l_u,l_v) + 12 (b(l,l,l_uu,l_v) + 2 b(l,l,l_uv,l_u)) + 4 b(l,l,l,l_uuv).
 *
 * On top of S there may be a polynomial of degree 4 times m^2, m = sum of l_i l_j over corners that are not
 * neighbours, which moves the inside only (fit.c), and each side i may carry a correction alpha_i (l_i
 * l_(i+1))^2 q_i(t) that leaves the boundary curve and all other sides untouched to first order, and turns
 * the tangent planes along side i (fill.c says why).
 *
 * Multisets a <= b <= c <= d have the number a + T2(b) + T3(c) + T4(d), T_k(x) = C(x + k - 1, k). */
#include "surface/jet.h"
#include "surface/lanes.h"
#include "surface/surface.h"

enum { MOST = ABUT_SIDES_MOST, MOST2 = MOST * (MOST + 1) / 2, MOST3 = MOST * (MOST + 1) * (MOST + 2) / 6 };

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* T_k(x) = C(x + k - 1, k) for k = 2, 3, 4: looked up, as the inner loops below step through them. */
static const int16_t table2[MOST + 1] = {0,  1,   3,   6,   10,  15,  21,  28,  36,  45,  55,  66, 78,
                                         91, 105, 120, 136, 153, 171, 190, 210, 231, 253, 276, 300};
static const int16_t table3[MOST + 1] = {0,    1,    4,    10,   20,   35,   56,  84,  120,
                                         165,  220,  286,  364,  455,  560,  680, 816, 969,
                                         1140, 1330, 1540, 1771, 2024, 2300, 2600};
static const int16_t table4[MOST + 1] = {0,    1,    5,    15,    35,    70,    126,  210,  330,
                                         495,  715,  1001, 1365,  1820,  2380,  3060, 3876, 4845,
                                         5985, 7315, 8855, 10626, 12650, 14950, 17550};
static inline int t2(int x) { return table2[x]; }
static inline int t3(int x) { return table3[x]; }
static inline int t4(int x) { return table4[x]; }

int abut_s_patch_points(int sides) { return sides * (sides + 1) * (sides + 2) * (sides + 3) / 24; }

int abut_s_patch_index(int a, int b, int c, int d) {
    int s[4] = {a, b, c, d};
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && s[j] < s[j - 1]; j--) {
            int swap = s[j];
            s[j] = s[j - 1], s[j - 1] = swap;
        }
    return s[0] + t2(s[1]) + t3(s[2]) + t4(s[3]);
}

int64_t s_patch_numbers(int sides) {
    return S_PATCH_HEAD(sides) + 4 * ((int64_t)t4(sides) + (int64_t)sides * S_PATCH_FIT + S_PATCH_INNER);
}
double *s_patch_points(double *data, int sides) { return data + S_PATCH_HEAD(sides); }
double *s_patch_correction(double *data, int sides, int side) {
    return data + S_PATCH_HEAD(sides) + 4 * (t4(sides) + side * S_PATCH_FIT);
}
double *s_patch_inner(double *data, int sides) { return s_patch_correction(data, sides, sides); }
void s_patch_set(double *data, int sides, int index, vec3 point) {
    memcpy(s_patch_points(data, sides) + 4 * index, &point, sizeof point);
}

/* The regular polygon of unit area: area = n/2 r^2 sin(2 pi / n). */
void s_patch_corners(int sides, double corners[][2]) {
    double c, s;
    turn(1, sides, &c, &s);
    double radius = sqrt(2 / (sides * s));
    for (int i = 0; i < sides; i++) {
        turn(i, sides, &c, &s);
        corners[i][0] = radius * c, corners[i][1] = radius * s;
    }
}

void s_patch_begin(double *data, int sides) {
    double p[MOST][2];
    s_patch_corners(sides, p);
    for (int i = 0; i < sides; i++) {
        const double *a = p[i], *b = p[(i + 1) % sides];
        data[3 * i] = a[0] * b[1] - a[1] * b[0], data[3 * i + 1] = a[1] - b[1], data[3 * i + 2] = b[0] - a[0];
    }
}

/* alpha_i and l_i with their derivatives */
static ALWAYS_INLINE void embed(const double *data, int n, double u, double v, int order, double *alpha,
                                jet *l) {
    jet sum = jet_constant(0);
    for (int i = 0; i < n; i++) alpha[i] = data[3 * i] + data[3 * i + 1] * u + data[3 * i + 2] * v;
    for (int i = 0; i < n; i++) {
        int j = i + 1 < n ? i + 1 : 0;
        l[i] = jet_linear(alpha[j], data[3 * j + 1], data[3 * j + 2]);
        for (int k = 0; k < n - 3; k++) {
            j = j + 1 < n ? j + 1 : 0;
            l[i] = jet_mul_linear(l[i], alpha[j], data[3 * j + 1], data[3 * j + 2], order);
        }
        sum = jet_add(sum, l[i]);
    }
    jet inverse = jet_inverse(sum, order);
    for (int i = 0; i < n; i++) l[i] = jet_mul(l[i], inverse, order);
}

/* out[a b c] = sum_j w_j P[a b c j]; the fourth index runs through the sorted places in turn */
static void fix_fourth(const double *p, int n, const double *w, p4 *out) {
    for (int c = 0, at = 0; c < n; c++)
        for (int b = 0; b <= c; b++)
            for (int a = 0; a <= b; a++, at++) {
                p4 sum = p4_zero();
                const double *row = p + 4 * (t2(a) + t3(b) + t4(c));
                for (int j = 0; j <= a; j++) sum = p4_axpy(sum, w[j], p4_load(row + 4 * j));
                row = p + 4 * (a + t3(b) + t4(c));
                for (int j = a + 1; j <= b; j++) sum = p4_axpy(sum, w[j], p4_load(row + 4 * t2(j)));
                row = p + 4 * (a + t2(b) + t4(c));
                for (int j = b + 1; j <= c; j++) sum = p4_axpy(sum, w[j], p4_load(row + 4 * t3(j)));
                row = p + 4 * (a + t2(b) + t3(c));
                for (int j = c + 1; j < n; j++) sum = p4_axpy(sum, w[j], p4_load(row + 4 * t4(j)));
                out[at] = sum;
            }
}

/* out[a b] = sum_j w_j p[a b j] */
static void fix_third(const p4 *p, int n, const double *w, p4 *out) {
    for (int b = 0, at = 0; b < n; b++)
        for (int a = 0; a <= b; a++, at++) {
            p4 sum = p4_zero();
            const p4 *row = p + t2(a) + t3(b);
            for (int j = 0; j <= a; j++) sum = p4_axpy(sum, w[j], row[j]);
            for (int j = a + 1; j <= b; j++) sum = p4_axpy(sum, w[j], p[a + t2(j) + t3(b)]);
            for (int j = b + 1; j < n; j++) sum = p4_axpy(sum, w[j], p[a + t2(b) + t3(j)]);
            out[at] = sum;
        }
}

/* out[a] = sum_j w_j p[a j] */
static void fix_second(const p4 *p, int n, const double *w, p4 *out) {
    for (int a = 0; a < n; a++) {
        p4 sum = p4_zero();
        for (int j = 0; j <= a; j++) sum = p4_axpy(sum, w[j], p[j + t2(a)]);
        for (int j = a + 1; j < n; j++) sum = p4_axpy(sum, w[j], p[a + t2(j)]);
        out[a] = sum;
    }
}

/* One derivative of S: the sum of a few terms, factor * sum_j w_j p[j]. */
typedef struct term {
    double factor;
    const p4 *p;
    const double *w;
} term;
static inline void add_terms(vec3 *to, int n, const term *terms, int count) {
    p4 total = p4_zero();
    for (int i = 0; i < count; i++) {
        p4 sum = p4_zero();
        for (int j = 0; j < n; j++) sum = p4_axpy(sum, terms[i].w[j], terms[i].p[j]);
        total = p4_axpy(total, terms[i].factor, sum);
    }
    p4_store3(to, total);
}
#define TERMS(to, ...) \
    add_terms(to, n, (const term[]){__VA_ARGS__}, (int)(sizeof((const term[]){__VA_ARGS__}) / sizeof(term)))

/* The derivatives of l, turned round: one array of n numbers for each derivative. */
typedef double rows_of_l[JET_COUNT][MOST];

static void contract(const double *points, int n, rows_of_l w, int order, partials *out) {
    p4 third[MOST3], second[MOST2], first[MOST], second_u[MOST], second_v[MOST];
    third[0] = second[0] = p4_zero();
    fix_fourth(points, n, w[JET_C], third);
    fix_third(third, n, w[JET_C], second);
    fix_second(second, n, w[JET_C], first);
    TERMS(&out->c, {1, first, w[JET_C]});
    if (order < 1) return;
    TERMS(&out->u, {4, first, w[JET_U]});
    TERMS(&out->v, {4, first, w[JET_V]});
    if (order < 2) return;
    fix_second(second, n, w[JET_U], second_u);
    fix_second(second, n, w[JET_V], second_v);
    TERMS(&out->uu, {4, first, w[JET_UU]}, {12, second_u, w[JET_U]});
    TERMS(&out->uv, {4, first, w[JET_UV]}, {12, second_u, w[JET_V]});
    TERMS(&out->vv, {4, first, w[JET_VV]}, {12, second_v, w[JET_V]});
    if (order < 3) return;
    p4 third_u[MOST2], third_v[MOST2], uu[MOST], vv[MOST];
    fix_third(third, n, w[JET_U], third_u);
    fix_third(third, n, w[JET_V], third_v);
    fix_second(third_u, n, w[JET_U], uu);
    fix_second(third_v, n, w[JET_V], vv);
    TERMS(&out->uuu, {4, first, w[JET_UUU]}, {36, second_u, w[JET_UU]}, {24, uu, w[JET_U]});
    TERMS(&out->uuv, {4, first, w[JET_UUV]}, {12, second_v, w[JET_UU]}, {24, second_u, w[JET_UV]},
          {24, uu, w[JET_V]});
    TERMS(&out->uvv, {4, first, w[JET_UVV]}, {12, second_u, w[JET_VV]}, {24, second_v, w[JET_UV]},
          {24, vv, w[JET_U]});
    TERMS(&out->vvv, {4, first, w[JET_VVV]}, {36, second_v, w[JET_VV]}, {24, vv, w[JET_V]});
}

/* The edge's parameter t: alpha_(i-1) / (alpha_(i-1) + alpha_(i+1)), which is l_(i+1) / (l_i + l_(i+1)); on a
 * triangle, where that is 0/0 at the far corner, the linear function with the same values on the edge. */
static ALWAYS_INLINE jet edge_parameter(const double *data, int n, const double *alpha, int i, int order) {
    int before = i > 0 ? i - 1 : n - 1, after = i + 1 < n ? i + 1 : 0;
    const double *a = data + 3 * before, *b = data + 3 * after, *c = data + 3 * i;
    if (n == 3)
        return jet_linear(0.5 * alpha[before] + 0.25 * alpha[i], 0.5 * a[1] + 0.25 * c[1],
                          0.5 * a[2] + 0.25 * c[2]);
    jet sum = jet_linear(alpha[before] + alpha[after], a[1] + b[1], a[2] + b[2]);
    return jet_mul_linear(jet_inverse(sum, order), alpha[before], a[1], a[2], order);
}

/* sum of c_k T_k(x) and its derivatives to third order, by Clenshaw's recurrence b_k = c_k + 2x b_(k+1) -
 * b_(k+2) and what follows from deriving it. */
static ALWAYS_INLINE void clenshaw(const double *c, int count, double x, int order, p4 f[4]) {
    p4 one[4], two[4], now[4];
    for (int d = 0; d < 4; d++) one[d] = two[d] = f[d] = p4_zero();
    for (int k = count - 1; k > 0; k--) {
        now[0] = p4_sub(p4_axpy(p4_load(c + 4 * k), 2 * x, one[0]), two[0]);
        for (int d = 1; d <= order; d++)
            now[d] = p4_axpy(p4_sub(p4_scale(2 * d, one[d - 1]), two[d]), 2 * x, one[d]);
        for (int d = 0; d <= order; d++) two[d] = one[d], one[d] = now[d];
    }
    f[0] = p4_sub(p4_axpy(p4_load(c), x, one[0]), two[0]);
    for (int d = 1; d <= order; d++) f[d] = p4_axpy(p4_sub(p4_scale(d, one[d - 1]), two[d]), x, one[d]);
}

/* alpha_i (l_i l_(i+1))^2 q_i(t), added for each side */
static ALWAYS_INLINE void correct(const double *data, int n, const double *alpha, const jet *l, int order,
                                  partials *out) {
    for (int i = 0; i < n; i++) {
        const double *q = data + S_PATCH_HEAD(n) + 4 * (t4(n) + i * S_PATCH_FIT);
        jet pair = jet_mul(l[i], l[i + 1 < n ? i + 1 : 0], order);
        jet weight =
            jet_mul_linear(jet_mul(pair, pair, order), alpha[i], data[3 * i + 1], data[3 * i + 2], order);
        jet t = edge_parameter(data, n, alpha, i, order);
        double x = 2 * t.d[0] - 1;
        p4 f[4];
        clenshaw(q, (int)data[3 * n], x, order, f);
        for (int axis = 0; axis < 3; axis++) {
            const double factor[4] = {1, 2, 4, 8}; /* of x = 2t - 1 */
            double by[4];
            for (int d = 0; d < 4; d++) by[d] = factor[d] * (axis < 2 ? f[d].xy[axis] : f[d].zw[0]);
            jet e = jet_mul(weight, jet_compose(by, t, order), order);
            double *to = (double *)out + axis;
            for (int k = 0; k < partials_count(order); k++) to[3 * k] += e.d[k];
        }
    }
}

/* m = sum of l_i l_j over corners that are not neighbours, which vanishes on the boundary and at the corners
 * twice; on a triangle, which has none, 9 l_1 l_2 l_3. */
static ALWAYS_INLINE jet bubble_root(int n, const jet *l, int order) {
    if (n == 3) return jet_scale(jet_mul(l[0], jet_mul(l[1], l[2], order), order), 9);
    jet sum = jet_constant(0);
    for (int i = 0; i < n; i++) {
        jet near = jet_add(l[i], jet_add(l[i > 0 ? i - 1 : n - 1], l[i + 1 < n ? i + 1 : 0]));
        near = jet_scale(near, -0.5), near.d[0] += 0.5;
        sum = jet_add(sum, jet_mul(l[i], near, order));
    }
    return sum;
}

double s_patch_bubble(const double *data, int sides, double u, double v) {
    double alpha[MOST];
    jet l[MOST];
    embed(data, sides, u, v, 1, alpha, l);
    double m = bubble_root(sides, l, 1).d[0];
    return m * m;
}

/* The polynomial sum c_ij u^i v^j and its partials: Horner's rule in v over Horner's rule in u, both with
 * derivatives; f[a][b] is the partial of order a in u, b in v, over a! b!. */
static ALWAYS_INLINE void inner_polynomial(const double *c, double u, double v, int order, p4 f[4][4]) {
    memset(f, 0, 16 * sizeof **f);
    for (int j = S_PATCH_DEGREE; j >= 0; j--) {
        p4 row[4] = {p4_zero(), p4_zero(), p4_zero(), p4_zero()};
        for (int i = S_PATCH_DEGREE - j; i >= 0; i--) {
            for (int a = order; a > 0; a--) row[a] = p4_axpy(row[a - 1], u, row[a]);
            row[0] = p4_axpy(p4_load(c + 4 * TRIANGLE(i, j)), u, row[0]);
        }
        for (int a = 0; a <= order; a++) {
            for (int b = order - a; b > 0; b--) f[a][b] = p4_axpy(f[a][b - 1], v, f[a][b]);
            f[a][0] = p4_axpy(row[a], v, f[a][0]);
        }
    }
}

/* m^2 times the inner polynomial */
static ALWAYS_INLINE void add_inner(const double *data, int n, const jet *l, double u, double v, int order,
                                    partials *out) {
    static const int8_t place[JET_COUNT][3] = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {2, 0, 2}, {1, 1, 1},
                                               {0, 2, 2}, {3, 0, 6}, {2, 1, 2}, {1, 2, 2}, {0, 3, 6}};
    p4 f[4][4];
    inner_polynomial(data + S_PATCH_HEAD(n) + 4 * (t4(n) + n * S_PATCH_FIT), u, v, order, f);
    jet root = bubble_root(n, l, order), weight = jet_mul(root, root, order);
    for (int axis = 0; axis < 3; axis++) {
        jet q;
        for (int k = 0; k < JET_COUNT; k++) {
            p4 x = f[place[k][0]][place[k][1]];
            q.d[k] = place[k][2] * (axis < 2 ? x.xy[axis] : x.zw[0]);
        }
        jet e = jet_mul(weight, q, order);
        double *to = (double *)out + axis;
        for (int k = 0; k < partials_count(order); k++) to[3 * k] += e.d[k];
    }
}

static ALWAYS_INLINE void evaluate_to(const double *data, int sides, double u, double v, int order,
                                      partials *out) {
    double alpha[MOST];
    jet l[MOST];
    rows_of_l w;
    partials_clear(out, order);
    embed(data, sides, u, v, order, alpha, l);
    for (int i = 0; i < sides; i++)
        for (int k = 0; k < JET_COUNT; k++) w[k][i] = l[i].d[k];
    contract(data + S_PATCH_HEAD(sides), sides, w, order, out);
    if (data[3 * sides] != 0) correct(data, sides, alpha, l, order, out);
    if (data[3 * sides + 1] != 0) add_inner(data, sides, l, u, v, order, out);
}

/* On side i only l_i = 1 - t and l_(i+1) = t are not zero, so that of the first derivative 4 b(l,l,l,l') the
 * points with three arguments on the side are left; of the corrections only that of the side, and only
 * across it: |side| t^2 (1 - t)^2 q_i(t). */
void s_patch_side(const double *data, int n, const double (*p)[2], int i, double t, vec3 *along,
                  vec3 *inward) {
    int j = i + 1 < n ? i + 1 : 0;
    double alpha[MOST], s = 1 - t;
    jet l[MOST];
    double ex = p[j][0] - p[i][0], ey = p[j][1] - p[i][1], side = sqrt(ex * ex + ey * ey);
    embed(data, n, p[i][0] + t * ex, p[i][1] + t * ey, 1, alpha, l);
    const double *points = data + S_PATCH_HEAD(n);
    const double w[4] = {4 * s * s * s, 12 * s * s * t, 12 * s * t * t, 4 * t * t * t};
    p4 by_t = p4_zero(), by_w = p4_zero(), q[4];
    for (int k = 0; k < n; k++) {
        p4 sum = p4_zero();
        for (int m = 0; m < 4; m++) {
            int at = abut_s_patch_index(m < 1 ? i : j, m < 2 ? i : j, m < 3 ? i : j, k);
            sum = p4_axpy(sum, w[m], p4_load(points + 4 * at));
        }
        by_t = p4_axpy(by_t, ex * l[k].d[JET_U] + ey * l[k].d[JET_V], sum);
        by_w = p4_axpy(by_w, (ex * l[k].d[JET_V] - ey * l[k].d[JET_U]) / side, sum);
    }
    if (data[3 * n] != 0) {
        clenshaw(points + 4 * (t4(n) + i * S_PATCH_FIT), (int)data[3 * n], 2 * t - 1, 0, q);
        by_w = p4_axpy(by_w, side * (s * t) * (s * t), q[0]);
    }
    p4_store3(along, by_t), p4_store3(inward, by_w);
}

/* One copy for each order, so that nothing is computed that is not asked for. */
void s_patch_evaluate(const double *data, int sides, double u, double v, int order, partials *out) {
    if (order <= 1)
        evaluate_to(data, sides, u, v, 1, out);
    else if (order == 2)
        evaluate_to(data, sides, u, v, 2, out);
    else
        evaluate_to(data, sides, u, v, 3, out);
    if (order < 1) partials_clear(out, order);
}
