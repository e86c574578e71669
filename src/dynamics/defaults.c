/* Default definitions and the words of the lists of abut/world.h. */
#include "abut/world.h"
#include "base/base.h"

#include <math.h>

static const char *const shape_names[] = {
#define NAME(name, word) word,
    ABUT_SHAPE_LIST(NAME)
#undef NAME
};
static const char *const hinge_names[] = {
#define NAME(name, word, rows) word,
    ABUT_HINGE_LIST(NAME)
#undef NAME
};

const char *abut_shape_name(abut_shape_kind kind) {
    return (unsigned)kind < (unsigned)COUNT_OF(shape_names) ? shape_names[kind] : "unknown";
}

const char *abut_hinge_name(abut_hinge_kind kind) {
    return (unsigned)kind < (unsigned)COUNT_OF(hinge_names) ? hinge_names[kind] : "unknown";
}

abut_shape abut_shape_solid(const abut_solid *solid) {
    return (abut_shape){.kind = ABUT_SHAPE_SOLID, .solid = solid};
}

abut_shape abut_shape_sphere(double radius) {
    return (abut_shape){.kind = ABUT_SHAPE_SPHERE, .radius = radius};
}

abut_shape abut_shape_cavity(double radius) {
    return (abut_shape){.kind = ABUT_SHAPE_CAVITY, .radius = radius};
}

abut_shape abut_shape_ellipsoid(double a, double b, double c) {
    return (abut_shape){.kind = ABUT_SHAPE_ELLIPSOID, .axes = {a, b, c}};
}

abut_shape abut_shape_capsule(double radius, double length) {
    return (abut_shape){.kind = ABUT_SHAPE_CAPSULE, .radius = radius, .length = length};
}

abut_shape abut_shape_cylinder(double radius, double height) {
    return (abut_shape){.kind = ABUT_SHAPE_CYLINDER, .radius = radius, .length = height};
}

abut_shape abut_shape_halfspace(abut_vec3 normal, double offset) {
    return (abut_shape){.kind = ABUT_SHAPE_HALFSPACE, .normal = normal, .offset = offset};
}

abut_body_def abut_default_body(void) {
    return (abut_body_def){.cookie = ABUT_DEF_COOKIE,
                           .rotation = {1, 0, 0, 0},
                           .density = 1000,
                           .material = -1,
                           .color = {0.7f, 0.7f, 0.7f, 1}};
}

abut_watch_def abut_default_watch(void) { return (abut_watch_def){.cookie = ABUT_DEF_COOKIE}; }

abut_hinge_def abut_default_hinge(void) {
    return (abut_hinge_def){.cookie = ABUT_DEF_COOKIE,
                            .b = -1,
                            .axis = {0, 0, 1},
                            .motor_max_force = INFINITY,
                            .break_force = INFINITY};
}

abut_world_def abut_default_world(void) {
    return (abut_world_def){.cookie = ABUT_DEF_COOKIE,
                            .gravity = {0, 0, -9.81},
                            .duration = 5,
                            .frame = 1.0 / 60,
                            .step = 1.0 / 60,
                            .substeps = 4,
                            .tolerance = {.integration = 1e-9, .event = 1e-9}};
}
