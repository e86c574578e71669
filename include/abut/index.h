/* abut/index.h: the B-rep index: where a point, a segment or a polygon lies with respect to a solid.
 *
 *     abut_index *index = NULL;
 *     abut_index_build(NULL, solid, NULL, &index, NULL);
 *     abut_place place = abut_index_point(index, solid, (abut_vec3){0, 0, 1}, 1e-6);
 *     printf("%s %d\n", abut_place_kind_name(place.kind), place.id);      // "face 4"
 *     abut_run runs[64];
 *     int count = abut_index_segment(index, solid, from, to, 1e-6, runs, 64);
 *     abut_index_free(NULL, index);
 *
 * A ternary tree of cut planes with parts above, on and below (Vanecek 1990); it belongs to one solid and is
 * asked together with it.  Immutable, one relocatable block without pointers: copy it, save it, map it, share
 * it. Coordinates are those of the shape; `epsilon` is the touching distance in the same unit.
 */
#ifndef ABUT_INDEX_H
#define ABUT_INDEX_H

#include "abut/solid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_index abut_index;

/* How the cut planes are chosen. */
typedef enum abut_index_method {
    ABUT_INDEX_HYBRID,        /* regular cuts while a region is crowded, then the cheapest plane */
    ABUT_INDEX_AUTOPARTITION, /* only planes of faces; V + E + F nodes for a convex solid, but a high tree */
    ABUT_INDEX_FIRST /* as in Vanecek's table 1: cuts z, y, x in the middle of the box, then the first face */
} abut_index_method;
ABUT_API const char *abut_index_method_name(abut_index_method method);

typedef struct abut_index_options {
    abut_index_method method;
    int crowd;           /* a region with more faces than this gets a regular cut: 20 */
    int64_t node_budget; /* nodes beyond this are an error; 0: 64 for each vertex, edge and face, and 4096 */
} abut_index_options;
ABUT_API abut_index_options abut_default_index_options(void);

/* Builds the index of a solid.  Uses the context's threads; the bits do not depend on how many there are.
 * ABUT_BUDGET when the tree would get too big; the message says what to do. */
ABUT_API abut_status abut_index_build(const abut_context *context, const abut_solid *solid,
                                      const abut_index_options *options, abut_index **index,
                                      abut_error *error);
ABUT_API void abut_index_free(const abut_context *context, abut_index *index);

/* A file with the block as it is; loading checks version, content hash and every invariant. */
ABUT_API abut_status abut_index_save(const abut_context *context, const abut_index *index, const char *path,
                                     abut_error *error);
ABUT_API abut_status abut_index_load(const abut_context *context, const char *path, abut_index **index,
                                     abut_error *error);

typedef struct abut_index_facts {
    int64_t nodes; /* internal nodes of the 3D, 2D and 1D trees, as in table 1 */
    int64_t space_nodes, plane_nodes, line_nodes; /* the same by dimension */
    int64_t cells;         /* inside leaves of the 3D tree: convex polyhedra that fill the solid */
    int64_t height;        /* most internal nodes on a path */
    double average_height; /* internal nodes on the path to a leaf, the average over all leaves */
    uint64_t bytes, hash, solid_hash;
    abut_index_method method;
} abut_index_facts;
ABUT_API abut_index_facts abut_index_facts_of(const abut_index *index);

/* Whether the index was built for this solid (by content hash).  Asked together with another one it answers
 * `outside`, a negative number of runs, or ABUT_INVALID. */
ABUT_API bool abut_index_fits(const abut_index *index, const abut_solid *solid);

/* Where something lies.  `id` is the number of the solid's vertex, edge or face, -1 inside and outside. */
typedef enum abut_place_kind {
    ABUT_OUTSIDE,
    ABUT_INSIDE,
    ABUT_ON_VERTEX,
    ABUT_ON_EDGE,
    ABUT_ON_FACE
} abut_place_kind;
typedef struct abut_place {
    abut_place_kind kind;
    int32_t id;
} abut_place;
ABUT_API const char *
abut_place_kind_name(abut_place_kind kind); /* "outside", "inside", "vertex", "edge", "face" */

/* The place of a point.  It is on an entity when its distance is at most epsilon, whatever the angles between
 * faces; of several the one with the lowest dimension, then the nearest, then the smallest number.  A point
 * with a coordinate that is not finite is outside. */
ABUT_API abut_place abut_index_point(const abut_index *index, const abut_solid *solid, abut_vec3 point,
                                     double epsilon);
