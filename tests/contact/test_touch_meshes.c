/* Contact regions of parts that fit into each other (shared meshes): apart at rest with the clearance that
 * their MANIFEST states, touching when moved by it, flank on flank, penetrating beyond. */
#include "abut/touch.h"
#include "support.h"

#include <stdio.h>

typedef struct part {
    abut_solid *solid;
    abut_touch_solid *ready;
} part;

/* Whether a face, by its outward normal and a contact point, both in its own frame, is one that should touch.
 */
typedef bool right_face(int solid, vec3 normal, vec3 at);

typedef struct fit {
    const char *a, *b; /* below the shared folder */
    pose rest;         /* of B */
    vec3 way;          /* B moves along it until it touches */
    double clearance, tolerance;
    right_face *right;
    int dimension; /* of the largest region */
    double scale;  /* of A; 0: 1 */
} fit;

static part load(const char *name, double scale) {
    part p = {NULL, NULL};
    abut_error error = {0};
    if (abut_solid_load(NULL, support_shared(name), NULL, &p.solid, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    if (scale != 0) {
        abut_solid *small = NULL;
        assert_int_equal(abut_solid_scaled(NULL, p.solid, scale, &small, NULL), ABUT_OK);
        abut_solid_free(NULL, p.solid);
        p.solid = small;
    }
    assert_int_equal(abut_touch_solid_create(NULL, p.solid, &p.ready, NULL), ABUT_OK);
    return p;
}

/* The entity is a face that should touch, or lies on the border of one. */
static bool is_right(const fit *f, int which, const part *p, pose at, abut_place place, vec3 point) {
    vec3 x = pose_unpoint(at, point), n;
    int64_t edges = abut_solid_facts_of(p->solid).maximal_edges, v[2], faces[2];
    if (place.kind == ABUT_ON_FACE)
        return abut_solid_face_loops(p->solid, place.id, &n, NULL), f->right(which, n, x);
    for (int64_t e = 0; e < edges; e++) {
        abut_solid_edge(p->solid, e, v, faces);
        bool own = place.kind == ABUT_ON_EDGE ? e == place.id : v[0] == place.id || v[1] == place.id;
        for (int k = 0; k < 2 && own; k++) {
            abut_solid_face_loops(p->solid, faces[k], &n, NULL);
            if (f->right(which, n, x)) return true;
        }
    }
    return false;
}

static abut_touch *find(const part p[2], pose b) {
    abut_touch *t = NULL;
    assert_int_equal(abut_touch_find(NULL, p[0].ready, pose_identity(), p[1].ready, b, NULL, &t, NULL),
                     ABUT_OK);
    return t;
}

static void check_fit(const fit *f) {
    part p[2] = {load(f->a, f->scale), load(f->b, 0)};
    pose b = f->rest;
    double gap = abut_touch_distance(p[0].ready, pose_identity(), p[1].ready, b);
    if (fabs(gap - f->clearance) > f->tolerance) fail_msg("%s, %s: gap %.17g", f->a, f->b, gap);
    abut_touch *t = find(p, b);
    assert_int_equal(t->status, ABUT_APART);
    abut_touch_free(NULL, t);
    double epsilon = fmax(abut_solid_facts_of(p[0].solid).epsilon, abut_solid_facts_of(p[1].solid).epsilon);
    int steps = 0;
    for (; gap > 0.1 * epsilon && steps < 500; steps++) {
        b.position = vec3_axpy(b.position, gap, f->way);
        gap = abut_touch_distance(p[0].ready, pose_identity(), p[1].ready, b);
    }
    assert_true(steps < 500);
    t = find(p, b);
    assert_int_equal(t->status, ABUT_TOUCHING);
    assert_true(t->region_count > 0);
    assert_int_equal(t->regions[0].dimension, f->dimension);
    for (int64_t i = 0; i < t->region_count; i++) {
        const abut_touch_region *r = &t->regions[i];
        assert_in_range(r->normal_count, 1, 3 - r->dimension);
        assert_true(is_right(f, 0, &p[0], pose_identity(), r->a, r->center));
        assert_true(is_right(f, 1, &p[1], b, r->b, r->center));
        /* B came along the way, so A lies ahead of it */
        if (r->determinate && r->normal_count == 1) assert_true(vec3_dot(r->normals[0], f->way) > -1e-6);
    }
    abut_touch_free(NULL, t);
    b.position = vec3_axpy(b.position, 200 * epsilon, f->way);
    t = find(p, b);
    assert_int_equal(t->status, ABUT_PENETRATING);
    assert_true(t->depth > epsilon && t->depth <= 201 * epsilon);
    abut_touch_free(NULL, t);
    for (int i = 0; i < 2; i++) abut_touch_solid_free(NULL, p[i].ready), abut_solid_free(NULL, p[i].solid);
}

/* The clearances of dovetail and jigsaw are the least distances of the two outlines, worked out in the plane
 * from their coordinates by another program; the MANIFEST's 0.05 and 0.1 are offsets, smaller across the
 * flanks. */

/* Flanks lean by 4 on 10. */
static bool is_dovetail_flank(int solid, vec3 n, vec3 at) {
    (void)solid, (void)at;
    return fabs(fabs(n.y / n.x) - 0.4) < 0.01 && n.z == 0;
}

static void dovetail(void **state) {
    (void)state;
    fit f = {.a = "meshes/solid/dovetail_male.obj",
             .b = "meshes/solid/dovetail_female.obj",
             .rest = pose_identity(),
             .way = {1, 0, 0},
             .clearance = 0.03154502212054845,
             .tolerance = 1e-12,
             .right = is_dovetail_flank,
             .dimension = 2};
    check_fit(&f);
    f.way = vec3_make(0, 1, 0); /* pulled: both flanks */
    check_fit(&f);
}

/* The round head of the knob and the hollow for it: its sides look away from, or to, the axis. */
static bool is_jigsaw_head(int solid, vec3 n, vec3 at) {
    vec3 out = vec3_unit(vec3_make(at.x - 33, at.y - 15, 0));
    return fabs(n.z) < 1e-9 && at.x > 30.5 && (solid == 0 ? 1 : -1) * vec3_dot(n, out) > 0.9;
}

static void jigsaw(void **state) {
    (void)state;
    fit f = {.a = "meshes/solid/jigsaw_knob.obj",
             .b = "meshes/solid/jigsaw_socket.obj",
             .rest = pose_identity(),
             .way = {1, 0, 0},
             .clearance = 0.07586453952602044,
             .tolerance = 1e-12,
             .right = is_jigsaw_head,
             .dimension = 1};
    check_fit(&f);
    f.way = vec3_make(0, 1, 0);
    check_fit(&f);
}

/* Involute flanks (module 2, 12 and 18 teeth): between root and tip, away from the axis' direction and from
 * that of the radius by the angle of pressure or so. */
static bool is_gear_flank(int solid, vec3 n, vec3 at) {
    double pitch = solid == 0 ? 12 : 18, r = sqrt(at.x * at.x + at.y * at.y);
    double radial = fabs(n.x * at.x + n.y * at.y) / r;
    return n.z == 0 && r > pitch - 2.5 && r < pitch + 2 && radial < sin(0.7);
}

static void gears(void **state) {
    (void)state;
    quat q = abut_quat_from_axis_angle((vec3){0, 0, 1}, 3.14159265358979323846 * 19 / 18);
    fit f = {.a = "meshes/solid/gear_z12.obj",
             .b = "meshes/solid/gear_z18.obj",
             .rest = {{30, 0, 0}, q},
             .way = {0, 1, 0},
             .clearance = 0.036,
             .tolerance = 0.0006,
             .right = is_gear_flank,
             .dimension = 1};
    check_fit(&f);
    f.way = vec3_make(0, -1, 0);
    check_fit(&f);
}

/* Flanks of a thread of 60 degrees: the normal leans by 30 from the axis; those of the nut are cut by its
 * ends, where the thread runs out in steeper facets.  Within the depth of the thread. */
static bool is_thread_flank(int solid, vec3 n, vec3 at) {
    double r = sqrt(at.x * at.x + at.y * at.y);
    return fabs(n.z) > (solid == 0 ? 0.85 : 0.3) && fabs(n.z) < 0.88 && r > 4 && r < 5.1;
}

/* The nut two turns up the thread (pitch 1.5 mm), drawn along the axis; and to the side, where crests and
 * roots touch as well. */
static void bolt_in_nut(void **state) {
    (void)state;
    fit f = {.a = "meshes/solid/bolt_m10.obj",
             .b = "meshes/solid/nut_m10.obj",
             .rest = {{0, 0, 3}, {1, 0, 0, 0}},
             .way = {0, 0, 1},
             .clearance = 0.049,
             .tolerance = 0.0006,
             .right = is_thread_flank,
             .dimension = 2};
    check_fit(&f);
}

static bool is_in_thread(int solid, vec3 n, vec3 at) {
    (void)solid;
    double r = sqrt(at.x * at.x + at.y * at.y);
    return fabs(n.z) < 0.9 && r > 4 && r < 5.1;
}

static void bolt_in_nut_sideways(void **state) {
    (void)state;
    check_fit(&(fit){.a = "meshes/solid/bolt_m10.obj",
                     .b = "meshes/solid/nut_m10.obj",
                     .rest = {{0, 0, 3}, {1, 0, 0, 0}},
                     .way = {1, 0, 0},
                     .clearance = 0.049,
                     .tolerance = 0.0006,
                     .right = is_in_thread,
                     .dimension = 2});
}

/* Links of a chain, one turned by a right angle, pulled until their bows hang in each other: both touch on
 * the inner side of the bow, 10 + 5 - 1.6 from the middle along the link (cos(pi / 12) of the tube of twelve
 * sides is nearer). */
static bool is_inner_bow(int solid, vec3 n, vec3 at) {
    return (solid == 0 ? n.x < -0.9 && at.x > 13.3 : n.x > 0.9 && at.x < -13.3) && fabs(at.x) < 13.41;
}

static void chain_links(void **state) {
    (void)state;
    quat q = {0.7071067811865476, 0.7071067811865476, 0, 0};
    check_fit(&(fit){.a = "meshes/solid/chain_link.obj",
                     .b = "meshes/solid/chain_link.obj",
                     .rest = {{24, 0, 0}, q}, /* as in chain3.obj */
                     .way = {1, 0, 0},
                     .clearance = 1.8,
                     .tolerance = 0.001, /* 5 - 2 x 1.6 across, by facets */
                     .right = is_inner_bow,
                     .dimension = 0});
}

/* A square peg, five in a hundred too small for its hole. */
static bool is_side(int solid, vec3 n, vec3 at) {
    (void)at;
    return fabs(n.x - (solid == 0 ? 1 : -1)) < 1e-12;
}

static void peg_in_square_hole(void **state) {
    (void)state;
    check_fit(&(fit){.a = "reference/cases/15-touch-peg-in-hole/a.obj",
                     .b = "reference/cases/15-touch-peg-in-hole/b.obj",
                     .rest = {{0, 0, -2}, {1, 0, 0, 0}},
                     .way = {-1, 0, 0},
                     .clearance = 0.05,
                     .tolerance = 1e-9,
                     .right = is_side,
                     .dimension = 2,
                     .scale = 0.95});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(dovetail),
                                       cmocka_unit_test(jigsaw),
                                       cmocka_unit_test(gears),
                                       cmocka_unit_test(bolt_in_nut),
                                       cmocka_unit_test(bolt_in_nut_sideways),
                                       cmocka_unit_test(chain_links),
                                       cmocka_unit_test(peg_in_square_hole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
