/* The live clock (DESIGN section 7): a fixed step, bounded work, the same bits for any number of workers.
 *
 *   live.c           creation, the step as a list of stages, snapshots
 *   live_broad.c     boxes, the tree, and the sorted list of pairs that may touch
 *   live_narrow.c    which pairs are looked at, and where their contacts belong
 *   live_collide.c   manifolds of a pair, impulses carried over by feature ids
 *   live_share.c     stages on several workers
 *   live_sway.c      the pace of an island: how often its sub-steps are cut; live_buckle.c: what stands at
 * which live_island.c    bodies that push each other; who sleeps, who wakes, who is solved directly
 *   live_color.c     contacts in colours: in one colour no body occurs twice; eight contacts a batch
 *   live_prepare.c   lanes of a batch from its contacts; impulses back into them
 *   live_refresh.c   contacts of batches found anew within a step
 *   live_kernels.h   the kernels on batches: prepare, warm start, solve, relax; compiled by live_solve.c for
 * any processor and by live_solve_avx2.c live_nncg.c      conjugate gradients over the sweeps of a sub-step,
 * by choice live_substep.c   velocities, positions, and the order of all that on several workers
 *   live_direct*.c   small islands with hinges or unequal masses: exact complementarity problems
 *   live_hinge.c     hinge rows of an island
 *   live_loose*.c    hinges of large islands at once, and the contacts of the bodies on them
 *   live_hinged.c    hinged islands in pieces of a sub-step, as short as they must be
 *   live_impact.c    restitution by propagation; live_blow.c: the law of a blow
 *   live_impact_island.c, live_impact_hinged.c   which contacts of hinged islands, and their law
 *   live_grip.c      stick and slip in batches
 *   live_force.c     gravity, drag, springs, forces, kinematic bodies
 *   live_query.c     rays, points and moving shapes
 *   live_fast.c      bodies that moved where no contact awaited them; live_close.c: on hinges
 *   live_sensor.c    shapes that tell what touches them
 *   live_event.c     what began and ended: contacts, slip, limits, broken hinges
 *   live_report.c    contacts with their forces, energy
 *   live_audit.c     what the clock promises, and whether it kept it
 *   live_switch.c    from one clock to the other
 *
 * What goes on from step to step (the state) is: the motions, the hinge memory, and here for each body how
 * long it has been still, and for each pair its contacts with impulses and caches.  All else is made anew in
 * each step from that, in an order that depends on nothing else; so a restored run goes on with the same
 * bits.
 *
 *   bodies, slots    slot 0 is the ground, slot i + 1 is body i */
#ifndef SIM_LIVE_H
#define SIM_LIVE_H

#include "abut/live.h"
#include "contact/bvh.h"
#include "contact/collider.h"
#include "sim/live_lanes.h"
#include "sim/run.h"

#include <stdatomic.h>
#include <stddef.h>

enum {
    LIVE_COLORS = 64,       /* and one more, whose contacts are solved one after the other */
    LIVE_STATIC_COLOR = 48, /* contacts with immovable bodies come last: they are the ones to be kept best */
    LIVE_PACES = 5, /* an island at pace p takes 2^p sub-steps for each of the world's own: live_sway.c */
    LIVE_BLOCK = 8, /* batches that one task takes at once, at most */
    LIVE_BODY_BLOCK = 64, /* bodies */
    LIVE_PATIENCE = 4,    /* sub-steps at the edge of the cone: see live_grip.c */
    LIVE_COUPLINGS = MANIFOLD_POINTS * (MANIFOLD_POINTS + 1) / 2
};
#define LIVE_MARGIN 0.1 /* of fat boxes, of the smallest body */
/* Faceted bodies that moved by less against each other keep their points, of the smallest body: a tenth of
 * the reach, so that what was beyond the reach is found in time, and a body at rest that trembles has the
 * same points in each step. */
#define LIVE_AGAIN 0.002
/* Of the smallest body: so far ahead contacts are looked for at least, of pairs that come so close. */
#define LIVE_FORESIGHT 0.25
#define LIVE_CREEP     (1.0 / 16) /* of the rest speed, and LIVE_FAST: see live_grip.c */
#define LIVE_FAST      4
#define LIVE_SQUEEZED  0.1 /* of the smallest body: overlaps whose loads are not kept */
#define LIVE_USUAL     0.9 /* the part of a load that the springs of a contact are stretched about */

/* ---- the state */

typedef struct live_point {
    vec3 on_a, on_b; /* the two witness points, body axes from the centres of mass */
    uint64_t id;
    double gap; /* now */
} live_point;

