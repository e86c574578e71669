/* Casts: rays, points and moving shapes against colliders, and the time of impact of two moving colliders.
 *
 * A moving collider turns about a point of its own that moves straight (its centre of mass):
 *
 *     x(t) = c(t) + R(t) (x - center),   c(t) = c0 + t (c1 - c0),   R(t) = unit of (1 - t) q0 + t q1
 *
 * Conservative advancement: a gap g along a unit direction n shrinks in dt by at most
 * (n . (approach of the centres) + (rate of turn) (radius)) dt; so much time can pass without touching. */
#ifndef CONTACT_CAST_H
#define CONTACT_CAST_H

#include "contact/collider.h"

typedef struct cast_sweep {
    pose from, to; /* of the shape's origin */
    vec3 center;   /* shape axes */
} cast_sweep;
/* The pose at t, 0 <= t <= 1. */
pose cast_sweep_pose(const cast_sweep *s, double t);

typedef struct cast_hit {
    double t;           /* 0 .. 1 of the sweep, or metres along a ray whose direction is a unit vector */
    vec3 point, normal; /* normal from the thing that was hit: outward */
} cast_hit;

/* The first t at which the gap is at most `target` (metres, > 0), within a tenth of it; true with t = 0 when
 * it is so from the start.  False when the colliders pass each other.  What slides along so near that 256
 * advances are not enough touches where these end; nothing is touched before out->t. */
bool cast_toi(const collider *a, const cast_sweep *sa, const collider *b, const cast_sweep *sb, double target,
              abut_convex_cache *cache, cast_hit *out);

/* The first point of the collider on origin + t d, 0 <= t <= limit (world; d any length: t in units of it).
 * A ray that starts inside hits at t = 0 with the normal against it. */
bool cast_ray(const collider *c, pose p, vec3 origin, vec3 d, double limit, cast_hit *out);

/* Signed distance of a point from the collider (negative inside), the nearest point of its boundary and the
 * outward normal there; false when it is farther than `limit`.  out->t is the distance. */
bool cast_point(const collider *c, pose p, vec3 x, double limit, cast_hit *out);

#endif
