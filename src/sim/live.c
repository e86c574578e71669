/* The live clock: creation, the step, snapshots. */
#include "sim/live.h"

#define SHORTEST 0.01 /* of a step */
#define CYCLES   0.14 /* of the springs of contacts, a sub-step */
#define PI       3.14159265358979323846

enum { LIVE_MAGIC = 0x4c425541, LIVE_VERSION = 11 };

abut_live_options abut_default_live_options(void) {
    return (abut_live_options){.sleep = true, .direct_rows = 192, .share_from = 1e-4};
}

void abut_live_set_options(abut_sim *run, const abut_live_options *options) {
    if (!run->live) return;
    run->live->options = *options;
    run->live->kernels = live_choose_kernels(options->scalar);
}

abut_live_times abut_live_step_times(const abut_sim *run) {
    return run->live ? run->live->times : (abut_live_times){0};
}

/* ---- creation */

/* The smallest moving body, by the box about it: the scale of reach, slop and speeds. */
static double smallest_body(const abut_model *m) {
    double smallest = INFINITY;
    for (int i = 0; i < m->body_count; i++) {
        double d = box_diagonal(m->bodies[i].shape.bounds) / 1.7320508075688772;
        if (m->bodies[i].movable && isfinite(d) && d > 0) smallest = fmin(smallest, d);
    }
    return isfinite(smallest) ? smallest : m->size;
}

/* The power of two next to the middle of the lightest and the heaviest moving body, on a scale of ratios. */
static double mass_unit(const abut_model *m) {
    double least = INFINITY, most = 0;
    for (int i = 0; i < m->body_count; i++) {
        if (!m->bodies[i].movable) continue;
        least = fmin(least, m->bodies[i].inertia.mass), most = fmax(most, m->bodies[i].inertia.mass);
    }
    int low = 0, high = 0;
    if (!(most > 0)) return 1;
    (void)frexp(least, &low), (void)frexp(most, &high);
    return ldexp(1, (low + high) / 2);
}

