/* The first event on the dense output of a step.  Each monitored function is smooth on its side of the event,
 * and is refined there to the last digits; classification only brackets (DESIGN, traps).
 *
 *   gap        a near pair that does not touch: its gap reaches zero where its features face each other
 *   joins      a near pair that lies in contact beside its features comes to face (a corner slides onto a
 * face) leaves     a touching pair no longer faces (a corner slides off) vanishes   the acceleration of a gap
 * becomes positive sticks     the slip of a sliding point ends slips      the friction cone of a sticking
 * point is left limit      the coordinate of a hinge reaches a limit;   breaks   a hinge carries more than it
 * can
 *
 * Ties go to the earlier one in this list, and within a kind to the smaller number. */
#include "sim/exact.h"

enum { REFINE = 100, SAMPLES = 4, SUBDIVISIONS = 8, MOST_PIECES = 16 };

/* ---- placing bodies on the dense output */

abut_status exact_place_dense(exact *x, double time, abut_error *error) {
    ode_dense(&x->integrator, time, x->y_dense);
    return exact_place(x, time, x->y_dense, error);
}

/* The numbers of one body: c0 + s (c1 + (1 - s) (c2 + s (...))), as ode_dense does for all. */
static void dense_numbers(const ode *o, double time, int first, double y[BODY_NUMBERS]) {
    double s = (time - o->t_old) / (o->t - o->t_old), r = 1 - s;
    for (int i = 0; i < BODY_NUMBERS; i++) {
        double value = o->dense[ODE_DENSE - 1][first + i];
        for (int k = ODE_DENSE - 2; k >= 0; k--) value = o->dense[k][first + i] + (k % 2 ? r : s) * value;
        y[i] = value;
    }
}

/* Only the two bodies of a pair: what gap functions need. */
static abut_status place_two(exact *x, double time, int a, int b, abut_error *error) {
    int who[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        int i = who[k];
        if (x->placed_at[i] == time) continue;
        if (i < x->movable) {
            double y[BODY_NUMBERS];
            dense_numbers(&x->integrator, time, BODY_NUMBERS * i, y);
            x->motions[i] = (motion){{y[0], y[1], y[2]},
                                     quat_unit((quat){y[3], y[4], y[5], y[6]}),
                                     {{y[7], y[8], y[9]}, {y[10], y[11], y[12]}}};
        } else if (x->model->bodies[x->bodies[i]].kinematic) {
            abut_status status = model_kinematic_motion(x->model, x->bodies[i], time, &x->motions[i],
                                                        &x->prescribed[i], error);
            if (status != ABUT_OK) return status;
        }
        x->placed_at[i] = time;
    }
    return ABUT_OK;
}

/* ---- smooth functions of time */

typedef struct sample {
    double t, g, rate;
} sample;

/* Value of a monitored function at a time; false when it cannot be evaluated there. */
typedef bool probe(exact *x, int64_t item, double t, sample *s);

static bool probe_place(exact *x, int64_t item, double t, sample *s, bool *faces) {
    const exact_near *n = &x->nears.data[item];
    contact_point p;
    if (place_two(x, t, n->a, n->b, NULL) != ABUT_OK || !exact_near_at(x, n, &p, faces)) return false;
    *s = (sample){t, p.gap, exact_gap_rate(x, n->a, n->b, &p)};
    return true;
}

/* The gap alone: whether the features face each other there costs more, and is asked where it matters. */
static bool probe_gap(exact *x, int64_t item, double t, sample *s) {
    bool faces; /* of smooth surfaces the whole surface is asked for both */
    return probe_place(x, item, t, s, smooth_is_pair(&x->nears.data[item].pair) ? &faces : NULL);
}

static bool faces_at(exact *x, int64_t item, double t) {
    sample s;
    bool faces;
    return probe_place(x, item, t, &s, &faces) && faces;
}