typedef struct live_load { /* of a point */
    double normal; /* impulse of the last sub-step, N s; at any pace as much as the world's own takes */
    double steady; /* its usual load: LIVE_USUAL of a slow average; at any pace that of the same sag */
} live_load;

enum {
    LIVE_TOUCHING = 1,  /* had an impulse in the last sub-step */
    LIVE_SLIPS = 2,     /* its friction was at the edge of the cone */
    LIVE_TOLD_SLIP = 4, /* it slid: see live_event.c */
    LIVE_PUSHED = 8,    /* had an impulse in the last step */
    LIVE_LOOSE = 16,    /* its friction is that of slip, where that is less: see live_grip.c */
    LIVE_EDGE = 32      /* times the sub-steps that it has been getting loose for, up to LIVE_PATIENCE */
};

/* Groups of 64 bytes that are used together: who, loads, where, and one for each point.  Heaps are
 * larger than caches, and most contacts have fewer than four points. */
typedef struct live_contact {
    int32_t a, b; /* bodies, a < b; normal from b to a */
    int32_t count, flags;
    vec3 friction, rolling; /* impulses of the last sub-step, world */
    live_load loads[MANIFOLD_POINTS];

    double twist;
    uint64_t key;  /* which parts of the bodies */
    vec3 normal;   /* world */
    vec3 normal_b; /* the same in the axes of b, when the points were found */

    live_point points[MANIFOLD_POINTS]; /* those from `count` on mean nothing */
} live_contact;

/* A pair that may touch: where it was when it was last looked at, and what that showed.  A pair that hardly
 * moved needs no more; one that is looked at again, where the search for its normal ended. */
typedef struct live_seen {
    vec3 position; /* of a's centre from b's, axes of b */
    quat rotation; /* of a against b */
    double apart;  /* without contacts: the gap is at least that */
} live_seen;
typedef struct live_search {
    abut_convex_cache cache;
    uint64_t pad;
} live_search;
_Static_assert(sizeof(live_seen) == 64 && sizeof(live_search) == 64, "a cache line each");
typedef ARRAY(live_search) live_search_array;
typedef ARRAY(live_seen) live_seen_array;

typedef struct live_pair {
    int32_t a, b;
} live_pair;
typedef ARRAY(live_pair) live_pair_array;

/* All pairs of a step, sorted.  What stages that go through all of them ask of each lies close together, and
 * what was seen of a pair stays in its slot as long as there is the pair. */
enum { LIVE_UNSEEN = -1 };
typedef struct live_pairs {
    live_pair_array list;
    int_array slots;    /* of each: in w->seen and w->searches */
    int_array contacts; /* how many it has; LIVE_UNSEEN: it was never looked at */
} live_pairs;

typedef ARRAY(live_contact) live_contact_array;

/* Where a body was when its box was made, which it keeps while it hardly moves: live_broad.c. */
typedef struct live_placed {
    vec3 center;
    quat rotation; /* zero: it has no box yet */
} live_placed;

typedef struct live_rest {
    double still;       /* seconds since the body last moved, */
    double early, late; /* and how fast it was at most in the first half of them, and after: live_sleep.c */
    int32_t asleep, island;
    int32_t pace, tall; /* of its island: that of the next step, and the one at which it last swayed */
    double hold;        /* seconds: for so long it keeps this pace */
    int32_t hung;       /* on hinges of a large island, see live_loose.c */
    int32_t hurry;      /* the pace at which they can be closed, */
    double hurried;     /* for so many seconds */
} live_rest;

/* ---- what is made anew in each step */

/* What stages that go through all contacts ask of each, close together. */
enum {
    LIVE_PRESSES = 1,
    LIVE_SLIDES = 2,
    LIVE_DIMENSION = 4, /* times what touches: 0 points, 1 lines, 2 areas */
    LIVE_FOREMOST = 16, /* times the point that bears most */
    LIVE_STALE = 64     /* its gaps and its normal are those of the step before: live_place_now */
};
typedef struct live_link {
    int32_t a, b, count;
    int32_t mark; /* where the step ended: see live_event.c */
    double least; /* gap, where the step began (when it was placed) */
    double open;  /* the largest gap across which it pushed */
} live_link;
typedef ARRAY(live_link) live_link_array;

/* What the stages ask of a body, close together: model_body is large. */
typedef struct live_body {
    body_inertia inertia;
    vec3 center; /* of mass, shape axes */
    double drag_linear, drag_angular;
    double core; /* of the collider: see collider_core */
    int32_t group;
    bool movable, kinematic, spherical;
    bool bounded; /* has a bounded shape */
    bool light;   /* is looked at again within a step */
    bool ball;    /* of which any turn is as good as any other */
    bool rims;    /* a cylinder, an ellipsoid, a smooth surface: what is lowest runs round it as it turns */
} live_body;

