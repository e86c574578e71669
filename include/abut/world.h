/* abut/world.h: what a scene says, as plain definitions: shapes, materials, bodies, hinges, forces,
 * watches, and how to run them.
 *
 *     abut_world_def world = abut_default_world();
 *     abut_body_def floor = abut_default_body(), ball = abut_default_body();
 *     floor.shape = abut_shape_halfspace((abut_vec3){0, 0, 1}, 0), floor.fixed = true, floor.name = "floor";
 *     ball.shape = abut_shape_sphere(0.1), ball.position.z = 1, ball.name = "ball";
 *     abut_body_def bodies[] = {floor, ball};
 *     world.bodies = bodies, world.body_count = 2;
 *     abut_model *model = NULL;                                   // abut/sim.h
 *     abut_model_create(NULL, &world, &model, &error);
 *
 * SI units, z up.  Definitions hold no memory of their own: names, arrays and solids belong to the caller and
 * must outlive the model.  Always start from abut_default_*(): a zeroed definition is refused.
 */
#ifndef ABUT_WORLD_H
#define ABUT_WORLD_H

#include "abut/solid.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ABUT_DEF_COOKIE = 0x61627574 };

/* ---- shapes */

typedef struct abut_surface abut_surface;

#define ABUT_SHAPE_LIST(X)    \
    X(NONE, "none")           \
    X(SOLID, "solid")         \
    X(SPHERE, "sphere")       \
    X(CAVITY, "cavity")       \
    X(ELLIPSOID, "ellipsoid") \
    X(CAPSULE, "capsule")     \
    X(CYLINDER, "cylinder")   \
    X(HALFSPACE, "halfspace") \
    X(SURFACE, "surface")
typedef enum abut_shape_kind {
#define ABUT_SHAPE_CONSTANT(name, word) ABUT_SHAPE_##name,
    ABUT_SHAPE_LIST(ABUT_SHAPE_CONSTANT)
#undef ABUT_SHAPE_CONSTANT
} abut_shape_kind;

typedef struct abut_shape {
    abut_shape_kind kind;
    const abut_solid *solid;     /* SOLID */
    const abut_surface *surface; /* SURFACE */
    double radius;    /* SPHERE, CAVITY (the world outside a ball: for fixed or kinematic bodies), CAPSULE,
                         CYLINDER */
    double length;    /* CAPSULE: between the centres of its ends; CYLINDER: height; axis z, centred */
    abut_vec3 axes;   /* ELLIPSOID: half axes */
    abut_vec3 normal; /* HALFSPACE: the set normal . x <= offset */
    double offset;
} abut_shape;
ABUT_API abut_shape abut_shape_solid(const abut_solid *solid);
ABUT_API abut_shape abut_shape_sphere(double radius);
ABUT_API abut_shape abut_shape_cavity(double radius);
ABUT_API abut_shape abut_shape_ellipsoid(double a, double b, double c);
ABUT_API abut_shape abut_shape_capsule(double radius, double length);
ABUT_API abut_shape abut_shape_cylinder(double radius, double height);
ABUT_API abut_shape abut_shape_halfspace(abut_vec3 normal, double offset);
ABUT_API const char *abut_shape_name(abut_shape_kind kind);

/* ---- materials */

typedef struct abut_friction {
    double stick, slide;      /* static and dynamic Coulomb coefficients */
    double rolling, spinning; /* metres: torque = coefficient * normal force */
} abut_friction;

typedef struct abut_material_def {
    const char *name; /* NULL: the default material */
    double restitution;
    abut_friction friction;
    bool uniform_pressure; /* face contacts press uniformly instead of at the vertices of their region */
} abut_material_def;

/* What holds between two named materials instead of the larger restitution and the geometric mean of
 * friction. */
typedef struct abut_pair_def {
    int material[2]; /* entries of world.materials */
    double restitution;
    abut_friction friction;
} abut_pair_def;

/* ---- bodies */

/* Functions of time given by the scene: fills count numbers; false stops the run (the scene has reported
 * why). */
typedef bool abut_time_function(void *user, double time, double *out, int count);

