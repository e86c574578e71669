/* Impacts (see impact.h).
 *
 * One round is a system at the level of impulses: the velocities before are its base, w = v+ + e v- at the
 * points, J v+ = rate on the rows.  Rounds repeat while a point approaches: one that separated before may be
 * hit by the first round.  After half the budget rounds are inelastic and take all points, which ends it. */
#include "dynamics/impact.h"

#include "abut/complementarity.h"
#include "dynamics/coulomb.h"
#include "dynamics/islands.h"

#define IMPACT_TOLERANCE 1e-11 /* of the complementarity problems, relative */
/* A push without jam moves points about as fast as itself: ten times that is another thing. */
#define FAR_MORE 10
/* A point rests in an impact whose fastest approach is a million times its own. */
#define RESTING 1e-6
/* Problems that miss a millionth count as solved (solve.c): a scale of a few of them is none. */
#define SLIGHT_RESTITUTION 1e-5

impact_config impact_default_config(void) { return (impact_config){.rest_speed = 0}; }

/* What all rounds share. */
typedef struct strike {
    group *g;
    const impact_config *config;
    const group_scratch *scratch;
    spatial *v; /* velocities now */
    contact_impulse *impulses;
    double *row_impulses;
    impact_result *result;
    const spatial *push; /* without_impact: a small velocity where the applied forces push */
    bool *part;
    double *before; /* v- of each contact in this round */
    double *offset; /* e v- */
    double *least;  /* Poisson: lower bounds of the impulses */
    double nothing; /* an approach slower than this is none */
    double energy;  /* at the start */
} strike;

static double approach_of(const strike *s, int i) {
    const group_contact *c = &s->g->contacts[i];
    return -vec3_dot(c->point.normal, group_contact_velocity(s->g, c, s->v));
}

/* The contact with the fastest approach; -1 when none is faster than `speed`. */
static int fastest(const strike *s, double speed) {
    int best = -1;
    for (int i = 0; i < s->g->contact_count; i++) {
        double v = approach_of(s, i);
        if (v > speed) speed = v, best = i;
    }
    return best;
}

/* How far the rows are from what they want: a limit that is hit, a hinge or motor whose speed jumps. */
static double row_violation(const strike *s) {
    double most = 0;
    for (int i = 0; i < s->g->row_count; i++) {
        const row *r = &s->g->rows[i];
        double w = row_dot(r, s->v) - r->rate;
        if (isinf(r->lo) && isinf(r->hi))
            most = fmax(most, fabs(w));
        else if (r->lo == 0 && isinf(r->hi))
            most = fmax(most, -w);
    }
    return most;
}

/* ---- energy */

/* The work that impulses did through bodies that nothing moves (but that move) and through motors: z rate on
 * rows, minus impulse times velocity on kinematic bodies. */
static double supplied(const strike *s) {
    const group *g = s->g;
    double sum = 0;
    for (int i = 0; i < g->row_count; i++) {
        const row *r = &g->rows[i];
        sum += s->row_impulses[i] * r->rate;
        if (r->a >= 0 && g->inertias[r->a].inverse_mass == 0)
            sum -= s->row_impulses[i] * spatial_dot(r->ja, s->v[r->a]);
        if (r->b >= 0 && g->inertias[r->b].inverse_mass == 0)
            sum -= s->row_impulses[i] * spatial_dot(r->jb, s->v[r->b]);
    }
    for (int i = 0; i < g->contact_count; i++) {
        const group_contact *c = &g->contacts[i];
        vec3 f = vec3_axpy(s->impulses[i].friction, s->impulses[i].normal, c->point.normal);
        for (int side = 0; side < 2; side++) {
            int body = side ? c->b : c->a;
            if (body < 0 || g->inertias[body].inverse_mass > 0) continue;
            vec3 v = spatial_velocity_at(s->v[body], vec3_sub(c->point.at, g->motions[body].center));
            double work = vec3_dot(f, v) + vec3_dot(s->impulses[i].torque, s->v[body].angular);
            sum += side ? work : -work;
        }
    }
    return sum;
}