static bool allocate_slots(live *w) {
    size_t n = (size_t)w->slots, h = (size_t)w->model->hinge_count;
    arena *m = &w->memory;
    w->slot_block = arena_alloc(m, 5 * n * sizeof(live_velocity) + 64, 1);
    w->body = arena_alloc(m, n, sizeof *w->body);
    w->colliders = arena_alloc(m, n, sizeof *w->colliders);
    w->shape_of = arena_alloc(m, n, sizeof *w->shape_of);
    w->material_of = arena_alloc(m, n, sizeof *w->material_of);
    w->faceted = arena_alloc(m, n, sizeof *w->faceted);
    w->alone = arena_alloc(m, n, sizeof *w->alone);
    w->radii = arena_alloc(m, n, sizeof *w->radii);
    w->masses = arena_alloc(m, n, sizeof *w->masses);
    w->drifts = arena_alloc(m, n, sizeof *w->drifts);
    w->wrenches = arena_alloc(m, n, sizeof *w->wrenches);
    w->constant = arena_alloc(m, n, sizeof *w->constant);
    w->starts = arena_alloc(m, n, sizeof *w->starts);
    w->kinematic_end = arena_alloc(m, n, sizeof *w->kinematic_end);
    w->wanders = arena_alloc(m, n, sizeof *w->wanders);
    w->movable = arena_alloc(m, n, sizeof *w->movable);
    w->turns = arena_alloc(m, n, sizeof *w->turns);
    w->flies = arena_alloc(m, n, sizeof *w->flies);
    w->sprung = arena_alloc(m, n, sizeof *w->sprung);
    w->swings = arena_alloc(m, n, sizeof *w->swings);
    w->calm = arena_alloc(m, n, sizeof *w->calm);
    w->hinged = arena_alloc(m, n, sizeof *w->hinged);
    w->hung = arena_alloc(m, n, sizeof *w->hung);
    w->pace = arena_alloc(m, n, sizeof *w->pace);
    w->tall = arena_alloc(m, n, sizeof *w->tall);
    w->bounces = arena_alloc(m, n, sizeof *w->bounces);
    w->struck = arena_alloc(m, n, sizeof *w->struck);
    w->leaves = arena_alloc(m, n, sizeof *w->leaves);
    w->boxes = arena_alloc(m, n, sizeof *w->boxes);
    w->placed = arena_alloc(m, n, sizeof *w->placed);
    w->roams = arena_alloc(m, n, sizeof *w->roams);
    w->renewed = arena_alloc(m, n, sizeof *w->renewed);
    w->seeks = arena_alloc(m, n, sizeof *w->seeks);
    w->put_back = arena_alloc(m, n, sizeof *w->put_back);
    w->seeks_again = arena_alloc(m, n, sizeof *w->seeks_again);
    w->stops = arena_alloc(m, n, sizeof *w->stops);
    w->ended = arena_alloc(m, n, sizeof *w->ended);
    w->ends = arena_alloc(m, n, sizeof *w->ends);
    w->first_link = arena_alloc(m, n, sizeof *w->first_link);
    w->rests = arena_alloc(m, n, sizeof *w->rests);
    w->parent = arena_alloc(m, n, sizeof *w->parent);
    w->levels = arena_alloc(m, n, sizeof *w->levels);
    w->in_direct = arena_alloc(m, n, sizeof *w->in_direct);
    w->used = arena_alloc(m, n, sizeof *w->used);
    w->local_of = arena_alloc(m, n, sizeof *w->local_of);
    w->motor_speeds = arena_alloc(m, h + 1, sizeof *w->motor_speeds);
    w->hinge_force = arena_alloc(m, h + 1, sizeof *w->hinge_force);
    w->hinge_side = arena_alloc(m, h + 1, sizeof *w->hinge_side);
    w->hinge_hold = arena_alloc(m, h + 1, sizeof *w->hinge_hold);
    bool fine = w->slot_block && w->body && w->colliders && w->shape_of && w->material_of && w->faceted &&
                w->alone && w->radii && w->masses && w->drifts && w->wrenches && w->constant && w->starts &&
                w->kinematic_end && w->wanders && w->movable && w->turns && w->flies && w->sprung &&
                w->swings && w->calm && w->hinged && w->hung && w->pace && w->tall && w->struck &&
                w->bounces && w->leaves && w->boxes && w->placed && w->roams && w->renewed && w->seeks &&
                w->put_back && w->seeks_again && w->stops && w->ended && w->ends && w->first_link &&
                w->rests && w->parent && w->levels && w->in_direct && w->used && w->local_of &&
                w->motor_speeds && w->hinge_force && w->hinge_side && w->hinge_hold;
    if (!fine) return false;
    w->velocities = (live_velocity *)(((uintptr_t)w->slot_block + 63) & ~(uintptr_t)63);
    w->moved = w->velocities + n, w->before = w->moved + n;
    w->nncg_velocities = w->before + n, w->nncg_directions = w->nncg_velocities + n;
    return true;
}

/* Turning does not change the spin of a ball, a cube, or what nothing can push. */
static bool is_spherical(const body_inertia *b) {
    const mat3 *i = &b->inertia;
    return b->inverse_mass == 0 || (fabs(i->cx.y) + fabs(i->cx.z) + fabs(i->cy.z) + fabs(i->cx.x - i->cy.y) +
                                        fabs(i->cy.y - i->cz.z) <=
                                    1e-12 * i->cx.x);
}

static void gather_bodies(live *w) {
    for (int i = 0; i < w->model->spring_count; i++) {
        const model_spring *s = &w->model->springs[i];
        if (s->a >= 0) w->sprung[s->a] = true;
        if (s->b >= 0) w->sprung[s->b] = true;
    }
    for (int i = 0; i < w->bodies; i++) {
        const model_body *b = &w->model->bodies[i];
        w->material_of[i] = b->material;
        w->body[i] = (live_body){.inertia = b->inertia,
                                 .center = b->center,
                                 .drag_linear = b->drag_linear,
                                 .drag_angular = b->drag_angular,
                                 .group = b->group,
                                 .movable = b->movable,
                                 .kinematic = b->kinematic,
                                 .spherical = is_spherical(&b->inertia)};
    }
}

static bool has_restitution(const abut_model *m) {
    int pairs = (m->material_count + 1) * (m->material_count + 1);
    for (int i = 0; i < pairs; i++)
        if (m->pairs[i].restitution > 0) return true;
    return false;
}

