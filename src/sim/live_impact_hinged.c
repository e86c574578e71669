/* An impact between bodies of which one hangs on hinges.  The blow goes through the hinges at once: impulses
 * of the contact points and of the hinges solve one problem,
 *
 *     J_hinges v+ = J_hinges v-,      u+ >= target,  p >= 0,  p (u+ - target) = 0      at each point,
 *
 * and then once more with friction at the points that were struck, against the slip that they were left with,
 * |f| <= mu p of the first solution.  No blow gives energy. */
#include "sim/live_direct.h"

static live_hinge_row blow_row(const live_blow *b, int i, vec3 along) {
    live_hinge_row r = {.r = {.a = b->c->a, .b = b->c->b}, .hinge = -1, .lo = 0, .hi = INFINITY};
    r.r.ja = spatial_force_at(along, b->ra[i]);
    r.r.jb = spatial_scale(spatial_force_at(along, b->rb[i]), -1);
    return r;
}

/* One row for each point that takes part; returns the first. */
static int add_normals(direct *d, const live_blow *b, double part) {
    int first = d->rows;
    for (int i = 0; i < b->c->count; i++) {
        if (!b->active[i]) continue;
        live_hinge_row r = blow_row(b, i, b->c->normal);
        r.bias = -part * b->target[i];
        direct_add_row(d, r, -1, i);
    }
    return first;
}

static vec3 slip_after(const direct *d, const live_blow *b, int i, const row *r) {
    vec3 u = vec3_sub(spatial_velocity_at(d->motions[r->a].velocity, b->ra[i]),
                      spatial_velocity_at(d->motions[r->b].velocity, b->rb[i]));
    return vec3_axpy(u, -vec3_dot(u, b->c->normal), b->c->normal);
}

static void add_friction(direct *d, const live_blow *b, int first, double mu) {
    int end = d->rows;
    for (int k = first; k < end; k++) {
        int i = d->part_of[k];
        vec3 slip = slip_after(d, b, i, &d->plain[k]);
        double speed = vec3_length(slip), most = mu * d->z[k];
        if (!(speed > 0) || !(most > 0)) continue;
        live_hinge_row r = blow_row(b, i, vec3_scale(slip, 1 / speed));
        r.lo = -most, r.hi = most;
        direct_add_row(d, r, -1, i);
    }
}

/* The velocities after the blow. */
static void keep_changes(const direct *d) {
    for (int i = 0; i < d->bodies; i++) {
        live_velocity *v = &d->w->velocities[d->body_of[i] + 1];
        if (d->inertias[i].inverse_mass == 0) continue;
        v->v = live_four(d->motions[i].velocity.linear), v->w = live_four(d->motions[i].velocity.angular);
    }
}

static vec3 sum_of(const direct *d, int first) {
    vec3 sum = vec3_zero();
    for (int k = first; k < d->rows; k++) sum = vec3_axpy(sum, d->z[k], d->row[k].r.ja.linear);
    return sum;
}

static abut_status solve(direct *d, abut_error *error) {
    row_matrix m;
    abut_status status = direct_assemble(d, &m, error);
    if (status == ABUT_OK) status = direct_solve(d, &m, error);
    if (status == ABUT_OK) direct_apply(d);
    return status;
}

bool direct_presses(const direct *d) {
    for (int i = 0; i < d->rows; i++)
        if (d->manifold_of[i] >= 0 && d->part_of[i] < FRICTION1 && d->z[i] > 0) return true;
    return false;
}

/* Whether a point pushes that has restitution and met the other body faster than the rest speed, by the
 * velocities before the piece. */
bool direct_bounces(const direct *d) {
    const live *w = d->w;
    for (int i = 0; i < d->rows; i++) {
        if (d->manifold_of[i] < 0 || d->part_of[i] >= FRICTION1 || !(d->z[i] > 0)) continue;
        const live_contact *c =
            &w->contacts.data[w->island_contacts.data[d->island->first_contact + d->manifold_of[i]]];
        if (!(live_material(w, c->a, c->b)->restitution > 0)) continue;
        double u = 0;
        for (int k = 0; k < 2; k++) {
            const live_velocity *v = &w->velocities[(k ? c->b : c->a) + 1];
            u +=
                spatial_dot(k ? d->row[i].r.jb : d->row[i].r.ja, (spatial){live_vec3(v->v), live_vec3(v->w)});
        }
        if (-u > w->model->tolerance.rest_speed) return true;
    }
    return false;
}

