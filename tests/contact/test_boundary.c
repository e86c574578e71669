/* Solids with dents, without decomposition: the least gap of two of them against all pairs of vertices,
 * triangles and edges; contacts in a corner, over the seam between two cells, of rings that hang in each
 * other; spheres and capsules; rays and nearest points. */
#include "contact/cast.h"
#include "make_collider.h"

/* ---- brute force: triangles of a solid */

typedef struct triangles {
    vec3 p[600][3];
    int count;
} triangles;

static void fill(triangles *t, const abut_solid *s) {
    int32_t *corner;
    int64_t count;
    assert_int_equal(abut_solid_triangles(NULL, s, &corner, &count, NULL), ABUT_OK);
    assert_true(count <= 600);
    t->count = (int)count;
    for (int64_t i = 0; i < 3 * count; i++) t->p[i / 3][i % 3] = abut_solid_vertex(s, corner[i]);
    abut_solid_triangles_free(NULL, corner, count);
}

static double segments(vec3 a, vec3 b, vec3 c, vec3 d) {
    double best = INFINITY; /* the free minimum if it lies inside both, otherwise at an end of one */
    vec3 e = vec3_sub(b, a), f = vec3_sub(d, c), n = vec3_cross(e, f);
    if (vec3_length2(n) > 1e-20) {
        vec3 w = vec3_sub(c, a);
        double s = vec3_triple(n, w, f) / vec3_length2(n), t = vec3_triple(n, w, e) / vec3_length2(n);
        if (s >= 0 && s <= 1 && t >= 0 && t <= 1) best = fabs(vec3_dot(w, n)) / vec3_length(n);
    }
    const vec3 q[4][3] = {{a, c, d}, {b, c, d}, {c, a, b}, {d, a, b}};
    for (int i = 0; i < 4; i++) {
        vec3 g = vec3_sub(q[i][2], q[i][1]);
        double t = fmin(1, fmax(0, vec3_dot(vec3_sub(q[i][0], q[i][1]), g) / vec3_length2(g)));
        best = fmin(best, vec3_distance(q[i][0], vec3_axpy(q[i][1], t, g)));
    }
    return best;
}

/* Distance to the inside of a triangle, when the foot lies there; otherwise infinity (edges tell). */
static double to_triangle(vec3 x, const vec3 t[3]) {
    vec3 n = vec3_unit(vec3_cross(vec3_sub(t[1], t[0]), vec3_sub(t[2], t[0])));
    for (int i = 0; i < 3; i++)
        if (vec3_triple(n, vec3_sub(t[(i + 1) % 3], t[i]), vec3_sub(x, t[i])) < 0) return INFINITY;
    return fabs(vec3_dot(n, vec3_sub(x, t[0])));
}

static bool crosses(vec3 a, vec3 b, const vec3 t[3]) {
    vec3 n = vec3_cross(vec3_sub(t[1], t[0]), vec3_sub(t[2], t[0]));
    double da = vec3_dot(n, vec3_sub(a, t[0])), db = vec3_dot(n, vec3_sub(b, t[0]));
    return da * db < 0 && isfinite(to_triangle(vec3_lerp(a, b, da / (da - db)), t));
}

/* -1 when the surfaces cross. */
static double distance_of(const triangles *a, pose pa, const triangles *b, pose pb) {
    double best = INFINITY;
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            vec3 x[3], y[3];
            for (int k = 0; k < 3; k++) x[k] = pose_point(pa, a->p[i][k]), y[k] = pose_point(pb, b->p[j][k]);
            for (int k = 0; k < 3; k++)
                if (crosses(x[k], x[(k + 1) % 3], y) || crosses(y[k], y[(k + 1) % 3], x)) return -1;
            for (int k = 0; k < 3; k++) {
                best = fmin(best, fmin(to_triangle(x[k], y), to_triangle(y[k], x)));
                for (int l = 0; l < 3; l++)
                    best = fmin(best, segments(x[k], x[(k + 1) % 3], y[l], y[(l + 1) % 3]));
            }
        }
    return best;
}