/* The same for many points at once, about twice as fast for each. */
ABUT_API void abut_index_points(const abut_index *index, const abut_solid *solid, const abut_vec3 *points,
                                int64_t count, double epsilon, abut_place *places);

/* One part of a classified segment: a stretch with two points, or a crossing with one. */
typedef struct abut_run {
    abut_place place;
    int point_count;
    abut_vec3 points[2];
    double at[2]; /* parameters along the segment, 0 at its start and 1 at its end */
} abut_run;
/* The sequence of section 2.4, equal neighbours compressed.  Returns how many runs there are; the first
 * `capacity` of them are written.  An entity that the segment meets on less than 100 epsilon is a crossing,
 * with the point nearest to it; the stretch of a face or edge shorter than that beside one of its own edges
 * or vertices counts as part of the crossing there.  Negative: the segment meets more than ABUT_SEGMENT_LIMIT
 * entities. */
#define ABUT_SEGMENT_LIMIT 4096
ABUT_API int abut_index_segment(const abut_index *index, const abut_solid *solid, abut_vec3 from,
                                abut_vec3 to, double epsilon, abut_run *runs, int capacity);

/* The parts of a polygon: convex polygons that lie inside, outside, or on one face, and together cover it.
 * Corner c of part p is points[start[p] + c]. */
typedef struct abut_parts {
    abut_place *places;
    int32_t *start; /* count + 1 entries */
    abut_vec3 *points;
    int64_t count;
    int64_t capacity[3]; /* of the three arrays, for abut_parts_free */
} abut_parts;
/* `polygon` is convex and planar; parts keep its direction.  A part is on a face when all of it is within
 * epsilon of the face.  Cuts that pass a corner within epsilon go through it, so the borders of parts are
 * exact to that. */
ABUT_API abut_status abut_index_polygon(const abut_context *context, const abut_index *index,
                                        const abut_solid *solid, const abut_vec3 *polygon, int count,
                                        double epsilon, abut_parts *parts, abut_error *error);
ABUT_API void abut_parts_free(const abut_context *context, abut_parts *parts);

/* Parts of one place joined: loop l of region r, for l from loop_start[r] on, has the corners
 * points[corner_start[l]] ...; the first loop of a region is its outer border, counter-clockwise about
 * `normal`, the others are holes.  Regions that touch in no more than points are separate. */
typedef struct abut_regions {
    abut_place *places;
    double *areas;
    int32_t *loop_start, *corner_start;
    abut_vec3 *points;
    int64_t count, loop_count, corner_count;
    int64_t capacity[5];
} abut_regions;
ABUT_API abut_status abut_parts_join(const abut_context *context, const abut_parts *parts, abut_vec3 normal,
                                     double epsilon, abut_regions *regions, abut_error *error);
ABUT_API void abut_regions_free(const abut_context *context, abut_regions *regions);

/* The inside leaves as convex polyhedra, and which of them touch along an area.  Cell c has the facets
 * facet_start[c] .. facet_start[c + 1] - 1; facet f has the corners points[corner_start[f]] ..
 * [corner_start[f + 1] - 1], counter-clockwise seen from outside the cell.  The volumes add up to that of the
 * solid. */
typedef struct abut_cells {
    int64_t count, facet_count, corner_count, pair_count;
    int32_t *facet_start, *corner_start;
    abut_vec3 *points;
    double *volumes;
    int32_t (*pairs)[2]; /* cells that share an area, the smaller number first, sorted */
    double *pair_areas;
    int64_t capacity[6];
} abut_cells;
ABUT_API abut_status abut_index_cells(const abut_context *context, const abut_index *index,
                                      const abut_solid *solid, abut_cells *cells, abut_error *error);
ABUT_API void abut_cells_free(const abut_context *context, abut_cells *cells);

/* One node of the tree, for those who draw or study it.  A child is a node number, or negative for a leaf. */
typedef struct abut_index_node {
    abut_vec3 normal;
    double offset;
    int dimension; /* 3, 2, 1 */
    int32_t above, on, below;
} abut_index_node;
ABUT_API int32_t abut_index_root(const abut_index *index);
ABUT_API abut_index_node abut_index_node_of(const abut_index *index, int32_t node);
ABUT_API abut_place abut_index_leaf(int32_t child); /* what a negative child stands for */

#ifdef __cplusplus
}
#endif
#endif
