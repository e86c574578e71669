/* Overlap of two shapes by means that the clock does not use: classification in the B-rep index, and closed
 * forms. */
#ifndef RECORD_OVERLAP_H
#define RECORD_OVERLAP_H

#include "abut/index.h"
#include "abut/world.h"
#include "base/base.h"
#include "math/vec.h"

typedef struct overlap_shape {
    const abut_shape *shape;
    const abut_index *index; /* of a solid */
    box bounds;              /* shape axes; infinite for half-space and cavity */
} overlap_shape;

/* How deep the shapes overlap, if deeper than epsilon; otherwise 0: to one per cent along edges of
 * solids and of cylinders and ellipsoids in solids, to rounding where it is a closed form.  Of two solids
 * that is how far the deepest edge of one is inside the other. */
double overlap_depth(const overlap_shape *a, pose pa, const overlap_shape *b, pose pb, double epsilon);

#endif