static double least_gap(const manifold *m, int count) {
    double least = INFINITY;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < m[i].count; k++) least = fmin(least, m[i].points[k].gap);
    return least;
}

/* Two tori, apart or linked, in random poses: the least gap is the distance. */
static void test_tori(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_torus(NULL, 0.5, 0.15, 8, 6, &solid, NULL), ABUT_OK);
    static triangles t;
    fill(&t, solid);
    collider *c = make(abut_shape_solid(solid));
    uint64_t seed = 1;
    int compared = 0, overlapping = 0, seen = 0;
    for (int i = 0; compared < 150 && i < 4000; i++) {
        pose pa = support_pose(&seed, 0.4), pb = support_pose(&seed, 0.4);
        manifold m[COLLIDER_ROOM], turned[COLLIDER_ROOM];
        const manifold_config config = {.reach = 0.2, .angle = 1e-6, .all_places = true};
        int count = collider_collide(c, pa, c, pb, &config, NULL, 0, m, COLLIDER_ROOM);
        double want = distance_of(&t, pa, &t, pb);
        if (want > 0.15) continue;
        if (want < 0) continue;
        compared++;
        assert_true(count > 0);
        assert_near(least_gap(m, count), want, 1e-12);
        int other = collider_collide(c, pb, c, pa, &config, NULL, 0, turned, COLLIDER_ROOM);
        assert_near(least_gap(turned, other), want, 1e-12);
        /* pushed together by a little more than that: seen, and no deeper than they were pushed */
        double push = random_range(&seed, 1e-4, 0.02);
        pa.position = vec3_axpy(pa.position, -want - push, m[0].normal);
        const manifold_config live = manifold_default_config();
        count = collider_collide(c, pa, c, pb, &live, NULL, 0, m, COLLIDER_ROOM);
        bool overlap = distance_of(&t, pa, &t, pb)<0, is_seen = count> 0 && least_gap(m, count) < 0;
        overlapping += overlap, seen += overlap && is_seen;
        assert_true(overlap || !is_seen);
        /* features that lean by the angle of the configuration count as facing: at most 1 / cos more */
        if (is_seen) assert_true(least_gap(m, count) >= -1.25 * push);
    }
    assert_int_equal(compared, 150);
    print_message("overlapping tori: %d of %d seen\n", seen, overlapping);
    assert_int_equal(seen, overlapping);
    assert_true(overlapping > 100);
    collider_free(NULL, c), abut_solid_free(NULL, solid);
}

/* The depth of x (ring's axes) in the torus about the circle of radius 0.5, 0.2 thick. */
static double depth_in_ring(vec3 x) { return 0.2 - hypot(hypot(x.x, x.y) - 0.5, x.z); }

static vec3 on_circle(double angle) { return (vec3){0.5 * cos(angle), 0.5 * sin(angle), 0}; }

/* The tubes of two rings across each other, up to all but their middles: what is told is as deep as the
 * deepest vertex, and no deeper than the tubes of the smooth rings overlap, but for 1 / cos of the angle by
 * which features that face may lean.  The rings of the mesh lie within the smooth ones, up to
 * 0.7 (1 - cos(pi / 20)) < 0.0087 below. */
