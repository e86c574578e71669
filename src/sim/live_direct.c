/* Small islands, exactly.  The velocities at the end of a sub-step solve one complementarity problem
 *
 *     w = A z + b,   A = J M^-1 J^T,   b = J v + bias,   lo <= z <= hi      (Stewart and Trinkle 1996)
 *
 * over all rows of the island:
 *
 *     contact point   u + gap / h >= 0  (gap > 0),   u + rate gap >= 0  (overlap),       z >= 0
 *     friction        t1 . u = 0, t2 . u = 0 at the middle of the manifold,              |z| <= mu sum of its
 * points twist           n . (wA - wB) = 0,                                                 |z| <= mu sum of
 * p |r| hinges          as in live_hinge.c
 *
 * Friction bounds follow from the normal impulses of the last solution; a few solutions make them agree.
 * While a manifold slips, t1 points against the slip, so that the box of bounds acts as the cone. */
#include "sim/live.h"

#include "abut/complementarity.h"

enum { ROUNDS = 8 };
#define MOST_TURN 0.02 /* radians within a step by which points of faceted shapes are moved along */

/* How a manifold slides before the sub-step is solved: slip and spin, and what an impulse changes of them. */
typedef struct slide {
    double slip, spin, slip_give, spin_give;
} slide;

typedef struct direct {
    live *w;
    const live_island *island;
    int bodies, rows;
    int *body_of;
    motion *motions;
    body_inertia *inertias;
    spatial *velocities;
    live_hinge_row *row;
    int *manifold_of; /* of a row: entry of the island's contacts; -1: a hinge's */
    int *part_of;     /* point number, or FRICTION1.. */
    double *b, *lo, *hi, *z, *out;
    uint8_t *state;
    row *plain;
    slide *slides; /* by contact of the island */
} direct;
enum { FRICTION1 = 100, FRICTION2, TWIST, ROLL1, ROLL2 };

/* Local numbers: movable bodies first, immovable ones as they come. */
static int local(direct *d, int body) {
    if (body < 0) return -1;
    int place = d->w->local_of[body];
    if (place >= 0 && place < d->bodies && d->body_of[place] == body) return place;
    place = d->bodies++;
    d->w->local_of[body] = place;
    d->body_of[place] = body;
    d->motions[place] = d->w->motions[body];
    d->velocities[place] =
        (spatial){live_vec3(d->w->velocities[body + 1].v), live_vec3(d->w->velocities[body + 1].w)};
    d->motions[place].velocity = d->velocities[place];
    d->inertias[place] = d->w->movable[body + 1] ? d->w->body[body].inertia : body_immovable();
    return place;
}

static void add_row(direct *d, live_hinge_row r, int manifold_number, int part) {
    int i = d->rows++;
    r.r.a = local(d, r.r.a), r.r.b = local(d, r.r.b);
    d->row[i] = r, d->plain[i] = r.r;
    d->manifold_of[i] = manifold_number, d->part_of[i] = part;
    d->lo[i] = r.lo, d->hi[i] = r.hi, d->z[i] = r.impulse;
}

/* ---- contacts */

static live_hinge_row contact_row(const live_contact *c, vec3 ra, vec3 rb, vec3 along) {
    live_hinge_row r = {.r = {.a = c->a, .b = c->b}, .hinge = -1, .lo = 0, .hi = INFINITY};
    r.r.ja = spatial_force_at(along, ra), r.r.jb = spatial_scale(spatial_force_at(along, rb), -1);
    return r;
}

static vec3 middle_of(const live *w, const live_contact *c, const live_point *p) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    return vec3_lerp(vec3_add(a->center, quat_rotate(a->rotation, p->on_a)),
                     vec3_add(b->center, quat_rotate(b->rotation, p->on_b)), 0.5);
}

