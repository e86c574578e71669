/* Resting forces for given modes of friction (see forces.h). */
#include "dynamics/forces.h"

#include "abut/complementarity.h"
#include "dynamics/coulomb.h"
#include "dynamics/face.h"
#include "dynamics/islands.h"
#include "dynamics/modes.h"
#include "dynamics/share.h"

forces_config forces_default_config(void) { return (forces_config){.slip_speed = 1e-9, .tolerance = 1e-9}; }

/* ---- memory of the active set */

static void recall_states(const group_system *s, uint8_t *state) {
    const group *g = s->g;
    for (int i = 0; i < s->count; i++) state[i] = ABUT_LCP_FREE;
    for (int i = 0; i < g->row_count; i++)
        if (s->row_of[i] >= 0) state[s->row_of[i]] = group_row_state(g, i);
    for (int i = 0; i < g->contact_count; i++)
        if (s->normal_of[i] >= 0 && (!g->contacts[i].pressed || g->contacts[i].idle))
            state[s->normal_of[i]] = ABUT_LCP_AT_LOWER;
}

/* A point stays pressed while it does not accelerate away; at N = 0 and gap'' = 0 it still touches. */
static void remember_states(const group_system *s, const system_solution *sol, double tolerance) {
    const group *g = s->g;
    for (int i = 0; i < g->row_count; i++)
        if (s->row_of[i] >= 0 && g->row_states) g->row_states[i] = sol->state[s->row_of[i]];
    for (int i = 0; i < g->contact_count; i++) {
        int n = s->normal_of[i];
        g->contacts[i].pressed = n >= 0 && sol->w[n] <= tolerance * sol->scale;
        g->contacts[i].idle = g->contacts[i].pressed && sol->state[n] == ABUT_LCP_AT_LOWER;
    }
    for (int k = 0; k < s->cone_count;
         k++) /* the last direction of slip: that of a point that comes to rest */
        if (s->cones[k].mode == FRICTION_SLIP)
            coulomb_set_mode(&g->contacts[s->cones[k].contact], s->cones[k].kind, FRICTION_SLIP,
                             s->cones[k].along);
}

/* ---- memory of the forces */

static void remember_forces(const group *g, const contact_load *loads) {
    for (int i = 0; i < g->contact_count; i++)
        g->contacts[i].push = vec3_axpy(loads[i].friction, loads[i].normal, g->contacts[i].point.normal);
}

/* ---- loads */

static void read_loads(const group_system *s, const system_solution *sol, const double *z,
                       const bool *determined, contact_load *loads, double *multipliers) {
    const group *g = s->g;
    for (int i = 0; i < g->row_count; i++)
        multipliers[i] = s->row_of[i] >= 0 ? z[s->row_of[i]] : g->rows[i].lo;
    for (int i = 0; i < g->contact_count; i++) {
        const group_contact *c = &g->contacts[i];
        int n = s->normal_of[i];
        vec3 t1, t2;
        group_tangents(c->point.normal, &t1, &t2);
        row r1 = group_tangent_row(g, c, t1), r2 = group_tangent_row(g, c, t2);
        double a1 = row_dot(&r1, sol->x) + r1.drift, a2 = row_dot(&r2, sol->x) + r2.drift;
        loads[i] = (contact_load){.normal = z[n],
                                  .gap_acceleration = sol->state[n] == ABUT_LCP_FREE ? 0 : sol->w[n],
                                  .slip_acceleration = vec3_axpy(vec3_scale(t1, a1), a2, t2),
                                  .margin = 1,
                                  .determined = !determined || determined[n]};
    }
    double tiny = share_tiny(s, z);
    for (int k = 0; k < s->cone_count; k++) {
        const cone *law = &s->cones[k];
        contact_load *load = &loads[law->contact];
        vec3 force = system_cone_force(s, law, z);
        if (law->kind == CONE_FRICTION)
            load->friction = force;
        else
            load->torque = vec3_add(load->torque, force);
        load->margin = fmin(load->margin, share_cone_margin(s, law, z, tiny) + FORCES_ALLOWANCE);
        if (determined && law->mode == FRICTION_STICK)
            for (int i = 0; i < law->dimension; i++) load->determined &= determined[law->first + i];
    }
}

