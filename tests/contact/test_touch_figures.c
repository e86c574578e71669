/* The figures of Vanecek 1990, sections 3 and 4, and figure 9 of Bouma and Vanecek 1992, built as solids.
 * Those of the contact regions are in test_touch.c, that of segments in tests/index. */
#include "abut/touch.h"
#include "touch_part.h"

static const double tolerance = 1e-6;

static part box_part(double x, double y, double z) {
    abut_solid *solid = NULL;
    abut_solid_box(NULL, x, y, z, &solid, NULL);
    return ready(solid);
}

static part prism_part(const double (*outline)[2], int count, double height) {
    abut_solid *solid = NULL;
    abut_solid_prism(NULL, outline, count, height, &solid, NULL);
    return ready(solid);
}

/* The apex at the origin, the base at x = 1, four edges. */
static part cone_part(void) {
    vec3 points[5] = {{0, 0, 0}, {1, -0.2, -0.2}, {1, 0.2, -0.2}, {1, 0.2, 0.2}, {1, -0.2, 0.2}};
    int corners[16] = {0, 1, 4, 0, 2, 1, 0, 3, 2, 0, 4, 3, 1, 2, 3, 4};
    int64_t start[6] = {0, 3, 6, 9, 12, 16};
    abut_mesh mesh = {.points = points, .corners = corners, .face_start = start};
    mesh.point_count = 5, mesh.corner_count = 16, mesh.face_count = 5;
    abut_solid *solid = NULL;
    abut_error error = {0};
    if (abut_solid_build(NULL, &mesh, NULL, &solid, &error) != ABUT_OK) fail_msg("%s", error.message);
    return ready(solid);
}

static void drop(part *p) {
    abut_touch_solid_free(NULL, p->ready);
    abut_solid_free(NULL, p->solid);
}

static pose at(double x, double y, double z) { return (pose){{x, y, z}, {1, 0, 0, 0}}; }

