/* Writing a recording while the run goes on.
 *
 * All rows go through prepared statements inside a transaction that is committed every fifth of a second: a
 * process that is killed leaves a file that opens with everything up to the last commit.  A snapshot row says
 * which event and segment come next, so that resuming can remove what was written behind it. */
#define _XOPEN_SOURCE 700
#include "record/geometry.h"
#include "record/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef enum statement {
    INSERT_FRAME,
    INSERT_SEGMENT,
    INSERT_EVENT,
    INSERT_CONTACT,
    INSERT_SNAPSHOT,
    INSERT_META,
    STATEMENTS
} statement;

static const char *const statement_texts[STATEMENTS] = {
    [INSERT_FRAME] =
        ("INSERT INTO frame(id, t, kinetic, potential, dissipated, work, px, py, pz, lx, ly, lz, "
         "deepest_overlap, motions) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
    [INSERT_SEGMENT] = "INSERT INTO segment VALUES(?,?,?,?,?,?)",
    [INSERT_EVENT] = "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_CONTACT] = "INSERT INTO contact VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_SNAPSHOT] = "INSERT INTO snapshot VALUES(?,?,?,?,?)",
    [INSERT_META] = "INSERT OR REPLACE INTO meta VALUES(?,?)",
};

struct abut_recorder {
    abut_context context;
    char path[1024];
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    abut_recorder_def def;
    int64_t next_frame, next_event, next_segment;
    double last_snapshot, last_commit, last_frame; /* the first and the last are times of the run */
    bool (*watch)(void *user, const abut_event *event);
    void *watch_user;
    abut_error failure; /* the first one: nothing is written after it */
    bool has_failed;
    ARRAY(double) motions, border;
    ARRAY(char) block;
};

/* ---- opening */

static abut_status open_file(abut_recorder *r, const char *path, int flags, abut_error *error) {
    if (snprintf(r->path, sizeof r->path, "%s", path) >= (int)sizeof r->path)
        return fail_at(error, ABUT_INVALID, "", 0, "the name of the recording is too long");
    if (sqlite3_open_v2(path, &r->db, flags, NULL) != SQLITE_OK)
        return record_fail(r->db, path, "opening the recording", error);
    sqlite3_busy_timeout(r->db, 2000);
    return record_execute(r->db, r->path, "PRAGMA synchronous=NORMAL; PRAGMA locking_mode=NORMAL;", error);
}

static abut_status prepare(abut_recorder *r, abut_error *error) {
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v2(r->db, statement_texts[i], -1, &r->statements[i], NULL) != SQLITE_OK)
            return record_fail(r->db, r->path, "writing the recording", error);
    return ABUT_OK;
}

static abut_status step(abut_recorder *r, statement s, abut_error *error) {
    int code = sqlite3_step(r->statements[s]);
    sqlite3_reset(r->statements[s]);
    return code == SQLITE_DONE ? ABUT_OK : record_fail(r->db, r->path, "writing the recording", error);
}

static abut_status set_meta(abut_recorder *r, const char *key, const char *value, abut_error *error) {
    sqlite3_bind_text(r->statements[INSERT_META], 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(r->statements[INSERT_META], 2, value, -1, SQLITE_STATIC);
    return step(r, INSERT_META, error);
}

static abut_status set_meta_number(abut_recorder *r, const char *key, double value, abut_error *error) {
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    return set_meta(r, key, text, error);
}

/* ---- the head of a recording */

static abut_status write_body(abut_recorder *r, const abut_world_def *w, const abut_model *model, int i,
                              int64_t geometry, abut_error *error) {
    const abut_body_def *b = &w->bodies[i];
    abut_mass mass = abut_model_body_mass(model, i);
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(r->db, "INSERT INTO body VALUES(?,?,?,?,?,?,?,?)", -1, &insert, NULL) != SQLITE_OK)
        return record_fail(r->db, r->path, "writing the recording", error);
    bool movable = !b->fixed && !b->kinematic;
    sqlite3_bind_int(insert, 1, i);
    sqlite3_bind_text(insert, 2, abut_model_body_name(model, i), -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, abut_shape_name(b->shape.kind), -1, SQLITE_STATIC);
    if (movable) sqlite3_bind_double(insert, 4, mass.mass);
    sqlite3_bind_int(insert, 5, b->fixed);
    sqlite3_bind_blob(insert, 6, &mass.center, sizeof mass.center, SQLITE_STATIC);
    sqlite3_bind_blob(insert, 7, b->color, sizeof b->color, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 8, geometry);
    int code = sqlite3_step(insert);
    sqlite3_finalize(insert);
    return code == SQLITE_DONE ? ABUT_OK : record_fail(r->db, r->path, "writing the recording", error);
}

