/* Which contacts of a hinged island are struck.  The island has gone to where it is struck (live_hinged.c):
 * its bodies are where they are, and what would close within a short time is struck there, the fastest first;
 * by which impulses, is in live_impact_hinged.c. */
#include "sim/live.h"

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

/* Points of faceted shapes stay where they are on their bodies. */
static double gap_now(const live *w, const live_contact *c, const live_point *p) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    vec3 x = quat_rotate(a->rotation, p->on_a), y = quat_rotate(b->rotation, p->on_b);
    if (w->faceted[c->a] && w->faceted[c->b])
        return vec3_dot(c->normal, vec3_sub(vec3_add(a->center, x), vec3_add(b->center, y)));
    return p->gap + live_moved_gap(w, c, p);
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

/* Kinetic energy of a body that moves by forces, which have acted on it until the time t of the sub-step. */
double live_energy_of(const live *w, int slot, spatial v, double t) {
    if (!w->movable[slot]) return 0;
    const body_inertia *body = &w->body[slot - 1].inertia;
    motion m = w->motions[slot - 1];
    m.velocity = v;
    m.velocity.linear = vec3_axpy(v.linear, t * body->inverse_mass, w->wrenches[slot - 1].linear);
    return body_kinetic_energy(body, &m);
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

/* The points of a contact that would meet within a time, and how fast each is to leave.  */
static live_blow make_blow(const live *w, const live_contact *c, double restitution, double within) {
    live_blow b = {.c = c};
    for (int i = 0; i < c->count; i++) {
        const live_point *p = &c->points[i];
        b.ra[i] = arm(w, c, p, true), b.rb[i] = arm(w, c, p, false);
        double u = vec3_dot(c->normal, approach(w, c, b.ra[i], b.rb[i]));
        b.active[i] = u < 0 && gap_now(w, c, p) + u * within <= 1e-9 * w->size;
        b.target[i] = -u > w->model->tolerance.rest_speed ? -restitution * u : 0;
    }
    return b;
}

static void collide_hinged(live *w, const live_contact *seen, const live_island *island, double within) {
    live_contact now = at_hand(w, seen);
    const model_material *m = live_material(w, now.a, now.b);
    live_blow b = make_blow(w, &now, m->restitution, within);
    abut_status status = live_collide_hinged(w, island, &b, m->friction.stick, &w->error);
    if (status != ABUT_OK) w->status = status;
    live_note_impact(w, &b);
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
        collide_hinged(w, worst, s, within);
    }
}
