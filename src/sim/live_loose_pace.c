/* The pace of loose hinges: SHAKE puts a body that turns by an angle q within a sub-step where its hinges are
 * closed, and misplaces energy of the order q^2 (live_hinged.c).  So the sub-steps are as short as the
 * fastest turn asks for, of those that are and of those that blows are going to make: a body struck at the
 * speed u turns at about u / r. */
#include "sim/live_loose.h"

#define HURRY_SECONDS 0.2
#define MOST_TURN     0.06 /* radians in a sub-step */

static spatial velocity_of(const live *w, int body) {
    return w->movable[body + 1] || w->body[body].kinematic ? w->motions[body].velocity
                                                           : (spatial){{0, 0, 0}, {0, 0, 0}};
}

/* How fast a body turns what a hinge holds: of a ball its arm, which spin about itself does not. */
static double hinge_turn(const live *w, const hinge *h, int body, vec3 arm) {
    vec3 spin = velocity_of(w, body).angular;
    double length = vec3_length(arm);
    if (h->kind != ABUT_HINGE_BALL || !(length > 0)) return vec3_length(spin);
    return vec3_length(vec3_cross(quat_unrotate(w->motions[body].rotation, spin), arm)) / length;
}

/* Where hinges could not be closed, the next steps are to be shorter. */
void live_loose_hurry(live *w) {
    bool failed = w->loose && w->loose->failed;
    int pace = w->hinge_pace + 1 < LIVE_PACES ? w->hinge_pace + 1 : w->hinge_pace;
    for (int i = 0; i < w->bodies && w->model->hinge_count > 0; i++) {
        live_rest *r = &w->rests[i];
        if (failed && w->hung[i + 1]) r->hurry = pace, r->hurried = HURRY_SECONDS;
        r->hurried = fmax(r->hurried - w->dt, 0);
        if (r->hurried == 0) r->hurry = 0;
    }
}

int live_loose_pace(live *w, const live_island *s) {
    double fastest = 0;
    int pace = s->hurry;
    for (int k = 0; k < s->hinge_count; k++) {
        const hinge *h = &w->model->hinges[w->island_hinges.data[s->first_hinge + k]].h;
        fastest = fmax(fastest, hinge_turn(w, h, h->a, h->pa));
        if (h->b >= 0) fastest = fmax(fastest, hinge_turn(w, h, h->b, h->pb));
    }
    for (int k = 0; k < s->contact_count; k++) {
        int contact = w->island_contacts.data[s->first_contact + k];
        live_place_now(w, contact);
        fastest = fmax(fastest, live_struck_turn(w, &w->contacts.data[contact]));
    }
    while (pace < LIVE_PACES - 1 && fastest * w->h > MOST_TURN * (1 << pace)) pace++;
    return pace;
}