/* Slip along the direction of the step's start; its rate is not needed. */
static bool probe_slip(exact *x, int64_t item, double t, sample *s) {
    const group_contact *c = &x->contacts.data[item];
    contact_point p;
    const exact_touch *place = &x->touches.data[item];
    exact_near n = {.pair = place->pair, .a = c->a, .b = c->b};
    bool faces;
    if (place_two(x, t, c->a, c->b, NULL) != ABUT_OK || !exact_near_at(x, &n, &p, &faces)) return false;
    vec3 u = contact_slip(&p, &x->motions[c->a], &x->motions[c->b]);
    s->t = t, s->g = c->face > 0 ? exact_face_slip(x, item, &p) : vec3_dot(u, place->slip_start);
    s->rate = NAN;
    return true;
}

static bool is_smooth_gap(const exact *x, int64_t item, probe *f) {
    return f == probe_gap && smooth_is_pair(&x->nears.data[item].pair);
}

/* A sample between a and b, at t if there is one: the place of smooth surfaces may not be found at some
 * moment, and a gap that closes is not lost by that. */
static bool probe_between(exact *x, int64_t item, probe *f, const sample *a, const sample *b, double t,
                          sample *m) {
    static const double parts[] = {0.5, 0.25, 0.75, 0.125, 0.875, 0.0625, 0.9375};
    if (f(x, item, t, m)) return true;
    for (int k = 0; k < COUNT_OF(parts) && is_smooth_gap(x, item, f); k++) {
        double s = a->t + parts[k] * (b->t - a->t);
        if (s > a->t && s < b->t && f(x, item, s, m)) return true;
    }
    return false;
}

/* The zero of g between a (g > 0) and b (g <= 0), by the Illinois variant of regula falsi with bisection as a
 * safeguard: to a width of rounding.  The answer is the side with g > 0 or zero, so that nothing overlaps;
 * where a place of smooth surfaces cannot be found between them it is a: the next step starts there. */
static bool refine(exact *x, int64_t item, probe *f, sample a, sample b, sample *root) {
    double ga = a.g, gb = b.g;
    int side = 0;
    for (int i = 0; i < REFINE; i++) {
        double width = b.t - a.t;
        if (width <= 4e-16 * fmax(fabs(a.t), fabs(b.t)) || a.g == 0) break;
        double t = i % 4 == 3 ? a.t + width / 2 : a.t + width * ga / (ga - gb);
        if (!(t > a.t && t < b.t)) t = a.t + width / 2;
        if (!(t > a.t && t < b.t)) break;
        sample m;
        if (!probe_between(x, item, f, &a, &b, t, &m)) {
            *root = a;
            return is_smooth_gap(x, item, f);
        }
        if (m.g > 0) {
            a = m, ga = m.g;
            if (side == 1) gb /= 2;
            side = 1;
        } else {
            b = m, gb = m.g;
            if (side == -1) ga /= 2;
            side = -1;
        }
        if (fabs(m.g) < 1e-15 * x->model->size && width < x->model->tolerance.event) break;
    }
    *root = b.g == 0 || fabs(b.g) < a.g ? b : a;
    return true;
}

/* Smallest value of the cubic with the given values and rates at the ends, and where. */
static double cubic_least(const sample *a, const sample *b, double *where) {
    double h = b->t - a->t, least = fmin(a->g, b->g);
    *where = a->g < b->g ? a->t : b->t;
    for (int i = 1; i < 16; i++) {
        double s = i / 16.0, r = 1 - s;
        double g = a->g * r * r * (1 + 2 * s) + b->g * s * s * (1 + 2 * r) +
                   h * (a->rate * s * r * r - b->rate * s * s * r);
        if (g < least) least = g, *where = a->t + s * h;
    }
    return least;
}

/* A gap that closed beside its features touches only if they come to face each other before they have passed.
 */
static bool comes_to_face(exact *x, int64_t item, sample b, sample *root) {
    sample a = *root;
    if (!faces_at(x, item, b.t)) return false;
    for (int i = 0; i < REFINE && b.t - a.t > 0.1 * x->model->tolerance.event; i++) {
        sample m;
        bool faces;
        if (!probe_place(x, item, a.t + (b.t - a.t) / 2, &m, &faces)) return false;
        if (faces)
            b = m;
        else
            a = m;
    }
    *root = b;
    return b.g >= -x->model->tolerance.touching;
}

