/* See export_instants.h.  Events are visited one after the other, and what is written is forgotten. */
#include "export_instants.h"

#include <math.h>
#include <string.h>

enum { BLOCK_BYTES_MOST = 16 << 20 };
/* Steps of bodies that moments may take: as many as two minutes of a hundred bodies that are stepped 400
 * times a second, some ten seconds of work.  A run whose events come thicker keeps the first of its moments.
 */
static const int64_t work_most = 5000000;

typedef struct visitor {
    page_writer *writer;
    abut_recording *recording;
    view_layout layout;
    view_solids solids;
    replay again;
    view_bytes bytes;
    int64_t event, written; /* the number of the event; bytes so far */
    double last;            /* time of the event before */
    abut_status status;
    abut_error *error;
} visitor;

/* False: the block is full, or it has failed. */
static bool put_out(visitor *v) {
    if (v->bytes.failed) v->status = page_no_memory(v->error);
    v->written += (int64_t)v->bytes.size;
    if (v->status != ABUT_OK || v->written > BLOCK_BYTES_MOST) return false;
    page_put_bytes(v->writer, v->bytes.data, v->bytes.size);
    return !v->writer->failed;
}

/* `event count numbers...`: the numbers are the contacts of one event. */
static void begin_section(visitor *v) {
    v->bytes.size = 0;
    view_put_scalar(&v->bytes, v->layout, (double)v->event);
    view_put_scalar(&v->bytes, v->layout, 0);
}

static bool end_section(visitor *v) {
    size_t scalar = (size_t)v->layout.scalar;
    if (v->bytes.size >= 2 * scalar) {
        double wide = (double)(v->bytes.size / scalar - 2);
        float narrow = (float)wide;
        memcpy(v->bytes.data + scalar, scalar == 8 ? (const void *)&wide : (const void *)&narrow, scalar);
    }
    return put_out(v);
}

/* ---- what is written of an event */

/* The states: one a time, since events of one instant share it. */
static bool put_state(void *user, const abut_event *e) {
    visitor *v = user;
    bool again = e->time == v->last;
    v->last = e->time;
    if (again) return true;
    if (e->time > abut_recording_end(v->recording)) return false; /* of a run that was killed */
    v->bytes.size = 0;
    view_put_f64(&v->bytes, e->time);
    v->status = view_state(v->recording, v->layout, e->time, &v->bytes, v->error);
    return put_out(v);
}

/* The region of the event's pair.  What cannot be found, as between smooth shapes, is no region. */
static bool put_touch(void *user, const abut_event *e) {
    visitor *v = user;
    begin_section(v);
    size_t head = v->bytes.size;
    abut_error unsaid = {0};
    if (e->body[0] >= 0 && e->body[1] >= 0 &&
        view_touch(v->recording, &v->solids, v->layout, e->time, e->body[0], e->body[1], &v->bytes,
                   &unsaid) != ABUT_OK)
        v->bytes.size = head;
    v->event++;
    return v->bytes.size == head || end_section(v);
}

/* All contacts, once a time.  Without the files of the scene there are none, and the run may take too long.
 */
static bool put_moment(void *user, const abut_event *e) {
    visitor *v = user;
    bool again = e->time == v->last;
    abut_error unsaid = {0};
    v->last = e->time;
    if (!again) {
        begin_section(v);
        if (view_moment(v->recording, &v->again, v->layout, e->time, &v->bytes, &unsaid) != ABUT_OK)
            return false;
    }
    v->event++;
    return again || end_section(v);
}

static abut_status put_block(visitor *v, const char *name, size_t row,
                             bool (*visit)(void *user, const abut_event *event)) {
    v->event = v->written = 0, v->last = NAN;
    page_begin_block(v->writer, name, row);
    abut_status status = abut_recording_events(v->recording, visit, v, v->error);
    page_end_block(v->writer);
    return status == ABUT_OK ? v->status : status;
}

abut_status export_instants(page_writer *w, abut_recording *r, view_layout layout, abut_error *error) {
    visitor v = {.writer = w, .recording = r, .layout = layout, .error = error};
    v.again.work_most = work_most;
    view_layout wide = {.scalar = 8, .numbers = layout.numbers};
    size_t row = 8 * (1 + (size_t)layout.numbers * (size_t)abut_recording_bodies(r));
    abut_status status = put_block(&v, "touches.bin", 0, put_touch);
    if (status == ABUT_OK) status = put_block(&v, "moments.bin", 0, put_moment);
    v.layout = wide; /* a state stands for its instant: it is what the recording has, to the bit */
    if (status == ABUT_OK) status = put_block(&v, "instants.bin", row, put_state);
    view_bytes_free(&v.bytes);
    view_solids_free(&v.solids);
    replay_free(&v.again);
    return status;
}
