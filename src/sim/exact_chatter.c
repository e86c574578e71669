/* Flights too low to be told from contact.  An inelastic blow at one corner of a body lifts another one a
 * little, which falls back, lifts the first, and so on: a pin that settles between facets of its hole makes
 * hundreds of such flights, each a little lower than the one before.  A contact that is pressed by N where it
 * is, and leaves with the speed v, would be back after a flight of the height
 *
 *     h = v^2 / (2 a),     a = N k,     k = n . (M_a^-1 + M_b^-1) n   at the place,
 *
 * the other forces as they are.  Once h is below a tenth of epsilon it does not leave: its speed is taken to
 * be zero, as after a blow, and the energy of that is dissipated.  That must be the energy of the flights,
 * v^2 / (2 k) each, and not of a motion that carries them along: a bolt that turns in its nut passes facets
 * of the thread as fast as it goes.  Of places without friction, which is where no other event ends the
 * series. */
#include "sim/exact.h"

/* The share of epsilon that a flight may be high, to count as none: gaps of contacts are corrected to far
 * less than that, and all errors of a gap together must stay within epsilon. */
#define LOW 0.1

bool exact_is_slow_flight(const exact *x, const group_contact *c, double rate) {
    return rate <= x->model->tolerance.rest_speed && c->friction.stick == 0 && c->friction.slide == 0;
}

static bool is_low(const exact *x, int64_t i, double rate, double k) {
    return rate * rate <= 2 * LOW * x->model->tolerance.touching * x->loads.data[i].normal * k;
}

/* Lets go what flies higher, given the forces. */
static bool drop_high(exact *x, double limit, bool *dropped, double *energy) {
    bool *kept = arena_alloc(x->arena, (size_t)x->contacts.count + 1, sizeof *kept), held = false;
    *dropped = false, *energy = 0;
    for (int64_t i = 0; i < x->contacts.count && kept; i++) {
        const group_contact *c = &x->contacts.data[i];
        double rate = exact_gap_rate(x, c->a, c->b, &c->point);
        double k = exact_mobility(x, c, c->point.normal);
        kept[i] = rate <= limit || is_low(x, i, rate, k);
        *dropped = *dropped || !kept[i];
        held = held || (kept[i] && rate > limit);
        if (kept[i] && rate > limit) *energy += 0.5 * rate * rate / k;
    }
    /* what lies beside them is closed with them: opening it again would lift them */
    for (int64_t i = 0; i < x->contacts.count && kept && held; i++) x->contacts.data[i].pressed = true;
    if (*dropped) exact_keep_touches(x, kept);
    return kept != NULL;
}

abut_status exact_hold_low(exact *x, double limit, bool *dropped, double *energy, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    bool fine = drop_high(x, limit, dropped, energy);
    arena_restore(x->arena, mark);
    return fine ? ABUT_OK : fail_memory(error);
}