static vec3 slip_of(const live *w, const live_contact *c, vec3 ra, vec3 rb) {
    spatial a = {live_vec3(w->velocities[c->a + 1].v), live_vec3(w->velocities[c->a + 1].w)};
    spatial b = {live_vec3(w->velocities[c->b + 1].v), live_vec3(w->velocities[c->b + 1].w)};
    vec3 u = vec3_sub(spatial_velocity_at(a, ra), spatial_velocity_at(b, rb));
    return vec3_axpy(u, -vec3_dot(u, c->normal), c->normal);
}

static live_hinge_row spin_row(const live_contact *c, vec3 axis, double impulse) {
    live_hinge_row r = contact_row(c, vec3_zero(), vec3_zero(), axis);
    r.r.ja = (spatial){vec3_zero(), axis}, r.r.jb = (spatial){vec3_zero(), vec3_neg(axis)};
    r.impulse = impulse;
    return r;
}

static void add_friction(direct *d, const live_contact *c, int entry, vec3 ra, vec3 rb, vec3 t1) {
    const abut_friction *f = &live_material(d->w, c->a, c->b)->friction;
    vec3 t2 = vec3_cross(c->normal, t1);
    if (f->stick > 0) {
        live_hinge_row f1 = contact_row(c, ra, rb, t1), f2 = contact_row(c, ra, rb, t2);
        f1.impulse = vec3_dot(c->friction, t1), f2.impulse = vec3_dot(c->friction, t2);
        add_row(d, f1, entry, FRICTION1), add_row(d, f2, entry, FRICTION2);
    }
    if ((f->stick > 0 && c->count > 1) || f->spinning > 0)
        add_row(d, spin_row(c, c->normal, c->twist), entry, TWIST);
    if (f->rolling > 0) {
        /* along the rolling, so that the box of bounds acts as the cone */
        vec3 spin =
            vec3_sub(live_vec3(d->w->velocities[c->a + 1].w), live_vec3(d->w->velocities[c->b + 1].w));
        spin = vec3_axpy(spin, -vec3_dot(spin, c->normal), c->normal);
        vec3 s1 = vec3_length(spin) > 1e-6 ? vec3_unit(spin) : t1, s2 = vec3_cross(c->normal, s1);
        add_row(d, spin_row(c, s1, vec3_dot(c->rolling, s1)), entry, ROLL1);
        add_row(d, spin_row(c, s2, vec3_dot(c->rolling, s2)), entry, ROLL2);
    }
}

/* Curved shapes roll, and a solid that an impact has set spinning comes down on other corners within the
 * step: their contact is found anew in each sub-step. */
static bool is_outdated(const live *w, const live_contact *c) {
    if (w->substep == 0) return false;
    lanes turned = w->moved[c->a + 1].w - w->moved[c->b + 1].w;
    return !(w->faceted[c->a] && w->faceted[c->b]) || vec3_length(live_vec3(turned)) > MOST_TURN;
}

static double spin_give(const live *w, int body, vec3 n) {
    if (!w->movable[body + 1]) return 0;
    spatial couple = {vec3_zero(), n};
    return vec3_dot(n, body_apply(&w->body[body].inertia, w->motions[body].rotation, couple).angular);
}

static slide slide_of(const live *w, const live_contact *c, double slip) {
    vec3 turn = vec3_sub(live_vec3(w->velocities[c->a + 1].w), live_vec3(w->velocities[c->b + 1].w));
    return (slide){slip, fabs(vec3_dot(turn, c->normal)),
                   w->masses[c->a + 1].inverse + w->masses[c->b + 1].inverse,
                   spin_give(w, c->a, c->normal) + spin_give(w, c->b, c->normal)};
}

