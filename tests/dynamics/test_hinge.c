/* Hinges: every row of every kind against finite differences, counts and independence, limits, motors,
 * springs.
 *
 * A path with given first and second derivatives at t = 0: centre c + v t + a t^2/2, rotation
 * q + q' t + q'' t^2/2 normalised, with q' = w q / 2 and q'' = (alpha q + w q') / 2, which keeps |q| = 1 to
 * third order.  C(t) along it gives C' and C'' by central differences of fourth order with h = 1e-3 and h/2:
 * truncation h^4 C^(6) about 1e-10 for speeds of order 1 to 3, more where C bends sharply (a short rod); it
 * is less than what the two differ by, 15 times that of h/2.  Rounding 4e-16/h^2 = 4e-10. */
#include "dynamics/hinge.h"

#include "base/base.h"
#include "math/angle.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct path {
    motion start;
    spatial acceleration;
} path;

/* One draw a statement: compilers choose the order within one. */
static path random_path(uint64_t *s) {
    vec3 q = support_vec(s, 1), center = support_vec(s, 1), v = support_vec(s, 1), w = support_vec(s, 1);
    vec3 a = support_vec(s, 1), b = support_vec(s, 1);
    return (path){{center, quat_unit((quat){q.x, q.y, q.z, random_range(s, 0.1, 1)}), {v, w}}, {a, b}};
}

static motion path_at(const path *p, double t) {
    motion m = p->start;
    m.center = vec3_axpy(vec3_axpy(m.center, t, m.velocity.linear), t * t / 2, p->acceleration.linear);
    quat q = m.rotation, d = quat_rate(q, m.velocity.angular);
    quat e = quat_rate(q, p->acceleration.angular), f = quat_rate(d, m.velocity.angular);
    double h = t * t / 2;
    m.rotation = quat_unit((quat){q.w + t * d.w + h * (e.w + f.w), q.x + t * d.x + h * (e.x + f.x),
                                  q.y + t * d.y + h * (e.y + f.y), q.z + t * d.z + h * (e.z + f.z)});
    return m;
}

enum { PLACES = 9, HERE = PLACES / 2 }; /* C at -4 .. 4 times h/2 */

/* Derivatives of C at 0 from its values at -2h .. 2h, `every` second place or each. */
static void differences(const double *c, int every, double h, double *first, double *second) {
    const double *m = c + HERE;
    *first = (8 * (m[every] - m[-every]) - (m[2 * every] - m[-2 * every])) / (12 * h);
    *second = (16 * (m[every] + m[-every]) - (m[2 * every] + m[-2 * every]) - 30 * m[0]) / (12 * h * h);
}

static abut_hinge_def random_def(abut_hinge_kind kind, uint64_t *s) {
    abut_hinge_def def = abut_default_hinge();
    def.kind = kind, def.a = 0, def.b = 1, def.name = "h";
    def.at = support_vec(s, 1), def.at_b = support_vec(s, 1), def.axis = support_vec(s, 1);
    def.pitch = 0.3;
    return def;
}

enum { KINDS = ABUT_HINGE_POINT_ON_LINE + 1 };

