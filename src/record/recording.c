/* Reading a recording: what it is about, frames and the motion between them, snapshots. */
#include "record/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const query_texts[QUERIES] = {
    [FRAME_BY_ID] = "SELECT t, motions FROM frame WHERE id = ?",
    [NUMBERS_BY_ID] = "SELECT t, kinetic, potential, dissipated, work, px, py, pz, lx, ly, lz, "
                      "deepest_overlap FROM frame WHERE id = ?",
    [FRAME_BY_TIME] = "SELECT id FROM frame WHERE t BETWEEN ?1 - 1e-9 AND ?1 + 1e-9 ORDER BY abs(t - ?1)",
    [SEGMENTS_AT] = "SELECT t0, t1, step, bodies, coefficients FROM segment WHERE t0 <= ?1 AND t0 >= ?1 - ?2 "
                    "AND t1 >= ?1 ORDER BY t0 DESC, "
                    "id DESC",
    [NEXT_FRAME] = "SELECT id FROM frame WHERE t >= ? ORDER BY t",
    [CONTACTS_OF] = "SELECT body_a, body_b, representation, dimension, entity_a, id_a, entity_b, id_b, "
                    "points, normals, forces, state, "
                    "area, cx, cy, cz, determined, border FROM contact WHERE frame = ? ORDER BY id",
    [SNAPSHOT_AT] = "SELECT t, state FROM snapshot WHERE t <= ? ORDER BY frame DESC LIMIT 1",
    [META] = "SELECT value FROM meta WHERE key = ?",
    [BODY_OF] = "SELECT name, shape, mass, fixed, center, color, geometry FROM body WHERE id = ?",
    [GEOMETRY_OF] = "SELECT * FROM geometry WHERE id = ?",
};

/* ---- opening */

abut_status recording_damaged(const abut_recording *r, abut_error *error) {
    return fail_at(error, ABUT_INVALID, r->path, 0,
                   "is not a recording of abut, or damaged: %s; give a recording made by abut run -o",
                   sqlite3_errmsg(r->db));
}

static const char *keep_text(abut_recording *r, const unsigned char *text) {
    size_t size = strlen((const char *)text) + 1;
    char *copy = arena_alloc(&r->memory, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static abut_status read_names(abut_recording *r, abut_error *error) {
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT count(*) FROM body", -1, &s, NULL) != SQLITE_OK ||
        sqlite3_step(s) != SQLITE_ROW) {
        sqlite3_finalize(s);
        return recording_damaged(r, error);
    }
    int count = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    r->names = arena_alloc(&r->memory, (size_t)count + 1, sizeof *r->names);
    if (!r->names) return fail_memory(error);
    if (sqlite3_prepare_v2(r->db, "SELECT name FROM body ORDER BY id", -1, &s, NULL) != SQLITE_OK)
        return recording_damaged(r, error);
    while (sqlite3_step(s) == SQLITE_ROW && r->body_count < count) {
        const unsigned char *text = sqlite3_column_text(s, 0);
        if (text) r->names[r->body_count++] = keep_text(r, text);
    }
    sqlite3_finalize(s);
    return r->body_count == count ? ABUT_OK : recording_damaged(r, error);
}

static abut_status read_extent(abut_recording *r, abut_error *error) {
    sqlite3_stmt *s = NULL;
    const char *sql = "SELECT (SELECT count(*) FROM frame), (SELECT max(t) FROM frame), (SELECT max(t1 - t0) "
                      "FROM segment), "
                      "(SELECT max(id) + 1 FROM event)";
    if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW) {
        sqlite3_finalize(s);
        return recording_damaged(r, error);
    }
    r->frame_count = sqlite3_column_int64(s, 0);
    r->end = sqlite3_column_double(s, 1);
    r->longest_segment = sqlite3_column_double(s, 2);
    r->event_count = sqlite3_column_int64(s, 3);
    sqlite3_finalize(s);
    return ABUT_OK;
}

