/* Two boundaries while it is found out where they come near (boundary.h): what their collision has in common
 * with what faces (boundary_facing.c) and with deep overlaps (boundary_deep.c). */
#ifndef CONTACT_BOUNDARY_SEARCH_H
#define CONTACT_BOUNDARY_SEARCH_H

#include "contact/boundary.h"

typedef struct boundary_side {
    const boundary *b;
    pose frame; /* of the stored frame */
    mat3 r;
} boundary_side;

typedef struct boundary_search {
    boundary_side a, b;
    pose b_in_a;
    mat3 turn; /* A's frame to B's: turn x + shift */
    vec3 shift;
    const manifold_config *config;
    double radius;       /* what is looked at */
    double depth, slack; /* slack: rounding of places, a billionth of the size */
    bool turned;         /* the vertex, or the edge that crosses a face, is B's */
    gather *found;
} boundary_search;

/* Vertices over faces and edges across edges, nearer than `radius`; overlaps up to it, but no deeper than
 * they have a nearest face, or than `deep` where that is more. */
void boundary_find_facing(boundary_search *q, double radius, double deep);
/* Corners at edges and corners, apart. */
void boundary_find_corners(boundary_search *q);
/* After a look at what is near: the same farther, where that does not explain how deep the overlap is. */
void boundary_find_deeper(boundary_search *q);

static inline vec3 side_to_world(const boundary_side *s, vec3 x) {
    return vec3_add(mat3_mul_vec(s->r, x), s->frame.position);
}
static inline vec3 side_from_world(const boundary_side *s, vec3 x) {
    return mat3_tmul_vec(s->r, vec3_sub(x, s->frame.position));
}

/* Between the two frames. */
static inline vec3 search_to_b(const boundary_search *q, vec3 x) {
    return vec3_add(mat3_mul_vec(q->turn, x), q->shift);
}
static inline vec3 search_to_a(const boundary_search *q, vec3 x) {
    return mat3_tmul_vec(q->turn, vec3_sub(x, q->shift));
}

#endif
