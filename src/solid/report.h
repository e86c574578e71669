/* Collecting findings. */
#ifndef SOLID_REPORT_H
#define SOLID_REPORT_H

#include "solid/topology.h"

typedef struct reporter {
    const abut_context *context;
    const abut_mesh *mesh;
    abut_report *report;
    int64_t capacity;
    int limit;
    bool out_of_memory;
} reporter;

bool report_open(reporter *r, const abut_context *context, const abut_mesh *mesh, int limit);
/* Counts a finding and, below the limit of its kind, returns a place for it, without face, edge, vertex; NULL
 * otherwise.  report_text writes the message. */
abut_finding *report_add(reporter *r, abut_defect defect);
void report_text(abut_finding *f, const char *format, ...) ABUT_PRINTF(2, 3);
/* Fills in vertex v of the topology, or the edge of half-edge c, or face f, with coordinates and line. */
void report_vertex(abut_finding *f, const topology *t, int32_t v);
void report_edge(abut_finding *f, const topology *t, int32_t c);
void report_face(abut_finding *f, const topology *t, int32_t face);
/* The finished report, or NULL when memory ran out on the way (everything is freed then). */
abut_report *report_close(reporter *r);
/* The first error of the report as an abut_error: ABUT_INVALID, or ABUT_OK when there is none. */
abut_status report_first_error(const abut_report *report, const abut_mesh *mesh, abut_error *error);

#endif