/* The world's own step and sub-step. */
static double usual_step(const abut_model *m) { return m->world.step > 0 ? m->world.step : 1.0 / 60; }
static double usual_substep(const live *w) { return usual_step(w->model) / w->substeps; }

abut_status live_create(abut_sim *run, abut_error *error) {
    live *w = mem_calloc(&run->context, 1, sizeof *w);
    if (!w) return fail_memory(error);
    run->live = w;
    w->run = run, w->model = run->model, w->context = &run->context;
    w->options = abut_default_live_options();
    w->kernels = live_choose_kernels(false);
    w->bodies = run->model->body_count, w->slots = w->bodies + 1;
    w->substeps = run->model->world.substeps > 0 ? run->model->world.substeps : 1;
    w->h = usual_substep(w);
    w->size = smallest_body(run->model);
    w->reach = 0.02 * w->size, w->push = 4 * w->size;
    w->unit = mass_unit(run->model);
    w->grips = live_has_grips(run->model), w->restitution = has_restitution(run->model);
    arena_init(&w->memory, &run->context);
    arena_init(&w->scratch, &run->context);
    arena_init(&w->loose_memory, &run->context);
    bvh_init(&w->tree);
    w->lcp = abut_lcp_solver_create(&run->context);
    if (!w->lcp || !allocate_slots(w) || !bvh_reserve(&run->context, &w->tree, w->bodies))
        return fail_memory(error);
    gather_bodies(w);
    live_tell_unknown(run);
    return live_shapes_create(w, error);
}

static void free_pairs(const abut_context *c, live_pairs *p) {
    array_free(c, &p->list), array_free(c, &p->slots), array_free(c, &p->contacts);
}

void live_free(live *w) {
    if (!w) return;
    const abut_context *c = w->context;
    live_shapes_free(w);
    live_sensors_free(w);
    live_nncg_free(w);
    array_free(c, &w->nncg_sums);
    bvh_free(c, &w->tree);
    abut_lcp_solver_destroy(w->lcp);
    if (w->batch_block) mem_free(c, w->batch_block, live_batch_bytes(w->batch_capacity), 1);
    array_free(c, &w->contacts), array_free(c, &w->fresh);
    array_free(c, &w->gone), array_free(c, &w->gone_links);
    array_free(c, &w->links), array_free(c, &w->next_links), array_free(c, &w->pushed);
    array_free(c, &w->near), array_free(c, &w->around);
    free_pairs(c, &w->pairs), free_pairs(c, &w->known);
    array_free(c, &w->meets), array_free(c, &w->extra);
    array_free(c, &w->sorting), array_free(c, &w->buckets), array_free(c, &w->unbounded);
    array_free(c, &w->old_of), array_free(c, &w->new_of), array_free(c, &w->place_of),
        array_free(c, &w->looks), array_free(c, &w->seen_sorted);
    array_free(c, &w->seen), array_free(c, &w->searches), array_free(c, &w->searches_sorted);
    array_free(c, &w->free_slots);
    array_free(c, &w->islands), array_free(c, &w->island_bodies), array_free(c, &w->island_contacts);
    array_free(c, &w->island_hinges), array_free(c, &w->island_springs), array_free(c, &w->color_of),
        array_free(c, &w->listed), array_free(c, &w->lane_of);
    array_free(c, &w->stages), array_free(c, &w->drivers), array_free(c, &w->drives);
    for (int i = 0; i < LIVE_PACES; i++) array_free(c, &w->bouncing[i]);
    array_free(c, &w->bouncers), array_free(c, &w->rows), array_free(c, &w->loose_hinges);
    arena_free(&w->memory);
    arena_free(&w->scratch);
    arena_free(&w->loose_memory);
    mem_free(c, w, 1, sizeof *w);
}

/* ---- the step */

/* A contact or hinge as a damped spring of `hertz` cycles a second and damping ratio `damping`, integrated
 * implicitly over h:  rate = w / (2 z + h w),  scale = h w (2 z + h w) / (1 + ...),  soften = 1 / (1 + ...).
 */
static live_softness make_soft(double hertz, double damping, double h) {
    double omega = 2 * PI * hertz, a1 = 2 * damping + h * omega, a2 = h * omega * a1;
    return (live_softness){omega / a1, a2 / (1 + a2), 1 / (1 + a2)};
}

