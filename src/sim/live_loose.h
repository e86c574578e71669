/* The hinges of large islands, for the files live_loose*.c:
 *
 *   live_loose.c          hinges, one system of equations
 *   live_loose_close.c    closed where a sub-step ends
 *   live_loose_pace.c     how short sub-steps have to be for that
 *   live_loose_contact.c  rows of contacts, limits, motors and springs of the bodies on them
 *   live_loose_turn.c     and their impulses, with all that the hinges carry
 *
 *   members   the bodies on those hinges and what touches them: body[], the other arrays alike */
#ifndef SIM_LIVE_LOOSE_H
#define SIM_LIVE_LOOSE_H

#include "sim/live.h"

#include "numerics/block_lu.h"

typedef struct coupling { /* two hinges on one body */
    int a, b;
    bool side_a, side_b; /* whether it is the second body of the hinge */
} coupling;

/* A row of a contact, or one of a hinge that has bounds or gives:  J v + bias + give p = 0  with
 * lo <= p <= hi. */
typedef struct loose_row {
    int a, b; /* members */
    spatial ja, jb;
    spatial wa, wb; /* velocities of their own bodies per unit of impulse, through the hinges */
    double own;     /* J v of these */
    double bias, give, lo, hi;
    double impulse, last; /* now, and before the turn */
    double lever;         /* of a point, from the middle of its manifold */
} loose_row;

/* A manifold: rows of its points, two of friction, one of twist, two of rolling where it resists. */
typedef struct loose_contact {
    int contact; /* in w->contacts */
    bool known;  /* of known bodies on hinges, or of none */
    int first, points, rows;
    double coefficient, spinning, rolling;
    double force, twist, roll; /* what friction may be, by the pressures before the turn */
} loose_contact;

enum { LOOSE_KNOWN = 6, LOOSE_BACK_ROUNDS = 8 };
#define LOOSE_CLOSED 1e-5 /* of the smallest body: hinges that miss by less are not solved again */

struct live_loose {
    block_lu matrix;
    int couplings;
    coupling *coupling;
    block_pair *pairs;
    int *head, *next;  /* ends of hinges on each body, twice the hinge and which end: see couple */
    int *found, *seen; /* bodies of a mechanism, and in which one a body was last found */
    int mechanisms;    /* that were looked for */
    int *first;        /* row of each hinge */
    spatial *forms;    /* two for each row: J where the hinges are to be closed, of both bodies */
    spatial *ends;     /* and where they are by the velocities at hand */
    double *change, *work;
    bool solvable;

    int members;
    int *body, *member_of; /* of a member; of a body, -1: none */
    uint8_t *borne;        /* by member: it has rows */
    double *mobility; /* BLOCK_AREA of each: the velocity that a wrench on it gives it, hinges answering */
    spatial *velocity, *wrench, *answer;
    /* those that bear most: members, and how far each moves every other */
    int knowns;
    int known[LOOSE_KNOWN];
    int *known_of;    /* by member; -1: none */
    double *response; /* BLOCK_AREA for two of them */
    double *wide, *wide_work;
    uint8_t *used;
    double *burden;             /* by member */
    bool still;                 /* the last turn changed next to nothing */
    bool open, failed;          /* hinges could not be closed where the sub-step ends; in any of the step */
    live_velocity *saved;       /* of members, before they were closed */
    double *saved_rows;         /* impulses */
    bool mixed;                 /* some of them are on no hinge: batches push them as well */
    int contacts, rows, driven; /* driven: the first rows, of hinges */
    loose_contact *contact;
    loose_row *row;
    int *driven_row; /* of those, in w->rows */
};

/* Whether the row is an equation; others have bounds, or give. */
static inline bool loose_holds(const live_hinge_row *r) {
    return r->side == 0 && !r->is_motor && !(r->give > 0);
}

/* ---- live_loose.c */
int loose_body_at(const live *w, int64_t k, bool second); /* of hinge k; -1: one that no force moves */
void loose_factor(live *w);                               /* by the forms at hand */
/* What is to change of the rates of hinges; that becomes the impulses that change it; and those are given. */
void loose_clear(live *w);
void loose_solve(live *w);
void loose_push(live *w);
/* The answer of the hinges to velocities of members that are no one's yet: what the equations take of them.
 */
void loose_answer(live *w, spatial *velocity);
void loose_keep_answer(live *w, double part); /* the impulses of the last answer, in `change` */
/* The velocity that a wrench on a body gives it, hinges answering. */
void loose_mobility(const live *w, int body, double out[BLOCK_AREA]);
/* The velocities that a wrench on a known body gives to all known bodies. */
void loose_respond_known(live *w, int known);

/* ---- live_loose_close.c */
void loose_close(live *w);
bool loose_close_back(live *w); /* one step of Newton's method; false where there is nothing to close */

/* ---- live_loose_contact.c */
bool loose_plan_contacts(live *w);
void loose_find_rows(live *w, bool relax, int number); /* where the bodies are now */
void loose_keep_rows(live *w);                         /* their impulses, in the contacts */
void loose_end_rows(live *w, int number, bool last);
void loose_note_pressed(live *w); /* what is pushed does not fall freely */

/* ---- live_loose_turn.c */
void loose_push_contacts(live *w); /* by the impulses that the rows have */
void loose_choose_known(live *w);  /* for the rows at hand */
double loose_turn(live *w);        /* the largest change of a rate */

#endif
