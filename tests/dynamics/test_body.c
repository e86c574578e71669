/* Bodies, rows and the least-norm kernel beneath them. */
#include "little.h"

#include "math/angle.h"
#include "numerics/least_norm.h"

/* Mass, I along and I across of a solid of revolution about z, by slices: discs of radius rho(z),
 *     m = int pi rho^2,  Izz = int pi rho^4 / 2,  Ixx = int pi rho^4 / 4 + pi rho^2 z^2       (Simpson) */
typedef double profile(double z, double radius, double length);
static double capsule_profile(double z, double radius, double length) { /* rho^2 */
    double d = fmax(fabs(z) - length / 2, 0);
    return fmax(radius * radius - d * d, 0);
}
static double cylinder_profile(double z, double radius, double length) {
    return fabs(z) <= length / 2 ? radius * radius : 0;
}
static double sphere_profile(double z, double radius, double length) {
    (void)length;
    return fmax(radius * radius - z * z, 0);
}

static void integrate(profile *f, double radius, double length, double from, double to, double out[3]) {
    enum { N = 2000 };
    double h = (to - from) / N;
    for (int i = 0; i <= N; i++) {
        double z = from + i * h, r2 = f(z, radius, length),
               w = (i == 0 || i == N ? 1
                    : i % 2          ? 4
                                     : 2) *
                   h / 3;
        out[0] += w * ANGLE_PI * r2;
        out[1] += w * ANGLE_PI * r2 * r2 / 2;
        out[2] += w * (ANGLE_PI * r2 * r2 / 4 + ANGLE_PI * r2 * z * z);
    }
}

static void mass_properties_of_shapes(void **state) {
    (void)state;
    const double r = 0.7, l = 1.3, density = 3;
    struct {
        abut_shape shape;
        profile *f;
        double from, to;
    } cases[3] = {{abut_shape_capsule(r, l), capsule_profile, l / 2, l / 2 + r},
                  {abut_shape_cylinder(r, l), cylinder_profile, 0, 0},
                  {abut_shape_sphere(r), sphere_profile, 0, r}};
    for (int i = 0; i < 3; i++) {
        double want[3] = {0, 0, 0};
        if (cases[i].to > 0) integrate(cases[i].f, r, l, cases[i].from, cases[i].to, want);
        if (i < 2) integrate(cases[i].f, r, l, 0, l / 2, want); /* pieces, so that Simpson meets no kink */
        body_mass got;
        assert_int_equal(body_mass_of_shape(&cases[i].shape, density, &got, NULL), ABUT_OK);
        assert_close(got.mass, 2 * density * want[0], 1e-11);
        assert_close(got.inertia.cz.z, 2 * density * want[1], 1e-11);
        assert_close(got.inertia.cx.x, 2 * density * want[2], 1e-11);
        assert_close(got.inertia.cy.y, 2 * density * want[2], 1e-11);
    }
    /* an ellipsoid is a sphere with its axes stretched: int x^2 scales with a^3 b c */
    abut_shape e = abut_shape_ellipsoid(1, 2, 3);
    body_mass got;
    assert_int_equal(body_mass_of_shape(&e, 1, &got, NULL), ABUT_OK);
    double m = 4.0 / 3 * ANGLE_PI * 6;
    assert_close(got.mass, m, 1e-13);
    assert_close(got.inertia.cx.x, m / 5 * 13, 1e-12);
    assert_close(got.inertia.cy.y, m / 5 * 10, 1e-12);
    assert_close(got.inertia.cz.z, m / 5 * 5, 1e-12);

    abut_shape none = abut_shape_halfspace((abut_vec3){0, 0, 1}, 0), flat = abut_shape_cylinder(0, 1);
    assert_int_equal(body_mass_of_shape(&none, 1, &got, NULL), ABUT_UNSUPPORTED);
    assert_int_equal(body_mass_of_shape(&flat, 1, &got, NULL), ABUT_INVALID);
    assert_int_equal(body_mass_of_shape(&e, -1, &got, NULL), ABUT_INVALID);
}