/* Rounding of the sums: 1e-12 of the energies that meet. */
static bool energy_rose(const strike *s) {
    double now = group_kinetic_energy(s->g, s->v), given = supplied(s);
    return now > s->energy + given + 1e-11 * (s->energy + fabs(given) + now);
}

/* ---- one system */

static void add_impulses(strike *s, const group_system *system, const double *z) {
    const group *g = s->g;
    for (int i = 0; i < g->row_count; i++)
        if (system->row_of[i] >= 0) s->row_impulses[i] += z[system->row_of[i]];
    for (int i = 0; i < g->contact_count; i++)
        if (system->normal_of[i] >= 0) s->impulses[i].normal += z[system->normal_of[i]];
    for (int k = 0; k < system->cone_count; k++) {
        vec3 f = system_cone_force(system, &system->cones[k], z);
        contact_impulse *j = &s->impulses[system->cones[k].contact];
        if (system->cones[k].kind == CONE_FRICTION)
            j->friction = vec3_add(j->friction, f);
        else
            j->torque = vec3_add(j->torque, f);
    }
}

static void note(impact_result *r, const system_solution *sol) {
    if (sol->outcome == SYSTEM_INCONSISTENT) r->outcome = IMPACT_INCONSISTENT;
    if (sol->outcome == SYSTEM_NO_SOLUTION) r->outcome = IMPACT_NO_SOLUTION;
    if (sol->outcome == SYSTEM_BUDGET && r->outcome == IMPACT_SOLVED) r->outcome = IMPACT_BUDGET;
    r->residual = fmax(r->residual, sol->residual);
}

/* Candidates for friction: every cone of every point that takes part. */
static bool list_candidates(const strike *s, bool *candidate) {
    bool any = false;
    for (int i = 0; i < s->g->contact_count; i++) {
        group_contact *c = &s->g->contacts[i];
        const abut_friction *f = &c->friction;
        double mu[CONE_KINDS] = {fmax(f->stick, f->slide), f->rolling, f->spinning};
        c->pressed = s->part[i];
        for (int k = 0; k < CONE_KINDS; k++) {
            any |= candidate[i * CONE_KINDS + k] = s->part[i] && mu[k] > 0;
            coulomb_set_mode(c, (cone_kind)k, FRICTION_FREE, vec3_zero());
        }
    }
    return any;
}

static abut_status solve_chosen(strike *s, const system_config *build, group_system *system,
                                system_solution *sol, abut_error *error) {
    abut_status status = system_build(s->g, build, s->scratch->arena, system, error);
    if (status != ABUT_OK) return status;
    *sol = (system_solution){.state = arena_alloc(s->scratch->arena, (size_t)system->count + 1, 1)};
    if (!sol->state) return fail_memory(error);
    for (int i = 0; i < s->g->contact_count; i++)
        if (system->normal_of[i] >= 0 && !s->g->contacts[i].pressed)
            sol->state[system->normal_of[i]] = ABUT_LCP_AT_LOWER;
    return system_solve(system, IMPACT_TOLERANCE, 0, s->scratch, sol, error);
}

/* How fast the contact points move at most in the velocities v. */
static double fastest_point(const strike *s, const spatial *v) {
    double most = 0;
    for (int i = 0; i < s->g->contact_count; i++)
        most = fmax(most, vec3_length(group_contact_velocity(s->g, &s->g->contacts[i], v)));
    return most;
}

/* Whether the impulses of a push do far more than the push itself, and stop or turn a slip; x is then taken
 * without the push. */
static bool take_push_out(const strike *s, spatial *x) {
    double most = 0;
    for (int i = 0; i < s->g->body_count; i++) x[i] = spatial_add(x[i], spatial_scale(s->push[i], -1));
    for (int i = 0; i < s->g->contact_count; i++) {
        const group_contact *c = &s->g->contacts[i];
        vec3 before = group_contact_velocity(s->g, c, s->v), after = group_contact_velocity(s->g, c, x);
        most = fmax(most, vec3_distance(after, before));
    }
    return most > FAR_MORE * fastest_point(s, s->push);
}

