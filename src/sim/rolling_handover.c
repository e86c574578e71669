/* When a contact is handed to reduced coordinates, and when it is handed back. */
#include "sim/rolling.h"

/* Distances, as parts of the free body's radius, within which nothing but the contact may lie: the least with
 * which a hand-over pays, and the largest that is looked at, for then nobody has to look again for long. */
static const double least_clear = 0.005, most_clear = 0.4;

/* ---- whether the group is one contact of smooth surfaces */

static bool is_smooth_side(const exact *x, int local, const element *e) {
    return e->kind == ELEMENT_PATCH ||
           (e->kind == ELEMENT_PLANE &&
            x->model->bodies[x->bodies[local]].shape.shape.kind == ABUT_SHAPE_HALFSPACE);
}

static bool suits(const exact *x) {
    if (x->contacts.count != 1 || x->hinge_count || x->spring_count || x->force_count || x->movable > 2)
        return false;
    const group_contact *c = &x->contacts.data[0];
    const near_pair *p = &x->touches.data[0].pair;
    int free_bodies = (c->a < x->movable) + (c->b < x->movable);
    bool has_friction = c->friction.stick > 0 || c->friction.slide > 0;
    return smooth_is_pair(p) && is_smooth_side(x, c->a, &p->a) && is_smooth_side(x, c->b, &p->b) &&
           free_bodies == x->movable && c->pressed && (c->mode != FRICTION_FREE || !has_friction);
}

/* The present modes hold, and the surfaces do not conform: otherwise the general solver decides. */
static bool holds(const rolling *r) {
    double weight = 0;
    for (int k = 0; k < 2; k++)
        if (r->pair.body[k].inertia->inverse_mass > 0)
            weight += r->pair.body[k].inertia->mass * vec3_length(r->load.acceleration[k].linear);
    weight += vec3_length(r->pair.body[0].wrench.linear);
    const double *k = r->placed.curvature;
    return r->load.normal > 1e-6 * weight && r->load.margin + ROLLING_ALLOWANCE >= 0 &&
           k[0] / k[1] > 2 * ROLLING_CONFORMS;
}

/* ---- whether anything else is near */

static const contact_shape *shape_of(const exact *x, int local) {
    return &x->model->bodies[x->bodies[local]].shape;
}

/* Cuts *clear to the least gap of a pair of bodies at a place other than the contact. */
static abut_status comes_near(exact *x, const exact_pair *p, double *clear, abut_error *error) {
    const contact_shape *a = shape_of(x, p->a), *b = shape_of(x, p->b);
    const motion *ma = &x->motions[p->a], *mb = &x->motions[p->b];
    const group_contact *c = &x->contacts.data[0];
    bool endless = !isfinite(a->radius) || !isfinite(b->radius);
    double far = *clear;
    if (!endless && vec3_distance(ma->center, mb->center) > a->radius + b->radius + far) return ABUT_OK;
    *clear = far = fmin(far, smooth_reach_most(a, b));
    near_array found = {0};
    bool fine = near_collect(&x->run->context, a, ma, b, mb, far, INFINITY, &found);
    double same = 1e-6 * fmin(a->radius, b->radius);
    for (int64_t i = 0; i < found.count && fine && *clear > 0; i++) {
        contact_point q;
        bool faces;
        if (!near_evaluate(&found.data[i], a, ma, b, mb, x->model->tolerance.touching, &q, &faces)) continue;
        bool is_contact = p->a == c->a && p->b == c->b && vec3_distance(q.at, c->point.at) <= same;
        /* extremal places beyond the border of an open surface, or on sides that look away, are none */
        bool none = !faces && smooth_is_pair(&found.data[i]) && b->shape.kind != ABUT_SHAPE_SOLID &&
                    a->shape.kind != ABUT_SHAPE_SOLID;
        if (!is_contact && !none && q.gap >= -far) *clear = fmin(*clear, fmax(q.gap, 0));
    }
    array_free(&x->run->context, &found);
    return fine ? ABUT_OK : fail_memory(error);
}

/* How far everything else may come before somebody has to look again; 0: too near already.  The little
 * distance first: most of the time what is near is very near. */
static abut_status look(exact *x, double radius, double *clear, abut_error *error) {
    abut_status status = ABUT_OK;
    double reaches[] = {least_clear * radius, most_clear * radius};
    for (int k = 0; k < COUNT_OF(reaches) && status == ABUT_OK; k++) {
        *clear = reaches[k];
        for (int i = 0; i < x->pair_count && status == ABUT_OK; i++)
            status = comes_near(x, &x->pairs[i], clear, error);
        if (*clear < reaches[0]) *clear = 0;
        if (*clear == 0) break;
    }
    return status;
}

