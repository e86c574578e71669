/* Restitution by propagation: pair after pair, the fastest approach first, until nothing approaches (the
 * model ABUT_PROPAGATION of the exact clock).  So a row of touching balls passes the motion on to its last
 * ball.
 *
 * Looked at before the forces of a sub-step act, so that a body at rest, whose approach is only what gravity
 * gave it in one sub-step, is no impact.  A point takes part when it would close its gap within the
 * sub-step and approaches faster than the rest speed:   u+ = -e u-,   |friction| <= mu p.  */
#include "sim/live.h"

enum { SWEEPS = 64, FEW = 64, ROUNDS = 8 };

/* From the centre of a body to its own place of contact: across a gap that is not the same point of space,
 * but it is when they meet. */
static vec3 arm(const live *w, const live_contact *c, const live_point *p, bool of_a) {
    return of_a ? quat_rotate(w->motions[c->a].rotation, p->on_a)
                : quat_rotate(w->motions[c->b].rotation, p->on_b);
}

static spatial velocity(const live *w, int slot) {
    return (spatial){live_vec3(w->velocities[slot].v), live_vec3(w->velocities[slot].w)};
}

static vec3 approach(const live *w, const live_contact *c, vec3 ra, vec3 rb) {
    return vec3_sub(spatial_velocity_at(velocity(w, c->a + 1), ra),
                    spatial_velocity_at(velocity(w, c->b + 1), rb));
}

static spatial respond(const live *w, int slot, spatial wrench) {
    if (!w->movable[slot]) return (spatial){{0, 0, 0}, {0, 0, 0}};
    return body_apply(&w->body[slot - 1].inertia, w->motions[slot - 1].rotation, wrench);
}

/* An impulse changes the velocity, and is none of the contact's: warm starting must not repeat it. */
static void strike(live *w, int slot, vec3 r, vec3 impulse) {
    spatial d = respond(w, slot, spatial_force_at(impulse, r));
    four v = live_four(d.linear), s = live_four(d.angular);
    w->velocities[slot].v += v, w->velocities[slot].w += s;
    w->before[slot].v += v, w->before[slot].w += s;
}

static double mobility(const live *w, const live_contact *c, vec3 ra, vec3 rb, vec3 n) {
    spatial fa = spatial_force_at(n, ra), fb = spatial_force_at(n, rb);
    return spatial_dot(fa, respond(w, c->a + 1, fa)) + spatial_dot(fb, respond(w, c->b + 1, fb));
}

/* The gap that would be now had the bodies always moved as they do since the last impact in this sub-step: so
 * that it closes when they meet. */
static double gap_now(const live *w, const live_contact *c, const live_point *p) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    vec3 x = quat_rotate(a->rotation, p->on_a), y = quat_rotate(b->rotation, p->on_b);
    double late = vec3_dot(c->normal, vec3_sub(spatial_velocity_at(w->late[c->a + 1], x),
                                               spatial_velocity_at(w->late[c->b + 1], y)));
    if (w->faceted[c->a] && w->faceted[c->b])
        return vec3_dot(c->normal, vec3_sub(vec3_add(a->center, x), vec3_add(b->center, y))) + late;
    return p->gap + live_moved_gap(w, c, p) + late;
}

/* The fastest approach of a contact that closes within a time; 0: none. */
static double fastest_of(const live *w, const live_contact *c, double within) {
    double fastest = 0;
    for (int i = 0; i < c->count; i++) {
        const live_point *p = &c->points[i];
        double u = -vec3_dot(c->normal, approach(w, c, arm(w, c, p, true), arm(w, c, p, false)));
        if (u > fastest && gap_now(w, c, p) - u * within <= 1e-9 * w->size) fastest = u;
    }
    return fastest;
}

