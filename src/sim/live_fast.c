/* Bodies that moved where no contact awaited them.  Pairs are looked at as far ahead as their motion at the
 * start of the step takes them; what is hit within the step goes elsewhere, and what is very fast is believed
 * only so far (live_narrow.c).  Such bodies are stopped where they first touch another on their way; their
 * velocity stays, and the next step meets the contact.
 *
 * A pair that has contacts was kept apart by the solver at their points; where the two moved farther against
 * each other than points are believed, other features may have met: there they are put back to where they
 * overlap little deeper than where the step began.  What the points know now is no measure of it: those that
 * are found anew within the step are as deep as the bodies are by then.  Nor is where they are now: what is
 * struck at a corner swings its other end through a thin plate, and is beyond it when the step ends.  So the
 * way is looked at as well.
 *
 * A body that is put back may come into a third one, with which it had no quarrel where it was.  So those
 * that were put back are looked at again, against all that is near them, each on the way that is left to it:
 * where a pair overlaps deeper than allowed, both go farther back.  Ways only get shorter, and where all are
 * nothing the step began; a few rounds do. */
#include "contact/cast.h"
#include "sim/live.h"

enum { HALVINGS = 8, ROUNDS = 4, MOST_PIECES = 64 };
/* Of the smaller core: the pieces of a way, and how deep the two are where one passes through the other. The
 * straight way between two places on the other's boundary is not as deep: what gravity holds there is bent by
 * g dt^2 / 8, a third of a millimetre, and what turns by LITTLE about a corner by a thirtieth of its radius.
 */
#define PIECE   0.2
#define THROUGH 0.2
#define LITTLE  0.5
#define ALL_BUT \
    0.98 /* of its time: a pair that was put back and overlaps only after that stays where it is */

typedef struct sweeper {
    live *w;
    int body;
    bool far;   /* so fast that it may have passed through */
    bool again; /* it was put back: where it is now matters, and nothing else */
    cast_sweep sweep;
    double first; /* time of the first touch, 0 .. 1 of the step */
    int other;    /* with whom */
} sweeper;

static const collider *collider_of(const live *w, int body) { return w->colliders[w->shape_of[body]]; }

/* Until when a body goes along its way. */
static double time_of(const live *w, int body) { return w->put_back[body] ? w->stops[body].time : 1; }

static cast_sweep sweep_of(const live *w, int body) {
    vec3 center = w->body[body].center;
    pose end = w->put_back[body] ? w->stops[body].end : motion_pose(&w->motions[body], center);
    return (cast_sweep){motion_pose(&w->starts[body], center), end, center};
}

static pose pose_at(const live *w, int body, const cast_sweep *sweep, double s) {
    return cast_sweep_pose(sweep, fmin(s, time_of(w, body)));
}

/* Links are sorted by their bodies: those whose first body is i are w->first_link[i] .. [i + 1] - 1. */
static void index_links(live *w) {
    int64_t k = 0;
    for (int i = 0; i <= w->bodies; i++) {
        while (k < w->links.count && w->links.data[k].a < i) k++;
        w->first_link[i] = (int32_t)k;
    }
}

/* Whether a pair has contacts in this step. */
static bool has_contacts(const live *w, int a, int b) {
    int32_t low = w->first_link[a], end = w->first_link[a + 1], high = end;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (w->links.data[middle].b < b)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && w->links.data[low].b == b;
}

/* Whether the balls about two bodies meet where they are now. */
static bool may_overlap(const live *w, int a, int b) {
    double r = w->radii[a] + w->radii[b];
    return !(vec3_length2(vec3_sub(w->motions[a].center, w->motions[b].center)) > r * r);
}

/* Whether they met anywhere on their way: the centre of one, as the other sees it, on the straight way. */
static bool may_have_met(const live *w, int a, int b) {
    vec3 from = vec3_sub(w->starts[a].center, w->starts[b].center),
         way = vec3_sub(vec3_sub(w->motions[a].center, w->motions[b].center), from);
    double r = w->radii[a] + w->radii[b], all = vec3_length2(way);
    double t = all > 0 ? fmin(1, fmax(0, -vec3_dot(from, way) / all)) : 0;
    return !(vec3_length2(vec3_axpy(from, t, way)) > r * r);
}

