/* Where a recording goes on, and what a scene's functions have to be told for it.
 *
 * A run ends its steps at whole frames, t = k * frame.  One that ended within a frame (a duration that is no
 * multiple of it) has its last frame there; if it went on from that state it would have a frame and a step
 * that the uninterrupted run never had, and other bits.  So it goes on from the last snapshot at a whole
 * frame, and what came behind that is simulated again. */
#include "record/resume.h"
#include "record/recording.h"

#include <math.h>

/* Whether the frame is where its number says, as frames of `abut run` are but for the last. */
static bool is_whole(int64_t id, double t, double frame) { return t == (double)id * frame; }

static bool has_whole_frame(sqlite3 *db, int64_t id, double frame) {
    sqlite3_stmt *s = NULL;
    bool whole = false;
    if (sqlite3_prepare_v2(db, "SELECT t FROM frame WHERE id = ?", -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(s, 1, id);
        whole = sqlite3_step(s) == SQLITE_ROW && is_whole(id, sqlite3_column_double(s, 0), frame);
    }
    sqlite3_finalize(s);
    return whole;
}

static double frame_length(sqlite3 *db) {
    sqlite3_stmt *s = NULL;
    double length = 0;
    if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = 'frame'", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        length = sqlite3_column_double(s, 0);
    sqlite3_finalize(s);
    return length;
}

bool record_resume_point(sqlite3 *db, resume_point *out) {
    static const char sql[] = "SELECT frame, t, next_event, next_segment FROM snapshot ORDER BY frame DESC";
    double frame = frame_length(db);
    sqlite3_stmt *s = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK)
        while (!found && sqlite3_step(s) == SQLITE_ROW) {
            *out = (resume_point){.frame = sqlite3_column_int64(s, 0),
                                  .time = sqlite3_column_double(s, 1),
                                  .next_event = sqlite3_column_int64(s, 2),
                                  .next_segment = sqlite3_column_int64(s, 3)};
            /* a program that records frames at times of its own has no whole frame before it either */
            found = is_whole(out->frame, out->time, frame) || !has_whole_frame(db, out->frame - 1, frame);
        }
    sqlite3_finalize(s);
    return found;
}

double abut_recording_resume_time(abut_recording *r) {
    resume_point point = {0};
    return record_resume_point(r->db, &point) ? point.time : 0;
}

/* ---- telling again */

typedef struct retelling {
    abut_scene *scene;
    const abut_model *model;
    sqlite3_stmt *frames;
    double told, frame; /* every() is told up to the first; the next frame, infinite behind the last */
    int64_t next_event; /* of the snapshot */
    bool failed;
} retelling;

static void next_frame(retelling *r) {
    r->told = r->frame;
    r->frame = sqlite3_step(r->frames) == SQLITE_ROW ? sqlite3_column_double(r->frames, 0) : HUGE_VAL;
}

/* As a run does it: the events of a frame, then what falls into it. */
static bool retell_frames(retelling *r, double before) {
    while (!r->failed && r->frame < before) {
        r->failed = !abut_scene_every(r->scene, r->told, r->frame);
        next_frame(r);
    }
    return !r->failed;
}

static bool retell_event(void *user, const abut_event *event) {
    retelling *r = user;
    if ((int64_t)event->sequence >= r->next_event || !retell_frames(r, event->time)) return false;
    r->failed = !abut_scene_event(r->scene, r->model, event);
    return !r->failed;
}

static int64_t events_before(abut_recording *r, double time) {
    sqlite3_stmt *s = NULL;
    int64_t count = 0;
    if (sqlite3_prepare_v2(r->db, "SELECT next_event FROM snapshot WHERE t <= ? ORDER BY frame DESC LIMIT 1",
                           -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_double(s, 1, time);
        if (sqlite3_step(s) == SQLITE_ROW) count = sqlite3_column_int64(s, 0);
    }
    sqlite3_finalize(s);
    return count;
}

abut_status abut_recording_retell(abut_recording *recording, double until, abut_scene *scene,
                                  const abut_model *model, abut_error *error) {
    if (!abut_scene_listens(scene)) return ABUT_OK;
    retelling r = {.scene = scene, .model = model, .next_event = events_before(recording, until)};
    if (sqlite3_prepare_v2(recording->db, "SELECT t FROM frame WHERE t <= ? ORDER BY id", -1, &r.frames,
                           NULL) != SQLITE_OK)
        return recording_damaged(recording, error);
    sqlite3_bind_double(r.frames, 1, until);
    next_frame(&r), next_frame(&r); /* nothing is told by frame 0 */
    abut_scene_retell(scene, true);
    abut_status status = abut_recording_events(recording, retell_event, &r, error);
    retell_frames(&r, HUGE_VAL);
    abut_scene_retell(scene, false);
    sqlite3_finalize(r.frames);
    if (status == ABUT_OK && r.failed) {
        if (error) *error = *abut_scene_error(scene);
        return ABUT_INVALID;
    }
    return status;
}
