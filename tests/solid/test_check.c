/* Checking and repairing: one mesh for each defect, made from a good one; the files of shared/meshes/broken
 * against what their MANIFEST says is wrong; crossing faces against a search over all pairs; memory that runs
 * out. */
#include "solid/intersect.h"
#include "solid/mesh_kit.h"

#include <stdio.h>

static abut_report *check(const abut_mesh *mesh) {
    abut_report *report = NULL;
    abut_error error = {0};
    if (abut_mesh_check(NULL, mesh, NULL, &report, &error)) fail_msg("%s", error.message);
    /* what the report promises holds */
    abut_solid *solid = NULL;
    abut_status built = abut_solid_build(NULL, mesh, NULL, &solid, &error);
    assert_int_equal(built, report->is_valid ? ABUT_OK : ABUT_INVALID);
    assert_true(report->is_valid || error.message[0] != 0);
    abut_solid_free(NULL, solid);
    int64_t total = 0;
    for (int d = 0; d < 32; d++) total += report->count_of[d];
    assert_int_equal(total, report->error_count + report->warning_count);
    for (int64_t i = 0; i < report->finding_count; i++)
        assert_non_null(strchr(report->findings[i].message, ' '));
    return report;
}

static const abut_finding *find(const abut_report *r, abut_defect defect) {
    for (int64_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].defect == defect) return &r->findings[i];
    fail_msg("no finding of kind %s", abut_defect_name(defect));
    return NULL;
}

static void expect_only(const abut_report *r, abut_defect defect, int64_t count) {
    for (int d = 0; d < 32; d++)
        if (r->count_of[d] != (d == (int)defect ? count : 0))
            fail_msg("%lld findings of kind %s", (long long)r->count_of[d], abut_defect_name((abut_defect)d));
}

/* Repairs and says whether the result is a solid of this volume. */
static abut_report *repair(const abut_mesh *mesh, double volume) {
    abut_mesh *repaired = NULL;
    abut_report *report = NULL;
    abut_error error = {0};
    abut_status status = abut_mesh_repair(NULL, mesh, NULL, &repaired, &report, &error);
    if (volume == 0) {
        assert_int_equal(status, ABUT_INVALID);
        assert_null(repaired);
        assert_true(error.message[0] != 0 && report && !report->is_valid);
        return report;
    }
    if (status) fail_msg("%s", error.message);
    abut_solid *solid = NULL;
    if (abut_solid_build(NULL, repaired, NULL, &solid, &error)) fail_msg("%s", error.message);
    assert_true(fabs(abut_solid_facts_of(solid).volume - volume) <= 1e-8 * fabs(volume));
    abut_solid_free(NULL, solid);
    /* a second repair finds nothing to do */
    abut_report *again = NULL;
    abut_mesh *same = NULL;
    assert_int_equal(abut_mesh_repair(NULL, repaired, NULL, &same, &again, NULL), ABUT_OK);
    assert_int_equal(again->finding_count, 0);
    abut_report_free(NULL, again);
    abut_mesh_free(NULL, same);
    abut_mesh_free(NULL, repaired);
    return report;
}

static mesh_kit kit;
static abut_mesh make_box(bool triangles) {
    memset(&kit, 0, sizeof kit);
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(1, 2, 3), triangles, 1);
    return kit_mesh(&kit);
}

static void swap_corners(abut_mesh *m, int64_t face) {
    int64_t a = m->face_start[face], b = m->face_start[face + 1] - 1;
    for (; a < b; a++, b--) {
        int c = m->corners[a];
        m->corners[a] = m->corners[b], m->corners[b] = c;
    }
}

/* ---- one defect each */

static void test_good(void **unused) {
    (void)unused;
    for (int triangles = 0; triangles < 2; triangles++) {
        abut_mesh m = make_box(triangles);
        abut_report *r = check(&m);
        assert_true(r->is_valid && r->finding_count == 0);
        abut_report_free(NULL, r);
        abut_report_free(NULL, repair(&m, 6));
    }
}