static void every_row_has_the_rates_of_finite_differences(void **state) {
    (void)state;
    uint64_t seed = 7;
    const double h = 1e-3;
    for (int trial = 0; trial < 40; trial++)
        for (int kind = 0; kind < KINDS; kind++) {
            /* compiled in one pose, evaluated in another: errors are not zero, the identities hold all the
             * same */
            path pa = random_path(&seed), pb = random_path(&seed);
            abut_hinge_def def = random_def((abut_hinge_kind)kind, &seed);
            motion a0 = pa.start, b0 = pb.start;
            a0.center = vec3_add(a0.center, support_vec(&seed, 0.1));
            hinge hg;
            assert_int_equal(hinge_compile(&def, &a0, &b0, &hg, NULL), ABUT_OK);

            row rows[PLACES][HINGE_MAX_ROWS + 1];
            int count = 0;
            double value = 0, rate = 0;
            bool free_coordinate = false;
            for (int k = 0; k < PLACES; k++) {
                motion a = path_at(&pa, (k - HERE) * h / 2), b = path_at(&pb, (k - HERE) * h / 2);
                count = hinge_rows(&hg, &a, &b, 0.2, rows[k]);
                double v, r;
                free_coordinate = hinge_coordinate(&hg, &a, &b, 0.2, &v, &r, &rows[k][count]);
                if (k == HERE) value = v, rate = r;
            }
            spatial velocity[2] = {pa.start.velocity, pb.start.velocity};
            spatial acceleration[2] = {pa.acceleration, pb.acceleration};
            for (int i = 0; i < count + free_coordinate; i++) {
                double c[PLACES], first, second, coarse_first, coarse_second;
                for (int k = 0; k < PLACES; k++) c[k] = rows[k][i].error;
                differences(c, 1, h / 2, &first, &second);
                differences(c, 2, h, &coarse_first, &coarse_second);
                double slack1 = fabs(first - coarse_first), slack2 = fabs(second - coarse_second);
                assert_true(slack1 < 1e-5 && slack2 < 1e-3);
                const row *r = &rows[HERE][i];
                assert_int_equal(r->a, 0);
                assert_int_equal(r->b, 1);
                double rate1 = row_dot(r, velocity), rate2 = row_dot(r, acceleration) + r->drift;
                assert_true(fabs(rate1 - first) < 1e-10 * (1 + fabs(first)) + slack1);
                assert_true(fabs(rate2 - second) < 1e-8 * (1 + fabs(second)) + slack2);
            }
            if (free_coordinate) {
                assert_true(value == rows[HERE][count].error);
                assert_true(fabs(rate - row_dot(&rows[HERE][count], velocity)) < 1e-12);
            }
        }
}

/* At time 0 all errors are zero, the number of rows is that of the list, and the rows are independent
 * (Gram-Schmidt). */
static void rows_are_as_many_as_the_list_says_and_independent(void **state) {
    (void)state;
    static const int listed[] = {
#define ROWS(name, word, rows) rows,
        ABUT_HINGE_LIST(ROWS)
#undef ROWS
    };
    uint64_t seed = 11;
    for (int kind = 0; kind < KINDS; kind++) {
        path pa = random_path(&seed), pb = random_path(&seed);
        abut_hinge_def def = random_def((abut_hinge_kind)kind, &seed);
        hinge hg;
        assert_int_equal(hinge_compile(&def, &pa.start, &pb.start, &hg, NULL), ABUT_OK);
        row rows[HINGE_MAX_ROWS];
        int count = hinge_rows(&hg, &pa.start, &pb.start, 0, rows);
        assert_int_equal(count, listed[kind]);
        for (int i = 0; i < count; i++) assert_true(fabs(rows[i].error) < 1e-14);
        for (int i = 0; i < count; i++) {
            double size = sqrt(spatial_dot(rows[i].ja, rows[i].ja));
            for (int k = 0; k < i; k++)
                rows[i].ja = spatial_axpy(rows[i].ja, -spatial_dot(rows[i].ja, rows[k].ja), rows[k].ja);
            double left = sqrt(spatial_dot(rows[i].ja, rows[i].ja));
            assert_true(left > 1e-2 * size);
            rows[i].ja = spatial_scale(rows[i].ja, 1 / left);
        }
    }
}

/* A pure force and torque leave the pair at rest in every direction a row pushes: action = reaction, so the
 * total force and the total torque about any point are zero. */
static void action_equals_reaction(void **state) {
    (void)state;
    uint64_t seed = 13;
    for (int kind = 0; kind < KINDS; kind++) {
        path pa = random_path(&seed), pb = random_path(&seed);
        abut_hinge_def def = random_def((abut_hinge_kind)kind, &seed);
        hinge hg;
        assert_int_equal(hinge_compile(&def, &pa.start, &pb.start, &hg, NULL), ABUT_OK);
        row rows[HINGE_MAX_ROWS];
        int count = hinge_rows(&hg, &pa.start, &pb.start, 0, rows);
        for (int i = 0; i < count; i++) {
            vec3 force = vec3_add(rows[i].ja.linear, rows[i].jb.linear);
            vec3 torque = vec3_add(vec3_add(rows[i].ja.angular, rows[i].jb.angular),
                                   vec3_add(vec3_cross(pa.start.center, rows[i].ja.linear),
                                            vec3_cross(pb.start.center, rows[i].jb.linear)));
            assert_true(vec3_length(force) < 1e-14 && vec3_length(torque) < 1e-13);
        }
    }
}

