/* abut/sim.h: a world compiled to a model, its state, and the clock that moves it.
 *
 *     abut_model *model = NULL;
 *     abut_sim *run = NULL;
 *     abut_model_create(NULL, &world, &model, &error);
 *     abut_sim_create(NULL, model, NULL, &run, &error);
 *     for (double t = 0; t < 2; t += 1.0 / 60) {
 *         abut_sim_advance(run, t + 1.0 / 60, &error);
 *         abut_motion m = abut_sim_motion(run, 1);
 *         printf("%g %g\n", abut_sim_time(run), m.center.z);
 *     }
 *
 * The model is constant; the state is one block that can be copied, saved and restored at any time.  What
 * happens on the way (events, dense output, frames) is told through hooks.
 */
#ifndef ABUT_SIM_H
#define ABUT_SIM_H

#include "abut/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_model abut_model;
typedef struct abut_sim abut_sim;

/* ---- the model */

ABUT_API abut_status abut_model_create(const abut_context *context, const abut_world_def *world,
                                       abut_model **model, abut_error *error);
ABUT_API void abut_model_free(abut_model *model);
ABUT_API int abut_model_bodies(const abut_model *model);
ABUT_API const char *abut_model_body_name(const abut_model *model, int body);
ABUT_API int abut_model_find_body(const abut_model *model, const char *name); /* -1: none */
/* Mass, centre of mass in shape axes, and inertia about it; infinite mass for fixed and kinematic bodies. */
ABUT_API abut_mass abut_model_body_mass(const abut_model *model, int body);
/* Whether two bodies can touch: at least one moves, not of one group, not hinged together without `collide`.
 */
ABUT_API bool abut_model_may_touch(const abut_model *model, int a, int b);
ABUT_API abut_tolerances abut_model_tolerances(const abut_model *model); /* with nothing left at 0 */

/* ---- the start */

typedef enum abut_entity_kind {
    ABUT_ENTITY_NONE,
    ABUT_ENTITY_VERTEX,
    ABUT_ENTITY_EDGE,
    ABUT_ENTITY_FACE,
    ABUT_ENTITY_SMOOTH,
    ABUT_ENTITY_HINGE
} abut_entity_kind;
ABUT_API const char *abut_entity_name(abut_entity_kind kind); /* "vertex", ... */

typedef struct abut_entity {
    abut_entity_kind kind;
    int64_t id;
} abut_entity;

/* Start checks: every pair that overlaps at the start, with its depth, where, and a shift of `body[0]` that
 * would free it. */
typedef struct abut_overlap {
    int body[2];
    double depth;
    abut_vec3 at, shift;
} abut_overlap;
/* Fills at most `capacity` and returns how many there are; -1 when memory is out. */
ABUT_API int abut_model_overlaps(const abut_model *model, abut_overlap *overlaps, int capacity);
/* How far every body must move so that no pair overlaps any more: pairs are projected to contact, round after
 * round, lighter bodies moving more.  `shifts` has an entry for each body.  ABUT_BUDGET: no room was found.
 */
ABUT_API abut_status abut_model_separate(const abut_model *model, abut_vec3 *shifts, abut_error *error);

/* Pairs of solids that touch at the start only where geometry leaves the normal open: a vertex on a vertex or
 * on an edge, parallel edges (Bouma and Vanecek 1992, assumption 5).  The run takes one of the possible
 * normals. */
typedef struct abut_ambiguity {
    int body[2];
    abut_entity entity[2];
    abut_vec3 at;
} abut_ambiguity;
ABUT_API int abut_model_ambiguities(const abut_model *model, abut_ambiguity *ambiguities, int capacity);

/* ---- events: X(constant, word) */
#define ABUT_EVENT_LIST(X)                              \
    X(IMPACT, "impact")                                 \
    X(CONTACT_MADE, "contact-made")                     \
    X(CONTACT_CHANGED, "contact-changed")               \
    X(CONTACT_LOST, "contact-lost")                     \
    X(STICK, "stick")                                   \
    X(SLIP, "slip")                                     \
    X(HINGE_BROKEN, "hinge-broken")                     \
    X(PATCH_CROSSED, "patch-crossed")                   \
    X(ROLLING_BEGINS, "rolling-begins")                 \
    X(ROLLING_ENDS, "rolling-ends")                     \
    X(IMPULSE_WITHOUT_IMPACT, "impulse-without-impact") \
    X(LIMIT, "limit")                                   \
    X(SLEEP, "sleep")                                   \
    X(WAKE, "wake")                                     \
    X(USER, "user")
typedef enum abut_event_kind {
#define ABUT_EVENT_CONSTANT(name, word) ABUT_EVENT_##name,
    ABUT_EVENT_LIST(ABUT_EVENT_CONSTANT)
#undef ABUT_EVENT_CONSTANT
        ABUT_EVENT_KINDS
} abut_event_kind;
ABUT_API const char *abut_event_name(abut_event_kind kind);