static void test_deep_rings(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_torus(NULL, 0.5, 0.2, 20, 20, &solid, NULL), ABUT_OK);
    collider *c = make(abut_shape_solid(solid));
    uint64_t seed = 3;
    int deep = 0;
    for (int i = 0; i < 300; i++) {
        double u = random_range(&seed, 0, 6.28), v = random_range(&seed, 0, 6.28);
        pose pb = support_pose(&seed, 0.4), pa = support_pose(&seed, 0.4);
        vec3 ta = pose_vector(pa, (vec3){-sin(u), cos(u), 0}),
             tb = pose_vector(pb, (vec3){-sin(v), cos(v), 0});
        if (vec3_length(vec3_cross(ta, tb)) < 0.3) continue; /* not across */
        vec3 n = vec3_unit(vec3_cross(ta, tb)), y = pose_point(pb, on_circle(v));
        vec3 x = vec3_axpy(y, random_range(&seed, 0.05, 0.38), n);
        pa.position = vec3_add(pa.position, vec3_sub(x, pose_point(pa, on_circle(u))));
        double least = 0, most = 0; /* the depth, at least and at most */
        for (int32_t k = 0; k < abut_solid_facts_of(solid).vertices; k++) {
            vec3 p = abut_solid_vertex(solid, k);
            least = fmax(least, depth_in_ring(pose_unpoint(pb, pose_point(pa, p))) - 0.0087);
            least = fmax(least, depth_in_ring(pose_unpoint(pa, pose_point(pb, p))) - 0.0087);
        }
        for (int k = 0; k < 2000; k++)
            most = fmax(
                most, 0.2 + depth_in_ring(pose_unpoint(pb, pose_point(pa, on_circle(k * 0.00314159265359)))));
        manifold m[COLLIDER_ROOM];
        const manifold_config live = manifold_default_config();
        int count = collider_collide(c, pa, c, pb, &live, NULL, 0, m, COLLIDER_ROOM);
        double told = count > 0 ? -least_gap(m, count) : 0;
        assert_true(told >= 0.95 * least && told <= 1.25 * most);
        deep += least > 0.1;
    }
    assert_true(deep > 50);
    collider_free(NULL, c), abut_solid_free(NULL, solid);
}

/* An L of two unit bars: x 0..2, y 0..1 and x 0..1, y 1..2; one high. */
static abut_solid *bracket(void) {
    const double outline[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    abut_solid *s = NULL;
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 1, &s, NULL), ABUT_OK);
    return s;
}

/* Two L prisms in random poses that touch, pushed together along the normal by up to half the thickness of an
 * arm: however deep they are, the overlap is seen.  Going back the same way ends it, so that no point is
 * deeper than the push (over cos of the facing angle), but for vertices that slid behind a face from its
 * side: fewer than one pose in a hundred. */
static void test_deep_brackets(void **state) {
    (void)state;
    const double outline[6][2] = {{-0.2, -0.1}, {0.2, -0.1}, {0.2, 0}, {0, 0}, {0, 0.2}, {-0.2, 0.2}};
    const double pushes[5] = {1e-3, 0.01, 0.02, 0.03, 0.05};
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 0.2, &solid, NULL), ABUT_OK);
    static triangles t;
    fill(&t, solid);
    collider *c = make(abut_shape_solid(solid));
    uint64_t seed = 5;
    int compared = 0, overlapping = 0, deeper = 0;
    for (int i = 0; compared < 200 && i < 4000; i++) {
        pose pa = support_pose(&seed, 0.25), pb = support_pose(&seed, 0.25);
        manifold m[COLLIDER_ROOM];
        const manifold_config all = {.reach = 0.2, .angle = 1e-6, .all_places = true},
                              live = {.reach = 0.017, .angle = 0.2};
        int count = collider_collide(c, pa, c, pb, &all, NULL, 0, m, COLLIDER_ROOM);
        double want = distance_of(&t, pa, &t, pb);
        if (want < 0 || want > 0.15) continue;
        compared++;
        assert_near(least_gap(m, count), want, 1e-12);
        vec3 n = m[0].normal, from = pa.position;
        for (int k = 0; k < 5; k++) {
            pa.position = vec3_axpy(from, -want - pushes[k], n);
            if (distance_of(&t, pa, &t, pb) >= 0) continue;
            overlapping++;
            count = collider_collide(c, pa, c, pb, &live, NULL, 0, m, COLLIDER_ROOM);
            assert_true(count > 0 && least_gap(m, count) < 0);
            deeper += least_gap(m, count) < -1.25 * pushes[k];
        }
    }
    assert_int_equal(compared, 200);
    assert_true(overlapping > 800);
    assert_true(deeper < overlapping / 100);
    collider_free(NULL, c), abut_solid_free(NULL, solid);
}