static abut_touch *find(const part *a, pose pa, const part *b, pose pb, const abut_twist *velocity) {
    abut_touch *touch = NULL;
    abut_error error = {0};
    abut_touch_options options = {.epsilon = tolerance};
    if (velocity) options.velocity[0] = &velocity[0], options.velocity[1] = &velocity[1];
    if (abut_touch_find(NULL, a->ready, pa, b->ready, pb, &options, &touch, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    return touch;
}

/* ---- section 3: the time of a collision */

/* A corner goes down into a plate from 3 above it to 1 below: it met the face after 3/4 of the step.  Both
 * may move, and the world may be turned. */
static void figure_5_vertex_that_penetrates(void **state) {
    (void)state;
    part plate = box_part(20, 20, 4), cube = box_part(2, 2, 2);
    double r3 = 1.7320508075688772; /* a cube on its corner: half its diagonal */
    quat on_corner = quat_mul(abut_quat_from_axis_angle((vec3){1, 0, 0}, 0.6154797086703873),
                              abut_quat_from_axis_angle((vec3){0, 1, 0}, -0.7853981633974483));
    uint64_t seed = 3;
    for (int k = 0; k < 20; k++) {
        pose world = k ? support_pose(&seed, 3) : pose_identity();
        double lift = k % 3; /* what the plate moves up meanwhile, the cube sinks less */
        pose a[2] = {pose_mul(world, (pose){{0.5, 0.3, r3 + 3}, on_corner}),
                     pose_mul(world, (pose){{1.5, 0.4, r3 - 1 + lift}, on_corner})};
        pose b[2] = {pose_mul(world, at(0, 0, -2)), pose_mul(world, at(0, 0, -2 + lift))};
        assert_true(fabs(abut_touch_estimate(cube.ready, a, plate.ready, b, tolerance) - 0.75) < 1e-6);
        assert_true(fabs(abut_touch_estimate(plate.ready, b, cube.ready, a, tolerance) - 0.75) < 1e-6);
        pose clear[2] = {a[0], a[0]};
        pose rest[2] = {b[0], b[0]};
        assert_true(abut_touch_estimate(cube.ready, clear, plate.ready, rest, tolerance) == 1);
    }
    drop(&plate), drop(&cube);
}

/* Two roofs across each other, no vertex of either inside: the edge of one goes from 2 above the edge of the
 * other to 0.5 below, and comes out of it through the points p and q. */
static void figure_6_edge_that_penetrates(void **state) {
    (void)state;
    const double outline[3][2] = {{-2, -2}, {2, -2}, {0, 0}};
    part roof = prism_part(outline, 3, 20);
    /* along y with the ridge up; along x with the ridge down */
    quat up = abut_quat_from_axis_angle((vec3){1, 0, 0}, 1.5707963267948966);
    quat down = quat_mul(abut_quat_from_axis_angle((vec3){0, 0, 1}, 1.5707963267948966),
                         abut_quat_from_axis_angle((vec3){1, 0, 0}, -1.5707963267948966));
    pose b[2] = {{{0, 0, 0}, up}, {{0, 0, 0}, up}};
    pose a[2] = {{{0, 0, 2}, down}, {{0.2, 0.3, -0.5}, down}};
    abut_touch *t = find(&roof, a[1], &roof, b[1], NULL);
    assert_int_equal(t->status, ABUT_PENETRATING);
    abut_touch_free(NULL, t);
    assert_true(fabs(abut_touch_estimate(roof.ready, a, roof.ready, b, tolerance) - 0.8) < 1e-5);
    drop(&roof);
}

/* Boxes in any orientation that come together without turning, and overlap by a little: just before the
 * estimate they do not penetrate, just after it they do. */
static void the_estimate_is_exact_for_translations(void **state) {
    (void)state;
    part a = box_part(1, 2, 3), b = box_part(2, 1, 1.5);
    uint64_t seed = 12;
    int found = 0;
    for (int k = 0; k < 400; k++) {
        vec3 way = support_direction(&seed);
        quat qa = support_rotation(&seed), qb = support_rotation(&seed);
        pose p = {vec3_axpy(support_vec(&seed, 0.5), -5, way), qa},
             pb[2] = {{{0, 0, 0}, qb}, {{0, 0, 0}, qb}};
        double gap = 1;
        for (int i = 0; i < 1000 && gap > tolerance; i++) {
            gap = abut_touch_distance(a.ready, p, b.ready, pb[0]);
            p.position = vec3_axpy(p.position, gap, way);
            if (vec3_length(p.position) > 6) break;
        }
        if (gap > tolerance) continue; /* passed by */
        pose pa[2] = {{vec3_axpy(p.position, -1, way), qa}, {vec3_axpy(p.position, 0.2, way), qa}};
        double when = abut_touch_estimate(a.ready, pa, b.ready, pb, tolerance);
        for (int side = -1; side <= 1; side += 2) { /* 100 epsilon of a way of 1.2, to and fro */
            p.position = vec3_lerp(pa[0].position, pa[1].position, when + side * 100 * tolerance / 1.2);
            abut_touch *t = find(&a, p, &b, pb[0], NULL);
            if (side < 0) assert_int_equal(t->status, ABUT_APART);
            if (side > 0) assert_true(t->status == ABUT_PENETRATING || t->status == ABUT_TOUCHING);
            if (side > 0) found += t->status == ABUT_PENETRATING;
            abut_touch_free(NULL, t);
        }
    }
    assert_true(found > 200);
    drop(&a), drop(&b);
}

/* ---- section 4 */

/* The apex of a cone, half an epsilon deep in a face and two epsilon from its edge e5, the cone lying over
 * e5: of v/f1, e1..e4/e5 and v/e5, all within 4 epsilon, v/f1 has the highest priority. */
static void figure_7_cluster_is_reduced_to_vertex_on_face(void **state) {
    (void)state;
    part cone = cone_part(), cube = box_part(2, 2, 2);
    uint64_t seed = 4;
    for (int k = 0; k < 20; k++) {
        pose world = k ? support_pose(&seed, 3) : pose_identity();
        pose apex = pose_mul(world, at(1 - 2 * tolerance, 0.1, 1 - 0.5 * tolerance));
        abut_touch *t = find(&cone, apex, &cube, world, NULL);
        assert_int_equal(t->status, ABUT_TOUCHING);
        assert_int_equal(t->region_count, 1);
        const abut_touch_region *r = &t->regions[0];
        assert_int_equal(r->dimension, 0);
        assert_true(r->a.kind == ABUT_ON_VERTEX && r->b.kind == ABUT_ON_FACE && r->determinate);
        assert_true(vec3_distance(r->normals[0], pose_vector(world, (vec3){0, 0, 1})) < 1e-9);
        abut_touch_free(NULL, t);
    }
    drop(&cone), drop(&cube);
}

/* The tangent plane holds v1 + v2, the mean outward normals: the normal is perpendicular to it, and open. */
static void figure_8_tangent_planes(void **state) {
    (void)state;
    part cube = box_part(2, 2, 2);
    const double wedge[3][2] = {{0, 0}, {2, 0}, {2, 1}};
    part sharp = prism_part(wedge, 3, 2);
    double r5 = 2.23606797749979, r2 = 1.4142135623730951; /* of the wedge: down, and up to the left */
    vec3 v1 = vec3_unit((vec3){-1 / r5, 2 / r5 - 1, 0}), v2 = {1 / r2, 1 / r2, 0};
    const struct {
        const part *a;
        vec3 at, normal; /* from B, the cube, to A */
        int dimension;
    } cases[] = {
        {&cube, {2, 2, 2}, {0.5773502691896258, 0.5773502691896258, 0.5773502691896258}, 0}, /* (a) */
        {&cube, {2, 2, 0.5}, {0.7071067811865476, 0.7071067811865476, 0}, 1},                /* (b) */
        {&sharp, {1, 1, 0}, vec3_unit(vec3_sub(v2, v1)), 1},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        abut_touch *t =
            find(cases[i].a, at(cases[i].at.x, cases[i].at.y, cases[i].at.z), &cube, at(0, 0, 0), NULL);
        assert_int_equal(t->region_count, 1);
        const abut_touch_region *r = &t->regions[0];
        assert_int_equal(r->dimension, cases[i].dimension);
        assert_false(r->determinate);
        assert_int_equal(r->normal_count, 1);
        assert_true(vec3_distance(r->normals[0], cases[i].normal) < 1e-9);
        abut_touch_free(NULL, t);
    }
    drop(&cube), drop(&sharp);
}

/* Bouma and Vanecek: a block in a groove, touching both walls, goes to the right.  The faces that look back
 * are not tested, so that of the two areas the one at the right stays. */
static void bouma_figure_9_faces_that_look_back_are_culled(void **state) {
    (void)state;
    const double groove[8][2] = {{-2, -1}, {2, -1}, {2, 2}, {1, 2}, {1, 0}, {-1, 0}, {-1, 2}, {-2, 2}};
    part u = prism_part(groove, 8, 2), block = box_part(2, 1, 1);
    abut_touch *t = find(&block, at(0, 1, 0), &u, at(0, 0, 0), NULL);
    assert_int_equal(t->region_count, 2);
    abut_touch_free(NULL, t);
    for (int side = -1; side <= 1; side += 2) {
        const abut_twist velocity[2] = {{{side, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
        t = find(&block, at(0, 1, 0), &u, at(0, 0, 0), velocity);
        assert_int_equal(t->status, ABUT_TOUCHING);
        assert_int_equal(t->region_count, 1);
        assert_int_equal(t->regions[0].dimension, 2);
        assert_true(fabs(t->regions[0].area - 1) < 1e-9 && fabs(t->regions[0].normals[0].x + side) < 1e-12);
        abut_touch_free(NULL, t);
    }
    drop(&u), drop(&block);
}

/* ---- the border at epsilon */

/* Face over face, edge, vertex over face, edges across: a gap a millionth of epsilon to this side of it or to
 * that. */
static void epsilon_is_a_sharp_border(void **state) {
    (void)state;
    part cube = box_part(2, 2, 2);
    double r2 = 1.4142135623730951, r3 = 1.7320508075688772;
    quat x = abut_quat_from_axis_angle((vec3){1, 0, 0}, 0.7853981633974483),
         y = abut_quat_from_axis_angle((vec3){0, 1, 0}, 0.7853981633974483),
         on_corner = quat_mul(abut_quat_from_axis_angle((vec3){1, 0, 0}, 0.6154797086703873),
                              abut_quat_from_axis_angle((vec3){0, 1, 0}, -0.7853981633974483));
    const struct {
        quat a, b;
        double height; /* of A above B where they touch */
    } cases[] = {{{1, 0, 0, 0}, {1, 0, 0, 0}, 2},
                 {x, {1, 0, 0, 0}, 1 + r2},
                 {on_corner, {1, 0, 0, 0}, 1 + r3},
                 {{1, 0, 0, 0}, y, 1 + r2},
                 {x, y, 2 * r2}};
    uint64_t seed = 8;
    for (int i = 0; i < 40 * COUNT_OF(cases); i++) {
        int k = i / 40, side = i % 2 ? 1 : -1;
        pose world = i % 40 > 1 ? support_pose(&seed, 1) : pose_identity();
        double gap = (1 + side * 1e-6) * tolerance;
        pose pa = pose_mul(world, (pose){{0.1, 0.2, cases[k].height + gap}, cases[k].a}),
             pb = pose_mul(world, (pose){{0, 0, 0}, cases[k].b});
        abut_touch *t = find(&cube, pa, &cube, pb, NULL);
        assert_int_equal(t->status, side > 0 ? ABUT_APART : ABUT_TOUCHING);
        abut_touch_free(NULL, t);
    }
    drop(&cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_5_vertex_that_penetrates),
        cmocka_unit_test(figure_6_edge_that_penetrates),
        cmocka_unit_test(the_estimate_is_exact_for_translations),
        cmocka_unit_test(figure_7_cluster_is_reduced_to_vertex_on_face),
        cmocka_unit_test(figure_8_tangent_planes),
        cmocka_unit_test(bouma_figure_9_faces_that_look_back_are_culled),
        cmocka_unit_test(epsilon_is_a_sharp_border),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
