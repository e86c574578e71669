/* The pace of an island: at pace p it takes 2^p sub-steps for each of the world's own.
 *
 * What batches solve stands on springs of 0.14 cycles a sub-step, and on sweeps that take two or three layers
 * to hear of each other.  n layers buckle where  n^3 > 7.84 K / (m g a)  (K against turning, a the height of
 * a layer; live_buckle.c): with the world's own sub-steps 16 cubes, 12 bricks of twice their height; and the
 * slowest sway, in which layers hardly move against each other, is stopped by a sweep only to (pi / 2n)^2.  K
 * grows with the square of the sub-steps and there are more sweeps as well: at pace 1 25 cubes and 19 bricks
 * stand, at pace 2 40 and 30.
 *
 * Long before they buckle, usual loads that follow those of a slow sway with a lag drive it: at half of that
 * load plates, and stacks of L, T and hexagons, whose four points are now these and now those of their
 * corners, sway ever more and fall.
 *
 * So an island of some layers goes faster while it stirs, which the loads of its contacts and the speeds of
 * its bodies tell, and until it has rested for a second; then as slowly as its springs hold it.  Its contacts
 * keep their sag when the pace changes (live_prepare.c): springs that gave way by other lengths all at once
 * would make it sway again. */
#include "sim/live.h"

enum { LOW_LAYERS = 6, MANY_LAYERS = 13, TALL_LAYERS = 26, FASTEST = 2, ROUNDS = 64, AHEAD = 4 };
#define FEW          0.02 /* of the contacts that bear something, or of the bodies: less is not the structure */
#define HOLD_SECONDS 1.0
#define HEAP         0.8  /* of normals that all are alike, 1; 0.7 of hulls in a bin */
#define UNSETTLED    0.5  /* of the contacts */
#define FALLEN       0.01 /* of the smallest body */
#define REST         0.25 /* of the rest speed: slower springs make more of what is left of a sway */

/* Of the load at which springs buckle.  At 0.33 seven layers of L stir for ever, at 0.9 eleven plates fall.
 * At rest points that bear less than usual are rigid, so that what stands bears a little more: 17 cubes (1.1)
 * and the pyramid of base 20 (1.05) come to rest, 18 cubes (1.3) lean by 12 mm. */
#define MOST_STIRRING 0.3
#define MOST_RESTING  1.1

/* Contacts away from what is immovable: 1 for bodies that touch it. */
static int layers(live *w, const live_island *s) {
    int32_t *level = w->levels, none = INT32_MAX - 1; /* one more is still a number */
    const int *contacts = &w->island_contacts.data[s->first_contact];
    int most = 0;
    for (int i = 0; i < s->body_count; i++) level[w->island_bodies.data[s->first_body + i]] = none;
    bool changed = true;
    /* forth and back: bodies are mostly given from the ground up, or down */
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (int k = 0; k < s->contact_count; k++) {
            const live_link *c = &w->links.data[contacts[round % 2 ? s->contact_count - 1 - k : k]];
            int a = level[c->a], b = level[c->b]; /* 0 of what is immovable, which is in no island */
            int near_a = a < b + 1 ? a : b + 1, near_b = b < a + 1 ? b : a + 1;
            level[c->a] = near_a, level[c->b] = near_b;
            changed |= near_a != a || near_b != b;
        }
    }
    for (int i = 0; i < s->body_count; i++) {
        int n = level[w->island_bodies.data[s->first_body + i]];
        if (n < none && n > most) most = n;
    }
    return most;
}

/* Whether an island may have as many layers. */
static bool may_be_tall(const live_island *s) { return s->awake && !s->direct && s->body_count > LOW_LAYERS; }

static void add_load(const live_batch *b, int lane, vec3 up, live_island *s) {
    vec3 n = {b->n.x[lane], b->n.y[lane], b->n.z[lane]};
    double load = 0;
    for (int i = 0; i < b->points; i++) load += b->point[i].impulse[lane];
    s->load += load, s->leaning = vec3_axpy(s->leaning, vec3_dot(n, up) < 0 ? -load : load, n);
}

/* Bodies that hold each other from all sides: no layer of them leans (live_buckle.c, which asks more
 * closely).
 */
static bool is_heap(const live_island *s) { return vec3_length(s->leaning) < HEAP * s->load; }

/* What add_load asks of a batch with as many points as this one. */
PREFETCHES prefetch_loads(const live_batch *b, int points) {
    prefetch_lines(b, offsetof(live_batch, inverse));
    prefetch_lines(&b->n, sizeof b->n);
    for (int i = 0; i < points; i++) __builtin_prefetch(&b->point[i].impulse);
}