/* A tetrahedron, whose corners are sharp, in any pose in which it overlaps an L, by brute force: it is seen,
 * told in either order.  Where a corner brushed over an edge of the L no feature faces another at any depth:
 * the two poses given, from a heap that was thrown, and a few random ones. */
static void test_sharp(void **state) {
    (void)state;
    const double outline[6][2] = {{-0.2, -0.1}, {0.2, -0.1}, {0.2, 0}, {0, 0}, {0, 0.2}, {-0.2, 0.2}};
    const pose poses[2][2] = {
        {{{1.067659200, 0.825981541, 0.309714069}, {0.980823513, 0.016739766, 0.097915236, 0.167683102}},
         {{0.863303892, 0.571952898, 0.395377642}, {0.614708999, -0.383780736, -0.662394320, -0.189944619}}},
        {{{1.110749836, 0.846381316, 0.301024021}, {0.982010976, 0.016030931, 0.098033807, 0.160582770}},
         {{0.911547517, 0.601591620, 0.359055932}, {0.528229401, -0.427984294, -0.706217024, -0.197637696}}}};
    abut_solid *l = NULL, *sharp = NULL;
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 0.2, &l, NULL), ABUT_OK);
    assert_int_equal(abut_solid_tetrahedron(NULL, 0.4, &sharp, NULL), ABUT_OK);
    static triangles of_l, of_sharp;
    fill(&of_l, l), fill(&of_sharp, sharp);
    collider *a = make(abut_shape_solid(l)), *b = make(abut_shape_solid(sharp));
    const manifold_config live = {.reach = 0.017, .angle = 0.2};
    uint64_t seed = 7;
    int overlapping = 0;
    for (int i = 0; i < 4000; i++) {
        pose pa = support_pose(&seed, 0.25), pb = support_pose(&seed, 0.25);
        if (i < 2) pa = poses[i][0], pb = poses[i][1];
        pa.rotation = quat_unit(pa.rotation), pb.rotation = quat_unit(pb.rotation);
        bool overlap = distance_of(&of_l, pa, &of_sharp, pb) < 0;
        assert_true(overlap || i >= 2);
        overlapping += overlap;
        manifold m[COLLIDER_ROOM];
        int count = collider_collide(a, pa, b, pb, &live, NULL, 0, m, COLLIDER_ROOM);
        if (overlap) assert_true(count > 0 && least_gap(m, count) < 0);
        count = collider_collide(b, pb, a, pa, &live, NULL, 0, m, COLLIDER_ROOM);
        if (overlap) assert_true(count > 0 && least_gap(m, count) < 0);
    }
    assert_true(overlapping > 1000);
    collider_free(NULL, a), collider_free(NULL, b);
    abut_solid_free(NULL, l), abut_solid_free(NULL, sharp);
}

/* An L and a tetrahedron that touch somewhere, pushed together by a tenth of a millimetre along the normal
 * there: that place is still told, with that depth.  (Two edges, one of which leads almost along a face of
 * the other, were lost, one of three: the nearest point of one was just outside the faces at the other.)
 * Only where two edges meet within about the push of one of their four ends may something else be nearer: 8
 * push / length of them, for edges of 0.2 m. */