static vec3 friction_impulse(const live *w, const live_contact *c, vec3 ra, vec3 rb, double p, double mu) {
    vec3 u = approach(w, c, ra, rb);
    u = vec3_axpy(u, -vec3_dot(u, c->normal), c->normal);
    double speed = vec3_length(u);
    if (!(speed > 0) || mu == 0) return vec3_zero();
    vec3 along = vec3_scale(u, -1 / speed);
    double k = mobility(w, c, ra, rb, along);
    return vec3_scale(along, k > 0 ? fmin(speed / k, mu * p) : 0);
}

/* Kinetic energy of a body that moves by forces, which have acted on it until the time t of the sub-step. */
double live_energy_of(const live *w, int slot, spatial v, double t) {
    if (!w->movable[slot]) return 0;
    const body_inertia *body = &w->body[slot - 1].inertia;
    motion m = w->motions[slot - 1];
    m.velocity = v;
    m.velocity.linear = vec3_axpy(v.linear, t * body->inverse_mass, w->wrenches[slot - 1].linear);
    return body_kinetic_energy(body, &m);
}

/* The impact of the pair at this instant that is told already; NULL: none is. */
static abut_event *find_impact(live *w, const abut_event *e) {
    for (int64_t i = w->run->events.count - 1; i >= 0 && w->run->events.data[i].time == e->time; i--) {
        abut_event *old = &w->run->events.data[i];
        if (old->kind == ABUT_EVENT_IMPACT && old->body[0] == e->body[0] && old->body[1] == e->body[1])
            return old;
    }
    return NULL;
}

/* The list of events stays in order, though of several impacts in a sub-step the fastest comes first.  A pair
 * that is struck again at the same instant, because others struck it meanwhile, has one impact of both:
 * impulses and losses are added. */
static void note_impact(live *w, const live_blow *b, vec3 at) {
    const live_contact *c = b->c;
    const abut_event *last = w->run->events.count > 0 ? &w->run->events.data[w->run->events.count - 1] : NULL;
    double time = w->run->state->time + w->impact_time + b->t;
    const live_point *nearest = c->points;
    for (int i = 1; i < c->count; i++)
        if (c->points[i].gap < nearest->gap) nearest = &c->points[i];
    abut_event e = {.time = last ? fmax(time, last->time) : time,
                    .kind = ABUT_EVENT_IMPACT,
                    .body = {c->a, c->b},
                    .point = at,
                    .normal = c->normal,
                    .impulse = b->impulse,
                    .energy_before = b->energy[0],
                    .energy_after = b->energy[1],
                    .count = 1};
    live_name_features(w, c, nearest, &e);
    abut_event *old = find_impact(w, &e);
    if (old) {
        old->impulse = vec3_add(old->impulse, e.impulse);
        old->energy_after += e.energy_after - e.energy_before;
    } else if (live_emit(w, e, &w->error) != ABUT_OK) {
        w->status = w->error.status;
    }
}

/* How long a contact takes to close, at most the sub-step. */
static double time_to_touch(const live *w, const live_contact *c) {
    double soonest = w->h;
    for (int i = 0; i < c->count; i++) {
        const live_point *p = &c->points[i];
        double u = -vec3_dot(c->normal, approach(w, c, arm(w, c, p, true), arm(w, c, p, false)));
        if (u > 0) soonest = fmin(soonest, fmax(gap_now(w, c, p), 0) / u);
    }
    return soonest;
}

/* How fast forces make the centres approach. */
static double closing_force(const live *w, const live_contact *c) {
    double a = 0;
    if (w->movable[c->a + 1])
        a -= vec3_dot(c->normal, w->wrenches[c->a].linear) * w->body[c->a].inertia.inverse_mass;
    if (w->movable[c->b + 1])
        a += vec3_dot(c->normal, w->wrenches[c->b].linear) * w->body[c->b].inertia.inverse_mass;
    return a;
}

/* What an impact t after the start of the sub-step does sooner than it should is taken back with the
 * positions: x -= t (v+ - v-). */
