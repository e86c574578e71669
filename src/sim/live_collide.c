/* What a pair's contacts are: manifolds with the impulses of those that were there before.  Points are found
 * again by their ids; what has another id now hands its impulse over. */
#include "sim/live.h"

enum { BEARING_ROOM = COLLIDER_ROOM * MANIFOLD_POINTS };
#define FLAT 0.995 /* cosine of a tenth of a radian: two normals of one and the same contact */

void live_place_again(const live *w, live_contact *c) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    c->normal = quat_rotate(b->rotation, c->normal_b);
    for (int i = 0; i < c->count; i++) {
        live_point *p = &c->points[i];
        vec3 x = vec3_add(a->center, quat_rotate(a->rotation, p->on_a));
        vec3 y = vec3_add(b->center, quat_rotate(b->rotation, p->on_b));
        p->gap = vec3_dot(c->normal, vec3_sub(x, y));
    }
}

/* ---- new points */

static const live_load *find_id(const live_contact *old, int count, uint64_t id) {
    for (int k = 0; k < count; k++)
        for (int i = 0; i < old[k].count; i++)
            if (old[k].points[i].id == id) return &old[k].loads[i];
    return NULL;
}

static const live_contact *find_key(const live_contact *old, int count, uint64_t key, bool only) {
    for (int k = 0; k < count; k++)
        if (old[k].key == key || only) return &old[k];
    return NULL;
}

/* Impulses of old points that no new one has the id of go to the new points without one, nearest first (or to
 * the nearest of all, where there are fewer points now): on aligned edges a corner may be told as vertex on
 * face or as edge across edge, and a stack that loses the impulse for a moment is a stack that jumps. */
static void hand_over(live_contact *c, const live_contact *last) {
    bool fresh[MANIFOLD_POINTS];
    for (int i = 0; i < c->count; i++) fresh[i] = !find_id(last, 1, c->points[i].id);
    for (int k = 0; k < last->count; k++) {
        const live_point *from = &last->points[k];
        if (find_id(c, 1, from->id)) continue;
        int best = -1;
        double nearest = INFINITY;
        for (int pass = 0; pass < 2 && best < 0; pass++)
            for (int i = 0; i < c->count; i++) {
                double d = vec3_length2(vec3_sub(c->points[i].on_a, from->on_a));
                if ((pass || fresh[i]) && d < nearest) nearest = d, best = i;
            }
        if (best < 0) continue;
        c->loads[best].normal += last->loads[k].normal, c->loads[best].steady += last->loads[k].steady;
        fresh[best] = false;
    }
}

/* Whether an old point that bore something still holds the two bodies apart: its witnesses have slid past
 * each other by no more than points are kept for. */
static bool still_holds(const live *w, const live_contact *c, const live_point *p, double *gap) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    vec3 d = vec3_sub(vec3_add(a->center, quat_rotate(a->rotation, p->on_a)),
                      vec3_add(b->center, quat_rotate(b->rotation, p->on_b)));
    *gap = vec3_dot(c->normal, d);
    double slid2 = vec3_length2(d) - *gap * *gap, most = LIVE_AGAIN * w->size;
    return *gap <= most && slid2 <= most * most;
}

static bool has_point_near(const live *w, const live_contact *c, vec3 on_a) {
    for (int i = 0; i < c->count; i++)
        if (vec3_distance(c->points[i].on_a, on_a) <= w->reach) return true;
    return false;
}

/* Points that the new manifold lacks and that still hold stay in it, while there is room.  Where faces meet
 * at an angle so flat that a body lies on several of them, the features found are those of one: without the
 * points on the others it sinks in there, turns to those, and rocks between them for ever. */
static void keep_points(const live *w, live_contact *c, const live_contact *last) {
    if (!w->faceted[c->a] || !w->faceted[c->b] || vec3_dot(c->normal, last->normal) < FLAT) return;
    for (int k = 0; k < last->count && c->count < MANIFOLD_POINTS; k++) {
        const live_point *p = &last->points[k];
        double gap;
        if (!(last->loads[k].normal > 0) || find_id(c, 1, p->id) || has_point_near(w, c, p->on_a) ||
            !still_holds(w, c, p, &gap))
            continue;
        c->points[c->count] = *p, c->loads[c->count] = last->loads[k];
        c->points[c->count++].gap = gap;
    }
}