/* Kept impulses are those of a sub-step: in one of another length they go on as the forces that they stand
 * for. */
static void change_substep(live *w, double h) {
    double part = h / w->h;
    for (int64_t i = 0; i < w->contacts.count && part != 1; i++) {
        live_contact *c = &w->contacts.data[i];
        c->friction = vec3_scale(c->friction, part), c->rolling = vec3_scale(c->rolling, part);
        c->twist *= part;
        for (int k = 0; k < c->count; k++) c->loads[k].normal *= part, c->loads[k].steady *= part;
    }
    w->h = h;
}

/* What gives way, contacts and missed hinges, does so in the time of a usual sub-step, however short this one
 * is: for the soft laws it is as stiff as that, and no overlap is thrown out at its own length over h. */
static void begin_step(live *w, double dt) {
    w->motions = run_motions(w->run->state);
    change_substep(w, dt / w->substeps);
    double slowest = fmax(w->h, usual_substep(w));
    w->dt = dt, w->given_back = vec3_zero();
    atomic_store_explicit(&w->any_turned, 0, memory_order_relaxed);
    for (int i = 0; i < LIVE_PACES; i++)
        w->soft[i] = make_soft(CYCLES / slowest * (1 << i), 10, w->h / (1 << i));
    w->stiffness = 4 * PI * PI * (CYCLES / slowest) * (CYCLES / slowest);
    w->joint_rate = w->direct_rate = 0.2 / slowest;
    for (int i = 0; i < w->bodies; i++) w->movable[i + 1] = w->body[i].movable && !w->rests[i].asleep;
    memcpy(w->starts, w->motions, (size_t)w->bodies * sizeof *w->starts);
    memset(w->hinge_force, 0, ((size_t)w->model->hinge_count + 1) * sizeof *w->hinge_force);
    memset(w->hinge_side, 0, ((size_t)w->model->hinge_count + 1) * sizeof *w->hinge_side);
    memset(w->hinge_hold, 0, ((size_t)w->model->hinge_count + 1) * sizeof *w->hinge_hold);
}

void live_load_mass(live *w, int slot) {
    const body_inertia *b = &w->body[slot - 1].inertia;
    mat3 t = body_inverse_inertia(b, w->motions[slot - 1].rotation);
    double u = w->unit;
    w->masses[slot] = (live_mass){
        u * b->inverse_mass, {u * t.cx.x, u * t.cy.y, u * t.cz.z, u * t.cy.x, u * t.cz.x, u * t.cz.y}, 0};
}

static void load_body(live *w, int slot) {
    int i = slot - 1;
    live_velocity zero = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    w->velocities[slot] = w->moved[slot] = w->before[slot] = zero;
    w->turns[slot] = false;
    if (slot == 0) return;
    const live_body *b = &w->body[i];
    const motion *m = &w->motions[i];
    w->masses[slot] = (live_mass){0};
    if (b->kinematic || w->movable[i + 1]) {
        const twist *v = b->kinematic ? &w->starts[i].velocity : &m->velocity; /* not the step's mean */
        w->velocities[i + 1] = (live_velocity){live_four(v->linear), live_four(v->angular)};
    }
    if (!w->movable[slot]) return;
    live_load_mass(w, slot);
    w->velocities[slot].v[3] = w->masses[slot].inverse;
}

void live_load_bodies(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int slot = first; slot < end; slot++) load_body(w, slot);
}

static void unload_bodies(live *w) {
    for (int i = 0; i < w->bodies; i++) {
        spatial *a = &w->run->accelerations[i];
        motion *m = &w->motions[i];
        if (w->body[i].kinematic)
            *m = w->kinematic_end[i];
        else
            *a = (spatial){{0, 0, 0}, {0, 0, 0}};
        if (!w->movable[i + 1]) continue;
        spatial v = {live_vec3(w->velocities[i + 1].v), live_vec3(w->velocities[i + 1].w)};
        a->linear = vec3_scale(vec3_sub(v.linear, m->velocity.linear), 1 / w->dt);
        a->angular = vec3_scale(vec3_sub(v.angular, m->velocity.angular), 1 / w->dt);
        m->velocity = v;
    }
}

