/* Where a recording goes on. */
#ifndef RECORD_RESUME_H
#define RECORD_RESUME_H

#include "record/schema.h"

typedef struct resume_point {
    int64_t frame;
    double time;
    int64_t next_event, next_segment; /* the first that are not recorded by then */
} resume_point;

/* False: there is no snapshot. */
bool record_resume_point(sqlite3 *db, resume_point *out);

#endif