static bool ramp(void *user, double time, double *out, int count) {
    (void)user;
    for (int i = 0; i < count; i++) out[i] = 1 + 2 * time + 3 * time * time * time;
    return true;
}
static bool stop(void *user, double time, double *out, int count) {
    (void)user, (void)time, (void)out, (void)count;
    return false;
}

/* A pin about z, body A turned by 100 rad in steps: the angle counts full turns. */
static void coordinate_counts_turns(void **state) {
    (void)state;
    motion a = {.rotation = {1, 0, 0, 0}, .velocity = {{0, 0, 0}, {0, 0, 2}}};
    abut_hinge_def def = abut_default_hinge();
    def.kind = ABUT_HINGE_PIN, def.a = 0;
    def.has_limits = true, def.limits[0] = -1, def.limits[1] = 200;
    hinge hg;
    assert_int_equal(hinge_compile(&def, &a, NULL, &hg, NULL), ABUT_OK);
    double last = 0, rate;
    row r;
    for (int i = 1; i <= 200; i++) {
        double angle = 0.5 * i;
        a.rotation = (quat){cos(angle / 2), 0, 0, sin(angle / 2)};
        assert_true(hinge_coordinate(&hg, &a, NULL, last, &last, &rate, &r));
        assert_true(fabs(last - angle) < 1e-13 * 200);
        assert_true(fabs(rate - 2) < 1e-14);
    }
    /* limits: distances and directions */
    row lower = hinge_limit_row(&r, &hg, -1), upper = hinge_limit_row(&r, &hg, +1);
    assert_true(fabs(lower.error - 101) < 1e-12 && fabs(upper.error - 100) < 1e-12);
    assert_true(lower.ja.angular.z > 0.99 && upper.ja.angular.z < -0.99);
    assert_true(lower.lo == 0 && isinf(lower.hi) && upper.lo == 0 && isinf(upper.hi));
}

static bool swings(void *user, double time, double *out, int count) {
    (void)user, (void)count;
    *out = sin(50 * time);
    return true;
}

/* sin 50 t has the derivative 50 cos 50 t; differences of sixth order are off by h^6 50^7 / 140 = 5.6e-9 in
 * the middle of their samples (of fourth order by h^4 50^5 / 30 = 1e-5), and by h^6 50^7 / 7 = 1.1e-7 at the
 * start of time. */
static void a_swinging_motor_is_differentiated(void **state) {
    (void)state;
    hinge hg = {.has_motor = true, .motor_function = swings, .motor_max_force = INFINITY};
    for (int i = 0; i < 40; i++) {
        double time = 0.0007 * i, speed, speed_rate;
        assert_int_equal(hinge_motor_speed(&hg, time, &speed, &speed_rate, NULL), ABUT_OK);
        assert_true(speed == sin(50 * time));
        assert_true(fabs(speed_rate - 50 * cos(50 * time)) < (time < 3e-3 ? 1.2e-7 : 6e-9));
    }
}

static void motor_pulls_with_what_it_has(void **state) {
    (void)state;
    motion a = {.rotation = {1, 0, 0, 0}};
    abut_hinge_def def = abut_default_hinge();
    def.kind = ABUT_HINGE_SLIDER, def.a = 0, def.has_motor = true, def.motor_function = ramp,
    def.motor_max_force = 5;
    def.stiffness = 3, def.rest = 0.5, def.damping = 2;
    hinge hg;
    assert_int_equal(hinge_compile(&def, &a, NULL, &hg, NULL), ABUT_OK);
    double speed, speed_rate;
    assert_int_equal(hinge_motor_speed(&hg, 2, &speed, &speed_rate, NULL), ABUT_OK);
    assert_true(fabs(speed - 29) < 1e-12 &&
                fabs(speed_rate - 38) < 1e-9); /* exact for a cubic, up to rounding */
    double value, rate;
    row c;
    assert_true(hinge_coordinate(&hg, &a, NULL, 0, &value, &rate, &c));
    row slow = hinge_motor_row(&c, &hg, hinge_motor_pull(&hg, 1, speed, 1e-9), speed, speed_rate);
    assert_true(slow.lo == 5 && slow.hi == 5);
    row fast = hinge_motor_row(&c, &hg, hinge_motor_pull(&hg, 30, speed, 1e-9), speed, speed_rate);
    assert_true(fast.lo == -5 && fast.hi == -5);
    row held = hinge_motor_row(&c, &hg, hinge_motor_pull(&hg, 29, speed, 1e-9), speed, speed_rate);
    assert_true(held.lo == -5 && held.hi == 5 && held.acceleration == speed_rate && held.rate == speed);
    assert_true(hinge_spring_force(&hg, 1.5, 4) == -3 - 8);
    assert_true(hinge_spring_energy(&hg, 1.5) == 1.5);
    hg.motor_function = stop;
    assert_int_equal(hinge_motor_speed(&hg, 2, &speed, &speed_rate, NULL), ABUT_CANCELLED);
}