static void tensors(void **state) {
    (void)state;
    uint64_t seed = 4;
    /* two point masses on a bar: shift and rotation against the definition sum m (r.r 1 - r r^T) */
    vec3 p[4];
    double m[4], total = 0;
    vec3 center = vec3_zero();
    for (int i = 0; i < 4; i++) {
        p[i] = support_vec(&seed, 1), m[i] = random_range(&seed, 0.5, 2);
        total += m[i], center = vec3_axpy(center, m[i], p[i]);
    }
    center = vec3_scale(center, 1 / total);
    mat3 about_center = mat3_diagonal(0, 0, 0), about_origin = about_center, turned = about_center;
    quat q = support_rotation(&seed);
    for (int i = 0; i < 4; i++) {
        vec3 d = vec3_sub(p[i], center);
        about_center = body_tensor_shift(about_center, m[i], d);
        about_origin = body_tensor_shift(about_origin, m[i], p[i]);
        turned = body_tensor_shift(turned, m[i], quat_rotate(q, d));
    }
    mat3 steiner = mat3_sub(body_tensor_shift(about_center, total, center), about_origin);
    mat3 rotated = mat3_sub(body_tensor_rotate(about_center, q), turned);
    assert_true(vec3_max_abs(steiner.cx) + vec3_max_abs(steiner.cy) + vec3_max_abs(steiner.cz) < 1e-14);
    assert_true(vec3_max_abs(rotated.cx) + vec3_max_abs(rotated.cy) + vec3_max_abs(rotated.cz) < 1e-14);
    double e[6] = {1, 2, 3, 4, 5, 6};
    mat3 t = body_tensor(e);
    assert_true(t.cx.x == 1 && t.cy.y == 2 && t.cz.z == 3 && t.cx.y == 4 && t.cy.x == 4 && t.cx.z == 5 &&
                t.cy.z == 6);

    body_inertia b;
    assert_int_equal(body_inertia_make(total, about_center, &b, NULL), ABUT_OK);
    mat3 one = mat3_sub(mat3_mul(b.inertia, b.inverse_inertia), mat3_identity());
    assert_true(vec3_max_abs(one.cx) + vec3_max_abs(one.cy) + vec3_max_abs(one.cz) < 1e-13);
    assert_int_equal(body_inertia_make(0, about_center, &b, NULL), ABUT_INVALID);
    assert_int_equal(body_inertia_make(1, mat3_diagonal(1, 1, 0), &b, NULL), ABUT_INVALID);
    assert_int_equal(body_inertia_make(1, mat3_diagonal(1, 1, 3), &b, NULL), ABUT_INVALID);
    assert_int_equal(body_inertia_make(1, (mat3){{1, 0.5, 0}, {0, 1, 0}, {0, 0, 1}}, &b, NULL), ABUT_INVALID);
    assert_int_equal(body_inertia_make(NAN, about_center, &b, NULL), ABUT_INVALID);
}

/* Newton-Euler: I alpha + w x I w = T, m a = F; energy and momentum from their definitions. */
static void newton_euler(void **state) {
    (void)state;
    uint64_t seed = 8;
    body_inertia b;
    double entries[6] = {2, 3, 4, 0.3, -0.2, 0.5};
    assert_int_equal(body_inertia_make(1.5, body_tensor(entries), &b, NULL), ABUT_OK);
    motion m = {
        support_vec(&seed, 1), support_rotation(&seed), {support_vec(&seed, 2), support_vec(&seed, 2)}};
    spatial wrench = {support_vec(&seed, 3), support_vec(&seed, 3)}, a = body_accelerate(&b, &m, wrench);
    mat3 world = body_tensor_rotate(b.inertia, m.rotation);
    vec3 w = m.velocity.angular, l = mat3_mul_vec(world, w);
    vec3 torque = vec3_add(mat3_mul_vec(world, a.angular), vec3_cross(w, l));
    assert_close(vec3_distance(torque, wrench.angular), 0, 1e-13);
    assert_close(vec3_distance(vec3_scale(a.linear, 1.5), wrench.linear), 0, 1e-14);
    assert_close(body_kinetic_energy(&b, &m), 0.75 * vec3_length2(m.velocity.linear) + vec3_dot(w, l) / 2,
                 1e-13);
    vec3 about = support_vec(&seed, 1);
    vec3 spin = vec3_add(l, vec3_cross(vec3_sub(m.center, about), vec3_scale(m.velocity.linear, 1.5)));
    assert_close(vec3_distance(body_angular_momentum(&b, &m, about), spin), 0, 1e-13);
    mat3 inverse = mat3_sub(mat3_mul(world, body_inverse_inertia(&b, m.rotation)), mat3_identity());
    assert_true(vec3_max_abs(inverse.cx) < 1e-14);
    body_inertia fixed = body_immovable();
    spatial none = body_accelerate(&fixed, &m, wrench);
    assert_true(vec3_length(none.linear) == 0 && vec3_length(none.angular) == 0);
    assert_true(body_kinetic_energy(&fixed, &m) == 0);
}

/* A = J M^-1 J^T: sparse against the dense product; symmetric to the bit; rows that share no movable body
 * have no entry. */