static void add_contact(direct *d, int entry) {
    live *w = d->w;
    live_contact *c = &w->contacts.data[w->island_contacts.data[d->island->first_contact + entry]];
    if (is_outdated(w, c) && live_collide_again(w, c)) live_take_back(w, c);
    vec3 ca = w->motions[c->a].center, cb = w->motions[c->b].center, middle = vec3_zero();
    for (int i = 0; i < c->count; i++) {
        vec3 at = middle_of(w, c, &c->points[i]);
        middle = vec3_axpy(middle, 1.0 / c->count, at);
        live_hinge_row r = contact_row(c, vec3_sub(at, ca), vec3_sub(at, cb), c->normal);
        double gap = c->points[i].gap + live_moved_gap(w, c, &c->points[i]);
        r.bias = gap > 0 ? gap / w->h : fmax(w->direct_rate * gap, -w->push);
        r.impulse = c->points[i].normal;
        add_row(d, r, entry, i);
    }
    vec3 ra = vec3_sub(middle, ca), rb = vec3_sub(middle, cb), slip = slip_of(w, c, ra, rb);
    double speed = vec3_length(slip);
    vec3 t1 = speed > 1e-6 * w->size ? vec3_scale(slip, 1 / speed) : vec3_orthogonal(c->normal);
    d->slides[entry] = slide_of(w, c, speed);
    add_friction(d, c, entry, ra, rb, t1);
}

/* ---- bounds of friction from normal impulses */

/* While a face slides and spins, each of its points rubs against its own motion, and neither the force F nor
 * the couple T is whole (Contensou).  On the ellipsoid (f / F)^2 + (t / T)^2 = 1 the work of friction is
 * largest at f = F (F u) / D,   t = T (T w) / D,   D^2 = (F u)^2 + (T w)^2 for the slip u and the spin w.
 * What friction can stop within the sub-step does not slide. */
static void share_sliding(const slide *s, double *force, double *couple) {
    double f = *force, t = *couple;
    if (s->slip <= f * s->slip_give && s->spin <= t * s->spin_give) return;
    double d = sqrt(f * s->slip * f * s->slip + t * s->spin * t * s->spin);
    if (!(d > 0)) return;
    *force = f * (f * s->slip / d), *couple = t * (t * s->spin / d);
}

static double lever(const direct *d, int point_row, int friction_row) {
    /* the torque arm of the point about the middle: both have a linear part, and ja = (f, r x f) */
    const live *w = d->w;
    const live_contact *c =
        &w->contacts.data[w->island_contacts.data[d->island->first_contact + d->manifold_of[point_row]]];
    vec3 at = middle_of(w, c, &c->points[d->part_of[point_row]]), middle = vec3_zero();
    (void)friction_row;
    for (int i = 0; i < c->count; i++)
        middle = vec3_axpy(middle, 1.0 / c->count, middle_of(w, c, &c->points[i]));
    return vec3_distance(at, middle);
}

/* True when a bound changed by more than it may. */
static bool update_bounds(direct *d) {
    const live *w = d->w;
    double pressure = 0, couple = 0;
    int first = 0;
    bool changed = false;
    for (int i = 0; i < d->rows; i++) {
        if (d->manifold_of[i] < 0) continue;
        if (d->part_of[i] < FRICTION1) {
            if (d->part_of[i] == 0) pressure = couple = 0, first = i;
            pressure += d->z[i];
            couple += d->z[i] * lever(d, i, first);
            continue;
        }
        const live_contact *c =
            &w->contacts.data[w->island_contacts.data[d->island->first_contact + d->manifold_of[i]]];
        const abut_friction *f = &live_material(w, c->a, c->b)->friction;
        double mu = c->flags & LIVE_SLIPS ? f->slide : f->stick;
        double force = mu * pressure, turning = mu * couple;
        if (turning > 0) share_sliding(&d->slides[d->manifold_of[i]], &force, &turning);
        double limit = d->part_of[i] == TWIST   ? turning + f->spinning * pressure
                       : d->part_of[i] >= ROLL1 ? f->rolling * pressure
                                                : force;
        changed |= fabs(limit - d->hi[i]) > 1e-9 * (limit + fabs(d->hi[i]));
        d->lo[i] = -limit, d->hi[i] = limit;
    }
    return changed;
}

/* ---- the problem */

