/* Contact regions of parts that fit into each other (shared meshes): apart at rest with the clearance that
 * their MANIFEST states, touching when moved by it, flank on flank, penetrating beyond. */
#include "abut/touch.h"
#include "support.h"

#include <stdio.h>

typedef struct fit {
    const char *a, *b;
    pose rest; /* of B */
    vec3 way;  /* B moves along it until it touches */
    double clearance, tolerance;
} fit;

typedef struct part {
    abut_solid *solid;
    abut_touch_solid *ready;
} part;

static part load(const char *name) {
    char relative[128];
    part p = {NULL, NULL};
    abut_error error = {0};
    snprintf(relative, sizeof relative, "meshes/solid/%s", name);
    if (abut_solid_load(NULL, support_shared(relative), NULL, &p.solid, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(abut_touch_solid_create(NULL, p.solid, &p.ready, NULL), ABUT_OK);
    return p;
}

static abut_touch *find(const part p[2], pose b) {
    abut_touch *t = NULL;
    assert_int_equal(abut_touch_find(NULL, p[0].ready, pose_identity(), p[1].ready, b, NULL, &t, NULL),
                     ABUT_OK);
    return t;
}

static void check_fit(const fit *f) {
    part p[2] = {load(f->a), load(f->b)};
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
    for (int64_t i = 0; i < t->region_count; i++) {
        const abut_touch_region *r = &t->regions[i];
        assert_in_range(r->normal_count, 1, 3 - r->dimension);
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
static void dovetail(void **state) {
    (void)state;
    check_fit(&(fit){
        "dovetail_male.obj", "dovetail_female.obj", pose_identity(), {1, 0, 0}, 0.03154502212054845, 1e-12});
}

static void jigsaw(void **state) {
    (void)state;
    check_fit(&(fit){
        "jigsaw_knob.obj", "jigsaw_socket.obj", pose_identity(), {1, 0, 0}, 0.07586453952602044, 1e-12});
}

static void gears(void **state) {
    (void)state;
    quat q = abut_quat_from_axis_angle((vec3){0, 0, 1}, 3.14159265358979323846 * 19 / 18);
    check_fit(&(fit){"gear_z12.obj", "gear_z18.obj", {{30, 0, 0}, q}, {0, 1, 0}, 0.036, 0.0006});
}

/* The nut two turns up the thread (pitch 1.5 mm). */
static void bolt_in_nut(void **state) {
    (void)state;
    check_fit(&(fit){"bolt_m10.obj", "nut_m10.obj", {{0, 0, 3}, {1, 0, 0, 0}}, {1, 0, 0}, 0.049, 0.0006});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(dovetail), cmocka_unit_test(jigsaw),
                                       cmocka_unit_test(gears), cmocka_unit_test(bolt_in_nut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
