/* Near pairs: all pairs of features of two shapes that are closer than a reach, and whether a pair is a place
 * where the shapes really face each other.
 *
 * Two polyhedra are as far apart as the nearest of their pairs vertex-face, face-vertex and edge-edge; of
 * smooth shapes each has few elements.  A pair of unbounded elements (a line, a plane) stands for bounded
 * features, so its closest place may lie beside them: near_faces() tells.  It also asks the neighbourhoods
 * (Bouma and Vanecek 1992, section 3): a vertex that lies on the plane of a face counts only if its solid
 * stays, to first order, on the outer side of that plane, and two edges only if the plane through both
 * separates their wedges.  So a block on an equal block is held by the face below it, not by the side faces
 * whose planes its corners touch as well. */
#ifndef CONTACT_NEAR_H
#define CONTACT_NEAR_H

#include "contact/shape.h"

typedef struct near_pair {
    element a, b;
    contact_feature fa, fb;
    double sign; /* of the normal of two edges */
} near_pair;
typedef ARRAY(near_pair) near_array;

/* Whether contact between the two kinds of shapes is known at all. */
bool near_shapes_known(abut_shape_kind a, abut_shape_kind b);

/* Appends every pair of features that may be closer than reach, but for those of solids that cannot come to
 * face each other while the bodies turn against each other by no more than `turn` rad (INFINITY: all pairs).
 * False when memory is out. */
bool near_collect(const abut_context *context, const contact_shape *a, const motion *ma,
                  const contact_shape *b, const motion *mb, double reach, double turn, near_array *out);

/* The same for a window of time: the features of solids are collected that may come closer than `base` while
 * points pass each other at `time` times the speed that the motions give them (box_tree.h), but no farther
 * than reach. */
typedef struct near_window {
    double reach, turn;
    double base, time;
} near_window;
bool near_collect_window(const abut_context *context, const contact_shape *a, const motion *ma,
                         const contact_shape *b, const motion *mb, const near_window *window,
                         near_array *out);

/* The contact point of a pair at the given motions; *faces tells whether the features face each other there,
 * within the distance `slack` along them.  False where the pair is degenerate. */
bool near_evaluate(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack, contact_point *point, bool *faces);

/* Sharp features (edge and edge, vertex and plane) that are apart, in world axes. */
typedef struct near_apart {
    double distance; /* of the bounded edges; of a vertex from the plane, on whichever side */
    vec3 normal;     /* unit, from b to a: the planes across it at that distance separate the features */
    vec3 ends[2];    /* of the edge of a or b (`of_a`); the vertex */
} near_apart;
/* False for other pairs, and where the edges meet. */
bool near_is_apart(const near_pair *pair, const motion *ma, const motion *mb, bool of_a, near_apart *out);

/* Is the feature of one shape facing the other at `x`?  `n` is the direction towards the other body and x the
 * place, both in this body's axes; `t` the parameter where the feature is a line, `other`
 * what it meets. */
bool near_feature_faces(const contact_shape *s, const element *e, contact_feature f, const element *other,
                        vec3 n, vec3 x, double t, double slack);

#endif
