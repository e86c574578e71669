/* Hinges of the live clock, by the rows of the exact one (dynamics/hinge.h).
 *
 * In an island that is solved directly they are rows of its problem.  In a larger one they are solved all at
 * once (live_loose.c), before its contacts and after them; what has bounds or gives is visited row by row.
 *
 * A spring on the coordinate is an implicit row:  J v + g p + b = 0,  g = 1 / (h (c + h k)),  b = h k g (x -
 * rest). */
#include "sim/live.h"

/* Where springs pull, that before they did: what they give a light body is gone when its hinges have
 * answered, and rows of a loop, which depend on each other, would contradict each other by it. */
static spatial velocity(const live *w, int body) {
    if (body < 0) return (spatial){{0, 0, 0}, {0, 0, 0}};
    bool calm = w->springs_pull && w->movable[body + 1];
    const live_velocity *v = calm ? &w->calm[body + 1] : &w->velocities[body + 1];
    return (spatial){live_vec3(v->v), live_vec3(v->w)};
}

/* How a free body changes its spin by itself:  -I^-1 (w x I w). */
static vec3 free_turn(const live *w, int body, vec3 spin) {
    if (body < 0 || !w->movable[body + 1] || w->body[body].spherical) return vec3_zero();
    const body_inertia *b = &w->body[body].inertia;
    quat q = w->motions[body].rotation;
    vec3 s = quat_unrotate(q, spin), y = mat3_mul_vec(b->inertia, s);
    return quat_rotate(q, mat3_mul_vec(b->inverse_inertia, vec3_cross(y, s)));
}

/* What the row wants, and by how much it gives.  A body that moves by h v along the tangent, and turns as if
 * it were free, leaves the hinge by  h^2 / 2 (dJ/dt v + J a),  a its free change of spin; that is foreseen,
 *
 *     J v1 = -h / 2 (dJ/dt v + J a),      and so before the next solution    J v = +h / 2 (dJ/dt v + J a):
 *
 * what spins fast would otherwise stand open by many times that, and the impulses of the hinge, whose work is
 * impulse . J (v + v1) / 2, would give energy. */
static live_hinge_row plain_row(const live *w, row r, int hinge_number) {
    double own = vec3_dot(r.ja.angular, free_turn(w, r.a, velocity(w, r.a).angular)) +
                 vec3_dot(r.jb.angular, free_turn(w, r.b, velocity(w, r.b).angular));
    return (live_hinge_row){.r = r,
                            .hinge = hinge_number,
                            .bias = w->joint_rate * r.error + 0.5 * w->h * (r.drift + own),
                            .lo = r.lo,
                            .hi = r.hi};
}

/* A motor goes no farther in the sub-step than to the limit. */
static int motor_row(const live *w, const hinge *h, int number, const row *coordinate, double value,
                     live_hinge_row *out) {
    if (!h->has_motor) return 0;
    *out = plain_row(w, *coordinate, number);
    out->rate = w->motor_speeds[number];
    if (h->has_limits)
        out->rate = fmax(fmin(out->rate, (h->limits[1] - value) / w->h), (h->limits[0] - value) / w->h);
    out->bias = -out->rate, out->is_motor = true;
    out->lo = -h->motor_max_force * w->h, out->hi = h->motor_max_force * w->h;
    return 1;
}

static int spring_row(const live *w, const hinge *h, int number, const row *coordinate, double value,
                      live_hinge_row *out) {
    double stiffness = w->h * (h->damping + w->h * h->stiffness);
    if (!(stiffness > 0) || w->springs_pull) return 0;
    *out = plain_row(w, *coordinate, number);
    out->give = 1 / stiffness;
    out->bias = w->h * h->stiffness * out->give * (value - h->rest);
    out->lo = -INFINITY, out->hi = INFINITY;
    return 1;
}

