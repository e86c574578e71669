/* Rows of contacts and friction in islands that are solved directly. */
#include "sim/live_direct.h"

#define MOST_TURN 0.02 /* radians within a step by which points of faceted shapes are moved along */

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

static void add_friction(direct *d, const live_contact *c, int entry, vec3 ra, vec3 rb, vec3 t1, vec3 lead) {
    const abut_friction *f = &live_material(d->w, c->a, c->b)->friction;
    vec3 t2 = vec3_cross(c->normal, t1);
    if (f->stick > 0) {
        live_hinge_row f1 = contact_row(c, ra, rb, t1), f2 = contact_row(c, ra, rb, t2);
        f1.impulse = vec3_dot(c->friction, t1), f2.impulse = vec3_dot(c->friction, t2);
        f1.bias = vec3_dot(lead, t1), f2.bias = vec3_dot(lead, t2);
        direct_add_row(d, f1, entry, FRICTION1), direct_add_row(d, f2, entry, FRICTION2);
    }
    if ((f->stick > 0 && c->count > 1) || f->spinning > 0)
        direct_add_row(d, spin_row(c, c->normal, c->twist), entry, TWIST);
    if (f->rolling > 0) {
        /* along the rolling, so that the box of bounds acts as the cone */
        vec3 spin =
            vec3_sub(live_vec3(d->w->velocities[c->a + 1].w), live_vec3(d->w->velocities[c->b + 1].w));
        spin = vec3_axpy(spin, -vec3_dot(spin, c->normal), c->normal);
        vec3 s1 = vec3_length(spin) > 1e-6 ? vec3_unit(spin) : t1, s2 = vec3_cross(c->normal, s1);
        direct_add_row(d, spin_row(c, s1, vec3_dot(c->rolling, s1)), entry, ROLL1);
        direct_add_row(d, spin_row(c, s2, vec3_dot(c->rolling, s2)), entry, ROLL2);
    }
}

/* Curved shapes roll, and a solid that an impact has set spinning comes down on other corners within the
 * step: their contact is found anew in each sub-step. */
static bool is_outdated(const live *w, const live_contact *c) {
    if (w->at_start) return false;
    four turned = w->moved[c->a + 1].w - w->moved[c->b + 1].w;
    return !(w->faceted[c->a] && w->faceted[c->b]) || vec3_length(live_vec3(turned)) > MOST_TURN;
}

static double spin_give(const live *w, int body, vec3 n) {
    if (!w->movable[body + 1]) return 0;
    spatial couple = {vec3_zero(), n};
    return vec3_dot(n, body_apply(&w->body[body].inertia, w->motions[body].rotation, couple).angular);
}

static vec3 spin_between(const live *w, const live_contact *c) {
    return vec3_sub(live_vec3(w->velocities[c->a + 1].w), live_vec3(w->velocities[c->b + 1].w));
}

/* The mean square of how far its points are from the middle of a manifold. */
static double reach2_of(const live *w, const live_contact *c, vec3 middle) {
    double sum = 0;
    for (int i = 0; i < c->count; i++)
        sum += vec3_length2(vec3_sub(middle_of(w, c, &c->points[i]), middle)) / c->count;
    return sum;
}

static slide slide_of(const live *w, const live_contact *c, vec3 middle, double slip) {
    return (slide){.slip = slip,
                   .spin = fabs(vec3_dot(spin_between(w, c), c->normal)),
                   .reach2 = reach2_of(w, c, middle),
                   .slip_give = (w->masses[c->a + 1].inverse + w->masses[c->b + 1].inverse) / w->unit,
                   .spin_give = spin_give(w, c->a, c->normal) + spin_give(w, c->b, c->normal)};
}

/* ---- the end of slip
 *
 * A block that slides up a slope stands still for an instant, and there the static coefficient decides
 * whether it comes down again.  A sub-step goes over that instant: so where the solution has turned the slip
 * round, or where it began without any, the sub-step is solved anew with the static coefficient. */

