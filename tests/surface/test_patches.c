/* Every kind of patch against its definition in 113-bit arithmetic: the point, and all nine partials by
 * central differences.  With step h = 2^-23 the differences err by h^2/24 f^(k+2) (about 1e-15 times the
 * fifth derivatives) and by 2^-113 / h^3 (about 6e-14), so 1e-10 relative to the largest entry is a fair
 * demand. */
#include "cages.h"

typedef __float128 quad;
typedef struct quad3 {
    quad x, y, z;
} quad3;
/* A patch by its definition: the value at (u, v). */
typedef quad3 definition(const void *user, quad u, quad v);

static quad3 quad3_axpy(quad3 a, quad s, quad3 b) {
    return (quad3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static quad3 quad3_of(vec3 v) { return (quad3){v.x, v.y, v.z}; }
static quad quad_sqrt(quad x) {
    quad r = sqrt((double)x);
    for (int i = 0; i < 3; i++) r = (r + x / r) / 2;
    return r;
}

/* delta_u^i delta_v^j f / h^(i+j), with half steps where an order is odd */
static vec3 difference(definition *f, const void *user, double u, double v, int i, int j) {
    static const int binomial[4][4] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}};
    quad h = (quad)1 / (1 << 23), scale = 1;
    quad3 sum = {0, 0, 0};
    for (int a = 0; a <= i; a++)
        for (int b = 0; b <= j; b++) {
            quad3 at = f(user, u + h * (a - (quad)i / 2), v + h * (b - (quad)j / 2));
            int sign = (i - a + j - b) % 2 ? -1 : 1;
            sum = quad3_axpy(sum, (quad)(sign * binomial[i][a] * binomial[j][b]), at);
        }
    for (int k = 0; k < i + j; k++) scale *= h;
    return vec3_make((double)(sum.x / scale), (double)(sum.y / scale), (double)(sum.z / scale));
}

static const int orders[10][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1},
                                  {0, 2}, {3, 0}, {2, 1}, {1, 2}, {0, 3}};

/* Largest error of the ten, relative to the size of the patch and the largest partial of that order. */
static void check_patch(const abut_surface *s, int p, double u, double v, definition *f, const void *user) {
    partials got, low;
    assert_true(abut_surface_evaluate(s, p, u, v, 3, &got));
    const vec3 *g = (const vec3 *)&got;
    for (int k = 0; k < 10; k++) {
        vec3 want = difference(f, user, u, v, orders[k][0], orders[k][1]);
        double error = vec3_max_abs(vec3_sub(g[k], want)), size = 1 + vec3_max_abs(want);
        if (!(error <= 1e-10 * size))
            fail_msg("patch %d at %g,%g partial %d: %g %g %g, by definition %g %g %g (error %g)", p, u, v, k,
                     g[k].x, g[k].y, g[k].z, want.x, want.y, want.z, error);
    }
    /* lower orders give the same bits, and zeros beyond */
    for (int order = 0; order < 3; order++) {
        abut_surface_evaluate(s, p, u, v, order, &low);
        const vec3 *l = (const vec3 *)&low;
        for (int k = 0; k < 10; k++) {
            vec3 want = orders[k][0] + orders[k][1] <= order ? g[k] : vec3_zero();
            assert_memory_equal(&l[k], &want, sizeof want);
        }
    }
}

/* ---- Bezier: sum of Bernstein polynomials */
typedef struct net16 {
    vec3 points[16];
    double weights[16];
} net16;
static quad3 bezier_definition(const void *user, quad u, quad v) {
    const net16 *n = user;
    quad bu[4] = {(1 - u) * (1 - u) * (1 - u), 3 * (1 - u) * (1 - u) * u, 3 * (1 - u) * u * u, u * u * u};
    quad bv[4] = {(1 - v) * (1 - v) * (1 - v), 3 * (1 - v) * (1 - v) * v, 3 * (1 - v) * v * v, v * v * v};
    quad3 sum = {0, 0, 0};
    quad w = 0;
    for (int k = 0; k < 16; k++) {
        quad b = bu[k % 4] * bv[k / 4] * n->weights[k];
        sum = quad3_axpy(sum, b, quad3_of(n->points[k])), w += b;
    }
    return (quad3){sum.x / w, sum.y / w, sum.z / w};
}

