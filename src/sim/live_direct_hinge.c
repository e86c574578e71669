/* Rows of hinges in islands that are solved directly.
 *
 * The impulses act along the rows where the sub-step begins, and are such that the hinges are closed where it
 * ends (SHAKE; Ryckaert, Ciccotti, Berendsen 1977): that is symmetric in time, so that energy swings and does
 * not grow.  The rows foresee their curvature to second order (live_hinge.c); what the end of the motion that
 * follows from the impulses still misses of
 *
 *     C(x1) = (1 - h rate) C(x0)
 *
 * is added to what they want, and the problem is solved again. */
#include "sim/live_direct.h"

void direct_add_hinges(direct *d) {
    live *w = d->w;
    live_hinge_row rows[LIVE_HINGE_ROWS];
    for (int k = 0; k < d->island->hinge_count; k++) {
        int number = w->island_hinges.data[d->island->first_hinge + k];
        int count = live_hinge_rows(w, number, rows);
        for (int i = 0; i < count; i++) direct_add_row(d, rows[i], -1, i);
    }
}

/* Whether the row held a velocity in the sub-step that ended: hinges, motors at their speed, and limits that
 * pushed.  Springs and motors at their bound are forces. */
static bool holds_rate(const live *w, const live_hinge_row *r) {
    const live_hold *hold = &w->hinge_hold[r->hinge];
    if (r->give > 0) return false;
    if (r->is_motor) return hold->motor;
    return r->side == 0 || hold->limit == r->side;
}

/* Only what the velocities are to be: hinges closed, motors at their speed, nothing into a limit. */
void direct_add_rates(direct *d) {
    live *w = d->w;
    live_hinge_row rows[LIVE_HINGE_ROWS];
    for (int k = 0; k < d->island->hinge_count; k++) {
        int number = w->island_hinges.data[d->island->first_hinge + k];
        int count = live_hinge_rows(w, number, rows);
        for (int i = 0; i < count; i++) {
            if (!holds_rate(w, &rows[i])) continue;
            rows[i].bias = -rows[i].rate;
            if (rows[i].is_motor) rows[i].lo = -INFINITY, rows[i].hi = INFINITY;
            direct_add_row(d, rows[i], -1, i);
        }
    }
}

static double rate_of(const live *w, const row *r) {
    double rate = 0;
    for (int k = 0; k < 2; k++) {
        int body = k ? r->b : r->a;
        if (body < 0) continue;
        const live_velocity *v = &w->velocities[body + 1];
        rate += spatial_dot(k ? r->jb : r->ja, (spatial){live_vec3(v->v), live_vec3(v->w)});
    }
    return rate;
}

/* What an impact leaves as it is: velocities along the rows of hinges, which are equations.  A limit that is
 * reached gives no further; motors and springs are finite forces and take no part. */
void direct_add_held(direct *d) {
    live *w = d->w;
    live_hinge_row rows[LIVE_HINGE_ROWS];
    for (int k = 0; k < d->island->hinge_count; k++) {
        int number = w->island_hinges.data[d->island->first_hinge + k];
        int count = live_hinge_rows(w, number, rows);
        for (int i = 0; i < count; i++) {
            live_hinge_row *r = &rows[i];
            if (r->give > 0 || r->is_motor || (r->side != 0 && r->r.error > 0)) continue;
            double rate = rate_of(w, &r->r);
            r->bias = r->side == 0 || rate < 0 ? -rate : 0;
            r->impulse = 0;
            direct_add_row(d, *r, -1, i);
        }
    }
}

static double part_of_size(const live *w, const row *r, double miss) {
    return fabs(miss) / (vec3_length2(r->ja.linear) > 0 ? w->size : 1);
}

/* Of a limit:  C(x1) >= (1 - h rate) min(C(x0), 0).  The solution at hand foresees  h out  more than that;
 * what it has in truth takes that place, so that it is pushed at no sooner and no later.  Bent motion would
 * otherwise go through the limit, and come out of it with the energy of the way back. */
