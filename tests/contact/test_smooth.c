/* Smooth surfaces in contact, against closed forms: a sphere made of six patches is as far from planes,
 * points and lines as a sphere is, from wherever the search starts; places and normals move as they do. */
#include "contact/patch.h"
#include "contact/smooth.h"
#include "support.h"

static uint64_t seed = 5;

static abut_surface *sphere_surface(double radius) {
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{radius, 0, 0}, {0, radius, 0}, {0, 0, radius}};
    abut_surface *surface = NULL;
    if (abut_surface_quadric(NULL, &q, &surface, NULL) != ABUT_OK) fail_msg("no surface");
    return surface;
}

static contact_shape make(abut_shape shape) {
    contact_shape s;
    abut_error error = {0};
    if (contact_shape_create(NULL, &shape, vec3_zero(), &s, &error) != ABUT_OK ||
        (shape.kind == ABUT_SHAPE_SURFACE && smooth_shape_add(NULL, &s, &error) != ABUT_OK))
        fail_msg("%s", error.message);
    return s;
}

static motion anywhere(vec3 center) {
    return (motion){center, support_rotation(&seed), {support_vec(&seed, 1), support_vec(&seed, 1)}};
}

static void close_to(double value, double wanted, double tolerance) {
    if (!(fabs(value - wanted) <= tolerance)) fail_msg("%.17g is not %.17g", value, wanted);
}
static void close_vec(vec3 a, vec3 b, double tolerance) {
    if (!(vec3_distance(a, b) <= tolerance))
        fail_msg("(%g %g %g) is not (%g %g %g)", a.x, a.y, a.z, b.x, b.y, b.z);
}

/* The nearest pair of what smooth_collect finds; in both orders. */
static contact_point nearest(const contact_shape *a, const motion *ma, const contact_shape *b,
                             const motion *mb, near_pair *pair) {
    near_array out = {0};
    contact_point best = {.gap = INFINITY};
    assert_true(near_collect(NULL, a, ma, b, mb, 10, 0, &out));
    for (int64_t i = 0; i < out.count; i++) {
        contact_point p;
        bool faces;
        if (near_evaluate(&out.data[i], a, ma, b, mb, 1e-6, &p, &faces) && faces && p.gap < best.gap)
            best = p, *pair = out.data[i];
    }
    array_free(NULL, &out);
    if (!isfinite(best.gap)) fail_msg("no contact found");
    return best;
}

/* The sphere of radius 1 at `center`; everything else follows from its centre. */
static void check(const contact_shape *ball, const contact_shape *other, vec3 center, motion mo, double gap,
                  vec3 normal) {
    motion ms = anywhere(center);
    near_pair pair;
    contact_point p = nearest(ball, &ms, other, &mo, &pair), q = nearest(other, &mo, ball, &ms, &pair);
    close_to(p.gap, gap, 1e-13);
    close_vec(p.normal, normal, 1e-12); /* from the other to the ball */
    close_vec(p.at, vec3_axpy(center, -1, normal), fabs(gap) + 1e-12);
    close_to(q.gap, gap, 1e-13);
    close_vec(q.normal, vec3_neg(normal), 1e-12);
}

static void a_sphere_of_patches_is_a_sphere(void **state) {
    (void)state;
    abut_surface *surface = sphere_surface(1);
    contact_shape ball = make((abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface}),
                  half = make((abut_shape){.kind = ABUT_SHAPE_HALFSPACE, .normal = {0, 0, 1}}),
                  small = make((abut_shape){.kind = ABUT_SHAPE_SPHERE, .radius = 0.5}),
                  rod = make((abut_shape){.kind = ABUT_SHAPE_CAPSULE, .radius = 0.25, .length = 4}),
                  round = make((abut_shape){.kind = ABUT_SHAPE_ELLIPSOID, .axes = {0.5, 0.5, 0.5}});
    assert_int_equal(smooth_shape_add(NULL, &round, NULL), ABUT_OK);
    for (int i = 0; i < 200; i++) {
        vec3 c = vec3_make(random_range(&seed, -1, 1), random_range(&seed, -1, 1), 1.1);
        motion still = {.rotation = {1, 0, 0, 0}};
        check(&ball, &half, c, still, 0.1, vec3_make(0, 0, 1));
        vec3 n = vec3_unit(support_vec(&seed, 1));
        motion at = anywhere(vec3_axpy(c, -1.6, n));
        check(&ball, &small, c, at, 0.1, n);
        check(&ball, &round, c, at, 0.1, n);
        /* the rod lies along z: the ball is beside its middle part */
        vec3 side = vec3_unit(vec3_make(n.x, n.y, 0));
        motion lying = {
            .center = vec3_axpy(vec3_axpy(c, -1.3, side), random_range(&seed, -1, 1), vec3_make(0, 0, 1)),
            .rotation = {1, 0, 0, 0}};
        check(&ball, &rod, c, lying, 0.05, side);
    }
    contact_shape_free(NULL, &ball);
    contact_shape_free(NULL, &round);
    abut_surface_free(NULL, surface);
}

