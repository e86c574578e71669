/* Impulses of the contacts of bodies on loose hinges, and of limits, motors and springs of those.
 *
 * Gauss-Seidel with the mass of the body alone is slow by as much as the hinges carry: a link that holds a
 * rope of 200 over a beam is given the 200th part of the push that it needs.  With what the hinges answer the
 * rates u of all rows are
 *
 *     W = J_c (M^-1 - M^-1 J^T (J M^-1 J^T)^-1 J M^-1) J_c^T,       u = W p + b,
 *
 * The few bodies that bear most (known) are solved exactly, row by row, each visit moving all of them; for
 * that W is known between them.  Of the others a visit divides by what W has for the body itself
 * (loose_mobility) and moves that one; what the rest feels of it through the hinges comes after all rows were
 * visited, exactly and at once.  Bodies that hang together may then answer to the same need each, so of the
 * change d of all impulses the part is taken that is best,
 *
 *     min E(p + s d),  E = p (W + give) p / 2 + b p:     s = - d (u + bias + give p) / d (W + give) d,  s <=
 * 1
 *
 * With the bounds of friction as they were before the turn such a part always exists.  The sum d u over rows
 * is f . v over bodies, f the wrenches of the changes. */
#include "sim/live_loose.h"

enum { SWEEPS = 16 }; /* over those that bear most, in a turn */

static double rate(const live_loose *s, const loose_row *r) {
    double u = spatial_dot(r->ja, s->velocity[r->a]);
    return r->b >= 0 ? u + spatial_dot(r->jb, s->velocity[r->b]) : u;
}

static void set(live_loose *s, loose_row *r, double p) {
    double change = p - r->impulse;
    if (change == 0) return;
    r->impulse = p;
    s->velocity[r->a] = spatial_axpy(s->velocity[r->a], change, r->wa);
    s->wrench[r->a] = spatial_axpy(s->wrench[r->a], change, r->ja);
    if (r->b < 0) return;
    s->velocity[r->b] = spatial_axpy(s->velocity[r->b], change, r->wb);
    s->wrench[r->b] = spatial_axpy(s->wrench[r->b], change, r->jb);
}

static void visit(live_loose *s, loose_row *r) {
    if (!(r->own > 0)) return;
    double p = r->impulse - (rate(s, r) + r->bias + r->give * r->impulse) / (r->own + r->give);
    set(s, r, fmin(fmax(p, r->lo), r->hi));
}

/* Two rows, their impulses within a disc. */
static void visit_disc(live_loose *s, loose_row r[2], double limit) {
    double p[2];
    for (int i = 0; i < 2; i++) p[i] = r[i].own > 0 ? r[i].impulse - rate(s, &r[i]) / r[i].own : 0;
    double size = sqrt(p[0] * p[0] + p[1] * p[1]), part = size > limit ? limit / size : 1;
    for (int i = 0; i < 2; i++) set(s, &r[i], part * p[i]);
}

static void visit_contact(live_loose *s, const loose_contact *l) {
    loose_row *r = &s->row[l->first], *f = r + l->points;
    f[2].hi = l->twist, f[2].lo = -l->twist;
    visit(s, &f[2]);
    if (l->rolling > 0) visit_disc(s, &f[3], l->roll);
    visit_disc(s, f, l->force);
    for (int i = 0; i < l->points; i++) visit(s, &r[i]);
    for (int i = l->points - 2; i >= 0; i--) visit(s, &r[i]);
}

/* What friction may be by the pressures at hand; what it is more comes off.  True where it is more. */
static bool cut(live_loose *s, loose_row *r, int rows, double limit) {
    double size =
        rows == 1 ? fabs(r->impulse) : sqrt(r[0].impulse * r[0].impulse + r[1].impulse * r[1].impulse);
    if (size <= limit * (1 + 1e-9)) return false;
    for (int i = 0; i < rows; i++) set(s, &r[i], r[i].impulse * limit / size);
    return true;
}

