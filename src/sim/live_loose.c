/* Hinges of islands that are too large to be direct, all at once.
 *
 * Contacts of such an island are visited one by one, and that reaches far enough, because a heap passes its
 * loads on to many.  A rope passes all of its load from one hinge to the next: row by row, the pull of n
 * links needs n^2 sweeps to arrive, and it stretches like rubber.  So its hinges are one system of equations,
 *
 *     A p = - (J v + bias),     A = J M^-1 J^T,     a block of six for each hinge,
 *
 * solved by elimination in the order of least degree (numerics/block_lu.h): chains and trees have no fill,
 * and cost as much as their number of hinges.  The contacts of the bodies on them push by what they bore
 * before, the hinges answer to that exactly, so nothing of them has to be kept from step to step; limits,
 * motors and springs are rows like those of contacts (live_loose_turn.c).
 *
 * Where the sub-step ends the hinges are closed by impulses where it begins (SHAKE), by Newton's method with
 * J where it ends on the left of A: with J of the beginning the error of a straight rope shrinks by five
 * times the angle that its links turn by, and does not where that is a fifth of a radian.  The contacts
 * answer in each round: what closes the hinges pulls a rope into the beam on which it lies. */
#include "sim/live_loose.h"

enum { RELAXING_TURNS = 2 };
#define STILL 3e-5 /* of the smallest body: turns that move nothing farther in the sub-step are the last */
#define GIVE  1e-9 /* of the own mobility of a row: those of closed loops may say the same */

int loose_body_at(const live *w, int64_t k, bool second) {
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
        int body = loose_body_at(w, end / 2, end % 2);
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
    s->forms = arena_alloc(m, 2 * LIVE_HINGE_ROWS * hinges, sizeof *s->forms);
    s->ends = arena_alloc(m, 2 * LIVE_HINGE_ROWS * hinges, sizeof *s->ends);
    s->change = arena_alloc(m, hinges * BLOCK_SIDE, sizeof *s->change);
    s->work = arena_alloc(m, hinges * BLOCK_SIDE, sizeof *s->work);
    return s->head && s->seen && s->found && s->next && s->first && s->forms && s->ends && s->change &&
           s->work;
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
    return block_lu_plan((int)n, s->pairs, s->couplings, m, &s->matrix) &&
           block_lu_allow_inverse(&s->matrix, m) && loose_plan_contacts(w);
}

/* A_kl += J_k M^-1 J_l^T, J_k where the hinges are to be closed, by the body that is at these ends of both.
 */
static void add_block(const live *w, double *out, int k, bool side_k, int l, bool side_l) {
    const live_loose *s = w->loose;
    const live_hinge_row *a = &w->rows.data[s->first[k]], *b = &w->rows.data[s->first[l]];
    for (int i = 0; i < s->first[k + 1] - s->first[k]; i++)
        for (int j = 0; j < s->first[l + 1] - s->first[l] && loose_holds(&a[i]); j++)
            if (loose_holds(&b[j]))
                out[BLOCK_SIDE * i + j] +=
                    spatial_dot(s->forms[2 * (s->first[k] + i) + side_k], side_l ? b[j].db : b[j].da);
}

void loose_factor(live *w) {
    live_loose *s = w->loose;
    int n = (int)w->loose_hinges.count;
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

/* The matrix of the rows at hand; those of a hinge stand together, equations first. */
void live_factor_loose(live *w) {
    live_loose *s = w->loose;
    int n = (int)w->loose_hinges.count, at = 0;
    for (int k = 0; k < n; k++) {
        s->first[k] = at;
        for (; at < (int)w->rows.count && w->rows.data[at].hinge == w->loose_hinges.data[k]; at++)
            s->forms[2 * at] = w->rows.data[at].r.ja, s->forms[2 * at + 1] = w->rows.data[at].r.jb;
    }
    s->first[n] = at;
    loose_factor(w);
}

/* What is to change of the rates of hinges becomes the impulses that change it. */
void loose_solve(live *w) {
    live_loose *s = w->loose;
    block_lu_solve(&s->matrix, s->change, s->change, s->work);
}

void loose_push(live *w) {
    const live_loose *s = w->loose;
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++)
            if (loose_holds(&w->rows.data[i]))
                live_push_row(w, &w->rows.data[i], s->change[BLOCK_SIDE * k + i - s->first[k]]);
}