/* What a body's motion at the start of a step makes of it by the end: the way of its centre, with the forces
 * on it, and how far turning carries any other point. */
typedef struct live_drift {
    vec3 way;
    double swing;
} live_drift;

/* A body that was put back on its way: where it ended, and until what part of the step it goes. */
typedef struct live_stop {
    pose end;
    double time;
} live_stop;

/* A body that was struck within the sub-step: when for the last time, where it was by then, and the way and
 * turn that it had gone. */
typedef struct live_struck {
    int blows;
    double time;
    motion at;
    spatial way;
} live_struck;

/* A contact with restitution as it is where its bodies were struck last, or where the sub-step begins; when
 * they meet, and how fast (0: they do not). */
typedef struct live_bouncer {
    live_contact c;
    int blows; /* of both by then; -1: not looked at in this sub-step */
    double time, speed, fall;
} live_bouncer;

/* Of a body, a displacement, or a change of either.  The fourth number of v is the inverse of the mass
 * (w->unit a kilogram; 0: immovable, or asleep) in w->velocities of what batches move, and means nothing
 * elsewhere; that of w is 0. */
typedef struct live_velocity {
    four v, w;
} live_velocity;

typedef struct live_mass { /* of w->unit kilograms */
    double inverse;        /* 0: immovable, or asleep */
    double inertia[6];     /* of R I^-1 R^T: xx yy zz xy xz yz */
    double pad;
} live_mass;

/* One contact point of eight manifolds.  Its arm is that of the middle of the manifold and d, the same for
 * both bodies.  What changes has its own cache line. */
typedef struct live_lane_point {
    lanes3 e; /* d x n; before it is prepared, d */
    lanes mass, lever, steady;
    lanes impulse, now; /* the gap now */
} live_lane_point;

/* Contacts whose static coefficient is larger than the other: see live_grip.c. */
typedef struct live_lane_grip {
    lanes hold;               /* the static coefficient */
    lanes slip1, slip2, spin; /* how it slid where the sub-step began; 0: it stuck */
    lanes speed2;             /* squared, of its points */
    lanes edge;               /* the sub-steps in a row in which friction could not keep that from growing */
    lanes_mask bound, loose;  /* its friction is at a bound; it slides */
} live_lane_grip;

/* Eight manifolds.  Heaps are larger than caches, and what a visit costs there is how many lines it asks for:
 * those of all visits come first, then as many points and couplings as there are, then what only relaxing
 * visits, rolling and grips need. */
typedef struct live_batch {
    int32_t a[LANES], b[LANES]; /* slots */
    int32_t contact[LANES];     /* -1: the lane is empty */
    int32_t points;
    uint8_t rolls, grips;       /* some lane has rolling resistance; a grip */
    uint8_t bounces, unused;    /* bit by lane: it has restitution */
    uint32_t moves_a, moves_b;  /* bit by lane: the body may be written */
    uint32_t renewed;           /* bit by lane: the contact was found anew, see live_refresh.c */
    uint32_t bearing, wavering; /* bit by lane: it bears something; and wavers, see live_sway.c; */
    uint32_t changing;          /* much more or less than usual */
    lanes inverse;              /* the sum of both masses' */
    lanes twist, friction1, friction2;
    lanes3 n, t1;                   /* and t2 = n x t1 */
    lanes3 ra, rb;                  /* from the centres of mass to the middle of the manifold */
    lanes_sym inertia_a, inertia_b; /* inverse, of w->unit */
    lanes k11, k12, k22;            /* inverse of the 2 x 2 mass matrix of friction */
    lanes coefficient, twist_mass, spinning;
    live_lane_point point[MANIFOLD_POINTS]; /* those from `points` on mean nothing */
    lanes coupling[LIVE_COUPLINGS];         /* normal velocity of point i by an impulse at j <= i */
    lanes gap[MANIFOLD_POINTS];             /* where the step began */
    lanes3 pushed;                          /* impulses of all sub-steps of the step, world */
    lanes3 rolling;
    lanes rolling_mass, rolling_limit;
    live_lane_grip grip; /* where `grips` */
} live_batch;
_Static_assert(offsetof(live_batch, n) % 64 == 0 && offsetof(live_batch, point) % 64 == 0, "cache lines");

