/* The tables of a recording.  Numbers in blobs are little-endian doubles (float64) and int32, as
 * docs/recording.md says. */
#ifndef RECORD_SCHEMA_H
#define RECORD_SCHEMA_H

#include "abut/record.h"
#include "base/base.h"

#include <sqlite3.h>

enum {
    RECORD_VERSION = 1,
    MOTION_NUMBERS = 19 /* center, rotation, velocity, spin, acceleration, spin rate */
};

extern const char record_schema[];

/* "FILE: what SQLite said" as an error. */
abut_status record_fail(sqlite3 *db, const char *path, const char *doing, abut_error *error);
abut_status record_execute(sqlite3 *db, const char *path, const char *sql, abut_error *error);

#endif
