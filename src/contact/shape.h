/* A shape made ready for contact: its elements about the centre of mass, its size, and for a solid the trees
 * over its vertices, edges and faces.  Immutable after creation. */
#ifndef CONTACT_SHAPE_H
#define CONTACT_SHAPE_H

#include "abut/surface.h"
#include "abut/world.h"
#include "contact/box_tree.h"
#include "contact/element.h"

/* A flat end of a cylinder stands on points of its rim, and on up to SHAPE_RIM_CUTS more where the load asks
 * for them: edges of the numbers from SHAPE_FIRST_CUT on, those of the lower end first. */
enum { SHAPE_ELEMENTS = 24, SHAPE_RIM_POINTS = 8, SHAPE_RIM_CUTS = 16, SHAPE_FIRST_CUT = 2 * SHAPE_ELEMENTS };

/* What an element is a part of: for messages, recordings, and to find it again in the next step. */
typedef enum feature_kind { FEATURE_VERTEX, FEATURE_EDGE, FEATURE_FACE, FEATURE_SMOOTH } feature_kind;
typedef struct contact_feature {
    int32_t kind, id;
} contact_feature;
static inline bool contact_feature_same(contact_feature f, contact_feature g) {
    return f.kind == g.kind && f.id == g.id;
}

typedef struct smooth_samples smooth_samples; /* contact/smooth.h */

typedef struct contact_shape {
    abut_shape shape;
    vec3 center; /* of mass, shape axes */
    vec3 origin; /* added to a solid's stored positions: its origin minus the centre of mass */
    box bounds;  /* body axes, from the centre of mass; infinite for half-space and cavity */
    double
        radius; /* of the ball about the centre of mass that holds it; infinite for half-space and cavity */
    element elements[SHAPE_ELEMENTS]; /* analytic shapes */
    contact_feature features[SHAPE_ELEMENTS];
    int element_count;
    box_tree vertices, edges, faces; /* solids; of a surface, faces are its patches */
    smooth_samples *smooth;          /* surfaces */
    const abut_surface *atlas;       /* the surface; of an ellipsoid that meets one: its own */
} contact_shape;

abut_status contact_shape_create(const abut_context *context, const abut_shape *shape, vec3 center,
                                 contact_shape *out, abut_error *error);
void contact_shape_free(const abut_context *context, contact_shape *shape);

/* A feature as people count it: of a cylinder the lower and the upper end are face and edge 0 and 1, its
 * mantle is smooth 0; other shapes as they are. */
contact_feature contact_shape_named(const contact_shape *s, contact_feature f);

/* On which feature, as people count them, the point x of its surface lies (body axes, from the centre of
 * mass); of a surface always smooth 0.  False where it lies on none. */
bool contact_shape_feature_at(const contact_shape *s, vec3 x, contact_feature *out);

/* The element of a feature of a solid. */
element contact_shape_vertex(const contact_shape *s, int32_t vertex);
element contact_shape_edge(const contact_shape *s, int32_t edge);
element contact_shape_face(const contact_shape *s, int32_t face);
box contact_shape_face_box(const contact_shape *s, int32_t face);

#endif