static void test_flipped(void **unused) {
    (void)unused;
    abut_mesh m = make_box(true);
    swap_corners(&m, 5);
    abut_report *r = check(&m);
    expect_only(r, ABUT_DEFECT_FLIPPED_FACE, 1);
    assert_int_equal(find(r, ABUT_DEFECT_FLIPPED_FACE)->face[0], 5);
    abut_report_free(NULL, r);
    abut_report_free(NULL, repair(&m, 6));
    /* all but one: the one is flipped, and the shell is inside out */
    for (int f = 0; f < 12; f++) swap_corners(&m, f);
    abut_report_free(NULL, repair(&m, 6));
}

static void test_inside_out(void **unused) {
    (void)unused;
    memset(&kit, 0, sizeof kit);
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(3, 3, 3), false, -1);
    kit_add_box(&kit, vec3_make(1, 1, 1), vec3_make(2, 2, 2), false, 1);
    abut_mesh m = kit_mesh(&kit);
    abut_report *r = check(&m);
    expect_only(r, ABUT_DEFECT_INSIDE_OUT, 2);
    abut_report_free(NULL, r);
    abut_report_free(NULL, repair(&m, 26));
    /* a cavity that looks like a solid may be meant as either: refused */
    memset(&kit, 0, sizeof kit);
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(3, 3, 3), false, 1);
    kit_add_box(&kit, vec3_make(1, 1, 1), vec3_make(2, 2, 2), false, 1);
    m = kit_mesh(&kit);
    r = check(&m);
    expect_only(r, ABUT_DEFECT_INSIDE_OUT, 1);
    assert_int_equal(find(r, ABUT_DEFECT_INSIDE_OUT)->face[0], 6);
    abut_report_free(NULL, r);
    abut_report_free(NULL, repair(&m, 0));
}

static void test_open(void **unused) {
    (void)unused;
    abut_mesh m = make_box(false);
    m.face_count--, m.corner_count -= 4; /* the face x = 1: corners 1 3 7 5 */
    abut_report *r = check(&m);
    expect_only(r, ABUT_DEFECT_OPEN_EDGE, 4);
    assert_true(find(r, ABUT_DEFECT_OPEN_EDGE)->at.x == 1);
    abut_report_free(NULL, r);
    abut_report_free(NULL, repair(&m, 0));
}

static void test_duplicates(void **unused) {
    (void)unused;
    abut_mesh m = make_box(true);
    kit_face(&kit, 3, (int[]){m.corners[4], m.corners[5], m.corners[3]}); /* face 1 again, begun elsewhere */
    m = kit_mesh(&kit);
    abut_report *r = check(&m);
    const abut_finding *f = find(r, ABUT_DEFECT_DUPLICATE_FACE);
    assert_true(f->face[0] == 12 && f->face[1] == 1 && f->repairable);
    abut_report_free(NULL, r);
    abut_report_free(NULL, repair(&m, 6));
    /* points: one unused, one doubled; warnings only */
    m = make_box(true);
    int copy = kit_point(&kit, kit.points[3]);
    kit_point(&kit, vec3_make(0.5, 0.5, 0.5));
    for (int i = 0; i < 6; i++)
        if (kit.corners[i] == 3) kit.corners[i] = copy;
    m = kit_mesh(&kit);
    r = check(&m);
    assert_true(r->is_valid && r->count_of[ABUT_DEFECT_DUPLICATE_VERTEX] == 1 &&
                r->count_of[ABUT_DEFECT_UNUSED_VERTEX] == 1 && r->warning_count == 2);
    assert_int_equal(find(r, ABUT_DEFECT_DUPLICATE_VERTEX)->vertex, copy);
    abut_report_free(NULL, r);
    abut_report_free(NULL, repair(&m, 6));
}

