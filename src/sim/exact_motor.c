/* Motors with a bound.  Such a motor either holds its speed, with a force inside the bound, or pulls with all
 * it has towards it; what it does is decided at the start of a step and stays for the step, so that the
 * forces are smooth in it.  Two events change it:
 *
 *   reached   the coordinate has the speed: the motor holds it from then on
 *   too weak  holding it takes more than the bound: the speed is left
 *
 * A motor without bound is a constraint (hinge.h). */
#include "sim/exact_search.h"

/* Speeds closer than this are the same, m/s or rad/s. */
#define SAME_SPEED 1e-9

static bool is_bounded(const hinge *h) { return h->has_motor && isfinite(h->motor_max_force); }

static int motor_row(const exact *x, int entry) {
    for (int i = 0; i < x->row_count; i++)
        if (x->row_hinge[i] == entry && x->row_kinds[i] == ROW_MOTOR) return i;
    return -1;
}

/* How fast the coordinate of a hinge goes at the placed state. */
static bool rate_of(const exact *x, int entry, double *rate) {
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    int la = x->local_of[h->a], lb = h->b >= 0 ? x->local_of[h->b] : -1;
    double value;
    row r;
    return hinge_coordinate(h, &x->motions[la], lb >= 0 ? &x->motions[lb] : NULL, x->hinge_known[entry],
                            &value, rate, &r);
}

abut_status exact_set_motors(exact *x, abut_error *error) {
    for (int i = 0; i < x->hinge_count && x->has_motor; i++) {
        const hinge *h = &x->model->hinges[x->hinges[i]].h;
        double rate, speed, speed_rate;
        if (!is_bounded(h) || !rate_of(x, i, &rate)) continue;
        abut_status status = hinge_motor_speed(h, x->time, &speed, &speed_rate, error);
        if (status != ABUT_OK) return status;
        x->motor_pulls[i] = (int8_t)hinge_motor_pull(h, rate, speed, SAME_SPEED);
    }
    return ABUT_OK;
}

void exact_free_motors(exact *x) {
    for (int i = 0; i < x->row_count; i++) {
        if (x->row_kinds[i] != ROW_MOTOR || x->rows[i].lo == x->rows[i].hi || x->row_states[i] == 0) continue;
        if (isfinite(x->rows[i].hi))
            x->motor_pulls[x->row_hinge[i]] = x->row_states[i] == ABUT_LCP_AT_LOWER ? -1 : 1;
    }
}

/* ---- events */

/* How much of its speed a motor that pulls has yet to reach. */
static bool probe_speed(exact *x, int64_t item, double t, exact_sample *s) {
    int entry = (int)item;
    const hinge *h = &x->model->hinges[x->hinges[entry]].h;
    int la = x->local_of[h->a], lb = h->b >= 0 ? x->local_of[h->b] : la;
    double rate, speed, speed_rate;
    if (exact_place_two(x, t, la, lb, NULL) != ABUT_OK || !rate_of(x, entry, &rate) ||
        hinge_motor_speed(h, t, &speed, &speed_rate, NULL) != ABUT_OK)
        return false;
    *s = (exact_sample){t, x->motor_pulls[entry] * (speed - rate), NAN};
    return true;
}

static bool is_too_weak(exact *x, int64_t item, double t) {
    double powers[2];
    if (exact_place_dense(x, t, NULL) != ABUT_OK ||
        exact_accelerate(x, t, false, false, powers, NULL) != ABUT_OK)
        return true;
    int i = motor_row(x, (int)item);
    double rate; /* a speed that jumps within the step is left behind */
    if (i < 0 || !rate_of(x, (int)item, &rate)) return false;
    return x->row_states[i] != 0 || fabs(rate - x->rows[i].rate) > 1e-6 * (1 + fabs(rate));
}

static void find_reached(exact *x, int i, double t0, double t1, exact_event *best) {
    exact_sample a, b, root;
    if (!probe_speed(x, i, t0, &a) || !probe_speed(x, i, t1, &b) || b.g > 0) return;
    /* one that has just become too weak starts at its speed */
    if (a.g <= 0 && (!probe_speed(x, i, t0 + (t1 - t0) / 64, &a) || a.g <= 0)) return;
    if (exact_refine(x, i, probe_speed, a, b, &root)) exact_consider(best, EXACT_MOTOR, i, root.t);
}

void exact_find_motors(exact *x, double t0, double t1, exact_event *best) {
    for (int i = 0; i < x->hinge_count && x->has_motor; i++) {
        const hinge *h = &x->model->hinges[x->hinges[i]].h;
        double end = fmin(t1, best->time);
        if (!is_bounded(h) || run_hinges(x->run->state)[x->hinges[i]].broken) continue;
        if (x->motor_pulls[i] != 0)
            find_reached(x, i, t0, end, best);
        else if (is_too_weak(x, i, end))
            exact_consider(best, EXACT_MOTOR, i, exact_bisect(x, i, is_too_weak, t0, end));
    }
}

/* ---- time steps */

/* In a step of h a motor gives the force that brings its coordinate alone to the speed, no more than its
 * bound: forces[i] on row i. */
abut_status exact_push_motors(exact *x, double h, double *forces, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    spatial *free = arena_alloc(x->arena, (size_t)x->count + 1, sizeof *free);
    if (!free) return fail_memory(error);
    group g = exact_group(x);
    group_free_accelerations(&g, free);
    for (int i = 0; i < x->count; i++) free[i] = spatial_axpy(x->motions[i].velocity, h, free[i]);
    for (int i = 0; i < x->row_count; i++) {
        const row *r = &x->rows[i];
        const hinge *motor = &x->model->hinges[x->hinges[x->row_hinge[i]]].h;
        double most = motor->motor_max_force;
        forces[i] = 0;
        if (x->row_kinds[i] != ROW_MOTOR || !isfinite(most)) continue;
        double mobility = exact_row_mobility(x, r);
        if (!(mobility > 0)) continue;
        forces[i] = fmin(fmax((r->rate - row_dot(r, free)) / (h * mobility), -most), most);
        row_add_wrench(r, forces[i], x->wrenches);
    }
    arena_restore(x->arena, mark);
    return ABUT_OK;
}