typedef struct live_island {
    int32_t first_body, body_count;       /* in island_bodies */
    int32_t first_contact, contact_count; /* in island_contacts */
    int32_t first_hinge, hinge_count;
    int32_t first_spring, spring_count; /* between bodies */
    int32_t points;
    int32_t bearing, wavering, changing; /* contacts: live_sway.c */
    double load;                         /* of them, and their normals upwards by their loads */
    vec3 leaning;
    int32_t at_pace[LIVE_PACES], at_tall[LIVE_PACES]; /* how many of its bodies */
    int32_t pace, tall;                               /* of this step: those of most of them */
    double hold;
    int32_t hurry; /* the largest of its bodies */
    bool awake, direct;
    int32_t swift; /* the pace that it takes in this step for what is fast: live_swift.c */
    bool driven;   /* a motor or a body that moves by itself keeps it awake */
    double lightest, heaviest;
} live_island;

typedef struct live_softness {
    double rate, scale, soften;
} live_softness;

/* A row with what the solver does with it: wants J v + bias + give p = 0 with lo <= p <= hi. */
enum { LIVE_HINGE_ROWS = HINGE_MAX_ROWS + 3 };
typedef struct live_hinge_row {
    row r;
    int hinge;  /* of the model; -1: a contact's */
    int spring; /* of the model, where the row is that of a spring between bodies */
    int side;   /* of a limit: -1 lower, +1 upper; 0: another row */
    bool is_motor;
    double rate; /* what J v is to be where the step ends */
    double bias, give, lo, hi, impulse, mass;
    spatial da, db; /* velocities per unit of impulse */
} live_hinge_row;

typedef struct live_loose live_loose;

/* What held the coordinate of a hinge in the last sub-step: a motor at its speed, the limit that pushed. */
typedef struct live_hold {
    bool motor;
    int limit;    /* -1, 0, +1 */
    vec3 impulse; /* of all its rows in the sub-step */
} live_hold;

/* Stage: `count` blocks of work in as many shares as there are workers, see live_share.c. */
enum { LIVE_SHARES = 8 };
typedef struct live_stage live_stage;
typedef struct live_work live;
typedef void live_blocks(live *w, const live_stage *s, int first, int end); /* the items of a block */
struct live_stage {
    live_blocks *run;
    int kind, pace, first, total; /* items */
    bool waits;                   /* the next stage begins when this one is done */
    int block, count;             /* items of a block (the last one may have fewer), and how many blocks */
    atomic_int next[LIVE_SHARES]; /* blocks claimed of each share */
    atomic_int done;
};
/* What of a step is shared among workers. */
typedef enum live_part {
    LIVE_BROAD,
    LIVE_NARROW,
    LIVE_PREPARE,
    LIVE_SOLVE,
    LIVE_STORE,
    LIVE_REPORT,
    LIVE_PARTS
} live_part;

/* What a visit does with gaps and overlaps: see live_kernels.h. */
typedef struct live_visit {
    double inverse_h, push; /* m/s: overlap is not removed faster */
    double rest;            /* m/s: what approaches faster bounces, where there is restitution */
    live_softness soft;
    bool relax, special; /* special: some batches have grips or restitution */
} live_visit;

typedef struct live_kernels {
    void (*prepare)(live_batch *batch);
    void (*place)(live_batch *batch, const live_velocity *moved); /* gaps where the bodies are now */
    void (*warm)(const live_batch *batches, int count, live_velocity *velocities);
    void (*solve)(live_batch *batches, int count, live_velocity *velocities, const live_velocity *moved,
                  live_visit visit);
    void (*grip)(live_batch *batch, const live_velocity *velocities, double rest); /* see live_grip.c */
} live_kernels;

typedef struct live_sensor {
    collider *shape;
    int body; /* -1: the world */
    pose at;  /* in the axes of the body's shape */
    int_array touching, next;
} live_sensor;

struct live_work {
    abut_sim *run;
    const abut_model *model;
    const abut_context *context;
    abut_live_options options;
    abut_live_times times;
    live_kernels kernels;

    /* state */
    live_pairs known;            /* of the last step */
    live_seen_array seen;        /* by slot: the order of slots means nothing */
    live_search_array searches;  /* the same */
    live_seen_array seen_sorted; /* room for both when they are put in order, */
    live_search_array searches_sorted;
    int64_t slots_astray;        /* so many of which were taken out of it */
    live_contact_array contacts; /* of all pairs, in the order of the pairs */
    live_rest *rests;
    box *boxes; /* by body, with `placed` */
    live_placed *placed;

    /* scales */
    double size;  /* of the smallest moving body */
    double reach; /* contact points farther apart are not looked at */
    double push;  /* m/s: overlap is not removed faster */
    double unit; /* kg, a power of two: batches count impulses in it, so that floats hold them in any scene */
    double dt, h;          /* of the last step and its sub-steps */
    double waits;          /* seconds: the run is so far ahead of its bodies (live_advance) */
    int substeps, substep; /* the world's own: how many, and which one is under way */
    int32_t *levels;       /* by body: contacts away from the ground, see live_sway.c */
    double impact_time;    /* since the step began, while impacts are looked for */
    bool at_start;         /* the direct island under way is where the step began */
    bool in_pieces;        /* and has gone a part of the sub-step */

