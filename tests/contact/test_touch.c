/* Contact regions: the figures of Bouma and Vanecek 1992 built as solids, boxes on a grid against exact
 * answers, symmetry, penetration, distance and time, memory. */
#include "abut/touch.h"
#include "solid/solid.h"
#include "touch_part.h"

#include <stdio.h>
#include <stdlib.h>

static const double tolerance = 1e-6;

static part box_part(double x, double y, double z) {
    abut_solid *solid = NULL;
    abut_solid_box(NULL, x, y, z, &solid, NULL);
    return ready(solid);
}

static part off_part(const char *text) {
    abut_mesh *mesh = NULL;
    abut_solid *solid = NULL;
    abut_error error = {0};
    assert_int_equal(abut_mesh_read(NULL, text, strlen(text), ABUT_FORMAT_OFF, "test.off", &mesh, &error),
                     ABUT_OK);
    if (abut_solid_build(NULL, mesh, NULL, &solid, &error) != ABUT_OK) fail_msg("%s", error.message);
    abut_mesh_free(NULL, mesh);
    return ready(solid);
}

static void drop(part *p) {
    abut_touch_solid_free(NULL, p->ready);
    abut_solid_free(NULL, p->solid);
}

static pose at(double x, double y, double z) { return (pose){{x, y, z}, {1, 0, 0, 0}}; }

