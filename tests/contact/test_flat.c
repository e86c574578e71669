/* Borders of flat contact, point by point: a place is inside the loops exactly where it is inside both
 * outlines, which are known here as polygons of their own.  Prisms with dents and a frame with a hole lie on
 * each other in random positions and in all positions of a grid, where sides coincide. */
#include "contact/flat.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>

typedef struct polygon {
    double at[16][2];
    int count, outer; /* corners; those of the outer loop, the rest is a hole */
} polygon;

static const polygon outlines[] = {
    {{{-2, -2}, {2, -2}, {2, 2}, {-2, 2}}, 4, 4},
    {{{-2, -2}, {2, -2}, {2, 0}, {0, 0}, {0, 2}, {-2, 2}}, 6, 6},                     /* L */
    {{{-2, -2}, {2, -2}, {2, 2}, {1, 2}, {1, -1}, {-1, -1}, {-1, 2}, {-2, 2}}, 8, 8}, /* U */
    {{{-3, -1}, {-1, -3}, {0, -1}, {3, -2}, {1, 0}, {3, 3}, {0, 1}, {-2, 2}}, 8, 8},  /* a star */
    {{{-2, -2}, {2, -2}, {2, 2}, {-2, 2}, {-1, -1}, {-1, 1}, {1, 1}, {1, -1}}, 8, 4}, /* a frame */
};
enum { OUTLINES = sizeof outlines / sizeof *outlines };

