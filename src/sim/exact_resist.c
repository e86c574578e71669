/* Rolling and spinning resistance within a step.  As friction does, it goes on opposing the motion of the
 * step's start when that passes through zero, so that the motion is smooth up to the event that ends it:
 *
 *   roll = w - (n . w) n     ends where   roll . roll_start <= 0
 *   spin = n . w             ends where   spin * spin_start <= 0
 *
 * with w the spin of a against b.  Modes are then chosen anew. */
#include "sim/exact_search.h"

enum { ROLL, SPIN, RESISTS };

static vec3 relative_spin(const exact *x, const group_contact *c) {
    return vec3_sub(x->motions[c->a].velocity.angular, x->motions[c->b].velocity.angular);
}

/* rad/s: slower motion has no direction, as in the choice of modes. */
static double slowest(const exact *x) { return fmax(1e-9, 1e-9 * (1 + x->speed) / x->model->size); }

void exact_remember_turns(exact *x) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        exact_touch *t = &x->touches.data[i];
        vec3 w = relative_spin(x, c), n = c->point.normal;
        double spin = vec3_dot(w, n);
        vec3 roll = vec3_axpy(w, -spin, n);
        t->roll_start = vec3_length(roll) > slowest(x) ? vec3_unit(roll) : c->roll_along;
        t->spin_start = fabs(spin) > slowest(x) ? spin : c->spin_along;
    }
}

void exact_follow_turns(const exact *x, const exact_touch *t, group_contact *c) {
    vec3 w = relative_spin(x, c), n = c->point.normal;
    vec3 roll = vec3_axpy(w, -vec3_dot(w, n), n);
    if (c->rolling == FRICTION_SLIP && vec3_length(roll) > slowest(x))
        c->roll_along = vec3_scale(vec3_unit(roll), vec3_dot(roll, t->roll_start) < 0 ? -1 : 1);
    if (c->spinning == FRICTION_SLIP && fabs(vec3_dot(w, n)) > slowest(x) && t->spin_start != 0)
        c->spin_along = t->spin_start;
}

/* What is left of the motion of the step's start; its rate is not needed. */
static bool probe(exact *x, int64_t item, double t, exact_sample *s) {
    const group_contact *c = &x->contacts.data[item / RESISTS];
    const exact_touch *place = &x->touches.data[item / RESISTS];
    exact_near near = {.pair = place->pair, .a = c->a, .b = c->b};
    contact_point p;
    bool faces;
    if (exact_place_two(x, t, c->a, c->b, NULL) != ABUT_OK || !exact_near_at(x, &near, &p, &faces))
        return false;
    vec3 w = relative_spin(x, c);
    double spin = vec3_dot(w, p.normal);
    *s = (exact_sample){.t = t, .rate = NAN};
    s->g = item % RESISTS == SPIN ? (place->spin_start < 0 ? -spin : spin)
                                  : vec3_dot(vec3_axpy(w, -spin, p.normal), place->roll_start);
    return true;
}

void exact_find_turns(exact *x, double t0, double t1, exact_event *best) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        const friction_mode modes[RESISTS] = {[ROLL] = c->rolling, [SPIN] = c->spinning};
        for (int k = 0; k < RESISTS; k++) {
            exact_sample a, b, root;
            int64_t item = RESISTS * i + k;
            if (modes[k] != FRICTION_SLIP) continue;
            if (!probe(x, item, t0, &a) || !probe(x, item, t1, &b) || b.g > 0) continue;
            if (a.g <= 0) { /* what has just begun starts at zero */
                if (!probe(x, item, t0 + (t1 - t0) / 64, &a) || a.g <= 0) continue;
            }
            if (exact_refine(x, item, probe, a, b, &root)) exact_consider(best, EXACT_SLIPS, i, root.t);
        }
    }
}