static int worst_margin(const contact_load *loads, int count) {
    int worst = -1;
    for (int i = 0; i < count; i++)
        if (loads[i].margin < 0 && (worst < 0 || loads[i].margin < loads[worst].margin)) worst = i;
    return worst;
}

/* The smallest margin of all cones in the solution z. */
static double smallest_margin(const group_system *s, const double *z) {
    double least = 1, tiny = share_tiny(s, z);
    for (int k = 0; k < s->cone_count; k++) least = fmin(least, share_cone_margin(s, &s->cones[k], z, tiny));
    return least;
}

/* The distribution that is shown: the solver's, one inside all cones, or (config.distribute) that of least
 * norm where it is inside all cones. */
static abut_status distribute(const group_system *s, const system_solution *sol, const forces_config *config,
                              arena *scratch, double *z, bool *determined, abut_error *error) {
    dense d;
    bool memory = true;
    memcpy(z, sol->z, (size_t)s->count * sizeof(double));
    bool inside = smallest_margin(s, z) >= 0, known = inside;
    if (!config->distribute && (config->no_margins || inside)) return ABUT_OK;
    if (!known && s->count > SHARE_FEW && /* by the rule that forces_choose decides with */
        (!modes_share(s, sol->start ? sol->start : sol->z, scratch, z, &known) ||
         (!known && sol->start && !modes_share(s, sol->z, scratch, z, &known))))
        return fail_memory(error);
    if (known && !config->distribute) return ABUT_OK;
    if (!dense_begin(s, scratch, &d)) return fail_memory(error);
    double margin =
        known ? smallest_margin(s, z) : share_margin(&d, sol, config->tolerance, scratch, z, &memory);
    /* at the onset of slip only those that the modes were found with may be left */
    if (memory && margin < 0 && s->count <= SHARE_FEW) {
        memory = modes_share(s, z, scratch, z, &known);
        margin = smallest_margin(s, z);
    }
    if (!memory) return fail_memory(error);
    if (!config->distribute) return ABUT_OK;
    double *least = arena_alloc(scratch, (size_t)s->count + 1, sizeof(double));
    if (!least || !share_least_norm(&d, sol, config->tolerance, scratch, least, determined))
        return fail_memory(error);
    if (smallest_margin(s, least) >= fmin(margin, 0)) memcpy(z, least, (size_t)s->count * sizeof(double));
    return ABUT_OK;
}

/* ---- the call */

static forces_outcome outcome_of(system_outcome outcome) {
    switch (outcome) {
    case SYSTEM_SOLVED: return FORCES_SOLVED;
    case SYSTEM_INCONSISTENT: return FORCES_INCONSISTENT;
    case SYSTEM_NO_SOLUTION: return FORCES_NO_FINITE_FORCE;
    default: return FORCES_BUDGET;
    }
}

/* The largest acceleration that a hinge row misses, and which. */
static double missed(const group_system *s, const system_solution *sol, int *which) {
    double most = 0;
    *which = -1;
    for (int i = 0; i < s->g->row_count; i++) {
        int k = s->row_of[i];
        if (k < 0 || !isinf(s->lo[k]) || !isinf(s->hi[k]) || fabs(sol->w[k]) <= most) continue;
        most = fabs(sol->w[k]), *which = i;
    }
    return most;
}

static int most_pushed(const group_system *s, const system_solution *sol) {
    int worst = -1;
    for (int i = 0; i < s->g->contact_count; i++) {
        int n = s->normal_of[i];
        if (n >= 0 && (worst < 0 || sol->w[n] < sol->w[s->normal_of[worst]])) worst = i;
    }
    return worst;
}

enum { PRESSED_ROUNDS = 30 };

/* Builds and solves, again while the loads press other parts of the faces than was taken for granted
 * (Newton's method for those parts: numerics as in pressure_fit). */
