/* The plane table of a mesh, and which faces are one maximal face (ROBUSTNESS point 5). */
#ifndef SOLID_PLANES_H
#define SOLID_PLANES_H

#include "solid/topology.h"

typedef struct plane_table {
    plane *planes; /* unit normals */
    int32_t plane_count;
    int32_t region_count;
    int32_t *region;   /* of a face of the file: its maximal face; they are numbered by their first face */
    int32_t *plane_id; /* of a region */
    int8_t *sign; /* of a region: +1 when the outward normal is the table's, -1 when it is the opposite */
} plane_table;

/* The mesh must be closed (topology_closed).  The arrays live in t->memory.  Faces are one region when they
 * are neighbours and share a plane and its direction; with keep_facets every face is its own region. */
abut_status planes_make(topology *t, bool keep_facets, plane_table *table, abut_error *error);

/* Width of a face: twice the area over half the perimeter, the height of a thin triangle.  Its corners leave
 * its plane by at most *flatness. */
bool face_is_thin(const topology *t, int32_t face, double area); /* not wider than the weld tolerance */
double face_width(const topology *t, int32_t face, double area);
double face_flatness(const topology *t, int32_t face, plane p);

#endif
