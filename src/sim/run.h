/* A run: a model, its state, and what the clocks need on the way.
 *
 * The state is one block without pointers:
 *
 *   [ run_state | motion x bodies | step_pace x bodies | hinge_memory x hinges |
 *     watch_memory x watches | touch x touch_count ... capacity ]
 *
 * Copying it is a snapshot; copying it back is a restore.  Frames are tried on the block and undone by it
 * when a body left the bounds that the frame was planned with. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "abut/complementarity.h"
#include "dynamics/forces.h"
#include "dynamics/reduced.h"
#include "sim/model.h"

#include <stdatomic.h>

enum { RUN_MAGIC = 0x52425541, RUN_VERSION = 10 };

/* Memory of a touching place: which features, and what friction did there last. */
typedef struct touch {
    int32_t a, b; /* bodies of the model */
    near_pair pair;
    int32_t mode, rolling, spinning;  /* friction_mode */
    int32_t pressed, anchored, rolls; /* rolls: in reduced coordinates */
    vec3 slip_along, roll_along;
    double spin_along;
    double clear, made_at; /* exact_touch */
    vec3 anchor_a, anchor_b, push;
} touch;

/* How a body's group was stepped last. */
typedef struct step_pace {
    double hint;       /* step that the integrator would take next; 0: not known; PACE_RESTS */
    double window;     /* for which near pairs are collected next; 0: not known; < 0: it is being shortened */
    double cost;       /* of the last window, near pairs per second */
    double steps_left; /* of time stepping (exact_storm.c) */
    double stepped, calm_since; /* how many the last storm was given, and when it was over */
    double lost; /* joule: the body's share of what its time steps took beyond the laws (exact_storm.c) */
} step_pace;
enum { PACE_RESTS = -1 };

typedef struct hinge_memory {
    double coordinate;
    int32_t broken;
    int32_t at_limit; /* -1, 0, +1: rests on that limit */
} hinge_memory;

/* On which side of zero a watch is (watch.c). */
typedef struct watch_memory {
    double largest; /* of its values so far, without sign */
    int64_t side;   /* -1, +1: it has left zero to that side, and coming back is an event; 0: it has not */
} watch_memory;

/* A step of reduced coordinates that goes beyond the frame (sim/rolling_begin.c): what it takes to make it
 * again with the same bits. */
enum { AHEAD_NUMBERS = 27 };
typedef struct run_ahead {
    int64_t body;                        /* of the model: body 1 of the contact */
    uint64_t pairs;                      /* which pairs of bodies could meet */
    double start, end, hint, last_error; /* of the integrator */
    double y[AHEAD_NUMBERS];             /* at the start */
    double counted[2];                   /* energies of the step that are in the books already */
    reduced_slide slip, roll;
    double spin_start;
} run_ahead;

/* And the step itself, where it is at hand. */
struct rolling;
typedef struct ahead_item {
    run_ahead step;
    struct rolling *made; /* NULL: it has to be made again */
} ahead_item;
typedef ARRAY(ahead_item) ahead_array;

typedef struct run_state {
    uint32_t magic, version;
    uint64_t bytes, model_hash;
    double time;
    uint64_t sequence;
    int64_t steps;
    int64_t events[ABUT_EVENT_KINDS];
    double start_energy, largest_energy, dissipated, work, numerical;
    vec3 start_momentum;
    vec3 impulse; /* of gravity and all contacts with immovable bodies, for the momentum balance */
    double deepest_overlap, residual, constraint_error, energy_error, momentum_error;
    int64_t storms, time_steps; /* exact_storm.c */
    double time_stepped;
    int32_t body_count, hinge_count, touch_count, touch_capacity;
    int64_t watch_count;
    int64_t
        ahead_count; /* steps that go beyond the present time; in a snapshot they come behind the touches */
} run_state;

typedef ARRAY(abut_event) event_array;

/* Dense output kept until its frame is accepted. */
typedef struct kept_segment {
    double start, end, step;
    int64_t first_body, body_count;
    int64_t first_number;
    bool again; /* it was told in an earlier frame, and goes on in this one */
} kept_segment;
typedef struct segment_list {
    ARRAY(kept_segment) items;
    int_array bodies;
    double_array numbers;
} segment_list;

/* What a group did in a frame.  Groups are moved apart from each other, on any thread, each with an account
 * of its own; the accounts are added to the run in the order of the groups (exact_account.c), so that sums
 * have the same bits for any number of threads. */
typedef struct run_account {
    event_array events;
    segment_list segments;
    ARRAY(touch) touches;
    ahead_array aheads;
    double dissipated, work, numerical; /* numerical: taken by time steps (exact_balance.c) */
    double deepest_overlap, residual, constraint_error, momentum_error; /* largest */
    int64_t steps;
    int64_t evaluations; /* of accelerations */
    int64_t storms, time_steps;
    double time_stepped;
    double first_storm; /* when, and a body of the group */
    int storm_body;
    double denied_at;      /* the first restitution that no impulses give: when, */
    double denied_scale;   /* 1 and how much of it is left; 0: none, */
    int denied[2];         /* of which bodies */
    double contradicts_at; /* the first contradiction of hinges: when, */
    int contradicts;       /* and the hinge that misses most, from 1; 0: none */
    double misfit;         /* hinges changed a velocity at the start by so much, m/s; 0: none, */
    int misfit_body;       /* and of which body */
    abut_status status;
    abut_error error;
} run_account;