/* A limit that may be reached in this sub-step: the speed towards it is at most what closes the gap. */
static int limit_row(const live *w, const hinge *h, int number, const row *coordinate, double value,
                     live_hinge_row *out) {
    if (!h->has_limits) return 0;
    int side = value - h->limits[0] < h->limits[1] - value ? -1 : 1;
    *out = plain_row(w, hinge_limit_row(coordinate, h, side), number);
    double gap = out->r.error;
    out->side = side;
    out->bias = gap > 0 ? gap / w->h : w->joint_rate * gap;
    out->lo = 0, out->hi = INFINITY;
    return 1;
}

int live_hinge_rows(live *w, int number, live_hinge_row out[LIVE_HINGE_ROWS]) {
    const hinge *h = &w->model->hinges[number].h;
    hinge_memory *memory = &run_hinges(w->run->state)[number];
    motion now[2] = {w->motions[h->a], w->motions[h->a]};
    now[0].velocity = velocity(w, h->a);
    if (h->b >= 0) now[1] = w->motions[h->b], now[1].velocity = velocity(w, h->b);
    const motion *a = &now[0], *b = h->b >= 0 ? &now[1] : NULL;
    row rows[HINGE_MAX_ROWS], coordinate;
    double value, rate;
    bool has = hinge_coordinate(h, a, b, memory->coordinate, &value, &rate, &coordinate);
    if (has) memory->coordinate = value, coordinate.lo = -INFINITY, coordinate.hi = INFINITY;
    int n = 0, count = hinge_rows(h, a, b, memory->coordinate, rows);
    for (int i = 0; i < count; i++) out[n++] = plain_row(w, rows[i], number);
    if (!has) return n;
    n += motor_row(w, h, number, &coordinate, value, &out[n]);
    n += spring_row(w, h, number, &coordinate, value, &out[n]);
    n += limit_row(w, h, number, &coordinate, value, &out[n]);
    return n;
}

/* ---- row by row */

static spatial respond(const live *w, int body, spatial wrench) {
    if (body < 0 || !w->movable[body + 1]) return (spatial){{0, 0, 0}, {0, 0, 0}};
    return body_apply(&w->body[body].inertia, w->motions[body].rotation, wrench);
}

static void add_velocity(live *w, int body, spatial d) {
    if (body < 0 || !w->movable[body + 1]) return;
    four v = live_four(d.linear), s = live_four(d.angular);
    w->velocities[body + 1].v += v, w->velocities[body + 1].w += s;
    w->before[body + 1].v += v, w->before[body + 1].w += s;
}

/* Hinges of islands that are not direct, for the step. */
bool live_find_hinges(live *w) {
    w->loose_hinges.count = w->rows.count = 0;
    if (w->model->hinge_count == 0) return true;
    memset(w->hung, 0, (size_t)w->slots);
    for (int64_t k = 0; k < w->islands.count; k++) {
        const live_island *s = &w->islands.data[k];
        for (int i = 0; i < s->hinge_count && s->awake && !s->direct; i++)
            if (!array_push(w->context, &w->loose_hinges, w->island_hinges.data[s->first_hinge + i]))
                return false;
    }
    for (int64_t k = 0; k < w->loose_hinges.count; k++) {
        const hinge *h = &w->model->hinges[w->loose_hinges.data[k]].h;
        w->hung[h->a + 1] = w->movable[h->a + 1];
        if (h->b >= 0) w->hung[h->b + 1] = w->movable[h->b + 1];
    }
    for (int i = 0; i < w->bodies; i++) w->rests[i].hung = w->hung[i + 1];
    int64_t room = LIVE_HINGE_ROWS * w->loose_hinges.count;
    return array_reserve(w->context, &w->rows, room + 1) && live_plan_loose(w);
}

static bool is_driven(const live_hinge_row *r) { return r->give > 0 || r->lo == 0 || r->is_motor; }

/* Rows at the present poses.  Those with bounds and springs start from their impulses of the last sub-step;
 * to relax, all keep what they have. */
