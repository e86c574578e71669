#define _POSIX_C_SOURCE 200809L
#include "record/export_out.h"
#include "base/scan.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

/* ---- opening and closing */

abut_status out_open(const abut_context *context, const char *path, export_out *out, abut_error *error) {
    *out = (export_out){.context = context, .path_size = strlen(path) + sizeof ".partial"};
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        return fail_at(error, ABUT_IO, path, 0, "is a folder; give the name of a file in it");
    out->path = mem_alloc(context, out->path_size, 1);
    if (!out->path) return fail_memory(error);
    snprintf(out->path, out->path_size, "%s", path);
    if (lstat(path, &facts) != 0 || S_ISREG(facts.st_mode)) { /* links are written through */
        out->beside = mem_alloc(context, out->path_size, 1);
        if (!out->beside) {
            out_discard(out);
            return fail_memory(error);
        }
        snprintf(out->beside, out->path_size, "%s.partial", path);
    }
    out->stream = fopen(out->beside ? out->beside : out->path, "wb");
    if (out->stream) return ABUT_OK;
    out->reason = errno;
    abut_status status = out_status(out, error);
    out_discard(out);
    return status;
}

void out_open_memory(const abut_context *context, export_out *out) {
    *out = (export_out){.context = context};
}

abut_status out_status(const export_out *out, abut_error *error) {
    if (out->reason == 0) return ABUT_OK;
    if (out->reason == ENOMEM) return fail_memory(error);
    return fail_at(error, ABUT_IO, out->path ? out->path : "", 0,
                   "cannot be written: %s; check the folder, the permissions and the free space",
                   strerror(out->reason));
}

abut_status out_close(export_out *out, abut_error *error) {
    if (out->stream && fclose(out->stream) != 0 && !out->reason) out->reason = errno;
    out->stream = NULL;
    if (!out->reason && out->beside && rename(out->beside, out->path) != 0) out->reason = errno;
    abut_status status = out_status(out, error);
    if (status == ABUT_OK) { /* it has its name: there is nothing left to remove */
        mem_free(out->context, out->beside, out->path_size, 1);
        out->beside = NULL;
    }
    out_discard(out);
    return status;
}

void out_discard(export_out *out) {
    if (out->stream) fclose(out->stream);
    if (out->beside) remove(out->beside);
    mem_free(out->context, out->beside, out->path_size, 1);
    mem_free(out->context, out->path, out->path_size, 1);
    array_free(out->context, &out->text);
    out->stream = NULL, out->beside = out->path = NULL;
}

/* ---- putting */

enum { TEXT_ROOM = 2048 }; /* behind what is put: most texts grow by a few bytes at a time */

void out_bytes(export_out *out, const void *bytes, size_t size) {
    if (out->reason || size == 0) return;
    if (out->stream) {
        if (fwrite(bytes, 1, size, out->stream) != size) out->reason = errno ? errno : EIO;
    } else if (array_reserve(out->context, &out->text, out->text.count + (int64_t)size + TEXT_ROOM)) {
        memcpy(out->text.data + out->text.count, bytes, size);
        out->text.count += (int64_t)size;
    } else {
        out->reason = ENOMEM;
    }
    out->bytes += (int64_t)size;
}

void out_text(export_out *out, const char *text) { out_bytes(out, text, strlen(text)); }

void out_format(export_out *out, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert(length >= 0 && length < (int)sizeof text); /* our own formats: names go through out_text */
    out_bytes(out, text, (size_t)length);
}

void out_number(export_out *out, double number) {
    char text[NUMBER_TEXT];
    number_print(number, text);
    out_text(out, text);
}

void out_numbers(export_out *out, const double *numbers, int count, const char *between) {
    for (int i = 0; i < count; i++) {
        if (i) out_text(out, between);
        out_number(out, numbers[i]);
    }
}

void out_vec3(export_out *out, vec3 v, const char *between) {
    out_numbers(out, (const double[]){v.x, v.y, v.z}, 3, between);
}

void out_word(export_out *out, uint32_t word) {
    unsigned char b[4];
    for (int i = 0; i < 4; i++) b[i] = (unsigned char)(word >> 8 * i);
    out_bytes(out, b, sizeof b);
}

void out_float(export_out *out, double number) {
    float f = (float)number;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    out_word(out, word);
}

/* How many bytes the UTF-8 character at s has; 0: it is none (overlong, a surrogate, cut off, too large). */
static int utf8_length(const unsigned char *s) {
    static const unsigned char least[] = {0, 0, 0xC2, 0xE0, 0xF0}, most[] = {0, 0x7F, 0xDF, 0xEF, 0xF4};
    if (s[0] <= 0x7F) return 1;
    for (int n = 2; n <= 4; n++) {
        if (s[0] < least[n] || s[0] > most[n]) continue;
        for (int i = 1; i < n; i++)
            if ((s[i] & 0xC0) != 0x80) return 0;
        bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
        bool beyond = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
        return overlong || beyond ? 0 : n;
    }
    return 0;
}

void out_json_text(export_out *out, const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length(s);
        if (length == 0)
            out_text(out, "\xEF\xBF\xBD");
        else if (*s == '"' || *s == '\\')
            out_format(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7F)
            out_format(out, "\\u%04x", *s);
        else
            out_bytes(out, s, (size_t)length);
        s += length ? length : 1;
    }
}

void out_json_string(export_out *out, const char *text) {
    out_text(out, "\"");
    out_json_text(out, text);
    out_text(out, "\"");
}
