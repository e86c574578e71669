/* Integrals over a closed mesh. */
#ifndef SOLID_MASS_H
#define SOLID_MASS_H

#include "solid/topology.h"

/* Volume, centre and unit inertia about the centre (xx yy zz xy xz yz, xy = -integral of x y), in the stored
 * frame; shell_volume[k] the signed volume of component k. */
typedef struct mass_integrals {
    double volume;
    vec3 center;
    double inertia[6];
} mass_integrals;
mass_integrals mass_of_mesh(const topology *t, const int32_t *component, int32_t shell_count,
                            double *shell_volume, double *scratch_of_shells);

#endif