static double miss_limit(direct *d, int i, const row *end) {
    const live *w = d->w;
    double left = end->error - (1 - w->h * w->joint_rate) * fmin(d->row[i].r.error, 0);
    double wrong = left - w->h * d->out[i];
    d->b[i] += wrong / w->h;
    return d->z[i] > 0 ? part_of_size(w, end, wrong) : left < 0 ? part_of_size(w, end, left) : 0;
}

/* Of the hinge whose first row is `first`. */
static double miss_hinge(direct *d, int first) {
    const live *w = d->w;
    int number = d->row[first].hinge, a = d->plain[first].a, b = d->plain[first].b;
    const hinge *h = &w->model->hinges[number].h;
    const motion *m[2] = {&d->after[a], b >= 0 ? &d->after[b] : NULL};
    double angle = run_hinges(w->run->state)[number].coordinate, rate, most = 0;
    row rows[HINGE_MAX_ROWS], coordinate;
    hinge_coordinate(h, m[0], m[1], angle, &angle, &rate, &coordinate);
    int count = hinge_rows(h, m[0], m[1], angle, rows);
    for (int k = 0; k < count; k++) {
        double miss = rows[k].error - (1 - w->h * w->joint_rate) * d->row[first + k].r.error;
        d->b[first + k] += miss / w->h;
        most = fmax(most, part_of_size(w, &rows[k], miss));
    }
    for (int i = first + count; i < d->rows && d->row[i].hinge == number; i++) {
        if (d->row[i].side == 0) continue;
        row limit = hinge_limit_row(&coordinate, h, d->row[i].side);
        most = fmax(most, miss_limit(d, i, &limit));
    }
    return most;
}

/* Also of springs that are rows.  Returns the largest miss, lengths as parts of the smallest body. */
double direct_miss_hinges(direct *d) {
    double most = 0;
    for (int i = 0; i < d->bodies; i++) {
        d->after[i] = d->motions[i];
        live_move_freely(d->w, d->body_of[i], &d->after[i]);
    }
    for (int i = 0; i < d->rows && d->manifold_of[i] < 0; i++) {
        if (d->part_of[i] == 0) most = fmax(most, miss_hinge(d, i));
        if (d->part_of[i] == SPRING) most = fmax(most, direct_miss_spring(d, i));
    }
    return most;
}

static double energy_of(const direct *d, int body, spatial v) {
    motion m = d->motions[body];
    m.velocity = v;
    return body_kinetic_energy(&d->inertias[body], &m);
}

/* How far the hinges bend the motion of the island in this piece: the kinetic energy of the change of
 * velocity that comes of their rows, as a part of that of the motion.  A body that goes round turns by the
 * square root of it.  What only holds against the forces of the piece is no bend. */
double direct_bend(direct *d, double h) {
    double bend = 0, energy = 0, forces = 0;
    for (int i = 0; i < d->bodies; i++) d->after[i].velocity = (spatial){{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < d->rows && d->manifold_of[i] < 0; i++) {
        const live_hinge_row *r = &d->row[i];
        if (r->side != 0 || r->is_motor || r->give > 0) continue;
        for (int k = 0; k < 2; k++) {
            int body = k ? d->plain[i].b : d->plain[i].a;
            if (body < 0 || d->inertias[body].inverse_mass == 0) continue;
            spatial wrench = spatial_scale(k ? r->r.jb : r->r.ja, d->z[i]);
            spatial change = body_apply(&d->inertias[body], d->motions[body].rotation, wrench);
            d->after[body].velocity = spatial_add(d->after[body].velocity, change);
        }
    }
    for (int i = 0; i < d->bodies; i++) {
        if (d->inertias[i].inverse_mass == 0) continue;
        spatial force = spatial_scale(d->w->wrenches[d->body_of[i]], h);
        bend += energy_of(d, i, d->after[i].velocity), energy += energy_of(d, i, d->velocities[i]);
        forces += energy_of(d, i, body_apply(&d->inertias[i], d->motions[i].rotation, force));
    }
    bend -= 1 * forces;
    return bend > 0 ? bend / energy : 0;
}
