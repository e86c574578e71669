/* The stages of contact regions (Bouma and Vanecek 1992, sections 3 and 4), inside the module.
 *
 *   touch_pairs      marks the entities of each solid near the other (trees of pieces)
 *   touch_cull       unmarks those that move away from the other solid
 *   touch_collect    marked entities ── index ──> regions of I, witnesses
 *   touch_choose     marks the regions of R: definitions 1 and 2, neighbourhoods evaluated
 *   touch_normals    the normals of each region
 *   touch_points     the contact points of each region
 *   touch_remember   normals that persist from the previous step
 *
 * Solid 0 is A, solid 1 is B. */
#ifndef CONTACT_TOUCH_H
#define CONTACT_TOUCH_H

#include "abut/touch.h"
#include "contact/touch_tree.h"
#include "index/index.h"

struct abut_touch_solid {
    const abut_solid *solid;
    abut_index *index;
    touch_tree tree;
    vec3 center; /* of mass, and the radius about it */
    double radius;
};

/* What the descent of the previous question found (touch_pairs.c). */
typedef struct touch_front_pair {
    int32_t a, b; /* nodes */
} touch_front_pair;
struct abut_touch_cache {
    uint64_t solid[2]; /* their hashes */
    double reach;
    pose b_in_a;   /* tree frames, at the last question */
    double moved;  /* since the front was made: an upper bound */
    int64_t fresh; /* ends of the front when it was made */
    ARRAY(touch_front_pair) front;
    ARRAY(double) until; /* of `moved`; -1: always asked */
};

typedef struct touch_cone touch_cone;

/* Marks of an entity: near the other solid; a face that may lie on one of the other's; a vertex found on it.
 */
enum { TOUCH_NEAR = 1, TOUCH_FLAT = 2, TOUCH_ON = 4 };
enum { TOUCH_PIECE = INDEX_FACE + 1 }; /* the fourth kind */
typedef ARRAY(int32_t) touch_ids;

typedef struct touch_work {
    const abut_context *context;
    const abut_touch_solid *s[2];
    pose p[2];
    double epsilon;
    abut_touch *out;
    map64 marks;            /* of entities close to the other solid */
    touch_ids marked[2][4]; /* by solid and kind: INDEX_VERTEX, INDEX_EDGE, INDEX_FACE, TOUCH_PIECE */
    map64 pairs;            /* vertex-vertex and edge-edge pairs already found */
    int64_t witnesses;      /* of penetration measured so far */
    const abut_touch_options *options;
    abut_error *error;
} touch_work;

/* Adds flags to the marks of an entity of solid i; false when memory is out. */
bool touch_mark(touch_work *w, int i, int kind, int32_t id, int flags);
/* Takes all marks away. */
void touch_unmark(touch_work *w, int i, int kind, int32_t id);
int touch_marks(const touch_work *w, int i, int kind, int32_t id);
/* Marks what comes within two epsilon of the other solid. */
bool touch_pairs(touch_work *w);
/* The distance of the segments p p1 and q q1. */
double touch_segments_distance(vec3 p, vec3 p1, vec3 q, vec3 q1);
/* The distance of a face of A from a face of B. */
double touch_faces_distance(const touch_work *w, int32_t face_a, int32_t face_b);
/* Fills out->regions with I, or finds penetration. */
abut_status touch_collect(touch_work *w);
/* Offers a point (world axes) that seems to lie inside `solid` deeper than epsilon. */
void touch_witness(touch_work *w, int solid, vec3 at);
/* The same for two faces that lie on each other with their solids on the same side of them. */
void touch_witness_overlap(touch_work *w, vec3 at, vec3 outward);
abut_status touch_choose(touch_work *w);
abut_status touch_normals(touch_work *w);
/* The contact points of each region. */
abut_status touch_points(touch_work *w);
/* Takes the entities that cannot be in a resting or approaching contact out of `near`. */
void touch_cull(touch_work *w);
/* Takes the regions out whose contact separates; after touch_normals. */
void touch_cull_regions(touch_work *w);
/* For a region whose normal is open: that of the previous step, where one of conditions 6 and 7 holds and it
 * still separates the solids. */
abut_status touch_remember(const touch_work *w, abut_touch_region *r, const touch_cone *a,
                           const touch_cone *b);

/* ---- the neighbourhood of a point of an entity: planes, and which directions lead into the solid */
struct touch_cone {
    const abut_touch_solid *s;
    pose p;
    abut_place place;
    ARRAY(vec3) normals; /* outward, of the faces at the point; world axes */
    ARRAY(vec3) rays;    /* directions along its edges and into its faces, which span the cone */
    vec3 along;          /* of an edge: its direction */
    double step;         /* of a vertex: how far to go for a look */
    bool reflex, convex; /* some edge is reflex; none is */
};
bool touch_cone_make(const abut_context *context, const abut_touch_solid *s, pose p, abut_place place,
                     touch_cone *cone);
void touch_cone_free(const abut_context *context, touch_cone *cone);
/* Whether the direction leads into the solid. */
bool touch_cone_contains(const touch_cone *cone, vec3 direction);
/* The mean of the outward normals, unit (Vanecek 1990, section 4: the vectors v of the indeterminate cases).
 */
vec3 touch_cone_outward(const touch_cone *cone);
/* How far the cones reach over the plane with normal n, from B to A: 0 when it separates them. */
double touch_cone_excess(const touch_cone *a, const touch_cone *b, vec3 n);

#endif
