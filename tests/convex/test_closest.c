/* Closest points and least depth against brute force: all pairs of features, all facets of the difference. */
#include "brute.h"
#include "support.h"

#include <stdlib.h>

/* The distance of a point to a triangle of corners a, b, c: inside the prism over it, or nearest of its
 * sides. */
static double point_segment(vec3 p, vec3 a, vec3 b) {
    vec3 e = vec3_sub(b, a);
    double t = fmin(1, fmax(0, vec3_dot(vec3_sub(p, a), e) / vec3_length2(e)));
    return vec3_distance(p, vec3_axpy(a, t, e));
}

static double point_face(const brute_hull *b, int f, vec3 p) {
    const hull_face *face = &hull_faces(b->hull)[f];
    bool above = true;
    double nearest = INFINITY;
    vec3 n = b->normal[f];
    for (int i = 0; i < face->corner_count; i++) {
        vec3 x = b->vertex[hull_corners(b->hull)[face->first_corner + i].vertex];
        vec3 y = b->vertex[hull_corners(b->hull)[face->first_corner + (i + 1) % face->corner_count].vertex];
        above = above && vec3_dot(vec3_cross(n, vec3_sub(y, x)), vec3_sub(p, x)) >= 0;
        nearest = fmin(nearest, point_segment(p, x, y));
    }
    return above ? fabs(vec3_dot(n, p) - face->d) : nearest;
}

static double segment_segment(vec3 p, vec3 e, vec3 q, vec3 f) {
    double best =
        fmin(fmin(point_segment(p, q, vec3_add(q, f)), point_segment(vec3_add(p, e), q, vec3_add(q, f))),
             fmin(point_segment(q, p, vec3_add(p, e)), point_segment(vec3_add(q, f), p, vec3_add(p, e))));
    vec3 n = vec3_cross(e, f), d = vec3_sub(q, p);
    double nn = vec3_length2(n);
    if (nn <= 1e-18 * vec3_length2(e) * vec3_length2(f)) return best;
    double s = vec3_triple(d, f, n) / nn, t = vec3_triple(d, e, n) / nn;
    if (s > 0 && s < 1 && t > 0 && t < 1) best = fmin(best, fabs(vec3_dot(d, n)) / sqrt(nn));
    return best;
}

static double brute_distance(const brute_hull *a, const brute_hull *b) {
    vec3 c = vec3_sub(b->center, a->center);
    double best = INFINITY;
    for (int i = 0; i < a->hull->vertex_count; i++)
        for (int f = 0; f < b->hull->face_count; f++)
            best = fmin(best, point_face(b, f, vec3_sub(a->vertex[i], c)));
    for (int i = 0; i < b->hull->vertex_count; i++)
        for (int f = 0; f < a->hull->face_count; f++)
            best = fmin(best, point_face(a, f, vec3_add(b->vertex[i], c)));
    for (int i = 0; i < a->hull->edge_count; i++)
        for (int j = 0; j < b->hull->edge_count; j++) {
            const hull_edge *e = &hull_edges(a->hull)[i], *f = &hull_edges(b->hull)[j];
            vec3 p = a->vertex[e->vertex[0]], q = vec3_add(c, b->vertex[f->vertex[0]]);
            best = fmin(best, segment_segment(p, vec3_sub(a->vertex[e->vertex[1]], p), q,
                                              vec3_sub(vec3_add(c, b->vertex[f->vertex[1]]), q)));
        }
    return best;
}

static void test_hulls(void **state) {
    (void)state;
    uint64_t seed = 1;
    brute_hull ba = {0}, bb = {0};
    double apart = 0, depth = 0;
    int overlapping = 0;
    for (int k = 0; k < 2000; k++) {
        abut_hull *g = brute_random_hull(&seed, support_int(&seed, 4, 20), 1),
                  *h = brute_random_hull(&seed, support_int(&seed, 4, 20), 1);
        abut_convex a = abut_convex_hull(g), b = abut_convex_hull(h);
        pose pa = support_pose(&seed, 1.5), pb = support_pose(&seed, 1.5);
        abut_convex_gap gap;
        assert_int_equal(abut_convex_closest(&a, pa, &b, pb, &gap, NULL), ABUT_OK);
        brute_place(&ba, g, pa), brute_place(&bb, h, pb);
        brute_answer exact = brute_growth(&ba, &bb, false);
        assert_int_equal(gap.is_overlapping, exact.growth < 1);
        if (gap.is_overlapping)
            depth = fmax(depth, fabs(gap.distance + exact.depth)), overlapping++;
        else
            apart = fmax(apart, fabs(gap.distance - brute_distance(&ba, &bb)));
        assert_near(vec3_distance(gap.a, vec3_axpy(gap.b, gap.distance, gap.normal)), 0, 1e-12);
        assert_near(vec3_length(gap.normal), 1, 1e-12);
        abut_hull_free(NULL, g), abut_hull_free(NULL, h);
    }
    print_message("closest: apart %.1e, depth %.1e, %d of 2000 overlap\n", apart, depth, overlapping);
    assert_true(apart < 1e-9 && depth < 1e-9);
    assert_true(overlapping > 200 && overlapping < 1800);
    brute_free(&ba), brute_free(&bb);
}