/* Field by field: between them a struct may have bytes that mean nothing. */
static bool same_shape(const abut_shape *a, const abut_shape *b) {
    const double x[] = {a->radius,   a->length,   a->axes.x,   a->axes.y, a->axes.z,
                        a->normal.x, a->normal.y, a->normal.z, a->offset};
    const double y[] = {b->radius,   b->length,   b->axes.x,   b->axes.y, b->axes.z,
                        b->normal.x, b->normal.y, b->normal.z, b->offset};
    return a->kind == b->kind && a->solid == b->solid && a->surface == b->surface &&
           memcmp(x, y, sizeof x) == 0;
}

/* Bodies, and each distinct shape once. */
static abut_status write_bodies(abut_recorder *r, const abut_world_def *w, const abut_model *model,
                                abut_error *error) {
    abut_status status = ABUT_OK;
    int64_t geometries = 0;
    int64_t *geometry_of = mem_calloc(&r->context, (size_t)w->body_count + 1, sizeof *geometry_of);
    if (!geometry_of) return fail_memory(error);
    for (int i = 0; i < w->body_count && status == ABUT_OK; i++) {
        int same = 0;
        while (same < i && !same_shape(&w->bodies[same].shape, &w->bodies[i].shape)) same++;
        geometry_of[i] = same < i ? geometry_of[same] : geometries++;
        if (same == i)
            status = geometry_write(&r->context, r->db, r->path, geometry_of[i], &w->bodies[i].shape, error);
        if (status == ABUT_OK) status = write_body(r, w, model, i, geometry_of[i], error);
    }
    mem_free(&r->context, geometry_of, (size_t)w->body_count + 1, sizeof *geometry_of);
    return status;
}

/* --set words are kept one a line. */
static abut_status write_set(abut_recorder *r, abut_error *error) {
    size_t size = 1, at = 0;
    for (int i = 0; r->def.set && r->def.set[i]; i++) size += strlen(r->def.set[i]) + 1;
    char *text = mem_calloc(&r->context, size, 1);
    if (!text) return fail_memory(error);
    for (int i = 0; r->def.set && r->def.set[i]; i++) {
        strcpy(text + at, r->def.set[i]);
        at += strlen(r->def.set[i]);
        text[at++] = '\n';
    }
    abut_status status = set_meta(r, "set", text, error);
    mem_free(&r->context, text, size, 1);
    return status;
}

/* Folders from the root: the recording may be read from anywhere. */
static abut_status write_path(abut_recorder *r, const char *key, const char *path, abut_error *error) {
    char *whole = realpath(path, NULL);
    abut_status status = set_meta(r, key, whole ? whole : path, error);
    free(whole);
    return status;
}

/* The scene's view and lights as JSON, for whoever draws the recording. */
static abut_status write_camera(abut_recorder *r, const abut_scene *scene, abut_error *error) {
    abut_camera c = abut_scene_camera(scene);
    char text[512];
    snprintf(text, sizeof text,
             "{\"position\": [%.17g, %.17g, %.17g], \"target\": [%.17g, %.17g, %.17g], "
             "\"up\": [%.17g, %.17g, %.17g], \"field_of_view\": %.17g}",
             c.position.x, c.position.y, c.position.z, c.target.x, c.target.y, c.target.z, c.up.x, c.up.y,
             c.up.z, c.field_of_view);
    return c.given ? set_meta(r, "camera", text, error) : ABUT_OK;
}

