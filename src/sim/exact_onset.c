/* The beginning of slip in the general clock: at several places at once, whose directions hang on each other
 * (dynamics/onset.h). */
#include "dynamics/onset.h"
#include "sim/exact.h"

static vec3 slip_of(const exact *x, const group_contact *c) {
    vec3 u = contact_slip(&c->point, &x->motions[c->a], &x->motions[c->b]);
    return vec3_axpy(u, -vec3_dot(u, c->point.normal), c->point.normal);
}

static double size_of(const exact *x, const group_contact *c) {
    double a = x->model->bodies[x->bodies[c->a]].shape.radius,
           b = x->model->bodies[x->bodies[c->b]].shape.radius;
    return fmin(fmin(a, b), x->model->size);
}

bool exact_onset_find(exact *x) {
    int count = 0;
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
        if (vec3_length(slip_of(x, c)) < slow && along > -ONSET_SLACK * k && fabs(aside) < ONSET_SLACK * k &&
            count++ < ONSET_MOST)
            *o = (exact_onset){.slow = slow, .look = ONSET_LOOK * time, .k = k, .along = d};
    }
    return count > 0;
}

void exact_onset_remember(exact *x) {
    exact_onset_find(x);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        x->touches.data[i].ended = 0;
        x->touches.data[i].slips_on &= x->contacts.data[i].mode == FRICTION_SLIP;
    }
}

/* ---- the directions of an evaluation */

/* What the direction of a place misses, g = p . (u + look u'(d)) / (look k) with p across d; about the angle
 * by which d is to be turned.  Where slip ends slowly w may come to lie against d, by no more than
 * ONSET_SLACK; otherwise that is another solution of g = 0, to be left. */
static double missed_by(const exact *x, int64_t i, double look) {
    const group_contact *c = &x->contacts.data[i];
    vec3 n = c->point.normal;
    vec3 d = vec3_unit(vec3_axpy(c->slip_along, -vec3_dot(c->slip_along, n), n));
    vec3 w = vec3_axpy(slip_of(x, c), look, x->loads.data[i].slip_acceleration);
    double scale = look * x->touches.data[i].onset.k, g = vec3_dot(vec3_cross(n, d), w) / scale;
    return vec3_dot(d, w) < -2 * ONSET_SLACK * scale ? copysign(1, g) : g;
}

/* The directions of the last solution, turned. */
static void turn(exact *x, const exact_turning *t) {
    for (int i = 0; i < t->count; i++) {
        group_contact *c = &x->contacts.data[t->place[i]];
        vec3 n = c->point.normal, d = vec3_unit(vec3_axpy(t->along[i], -vec3_dot(t->along[i], n), n));
        c->slip_along = vec3_unit(vec3_axpy(d, t->turned[i], vec3_cross(n, d)));
    }
}

/* The inverse of dg/dtheta learns from the last turn s, which changed g by y (Broyden's first update):
 *     H += (s - H y) s^T H / (s^T H y) */
static void learn(exact_turning *t, const double *g) {
    double hy[ONSET_MOST] = {0}, sh[ONSET_MOST] = {0}, shy = 0;
    for (int i = 0; i < t->count; i++)
        for (int j = 0; j < t->count; j++) {
            hy[i] += t->inverse[i][j] * (g[j] - t->missed[j]);
            sh[j] += t->turned[i] * t->inverse[i][j];
        }
    for (int i = 0; i < t->count; i++) shy += t->turned[i] * hy[i];
    if (shy == 0) return;
    for (int i = 0; i < t->count; i++)
        for (int j = 0; j < t->count; j++) t->inverse[i][j] += (t->turned[i] - hy[i]) * sh[j] / shy;
}

bool exact_onset_turn(exact *x, exact_turning *t) {
    double g[ONSET_MOST], most = 0;
    int count = 0;
    for (int64_t i = 0; i < x->contacts.count && count < ONSET_MOST; i++) {
        const exact_onset *o = &x->touches.data[i].onset;
        const group_contact *c = &x->contacts.data[i];
        if (!(o->slow > 0) || c->mode != FRICTION_SLIP) continue;
        double look = onset_look(o->look, o->slow, vec3_length(slip_of(x, c)));
        if (!(look > 0)) continue;
        g[count] = missed_by(x, i, look), t->place[count] = i, t->along[count] = c->slip_along;
        most = fmax(most, fabs(g[count++]));
    }
    if (most <= ONSET_ANGLE || t->rounds++ == ONSET_ROUNDS) return false;
    if (t->rounds == 1) /* dg/dtheta = -1, but for the other places and d . w */
        for (int i = 0; i < count; i++) t->inverse[i][i] = -1;
    t->count = count, t->shorter = 0;
    if (t->rounds > 1) learn(t, g);
    for (int i = 0; i < count; i++) {
        double by = 0;
        for (int j = 0; j < count; j++) by -= t->inverse[i][j] * g[j];
        t->missed[i] = g[i], t->turned[i] = fmax(-0.5, fmin(0.5, by));
    }
    turn(x, t);
    return true;
}

