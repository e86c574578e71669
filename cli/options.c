/* Options, messages and numbers, shared by the commands. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("abut: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return EXIT_WRONG;
}

int cli_error(const abut_error *error) {
    if (error->file[0] && error->line > 0)
        fprintf(stderr, "abut: %s:%d: %s\n", error->file, error->line, error->message);
    else if (error->file[0])
        fprintf(stderr, "abut: %s: %s\n", error->file, error->message);
    else
        fprintf(stderr, "abut: %s\n", error->message);
    return error->status == ABUT_INVALID || error->status == ABUT_IO || error->status == ABUT_UNSUPPORTED
               ? EXIT_WRONG
               : EXIT_NOT_MET;
}

int cli_word_distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    int row[LONGEST + 1], n = (int)strlen(b);
    if (n > LONGEST) return 99;
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = up, row[j] = best;
        }
    }
    return row[n];
}

static const cli_option *find_option(const cli_call *call, const char *word, size_t length) {
    for (int i = 0; i < call->option_count; i++)
        if (strlen(call->options[i].name) == length && strncmp(call->options[i].name, word, length) == 0)
            return &call->options[i];
    return NULL;
}

static int unknown_option(const cli_call *call, const char *word) {
    const char *nearest = NULL;
    int best = 4;
    for (int i = 0; i < call->option_count; i++) {
        int distance = cli_word_distance(word, call->options[i].name);
        if (distance < best) best = distance, nearest = call->options[i].name;
    }
    if (nearest)
        return cli_complain("%s: there is no option %s; did you mean %s?", call->command, word, nearest);
    return cli_complain("%s: there is no option %s; usage: abut %s %s", call->command, word, call->command,
                        call->arguments);
}

static bool append(const char ***list, const char *value) {
    size_t n = 0;
    while (*list && (*list)[n]) n++;
    const char **grown = realloc(*list, (n + 2) * sizeof *grown);
    if (!grown) return false;
    grown[n] = value, grown[n + 1] = NULL;
    *list = grown;
    return true;
}

/* One option at argv[*i]; takes the next word too where it needs a value. */
static int take_option(const cli_call *call, int argc, char **argv, int *i) {
    const char *word = argv[*i], *equals = strchr(word, '=');
    const cli_option *option = find_option(call, word, equals ? (size_t)(equals - word) : strlen(word));
    if (!option) return unknown_option(call, word);
    if (option->flag) {
        if (equals)
            return cli_complain("%s: %s takes no value; drop what follows `=`", call->command, option->name);
        *option->flag = true;
        return EXIT_DONE;
    }
    const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
    if (!value)
        return cli_complain("%s: %s needs a value; write %s VALUE", call->command, option->name,
                            option->name);
    if (option->value) *option->value = value;
    if (option->list && !append(option->list, value)) return cli_complain("out of memory");
    return EXIT_DONE;
}

int cli_parse(cli_call *call, int argc, char **argv, bool *stop) {
    bool only_positional = false;
    *stop = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        bool is_option = !only_positional && word[0] == '-' && word[1] && !isdigit((unsigned char)word[1]);
        if (is_option && strcmp(word, "--") == 0) {
            only_positional = true;
        } else if (is_option && (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)) {
            printf("usage: abut %s %s\n", call->command, call->arguments);
            *stop = true;
            return EXIT_DONE;
        } else if (is_option) {
            int status = take_option(call, argc, argv, &i);
            if (status != EXIT_DONE) return status;
        } else if (call->positional_count == call->most) {
            return cli_complain("%s: `%s` is one argument too many; usage: abut %s %s", call->command, word,
                                call->command, call->arguments);
        } else {
            call->positional[call->positional_count++] = word;
        }
    }
    if (call->positional_count < call->least)
        return cli_complain("%s: an argument is missing; usage: abut %s %s", call->command, call->command,
                            call->arguments);
    return EXIT_DONE;
}

bool cli_open_recording(cli_call *call, int argc, char **argv, abut_recording **recording, int *status) {
    bool stop;
    abut_error error = {0};
    *status = cli_parse(call, argc, argv, &stop);
    if (*status != EXIT_DONE || stop) return false;
    if (abut_recording_open(NULL, call->positional[0], recording, &error) == ABUT_OK) return true;
    *status = cli_error(&error);
    return false;
}

/* Reads one number at *text and moves behind it. */
static bool read_number(const char **text, double *number) {
    char *end;
    errno = 0;
    *number = strtod(*text, &end);
    bool fine = end != *text && isfinite(*number);
    *text = end;
    return fine;
}

int cli_numbers(const char *option, const char *text, int least, int most, double *numbers) {
    int count = 0;
    for (const char *p = text; count < most; p++) {
        if (!read_number(&p, &numbers[count])) break;
        count++;
        if (*p == 0 && count >= least) return count;
        if (*p != ',') break;
    }
    if (least == most)
        cli_complain("%s: `%s` is not a list of %d finite numbers with commas between", option, text, least);
    else
        cli_complain("%s: `%s` is not a list of %d to %d finite numbers with commas between", option, text,
                     least, most);
    return 0;
}

bool cli_number(const char *option, const char *text, double *number) {
    const char *p = text;
    if (read_number(&p, number) && *p == 0) return true;
    cli_complain("%s: `%s` is not a finite number", option, text);
    return false;
}

bool cli_integer(const char *option, const char *text, long low, long high, long *number) {
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    if (end != text && *end == 0 && errno == 0 && *number >= low && *number <= high) return true;
    cli_complain("%s: `%s` is not a whole number from %ld to %ld", option, text, low, high);
    return false;
}

bool cli_pose(const char *option, const char *text, abut_pose *pose) {
    double p[7];
    *pose = abut_pose_identity();
    if (!text) return true;
    int count = cli_numbers(option, text, 3, 7, p);
    if (count == 0) return false;
    pose->position = (abut_vec3){p[0], p[1], p[2]};
    if (count == 3) return true;
    double length = count == 7 ? sqrt(p[3] * p[3] + p[4] * p[4] + p[5] * p[5] + p[6] * p[6]) : 1;
    if (count != 7)
        cli_complain("%s: `%s` has %d numbers; write x,y,z or x,y,z,qw,qx,qy,qz", option, text, count);
    else if (fabs(length - 1) > 1e-2)
        cli_complain("%s: the quaternion of `%s` has length %g; give one of length 1", option, text, length);
    else
        pose->rotation = (abut_quat){p[3] / length, p[4] / length, p[5] / length, p[6] / length};
    return count == 7 && fabs(length - 1) <= 1e-2;
}

int cli_print_json(json_t *document) {
    int failed = !document || json_dumpf(document, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) != 0;
    json_decref(document);
    failed |= fputc('\n', stdout) == EOF || fflush(stdout) != 0;
    return failed ? cli_complain("the answer could not be written; is the output full or closed?")
                  : EXIT_DONE;
}

json_t *cli_json_vec3(abut_vec3 v) { return json_pack("[f,f,f]", v.x, v.y, v.z); }

bool cli_is_terminal(FILE *stream) { return isatty(fileno(stream)); }

bool cli_use_colors(FILE *stream) {
    const char *term = getenv("TERM");
    return cli_is_terminal(stream) && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0;
}
