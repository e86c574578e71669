/* The sub-steps.  Each one is a row of stages:
 *
 *     impacts     velocities     warm start     hinges, direct islands, solve     |  it begins
 *     positions     refresh, shift     hinges, relax                              |  it ends
 *
 * Islands at the pace p (live_sway.c) have 2^p of them for each of the world's own.  No two islands share a
 * body but those that move by themselves, which go at the largest pace (drive) before all others, so each has
 * its own row:
 *
 *     pace 0   [begins .                        ends]
 *     pace 1    [begins   ends][begins   ends]           the same in time, ends before those of pace 0
 *
 * Each is run in blocks on all workers (live_share.c).  What relaxes takes energy wherever it acts on the
 * arms and the inertia that the bodies have by then; with those of before a body that turned a fifth of a
 * radian in the sub-step gained up to a fiftieth of its energy.
 *
 * Warm start: in the first sub-step the impulses of the last step are applied contact by contact.  After that
 * the impulses of a sub-step have changed a body's velocity by just what warm starting them in the next one
 * would (directions and masses stay, or are shifted), so that change itself is applied, body by body. */
#include "sim/live.h"

enum stage_kind {
    DRIVE,
    IMPACTS,
    REFRESH,
    SHIFT,
    VELOCITIES,
    FIRST_VELOCITIES,
    WARM,
    HINGES,
    DIRECT,
    SOLVE,
    POSITIONS,
    HINGES_AGAIN,
    RELAX_HINGES,
    RELAX,
    GRIPS,
    NNCG_BEGIN,
    NNCG_BEGIN_BODIES,
    NNCG_MEASURE,
    NNCG_CHOOSE,
    NNCG_ADVANCE,
    NNCG_ADVANCE_BODIES
};
enum { TURNS_PER_STEP = 4096 };
enum { HINGE_TURNS = 16, LEAST_TURNS = 4 }; /* contacts and loose hinges answer each other so often */

/* ---- bodies */

/* v + t a:  what forces do in the time t; drag implicitly, v' = v / (1 + t c / m),
 * w' = (I + t c)^-1 I w. */
void live_kick(live *w, int slot, double t) {
    const live_body *b = &w->body[slot - 1];
    live_velocity *v = &w->velocities[slot];
    spatial f = w->wrenches[slot - 1];
    vec3 linear = live_vec3(v->v), angular = live_vec3(v->w);
    linear = vec3_axpy(linear, t * b->inertia.inverse_mass, f.linear);
    if (b->drag_linear > 0)
        linear = vec3_scale(linear, 1 / (1 + t * b->drag_linear * b->inertia.inverse_mass));
    quat rotation = w->motions[slot - 1].rotation;
    if (f.angular.x != 0 || f.angular.y != 0 || f.angular.z != 0) {
        spatial torque = {vec3_zero(), f.angular};
        angular = vec3_axpy(angular, t, body_apply(&b->inertia, rotation, torque).angular);
    }
    if (b->drag_angular > 0) {
        body_inertia slowed = body_slowed(&b->inertia, 0, t * b->drag_angular);
        spatial momentum = body_momentum(&b->inertia, rotation, (spatial){vec3_zero(), angular});
        angular = body_apply(&slowed, rotation, momentum).angular;
    }
    double inverse = v->v[3];
    v->v = live_four(linear), v->w = live_four(angular), v->v[3] = inverse;
}

/* Forces, and what the contacts are going to do again.  A body that nothing touches or pulls by a spring is
 * half a sub-step ahead within the step, so that its positions lie on the parabola:  forces act on it for
 * h / 2, h, .. h, h / 2. */
static void integrate_velocity(live *w, int slot, double h, bool first) {
    if (!w->movable[slot]) return;
    live_velocity *v = &w->velocities[slot];
    live_velocity warmth = {v->v - w->before[slot].v, v->w - w->before[slot].w};
    live_kick(w, slot, first && w->flies[slot] ? h / 2 : h);
    w->before[slot] = *v;
    if (!first && !w->in_direct[slot - 1]) v->v += warmth.v, v->w += warmth.w;
}

