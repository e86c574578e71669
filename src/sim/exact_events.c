/* The first event on the dense output of a step.  Each monitored function is smooth on its side of the event,
 * and is refined there to the last digits; classification only brackets (DESIGN, traps).
 *
 *   gap, joins   of pairs that do not touch: exact_gaps.c
 *   leaves       a touching pair no longer faces: a corner slides off
 *   vanishes     the acceleration of a gap becomes positive
 *   sticks       the slip of a sliding point ends; rolling and spinning that resistance ends: exact_resist.c
 *   slips        the friction cone of a sticking point is left
 *   limit        the coordinate of a hinge reaches a limit
 *   motor        a motor reaches its speed, or becomes too weak for it: exact_motor.c
 *   breaks       a hinge carries more than it can
 *
 * Ties go to the earlier one in this list, and within a kind to the smaller number. */
#include "sim/exact_search.h"

/* ---- contacts that last */

/* Slip along the direction of the step's start; its rate is not needed. */
static bool probe_slip(exact *x, int64_t item, double t, exact_sample *s) {
    const group_contact *c = &x->contacts.data[item];
    contact_point p;
    const exact_touch *place = &x->touches.data[item];
    exact_near n = {.pair = place->pair, .a = c->a, .b = c->b};
    bool faces;
    if (exact_place_two(x, t, c->a, c->b, NULL) != ABUT_OK || !exact_near_at(x, &n, &p, &faces)) return false;
    vec3 u = contact_slip(&p, &x->motions[c->a], &x->motions[c->b]);
    s->t = t, s->g = c->face > 0 ? exact_face_slip(x, item, &p) : vec3_dot(u, place->slip_start);
    s->rate = NAN;
    return true;
}

static bool leaves(exact *x, int64_t item, double t) {
    const group_contact *c = &x->contacts.data[item];
    contact_point p;
    bool faces;
    exact_near n = {.pair = x->touches.data[item].pair, .a = c->a, .b = c->b};
    if (exact_place_two(x, t, c->a, c->b, NULL) != ABUT_OK) return true;
    /* a smooth contact is asked whether it is still on its patch: crossing to the next one is an event */
    if (smooth_is_pair(&n.pair)) return rolling_leaves_patch(x, item);
    if (exact_disc_turned(x, item)) return true;
    return !exact_near_at(x, &n, &p, &faces) || !faces;
}

/* Loads at a time of the step. */
static bool evaluate(exact *x, double t) {
    double powers[2];
    return exact_place_dense(x, t, NULL) == ABUT_OK &&
           exact_accelerate(x, t, false, false, powers, NULL) == ABUT_OK;
}

static bool vanishes(exact *x, int64_t item, double t) {
    return evaluate(x, t) && x->loads.data[item].gap_acceleration > exact_acceleration_limit(x);
}

/* A contact counts as vanished when its gap accelerates by more than rounding can: that is late by the time
 * the acceleration took to get there from zero, which its slope tells. */
static double vanished_late(exact *x, int64_t item, double t) {
    const double ahead = 1e-6;
    if (!evaluate(x, t)) return 0;
    double now = x->loads.data[item].gap_acceleration;
    if (!evaluate(x, t + ahead)) return 0;
    double slope = (x->loads.data[item].gap_acceleration - now) / ahead;
    return slope > 0 && now > 0 && now / slope < 1e-4 ? now / slope : 0;
}

static bool slips(exact *x, int64_t item, double t) {
    return !evaluate(x, t) || x->loads.data[item].margin < 0;
}

static void find_leaves(exact *x, double t0, double t1, exact_event *best) {
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (leaves(x, i, t1)) exact_consider(best, EXACT_LEAVES, i, exact_bisect(x, i, leaves, t0, t1));
}