/* The impulse of the instant, for the modes that were chosen with the push.  Where a slip turns to another
 * direction those modes alone do not tell it: then it is that of the push, which is a millionth too large. */
static abut_status solve_unpushed(strike *s, const system_config *build, group_system *system,
                                  system_solution *sol, abut_error *error) {
    group_system pushed = *system;
    system_solution with = *sol;
    abut_status status = solve_chosen(s, build, system, sol, error);
    bool nothing = true;
    for (int i = 0; status == ABUT_OK && i < system->count; i++) nothing &= sol->z[i] == 0;
    if (status == ABUT_OK && nothing && with.outcome == SYSTEM_SOLVED && take_push_out(s, with.x))
        *system = pushed, *sol = with;
    return status;
}

/* Velocities and impulses for the offsets and lower bounds of the strike.  With a push, modes are chosen as
 * if it were there; the impulse itself is that of the instant. */
static abut_status solve_once(strike *s, abut_error *error) {
    group *g = s->g;
    arena *a = s->scratch->arena;
    arena_mark mark = arena_save(a);
    bool *candidate = arena_alloc(a, CONE_KINDS * (size_t)g->contact_count + 1, 1);
    bool *struck = arena_alloc(a, (size_t)g->contact_count + 1, 1);
    spatial *base = arena_alloc(a, (size_t)g->body_count + 1, sizeof(spatial));
    abut_status status = candidate && struck && base ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) {
        group_system system;
        system_solution sol = {0};
        for (int i = 0; i < g->body_count; i++)
            base[i] = s->push ? spatial_add(s->v[i], s->push[i]) : s->v[i];
        bool any = list_candidates(s, candidate);
        double most = 0;
        for (int i = 0; i < g->contact_count; i++) most = fmax(most, approach_of(s, i));
        for (int i = 0; i < g->contact_count; i++)
            struck[i] = s->push || approach_of(s, i) > RESTING * most || (s->least && s->least[i] > 0);
        coulomb_config choice = {.build = {.level = SYSTEM_IMPULSES,
                                           .base = base,
                                           .normal_offset = s->offset,
                                           .part = s->part,
                                           .least = s->least},
                                 .candidate = candidate,
                                 .struck = struck,
                                 .tolerance = IMPACT_TOLERANCE};
        if (any) status = coulomb_choose(g, &choice, s->scratch, &system, &sol, error);
        choice.build.base = s->v;
        if (status == ABUT_OK && any && s->push)
            status = solve_unpushed(s, &choice.build, &system, &sol, error);
        if (status == ABUT_OK && !any) status = solve_chosen(s, &choice.build, &system, &sol, error);
        if (status == ABUT_OK) {
            add_impulses(s, &system, sol.z);
            memcpy(s->v, sol.x, (size_t)g->body_count * sizeof(spatial));
            note(s->result, &sol);
            s->result->rounds++;
        }
    }
    arena_restore(a, mark);
    return status;
}

/* ---- one round */

static double restitution_of(const strike *s, int i, double scale) {
    return -s->before[i] > s->config->rest_speed ? scale * s->g->contacts[i].restitution : 0;
}

/* Newton: v+ + e v- >= 0.  Poisson: compression ends with v >= 0; expansion gives at least e times its
 * impulses. */
static abut_status attempt(strike *s, double scale, abut_error *error) {
    int count = s->g->contact_count;
    bool newton = s->config->law == ABUT_NEWTON;
    for (int i = 0; i < count; i++) {
        s->offset[i] = newton ? restitution_of(s, i, scale) * s->before[i] : 0;
        s->least[i] = newton ? 0 : -s->impulses[i].normal;
    }
    double *least = s->least;
    s->least = NULL;
    abut_status status = solve_once(s, error);
    s->least = least;
    if (status != ABUT_OK || newton) return status;
    bool expands = false;
    for (int i = 0; i < count; i++) {
        least[i] =
            restitution_of(s, i, scale) * (least[i] + s->impulses[i].normal); /* what compression added */
        expands |= least[i] > 0;
    }
    return expands ? solve_once(s, error) : ABUT_OK;
}