typedef struct abut_body_def {
    uint32_t cookie;
    const char *name; /* unique; NULL: "body1", ... */
    int line;         /* of the file that defines it, for messages; 0: none */
    abut_shape shape;
    abut_vec3 position; /* of the shape's origin */
    abut_quat rotation;
    abut_vec3 velocity; /* of the centre of mass */
    abut_vec3 spin;     /* rad/s, world axes */
    double density;     /* 1000; ignored when mass > 0 */
    double mass;        /* 0: from the density */
    bool has_inertia, has_center;
    double inertia[6];          /* xx yy zz xy xz yz: tensor entries about the centre of mass, body axes */
    abut_vec3 center;           /* centre of mass, shape axes */
    bool fixed;                 /* never moves */
    bool kinematic;             /* keeps velocity and spin, or follows `motion` */
    abut_time_function *motion; /* x y z qw qx qy qz of the shape's origin */
    void *motion_user;
    double drag_linear, drag_angular; /* force -c v, torque -c w */
    int group;                        /* 0: none; bodies of one group do not collide with each other */
    int material;                     /* entry of world.materials; -1: the default material */
    float color[4];
} abut_body_def;
ABUT_API abut_body_def abut_default_body(void);

/* ---- hinges: X(constant, word, rows: how many degrees of freedom it takes) */
#define ABUT_HINGE_LIST(X)                 \
    X(BALL, "ball", 3)                     \
    X(PIN, "pin", 5)                       \
    X(SLIDER, "slider", 5)                 \
    X(CYLINDER, "cylinder", 4)             \
    X(UNIVERSAL, "universal", 4)           \
    X(PLANAR, "planar", 3)                 \
    X(WELD, "weld", 6)                     \
    X(ROD, "rod", 1)                       \
    X(SCREW, "screw", 5)                   \
    X(POINT_ON_PLANE, "point_on_plane", 1) \
    X(POINT_ON_LINE, "point_on_line", 2)
typedef enum abut_hinge_kind {
#define ABUT_HINGE_CONSTANT(name, word, rows) ABUT_HINGE_##name,
    ABUT_HINGE_LIST(ABUT_HINGE_CONSTANT)
#undef ABUT_HINGE_CONSTANT
} abut_hinge_kind;
ABUT_API const char *abut_hinge_name(abut_hinge_kind kind);

typedef struct abut_hinge_def {
    uint32_t cookie;
    abut_hinge_kind kind;
    const char *name;
    int line;           /* of the file that defines it, for messages; 0: none */
    int a, b;           /* bodies; b = -1: the ground */
    abut_vec3 at, at_b; /* world, time 0; at_b only for rod (the other end) */
    abut_vec3 axis,
        axis_b;   /* world, time 0; axis_b only for universal (default: any direction orthogonal to axis) */
    double pitch; /* screw: metres a radian */
    bool has_limits;
    double limits[2]; /* angle (rad) or travel (m) of the free coordinate, zero at time 0 */
    bool has_motor;
    double motor_speed;                 /* rad/s or m/s of A relative to B along the axis */
    abut_time_function *motor_function; /* instead of motor_speed */
    void *motor_user;
    double motor_max_force;          /* infinity: what it needs */
    double stiffness, damping, rest; /* a spring on the free coordinate */
    double break_force;              /* infinity: never */
    bool collide;                    /* the two bodies collide with each other */
} abut_hinge_def;
ABUT_API abut_hinge_def abut_default_hinge(void);

/* ---- forces */
typedef struct abut_spring_def {
    int a, b; /* b = -1: the ground */
    abut_vec3 at_a, at_b;
    bool has_at_a, has_at_b; /* otherwise the centres of mass */
    double length;           /* NAN: the distance at time 0 */
    double stiffness, damping;
} abut_spring_def;

typedef struct abut_force_def {
    int body;
    bool is_torque, has_at;
    abut_vec3 at; /* world, time 0; moves with the body */
    abut_vec3 value;
    abut_time_function *function; /* instead of value */
    void *user;
} abut_force_def;

