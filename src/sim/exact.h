/* The exact clock, for one group of bodies that may meet within a frame (DESIGN section 6):
 *
 *   exact_plan.c      swept boxes, pairs that may meet, groups and their members
 *   exact_frame.c     the frame: groups on threads, and undoing a frame whose bounds were too small
 *   exact_account.c   what the groups of a frame did, added up
 *   exact_loop.c      the loop of a group: integrate, find the event, correct, settle
 *   exact_settle.c    an instant: what touches, impacts, modes; events that are told
 *   exact_near.c      near pairs for a window of time
 *   exact_sleep.c     near pairs that cannot have met yet
 *   exact_touch.c     the touching set
 *   exact_carry.c     contacts that say nothing beside others
 *   exact_face.c      touches of one face contact, and their area where it presses uniformly
 *   exact_disc.c      the flat end of a cylinder
 *   exact_forces.c    accelerations at a state: wrenches, rows, contacts, the complementarity problem
 *   exact_search.c    placing bodies on the dense output, zeros of functions on it
 *   exact_path.c      bounds of the motion in a step
 *   exact_apart.c     near pairs that are proven to stay apart in a piece of it
 *   exact_gaps.c      the first gap that closes on the dense output of a step
 *   exact_events.c    the first event on it
 *   exact_impact.c    impacts and impulses without impact
 *   exact_chatter.c   flights too low to be told from contact
 *   exact_onset.c     the beginning of slip
 *   exact_zeno.c      bounces without end, summed in closed form
 *   exact_collapse.c  blows without end between several places
 *   exact_correct.c   drift correction
 *   exact_storm.c     time stepping where events come too thick
 *   exact_time_step.c one time step
 *   exact_push.c      what overlaps at its end is pushed out
 *   exact_balance.c   energy, and what the impulses of a time step do to it
 *
 * Bodies of a group are numbered locally: the `movable` ones first (they are integrated), then the fixed and
 * kinematic ones that they may meet. */
#ifndef SIM_EXACT_H
#define SIM_EXACT_H

#include "contact/flat.h"
#include "contact/smooth.h"
#include "dynamics/impact.h"
#include "dynamics/project.h"
#include "numerics/ode.h"
#include "numerics/radau.h"
#include "sim/run.h"

enum { BODY_NUMBERS = 13 /* center, rotation, velocity, spin */ };

/* A pair of local bodies that may meet in this frame. */
typedef struct exact_pair {
    int a, b;
    double reach, turn;   /* how far the near pairs let them move against each other, m, and turn, rad */
    double moved, turned; /* since they were collected */

    /* how a moves as seen from b (axes of b, about its centre) when they were collected, and how far the
     * motion has strayed from that since (exact_sleep.c) */
    spatial field;
    double since;              /* s */
    double stray, stray_limit; /* m */
    double straying;           /* m/s, in the step at work */
} exact_pair;

/* Bounds of the motion of a body in the step at work, s = 0 .. 1 over it (exact_path.h). */
enum { PATH_ORDER = 4, PATH_PLACES = 4 };
typedef struct exact_path {
    double go[PATH_ORDER + 1];   /* largest k-th derivatives of its centre (k > 0), */
    double turn[PATH_ORDER + 1]; /* of q x q* and of |q|^2, q its rotation, */
    double spin[2];              /* and the first two of the rotation */
    bool bounded;
} exact_path;
typedef struct path_point path_point; /* sim/exact_path.h */

/* What is known of a near pair in a piece of a step (exact_apart.c). */
typedef enum exact_proof {
    PROOF_APART, /* it does not close */
    PROOF_NEAR,  /* it may close once, or stays within a part of epsilon of closing: its gap tells */
    PROOF_NONE   /* the piece is too long to tell */
} exact_proof;

/* A near pair of features, with its value at the start of the step. */
typedef struct exact_near {
    near_pair pair;
    int a, b;         /* local */
    double gap, rate; /* at the start of the step */
    vec3 at, normal;
    bool known; /* gap, at and normal could be told */
    bool touching;
    bool joined;           /* a smooth pair that the time step at work has made a contact already */
    bool asleep;           /* it was not evaluated at the start of the step: it cannot have met by then */
    int meeting;           /* its pair of bodies */
    double clear;          /* when it was collected: how far apart, m; 0: unknown, */
    double closing, bends; /* how fast it comes closer, m/s, and how fast that can grow, m/s^2 */
    double join_gap;       /* at which a pair that stays at zero counts as joined, */
    bool join_beside;      /* whether or not its features face each other then */
} exact_near;
typedef ARRAY(exact_near) exact_near_array;

