/* Restitution by propagation: pair after pair, the fastest approach first, until nothing approaches (the
 * model ABUT_PROPAGATION of the exact clock).  So a row of touching balls passes the motion on to its last
 * ball.
 *
 * Looked at before the forces of a sub-step act, so that a body at rest, whose approach is only what gravity
 * gave it in one sub-step, is no impact.  A pair takes part when a point of it would close its gap within the
 * sub-step and approaches faster than the rest speed.  The two are then looked at when and where they meet:
 * those points that touch by then are struck (live_blow.c), the others perhaps later in the sub-step, as a
 * box that comes down on one edge is struck by the other one after it.  What was struck goes on from there.
 *
 * Pairs that meet one after the other are struck in that order, those that meet at once the fastest first. */
#include "sim/live.h"

enum { FEW = 64, ROUNDS = 8, STRIKES = 8, LOOKS = 6 };
#define TOUCHES 1e-4 /* of the smallest body: points no farther apart than that are struck together */
#define MET     1e-7 /* and to this the time of meeting is found */
#define AT_ONCE 1e-6 /* of a sub-step */
#define RESTING 1e-6 /* of the fastest approach: a point that leaves slower than that rests */

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
void live_note_impact(live *w, const live_blow *b) {
    const live_contact *c = b->c;
    vec3 at = vec3_zero();
    for (int i = 0; i < c->count; i++)
        at = vec3_axpy(at, 1.0 / c->count, vec3_add(w->motions[c->a].center, b->ra[i]));
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

/* ---- where two are within the sub-step */

static spatial velocity(const live *w, int slot) {
    return (spatial){live_vec3(w->velocities[slot].v), live_vec3(w->velocities[slot].w)};
}

/* Where a body is t after the start of the sub-step, and how it moves there: from where it was struck on, or
 * from where the sub-step began. */
static motion at_time(const live *w, int body, const motion *start, double t) {
    const live_struck *s = &w->struck[body + 1];
    motion m = s->blows > 0 ? s->at : *start;
    double since = s->blows > 0 ? s->time : 0;
    m.velocity = velocity(w, body + 1);
    if (!w->movable[body + 1] && !w->body[body].kinematic) return m;
    live_move_for(w, body, t - since, &m);
    if (!w->movable[body + 1]) return m;
    vec3 a = vec3_scale(w->wrenches[body].linear, w->body[body].inertia.inverse_mass);
    m.velocity.linear = vec3_axpy(m.velocity.linear, t, a);
    m.center = vec3_axpy(m.center, (t * t - since * since) / 2, a);
    return m;
}

/* A pair at a time: its motions are put there, and come back. */
typedef struct meeting {
    live_contact c;
    motion start[2];
    double t;
} meeting;

static void come_back(live *w, const meeting *m) {
    w->motions[m->c.a] = m->start[0], w->motions[m->c.b] = m->start[1];
}

/* Features and places of contact are those of the time: a corner that comes round is not where it was. */
static void go_to(live *w, meeting *m, const live_contact *seen, double t) {
    m->c = *seen, m->t = t;
    w->motions[seen->a] = at_time(w, seen->a, &m->start[0], t);
    w->motions[seen->b] = at_time(w, seen->b, &m->start[1], t);
    bool light = w->body[seen->a].light && w->body[seen->b].light;
    if (!light || !live_collide_again(w, &m->c)) live_place_again(w, &m->c);
}

static vec3 arm(const live *w, int body, vec3 on) { return quat_rotate(w->motions[body].rotation, on); }

/* How fast a point opens, by the motions at hand. */
static double opening(const live *w, const live_contact *c, const live_point *p) {
    vec3 va = spatial_velocity_at(w->motions[c->a].velocity, arm(w, c->a, p->on_a));
    vec3 vb = spatial_velocity_at(w->motions[c->b].velocity, arm(w, c->b, p->on_b));
    return vec3_dot(c->normal, vec3_sub(va, vb));
}

/* How far forces bring the centres together in a time that is left of the sub-step, beyond what their
 * velocities do, as the contact sees it. */
static double closing_fall(const live *w, const live_contact *c, double left) {
    double a = 0;
    if (w->movable[c->a + 1])
        a -= vec3_dot(c->normal, w->wrenches[c->a].linear) * w->body[c->a].inertia.inverse_mass;
    if (w->movable[c->b + 1])
        a += vec3_dot(c->normal, w->wrenches[c->b].linear) * w->body[c->b].inertia.inverse_mass;
    return fmax(a, 0) * w->h * left;
}

/* The point that closes first of those that approach, within a time: how long that takes, and how fast the
 * fastest one is; false: none does.  What the forces of the sub-step would make close is struck at its end:
 * the contact would stop it otherwise. */
typedef struct first_touch {
    double gap, wait, speed;
} first_touch;

static bool find_first(const live *w, const live_contact *c, double within, double fall, first_touch *f) {
    *f = (first_touch){0, INFINITY, 0};
    for (int i = 0; i < c->count; i++) {
        double u = -opening(w, c, &c->points[i]), gap = c->points[i].gap;
        if (u <= w->model->tolerance.rest_speed || gap - u * within > fall + 1e-9 * w->size) continue;
        f->speed = fmax(f->speed, u);
        if (gap / u < f->wait) f->wait = gap / u, f->gap = gap;
    }
    return f->speed > 0;
}

/* ---- the blow */

/* Puts both where they meet, by Newton's method for the time at which the first gap comes to zero.  False:
 * they do not meet within the sub-step. */
static bool meet(live *w, const live_bouncer *b, meeting *m) {
    first_touch f;
    go_to(w, m, &b->c, b->time);
    for (int look = 0; find_first(w, &m->c, w->h - m->t, b->fall, &f); look++) {
        double next = fmin(fmax(m->t + f.wait, 0), w->h);
        if (look == LOOKS || fabs(f.gap) <= MET * w->size || next == m->t) return true;
        go_to(w, m, &b->c, next);
    }
    return false;
}

/* The points that touch and do not leave; false: there is none. */
static bool find_struck(const live *w, const live_contact *c, live_blow *b) {
    double u[MANIFOLD_POINTS], most = 0, least = INFINITY;
    bool any = false;
    for (int i = 0; i < c->count; i++) {
        const live_point *p = &c->points[i];
        b->ra[i] = arm(w, c->a, p->on_a), b->rb[i] = arm(w, c->b, p->on_b);
        u[i] = opening(w, c, p), most = fmax(most, -u[i]);
        if (u[i] < 0) least = fmin(least, p->gap);
    }
    for (int i = 0; i < c->count; i++) {
        b->active[i] = c->points[i].gap <= fmax(least, 0) + TOUCHES * w->size && u[i] <= RESTING * most;
        any |= b->active[i];
    }
    return any;
}

/* An impulse changes the velocity, and is none of the contact's: warm starting must not repeat it. */
static void change_velocity(live *w, int body, const meeting *m, const motion *start, spatial change) {
    live_struck *s = &w->struck[body + 1];
    const motion *now = &w->motions[body];
    live_velocity *v = &w->velocities[body + 1], *before = &w->before[body + 1];
    if (!w->movable[body + 1]) return;
    s->way.linear = vec3_sub(now->center, start->center);
    s->way.angular = vec3_axpy(s->way.angular, m->t - s->time, live_vec3(v->w));
    s->at = *now, s->time = m->t, s->blows++;
    four linear = live_four(change.linear);
    four angular = live_four(vec3_add(now->velocity.angular, change.angular)) - v->w;
    v->v += linear, v->w += angular, before->v += linear, before->w += angular;
}

static double energy_with(const live *w, int body, spatial change) {
    motion m = w->motions[body];
    m.velocity = spatial_add(m.velocity, change);
    return w->movable[body + 1] ? body_kinetic_energy(&w->body[body].inertia, &m) : 0;
}

/* Two that do not meet after all are not asked again before one of them is struck. */
static void collide(live *w, live_bouncer *pair) {
    meeting m = {.start = {w->motions[pair->c.a], w->motions[pair->c.b]}};
    live_blow b = {.c = &m.c};
    pair->speed = 0;
    if (meet(w, pair, &m) && find_struck(w, &m.c, &b)) {
        spatial none = {{0, 0, 0}, {0, 0, 0}}, change[2];
        b.t = m.t;
        live_solve_blow(w, &b, change);
        b.energy[0] = energy_with(w, m.c.a, none) + energy_with(w, m.c.b, none);
        b.energy[1] = energy_with(w, m.c.a, change[0]) + energy_with(w, m.c.b, change[1]);
        live_note_impact(w, &b);
        change_velocity(w, m.c.a, &m, &m.start[0], change[0]);
        change_velocity(w, m.c.b, &m, &m.start[1], change[1]);
    }
    come_back(w, &m);
}

/* ---- which pairs, in which order */

/* Contacts with restitution and points, for the step. */
bool live_find_bouncing(live *w) {
    int64_t most = 0;
    for (int i = 0; i < LIVE_PACES; i++) w->bouncing[i].count = 0;
    memset(w->bounces, 0, (size_t)w->slots);
    for (int64_t i = 0; i < w->links.count; i++) {
        const live_link *c = &w->links.data[i];
        bool moves = w->movable[c->a + 1] || w->movable[c->b + 1];
        if (w->hinged[c->a + 1] || w->hinged[c->b + 1]) continue; /* by itself: live_hinged.c */
        if (c->count == 0 || !moves || !(live_material(w, c->a, c->b)->restitution > 0)) continue;
        int_array *list = &w->bouncing[live_pace_of(w, c->a, c->b)];
        if (!array_push(w->context, list, (int)i)) return false;
        if (list->count > most) most = list->count;
        w->bounces[c->a + 1] = w->bounces[c->b + 1] = true;
    }
    return array_reserve(w->context, &w->bouncers, most);
}

static double swing(const live *w, int body) {
    double turn = vec3_length(velocity(w, body + 1).angular);
    return turn > 0 ? turn * w->radii[body] : 0;
}

/* Whether any two points of the bodies may approach faster than the rest speed. */
static bool may_strike(const live *w, int a, int b) {
    vec3 v = vec3_sub(velocity(w, a + 1).linear, velocity(w, b + 1).linear);
    return vec3_length(v) + swing(w, a) + swing(w, b) > w->model->tolerance.rest_speed;
}

/* When and how fast a pair meets, if it does, from where its bodies were struck last. */
static void look_at(live *w, live_bouncer *pair, const live_contact *c) {
    const live_struck *a = &w->struck[c->a + 1], *b = &w->struck[c->b + 1];
    pair->blows = a->blows + b->blows, pair->speed = 0;
    if (!may_strike(w, c->a, c->b)) return;
    meeting m = {.start = {w->motions[c->a], w->motions[c->b]}};
    first_touch f;
    go_to(w, &m, c, fmax(a->time, b->time));
    pair->c = m.c;
    pair->fall = closing_fall(w, &m.c, w->h - m.t);
    if (find_first(w, &m.c, w->h - m.t, pair->fall, &f))
        pair->speed = f.speed, pair->time = fmin(m.t + fmax(f.wait, 0), w->h);
    come_back(w, &m);
}

static live_bouncer *renewed(live *w, const int_array *list, int64_t i) {
    const live_contact *c = &w->contacts.data[list->data[i]];
    live_bouncer *pair = &w->bouncers.data[i];
    if (pair->blows != w->struck[c->a + 1].blows + w->struck[c->b + 1].blows) look_at(w, pair, c);
    return pair;
}

/* Few: the first to meet, each time anew. */
static void collide_in_order(live *w, const int_array *list) {
    int64_t budget = 16 * list->count + 64;
    for (int64_t k = 0; k < budget; k++) {
        live_bouncer *next = NULL;
        for (int64_t i = 0; i < list->count; i++) {
            live_bouncer *pair = renewed(w, list, i);
            if (!(pair->speed > 0)) continue;
            double later = next ? pair->time - next->time : -INFINITY, slack = AT_ONCE * w->h;
            if (later < -slack || (later <= slack && pair->speed > next->speed * (1 + 1e-12))) next = pair;
        }
        if (!next) return;
        collide(w, next);
    }
}

/* Many: rounds through all of them, in the order of the list, a few blows at each. */
static void collide_in_rounds(live *w, const int_array *list) {
    for (int round = 0; round < ROUNDS; round++) {
        bool any = false;
        for (int64_t i = 0; i < list->count; i++)
            for (int k = 0; k < STRIKES && renewed(w, list, i)->speed > 0; k++)
                collide(w, &w->bouncers.data[i]), any = true;
        if (!any) return;
    }
}

/* Of the islands at a pace, in the sub-step of that number. */
void live_impacts(live *w, int substep, int pace) {
    const int_array *list = &w->bouncing[pace];
    w->impact_time = substep * w->h;
    for (int64_t i = 0; i < list->count; i++) w->bouncers.data[i].blows = -1;
    if (list->count <= FEW)
        collide_in_order(w, list);
    else
        collide_in_rounds(w, list);
}