static void assembly(void **state) {
    (void)state;
    uint64_t seed = 21;
    little w;
    little_open(&w);
    int floor = little_fixed(&w);
    for (int i = 0; i < 6; i++)
        w.motions[little_body(&w, random_range(&seed, 1, 5), vec3_make(1, 1.2, 1.4), support_vec(&seed, 2))]
            .rotation = support_rotation(&seed);
    enum { ROWS = 30 };
    row rows[ROWS];
    for (int i = 0; i < ROWS; i++) {
        int a = support_int(&seed, 0, 6), b = support_int(&seed, -1, 6);
        rows[i] = (row){.a = a,
                        .b = b,
                        .ja = {support_vec(&seed, 1), support_vec(&seed, 1)},
                        .jb = {support_vec(&seed, 1), support_vec(&seed, 1)}};
    }
    row_matrix m;
    assert_int_equal(row_assemble(rows, ROWS, w.motions, w.inertias, w.g.body_count, &w.memory, &m, NULL),
                     ABUT_OK);
    double dense[ROWS][ROWS] = {{0}};
    bool seen[ROWS][ROWS] = {{false}};
    for (int i = 0; i < ROWS; i++) {
        for (int k = m.start[i]; k < m.start[i + 1]; k++) {
            assert_true(k == m.start[i] || m.column[k] > m.column[k - 1]);
            dense[i][m.column[k]] = m.value[k], seen[i][m.column[k]] = true;
        }
        assert_true(seen[i][i]);
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            spatial push[7], v[7];
            for (int k = 0; k < 7; k++) push[k] = (spatial){{0, 0, 0}, {0, 0, 0}};
            row_add_wrench(&rows[j], 1, push);
            for (int k = 0; k < 7; k++) v[k] = body_apply(&w.inertias[k], w.motions[k].rotation, push[k]);
            v[floor] = (spatial){{0, 0, 0}, {0, 0, 0}};
            assert_close(dense[i][j], row_dot(&rows[i], v), 1e-13);
            assert_true(dense[i][j] == dense[j][i]);
        }
    little_close(&w);
}

/* Least squares of least norm: the four conditions of Penrose's inverse, for ranks from 0 to full, columns
 * scaled by up to 1e8. */
static void least_norm_conditions(void **state) {
    (void)state;
    uint64_t seed = 31;
    arena memory;
    arena_init(&memory, NULL);
    for (int trial = 0; trial < 200; trial++) {
        int rows = support_int(&seed, 1, 12), cols = support_int(&seed, 1, 15);
        int rank = support_int(&seed, 0, rows < cols ? rows : cols);
        double a[12 * 15] = {0}, left[12 * 12], right[12 * 15];
        for (int i = 0; i < rows * rank; i++) left[i] = random_range(&seed, -1, 1);
        for (int i = 0; i < cols * rank; i++) right[i] = random_range(&seed, -1, 1);
        for (int j = 0; j < cols; j++) {
            double scale = trial % 2 ? 1 : exp(random_range(&seed, -9, 9));
            for (int i = 0; i < rows; i++)
                for (int k = 0; k < rank; k++)
                    a[rows * j + i] += scale * left[rows * k + i] * right[cols * k + j];
        }
        least_norm f;
        assert_true(least_norm_factor(a, rows, cols, 1e-10, &memory, &f));
        assert_int_equal(f.rank, rank);
        double b[12], x[15], residual[12], y[12], size = 0, length = 0;
        for (int i = 0; i < rows; i++) b[i] = random_range(&seed, -1, 1);
        least_norm_solve(&f, b, x);
        for (int j = 0; j < cols; j++) length = fmax(length, fabs(x[j]));
        for (int i = 0; i < rows; i++) {
            residual[i] = b[i];
            for (int j = 0; j < cols; j++) residual[i] -= a[rows * j + i] * x[j];
        }
        for (int j = 0; j < cols; j++) { /* A^T (b - A x) = 0 */
            double sum = 0, big = 0;
            for (int i = 0; i < rows; i++) sum += a[rows * j + i] * residual[i], big += fabs(a[rows * j + i]);
            assert_true(fabs(sum) <= 1e-10 * (big + 1e-300));
            size = fmax(size, big);
        }
        /* x lies in the range of A^T: x = A^T y for y = (A^T)^+ x; columns scaled by e^-9 to e^9 cost their
         * ratio 6.6e7 in accuracy, on top of the random matrix's own condition */
        least_norm_solve_transposed(&f, x, y);
        for (int j = 0; j < cols; j++) {
            double sum = x[j];
            for (int i = 0; i < rows; i++) sum -= a[rows * j + i] * y[i];
            assert_true(fabs(sum) <= (trial % 2 ? 1e-9 : 1e-5) * (length + 1e-300));
        }
        least_norm_take_out(&f, b); /* what remains of b is the residual of least squares */
        for (int i = 0; i < rows; i++) assert_close(b[i], residual[i], 1e-8);
    }
    /* openness: x1 + x2 = 1 leaves half of each open, a third unknown alone is determined */
    double two[] = {1, 0, 1, 0, 0, 1};
    least_norm f;
    assert_true(least_norm_factor(two, 2, 3, 1e-10, &memory, &f));
    assert_close(least_norm_openness(&f, 0), 0.5, 1e-15);
    assert_close(least_norm_openness(&f, 2), 0, 1e-15);
    arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_properties_of_shapes),
        cmocka_unit_test(tensors),
        cmocka_unit_test(newton_euler),
        cmocka_unit_test(assembly),
        cmocka_unit_test(least_norm_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
