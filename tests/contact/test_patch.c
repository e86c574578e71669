/* Contact of smooth patches: places and rates against finite differences, and against an ellipsoid in closed
 * form. */
#include "contact/patch.h"
#include "support.h"

static uint64_t seed = 11;

/* A bump: z = 0.5 - (x^2 + 2 y^2) / 4 over [-1, 1]^2 as a bicubic patch, outside up. */
static abut_surface *bump(void) {
    vec3 points[16];
    static const double knots[4] = {-1, -1.0 / 3, 1.0 / 3, 1};
    /* blossom of x^2 over cubic control points of [-1, 1]: 1, -1/3, -1/3, 1 */
    static const double square[4] = {1, -1.0 / 3, -1.0 / 3, 1};
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            points[4 * j + i] = vec3_make(knots[i], knots[j], 0.5 - (square[i] + 2 * square[j]) / 4);
    abut_surface *surface = NULL;
    if (abut_surface_bezier(NULL, points, 1, &surface, NULL) != ABUT_OK) fail_msg("no surface");
    return surface;
}

static motion advance(motion m, double h) {
    vec3 w = m.velocity.angular;
    quat r = quat_rate(m.rotation, w), q = m.rotation;
    double c = 1 - vec3_dot(w, w) * h * h / 8;
    m.center = vec3_axpy(m.center, h, m.velocity.linear);
    m.rotation =
        quat_unit((quat){q.w * c + h * r.w, q.x * c + h * r.x, q.y * c + h * r.y, q.z * c + h * r.z});
    return m;
}

/* A patch that looks down, tilted a little, at a height above the other. */
static motion upside_down(double height) {
    quat flip = {0, 1, 0, 0},
         tilt = quat_unit((quat){1, random_range(&seed, -0.1, 0.1), random_range(&seed, -0.1, 0.1), 0.3});
    return (motion){{random_range(&seed, -0.2, 0.2), random_range(&seed, -0.2, 0.2), height},
                    quat_mul(tilt, flip),
                    {support_vec(&seed, 1), support_vec(&seed, 1)}};
}

static void assert_close(vec3 a, vec3 b, double tolerance) {
    if (!(vec3_distance(a, b) <= tolerance))
        fail_msg("(%g %g %g) is not (%g %g %g)", a.x, a.y, a.z, b.x, b.y, b.z);
}

/* Central differences with h = 1e-5: h^2 f'''/6 with f''' of the order 1e2 here, and rounding 1e-11. */
static void rates_are_those_of_finite_differences(void **state) {
    (void)state;
    abut_surface *surface = bump();
    element patch = {.kind = ELEMENT_PATCH, .u = 0.5, .v = 0.5},
            floor = {.kind = ELEMENT_PLANE, .d = {0, 0, 1}};
    const double h = 1e-5;
    for (int i = 0; i < 200; i++) {
        motion a = upside_down(0.6), b = {.rotation = support_rotation(&seed),
                                          .velocity = {support_vec(&seed, 1), support_vec(&seed, 0.5)}};
        b.rotation = quat_identity();
        contact_point p[3];
        bool inside;
        for (int two = 0; two < 2; two++) {
            for (int k = 0; k < 3; k++) {
                motion ma = advance(a, (k - 1) * h), mb = advance(b, (k - 1) * h);
                bool found =
                    two ? patch_patch(surface, &patch, &ma, surface, &patch, &mb, 0, &p[k], &inside, NULL)
                        : patch_plane(surface, &patch, &ma, &floor, &mb, 0, &p[k], &inside, NULL);
                assert_true(found);
            }
            assert_close(p[1].at_rate, vec3_scale(vec3_sub(p[2].at, p[0].at), 0.5 / h), 1e-6);
            assert_close(p[1].normal_rate, vec3_scale(vec3_sub(p[2].normal, p[0].normal), 0.5 / h), 1e-6);
        }
    }
    abut_surface_free(NULL, surface);
}

/* Level, the bump touches the floor with its top: 0.5 below its origin. */
static void the_tip_is_where_it_must_be(void **state) {
    (void)state;
    abut_surface *surface = bump();
    element patch = {.kind = ELEMENT_PATCH, .u = 0.3, .v = 0.6},
            floor = {.kind = ELEMENT_PLANE, .d = {0, 0, 1}};
    motion m = {.center = {1, 2, 0.75}, .rotation = {0, 1, 0, 0}}, ground = {.rotation = {1, 0, 0, 0}};
    contact_point p;
    bool inside;
    assert_true(patch_plane(surface, &patch, &m, &floor, &ground, 0, &p, &inside, NULL));
    assert_true(inside);
    assert_true(fabs(p.gap - 0.25) < 1e-14);
    assert_close(p.at, vec3_make(1, 2, 0.25), 1e-14);
    /* looking up it does not face the floor */
    m.rotation = quat_identity();
    assert_true(!patch_plane(surface, &patch, &m, &floor, &ground, 0, &p, &inside, NULL) || !inside);
    abut_surface_free(NULL, surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_of_finite_differences),
        cmocka_unit_test(the_tip_is_where_it_must_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