/* Saved state of a strike, to try again with less restitution. */
typedef struct saved {
    spatial *v;
    contact_impulse *impulses;
    double *rows;
    impact_result result;
} saved;

static bool save(const strike *s, saved *out) {
    const group *g = s->g;
    arena *a = s->scratch->arena;
    out->v = arena_alloc(a, (size_t)g->body_count + 1, sizeof(spatial));
    out->impulses = arena_alloc(a, (size_t)g->contact_count + 1, sizeof(contact_impulse));
    out->rows = arena_alloc(a, (size_t)g->row_count + 1, sizeof(double));
    if (!out->v || !out->impulses || !out->rows) return false;
    memcpy(out->v, s->v, (size_t)g->body_count * sizeof(spatial));
    memcpy(out->impulses, s->impulses, (size_t)g->contact_count * sizeof(contact_impulse));
    memcpy(out->rows, s->row_impulses, (size_t)g->row_count * sizeof(double));
    out->result = *s->result;
    return true;
}

static void go_back(strike *s, const saved *from) {
    const group *g = s->g;
    memcpy(s->v, from->v, (size_t)g->body_count * sizeof(spatial));
    memcpy(s->impulses, from->impulses, (size_t)g->contact_count * sizeof(contact_impulse));
    memcpy(s->row_impulses, from->rows, (size_t)g->row_count * sizeof(double));
    *s->result = from->result;
}

/* Why a round cannot keep its restitution: friction that creates energy, or rows and points that leave no
 * such velocities (a ball that leaves a soft wall meets a hard one with no room between them). */
typedef enum excess { NO_EXCESS, TOO_MUCH_ENERGY, NO_IMPULSES } excess;

static excess excess_of(const strike *s, const saved *start) {
    impact_outcome now = s->result->outcome;
    if (now >= IMPACT_INCONSISTENT && start->result.outcome < IMPACT_INCONSISTENT) return NO_IMPULSES;
    return energy_rose(s) ? TOO_MUCH_ENERGY : NO_EXCESS;
}

static abut_status attempt_anew(strike *s, const saved *start, double scale, excess *found,
                                abut_error *error) {
    go_back(s, start);
    abut_status status = attempt(s, scale, error);
    *found = status == ABUT_OK ? excess_of(s, start) : NO_EXCESS;
    return status;
}

/* The largest scale without excess, by bisection to 1e-9: where v+ >= -e v- can be had for a scale it can for
 * smaller ones, because velocities between two that satisfy it do.  Where none can be had at 0 either, the
 * round stays without a solution. */
static abut_status take_restitution_down(strike *s, const saved *start, double scale, excess why,
                                         abut_error *error) {
    double good = 0, bad = scale;
    excess found = NO_EXCESS;
    abut_status status = ABUT_OK;
    if (why == NO_IMPULSES) status = attempt_anew(s, start, 0, &found, error);
    if (status != ABUT_OK || found == NO_IMPULSES) return status;
    while (status == ABUT_OK && bad - good > 1e-9) {
        double middle = (good + bad) / 2;
        status = attempt_anew(s, start, middle, &found, error);
        *(found == NO_EXCESS ? &good : &bad) = middle;
    }
    if (good < SLIGHT_RESTITUTION) good = 0;
    if (status == ABUT_OK) status = attempt_anew(s, start, good, &found, error);
    s->result->restitution_scale = fmin(s->result->restitution_scale, good);
    s->result->restitution_denied |= why == NO_IMPULSES;
    return status;
}

