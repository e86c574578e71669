/* S-patches: partials against the definition, in holes with their corrections too; precision. */
#include "definitions.h"

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
    for (int sides = 3; sides <= ABUT_SIDES_MOST; sides += sides < 12 ? 1 : 6) {
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
    report_error("S-patches of 3 to 24 sides");
}

/* S-patches in the holes of a Loop surface, with their corrections. */
static void test_filled_s_patches(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int n = 3; n <= 12; n++) {
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
    report_error("S-patches in holes of 3 to 12 sides");
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_s_patches),
                                       cmocka_unit_test(test_filled_s_patches),
                                       cmocka_unit_test(test_s_patch_precision)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