/* Spheres and capsules against a hull: the distance to the core, less the radius. */
static void test_rounded(void **state) {
    (void)state;
    uint64_t seed = 2;
    brute_hull bb = {0};
    for (int k = 0; k < 1000; k++) {
        abut_hull *h = brute_random_hull(&seed, 16, 1);
        abut_convex ball = abut_convex_sphere(0.3), rod = abut_convex_capsule(0.2, 1.5),
                    b = abut_convex_hull(h);
        pose pa = support_pose(&seed, 2.5), pb = support_pose(&seed, 0.2);
        brute_place(&bb, h, pb);
        vec3 p = vec3_sub(pa.position, bb.center), e = quat_rotate(pa.rotation, vec3_make(0, 0, 0.75));
        double most = -INFINITY, near_ball = INFINITY;
        for (int f = 0; f < h->face_count; f++) {
            most = fmax(most, vec3_dot(bb.normal[f], p) - hull_faces(h)[f].d);
            near_ball = fmin(near_ball, point_face(&bb, f, p));
        }
        double expected = most <= 0 ? most - 0.3 : near_ball - 0.3; /* inside: out through the nearest face */
        abut_convex_gap gap;
        assert_int_equal(abut_convex_closest(&ball, pa, &b, pb, &gap, NULL), ABUT_OK);
        assert_near(gap.distance, expected, 1e-9);
        assert_int_equal(abut_convex_closest(&b, pb, &ball, pa, &gap, NULL), ABUT_OK);
        assert_near(gap.distance, expected, 1e-9);
        /* the distance to a convex set is convex along the axis: halve the interval by thirds */
        double lo = -1, hi = 1;
        for (int i = 0; i < 200; i++) {
            double value[2], at[2] = {lo + (hi - lo) / 3, hi - (hi - lo) / 3};
            for (int s = 0; s < 2; s++) {
                value[s] = INFINITY;
                double in = -INFINITY;
                vec3 x = vec3_axpy(p, at[s], e);
                for (int f = 0; f < h->face_count; f++) {
                    in = fmax(in, vec3_dot(bb.normal[f], x) - hull_faces(h)[f].d);
                    value[s] = fmin(value[s], point_face(&bb, f, x));
                }
                if (in <= 0) value[s] = 0;
            }
            if (value[0] <= value[1])
                hi = at[1];
            else
                lo = at[0];
            if (i == 199 && value[0] > 1e-6) {
                assert_int_equal(abut_convex_closest(&rod, pa, &b, pb, &gap, NULL), ABUT_OK);
                assert_near(gap.distance, value[0] - 0.2, 1e-9);
            }
        }
        abut_hull_free(NULL, h);
    }
    brute_free(&bb);
}

/* Ellipsoids and cylinders, apart: no point of either is nearer, along the normal and between the witnesses.
 */
static void test_curved(void **state) {
    (void)state;
    uint64_t seed = 3;
    const abut_convex shapes[] = {abut_convex_ellipsoid(0.3, 0.6, 0.9), abut_convex_cylinder(0.5, 1),
                                  abut_convex_sphere(0.5), abut_convex_capsule(0.2, 1)};
    for (int k = 0; k < 2000; k++) {
        const abut_convex *a = &shapes[k % 4], *b = &shapes[k / 4 % 4];
        pose pa = support_pose(&seed, 1),
             pb = {vec3_axpy(pa.position, random_range(&seed, 2.1, 4), support_direction(&seed)),
                   support_rotation(&seed)};
        abut_convex_gap gap;
        assert_int_equal(abut_convex_closest(a, pa, b, pb, &gap, NULL), ABUT_OK);
        vec3 low = pose_point(pa, abut_convex_support(a, quat_unrotate(pa.rotation, vec3_neg(gap.normal))));
        vec3 high = pose_point(pb, abut_convex_support(b, quat_unrotate(pb.rotation, gap.normal)));
        assert_near(vec3_dot(gap.normal, vec3_sub(low, high)), gap.distance, 1e-6);
        assert_true(vec3_dot(gap.normal, vec3_sub(low, high)) <= gap.distance + 1e-12);
    }
}

static void test_bad_input(void **state) {
    (void)state;
    abut_convex ball = abut_convex_sphere(1), bad = abut_convex_sphere(-1);
    abut_convex_gap gap;
    pose p = pose_identity(), nan = {{NAN, 0, 0}, {1, 0, 0, 0}};
    assert_int_equal(abut_convex_closest(&ball, p, &bad, p, &gap, NULL), ABUT_INVALID);
    assert_int_equal(abut_convex_closest(&ball, nan, &ball, p, &gap, NULL), ABUT_INVALID);
    assert_int_equal(abut_convex_closest(&ball, p, &ball, p, &gap, NULL), ABUT_OK); /* one on the other */
    assert_near(gap.distance, -2, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hulls), cmocka_unit_test(test_rounded),
                                       cmocka_unit_test(test_curved), cmocka_unit_test(test_bad_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
