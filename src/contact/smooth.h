/* Smooth surfaces in contact, as whole atlases.
 *
 * A near pair of a smooth surface names a patch and a place on it.  Between events that patch goes on beyond
 * its border, where its polynomial does (Kry 2000, section 4.5.5: the extended boundary), so that the motion
 * is smooth up to the crossing; at the crossing smooth_follow() hands the place to the neighbour.
 *
 *   shape     a tree of boxes over the patches (contact_shape.faces), and samples on each patch, from which
 *             the search for the places of new contacts starts
 *   others    half-space, sphere, capsule, another surface, and the faces, edges and vertices of a solid */
#ifndef CONTACT_SMOOTH_H
#define CONTACT_SMOOTH_H

#include "contact/near.h"

typedef struct smooth_sample {
    vec3 at; /* from the centre of mass */
    double u, v;
    int32_t edge[2]; /* of the domain on which it lies, -1: none */
} smooth_sample;

/* Samples of patch i: samples[first[i] .. first[i + 1] - 1]. */
struct smooth_samples {
    smooth_sample *samples;
    int32_t *first;
    double *spacing; /* in parameters: neighbouring samples are no farther apart */
    double *pitch;   /* metres: every point of the patch is about as near to a sample */
    int32_t patch_count;
    bool convex; /* strictly, at every sample */
    bool bulges; /* convex or flat, at every sample */
};

/* Fills the tree, the samples, bounds and radius of a shape that is a surface. */
abut_status smooth_shape_make(const abut_context *context, contact_shape *shape, abut_error *error);
/* The same for an ellipsoid, which then meets surfaces as one of six patches; nothing for other shapes. */
abut_status smooth_shape_add(const abut_context *context, contact_shape *shape, abut_error *error);
void smooth_shape_free(const abut_context *context, contact_shape *shape);

static inline bool smooth_is_pair(const near_pair *pair) {
    return pair->a.kind == ELEMENT_PATCH || pair->b.kind == ELEMENT_PATCH;
}
bool smooth_shapes_known(abut_shape_kind other);

/* Appends the pairs that may be closer than reach; one for each place. False when memory is out. */
bool smooth_collect(const abut_context *context, const contact_shape *a, const motion *ma,
                    const contact_shape *b, const motion *mb, double reach, near_array *out);

/* Moves the element e, a place on a surface of the body that moves as ms, to where the surface is deepest (a
 * plane) or closest (a point, a line) near it.  False where the surface ends on the way. */
bool smooth_descend(const abut_surface *surface, element *e, const motion *ms, const element *other,
                    const motion *mo);

/* The contact point on the patch of the pair, beyond its border if need be. */
bool smooth_evaluate(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                     const motion *mb, double slack, contact_point *point, bool *faces);

/* The same place on whatever patch it lies: the pair is moved there.  *crossings (may be NULL) receives how
 * many borders were crossed; *faces is false where the surface ends. */
bool smooth_follow(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack, contact_point *point, bool *faces, int *crossings);

/* As long as it is the same place: where that has ended, the features do not face. */
bool smooth_follow_same(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                        const motion *mb, double slack, contact_point *point, bool *faces);

/* A place that is about to end, because the surface is flat there: the next one that is deepest near it.
 * False where it is not flat. */
bool smooth_jump(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                 const motion *mb, double slack, contact_point *point, bool *faces);

/* Whether the place has left the domain of a patch of the pair, beyond the extended boundary, or the features
 * of the other body. */
bool smooth_leaves(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack);

#endif
