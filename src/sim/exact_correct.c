/* Drift correction: after each step positions and velocities go back on the constraints that hold
 * (mass-weighted Newton), so that errors never pile up.  A sticking point remembers its anchor: tangential
 * drift is drift too. */
#include "sim/exact.h"

enum { POSITION_ROUNDS = 4 };

/* Vertices, edges and planes: a sticking place between them is one material point of each body.  Round ones
 * roll: their place is another material point at every instant, so its velocity is corrected, but its
 * position has no anchor. */
bool exact_is_sharp(const element *e) {
    return e->kind == ELEMENT_PLANE || ((e->kind == ELEMENT_POINT || e->kind == ELEMENT_LINE) && e->r == 0);
}

/* A point that begins to stick remembers its two material points. */
void exact_anchor(exact *x) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        bool sticks = c->mode == FRICTION_STICK && c->friction.stick > 0;
        const near_pair *pair = &x->touches.data[i].pair;
        vec3 rolls = vec3_sub(c->point.at_rate, motion_velocity_at(&x->motions[c->a], c->point.at));
        bool material = vec3_length(rolls) <= 1e-9 * (1 + x->speed);
        if (!sticks || !material || !exact_is_sharp(&pair->a) || !exact_is_sharp(&pair->b)) {
            c->anchored = false;
        } else if (!c->anchored) {
            const motion *a = &x->motions[c->a], *b = &x->motions[c->b];
            c->anchored = true;
            c->anchor_a = quat_unrotate(a->rotation, vec3_sub(c->point.at, a->center));
            c->anchor_b = quat_unrotate(b->rotation, vec3_sub(c->point.at, b->center));
        }
    }
}

/* How far a displacement moves any point of a body, at most. */
static double moved_by(const exact *x, int body, spatial shift) {
    return vec3_length(shift.linear) +
           x->model->bodies[x->bodies[body]].shape.radius * vec3_length(shift.angular);
}

/* Rows that nearly depend on each other ask for displacements far beyond their errors, into whatever is
 * beside them: 8 nm at two corners of a rim once moved the bodies by 2 micrometres, through the face that
 * they lay on.  An error that is within epsilon must not move anything by more than a tenth of that beyond
 * itself. */
static double too_far(const exact *x, double wrong, const spatial *shift) {
    double most = 0, touching = x->model->tolerance.touching, allowed = wrong + 0.1 * touching;
    for (int i = 0; i < x->movable; i++) most = fmax(most, moved_by(x, i, shift[i]));
    return x->contacts.count > 0 && wrong <= touching && most > allowed ? most / allowed : 0;
}

/* The displacements of a step; where they go too far those without such rows, at most as far as they may.
 * *cut: that was so, and what is left of the error stays. */
static abut_status find_shift(exact *x, spatial *shift, project_result *result, bool *cut,
                              abut_error *error) {
    group g = exact_group(x);
    abut_status status = project_positions(&g, &x->scratch, false, shift, result, error);
    *cut = status == ABUT_OK && too_far(x, result->before, shift) > 0;
    if (!*cut) return status;
    status = project_positions(&g, &x->scratch, true, shift, result, error);
    double by = status == ABUT_OK ? too_far(x, result->before, shift) : 0;
    for (int i = 0; i < x->movable && by > 0; i++) shift[i] = spatial_scale(shift[i], 1 / by);
    return status;
}

/* One step of the correction; *wrong: the largest error before it, 0 where it was cut short. */
static abut_status correct_once(exact *x, double time, double *wrong, double *remaining, abut_error *error) {
    double powers[2];
    abut_status status = exact_prepare(x, time, powers, error);
    if (status != ABUT_OK) return status;
    arena_mark mark = arena_save(x->arena);
    spatial *shift = arena_alloc(x->arena, (size_t)x->count, sizeof *shift);
    project_result result;
    bool cut = false;
    status = shift ? find_shift(x, shift, &result, &cut, error) : fail_memory(error);
    if (status == ABUT_OK) *wrong = cut ? 0 : result.before, *remaining = cut ? 0 : result.remaining;
    bool moves = status == ABUT_OK && result.before > 1e-13 * x->model->size;
    for (int i = 0; i < x->movable && moves; i++) project_displace(&x->motions[i], shift[i]);
    if (moves) exact_count_shift(x, shift);
    arena_restore(x->arena, mark);
    return status;
}

bool exact_misses(exact *x, double time, abut_error *error) {
    double powers[2], most = exact_deepest(x);
    if (x->hinge_count > 0 && exact_apply(x, time, powers, error) == ABUT_OK)
        for (int i = 0; i < x->row_count; i++)
            if (x->row_kinds[i] == ROW_HELD) most = fmax(most, fabs(x->rows[i].error));
    return most > x->model->tolerance.touching;
}

/* Where Newton's steps do not come to an end, near a place from which there is no way on, a slower method
 * looks for one; time steps are made shorter first (exact_storm.c). */
abut_status exact_correct_positions(exact *x, double time, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    motion *before = arena_alloc(x->arena, (size_t)x->movable + 1, sizeof *before);
    if (!before) return fail_memory(error);
    memcpy(before, x->motions, (size_t)x->movable * sizeof *before);
    double good = 1e-13 * x->model->size, wrong = INFINITY, remaining = 0;
    abut_status status = ABUT_OK;
    for (int round = 0; round < POSITION_ROUNDS && status == ABUT_OK && wrong > good; round++) {
        status = correct_once(x, time, &wrong, &remaining, error);
        if (status == ABUT_OK && round == 0)
            x->account->constraint_error = fmax(x->account->constraint_error, remaining);
    }
    bool astray = status == ABUT_OK && wrong > 0.1 * x->model->tolerance.touching && x->pace.steps_left == 0;
    if (astray && exact_misses(x, time, error)) {
        memcpy(x->motions, before, (size_t)x->movable * sizeof *before);
        exact_forget_places(x);
        status = exact_find_places(x, time, error);
    }
    arena_restore(x->arena, mark);
    return status;
}

