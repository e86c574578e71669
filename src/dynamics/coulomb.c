/* Choosing the modes of friction: all stick, or the pyramid, then the true cone (see coulomb.h). */
#include "dynamics/coulomb.h"

#include "abut/complementarity.h"
#include "dynamics/cones.h"
#include "dynamics/modes.h"
#include "dynamics/share.h"

/* Slipping points up to which directions are refined to the last digits, the error of the directions of more,
 * and candidates up to which pyramids are tried. */
enum { NEWTON_DIRECTIONS = 8, PYRAMIDS = 20 };
#define MANY_DIRECTIONS_ERROR 1e-4

void coulomb_set_mode(group_contact *c, cone_kind kind, friction_mode mode, vec3 along) {
    switch (kind) {
    case CONE_FRICTION: c->mode = mode, c->slip_along = along; break;
    case CONE_ROLLING: c->rolling = mode, c->roll_along = along; break;
    default: c->spinning = mode, c->spin_along = vec3_dot(along, c->point.normal); break;
    }
}

/* What a trial knows. */
typedef struct trial {
    group *g;
    const coulomb_config *config;
    const group_scratch *scratch;
    group_system *s;
    system_solution *sol;
    double *shared; /* z inside all cones, or the best found */
    double margin;
} trial;

static bool is_candidate(const trial *t, const cone *k) {
    return t->config->candidate[k->contact * CONE_KINDS + k->kind];
}

/* Builds and solves with the modes of the contacts. */
static abut_status evaluate(trial *t, abut_error *error) {
    arena *a = t->scratch->arena;
    abut_status status = system_build(t->g, &t->config->build, a, t->s, error);
    if (status != ABUT_OK) return status;
    *t->sol =
        (system_solution){.state = arena_alloc(a, (size_t)t->s->count + 1, 1), .pivots = t->sol->pivots};
    double *start = arena_alloc(a, (size_t)t->s->count + 1, sizeof(double));
    if (!t->sol->state || !start) return fail_memory(error);
    bool forces = t->config->build.level == SYSTEM_FORCES;
    if (forces && states_recall_forces(t->s, start)) t->sol->start = start;
    for (int i = 0; i < t->g->contact_count; i++)
        if (t->s->normal_of[i] >= 0)
            t->sol->state[t->s->normal_of[i]] =
                t->g->contacts[i].pressed && !t->g->contacts[i].idle ? ABUT_LCP_FREE : ABUT_LCP_AT_LOWER;
    for (int i = 0; i < t->g->row_count; i++)
        if (t->s->row_of[i] >= 0) t->sol->state[t->s->row_of[i]] = group_row_state(t->g, i);
    int before = t->sol->pivots;
    status = system_solve(t->s, t->config->tolerance, t->config->budget, t->scratch, t->sol, error);
    t->sol->pivots += before;
    return status;
}

static double tolerance_of(const trial *t) { return t->config->tolerance * t->sol->scale; }

/* The rate of a cone in the solution. */
static vec3 rate_of(const trial *t, const cone *k) {
    vec3 sum = vec3_zero();
    for (int i = 0; i < k->dimension; i++) {
        row r = system_cone_row(t->s, k, k->axis[i]);
        sum = vec3_axpy(sum, row_dot(&r, t->sol->x) + system_cone_offset(t->s, &r), k->axis[i]);
    }
    return sum;
}

static bool vanishes(const trial *t, const cone *k) {
    int n = t->s->normal_of[k->contact];
    return t->sol->state[n] != ABUT_LCP_FREE && t->sol->w[n] > tolerance_of(t) && !(t->sol->z[n] > 0);
}

/* Candidates at points that vanish become free.  Returns how many. */
static int free_the_vanishing(trial *t) {
    int changed = 0;
    for (int k = 0; k < t->s->cone_count; k++) {
        const cone *law = &t->s->cones[k];
        if (!is_candidate(t, law) || law->mode == FRICTION_FREE || !vanishes(t, law)) continue;
        coulomb_set_mode(&t->g->contacts[law->contact], law->kind, FRICTION_FREE, vec3_zero());
        t->g->contacts[law->contact].pressed = false;
        changed++;
    }
    return changed;
}

