/* The hinges of a recording, looked at again: points and directions that the scene gives in world axes at
 * time 0 are carried along by the recorded motions of both bodies, and compared.
 *
 *     d = point of a - point of b, n = axis carried by b, m = axis carried by a
 *
 *     ball, universal    d = 0
 *     pin                d = 0, m = n              weld   d = 0, both turned alike
 *     slider             d along n, both turned alike
 *     cylinder, screw    d along n, m = n          planar d across n, m = n
 *     rod                |d| as at time 0          point_on_plane d across n, point_on_line d along n
 *
 * An angle counts as the way of a point of the smaller body. */
#include "record/certify.h"

static abut_motion motion_of(const abut_motion *motions, int body) {
    return body < 0 ? (abut_motion){.rotation = quat_identity()} : motions[body];
}

/* Where a point of the world at time 0 is now, as part of a body. */
static vec3 carried_point(const certifier *c, int body, vec3 at) {
    abut_motion then = motion_of(c->first, body), now = motion_of(c->motions, body);
    vec3 arm = quat_unrotate(then.rotation, vec3_sub(at, then.center));
    return vec3_add(now.center, quat_rotate(now.rotation, arm));
}

static vec3 carried_direction(const certifier *c, int body, vec3 axis) {
    abut_motion then = motion_of(c->first, body), now = motion_of(c->motions, body);
    return quat_rotate(now.rotation, quat_unrotate(then.rotation, axis));
}

static double across(vec3 d, vec3 n) { return vec3_length(vec3_axpy(d, -vec3_dot(d, n), n)); }

/* By how much a is turned otherwise than b since time 0: how far apart the tips of axes come. */
static double turned(const certifier *c, int a, int b) {
    double worst = 0;
    for (int k = 0; k < 3; k++) {
        vec3 e = vec3_make(k == 0, k == 1, k == 2);
        worst = fmax(worst, vec3_distance(carried_direction(c, a, e), carried_direction(c, b, e)));
    }
    return worst;
}

static double open_by(const certifier *c, const abut_hinge_def *h, double lever) {
    vec3 n = carried_direction(c, h->b, vec3_unit(h->axis)),
         m = carried_direction(c, h->a, vec3_unit(h->axis));
    bool rod = h->kind == ABUT_HINGE_ROD;
    vec3 d = vec3_sub(carried_point(c, h->a, h->at), carried_point(c, h->b, rod ? h->at_b : h->at));
    double along = fabs(vec3_dot(d, n)), tilt = lever * vec3_distance(m, n);
    switch (h->kind) {
    case ABUT_HINGE_BALL: return vec3_length(d);
    case ABUT_HINGE_UNIVERSAL: return vec3_length(d);
    case ABUT_HINGE_PIN: return fmax(vec3_length(d), tilt);
    case ABUT_HINGE_WELD: return fmax(vec3_length(d), lever * turned(c, h->a, h->b));
    case ABUT_HINGE_SLIDER: return fmax(across(d, n), lever * turned(c, h->a, h->b));
    case ABUT_HINGE_CYLINDER:
    case ABUT_HINGE_SCREW: return fmax(across(d, n), tilt);
    case ABUT_HINGE_PLANAR: return fmax(along, tilt);
    case ABUT_HINGE_ROD: return fabs(vec3_length(d) - vec3_distance(h->at, h->at_b));
    case ABUT_HINGE_POINT_ON_PLANE: return along;
    case ABUT_HINGE_POINT_ON_LINE: return across(d, n);
    }
    return 0;
}

void certify_hinges(certifier *c, double time) {
    for (int i = 0; i < c->world->hinge_count; i++) {
        const abut_hinge_def *h = &c->world->hinges[i];
        if (time >= c->breaks[i]) continue;
        double lever = INFINITY;
        for (int k = 0; k < 2; k++) {
            int body = k ? h->b : h->a;
            if (body >= 0) lever = fmin(lever, c->balls[body].radius);
        }
        double open = open_by(c, h, isfinite(lever) ? lever : 0);
        if (!(open > c->out->hinge_error)) continue;
        c->out->hinge_error = open, c->out->hinge_time = time, c->out->hinge = i;
    }
}
