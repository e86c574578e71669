/* Bodies that moved where no contact awaited them.  Pairs are looked at as far ahead as their motion at the
 * start of the step takes them; what is hit within the step goes elsewhere, and what is very fast is believed
 * only so far (live_narrow.c).  Such bodies are stopped where they first touch another on their way; their
 * velocity stays, and the next step meets the contact. */
#include "contact/cast.h"
#include "sim/live.h"

typedef struct sweeper {
    live *w;
    int body;
    bool far; /* so fast that it may have passed through */
    cast_sweep sweep;
    box end;      /* about the body where it is now */
    double first; /* time of the first touch, 0 .. 1 of the step */
} sweeper;

static const collider *collider_of(const live *w, int body) { return w->colliders[w->shape_of[body]]; }

static cast_sweep sweep_of(const live *w, int body) {
    vec3 center = w->body[body].center;
    return (cast_sweep){motion_pose(&w->starts[body], center), motion_pose(&w->motions[body], center),
                        center};
}

/* Pairs with a contact in this step were kept apart by the solver. */
static bool has_contact(const live *w, int a, int b) {
    int64_t low = 0, high = w->seen.count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        const live_seen *s = &w->seen.data[middle];
        if (s->a < a || (s->a == a && s->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == w->seen.count) return false;
    const live_seen *s = &w->seen.data[low];
    return s->a == a && s->b == b && s->contacts > 0;
}

/* Whether the balls about two bodies meet where they are now. */
static bool may_overlap(const live *w, int a, int b) {
    double r = w->radii[a] + w->radii[b];
    return !(vec3_length2(vec3_sub(w->motions[a].center, w->motions[b].center)) > r * r);
}

/* Whether two bodies overlap where they are now by more than the reach, beyond which contacts push. */
static bool overlaps_now(const sweeper *s, int other) {
    const live *w = s->w;
    manifold found[COLLIDER_ROOM];
    manifold_config config = manifold_default_config();
    if (w->body[other].bounded &&
        !box_overlap(s->end, collider_bounds(collider_of(w, other), live_pose(w, other))))
        return false;
    int n = collider_collide(collider_of(w, s->body), live_pose(w, s->body), collider_of(w, other),
                             live_pose(w, other), &config, NULL, 0, found, COLLIDER_ROOM);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < found[k].count; i++)
            if (found[k].points[i].gap < -0.5 * w->reach) return true;
    return false;
}

static bool visit(void *user, int32_t other) {
    sweeper *s = user;
    live *w = s->w;
    int a = s->body < other ? s->body : other, b = s->body < other ? other : s->body;
    if (other == s->body || (!s->far && !may_overlap(w, a, b))) return true;
    if (w->shape_of[other] < 0 || !live_may_touch(w, a, b) || has_contact(w, a, b)) return true;
    if (!s->far && !overlaps_now(s, other)) return true;
    cast_sweep theirs = sweep_of(w, other);
    abut_convex_cache cache = {0};
    cast_hit h = {0};
    if (cast_toi(collider_of(w, s->body), &s->sweep, collider_of(w, other), &theirs, 0.25 * w->reach, &cache,
                 &h) &&
        h.t > 0 && h.t < s->first)
        s->first = h.t;
    return true;
}

static void stop(live *w, int body, bool far, double astray) {
    const collider *c = collider_of(w, body);
    sweeper s = {w, body, far, sweep_of(w, body), collider_bounds(c, live_pose(w, body)), 1};
    box b = far ? box_union(collider_bounds(c, s.sweep.from), s.end) : s.end;
    for (int64_t k = 0; k < w->unbounded.count; k++) visit(&s, w->unbounded.data[k]);
    bvh_query(&w->tree, box_grow(b, w->reach + astray), visit, &s);
    if (s.first >= 1) return;
    pose p = cast_sweep_pose(&s.sweep, s.first);
    w->motions[body].rotation = p.rotation;
    w->motions[body].center = vec3_add(p.position, quat_rotate(p.rotation, w->body[body].center));
}

/* How far a body is from where it was expected, no point of it farther. */
static double astray_of(const live *w, int body) {
    const live_velocity *moved = &w->moved[body + 1];
    const live_drift *d = &w->drifts[body];
    double r = isfinite(w->radii[body]) ? w->radii[body] : 0;
    double turned = fmin(vec3_length(live_vec3(moved->w)), 2) * r;
    return vec3_distance(live_vec3(moved->v), d->way) + fmax(turned - d->swing, 0);
}

void live_stop_fast(live *w) {
    double astray = 0;
    w->strayed = 0;
    for (int i = 0; i < w->bodies; i++) {
        if (!w->movable[i + 1] && !w->body[i].kinematic) continue;
        double r = isfinite(w->radii[i]) ? w->radii[i] : 0;
        double turned = fmin(vec3_length(live_vec3(w->moved[i + 1].w)), 2) * r;
        w->strayed = fmax(w->strayed, vec3_length(live_vec3(w->moved[i + 1].v)) + turned);
        if (w->movable[i + 1]) astray = fmax(astray, astray_of(w, i));
    }
    for (int i = 0; i < w->bodies; i++) {
        if (!w->movable[i + 1] || w->shape_of[i] < 0) continue;
        double moved = vec3_length(live_vec3(w->moved[i + 1].v));
        bool far = moved > fmax(0.25 * w->size, 0.5 * w->body[i].core);
        if (far || astray_of(w, i) > 0.5 * w->reach) stop(w, i, far, astray);
    }
}