/* The beginning of slip at a place, for the step at work (exact_onset.c). */
typedef struct exact_onset {
    double slow; /* m/s: slower slip takes its direction from what it will be; 0: it does not begin here */
    double look; /* after this time, s */
    double k;    /* acceleration that friction can give the place across the slip, m/s^2 */
    vec3 along;  /* what its friction opposes at the start of the step */
} exact_onset;

/* The search for the directions of up to ONSET_MOST such places in one evaluation; zero at first. */
enum { ONSET_MOST = 8 };
typedef struct exact_turning {
    int count, rounds, shorter;
    bool anew; /* from the start of the step */
    int64_t place[ONSET_MOST];
    vec3 along[ONSET_MOST]; /* the directions of the last solution */
    double inverse[ONSET_MOST][ONSET_MOST], missed[ONSET_MOST], turned[ONSET_MOST];
} exact_turning;

/* A touching place at work: the group's contact, and where it came from. */
typedef struct exact_touch {
    near_pair pair;
    vec3 slip_start; /* unit slip at the start of the step: friction keeps this side through zero slip */
    vec3 roll_start; /* and the rolling axis and the spin along the normal (its sign) likewise */
    double spin_start;
    exact_onset onset;
    bool rolls;     /* in reduced coordinates */
    double clear;   /* then: how far everything else may come, m */
    double made_at; /* bounces that were summed end then: contact-made is told at that time; 0: it was told */
    int bounces;    /* that the impact at work stands for; 0: one */
    bool fresh;     /* it did not touch before */
    bool slips_on;  /* its slip is not ended early again: it went on when it was (exact_settle.c) */
    int ended;      /* 1 + its number when its slip was ended early, at the event at work; 0: it was not */
} exact_touch;

/* A face contact that presses over its area, beside its group_face. */
typedef struct exact_face {
    int32_t faces[2];
    int64_t first;       /* touch */
    int64_t second;      /* the other end of a line; -1: a face */
    int64_t first_piece; /* of its border */
    vec3 start_slip;     /* at the start of the step, at the first touch, */
    double start_spin;   /* along the normal: friction keeps this side through zero slip */
} exact_face;

/* A blow at a place (exact_collapse.c), and how many are remembered. */
enum { EXACT_STRIKES = 32 };
typedef struct exact_strike {
    int a, b;
    double sign; /* as of the near pair */
    contact_feature fa, fb;
    double time, speed; /* of approach */
} exact_strike;

/* A contact that is left out because others carry it. */
typedef struct exact_carried {
    int a, b; /* local */
    contact_feature fa, fb;
} exact_carried;

/* What a row of a hinge stands for. */
typedef enum exact_row_kind { ROW_HELD, ROW_MOTOR, ROW_LIMIT } exact_row_kind;

typedef struct rolling rolling; /* sim/rolling.h */
typedef struct exact_plan exact_plan;

