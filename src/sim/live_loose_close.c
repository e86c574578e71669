/* Loose hinges closed where a sub-step ends (SHAKE), or by the least motion where that cannot be. */
#include "sim/live_loose.h"

enum { ROUNDS = 4, CLOSING_TURNS = 2 };
#define FAR       0.2  /* misses of more than that are none that Newton's method closes at once */
#define COARSE    1e-4 /* with less than that the matrix of the round before does */
#define MOST_BEND 0.02 /* of the energy: what hinges bend by more is no matter of a correction */

/* ---- closed where the sub-step ends, as in direct islands (live_direct_hinge.c) */

static motion end_of(const live *w, int body) {
    motion m = w->motions[body];
    m.velocity = (twist){live_vec3(w->velocities[body + 1].v), live_vec3(w->velocities[body + 1].w)};
    if (w->movable[body + 1] || w->body[body].kinematic) live_move_freely(w, body, &m);
    return m;
}

/* What hinge k misses of  C(x1) = (1 - h rate) C(x0);  lengths as parts of the smallest body. */
static double miss(live *w, int k) {
    live_loose *s = w->loose;
    int number = w->loose_hinges.data[k];
    const hinge *h = &w->model->hinges[number].h;
    motion a = end_of(w, h->a), b = h->b >= 0 ? end_of(w, h->b) : a;
    double angle = run_hinges(w->run->state)[number].coordinate, rate, most = 0;
    row rows[HINGE_MAX_ROWS], coordinate;
    hinge_coordinate(h, &a, h->b >= 0 ? &b : NULL, angle, &angle, &rate, &coordinate);
    int count = hinge_rows(h, &a, h->b >= 0 ? &b : NULL, angle, rows);
    for (int i = 0; i < count; i++) {
        double left = rows[i].error - (1 - w->h * w->joint_rate) * w->rows.data[s->first[k] + i].r.error;
        s->change[BLOCK_SIDE * k + i] = -left / w->h;
        s->ends[2 * (s->first[k] + i)] = rows[i].ja, s->ends[2 * (s->first[k] + i) + 1] = rows[i].jb;
        most = fmax(most, fabs(left) / (vec3_length2(rows[i].ja.linear) > 0 ? w->size : 1));
    }
    return most;
}

static void factor_at_end(live *w) {
    memcpy(w->loose->forms, w->loose->ends, 2 * (size_t)w->rows.count * sizeof(spatial));
    loose_factor(w);
}

static double energy(const live *w) {
    const live_loose *s = w->loose;
    double sum = 0;
    for (int i = 0; i < s->members; i++) {
        int body = s->body[i];
        motion m = w->motions[body];
        m.velocity = (twist){live_vec3(w->velocities[body + 1].v), live_vec3(w->velocities[body + 1].w)};
        if (w->movable[body + 1]) sum += body_kinetic_energy(&w->body[body].inertia, &m);
    }
    return sum;
}

/* Velocities and impulses before hinges are closed, and back. */
static void keep_state(live *w, bool back) {
    live_loose *s = w->loose;
    for (int i = 0; i < s->members; i++) {
        live_velocity *v[2] = {&w->velocities[s->body[i] + 1], &w->before[s->body[i] + 1]};
        for (int k = 0; k < 2; k++)
            *(back ? v[k] : &s->saved[2 * i + k]) = *(back ? &s->saved[2 * i + k] : v[k]);
    }
    for (int64_t i = 0; i < s->rows + w->rows.count; i++) {
        double *p = i < s->rows ? &s->row[i].impulse : &w->rows.data[i - s->rows].impulse;
        *(back ? p : &s->saved_rows[i]) = *(back ? &s->saved_rows[i] : p);
    }
}

/* Newton's method, J where the sub-step ends, contacts answering.  What does not come nearer is no matter of
 * a correction, nor is what takes more than a part of the energy; it is taken back, and the hinges are closed
 * by the least motion where the bodies are then. */
void loose_close(live *w) {
    live_loose *s = w->loose;
    double last = FAR, before = energy(w);
    keep_state(w, false);
    for (int round = 0; s->solvable; round++) {
        double most = 0;
        loose_clear(w);
        for (int k = 0; k < (int)w->loose_hinges.count; k++) most = fmax(most, miss(w, k));
        if (most <= LOOSE_CLOSED && energy(w) <= before * (1 + MOST_BEND)) return;
        s->open = !(most < last) || round == ROUNDS || energy(w) > before * (1 + MOST_BEND);
        if (s->open) break;
        last = 0.5 * most;
        if (most > COARSE) factor_at_end(w);
        loose_solve(w), loose_push(w);
        for (int k = 0; k < CLOSING_TURNS && s->contacts > 0; k++) loose_turn(w);
    }
    if (s->open) keep_state(w, true), s->failed = true;
}

/* ---- closed by the least motion */

static void shift(live *w, int body, spatial way) {
    if (body < 0 || !w->movable[body + 1]) return;
    motion *m = &w->motions[body];
    vec3 u = vec3_scale(way.angular, 0.5);
    m->center = vec3_add(m->center, way.linear);
    m->rotation = quat_unit(quat_mul((quat){1, u.x, u.y, u.z}, m->rotation));
    w->moved[body + 1].v += live_four(way.linear), w->moved[body + 1].w += live_four(way.angular);
}

/* One step of Newton's method: J M^-1 J^T z = -C, x += M^-1 J^T z.  False where there is nothing to close. */
bool loose_close_back(live *w) {
    live_loose *s = w->loose;
    double most = 0;
    live_hinges_begin(w, true, true);
    loose_clear(w);
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++) {
            const live_hinge_row *r = &w->rows.data[i];
            if (!loose_holds(r)) continue;
            s->change[BLOCK_SIDE * k + i - s->first[k]] = -r->r.error;
            most = fmax(most, fabs(r->r.error) / (vec3_length2(r->r.ja.linear) > 0 ? w->size : 1));
        }
    if (!s->solvable || most <= LOOSE_CLOSED) return false;
    double part = fmin(1, FAR / most);
    loose_solve(w);
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++) {
            const live_hinge_row *r = &w->rows.data[i];
            double z = part * s->change[BLOCK_SIDE * k + i - s->first[k]];
            if (!loose_holds(r)) continue;
            shift(w, r->r.a, spatial_scale(r->da, z)), shift(w, r->r.b, spatial_scale(r->db, z));
        }
    return true;
}

/* ---- after bodies were put back (live_close.c) */

static bool any_put_back(const live *w) {
    for (int end = 0; end < 2 * (int)w->loose_hinges.count; end++) {
        int body = loose_body_at(w, end / 2, end % 2);
        if (body >= 0 && w->put_back[body]) return true;
    }
    return false;
}

void live_close_loose_back(live *w) {
    if (!w->loose || !any_put_back(w)) return;
    for (int round = 0; round < LOOSE_BACK_ROUNDS && loose_close_back(w); round++) continue;
    live_hinges_begin(w, true, true), live_hinges_solve(w, true);
}