/* The least gap of two colliders, no farther than the reach. */
static double least_gap(const live *w, int a, pose at_a, int b, pose at_b) {
    manifold found[COLLIDER_ROOM];
    manifold_config config = manifold_default_config();
    double least = w->reach;
    int n = collider_collide(collider_of(w, a), at_a, collider_of(w, b), at_b, &config, NULL, 0, found,
                             COLLIDER_ROOM);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < found[k].count; i++) least = fmin(least, found[k].points[i].gap);
    return least;
}

/* The box about a body where it is now, made when somebody asks for it. */
static const box *end_of(live *w, int body) {
    if (!w->ended[body]) w->ends[body] = collider_bounds(collider_of(w, body), live_pose(w, body));
    w->ended[body] = true;
    return &w->ends[body];
}

/* Whether two bodies overlap where they are now by more than half the reach. */
static bool overlaps_now(const sweeper *s, int other) {
    live *w = s->w;
    if (w->body[other].bounded && !box_overlap(*end_of(w, s->body), *end_of(w, other))) return false;
    return least_gap(w, s->body, live_pose(w, s->body), other, live_pose(w, other)) < -0.5 * w->reach;
}

/* ---- pairs with contacts */

/* How far any point of the two has moved against the other body. */
static double way_between(const live *w, int a, int b) {
    const live_velocity *x = &w->moved[a + 1], *y = &w->moved[b + 1];
    double radius = fmin(w->radii[a], w->radii[b]);
    return vec3_length(live_vec3(x->v - y->v)) + vec3_length(live_vec3(x->w - y->w)) * radius;
}

/* Whether that is farther than contact points are believed.  Of solids with dents and of rims others face
 * each other after a turn by less than a tenth of a radian, so theirs are believed no farther than the reach.
 */
static bool went_far(const live *w, int a, int b, double way) {
    bool plain = w->alone[a] && w->alone[b] && !w->body[a].rims && !w->body[b].rims;
    return way > (plain ? LIVE_FORESIGHT * w->size : w->reach);
}

static double way_of(const live *w, int body) { return vec3_length(live_vec3(w->moved[body + 1].v)); }

static bool goes_far(const live *w, int body) {
    return way_of(w, body) > fmax(LIVE_FORESIGHT * w->size, 0.5 * w->body[body].core);
}

/* The first touch; of several at once that with the lowest number, in whatever order the tree gives them. */
static void note(sweeper *s, double t, int other) {
    if (s->other < 0 || t < s->first || (t == s->first && other < s->other)) s->first = t, s->other = other;
}

/* How deep a pair may be: half the reach deeper than where the step began, and below the whole reach no
 * deeper than it was.  (With half the reach in each step a pair that something holds sank in for ever.) */
static double allowed_gap(const live *w, double began) {
    return fmax(fmin(began, 0) - 0.5 * w->reach, fmin(began, -w->reach));
}

/* The gap at a time of the step, each body no farther than it goes. */
static double gap_at(const sweeper *s, int other, const cast_sweep *theirs, double t) {
    const live *w = s->w;
    return least_gap(w, s->body, pose_at(w, s->body, &s->sweep, t), other, pose_at(w, other, theirs, t));
}

/* When the centre of mass of a body, as the other sees it, comes to the other's boundary on the straight way;
 * 1: never. */
static double crossing(const live *w, int body, const cast_sweep *mine, int other, const cast_sweep *theirs) {
    if (!w->body[other].bounded || !w->body[body].bounded) return 1; /* those have only one side */
    vec3 from = pose_unpoint(theirs->from, pose_point(mine->from, w->body[body].center)),
         to = pose_unpoint(theirs->to, pose_point(mine->to, w->body[body].center));
    cast_hit hit;
    bool hits = cast_ray(collider_of(w, other), pose_identity(), from, vec3_sub(to, from), 1, &hit);
    return hits && hit.t > 0 ? hit.t : 1;
}

/* A time up to `last` at which the two overlap deeper than they may, since one passes through the other or
 * where they are now; 0: there is none.  That one passes the other's centre of mass tells, whatever turns it
 * made; of solids with dents, which have other parts to pass through, so does how deep they are on the way,
 * as long as they turn little. */