static abut_status write_lights(abut_recorder *r, const abut_scene *scene, abut_error *error) {
    enum { EACH = 320 };
    const abut_light *lights;
    int count = abut_scene_lights(scene, &lights);
    size_t size = (size_t)count * EACH + 4, at = 0;
    char *text = mem_alloc(&r->context, size, 1);
    if (!text) return fail_memory(error);
    for (int i = 0; i < count; i++) {
        const abut_light *l = &lights[i];
        at += (size_t)snprintf(text + at, size - at,
                               "%s{\"position\": [%.17g, %.17g, %.17g], \"color\": [%.17g, %.17g, %.17g], "
                               "\"intensity\": %.17g}",
                               i ? ", " : "[", l->position.x, l->position.y, l->position.z, l->color.x,
                               l->color.y, l->color.z, l->intensity);
    }
    snprintf(text + at, size - at, "]");
    abut_status status = count ? set_meta(r, "lights", text, error) : ABUT_OK;
    mem_free(&r->context, text, size, 1);
    return status;
}

static abut_status write_head(abut_recorder *r, const abut_scene *scene, const abut_model *model,
                              abut_error *error) {
    const abut_world_def *w = abut_scene_world(scene);
    size_t size;
    abut_status status = set_meta_number(r, "version", RECORD_VERSION, error);
    if (status == ABUT_OK) status = set_meta(r, "abut", abut_version(), error);
    if (status == ABUT_OK) status = set_meta(r, "scene", abut_scene_name(scene), error);
    if (status == ABUT_OK) status = write_path(r, "folder", abut_scene_folder(scene), error);
    if (status == ABUT_OK) status = write_path(r, "root", abut_scene_root(scene), error);
    if (status == ABUT_OK && abut_scene_shifts(scene)) status = set_meta(r, "separate", "1", error);
    if (status == ABUT_OK) status = set_meta(r, "source", abut_scene_source(scene, &size), error);
    if (status == ABUT_OK) status = set_meta(r, "mode", w->mode == ABUT_LIVE ? "live" : "exact", error);
    if (status == ABUT_OK) status = set_meta(r, "title", w->title ? w->title : "", error);
    if (status == ABUT_OK) status = set_meta(r, "status", "running", error);
    if (status == ABUT_OK) status = set_meta_number(r, "frame", w->frame, error);
    if (status == ABUT_OK)
        status = set_meta_number(r, "duration", r->def.duration > 0 ? r->def.duration : w->duration, error);
    if (status == ABUT_OK) status = set_meta_number(r, "seed", (double)r->def.seed, error);
    if (status == ABUT_OK)
        status = set_meta_number(r, "touching", abut_model_tolerances(model).touching, error);
    if (status == ABUT_OK) status = write_set(r, error);
    if (status == ABUT_OK) status = write_camera(r, scene, error);
    if (status == ABUT_OK) status = write_lights(r, scene, error);
    return status == ABUT_OK ? write_bodies(r, w, model, error) : status;
}

static abut_recorder *new_recorder(const abut_context *context, const abut_recorder_def *def) {
    abut_recorder *r = mem_calloc(context, 1, sizeof *r);
    if (!r) return NULL;
    if (context) r->context = *context;
    if (def) r->def = *def;
    if (!(r->def.snapshot_interval > 0)) r->def.snapshot_interval = 1;
    if (!(r->def.commit_interval > 0)) r->def.commit_interval = 0.2;
    r->last_snapshot = r->last_frame = -1e300;
    r->last_commit =
        -1e300; /* the first frame is committed at once: there is always a place to resume from */
    return r;
}

/* A run holds the lock of its recording but for moments between its transactions. */
static bool is_being_written(const char *path) {
    sqlite3 *db = NULL;
    bool busy = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_exec(db, "BEGIN IMMEDIATE; ROLLBACK", NULL, NULL, NULL) == SQLITE_BUSY;
    sqlite3_close(db);
    return busy;
}