static abut_touch *find(const part *a, pose pa, const part *b, pose pb, bool all) {
    abut_touch *touch = NULL;
    abut_error error = {0};
    abut_touch_options options = {.epsilon = tolerance, .all = all};
    if (abut_touch_find(NULL, a->ready, pa, b->ready, pb, &options, &touch, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    return touch;
}

static int count_of(const abut_touch *t, int dimension) {
    int count = 0;
    for (int64_t i = 0; i < t->region_count; i++) count += t->regions[i].dimension == dimension;
    return count;
}

static void expect(const part *a, pose pa, const part *b, pose pb, int all, int areas, int lines,
                   int points) {
    abut_touch *t = find(a, pa, b, pb, true);
    assert_int_equal(t->status, ABUT_TOUCHING);
    assert_int_equal(t->region_count, all);
    abut_touch_free(NULL, t);
    t = find(a, pa, b, pb, false);
    assert_int_equal(count_of(t, 2), areas);
    assert_int_equal(count_of(t, 1), lines);
    assert_int_equal(count_of(t, 0), points);
    abut_touch_free(NULL, t);
}

/* ---- the figures */

/* Three bodies as one solid: a block on the face, a bar on edge along an edge, a tip on an edge.  Each of the
 * three regions borders the others: 1 + 4 + 4, 1 + 2, 1. */
static void figure_3_three_regions_border_all_others(void **state) {
    (void)state;
    part a = off_part("OFF\n20 16 0\n"
                      "-0.5 -0.5 0\n0.5 -0.5 0\n0.5 0.5 0\n-0.5 0.5 0\n"
                      "-0.5 -0.5 1\n0.5 -0.5 1\n0.5 0.5 1\n-0.5 0.5 1\n"
                      "2 -1 0\n2.5 -1 0.5\n1.5 -1 0.5\n2 1 0\n2.5 1 0.5\n1.5 1 0.5\n"
                      "0 2 0\n0.5 1.5 1\n0.5 2.5 1\n-0.5 2.5 1\n-0.5 1.5 1\n0 2 3\n"
                      "4 0 3 2 1\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n"
                      "3 8 9 10\n3 11 13 12\n4 8 11 12 9\n4 9 12 13 10\n4 10 13 11 8\n"
                      "3 14 16 15\n3 14 17 16\n3 14 18 17\n3 14 15 18\n4 15 16 17 18\n");
    part b = box_part(4, 4, 1);
    expect(&a, at(0, 0, 0), &b, at(0, 0, -0.5), 13, 1, 1, 1);
    drop(&a), drop(&b);
}

/* A block on a floor with a slanted protrusion. */
static part slanted(void) {
    return off_part("OFF\n10 7 0\n0 -1 0\n4 -1 0\n4 -1 1\n1 -1 1\n0 -1 3\n0 1 0\n4 1 0\n4 1 1\n1 1 1\n0 1 3\n"
                    "5 0 1 2 3 4\n5 9 8 7 6 5\n4 0 5 6 1\n4 1 6 7 2\n4 2 7 8 3\n4 3 8 9 4\n4 4 9 5 0\n");
}

static void figure_4_edge_beside_area_is_kept_at_the_protrusion(void **state) {
    (void)state;
    part a = box_part(1, 1, 1), b = slanted();
    expect(&a, at(2.25, 0, 1.5), &b, at(0, 0, 0), 9, 1, 0, 0); /* (a): slides on the floor */
    expect(&a, at(1.5, 0, 1.5), &b, at(0, 0, 0), 9, 1, 1, 0);  /* (b): has met the protrusion */
    expect(&b, at(0, 0, 0), &a, at(1.5, 0, 1.5), 9, 1, 1, 0);
    drop(&a), drop(&b);
}

/* Floor f1, wall f2 for y < 0, and for y > 0 the wall f3 that leans over the floor by b = tan(beta) from f2.
 */
static part corner_of(double b) {
    char text[1024];
    snprintf(text, sizeof text,
             "OFF\n15 10 0\n-4 -4 -1\n4 -4 -1\n4 4 -1\n-4 4 -1\n4 -4 0\n4 4 0\n0 -4 0\n0 4 0\n0 0 0\n"
             "-4 -4 2\n0 -4 2\n0 0 2\n%.17g 0 2\n%.17g 4 2\n-4 4 2\n"
             "4 3 2 1 0\n4 1 2 5 4\n4 3 0 9 14\n6 0 1 4 6 10 9\n6 2 3 14 13 7 5\n5 6 4 5 7 8\n4 6 8 11 10\n"
             "4 8 7 13 12\n3 8 12 11\n6 9 10 11 12 13 14\n",
             2 * b, 2 * b);
    return off_part(text);
}

/* A tetrahedron with an edge in the corner of f1 and f2, which ends in p, and a back face that leans away
 * from f2 by a = tan(alpha). */
static part tetrahedron_of(double a) {
    char text[256];
    snprintf(text, sizeof text,
             "OFF\n4 4 0\n0 0 0\n0 -1 0\n1.5 -0.5 0\n%.17g -0.5 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n", a);
    return off_part(text);
}

static void figures_5_and_6_vertex_is_kept_when_alpha_is_less_than_beta(void **state) {
    (void)state;
    for (int i = 1; i <= 8; i++)
        for (int k = 1; k <= 8; k++) {
            if (i == k) continue;
            part a = tetrahedron_of(i / 8.0), b = corner_of(k / 8.0);
            expect(&a, at(0, 0, 0), &b, at(0, 0, 0), 7, 1, 1, i < k);
            expect(&b, at(0, 0, 0), &a, at(0, 0, 0), 7, 1, 1, i < k);
            drop(&a), drop(&b);
        }
}

static void figure_7_normals_of_lines(void **state) {
    (void)state;
    part a = box_part(1, 1, 1), b = slanted(), plate = box_part(4, 4, 1);
    quat q = abut_quat_from_axis_angle((vec3){0, 1, 0}, 0.7853981633974483);
    double h = 0.7071067811865476;
    abut_touch *t = find(&a, at(1.5, 0, 1.5), &b, at(0, 0, 0), false); /* a reflex edge: two */
    assert_int_equal(t->regions[1].dimension, 1);
    assert_int_equal(t->regions[1].normal_count, 2);
    assert_true(t->regions[1].determinate);
    abut_touch_free(NULL, t);
    t = find(&a, (pose){{0, 0, h}, q}, &plate, at(0, 0, -0.5), false); /* (c): edge on face */
    assert_int_equal(t->region_count, 1);
    assert_int_equal(t->regions[0].normal_count, 1);
    assert_true(vec3_distance(t->regions[0].normals[0], (vec3){0, 0, 1}) < 1e-12);
    abut_touch_free(NULL, t);
    t = find(&a, (pose){{2, 0, h}, q}, &plate, at(0, 0, -0.5), false); /* (d): edge on edge */
    assert_int_equal(t->region_count, 1);
    assert_int_equal(t->regions[0].normal_count, 1);
    assert_false(t->regions[0].determinate);
    vec3 n = t->regions[0].normals[0]; /* separates the wedges: within 45 degrees of z, towards +x */
    assert_true(n.z >= h - 1e-9 && n.x >= -1e-9 && fabs(n.y) < 1e-9);
    abut_touch_free(NULL, t);
    drop(&a), drop(&b), drop(&plate);
}

/* A block over two ridges (a); its left lower edge has come over the left ridge (b).  Geometry alone would
 * turn the normal there by 22.5 degrees against the motion (c); the previous step's is kept. */
static void figure_8_block_slides_on_over_two_fingers(void **state) {
    (void)state;
    part fingers = off_part("OFF\n12 10 0\n-1 -1 0\n-0.5 -1 -1\n-1.5 -1 -1\n-1 1 0\n-0.5 1 -1\n-1.5 1 -1\n"
                            "1 -1 0\n1.5 -1 -1\n0.5 -1 -1\n1 1 0\n1.5 1 -1\n0.5 1 -1\n"
                            "3 0 2 1\n3 3 4 5\n4 0 1 4 3\n4 1 2 5 4\n4 2 0 3 5\n"
                            "3 6 8 7\n3 9 10 11\n4 6 7 10 9\n4 7 8 11 10\n4 8 6 9 11\n");
    part block = box_part(4, 1, 1);
    abut_touch *before = find(&block, at(0, 0, 0.5), &fingers, at(0, 0, 0), false), *after = NULL;
    assert_int_equal(before->region_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_true(before->regions[i].a.kind == ABUT_ON_FACE && before->regions[i].b.kind == ABUT_ON_EDGE);
        assert_true(vec3_distance(before->regions[i].normals[0], (vec3){0, 0, 1}) < 1e-12);
    }
    for (int remembered = 0; remembered < 2; remembered++) {
        abut_touch_options options = {.epsilon = tolerance, .previous = before};
        for (int i = 0; i < 2; i++) before->regions[i].temporary = remembered;
        assert_int_equal(abut_touch_find(NULL, block.ready, at(1, 0, 0.5), fingers.ready, at(0, 0, 0),
                                         &options, &after, NULL),
                         ABUT_OK);
        assert_int_equal(after->region_count, 2);
        int open = after->regions[0].a.kind == ABUT_ON_EDGE ? 0 : 1;
        assert_true(after->regions[open].b.kind == ABUT_ON_EDGE && !after->regions[open].determinate);
        vec3 n = after->regions[open].normals[0];
        assert_int_equal(vec3_distance(n, (vec3){0, 0, 1}) < 1e-12, remembered);
        if (!remembered) assert_true(fabs(n.x - 0.38268343236508977) < 1e-9);
        abut_touch_free(NULL, after);
    }
    abut_touch_free(NULL, before);
    drop(&fingers), drop(&block);
}

/* A cube in the corner of three walls: three areas; lifted off two walls by a tilt it is the corner itself.
 */
static void corner_gives_three_normals(void **state) {
    (void)state;
    /* a cube of 3 without the cube [1,3]^3 */
    part b = off_part("OFF\n14 9 0\n0 0 0\n3 0 0\n3 3 0\n0 3 0\n0 0 3\n3 0 3\n0 3 3\n"
                      "1 1 1\n3 1 1\n1 3 1\n1 1 3\n3 3 1\n3 1 3\n1 3 3\n"
                      "4 0 3 2 1\n4 0 1 5 4\n4 0 4 6 3\n6 1 2 11 8 12 5\n6 2 3 6 13 9 11\n6 4 5 12 10 13 6\n"
                      "4 7 8 11 9\n4 7 10 12 8\n4 7 9 13 10\n");
    part cube = box_part(1, 1, 1);
    expect(&cube, at(1.5, 1.5, 1.5), &b, at(0, 0, 0), 19, 3, 0, 0);
    /* a tip that touches nothing but the corner */
    part tip = off_part("OFF\n4 4 0\n0 0 0\n2 1 1\n1 2 1\n1 1 2\n3 0 2 1\n3 0 3 2\n3 0 1 3\n3 1 2 3\n");
    abut_touch *t = find(&tip, at(1, 1, 1), &b, at(0, 0, 0), false);
    assert_int_equal(t->region_count, 1);
    assert_int_equal(t->regions[0].normal_count, 3);
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < 3; i++) sum = vec3_add(sum, t->regions[0].normals[i]);
    assert_true(vec3_distance(sum, (vec3){1, 1, 1}) < 1e-12);
    abut_touch_free(NULL, t);
    drop(&tip), drop(&cube), drop(&b);
}

/* A frame on a plate: an area with a hole. */
static void area_has_a_hole(void **state) {
    (void)state;
    part a = off_part("OFF\n16 16 0\n-2 -2 0\n2 -2 0\n2 2 0\n-2 2 0\n-2 -2 4\n2 -2 4\n2 2 4\n-2 2 4\n"
                      "-1 -1 0\n1 -1 0\n1 1 0\n-1 1 0\n-1 -1 4\n1 -1 4\n1 1 4\n-1 1 4\n"
                      "4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n4 9 8 12 13\n4 4 5 13 12\n4 0 8 9 1\n"
                      "4 10 9 13 14\n4 5 6 14 13\n4 1 9 10 2\n4 11 10 14 15\n4 6 7 15 14\n4 2 10 11 3\n"
                      "4 8 11 15 12\n4 7 4 12 15\n4 3 11 8 0\n");
    part b = box_part(8, 8, 1);
    abut_touch *t = find(&a, at(1, 0.5, 0), &b, at(0, 0, -0.5), false);
    assert_int_equal(t->region_count, 1);
    assert_int_equal(t->regions[0].loops, 2);
    assert_true(fabs(t->regions[0].area - 12) < 1e-9);
    assert_true(vec3_distance(t->regions[0].center, (vec3){1, 0.5, 0}) < 1e-9);
    abut_touch_free(NULL, t);
    drop(&a), drop(&b);
}

/* ---- boxes on a grid against exact answers.  The open entities of a box are products of {lo}, (lo, hi),
 * {hi} on each axis; so are their intersections. */

typedef struct exact_region {
    int code_a, code_b, dimension; /* codes: base 3 digits, 0 lo, 1 between, 2 hi */
    double area;
    vec3 lower, upper;
} exact_region;

/* The intersection of entity digits da of [a0, a1] and db of [b0, b1]: -1 empty, 0 a point, 1 an interval. */
static int meet(int da, const double a[2], int db, const double b[2], double out[2]) {
    if (da != 1 && db != 1) return out[0] = out[1] = a[da / 2], a[da / 2] == b[db / 2] ? 0 : -1;
    if (da != 1) return out[0] = out[1] = a[da / 2], a[da / 2] > b[0] && a[da / 2] < b[1] ? 0 : -1;
    if (db != 1) return out[0] = out[1] = b[db / 2], b[db / 2] > a[0] && b[db / 2] < a[1] ? 0 : -1;
    out[0] = fmax(a[0], b[0]), out[1] = fmin(a[1], b[1]);
    return out[0] < out[1] ? 1 : -1;
}

/* All regions of two boxes; -1 when they overlap. */
static int exact_regions(double a[3][2], double b[3][2], exact_region *out) {
    int count = 0;
    for (int ca = 0; ca < 27; ca++)
        for (int cb = 0; cb < 27; cb++) {
            double m[3][2], area = 1;
            int dimension = 0, da = ca, db = cb, axis = 0;
            for (; axis < 3; axis++, da /= 3, db /= 3) {
                int d = meet(da % 3, a[axis], db % 3, b[axis], m[axis]);
                if (d < 0) break;
                dimension += d;
                if (d) area *= m[axis][1] - m[axis][0];
            }
            if (axis < 3) continue;
            if (ca == 13 && cb == 13) return -1;
            if (ca == 13 || cb == 13) continue; /* inside: then 13, 13 meet as well */
            out[count++] = (exact_region){ca,
                                          cb,
                                          dimension,
                                          dimension == 2 ? area : 0,
                                          {m[0][0], m[1][0], m[2][0]},
                                          {m[0][1], m[1][1], m[2][1]}};
        }
    return count;
}

/* The code of an entity of a box centred at the origin. */
static int code_of(const abut_solid *s, abut_place place) {
    vec3 p = {0, 0, 0};
    int64_t v[2], f[2];
    double offset;
    if (place.kind == ABUT_ON_VERTEX) p = abut_solid_vertex(s, place.id);
    if (place.kind == ABUT_ON_EDGE) {
        abut_solid_edge(s, place.id, v, f);
        p = vec3_add(abut_solid_vertex(s, v[0]), abut_solid_vertex(s, v[1]));
    }
    if (place.kind == ABUT_ON_FACE) abut_solid_face_loops(s, place.id, &p, &offset);
    int code = 0;
    for (int axis = 2; axis >= 0; axis--) {
        double x = vec3_at(p, axis);
        code = 3 * code + (x > 1e-9 ? 2 : x < -1e-9 ? 0 : 1);
    }
    return code;
}

static bool same_region(const abut_touch *t, const abut_touch_region *r, const exact_region *e, pose move) {
    if (r->dimension != e->dimension || fabs(r->area - e->area) > 1e-5) return false;
    int32_t first = t->loop_start[r->first_loop], last = t->loop_start[r->first_loop + 1];
    if (r->loops != 1 || last - first != 1 << r->dimension) return false;
    vec3 lower = {9, 9, 9}, upper = {-9, -9, -9};
    for (int32_t c = first; c < last; c++) {
        vec3 p = pose_unpoint(move, t->points[c]);
        lower = vec3_min(lower, p), upper = vec3_max(upper, p);
    }
    return vec3_distance(lower, e->lower) < 4 * tolerance && vec3_distance(upper, e->upper) < 4 * tolerance;
}

static void check_boxes(const part *a, double ia[3][2], const part *b, double ib[3][2], pose move,
                        bool swap) {
    static exact_region wanted[729];
    int count = exact_regions(ia, ib, wanted), top = 0;
    pose pa = at((ia[0][0] + ia[0][1]) / 2, (ia[1][0] + ia[1][1]) / 2, (ia[2][0] + ia[2][1]) / 2);
    pose pb = at((ib[0][0] + ib[0][1]) / 2, (ib[1][0] + ib[1][1]) / 2, (ib[2][0] + ib[2][1]) / 2);
    pa = pose_mul(move, pa), pb = pose_mul(move, pb);
    abut_touch *t = swap ? find(b, pb, a, pa, true) : find(a, pa, b, pb, true);
    assert_int_equal(t->status, count < 0 ? ABUT_PENETRATING : count ? ABUT_TOUCHING : ABUT_APART);
    assert_int_equal(t->region_count, count < 0 ? 0 : count);
    int needed = 0;
    for (int64_t i = 0; i < t->region_count; i++) {
        const abut_touch_region *r = &t->regions[i];
        int ca = code_of(a->solid, swap ? r->b : r->a), cb = code_of(b->solid, swap ? r->a : r->b), k = 0;
        while (k < count && (wanted[k].code_a != ca || wanted[k].code_b != cb)) k++;
        assert_true(k < count && same_region(t, r, &wanted[k], move));
        wanted[k].code_a = -1; /* each once */
        if (r->dimension > top) top = r->dimension;
        if (r->needed) needed++;
        assert_in_range(r->normal_count, 1, 3 - r->dimension);
        /* convex solids: a normal separates them, so it leads from the middle of B to that of A */
        vec3 between = vec3_sub(swap ? pb.position : pa.position, swap ? pa.position : pb.position);
        if (r->needed) assert_true(vec3_dot(r->normals[0], between) > 0);
    }
    assert_int_equal(needed, count > 0 ? 1 : 0); /* the common box itself; all else borders it */
    if (count > 0) assert_true(t->regions[0].needed && t->regions[0].dimension == top);
    abut_touch_free(NULL, t);
}

/* A is [0,2]^3; B any of the 1000 boxes with corners on the grid -1 .. 3, as it stands and in `motions`
 * random poses of both. */
static void grid(int motions) {
    part a = box_part(2, 2, 2), b[4][4][4];
    double ia[3][2] = {{0, 2}, {0, 2}, {0, 2}}, span[10][2];
    int spans = 0;
    for (int lo = -1; lo < 3; lo++)
        for (int hi = lo + 1; hi <= 3; hi++) span[spans][0] = lo, span[spans++][1] = hi;
    for (int i = 0; i < 64; i++) b[i / 16][i / 4 % 4][i % 4] = box_part(i / 16 + 1, i / 4 % 4 + 1, i % 4 + 1);
    uint64_t seed = 4;
    for (int i = 0; i < 1000; i++) {
        const double *s[3] = {span[i / 100], span[i / 10 % 10], span[i % 10]};
        double ib[3][2];
        int size[3];
        for (int k = 0; k < 3; k++)
            ib[k][0] = s[k][0], ib[k][1] = s[k][1], size[k] = (int)(s[k][1] - s[k][0]) - 1;
        const part *other = &b[size[0]][size[1]][size[2]];
        if (motions == 0) {
            check_boxes(&a, ia, other, ib, pose_identity(), false);
            check_boxes(&a, ia, other, ib, pose_identity(), true);
        }
        for (int k = 0; k < motions; k++) check_boxes(&a, ia, other, ib, support_pose(&seed, 3), k % 2);
    }
    for (int i = 0; i < 64; i++) drop(&b[i / 16][i / 4 % 4][i % 4]);
    drop(&a);
}

static void boxes_on_the_grid(void **state) { (void)state, grid(0); }
static void boxes_on_the_grid_moved(void **state) { (void)state, grid(20); }

/* ---- status and depth */

static void depth_of_overlap(void **state) {
    (void)state;
    part a = box_part(2, 2, 2);
    abut_touch *t = find(&a, at(1.75, 0, 0), &a, at(0, 0, 0), false);
    assert_int_equal(t->status, ABUT_PENETRATING);
    assert_true(fabs(t->depth - 0.25) < 1e-12);
    abut_touch_free(NULL, t);
    t = find(&a, at(0, 0, 0), &a, at(0, 0, 0), false); /* the same place: no vertex is inside */
    assert_int_equal(t->status, ABUT_PENETRATING);
    assert_true(t->depth > 0.4 && t->depth <= 1);
    abut_touch_free(NULL, t);
    part small = box_part(0.5, 0.5, 0.5); /* one holds the other, no boundary is near */
    t = find(&small, at(0, 0, 0), &a, at(0, 0, 0), false);
    assert_int_equal(t->status, ABUT_PENETRATING);
    abut_touch_free(NULL, t);
    for (int k = -3; k <= 3; k += 2) { /* epsilon is the border on both sides */
        t = find(&a, at(0, 0, 2 + 0.6 * k * tolerance), &a, at(0, 0, 0), false);
        assert_int_equal(t->status, k == 3 ? ABUT_APART : k == -3 ? ABUT_PENETRATING : ABUT_TOUCHING);
        abut_touch_free(NULL, t);
    }
    drop(&small), drop(&a);
}

static void distance_and_time(void **state) {
    (void)state;
    part a = box_part(2, 2, 2);
    quat q = abut_quat_from_axis_angle((vec3){0, 1, 0}, 0.7853981633974483);
    double r2 = 1.4142135623730951;
    assert_true(fabs(abut_touch_distance(a.ready, at(2.5, 0, 0), a.ready, at(0, 0, 0)) - 0.5) < 1e-12);
    assert_true(fabs(abut_touch_distance(a.ready, at(5, 6, 0), a.ready, at(0, 0, 0)) - 5) < 1e-12);
    assert_true(fabs(abut_touch_distance(a.ready, (pose){{0, 0, 4}, q}, a.ready, at(0, 0, 0)) - (3 - r2)) <
                1e-12);
    twist still = {{0, 0, 0}, {0, 0, 0}}, left = {{-2, 0, 0}, {0, 0, 0}}, right = {{2, 0, 0}, {0, 0, 0}};
    assert_true(isinf(abut_touch_time(a.ready, at(9, 0, 0), still, a.ready, at(0, 0, 0), still, tolerance)));
    assert_true(isinf(abut_touch_time(a.ready, at(9, 0, 0), right, a.ready, at(0, 0, 0), still, tolerance)));
    double t = abut_touch_time(a.ready, at(9, 0, 0), left, a.ready, at(0, 0, 0), still, tolerance);
    assert_true(t <= 3.5 && t > 3.4); /* the gap is 7, the speed 2 */
    drop(&a);
}

/* Two boxes on edge, the edges across each other, overlapping by h.  The edges are h apart, the middle of one
 * is h sin(45) deep under the faces of the other; between epsilon and 1.41 epsilon neither is beyond epsilon,
 * and they touch. */
static void crossed_edges_that_overlap_a_little_touch(void **state) {
    (void)state;
    part a = box_part(2, 2, 2);
    double r2 = 1.4142135623730951;
    quat qa = abut_quat_from_axis_angle((vec3){1, 0, 0}, 0.7853981633974483),
         qb = abut_quat_from_axis_angle((vec3){0, 1, 0}, 0.7853981633974483);
    for (int k = -15; k <= 30; k++) {
        if (k == -10 || k == 14) continue; /* the borders */
        double h = 0.1 * k * tolerance;
        abut_touch *t = find(&a, (pose){{0.1, 0.2, 2 * r2 - h}, qa}, &a, (pose){{0, 0, 0}, qb}, true);
        assert_int_equal(t->status, k < -10 ? ABUT_APART : k > 14 ? ABUT_PENETRATING : ABUT_TOUCHING);
        if (t->status == ABUT_TOUCHING) {
            assert_int_equal(t->region_count, 1);
            assert_true(t->regions[0].a.kind == ABUT_ON_EDGE && t->regions[0].b.kind == ABUT_ON_EDGE);
            assert_true(t->regions[0].normal_count == 1 && fabs(t->regions[0].normals[0].z - 1) < 1e-9);
        }
        abut_touch_free(NULL, t);
    }
    drop(&a);
}

/* ---- culling: a contact that approaches or rests somewhere is never lost, and many that separate are */

static bool separates(const abut_touch *t, const abut_touch_region *r, const part *a, const twist v[2]) {
    int32_t first = t->loop_start[r->first_loop], last = t->loop_start[r->first_loop + 1];
    for (int32_t c = first; c < last; c++) {
        vec3 rate = {0, 0, 0};
        for (int k = 0; k < 2; k++) {
            vec3 center = pose_point(t->pose[k], abut_solid_facts_of(a[k].solid).center);
            vec3 own = vec3_add(v[k].linear, vec3_cross(v[k].angular, vec3_sub(t->points[c], center)));
            rate = vec3_axpy(rate, k ? -1 : 1, own);
        }
        if (vec3_dot(rate, r->normals[0]) <= 0) return false;
    }
    return true;
}

static void culling_keeps_what_approaches_or_rests(void **state) {
    (void)state;
    part p[2] = {box_part(2, 2, 2), box_part(2, 2, 2)};
    uint64_t seed = 9;
    int kept = 0, lost = 0, separating = 0;
    for (int i = 0; i < 4000; i++) {
        pose move = support_pose(&seed, 2);
        vec3 shift = {support_int(&seed, -2, 2), support_int(&seed, -2, 2), 2};
        pose pa = pose_mul(move, at(shift.x, shift.y, shift.z));
        twist v[2];
        bool spins = i % 2, rests = i % 8 == 2;
        for (int k = 0; k < 2; k++)
            v[k] = (twist){support_vec(&seed, 1), spins ? support_vec(&seed, 1) : vec3_zero()};
        if (rests) v[0] = v[1];
        abut_touch_options options = {.epsilon = tolerance, .velocity = {&v[0], &v[1]}};
        abut_touch *all = find(&p[0], pa, &p[1], move, false), *culled = NULL;
        assert_int_equal(abut_touch_find(NULL, p[0].ready, pa, p[1].ready, move, &options, &culled, NULL),
                         ABUT_OK);
        assert_int_equal(all->region_count, 1);
        const abut_touch_region *r = &all->regions[0];
        bool found = false;
        for (int64_t k = 0; k < culled->region_count; k++) {
            const abut_touch_region *c = &culled->regions[k];
            found = found || (c->a.kind == r->a.kind && c->a.id == r->a.id && c->b.kind == r->b.kind &&
                              c->b.id == r->b.id && vec3_distance(c->normals[0], r->normals[0]) < 1e-12);
        }
        if (separates(all, r, p, v)) {
            separating++, lost += !found;
            assert_true(!found || !r->determinate); /* where the normal is open, another may be in the way */
        } else {
            kept++, assert_true(found);
        }
        abut_touch_free(NULL, all), abut_touch_free(NULL, culled);
    }
    assert_true(kept > 1000 && separating > 500 && lost > separating / 4);
    drop(&p[0]), drop(&p[1]);
}

/* ---- prisms on the grid */

/* An L of height 2 on a plate in all places of a grid: the area is that of the common polygon, counted in
 * unit squares; exact, since all borders lie on the grid. */
static void l_shapes_on_the_grid(void **state) {
    (void)state;
    const double outline[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 2, &solid, NULL), ABUT_OK);
    part l = ready(solid);
    uint64_t seed = 5;
    for (int x = -3; x <= 3; x++)
        for (int y = -3; y <= 3; y++)
            for (int turn = 0; turn < 4; turn++) {
                static const int squares[3][2] = {{0, 0}, {1, 0}, {0, 1}};
                static const int cosine[4] = {1, 0, -1, 0}, sine[4] = {0, 1, 0, -1};
                int area = 0;
                for (int k = 0; k < 3; k++) {
                    double cx = squares[k][0] + 0.5, cy = squares[k][1] + 0.5;
                    double tx = cosine[turn] * cx - sine[turn] * cy + x,
                           ty = sine[turn] * cx + cosine[turn] * cy + y;
                    for (int b = 0; b < 3; b++)
                        area += tx == squares[b][0] + 0.5 && ty == squares[b][1] + 0.5;
                }
                quat q = abut_quat_from_axis_angle((vec3){0, 0, 1}, turn * 1.5707963267948966);
                pose move = support_pose(&seed, 2);
                pose pa = pose_mul(move, (pose){{x, y, 2}, q});
                for (int swap = 0; swap < 2; swap++) {
                    abut_touch *t = swap ? find(&l, move, &l, pa, false) : find(&l, pa, &l, move, false);
                    double sum = 0;
                    for (int64_t i = 0; i < t->region_count; i++) sum += t->regions[i].area;
                    assert_int_not_equal(t->status, ABUT_PENETRATING);
                    assert_true(fabs(sum - area) < 1e-5);
                    vec3 z = pose_vector(move, (vec3){0, 0, swap ? -1 : 1});
                    for (int64_t i = 0; i < t->region_count; i++)
                        if (t->regions[i].dimension == 2)
                            assert_true(vec3_distance(t->regions[i].normals[0], z) < 1e-9);
                    abut_touch_free(NULL, t);
                }
            }
    drop(&l);
}