/* What the forces of the sub-step, or the function that it follows, changed of a body's velocity before the
 * sub-step is solved. */
static spatial kicked(const live *w, int body) {
    const live_velocity *v = &w->velocities[body + 1], *before = &w->before[body + 1];
    if (w->body[body].kinematic && !w->in_pieces)
        return (spatial){live_vec3(v->v - before->v), live_vec3(v->w - before->w)};
    if (!w->movable[body + 1]) return (spatial){vec3_zero(), vec3_zero()};
    spatial kick = spatial_scale(w->wrenches[body], w->h);
    return body_apply(&w->body[body].inertia, w->motions[body].rotation, kick);
}

/* How it slid and spun before, and whether it did: what bore, as it did then; what is only going to meet, by
 * its speed (live_grip.c). */
static void note_before(const live *w, const live_contact *c, vec3 ra, vec3 rb, vec3 slip, slide *s) {
    spatial a = kicked(w, c->a), b = kicked(w, c->b);
    vec3 u = vec3_sub(slip, vec3_sub(spatial_velocity_at(a, ra), spatial_velocity_at(b, rb)));
    s->before = vec3_axpy(u, -vec3_dot(u, c->normal), c->normal);
    s->turn = vec3_dot(c->normal, vec3_sub(spin_between(w, c), vec3_sub(a.angular, b.angular)));
    double fast = LIVE_FAST * w->model->tolerance.rest_speed;
    double speed2 = vec3_length2(s->before) + s->reach2 * s->turn * s->turn;
    s->loose = c->flags & LIVE_TOUCHING ? c->flags & (LIVE_LOOSE | LIVE_TOLD_SLIP) : speed2 > fast * fast;
}

static double coefficient_of(const live *w, const live_contact *c, const slide *s) {
    const abut_friction *f = &live_material(w, c->a, c->b)->friction;
    return s->loose && !s->stops ? f->slide : f->stick;
}

/* Of the manifold whose friction begins with the row i. */
static bool has_twist(const direct *d, int i) {
    return i + 2 < d->rows && d->part_of[i + 2] == TWIST && d->manifold_of[i + 2] == d->manifold_of[i];
}

void direct_note_stops(direct *d) {
    double slow = 1e-6 * d->w->model->tolerance.rest_speed; /* held: what rounding leaves */
    for (int i = 0; i + 1 < d->rows; i++) {
        if (d->manifold_of[i] < 0 || d->part_of[i] != FRICTION1) continue;
        slide *s = &d->slides[d->manifold_of[i]];
        vec3 after =
            vec3_axpy(vec3_scale(d->row[i].r.ja.linear, d->out[i]), d->out[i + 1], d->row[i + 1].r.ja.linear);
        double turn = has_twist(d, i) ? d->out[i + 2] : 0;
        double speed = sqrt(vec3_length2(after) + s->reach2 * turn * turn);
        if (vec3_dot(s->before, after) + s->reach2 * s->turn * turn <= slow * speed) s->stops = true;
    }
}

/* While a face slides and spins each of its points rubs against its own motion v (Contensou):
 *     f = - mu p v / |v|
 * Below the speed that friction stops within the sub-step a point may stick, and f grows with v. */
static void note_rubbing(const live *w, const live_contact *c, vec3 middle, vec3 t1, slide *s) {
    vec3 t2 = vec3_cross(c->normal, t1), ca = w->motions[c->a].center, cb = w->motions[c->b].center;
    double pressure = 0;
    for (int i = 0; i < c->count; i++) pressure += c->loads[i].normal;
    double slow = coefficient_of(w, c, s) * pressure * s->slip_give;
    for (int i = 0; i < c->count; i++) {
        vec3 at = middle_of(w, c, &c->points[i]);
        vec3 v = slip_of(w, c, vec3_sub(at, ca), vec3_sub(at, cb));
        double speed = fmax(vec3_length(v), slow);
        if (!(speed > 0)) continue;
        v = vec3_scale(v, -1 / speed);
        s->along[i] = vec3_dot(t1, v), s->across[i] = vec3_dot(t2, v);
        s->turning[i] = vec3_triple(c->normal, vec3_sub(at, middle), v);
    }
}

