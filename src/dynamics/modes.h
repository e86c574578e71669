/* Coulomb's law by Newton's method on the modes (Alart and Curnier 1991): for groups of many points, where
 * the modes of most are right at once.
 *
 * At a point with normal force N and rate r_n, friction T and slip rate r, mobility m of the point:
 *
 *     N' = N - r_n / m <= 0       open:   N = 0, T = 0
 *     T' = T - r / m,  |T'| <= mu N'   sticks: r_n = 0, r = 0
 *     otherwise                   slips:  r_n = 0, T = -mu N d + z_p p,   d = -T'/|T'|,   p across d,
 *                                         p . r + c z_p = 0,   c = m (|T'| / (mu N') - 1)
 *
 * the law of friction linearised: z_p is what the turning of d does to the force, and vanishes in the
 * solution.  Each step is one solution of linear equations over the bodies (numerics/coupled.h), from the
 * forces of the step before, so that redundant points keep a distribution inside their cones where they have
 * one.
 *
 * It begins at the forces of a solution that is near (of the time step before), if there is one: their rates
 * and they tell the modes.  Otherwise all points that do not separate stick. */
#ifndef DYNAMICS_MODES_H
#define DYNAMICS_MODES_H

#include "dynamics/coulomb.h"
#include "dynamics/states.h"

typedef struct modes_point {
    int contact, normal; /* and its unknown */
    const cone *law;     /* of a candidate with friction; NULL */
    friction_mode mode;  /* of a candidate: STICK or SLIP */
    bool closed;
    double d[2]; /* SLIP: direction of the slip in the axes of the law */
    double force[2], rate[2], normal_force, normal_rate;
} modes_point;

typedef struct modes {
    states t;
    coupled_row *raw; /* the rows of the system, of which those of the equations are made */
    modes_point *points;
    int point_count;
    double scale, accuracy;
    double *z; /* the answer, for the system: friction along the axes of the laws */
    int steps;
} modes;

/* The system has its candidates sticking (candidate: CONE_KINDS per contact; NULL: all), other slipping
 * points keep their direction.  start: forces to begin with (one for each unknown), or NULL.  Where Newton's
 * method does not end from there, sweeps from there make another one (SWEPT), or it begins from nothing and
 * from sweeps (ALL).  *found is false where the steps do not end, or the system has laws that cones_know does
 * not.  False when memory is out. */
typedef enum modes_effort { MODES_ONE_START, MODES_SWEPT_START, MODES_ALL_STARTS } modes_effort;
bool modes_solve(const group_system *s, const bool *candidate, const double *start, modes_effort effort,
                 double accuracy, arena *scratch, modes *out, bool *found);

/* Loads inside the cones of all that sticks, from forces that may not be: z stays where there are none.
 * *found is false where it is not known whether there are.  False when memory is out. */
bool modes_share(const group_system *s, const double *start, arena *scratch, double *z, bool *found);

/* As cones_choose: modes, directions and `pressed` of the contacts, the solution. */
abut_status modes_choose(group *g, const coulomb_config *config, const group_scratch *scratch,
                         group_system *system, system_solution *solution, bool *found, abut_error *error);

#endif