/* A sliver between two faces holds the surface together: vertex 8 in the middle of edge 0-1, used by the face
 * y = 0, and a triangle without area 0 8 1 towards the face z = 0. */
static void test_sliver(void **unused) {
    (void)unused;
    abut_mesh m = make_box(false);
    int middle = kit_point(&kit, vec3_make(0.5, 0, 0));
    kit.face_count = 0;
    memset(kit.face_start, 0, sizeof kit.face_start);
    int faces[6][5] = {{0, 2, 3, 1, -1}, {4, 5, 7, 6, -1}, {0, middle, 1, 5, 4},
                       {2, 6, 7, 3, -1}, {0, 4, 6, 2, -1}, {1, 3, 7, 5, -1}};
    for (int f = 0; f < 6; f++) kit_face(&kit, faces[f][4] < 0 ? 4 : 5, faces[f]);
    kit_face(&kit, 3, (int[]){0, 1, middle}); /* its other sides: 1-0 of face 0, 0-m and m-1 of face 2 */
    m = kit_mesh(&kit);
    abut_report *r = check(&m);
    assert_int_equal(find(r, ABUT_DEFECT_DEGENERATE_FACE)->face[0], 6);
    assert_int_equal(r->error_count, 1);
    abut_report_free(NULL, r);
    abut_report_free(NULL, repair(&m, 6));
    /* without it there is a T-junction, which is named */
    m.face_count--, m.corner_count -= 3;
    r = check(&m);
    expect_only(r, ABUT_DEFECT_T_JUNCTION, 1);
    const abut_finding *f = find(r, ABUT_DEFECT_T_JUNCTION);
    assert_true(f->vertex == middle && f->face[0] == 0 && f->at.x == 0.5);
    abut_report_free(NULL, r);
}

static void test_nonplanar(void **unused) {
    (void)unused;
    abut_mesh m = make_box(false);
    kit.points[7].z += 0.25; /* corner of three quads */
    abut_report *r = check(&m);
    expect_only(r, ABUT_DEFECT_NONPLANAR_FACE, 1); /* the top; the sides stay planar */
    assert_int_equal(find(r, ABUT_DEFECT_NONPLANAR_FACE)->face[0], 1);
    abut_report_free(NULL, r);
    /* the tetrahedron that is added or not, 1*2*0.25/6, or one with half of it: by the diagonal */
    abut_mesh *repaired = NULL;
    r = NULL;
    assert_int_equal(abut_mesh_repair(NULL, &m, NULL, &repaired, &r, NULL), ABUT_OK);
    assert_int_equal(repaired->face_count, 7);
    abut_report_free(NULL, r);
    abut_mesh_free(NULL, repaired);
}

static void test_nonmanifold(void **unused) {
    (void)unused;
    memset(&kit, 0, sizeof kit);
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(1, 1, 1), true, 1);
    kit_add_box(&kit, vec3_make(1, 1, 0), vec3_make(2, 2, 1), true, 1); /* welding joins an edge */
    abut_mesh m = kit_mesh(&kit);
    abut_report *r = check(&m);
    assert_int_equal(r->count_of[ABUT_DEFECT_NONMANIFOLD_EDGE], 1);
    const abut_finding *f = find(r, ABUT_DEFECT_NONMANIFOLD_EDGE);
    assert_true(f->at.x == 1 && f->at.y == 1 && f->at.z == 0.5);
    abut_report_free(NULL, r);
    abut_report_free(NULL, repair(&m, 0));
    memset(&kit, 0, sizeof kit);
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(1, 1, 1), true, 1);
    kit_add_box(&kit, vec3_make(1, 1, 1), vec3_make(2, 2, 2), true, 1); /* a vertex */
    m = kit_mesh(&kit);
    r = check(&m);
    assert_int_equal(r->count_of[ABUT_DEFECT_NONMANIFOLD_VERTEX], 1);
    f = find(r, ABUT_DEFECT_NONMANIFOLD_VERTEX);
    assert_true(f->at.x == 1 && f->at.y == 1 && f->at.z == 1);
    abut_report_free(NULL, r);
}