/* ---- rolling, to second order
 *
 * A sub-step strikes where it begins and then moves freely.  Held there, J(x) v = 0, what rolls has left its
 * path by the end, and the next strike takes that from its energy: 1 % in 20 s of a rattleback, whose spin
 * came back half a second early.  So the velocity half way is held at the place of contact half way,
 *
 *     J(x') v' = 0,     to first order in h     J(x) v+ + (J(x') v' - J(x) v) = 0
 *
 * with x', v' from the motion as it is: the difference is the lead of the rows.  It is symmetric in time, as
 * the chord of a hinge.
 *
 * The motion as it is tells where the contact will be only as far as it changes little until then: the arms
 * by no more than a tenth of the radius of their body.  The lowest point of a coin that lands all but flat
 * runs from one side to the other instead, and with a lead of several m/s, to a place at which it never was,
 * the coin left with three times its energy. */

#define MOST_SHIFT 0.1 /* of the radius of a body: what its arm may change in half a sub-step */

static bool rolls(const live *w, const live_contact *c) {
    if (c->count != 1 || !(c->loads[0].normal > 0) || (w->faceted[c->a] && w->faceted[c->b])) return false;
    return w->body[c->a].light && w->body[c->b].light;
}

static motion half_way(const live *w, int body) {
    motion m = w->motions[body];
    m.velocity = (twist){live_vec3(w->velocities[body + 1].v), live_vec3(w->velocities[body + 1].w)};
    if (w->movable[body + 1] || w->body[body].kinematic) live_move_for(w, body, w->h / 2, &m);
    return m;
}

/* How the two move against each other at a contact point, normal part included. */
static vec3 motion_at(const live *w, const live_contact *c, spatial va, spatial vb) {
    vec3 at = middle_of(w, c, &c->points[0]);
    return vec3_sub(spatial_velocity_at(va, vec3_sub(at, w->motions[c->a].center)),
                    spatial_velocity_at(vb, vec3_sub(at, w->motions[c->b].center)));
}

static vec3 arm_of(const live *w, const live_contact *c, int body) {
    return vec3_sub(middle_of(w, c, &c->points[0]), w->motions[body].center);
}

static bool arm_stays(const live *w, int body, vec3 now, vec3 then) {
    return !w->movable[body + 1] || vec3_distance(now, then) <= MOST_SHIFT * w->radii[body];
}

static vec3 lead_of(live *w, const live_contact *c) {
    if (!rolls(w, c)) return vec3_zero();
    motion a = w->motions[c->a], b = w->motions[c->b];
    const live_velocity *va = &w->velocities[c->a + 1], *vb = &w->velocities[c->b + 1];
    vec3 now = motion_at(w, c, (spatial){live_vec3(va->v), live_vec3(va->w)},
                         (spatial){live_vec3(vb->v), live_vec3(vb->w)});
    vec3 ra = arm_of(w, c, c->a), rb = arm_of(w, c, c->b);
    live_contact half = *c;
    w->motions[c->a] = half_way(w, c->a), w->motions[c->b] = half_way(w, c->b);
    vec3 lead = vec3_zero();
    if (live_collide_again(w, &half) && half.count == 1 && arm_stays(w, c->a, ra, arm_of(w, &half, c->a)) &&
        arm_stays(w, c->b, rb, arm_of(w, &half, c->b))) {
        vec3 then = motion_at(w, &half, w->motions[c->a].velocity, w->motions[c->b].velocity);
        double up = vec3_dot(half.normal, then); /* in the frame of the normal, which turns too */
        then = vec3_axpy(vec3_axpy(then, -up, half.normal), up, c->normal);
        lead = vec3_sub(then, now);
        /* away no faster than they come, which would give energy */
        double away = -vec3_dot(lead, c->normal), most = fmax(-vec3_dot(now, c->normal), 0);
        if (away > most) lead = vec3_axpy(lead, away - most, c->normal);
    }
    w->motions[c->a] = a, w->motions[c->b] = b;
    return lead;
}

