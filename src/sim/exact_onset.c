/* The beginning of slip.
 *
 * Where a sticking point begins to slip, its slip u and its acceleration u' are zero: u grows with the square
 * of time.  Friction turns u towards the direction d* in which u' alone would grow,
 *
 *     |u| theta' = -k (theta - theta*),     k = mu N m,     m the mobility of the point across u,
 *
 * within |u| / k: for an explicit method that is stiff, and where u begins, without end.  While a point that
 * began to slip is slower than `slow`, its friction therefore opposes the slip that it will have after
 * `look`:
 *
 *     d = w / |w|,     w = u + look u'(d)
 *
 * which is an equation for d, as the forces hang on it, and turns u within |u| / k + look.  Inserted: d lags
 * behind d* by |u| / k theta*', for every look, as it does without it; the rest is of second order, and the
 * slip is off by slow look theta*' at most.  With T = sqrt(L / k), the time in which friction would move the
 * body by its size L,
 *
 *     slow = 1e-5 k T,   look = 1e-4 T:     slow look theta*' = 1e-9 L theta*',
 *
 * 1e-9 of the speed at which a body that turns like d* moves: the integrator's own tolerance.  The factors
 * share it so that neither the steps before u = slow (of some look) nor those after it (of some slow / k) are
 * many. */
#include "sim/exact.h"

#define ONSET_SLOW  1e-5
#define ONSET_LOOK  1e-4
#define ONSET_SLACK 0.1
/* The direction is found to this angle: far less than what the integrator's tolerance allows k h to err. */
#define ONSET_ANGLE 1e-9

enum { ROUNDS = 12 };

static vec3 slip_of(const exact *x, const group_contact *c) {
    vec3 u = contact_slip(&c->point, &x->motions[c->a], &x->motions[c->b]);
    return vec3_axpy(u, -vec3_dot(u, c->point.normal), c->point.normal);
}

static double size_of(const exact *x, const group_contact *c) {
    double a = x->model->bodies[x->bodies[c->a]].shape.radius,
           b = x->model->bodies[x->bodies[c->b]].shape.radius;
    return fmin(fmin(a, b), x->model->size);
}

void exact_onset_remember(exact *x) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        const contact_load *load = &x->loads.data[i];
        exact_onset *o = &x->touches.data[i].onset;
        *o = (exact_onset){0};
        if (c->mode != FRICTION_SLIP || c->face > 0) continue;
        vec3 d = c->slip_along, across = vec3_cross(c->point.normal, d);
        double k = c->friction.slide * load->normal * exact_mobility(x, c, across);
        if (!(k > 0)) continue;
        double time = sqrt(size_of(x, c) / k), slow = ONSET_SLOW * k * time;
        /* on the slow motion: u' is next to nothing across u, and against it no more than a tenth of what
         * friction can do; otherwise steps of |u| / k are few */
        double along = vec3_dot(load->slip_acceleration, d),
               aside = vec3_dot(load->slip_acceleration, across);
        if (vec3_length(slip_of(x, c)) < slow && along > -ONSET_SLACK * k && fabs(aside) < ONSET_SLACK * k)
            *o = (exact_onset){.slow = slow, .look = ONSET_LOOK * time, .k = k};
    }
}

/* How far ahead the slip u is looked at: less as it comes to be fast, without a jump in the rate. */
static double look_of(const exact_onset *o, double speed) {
    double rest = 1 - speed / o->slow;
    return rest > 0 ? o->look * rest * rest : 0;
}

/* Newton's step of g(theta) = p . (u + look u'(d)), p across d, dg/dtheta = -(look k + d . w), by the secant
 * once there is one; whether d was turned. */
static bool turn(exact *x, int64_t i, int round) {
    group_contact *c = &x->contacts.data[i];
    exact_onset *o = &x->touches.data[i].onset;
    vec3 u = slip_of(x, c), n = c->point.normal;
    double look = o->slow > 0 ? look_of(o, vec3_length(u)) : 0;
    if (!(look > 0)) return false;
    vec3 d = vec3_unit(vec3_axpy(c->slip_along, -vec3_dot(c->slip_along, n), n)), p = vec3_cross(n, d);
    vec3 w = vec3_axpy(u, look, x->loads.data[i].slip_acceleration);
    double g = vec3_dot(p, w), slope = fmax(look * o->k + vec3_dot(d, w), 0.2 * look * o->k);
    if (fabs(g) <= ONSET_ANGLE * slope) return false;
    double secant = round > 0 && o->turned != 0 ? (o->missed - g) / o->turned : slope;
    if (secant > 0.2 * slope && secant < 5 * slope) slope = secant;
    o->missed = g, o->turned = fmax(-0.5, fmin(0.5, g / slope));
    c->slip_along = vec3_unit(vec3_axpy(d, o->turned, p));
    return true;
}

bool exact_onset_turn(exact *x, int round) {
    bool turned = false;
    for (int64_t i = 0; i < x->contacts.count && round < ROUNDS; i++)
        if (x->contacts.data[i].mode == FRICTION_SLIP && turn(x, i, round)) turned = true;
    return turned;
}