/* Free rotation over h by the implicit midpoint rule in body axes: with the momentum y and W = I^-1 (y0 +
 * y1)/2
 *
 *     y1 = cay(-h W) y0,    R1 = R0 cay(h W),    cay(h W) = the unit quaternion along (1, h W / 2)
 *
 * which keeps the energy y . I^-1 y / 2 and the momentum R y in the world, both exactly, for any h; fast
 * spins are cut into pieces of at most a quarter of a radian for the sake of the phase. */
static void turn_freely(const body_inertia *body, bool simple, double h, quat *rotation, vec3 *spin) {
    double angle = vec3_length(*spin) * h;
    if (angle == 0) return;
    int pieces = angle > 0.25 ? (int)fmin(angle / 0.25 + 1, TURNS_PER_STEP) : 1;
    double piece = h / pieces;
    quat q = *rotation;
    if (simple) {
        vec3 u = vec3_scale(*spin, piece / 2);
        for (int k = 0; k < pieces; k++) q = quat_unit(quat_mul((quat){1, u.x, u.y, u.z}, q));
        *rotation = q;
        return;
    }
    vec3 y = mat3_mul_vec(body->inertia, quat_unrotate(q, *spin));
    for (int k = 0; k < pieces; k++) {
        vec3 u = mat3_mul_vec(body->inverse_inertia, y), next = vec3_axpy(y, piece, vec3_cross(y, u));
        quat turn = {1, 0, 0, 0};
        double enough = 1e-30 * vec3_length2(y);
        for (int i = 0; i < 30; i++) {
            u = vec3_scale(mat3_mul_vec(body->inverse_inertia, vec3_add(y, next)), piece / 4);
            turn = quat_unit((quat){1, u.x, u.y, u.z});
            vec3 better = quat_unrotate(turn, y);
            double change = vec3_length2(vec3_sub(better, next));
            next = better;
            if (change <= enough) break;
        }
        q = quat_unit(quat_mul(q, turn)), y = next;
    }
    *rotation = q;
    *spin = quat_rotate(q, mat3_mul_vec(body->inverse_inertia, y));
}

/* Where a motion is after the time t, with the spin that it has there. */
void live_move_for(const live *w, int body, double t, motion *m) {
    m->center = vec3_axpy(m->center, t, m->velocity.linear);
    turn_freely(&w->body[body].inertia, w->body[body].spherical, t, &m->rotation, &m->velocity.angular);
}
void live_move_freely(const live *w, int body, motion *m) { live_move_for(w, body, w->h, m); }

/* What may bounce, is not pushed in the sub-step and does not fly by halves of it, falls as well:
 * x + t v - t^2 a / 2  with the velocity v at the end of the time t.  So it meets the other at its time. */
static void fall(live *w, int slot, double t) {
    const live_body *b = &w->body[slot - 1];
    const live_velocity *v = &w->velocities[slot], *before = &w->before[slot];
    if (!w->movable[slot] || !w->bounces[slot] || w->flies[slot] || w->sprung[slot - 1]) return;
    if (b->drag_linear > 0 || vec3_length2(live_vec3(v->v - before->v)) > 0) return;
    vec3 ahead = vec3_scale(w->wrenches[slot - 1].linear, t * t / 2 * b->inertia.inverse_mass);
    w->motions[slot - 1].center = vec3_sub(w->motions[slot - 1].center, ahead);
    w->moved[slot].v -= live_four(ahead);
}

/* What was struck within the sub-step goes on from there; returns the time that is left. */
static double go_on(live *w, int slot, double h) {
    live_struck *s = &w->struck[slot];
    motion *m = &w->motions[slot - 1];
    double left = h - s->time;
    if (s->blows == 0) return h;
    m->center = s->at.center, m->rotation = s->at.rotation;
    w->moved[slot].v += live_four(s->way.linear), w->moved[slot].w += live_four(s->way.angular);
    *s = (live_struck){0};
    return left;
}