static void fill_contact(const live *w, live_contact *c, const manifold *m, const live_contact *old,
                         int count, bool only) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    c->key = m->key, c->count = m->count, c->normal = m->normal;
    c->normal_b = quat_unrotate(b->rotation, m->normal);
    for (int i = 0; i < m->count; i++) {
        const manifold_point *from = &m->points[i];
        live_point *p = &c->points[i];
        vec3 x = vec3_axpy(from->at, from->gap / 2, m->normal),
             y = vec3_axpy(from->at, -from->gap / 2, m->normal);
        const live_load *last = find_id(old, count, from->id);
        c->loads[i] = last ? *last : (live_load){0, 0};
        *p = (live_point){quat_unrotate(a->rotation, vec3_sub(x, a->center)),
                          quat_unrotate(b->rotation, vec3_sub(y, b->center)), from->id, from->gap};
    }
    const live_contact *last = find_key(old, count, m->key, only);
    if (!last) return;
    keep_points(w, c, last);
    hand_over(c, last);
    c->friction = vec3_axpy(last->friction, -vec3_dot(last->friction, c->normal), c->normal);
    c->rolling = last->rolling, c->twist = last->twist, c->flags = last->flags;
}

/* How far ahead points of a pair are believed.  A plane stays where it is; of other shapes the points nearest
 * now may not be those that meet, so no farther than half the smaller core.  Bodies faster than that are
 * swept (live_stop_fast); but those on loose hinges, which would go back with all that hangs on them, are
 * looked at again in each sub-step (live_loose_contact.c). */
double live_foresight(const live *w, live_pair p) {
    const live_body *a = &w->body[p.a], *b = &w->body[p.b];
    bool again = (w->rests[p.a].hung || w->rests[p.b].hung) && a->light && b->light;
    return a->bounded && b->bounded && !again ? fmax(LIVE_FORESIGHT * w->size, 0.5 * fmin(a->core, b->core))
                                              : INFINITY;
}

/* What the pair may come closer in this step, within bounds. */
static double closing_of(const live *w, live_pair p) {
    const live_drift *a = &w->drifts[p.a], *b = &w->drifts[p.b];
    return fmin(vec3_distance(a->way, b->way) + a->swing + b->swing, live_foresight(w, p));
}

/* How far apart points matter; nearer ones may bear something before the pair is looked at again. */
double live_reach_of(const live *w, live_pair p) { return w->reach + closing_of(w, p); }
static double near_of(const live *w, live_pair p) { return LIVE_AGAIN * w->size + closing_of(w, p); }

static double swing_speed(const live *w, int body) {
    double r = isfinite(w->radii[body]) ? w->radii[body] : 0;
    return vec3_length(w->motions[body].velocity.angular) * r;
}

/* What the pair may come closer by its speed within a sub-step: in a heap at rest, nothing. */
static double soon_of(const live *w, live_pair p) {
    vec3 u = vec3_sub(w->motions[p.a].velocity.linear, w->motions[p.b].velocity.linear);
    return (vec3_length(u) + swing_speed(w, p.a) + swing_speed(w, p.b)) * w->h;
}

static manifold_config config_of(const live *w, live_pair p, double farther) {
    manifold_config config = manifold_default_config();
    config.reach = live_reach_of(w, p) + farther, config.near = near_of(w, p), config.soon = soon_of(w, p);
    return config;
}

static double least_gap(const manifold *m) {
    double least = INFINITY;
    for (int i = 0; i < m->count; i++) least = fmin(least, m->points[i].gap);
    return least;
}

/* Ids of the points that bore something in the last step. */
static int list_bearing(const live_contact *old, int count, uint64_t ids[BEARING_ROOM]) {
    int n = 0;
    for (int k = 0; k < count && n + MANIFOLD_POINTS <= BEARING_ROOM; k++)
        for (int i = 0; i < old[k].count; i++)
            if (old[k].loads[i].normal > 0) ids[n++] = old[k].points[i].id;
    return n;
}

/* Looks a little farther than it must, so that a pair that is apart need not be looked at again soon. Returns
 * how many contacts there are. */
