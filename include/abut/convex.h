/* abut/convex.h: convex shapes, and how far two of them are from touching.
 *
 *     abut_hull *a = NULL, *b = NULL;
 *     abut_hull_create(NULL, points_a, count_a, &a, &error);
 *     abut_hull_create(NULL, points_b, count_b, &b, &error);
 *     abut_convex shape_a = abut_convex_hull(a), shape_b = abut_convex_hull(b);
 *     abut_convex_point points[64];
 *     abut_convex_result r = {.points = points, .capacity = 64};
 *     if (abut_convex_distance(&shape_a, pose_a, &shape_b, pose_b, NULL, NULL, &r, &error) == ABUT_OK)
 *         printf("growth %g, gap %g, %d contact points\n", r.growth, r.distance, r.point_count);
 *
 * The growth distance (Ong and Gilbert; Silcowitz, Niebe and Erleben, equation 2) is the factor by which both
 * shapes, scaled about their centres of mass, just touch: above 1 they are apart, below 1 they overlap.
 */
#ifndef ABUT_CONVEX_H
#define ABUT_CONVEX_H

#include "abut/solid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hulls: convex polyhedra with their Gauss map; one immutable, relocatable block without pointers */

typedef struct abut_hull abut_hull;

/* The convex hull of points: coplanar facets are one face, points inside are dropped.  ABUT_INVALID when
 * there are fewer than four points, a coordinate that is not finite, or no volume. */
ABUT_API abut_status abut_hull_create(const abut_context *context, const abut_vec3 *points, int64_t count,
                                      abut_hull **hull, abut_error *error);
/* The hull of a solid's vertices: the solid itself, when it is convex. */
ABUT_API abut_status abut_hull_of_solid(const abut_context *context, const abut_solid *solid,
                                        abut_hull **hull, abut_error *error);
ABUT_API abut_status abut_hull_box(const abut_context *context, double lx, double ly, double lz,
                                   abut_hull **hull, abut_error *error);
ABUT_API void abut_hull_free(const abut_context *context, abut_hull *hull);

typedef struct abut_hull_facts {
    int64_t vertices, edges, faces;
    int64_t most_corners; /* of any face */
    double volume, area;
    double radius; /* of the ball about the centre that holds the hull */
    abut_vec3 center;
    abut_box bounds;
    uint64_t hash; /* of the block's content */
    size_t bytes;
} abut_hull_facts;
ABUT_API abut_hull_facts abut_hull_facts_of(const abut_hull *hull);
ABUT_API abut_mass abut_hull_mass(const abut_hull *hull, double density);

/* Reading a hull, in shape coordinates.  Corners run counter-clockwise seen from outside. */
ABUT_API abut_vec3 abut_hull_vertex(const abut_hull *hull, int64_t vertex);
ABUT_API int64_t abut_hull_vertex_source(const abut_hull *hull,
                                         int64_t vertex); /* which of the points given */
ABUT_API void abut_hull_edge(const abut_hull *hull, int64_t edge, int64_t vertices[2], int64_t faces[2]);
ABUT_API int64_t abut_hull_face(const abut_hull *hull, int64_t face, abut_vec3 *normal, int64_t *vertices,
                                int64_t capacity); /* returns the number of corners */

/* ---- convex shapes: a hull, or one of the analytic shapes, centred, axis z */

typedef enum abut_convex_kind {
    ABUT_CONVEX_NONE,
    ABUT_CONVEX_HULL,
    ABUT_CONVEX_SPHERE,
    ABUT_CONVEX_CAPSULE,
    ABUT_CONVEX_CYLINDER,
    ABUT_CONVEX_ELLIPSOID
} abut_convex_kind;

typedef struct abut_convex {
    abut_convex_kind kind;
    const abut_hull *hull;
    double radius;  /* SPHERE, CAPSULE, CYLINDER */
    double length;  /* CAPSULE: between the centres of its ends; CYLINDER: height */
    abut_vec3 axes; /* ELLIPSOID: half axes */
} abut_convex;
ABUT_API abut_convex abut_convex_hull(const abut_hull *hull);
ABUT_API abut_convex abut_convex_sphere(double radius);
ABUT_API abut_convex abut_convex_capsule(double radius, double length);
ABUT_API abut_convex abut_convex_cylinder(double radius, double height);
ABUT_API abut_convex abut_convex_ellipsoid(double a, double b, double c);

/* The point of the shape farthest along a direction, in shape coordinates: the support mapping. */
ABUT_API abut_vec3 abut_convex_support(const abut_convex *shape, abut_vec3 direction);

/* ---- growth distance, features and contact points */

