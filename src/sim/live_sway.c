/* How many sub-steps a step is cut into.
 *
 * What batches solve stands on springs of 0.14 cycles a sub-step, and on sweeps that take two or three layers
 * to hear of each other.  n layers buckle where  n^3 > 7.84 K / (m g a)  (K against turning, a the height of
 * a layer): with the world's own sub-steps 16 cubes, 12 bricks of twice their height; and the slowest sway,
 * in which layers hardly move against each other, is stopped by a sweep only to (pi / 2n)^2.  K grows with
 * the square of the sub-steps and there are more sweeps as well: with twice as many sub-steps 25 cubes and 19
 * bricks stand, with four times as many 40 and 30.
 *
 * A structure at rest needs none of that: loads that are the usual ones hold it.  Only while a tall one
 * sways, which its loads tell, and for a second after, are steps cut finer. */
#include "sim/live.h"

enum { LOW_LAYERS = 13, TALL_LAYERS = 26, ROUNDS = 64 };
#define FEW          0.02 /* of the contacts that bear something, or of the bodies: less is not the structure */
#define HOLD_SECONDS 1.0

/* Contacts away from the ground: 1 for bodies that touch something immovable. */
static int layers(const live *w) {
    int32_t *level = w->levels, none = INT32_MAX - 1;
    int most = 0;
    for (int i = 0; i < w->bodies; i++) level[i] = w->body[i].movable ? none : 0;
    bool changed = true;
    /* forth and back: bodies are mostly given from the ground up, or down */
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (int64_t k = 0; k < w->links.count; k++) {
            const live_link *c = &w->links.data[round % 2 ? w->links.count - 1 - k : k];
            if (c->count == 0 || level[c->a] == level[c->b]) continue;
            int far = level[c->a] > level[c->b] ? c->a : c->b, near = far == c->a ? c->b : c->a;
            if (level[far] <= level[near] + 1) continue;
            level[far] = level[near] + 1;
            changed = true;
        }
    }
    for (int i = 0; i < w->bodies; i++)
        if (level[i] < none && level[i] > most) most = level[i];
    return most;
}

/* More than a few contacts bear another load than usual: bodies meet, or a run begins. */
static bool wavers(const live *w) {
    int64_t bearing = 0, wavering = 0;
    for (int64_t i = 0; i < w->batch_count; i++)
        bearing += w->batches[i].bearing, wavering += w->batches[i].wavering;
    return (double)wavering > FEW * (double)bearing;
}

/* More than a few bodies move.  (Loads follow a slow sway and are the usual ones all the time.) */
static bool moves(const live *w) {
    int movable = 0, moving = 0;
    for (int i = 0; i < w->bodies; i++)
        movable += w->movable[i + 1], moving += w->movable[i + 1] && w->rests[i].still == 0;
    return moving > FEW * movable;
}

void live_look_for_sway(live *w) {
    int n = wavers(w) || moves(w) ? layers(w) : 0, wanted = n > TALL_LAYERS ? 4 : n > LOW_LAYERS ? 2 : 1;
    if (wanted > 1 && wanted >= w->finer)
        w->finer = wanted, w->finer_left = HOLD_SECONDS;
    else
        w->finer_left -= w->dt;
    if (w->finer_left <= 0) w->finer = 1, w->finer_left = 0;
}
