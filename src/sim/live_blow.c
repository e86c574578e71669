/* The law of a blow between two bodies, as that of the exact clock (dynamics/impact.h): pressures and
 * friction of all points that meet are one problem,
 *
 *     u+ = u- + W p,    0 <= p_n  _|_  u_n+ + e u_n- >= 0,    |f| <= mu p_n,  f against the slip that is left
 *
 * with the cone of the static coefficient for points that stick in the end, of the sliding one for those that
 * slip; couples against rolling and spinning have cones of their own.  (Pressures first and friction after
 * them, as it was, set a cube that came down flat and slipping tumbling, and had a corner leave at another
 * speed than e times that of its approach.)
 *
 * Projected Gauss-Seidel over the points: a pressure by its own mass, friction by the larger one of its
 * plane, so that it ends against the slip, then back into the disc.  W has at most six dimensions of 24,
 * which sweeps do not mind: where the sharing of impulses is open, the velocities are not.
 *
 * Poisson's law: compression ends with u_n >= 0, expansion gives at least e times its pressures.
 *
 * Newton's law with friction can create energy (Kane and Levinson 1985); then as much of the restitution is
 * taken as does not. */
#include "sim/live.h"

enum { FORCES = 3, ALL_ROWS = 6, ROWS = MANIFOLD_POINTS * ALL_ROWS, SWEEPS = 500, PARTS = 12 };
#define ENOUGH   1e-10 /* of the speeds: changes of less end the sweeps */
#define ROUNDING 1e-9  /* of the work of all impulses: sweeps know energy to that */
#define SCALE    1e-6  /* to which the part of the restitution is found */

typedef struct wrench {
    spatial ja, jb; /* on both bodies, of a unit impulse */
    spatial da, db; /* and what it does to their velocities */
} wrench;

/* Of each point: pressure, friction (2), and where the material has it rolling (2) and spinning resistance.
 */
typedef struct problem {
    int points, each, rows;
    abut_friction friction;
    wrench row[ROWS];
    double matrix[ROWS][ROWS];
    double step[ROWS]; /* inverse of the (largest) mobility of a block */
    double start[ROWS], u[ROWS], p[ROWS];
    double restitution[MANIFOLD_POINTS];
    double target[MANIFOLD_POINTS], least[MANIFOLD_POINTS], mu[MANIFOLD_POINTS];
    double speed; /* the largest at the start */
} problem;

/* ---- the problem */

static spatial respond(const live *w, int body, spatial j) {
    if (!w->movable[body + 1]) return (spatial){{0, 0, 0}, {0, 0, 0}};
    return body_apply(&w->body[body].inertia, w->motions[body].rotation, j);
}

static void add_row(const live *w, const live_contact *c, problem *q, spatial ja, spatial jb) {
    wrench *r = &q->row[q->rows];
    r->ja = ja, r->jb = spatial_scale(jb, -1);
    r->da = respond(w, c->a, r->ja), r->db = respond(w, c->b, r->jb);
    q->start[q->rows++] =
        spatial_dot(r->ja, w->motions[c->a].velocity) + spatial_dot(r->jb, w->motions[c->b].velocity);
}

static void add_point(const live *w, const live_blow *b, problem *q, int i) {
    const live_contact *c = b->c;
    vec3 t1 = vec3_orthogonal(c->normal), axis[3] = {c->normal, t1, vec3_cross(c->normal, t1)};
    for (int k = 0; k < FORCES; k++)
        add_row(w, c, q, spatial_force_at(axis[k], b->ra[i]), spatial_force_at(axis[k], b->rb[i]));
    for (int k = FORCES; k < q->each; k++) {
        spatial couple = {vec3_zero(), axis[(k + 1) % 3]}; /* in the plane, then about the normal */
        add_row(w, c, q, couple, couple);
    }
    q->points++;
}

/* The larger eigenvalue of two rows, or the one of one, inverted. */
static void find_step(problem *q, int first, int count) {
    double a = q->matrix[first][first], most = a;
    if (count == 2) {
        double d = q->matrix[first + 1][first + 1], b = q->matrix[first][first + 1], half = (a - d) / 2;
        most = (a + d) / 2 + sqrt(half * half + b * b);
    }
    for (int i = 0; i < count; i++) q->step[first + i] = most > 0 ? 1 / most : 0;
}

static void fill_matrix(problem *q) {
    for (int i = 0; i < q->rows; i++)
        for (int k = 0; k < q->rows; k++)
            q->matrix[i][k] =
                spatial_dot(q->row[i].ja, q->row[k].da) + spatial_dot(q->row[i].jb, q->row[k].db);
    for (int i = 0; i < q->rows; i += q->each) {
        find_step(q, i, 1), find_step(q, i + 1, 2);
        if (q->each > FORCES) find_step(q, i + 3, 2), find_step(q, i + 5, 1);
    }
    for (int i = 0; i < q->rows; i++) q->speed = fmax(q->speed, fabs(q->start[i]));
}

/* ---- sweeps */

static double larger(double a, double b) { return a > b ? a : b; }

static void push(problem *q, int which, double change) {
    if (change == 0) return;
    q->p[which] += change;
    for (int i = 0; i < q->rows; i++) q->u[i] += q->matrix[i][which] * change;
}

