/* The first gap that closes on the dense output of a step, among the near pairs that do not touch.
 *
 *   gap      the gap reaches zero where the features face each other
 *   joins    a pair that lies in contact beside its features comes to face:
 *            a corner slides onto a face
 *
 * A gap is smooth on its side of the event and is refined there to the last digits; whether features face
 * each other only brackets (DESIGN, traps). */
#include "sim/exact_search.h"

enum { REFINE = 100, SUBDIVISIONS = 8, SMOOTH_PIECES = 16, PIECES = 32, ROUNDS = 16 };

/* ---- the gap as a function of time */

static bool probe_place(exact *x, int64_t item, double t, exact_sample *s, bool *faces) {
    const exact_near *n = &x->nears.data[item];
    contact_point p;
    if (exact_place_two(x, t, n->a, n->b, NULL) != ABUT_OK || !exact_near_at(x, n, &p, faces)) return false;
    *s = (exact_sample){t, p.gap, exact_gap_rate(x, n->a, n->b, &p)};
    return true;
}

/* The gap alone: whether the features face each other there costs more, and is asked where it matters. */
bool exact_probe_gap(exact *x, int64_t item, double t, exact_sample *s) {
    bool faces; /* of smooth surfaces the whole surface is asked for both */
    return probe_place(x, item, t, s, smooth_is_pair(&x->nears.data[item].pair) ? &faces : NULL);
}

static bool faces_at(exact *x, int64_t item, double t) {
    exact_sample s;
    bool faces;
    return probe_place(x, item, t, &s, &faces) && faces;
}