static void random_net(uint64_t *seed, net16 *n, bool weighted) {
    for (int k = 0; k < 16; k++) {
        n->points[k] = vec3_add(vec3_make(k % 4, k / 4.0, 0), support_vec(seed, 0.6));
        n->weights[k] = weighted ? random_range(seed, 0.3, 3) : 1;
    }
}

static void test_bezier(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 20; trial++) {
        net16 n;
        abut_surface *s = NULL;
        random_net(&seed, &n, trial % 2);
        abut_status status = trial % 2 ? abut_surface_rational(NULL, n.points, n.weights, 1, &s, NULL)
                                       : abut_surface_bezier(NULL, n.points, 1, &s, NULL);
        assert_int_equal(status, ABUT_OK);
        for (int i = 0; i < 10; i++)
            check_patch(s, 0, random_range(&seed, -0.1, 1.1), random_range(&seed, -0.1, 1.1),
                        bezier_definition, &n);
        check_patch(s, 0, 0, 1, bezier_definition, &n);
        abut_surface_free(NULL, s);
    }
}

/* A blossom is symmetric, affine in each argument, and equal to the patch on the diagonal. */
static void test_blossoms(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int trial = 0; trial < 50; trial++) {
        double data[BEZIER_NUMBERS] = {0}, tri[TRIANGLE_NUMBERS] = {0}, a[4], b[4], c[4];
        for (int i = 0; i < 16; i++)
            for (int k = 0; k < 3; k++) data[4 * i + k] = random_range(&seed, -1, 1);
        for (int i = 0; i < 15; i++)
            for (int k = 0; k < 3; k++) tri[4 * i + k] = random_range(&seed, -1, 1);
        double u[5], v[5];
        for (int i = 0; i < 5; i++) u[i] = random_range(&seed, -1, 2), v[i] = random_range(&seed, -1, 2);
        partials p;
        bezier_evaluate(data, u[0], v[0], 0, &p);
        bezier_blossom(data, (double[3]){u[0], u[0], u[0]}, (double[3]){v[0], v[0], v[0]}, a);
        assert_true(fabs(a[0] - p.c.x) + fabs(a[1] - p.c.y) + fabs(a[2] - p.c.z) < 1e-11);
        bezier_blossom(data, (double[3]){u[0], u[1], u[2]}, v, a);
        bezier_blossom(data, (double[3]){u[2], u[0], u[1]}, v, b);
        bezier_blossom(data, (double[3]){u[3], u[1], u[2]}, v, c);
        assert_true(fabs(a[1] - b[1]) < 1e-11);
        bezier_blossom(data, (double[3]){0.25 * u[0] + 0.75 * u[3], u[1], u[2]}, v, b);
        assert_true(fabs(b[2] - 0.25 * a[2] - 0.75 * c[2]) < 1e-11);
        double at[4][2], turned[4][2];
        for (int i = 0; i < 4; i++)
            at[i][0] = turned[(i + 1) % 4][0] = u[i], at[i][1] = turned[(i + 1) % 4][1] = v[i];
        vec3 x = triangle_blossom(tri, (const double(*)[2])at),
             y = triangle_blossom(tri, (const double(*)[2])turned);
        assert_true(vec3_distance(x, y) < 1e-10);
        for (int i = 0; i < 4; i++) at[i][0] = u[4], at[i][1] = v[4];
        triangle_evaluate(tri, u[4], v[4], 0, &p);
        assert_true(vec3_distance(triangle_blossom(tri, (const double(*)[2])at), p.c) < 1e-10);
    }
}

/* ---- regular Loop: subdivide the lattice twice, take limit positions (1/2, 1/12 x 6) at the 15 points of
 * the quarter grid, and interpolate the quartic through them. */
typedef struct quartic {
    quad3 coefficient[15]; /* of u^i v^j, i + j <= 4, i fastest inside */
} quartic;
enum { SPAN = 24 };
typedef struct lattice {
    quad3 at[SPAN][SPAN]; /* origin at SPAN/2 */
} lattice;
static quad3 *lattice_at(lattice *l, int i, int j) { return &l->at[i + SPAN / 2][j + SPAN / 2]; }
static const int hexagon[6][2] = {{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}};

