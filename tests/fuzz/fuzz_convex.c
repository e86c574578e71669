/* Hulls of arbitrary points in arbitrary poses: no crash, no hang, and an answer that is consistent.  The
 * bytes are doubles as they come (NaN, infinities, denormals), or small integers when the first byte is odd,
 * so that degenerate clouds are common. */
#include "convex/hull.h"

typedef struct input {
    const uint8_t *bytes;
    size_t left;
    bool small;
} input;

static double number(input *in) {
    double x = 0;
    if (in->small) {
        if (in->left) x = (int8_t)*in->bytes / 8, in->bytes++, in->left--;
        return x;
    }
    size_t size = in->left < sizeof x ? in->left : sizeof x;
    memcpy(&x, in->bytes, size);
    in->bytes += size, in->left -= size;
    return x;
}

static abut_hull *hull(input *in) {
    vec3 points[40];
    int count = in->left ? *in->bytes % 40 : 0;
    if (in->left) in->bytes++, in->left--;
    for (int i = 0; i < count; i++) points[i] = (vec3){number(in), number(in), number(in)};
    abut_hull *h = NULL;
    abut_error error = {0};
    abut_status status = abut_hull_create(NULL, points, count, &h, &error);
    if ((status == ABUT_OK) != (h != NULL) || (status != ABUT_OK && !error.message[0])) __builtin_trap();
    return h;
}

static abut_pose pose_of(input *in) {
    abut_pose p = {{number(in), number(in), number(in)}, {1, 0, 0, 0}};
    if (in->small) return p;
    p.rotation = (quat){number(in), number(in), number(in), number(in)};
    quat unit = quat_unit(p.rotation);
    if (isfinite(unit.w + unit.x + unit.y + unit.z)) p.rotation = unit;
    return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    input in = {data + 1, size - 1, data[0] & 1};
    abut_hull *g = hull(&in), *h = hull(&in);
    abut_pose pa = pose_of(&in), pb = pose_of(&in);
    if (g && h) {
        abut_convex a = abut_convex_hull(g), b = abut_convex_hull(h);
        abut_convex_point points[128];
        abut_convex_result r = {.points = points, .capacity = 128};
        abut_status status = abut_convex_distance(&a, pa, &b, pb, NULL, NULL, &r, NULL);
        if (status == ABUT_OK &&
            (!(r.growth >= 0) || r.point_count < 1 || r.point_count > abut_convex_capacity(&a, &b)))
            __builtin_trap();
    }
    abut_hull_free(NULL, g), abut_hull_free(NULL, h);
    return 0;
}
