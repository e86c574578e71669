/* The stages of contact regions (Bouma and Vanecek 1992, sections 3 and 4), inside the module.
 *
 *   touch_cull       entities that move away from the other solid
 *   touch_collect    entities of each solid near the other (box trees) ── index ──> regions of I, witnesses
 *   touch_choose     marks the regions of R: definitions 1 and 2, neighbourhoods evaluated
 *   touch_normals    the normals of each region
 *   touch_remember   normals that persist from the previous step
 *
 * Solid 0 is A, solid 1 is B. */
#ifndef CONTACT_TOUCH_H
#define CONTACT_TOUCH_H

#include "abut/touch.h"
#include "contact/shape.h"
#include "index/index.h"

struct abut_touch_solid {
    const abut_solid *solid;
    abut_index *index;
    contact_shape shape; /* in shape axes: centre zero */
    box_tree pieces;     /* over the convex pieces of faces: a concave face has a box that holds much else */
    int32_t *piece_face;
    vec3 center; /* of mass, and the radius about it */
    double radius;
};

typedef struct touch_cone touch_cone;

typedef struct touch_work {
    const abut_context *context;
    const abut_touch_solid *s[2];
    pose p[2];
    double epsilon;
    abut_touch *out;
    uint8_t *near[2][3];   /* by solid; vertices, edges, faces (INDEX_VERTEX ...) close to the other solid */
    abut_place *places[2]; /* of the near vertices in the other solid */
    map64 pairs;           /* vertex-vertex and edge-edge pairs already found */
    int64_t witnesses;     /* of penetration measured so far */
    const abut_touch_options *options;
    abut_error *error;
} touch_work;

/* Fills out->regions with I, or finds penetration. */
abut_status touch_collect(touch_work *w);
/* Offers a point (world axes) that seems to lie inside `solid` deeper than epsilon. */
void touch_witness(touch_work *w, int solid, vec3 at);
/* The same for two faces that lie on each other with their solids on the same side of them. */
void touch_witness_overlap(touch_work *w, vec3 at, vec3 outward);
abut_status touch_choose(touch_work *w);
abut_status touch_normals(touch_work *w);
/* Takes the entities that cannot be in a resting or approaching contact out of `near`. */
void touch_cull(touch_work *w);
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