/* How fast two surfaces can approach: with one body that moves, its own speed. */
static double approach(const exact *x, double speed) {
    bool one = x->movable == 1;
    for (int i = x->movable; i < x->count; i++) one &= !x->model->bodies[x->bodies[i]].kinematic;
    return one ? speed : 2 * speed;
}

/* The longest step that keeps within the clearance, with room for what forces add to the speed. */
static double longest_step(const exact *x) {
    double pull = vec3_length(x->model->world.gravity) + 1e-3;
    double by_speed = 0.6 * x->clear / (approach(x, x->speed) + 1e-12),
           by_force = sqrt(0.4 * x->clear / pull);
    return fmin(by_speed, by_force);
}

/* ---- begin, go on, end */

static abut_status emit(exact *x, abut_event_kind kind, abut_error *error) {
    if (kind == ABUT_EVENT_ROLLING_BEGINS) return exact_emit(x, exact_contact_event(x, kind, 0), error);
    return exact_emit(x, (abut_event){.kind = kind, .body = {x->rolling_body[0], x->rolling_body[1]}}, error);
}

static abut_status end(exact *x, abut_error *error) {
    if (!x->rolls) return ABUT_OK;
    x->rolls = false;
    for (int64_t i = 0; i < x->touches.count; i++) x->touches.data[i].rolls = false;
    return emit(x, ABUT_EVENT_ROLLING_ENDS, error);
}

/* Contact coordinates for the present state, if it is one for them. */
static abut_status prepare(exact *x, bool *fine, abut_error *error) {
    *fine = suits(x) && !x->general_next;
    x->general_next = false;
    if (!*fine) return ABUT_OK;
    abut_status status = rolling_resume(x, fine, error);
    if (status != ABUT_OK || *fine) return status;
    if (!x->rolling) x->rolling = mem_calloc(&x->run->context, 1, sizeof *x->rolling);
    if (!x->rolling) return fail_memory(error);
    x->rolling->context = &x->run->context;
    *fine = rolling_begin(x->rolling, x) && holds(x->rolling);
    return ABUT_OK;
}

abut_status rolling_ready(exact *x, bool *ready, abut_error *error) {
    *ready = x->rolling_goes_on && x->rolling->time == x->time; /* not after time stepping */
    abut_status status = *ready ? ABUT_OK : prepare(x, ready, error);
    if (status == ABUT_OK && *ready && !x->rolling->ahead) {
        exact_measure_speed(x);
        double wanted = rolling_looks_ahead(x) ? INFINITY : x->end - x->time;
        if (x->pace.hint > 0) wanted = fmin(wanted, x->pace.hint);
        double radius = shape_of(x, x->rolling->one)->radius;
        contact_point p;
        if (rolling_appeared(x, &p) && p.gap < least_clear * radius)
            x->clear = 0;
        else if (!x->rolls || longest_step(x) < wanted)
            status = look(x, radius, &x->clear, error);
        *ready = x->clear > 0;
    }
    if (status != ABUT_OK) return status;
    x->rolling_goes_on = *ready;
    if (!*ready) return end(x, error);
    if (x->rolls) return ABUT_OK;
    x->rolls = true;
    x->rolling_body[0] = x->bodies[x->contacts.data[0].a];
    x->rolling_body[1] = x->bodies[x->contacts.data[0].b];
    return emit(x, ABUT_EVENT_ROLLING_BEGINS, error);
}

abut_status rolling_go(exact *x, exact_event *e, abut_error *error) {
    double start = x->time, before = x->speed;
    abut_status status = rolling_step(x->rolling, longest_step(x), e, error);
    if (status == ABUT_FAILED) { /* no step can be made: nothing was moved, and the general clock goes on */
        *e = (exact_event){EXACT_SLIPS, 0, start};
        status = ABUT_OK;
    }
    x->rolling_goes_on = status == ABUT_OK && e->kind == EXACT_NOTHING;
    x->touches.data[0].rolls = true;
    x->near_until = x->time; /* the general clock has to collect again */
    exact_measure_speed(x);
    x->clear -= approach(x, fmax(before, x->speed)) * (x->time - start);
    if (x->rolling->appeared) x->clear = 0; /* somebody has to look */
    x->touches.data[0].clear = x->clear = fmax(x->clear, 0);
    /* a normal force that vanishes, or a step that made no way: the general clock decides */
    x->general_next = e->kind == EXACT_VANISHES || (e->kind != EXACT_NOTHING && x->time == start);
    return status;
}
