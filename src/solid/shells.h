/* How the shells of a mesh lie in each other. */
#ifndef SOLID_SHELLS_H
#define SOLID_SHELLS_H

#include "solid/topology.h"

/* How often the shell's faces (faces[0..count) of the file) wind around point p of the stored frame: 1 inside
 * a shell that looks outward, -1 inside one that looks inward, 0 outside.  False when p lies on the shell. */
bool shell_winding(const topology *t, const int32_t *faces, int32_t count, vec3 p, int *winding);

/* depth[k]: how many solid layers of the other shells a point of shell k lies in (sum of their windings): a
 * shell that bounds material from outside has 0, a cavity has 1.  touch[k]: a point of k lies on another
 * shell.  within[k] (or NULL): how many shells it lies in, whichever way they look. */
abut_status shells_nest(topology *t, const int32_t *component, int32_t shell_count, int *depth, bool *touch,
                        int *within, abut_error *error);

/* A shell with a positive volume lies outside of all others or in a cavity; one with a negative volume lies
 * in one layer of material and is a cavity. */
typedef enum shell_verdict {
    SHELL_FINE,
    SHELL_TOUCHES,
    SHELL_INSIDE_OUT,
    SHELL_NESTED,
    SHELL_EMPTY
} shell_verdict;
shell_verdict shells_judge(double volume, int depth, bool touches);

#endif
