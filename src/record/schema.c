#include "record/schema.h"

/* One row of `frame` a frame; one of `segment` a step of a group of bodies; see docs/recording.md. */
const char record_schema[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE body(id INTEGER PRIMARY KEY, name TEXT UNIQUE, shape TEXT, mass REAL, fixed INTEGER,"
    " center BLOB, color BLOB, geometry INTEGER);"
    "CREATE TABLE geometry(id INTEGER PRIMARY KEY, kind TEXT, size BLOB, points BLOB, triangles BLOB, edges "
    "BLOB, normals BLOB, patches BLOB);"
    /* the long blob last: what stands behind it could only be read by walking through it */
    "CREATE TABLE frame(id INTEGER PRIMARY KEY, t REAL, kinetic REAL, potential REAL, dissipated REAL,"
    " work REAL, px REAL, py REAL, pz REAL, lx REAL, ly REAL, lz REAL, deepest_overlap REAL, motions BLOB);"
    "CREATE INDEX frame_t ON frame(t);"
    "CREATE TABLE segment(id INTEGER PRIMARY KEY, t0 REAL, t1 REAL, step REAL, bodies BLOB, coefficients "
    "BLOB);"
    "CREATE INDEX segment_t ON segment(t0);"
    "CREATE TABLE event(id INTEGER PRIMARY KEY, t REAL, kind TEXT, body_a INTEGER, body_b INTEGER,"
    " entity_a TEXT, id_a INTEGER, entity_b TEXT, id_b INTEGER, x REAL, y REAL, z REAL, nx REAL, ny REAL, nz "
    "REAL,"
    " jx REAL, jy REAL, jz REAL, energy_before REAL, energy_after REAL, count INTEGER, name TEXT);"
    "CREATE TABLE contact(id INTEGER PRIMARY KEY, frame INTEGER, body_a INTEGER, body_b INTEGER, "
    "representation TEXT,"
    " dimension INTEGER, entity_a TEXT, id_a INTEGER, entity_b TEXT, id_b INTEGER, points BLOB, normals "
    "BLOB, forces BLOB,"
    " state TEXT, area REAL, cx REAL, cy REAL, cz REAL, determined INTEGER, border BLOB);"
    "CREATE INDEX contact_frame ON contact(frame);"
    "CREATE TABLE snapshot(frame INTEGER PRIMARY KEY, t REAL, state BLOB, next_event INTEGER, next_segment "
    "INTEGER);";

abut_status record_fail(sqlite3 *db, const char *path, const char *doing, abut_error *error) {
    return fail_at(error, ABUT_IO, path, 0,
                   "%s failed: %s; is it a recording, and is there space and permission?", doing,
                   db ? sqlite3_errmsg(db) : "out of memory");
}

abut_status record_execute(sqlite3 *db, const char *path, const char *sql, abut_error *error) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK) return ABUT_OK;
    return record_fail(db, path, "writing the recording", error);
}