static quad3 ring_rule(lattice *l, int i, int j, quad center, quad ring) {
    quad3 sum = quad3_axpy((quad3){0, 0, 0}, center, *lattice_at(l, i, j));
    for (int k = 0; k < 6; k++)
        sum = quad3_axpy(sum, ring, *lattice_at(l, i + hexagon[k][0], j + hexagon[k][1]));
    return sum;
}
static void refine_lattice(lattice *from, lattice *to, int reach) {
    memset(to, 0, sizeof *to);
    for (int i = -reach; i <= reach; i++)
        for (int j = -reach; j <= reach; j++) {
            *lattice_at(to, 2 * i, 2 * j) = ring_rule(from, i, j, (quad)5 / 8, (quad)1 / 16);
            static const int edge[3][2] = {{1, 0}, {0, 1}, {-1, 1}};
            for (int e = 0; e < 3; e++) { /* the tips are the neighbours before and after the edge */
                int before = e == 0 ? 5 : e - 1;
                quad3 sum = {0, 0, 0};
                sum = quad3_axpy(sum, (quad)3 / 8, *lattice_at(from, i, j));
                sum = quad3_axpy(sum, (quad)3 / 8, *lattice_at(from, i + edge[e][0], j + edge[e][1]));
                sum = quad3_axpy(sum, (quad)1 / 8,
                                 *lattice_at(from, i + hexagon[before][0], j + hexagon[before][1]));
                sum = quad3_axpy(sum, (quad)1 / 8,
                                 *lattice_at(from, i + hexagon[e + 1][0], j + hexagon[e + 1][1]));
                *lattice_at(to, 2 * i + edge[e][0], 2 * j + edge[e][1]) = sum;
            }
        }
}
static void monomials(quad u, quad v, quad m[15]) {
    int at = 0;
    quad pv = 1;
    for (int j = 0; j <= 4; j++, pv *= v) {
        quad pu = pv;
        for (int i = 0; i + j <= 4; i++, pu *= u) m[at++] = pu;
    }
}
/* Gauss elimination with pivoting on the 15 x 15 system. */
static void interpolate(quad a[15][15], quad3 b[15], quad3 x[15]) {
    for (int k = 0; k < 15; k++) {
        int best = k;
        for (int i = k; i < 15; i++)
            if (fabs((double)a[i][k]) > fabs((double)a[best][k])) best = i;
        for (int j = 0; j < 15; j++) {
            quad t = a[k][j];
            a[k][j] = a[best][j], a[best][j] = t;
        }
        quad3 t = b[k];
        b[k] = b[best], b[best] = t;
        for (int i = k + 1; i < 15; i++) {
            quad f = a[i][k] / a[k][k];
            for (int j = k; j < 15; j++) a[i][j] -= f * a[k][j];
            b[i] = quad3_axpy(b[i], -f, b[k]);
        }
    }
    for (int k = 14; k >= 0; k--) {
        quad3 sum = b[k];
        for (int j = k + 1; j < 15; j++) sum = quad3_axpy(sum, -a[k][j], x[j]);
        x[k] = (quad3){sum.x / a[k][k], sum.y / a[k][k], sum.z / a[k][k]};
    }
}
static quartic quartic_of_stencil(const vec3 stencil[STENCIL_POINTS]) {
    static lattice l0, l1, l2;
    quad a[15][15];
    quad3 b[15];
    quartic q;
    memset(&l0, 0, sizeof l0);
    for (int i = 0; i < STENCIL_POINTS; i++)
        *lattice_at(&l0, stencil_lattice[i][0], stencil_lattice[i][1]) = quad3_of(stencil[i]);
    refine_lattice(&l0, &l1, 3);
    refine_lattice(&l1, &l2, 5);
    int at = 0;
    for (int j = 0; j <= 4; j++)
        for (int i = 0; i + j <= 4; i++, at++) {
            monomials((quad)i / 4, (quad)j / 4, a[at]);
            b[at] = ring_rule(&l2, i, j, (quad)1 / 2, (quad)1 / 12);
        }
    interpolate(a, b, q.coefficient);
    return q;
}
static quad3 quartic_definition(const void *user, quad u, quad v) {
    quad m[15];
    quad3 sum = {0, 0, 0};
    monomials(u, v, m);
    for (int i = 0; i < 15; i++) sum = quad3_axpy(sum, m[i], ((const quartic *)user)->coefficient[i]);
    return sum;
}