void live_integrate_position(live *w, int slot, double h) {
    const live_body *b = &w->body[slot - 1];
    if (!w->movable[slot] && !b->kinematic) return;
    live_velocity *v = &w->velocities[slot], *d = &w->moved[slot];
    motion *m = &w->motions[slot - 1];
    double t = w->bouncing[w->pace[slot]].count > 0 ? go_on(w, slot, h) : h;
    d->v += t * v->v, d->w += t * v->w;
    twist start = m->velocity;
    m->velocity = (twist){live_vec3(v->v), live_vec3(v->w)};
    live_move_for(w, slot - 1, t, m);
    four turned = live_four(m->velocity.angular);
    m->velocity = start;
    fall(w, slot, t);
    live_note_turn(w, slot);
    if (!w->movable[slot]) return;
    w->before[slot].w += turned - v->w;
    v->w = turned;
}

static double length_of(const live *w, int pace) { return w->h / (1 << pace); }

static void body_block(live *w, const live_stage *s, int first, int end) {
    double h = length_of(w, s->pace);
    for (int i = first; i < end; i++) {
        if (i == 0 || w->pace[i] != s->pace || w->hinged[i]) continue; /* by itself: live_hinged.c */
        if (s->kind == POSITIONS)
            live_integrate_position(w, i, h);
        else
            integrate_velocity(w, i, h, s->kind == FIRST_VELOCITIES);
    }
}

/* ---- direct islands, one after the other: they are few and small */

static void solve_islands(live *w) {
    for (int64_t i = 0; i < w->islands.count && w->status == ABUT_OK; i++) {
        const live_island *s = &w->islands.data[i];
        w->at_start = w->substep == 0;
        bool joined = s->hinge_count + s->spring_count > 0;
        if (s->direct)
            w->status = joined ? live_go_hinged(w, s, &w->error) : live_solve_direct(w, s, &w->error);
    }
}

/* The second half of the last kick, and velocities along the hinges. */
static void end_flights(live *w) {
    for (int slot = 1; slot < w->slots; slot++)
        if (w->movable[slot] && w->flies[slot] && !w->hinged[slot]) live_kick(w, slot, w->h / 2);
    for (int64_t i = 0; i < w->islands.count && w->status == ABUT_OK; i++) {
        const live_island *s = &w->islands.data[i];
        if (s->direct && s->hinge_count > 0) w->status = live_turn_hinged(w, s, &w->error);
    }
}

/* ---- the row of stages */

static void run_stage(live *w, const live_stage *s, int first, int end);

static bool add_stage(live *w, int kind, int pace, int first, int total, int block) {
    live_stage s = live_make_stage(run_stage, kind, first, total, block);
    s.pace = pace;
    return total <= 0 || array_push(w->context, &w->stages, s);
}

static bool add_bodies(live *w, int kind, int pace) {
    return add_stage(w, kind, pace, 0, w->slots, LIVE_BODY_BLOCK);
}

/* The batches of a pace. */
static int first_batch(const live *w, int pace) { return w->color_first[pace * (LIVE_COLORS + 1)]; }

static bool add_batches(live *w, int kind, int pace) {
    int first = first_batch(w, pace), end = first_batch(w, pace + 1);
    return add_stage(w, kind, pace, first, end - first, LIVE_BLOCK);
}

static bool add_colors(live *w, int kind, int pace) {
    if (!array_reserve(w->context, &w->stages, w->stages.count + LIVE_COLORS + 1)) return false;
    w->stages.count += live_color_stages(w, pace, run_stage, kind, w->stages.data + w->stages.count);
    return true;
}