/* The first time in (a, b] at which g falls to zero while the features face each other.  Between samples the
 * gap is compared with the cubic through values and rates; where it would come near zero, or the cubic is not
 * yet a good picture, the interval is halved. */
static bool first_zero(exact *x, int64_t item, sample a, sample b, int depth, sample *root) {
    if (a.g > 0 && b.g <= 0)
        return refine(x, item, probe_gap, a, b, root) &&
               (faces_at(x, item, root->t) || comes_to_face(x, item, b, root));
    if (a.g <= 0) return false;
    double where, least = cubic_least(&a, &b, &where);
    double middle = a.t + (b.t - a.t) / 2;
    if (least > 0.5 * fmin(a.g, b.g) && depth < SUBDIVISIONS) return false;
    if (depth == 0 || where <= a.t || where >= b.t) where = middle;
    sample m;
    if (depth == 0 || !probe_between(x, item, probe_gap, &a, &b, where, &m)) return false;
    if (m.g <= 0) return first_zero(x, item, a, m, depth - 1, root);
    if (fabs(m.g - least) <= 0.05 * m.g && m.g > 0)
        return false; /* the cubic is right, and stays above zero */
    return first_zero(x, item, a, m, depth - 1, root) || first_zero(x, item, m, b, depth - 1, root);
}

/* A pair that just bounced, or lost contact, starts at zero: go to the earliest place where it is clearly
 * apart, by halving. */
static bool leave_zero(exact *x, int64_t item, double t1, sample *a) {
    double t0 = a->t, clear = 1e-6 * x->model->tolerance.touching;
    bool found = false;
    for (double part = 0.5; part > 1e-12; part /= 2) {
        sample m;
        if (!probe_gap(x, item, t0 + part * (t1 - t0), &m)) return false;
        if (m.g > 0 && (!found || m.g > clear))
            *a = m, found = true;
        else if (found)
            break;
    }
    return found;
}

static void consider(exact_event *best, exact_event_kind kind, int64_t item, double time) {
    bool tie = time == best->time && kind == best->kind && item < best->item;
    if (time < best->time || tie) *best = (exact_event){kind, item, time};
}

/* A gap that is behind at both ends, and in front between: in the middle, or where the cubic through both
 * ends is highest. */
static bool comes_forward(exact *x, int64_t item, sample b, sample *a) {
    sample low = {a->t, -a->g, -a->rate}, high = {b.t, -b.g, -b.rate}, m;
    double highest;
    cubic_least(&low, &high, &highest);
    const double times[] = {a->t + (b.t - a->t) / 2, highest};
    for (int k = 0; k < 2; k++)
        if (times[k] > a->t && times[k] < b.t && probe_gap(x, item, times[k], &m) && m.g > 0) {
            *a = m;
            return true;
        }
    return false;
}

/* Where the search for a zero begins.  A pair that starts clearly apart begins at the start of the step; one
 * that starts at zero where it has left it; one that starts behind (its features do not face) where it has
 * come to the front. */
static bool find_start(exact *x, int64_t item, const sample *b, sample *a, bool *stays) {
    double zero = 1e-6 * x->model->tolerance.touching, deep = -4 * x->model->tolerance.touching;
    *stays = false;
    if (a->g > zero) return true;
    if (a->g < deep) {
        return b->g <= 0 && comes_forward(x, item, *b, a);
    }
    if (leave_zero(x, item, b->t, a)) return true;
    *stays = b->g > deep;
    return false;
}

/* In how many pieces the step is searched.  Where the normal swings (edges that pass through being parallel,
 * rims that cross an edge) values and rates at the ends say little of what is between: a piece for each
 * eighth of a radian.  Otherwise one, if the gap can get to zero by its values and rates at both ends, or
 * none.  The bodies are placed at the end, *gap is the gap there. */