/* A band of quads closed with half a turn has one side only. */
static void test_moebius(void **unused) {
    (void)unused;
    memset(&kit, 0, sizeof kit);
    enum { N = 12 };
    for (int i = 0; i < N; i++) {
        double a = 6.283185307179586 * i / N, h = a / 2;
        for (int k = -1; k <= 1; k += 2)
            kit_point(&kit, vec3_make((2 + 0.5 * k * cos(h)) * cos(a), (2 + 0.5 * k * cos(h)) * sin(a),
                                      0.5 * k * sin(h)));
    }
    for (int i = 0; i < N; i++) {
        int j = (i + 1) % N, turned = i == N - 1;
        int a = 2 * i, b = 2 * i + 1, c = 2 * j + !turned, d = 2 * j + turned;
        kit_face(&kit, 3, (int[]){a, b, c});
        kit_face(&kit, 3, (int[]){a, c, d});
    }
    abut_mesh m = kit_mesh(&kit);
    abut_report *r = check(&m);
    assert_int_equal(r->count_of[ABUT_DEFECT_OPEN_EDGE], 2 * N);
    assert_int_equal(r->count_of[ABUT_DEFECT_FLIPPED_FACE], 1);
    assert_non_null(strstr(find(r, ABUT_DEFECT_FLIPPED_FACE)->message, "Moebius"));
    abut_report_free(NULL, r);
    abut_report_free(NULL, repair(&m, 0));
}

static void test_small_features(void **unused) {
    (void)unused;
    memset(&kit, 0, sizeof kit);
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(1, 1, 2e-5), false, 1);
    abut_mesh m = kit_mesh(&kit);
    abut_report *r = check(&m);
    assert_true(r->is_valid &&
                r->count_of[ABUT_DEFECT_SMALL_FEATURE] >= 4); /* the short edges, the narrow faces */
    abut_report_free(NULL, r);
    memset(&kit, 0, sizeof kit);
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(1, 1, 2e-7), false, 1);
    m = kit_mesh(&kit);
    r = check(&m);
    expect_only(r, ABUT_DEFECT_TOO_THIN, 1);
    abut_report_free(NULL, r);
    m = (abut_mesh){.face_start = (int64_t[]){0}};
    r = check(&m);
    expect_only(r, ABUT_DEFECT_EMPTY, 1);
    abut_report_free(NULL, r);
}

/* Numbers that are no mesh are an error, not a crash. */
static void test_hostile(void **unused) {
    (void)unused;
    abut_report *report = NULL;
    abut_mesh m = make_box(true);
    kit.corners[7] = 8;
    assert_int_equal(abut_mesh_check(NULL, &m, NULL, &report, NULL), ABUT_INVALID);
    kit.corners[7] = -1;
    assert_int_equal(abut_mesh_check(NULL, &m, NULL, &report, NULL), ABUT_INVALID);
    m = make_box(true);
    kit.points[2].y = NAN;
    assert_int_equal(abut_mesh_check(NULL, &m, NULL, &report, NULL), ABUT_INVALID);
    kit.points[2].y = 1e300;
    assert_int_equal(abut_mesh_check(NULL, &m, NULL, &report, NULL), ABUT_INVALID);
    m = make_box(true);
    kit.face_start[3] = 8; /* faces of 2 and 4 corners */
    assert_int_equal(abut_mesh_check(NULL, &m, NULL, &report, NULL), ABUT_INVALID);
    m = make_box(true);
    m.corner_count = INT64_MAX / 8;
    assert_int_equal(abut_mesh_check(NULL, &m, NULL, &report, NULL), ABUT_INVALID);
    assert_null(report);
    /* all vertices in one point; on a line; in a plane */
    for (int flat = 0; flat < 3; flat++) {
        m = make_box(true);
        for (int i = 0; i < 8; i++) {
            kit.points[i].z = 0;
            if (flat < 2) kit.points[i].y = 0;
            if (flat < 1) kit.points[i].x = 0;
        }
        abut_report *r = check(&m);
        assert_false(r->is_valid);
        abut_report_free(NULL, r);
        abut_report_free(NULL, repair(&m, 0));
    }
}

