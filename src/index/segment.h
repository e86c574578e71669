/* Segment classification, its two halves: which entities are near (segment_find.c), and the sequence they
 * make (segment.c). */
#ifndef INDEX_SEGMENT_H
#define INDEX_SEGMENT_H

#include "index/index.h"

typedef struct segment_stretch {
    double t0, t1, at; /* at: where it is nearest */
    int32_t leaf;
} segment_stretch;

typedef struct segment_sweep {
    const abut_solid *solid;
    const abut_index *index;
    vec3 from, along;
    double length, epsilon, band;
    int limit; /* of the three arrays; `ends` has 2 limit + 2 */
    int32_t *found;
    segment_stretch *stretches, *line;
    double *ends;
    int found_count, stretch_count;
    int32_t start; /* INDEX_IN or INDEX_OUT where `from` is known to be so; SEGMENT_UNKNOWN */
    bool full;
} segment_sweep;
enum { SEGMENT_UNKNOWN = INT32_MIN };

/* Adds an entity to `found` unless it is among the last. */
void segment_note(segment_sweep *s, int32_t leaf);
/* Notes the faces that may be within the band of the segment, and `start`; others are noted too, but none is
 * missed. */
void segment_find(segment_sweep *s);

#endif
