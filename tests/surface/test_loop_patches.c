/* Loop patches, regular and around an extraordinary vertex: partials against subdivision in 113 bits. */
#include "definitions.h"

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
static quartic quartic_of_stencil(const quad3 stencil[STENCIL_POINTS]) {
    static lattice l0, l1, l2;
    quad a[15][15];
    quad3 b[15];
    quartic q;
    memset(&l0, 0, sizeof l0);
    for (int i = 0; i < STENCIL_POINTS; i++)
        *lattice_at(&l0, stencil_lattice[i][0], stencil_lattice[i][1]) = stencil[i];
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
        quad3 exact[STENCIL_POINTS];
        for (int i = 0; i < STENCIL_POINTS; i++) exact[i] = quad3_of(stencil[i]);
        quartic q = quartic_of_stencil(exact);
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
    report_error("regular Loop");
}

/* ---- extraordinary Loop: the cage is subdivided in 113 bits until the place lies in a regular triangle,
 * whose quartic is derived term by term. */

/* cos(2 pi / n) by its series */
static quad quad_cosine(int n) {
    quad x = 2 * ((quad)3.141592653589793 + (quad)1.2246467991473532e-16) / n, sum = 1;
    for (int k = 40; k > 0; k -= 2) sum = 1 - sum * x * x / (k * (k - 1));
    return sum;
}

/* Loop's rules along the double mesh, which knows who is next to whom: triangle 4t + i of the fine mesh has
 * corner i in common with triangle t, and its next corner on the edge that leaves there. */
static quad3 *refine_exactly(const loop_mesh *m, const quad3 *x, const loop_mesh *fine) {
    quad3 *y = mem_calloc(NULL, (size_t)fine->point_count, sizeof *y),
          *ring = mem_calloc(NULL, (size_t)m->point_count, sizeof *ring);
    for (int32_t h = 0; h < 3 * m->triangle_count; h++) {
        int32_t a = m->corners[h], b = m->corners[half_edge_next(h)], c = m->corners[half_edge_previous(h)],
                d = m->corners[half_edge_previous(m->twin[h])], i = h % 3;
        quad3 sum = {0, 0, 0};
        sum = quad3_axpy(quad3_axpy(sum, (quad)3 / 8, x[a]), (quad)3 / 8, x[b]);
        sum = quad3_axpy(quad3_axpy(sum, (quad)1 / 8, x[c]), (quad)1 / 8, x[d]);
        y[fine->corners[3 * (4 * (h / 3) + i) + (i + 1) % 3]] = sum;
        ring[a] = quad3_axpy(ring[a], 1, x[b]);
    }
    for (int32_t h = 0; h < 3 * m->triangle_count; h++) {
        int32_t a = m->corners[h], i = h % 3;
        int n = m->valence[a];
        quad lambda = (quad)3 / 8 + quad_cosine(n) / 4, weight = (quad)5 / 8 - lambda * lambda;
        quad3 sum = quad3_axpy((quad3){0, 0, 0}, 1 - weight, x[a]);
        y[fine->corners[3 * (4 * (h / 3) + i) + i]] = quad3_axpy(sum, weight / n, ring[a]);
    }
    mem_free(NULL, ring, (size_t)m->point_count, sizeof *ring);
    return y;
}

/* The quartic of a regular triangle; the stencil of a mesh whose points hold their own numbers tells which
 * points it takes. */
static quartic quartic_of_triangle(const loop_mesh *m, const quad3 *x, int64_t t) {
    vec3 stencil[STENCIL_POINTS];
    quad3 exact[STENCIL_POINTS];
    loop_mesh_stencil(m, t, stencil);
    for (int i = 0; i < STENCIL_POINTS; i++) exact[i] = x[(int64_t)stencil[i].x];
    return quartic_of_stencil(exact);
}

/* d^(a+b) / du^a dv^b of the quartic */
static quad3 quartic_partial(const quartic *q, quad u, quad v, int a, int b) {
    quad3 sum = {0, 0, 0};
    int at = 0;
    for (int j = 0; j <= 4; j++)
        for (int i = 0; i + j <= 4; i++, at++) {
            quad term = i >= a && j >= b;
            for (int k = 0; k < i; k++) term *= k < a ? (quad)(i - k) : u;
            for (int k = 0; k < j; k++) term *= k < b ? (quad)(j - k) : v;
            sum = quad3_axpy(sum, term, q->coefficient[at]);
        }
    return sum;
}