static void test_pushed_along_normal(void **state) {
    (void)state;
    const double outline[6][2] = {{-0.2, -0.1}, {0.2, -0.1}, {0.2, 0}, {0, 0}, {0, 0.2}, {-0.2, 0.2}};
    const double push = 1e-4;
    abut_solid *l = NULL, *sharp = NULL;
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 0.2, &l, NULL), ABUT_OK);
    assert_int_equal(abut_solid_tetrahedron(NULL, 0.4, &sharp, NULL), ABUT_OK);
    collider *a = make(abut_shape_solid(sharp)), *b = make(abut_shape_solid(l));
    manifold m[COLLIDER_ROOM];
    const manifold_config strict = {.reach = 0.1, .angle = 1e-9}, leaning = {.reach = 0.1, .angle = 0.2};
    uint64_t seed = 31;
    int touching = 0, lost = 0;
    for (int i = 0; i < 20000; i++) {
        pose pa = support_pose(&seed, 0.35), pb = support_pose(&seed, 0.35);
        pa.rotation = quat_unit(pa.rotation), pb.rotation = quat_unit(pb.rotation);
        int count = collider_collide(a, pa, b, pb, &strict, NULL, 0, m, COLLIDER_ROOM);
        if (count == 0 || !(least_gap(m, count) > 0)) continue;
        vec3 n = m[0].normal; /* from B to A; the nearest place comes first */
        uint64_t id = m[0].points[0].id;
        bool corner = ((id >> 62) & 3) + ((id >> 30) & 3) != 2; /* two that meet no more where they overlap */
        if (corner) continue;
        pb.position = vec3_axpy(pb.position, least_gap(m, count) + push, n);
        count = collider_collide(a, pa, b, pb, &leaning, NULL, 0, m, COLLIDER_ROOM);
        double told = NAN;
        for (int k = 0; k < count; k++)
            for (int j = 0; j < m[k].count; j++)
                if (m[k].points[j].id == id) told = m[k].points[j].gap;
        touching++, lost += !(fabs(told + push) <= 1e-9);
    }
    assert_true(touching > 500);
    assert_true(lost <= touching * 8 * push / 0.2);
    collider_free(NULL, a), collider_free(NULL, b);
    abut_solid_free(NULL, l), abut_solid_free(NULL, sharp);
}

/* A cube pressed a little into both walls of the inner corner: every normal is +x or +y, both are there, with
 * four points each and the depths of the two walls. */
static void test_corner(void **state) {
    (void)state;
    abut_solid *l = bracket(), *cube = NULL;
    assert_int_equal(abut_solid_box(NULL, 0.5, 0.5, 0.5, &cube, NULL), ABUT_OK);
    collider *a = make(abut_shape_solid(cube)), *b = make(abut_shape_solid(l));
    const double deep[][2] = {{-1e-3, -2e-3}, {1e-3, 2e-3}, {-1e-3, 2e-3}, {2e-3, -3e-3}, {0, 0}};
    for (int k = 0; k < COUNT_OF(deep); k++) {
        pose p = {{1.25 + deep[k][0], 1.25 + deep[k][1], 0}, {1, 0, 0, 0}};
        manifold m[COLLIDER_ROOM];
        const manifold_config config = manifold_default_config();
        int count = collider_collide(a, p, b, pose_identity(), &config, NULL, 0, m, COLLIDER_ROOM);
        assert_int_equal(count, 2);
        for (int i = 0; i < 2; i++) {
            bool is_x = m[i].normal.x > 0.5;
            assert_near(m[i].normal.x, is_x ? 1 : 0, 1e-12);
            assert_near(m[i].normal.y, is_x ? 0 : 1, 1e-12);
            assert_int_equal(m[i].count, 4);
            for (int j = 0; j < 4; j++) assert_near(m[i].points[j].gap, deep[k][is_x ? 0 : 1], 1e-12);
        }
        assert_true(fabs(m[0].normal.x - m[1].normal.x) > 0.5);
    }
    collider_free(NULL, a), collider_free(NULL, b), abut_solid_free(NULL, l), abut_solid_free(NULL, cube);
}

/* A small cube slides over the top of the L, across the seams of any decomposition, pressed in by 2 mm, at
 * many places and angles: the normal is always straight up, the least gap always -2 mm, four points carry it.
 */
