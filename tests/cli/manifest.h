/* The statistics tables of shared/meshes/MANIFEST.md:
 *
 *   | file | V | E | F | comps | genus | closed oriented manifold | convex | ...
 */
#ifndef TESTS_CLI_MANIFEST_H
#define TESTS_CLI_MANIFEST_H

#include "support.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct manifest_row {
    char file[128];                  /* folder/name */
    long vertices, edges, faces;     /* -1 where the table has none */
    long components, genus;          /* -1 where there is none */
    bool closed, has_convex, convex; /* has_convex: the column says yes or no */
    char text[1024];                 /* the whole line */
} manifest_row;

static inline long manifest_number(const char *cell) {
    char *end;
    long number = strtol(cell, &end, 10);
    return end == cell ? -1 : number;
}

/* The next row of a file, or false. */
static inline bool manifest_next(FILE *manifest, manifest_row *row) {
    char line[1024];
    while (fgets(line, sizeof line, manifest)) {
        char cells[8][128] = {{0}};
        int count =
            sscanf(line, "| %127[^| ] | %127[^|]| %127[^|]| %127[^|]| %127[^|]| %127[^|]| %127[^|]| %127[^|]",
                   cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7]);
        if (count < 2 || !strchr(cells[0], '/') || !strchr(cells[0], '.')) continue;
        *row = (manifest_row){0};
        snprintf(row->file, sizeof row->file, "%s", cells[0]);
        snprintf(row->text, sizeof row->text, "%s", line);
        row->vertices = manifest_number(cells[1]), row->edges = manifest_number(cells[2]);
        row->faces = manifest_number(cells[3]), row->components = manifest_number(cells[4]);
        row->genus = manifest_number(cells[5]);
        row->closed = strncmp(cells[6], "yes", 3) == 0;
        row->convex = strncmp(cells[7], "yes", 3) == 0;
        row->has_convex = row->convex || strncmp(cells[7], "no", 2) == 0;
        return true;
    }
    return false;
}

#endif