static bool share(trial *t) {
    dense d;
    bool memory = true;
    t->shared = arena_alloc(t->scratch->arena, (size_t)t->s->count + 1, sizeof(double));
    if (!t->shared || !dense_begin(t->s, t->scratch->arena, &d)) return false;
    t->margin = share_margin(&d, t->sol, t->config->tolerance, t->scratch->arena, t->shared, &memory);
    return memory;
}

/* A free candidate at a point that is pressed: its friction was forgotten. */
static bool pressed_but_free(const trial *t, const cone *k) {
    double force = t->sol->z[t->s->normal_of[k->contact]];
    return is_candidate(t, k) && k->mode == FRICTION_FREE && force > 0 && !vanishes(t, k);
}

/* Step 1.  *stuck when every candidate at a pressed point sticks inside its cone. */
static abut_status try_all_stick(trial *t, bool *stuck, abut_error *error) {
    *stuck = false;
    for (int i = 0; i < t->g->contact_count; i++)
        for (int k = 0; k < CONE_KINDS; k++)
            if (t->config->candidate[i * CONE_KINDS + k])
                coulomb_set_mode(&t->g->contacts[i], (cone_kind)k, FRICTION_STICK, vec3_zero());
    for (int round = 0; round <= t->g->contact_count; round++) {
        abut_status status = evaluate(t, error);
        if (status != ABUT_OK || t->sol->outcome != SYSTEM_SOLVED) return status;
        if (free_the_vanishing(t) == 0) break;
    }
    for (int k = 0; k < t->s->cone_count; k++)
        if (pressed_but_free(t, &t->s->cones[k])) return ABUT_OK;
    if (!share(t)) return fail_memory(error);
    *stuck = t->margin >= -1e-10;
    return ABUT_OK;
}

/* ---- refinement: modes */

/* Changes the modes that the solution contradicts.  Returns how many. */
static int correct_modes(trial *t) {
    int changed = free_the_vanishing(t);
    double tiny = share_tiny(t->s, t->shared);
    for (int k = 0; k < t->s->cone_count; k++) {
        const cone *law = &t->s->cones[k];
        group_contact *c = &t->g->contacts[law->contact];
        if (!is_candidate(t, law) || vanishes(t, law)) continue;
        if (pressed_but_free(t, law)) {
            coulomb_set_mode(c, law->kind, FRICTION_STICK, vec3_zero()), changed++;
        } else if (law->mode == FRICTION_SLIP) {
            vec3 r = rate_of(t, law);
            if (vec3_dot(r, law->along) >= -tolerance_of(t)) continue;
            coulomb_set_mode(c, law->kind, FRICTION_STICK, vec3_zero()), changed++;
        } else if (law->mode == FRICTION_STICK && share_cone_margin(t->s, law, t->shared, tiny) < -1e-10) {
            vec3 pull = system_cone_force(t->s, law, t->shared);
            coulomb_set_mode(c, law->kind, FRICTION_SLIP, vec3_neg(vec3_unit(pull))), changed++;
        }
    }
    return changed;
}

/* ---- refinement: directions */

/* How far the rate of a slipping cone points beside its direction: a sine, but for rates so small that
 * rounding would show in it.  At the onset of slip the rate is zero; sines are found to 1e-10, so that what
 * is asked of it stays above 1e-13 of the scale. */
static double sine_of(const trial *t, const cone *k, const cone *now) {
    vec3 r = rate_of(t, now), n = vec3_cross(k->axis[0], k->axis[1]);
    return vec3_dot(r, vec3_cross(n, now->along)) / fmax(vec3_length(r), 1e-3 * t->sol->scale);
}

/* The slipping candidates with a direction to find. */
static int list_slipping(const trial *t, int *list) {
    int count = 0;
    for (int k = 0; k < t->s->cone_count; k++) {
        const cone *law = &t->s->cones[k];
        if (is_candidate(t, law) && law->mode == FRICTION_SLIP && law->dimension == 2 && law->slide > 0 &&
            !vanishes(t, law))
            list[count++] = k;
    }
    return count;
}

