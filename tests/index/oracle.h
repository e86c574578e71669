/* Independent answers for the tests of the index, from the polygons of the solid and exact predicates alone.
 */
#ifndef TESTS_INDEX_ORACLE_H
#define TESTS_INDEX_ORACLE_H

#include "index/index.h"
#include "support.h"

/* The triangles of fans over every loop: signed, so that concave faces and holes come out right in sums. */
typedef struct oracle_triangle {
    vec3 a, b, c;
    int32_t face;
} oracle_triangle;
typedef struct oracle {
    const abut_solid *solid;
    oracle_triangle *triangles;
    int64_t count;
    box bounds;
    int cells; /* of a grid over y and z, cells x cells */
    int64_t *start;
    int32_t *list;
} oracle;

oracle oracle_make(const abut_solid *solid);
void oracle_free(oracle *o);

/* Winding number of the boundary about x: the signed crossings of a ray along +x, by exact orientation tests.
 * False when the ray meets an edge exactly and decides nothing. */
bool oracle_winding(const oracle *o, vec3 x, int *winding);

/* The place of x by its distance to every vertex, edge and face.  *margin is how close the nearest decision
 * was: the least |distance - epsilon| of all. */
abut_place oracle_place(const abut_solid *solid, vec3 x, double epsilon, double *margin);
/* Distance of x from one entity. */
double oracle_distance(const abut_solid *solid, abut_place place, vec3 x);

/* How many triangles the open segment crosses (fans of convex faces only); false when one is met exactly. */
bool oracle_crossings(const oracle *o, vec3 from, vec3 to, int *count);

/* Checks that fail the test.  Every vertex, edge middle and a point of every face is found as itself. */
void oracle_check_entities(const abut_solid *s, const abut_index *index, const char *file);
/* Random points, one in four near the boundary, one by one and as a batch, against the winding number. */
void oracle_check_points(const abut_solid *s, const abut_index *index, int64_t count, const char *file);
/* A hundred random rigid motions: a point that is moved with the solid, and mapped back into its frame, keeps
 * its place. */
void oracle_check_motions(const abut_solid *s, const abut_index *index, const char *file);
/* Random segments: crossings lie on their entities, what is between against the winding number; of the first
 * `counted` the crossings are counted by exact predicates as well. */
void oracle_check_segments(const abut_solid *s, const abut_index *index, int count, int counted,
                           const char *file);

abut_solid *oracle_load(const char *path); /* NULL when it is not a solid */

abut_index *oracle_build(const abut_solid *solid, abut_index_method method); /* valid, or the test fails */

#endif