    /* bodies; arrays of slots */
    int bodies, slots;
    live_body *body;
    collider **colliders; /* one for each different shape; NULL: none */
    int collider_count;
    collider_block collider_block;   /* where they lie */
    int32_t *shape_of, *material_of; /* by body */
    uint8_t *faceted;                /* by body: its contacts can be used again while it hardly moves */
    uint8_t *alone;                  /* by body: gives one manifold with any other that does */
    double *radii;                   /* of the ball about the centre of mass */
    map64 apart;                     /* pairs that hinges keep from colliding */
    void *slot_block;
    live_velocity *velocities, *moved; /* moved: translation and rotation since the start of the step */
    live_velocity *before;             /* velocities before the contacts acted in this sub-step */
    live_drift *drifts;                /* by body */
    live_mass *masses;
    spatial *wrenches, *constant; /* all forces of a sub-step; those that stay for the step */
    motion *motions;              /* alias of the state's, by body */
    motion *kinematic_end;
    int_array drivers;    /* kinematic bodies */
    ARRAY(motion) drives; /* by time and driver: where it is when sub-steps at drive_pace begin and end */
    int drive_pace;
    double *wanders;     /* by body: how far a driver leaves its mean motion over the step */
    uint8_t *movable;    /* by slot: awake and with mass */
    uint8_t *turns;      /* by slot: has turned far in this step */
    uint8_t *flies;      /* by slot: nothing touches its island or pulls it by a spring */
    uint8_t *sprung;     /* by body: hangs on a spring */
    double *swings;      /* by body: bounds of frequencies squared, live_spring.c */
    live_velocity *calm; /* by slot, of the island at hand: velocities before its springs pulled */
    bool springs_pull;   /* of the island at hand: springs are forces, not rows */
    uint8_t *pace;       /* by slot: of its island; of kinematic bodies the largest of all */
    uint8_t *tall;       /* by slot: of its island */
    uint8_t *hung;       /* by slot: on hinges of a large island, see live_loose.c */
    uint8_t *hinged;     /* by slot: goes through sub-steps by itself, see live_hinged.c */
    live_struck *struck; /* by slot */
    uint8_t *bounces;    /* by slot: has a contact with restitution */

    /* broad */
    bvh tree;
    int32_t *leaves;
    live_pair_array near;  /* pairs of fat boxes */
    ARRAY(uint8_t) meets;  /* of each: whether the boxes meet, and one of them is new */
    live_pair_array extra; /* the pairs of bodies with new boxes */
    bool pairs_hold;       /* `known` has the pairs of the boxes that did not change */
    live_pairs pairs;      /* of this step, until the narrow phase has done with them */
    live_pair_array sorting;
    int_array buckets;
    int_array unbounded;
    uint8_t *renewed, *roams; /* has a new box in this step; left its fat one */
    uint8_t *seeks;           /* may be where others are: see live_fast.c */
    uint8_t *put_back;        /* is no longer where the step took it */
    uint8_t *seeks_again;     /* was put back in this round */
    live_stop *stops;         /* of those */
    uint8_t *ended;           /* has the box about it where it is now, */
    box *ends;
    int32_t *first_link; /* whose first body it is, see live_fast.c */
    vec3 given_back;     /* momentum that forces would have given in the times that were taken back */
    int_array around;    /* the bodies near those */
    bool tree_ready;
    double strayed; /* how far any body has moved since its box was made */
    motion *starts; /* where the bodies were at the start of the step */

    /* narrow */
    int_array free_slots;              /* of w->seen */
    live_link_array links, next_links; /* of the contacts; afterwards those of the last step */
    live_contact_array gone; /* of pairs that pressed in the last step and were not kept the first, */
    int_array gone_links;    /* and which of the links it had */
    ARRAY(vec3) pushed;      /* by contact: its impulses of all sub-steps of the step, N s */
    int_array old_of;        /* of each pair: the first of its old contacts, */
    int_array new_of;        /* and of its new ones */
    int_array place_of;      /* of each pair: its first place in `fresh`, or that it is kept */
    int_array looks;         /* the pairs that are not */
    live_contact_array fresh;

    /* islands */
    int32_t *parent;
    ARRAY(live_island) islands;
    int_array island_bodies, island_contacts, island_hinges, island_springs;
    uint8_t *in_direct; /* by body */