typedef struct exact {
    abut_sim *run; /* shared with other groups: read only, but for what belongs to this group's bodies */
    run_account *account;
    const abut_model *model;
    const exact_plan *plan; /* NULL: a look between steps */
    arena *arena;
    group_scratch scratch;
    double time;
    double end;

    int count, movable;
    int *bodies;   /* local -> model */
    int *local_of; /* model -> local, -1 */
    body_inertia *inertias;
    motion *motions; /* at the time last placed */
    spatial *wrenches, *prescribed, *accelerations;
    int pair_count;
    exact_pair *pairs;
    double *pair_speeds, *pair_spins; /* of the step at work */
    exact_path *paths;                /* of the step at work, */
    path_point *path_points;          /* and PATH_PLACES places of every body on it */
    unsigned path_next;
    double proven;     /* to this time no gap closes unseen in the step at work */
    double *placed_at; /* of every body: where it stands on the dense output; NAN: elsewhere */
    int hinge_count;
    int *hinges;          /* model hinges of the group */
    double *hinge_values; /* coordinates at the time last placed, of the turn nearest to */
    int8_t *motor_pulls; /* what motors with a bound do in the step: hold their speed (0), or pull (-1, +1) */
    double *hinge_known; /* those at the end of the last step: a state that the integrator tries may be any */
    int spring_count, force_count;
    int *springs, *forces;
    bool timed;   /* something in the group is a function of time: it cannot rest */
    bool follows; /* a body of it follows a function */
    bool has_motor;

    exact_near_array nears;
    exact_near_array spare_nears; /* where they are collected next time */
    double near_until;            /* the near pairs hold to this time */
    double counted;               /* what the pairs of bodies moved is counted to this time */
    exact_near appeared;          /* the last place that appeared within a step (sim/rolling_appear.c): */
    bool has_appeared;            /* a search may miss it */
    ARRAY(exact_touch) touches;
    ARRAY(group_contact) contacts; /* parallel to touches */
    ARRAY(exact_carried) carried;  /* since the last event */
    ARRAY(contact_load) loads;     /* parallel to touches, of the last evaluation */

    ARRAY(group_face) faces;       /* of the group, where a material presses uniformly */
    ARRAY(exact_face) face_places; /* parallel to faces */
    ARRAY(border_piece) face_pieces;
    flat_border face_border; /* scratch */
    bool faces_stale;        /* the touching set has changed since touches were put together to faces */

    row *rows; /* of the last evaluation */
    int row_count, row_capacity;
    int *row_hinge;     /* hinge (local entry) of each row */
    uint8_t *row_kinds; /* exact_row_kind */
    uint8_t *row_states;
    uint8_t *bound_states; /* of motor and limit of each hinge, between two evaluations */
    double *multipliers;

    double *y, *y_dense; /* BODY_NUMBERS * movable, then dissipated energy and work */
    ode integrator;
    bool integrator_ready;
    radau implicit; /* steps of the same, where damping would hold them short */
    step_pace pace;
    abut_error *error;    /* of a function that the integrator called */
    forces_result result; /* of the last evaluation */
    double speed;         /* largest speed in the group, for scales */
    bool integrating;     /* an evaluation for the integrator: only accelerations are wanted */
    bool cut_short;       /* the last step, by an event */
    int calm;             /* steps in a row in this frame that no event ended, and that did not grow, */
    double short_step;    /* and the length of the last of them, s */
    double storm;         /* tiny steps, less what calm ones have made up for (exact_storm.c) */
    bool marked;          /* near pairs are marked for the placed state */
    bool slowing;         /* a time step is being solved, with drag at its end */
    bool jammed;          /* nothing can move on (exact_jam.c) */
    bool confused;        /* no modes of friction were found, or the storm is there */
    int64_t frame_steps;  /* of the exact clock in this frame */
    int cuts;             /* time steps in a row that were cut */
    int halvings;         /* of time steps that left an overlap, in this frame */
    double unseen; /* after a time step: its seconds, in which features may have passed into each other */

    /* the only contact, in reduced coordinates (sim/rolling.h) */
    rolling *rolling;
    bool rolls;           /* since rolling-begins */
    bool rolling_goes_on; /* its coordinates are those of the state */
    bool general_next;    /* the next step is for the general clock */
    double clear;
    int rolling_body[2]; /* of the model */
    double late;         /* seconds by which the event at work is known to come late */

    exact_strike strikes[EXACT_STRIKES]; /* the last blows of this frame, in a ring, */
    int64_t strike_count;                /* of all that were noted */
} exact;

enum { EXACT_EXTRA = 2 };
static inline int exact_numbers(const exact *x) { return BODY_NUMBERS * x->movable + EXACT_EXTRA; }

typedef enum exact_event_kind {
    EXACT_NOTHING,
    EXACT_GAP,
    EXACT_JOINS,
    EXACT_LEAVES,
    EXACT_STICKS,
    EXACT_VANISHES,
    EXACT_SLIPS,
    EXACT_LIMIT,
    EXACT_MOTOR,
    EXACT_BREAKS
} exact_event_kind;
typedef struct exact_event {
    exact_event_kind kind;
    int64_t item; /* near pair, touch, or hinge */
    double time;
} exact_event;

/* ---- exact_forces.c */
void exact_pack(const exact *x, double *y);
/* Bodies that were placed otherwise, or whose dense output is another one, stand on no known place of it. */
void exact_forget_places(exact *x);
/* Puts the bodies where y says; kinematic ones where they are at that time. */
abut_status exact_place(exact *x, double time, const double *y, abut_error *error);
/* Wrenches and hinge rows at the placed state, and the powers of what dissipates and what does work; */
abut_status exact_apply(exact *x, double time, double powers[2], abut_error *error);
/* and contact points. */
abut_status exact_prepare(exact *x, double time, double powers[2], abut_error *error);
/* The placed and prepared state as dynamics sees it. */
group exact_group(exact *x);
/* Accelerations at the placed state for the present modes (or with modes chosen anew); fills loads,
 * multipliers, result. */