/* A recording has tables and indices of them.  Views, triggers, virtual tables and generated columns would be
 * programs that reading runs, perhaps for ever: what has them is no recording. */
static abut_status refuse_programs(abut_recording *r, abut_error *error) {
    static const char sql[] =
        "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
        " OR sql LIKE '%GENERATED%' OR sql LIKE '% AS (%' OR sql LIKE '% AS(%'";
    sqlite3_stmt *s = NULL;
    if (sqlite3_exec(r->db, "PRAGMA trusted_schema=OFF", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
        return recording_damaged(r, error);
    int code = sqlite3_step(s);
    abut_status status = ABUT_OK;
    if (code == SQLITE_ROW)
        status = fail_at(error, ABUT_INVALID, r->path, 0,
                         "is not a recording of abut: `%.100s` is a view, a trigger or computed",
                         sqlite3_column_text(s, 0) ? (const char *)sqlite3_column_text(s, 0) : "");
    else if (code != SQLITE_DONE)
        status = recording_damaged(r, error);
    sqlite3_finalize(s);
    return status;
}

/* Recordings of earlier versions have contacts without borders. */
static bool prepare_query(abut_recording *r, query which) {
    if (sqlite3_prepare_v2(r->db, query_texts[which], -1, &r->queries[which], NULL) == SQLITE_OK) return true;
    if (which != CONTACTS_OF) return false;
    static const char without[] = "SELECT body_a, body_b, representation, dimension, entity_a, id_a, "
                                  "entity_b, id_b, points, normals, forces, state, area, cx, cy, cz, "
                                  "determined FROM contact WHERE frame = ? ORDER BY id";
    return sqlite3_prepare_v2(r->db, without, -1, &r->queries[which], NULL) == SQLITE_OK;
}

abut_status abut_recording_open(const abut_context *context, const char *path, abut_recording **recording,
                                abut_error *error) {
    *recording = NULL;
    abut_recording *r = mem_calloc(context, 1, sizeof *r);
    if (!r) return fail_memory(error);
    if (context) r->context = *context;
    arena_init(&r->memory, &r->context);
    strncpy(r->path, path, sizeof r->path - 1);
    abut_status status = ABUT_OK;
    /* writable where it can be: the journal of a run that was killed is rolled back on opening */
    if (sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        status =
            fail_at(error, ABUT_IO, path, 0, "cannot be opened: %s; give a recording made by abut run -o",
                    r->db ? sqlite3_errmsg(r->db) : "out of memory");
    if (status == ABUT_OK) status = refuse_programs(r, error);
    for (int i = 0; i < QUERIES && status == ABUT_OK; i++)
        if (!prepare_query(r, (query)i)) status = recording_damaged(r, error);
    if (status == ABUT_OK) status = read_names(r, error);
    if (status == ABUT_OK) status = read_extent(r, error);
    if (status == ABUT_OK) {
        const char *mode = abut_recording_meta(r, "mode");
        r->live = mode && strcmp(mode, "live") == 0;
    }
    if (status != ABUT_OK) {
        abut_recording_close(r);
        return status;
    }
    *recording = r;
    return ABUT_OK;
}

void abut_recording_close(abut_recording *r) {
    if (!r) return;
    for (int i = 0; i < QUERIES; i++) sqlite3_finalize(r->queries[i]);
    sqlite3_close(r->db);
    abut_context context = r->context;
    arena_free(&r->memory);
    array_free(&context, &r->contacts);
    array_free(&context, &r->vectors);
    array_free(&context, &r->loops);
    array_free(&context, &r->snapshot);
    mem_free(&context, r, 1, sizeof *r);
}

int abut_recording_bodies(const abut_recording *r) { return r->body_count; }
const char *abut_recording_body_name(const abut_recording *r, int body) { return r->names[body]; }
int64_t abut_recording_frames(const abut_recording *r) { return r->frame_count; }
int64_t abut_recording_event_count(const abut_recording *r) { return r->event_count; }
double abut_recording_end(const abut_recording *r) { return r->end; }

int abut_recording_find_body(const abut_recording *r, const char *name) {
    for (int i = 0; i < r->body_count; i++)
        if (strcmp(r->names[i], name) == 0) return i;
    return -1;
}

const char *abut_recording_meta(abut_recording *r, const char *key) {
    sqlite3_stmt *s = r->queries[META];
    sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
    const char *value = NULL;
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0)) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        for (const kept_meta *k = r->metas; k && !value; k = k->next) /* a run that goes on changes some */
            if (strcmp(k->key, key) == 0 && strcmp(k->value, text) == 0) value = k->value;
        kept_meta *kept = value ? NULL : arena_alloc(&r->memory, 1, sizeof *kept);
        if (!value) value = keep_text(r, (const unsigned char *)text);
        const char *name = kept ? keep_text(r, (const unsigned char *)key) : NULL;
        if (name && value) {
            *kept = (kept_meta){name, value, r->metas};
            r->metas = kept;
        }
    }
    sqlite3_reset(s);
    return value;
}

