/* abut/export.h: recordings as files for other programs.
 *
 *     abut_recording *recording = NULL;
 *     abut_error error = {0};
 *     abut_export_options options = abut_default_export();
 *     options.format = ABUT_EXPORT_GLB;
 *     if (abut_recording_open(NULL, "stack.abut", &recording, &error) == ABUT_OK)
 *         abut_recording_export(NULL, recording, "stack.glb", &options, NULL, &error);
 *     abut_recording_close(recording);
 *
 * A file is written beside its place and takes its name when it is whole.  Memory does not grow with the
 * length of the recording, except 16 bytes a frame.  docs/export.md says what is in each format.
 */
#ifndef ABUT_EXPORT_H
#define ABUT_EXPORT_H

#include "abut/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(constant, word) */
#define ABUT_EXPORT_LIST(X) \
    X(GLB, "glb")           \
    X(RIB, "rib")           \
    X(USDA, "usda")         \
    X(CSV, "csv")
typedef enum abut_export_format {
#define ABUT_EXPORT_CONSTANT(name, word) ABUT_EXPORT_##name,
    ABUT_EXPORT_LIST(ABUT_EXPORT_CONSTANT)
#undef ABUT_EXPORT_CONSTANT
        ABUT_EXPORT_FORMATS
} abut_export_format;
ABUT_API const char *abut_export_name(abut_export_format format);

typedef struct abut_export_options {
    abut_export_format format;
    double begin, end;     /* of the recording's time, seconds; the whole by default */
    int64_t every;         /* takes each `every`-th frame; 1 */
    bool without_contacts; /* bodies only: long runs of many bodies have more contacts than motion */
    size_t memory;         /* bytes of motion held at a time; 0: 64 MiB */
} abut_export_options;
ABUT_API abut_export_options abut_default_export(void);

typedef struct abut_export_report {
    int bodies;
    int64_t frames, files, bytes;
    int64_t left_out; /* marks of contacts that did not fit: more than 16384 of one kind between two bodies */
} abut_export_report;

/* Writes `path`; for RIB one file a frame: a run of # in the name of the file, or %d or %04d, stands for the
 * frame's number, which otherwise goes before the ending (stack.rib: stack.0000.rib, ...).  ABUT_INVALID
 * where there is no frame in the range, ABUT_IO where a file cannot be written (none is left behind).
 * The page that holds a recording (`abut export --to html`) is the command's. */
ABUT_API abut_status abut_recording_export(const abut_context *context, abut_recording *recording,
                                           const char *path, const abut_export_options *options,
                                           abut_export_report *report, abut_error *error);

#ifdef __cplusplus
}
#endif
#endif