static void test_seams(void **state) {
    (void)state;
    abut_solid *l = bracket(), *cube = NULL;
    assert_int_equal(abut_solid_box(NULL, 0.3, 0.3, 0.3, &cube, NULL), ABUT_OK);
    collider *a = make(abut_shape_solid(cube)), *b = make(abut_shape_solid(l));
    uint64_t seed = 8;
    for (int k = 0; k < 2000; k++) {
        double angle = random_range(&seed, 0, 6.3), x = random_range(&seed, 0.25, 1.75), y = 0.25;
        if (k % 2) y = random_range(&seed, 0.25, 1.75), x = random_range(&seed, 0.25, y > 0.7 ? 0.75 : 1.7);
        if (k % 2 == 0) y = random_range(&seed, 0.25, 0.75);
        pose p = {{x, y, 0.65 - 0.002}, {cos(angle / 2), 0, 0, sin(angle / 2)}};
        manifold m[COLLIDER_ROOM];
        const manifold_config config = manifold_default_config();
        int count = collider_collide(a, p, b, pose_identity(), &config, NULL, 0, m, COLLIDER_ROOM);
        assert_int_equal(count, 1);
        assert_near(m[0].normal.z, 1, 1e-12);
        assert_int_equal(m[0].count, 4);
        assert_near(least_gap(m, 1), -0.002, 1e-12);
    }
    collider_free(NULL, a), collider_free(NULL, b), abut_solid_free(NULL, l), abut_solid_free(NULL, cube);
}

/* The L lies on a plate and hangs over its rim, pressed in by a little or by rounding alone: nothing is told
 * to be deeper than that, in whatever order and wherever the two are.  (Its upright edges cross the rim; the
 * one whose corner is in the plate by rounding was told to be in by all the way to the rim.) */
static void test_overhang(void **state) {
    (void)state;
    abut_solid *l = bracket(), *plate = NULL;
    assert_int_equal(abut_solid_box(NULL, 3, 3, 1, &plate, NULL), ABUT_OK);
    collider *a = make(abut_shape_solid(l)), *b = make(abut_shape_solid(plate));
    const double pushes[] = {0, 2e-9, 1e-6, 1e-4};
    const manifold_config far = {.reach = 0.5, .angle = 0.2};
    uint64_t seed = 17;
    for (int i = 0; i < 4000; i++) {
        double push = pushes[i % 4], angle = random_range(&seed, 0, 6.3);
        pose in = {{random_range(&seed, -2, 2), random_range(&seed, -2, 2), 1 - push},
                   {cos(angle / 2), 0, 0, sin(angle / 2)}};
        pose pb = support_pose(&seed, 2), pa = pose_mul(pb, in);
        manifold m[COLLIDER_ROOM];
        for (int k = 0; k < 2; k++) {
            int count = k ? collider_collide(b, pb, a, pa, &far, NULL, 0, m, COLLIDER_ROOM)
                          : collider_collide(a, pa, b, pb, &far, NULL, 0, m, COLLIDER_ROOM);
            if (count > 0) assert_true(least_gap(m, count) >= -push - 1e-13);
        }
    }
    collider_free(NULL, a), collider_free(NULL, b), abut_solid_free(NULL, l), abut_solid_free(NULL, plate);
}

/* Spheres and capsules beside the L: the gap is the distance of the axis from the boundary, by brute force.
 */