    /* colours and batches */
    uint64_t *used;                                      /* by slot: colours that its contacts have */
    int_array color_of;                                  /* by contact */
    int_array listed;                                    /* contacts, colour by colour */
    int_array lane_of;                                   /* by contact, where live_buckle.c asked for it */
    int color_first[LIVE_PACES * (LIVE_COLORS + 1) + 1]; /* batches; pace by pace */
    live_batch *batches;
    live_velocity *shifts;  /* two for each lane of a batch: see live_refresh.c */
    atomic_int any_turned;  /* in this step: see live_refresh.c */
    atomic_int any_renewed; /* in this sub-step */
    int64_t batch_count, batch_capacity;
    void *batch_block;
    bool grips;       /* some materials have a static coefficient larger than the other: live_grip.c */
    bool restitution; /* some have any */
    live_softness soft[LIVE_PACES];
    double stiffness; /* 1/s^2, at the world's own pace: of a contact, for a kilogram */
    int finest;       /* the largest pace of an island; hinge_pace: of those of loose hinges */
    int hinge_pace;

    /* conjugate gradients: per batch the impulses before the sweep, then their directions */
    lanes *nncg_impulses;
    void *nncg_block;
    int64_t nncg_capacity;
    live_velocity *nncg_velocities, *nncg_directions; /* the same of bodies */
    ARRAY(double) nncg_sums;                          /* by block */
    double nncg_beta, nncg_last;

    /* substeps */
    ARRAY(live_stage) stages;
    bool shared[LIVE_PARTS];        /* in the last step */
    int_array bouncing[LIVE_PACES]; /* contacts with restitution */
    ARRAY(live_bouncer) bouncers;   /* of the pace that is struck */
    ARRAY(live_hinge_row) rows;     /* of hinges of islands that are not direct */
    double *hinge_force;            /* by hinge: the largest in this step */
    int32_t *hinge_side;            /* by hinge: the limit that pushed in this step, -1, 0, +1 */
    live_hold *hinge_hold;          /* by hinge */
    int32_t *local_of;              /* by body, for direct islands */
    double joint_rate, direct_rate; /* 1/s: how fast errors of hinges and overlaps of direct islands go */
    int_array loose_hinges;         /* hinges of islands that are not direct */
    live_loose *loose;              /* their equations; NULL: none */
    arena loose_memory;             /* of those, for the step */
    double *motor_speeds;
    arena memory, scratch; /* what lives as long as the run; what lives for a stage */
    ARRAY(live_sensor) sensors;
    ARRAY(abut_live_sensed) sensed; /* in the last step */
    abut_lcp_solver *lcp;
    abut_status status; /* of a stage that failed */
    abut_error error;
};

static inline pose live_pose(const live *w, int body) {
    return motion_pose(&w->motions[body], w->body[body].center);
}
static inline const model_material *live_material(const live *w, int a, int b) {
    return &w->model->pairs[w->material_of[a] * (w->model->material_count + 1) + w->material_of[b]];
}
static inline size_t live_contact_bytes(int points) {
    return offsetof(live_contact, points) + (size_t)points * sizeof(live_point);
}
static inline size_t live_batch_bytes(int64_t batches) {
    return (size_t)batches * (sizeof(live_batch) + 2 * LANES * sizeof(live_velocity)) + 64;
}
static inline bool live_is_awake(const live *w, int a, int b) {
    return w->movable[a + 1] || w->movable[b + 1];
}
/* Of the bodies of a contact the first movable one: both, where both are, are of one island. */
static inline int live_moved_slot(const live *w, int a, int b) { return (w->movable[a + 1] ? a : b) + 1; }
static inline int live_pace_of(const live *w, int a, int b) { return w->pace[live_moved_slot(w, a, b)]; }
static inline vec3 live_vec3(four v) { return (vec3){v[0], v[1], v[2]}; }
static inline four live_four(vec3 v) { return (four){v.x, v.y, v.z, 0}; }

/* ---- live_share.c: runs stages one after the other, on all workers where that took long enough in the last
 * step that waking them pays; what they compute does not depend on that */
live_stage live_make_stage(live_blocks *run, int kind, int first, int total, int block);
int live_color_stages(const live *w, int pace, live_blocks *run, int kind, live_stage out[LIVE_COLORS + 1]);
void live_run_stages(live *w, live_part part, live_stage *stages, int64_t count);
void live_share(live *w, live_part part, int64_t items, int block, live_blocks *run);
void live_share_batches(live *w, live_part part, const live_stage *before, live_blocks *run);