static bool all_finite(const live *w) {
    for (int i = 0; i < w->bodies; i++) {
        const motion *m = &w->motions[i];
        if (!vec3_is_finite(m->center) || !vec3_is_finite(m->velocity.linear) ||
            !vec3_is_finite(m->velocity.angular))
            return false;
    }
    return true;
}

/* One stage, timed. */
static void lap(double *stage, double *since) {
    double now = clock_now();
    *stage = now - *since, *since = now;
}

static abut_status step(live *w, double dt, abut_error *error) {
    run_state *s = w->run->state;
    double start = clock_now(), since = start;
    abut_live_times *t = &w->times;
    begin_step(w, dt);
    abut_status status = live_apply_forces(w, s->time, error);
    if (status == ABUT_OK) status = live_move_kinematic(w, s->time, error);
    if (status != ABUT_OK) return status;
    if (s->time == 0) live_tell_misfit(w);
    lap(&t->forces, &since);
    bool fine = live_broad(w);
    lap(&t->broad, &since);
    fine = fine && live_narrow(w);
    lap(&t->narrow, &since);
    fine = fine && live_islands(w);
    lap(&t->islands, &since);
    fine = fine && live_find_bouncing(w) && live_find_hinges(w) && live_color(w);
    lap(&t->color, &since);
    if (!fine) return fail_memory(error);
    live_prepare(w);
    live_audit_contacts(w);
    fine = live_look_for_sway(w);
    lap(&t->prepare, &since);
    fine = fine && live_substeps(w);
    lap(&t->solve, &since);
    if (fine && w->status != ABUT_OK && error) *error = w->error;
    if (!fine || w->status != ABUT_OK) return fine ? w->status : fail_memory(error);
    live_store(w);
    fine = live_stop_fast(w);
    unload_bodies(w);
    lap(&t->store, &since);
    s->time += dt, s->steps++;
    if (!all_finite(w))
        return fail(error, ABUT_FAILED,
                    "a body left the numbers at t = %.9g s; use a smaller step or softer springs", s->time);
    fine = fine && live_sleep(w);
    status = fine ? live_report(w, error) : fail_memory(error);
    live_audit_step(w);
    lap(&t->report, &since);
    t->total = since - start;
    return status;
}

/* A step, in pieces where something that moves by itself is fast. */
static abut_status go(live *w, double dt, abut_error *error) {
    abut_sim *run = w->run;
    int pieces = live_pieces(w, dt);
    for (int i = 0; i < pieces; i++) {
        abut_status status = step(w, dt / pieces, error);
        if (status == ABUT_OK) status = run_watch_step(run, w->starts, dt / pieces, error);
        if (status != ABUT_OK) return status;
    }
    return live_sensors(w) ? ABUT_OK : fail_memory(error);
}

/* Steps of the world's length; where the time is no whole number of them, of the next smaller length.  What
 * is less than a hundredth of a step waits for the next one: in a very short step the impulses of contacts
 * drown in the rounding of speeds, and are no forces to go on with. */
abut_status live_advance(abut_sim *run, double until, abut_error *error) {
    live *w = run->live;
    double span = until - run->state->time + w->waits, length = usual_step(run->model);
    double count = floor(span / length + 0.5);
    bool whole = count >= 1 && fabs(span - count * length) <= 1e-6 * length;
    if (!whole) count = ceil(span / length);
    if (!(count <= 1e9)) return fail(error, ABUT_INVALID, "the time to advance to is too far away");
    run_clear_accounts(run);
    if (span < SHORTEST * length) {
        w->waits = span, run->state->time = until;
        return ABUT_OK;
    }
    double dt = whole ? length : span / count;
    run->state->time -= w->waits, w->waits = 0;
    for (double k = 0; k < count; k++) {
        abut_status status = run_goes_on(run, run->state->time, error);
        if (status == ABUT_OK) status = go(w, dt, error);
        if (status != ABUT_OK) return status;
    }
    run->state->time = until;
    live_balance(w);
    return ABUT_OK;
}

/* ---- snapshots: header, rests, boxes, pairs, contacts */

typedef struct live_header {
    uint32_t magic, version;
    int64_t bodies, seen, contacts;
    double h, waits;
} live_header;

/* A pair and what was seen of it: in the order of the pairs, so that slots are told by nothing. */
typedef struct live_known {
    live_pair pair;
    int32_t contacts, pad;
    live_seen seen;
    live_search search;
} live_known;