void loose_clear(live *w) {
    memset(w->loose->change, 0, (size_t)w->loose_hinges.count * BLOCK_SIDE * sizeof(double));
}

/* False where there is no solution. */
bool live_solve_loose(live *w, bool relax) {
    live_loose *s = w->loose;
    if (!s->solvable) return false;
    loose_clear(w);
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++) {
            const live_hinge_row *r = &w->rows.data[i];
            if (loose_holds(r))
                s->change[BLOCK_SIDE * k + i - s->first[k]] = -live_row_rate(w, r) - (relax ? 0 : r->bias);
        }
    loose_solve(w), loose_push(w);
    return true;
}

/* ---- with contacts */

void loose_answer(live *w, spatial *velocity) {
    live_loose *s = w->loose;
    if (!s->solvable) return;
    loose_clear(w);
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++) {
            const live_hinge_row *r = &w->rows.data[i];
            double rate = 0;
            if (!loose_holds(r)) continue;
            if (r->r.a >= 0) rate += spatial_dot(s->forms[2 * i], velocity[s->member_of[r->r.a]]);
            if (r->r.b >= 0) rate += spatial_dot(s->forms[2 * i + 1], velocity[s->member_of[r->r.b]]);
            s->change[BLOCK_SIDE * k + i - s->first[k]] = -rate;
        }
    loose_solve(w);
    for (int k = 0; k < (int)w->loose_hinges.count; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++) {
            const live_hinge_row *r = &w->rows.data[i];
            double z = s->change[BLOCK_SIDE * k + i - s->first[k]];
            if (!loose_holds(r)) continue;
            spatial *a = r->r.a >= 0 ? &velocity[s->member_of[r->r.a]] : NULL;
            spatial *b = r->r.b >= 0 ? &velocity[s->member_of[r->r.b]] : NULL;
            if (a) *a = spatial_axpy(*a, z, r->da);
            if (b) *b = spatial_axpy(*b, z, r->db);
        }
}

void loose_keep_answer(live *w, double part) {
    const live_loose *s = w->loose;
    for (int k = 0; k < (int)w->loose_hinges.count && s->solvable; k++)
        for (int i = s->first[k]; i < s->first[k + 1]; i++)
            if (loose_holds(&w->rows.data[i]))
                w->rows.data[i].impulse += part * s->change[BLOCK_SIDE * k + i - s->first[k]];
}

/* out -= (M^-1 J_k^T) Z_kl (M^-1 J_l^T)^T  of the rows of two hinges at one body. */
static void take_off(const live *w, int end_k, int end_l, double *out) {
    enum { N = BLOCK_SIDE };
    const live_loose *s = w->loose;
    int k = end_k / 2, l = end_l / 2;
    double z[BLOCK_AREA], part[BLOCK_AREA] = {0}; /* Z_kl (M^-1 J_l^T)^T */
    block_lu_inverse_entry(&s->matrix, k, l, z);
    for (int j = 0; j < s->first[l + 1] - s->first[l]; j++) {
        const live_hinge_row *r = &w->rows.data[s->first[l] + j];
        const double *d = &(end_l % 2 ? &r->db : &r->da)->linear.x;
        for (int i = 0; i < N && loose_holds(r); i++)
            for (int c = 0; c < N; c++) part[N * i + c] += z[N * i + j] * d[c];
    }
    for (int i = 0; i < s->first[k + 1] - s->first[k]; i++) {
        const live_hinge_row *r = &w->rows.data[s->first[k] + i];
        const double *d = &(end_k % 2 ? &r->db : &r->da)->linear.x;
        for (int c = 0; c < N && loose_holds(r); c++)
            for (int e = 0; e < N; e++) out[N * c + e] -= d[c] * part[N * i + e];
    }
}

static void add_free(const live *w, int body, double *out) {
    enum { N = BLOCK_SIDE };
    const body_inertia *b = &w->body[body].inertia;
    mat3 t = body_inverse_inertia(b, w->motions[body].rotation);
    const double *columns = &t.cx.x;
    for (int i = 0; i < 3; i++) out[(N + 1) * i] += b->inverse_mass;
    for (int i = 0; i < 9; i++) out[N * (3 + i % 3) + 3 + i / 3] += columns[i];
}

