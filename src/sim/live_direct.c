/* Small islands, exactly.  The velocities at the end of a sub-step solve one complementarity problem
 *
 *     w = A z + b,   A = J M^-1 J^T,   b = J v + bias,   lo <= z <= hi      (Stewart and Trinkle 1996)
 *
 * over all rows of the island:
 *
 *     contact point   u + gap / h >= 0  (gap > 0),   u + rate gap >= 0  (overlap),       z >= 0
 *     friction        t1 . u = 0, t2 . u = 0 at the middle of the manifold,       |z| <= mu sum of its points
 *     twist           n . (wA - wB) = 0,                                          |z| <= mu sum of p |r|
 *     hinges          as in live_hinge.c, closed where the sub-step ends
 *
 * Friction bounds follow from the normal impulses of the last solution; a few solutions make them agree.
 * While a manifold slips, t1 points against the slip, so that the box of bounds acts as the cone.
 *
 * In a wedge that friction locks they never do: what is to come out of an overlap there presses the more the
 * more friction holds it, by a constant factor in each solution and without end (1e5 times its weight within
 * a step; what was pressed like that was thrown away at 300 m/s).  The pressures that overlaps make are no
 * loads, and friction lets them go: bounds that grow faster and faster are those of the pressures without
 * any friction. */
#include "sim/live_direct.h"

#include "abut/complementarity.h"

enum { ROUNDS = 8, CORRECTIONS = 5 };
#define SQUEEZED     100  /* times what the fastest row would give all bodies: see is_squeezed */
#define CLOSED       1e-7 /* of the smallest body: hinges that miss by less are not solved again */
#define CLOSE_ENOUGH 1e-4 /* and with less than this the piece is gone */

/* Local numbers: movable bodies first, immovable ones as they come. */
static int local(direct *d, int body) {
    if (body < 0) return -1;
    int place = d->w->local_of[body];
    if (place >= 0 && place < d->bodies && d->body_of[place] == body) return place;
    place = d->bodies++;
    d->w->local_of[body] = place;
    d->body_of[place] = body;
    d->motions[place] = d->w->motions[body];
    d->velocities[place] =
        (spatial){live_vec3(d->w->velocities[body + 1].v), live_vec3(d->w->velocities[body + 1].w)};
    d->motions[place].velocity = d->velocities[place];
    d->inertias[place] = d->w->movable[body + 1] ? d->w->body[body].inertia : body_immovable();
    return place;
}

void direct_add_row(direct *d, live_hinge_row r, int manifold_number, int part) {
    int i = d->rows++;
    r.r.a = local(d, r.r.a), r.r.b = local(d, r.r.b);
    d->row[i] = r, d->plain[i] = r.r;
    d->manifold_of[i] = manifold_number, d->part_of[i] = part;
    d->lo[i] = r.lo, d->hi[i] = r.hi, d->z[i] = r.impulse;
}

/* ---- the problem */

bool direct_allocate(direct *d, arena *memory) {
    size_t bodies =
        2 * (size_t)d->island->body_count +
        2 * (size_t)(d->island->contact_count + d->island->hinge_count + d->island->spring_count) + 2;
    /* a manifold that is found anew may have more points than the step began with */
    size_t rows = (MANIFOLD_POINTS + 5) * (size_t)d->island->contact_count +
                  LIVE_HINGE_ROWS * (size_t)d->island->hinge_count + (size_t)d->island->spring_count + 1;
    d->body_of = arena_alloc(memory, bodies, sizeof *d->body_of);
    d->motions = arena_alloc(memory, bodies, sizeof *d->motions);
    d->after = arena_alloc(memory, bodies, sizeof *d->after);
    d->inertias = arena_alloc(memory, bodies, sizeof *d->inertias);
    d->velocities = arena_alloc(memory, bodies, sizeof *d->velocities);
    d->row = arena_alloc(memory, rows, sizeof *d->row);
    d->plain = arena_alloc(memory, rows, sizeof *d->plain);
    d->manifold_of = arena_alloc(memory, rows, sizeof *d->manifold_of);
    d->part_of = arena_alloc(memory, rows, sizeof *d->part_of);
    d->b = arena_alloc(memory, rows, sizeof *d->b);
    d->lo = arena_alloc(memory, rows, sizeof *d->lo);
    d->hi = arena_alloc(memory, rows, sizeof *d->hi);
    d->z = arena_alloc(memory, rows, sizeof *d->z);
    d->out = arena_alloc(memory, rows, sizeof *d->out);
    d->state = arena_alloc(memory, rows, sizeof *d->state);
    d->slides = arena_alloc(memory, (size_t)d->island->contact_count + 1, sizeof *d->slides);
    return d->body_of && d->motions && d->after && d->inertias && d->velocities && d->row && d->plain &&
           d->manifold_of && d->part_of && d->b && d->lo && d->hi && d->z && d->out && d->state && d->slides;
}