/* ---- crossing faces */

/* Random triangles, many of which touch exactly because their coordinates are small integers: the tree finds
 * what a search over all pairs finds. */
static void test_crossings(void **unused) {
    (void)unused;
    uint64_t state = 5;
    for (int round = 0; round < 40; round++) {
        memset(&kit, 0, sizeof kit);
        int range = support_int(&state, 4, 40);
        for (int i = 0; i < 120; i++) {
            int c[3];
            for (int k = 0; k < 3; k++)
                c[k] = kit_point(&kit, vec3_make(support_int(&state, 0, range), support_int(&state, 0, range),
                                                 support_int(&state, 0, range)));
            kit_face(&kit, 3, c);
        }
        abut_mesh m = kit_mesh(&kit);
        topology t;
        face_pairs found = {0};
        assert_int_equal(topology_make(&t, NULL, &m, 0, NULL), ABUT_OK);
        assert_int_equal(intersect_faces(&t, NULL, 1 << 20, &found, NULL), ABUT_OK);
        int64_t next = 0;
        for (int32_t f = 0; f < t.face_count; f++)
            for (int32_t g = f + 1; g < t.face_count; g++) {
                double area_f, area_g;
                topology_plane(&t, f, &area_f), topology_plane(&t, g, &area_g);
                if (area_f == 0 || area_g == 0) continue;
                if (!intersect_triangles(t.position, t.vertex + 3 * f, t.vertex + 3 * g, false)) continue;
                assert_true(next < found.count && found.data[next].face[0] == f &&
                            found.data[next].face[1] == g);
                next++;
            }
        assert_int_equal(next, found.count);
        array_free(NULL, &found);
        topology_free(&t);
    }
}

/* Cases with known answers, in all orders, turned and mirrored. */
static void test_triangle_pairs(void **unused) {
    (void)unused;
    const struct {
        int p[6][3]; /* a0 a1 a2 b0 b1 b2: equal points are the same vertex */
        bool meets;
    } cases[] = {
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 1, -1}, {1, 1, 1}, {5, 5, 0}}, true}, /* pierces */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 1, 0}, {1, 1, 3}, {2, 2, 3}}, true},  /* stands on it */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {2, 2, 0}, {5, 5, 1}, {5, 5, -1}},
         true}, /* touches a side from out */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {3, 3, 0}, {5, 5, 1}, {5, 5, -1}}, false},  /* just beside it */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {0, 0, 1}, {4, 0, 1}, {0, 4, 1}}, false},   /* above */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}}, false},   /* flat neighbours */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {4, 0, 0}, {1, 1, 0}, {0, 4, 0}}, true},    /* folded flat */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {4, 0, 0}, {0, 0, 1}, {0, 4, 0}}, false},   /* folded, not flat */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {0, 0, 0}, {-4, 0, 0}, {0, -4, 0}}, false}, /* corner to corner */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {0, 0, 0}, {4, 4, 0}, {1, 8, 0}}, true},    /* corners overlap */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {0, 0, 0}, {8, 0, 0}, {8, -4, 0}}, true},   /* along one side */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {0, 0, 0}, {3, 3, 1}, {3, 3, -1}},
         true}, /* cuts through the corner */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {0, 0, 0}, {-3, 3, 1}, {-3, 3, -1}}, false}, /* passes beside it */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 1, 0}, {2, 1, 0}, {1, 2, 0}}, true},     /* flat, inside */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {4, 4, 0}, {5, 4, 0}, {4, 5, 0}}, false},    /* flat, apart */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {2, 2, 0}, {5, 2, 0}, {2, 5, 0}}, true}, /* flat, corner on side */
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        for (int variant = 0; variant < 36 * 2; variant++) {
            /* vertex numbers: equal points equal numbers; rotated, swapped and mirrored */
            vec3 position[6];
            int32_t number[6], a[3], b[3];
            for (int k = 0; k < 6; k++) {
                const int *p = cases[i].p[k];
                int axis = variant % 3;
                double q[3] = {p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]};
                position[k] = vec3_make(q[0], q[1], variant & 1 ? -q[2] : q[2]);
                number[k] = k;
                for (int l = 0; l < k; l++)
                    if (memcmp(cases[i].p[l], p, sizeof cases[i].p[l]) == 0) number[k] = l;
            }
            for (int k = 0; k < 3; k++) {
                a[k] = number[(k + variant / 6) % 3], b[k] = number[3 + (k + variant / 18) % 3];
            }
            if (variant & 2) {
                int32_t s = a[0];
                a[0] = a[1], a[1] = s;
            }
            bool got = variant & 4 ? intersect_triangles(position, b, a, false)
                                   : intersect_triangles(position, a, b, false);
            if (got != cases[i].meets) fail_msg("case %d, variant %d", i, variant);
        }
}

