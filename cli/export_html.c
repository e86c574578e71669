/* The page with its data: page.html up to its mark, the blocks as base64 of gzip in elements that no script
 * runs, and the rest of the page.  Frames and contacts are read and written a few at a time.
 *
 *     rows of equal length       each xor the one before it      gzip      base64
 *
 * What rests is then zeros, and of what moves the sign, the exponent and the first digits are. */
#include "export_html.h"
#include "view_blocks.h"
#include "view_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char mark[] = "<!--abut-data-->";

enum { FRAMES_AT_ONCE = 64, INSTANT_BYTES_MOST = 16 << 20, SERIES_ROW = 12 * 8, EVENT_ROW = 20 * 8 };

/* A file that takes its name when it is whole; groups of three bytes become four letters. */
typedef struct page_writer {
    FILE *stream;
    char *path, *beside;
    z_stream pack;
    unsigned char left[3];
    int left_count;
    unsigned char *row; /* the bytes of the row before; NULL: there are no rows */
    size_t row_size, row_at;
    int64_t bytes;
    bool failed, no_memory;
    int reason;
} page_writer;

static abut_status fail_out(abut_error *error, abut_status status, const char *path, const char *message) {
    error->status = status, error->line = 0;
    snprintf(error->file, sizeof error->file, "%s", path);
    snprintf(error->message, sizeof error->message, "%s", message);
    return status;
}

static abut_status fail_write(const page_writer *w, abut_error *error) {
    char message[300];
    snprintf(message, sizeof message,
             "cannot be written: %s; check the folder, the permissions and the free space",
             w->reason ? strerror(w->reason) : "unknown reason");
    if (w->no_memory) return fail_out(error, ABUT_NO_MEMORY, "", "memory is out");
    return fail_out(error, ABUT_IO, w->path, message);
}

static void put(page_writer *w, const char *bytes, size_t size) {
    if (!w->failed && fwrite(bytes, 1, size, w->stream) != size) w->failed = true, w->reason = errno;
    w->bytes += (int64_t)size;
}

/* ---- base64 (RFC 4648) */

static void put_group(page_writer *w, const unsigned char b[3], int count) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned word = (unsigned)b[0] << 16 | (count > 1 ? (unsigned)b[1] << 8 : 0u) | (count > 2 ? b[2] : 0u);
    char text[4] = {letters[word >> 18], letters[word >> 12 & 63], count > 1 ? letters[word >> 6 & 63] : '=',
                    count > 2 ? letters[word & 63] : '='};
    put(w, text, sizeof text);
}

static void put_base64(page_writer *w, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++) {
        w->left[w->left_count++] = p[i];
        if (w->left_count == 3) put_group(w, w->left, 3), w->left_count = 0;
    }
}

/* ---- gzip (RFC 1952) */

static void pack(page_writer *w, const void *bytes, size_t size, int flush) {
    unsigned char out[16384];
    w->pack.next_in = (z_const Bytef *)bytes, w->pack.avail_in = (uInt)size; /* blocks are far below 4 GiB */
    do {
        w->pack.next_out = out, w->pack.avail_out = sizeof out;
        deflate(&w->pack, flush);
        put_base64(w, out, sizeof out - w->pack.avail_out);
    } while (w->pack.avail_out == 0);
}

/* Blocks of rows: each byte xor the one a row before. */
static void put_bytes(page_writer *w, const char *bytes, size_t size) {
    char mixed[4096];
    for (size_t at = 0, count; w->row && at < size; at += count) {
        count = size - at < sizeof mixed ? size - at : sizeof mixed;
        for (size_t i = 0; i < count; i++) {
            mixed[i] = (char)(bytes[at + i] ^ w->row[w->row_at]);
            w->row[w->row_at] = (unsigned char)bytes[at + i];
            w->row_at = w->row_at + 1 == w->row_size ? 0 : w->row_at + 1;
        }
        pack(w, mixed, count, Z_NO_FLUSH);
    }
    if (!w->row) pack(w, bytes, size, Z_NO_FLUSH);
}

