/* Any bytes as a recording, and a good recording with any values in its rows.
 *
 * First byte even: the rest is the file.  Odd: the rest are edits of a small recording, each of 4 bytes
 * (table and column, row, kind of value, length) and the bytes of the value.  What must hold: no crash, no
 * leak, no hang; what opens can be asked for everything and exported, with a message where it is damaged. */
#define _POSIX_C_SOURCE 200809L
#include "abut/export.h"
#include "base/base.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char scene_text[] =
    "world { duration = 0.1, frame = 1/20 }\nmaterial { friction = 0.4 }\n"
    "camera { position = {3, -4, 2}, target = {0, 0, 0} }\nlight { position = {2, -2, 5} }\n"
    "body { name = 'floor', shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }\n"
    "body { name = 'box', shape = solid.box {0.5, 0.4, 0.2}, position = {1, 0, 0.1} }\n"
    "body { name = 'egg', shape = ellipsoid {0.1, 0.1, 0.2}, position = {2, 0, 0.6} , group = 1}\n"
    "body { name = 'ball', shape = sphere {0.1}, position = {3, 0, 0.1}, velocity = {1, 0, 0}, group = 1 }\n";

static char folder[] = "/tmp/abut-fuzz-XXXXXX";
static char path[64], copy_path[80], out_path[64];
static char *good;
static size_t good_size;

static void remove_folder(void) {
    static const char *const names[] = {"good", "copy", "copy-journal", "copy-wal", "out", "out.partial"};
    for (int i = 0; i < COUNT_OF(names); i++) {
        char name[96];
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        remove(name);
    }
    rmdir(folder);
}

static void record_good(void) {
    abut_scene *scene = NULL;
    abut_model *model = NULL;
    abut_recorder *recorder = NULL;
    abut_sim *run = NULL;
    abut_error error = {0};
    bool fine = abut_scene_read(NULL, scene_text, sizeof scene_text - 1, "fuzz.lua", ".", NULL, &scene,
                                &error) == ABUT_OK &&
                abut_model_create(NULL, abut_scene_world(scene), &model, &error) == ABUT_OK &&
                abut_recorder_create(NULL, path, scene, model, NULL, &recorder, &error) == ABUT_OK;
    abut_sim_options options = {0};
    if (fine) options = abut_recorder_options(recorder);
    fine = fine && abut_sim_create(NULL, model, &options, &run, &error) == ABUT_OK;
    for (int f = 0; f <= 2 && fine; f++)
        fine = (f == 0 || abut_sim_advance(run, f / 20.0, &error) == ABUT_OK) &&
               abut_recorder_frame(recorder, run, &error) == ABUT_OK;
    fine = fine && abut_recorder_finish(recorder, run, "completed", 0.1, &error) == ABUT_OK;
    abut_recorder_free(recorder);
    abut_sim_free(run);
    abut_model_free(model);
    abut_scene_free(scene);
    if (!fine || file_read(NULL, path, &good, &good_size, &error) != ABUT_OK) {
        fprintf(stderr, "fuzz_recording: %s\n", error.message);
        abort();
    }
}

static void start(void) {
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/good", folder);
    snprintf(copy_path, sizeof copy_path, "%s/copy", folder);
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    atexit(remove_folder);
    record_good();
}

/* ---- edits */

static const char *const edits[] = {
    "UPDATE body SET name=?1 WHERE id=?2",
    "UPDATE body SET shape=?1 WHERE id=?2",
    "UPDATE body SET center=?1 WHERE id=?2",
    "UPDATE body SET color=?1 WHERE id=?2",
    "UPDATE body SET geometry=?1 WHERE id=?2",
    "UPDATE body SET id=?1 WHERE id=?2",
    "UPDATE geometry SET kind=?1 WHERE id=?2",
    "UPDATE geometry SET size=?1 WHERE id=?2",
    "UPDATE geometry SET points=?1 WHERE id=?2",
    "UPDATE geometry SET triangles=?1 WHERE id=?2",
    "UPDATE geometry SET normals=?1 WHERE id=?2",
    "UPDATE geometry SET patches=?1 WHERE id=?2",
    "UPDATE frame SET motions=?1 WHERE id=?2",
    "UPDATE frame SET t=?1 WHERE id=?2",
    "UPDATE frame SET id=?1 WHERE id=?2",
    "UPDATE segment SET coefficients=?1 WHERE id=?2",
    "UPDATE segment SET bodies=?1 WHERE id=?2",
    "UPDATE segment SET t1=?1 WHERE id=?2",
    "UPDATE contact SET points=?1, normals=?1, forces=?1 WHERE id=?2",
    "UPDATE contact SET points=?1 WHERE id=?2",
    "UPDATE contact SET body_a=?1 WHERE id=?2",
    "UPDATE contact SET dimension=?1 WHERE id=?2",
    "UPDATE event SET t=?1 WHERE id=?2",
    "UPDATE event SET body_b=?1, kind=?1 WHERE id=?2",
    "UPDATE meta SET value=?1 WHERE rowid=?2",
    "UPDATE snapshot SET state=?1 WHERE frame=?2",
    "DELETE FROM frame WHERE id=?2",
    "DELETE FROM body WHERE id=?2",
    "DELETE FROM geometry WHERE id=?2",
};