static void take_back(live *w, int slot, spatial before, double t) {
    if (!w->movable[slot]) return;
    spatial change = spatial_add(velocity(w, slot), spatial_scale(before, -1));
    w->late[slot] = spatial_add(w->late[slot], spatial_scale(change, -t));
}

/* The contact where the bodies are now: a ball that comes in along the floor has run on since the step began,
 * and one that spins has turned away from its place. */
static live_contact at_hand(live *w, const live_contact *c) {
    live_contact now = *c;
    const live_velocity *a = &w->moved[c->a + 1], *b = &w->moved[c->b + 1];
    double gone = vec3_length2(live_vec3(a->v - b->v)), turned = vec3_length2(live_vec3(a->w - b->w)),
           slight = 1e-3 * w->size;
    if (gone <= slight * slight && turned <= 1e-6) return now;
    if (!w->body[c->a].light || !w->body[c->b].light || !live_collide_again(w, &now)) return *c;
    live_take_back(w, &now);
    return now;
}

/* The points of a contact that would meet within the sub-step, and how fast each is to leave.  The bodies
 * meet after the time t, with the speed that forces of the closing acceleration a have given them until then;
 * and because those act on them afterwards for all of the sub-step, what they do in t is added to the speed
 * of leaving: u+ = e (|u-| + a t) + a t */
static live_blow make_blow(const live *w, const live_contact *c, double restitution, double t,
                           double within) {
    live_blow b = {.c = c, .t = t};
    double gained = fmax(closing_force(w, c), 0) * b.t;
    for (int i = 0; i < c->count; i++) {
        const live_point *p = &c->points[i];
        b.ra[i] = arm(w, c, p, true), b.rb[i] = arm(w, c, p, false);
        double u = vec3_dot(c->normal, approach(w, c, b.ra[i], b.rb[i]));
        b.active[i] = u < 0 && gap_now(w, c, p) + u * within <= 1e-9 * w->size;
        b.target[i] = -u > w->model->tolerance.rest_speed ? restitution * (gained - u) + gained : 0;
    }
    return b;
}

/* All points of a contact at once: u+ >= target, by sweeps; then friction. */
static void strike_points(live *w, live_blow *b, double mu) {
    const live_contact *c = b->c;
    double total[MANIFOLD_POINTS] = {0};
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double worst = 0;
        for (int i = 0; i < c->count; i++) {
            if (!b->active[i]) continue;
            double u = vec3_dot(c->normal, approach(w, c, b->ra[i], b->rb[i]));
            double k = mobility(w, c, b->ra[i], b->rb[i], c->normal);
            double p = k > 0 ? fmax(total[i] + (b->target[i] - u) / k, 0) - total[i] : 0;
            total[i] += p, worst = fmax(worst, fabs(p * k));
            vec3 impulse = vec3_scale(c->normal, p);
            strike(w, c->a + 1, b->ra[i], impulse), strike(w, c->b + 1, b->rb[i], vec3_neg(impulse));
            b->impulse = vec3_add(b->impulse, impulse);
        }
        if (worst <= 1e-12 * (1 + fabs(b->target[0]))) break;
    }
    for (int i = 0; i < c->count; i++) {
        if (!b->active[i]) continue;
        vec3 f = friction_impulse(w, c, b->ra[i], b->rb[i], total[i], mu);
        strike(w, c->a + 1, b->ra[i], f), strike(w, c->b + 1, b->rb[i], vec3_neg(f));
        b->impulse = vec3_add(b->impulse, f);
    }
}