static void fill_b(direct *d) {
    for (int i = 0; i < d->rows; i++) {
        const row *r = &d->plain[i];
        double u = 0;
        if (r->a >= 0) u += spatial_dot(r->ja, d->velocities[r->a]);
        if (r->b >= 0) u += spatial_dot(r->jb, d->velocities[r->b]);
        d->b[i] = u + d->row[i].bias;
    }
}

/* Springs give by their own compliance; every row gives by 1e-12 of its own mobility, so that equal rows
 * share. */
static void soften(const direct *d, const row_matrix *m) {
    for (int i = 0; i < d->rows; i++)
        for (int k = m->start[i]; k < m->start[i + 1]; k++)
            if (m->column[k] == i) m->value[k] += d->row[i].give + 1e-10 * m->value[k];
}

/* The sum of the impulses of all contact points. */
static double pressure_of(const direct *d) {
    double sum = 0;
    for (int i = 0; i < d->rows; i++)
        if (d->manifold_of[i] >= 0 && d->part_of[i] < FRICTION1) sum += d->z[i];
    return sum;
}

/* Whether three pressures grow faster and faster, by a hundredth at least. */
static bool grows(const double p[3]) { return p[1] > p[0] && p[2] - p[1] > fmax(p[1] - p[0], 0.01 * p[1]); }

static void let_go(direct *d) {
    for (int i = 0; i < d->rows; i++)
        if (d->manifold_of[i] >= 0 && d->part_of[i] >= FRICTION1) d->lo[i] = d->hi[i] = d->z[i] = 0;
}

/* What is squeezed by bodies that cannot give has no impulses that stop them: they come out as 1e10 times
 * those of the island's motion, by what rows give (above), or grow with friction from step to step.  Bodies
 * were thrown at 1e19 m/s with them, and left the numbers.  What is no squeeze may give as well: a little;
 * but no contact that is pressed by hinges alone, whose rows close at no speed of their own. */
static bool is_squeezed(const direct *d) {
    double mass = 0, speed = d->w->push, most = 0, pushed = 0;
    for (int i = 0; i < d->bodies; i++)
        if (d->inertias[i].inverse_mass > 0) mass += d->inertias[i].mass;
    for (int i = 0; i < d->rows; i++) {
        bool contact = d->manifold_of[i] >= 0, driven = d->row[i].give > 0 || isfinite(d->row[i].hi);
        if (!contact && driven) pushed += fabs(d->z[i]);
        if (!contact || d->part_of[i] >= FRICTION1) continue;
        speed = fmax(speed, -d->b[i]), most = fmax(most, d->z[i]);
    }
    return most > SQUEEZED * (mass * speed + pushed);
}

/* Their contacts give as those of batches do: an overlap d presses with K d, K = stiffness m:
 *     u + rate gap + give p = 0,    p = -K h gap at rest,    give = rate / (K h). */
static void give_way(direct *d, const row_matrix *m) {
    const live *w = d->w;
    for (int i = 0; i < d->rows; i++) {
        if (d->manifold_of[i] < 0 || d->part_of[i] >= FRICTION1) continue;
        const row *r = &d->plain[i];
        double inverse = 0;
        if (r->a >= 0) inverse += d->inertias[r->a].inverse_mass;
        if (r->b >= 0) inverse += d->inertias[r->b].inverse_mass;
        double give = w->direct_rate * inverse / (w->stiffness * w->h);
        for (int k = m->start[i]; k < m->start[i + 1]; k++)
            if (m->column[k] == i) m->value[k] += give;
    }
}

static abut_status solve_rounds(direct *d, const row_matrix *m, abut_error *error) {
    abut_lcp problem = {.size = d->rows,
                        .row_start = m->start,
                        .column = m->column,
                        .value = m->value,
                        .b = d->b,
                        .lo = d->lo,
                        .hi = d->hi};
    abut_lcp_config config = abut_default_lcp_config();
    config.skip_unique = config.skip_checks = true;
    abut_lcp_result result;
    direct_update_bounds(d);
    double pressure[ROUNDS + 2];
    for (int round = 0, rounds = ROUNDS; round < rounds; round++) {
        config.warm = round > 0;
        abut_error inner = {0};
        abut_status status =
            abut_lcp_solve(d->w->lcp, &problem, &config, d->state, d->z, d->out, &result, &inner);
        if (status == ABUT_NO_MEMORY) return fail_memory(error);
        if (status != ABUT_OK) { /* squeezed by what cannot give, or out of budget: what sweeps reach */
            abut_lcp_config sweeps = config;
            sweeps.method = ABUT_LCP_PGS, sweeps.budget = 200, sweeps.warm = false;
            status = abut_lcp_solve(d->w->lcp, &problem, &sweeps, d->state, d->z, d->out, &result, &inner);
            if (status == ABUT_NO_MEMORY) return fail_memory(error);
        }
        direct_note_stops(d);
        if (!d->gives && is_squeezed(d)) break;
        pressure[round] = pressure_of(d);
        if (!direct_update_bounds(d)) break;
        if (round + 1 == ROUNDS && grows(pressure + ROUNDS - 3)) let_go(d), rounds = ROUNDS + 2;
    }
    return ABUT_OK;
}