static int pieces_of(const exact *x, exact_near *n, double h, double *gap) {
    contact_point p;
    *gap = NAN;
    if (!n->known) return MOST_PIECES;                      /* a rim that lies flat may come to lean */
    if (!exact_near_at(x, n, &p, NULL)) return MOST_PIECES; /* parallel just then */
    *gap = p.gap;
    double swing = vec3_distance(n->normal, p.normal);
    if (swing > 0.25) return (int)fmin(ceil(8 * swing), MOST_PIECES);
    n->fastest = fmax(fabs(n->rate), fabs(exact_gap_rate(x, n->a, n->b, &p)));
    double reach = n->fastest * h;
    return n->gap <= 2 * reach || p.gap <= 2 * reach;
}

/* A pair that starts behind, beside its features (a capsule's axis, while its end touches) touches when they
 * come to face each other, if its gap has come back to zero by then. */
static bool comes_back(exact *x, int64_t item, sample a, sample b, sample *root) {
    double epsilon = x->model->tolerance.touching;
    double reach = fmax(fabs(a.rate), fabs(b.rate)) * (b.t - a.t);
    if (b.g > epsilon || a.g < -2 * reach - epsilon || !faces_at(x, item, b.t)) return false;
    bool faces;
    if (!probe_place(x, item, a.t, root, &faces) || faces) return false;
    return comes_to_face(x, item, b, root);
}

/* A pair that was let go at zero, or a little deeper, face to face, and is pressed again before it was apart:
 * however deep it would be at the end of the step.  It joins when it is deeper than it was. */
static bool let_go(exact *x, int64_t item, double t0, const sample *b, double *join_gap) {
    double epsilon = x->model->tolerance.touching, gap = x->nears.data[item].gap;
    *join_gap = fmin(gap, 0) - 1e-3 * epsilon;
    return b->g <= *join_gap && fabs(gap) <= epsilon && faces_at(x, item, t0);
}

/* ---- yes or no functions, located by bisection to the accuracy of events */

typedef bool holds(exact *x, int64_t item, double t);

/* The latest time at which it still does not hold, to a tenth of the event tolerance. */
static double bisect(exact *x, int64_t item, holds *f, double t0, double t1) {
    double width = 0.1 * x->model->tolerance.event;
    for (int i = 0; i < 64 && t1 - t0 > width; i++) {
        double t = t0 + (t1 - t0) / 2;
        if (f(x, item, t))
            t1 = t;
        else
            t0 = t;
    }
    return t1;
}

static bool joins(exact *x, int64_t item, double t) {
    sample s;
    const exact_near *n = &x->nears.data[item];
    if (!probe_gap(x, item, t, &s) || s.g > n->join_gap) return false;
    return n->join_beside || faces_at(x, item, t);
}

/* A pair that joins within (t0, t]: located at once, since by the time of another event that was found first
 * it may be too deep to be known as a contact. */
static void consider_join(exact *x, int64_t item, double gap, bool beside, double t0, double t,
                          exact_event *best) {
    x->nears.data[item].join_gap = gap, x->nears.data[item].join_beside = beside;
    consider(best, EXACT_JOINS, item, bisect(x, item, joins, t0, t));
}

/* ---- places that sweep along a line
 *
 * Where two lines turn through being nearly parallel their place runs from beyond one end to beyond the other
 * within a moment, and the gap, which says nothing of the features there, is behind before and after.  The
 * moment is found by the sides on which the place is, and the gap is searched in it alone. */

/* Where the place lies on the line a (which = 0) or b: before its lower end -1, beyond its upper 1, on it 0.
 */
static int side_on_line(exact *x, int64_t item, int which, double t) {
    const exact_near *n = &x->nears.data[item];
    const element *e = which ? &n->pair.b : &n->pair.a;
    contact_point p;
    double s[2];
    if (e->kind != ELEMENT_LINE || place_two(x, t, n->a, n->b, NULL) != ABUT_OK) return 0;
    if (!element_contact(&n->pair.a, &x->motions[n->a], &n->pair.b, &x->motions[n->b], n->pair.sign, &p,
                         &s[0], &s[1]))
        return 0;
    return s[which] < e->lo ? -1 : s[which] > e->hi;
}

