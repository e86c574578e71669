/* Colliders: shapes made ready for the live clock.  One immutable block of things for each shape of a model,
 * shared by all bodies that have it; a collision of two of them gives manifolds, as many as there are places
 * where they come near:
 *
 *   convex        hull of a convex solid, sphere, capsule, cylinder, ellipsoid: one manifold
 *                 (contact/manifold.h)
 *   half-space    lowest feature of the other shape; of a solid with dents that is a feature of its hull
 *   cavity        the world outside a ball: the farthest points of the other shape, each with its own normal
 *   boundary      a solid with dents: its own vertices, convex edges and faces (boundary.h; against cylinders
 *                 and ellipsoids collider_curved.h), with the index to tell inside from outside
 *   surface       a smooth surface: closest points
 *
 * Poses are those of the shape's origin.  Nothing is allocated after creation, so collisions run in any
 * number of threads at once. */
#ifndef CONTACT_COLLIDER_H
#define CONTACT_COLLIDER_H

#include "abut/world.h"
#include "contact/manifold.h"

typedef struct collider collider;

/* ABUT_INVALID names a shape that cannot take part.  The shape's solid or surface must outlive the collider.
 */
abut_status collider_create(const abut_context *context, const abut_shape *shape, collider **out,
                            abut_error *error);
void collider_free(const abut_context *context, collider *c);

/* Moves colliders with their hulls into one block, in their order, so that thousands of different ones lie on
 * few pages; `all` then points there.  They are freed one by one as before, and the block after them.  False:
 * no memory, and they stay where they are. */
typedef struct collider_block {
    void *data;
    size_t bytes;
} collider_block;
bool collider_gather(const abut_context *context, collider **all, int count, collider_block *out);
void collider_block_free(const abut_context *context, collider_block *b);

/* Half-spaces and cavities reach to infinity. */
bool collider_is_bounded(const collider *c);
/* A box around the shape at a pose; infinite for an unbounded one. */
box collider_bounds(const collider *c, pose p);
/* Asks the memory for what collider_bounds is going to read: first the collider, some bodies later its hull,
 * then the vertices; or, for collider_collide, all of a small hull.  Heaps of thousands of different hulls do
 * not fit into a cache. */
typedef enum collider_stage {
    COLLIDER_ITSELF,
    COLLIDER_HULL,
    COLLIDER_VERTICES,
    COLLIDER_ALL
} collider_stage;
void collider_prefetch(const collider *c, collider_stage stage);
/* Radius of the ball about `center` (shape axes) that holds the shape; infinity for an unbounded one. */
double collider_radius(const collider *c, vec3 center);
/* Radius of a ball that fits inside, or about: a body that moves less in a step cannot jump through another.
 */
double collider_core(const collider *c);
/* Whether a collision with it is cheap: convex, or with few features. */
bool collider_is_light(const collider *c);

/* How many manifolds two colliders can give at most (at least 1): the room that collider_collide wants. */
enum { COLLIDER_ROOM = 16 };
int collider_room(const collider *a, const collider *b);

/* All manifolds of a pair, count at most `room`; normals from B to A.  `caches` are the pair's memory, zero
 * at first: any number of them (1 is enough for convex pairs, NULL and 0 for none); part pairs share them by
 * key.  `key` of a manifold names the parts, `id` of a point is unique among all points of the pair and stays
 * while it moves a little: match points by id alone. */
int collider_collide(const collider *a, pose pa, const collider *b, pose pb, const manifold_config *config,
                     abut_convex_cache *caches, int cache_count, manifold *out, int room);

/* Of a surface: the patch nearest to the point x, shape axes. */
int32_t collider_surface_patch(const collider *c, vec3 x);

#endif
