/* The shapes of a recording, as a viewer draws them. */
#ifndef RECORD_GEOMETRY_H
#define RECORD_GEOMETRY_H

#include "record/schema.h"

/* Writes one row of `geometry`: kind, the numbers of an analytic shape, for a solid points, triangles and
 * edges, for a smooth surface the same with normals, and its control points where it is bicubic. */
abut_status geometry_write(const abut_context *context, sqlite3 *db, const char *path, int64_t id,
                           const abut_shape *shape, abut_error *error);

#endif