static void find_sticks(exact *x, double t0, double t1, exact_event *best) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        if (x->contacts.data[i].mode != FRICTION_SLIP) continue;
        if (x->contacts.data[i].face > 0 && !exact_face_is_first(x, i)) continue;
        exact_sample a, b, root;
        if (!probe_slip(x, i, t0, &a) || !probe_slip(x, i, t1, &b) || b.g > 0) continue;
        if (a.g <= 0) { /* slip that has just begun starts at zero */
            if (!probe_slip(x, i, t0 + (t1 - t0) / 64, &a) || a.g <= 0) continue;
        }
        if (exact_refine(x, i, probe_slip, a, b, &root)) exact_consider(best, EXACT_STICKS, i, root.t);
    }
}

/* Where forces change sides.  The loads at the end of the step say whether to look. */
static void find_changes(exact *x, double t0, double t1, exact_event *best) {
    if (x->contacts.count == 0) return;
    if (!evaluate(x, t1)) return;
    arena_mark mark = arena_save(x->arena);
    size_t n = (size_t)x->contacts.count;
    int *what = arena_alloc(x->arena, n, sizeof *what);
    if (!what) return;
    for (size_t i = 0; i < n; i++) {
        const contact_load *l = &x->loads.data[i];
        if (l->gap_acceleration > exact_acceleration_limit(x)) what[i] = 1;
        if (x->contacts.data[i].mode == FRICTION_STICK && l->margin < 0) what[i] = 2;
    }
    for (size_t i = 0; i < n; i++) {
        double end = fmin(t1, best->time);
        if (what[i] == 1 && vanishes(x, (int64_t)i, end))
            exact_consider(best, EXACT_VANISHES, (int64_t)i, exact_bisect(x, (int64_t)i, vanishes, t0, end));
        if (what[i] == 2 && slips(x, (int64_t)i, end))
            exact_consider(best, EXACT_SLIPS, (int64_t)i, exact_bisect(x, (int64_t)i, slips, t0, end));
    }
    arena_restore(x->arena, mark);
}

/* Slip that is as good as over at the end t1 of a step without event.  It is told when it ends: so much
 * later, but not beyond the frame. */
static double find_end_of_slip(exact *x, double t1, exact_event *best) {
    double left = 0;
    if (best->kind != EXACT_NOTHING || !evaluate(x, t1)) return 0;
    for (int64_t i = 0; i < x->contacts.count && best->kind == EXACT_NOTHING; i++) {
        left = exact_slip_left(x, i);
        if (t1 + left < x->end) exact_consider(best, EXACT_STICKS, i, t1);
    }
    return best->kind == EXACT_STICKS ? left : 0;
}

/* ---- hinges */

static bool coordinate_at(exact *x, int entry, double t, double *value, double *rate) {
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    int la = x->local_of[h->a], lb = h->b >= 0 ? x->local_of[h->b] : -1;
    row r;
    if (exact_place_two(x, t, la, lb >= 0 ? lb : la, NULL) != ABUT_OK) return false;
    return hinge_coordinate(h, &x->motions[la], lb >= 0 ? &x->motions[lb] : NULL, x->hinge_known[entry],
                            value, rate, &r);
}

/* Distance to the limit that is `item & 1`, of hinge item / 2. */
static bool probe_limit(exact *x, int64_t item, double t, exact_sample *s) {
    int entry = (int)(item / 2);
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    double value, rate;
    if (!coordinate_at(x, entry, t, &value, &rate)) return false;
    bool upper = item & 1;
    *s = (exact_sample){t, upper ? h->limits[1] - value : value - h->limits[0], upper ? -rate : rate};
    return true;
}

/* A coordinate that stands at its limit at t0, and beyond it at t1: a place in between where it has left.  A
 * blow may send it off so slowly that it is back within any part of the step. */
static bool probe_flight(exact *x, int64_t item, double t0, double t1, exact_sample *a) {
    const double shortest = 1e-3 * x->model->tolerance.event;
    for (double h = (t1 - t0) / 64; h > shortest; h /= 8)
        if (!probe_limit(x, item, t0 + h, a) || a->g > 0) return a->g > 0;
    return false;
}