static bool cut_friction(live_loose *s, loose_contact *l) {
    loose_row *r = &s->row[l->first], *f = r + l->points;
    double pressure = 0, couple = 0;
    for (int i = 0; i < l->points; i++) pressure += r[i].impulse, couple += r[i].impulse * r[i].lever;
    l->force = l->coefficient * pressure, l->roll = l->rolling * pressure;
    l->twist = l->coefficient * couple + l->spinning * pressure;
    bool over = cut(s, f, 2, l->force);
    over |= cut(s, f + 2, 1, l->twist);
    return (l->rolling > 0 && cut(s, f + 3, 2, l->roll)) || over;
}

static spatial velocity_of(const live *w, int body) {
    return (spatial){live_vec3(w->velocities[body + 1].v), live_vec3(w->velocities[body + 1].w)};
}

/* M^-1 f, and what the hinges answer. */
static void respond(live *w) {
    live_loose *s = w->loose;
    for (int i = 0; i < s->members; i++) {
        int body = s->body[i];
        s->answer[i] = (spatial){{0, 0, 0}, {0, 0, 0}};
        if (w->movable[body + 1])
            s->answer[i] = body_apply(&w->body[body].inertia, w->motions[body].rotation, s->wrench[i]);
    }
    loose_answer(w, s->answer);
}

/* Contacts of these bodies are none of what is repeated body by body (live_substep.c). */
static void apply(live *w, double part) {
    live_loose *s = w->loose;
    for (int i = 0; i < s->members; i++) {
        int slot = s->body[i] + 1;
        if (!w->movable[slot]) continue;
        four v = part * live_four(s->answer[i].linear), a = part * live_four(s->answer[i].angular);
        w->velocities[slot].v += v, w->velocities[slot].w += a;
        w->before[slot].v += v, w->before[slot].w += a;
    }
    loose_keep_answer(w, part);
}

static double best_part(const live *w) {
    const live_loose *s = w->loose;
    double slope = 0, bend = 0;
    for (int i = 0; i < s->members; i++) {
        slope += spatial_dot(s->wrench[i], velocity_of(w, s->body[i]));
        bend += spatial_dot(s->wrench[i], s->answer[i]);
    }
    for (int i = 0; i < s->rows; i++) {
        const loose_row *r = &s->row[i];
        double d = r->impulse - r->last;
        slope += d * (r->bias + r->give * r->last), bend += r->give * d * d;
    }
    return bend > 0 ? fmin(fmax(-slope / bend, 0), 1) : 0;
}

void loose_push_contacts(live *w) {
    live_loose *s = w->loose;
    memset(s->wrench, 0, (size_t)s->members * sizeof *s->wrench);
    for (int i = s->driven; i < s->rows; i++) {
        const loose_row *r = &s->row[i];
        s->wrench[r->a] = spatial_axpy(s->wrench[r->a], r->impulse, r->ja);
        if (r->b >= 0) s->wrench[r->b] = spatial_axpy(s->wrench[r->b], r->impulse, r->jb);
    }
    respond(w), apply(w, 1);
}

static void begin_turn(live *w) {
    live_loose *s = w->loose;
    memset(s->wrench, 0, (size_t)s->members * sizeof *s->wrench);
    for (int i = 0; i < s->members; i++) s->velocity[i] = velocity_of(w, s->body[i]);
}

/* ---- those that bear most, exactly: each visit moves all known bodies */

static bool is_on_hinge(const live *w, int member) { return w->hung[w->loose->body[member] + 1]; }

/* The speed that a row has to change, or does by the impulse that it has. */
static double burden_of(const live_loose *s, const loose_row *r) {
    return fmax(r->impulse * r->own, -(rate(s, r) + r->bias));
}

static void find_burdens(live *w) {
    live_loose *s = w->loose;
    begin_turn(w);
    memset(s->burden, 0, (size_t)s->members * sizeof *s->burden);
    for (int i = 0; i < s->contacts; i++)
        for (int k = 0; k < s->contact[i].points; k++) {
            const loose_row *r = &s->row[s->contact[i].first + k];
            double u = burden_of(s, r);
            s->burden[r->a] = fmax(s->burden[r->a], u), s->burden[r->b] = fmax(s->burden[r->b], u);
        }
}