static vec3 *along_of(group_contact *c, cone_kind kind) {
    return kind == CONE_FRICTION ? &c->slip_along : &c->roll_along;
}

/* Turns a direction in its plane by a small angle (to first order, unit again). */
static void turn(group_contact *c, const cone *k, double angle) {
    vec3 *d = along_of(c, k->kind), n = vec3_cross(k->axis[0], k->axis[1]);
    *d = vec3_unit(vec3_axpy(*d, angle, vec3_cross(n, *d)));
}

/* All sines for the present directions. */
static abut_status sines(trial *t, const cone *laws, const int *list, int count, double *f,
                         abut_error *error) {
    abut_status status = evaluate(t, error);
    for (int i = 0; status == ABUT_OK && i < count; i++)
        f[i] = t->sol->outcome == SYSTEM_SOLVED ? sine_of(t, &laws[list[i]], &t->s->cones[list[i]]) : 0;
    return status;
}

static double norm_of(const double *f, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += f[i] * f[i];
    return sqrt(sum);
}

/* One step of Newton's method for the angles, with differences for derivatives; halved while it does not
 * help. */
static abut_status newton_step(trial *t, const cone *laws, const int *list, int count, double *f,
                               bool *better, abut_error *error) {
    arena *a = t->scratch->arena;
    size_t n = (size_t)count;
    double *jacobian = arena_alloc(a, n * n + 1, sizeof(double)), *g = arena_alloc(a, n + 1, sizeof(double));
    double *step = arena_alloc(a, n + 1, sizeof(double));
    vec3 *kept = arena_alloc(a, n + 1, sizeof(vec3));
    least_norm factor;
    if (!jacobian || !g || !step || !kept) return fail_memory(error);
    const double h = 1e-6;
    for (int j = 0; j < count; j++) {
        const cone *k = &laws[list[j]];
        group_contact *c = &t->g->contacts[k->contact];
        vec3 before = *along_of(c, k->kind);
        arena_mark mark = arena_save(a);
        turn(c, k, h);
        abut_status status = sines(t, laws, list, count, g, error);
        arena_restore(a, mark);
        if (status != ABUT_OK) return status;
        *along_of(c, k->kind) = before;
        for (int i = 0; i < count; i++) jacobian[n * j + i] = (g[i] - f[i]) / h;
    }
    if (!least_norm_factor(jacobian, count, count, 1e-9, a, &factor)) return fail_memory(error);
    least_norm_solve(&factor, f, step);
    for (int j = 0; j < count; j++) {
        const cone *k = &laws[list[j]];
        kept[j] = *along_of(&t->g->contacts[k->contact], k->kind);
    }
    *better = false;
    for (double s = 1; s > 0.01 && !*better; s /= 2) {
        for (int j = 0; j < count; j++) {
            const cone *k = &laws[list[j]];
            *along_of(&t->g->contacts[k->contact], k->kind) = kept[j];
            turn(&t->g->contacts[k->contact], k, -s * fmin(fmax(step[j], -0.5), 0.5));
        }
        arena_mark mark = arena_save(a);
        abut_status status = sines(t, laws, list, count, g, error);
        arena_restore(a, mark);
        if (status != ABUT_OK) return status;
        *better = norm_of(g, count) < norm_of(f, count);
    }
    if (*better)
        memcpy(f, g, n * sizeof(double));
    else
        for (int j = 0; j < count; j++)
            *along_of(&t->g->contacts[laws[list[j]].contact], laws[list[j]].kind) = kept[j];
    return ABUT_OK;
}

