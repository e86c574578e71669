/* Contact points of smooth patches, by Newton's method on the condition that both normals are parallel and
 * the distance runs along them. An element of kind PATCH names a patch and a place to start from; what it
 * finds is the extremal place near that start. */
#ifndef CONTACT_PATCH_H
#define CONTACT_PATCH_H

#include "abut/surface.h"
#include "contact/element.h"

/* A patch against a plane: the place where the patch reaches deepest (its normal opposite to the plane's).
 * `inside` tells whether it lies in the domain of the patch, within `slack` (metres).  False where Newton's
 * method finds none. */
bool patch_plane(const abut_surface *surface, const element *patch, const motion *ma, const element *plane,
                 const motion *mb, double slack, contact_point *out, bool *inside);

/* Two patches: places (u, v) on a and (s, t) on b with n_b . a_u = n_b . a_v = 0 and (a - b) . b_s = (a - b)
 * . b_t = 0. */
bool patch_patch(const abut_surface *surface_a, const element *a, const motion *ma,
                 const abut_surface *surface_b, const element *b, const motion *mb, double slack,
                 contact_point *out, bool *inside);

/* Starting places of a patch against a plane, or of two patches against each other, by sampling; false where
 * none is near. */
void patch_start_plane(const abut_surface *surface, element *patch, vec3 normal);
void patch_start_patch(const abut_surface *surface_a, element *a, pose a_in_b, const abut_surface *surface_b,
                       element *b);

#endif