abut_status exact_accelerate(exact *x, double time, bool choose, bool distribute, double powers[2],
                             abut_error *error);
/* The right-hand side for the integrator. */
abut_status exact_derivative(void *user, double time, const double *y, double *dydt);
/* e . (M_a^-1 + M_b^-1) e at the contact: its acceleration along e for one newton along e. */
double exact_mobility(const exact *x, const group_contact *c, vec3 e);
/* J M^-1 J^T */
double exact_row_mobility(const exact *x, const row *r);
/* How fast springs, hinges with springs and drag move the bodies at the placed state, radians a second: */
typedef struct exact_paces {
    double swing;  /* springs swing; */
    double spring; /* springs swing, or their damping stops them; */
    double decay;  /* what has long died down within a given time would do so, or swing */
} exact_paces;
#define EXACT_DECAYED 30 /* exp(-30) is below the accuracy of the motion */
exact_paces exact_find_paces(const exact *x, double time);
abut_status exact_evaluate_contacts(exact *x, abut_error *error);

/* The placed state is the end of a step: full turns of hinges are counted from here. */
void exact_know_hinges(exact *x);
/* A row of the hinges cannot be kept (-1: none): the run tells the first one. */
void exact_note_contradiction(exact *x, int number, double time);

/* ---- exact_motor.c */
/* At the placed state: which motors hold their speed. */
abut_status exact_set_motors(exact *x, abut_error *error);
/* Of those, with the forces of that state: the ones that cannot go on to. */
void exact_free_motors(exact *x);
void exact_find_motors(exact *x, double t0, double t1, exact_event *best);
/* Wrenches of the motors in a time step of h, and what they do to the work of the step. */
abut_status exact_push_motors(exact *x, double h, double *forces, abut_error *error);

/* ---- exact_jam.c */
/* Whether hinges and contacts leave velocities at all, at the placed state, which stays as it is: INFEASIBLE
 * with the names of those that contradict each other; `friction`: no impulses with friction were found, it
 * may be that which jams. */
abut_status exact_look_for_jam(exact *x, double time, bool friction, abut_error *error);
/* Where the drift correction did not find places that satisfy hinges and contacts: finds them, or INFEASIBLE
 * in the same way. */
abut_status exact_find_places(exact *x, double time, abut_error *error);

/* ---- exact_resist.c: rolling and spinning resistance */
void exact_remember_turns(exact *x); /* at the start of a step */
/* Directions at the placed state, on the side of the step's start. */
void exact_follow_turns(const exact *x, const exact_touch *t, group_contact *c);

/* ---- exact_face.c */
/* The faces that lie on each other at a touch; -1 where there is none. */
void exact_faces_of(const exact *x, int64_t place, int32_t faces[2]);
/* Touches of one region: the same two bodies, one normal, one plane, the same faces. */
bool exact_same_region(const exact *x, int64_t i, int64_t j);
/* The faces at the placed state, after the contacts were evaluated. */
abut_status exact_update_faces(exact *x, abut_error *error);
void exact_free_faces(exact *x);
/* At the start of a step: in which direction the faces slip. */
void exact_face_remember(exact *x);

/* ---- exact_onset.c */
/* With the loads of the placed state: which places begin to slip; whether any does. */
bool exact_onset_find(exact *x);
/* The same, at the start of a step. */
void exact_onset_remember(exact *x);
/* Modes and forces at an event, such that they hold in the step that follows. */
abut_status exact_onset_choose(exact *x, double powers[2], abut_error *error);
/* Turns the directions of slow slip towards what the accelerations just found ask for; true: they are to be
 * found anew. */
bool exact_onset_turn(exact *x, exact_turning *t);
/* Where the forces of the directions that were tried were not found: goes back with them; true: they are to
 * be found anew. */
bool exact_onset_back(exact *x, exact_turning *t);
/* With the loads of the placed state: after how long the slip of a touch ends, if that is so soon that it is
 * as good as over; INFINITY otherwise. */
double exact_slip_left(const exact *x, int64_t item);
/* Slip of the face of a touch, at its place p, along that direction: an inner product of twists. */
double exact_face_slip(const exact *x, int64_t item, const contact_point *p);
/* Whether the touch is the one that stands for its face. */
bool exact_face_is_first(const exact *x, int64_t item);
/* The slip of the face of a touch ended. */
void exact_face_sticks(exact *x, int64_t item);