/* `row`: bytes of a row, 0: there are none. */
static void begin_block(page_writer *w, const char *name, size_t row) {
    char text[200];
    int length = snprintf(
        text, sizeof text,
        "<script type=\"application/x-abut\" data-name=\"%s\" data-encoding=\"gzip\" data-row=\"%zu\">", name,
        row);
    put(w, text, (size_t)length);
    w->row = row ? calloc(row, 1) : NULL, w->row_size = row, w->row_at = 0;
    w->pack = (z_stream){0};
    enum { GZIP = 15 + 16, MEMORY = 8 };
    if ((row && !w->row) || deflateInit2(&w->pack, 6, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        w->failed = w->no_memory = true;
}

static void end_block(page_writer *w) {
    if (!w->no_memory) pack(w, NULL, 0, Z_FINISH);
    deflateEnd(&w->pack);
    free(w->row);
    w->row = NULL;
    if (w->left_count) put_group(w, w->left, w->left_count);
    w->left_count = 0;
    put(w, "</script>\n", strlen("</script>\n"));
}

/* ---- blocks */

static abut_status put_head(page_writer *w, abut_recording *r, view_layout layout, abut_error *error) {
    json_t *head = view_head(r, layout, error);
    if (!head) return error->status;
    char *text = json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(head);
    if (!text) return fail_out(error, ABUT_NO_MEMORY, "", "memory is out");
    begin_block(w, "head.json", 0);
    put_bytes(w, text, strlen(text));
    end_block(w);
    free(text);
    return ABUT_OK;
}

typedef abut_status whole_block(abut_recording *recording, view_bytes *out, abut_error *error);

static abut_status put_whole(page_writer *w, abut_recording *r, const char *name, size_t row,
                             whole_block *make, abut_error *error) {
    view_bytes bytes = {0};
    abut_status status = make(r, &bytes, error);
    if (status == ABUT_OK) {
        begin_block(w, name, row);
        put_bytes(w, bytes.data, bytes.size);
        end_block(w);
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
    begin_block(w, name, row);
    for (int64_t k = 0; k < abut_recording_frames(r) && status == ABUT_OK && !w->failed;
         k += FRAMES_AT_ONCE) {
        bytes.size = 0;
        status = make(r, layout, k, FRAMES_AT_ONCE, &bytes, error);
        if (status == ABUT_OK) put_bytes(w, bytes.data, bytes.size);
    }
    end_block(w);
    view_bytes_free(&bytes);
    return status;
}

/* ---- the states at the instants of events: a click on one shows it, not the frame nearby */

typedef struct instants {
    double *times;
    int64_t count, capacity, most;
    bool failed;
} instants;

static bool add_instant(void *user, const abut_event *e) {
    instants *all = user;
    if (all->count && all->times[all->count - 1] == e->time) return true;
    if (all->count == all->most) return false;
    if (all->count == all->capacity) {
        int64_t capacity = all->capacity ? 2 * all->capacity : 256;
        double *times = realloc(all->times, (size_t)capacity * sizeof *times);
        if (!times) {
            all->failed = true;
            return false;
        }
        all->times = times, all->capacity = capacity;
    }
    all->times[all->count++] = e->time;
    return true;
}

static abut_status put_instants(page_writer *w, abut_recording *r, int numbers, abut_error *error) {
    view_layout layout = {.scalar = 8, .numbers = numbers};
    int64_t row = 8 * (1 + (int64_t)numbers * abut_recording_bodies(r));
    instants all = {.most = INSTANT_BYTES_MOST / row};
    view_bytes bytes = {0};
    abut_status status = abut_recording_events(r, add_instant, &all, error);
    if (all.failed) status = fail_out(error, ABUT_NO_MEMORY, "", "memory is out");
    begin_block(w, "instants.bin", (size_t)row);
    for (int64_t i = 0; i < all.count && status == ABUT_OK; i++) {
        bytes.size = 0;
        if (all.times[i] > abut_recording_end(r)) break; /* of a run that was killed */
        view_put_f64(&bytes, all.times[i]);
        status = view_state(r, layout, all.times[i], &bytes, error);
        if (status == ABUT_OK) put_bytes(w, bytes.data, bytes.size);
    }
    end_block(w);
    view_bytes_free(&bytes);
    free(all.times);
    return status;
}

static abut_status put_blocks(page_writer *w, abut_recording *r, abut_error *error) {
    view_layout layout = view_layout_of(r);
    size_t frame = (size_t)abut_recording_bodies(r) * (size_t)(layout.scalar * layout.numbers);
    abut_status status = put_head(w, r, layout, error);
    if (status == ABUT_OK) status = put_whole(w, r, "geometry.bin", 0, view_geometry, error);
    if (status == ABUT_OK) status = put_whole(w, r, "series.bin", SERIES_ROW, view_series, error);
    if (status == ABUT_OK) status = put_whole(w, r, "events.bin", EVENT_ROW, view_events, error);
    if (status == ABUT_OK) status = put_parts(w, r, layout, "frames.bin", frame, view_frames, error);
    if (status == ABUT_OK) status = put_parts(w, r, layout, "contacts.bin", 0, view_contacts, error);
    return status == ABUT_OK ? put_instants(w, r, layout.numbers, error) : status;
}

/* ---- the file */

static abut_status open_page(page_writer *w, const char *path, abut_error *error) {
    size_t size = strlen(path) + sizeof ".partial";
    w->path = malloc(size), w->beside = malloc(size);
    if (!w->path || !w->beside) return fail_out(error, ABUT_NO_MEMORY, "", "memory is out");
    snprintf(w->path, size, "%s", path);
    /* pipes and devices are written in place */
    FILE *device = strncmp(path, "/dev/", 5) == 0 ? fopen(path, "wb") : NULL;
    snprintf(w->beside, size, "%s%s", path, device ? "" : ".partial");
    w->stream = device ? device : fopen(w->beside, "wb");
    w->reason = w->stream ? 0 : errno;
    return w->stream ? ABUT_OK : fail_write(w, error);
}

static abut_status close_page(page_writer *w, abut_status status, abut_error *error) {
    bool in_place = !w->path || !w->beside || strcmp(w->path, w->beside) == 0;
    if (w->stream && fclose(w->stream) != 0 && !w->failed) w->failed = true, w->reason = errno;
    if (w->stream && status == ABUT_OK && !w->failed && !in_place && rename(w->beside, w->path) != 0)
        w->failed = true, w->reason = errno;
    if (w->stream && !in_place && (status != ABUT_OK || w->failed)) remove(w->beside);
    if (status == ABUT_OK && w->failed) status = fail_write(w, error);
    free(w->path);
    free(w->beside);
    return status;
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
    abut_status status = open_page(&w, path, error);
    if (status == ABUT_OK) {
        put(&w, page, (size_t)(at - page));
        status = put_blocks(&w, r, error);
        put(&w, at + strlen(mark), size - (size_t)(at - page) - strlen(mark));
    }
    report->bytes = w.bytes;
    return close_page(&w, status, error);
}
