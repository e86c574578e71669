/* What the live clock promises, and whether a run kept it.
 *
 *   overlap      at no time deeper than a twentieth of the smallest moving body
 *   hinges       at no end of a step open by more than a hundredth of it
 *   energy       no frame gains more than a hundredth of the largest energy seen from nothing
 *   momentum     while nothing immovable is touched, the sum of m v changes by the forces alone, to 1e-9
 *   numbers      every motion is finite; a run that leaves them stops with a message
 *
 * Overlap is that of the manifolds where each step begins, and where the run is when it is asked; pairs that
 * the broad phase missed are for `abut certify`, which looks at all of them.  The residual of complementarity
 * is no promise: the largest gap across which a point still pushes, as a part of the smallest body. */
#include "sim/live.h"

#include <stdio.h>

#define OVERLAP_PART  0.05
#define HINGE_PART    0.01
#define ENERGY_PART   0.01
#define MOMENTUM_PART 1e-9

/* ---- contacts */

void live_audit_contacts(live *w) {
    run_state *s = w->run->state;
    for (int64_t i = 0; i < w->links.count; i++) {
        const live_link *c = &w->links.data[i];
        if (-c->least > s->deepest_overlap) s->deepest_overlap = -c->least;
        if (c->open > s->residual * w->size) s->residual = c->open / w->size;
    }
}

/* The deepest overlap where the bodies are now, of all pairs that had a contact in the last step. */
static double overlap_now(const live *w) {
    manifold found[COLLIDER_ROOM];
    manifold_config config = manifold_default_config();
    double deepest = 0;
    for (int64_t i = 0; i < w->known.list.count; i++) {
        live_pair p = w->known.list.data[i];
        if (w->known.contacts.data[i] == 0) continue;
        int n = collider_collide(w->colliders[w->shape_of[p.a]], live_pose(w, p.a),
                                 w->colliders[w->shape_of[p.b]], live_pose(w, p.b), &config, NULL, 0, found,
                                 COLLIDER_ROOM);
        for (int k = 0; k < n; k++)
            for (int j = 0; j < found[k].count; j++) deepest = fmax(deepest, -found[k].points[j].gap);
    }
    return deepest;
}

static bool is_free(const live *w, int body) { return body >= 0 && w->movable[body + 1]; }

/* ---- hinges: errors of their rows, turning ones on the radius of the smallest body; of two bodies that no
 * force moves a hinge holds neither, as in the exact clock */

static void audit_hinges(live *w) {
    run_state *s = w->run->state;
    row rows[HINGE_MAX_ROWS];
    for (int i = 0; i < w->model->hinge_count; i++) {
        const hinge *h = &w->model->hinges[i].h;
        const hinge_memory *memory = &run_hinges(s)[i];
        if (memory->broken || !(is_free(w, h->a) || is_free(w, h->b))) continue;
        int n =
            hinge_rows(h, &w->motions[h->a], h->b >= 0 ? &w->motions[h->b] : NULL, memory->coordinate, rows);
        for (int k = 0; k < n; k++) {
            bool turns = vec3_length2(rows[k].ja.linear) == 0;
            s->constraint_error = fmax(s->constraint_error, fabs(rows[k].error) * (turns ? w->size / 2 : 1));
        }
    }
}

/* ---- momentum */

/* Whether nothing but forces changed the momentum of all bodies together in this step. */
static bool is_isolated(const live *w) {
    for (int64_t i = 0; i < w->links.count; i++) {
        const live_link *c = &w->links.data[i];
        if (c->count > 0 && is_free(w, c->a) != is_free(w, c->b)) return false;
    }
    for (int i = 0; i < w->model->hinge_count; i++) {
        const hinge *h = &w->model->hinges[i].h;
        if (is_free(w, h->a) != is_free(w, h->b)) return false;
    }
    for (int i = 0; i < w->model->spring_count; i++)
        if (is_free(w, w->model->springs[i].a) != is_free(w, w->model->springs[i].b)) return false;
    for (int i = 0; i < w->bodies; i++)
        if (w->movable[i + 1] && w->body[i].drag_linear > 0) return false;
    return true;
}

static void audit_momentum(live *w) {
    if (!is_isolated(w)) return;
    /* forces act on a body that was stopped on its way as long as it went */
    vec3 off = vec3_neg(w->given_back);
    double size = 0; /* at the least that of bodies at the rest speed, for scenes in which nothing moves */
    for (int i = 0; i < w->bodies; i++) {
        if (!w->movable[i + 1]) continue;
        double m = w->body[i].inertia.mass;
        vec3 before = vec3_scale(w->starts[i].velocity.linear, m);
        vec3 after = vec3_scale(w->motions[i].velocity.linear, m);
        vec3 impulse = vec3_scale(w->constant[i].linear, w->dt);
        off = vec3_add(off, vec3_sub(vec3_sub(after, before), impulse));
        size += vec3_length(before) + vec3_length(after) + vec3_length(impulse) +
                m * w->model->tolerance.rest_speed;
    }
    double *worst = &w->run->state->momentum_error;
    if (size > 0) *worst = fmax(*worst, vec3_length(off) / size);
}

void live_audit_step(live *w) {
    audit_hinges(w);
    audit_momentum(w);
}

abut_audit live_audit(const abut_sim *run) {
    const run_state *s = run->state;
    const live *w = run->live;
    abut_audit a = {.deepest_overlap = fmax(s->deepest_overlap, w->motions ? overlap_now(w) : 0),
                    .energy_error = s->energy_error,
                    .momentum_error = s->momentum_error,
                    .complementarity_residual = s->residual,
                    .constraint_error = s->constraint_error,
                    .overlap_limit = OVERLAP_PART * w->size,
                    .constraint_limit = HINGE_PART * w->size,
                    .energy_limit = ENERGY_PART,
                    .promises_kept = true};
    struct {
        double value, limit;
        const char *words;
    } promises[] = {
        {a.deepest_overlap, a.overlap_limit,
         "bodies overlap by %.3g m, more than 5 %% of the smallest, %.3g m"},
        {a.constraint_error, a.constraint_limit,
         "a hinge is open by %.3g m, more than 1 %% of the smallest body, %.3g m"},
        {a.energy_error, a.energy_limit, "a frame gained %.3g of the largest energy, more than %.3g"},
        {a.momentum_error, MOMENTUM_PART, "a step changed the momentum by %.3g of it, more than %.3g"},
    };
    for (int i = 0; i < COUNT_OF(promises); i++)
        if (!(promises[i].value <= promises[i].limit) && a.promises_kept) {
            a.promises_kept = false;
            snprintf(a.broken, sizeof a.broken, promises[i].words, promises[i].value, promises[i].limit);
        }
    return a;
}