/* ---- exact_near.c */
/* Near pairs for a step from now of at most *limit, which is cut to what they hold for. */
abut_status exact_look_around(exact *x, double *limit, abut_error *error);
/* Speeds of the pairs of bodies in the step at work, no smaller than before: as they are placed now. */
void exact_measure_speeds(exact *x);
/* The part of a step in which nothing moved farther than the near pairs were collected for, with the bodies
 * placed at its end: the rest of it is to be done again. */
double exact_within_reach(exact *x, double start, double reached);
/* After a step of h. */
void exact_count_moved(exact *x, double h);
/* Positions were corrected by these displacements. */
void exact_count_shift(exact *x, const spatial *shift);
/* Gap, place, normal and rate of a near pair at the placed state; false where it has none. */
bool exact_know_near(const exact *x, exact_near *n, contact_point *p);
/* The place of a near pair at the placed state; on smooth surfaces, over the borders of patches. */
bool exact_near_at(const exact *x, const exact_near *n, contact_point *p, bool *faces);
/* In epsilon: what touched and is deeper has changed sides. */
#define EXACT_MOST_DEPTH 1e4
/* A closed smooth surface and a half-space: what lies behind is an overlap, however deep. */
bool exact_is_sunk(const exact *x, const exact_near *n);
/* A place on a smooth surface is remembered where it is now. */
void exact_near_move(const exact *x, exact_near *n);
/* How far the features of a pair of bodies may have passed into each other unseen in the time step that ended
 * just now, m; 0 where none did; and of any pair. */
double exact_unseen_depth(const exact *x, int meeting);
double exact_unseen_most(const exact *x);
/* A line and something round; pairs of sharp edges are collected for all that they can turn to. */
bool exact_has_round_line(const near_pair *p);
double exact_gap_rate(const exact *x, int a, int b, const contact_point *p);

/* ---- exact_sleep.c */
/* At the placed state, from which a window of h begins: how far the motion of the pair may stray. */
void exact_start_field(const exact *x, exact_pair *p, double limit);
/* How fast the pair moves otherwise than it did when it was collected: a bound for all their points, m/s. */
double exact_straying(const exact *x, const exact_pair *p);
/* Fills clear, closing and bends of a near pair that was just collected. */
void exact_lay_down(const exact *x, exact_near *n);
/* How far and how fast features may be apart and pass each other, to be awake within a window of h. */
near_window exact_window(const exact *x, const exact_pair *p, double h);
/* Whether the near pair cannot have met before `time`, which is not after the end of the step at work. */
bool exact_sleeps(const exact *x, const exact_near *n, double time);

/* ---- exact_touch.c */
/* Whether two places say the same thing: the same point, the same normal.  Where surfaces nearly conform the
 * place of a smooth contact is known to a few epsilon only. */
static inline bool exact_same_place(const exact *x, const near_pair *pair, const contact_point *p,
                                    const contact_point *q) {
    bool smooth = smooth_is_pair(pair);
    return vec3_distance(p->at, q->at) <= (smooth ? 4 : 1e-2) * x->model->tolerance.touching &&
           vec3_distance(p->normal, q->normal) <= (smooth ? 1e-4 : 1e-6);
}
/* The touching set at the placed state; old places keep their memory.  `generous`: within epsilon, as at the
 * start of a run; ahead > 0: and what can close within that time. */
abut_status exact_update_touches(exact *x, bool generous, double ahead, abut_error *error);
bool exact_add_touch(exact *x, exact_near *n);
/* Gap at which a pair counts as touching. */
double exact_touching_gap(const exact *x, bool generous, double rate);
/* Whether the near pair, at its present rate, would bounce. */
bool exact_bounces(const exact *x, const exact_near *n);
/* The deepest overlap among the contacts, m; 0: none. */
double exact_deepest(const exact *x);
void exact_keep_touches(exact *x, const bool *kept);
/* Lets go contacts without a single place (a rim that has come to lie flat, edges that became parallel):
 * other pairs of their features have them. */
abut_status exact_drop_degenerate(exact *x, abut_error *error);

/* ---- exact_disc.c: the flat end of a cylinder on a plane, and its rim */
typedef enum disc_order { DISC_RATE, DISC_ACCELERATION } disc_order;
/* Adds the point of each rim that lies flat at which rate or acceleration of the gap is least, if that is
 * below -limit; *added: there was one. */