/* ---- live.c */
abut_status live_create(abut_sim *run, abut_error *error);
void live_free(live *w);
abut_status live_advance(abut_sim *run, double until, abut_error *error);
size_t live_snapshot_size(const live *w);
void live_snapshot(const live *w, void *block);
abut_status live_restore(live *w, const void *block, size_t size, abut_error *error);
uint64_t live_hash(const live *w, uint64_t seed);
void live_load_mass(live *w, int slot);                                  /* where the body is now */
void live_load_bodies(live *w, const live_stage *s, int first, int end); /* slots */

/* ---- stages; false: memory is out */
abut_status live_apply_forces(live *w, double time, abut_error *error);
abut_status live_move_kinematic(live *w, double time, abut_error *error);
void live_drive(live *w, int substep);
void live_springs(live *w);
/* ---- springs of islands that go by themselves (live_spring.c): into how many pieces they cut a sub-step, 0
 * where they are too stiff and are rows; the forces on the bodies of the island with those of its springs */
double live_swing(live *w, const live_island *s, double h, bool flies);
void live_pull_springs(live *w, const live_island *s);
bool live_may_touch(const live *w, int a, int b); /* a < b */
bool live_broad(live *w);
bool live_update_near(live *w);
bool live_narrow(live *w);
live_link live_link_of(const live_contact *c);
/* Contacts of a pair, at most `room`, with the impulses of the old ones; returns how many.  Remembers in
 * the slot where that was.  Points farther apart than the reach of the pair do not matter in this step. */
int live_collide_pair(live *w, live_pair p, const live_contact *old, int count, int slot, live_contact *out,
                      int room);
double live_reach_of(const live *w, live_pair p);
double live_foresight(const live *w, live_pair p); /* how far ahead points of a pair are believed */
int live_pieces(live *w, double dt);               /* live_cut.c: in how many a step is gone */
bool live_collide_again(live *w, live_contact *c);
void live_collide_pair_again(live *w, live_contact *c, int count); /* gaps as where the step began */
void live_place_again(const live *w, live_contact *c); /* gaps and normal where the bodies are now */
void live_place_now(live *w, int64_t contact);         /* of one that was kept, if it has not been done */
double live_moved_gap(const live *w, const live_contact *c, const live_point *p);
void live_take_back(const live *w, live_contact *c); /* gaps as they were where the step began */
void live_note_turn(live *w, int slot);
void live_refresh(live *w, int first, int end); /* batches */
void live_shift_warmth(live *w);
bool live_islands(live *w);
bool live_wake(live *w);
bool live_sleep(live *w);
bool live_find_bouncing(live *w);
bool live_color(live *w);
void live_prepare(live *w);
/* `number`: of the batch, so that what the next ones need is asked for; batch_count: it stands alone. */
void live_prepare_batch(live *w, live_batch *batch, int64_t number);
void live_add_point(live_batch *batch); /* that no lane has yet */
/* The impulse of a sub-step, the first of the step or a further one, or of all of them; the sum of the
 * inverse masses of both bodies. */
void live_note_pushed(live *w, live_contact *c, vec3 impulse, double inverse_mass, bool first);
void live_keep_impulses(const live *w, const live_batch *batch, int lane, live_contact *c);
bool live_substeps(live *w);

/* ---- live_grip.c */
bool live_has_grips(const abut_model *m);
void live_begin_grip(const live *w, live_batch *batch); /* with the velocities as they are */
void live_measure_grips(live *w, int first, int end);   /* batches, after a sub-step */
void live_keep_grip(const live_batch *batch, int lane, live_contact *c);
double live_coefficient(const live_batch *batch, int lane); /* by what it does after the sub-step */

/* ---- live_sway.c, live_buckle.c */
bool live_look_for_sway(live *w); /* the pace of each island in the next step */
/* How much too heavy an island is for its springs at the world's own pace, by the levels of its bodies, the
 * largest of which is `most`: above 1 it buckles; 0: it is no structure in layers; negative: memory is out.
 */
double live_overload(live *w, int64_t island, int most);

/* ---- live_swift.c: a pace; how fast the bodies of a contact may turn when it has closed, 0 where that takes
 * longer than the step */
int live_swift_pace(live *w, const live_island *s);
double live_struck_turn(const live *w, const live_contact *c);