void live_hinges_begin(live *w, bool relax, bool moved) {
    int64_t n = 0, last = w->rows.count;
    live_hinge_row fresh[LIVE_HINGE_ROWS];
    for (int64_t k = 0; k < w->loose_hinges.count; k++) {
        int count = live_hinge_rows(w, w->loose_hinges.data[k], fresh);
        for (int i = 0; i < count; i++, n++) {
            live_hinge_row *r = &w->rows.data[n];
            double impulse = n < last && r->hinge == fresh[i].hinge ? r->impulse : 0;
            *r = fresh[i];
            r->da = respond(w, r->r.a, r->r.ja), r->db = respond(w, r->r.b, r->r.jb);
            double k2 = spatial_dot(r->r.ja, r->da) + spatial_dot(r->r.jb, r->db) + r->give;
            r->mass = k2 > 0 ? 1 / k2 : 0;
            if (!is_driven(r)) r->bias = w->joint_rate * r->r.error; /* what bends is closed at the end */
            if (relax)
                r->impulse = impulse;
            else if (is_driven(r))
                live_push_row(w, r, fmin(fmax(impulse, r->lo), r->hi));
        }
    }
    w->rows.count = n;
    if (moved) live_factor_loose(w);
}

double live_row_rate(const live *w, const live_hinge_row *r) {
    return spatial_dot(r->r.ja, velocity(w, r->r.a)) + spatial_dot(r->r.jb, velocity(w, r->r.b));
}

/* Adds to the impulse of a row.  It turns with the bodies, so it is none of what is repeated as it was in the
 * next sub-step: that would do work. */
void live_push_row(live *w, live_hinge_row *r, double change) {
    r->impulse += change;
    add_velocity(w, r->r.a, spatial_scale(r->da, change));
    add_velocity(w, r->r.b, spatial_scale(r->db, change));
}

/* Where there is no solution of all. */
static void visit_rows(live *w, bool relax) {
    for (int64_t i = 0; i < w->rows.count; i++) {
        live_hinge_row *r = &w->rows.data[i];
        if (is_driven(r)) continue;
        double p = r->impulse - r->mass * (live_row_rate(w, r) + (relax ? 0 : r->bias));
        live_push_row(w, r, fmin(fmax(p, r->lo), r->hi) - r->impulse);
    }
}

void live_hinges_solve(live *w, bool relax) {
    for (int sweep = 0; sweep < 4 && !live_solve_loose(w, relax); sweep++) visit_rows(w, relax);
}

/* ---- what hinges carried */

/* In this sub-step: the force, from the impulses of all rows and of all its pieces so far, the limit that
 * pushed, and whether the motor had its speed. */
static void note_hinge(live *w, const live_hinge_row *rows, int count) {
    int number = rows[0].hinge;
    live_hold *hold = &w->hinge_hold[number];
    vec3 sum = w->in_pieces ? hold->impulse : vec3_zero();
    *hold = (live_hold){0};
    for (int i = 0; i < count; i++) {
        sum = vec3_axpy(sum, rows[i].impulse, rows[i].r.ja.linear);
        if (rows[i].is_motor) hold->motor = fabs(rows[i].impulse) < rows[i].hi;
        if (rows[i].side != 0 && rows[i].impulse > 0) w->hinge_side[number] = hold->limit = rows[i].side;
    }
    hold->impulse = sum;
    w->hinge_force[number] = fmax(w->hinge_force[number], vec3_length(sum) * w->substeps / w->dt);
}

/* Rows of one hinge stand together. */
void live_note_hinges(live *w, const live_hinge_row *rows, int64_t total) {
    for (int64_t i = 0; i < total;) {
        int count = 0;
        while (i + count < total && rows[i + count].hinge == rows[i].hinge) count++;
        if (rows[i].hinge >= 0) note_hinge(w, &rows[i], count);
        i += count;
    }
}
