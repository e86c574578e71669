/* Places that appear: two surfaces of which one is not convex can come near each other at a place where there
 * was none before, however small the step.  Where the relative curvature passes through zero a deepest place
 * is born, and it can reach the other body before anybody looks around again; no bound on speeds tells, since
 * the points around a contact are always near.  So the places are searched again at the end of every step:
 *
 *   apart     it is new, but the bodies do not overlap there: the near pairs are collected again
 *   overlaps  the step is cut at the latest time at which they do not, found by bisection
 *
 * A contact whose place ends within the step is followed to the next one, which looks as if it were known;
 * but a contact is held at gap zero, so where that place overlaps it is another, and has appeared.  So has,
 * between two surfaces, the one that a near pair has gone over to, unless the pair is there, too, when the
 * overlap begins: its gap has jumped through zero, and no zero of it is found.
 *
 * A strictly convex body and one that is convex or flat have no such places, nor has a body in a hollow that
 * is wider than the body is round; then none is searched. */
#include "sim/rolling.h"

static const contact_shape *shape_of(const exact *x, int local) {
    return &x->model->bodies[x->bodies[local]].shape;
}

static bool can_appear(const exact *x, const exact_pair *p) {
    const contact_shape *a = shape_of(x, p->a), *b = shape_of(x, p->b);
    bool smooth = a->shape.kind == ABUT_SHAPE_SURFACE || b->shape.kind == ABUT_SHAPE_SURFACE;
    return smooth && smooth_can_appear(smooth_least_curvature(a), smooth_least_curvature(b));
}

bool rolling_can_appear(const exact *x) {
    for (int i = 0; i < x->pair_count; i++)
        if (can_appear(x, &x->pairs[i])) return true;
    return false;
}

/* A pair of features where it is now, on whatever patch; it is moved there. */
static bool where_is(const exact *x, int a, int b, near_pair *pair, contact_point *p, bool *faces) {
    return smooth_follow_same(pair, shape_of(x, a), &x->motions[a], shape_of(x, b), &x->motions[b],
                              x->model->tolerance.touching, p, faces);
}

static bool is_same(const exact *x, int a, int b, near_pair pair, const contact_point *p) {
    contact_point q;
    bool faces;
    double close = 1e-6 * fmin(shape_of(x, a)->radius, shape_of(x, b)->radius);
    return where_is(x, a, b, &pair, &q, &faces) && vec3_distance(p->at, q.at) <= close &&
           vec3_distance(p->normal, q.normal) <= 1e-4;
}

/* Whether the clock knows the place as a contact, which holds (*held), or as a near pair. */
static bool is_known(const exact *x, int a, int b, const contact_point *p, bool *held) {
    *held = true;
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (x->contacts.data[i].a == a && x->contacts.data[i].b == b &&
            is_same(x, a, b, x->touches.data[i].pair, p))
            return true;
    for (int64_t i = 0; i < x->nears.count && !x->rolls; i++) {
        const exact_near *n = &x->nears.data[i];
        *held = n->touching;
        if (n->a == a && n->b == b && is_same(x, a, b, n->pair, p)) return true;
    }
    *held = false;
    return false;
}

/* An overlap that is none: the rounding of a contact that holds; of a place that a contact went over to, the
 * gap at which it counts as touching.  Time steps are not cut: their end pushes out what overlaps, or they
 * are made anew. */
static double allowed(const exact *x, bool held) {
    return x->pace.steps_left > 0 ? INFINITY : (held ? 1e-3 : 1e-6) * x->model->tolerance.touching;
}

/* Whether the pair overlaps at a time of the step; then it is moved to where it does. */
static bool overlaps(exact *x, rolling_placer *place, exact_near *n, double time, double most) {
    contact_point p;
    bool faces;
    near_pair pair = n->pair;
    if (place(x, time, NULL) != ABUT_OK) return true;
    if (!where_is(x, n->a, n->b, &pair, &p, &faces) || !faces || !(p.gap < -most)) return false;
    n->pair = pair;
    return true;
}

