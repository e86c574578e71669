/* The text cursor. */
#include "base/scan.h"

#include <limits.h>
#include <stdio.h>

scan scan_start(const void *bytes, size_t size, const char *file) {
    const char *start = bytes;
    scan s = {.at = start, .end = start + size, .start = start, .file = file, .line = 1};
    /* the mark that some editors put before UTF-8 text */
    if (size >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0) s.at += 3;
    return s;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static void count_line(scan *s) {
    if (s->line < INT_MAX) s->line++;
}

/* \ followed by a line end, with or without carriage return */
static bool skip_continuation(scan *s) {
    const char *p = s->at + 1;
    while (p < s->end && *p == '\r') p++;
    if (p == s->end || *p != '\n') return false;
    s->at = p + 1;
    count_line(s);
    return true;
}

bool scan_line_ends(scan *s) {
    for (; s->at < s->end; s->at++) {
        while (s->continuation && *s->at == '\\' && skip_continuation(s))
            if (s->at == s->end) return true;
        if (*s->at == '\n' || (s->comments && *s->at == '#')) return true;
        if (!is_blank(*s->at)) return false;
    }
    return true;
}

/* memchr's speed matters here: most of a comment or of the columns behind the coordinates is skipped by it.
 */
void scan_next_line(scan *s) {
    while (s->at < s->end) {
        const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
        const char *last = newline ? newline : s->end;
        const char *before = last;
        while (before > s->at && before[-1] == '\r') before--;
        bool joined = s->continuation && newline && before > s->at && before[-1] == '\\';
        s->at = newline ? newline + 1 : s->end;
        if (newline) count_line(s);
        if (!joined) return;
    }
}

bool scan_text_ends(scan *s) {
    while (scan_line_ends(s)) {
        if (s->at == s->end) return true;
        scan_next_line(s);
    }
    return false;
}

scan_word scan_take(scan *s) {
    if (scan_line_ends(s)) return (scan_word){s->at, 0};
    const char *first = s->at;
    while (s->at < s->end && !is_blank(*s->at) && *s->at != '\n' && !(s->comments && *s->at == '#')) {
        if (s->continuation && *s->at == '\\') {
            scan ahead = *s;
            if (skip_continuation(&ahead)) break;
        }
        s->at++;
    }
    return (scan_word){first, s->at - first};
}

bool scan_is(scan_word w, const char *text) {
    return (size_t)w.length == strlen(text) && memcmp(w.at, text, (size_t)w.length) == 0;
}

bool scan_is_folded(scan_word w, const char *text) {
    if ((size_t)w.length != strlen(text)) return false;
    for (int64_t i = 0; i < w.length; i++) {
        char c = w.at[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c + ('a' - 'A'));
        if (c != text[i]) return false;
    }
    return true;
}

void scan_show(scan_word w, char *text, size_t size) {
    size_t n = 0;
    for (int64_t i = 0; i < w.length && n + 4 < size && n < 40; i++)
        text[n++] = w.at[i] >= ' ' && w.at[i] < 0x7f ? w.at[i] : '?';
    text[n] = 0;
    if ((int64_t)n < w.length && n + 4 <= size) memcpy(text + n, "...", 4);
}

/* Whether a number that was read up to `behind` ends there. */
static bool ends_word(const scan *s, const char *behind) {
    return behind == s->end || is_blank(*behind) || *behind == '\n' || (s->comments && *behind == '#') ||
           (s->continuation && *behind == '\\');
}

static abut_status refuse(scan *s, const char *what, int64_t index, number_kind kind, bool whole,
                          abut_error *error) {
    char name[80], shown[48];
    if (index >= 0)
        snprintf(name, sizeof name, "%s %lld", what, (long long)index);
    else
        snprintf(name, sizeof name, "%s", what);
    scan_word word = scan_take(s);
    scan_show(word, shown, sizeof shown);
    if (word.length == 0 && s->at == s->end)
        return fail_at(error, ABUT_INVALID, s->file, s->line,
                       "the file ends where %s should stand; it is cut off, export it again", name);
    if (word.length == 0)
        return fail_at(error, ABUT_INVALID, s->file, s->line,
                       "%s is missing at the end of the line; write the number", name);
    if (whole && kind == NUMBER_TOO_LARGE)
        return fail_at(error, ABUT_INVALID, s->file, s->line,
                       "%s is `%s`, beyond any possible value; correct the number", name, shown);
    if (kind == NUMBER_NAN)
        return fail_at(error, ABUT_INVALID, s->file, s->line,
                       "%s is not a number (`%s`); replace it by a coordinate", name, shown);
    if (kind == NUMBER_INFINITE)
        return fail_at(error, ABUT_INVALID, s->file, s->line,
                       "%s is infinite (`%s`); replace it by a finite coordinate", name, shown);
    if (kind == NUMBER_TOO_LARGE)
        return fail_at(error, ABUT_INVALID, s->file, s->line,
                       "%s overflows: `%s` is beyond the largest double, 1.8e308; correct the number", name,
                       shown);
    return fail_at(error, ABUT_INVALID, s->file, s->line, "%s is `%s`, which is not a %snumber; correct it",
                   name, shown, whole ? "whole " : "");
}

abut_status scan_number(scan *s, const char *what, int64_t index, double *value, abut_error *error) {
    number_kind kind = NUMBER_NONE;
    if (!scan_line_ends(s)) {
        const char *behind;
        kind = number_parse(s->at, s->end, &behind, value);
        if (kind == NUMBER_FINE && ends_word(s, behind)) {
            s->at = behind;
            return ABUT_OK;
        }
        if (!ends_word(s, behind)) kind = NUMBER_NONE;
    }
    return refuse(s, what, index, kind, false, error);
}

abut_status scan_integer(scan *s, const char *what, int64_t index, int64_t *value, abut_error *error) {
    number_kind kind = NUMBER_NONE;
    if (!scan_line_ends(s)) {
        const char *behind;
        kind = integer_parse(s->at, s->end, &behind, value);
        if (kind == NUMBER_FINE && ends_word(s, behind)) {
            s->at = behind;
            return ABUT_OK;
        }
        if (!ends_word(s, behind)) kind = NUMBER_NONE;
    }
    return refuse(s, what, index, kind, true, error);
}
