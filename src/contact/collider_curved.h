/* A solid with dents (A) and a cylinder or an ellipsoid (B), while their contacts are collected.
 *
 * What can touch of A are its own faces, convex edges and vertices; what lies inside (the faces between the
 * cells of its index) is no feature of the boundary and cannot answer.  With x(n) the point of B that lies
 * farthest against n, and y a point of A,
 *
 *     g(n) = n . (x(n) - y)        is the gap between B and the plane through y with the normal n.
 *
 * A place where the two touch, or are nearest, or out of which the way is shortest, is a largest g(n) over
 * the normals that A has at y: one for a face, the arc between two for a convex edge, a cone for a vertex.
 *
 * Apart, each such place is a contact.  Where they overlap, g < 0, it is a way out of the length d = -g, and
 * one has to know whether B must take it (collider_ways.c).  All is in A's stored frame. */
#ifndef CONTACT_COLLIDER_CURVED_H
#define CONTACT_COLLIDER_CURVED_H

#include "contact/collider_parts.h"

enum { CURVED_POINTS = 64, CURVED_WAYS = 256 };

typedef struct curved_point {
    vec3 x; /* of B; the point of A is x - gap n */
    double gap;
    abut_feature a, b;
} curved_point;

/* A place: points with one normal, from A to B. */
typedef struct curved_place {
    vec3 n;
    int count;
    curved_point points[CURVED_POINTS];
} curved_place;

/* A way out of the length -gap. */
typedef struct curved_way {
    vec3 n;
    curved_point at;
    bool counts;   /* it is a contact */
    bool is_real;  /* if not: there is an overlap, at least */
    bool is_tried; /* deep inside */
} curved_way;

typedef struct curved_search {
    const collider *a, *b;
    const boundary *boundary;
    const abut_convex *shape;
    const manifold_config *config;
    pose frame, pb;     /* A's stored frame in the world; B in that frame */
    mat3 turn;          /* of pb */
    double size, slack; /* of both; rounding of places */
    bool is_deep;       /* ways out of any length are looked for, and nothing else */
    gather *found;
    curved_way ways[CURVED_WAYS]; /* the shortest of them, in the order in which they came */
    int way_count;
    curved_way corner; /* of the vertex of A that is deepest in B, if there is one: its shortest way */
} curved_search;

/* The point of B farthest along d. */
static inline vec3 curved_support(const curved_search *q, vec3 d) {
    return vec3_add(q->pb.position,
                    mat3_mul_vec(q->turn, shape_support_curved(q->shape, mat3_tmul_vec(q->turn, d))));
}

static inline void curved_add(curved_place *p, vec3 x, double gap, abut_feature a, abut_feature b) {
    if (p->count < CURVED_POINTS) p->points[p->count++] = (curved_point){x, gap, a, b};
}

/* ---- collider_curved.c: all places whose features come near the box */
void curved_find(curved_search *q, box near);

/* ---- collider_curved_flat.c: where B is flat (the end of a cylinder, a line of its mantle) and faces -n
 * within the angle of the configuration, points where that meets the face or the edge of A, seen along n */
void curved_points_on_face(const curved_search *q, int32_t face, curved_place *out);
void curved_points_on_edge(const curved_search *q, int32_t edge, curved_place *out);

/* ---- collider_ways.c */

/* A place that was found: contacts, ways out. */
void curved_offer(curved_search *q, const curved_place *p);
/* After all places are known: of the ways of which nothing is proved those that count, and a farther look
 * where none does though the two overlap. */
void curved_settle(curved_search *q);
/* The shortest way out of a deep overlap, told as deep as is proved. */
void curved_leave(curved_search *q);

#endif