/* A hinged island has gone to where it is struck (live_hinged.c): no time is left until it touches. */
static void collide(live *w, const live_contact *seen, const live_island *hinged, double within) {
    live_contact now = at_hand(w, seen);
    const live_contact *c = &now;
    const model_material *m = live_material(w, c->a, c->b);
    spatial before[2] = {velocity(w, c->a + 1), velocity(w, c->b + 1)};
    live_blow b = make_blow(w, c, m->restitution, hinged ? 0 : time_to_touch(w, c), within);
    if (hinged) {
        abut_status status = live_collide_hinged(w, hinged, &b, m->friction.stick, &w->error);
        if (status != ABUT_OK) w->status = status;
    } else {
        strike_points(w, &b, m->friction.stick);
        take_back(w, c->a + 1, before[0], b.t), take_back(w, c->b + 1, before[1], b.t);
        for (int i = 0; i < 2; i++) {
            int slot = (i ? c->b : c->a) + 1;
            b.energy[0] += live_energy_of(w, slot, before[i], b.t);
            b.energy[1] += live_energy_of(w, slot, velocity(w, slot), b.t);
        }
    }
    vec3 at = vec3_zero();
    for (int i = 0; i < c->count; i++)
        at = vec3_axpy(at, 1.0 / c->count, vec3_add(w->motions[c->a].center, b.ra[i]));
    note_impact(w, &b, at);
}

/* Contacts with restitution and points, for the step. */
bool live_find_bouncing(live *w) {
    w->bouncing.count = 0;
    for (int64_t i = 0; i < w->links.count; i++) {
        const live_link *c = &w->links.data[i];
        bool moves = w->movable[c->a + 1] || w->movable[c->b + 1];
        if (w->hinged[c->a + 1] || w->hinged[c->b + 1]) continue; /* by itself: live_hinged.c */
        if (c->count > 0 && moves && live_material(w, c->a, c->b)->restitution > 0 &&
            !array_push(w->context, &w->bouncing, (int)i))
            return false;
    }
    return true;
}

/* Few: the fastest first, each time anew. */
static void collide_in_order(live *w) {
    int64_t budget = 16 * w->bouncing.count + 64;
    for (int64_t k = 0; k < budget; k++) {
        const live_contact *worst = NULL;
        double fastest = w->model->tolerance.rest_speed;
        for (int64_t i = 0; i < w->bouncing.count; i++) {
            const live_contact *c = &w->contacts.data[w->bouncing.data[i]];
            double u = fastest_of(w, c, w->h);
            if (u > fastest * (1 + 1e-12)) fastest = u, worst = c;
        }
        if (!worst) return;
        collide(w, worst, NULL, w->h);
    }
}

/* Many: rounds through all of them, in the order of the list. */
static void collide_in_rounds(live *w) {
    for (int round = 0; round < ROUNDS; round++) {
        bool any = false;
        for (int64_t i = 0; i < w->bouncing.count; i++) {
            const live_contact *c = &w->contacts.data[w->bouncing.data[i]];
            if (fastest_of(w, c, w->h) <= w->model->tolerance.rest_speed) continue;
            collide(w, c, NULL, w->h);
            any = true;
        }
        if (!any) return;
    }
}

/* In the sub-step of that number. */
void live_impacts(live *w, int substep) {
    w->impact_time = substep * w->h;
    if (w->bouncing.count <= FEW)
        collide_in_order(w);
    else
        collide_in_rounds(w);
}

/* What closes within a time, the fastest first. */
void live_strike_island(live *w, const live_island *s, double within) {
    int budget = 16 * s->contact_count + 64;
    for (int k = 0; k < budget && w->status == ABUT_OK; k++) {
        const live_contact *worst = NULL;
        double fastest = w->model->tolerance.rest_speed;
        for (int i = 0; i < s->contact_count; i++) {
            const live_contact *c = &w->contacts.data[w->island_contacts.data[s->first_contact + i]];
            if (!(live_material(w, c->a, c->b)->restitution > 0)) continue;
            double u = fastest_of(w, c, within);
            if (u > fastest * (1 + 1e-12)) fastest = u, worst = c;
        }
        if (!worst) return;
        collide(w, worst, s, within);
    }
}