static void test_regular_loop(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int trial = 0; trial < 10; trial++) {
        vec3 stencil[STENCIL_POINTS];
        for (int i = 0; i < STENCIL_POINTS; i++)
            stencil[i] =
                vec3_add(vec3_make(stencil_lattice[i][0], stencil_lattice[i][1], 0), support_vec(&seed, 0.5));
        quartic q = quartic_of_stencil(stencil);
        surface_builder b = {0};
        double *data;
        builder_patch(&b, (patch){.kind = ABUT_PATCH_LOOP}, 3, domain_triangle, TRIANGLE_NUMBERS, &data);
        triangle_from_stencil(stencil, data);
        abut_surface *s = NULL;
        assert_int_equal(builder_finish(&b, &s, NULL), ABUT_OK);
        for (int i = 0; i < 10; i++) {
            double u = random_unit(&seed), v = random_unit(&seed) * (1 - u);
            check_patch(s, 0, u, v, quartic_definition, &q);
        }
        abut_surface_free(NULL, s);
    }
}

/* ---- S-patch: 5.10 to 5.16, as printed */
typedef struct s_patch_user {
    int sides;
    double corners[ABUT_SIDES_MOST][2];
    const vec3 *points;
    const double *corrections; /* 4 * S_PATCH_FIT numbers a side, or NULL; then the inner polynomial */
    int count;
} s_patch_user;

/* alpha_i (l_i l_(i+1))^2 sum c_k T_k(2t - 1), t = alpha_(i-1) / (alpha_(i-1) + alpha_(i+1)); on a triangle,
 * of which the alphas sum to 2, t = alpha_(i-1)/2 + alpha_i/4 */
static quad3 correction_definition(const s_patch_user *s, const quad *alpha, const quad *l, int i) {
    int n = s->sides, b = (i + n - 1) % n, a = (i + 1) % n;
    quad t = n == 3 ? alpha[b] / 2 + alpha[i] / 4 : alpha[b] / (alpha[b] + alpha[a]), x = 2 * t - 1;
    quad before = 1, now = x, weight = alpha[i] * l[i] * l[i] * l[a] * l[a];
    quad3 sum = {0, 0, 0};
    for (int k = 0; k < s->count; k++) {
        const double *c = s->corrections + 4 * (i * S_PATCH_FIT + k);
        sum = quad3_axpy(sum, weight * before, (quad3){c[0], c[1], c[2]});
        quad next = 2 * x * now - before;
        before = now, now = next;
    }
    return sum;
}
/* m^2 sum c_ij u^i v^j, m the sum of l_i l_j over pairs that are not neighbours (9 l_1 l_2 l_3 on a triangle)
 */
static quad3 inner_definition(const s_patch_user *s, const quad *l, quad u, quad v) {
    int n = s->sides;
    quad m = n == 3 ? 9 * l[0] * l[1] * l[2] : 0, pv = 1;
    for (int i = 0; i < n; i++)
        for (int j = i + 2; j < n; j++)
            if (i + n - j != 1) m += l[i] * l[j];
    quad3 sum = {0, 0, 0};
    for (int j = 0; j <= S_PATCH_DEGREE; j++, pv *= v) {
        quad pu = pv * m * m;
        for (int i = 0; i + j <= S_PATCH_DEGREE; i++, pu *= u) {
            const double *c = s->corrections + 4 * (n * S_PATCH_FIT + TRIANGLE(i, j));
            sum = quad3_axpy(sum, pu, (quad3){c[0], c[1], c[2]});
        }
    }
    return sum;
}

