/* Hinges of islands that are too large to be direct, all at once.
 *
 * Contacts of such an island are visited one by one, and that reaches far enough, because a heap passes its
 * loads on to many.  A rope passes all of its load from one hinge to the next: row by row, the pull of n
 * links needs n^2 sweeps to arrive, and it stretches like rubber.  So its hinges are one system of equations,
 *
 *     A p = - (J v + bias),     A = J M^-1 J^T,     a block of six for each hinge,
 *
 * solved by elimination in the order of least degree (numerics/block_lu.h): chains and trees have no fill,
 * and cost as much as their number of hinges.  Hinges and contacts take turns: the contacts push by what they
 * bore before, the hinges answer to that exactly, so nothing of them has to be kept from step to step.
 *
 * Limits, motors and springs are visited row by row before each solution. */
#include "sim/live.h"

#include "numerics/block_lu.h"

enum { ROUNDS = 4, BACK_ROUNDS = 8 };
#define CLOSED 1e-6 /* of the smallest body: hinges that miss by less are not solved again */
#define FAR    0.2  /* misses of more than that are none that Newton's method closes at once */
#define GIVE   1e-9 /* of the own mobility of a row: those of closed loops may say the same */

typedef struct coupling { /* two hinges on one body */
    int a, b;
    bool side_a, side_b; /* whether it is the second body of the hinge */
} coupling;

struct live_loose {
    block_lu matrix;
    int couplings;
    coupling *coupling;
    block_pair *pairs;
    int *head, *next;  /* ends of hinges on each body, twice the hinge and which end: see couple */
    int *found, *seen; /* bodies of a mechanism, and in which one a body was last found */
    int mechanisms;    /* that were looked for */
    int *first;        /* row of each hinge */
    double *change, *last, *work;
    bool solvable;
};

/* Whether the row is an equation; others have bounds, or give. */
static bool holds(const live_hinge_row *r) { return r->side == 0 && !r->is_motor && !(r->give > 0); }

static int body_at(const live *w, int64_t k, bool second) {
    const hinge *h = &w->model->hinges[w->loose_hinges.data[k]].h;
    int body = second ? h->b : h->a;
    return body >= 0 && w->movable[body + 1] ? body : -1;
}

/* The hinges on each body are a list through `next`, one entry for each end of a hinge.  Counts the pairs on
 * one body, or notes them. */
static int couple(const live *w, coupling *out) {
    int count = 0, *head = w->loose->head, *next = w->loose->next;
    for (int i = 0; i < w->bodies; i++) head[i] = -1;
    for (int end = 0; end < 2 * (int)w->loose_hinges.count; end++) {
        int body = body_at(w, end / 2, end % 2);
        if (body < 0) continue;
        for (int other = head[body]; other >= 0; other = next[other], count++)
            if (out) out[count] = (coupling){end / 2, other / 2, end % 2, other % 2};
        next[end] = head[body], head[body] = end;
    }
    return count;
}

static bool allocate_bodies(live *w, live_loose *s, size_t hinges) {
    arena *m = &w->loose_memory;
    size_t bodies = (size_t)w->bodies + 1;
    s->head = arena_alloc(m, bodies, sizeof *s->head);
    s->seen = arena_alloc(m, bodies, sizeof *s->seen);
    s->found = arena_alloc(m, bodies, sizeof *s->found);
    s->next = arena_alloc(m, 2 * hinges, sizeof *s->next);
    s->first = arena_alloc(m, hinges + 1, sizeof *s->first);
    s->change = arena_alloc(m, hinges * BLOCK_SIDE, sizeof *s->change);
    s->last = arena_alloc(m, hinges * BLOCK_SIDE, sizeof *s->last);
    s->work = arena_alloc(m, hinges * BLOCK_SIDE, sizeof *s->work);
    return s->head && s->seen && s->found && s->next && s->first && s->change && s->last && s->work;
}

