/* Searching the dense output of a step: monitored functions of time, their zeros, and the earliest of what
 * was found.  For exact_gaps.c and exact_events.c alone. */
#ifndef SIM_EXACT_SEARCH_H
#define SIM_EXACT_SEARCH_H

#include "sim/exact.h"

typedef struct exact_sample {
    double t, g, rate;
} exact_sample;

/* Value of a monitored function at a time; false when it cannot be evaluated there. */
typedef bool exact_probe(exact *x, int64_t item, double t, exact_sample *s);
/* A yes or no function of time. */
typedef bool exact_holds(exact *x, int64_t item, double t);

/* ---- exact_search.c */
/* Places only the two bodies of a pair: what gap functions need. */
abut_status exact_place_two(exact *x, double time, int a, int b, abut_error *error);
bool exact_probe_between(exact *x, int64_t item, exact_probe *f, const exact_sample *a, const exact_sample *b,
                         double t, exact_sample *m);
bool exact_refine(exact *x, int64_t item, exact_probe *f, exact_sample a, exact_sample b, exact_sample *root);
double exact_bisect(exact *x, int64_t item, exact_holds *f, double t0, double t1);
/* Keeps the earlier of two events; ties go to the one found first, within a kind to the smaller number. */
void exact_consider(exact_event *best, exact_event_kind kind, int64_t item, double time);

/* ---- exact_resist.c */
void exact_find_turns(exact *x, double t0, double t1, exact_event *best);

/* ---- exact_gaps.c */
bool exact_probe_gap(exact *x, int64_t item, double t, exact_sample *s); /* of a near pair */

#endif