/* An older recording of that name is removed; anything else is not ours to remove, as a scene given by
 * mistake. */
static abut_status make_room(const char *path, abut_error *error) {
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "", journal[1100];
    struct stat about;
    if (!path[0]) return fail(error, ABUT_INVALID, "the name of the recording is empty; give one");
    if (stat(path, &about) != 0) return ABUT_OK;
    bool is_file = S_ISREG(about.st_mode);
    FILE *file = is_file ? fopen(path, "rb") : NULL;
    size_t read = file ? fread(head, 1, sizeof magic, file) : 0;
    if (file) fclose(file);
    if (!is_file || (about.st_size > 0 && (read < sizeof magic || memcmp(head, magic, sizeof magic) != 0)))
        return fail_at(error, ABUT_INVALID, path, 0,
                       "is there already, and is no recording; give another name, or remove it");
    if (is_being_written(path))
        return fail_at(error, ABUT_INVALID, path, 0,
                       "is being written by another run; give another name, or wait for its end");
    snprintf(journal, sizeof journal, "%s-journal", path);
    if (remove(path) == 0) remove(journal);
    return ABUT_OK;
}

abut_status abut_recorder_create(const abut_context *context, const char *path, const abut_scene *scene,
                                 const abut_model *model, const abut_recorder_def *def,
                                 abut_recorder **recorder, abut_error *error) {
    *recorder = NULL;
    abut_recorder *r = new_recorder(context, def);
    if (!r) return fail_memory(error);
    abut_status status = make_room(path, error);
    if (status == ABUT_OK) status = open_file(r, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error);
    if (status == ABUT_OK) status = record_execute(r->db, path, "BEGIN", error);
    if (status == ABUT_OK) status = record_execute(r->db, path, record_schema, error);
    if (status == ABUT_OK) status = prepare(r, error);
    if (status == ABUT_OK) status = write_head(r, scene, model, error);
    if (status == ABUT_OK) status = record_execute(r->db, path, "COMMIT; BEGIN", error);
    if (status != ABUT_OK) {
        abut_recorder_free(r);
        return status;
    }
    *recorder = r;
    return ABUT_OK;
}

abut_status abut_recorder_resume(const abut_context *context, const char *path, abut_recorder **recorder,
                                 abut_error *error) {
    *recorder = NULL;
    abut_recorder *r = new_recorder(context, NULL);
    if (!r) return fail_memory(error);
    abut_status status = open_file(r, path, SQLITE_OPEN_READWRITE, error);
    resume_point from = {0};
    if (status == ABUT_OK && !record_resume_point(r->db, &from))
        status = fail_at(error, ABUT_INVALID, path, 0, "has no snapshot to resume from; run the scene again");
    r->last_snapshot = r->last_frame = from.time;
    r->next_event = from.next_event, r->next_segment = from.next_segment;
    char sql[400];
    snprintf(sql, sizeof sql,
             "BEGIN; DELETE FROM frame WHERE id > %lld; DELETE FROM contact WHERE frame > %lld; DELETE FROM "
             "snapshot WHERE frame > %lld; DELETE FROM event WHERE id >= %lld;"
             "DELETE FROM segment WHERE id >= %lld",
             (long long)from.frame, (long long)from.frame, (long long)from.frame, (long long)from.next_event,
             (long long)from.next_segment);
    if (status == ABUT_OK) status = record_execute(r->db, path, sql, error);
    /* recordings of earlier versions have no such columns; where they are there this does nothing */
    if (status == ABUT_OK) {
        sqlite3_exec(r->db, "ALTER TABLE contact ADD COLUMN border BLOB", NULL, NULL, NULL);
        sqlite3_exec(r->db, "ALTER TABLE event ADD COLUMN name TEXT", NULL, NULL, NULL);
    }
    if (status == ABUT_OK) status = prepare(r, error);
    if (status == ABUT_OK) status = set_meta(r, "status", "running", error);
    if (status == ABUT_OK) status = record_execute(r->db, path, "COMMIT; BEGIN", error);
    if (status != ABUT_OK) {
        abut_recorder_free(r);
        return status;
    }
    r->next_frame = from.frame + 1;
    *recorder = r;
    return ABUT_OK;
}