/* Narrows the time to that in which the place is on the line; false where it stays on one side of it. */
static bool narrow(exact *x, int64_t item, int which, double *lo, double *hi) {
    int from = side_on_line(x, item, which, *lo), to = side_on_line(x, item, which, *hi);
    if (from != 0 && from == to) return false;
    double off = *lo, on = *hi;
    for (int i = 0; i < 60 && from != 0; i++) {
        double t = off + (on - off) / 2;
        if (side_on_line(x, item, which, t) == from)
            off = t;
        else
            on = t;
    }
    if (from != 0) *lo = on;
    on = *lo, off = *hi;
    for (int i = 0; i < 60 && to != 0; i++) {
        double t = on + (off - on) / 2;
        if (side_on_line(x, item, which, t) == to)
            off = t;
        else
            on = t;
    }
    if (to != 0) *hi = on;
    return true;
}

static void search_sweep(exact *x, int64_t item, double from, double to, exact_event *best) {
    double lo = from, hi = to;
    sample a, b, root;
    if (!exact_has_round_line(&x->nears.data[item].pair)) return;
    if (side_on_line(x, item, 0, lo) == 0 && side_on_line(x, item, 1, lo) == 0) return;
    if (!narrow(x, item, 0, &lo, &hi) || !narrow(x, item, 1, &lo, &hi)) return;
    if (!probe_gap(x, item, lo, &a) || !probe_gap(x, item, hi, &b)) return;
    if (a.g > 0) {
        if (first_zero(x, item, a, b, SUBDIVISIONS, &root)) consider(best, EXACT_GAP, item, root.t);
    } else if (a.g >= -x->model->tolerance.touching && b.g < a.g &&
               lo > from + 1e-3 * x->model->tolerance.event) {
        consider(best, EXACT_JOINS, item, lo);
    }
}

/* The gap of a pair between two samples of a step that began at t0. */
static void search_piece(exact *x, int64_t i, double t0, sample a, sample b, exact_event *best) {
    double epsilon = x->model->tolerance.touching, start = a.t, join_gap;
    sample root;
    bool stays;
    if (find_start(x, i, &b, &a, &stays)) {
        if (first_zero(x, i, a, b, SUBDIVISIONS, &root))
            consider(best, EXACT_GAP, i, root.t);
        else
            search_sweep(x, i, start, b.t, best);
    } else if (start == t0 && let_go(x, i, t0, &b, &join_gap)) {
        consider_join(x, i, join_gap, true, t0, b.t, best);
    } else if (stays && b.g <= 1e-3 * epsilon && faces_at(x, i, b.t) && !faces_at(x, i, start)) {
        /* in contact all the time, beside its features until now; what faced all the time was let go */
        consider_join(x, i, 1e-3 * epsilon, false, start, b.t, best);
    } else if (comes_back(x, i, a, b, &root)) {
        consider_join(x, i, epsilon, false, start, root.t, best);
    } else {
        search_sweep(x, i, start, b.t, best);
    }
}

/* ---- gaps of pairs that do not touch */

/* A near pair that may close within the step, and when it does if its gap falls evenly. */
typedef struct candidate {
    int64_t item;
    double when;
} candidate;
typedef struct candidates {
    candidate *items;
    int64_t count;
} candidates;

/* Pairs that do not sleep through the whole step, known at its start t0. */
static bool wake(exact *x, double t0, double t1, candidates *out) {
    out->count = 0;
    out->items = arena_alloc(x->arena, (size_t)x->nears.count + 1, sizeof *out->items);
    for (int64_t i = 0; i < x->nears.count && out->items; i++) {
        exact_near *n = &x->nears.data[i];
        contact_point p;
        if (n->touching || exact_sleeps(x, n, t1)) continue;
        if (n->asleep && place_two(x, t0, n->a, n->b, NULL) == ABUT_OK) exact_know_near(x, n, &p);
        n->asleep = false;
        out->items[out->count++] = (candidate){i, INFINITY};
    }
    return out->items != NULL;
}

