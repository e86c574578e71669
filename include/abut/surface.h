/* abut/surface.h: smooth surfaces as an atlas of patches: Bezier, rational, Loop, S-patches, quadrics.
 *
 *     abut_surface *surface = NULL;
 *     abut_error error = {0};
 *     if (abut_surface_load(NULL, "patch.txt", &surface, &error) == ABUT_OK) {
 *         abut_partials p;
 *         abut_surface_evaluate(surface, 0, 0.25, 0.5, 2, &p);
 *         printf("%g %g %g\n", p.c.x, p.c.y, p.c.z);
 *     }
 *     abut_surface_free(NULL, surface);
 *
 * A surface is immutable and one relocatable block without pointers.  A patch has a convex polygon in the
 * plane as its domain; each edge of the polygon knows the patch and the edge on its other side (Kry 2000,
 * section 4.5).  The outside is where c_u x c_v points.
 */
#ifndef ABUT_SURFACE_H
#define ABUT_SURFACE_H

#include "abut/math.h"
#include "abut/solid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_surface abut_surface;

/* A point of a patch and its partial derivatives to third order. */
typedef struct abut_partials {
    abut_vec3 c, u, v, uu, uv, vv, uuu, uuv, uvv, vvv;
} abut_partials;

/* The kinds of patches.  X(constant, word). */
#define ABUT_PATCH_LIST(X)             \
    X(BEZIER, "bezier")                \
    X(RATIONAL, "rational-bezier")     \
    X(LOOP, "loop")                    \
    X(STAM, "loop-extraordinary")      \
    X(SPLIT, "loop-split-in-four")     \
    X(S_PATCH, "s-patch")              \
    X(PLANE, "plane")                  \
    X(SPHERE, "sphere")                \
    X(CYLINDER, "cylinder")            \
    X(CONE, "cone")                    \
    X(PARABOLOID, "paraboloid")        \
    X(SADDLE, "hyperbolic-paraboloid") \
    X(TORUS, "torus")

typedef enum abut_patch_kind {
#define ABUT_PATCH_CONSTANT(name, word) ABUT_PATCH_##name,
    ABUT_PATCH_LIST(ABUT_PATCH_CONSTANT)
#undef ABUT_PATCH_CONSTANT
} abut_patch_kind;
ABUT_API const char *abut_patch_kind_name(abut_patch_kind kind);

/* Bicubic Bezier patches: 16 points each, the first parameter along a row of four, the second from row to
 * row.  Domain: the unit square.  Patches whose boundary curves have the same control points are joined. */
ABUT_API abut_status abut_surface_bezier(const abut_context *context, const abut_vec3 *points,
                                         int64_t patch_count, abut_surface **surface, abut_error *error);
/* The same with a positive weight for each point. */
ABUT_API abut_status abut_surface_rational(const abut_context *context, const abut_vec3 *points,
                                           const double *weights, int64_t patch_count, abut_surface **surface,
                                           abut_error *error);

/* A tensor-product B-spline surface of degree at most 3 in each direction, split into (rational) bicubic
 * Bezier patches at its knots.  Points are rows of count_u; there are count_u + degree_u + 1 knots_u. */
typedef struct abut_nurbs {
    int degree_u, degree_v, count_u, count_v;
    const double *knots_u, *knots_v;
    const abut_vec3 *points; /* count_u * count_v, u fastest */
    const double *weights;   /* or NULL */
} abut_nurbs;
ABUT_API abut_status abut_surface_nurbs(const abut_context *context, const abut_nurbs *nurbs,
                                        abut_surface **surface, abut_error *error);

/* One S-patch of degree 4 (Loop and DeRose 1989) on the regular polygon of unit area with the first corner
 * on the positive u axis.  The control point of the multiset a <= b <= c <= d of corners is
 * abut_s_patch_index(a, b, c, d); there are abut_s_patch_points(sides). */
enum { ABUT_SIDES_MOST = 24 };
ABUT_API int abut_s_patch_points(int sides);
ABUT_API int abut_s_patch_index(int a, int b, int c, int d);
ABUT_API abut_status abut_surface_s_patch(const abut_context *context, int sides, const abut_vec3 *points,
                                          abut_surface **surface, abut_error *error);

/* Quadrics and the torus, as charts that need no function but the square root: x = origin + axes f(u, v),
 *   PLANE       f = (u, v, 0)                                       on [low, high]^2
 *   SPHERE      f = (u, v, 1) / sqrt(1 + u^2 + v^2)                 six of them make the whole
 *   CYLINDER    f = (circle(u), v), v in [low, high]                four make the whole
 *   CONE        f = (v circle(u), v), v in [low, high], low > 0     four make the whole
 *   PARABOLOID  f = (u, v, u^2 + v^2)      SADDLE  f = (u, v, u^2 - v^2)
 *   TORUS       f = ((1 + ratio cos) circle(u), ratio sin)          sixteen make the whole
 * with circle(u) = (1, u) / sqrt(1 + u^2), turned by quarters.  Ellipsoid and elliptic cylinder: by axes. */