/* The latest time of the step at which the pair does not overlap, to a tenth of the event tolerance; the end
 * of the step where it does at the start already: that is no place that appeared.  The pair follows its place
 * back from the end, so that it is near wherever it is looked for. */
static double last_apart(exact *x, rolling_placer *place, exact_near *n, double start, double end,
                         double most) {
    double t0 = start, t1 = end, width = 0.1 * x->model->tolerance.event;
    exact_near first = *n;
    if (overlaps(x, place, &first, start, most)) return end;
    for (int i = 0; i < 64 && t1 - t0 > width; i++) {
        double t = t0 + (t1 - t0) / 2;
        if (overlaps(x, place, n, t, most))
            t1 = t;
        else
            t0 = t;
    }
    return t0 - start > width ? t0 : end;
}

/* Whether a near pair that has come to the place n is there at that time, too, where n begins to overlap. */
static bool is_known_at(exact *x, rolling_placer *place, const exact_near *n, double time) {
    contact_point p;
    bool held;
    near_pair pair = n->pair;
    return place(x, time, NULL) != ABUT_OK || !where_is(x, n->a, n->b, &pair, &p, &held) ||
           is_known(x, n->a, n->b, &p, &held);
}

bool rolling_appeared(exact *x, contact_point *p) {
    exact_near *n = &x->appeared;
    bool faces = false;
    if (!x->has_appeared) return false;
    exact_near_move(x, n);
    x->has_appeared = exact_near_at(x, n, p, &faces) && faces;
    n->gap = p->gap, n->rate = exact_gap_rate(x, n->a, n->b, p);
    return x->has_appeared;
}

abut_status rolling_appear(exact *x, rolling_placer *place, double start, double *reached, bool *appeared,
                           abut_error *error) {
    double end = *reached, epsilon = x->model->tolerance.touching, reach = 8 * epsilon;
    near_array found = {0};
    bool fine = true;
    abut_status status = ABUT_OK;
    *appeared = false;
    for (int i = 0; i < x->pair_count && fine && status == ABUT_OK; i++) {
        const exact_pair *pair = &x->pairs[i];
        int a = pair->a, b = pair->b;
        bool two = shape_of(x, a)->smooth && shape_of(x, b)->smooth;
        if (!can_appear(x, pair)) continue;
        found.count = 0;
        status = place(x, end, error);
        if (status != ABUT_OK) break;
        fine = smooth_collect(&x->run->context, shape_of(x, a), &x->motions[a], shape_of(x, b),
                              &x->motions[b], reach, true, &found);
        for (int64_t k = 0; k < found.count && fine && status == ABUT_OK; k++) {
            exact_near n = {.pair = found.data[k], .a = a, .b = b};
            contact_point p;
            bool faces, held;
            status = place(x, end, error);
            if (status != ABUT_OK || !exact_near_at(x, &n, &p, &faces) || !faces || p.gap > reach) continue;
            bool known = is_known(x, a, b, &p, &held);
            double most = allowed(x, held);
            if (known && !((held || two) && p.gap < -fmax(most, held ? epsilon : 0))) continue;
            double until = p.gap < -most ? last_apart(x, place, &n, start, end, most) : end;
            if (known && !held && (until == end || is_known_at(x, place, &n, until))) continue;
            if (two && p.gap < -reach && until == end)
                continue; /* far sides, behind each other all the time */
            if (!*appeared || until < *reached) x->appeared = n, *reached = until;
            *appeared = x->has_appeared = true;
        }
    }
    array_free(&x->run->context, &found);
    return fine ? status : fail_memory(error);
}

double rolling_within_known(exact *x, double start, double reached) {
    bool appeared;
    if (!rolling_can_appear(x) ||
        rolling_appear(x, exact_place_dense, start, &reached, &appeared, NULL) != ABUT_OK)
        return reached;
    if (appeared) x->near_until = start; /* collect again */
    return reached;
}