/* A round for the points of `part`. */
static abut_status strike_round(strike *s, double scale, abut_error *error) {
    arena_mark mark = arena_save(s->scratch->arena);
    saved start;
    abut_status status = save(s, &start) ? ABUT_OK : fail_memory(error);
    for (int i = 0; i < s->g->contact_count; i++) s->before[i] = -approach_of(s, i);
    if (status == ABUT_OK) status = attempt(s, scale, error);
    bool bounces = false;
    for (int i = 0; i < s->g->contact_count; i++) bounces |= s->part[i] && restitution_of(s, i, scale) > 0;
    excess why = status == ABUT_OK && bounces ? excess_of(s, &start) : NO_EXCESS;
    if (why != NO_EXCESS) status = take_restitution_down(s, &start, scale, why, error);
    arena_restore(s->scratch->arena, mark);
    return status;
}

/* ---- the two models */

/* Points of the first rounds.  Where nothing bounces v+ >= 0 is the law at every touching point, also at one
 * that separates: two corners of an edge that rests, one of which leaves by rounding, must not be two
 * different things.  A point that bounces and separates is struck by a later round, if it is, with its
 * restitution. */
static bool takes_part(const strike *s, int i, double most) {
    return s->g->contacts[i].restitution == 0 || approach_of(s, i) >= -fmax(s->nothing, RESTING * most);
}

static abut_status simultaneous(strike *s, double speed, int budget, abut_error *error) {
    for (int round = 0; round < budget; round++) {
        if (!s->push && fastest(s, speed) < 0 && row_violation(s) <= s->nothing) return ABUT_OK;
        bool last_half = 2 * round >= budget;
        double most = 0;
        for (int i = 0; i < s->g->contact_count; i++) most = fmax(most, approach_of(s, i));
        for (int i = 0; i < s->g->contact_count; i++) s->part[i] = last_half || takes_part(s, i, most);
        abut_status status = strike_round(s, last_half ? 0 : 1, error);
        if (status != ABUT_OK || s->result->outcome == IMPACT_NO_SOLUTION) return status;
        s->push = NULL;
    }
    if (fastest(s, speed) >= 0 && s->result->outcome == IMPACT_SOLVED) s->result->outcome = IMPACT_BUDGET;
    return ABUT_OK;
}

/* The points between the bodies of contact `hit` that do not separate. */
static void take_pair(strike *s, int hit) {
    const group_contact *h = &s->g->contacts[hit];
    for (int i = 0; i < s->g->contact_count; i++) {
        const group_contact *c = &s->g->contacts[i];
        bool same = (c->a == h->a && c->b == h->b) || (c->a == h->b && c->b == h->a);
        s->part[i] = same && approach_of(s, i) >= -s->nothing;
    }
}

/* One pair after the other, then what is slower than rest_speed in one inelastic round. */
static abut_status propagation(strike *s, int budget, abut_error *error) {
    double stop = fmax(s->config->rest_speed, s->nothing);
    for (int hits = 0;; hits++) {
        int hit = fastest(s, stop);
        if (hit < 0 || s->result->outcome == IMPACT_NO_SOLUTION) break;
        if (hits >= budget) {
            s->result->outcome = IMPACT_BUDGET;
            return ABUT_OK;
        }
        take_pair(s, hit);
        abut_status status = strike_round(s, 1, error);
        if (status != ABUT_OK) return status;
    }
    int rounds = s->result->rounds;
    abut_status status = simultaneous(s, s->nothing, 20, error);
    s->result->rounds = rounds > 0 ? rounds : s->result->rounds;
    return status;
}

/* ---- the call */

static double largest_speed(const strike *s) { return fmax(row_violation(s), fastest_point(s, s->v)); }

/* A push of a millionth of the speeds at hand. */
static abut_status make_push(strike *s, spatial *push, abut_error *error) {
    if (!push) return fail_memory(error);
    group_free_accelerations(s->g, push);
    double most = fastest_point(s, push), h = most > 0 ? 1e-6 * largest_speed(s) / most : 0;
    for (int i = 0; i < s->g->body_count; i++)
        push[i] =
            s->g->inertias[i].inverse_mass > 0 ? spatial_scale(push[i], h) : (spatial){{0, 0, 0}, {0, 0, 0}};
    s->push = push;
    return ABUT_OK;
}