/* What a thread needs to move groups. */
typedef struct run_lane {
    arena scratch;
    abut_lcp_solver *lcp;
    int *local_of; /* of every body: its number in the group at work, or -1 */
} run_lane;

struct abut_sim {
    abut_context context;
    const abut_model *model;
    abut_sim_options options;
    run_state *state, *saved; /* saved: at the start of the frame */
    uint64_t state_bytes;     /* allocated for each */
    arena scratch;
    event_array events;          /* of the frame */
    ARRAY(run_account) accounts; /* of the groups of the frame; those behind `account_count` wait for reuse */
    int64_t account_count;
    ahead_array aheads;           /* steps that go beyond the present time */
    ARRAY(run_lane *) lanes;      /* one a thread */
    ARRAY(abut_contact) contacts; /* answer of abut_sim_contacts */
    ARRAY(abut_vec3) contact_vectors;
    ARRAY(int32_t) contact_loops;
    spatial *accelerations;      /* of all bodies, at the present time */
    struct live_work *live;      /* the live clock; NULL: the exact one */
    struct run_auditor *auditor; /* audit.c; NULL until the first look */
    int64_t evaluations;         /* of accelerations */
    bool started;                /* the contacts of time 0 have been found */
    bool told_contradiction;     /* of hinges */
    bool told_denied;            /* restitution */
    bool told_misfit;            /* velocities at the start that hinges do not allow */
    bool told_storm;             /* a frame may be undone and planned anew */
    atomic_bool stop;            /* abut_sim_stop was called */
};

/* CANCELLED where the caller wants the advance to end. */
static inline abut_status run_goes_on(const abut_sim *run, double time, abut_error *error) {
    if (!atomic_load_explicit(&run->stop, memory_order_relaxed)) return ABUT_OK;
    return fail(error, ABUT_CANCELLED, "stopped at t = %.9g", time);
}

static inline motion *run_motions(run_state *s) { return (motion *)(void *)(s + 1); }
static inline step_pace *run_paces(run_state *s) {
    return (step_pace *)(void *)(run_motions(s) + s->body_count);
}
static inline hinge_memory *run_hinges(run_state *s) {
    return (hinge_memory *)(void *)(run_paces(s) + s->body_count);
}
static inline watch_memory *run_watches(run_state *s) {
    return (watch_memory *)(void *)(run_hinges(s) + s->hinge_count);
}
static inline touch *run_touches(run_state *s) { return (touch *)(void *)(run_watches(s) + s->watch_count); }

/* Whether anybody wants the dense output. */
static inline bool run_keeps_segments(const abut_sim *run) {
    return run->options.segment || run->model->watch_count > 0;
}

/* ---- watch.c: user events of the watches, added to those of the frame */
/* On the dense output of the frame of the exact clock that began at `start`. */
abut_status run_watch_frame(abut_sim *run, double start, abut_error *error);
/* In a step of the live clock of dt that ends now, along the straight paths from where the bodies were. */
abut_status run_watch_step(abut_sim *run, const motion *from, double dt, abut_error *error);

/* ---- audit.c: the deepest overlap of all pairs at the present time, into the state */
abut_status run_audit_overlap(abut_sim *run, abut_error *error);
void run_auditor_free(abut_sim *run);

/* ---- exact_account.c */
void run_account_clear(run_account *a);
/* At least `count` accounts and lanes; false when memory is out. */
bool run_reserve_accounts(abut_sim *run, int64_t count);
bool run_reserve_lanes(abut_sim *run, int64_t count);
/* Adds the accounts of the frame to the state, in order; the status is that of the first one that failed. */
abut_status run_add_accounts(abut_sim *run, abut_error *error);
/* Nothing was told of this frame. */
void run_clear_accounts(abut_sim *run);
void run_accounts_free(abut_sim *run);

/* Steps beyond the frame: those of the groups become the run's; or the run has none. */
abut_status run_take_aheads(abut_sim *run, abut_error *error);
void run_drop_aheads(abut_sim *run);
void rolling_free(struct rolling *r); /* rolling_begin.c */

/* Room for `count` touches in the state (and in the saved one). */
bool run_reserve_touches(abut_sim *run, int count);

/* Potential energy of gravity, springs and hinge springs; kinetic energy; momentum. */
abut_energy run_energy(const abut_sim *run);

/* Tells the segments and events of the frame. */
abut_status run_deliver(abut_sim *run, abut_error *error);

/* INVALID when bodies overlap at the start, with every pair (start.c). */
abut_status run_check_start(const abut_model *model, abut_error *error);

#endif