/* A cylinder of radius 0.5 and length 4 meets it with its mantle, its flat end and its rim; a cavity of
 * radius 3 all around it. */
static void a_cylinder_and_a_cavity_meet_it(void **state) {
    (void)state;
    abut_surface *surface = sphere_surface(1);
    contact_shape ball = make((abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface}),
                  can = make((abut_shape){.kind = ABUT_SHAPE_CYLINDER, .radius = 0.5, .length = 4}),
                  hollow = make((abut_shape){.kind = ABUT_SHAPE_CAVITY, .radius = 3});
    for (int i = 0; i < 200; i++) {
        motion at = anywhere(support_vec(&seed, 1));
        vec3 n = vec3_unit(support_vec(&seed, 1)), side = vec3_unit(vec3_make(n.x, n.y, 0));
        /* a point of its boundary and the normal there, in its own axes */
        vec3 mantle = vec3_axpy(vec3_make(0, 0, random_range(&seed, -1.9, 1.9)), 0.5, side);
        vec3 end = vec3_axpy(vec3_make(0, 0, 2), random_range(&seed, 0, 0.49), side);
        vec3 rim = vec3_axpy(vec3_make(0, 0, 2), 0.5, side);
        vec3 slope = vec3_unit(vec3_axpy(vec3_scale(side, random_range(&seed, 0.1, 1)),
                                         random_range(&seed, 0.1, 1), vec3_make(0, 0, 1)));
        const vec3 points[3] = {mantle, end, rim}, normals[3] = {side, {0, 0, 1}, slope};
        for (int k = 0; k < 3; k++) {
            vec3 normal = quat_rotate(at.rotation, normals[k]);
            vec3 on = vec3_add(at.center, quat_rotate(at.rotation, points[k]));
            check(&ball, &can, vec3_axpy(on, 1.05, normal), at, 0.05, normal);
        }
        check(&ball, &hollow, vec3_axpy(at.center, 1.9, n), at, 0.1, vec3_neg(n));
        check(&ball, &hollow, vec3_axpy(at.center, 2.01, n), at, -0.01, vec3_neg(n));
    }
    contact_shape_free(NULL, &ball);
    abut_surface_free(NULL, surface);
}

/* Two spheres of patches. */
static void two_spheres_of_patches(void **state) {
    (void)state;
    abut_surface *surface = sphere_surface(1);
    contact_shape ball = make((abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface});
    for (int i = 0; i < 200; i++) {
        vec3 n = vec3_unit(support_vec(&seed, 1));
        motion a = anywhere(support_vec(&seed, 1)), b = anywhere(vec3_axpy(a.center, -2.05, n));
        near_pair pair;
        contact_point p = nearest(&ball, &a, &ball, &b, &pair);
        close_to(p.gap, 0.05, 1e-13);
        close_vec(p.normal, n, 1e-12);
    }
    contact_shape_free(NULL, &ball);
    abut_surface_free(NULL, surface);
}