/* Directions of all slipping candidates to the last digits. */
static abut_status find_directions(trial *t, bool *converged, abut_error *error) {
    arena *a = t->scratch->arena;
    arena_mark mark = arena_save(a);
    int cones = t->s->cone_count;
    int *list = arena_alloc(a, (size_t)cones + 1, sizeof(int));
    double *f = arena_alloc(a, (size_t)cones + 1, sizeof(double));
    cone *laws = arena_alloc(a, (size_t)cones + 1, sizeof(cone)); /* t->s moves with every evaluation */
    abut_status status = list && f && laws ? ABUT_OK : fail_memory(error);
    int count = 0;
    if (status == ABUT_OK) {
        memcpy(laws, t->s->cones, (size_t)cones * sizeof(cone));
        count = list_slipping(t, list);
        for (int i = 0; i < count; i++) f[i] = sine_of(t, &laws[list[i]], &laws[list[i]]);
    }
    /* Newton's method costs as many solutions as there are directions: for many those of the cones stay */
    bool better = count <= NEWTON_DIRECTIONS;
    for (int step = 0; status == ABUT_OK && better && step < 20 && norm_of(f, count) > 1e-14; step++) {
        arena_mark inner = arena_save(a);
        status = newton_step(t, laws, list, count, f, &better, error);
        arena_restore(a, inner);
    }
    *converged =
        status == ABUT_OK && norm_of(f, count) < (count <= NEWTON_DIRECTIONS ? 1e-10 : MANY_DIRECTIONS_ERROR);
    arena_restore(a, mark);
    return status == ABUT_OK ? evaluate(t, error) : status;
}

/* Step 3.  *done when modes and directions agree with the solution. */
static abut_status refine(trial *t, bool *done, abut_error *error) {
    *done = false;
    abut_status status = evaluate(t, error);
    for (int round = 0; status == ABUT_OK && round < 12; round++) {
        if (t->sol->outcome != SYSTEM_SOLVED) return ABUT_OK;
        if (!share(t)) return fail_memory(error);
        if (correct_modes(t) > 0) {
            status = evaluate(t, error);
            continue;
        }
        bool converged = false;
        status = find_directions(t, &converged, error);
        if (status != ABUT_OK || t->sol->outcome != SYSTEM_SOLVED || !converged) return status;
        if (!share(t)) return fail_memory(error);
        if (correct_modes(t) == 0) {
            *done = true;
            return ABUT_OK;
        }
        status = evaluate(t, error);
    }
    return status;
}

/* Steps 2 and 3: pyramids, ever finer around the slip, until the true cone is reached from one of them. */
static abut_status zoom(trial *t, abut_error *error) {
    arena *a = t->scratch->arena;
    vec3 *estimates = arena_alloc(a, CONE_KINDS * (size_t)t->g->contact_count + 1, sizeof(vec3));
    if (!estimates) return fail_memory(error);
    double spacing = 1;
    bool found = false, done = false;
    for (int round = 0; round<9; round++, spacing = round> 1 ? spacing / 4 : 1) {
        arena_mark mark = arena_save(a);
        abut_status status =
            stewart_choose(t->g, t->config, t->scratch, estimates, spacing, &found, &t->sol->pivots, error);
        if (status != ABUT_OK) return status;
        if (!found && round == 0) {
            t->sol->outcome = SYSTEM_NO_SOLUTION;
            return ABUT_OK;
        }
        if (!found) break; /* directions too close for Lemke's tableau */
        status = refine(t, &done, error);
        if (status != ABUT_OK || done) return status;
        arena_restore(a, mark);
    }
    abut_status status = ABUT_OK;
    for (int sweeps = 100; status == ABUT_OK && !done && sweeps <= 10000; sweeps *= 10) {
        status = coulomb_sweep(t->g, t->config, t->scratch, sweeps, error);
        if (status == ABUT_OK) status = refine(t, &done, error);
    }
    if (!done) t->sol->outcome = SYSTEM_BUDGET;
    return status;
}

/* Newton's method on the modes.  *solved: they hold with the loads of the system, too. */
static abut_status try_newton(trial *t, bool *found, bool *solved, abut_error *error) {
    abut_status status = modes_choose(t->g, t->config, t->scratch, t->s, t->sol, found, error);
    bool impulses = t->config->build.level == SYSTEM_IMPULSES;
    if (status == ABUT_OK && *found && !impulses) status = evaluate(t, error);
    *solved = status == ABUT_OK && *found && t->sol->outcome == SYSTEM_SOLVED;
    return status;
}