static double deep_time(const sweeper *s, int other, const cast_sweep *theirs, double last, double way,
                        double *began) {
    const live *w = s->w;
    double now = least_gap(w, s->body, live_pose(w, s->body), other, live_pose(w, other));
    double cross =
        fmin(crossing(w, s->body, &s->sweep, other, theirs), crossing(w, other, theirs, s->body, &s->sweep));
    double core = fmin(w->body[s->body].core, w->body[other].core);
    four turn = w->moved[s->body + 1].w - w->moved[other + 1].w;
    bool plain = w->alone[s->body] && w->alone[other], turns = vec3_length(live_vec3(turn)) > LITTLE;
    int pieces = plain || turns ? 1 : (int)fmin(ceil(way / (PIECE * core)), MOST_PIECES);
    if (cross == 1 && pieces <= 1 && now >= -0.5 * w->reach) return 0;
    *began = gap_at(s, other, theirs, 0);
    double allowed = allowed_gap(w, *began), through = fmin(allowed, -THROUGH * core);
    if (cross < 1 && gap_at(s, other, theirs, cross) < allowed) return cross;
    for (int i = 1; i < pieces; i++)
        if (gap_at(s, other, theirs, last * i / pieces) < through) return last * i / pieces;
    return now < allowed ? last : 0;
}

/* The first time at which the pair overlaps deeper than it may, by bisection: so the next step sees where it
 * does.  What the narrow phase tells may jump, and a pair that went back to just before it would be there
 * again at the end of the next step, for ever. */
static void put_back(sweeper *s, int other, double way) {
    const live *w = s->w;
    cast_sweep theirs = sweep_of(w, other);
    double last = fmax(time_of(w, s->body), time_of(w, other)), began = 0, low = 0;
    double high = deep_time(s, other, &theirs, last, s->again ? 0 : way, &began);
    if (high == 0) return;
    double allowed = allowed_gap(w, began);
    for (int i = 0; i < HALVINGS; i++) {
        double t = (low + high) / 2;
        *(gap_at(s, other, &theirs, t) >= allowed ? &low : &high) = t;
    }
    if (s->again && high > ALL_BUT * last) return;
    note(s, high, other);
}

/* The first touch of two between two times, no one stopping in between. */
static bool touch_between(sweeper *s, int other, const cast_sweep *theirs, double from, double to,
                          double *t) {
    const live *w = s->w;
    cast_sweep a = {pose_at(w, s->body, &s->sweep, from), pose_at(w, s->body, &s->sweep, to),
                    s->sweep.center};
    cast_sweep b = {pose_at(w, other, theirs, from), pose_at(w, other, theirs, to), theirs->center};
    abut_convex_cache cache = {0};
    cast_hit h = {0};
    if (!cast_toi(collider_of(w, s->body), &a, collider_of(w, other), &b, 0.25 * w->reach, &cache, &h))
        return false;
    *t = from + h.t * (to - from);
    return true;
}

/* The first touch of two that have no contacts: until the first of them stops, and after that.  Those that
 * touch where the step began are none of it. */
static void find_touch(sweeper *s, int other) {
    const live *w = s->w;
    cast_sweep theirs = sweep_of(w, other);
    double mine = time_of(w, s->body), its = time_of(w, other), first = fmin(mine, its),
           last = fmax(mine, its);
    double t = 0;
    bool touches = first > 0 && touch_between(s, other, &theirs, 0, first, &t);
    if (!touches && last > first) touches = touch_between(s, other, &theirs, first, last, &t);
    if (touches && t > 0) note(s, t, other);
}

static bool visit(void *user, int32_t other) {
    sweeper *s = user;
    live *w = s->w;
    int a = s->body < other ? s->body : other, b = s->body < other ? other : s->body;
    if (other == s->body || w->shape_of[other] < 0 || !live_may_touch(w, a, b)) return true;
    if (s->again || has_contacts(w, a, b)) {
        double way = way_between(w, a, b);
        if (s->again ? may_overlap(w, a, b) : went_far(w, a, b, way) && may_have_met(w, a, b))
            put_back(s, other, way);
        return true;
    }
    if (!s->far && !may_overlap(w, a, b)) return true;
    if (s->far || overlaps_now(s, other)) find_touch(s, other);
    return true;
}