static abut_status check_finite(const strike *s, abut_error *error) {
    for (int i = 0; i < s->g->contact_count; i++)
        if (!isfinite(approach_of(s, i)))
            return fail(
                error, ABUT_INVALID,
                "the contact between bodies %d and %d has a speed that is not finite; look at its place and "
                "normal and at their motions",
                s->g->contacts[i].a, s->g->contacts[i].b);
    return ABUT_OK;
}

/* A velocity that is not finite must not leave: forces and places after it would be none. */
static abut_status check_after(const strike *s, abut_error *error) {
    bool fine = isfinite(s->result->energy_after);
    for (int i = 0; i < s->g->body_count; i++)
        fine = fine && isfinite(vec3_length2(s->v[i].linear)) && isfinite(vec3_length2(s->v[i].angular));
    if (!fine)
        return fail(error, ABUT_FAILED,
                    "the impact ended with a velocity or an energy that is not finite; use smaller speeds or "
                    "masses, or report this scene");
    if (energy_rose(s))
        return fail(error, ABUT_FAILED,
                    "the impact raised the kinetic energy from %.17g J to %.17g J; report this scene",
                    s->energy, s->result->energy_after);
    return ABUT_OK;
}

/* The impact of bodies that all hang together; an approach slower than config->tolerance is none. */
static abut_status strike_island(group *g, const impact_config *config, const group_scratch *scratch,
                                 spatial *velocities, contact_impulse *impulses, double *row_impulses,
                                 impact_result *result, abut_error *error) {
    arena *a = scratch->arena;
    arena_mark mark = arena_save(a);
    strike s = {.g = g,
                .config = config,
                .scratch = scratch,
                .v = velocities,
                .impulses = impulses,
                .row_impulses = row_impulses,
                .result = result};
    size_t n = (size_t)g->contact_count + 1;
    s.part = arena_alloc(a, n, 1), s.before = arena_alloc(a, n, sizeof(double));
    s.offset = arena_alloc(a, n, sizeof(double)), s.least = arena_alloc(a, n, sizeof(double));
    abut_status status = s.part && s.before && s.offset && s.least ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) {
        for (int i = 0; i < g->body_count; i++) velocities[i] = g->motions[i].velocity;
        memset(impulses, 0, (size_t)g->contact_count * sizeof *impulses);
        memset(row_impulses, 0, (size_t)g->row_count * sizeof *row_impulses);
        s.energy = group_kinetic_energy(g, velocities);
        *result = (impact_result){.energy_before = s.energy, .restitution_scale = 1};
        s.nothing = config->tolerance > 0 ? config->tolerance : 1e-12 * largest_speed(&s);
        status = check_finite(&s, error);
        if (status == ABUT_OK && config->without_impact)
            status = make_push(&s, arena_alloc(a, (size_t)g->body_count + 1, sizeof(spatial)), error);
    }
    if (status == ABUT_OK && config->model == ABUT_PROPAGATION && !config->without_impact)
        status = propagation(&s, config->budget > 0 ? config->budget : 100000, error);
    else if (status == ABUT_OK)
        status = simultaneous(&s, s.nothing, config->budget > 0 ? config->budget : 20, error);
    if (status == ABUT_OK) {
        int left = fastest(&s, 0);
        result->approach = left >= 0 ? approach_of(&s, left) : 0;
        result->energy_after = group_kinetic_energy(g, velocities);
        status = check_after(&s, error);
    }
    arena_restore(a, mark);
    return status;
}

static impact_outcome worse(impact_outcome a, impact_outcome b) {
    static const int order[] = {
        [IMPACT_SOLVED] = 0, [IMPACT_BUDGET] = 1, [IMPACT_INCONSISTENT] = 2, [IMPACT_NO_SOLUTION] = 3};
    return order[a] > order[b] ? a : b;
}

