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

/* Samples first .. first + count - 1 lie in a ball. */
typedef struct smooth_cluster {
    vec3 center; /* from the centre of mass */
    double radius;
    int32_t first, count;
} smooth_cluster;

/* What is around the samples of a patch: a ball; a cone of normals, which make an angle of at most (cosine,
 * sine) with the axis; and clusters first .. first + count - 1. */
typedef struct smooth_bounds {
    vec3 center, axis;
    double radius, cosine, sine;
    double spacing;         /* in parameters: neighbouring samples are no farther apart */
    double pitch;           /* metres: every point of the patch is about as near to a sample */
    double bulge;           /* and as near to the plane through the samples around it */
    double least_curvature; /* 1/m, in any direction, here and on the patches around; positive: convex */
    int32_t first, count;
    bool flat; /* it lies in a plane: on another one it has no single place, and touches with its corners */
} smooth_bounds;

/* Samples of patch i: samples[first[i] .. first[i + 1] - 1]. */
struct smooth_samples {
    smooth_sample *samples;
    int32_t *first;
    smooth_bounds *bounds;
    ARRAY(smooth_cluster) clusters;
    int32_t patch_count;
    double least_curvature; /* 1/m, over all samples and directions: positive where convex */
};

/* The smallest curvature of a shape at any place in any direction, 1/m: positive for a strictly convex shape,
 * zero for one that is flat somewhere, negative for one with a dent.  (Of a surface: at its samples.) */
double smooth_least_curvature(const contact_shape *shape);

/* Whether a place can be born where a surface with the one least curvature meets one with the other.  Where
 * they add up to something positive every place is one of its own, which moves and cannot divide.  A tenth of
 * the larger is kept for what lies between the samples, and for dents, which are tighter seen across a gap.
 */
static inline bool smooth_can_appear(double one, double two) {
    return !(one + two > 0.1 * fmax(fabs(one), fabs(two)));
}

/* Fills the tree, the samples, bounds and radius of a shape that is a surface. */
abut_status smooth_shape_make(const abut_context *context, contact_shape *shape, abut_error *error);
/* The same for an ellipsoid, which then meets surfaces as one of six patches; nothing for other shapes. */
abut_status smooth_shape_add(const abut_context *context, contact_shape *shape, abut_error *error);
void smooth_shape_free(const abut_context *context, contact_shape *shape);

static inline bool smooth_is_pair(const near_pair *pair) {
    return pair->a.kind == ELEMENT_PATCH || pair->b.kind == ELEMENT_PATCH;
}
bool smooth_shapes_known(abut_shape_kind other);

/* Whether every place that lies behind is an overlap, however deep: of a closed surface and a half-space, all
 * of which is solid.  (Between other bodies their far sides are places, too.) */
bool smooth_is_sunk_behind(const contact_shape *a, const contact_shape *b);

/* The search for places ends here: places farther apart are on sides that look away from each other. */
double smooth_reach_most(const contact_shape *a, const contact_shape *b);
/* Appends the pairs that may be closer than reach, or the most; one for each place; `born`: only those in
 * patches where a place can be born.  False when memory is out. */
bool smooth_collect(const abut_context *context, const contact_shape *a, const motion *ma,
                    const contact_shape *b, const motion *mb, double reach, bool born, near_array *out);

/* Moves the element e, a place on a surface of the body that moves as ms, to where the surface is deepest (a
 * plane) or closest (a point, a line) near it.  False where the surface ends on the way. */
bool smooth_descend(const abut_surface *surface, element *e, const motion *ms, const element *other,
                    const motion *mo);

/* Moves e from a place near an edge of its patch to one of the neighbour, behind a ridge, which the jump of
 * the curvature at the border hides from descents.  False where there is none. */
bool smooth_beyond(const abut_surface *surface, element *e, int edge, const motion *ms, const element *other,
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

/* A place against a plane becomes the point of the body that it is now: for surfaces that lie flat there,
 * where the place has gone over to a patch that has none.  False for other pairs. */
bool smooth_fix_place(near_pair *pair, const contact_shape *a, const contact_shape *b);

/* Whether the place has left the domain of a patch of the pair, beyond the extended boundary, or the features
 * of the other body. */
bool smooth_leaves(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack);

#endif