typedef struct abut_quadric {
    abut_patch_kind kind;
    abut_vec3 origin;
    abut_mat3 axes;
    double low, high;
    double ratio; /* of the torus: small radius over large radius, in (0, 1) */
} abut_quadric;
ABUT_API abut_quadric abut_default_quadric(abut_patch_kind kind); /* unit axes, low -1 (cone 1/2), high 1 */
ABUT_API abut_status abut_surface_quadric(const abut_context *context, const abut_quadric *quadric,
                                          abut_surface **surface, abut_error *error);

/* The Loop subdivision surface of a closed cage.
 *   ABUT_LOOP_LIMIT   the limit surface itself: one patch for each triangle of the cage, with (u, v) the
 *                     weights of its second and third vertex, evaluated by Stam's method near extraordinary
 *                     vertices, where its derivatives do not exist.
 *   ABUT_LOOP_SMOOTH  after `refine` subdivisions the triangles around each extraordinary vertex are replaced
 *                     by one S-patch that meets its surroundings with continuous tangent planes; all other
 *                     patches are polynomial, so that every patch is smooth inside (Kry 2000, chapter 5).
 * Polygons with more than three corners are cut into triangles from their first corner. */
typedef enum abut_loop_form { ABUT_LOOP_LIMIT, ABUT_LOOP_SMOOTH } abut_loop_form;
typedef struct abut_loop_options {
    abut_loop_form form;
    int refine;   /* for smooth: 1 (the thesis) to 6 subdivisions before the S-patches are set in; 0, the
                     default: as few as give S-patches without folds */
    double scale; /* of the cage's coordinates */
} abut_loop_options;
ABUT_API abut_loop_options abut_default_loop_options(void);
ABUT_API abut_status abut_surface_loop(const abut_context *context, const abut_mesh *cage,
                                       const abut_loop_options *options, abut_surface **surface,
                                       abut_error *error);

/* A text file of Bezier control points (three numbers a line, 16 lines a patch, `#` comments), or the Bezier
 * objects of a scene file of Kry's format, scaled, rotated and offset as the file says. */
ABUT_API abut_status abut_surface_load(const abut_context *context, const char *path, abut_surface **surface,
                                       abut_error *error);
ABUT_API abut_status abut_surface_read(const abut_context *context, const char *text, size_t size,
                                       const char *name, abut_surface **surface, abut_error *error);
ABUT_API void abut_surface_free(const abut_context *context, abut_surface *surface);

ABUT_API int abut_surface_patch_count(const abut_surface *surface);
ABUT_API uint64_t abut_surface_hash(const abut_surface *surface);
ABUT_API bool abut_surface_is_closed(const abut_surface *surface); /* every edge has a neighbour */
typedef struct abut_patch_facts {
    abut_patch_kind kind;
    int sides;             /* of the domain polygon */
    int valence;           /* of the extraordinary vertex it belongs to, or 0 */
    int face;              /* of the cage, or -1 */
    double area_of_domain; /* in parameters */
    /* S-patches around an extraordinary vertex: their largest distance from the limit surface (sampled; an
     * upper bound at each sample), the largest angle between normals across their boundary (radians), and the
     * least |c_u x c_v| over their mean, negative where the patch folds (0 < means: no cusp). */
    double deviation, normal_jump, least_area;
} abut_patch_facts;
ABUT_API abut_patch_facts abut_surface_patch_facts(const abut_surface *surface, int patch);
/* Corners of the domain polygon, counter-clockwise; returns their number (at most ABUT_SIDES_MOST). */
ABUT_API int abut_surface_domain(const abut_surface *surface, int patch, double corners[][2]);
/* What lies across edge i (from corner i to the next): false where the surface ends. */
ABUT_API bool abut_surface_neighbour(const abut_surface *surface, int patch, int edge, int *other_patch,
                                     int *other_edge);

/* Walking (Kry 2000, section 4.5).  A place on a surface is a patch and its parameters. */
typedef struct abut_surface_point {
    int patch;
    double u, v;
} abut_surface_point;

/* How far a place lies outside its domain, in parameters: the largest signed distance to an edge (negative
 * inside), and that edge. */
ABUT_API double abut_surface_outside(const abut_surface *surface, abut_surface_point place, int *edge);