typedef struct abut_event {
    double time;
    uint64_t sequence; /* order among all events of the run */
    abut_event_kind kind;
    int body[2]; /* -1: none */
    abut_entity entity[2];
    abut_vec3 point, normal, impulse;   /* impulse on body[0]; normal from body[1] to body[0] */
    double energy_before, energy_after; /* kinetic energy of the group that took part */
    int count;                          /* impacts that a closed-form (Zeno) sum stands for; otherwise 1 */
    const char *name; /* USER: of the watch, or what the caller gave; NULL: none.  Of the model, the caller or
                         the recording: copy it to keep it */
} abut_event;

/* ---- motion and dense output */

typedef struct abut_motion {
    abut_vec3 center; /* of mass */
    abut_quat rotation;
    abut_vec3 velocity, spin;
    abut_vec3 acceleration, spin_rate;
} abut_motion;

/* One accepted step of some bodies, between two events: exact to the integrator's order for start <= t <=
 * end.  With theta = (t - start) / step, each of the 13 numbers (center, rotation w x y z, velocity, spin) of
 * a body is c0 + theta (c1 + (1 - theta) (c2 + theta (c3 + (1 - theta) (c4 + theta (c5 + (1 - theta) (c6 +
 * theta c7)))))) where `step` may be longer than end - start (the step was cut at an event).  Quaternions are
 * to be normalised. */
enum { ABUT_SEGMENT_NUMBERS = 13, ABUT_SEGMENT_COEFFICIENTS = 8 };
typedef struct abut_segment {
    double start, end, step;
    int body_count;
    const int *bodies;
    const double *coefficients; /* [body][number][coefficient] */
} abut_segment;
ABUT_API abut_motion abut_segment_motion(const abut_segment *segment, int entry, double time);

/* ---- contacts */

typedef enum abut_representation { ABUT_REGION, ABUT_MANIFOLD, ABUT_ROLLING } abut_representation;
typedef enum abut_friction_state { ABUT_FRICTIONLESS, ABUT_STICKING, ABUT_SLIPPING } abut_friction_state;

typedef struct abut_contact {
    int body[2];
    abut_representation representation;
    int dimension;
    abut_entity entity[2];
    int point_count;
    const abut_vec3 *points, *normals; /* world; normals from body[1] to body[0] */
    const abut_vec3 *forces;           /* on body[0], normal and friction together */
    abut_friction_state state;
    double area;
    abut_vec3 center_of_pressure;
    bool determined; /* the forces are unique; otherwise they are those of least norm */
    /* The border of an area that is not the hull of its points (with dents, holes, round, in parts): the area
     * is on the left of its loops, seen against the normals.  Loop i has the corners from loop_start[i] to
     * loop_start[i + 1] - 1.  loop_count 0: the hull is the area, or the border is not known. */
    int loop_count;
    const int32_t *loop_start;
    const abut_vec3 *corners;
} abut_contact;

/* ---- energy and the audit */

typedef struct abut_energy {
    double kinetic, potential,
        dissipated; /* dissipated: by impacts, friction, drag and damping since the start */
    double work;    /* done by motors, kinematic bodies and forces given as functions */
    abut_vec3 momentum, angular_momentum; /* about the origin */
    double numerical; /* of `dissipated`: taken by time stepping, which no law of the bodies explains */
} abut_energy;

typedef struct abut_audit {
    double deepest_overlap; /* metres */
    double energy_error;    /* |kinetic + potential + dissipated + numerical - work - start| / largest energy
                               seen */
    double momentum_error;  /* at impacts: m (v+ - v-) of every body against the impulses reported for it,
                               relative; live: of all bodies against forces, while nothing holds them */
    double complementarity_residual; /* largest, relative */
    double constraint_error;         /* metres: hinges and sticking contacts; live: hinges */
    double overlap_limit, constraint_limit, energy_limit; /* what the clock of the run promises */
    double numerical_loss; /* energy that time stepping took, relative to the largest energy seen */
    /* Where events came too thick bodies were stepped in time (docs/exact-clock.md): how often that began, in
     * how many steps, for how many simulated seconds.  All zero: the run was exact throughout. */
    int64_t storms, time_steps;
    double time_stepped;
    bool promises_kept;
    char broken[256]; /* the first broken promise, in words */
} abut_audit;

/* ---- the run */

typedef struct abut_sim_options {
    void *user;
    /* Hooks; returning false ends the run with ABUT_CANCELLED.  Events come in order of time. */
    bool (*event)(void *user, const abut_event *event);
    bool (*segment)(void *user, const abut_segment *segment);
    int64_t event_budget; /* steps of a group in one frame before it is stepped in time; 0: 5000 short ones */
    /* Steps of a group in one advance, of both kinds, before it ends with ABUT_BUDGET and the name of the
     * body that needs them; 0: 10,000,000, which is minutes. */
    int64_t step_budget;
    /* The live clock begins with bodies that overlap, which it pushes out at no more than four body sizes a
     * second, instead of refusing them as the exact clock does (see abut_model_separate). */
    bool allow_overlap;
} abut_sim_options;