/* ---- bodies and shapes */

static void column_bytes(sqlite3_stmt *s, int column, void *out, size_t size) {
    memset(out, 0, size);
    if ((size_t)sqlite3_column_bytes(s, column) == size) memcpy(out, sqlite3_column_blob(s, column), size);
}

abut_status abut_recording_body(abut_recording *r, int body, abut_recorded_body *out, abut_error *error) {
    sqlite3_stmt *s = r->queries[BODY_OF];
    sqlite3_bind_int(s, 1, body);
    *out = (abut_recorded_body){.geometry = -1};
    bool found = body >= 0 && body < r->body_count && sqlite3_step(s) == SQLITE_ROW;
    if (found) {
        out->name = r->names[body];
        if (sqlite3_column_text(s, 1))
            snprintf(out->shape, sizeof out->shape, "%s", (const char *)sqlite3_column_text(s, 1));
        out->mass = sqlite3_column_type(s, 2) == SQLITE_NULL ? INFINITY : sqlite3_column_double(s, 2);
        out->fixed = sqlite3_column_int(s, 3) != 0;
        column_bytes(s, 4, &out->center, sizeof out->center);
        column_bytes(s, 5, out->color, sizeof out->color);
        out->geometry = sqlite3_column_int(s, 6);
    }
    sqlite3_reset(s);
    return found ? ABUT_OK : fail_at(error, ABUT_INVALID, r->path, 0, "has no body %d", body);
}

/* A copy of a blob of `size` bytes an item; NULL and 0 where it is missing or of another length. */
static void *keep_blob(abut_recording *r, sqlite3_stmt *s, int column, size_t size, int64_t *count) {
    *count = 0;
    if (column >= sqlite3_column_count(s)) return NULL;
    size_t bytes = (size_t)sqlite3_column_bytes(s, column);
    if (bytes == 0 || bytes % size != 0) return NULL;
    void *copy = arena_alloc(&r->memory, bytes, 1);
    if (copy) memcpy(copy, sqlite3_column_blob(s, column), bytes), *count = (int64_t)(bytes / size);
    return copy;
}

static bool numbers_below(const int32_t *numbers, int64_t count, int64_t limit) {
    for (int64_t i = 0; i < count; i++)
        if (numbers[i] < 0 || numbers[i] >= limit) return false;
    return true;
}

