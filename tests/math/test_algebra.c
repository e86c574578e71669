/* Identities of vectors, matrices, quaternions, poses, boxes and spatial vectors on seeded random input, and
 * the conventions by hand: quarter turns, the cross product of the axes, who is local and who is world. */
#include "math/spatial.h"
#include "math/vec.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROUNDS = 20000 };
static const double close = 2e-14; /* sums of a dozen products of numbers below 2, each rounded to 1.1e-16 */
static uint64_t state = 11;

static double uniform(void) { return random_range(&state, -1, 1); }
static vec3 any_vec(void) { return vec3_make(uniform(), uniform(), uniform()); }
static mat3 any_mat(void) { return (mat3){any_vec(), any_vec(), any_vec()}; }
static quat any_quat(void) { return quat_unit((quat){uniform(), uniform(), uniform(), uniform()}); }
static pose any_pose(void) { return (pose){any_vec(), any_quat()}; }

static void same(double a, double b) { assert_true(fabs(a - b) <= close); }
static void same_vec(vec3 a, vec3 b) { assert_true(vec3_max_abs(vec3_sub(a, b)) <= close); }
static void same_mat(mat3 a, mat3 b) { same_vec(a.cx, b.cx), same_vec(a.cy, b.cy), same_vec(a.cz, b.cz); }
static void same_vec_exactly(vec3 a, vec3 b) { assert_true(a.x == b.x && a.y == b.y && a.z == b.z); }

static void test_vectors(void **unused) {
    (void)unused;
    same_vec_exactly(vec3_cross(vec3_make(1, 0, 0), vec3_make(0, 1, 0)), vec3_make(0, 0, 1));
    same_vec_exactly(vec3_unit(vec3_zero()), vec3_zero());
    assert_true(!vec3_is_finite(vec3_make(0, NAN, 0)) && !vec3_is_finite(vec3_make(0, 0, -INFINITY)));
    for (int n = 0; n < ROUNDS; n++) {
        vec3 a = any_vec(), b = any_vec(), c = any_vec();
        double t = uniform();
        same(vec3_dot(vec3_cross(a, b), a), 0);
        same_vec_exactly(vec3_cross(a, b), vec3_neg(vec3_cross(b, a)));
        same(vec3_length2(vec3_cross(a, b)),
             vec3_length2(a) * vec3_length2(b) - vec3_dot(a, b) * vec3_dot(a, b));
        same(vec3_triple(a, b, c), vec3_triple(b, c, a));
        /* a x (b x c) = b (a . c) - c (a . b) */
        same_vec(vec3_cross(a, vec3_cross(b, c)),
                 vec3_sub(vec3_scale(b, vec3_dot(a, c)), vec3_scale(c, vec3_dot(a, b))));
        same_vec(vec3_lerp(a, b, t), vec3_axpy(a, t, vec3_sub(b, a)));
        same_vec_exactly(vec3_lerp(a, b, 0), a);
        same_vec_exactly(vec3_lerp(a, b, 1), b);
        same(vec3_length(vec3_unit(a)), 1);
        vec3 o = vec3_orthogonal(vec3_unit(a));
        same(vec3_dot(o, a), 0);
        same(vec3_length(o), 1);
        same(vec3_distance(a, b), sqrt(vec3_length2(vec3_sub(b, a))));
        for (int i = 0; i < 3; i++) assert_true(fabs(vec3_at(a, i)) <= vec3_max_abs(a));
    }
}

static void test_matrices(void **unused) {
    (void)unused;
    for (int n = 0; n < ROUNDS; n++) {
        mat3 a = any_mat(), b = any_mat();
        vec3 u = any_vec(), v = any_vec();
        same_vec(mat3_mul_vec(mat3_mul(a, b), v), mat3_mul_vec(a, mat3_mul_vec(b, v)));
        same_vec(mat3_tmul_vec(a, v), mat3_mul_vec(mat3_transpose(a), v));
        same_mat(mat3_transpose(mat3_mul(a, b)), mat3_mul(mat3_transpose(b), mat3_transpose(a)));
        same(mat3_det(mat3_mul(a, b)), mat3_det(a) * mat3_det(b));
        same_vec(mat3_mul_vec(mat3_skew(u), v), vec3_cross(u, v));
        same_vec(mat3_mul_vec(mat3_outer(u, v), a.cx), vec3_scale(u, vec3_dot(v, a.cx)));
        same_mat(mat3_sub(mat3_add(a, b), b), a);
        if (fabs(mat3_det(a)) > 0.1) { /* condition below 100 */
            mat3 rest = mat3_sub(mat3_mul(mat3_inverse(a), a), mat3_identity());
            assert_true(vec3_max_abs(rest.cx) < 100 * close && vec3_max_abs(rest.cy) < 100 * close &&
                        vec3_max_abs(rest.cz) < 100 * close);
        }
    }
}