static void test_round(void **state) {
    (void)state;
    abut_solid *l = bracket();
    static triangles t;
    fill(&t, l);
    collider *b = make(abut_shape_solid(l));
    collider *round[2] = {make(abut_shape_sphere(0.2)), make(abut_shape_capsule(0.1, 0.8))};
    uint64_t seed = 21;
    int compared = 0;
    for (int i = 0; i < 20000; i++) {
        pose p = {vec3_add(vec3_make(0.8, 0.8, 0), support_vec(&seed, 1.6)), support_rotation(&seed)};
        manifold m[COLLIDER_ROOM];
        const manifold_config config = {.reach = 0.3, .angle = 0.1};
        int k = i % 2,
            count = collider_collide(round[k], p, b, pose_identity(), &config, NULL, 0, m, COLLIDER_ROOM);
        vec3 from = pose_point(p, vec3_make(0, 0, k ? -0.4 : 0)),
             to = pose_point(p, vec3_make(0, 0, k ? 0.4 : 0));
        double want = INFINITY;
        bool crosses = false;
        for (int j = 0; j < t.count; j++) {
            want = fmin(want, fmin(to_triangle(from, t.p[j]), to_triangle(to, t.p[j])));
            for (int s = 0; s < 3; s++)
                want = fmin(want, k ? segments(from, to, t.p[j][s], t.p[j][(s + 1) % 3])
                                    : segments(from, vec3_add(from, vec3_make(1e-15, 0, 0)), t.p[j][s],
                                               t.p[j][(s + 1) % 3]));
        }
        for (int s = 0; s <= 50; s++) {
            vec3 x = vec3_lerp(from, to, s / 50.0);
            crosses |= fabs(x.z) < 0.5 && x.x > 0 && x.y > 0 && x.x < 2 && x.y < 2 && (x.x < 1 || x.y < 1);
        }
        if (crosses || want < 1e-2) continue;
        double gap = want - (k ? 0.1 : 0.2);
        if (gap > 0.25) continue;
        compared++;
        assert_true(count > 0);
        assert_near(least_gap(m, count), gap, 1e-9);
    }
    assert_true(compared > 2000);
    /* pressed into the floor of the inner corner */
    pose p = {{1.5, 1.19, 0}, {1, 0, 0, 0}};
    manifold m[COLLIDER_ROOM];
    const manifold_config config = {.reach = 0.02, .angle = 0.1};
    assert_int_equal(collider_collide(round[0], p, b, pose_identity(), &config, NULL, 0, m, COLLIDER_ROOM),
                     1);
    assert_near(m[0].normal.y, 1, 1e-12);
    assert_near(m[0].points[0].gap, -0.01, 1e-12);
    for (int k = 0; k < 2; k++) collider_free(NULL, round[k]);
    collider_free(NULL, b), abut_solid_free(NULL, l);
}

/* Rays and points against the L in closed form: it is the union of two boxes. */
static double box_gap(vec3 x, double x0, double x1, double y0, double y1) {
    return fmax(fmax(x0 - x.x, x.x - x1), fmax(fmax(y0 - x.y, x.y - y1), fabs(x.z) - 0.5));
}
static void test_casts(void **state) {
    (void)state;
    abut_solid *l = bracket();
    static triangles t;
    fill(&t, l);
    collider *b = make(abut_shape_solid(l));
    uint64_t seed = 31;
    int hits = 0;
    for (int i = 0; i < 3000; i++) {
        pose p = support_pose(&seed, 1);
        vec3 o = vec3_add(vec3_make(0.8, 0.8, 0), support_vec(&seed, 2)), d = support_direction(&seed);
        double want = INFINITY, gap = fmin(box_gap(o, 0, 2, 0, 1), box_gap(o, 0, 1, 0, 2));
        for (int j = 0; j < t.count; j++) {
            vec3 n = vec3_cross(vec3_sub(t.p[j][1], t.p[j][0]), vec3_sub(t.p[j][2], t.p[j][0]));
            double at = vec3_dot(n, vec3_sub(t.p[j][0], o)) / vec3_dot(n, d);
            if (at >= 0 && vec3_dot(n, d) < 0 && isfinite(to_triangle(vec3_axpy(o, at, d), t.p[j])))
                want = fmin(want, at);
        }
        cast_hit hit;
        bool found = cast_ray(b, p, pose_point(p, o), pose_vector(p, d), 10, &hit);
        if (gap < 0) want = 0;
        assert_int_equal(found, want <= 10);
        if (found) assert_near(hit.t, want, 1e-11);
        hits += found;
        double nearest = INFINITY;
        for (int j = 0; j < t.count; j++) {
            nearest = fmin(nearest, to_triangle(o, t.p[j]));
            for (int s = 0; s < 3; s++)
                nearest = fmin(nearest, segments(o, vec3_add(o, vec3_make(1e-15, 0, 0)), t.p[j][s],
                                                 t.p[j][(s + 1) % 3]));
        }
        assert_true(cast_point(b, p, pose_point(p, o), INFINITY, &hit));
        assert_near(hit.t, gap < 0 ? -nearest : nearest, 1e-9);
        assert_near(vec3_distance(hit.point, pose_point(p, o)), nearest, 1e-9);
    }
    assert_true(hits > 300);
    collider_free(NULL, b), abut_solid_free(NULL, l);
}