/* A block that wants no motion within a disc; returns by how much a speed changed. */
static double hold(problem *q, int first, int count, double limit) {
    double x[2] = {0, 0}, square = 0, moved = 0;
    for (int i = 0; i < count; i++) {
        x[i] = q->p[first + i] - q->step[first] * q->u[first + i];
        square += x[i] * x[i];
    }
    double part = square > limit * limit ? limit / sqrt(square) : 1;
    for (int i = 0; i < count; i++) {
        double change = part * x[i] - q->p[first + i];
        push(q, first + i, change);
        moved = larger(moved, fabs(change));
    }
    return q->step[first] > 0 ? moved / q->step[first] : 0;
}

static double visit(problem *q, int i) {
    int r = i * q->each;
    double p = larger(q->p[r] + q->step[r] * (q->target[i] - q->u[r]), q->least[i]), change = p - q->p[r];
    double moved = q->step[r] > 0 ? fabs(change) / q->step[r] : 0;
    push(q, r, change);
    moved = larger(moved, hold(q, r + 1, 2, q->mu[i] * p));
    if (q->each == FORCES) return moved;
    moved = larger(moved, hold(q, r + 3, 2, q->friction.rolling * p));
    return larger(moved, hold(q, r + 5, 1, q->friction.spinning * p));
}

static void sweep(problem *q) {
    for (int k = 0; k < SWEEPS; k++) {
        double moved = 0;
        for (int i = 0; i < q->points; i++) moved = larger(moved, visit(q, i));
        if (moved <= ENOUGH * q->speed) return;
    }
}

static bool is_at_edge(const problem *q, int i) {
    const double *p = &q->p[i * q->each];
    return p[0] > 0 && sqrt(p[1] * p[1] + p[2] * p[2]) >= q->mu[i] * p[0] * (1 - 1e-9);
}

/* Points that the static coefficient does not hold slip with the other one; which may make others slip. */
static void solve(problem *q) {
    bool holds[MANIFOLD_POINTS], changed = true;
    memset(q->p, 0, sizeof q->p);
    for (int i = 0; i < q->points; i++) holds[i] = true, q->mu[i] = q->friction.stick;
    for (int round = 0; round <= q->points && changed; round++) {
        sweep(q);
        changed = false;
        for (int i = 0; i < q->points && q->friction.slide < q->friction.stick; i++) {
            if (!holds[i] || !is_at_edge(q, i)) continue;
            holds[i] = false, changed = true;
            q->mu[i] = q->friction.slide;
        }
    }
}

/* ---- restitution */

/* The whole blow with a part of its restitution. */
static void attempt(problem *q, abut_restitution_law law, double part) {
    bool newton = law == ABUT_NEWTON;
    memcpy(q->u, q->start, sizeof q->u);
    for (int i = 0; i < q->points; i++) {
        q->target[i] = newton ? -part * q->restitution[i] * q->start[i * q->each] : 0;
        q->least[i] = 0;
    }
    solve(q);
    if (newton) return;
    double compression[ROWS];
    memcpy(compression, q->p, sizeof compression);
    for (int i = 0; i < q->points; i++) q->least[i] = part * q->restitution[i] * q->p[i * q->each];
    solve(q);
    for (int i = 0; i < q->rows; i++) q->p[i] += compression[i];
}

/* Twice E+ - E- = p . (u+ + u-) / 2, without what bodies that move by themselves gave. */
static double gain(const problem *q) {
    double work = 0;
    for (int i = 0; i < q->rows; i++) work += q->p[i] * (q->start[i] + q->u[i]);
    return work;
}

static double rounding_of_gain(const problem *q) {
    double size = 0;
    for (int i = 0; i < q->rows; i++) size += fabs(q->p[i]) * (fabs(q->start[i]) + fabs(q->u[i]));
    return ROUNDING * size;
}

/* The part of the restitution with which the gain is none: by the secant, from the side that gains nothing
 * (regula falsi; the weight of an end that stays is halved). */
static void strike(problem *q, abut_restitution_law law) {
    attempt(q, law, 1);
    double bad = 1, high = gain(q), good = 0;
    if (high <= rounding_of_gain(q)) return;
    attempt(q, law, good);
    double low = gain(q);
    int side = 0;
    for (int k = 0; k < PARTS && low < -rounding_of_gain(q) && bad - good > SCALE; k++) {
        double part = (good * high - bad * low) / (high - low);
        attempt(q, law, part);
        double now = gain(q);
        if (now > 0) {
            bad = part, high = now;
            if (side > 0) low /= 2;
            side = 1;
        } else {
            good = part, low = now;
            if (side < 0) high /= 2;
            side = -1;
        }
    }
    attempt(q, law, good);
}

/* The bodies are where they meet, with the velocities of that time in their motions. */
void live_solve_blow(const live *w, live_blow *b, spatial change[2]) {
    const live_contact *c = b->c;
    const model_material *m = live_material(w, c->a, c->b);
    problem q = {.friction = m->friction};
    q.each = m->friction.rolling > 0 || m->friction.spinning > 0 ? ALL_ROWS : FORCES;
    for (int i = 0; i < c->count; i++)
        if (b->active[i]) add_point(w, b, &q, i);
    for (int i = 0; i < q.points; i++)
        q.restitution[i] = -q.start[i * q.each] > w->model->tolerance.rest_speed ? m->restitution : 0;
    fill_matrix(&q);
    strike(&q, w->model->world.restitution_law);
    change[0] = change[1] = (spatial){{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < q.rows; i++) {
        const wrench *r = &q.row[i];
        change[0] = spatial_add(change[0], spatial_scale(r->da, q.p[i]));
        change[1] = spatial_add(change[1], spatial_scale(r->db, q.p[i]));
        b->impulse = vec3_axpy(b->impulse, q.p[i], r->ja.linear);
    }
}