/* Where friction opposes another direction there may be no finite force.  A turn that leads there is halved;
 * where the search began there, at what an evaluation left behind whose time was given up, it begins at the
 * directions of the start of the step.  Those are also what a search without an end leaves behind. */
bool exact_onset_back(exact *x, exact_turning *t) {
    enum { SHORTER = 8 };
    if (t->rounds > 0 && t->shorter++ < SHORTER) {
        for (int i = 0; i < t->count; i++) t->turned[i] *= 0.5;
        turn(x, t);
        return true;
    }
    bool any = false;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const exact_onset *o = &x->touches.data[i].onset;
        group_contact *c = &x->contacts.data[i];
        if (!(o->slow > 0) || c->mode != FRICTION_SLIP || !(vec3_length(slip_of(x, c)) < o->slow)) continue;
        c->slip_along = o->along, any = true;
    }
    bool again = any && !t->anew;
    *t = (exact_turning){.anew = true};
    return again;
}

/* ---- at an event */

/* Modes are chosen for friction against the slip as it is.  The steps that follow have it oppose the slip to
 * come: where an event turned that (or the mode of a place beside it changed) the two differ by some degrees,
 * and so may what is pressed and what can stick.  So the modes must hold with the directions of the step.
 * Those that are found for the modes are kept while the modes are chosen anew, until both hold. */
abut_status exact_onset_choose(exact *x, double powers[2], abut_error *error) {
    enum { ROUNDS = 4 };
    for (int64_t i = 0; i < x->contacts.count; i++) x->contacts.data[i].begins = false;
    abut_status status = exact_accelerate(x, x->time, true, false, powers, error);
    for (int round = 0; round < ROUNDS && status == ABUT_OK; round++) {
        if (x->result.outcome != FORCES_SOLVED || !exact_onset_find(x)) break;
        status = exact_accelerate(x, x->time, false, false, powers, error);
        if (status != ABUT_OK || x->result.outcome == FORCES_SOLVED) break;
        bool turned = x->result.outcome == FORCES_CANNOT_STICK;
        for (int64_t i = 0; i < x->contacts.count; i++)
            x->contacts.data[i].begins = turned && x->touches.data[i].onset.slow > 0;
        status = exact_accelerate(x, x->time, true, false, powers, error);
        if (!turned) break;
    }
    return status;
}

/* ---- the end of slip */

/* Slip that ends within tau = |u| / |u'| is ended at once, by the impulse that friction would give until
 * then, less that of the sticking force: velocities after tau are the same but for what the geometry does in
 * tau, |u| tau / T = k tau^2 / T, and places but for |u| tau / 2 = k tau^2 / 2; with T = sqrt(L / k) both are
 * k tau^2 / L of what friction does to the body.  Below a tenth of the integrator's tolerance that is none.
 * (Where slip ends its direction turns like a power of the time that is left: steps would go on shrinking to
 * the last digits.)  It must come to stick: the force that this takes is well inside the cone.
 *
 * Without other changes u' = a - k u/|u| gives (k |u| + a.u)' = a^2 - k^2, so that
 *     tau = (k |u| + a.u) / (k^2 - a^2). */
double exact_slip_left(const exact *x, int64_t item) {
    const group_contact *c = &x->contacts.data[item];
    const contact_load *load = &x->loads.data[item];
    if (c->mode != FRICTION_SLIP || c->face > 0 || x->touches.data[item].slips_on || !(load->normal > 0))
        return INFINITY;
    vec3 u = slip_of(x, c);
    double speed = vec3_length(u);
    if (!(speed > 0)) return INFINITY;
    vec3 d = vec3_scale(u, 1 / speed);
    double k = c->friction.slide * load->normal * exact_mobility(x, c, d);
    vec3 a = vec3_axpy(load->slip_acceleration, k, d);
    double a2 = vec3_length2(a),
           inside = (1 - ONSET_SLACK) * fmin(c->friction.stick / c->friction.slide, 1) * k;
    double tau = (k * speed + vec3_dot(a, u)) / (k * k - a2);
    bool slight = speed * tau < 0.2 * x->model->tolerance.integration * size_of(x, c);
    return a2 < inside * inside && slight ? tau : INFINITY;
}