/* The reaction of a pin: multipliers (1, 2, 3) on the point rows are the force; the axis rows are a torque.
 */
static void reaction_is_force_and_torque_at_the_anchor(void **state) {
    (void)state;
    motion a = {.center = {1, 0, 0}, .rotation = {1, 0, 0, 0}};
    abut_hinge_def def = abut_default_hinge();
    def.kind = ABUT_HINGE_PIN, def.a = 0, def.at = vec3_make(0, 2, 0);
    hinge hg;
    assert_int_equal(hinge_compile(&def, &a, NULL, &hg, NULL), ABUT_OK);
    row rows[HINGE_MAX_ROWS];
    int count = hinge_rows(&hg, &a, NULL, 0, rows);
    double f[5] = {1, 2, 3, 0, 0};
    vec3 force, torque;
    hinge_reaction(&hg, &a, rows, f, count, &force, &torque);
    assert_true(force.x == 1 && force.y == 2 && force.z == 3 && vec3_length(torque) < 1e-15);
    double g[5] = {0, 0, 0, 4, 5};
    hinge_reaction(&hg, &a, rows, g, count, &force, &torque);
    assert_true(vec3_length(force) == 0 && fabs(vec3_length(torque) - sqrt(41)) < 1e-14 && torque.z == 0);
}

static void wrong_definitions_are_refused(void **state) {
    (void)state;
    motion a = {.rotation = {1, 0, 0, 0}};
    hinge hg;
    abut_error error;
    abut_hinge_def good = abut_default_hinge();
    good.kind = ABUT_HINGE_PIN, good.a = 0, good.name = "elbow";
    assert_int_equal(hinge_compile(&good, &a, NULL, &hg, &error), ABUT_OK);
    abut_hinge_def bad[9];
    for (int i = 0; i < 9; i++) bad[i] = good;
    bad[0].cookie = 0;
    bad[1].axis = vec3_zero();
    bad[2].at.x = NAN;
    bad[3].kind = ABUT_HINGE_ROD;
    bad[4].kind = ABUT_HINGE_BALL, bad[4].has_motor = true;
    bad[5].has_limits = true, bad[5].limits[0] = 1, bad[5].limits[1] = 2;
    bad[6].kind = ABUT_HINGE_UNIVERSAL, bad[6].axis_b = vec3_make(1, 0, 1);
    bad[7].break_force = 0;
    bad[8].b = 0;
    for (int i = 0; i < 9; i++) {
        assert_int_equal(hinge_compile(&bad[i], &a, &a, &hg, &error), ABUT_INVALID);
        assert_non_null(strstr(error.message, "elbow"));
    }
}

/* The own inverse tangent against the C library's. */
static void angles_agree_with_the_c_library(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 200000; i++) {
        double x = random_range(&seed, -1, 1), y = random_range(&seed, -1, 1);
        if (i % 3 == 0) y *= 1e-9;
        if (i % 5 == 0) x *= 1e-9;
        double want = atan2(y, x);
        assert_true(fabs(angle_atan2(y, x) - want) <= 4.5e-16 * fabs(want));
    }
    assert_true(angle_atan2(0, 0) == 0 && angle_atan2(0, -1) == ANGLE_PI &&
                angle_atan2(-1, 0) == -ANGLE_PI / 2);
    assert_true(fabs(angle_unwrap(0.1, 12.6) - (0.1 + 4 * ANGLE_PI)) < 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_the_rates_of_finite_differences),
        cmocka_unit_test(rows_are_as_many_as_the_list_says_and_independent),
        cmocka_unit_test(action_equals_reaction),
        cmocka_unit_test(coordinate_counts_turns),
        cmocka_unit_test(motor_pulls_with_what_it_has),
        cmocka_unit_test(a_swinging_motor_is_differentiated),
        cmocka_unit_test(reaction_is_force_and_torque_at_the_anchor),
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(angles_agree_with_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