/* The whole blow, with a part of the restitution; returns the first row of a point. */
static abut_status strike(direct *d, const live_blow *b, double mu, double part, int *first,
                          abut_error *error) {
    d->bodies = d->rows = 0;
    direct_add_held(d);
    *first = add_normals(d, b, part);
    int rows = d->rows;
    abut_status status = solve(d, error);
    if (status == ABUT_OK) add_friction(d, b, *first, mu);
    return status == ABUT_OK && d->rows > rows ? solve(d, error) : status;
}

/* ---- energy */

static bool is_driven(const direct *d) {
    for (int i = 0; i < d->bodies; i++)
        if (d->w->body[d->body_of[i]].kinematic) return true;
    return false;
}

/* The scalar product of two velocities of all bodies by their masses: twice the energy of one with itself. */
static double product(const direct *d, int which_a, int which_b) {
    double sum = 0;
    for (int i = 0; i < d->bodies; i++) {
        const body_inertia *body = &d->inertias[i];
        if (body->inverse_mass == 0) continue;
        spatial v[3] = {d->velocities[i], d->motions[i].velocity, d->after[i].velocity};
        spatial a = v[which_a], b = v[which_b];
        vec3 sa = quat_unrotate(d->motions[i].rotation, a.angular);
        vec3 sb = quat_unrotate(d->motions[i].rotation, b.angular);
        sum += body->mass * vec3_dot(a.linear, b.linear) + vec3_dot(sa, mat3_mul_vec(body->inertia, sb));
    }
    return sum;
}
enum { BEFORE, NOW, ELASTIC };

/* Newton's law of restitution together with friction can give energy (Kane and Levinson 1985): the speed of
 * leaving is asked for, whatever friction does to it.  The blow without restitution cannot, because its
 * impulses only oppose what is left of the motion:
 *
 *     dE = p . u+ - p . A p / 2 <= 0,      p . u+ <= 0
 *
 * So of the two the mean is taken that has as much restitution as gives no energy,
 *
 *     v = v_0 + s (v_e - v_0),   s <= 1,     a quadratic equation in s. */
static abut_status without_gain(direct *d, live_blow *b, double mu, int *first, abut_error *error) {
    double before = product(d, BEFORE, BEFORE);
    if (mu == 0 || is_driven(d) || product(d, NOW, NOW) <= before * (1 + 1e-12)) return ABUT_OK;
    vec3 elastic = sum_of(d, *first);
    for (int i = 0; i < d->bodies; i++) d->after[i].velocity = d->motions[i].velocity;
    abut_status status = strike(d, b, mu, 0, first, error);
    if (status != ABUT_OK) return status;
    /* a s^2 + 2 c s - e = 0,  e the energy lost without restitution */
    double e = fmax(before - product(d, NOW, NOW), 0),
           cross = product(d, NOW, ELASTIC) - product(d, NOW, NOW);
    double a = product(d, ELASTIC, ELASTIC) - 2 * product(d, NOW, ELASTIC) + product(d, NOW, NOW);
    double root = sqrt(fmax(cross * cross + a * e, 0));
    double s = cross + root > 0 ? fmin(e / (cross + root), 1) : 0;
    for (int i = 0; i < d->bodies; i++) {
        spatial *v = &d->motions[i].velocity;
        *v = spatial_add(spatial_scale(*v, 1 - s), spatial_scale(d->after[i].velocity, s));
    }
    b->impulse = vec3_lerp(sum_of(d, *first), elastic, s);
    return ABUT_OK;
}

abut_status live_collide_hinged(live *w, const live_island *island, live_blow *b, double mu,
                                abut_error *error) {
    arena_mark mark = arena_save(&w->scratch);
    direct d = {.w = w, .island = island};
    int first = 0;
    abut_status status = direct_allocate(&d, &w->scratch) ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) status = strike(&d, b, mu, 1, &first, error);
    if (status == ABUT_OK) b->impulse = sum_of(&d, first), status = without_gain(&d, b, mu, &first, error);
    for (int i = 0; i < d.bodies && status == ABUT_OK; i++) {
        b->energy[0] += live_energy_of(w, d.body_of[i] + 1, d.velocities[i], b->t);
        b->energy[1] += live_energy_of(w, d.body_of[i] + 1, d.motions[i].velocity, b->t);
    }
    if (status == ABUT_OK) keep_changes(&d);
    arena_restore(&w->scratch, mark);
    return status;
}
