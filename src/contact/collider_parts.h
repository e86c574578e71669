/* What the files of a collider share. */
#ifndef CONTACT_COLLIDER_PARTS_H
#define CONTACT_COLLIDER_PARTS_H

#include "abut/surface.h"
#include "contact/boundary.h"
#include "contact/cast.h"
#include "contact/collider.h"
#include "convex/shape.h"

typedef enum collider_kind {
    COLLIDER_NONE, /* touches nothing */
    COLLIDER_CONVEX,
    COLLIDER_HALFSPACE,
    COLLIDER_CAVITY,
    COLLIDER_BOUNDARY,
    COLLIDER_SURFACE
} collider_kind;

/* The convex cells of a solid's index, as hulls. */
typedef struct collider_cells {
    abut_hull **hulls;
    int32_t count, room;
    box_tree tree; /* shape axes */
} collider_cells;

struct collider { /* first what a box asks for: one line of the cache */
    collider_kind kind;
    bool gathered;   /* it and its hull lie in a block with others */
    abut_hull *hull; /* owned unless gathered: of a solid */
    box bounds;      /* shape axes */
    double core;
    abut_shape shape;
    manifold_shape convex;   /* of a half-space: itself; of a solid with dents: its hull */
    boundary boundary;       /* of a solid */
    collider_cells cells;    /* of a solid with dents */
    abut_surface_tree *tree; /* of a surface */
};

/* collider_cavity.c: A inside the ball of B, normals towards its centre. */
int collider_collide_cavity(const collider *a, pose pa, const collider *b, pose pb,
                            const manifold_config *config, manifold *out, int room);

/* collider_cells.c */
abut_status collider_cells_create(const abut_context *context, const boundary *b, collider_cells *out,
                                  abut_error *error);
void collider_cells_free(const abut_context *context, collider_cells *c);
/* Whether a round shape at a pose, with these bounds (shape axes of the solid), has a part of it. */
bool collider_cells_meet(const collider_cells *cells, const abut_convex *shape, pose at, box bounds);

/* collider_curved.c: A is a solid with dents, B a cylinder or an ellipsoid. */
int collider_collide_curved(const collider *a, pose pa, const collider *b, pose pb,
                            const manifold_config *config, manifold *out, int room);

/* B is a sphere or a capsule, too: one contact, the way out of a deep overlap. */
int collider_leave(const collider *a, pose pa, const collider *b, pose pb, const manifold_config *config,
                   manifold *out, int room);

/* collider_surface.c: A is a smooth surface. */
abut_status collider_surface_create(const abut_context *context, collider *c, abut_error *error);
int collider_collide_surface(const collider *a, pose pa, const collider *b, pose pb,
                             const manifold_config *config, manifold *out, int room);
/* The nearest point of the surface (shape axes), the outward normal there, and the signed distance. */
bool collider_surface_nearest(const collider *c, vec3 x, vec3 *on, vec3 *normal, double *distance);
bool collider_surface_ray(const collider *c, vec3 o, vec3 d, double limit, double *t, vec3 *normal);

#endif