abut_status direct_solve(direct *d, const row_matrix *m, abut_error *error) {
    abut_status status = solve_rounds(d, m, error);
    if (status != ABUT_OK || d->gives || !is_squeezed(d)) return status;
    d->gives = true;
    give_way(d, m);
    memset(d->z, 0, (size_t)d->rows * sizeof *d->z);
    return solve_rounds(d, m, error);
}

/* The velocities after the impulses z, into the motions. */
void direct_apply(direct *d) {
    for (int i = 0; i < d->bodies; i++) d->motions[i].velocity = d->velocities[i];
    for (int i = 0; i < d->rows; i++) {
        const row *r = &d->plain[i];
        int ends[2] = {r->a, r->b};
        for (int k = 0; k < 2; k++) {
            if (ends[k] < 0 || d->inertias[ends[k]].inverse_mass == 0) continue;
            motion *m = &d->motions[ends[k]];
            spatial wrench = spatial_scale(k ? r->jb : r->ja, d->z[i]);
            m->velocity = spatial_add(m->velocity, body_apply(&d->inertias[ends[k]], m->rotation, wrench));
        }
    }
}

/* ---- back */

void direct_keep_velocities(const direct *d) {
    for (int i = 0; i < d->bodies; i++) {
        if (d->inertias[i].inverse_mass == 0) continue;
        live_velocity *v = &d->w->velocities[d->body_of[i] + 1];
        v->v = live_four(d->motions[i].velocity.linear), v->w = live_four(d->motions[i].velocity.angular);
    }
}

static void keep_impulses(direct *d) {
    for (int i = 0; i < d->rows; i++) {
        d->row[i].impulse = d->z[i];
        if (d->manifold_of[i] >= 0) direct_keep_contact(d, i);
    }
    live_note_hinges(d->w, d->row, d->rows);
}

abut_status direct_assemble(direct *d, row_matrix *m, abut_error *error) {
    fill_b(d);
    abut_status status =
        row_assemble(d->plain, d->rows, d->motions, d->inertias, d->bodies, &d->w->scratch, m, error);
    if (status == ABUT_OK) soften(d, m);
    if (status == ABUT_OK && d->gives) give_way(d, m);
    return status;
}

void direct_keep(direct *d) {
    direct_keep_velocities(d);
    keep_impulses(d);
}

/* Newton's method with the matrix of the rows where the piece begins. */
static abut_status close_hinges(direct *d, const row_matrix *m, bool *closed, abut_error *error) {
    double last = INFINITY;
    for (int k = 0;; k++) {
        direct_apply(d);
        double miss = direct_miss_hinges(d);
        *closed = miss <= CLOSE_ENOUGH;
        if (miss <= CLOSED || k == CORRECTIONS || !(miss < 0.5 * last)) return ABUT_OK;
        last = miss;
        abut_status status = direct_solve(d, m, error);
        if (status != ABUT_OK) return status;
    }
}

abut_status direct_try(direct *d, bool *closed, abut_error *error) {
    row_matrix m;
    d->bodies = d->rows = 0;
    direct_add_hinges(d);
    direct_add_springs(d);
    for (int k = 0; k < d->island->contact_count; k++) direct_add_contact(d, k);
    /* what only forces act on moves too */
    for (int k = 0; k < d->island->body_count; k++)
        (void)local(d, d->w->island_bodies.data[d->island->first_body + k]);
    abut_status status = direct_assemble(d, &m, error);
    if (status == ABUT_OK) status = direct_solve(d, &m, error);
    if (status != ABUT_OK) return status;
    if (d->island->hinge_count + d->island->spring_count > 0) return close_hinges(d, &m, closed, error);
    direct_apply(d);
    return ABUT_OK;
}

abut_status live_solve_direct(live *w, const live_island *island, abut_error *error) {
    arena_mark mark = arena_save(&w->scratch);
    direct d = {.w = w, .island = island};
    bool closed = true;
    abut_status status = direct_allocate(&d, &w->scratch) ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) status = direct_try(&d, &closed, error);
    if (status == ABUT_OK) direct_keep(&d);
    arena_restore(&w->scratch, mark);
    return status;
}

/* At the end of a step the velocities of hinged bodies are those of the sub-step that ended, which point
 * along the chord; they are turned into the tangent, by impulses along the rows where the bodies are now
 * (RATTLE; Andersen 1983).  The next sub-step begins with impulses along the same rows: the motion stays as
 * it was. */
abut_status live_turn_hinged(live *w, const live_island *island, abut_error *error) {
    arena_mark mark = arena_save(&w->scratch);
    direct d = {.w = w, .island = island};
    row_matrix m;
    abut_status status = direct_allocate(&d, &w->scratch) ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) {
        direct_add_rates(&d);
        status = direct_assemble(&d, &m, error);
    }
    if (status == ABUT_OK) status = direct_solve(&d, &m, error);
    if (status == ABUT_OK) {
        direct_apply(&d);
        direct_keep_velocities(&d);
    }
    arena_restore(&w->scratch, mark);
    return status;
}