/* The part of the contacts that bear something whose load is not the usual one. */
static double unsettled_part(const live *w, int pace) {
    int64_t bearing = 0, changing = 0;
    for (int i = first_batch(w, pace); i < first_batch(w, pace + 1); i++)
        bearing += __builtin_popcount(w->batches[i].bearing),
            changing += __builtin_popcount(w->batches[i].changing);
    return bearing ? (double)changing / (double)bearing : 0;
}

/* One sweep follows loads that change slowly; where half of them change it takes two, where all do three.
 * What stirs at a faster pace sways, which one sweep hardly stops (live_sway.c): there it takes two. */
static int choose_sweeps(const live *w, int pace) {
    int sweeps = 1 + (int)(2 * unsettled_part(w, pace)), least = pace > 0 ? 2 : 1;
    return w->options.sweeps > 0 ? w->options.sweeps : sweeps > least ? sweeps : least;
}

/* The sweeps of a sub-step, with conjugate gradients between them where they are chosen. */
static bool add_sweeps(live *w, int pace, int sweeps) {
    bool fine = true, nncg = w->options.nncg && sweeps > 1;
    if (nncg) fine = add_batches(w, NNCG_BEGIN, pace) && add_bodies(w, NNCG_BEGIN_BODIES, pace);
    for (int k = 0; k < sweeps && fine; k++) {
        fine = add_colors(w, SOLVE, pace);
        if (!nncg || k + 1 == sweeps) continue;
        fine = fine && add_batches(w, NNCG_MEASURE, pace) && add_stage(w, NNCG_CHOOSE, pace, k, 1, 1) &&
               add_batches(w, NNCG_ADVANCE, pace) && add_bodies(w, NNCG_ADVANCE_BODIES, pace);
    }
    return fine;
}

/* The shorter the sub-step, the less changes in it. */
static int turns_at(int pace) {
    return HINGE_TURNS >> pace > LEAST_TURNS ? HINGE_TURNS >> pace : LEAST_TURNS;
}

/* Sweeps over the contacts, in turn with the hinges of large islands where there are any; after the last turn
 * those are closed. */
static bool add_turns(live *w, int pace, int sweeps, bool hinges) {
    bool fine = true;
    for (int k = hinges ? turns_at(pace) : 1; k > 0 && fine; k--)
        fine = add_sweeps(w, pace, sweeps) && add_stage(w, HINGES_AGAIN, pace, k == 1, hinges, 1);
    return fine;
}

/* The islands of a pace; `number` counts their sub-steps. */
static bool begin_substep(live *w, int pace, int number, int sweeps) {
    bool strikes = w->bouncing[pace].count > 0 || w->model->spring_count > 0;
    bool hinges = w->loose_hinges.count > 0 && pace == w->hinge_pace;
    bool direct = w->times.direct_islands > 0 && pace == 0;
    return add_stage(w, IMPACTS, pace, number, strikes, 1) &&
           add_bodies(w, number == 0 ? FIRST_VELOCITIES : VELOCITIES, pace) &&
           (number > 0 || add_colors(w, WARM, pace)) && add_stage(w, HINGES, pace, number, hinges, 1) &&
           add_stage(w, DIRECT, pace, 0, direct, 1) && add_turns(w, pace, sweeps, hinges);
}

static bool end_substep(live *w, int pace, int number) {
    bool last = number + 1 == w->substeps << pace; /* after it the next step looks at all */
    bool hinges = w->loose_hinges.count > 0 && pace == w->hinge_pace;
    bool batches = first_batch(w, pace + 1) > first_batch(w, pace);
    return add_bodies(w, POSITIONS, pace) &&
           (last || (add_batches(w, REFRESH, pace) && add_stage(w, SHIFT, pace, 0, batches, 1))) &&
           add_stage(w, RELAX_HINGES, pace, number, hinges, 1) && add_colors(w, RELAX, pace) &&
           (!w->grips || add_batches(w, GRIPS, pace));
}