static abut_status build_and_solve(group *g, const forces_config *config, const group_scratch *scratch,
                                   group_system *s, system_solution *sol, abut_error *error) {
    arena *a = scratch->arena;
    spatial *base = arena_alloc(a, (size_t)g->body_count + 1, sizeof(spatial));
    if (!base) return fail_memory(error);
    group_free_accelerations(g, base);
    system_config build = {.level = SYSTEM_FORCES, .base = base, .slip_speed = config->slip_speed};
    for (int round = 0;; round++) {
        bool memory = true;
        abut_status status = system_build(g, &build, a, s, error);
        if (status != ABUT_OK) return status;
        *sol = (system_solution){.state = arena_alloc(a, (size_t)s->count + 1, 1), .trial = config->trial};
        double *start = arena_alloc(a, (size_t)s->count + 1, sizeof(double));
        if (!sol->state || !start) return fail_memory(error);
        recall_states(s, sol->state);
        if (states_recall_forces(s, start)) sol->start = start;
        status = system_solve(s, config->tolerance, config->budget, scratch, sol, error);
        bool again =
            status == ABUT_OK && round < PRESSED_ROUNDS && face_pressed_changed(s, sol->z, a, &memory);
        if (!memory) return fail_memory(error);
        if (!again) return status;
    }
}

/* Forces of bodies that all hang together, for their modes. */
static abut_status solve_island(group *g, const forces_config *config, const group_scratch *scratch,
                                spatial *accelerations, contact_load *loads, double *multipliers,
                                forces_result *result, abut_error *error) {
    arena *a = scratch->arena;
    arena_mark mark = arena_save(a);
    group_system s;
    system_solution sol = {0};
    abut_status status = build_and_solve(g, config, scratch, &s, &sol, error);
    double *z = NULL;
    bool *determined = NULL;
    if (status == ABUT_OK) {
        z = arena_alloc(a, (size_t)s.count + 1, sizeof(double));
        determined = arena_alloc(a, (size_t)s.count + 1, 1);
        if (!z || !determined) status = fail_memory(error);
    }
    bool refused = config->trial && sol.outcome == SYSTEM_BUDGET;
    if (refused) result->outcome = FORCES_BUDGET;
    if (status == ABUT_OK && !refused) status = distribute(&s, &sol, config, a, z, determined, error);
    if (status == ABUT_OK && !refused) {
        *result = (forces_result){.outcome = outcome_of(sol.outcome),
                                  .residual = sol.residual,
                                  .violation = sol.residual * sol.scale,
                                  .unique = config->distribute,
                                  .pivots = sol.pivots,
                                  .inconsistent_row = -1,
                                  .worst = -1};
        memcpy(accelerations, sol.x, (size_t)g->body_count * sizeof(spatial));
        read_loads(&s, &sol, z, config->distribute ? determined : NULL, loads, multipliers);
        if (!face_read_loads(&s, z, !config->no_margins, a, loads)) status = fail_memory(error);
        if (result->outcome == FORCES_SOLVED) {
            remember_states(&s, &sol, config->tolerance);
            result->worst = config->no_margins ? -1 : worst_margin(loads, g->contact_count);
            if (result->worst >= 0) result->outcome = FORCES_CANNOT_STICK;
            /* loads that are to be shown are of another kind: what is shown must not change the motion */
            if (!config->distribute && worst_margin(loads, g->contact_count) < 0) remember_forces(g, loads);
        }
        if (result->outcome == FORCES_NO_FINITE_FORCE) result->worst = most_pushed(&s, &sol);
        if (result->outcome == FORCES_INCONSISTENT)
            result->inconsistent_by = missed(&s, &sol, &result->inconsistent_row);
        for (int i = 0; i < s.count && config->distribute; i++) result->unique &= determined[i];
    }
    arena_restore(a, mark);
    return status;
}

/* ---- modes */

