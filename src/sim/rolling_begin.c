/* Into reduced coordinates: from the bodies and the place of their contact; or on from a step that an earlier
 * frame began.
 *
 *      frame          frame          frame          frame
 *   ─────┼──────────────┼──────────────┼──────────────┼─────
 *           ├──────────── a step ───────────┤
 *
 * Steps do not end with frames: where nothing in the group is a function of time, and no place can appear
 * that nobody knows, the integrator goes as far as its errors and the clearance allow, and frames are read
 * off the dense output.  The group of the next frame goes on with the step if the pairs of bodies that may
 * meet are still the same; otherwise it begins anew from where the frame left it.  A run that was restored in
 * the middle of a step makes it again from its start (run_ahead), with the same bits. */
#include "sim/rolling.h"

_Static_assert((int)ROLLING_NUMBERS == (int)AHEAD_NUMBERS,
               "a step that is remembered has all numbers of the state");

/* m/s, rad/s, with the speed of the group added to one: slower slides have no direction.  A tenth of what
 * sticks when modes are chosen (exact_accelerate), so that a slide which ends does. */
#define LEAST_SPEED 1e-9

static reduced_side side_of(const exact *x, int local, const element *e) {
    if (e->kind == ELEMENT_PATCH)
        return (reduced_side){x->model->bodies[x->bodies[local]].shape.atlas,
                              e->patch,
                              e->p,
                              {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    vec3 t = vec3_orthogonal(e->d);
    return (reduced_side){NULL, 0, e->p, {t, vec3_cross(e->d, t), e->d}};
}

/* Where the contact is on each side.  A plane has its coordinates from the place on the other. */
static void find_places(rolling *r, const element *e[2], const motion *m[2]) {
    for (int k = 0; k < 2; k++) r->state.place[k][0] = e[k]->u, r->state.place[k][1] = e[k]->v;
    for (int k = 0; k < 2; k++) {
        if (r->pair.side[k].surface) continue;
        const reduced_side *other = &r->pair.side[1 - k];
        abut_partials p;
        abut_surface_evaluate(other->surface, other->patch, e[1 - k]->u, e[1 - k]->v, 0, &p);
        vec3 at = vec3_add(m[1 - k]->center, quat_rotate(m[1 - k]->rotation, vec3_add(p.c, other->origin)));
        vec3 local = quat_unrotate(m[k]->rotation, vec3_sub(at, m[k]->center));
        vec3 d = vec3_sub(local, r->pair.side[k].origin);
        r->state.place[k][0] = vec3_dot(d, r->pair.side[k].frame.cx);
        r->state.place[k][1] = vec3_dot(d, r->pair.side[k].frame.cy);
    }
}

void rolling_tell_point(const rolling *r, contact_point *p) {
    *p = r->placed.point;
    if (r->flipped) p->normal = vec3_neg(p->normal), p->normal_rate = vec3_neg(p->normal_rate);
}

void rolling_find_starts(rolling *r, const group_contact *c) {
    double sign = r->flipped ? -1 : 1, least = LEAST_SPEED * (1 + r->x->speed);
    vec3 w = r->placed.spin, n = r->placed.normal, roll = vec3_axpy(w, -vec3_dot(w, n), n);
    r->pair.slip.least = r->pair.roll.least = least;
    r->pair.slip.start =
        vec3_length(r->placed.slip) > least ? vec3_unit(r->placed.slip) : vec3_scale(c->slip_along, sign);
    r->pair.roll.start = vec3_length(roll) > least ? vec3_unit(roll) : vec3_scale(c->roll_along, sign);
    double spin = vec3_dot(w, n);
    r->pair.spin_start = fabs(spin) > least ? (spin < 0 ? -1 : 1) : c->spin_along < 0 ? -1 : 1;
}

bool rolling_find_onset(rolling *r) {
    const exact *x = r->x;
    double one = x->model->bodies[x->bodies[r->one]].shape.radius,
           two = x->model->bodies[x->bodies[r->two]].shape.radius;
    return reduced_find_onset(&r->pair, &r->placed, &r->base, r->base_rotation, &r->load,
                              fmin(fmin(one, two), x->model->size));
}

/* The two bodies, their surfaces and modes, as the group has them now. */
static void bind(rolling *r, exact *x) {
    const group_contact *c = &x->contacts.data[0];
    const near_pair *pair = &x->touches.data[0].pair;
    r->x = x;
    r->flipped = c->a >= x->movable;
    r->one = r->flipped ? c->b : c->a, r->two = r->flipped ? c->a : c->b;
    const element *e[2] = {r->flipped ? &pair->b : &pair->a, r->flipped ? &pair->a : &pair->b};
    r->pair = (reduced_pair){.side = {side_of(x, r->one, e[0]), side_of(x, r->two, e[1])},
                             .body = {{.inertia = &x->inertias[r->one]}, {.inertia = &x->inertias[r->two]}},
                             .friction = c->friction,
                             .mode = c->mode,
                             .rolling = c->rolling,
                             .spinning = c->spinning};
    r->pair.body[1].acceleration = x->prescribed[r->two];
    r->base = x->motions[r->two], r->base_rotation = quat_matrix(r->base.rotation), r->base_known = true;
    r->time = x->time;
}

bool rolling_begin(rolling *r, exact *x) {
    const near_pair *pair = &x->touches.data[0].pair;
    bind(r, x);
    const element *e[2] = {r->flipped ? &pair->b : &pair->a, r->flipped ? &pair->a : &pair->b};
    const motion *m[2] = {&x->motions[r->one], &x->motions[r->two]};
    find_places(r, e, m);
    r->running = r->ahead = false;
    if (!reduced_coordinates(&r->pair, m[0], m[1], &r->state) ||
        !reduced_place(&r->pair, &r->state, &r->base, r->base_rotation, &r->placed))
        return false;
    rolling_find_starts(r, &x->contacts.data[0]);
    rolling_tell_point(r, &x->contacts.data[0].point);
    rolling_pack(r, &r->state, r->y);
    if (rolling_load(r, r->powers, NULL) != ABUT_OK ||
        (rolling_find_onset(r) && rolling_load(r, r->powers, NULL) != ABUT_OK))
        return false;
    rolling_monitor(r, r->monitored);
    r->loaded = true;
    return true;
}

/* ---- steps that go beyond the frame */

bool rolling_looks_ahead(const exact *x) { return !x->timed && !rolling_can_appear(x); }

/* Which pairs of bodies the group has. */
static uint64_t pairs_of(const exact *x) {
    uint64_t h = hash64(&x->pair_count, sizeof x->pair_count, 7);
    for (int i = 0; i < x->pair_count; i++) {
        int bodies[2] = {x->bodies[x->pairs[i].a], x->bodies[x->pairs[i].b]};
        h = hash64(bodies, sizeof bodies, h);
    }
    return h;
}

void rolling_remember(rolling *r, double end) {
    const ode *o = &r->integrator;
    r->step = (run_ahead){.body = r->x->bodies[r->one],
                          .pairs = pairs_of(r->x),
                          .start = o->t,
                          .end = end,
                          .hint = o->h,
                          .last_error = o->last_error,
                          .slip = r->pair.slip,
                          .roll = r->pair.roll,
                          .spin_start = r->pair.spin_start};
    memcpy(r->step.y, o->y, (size_t)o->size * sizeof(double));
}

static void recall_starts(rolling *r) {
    r->pair.slip = r->step.slip, r->pair.roll = r->step.roll;
    r->pair.spin_start = r->step.spin_start;
}

/* Makes the remembered step again. */
static abut_status make_again(rolling *r, abut_error *error) {
    memcpy(r->y, r->step.y, sizeof r->y);
    r->loaded = r->running = false;
    abut_status status = rolling_start_integrator(r, r->step.start, r->step.hint, error);
    if (status != ABUT_OK) return status;
    memcpy(r->counted, r->step.counted, sizeof r->counted);
    r->integrator.last_error = r->step.last_error;
    rolling_monitor(r, r->monitored);
    return rolling_make_step(r, r->step.end, error);
}

abut_status rolling_resume(exact *x, bool *resumed, abut_error *error) {
    ahead_item *item = NULL;
    const group_contact *c = &x->contacts.data[0];
    int one = x->bodies[c->a >= x->movable ? c->b : c->a];
    *resumed = false;
    for (int64_t i = 0; i < x->run->aheads.count && !item; i++)
        if (x->run->aheads.data[i].step.body == one) item = &x->run->aheads.data[i];
    if (!item || x->rolling || item->step.pairs != pairs_of(x)) return ABUT_OK;
    rolling *r = x->rolling = item->made ? item->made : mem_calloc(&x->run->context, 1, sizeof *r);
    if (!r) return fail_memory(error);
    bool again = !item->made;
    item->made = NULL;
    r->step = item->step, r->context = &x->run->context;
    bind(r, x);
    recall_starts(r);
    r->error = error;
    abut_status status = again ? make_again(r, error) : ABUT_OK;
    *resumed = status == ABUT_OK && r->ahead;
    return status == ABUT_NO_MEMORY ? status : ABUT_OK;
}

abut_status rolling_keep_ahead(exact *x, abut_error *error) {
    rolling *r = x->rolling;
    if (!r || !x->rolls || !x->rolling_goes_on || !r->ahead) return ABUT_OK;
    memcpy(r->step.counted, r->counted, sizeof r->counted); /* up to the end of the frame */
    ahead_item item = {r->step, r};
    if (!array_push(&x->run->context, &x->account->aheads, item)) return fail_memory(error);
    x->rolling = NULL;
    return ABUT_OK;
}

bool rolling_knows_load(exact *x) {
    for (int64_t i = 0; i < x->run->aheads.count && x->contacts.count == 1; i++) {
        rolling *r = x->run->aheads.data[i].made;
        const group_contact *c = &x->contacts.data[0];
        if (!r || r->time != x->time) continue;
        int one = r->flipped ? c->b : c->a;
        if (x->bodies[one] != r->step.body || !x->touches.data[0].rolls) continue;
        rolling_tell_point(r, &x->contacts.data[0].point);
        x->loads.data[0] = (contact_load){.normal = r->load.normal,
                                          .friction = vec3_scale(r->load.friction, r->flipped ? -1 : 1),
                                          .determined = true};
        return true;
    }
    return false;
}

void rolling_free(rolling *r) {
    if (!r) return;
    const abut_context *context = r->context;
    if (r->ready) ode_free(&r->integrator);
    mem_free(context, r, 1, sizeof *r);
}