static quad3 s_patch_definition(const void *user, quad u, quad v) {
    const s_patch_user *s = user;
    quad alpha[ABUT_SIDES_MOST], l[ABUT_SIDES_MOST], total = 0;
    int n = s->sides;
    for (int i = 0; i < n; i++) {
        const double *p = s->corners[i], *q = s->corners[(i + 1) % n];
        alpha[i] =
            u * ((quad)p[1] - q[1]) - v * ((quad)p[0] - q[0]) + ((quad)p[0] * q[1] - (quad)p[1] * q[0]);
    }
    for (int i = 0; i < n; i++) {
        l[i] = 1;
        for (int j = 0; j < n; j++)
            if (j != i && j != (i + n - 1) % n) l[i] *= alpha[j];
        total += l[i];
    }
    quad3 sum = {0, 0, 0};
    for (int i = 0; i < n; i++) l[i] /= total;
    for (int i = 0; i < n && s->corrections; i++)
        sum = quad3_axpy(sum, 1, correction_definition(s, alpha, l, i));
    if (s->corrections) sum = quad3_axpy(sum, 1, inner_definition(s, l, u, v));
    for (int d = 0; d < n; d++)
        for (int c = 0; c <= d; c++)
            for (int b = 0; b <= c; b++)
                for (int a = 0; a <= b; a++) {
                    int index[4] = {a, b, c, d}, count[ABUT_SIDES_MOST] = {0}, multinomial = 24;
                    quad product = 1;
                    for (int k = 0; k < 4; k++) product *= l[index[k]], multinomial /= ++count[index[k]];
                    sum = quad3_axpy(sum, multinomial * product,
                                     quad3_of(s->points[abut_s_patch_index(a, b, c, d)]));
                }
    return sum;
}

static void test_s_patches(void **state) {
    (void)state;
    uint64_t seed = 4;
    for (int sides = 3; sides <= 9; sides++) {
        vec3 *points = mem_alloc(NULL, (size_t)abut_s_patch_points(sides), sizeof *points);
        for (int i = 0; i < abut_s_patch_points(sides); i++) points[i] = support_vec(&seed, 1);
        abut_surface *s = NULL;
        assert_int_equal(abut_surface_s_patch(NULL, sides, points, &s, NULL), ABUT_OK);
        s_patch_user user = {.sides = sides, .points = points};
        assert_int_equal(abut_surface_domain(s, 0, user.corners), sides);
        assert_true(fabs(abut_surface_patch_facts(s, 0).area_of_domain - 1) < 1e-14);
        for (int i = 0; i < 6; i++) {
            double f = random_unit(&seed), g = random_unit(&seed);
            const double *a = user.corners[i % sides], *b = user.corners[(i + 1) % sides];
            check_patch(s, 0, f * (g * a[0] + (1 - g) * b[0]), f * (g * a[1] + (1 - g) * b[1]),
                        s_patch_definition, &user);
        }
        abut_surface_free(NULL, s);
        mem_free(NULL, points, (size_t)abut_s_patch_points(sides), sizeof *points);
    }
}

/* S-patches in the holes of a Loop surface, with their corrections. */
static void test_filled_s_patches(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int n = 3; n <= 9; n += 2) {
        double_cone d;
        make_double_cone(&d, n, 0.05, &seed);
        abut_loop_options o = {.form = ABUT_LOOP_SMOOTH, .refine = 2, .scale = 1};
        abut_surface *s = NULL;
        assert_int_equal(abut_surface_loop(NULL, &d.mesh, &o, &s, NULL), ABUT_OK);
        for (int p = 0; p < abut_surface_patch_count(s); p++) {
            const patch *q = surface_patch(s, p);
            if (q->kind != ABUT_PATCH_S_PATCH) continue;
            const double *data = surface_numbers(s, q->data), *x = data + S_PATCH_HEAD(q->sides);
            int count = abut_s_patch_points(q->sides);
            vec3 *points = mem_alloc(NULL, (size_t)count, sizeof *points);
            for (int i = 0; i < count; i++) points[i] = vec3_make(x[4 * i], x[4 * i + 1], x[4 * i + 2]);
            s_patch_user user = {.sides = q->sides,
                                 .points = points,
                                 .corrections = x + 4 * count,
                                 .count = (int)data[3 * q->sides]};
            assert_true(user.count >= 8);
            abut_surface_domain(s, p, user.corners);
            for (int i = 0; i < 3; i++) {
                double f = random_unit(&seed), g = random_unit(&seed);
                const double *a = user.corners[i], *b = user.corners[(i + 1) % q->sides];
                check_patch(s, p, f * (g * a[0] + (1 - g) * b[0]), f * (g * a[1] + (1 - g) * b[1]),
                            s_patch_definition, &user);
            }
            mem_free(NULL, points, (size_t)count, sizeof *points);
        }
        abut_surface_free(NULL, s);
    }
}

/* With the means of four corners as control points L is reproduced: S(p) = p (linear precision of the
 * embedding), and with equal points S is constant (the l_i sum to one).  At the corners too. */