/* M^-1 - M^-1 J^T A^-1 J M^-1,  of which the hinges on the body itself have all. */
void loose_mobility(const live *w, int body, double out[BLOCK_AREA]) {
    const live_loose *s = w->loose;
    memset(out, 0, BLOCK_AREA * sizeof *out);
    if (!w->movable[body + 1]) return;
    add_free(w, body, out);
    for (int k = s->head[body]; k >= 0 && s->solvable; k = s->next[k])
        for (int l = s->head[body]; l >= 0; l = s->next[l]) take_off(w, k, l, out);
}

static spatial free_response(const live *w, int body, spatial wrench) {
    return body_apply(&w->body[body].inertia, w->motions[body].rotation, wrench);
}

/* - J M^-1 of the hinges on a body, J where they are to be closed. */
static void fill_wide(live *w, int body) {
    enum { N = BLOCK_SIDE };
    live_loose *s = w->loose;
    memset(s->used, 0, (size_t)w->loose_hinges.count);
    for (int end = s->head[body]; end >= 0; end = s->next[end]) {
        double *block = &s->wide[(size_t)(end / 2) * BLOCK_AREA];
        if (!s->used[end / 2]) memset(block, 0, BLOCK_AREA * sizeof *block);
        s->used[end / 2] = true;
        for (int i = s->first[end / 2]; i < s->first[end / 2 + 1]; i++) {
            if (!loose_holds(&w->rows.data[i])) continue;
            spatial d = free_response(w, body, s->forms[2 * i + end % 2]);
            for (int k = 0; k < N; k++) block[N * (i - s->first[end / 2]) + k] -= (&d.linear.x)[k];
        }
    }
}

/* What the answer of the hinges does to another one. */
static void add_answer(const live *w, int body, double *out) {
    enum { N = BLOCK_SIDE };
    const live_loose *s = w->loose;
    for (int end = s->head[body]; end >= 0; end = s->next[end]) {
        const double *block = &s->wide[(size_t)(end / 2) * BLOCK_AREA];
        for (int i = s->first[end / 2]; i < s->first[end / 2 + 1] && s->used[end / 2]; i++) {
            const live_hinge_row *r = &w->rows.data[i];
            const double *d = &(end % 2 ? &r->db : &r->da)->linear.x;
            for (int k = 0; k < N && loose_holds(r); k++)
                for (int c = 0; c < N; c++) out[N * k + c] += d[k] * block[N * (i - s->first[end / 2]) + c];
        }
    }
}

/* Columns of W_ab = M_a^-1 (1_ab - J_a^T A^-1 J_b M_b^-1). */
void loose_respond_known(live *w, int known) {
    live_loose *s = w->loose;
    int body = s->body[s->known[known]], n = (int)w->loose_hinges.count;
    fill_wide(w, body);
    block_lu_solve_wide(&s->matrix, s->wide, s->used, s->wide_work, s->used + n);
    for (int other = 0; other < s->knowns; other++) {
        double *out = &s->response[(size_t)(LOOSE_KNOWN * other + known) * BLOCK_AREA];
        memset(out, 0, BLOCK_AREA * sizeof *out);
        if (other == known) add_free(w, body, out);
        add_answer(w, s->body[s->known[other]], out);
    }
}

/* ---- the stages of a sub-step */

void live_loose_begin(live *w, int number) {
    w->loose->open = false;
    live_hinges_begin(w, false, number == 0);
    loose_find_rows(w, false, number);
    loose_push_contacts(w);
    live_hinges_solve(w, false);
    loose_choose_known(w);
}

void live_loose_turn(live *w, bool last) {
    live_loose *s = w->loose;
    if (!s->still || s->mixed) s->still = loose_turn(w) * w->h <= STILL * w->size;
    if (last) loose_close(w), loose_note_pressed(w);
}

void live_loose_relax(live *w, int number, bool last) {
    live_loose *s = w->loose;
    loose_keep_rows(w);
    for (int round = 0; s->open && round < LOOSE_BACK_ROUNDS; round++) s->open = loose_close_back(w);
    live_hinges_begin(w, true, true);
    loose_find_rows(w, true, number);
    live_hinges_solve(w, true);
    s->knowns = 0;
    for (int k = 0; k < RELAXING_TURNS; k++) loose_turn(w);
    live_note_hinges(w, w->rows.data, w->rows.count);
    loose_end_rows(w, number, last);
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
            int other = loose_body_at(w, end / 2, !(end % 2));
            if (other < 0 || s->seen[other] == number) continue;
            s->found[(*count)++] = other, s->seen[other] = number;
        }
    return s->found;
}