static double hinge_load(exact *x, int entry) {
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    int first = 0, count = 0;
    for (int i = 0; i < x->row_count; i++)
        if (x->row_hinge[i] == entry) {
            if (count == 0) first = i;
            count++;
        }
    vec3 force, torque;
    hinge_reaction(h, &x->motions[x->local_of[h->a]], x->rows + first, x->multipliers + first, count, &force,
                   &torque);
    return vec3_length(force);
}

static bool breaks(exact *x, int64_t item, double t) {
    const hinge *h = &x->model->hinges[x->hinges[item]].h;
    return evaluate(x, t) && hinge_load(x, (int)item) > h->break_force;
}

int exact_limit_reached(exact *x, int entry) {
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    int la = x->local_of[h->a], lb = h->b >= 0 ? x->local_of[h->b] : -1;
    const motion *b = lb >= 0 ? &x->motions[lb] : NULL;
    double value, rate, slack = 0.01 * x->model->tolerance.touching;
    row r;
    if (!h->has_limits || !hinge_coordinate(h, &x->motions[la], b, x->hinge_known[entry], &value, &rate, &r))
        return 0;
    slack += 2 * x->model->tolerance.event * fabs(rate);
    if (rate < 0 && value - h->limits[0] <= slack) return -1;
    return rate > 0 && h->limits[1] - value <= slack ? 1 : 0;
}

static void find_limits(exact *x, int entry, double t0, double t1, exact_event *best) {
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    const hinge_memory *memory = &run_hinges(x->run->state)[x->hinges[entry]];
    for (int side = 0; side < 2 && h->has_limits && !memory->broken; side++) {
        exact_sample a, b, root;
        int64_t item = 2 * (int64_t)entry + side;
        if (memory->at_limit == (side ? 1 : -1)) continue;
        if (!probe_limit(x, item, t0, &a) || !probe_limit(x, item, t1, &b)) continue;
        if (b.g > 0) continue;
        double stood = a.g;
        if (stood <= 0 && !probe_flight(x, item, t0, t1, &a)) {
            if (b.g < stood) exact_consider(best, EXACT_LIMIT, item, t0); /* it is pressed against it */
        } else if (exact_refine(x, item, probe_limit, a, b, &root))
            exact_consider(best, EXACT_LIMIT, item, root.t);
    }
}

double exact_find_limit(exact *x, double t0, double t1) {
    exact_event first = {.kind = EXACT_NOTHING, .item = -1, .time = INFINITY};
    for (int i = 0; i < x->hinge_count; i++) find_limits(x, i, t0, t1, &first);
    return first.time;
}

static void find_hinges(exact *x, double t0, double t1, exact_event *best) {
    for (int i = 0; i < x->hinge_count; i++) {
        const hinge *h = &x->model->hinges[x->hinges[i]].h;
        if (run_hinges(x->run->state)[x->hinges[i]].broken) continue;
        find_limits(x, i, t0, t1, best);
        if (isfinite(h->break_force) && breaks(x, i, fmin(t1, best->time)))
            exact_consider(best, EXACT_BREAKS, i, exact_bisect(x, i, breaks, t0, fmin(t1, best->time)));
    }
}

exact_event exact_find_event(exact *x, double t0, double t1) {
    exact_event best = exact_find_gap(x, t0, t1);
    t1 = x->proven;
    double end = fmin(t1, best.time);
    find_leaves(x, t0, end, &best);
    find_sticks(x, t0, fmin(end, best.time), &best);
    exact_find_turns(x, t0, fmin(end, best.time), &best);
    find_changes(x, t0, fmin(end, best.time), &best);
    find_hinges(x, t0, fmin(end, best.time), &best);
    exact_find_motors(x, t0, fmin(end, best.time), &best);
    x->late = best.kind == EXACT_VANISHES ? fmin(vanished_late(x, best.item, best.time), best.time - t0)
                                          : -find_end_of_slip(x, t1, &best);
    return best;
}