/* In units of the shortest sub-steps: the slow begin first, and end when all have come as far. */
static bool list_stages(live *w) {
    bool fine = true;
    int sweeps[LIVE_PACES], finest = w->finest;
    w->stages.count = 0, w->times.sweeps = 0;
    for (int pace = 0; pace <= finest; pace++) {
        sweeps[pace] = choose_sweeps(w, pace);
        if (sweeps[pace] > w->times.sweeps) w->times.sweeps = sweeps[pace];
    }
    for (int unit = 0; unit < w->substeps << finest && fine; unit++) {
        fine = add_stage(w, DRIVE, finest, unit, w->drivers.count > 0, 1);
        for (int pace = 0; pace <= finest && fine; pace++)
            if (unit % (1 << (finest - pace)) == 0)
                fine = begin_substep(w, pace, unit >> (finest - pace), sweeps[pace]);
        for (int pace = finest; pace >= 0 && fine; pace--)
            if ((unit + 1) % (1 << (finest - pace)) == 0)
                fine = end_substep(w, pace, unit >> (finest - pace));
    }
    return fine;
}

/* For what is solved in one go, impacts, springs and loose hinges: the sub-step is as long as at a pace. */
static void set_length(live *w, int pace, bool back) {
    double more = back ? 1 << pace : 1.0 / (1 << pace);
    w->h *= more, w->joint_rate /= more;
    w->substeps = back ? w->substeps >> pace : w->substeps << pace;
}

static void run_alone(live *w, const live_stage *s) {
    set_length(w, s->pace, false);
    switch (s->kind) {
    case IMPACTS: live_springs(w), live_impacts(w, s->first, s->pace); break;
    case HINGES: live_loose_begin(w, s->first); break;
    case HINGES_AGAIN: live_loose_turn(w, s->first); break;
    default: live_loose_relax(w, s->first, s->first + 1 == w->substeps); break;
    }
    set_length(w, s->pace, true);
}

static void run_stage(live *w, const live_stage *s, int first, int end) {
    switch (s->kind) {
    case DRIVE: live_drive(w, first); break;
    case IMPACTS:
    case HINGES:
    case HINGES_AGAIN:
    case RELAX_HINGES: run_alone(w, s); break;
    case REFRESH: live_refresh(w, first, end); break;
    case SHIFT: live_shift_warmth(w); break;
    case GRIPS: live_measure_grips(w, first, end); break;
    case DIRECT:
        solve_islands(w);
        w->substep++;
        break;
    case WARM: w->kernels.warm(w->batches + first, end - first, w->velocities); break;
    case SOLVE:
    case RELAX:
        w->kernels.solve(w->batches + first, end - first, w->velocities, w->moved,
                         (live_visit){1 / length_of(w, s->pace), w->push, w->model->tolerance.rest_speed,
                                      w->soft[s->pace], s->kind == RELAX, w->grips || w->restitution});
        break;
    case NNCG_BEGIN: live_nncg_begin(w, first, end); break;
    case NNCG_BEGIN_BODIES: live_nncg_begin_bodies(w, first, end); break;
    case NNCG_MEASURE: live_nncg_measure(w, first, end); break;
    case NNCG_CHOOSE: live_nncg_choose(w, first, first_batch(w, s->pace), first_batch(w, s->pace + 1)); break;
    case NNCG_ADVANCE: live_nncg_advance(w, first, end); break;
    case NNCG_ADVANCE_BODIES: live_nncg_advance_bodies(w, first, end); break;
    default: body_block(w, s, first, end); break;
    }
}

bool live_substeps(live *w) {
    if (w->options.nncg && !live_nncg_reserve(w)) return false;
    if (!list_stages(w)) return false;
    w->status = ABUT_OK, w->substep = 0;
    live_run_stages(w, LIVE_SOLVE, w->stages.data, w->stages.count);
    end_flights(w);
    live_loose_hurry(w);
    return true;
}