/* A box under, beside and at the corner of the sphere: its face, edge and vertex are nearest. */
static void a_box_meets_it_with_face_edge_and_vertex(void **state) {
    (void)state;
    abut_surface *surface = sphere_surface(1);
    abut_solid *box_solid = NULL;
    if (abut_solid_box(NULL, 2, 2, 2, &box_solid, NULL) != ABUT_OK) fail_msg("no box");
    contact_shape ball = make((abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface}),
                  cube = make((abut_shape){.kind = ABUT_SHAPE_SOLID, .solid = box_solid});
    motion still = {.rotation = {1, 0, 0, 0}};
    for (int i = 0; i < 100; i++) {
        double u = random_range(&seed, -0.9, 0.9), v = random_range(&seed, -0.9, 0.9);
        check(&ball, &cube, vec3_make(u, v, 2.05), still, 0.05, vec3_make(0, 0, 1));
        vec3 n = vec3_unit(vec3_make(random_range(&seed, 0.1, 1), 0, random_range(&seed, 0.1, 1)));
        check(&ball, &cube, vec3_axpy(vec3_make(1, v, 1), 1.05, n), still, 0.05, n);
        n = vec3_unit(vec3_make(n.x, random_range(&seed, 0.1, 1), n.z));
        check(&ball, &cube, vec3_axpy(vec3_make(1, 1, 1), 1.05, n), still, 0.05, n);
    }
    contact_shape_free(NULL, &ball);
    contact_shape_free(NULL, &cube);
    abut_solid_free(NULL, box_solid);
    abut_surface_free(NULL, surface);
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

/* Central differences with h = 1e-5: h^2 f'''/6 with f''' below 1e3 for these sizes, and rounding 1e-11. */
static void check_rates(contact_shape rod) {
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{1.2, 0, 0}, {0, 0.9, 0}, {0, 0, 1}};
    abut_surface *surface = NULL;
    if (abut_surface_quadric(NULL, &q, &surface, NULL) != ABUT_OK) fail_msg("no surface");
    contact_shape egg = make((abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface});
    const double h = 1e-5;
    for (int i = 0; i < 200; i++) {
        motion a = anywhere(vec3_zero()), b = anywhere(vec3_scale(vec3_unit(support_vec(&seed, 1)), 1.6));
        near_array out = {0};
        assert_true(near_collect(NULL, &egg, &a, &rod, &b, 10, 0, &out));
        for (int64_t k = 0; k < out.count; k++) {
            contact_point p[3];
            bool found = true;
            for (int j = 0; j < 3; j++) {
                motion ma = advance(a, (j - 1) * h), mb = advance(b, (j - 1) * h);
                found &= smooth_evaluate(&out.data[k], &egg, &ma, &rod, &mb, 0, &p[j], NULL);
            }
            if (!found) continue;
            double scale = 1 + vec3_length2(p[1].at_rate) + vec3_length2(p[1].normal_rate);
            close_vec(p[1].at_rate, vec3_scale(vec3_sub(p[2].at, p[0].at), 0.5 / h), 1e-7 * scale * scale);
            close_vec(p[1].normal_rate, vec3_scale(vec3_sub(p[2].normal, p[0].normal), 0.5 / h),
                      1e-7 * scale * scale);
            vec3 u = contact_slip(&p[1], &a, &b);
            close_to(vec3_dot(p[1].normal, u), (p[2].gap - p[0].gap) * 0.5 / h, 1e-7 * scale * scale);
        }
        array_free(NULL, &out);
    }
    contact_shape_free(NULL, &egg);
    abut_surface_free(NULL, surface);
}

static void rates_are_those_of_finite_differences(void **state) {
    (void)state;
    check_rates(make((abut_shape){.kind = ABUT_SHAPE_CAPSULE, .radius = 0.25, .length = 6}));
    check_rates(make((abut_shape){.kind = ABUT_SHAPE_CYLINDER, .radius = 0.6, .length = 1.2}));
    check_rates(make((abut_shape){.kind = ABUT_SHAPE_CAVITY, .radius = 2.9}));
}