abut_status exact_disc_cut(exact *x, disc_order order, double limit, bool *added, abut_error *error);
/* Whether the touch is a point that was added so, still touches, and carries something. */
bool exact_disc_keeps(const exact *x, int64_t item, near_pair *pair, contact_point *point);
/* Whether the pair is a rim on a plane or in a cavity: it has no place where it lies flat. */
bool exact_disc_is_rim(const near_pair *p);
/* Whether the pair is a point of a rim and a plane. */
bool exact_disc_is_point(const exact *x, const exact_near *n);
/* Whether a point of a rim at `point` is the deepest place of the rim, which leans: then that has the
 * contact. */
bool exact_disc_yields(const exact *x, const exact_near *n, const contact_point *point);
/* The old touch, a point of a rim, that a rim which has come to lean goes on from; -1: none. */
int64_t exact_disc_before(const exact *x, int64_t count, const exact_near *n, const contact_point *point);
/* Rims that lean remember where they touch at the start of a step, */
void exact_disc_remember(exact *x);
/* and whether the place of a touch has gone to the other side of its rim since, at the placed state. */
bool exact_disc_turned(const exact *x, int64_t item);

/* ---- exact_carry.c */
/* Leaves out the contacts that others carry. */
abut_status exact_carry(exact *x, abut_error *error);
bool exact_is_carried(const exact *x, const exact_near *n);

/* ---- exact_search.c */
abut_status exact_place_dense(exact *x, double time, abut_error *error);

/* ---- exact_path.c */
void exact_bound_paths(exact *x); /* of the dense output as it is now */

/* ---- exact_apart.c */
exact_proof exact_prove(exact *x, const exact_near *n, double t0, double t1);

/* ---- exact_gaps.c, exact_events.c: of [t0, t1], or of what is proven of it (x->proven) */
exact_event exact_find_gap(exact *x, double t0, double t1); /* only gaps that close */
exact_event exact_find_event(exact *x, double t0, double t1);
double exact_find_limit(exact *x, double t0, double t1); /* when a hinge first reaches one; INFINITY: none */
int exact_limit_reached(exact *x, int entry); /* the side of the limit that it stands at, and goes to; 0 */

/* ---- exact_impact.c */
/* ABUT_FAILED, with a message that names the body, where a velocity of the movable bodies is not finite: none
 * leaves an impact or a time step. */
abut_status exact_check_finite(const exact *x, const twist *velocities, const char *what, abut_error *error);
/* Solves the impact at the placed state if anything approaches (or always, without_impact). */
abut_status exact_impact(exact *x, bool without_impact, bool *happened, abut_error *error);
double exact_approach_limit(const exact *x); /* m/s: slower approach is none */
/* The fastest approach among touching points and reached limits, m/s (rad/s for angles). */
double exact_approach(const exact *x);

/* ---- exact_loop.c */
/* A body's speed where it is largest, of a twist about its centre. */
double exact_surface_speed(const exact *x, int body, spatial v);

/* ---- exact_chatter.c */
/* Whether a contact that leaves at that rate may turn out to be held. */
bool exact_is_slow_flight(const exact *x, const group_contact *c, double rate);
/* With the forces of all contacts: lets go those that leave faster than `limit` and fly too high; the
 * energy of the flights of others that leave, which are to be held. */
abut_status exact_hold_low(exact *x, double limit, bool *dropped, double *energy, abut_error *error);

/* ---- exact_zeno.c */
/* Before an impact: contacts whose further bounces stay within epsilon get no restitution, and the time at
 * which their bounces end. */
void exact_sum_bounces(exact *x);
/* How many bounces it takes, each slower by the ratio e, until they are slower than `slowest`. */
int exact_bounces_of(double speed, double e, double slowest);
/* contact-made of the pairs whose bounces have ended by `time`. */
abut_status exact_tell_made(exact *x, double time, abut_error *error);

/* ---- exact_collapse.c */
/* Before an impact: places that are struck in turn, in a series that ends within epsilon, become contacts
 * without restitution. */
abut_status exact_sum_collapse(exact *x, abut_error *error);
/* Whether the blow of this instant goes on a series that shrinks. */
bool exact_collapses(exact *x);