/* Smallest value of the cubic with the given values and rates at the ends, and where. */
static double cubic_least(const exact_sample *a, const exact_sample *b, double *where) {
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
static bool comes_to_face(exact *x, int64_t item, exact_sample b, exact_sample *root) {
    exact_sample a = *root;
    if (!faces_at(x, item, b.t)) return false;
    for (int i = 0; i < REFINE && b.t - a.t > 0.1 * x->model->tolerance.event; i++) {
        exact_sample m;
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
static bool first_zero(exact *x, int64_t item, exact_sample a, exact_sample b, int depth,
                       exact_sample *root) {
    if (a.g > 0 && b.g <= 0)
        return exact_refine(x, item, exact_probe_gap, a, b, root) &&
               (faces_at(x, item, root->t) || comes_to_face(x, item, b, root));
    if (a.g <= 0) return false;
    double where, least = cubic_least(&a, &b, &where);
    double middle = a.t + (b.t - a.t) / 2;
    if (least > 0.5 * fmin(a.g, b.g) && depth < SUBDIVISIONS) return false;
    if (depth == 0 || where <= a.t || where >= b.t) where = middle;
    exact_sample m;
    if (depth == 0 || !exact_probe_between(x, item, exact_probe_gap, &a, &b, where, &m)) return false;
    if (m.g <= 0) return first_zero(x, item, a, m, depth - 1, root);
    if (fabs(m.g - least) <= 0.05 * m.g && m.g > 0)
        return false; /* the cubic is right, and stays above zero */
    return first_zero(x, item, a, m, depth - 1, root) || first_zero(x, item, m, b, depth - 1, root);
}

/* A pair that just bounced, or lost contact, starts at zero: go to the earliest place where it is clearly
 * apart, by halving. */
static bool leave_zero(exact *x, int64_t item, double t1, exact_sample *a) {
    double t0 = a->t, clear = 1e-6 * x->model->tolerance.touching;
    bool found = false;
    for (double part = 0.5; part > 1e-12; part /= 2) {
        exact_sample m;
        if (!exact_probe_gap(x, item, t0 + part * (t1 - t0), &m)) return false;
        if (m.g > 0 && (!found || m.g > clear))
            *a = m, found = true;
        else if (found)
            break;
    }
    return found;
}

/* A gap that is behind at both ends, and in front between: in the middle, or where the cubic through both
 * ends is highest. */
static bool comes_forward(exact *x, int64_t item, exact_sample b, exact_sample *a) {
    exact_sample low = {a->t, -a->g, -a->rate}, high = {b.t, -b.g, -b.rate}, m;
    double highest;
    cubic_least(&low, &high, &highest);
    const double times[] = {a->t + (b.t - a->t) / 2, highest};
    for (int k = 0; k < 2; k++)
        if (times[k] > a->t && times[k] < b.t && exact_probe_gap(x, item, times[k], &m) && m.g > 0) {
            *a = m;
            return true;
        }
    return false;
}

/* Where the search for a zero begins.  A pair that starts clearly apart begins at the start of the step; one
 * that starts at zero where it has left it; one that starts behind (its features do not face) where it has
 * come to the front. */
static bool find_start(exact *x, int64_t item, const exact_sample *b, exact_sample *a, bool *stays) {
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

/* A pair that starts behind, beside its features (a capsule's axis, while its end touches) touches when they
 * come to face each other, if its gap has come back to zero by then. */
static bool comes_back(exact *x, int64_t item, exact_sample a, exact_sample b, exact_sample *root) {
    double epsilon = x->model->tolerance.touching;
    double reach = fmax(fabs(a.rate), fabs(b.rate)) * (b.t - a.t);
    if (b.g > epsilon || a.g < -2 * reach - epsilon || !faces_at(x, item, b.t)) return false;
    bool faces;
    if (!probe_place(x, item, a.t, root, &faces) || faces) return false;
    return comes_to_face(x, item, b, root);
}

/* A pair that was let go at zero, or a little deeper, face to face, and is pressed again before it was apart:
 * however deep it would be at the end of the step.  It joins when it is deeper than it was. */
static bool let_go(exact *x, int64_t item, double t0, const exact_sample *b, double *join_gap) {
    double epsilon = x->model->tolerance.touching, gap = x->nears.data[item].gap;
    *join_gap = fmin(gap, 0) - 1e-3 * epsilon;
    return b->g <= *join_gap && fabs(gap) <= epsilon && faces_at(x, item, t0);
}

/* ---- pairs that join */

static bool joins(exact *x, int64_t item, double t) {
    exact_sample s;
    const exact_near *n = &x->nears.data[item];
    if (!exact_probe_gap(x, item, t, &s) || s.g > n->join_gap) return false;
    return n->join_beside || faces_at(x, item, t);
}

/* A pair that joins within (t0, t]: located at once, since by the time of another event that was found first
 * it may be too deep to be known as a contact. */
static void consider_join(exact *x, int64_t item, double gap, bool beside, double t0, double t,
                          exact_event *best) {
    x->nears.data[item].join_gap = gap, x->nears.data[item].join_beside = beside;
    exact_consider(best, EXACT_JOINS, item, exact_bisect(x, item, joins, t0, t));
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
    if (e->kind != ELEMENT_LINE || exact_place_two(x, t, n->a, n->b, NULL) != ABUT_OK) return 0;
    if (!element_contact(&n->pair.a, &x->motions[n->a], &n->pair.b, &x->motions[n->b], n->pair.sign, &p,
                         &s[0], &s[1]))
        return 0;
    return s[which] < e->lo ? -1 : s[which] > e->hi;
}

/* The last time on the way from `on` to `off` at which the place is not yet on that side; at `off` it is. */
static double end_of_line(exact *x, int64_t item, int which, int side, double on, double off) {
    for (int i = 0; i < 60; i++) {
        double t = fmin(on, off) + fabs(off - on) / 2;
        if (side_on_line(x, item, which, t) == side)
            off = t;
        else
            on = t;
    }
    return on;
}

/* Narrows the time to that in which the place is on the line; false where it stays on one side of it. */
static bool narrow(exact *x, int64_t item, int which, double *lo, double *hi) {
    int from = side_on_line(x, item, which, *lo), to = side_on_line(x, item, which, *hi);
    if (from != 0 && from == to) return false;
    if (from != 0) *lo = end_of_line(x, item, which, from, *hi, *lo);
    if (to != 0) *hi = end_of_line(x, item, which, to, *lo, *hi);
    return true;
}

static void search_sweep(exact *x, int64_t item, double from, double to, exact_event *best) {
    double lo = from, hi = to;
    exact_sample a, b, root;
    if (!exact_has_round_line(&x->nears.data[item].pair)) return;
    if (side_on_line(x, item, 0, lo) == 0 && side_on_line(x, item, 1, lo) == 0) return;
    if (!narrow(x, item, 0, &lo, &hi) || !narrow(x, item, 1, &lo, &hi)) return;
    if (!exact_probe_gap(x, item, lo, &a) || !exact_probe_gap(x, item, hi, &b)) return;
    if (a.g > 0) {
        if (first_zero(x, item, a, b, SUBDIVISIONS, &root)) exact_consider(best, EXACT_GAP, item, root.t);
    } else if (a.g >= -x->model->tolerance.touching && b.g < a.g &&
               lo > from + 1e-3 * x->model->tolerance.event) {
        exact_consider(best, EXACT_JOINS, item, lo);
    }
}

/* The gap of a pair between two samples of a step that began at t0. */
static void search_piece(exact *x, int64_t i, double t0, exact_sample a, exact_sample b, exact_event *best) {
    double epsilon = x->model->tolerance.touching, start = a.t, join_gap;
    exact_sample root;
    bool stays;
    if (find_start(x, i, &b, &a, &stays)) {
        if (first_zero(x, i, a, b, SUBDIVISIONS, &root))
            exact_consider(best, EXACT_GAP, i, root.t);
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

/* In how many pieces a pair of smooth surfaces is searched: one for each eighth of a radian that its normal
 * swings between the ends, otherwise one, if the gap can get to zero by its values and rates there, or none.
 */
static int smooth_pieces(exact *x, const exact_near *n, double t0, double end) {
    contact_point p;
    if (!n->known || exact_place_two(x, end, n->a, n->b, NULL) != ABUT_OK || !exact_near_at(x, n, &p, NULL))
        return SMOOTH_PIECES;
    double swing = vec3_distance(n->normal, p.normal);
    if (swing > 0.25) return (int)fmin(ceil(8 * swing), SMOOTH_PIECES);
    double reach = fmax(fabs(n->rate), fabs(exact_gap_rate(x, n->a, n->b, &p))) * (end - t0);
    return n->gap <= 2 * reach || p.gap <= 2 * reach;
}

/* What the search of a pair knows: its gap where it stands, if it has one there. */
typedef struct progress {
    exact_sample at;
    bool known;  /* it has */
    bool looked; /* known was asked for that time */
} progress;

/* A near pair that may close within the step, when it does if its gap falls evenly, how far it is searched,
 * and how long a piece is tried next. */
typedef struct candidate {
    int64_t item;
    double when, next;
    progress done;
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
        if (n->asleep && exact_place_two(x, t0, n->a, n->b, NULL) == ABUT_OK) exact_know_near(x, n, &p);
        n->asleep = false;
        out->items[out->count++] = (candidate){.item = i};
    }
    return out->items != NULL;
}

static int earlier(const void *user, const void *a, const void *b) {
    (void)user;
    double s = ((const candidate *)a)->when, t = ((const candidate *)b)->when;
    return (s > t) - (s < t);
}

/* Those that are not proven to stay apart through the whole step; the first to close first, by their gaps at
 * both ends, so that little of the step is left to be searched for the others. */
static bool sort_candidates(exact *x, double t0, double t1, candidates *list) {
    int64_t count = 0;
    for (int64_t k = 0; k < list->count; k++) {
        exact_near *n = &x->nears.data[list->items[k].item];
        exact_sample end;
        exact_proof proof = exact_prove(x, n, t0, t1);
        if (proof == PROOF_APART) continue;
        bool closes =
            n->known && n->gap > 0 && exact_probe_gap(x, list->items[k].item, t1, &end) && end.g <= 0;
        double when = closes ? t0 + (t1 - t0) * n->gap / (n->gap - end.g) : INFINITY;
        list->items[count++] = (candidate){list->items[k].item,
                                           when,
                                           proof == PROOF_NONE ? (t1 - t0) / 2 : t1 - t0,
                                           {{t0, n->gap, n->rate}, n->known, true}};
    }
    list->count = count;
    return sort_stable(&x->run->context, list->items, (size_t)count, sizeof *list->items, earlier, NULL);
}

/* The gap of the pair from where the search stands to the time b. */
static void look_at_piece(exact *x, int64_t i, double t0, double to, progress *p, exact_event *best) {
    double deeper = -1e-3 * x->model->tolerance.touching;
    exact_sample b;
    if (!p->looked) p->known = exact_probe_gap(x, i, p->at.t, &p->at);
    bool fine = exact_probe_gap(x, i, to, &b);
    /* a place that is not found at this moment: the next piece begins where this one does */
    if (!fine && p->known && smooth_is_pair(&x->nears.data[i].pair)) return;
    if (fine && p->known) search_piece(x, i, t0, p->at, b, best);
    /* a rim that lay flat has come to lean, and its deepest place is behind */
    if (fine && !p->known && b.g <= deeper && faces_at(x, i, b.t))
        consider_join(x, i, deeper, false, t0, b.t, best);
    b.t = to;
    *p = (progress){b, fine, true};
}

/* From piece to piece, each as long as its proof allows; the next one is tried with twice that.  Ends after
 * PIECES of them; true when the pair is done. */
static bool search_pair(exact *x, candidate *c, double t0, double end, exact_event *best) {
    const exact_near *n = &x->nears.data[c->item];
    double before = best->time;
    for (int k = 0; k < PIECES && c->done.at.t < end && best->time == before; k++) {
        double from = c->done.at.t, to = from + 1.01 * c->next < end ? from + c->next : end;
        exact_proof proof = exact_prove(x, n, from, to);
        if (proof == PROOF_NONE) {
            c->next = (to - from) / 2;
            continue;
        }
        if (proof == PROOF_NEAR)
            look_at_piece(x, c->item, t0, to, &c->done, best);
        else
            c->done = (progress){.at.t = to};
        c->next *= 2;
    }
    return c->done.at.t >= end || best->time != before;
}

/* Smooth surfaces have no slabs here: their gap is looked at sixteen times a step where its normal swings. */
static void search_smooth(exact *x, int64_t i, double t0, double end, exact_event *best) {
    const exact_near *n = &x->nears.data[i];
    progress p = {{t0, n->gap, n->rate}, n->known, true};
    double before = best->time;
    int pieces = smooth_pieces(x, n, t0, end);
    for (int k = 1; k <= pieces && best->time == before; k++)
        look_at_piece(x, i, t0, k < pieces ? t0 + (end - t0) * k / pieces : end, &p, best);
}

/* All candidates in turn, a few pieces of each at a time: an event that one has ends the search of the
 * others, which would go on beyond it into each other.  When the budget is used up the step ends where the
 * proofs do.
 */
static void search_all(exact *x, double t0, double t1, candidates *list, exact_event *best) {
    bool left = true;
    for (int round = 0; round < ROUNDS && left; round++) {
        left = false;
        for (int64_t k = 0; k < list->count; k++) {
            candidate *c = &list->items[k];
            double end = fmin(t1, best->time);
            bool smooth = smooth_is_pair(&x->nears.data[c->item].pair);
            if (smooth && round == 0) search_smooth(x, c->item, t0, end, best);
            if (!smooth && c->done.at.t < end) left |= !search_pair(x, c, t0, end, best);
        }
    }
    for (int64_t k = 0; k < list->count && left; k++) {
        const candidate *c = &list->items[k];
        if (!smooth_is_pair(&x->nears.data[c->item].pair)) x->proven = fmin(x->proven, c->done.at.t);
    }
}

static void find_gaps(exact *x, double t0, double t1, exact_event *best) {
    arena_mark mark = arena_save(x->arena);
    candidates list;
    if (wake(x, t0, t1, &list) && sort_candidates(x, t0, t1, &list)) search_all(x, t0, t1, &list, best);
    if (best->time > x->proven) *best = (exact_event){.kind = EXACT_NOTHING, .item = -1, .time = INFINITY};
    arena_restore(x->arena, mark);
}

exact_event exact_find_gap(exact *x, double t0, double t1) {
    exact_event best = {.kind = EXACT_NOTHING, .item = -1, .time = INFINITY};
    exact_forget_places(x);
    exact_bound_paths(x);
    x->proven = t1;
    find_gaps(x, t0, t1, &best);
    return best;
}
