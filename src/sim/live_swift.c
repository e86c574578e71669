/* The pace of an island in which something small is about to meet something fast.
 *
 * Contact points hold where they are when a sub-step begins.  What is struck at a corner by the speed u turns
 * at about u / r, and what turns by more than half a radian in a sub-step comes down on another corner than
 * the one that was looked at, with its other end far beyond: a coin of 2 cm that falls a metre has 1.8
 * radians, and went through the tray.  So the sub-steps of its island are as short as that asks for, while
 * there is such a contact: of small islands, because a heap cannot hurry for one coin in it.  (What passes
 * through all the same is put back: live_fast.c.) */
#include "sim/live.h"

#define MOST_TURN 0.5 /* radians in a sub-step */
enum { MOST_VISITS = 512 };

static spatial velocity_of(const live *w, int body) {
    return w->movable[body + 1] || w->body[body].kinematic ? w->motions[body].velocity
                                                           : (spatial){{0, 0, 0}, {0, 0, 0}};
}

/* Of a ball its turn does not matter. */
static double radius_of(const live *w, int body) { return w->body[body].ball ? INFINITY : w->radii[body]; }

double live_struck_turn(const live *w, const live_contact *c) {
    spatial a = velocity_of(w, c->a), b = velocity_of(w, c->b);
    double fastest = 0, radius = INFINITY;
    if (w->movable[c->a + 1]) radius = fmin(radius, radius_of(w, c->a));
    if (w->movable[c->b + 1]) radius = fmin(radius, radius_of(w, c->b));
    for (int i = 0; i < c->count; i++) {
        vec3 ra = quat_rotate(w->motions[c->a].rotation, c->points[i].on_a);
        vec3 rb = quat_rotate(w->motions[c->b].rotation, c->points[i].on_b);
        double u = vec3_dot(c->normal, vec3_sub(spatial_velocity_at(a, ra), spatial_velocity_at(b, rb)));
        if (c->points[i].gap + u * w->dt < 0) fastest = fmax(fastest, -u);
    }
    return radius > 0 ? fastest / radius : 0;
}

/* By the way that bodies are going to make in the step: rough, but it asks for no contact. */
static bool may_be_swift(const live *w, const live_island *s) {
    double most = MOST_TURN * w->substeps;
    for (int i = 0; i < s->body_count; i++) {
        int body = w->island_bodies.data[s->first_body + i];
        const live_drift *d = &w->drifts[body];
        if (vec3_length(d->way) + d->swing > most * radius_of(w, body)) return true;
    }
    return false;
}

int live_swift_pace(live *w, const live_island *s) {
    double fastest = 0;
    int pace = 0;
    if (s->contact_count == 0 || !may_be_swift(w, s)) return 0;
    for (int i = 0; i < s->body_count; i++) {
        int body = w->island_bodies.data[s->first_body + i];
        if (!w->body[body].ball) fastest = fmax(fastest, vec3_length(velocity_of(w, body).angular));
    }
    for (int i = 0; i < s->contact_count; i++) {
        int contact = w->island_contacts.data[s->first_contact + i];
        live_place_now(w, contact);
        fastest = fmax(fastest, live_struck_turn(w, &w->contacts.data[contact]));
    }
    while (pace < LIVE_PACES - 1 && fastest * w->h > MOST_TURN * (1 << pace)) pace++;
    while (pace > 0 && s->body_count << pace > MOST_VISITS) pace--;
    return pace;
}