bool live_plan_loose(live *w) {
    arena *m = &w->loose_memory;
    size_t n = (size_t)w->loose_hinges.count;
    w->loose = NULL;
    if (n == 0) return true;
    arena_restore(m, (arena_mark){0});
    live_loose *s = w->loose = arena_alloc(m, 1, sizeof *s);
    if (!s || !allocate_bodies(w, s, n)) return false;
    s->couplings = couple(w, NULL);
    s->coupling = arena_alloc(m, (size_t)s->couplings + 1, sizeof *s->coupling);
    s->pairs = arena_alloc(m, (size_t)s->couplings + 1, sizeof *s->pairs);
    if (!s->coupling || !s->pairs) return false;
    couple(w, s->coupling);
    for (int i = 0; i < s->couplings; i++) s->pairs[i] = (block_pair){s->coupling[i].a, s->coupling[i].b};
    return block_lu_plan((int)n, s->pairs, s->couplings, m, &s->matrix);
}

/* A_kl += J_k M^-1 J_l^T by the body that is at these ends of both. */
static void add_block(const live *w, double *out, int k, bool side_k, int l, bool side_l) {
    const live_loose *s = w->loose;
    const live_hinge_row *a = &w->rows.data[s->first[k]], *b = &w->rows.data[s->first[l]];
    for (int i = 0; i < s->first[k + 1] - s->first[k]; i++)
        for (int j = 0; j < s->first[l + 1] - s->first[l] && holds(&a[i]); j++)
            if (holds(&b[j]))
                out[BLOCK_SIDE * i + j] +=
                    spatial_dot(side_k ? a[i].r.jb : a[i].r.ja, side_l ? b[j].db : b[j].da);
}

/* The matrix of the rows at hand; those of a hinge stand together, equations first. */
void live_factor_loose(live *w) {
    live_loose *s = w->loose;
    int n = (int)w->loose_hinges.count, at = 0;
    for (int k = 0; k < n; k++) {
        s->first[k] = at;
        while (at < (int)w->rows.count && w->rows.data[at].hinge == w->loose_hinges.data[k]) at++;
    }
    s->first[n] = at;
    block_lu_clear(&s->matrix);
    for (int k = 0; k < n; k++) {
        double *own = block_lu_entry(&s->matrix, k, k);
        add_block(w, own, k, false, k, false), add_block(w, own, k, true, k, true);
        for (int i = 0; i < BLOCK_SIDE; i++) {
            double *entry = &own[(BLOCK_SIDE + 1) * i];
            *entry = *entry > 0 ? *entry * (1 + GIVE) : 1;
        }
    }
    for (int i = 0; i < s->couplings; i++) {
        coupling c = s->coupling[i];
        if (c.a == c.b) continue;
        add_block(w, block_lu_entry(&s->matrix, c.a, c.b), c.a, c.side_a, c.b, c.side_b);
        add_block(w, block_lu_entry(&s->matrix, c.b, c.a), c.b, c.side_b, c.a, c.side_a);
    }
    s->solvable = block_lu_factor(&s->matrix);
}

/* What is to change of the rates of hinges becomes the impulses that change it. */
static void answer(live *w) {
    live_loose *s = w->loose;
    block_lu_solve(&s->matrix, s->change, s->change, s->work);
}

static void push(live *w, const double *change, double sign) {
    const live_loose *s = w->loose;
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++)
            if (holds(&w->rows.data[i]))
                live_push_row(w, &w->rows.data[i], sign * change[BLOCK_SIDE * k + i - s->first[k]]);
}

static void clear(live *w) {
    memset(w->loose->change, 0, (size_t)w->loose_hinges.count * BLOCK_SIDE * sizeof(double));
}

