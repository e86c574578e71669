/* The page with its data: page.html up to its mark, the blocks (page_writer.h), and the rest of the page.
 * Frames, contacts and events are read and written a few at a time. */
#include "export_html.h"
#include "export_instants.h"
#include "view_page.h"

#include <stdlib.h>
#include <string.h>

static const char mark[] = "<!--abut-data-->";

enum { FRAMES_AT_ONCE = 64, SERIES_ROW = 12 * 8, EVENT_ROW = 20 * 8 };

static abut_status fail_out(abut_error *error, abut_status status, const char *path, const char *message) {
    error->status = status, error->line = 0;
    snprintf(error->file, sizeof error->file, "%s", path);
    snprintf(error->message, sizeof error->message, "%s", message);
    return status;
}

/* ---- blocks */

static abut_status put_head(page_writer *w, abut_recording *r, view_layout layout, abut_error *error) {
    json_t *head = view_head(r, layout, error);
    if (!head) return error->status;
    char *text = json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(head);
    if (!text) return page_no_memory(error);
    page_begin_block(w, "head.json", 0);
    page_put_bytes(w, text, strlen(text));
    page_end_block(w);
    free(text);
    return ABUT_OK;
}

typedef abut_status whole_block(abut_recording *recording, view_bytes *out, abut_error *error);

static abut_status put_whole(page_writer *w, abut_recording *r, const char *name, size_t row,
                             whole_block *make, abut_error *error) {
    view_bytes bytes = {0};
    abut_status status = make(r, &bytes, error);
    if (status == ABUT_OK) {
        page_begin_block(w, name, row);
        page_put_bytes(w, bytes.data, bytes.size);
        page_end_block(w);
    }
    view_bytes_free(&bytes);
    return status;
}

typedef abut_status part_of_block(abut_recording *recording, view_layout layout, int64_t from, int64_t count,
                                  view_bytes *out, abut_error *error);

static abut_status put_parts(page_writer *w, abut_recording *r, view_layout layout, const char *name,
                             size_t row, part_of_block *make, abut_error *error) {
    abut_status status = ABUT_OK;
    view_bytes bytes = {0};
    page_begin_block(w, name, row);
    for (int64_t k = 0; k < abut_recording_frames(r) && status == ABUT_OK && !w->failed;
         k += FRAMES_AT_ONCE) {
        bytes.size = 0;
        status = make(r, layout, k, FRAMES_AT_ONCE, &bytes, error);
        if (status == ABUT_OK) page_put_bytes(w, bytes.data, bytes.size);
    }
    page_end_block(w);
    view_bytes_free(&bytes);
    return status;
}

/* Events in order; a run of minutes has millions. */
static bool put_event(void *user, const abut_event *event) {
    page_writer *w = user;
    view_bytes row = {0};
    view_put_event(&row, event);
    w->failed |= row.failed, w->no_memory |= row.failed;
    page_put_bytes(w, row.data, row.size);
    view_bytes_free(&row);
    return !w->failed;
}

static abut_status put_events(page_writer *w, abut_recording *r, abut_error *error) {
    page_begin_block(w, "events.bin", EVENT_ROW);
    abut_status status = abut_recording_events(r, put_event, w, error);
    page_end_block(w);
    return status;
}

static abut_status put_blocks(page_writer *w, abut_recording *r, abut_error *error) {
    view_layout layout = view_layout_of(r);
    size_t frame = (size_t)abut_recording_bodies(r) * (size_t)(layout.scalar * layout.numbers);
    abut_status status = put_head(w, r, layout, error);
    if (status == ABUT_OK) status = put_whole(w, r, "geometry.bin", 0, view_geometry, error);
    if (status == ABUT_OK) status = put_whole(w, r, "series.bin", SERIES_ROW, view_series, error);
    if (status == ABUT_OK) status = put_events(w, r, error);
    if (status == ABUT_OK) status = put_parts(w, r, layout, "frames.bin", frame, view_frames, error);
    if (status == ABUT_OK) status = put_parts(w, r, layout, "contacts.bin", 0, view_contacts, error);
    return status == ABUT_OK ? export_instants(w, r, layout, error) : status;
}

abut_status export_html(abut_recording *r, const char *path, abut_export_report *report, abut_error *error) {
    size_t size;
    const char *page = view_page(&size), *at = page ? strstr(page, mark) : NULL;
    *report = (abut_export_report){
        .files = 1, .bodies = abut_recording_bodies(r), .frames = abut_recording_frames(r)};
    if (!at)
        return fail_out(error, ABUT_UNSUPPORTED, path,
                        "this build has no page; configure it with -DABUT_VIEWER=ON, or export to glb");
    if (report->frames == 0)
        return fail_out(error, ABUT_INVALID, "", "the recording has no frame yet; run the scene further");
    page_writer w = {0};
    abut_status status = page_open(&w, path, error);
    if (status == ABUT_OK) {
        page_put(&w, page, (size_t)(at - page));
        status = put_blocks(&w, r, error);
        page_put(&w, at + strlen(mark), size - (size_t)(at - page) - strlen(mark));
    }
    report->bytes = w.bytes;
    return page_close(&w, status, error);
}
