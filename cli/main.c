/* `abut COMMAND ...`: finds the command in the list and calls it. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

typedef struct command {
    const char *name, *arguments, *sentence;
    int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
#define ROW(name, arguments, sentence) {#name, arguments, sentence, command_##name},
    COMMAND_LIST(ROW)
#undef ROW
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out) {
    fprintf(out, "abut %s: rigid bodies in contact, with exact areas, normals, forces and instants\n\n",
            abut_version());
    fprintf(out, "usage: abut COMMAND ...     abut help COMMAND     abut --version\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  abut %s %s\n        %s\n", commands[i].name, commands[i].arguments,
                commands[i].sentence);
    fprintf(
        out,
        "\nExit status: 0 done; 1 the simulation or the check failed; 2 the input or the call is wrong.\n");
}

static const command *find(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

/* Words that differ by few letters are what the user probably meant. */
static int unknown(const char *name) {
    const char *nearest = NULL;
    int best = 3;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        int distance = cli_word_distance(name, commands[i].name);
        if (distance < best) best = distance, nearest = commands[i].name;
    }
    if (nearest) return cli_complain("there is no command `%s`; did you mean `abut %s`?", name, nearest);
    return cli_complain("there is no command `%s`; `abut help` lists them", name);
}

static int help(const char *name) {
    if (!name) {
        print_help(stdout);
        return EXIT_DONE;
    }
    const command *c = find(name);
    if (!c) return unknown(name);
    printf("usage: abut %s %s\n\n%s\n", c->name, c->arguments, c->sentence);
    return EXIT_DONE;
}

static int version(void) {
    printf("abut %s\n", abut_version());
    return EXIT_DONE;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return EXIT_WRONG;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) return version();
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    const command *c = find(name);
    return c ? c->run(argc - 2, argv + 2) : unknown(name);
}

/* What could not be written is no success; but a reader that has seen enough, as `head`, needs no words. */
int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN); /* `abut ... | head` ends with a failed write, not with a signal */
    int status = run(argc, argv);
    errno = 0;
    if (status != EXIT_DONE || (fflush(stdout) == 0 && !ferror(stdout))) return status;
    if (errno == EPIPE || errno == 0) return EXIT_WRONG;
    return cli_complain("the output could not be written: %s", strerror(errno));
}
