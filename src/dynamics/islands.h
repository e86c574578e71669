/* The islands of a group: movable bodies that contacts and rows couple now.  A group holds all bodies that
 * may meet within a frame; at an instant it often falls into parts that do nothing to each other (immovable
 * bodies pass nothing on), and each problem of the group into one for each island.  Solved apart every one
 * takes the steps that it needs itself, and one that goes astray takes no other with it. */
#ifndef DYNAMICS_ISLANDS_H
#define DYNAMICS_ISLANDS_H

#include "dynamics/group.h"

typedef struct islands {
    int count;   /* 1 also where the group cannot be split */
    int *of;     /* body -> island; -1: immovable, or nothing holds it */
    int *number; /* body -> its number in the island at hand; -1 */
} islands;

/* Islands are numbered in the order of their first bodies.  Groups with faces that press uniformly are one.
 * False when memory is out. */
bool islands_make(const group *g, arena *scratch, islands *out);

/* An island as a group of its own: copies, in the order of the group. */
typedef struct island {
    group g;
    int *bodies, *contacts, *rows; /* numbers in the whole group */
} island;

/* Memory of the arena; false when it is out. */
bool islands_take(islands *all, const group *g, int which, arena *scratch, island *out);
/* What the island remembers goes back to the group. */
void islands_return(const island *from, group *g);

#endif
