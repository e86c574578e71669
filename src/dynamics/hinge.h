/* Hinges: all kinds of ABUT_HINGE_LIST as rows in closed form.
 *
 * A hinge is compiled at time 0 into a frame on each body: anchor p and axes x, y, z (z along the hinge's
 * axis), equal in space at time 0.  With d = pa - pb and e_i the world axes:
 *
 *     kind            coordinate      rows
 *     ball            none            e_i . d
 *     pin             angle           e_i . d, za . xb, za . yb
 *     slider          travel zb . d   xb . d, yb . d, ya . zb, za . xb, xa . yb
 *     cylinder        travel          xb . d, yb . d, za . xb, za . yb
 *     universal       angle about za  e_i . d, za . xb   (z = axis, x = axis_b)
 *     planar          angle about zb  zb . d, za . xb, za . yb
 *     weld            none            e_i . d, ya . zb, za . xb, xa . yb
 *     rod             none            |d| - length
 *     screw           angle           those of cylinder, and zb . d - pitch * angle
 *     point_on_plane  none            zb . d   (a point of A on a plane of B)
 *     point_on_line   travel          xb . d, yb . d   (a point of A on a line of B)
 *
 * The angle is atan2(-ya . xb, xa . xb), continued over full turns by the last known value.  Limits, motor
 * and spring act on the coordinate; a hinge without one refuses them. */
#ifndef DYNAMICS_HINGE_H
#define DYNAMICS_HINGE_H

#include "dynamics/row.h"

enum { HINGE_MAX_ROWS = 6 };

typedef enum hinge_coordinate_kind { HINGE_NO_COORDINATE, HINGE_ANGLE, HINGE_TRAVEL } hinge_coordinate_kind;

typedef struct hinge {
    abut_hinge_kind kind;
    hinge_coordinate_kind coordinate;
    int a, b;              /* bodies; b = -1: the ground */
    vec3 pa, pb;           /* anchors, body axes from the centre of mass; of the ground: world */
    mat3 frame_a, frame_b; /* columns x y z, body axes */
    double length;         /* rod */
    double pitch;          /* screw, metres a radian */
    bool locked;           /* the limits are equal: the coordinate is held at 0, whatever the motor wants */
    bool has_limits, has_motor; /* not when it is locked */
    double limits[2];
    double motor_speed, motor_max_force;
    abut_time_function *motor_function;
    void *motor_user;
    double stiffness, damping, rest;
    double break_force;
} hinge;

/* Compiles a definition for the motions of its bodies at time 0 (b: NULL for the ground).  INVALID with the
 * hinge's name where the axis is zero, limits are crossed, a number is not finite, or limits, motor or spring
 * stand on a hinge without coordinate. */
abut_status hinge_compile(const abut_hinge_def *def, const motion *a, const motion *b, hinge *out,
                          abut_error *error);

/* The bilateral rows, with error, drift and lo = -inf, hi = inf.  `coordinate` is the last known value of
 * hinge_coordinate (a screw needs the full turns; others ignore it).  Returns their number.  b may be NULL
 * for the ground. */
int hinge_rows(const hinge *h, const motion *a, const motion *b, double coordinate, row out[HINGE_MAX_ROWS]);

/* The free coordinate: value (an angle is the one nearest to `last`), rate, and its row: J, drift, error =
 * value, lo = -inf, hi = inf.  False for hinges without one. */
bool hinge_coordinate(const hinge *h, const motion *a, const motion *b, double last, double *value,
                      double *rate, row *out);

/* The row of the lower (side = -1) or upper (side = +1) limit: error >= 0 is the distance to it, multiplier
 * >= 0 pushes away from it.  A limit that is reached is an inelastic impact on this row, then a resting one.
 */
row hinge_limit_row(const row *coordinate, const hinge *h, int side);

/* The motor as a row: wants rate = speed, acceleration = speed_rate with a multiplier of at most max_force.
 * While it pulls (-1 or +1) it does so with all it has: lo = hi = +-max.  A motor without bound is a
 * constraint, and a difference of speeds is closed by an impulse. */
row hinge_motor_row(const row *coordinate, const hinge *h, int pull, double speed, double speed_rate);
/* Whether it pulls: where the rate differs from the speed by more than `tolerance`, and it has a bound. */
int hinge_motor_pull(const hinge *h, double rate, double speed, double tolerance);

/* Speed of the motor at a time, and its derivative: 0 for a constant speed; for a function the difference of
 * sixth order with a step of 1e-3 s (numerics/difference.h), never asked before time 0.  A motor without
 * bound so takes 6 ms for a jump of the function; a bounded one goes after it as it can.  CANCELLED when the
 * function says stop. */
abut_status hinge_motor_speed(const hinge *h, double time, double *speed, double *speed_rate,
                              abut_error *error);

/* A motor without bound that drives into the limit that is reached (side -1 lower, +1 upper) stands still
 * there: a limit gives less than any motor. */
void hinge_motor_stalls(const hinge *h, int side, double *speed, double *speed_rate);

/* Generalised force of spring and damper on the coordinate: -stiffness (value - rest) - damping rate; apply
 * it with row_add_wrench(coordinate row, force, wrenches).  Energy stored in the spring. */
double hinge_spring_force(const hinge *h, double value, double rate);
double hinge_spring_energy(const hinge *h, double value);

/* What the hinge carries: force on A at the anchor and torque about it, from the multipliers of its rows. */
void hinge_reaction(const hinge *h, const motion *a, const row *rows, const double *multipliers, int count,
                    vec3 *force, vec3 *torque);

#endif