static void test_s_patch_precision(void **state) {
    (void)state;
    for (int sides = 3; sides <= ABUT_SIDES_MOST; sides += 3) {
        double p[ABUT_SIDES_MOST][2];
        s_patch_corners(sides, p);
        size_t count = (size_t)abut_s_patch_points(sides);
        vec3 *points = mem_alloc(NULL, count, sizeof *points);
        for (int d = 0; d < sides; d++)
            for (int c = 0; c <= d; c++)
                for (int b = 0; b <= c; b++)
                    for (int a = 0; a <= b; a++)
                        points[abut_s_patch_index(d, a, c, b)] =
                            vec3_make((p[a][0] + p[b][0] + p[c][0] + p[d][0]) / 4,
                                      (p[a][1] + p[b][1] + p[c][1] + p[d][1]) / 4, 7);
        abut_surface *s = NULL;
        assert_int_equal(abut_surface_s_patch(NULL, sides, points, &s, NULL), ABUT_OK);
        for (int i = 0; i <= 10; i++) {
            partials at;
            double u = p[0][0] * i / 10, v = p[0][1] * i / 10;
            abut_surface_evaluate(s, 0, u, v, 3, &at);
            assert_true(fabs(at.c.x - u) < 1e-13 && fabs(at.c.y - v) < 1e-13 && fabs(at.c.z - 7) < 1e-13);
            assert_true(fabs(at.u.x - 1) + fabs(at.u.y) + fabs(at.v.x) + fabs(at.v.y - 1) < 1e-11);
            assert_true(vec3_length(at.uu) + vec3_length(at.uv) + vec3_length(at.vv) < 1e-9);
        }
        abut_surface_free(NULL, s);
        mem_free(NULL, points, count, sizeof *points);
    }
}

/* ---- quadrics: by the formulas of surface.h, turned by quarters */
static quad3 quadric_definition(const void *user, quad u, quad v) {
    const struct {
        abut_quadric q;
        int part;
    } *x = user;
    quad f[3] = {u, v, 0}, r = quad_sqrt(1 + u * u), s = quad_sqrt(1 + v * v);
    static const int8_t quarter[4][4] = {{1, 0, 0, 1}, {0, -1, 1, 0}, {-1, 0, 0, -1}, {0, 1, -1, 0}};
    const int8_t *t = quarter[x->part % 4], *w = quarter[x->part / 4];
    quad cu = (t[0] + t[1] * u) / r, su = (t[2] + t[3] * u) / r, cv = (w[0] + w[1] * v) / s,
         sv = (w[2] + w[3] * v) / s;
    switch (x->q.kind) {
    case ABUT_PATCH_SPHERE: {
        quad n = quad_sqrt(1 + u * u + v * v);
        quad face[6][3] = {{u, v, 1}, {v, u, -1}, {1, u, v}, {-1, v, u}, {v, 1, u}, {u, -1, v}};
        for (int i = 0; i < 3; i++) f[i] = face[x->part][i] / n;
        break;
    }
    case ABUT_PATCH_CYLINDER: f[0] = cu, f[1] = su, f[2] = v; break;
    case ABUT_PATCH_CONE: f[0] = v * cu, f[1] = v * su, f[2] = v; break;
    case ABUT_PATCH_PARABOLOID: f[2] = u * u + v * v; break;
    case ABUT_PATCH_SADDLE: f[2] = u * u - v * v; break;
    case ABUT_PATCH_TORUS:
        f[0] = (1 + x->q.ratio * cv) * cu, f[1] = (1 + x->q.ratio * cv) * su, f[2] = x->q.ratio * sv;
        break;
    default: break;
    }
    quad3 c = quad3_of(x->q.origin);
    c = quad3_axpy(c, f[0], quad3_of(x->q.axes.cx));
    c = quad3_axpy(c, f[1], quad3_of(x->q.axes.cy));
    return quad3_axpy(c, f[2], quad3_of(x->q.axes.cz));
}