static void bind_value(sqlite3_stmt *s, int kind, const uint8_t *bytes, int size) {
    double number = 0;
    memcpy(&number, bytes, (size_t)size < sizeof number ? (size_t)size : sizeof number);
    switch (kind % 5) {
    case 0: sqlite3_bind_blob(s, 1, bytes, size, SQLITE_TRANSIENT); break;
    case 1: sqlite3_bind_double(s, 1, number); break;
    case 2: sqlite3_bind_text(s, 1, (const char *)bytes, size, SQLITE_TRANSIENT); break;
    case 3: sqlite3_bind_int64(s, 1, size ? (int8_t)bytes[0] : 0); break;
    default: sqlite3_bind_null(s, 1); break;
    }
}

static void edit(const uint8_t *bytes, size_t size) {
    sqlite3 *db = NULL;
    if (sqlite3_open(copy_path, &db) == SQLITE_OK) {
        sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; BEGIN", NULL, NULL, NULL);
        for (size_t at = 0; at + 4 <= size;) {
            const uint8_t *head = bytes + at;
            at += 4;
            int length = head[3] < size - at ? head[3] : (int)(size - at);
            sqlite3_stmt *s = NULL;
            if (sqlite3_prepare_v2(db, edits[head[0] % COUNT_OF(edits)], -1, &s, NULL) == SQLITE_OK) {
                bind_value(s, head[2], bytes + at, length);
                sqlite3_bind_int(s, 2, head[1]);
                sqlite3_step(s);
            }
            sqlite3_finalize(s);
            at += (size_t)length;
        }
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    }
    sqlite3_close(db);
}

/* ---- asking */

static bool look(void *user, const abut_event *event) {
    *(double *)user += event->time;
    return true;
}

static void use(abut_recording *r) {
    abut_error error;
    int bodies = abut_recording_bodies(r);
    for (int i = 0; i < bodies; i++) {
        abut_recorded_body b;
        abut_recorded_geometry g;
        abut_motion m;
        if (abut_recording_body(r, i, &b, &error) == ABUT_OK)
            abut_recording_geometry(r, b.geometry, &g, &error);
        abut_recording_motion(r, i, 0.07, &m, &error);
    }
    for (int64_t f = 0; f < abut_recording_frames(r); f++) {
        abut_frame frame;
        const abut_contact *contacts;
        abut_recording_frame(r, f, &frame, &error);
        abut_recording_contacts(r, f, &contacts, &error);
    }
    double sum = 0;
    abut_recording_events(r, look, &sum, &error);
    const void *block;
    size_t size;
    double at;
    abut_recording_snapshot(r, 1, &block, &size, &at, &error);
    for (int f = 0; f < ABUT_EXPORT_FORMATS; f++) {
        abut_export_options o = abut_default_export();
        o.format = (abut_export_format)f, o.memory = 4096;
        if (o.format != ABUT_EXPORT_RIB) abut_recording_export(NULL, r, out_path, &o, NULL, &error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (!good) start();
    if (size < 1) return 0;
    bool edited = bytes[0] & 1;
    abut_error error = {0};
    if (file_write(NULL, copy_path, edited ? good : (const char *)bytes + 1, edited ? good_size : size - 1,
                   &error) != ABUT_OK)
        abort();
    if (edited) edit(bytes + 1, size - 1);
    abut_recording *r = NULL;
    if (abut_recording_open(NULL, copy_path, &r, &error) == ABUT_OK) use(r);
    abut_recording_close(r);
    return 0;
}
