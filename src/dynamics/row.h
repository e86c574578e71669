/* Rows: one scalar relation between the motions of two bodies, and the matrix they make.
 *
 *     C(q)                   the coordinate: a hinge's error, a limit's distance, a contact's gap
 *     C'  = J v              J = (ja, jb): also the wrench on A and on B per unit of the multiplier
 *     C'' = J a + drift      drift = J' v
 *
 * A row asks for C' = rate and C'' = acceleration (both 0 unless a motor drives it) with a multiplier in
 * [lo, hi]:  hinge (-inf, inf), limit and contact [0, inf), motor [-max, max].
 *
 * Baraff 1989 (8):   C'' = A f - b,   A = J M^-1 J^T,   -b = J a_free + drift - acceleration.
 * The sign of his b is the opposite of the complementarity kernel's (abut/complementarity.h). */
#ifndef DYNAMICS_ROW_H
#define DYNAMICS_ROW_H

#include "base/base.h"
#include "dynamics/body.h"

typedef struct row {
    int a, b;            /* bodies; -1: the ground */
    spatial ja, jb;      /* world axes, about the centres of mass */
    double drift;        /* J' v */
    double error;        /* C: 0 is what the row wants (bilateral), or the least it allows (unilateral) */
    double rate;         /* C' wanted */
    double acceleration; /* C'' wanted */
    double lo, hi;       /* of the multiplier */
} row;

/* J v for the velocities (or accelerations, displacements) v of all bodies. */
double row_dot(const row *r, const spatial *v);
/* wrench += f J^T on both bodies; bodies of number -1 are skipped. */
void row_add_wrench(const row *r, double f, spatial *wrenches);

/* The primitives of all hinges and contacts.  `a` and `b` are motions, ra and rb world vectors from the
 * centres of mass to the points pa, pb; vectors n, x, y are in world axes and turn with the body they are
 * fixed in. */

/* C = e . (pa - pb), e fixed in the world. */
row row_point_fixed(const motion *a, const motion *b, vec3 ra, vec3 rb, vec3 e);
/* C = n . (pa - pb), n fixed in B: the distance of a point of A along a direction of B. */
row row_point_along(const motion *a, const motion *b, vec3 ra, vec3 rb, vec3 n);
/* C = |pa - pb| - length. */
row row_distance(const motion *a, const motion *b, vec3 ra, vec3 rb, double length);
/* C = x . y, x fixed in A and y in B. */
row row_vectors(const motion *a, const motion *b, vec3 x, vec3 y);

/* A = J M^-1 J^T of `count` rows as compressed rows (both triangles, diagonal included), in the arena; rows
 * that share no movable body have no entry.  Entries of a row are in ascending column order. */
typedef struct row_matrix {
    int size;
    int *start, *column; /* row i: start[i] .. start[i+1]-1 */
    double *value;
} row_matrix;
abut_status row_assemble(const row *rows, int count, const motion *motions, const body_inertia *inertias,
                         int body_count, arena *scratch, row_matrix *out, abut_error *error);

#endif