int live_collide_pair(live *w, live_pair p, const live_contact *old, int count, int slot, live_contact *out,
                      int room) {
    manifold found[COLLIDER_ROOM];
    uint64_t bearing[BEARING_ROOM];
    live_seen *seen = &w->seen.data[slot];
    /* solids with dents show more of their features the farther one looks */
    double reach = live_reach_of(w, p), least = INFINITY;
    manifold_config config = config_of(w, p, (room > 1 ? 0.01 : 0.05) * w->size);
    config.bearing = bearing, config.bearing_count = list_bearing(old, count, bearing);
    int contacts = 0, n = collider_collide(w->colliders[w->shape_of[p.a]], live_pose(w, p.a),
                                           w->colliders[w->shape_of[p.b]], live_pose(w, p.b), &config,
                                           &w->searches.data[slot].cache, 1, found,
                                           room < COLLIDER_ROOM ? room : COLLIDER_ROOM);
    const motion *a = &w->motions[p.a], *b = &w->motions[p.b];
    seen->position = quat_unrotate(b->rotation, vec3_sub(a->center, b->center));
    seen->rotation = quat_mul(quat_conj(b->rotation), a->rotation);
    for (int k = 0; k < n; k++) {
        double gap = least_gap(&found[k]);
        least = fmin(least, gap);
        if (gap > reach) continue;
        live_contact *c = &out[contacts++];
        memset(c, 0, live_contact_bytes(0));
        c->a = p.a, c->b = p.b;
        fill_contact(w, c, &found[k], old, count, n == 1 && count == 1);
    }
    seen->apart = fmin(least, config.reach);
    return contacts;
}

/* ---- a pair that is looked at again within a step */

static int find_again(live *w, const live_contact *c, int count, manifold found[COLLIDER_ROOM]) {
    uint64_t bearing[BEARING_ROOM];
    live_pair p = {c->a, c->b};
    manifold_config config = config_of(w, p, 0.05 * w->size);
    config.bearing = bearing, config.bearing_count = list_bearing(c, count, bearing);
    return collider_collide(w->colliders[w->shape_of[p.a]], live_pose(w, p.a), w->colliders[w->shape_of[p.b]],
                            live_pose(w, p.b), &config, NULL, 0, found, COLLIDER_ROOM);
}

static void become(const live *w, live_contact *c, const manifold *m) {
    live_contact last = *c;
    fill_contact(w, c, m, &last, 1, true);
}

/* The manifold that a contact has become: the only one, or that with its key; -1: none. */
static int find_same(const live_contact *c, const manifold *found, int n) {
    for (int k = 0; k < n; k++)
        if (found[k].count > 0 && (found[k].key == c->key || n == 1)) return k;
    return -1;
}

/* As the key is that of the deepest point: else the one with its normal, that is not taken. */
static int find_alike(const live_contact *c, const manifold *found, int n, const bool *taken) {
    int best = -1;
    double most = FLAT;
    for (int k = 0; k < n; k++) {
        double along = vec3_dot(found[k].normal, c->normal);
        if (found[k].count > 0 && !taken[k] && along > most) most = along, best = k;
    }
    return best;
}

/* The manifold of a contact anew where the bodies are now, with the impulses that it has; false: it is gone.
 */
bool live_collide_again(live *w, live_contact *c) {
    manifold found[COLLIDER_ROOM];
    int same = find_same(c, found, find_again(w, c, 1, found));
    if (same >= 0) become(w, c, &found[same]);
    return same >= 0;
}

static bool bears(const live_contact *c) {
    for (int i = 0; i < c->count; i++)
        if (c->loads[i].normal > 0) return true;
    return false;
}

/* Which of the contacts gives way to a manifold: one that is gone, or else the one farthest away of those
 * that are farther away and bear nothing; -1: none. */
static int find_place(const live_contact *c, int count, const int *of, const manifold *found, double gap) {
    int place = -1;
    double far = gap;
    for (int i = 0; i < count; i++) {
        if (of[i] < 0) return i;
        double away = least_gap(&found[of[i]]);
        if (away > far && !bears(&c[i])) far = away, place = i;
    }
    return place;
}

/* All contacts of a pair anew, `c` and those after it.  An edge that slides over the facets of a torus has
 * another contact with each of them: those that are gone, and those that bear nothing and are farther away,
 * make place for others.  What is gone and not replaced stays as it was, and is moved along. */
void live_collide_pair_again(live *w, live_contact *c, int count) {
    manifold found[COLLIDER_ROOM];
    int of[COLLIDER_ROOM], n = find_again(w, c, count, found);
    bool taken[COLLIDER_ROOM] = {false};
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++) {
            if (pass == 1 && of[i] >= 0) continue;
            of[i] = pass ? find_alike(&c[i], found, n, taken) : find_same(&c[i], found, n);
            if (of[i] >= 0 && taken[of[i]]) of[i] = -1;
            if (of[i] >= 0) taken[of[i]] = true;
        }
    for (int k = 0; k < n; k++) {
        int place =
            taken[k] || found[k].count == 0 ? -1 : find_place(c, count, of, found, least_gap(&found[k]));
        if (place >= 0) of[place] = k;
    }
    for (int i = 0; i < count; i++) {
        if (of[i] < 0) continue;
        become(w, &c[i], &found[of[i]]);
        live_take_back(w, &c[i]);
    }
}
