/* base: reading text.  Numbers (exactly rounded, the same in every locale), and a cursor that knows its line.
 *
 *   bytes   v 1.5 -2 3e-1 # corner \n f 1 2 3
 *             ^ at                 ^ the line count goes up here
 *
 * The bytes need no 0 behind them; nothing is read at or beyond `end`. */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include "base/base.h"

typedef enum number_kind {
    NUMBER_FINE,
    NUMBER_NONE,     /* no number starts here */
    NUMBER_NAN,      /* the word nan */
    NUMBER_INFINITE, /* the word inf or infinity */
    NUMBER_TOO_LARGE /* rounds beyond the largest double */
} number_kind;

/* The decimal number at `at`: [+-] digits [. digits] [(e|E) [+-] digits], rounded to the nearest double, ties
 * to even; what is too small becomes 0.  *behind is where it ends (`at` for NUMBER_NONE). */
number_kind number_parse(const char *at, const char *end, const char **behind, double *value);

/* A whole number [+-] digits.  NUMBER_TOO_LARGE beyond +-(2^63 - 1). */
number_kind integer_parse(const char *at, const char *end, const char **behind, int64_t *value);

/* The shortest of 15, 16, 17 digits that reads back as the same double; returns the length. */
enum { NUMBER_TEXT = 32 };
int number_print(double value, char text[NUMBER_TEXT]);

typedef struct scan {
    const char *at, *end, *start;
    const char *file; /* for messages */
    int line;
    bool comments;     /* # hides the rest of a line */
    bool continuation; /* a backslash before the end of a line joins it with the next */
} scan;

/* A piece of the text. */
typedef struct scan_word {
    const char *at;
    int64_t length;
} scan_word;

scan scan_start(const void *bytes, size_t size, const char *file);
/* Skips blanks inside the line; true when the line (or the text) ends there. */
bool scan_line_ends(scan *s);
/* Skips blanks and line ends; true when the text ends there. */
bool scan_text_ends(scan *s);
/* Moves to the start of the next line. */
void scan_next_line(scan *s);
/* The word here, up to the next blank; length 0 at the end of the line. Skips blanks before it. */
scan_word scan_take(scan *s);
bool scan_is(scan_word w, const char *text);        /* the same letters */
bool scan_is_folded(scan_word w, const char *text); /* the same letters, upper or lower case; text is lower */
void scan_show(scan_word w, char *text, size_t size); /* for messages: printable, shortened */

/* One finite number of the line; `what` names it in the message ("x of vertex 7"). */
abut_status scan_number(scan *s, const char *what, int64_t index, double *value, abut_error *error);
abut_status scan_integer(scan *s, const char *what, int64_t index, int64_t *value, abut_error *error);

#endif
