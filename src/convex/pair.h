/* A pair of convex shapes in world axes, and the stages of a query:
 *
 *   growth.c       the ray cast on the Minkowski difference: growth, normal          (Silcowitz, section 1.1)
 *   gjk.c          closest points, for the Euclidean distance
 *   overlap.c      the shortest way apart, where the centres coincide and there is no ray
 *   features.c     intersection of the two features in the contact plane: points     (Silcowitz, section 3)
 *
 * Positions are taken from A's centre of mass: a point x of A's axes lies at ra x, one of B's at c + rb x. */
#ifndef CONVEX_PAIR_H
#define CONVEX_PAIR_H

#include "convex/shape.h"

typedef struct convex_pair {
    const abut_convex *a, *b;
    mat3 ra, rb; /* shape axes to world axes */
    vec3 c;      /* from A's centre to B's */
    double size; /* radius of A plus radius of B */
} convex_pair;

/* The contact direction: n is unit, outward from A (the contact normal is -n). */
typedef struct convex_touch {
    vec3 n;
    double extent;      /* h(n): how far A - B (about its centres) reaches along n */
    double growth;      /* n.c / h(n) */
    int32_t support[2]; /* a vertex of each that reaches that far (hulls) */
    int32_t face[2];    /* the face whose normal n is, or -1 */
    vec3 witness[2];    /* a point on each, from its own centre: witness[0] - witness[1] = c / growth */
    int iterations;
    bool is_far, is_coincident;
} convex_touch;

/* abut_convex_distance without its checks, for callers who made the shapes and poses themselves: shapes
 * checked once, finite poses, capacity enough.  ABUT_BUDGET: growth, normal and distance are the best bounds
 * found, there are no points. */
abut_status convex_query(const abut_convex *a, pose pose_a, const abut_convex *b, pose pose_b,
                         const abut_convex_options *options, abut_convex_cache *cache,
                         abut_convex_result *result);

/* ABUT_BUDGET when the gap between the bounds did not close (curved shapes only). */
abut_status convex_grow(const convex_pair *p, double far_distance, abut_convex_cache *cache,
                        convex_touch *out);

/* The direction n of least h(n) - n.c: the way along which B must move least to be free of A.  Exact for two
 * hulls, and for hulls with spheres and capsules; otherwise the best of axes, face normals and c. */
void convex_shortest_way(const convex_pair *p, convex_touch *out);

/* Fills result->points, point_count, is_aligned and the positions relative to A's centre. */
void convex_intersect_features(const convex_pair *p, const convex_touch *touch, abut_convex_result *result);

/* Closest points of the cores (a sphere's centre, a capsule's axis, otherwise the shape): `on_a` from A's
 * centre, v from B's point to A's.  False when the cores touch or overlap. */
bool convex_closest_cores(const convex_pair *p, vec3 *on_a, vec3 *v, int *steps);
/* The sum of the radii about the cores; *a is A's. */
double convex_core_radii(const convex_pair *p, double *a);

/* h(n) with the supporting vertices, for n in world axes. */
double convex_extent(const convex_pair *p, vec3 n, int32_t support[2], vec3 witness[2]);

#endif
