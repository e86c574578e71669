/* Blows without end between several places (inelastic collapse, McNamara and Young 1992), summed in closed
 * form.  A box that is caught between the floor and another one strikes the two in turn, in ever shorter
 * flights: both gaps close at a finite time, after infinitely many blows.  Within what is left of them the
 * places and the forces do not change, so that every blow adds an impulse along the same row J_i:
 *
 *     v_end = v + M^-1 (J_1^T z_1 + J_2^T z_2 + ...),   z >= 0,   J_i v_end = 0,
 *
 * whatever the restitution: that is the solution of one inelastic impact of all these places together
 * (complementary, as the rates are zero; and velocities of that problem are unique).  A place that gets away
 * from the series has J_i v_end > 0 there and is let go.
 *
 * Told from the last blows: a place was struck three times, in intervals T_2 > T_1 with slower and slower
 * blows. What is left takes T_1 q / (1 - q), q = T_1 / T_2, as in exact_zeno.c; once no place of the series
 * can be farther than half of epsilon in that time, it is summed.  The other half is for all other errors of
 * a gap. */
#include "sim/exact.h"

/* A series that shrinks by less than this is not told from one that ends. */
#define SLOWEST_RATIO 0.98

static exact_strike *strike_at(exact *x, int64_t number) { return &x->strikes[number % EXACT_STRIKES]; }

static int64_t oldest_strike(const exact *x) {
    return x->strike_count > EXACT_STRIKES ? x->strike_count - EXACT_STRIKES : 0;
}

/* A place as the strike there has it. */
static exact_strike place_of(int a, int b, const near_pair *p) {
    return (exact_strike){.a = a, .b = b, .sign = p->sign, .fa = p->fa, .fb = p->fb};
}

static bool same_place(const exact_strike *s, const exact_strike *t) {
    return s->a == t->a && s->b == t->b && s->sign == t->sign && contact_feature_same(s->fa, t->fa) &&
           contact_feature_same(s->fb, t->fb);
}

/* The strike at the place of s before number `before`; -1: none is known. */
static int64_t strike_before(exact *x, const exact_strike *s, int64_t before) {
    for (int64_t k = before - 1; k >= oldest_strike(x); k--)
        if (same_place(strike_at(x, k), s)) return k;
    return -1;
}

/* Notes what approaches now, once an instant. */
static void note_strikes(exact *x) {
    double slow = exact_approach_limit(x);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        const near_pair *p = &x->touches.data[i].pair;
        double speed = -exact_gap_rate(x, c->a, c->b, &c->point);
        if (!(speed > slow)) continue;
        exact_strike s = place_of(c->a, c->b, p);
        s.time = x->time, s.speed = speed;
        int64_t last = strike_before(x, &s, x->strike_count);
        if (last < 0 || strike_at(x, last)->time < x->time) *strike_at(x, x->strike_count++) = s;
    }
}

/* Of the series that a strike goes on: the number of the blow two before, how long what is left of it takes,
 * and by how much each blow at the place is slower than the one before. */
typedef struct series {
    int64_t first;
    double left, ratio;
} series;

static bool find_series(exact *x, int64_t number, series *out) {
    const exact_strike *s = strike_at(x, number);
    int64_t one = strike_before(x, s, number), two = one < 0 ? -1 : strike_before(x, s, one);
    if (two < 0 || two + 1 == one) return false;
    double now = s->time - strike_at(x, one)->time,
           before = strike_at(x, one)->time - strike_at(x, two)->time;
    double q = now / before;
    *out = (series){two, now * q / (1 - q), s->speed / strike_at(x, one)->speed};
    return q < SLOWEST_RATIO && out->ratio < 1;
}

/* The touch at the place of a strike; -1: none. */
static int64_t touch_of(const exact *x, const exact_strike *s) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        exact_strike t = place_of(x->contacts.data[i].a, x->contacts.data[i].b, &x->touches.data[i].pair);
        if (same_place(&t, s)) return i;
    }
    return -1;
}

/* The nearest near pair at the place of a strike; NULL: none. */
static exact_near *near_of(const exact *x, const exact_strike *s) {
    exact_near *best = NULL;
    for (int64_t i = 0; i < x->nears.count; i++) {
        exact_near *n = &x->nears.data[i];
        exact_strike t = place_of(n->a, n->b, &n->pair);
        if (n->known && same_place(&t, s) && (!best || n->gap < best->gap)) best = n;
    }
    return best;
}

/* Whether the place of a strike stays within half of epsilon for the time that is left; *near: the pair that
 * is to be made a contact for it, or NULL. */
static bool stays(const exact *x, const exact_strike *s, double left, exact_near **near) {
    int64_t i = touch_of(x, s);
    *near = i < 0 ? near_of(x, s) : NULL;
    if (i < 0 && !*near) return false;
    contact_point p;
    bool
        faces; /* features that a time step took past each other do not, and are no place of blows any more */
    if (*near && (!exact_near_at(x, *near, &p, &faces) || !faces)) return false;
    double gap = i < 0 ? fabs(p.gap) : 0,
           rate = exact_gap_rate(x, s->a, s->b, i < 0 ? &p : &x->contacts.data[i].point);
    return gap + fabs(rate) * left <= 0.5 * x->model->tolerance.touching;
}

/* Whether all places that the series struck twice stay: it can be summed. */
static bool can_sum(exact *x, const series *r) {
    bool other = false;
    for (int64_t k = r->first + 1; k < x->strike_count; k++) {
        const exact_strike *s = strike_at(x, k);
        exact_near *near;
        if (strike_before(x, s, k) < r->first) continue; /* once: it may have left for good */
        if (!stays(x, s, r->left, &near)) return false;
        other = other || !same_place(s, strike_at(x, r->first));
    }
    return other;
}

/* The place of a strike becomes one without restitution, which stands for `count` blows. */
static abut_status take(exact *x, const exact_strike *s, const series *r, abut_error *error) {
    exact_near *near;
    if (!stays(x, s, r->left, &near)) return ABUT_OK;
    if (near && !exact_add_touch(x, near)) return fail_memory(error);
    int64_t i = near ? x->contacts.count - 1 : touch_of(x, s);
    exact_touch *t = &x->touches.data[i];
    x->contacts.data[i].restitution = 0;
    t->bounces = exact_bounces_of(s->speed, r->ratio, exact_approach_limit(x));
    if (t->fresh || t->made_at > 0) t->made_at = x->time + r->left;
    return ABUT_OK;
}

abut_status exact_sum_collapse(exact *x, abut_error *error) {
    int64_t before = x->strike_count;
    note_strikes(x);
    series r;
    for (int64_t number = before; number < x->strike_count; number++) {
        if (!find_series(x, number, &r) || !can_sum(x, &r)) continue;
        for (int64_t k = r.first; k < x->strike_count; k++) {
            abut_status status = take(x, strike_at(x, k), &r, error);
            if (status != ABUT_OK) return status;
        }
    }
    return ABUT_OK;
}

bool exact_collapses(exact *x) {
    series r;
    return x->strike_count > 0 && strike_at(x, x->strike_count - 1)->time == x->time &&
           find_series(x, x->strike_count - 1, &r);
}
