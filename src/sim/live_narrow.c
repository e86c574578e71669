/* The contacts of all pairs of a step, in the order of the pairs.  What was seen of a pair that hardly moved
 * since still holds: it keeps its contacts, each point with the gap of its two witnesses where the bodies are
 * now.  The others are listed and looked at (live_collide.c). */
#include "sim/live.h"

enum { PAIR_BLOCK = 128, LOOK_BLOCK = 32, AHEAD = 12, KEPT = -1 };
/* What was seen of pairs is put in order when one in ASTRAY lies elsewhere, and few are new just now. */
enum { ASTRAY = 16, MOVING = 256 };

/* ---- what was seen of the pairs before: both lists are sorted */

static int compare(live_pair p, live_pair q) { return p.a != q.a ? p.a - q.a : p.b - q.b; }

static bool reserve(live *w, int64_t n) {
    const abut_context *c = w->context;
    return array_reserve(c, &w->pairs.slots, n + 1) && array_reserve(c, &w->pairs.contacts, n + 1) &&
           array_reserve(c, &w->old_of, n + 1) && array_reserve(c, &w->new_of, n + 1) &&
           array_reserve(c, &w->place_of, n + 1) && array_reserve(c, &w->looks, n + 1) &&
           array_reserve(c, &w->seen, n + 1) && array_reserve(c, &w->searches, n + 1) &&
           array_reserve(c, &w->contacts, 1) && /* pairs without contacts point into it */
           array_reserve(c, &w->free_slots, w->seen.count);
}

/* Old pairs that are no more give their slots back, */
static void match_old(live *w) {
    const live_pairs *old = &w->known;
    live_pairs *now = &w->pairs;
    int64_t k = 0, first = 0;
    for (int64_t i = 0; i <= now->list.count; i++) {
        bool end = i == now->list.count;
        for (; k < old->list.count && (end || compare(old->list.data[k], now->list.data[i]) < 0); k++) {
            w->free_slots.data[w->free_slots.count++] = old->slots.data[k];
            first += old->contacts.data[k];
        }
        if (end) break;
        bool known = k < old->list.count && compare(old->list.data[k], now->list.data[i]) == 0;
        now->slots.data[i] = known ? old->slots.data[k] : -1;
        now->contacts.data[i] = known ? old->contacts.data[k] : LIVE_UNSEEN;
        w->old_of.data[i] = (int)first;
        if (known) first += old->contacts.data[k++];
    }
}

/* What was seen lies in the order of the pairs then, as memory is read fastest. */
static bool sort_slots(live *w) {
    int64_t n = w->pairs.list.count;
    int *slots = w->pairs.slots.data;
    live_seen_array seen = w->seen;
    live_search_array searches = w->searches;
    if (!array_reserve(w->context, &w->seen_sorted, w->seen.count) ||
        !array_reserve(w->context, &w->searches_sorted, w->seen.count))
        return false;
    w->seen = w->seen_sorted, w->searches = w->searches_sorted;
    w->seen_sorted = seen, w->searches_sorted = searches;
    for (int64_t i = 0; i < n; i++) {
        int next = slots[i + AHEAD < n ? i + AHEAD : i];
        __builtin_prefetch(&seen.data[next]), __builtin_prefetch(&searches.data[next]);
        w->seen.data[i] = seen.data[slots[i]], w->searches.data[i] = searches.data[slots[i]];
        slots[i] = (int)i;
    }
    w->seen.count = n;
    w->free_slots.count = 0, w->slots_astray = 0;
    return true;
}

/* new ones take them.  There are as many slots as there ever were pairs at once. */
static bool match_pairs(live *w) {
    int64_t n = w->pairs.list.count, taken = 0;
    if (!reserve(w, n)) return false;
    match_old(w);
    for (int64_t i = 0; i < n; i++) {
        int *slot = &w->pairs.slots.data[i];
        if (*slot >= 0) continue;
        *slot = w->free_slots.count > 0 ? w->free_slots.data[--w->free_slots.count] : (int)w->seen.count++;
        taken++;
    }
    w->slots_astray += taken;
    bool calm = taken * MOVING <= n, strewn = w->slots_astray * ASTRAY > n;
    return !calm || !strewn || sort_slots(w);
}

/* ---- what still holds */

/* A bound on how far any point of one body has moved as the other sees it: by its centre, and by turning. */
static double moved_since(const live *w, live_pair pair, const live_seen *s) {
    const motion *a = &w->motions[pair.a], *b = &w->motions[pair.b];
    quat q = quat_mul(quat_conj(b->rotation), a->rotation), r = s->rotation;
    vec3 p = quat_unrotate(b->rotation, vec3_sub(a->center, b->center)), d = vec3_sub(p, s->position);
    double radius = w->radii[pair.a];
    if (!isfinite(radius)) { /* a is unbounded: b as a sees it */
        d = vec3_sub(quat_unrotate(q, p), quat_unrotate(r, s->position));
        radius = w->radii[pair.b];
    }
    /* |q - r| = 2 sin(angle / 4) for the angle between the two; the chord is at most twice that */
    double dq = (q.w - r.w) * (q.w - r.w) + (q.x - r.x) * (q.x - r.x) + (q.y - r.y) * (q.y - r.y) +
                (q.z - r.z) * (q.z - r.z);
    return sqrt(vec3_length2(d)) + 2 * sqrt(dq) * radius;
}

