/* The boundary of a polyhedral solid, ready for near queries: trees over its vertices, its convex edges and
 * its faces, and its index.
 *
 * Two polyhedra with dents touch in the same ways as two convex ones, only in more places: a vertex of one on
 * a face of the other, or two convex edges across each other.  So each place where they come near is found
 * from these features themselves:
 *
 *     vertex v, face f     v stands over f (its foot lies in f), and the edges at v lead away from f
 *     edge e, edge g       the shortest line between them meets both, and separates their wedges
 *
 * and what lies inside the material (faces between cells of a decomposition) cannot take part, because it is
 * no feature of the boundary.  A vertex inside the other solid belongs to the nearest face; the index
 * confirms that it is inside.  In a dent the foot may lie beyond a reflex edge of f, by as much as the vertex
 * is inside the neighbour across that edge: such a pair counts too, otherwise corners would stick in corners.
 */
#ifndef CONTACT_BOUNDARY_H
#define CONTACT_BOUNDARY_H

#include "contact/box_tree.h"
#include "contact/manifold.h"
#include "index/index.h"

/* Sine of the angle: of edges that cross at less, the ends stand for all of them. */
#define BOUNDARY_PARALLEL 1e-3

/* A convex edge: where it starts, to its end, and the directions that lead from it into its two faces. */
typedef struct boundary_wedge {
    vec3 p, e, in[2];
    vec3 middle;
    double half; /* length */
} boundary_wedge;

/* A ball around a face. */
typedef struct boundary_ball {
    vec3 center;
    double radius;
} boundary_ball;

typedef struct boundary {
    const abut_solid *solid;
    abut_index *index;               /* NULL for a convex solid */
    box_tree vertices, edges, faces; /* in the solid's stored frame */
    boundary_wedge *wedges;          /* for each edge; only those of convex edges are filled */
    vec3 *inward;                    /* for each vertex: a unit direction into the material; 0: not known */
    bool *saddle;                    /* for each vertex: it has a reflex edge */
    boundary_ball *balls;            /* for each face */
    double depth;                    /* overlaps deeper than this have no nearest face: volume / area / 2 */
} boundary;

abut_status boundary_create(const abut_context *context, const abut_solid *solid, boundary *out,
                            abut_error *error);
void boundary_free(const abut_context *context, boundary *b);

/* Manifolds of two boundaries; poses are those of the shapes' origins. */
int boundary_collide(const boundary *a, pose pa, const boundary *b, pose pb, const manifold_config *config,
                     manifold *out, int room);
/* Of a segment with a radius (a capsule, or a sphere when from = to; world) and a boundary: normals from the
 * boundary to the segment.  `deep`: a part of the segment is inside that none of them explains. */
int boundary_collide_round(vec3 from, vec3 to, double radius, const boundary *b, pose pb,
                           const manifold_config *config, manifold *out, int room, bool *deep);

/* The first face that o + t d meets from outside, 0 <= t <= *t (shape axes); -1: none. */
int32_t boundary_ray(const boundary *b, vec3 o, vec3 d, double *t);
/* Whether a point (shape axes) is inside. */
bool boundary_contains(const boundary *b, vec3 x);
bool boundary_holds(const boundary *b, vec3 x); /* of the stored frame */
/* The nearest point of the boundary to x (shape axes), if it is nearer than *distance. */
bool boundary_nearest(const boundary *b, vec3 x, double *distance, vec3 *on, vec3 *normal);

/* Nothing at the vertex leads below the plane with outward normal n (of the vertex's frame) by more than the
 * angle; a negative one: all edges lead above it by at least so much. */
bool boundary_leads_away(const boundary *b, int32_t vertex, vec3 n, double angle);
/* How far the foot of x (stored frame) on the face is from the nearest of its edges. */
double boundary_from_rim(const abut_solid *s, int32_t face, vec3 x, int32_t *edge);
/* Whether the foot of x (stored frame) on the face lies in it (0), or beyond a reflex edge by at most
 * `reach`, with no other edge nearer (by how much); negative: beside it.  `across`: the face beyond that
 * edge; -1: none. */
double boundary_stands_beyond(const abut_solid *s, int32_t face, vec3 x, double reach, double slack,
                              int32_t *across);

/* ---- points of a pair while they are collected, and their grouping to manifolds: places whose normals agree
 * share one, deepest first (boundary_group.c) */

enum { GATHER_ROOM = 256 };
typedef struct gather_point {
    vec3 at, normal; /* world */
    double gap;
    uint64_t id;
    int32_t vertex; /* of a vertex on or inside the other solid: 2 v + side, of which only the shortest way
                       out counts; otherwise -1 */
    double way;     /* out: to the face, or to the reflex edge where two of them meet */
} gather_point;
typedef struct gather {
    gather_point points[GATHER_ROOM];
    int count;
} gather;
void gather_add(gather *g, gather_point p);
int gather_group(gather *g, const manifold_config *config, manifold *out, int room);

#endif