/* False where there is no solution. */
bool live_solve_loose(live *w, bool relax) {
    live_loose *s = w->loose;
    if (!s->solvable) return false;
    clear(w);
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++) {
            const live_hinge_row *r = &w->rows.data[i];
            if (holds(r))
                s->change[BLOCK_SIDE * k + i - s->first[k]] = -live_row_rate(w, r) - (relax ? 0 : r->bias);
        }
    answer(w), push(w, s->change, 1);
    return true;
}

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
        most = fmax(most, fabs(left) / (vec3_length2(rows[i].ja.linear) > 0 ? w->size : 1));
    }
    return most;
}

/* What does not come nearer is taken back: what turns by half a radian or more in the sub-step is no matter
 * of a correction. */
void live_close_loose(live *w) {
    live_loose *s = w->loose;
    double last = FAR;
    for (int round = 0; round < ROUNDS && s->solvable; round++) {
        double most = 0;
        memcpy(s->last, s->change, (size_t)w->loose_hinges.count * BLOCK_SIDE * sizeof *s->last);
        clear(w);
        for (int k = 0; k < (int)w->loose_hinges.count; k++) most = fmax(most, miss(w, k));
        if (!(most < last)) {
            if (round > 0) push(w, s->last, -1);
            return;
        }
        if (most <= CLOSED) return;
        last = 0.5 * most;
        answer(w), push(w, s->change, 1);
    }
}

/* ---- closed after bodies were put back (live_close.c), by the least motion */

static void shift(live *w, int body, spatial way) {
    if (body < 0 || !w->movable[body + 1]) return;
    motion *m = &w->motions[body];
    vec3 u = vec3_scale(way.angular, 0.5);
    m->center = vec3_add(m->center, way.linear);
    m->rotation = quat_unit(quat_mul((quat){1, u.x, u.y, u.z}, m->rotation));
}

/* One step of Newton's method: J M^-1 J^T z = -C, x += M^-1 J^T z.  False where there is nothing to close. */
static bool close_once(live *w) {
    live_loose *s = w->loose;
    double most = 0;
    live_hinges_begin(w, true);
    clear(w);
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++) {
            const live_hinge_row *r = &w->rows.data[i];
            if (!holds(r)) continue;
            s->change[BLOCK_SIDE * k + i - s->first[k]] = -r->r.error;
            most = fmax(most, fabs(r->r.error) / (vec3_length2(r->r.ja.linear) > 0 ? w->size : 1));
        }
    if (!s->solvable || most <= CLOSED) return false;
    double part = fmin(1, FAR / most);
    answer(w);
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++) {
            const live_hinge_row *r = &w->rows.data[i];
            double z = part * s->change[BLOCK_SIDE * k + i - s->first[k]];
            if (!holds(r)) continue;
            shift(w, r->r.a, spatial_scale(r->da, z)), shift(w, r->r.b, spatial_scale(r->db, z));
        }
    return true;
}

static bool any_put_back(const live *w) {
    for (int end = 0; end < 2 * (int)w->loose_hinges.count; end++) {
        int body = body_at(w, end / 2, end % 2);
        if (body >= 0 && w->put_back[body]) return true;
    }
    return false;
}

void live_close_loose_back(live *w) {
    if (!w->loose || !any_put_back(w)) return;
    for (int round = 0; round < BACK_ROUNDS && close_once(w); round++) continue;
    live_hinges_begin(w, true), live_hinges_solve(w, true);
}

/* The bodies that hang together with one by hinges of large islands. */
const int *live_mechanism(live *w, int body, int *count) {
    live_loose *s = w->loose;
    *count = 0;
    if (!s) return NULL;
    int number = ++s->mechanisms;
    s->found[(*count)++] = body, s->seen[body] = number;
    for (int i = 0; i < *count; i++)
        for (int end = s->head[s->found[i]]; end >= 0; end = s->next[end]) {
            int other = body_at(w, end / 2, !(end % 2));
            if (other < 0 || s->seen[other] == number) continue;
            s->found[(*count)++] = other, s->seen[other] = number;
        }
    return s->found;
}