/* Cylinders and ellipsoids on the L, through its cells: everywhere on the top, over seams too, the normal is
 * straight up and the gap that of the lowest point; beside the inner walls the gap of the half-space of the
 * wall; and never a normal of an internal face. */
static void test_curved(void **state) {
    (void)state;
    abut_solid *l = bracket();
    collider *b = make(abut_shape_solid(l));
    const abut_shape shapes[] = {abut_shape_ellipsoid(0.2, 0.12, 0.15), abut_shape_cylinder(0.1, 0.3)};
    const abut_convex convex[] = {abut_convex_ellipsoid(0.2, 0.12, 0.15), abut_convex_cylinder(0.1, 0.3)};
    uint64_t seed = 41;
    int corners = 0;
    for (int k = 0; k < 2; k++) {
        collider *c = make(shapes[k]);
        for (int i = 0; i < 600; i++) {
            pose p = {{random_range(&seed, 0.3, 1.7), random_range(&seed, 0.3, 0.7), 0},
                      support_rotation(&seed)};
            if (i % 2) p.position = vec3_make(p.position.y, p.position.x, 0);
            if (i % 5 == 0) p.rotation = quat_identity();
            double low =
                pose_point(p, abut_convex_support(&convex[k], pose_unvector(p, vec3_make(0, 0, -1)))).z;
            double gap = random_range(&seed, -5e-3, 5e-3);
            p.position.z = 0.5 + gap - low;
            manifold m[COLLIDER_ROOM];
            const manifold_config config = {.reach = 0.01, .angle = 0.1};
            int count = collider_collide(c, p, b, pose_identity(), &config, NULL, 0, m, COLLIDER_ROOM);
            assert_int_equal(count, 1);
            assert_near(m[0].normal.z, 1, 3e-4);
            assert_near(least_gap(m, 1), gap, 1e-6);
        }
        /* in the inner corner, near one wall or both: every normal is a wall's */
        for (int i = 0; i < 300; i++) {
            pose p = {{0, 0, random_range(&seed, -0.2, 0.2)}, support_rotation(&seed)};
            double left =
                pose_point(p, abut_convex_support(&convex[k], pose_unvector(p, vec3_make(-1, 0, 0)))).x;
            double front =
                pose_point(p, abut_convex_support(&convex[k], pose_unvector(p, vec3_make(0, -1, 0)))).y;
            double gap[2] = {random_range(&seed, -3e-3, 3e-3), random_range(&seed, -3e-3, 3e-3)};
            p.position.x = 1 + gap[0] - left, p.position.y = 1 + gap[1] - front;
            manifold m[COLLIDER_ROOM];
            const manifold_config config = {.reach = 0.01, .angle = 0.1};
            int count = collider_collide(c, p, b, pose_identity(), &config, NULL, 0, m, COLLIDER_ROOM);
            for (int j = 0; j < count; j++) {
                bool is_x = m[j].normal.x > 0.5;
                assert_near(is_x ? m[j].normal.x : m[j].normal.y, 1, 3e-4);
                assert_near(least_gap(&m[j], 1), gap[!is_x], 2e-5);
            }
            corners += count == 2;
        }
        collider_free(NULL, c);
    }
    print_message("both walls: %d of 600\n", corners);
    assert_true(corners > 570);
    collider_free(NULL, b), abut_solid_free(NULL, l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tori),
                                       cmocka_unit_test(test_deep_rings),
                                       cmocka_unit_test(test_deep_brackets),
                                       cmocka_unit_test(test_corner),
                                       cmocka_unit_test(test_seams),
                                       cmocka_unit_test(test_overhang),
                                       cmocka_unit_test(test_round),
                                       cmocka_unit_test(test_casts),
                                       cmocka_unit_test(test_curved),
                                       cmocka_unit_test(test_sharp),
                                       cmocka_unit_test(test_pushed_along_normal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
