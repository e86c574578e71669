/* The kernels of the live solver, eight contacts at a time (Silcowitz et al., section 4: projected
 * Gauss-Seidel; here with soft contacts and sub-steps).  Included by live_solve.c for every processor, and by
 * live_solve_avx2.c.
 *
 * For a point with the arms ra + d, rb + d (those of the middle of the manifold, and d from there) and the
 * normal n (from B to A) the normal velocity is
 *
 *     u = n . (vA + wA x ra - vB - wB x rb) + e . (wA - wB),     e = d x n
 *     1 / mass = 1/mA + 1/mB + ja . IA^-1 ja + jb . IB^-1 jb,    ja = ra x n + e,  jb = rb x n + e
 *
 * and one visit changes its impulse p >= 0 by
 *
 *     gap > 0:    dp = -mass (u + gap / h)                         may just close the gap in this sub-step
 *     gap <= 0:   dp = -mass scale (u + rate gap) - soften (p - q)+
 *                                                                  a damped spring, implicit (Catto 2011)
 *     relaxing:   dp = -mass u                                     takes out what the spring pushed
 *
 * What approaches faster than the rest speed and has restitution is left to the impacts of the next sub-step:
 * a relaxing visit, which would stop it, gives it no more than it had.
 *
 * The spring is stretched about the load q that the point has carried lately (a slow average of p), not about
 * none: so a stack at rest does not sag, and a change of load still meets a spring.  Below q the point is
 * rigid, (p - q)+ = 0: it rests at gap 0 with any load from 0 to q.  A spring that pulled p up to q there
 * would throw a point with less load out of its overlap, so that it opens, closes and is thrown again, and
 * the heap about it trembles and creeps for ever.
 *
 * Friction is one block a manifold: a force in the plane through the middle, |f| <= mu sum p, a couple about
 * the normal, |t| <= mu sum p |r| + spinning sum p, and rolling resistance, |c| <= rolling sum p; mu is the
 * static coefficient or the other: live_grip.c.
 *
 * The impulse J of a visit is applied in doubles, v += J / m: the two bodies of a contact get the same one,
 * so that the momentum of both together stays to 2^-53.  Impulses are counted in w->unit kilograms. */
#ifndef SIM_LIVE_KERNELS_H
#define SIM_LIVE_KERNELS_H

#include "sim/live.h"

/* Velocities, or displacements, of the two bodies of a contact: of the centres against each other, and both
 * spins. */
typedef struct relative {
    lanes3 v, wa, wb;
} relative;

LANES_INLINE half_lanes narrow(four a) { return __builtin_convertvector(a, half_lanes); }

LANES_INLINE relative gather(const live_batch *c, const live_velocity *all) {
    half_lanes v[LANES], wa[LANES], wb[LANES];
    for (int i = 0; i < LANES; i++) {
        const live_velocity *a = &all[c->a[i]], *b = &all[c->b[i]];
        v[i] = narrow(a->v - b->v), wa[i] = narrow(a->w), wb[i] = narrow(b->w);
    }
    return (relative){lanes_columns(v), lanes_columns(wa), lanes_columns(wb)};
}

/* The fourth numbers of an impulse and of a spin are 0, so that the inverse of the mass stays. */
LANES_INLINE void change(live_velocity *v, four impulse, half_lanes spin) {
    v->v += four_all(v->v[3]) * impulse;
    v->w += __builtin_convertvector(spin, four);
}

/* The impulse J on A and -J on B, and the changes of their spins.  Immovable bodies are shared by the batches
 * of a colour, and never written. */
LANES_INLINE void scatter(const live_batch *c, live_velocity *all, lanes3 impulse, lanes3 wa, lanes3 wb) {
    half_lanes j[LANES], sa[LANES], sb[LANES];
    lanes_rows(impulse, j), lanes_rows(wa, sa), lanes_rows(wb, sb);
    for (int i = 0; i < LANES; i++) {
        four p = __builtin_convertvector(j[i], four);
        if (c->moves_a >> i & 1) change(&all[c->a[i]], p, sa[i]);
        if (c->moves_b >> i & 1) change(&all[c->b[i]], -p, sb[i]);
    }
}