static bool crosses(const double a[2], const double b[2], double x, double y) {
    return (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
}

static bool polygon_has(const polygon *p, double x, double y) {
    bool inside = false;
    for (int i = 0; i < p->count; i++) {
        int first = i < p->outer ? 0 : p->outer, n = i < p->outer ? p->outer : p->count - p->outer;
        inside ^= crosses(p->at[i], p->at[first + (i - first + 1) % n], x, y);
    }
    return inside;
}

/* ---- solids with these outlines, one high */

static abut_solid *make_frame(void) {
    static const int quads[][4] = {{0, 1, 5, 4},   {1, 2, 6, 5},    {2, 3, 7, 6},     {3, 0, 4, 7},
                                   {8, 12, 13, 9}, {9, 13, 14, 10}, {10, 14, 15, 11}, {11, 15, 12, 8},
                                   {8, 9, 1, 0},   {9, 10, 2, 1},   {10, 11, 3, 2},   {11, 8, 0, 3},
                                   {4, 5, 13, 12}, {5, 6, 14, 13},  {6, 7, 15, 14},   {7, 4, 12, 15}};
    abut_vec3 points[16];
    int corners[64];
    int64_t start[17];
    for (int i = 0; i < 16; i++) {
        double r = i / 4 % 2 ? 1 : 2;
        points[i] = (abut_vec3){i % 4 == 1 || i % 4 == 2 ? r : -r, i % 4 > 1 ? r : -r, i < 8 ? 0.5 : -0.5};
    }
    for (int i = 0; i < 64; i++) corners[i] = quads[i / 4][i % 4];
    for (int i = 0; i < 17; i++) start[i] = 4 * i;
    abut_mesh mesh = {.points = points,
                      .corners = corners,
                      .face_start = start,
                      .point_count = 16,
                      .face_count = 16,
                      .corner_count = 64};
    abut_solid *solid = NULL;
    abut_error error = {0};
    if (abut_solid_build(NULL, &mesh, NULL, &solid, &error) != ABUT_OK) fail_msg("%s", error.message);
    return solid;
}

typedef struct piece {
    abut_solid *solid;
    contact_shape shape;
    int32_t up, down; /* faces */
} piece;

static piece make_piece(int which) {
    piece p = {0};
    abut_error error = {0};
    if (outlines[which].count == outlines[which].outer)
        assert_int_equal(
            abut_solid_prism(NULL, outlines[which].at, outlines[which].count, 1, &p.solid, &error), ABUT_OK);
    else
        p.solid = make_frame();
    abut_shape shape = abut_shape_solid(p.solid);
    assert_int_equal(contact_shape_create(NULL, &shape, vec3_zero(), &p.shape, &error), ABUT_OK);
    p.up = p.down = -1;
    int64_t faces = abut_solid_facts_of(p.solid).maximal_faces;
    for (int32_t f = 0; f < faces; f++) {
        contact_feature feature = {FEATURE_FACE, f};
        if (flat_face(&p.shape, feature, vec3_make(0, 0, 1)) == f) p.up = f;
        if (flat_face(&p.shape, feature, vec3_make(0, 0, -1)) == f) p.down = f;
    }
    assert_true(p.up >= 0 && p.down >= 0);
    return p;
}

static void free_piece(piece *p) {
    contact_shape_free(NULL, &p->shape);
    abut_solid_free(NULL, p->solid);
}

/* ---- the check */

/* Where a place of the world is in the outline of a body turned by `angle` about z and moved to (x, y). */
static bool body_has(const polygon *p, const double place[3], double x, double y) {
    double c = cos(place[2]), s = sin(place[2]), dx = x - place[0], dy = y - place[1];
    return polygon_has(p, c * dx + s * dy, -s * dx + c * dy);
}

static int winding(const flat_border *b, double x, double y) {
    int turns = 0;
    for (int64_t l = 0; l + 1 < b->start.count; l++)
        for (int32_t first = b->start.data[l], n = b->start.data[l + 1] - first, i = 0; i < n; i++) {
            vec3 p = b->corners.data[first + i], q = b->corners.data[first + (i + 1) % n];
            double a[2] = {p.x, p.y}, e[2] = {q.x, q.y};
            if (crosses(a, e, x, y)) turns += q.y > p.y ? 1 : -1;
        }
    return turns;
}

static double random_number(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static motion motion_of(const double place[3], double z) {
    motion m = {0};
    m.center = vec3_make(place[0], place[1], z);
    m.rotation = abut_quat_from_axis_angle(vec3_make(0, 0, 1), place[2]);
    return m;
}

/* Piece `upper` stands on `lower` at z = 0; the normal goes from b (lower) to a (upper). */
static double check_pair(piece *pieces, int upper, int lower, const double pa[3], const double pb[3],
                         uint64_t *seed) {
    motion ma = motion_of(pa, 0.5), mb = motion_of(pb, -0.5);
    flat_border border = {0};
    double area = -1;
    vec3 n = vec3_make(0, 0, 1);
    piece *a = &pieces[upper], *b = &pieces[lower];
    assert_true(flat_area(&a->shape, a->down, &ma, &b->shape, b->up, &mb, n, &area));
    assert_true(
        flat_border_of(NULL, &a->shape, a->down, &ma, &b->shape, b->up, &mb, n, vec3_zero(), &border));
    if (area > 1e-9) assert_true(border.start.count > 1);
    for (int i = 0; i < 300; i++) {
        double x = 8 * random_number(seed) - 4, y = 8 * random_number(seed) - 4;
        bool both = body_has(&outlines[upper], pa, x, y) && body_has(&outlines[lower], pb, x, y);
        assert_int_equal(winding(&border, x, y), both);
    }
    for (int64_t i = 0; i < border.corners.count; i++) assert_true(fabs(border.corners.data[i].z) < 1e-12);
    flat_border_free(NULL, &border);
    return area;
}

static void borders_hold_the_shared_places(void **state) {
    (void)state;
    uint64_t seed = 7;
    piece pieces[OUTLINES];
    for (int i = 0; i < OUTLINES; i++) pieces[i] = make_piece(i);
    for (int i = 0; i < OUTLINES; i++)
        for (int j = 0; j < OUTLINES; j++)
            for (int k = 0; k < 24; k++) {
                double pa[3] = {3 * random_number(&seed) - 1.5, 3 * random_number(&seed) - 1.5,
                                6.3 * random_number(&seed)};
                double pb[3] = {0, 0, 6.3 * random_number(&seed)};
                check_pair(pieces, i, j, pa, pb, &seed);
            }
    /* sides on sides, corners on sides, corners on corners */
    for (int i = 0; i < OUTLINES; i++)
        for (int j = 0; j < OUTLINES; j++)
            for (int k = 0; k < 49; k++) {
                double pa[3] = {k % 7 - 3, k / 7 - 3, 0}, pb[3] = {0, 0, 0};
                check_pair(pieces, i, j, pa, pb, &seed);
            }
    for (int i = 0; i < OUTLINES; i++) free_piece(&pieces[i]);
}

static void known_borders(void **state) {
    (void)state;
    uint64_t seed = 1;
    piece pieces[OUTLINES];
    for (int i = 0; i < OUTLINES; i++) pieces[i] = make_piece(i);
    double none[3] = {0}, moved[3] = {0, 1.5, 0};
    assert_true(fabs(check_pair(pieces, 4, 0, none, none, &seed) - 12) < 1e-12); /* the frame: 16 - 4 */
    assert_true(fabs(check_pair(pieces, 2, 0, moved, none, &seed) - 7) < 1e-12); /* U: 4 x 1, 2 x 1 x 1.5 */
    /* the frame on a half-space: two loops of four corners */
    abut_shape ground = abut_shape_halfspace(vec3_make(0, 0, 1), 0);
    contact_shape plane;
    abut_error error = {0};
    assert_int_equal(contact_shape_create(NULL, &ground, vec3_zero(), &plane, &error), ABUT_OK);
    motion m = motion_of(none, 0.5), still = motion_of(none, 0);
    flat_border border = {0};
    assert_true(flat_border_of(NULL, &pieces[4].shape, pieces[4].down, &m, &plane, 0, &still,
                               vec3_make(0, 0, 1), vec3_zero(), &border));
    assert_int_equal(border.start.count, 3);
    assert_int_equal(border.corners.count, 8);
    for (int i = 0; i < 200; i++) {
        double x = 6 * random_number(&seed) - 3, y = 6 * random_number(&seed) - 3;
        assert_int_equal(winding(&border, x, y), polygon_has(&outlines[4], x, y));
    }
    flat_border_free(NULL, &border);
    /* a cylinder on it: a polygon inside the circle, round to a third of a percent */
    abut_shape can = abut_shape_cylinder(2, 1);
    contact_shape drum;
    assert_int_equal(contact_shape_create(NULL, &can, vec3_zero(), &drum, &error), ABUT_OK);
    assert_true(
        flat_border_of(NULL, &drum, 0, &m, &plane, 0, &still, vec3_make(0, 0, 1), vec3_zero(), &border));
    assert_int_equal(border.start.count, 2);
    for (int64_t i = 0; i < border.corners.count; i++)
        assert_true(fabs(vec3_length(border.corners.data[i]) - 2) < 1e-12);
    flat_border_free(NULL, &border);
    contact_shape_free(NULL, &drum);
    contact_shape_free(NULL, &plane);
    for (int i = 0; i < OUTLINES; i++) free_piece(&pieces[i]);
}

static void hull_of_points(void **state) {
    (void)state;
    vec3 points[50];
    int order[50], stack[102], count = 0;
    for (int x = 0; x < 7; x++)
        for (int y = 0; y < 7; y++) points[count++] = vec3_make(x, (y * 3 + x) % 7, 5);
    assert_int_equal(flat_hull(NULL, vec3_make(0, 0, 1), points, count, 0, order, stack), 4);
    double twice = 0;
    for (int i = 0; i < 4; i++) {
        vec3 a = points[order[i]], b = points[order[(i + 1) % 4]];
        twice += a.x * b.y - a.y * b.x;
    }
    assert_true(twice == 72); /* counter-clockwise, 6 x 6 */
    bool seen[50] = {false};
    for (int i = 0; i < count; i++) assert_false(seen[order[i]]), seen[order[i]] = true;
    vec3 line[5];
    for (int i = 0; i < 5; i++) line[i] = vec3_make(4 - i, 2 * i, 0);
    assert_int_equal(flat_hull(NULL, vec3_make(0, 0, 1), line, 5, 0, order, stack), 2);
    assert_int_equal(flat_hull(NULL, vec3_make(0, 0, 1), line, 1, 0, order, stack), 1);
    /* a side that bulges by 0.1 (sqrt(2)/20 each way) has a corner there for a smaller slack only */
    double half = sqrt(0.005);
    vec3 bulge[5] = {{-2, 0, 0}, {0, -2, 0}, {2, 0, 0}, {0, 2, 0}, {1 + half, -1 - half, 0}};
    assert_int_equal(flat_hull(NULL, vec3_make(0, 0, 1), bulge, 5, 0.09, order, stack), 5);
    assert_int_equal(flat_hull(NULL, vec3_make(0, 0, 1), bulge, 5, 0.11, order, stack), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hull_of_points), cmocka_unit_test(known_borders),
                                       cmocka_unit_test(borders_hold_the_shared_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