/* ---- memory */

static abut_status attempt(const abut_context *context, void *user) {
    const part *p = user;
    abut_touch_solid *a = NULL, *b = NULL;
    abut_touch *t = NULL;
    abut_status status = abut_touch_solid_create(context, p[0].solid, &a, NULL);
    if (status == ABUT_OK) status = abut_touch_solid_create(context, p[1].solid, &b, NULL);
    if (status == ABUT_OK)
        status = abut_touch_find(context, a, at(1.5, 0, 1.5), b, at(0, 0, 0), NULL, &t, NULL);
    if (status == ABUT_OK) assert_int_equal(t->region_count, 2);
    abut_touch_free(context, t);
    abut_touch_solid_free(context, a), abut_touch_solid_free(context, b);
    return status;
}

static void memory_fails(void **state) {
    (void)state;
    part p[2] = {box_part(1, 1, 1), slanted()};
    assert_true(support_fail_each(attempt, p) > 10);
    drop(&p[0]), drop(&p[1]);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    part a = box_part(1, 1, 1);
    abut_touch *t = NULL;
    abut_touch_options options = {.epsilon = -1};
    assert_int_equal(abut_touch_find(NULL, a.ready, at(0, 0, 0), a.ready, at(0, 0, 0), &options, &t, NULL),
                     ABUT_INVALID);
    assert_int_equal(abut_touch_find(NULL, a.ready, at(NAN, 0, 0), a.ready, at(0, 0, 0), NULL, &t, NULL),
                     ABUT_INVALID);
    drop(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_3_three_regions_border_all_others),
        cmocka_unit_test(figure_4_edge_beside_area_is_kept_at_the_protrusion),
        cmocka_unit_test(figures_5_and_6_vertex_is_kept_when_alpha_is_less_than_beta),
        cmocka_unit_test(figure_7_normals_of_lines),
        cmocka_unit_test(figure_8_block_slides_on_over_two_fingers),
        cmocka_unit_test(corner_gives_three_normals),
        cmocka_unit_test(area_has_a_hole),
        cmocka_unit_test(boxes_on_the_grid),
        cmocka_unit_test(boxes_on_the_grid_moved),
        cmocka_unit_test(depth_of_overlap),
        cmocka_unit_test(crossed_edges_that_overlap_a_little_touch),
        cmocka_unit_test(distance_and_time),
        cmocka_unit_test(culling_keeps_what_approaches_or_rests),
        cmocka_unit_test(l_shapes_on_the_grid),
        cmocka_unit_test(memory_fails),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
