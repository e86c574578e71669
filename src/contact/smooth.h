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

/* A part of a patch: its points lie in a ball, and near a plane through the middle of it; its normals make an
 * angle of at most (cosine, sine) with the axis (cosine -1: any). */
typedef struct smooth_cell {
    vec3 center;              /* from the centre of mass */
    double radius, thickness; /* thickness: |(X - center) . axis| is at most that */
    vec3 axis;
    double cosine, sine;
    /* of a last cell: |n . way| and |n . (axis x way)| of its normals are at most that; on an edge that is
     * nearly straight they turn across it, and hardly along it */
    vec3 way;
    double turn[2];
    /* the smaller principal curvature lies between these, the larger is at most `most` (1/m) */
    double least, least_most, most;
    double u, v, size;           /* its middle in parameters, and how far its corners are from there */
    int32_t patch, first, count; /* its parts are the cells first .. first + count - 1; none: a last cell */
    bool regular;                /* it has these: */
    abut_partials p;             /* to second order in the middle, from the centre of mass */
} smooth_cell;

/* What is around the samples of a patch: a cone of normals, which make an angle of at most (cosine, sine)
 * with the axis. */
typedef struct smooth_bounds {
    vec3 axis;
    double cosine, sine;
    double spacing;         /* in parameters: neighbouring samples are no farther apart */
    double pitch;           /* metres: every point of the patch is about as near to a sample */
    double bulge;           /* and as near to the plane through the samples around it */
    double least_curvature; /* 1/m, in any direction, here and on the patches around; positive: convex */
    bool flat; /* it lies in a plane: on another one it has no single place, and touches with its corners */
} smooth_bounds;

/* Samples of patch i: samples[first[i] .. first[i + 1] - 1]; as a cell it is cells[i]. */
struct smooth_samples {
    smooth_sample *samples;
    int32_t *first;
    smooth_bounds *bounds;
    ARRAY(smooth_cell) cells;
    int32_t patch_count;
    double least_curvature; /* 1/m, over all samples and directions: positive where convex */
};

/* The smallest curvature of a shape at any place in any direction, 1/m: positive for a strictly convex shape,
 * zero for one that is flat somewhere, negative for one with a dent.  (Of a surface: at its samples.) */
double smooth_least_curvature(const contact_shape *shape);
/* The principal curvatures at a point, the smaller first. */
void smooth_curvatures(const abut_partials *p, double curvature[2]);
/* The cells of a shape that has patches (smooth_cells.c).  False: out of memory. */
bool smooth_cells_make(const abut_context *context, contact_shape *shape);

/* The closest point of a last cell, by the second order p of its middle (in any axes), to another point,
 * which is near enough that it lies in the cell or beside it. */
typedef struct smooth_foot {
    abut_partials p; /* there */
    double step[2];  /* from the middle, in parameters */
} smooth_foot;
bool smooth_foot_find(const smooth_cell *cell, const abut_partials *p, vec3 point, smooth_foot *foot);

/* Whether a place can be born where a surface with the one least curvature meets one with the other.  Where
 * they add up to something positive every place is one of its own, which moves and cannot divide.  A tenth of
 * the larger is kept for what lies between the samples, and for dents, which are tighter seen across a gap.
 */
static inline bool smooth_can_appear(double one, double two) {
    return !(one + two > 0.1 * fmax(fabs(one), fabs(two)));
}

/* Fills the tree, the samples, bounds and radius of a shape that is a surface. */
abut_status smooth_shape_make(const abut_context *context, contact_shape *shape, abut_error *error);
/* What it needs to meet other surfaces: its cells; and of an ellipsoid all of that, as one of six patches.
 * Nothing for other shapes. */
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

/* Pairs of cells of two surfaces which can have a place closer than reach and no deeper than depth; `one`: no
 * more than one.  With `born` only of patches where a place can be born.  False where a visit said so. */
typedef struct smooth_pair {
    const smooth_cell *x, *y;
    abut_surface_point at[2]; /* where to start from */
    vec3 ahead;               /* where a step of Newton's method leads from there, on x, in axes of y; */
    double step;              /* how far that is: infinite where there is none */
    bool one;
} smooth_pair;
typedef bool smooth_pair_visit(void *user, const smooth_pair *pair);
bool smooth_pairs(const contact_shape *x, const motion *mx, const contact_shape *y, const motion *my,
                  double reach, double depth, bool born, smooth_pair_visit *visit, void *user);

/* Moves the element e, a place on a surface of the body that moves as ms, to where the surface is deepest (a
 * plane) or closest (a point, a line) near it.  False where the surface ends on the way. */
bool smooth_descend(const abut_surface *surface, element *e, const motion *ms, const element *other,
                    const motion *mo);

/* Moves ea, a place on the surface a, and eb, one on b, to where a reaches deepest into b, or is closest to
 * it, near them: where the signed distance from b is least over a.  False where a surface ends on the way. */
bool smooth_descend_between(const contact_shape *a, element *ea, const motion *ma, const contact_shape *b,
                            element *eb, const motion *mb);

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