static bool allocate(direct *d, arena *memory) {
    size_t bodies = 2 * (size_t)d->island->body_count +
                    2 * (size_t)(d->island->contact_count + d->island->hinge_count) + 2;
    /* a manifold that is found anew may have more points than the step began with */
    size_t rows = (MANIFOLD_POINTS + 5) * (size_t)d->island->contact_count +
                  LIVE_HINGE_ROWS * (size_t)d->island->hinge_count + 1;
    d->body_of = arena_alloc(memory, bodies, sizeof *d->body_of);
    d->motions = arena_alloc(memory, bodies, sizeof *d->motions);
    d->inertias = arena_alloc(memory, bodies, sizeof *d->inertias);
    d->velocities = arena_alloc(memory, bodies, sizeof *d->velocities);
    d->row = arena_alloc(memory, rows, sizeof *d->row);
    d->plain = arena_alloc(memory, rows, sizeof *d->plain);
    d->manifold_of = arena_alloc(memory, rows, sizeof *d->manifold_of);
    d->part_of = arena_alloc(memory, rows, sizeof *d->part_of);
    d->b = arena_alloc(memory, rows, sizeof *d->b);
    d->lo = arena_alloc(memory, rows, sizeof *d->lo);
    d->hi = arena_alloc(memory, rows, sizeof *d->hi);
    d->z = arena_alloc(memory, rows, sizeof *d->z);
    d->out = arena_alloc(memory, rows, sizeof *d->out);
    d->state = arena_alloc(memory, rows, sizeof *d->state);
    d->slides = arena_alloc(memory, (size_t)d->island->contact_count + 1, sizeof *d->slides);
    return d->body_of && d->motions && d->inertias && d->velocities && d->row && d->plain && d->manifold_of &&
           d->part_of && d->b && d->lo && d->hi && d->z && d->out && d->state && d->slides;
}

static void add_hinges(direct *d) {
    live *w = d->w;
    live_hinge_row rows[LIVE_HINGE_ROWS];
    for (int k = 0; k < d->island->hinge_count; k++) {
        int number = w->island_hinges.data[d->island->first_hinge + k];
        int count = live_hinge_rows(w, number, rows);
        for (int i = 0; i < count; i++) add_row(d, rows[i], -1, i);
    }
}

static void fill_b(direct *d) {
    for (int i = 0; i < d->rows; i++) {
        const row *r = &d->plain[i];
        double u = 0;
        if (r->a >= 0) u += spatial_dot(r->ja, d->velocities[r->a]);
        if (r->b >= 0) u += spatial_dot(r->jb, d->velocities[r->b]);
        d->b[i] = u + d->row[i].bias;
    }
}

/* Springs give by their own compliance; every row gives by 1e-12 of its own mobility, so that equal rows
 * share. */
static void soften(const direct *d, const row_matrix *m) {
    for (int i = 0; i < d->rows; i++)
        for (int k = m->start[i]; k < m->start[i + 1]; k++)
            if (m->column[k] == i) m->value[k] += d->row[i].give + 1e-10 * m->value[k];
}

static abut_status solve_rounds(direct *d, const row_matrix *m, abut_error *error) {
    abut_lcp problem = {.size = d->rows,
                        .row_start = m->start,
                        .column = m->column,
                        .value = m->value,
                        .b = d->b,
                        .lo = d->lo,
                        .hi = d->hi};
    abut_lcp_config config = abut_default_lcp_config();
    config.skip_unique = config.skip_checks = true;
    abut_lcp_result result;
    update_bounds(d);
    for (int round = 0; round < ROUNDS; round++) {
        config.warm = round > 0;
        abut_error inner = {0};
        abut_status status =
            abut_lcp_solve(d->w->lcp, &problem, &config, d->state, d->z, d->out, &result, &inner);
        if (status == ABUT_NO_MEMORY) return fail_memory(error);
        if (status != ABUT_OK) { /* squeezed by what cannot give, or out of budget: what sweeps reach */
            abut_lcp_config sweeps = config;
            sweeps.method = ABUT_LCP_PGS, sweeps.budget = 200, sweeps.warm = false;
            status = abut_lcp_solve(d->w->lcp, &problem, &sweeps, d->state, d->z, d->out, &result, &inner);
            if (status == ABUT_NO_MEMORY) return fail_memory(error);
        }
        if (!update_bounds(d)) break;
    }
    return ABUT_OK;
}

