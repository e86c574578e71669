/* Springs, between bodies and of hinges.
 *
 * An island that has any and is solved directly goes through a sub-step by itself (live_hinged.c), in pieces
 * so short that its springs swing by a small angle w h in each of them; w is a bound of their frequencies.
 * They are forces then, taken where a piece begins.  Where nothing touches they act for half of the piece
 * before it and for half after, where they are by then, and the energy swings by (w h)^2 / 8; otherwise for
 * all of it before, and it swings by w h / 2, so that pieces are shorter.
 *
 * Springs too stiff for that, or well damped, are rows of the problem, a damped spring integrated implicitly,
 *
 *     p = -h k (x + h x') - h c x',
 *
 * which is stable for any k and c, holds what it holds at rest exactly, and damps what swings.
 *
 * In large islands, which are solved by batches, springs are forces of the sub-step, the stiff ones of
 *
 *     f = (k (x + h x') + c x') / (1 + h (c + h k) / m). */
#include "sim/live_direct.h"

enum { WORK = 1500, MOST_PIECES = 40 }; /* of a sub-step: rows times pieces, pieces */
#define SWING_FREE     0.2              /* radians in a piece */
#define SWING_TOUCHING 0.016
#define MOST_DAMPED    0.05 /* of its speed that a spring's damping takes in a piece */

typedef struct end {
    int body;
    vec3 at, arm, velocity;
} end;

static end spring_end(const live *w, int body, vec3 at) {
    if (body < 0) return (end){-1, at, vec3_zero(), vec3_zero()};
    const motion *m = &w->motions[body];
    vec3 arm = quat_rotate(m->rotation, at);
    spatial v = {live_vec3(w->velocities[body + 1].v), live_vec3(w->velocities[body + 1].w)};
    return (end){body, vec3_add(m->center, arm), arm, spatial_velocity_at(v, arm)};
}

static double mobility(const live *w, int body, spatial wrench) {
    if (body < 0 || !w->movable[body + 1]) return 0;
    return spatial_dot(wrench, body_apply(&w->body[body].inertia, w->motions[body].rotation, wrench));
}

static void pull_end(live *w, int body, spatial wrench) {
    if (body >= 0) w->wrenches[body] = spatial_add(w->wrenches[body], wrench);
}

/* A spring as it is now: its ends, the way from one to the other. */
typedef struct stretched {
    end a, b;
    vec3 n; /* from a to b */
    double stretch, rate, mobility;
} stretched;

static bool stretch(const live *w, const model_spring *s, stretched *out) {
    *out = (stretched){.a = spring_end(w, s->a, s->at_a), .b = spring_end(w, s->b, s->at_b)};
    vec3 d = vec3_sub(out->b.at, out->a.at);
    double length = vec3_length(d);
    if (!(length > 0)) return false; /* it pulls nowhere */
    out->n = vec3_scale(d, 1 / length), out->stretch = length - s->length;
    out->rate = vec3_dot(out->n, vec3_sub(out->b.velocity, out->a.velocity));
    out->mobility = mobility(w, out->a.body, spatial_force_at(out->n, out->a.arm)) +
                    mobility(w, out->b.body, spatial_force_at(out->n, out->b.arm));
    return true;
}

static void pull(live *w, const stretched *s, double force) {
    vec3 f = vec3_scale(s->n, force);
    pull_end(w, s->a.body, spatial_force_at(f, s->a.arm));
    pull_end(w, s->b.body, spatial_scale(spatial_force_at(f, s->b.arm), -1));
}

/* ---- large islands */

void live_springs(live *w) {
    if (w->model->spring_count == 0) return;
    memcpy(w->wrenches, w->constant, (size_t)w->bodies * sizeof *w->wrenches);
    for (int i = 0; i < w->model->spring_count; i++) {
        const model_spring *s = &w->model->springs[i];
        stretched now;
        if (!stretch(w, s, &now)) continue;
        double stiff = w->h * (s->damping + w->h * s->stiffness) * now.mobility;
        double force = s->stiffness * now.stretch + s->damping * now.rate;
        if (stiff > 0.25) force = (force + w->h * s->stiffness * now.rate) / (1 + stiff);
        pull(w, &now, force);
    }
}

