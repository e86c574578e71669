/* The command `abut`: one file a subcommand (command_NAME.c), this header for what they share.
 *
 * Exit status: 0 done, 1 the simulation or the check failed, 2 the input or the call is wrong.  Errors go to
 * standard error as `abut: FILE:LINE: what is wrong; what to do`; with --json standard output carries one
 * document and nothing else. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "abut/abut.h"

#include <jansson.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_NOT_MET = 1, EXIT_WRONG = 2 };

/* The one list of commands.  X(name, arguments, sentence); command_NAME(int argc, char **argv) gets what
 * follows it. */
#define COMMAND_LIST(X)                                                                                      \
    X(bench, "[NAME] [--strict]", "the built-in benchmarks")                                                 \
    X(certify, "REC [--json]", "looks at the recorded states again by other means: were the promises kept?") \
    X(check, "FILE [--fix OUT] [--json]",                                                                    \
      "says what is wrong with a mesh or a scene, where, and how to fix it")                                 \
    X(classify, "MESH [--tolerance E] [--json]",                                                             \
      "where points and segments from standard input lie: inside, outside, or on which entity")              \
    X(contacts, "REC --at T [--json]", "contact regions at a time, with normals, forces and friction state") \
    X(distance, "MESH_A MESH_B [--pose-a POSE] [--pose-b POSE] [--angle RADIANS] [--json]",                  \
      "convex hulls of two meshes: growth distance, normal, features, contact points")                       \
    X(energy, "REC", "energies and momenta of every frame, as CSV")                                          \
    X(evaluate, "SURFACE [--patch N] [--at U,V] [--derivatives 0..3] [--smooth] [--refine N] [--json]",      \
      "a point of a smooth surface and its partial derivatives; without --at what the surface is")           \
    X(events, "REC [--json]", "every event: time, kind, bodies, entities, impulse")                          \
    X(export,                                                                                                \
      "REC --to glb|rib|usda|html|csv -o OUT [--begin T] [--end T] [--every N] [--without-contacts] "        \
      "[--json]",                                                                                            \
      "animation for other programs")                                                                        \
    X(index,                                                                                                 \
      "MESH [--method hybrid|autopartition|first] [--threads N] [-o INDEX] [--picture OUT.svg] [--json]",    \
      "builds the B-rep index: nodes, height, average height, cells, build time")                            \
    X(inspect, "MESH [--density D] [--json]", "counts, genus, volume, area, centre of mass and inertia")     \
    X(resume, "REC [--duration S] [--strict] [-q] [--json]",                                                 \
      "goes on from the last snapshot of a recording")                                                       \
    X(run,                                                                                                   \
      "SCENE [-o REC] [--set NAME=VALUE]... [--mode exact|live] [--duration S] [--threads N] [--seed N] "    \
      "[--root FOLDER] [--allow-overlap] [--strict] [--dump-json] [-q] [--json]",                            \
      "simulates a scene; writes a recording with -o; prints a summary with the audit")                      \
    X(solve, "PROBLEM.json [--solver exact|lemke|lp|pgs|nncg] [--json]",                                     \
      "solves a complementarity problem given as a file")                                                    \
    X(touch,                                                                                                 \
      "MESH_A MESH_B [--pose-a POSE] [--pose-b POSE] [--velocity-a V] [--velocity-b V] [--tolerance E] "     \
      "[--all] [--picture OUT.svg] [--json]",                                                                \
      "whether two solids touch, on which regions, along which normals")                                     \
    X(track, "REC --body NAME [--at T]", "the motion of a body as CSV: every frame, or the state at a time") \
    X(view, "[SCENE|REC] [--port N] [--root FOLDER] [--no-browser]",                                         \
      "shows a recording in the browser, or runs a scene there; without a file, the gallery")

#define COMMAND_PROTOTYPE(name, arguments, sentence) int command_##name(int argc, char **argv);
COMMAND_LIST(COMMAND_PROTOTYPE)
#undef COMMAND_PROTOTYPE

/* Options.  A command lists what it takes; `value` points to where the text goes, `flag` to a bool.
 * Positional arguments are collected in order.  Unknown options get the nearest known one as a suggestion. */
typedef struct cli_option {
    const char *name;   /* "--density", or "-o" */
    const char **value; /* --name VALUE or --name=VALUE */
    bool *flag;
    const char ***
        list; /* a NULL-terminated list, for options that may be repeated; freed by the exit of the process */
} cli_option;
typedef struct cli_call {
    const char *command, *arguments; /* for the usage line */
    const cli_option *options;
    int option_count;
    int least, most; /* positional arguments */
    const char *positional[4];
    int positional_count;
} cli_call;
/* EXIT_DONE when the call is right; otherwise the message has been printed.  `-h` and `--help` print the
 * usage, and *stop is set. */
int cli_parse(cli_call *call, int argc, char **argv, bool *stop);
/* The same for a command whose first argument is a recording, which is opened.  False: the command ends with
 * *status. */
bool cli_open_recording(cli_call *call, int argc, char **argv, abut_recording **recording, int *status);

/* Numbers from options: false (and a message) when the text is not one finite number, or not `count` of them,
 * comma separated. */
bool cli_number(const char *option, const char *text, double *number);
bool cli_integer(const char *option, const char *text, long low, long high, long *number);
/* Reads between `least` and `most` comma-separated numbers; returns how many, 0 after a message. */
int cli_numbers(const char *option, const char *text, int least, int most, double *numbers);
/* POSE: x,y,z[,qw,qx,qy,qz]; NULL is the identity.  A quaternion given with few digits is made unit. */
bool cli_pose(const char *option, const char *text, abut_pose *pose);

/* `abut: FILE:LINE: message` on standard error; returns the exit status that belongs to the status of the
 * error. */
int cli_error(const abut_error *error);
int cli_complain(const char *format, ...) ABUT_PRINTF(1, 2); /* returns EXIT_WRONG */

/* Prints the document with 17 significant digits and frees it. */
int cli_print_json(json_t *document);
json_t *cli_json_vec3(abut_vec3 v);

/* Letters to change, add or drop to get from one word to the other (Levenshtein). */
int cli_word_distance(const char *a, const char *b);

/* A slice through the partition of space as SVG. */
int cli_index_picture(const abut_solid *solid, const abut_index *index, const char *path);

/* Two solids with their contact regions and normals as SVG. */
int cli_touch_picture(const abut_solid *const solid[2], const abut_touch *touch, const char *path);

bool cli_is_terminal(FILE *stream); /* and NO_COLOR and TERM=dumb count as not for colours */
bool cli_use_colors(FILE *stream);

#endif
