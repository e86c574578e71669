/* See page_writer.h. */
#include "page_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static abut_status fail_out(abut_error *error, abut_status status, const char *path, const char *message) {
    error->status = status, error->line = 0;
    snprintf(error->file, sizeof error->file, "%s", path);
    snprintf(error->message, sizeof error->message, "%s", message);
    return status;
}

abut_status page_no_memory(abut_error *error) { return fail_out(error, ABUT_NO_MEMORY, "", "memory is out"); }

static abut_status fail_write(const page_writer *w, abut_error *error) {
    char message[300];
    snprintf(message, sizeof message,
             "cannot be written: %s; check the folder, the permissions and the free space",
             w->reason ? strerror(w->reason) : "unknown reason");
    if (w->no_memory) return page_no_memory(error);
    return fail_out(error, ABUT_IO, w->path, message);
}

void page_put(page_writer *w, const char *text, size_t size) {
    if (!w->failed && fwrite(text, 1, size, w->stream) != size) w->failed = true, w->reason = errno;
    w->bytes += (int64_t)size;
}

/* ---- base64 (RFC 4648) */

static void put_group(page_writer *w, const unsigned char b[3], int count) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned word = (unsigned)b[0] << 16 | (count > 1 ? (unsigned)b[1] << 8 : 0u) | (count > 2 ? b[2] : 0u);
    char text[4] = {letters[word >> 18], letters[word >> 12 & 63], count > 1 ? letters[word >> 6 & 63] : '=',
                    count > 2 ? letters[word & 63] : '='};
    page_put(w, text, sizeof text);
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
void page_put_bytes(page_writer *w, const void *data, size_t size) {
    const char *bytes = data;
    char mixed[4096];
    if (w->no_memory) return;
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

void page_begin_block(page_writer *w, const char *name, size_t row) {
    char text[200];
    int length = snprintf(
        text, sizeof text,
        "<script type=\"application/x-abut\" data-name=\"%s\" data-encoding=\"gzip\" data-row=\"%zu\">", name,
        row);
    page_put(w, text, (size_t)length);
    w->row = row ? calloc(row, 1) : NULL, w->row_size = row, w->row_at = 0;
    w->pack = (z_stream){0};
    enum { GZIP = 15 + 16, MEMORY = 8 };
    if ((row && !w->row) || deflateInit2(&w->pack, 6, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        w->failed = w->no_memory = true;
}

void page_end_block(page_writer *w) {
    if (!w->no_memory) pack(w, NULL, 0, Z_FINISH);
    deflateEnd(&w->pack);
    free(w->row);
    w->row = NULL;
    if (w->left_count) put_group(w, w->left, w->left_count);
    w->left_count = 0;
    page_put(w, "</script>\n", strlen("</script>\n"));
}

/* ---- the file */

abut_status page_open(page_writer *w, const char *path, abut_error *error) {
    size_t size = strlen(path) + sizeof ".partial";
    w->path = malloc(size), w->beside = malloc(size);
    if (!w->path || !w->beside) return page_no_memory(error);
    snprintf(w->path, size, "%s", path);
    /* pipes and devices are written in place */
    FILE *device = strncmp(path, "/dev/", 5) == 0 ? fopen(path, "wb") : NULL;
    snprintf(w->beside, size, "%s%s", path, device ? "" : ".partial");
    w->stream = device ? device : fopen(w->beside, "wb");
    w->reason = w->stream ? 0 : errno;
    return w->stream ? ABUT_OK : fail_write(w, error);
}

abut_status page_close(page_writer *w, abut_status status, abut_error *error) {
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