enum { BODY_BYTES = sizeof(live_rest) + sizeof(box) + sizeof(live_placed) };

size_t live_snapshot_size(const live *w) {
    return sizeof(live_header) + (size_t)w->bodies * BODY_BYTES +
           (size_t)w->known.list.count * sizeof(live_known) +
           (size_t)w->contacts.count * sizeof(live_contact);
}

static char *put(char *at, const void *from, size_t bytes) {
    if (bytes) memcpy(at, from, bytes);
    return at + bytes;
}

void live_snapshot(const live *w, void *block) {
    const live_pairs *p = &w->known;
    live_header h = {LIVE_MAGIC, LIVE_VERSION, w->bodies, p->list.count, w->contacts.count, w->h, w->waits};
    char *at = put(block, &h, sizeof h);
    at = put(at, w->rests, (size_t)w->bodies * sizeof *w->rests);
    at = put(at, w->boxes, (size_t)w->bodies * sizeof *w->boxes);
    at = put(at, w->placed, (size_t)w->bodies * sizeof *w->placed);
    for (int64_t i = 0; i < p->list.count; i++) {
        int slot = p->slots.data[i];
        live_known known = {p->list.data[i], p->contacts.data[i], 0, w->seen.data[slot],
                            w->searches.data[slot]};
        at = put(at, &known, sizeof known);
    }
    for (int64_t i = 0; i < w->contacts.count; i++, at += sizeof(live_contact)) {
        const live_contact *c = &w->contacts.data[i];
        size_t used = live_contact_bytes(c->count);
        memset(put(at, c, used), 0, sizeof *c - used);
    }
}

static bool is_sane(const live *w) {
    int64_t total = 0;
    for (int i = 0; i < w->bodies; i++) {
        const live_rest *r = &w->rests[i];
        if (r->pace < 0 || r->pace >= LIVE_PACES || r->tall < 0 || r->tall >= LIVE_PACES || r->hurry < 0 ||
            r->hurry >= LIVE_PACES || !isfinite(r->hold) || !isfinite(r->hurried) ||
            !vec3_is_finite(w->boxes[i].lower) || !vec3_is_finite(w->boxes[i].upper))
            return false;
    }
    for (int64_t i = 0; i < w->known.list.count; i++) {
        live_pair p = w->known.list.data[i], before = i > 0 ? w->known.list.data[i - 1] : (live_pair){-1, -1};
        int contacts = w->known.contacts.data[i];
        if (p.a < 0 || p.a >= p.b || p.b >= w->bodies || contacts < 0) return false;
        if (p.a < before.a || (p.a == before.a && p.b <= before.b)) return false;
        if (w->shape_of[p.a] < 0 || w->shape_of[p.b] < 0 || contacts > w->contacts.count - total)
            return false;
        for (const live_contact *c = &w->contacts.data[total]; contacts > 0; contacts--, c++, total++)
            if (c->a != p.a || c->b != p.b) return false;
    }
    for (int64_t i = 0; i < w->contacts.count; i++) {
        const live_contact *c = &w->contacts.data[i];
        if (c->a < 0 || c->a >= c->b || c->b >= w->bodies || c->count < 0 || c->count > MANIFOLD_POINTS)
            return false;
    }
    return total == w->contacts.count;
}

static const char *get(const char *at, void *to, size_t bytes) {
    if (bytes) memcpy(to, at, bytes);
    return at + bytes;
}