/* Kinetic energy of the group as it moves now. */
static double group_kinetic_energy_now(const group *g) {
    double energy = 0;
    for (int i = 0; i < g->body_count; i++)
        if (g->inertias[i].inverse_mass > 0) energy += body_kinetic_energy(&g->inertias[i], &g->motions[i]);
    return energy;
}

/* A hinge row whose speed the nearest velocities miss by more than their accuracy. */
static abut_status look_for_contradictions(exact *x, const spatial *velocities, double time,
                                           abut_error *error) {
    double most = 1e-6 * (1 + x->speed);
    int worst = -1;
    for (int i = 0; i < x->row_count; i++) {
        const row *r = &x->rows[i];
        double missed = isinf(r->lo) && isinf(r->hi) ? fabs(row_dot(r, velocities) - r->rate) : 0;
        if (missed > most) most = missed, worst = i;
    }
    if (worst < 0) return ABUT_OK;
    exact_note_contradiction(x, worst, time);
    return exact_look_for_jam(x, time, false, error);
}

abut_status exact_correct_velocities(exact *x, double time, abut_error *error) {
    double powers[2];
    abut_status status = exact_prepare(x, time, powers, error);
    if (status != ABUT_OK) return status;
    group g = exact_group(x);
    arena_mark mark = arena_save(x->arena);
    spatial *velocities = arena_alloc(x->arena, (size_t)x->count, sizeof *velocities);
    project_result result;
    status =
        velocities ? project_velocities(&g, &x->scratch, velocities, &result, error) : fail_memory(error);
    double before = status == ABUT_OK ? group_kinetic_energy_now(&g) : 0;
    for (int i = 0; i < x->movable && status == ABUT_OK; i++) x->motions[i].velocity = velocities[i];
    if (status == ABUT_OK) status = look_for_contradictions(x, velocities, time, error);
    double given = status == ABUT_OK ? group_kinetic_energy_now(&g) - before : 0;
    /* a motor without bound closes a difference of speeds by an impulse: what that gives is work; a point
     * that was let go and is pressed again before it was apart is closed as by a small blow */
    if (x->has_motor)
        x->account->work += given;
    else if (given < -1e-10 * x->run->state->largest_energy)
        x->account->dissipated -= given;
    arena_restore(x->arena, mark);
    return status;
}

/* Places that nearly depend on each other share a blow that takes more than each of them alone would: that
 * much of the kinetic energy is no motion that would be missed. */
#define SLIGHT 1e-4

/* The nearest velocities lie at a right angle to the change, so without motors
 * (v+ - v) . M (v+ - v) / 2  is what the kinetic energy loses; motors that go on with their speed may give
 * more than that at the same time. */
static void measure_closing(const exact *x, const twist *before, exact_closing *did) {
    *did = (exact_closing){.body = -1};
    for (int i = 0; i < x->movable; i++) {
        motion change = x->motions[i];
        change.velocity = spatial_axpy(change.velocity, -1, before[i]);
        did->taken += body_kinetic_energy(&x->inertias[i], &change);
        double most = exact_surface_speed(x, i, change.velocity);
        bool moved = vec3_length2(before[i].linear) + vec3_length2(before[i].angular) > 0;
        if (moved && most > did->changed_moving) did->changed_moving = most, did->body = i;
        did->changed = fmax(did->changed, most);
    }
}

abut_status exact_close_velocities(exact *x, double most, exact_closing *did, abut_error *error) {
    group g = exact_group(x);
    arena_mark mark = arena_save(x->arena);
    twist *velocities = arena_alloc(x->arena, (size_t)x->movable + 1, sizeof *velocities);
    if (!velocities) return fail_memory(error);
    for (int i = 0; i < x->movable; i++) velocities[i] = x->motions[i].velocity;
    double before = group_kinetic_energy_now(&g), work = x->account->work,
           dissipated = x->account->dissipated;
    abut_status status = exact_correct_velocities(x, x->time, error);
    double lost = before - group_kinetic_energy_now(&g);
    bool counted = x->has_motor || lost > 1e-10 * x->run->state->largest_energy;
    if (status == ABUT_OK && !counted) x->account->dissipated += lost;
    measure_closing(x, velocities, did);
    bool slight =
        !(did->taken > fmax(most, SLIGHT * before)) && !(did->changed > x->model->tolerance.rest_speed);
    did->closed = status == ABUT_OK && (slight || most == INFINITY);
    for (int i = 0; i < x->movable && !did->closed; i++) x->motions[i].velocity = velocities[i];
    if (!did->closed) x->account->work = work, x->account->dissipated = dissipated;
    arena_restore(x->arena, mark);
    return status;
}

/* Needs `pressed` of the last evaluation: only what is pressed is held. */
abut_status exact_correct(exact *x, double time, abut_error *error) {
    if (x->contacts.count == 0 && x->hinge_count == 0) return ABUT_OK;
    abut_status status = exact_correct_positions(x, time, error);
    return status == ABUT_OK ? exact_correct_velocities(x, time, error) : status;
}