enum { DEEPEST = 6 };
typedef struct levels {
    int count;
    loop_mesh mesh[DEEPEST + 1];
    quad3 *exact[DEEPEST + 1];
} levels;

static void make_levels(levels *l, const abut_mesh *cage, int count) {
    l->count = count;
    assert_int_equal(loop_mesh_from_cage(NULL, cage, 1, &l->mesh[0], NULL), ABUT_OK);
    l->exact[0] = mem_alloc(NULL, (size_t)l->mesh[0].point_count, sizeof **l->exact);
    for (int64_t i = 0; i < l->mesh[0].point_count; i++) l->exact[0][i] = quad3_of(l->mesh[0].points[i]);
    for (int k = 0; k < count; k++) {
        assert_int_equal(loop_mesh_refine(&l->mesh[k], &l->mesh[k + 1], NULL), ABUT_OK);
        l->exact[k + 1] = refine_exactly(&l->mesh[k], l->exact[k], &l->mesh[k + 1]);
    }
    for (int k = 0; k <= count; k++)
        for (int64_t i = 0; i < l->mesh[k].point_count; i++) l->mesh[k].points[i].x = (double)i;
}
static void free_levels(levels *l) {
    for (int k = 0; k <= l->count; k++) {
        mem_free(NULL, l->exact[k], (size_t)l->mesh[k].point_count, sizeof **l->exact);
        loop_mesh_free(&l->mesh[k]);
    }
}

/* A place of triangle t, drawn towards a corner; true when a regular triangle holds it at some level. */
static bool check_place(const abut_surface *s, levels *l, int64_t t, uint64_t *seed) {
    double u0 = random_unit(seed), v0 = random_unit(seed) * (1 - u0), x[3] = {1 - u0 - v0, u0, v0};
    double pull = pow(0.5, random_range(seed, 0, l->count));
    int corner = support_int(seed, 0, 2), top = (int)t;
    for (int i = 0; i < 3; i++) x[i] = i == corner ? 1 - pull * (1 - x[i]) : pull * x[i];
    quad b[3] = {1 - (quad)x[1] - x[2], x[1], x[2]}, scale = 1;
    for (int level = 0; level <= l->count; level++) {
        const loop_mesh *m = &l->mesh[level];
        const int32_t *c = m->corners + 3 * t;
        if (m->valence[c[0]] == 6 && m->valence[c[1]] == 6 && m->valence[c[2]] == 6) {
            quartic q = quartic_of_triangle(m, l->exact[level], t);
            partials got;
            assert_true(abut_surface_evaluate(s, top, x[1], x[2], 3, &got));
            for (int k = 0; k < 10; k++) {
                quad3 f = quartic_partial(&q, b[1], b[2], orders[k][0], orders[k][1]);
                quad by = 1;
                for (int n = orders[k][0] + orders[k][1]; n > 0; n--) by *= scale;
                check_partial(((const vec3 *)&got)[k],
                              vec3_make((double)(f.x * by), (double)(f.y * by), (double)(f.z * by)), k, top,
                              x[1], x[2]);
            }
            return true;
        }
        int k = b[0] * 2 >= 1 ? 0 : b[1] * 2 > 1 ? 1 : b[2] * 2 > 1 ? 2 : 3;
        for (int i = 0; i < 3; i++) b[i] = k == 3 ? 1 - 2 * b[i] : 2 * b[i] - (i == k);
        t = 4 * t + k, scale *= k == 3 ? -2 : 2;
    }
    return false;
}

static void test_extraordinary(void **state) {
    (void)state;
    uint64_t seed = 13;
    static const int valences[] = {3, 4, 5, 7, 8, 9, 10, 11, 12, 16, 20, 24, 30};
    for (int i = 0; i < COUNT_OF(valences); i++) {
        double_cone d;
        levels l;
        abut_surface *s = NULL;
        int checked = 0;
        make_double_cone(&d, valences[i], 0.1, &seed);
        assert_int_equal(abut_surface_loop(NULL, &d.mesh, NULL, &s, NULL), ABUT_OK);
        make_levels(&l, &d.mesh, valences[i] <= 5 ? DEEPEST : 4); /* below 5 levels nets are tabulated */
        for (int k = 0; k < 40; k++)
            checked += check_place(s, &l, support_int(&seed, 0, 2 * valences[i] - 1), &seed);
        assert_true(checked > 10);
        free_levels(&l);
        abut_surface_free(NULL, s);
    }
    report_error("extraordinary Loop, valences 3 to 30");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_regular_loop),
                                       cmocka_unit_test(test_extraordinary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