/* A quarter turn about z takes x to y; composition is from the right; q and -q are one rotation. */
static void test_quaternions(void **unused) {
    (void)unused;
    double h = sqrt(0.5);
    same_vec(quat_rotate((quat){h, 0, 0, h}, vec3_make(1, 0, 0)), vec3_make(0, 1, 0));
    quat turn = abut_quat_from_axis_angle(vec3_make(0, 3, 0), 2 * atan2(1, 1));
    same_vec(quat_rotate(turn, vec3_make(0, 0, 1)), vec3_make(1, 0, 0));
    for (int n = 0; n < ROUNDS; n++) {
        quat p = any_quat(), q = any_quat(), minus = {-q.w, -q.x, -q.y, -q.z};
        vec3 v = any_vec(), w = any_vec();
        same_vec(quat_rotate(quat_mul(p, q), v), quat_rotate(p, quat_rotate(q, v)));
        same_vec(quat_unrotate(q, quat_rotate(q, v)), v);
        same_vec(quat_rotate(minus, v), quat_rotate(q, v));
        same_vec(mat3_mul_vec(quat_matrix(q), v), quat_rotate(q, v));
        same_mat(mat3_mul(quat_matrix(q), mat3_transpose(quat_matrix(q))), mat3_identity());
        same(mat3_det(quat_matrix(q)), 1);
        same(vec3_dot(quat_rotate(q, v), quat_rotate(q, w)), vec3_dot(v, w));
        quat back = quat_from_matrix(quat_matrix(q));
        same(fabs(back.w * q.w + back.x * q.x + back.y * q.y + back.z * q.z), 1);
        same_mat(quat_matrix(back), quat_matrix(q));
    }
}

/* Half turns, where the trace is -1 and the square root of the naive formula vanishes. */
static void test_half_turns(void **unused) {
    (void)unused;
    for (int n = 0; n < ROUNDS; n++) {
        vec3 u = n < 3 ? vec3_make(n == 0, n == 1, n == 2) : vec3_unit(any_vec());
        quat q = {n % 2 ? 0 : 1e-9 * uniform(), u.x, u.y, u.z};
        q = quat_unit(q);
        same_mat(quat_matrix(quat_from_matrix(quat_matrix(q))), quat_matrix(q));
    }
}

/* quat_rate against the derivative: v fixed in the body moves with w x (R v). */
static void test_quaternion_rate(void **unused) {
    (void)unused;
    for (int n = 0; n < ROUNDS; n++) {
        quat q = any_quat(), r;
        vec3 w = any_vec(), v = any_vec();
        r = quat_rate(q, w);
        /* d/dt (q v q*) = r v q* + q v r*: vector part by products of quaternions */
        quat pure = {0, v.x, v.y, v.z};
        quat a = quat_mul(quat_mul(r, pure), quat_conj(q)), b = quat_mul(quat_mul(q, pure), quat_conj(r));
        same_vec(vec3_make(a.x + b.x, a.y + b.y, a.z + b.z), vec3_cross(w, quat_rotate(q, v)));
    }
}

static void test_poses(void **unused) {
    (void)unused;
    same_vec_exactly(abut_pose_point(abut_pose_identity(), vec3_make(1, 2, 3)), vec3_make(1, 2, 3));
    for (int n = 0; n < ROUNDS; n++) {
        pose a = any_pose(), b = any_pose();
        vec3 x = any_vec();
        same_vec(pose_point(pose_mul(a, b), x), pose_point(a, pose_point(b, x)));
        same_vec(pose_unpoint(a, pose_point(a, x)), x);
        same_vec(pose_unvector(a, pose_vector(a, x)), x);
        same_vec(pose_point(pose_inverse(a), x), pose_unpoint(a, x));
        /* a seen from b, then b, is a */
        same_vec(pose_point(b, pose_point(pose_relative(a, b), x)), pose_point(a, x));
        same_vec_exactly(abut_pose_point(a, x), pose_point(a, x));
    }
}

static void test_boxes(void **unused) {
    (void)unused;
    assert_false(box_overlap(box_empty(), box_empty()));
    for (int n = 0; n < ROUNDS; n++) {
        vec3 p = any_vec(), q = any_vec(), r = any_vec();
        box a = box_add_point(box_add_point(box_empty(), p), q), b = box_add_point(box_empty(), r);
        bool inside = r.x >= a.lower.x && r.x <= a.upper.x && r.y >= a.lower.y && r.y <= a.upper.y &&
                      r.z >= a.lower.z && r.z <= a.upper.z;
        assert_int_equal(box_overlap(a, b), inside);
        assert_int_equal(box_overlap(b, a), inside);
        assert_false(box_overlap(a, box_empty()));
        assert_true(box_overlap(a, box_add_point(box_empty(), p))); /* touching counts */
        assert_true(box_overlap(box_union(a, b), b));
        same(box_diagonal(a), vec3_distance(p, q));
        same_vec(box_center(a), vec3_lerp(p, q, 0.5));
        same(box_diagonal(box_grow(a, 1)),
             vec3_length(vec3_add(vec3_abs(vec3_sub(p, q)), vec3_make(2, 2, 2))));
    }
}

/* Power is the same whether a force is seen at its point or as a wrench about the centre. */
static void test_spatial(void **unused) {
    (void)unused;
    for (int n = 0; n < ROUNDS; n++) {
        spatial v = spatial_make(any_vec(), any_vec()), w = spatial_make(any_vec(), any_vec());
        vec3 f = any_vec(), r = any_vec();
        double s = uniform();
        same(spatial_dot(spatial_force_at(f, r), v), vec3_dot(f, spatial_velocity_at(v, r)));
        same(spatial_dot(spatial_axpy(v, s, w), v), spatial_dot(v, v) + s * spatial_dot(w, v));
        same(spatial_dot(spatial_add(v, spatial_scale(w, s)), w), spatial_dot(spatial_axpy(v, s, w), w));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),         cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_quaternions),     cmocka_unit_test(test_half_turns),
        cmocka_unit_test(test_quaternion_rate), cmocka_unit_test(test_poses),
        cmocka_unit_test(test_boxes),           cmocka_unit_test(test_spatial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
