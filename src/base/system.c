/* The clock, and whole files in memory. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reads an open regular file to its end; the size may lie (a file that grows or shrinks), so it is
 * re-counted. */
static abut_status read_stream(const abut_context *context, FILE *stream, size_t expected, const char *path,
                               char **bytes, size_t *size, abut_error *error) {
    char *buffer = mem_alloc(context, expected + 1, 1);
    if (!buffer) return fail_memory(error);
    mem_expect(context, buffer, expected);
    size_t got = fread(buffer, 1, expected, stream);
    if (got != expected) {
        mem_free(context, buffer, expected + 1, 1);
        return fail_at(error, ABUT_IO, path, 0, "only %zu of %zu bytes could be read; is the file changing?",
                       got, expected);
    }
    buffer[got] = 0;
    *bytes = buffer, *size = got;
    return ABUT_OK;
}

abut_status file_read(const abut_context *context, const char *path, char **bytes, size_t *size,
                      abut_error *error) {
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return fail_at(error, ABUT_IO, path, 0, "cannot be opened: %s; check the name and the permissions",
                       strerror(errno));
    struct stat facts;
    abut_status status;
    if (fstat(fileno(stream), &facts) != 0 || !S_ISREG(facts.st_mode))
        status = fail_at(error, ABUT_IO, path, 0, "is not a regular file; give a file");
    else
        status = read_stream(context, stream, (size_t)facts.st_size, path, bytes, size, error);
    fclose(stream);
    return status;
}

void file_free(const abut_context *context, char *bytes, size_t size) {
    mem_free(context, bytes, size + 1, 1);
}

static bool write_stream(const char *path, const void *bytes, size_t size) {
    FILE *stream = fopen(path, "wb");
    if (!stream) return false;
    bool fine = fwrite(bytes, 1, size, stream) == size;
    return fclose(stream) == 0 && fine;
}

/* Pipes and devices are written in place; for a file that exists or not yet, the new one takes its name only
 * when it is whole. */
abut_status file_write(const abut_context *context, const char *path, const void *bytes, size_t size,
                       abut_error *error) {
    struct stat facts;
    bool in_place = lstat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
    size_t length = strlen(path) + sizeof ".partial";
    char *beside = mem_alloc(context, length, 1);
    if (!beside) return fail_memory(error);
    snprintf(beside, length, "%s.partial", path);
    bool fine = write_stream(in_place ? path : beside, bytes, size);
    if (fine && !in_place) fine = rename(beside, path) == 0;
    int reason = errno;
    if (!fine && !in_place) remove(beside);
    mem_free(context, beside, length, 1);
    return fine ? ABUT_OK
                : fail_at(error, ABUT_IO, path, 0,
                          "cannot be written: %s; check the folder, the permissions and the free space",
                          strerror(reason));
}
