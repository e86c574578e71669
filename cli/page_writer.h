/* A page that is written with blocks of data in it: elements that no script runs, with base64 of gzip inside.
 *
 *     rows of equal length       each xor the one before it      gzip      base64
 *
 * What rests is then zeros, and of what moves the sign, the exponent and the first digits are.  Bytes go
 * through as they come: the memory does not grow with the block.  After a failure nothing more is written,
 * and page_close says what it was. */
#ifndef CLI_PAGE_WRITER_H
#define CLI_PAGE_WRITER_H

#include "cli.h"

#include <zlib.h>

typedef struct page_writer {
    FILE *stream;
    char *path, *beside;
    z_stream pack;
    unsigned char left[3]; /* groups of three bytes become four letters */
    int left_count;
    unsigned char *row; /* the bytes of the row before; NULL: there are no rows */
    size_t row_size, row_at;
    int64_t bytes;
    bool failed, no_memory;
    int reason;
} page_writer;

/* The file takes its name when it is whole: until then it stands beside it. */
abut_status page_open(page_writer *w, const char *path, abut_error *error);
abut_status page_close(page_writer *w, abut_status status, abut_error *error);
void page_put(page_writer *w, const char *text, size_t size); /* as it is */

/* `row`: bytes of a row, 0: there are none. */
void page_begin_block(page_writer *w, const char *name, size_t row);
void page_put_bytes(page_writer *w, const void *bytes, size_t size);
void page_end_block(page_writer *w);

abut_status page_no_memory(abut_error *error);

#endif