/* Whether what was seen of a pair still holds.  Of two that no force moves one may move by itself: it wakes
 * what it comes to. */
static bool holds(const live *w, live_pair p, const live_seen *seen, int contacts) {
    bool awake = live_is_awake(w, p.a, p.b);
    if (!awake && !w->body[p.a].kinematic && !w->body[p.b].kinematic) return true;
    bool faceted = w->faceted[p.a] && w->faceted[p.b];
    double moved = moved_since(w, p, seen);
    if (!awake && moved == 0 && contacts > 0) return true;
    return moved <= (contacts == 0 ? seen->apart - live_reach_of(w, p) : faceted ? LIVE_AGAIN * w->size : -1);
}

/* Pairs are sorted by their first bodies; the second ones lie anywhere. */
PREFETCHES prefetch_pair(const live *w, int64_t i) {
    if (i >= w->pairs.list.count) return;
    int b = w->pairs.list.data[i].b;
    prefetch_lines(&w->motions[b], sizeof *w->motions), __builtin_prefetch(&w->drifts[b]);
    __builtin_prefetch(&w->seen.data[w->pairs.slots.data[i]]);
}

static void find_kept(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int i = first; i < end; i++) {
        int slot = w->pairs.slots.data[i], contacts = w->pairs.contacts.data[i];
        prefetch_pair(w, i + AHEAD);
        bool kept = contacts != LIVE_UNSEEN && holds(w, w->pairs.list.data[i], &w->seen.data[slot], contacts);
        w->place_of.data[i] = kept ? KEPT : 0;
    }
}

/* ---- the others */

static int room_of(const live *w, live_pair p) {
    if (w->alone[p.a] && w->alone[p.b]) return 1;
    return collider_room(w->colliders[w->shape_of[p.a]], w->colliders[w->shape_of[p.b]]);
}

static bool list_looks(live *w) {
    int64_t places = 0;
    w->looks.count = 0;
    for (int64_t i = 0; i < w->pairs.list.count; i++) {
        if (w->place_of.data[i] == KEPT) continue;
        w->looks.data[w->looks.count++] = (int)i;
        w->place_of.data[i] = (int)places;
        places += room_of(w, w->pairs.list.data[i]);
    }
    return array_reserve(w->context, &w->fresh, places);
}

/* The shapes of a pair that is going to be looked at. */
static void prefetch_shapes(const live *w, int64_t look, collider_stage stage) {
    if (look >= w->looks.count) return;
    live_pair p = w->pairs.list.data[w->looks.data[look]];
    collider_prefetch(w->colliders[w->shape_of[p.a]], stage);
    collider_prefetch(w->colliders[w->shape_of[p.b]], stage);
}

/* What was seen of it, its contacts (of one that has none those of the next), and where they go: two points
 * are more than most have. */
PREFETCHES prefetch_look(const live *w, int64_t look) {
    if (look >= w->looks.count) return;
    int i = w->looks.data[look];
    int slot = w->pairs.slots.data[i];
    __builtin_prefetch(&w->seen.data[slot]), __builtin_prefetch(&w->searches.data[slot]);
    prefetch_lines(&w->contacts.data[w->old_of.data[i]], live_contact_bytes(2));
    prefetch_lines(&w->fresh.data[w->place_of.data[i]], live_contact_bytes(2));
}

/* What is new goes to the places of the pair in `fresh`. */
static void look_at(live *w, int64_t i) {
    live_pair p = w->pairs.list.data[i];
    int slot = w->pairs.slots.data[i], *contacts = &w->pairs.contacts.data[i];
    if (*contacts == LIVE_UNSEEN) {
        w->seen.data[slot] = (live_seen){.apart = 0}, w->searches.data[slot] = (live_search){.pad = 0};
        *contacts = 0;
    }
    const live_contact *from = &w->contacts.data[w->old_of.data[i]];
    *contacts =
        live_collide_pair(w, p, from, *contacts, slot, &w->fresh.data[w->place_of.data[i]], room_of(w, p));
}

static void look_at_pairs(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int k = first; k < end; k++) {
        prefetch_shapes(w, k + 6, COLLIDER_ITSELF), prefetch_shapes(w, k + 4, COLLIDER_HULL);
        prefetch_shapes(w, k + 2, COLLIDER_ALL), prefetch_look(w, k + 2);
        look_at(w, w->looks.data[k]);
    }
}

/* ---- where contacts belong */

live_link live_link_of(const live_contact *c) {
    live_link link = {c->a, c->b, c->count, 0, INFINITY, -INFINITY};
    for (int i = 0; i < c->count; i++) {
        link.least = fmin(link.least, c->points[i].gap);
        if (c->loads[i].normal > 0) link.open = fmax(link.open, c->points[i].gap);
    }
    return link;
}

