/* Answers by brute force, for the tests of convex: every face normal, every pair of edges, every vertex. */
#ifndef TESTS_CONVEX_BRUTE_H
#define TESTS_CONVEX_BRUTE_H

#include "convex/hull.h"
#include "convex/pair.h"
#include "support.h"

/* A hull in world axes. */
typedef struct brute_hull {
    const abut_hull *hull;
    vec3 *vertex, *normal; /* vertices relative to the centre; face normals */
    vec3 center;
} brute_hull;
void brute_place(brute_hull *b, const abut_hull *hull, pose at); /* allocates, or reuses what is there */
void brute_free(brute_hull *b);

/* How far the vertices of b reach along n, from its centre: the largest of all. */
double brute_reach(const brute_hull *b, vec3 n);
/* h(n) of A - B about the centres. */
double brute_extent(const brute_hull *a, const brute_hull *b, vec3 n);

/* Calls visit for every direction that can be the normal of a facet of A - B: the face normals of A, those of
 * B turned round, and the cross products of all edges of A with all edges of B, both ways.  With `crossing`
 * only pairs of edges whose arcs on the sphere cross (within a generous margin) are visited. */
typedef void brute_visit(void *user, vec3 n);
void brute_directions(const brute_hull *a, const brute_hull *b, bool crossing, brute_visit *visit,
                      void *user);

typedef struct brute_answer {
    double growth;       /* largest n.c / h(n) */
    vec3 n;              /* that direction, from A to B */
    double depth;        /* least h(n) - n.c: how far B must move along n to be free; negative when apart */
    double least_extent; /* least h(n) */
} brute_answer;
brute_answer brute_growth(const brute_hull *a, const brute_hull *b, bool crossing);

/* The intersection, seen along n, of what A shows along n with what B shows against n: all vertices within
 * `slack` of the farthest.  Fills plane points (world axes, from A's centre, in the plane through it) and
 * returns their number, 0 when they do not meet. */
int brute_polygon(const brute_hull *a, const brute_hull *b, vec3 n, double slack, vec3 *out, int capacity);

/* The largest distance between the corners of the contact points of r and those of the exact intersection,
 * both ways; infinity when only one of them is there. */
double brute_misfit(const brute_hull *a, const brute_hull *b, const abut_convex_result *r);

/* Points of a hull on a noisy sphere, as NUMBERS.md: radius times 0.9 to 1.1. */
abut_hull *brute_random_hull(uint64_t *seed, int count, double radius);
vec3 brute_random_direction(uint64_t *seed);
quat brute_random_rotation(uint64_t *seed);

#endif