static live_contact *entry_of(const direct *d, int entry) {
    return &d->w->contacts.data[d->w->island_contacts.data[d->island->first_contact + entry]];
}

/* The contacts of a pair lie one after the other, and are found anew with the first. */
static void renew(direct *d, int entry) {
    live_contact *c = entry_of(d, entry);
    int count = 1;
    if (!is_outdated(d->w, c)) return;
    if (entry > 0 && entry_of(d, entry - 1)->a == c->a && entry_of(d, entry - 1)->b == c->b) return;
    while (entry + count < d->island->contact_count && c[count].a == c->a && c[count].b == c->b) count++;
    live_collide_pair_again(d->w, c, count);
}

void direct_add_contact(direct *d, int entry) {
    live *w = d->w;
    live_contact *c = entry_of(d, entry);
    renew(d, entry);
    vec3 ca = w->motions[c->a].center, cb = w->motions[c->b].center, middle = vec3_zero();
    vec3 lead = lead_of(w, c);
    for (int i = 0; i < c->count; i++) {
        vec3 at = middle_of(w, c, &c->points[i]);
        middle = vec3_axpy(middle, 1.0 / c->count, at);
        live_hinge_row r = contact_row(c, vec3_sub(at, ca), vec3_sub(at, cb), c->normal);
        double gap = c->points[i].gap + live_moved_gap(w, c, &c->points[i]);
        r.bias = gap > 0 ? gap / w->h : fmax(w->direct_rate * gap, -w->push);
        r.bias += vec3_dot(lead, c->normal);
        r.impulse = gap < -LIVE_SQUEEZED * w->size ? 0 : c->loads[i].normal;
        direct_add_row(d, r, entry, i);
    }
    vec3 ra = vec3_sub(middle, ca), rb = vec3_sub(middle, cb), slip = slip_of(w, c, ra, rb);
    double speed = vec3_length(slip);
    vec3 t1 = speed > 1e-6 * w->size ? vec3_scale(slip, 1 / speed) : vec3_orthogonal(c->normal);
    d->slides[entry] = slide_of(w, c, middle, speed);
    note_before(w, c, ra, rb, slip, &d->slides[entry]);
    note_rubbing(w, c, middle, t1, &d->slides[entry]);
    add_friction(d, c, entry, ra, rb, t1, lead);
}

/* ---- bounds of friction from normal impulses */

static live_contact *contact_of(const direct *d, int i) { return entry_of(d, d->manifold_of[i]); }

/* How far the point of a row is from the middle of its manifold. */
static double lever(const direct *d, int i) {
    const live *w = d->w;
    const live_contact *c = contact_of(d, i);
    vec3 at = middle_of(w, c, &c->points[d->part_of[i]]), middle = vec3_zero();
    for (int k = 0; k < c->count; k++)
        middle = vec3_axpy(middle, 1.0 / c->count, middle_of(w, c, &c->points[k]));
    return vec3_distance(at, middle);
}

/* What the points of a manifold bear, and what their friction can do together: held, and while they slide. */
typedef struct burden {
    double pressure, couple, along, across, turning;
} burden;

static void bear(const direct *d, int i, burden *b) {
    const slide *s = &d->slides[d->manifold_of[i]];
    int point = d->part_of[i];
    double p = d->z[i];
    if (point == 0) *b = (burden){0};
    b->pressure += p, b->couple += p * lever(d, i);
    b->along += p * s->along[point], b->across += p * s->across[point], b->turning += p * s->turning[point];
}

