/* Drift correction: the nearest state (in the metric of the masses) that satisfies all active constraints.
 *
 *     positions   min d^T M d / 2   with  J d = -C            one Newton step; the caller moves, evaluates,
 * repeats velocities  min (v+ - v)^T M (v+ - v) / 2   with  J v+ = rate
 *
 * Active are: rows with C known (hinges; limits and motors where they hold), contacts with `pressed` (gap =
 * 0), sticking points (tangential velocity 0; if `anchored` also the anchors together), rolling and spinning
 * stick. Over-constrained and inconsistent sets get the least-squares answer of least norm, and a named
 * outcome (Baraff 1989, appendix B). */
#ifndef DYNAMICS_PROJECT_H
#define DYNAMICS_PROJECT_H

#include "dynamics/group.h"

typedef enum project_outcome {
    PROJECT_DONE,
    PROJECT_INCONSISTENT /* constraints contradict each other: the largest remaining error is in `remaining`
                          */
} project_outcome;

typedef struct project_result {
    project_outcome outcome;
    double before;    /* largest |C| (m or rad), or |C' - rate|, before */
    double remaining; /* largest error that the linear step leaves: 0 to rounding unless inconsistent */
    int rank, rows;   /* independent constraints (-1: not counted, of many), all constraints */
} project_result;

/* One Newton step of the positions: displacements (linear, small rotation) of all bodies.  `roughly`: rows
 * that ask for more than 30 times their errors beside others keep them. */
abut_status project_positions(const group *g, const group_scratch *scratch, bool roughly,
                              spatial *displacements, project_result *result, abut_error *error);
/* Moves a body by a displacement: centre + linear, rotation turned by the vector `angular` (to third order).
 */
void project_displace(motion *m, spatial displacement);

/* The velocities on the constraints. */
abut_status project_velocities(const group *g, const group_scratch *scratch, spatial *velocities,
                               project_result *result, abut_error *error);

#endif
