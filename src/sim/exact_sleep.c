/* Near pairs that cannot have met yet: they sleep, and cost nothing until they can.
 *
 * Seen from b, the points of a move with the velocities U(y) = u + w x y.  While U stays what it was when the
 * near pairs were collected, features that a slab of the width d across the normal n separates (in the axes
 * of either body) are still apart after T seconds if
 *
 *     d > c T + |w| |U| T^2 / 2,     c = the largest of -n.U over the ends of one of the features,
 *
 * to second order: n and the ends turn by |w| T against each other.  What U does otherwise (forces, impacts)
 * is bounded for all points of the smaller body and added up over the steps, the stray of the pair of bodies;
 * the higher orders by the factor (1 + |w| T)^2.
 *
 * A pin that turns in its hole has thousands of pairs of edges within a hand's breadth, but they do not come
 * closer: it is the sum over the steps that is small here, whatever the speed of the bodies. */
#include "sim/exact.h"

static double radius_of(const exact *x, int local) { return x->model->bodies[x->bodies[local]].shape.radius; }

/* Whether the points at which motions are compared are those of a. */
static bool a_is_smaller(const exact *x, const exact_pair *p) {
    return radius_of(x, p->a) <= radius_of(x, p->b);
}

static spatial field_of(const exact *x, const exact_pair *p) {
    const motion *a = &x->motions[p->a], *b = &x->motions[p->b];
    vec3 u = vec3_sub(motion_velocity_at(a, b->center), b->velocity.linear);
    vec3 w = vec3_sub(a->velocity.angular, b->velocity.angular);
    return (spatial){quat_unrotate(b->rotation, u), quat_unrotate(b->rotation, w)};
}

void exact_start_field(const exact *x, exact_pair *p, double limit) {
    p->field = field_of(x, p);
    p->since = x->time;
    p->stray = p->straying = 0;
    p->stray_limit = limit;
}

double exact_straying(const exact *x, const exact_pair *p) {
    const motion *a = &x->motions[p->a], *b = &x->motions[p->b];
    spatial now = field_of(x, p);
    vec3 u = vec3_sub(now.linear, p->field.linear), w = vec3_sub(now.angular, p->field.angular);
    bool of_a = a_is_smaller(x, p);
    vec3 y = of_a ? quat_unrotate(b->rotation, vec3_sub(a->center, b->center)) : vec3_zero();
    double r = radius_of(x, of_a ? p->a : p->b);
    return vec3_length(vec3_add(u, vec3_cross(w, y))) + (isfinite(r) ? r * vec3_length(w) : 0);
}

void exact_lay_down(const exact *x, exact_near *n) {
    const exact_pair *p = &x->pairs[n->meeting];
    const motion *a = &x->motions[n->a], *b = &x->motions[n->b];
    near_apart apart;
    n->clear = n->closing = n->bends = 0;
    if (!near_is_apart(&n->pair, a, b, a_is_smaller(x, p), &apart)) return;
    double fastest = 0;
    for (int k = 0; k < 2; k++) {
        vec3 u = vec3_sub(motion_velocity_at(a, apart.ends[k]), motion_velocity_at(b, apart.ends[k]));
        n->closing = fmax(n->closing, -vec3_dot(apart.normal, u));
        fastest = fmax(fastest, vec3_length(u));
    }
    n->clear = apart.distance;
    n->bends = fastest * vec3_length(p->field.angular);
}

static double margin_of(const exact *x) { return 8 * x->model->tolerance.touching; }

/* (1 + |w| t)^2 */
static double higher_orders(const exact_pair *p, double t) {
    double turned = 1 + vec3_length(p->field.angular) * t;
    return turned * turned;
}

near_window exact_window(const exact *x, const exact_pair *p, double h) {
    double more = higher_orders(p, h);
    return (near_window){.reach = p->reach,
                         .turn = p->turn,
                         .base = margin_of(x) + more * p->stray_limit,
                         .time = more * h * (1 + 0.5 * h * vec3_length(p->field.angular))};
}

bool exact_sleeps(const exact *x, const exact_near *n, double time) {
    const exact_pair *p = &x->pairs[n->meeting];
    double margin = margin_of(x), t = time - p->since;
    if (n->clear <= margin) return false;
    double stray = p->stray + p->straying * fmax(time - x->counted, 0);
    double come = n->closing * t + 0.5 * n->bends * t * t + stray;
    return n->clear > margin + higher_orders(p, t) * come;
}