/* ---- back */

static void apply(direct *d) {
    live *w = d->w;
    for (int i = 0; i < d->rows; i++) {
        const row *r = &d->plain[i];
        int ends[2] = {r->a, r->b};
        for (int k = 0; k < 2; k++) {
            if (ends[k] < 0 || d->inertias[ends[k]].inverse_mass == 0) continue;
            spatial wrench = spatial_scale(k ? r->jb : r->ja, d->z[i]);
            spatial change = body_apply(&d->inertias[ends[k]], d->motions[ends[k]].rotation, wrench);
            d->velocities[ends[k]] = spatial_add(d->velocities[ends[k]], change);
        }
    }
    for (int i = 0; i < d->bodies; i++) {
        if (d->inertias[i].inverse_mass == 0) continue;
        live_velocity *v = &w->velocities[d->body_of[i] + 1];
        v->v = live_lanes(d->velocities[i].linear), v->w = live_lanes(d->velocities[i].angular);
    }
}

static void keep_impulses(direct *d) {
    live *w = d->w;
    for (int i = 0; i < d->rows; i++) {
        d->row[i].impulse = d->z[i];
        if (d->manifold_of[i] < 0) continue;
        live_contact *c =
            &w->contacts.data[w->island_contacts.data[d->island->first_contact + d->manifold_of[i]]];
        if (d->part_of[i] == 0) {
            c->flags &= ~(LIVE_TOUCHING | LIVE_SLIPS);
            c->friction = c->rolling = vec3_zero(), c->twist = 0;
        }
        if (d->part_of[i] < FRICTION1) {
            c->points[d->part_of[i]].normal = d->z[i];
            if (d->z[i] > 0) c->flags |= LIVE_TOUCHING;
        } else if (d->part_of[i] == TWIST) {
            c->twist = d->z[i];
        } else if (d->part_of[i] >= ROLL1) {
            c->rolling = vec3_axpy(c->rolling, d->z[i], d->row[i].r.ja.angular);
        } else {
            c->friction = vec3_axpy(c->friction, d->z[i], d->row[i].r.ja.linear);
            if (d->hi[i] > 0 && fabs(d->z[i]) >= d->hi[i] * (1 - 1e-9)) c->flags |= LIVE_SLIPS;
        }
    }
    for (int i = 0; i < d->rows;) {
        int number = d->row[i].hinge, count = 0;
        while (i + count < d->rows && d->row[i + count].hinge == number) count++;
        if (number >= 0) live_note_force(w, number, &d->row[i], count);
        i += count;
    }
}

abut_status live_solve_direct(live *w, const live_island *island, abut_error *error) {
    arena_mark mark = arena_save(&w->scratch);
    direct d = {.w = w, .island = island};
    abut_status status = ABUT_OK;
    row_matrix m;
    if (!allocate(&d, &w->scratch)) status = fail_memory(error);
    if (status == ABUT_OK) {
        add_hinges(&d);
        for (int k = 0; k < island->contact_count; k++) add_contact(&d, k);
        fill_b(&d);
        status = row_assemble(d.plain, d.rows, d.motions, d.inertias, d.bodies, &w->scratch, &m, error);
    }
    if (status == ABUT_OK) {
        soften(&d, &m);
        status = solve_rounds(&d, &m, error);
    }
    if (status == ABUT_OK) {
        apply(&d);
        keep_impulses(&d);
    }
    arena_restore(&w->scratch, mark);
    return status;
}