abut_status abut_recorder_plan(abut_recorder *r, double duration, abut_error *error) {
    r->def.duration = duration;
    return set_meta_number(r, "duration", duration, error);
}

void abut_recorder_free(abut_recorder *r) {
    if (!r) return;
    for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(r->statements[i]);
    sqlite3_close(r->db);
    abut_context context = r->context;
    array_free(&context, &r->motions);
    array_free(&context, &r->border);
    array_free(&context, &r->block);
    mem_free(&context, r, 1, sizeof *r);
}

/* ---- rows */

static bool record_segment(void *user, const abut_segment *g) {
    abut_recorder *r = user;
    sqlite3_stmt *s = r->statements[INSERT_SEGMENT];
    size_t numbers = (size_t)g->body_count * ABUT_SEGMENT_NUMBERS * ABUT_SEGMENT_COEFFICIENTS;
    sqlite3_bind_int64(s, 1, r->next_segment++);
    sqlite3_bind_double(s, 2, g->start);
    sqlite3_bind_double(s, 3, g->end);
    sqlite3_bind_double(s, 4, g->step);
    sqlite3_bind_blob64(s, 5, g->bodies, (uint64_t)g->body_count * sizeof *g->bodies, SQLITE_STATIC);
    sqlite3_bind_blob64(s, 6, g->coefficients, numbers * sizeof *g->coefficients, SQLITE_STATIC);
    if (!r->has_failed) r->has_failed = step(r, INSERT_SEGMENT, &r->failure) != ABUT_OK;
    return !r->has_failed;
}

static void bind_vec3(sqlite3_stmt *s, int column, abut_vec3 v) {
    sqlite3_bind_double(s, column, v.x);
    sqlite3_bind_double(s, column + 1, v.y);
    sqlite3_bind_double(s, column + 2, v.z);
}

static void bind_entity(sqlite3_stmt *s, int column, abut_entity e) {
    sqlite3_bind_text(s, column, abut_entity_name(e.kind), -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, column + 1, e.id);
}

static bool record_event(void *user, const abut_event *e) {
    abut_recorder *r = user;
    sqlite3_stmt *s = r->statements[INSERT_EVENT];
    sqlite3_bind_int64(s, 1, r->next_event++);
    sqlite3_bind_double(s, 2, e->time);
    sqlite3_bind_text(s, 3, abut_event_name(e->kind), -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 4, e->body[0]);
    sqlite3_bind_int(s, 5, e->body[1]);
    bind_entity(s, 6, e->entity[0]);
    bind_entity(s, 8, e->entity[1]);
    bind_vec3(s, 10, e->point);
    bind_vec3(s, 13, e->normal);
    bind_vec3(s, 16, e->impulse);
    sqlite3_bind_double(s, 19, e->energy_before);
    sqlite3_bind_double(s, 20, e->energy_after);
    sqlite3_bind_int(s, 21, e->count);
    sqlite3_bind_text(s, 22, e->name, -1, SQLITE_STATIC); /* NULL: none */
    if (!r->has_failed) r->has_failed = step(r, INSERT_EVENT, &r->failure) != ABUT_OK;
    return !r->has_failed && (!r->watch || r->watch(r->watch_user, e));
}

abut_sim_options abut_recorder_options(abut_recorder *r) {
    return (abut_sim_options){.user = r, .event = record_event, .segment = record_segment};
}

void abut_recorder_watch(abut_recorder *r, bool (*event)(void *user, const abut_event *event), void *user) {
    r->watch = event, r->watch_user = user;
}

static const char *const state_words[] = {"frictionless", "stick", "slip"};
static const char *const representation_words[] = {"region", "manifold", "rolling"};