/* A cone is a candidate while its motion is too slow to tell a direction; a faster one slips. */
static bool classify(const group *g, group_contact *c, cone_kind kind, double slowest) {
    const abut_friction *f = &c->friction;
    vec3 n = c->point.normal, spin = group_contact_spin(g, c), speed = vec3_zero();
    double coefficient = 0;
    if (kind == CONE_FRICTION && c->face > 0) return false; /* the face chooses (face.h) */
    switch (kind) {
    case CONE_FRICTION: speed = group_contact_slip(g, c), coefficient = fmax(f->stick, f->slide); break;
    case CONE_ROLLING: speed = vec3_axpy(spin, -vec3_dot(spin, n), n), coefficient = f->rolling; break;
    default: speed = vec3_scale(n, vec3_dot(spin, n)), coefficient = f->spinning; break;
    }
    bool fast = vec3_length(speed) > slowest;
    if (!(coefficient > 0))
        coulomb_set_mode(c, kind, FRICTION_FREE, vec3_zero());
    else if (fast)
        coulomb_set_mode(c, kind, FRICTION_SLIP,
                         kind == CONE_FRICTION && c->begins ? c->slip_along : vec3_unit(speed));
    return coefficient > 0 && !fast;
}

/* All modes but those of faces. */
static abut_status choose_points(group *g, const forces_config *config, const group_scratch *scratch,
                                 spatial *accelerations, contact_load *loads, double *multipliers,
                                 forces_result *result, abut_error *error) {
    arena *a = scratch->arena;
    arena_mark mark = arena_save(a);
    spatial *base = arena_alloc(a, (size_t)g->body_count + 1, sizeof(spatial));
    bool *candidate = arena_alloc(a, CONE_KINDS * (size_t)g->contact_count + 1, 1), any = false;
    abut_status status = base && candidate ? ABUT_OK : fail_memory(error);
    system_solution sol = {0};
    if (status == ABUT_OK) {
        group_free_accelerations(g, base);
        for (int i = 0; i < g->contact_count; i++) g->contacts[i].idle = false;
        for (int i = 0; i < g->contact_count; i++)
            for (int k = 0; k < CONE_KINDS; k++)
                any |= candidate[i * CONE_KINDS + k] =
                    classify(g, &g->contacts[i], (cone_kind)k, config->slip_speed);
    }
    if (status == ABUT_OK && any) {
        group_system s;
        coulomb_config choice = {
            .build = {.level = SYSTEM_FORCES, .base = base, .slip_speed = config->slip_speed},
            .candidate = candidate,
            .tolerance = config->tolerance,
            .budget = config->budget};
        status = coulomb_choose(g, &choice, scratch, &s, &sol, error);
    }
    arena_restore(a, mark);
    if (status != ABUT_OK) return status;
    forces_config last = *config;
    if (any && sol.outcome == SYSTEM_BUDGET) last.no_margins = true; /* they are not the ones to stay with */
    status = solve_island(g, &last, scratch, accelerations, loads, multipliers, result, error);
    if (status != ABUT_OK) return status;
    result->pivots += sol.pivots;
    if (any && sol.outcome == SYSTEM_NO_SOLUTION) result->outcome = FORCES_NO_FINITE_FORCE;
    if (any && sol.outcome == SYSTEM_BUDGET && result->outcome == FORCES_SOLVED)
        result->outcome = FORCES_BUDGET;
    return status;
}

/* Modes and forces of bodies that all hang together. */
static abut_status choose_island(group *g, const forces_config *config, const group_scratch *scratch,
                                 spatial *accelerations, contact_load *loads, double *multipliers,
                                 forces_result *result, abut_error *error) {
    if (g->face_count > 0)
        return face_choose(g, config, scratch, choose_points, accelerations, loads, multipliers, result,
                           error);
    return choose_points(g, config, scratch, accelerations, loads, multipliers, result, error);
}

/* ---- islands */

typedef abut_status forces_method(group *, const forces_config *, const group_scratch *, spatial *,
                                  contact_load *, double *, forces_result *, abut_error *);

/* The outcome that asks for most: an impulse, another method, a look at the hinges, other modes. */
static bool is_worse(forces_outcome a, forces_outcome than) {
    static const int order[] = {[FORCES_SOLVED] = 0,
                                [FORCES_CANNOT_STICK] = 1,
                                [FORCES_INCONSISTENT] = 2,
                                [FORCES_BUDGET] = 3,
                                [FORCES_NO_FINITE_FORCE] = 4};
    return order[a] > order[than];
}