ABUT_API abut_status abut_sim_create(const abut_context *context, const abut_model *model,
                                     const abut_sim_options *options, abut_sim **run, abut_error *error);
/* A run that begins at a snapshot instead of at time 0. */
ABUT_API abut_status abut_sim_create_at(const abut_context *context, const abut_model *model,
                                        const abut_sim_options *options, const void *snapshot, size_t size,
                                        abut_sim **run, abut_error *error);
ABUT_API void abut_sim_free(abut_sim *run);
/* Moves the world to the time `until`, exactly.  Where that fails or is stopped the run stands where it stood
 * before, in the live clock at the end of the last whole step. */
ABUT_API abut_status abut_sim_advance(abut_sim *run, double until, abut_error *error);
/* Ends the advance that is under way, or else the next one, with ABUT_CANCELLED, as soon as a step of it is
 * done: a frame may take long.  May be called from another thread, or by a signal handler. */
ABUT_API void abut_sim_stop(abut_sim *run);

/* Goes on with the other clock from here (abut/live.h).  From live to exact, bodies that overlap are pushed
 * apart first; ABUT_BUDGET or ABUT_UNSUPPORTED when that cannot be done, and the run stays as it is. */
ABUT_API abut_status abut_sim_set_mode(abut_sim *run, abut_mode mode, abut_error *error);
ABUT_API abut_mode abut_sim_mode(const abut_sim *run);

/* ---- interventions, between two advances, in both clocks
 *
 *     abut_motion m = abut_sim_motion(run, ball);
 *     m.velocity.z = 3;
 *     abut_sim_set_motions(run, 1, &ball, &m, &error);
 *
 * What they give or take of energy counts as work.  What a body then runs into, and who has lost its support,
 * is found at once.  INVALID, and nothing has changed: bodies that are fixed or kinematic, numbers that are
 * not finite; in the exact clock also poses that overlap another body or tear a hinge apart (bodies that hang
 * together are moved in one call; velocities against a hinge are closed by impulses, as at the start).  A
 * recording shows what happened, but is not resumed or looked at between frames over an intervention. */
/* Centres, rotations (of any length), velocities and spins; the accelerations are not read. */
ABUT_API abut_status abut_sim_set_motions(abut_sim *run, int count, const int *bodies,
                                          const abut_motion *motions, abut_error *error);
/* An impulse (N s) on the body at a point of the world. */
ABUT_API abut_status abut_sim_strike(abut_sim *run, int body, abut_vec3 impulse, abut_vec3 at,
                                     abut_error *error);
/* An event of the caller's own, of kind ABUT_EVENT_USER, at the present time: a grasp, a goal, a decision. It
 * is counted, told to the hook and so recorded among the others.  Bodies (-1: none), entities, point, normal,
 * impulse, energies and name are taken from `event`; the rest is set.  Events that are to be found by the run
 * itself, at the instant when a function of the motion comes to zero, are watches (abut/world.h). */
ABUT_API abut_status abut_sim_tell(abut_sim *run, const abut_event *event, abut_error *error);

ABUT_API double abut_sim_time(const abut_sim *run);
ABUT_API int abut_sim_bodies(const abut_sim *run);
ABUT_API int64_t abut_sim_steps(const abut_sim *run);
/* How often the exact clock has evaluated accelerations, of any group of bodies. */
ABUT_API int64_t abut_sim_evaluations(const abut_sim *run);
ABUT_API int64_t abut_sim_event_count(const abut_sim *run, abut_event_kind kind);
ABUT_API abut_motion abut_sim_motion(const abut_sim *run, int body);
/* The contacts at the present time, with forces; the array lives until the next call on this run. */
ABUT_API int abut_sim_contacts(abut_sim *run, const abut_contact **contacts);
ABUT_API abut_energy abut_sim_energy(const abut_sim *run);
ABUT_API abut_audit abut_sim_audit(const abut_sim *run);

/* Snapshots: the whole state as one block.  Restoring it and going on gives the bits of the uninterrupted
 * run. */
ABUT_API size_t abut_sim_snapshot_size(const abut_sim *run);
ABUT_API void abut_sim_snapshot(const abut_sim *run, void *block);
ABUT_API abut_status abut_sim_restore(abut_sim *run, const void *block, size_t size, abut_error *error);
ABUT_API uint64_t abut_sim_hash(const abut_sim *run); /* of motions, time and contact memory */

#ifdef __cplusplus
}
#endif
#endif
