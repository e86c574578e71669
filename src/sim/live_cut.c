/* Steps that are cut because of what moves by itself.
 *
 * Bodies that forces move are stopped on their way where they would pass through another (live_fast.c).  One
 * that moves by itself is not stopped by anything: a bat of 20 m/s goes a third of a metre in a step, and is
 * beyond the ball before any contact is looked for there.  So where such a body comes near another that it
 * may hit, and the two come closer to each other in the step than contacts are looked for ahead, the step is
 * gone in pieces in which they do not. */
#include "sim/live.h"

enum { MOST_PIECES = 64, MOST_WORK = 16384 /* pieces of a step times bodies */ };

/* How far any point of a body goes in a time, by its velocity now. */
static double way_of(const live *w, int body, double dt, vec3 *way) {
    twist v = w->body[body].movable && w->rests[body].asleep ? (twist){{0, 0, 0}, {0, 0, 0}}
                                                             : w->motions[body].velocity;
    *way = vec3_scale(v.linear, dt);
    return fmin(vec3_length(v.angular) * dt, 2) * w->radii[body];
}

/* How often the two come closer than contacts are looked for ahead; 0: they do not meet. */
static double approach(const live *w, int driver, int body, double dt) {
    int a = driver < body ? driver : body, b = driver < body ? body : driver;
    vec3 mine, its;
    double swing = way_of(w, driver, dt, &mine), turn = way_of(w, body, dt, &its);
    double closing = vec3_distance(mine, its) + swing + turn, ahead = live_foresight(w, (live_pair){a, b});
    if (closing <= ahead || !live_may_touch(w, a, b)) return 0;
    box swept = collider_bounds(w->colliders[w->shape_of[driver]], live_pose(w, driver));
    vec3 zero = vec3_zero();
    swept.lower = vec3_add(swept.lower, vec3_min(mine, zero));
    swept.upper = vec3_add(swept.upper, vec3_max(mine, zero));
    double near = swing + turn + vec3_length(its) + w->radii[body] + w->reach;
    vec3 center = w->motions[body].center;
    return box_overlap(box_grow(swept, near), (box){center, center}) ? ceil(closing / ahead) : 0;
}

int live_pieces(live *w, double dt) {
    double most = 1;
    w->motions = run_motions(w->run->state);
    for (int i = 0; i < w->bodies; i++) {
        vec3 way;
        if (!w->body[i].kinematic || w->shape_of[i] < 0 || !w->body[i].bounded) continue;
        if (way_of(w, i, dt, &way) + vec3_length(way) <= LIVE_FORESIGHT * w->size) continue;
        for (int k = 0; k < w->bodies; k++)
            if (w->body[k].movable && w->shape_of[k] >= 0) most = fmax(most, approach(w, i, k, dt));
    }
    return (int)fmin(fmin(most, MOST_PIECES), fmax(1, MOST_WORK / w->bodies));
}