void loose_choose_known(live *w) {
    live_loose *s = w->loose;
    find_burdens(w);
    for (int i = 0; i < s->members; i++) s->known_of[i] = -1;
    for (s->knowns = 0; s->knowns < LOOSE_KNOWN && s->solvable; s->knowns++) {
        int best = -1;
        for (int i = 0; i < s->members; i++) {
            bool may = s->known_of[i] < 0 && s->burden[i] > 0 && is_on_hinge(w, i);
            if (may && (best < 0 || s->burden[i] > s->burden[best])) best = i;
        }
        if (best < 0) break;
        s->known[s->knowns] = best, s->known_of[best] = s->knowns;
    }
    for (int k = 0; k < s->knowns; k++) loose_respond_known(w, k);
    for (int i = 0; i < s->contacts; i++) {
        const loose_row *r = &s->row[s->contact[i].first];
        s->contact[i].known = (s->known_of[r->a] >= 0 || !is_on_hinge(w, r->a)) &&
                              (s->known_of[r->b] >= 0 || !is_on_hinge(w, r->b));
    }
}

static void spread(live_loose *s, int member, spatial wrench) {
    enum { N = BLOCK_SIDE };
    int known = s->known_of[member];
    const double *f = &wrench.linear.x;
    for (int k = 0; k < s->knowns && known >= 0; k++) {
        if (k == known) continue;
        const double *g = &s->response[(size_t)(LOOSE_KNOWN * k + known) * BLOCK_AREA];
        double *v = &s->velocity[s->known[k]].linear.x;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) v[i] += g[N * i + j] * f[j];
    }
}

static void visit_known(live_loose *s, loose_contact *l) {
    loose_row *r = &s->row[l->first];
    spatial a = s->wrench[r->a], b = s->wrench[r->b];
    cut_friction(s, l);
    visit_contact(s, l);
    spread(s, r->a, spatial_axpy(s->wrench[r->a], -1, a));
    spread(s, r->b, spatial_axpy(s->wrench[r->b], -1, b));
}

/* True where all contacts are known. */
static bool turn_known(live *w) {
    live_loose *s = w->loose;
    bool all = s->driven == 0;
    begin_turn(w);
    for (int i = 0; i < s->rows; i++) s->row[i].last = s->row[i].impulse;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 0; i < s->contacts; i++)
            if (s->contact[i].known) visit_known(s, &s->contact[i]);
    for (int i = 0; i < s->contacts; i++) all &= s->contact[i].known;
    respond(w), apply(w, 1);
    return all;
}

static double largest_change(const live_loose *s) {
    double most = 0;
    for (int i = 0; i < s->rows; i++)
        most = fmax(most, fabs(s->row[i].impulse - s->row[i].last) * s->row[i].own);
    return most;
}

/* All rows, those of bodies that bear less each by itself. */
static void turn_all(live *w) {
    live_loose *s = w->loose;
    bool over = false;
    begin_turn(w);
    for (int i = 0; i < s->contacts; i++) over |= cut_friction(s, &s->contact[i]);
    if (over) respond(w), apply(w, 1), begin_turn(w);
    for (int i = 0; i < s->rows; i++) s->row[i].last = s->row[i].impulse;
    for (int i = 0; i < s->driven; i++) visit(s, &s->row[i]);
    for (int i = 0; i < s->contacts; i++) visit_contact(s, &s->contact[i]);
    respond(w);
    double part = best_part(w);
    apply(w, part);
    for (int i = 0; i < s->rows; i++) {
        loose_row *r = &s->row[i];
        r->impulse = r->last + part * (r->impulse - r->last);
        if (i < s->driven) w->rows.data[s->driven_row[i]].impulse = r->impulse;
    }
}

double loose_turn(live *w) {
    live_loose *s = w->loose;
    double change = 0;
    if (s->rows == 0) return 0;
    if (s->knowns > 0) {
        bool all = turn_known(w);
        change = largest_change(s);
        if (all) return change;
    }
    turn_all(w);
    return fmax(change, largest_change(s));
}