abut_status abut_recording_geometry(abut_recording *r, int geometry, abut_recorded_geometry *out,
                                    abut_error *error) {
    for (const kept_geometry *k = r->geometries; k; k = k->next)
        if (k->id == geometry) {
            *out = k->geometry;
            return ABUT_OK;
        }
    sqlite3_stmt *s = r->queries[GEOMETRY_OF];
    sqlite3_bind_int(s, 1, geometry);
    *out = (abut_recorded_geometry){0};
    if (sqlite3_step(s) != SQLITE_ROW) {
        sqlite3_reset(s);
        return fail_at(error, ABUT_INVALID, r->path, 0, "has no geometry %d", geometry);
    }
    int64_t normals;
    if (sqlite3_column_text(s, 1))
        snprintf(out->kind, sizeof out->kind, "%s", (const char *)sqlite3_column_text(s, 1));
    column_bytes(s, 2, out->size, sizeof out->size);
    out->points = keep_blob(r, s, 3, sizeof(abut_vec3), &out->point_count);
    out->triangles = keep_blob(r, s, 4, 3 * sizeof(int32_t), &out->triangle_count);
    out->edges = keep_blob(r, s, 5, 2 * sizeof(int32_t), &out->edge_count);
    out->normals = keep_blob(r, s, 6, sizeof(abut_vec3), &normals);
    if (normals != out->point_count) out->normals = NULL;
    out->patches = keep_blob(r, s, 7, 64 * sizeof(double), &out->patch_count);
    sqlite3_reset(s);
    if (!numbers_below(out->triangles, 3 * out->triangle_count, out->point_count) ||
        !numbers_below(out->edges, 2 * out->edge_count, out->point_count))
        return fail_at(error, ABUT_INVALID, r->path, 0, "geometry %d is damaged", geometry);
    kept_geometry *kept = arena_alloc(&r->memory, 1, sizeof *kept);
    if (kept) {
        *kept = (kept_geometry){geometry, *out, r->geometries};
        r->geometries = kept;
    }
    return ABUT_OK;
}

/* ---- frames */

static abut_motion get_motion(const double *y) {
    return (abut_motion){{y[0], y[1], y[2]},    {y[3], y[4], y[5], y[6]}, {y[7], y[8], y[9]},
                         {y[10], y[11], y[12]}, {y[13], y[14], y[15]},    {y[16], y[17], y[18]}};
}

static abut_status find_frame(abut_recording *r, query which, int64_t frame, abut_error *error) {
    sqlite3_stmt *s = r->queries[which];
    sqlite3_reset(s);
    sqlite3_bind_int64(s, 1, frame);
    if (sqlite3_step(s) == SQLITE_ROW) return ABUT_OK;
    sqlite3_reset(s);
    return fail_at(error, ABUT_INVALID, r->path, 0, "has no frame %lld; it has %lld", (long long)frame,
                   (long long)r->frame_count);
}

abut_status abut_recording_frame(abut_recording *r, int64_t frame, abut_frame *out, abut_error *error) {
    abut_status status = find_frame(r, NUMBERS_BY_ID, frame, error);
    if (status != ABUT_OK) return status;
    sqlite3_stmt *s = r->queries[NUMBERS_BY_ID];
    double v[12];
    for (int i = 0; i < 12; i++) v[i] = sqlite3_column_double(s, i);
    *out = (abut_frame){v[0], {v[1], v[2], v[3], v[4], {v[5], v[6], v[7]}, {v[8], v[9], v[10]}, 0}, v[11]};
    sqlite3_reset(s);
    return ABUT_OK;
}

abut_status abut_recording_frame_motion(abut_recording *r, int64_t frame, int body, abut_motion *motion,
                                        abut_error *error) {
    abut_status status = find_frame(r, FRAME_BY_ID, frame, error);
    if (status != ABUT_OK) return status;
    sqlite3_stmt *s = r->queries[FRAME_BY_ID];
    size_t wanted = (size_t)(body + 1) * MOTION_NUMBERS * sizeof(double);
    double y[MOTION_NUMBERS];
    bool fine = (size_t)sqlite3_column_bytes(s, 1) >= wanted;
    if (fine) memcpy(y, (const char *)sqlite3_column_blob(s, 1) + wanted - sizeof y, sizeof y);
    sqlite3_reset(s);
    if (!fine) return fail_at(error, ABUT_INVALID, r->path, 0, "frame %lld is damaged", (long long)frame);
    *motion = get_motion(y);
    return ABUT_OK;
}

