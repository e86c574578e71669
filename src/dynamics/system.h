/* The system of a group: unknown multipliers z and the rates w that they answer for, from rows, contacts and
 * the modes of friction.  Forces and impacts are the same system at two levels:
 *
 *     level       x                w = J x + offset               z
 *     FORCES      accelerations    C'' - what the row wants       forces
 *     IMPULSES    velocities       C'  - what the row wants       impulses
 *
 *     x = base + M^-1 C^T z,   so   w = J M^-1 C^T z + b,   b = J base + offset
 *
 * J are the rows, C the columns: the wrench of an unknown.  They are the same but for a slipping point, whose
 * friction hangs on its normal force: C = n - mu_slide d, and the system is no longer symmetric.
 *
 * unknowns, in this order:   rows of the group with lo < hi | per contact: normal, then the sticking
 * directions | per sticking face: two directions and the spin
 *
 * A cone is one law of friction at one contact: the tangential force (2 directions), the rolling torque (2)
 * or the spinning torque (1), bounded by a coefficient times the normal force. */
#ifndef DYNAMICS_SYSTEM_H
#define DYNAMICS_SYSTEM_H

#include "dynamics/group.h"

typedef enum system_level { SYSTEM_FORCES, SYSTEM_IMPULSES } system_level;

typedef enum cone_kind { CONE_FRICTION, CONE_ROLLING, CONE_SPINNING, CONE_KINDS } cone_kind;

typedef struct cone {
    int contact;
    cone_kind kind;
    int dimension;       /* 2, or 1 for spinning */
    vec3 axis[2];        /* unit directions */
    double stick, slide; /* coefficients */
    friction_mode mode;
    vec3 along; /* SLIP: unit direction of the motion */
    int first;  /* STICK: its first unknown; -1 */
} cone;

/* The law of a face (dynamics/face.h), at the level of forces. */
typedef struct face_law {
    const group_face *face;
    row axis[3];           /* of (F_x, F_y, torque / size) */
    int first;             /* STICK: its first unknown, of three; -1 */
    double slip[3];        /* SLIP: unit twist */
    double friction[3][3]; /* SLIP: the wrench of friction is -slide friction (N, N x, N y) */
    double moments[3][3];  /* of the pressed part */
} face_law;

typedef struct group_system {
    const group *g;
    system_level level;
    int count;
    row *rows, *columns; /* columns == rows where symmetric */
    bool symmetric;
    double *offset, *b, *lo, *hi;
    spatial *base;  /* of all bodies, with what constant multipliers (lo = hi) add */
    int *row_of;    /* group row -> unknown, -1 where lo = hi or it takes no part */
    int *normal_of; /* contact -> unknown of its normal, -1 where it takes no part */
    cone *cones;
    int cone_count;
    face_law *faces;
    int face_count; /* 0 for impulses: they act at the vertices */
} group_system;

typedef struct system_config {
    system_level level;
    const spatial *base;         /* free accelerations, or velocities before */
    const double *normal_offset; /* per contact, added to w of the normal; NULL: drift (forces) or 0 */
    const bool *part;            /* per contact: takes part; NULL: all */
    const double *least;         /* per contact: lower bound of the normal multiplier; NULL: 0 */
    double slip_speed;           /* below it the direction of slip comes from memory */
} system_config;

abut_status system_build(const group *g, const system_config *config, arena *scratch, group_system *out,
                         abut_error *error);

/* Another unknown; its number.  For system_build and what it calls. */
int system_add_unknown(group_system *s, row r, double offset);

/* x = base + M^-1 C^T z */
void system_apply(const group_system *s, const double *z, spatial *x);
/* w = J x + offset */
void system_rates(const group_system *s, const spatial *x, double *w);
/* The force of a cone in the solution z: sum of its directions; for SLIP -slide N along. */
vec3 system_cone_force(const group_system *s, const cone *k, const double *z);
/* The row of a cone's direction e. */
row system_cone_row(const group_system *s, const cone *k, vec3 e);
/* The offset of such a row: drift at the level of forces, 0 for impulses. */
double system_cone_offset(const group_system *s, const row *r);

/* Columns M^-1/2 J^T in a space of 6 numbers a movable body, where all masses are 1. */
typedef struct system_space {
    int dimension;
    int *place; /* body -> its first coordinate, -1 */
    mat3 *root; /* body -> R L with L L^T = I^-1 in body axes */
} system_space;
bool system_space_make(const group *g, arena *scratch, system_space *out);
void system_space_column(const system_space *space, const group *g, const row *r, double *column);
/* The same without its zeros: the parts of the two bodies, and where they begin (-1: none). */
void system_space_parts(const system_space *space, const group *g, const row *r, int first[2],
                        double value[2][6]);
/* x += M^-1/2^T y */
void system_space_add(const system_space *space, const group *g, const double *y, spatial *x);

typedef enum system_outcome {
    SYSTEM_SOLVED,
    SYSTEM_INCONSISTENT, /* bilateral rows contradict each other: least squares */
    SYSTEM_NO_SOLUTION,  /* Lemke's ray, or an infeasible squeeze */
    SYSTEM_BUDGET
} system_outcome;

typedef struct system_solution {
    const double
        *start; /* z of another solution that is near, or NULL: where forces are open they stay near it
                   (of symmetric systems only: with slip the motion hangs on how loads are shared) */
    bool
        trial; /* of a state that need not be: rows that contradict each other end in SYSTEM_BUDGET at once */
    bool wide; /* x is right, and is not the sum of what z does in doubles (states_motion) */
    double *z, *w;
    uint8_t *state; /* abut_lcp_state of each unknown: read as a first guess, written */
    spatial *x;
    system_outcome outcome;
    double residual; /* largest violation relative to the scale */
    double scale;    /* largest |J||base| + |offset| of a row */
    int pivots;
} system_solution;

/* Solves for the modes that the system was built with.  Memory of the solution comes from the arena when z is
 * NULL. */
abut_status system_solve(const group_system *s, double tolerance, int budget, const group_scratch *scratch,
                         system_solution *out, abut_error *error);

#endif
