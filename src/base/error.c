/* Status words, error messages and the log hook. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const status_names[] = {
#define NAME(name, word, sentence) word,
    ABUT_STATUS_LIST(NAME)
#undef NAME
};

static const char *const status_texts[] = {
#define TEXT(name, word, sentence) sentence,
    ABUT_STATUS_LIST(TEXT)
#undef TEXT
};

const char *abut_status_name(abut_status status) {
    return (unsigned)status < (unsigned)COUNT_OF(status_names) ? status_names[status] : "unknown";
}

const char *abut_status_text(abut_status status) {
    return (unsigned)status < (unsigned)COUNT_OF(status_texts) ? status_texts[status] : "unknown status";
}

static void fill(abut_error *error, abut_status status, const char *file, int line, const char *format,
                 va_list arguments) {
    if (!error) return;
    error->status = status;
    error->line = line;
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    vsnprintf(error->message, sizeof error->message, format, arguments);
}

abut_status fail(abut_error *error, abut_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, NULL, 0, format, arguments);
    va_end(arguments);
    return status;
}

abut_status fail_at(abut_error *error, abut_status status, const char *file, int line, const char *format,
                    ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, file, line, format, arguments);
    va_end(arguments);
    return status;
}

abut_status fail_memory(abut_error *error) {
    return fail(error, ABUT_NO_MEMORY, "out of memory; give the process more, or a smaller input");
}

void log_write(const abut_context *context, abut_log_level level, const char *format, ...) {
    if (!context || !context->log.write) return;
    char message[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    context->log.write(context->log.user, level, message);
}

const char *abut_version(void) { return ABUT_VERSION; }