/* Random damage to a good mesh: corners changed, points moved onto others or onto edges, faces dropped,
 * doubled and reversed.  Whatever comes out, checking, building and repairing agree with each other (in check
 * and repair). */
static void damage(uint64_t *state) {
    int64_t corners = kit.face_start[kit.face_count];
    switch (support_int(state, 0, 6)) {
    case 0:
        kit.corners[support_int(state, 0, (int)corners - 1)] =
            support_int(state, 0, (int)kit.point_count - 1);
        break;
    case 1:
        kit.points[support_int(state, 0, (int)kit.point_count - 1)] =
            kit.points[support_int(state, 0, (int)kit.point_count - 1)];
        break;
    case 2: {
        vec3 p = kit.points[support_int(state, 0, (int)kit.point_count - 1)];
        vec3 q = kit.points[support_int(state, 0, (int)kit.point_count - 1)];
        kit.points[support_int(state, 0, (int)kit.point_count - 1)] = vec3_lerp(p, q, 0.5);
        break;
    }
    case 3: {
        abut_mesh m = kit_mesh(&kit);
        swap_corners(&m, support_int(state, 0, (int)kit.face_count - 1));
        break;
    }
    case 4: {
        int64_t f = support_int(state, 0, (int)kit.face_count - 1), first = kit.face_start[f];
        kit_face(&kit, (int)(kit.face_start[f + 1] - first), kit.corners + first);
        break;
    }
    case 5:
        if (kit.face_count > 4) kit.face_count--;
        break;
    default: {
        vec3 *p = &kit.points[support_int(state, 0, (int)kit.point_count - 1)];
        *p = vec3_add(*p, support_vec(state, support_int(state, 0, 1) ? 1 : 1e-9));
    }
    }
}

static void test_random_damage(void **unused) {
    (void)unused;
    uint64_t state = 21;
    int valid = 0, mended = 0;
    for (int round = 0; round < 3000; round++) {
        memset(&kit, 0, sizeof kit);
        kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(3, 3, 3), round & 1, 1);
        if (round & 2) kit_add_box(&kit, vec3_make(1, 1, 1), vec3_make(2, 2, 2), round & 4, -1);
        if (round & 8)
            kit_add_box(&kit, vec3_make(3, 1, 1), vec3_make(4, 2, 2), true, 1); /* touches a face */
        for (int i = support_int(&state, 0, 3); i > 0; i--) damage(&state);
        abut_mesh m = kit_mesh(&kit), *repaired = NULL;
        abut_report *r = check(&m);
        valid += r->is_valid;
        abut_report_free(NULL, r);
        abut_error error = {0};
        abut_status status = abut_mesh_repair(NULL, &m, NULL, &repaired, &r, &error);
        assert_true(status == ABUT_OK || status == ABUT_INVALID);
        abut_report_free(NULL, r);
        if (status) continue;
        mended++;
        r = check(repaired);
        assert_true(r->is_valid);
        abut_report_free(NULL, r);
        abut_mesh_free(NULL, repaired);
    }
    assert_true(valid > 100 && mended > valid);
}

