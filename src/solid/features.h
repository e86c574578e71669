/* What is measured on a finished B-rep: convexity of its edges, its smallest feature. */
#ifndef SOLID_FEATURES_H
#define SOLID_FEATURES_H

#include "solid/solid.h"

/* +1 convex, -1 reflex, 0 flat (see solid_edge). */
int feature_convexity(const abut_solid *s, int32_t edge);
/* The shortest edge, or the shortest distance inside a face between a vertex and an edge of that face that
 * does not end there, whichever is less.  false when memory is out. */
bool feature_smallest(const abut_context *context, const abut_solid *s, double *smallest);
/* The least distance within one face between a vertex and an edge that does not end there, where it is less
 * than sqrt(*best2): lowers *best2. */
bool feature_of_face(const abut_context *context, const abut_solid *s, int32_t face, double *best2);
/* How far the faces of an edge leave one plane: the farther face from the plane of the other, the lesser way.
 */
double feature_step(const abut_solid *s, int32_t edge);

#endif
