/* The overlap that certificates measure, for every pair of shapes against the depth it was made with. */
#include "record/overlap.h"
#include "support.h"

#include <math.h>
#include <stdio.h>

#define EPSILON 1e-7

/* A shape centred at the origin, how far it reaches up and down there, and whether its top and bottom are
 * flat. */
typedef struct sample {
    const char *name;
    abut_shape shape;
    double up, down;
    quat turn;
    abut_index *index;
} sample;

enum { SAMPLES = 11 };

static abut_solid *box_solid(double x, double y, double z) {
    abut_solid *s = NULL;
    assert_int_equal(abut_solid_box(NULL, x, y, z, &s, NULL), ABUT_OK);
    return s;
}

static abut_solid *prism_solid(void) {
    const double outline[][2] = {{-0.4, -0.4}, {0.5, -0.4}, {0.5, 0.3}, {0.3, 0.3}, {0.3, 0.6}, {-0.4, 0.6}};
    abut_solid *s = NULL;
    assert_int_equal(abut_solid_prism(NULL, outline, 6, 0.4, &s, NULL), ABUT_OK);
    return s;
}

static quat about_x(double angle) { return (quat){cos(angle / 2), sin(angle / 2), 0, 0}; }

static void make(sample out[SAMPLES]) {
    const quat none = {1, 0, 0, 0};
    abut_solid *block = box_solid(1, 0.8, 0.5), *prism = prism_solid();
    const abut_shape cylinder = {.kind = ABUT_SHAPE_CYLINDER, .radius = 0.4, .length = 0.6},
                     capsule = {.kind = ABUT_SHAPE_CAPSULE, .radius = 0.2, .length = 0.5};
    int n = 0;
    out[n++] = (sample){"box", {.kind = ABUT_SHAPE_SOLID, .solid = block}, 0.25, 0.25, none, NULL};
    out[n++] = (sample){"prism", {.kind = ABUT_SHAPE_SOLID, .solid = prism}, 0.2, 0.2, none, NULL};
    out[n++] = (sample){"sphere", {.kind = ABUT_SHAPE_SPHERE, .radius = 0.3}, 0.3, 0.3, none, NULL};
    out[n++] =
        (sample){"ellipsoid", {.kind = ABUT_SHAPE_ELLIPSOID, .axes = {0.5, 0.4, 0.3}}, 0.3, 0.3, none, NULL};
    out[n++] = (sample){"ellipsoid on its side",
                        {.kind = ABUT_SHAPE_ELLIPSOID, .axes = {0.5, 0.4, 0.3}},
                        0.4,
                        0.4,
                        about_x(acos(-1.0) / 2),
                        NULL};
    out[n++] = (sample){"capsule", capsule, 0.45, 0.45, none, NULL};
    out[n++] = (sample){"capsule that lies", capsule, 0.2, 0.2, about_x(acos(-1.0) / 2), NULL};
    double lean = 0.25 * cos(0.4) + 0.2;
    out[n++] = (sample){"capsule that leans", capsule, lean, lean, about_x(0.4), NULL};
    out[n++] = (sample){"cylinder", cylinder, 0.3, 0.3, none, NULL};
    out[n++] = (sample){"cylinder that lies", cylinder, 0.4, 0.4, about_x(acos(-1.0) / 2), NULL};
    out[n++] = (sample){"sphere again", {.kind = ABUT_SHAPE_SPHERE, .radius = 0.05}, 0.05, 0.05, none, NULL};
    assert_int_equal(n, SAMPLES);
    for (int i = 0; i < 2; i++)
        assert_int_equal(abut_index_build(NULL, out[i].shape.solid, NULL, &out[i].index, NULL), ABUT_OK);
}

static void release(sample s[SAMPLES]) {
    for (int i = 0; i < 2; i++) {
        abut_index_free(NULL, s[i].index);
        abut_solid_free(NULL, (abut_solid *)s[i].shape.solid);
    }
}

static overlap_shape ready(const sample *s) {
    vec3 wide = {2, 2, 2};
    return (overlap_shape){.shape = &s->shape, .index = s->index, .bounds = {vec3_neg(wide), wide}};
}

/* Where the extreme point of a shape is, to put those of two shapes on each other: of the leaning capsule
 * beside its middle. */
static double beside(const sample *s) {
    return strcmp(s->name, "capsule that leans") == 0 ? -0.25 * sin(0.4) : 0; /* y of the upper end */
}

/* One on top of the other with a given overlap of their extreme points along the vertical: for shapes that
 * are convex there and have a vertical normal that is the depth. */