/* A face that runs to and fro: its triangles have only two vertices. */
static void test_spike(void **unused) {
    (void)unused;
    abut_mesh m = make_box(false);
    int far = kit_point(&kit, vec3_make(0.5, 1, 3)), first = 4; /* face 1, the top: 4 5 7 6 */
    memmove(kit.corners + first + 6, kit.corners + first + 4, 16 * sizeof *kit.corners);
    kit.corners[first + 4] = far, kit.corners[first + 5] = 6;
    for (int f = 2; f <= 6; f++) kit.face_start[f] += 2;
    m = kit_mesh(&kit);
    abut_report *r = check(&m); /* 4 5 7 6 far 6: the spike is an edge with the top on both sides */
    abut_report_free(NULL, r);
    abut_mesh *repaired = NULL;
    abut_status status = abut_mesh_repair(NULL, &m, NULL, &repaired, &r, NULL);
    abut_report_free(NULL, r);
    if (!status) abut_mesh_free(NULL, repaired);
}

/* ---- shared files */

static void test_broken_files(void **unused) {
    (void)unused;
    const struct {
        const char *name;
        abut_defect defect; /* the first finding; EMPTY with valid: none */
        bool valid;
        double repaired; /* volume after the safe repairs; 0: refused */
    } files[] = {
        {"concave_star.obj", ABUT_DEFECT_EMPTY, true, 352.671151375484},
        {"duplicate_vertices.obj", ABUT_DEFECT_DUPLICATE_VERTEX, true, 8},
        {"flipped_face.obj", ABUT_DEFECT_FLIPPED_FACE, false, 8},
        {"fmt_ascii.ply", ABUT_DEFECT_EMPTY, true, 8},
        {"fmt_ascii.stl", ABUT_DEFECT_EMPTY, true, 8},
        {"fmt_binary_be.ply", ABUT_DEFECT_EMPTY, true, 8},
        {"fmt_binary_solid_header.stl", ABUT_DEFECT_EMPTY, true, 8},
        {"fmt_comments.off", ABUT_DEFECT_EMPTY, true, 8},
        {"huge_coordinates.obj", ABUT_DEFECT_EMPTY, true, 2 * 2 * 0.002000093460083},
        {"inside_out.obj", ABUT_DEFECT_INSIDE_OUT, false, 8},
        {"near_duplicate_1e-9.obj", ABUT_DEFECT_DUPLICATE_VERTEX, true, 8},
        {"nearly_coplanar_1e-7.obj", ABUT_DEFECT_SMALL_FEATURE, true, 1},
        {"needle_sliver.obj", ABUT_DEFECT_TOO_THIN, false, 0},
        {"negative_indices.obj", ABUT_DEFECT_EMPTY, true, 8},
        {"ngon_hole_bridge.obj", ABUT_DEFECT_EMPTY, true, 168},
        {"nonmanifold_edge.obj", ABUT_DEFECT_NONMANIFOLD_EDGE, false, 0},
        {"nonmanifold_vertex.obj", ABUT_DEFECT_NONMANIFOLD_VERTEX, false, 0},
        {"nonplanar_ngon.obj", ABUT_DEFECT_NONPLANAR_FACE, false, -1},
        {"open_boundary.obj", ABUT_DEFECT_OPEN_EDGE, false, 0},
        {"self_intersect.obj", ABUT_DEFECT_SELF_INTERSECTION, false, 0},
        {"slashes_crlf_continuation.obj", ABUT_DEFECT_EMPTY, true, 8},
        {"spindle_torus_self_intersect.obj", ABUT_DEFECT_SELF_INTERSECTION, false, 0},
        {"t_junction.obj", ABUT_DEFECT_T_JUNCTION, false, 0},
        {"tiny_scale.obj", ABUT_DEFECT_EMPTY, true, 8e-36},
        {"two_cubes_share_edge.obj", ABUT_DEFECT_NONMANIFOLD_EDGE, false, 0},
        {"zero_area_face.obj", ABUT_DEFECT_DEGENERATE_FACE, false, 8},
        {"../real/wingnut.obj", ABUT_DEFECT_SELF_INTERSECTION, false, 0},
        {"../real/ripc_L.obj", ABUT_DEFECT_DEGENERATE_FACE, false, 24},
        {"../real/trimesh_wallhole.obj", ABUT_DEFECT_DUPLICATE_VERTEX, true, 3200.0 / 3},
        {"../real/trimesh_joined_tetrahedra.obj", ABUT_DEFECT_DUPLICATE_FACE, false, 0},
        {"../solid/linked_rings.obj", ABUT_DEFECT_EMPTY, true, 1490.79769979052},
    };
    for (int i = 0; i < COUNT_OF(files); i++) {
        char path[96];
        abut_mesh *m = NULL;
        abut_error error = {0};
        snprintf(path, sizeof path, "meshes/broken/%s", files[i].name);
        if (abut_mesh_load(NULL, support_shared(path), &m, &error)) fail_msg("%s: %s", path, error.message);
        abut_report *r = check(m);
        if (r->is_valid != files[i].valid) fail_msg("%s: valid %d", path, r->is_valid);
        if (files[i].defect == ABUT_DEFECT_EMPTY)
            assert_int_equal(r->finding_count, 0);
        else if (r->finding_count == 0 || r->findings[0].defect != files[i].defect)
            fail_msg("%s: the first finding is not %s", path, abut_defect_name(files[i].defect));
        abut_report_free(NULL, r);
        if (files[i].repaired >= 0) abut_report_free(NULL, repair(m, files[i].repaired));
        abut_mesh_free(NULL, m);
    }
}