/* Contacts of islands that bear another load than usual: bodies meet, or a run begins. */
static void count_wavering(live *w) {
    vec3 up = vec3_neg(w->model->world.gravity);
    for (int64_t i = 0; i < w->batch_count; i++) {
        const live_batch *b = &w->batches[i];
        if (i + AHEAD < w->batch_count) prefetch_loads(b + AHEAD, b->points);
        for (int k = 0; k < LANES && b->bearing; k++) {
            if (!(b->bearing >> k & 1)) continue;
            int slot = b->moves_a >> k & 1 ? b->a[k] : b->b[k];
            live_island *s = &w->islands.data[w->rests[slot - 1].island];
            s->bearing++, s->wavering += b->wavering >> k & 1, s->changing += b->changing >> k & 1;
            add_load(b, k, up, s);
        }
    }
}

/* More than a few bodies move.  (Loads follow a slow sway and are the usual ones all the time.) */
static bool moves(const live *w, const live_island *s) {
    int moving = 0;
    for (int i = 0; i < s->body_count; i++)
        moving += w->rests[w->island_bodies.data[s->first_body + i]].still == 0;
    return moving > FEW * s->body_count;
}

static bool all_slower(const live *w, const live_island *s, double limit2) {
    double fastest = 0;
    for (int i = 0; i < s->body_count; i++) {
        vec3 v = w->motions[w->island_bodies.data[s->first_body + i]].velocity.linear;
        fastest = fmax(fastest, vec3_length2(v));
    }
    return fastest < limit2;
}

static bool rests(const live *w, const live_island *s) {
    double limit = REST * w->model->tolerance.rest_speed;
    return all_slower(w, s, limit * limit);
}

/* Bodies that still fall on each other are no structure yet: what they bear has just come, and some are as
 * fast as what has fallen by a hundredth of the smallest body. */
static bool lands(const live *w, const live_island *s) {
    double limit2 = 2 * vec3_length(w->model->world.gravity) * FALLEN * w->size;
    return s->changing > UNSETTLED * s->bearing && !all_slower(w, s, limit2);
}

/* The slowest pace, from `pace` on, at which an island is not overloaded. */
static int slowest(double load, double most, int pace) {
    while (pace < FASTEST && load > most * (1 << 2 * pace)) pace++;
    return pace;
}

/* Where it stirs: faster at once, or what is left of it slower after a second. */
static bool hurry(live *w, int64_t island, live_rest *next) {
    const live_island *s = &w->islands.data[island];
    int n = is_heap(s) ? 0 : layers(w, s);
    if (n <= MANY_LAYERS && lands(w, s)) n = 0;
    double load = n > LOW_LAYERS ? live_overload(w, island, n) : 0;
    if (load < 0) return false;
    int least = n > TALL_LAYERS ? 2 : n > MANY_LAYERS ? 1 : 0;
    int wanted = load > 0 ? slowest(load, MOST_STIRRING, least) : 0;
    if (wanted < s->pace && next->hold > 0) return true;
    next->pace = next->tall = wanted, next->hold = wanted > 0 ? HOLD_SECONDS : 0;
    return true;
}

/* Slower where it has rested for a second; if it cannot, that is looked at again after another one. */
static bool slow_down(live *w, int64_t island, live_rest *next) {
    const live_island *s = &w->islands.data[island];
    if (!rests(w, s)) next->hold = HOLD_SECONDS;
    if (next->hold > 0) return true;
    double load = live_overload(w, island, layers(w, s));
    int wanted = slowest(load, MOST_RESTING, 0);
    if (wanted < s->pace) next->pace = wanted;
    next->hold = next->pace > 0 ? HOLD_SECONDS : 0;
    return load >= 0;
}

static bool choose_pace(live *w, int64_t island, live_rest *next) {
    const live_island *s = &w->islands.data[island];
    *next = (live_rest){.pace = s->pace, .tall = s->tall, .hold = fmax(s->hold - w->dt, 0)};
    if (s->wavering > FEW * s->bearing || moves(w, s)) return hurry(w, island, next);
    return s->pace == 0 || slow_down(w, island, next);
}

bool live_look_for_sway(live *w) {
    bool any = false, fine = true;
    w->lane_of.count = -1;
    for (int64_t i = 0; i < w->islands.count; i++) any |= may_be_tall(&w->islands.data[i]);
    if (any) count_wavering(w);
    for (int64_t i = 0; i < w->islands.count && fine; i++) {
        const live_island *s = &w->islands.data[i];
        live_rest next = {0};
        if (!s->awake) continue;
        if (may_be_tall(s)) fine = choose_pace(w, i, &next);
        for (int k = 0; k < s->body_count; k++) {
            live_rest *r = &w->rests[w->island_bodies.data[s->first_body + k]];
            r->pace = next.pace, r->tall = next.tall, r->hold = next.hold;
        }
    }
    return fine;
}
