/* Bounces without end (Zeno), summed in closed form.  A place that meets with the speed v leaves with e v;
 * while its gap accelerates by -a in flight it is back after 2 e v / a, as fast as it left, and so on:
 *
 *     height of the flight    h = (e v)^2 / (2 a)
 *     all flights together    T = 2 e v / a  (1 + e + e^2 + ...) = 2 e v / (a (1 - e))
 *
 * Once h is below epsilon the bodies are in contact as far as the run can tell: the place is held from then
 * on, its mean force being the one of the bounces.  The impact says how many it stands for (`count`: until
 * they are slower than what counts as approach), and contact-made is told when the last one is over, at T. */
#include "sim/exact.h"

enum { MOST_BOUNCES = 1000000 };

/* The acceleration of the gap in flight, with the accelerations of the step that ended in the impact. */
static double flight_acceleration(const exact *x, const group_contact *c) {
    const motion *a = &x->motions[c->a], *b = &x->motions[c->b];
    const spatial *da = c->a < x->movable ? &x->accelerations[c->a] : &x->prescribed[c->a],
                  *db = c->b < x->movable ? &x->accelerations[c->b] : &x->prescribed[c->b];
    vec3 ra = vec3_sub(c->point.at, a->center), rb = vec3_sub(c->point.at, b->center);
    vec3 ua = vec3_add(da->linear, vec3_cross(da->angular, ra)),
         ub = vec3_add(db->linear, vec3_cross(db->angular, rb));
    return vec3_dot(c->point.normal, vec3_sub(ua, ub)) + contact_gap_drift(&c->point, a, b);
}

int exact_bounces_of(double speed, double e, double slowest) {
    int count = 1;
    for (; speed > slowest && count < MOST_BOUNCES; count++) speed *= e;
    return count;
}

void exact_sum_bounces(exact *x) {
    double epsilon = x->model->tolerance.touching, slow = exact_approach_limit(x);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        exact_touch *t = &x->touches.data[i];
        double e = c->restitution, v = -exact_gap_rate(x, c->a, c->b, &c->point);
        t->bounces = 0;
        if (!(v > slow) || !(e > 0 && e < 1)) continue;
        double a = -flight_acceleration(x, c), rebound = e * v;
        if (!(a > exact_acceleration_limit(x)) || !(rebound * rebound <= 2 * a * epsilon)) continue;
        c->restitution = 0;
        t->bounces = exact_bounces_of(rebound, e, slow);
        if (t->fresh || t->made_at > 0) t->made_at = x->time + 2 * rebound / (a * (1 - e));
    }
}

abut_status exact_tell_made(exact *x, double time, abut_error *error) {
    abut_status status = ABUT_OK;
    for (int64_t i = 0; i < x->touches.count && status == ABUT_OK; i++) {
        const group_contact *c = &x->contacts.data[i];
        double ends = x->touches.data[i].made_at;
        bool told = !(ends > 0 && ends <= time), due = false;
        for (int64_t k = 0; k < x->touches.count && !told; k++) {
            if (x->contacts.data[k].a != c->a || x->contacts.data[k].b != c->b) continue;
            told = x->touches.data[k].made_at == 0;
            due = true;
        }
        if (due && !told)
            status = exact_emit_at(x, exact_contact_event(x, ABUT_EVENT_CONTACT_MADE, (int)i), ends, error);
        if (ends > 0 && ends <= time) x->touches.data[i].made_at = 0;
    }
    return status;
}