static void test_quadrics(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int kind = ABUT_PATCH_PLANE; kind <= ABUT_PATCH_TORUS; kind++) {
        struct {
            abut_quadric q;
            int part;
        } x = {abut_default_quadric((abut_patch_kind)kind), 0};
        mat3 turn = quat_matrix(support_rotation(&seed));
        x.q.axes = mat3_mul(turn, mat3_diagonal(0.5, 1.25, 2));
        x.q.origin = support_vec(&seed, 1);
        x.q.ratio = 0.375;
        abut_surface *s = NULL;
        assert_int_equal(abut_surface_quadric(NULL, &x.q, &s, NULL), ABUT_OK);
        for (x.part = 0; x.part < abut_surface_patch_count(s); x.part++)
            for (int i = 0; i < 5; i++) {
                double v = random_range(&seed, kind == ABUT_PATCH_CONE ? 0.5 : -1, 1);
                check_patch(s, x.part, random_range(&seed, -1, 1), v, quadric_definition, &x);
            }
        /* whole spheres and tori are closed, cylinders and cones closed around */
        for (int p = 0; p < abut_surface_patch_count(s); p++)
            for (int e = 0; e < 4; e++) {
                int q, f;
                bool joined = abut_surface_neighbour(s, p, e, &q, &f);
                bool whole = kind == ABUT_PATCH_SPHERE || kind == ABUT_PATCH_TORUS;
                bool round = kind == ABUT_PATCH_CYLINDER || kind == ABUT_PATCH_CONE;
                assert_int_equal(joined, whole || (round && e % 2 == 1));
            }
        abut_surface_free(NULL, s);
    }
    /* what is no quadric */
    abut_surface *s = NULL;
    abut_error error;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_CONE);
    q.low = 0;
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, &error), ABUT_INVALID);
    q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes.cx = vec3_zero();
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, &error), ABUT_INVALID);
    q = abut_default_quadric(ABUT_PATCH_BEZIER);
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, &error), ABUT_INVALID);
}

/* ---- NURBS: the quarter circle with weights 1, sqrt(1/2), 1 swept along a line lies on the cylinder; a
 * cubic with uneven knots agrees with de Boor's recursion (Cox) in 113 bits. */
static void test_nurbs_cylinder(void **state) {
    (void)state;
    double knots_u[] = {0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4}, knots_v[] = {0, 0, 1, 1}, weights[18];
    vec3 points[18];
    static const double corner[9][2] = {{1, 0},   {1, 1},  {0, 1},  {-1, 1}, {-1, 0},
                                        {-1, -1}, {0, -1}, {1, -1}, {1, 0}};
    for (int k = 0; k < 18; k++) {
        points[k] = vec3_make(corner[k % 9][0], corner[k % 9][1], k / 9);
        weights[k] = k % 9 % 2 ? sqrt(0.5) : 1;
    }
    abut_nurbs n = {2, 1, 9, 2, knots_u, knots_v, points, weights};
    abut_surface *s = NULL;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, NULL), ABUT_OK);
    assert_int_equal(abut_surface_patch_count(s), 4);
    for (int p = 0; p < 4; p++)
        for (int i = 0; i <= 8; i++) {
            partials at;
            int other, edge;
            abut_surface_evaluate(s, p, i / 8.0, 0.3, 1, &at);
            assert_true(fabs(at.c.x * at.c.x + at.c.y * at.c.y - 1) < 1e-14);
            assert_true(fabs(at.c.z - 0.3) < 1e-15);
            assert_true(vec3_dot(abut_partials_normal(&at), vec3_make(at.c.x, at.c.y, 0)) > 1 - 1e-14);
            assert_true(abut_surface_neighbour(s, p, 1, &other, &edge));
            assert_int_equal(other, (p + 1) % 4);
        }
    abut_surface_free(NULL, s);
}

static quad cox(const double *t, int i, int degree, quad x) {
    if (degree == 0) return x >= t[i] && x < t[i + 1];
    quad a = t[i + degree] > t[i] ? (x - t[i]) / ((quad)t[i + degree] - t[i]) * cox(t, i, degree - 1, x) : 0;
    quad b = t[i + degree + 1] > t[i + 1] ? (t[i + degree + 1] - x) / ((quad)t[i + degree + 1] - t[i + 1]) *
                                                cox(t, i + 1, degree - 1, x)
                                          : 0;
    return a + b;
}