static int earlier(const void *user, const void *a, const void *b) {
    (void)user;
    double s = ((const candidate *)a)->when, t = ((const candidate *)b)->when;
    return (s > t) - (s < t);
}

/* Those that may close by their values at both ends; the first to close first, so that little of the step is
 * left to be searched for the others. */
static bool sort_candidates(exact *x, double t0, double t1, candidates *list) {
    int64_t count = 0;
    if (exact_place_dense(x, t1, NULL) != ABUT_OK) return false;
    for (int i = 0; i < x->count; i++) x->placed_at[i] = t1;
    for (int64_t k = 0; k < list->count; k++) {
        exact_near *n = &x->nears.data[list->items[k].item];
        double gap;
        n->pieces = pieces_of(x, n, t1 - t0, &gap);
        if (n->pieces == 0) continue;
        bool closes = n->gap > 0 && gap <= 0;
        double when = closes ? t0 + (t1 - t0) * n->gap / (n->gap - gap) : INFINITY;
        list->items[count++] = (candidate){list->items[k].item, when};
    }
    list->count = count;
    return sort_stable(&x->run->context, list->items, (size_t)count, sizeof *list->items, earlier, NULL);
}

/* The pieces that are left to be searched when the step ends earlier than they were told for. */
static int pieces_left(exact *x, exact_near *n, double t0, double end) {
    double gap;
    if (exact_sleeps(x, n, end)) return 0;
    if (n->pieces == 1) return n->gap <= 2 * n->fastest * (end - t0);
    return place_two(x, end, n->a, n->b, NULL) == ABUT_OK ? pieces_of(x, n, end - t0, &gap) : n->pieces;
}

static void search_pair(exact *x, int64_t i, double t0, double end, exact_event *best) {
    const exact_near *n = &x->nears.data[i];
    double before = best->time;
    sample a = {t0, n->gap, n->rate}, b;
    bool known = n->known;
    double deeper = -1e-3 * x->model->tolerance.touching;
    for (int k = 1; k <= n->pieces && best->time == before; k++) {
        bool fine = probe_gap(x, i, k < n->pieces ? t0 + (end - t0) * k / n->pieces : end, &b);
        /* a place that is not found at this moment: the next piece begins where this one does */
        if (!fine && known && smooth_is_pair(&n->pair)) continue;
        if (fine && known) search_piece(x, i, t0, a, b, best);
        /* a rim that lay flat has come to lean, and its deepest place is behind */
        if (fine && !known && b.g <= deeper && faces_at(x, i, b.t))
            consider_join(x, i, deeper, false, t0, b.t, best);
        a = b, known = fine;
    }
}

static void find_gaps(exact *x, double t0, double t1, exact_event *best) {
    arena_mark mark = arena_save(x->arena);
    candidates list;
    if (wake(x, t0, t1, &list) && sort_candidates(x, t0, t1, &list))
        for (int64_t k = 0; k < list.count; k++) {
            exact_near *n = &x->nears.data[list.items[k].item];
            double end = fmin(t1, best->time);
            if (end < t1) n->pieces = pieces_left(x, n, t0, end);
            search_pair(x, list.items[k].item, t0, end, best);
        }
    arena_restore(x->arena, mark);
}

