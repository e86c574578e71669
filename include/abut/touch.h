/* abut/touch.h: contact regions: whether two solids touch, on which areas, along which normals.
 *
 *     abut_touch_solid *a = NULL, *b = NULL;
 *     abut_touch_solid_create(NULL, solid_a, &a, NULL);
 *     abut_touch_solid_create(NULL, solid_b, &b, NULL);
 *     abut_touch *touch = NULL;
 *     abut_touch_find(NULL, a, pose_a, b, pose_b, NULL, &touch, NULL);
 *     for (int64_t i = 0; i < touch->region_count; i++)
 *         printf("%dD, %g m2\n", touch->regions[i].dimension, touch->regions[i].area);
 *     abut_touch_free(NULL, touch);
 *
 * Bouma and Vanecek 1992, sections 3 and 4.  World axes throughout; normals point from B to A.
 */
#ifndef ABUT_TOUCH_H
#define ABUT_TOUCH_H

#include "abut/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A solid made ready: its B-rep index and box trees.  Immutable; the solid must outlive it. */
typedef struct abut_touch_solid abut_touch_solid;
ABUT_API abut_status abut_touch_solid_create(const abut_context *context, const abut_solid *solid,
                                             abut_touch_solid **ready, abut_error *error);
ABUT_API void abut_touch_solid_free(const abut_context *context, abut_touch_solid *ready);

typedef enum abut_touch_status {
    ABUT_APART,      /* no point of one is within epsilon of the other */
    ABUT_TOUCHING,   /* some is, and none lies deeper than epsilon */
    ABUT_PENETRATING /* a witness lies deeper than epsilon in both, or in the one and on the other */
} abut_touch_status;
ABUT_API const char *abut_touch_status_name(abut_touch_status status);

/* A connected region (x, y, polygon) between an entity of A and one of B, both as open sets.  Its loops are
 * loop_start[first_loop] ...: a point has one corner, a segment two, a polygon three or more; the first loop
 * is the outer one, counter-clockwise seen from A, the others are holes. */
typedef struct abut_touch_region {
    int dimension; /* 0, 1, 2 */
    abut_place a, b;
    int32_t first_loop, loops;
    int normal_count; /* at most 3 - dimension */
    abut_vec3 normals[3];
    bool determinate; /* false: geometry leaves the normal open; it is one of those that separate the solids
                       */
    bool needed;      /* it belongs to R (definition 2), not only to I */
    bool temporary;   /* for the caller to set: it persists, so it belongs to the set C (definition 3) */
    int32_t first_contact, contacts; /* contact points: the vertices of its convex hull (Baraff 1989, 4.2) */
    double area;                     /* m2 of a 2D region, 0 otherwise */
    abut_vec3 center;
} abut_touch_region;

typedef struct abut_touch {
    abut_touch_status status;
    abut_pose pose[2];          /* of A and B */
    abut_touch_region *regions; /* by falling dimension; none when penetrating */
    int64_t region_count;
    int32_t *loop_start; /* loop l has the corners points[loop_start[l]] .. points[loop_start[l + 1] - 1] */
    abut_vec3 *points;
    int64_t loop_count, point_count;
    abut_vec3 *contacts; /* of all regions */
    int64_t contact_count;
    abut_vec3 witness; /* of penetration */
    double depth;      /* distance of the witness from the nearer of the boundaries it is inside of; a lower
                          bound of the deepest */
    int64_t capacity[4];
} abut_touch;

/* What one question leaves for the next about the same two solids: which parts are how far apart, so that
 * only those that may have come near since are looked at.  It never changes an answer.  One for each pair; it
 * fits itself to the solids it is used with. */
typedef struct abut_touch_cache abut_touch_cache;
ABUT_API abut_status abut_touch_cache_create(const abut_context *context, abut_touch_cache **cache,
                                             abut_error *error);
ABUT_API void abut_touch_cache_free(const abut_context *context, abut_touch_cache *cache);

typedef struct abut_touch_options {
    double epsilon;                /* touching distance in metres; 0: the larger of the two solids' own */
    bool all;                      /* the whole intersection set I; otherwise the needed regions R only */
    bool status_only;              /* only whether they touch or overlap, and how deep: no regions */
    const abut_twist *velocity[2]; /* of A and B (centre of mass, spin), both or none: faces, edges and
                                      vertices that move away from the other solid are not looked at, and
                                      contacts that only separate are left out */
    const abut_touch *previous; /* the contact of the previous step: where geometry leaves a normal open, that
                                   of its temporary regions is kept (conditions 6 to 8) */
    abut_touch_cache *cache;    /* of the same context; NULL: from nothing */
} abut_touch_options;

/* The static contact of two solids.  Exchanging A and B gives the same regions with normals reversed. */
ABUT_API abut_status abut_touch_find(const abut_context *context, const abut_touch_solid *a, abut_pose pose_a,
                                     const abut_touch_solid *b, abut_pose pose_b,
                                     const abut_touch_options *options, abut_touch **touch,
                                     abut_error *error);
ABUT_API void abut_touch_free(const abut_context *context, abut_touch *touch);

/* A lower bound of the distance between two solids that do not overlap: exact up to rounding. */
ABUT_API double abut_touch_distance(const abut_touch_solid *a, abut_pose pose_a, const abut_touch_solid *b,
                                    abut_pose pose_b);
/* A lower bound of the time until two solids that are apart come within epsilon, while they keep the
 * velocities of their centres of mass and their spins; infinite when they never do. */
ABUT_API double abut_touch_time(const abut_touch_solid *a, abut_pose pose_a, abut_twist velocity_a,
                                const abut_touch_solid *b, abut_pose pose_b, abut_twist velocity_b,
                                double epsilon);
/* When two solids that penetrate after a step first touched, as a part of the step from 0 to 1 (Vanecek 1990,
 * section 3, corrected): by the vertices whose way, relative to the other solid and taken to be straight,
 * goes inside it, and by the edges that are inside.  pose_a and pose_b hold the poses before and after. Exact
 * where the relative motion is a translation and no edge passes through the other solid; 1 when nothing
 * penetrates, 0 when it did before.  Costs a look at every vertex and edge. */
ABUT_API double abut_touch_estimate(const abut_touch_solid *a, const abut_pose pose_a[2],
                                    const abut_touch_solid *b, const abut_pose pose_b[2], double epsilon);

#ifdef __cplusplus
}
#endif
#endif
