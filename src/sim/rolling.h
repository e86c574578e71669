/* One lasting smooth contact in reduced coordinates, for the exact clock.
 *
 *   rolling_appear.c     places that appear within a step
 *   rolling_traverse.c   places that move over the atlas, for every smooth contact
 *   rolling_begin.c      a single one into contact coordinates, from the bodies or from an earlier frame
 *   rolling_evolve.c     its steps
 *   rolling_segment.c    its recording
 *   rolling_handover.c   when: begins and ends */
#ifndef SIM_ROLLING_H
#define SIM_ROLLING_H

#include "dynamics/reduced.h"
#include "sim/exact.h"

enum { ROLLING_Q = 12, ROLLING_NUMBERS = ROLLING_Q + BODY_NUMBERS + EXACT_EXTRA, ROLLING_MONITORS = 8 };

/* Ratio of the two relative curvatures below which the place of the contact runs away: it is about to jump,
 * or the surfaces conform.  (Negative: they would cross.) */
#define ROLLING_CONFORMS 1e-4
/* What a held direction may use beyond its limit: more than the choice of modes lets hold, which is one
 * FORCES_ALLOWANCE to rounding, so that what left its cone slides when modes are chosen. */
#define ROLLING_ALLOWANCE (2 * FORCES_ALLOWANCE)

struct rolling {
    exact *x; /* of the frame at work */
    const abut_context *context;
    int one, two; /* local bodies: one is free */
    bool flipped; /* one is body b of the contact */
    reduced_pair pair;
    ode integrator;
    bool ready;   /* the integrator has its memory */
    bool running; /* and goes on from its last step */
    bool base_known;
    double time; /* of the state that the bodies have */
    double y[ROLLING_NUMBERS];
    double counted[2];                  /* energy of y that is in the books */
    double monitored[ROLLING_MONITORS]; /* at the start of the step */
    bool appeared;                      /* a place that nobody knew is near: somebody has to look */
    abut_error *error;
    /* the step at work, which may go beyond the frame */
    bool ahead;     /* it was made, and has not ended */
    int which;      /* monitor that ends it, or none of them, */
    double reached; /* and when */
    run_ahead step; /* where it began */
    /* at the time last placed */
    motion base;
    mat3 base_rotation;
    reduced_state state;
    reduced_placed placed;
    reduced_load load;
    double powers[2];
    bool loaded; /* place, load and powers are those of the state that the integrator starts from */
};

/* Contact coordinates from the bodies and the place of the only touch; false where there are none. */
bool rolling_begin(rolling *r, exact *x);
/* Goes on with the step that an earlier frame began, if the state and the group are those it was made for. */
abut_status rolling_resume(exact *x, bool *resumed, abut_error *error);
/* To the end of the frame, or of the step at work, which is at most `longest` seconds long if it is a new
 * one; the event that ended it, for the general clock to handle (crossed patches are handled here). */
abut_status rolling_step(rolling *r, double longest, exact_event *e, abut_error *error);

/* Pieces of these, shared by rolling_begin.c and rolling_evolve.c. */
void rolling_pack(const rolling *r, const reduced_state *s, double *y);
abut_status rolling_load(rolling *r, double powers[2], abut_error *error);
void rolling_monitor(const rolling *r, double g[ROLLING_MONITORS]);
abut_status rolling_start_integrator(rolling *r, double time, double hint, abut_error *error);
/* The integrator's next step towards `end`, and what happens in it. */
abut_status rolling_make_step(rolling *r, double end, abut_error *error);
bool rolling_looks_ahead(const exact *x);
/* Where the next step, towards `end`, begins. */
void rolling_remember(rolling *r, double end);
/* The contact point as the rest of the clock knows it: its normal from body b to body a. */
void rolling_tell_point(const rolling *r, contact_point *p);
/* Directions at the start of the evolution, of body 1 against body 2; memory where speeds are too small. */
void rolling_find_starts(rolling *r, const group_contact *c);
/* Whether slides begin at the present load; true where that has changed. */
bool rolling_find_onset(rolling *r);

/* The state at a time of the last step. */
abut_status rolling_place(rolling *r, double time, abut_error *error);
static inline bool rolling_base_is_free(const rolling *r) { return r->two < r->x->movable; }
/* Keeps the motion from the start of the step to `end` for the recording; `again`: it was kept in an earlier
 * frame already. */
abut_status rolling_keep_segment(rolling *r, double end, bool again, abut_error *error);

/* Puts the bodies where they are at a time of the step. */
typedef abut_status rolling_placer(exact *x, double time, abut_error *error);
bool rolling_can_appear(const exact *x);
/* Looks for places that nobody knows at the end of a step, *reached; it becomes the time until which none
 * overlaps. */
abut_status rolling_appear(exact *x, rolling_placer *place, double start, double *reached, bool *appeared,
                           abut_error *error);

#endif
