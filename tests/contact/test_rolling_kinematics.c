/* Contact kinematics against the constraint itself: H by differences of the relative pose, its rate by
 * differences of H, the inverse by going there and back; closed forms of a ball on a plane and in a bowl. */
#include "contact/rolling_kinematics.h"
#include "support.h"

static abut_surface *random_patch(uint64_t *seed) {
    vec3 points[16];
    abut_surface *s = NULL;
    for (int k = 0; k < 16; k++)
        points[k] = vec3_add(vec3_make(k % 4, k / 4.0, 0.2 * (k % 3)), support_vec(seed, 0.3));
    assert_int_equal(abut_surface_bezier(NULL, points, 1, &s, NULL), ABUT_OK);
    return s;
}

static void half_of(const abut_surface *s, double u, double v, rolling_half *half) {
    abut_partials p;
    abut_surface_evaluate(s, 0, u, v, 3, &p);
    assert_true(rolling_half_at(&p, half));
}

typedef struct contact_pair {
    abut_surface *one, *two;
} contact_pair;

static void pose_at(const contact_pair *c, const double q[5], mat3 *r, vec3 *p) {
    rolling_half one, two;
    half_of(c->one, q[0], q[1], &one), half_of(c->two, q[2], q[3], &two);
    rolling_pose(&one, &two, (rolling_turn){cos(q[4]), sin(q[4])}, r, p);
}
static void h_at(const contact_pair *c, const double q[5], const double rates[5], bool body,
                 rolling_matrix *h, rolling_matrix *rate) {
    rolling_half one, two;
    rolling_turn psi = {cos(q[4]), sin(q[4])};
    half_of(c->one, q[0], q[1], &one), half_of(c->two, q[2], q[3], &two);
    rolling_matrix a, b;
    rolling_h(&one, &two, psi, &a);
    rolling_h_rate(&one, &two, psi, rates, &b);
    *h = a, *rate = b;
    if (body) rolling_in_body(&one, rates, &a, &b, h, rate);
}

static void random_q(uint64_t *seed, double q[5]) {
    for (int k = 0; k < 4; k++) q[k] = random_range(seed, 0.2, 0.8);
    q[4] = random_range(seed, -3, 3);
}

/* 1H_j = vee(R^T dR/dq_j) and R^T dp/dq_j for the pose (R, p) of body 1 in body 2 (4.13), by central
 * differences: h = 1e-5 gives 1e-10 of truncation and 1e-11 of rounding. */
static void test_h_by_differences(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 20; trial++) {
        contact_pair c = {random_patch(&seed), random_patch(&seed)};
        double q[5], zero[5] = {0}, h = 1e-5;
        random_q(&seed, q);
        rolling_matrix m, unused, frame;
        h_at(&c, q, zero, true, &m, &unused);
        h_at(&c, q, zero, false, &frame, &unused);
        mat3 r, r0, r1;
        vec3 p, p0, p1;
        pose_at(&c, q, &r, &p);
        for (int j = 0; j < 5; j++) {
            double low[5], high[5];
            memcpy(low, q, sizeof q), memcpy(high, q, sizeof q);
            low[j] -= h, high[j] += h;
            pose_at(&c, low, &r0, &p0), pose_at(&c, high, &r1, &p1);
            mat3 w = mat3_mul(mat3_transpose(r), mat3_scale(mat3_sub(r1, r0), 0.5 / h));
            vec3 angular = {w.cy.z, w.cz.x, w.cx.y},
                 linear = mat3_tmul_vec(r, vec3_scale(vec3_sub(p1, p0), 0.5 / h));
            double want[6] = {angular.x, angular.y, angular.z, linear.x, linear.y, linear.z};
            for (int i = 0; i < 6; i++)
                if (!(fabs(m.at[i][j] - want[i]) < 1e-7 * (1 + fabs(want[i]))))
                    fail_msg("H[%d][%d] = %g, by differences %g", i, j, m.at[i][j], want[i]);
            assert_true(fabs(frame.at[5][j]) < 1e-14); /* no way along the normal */
        }
        abut_surface_free(NULL, c.one), abut_surface_free(NULL, c.two);
    }
}

/* d/dt H along q + t q', in axes of 1c and of body 1 */
static void test_h_rate(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int trial = 0; trial < 40; trial++) {
        contact_pair c = {random_patch(&seed), random_patch(&seed)};
        double q[5], rates[5], low[5], high[5], h = 1e-5;
        random_q(&seed, q);
        for (int k = 0; k < 5; k++) {
            rates[k] = random_range(&seed, -1, 1);
            low[k] = q[k] - h * rates[k], high[k] = q[k] + h * rates[k];
        }
        for (int body = 0; body < 2; body++) {
            rolling_matrix m, rate, a, b, unused;
            h_at(&c, q, rates, body, &m, &rate);
            h_at(&c, low, rates, body, &a, &unused), h_at(&c, high, rates, body, &b, &unused);
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 5; j++) {
                    double want = (b.at[i][j] - a.at[i][j]) * 0.5 / h;
                    if (!(fabs(rate.at[i][j] - want) < 1e-6 * (1 + fabs(want))))
                        fail_msg("dH[%d][%d] = %g, by differences %g (body %d)", i, j, rate.at[i][j], want,
                                 body);
                }
        }
        abut_surface_free(NULL, c.one), abut_surface_free(NULL, c.two);
    }
}