/* ---- exact_correct.c */
bool exact_is_sharp(const element *e);
void exact_anchor(exact *x);
abut_status exact_correct(exact *x, double time, abut_error *error);
abut_status exact_correct_velocities(exact *x, double time, abut_error *error);
/* Velocities that hinges (at the start of a run) or held contacts do not allow are closed as by a blow: what
 * that takes is dissipated.  No event tells it, so unless `most` is INFINITY nothing is done where it takes
 * more energy than `most` and than a slight part of all, or changes the velocity of any point of a body by
 * more than the speed of rest. */
typedef struct exact_closing {
    bool closed;
    double taken;          /* energy of the change */
    double changed;        /* most change of the velocity of a point of a body, m/s; */
    double changed_moving; /* of those that moved before, */
    int body;              /* and of which; -1: none */
} exact_closing;
abut_status exact_close_velocities(exact *x, double most, exact_closing *did, abut_error *error);

/* ---- rolling_traverse.c: contacts of smooth surfaces move over their atlases */
/* Whether the place of a touch has left its patch, at the placed state. */
bool rolling_leaves_patch(const exact *x, int64_t item);
/* Hands the place of a touch to the neighbouring patch and emits patch-crossed; *crossed is false where the
 * contact ends there. */
abut_status rolling_cross(exact *x, int64_t item, bool *crossed, abut_error *error);
/* No step can be made from the placed state, because a place is about to end: it jumps to the next one. */
bool rolling_jump(exact *x);
/* The smooth touch at its place of the placed state; false if it is none, or has ended. */
bool rolling_follow(const exact *x, int64_t item, near_pair *pair, contact_point *point);

/* ---- rolling_appear.c: the part of a step in which no place of smooth surfaces overlaps that the near pairs
 * do not know, on the dense output */
double rolling_within_known(exact *x, double start, double reached);
/* The place that appeared last, where it is now; false where there is none, or it has ended. */
bool rolling_appeared(exact *x, contact_point *p);

/* ---- rolling_handover.c, rolling_evolve.c: a single lasting contact in reduced coordinates */
/* Whether the next step is one of reduced coordinates; emits rolling-begins and rolling-ends. */
abut_status rolling_ready(exact *x, bool *ready, abut_error *error);
/* That step, and the event that ended it, to be settled. */
abut_status rolling_go(exact *x, exact_event *e, abut_error *error);
/* A step that goes beyond the frame is kept for the next one, in the account of the group. */
abut_status rolling_keep_ahead(exact *x, abut_error *error);
/* Whether the load of the only contact is known from such a step: it is then that of touch 0. */
bool rolling_knows_load(exact *x);

abut_status exact_correct_positions(exact *x, double time, abut_error *error);
/* Whether contacts or hinges are off by more than epsilon at the placed state. */
bool exact_misses(exact *x, double time, abut_error *error);

/* A pair of bodies and how many places it touches, with a number that depends on which. */
typedef struct pair_mark {
    int a, b;
    uint64_t features;
    int first; /* a touch of the pair */
    bool slips, sticks;
    bool told;       /* contact-made was told, or is due: not all of its places still bounce */
    abut_event lost; /* what is told where it no longer touches: that place of it, and what touched there */
} pair_mark;

typedef struct pair_marks {
    pair_mark *items;
    int count;
} pair_marks;
/* ---- exact_storm.c */
/* Counts a step of the exact clock that moved time by `advanced`; true when the group is to be stepped. */
bool exact_storm_counts(exact *x, double advanced);
void exact_storm_begin(exact *x);
/* *rests: neither before nor after the step did anything move that it can tell from rest. */
abut_status exact_time_step(exact *x, bool *rests, abut_error *error);

/* ---- exact_time_step.c */
typedef struct exact_impulses {
    twist *before;       /* velocities at the start of the step, after the impacts there, */
    spatial *velocities; /* and at its end */
    bool *held;          /* bodies at a contact or a hinge: the others fly */
    double *normals, *rows, *offsets;
    vec3 *frictions;
} exact_impulses;
typedef struct exact_flow {
    double work, dissipated; /* joule, in the step; */
    double stopping;         /* of the dissipated: to stop an approach, known to first order of the step */
} exact_flow;
/* Velocities, contacts and path of a step of at most *h from the placed state at x->time; *h is cut. */
abut_status exact_make_step(exact *x, double *h, const twist *before, exact_impulses *j, exact_flow *flow,
                            abut_error *error);
/* ---- exact_push.c */
/* Bodies that touched in the step, and at its end overlap but touch nowhere, are pressed where that is. False
 * when memory is out. */