/* The impact of one island, added to what the others did. */
static abut_status strike_part(islands *all, int which, group *g, const impact_config *config,
                               const group_scratch *scratch, spatial *velocities, contact_impulse *impulses,
                               double *row_impulses, impact_result *result, abut_error *error) {
    island i;
    arena *a = scratch->arena;
    if (!islands_take(all, g, which, a, &i)) return fail_memory(error);
    spatial *v = arena_alloc(a, (size_t)i.g.body_count + 1, sizeof *v);
    contact_impulse *j = arena_alloc(a, (size_t)i.g.contact_count + 1, sizeof *j);
    double *rows = arena_alloc(a, (size_t)i.g.row_count + 1, sizeof *rows);
    impact_result part;
    if (!v || !j || !rows) return fail_memory(error);
    abut_status status = strike_island(&i.g, config, scratch, v, j, rows, &part, error);
    if (status != ABUT_OK) return status;
    result->outcome = worse(result->outcome, part.outcome);
    result->restitution_scale = fmin(result->restitution_scale, part.restitution_scale);
    result->restitution_denied |= part.restitution_denied;
    result->approach = fmax(result->approach, part.approach);
    result->residual = fmax(result->residual, part.residual);
    result->rounds += part.rounds;
    if (part.rounds == 0) return ABUT_OK; /* nothing approaches there */
    islands_return(&i, g);
    for (int k = 0; k < i.g.body_count; k++) velocities[i.bodies[k]] = v[k];
    for (int k = 0; k < i.g.contact_count; k++) impulses[i.contacts[k]] = j[k];
    for (int k = 0; k < i.g.row_count; k++) row_impulses[i.rows[k]] = rows[k];
    return ABUT_OK;
}

/* Islands strike apart from each other.  What is no approach is told by the largest speed of all of them. */
static abut_status strike_islands(islands *all, group *g, const impact_config *config,
                                  const group_scratch *scratch, spatial *velocities,
                                  contact_impulse *impulses, double *row_impulses, impact_result *result,
                                  abut_error *error) {
    for (int i = 0; i < g->body_count; i++) velocities[i] = g->motions[i].velocity;
    memset(impulses, 0, (size_t)g->contact_count * sizeof *impulses);
    memset(row_impulses, 0, (size_t)g->row_count * sizeof *row_impulses);
    strike s = {.g = g, .v = velocities};
    impact_config part = *config;
    if (!(part.tolerance > 0)) part.tolerance = 1e-12 * largest_speed(&s);
    *result = (impact_result){.energy_before = group_kinetic_energy(g, velocities), .restitution_scale = 1};
    abut_status status = check_finite(&s, error);
    for (int i = 0; i < all->count && status == ABUT_OK; i++) {
        arena_mark mark = arena_save(scratch->arena);
        status = strike_part(all, i, g, &part, scratch, velocities, impulses, row_impulses, result, error);
        arena_restore(scratch->arena, mark);
    }
    result->energy_after = group_kinetic_energy(g, velocities);
    return status;
}

abut_status impact_solve(group *g, const impact_config *config, const group_scratch *scratch,
                         spatial *velocities, contact_impulse *impulses, double *row_impulses,
                         impact_result *result, abut_error *error) {
    arena_mark mark = arena_save(scratch->arena);
    islands all;
    if (!islands_make(g, scratch->arena, &all)) return fail_memory(error);
    /* hits are counted over all of the group, and the push is as fast as its largest speed */
    bool whole = all.count == 1 || config->model == ABUT_PROPAGATION || config->without_impact;
    abut_status status =
        whole ? strike_island(g, config, scratch, velocities, impulses, row_impulses, result, error)
              : strike_islands(&all, g, config, scratch, velocities, impulses, row_impulses, result, error);
    arena_restore(scratch->arena, mark);
    return status;
}