/* ---- watches
 *
 *     static bool height(void *user, double time, const abut_watched *bodies, double *value) {
 *         *value = bodies[0].position.z - *(const double *)user;
 *         return true;
 *     }
 *     ...
 *     abut_watch_def watch = abut_default_watch();
 *     watch.name = "gate", watch.bodies[0] = 1, watch.body_count = 1;
 *     watch.function = height, watch.user = &level;
 *     world.watches = &watch, world.watch_count = 1;
 *
 * A number that follows from the time and from the motion of some bodies.  Where it comes to zero, an event
 * of kind ABUT_EVENT_USER is told (abut/sim.h), with the name of the watch, its first two bodies and the
 * centre of mass of the first one.  Watches look on: the motion has the same bits with and without them. */
typedef struct abut_watched {
    abut_vec3 position, center; /* of the shape's origin, of mass */
    abut_quat rotation;
    abut_vec3 velocity; /* of the centre of mass */
    abut_vec3 spin;
} abut_watched;

/* The value at a time, for the bodies of the watch in their order: the same for the same arguments, finite,
 * continuous while the motion is.  Asked in the caller's thread, and in no order of times; false stops the
 * run. */
typedef bool abut_watch_function(void *user, double time, const abut_watched *bodies, double *value);

typedef enum abut_crossing {
    ABUT_CROSSING_BOTH,
    ABUT_CROSSING_RISING, /* from below zero */
    ABUT_CROSSING_FALLING /* from above */
} abut_crossing;

enum { ABUT_MOST_WATCHED = 8 };
typedef struct abut_watch_def {
    uint32_t cookie;
    const char *name;              /* NULL: "watch1", ... */
    int line;                      /* of the file that defines it, for messages; 0: none */
    int bodies[ABUT_MOST_WATCHED]; /* of any kind, also fixed ones */
    int body_count;                /* at least 1 */
    abut_crossing direction;
    abut_watch_function *function;
    void *user;
} abut_watch_def;
ABUT_API abut_watch_def abut_default_watch(void);

/* Two smooth bodies put in rolling contact by contact coordinates (Kry 2000, figure 4.1). */
typedef struct abut_rolling_def {
    int a, b, patch_a, patch_b;
    double coordinates[5], rates[5]; /* s t u v psi */
} abut_rolling_def;

/* ---- the world */
typedef enum abut_mode { ABUT_EXACT, ABUT_LIVE } abut_mode;
typedef enum abut_impact_model { ABUT_SIMULTANEOUS, ABUT_PROPAGATION } abut_impact_model;
typedef enum abut_restitution_law { ABUT_NEWTON, ABUT_POISSON } abut_restitution_law;
typedef enum abut_solver_kind {
    ABUT_SOLVER_EXACT,
    ABUT_SOLVER_LEMKE,
    ABUT_SOLVER_LP,
    ABUT_SOLVER_PGS,
    ABUT_SOLVER_NNCG
} abut_solver_kind;

/* Every epsilon of a run, in one place.  0 means: from the size of the scene, as the sentence says. */
typedef struct abut_tolerances {
    double integration; /* relative accuracy of the motion in a step: 1e-9 */
    double touching;    /* epsilon, metres: 5e-7 times the diagonal of the smallest moving body's box */
    double event;       /* accuracy of event times, seconds: 1e-9 */
    double rest_speed;  /* approach slower than this is inelastic, m/s: 1e-3 sqrt(g * size of the smallest
                           moving body) */
} abut_tolerances;

typedef struct abut_world_def {
    uint32_t cookie;
    abut_vec3 gravity;
    abut_mode mode;
    double duration, frame; /* seconds; one frame is recorded every `frame` */
    double step;            /* live */
    int substeps;           /* live */
    abut_impact_model impact;
    abut_restitution_law restitution_law;
    abut_solver_kind solver;
    abut_tolerances tolerance;
    const char *title, *notes;

    abut_material_def material; /* the default material */
    const abut_material_def *materials;
    int material_count;
    const abut_pair_def *pairs;
    int pair_count;
    const abut_body_def *bodies;
    int body_count;
    const abut_hinge_def *hinges;
    int hinge_count;
    const abut_spring_def *springs;
    int spring_count;
    const abut_force_def *forces;
    int force_count;
    const abut_watch_def *watches;
    int watch_count;
    const abut_rolling_def *rollings;
    int rolling_count;
} abut_world_def;
ABUT_API abut_world_def abut_default_world(void);

#ifdef __cplusplus
}
#endif
#endif