static void add_result(forces_result *sum, const forces_result *r, const island *from) {
    if (is_worse(r->outcome, sum->outcome)) {
        sum->outcome = r->outcome;
        sum->worst = r->worst >= 0 ? from->contacts[r->worst] : -1;
    }
    if (r->inconsistent_row >= 0 && r->inconsistent_by > sum->inconsistent_by) {
        sum->inconsistent_by = r->inconsistent_by;
        sum->inconsistent_row = from->rows[r->inconsistent_row];
    }
    sum->residual = fmax(sum->residual, r->residual);
    sum->violation = fmax(sum->violation, r->violation);
    sum->unique &= r->unique, sum->pivots += r->pivots;
}

static abut_status solve_part(forces_method *method, islands *all, int which, group *g,
                              const forces_config *config, const group_scratch *scratch,
                              spatial *accelerations, contact_load *loads, double *multipliers,
                              forces_result *result, abut_error *error) {
    island i;
    arena *a = scratch->arena;
    if (!islands_take(all, g, which, a, &i)) return fail_memory(error);
    spatial *x = arena_alloc(a, (size_t)i.g.body_count + 1, sizeof *x);
    contact_load *l = arena_alloc(a, (size_t)i.g.contact_count + 1, sizeof *l);
    double *z = arena_alloc(a, (size_t)i.g.row_count + 1, sizeof *z);
    forces_result part = {.inconsistent_row = -1, .worst = -1};
    if (!x || !l || !z) return fail_memory(error);
    for (int k = 0; k < i.g.contact_count; k++) l[k] = loads[i.contacts[k]];
    abut_status status = method(&i.g, config, scratch, x, l, z, &part, error);
    if (status != ABUT_OK) return status;
    islands_return(&i, g);
    add_result(result, &part, &i);
    for (int k = 0; k < i.g.body_count; k++)
        if (i.g.inertias[k].inverse_mass > 0) accelerations[i.bodies[k]] = x[k];
    for (int k = 0; k < i.g.contact_count; k++) loads[i.contacts[k]] = l[k];
    for (int k = 0; k < i.g.row_count; k++) multipliers[i.rows[k]] = z[k];
    return ABUT_OK;
}

/* Each island by itself; bodies that nothing holds, and those that nothing moves, go on as they are free. */
static abut_status solve_apart(forces_method *method, group *g, const forces_config *config,
                               const group_scratch *scratch, spatial *accelerations, contact_load *loads,
                               double *multipliers, forces_result *result, abut_error *error) {
    islands all;
    arena *a = scratch->arena;
    arena_mark mark = arena_save(a);
    if (!islands_make(g, a, &all)) return fail_memory(error);
    abut_status status = ABUT_OK;
    if (all.count == 1) {
        status = method(g, config, scratch, accelerations, loads, multipliers, result, error);
    } else {
        *result = (forces_result){.unique = config->distribute, .inconsistent_row = -1, .worst = -1};
        group_free_accelerations(g, accelerations);
        for (int i = 0; i < all.count && status == ABUT_OK; i++) {
            arena_mark inner = arena_save(a);
            status = solve_part(method, &all, i, g, config, scratch, accelerations, loads, multipliers,
                                result, error);
            arena_restore(a, inner);
            if (config->trial && result->outcome == FORCES_BUDGET) break; /* the state is refused */
        }
    }
    arena_restore(a, mark);
    return status;
}

abut_status forces_solve(group *g, const forces_config *config, const group_scratch *scratch,
                         spatial *accelerations, contact_load *loads, double *multipliers,
                         forces_result *result, abut_error *error) {
    return solve_apart(solve_island, g, config, scratch, accelerations, loads, multipliers, result, error);
}

abut_status forces_choose(group *g, const forces_config *config, const group_scratch *scratch,
                          spatial *accelerations, contact_load *loads, double *multipliers,
                          forces_result *result, abut_error *error) {
    return solve_apart(choose_island, g, config, scratch, accelerations, loads, multipliers, result, error);
}
