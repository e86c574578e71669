/* Pushing overlapping bodies apart (abut run --allow-overlap): pair after pair is projected to contact, each
 * body moving by the share of the other's mass, round after round until no pair overlaps. */
#include "sim/start.h"

#include "contact/curved.h"

enum { ROUNDS = 2000, BISECTIONS = 40 };

/* The shortest move along an axis that brings the box of a out of that of b. */
static vec3 out_of_box(box a, box b) {
    double moves[6] = {b.upper.x - a.lower.x, a.upper.x - b.lower.x, b.upper.y - a.lower.y,
                       a.upper.y - b.lower.y, b.upper.z - a.lower.z, a.upper.z - b.lower.z};
    int best = 0;
    for (int i = 1; i < 6; i++)
        if (moves[i] < moves[best]) best = i;
    double d = best % 2 ? -moves[best] : moves[best];
    return vec3_make(best / 2 == 0 ? d : 0, best / 2 == 1 ? d : 0, best / 2 == 2 ? d : 0);
}

/* The body as a convex shape: itself, or the hull of its solid. */
static abut_status convex_of(checker *c, int body, abut_convex *out, bool *is_exact, abut_error *error) {
    const abut_shape *shape = &c->model->bodies[body].shape.shape;
    *is_exact = shape->kind == ABUT_SHAPE_SPHERE || shape->kind == ABUT_SHAPE_CAPSULE;
    if (curved_as_convex(shape, out)) return ABUT_OK;
    ready_solid *r = start_ready(c, shape->solid);
    if (!r) return fail_memory(error);
    if (!r->hull) {
        abut_status status = abut_hull_of_solid(c->context, r->solid, &r->hull, error);
        if (status != ABUT_OK) return status;
        r->is_convex = abut_solid_facts_of(r->solid).convex;
    }
    *out = abut_convex_hull(r->hull), *is_exact = r->is_convex;
    return ABUT_OK;
}

/* The least part of the move that frees the pair, by halving: what counts as overlap ends at epsilon, so the
 * last epsilon to contact is added. */
static abut_status shorten(checker *c, int a, int b, vec3 *move, abut_error *error) {
    double lo = 0, hi = 1;
    vec3 whole = *move, at, away;
    for (int i = 0; i < BISECTIONS && (hi - lo) * vec3_length(whole) > c->epsilon / 4; i++) {
        double part = (lo + hi) / 2, depth;
        c->moved = a, c->moved_by = vec3_scale(whole, part);
        abut_status status = start_depth(c, a, b, &depth, &at, &away, error);
        c->moved = -1;
        if (status != ABUT_OK) return status;
        if (depth > c->epsilon)
            lo = part;
        else
            hi = part;
    }
    *move = vec3_scale(whole, fmin(hi + c->epsilon / vec3_length(whole), 1));
    return ABUT_OK;
}

abut_status start_way_out(checker *c, int a, int b, double depth, vec3 away, vec3 *move, abut_error *error) {
    *move = vec3_scale(away, depth);
    if (vec3_length(away) > 0) return ABUT_OK;
    abut_convex k, l;
    bool exact_a, exact_b;
    abut_status status = convex_of(c, a, &k, &exact_a, error);
    if (status == ABUT_OK) status = convex_of(c, b, &l, &exact_b, error);
    if (status != ABUT_OK) return status;
    abut_convex_gap gap;
    status = abut_convex_closest(&k, start_pose(c, a), &l, start_pose(c, b), &gap, error);
    if (status != ABUT_OK) return status;
    *move = vec3_scale(gap.normal, fmax(-gap.distance, 0));
    vec3 axis = out_of_box(start_box(c, a), start_box(c, b));
    /* along an axis, where that is as good: simple to read */
    if (!gap.is_overlapping || vec3_length(axis) <= vec3_length(*move) * (1 + 1e-9)) *move = axis;
    return exact_a && exact_b && gap.is_overlapping ? ABUT_OK : shorten(c, a, b, move, error);
}

/* One round; *deepest is what was left to do. */
static abut_status push_round(checker *c, double *deepest, int who[2], abut_error *error) {
    const abut_model *m = c->model;
    start_pairs pairs = {0};
    abut_status status = start_near_pairs(c, &pairs) ? ABUT_OK : fail_memory(error);
    *deepest = 0;
    for (int64_t i = 0; i < pairs.count && status == ABUT_OK; i++) {
        int a = pairs.data[i].a, b = pairs.data[i].b;
        double depth;
        vec3 at, away = vec3_zero(), move;
        status = start_depth(c, a, b, &depth, &at, &away, error);
        if (status != ABUT_OK || !(depth > c->epsilon)) continue;
        status = start_way_out(c, a, b, depth, away, &move, error);
        if (status != ABUT_OK) continue;
        double ma = m->bodies[a].inertia.mass, mb = m->bodies[b].inertia.mass;
        double share = m->bodies[b].movable ? mb / (ma + mb) : 1;
        c->shifts[a] = vec3_axpy(c->shifts[a], share, move);
        c->shifts[b] = vec3_axpy(c->shifts[b], share - 1, move);
        if (depth > *deepest) *deepest = depth, who[0] = a, who[1] = b;
    }
    array_free(c->context, &pairs);
    return status;
}

abut_status abut_model_separate(const abut_model *model, abut_vec3 *shifts, abut_error *error) {
    checker c = start_checker(model);
    c.shifts = shifts;
    c.epsilon *= 1e-3; /* what is left is put right by the first correction, and must not show as energy */
    for (int i = 0; i < model->body_count; i++) shifts[i] = vec3_zero();
    double deepest = INFINITY;
    int who[2] = {0, 0};
    abut_status status = ABUT_OK;
    for (int round = 0; round < ROUNDS && status == ABUT_OK && deepest > 0; round++)
        status = push_round(&c, &deepest, who, error);
    start_checker_free(&c);
    if (status != ABUT_OK || deepest == 0) return status;
    return fail(
        error, ABUT_BUDGET,
        "`%s` and `%s` still overlap by %.3g m after %d rounds of pushing apart; there is no room for "
        "them: move or shrink one",
        model->bodies[who[0]].name, model->bodies[who[1]].name, deepest, (int)ROUNDS);
}