typedef enum abut_feature_kind {
    ABUT_FEATURE_VERTEX,
    ABUT_FEATURE_EDGE,
    ABUT_FEATURE_FACE
} abut_feature_kind;
ABUT_API const char *abut_feature_name(abut_feature_kind kind); /* "vertex", "edge", "face" */

/* A vertex, an edge or a face of a hull by its number.  Analytic shapes: a cylinder has the faces 0 (bottom)
 * and 1 (top) and the edge 0 (its side line nearest the other shape), a capsule the edge 0; any other point
 * is vertex 0. */
typedef struct abut_feature {
    abut_feature_kind kind;
    int32_t id;
} abut_feature;

/* A contact point: `a` on the feature of A and `b` on the feature of B, a - b along the normal, so that
 * a = b + distance * normal (negative: overlap).  Where the features, seen along the normal, do not meet at
 * all, there is one point whose `a` and `b` are where the grown shapes touch, scaled back: then only the
 * normal component of a - b is `distance`, and `is_aligned` is false.  `feature` says what the point is made
 * of (vertex on face, edge across edge, ...); it stays the same while the pair moves a little, for warm
 * starting. */
typedef struct abut_convex_point {
    abut_vec3 a, b;
    double distance;
    abut_feature feature[2];
} abut_convex_point;

typedef struct abut_convex_options {
    double angle;        /* radians: features whose normal is this close to the contact normal count as
                            facing it; 5e-7, so that they lie within the touching distance of each other */
    double far_distance; /* metres: once the shapes are known to be farther apart, stop (infinity: never) */
    bool no_points;      /* only growth, normal and distance */
    double deep;         /* metres: a deeper overlap is told along the shortest way apart, where that is
                            shorter by a fifth (near the rim of a thin plate the ray between the centres leaves
                            by the rim); 0: never */
} abut_convex_options;
ABUT_API abut_convex_options abut_default_convex_options(void);

/* What a query remembers for the next one of the same pair in nearby poses.  Plain data, part of the caller's
 * state; all zero means nothing is known. */
typedef struct abut_convex_cache {
    int32_t count;      /* points of the last simplex on the Minkowski difference: 0 or 3; -1: only an axis */
    int32_t a[3], b[3]; /* their vertices */
    int32_t unused;
    abut_vec3 axis; /* A's axes: the direction along which the shapes were far apart */
} abut_convex_cache;

typedef struct abut_convex_result {
    abut_convex_point
        *points;  /* in: the caller's memory for contact points, abut_convex_capacity() of them */
    int capacity; /* in */
    double growth;
    double distance;  /* along the normal: normal . (lowest of A - highest of B); (growth - 1) times the
                         extent of both along the normal */
    abut_vec3 normal; /* unit, from B to A */
    abut_feature feature[2];
    int point_count;
    bool is_aligned; /* see abut_convex_point */
    bool is_far; /* stopped by far_distance: growth and distance are lower bounds, no features, no points */
    bool is_coincident; /* the centres coincide: growth is 0, and the normal is the shortest way apart */
    int iterations;     /* support points taken */
} abut_convex_result;

/* The most contact points that two shapes can have. */
ABUT_API int abut_convex_capacity(const abut_convex *a, const abut_convex *b);

/* Growth distance, normal, features, and all contact points.  NULL options: the defaults; NULL cache: none.
 * ABUT_INVALID for shapes or poses that are not finite, rotations that are not unit within 1e-6, or a
 * capacity below abut_convex_capacity(); ABUT_BUDGET when curved shapes need more support points than
 * allowed. */
ABUT_API abut_status abut_convex_distance(const abut_convex *a, abut_pose pose_a, const abut_convex *b,
                                          abut_pose pose_b, const abut_convex_options *options,
                                          abut_convex_cache *cache, abut_convex_result *result,
                                          abut_error *error);

/* ---- closest points, in the sense of Euclid */

typedef struct abut_convex_gap {
    double distance;  /* of the nearest points; negative: the least way apart */
    abut_vec3 normal; /* unit, from B to A */
    abut_vec3 a, b; /* the nearest points; overlapping: a point of A that reaches deepest into B, and where it
                       must go */
    bool is_overlapping;
} abut_convex_gap;

/* The distance of two convex shapes by GJK, or how deep they overlap.  The depth is exact for hulls, spheres
 * and capsules; for cylinders and ellipsoids it is an upper bound. */
ABUT_API abut_status abut_convex_closest(const abut_convex *a, abut_pose pose_a, const abut_convex *b,
                                         abut_pose pose_b, abut_convex_gap *gap, abut_error *error);

#ifdef __cplusplus
}
#endif
#endif
