/* Contact points of smooth patches, by Newton's method on the condition that both normals are parallel and
 * the distance runs along them. An element of kind PATCH names a patch and a place to start from; what it
 * finds is the extremal place near that start. */
#ifndef CONTACT_PATCH_H
#define CONTACT_PATCH_H

#include "abut/surface.h"
#include "contact/element.h"

/* Where on a patch, and how fast that place moves over it. */
typedef struct patch_place {
    double u, v, u_rate, v_rate;
    int rounds; /* of Newton's method that it took */
} patch_place;

/* A patch against a plane: the place where the patch reaches deepest (its normal opposite to the plane's).
 * `inside` tells whether it lies in the domain of the patch, within `slack` (metres).  False where Newton's
 * method finds none.  places (may be NULL) receives the place on a, and of patch_patch that on b. */
bool patch_plane(const abut_surface *surface, const element *patch, const motion *ma, const element *plane,
                 const motion *mb, double slack, contact_point *out, bool *inside, patch_place *places);

/* From a saddle of the depth along the normal n (axes of the patch), or a place whose smaller curvature is at
 * most `flat` of the larger, down to where the patch is deepest near it: *e moves there.  False where the
 * place is neither. */
bool patch_descend(const abut_surface *surface, element *e, vec3 n, double flat);

/* Two patches: places (u, v) on a and (s, t) on b with n_b . a_u = n_b . a_v = 0 and (a - b) . b_s = (a - b)
 * . b_t = 0. */
bool patch_patch(const abut_surface *surface_a, const element *a, const motion *ma,
                 const abut_surface *surface_b, const element *b, const motion *mb, double slack,
                 contact_point *out, bool *inside, patch_place *places);

/* One step of Newton's method for two patches, (u, v, s, t) += step, from the partials to second order at the
 * two places, in the same axes.  False where the place is not isolated. */
bool patch_patch_step(const abut_partials *a, const abut_partials *b, double step[4]);
/* Partials turned and shifted into other axes. */
abut_partials patch_moved(const abut_partials *p, mat3 r, vec3 shift);

/* A patch (of the body that moves as ma) against a point or a line with an offset r, a circle of radius r, or
 * a cavity (smooth_point.c); *t receives the parameter of a line.  The normal points from b to a. */
bool patch_point(const abut_surface *surface, const element *patch, const motion *ma, const element *point,
                 const motion *mb, double slack, contact_point *out, bool *inside, patch_place *places,
                 double *t);

/* The n x n system of a place (n <= 4); x becomes the solution.  False where the place is not isolated. */
bool patch_solve(int n, double m[4][4], double *x);
/* Whether (u, v) lies in the domain of the patch, within `slack` metres. */
bool patch_is_inside(const abut_surface *surface, int patch, double u, double v, const abut_partials *p,
                     double slack);
/* Whether a search that walks over the atlas goes on in the next patch: it has gone far beyond the domain of
 * its patch, or has been outside for three rounds (*beyond counts them).  The place may be there only: the
 * curvature can jump at the border, so that this patch, going on as its polynomial does, has none. */
static inline bool patch_walks_off(const abut_surface *surface, const element *e, double u, double v,
                                   int *beyond) {
    if (e->branch <= 0) return false;
    double outside = abut_surface_outside(surface, (abut_surface_point){e->patch, u, v}, NULL);
    *beyond = outside > 1e-6 ? *beyond + 1 : 0;
    return outside > 0.25 || *beyond >= 3;
}
/* A Newton step of at most half a unit in each parameter, so that a start far away does not jump over
 * patches; returns its size. */
double patch_limit_step(double *step, int n);
/* Rounds of Newton's method on a patch, and of a search that walks over the atlas, from patch to patch.  A
 * place that is there takes 3 to 6 on its patch, where surfaces nearly conform up to 30. */
enum { PATCH_ROUNDS = 40, PATCH_ROUNDS_OF_WALK = 100 };
static inline int patch_rounds(const element *e) {
    return e->branch > 0 && e->branch < PATCH_ROUNDS ? e->branch : PATCH_ROUNDS;
}
/* Newton's method has done all it can after a step below this: the next one would be of the order of its
 * square.  After all rounds a step below the second is taken for a place, too. */
#define PATCH_CONVERGED 1e-10
#define PATCH_CONVERGES 1e-7

#endif
