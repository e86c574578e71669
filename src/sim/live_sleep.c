/* Sleep: an island of which every body has been still for half a second is no longer moved, until something
 * touches it that moves.
 *
 * Slow is not still.  What a small force speeds up, a pendulum that hardly swings, or what begins to tip is
 * as slow as what trembles at rest, but it gets faster: so no island falls asleep whose bodies were faster in
 * the second half of that time than in the first.  What touches nothing does not tremble, and sleeps only
 * when its hinges have all but stopped it. */
#include "sim/live.h"

#define STILL_SECONDS 0.5
#define STILL         4.0  /* rest speeds */
#define STOPPED       1e-3 /* of that: what touches nothing; of others, what does not count */
#define FASTER        1.02

static abut_event quiet_event(const live *w, abut_event_kind kind, int body) {
    return (abut_event){.time = w->run->state->time,
                        .kind = kind,
                        .body = {body, -1},
                        .point = w->motions[body].center,
                        .count = 1};
}

/* Forces that are functions may begin at any time: nobody sleeps. */
static bool has_functions(const live *w) {
    for (int i = 0; i < w->model->force_count; i++)
        if (w->model->forces[i].function) return true;
    return false;
}

bool live_wake(live *w) {
    bool all =
        !w->options.sleep || has_functions(w); /* a run that goes on from a snapshot may have sleepers */
    for (int i = 0; i < w->bodies; i++) {
        live_rest *r = &w->rests[i];
        if (r->asleep && (all || w->islands.data[r->island].awake)) {
            r->asleep = 0, r->still = 0;
            w->islands.data[r->island].awake = true;
            if (live_emit(w, quiet_event(w, ABUT_EVENT_WAKE, i), NULL) != ABUT_OK) return false;
        }
        w->movable[i + 1] = w->body[i].movable && !r->asleep;
    }
    return true;
}

static double still_speed(const live *w) { return STILL * w->model->tolerance.rest_speed; }

/* Of the fastest point, about; a body without a shape is as large as a ring of its inertia. */
static double speed_of(const live *w, int body) {
    twist v = w->motions[body].velocity;
    const body_inertia *b = &w->body[body].inertia;
    double r = isfinite(w->radii[body]) ? w->radii[body] : w->size;
    if (r == 0) r = sqrt((b->inertia.cx.x + b->inertia.cy.y + b->inertia.cz.z) / (2 * b->mass));
    return sqrt(fmax(vec3_length2(v.linear), vec3_length2(v.angular) * r * r));
}

/* Notes since when a body is still, and how fast it was at most in either half of that time. */
static void note_speed(live *w, int body) {
    live_rest *r = &w->rests[body];
    double speed = w->movable[body + 1] ? speed_of(w, body) : INFINITY;
    if (!(speed < still_speed(w))) {
        r->still = r->early = r->late = 0;
        return;
    }
    double *half = r->still < STILL_SECONDS / 2 ? &r->early : &r->late;
    r->still += w->dt, *half = fmax(*half, speed);
}

/* What did not fall asleep is looked at again after another half of that time. */
static void look_again(live_rest *r) { r->still = STILL_SECONDS / 2, r->early = r->late, r->late = 0; }

static bool may_sleep(live *w, const live_island *s) {
    const int *bodies = &w->island_bodies.data[s->first_body];
    double early = 0, late = 0, stopped = STOPPED * still_speed(w);
    if (!s->awake || s->driven || s->contact_count + s->hinge_count == 0) return false;
    for (int i = 0; i < s->body_count; i++)
        if (w->rests[bodies[i]].still < STILL_SECONDS) return false;
    for (int i = 0; i < s->body_count; i++)
        early = fmax(early, w->rests[bodies[i]].early), late = fmax(late, w->rests[bodies[i]].late);
    if (late <= stopped || (s->contact_count > 0 && late <= FASTER * early)) return true;
    for (int i = 0; i < s->body_count; i++) look_again(&w->rests[bodies[i]]);
    return false;
}

bool live_sleep(live *w) {
    for (int i = 0; i < w->bodies; i++) note_speed(w, i);
    if (!w->options.sleep || has_functions(w)) return true;
    for (int64_t k = 0; k < w->islands.count; k++) {
        const live_island *s = &w->islands.data[k];
        bool sleeps = may_sleep(w, s);
        for (int i = 0; i < s->body_count && sleeps; i++) {
            int body = w->island_bodies.data[s->first_body + i];
            w->rests[body].asleep = 1;
            w->motions[body].velocity = (twist){{0, 0, 0}, {0, 0, 0}};
            if (live_emit(w, quiet_event(w, ABUT_EVENT_SLEEP, body), NULL) != ABUT_OK) return false;
        }
    }
    return true;
}