static void test_nurbs_knots(void **state) {
    (void)state;
    uint64_t seed = 6;
    double ku[] = {-1, 0, 0.5, 0.5, 1, 2, 4, 4.5, 4.75, 6}, kv[] = {0, 0, 0, 1, 3, 3.5, 3.5, 3.5};
    vec3 points[30];
    double weights[30];
    for (int i = 0; i < 30; i++) points[i] = support_vec(&seed, 1), weights[i] = random_range(&seed, 0.5, 2);
    abut_nurbs n = {3, 2, 6, 5, ku, kv, points, weights};
    abut_surface *s = NULL;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, NULL), ABUT_OK);
    double spans_u[][2] = {{0.5, 1}, {1, 2}, {2, 4}}, spans_v[][2] = {{0, 1}, {1, 3}, {3, 3.5}};
    assert_int_equal(abut_surface_patch_count(s), 9);
    for (int p = 0; p < 9; p++)
        for (int i = 0; i < 5; i++) {
            double a = random_unit(&seed), b = random_unit(&seed);
            quad x = spans_u[p % 3][0] + a * ((quad)spans_u[p % 3][1] - spans_u[p % 3][0]),
                 y = spans_v[p / 3][0] + b * ((quad)spans_v[p / 3][1] - spans_v[p / 3][0]), w = 0;
            quad3 sum = {0, 0, 0};
            for (int k = 0; k < 30; k++) {
                quad f = cox(ku, k % 6, 3, x) * cox(kv, k / 6, 2, y) * weights[k];
                sum = quad3_axpy(sum, f, quad3_of(points[k])), w += f;
            }
            partials at;
            abut_surface_evaluate(s, p, a, b, 0, &at);
            assert_true(fabs((double)(sum.x / w) - at.c.x) + fabs((double)(sum.y / w) - at.c.y) +
                            fabs((double)(sum.z / w) - at.c.z) <
                        1e-13);
        }
    abut_surface_free(NULL, s);
    double bad[] = {0, 0, 0, 1, 3, 2, 3.5, 3.5};
    n.knots_v = bad;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, NULL), ABUT_INVALID);
    n.knots_v = kv, n.degree_u = 5;
    assert_int_equal(abut_surface_nurbs(NULL, &n, &s, NULL), ABUT_UNSUPPORTED);
}

/* Two patches back to back are joined; the second one mirrored is refused. */
static void test_join(void **state) {
    (void)state;
    vec3 points[32];
    int other, edge;
    abut_surface *s = NULL;
    for (int k = 0; k < 32; k++)
        points[k] = vec3_make(k % 4 + (k >= 16 ? 3 : 0), k % 16 / 4, (k % 4) * (k % 3));
    for (int j = 0; j < 4; j++) points[16 + 4 * j] = points[4 * j + 3];
    assert_int_equal(abut_surface_bezier(NULL, points, 2, &s, NULL), ABUT_OK);
    assert_true(abut_surface_neighbour(s, 0, 1, &other, &edge));
    assert_int_equal(other, 1);
    assert_int_equal(edge, 3);
    assert_false(abut_surface_neighbour(s, 0, 0, &other, &edge));
    abut_surface_free(NULL, s);
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 2; i++) {
            vec3 swap = points[16 + 4 * j + i];
            points[16 + 4 * j + i] = points[16 + 4 * j + 3 - i], points[16 + 4 * j + 3 - i] = swap;
        }
    abut_error error = {0};
    assert_int_equal(abut_surface_bezier(NULL, points, 2, &s, &error), ABUT_INVALID);
    points[3].x = NAN;
    assert_int_equal(abut_surface_bezier(NULL, points, 2, &s, &error), ABUT_INVALID);
}

/* cos and sin of fractions of a turn against libm */
static void test_turn(void **state) {
    (void)state;
    for (int n = 1; n < 60; n++)
        for (int k = -n; k <= 2 * n; k++) {
            double c, s, x = 6.283185307179586 * k / n;
            turn(k, n, &c, &s);
            assert_true(fabs(c - cos(x)) < 3e-15 && fabs(s - sin(x)) < 3e-15);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bezier),
        cmocka_unit_test(test_blossoms),
        cmocka_unit_test(test_regular_loop),
        cmocka_unit_test(test_s_patches),
        cmocka_unit_test(test_s_patch_precision),
        cmocka_unit_test(test_filled_s_patches),
        cmocka_unit_test(test_quadrics),
        cmocka_unit_test(test_nurbs_cylinder),
        cmocka_unit_test(test_nurbs_knots),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
