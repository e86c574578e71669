/* From regions of coplanar faces to the arrays of the B-rep. */
#ifndef SOLID_BREP_H
#define SOLID_BREP_H

#include "solid/planes.h"

/* Allocates the block and fills vertices, edges (without convexity), coedges, loops, faces, planes,
 * file_faces and the counts.  component[f] is the shell of a face of the file. */
abut_status brep_make(topology *t, const plane_table *table, const int32_t *component, int32_t shell_count,
                      bool keep_facets, abut_solid **solid, abut_error *error);

/* Writable views of a block that is being built. */
static inline void *brep_at(abut_solid *s, uint64_t offset) { return (char *)s + offset; }

#endif