void live_kick(live *w, int slot, double t);               /* what forces do in the time t */
void live_integrate_position(live *w, int slot, double h); /* over a sub-step of that length */
void live_move_freely(const live *w, int body, motion *m); /* over a sub-step */
void live_move_for(const live *w, int body, double t, motion *m);
void live_store(live *w);
bool live_stop_fast(live *w);
abut_status live_close_put_back(live *w, abut_error *error);
abut_status live_report(live *w, abut_error *error);
int live_mark_of(const live *w, const live_contact *c); /* of LIVE_PRESSES .. */
abut_status live_emit(live *w, abut_event e, abut_error *error);
/* The feature of the body a, or b, at the point `on` of it, from its centre of mass. */
abut_entity live_entity(const live *w, const live_contact *c, int side, vec3 on);
/* Those of an event, at a point of the contact. */
void live_name_features(const live *w, const live_contact *c, const live_point *at, abut_event *e);
void live_balance(live *w);
int live_contacts(abut_sim *run, const abut_contact **contacts);
void live_audit_contacts(live *w);
void live_audit_step(live *w);

/* ---- notices (live_notice.c) */

void live_tell_unknown(const abut_sim *run);
void live_tell_misfit(const live *w);
abut_audit live_audit(const abut_sim *run);

/* ---- live_nncg.c: batches or bodies from first to end - 1 */
bool live_nncg_reserve(live *w);
void live_nncg_free(live *w);
void live_nncg_begin(live *w, int first, int end);
void live_nncg_begin_bodies(live *w, int first, int end);
void live_nncg_measure(live *w, int first, int end);
void live_nncg_choose(live *w, int sweep, int first, int end);
void live_nncg_advance(live *w, int first, int end);
void live_nncg_advance_bodies(live *w, int first, int end);

/* ---- pieces */
bool live_sensors(live *w);
void live_sensors_free(live *w);
live_kernels live_choose_kernels(bool scalar);
live_kernels live_kernels_avx2(void);
abut_status live_shapes_create(live *w, abut_error *error);
void live_shapes_free(live *w);
void live_impacts(live *w, int substep, int pace);
void live_strike_island(live *w, const live_island *s, double within); /* a hinged one, where it is */
/* The points of a contact in an impact, t after the start of the sub-step. */
typedef struct live_blow {
    const live_contact *c;
    double t;
    vec3 ra[MANIFOLD_POINTS], rb[MANIFOLD_POINTS]; /* from the centres of mass */
    double target[MANIFOLD_POINTS];                /* on hinges: how fast it is to leave, at least */
    bool active[MANIFOLD_POINTS];
    vec3 impulse;     /* out: the sum, on A */
    double energy[2]; /* out: kinetic, before and after, of all bodies that it moves */
} live_blow;
void live_note_impact(live *w, const live_blow *b);
/* Kinetic energy of a body with the velocity v at the start of a sub-step, t after it; 0 of immovable ones.
 */
double live_energy_of(const live *w, int slot, spatial v, double t);
/* Impulses at the points of a blow, and what they do to the velocities of both. */
void live_solve_blow(const live *w, live_blow *b, spatial change[2]);
abut_status live_collide_hinged(live *w, const live_island *island, live_blow *b, double mu,
                                abut_error *error);
void live_loose_hurry(live *w);
int live_loose_pace(live *w, const live_island *island); /* at least; of one that is not direct */
int live_hinge_rows(live *w, int number, live_hinge_row out[LIVE_HINGE_ROWS]);
bool live_find_hinges(live *w);
void live_note_hinges(live *w, const live_hinge_row *rows, int64_t total);
/* The impulses of an island's hinges and contacts over one sub-step. */
abut_status live_solve_direct(live *w, const live_island *island, abut_error *error);
abut_status live_go_hinged(live *w, const live_island *island, abut_error *error); /* and moves its bodies */
abut_status live_close_island(live *w, const live_island *island, abut_error *error); /* live_close.c */
abut_status live_turn_hinged(live *w, const live_island *island, abut_error *error);
/* Loose hinges and the contacts of their bodies: rows and impulses where the sub-step begins, one of so many
 * turns with the other contacts, and after it has ended. */
void live_hinges_begin(live *w, bool relax, bool moved); /* moved: since they were last begun */
void live_loose_begin(live *w, int number);
void live_loose_turn(live *w, bool last);
void live_loose_relax(live *w, int number, bool last);
void live_hinges_solve(live *w, bool relax);
/* What a contact is when the step ends with the impulses that it has; what it may rub. */
void live_settle_contact(const live *w, live_contact *c, double coefficient);
double live_coefficient_of(const live_contact *c, const model_material *m);
double live_row_rate(const live *w, const live_hinge_row *r); /* J v */
void live_push_row(live *w, live_hinge_row *r, double change);
/* Hinges of large islands at once, see live_loose.c: for a step, for the rows of a sub-step, and a solution,
 * false where there is none. */
bool live_plan_loose(live *w);
void live_factor_loose(live *w);
bool live_solve_loose(live *w, bool relax);
void live_close_loose_back(live *w); /* after bodies were put back */
const int *live_mechanism(live *w, int body, int *count);

#endif
