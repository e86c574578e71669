/* The model: all that does not change during a run.  Compiled once from the definitions of abut/world.h;
 * bodies, shapes, hinges and names live in the model's arena. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "abut/sim.h"
#include "contact/near.h"
#include "dynamics/hinge.h"

typedef struct model_body {
    const char *name;
    contact_shape shape;
    body_inertia inertia;
    motion start;
    bool movable;   /* neither fixed nor kinematic */
    bool kinematic; /* moves by itself: with start.velocity, or as `function` says */
    abut_time_function *function;
    void *user;
    vec3 center; /* of mass, shape axes */
    double drag_linear, drag_angular;
    int group, material;
    float color[4];
} model_body;

typedef struct model_hinge {
    hinge h;
    const char *name;
    bool collide;
} model_hinge;

typedef struct model_spring {
    int a, b;        /* b = -1: the ground */
    vec3 at_a, at_b; /* body axes from the centre of mass; of the ground: world */
    double length, stiffness, damping;
} model_spring;

typedef struct model_force {
    int body;
    bool is_torque;
    vec3 at; /* body axes from the centre of mass */
    vec3 value;
    abut_time_function *function;
    void *user;
} model_force;

typedef struct model_watch {
    const char *name;
    int bodies[ABUT_MOST_WATCHED], body_count;
    abut_crossing direction;
    abut_watch_function *function;
    void *user;
} model_watch;

typedef struct model_material {
    double restitution;
    abut_friction friction;
    bool uniform_pressure; /* set on one of the two */
} model_material;

struct abut_model {
    abut_context context;
    arena memory;
    abut_world_def world; /* the scalars; its arrays belonged to the caller */
    abut_tolerances tolerance;
    double size;     /* metres: the largest extent of a bounded body, for scales */
    double smallest; /* metres: the smallest extent of a movable one */
    int body_count, hinge_count, spring_count, force_count, watch_count, material_count;
    model_body *bodies;
    model_hinge *hinges;
    model_spring *springs;
    model_force *forces;
    model_watch *watches;
    bool uniform_pressure; /* of any pair */
    model_material *pairs; /* (material_count + 1)^2, entry 0 is the default material */
};

/* What holds between the materials of two bodies. */
const model_material *model_pair(const abut_model *model, int a, int b);
/* Whether two bodies can touch: at least one moves, not of one group, not hinged together without `collide`.
 */
bool model_may_touch(const abut_model *model, int a, int b);
/* UNSUPPORTED names a pair of shapes whose contact the exact clock does not know. */
abut_status model_check_pairs(const abut_model *model, abut_error *error);

/* The motion of a kinematic body at a time: constant velocity and spin in closed form, or its function
 * (differentiated by central differences of sixth order, step 1e-3 s).  `acceleration` may be NULL. */
abut_status model_kinematic_motion(const abut_model *model, int body, double time, motion *m,
                                   spatial *acceleration, abut_error *error);
/* Where it is, centre and rotation: its function is asked once. */
abut_status model_kinematic_place(const abut_model *model, int body, double time, motion *m,
                                  abut_error *error);

/* The most that the function of a kinematic body does in h seconds from a time on, by 64 samples and with a
 * margin of half: of a function nothing is known but its values. */
typedef struct kinematic_most {
    double far;                    /* of its centre from where it is at that time, m */
    double center[5], rotation[5]; /* k-th derivatives of its centre and of its quaternion, k > 0 */
} kinematic_most;
/* All zero where the function fails: who asks it there is told. */
void model_kinematic_most(const abut_model *model, int body, double time, double h, kinematic_most *out);

/* ---- model_idle.c */
/* Tells what the scene says in vain. */
void model_tell_idle(const abut_model *model, const abut_world_def *world);

/* ---- model_watch.c */
abut_status model_make_watches(abut_model *m, const abut_world_def *w, abut_error *error);
/* The value of a watch at a time, with its bodies there; an error where there is none, or it is not finite.
 */
abut_status model_watch_value(const abut_model *model, const model_watch *watch, double time,
                              const motion *motions, double *value, abut_error *error);
/* A name in the model's memory: the one given, or the word with a number; NULL when memory is out. */
const char *model_copy_name(abut_model *m, const char *name, const char *word, int number);

/* Pose and velocity at the start of the free body of a smooth pair, from contact coordinates and their rates.
 */
abut_status model_place_rolling(abut_model *model, const abut_rolling_def *def, abut_error *error);

#endif
