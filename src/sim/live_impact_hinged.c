/* An impact between bodies of which one hangs on hinges.  The blow goes through the hinges at once: impulses
 * of the contact points and of the hinges solve one problem,
 *
 *     J_hinges v+ = J_hinges v-,      u+ >= target,  p >= 0,  p (u+ - target) = 0      at each point,
 *
 * and then once more with friction at the points that were struck, against the slip that they were left with,
 * |f| <= mu p of the first solution. */
#include "sim/live_direct.h"

static live_hinge_row blow_row(const live_blow *b, int i, vec3 along) {
    live_hinge_row r = {.r = {.a = b->c->a, .b = b->c->b}, .hinge = -1, .lo = 0, .hi = INFINITY};
    r.r.ja = spatial_force_at(along, b->ra[i]);
    r.r.jb = spatial_scale(spatial_force_at(along, b->rb[i]), -1);
    return r;
}

/* One row for each point that takes part; returns the first. */
static int add_normals(direct *d, const live_blow *b) {
    int first = d->rows;
    for (int i = 0; i < b->c->count; i++) {
        if (!b->active[i]) continue;
        live_hinge_row r = blow_row(b, i, b->c->normal);
        r.bias = -b->target[i];
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

/* The changes of all velocities: none of a contact's, so that warm starting does not repeat them; and what
 * they do before the time of the blow is taken back with the positions. */
static void keep_changes(const direct *d, double t) {
    live *w = d->w;
    for (int i = 0; i < d->bodies; i++) {
        int slot = d->body_of[i] + 1;
        if (d->inertias[i].inverse_mass == 0) continue;
        spatial change = spatial_add(d->motions[i].velocity, spatial_scale(d->velocities[i], -1));
        four v = live_four(change.linear), s = live_four(change.angular);
        w->velocities[slot].v += v, w->velocities[slot].w += s;
        w->before[slot].v += v, w->before[slot].w += s;
        w->late[slot] = spatial_add(w->late[slot], spatial_scale(change, -t));
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

/* The island whose hinges take part; NULL: none does. */
const live_island *live_hinged_island(const live *w, const live_contact *c) {
    int body = w->body[c->a].movable ? c->a : c->b;
    const live_island *s = &w->islands.data[w->rests[body].island];
    return s->hinge_count > 0 && s->direct ? s : NULL;
}

abut_status live_collide_hinged(live *w, const live_island *island, live_blow *b, double mu,
                                abut_error *error) {
    arena_mark mark = arena_save(&w->scratch);
    direct d = {.w = w, .island = island};
    abut_status status = direct_allocate(&d, &w->scratch) ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) {
        direct_add_held(&d);
        int first = add_normals(&d, b), rows = d.rows;
        status = solve(&d, error);
        if (status == ABUT_OK) add_friction(&d, b, first, mu);
        if (status == ABUT_OK && d.rows > rows) status = solve(&d, error);
        for (int i = 0; i < d.bodies && status == ABUT_OK; i++) {
            b->energy[0] += live_energy_of(w, d.body_of[i] + 1, d.velocities[i], b->t);
            b->energy[1] += live_energy_of(w, d.body_of[i] + 1, d.motions[i].velocity, b->t);
        }
        if (status == ABUT_OK) keep_changes(&d, b->t), b->impulse = sum_of(&d, first);
    }
    arena_restore(&w->scratch, mark);
    return status;
}