/* A body that goes back by d against the forces F on it has not had from them what they gave it on that way:
 * of its speed u along F goes back  u^2 -> u^2 + 2 F . d / m,  as for a stone that is back where it was.
 * (With the velocity of the whole step a body that falls fast gained its weight times the way that it lost,
 * up to a twentieth of all energy.) */
static void give_back(live *w, int body, vec3 d) {
    vec3 force = w->constant[body].linear;
    double f = vec3_length(force);
    if (!(f > 0)) return;
    vec3 along = vec3_scale(force, 1 / f);
    live_velocity *v = &w->velocities[body + 1];
    double inverse = w->body[body].inertia.inverse_mass;
    double u = vec3_dot(live_vec3(v->v), along), way = vec3_dot(along, d);
    if (u * way >= 0) return;
    double square = u * u + 2 * f * inverse * way;
    double speed = square > 0 ? sqrt(square) : 0;
    vec3 change = vec3_scale(along, (u < 0 ? -speed : speed) - u);
    v->v += live_four(change);
    w->given_back = vec3_axpy(w->given_back, 1 / inverse, change);
}

static void put_at(live *w, int body, double t) {
    if (t >= time_of(w, body)) return;
    cast_sweep way = sweep_of(w, body);
    pose p = cast_sweep_pose(&way, t);
    vec3 center = vec3_add(p.position, quat_rotate(p.rotation, w->body[body].center));
    give_back(w, body, vec3_sub(center, w->motions[body].center));
    w->motions[body].rotation = p.rotation, w->motions[body].center = center;
    w->stops[body] = (live_stop){way.to, t};
    w->ended[body] = false;
    w->put_back[body] = true, w->seeks_again[body] = w->shape_of[body] >= 0;
}

/* What hangs on hinges goes back together, of a large island the mechanism; they are closed afterwards
 * (live_close.c). */
static void put_island_at(live *w, int body, double t) {
    int count;
    if (!w->hinged[body + 1]) {
        const int *bodies = live_mechanism(w, body, &count);
        if (count == 0) put_at(w, body, t);
        for (int k = 0; k < count; k++) put_at(w, bodies[k], t);
        return;
    }
    const live_island *s = &w->islands.data[w->rests[body].island];
    for (int k = 0; k < s->body_count; k++) put_at(w, w->island_bodies.data[s->first_body + k], t);
}

/* Both bodies go back to when they touched: one that went on alone might end within the other. */
static void stop(live *w, int body, bool again, const int *around, int count) {
    sweeper s = {w, body, !again && goes_far(w, body), again, sweep_of(w, body), 1, -1};
    for (int64_t k = 0; k < w->unbounded.count; k++) visit(&s, w->unbounded.data[k]);
    for (int k = 0; k < count; k++) visit(&s, around[k]);
    if (s.other < 0) return;
    put_island_at(w, body, s.first);
    if (w->movable[s.other + 1]) put_island_at(w, s.other, s.first);
}

/* How far turning has carried any point of a body. */
static double turned_by(const live *w, int body) {
    double r = isfinite(w->radii[body]) ? w->radii[body] : 0;
    return fmin(vec3_length(live_vec3(w->moved[body + 1].w)), 2) * r;
}

/* How far a body is from where it was expected, no point of it farther. */
static double astray_of(const live *w, int body) {
    const live_drift *d = &w->drifts[body];
    return vec3_distance(live_vec3(w->moved[body + 1].v), d->way) + fmax(turned_by(w, body) - d->swing, 0);
}

/* ---- who may be in whose way
 *
 * Pairs of fat boxes that meet are known (`near`), and a body is in its fat box, unless it went astray.  One
 * that has left it gets another, about the expected way and the real one, and its pairs anew. */

static bool leaves_box(live *w, int body) {
    if (w->leaves[body] == BVH_NONE) return false;
    double swing = fmax(turned_by(w, body) - w->drifts[body].swing, 0);
    box end = box_grow(collider_bounds(collider_of(w, body), live_pose(w, body)), swing);
    vec3 ahead = vec3_scale(live_vec3(w->velocities[body + 1].v), 2 * w->dt);
    return bvh_move(&w->tree, w->leaves[body], box_union(w->boxes[body], end), LIVE_MARGIN * w->size, ahead);
}

