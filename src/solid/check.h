/* The stages of checking a mesh; each adds its findings. */
#ifndef SOLID_CHECK_H
#define SOLID_CHECK_H

#include "solid/report.h"

/* check_edges.c */

/* Which faces disagree with the rest: flip[f] after making each part consistent, the smaller side being
 * flipped; part[f] its number.  Parts are joined across edges of exactly two faces.  False (and *twisted the
 * face) where no choice is consistent, as on a Moebius strip; then flip[] holds a best effort. */
typedef struct orientation {
    int8_t *flip;
    int32_t *part;
    int32_t part_count, twisted; /* -1: none */
} orientation;
bool check_orientation(topology *t, orientation *o); /* in t->memory; false when memory is out */

bool check_edges(reporter *r, topology *t); /* all return false when memory is out */
bool check_vertices(reporter *r, topology *t);

/* check_features.c */
/* Extent of the mesh across its flattest direction, the axis of least variance of its vertices; a solid must
 * be thicker than the touching distance. */
double check_thickness_of(const topology *t);
void check_thickness(reporter *r, const topology *t, double epsilon);
abut_status check_features(reporter *r, const abut_solid *s, const abut_solid_options *options,
                           abut_error *error);

/* check.c: same[f] = the first face with the same corners, or f itself. */
bool check_same_faces(topology *t, int32_t *same);
/* Without explanation and without the search for crossing faces. */
abut_status solid_build_quietly(const abut_context *context, const abut_mesh *mesh,
                                const abut_solid_options *options, abut_solid **solid, abut_error *error);

#endif