void live_place_now(live *w, int64_t i) {
    if (!(w->links.data[i].mark & LIVE_STALE)) return;
    live_place_again(w, &w->contacts.data[i]);
    w->links.data[i] = live_link_of(&w->contacts.data[i]);
}

/* Its contacts, where they belong: new ones from `fresh`; kept ones are there already, and are placed where
 * the bodies are now when they are asked for (live_place_now). */
static void place_pair(live *w, int64_t i) {
    live_pair p = w->pairs.list.data[i];
    int first = w->new_of.data[i], place = w->place_of.data[i], count = w->pairs.contacts.data[i];
    bool stale = place == KEPT && live_is_awake(w, p.a, p.b);
    for (int k = 0; k < count; k++) {
        live_link *link = &w->next_links.data[first + k];
        if (place == KEPT) {
            *link = w->links.data[w->old_of.data[i] + k];
            link->mark = stale ? LIVE_STALE : 0;
            continue;
        }
        const live_contact *from = &w->fresh.data[place + k];
        memcpy(&w->contacts.data[first + k], from, live_contact_bytes(from->count));
        *link = live_link_of(from);
    }
}

static void place_pairs(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int i = first; i < end; i++)
        if (w->pairs.contacts.data[i]) place_pair(w, i);
}

static bool find_places(live *w) {
    int64_t n = 0;
    int kept = 0;
    for (int64_t i = 0; i < w->pairs.list.count; i++) {
        w->new_of.data[i] = (int)n;
        n += w->pairs.contacts.data[i], kept += w->place_of.data[i] == KEPT;
    }
    w->next_links.count = n;
    w->times.recycled = kept;
    return array_reserve(w->context, &w->contacts, n) && array_reserve(w->context, &w->next_links, n) &&
           array_reserve(w->context, &w->pushed, n);
}

/* ---- contacts that are kept stay where they are, or move along by as many as came and went before them */

/* Of pairs that pressed in the last step and are not kept the first contact, for the events (tell_lost). */
static bool save_gone(live *w) {
    const live_pairs *old = &w->known, *now = &w->pairs;
    int64_t i = 0, link = 0;
    w->gone.count = w->gone_links.count = 0;
    for (int64_t k = 0; k < old->list.count; link += old->contacts.data[k++]) {
        live_pair p = old->list.data[k];
        bool pressed = false;
        while (i < now->list.count && compare(now->list.data[i], p) < 0) i++;
        bool there = i < now->list.count && compare(now->list.data[i], p) == 0;
        if (there && w->place_of.data[i] == KEPT) continue;
        for (int n = 0; n < old->contacts.data[k]; n++)
            pressed |= (w->links.data[link + n].mark & LIVE_PRESSES) != 0;
        if (!pressed) continue;
        if (!array_push(w->context, &w->gone, w->contacts.data[link]) ||
            !array_push(w->context, &w->gone_links, (int)link))
            return false;
    }
    return true;
}

static void move_along(live *w, int64_t pair, int k) {
    const live_contact *from = &w->contacts.data[w->old_of.data[pair] + k];
    memcpy(&w->contacts.data[w->new_of.data[pair] + k], from, live_contact_bytes(from->count));
}

/* Both places are in the order of the pairs: so none is written before it is read, where those that move to
 * the front are moved from the first on, and those that move to the back from the last on. */
static void move_kept(live *w) {
    int64_t n = w->pairs.list.count;
    for (int64_t i = 0; i < n; i++)
        if (w->place_of.data[i] == KEPT && w->new_of.data[i] < w->old_of.data[i])
            for (int k = 0; k < w->pairs.contacts.data[i]; k++) move_along(w, i, k);
    for (int64_t i = n; i-- > 0;)
        if (w->place_of.data[i] == KEPT && w->new_of.data[i] > w->old_of.data[i])
            for (int k = w->pairs.contacts.data[i]; k-- > 0;) move_along(w, i, k);
    w->contacts.count = w->next_links.count;
}

static void swap_lists(live *w) {
    live_link_array links = w->links;
    w->links = w->next_links, w->next_links = links;
    live_pairs pairs = w->known;
    w->known = w->pairs, w->pairs = pairs, w->pairs_hold = true;
}

static void count_points(live *w) {
    w->times.manifolds = w->times.points = 0;
    for (int64_t i = 0; i < w->links.count; i++) {
        const live_link *c = &w->links.data[i];
        w->times.manifolds += c->count > 0, w->times.points += c->count;
    }
}

bool live_narrow(live *w) {
    if (!match_pairs(w)) return false;
    live_share(w, LIVE_NARROW, w->pairs.list.count, PAIR_BLOCK, find_kept);
    if (!list_looks(w)) return false;
    live_share(w, LIVE_NARROW, w->looks.count, LOOK_BLOCK, look_at_pairs);
    if (!find_places(w) || !save_gone(w)) return false;
    move_kept(w);
    live_share(w, LIVE_NARROW, w->pairs.list.count, PAIR_BLOCK, place_pairs);
    swap_lists(w);
    count_points(w);
    return true;
}