/* The bodies near each one that seeks: in `around` from w->buckets[i] to w->buckets[i + 1] - 1. */
static bool list_around(live *w) {
    int n = w->bodies;
    if (!array_reserve(w->context, &w->buckets, n + 2)) return false;
    int *first = w->buckets.data;
    memset(first, 0, ((size_t)n + 2) * sizeof *first);
    for (int64_t i = 0; i < w->near.count; i++) {
        live_pair p = w->near.data[i];
        first[p.a + 2] += w->seeks[p.a], first[p.b + 2] += w->seeks[p.b];
    }
    for (int i = 0; i < n; i++) first[i + 2] += first[i + 1];
    if (!array_reserve(w->context, &w->around, first[n + 1] + 1))
        return false; /* never none: it is pointed into */
    for (int64_t i = 0; i < w->near.count; i++) {
        live_pair p = w->near.data[i];
        if (w->seeks[p.a]) w->around.data[first[p.a + 1]++] = p.b;
        if (w->seeks[p.b]) w->around.data[first[p.b + 1]++] = p.a;
    }
    return true;
}

/* Whether it went half as far as points of any pair are believed (live_narrow.c): of two that went farther
 * against each other one did. */
static bool goes_half(const live *w, int body) {
    return way_of(w, body) + turned_by(w, body) > 0.125 * w->size;
}

/* Notes who looks for others in its way: what went half as far as is foreseen, or is astray by more than
 * boxes allow for. */
static bool find_seekers(live *w, bool *any) {
    bool left = false;
    w->strayed = 0, *any = false;
    for (int i = 0; i < w->bodies; i++) {
        w->seeks[i] = w->roams[i] = false;
        if (!w->movable[i + 1] && !w->body[i].kinematic) continue;
        w->strayed = fmax(w->strayed, vec3_length(live_vec3(w->moved[i + 1].v)) + turned_by(w, i));
        if (!w->movable[i + 1] || w->shape_of[i] < 0) continue;
        bool astray = astray_of(w, i) > 0.5 * w->reach;
        w->seeks[i] = astray || goes_half(w, i), w->roams[i] = astray && leaves_box(w, i);
        *any |= w->seeks[i], left |= w->roams[i];
    }
    return !left || live_update_near(w);
}

#define RENEWED                                                                                \
    0.02 /* radians: contacts of pairs that turned by less were not found anew within the step \
          */

static bool may_be_renewed(const live *w, live_pair p) {
    four turned = w->moved[p.a + 1].w - w->moved[p.b + 1].w;
    return w->turns[p.a + 1] || w->turns[p.b + 1] || vec3_length(live_vec3(turned)) > RENEWED;
}

/* Contacts that were found anew within the step belong to where the bodies were by then.  A pair that is put
 * back may be where it was last looked at, and they must not be taken for those of that place. */
static void forget_put_back(live *w) {
    for (int64_t i = 0; i < w->known.list.count; i++) {
        live_pair p = w->known.list.data[i];
        if ((w->put_back[p.a] || w->put_back[p.b]) && may_be_renewed(w, p))
            w->seen.data[w->known.slots.data[i]].position = vec3_make(INFINITY, 0, 0);
    }
}

bool live_stop_fast(live *w) {
    bool any, sought;
    if (!find_seekers(w, &any)) return false;
    sought = any;
    if (any) {
        memset(w->put_back, 0, (size_t)w->bodies), memset(w->ended, 0, (size_t)w->bodies);
        index_links(w);
    }
    for (int round = 0; any && round < ROUNDS; round++) {
        if (!list_around(w)) return false;
        const int *first = w->buckets.data;
        memset(w->seeks_again, 0, (size_t)w->bodies);
        for (int i = 0; i < w->bodies; i++)
            if (w->seeks[i]) stop(w, i, round > 0, w->around.data + first[i], first[i + 1] - first[i]);
        memcpy(w->seeks, w->seeks_again, (size_t)w->bodies);
        any = memchr(w->seeks, true, (size_t)w->bodies);
    }
    if (sought) forget_put_back(w);
    return !sought || live_close_put_back(w, &w->error) == ABUT_OK;
}
