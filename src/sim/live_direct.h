/* One island as one complementarity problem, for the files live_direct*.c:
 *
 *   live_direct.c          the problem, its solution, and back
 *   live_hinged.c          how hinged islands go through a sub-step
 *   live_direct_contact.c  rows of contacts and friction, the bounds of friction
 *   live_impact_hinged.c   impacts between bodies that hang on hinges
 *   live_direct_hinge.c    rows of hinges, closed where the sub-step ends; velocities along them
 *
 *   bodies    numbered locally as they come: body_of[], motions[], inertias[], velocities[]
 *   rows      row[i], plain[i] (with local numbers), b, lo, hi, z; first those of hinges */
#ifndef SIM_LIVE_DIRECT_H
#define SIM_LIVE_DIRECT_H

#include "sim/live.h"

/* How a manifold slides before the sub-step is solved: slip and spin at its middle, and what an impulse
 * changes of them; and for each point what friction does there per unit of its bound: force along t1 and t2,
 * couple.  And how it slid and turned before the forces of the sub-step, whether friction is that of slip,
 * and whether that comes to an end in it; reach2: of its points, from the middle, squared. */
typedef struct slide {
    double slip, spin, slip_give, spin_give;
    vec3 before;
    double turn, reach2;
    bool loose, stops;
    double along[MANIFOLD_POINTS], across[MANIFOLD_POINTS], turning[MANIFOLD_POINTS];
} slide;

typedef struct direct {
    live *w;
    const live_island *island;
    int bodies, rows;
    int *body_of;
    motion *motions, *after; /* before the sub-step, with the velocities; at its end */
    body_inertia *inertias;
    spatial *velocities;
    live_hinge_row *row;
    int *manifold_of; /* of a row: entry of the island's contacts; -1: a hinge's */
    int *part_of;     /* point number, or FRICTION1.. */
    double *b, *lo, *hi, *z, *out;
    uint8_t *state;
    row *plain;
    slide *slides; /* by contact of the island */
    bool gives;    /* it is squeezed, and its contacts give */
} direct;
enum { FRICTION1 = 100, FRICTION2, TWIST, ROLL1, ROLL2, SPRING };

bool direct_allocate(direct *d, arena *memory);
/* The matrix of the rows and their right side; and the solution. */
abut_status direct_assemble(direct *d, row_matrix *m, abut_error *error);
abut_status direct_solve(direct *d, const row_matrix *m, abut_error *error);
void direct_add_row(direct *d, live_hinge_row r, int manifold_number, int part);
/* One piece of a sub-step from here on, closed where it ends unless told otherwise; and what it did. */
abut_status direct_try(direct *d, bool *closed, abut_error *error);
void direct_keep(direct *d);
void direct_keep_velocities(const direct *d);
void direct_apply(direct *d); /* the velocities after the impulses z, into the motions */

void direct_add_contact(direct *d, int entry);
void direct_keep_contact(const direct *d, int i); /* the impulse of one row */
bool direct_update_bounds(direct *d);             /* true when a bound changed by more than it may */
void direct_note_stops(direct *d);                /* of slip, by the solution at hand */

void direct_add_hinges(direct *d);
void direct_add_springs(direct *d);   /* those that are rows: live_spring.c */
void direct_add_held(direct *d);      /* those that keep their velocity through an impact */
void direct_add_rates(direct *d);     /* those rows of hinges that want a velocity */
double direct_miss_hinges(direct *d); /* see live_direct_hinge.c */
double direct_miss_spring(direct *d, int i);
double direct_bend(direct *d, double h);

bool direct_presses(const direct *d); /* whether any contact does; live_impact_hinged.c */
bool direct_bounces(const direct *d);

#endif