/* ---- islands that go by themselves */

static int spring_of(const live *w, const live_island *s, int k) {
    return w->island_springs.data[s->first_spring + k];
}

/* The row of the coordinate of a hinge with a spring, as it is now. */
static bool spring_of_hinge(const live *w, int number, row *r, double *value, double *rate) {
    const hinge *h = &w->model->hinges[number].h;
    if (!(h->stiffness > 0 || h->damping > 0)) return false;
    motion now[2] = {w->motions[h->a], w->motions[h->a]};
    now[0].velocity = (spatial){live_vec3(w->velocities[h->a + 1].v), live_vec3(w->velocities[h->a + 1].w)};
    if (h->b >= 0) {
        now[1] = w->motions[h->b];
        now[1].velocity =
            (spatial){live_vec3(w->velocities[h->b + 1].v), live_vec3(w->velocities[h->b + 1].w)};
    }
    double angle = run_hinges(w->run->state)[number].coordinate;
    bool has = hinge_coordinate(h, &now[0], h->b >= 0 ? &now[1] : NULL, angle, value, rate, r);
    r->a = h->a, r->b = h->b;
    return has;
}

static void pull_spring(live *w, const model_spring *s) {
    stretched now;
    if (!stretch(w, s, &now)) return;
    double damping = s->damping / (1 + w->h * s->damping * now.mobility);
    pull(w, &now, s->stiffness * now.stretch + damping * now.rate);
}

static void pull_hinge(live *w, int number) {
    const hinge *h = &w->model->hinges[number].h;
    double value, rate;
    row r;
    if (!spring_of_hinge(w, number, &r, &value, &rate)) return;
    double m = mobility(w, r.a, r.ja) + mobility(w, r.b, r.jb);
    double force = -h->stiffness * (value - h->rest) - h->damping / (1 + w->h * h->damping * m) * rate;
    pull_end(w, r.a, spatial_scale(r.ja, force));
    pull_end(w, r.b, spatial_scale(r.jb, force));
}

void live_pull_springs(live *w, const live_island *s) {
    for (int k = 0; k < s->body_count; k++) {
        int body = w->island_bodies.data[s->first_body + k];
        w->wrenches[body] = w->constant[body];
    }
    if (!w->springs_pull) return;
    for (int k = 0; k < s->spring_count; k++) pull_spring(w, &w->model->springs[spring_of(w, s, k)]);
    for (int k = 0; k < s->hinge_count; k++) pull_hinge(w, w->island_hinges.data[s->first_hinge + k]);
}

/* ---- how fast they swing
 *
 * With the springs' directions u_i in the space of momenta, M^-1/2 J^T K J M^-1/2 = sum k_i u_i u_i^T.  A
 * spring between two bodies has k u u^T <= 2 k (u_a u_a^T + u_b u_b^T), one at the ground k u_a u_a^T; so the
 * square of each frequency is at most the largest sum of  2 k mobility  over the springs at one body. */

static void add_swing(live *w, int a, int b, double stiffness, const double mobilities[2]) {
    bool both = mobilities[0] > 0 && mobilities[1] > 0;
    double k = both ? 2 * stiffness : stiffness;
    if (a >= 0) w->swings[a] += k * mobilities[0];
    if (b >= 0) w->swings[b] += k * mobilities[1];
}