/* The bounds of a row of friction.  What friction can stop within the sub-step does not slide.  While it
 * slides, force and couple have the bounds of their sums; the force across the slip is what it is. */
static void bounds_of(const direct *d, int i, const burden *b, double *lo, double *hi) {
    const live_contact *c = contact_of(d, i);
    const abut_friction *f = &live_material(d->w, c->a, c->b)->friction;
    const slide *s = &d->slides[d->manifold_of[i]];
    double mu = coefficient_of(d->w, c, s);
    double force = mu * b->pressure, couple = mu * b->couple, middle = 0;
    bool slides = couple > 0 && (s->slip > force * s->slip_give || s->spin > couple * s->spin_give);
    if (slides) couple = mu * fabs(b->turning);
    if (slides && d->part_of[i] == FRICTION1) force = mu * fabs(b->along);
    if (slides && d->part_of[i] == FRICTION2) middle = mu * b->across, force *= 1e-9;
    double limit = d->part_of[i] == TWIST   ? couple + f->spinning * b->pressure
                   : d->part_of[i] >= ROLL1 ? f->rolling * b->pressure
                                            : force;
    *lo = middle - limit, *hi = middle + limit;
}

/* True when a bound changed by more than it may. */
bool direct_update_bounds(direct *d) {
    burden b = {0};
    bool changed = false;
    for (int i = 0; i < d->rows; i++) {
        if (d->manifold_of[i] < 0) continue;
        if (d->part_of[i] < FRICTION1) {
            bear(d, i, &b);
            continue;
        }
        double lo, hi;
        bounds_of(d, i, &b, &lo, &hi);
        changed |= fabs(hi - d->hi[i]) > 1e-9 * (fabs(hi) + fabs(d->hi[i]));
        d->lo[i] = lo, d->hi[i] = hi;
    }
    return changed;
}

static bool is_bound(const direct *d, int i) {
    return d->hi[i] > 0 && fabs(d->z[i]) >= d->hi[i] * (1 - 1e-9);
}

/* Whether the next sub-step, solved directly or by batches, has the friction of slip. */
static int loosened(const live *w, const live_contact *c) {
    const abut_friction *f = &live_material(w, c->a, c->b)->friction;
    return f->stick > f->slide ? LIVE_LOOSE : 0;
}

/* The impulse of one row, into its contact. */
void direct_keep_contact(const direct *d, int i) {
    live_contact *c = contact_of(d, i);
    if (d->part_of[i] < TWIST) {
        const live *w = d->w;
        double inverse = w->body[c->a].inertia.inverse_mass + w->body[c->b].inertia.inverse_mass;
        live_note_pushed(d->w, c, vec3_scale(d->row[i].r.ja.linear, d->z[i]), inverse,
                         d->part_of[i] == 0 && w->at_start);
    }
    if (d->part_of[i] == 0) {
        c->flags &= LIVE_TOLD_SLIP | LIVE_PUSHED;
        c->friction = c->rolling = vec3_zero(), c->twist = 0;
    }
    if (d->part_of[i] < FRICTION1) {
        c->loads[d->part_of[i]].normal = d->z[i];
        if (d->z[i] > 0) c->flags |= LIVE_TOUCHING;
    } else if (d->part_of[i] == TWIST) {
        c->twist = d->z[i];
        if (c->count > 1 && is_bound(d, i)) c->flags |= loosened(d->w, c);
    } else if (d->part_of[i] >= ROLL1) {
        c->rolling = vec3_axpy(c->rolling, d->z[i], d->row[i].r.ja.angular);
    } else {
        c->friction = vec3_axpy(c->friction, d->z[i], d->row[i].r.ja.linear);
        if (is_bound(d, i)) c->flags |= LIVE_SLIPS | loosened(d->w, c);
    }
}
