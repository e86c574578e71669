/* A recording that is open: what the files that read it share. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "record/schema.h"

typedef enum query {
    FRAME_BY_ID,
    NUMBERS_BY_ID,
    FRAME_BY_TIME,
    SEGMENTS_AT,
    NEXT_FRAME,
    CONTACTS_OF,
    SNAPSHOT_AT,
    META,
    BODY_OF,
    GEOMETRY_OF,
    QUERIES
} query;

/* Shapes that were asked for, kept: the next who asks gets the same memory. */
typedef struct kept_geometry {
    int id;
    abut_recorded_geometry geometry;
    struct kept_geometry *next;
} kept_geometry;
typedef struct kept_meta {
    const char *key, *value;
    struct kept_meta *next;
} kept_meta;

struct abut_recording {
    abut_context context;
    char path[1024];
    sqlite3 *db;
    sqlite3_stmt *queries[QUERIES];
    arena memory; /* names, meta values: until closed */
    const char **names;
    int body_count;
    int64_t frame_count, event_count;
    double end, longest_segment;
    bool live; /* made by the live clock */
    ARRAY(abut_contact) contacts;
    ARRAY(abut_vec3) vectors;
    ARRAY(int32_t) loops;
    ARRAY(char) snapshot; /* the one that was asked for last */
    kept_geometry *geometries;
    kept_meta *metas;
};

/* "FILE: is not a recording, or damaged". */
abut_status recording_damaged(const abut_recording *recording, abut_error *error);

#endif