/* For each loop the number of its corners, and the corners. */
static bool fill_border(abut_recorder *r, const abut_contact *c) {
    r->border.count = 0;
    for (int i = 0; i < c->loop_count; i++) {
        int32_t first = c->loop_start[i], count = c->loop_start[i + 1] - first;
        if (!array_push(&r->context, &r->border, (double)count)) return false;
        for (int32_t k = 0; k < count; k++) {
            abut_vec3 p = c->corners[first + k];
            if (!array_push(&r->context, &r->border, p.x) || !array_push(&r->context, &r->border, p.y) ||
                !array_push(&r->context, &r->border, p.z))
                return false;
        }
    }
    return true;
}

static abut_status record_contact(abut_recorder *r, const abut_contact *c, abut_error *error) {
    if (!fill_border(r, c)) return fail_memory(error);
    sqlite3_stmt *s = r->statements[INSERT_CONTACT];
    uint64_t bytes = (uint64_t)c->point_count * sizeof(abut_vec3);
    sqlite3_bind_int64(s, 1, r->next_frame);
    sqlite3_bind_int(s, 2, c->body[0]);
    sqlite3_bind_int(s, 3, c->body[1]);
    sqlite3_bind_text(s, 4, representation_words[c->representation], -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 5, c->dimension);
    bind_entity(s, 6, c->entity[0]);
    bind_entity(s, 8, c->entity[1]);
    sqlite3_bind_blob64(s, 10, c->points, bytes, SQLITE_STATIC);
    sqlite3_bind_blob64(s, 11, c->normals, bytes, SQLITE_STATIC);
    sqlite3_bind_blob64(s, 12, c->forces, bytes, SQLITE_STATIC);
    sqlite3_bind_text(s, 13, state_words[c->state], -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 14, c->area);
    bind_vec3(s, 15, c->center_of_pressure);
    sqlite3_bind_int(s, 18, c->determined);
    sqlite3_bind_null(s, 19);
    if (r->border.count)
        sqlite3_bind_blob64(s, 19, r->border.data, (uint64_t)r->border.count * sizeof(double), SQLITE_STATIC);
    return step(r, INSERT_CONTACT, error);
}

static void put_motion(double *y, const abut_motion *m) {
    double numbers[MOTION_NUMBERS] = {m->center.x,    m->center.y,       m->center.z,       m->rotation.w,
                                      m->rotation.x,  m->rotation.y,     m->rotation.z,     m->velocity.x,
                                      m->velocity.y,  m->velocity.z,     m->spin.x,         m->spin.y,
                                      m->spin.z,      m->acceleration.x, m->acceleration.y, m->acceleration.z,
                                      m->spin_rate.x, m->spin_rate.y,    m->spin_rate.z};
    memcpy(y, numbers, sizeof numbers);
}

static abut_status write_frame(abut_recorder *r, const abut_sim *run, int bodies, abut_error *error) {
    int64_t count = (int64_t)bodies * MOTION_NUMBERS;
    if (!array_reserve(&r->context, &r->motions, count)) return fail_memory(error);
    for (int i = 0; i < bodies; i++) {
        abut_motion m = abut_sim_motion(run, i);
        put_motion(r->motions.data + (size_t)i * MOTION_NUMBERS, &m);
    }
    abut_energy e = abut_sim_energy(run);
    sqlite3_stmt *s = r->statements[INSERT_FRAME];
    sqlite3_bind_int64(s, 1, r->next_frame);
    sqlite3_bind_double(s, 2, abut_sim_time(run));
    sqlite3_bind_double(s, 3, e.kinetic);
    sqlite3_bind_double(s, 4, e.potential);
    sqlite3_bind_double(s, 5, e.dissipated);
    sqlite3_bind_double(s, 6, e.work);
    bind_vec3(s, 7, e.momentum);
    bind_vec3(s, 10, e.angular_momentum);
    sqlite3_bind_double(s, 13, abut_sim_audit(run).deepest_overlap);
    sqlite3_bind_blob64(s, 14, r->motions.data, (uint64_t)count * sizeof(double), SQLITE_STATIC);
    return step(r, INSERT_FRAME, error);
}

