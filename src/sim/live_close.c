/* Hinges of islands that were put back on their way (live_fast.c), or had pieces that could not be closed
 * (live_hinged.c).  All bodies of such an island go back to
 * the same time; along the straight ways between two poses hinges are closed only where the ways begin and
 * end, so they are closed here by the least motion, weighed by mass:
 *
 *     J M^-1 J^T z = -C,      x += M^-1 J^T z       (Newton's method, each round at the poses so far)
 *
 * and the velocities are turned along them. */
#include "sim/live_direct.h"

enum { ROUNDS = 8 };
#define CLOSED 1e-6 /* of the smallest body */

/* Hinges, and limits that are crossed. */
static double add_errors(direct *d) {
    live *w = d->w;
    live_hinge_row rows[LIVE_HINGE_ROWS];
    double most = 0;
    for (int k = 0; k < d->island->hinge_count; k++) {
        int count = live_hinge_rows(w, w->island_hinges.data[d->island->first_hinge + k], rows);
        for (int i = 0; i < count; i++) {
            live_hinge_row *r = &rows[i];
            if (r->give > 0 || r->is_motor || (r->side != 0 && r->r.error > 0)) continue;
            r->bias = r->r.error, r->impulse = 0;
            most = fmax(most, fabs(r->bias) / (vec3_length2(r->r.ja.linear) > 0 ? w->size : 1));
            direct_add_row(d, *r, -1, i);
        }
    }
    for (int i = 0; i < d->bodies; i++)
        d->velocities[i] = d->motions[i].velocity = (spatial){{0, 0, 0}, {0, 0, 0}};
    return most;
}

static void shift(const direct *d) {
    for (int i = 0; i < d->bodies; i++) {
        spatial way = d->motions[i].velocity;
        motion *m = &d->w->motions[d->body_of[i]];
        vec3 u = vec3_scale(way.angular, 0.5);
        if (d->inertias[i].inverse_mass == 0) continue;
        m->center = vec3_add(m->center, way.linear);
        m->rotation = quat_unit(quat_mul((quat){1, u.x, u.y, u.z}, m->rotation));
    }
}

abut_status live_close_island(live *w, const live_island *island, abut_error *error) {
    arena_mark mark = arena_save(&w->scratch);
    direct d = {.w = w, .island = island};
    abut_status status = direct_allocate(&d, &w->scratch) ? ABUT_OK : fail_memory(error);
    for (int round = 0; round < ROUNDS && status == ABUT_OK; round++) {
        arena_mark inner = arena_save(&w->scratch);
        row_matrix m;
        d.bodies = d.rows = 0;
        if (add_errors(&d) <= CLOSED) break;
        status = direct_assemble(&d, &m, error);
        if (status == ABUT_OK) status = direct_solve(&d, &m, error);
        if (status == ABUT_OK) direct_apply(&d), shift(&d);
        arena_restore(&w->scratch, inner);
    }
    arena_restore(&w->scratch, mark);
    return status == ABUT_OK ? live_turn_hinged(w, island, error) : status;
}

static bool was_put_back(const live *w, const live_island *s) {
    for (int k = 0; k < s->body_count; k++)
        if (w->put_back[w->island_bodies.data[s->first_body + k]]) return true;
    return false;
}

abut_status live_close_put_back(live *w, abut_error *error) {
    abut_status status = ABUT_OK;
    for (int64_t i = 0; i < w->islands.count && status == ABUT_OK; i++) {
        const live_island *s = &w->islands.data[i];
        if (s->direct && s->hinge_count > 0 && was_put_back(w, s)) status = live_close_island(w, s, error);
    }
    if (status == ABUT_OK) live_close_loose_back(w);
    return status;
}