static abut_surface *bowl_surface(void) {
    abut_mesh *mesh = NULL;
    abut_surface *surface = NULL;
    abut_error error = {0};
    abut_loop_options options = abut_default_loop_options();
    options.form = ABUT_LOOP_SMOOTH;
    if (abut_mesh_load(NULL, support_shared("meshes/cage/bowl3.obj"), &mesh, &error) != ABUT_OK ||
        abut_surface_loop(NULL, mesh, &options, &surface, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    abut_mesh_free(NULL, mesh);
    return surface;
}

/* A bowl, whichever way it lies, apart from a half-space or sunk in it as deep as a hundred times its size:
 * the deepest place is as deep as its support (found through the atlas, in another way). */
static void a_sunk_bowl_is_found(void **state) {
    (void)state;
    abut_surface *surface = bowl_surface();
    abut_surface_tree *tree = NULL;
    assert_int_equal(abut_surface_tree_build(NULL, surface, &tree, NULL), ABUT_OK);
    contact_shape bowl = make((abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface}),
                  half = make((abut_shape){.kind = ABUT_SHAPE_HALFSPACE, .normal = {0, 0, 1}});
    const double gaps[] = {0.1, 0, -0.5, -2, -100};
    for (int i = 0; i < 200; i++) {
        motion m = anywhere(vec3_zero()), still = {.rotation = {1, 0, 0, 0}};
        vec3 down = quat_unrotate(m.rotation, vec3_make(0, 0, -1));
        m.center.z = abut_surface_support(surface, tree, down).distance + gaps[i % COUNT_OF(gaps)];
        near_pair pair;
        close_to(nearest(&bowl, &m, &half, &still, &pair).gap, gaps[i % COUNT_OF(gaps)], 1e-12 * bowl.radius);
    }
    contact_shape_free(NULL, &bowl);
    abut_surface_tree_free(NULL, tree);
    abut_surface_free(NULL, surface);
}

/* From any sample of it the search for the place against a plane ends at one: level, and said to face where
 * the outside looks down and the second form is positive (not at saddles and summits). */
static void a_place_is_found_from_any_start(void **state) {
    (void)state;
    abut_surface *surface = bowl_surface();
    contact_shape bowl = make((abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface}),
                  half = make((abut_shape){.kind = ABUT_SHAPE_HALFSPACE, .normal = {0, 0, 1}});
    const smooth_samples *all = bowl.smooth;
    int faced = 0, tried = 0;
    for (int i = 0; i < 50; i++) {
        motion m = anywhere(vec3_zero()), still = {.rotation = {1, 0, 0, 0}};
        for (int patch = 0; patch < all->patch_count; patch++)
            for (int k = all->first[patch]; k < all->first[patch + 1]; k += 5) {
                const smooth_sample *start = &all->samples[k];
                near_pair pair = {.a = {.kind = ELEMENT_PATCH,
                                        .p = vec3_neg(bowl.center),
                                        .patch = patch,
                                        .u = start->u,
                                        .v = start->v},
                                  .b = half.elements[0],
                                  .fa = {FEATURE_SMOOTH, patch},
                                  .fb = half.features[0],
                                  .sign = 1};
                contact_point p;
                bool faces;
                tried++;
                if (!smooth_follow(&pair, &bowl, &m, &half, &still, 1e-6, &p, &faces, NULL))
                    fail_msg("nothing found from patch %d (%g, %g)", patch, start->u, start->v);
                faced += faces;
                abut_partials at;
                assert_true(abut_surface_evaluate(surface, pair.a.patch, pair.a.u, pair.a.v, 2, &at));
                vec3 up = quat_unrotate(m.rotation, vec3_make(0, 0, 1)), n = vec3_cross(at.u, at.v);
                close_to(fabs(vec3_dot(up, vec3_unit(n))), 1, 1e-12);
                double uu = vec3_dot(up, at.uu), uv = vec3_dot(up, at.uv), vv = vec3_dot(up, at.vv);
                assert_true(faces == (vec3_dot(up, n) < 0 && uu + vv > 0 && uu * vv > uv * uv));
            }
    }
    print_message("%d of %d faced\n", faced, tried);
    assert_true(faced > 0 && faced < tried);
    contact_shape_free(NULL, &bowl);
    abut_surface_free(NULL, surface);
}

/* The place of a patch on a plane, held as a point of the body: where the patch was, at the height of that
 * point wherever the body is, also where the patch has no place there.  Other pairs are left as they are. */
static void a_place_is_held_as_a_point(void **state) {
    (void)state;
    abut_surface *surface = sphere_surface(1);
    contact_shape ball = make((abut_shape){.kind = ABUT_SHAPE_SURFACE, .surface = surface}),
                  floor = make((abut_shape){.kind = ABUT_SHAPE_HALFSPACE, .normal = {0, 0, 1}});
    motion still = {.rotation = {1, 0, 0, 0}};
    for (int i = 0; i < 100; i++) {
        bool swapped = i % 2;
        const contact_shape *a = swapped ? &floor : &ball, *b = swapped ? &ball : &floor;
        motion m = anywhere(vec3_make(0, 0, 1.05)), later = anywhere(vec3_make(0.1, 0.2, 1.3));
        near_pair pair;
        contact_point p = nearest(a, swapped ? &still : &m, b, swapped ? &m : &still, &pair), q;
        vec3 local = quat_unrotate(m.rotation, vec3_sub(vec3_make(p.at.x, p.at.y, p.gap), m.center));
        assert_true(smooth_fix_place(&pair, a, b));
        assert_false(smooth_is_pair(&pair));
        assert_false(smooth_fix_place(&pair, a, b));
        assert_true(
            near_evaluate(&pair, a, swapped ? &still : &later, b, swapped ? &later : &still, 0, &q, NULL));
        vec3 at = vec3_add(later.center, quat_rotate(later.rotation, local));
        close_to(q.gap, at.z, 1e-13);
        close_vec(q.normal, vec3_make(0, 0, swapped ? -1 : 1), 0);
    }
    near_pair two = {.a = {.kind = ELEMENT_PATCH}, .b = {.kind = ELEMENT_PATCH}};
    assert_false(smooth_fix_place(&two, &ball, &ball));
    contact_shape_free(NULL, &ball);
    contact_shape_free(NULL, &floor);
    abut_surface_free(NULL, surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sphere_of_patches_is_a_sphere),
        cmocka_unit_test(a_cylinder_and_a_cavity_meet_it),
        cmocka_unit_test(two_spheres_of_patches),
        cmocka_unit_test(a_box_meets_it_with_face_edge_and_vertex),
        cmocka_unit_test(rates_are_those_of_finite_differences),
        cmocka_unit_test(a_sunk_bowl_is_found),
        cmocka_unit_test(a_place_is_found_from_any_start),
        cmocka_unit_test(a_place_is_held_as_a_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