/* ---- memory */

static abut_status attempt(const abut_context *context, void *user) {
    abut_report *report = NULL;
    abut_mesh *repaired = NULL;
    abut_status status = abut_mesh_check(context, user, NULL, &report, NULL);
    abut_report_free(context, report);
    if (status) return status;
    report = NULL;
    status = abut_mesh_repair(context, user, NULL, &repaired, &report, NULL);
    abut_report_free(context, report);
    abut_mesh_free(context, status ? NULL : repaired);
    return status == ABUT_INVALID ? ABUT_OK : status;
}

static void test_memory(void **unused) {
    (void)unused;
    abut_mesh m = make_box(false);
    kit.points[7].z += 0.25; /* a face to split */
    kit_face(&kit, 4, (int[]){m.corners[4], m.corners[5], m.corners[6], m.corners[7]});
    swap_corners(&m, 2);
    m = kit_mesh(&kit);
    assert_true(support_fail_each(attempt, &m) > 20);
    m = make_box(false);
    m.face_count--, m.corner_count -= 4;
    assert_true(support_fail_each(attempt, &m) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),           cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_inside_out),     cmocka_unit_test(test_open),
        cmocka_unit_test(test_duplicates),     cmocka_unit_test(test_sliver),
        cmocka_unit_test(test_nonplanar),      cmocka_unit_test(test_nonmanifold),
        cmocka_unit_test(test_moebius),        cmocka_unit_test(test_small_features),
        cmocka_unit_test(test_hostile),        cmocka_unit_test(test_crossings),
        cmocka_unit_test(test_triangle_pairs), cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_spike),          cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