abut_status abut_recording_motions(abut_recording *r, int64_t frame, abut_motion *motions,
                                   abut_error *error) {
    abut_status status = find_frame(r, FRAME_BY_ID, frame, error);
    if (status != ABUT_OK) return status;
    sqlite3_stmt *s = r->queries[FRAME_BY_ID];
    size_t one = MOTION_NUMBERS * sizeof(double);
    bool fine = (size_t)sqlite3_column_bytes(s, 1) >= (size_t)r->body_count * one;
    const char *blob = fine ? sqlite3_column_blob(s, 1) : NULL;
    for (int i = 0; i < r->body_count && fine; i++) {
        double y[MOTION_NUMBERS]; /* blobs need not be aligned */
        memcpy(y, blob + (size_t)i * one, one);
        motions[i] = get_motion(y);
    }
    sqlite3_reset(s);
    if (fine) return ABUT_OK;
    return fail_at(error, ABUT_INVALID, r->path, 0, "frame %lld is damaged", (long long)frame);
}

int64_t abut_recording_find_frame(abut_recording *r, double time) {
    sqlite3_stmt *s = r->queries[FRAME_BY_TIME];
    sqlite3_bind_double(s, 1, time);
    int64_t frame = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : -1;
    sqlite3_reset(s);
    return frame;
}

/* ---- going on from a recording */

abut_status abut_recording_snapshot(abut_recording *r, double time, const void **block, size_t *size,
                                    double *at, abut_error *error) {
    sqlite3_stmt *s = r->queries[SNAPSHOT_AT];
    sqlite3_bind_double(s, 1, time);
    abut_status status = ABUT_OK;
    if (sqlite3_step(s) == SQLITE_ROW) {
        *at = sqlite3_column_double(s, 0);
        *size = (size_t)sqlite3_column_bytes(s, 1);
        if (!array_reserve(&r->context, &r->snapshot, (int64_t)*size + 1))
            status = fail_memory(error);
        else if (*size)
            memcpy(r->snapshot.data, sqlite3_column_blob(s, 1), *size);
        *block = r->snapshot.data;
    } else {
        status = fail_at(error, ABUT_INVALID, r->path, 0, "has no snapshot at or before t = %.9g", time);
    }
    sqlite3_reset(s);
    return status;
}

/* Splits the kept --set words at line ends, in place. */
static const char **split_set(abut_recording *r, const char *text) {
    size_t lines = 1;
    for (const char *p = text; *p; p++) lines += *p == '\n';
    const char **words = arena_alloc(&r->memory, lines + 1, sizeof *words);
    char *copy = words ? (char *)(uintptr_t)keep_text(r, (const unsigned char *)text) : NULL;
    int count = 0;
    for (char *p = copy; copy && *p;) {
        char *end = strchr(p, '\n');
        if (end) *end = 0;
        if (*p) words[count++] = p;
        p = end ? end + 1 : p + strlen(p);
    }
    return words;
}

abut_status abut_recording_scene(const abut_context *context, abut_recording *r, abut_scene **scene,
                                 abut_error *error) {
    const char *source = abut_recording_meta(r, "source"), *name = abut_recording_meta(r, "scene");
    const char *folder = abut_recording_meta(r, "folder"), *set = abut_recording_meta(r, "set");
    const char *seed = abut_recording_meta(r, "seed");
    *scene = NULL;
    if (!source || !name || !folder)
        return fail_at(error, ABUT_INVALID, r->path, 0, "does not hold its scene");
    abut_scene_options options = {.root = abut_recording_meta(r, "root"),
                                  .separate = abut_recording_meta(r, "separate") != NULL,
                                  .set = set ? split_set(r, set) : NULL,
                                  .mode = abut_recording_meta(r, "mode"),
                                  .seed = seed ? strtoull(seed, NULL, 10) : 0};
    return abut_scene_read(context, source, strlen(source), name, folder, &options, scene, error);
}