static void every_pair_has_the_depth_it_was_made_with(void **state) {
    (void)state;
    sample s[SAMPLES];
    make(s);
    const double depths[] = {-1e-3, -1e-6, 3e-7, 1e-5, 2e-4, 3e-3, 2e-2};
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < SAMPLES; j++)
            for (size_t k = 0; k < sizeof depths / sizeof depths[0]; k++) {
                /* a shift in the plane, so that faces and edges of solids do not lie in each other's */
                bool solids = i < 2 && j < 2;
                pose below = {{0, -beside(&s[i]), 0}, s[i].turn},
                     above = {{solids ? 0.031 : 0, (solids ? 0.017 : 0) + beside(&s[j]),
                               s[i].up + s[j].down - depths[k]},
                              s[j].turn};
                overlap_shape a = ready(&s[i]), b = ready(&s[j]);
                double wanted = depths[k] > EPSILON ? depths[k] : 0,
                       found = overlap_depth(&a, below, &b, above, EPSILON),
                       turned = overlap_depth(&b, above, &a, below, EPSILON);
                /* one per cent of the depth, and epsilon / 2 for the tolerance at which places are told */
                double allowed = 0.02 * wanted + EPSILON;
                if (fabs(found - wanted) > allowed || fabs(turned - wanted) > allowed)
                    fail_msg("%s on %s, deep %g: %g, and the other way round %g", s[j].name, s[i].name,
                             wanted, found, turned);
            }
    release(s);
}

static void every_shape_in_a_half_space_and_a_cavity(void **state) {
    (void)state;
    sample s[SAMPLES];
    make(s);
    abut_shape ground = {.kind = ABUT_SHAPE_HALFSPACE, .normal = {0, 0, 2}, .offset = 1};
    abut_shape cavity = {.kind = ABUT_SHAPE_CAVITY, .radius = 3};
    vec3 endless = {INFINITY, INFINITY, INFINITY};
    overlap_shape g = {.shape = &ground, .bounds = {vec3_neg(endless), endless}},
                  c = {.shape = &cavity, .bounds = {vec3_neg(endless), endless}};
    const pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
    for (int i = 0; i < SAMPLES; i++)
        for (int k = 0; k < 3; k++) {
            double depth = k == 0 ? -1e-4 : k == 1 ? 1e-5 : 1e-2, wanted = fmax(depth, 0);
            overlap_shape a = ready(&s[i]);
            pose on = {{0.3, 0.2, 0.5 + s[i].down - depth}, s[i].turn};
            double found = overlap_depth(&a, on, &g, origin, EPSILON);
            if (fabs(found - wanted) > 1e-9)
                fail_msg("%s in the ground: %g, not %g", s[i].name, found, wanted);
            /* spheres and what is round at the bottom: the lowest point touches where the curvature is
             * sharper than that of the cavity */
            bool round = i == 2 || i == 5 || i == 10;
            pose in = {{0, 0, -3 + s[i].down - depth}, s[i].turn};
            found = overlap_depth(&a, in, &c, origin, EPSILON);
            if (round && fabs(found - wanted) > 1e-9)
                fail_msg("%s in the cavity: %g, not %g", s[i].name, found, wanted);
        }
    /* a box deep in a cavity: its lower corners; a cylinder: its lower rim */
    overlap_shape block = ready(&s[0]), cylinder = ready(&s[8]);
    pose low = {{0, 0, -2.7}, {1, 0, 0, 0}};
    double corner = sqrt(0.5 * 0.5 + 0.4 * 0.4 + 2.95 * 2.95) - 3, rim = sqrt(0.4 * 0.4 + 3.0 * 3.0) - 3;
    assert_true(fabs(overlap_depth(&block, low, &c, origin, EPSILON) - corner) < 1e-9);
    assert_true(fabs(overlap_depth(&cylinder, low, &c, origin, EPSILON) - rim) < 1e-9);
    release(s);
}

/* A capsule across an edge and a corner of a box, where the nearest place is neither a face nor its own end.
 */
static void a_capsule_on_an_edge_and_a_corner(void **state) {
    (void)state;
    sample s[SAMPLES];
    make(s);
    overlap_shape block = ready(&s[0]), capsule = ready(&s[6]);
    const double deep = 1.7e-4, half = sqrt(0.5);
    /* along y, beside the edge that runs along y at x = 0.5, z = 0.25: from it by (1, 0, 1) / sqrt 2 */
    pose at = {{0, 0, 0}, {1, 0, 0, 0}},
         p = {{0.5 + half * (0.2 - deep), 0.03, 0.25 + half * (0.2 - deep)}, s[6].turn};
    double found = overlap_depth(&capsule, p, &block, at, EPSILON);
    if (fabs(found - deep) > 1e-6) fail_msg("on an edge: %g", found);
    double third = sqrt(1.0 / 3), away = third * (0.2 - deep);
    /* its end at the corner (0.5, 0.4, 0.25), beyond it along (1, 1, 1): the core runs on to larger y */
    p = (pose){{0.5 + away, 0.4 + away + 0.25, 0.25 + away}, s[6].turn};
    found = overlap_depth(&capsule, p, &block, at, EPSILON);
    if (fabs(found - deep) > 1e-6) fail_msg("on a corner: %g", found);
    release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_the_depth_it_was_made_with),
        cmocka_unit_test(every_shape_in_a_half_space_and_a_cavity),
        cmocka_unit_test(a_capsule_on_an_edge_and_a_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
