/* Contact manifolds of convex shapes for the live clock: up to four points with a common normal.
 *
 *     halfspace x any      the feature of the shape that faces the plane
 *     spheres, capsules    closest points of points and segments, in closed form; parallel capsules touch at
 * two sphere, capsule x hull   closest points by GJK; a capsule that lies on a face touches at two all else
 * growth distance, features, intersection (abut/convex.h)
 *
 * Features that face each other within `angle` take part whole, so that a box that stands a little tilted
 * keeps its four corners, each with its own gap; points farther apart than `reach` are left out.  Each point
 * has an id made of the two features it lies on; it stays while the pair moves a little, so that a solver
 * finds its last impulse. */
#ifndef CONTACT_MANIFOLD_H
#define CONTACT_MANIFOLD_H

#include "abut/convex.h"
#include "base/base.h"
#include "math/vec.h"

enum { MANIFOLD_POINTS = 4, MANIFOLD_ROOM = 256 /* contact points before they are thinned out */ };

typedef struct manifold_shape {
    bool is_halfspace;
    double core; /* about the radius of a ball inside: overlaps of more than a fiftieth of it are deep */
    abut_convex convex;
    vec3 normal; /* of a half-space: the set normal . x <= offset, in shape axes */
    double offset;
} manifold_shape;

typedef struct manifold_point {
    vec3 at; /* world; half way between the two surfaces */
    double gap;
    uint64_t id;
} manifold_point;

typedef struct manifold {
    vec3 normal;  /* unit, from B to A */
    uint64_t key; /* of the two parts, 0 for convex shapes */
    int count;
    manifold_point points[MANIFOLD_POINTS];
} manifold;

typedef struct manifold_config {
    double reach;            /* metres */
    double soon;             /* metres, >= 0: points that are no farther apart count as overlapping */
    double near;             /* metres: points that are no farther apart are kept before others */
    double angle;            /* radians */
    const uint64_t *bearing; /* ids of points that bore something: they are kept before those that did not */
    int bearing_count;
    bool all_places; /* of solids with dents: also pairs of corners that are nearest while apart, for
                        distances */
} manifold_config;
manifold_config manifold_default_config(void); /* reach 0.02 m, angle 0.2 */

/* Whether the faces of a hull have few enough corners for the room above. */
bool manifold_shape_fits(const manifold_shape *s);

/* Fills `out` (count 0 when the shapes are farther apart than reach).  The cache is the pair's, zero at
 * first. */
void manifold_collide(const manifold_shape *a, pose pa, const manifold_shape *b, pose pb,
                      const manifold_config *config, abut_convex_cache *cache, manifold *out);

uint64_t manifold_id(abut_feature a, abut_feature b);

/* Keeps at most four of the points, in their order: those that overlap first, or will within the sub-step
 * (`soon`: a disc that lands all but flat may overlap with one half of its rim by a hair and needs the other
 * half as well), then those with a gap of at most `near`, which may bear something before the pair is looked
 * at again, then others.  Where there are too
 * many of a kind: the deepest, then those that bore something, then others, each time the one farthest away,
 * that makes the widest triangle, that lies farthest outside of it.  A point that bears must not give way to
 * one that is only farther out: without it the bodies sink in there, it comes back deeper than the others,
 * pushes one of them out, and the pair rocks between two choices for ever. */
void manifold_thin_out(const manifold_point *points, int count, vec3 normal, const manifold_config *config,
                       manifold *out);

/* Exchanges the roles of A and B. */
void manifold_turn(manifold *m);

#endif