static abut_status write_snapshot(abut_recorder *r, const abut_sim *run, abut_error *error) {
    size_t size = abut_sim_snapshot_size(run);
    if (!array_reserve(&r->context, &r->block, (int64_t)size)) return fail_memory(error);
    abut_sim_snapshot(run, r->block.data);
    sqlite3_stmt *s = r->statements[INSERT_SNAPSHOT];
    sqlite3_bind_int64(s, 1, r->next_frame);
    sqlite3_bind_double(s, 2, abut_sim_time(run));
    sqlite3_bind_blob64(s, 3, r->block.data, size, SQLITE_STATIC);
    sqlite3_bind_int64(s, 4, r->next_event);
    sqlite3_bind_int64(s, 5, r->next_segment);
    r->last_snapshot = abut_sim_time(run);
    return step(r, INSERT_SNAPSHOT, error);
}

static abut_status tell_failure(const abut_recorder *r, abut_error *error) {
    if (error) *error = r->failure;
    return r->failure.status;
}

static abut_status record_frame(abut_recorder *r, abut_sim *run, abut_error *error) {
    const abut_contact *contacts;
    int contact_count = abut_sim_contacts(run, &contacts);
    abut_status status = contact_count < 0 ? fail_memory(error) : ABUT_OK;
    if (status == ABUT_OK) status = write_frame(r, run, abut_sim_bodies(run), error);
    for (int i = 0; i < contact_count && status == ABUT_OK; i++)
        status = record_contact(r, &contacts[i], error);
    /* each commit has a snapshot, so that a kill loses no more work than what was not committed */
    bool commit = clock_now() - r->last_commit > r->def.commit_interval;
    bool due = abut_sim_time(run) >= r->last_snapshot + r->def.snapshot_interval * (1 - 1e-9);
    if (status == ABUT_OK && (due || commit)) status = write_snapshot(r, run, error);
    r->next_frame++;
    r->last_frame = abut_sim_time(run);
    if (status == ABUT_OK && commit) {
        status = record_execute(r->db, r->path, "COMMIT; BEGIN", error);
        r->last_commit = clock_now();
    }
    return status;
}

abut_status abut_recorder_frame(abut_recorder *r, abut_sim *run, abut_error *error) {
    if (!r->has_failed) r->has_failed = record_frame(r, run, &r->failure) != ABUT_OK;
    return r->has_failed ? tell_failure(r, error) : ABUT_OK;
}

abut_status abut_recorder_finish(abut_recorder *r, const abut_sim *run, const char *status_word,
                                 double wall_seconds, abut_error *error) {
    if (r->has_failed) return tell_failure(r, error);
    abut_audit a = abut_sim_audit(run);
    int64_t frame = r->next_frame;
    abut_status status = ABUT_OK;
    /* so that `abut resume` can go on from the end; not from within a frame, where a run was stopped by an
     * error */
    if (r->last_snapshot < abut_sim_time(run) && r->last_frame == abut_sim_time(run)) {
        r->next_frame = frame - 1;
        status = write_snapshot(r, run, error);
        r->next_frame = frame;
    }
    if (status == ABUT_OK) status = set_meta(r, "status", status_word, error);
    if (status == ABUT_OK) status = set_meta_number(r, "wall_s", wall_seconds, error);
    if (status == ABUT_OK) status = set_meta_number(r, "deepest_overlap_m", a.deepest_overlap, error);
    if (status == ABUT_OK) status = set_meta_number(r, "energy_error_relative", a.energy_error, error);
    if (status == ABUT_OK) status = set_meta_number(r, "momentum_error_relative", a.momentum_error, error);
    if (status == ABUT_OK)
        status = set_meta_number(r, "complementarity_residual", a.complementarity_residual, error);
    if (status == ABUT_OK) status = set_meta_number(r, "constraint_error_m", a.constraint_error, error);
    if (status == ABUT_OK) status = set_meta_number(r, "time_stepped_s", a.time_stepped, error);
    if (status == ABUT_OK) status = set_meta(r, "promises_kept", a.promises_kept ? "true" : "false", error);
    if (status == ABUT_OK) status = record_execute(r->db, r->path, "COMMIT; BEGIN", error);
    return status;
}