static bool leaves(exact *x, int64_t item, double t) {
    const group_contact *c = &x->contacts.data[item];
    contact_point p;
    bool faces;
    exact_near n = {.pair = x->touches.data[item].pair, .a = c->a, .b = c->b};
    if (place_two(x, t, c->a, c->b, NULL) != ABUT_OK) return true;
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

/* ---- contacts that last */

static void find_leaves(exact *x, double t0, double t1, exact_event *best) {
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (leaves(x, i, t1)) consider(best, EXACT_LEAVES, i, bisect(x, i, leaves, t0, t1));
}

static void find_sticks(exact *x, double t0, double t1, exact_event *best) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        if (x->contacts.data[i].mode != FRICTION_SLIP) continue;
        if (x->contacts.data[i].face > 0 && !exact_face_is_first(x, i)) continue;
        sample a, b, root;
        if (!probe_slip(x, i, t0, &a) || !probe_slip(x, i, t1, &b) || b.g > 0) continue;
        if (a.g <= 0) { /* slip that has just begun starts at zero */
            if (!probe_slip(x, i, t0 + (t1 - t0) / 64, &a) || a.g <= 0) continue;
        }
        if (refine(x, i, probe_slip, a, b, &root)) consider(best, EXACT_STICKS, i, root.t);
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
            consider(best, EXACT_VANISHES, (int64_t)i, bisect(x, (int64_t)i, vanishes, t0, end));
        if (what[i] == 2 && slips(x, (int64_t)i, end))
            consider(best, EXACT_SLIPS, (int64_t)i, bisect(x, (int64_t)i, slips, t0, end));
    }
    arena_restore(x->arena, mark);
}

/* ---- hinges */

static bool coordinate_at(exact *x, int entry, double t, double *value, double *rate) {
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    int la = x->local_of[h->a], lb = h->b >= 0 ? x->local_of[h->b] : -1;
    row r;
    if (place_two(x, t, la, lb >= 0 ? lb : la, NULL) != ABUT_OK) return false;
    return hinge_coordinate(h, &x->motions[la], lb >= 0 ? &x->motions[lb] : NULL, x->hinge_values[entry],
                            value, rate, &r);
}

/* Distance to the limit that is `item & 1`, of hinge item / 2. */
static bool probe_limit(exact *x, int64_t item, double t, sample *s) {
    int entry = (int)(item / 2);
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    double value, rate;
    if (!coordinate_at(x, entry, t, &value, &rate)) return false;
    bool upper = item & 1;
    *s = (sample){t, upper ? h->limits[1] - value : value - h->limits[0], upper ? -rate : rate};
    return true;
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

static void find_hinges(exact *x, double t0, double t1, exact_event *best) {
    for (int i = 0; i < x->hinge_count; i++) {
        const hinge *h = &x->model->hinges[x->hinges[i]].h;
        const hinge_memory *memory = &run_hinges(x->run->state)[x->hinges[i]];
        if (memory->broken) continue;
        for (int side = 0; side < 2 && h->has_limits; side++) {
            sample a, b, root;
            int64_t item = 2 * (int64_t)i + side;
            if (memory->at_limit == (side ? 1 : -1)) continue;
            if (!probe_limit(x, item, t0, &a) || !probe_limit(x, item, t1, &b)) continue;
            if (a.g <= 0 && !(probe_limit(x, item, t0 + (t1 - t0) / 64, &a) && a.g > 0)) continue;
            if (b.g <= 0 && refine(x, item, probe_limit, a, b, &root))
                consider(best, EXACT_LIMIT, item, root.t);
        }
        if (isfinite(h->break_force) && breaks(x, i, fmin(t1, best->time)))
            consider(best, EXACT_BREAKS, i, bisect(x, i, breaks, t0, fmin(t1, best->time)));
    }
}

exact_event exact_find_gap(exact *x, double t0, double t1) {
    exact_event best = {.kind = EXACT_NOTHING, .item = -1, .time = INFINITY};
    exact_forget_places(x);
    find_gaps(x, t0, t1, &best);
    return best;
}

exact_event exact_find_event(exact *x, double t0, double t1) {
    exact_event best = exact_find_gap(x, t0, t1);
    double end = fmin(t1, best.time);
    find_leaves(x, t0, end, &best);
    find_sticks(x, t0, fmin(end, best.time), &best);
    find_changes(x, t0, fmin(end, best.time), &best);
    find_hinges(x, t0, fmin(end, best.time), &best);
    x->late = best.kind == EXACT_VANISHES ? fmin(vanished_late(x, best.item, best.time), best.time - t0) : 0;
    return best;
}