abut_status live_restore(live *w, const void *block, size_t size, abut_error *error) {
    live_header h;
    if (size < sizeof h) return fail(error, ABUT_INVALID, "the snapshot is too short; it is damaged");
    memcpy(&h, block, sizeof h);
    double length = usual_step(w->model);
    bool fits = h.magic == LIVE_MAGIC && h.version == LIVE_VERSION && h.bodies == w->bodies && h.h > 0 &&
                isfinite(h.h) && h.waits >= 0 && h.waits < length && h.contacts >= 0 && h.seen >= 0 &&
                h.contacts <= (int64_t)(size / sizeof(live_contact)) &&
                h.seen <= (int64_t)(size / sizeof(live_known)) &&
                size == sizeof h + (size_t)w->bodies * BODY_BYTES + (size_t)h.seen * sizeof(live_known) +
                            (size_t)h.contacts * sizeof(live_contact);
    if (!fits) return fail(error, ABUT_INVALID, "the snapshot has the wrong size; it is damaged");
    if (!array_reserve(w->context, &w->contacts, h.contacts + 1) ||
        !array_reserve(w->context, &w->links, h.contacts + 1) ||
        !array_reserve(w->context, &w->seen, h.seen + 1) ||
        !array_reserve(w->context, &w->searches, h.seen + 1) ||
        !array_reserve(w->context, &w->known.list, h.seen + 1) ||
        !array_reserve(w->context, &w->known.slots, h.seen + 1) ||
        !array_reserve(w->context, &w->known.contacts, h.seen + 1))
        return fail_memory(error);
    w->contacts.count = w->links.count = h.contacts;
    w->seen.count = w->known.list.count = h.seen, w->free_slots.count = 0;
    const char *at = get((const char *)block + sizeof h, w->rests, (size_t)w->bodies * sizeof *w->rests);
    at = get(at, w->boxes, (size_t)w->bodies * sizeof *w->boxes);
    at = get(at, w->placed, (size_t)w->bodies * sizeof *w->placed);
    for (int64_t i = 0; i < h.seen; i++) {
        live_known known;
        at = get(at, &known, sizeof known);
        w->known.list.data[i] = known.pair, w->known.slots.data[i] = (int)i;
        w->known.contacts.data[i] = known.contacts, w->seen.data[i] = known.seen;
        w->searches.data[i] = known.search;
    }
    get(at, w->contacts.data, (size_t)h.contacts * sizeof(live_contact));
    if (!is_sane(w)) {
        w->contacts.count = w->links.count = w->seen.count = w->known.list.count = 0;
        memset(w->placed, 0, (size_t)w->bodies * sizeof *w->placed);
        return fail(error, ABUT_INVALID,
                    "the snapshot names bodies or paces that do not exist; it is damaged");
    }
    for (int64_t i = 0; i < h.contacts; i++) {
        w->links.data[i] = live_link_of(&w->contacts.data[i]);
        w->links.data[i].mark = live_mark_of(w, &w->contacts.data[i]);
    }
    /* the tree is made anew where the bodies are now */
    for (int i = 0; i < w->bodies; i++) w->leaves[i] = BVH_NONE;
    bvh_free(w->context, &w->tree);
    bvh_init(&w->tree);
    w->near.count = 0, w->tree_ready = false, w->pairs_hold = false;
    w->motions = run_motions(w->run->state);
    w->h = h.h, w->waits = h.waits;
    return bvh_reserve(w->context, &w->tree, w->bodies) ? ABUT_OK : fail_memory(error);
}

/* Of what decides how the run goes on; field by field, because structs have holes. */
uint64_t live_hash(const live *w, uint64_t seed) {
    uint64_t h = hash64(&w->waits, sizeof w->waits, seed);
    for (int i = 0; i < w->bodies; i++) {
        double halves[] = {w->rests[i].still, w->rests[i].early, w->rests[i].late};
        h = hash64(halves, sizeof halves, h);
        int32_t words[] = {w->rests[i].asleep, w->rests[i].pace, w->rests[i].tall, w->rests[i].hung,
                           w->rests[i].hurry};
        h = hash64(&w->rests[i].hold, sizeof w->rests[i].hold, hash64(words, sizeof words, h));
        h = hash64(&w->rests[i].hurried, sizeof w->rests[i].hurried, h);
    }
    for (int64_t i = 0; i < w->contacts.count; i++) {
        const live_contact *c = &w->contacts.data[i];
        int32_t words[] = {c->a, c->b, c->count, c->flags};
        h = hash64(words, sizeof words, h);
        double numbers[] = {c->normal.x,   c->normal.y,   c->normal.z, c->friction.x,
                            c->friction.y, c->friction.z, c->twist};
        h = hash64(numbers, sizeof numbers, h);
        for (int k = 0; k < c->count; k++) {
            h = hash64(&c->points[k].id, sizeof c->points[k].id, h);
            h = hash64(&c->loads[k].normal, sizeof c->loads[k].normal, h);
        }
    }
    return h;
}