/* Modes for the candidates of the config, whatever was struck. */
static abut_status choose(group *g, const coulomb_config *config, const group_scratch *scratch,
                          group_system *system, system_solution *solution, abut_error *error) {
    trial t = {.g = g, .config = config, .scratch = scratch, .s = system, .sol = solution};
    bool stuck = false, found = false, done = false, impulses = config->build.level == SYSTEM_IMPULSES;
    int candidates = 0;
    for (int i = 0; i < CONE_KINDS * g->contact_count; i++) candidates += config->candidate[i];
    bool many = candidates > NEWTON_DIRECTIONS;
    bool solved = false;
    if (many) { /* modes of most points are right at once */
        abut_status quick = try_newton(&t, &found, &solved, error);
        if (quick != ABUT_OK || solved) return quick;
        if (!found && !impulses && candidates > PYRAMIDS) { /* a time step finds the motion without modes */
            solution->outcome = SYSTEM_BUDGET;
            return ABUT_OK;
        }
    }
    abut_status status = impulses && many ? ABUT_OK : try_all_stick(&t, &stuck, error);
    if (status != ABUT_OK || stuck) return status;
    if (!many) { /* pyramids are quick for a few points */
        status = zoom(&t, error);
        if (status != ABUT_OK || solution->outcome != SYSTEM_BUDGET) return status;
        status = try_newton(&t, &found, &solved, error);
        if (status != ABUT_OK || solved) return status;
    }
    status = cones_choose(g, config, scratch, system, solution, &found, error);
    if (status != ABUT_OK || (found && impulses)) return status;
    if (!found && impulses && many) status = try_all_stick(&t, &stuck, error);
    if (status != ABUT_OK || stuck) return status;
    if (found) status = refine(&t, &done, error);
    if (status != ABUT_OK || done) return status;
    if (many && candidates <= PYRAMIDS) {
        status = zoom(&t, error);
        if (status != ABUT_OK || solution->outcome != SYSTEM_BUDGET) return status;
    }
    /* no modes are known to hold: those of an impact all stick, so that velocities are those of the impulses
     */
    if (impulses) status = try_all_stick(&t, &stuck, error);
    t.sol->outcome = SYSTEM_BUDGET;
    return status;
}

/* Whether a point that is not struck bears something, without the friction it would then have. */
static bool bears_unstruck(const trial *t) {
    double tiny = share_tiny(t->s, t->sol->z);
    for (int i = 0; i < t->g->contact_count; i++) {
        int n = t->s->normal_of[i];
        if (n >= 0 && t->config->candidate[i * CONE_KINDS] && !t->config->struck[i] && t->sol->z[n] > tiny)
            return true;
    }
    return false;
}

/* An impact of friction can have several solutions: a ball that rolls against a step rolls up about its edge,
 * and with mu > 3 may as well be jammed between edge and floor.  What is continuous in mu is the one in which
 * a point that rests, and bears nothing in the impact, does not hold the body either: friction of the points
 * that are struck is chosen first, and stays where the others bear nothing. */
abut_status coulomb_choose(group *g, const coulomb_config *config, const group_scratch *scratch,
                           group_system *system, system_solution *solution, abut_error *error) {
    int count = CONE_KINDS * g->contact_count, candidates = 0, struck = 0;
    for (int i = 0; config->struck && i < count; i++) {
        candidates += config->candidate[i];
        struck += config->candidate[i] && config->struck[i / CONE_KINDS];
    }
    if (struck == 0 || struck == candidates || candidates > NEWTON_DIRECTIONS)
        return choose(g, config, scratch, system, solution, error);
    bool *some = arena_alloc(scratch->arena, (size_t)count, 1);
    if (!some) return fail_memory(error);
    for (int i = 0; i < count; i++) some[i] = config->candidate[i] && config->struck[i / CONE_KINDS];
    coulomb_config part = *config;
    part.candidate = some;
    abut_status status = choose(g, &part, scratch, system, solution, error);
    trial t = {.g = g, .config = config, .scratch = scratch, .s = system, .sol = solution};
    if (status != ABUT_OK || (solution->outcome == SYSTEM_SOLVED && !bears_unstruck(&t))) return status;
    *solution = (system_solution){0};
    return choose(g, config, scratch, system, solution, error);
}