/* The place of the coupling of the points i and j. */
LANES_INLINE int coupled(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

/* ---- prepare: masses from arms, in doubles, four of the eight lanes */

typedef struct view {
    four3 n, ra, rb, na, nb;
    four inverse;
    four_sym inertia_a, inertia_b;
} view;

LANES_INLINE view open_side(const live_batch *c, int side) {
    view v = {.n = four_open3(&c->n, side),
              .ra = four_open3(&c->ra, side),
              .rb = four_open3(&c->rb, side),
              .inverse = four_open(&c->inverse, side),
              .inertia_a = four_open_sym(&c->inertia_a, side),
              .inertia_b = four_open_sym(&c->inertia_b, side)};
    v.na = four_cross(v.ra, v.n), v.nb = four_cross(v.rb, v.n);
    return v;
}

LANES_INLINE four inverted(four a) { return four_pick(a > 0, 1 / a, four_all(0)); }

LANES_INLINE void prepare_point(live_batch *c, const view *v, int i, int side) {
    live_lane_point *k = &c->point[i];
    four3 d = four_open3(&k->e, side), e = four_cross(d, v->n); /* d stands there until now */
    four3 wa = four_mul_sym(&v->inertia_a, four_add3(v->na, e));
    four3 wb = four_mul_sym(&v->inertia_b, four_add3(v->nb, e));
    four_pack(&k->lever, side, four_sqrt(four_dot(d, d))), four_pack3(&k->e, side, e);
    four own = four_all(0);
    for (int j = 0; j <= i; j++) {
        four3 f = four_open3(&c->point[j].e, side);
        own = v->inverse + four_dot(four_add3(v->na, f), wa) + four_dot(four_add3(v->nb, f), wb);
        four_pack(&c->coupling[coupled(i, j)], side, own);
    }
    four_pack(&k->mass, side, inverted(own));
    k->now = c->gap[i];
}

LANES_INLINE four mobility(const view *c, four3 a, four3 b, four direct) {
    four3 ja = four_cross(c->ra, a), jb = four_cross(c->rb, a);
    four3 ka = four_cross(c->ra, b), kb = four_cross(c->rb, b);
    return direct * c->inverse + four_dot(ja, four_mul_sym(&c->inertia_a, ka)) +
           four_dot(jb, four_mul_sym(&c->inertia_b, kb));
}

/* The largest row sum of IA^-1 + IB^-1 bounds its eigenvalues; for balls it is exact. */
LANES_INLINE four spin_bound(const view *c) {
    four xx = c->inertia_a.xx + c->inertia_b.xx, yy = c->inertia_a.yy + c->inertia_b.yy;
    four zz = c->inertia_a.zz + c->inertia_b.zz, xy = c->inertia_a.xy + c->inertia_b.xy;
    four xz = c->inertia_a.xz + c->inertia_b.xz, yz = c->inertia_a.yz + c->inertia_b.yz;
    xy = four_max(xy, -xy), xz = four_max(xz, -xz), yz = four_max(yz, -yz);
    return inverted(four_max(xx + xy + xz, four_max(yy + xy + yz, zz + xz + yz)));
}

LANES_INLINE void prepare_side(live_batch *c, int side) {
    four zero = four_all(0), one = four_all(1);
    view v = open_side(c, side);
    four3 t1 = four_open3(&c->t1, side), t2 = four_cross(v.n, t1);
    for (int i = 0; i < c->points; i++) prepare_point(c, &v, i, side);
    four a = mobility(&v, t1, t1, one), b = mobility(&v, t1, t2, zero), d = mobility(&v, t2, t2, one);
    four inverse = inverted(a * d - b * b);
    four_pack(&c->k11, side, d * inverse), four_pack(&c->k12, side, -b * inverse);
    four_pack(&c->k22, side, a * inverse);
    four m = four_dot(v.n, four_mul_sym(&v.inertia_a, v.n)) + four_dot(v.n, four_mul_sym(&v.inertia_b, v.n));
    four_pack(&c->twist_mass, side, inverted(m));
    if (c->rolls) four_pack(&c->rolling_mass, side, spin_bound(&v));
}

static void prepare(live_batch *c) {
    for (int side = 0; side < 2; side++) prepare_side(c, side);
}

/* ---- impulses */

/* What a visit has done: the impulse on A, and the changes of both spins. */
typedef struct done {
    lanes3 impulse, wa, wb;
} done;

/* The impulse f on A at the middle of the manifold, and the couple t on A. */
LANES_INLINE done drag(const live_batch *c, lanes3 f, lanes3 t) {
    lanes3 ta = lanes_add3(lanes_cross(c->ra, f), t), tb = lanes_add3(lanes_cross(c->rb, f), t);
    lanes3 wb = lanes_mul_sym(&c->inertia_b, tb);
    return (done){f, lanes_mul_sym(&c->inertia_a, ta), {-wb.x, -wb.y, -wb.z}};
}

/* And impulses along the normal, of the sum p, with the moment m about the middle of the manifold. */
LANES_INLINE done push(const live_batch *c, lanes p, lanes3 m, const done *before) {
    lanes3 f = lanes_scale3(c->n, p);
    lanes3 ta = lanes_add3(m, lanes_cross(c->ra, f)), tb = lanes_add3(m, lanes_cross(c->rb, f));
    return (done){lanes_add3(before->impulse, f), lanes_add3(before->wa, lanes_mul_sym(&c->inertia_a, ta)),
                  lanes_sub3(before->wb, lanes_mul_sym(&c->inertia_b, tb))};
}

/* How fast a manifold slides and opens at its middle, or how far. */
LANES_INLINE lanes3 slip_of(const live_batch *c, const relative *q) {
    return lanes_add3(q->v, lanes_sub3(lanes_cross(q->wa, c->ra), lanes_cross(q->wb, c->rb)));
}
LANES_INLINE lanes opening(const live_batch *c, const relative *q) { return lanes_dot(c->n, slip_of(c, q)); }

/* The gaps where the bodies are after the displacements `moved`; they stay until bodies move again. */
LANES_INLINE void move_gaps(live_batch *c, int count, const relative *moved) {
    lanes shift = opening(c, moved);
    lanes3 turn = lanes_sub3(moved->wa, moved->wb);
    for (int i = 0; i < count; i++) {
        live_lane_point *k = &c->point[i];
        k->now = c->gap[i] + (shift + lanes_dot(k->e, turn));
    }
}

static void place(live_batch *c, const live_velocity *displaced) {
    relative moved = gather(c, displaced);
    move_gaps(c, c->points, &moved);
}

/* How large an impulse may become in a relaxing visit. */
LANES_INLINE lanes ceiling_of(const live_batch *c, lanes u, lanes now, double rest) {
    lanes_mask strikes = lanes_bits(c->bounces) & (u < lanes_all((float)-rest));
    return lanes_pick(strikes, now, lanes_all(INFINITY));
}

/* The normal impulses of a manifold: forth and back over its points, among themselves by their couplings,
 * then their sum on the bodies. */
LANES_INLINE done solve_normals(live_batch *c, int count, const live_visit *visit, bool relax, bool bounces,
                                const relative *q, const done *before) {
    lanes zero = lanes_all(0), one = lanes_all(1), u[MANIFOLD_POINTS], p[MANIFOLD_POINTS],
          scale[MANIFOLD_POINTS], soften[MANIFOLD_POINTS], most_p[MANIFOLD_POINTS];
    lanes rate = lanes_all((float)visit->soft.rate), part = lanes_all((float)visit->soft.scale),
          give = lanes_all((float)visit->soft.soften), inverse_h = lanes_all((float)visit->inverse_h),
          most = lanes_all((float)-visit->push);
    lanes slip = opening(c, q);
    lanes3 spin = lanes_sub3(q->wa, q->wb);
    for (int i = 0; i < count; i++) {
        const live_lane_point *k = &c->point[i];
        lanes gap = k->now;
        lanes_mask apart = gap > zero;
        lanes bias = lanes_pick(apart, gap * inverse_h, relax ? zero : lanes_max(rate * gap, most));
        u[i] = slip + lanes_dot(k->e, spin);
        if (bounces) most_p[i] = ceiling_of(c, u[i], k->impulse, visit->rest);
        u[i] += bias;
        scale[i] = relax ? k->mass : k->mass * lanes_pick(apart, one, part);
        soften[i] = relax ? zero : lanes_pick(apart, zero, give);
        p[i] = k->impulse;
    }
    for (int sweep = 0; sweep < 2; sweep++)
        for (int n = 0; n < count; n++) {
            int i = sweep ? count - 1 - n : n;
            lanes next = p[i] - scale[i] * u[i];
            if (!relax) next -= soften[i] * lanes_max(p[i] - c->point[i].steady, zero);
            next = lanes_max(next, zero);
            if (bounces) next = lanes_min(next, most_p[i]);
            lanes change = next - p[i];
            p[i] = next;
            for (int j = 0; j < count; j++) u[j] += c->coupling[coupled(i, j)] * change;
        }
    lanes sum = zero;
    lanes3 moment = {zero, zero, zero};
    for (int i = 0; i < count; i++) {
        live_lane_point *k = &c->point[i];
        lanes change = p[i] - k->impulse;
        k->impulse = p[i];
        sum += change;
        moment = lanes_axpy3(moment, change, k->e);
    }
    return push(c, sum, moment, before);
}

/* ---- friction */

/* Back into the disc of a radius: what x, y, z are to be multiplied with. */
LANES_INLINE lanes shrink(lanes square, lanes limit) {
    lanes_mask over = square > limit * limit;
    lanes one = lanes_all(1);
    return lanes_pick(over, limit / lanes_sqrt(lanes_pick(over, square, one)), one);
}

LANES_INLINE lanes spin_of(const live_batch *c, const relative *q) {
    return lanes_dot(c->n, lanes_sub3(q->wa, q->wb));
}

/* A force in the plane. */
typedef struct lanes2 {
    lanes x, y;
} lanes2;

/* The 2 x 2 problem without the cone. */
LANES_INLINE lanes2 wanted_force(const live_batch *c, lanes3 t2, const relative *q) {
    lanes3 u = slip_of(c, q);
    lanes u1 = lanes_dot(c->t1, u), u2 = lanes_dot(t2, u);
    return (lanes2){c->friction1 - (c->k11 * u1 + c->k12 * u2), c->friction2 - (c->k12 * u1 + c->k22 * u2)};
}

/* The force in the plane: that, then back to the cone. */
LANES_INLINE lanes3 solve_friction(live_batch *c, lanes limit, const relative *q) {
    lanes3 t1 = c->t1, t2 = lanes_cross(c->n, t1);
    lanes2 f = wanted_force(c, t2, q);
    lanes old1 = c->friction1, old2 = c->friction2, part = shrink(f.x * f.x + f.y * f.y, limit);
    c->friction1 = f.x * part, c->friction2 = f.y * part;
    return lanes_axpy3(lanes_scale3(t1, c->friction1 - old1), c->friction2 - old2, t2);
}

/* Resistance to rolling: the part of the relative spin in the plane. */
LANES_INLINE lanes3 solve_rolling(live_batch *c, lanes pressure, const relative *q) {
    lanes3 s = lanes_sub3(q->wa, q->wb), old = c->rolling;
    s = lanes_axpy3(s, -lanes_dot(s, c->n), c->n);
    lanes3 r = lanes_axpy3(old, -c->rolling_mass, s);
    c->rolling = lanes_scale3(r, shrink(lanes_dot(r, r), c->rolling_limit * pressure));
    return lanes_sub3(c->rolling, old);
}

/* Of contacts with a grip the static coefficient where they stuck, or where friction would do work on the
 * slip that the sub-step began with: that has come to an end (live_grip.c). */
LANES_INLINE lanes coefficient_of(const live_batch *c, lanes2 f, lanes couple) {
    const live_lane_grip *g = &c->grip;
    lanes work = f.x * g->slip1 + f.y * g->slip2 + couple * g->spin;
    return lanes_pick(work < lanes_all(0), c->coefficient, g->hold);
}

LANES_INLINE lanes wanted_twist(const live_batch *c, const relative *q) {
    return c->twist - c->twist_mass * spin_of(c, q);
}

/* All that friction does at a manifold. */
LANES_INLINE done solve_tangential(live_batch *c, int count, const relative *q, bool grips) {
    lanes pressure = lanes_all(0), couple = lanes_all(0);
    for (int i = 0; i < count; i++) {
        pressure += c->point[i].impulse;
        couple += c->point[i].impulse * c->point[i].lever;
    }
    lanes wanted = wanted_twist(c, q), old = c->twist, mu = c->coefficient;
    if (grips) mu = coefficient_of(c, wanted_force(c, lanes_cross(c->n, c->t1), q), wanted);
    lanes most = mu * couple + c->spinning * pressure;
    c->twist = lanes_max(lanes_min(wanted, most), -most);
    lanes3 t = lanes_scale3(c->n, c->twist - old);
    if (c->rolls) t = lanes_add3(t, solve_rolling(c, pressure, q));
    return drag(c, solve_friction(c, mu * pressure, q), t);
}

/* ---- grip: live_grip.c */

LANES_INLINE lanes square(lanes a) { return a * a; }

/* Force and couple once more after the pressures, of the contacts with a grip, and whether they are bound. */
LANES_INLINE done solve_again(live_batch *c, int count, const relative *q) {
    lanes zero = lanes_all(0), pressure = zero, couple = zero;
    for (int i = 0; i < count; i++) {
        pressure += c->point[i].impulse;
        couple += c->point[i].impulse * c->point[i].lever;
    }
    lanes3 t2 = lanes_cross(c->n, c->t1);
    lanes2 f = wanted_force(c, t2, q);
    lanes wanted = wanted_twist(c, q), mu = coefficient_of(c, f, wanted);
    lanes limit = mu * pressure, most = mu * couple + c->spinning * pressure;
    lanes part = shrink(f.x * f.x + f.y * f.y, limit), held = lanes_max(lanes_min(wanted, most), -most);
    lanes_mask grips = c->grip.hold > c->coefficient;
    lanes d1 = lanes_pick(grips, f.x * part - c->friction1, zero),
          d2 = lanes_pick(grips, f.y * part - c->friction2, zero),
          turn = lanes_pick(grips, held - c->twist, zero);
    c->grip.bound = (part != lanes_all(1)) | ((held != wanted) & (couple > zero));
    c->friction1 += d1, c->friction2 += d2, c->twist += turn;
    return drag(c, lanes_axpy3(lanes_scale3(c->t1, d1), d2, t2), lanes_scale3(c->n, turn));
}

/* After a sub-step: whether it slides, and how. */
static void grip(live_batch *c, const live_velocity *all, double rest) {
    live_lane_grip *g = &c->grip;
    relative q = gather(c, all);
    lanes3 u = slip_of(c, &q);
    lanes zero = lanes_all(0), lever = zero, patience = lanes_all(LIVE_PATIENCE);
    for (int i = 0; i < c->points; i++) lever = lanes_max(lever, c->point[i].lever);
    lanes u1 = lanes_dot(c->t1, u), u2 = lanes_dot(lanes_cross(c->n, c->t1), u), spin = spin_of(c, &q);
    lanes fast = lanes_all((float)(LIVE_FAST * rest)), slow = lanes_all((float)(LIVE_CREEP * rest));
    lanes speed2 = square(u1) + square(u2) + square(lever * spin);
    lanes_mask grows = g->bound & (speed2 > g->speed2);
    g->speed2 = speed2;
    g->edge = lanes_pick(grows, lanes_min(g->edge + lanes_all(1), patience), zero);
    lanes_mask creeps = (g->loose | (g->edge >= patience)) & (speed2 > square(slow));
    g->loose = g->bound & (creeps | (grows & (speed2 > square(fast))));
    g->slip1 = lanes_pick(g->loose, u1, zero), g->slip2 = lanes_pick(g->loose, u2, zero);
    g->spin = lanes_pick(g->loose, spin, zero);
}

/* ---- all of a batch */

/* Batches lie one after the other, but each reaches over a page, where the processor's own prefetching ends:
 * in heaps larger than the caches every visit would wait for its first lines.  Those ahead have about as many
 * points as this one. */
enum { BATCHES_AHEAD = 3, COUPLINGS = offsetof(live_batch, coupling), GAPS = offsetof(live_batch, gap) };
PREFETCHES prefetch_batch(const live_batch *c, bool relax) {
    const char *far = (const char *)(c + BATCHES_AHEAD);
    size_t points = (size_t)c->points;
    prefetch_lines(far, offsetof(live_batch, point) + points * sizeof *c->point);
    prefetch_lines(far + COUPLINGS, points * (points + 1) / 2 * sizeof *c->coupling);
    if (relax) prefetch_lines(far + GAPS, offsetof(live_batch, rolling) - GAPS);
}

/* Bodies of a batch lie anywhere: those of the next batch are asked for. */
PREFETCHES prefetch_bodies(const live_batch *c, const live_velocity *all) {
    for (int i = 0; i < LANES; i++) __builtin_prefetch(&all[c->a[i]]), __builtin_prefetch(&all[c->b[i]]);
}

static void warm(const live_batch *batches, int count, live_velocity *all) {
    for (int k = 0; k < count; k++) {
        const live_batch *c = &batches[k];
        prefetch_batch(c, false);
        if (k + 2 < count) prefetch_bodies(c + 2, all);
        lanes sum = lanes_all(0);
        lanes3 moment = {sum, sum, sum}, t2 = lanes_cross(c->n, c->t1), t = lanes_scale3(c->n, c->twist);
        for (int i = 0; i < c->points; i++) {
            lanes p = c->point[i].impulse;
            sum += p, moment = lanes_axpy3(moment, p, c->point[i].e);
        }
        if (c->rolls) t = lanes_add3(t, c->rolling);
        done d = drag(c, lanes_axpy3(lanes_scale3(c->t1, c->friction1), c->friction2, t2), t);
        d = push(c, sum, moment, &d);
        scatter(c, all, d.impulse, d.wa, d.wb);
    }
}

/* The sub-step ends with these impulses. */
LANES_INLINE void add_pushed(live_batch *c, int count) {
    lanes pressure = lanes_all(0);
    lanes3 t2 = lanes_cross(c->n, c->t1);
    for (int i = 0; i < count; i++) pressure += c->point[i].impulse;
    c->pushed = lanes_axpy3(c->pushed, pressure, c->n);
    c->pushed = lanes_axpy3(lanes_axpy3(c->pushed, c->friction1, c->t1), c->friction2, t2);
}

LANES_INLINE void add_done(const live_batch *c, relative *q, const done *d) {
    q->v = lanes_axpy3(q->v, c->inverse, d->impulse);
    q->wa = lanes_add3(q->wa, d->wa), q->wb = lanes_add3(q->wb, d->wb);
}

/* What of a batch asks for more than the others: relaxed with restitution; with a grip, and perhaps that. */
typedef enum special { PLAIN, BOUNCING, GRIPPING } special;

LANES_INLINE void visit_batch(live_batch *c, int count, live_velocity *all, const live_velocity *displaced,
                              const live_visit *visit, bool relax, special kind) {
    const bool grips = kind == GRIPPING;
    relative q = gather(c, all), start = q;
    done d = solve_tangential(c, count, &q, grips);
    if (relax) { /* bodies have moved since the last visit */
        relative moved = gather(c, displaced);
        move_gaps(c, count, &moved);
    }
    add_done(c, &q, &d);
    d = solve_normals(c, count, visit, relax, relax && kind != PLAIN, &q, &d);
    if (relax && grips) {
        add_done(c, &start, &d);
        done last = solve_again(c, count, &start);
        d = (done){lanes_add3(d.impulse, last.impulse), lanes_add3(d.wa, last.wa), lanes_add3(d.wb, last.wb)};
    }
    scatter(c, all, d.impulse, d.wa, d.wb);
    if (relax) add_pushed(c, count);
}

/* Each case with its loops unrolled. */
LANES_INLINE void visit_points(live_batch *c, live_velocity *all, const live_velocity *displaced,
                               const live_visit *visit, bool relax, special kind) {
    switch (c->points) {
    case 1: visit_batch(c, 1, all, displaced, visit, relax, kind); break;
    case 2: visit_batch(c, 2, all, displaced, visit, relax, kind); break;
    case 3: visit_batch(c, 3, all, displaced, visit, relax, kind); break;
    default: visit_batch(c, 4, all, displaced, visit, relax, kind); break;
    }
}

/* `some`: some batches are special. */
LANES_INLINE void visit_batches(live_batch *batches, int count, live_velocity *all,
                                const live_velocity *displaced, const live_visit *visit, bool relax,
                                bool some) {
    for (int k = 0; k < count; k++) {
        live_batch *c = &batches[k];
        prefetch_batch(c, relax);
        if (k + 2 < count) prefetch_bodies(c + 2, all);
        if (k + 2 < count && relax) prefetch_bodies(c + 2, displaced);
        if (some && c->grips)
            visit_points(c, all, displaced, visit, relax, GRIPPING);
        else if (some && relax && c->bounces)
            visit_points(c, all, displaced, visit, relax, BOUNCING);
        else
            visit_points(c, all, displaced, visit, relax, PLAIN);
    }
}

static __attribute__((noinline)) void solve_special(live_batch *c, int count, live_velocity *all,
                                                    const live_velocity *moved, live_visit visit) {
    if (visit.relax)
        visit_batches(c, count, all, moved, &visit, true, true);
    else
        visit_batches(c, count, all, moved, &visit, false, true);
}

static void solve(live_batch *c, int count, live_velocity *all, const live_velocity *moved,
                  live_visit visit) {
    if (visit.special)
        solve_special(c, count, all, moved, visit);
    else if (visit.relax)
        visit_batches(c, count, all, moved, &visit, true, false);
    else
        visit_batches(c, count, all, moved, &visit, false, false);
}

#endif