bool exact_catch_lost(exact *x, const pair_marks *before);
/* Gaps of pressed points back to zero, and of what that pushes into each other. */
abut_status exact_push_out(exact *x, abut_error *error);

/* ---- exact_balance.c */
/* Kinetic energy of the group, and the potential of gravity, springs and hinge springs. */
double exact_energy(const exact *x);
double exact_impulse_work(const exact *x, const exact_impulses *j);
double exact_impulse_loss(const exact *x, const exact_impulses *j, const twist *before, double *stopping);

/* ---- exact_settle.c */
void exact_measure_speed(exact *x);
/* Impacts until nothing that touches approaches. */
abut_status exact_impacts(exact *x, abut_error *error);
/* Near pairs that say what a touch of the set says (the same place, the same normal) are marked, so that the
 * search for new contacts leaves them alone.  `evaluated`: gap, place and normal are those of the placed
 * state already (exact_update_touches), only the rates are not. */
void exact_mark_touching(exact *x, bool evaluated);
bool exact_mark_pairs(exact *x, pair_marks *out); /* in the arena; false when memory is out */
/* At an instant: the event, what touches, impacts, modes.  Emits how the contacts of each pair changed. */
abut_status exact_settle(exact *x, bool start, exact_event e, abut_error *error);
/* After a time step: what touches, and impacts that are faster than rest_speed. */
abut_status exact_settle_step(exact *x, const pair_marks *before, abut_error *error);
abut_status exact_reach_limits(exact *x, abut_error *error); /* prepares the rows as well */
/* Overlap at the end of a step, over all points that touch, and how well its contact problem was solved. */
void exact_audit_overlap(exact *x);
double exact_acceleration_limit(const exact *x); /* m/s^2: a smaller acceleration of a gap is rounding */
/* A feature of a local body, as recordings and events have it. */
abut_entity exact_entity(const exact *x, int local, contact_feature f);
abut_event exact_contact_event(const exact *x, abut_event_kind kind, int place);
abut_status exact_emit(exact *x, abut_event e, abut_error *error);
abut_status exact_emit_at(exact *x, abut_event e, double time, abut_error *error);

/* ---- exact_loop.c */
/* Whether anything moves faster than `slow`, or will for other reasons than forces. */
bool exact_moves(const exact *x, double slow);
/* Keeps the dense output of the step for the recording. */
abut_status exact_keep_segment(exact *x, double start, double end_time, abut_error *error);
abut_status exact_start_integrator(exact *x, abut_error *error);
/* Moves the group to x->end. */
abut_status exact_advance(exact *x, abut_error *error);

/* ---- exact_plan.c: what may meet within a frame */

/* Items of every group: those of group g are list[first[g]] .. list[first[g + 1] - 1]. */
typedef struct exact_members {
    int *first, *list;
} exact_members;

struct exact_plan {
    abut_sim *run;
    double margin;        /* of the boxes */
    double *reaches;      /* of every body: how far it was found to go in this frame, m; NULL: not asked */
    box *boxes;           /* of every body, which it does not leave in the frame */
    kinematic_most *most; /* of every body that follows a function, in the frame; NULL: there is none */
    int *root;            /* union-find over bodies */
    int *group_of;        /* of every body; -1: it does not move by forces */
    int group_count;
    bool *calls; /* groups in which functions of the caller are asked: moved in the caller's thread */
    ARRAY(exact_pair) pairs; /* model bodies */
    exact_members bodies, hinges, springs, forces;
    exact_members meetings; /* of `pairs` */
    exact_members touches;  /* of the state's */
};
/* Plans the time h from now, with reaches that are zero at first; `together`: all bodies in one group. Memory
 * of run->scratch, but for the pairs.
 */
bool exact_plan_make(exact_plan *p, abut_sim *run, double h, double *reaches, bool together);
void exact_plan_free(exact_plan *p);
/* Every body is still inside its box. */
bool exact_plan_kept(const exact_plan *p);
/* Whether a body of the group has left its box: then the reaches of all its bodies are set anew. */
bool exact_plan_left(const exact_plan *p, const exact *x);
/* What a local body does in the frame at most, if it follows a function; NULL otherwise. */
const kinematic_most *exact_most(const exact *x, int local);

/* ---- exact_frame.c */
abut_status exact_frame(abut_sim *run, double until, abut_error *error);
/* The whole world as one group at the present time, for output: contacts and forces without moving. */
abut_status exact_look(abut_sim *run, exact *x, abut_error *error);
void exact_free(exact *x);

#endif