/* Also the largest rate at which one is damped. */
static double swing_of(live *w, const live_island *s, double *damping) {
    double most = 0;
    for (int k = 0; k < s->body_count; k++) w->swings[w->island_bodies.data[s->first_body + k]] = 0;
    for (int k = 0; k < s->spring_count; k++) {
        const model_spring *spring = &w->model->springs[spring_of(w, s, k)];
        stretched now;
        if (!stretch(w, spring, &now)) continue;
        double m[2] = {mobility(w, now.a.body, spatial_force_at(now.n, now.a.arm)),
                       mobility(w, now.b.body, spatial_force_at(now.n, now.b.arm))};
        add_swing(w, spring->a, spring->b, spring->stiffness, m);
        *damping = fmax(*damping, spring->damping * (m[0] + m[1]));
    }
    for (int k = 0; k < s->hinge_count; k++) {
        int number = w->island_hinges.data[s->first_hinge + k];
        double value, rate;
        row r;
        if (!spring_of_hinge(w, number, &r, &value, &rate)) continue;
        double m[2] = {mobility(w, r.a, r.ja), mobility(w, r.b, r.jb)};
        add_swing(w, r.a, r.b, w->model->hinges[number].h.stiffness, m);
        *damping = fmax(*damping, w->model->hinges[number].h.damping * (m[0] + m[1]));
    }
    for (int k = 0; k < s->body_count; k++)
        most = fmax(most, w->swings[w->island_bodies.data[s->first_body + k]]);
    return sqrt(most);
}

double live_swing(live *w, const live_island *s, double h, bool flies) {
    double damping = 0, swing = swing_of(w, s, &damping);
    double pieces = swing * h / (flies ? SWING_FREE : SWING_TOUCHING);
    int rows = s->points + 5 * s->contact_count + 8 * s->hinge_count + s->body_count;
    w->springs_pull = swing > 0 && pieces <= fmax(1, fmin(MOST_PIECES, WORK / (rows + 1))) &&
                      damping * h <= MOST_DAMPED * fmax(pieces, 1);
    return w->springs_pull ? pieces : 0;
}

/* ---- stiff ones, as rows
 *
 * What swings round bends the way of an end: x + h x' misses the length where the piece ends by the square of
 * the turn, which for a stiff spring is all the force it has.  As of a hinge, what is missed,
 *
 *     d = x(t + h) - (x + h x'),        p = -h k (x + h x' + d) - h c x',
 *
 * is added and the problem solved again. */

void direct_add_springs(direct *d) {
    live *w = d->w;
    if (w->springs_pull) return;
    for (int k = 0; k < d->island->spring_count; k++) {
        const model_spring *s = &w->model->springs[spring_of(w, d->island, k)];
        double stiffness = w->h * (s->damping + w->h * s->stiffness);
        stretched now;
        if (!(stiffness > 0) || !stretch(w, s, &now)) continue;
        live_hinge_row r = {
            .r = {.a = s->a, .b = s->b}, .hinge = -1, .give = 1 / stiffness, .lo = -INFINITY, .hi = INFINITY};
        r.r.ja = spatial_scale(spatial_force_at(now.n, now.a.arm), -1);
        if (s->b >= 0) r.r.jb = spatial_force_at(now.n, now.b.arm);
        r.bias = w->h * s->stiffness * r.give * now.stretch;
        r.r.error = now.stretch, r.spring = spring_of(w, d->island, k);
        direct_add_row(d, r, -1, SPRING);
    }
}

static vec3 end_after(const direct *d, int body, vec3 at) {
    if (body < 0) return at;
    return vec3_add(d->after[body].center, quat_rotate(d->after[body].rotation, at));
}

double direct_miss_spring(direct *d, int i) {
    const live *w = d->w;
    const row *r = &d->plain[i];
    const model_spring *s = &w->model->springs[d->row[i].spring];
    double x = vec3_distance(end_after(d, r->a, s->at_a), end_after(d, r->b, s->at_b)) - s->length;
    double rate = spatial_dot(r->ja, d->motions[r->a].velocity);
    if (r->b >= 0) rate += spatial_dot(r->jb, d->motions[r->b].velocity);
    double missed = x - (d->row[i].r.error + w->h * rate), change = missed - d->row[i].rate;
    d->b[i] += w->h * s->stiffness * d->row[i].give * change;
    d->row[i].rate = missed;
    return fabs(change) / w->size;
}