static void test_rates_there_and_back(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int trial = 0; trial < 100; trial++) {
        contact_pair c = {random_patch(&seed), random_patch(&seed)};
        double q[5], rates[5], back[5], curvature[2], zero[5] = {0};
        random_q(&seed, q);
        for (int k = 0; k < 5; k++) rates[k] = random_range(&seed, -1, 1);
        rolling_matrix h, unused;
        rolling_half one, two;
        vec3 angular, linear;
        h_at(&c, q, zero, false, &h, &unused);
        half_of(c.one, q[0], q[1], &one), half_of(c.two, q[2], q[3], &two);
        rolling_twist(&h, rates, &angular, &linear);
        if (rolling_rates(&one, &two, (rolling_turn){cos(q[4]), sin(q[4])}, angular, linear, back, curvature))
            for (int k = 0; k < 5; k++)
                if (!(fabs(back[k] - rates[k]) < 1e-9 * (1 + 1 / fabs(curvature[0]))))
                    fail_msg("rate %d: %g became %g, curvature %g", k, rates[k], back[k], curvature[0]);
        abut_surface_free(NULL, c.one), abut_surface_free(NULL, c.two);
    }
}

/* A ball of radius r inside a sphere of radius R: relative curvature 1/r - 1/R in both directions; on a plane
 * 1/r; in a bowl of its own size 0, and the rates are refused.  The cavity is the sphere with its outside
 * turned in: the parameters swapped. */
static void test_curvature(void **state) {
    (void)state;
    abut_quadric ball = abut_default_quadric(ABUT_PATCH_SPHERE),
                 floor = abut_default_quadric(ABUT_PATCH_PLANE);
    ball.axes = mat3_diagonal(0.25, 0.25, 0.25);
    abut_surface *b = NULL, *f = NULL;
    assert_int_equal(abut_surface_quadric(NULL, &ball, &b, NULL), ABUT_OK);
    assert_int_equal(abut_surface_quadric(NULL, &floor, &f, NULL), ABUT_OK);
    rolling_half one, two, cavity;
    double rates[5], curvature[2];
    half_of(b, 0.3, -0.2, &one), half_of(f, 0.1, 0.4, &two);
    rolling_turn psi = {0.6, 0.8};
    assert_true(rolling_rates(&one, &two, psi, vec3_make(1, 2, 3), vec3_zero(), rates, curvature));
    assert_true(fabs(fabs(curvature[0]) - 4) < 1e-12 && fabs(fabs(curvature[1]) - 4) < 1e-12);
    for (int same = 0; same < 2; same++) {
        abut_partials p, swapped;
        double radius = same ? 0.25 : 1, scale = radius / 0.25;
        abut_surface_evaluate(b, 0, 0.1, 0.5, 3, &p);
        swapped = (abut_partials){p.c, p.v, p.u, p.vv, p.uv, p.uu, p.vvv, p.uvv, p.uuv, p.uuu};
        for (int k = 0; k < 10; k++) ((vec3 *)&swapped)[k] = vec3_scale(((vec3 *)&swapped)[k], scale);
        assert_true(rolling_half_at(&swapped, &cavity));
        bool fine = rolling_rates(&one, &cavity, psi, vec3_make(1, 2, 3), vec3_zero(), rates, curvature);
        assert_int_equal(fine, !same);
        assert_true(fabs(fabs(curvature[0]) - (same ? 0 : 3)) < 1e-11);
    }
    abut_surface_free(NULL, b), abut_surface_free(NULL, f);
}

/* Crossing from one chart of a sphere to the next: with psi turned by rolling_turn_of_patch the pose is the
 * same. */
static void test_turn_of_patch(void **state) {
    (void)state;
    uint64_t seed = 4;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    abut_surface *s = NULL, *other = random_patch(&seed);
    assert_int_equal(abut_surface_quadric(NULL, &q, &s, NULL), ABUT_OK);
    for (int side = 0; side < 2; side++) {
        abut_surface_point here = {0, 1, 0.3}, there;
        double j[4];
        assert_true(abut_surface_cross(s, here, 1, &there, j));
        abut_partials a, b;
        rolling_half before, after, second;
        abut_surface_evaluate(s, here.patch, here.u, here.v, 3, &a);
        abut_surface_evaluate(s, there.patch, there.u, there.v, 3, &b);
        assert_true(rolling_half_at(&a, &before) && rolling_half_at(&b, &after));
        half_of(other, 0.4, 0.6, &second);
        rolling_turn psi = {0.28, -0.96}, by = rolling_turn_of_patch(&before, &after);
        assert_true(fabs(by.c * by.c + by.s * by.s - 1) < 1e-14);
        rolling_turn now = {psi.c * by.c - psi.s * by.s, psi.s * by.c + psi.c * by.s};
        mat3 r, r2;
        vec3 p, p2;
        rolling_pose(side ? &second : &before, side ? &before : &second, psi, &r, &p);
        rolling_pose(side ? &second : &after, side ? &after : &second, now, &r2, &p2);
        assert_true(vec3_distance(p, p2) < 1e-14 &&
                    vec3_distance(r.cx, r2.cx) + vec3_distance(r.cy, r2.cy) < 1e-14);
    }
    abut_surface_free(NULL, s), abut_surface_free(NULL, other);
}

/* Where a patch is not regular there is no frame. */
static void test_not_regular(void **state) {
    (void)state;
    abut_partials p = {.u = {1, 0, 0}, .v = {2, 0, 0}};
    rolling_half half;
    assert_false(rolling_half_at(&p, &half));
    p.u = vec3_zero();
    assert_false(rolling_half_at(&p, &half));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h_by_differences),     cmocka_unit_test(test_h_rate),
        cmocka_unit_test(test_rates_there_and_back), cmocka_unit_test(test_curvature),
        cmocka_unit_test(test_turn_of_patch),        cmocka_unit_test(test_not_regular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
