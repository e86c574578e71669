/* The motion of a body at any time of a recording: from the dense output of the exact clock, or between two
 * frames of the live one. */
#include "math/vec.h"
#include "record/recording.h"

/* The entry of the body in the segment that the query stands on; -1: not in it, or damaged. */
static int segment_entry(sqlite3_stmt *s, int body) {
    const char *bodies = sqlite3_column_blob(s, 3); /* blobs need not be aligned */
    int count = sqlite3_column_bytes(s, 3) / (int)sizeof(int32_t);
    size_t wanted = (size_t)count * ABUT_SEGMENT_NUMBERS * ABUT_SEGMENT_COEFFICIENTS * sizeof(double);
    if ((size_t)sqlite3_column_bytes(s, 4) < wanted) return -1;
    for (int i = 0; i < count; i++) {
        int32_t entry;
        memcpy(&entry, bodies + (size_t)i * sizeof entry, sizeof entry);
        if (entry == body) return i;
    }
    return -1;
}

/* The live clock has no dense output: between two of its frames everything goes on straight lines. */
static abut_motion between(const abut_motion *a, const abut_motion *b, double part) {
    abut_quat p = a->rotation, q = b->rotation;
    double sign = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z < 0 ? -1 : 1, stay = 1 - part,
           go = sign * part;
    quat turned = {stay * p.w + go * q.w, stay * p.x + go * q.x, stay * p.y + go * q.y,
                   stay * p.z + go * q.z};
    return (abut_motion){
        vec3_lerp(a->center, b->center, part), quat_unit(turned), vec3_lerp(a->velocity, b->velocity, part),
        vec3_lerp(a->spin, b->spin, part),     b->acceleration,   b->spin_rate};
}

static abut_status live_motion(abut_recording *r, int body, int64_t next, double time, abut_motion *motion,
                               abut_error *error) {
    abut_frame f[2];
    abut_motion m[2];
    for (int i = 0; i < 2; i++) {
        abut_status status = abut_recording_frame(r, next - 1 + i, &f[i], error);
        if (status == ABUT_OK) status = abut_recording_frame_motion(r, next - 1 + i, body, &m[i], error);
        if (status != ABUT_OK) return status;
    }
    double part = f[1].time > f[0].time ? (time - f[0].time) / (f[1].time - f[0].time) : 1;
    *motion = part < 1 - 1e-9 ? between(&m[0], &m[1], fmax(part, 0)) : m[1];
    return ABUT_OK;
}

/* A body that is in no step at a time rests: it is where the next frame has it. */
static abut_status resting_motion(abut_recording *r, int body, double time, abut_motion *motion,
                                  abut_error *error) {
    sqlite3_stmt *s = r->queries[NEXT_FRAME];
    sqlite3_bind_double(s, 1, time - 1e-9);
    int64_t frame = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : r->frame_count - 1;
    sqlite3_reset(s);
    if (r->live && frame > 0) return live_motion(r, body, frame, time, motion, error);
    return abut_recording_frame_motion(r, frame, body, motion, error);
}

abut_status abut_recording_motion(abut_recording *r, int body, double time, abut_motion *motion,
                                  abut_error *error) {
    if (!(time >= 0) || time > r->end + 1e-9)
        return fail_at(error, ABUT_INVALID, r->path, 0,
                       "t = %.9g is outside the recording, which goes from 0 to %.9g", time, r->end);
    sqlite3_stmt *s = r->queries[SEGMENTS_AT];
    /* at an impact the state just after it, also where its time was rounded down */
    sqlite3_bind_double(s, 1, fmin(time + 1e-12 * fmax(1, time), r->end));
    sqlite3_bind_double(s, 2, r->longest_segment * (1 + 1e-9) + 1e-12);
    bool found = false;
    while (!found && sqlite3_step(s) == SQLITE_ROW) {
        int entry = segment_entry(s, body);
        if (entry < 0) continue;
        const char *coefficients = sqlite3_column_blob(s, 4);
        abut_segment g = {.start = sqlite3_column_double(s, 0),
                          .end = sqlite3_column_double(s, 1),
                          .step = sqlite3_column_double(s, 2)};
        double *copy = mem_alloc(&r->context, ABUT_SEGMENT_NUMBERS * ABUT_SEGMENT_COEFFICIENTS, sizeof *copy);
        if (!copy) break;
        size_t size = ABUT_SEGMENT_NUMBERS * ABUT_SEGMENT_COEFFICIENTS;
        memcpy(copy, coefficients + (size_t)entry * size * sizeof *copy,
               size * sizeof *copy); /* blobs need not be aligned */
        g.coefficients = copy;
        *motion = abut_segment_motion(&g, 0, fmin(time, r->end));
        mem_free(&r->context, copy, size, sizeof *copy);
        found = true;
    }
    sqlite3_reset(s);
    return found ? ABUT_OK : resting_motion(r, body, time, motion, error);
}