/* The same place of edge `edge` seen from the patch across it.  `place` must lie on the edge, or within the
 * extended boundary: it is put on the edge, and moved by as much into the other patch.  jacobian, by rows, is
 * d(u', v')/d(u, v), the map of tangent vectors from the tangent planes that both patches share; so
 * velocities carry over.  False where the surface ends. */
ABUT_API bool abut_surface_cross(const abut_surface *surface, abut_surface_point place, int edge,
                                 abut_surface_point *other, double jacobian[4]);

/* From `place` with parameter velocity `rate`: when a place is outside its domain by more than the extended
 * boundary, or on its border and moving out, goes over edges, around corners, until it lies in a patch and
 * moves into it.  Carries the velocity over, and multiplies the 2 x 2 `jacobian` (may be NULL) by that of
 * each crossing.  ABUT_FAILED where the surface ends (place and rate are left at the last patch), ABUT_BUDGET
 * after too many crossings. */
ABUT_API abut_status abut_surface_settle(const abut_surface *surface, abut_surface_point *place,
                                         double rate[2], double jacobian[4], int *crossings,
                                         abut_error *error);

/* Walks a geodesic of the given length from `place` in the direction of the parameter velocity `rate`, in
 * steps of about `step`, across edges and corners; place and rate are where it ends.  The hook hears of each
 * change of patch (several crossings at a corner count as one change). */
typedef struct abut_walk_hook {
    void (*crossed)(void *user, int from, int to, int crossings);
    void *user;
} abut_walk_hook;
ABUT_API abut_status abut_surface_walk(const abut_surface *surface, abut_surface_point *place, double rate[2],
                                       double length, double step, const abut_walk_hook *hook,
                                       abut_error *error);

/* c and its partials to `order` (0 to 3) at (u, v); higher ones are zero.  (u, v) may lie outside the domain,
 * where the polynomials go on.  False where the surface has no derivatives (an extraordinary vertex): then c
 * is the limit position and u, v are tangents of the limit surface along the two edges, of no meaning in
 * size. */
ABUT_API bool abut_surface_evaluate(const abut_surface *surface, int patch, double u, double v, int order,
                                    abut_partials *partials);
/* ABUT_OK when bodies can touch the surface: it has a tangent plane at all corners and along all edges
 * (looked at in places).  ABUT_UNSUPPORTED with the patch where it has none, as at a pole: a body with such a
 * shape is refused. */
ABUT_API abut_status abut_surface_check(const abut_surface *surface, abut_error *error);

/* Area, volume, centre of mass and inertia of a closed surface for unit density, by the divergence theorem
 * with adaptive quadrature: the error of each is below `tolerance` times the power of the size that it scales
 * with (of the area only where the surface does not fold).  inertia as in abut_mass: about the centre, xx yy
 * zz xy xz yz. */
typedef struct abut_surface_measures {
    double area, volume;
    abut_vec3 center;
    double inertia[6];
    double volume_error; /* estimate */
    int64_t evaluations;
} abut_surface_measures;
ABUT_API abut_status abut_surface_measure(const abut_surface *surface, double tolerance,
                                          abut_surface_measures *measures, abut_error *error);

/* A box that holds a patch, from its control points; with patch -1 the whole surface. */
ABUT_API abut_box abut_surface_box(const abut_surface *surface, int patch);

/* A tree of boxes over the patches, for the two questions below; one block. */
typedef struct abut_surface_tree abut_surface_tree;
ABUT_API abut_status abut_surface_tree_build(const abut_context *context, const abut_surface *surface,
                                             abut_surface_tree **tree, abut_error *error);
ABUT_API void abut_surface_tree_free(const abut_context *context, abut_surface_tree *tree);

typedef struct abut_closest {
    abut_surface_point place;
    abut_vec3 point;
    double distance; /* support: point . direction */
    int64_t evaluations;
} abut_closest;
/* The point closest to x.  Polynomial patches are searched with bounds from their control points; S-patches,
 * extraordinary Loop patches and quadrics by Newton's method from several starts. */
ABUT_API abut_closest abut_surface_closest(const abut_surface *surface, const abut_surface_tree *tree,
                                           abut_vec3 x);
/* The same by descent from a place, over borders of patches: the nearest of all where the descent leads to
 * it, as from the answer for a point close by. */
ABUT_API abut_closest abut_surface_closest_from(const abut_surface *surface, abut_surface_point from,
                                                abut_vec3 x);
/* The point furthest in a direction. */
ABUT_API abut_closest abut_surface_support(const abut_surface *surface, const abut_surface_tree *tree,
                                           abut_vec3 direction);

/* Unit normal c_u x c_v; zero where there is none. */
ABUT_API abut_vec3 abut_partials_normal(const abut_partials *partials);

#ifdef __cplusplus
}
#endif
#endif
